//! Results that ranks write to one file together: each formats its part and writes it to its range of bytes. No rank has a whole result.
//!
//! ```text
//! rank 0   # shape: 4 3 \n 1 1 0.5 \n 1 2 2 \n      a part of the rows, or of the entries by index, ascending
//! rank 1   2 3 1 \n 3 1 4 \n
//! rank 2   4 2 -1 \n                                each begins where the ranks before it end
//! ```
//!
//! The bytes are those that one rank writes of the gathered result. They go to a temporary file, which takes its name when all have written;
//! when one can't, all say so, and what was there before still is.

use super::DistributeError;
use super::communicator::{CommunicationError, Communicator};
use super::dense_rows::row_bytes;
use super::held::{Held, Part};
use super::listed::{Listed, has_entries_alone, values_of};
use super::message::{message, number, numbers, put};
use super::placement::cut;
use super::plan::Plan;
use super::problem::Problem;
use super::redistribute::in_stored_order;
use crate::complex::c64;
use crate::io::{Begun, FileType, Head, Piece, Pieces, WriteError};
use crate::tensor::{Indices, PackError, StoredOrder, Values};
use spc_compiler::format::Format;
use spc_compiler::ir::ElementType;
use spc_compiler::notation::Tensor;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that a result is to be written to, not compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    /// The result.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Of which kind it is.
    pub file_type: FileType,
}

/// A result that ranks have written together: what they know of it, on each of them.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// Its extents.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub element: ElementType,
    /// Its format.
    pub format: Format,
    /// How many entries are stored.
    pub stored: usize,
    /// The indices of the first of them, in the order in which they are stored: five, or as many as there are.
    pub first: Vec<Vec<usize>>,
    /// Their values.
    pub first_values: Values,
    /// The sum of all, which was added up rank by rank; its imaginary part is zero unless the elements are complex.
    pub sum: c64,
}

/// How many entries are told of each result.
const FIRST: usize = 5;

impl Problem {
    /// Writes results to files, each rank its part, and gives what it has written, and the part without it, which
    /// [`gather`](Problem::gather) takes. All ranks call it with the same files.
    ///
    /// A file is the same, byte by byte, as what [`write_tensor`](crate::io::write_tensor) writes of the gathered result. Written are `.tns` and `.mtx` files
    /// of results that are dense, row by row, or that store the entries alone (`csr`, `coo`, `csf`); and `.npy` files of dense ones. All others are
    /// left in the part: those that each rank has as a whole, those for which one of several files is of another kind or no regular file, and
    /// those whose folder some rank can't write to, as where ranks have no file system in common.
    ///
    /// # Errors
    /// On all ranks, when one can't write, or the kind of file can't hold the result: then the file is what it was before. When another rank has
    /// stopped.
    pub fn write(
        &self,
        plan: &Plan,
        mut part: Part,
        files: &[ResultFile],
        ranks: &dyn Communicator,
    ) -> Result<(Part, Vec<Written>), DistributeError> {
        let mut written = Vec::new();
        let mut left = Vec::new();
        for (place, held) in std::mem::take(&mut part.results) {
            let declared = &self.kernel.tensors[place];
            let shape = self.shape(&declared.name);
            let files: Vec<&ResultFile> = files.iter().filter(|file| file.name == declared.name).collect();
            let comes_in_parts = matches!(held, Held::Rows(_) | Held::Entries(_))
                && is_plain(declared, shape)
                && files.iter().all(|file| Pieces::of(file.file_type, declared.format.is_dense()));
            if files.is_empty() || !comes_in_parts {
                left.push((place, held));
                continue;
            }
            let own = match held {
                Held::Rows(bytes) => self.elements_of_rows(plan, place, &bytes, ranks)?,
                Held::Entries(listed) if declared.format.is_dense() => self.elements(declared, listed, ranks)?,
                Held::Entries(listed) => entries(declared, listed, ranks)?,
                Held::Elements(..) | Held::Whole(_) => unreachable!("it does not come in parts"),
            };
            let of_result = own.described(declared, shape, ranks)?;
            // Only now, so that a rank that had to stop before leaves no file.
            let shared = files.iter().map(|file| Shared::begin(file, ranks)).collect::<Result<Option<Vec<_>>, _>>()?;
            let Some(shared) = shared else {
                left.push((place, own.held(shape)));
                continue;
            };
            for file in shared {
                file.write(&own, declared, &of_result, ranks)?;
            }
            written.push(of_result);
        }
        part.results = left;
        Ok((part, written))
    }

    /// This rank's elements of a result that ranks have rows of.
    fn elements_of_rows(
        &self,
        plan: &Plan,
        place: usize,
        rows: &[u8],
        ranks: &dyn Communicator,
    ) -> Result<Own, DistributeError> {
        let declared = &self.kernel.tensors[place];
        let shape = self.shape(&declared.name);
        let (mode, index) = plan.cut(place).expect("rows are of an index");
        let (width, size) = (declared.element.bytes(), ranks.size());
        // The elements of one row that follow each other are not cut.
        let run = shape[mode + 1..].iter().product::<usize>();
        let runs = shape[..=mode].iter().product::<usize>();
        let mut messages = vec![Vec::new(); size];
        let owned = plan.rows[index].owned(ranks.rank());
        let (row, mut to) = (row_bytes(shape, (mode, width)), 0);
        for outer in 0..shape[..mode].iter().product() {
            for (number, &coordinate) in owned.iter().enumerate() {
                let place = outer * shape[mode] + coordinate as usize;
                while cut(runs, size, to + 1) <= place {
                    to += 1;
                }
                messages[to].extend_from_slice(&rows[number * row + outer * run * width..][..run * width]);
            }
        }
        let taken = ranks.exchange(messages)?;
        let mut from: Vec<&[u8]> = taken.iter().map(Vec::as_slice).collect();
        let own = cut(runs, size, ranks.rank())..cut(runs, size, ranks.rank() + 1);
        let mut bytes = Vec::with_capacity(own.len() * run * width);
        for place in own.clone() {
            let from = &mut from[plan.rows[index].owner((place % shape[mode]) as u64) as usize];
            let (piece, rest) = from.split_at(run * width);
            bytes.extend_from_slice(piece);
            *from = rest;
        }
        Ok(Own::Elements { from: own.start * run, values: values_of(declared.element, &bytes) })
    }

    /// This rank's elements of a dense result that ranks have elements of, here and there.
    fn elements(&self, declared: &Tensor, listed: Listed, ranks: &dyn Communicator) -> Result<Own, DistributeError> {
        let shape = self.shape(&declared.name);
        let (width, size) = (declared.element.bytes(), ranks.size());
        let total = shape.iter().product();
        let bounds: Vec<usize> = (1..=size).map(|rank| cut(total, size, rank)).collect();
        let mut messages = vec![Vec::new(); size];
        for entry in 0..listed.len() {
            let index = listed.index(entry).zip(shape);
            let place = index.fold(0, |place, (index, extent)| place * extent + index as usize);
            let message = &mut messages[bounds.partition_point(|&end| end <= place)];
            put([place as u64], message);
            message.extend_from_slice(listed.value(entry));
        }
        drop(listed);
        let own = cut(total, size, ranks.rank())..cut(total, size, ranks.rank() + 1);
        let mut bytes = self.begin(declared, own.len());
        for message in ranks.exchange(messages)? {
            for element in message.chunks_exact(8 + width) {
                let (place, value) = element.split_at(8);
                bytes[(number::<u64>(place) as usize - own.start) * width..][..width].copy_from_slice(value);
            }
        }
        Ok(Own::Elements { from: own.start, values: values_of(declared.element, &bytes) })
    }
}

/// This rank's entries of a result, a range of them by index. What a rank has comes out of a tensor, so there is none twice.
fn entries(declared: &Tensor, listed: Listed, ranks: &dyn Communicator) -> Result<Own, DistributeError> {
    let pack = |error| DistributeError::pack(&declared.name, error);
    let placed = in_stored_order(listed, &by_index(declared.format.order), ranks)?.map_err(pack)?;
    let (indices, values) = placed.columns();
    Ok(Own::Entries { indices, values })
}

/// A format that stores entries first mode first, as texts have them.
fn by_index(order: usize) -> Format {
    Format::csf(order)
}

/// Whether what is stored of a result are its elements row by row, or the entries that there are and no others; and each has a key that
/// is not too wide to sort by.
fn is_plain(declared: &Tensor, shape: &[usize]) -> bool {
    let elements = shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
    if declared.format.is_dense() {
        let bytes = elements.and_then(|count| count.checked_mul(declared.element.bytes()));
        return bytes.is_some() && declared.format == Format::dense(shape.len());
    }
    let bits: u32 = shape.iter().map(|&extent| usize::BITS - extent.leading_zeros()).sum();
    has_entries_alone(&declared.format) && bits <= 128
}

/// A rank's part of a result: it comes after those of the ranks before it.
enum Own {
    Elements { from: usize, values: Values },
    Entries { indices: Vec<Indices>, values: Values },
}

impl Own {
    fn piece(&self) -> Piece<'_> {
        match self {
            Own::Elements { from, values } => Piece::Elements(*from, values),
            Own::Entries { indices, values } => Piece::Entries(indices, values),
        }
    }

    fn values(&self) -> &Values {
        let (Own::Elements { values, .. } | Own::Entries { values, .. }) = self;
        values
    }

    /// As what is gathered.
    fn held(self, shape: &[usize]) -> Held {
        match self {
            Own::Elements { values, .. } => Held::Elements(values),
            Own::Entries { indices, values } => Held::Entries(Listed::of_columns(shape.to_vec(), &indices, &values)),
        }
    }

    /// The first entries of this part in the order in which they are stored.
    fn first(&self, declared: &Tensor, shape: &[usize]) -> Result<Listed, PackError> {
        let mut first = Listed::empty(shape.to_vec(), declared.element);
        let (bytes, width) = (self.values().as_bytes(), declared.element.bytes());
        let value = |entry: usize| &bytes[entry * width..][..width];
        match self {
            Own::Elements { from, values } => {
                for element in 0..values.len().min(FIRST.saturating_sub(*from)) {
                    let stride = |mode: usize| shape[mode + 1..].iter().product::<usize>();
                    let index = |mode: usize| ((from + element) / stride(mode) % shape[mode]) as u64;
                    first.push((0..shape.len()).map(index), value(element));
                }
            }
            Own::Entries { indices, values } => {
                for entry in first_stored(&declared.format, shape, indices, values.len())? {
                    first.push(indices.iter().map(|mode| mode.at(entry)), value(entry));
                }
            }
        }
        Ok(first)
    }

    /// What all ranks know of the result.
    fn described(
        &self,
        declared: &Tensor,
        shape: &[usize],
        ranks: &dyn Communicator,
    ) -> Result<Written, DistributeError> {
        let values = self.values();
        let sum: c64 = (0..values.len()).fold(c64::default(), |sum, place| sum + values.get_c64(place));
        let pack = |error| DistributeError::pack(&declared.name, error);
        let first = self.first(declared, shape).map_err(pack)?;
        let numbers = [values.len() as u64, sum.re.to_bits(), sum.im.to_bits()];
        let mut message = message(numbers);
        message.extend(first.message());
        let (mut stored, mut sum, mut all) = (0, c64::default(), Listed::empty(shape.to_vec(), declared.element));
        for message in ranks.gather_all(&message)? {
            let (numbers, first) = message.split_at(24);
            let mut numbers = self::numbers::<u64>(numbers);
            let mut next = || numbers.next().expect("there are three");
            stored += next() as usize;
            sum += c64::new(f64::from_bits(next()), f64::from_bits(next()));
            all.read(first);
        }
        // One rank chooses: if that fails, no other goes on.
        let mut chosen = Vec::new();
        if ranks.rank() == 0 {
            let (indices, values) = all.clone().columns();
            let first = first_stored(&declared.format, shape, &indices, values.len()).map_err(pack)?;
            all.put(first.into_iter(), &mut chosen);
        }
        let mut first = Listed::empty(shape.to_vec(), declared.element);
        first.read(&of_first(chosen, ranks)?);
        let index = |entry| first.index(entry).map(|index| index as usize).collect();
        Ok(Written {
            name: declared.name.clone(),
            shape: shape.to_vec(),
            element: declared.element,
            format: declared.format.clone(),
            stored,
            first: (0..first.len()).map(index).collect(),
            first_values: values_of(declared.element, &first.values),
            sum,
        })
    }
}

/// The numbers of the first of some entries in the order in which a format stores them.
fn first_stored(format: &Format, shape: &[usize], indices: &[Indices], count: usize) -> Result<Vec<usize>, PackError> {
    let order = StoredOrder::of(format, shape, indices, count)?;
    Ok((0..count.min(FIRST)).map(|place| order.entry(place)).collect())
}

/// A file that this rank has opened, as all others have.
struct Shared<'a> {
    path: &'a Path,
    file_type: FileType,
    file: File,
    /// On the first rank.
    begun: Option<Begun>,
}

impl<'a> Shared<'a> {
    /// Begins a file on the first rank and opens it on all; nothing if some can't.
    fn begin(of: &'a ResultFile, ranks: &dyn Communicator) -> Result<Option<Self>, DistributeError> {
        let ResultFile { path, file_type, .. } = of;
        let mut begun = None;
        let word = match ranks.rank() {
            0 => match Begun::at(path).and_then(|file| file.map(|file| Ok((file.path()?, file))).transpose()) {
                Ok(None) => Vec::new(),
                Ok(Some((temporary, file))) => {
                    begun = Some(file);
                    // A name that is no text is not sent.
                    temporary.to_str().map_or_else(Vec::new, |name| [&[FINE], name.as_bytes()].concat())
                }
                Err(error) => said(&error),
            },
            _ => Vec::new(),
        };
        let temporary = match of_first(word, ranks)?.split_first() {
            None => return Ok(None),
            Some((&FINE, name)) => PathBuf::from(String::from_utf8_lossy(name).into_owned()),
            Some((&kind, reason)) => return Err(WriteError::io(path, heard(kind, reason)).into()),
        };
        let file = Begun::open(&temporary).ok();
        let all = ranks.gather_all(&[u8::from(file.is_some())])?;
        let file = file.filter(|_| all.iter().all(|is_open| *is_open == [1]));
        Ok(file.map(|file| Self { path, file_type: *file_type, file, begun }))
    }

    /// Writes this rank's part. The first rank writes what is before all parts.
    fn write(
        self,
        own: &Own,
        declared: &Tensor,
        of: &Written,
        ranks: &dyn Communicator,
    ) -> Result<(), DistributeError> {
        let Self { path, file_type, file, begun } = self;
        let pieces = Pieces { file_type, shape: &of.shape };
        let fill = (!declared.format.is_dense()).then_some(declared.fill);
        let head = Head { element: of.element, count: of.stored, fill };
        let is_first = ranks.rank() == 0;
        let write = |out: &mut dyn Write| {
            if is_first {
                pieces.head(out, &head)?;
            }
            pieces.piece(out, &own.piece())
        };
        // Formatted twice, so that no rank has the text of its part in memory.
        let mut length = Length(0);
        let lengths = agreed(write(&mut length).map(|()| length.0), path, ranks)?;
        let offset = lengths[..ranks.rank()].iter().sum();
        agreed(Begun::write_at(file, offset, write).map(|()| 0), path, ranks)?;
        agreed(begun.map_or(Ok(()), Begun::finish).map(|()| 0), path, ranks)?;
        Ok(())
    }
}

/// Counts what is written.
struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a message begins with that is no error.
const FINE: u8 = 0;

/// The kinds of errors that files tell apart, each with the byte that it is sent as.
const KINDS: [(u8, io::ErrorKind); 2] = [(1, io::ErrorKind::InvalidInput), (2, io::ErrorKind::OutOfMemory)];

fn said(error: &io::Error) -> Vec<u8> {
    let kind = KINDS.iter().find(|(_, kind)| *kind == error.kind()).map_or(3, |(byte, _)| *byte);
    [&[kind], error.to_string().as_bytes()].concat()
}

fn heard(kind: u8, reason: &[u8]) -> io::Error {
    let kind = KINDS.iter().find(|(byte, _)| *byte == kind).map_or(io::ErrorKind::Other, |(_, kind)| *kind);
    io::Error::new(kind, String::from_utf8_lossy(reason).into_owned())
}

/// The numbers of all ranks; on each of them what the first says that has failed, if one has.
fn agreed(own: io::Result<u64>, path: &Path, ranks: &dyn Communicator) -> Result<Vec<u64>, DistributeError> {
    let word = match &own {
        Ok(number) => [&[FINE], &message([*number])[..]].concat(),
        Err(error) => said(error),
    };
    let all = ranks.gather_all(&word)?;
    let of_rank = |word: &Vec<u8>| match word.split_first() {
        Some((&FINE, bytes)) => Ok(number(bytes)),
        Some((&kind, reason)) => Err(heard(kind, reason)),
        None => unreachable!("each rank says something"),
    };
    let numbers = all.iter().map(of_rank).collect::<io::Result<Vec<u64>>>();
    numbers.map_err(|error| WriteError::io(path, error).into())
}

/// What the first rank says, on all.
fn of_first(word: Vec<u8>, ranks: &dyn Communicator) -> Result<Vec<u8>, CommunicationError> {
    Ok(ranks.exchange(vec![word; ranks.size()])?.swap_remove(0))
}
