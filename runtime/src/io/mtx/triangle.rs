//! The other triangle of a symmetric matrix.

use rayon::prelude::*;

use super::header::Symmetry;
use crate::io::value::Value;
use crate::tensor::Indices;

/// The first entry that the lower triangle has no room for, and why.
pub(super) fn first_misplaced<T: Value>(
    indices: &[Indices],
    values: &[T],
    symmetry: Symmetry,
) -> Option<(usize, String)> {
    if symmetry == Symmetry::General {
        return None;
    }
    let [rows, columns] = indices else { return None };
    let (entry, above) = match (rows, columns) {
        (Indices::U32(rows), Indices::U32(columns)) => first(rows, columns, values, symmetry),
        (rows, columns) => first(&wide(rows), &wide(columns), values, symmetry),
    }?;
    let name = symmetry.name();
    let message = if above {
        format!("an entry above the diagonal: a {name} file has the lower triangle only")
    } else if symmetry == Symmetry::Hermitian {
        "a number on the diagonal that is not real: that of a hermitian matrix is".to_owned()
    } else {
        format!("a nonzero on the diagonal: that of a {name} matrix is zero")
    };
    Some((entry, message))
}

/// The first misplaced entry, and whether it is above the diagonal.
fn first<I: Ord + Sync, T: Value>(
    rows: &[I],
    columns: &[I],
    values: &[T],
    symmetry: Symmetry,
) -> Option<(usize, bool)> {
    let is_off = |value: T| match symmetry {
        Symmetry::SkewSymmetric => value != T::ZERO,
        Symmetry::Hermitian => !value.is_real(),
        Symmetry::General | Symmetry::Symmetric => false,
    };
    let misplaced = |entry: &usize| {
        let (row, column) = (&rows[*entry], &columns[*entry]);
        row < column || row == column && is_off(values[*entry])
    };
    let entry = (0..values.len()).into_par_iter().find_first(misplaced)?;
    Some((entry, rows[entry] < columns[entry]))
}

/// The entries, and behind them those mirrored at the diagonal, which is itself there once.
pub(super) fn mirror<T: Value>(
    indices: Vec<Indices>,
    mut values: Vec<T>,
    symmetry: Symmetry,
) -> (Vec<Indices>, Vec<T>) {
    let indices = match <[Indices; 2]>::try_from(indices) {
        Ok([Indices::U32(rows), Indices::U32(columns)]) => {
            extend(rows, columns, &mut values, symmetry).map(Indices::U32).to_vec()
        }
        Ok([rows, columns]) => extend(wide(&rows), wide(&columns), &mut values, symmetry).map(Indices::U64).to_vec(),
        Err(indices) => indices,
    };
    (indices, values)
}

fn extend<I: Copy + PartialEq, T: Value>(
    mut rows: Vec<I>,
    mut columns: Vec<I>,
    values: &mut Vec<T>,
    symmetry: Symmetry,
) -> [Vec<I>; 2] {
    let stored = values.len();
    let mirrored = (0..stored).filter(|&entry| rows[entry] != columns[entry]).count();
    rows.reserve_exact(mirrored);
    columns.reserve_exact(mirrored);
    values.reserve_exact(mirrored);
    for entry in 0..stored {
        let (row, column) = (rows[entry], columns[entry]);
        if row != column {
            rows.push(column);
            columns.push(row);
            let value = values[entry];
            values.push(mirrored_value(value, symmetry));
        }
    }
    [rows, columns]
}

/// The value on the other side of the diagonal. All values have one: see [`first_without_negative`].
pub(super) fn mirrored_value<T: Value>(value: T, symmetry: Symmetry) -> T {
    match symmetry {
        Symmetry::SkewSymmetric => value.negated().unwrap_or(value),
        Symmetry::Hermitian => value.conjugate(),
        Symmetry::General | Symmetry::Symmetric => value,
    }
}

/// The first value of a skew-symmetric matrix whose negative the element type does not hold, and a message.
pub(super) fn first_without_negative<T: Value>(values: &[T], symmetry: Symmetry) -> Option<(usize, String)> {
    if symmetry != Symmetry::SkewSymmetric {
        return None;
    }
    let entry = values.iter().position(|value| value.negated().is_none())?;
    let message =
        format!("a skew-symmetric matrix also has the negative of each value, which {} does not hold", T::NAME);
    Some((entry, format!("{message}: read it as a wider element type")))
}

fn wide(indices: &Indices) -> Vec<u64> {
    match indices {
        Indices::U32(indices) => indices.iter().map(|&index| u64::from(index)).collect(),
        Indices::U64(indices) => indices.clone(),
    }
}
