//! Temporaries of which statements read only what a sparse tensor chooses.
//!
//! Before: a product of dense operands is formed for every pair of indices. After: only where it is read. With `A: csr`:
//!
//! ```text
//! let S(i, j) = sum(k)(Q(i, k) * K(j, k));                 let S(i, j) = sum(k)(Q(i, k) * K(j, k)) where A(i, j);
//! E(i, j) = S(i, j) / (1 + S(i, j)) where A(i, j);    →    E(i, j) = S(i, j) / (1 + S(i, j)) where A(i, j);
//! ```

use crate::notation::Kernel;
use crate::notation::check::temporary_format;
use crate::notation::chooser::chooser;
use crate::remark::{Remark, What, Why};

/// The kernel in which such temporaries are masked, and what became of them.
pub(super) fn sampled(mut kernel: Kernel) -> (Kernel, Vec<Remark>) {
    let mut decisions = Vec::new();
    for place in 0..kernel.statements.len() {
        let temporary = kernel.statements[place].target.tensor;
        if kernel.tensor(temporary).declared || kernel.statements[place].is_recurrent() {
            continue;
        }
        let Some(mask) = chooser(&kernel, place) else { continue };
        let what = What::Sampled(kernel.tensor(temporary).name.clone(), kernel.access(&mask).to_string());
        decisions.push(Remark::new(what, Why::ReadThere));
        let statement = &mut kernel.statements[place];
        statement.mask = Some(mask);
        let format = temporary_format(statement, &kernel.tensors, &kernel.variables, true);
        kernel.tensors[temporary.0].format = format;
    }
    (kernel, decisions)
}
