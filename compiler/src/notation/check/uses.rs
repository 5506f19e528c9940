//! Where a statement mentions what.

use super::extents::EXTENT;
use super::functions::STORED;
use crate::diagnostics::Span;
use crate::syntax::{Access, Expr, ExprKind, Ident, Index, Statement, WHERE};
use std::collections::BTreeSet;

/// The part of a statement that a mention stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Target,
    Value,
    Mask,
}

/// A mention of what may be a tensor or a scalar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use<'a> {
    pub(super) name: &'a Ident,
    /// The number of indices.
    pub(super) order: usize,
    pub(super) span: Span,
    /// What is read, unless it is a bare name.
    pub(super) access: Option<&'a Access>,
    pub(super) part: Part,
    /// Whether an access stands among the indices, as in the call of a function.
    pub(super) nested: bool,
}

/// Every access and every bare name of a statement, in order; names in index positions are not among them.
pub(super) fn of_statement(statement: &Statement) -> Vec<Use<'_>> {
    let mut uses = Vec::new();
    of_access(&statement.target, Part::Target, &mut uses);
    of_expr(&statement.value, &mut uses);
    if let Some(mask) = &statement.mask {
        of_access(mask, Part::Mask, &mut uses);
    }
    if let Some(condition) = &statement.condition {
        of_expr(condition, &mut uses);
    }
    uses
}

fn of_access<'a>(access: &'a Access, part: Part, uses: &mut Vec<Use<'a>>) {
    let place = uses.len();
    let order = access.indices.len();
    uses.push(Use { name: &access.name, order, span: access.span, access: Some(access), part, nested: false });
    for expr in index_exprs(access).filter(|expr| !matches!(expr.kind, ExprKind::Name(_))) {
        let mut inner = Vec::new();
        of_expr(expr, &mut inner);
        let with_indices = inner.into_iter().filter(|inner| inner.order > 0);
        uses.extend(with_indices);
    }
    uses[place].nested = uses.len() > place + 1;
}

fn of_expr<'a>(expr: &'a Expr, uses: &mut Vec<Use<'a>>) {
    match &expr.kind {
        ExprKind::Name(name) => {
            uses.push(Use { name, order: 0, span: expr.span, access: None, part: Part::Value, nested: false })
        }
        ExprKind::Access(access) => of_access(access, Part::Value, uses),
        // Of an index, which is not read.
        ExprKind::Call(name, _) if name.name == EXTENT => {}
        _ => expr.children().into_iter().for_each(|child| of_expr(child, uses)),
    }
}

/// Whether a statement asks where a tensor has entries: by a mask, or by `stored`.
pub(super) fn asks_for_entries(statement: &Statement, tensor: &str) -> bool {
    fn asks(expr: &Expr, tensor: &str) -> bool {
        let is_it = |expr: &Expr| matches!(&expr.kind, ExprKind::Access(access) if access.name.name == tensor);
        match &expr.kind {
            ExprKind::Call(name, arguments) if name.name == STORED => arguments.iter().any(is_it),
            ExprKind::Call(name, parts) if name.name == WHERE => {
                asks(&parts[0], tensor) || parts[1..].iter().any(|condition| reads(condition, tensor))
            }
            _ => expr.children().into_iter().any(|child| asks(child, tensor)),
        }
    }
    let mut chosen = Vec::new();
    statement.condition.iter().for_each(|condition| of_expr(condition, &mut chosen));
    statement.mask.iter().for_each(|mask| of_access(mask, Part::Mask, &mut chosen));
    chosen.iter().any(|used| used.name.name == tensor) || asks(&statement.value, tensor)
}

/// Whether an expression reads a tensor or a scalar of this name.
pub(super) fn reads(expr: &Expr, name: &str) -> bool {
    let mut uses = Vec::new();
    of_expr(expr, &mut uses);
    uses.iter().any(|used| used.name.name == name)
}

/// The index variables of an expression, each once, without those of its own reductions.
pub(super) fn free_indices(expr: &Expr) -> Vec<&Ident> {
    let names = match &expr.kind {
        ExprKind::Reduce { variables, body, .. } => {
            let mut names = free_indices(body);
            names.retain(|name| variables.iter().all(|bound| bound.name != name.name));
            names
        }
        ExprKind::Access(_) | ExprKind::Name(_) => {
            let mut names = Vec::new();
            names_of_expr(expr, &mut names);
            names
        }
        _ => expr.children().into_iter().flat_map(free_indices).collect(),
    };
    distinct(&names)
}

/// The expressions in an access's parentheses.
pub(super) fn index_exprs(access: &Access) -> impl Iterator<Item = &Expr> {
    access.indices.iter().flat_map(|index| match index {
        Index::Expr(expr) => vec![expr],
        Index::Range { start, end, .. } => vec![start, end],
    })
}

/// The index variables in an access's parentheses.
pub(super) fn names_in(access: &Access) -> Vec<&Ident> {
    let mut names = Vec::new();
    names_of_access(access, &mut names);
    names
}

/// The names that stand as an index, or after a reduction, somewhere in a statement: its index variables.
pub(super) fn index_names(statement: &Statement) -> Vec<&Ident> {
    let mut names = Vec::new();
    names_of_access(&statement.target, &mut names);
    names_of_expr(&statement.value, &mut names);
    if let Some(mask) = &statement.mask {
        names_of_access(mask, &mut names);
    }
    if let Some(condition) = &statement.condition {
        names_of_expr(condition, &mut names);
    }
    names
}

/// The first of each of these names.
pub(super) fn distinct<'a>(names: &[&'a Ident]) -> Vec<&'a Ident> {
    let mut seen = BTreeSet::new();
    names.iter().copied().filter(|name| seen.insert(name.name.as_str())).collect()
}

fn names_of_access<'a>(access: &'a Access, names: &mut Vec<&'a Ident>) {
    index_exprs(access).for_each(|expr| names_in_index(expr, names));
}

fn names_in_index<'a>(expr: &'a Expr, names: &mut Vec<&'a Ident>) {
    match &expr.kind {
        ExprKind::Name(name) => names.push(name),
        ExprKind::Unary(_, operand) => names_in_index(operand, names),
        ExprKind::Binary(_, left, right) => {
            names_in_index(left, names);
            names_in_index(right, names);
        }
        _ => names_of_expr(expr, names),
    }
}

pub(super) fn names_of_expr<'a>(expr: &'a Expr, names: &mut Vec<&'a Ident>) {
    match &expr.kind {
        ExprKind::Access(access) => names_of_access(access, names),
        ExprKind::Reduce { variables, body, .. } => {
            names.extend(variables);
            names_of_expr(body, names);
        }
        _ => expr.children().into_iter().for_each(|child| names_of_expr(child, names)),
    }
}
