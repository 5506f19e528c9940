//! Tensors one behind the other along an index:
//!
//! ```text
//! C(i, j) = concat(i, A(i, j), B(i, j))      →      C(i + 0, j) = A(i, j);
//!                                                   C(i + extent(A, 1), j) += B(i, j);
//! ```
//!
//! Extents of results follow: a mode of computed indices alone is just long enough. It is written as an access is, where no tensor is
//! called so.

use super::extents::EXTENT;
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::syntax::{Access, AssignOperator, BinaryOperator, Expr, ExprKind, Ident, Index, Statement};

pub(super) const CONCAT: &str = "concat";

/// Puts a statement for each part in the place of a statement that puts them one behind the other.
pub(super) fn expand(body: Vec<Statement>, has_tensor: bool, found: &mut Diagnostics) -> Vec<Statement> {
    if has_tensor || body.iter().any(|statement| statement.target.name.name == CONCAT) {
        return body;
    }
    body.into_iter().flat_map(|statement| placed(statement, found)).collect()
}

/// The statement with a sum of the parts instead, which has the same operands.
pub(super) fn as_sum(statement: &Statement) -> Statement {
    let Some(Parts { parts, .. }) = parts(statement) else { return statement.clone() };
    let span = statement.value.span;
    let added = |left: Expr, right: &&Expr| binary(BinaryOperator::Add, left, (*right).clone(), span);
    let value = parts[1..].iter().fold(parts[0].clone(), added);
    Statement { value, ..statement.clone() }
}

/// What stands in the parentheses.
struct Parts<'a> {
    along: &'a Ident,
    parts: Vec<&'a Expr>,
}

fn parts(statement: &Statement) -> Option<Parts<'_>> {
    let ExprKind::Access(Access { name, indices, .. }) = &statement.value.kind else { return None };
    let exprs = indices.iter().map(|index| match index {
        Index::Expr(expr) => Some(expr),
        Index::Range { .. } => None,
    });
    let exprs: Vec<&Expr> = exprs.collect::<Option<_>>()?;
    let (Expr { kind: ExprKind::Name(along), .. }, parts) = exprs.split_first()? else { return None };
    (name.name == CONCAT && !parts.is_empty()).then(|| Parts { along, parts: parts.to_vec() })
}

fn placed(statement: Statement, found: &mut Diagnostics) -> Vec<Statement> {
    let Some(Parts { along, parts }) = parts(&statement) else { return vec![statement] };
    let is_along = |index: &Index| matches!(index, Index::Expr(Expr { kind: ExprKind::Name(name), .. }) if name.name == along.name);
    let Some(mode) = statement.target.indices.iter().position(is_along) else {
        found.push(refused(along.span, "is no index of the left-hand side", "name one that stands there by itself"));
        return Vec::new();
    };
    if statement.mask.is_some() || statement.condition.is_some() || statement.operator != AssignOperator::Assign {
        let help = "assign the parts with `=` and no `where`, and choose from the result in a statement of its own";
        found.push(refused(along.span, "runs over parts that are assigned as they are", help));
        return Vec::new();
    }
    let mut statements = Vec::new();
    let mut offset = Expr { kind: ExprKind::Number { digits: "0".to_owned(), suffix: None }, span: along.span };
    for (place, part) in parts.iter().enumerate() {
        let index = Expr { kind: ExprKind::Name(along.clone()), span: along.span };
        let mut placed = Statement { value: (*part).clone(), ..statement.clone() };
        placed.target.indices[mode] = Index::Expr(binary(BinaryOperator::Add, index, offset.clone(), along.span));
        if place > 0 {
            placed.is_let = false;
            (placed.element, placed.format) = (None, None);
            placed.operator = AssignOperator::Reduce(crate::ir::ReduceOperator::Add);
        }
        statements.push(placed);
        let Some(extent) = extent(part, along) else {
            let help = "a part is made of tensors that have the index by itself, as `A(i, j)`";
            found.push(refused(part.span, "is no index of this part", help));
            return Vec::new();
        };
        offset = if place == 0 { extent } else { binary(BinaryOperator::Add, offset, extent, along.span) };
    }
    statements
}

/// The extent of the first mode that has an index by itself.
fn extent(part: &Expr, along: &Ident) -> Option<Expr> {
    if let ExprKind::Access(access) = &part.kind {
        let is_along = |index: &Index| matches!(index, Index::Expr(Expr { kind: ExprKind::Name(name), .. }) if name.name == along.name);
        if let Some(mode) = access.indices.iter().position(is_along) {
            let tensor = Expr { kind: ExprKind::Name(access.name.clone()), span: part.span };
            let mode =
                Expr { kind: ExprKind::Number { digits: (mode + 1).to_string(), suffix: None }, span: part.span };
            let function = Ident { name: EXTENT.to_owned(), span: part.span };
            return Some(Expr { kind: ExprKind::Call(function, vec![tensor, mode]), span: part.span });
        }
    }
    part.children().into_iter().find_map(|child| extent(child, along))
}

fn binary(operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}

fn refused(span: Span, label: &str, help: &str) -> Diagnostic {
    let problem =
        Diagnostic::new(codes::INDEX_EXPRESSION, span, "what `concat` puts one behind the other is not clear");
    problem.label(label).help(help.to_owned())
}
