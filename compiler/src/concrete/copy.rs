//! Sorted copies: operands in a storage order that the loops can walk.
//!
//! ```text
//! C(i, j) = A(i, j) + B(i, j)        A, C: csr, B: csc
//! C(i, j) = A(i, j) + B_ij(i, j)     B_ij: csr, made by the run time before the kernel starts
//! ```

use super::order::{is_located, level_variables};
use super::schedule::{Scheduler, Term};
use super::{Access, Decision, Expr, IndexVariable, Tensor, TensorId, TensorKind};
use crate::format::{Format, LevelFormat};

impl Scheduler<'_> {
    /// Reads `access` from a copy whose levels follow `order`.
    pub(super) fn copy(&mut self, term: &mut Term, access: &Access, order: &[IndexVariable]) {
        let original = self.kernel.tensor(access.tensor).clone();
        let format = sorted_format(access, &original.format, order);
        let kind = TensorKind::SortedCopy(access.tensor);
        let found = self.kernel.tensors.iter().position(|tensor| tensor.kind == kind && tensor.format == format);
        let copy = TensorId(found.unwrap_or_else(|| {
            let names: Vec<&str> = level_variables(access, &format).iter().map(|&v| self.kernel.variable(v)).collect();
            let what = format!("read {} from a copy sorted by {}", original.name, names.join(", "));
            let why =
                "its storage order stands against the order of the loops; searching it at every step would cost more";
            let mut name = format!("{}_{}", original.name, names.concat());
            while self.kernel.tensors.iter().any(|tensor| tensor.name == name) {
                name.push('_');
            }
            self.decide(Decision { what, why: why.to_owned() });
            self.kernel.tensors.push(Tensor { name, format, kind, ..original });
            self.kernel.tensors.len() - 1
        }));
        let replace = |other: &Access| {
            let tensor = if other.same_place(access) { copy } else { other.tensor };
            Access { tensor, ..other.clone() }
        };
        term.value = term.value.map_accesses(&|other| Expr::Access(replace(other)));
        term.masks = term.masks.iter().map(replace).collect();
    }
}

/// The storage of a copy of an operand whose levels follow `order`: the same kinds of level where they make sense in any
/// order (dense only outermost, or coordinates throughout), else compressed fibers.
fn sorted_format(access: &Access, format: &Format, order: &[IndexVariable]) -> Format {
    let place = |variable: IndexVariable| order.iter().position(|&v| v == variable).expect("every variable has a loop");
    let mut modes: Vec<usize> = (0..format.order).collect();
    modes.sort_by_key(|&mode| place(access.indices[mode]));
    let formats: Vec<_> = format.levels.iter().map(|level| level.format).collect();
    let dense_inside = formats.iter().skip(1).any(|level| is_located(level.kind));
    if !dense_inside {
        return Format::permuted(&modes, &formats);
    }
    let widths = |mut level: LevelFormat, depth: usize| {
        level.coordinates = formats[depth].coordinates;
        level.positions = formats[depth].positions;
        level
    };
    let compressed: Vec<_> = (0..formats.len()).map(|depth| widths(LevelFormat::COMPRESSED, depth)).collect();
    Format::permuted(&modes, &compressed)
}
