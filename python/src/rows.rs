//! Parts of matrices in compressed rows, and their other order: copies of runs of entries, without a coordinate of each.
//!
//! ```text
//! A = [[0, 5, 6],     positions 0 2 3      rows 1, 1     positions 0 1 2
//!      [7, 0, 0]]     columns   1 2 0      ────────>     columns   0 0
//! ```

use crate::tensor::{Storage, format};
use crate::{borrow, threads};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use spc::tensor::{AnyTensor, Buffer, Element, LevelArrays};
use spc::with_element;
use spc_compiler::format::Format;
use std::ops::Range;

/// Matrices of fewer entries are copied by the thread that calls, which keeps the interpreter's lock.
const SMALL: usize = 1 << 14;

/// The index arrays of a matrix whose rows, or columns, are compressed.
#[derive(Clone, Copy)]
struct Rows<'a> {
    positions: &'a [u32],
    columns: &'a [u32],
}

impl<'a> Rows<'a> {
    fn of(tensor: &'a AnyTensor, layout: &Format) -> Option<Self> {
        let level = tensor.levels().get(1).filter(|_| tensor.format() == layout)?;
        Some(Self { positions: level.positions()?.as_u32()?, columns: level.coordinates()?.as_u32()? })
    }

    fn row(self, row: usize) -> Range<usize> {
        self.positions[row] as usize..self.positions[row + 1] as usize
    }

    /// The entries of a row whose columns are in a range.
    fn between(self, row: usize, columns: &Range<usize>) -> Range<usize> {
        let entries = self.row(row);
        let own = &self.columns[entries.clone()];
        // Those of a short row are counted without branches.
        let below = |end: usize| match own.len() {
            0..64 => own.iter().map(|&column| usize::from((column as usize) < end)).sum(),
            _ => own.partition_point(|&column| (column as usize) < end),
        };
        let (first, last) = (if columns.start == 0 { 0 } else { below(columns.start) }, below(columns.end));
        entries.start + first..entries.start + last.max(first)
    }
}

fn csr() -> PyResult<Format> {
    format("csr", 2)
}

/// A matrix of runs of entries of others, a run in each row: `shift` is taken off the columns.
fn copied<'a>(
    shape: [usize; 2],
    sources: &[(&'a AnyTensor, Rows<'a>)],
    runs: impl Iterator<Item = (usize, Range<usize>)> + Clone,
    shift: usize,
) -> Option<AnyTensor> {
    let (first, _) = sources.first()?;
    let count: usize = runs.clone().map(|(_, run)| run.len()).sum();
    if i32::try_from(count).is_err() {
        return None;
    }
    let mut positions = Vec::with_capacity(shape[0] + 1);
    let mut columns = Vec::with_capacity(count);
    positions.push(0);
    for (source, run) in runs.clone() {
        let own = &sources[source].1.columns[run];
        if shift == 0 {
            columns.extend_from_slice(own);
        } else {
            columns.extend(own.iter().map(|column| column - shift as u32));
        }
        positions.push(columns.len() as u32);
    }
    let values = with_element!(first.element(), |T| {
        let given: Option<Vec<&[T]>> = sources.iter().map(|(tensor, _)| tensor.values_of::<T>()).collect();
        let given = given?;
        let mut values = Vec::<T>::with_capacity(count);
        runs.for_each(|(source, run)| values.extend_from_slice(&given[source][run]));
        T::wrap(Buffer::from(values))
    });
    Some(made(shape, first.format().clone(), positions, columns, values, first))
}

fn made(
    shape: [usize; 2],
    format: Format,
    positions: Vec<u32>,
    columns: Vec<u32>,
    values: spc::tensor::Values,
    like: &AnyTensor,
) -> AnyTensor {
    let arrays = LevelArrays::new(Some(Buffer::from(positions).into()), Some(Buffer::from(columns).into()));
    // SAFETY: positions rise from 0 to the number of columns and of values, as each is how many columns were pushed. Columns are those of runs
    // of a checked matrix, or rows in the order in which its entries have them: in range, and each row's rise. The arrays are new.
    let made = unsafe { AnyTensor::from_known_parts(shape.to_vec(), format, vec![LevelArrays::NONE, arrays], values) };
    made.with_fill(like.fill())
}

fn finished(py: Python<'_>, entries: usize, body: impl FnOnce() -> Option<AnyTensor> + Send) -> Option<Storage> {
    let found = if entries < SMALL { body() } else { threads::run(py, body) };
    found.map(Storage)
}

/// Some rows of a matrix in any order; nothing if it is stored in another way than `csr` with 32 bits.
#[pyfunction]
pub(crate) fn _rows_taken(py: Python<'_>, matrix: &Storage, rows: &Bound<'_, PyAny>) -> PyResult<Option<Storage>> {
    let layout = csr()?;
    let tensor = &matrix.0;
    let Some(own) = Rows::of(tensor, &layout) else { return Ok(None) };
    let rows: Vec<usize> = borrow::indices(rows)?.iter().collect();
    let extents = [rows.len(), tensor.shape()[1]];
    if let Some(wrong) = rows.iter().find(|&&row| row >= tensor.shape()[0]) {
        return Err(PyIndexError::new_err(format!("there is no row {wrong}: there are {}", tensor.shape()[0])));
    }
    Ok(finished(py, tensor.values().len(), || {
        copied(extents, &[(tensor, own)], rows.iter().map(|&row| (0, own.row(row))), 0)
    }))
}

/// The rows and columns of two ranges, of those columns the ones at distances `below..above` from the diagonal of the matrix, if these are
/// given; nothing if it is stored in another way.
#[pyfunction]
#[pyo3(signature = (matrix, rows, columns, band = None))]
pub(crate) fn _rows_between(
    py: Python<'_>,
    matrix: &Storage,
    rows: (usize, usize),
    columns: (usize, usize),
    band: Option<(i64, i64)>,
) -> PyResult<Option<Storage>> {
    let layout = csr()?;
    let tensor = &matrix.0;
    let Some(own) = Rows::of(tensor, &layout) else { return Ok(None) };
    let rows = rows.0..rows.1.min(tensor.shape()[0]).max(rows.0);
    let columns = columns.0..columns.1.min(tensor.shape()[1]).max(columns.0);
    if rows.end > tensor.shape()[0] || columns.end > tensor.shape()[1] {
        return Err(PyIndexError::new_err("a range begins behind the end of the matrix"));
    }
    let is_whole = columns == (0..tensor.shape()[1]) && band.is_none();
    let run = |row: usize| {
        if is_whole {
            return (0, own.row(row));
        }
        let within = band.map_or(columns.clone(), |(below, above)| {
            let at = |distance: i64| (row as i64).saturating_add(distance).clamp(0, columns.end as i64) as usize;
            at(below).max(columns.start)..at(above)
        });
        (0, own.between(row, &within))
    };
    let extents = [rows.len(), columns.len()];
    Ok(finished(py, tensor.values().len(), || {
        if is_whole {
            return copied(extents, &[(tensor, own)], rows.map(run), 0);
        }
        // The columns are searched once.
        let runs: Vec<_> = rows.map(run).collect();
        copied(extents, &[(tensor, own)], runs.iter().cloned(), columns.start)
    }))
}

/// Matrices with as many columns below each other; nothing if one is stored in another way, or has other elements.
#[pyfunction]
pub(crate) fn _rows_below(py: Python<'_>, matrices: Vec<Py<Storage>>) -> PyResult<Option<Storage>> {
    let layout = csr()?;
    let tensors: Vec<&AnyTensor> = matrices.iter().map(|matrix| &matrix.get().0).collect();
    let sources: Option<Vec<_>> = tensors.iter().map(|&tensor| Some((tensor, Rows::of(tensor, &layout)?))).collect();
    let Some(sources) = sources.filter(|sources| !sources.is_empty()) else { return Ok(None) };
    let columns = tensors[0].shape()[1];
    let entries = tensors.iter().map(|tensor| tensor.values().len()).sum::<usize>();
    if tensors.iter().any(|tensor| tensor.shape()[1] != columns || tensor.element() != tensors[0].element())
        || i32::try_from(entries).is_err()
    {
        return Ok(None);
    }
    Ok(finished(py, entries, || {
        let rows = tensors.iter().map(|tensor| tensor.shape()[0]).sum::<usize>();
        let mut positions = Vec::with_capacity(rows + 1);
        let mut found = Vec::with_capacity(entries);
        positions.push(0);
        for (_, own) in &sources {
            let before = found.len() as u32;
            positions.extend(own.positions[1..].iter().map(|position| position + before));
            found.extend_from_slice(own.columns);
        }
        let values = with_element!(tensors[0].element(), |T| {
            let given: Option<Vec<&[T]>> = tensors.iter().map(|tensor| tensor.values_of::<T>()).collect();
            T::wrap(Buffer::from(given?.concat()))
        });
        Some(made([rows, columns], layout, positions, found, values, tensors[0]))
    }))
}

/// The transpose of a matrix in compressed rows, which is stored in rows, too; nothing if the matrix is stored in another way.
#[pyfunction]
pub(crate) fn _rows_transposed(py: Python<'_>, matrix: &Storage) -> PyResult<Option<Storage>> {
    let layout = csr()?;
    let tensor = &matrix.0;
    let Some(own) = Rows::of(tensor, &layout) else { return Ok(None) };
    let [rows, columns] = [tensor.shape()[0], tensor.shape()[1]];
    Ok(turned(py, tensor, own, columns, [columns, rows], layout.clone()))
}

/// The same matrix in compressed columns, if it is stored in compressed rows, and the other way around; nothing if it is stored in another
/// way, or is to be.
pub(crate) fn exchanged(py: Python<'_>, tensor: &AnyTensor, wanted: &Format) -> PyResult<Option<Storage>> {
    let (by_rows, by_columns) = (csr()?, format("csc", 2)?);
    let (given, mode) = match () {
        () if *wanted == by_columns => (&by_rows, 1),
        () if *wanted == by_rows => (&by_columns, 0),
        () => return Ok(None),
    };
    let Some(own) = Rows::of(tensor, given) else { return Ok(None) };
    let shape = [tensor.shape()[0], tensor.shape()[1]];
    Ok(turned(py, tensor, own, shape[mode], shape, wanted.clone()))
}

/// The entries of compressed rows by their columns, of which there are `extent`, in each by rows.
fn turned(
    py: Python<'_>,
    tensor: &AnyTensor,
    own: Rows<'_>,
    extent: usize,
    shape: [usize; 2],
    wanted: Format,
) -> Option<Storage> {
    fn arrays<T: Element>(own: Rows<'_>, extent: usize, values: &[T]) -> (Vec<u32>, Vec<u32>, Buffer<T>) {
        // The entries of each column are counted, then each goes to the next place of its column, row by row.
        let mut positions = vec![0u32; extent + 1];
        for &column in own.columns {
            positions[column as usize + 1] += 1;
        }
        for column in 0..extent {
            positions[column + 1] += positions[column];
        }
        let mut next = positions.clone();
        let mut rows = vec![0u32; own.columns.len()];
        let mut values_by_column = Buffer::<T>::zeroed(values.len());
        let found = &mut values_by_column[..];
        for row in 0..own.positions.len() - 1 {
            for entry in own.row(row) {
                let place = &mut next[own.columns[entry] as usize];
                rows[*place as usize] = row as u32;
                found[*place as usize] = values[entry];
                *place += 1;
            }
        }
        (positions, rows, values_by_column)
    }

    finished(py, tensor.values().len(), || {
        with_element!(tensor.element(), |T| {
            let (positions, rows, found) = arrays::<T>(own, extent, tensor.values_of::<T>()?);
            Some(made(shape, wanted, positions, rows, T::wrap(found), tensor))
        })
    })
}
