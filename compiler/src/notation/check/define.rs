//! Functions and monoids that a text defines.
//!
//! A call of a function stands for its body in parentheses, with the arguments in the places of the parameters. It is put in before
//! anything else is checked, so that all later stages see what the function says: what is absent, what is constant, which type it has.
//!
//! ```text
//! fn relu(v) = select(v > 0, v, 0);
//! y(i) = relu(x(i));                      →      y(i) = select(x(i) > 0, x(i), 0);
//! ```
//!
//! A monoid is checked for each element type: that its expression is one of that type, and, on sample values, that it is commutative
//! and associative and that its identity changes nothing. Loops reduce in parts and in any order, which these laws allow.

use super::indices::Indices;
use super::value::Values;
use super::{functions, literal};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes, suggest, words};
use crate::format::Format;
use crate::ir::tables::monoid::{LEFT, RIGHT, samples};
use crate::ir::{self, Definition, ElementType, Literal, ReduceOperator, Type, constant};
use crate::notation::{self, Hints, Role, Tensor};
use crate::syntax::{
    Access, AssignOperator, Expr, ExprKind, FunctionDefinition, Ident, Index, Item, Kernel, MAXIMUM_DEPTH,
    MonoidDefinition, Program, error,
};
use std::collections::BTreeSet;

/// How many operators and operands the functions of a statement may come to.
const LARGEST: usize = 20_000;

/// What a program defines beside formats.
#[derive(Default)]
pub(super) struct Definitions<'a> {
    functions: Vec<&'a FunctionDefinition>,
    monoids: Vec<(&'a MonoidDefinition, ReduceOperator)>,
}

impl<'a> Definitions<'a> {
    /// The definitions of a program, checked. Those that are wrong are reported, and left out or replaced.
    pub(super) fn of(program: &'a Program, found: &mut Diagnostics) -> Self {
        let mut definitions = Definitions::default();
        let mut seen: Vec<&Ident> = Vec::new();
        for item in &program.items {
            let (name, parameters) = match item {
                Item::Function(function) => (&function.name, &function.parameters),
                Item::Monoid(monoid) => (&monoid.name, &monoid.parameters),
                Item::Kernel(_) | Item::Format(_) => continue,
            };
            if let Some(what) = taken(name, item, program) {
                let clash = Diagnostic::new(codes::DUPLICATE_NAME, name.span, format!("`{}` is {what}", name.name));
                found.push(clash.label("named again").help("give this one another name"));
            }
            match seen.iter().find(|earlier| earlier.name == name.name) {
                Some(earlier) => {
                    let message = format!("a second definition of `{}`", name.name);
                    found.push(
                        Diagnostic::new(codes::DUPLICATE_NAME, name.span, message)
                            .label("defined again")
                            .related(earlier.span, "defined first here")
                            .help("give one of them another name"),
                    );
                    continue;
                }
                None => seen.push(name),
            }
            check_parameters(name, parameters, found);
            match item {
                Item::Function(function) => definitions.functions.push(function),
                Item::Monoid(monoid) => {
                    let operator = ReduceOperator::declared(&monoid.name.name, Vec::new(), Vec::new());
                    definitions.monoids.push((monoid, operator));
                }
                Item::Kernel(_) | Item::Format(_) => {}
            }
        }
        definitions.check_bodies(found);
        let recursive = definitions.recursive(found);
        definitions.functions.retain(|function| !recursive.contains(&function.name.name.as_str()));
        for place in 0..definitions.monoids.len() {
            definitions.monoids[place].1 = definitions.monoid(definitions.monoids[place].0, found);
        }
        definitions
    }

    fn function(&self, name: &str) -> Option<&'a FunctionDefinition> {
        self.functions.iter().copied().find(|function| function.name.name == name)
    }

    fn check_bodies(&self, found: &mut Diagnostics) {
        let functions = self.functions.iter().map(|function| (&function.body, &function.parameters));
        let monoids = self.monoids.iter().map(|(monoid, _)| (&monoid.body, &monoid.parameters));
        for (body, parameters) in functions.chain(monoids) {
            self.check_body(body, parameters, found);
        }
    }

    /// Whether a body is made of its parameters, numbers and calls.
    fn check_body(&self, body: &Expr, parameters: &[Ident], found: &mut Diagnostics) {
        let names = || parameters.iter().map(|parameter| parameter.name.as_str());
        match &body.kind {
            ExprKind::Name(name) if !names().any(|known| known == name.name) && !literal::is_constant(&name.name) => {
                let message = format!("there is no parameter `{}`", name.name);
                let unknown = Diagnostic::new(codes::DEFINITION, name.span, message)
                    .label("a definition is made of its parameters, numbers and functions");
                found.push(match suggest::similar(&name.name, names()) {
                    Some(close) => unknown.help(format!("did you mean `{close}`?")),
                    None => unknown.help(format!("add `{}` to the parameters", name.name)),
                });
            }
            ExprKind::Access(access) => {
                match self.function(&access.name.name) {
                    Some(function) => drop(arguments(function, access, found)),
                    None if names().any(|known| known == access.name.name) => {
                        let message = format!("the parameter `{}` is a value and has no indices", access.name.name);
                        found.push(
                            Diagnostic::new(codes::DEFINITION, access.span, message)
                                .label("has indices")
                                .help("give the indices where the function is called"),
                        );
                    }
                    None => found.push(self.unknown_function(access)),
                }
                super::uses::index_exprs(access).for_each(|index| self.check_body(index, parameters, found));
            }
            ExprKind::Reduce { body, .. } => {
                found.push(
                    Diagnostic::new(codes::DEFINITION, body.span, "a definition reduces over no index")
                        .label("reduced here")
                        .help("reduce where the function is called: `f(sum(k)(…))`"),
                );
            }
            _ => body.children().into_iter().for_each(|child| self.check_body(child, parameters, found)),
        }
    }

    fn unknown_function(&self, call: &Access) -> Diagnostic {
        let name = &call.name;
        let unknown = super::call::unknown_function(name, Some(call));
        let own = self.functions.iter().map(|function| function.name.name.as_str());
        match suggest::similar(&name.name, own) {
            Some(close) => Diagnostic { help: vec![format!("did you mean `{close}`?")], ..unknown },
            None => unknown,
        }
    }

    /// The functions that come to call themselves.
    fn recursive(&self, found: &mut Diagnostics) -> Vec<&'a str> {
        let mut recursive = Vec::new();
        for function in &self.functions {
            let mut path = vec![function.name.name.as_str()];
            let mut seen = BTreeSet::new();
            if let Some(span) = self.calls_back(&function.body, &mut path, &mut seen) {
                let name = &function.name.name;
                let through = path[1..].iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let problem = Diagnostic::new(codes::RECURSIVE_FUNCTION, span, format!("`{name}` calls itself"));
                found.push(match through.is_empty() {
                    true => problem.label("a call stands for the body, which would have no end"),
                    false => problem.label(format!("through {through}")),
                });
                recursive.push(name.as_str());
            }
        }
        recursive
    }

    /// Where a body comes to call the first function of the path; the path then leads there.
    fn calls_back(&self, body: &Expr, path: &mut Vec<&'a str>, seen: &mut BTreeSet<&'a str>) -> Option<Span> {
        if let ExprKind::Access(access) = &body.kind {
            let arguments = super::uses::index_exprs(access);
            if let Some(span) = arguments.into_iter().find_map(|argument| self.calls_back(argument, path, seen)) {
                return Some(span);
            }
            let function = self.function(&access.name.name)?;
            let name = function.name.name.as_str();
            if name == path[0] {
                return Some(access.span);
            }
            // A longer chain is refused where it is called: it is too deep.
            if path.len() > MAXIMUM_DEPTH || !seen.insert(name) {
                return None;
            }
            path.push(name);
            // What is underlined is the call in the first function.
            if self.calls_back(&function.body, path, seen).is_some() {
                return Some(access.span);
            }
            path.pop();
            return None;
        }
        body.children().into_iter().find_map(|child| self.calls_back(child, path, seen))
    }

    /// The kernel with the bodies of functions in the places of calls, and with the operators that are declared.
    pub(super) fn expand(&self, kernel: &Kernel, found: &mut Diagnostics) -> (Kernel, Vec<Called>) {
        let mut calls = Vec::new();
        let mut kernel = kernel.clone();
        if self.functions.is_empty() && self.monoids.is_empty() {
            return (kernel, calls);
        }
        let declared = kernel.parameters.iter().chain(&kernel.results).map(|parameter| parameter.name.name.clone());
        let targets = kernel.body.iter().map(|statement| statement.target.name.name.clone());
        let tensors: Vec<String> = declared.chain(targets).collect();
        for statement in &mut kernel.body {
            let names = &tensors;
            let mut expansion = Expansion::new(self, found, &mut calls, names);
            if let AssignOperator::Reduce(operator) = &mut statement.operator {
                *operator = self.resolved(*operator);
            }
            expansion.within(&mut statement.value, &[]);
            expansion.within_access(&mut statement.target, &[]);
            if let Some(mask) = &mut statement.mask {
                expansion.within_access(mask, &[]);
            }
            if expansion.size > LARGEST {
                let message = format!("the functions of this statement come to more than {LARGEST} operators");
                found.push(
                    Diagnostic::new(codes::DEFINITION, statement.value.span, message)
                        .label("each call stands for a body")
                        .help("give what several calls need a name, by `let`"),
                );
            } else if expansion.is_too_deep || depth(&statement.value) > MAXIMUM_DEPTH {
                found.push(error::deep_expression(statement.value.span));
            }
        }
        (kernel, calls)
    }

    fn resolved(&self, operator: ReduceOperator) -> ReduceOperator {
        let declared = self.monoids.iter().find(|(monoid, _)| monoid.name.name == operator.name());
        declared.filter(|_| operator.is_declared()).map_or(operator, |(_, resolved)| *resolved)
    }

    /// The names of tensors that functions have too.
    pub(super) fn check_tensors(&self, kernel: &Kernel, found: &mut Diagnostics) {
        let declared = kernel.parameters.iter().chain(&kernel.results).map(|parameter| &parameter.name);
        let temporaries =
            kernel.body.iter().filter(|statement| statement.is_let).map(|statement| &statement.target.name);
        for name in declared.chain(temporaries) {
            if let Some(function) = self.function(&name.name) {
                let message = format!("`{}` is the name of a function", name.name);
                found.push(
                    Diagnostic::new(codes::NAME_CLASH, name.span, message)
                        .label("can't be the name of a tensor")
                        .related(function.name.span, "the function")
                        .help("give the tensor another name"),
                );
            }
        }
    }

    /// The operator that a monoid is, for each element type that its expression is one of.
    fn monoid(&self, monoid: &MonoidDefinition, found: &mut Diagnostics) -> ReduceOperator {
        let nothing = ReduceOperator::declared(&monoid.name.name, Vec::new(), Vec::new());
        if monoid.parameters.len() != 2 {
            let count = words::count(monoid.parameters.len(), "parameter");
            found.push(
                Diagnostic::new(codes::DEFINITION, monoid.name.span, "a monoid combines two values")
                    .label(format!("has {count}"))
                    .help(format!("write `monoid {}(a, b) = … with …;`", monoid.name.name)),
            );
            return nothing;
        }
        let mut body = monoid.body.clone();
        let mut problems = Diagnostics::new();
        let mut calls = Vec::new();
        let mut expansion = Expansion::new(self, &mut problems, &mut calls, &[]);
        expansion.within(&mut body, &[]);
        if expansion.is_too_deep {
            found.push(error::deep_expression(body.span));
            return nothing;
        }
        let mut sound = Vec::new();
        let mut refused: Vec<(ElementType, Diagnostic)> = Vec::new();
        for element in ElementType::ALL {
            match define(monoid, &body, element).and_then(|definition| laws(monoid, definition)) {
                Ok(definition) => sound.push(definition),
                Err(problem) => refused.push((element, problem)),
            }
        }
        if sound.is_empty() {
            let is_law = |(_, problem): &&(ElementType, Diagnostic)| problem.code == codes::MONOID_LAW;
            let is_plain = |(element, _): &&(ElementType, Diagnostic)| *element == ElementType::F64;
            let shown = refused.iter().find(is_law).or_else(|| refused.iter().find(is_plain));
            let is_reported =
                found.iter().any(|known| known.span.start >= monoid.span.start && known.span.end <= monoid.span.end);
            if let Some((_, problem)) = shown.filter(|_| !is_reported) {
                found.push(problem.clone());
            }
        }
        let why = |problem: Diagnostic| problem.message;
        let refused = refused.into_iter().map(|(element, problem)| (element, why(problem))).collect();
        ReduceOperator::declared(&monoid.name.name, sound, refused)
    }
}

/// A call that was put in: the definition that it stands for, and where it is called.
pub(super) struct Called {
    body: Span,
    call: Span,
}

/// Says of problems inside a definition where it was called.
pub(super) fn with_calls(problems: Diagnostics, calls: &[Called]) -> Diagnostics {
    let mut all = Diagnostics::new();
    for problem in problems.into_sorted() {
        let is_inside =
            |called: &&Called| called.body.start <= problem.span.start && problem.span.end <= called.body.end;
        all.push(match calls.iter().find(is_inside) {
            Some(called) => {
                let span = called.call;
                problem.related(span, "called here")
            }
            None => problem,
        });
    }
    all
}

/// What has the name of a definition already.
fn taken(name: &Ident, item: &Item, program: &Program) -> Option<&'static str> {
    let is_kernel = |other: &Item| matches!(other, Item::Kernel(_)) && other.name().name == name.name;
    if functions::find(&name.name).is_some() && matches!(item, Item::Function(_) | Item::Monoid(_)) {
        return Some("the name of a function already");
    }
    if ReduceOperator::from_reduction(&name.name).is_some() {
        return Some("the name of a reduction already");
    }
    program.items.iter().any(is_kernel).then_some("the name of a kernel already")
}

fn check_parameters(name: &Ident, parameters: &[Ident], found: &mut Diagnostics) {
    for (place, parameter) in parameters.iter().enumerate() {
        if let Some(earlier) = parameters[..place].iter().find(|earlier| earlier.name == parameter.name) {
            let message = format!("`{}` has two parameters `{}`", name.name, parameter.name);
            found.push(
                Diagnostic::new(codes::DUPLICATE_NAME, parameter.span, message)
                    .label("declared again")
                    .related(earlier.span, "declared first here")
                    .help("give one of them another name"),
            );
        }
    }
}

/// The values that a call hands to a function's parameters; `None` where they are not as many.
fn arguments(function: &FunctionDefinition, call: &Access, found: &mut Diagnostics) -> Option<Vec<Expr>> {
    let mut given = Vec::new();
    for index in &call.indices {
        match index {
            Index::Expr(expr) => given.push(expr.clone()),
            Index::Range { span, .. } => {
                found.push(error::misplaced_range(*span, &format!("`{}` takes values", call.name.name)));
                return None;
            }
        }
    }
    let (expected, name) = (function.parameters.len(), &function.name.name);
    if given.len() != expected {
        let message = format!("`{name}` takes {}, not {}", words::count(expected, "argument"), given.len());
        found.push(
            Diagnostic::new(codes::ARGUMENT_COUNT, call.span, message)
                .label(format!("{} here", words::count(given.len(), "argument")))
                .related(function.name.span, "defined here"),
        );
        return None;
    }
    Some(given)
}

/// Puts bodies in the places of calls.
struct Expansion<'a, 'd> {
    definitions: &'a Definitions<'d>,
    found: &'a mut Diagnostics,
    calls: &'a mut Vec<Called>,
    /// The names of tensors.
    names: &'a [String],
    /// How much has been put in.
    size: usize,
    /// How many operators and calls stand around what is looked at.
    depth: usize,
    is_too_deep: bool,
}

impl<'a, 'd> Expansion<'a, 'd> {
    fn new(
        definitions: &'a Definitions<'d>,
        found: &'a mut Diagnostics,
        calls: &'a mut Vec<Called>,
        names: &'a [String],
    ) -> Self {
        Expansion { definitions, found, calls, names, size: 0, depth: 0, is_too_deep: false }
    }

    /// Expands calls in an expression, in which `values` stand for names.
    fn within(&mut self, expr: &mut Expr, values: &[(&str, Expr)]) {
        self.size += usize::from(!values.is_empty());
        self.is_too_deep |= self.depth == MAXIMUM_DEPTH;
        if self.size > LARGEST || self.is_too_deep {
            return;
        }
        self.depth += 1;
        self.within_parts(expr, values);
        self.depth -= 1;
    }

    fn within_parts(&mut self, expr: &mut Expr, values: &[(&str, Expr)]) {
        match &mut expr.kind {
            ExprKind::Name(name) => {
                if let Some((_, value)) = values.iter().find(|(known, _)| *known == name.name) {
                    self.size += size(value);
                    self.is_too_deep |= self.depth + depth(value) > MAXIMUM_DEPTH + 1;
                    if !self.is_too_deep {
                        *expr = value.clone();
                    }
                }
            }
            ExprKind::Access(access) => {
                self.within_access(access, values);
                let Some(function) = self.definitions.function(&access.name.name) else {
                    let own = self.definitions.functions.iter().map(|function| function.name.name.as_str());
                    let is_tensor = self.names.contains(&access.name.name);
                    if !is_tensor && suggest::similar(&access.name.name, own).is_some() {
                        self.found.push(self.definitions.unknown_function(access));
                    }
                    return;
                };
                let Some(given) = arguments(function, access, self.found) else {
                    // One problem is enough.
                    expr.kind = ExprKind::Number { digits: "0".to_owned(), suffix: None };
                    return;
                };
                let names = function.parameters.iter().map(|parameter| parameter.name.as_str());
                let values: Vec<(&str, Expr)> = names.zip(given).collect();
                let mut body = function.body.clone();
                self.calls.push(Called { body: function.body.span, call: expr.span });
                if values.is_empty() {
                    self.size += 1;
                }
                self.within(&mut body, &values);
                *expr = Expr { span: expr.span, ..body };
            }
            ExprKind::Number { .. } | ExprKind::Bool(_) => {}
            ExprKind::Unary(_, operand) => self.within(operand, values),
            ExprKind::Binary(_, left, right) => {
                self.within(left, values);
                self.within(right, values);
            }
            ExprKind::Call(_, arguments) => {
                arguments.iter_mut().for_each(|argument| self.within(argument, values));
            }
            ExprKind::Reduce { operator, body, .. } => {
                *operator = self.definitions.resolved(*operator);
                self.within(body, values);
            }
        }
    }

    fn within_access(&mut self, access: &mut Access, values: &[(&str, Expr)]) {
        for index in &mut access.indices {
            match index {
                Index::Expr(expr) => self.within(expr, values),
                Index::Range { start, end, .. } => {
                    self.within(start, values);
                    self.within(end, values);
                }
            }
        }
    }
}

fn size(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(size).sum::<usize>()
}

/// How many operators stand inside one another.
fn depth(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(depth).max().unwrap_or(0)
}

/// What a monoid is for an element type.
fn define(monoid: &MonoidDefinition, body: &Expr, element: ElementType) -> Result<Definition, Diagnostic> {
    let identity = literal::constant(&monoid.identity, element)?;
    let scalar = |name: &Ident| Tensor {
        name: name.name.clone(),
        span: name.span,
        element,
        fill: element.zero(),
        format: Format::dense(0),
        format_name: None,
        role: Role::Input,
        declared: true,
        hints: Hints::default(),
    };
    let tensors: Vec<Tensor> = monoid.parameters.iter().map(scalar).collect();
    let mut found = Diagnostics::new();
    let mut values = Values {
        tensors: &tensors,
        indices: &mut Indices::default(),
        index_names: Vec::new(),
        reduced: Vec::new(),
        masked: false,
        statement: None,
        found: &mut found,
    };
    let value = values.value(body, element);
    if let Some(problem) = found.into_sorted().into_iter().next() {
        return Err(problem);
    }
    let undefined = || {
        let message = format!("`{}` is not defined for `{element}`", monoid.name.name);
        Diagnostic::new(codes::UNDEFINED_FOR_TYPE, monoid.name.span, message)
    };
    let value = value.as_ref().and_then(scalar_value).ok_or_else(undefined)?;
    Ok(Definition { element, identity, value })
}

/// An expression of two scalars in the loop IR.
fn scalar_value(expr: &notation::Expr) -> Option<ir::Expr> {
    let boxed = |expr: &notation::Expr| scalar_value(expr).map(Box::new);
    Some(match expr {
        notation::Expr::Literal(literal) => ir::Expr::Literal(*literal),
        notation::Expr::Access(access) => ir::Expr::Variable(if access.tensor.0 == 0 { LEFT } else { RIGHT }),
        notation::Expr::Unary(operator, operand) => ir::Expr::Unary(*operator, boxed(operand)?),
        notation::Expr::Binary(operator, left, right) => ir::Expr::Binary(*operator, boxed(left)?, boxed(right)?),
        notation::Expr::Cast(element, operand) => ir::Expr::Cast(Type::of(*element), boxed(operand)?),
        notation::Expr::Call(function, arguments) => {
            ir::Expr::Call(*function, arguments.iter().map(scalar_value).collect::<Option<_>>()?)
        }
        notation::Expr::Select(condition, yes, no) => ir::Expr::Select(boxed(condition)?, boxed(yes)?, boxed(no)?),
        notation::Expr::Index(..) | notation::Expr::Reduce(..) => return None,
    })
}

/// Checks on sample values that operands may change places, that parts may be combined in any order, and that the identity changes
/// nothing. What can't be computed here is taken as it is.
fn laws(monoid: &MonoidDefinition, definition: Definition) -> Result<Definition, Diagnostic> {
    let Definition { element, identity, value } = &definition;
    let mut samples: Vec<Literal> = samples(*element).collect();
    samples.push(*identity);
    let of = |left: Literal, right: Literal| constant::defined(value, left, right);
    let name = &monoid.name.name;
    let wrong = |span: Span, what: String, label: String| {
        Diagnostic::new(codes::MONOID_LAW, span, format!("`{name}` {what}")).label(label)
    };
    let differ = |one: Literal, other: Literal| !is_close(one, other);
    let shown = |call: String, result: Literal| format!("{call} is {}", result.text());
    for &a in &samples {
        for (left, right) in [(*identity, a), (a, *identity)] {
            let Some(result) = of(left, right).filter(|result| differ(*result, a)) else { continue };
            let call = format!("{name}({}, {})", left.text(), right.text());
            let what = format!("has another identity than {}: {}", identity.text(), shown(call, result));
            return Err(wrong(monoid.identity.span, what, "changes a value".to_owned())
                .help("the identity changes nothing: parts of a reduction begin with it"));
        }
        for &b in &samples {
            let (ab, ba) = (of(a, b), of(b, a));
            if let Some((ab, ba)) = ab.zip(ba).filter(|(ab, ba)| differ(*ab, *ba)) {
                let one = shown(format!("{name}({}, {})", a.text(), b.text()), ab);
                let other = shown(format!("{name}({}, {})", b.text(), a.text()), ba);
                return Err(wrong(
                    monoid.body.span,
                    format!("is not commutative: {one}, and {other}"),
                    "the operands can't change places".to_owned(),
                )
                .help("values are reduced in any order"));
            }
            for &c in &samples {
                let left = ab.and_then(|ab| of(ab, c));
                let right = of(b, c).and_then(|bc| of(a, bc));
                if let Some((left, right)) = left.zip(right).filter(|(left, right)| differ(*left, *right)) {
                    let [a, b, c] = [a, b, c].map(Literal::text);
                    let one = shown(format!("{name}({name}({a}, {b}), {c})"), left);
                    let other = shown(format!("{name}({a}, {name}({b}, {c}))"), right);
                    return Err(wrong(
                        monoid.body.span,
                        format!("is not associative: {one}, and {other}"),
                        "parts can't be combined".to_owned(),
                    )
                    .help("parts of a reduction are formed apart and then combined"));
                }
            }
        }
    }
    Ok(definition)
}

/// Whether values are the same, or differ by no more than rounding makes them.
fn is_close(one: Literal, other: Literal) -> bool {
    match (one, other) {
        (Literal::Float(element, a), Literal::Float(_, b)) if a.is_finite() && b.is_finite() => {
            let part = element.part().unwrap_or(element);
            let digits = if part == ElementType::F64 { 1e-9 } else { 1e-3 };
            (a - b).abs() <= digits * a.abs().max(b.abs()).max(1.0)
        }
        _ => one.equals(other),
    }
}
