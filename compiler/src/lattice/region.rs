//! Constant regions: coordinates of a loop at which its body does the same, whatever the coordinate.
//!
//! Where no operand of a loop has an entry, its body often depends on the loop's index no more. What it then does at all of these
//! coordinates together has a closed form: by an operator that is idempotent, once, if there is such a coordinate; a sum adds the
//! value times their count; a product multiplies by a power. So the loop costs what stored entries cost. With `A: csr`:
//!
//! ```text
//! {A}   t max= A(i, j) * x(j)              for j where A(i, j) has entries: t max= A(i, j) * x(j)
//! {}    t max= 0                     →     if these are fewer than all: t max= 0
//! ```
//!
//! Looplets rewrite a loop over a run of one value by the same rule: Ahrens, Donenfeld, Kjolstad, Amarasinghe, *Looplets: A
//! Language for Structured Coiteration* (2023).

use super::{Lattice, Operands};
use crate::concrete::{
    Access, Assign, Computed, Expr, IndexVariable, Kernel, OutputStructure, Reading, Run, Statement, TensorId,
    TensorKind, simplify,
};
use crate::ir::ReduceOperator;
use crate::ir::constant::truth;

impl Lattice {
    /// The points at which some operand has an entry.
    pub fn of_entries(&self) -> Lattice {
        Lattice { points: self.points.iter().filter(|point| point.operands != Operands(0)).cloned().collect() }
    }

    /// What is done where no operand of a loop over `variable` has an entry, if it is the same at all these coordinates and has a
    /// closed form.
    pub fn region(&self, kernel: &Kernel, variable: IndexVariable) -> Option<&Statement> {
        self.everywhere().filter(|statement| is_constant(kernel, variable, statement))
    }

    /// What is done where no operand has an entry, if its first coordinate alone counts: a least value that only grows with the index,
    /// as in `min(j)(select(A(i, j) == m(i), j, none))`.
    pub fn growing_region(&self, kernel: &Kernel, variable: IndexVariable) -> Option<&Statement> {
        self.everywhere().filter(|statement| grows(kernel, variable, statement))
    }

    /// What is done at every entry of `operand`, the one that a loop over `variable` walks, if that is the same for all of them, of
    /// which nothing but that they are there is asked, and has a closed form.
    pub fn region_of_entries(&self, kernel: &Kernel, variable: IndexVariable, operand: &Access) -> Option<Statement> {
        let [point] = &self.points[..] else { return None };
        // Some of what is walked may be padding.
        if kernel.tensor(operand.tensor).format.pads() {
            return None;
        }
        let statement = simplify(&kernel.tensors, at_entry(&point.statement, operand));
        (point.operands.count() == 1 && is_constant(kernel, variable, &statement)).then_some(statement)
    }
}

impl Lattice {
    /// Whether nothing is done where an operand has an entry. `last` says of which operands the loop walks the last level.
    pub fn is_empty_at_entries(&self, kernel: &Kernel, operands: &[Access], last: &dyn Fn(&Access) -> bool) -> bool {
        self.of_entries().points.iter().all(|point| {
            let present = operands.iter().enumerate().filter(|(place, _)| point.operands.contains(*place));
            let known = present
                .map(|(_, operand)| operand)
                .filter(|operand| last(operand) && !kernel.tensor(operand.tensor).format.pads());
            let statement = known.fold(point.statement.clone(), |statement, operand| at_entry(&statement, operand));
            simplify(&kernel.tensors, statement) == Statement::Empty
        })
    }
}

/// The statement where an operand has an entry.
fn at_entry(statement: &Statement, operand: &Access) -> Statement {
    let boxed = |statement: &Statement| Box::new(at_entry(statement, operand));
    match statement {
        Statement::Empty => Statement::Empty,
        Statement::Forall { variable, run, body } => {
            Statement::Forall { variable: *variable, run: *run, body: boxed(body) }
        }
        Statement::Where { workspace, consumer, producer } => {
            Statement::Where { workspace: *workspace, consumer: boxed(consumer), producer: boxed(producer) }
        }
        Statement::Assign(assign) => {
            let value = assign.value.map_accesses(&|access| {
                let is_known = access.reads == Reading::Stored && access.same_place(operand);
                if is_known { Expr::Literal(truth(true)) } else { Expr::Access(access.clone()) }
            });
            Statement::Assign(Assign { value, ..assign.clone() })
        }
        Statement::Sequence(statements) => {
            Statement::Sequence(statements.iter().map(|statement| at_entry(statement, operand)).collect())
        }
    }
}

/// Whether a statement that is done for several values of an index has a closed form.
fn is_constant(kernel: &Kernel, variable: IndexVariable, statement: &Statement) -> bool {
    let is_made_of = |other: IndexVariable| {
        other == variable || kernel.variables[other.0].value.is_some() && kernel.running(other).contains(&variable)
    };
    let mut made = Vec::new();
    statement.for_each_workspace(&mut |workspace| made.push(workspace));
    let is_dense = |workspace: &TensorId| kernel.tensor(*workspace).kind == TensorKind::Workspace;
    let mut is_constant = *statement != Statement::Empty && made.iter().all(is_dense);
    statement.for_each_loop(&mut |inner, run, _| {
        is_constant &= matches!(run, Run::Serial | Run::Vector) && !is_made_of(inner);
        is_constant &= kernel.variables[inner.0].share.is_none();
    });
    let mut written = Vec::new();
    statement.for_each_assign(&mut |assign| {
        is_constant &= !mentions(assign, &is_made_of) && assign.masks.is_empty();
        if !made.contains(&assign.target.tensor) {
            is_constant &= is_in_place(kernel, assign.target.tensor) && is_closed(kernel, assign, statement);
            written.push(assign.target.tensor);
        }
    });
    // What is read stays the same from one coordinate to the next.
    statement.for_each_read(&mut |access| is_constant &= !written.contains(&access.tensor));
    is_constant
}

/// Whether a statement takes the least of values that never get smaller with an index.
fn grows(kernel: &Kernel, variable: IndexVariable, statement: &Statement) -> bool {
    let is_made_of = |other: IndexVariable| {
        other == variable || kernel.variables[other.0].value.is_some() && kernel.running(other).contains(&variable)
    };
    let assign = match statement {
        Statement::Assign(assign) => assign,
        Statement::Forall { variable: inner, run: Run::Serial | Run::Vector, body } => {
            return kernel.variables[inner.0].share.is_none() && !is_made_of(*inner) && grows(kernel, variable, body);
        }
        _ => return false,
    };
    let target = assign.target.tensor;
    assign.operator == Some(ReduceOperator::Min)
        && assign.masks.is_empty()
        && is_in_place(kernel, target)
        && !assign.target.indices.iter().any(|&index| is_made_of(index))
        && !assign.value.accesses().iter().any(|access| access.tensor == target)
        && is_growing(kernel, &assign.value, variable, &is_made_of)
}

/// Whether a value is the index or ascends with it, or stays the same, or is one or the other by what stays the same.
fn is_growing(
    kernel: &Kernel,
    value: &Expr,
    variable: IndexVariable,
    is_made_of: &dyn Fn(IndexVariable) -> bool,
) -> bool {
    match value {
        Expr::Index(index, element) if ascends(kernel, variable, *index) => element.bytes() >= 4,
        Expr::Select(condition, yes, no) => {
            !occurs(condition, is_made_of)
                && is_growing(kernel, yes, variable, is_made_of)
                && is_growing(kernel, no, variable, is_made_of)
        }
        value => !occurs(value, is_made_of),
    }
}

/// Whether an index is a variable, or a positive multiple of it and others: `i * extent(j) + j`.
fn ascends(kernel: &Kernel, variable: IndexVariable, index: IndexVariable) -> bool {
    let Some(Computed::Index { index: value, .. }) = &kernel.variables[index.0].value else { return index == variable };
    let factor = value.factor(&variable, &|one, other| kernel.alike(*one, *other));
    factor.is_some_and(|(number, _)| number > 0)
}

/// Whether an index is a part of an expression.
fn occurs(expr: &Expr, is_it: &dyn Fn(IndexVariable) -> bool) -> bool {
    match expr {
        Expr::Access(access) => access.indices.iter().any(|&index| is_it(index)),
        Expr::Index(variable, _) => is_it(*variable),
        _ => expr.children().into_iter().any(|child| occurs(child, is_it)),
    }
}

/// Whether an index is a part of what an assignment does.
fn mentions(assign: &Assign, is_it: &dyn Fn(IndexVariable) -> bool) -> bool {
    assign.target.indices.iter().any(|&index| is_it(index)) || occurs(&assign.value, is_it)
}

/// Whether elements of a tensor are written where they lie, however often.
fn is_in_place(kernel: &Kernel, tensor: TensorId) -> bool {
    match &kernel.tensor(tensor).kind {
        TensorKind::Workspace | TensorKind::Output(OutputStructure::Dense | OutputStructure::Shared { .. }) => true,
        TensorKind::Input
        | TensorKind::SortedCopy(_)
        | TensorKind::Fibers(_)
        | TensorKind::Permutation(_)
        | TensorKind::Output(OutputStructure::Appended)
        | TensorKind::SparseWorkspace(_) => false,
    }
}

/// Whether there is a closed form of combining one value several times. Powers take a loop, which the lanes of a vector have not.
fn is_closed(kernel: &Kernel, assign: &Assign, statement: &Statement) -> bool {
    let Some(operator) = assign.operator else { return true };
    let mut has_lanes = false;
    statement.for_each_loop(&mut |_, run, _| has_lanes |= run == Run::Vector);
    match operator {
        ReduceOperator::Add => true,
        ReduceOperator::Multiply => !has_lanes,
        _ => operator.is_idempotent(kernel.tensor(assign.target.tensor).element),
    }
}
