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

pub(super) use super::contents::Listed;
use super::kind::{Text, Writer};
use super::value::{Numbers, Value, are_whole, print_natural};
use super::{contents, stated};
use crate::tensor::{AnyTensor, Coordinates, Indices, OutOfMemory};
use crate::with_element;
use spc_compiler::ir::ElementType;

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
    write_text(Text::Tns, out, &Listed::of(entries, None))
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
    write_text(Text::Mtx, out, &Listed::of(entries, None))
}

impl Writer for Text {
    fn write_entries(&self, out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
        write_text(*self, out, entries)
    }

    fn write_tensor(&self, out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
        fn of<T: Value>(text: Text, out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
            let (entries, fill) = listed::<T>(tensor)?;
            let fill = fill.map(|fill| vec![fill]);
            write_text(text, out, &Listed::of(&entries, fill.as_ref().map(|fill| fill as &dyn Numbers)))
        }
        with_element!(tensor.element(), |T| of::<T>(*self, out, tensor))
    }
}

/// The entries of a tensor in a text, and the value of the others unless that is zero or there are none.
fn listed<T: Value>(tensor: &AnyTensor) -> io::Result<(Coordinates<T>, Option<T>)> {
    if tensor.format().is_dense() {
        return Ok((tensor.try_to_coordinates().map_err(short)?, None));
    }
    let fill = T::from_literal(tensor.fill()).unwrap_or(T::ZERO);
    let entries = contents::present(tensor, fill).map_err(short)?;
    Ok((entries, (!fill.is_absent()).then_some(fill)))
}

/// Writes a text of entries, with what the others are.
fn write_text(text: Text, out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
    check(entries)?;
    let Listed { shape, shape_is_stated, values, fill, .. } = *entries;
    write_head(
        text,
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
    write_entries(text, out, entries)
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
pub(super) fn write_head(text: Text, out: &mut dyn Write, about: &About<'_>) -> io::Result<()> {
    match text {
        Text::Mtx => mtx_head(out, about),
        Text::Tns => tns_head(out, about),
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
fn write_entries(text: Text, out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
    let order = sorted::order(entries.shape, entries.indices, entries.values.count()).map_err(short)?;
    let entry = |line| order.as_ref().map_or(line, |order| order[line]);
    let index = |line: usize, mode: usize| entries.indices[mode].at(entry(line));
    let has_values = text != Text::Mtx || !entries.is_pattern();
    write_lines((text, has_values), out, entries.shape.len(), entries.values, &entry, &index)
}

/// Writes a line for each of some values: the index in each of so many modes, and the value at a place if values are written.
fn write_lines(
    (kind, has_values): (Text, bool),
    out: &mut dyn Write,
    order: usize,
    values: &dyn Numbers,
    place: &(dyn Fn(usize) -> usize + Sync),
    index: &(dyn Fn(usize, usize) -> u64 + Sync),
) -> io::Result<()> {
    // A matrix has two indices.
    let missing = if kind == Text::Mtx { &b"1 1 "[..2 * 2_usize.saturating_sub(order)] } else { b"" };
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
