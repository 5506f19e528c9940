//! Tensors, their arrays, and files.

use crate::pattern::{self, Pattern};
use crate::{borrow, errors, rows, threads};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyBufferError, PyIndexError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyComplex;
use spc::tensor::{
    AnyTensor, Buffer, Coordinates, Drawing, Duplicates, Element, ElementType, IndexArray, IndexError, Indices,
    LevelArrays, Values, pack,
};
use spc::with_element;
use spc_compiler::diagnostics::render::render;
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{self, Definitions};
use spc_compiler::ir::Literal;
use spc_compiler::syntax;
use std::collections::HashMap;
use std::ffi::{CStr, c_int};
use std::path::PathBuf;
use std::sync::{LazyLock, PoisonError, RwLock};

/// Formats by their text and order.
static FORMATS: LazyLock<RwLock<HashMap<(String, usize), Format>>> = LazyLock::new(RwLock::default);
/// From so many entries on, Ctrl-C ends what sorts them.
const LONG: usize = 1 << 16;
/// So many formats are remembered.
const MOST_FORMATS: usize = 1024;

/// The format of a text for tensors of an order.
pub(crate) fn format(text: &str, order: usize) -> PyResult<Format> {
    let key = (text.to_owned(), order);
    if let Some(format) = FORMATS.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(format.clone());
    }
    let none = syntax::Program::default();
    let parsed = syntax::parse_format(text);
    let resolved = parsed.and_then(|format| resolve::resolve(&format, order, &Definitions::of_program(&none)));
    let found = resolved
        .map_err(|found| errors::text(format!("\n{}", render(text, "<format>", &found.into_sorted(), false))))?;
    let mut formats = FORMATS.write().unwrap_or_else(PoisonError::into_inner);
    if formats.len() >= MOST_FORMATS {
        formats.clear();
    }
    formats.insert(key, found.clone());
    Ok(found)
}

/// A format for tensors of an order, level by level.
#[pyfunction]
pub(crate) fn _format(text: &str, order: usize) -> PyResult<String> {
    format(text, order).map(|format| format.to_string())
}

/// A tensor as the library has it. Its values may be those of a Python object; its index arrays are the library's.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Storage(pub(crate) AnyTensor);

/// The tensor in memory of its own, which Python can't change.
pub(crate) fn owned(tensor: &AnyTensor) -> PyResult<AnyTensor> {
    tensor.clone().with_values(private_values(tensor)).map_err(errors::value)
}

fn private_values(tensor: &AnyTensor) -> Values {
    with_element!(tensor.element(), |T| T::wrap(Buffer::copy_of(tensor.values_of::<T>().unwrap_or_default())))
}

/// Copies of index arrays, which Python can't change.
pub(crate) fn private(level: &LevelArrays) -> LevelArrays {
    let indices = |array: &IndexArray| match array {
        IndexArray::U8(array) => Buffer::copy_of(array).into(),
        IndexArray::U16(array) => Buffer::copy_of(array).into(),
        IndexArray::U32(array) => Buffer::copy_of(array).into(),
        IndexArray::U64(array) => Buffer::copy_of(array).into(),
    };
    LevelArrays::new(level.positions().map(indices), level.coordinates().map(indices))
}

/// One of the arrays of a tensor, in its memory: for `numpy.frombuffer`.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Array {
    tensor: AnyTensor,
    /// The level and whether positions are meant; else values.
    index: Option<(usize, bool)>,
    is_readonly: bool,
    shape: [isize; 1],
    strides: [isize; 1],
}

impl Array {
    fn new(tensor: &AnyTensor, index: Option<(usize, bool)>) -> Option<Self> {
        let (bytes, width, _) = parts(tensor, index)?;
        let shape = [(bytes.len() / width) as isize];
        let is_readonly = index.is_some() || !may_be_written(tensor);
        Some(Self { tensor: tensor.clone(), index, is_readonly, shape, strides: [width as isize] })
    }
}

/// Whether Python may write to the values, as to those of an array of NumPy's. Kernels rely on indices, and on the bytes of truth values.
fn may_be_written(tensor: &AnyTensor) -> bool {
    fn of<T: Element + 'static>(values: &Values) -> bool {
        T::unwrap(values).is_some_and(|values| {
            let may_be = T::TYPE != ElementType::Bool && borrow::is_writable(values);
            if may_be {
                values.expose();
            }
            may_be
        })
    }
    with_element!(tensor.element(), |T| of::<T>(tensor.values()))
}

/// The bytes of an array, those of an element, and its letter in Python's `struct`.
fn parts(tensor: &AnyTensor, index: Option<(usize, bool)>) -> Option<(&[u8], usize, &'static CStr)> {
    let Some((level, is_positions)) = index else {
        let element = tensor.element();
        return Some((tensor.values().as_bytes(), element.bytes(), letter(element)));
    };
    let array = if is_positions { tensor.positions(level)? } else { tensor.coordinates(level)? };
    // With a sign, as SciPy has its indices; none is so large that it would be lost.
    let letter = match array {
        IndexArray::U8(_) => c"B",
        IndexArray::U16(_) => c"H",
        IndexArray::U32(_) => c"i",
        IndexArray::U64(_) => c"q",
    };
    Some((array.as_bytes(), array.width().bytes(), letter))
}

fn letter(element: ElementType) -> &'static CStr {
    match element {
        ElementType::F64 => c"d",
        ElementType::F32 => c"f",
        ElementType::F16 => c"e",
        ElementType::BF16 | ElementType::U16 => c"H",
        ElementType::I8 => c"b",
        ElementType::I16 => c"h",
        ElementType::I32 => c"i",
        ElementType::I64 => c"q",
        ElementType::U8 => c"B",
        ElementType::U32 => c"I",
        ElementType::U64 => c"Q",
        ElementType::Bool => c"?",
        ElementType::C32 => c"Zf",
        ElementType::C64 => c"Zd",
    }
}

#[pymethods]
impl Array {
    /// # Safety
    /// Python hands in a view to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        if this.is_readonly && flags & ffi::PyBUF_WRITABLE != 0 {
            return Err(PyBufferError::new_err("the array is for reading: copy it"));
        }
        let Some((bytes, width, letter)) = parts(&this.tensor, this.index) else {
            return Err(PyBufferError::new_err("there is no such array"));
        };
        // SAFETY: the view is Python's to be filled; the elements, the shape and the strides belong to an object that it keeps, which
        // is frozen.
        unsafe {
            (*view).buf = bytes.as_ptr().cast_mut().cast();
            (*view).len = bytes.len() as isize;
            (*view).readonly = c_int::from(this.is_readonly);
            (*view).itemsize = width as isize;
            (*view).format =
                if flags & ffi::PyBUF_FORMAT != 0 { letter.as_ptr().cast_mut() } else { std::ptr::null_mut() };
            (*view).ndim = 1;
            (*view).shape = this.shape.as_ptr().cast_mut();
            (*view).strides = this.strides.as_ptr().cast_mut();
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
            (*view).obj = slf.into_ptr();
        }
        Ok(())
    }
}

/// The tensor of an array of NumPy's, C-contiguous in the order of the levels; `text` says which mode each is, if not that of the modes.
pub(crate) fn dense(object: &Bound<'_, PyAny>, text: Option<&str>, shape: Option<Vec<usize>>) -> PyResult<AnyTensor> {
    let (found, values) = borrow::values(object)?;
    let shape = shape.unwrap_or(found);
    let format = match text {
        Some(text) => format(text, shape.len())?,
        None => Format::dense(shape.len()),
    };
    let levels = vec![LevelArrays::NONE; format.levels.len()];
    AnyTensor::from_parts(shape, format, levels, values).map_err(errors::value)
}

/// An element as a number of Python's, exactly.
fn number<T: Element>(py: Python<'_>, element: T) -> PyResult<Bound<'_, PyAny>> {
    match element.literal() {
        Some(Literal::Integer(ElementType::Bool, value)) => (value != 0).into_bound_py_any(py),
        Some(Literal::Integer(_, value)) => value.into_bound_py_any(py),
        _ if T::TYPE.is_complex() => {
            let value = element.to_c64();
            Ok(PyComplex::from_doubles(py, value.re, value.im).into_any())
        }
        _ => element.to_f64().into_bound_py_any(py),
    }
}

type LevelObjects<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl Storage {
    /// An array of indices as kernels take it: with one mode more, of that extent.
    #[staticmethod]
    #[pyo3(signature = (array, extent = None))]
    fn of_indices(array: &Bound<'_, PyAny>, extent: Option<usize>) -> PyResult<Self> {
        let indices = dense(array, None, None)?.to_map(extent);
        indices.map(Self).map_err(|error| match error {
            IndexError::Element { .. } => PyTypeError::new_err(error.to_string()),
            IndexError::Beyond { .. } | IndexError::Below { .. } => PyIndexError::new_err(error.to_string()),
            _ => errors::value(error),
        })
    }

    /// A tensor of borrowed values, and of copies of index arrays: a pair of positions and coordinates for each level. The copies are those
    /// of a pattern, where that has the same elements; else there is a new pattern.
    #[staticmethod]
    #[pyo3(signature = (shape, text, levels, values, known = None))]
    fn of_arrays(
        py: Python<'_>,
        shape: Vec<usize>,
        text: &str,
        levels: Vec<LevelObjects<'_>>,
        values: &Bound<'_, PyAny>,
        known: Option<&Pattern>,
    ) -> PyResult<(Self, Option<Pattern>)> {
        let format = format(text, shape.len())?;
        let arrays = |(positions, coordinates): &LevelObjects<'_>| {
            let positions = positions.as_ref().map(borrow::indices).transpose()?;
            Ok(LevelArrays::new(positions, coordinates.as_ref().map(borrow::indices).transpose()?))
        };
        let levels = levels.iter().map(arrays).collect::<PyResult<Vec<_>>>()?;
        let (_, values) = borrow::values(values)?;
        let large = levels.iter().any(|level| level.bytes() > 1 << 16);
        let make = || pattern::tensor(shape, format, &levels, values, known);
        let made = if large { threads::run(py, make) } else { make() };
        made.map(|(tensor, pattern)| (Self(tensor), pattern)).map_err(errors::value)
    }

    /// The same tensor with values that are not those of a Python object.
    fn owned(&self, py: Python<'_>) -> PyResult<Self> {
        fn is_borrowed<T: Element>(values: &Values) -> bool {
            T::unwrap(values).is_some_and(|values| values.owner().is_some())
        }
        match with_element!(self.0.element(), |T| is_borrowed::<T>(self.0.values())) {
            true => threads::run(py, || owned(&self.0)).map(Self),
            false => Ok(Self(self.0.clone())),
        }
    }

    /// A dense tensor of an array that is contiguous in the order of its levels, without a copy.
    #[staticmethod]
    #[pyo3(signature = (array, text = None, shape = None))]
    fn of_dense(array: &Bound<'_, PyAny>, text: Option<&str>, shape: Option<Vec<usize>>) -> PyResult<Self> {
        dense(array, text, shape).map(Self)
    }

    /// A tensor of entries in any order; what several with one index are: `sum`, or `refuse`.
    #[staticmethod]
    fn of_entries(
        py: Python<'_>,
        shape: Vec<usize>,
        coordinates: Vec<Bound<'_, PyAny>>,
        values: &Bound<'_, PyAny>,
        text: &str,
        duplicates: &str,
    ) -> PyResult<Self> {
        let format = format(text, shape.len())?.for_shape(&shape);
        let duplicates = match duplicates {
            "sum" => Duplicates::Sum,
            "refuse" => Duplicates::Refuse,
            other => return Err(PyValueError::new_err(format!("duplicates={other:?}: say 'sum' or 'refuse'"))),
        };
        let arrays = coordinates.iter().map(borrow::indices).collect::<PyResult<Vec<_>>>()?;
        let (_, values) = borrow::values(values)?;
        let indices = |array: &IndexArray| match array.as_u32() {
            Some(array) => Indices::U32(array.to_vec()),
            None => Indices::U64(array.iter().map(|index| index as u64).collect()),
        };
        // What is sorted are copies, so that the arrays are the caller's again when it was interrupted.
        let indices: Vec<Indices> = threads::run(py, || arrays.iter().map(indices).collect());
        with_element!(values.element(), |T| {
            let values = values.as_slice::<T>().unwrap_or_default().to_vec();
            let count = values.len();
            let made =
                move || pack::<T>(Coordinates { shape, shape_is_stated: true, indices, values }, &format, duplicates);
            let made = if count < LONG { threads::run(py, made) } else { threads::run_long(py, made)? };
            made.map(Self).map_err(errors::value)
        })
    }

    /// The tensor that a file holds.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        threads::run_long(py, move || spc::io::read(&path))?.map(Self).map_err(errors::file)
    }

    /// Writes the tensor to a file of the kind that its name says.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        threads::run(py, || spc::io::write_tensor(&path, &self.0)).map_err(errors::file)
    }

    /// The same tensor in another format.
    fn convert(&self, py: Python<'_>, text: &str) -> PyResult<Self> {
        let format = format(text, self.0.order())?.for_shape(self.0.shape());
        if let Some(turned) = rows::exchanged(py, &self.0, &format)? {
            return Ok(turned);
        }
        let tensor = self.0.clone();
        let is_long = tensor.values().len() >= LONG;
        let made = move || tensor.convert(&format);
        let made = if is_long { threads::run_long(py, made)? } else { threads::run(py, made) };
        made.map(Self).map_err(errors::value)
    }

    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.0.shape().to_vec()
    }

    #[getter]
    fn format(&self) -> String {
        self.0.format().to_string()
    }

    #[getter]
    fn element(&self) -> &'static str {
        self.0.element().name()
    }

    /// What an element is that is not stored, as the language writes it; nothing where it is zero.
    #[getter]
    fn fill(&self) -> Option<String> {
        match self.0.fill() {
            fill if fill.is_zero() => None,
            Literal::Integer(ElementType::Bool, value) => Some((value != 0).to_string()),
            Literal::Integer(_, value) => Some(value.to_string()),
            Literal::Float(_, value) => Some(value.to_string().to_lowercase()),
        }
    }

    /// The same pattern with other values, as many as are stored, and with zero for what is not stored.
    fn with_values(&self, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (_, values) = borrow::values(values)?;
        let element = values.element().computed();
        let zero = match element.is_float() || element.is_complex() {
            true => Literal::Float(element, 0.0),
            false => Literal::Integer(element, 0),
        };
        self.0.with_values(values).map(|made| Self(made.with_fill(zero))).map_err(errors::value)
    }

    /// The same entries, with another value for those that are not stored.
    fn with_fill(&self, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let element = self.0.element().computed();
        let fill = match element.is_float() || element.is_complex() {
            true => Literal::Float(element, value.extract()?),
            false => Literal::Integer(element, value.extract()?),
        };
        // Rounded as an element is.
        let fill = with_element!(element, |T| T::from_literal(fill).and_then(T::literal)).unwrap_or(fill);
        Ok(Self(self.0.clone().with_fill(fill)))
    }

    #[getter]
    fn is_dense(&self) -> bool {
        self.0.format().is_dense()
    }

    /// The shape of a tensor that is dense in the order of its modes.
    #[getter]
    fn plain_shape(&self) -> Option<Vec<usize>> {
        let format = self.0.format();
        let is_plain = format.is_dense() && (format.order < 2 || *format == Format::dense(format.order));
        is_plain.then(|| self.0.shape().to_vec())
    }

    #[getter]
    fn nnz(&self) -> usize {
        self.0.nnz()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.0.storage_bytes()
    }

    /// The values.
    fn values(&self) -> Option<Array> {
        Array::new(&self.0, None)
    }

    /// The positions of a level, if it has some.
    fn positions(&self, level: usize) -> Option<Array> {
        Array::new(&self.0, Some((level, true)))
    }

    /// The coordinates of a level, if it has some.
    fn coordinates(&self, level: usize) -> Option<Array> {
        Array::new(&self.0, Some((level, false)))
    }

    /// The element at an index, as a number of Python's of the same kind, and none where nothing is stored.
    fn get<'py>(&self, py: Python<'py>, index: Vec<usize>) -> PyResult<Option<Bound<'py, PyAny>>> {
        fn get<'py, T: Element>(
            py: Python<'py>,
            tensor: &AnyTensor,
            index: &[usize],
        ) -> PyResult<Option<Bound<'py, PyAny>>> {
            tensor.get::<T>(index).map_err(errors::value)?.map(|element| number(py, element)).transpose()
        }
        with_element!(self.0.element(), |T| get::<T>(py, &self.0, &index))
    }

    /// The arrays of each level, as a drawing.
    fn layout(&self) -> String {
        self.0.layout()
    }

    /// The same as a picture.
    fn svg(&self) -> String {
        Drawing::of(&self.0).svg()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}
