//! From a tensor to an archive.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use spc_compiler::format::Coordinate;

use super::Sparse;
use crate::io::contents;
use crate::io::npy;
use crate::io::value::Value;
use crate::io::write::{Listed, check, invalid, short, sorted};
use crate::tensor::{AnyTensor, Indices};
use crate::with_element;

/// Writes a tensor: as a dense array where it is dense, else as SciPy stores it.
pub(super) fn write_tensor(out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
    with_element!(tensor.element(), |T| write_elements::<T>(out, tensor))
}

fn write_elements<T: Value>(out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
    if tensor.format().is_dense() {
        return archive(out, |members| members.add("arr_0", &mut |out| npy::write_tensor::<T>(out, tensor)));
    }
    let fill = T::from_literal(tensor.fill()).unwrap_or(T::ZERO);
    if !fill.is_absent() {
        let message =
            format!("the fill value is {fill}, and in a sparse .npz file it is zero: write it as .tns or .spct");
        return Err(invalid(message));
    }
    let mut entries = contents::present(tensor, fill).map_err(short)?;
    let format = match &tensor.format().levels[..] {
        [rows, columns] if rows.format.kind.is_dense() && columns.format.kind.is_compressed() => {
            match (&rows.coordinate, &columns.coordinate) {
                (Coordinate::Mode(0), Coordinate::Mode(1)) => Sparse::Csr,
                (Coordinate::Mode(1), Coordinate::Mode(0)) => Sparse::Csc,
                _ => Sparse::Coo,
            }
        }
        _ => Sparse::Coo,
    };
    if format == Sparse::Csc {
        // As the rows of the transposed matrix.
        entries.shape.reverse();
        entries.indices.reverse();
    }
    write_sparse(out, &Listed::of(&entries, None), format)
}

/// Writes dense arrays under their names.
pub(in crate::io) fn write_arrays(out: &mut dyn Write, arrays: &[(String, &AnyTensor)]) -> io::Result<()> {
    fn one<T: Value>(members: &mut Members<'_>, name: &str, array: &AnyTensor) -> io::Result<()> {
        members.add(name, &mut |out| npy::write_tensor::<T>(out, array))
    }
    archive(out, |members| {
        arrays.iter().try_for_each(|(name, array)| with_element!(array.element(), |T| one::<T>(members, name, array)))
    })
}

/// Writes a list of entries as `coo`.
pub(super) fn write_entries(out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
    match entries.fill {
        Some(fill) if !fill.is_absent(0) => {
            let fill = fill.show(0);
            let message = format!("the fill value is {fill}, and in a sparse .npz file it is zero: write it as .tns");
            Err(invalid(message))
        }
        _ => write_sparse(out, entries, Sparse::Coo),
    }
}

/// Writes entries, those of `csc` with columns for rows.
fn write_sparse(out: &mut dyn Write, entries: &Listed<'_>, format: Sparse) -> io::Result<()> {
    check(entries)?;
    let Listed { shape, indices, values, .. } = *entries;
    if shape.is_empty() {
        return Err(invalid("a scalar is no sparse .npz file: write it as .npy or .tns".to_owned()));
    }
    let order = sorted::order(shape, indices, values.count()).map_err(short)?;
    let count = values.count();
    let place = |position: usize| order.as_ref().map_or(position, |order| order[position]);
    let index = |mode: usize, position: usize| match &indices[mode] {
        Indices::U32(indices) => u64::from(indices[place(position)]),
        Indices::U64(indices) => indices[place(position)],
    };
    let mode = |mode: usize| (0..count).map(move |position| (mode, position));
    let largest = shape.iter().copied().chain([count]).max().unwrap_or(0);
    archive(out, |members| {
        let mut whole = |name: &str, shape: &[usize], numbers: &mut dyn Iterator<Item = (usize, usize)>| {
            let mut numbers = numbers.map(|(mode, position)| index(mode, position));
            members.add(name, &mut |out| npy::write_whole(out, shape, largest, &mut numbers))
        };
        match format {
            Sparse::Csr | Sparse::Csc => {
                whole("indices", &[count], &mut mode(1))?;
                let mut begin = 0;
                let mut pointers = (0..=shape[0]).map(|row| {
                    while begin < count && index(0, begin) < row as u64 {
                        begin += 1;
                    }
                    begin as u64
                });
                members.add("indptr", &mut |out| npy::write_whole(out, &[shape[0] + 1], largest, &mut pointers))?;
            }
            _ if shape.len() == 2 => {
                whole("row", &[count], &mut mode(0))?;
                whole("col", &[count], &mut mode(1))?;
            }
            _ => whole("coords", &[shape.len(), count], &mut (0..shape.len()).flat_map(mode))?,
        }
        members.add("format", &mut |out| npy::write_text(out, format.name()))?;
        let mut extents: Vec<u64> = shape.iter().map(|&extent| extent as u64).collect();
        if format == Sparse::Csc {
            extents.reverse();
        }
        let mut extents_of = extents.iter().copied();
        members.add("shape", &mut |out| npy::write_whole(out, &[extents.len()], usize::MAX, &mut extents_of))?;
        members.add("data", &mut |out| npy::write_values(out, &[count], values, &place))?;
        if shape.len() == 2 {
            return Ok(());
        }
        // SciPy has tensors of one mode, or of more than two, as arrays only.
        members.add("_is_array", &mut |out| npy::write_values(out, &[], &&[true][..], &|place| place))
    })
}

/// An archive that is being written.
pub(super) struct Members<'out>(ZipArchiveWriter<&'out mut dyn Write>);

pub(super) fn archive(out: &mut dyn Write, write: impl FnOnce(&mut Members<'_>) -> io::Result<()>) -> io::Result<()> {
    let mut members = Members(ZipArchiveWriter::new(out));
    write(&mut members)?;
    members.0.finish().map_err(failed)?;
    Ok(())
}

impl Members<'_> {
    pub(super) fn add(
        &mut self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.add_file(&format!("{name}.npy"), write)
    }

    pub(super) fn add_file(
        &mut self,
        path: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = self.0.new_file(path).compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().map_err(failed)?;
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
        write(&mut writer)?;
        let (encoder, descriptor) = writer.finish().map_err(failed)?;
        encoder.finish()?;
        entry.finish(descriptor).map_err(failed)?;
        Ok(())
    }
}

/// What went wrong below the archive, as it was.
fn failed(error: rawzip::Error) -> io::Error {
    match error.kind() {
        rawzip::ErrorKind::IO(inner) => io::Error::new(inner.kind(), inner.to_string()),
        _ => io::Error::other(error.to_string()),
    }
}
