//! `.mat`: variables of MATLAB, version 5 of the format, which `save` writes by `-v6` and `-v7` and SciPy by `savemat`.
//!
//! ```text
//! 128 bytes     text, and at their end the version 0x0100 and `IM`, or `MI` where numbers are big-endian
//! elements      u32 type, u32 bytes, data up to a multiple of 8; or u16 bytes, u16 type and up to 4 bytes of data
//!   miCOMPRESSED    another element, compressed by zlib
//!   miMATRIX        elements: flags and class; extents; name; and by class
//!     sparse            rows of entries, where columns begin, values, imaginary parts
//!     numbers           elements, column by column, imaginary parts
//!     struct            the length of names, names, and a miMATRIX for each field
//! ```
//!
//! Sparse matrices and arrays of numbers are tensors; `x.mat:A` names one of several, and `x.mat:Problem.A` a field of a struct. The one sparse
//! matrix among several variables needs no name, as `Problem.A` of the SuiteSparse collection. Files of version 7.3 are HDF5, and not read.
//!
//! Source: MathWorks, MAT-File Format, R2024b.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use flate2::bufread::ZlibDecoder;
use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::ElementType;

use super::compressed::{expanded, within};
use super::contents::Loaded;
use super::entries::shown;
use super::kind::{Asked, Description, Kind};
use super::value::{self, Value};
use super::{Layout, ReadError, ReadErrorKind, contents, npy};
use crate::complex::{c32, c64};
use crate::memory;
use crate::tensor::{Element, Values};
use crate::with_element;

const HEAD: usize = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// Structs nest no deeper.
const DEPTH: usize = 8;

/// The kind of file.
pub(super) struct Mat;

impl Kind for Mat {
    fn begins(&self, head: &[u8]) -> bool {
        order(head).is_ok()
    }

    fn has_head(&self) -> bool {
        false
    }

    fn has_members(&self) -> bool {
        true
    }

    fn unpacked(&self, file: Vec<u8>) -> Result<Vec<u8>, ReadError> {
        // What is wrong with a head is told by who reads it.
        let Ok(is_big) = order(&file) else { return Ok(file) };
        let mut elements = Elements { bytes: &file[HEAD..], is_big };
        let is_compressed = |elements: &Elements<'_>| elements.tag().is_some_and(|(kind, ..)| kind == COMPRESSED);
        // Programs compress all variables or none.
        if !is_compressed(&elements) {
            return Ok(file);
        }
        let mut plain: Vec<u8> = file[..HEAD].to_vec();
        while !elements.bytes.is_empty() {
            if is_compressed(&elements) {
                let Some(data) = decompressed(&mut elements)? else { continue };
                let number = |number: u32| if is_big { number.to_be_bytes() } else { number.to_le_bytes() };
                let length =
                    u32::try_from(data.len()).map_err(|_| corrupt("a variable is larger than its length says"))?;
                memory::try_reserve(&mut plain, data.len() + 16)?;
                plain.extend([number(MATRIX), number(length)].concat());
                plain.extend(data);
                plain.resize(plain.len().next_multiple_of(8), 0);
            } else {
                let all = elements.bytes;
                elements.next()?;
                let taken = &all[..all.len() - elements.bytes.len()];
                memory::try_reserve(&mut plain, taken.len())?;
                plain.extend(taken);
            }
        }
        Ok(plain)
    }

    fn describe(&self, file: &[u8], member: Option<&str>) -> Result<Description, ReadError> {
        let file = File::of(file)?;
        let array = file.chosen(member)?;
        let element = Some(array.element()?);
        let layout = if array.class == SPARSE { Layout::Entries } else { Layout::Dense };
        let what = if array.class == SPARSE { "sparse" } else { "numbers" };
        let all = file.arrays()?.0.iter().map(|array| shown(&array.name)).collect::<Vec<_>>().join(", ");
        let stored = format!("MATLAB variable {}, {what}, of a file with {all}", shown(&array.name));
        Ok(Description { element, computed: element, layout, order: Some(array.shape.len()), fill: None, stored })
    }

    fn read(&self, file: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        let file = File::of(file)?;
        let array = file.chosen(asked.member)?;
        let loaded = if array.class == SPARSE { array.sparse() } else { array.dense() };
        loaded.map_err(|error| {
            let message = format!("the variable `{}`: {}", shown(&array.name), error.message());
            ReadError::new(error.kind(), message)
        })
    }
}

const STRUCT: u8 = 2;
const SPARSE: u8 = 5;
const DOUBLE: u8 = 6;
const SINGLE: u8 = 7;

/// The element types of the classes from `DOUBLE` on.
const CLASSES: [ElementType; 10] = [
    ElementType::F64,
    ElementType::F32,
    ElementType::I8,
    ElementType::U8,
    ElementType::I16,
    ElementType::U16,
    ElementType::I32,
    ElementType::U32,
    ElementType::I64,
    ElementType::U64,
];

/// The element types of numbers in an element.
const NUMBERS: [(u32, ElementType); 10] = [
    (1, ElementType::I8),
    (2, ElementType::U8),
    (3, ElementType::I16),
    (4, ElementType::U16),
    (5, ElementType::I32),
    (6, ElementType::U32),
    (7, ElementType::F32),
    (9, ElementType::F64),
    (12, ElementType::I64),
    (13, ElementType::U64),
];

fn corrupt(message: impl Into<String>) -> ReadError {
    ReadError::new(ReadErrorKind::Corrupt, message)
}

fn unsupported(message: impl Into<String>) -> ReadError {
    ReadError::new(ReadErrorKind::NotSupported, message)
}

/// Whether numbers are big-endian, by the head of a file.
fn order(file: &[u8]) -> Result<bool, ReadError> {
    if file.starts_with(b"MATLAB 7.3") {
        return Err(unsupported("a file of MATLAB 7.3 is HDF5, which is not read: save it by `save -v7`"));
    }
    match file.get(HEAD - 4..HEAD) {
        Some([0, 1, b'I', b'M']) => Ok(false),
        Some([1, 0, b'M', b'I']) => Ok(true),
        _ => Err(ReadError::new(ReadErrorKind::Header, "the file has no head of MATLAB 5: save it by `save -v7`")),
    }
}

/// The variables, decompressed.
struct File<'file> {
    is_big: bool,
    /// The contents of each `miMATRIX`.
    variables: Vec<Cow<'file, [u8]>>,
}

/// The elements that follow one another.
struct Elements<'a> {
    bytes: &'a [u8],
    is_big: bool,
}

/// An element: its type, and its data.
type Part<'a> = (u32, &'a [u8]);

impl<'a> Elements<'a> {
    fn u32(&self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..at + 4)?.first_chunk()?;
        Some(if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// The type and the length of the next element, and where its data begin.
    fn tag(&self) -> Option<(u32, usize, usize)> {
        let first = self.u32(0)?;
        match first >> 16 {
            0 => Some((first, self.u32(4)? as usize, 8)),
            length => Some((first & 0xffff, length as usize, 4)),
        }
    }

    fn next(&mut self) -> Result<Part<'a>, ReadError> {
        let cut_short = || corrupt("the file is cut short or damaged: get it again");
        let (kind, length, start) = self.tag().ok_or_else(cut_short)?;
        if start == 4 && length > 4 {
            return Err(cut_short());
        }
        let data = self.bytes.get(start..).and_then(|rest| rest.get(..length)).ok_or_else(cut_short)?;
        // The last one of a compressed variable need not be filled up.
        let end = if start == 4 { 8 } else { (start + length).next_multiple_of(8) };
        self.bytes = self.bytes.get(end..).unwrap_or_default();
        Ok((kind, data))
    }

    /// Whole numbers of an element.
    fn whole(&mut self) -> Result<Vec<u64>, ReadError> {
        let values = numbers(self.next()?, self.is_big)?;
        let wide = value::retyped(values, ElementType::U64)?;
        Ok(wide.into_buffer::<u64>().unwrap_or_default().into_vec())
    }
}

/// The numbers in an element, of the type that it has.
fn numbers((kind, data): Part<'_>, is_big: bool) -> Result<Values, ReadError> {
    let element = NUMBERS.into_iter().find(|(number, _)| *number == kind).map(|(_, element)| element);
    let element = element.ok_or_else(|| unsupported(format!("numbers of type {kind} are not understood")))?;
    if !data.len().is_multiple_of(element.bytes()) {
        return Err(corrupt(format!("{} bytes are no numbers of type {element}", data.len())));
    }
    npy::values_of(data, element, is_big)
}

impl<'file> File<'file> {
    fn of(file: &'file [u8]) -> Result<Self, ReadError> {
        let is_big = order(file)?;
        let mut elements = Elements { bytes: &file[HEAD..], is_big };
        let mut variables = Vec::new();
        while !elements.bytes.is_empty() {
            if elements.tag().is_some_and(|(kind, ..)| kind == COMPRESSED) {
                variables.extend(decompressed(&mut elements)?.map(Cow::Owned));
                continue;
            }
            match elements.next()? {
                (MATRIX, data) => variables.push(Cow::Borrowed(data)),
                (kind, _) => return Err(unsupported(format!("an element of type {kind} is not understood"))),
            }
        }
        Ok(Self { is_big, variables })
    }

    /// The tensors among the variables, and the names of what is none.
    fn arrays(&self) -> Result<(Vec<Array<'_>>, Vec<String>), ReadError> {
        let (mut arrays, mut others) = (Vec::new(), Vec::new());
        for variable in &self.variables {
            let elements = Elements { bytes: variable, is_big: self.is_big };
            visit(elements, None, DEPTH, &mut |array| match array {
                Ok(array) => arrays.push(array),
                Err(name) => others.push(name),
            })?;
        }
        Ok((arrays, others))
    }

    /// The tensor of a name, or the only one.
    fn chosen(&self, member: Option<&str>) -> Result<Array<'_>, ReadError> {
        let (mut arrays, others) = self.arrays()?;
        let names = |arrays: &[Array<'_>]| arrays.iter().map(|array| shown(&array.name)).collect::<Vec<_>>().join(", ");
        if let Some(member) = member {
            if let Some(place) = arrays.iter().position(|array| array.name == member) {
                return Ok(arrays.swap_remove(place));
            }
            let similar = suggest::similar(member, arrays.iter().map(|array| array.name.as_str()));
            let hint = match similar {
                Some(similar) => format!("did you mean `{}`?", shown(similar)),
                None if others.iter().any(|other| other == member) => "it is neither sparse nor numbers".to_owned(),
                None => format!("its tensors are {}", names(&arrays)),
            };
            return Err(unsupported(format!("the file has no tensor `{}`: {hint}", shown(member))));
        }
        let sparse: Vec<usize> = (0..arrays.len()).filter(|&place| arrays[place].class == SPARSE).collect();
        match (arrays.len(), &sparse[..]) {
            (_, &[place]) => Ok(arrays.swap_remove(place)),
            (1, _) => Ok(arrays.swap_remove(0)),
            (0, _) => Err(unsupported("the file has neither a sparse matrix nor an array of numbers")),
            _ => {
                let first = shown(&arrays[sparse.first().copied().unwrap_or(0)].name);
                let names = names(&arrays);
                Err(unsupported(format!("the file has several tensors, {names}: `FILE.mat:{first}` names one of them")))
            }
        }
    }
}

/// The contents of the variable in the next element, which is compressed; nothing where that is no variable.
fn decompressed(elements: &mut Elements<'_>) -> Result<Option<Vec<u8>>, ReadError> {
    let damaged = |error: std::io::Error| corrupt(format!("compressed data are damaged ({error}): get the file again"));
    let (_, length, start) = elements.tag().unwrap_or_default();
    let data = elements.bytes.get(start..).and_then(|rest| rest.get(..length));
    let data = data.ok_or_else(|| corrupt("the file is cut short: get it again"))?;
    // These are not filled up to a multiple of 8.
    elements.bytes = &elements.bytes[start + length..];
    let mut decoder = ZlibDecoder::new(data);
    let mut tag = [0; 8];
    decoder.read_exact(&mut tag).map_err(damaged)?;
    let inner = Elements { bytes: &tag, is_big: elements.is_big };
    let Some((MATRIX, length, 8)) = inner.tag() else { return Ok(None) };
    // Deflate makes at most 1032 bytes of one.
    if length as u64 > (data.len() as u64).saturating_mul(1032) {
        return Err(corrupt(format!("a variable can't have {length} bytes: get the file again")));
    }
    let mut bytes = memory::try_room(length + 1)?;
    decoder.take(length as u64 + 1).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() < length {
        return Err(corrupt("a variable is cut short: get the file again"));
    }
    Ok(Some(bytes))
}

/// A sparse matrix, or an array of numbers.
struct Array<'a> {
    name: String,
    class: u8,
    is_complex: bool,
    is_logical: bool,
    shape: Vec<usize>,
    data: Elements<'a>,
}

/// Takes the tensors in a variable, whose elements follow, and the names of what is none.
fn visit<'a>(
    mut elements: Elements<'a>,
    path: Option<&str>,
    depth: usize,
    take: &mut dyn FnMut(Result<Array<'a>, String>),
) -> Result<(), ReadError> {
    // Of nothing, as a field that was never set.
    if elements.bytes.is_empty() {
        return Ok(());
    }
    let is_big = elements.is_big;
    let (_, flags) = elements.next()?;
    let flags = Elements { bytes: flags, is_big }.u32(0).ok_or_else(|| corrupt("a variable has no class"))?;
    let (class, flags) = (flags as u8, (flags >> 8) as u8);
    let extents = elements.whole()?;
    let shape = extents.iter().map(|&extent| extent as usize).collect::<Vec<_>>();
    let (_, name) = elements.next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    let name = path.map_or_else(|| name, str::to_owned);
    let is_number = (DOUBLE..DOUBLE + CLASSES.len() as u8).contains(&class);
    if is_number || class == SPARSE {
        let (is_complex, is_logical) = (flags & 8 != 0, flags & 2 != 0);
        take(Ok(Array { name, class, is_complex, is_logical, shape, data: elements }));
        return Ok(());
    }
    let is_one = shape.iter().all(|&extent| extent == 1);
    if class != STRUCT || !is_one || depth == 0 {
        take(Err(name));
        return Ok(());
    }
    let length = elements.whole()?.first().map_or(0, |&length| length as usize);
    let (_, names) = elements.next()?;
    for field in names.chunks(length.max(1)) {
        let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
        let path = format!("{name}.{}", String::from_utf8_lossy(&field[..end]));
        let (_, data) = elements.next()?;
        visit(Elements { bytes: data, is_big }, Some(&path), depth - 1, take)?;
    }
    Ok(())
}

impl Array<'_> {
    /// The element type of the tensor.
    fn element(&self) -> Result<ElementType, ReadError> {
        let real = match self.class {
            _ if self.is_logical => ElementType::Bool,
            SPARSE => ElementType::F64,
            class => CLASSES[usize::from(class - DOUBLE)],
        };
        match (self.is_complex, real) {
            (false, real) => Ok(real),
            (true, ElementType::F64) => Ok(ElementType::C64),
            (true, ElementType::F32) if self.class == SINGLE => Ok(ElementType::C32),
            (true, real) => {
                Err(unsupported(format!("the variable `{}` has complex numbers of {real}", shown(&self.name))))
            }
        }
    }

    /// The next numbers with their imaginary parts, up to a count.
    fn values(&self, elements: &mut Elements<'_>, count: Option<usize>) -> Result<Values, ReadError> {
        fn complex<T: Element>(re: Values, im: Values, of: fn(f64, f64) -> T) -> Result<Values, ReadError> {
            let [re, im] = [re, im].map(|part| value::retyped(part, ElementType::F64));
            let (re, im) = (re?.into_buffer::<f64>().unwrap_or_default(), im?.into_buffer::<f64>().unwrap_or_default());
            if re.len() != im.len() {
                return Err(corrupt(format!("there are {} real and {} imaginary parts", re.len(), im.len())));
            }
            Ok(T::wrap(memory::try_collected(re.iter().zip(im.iter()).map(|(&re, &im)| of(re, im)))?))
        }
        let element = self.element()?;
        let mut next = || {
            let values = numbers(elements.next()?, elements.is_big)?;
            match count {
                // Room for more entries may have been saved too.
                Some(count) => first(values, count),
                None => Ok(values),
            }
        };
        let re = next()?;
        match element {
            ElementType::C64 => complex(re, next()?, c64::new),
            ElementType::C32 => complex(re, next()?, |re, im| c32::new(re as f32, im as f32)),
            element => value::retyped(re, element),
        }
    }

    fn sparse(&self) -> Result<Loaded, ReadError> {
        let [rows, columns] = self.shape[..] else { return Err(corrupt("a sparse matrix has two extents")) };
        let mut elements = Elements { ..self.data };
        let (mut inner, pointers) = (elements.whole()?, elements.whole()?);
        let outer = expanded("the list of where columns begin", &pointers, columns, inner.len())?;
        inner.truncate(outer.len());
        let values = self.values(&mut elements, Some(outer.len()))?;
        let indices = vec![within(inner, 0, rows)?, within(outer, 1, columns)?];
        Ok(Loaded::entries(vec![rows, columns], indices, values))
    }

    fn dense(&self) -> Result<Loaded, ReadError> {
        let values = self.values(&mut Elements { ..self.data }, None)?;
        let count = self.shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
        if count != Some(values.len()) {
            return Err(corrupt(format!("there are {} numbers for the shape {:?}", values.len(), self.shape)));
        }
        let values = npy::by_rows(&self.shape, &values)?;
        contents::dense(self.shape.clone(), values).map(Loaded::Tensor)
    }
}

/// The first of some values.
fn first(values: Values, count: usize) -> Result<Values, ReadError> {
    fn of<T: Value>(values: Values, range: Range<usize>) -> Option<Values> {
        let mut values = values.into_buffer::<T>()?.into_vec();
        values.truncate(range.end);
        Some(T::wrap(values))
    }
    if values.len() < count {
        return Err(corrupt(format!("there are {count} entries and {} values", values.len())));
    }
    let element = values.element();
    let first = with_element!(element, |T| of::<T>(values, 0..count));
    first.ok_or_else(|| corrupt("the values are of another type"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{FileType, TensorFile, Value};
    use crate::tensor::Coordinates;

    fn of<T: Value>(file: &[u8], member: Option<&str>) -> Result<Coordinates<T>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.mat");
        std::fs::write(&path, file).unwrap();
        let name = member.map_or_else(|| path.clone(), |member| folder.path().join(format!("x.mat:{member}")));
        let read = TensorFile::begin(name, &crate::io::ReadOptions::default()).and_then(|file| file.contents::<T>());
        let read = read.and_then(|contents| contents.into_coordinates());
        read.map_err(|error| error.message().to_owned())
    }

    fn sum(x: &Coordinates<f64>) -> f64 {
        x.values.iter().sum()
    }

    /// Files that `scipy.io.savemat` of SciPy 1.17.1 wrote: a sparse `A` of 7 × 5 with 14 entries whose sum is 7.397, by itself and not compressed,
    /// with `B`, which is 0 to 5 in two rows, and as a field of a struct.
    const ONE: &[u8] = include_bytes!("tests/scipy/one.mat");
    const TWO: &[u8] = include_bytes!("tests/scipy/two.mat");
    const PROBLEM: &[u8] = include_bytes!("tests/scipy/problem.mat");

    #[test]
    fn files_of_scipy_have_their_shape_count_and_sum() {
        for (file, member) in
            [(ONE, None), (TWO, None), (TWO, Some("A")), (PROBLEM, None), (PROBLEM, Some("Problem.A"))]
        {
            let x = of::<f64>(file, member).unwrap();
            assert_eq!((x.shape.as_slice(), x.values.len()), (&[7, 5][..], 14), "{member:?}");
            assert!((sum(&x) - 7.397).abs() < 1e-12);
            assert_eq!([x.indices[0].at(13), x.indices[1].at(13)], [6, 4]);
        }
        let dense = of::<f64>(TWO, Some("B")).unwrap();
        assert_eq!((dense.shape, dense.values), (vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0]));
        let complex = of::<c64>(include_bytes!("tests/scipy/complex.mat"), None).unwrap();
        assert_eq!(complex.values, [c64::new(3.0, 0.0), c64::new(1.0, 2.0)]);
        let logical = of::<bool>(include_bytes!("tests/scipy/logical.mat"), None).unwrap();
        assert_eq!(logical.values, [true, true]);
        let whole = of::<i64>(include_bytes!("tests/scipy/int64.mat"), None).unwrap();
        assert_eq!(whole.values, [1, 2, 3, 9_007_199_254_740_993]);
    }

    #[test]
    fn elements_have_the_type_of_their_class() {
        let element = |file: &[u8]| {
            let file = TensorFile::of_bytes(FileType::Mat, file.to_vec());
            file.element().unwrap().unwrap()
        };
        assert_eq!(element(ONE), ElementType::F64);
        assert_eq!(element(include_bytes!("tests/scipy/complex.mat")), ElementType::C64);
        assert_eq!(element(include_bytes!("tests/scipy/logical.mat")), ElementType::Bool);
        assert_eq!(element(include_bytes!("tests/scipy/int64.mat")), ElementType::I64);
    }

    #[test]
    fn damage_is_refused_and_names_are_suggested() {
        assert_eq!(
            of::<f64>(PROBLEM, Some("Problem.B")).unwrap_err(),
            "the file has no tensor `Problem.B`: did you mean `Problem.A`?"
        );
        assert_eq!(
            of::<f64>(PROBLEM, Some("Problem.name")).unwrap_err(),
            "the file has no tensor `Problem.name`: it is neither sparse nor numbers"
        );
        assert!(of::<f64>(b"MATLAB 7.3 MAT-file, ...", None).unwrap_err().contains("save -v7"));
        for file in [ONE, TWO, PROBLEM] {
            for length in 0..file.len() {
                _ = of_bytes(&file[..length]);
            }
            for place in HEAD..file.len() {
                for change in [1, 0x80, 0xff] {
                    let mut changed = file.to_vec();
                    changed[place] ^= change;
                    _ = of_bytes(&changed);
                }
            }
        }
        // What is not compressed says how long it is.
        assert!((HEAD..ONE.len()).all(|length| of_bytes(&ONE[..length]).is_err()));
    }

    fn of_bytes(file: &[u8]) -> Result<contents::Contents<f64>, ReadError> {
        TensorFile::of_bytes(FileType::Mat, file.to_vec()).contents::<f64>()
    }
}
