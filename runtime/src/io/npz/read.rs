//! From an archive to what it holds.

use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::ElementType;

use super::archive::Archive;
use super::{Sparse, corrupt};
use crate::io::compressed::{expanded, within};
use crate::io::contents::{Contents, Filled};
use crate::io::entries::shown;
use crate::io::kind::Description;
use crate::io::npy::{self, Raw};
use crate::io::value::{Carrier, Value};
use crate::io::{Layout, ReadError, ReadErrorKind};
use crate::memory;
use crate::tensor::{AnyTensor, Coordinates};
use crate::with_element;

/// The properties of the tensor in an archive; `array` names one of several.
pub(super) fn description(file: &[u8], array: Option<&str>) -> Result<Description, ReadError> {
    let archive = Archive::of(file)?;
    let (name, is_sparse, stored) = match chosen(&archive, array)? {
        Chosen::Sparse(format) => ("data", true, format!("archive of a sparse tensor in format {}", format.name())),
        Chosen::Array(name) => {
            let all = archive.names().map(shown).collect::<Vec<_>>().join(", ");
            (name, false, format!("NumPy array {} of an archive with {all}", shown(name)))
        }
    };
    let element = npy::element_of(&archive.start(name)?).map_err(|error| in_array(name, error))?;
    let shape = |name: &str| npy::shape_of(&archive.start(name).ok()?).ok();
    // Of a sparse one the extents are an array.
    let order = match is_sparse {
        true => shape("shape").and_then(|shape| shape.first().copied()),
        false => shape(name).map(|shape| shape.len()),
    };
    let fill = match is_sparse {
        true => with_element!(element, |T| fill_text::<T>(&archive)?),
        false => None,
    };
    let layout = if is_sparse { Layout::Entries } else { Layout::Dense };
    Ok(Description { element: Some(element), computed: Some(element), layout, order, fill, stored })
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
pub(super) fn parse<T: Carrier>(
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
                Sparse::Gcxs => parts.axes(&archive)?,
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
    if let Some(format) = sparse(archive)? {
        let unknown = archive.all_names().find(|member| !format.members().contains(member));
        return match unknown {
            None => Ok(Chosen::Sparse(format)),
            Some(member) => refuse(format!(
                "the archive has `{}`, which is not understood beside a sparse tensor in format `{}`: save it without",
                shown(member),
                format.name()
            )),
        };
    }
    let mut names = archive.names();
    match (names.next(), names.next()) {
        (Some(name), None) => match archive.all_names().find(|member| *member != name) {
            None => Ok(Chosen::Array(name)),
            Some(member) => refuse(format!(
                "the archive has `{}`, which is no array: `FILE.npz:{}` reads the array",
                shown(member),
                shown(name)
            )),
        },
        (Some(name), Some(_)) => {
            refuse(format!("the archive has several arrays, {}: `FILE.npz:{}` names one of them", list(), shown(name)))
        }
        (None, _) => refuse("the archive has no array".to_owned()),
    }
}

/// The format of a sparse tensor; nothing where there are arrays only.
fn sparse(archive: &Archive<'_>) -> Result<Option<Sparse>, ReadError> {
    if !archive.has("shape") || !archive.has("data") {
        return Ok(None);
    }
    if archive.has("format") {
        return format(archive).map(Some);
    }
    // As earlier versions of PyData's `sparse` write them.
    Ok(match (archive.has("coords"), archive.has("compressed_axes")) {
        (true, _) => Some(Sparse::Coo),
        (false, true) => Some(Sparse::Gcxs),
        (false, false) => None,
    })
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

/// The same, as the language writes it.
fn fill_text<T: Value>(archive: &Archive<'_>) -> Result<Option<String>, ReadError> {
    let fill = fill_value::<T::Carrier>(archive, T::TYPE)?.map(T::of_carrier);
    Ok(fill.map(|fill| if fill.is_absent() { "0".to_owned() } else { fill.to_string() }))
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
    let read = npy::values::<i64>(&member, ElementType::I64).map_err(|error| in_array(name, error));
    read.map(|(shape, numbers)| Numbers { shape, numbers })
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

/// Where rows begin, as messages call it.
const POINTERS: &str = "the array `indptr`";

impl<T: Carrier> Parts<T> {
    fn of(archive: &Archive<'_>, element: ElementType, format: Sparse) -> Result<Self, ReadError> {
        let shape = positions(archive, "shape")?;
        let shape: Vec<usize> = shape.into_iter().filter_map(|extent| usize::try_from(extent).ok()).collect();
        if shape.len() != 2 && !matches!(format, Sparse::Coo | Sparse::Gcxs) {
            let message = format!("`{}` of {} modes is not supported: save it as coo", format.name(), shape.len());
            return Err(ReadError::new(ReadErrorKind::NotSupported, message));
        }
        let (data, values) =
            npy::values::<T>(&archive.member("data")?, element).map_err(|error| in_array("data", error))?;
        let modes = match format {
            Sparse::Csr | Sparse::Csc | Sparse::Coo | Sparse::Gcxs => 1,
            Sparse::Dia => 2,
            Sparse::Bsr => 3,
        };
        if data.len() != modes {
            return Err(corrupt(format!("the array `data` has {} modes, and should have {modes}", data.len())));
        }
        Ok(Self { shape, data, values })
    }

    fn finish(self, indices: Vec<Vec<u64>>, values: Vec<T>) -> Result<Coordinates<T>, ReadError> {
        let modes = indices.into_iter().zip(&self.shape).enumerate();
        let modes = modes.map(|(mode, (indices, &extent))| within(indices, mode, extent)).collect::<Result<_, _>>()?;
        Ok(Coordinates { shape: self.shape, shape_is_stated: true, indices: modes, values })
    }

    /// `csr`, and where `by_columns` `csc`.
    fn compressed(mut self, archive: &Archive<'_>, by_columns: bool) -> Result<Coordinates<T>, ReadError> {
        let (pointers, mut inner) = (positions(archive, "indptr")?, positions(archive, "indices")?);
        let outer =
            expanded(POINTERS, &pointers, self.shape[usize::from(by_columns)], inner.len().min(self.values.len()))?;
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
        let outer = expanded(POINTERS, &pointers, self.shape[0] / height, inner.len().min(self.data[0]))?;
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

    /// `GCXS` of PyData: `csr` of a matrix whose rows are the linear indices of the compressed axes and whose columns are those of the others, in
    /// ascending order.
    fn axes(mut self, archive: &Archive<'_>) -> Result<Coordinates<T>, ReadError> {
        let order = self.shape.len();
        let mut axes: Vec<usize> = positions(archive, "compressed_axes")?
            .into_iter()
            .map(|axis| usize::try_from(axis).unwrap_or(order))
            .collect();
        let compressed = axes.len();
        axes.extend((0..order).filter(|axis| !axes[..compressed].contains(axis)).collect::<Vec<_>>());
        if axes.len() != order || axes.iter().any(|&axis| axis >= order) {
            return Err(corrupt(format!("the compressed axes are not axes of {order} modes, each once")));
        }
        let (pointers, mut columns) = (positions(archive, "indptr")?, positions(archive, "indices")?);
        let extents: Vec<usize> = axes.iter().map(|&axis| self.shape[axis]).collect();
        let too_many = || corrupt(format!("the shape {:?} has more rows than a file", self.shape));
        let product = |extents: &[usize]| extents.iter().try_fold(1_usize, |all, &extent| all.checked_mul(extent));
        let count = product(&extents[..compressed]).ok_or_else(too_many)?;
        let width = product(&extents[compressed..]).ok_or_else(too_many)?;
        let rows = expanded(POINTERS, &pointers, count, columns.len().min(self.values.len()))?;
        columns.truncate(rows.len());
        if let Some(column) = columns.iter().find(|&&column| column >= width as u64) {
            return Err(corrupt(format!("index {column} of the array `indices` is beyond {width} columns")));
        }
        let mut values = std::mem::take(&mut self.values);
        values.truncate(rows.len());
        let mut indices = vec![Vec::new(); order];
        for (mut linear, parts) in [(rows, 0..compressed), (columns, compressed..order)] {
            for place in parts.rev() {
                let extent = extents[place].max(1) as u64;
                indices[axes[place]] = memory::try_collected(linear.iter().map(|&linear| linear % extent))?;
                linear.iter_mut().for_each(|linear| *linear /= extent);
            }
        }
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
