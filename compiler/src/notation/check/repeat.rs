//! `repeat`: what a round takes from the one before it, and what ends it, as tensors and statements of their own.
//!
//! ```text
//! x(i) = b(i);                                      let x_start(i) = b(i);  let n_start = 0;
//! repeat n until norm < 1e-9 or 100 {         →     each round:
//!     let r(i) = b(i) - A(i, j) * x(j);                 let r(i) = b(i) - A(i, j) * x_start(j);
//!     x'(i) = x(i) + r(i) / d(i);                       x(i) = x_start(i) + r(i) / d(i);
//!     let norm = norm2(i)(r(i));                        let norm = norm2(i)(r(i));
//! }                                                     n = n_start + 1;
//! ```
//!
//! Here `x` and `n` are results. What else is carried on keeps its name before and in a round, and is another behind: `p'` is `p_next`.

use super::uses;
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::format::Format;
use crate::ir::{Comparison, ElementType, Repetition, Until};
use crate::notation::{Kernel, Role, TensorId};
use crate::syntax::{
    self, Access, AssignOperator, BinaryOperator, Expr, ExprKind, Ident, NEXT, Repeat, Stage, Statement, UnaryOperator,
};
use std::collections::BTreeSet;

/// A value that each round takes from the one before.
struct Carried {
    /// Its name in the text.
    written: String,
    /// What a round reads.
    old: String,
    /// What takes its place in the next round, and is read behind the last.
    new: String,
}

/// Writes the body of a kernel with tensors for both values of what is carried on; gives how it is repeated.
pub(super) fn expand(kernel: &mut syntax::Kernel, found: &mut Diagnostics) -> Option<Repetition> {
    let Some(repeat) = kernel.repeat.take() else {
        for_each_next(&mut kernel.body, &mut |name, _| found.push(outside(name)));
        return None;
    };
    for_each_next(&mut kernel.body, &mut |name, stage| {
        if stage != Stage::Round {
            found.push(outside(name));
        }
    });
    count(kernel, &repeat);
    let mut expansion = Expansion { names: names(kernel) };
    let limit = repeat.limit.as_ref().map(|limit| {
        let value = Expr { kind: ExprKind::Name(limit.clone()), span: limit.span };
        expansion.made("limit", (value, Some(ElementType::I64)), Stage::Before, &mut kernel.body)
    });
    let until = repeat.until.as_ref().map(|until| expansion.rule(until, &mut kernel.body));
    let aliases = aliases(kernel);
    let mut carried: Vec<Carried> = Vec::new();
    let mut written: Vec<Ident> = Vec::new();
    for statement in kernel.body.iter().filter(|statement| statement.target.name.name.ends_with(NEXT)) {
        if written.iter().all(|known| known.name != statement.target.name.name) {
            written.push(statement.target.name.clone());
        }
    }
    for next in &written {
        carried.extend(expansion.carried(kernel, next, found));
    }
    for (of, by) in aliases {
        if carried.iter().any(|known| known.written == of.name) {
            let message = format!("what `{}` is in the next round is said twice", of.name);
            found.push(problem(of.span, &message).label("said again").help("leave one of them out"));
            continue;
        }
        let of_next = |known: &&Carried| by.strip_suffix(NEXT) == Some(&known.written);
        let by = carried.iter().find(of_next).map_or(by.clone(), |known| known.new.clone());
        // What is to be stored alike is declared alike.
        let (element, format) = declaration(kernel, &of.name);
        for name in [&of.name, &by] {
            let made = kernel.body.iter_mut().find(|made| made.is_let && made.target.name.name == *name);
            if let Some(made) = made.filter(|made| made.element.is_none() && made.format.is_none()) {
                (made.element, made.format) = (element, format.clone());
            }
        }
        carried.extend(start(kernel, &of, found).map(|()| Carried { written: of.name.clone(), old: of.name, new: by }));
    }
    if carried.is_empty() && found.is_empty() {
        found.push(
            problem(repeat.span, "nothing is carried on from round to round")
                .label("each round would be like the first")
                .help("say what `x` is in the next round: `x'(i) = …`"),
        );
    }
    rename(&mut kernel.body, &carried);
    check_updates(&kernel.body, found);
    let until = until.map(|until| {
        let result = renamed(&until.result, Stage::Round, &carried).unwrap_or(&until.result).to_owned();
        Until { result, ..until }
    });
    let feeds = carried.into_iter().map(|carried| (carried.old, carried.new)).collect();
    let most = repeat.most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    Some(Repetition { feeds, most, limit, until })
}

/// The tensors that rounds read though no statement does.
pub(super) fn reads(repetition: Option<&Repetition>) -> Vec<&str> {
    let feeds = repetition.iter().flat_map(|repetition| repetition.feeds.iter());
    let feeds = feeds.flat_map(|(old, new)| [old.as_str(), new.as_str()]);
    let until = repetition.iter().filter_map(|repetition| Some(repetition.until.as_ref()?.result.as_str()));
    let limit = repetition.iter().filter_map(|repetition| repetition.limit.as_deref());
    feeds.chain(until).chain(limit).collect()
}

/// Makes what crosses the stages of a kernel tensors that are made as they are declared, and checks that each round finds what the one
/// before it has left in the type and the format that it reads.
pub(super) fn settle(kernel: &mut Kernel, found: &mut Diagnostics) {
    let Some(repetition) = kernel.repeat.clone() else { return };
    let place = |kernel: &Kernel, name: &str| kernel.tensors.iter().position(|tensor| tensor.name == name);
    for id in 0..kernel.tensors.len() {
        kernel.tensors[id].declared |= kernel.crosses(TensorId(id));
    }
    // What else is wrong may have left a tensor without its order.
    if !found.is_empty() {
        return;
    }
    for (old, new) in &repetition.feeds {
        let (Some(old), Some(new)) = (place(kernel, old), place(kernel, new)) else { continue };
        for of in [old, new] {
            // What stores every element lacks none.
            let tensor = &mut kernel.tensors[of];
            if tensor.format.is_dense() && tensor.role == Role::Temporary {
                tensor.fill = tensor.element.zero();
            }
        }
        let (old, new) = (&kernel.tensors[old], &kernel.tensors[new]);
        if old.element != new.element || old.format != new.format || !old.fill.equals(new.fill) {
            let of = |element: ElementType, format: &Format| match format.order {
                0 => element.name().to_owned(),
                _ => format!("{} {format}", element.name()),
            };
            let (before, after) = (of(old.element, &old.format), of(new.element, &new.format));
            let message = format!("a round takes {before}, and the round before it makes {after}");
            found.push(
                problem(new.span, &message)
                    .label("made here")
                    .related(old.span, "taken here")
                    .help("declare both alike, as in `let x(i): f64 dense = …`"),
            );
        }
    }
    if let Some(rule) = repetition.until.as_ref().and_then(|until| place(kernel, &until.result)) {
        let rule = &kernel.tensors[rule];
        if rule.format.order > 0 || rule.element.is_complex() {
            found.push(
                problem(rule.span, "what ends a `repeat` is a comparison of real numbers")
                    .label("this is none")
                    .help("reduce it to one number: `until max(i)(abs(x(i) - z(i))) < 1e-9 or 100`"),
            );
        }
    }
}

fn problem(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(codes::REPEAT, span, message)
}

fn outside(name: &Ident) -> Diagnostic {
    let of = name.name.trim_end_matches(NEXT);
    problem(name.span, &format!("`{}` is the value of `{of}` in the next round, and here is none", name.name))
        .label("no `repeat` around this")
        .help(format!("behind a `repeat`, `{of}` is what the last round has made of it"))
}

/// Visits the names of values of the next round.
fn for_each_next(body: &mut [Statement], visit: &mut dyn FnMut(&Ident, Stage)) {
    for statement in body {
        let stage = statement.stage;
        statement.for_each_name_mut(&mut |name| {
            if name.name.ends_with(NEXT) {
                visit(name, stage);
            }
        });
    }
}

/// All names of a kernel.
fn names(kernel: &mut syntax::Kernel) -> BTreeSet<String> {
    let declared = kernel.parameters.iter().chain(&kernel.results).map(|parameter| parameter.name.name.clone());
    let mut names: BTreeSet<String> = declared.collect();
    for statement in &mut kernel.body {
        statement.for_each_name_mut(&mut |name| {
            names.insert(name.name.clone());
        });
        names.extend(uses::index_names(statement).into_iter().map(|name| name.name.clone()));
    }
    names
}

/// Adds the statements that count rounds.
fn count(kernel: &mut syntax::Kernel, repeat: &Repeat) {
    let Some(counter) = &repeat.counter else { return };
    let is_result = kernel.results.iter().any(|result| result.name.name == counter.name);
    let number =
        |digits: &str| Expr { kind: ExprKind::Number { digits: digits.to_owned(), suffix: None }, span: counter.span };
    let of = Expr { kind: ExprKind::Name(counter.clone()), span: counter.span };
    let next = Ident { name: format!("{}{NEXT}", counter.name), span: counter.span };
    let more =
        Expr { kind: ExprKind::Binary(BinaryOperator::Add, Box::new(of), Box::new(number("1"))), span: counter.span };
    let zero = plain(counter.clone(), number("0"), Stage::Before);
    let element = (!is_result).then_some((ElementType::I64, counter.span));
    kernel.body.insert(0, Statement { is_let: !is_result, element, ..zero });
    kernel.body.push(plain(next, more, Stage::Round));
    kernel.body.sort_by_key(|statement| statement.stage);
}

/// `name = value`
fn plain(name: Ident, value: Expr, stage: Stage) -> Statement {
    let span = name.span;
    Statement {
        is_let: false,
        target: Access { span, name, indices: Vec::new() },
        element: None,
        format: None,
        operator: AssignOperator::Assign,
        operator_span: span,
        value,
        mask: None,
        condition: None,
        stage,
        span,
    }
}

/// Says that `name` has a value before the first round; what is wrong where it has none.
fn start(kernel: &syntax::Kernel, name: &Ident, found: &mut Diagnostics) -> Option<()> {
    let is_parameter = kernel.parameters.iter().any(|parameter| parameter.name.name == name.name);
    let is_made = |statement: &Statement| statement.stage == Stage::Before && statement.target.name.name == name.name;
    if is_parameter || kernel.body.iter().any(is_made) {
        return Some(());
    }
    let of = &name.name;
    found.push(
        problem(name.span, &format!("`{of}` has no value before the first round"))
            .label("carried on to the next round")
            .help(format!("assign it before the `repeat`, `let {of}(i) = …;`, or make it a parameter")),
    );
    None
}

/// Refuses updates of what another stage has made: a round would update it once more.
fn check_updates(body: &[Statement], found: &mut Diagnostics) {
    for statement in body.iter().filter(|statement| statement.operator != AssignOperator::Assign) {
        let name = &statement.target.name;
        let first = body.iter().find(|earlier| earlier.target.name.name == name.name);
        if let Some(first) = first.filter(|first| first.stage != statement.stage) {
            let of = &name.name;
            found.push(
                problem(statement.target.span, &format!("`{of}` is updated in another stage than it is made in"))
                    .label("updated here")
                    .related(first.target.span, "made here")
                    .help(format!("carry it on: `{of}' = {of} + …` in the `repeat`")),
            );
        }
    }
}

fn rename(body: &mut [Statement], carried: &[Carried]) {
    for statement in body {
        let stage = statement.stage;
        statement.for_each_name_mut(&mut |name| {
            if let Some(other) = renamed(&name.name, stage, carried) {
                name.name = other.to_owned();
            }
        });
    }
}

/// The tensor that the text calls so in a stage, where that is one of two.
fn renamed<'a>(name: &str, stage: Stage, carried: &'a [Carried]) -> Option<&'a str> {
    let of = name.trim_end_matches(NEXT);
    let carried = carried.iter().find(|carried| carried.written == of)?;
    let is_old = stage == Stage::Before || stage == Stage::Round && !name.ends_with(NEXT);
    Some(if is_old { &carried.old } else { &carried.new })
}

struct Expansion {
    /// The names in the text.
    names: BTreeSet<String>,
}

impl Expansion {
    /// A name that nothing has.
    fn fresh(&mut self, wish: &str) -> String {
        let numbered = (1..).map(|number| format!("{wish}_{number}"));
        let name = std::iter::once(wish.to_owned()).chain(numbered).find(|name| !self.names.contains(name));
        let name = name.unwrap_or_default();
        self.names.insert(name.clone());
        name
    }

    /// The rule, with statements for what it compares.
    fn rule(&mut self, until: &Expr, body: &mut Vec<Statement>) -> Until {
        let comparison = |operator| match operator {
            BinaryOperator::Less => Some((Comparison::Less, BinaryOperator::GreaterEqual)),
            BinaryOperator::LessEqual => Some((Comparison::LessOrEqual, BinaryOperator::Greater)),
            BinaryOperator::Greater => Some((Comparison::Greater, BinaryOperator::LessEqual)),
            BinaryOperator::GreaterEqual => Some((Comparison::GreaterOrEqual, BinaryOperator::Less)),
            _ => None,
        };
        let holds = |result| Until { result, comparison: Comparison::GreaterOrEqual, bound: 1.0 };
        if let ExprKind::Binary(operator, left, right) = &until.kind
            && let Some((comparison, opposite)) = comparison(*operator)
        {
            if let Some(bound) = number(right) {
                return Until { result: self.scalar(left, body), comparison, bound };
            }
            // What is neither so nor so is NaN.
            let span = until.span;
            let (left, right) = (self.scalar(left, body), self.scalar(right, body));
            let name = |name: &str| Expr { kind: ExprKind::Name(Ident { name: name.to_owned(), span }), span };
            let compared = |operator| Expr {
                kind: ExprKind::Binary(operator, Box::new(name(&left)), Box::new(name(&right))),
                span,
            };
            let digits =
                |digits: &str| Expr { kind: ExprKind::Number { digits: digits.to_owned(), suffix: None }, span };
            let select = |condition, yes, no| Expr {
                kind: ExprKind::Call(Ident { name: "select".to_owned(), span }, vec![condition, yes, no]),
                span,
            };
            let infinite = || Box::new(name("inf"));
            let nan = Expr { kind: ExprKind::Binary(BinaryOperator::Subtract, infinite(), infinite()), span };
            let otherwise = select(compared(opposite), digits("0"), nan);
            let value = select(compared(*operator), digits("1"), otherwise);
            let result = self.made("rule", (value, Some(ElementType::F64)), Stage::Round, body);
            return holds(result);
        }
        holds(self.made("rule", (until.clone(), Some(ElementType::Bool)), Stage::Round, body))
    }

    /// The name of a number without modes.
    fn scalar(&mut self, expr: &Expr, body: &mut Vec<Statement>) -> String {
        match &expr.kind {
            ExprKind::Name(name) => name.name.clone(),
            _ => self.made("rule", (expr.clone(), None), Stage::Round, body),
        }
    }

    /// Assigns a new temporary at the end of a stage.
    fn made(
        &mut self,
        wish: &str,
        (value, element): (Expr, Option<ElementType>),
        stage: Stage,
        body: &mut Vec<Statement>,
    ) -> String {
        let span = value.span;
        let name = self.fresh(wish);
        let made = plain(Ident { name: name.clone(), span }, value, stage);
        body.push(Statement { is_let: true, element: element.map(|element| (element, span)), ..made });
        body.sort_by_key(|statement| statement.stage);
        name
    }

    /// Declares both tensors of what is carried on.
    fn carried(&mut self, kernel: &mut syntax::Kernel, next: &Ident, found: &mut Diagnostics) -> Option<Carried> {
        let written = next.name.trim_end_matches(NEXT).to_owned();
        start(kernel, &Ident { name: written.clone(), span: next.span }, found)?;
        let is_result = kernel.results.iter().any(|result| result.name.name == written);
        let is_parameter = kernel.parameters.iter().any(|parameter| parameter.name.name == written);
        let (element, format) = declaration(kernel, &written);
        let declare = |stage: Stage, name: &str, kernel: &mut syntax::Kernel| {
            let first = kernel.body.iter_mut().find(|made| made.stage == stage && made.target.name.name == name);
            if let Some(first) = first {
                (first.is_let, first.element, first.format) = (true, element, format.clone());
            }
        };
        if is_result {
            declare(Stage::Before, &written, kernel);
            let old = self.fresh(&format!("{written}_start"));
            return Some(Carried { new: written.clone(), written, old });
        }
        if !is_parameter {
            declare(Stage::Before, &written, kernel);
        }
        declare(Stage::Round, &next.name, kernel);
        let new = self.fresh(&format!("{written}_next"));
        Some(Carried { old: written.clone(), written, new })
    }
}

/// Takes `x' = y;` out of the body where `y` is what a round makes as a whole: nothing need be copied.
fn aliases(kernel: &mut syntax::Kernel) -> Vec<(Ident, String)> {
    let is_made =
        |name: &str| kernel.body.iter().any(|made| made.stage == Stage::Round && made.target.name.name == name);
    let is_result = |name: &str| kernel.results.iter().any(|result| result.name.name == name);
    let alias = |statement: &Statement| {
        let of = statement.target.name.name.strip_suffix(NEXT)?;
        let ExprKind::Name(by) = &statement.value.kind else { return None };
        let is_whole = statement.target.indices.is_empty() && statement.mask.is_none();
        let is_plain = is_whole && statement.condition.is_none() && statement.operator == AssignOperator::Assign;
        let of = Ident { name: of.to_owned(), span: statement.target.name.span };
        (is_plain && is_made(&by.name) && !is_result(&of.name)).then(|| (of, by.name.clone()))
    };
    let aliases: Vec<(Ident, String)> = kernel.body.iter().filter_map(alias).collect();
    let is_alias: Vec<bool> = kernel.body.iter().map(|statement| alias(statement).is_some()).collect();
    let mut is_alias = is_alias.into_iter();
    kernel.body.retain(|_| !is_alias.next().unwrap_or_default());
    aliases
}

/// What is carried on under a name is declared as; a `let` of which nothing says the format is dense.
fn declaration(kernel: &syntax::Kernel, name: &str) -> syntax::Declaration {
    let mut declared = kernel.results.iter().chain(&kernel.parameters);
    if let Some(declared) = declared.find(|declared| declared.name.name == name) {
        return (declared.element, declared.format.clone());
    }
    match kernel.body.iter().find(|made| made.is_let && made.target.name.name == name) {
        Some(Statement { element, format: None, target, .. }) if !target.indices.is_empty() => {
            (*element, syntax::parse_format("dense").ok())
        }
        Some(made) => (made.element, made.format.clone()),
        None => (None, None),
    }
}

/// `1e-6`, `-2`
fn number(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Number { digits, .. } => digits.parse().ok(),
        ExprKind::Unary(UnaryOperator::Negate, operand) => number(operand).map(|number: f64| -number),
        _ => None,
    }
}
