//! `.tns`: the text format of FROSTT, an entry a line.
//!
//! ```text
//! # a comment
//! 1 3 2  5.0
//! 2 1 1  -0.5
//! ```
//!
//! Each line has the indices of an entry, from 1, and its value, separated by blanks or tabs. `#` starts a comment,
//! blank lines are skipped. The first line says the order, and the largest indices are the shape unless the caller states one, or
//! a comment at the start:
//!
//! ```text
//! # shape: 10 20 30
//! # fill: inf
//! # element: f32
//! ```
//!
//! Other programs read over these lines; what is written here begins with the shape, with the fill value where it is not
//! zero, and with the element type where it is not `f64`. No index may be beyond a shape that is stated. Where no fill value is,
//! missing entries are what the reader takes them for.
//!
//! A dense `tensor` of the Tensor Toolbox and pyttb is read, too. The headers of ParTI, HiCOO, MLIR, the Tensor Toolbox, pyttb and GenTen are read: a shape, and how many entries there are. Indices count from 0 where the caller says
//! so, and may be written as `1e3`.
//!
//! A complex number is two values, the real part and the imaginary part. A file that states neither its element type nor its shape
//! does not tell them from indices: what reads it as `c32` or `c64` expects them, and what reads it as another element type does not.
//!
//! Source: S. Smith et al., FROSTT: The Formidable Repository of Open Sparse Tensors and Tools, 2017.

use std::io::Read;
use std::sync::OnceLock;

use spc_compiler::ir::ElementType;

use super::contents::{Contents, Filled, Loaded};
use super::entries::{self, Base, Entries, LARGEST_INDEX, Layout, Values, quote};
use super::kind::{Asked, Description, Kind, Text, Writer};
use super::stated::{At, Stated};
pub(super) use super::tns_header::COMMENT;
use super::tns_header::{dense, header};
use super::value::{self, Carrier, Value};
use super::{ReadError, ReadErrorKind, contents, npy};
use crate::memory;
use crate::tensor::{Coordinates, Indices};
use crate::with_element;

/// What is added where the second line has another number of fields than the first.
pub(super) const HEADER_HINT: &str = "; if the first line is a header, remove it";

/// More modes than any tensor has; a line with more fields is no entry.
const LARGEST_ORDER: usize = 255;

/// Some editors put this before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads `.tns` text, which is [what a file holds](self); `shape` states the extents if they are known.
///
/// # Errors
///
/// [`ReadError`] with line and column of the first thing in the text that is wrong; or without, if there is no entry and
/// no stated shape, or if the text states a fill value other than zero.
pub fn parse<T: Value>(text: &[u8], shape: Option<&[usize]>) -> Result<Coordinates<T>, ReadError> {
    let asked = Asked { element: T::TYPE, shape, from_zero: false, member: None };
    let filled = parse_in_chunks::<T::Carrier>(text, &asked, entries::chunk_bytes(text))?;
    Contents::Entries(filled).of_carriers::<T>()?.into_coordinates()
}

/// As [`parse`], with chunks of about `chunk_bytes`.
pub(super) fn parse_in_chunks<T: Carrier>(
    text: &[u8],
    asked: &Asked<'_>,
    chunk_bytes: usize,
) -> Result<Filled<T>, ReadError> {
    let mut start = start::<T>(text, asked, chunk_bytes)?;
    let Entries { indices, largest, values, fault } = entries::parse(text, start.begin, &start.layout)?;
    start.count.add(text, start.begin, values.len())?;
    if let Some(fault) = fault {
        let after_one_line = fault.kind == ReadErrorKind::FieldCount && values.len() == 1;
        let error = fault.in_text(text);
        return Err(if after_one_line { error.with_hint(HEADER_HINT) } else { error });
    }
    start.count.finish()?;
    let Start { shape, fill, .. } = start;
    Ok(Filled { entries: coordinates(indices, &largest, values, shape), fill })
}

/// The kind of file.
pub(super) struct Tns;

impl Kind for Tns {
    fn begins(&self, head: &[u8]) -> bool {
        if matches!(dense(head, begin(head)), Ok(Some(_))) {
            return true;
        }
        match header(head, begin(head)) {
            Ok(None) => {}
            Ok(Some(_)) => return true,
            // Another object of the Tensor Toolbox.
            Err(_) => return false,
        }
        let mut lines = entries::lines_of(head, COMMENT).take(PROBED);
        let first = lines.next().filter(|fields| fields.len() >= 2);
        let is_index = |field: &&[u8]| field.iter().all(u8::is_ascii_digit) && **field != *b"0";
        first.is_some_and(|first| {
            let (values, indices) = (first.len() - 1, first.len());
            let is_entry = |fields: &Vec<&[u8]>| {
                fields.len() == indices
                    && fields[..values].iter().all(is_index)
                    && value::parse::<f64>(fields[values], ElementType::F64).is_ok()
            };
            is_entry(&first) && lines.all(|fields| is_entry(&fields))
        })
    }

    fn text(&self) -> Option<Text> {
        Some(Text::Tns)
    }

    fn describe(&self, head: &[u8], _member: Option<&str>) -> Result<Description, ReadError> {
        if let Some((shape, _)) = dense(head, begin(head))? {
            let (order, stored) = (Some(shape.len()), "a dense `tensor` of the Tensor Toolbox or pyttb".to_owned());
            let layout = super::Layout::Dense;
            return Ok(Description { element: None, computed: None, layout, order, fill: None, stored });
        }
        let stated = Stated::of(head, begin(head), COMMENT)?;
        let header = header(head, begin(head))?;
        let element = stated.element.as_ref().map(|element| element.what);
        let values = if element.is_some_and(ElementType::is_complex) { Values::Complex } else { Values::Real };
        let first = || entries::first_entry(head, begin(head), COMMENT)?.1.len().checked_sub(values.fields());
        let fill = stated.fill_text().map(str::to_owned);
        let stored = match &header {
            Some(header) => format!("FROSTT text with the header of {}", header.name),
            None => "FROSTT text".to_owned(),
        };
        let shape = stated.shape.map(|shape| shape.what).or_else(|| header.map(|header| header.shape));
        let order = shape.map(|shape| shape.len()).or_else(first);
        Ok(Description { element, computed: element, layout: super::Layout::Entries, order, fill, stored })
    }

    fn read(&self, text: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        fn of<T: Value>(text: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
            if let Some((shape, body)) = dense(text, begin(text))? {
                return elements::<T::Carrier>(text, body, shape, asked.element);
            }
            let chunk = entries::chunk_bytes(text);
            let filled = parse_in_chunks::<T::Carrier>(text, asked, chunk)?;
            Ok(Contents::Entries(filled).of_carriers::<T>()?.into())
        }
        with_element!(asked.element, |T| of::<T>(text, asked))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&Text::Tns)
    }
}

/// The elements of a dense tensor from a byte on, the index of the first mode running fastest.
fn elements<C: Carrier>(
    text: &[u8],
    body: usize,
    shape: Vec<usize>,
    element: ElementType,
) -> Result<Loaded, ReadError> {
    let count = shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
    let mut values: Vec<C> = memory::try_room(count.unwrap_or(usize::MAX).min(text.len() / 2 + 1))?;
    let fields = text[body..].split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    for field in fields {
        let offset = field.as_ptr() as usize - text.as_ptr() as usize;
        let value = value::parse(field, element).map_err(|_| {
            let message = format!("value {} is none that {element} holds: read it as another type", quote(field));
            ReadError::new(ReadErrorKind::Value, message).at(text, offset)
        })?;
        values.push(value);
    }
    if count != Some(values.len()) {
        let message = format!(
            "{} elements, where the extents are {shape:?}: the file is cut short, or they are wrong",
            values.len()
        );
        return Err(ReadError::new(ReadErrorKind::Entries, message));
    }
    let values = npy::by_rows(&shape, &value::uncarried(values, element)?)?;
    contents::dense(shape, values).map(Loaded::Tensor)
}

/// So many lines are looked at to tell the kind of a file.
const PROBED: usize = 20;

/// As [`parse`], of text that comes in blocks of about `block` bytes; None where anything is wrong with it.
pub(super) fn read_blocks<T: Value>(text: &mut (dyn Read + Send), asked: &Asked<'_>, block: usize) -> Option<Loaded> {
    let filled = parse_blocks::<T::Carrier>(text, asked, block)?;
    Some(Contents::Entries(filled).of_carriers::<T>().ok()?.into())
}

/// As [`parse`], of text that comes in blocks of about `block` bytes; None where anything is wrong with it.
pub(super) fn parse_blocks<T: Carrier>(
    text: &mut (dyn Read + Send),
    asked: &Asked<'_>,
    block: usize,
) -> Option<Filled<T>> {
    let stated = OnceLock::new();
    let layout_of = |text: &[u8]| {
        entries::first_entry(text, 0, COMMENT)?;
        let Start { begin, layout, shape, fill, count } = start::<T>(text, asked, block).ok()?;
        stated.set((shape, fill, count)).ok()?;
        Some((begin, layout))
    };
    let Entries { indices, largest, values, .. } = entries::parse_blocks(text, block, &layout_of)?;
    let (shape, fill, mut count) = stated.into_inner()?;
    // A number alone is a scalar where no line follows, which the first block does not tell.
    if shape.is_none() && indices.is_empty() && values.len() > 1 {
        return None;
    }
    count.add(&[], 0, values.len()).and_then(|()| count.finish()).ok()?;
    Some(Filled { entries: coordinates(indices, &largest, values, shape), fill })
}

/// How the lines of a text are to be read, and what it states.
pub(super) struct Start<T> {
    /// Where the first line begins.
    pub(super) begin: usize,
    pub(super) layout: Layout,
    /// As the caller or the text states it.
    pub(super) shape: Option<Vec<usize>>,
    pub(super) fill: Option<T>,
    pub(super) count: Count,
}

/// How many entries have come, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) found: u64,
    pub(super) stated: Option<u64>,
    /// The text up to the end of the header that states it.
    head: Vec<u8>,
    offset: usize,
}

impl Count {
    /// So many more have come, of a text from a byte on.
    pub(super) fn add(&mut self, text: &[u8], start: usize, entries: usize) -> Result<(), ReadError> {
        let left = self.stated.map_or(u64::MAX, |stated| stated.saturating_sub(self.found));
        self.found += entries as u64;
        if entries as u64 <= left {
            return Ok(());
        }
        let stated = self.stated.unwrap_or_default();
        let message = format!("more entries than the {stated} that the header states: correct the header");
        let offset = entries::offset_of_entry(text, start, COMMENT, left as usize);
        Err(ReadError::new(ReadErrorKind::Entries, message).at(text, offset))
    }

    /// Whether all have come.
    pub(super) fn finish(&self) -> Result<(), ReadError> {
        match (self.found, self.stated) {
            (found, Some(stated)) if found < stated => {
                let message =
                    format!("only {found} of {stated} entries: the file is cut short, or the header is wrong");
                Err(ReadError::new(ReadErrorKind::Entries, message).at(&self.head, self.offset))
            }
            _ => Ok(()),
        }
    }
}

fn begin(text: &[u8]) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

pub(super) fn start<T: Carrier>(text: &[u8], asked: &Asked<'_>, chunk_bytes: usize) -> Result<Start<T>, ReadError> {
    let Asked { element, shape, from_zero, .. } = *asked;
    let mut begin = begin(text);
    let mut stated = Stated::of(text, begin, COMMENT)?;
    let fill = stated.fill(text, element)?;
    let mut count = Count::default();
    if let Some(header) = header(text, begin)? {
        begin = header.body;
        let (head, offset) = (text[..begin].to_vec(), header.offset);
        count = Count { found: 0, stated: header.entries, head, offset };
        if stated.shape.as_ref().is_some_and(|stated| stated.what != header.shape) {
            let message = "the extents are not those of the line `# shape:`: correct the one or the other";
            return Err(ReadError::new(ReadErrorKind::Header, message).at(text, offset));
        }
        stated.shape = Some(At { what: header.shape, offset });
    }
    let asked = |stated: &At<Vec<usize>>| {
        let fail = |error: ReadError| error.at(text, stated.offset);
        super::contents::same_shape(&stated.what, shape).map_err(fail)
    };
    stated.shape.as_ref().map_or(Ok(()), asked)?;
    let by_file = stated.shape.is_some();
    let shape = stated.shape.map(|shape| shape.what).or_else(|| shape.map(<[usize]>::to_vec));
    let first = entries::first_entry(text, begin, COMMENT);
    let said = stated.element.as_ref().map(|stated| stated.what);
    let known = said.map(ElementType::is_complex);
    if let (Some(true), Some(stated), false) = (known, &stated.element, T::COMPLEX) {
        let message = format!("the values are complex, which {element} is not: read them as c32 or c64");
        return Err(ReadError::new(ReadErrorKind::NotSupported, message).at(text, stated.offset));
    }
    // Lines of a known number of indices tell whether one value follows them or two.
    let alone =
        || first.as_ref().zip(shape.as_ref()).is_some_and(|((_, fields), shape)| fields.len() == shape.len() + 1);
    let complex = T::COMPLEX && known.unwrap_or_else(|| !alone());
    let values = if complex { Values::Complex } else { Values::Real };
    let order = match (first, &shape) {
        (Some((offset, fields)), None) if fields.len() == values.fields() && is_last(text, offset) => 0,
        (Some((offset, fields)), _) => {
            order(&fields, values, shape.as_deref(), by_file).map_err(|error| error.at(text, offset))?
        }
        (None, Some(shape)) => shape.len(),
        (None, None) => return Err(without_entries()),
    };
    let limits = match &shape {
        Some(shape) => shape.iter().map(|&extent| extent as u64).collect(),
        None => vec![LARGEST_INDEX; order],
    };
    let larger = match (by_file, count.head.is_empty()) {
        (true, true) => "correct the line `# shape:`",
        (true, false) => "correct the header",
        (false, _) => "state a larger shape",
    };
    let larger = shape.is_some().then_some(larger);
    let (stated, exact) = entries::precision(element, said);
    let base = if from_zero { Base::Zero } else { Base::OneOr("`--base 0` counts them from 0") };
    let layout = Layout { element, stated, exact, limits, larger, base, values, comment: COMMENT, chunk_bytes };
    Ok(Start { begin, layout, shape, fill, count })
}

fn coordinates<T>(indices: Vec<Indices>, largest: &[u64], values: Vec<T>, shape: Option<Vec<usize>>) -> Coordinates<T> {
    let shape_is_stated = shape.is_some();
    let shape = shape.unwrap_or_else(|| largest.iter().map(|&index| index as usize).collect());
    Coordinates { shape, shape_is_stated, indices, values }
}

/// Whether nothing but comments follows the line that begins at a byte.
fn is_last(text: &[u8], offset: usize) -> bool {
    entries::offset_of_entry(text, offset, COMMENT, 1) == text.len()
}

/// The order that the first line has.
fn order(fields: &[&[u8]], values: Values, shape: Option<&[usize]>, by_file: bool) -> Result<usize, ReadError> {
    let refuse = |message| Err(ReadError::new(ReadErrorKind::FieldCount, message));
    let Some(order) = fields.len().checked_sub(values.fields()) else {
        return refuse(format!("{} alone: of a complex number, both parts stand in a line", quote(fields[0])));
    };
    match shape {
        Some(shape) if shape.len() != order && by_file => refuse(format!(
            "{} fields, where the line `# shape:` states {} modes and so {} fields: correct the one or the other",
            fields.len(),
            shape.len(),
            shape.len() + values.fields()
        )),
        Some(shape) if shape.len() != order => refuse(format!(
            "{} fields, where the stated shape has order {} and so {}: state an extent for each mode",
            fields.len(),
            shape.len(),
            shape.len() + values.fields()
        )),
        None if order == 0 => refuse(format!(
            "{} alone: a line has at least one index and a value; if it is a header, remove it",
            quote(fields[0])
        )),
        _ if order > LARGEST_ORDER => {
            refuse(format!("{} fields: at most {LARGEST_ORDER} indices and a value are supported", fields.len()))
        }
        _ => Ok(order),
    }
}

fn without_entries() -> ReadError {
    let message = "there is no entry, so the order cannot be known: state the shape";
    ReadError::new(ReadErrorKind::Shape, message)
}
