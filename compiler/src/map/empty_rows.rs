//! Rows without entries in a share are gone past at once: a run of them, as sparse graphs have thousands, is one search.
//!
//! ```text
//! let first = search(pos, low + 1) - 1       let first = search(pos, low + 1) - 1
//! let end = search(pos, high)                let end = search(pos, high)
//! for i in first..end                        let next = first
//!     …                                      while next < end
//!                                                let i = next
//!                                                …
//!                                                next = i + 1
//!                                                if next < end && pos[next] == pos[next + 1]
//!                                                    next = search(pos, next, end, pos[next] + 1) - 1
//! ```
//!
//! Nothing is to be done for a row without entries: a share begins and ends anywhere, and those behind its last entry are in none.

use crate::ir::{ArrayId, BinaryOperator, Expr, Find, Kernel, Statement, Type, VariableId};

/// The body of a share, which goes past empty rows where its outermost loop is over rows that were found by searches.
pub(super) fn skipped(kernel: &mut Kernel, body: Vec<Statement>) -> Vec<Statement> {
    let Some(place) = body.iter().position(|statement| matches!(statement, Statement::For { .. })) else { return body };
    let Statement::For { variable, begin, end: Expr::Variable(end), vector: false, .. } = &body[place] else {
        return body;
    };
    let Some(positions) = searched(&body[..place], *end).filter(|_| first_of(&body[..place], begin)) else {
        return body;
    };
    let rows = Rows { positions, row: *variable, end: *end };
    let mut body = body;
    let Statement::For { begin, body: inner, .. } = body.remove(place) else { return body };
    let walk = rows.walk(kernel, begin, inner);
    body.splice(place..place, walk);
    body
}

/// The array of positions that a variable was found in.
fn searched(before: &[Statement], variable: VariableId) -> Option<ArrayId> {
    before.iter().find_map(|statement| match statement {
        Statement::Let(known, Expr::Search { array, stride: 1, .. }) if *known == variable => Some(*array),
        _ => None,
    })
}

/// Whether a loop begins at a row that was found by a search too.
fn first_of(before: &[Statement], begin: &Expr) -> bool {
    let Expr::Variable(begin) = begin else { return false };
    let is_search = |value: &Expr| match value {
        Expr::Binary(BinaryOperator::Subtract, found, one) => {
            matches!(**found, Expr::Search { stride: 1, .. }) && **one == Expr::Index(1)
        }
        _ => false,
    };
    before
        .iter()
        .any(|statement| matches!(statement, Statement::Let(known, value) if known == begin && is_search(value)))
}

/// Rows of a share.
struct Rows {
    positions: ArrayId,
    row: VariableId,
    end: VariableId,
}

impl Rows {
    fn walk(&self, kernel: &mut Kernel, begin: Expr, mut body: Vec<Statement>) -> [Statement; 2] {
        let name = format!("{}_next", kernel.variable(self.row).name);
        let next = kernel.declare_variable(&name, Type::Index, true);
        let (at, end) = (|| Expr::Variable(next), Expr::Variable(self.end));
        let position = |place: Expr| Expr::load(self.positions, place);
        let is_empty = at().less(end.clone()).and(position(at()).equals(position(at().plus(Expr::Index(1)))));
        let search = Expr::Search {
            array: self.positions,
            begin: Box::new(at()),
            end: Box::new(end.clone()),
            value: Box::new(position(at()).plus(Expr::Index(1))),
            stride: 1,
            find: Find::Element,
        };
        let past = Statement::Assign(next, search.minus(Expr::Index(1)));
        body.insert(0, Statement::Let(self.row, at()));
        body.push(Statement::Assign(next, Expr::Variable(self.row).plus(Expr::Index(1))));
        body.push(Statement::If(vec![(is_empty, vec![past])], Vec::new()));
        [Statement::Let(next, begin), Statement::While(at().less(end), body)]
    }
}
