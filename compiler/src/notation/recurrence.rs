//! Statements that read what they assign, as triangular solves do.
//!
//! ```text
//! x(i) = (b(i) - sum(j)(L(i, j) * x(j) where j < i)) / L(i, i)
//! ```
//!
//! Each read is at a coordinate of one mode that is below the one that is assigned, or, with `j > i`, above it. So the loop over that
//! mode is outermost, and goes up or down: what an iteration reads has been assigned by those before it.
//!
//! ```text
//! F(i, j) = A(i, j) - sum(k)(F(i, k) * F(k, j) / F(k, k) where k < i && k < j) where A(i, j)
//! ```
//!
//! Here what is read comes before in the order of the storage: in a row above, or in the same row and a column before. So the loops over
//! both modes go up, and are outermost.

use super::{Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, Tensor, TensorId, Variable};
use crate::ir::{IndexExpr, Literal};
use std::collections::{BTreeMap, BTreeSet};

/// The order in which the elements of a recurrence are assigned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recurrence {
    /// The variables of the target whose loops carry values from one iteration to later ones, the outermost first.
    pub variables: Vec<IndexVariable>,
    /// How their loops go.
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
        self.value.accesses().iter().any(|access| self.is_own(access))
    }

    /// Whether an access reads the tensor that is assigned.
    pub fn is_own(&self, access: &Access) -> bool {
        access.values() == self.target.tensor
    }

    /// The order of a statement that reads what it assigns; `None` where there is none in which all that is read has been assigned
    /// before, and for other statements. A sparse target has its entries in the order of its storage.
    pub fn recurrence(&self, tensors: &[Tensor], variables: &[Variable]) -> Option<Recurrence> {
        let mut reads = Vec::new();
        self.own_reads(&self.value, &mut Vec::new(), &mut reads);
        if reads.is_empty() {
            return None;
        }
        let target = &tensors[self.target.tensor.0];
        let reads: Vec<Read<'_>> =
            reads.iter().map(|(access, conditions)| Read::new(access, conditions, variables)).collect();
        let along = |modes: &[usize], direction: Direction| {
            let depths = reads.iter().map(|read| read.depth(modes, &self.target.indices, direction));
            let depth = depths.collect::<Option<Vec<usize>>>()?.into_iter().max()?;
            let variables = modes[..=depth].iter().map(|&mode| self.target.indices[mode]).collect();
            Some(Recurrence { variables, direction })
        };
        let directions = [Direction::Up, Direction::Down];
        let storage = target.format.mode_order()?;
        let of_one_mode = || {
            let modes = (0..self.target.indices.len()).filter(|_| target.format.is_dense());
            modes.flat_map(|mode| directions.map(|direction| (mode, direction)))
        };
        of_one_mode()
            .find_map(|(mode, direction)| along(&[mode], direction))
            .or_else(|| directions.into_iter().find_map(|direction| along(&storage, direction)))
    }

    /// The tensor that has entries just where a sparse target has: it is stored alike, but for widths of indices, and a mask at the target's
    /// indices.
    pub fn pattern(&self, tensors: &[Tensor]) -> Option<TensorId> {
        let mask = self.mask.as_ref().filter(|mask| mask.indices == self.target.indices)?;
        let (input, target) = (&tensors[mask.tensor.0], &tensors[self.target.tensor.0]);
        let is_alike = input.format.is_stored_like(&target.format) && !target.format.is_dense();
        (is_alike && mask.tensor != self.target.tensor).then_some(mask.tensor)
    }

    /// What a statement that reads what it assigns divides by: operands at indices of the target alone, each with the target's mode for each
    /// of its own; and the target itself, without modes, where it is its diagonal.
    pub fn pivots(&self, kernel: &Kernel) -> Vec<(TensorId, Vec<usize>)> {
        let pivot = |access: &Access| {
            let indices = access.indices.iter().map(|&index| plain(index, &kernel.variables));
            let indices = indices.collect::<Option<Vec<IndexVariable>>>()?;
            if self.is_own(access) {
                let is_diagonal = indices.len() > 1 && indices.iter().all(|index| *index == indices[0]);
                return is_diagonal.then(|| (self.target.tensor, Vec::new()));
            }
            let mode = |index: &IndexVariable| self.target.indices.iter().position(|own| own == index);
            indices.iter().map(mode).collect::<Option<Vec<usize>>>().map(|modes| (access.tensor, modes))
        };
        self.divisors().into_iter().filter_map(pivot).collect()
    }

    /// The operands that a statement which reads what it assigns divides by.
    pub fn divisors(&self) -> Vec<&Access> {
        fn collect<'e>(expr: &'e Expr, found: &mut Vec<&'e Access>) {
            if let Expr::Binary(BinaryOperator::Divide, _, divisor) = expr
                && let Expr::Access(access) = &**divisor
            {
                found.push(access);
            }
            expr.children().into_iter().for_each(|child| collect(child, found));
        }
        let mut found = Vec::new();
        if self.is_recurrent() {
            collect(&self.value, &mut found);
        }
        found
    }

    /// The reads of the target, with the conditions under which they count.
    fn own_reads<'e>(
        &self,
        expr: &'e Expr,
        conditions: &mut Vec<&'e Expr>,
        reads: &mut Vec<(&'e Access, Vec<&'e Expr>)>,
    ) {
        match expr {
            Expr::Access(access) if self.is_own(access) => reads.push((access, conditions.clone())),
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

/// A read of the target, and what its conditions say of index variables.
struct Read<'a> {
    /// The variable of each mode; `None` where it is computed.
    indices: Vec<Option<IndexVariable>>,
    /// `x - y <= most`, of all conditions together.
    differences: BTreeMap<(IndexVariable, IndexVariable), i128>,
    variables: &'a [Variable],
}

impl<'a> Read<'a> {
    fn new(access: &Access, conditions: &[&Expr], variables: &'a [Variable]) -> Self {
        let indices = access.indices.iter().map(|&index| plain(index, variables)).collect();
        let mut read = Read { indices, differences: BTreeMap::new(), variables };
        conditions.iter().for_each(|condition| read.take(condition));
        read.close();
        read
    }

    /// Notes what a comparison of two index variables says.
    fn take(&mut self, condition: &Expr) {
        let Expr::Binary(operator, left, right) = condition else { return };
        let Some(((one, more), (other, than))) = offset(left).zip(offset(right)) else { return };
        let Some((one, other)) = plain(one, self.variables).zip(plain(other, self.variables)) else { return };
        // `one` compares with `other` and this difference.
        let difference = than - more;
        let mut note = |one, other, most: i128| {
            let known = self.differences.entry((one, other)).or_insert(most);
            *known = most.min(*known);
        };
        match operator {
            BinaryOperator::Less => note(one, other, difference - 1),
            BinaryOperator::LessEqual => note(one, other, difference),
            BinaryOperator::Greater => note(other, one, -difference - 1),
            BinaryOperator::GreaterEqual => note(other, one, -difference),
            BinaryOperator::Equal => {
                note(one, other, difference);
                note(other, one, -difference);
            }
            _ => {}
        }
    }

    /// Adds what follows: `x - z <= (x - y) + (y - z)`.
    fn close(&mut self) {
        let variables: BTreeSet<IndexVariable> = self.differences.keys().flat_map(|&(x, y)| [x, y]).collect();
        for &between in &variables {
            for &x in &variables {
                for &z in &variables {
                    let (Some(&one), Some(&other)) =
                        (self.differences.get(&(x, between)), self.differences.get(&(between, z)))
                    else {
                        continue;
                    };
                    // Conditions that contradict each other make it less and less.
                    let most = one.saturating_add(other);
                    let known = self.differences.entry((x, z)).or_insert(most);
                    *known = most.min(*known);
                }
            }
        }
    }

    /// The place among `modes`, in the order of loops over them, at which the read is known to come before what is assigned at `own`.
    fn depth(&self, modes: &[usize], own: &[IndexVariable], direction: Direction) -> Option<usize> {
        for (place, &mode) in modes.iter().enumerate() {
            let (read, own) = (self.indices[mode]?, plain(own[mode], self.variables)?);
            if read == own {
                continue;
            }
            let (one, other) = if direction == Direction::Up { (read, own) } else { (own, read) };
            match *self.differences.get(&(one, other))? {
                ..0 => return Some(place),
                0 => {}
                _ => return None,
            }
        }
        None
    }
}

/// The variable that an index is, also where it is computed as another; `None` where it is more than that.
fn plain(index: IndexVariable, variables: &[Variable]) -> Option<IndexVariable> {
    match &variables[index.0].value {
        None => Some(index),
        Some(IndexExpr::Variable(of)) => Some(*of),
        Some(_) => None,
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
