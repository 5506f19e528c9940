//! From an archive to what it holds.

use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::ElementType;

use super::archive::Archive;
use super::{Sparse, corrupt};
use crate::io::contents::{Contents, Filled};
use crate::io::entries::shown;
use crate::io::npy::{self, Raw};
use crate::io::value::Carrier;
use crate::io::{ReadError, ReadErrorKind};
use crate::memory;
use crate::tensor::{AnyTensor, Coordinates, Indices};

/// What an archive says of the tensor in it.
pub(in crate::io) struct Description {
    pub(in crate::io) element: ElementType,
    pub(in crate::io) is_sparse: bool,
    /// How many modes it has, where the archive says.
    pub(in crate::io) order: Option<usize>,
}

/// Says what the archive holds; `array` names one of several.
pub(in crate::io) fn description(file: &[u8], array: Option<&str>) -> Result<Description, ReadError> {
    let archive = Archive::of(file)?;
    let (name, is_sparse) = match chosen(&archive, array)? {
        Chosen::Sparse(_) => ("data", true),
        Chosen::Array(name) => (name, false),
    };
    let element = npy::element_of(&archive.start(name)?).map_err(|error| in_array(name, error))?;
    let shape = |name: &str| npy::shape_of(&archive.start(name).ok()?).ok();
    // Of a sparse one the extents are an array.
    let order = match is_sparse {
        true => shape("shape").and_then(|shape| shape.first().copied()),
        false => shape(name).map(|shape| shape.len()),
    };
    Ok(Description { element, is_sparse, order })
}

/// The names of the arrays.
pub(in crate::io) fn names(file: &[u8]) -> Result<Vec<String>, ReadError> {
    Ok(Archive::of(file)?.names().map(str::to_owned).collect())
}

/// Reads an array, of the element type that it is stored with.
pub(in crate::io) fn array(file: &[u8], name: &str) -> Result<AnyTensor, ReadError> {
    let member = Archive::of(file)?.member(name)?;
    npy::parse_tensor(&member).map_err(|error| in_array(name, error))
}

/// Reads the tensor.
pub(in crate::io) fn parse<T: Carrier>(
    file: &[u8],
    element: ElementType,
    array: Option<&str>,
) -> Result<Contents<T>, ReadError> {
    let archive = Archive::of(file)?;
    match chosen(&archive, array)? {
        Chosen::Array(name) => {
            let tensor = npy::parse_as(&archive.member(name)?, element).map_err(|error| in_array(name, error))?;
            Ok(Contents::Tensor(tensor))
        }
        Chosen::Sparse(format) => {
            let parts = Parts::<T>::of(&archive, element, format)?;
            let entries = match format {
                Sparse::Csr | Sparse::Csc => parts.compressed(&archive, format == Sparse::Csc)?,
                Sparse::Bsr => parts.blocks(&archive)?,
                Sparse::Coo => parts.coordinates(&archive)?,
                Sparse::Dia => parts.diagonals(&archive)?,
            };
            let fill = fill_value::<T>(&archive, element)?;
            Ok(Contents::Entries(Filled { entries, fill }))
        }
    }
}

/// What is read of an archive.
enum Chosen<'a> {
    Sparse(Sparse),
    Array(&'a str),
}

fn chosen<'a>(archive: &'a Archive<'_>, array: Option<&str>) -> Result<Chosen<'a>, ReadError> {
    let refuse = |message: String| Err(ReadError::new(ReadErrorKind::NotSupported, message));
    let list = || archive.names().map(shown).collect::<Vec<_>>().join(", ");
    if let Some(array) = array {
        if let Some(name) = archive.names().find(|name| *name == array) {
            return Ok(Chosen::Array(name));
        }
        return refuse(match suggest::similar(array, archive.names()) {
            Some(similar) => {
                format!("the archive has no array `{}`: did you mean `{}`?", shown(array), shown(similar))
            }
            None => format!("the archive has no array `{}`: its arrays are {}", shown(array), list()),
        });
    }
    if archive.has("shape") && archive.has("data") {
        if archive.has("format") {
            return format(archive).map(Chosen::Sparse);
        }
        // As PyData's `sparse` writes them.
        if archive.has("coords") {
            return Ok(Chosen::Sparse(Sparse::Coo));
        }
        if archive.has("compressed_axes") {
            return gcxs(archive).map(Chosen::Sparse);
        }
    }
    let mut names = archive.names();
    match (names.next(), names.next()) {
        (Some(name), None) => Ok(Chosen::Array(name)),
        (Some(name), Some(_)) => {
            refuse(format!("the archive has several arrays, {}: `FILE.npz:{}` names one of them", list(), shown(name)))
        }
        (None, _) => refuse("the archive has no array".to_owned()),
    }
}

/// What SciPy calls the format, in bytes or, before version 1, in text.
fn format(archive: &Archive<'_>) -> Result<Sparse, ReadError> {
    let member = archive.member("format")?;
    let Raw { descr, data, .. } = npy::raw(&member).map_err(|error| in_array("format", error))?;
    let name: String = match descr.get(..2) {
        Some("<U") => data.chunks_exact(4).map(|letter| char::from(letter[0])).collect(),
        _ => String::from_utf8_lossy(data).into_owned(),
    };
    let name = name.trim_end_matches('\0');
    Sparse::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let known = Sparse::ALL.map(Sparse::name).join(", ");
        let message =
            format!("a sparse tensor in format `{}` is not supported: save it as one of {known}", shown(name));
        ReadError::new(ReadErrorKind::NotSupported, message)
    })
}

/// What stands for entries that are missing, as PyData's `sparse` writes it.
fn fill_value<T: Carrier>(archive: &Archive<'_>, element: ElementType) -> Result<Option<T>, ReadError> {
    const NAME: &str = "fill_value";
    if !archive.has(NAME) {
        return Ok(None);
    }
    let (_, fill) = npy::values::<T>(&archive.member(NAME)?, element).map_err(|error| in_array(NAME, error))?;
    match fill[..] {
        [fill] => Ok(Some(fill)),
        _ => Err(corrupt(format!("the array `{NAME}` has {} numbers, and should have one", fill.len()))),
    }
}

/// PyData's `GCXS` of a matrix is `csr` or `csc`.
fn gcxs(archive: &Archive<'_>) -> Result<Sparse, ReadError> {
    let (order, axes) = (positions(archive, "shape")?.len(), positions(archive, "compressed_axes")?);
    match (order, &axes[..]) {
        (2, [0]) => Ok(Sparse::Csr),
        (2, [1]) => Ok(Sparse::Csc),
        _ => {
            let message =
                format!("`GCXS` of {order} modes with compressed axes {axes:?} is not supported: save it as `COO`");
            Err(ReadError::new(ReadErrorKind::NotSupported, message))
        }
    }
}

fn in_array(name: &str, error: ReadError) -> ReadError {
    ReadError::new(error.kind(), format!("the array `{}`: {}", shown(name), error.message()))
}

/// The whole numbers of an array, row by row, and its shape.
struct Numbers {
    shape: Vec<usize>,
    numbers: Vec<i64>,
}

fn numbers(archive: &Archive<'_>, name: &str) -> Result<Numbers, ReadError> {
    let member = archive.member(name)?;
    let Raw { descr, shape, data, fortran_order } = npy::raw(&member).map_err(|error| in_array(name, error))?;
    let beyond = || corrupt(format!("the array `{name}` has a number that is no index"));
    fn of<const N: usize>(data: &[u8], read: impl Fn([u8; N]) -> Option<i64>) -> Result<Option<Vec<i64>>, ReadError> {
        let mut numbers = memory::try_room(data.len() / N)?;
        for bytes in data.as_chunks::<N>().0 {
            let Some(number) = read(*bytes) else { return Ok(None) };
            numbers.push(number);
        }
        Ok(Some(numbers))
    }
    let numbers = match descr {
        "<i4" => of(data, |bytes| Some(i32::from_le_bytes(bytes).into()))?,
        "<u4" => of(data, |bytes| Some(u32::from_le_bytes(bytes).into()))?,
        "<i8" => of(data, |bytes| Some(i64::from_le_bytes(bytes)))?,
        "<u8" => of(data, |bytes| i64::try_from(u64::from_le_bytes(bytes)).ok())?,
        other => {
            let message = format!("the array `{name}` is of type '{other}', where indices are <i4 or <i8");
            return Err(ReadError::new(ReadErrorKind::NotSupported, message));
        }
    };
    let numbers = numbers.ok_or_else(beyond)?;
    let count = shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
    if count != Some(numbers.len()) {
        return Err(corrupt(format!("the array `{name}` has {} numbers, and another shape", numbers.len())));
    }
    let numbers = if fortran_order { npy::transposed(&shape, &numbers)? } else { numbers };
    Ok(Numbers { shape, numbers })
}

/// The same of one mode, none negative.
fn positions(archive: &Archive<'_>, name: &str) -> Result<Vec<u64>, ReadError> {
    let Numbers { shape, numbers } = numbers(archive, name)?;
    if shape.len() != 1 {
        return Err(corrupt(format!("the array `{name}` has {} modes, and should have one", shape.len())));
    }
    natural(name, numbers.into_iter())
}

fn natural(name: &str, numbers: impl ExactSizeIterator<Item = i64>) -> Result<Vec<u64>, ReadError> {
    let mut natural = memory::try_room(numbers.len())?;
    for number in numbers {
        let negative = |_| corrupt(format!("the array `{name}` has a negative index, {number}"));
        natural.push(u64::try_from(number).map_err(negative)?);
    }
    Ok(natural)
}

/// What every format has.
struct Parts<T> {
    shape: Vec<usize>,
    /// The shape of the values' array.
    data: Vec<usize>,
    values: Vec<T>,
}

impl<T: Carrier> Parts<T> {
    fn of(archive: &Archive<'_>, element: ElementType, format: Sparse) -> Result<Self, ReadError> {
        let shape = positions(archive, "shape")?;
        let shape: Vec<usize> = shape.into_iter().filter_map(|extent| usize::try_from(extent).ok()).collect();
        if shape.len() != 2 && format != Sparse::Coo {
            let message = format!("`{}` of {} modes is not supported: save it as coo", format.name(), shape.len());
            return Err(ReadError::new(ReadErrorKind::NotSupported, message));
        }
        let (data, values) =
            npy::values::<T>(&archive.member("data")?, element).map_err(|error| in_array("data", error))?;
        let modes = match format {
            Sparse::Csr | Sparse::Csc | Sparse::Coo => 1,
            Sparse::Dia => 2,
            Sparse::Bsr => 3,
        };
        if data.len() != modes {
            return Err(corrupt(format!("the array `data` has {} modes, and should have {modes}", data.len())));
        }
        Ok(Self { shape, data, values })
    }

    fn finish(self, indices: Vec<Vec<u64>>, values: Vec<T>) -> Result<Coordinates<T>, ReadError> {
        let mut modes = Vec::with_capacity(indices.len());
        for (mode, (indices, &extent)) in indices.into_iter().zip(&self.shape).enumerate() {
            if let Some(beyond) = indices.iter().find(|&&index| index >= extent as u64) {
                let mode = mode + 1;
                return Err(corrupt(format!("index {beyond} of mode {mode}, from 0, is beyond its extent {extent}")));
            }
            let narrow = extent as u64 <= 1 << 32;
            modes.push(if narrow {
                Indices::U32(memory::try_collected(indices.iter().map(|&index| index as u32))?)
            } else {
                Indices::U64(indices)
            });
        }
        Ok(Coordinates { shape: self.shape, shape_is_stated: true, indices: modes, values })
    }

    /// For each entry, the row that it is in: `pointers` say where rows begin. Of entries behind the last row there may be more.
    fn rows(pointers: &[u64], rows: usize, most: usize) -> Result<Vec<u64>, ReadError> {
        let wrong = |what: &str| corrupt(format!("the array `indptr` {what}"));
        if Some(pointers.len()) != rows.checked_add(1) {
            return Err(wrong(&format!("has {} numbers for {rows} rows", pointers.len())));
        }
        if pointers[0] != 0 || !pointers.is_sorted() {
            return Err(wrong("does not ascend from 0"));
        }
        let count = pointers[rows];
        if count > most as u64 {
            return Err(wrong(&format!("ends at {count}, and there are {most} entries")));
        }
        let mut expanded = memory::try_room(count as usize)?;
        for (row, ends) in pointers.windows(2).enumerate() {
            expanded.extend((ends[0]..ends[1]).map(|_| row as u64));
        }
        Ok(expanded)
    }

    /// `csr`, and where `by_columns` `csc`.
    fn compressed(mut self, archive: &Archive<'_>, by_columns: bool) -> Result<Coordinates<T>, ReadError> {
        let (pointers, mut inner) = (positions(archive, "indptr")?, positions(archive, "indices")?);
        let outer = Self::rows(&pointers, self.shape[usize::from(by_columns)], inner.len().min(self.values.len()))?;
        inner.truncate(outer.len());
        let mut values = std::mem::take(&mut self.values);
        values.truncate(outer.len());
        self.finish(if by_columns { vec![inner, outer] } else { vec![outer, inner] }, values)
    }

    /// `bsr`. Zeros in a block are no entries.
    fn blocks(mut self, archive: &Archive<'_>) -> Result<Coordinates<T>, ReadError> {
        let (pointers, inner) = (positions(archive, "indptr")?, positions(archive, "indices")?);
        let [_, height, width] = self.data[..] else { return Err(corrupt("the array `data` should have 3 modes")) };
        if height == 0 || width == 0 || !self.shape[0].is_multiple_of(height) || !self.shape[1].is_multiple_of(width) {
            return Err(corrupt(format!("blocks of {height} x {width} are no parts of the shape {:?}", self.shape)));
        }
        let outer = Self::rows(&pointers, self.shape[0] / height, inner.len().min(self.data[0]))?;
        let stored = std::mem::take(&mut self.values);
        let mut entries = Collected::default();
        for (block, (&row, &column)) in outer.iter().zip(&inner).enumerate() {
            let values = &stored[block * height * width..][..height * width];
            for (place, &value) in values.iter().enumerate() {
                let (down, right) = ((place / width) as u64, (place % width) as u64);
                let at = |block: u64, size: usize, inside: u64| {
                    block.checked_mul(size as u64).and_then(|begin| begin.checked_add(inside)).unwrap_or(u64::MAX)
                };
                entries.push(at(row, height, down), at(column, width, right), value)?;
            }
        }
        let Collected { rows, columns, values } = entries;
        self.finish(vec![rows, columns], values)
    }

    /// `coo`.
    fn coordinates(mut self, archive: &Archive<'_>) -> Result<Coordinates<T>, ReadError> {
        let mut indices = Vec::with_capacity(self.shape.len());
        if archive.has("coords") {
            let Numbers { shape, numbers } = numbers(archive, "coords")?;
            if shape != [self.shape.len(), self.values.len()] {
                return Err(corrupt(format!(
                    "the array `coords` has shape {shape:?}, and there are {} values",
                    self.values.len()
                )));
            }
            for mode in numbers.chunks_exact(self.values.len().max(1)) {
                indices.push(natural("coords", mode.iter().copied())?);
            }
            indices.resize(self.shape.len(), Vec::new());
        } else if self.shape.len() == 2 {
            indices.extend([positions(archive, "row")?, positions(archive, "col")?]);
        } else {
            return Err(corrupt("the archive has no array `coords`"));
        }
        if let Some(mode) = indices.iter().find(|mode| mode.len() != self.values.len()) {
            return Err(corrupt(format!("there are {} indices and {} values", mode.len(), self.values.len())));
        }
        let values = std::mem::take(&mut self.values);
        self.finish(indices, values)
    }

    /// `dia`: the value in column `j` of the diagonal with offset `k` is that of row `j - k`. Zeros are no entries.
    fn diagonals(mut self, archive: &Archive<'_>) -> Result<Coordinates<T>, ReadError> {
        let Numbers { shape, numbers: offsets } = numbers(archive, "offsets")?;
        if shape != [self.data[0]] {
            return Err(corrupt(format!(
                "the array `offsets` has shape {shape:?}, and there are {} diagonals",
                self.data[0]
            )));
        }
        let stored = std::mem::take(&mut self.values);
        let width = self.data[1];
        let mut entries = Collected::default();
        for (diagonal, &offset) in offsets.iter().enumerate() {
            for column in 0..width.min(self.shape[1]) {
                let row = i64::try_from(column).ok().and_then(|column| column.checked_sub(offset));
                let Some(row) = row.and_then(|row| usize::try_from(row).ok()).filter(|&row| row < self.shape[0]) else {
                    continue;
                };
                entries.push(row as u64, column as u64, stored[diagonal * width + column])?;
            }
        }
        let Collected { rows, columns, values } = entries;
        self.finish(vec![rows, columns], values)
    }
}

/// Entries of a matrix other than zero.
struct Collected<T> {
    rows: Vec<u64>,
    columns: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for Collected<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), columns: Vec::new(), values: Vec::new() }
    }
}

impl<T: Carrier> Collected<T> {
    fn push(&mut self, row: u64, column: u64, value: T) -> Result<(), ReadError> {
        if value.is_zero() {
            return Ok(());
        }
        if self.values.len() == self.values.capacity() {
            let more = self.values.len().max(1 << 10);
            memory::try_reserve(&mut self.rows, more)?;
            memory::try_reserve(&mut self.columns, more)?;
            memory::try_reserve(&mut self.values, more)?;
        }
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value);
        Ok(())
    }
}
