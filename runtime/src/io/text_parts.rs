//! A text that is read in parts, each by itself: ranges of its bytes, and of each the lines that begin there.
//!
//! ```text
//! part 0          part 1          part 2
//! 1 3 2.5\n2 1 -1\n3 3 4.25\n5 1 0.5\n
//! └─ two lines ──┘└─ one line ─┘└─ one ──┘
//! ```
//!
//! No reader has all of it, so each part says how many lines and entries it has ([`Found`]); together these tell the place of a fault, the
//! shape where the text states none, and whether all entries of a `.mtx` file are there.

use super::contents::uncarried_fill;
use super::entries::{self, Entries, Layout};
use super::file::TensorFile;
use super::kind::{Asked, Text};
use super::source::{self, Source};
use super::text_head::TextHead;
use super::value::{self, Carrier, sealed};
use super::{ReadError, ReadErrorKind, mtx, tns};
use crate::memory;
use crate::tensor::{Indices, Values};
use crate::with_element;
use spc_compiler::ir::{ElementType, Literal};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What is read at a time behind a part, until its last line ends.
const STEP: u64 = 1 << 16;

/// A text whose entries are read in parts: `.tns`, or `.mtx` in `coordinate`.
#[derive(Debug, Clone)]
pub struct TextParts {
    path: PathBuf,
    kind: Text,
    element: ElementType,
    /// What states how lines are to be read: the first lines, up to one of an entry.
    head: Vec<u8>,
    /// As the caller states it.
    asked: Option<Vec<usize>>,
    from_zero: bool,
    /// As the text or the caller states it.
    shape: Option<Vec<usize>>,
    order: usize,
    fill: Option<Literal>,
    /// Where the first line of an entry may begin.
    body: u64,
    /// How many bytes the file has.
    size: u64,
}

/// What a part has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Lines, comments among them.
    pub(crate) lines: u64,
    /// Entries as they stand in the file.
    pub(crate) entries: u64,
    /// The largest index of each mode, from 1; 0 where there is no entry.
    pub(crate) largest: Vec<u64>,
    /// Whether anything is wrong with a line.
    pub(crate) is_faulty: bool,
}

/// The entries of a part.
#[derive(Debug)]
pub(crate) struct TextPart {
    pub(crate) indices: Vec<Indices>,
    pub(crate) values: Values,
    pub(crate) found: Found,
}

impl TextParts {
    /// A file of which so much has been read as [`TensorFile::begin`] does, with entries of this type. None where a file is read as a whole:
    /// one of another kind, a compressed one, one that has no entries, or something wrong in its first lines.
    #[must_use]
    pub fn of(file: &TensorFile, element: ElementType) -> Option<Self> {
        let Some(Source::Plain(head)) = file.head() else { return None };
        let kind = file.file_type().kind().text()?;
        let size = file.path().metadata().ok()?.len();
        let mut parts = Self {
            path: file.path().to_owned(),
            kind,
            element,
            head: Vec::new(),
            asked: file.stated_shape().map(<[usize]>::to_vec),
            from_zero: file.counts_from_zero(),
            shape: None,
            order: 0,
            fill: None,
            body: 0,
            size,
        };
        with_element!(element, |T| parts.look::<<T as sealed::Value>::Carrier>(head))?;
        Some(parts)
    }

    fn look<C: Carrier>(&mut self, head: &[u8]) -> Option<()> {
        let comment = match self.kind {
            Text::Mtx => mtx::COMMENT,
            Text::Tns => tns::COMMENT,
        };
        let body = TextHead::<C>::new(self.kind, head, &self.arguments()).ok()?.body();
        // The head may end within a line.
        let (first, _) = entries::first_entry(head, body, comment)?;
        let end = match head[first..].iter().position(|&byte| byte == b'\n') {
            Some(length) => first + length + 1,
            None if head.len() as u64 == self.size => head.len(),
            None => return None,
        };
        self.head = head[..end].to_vec();
        let begun = self.begun::<C>().ok()?;
        self.body = begun.body() as u64;
        self.order = begun.layout().limits.len();
        self.shape = begun.shape().map(<[usize]>::to_vec);
        self.fill = match begun.fill() {
            None => None,
            Some(fill) => Some(uncarried_fill(fill, self.element).ok()??),
        };
        // A number alone is one only where nothing follows it; and a matrix of one column may be a vector.
        (self.order > 0 && self.shape.as_ref().is_none_or(|shape| shape.len() == self.order)).then_some(())
    }

    /// How its lines are to be read.
    fn begun<C: Carrier>(&self) -> Result<TextHead<C>, ReadError> {
        TextHead::new(self.kind, &self.head, &self.arguments())
    }

    fn arguments(&self) -> Asked<'_> {
        let Self { element, from_zero, .. } = *self;
        Asked { element, shape: self.asked.as_deref(), from_zero, member: None }
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many modes it has.
    #[must_use]
    pub fn order(&self) -> usize {
        self.order
    }

    /// What stands for entries that are missing, if the file says so.
    pub(crate) fn fill(&self) -> Option<Literal> {
        self.fill
    }

    /// The entries of one of so many parts; none where anything is wrong with a line, which [`joined`](Self::joined) says.
    pub(crate) fn part(&self, part: usize, parts: usize) -> Result<TextPart, ReadError> {
        with_element!(self.element, |T| self.retyped::<<T as sealed::Value>::Carrier>(part, parts))
            .map_err(|error| error.in_file(&self.path))
    }

    fn retyped<C: Carrier>(&self, part: usize, parts: usize) -> Result<TextPart, ReadError> {
        let Carried { indices, values, found } = self.read::<C>(part, parts, None)?;
        Ok(TextPart { indices, values: value::uncarried(values, self.element)?, found })
    }

    /// The shape of the tensor whose parts have so much, and whether it is stated.
    ///
    /// # Errors
    /// What is wrong with the first line that is wrong, and where too many or too few entries are there.
    pub(crate) fn joined(&self, found: &[Found]) -> Result<(Vec<usize>, bool), ReadError> {
        with_element!(self.element, |T| self.check::<<T as sealed::Value>::Carrier>(found))
            .map_err(|error| error.in_file(&self.path))?;
        if let Some(shape) = &self.shape {
            return Ok((shape.clone(), true));
        }
        let largest = |mode: usize| found.iter().map(|found| found.largest[mode]).max().unwrap_or(0);
        Ok(((0..self.order).map(|mode| largest(mode) as usize).collect(), false))
    }

    fn check<C: Carrier>(&self, found: &[Found]) -> Result<(), ReadError> {
        let mut begun = self.begun::<C>()?;
        let stated = begun.stated();
        let mut before = Before::default();
        for (part, own) in found.iter().enumerate() {
            let are_too_many = stated.is_some_and(|stated| before.entries + own.entries > stated);
            if own.is_faulty || are_too_many {
                // It is read again to say what is wrong.
                self.read::<C>(part, found.len(), Some(before))?;
                let message = "it has changed while it was read: read it again";
                return Err(ReadError::new(ReadErrorKind::Io, message));
            }
            before.lines += own.lines;
            before.entries += own.entries;
        }
        begun.have_come(before.entries as usize);
        begun.finish()
    }

    /// Reads a part. What is wrong with a line is an error where it is known what came before it.
    fn read<C: Carrier>(&self, part: usize, parts: usize, before: Option<Before>) -> Result<Carried<C>, ReadError> {
        let mut begun = self.begun::<C>()?;
        let text = self.lines(part, parts)?;
        let lines = text.iter().filter(|&&byte| byte == b'\n').count();
        let layout = Layout { chunk_bytes: entries::chunk_bytes(&text), ..begun.layout().clone() };
        let read = entries::parse::<C>(&text, 0, &layout)?;
        let (count, came) = (read.values.len(), before.map_or(0, |before| before.entries) as usize);
        begun.have_come(came);
        let told = begun.checked(&text, 0, read).map_err(|error| {
            let after_one_line = error.kind() == ReadErrorKind::FieldCount && came + count == 1;
            if after_one_line && self.kind == Text::Tns { error.with_hint(tns::HEADER_HINT) } else { error }
        });
        let mut found =
            Found { lines: lines as u64, entries: count as u64, largest: vec![0; self.order], is_faulty: false };
        match (told, before) {
            (Ok(Entries { indices, largest, values, .. }), _) => {
                found.largest.iter_mut().zip(largest).for_each(|(own, largest)| *own = largest);
                Ok(Carried { indices, values, found })
            }
            (Err(error), Some(before)) => {
                let head = self.head[..self.body as usize].iter().filter(|&&byte| byte == b'\n').count();
                Err(error.after_lines(head + before.lines as usize))
            }
            (Err(error), None) if error.kind() == ReadErrorKind::Memory => Err(error),
            (Err(_), None) => {
                found.is_faulty = true;
                Ok(Carried { indices: vec![Indices::U32(Vec::new()); self.order], values: Vec::new(), found })
            }
        }
    }

    /// The lines that begin in a part.
    fn lines(&self, part: usize, parts: usize) -> Result<Vec<u8>, ReadError> {
        let failed = |error: io::Error| ReadError::io(&self.path, "read", error);
        let whole = u128::from(self.size.saturating_sub(self.body));
        let bound = |part: usize| self.body + (whole * part as u128 / parts as u128) as u64;
        let (begin, end) = (bound(part), bound(part + 1));
        if begin == end {
            return Ok(Vec::new());
        }
        let (mut file, _) = source::opened(&self.path)?;
        // A line begins behind the end of another.
        let from = if begin > self.body { begin - 1 } else { begin };
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let mut text: Vec<u8> = memory::try_room((end - from) as usize)?;
        taken(&mut file, end - from, &mut text).map_err(failed)?;
        if begin > self.body {
            let line_end = text.iter().position(|&byte| byte == b'\n');
            let first = line_end.map_or(text.len(), |end| end + 1);
            if first >= text.len() {
                return Ok(Vec::new());
            }
            text.drain(..first);
        }
        // A file that became shorter meanwhile has no more lines.
        let Some(mut searched) = text.len().checked_sub(1) else { return Ok(text) };
        loop {
            if let Some(length) = text[searched..].iter().position(|&byte| byte == b'\n') {
                text.truncate(searched + length + 1);
                return Ok(text);
            }
            searched = text.len();
            memory::try_reserve(&mut text, STEP as usize)?;
            if taken(&mut file, STEP, &mut text).map_err(failed)? == 0 {
                return Ok(text);
            }
        }
    }
}

/// Appends the next bytes of a file; gives how many.
fn taken(file: &mut File, count: u64, text: &mut Vec<u8>) -> io::Result<usize> {
    crate::fault::operation()?;
    file.by_ref().take(count).read_to_end(text)
}

/// What came before a part.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    lines: u64,
    entries: u64,
}

/// The entries of a part as they were carried.
struct Carried<C> {
    indices: Vec<Indices>,
    values: Vec<C>,
    found: Found,
}
