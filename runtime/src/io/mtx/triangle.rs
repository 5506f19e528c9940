//! The other triangle of a symmetric matrix.

use super::header::Symmetry;
use crate::io::value::Carrier;
use crate::memory;
use crate::tensor::{Indices, OutOfMemory, tasks};
use spc_compiler::ir::ElementType;
use std::ops::Range;

/// How many entries a thread takes at once.
const PART: usize = 1 << 16;

/// The first entry that the lower triangle has no room for, and why.
pub(in crate::io) fn first_misplaced<T: Carrier>(
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
fn first<I: Ord + Sync, T: Carrier>(
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
    let misplaced = |entry: usize| {
        let (row, column) = (&rows[entry], &columns[entry]);
        row < column || row == column && is_off(values[entry])
    };
    let first_of = |mut part: Range<usize>| part.find(|&entry| misplaced(entry));
    let entry = tasks::first(&tasks::ranges(values.len(), PART), &first_of)?;
    Some((entry, rows[entry] < columns[entry]))
}

/// The entries, and behind them those mirrored at the diagonal, which is itself there once.
pub(in crate::io) fn mirror<T: Carrier>(
    indices: Vec<Indices>,
    mut values: Vec<T>,
    element: ElementType,
    symmetry: Symmetry,
) -> Result<(Vec<Indices>, Vec<T>), OutOfMemory> {
    let indices = match <[Indices; 2]>::try_from(indices) {
        Ok([Indices::U32(rows), Indices::U32(columns)]) => {
            extend(rows, columns, &mut values, element, symmetry)?.map(Indices::U32).to_vec()
        }
        Ok([rows, columns]) => {
            extend(wide(&rows), wide(&columns), &mut values, element, symmetry)?.map(Indices::U64).to_vec()
        }
        Err(indices) => indices,
    };
    Ok((indices, values))
}

fn extend<I: Copy + PartialEq + Send + Sync, T: Carrier>(
    mut rows: Vec<I>,
    mut columns: Vec<I>,
    values: &mut Vec<T>,
    element: ElementType,
    symmetry: Symmetry,
) -> Result<[Vec<I>; 2], OutOfMemory> {
    let is_off = |(row, column): &(&I, &I)| row != column;
    let stored = values.len();
    let off = |part: Range<usize>| rows[part.clone()].iter().zip(&columns[part]).filter(is_off).count();
    let counts = tasks::map(&tasks::ranges(stored, PART), &off);
    let total = stored + counts.iter().sum::<usize>();
    let (Some(&row), Some(&value)) = (rows.first(), values.first()) else {
        return Ok([rows, columns]);
    };
    for column in [&mut rows, &mut columns] {
        memory::try_reserve(column, total - stored)?;
        column.resize(total, row);
    }
    memory::try_reserve(values, total - stored)?;
    values.resize(total, value);

    let mut parts = Vec::with_capacity(counts.len());
    let (stored_rows, mut rest_rows) = rows.split_at_mut(stored);
    let (stored_columns, mut rest_columns) = columns.split_at_mut(stored);
    let (stored_values, mut rest_values) = values.split_at_mut(stored);
    for count in counts {
        let fits = "there is room for all that is mirrored";
        parts.push((
            rest_rows.split_off_mut(..count).expect(fits),
            rest_columns.split_off_mut(..count).expect(fits),
            rest_values.split_off_mut(..count).expect(fits),
        ));
    }
    tasks::each(parts, &|part, (to_rows, to_columns, to_values): (&mut [I], &mut [I], &mut [T])| {
        let range = part * PART..stored.min((part + 1) * PART);
        let stored = stored_rows[range.clone()].iter().zip(&stored_columns[range.clone()]).zip(&stored_values[range]);
        let to = to_columns.iter_mut().zip(to_rows).zip(to_values);
        for (((row, column), &value), to) in stored.filter(|(pair, _)| is_off(pair)).zip(to) {
            ((*to.0.0, *to.0.1), *to.1) = ((*row, *column), mirrored_value(value, element, symmetry));
        }
    });
    Ok([rows, columns])
}

/// The value on the other side of the diagonal. All values have one: see [`first_without_negative`].
pub(super) fn mirrored_value<T: Carrier>(value: T, element: ElementType, symmetry: Symmetry) -> T {
    match symmetry {
        Symmetry::SkewSymmetric => value.negated(element).unwrap_or(value),
        Symmetry::Hermitian => value.conjugate(),
        Symmetry::General | Symmetry::Symmetric => value,
    }
}

/// The first value of a skew-symmetric matrix whose negative the element type does not hold, and a message.
pub(in crate::io) fn first_without_negative<T: Carrier>(
    values: &[T],
    element: ElementType,
    symmetry: Symmetry,
) -> Option<(usize, String)> {
    if symmetry != Symmetry::SkewSymmetric {
        return None;
    }
    let entry = values.iter().position(|value| value.negated(element).is_none())?;
    let message = format!("a skew-symmetric matrix also has the negative of each value, which {element} does not hold");
    Some((entry, format!("{message}: read it as a wider element type")))
}

fn wide(indices: &Indices) -> Vec<u64> {
    match indices {
        Indices::U32(indices) => indices.iter().map(|&index| u64::from(index)).collect(),
        Indices::U64(indices) => indices.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The other triangle comes in the order of the entries, however many parts they are taken in.
    #[test]
    fn many_entries_are_mirrored_in_order() {
        let count = 2 * PART as u32 + 100;
        let rows: Vec<u32> = (0..count).map(|entry| entry / 3).collect();
        let columns: Vec<u32> = (0..count).map(|entry| entry / 3 - (entry % 3).min(entry / 3)).collect();
        let values: Vec<f64> = (0..count).map(f64::from).collect();
        let off = || (0..count as usize).filter(|&entry| rows[entry] != columns[entry]);
        let expected_rows: Vec<u32> = rows.iter().copied().chain(off().map(|entry| columns[entry])).collect();
        let expected_columns: Vec<u32> = columns.iter().copied().chain(off().map(|entry| rows[entry])).collect();
        let expected_values: Vec<f64> = values.iter().copied().chain(off().map(|entry| -values[entry])).collect();
        let indices = vec![Indices::U32(rows.clone()), Indices::U32(columns.clone())];
        let (indices, values) = mirror(indices, values.clone(), ElementType::F64, Symmetry::SkewSymmetric).unwrap();
        assert_eq!(indices, [Indices::U32(expected_rows), Indices::U32(expected_columns)]);
        assert_eq!(values, expected_values);
    }
}
