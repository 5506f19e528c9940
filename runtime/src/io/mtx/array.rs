//! Matrices whose elements all stand in the file, column by column.

use super::header::{Header, Symmetry};
use super::triangle::mirrored_value;
use crate::io::ReadError;
use crate::io::value::Carrier;
use crate::tensor::{AnyTensor, Buffer};
use spc_compiler::ir::ElementType;

/// How many elements stand in the file; `usize::MAX` stands for more than that, which no file has.
pub(super) fn stored([rows, columns]: [usize; 2], symmetry: Symmetry) -> usize {
    let below = |rows: usize| (rows as u128 * rows.saturating_sub(1) as u128) / 2;
    let stored = match symmetry {
        Symmetry::General => rows as u128 * columns as u128,
        Symmetry::Symmetric | Symmetry::Hermitian => below(rows) + rows as u128,
        Symmetry::SkewSymmetric => below(rows),
    };
    usize::try_from(stored).unwrap_or(usize::MAX)
}

/// The matrix, both triangles. `values` are as many as [`stored`] says.
pub(super) fn expand<T: Carrier>(
    header: &Header,
    element: ElementType,
    symmetry: Symmetry,
    values: &[T],
) -> Result<AnyTensor, ReadError> {
    let [rows, columns] = header.shape;
    let mut elements = Buffer::<T>::try_zeroed(rows.saturating_mul(columns))?;
    let mut values = values.iter();
    for column in 0..if elements.is_empty() { 0 } else { columns } {
        let first_row = match symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => column,
            Symmetry::SkewSymmetric => column + 1,
        };
        for (row, &value) in (first_row..rows).zip(&mut values) {
            elements[row * columns + column] = value;
            if symmetry != Symmetry::General && row != column {
                elements[column * columns + row] = mirrored_value(value, element, symmetry);
            }
        }
    }
    crate::io::contents::dense(header.modes.clone(), T::wrap(elements))
}
