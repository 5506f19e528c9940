//! Entries out, as text.

mod gzip;
mod limit;
mod lines;
mod output;
pub(super) mod sorted;

pub use limit::fail_at_size_limit;
pub(super) use output::{Scratch, to_file, to_folder, to_stream};

use std::io::{self, Write};

use super::stated;
use super::value::{Numbers, Value, are_whole, print_natural};
use crate::tensor::{Coordinates, Indices, OutOfMemory};
use spc_compiler::ir::ElementType;

/// Entries of any element type, to be written.
pub(super) struct Listed<'a> {
    pub(super) shape: &'a [usize],
    pub(super) shape_is_stated: bool,
    pub(super) indices: &'a [Indices],
    pub(super) values: &'a dyn Numbers,
    /// What the others are, if that is said.
    pub(super) fill: Option<&'a dyn Numbers>,
}

impl<'a> Listed<'a> {
    pub(super) fn of<T: Value>(entries: &'a Coordinates<T>, fill: Option<&'a dyn Numbers>) -> Self {
        let Coordinates { shape, shape_is_stated, indices, values } = entries;
        Self { shape, shape_is_stated: *shape_is_stated, indices, values, fill }
    }

    pub(super) fn element(&self) -> ElementType {
        self.values.element()
    }
}

/// Writes `.tns` text: the shape if it is stated, the element type if it is not `f64`, and a line for each entry, sorted by index,
/// values such that they read back as they are.
///
/// ```
/// use spc::tensor::{Coordinates, Indices};
///
/// let indices = vec![Indices::U32(vec![1, 0]), Indices::U32(vec![0, 2])];
/// let x = Coordinates { shape: vec![2, 3], shape_is_stated: true, indices, values: vec![-1.0, 2.5] };
/// let mut text = Vec::new();
/// spc::io::write_tns(&mut text, &x)?;
/// assert_eq!(text, b"# shape: 2 3\n1 3 2.5\n2 1 -1\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Those of `out`; and [`InvalidInput`](io::ErrorKind::InvalidInput) if `entries` are at odds with themselves.
pub fn write_tns<T: Value>(out: &mut dyn Write, entries: &Coordinates<T>) -> io::Result<()> {
    write_tns_filled(out, &Listed::of(entries, None))
}

/// The same, and what stands for entries that are missing.
pub(super) fn write_tns_filled(out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
    check(entries)?;
    // A number by itself is one line, which every program reads.
    let is_number = entries.shape.is_empty() && entries.fill.is_none() && !entries.element().is_complex();
    if !is_number {
        let shape = entries.shape_is_stated.then_some(entries.shape);
        stated::write(out, '#', shape, entries.fill, entries.element())?;
    }
    write_entries(out, entries, &|_| {})
}

/// Writes `.mtx` text, `coordinate`, `general`, and `real`, `integer` or `complex` as the element type is. A vector becomes a matrix
/// of one column, a scalar one of one element, and a comment says so.
///
/// # Errors
///
/// Those of `out`; and [`InvalidInput`](io::ErrorKind::InvalidInput) if the order is above 2, or if `entries` are at odds
/// with themselves.
pub fn write_mtx<T: Value>(out: &mut dyn Write, entries: &Coordinates<T>) -> io::Result<()> {
    write_mtx_filled(out, &Listed::of(entries, None))
}

/// The same, and what stands for entries that are missing.
pub(super) fn write_mtx_filled(out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
    check(entries)?;
    let order = entries.shape.len();
    let extent = |mode| entries.shape.get(mode).copied().unwrap_or(1);
    if order > 2 {
        let message = format!("a .mtx file holds a matrix, but this tensor has order {order}: write it as .tns");
        return Err(invalid(message));
    }
    let field = match (are_whole(entries.element()), entries.element().is_complex()) {
        (true, _) => "integer",
        (false, true) => "complex",
        (false, false) => "real",
    };
    writeln!(out, "%%MatrixMarket matrix coordinate {field} general")?;
    stated::write(out, '%', (order < 2).then_some(entries.shape), entries.fill, entries.element())?;
    writeln!(out, "{} {} {}", extent(0), extent(1), entries.values.count())?;
    let missing = &b"1 1 "[..2 * (2 - order)];
    write_entries(out, entries, &|line| line.extend_from_slice(missing))
}

/// A line for each entry, sorted; `more` appends what stands between indices and value.
fn write_entries(out: &mut dyn Write, entries: &Listed<'_>, more: &(dyn Fn(&mut Vec<u8>) + Sync)) -> io::Result<()> {
    let order = sorted::order(entries.shape, entries.indices, entries.values.count()).map_err(short)?;
    lines::write(out, entries.values.count(), &|line, text| {
        let entry = order.as_ref().map_or(line, |order| order[line]);
        for mode in entries.indices {
            print_natural(mode.at(entry) + 1, text);
            text.push(b' ');
        }
        more(text);
        entries.values.print(entry, text);
        text.push(b'\n');
    })
}

/// Whether the columns are as long as they must be, and no index is beyond its extent.
pub(super) fn check(entries: &Listed<'_>) -> io::Result<()> {
    if entries.indices.len() != entries.shape.len() {
        let (modes, order) = (entries.indices.len(), entries.shape.len());
        return Err(invalid(format!("the entries have indices for {modes} modes, but the shape has {order}")));
    }
    for (mode, (indices, &extent)) in entries.indices.iter().zip(entries.shape).enumerate() {
        let (length, largest) = match indices {
            Indices::U32(indices) => (indices.len(), indices.iter().max().copied().map(u64::from)),
            Indices::U64(indices) => (indices.len(), indices.iter().max().copied()),
        };
        let mode = mode + 1;
        let values = entries.values.count();
        if length != values {
            return Err(invalid(format!("mode {mode} has {length} indices, but there are {values} values")));
        }
        if let Some(largest) = largest.filter(|&largest| largest >= extent as u64) {
            return Err(invalid(format!("index {largest} of mode {mode}, from 0, is beyond its extent {extent}")));
        }
    }
    Ok(())
}

/// There is not enough memory for what is to be written.
pub(super) fn short(error: OutOfMemory) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, error)
}

/// What a file format cannot hold.
pub(super) fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
