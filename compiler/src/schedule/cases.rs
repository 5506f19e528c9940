//! How many cases the loops of a kernel have.
//!
//! Where `n` sparse operands are added in one loop, there is a case for each set of them, in a loop for each set that goes
//! on when others are exhausted; and again in the loops inside. Code of that size is of no use.

use super::{Access, Kernel, Statement};
use crate::lattice::{Lattice, operands};

/// So many cases make some three thousand lines. LLVM's time grows much faster than they do: at eighteen thousand it did not
/// come to an end in ten minutes.
const MOST_CASES: usize = 500;

/// So many operands of one loop make a lattice that takes long to compute.
const MOST_OPERANDS: usize = 10;

/// Whether the loops of a kernel would have more cases than anybody wants to compile.
pub(super) fn are_too_many(kernel: &Kernel) -> bool {
    count(kernel, &kernel.body, MOST_CASES).is_none()
}

/// The number of cases of a statement, where it is not above `most`.
fn count(kernel: &Kernel, statement: &Statement, most: usize) -> Option<usize> {
    let total = match statement {
        Statement::Empty => 0,
        Statement::Assign(_) => 1,
        Statement::Where { consumer, producer, .. } => {
            let inside = count(kernel, producer, most)?;
            inside + count(kernel, consumer, most - inside)?
        }
        Statement::Sequence(statements) => {
            let mut total = 0;
            for statement in statements {
                total += count(kernel, statement, most - total)?;
            }
            total
        }
        Statement::Forall { variable, body, .. } => {
            let operands = operands(kernel, *variable, body);
            if are_many(&operands) {
                return None;
            }
            let lattice = Lattice::new(&kernel.tensors, body, &operands);
            let loops = if lattice.everywhere().is_some() {
                lattice.loops().into_iter().take(1).collect()
            } else {
                lattice.loops()
            };
            let mut total = 0;
            for walked in loops {
                for point in lattice.within(walked) {
                    total += count(kernel, &point.statement, most - total)?;
                }
            }
            total
        }
    };
    (total <= most).then_some(total)
}

/// Whether a lattice of so many operands would take long to compute.
pub(super) fn are_many(operands: &[Access]) -> bool {
    operands.len() > MOST_OPERANDS
}
