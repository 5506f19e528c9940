//! Matrices whose elements all stand in the file, column by column.

use super::header::Symmetry;
use super::triangle::mirrored_value;
use crate::io::value::Value;
use crate::tensor::Indices;

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

/// An entry for each element that is not zero, both triangles. `values` are as many as [`stored`] says.
pub(super) fn expand<T: Value>(shape: [usize; 2], symmetry: Symmetry, values: Vec<T>) -> (Vec<Indices>, Vec<T>) {
    let mut entries = Vec::new();
    let mut values = values.into_iter();
    for column in 0..shape[1] {
        let first_row = match symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => column,
            Symmetry::SkewSymmetric => column + 1,
        };
        for (row, value) in (first_row..shape[0]).zip(&mut values) {
            if value.is_zero() {
                continue;
            }
            entries.push((row, column, value));
            if symmetry != Symmetry::General && row != column {
                entries.push((column, row, mirrored_value(value, symmetry)));
            }
        }
        if values.len() == 0 {
            break;
        }
    }
    let rows = crate::io::indices::from_usize(shape[0], entries.iter().map(|entry| entry.0));
    let columns = crate::io::indices::from_usize(shape[1], entries.iter().map(|entry| entry.1));
    (vec![rows, columns], entries.into_iter().map(|entry| entry.2).collect())
}
