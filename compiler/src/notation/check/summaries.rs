//! Words for what is made of several reductions: `mean`, `var`, `norm2`, `logsumexp` and `softmax`.
//!
//! ```text
//! P(i, j) = softmax(j)(S(i, j)) where A(i, j)      →      let top(i) max= S(i, j) where A(i, j);
//!                                                         let part(i, j) = exp(S(i, j) - top(i)) where A(i, j);
//!                                                         let total(i) = part(i, j);
//!                                                         P(i, j) = part(i, j) / total(i) where A(i, j);
//! ```
//!
//! A mask of the statement says of what they are, where all its indices are theirs; without one they are of all values. The greatest value
//! is taken off before `exp`, so that nothing overflows.

use super::{functions::STORED, uses};
use crate::diagnostics::Span;
use crate::ir::{Function, ReduceOperator};
use crate::syntax::{
    Access, AssignOperator, BinaryOperator, Expr, ExprKind, Ident, Index, SUMMARIES, Stage, Statement,
};
use std::collections::BTreeSet;

/// Puts statements for the parts before each statement that has such words.
pub(super) fn expand(body: Vec<Statement>) -> Vec<Statement> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for statement in &body {
        names.extend(uses::of_statement(statement).iter().map(|used| used.name.name.clone()));
        names.extend(uses::index_names(statement).iter().map(|name| name.name.clone()));
    }
    let mut expansion =
        Expansion { names, statements: Vec::new(), mask: None, stage: Stage::Before, has_chosen: false };
    for mut statement in body {
        expansion.mask.clone_from(&statement.mask);
        expansion.stage = statement.stage;
        expansion.expr(&mut statement.value);
        // What has chosen the terms chooses nothing else.
        let own = uses::names_in(&statement.target);
        let is_own = |name: &&Ident| own.iter().any(|own| own.name == name.name);
        let free = uses::free_indices(&statement.value);
        let is_left = |name: &&Ident| free.iter().any(|free| free.name == name.name);
        let is_spent = |mask: &Access| uses::names_in(mask).iter().any(|name| !is_own(name) && !is_left(name));
        if statement.mask.as_ref().is_some_and(is_spent) && std::mem::take(&mut expansion.has_chosen) {
            statement.mask = None;
        }
        expansion.statements.push(statement);
    }
    expansion.statements
}

/// The statement with what the words are of in their places, which has the same operands.
pub(super) fn without(statement: &Statement) -> Statement {
    fn plain(expr: &mut Expr) {
        if let Some((_, body)) = word(expr) {
            *expr = body.clone();
        }
        expr.children_mut().into_iter().for_each(plain);
    }
    let mut statement = statement.clone();
    plain(&mut statement.value);
    statement
}

/// What such a word is over and of.
fn word(expr: &Expr) -> Option<(Vec<Ident>, &Expr)> {
    let ExprKind::Call(name, arguments) = &expr.kind else { return None };
    let (body, variables) = arguments.split_last()?;
    let variable = |expr: &Expr| match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    };
    let variables = variables.iter().map(variable).collect::<Option<Vec<_>>>()?;
    (SUMMARIES.contains(&name.name.as_str()) && !variables.is_empty()).then_some((variables, body))
}

struct Expansion {
    /// The names in the text.
    names: BTreeSet<String>,
    statements: Vec<Statement>,
    /// That of the statement at hand.
    mask: Option<Access>,
    /// When that runs.
    stage: Stage,
    /// Whether it has chosen what a word is of.
    has_chosen: bool,
}

impl Expansion {
    fn expr(&mut self, expr: &mut Expr) {
        expr.children_mut().into_iter().for_each(|child| self.expr(child));
        let ExprKind::Call(name, _) = &expr.kind else { return };
        let name = name.name.clone();
        let Some((variables, body)) = word(expr) else { return };
        let of = Of::new(variables, body.clone(), self.mask.as_ref());
        self.has_chosen |= of.mask.is_some();
        *expr = match name.as_str() {
            "mean" => self.mean(&of, of.body.clone()),
            "var" => {
                let mean = self.mean(&of, of.body.clone());
                let off = self.made("off", &of.all, AssignOperator::Assign, of.minus(&mean), of.mask.clone(), of.span);
                let square = of.binary(BinaryOperator::Multiply, off.clone(), off);
                self.mean(&of, square)
            }
            "norm2" => {
                let square = of.binary(BinaryOperator::Multiply, of.body.clone(), of.body.clone());
                let sum = self.sum(&of, square);
                self.made("norm", &of.outer, AssignOperator::Assign, of.call(Function::Sqrt, sum), None, of.span)
            }
            _ => {
                let greatest = AssignOperator::Reduce(ReduceOperator::Max);
                let top = self.made("top", &of.outer, greatest, of.body.clone(), of.mask.clone(), of.span);
                let part = of.call(Function::Exp, of.minus(&top));
                let part = self.made("part", &of.all, AssignOperator::Assign, part, of.mask.clone(), of.span);
                let total = of.reduced(part.clone());
                let total = self.made("total", &of.outer, AssignOperator::Assign, total, None, of.span);
                match name.as_str() {
                    "softmax" => of.binary(BinaryOperator::Divide, part, total),
                    _ => of.binary(BinaryOperator::Add, top, of.call(Function::Ln, total)),
                }
            }
        };
    }

    /// A sum over the variables, of what the mask chooses.
    fn sum(&mut self, of: &Of, body: Expr) -> Expr {
        match &of.mask {
            None => of.reduced(body),
            Some(_) => {
                let part = self.made("part", &of.all, AssignOperator::Assign, body, of.mask.clone(), of.span);
                of.reduced(part)
            }
        }
    }

    fn mean(&mut self, of: &Of, body: Expr) -> Expr {
        let sum = self.sum(of, body);
        let mean = match &of.mask {
            None => {
                let extent = |variable: &Ident| of.named("extent", vec![of.name(variable)]);
                let times = |left, right| of.binary(BinaryOperator::Multiply, left, right);
                let count = of.variables.iter().map(extent).reduce(times).unwrap_or_else(|| of.number("1"));
                of.binary(BinaryOperator::Divide, sum, count)
            }
            Some(mask) => {
                let entry = Expr { kind: ExprKind::Access(mask.clone()), span: of.span };
                let is_there = of.named(STORED, vec![entry]);
                let count = of.reduced(of.named("select", vec![is_there, of.number("1"), of.number("0")]));
                let count = self.made("count", &of.outer, AssignOperator::Assign, count, None, of.span);
                let has_some = of.binary(BinaryOperator::NotEqual, count.clone(), of.number("0"));
                let mean = of.binary(BinaryOperator::Divide, sum, count);
                of.named("select", vec![has_some, mean, of.number("0")])
            }
        };
        self.made("mean", &of.outer, AssignOperator::Assign, mean, None, of.span)
    }

    /// A temporary, as it is read.
    fn made(
        &mut self,
        wish: &str,
        indices: &[Ident],
        operator: AssignOperator,
        value: Expr,
        mask: Option<Access>,
        span: Span,
    ) -> Expr {
        let numbered = (1..).map(|number| format!("{wish}_{number}"));
        let mut names = std::iter::once(wish.to_owned()).chain(numbered);
        let name = names.find(|name| !self.names.contains(name)).unwrap_or_default();
        self.names.insert(name.clone());
        let index = |name: &Ident| Index::Expr(Expr { kind: ExprKind::Name(name.clone()), span });
        let target = Access { name: Ident { name, span }, indices: indices.iter().map(index).collect(), span };
        self.statements.push(Statement {
            is_let: true,
            target: target.clone(),
            element: None,
            format: None,
            operator,
            operator_span: span,
            value,
            mask,
            condition: None,
            stage: self.stage,
            span,
        });
        match target.indices.is_empty() {
            true => Expr { kind: ExprKind::Name(target.name), span },
            false => Expr { kind: ExprKind::Access(target), span },
        }
    }
}

/// What a word is of.
struct Of {
    variables: Vec<Ident>,
    body: Expr,
    /// The indices of the body, and those that no variable is.
    all: Vec<Ident>,
    outer: Vec<Ident>,
    mask: Option<Access>,
    span: Span,
}

impl Of {
    fn new(variables: Vec<Ident>, body: Expr, mask: Option<&Access>) -> Self {
        let all: Vec<Ident> = uses::free_indices(&body).into_iter().cloned().collect();
        let has = |names: &[Ident], name: &Ident| names.iter().any(|other| other.name == name.name);
        let outer = all.iter().filter(|name| !has(&variables, name)).cloned().collect();
        let mask = mask.filter(|mask| uses::names_in(mask).into_iter().all(|name| has(&all, name)));
        let span = body.span;
        Self { variables, body, all, outer, mask: mask.cloned(), span }
    }

    fn name(&self, name: &Ident) -> Expr {
        Expr { kind: ExprKind::Name(name.clone()), span: self.span }
    }

    fn number(&self, digits: &str) -> Expr {
        Expr { kind: ExprKind::Number { digits: digits.to_owned(), suffix: None }, span: self.span }
    }

    fn named(&self, function: &str, arguments: Vec<Expr>) -> Expr {
        let name = Ident { name: function.to_owned(), span: self.span };
        Expr { kind: ExprKind::Call(name, arguments), span: self.span }
    }

    fn call(&self, function: Function, argument: Expr) -> Expr {
        self.named(function.name(), vec![argument])
    }

    fn binary(&self, operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
        Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span: self.span }
    }

    fn minus(&self, other: &Expr) -> Expr {
        self.binary(BinaryOperator::Subtract, self.body.clone(), other.clone())
    }

    /// The sum over the variables.
    fn reduced(&self, body: Expr) -> Expr {
        let kind = ExprKind::Reduce {
            operator: ReduceOperator::Add,
            place: false,
            variables: self.variables.clone(),
            body: Box::new(body),
        };
        Expr { kind, span: self.span }
    }
}
