//! Statements that read what they assign, as triangular solves do.
//!
//! ```text
//! x(i) = (b(i) - sum(j)(L(i, j) * x(j) where j < i)) / L(i, i)
//! ```
//!
//! Each read is at a coordinate of one mode that is below the one that is assigned, or, with `j > i`, above it. So the loop over that
//! mode is outermost, and goes up or down: what an iteration reads has been assigned by those before it.

use super::{Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, TensorId};
use crate::ir::{IndexExpr, Literal};

/// The order in which the elements of a recurrence are assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recurrence {
    /// The variable of the target whose loop carries values from one iteration to later ones.
    pub variable: IndexVariable,
    /// How its loop goes.
    pub direction: Direction,
}

/// How a loop goes over its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the first coordinate on.
    Up,
    /// From the last coordinate back.
    Down,
}

impl Assignment {
    /// Whether the right-hand side reads the tensor that is assigned.
    pub fn is_recurrent(&self) -> bool {
        self.value.accesses().iter().any(|access| access.tensor == self.target.tensor)
    }

    /// The order of a statement that reads what it assigns; `None` where there is none in which all that is read has been assigned
    /// before, and for other statements.
    pub fn recurrence(&self) -> Option<Recurrence> {
        let mut reads = Vec::new();
        self.own_reads(&self.value, &mut Vec::new(), &mut reads);
        let own = &self.target.indices;
        let orders = own.iter().enumerate().flat_map(|(mode, &variable)| {
            [Direction::Up, Direction::Down].map(|direction| (mode, Recurrence { variable, direction }))
        });
        let has_all = |(mode, order): &(usize, Recurrence)| {
            reads.iter().all(|(read, conditions)| {
                let at = read.indices[*mode];
                conditions.iter().any(|condition| direction(condition, at, order.variable) == Some(order.direction))
            })
        };
        if reads.is_empty() { None } else { orders.into_iter().find(has_all).map(|(_, order)| order) }
    }

    /// What a statement that reads what it assigns divides by: operands at indices of the target alone, each with the target's mode for each
    /// of its own.
    pub fn pivots(&self, kernel: &Kernel) -> Vec<(TensorId, Vec<usize>)> {
        let mut found = Vec::new();
        if self.is_recurrent() {
            self.pivots_in(&self.value, kernel, &mut found);
        }
        found
    }

    fn pivots_in(&self, expr: &Expr, kernel: &Kernel, found: &mut Vec<(TensorId, Vec<usize>)>) {
        if let Expr::Binary(BinaryOperator::Divide, _, divisor) = expr
            && let Expr::Access(access) = &**divisor
        {
            let mode = |index: &IndexVariable| {
                let of = match &kernel.variables[index.0].value {
                    None => *index,
                    Some(IndexExpr::Variable(of)) => *of,
                    Some(_) => return None,
                };
                self.target.indices.iter().position(|own| *own == of)
            };
            found.extend(
                access.indices.iter().map(mode).collect::<Option<Vec<usize>>>().map(|modes| (access.tensor, modes)),
            );
        }
        expr.children().into_iter().for_each(|child| self.pivots_in(child, kernel, found));
    }

    /// The reads of the target, with the conditions under which they count.
    fn own_reads<'e>(
        &self,
        expr: &'e Expr,
        conditions: &mut Vec<&'e Expr>,
        reads: &mut Vec<(&'e Access, Vec<&'e Expr>)>,
    ) {
        match expr {
            Expr::Access(access) if access.tensor == self.target.tensor => reads.push((access, conditions.clone())),
            Expr::Select(condition, yes, no) => {
                self.own_reads(condition, conditions, reads);
                let outside = conditions.len();
                condition.conjuncts(conditions);
                self.own_reads(yes, conditions, reads);
                conditions.truncate(outside);
                self.own_reads(no, conditions, reads);
            }
            _ => expr.children().into_iter().for_each(|child| self.own_reads(child, conditions, reads)),
        }
    }
}

/// In which direction a loop over `own` has come by the coordinate `read` before, if a condition says so.
fn direction(condition: &Expr, read: IndexVariable, own: IndexVariable) -> Option<Direction> {
    let Expr::Binary(operator, left, right) = condition else { return None };
    let ((one, more), (other, than)) = (offset(left)?, offset(right)?);
    // `one` compares with `other` and this difference.
    let difference = than - more;
    let (operator, difference) = match () {
        () if (one, other) == (read, own) => (*operator, difference),
        () if (one, other) == (own, read) => (turned(*operator), -difference),
        () => return None,
    };
    match operator {
        BinaryOperator::Less if difference <= 0 => Some(Direction::Up),
        BinaryOperator::LessEqual | BinaryOperator::Equal if difference < 0 => Some(Direction::Up),
        BinaryOperator::Greater if difference >= 0 => Some(Direction::Down),
        BinaryOperator::GreaterEqual | BinaryOperator::Equal if difference > 0 => Some(Direction::Down),
        _ => None,
    }
}

/// The comparison with its sides exchanged.
fn turned(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessEqual => BinaryOperator::GreaterEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterEqual => BinaryOperator::LessEqual,
        other => other,
    }
}

/// A variable and what is added to it.
fn offset(expr: &Expr) -> Option<(IndexVariable, i128)> {
    let constant = |expr: &Expr| match expr {
        Expr::Literal(Literal::Integer(_, value)) => Some(*value),
        _ => None,
    };
    match expr {
        Expr::Index(variable, _) => Some((*variable, 0)),
        Expr::Binary(BinaryOperator::Add, left, right) => {
            let (of, more) = offset(left).zip(constant(right)).or_else(|| offset(right).zip(constant(left)))?;
            Some((of.0, of.1 + more))
        }
        Expr::Binary(BinaryOperator::Subtract, left, right) => {
            let (of, less) = offset(left).zip(constant(right))?;
            Some((of.0, of.1 - less))
        }
        _ => None,
    }
}
