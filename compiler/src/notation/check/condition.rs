//! What follows `where` after a tensor: conditions on indices and on values, which choose coordinates.
//!
//! A term that a condition does not choose is what changes nothing, and a sparse result stores nothing there:
//!
//! ```text
//! L(i, j) = A(i, j) where i > j          →      L(i, j) = select(i > j, A(i, j), 0)
//! y(i) = A(i, j) * x(j) where j < i      →      y(i) = sum(j)(select(j < i, A(i, j) * x(j), 0))
//! B(i, j) = A(i, j) where A(i, j) > 2    →      B(i, j) = select(bool(A(i, j) > 2), A(i, j), 0)
//! ```
//!
//! A conversion of a truth value to one marks a condition on values, which chooses. One without it gives zeros that are stored.

use super::indices::Indices;
use super::value::Values;
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::{ElementType, Literal, ReduceOperator, constant};
use crate::notation::{Assignment, BinaryOperator, Expr, IndexVariable, UnaryOperator};
use crate::syntax::{self, ExprKind};

impl<'s> Values<'_, 's> {
    /// A condition on indices, on values, and on whether tensors have entries.
    pub(super) fn chooses(&mut self, expr: &'s syntax::Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Bool(value) => Some(Expr::Literal(constant::truth(*value))),
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                Some(Expr::Unary(UnaryOperator::Not, Box::new(self.chooses(operand)?)))
            }
            ExprKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), left, right) => {
                let (left, right) = (self.chooses(left), self.chooses(right));
                Some(Expr::Binary(*operator, Box::new(left?), Box::new(right?)))
            }
            ExprKind::Binary(operator, left, right)
                if !operator.is_arithmetic() && self.is_of_indices(left) && self.is_of_indices(right) =>
            {
                let (left, right) = (self.value(left, ElementType::I64), self.value(right, ElementType::I64));
                Some(Expr::Binary(*operator, Box::new(left?), Box::new(right?)))
            }
            ExprKind::Access(access) => {
                let access = self.unread(access)?;
                Some(self.asked(access))
            }
            _ if self.kind(expr) == Some(ElementType::Bool) => {
                let condition = self.condition(expr)?;
                Some(Expr::Cast(ElementType::Bool, Box::new(condition)))
            }
            _ => {
                self.found.push(no_condition(expr.span));
                None
            }
        }
    }

    /// Whether a side of a comparison is made of index variables and whole numbers.
    fn is_of_indices(&self, expr: &syntax::Expr) -> bool {
        match &expr.kind {
            ExprKind::Number { suffix: None, digits } => digits.bytes().all(|digit| digit.is_ascii_digit()),
            ExprKind::Name(name) => self.tensor(&name.name).is_none(),
            ExprKind::Unary(UnaryOperator::Negate, operand) => self.is_of_indices(operand),
            ExprKind::Binary(operator, left, right) if operator.is_arithmetic() => {
                self.is_of_indices(left) && self.is_of_indices(right)
            }
            _ => false,
        }
    }
}

fn no_condition(span: Span) -> Diagnostic {
    Diagnostic::new(codes::CONDITION, span, "`where` chooses by indices, by entries and by values")
        .label("not a truth value")
        .help("compare indices or values, as in `where i < j` and `where A(i, j) > 0`, or name a tensor, as in `where M(i, j)`")
}

/// Wraps a right-hand side, whose sums are not explicit yet, in the conditions that choose terms of sums; what is left chooses
/// elements of the result.
pub(super) fn choose_terms(
    statement: &mut Assignment,
    condition: Expr,
    span: Span,
    element: ElementType,
    indices: &Indices,
    found: &mut Diagnostics,
) -> Option<Expr> {
    let made_of = |variable: IndexVariable| indices.running(&[variable]);
    let target = indices.running(&statement.target.indices);
    let free = statement.value.free_variables(&made_of);
    let mask = statement.mask.iter().flat_map(|mask| indices.running(&mask.indices)).collect::<Vec<_>>();
    let named = condition.free_variables(&made_of);
    if let Some(stray) = named.iter().find(|variable| ![&target, &free, &mask].iter().any(|all| all.contains(variable)))
    {
        let name = &indices.variables[stray.0].name;
        let message = format!("the condition's index `{name}` is no index of the statement");
        found.push(
            Diagnostic::new(codes::MASK_INDEX, span, message)
                .label(format!("`{name}` occurs only here"))
                .help("a condition's indices stand on the left-hand side, or are summed over on the right"),
        );
        return None;
    }
    let mut parts = Vec::new();
    conjuncts(condition, &mut parts);
    // A mask that chooses terms of a sum takes its conditions along: around the sum, they would part it from its mask.
    let chooses_terms = mask.iter().any(|variable| !target.contains(variable));
    let is_outside =
        |part: &Expr| !chooses_terms && part.free_variables(&made_of).iter().all(|variable| target.contains(variable));
    let (outside, inside): (Vec<Expr>, Vec<Expr>) = parts.into_iter().partition(is_outside);
    if let Some(condition) = all(inside) {
        let operator = statement.operator.unwrap_or(ReduceOperator::Add);
        let nothing = operator.identity(element)?;
        let summed: Vec<IndexVariable> =
            condition.free_variables(&made_of).into_iter().filter(|variable| !target.contains(variable)).collect();
        let has_all = |term: &Expr| {
            let free = term.free_variables(&made_of);
            summed.iter().all(|variable| free.contains(variable))
        };
        let is_sum = operator == ReduceOperator::Add;
        if !wrap_terms(&mut statement.value, &condition, nothing, is_sum, &has_all) {
            let message = "a condition on an index that only some of the terms sum over";
            found.push(
                Diagnostic::new(codes::SUMMED_MASK_NOT_YET, span, message)
                    .label("means nothing to the other terms")
                    .help("write a statement for each term: `y(i) = … where …; y(i) += …;`"),
            );
            return None;
        }
    }
    all(outside)
}

/// The value where a condition holds, else what changes nothing.
pub(super) fn chosen(condition: Expr, value: Expr, nothing: Literal) -> Expr {
    Expr::Select(Box::new(condition), Box::new(value), Box::new(Expr::Literal(nothing)))
}

/// Wraps each term that is added, or the whole where nothing is; false where a term lacks an index of the condition.
fn wrap_terms(
    value: &mut Expr,
    condition: &Expr,
    nothing: Literal,
    is_sum: bool,
    has_all: &dyn Fn(&Expr) -> bool,
) -> bool {
    match value {
        Expr::Unary(UnaryOperator::Negate, operand) if is_sum => {
            wrap_terms(operand, condition, nothing, is_sum, has_all)
        }
        Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) if is_sum => {
            wrap_terms(left, condition, nothing, is_sum, has_all)
                && wrap_terms(right, condition, nothing, is_sum, has_all)
        }
        term => {
            let fits = has_all(term);
            *term = chosen(condition.clone(), term.clone(), nothing);
            fits
        }
    }
}

/// What `&&` joins.
fn conjuncts(condition: Expr, parts: &mut Vec<Expr>) {
    match condition {
        Expr::Binary(BinaryOperator::And, left, right) => {
            conjuncts(*left, parts);
            conjuncts(*right, parts);
        }
        part => parts.push(part),
    }
}

fn all(parts: Vec<Expr>) -> Option<Expr> {
    parts.into_iter().reduce(both)
}

/// Whether both conditions hold.
pub(super) fn both(left: Expr, right: Expr) -> Expr {
    Expr::Binary(BinaryOperator::And, Box::new(left), Box::new(right))
}
