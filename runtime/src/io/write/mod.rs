//! Entries out, as text.

mod gzip;
mod limit;
mod lines;
mod output;
#[cfg(feature = "compile")]
mod pieces;
pub(super) mod sorted;

pub use limit::fail_at_size_limit;
#[cfg(feature = "compile")]
pub(crate) use output::Begun;
pub(super) use output::{Scratch, to_file, to_folder, to_stream};
#[cfg(feature = "compile")]
pub(crate) use pieces::{Head, Piece, Pieces};

use std::io::{self, Write};

use super::value::{Numbers, Value, are_whole, print_natural};
use super::{FileType, stated};
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

    /// Whether each entry is `true`, and what has none is `false`: indices alone say that.
    fn is_pattern(&self) -> bool {
        let are_true = || (0..self.values.count()).all(|place| !self.values.is_absent(place));
        self.element() == ElementType::Bool && self.fill.is_none_or(|fill| fill.is_absent(0)) && are_true()
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
    write_text(FileType::Tns, out, &Listed::of(entries, None))
}

/// Writes `.mtx` text, `coordinate`, `general`, and `real`, `integer` or `complex` as the element type is, or `pattern` where all
/// entries are `true`. A vector becomes a matrix
/// of one column, a scalar one of one element, and a comment says so.
///
/// # Errors
///
/// Those of `out`; and [`InvalidInput`](io::ErrorKind::InvalidInput) if the order is above 2, or if `entries` are at odds
/// with themselves.
pub fn write_mtx<T: Value>(out: &mut dyn Write, entries: &Coordinates<T>) -> io::Result<()> {
    write_text(FileType::Mtx, out, &Listed::of(entries, None))
}

/// Writes a text of entries, with what the others are.
pub(super) fn write_text(file_type: FileType, out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
    check(entries)?;
    let Listed { shape, shape_is_stated, values, fill, .. } = *entries;
    write_head(
        file_type,
        out,
        &About {
            shape,
            shape_is_stated,
            element: values.element(),
            count: values.count(),
            fill,
            is_pattern: entries.is_pattern(),
        },
    )?;
    write_entries(file_type, out, entries)
}

/// What a file says of a tensor before its entries.
pub(super) struct About<'a> {
    pub(super) shape: &'a [usize],
    pub(super) shape_is_stated: bool,
    pub(super) element: ElementType,
    /// How many entries follow.
    pub(super) count: usize,
    pub(super) fill: Option<&'a dyn Numbers>,
    /// Whether no values follow the indices, in a kind of file that has such.
    pub(super) is_pattern: bool,
}

/// Writes what comes before the entries of a text.
pub(super) fn write_head(file_type: FileType, out: &mut dyn Write, about: &About<'_>) -> io::Result<()> {
    match file_type {
        FileType::Mtx => mtx_head(out, about),
        _ => tns_head(out, about),
    }
}

fn tns_head(out: &mut dyn Write, about: &About<'_>) -> io::Result<()> {
    // A number by itself is one line, which every program reads.
    let is_number = about.shape.is_empty() && about.fill.is_none() && !about.element.is_complex();
    if is_number {
        return Ok(());
    }
    stated::write(out, '#', about.shape_is_stated.then_some(about.shape), about.fill, about.element)
}

fn mtx_head(out: &mut dyn Write, about: &About<'_>) -> io::Result<()> {
    let order = about.shape.len();
    let extent = |mode| about.shape.get(mode).copied().unwrap_or(1);
    if order > 2 {
        let message = format!("a .mtx file holds a matrix, but this tensor has order {order}: write it as .tns");
        return Err(invalid(message));
    }
    let field = match (are_whole(about.element), about.element.is_complex()) {
        (true, _) if about.is_pattern => "pattern",
        (true, _) => "integer",
        (false, true) => "complex",
        (false, false) => "real",
    };
    writeln!(out, "%%MatrixMarket matrix coordinate {field} general")?;
    stated::write(out, '%', (order < 2).then_some(about.shape), about.fill, about.element)?;
    writeln!(out, "{} {} {}", extent(0), extent(1), about.count)
}

/// Writes a line for each entry, sorted.
fn write_entries(file_type: FileType, out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
    let order = sorted::order(entries.shape, entries.indices, entries.values.count()).map_err(short)?;
    let entry = |line| order.as_ref().map_or(line, |order| order[line]);
    let index = |line: usize, mode: usize| entries.indices[mode].at(entry(line));
    let has_values = file_type != FileType::Mtx || !entries.is_pattern();
    write_lines((file_type, has_values), out, entries.shape.len(), entries.values, &entry, &index)
}

/// Writes a line for each of some values: the index in each of so many modes, and the value at a place if values are written.
fn write_lines(
    (file_type, has_values): (FileType, bool),
    out: &mut dyn Write,
    order: usize,
    values: &dyn Numbers,
    place: &(dyn Fn(usize) -> usize + Sync),
    index: &(dyn Fn(usize, usize) -> u64 + Sync),
) -> io::Result<()> {
    // A matrix has two indices.
    let missing = if file_type == FileType::Mtx { &b"1 1 "[..2 * 2_usize.saturating_sub(order)] } else { b"" };
    lines::write(out, values.count(), &|line, text| {
        for mode in 0..order {
            print_natural(index(line, mode) + 1, text);
            text.push(b' ');
        }
        text.extend_from_slice(missing);
        if has_values {
            values.print(place(line), text);
        } else {
            text.pop();
        }
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
