//! Right-hand sides: names looked up, every part of the statement's element type.

use super::indices::Indices;
use super::literal::{Number, literal};
use super::{functions, missing};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes, suggest, words};
use crate::ir::{ElementType, Literal, ReduceOperator};
use crate::notation::{Access, BinaryOperator, Expr, Tensor, TensorId, UnaryOperator};
use crate::syntax::{self, ExprKind, Ident, Index};

/// Checks the expressions of one statement.
pub(super) struct Values<'a, 's> {
    pub(super) tensors: &'a [Tensor],
    pub(super) indices: &'a mut Indices,
    /// The type of the statement's tensors.
    pub(super) element: ElementType,
    /// The name of the tensor that the statement assigns, for messages.
    pub(super) target: &'a str,
    /// The names that are index variables somewhere in the statement.
    pub(super) index_names: Vec<&'s str>,
    /// The variables of explicit reductions: they are nobody else's.
    pub(super) reduced: Vec<&'s Ident>,
    /// The tensors of another element type that were reported.
    pub(super) mixed: Vec<String>,
    /// Whether `where` restricts the statement to what a sparse tensor stores.
    pub(super) masked: bool,
    pub(super) found: &'a mut Diagnostics,
}

impl<'s> Values<'_, 's> {
    /// An element.
    pub(super) fn value(&mut self, expr: &'s syntax::Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Number { digits, suffix } => self.number(digits, *suffix, false, expr.span),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Access(access) if access.indices.is_empty() => self.name(&access.name),
            ExprKind::Access(access) => self.access(access).map(Expr::Access),
            ExprKind::Unary(UnaryOperator::Negate, operand) => self.negation(operand, expr.span),
            ExprKind::Binary(operator, left, right) if is_arithmetic(*operator) => {
                self.arithmetic(*operator, left, right, expr.span)
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments, expr.span),
            ExprKind::Reduce { operator, variables, body } => self.reduction(*operator, variables, body, expr.span),
            ExprKind::Bool(_) | ExprKind::Unary(UnaryOperator::Not, _) | ExprKind::Binary(..) => {
                self.condition(expr);
                self.found.push(condition_as_value(expr));
                None
            }
        }
    }

    /// A truth value.
    fn condition(&mut self, expr: &'s syntax::Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Bool(value) => Some(Expr::Literal(Literal::Integer(ElementType::Bool, (*value).into()))),
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                let operand = self.condition(operand)?;
                Some(Expr::Unary(UnaryOperator::Not, Box::new(operand)))
            }
            ExprKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                Some(Expr::Binary(*operator, Box::new(left?), Box::new(right?)))
            }
            ExprKind::Binary(operator, left, right) if !is_arithmetic(*operator) => {
                let (left, right) = (self.value(left), self.value(right));
                Some(Expr::Binary(*operator, Box::new(left?), Box::new(right?)))
            }
            _ => {
                self.value(expr);
                self.found.push(value_as_condition(expr));
                None
            }
        }
    }

    fn number(&mut self, digits: &str, suffix: Option<ElementType>, negative: bool, span: Span) -> Option<Expr> {
        let number = Number { digits, suffix, negative, span };
        literal(&number, self.element).map_err(|problem| self.found.push(problem)).ok().map(Expr::Literal)
    }

    fn negation(&mut self, operand: &'s syntax::Expr, span: Span) -> Option<Expr> {
        if let ExprKind::Number { digits, suffix } = &operand.kind {
            return self.number(digits, *suffix, true, span);
        }
        let operand = self.value(operand);
        if !functions::signed(self.element) {
            let message = format!("`-` is not defined for `{}`", self.element.name());
            self.found.push(
                Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message)
                    .label(format!("`{}` has no negative values", self.element.name()))
                    .help("`i32` and `i64` have negative values"),
            );
            return None;
        }
        Some(Expr::Unary(UnaryOperator::Negate, Box::new(operand?)))
    }

    fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: &'s syntax::Expr,
        right: &'s syntax::Expr,
        span: Span,
    ) -> Option<Expr> {
        let divisor = right.span;
        let (left, right) = (self.value(left), self.value(right));
        let (left, right) = (left?, right?);
        if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder)
            && let Some(problem) = self.divisor(&right, divisor, span)
        {
            self.found.push(problem);
            return None;
        }
        Some(Expr::Binary(operator, Box::new(left), Box::new(right)))
    }

    /// A bare name: a scalar, or an index variable's value.
    fn name(&mut self, name: &'s Ident) -> Option<Expr> {
        if let Some(tensor) = self.tensor(&name.name) {
            self.check_element(tensor, name.span);
            let scalar = self.tensors[tensor.0].format.order == 0;
            return scalar.then(|| Expr::Access(Access { tensor, indices: Vec::new(), span: name.span }));
        }
        let index = self.index_names.contains(&name.name.as_str());
        index.then(|| Expr::Index(self.indices.resolve(name), self.element))
    }

    fn tensor(&self, name: &str) -> Option<TensorId> {
        self.tensors.iter().position(|tensor| tensor.name == name).map(TensorId)
    }

    /// A tensor at index variables. A name that no tensor has is reported elsewhere.
    pub(super) fn access(&mut self, access: &'s syntax::Access) -> Option<Access> {
        let tensor = self.tensor(&access.name.name)?;
        self.check_element(tensor, access.span);
        self.indexed(tensor, access)
    }

    /// The same for a tensor that is not read, so that its element type does not matter: a mask, the target.
    pub(super) fn unread(&mut self, access: &'s syntax::Access) -> Option<Access> {
        self.indexed(self.tensor(&access.name.name)?, access)
    }

    fn indexed(&mut self, tensor: TensorId, access: &'s syntax::Access) -> Option<Access> {
        let names: Vec<Option<&Ident>> = access.indices.iter().map(|index| self.plain_index(index)).collect();
        let names: Vec<&Ident> = names.into_iter().collect::<Option<_>>()?;
        for (place, name) in names.iter().enumerate() {
            if let Some(earlier) = names[..place].iter().find(|earlier| earlier.name == name.name) {
                self.found.push(repeated_index(access, earlier, name));
            }
        }
        let indices = names.into_iter().map(|name| self.indices.resolve(name)).collect();
        Some(Access { tensor, indices, span: access.span })
    }

    fn plain_index(&mut self, index: &'s Index) -> Option<&'s Ident> {
        let (span, what) = match index {
            Index::Expr(syntax::Expr { kind: ExprKind::Name(name), .. }) => return self.index_name(name),
            Index::Expr(expr) if matches!(expr.kind, ExprKind::Number { .. }) => (expr.span, "a constant index"),
            Index::Expr(expr) => (expr.span, "index arithmetic"),
            Index::Range { span, .. } => (*span, "a window"),
        };
        self.found.push(
            Diagnostic::new(codes::INDEX_ARITHMETIC_NOT_YET, span, format!("{what} is not lowered yet"))
                .label("not an index variable")
                .help("every index must be an index variable for now"),
        );
        None
    }

    fn index_name(&mut self, name: &'s Ident) -> Option<&'s Ident> {
        let Some(tensor) = self.tensor(&name.name) else { return Some(name) };
        self.found.push(
            Diagnostic::new(codes::NAME_CLASH, name.span, format!("`{}` is a tensor and an index variable", name.name))
                .label("used as an index variable")
                .related(self.tensors[tensor.0].span, "a tensor or scalar here")
                .help("give one of them another name"),
        );
        None
    }

    fn check_element(&mut self, tensor: TensorId, span: Span) {
        let tensor = &self.tensors[tensor.0];
        if tensor.element != self.element && !self.mixed.contains(&tensor.name) {
            self.mixed.push(tensor.name.clone());
            let (element, expected) = (tensor.element.name(), self.element.name());
            let message = format!("tensors of `{element}` and `{expected}` in one statement are not lowered yet");
            self.found.push(
                Diagnostic::new(codes::MIXED_ELEMENTS_NOT_YET, span, message)
                    .label(format!("`{}` has elements of `{element}`", tensor.name))
                    .help(format!("`{}` has elements of `{expected}`: give all tensors one element type", self.target)),
            );
        }
    }

    /// What is wrong with dividing by `divisor`.
    fn divisor(&self, divisor: &Expr, span: Span, quotient: Span) -> Option<Diagnostic> {
        if !missing::value(divisor, self.tensors).is_zero() {
            return None;
        }
        let sparse = divisor.accesses().into_iter().find(|access| self.tensors[access.tensor.0].is_sparse());
        match sparse {
            Some(access) => (!self.masked).then(|| self.division_by_missing(access, span, quotient)),
            None if self.element.is_float() => None,
            None => Some(
                Diagnostic::new(codes::DIVISION_BY_MISSING, quotient, "a division of whole numbers by zero")
                    .label("has no value")
                    .help("`f32` and `f64` have infinities"),
            ),
        }
    }

    fn division_by_missing(&self, access: &Access, span: Span, quotient: Span) -> Diagnostic {
        let tensor = &self.tensors[access.tensor.0];
        let indices: Vec<&str> =
            access.indices.iter().map(|variable| self.indices.variables[variable.0].name.as_str()).collect();
        let text = format!("{}({})", tensor.name, indices.join(", "));
        Diagnostic::new(codes::DIVISION_BY_MISSING, span, format!("a division by missing entries of `{}`", tensor.name))
            .label(format!("zero where `{}` stores no entry", tensor.name))
            .related(quotient, "the quotient is computed at every coordinate")
            .help(format!("add `where {text}` to compute only at the stored coordinates of `{}`", tensor.name))
    }

    fn call(&mut self, name: &'s Ident, arguments: &'s [syntax::Expr], span: Span) -> Option<Expr> {
        let Some(entry) = functions::find(&name.name) else {
            arguments.iter().for_each(|argument| drop(self.value(argument)));
            self.found.push(unknown_function(name));
            return None;
        };
        let checked = self.arguments(entry.function.is_none(), arguments);
        if arguments.len() != entry.arguments {
            self.found.push(argument_count(entry, arguments.len(), span));
            return None;
        }
        if !(entry.defined)(self.element) {
            self.found.push(undefined_function(entry, self.element, name.span));
            return None;
        }
        let mut checked = checked?;
        match entry.function {
            Some(function) => Some(Expr::Call(function, checked)),
            None => {
                let (second, first, condition) = (checked.pop()?, checked.pop()?, checked.pop()?);
                Some(Expr::Select(Box::new(condition), Box::new(first), Box::new(second)))
            }
        }
    }

    /// All arguments; the first of `select` is a condition.
    fn arguments(&mut self, select: bool, arguments: &'s [syntax::Expr]) -> Option<Vec<Expr>> {
        let checked = arguments.iter().enumerate().map(|(place, argument)| match (select, place) {
            (true, 0) => self.condition(argument),
            _ => self.value(argument),
        });
        // Every argument is checked before the first problem counts.
        checked.collect::<Vec<_>>().into_iter().collect()
    }

    fn reduction(
        &mut self,
        operator: ReduceOperator,
        names: &'s [Ident],
        body: &'s syntax::Expr,
        span: Span,
    ) -> Option<Expr> {
        self.check_operator(operator, reduction_name(operator), span);
        names.iter().for_each(|name| self.check_binding(name));
        let variables: Vec<_> = names.iter().map(|name| self.indices.bind(name)).collect();
        self.reduced.extend(names);
        let inside = self.reduced.len();
        let body = self.value(body);
        self.indices.unbind(names.len());
        let body = body?;
        let accesses = body.accesses();
        for (name, variable) in names.iter().zip(&variables) {
            let hidden = self.reduced[inside..].iter().any(|inner| inner.name == name.name);
            if !hidden && !accesses.iter().any(|access| access.indices.contains(variable)) {
                self.found.push(
                    Diagnostic::new(
                        codes::UNBOUND_INDEX,
                        name.span,
                        format!("nothing tells how large `{}` is", name.name),
                    )
                    .label("not an index of any tensor in the reduction")
                    .help(format!("remove `{}` from the reduction's variables", name.name)),
                );
            }
        }
        Some(Expr::Reduce(operator, variables, Box::new(body)))
    }

    fn check_binding(&mut self, name: &Ident) {
        if let Some(tensor) = self.tensor(&name.name) {
            self.found.push(
                Diagnostic::new(
                    codes::NAME_CLASH,
                    name.span,
                    format!("`{}` is a tensor and an index variable", name.name),
                )
                .label("used as an index variable")
                .related(self.tensors[tensor.0].span, "a tensor or scalar here")
                .help("give one of them another name"),
            );
        }
        if let Some(outer) = self.indices.bound(&name.name) {
            self.found.push(
                Diagnostic::new(codes::REDUCTION_VARIABLE, name.span, format!("`{}` is bound twice", name.name))
                    .label("bound again inside")
                    .related(self.indices.variables[outer.0].span, "bound here")
                    .help("give one of them another name"),
            );
        }
    }

    /// Whether the element type has the operator.
    pub(super) fn check_operator(&mut self, operator: ReduceOperator, text: &str, span: Span) {
        if operator.identity(self.element).is_none() {
            let message = format!("`{text}` is not defined for `{}`", self.element.name());
            self.found.push(
                Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message)
                    .label("works on the bits of whole numbers")
                    .help("`i32`, `i64` and `u8` have this operator"),
            );
        }
    }
}

/// The word of a reduction: `sum` of `sum(k)(…)`.
pub(in crate::notation) fn reduction_name(operator: ReduceOperator) -> &'static str {
    match operator {
        ReduceOperator::Add => "sum",
        ReduceOperator::Multiply => "prod",
        ReduceOperator::Min => "min",
        ReduceOperator::Max => "max",
        ReduceOperator::Or => "any",
        ReduceOperator::And => "all",
    }
}

fn is_arithmetic(operator: BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(operator, Add | Subtract | Multiply | Divide | Remainder)
}

fn repeated_index(access: &syntax::Access, earlier: &Ident, name: &Ident) -> Diagnostic {
    let message =
        format!("`{}` occurs twice in an access of `{}`, which is not lowered yet", name.name, access.name.name);
    Diagnostic::new(codes::REPEATED_INDEX_NOT_YET, name.span, message)
        .label("occurs again")
        .related(earlier.span, "occurs first here")
        .help("every index of an access must be a different variable for now")
}

fn condition_as_value(expr: &syntax::Expr) -> Diagnostic {
    let text = expr.to_string();
    Diagnostic::new(codes::CONDITION_AS_VALUE, expr.span, "a truth value where a number must stand")
        .label("is true or false")
        .help(format!("`select({text}, 1, 0)` is a number"))
}

fn value_as_condition(expr: &syntax::Expr) -> Diagnostic {
    Diagnostic::new(codes::VALUE_AS_CONDITION, expr.span, "a number where a truth value must stand")
        .label("not a comparison")
        .help(format!("compare it: `{expr} != 0`"))
}

/// A function that nothing knows.
pub(super) fn unknown_function(name: &Ident) -> Diagnostic {
    let message = format!("there is no function `{}`", name.name);
    let unknown = Diagnostic::new(codes::UNKNOWN_FUNCTION, name.span, message).label("not a function");
    match suggest::similar(&name.name, functions::names()) {
        Some(close) => unknown.help(format!("did you mean `{close}`?")),
        None => unknown.help(format!("the functions are {}", words::list(functions::names()))),
    }
}

fn argument_count(entry: &functions::Entry, given: usize, span: Span) -> Diagnostic {
    let name = entry.name;
    let message = format!("`{name}` takes {}, not {given}", words::count(entry.arguments, "argument"));
    let count = Diagnostic::new(codes::ARGUMENT_COUNT, span, message)
        .label(format!("{} here", words::count(given, "argument")));
    match name {
        "min" | "max" if given > 2 => count.help(format!("write `{name}(a, {name}(b, c))` for three")),
        "min" | "max" => count.help(format!("write `{name}(a, b)`, or `{name}(k)(…)` for the `{name}` over an index")),
        "select" => count.help("write `select(condition, a, b)`: `a` where the condition holds, else `b`"),
        "pow" => count.help("write `pow(base, exponent)`"),
        _ => count.help(format!("write `{name}(a)`")),
    }
}

fn undefined_function(entry: &functions::Entry, element: ElementType, span: Span) -> Diagnostic {
    let message = format!("`{}` is not defined for `{}`", entry.name, element.name());
    let undefined = Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message);
    match entry.name {
        "abs" => undefined.label(format!("`{}` has no negative values", element.name())).help("leave `abs` out"),
        _ => undefined.label("a function of floating point numbers").help("declare the tensors as `f32` or `f64`"),
    }
}
