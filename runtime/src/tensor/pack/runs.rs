//! Packing more entries than there is memory for, by way of files.
//!
//! 1. Entries come in blocks. Each is sorted and written: a **run**, all keys and then all values.
//! 2. Keys are cut into ranges that have, in all runs together, as many entries as the memory holds. Range by range, these are read,
//!    sorted, joined where keys are equal, and [assembled](super::assemble) into the arrays of the tensor, in files again.
//!
//! ```text
//! blocks      7 2 9   4 1 7          runs    2 7 9   1 4 7
//! ranges      keys below 5: 2, 1 4   ─▶ 1 2 4        keys from 5 on: 7 9, 7   ─▶ 7 9
//! ```
//!
//! Entries of equal keys are in one range, in the order that they came in. So what comes out is what [`pack`](super::pack()) makes of all
//! entries at once, byte for byte.

use super::super::layout::Layout;
use super::super::{Element, Indices, Values};
use super::assemble::{Assembled, Assembly};
use super::error::RunsError;
use super::key::{Fields, Key, Wide};
use super::sorted::Source;
use super::{Duplicates, PackError, check_indices, follows, radix};
use crate::fault;
use crate::memory;
use crate::progress::{Unit, Work};
use crate::with_element;
use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, Literal};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Every so many keys of a run, one is kept in memory.
const STEP: usize = 256;

/// The bytes that an entry takes beside its key and its value while it is sorted: its place, and room for the sort.
const BESIDE: usize = 24;

/// Sorted runs of entries in a file.
pub(crate) struct Runs {
    layout: Layout,
    fields: Fields,
    element: ElementType,
    fill: Literal,
    duplicates: Duplicates,
    /// Where files go.
    folder: PathBuf,
    file: File,
    /// How many bytes are in the file.
    written: u64,
    runs: Vec<Run>,
    /// About how many bytes of memory may be used.
    memory: usize,
}

/// Sorted entries in a file.
struct Run {
    /// Where its keys begin; its values are behind them.
    offset: u64,
    count: usize,
    /// The bytes of each [`STEP`]th key.
    sample: Vec<u8>,
}

impl Run {
    fn sample<K: Key>(&self) -> impl Iterator<Item = K> + '_ {
        self.sample.chunks_exact(size_of::<K>()).map(bytemuck::pod_read_unaligned)
    }
}

/// Calls a function with the type of keys.
macro_rules! by_key {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match $self.fields.bits {
            0..=64 => $self.$method::<u64>($($argument),*),
            65..=128 => $self.$method::<u128>($($argument),*),
            129..=Wide::BITS => $self.$method::<Wide>($($argument),*),
            bits => Err(PackError::TooWide { bits }.into()),
        }
    };
}

impl Runs {
    /// None yet of a tensor.
    pub(crate) fn new(
        format: &Format,
        shape: &[usize],
        (element, fill): (ElementType, Literal),
        duplicates: Duplicates,
        folder: &Path,
        memory: usize,
    ) -> Result<Self, RunsError> {
        let layout = Layout::new(format, shape).map_err(PackError::from)?;
        if let Some(level) = layout.levels.iter().position(|format| !follows(format.kind)) {
            return Err(PackError::InMemoryAlone { level, format: layout.levels[level] }.into());
        }
        fault::operation()?;
        let path = folder.join("runs");
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let fields = Fields::of_layout(&layout);
        Ok(Self {
            layout,
            fields,
            element,
            fill,
            duplicates,
            folder: folder.to_owned(),
            file,
            written: 0,
            runs: Vec::new(),
            memory,
        })
    }

    /// Takes entries.
    pub(crate) fn add(&mut self, indices: &[Indices], values: &Values) -> Result<(), RunsError> {
        check_indices(&self.layout.shape, indices, values.len())?;
        match values.len() {
            0 => Ok(()),
            _ => by_key!(self.sort(indices, values)),
        }
    }

    /// The tensor of all entries, whose arrays are in files; with the number of its values.
    pub(crate) fn assemble(self) -> Result<Assembled, RunsError> {
        by_key!(self.merge())
    }

    fn width(&self) -> usize {
        self.element.bytes()
    }

    fn sort<K: Key>(&mut self, indices: &[Indices], values: &Values) -> Result<(), RunsError> {
        let count = values.len();
        let source = Source { indices, layout: &self.layout, fields: &self.fields };
        let (mut keys, survey) = source.keys::<K>(count)?;
        let width = self.width();
        let mut sorted = Vec::new();
        let mut values = values.as_bytes();
        if survey.ascend_from() > 0 {
            let mut places: Vec<u64> = memory::try_collected((0..count).map(|place| place as u64))?;
            radix::sort(&mut keys, &mut places, 0..survey.ascend_from())?;
            memory::try_reserve(&mut sorted, values.len())?;
            let value = |&place: &u64| &values[place as usize * width..][..width];
            places.iter().for_each(|place| sorted.extend_from_slice(value(place)));
            values = &sorted;
        }
        let keys_as_bytes: &[u8] = bytemuck::cast_slice(&keys);
        for bytes in [keys_as_bytes, values] {
            fault::operation()?;
            self.file.write_all(bytes)?;
        }
        let sample = keys.iter().step_by(STEP).flat_map(|key| bytemuck::bytes_of(key).to_vec()).collect();
        self.runs.push(Run { offset: self.written, count, sample });
        self.written += (keys_as_bytes.len() + values.len()) as u64;
        Ok(())
    }

    fn merge<K: Key>(&self) -> Result<Assembled, RunsError> {
        let width = self.width();
        let bounds = self.bounds::<K>();
        let mut assembly = Assembly::new(&self.layout, (self.element, self.fill), &self.folder)?;
        let mut taken = vec![0usize; self.runs.len()];
        let work = Work::begin(Unit::Entries, self.runs.iter().map(|run| run.count).sum());
        let (mut keys, mut values) = (Vec::<K>::new(), Vec::<u8>::new());
        let mut before: Option<K> = None;
        let shifts: Vec<u32> = (0..=self.layout.depth()).map(|depth| self.fields.prefix(depth)).collect();
        let mut stored = vec![0; self.layout.depth()];
        let mut joined = Vec::new();
        for end in bounds.into_iter().map(Some).chain([None]) {
            let mut parts = Vec::with_capacity(self.runs.len());
            for (run, taken) in taken.iter_mut().enumerate() {
                let to = match end {
                    Some(end) => self.first_from(run, end)?,
                    None => self.runs[run].count,
                };
                parts.push(*taken..to);
                *taken = to;
            }
            let count = parts.iter().map(ExactSizeIterator::len).sum::<usize>();
            keys.clear();
            values.clear();
            memory::try_reserve(&mut keys, count)?;
            memory::try_reserve(&mut values, count * width)?;
            for (run, part) in parts.into_iter().enumerate() {
                let Run { offset, count, .. } = self.runs[run];
                let key = size_of::<K>() as u64;
                let first = keys.len();
                keys.resize(first + part.len(), K::zeroed());
                self.read(bytemuck::cast_slice_mut(&mut keys[first..]), offset + part.start as u64 * key)?;
                let first = values.len();
                values.resize(first + part.len() * width, 0);
                let offset = offset + count as u64 * key + (part.start * width) as u64;
                self.read(&mut values[first..], offset)?;
            }
            let mut places: Vec<u64> = memory::try_collected((0..count).map(|place| place as u64))?;
            let survey = super::order::Survey::none().and(&keys);
            if survey.ascend_from() > 0 {
                radix::sort(&mut keys, &mut places, 0..survey.ascend_from())?;
            }
            let mut first = 0;
            for group in keys.chunk_by(|a, b| a == b) {
                let key = group[0];
                for (level, stored) in stored.iter_mut().enumerate() {
                    *stored = self.fields.reader::<K>(level)(key);
                }
                // The shortest prefix that begins here.
                let depth = before.map_or(0, |before| {
                    let differs = before.xor(key);
                    (1..shifts.len()).find(|&depth| differs.reaches(shifts[depth])).unwrap_or(shifts.len() - 1)
                });
                before = Some(key);
                let value = |place: u64| &values[place as usize * width..][..width];
                let value = match &places[first..first + group.len()] {
                    &[only] => value(only),
                    equal => {
                        joined.clear();
                        equal.iter().for_each(|&place| joined.extend_from_slice(value(place)));
                        self.join(&mut joined, &stored)?;
                        &joined[..width]
                    }
                };
                assembly.push(depth, &stored, value)?;
                first += group.len();
            }
            work.add(count);
        }
        assembly.finish()
    }

    /// Joins the values of an index; the result comes first.
    fn join(&self, values: &mut [u8], stored: &[usize]) -> Result<(), PackError> {
        let index = || self.layout.index(stored).unwrap_or_default();
        if self.duplicates == Duplicates::Refuse {
            return Err(PackError::Duplicate { index: index() });
        }
        with_element!(self.element, |T| {
            let all: Vec<T> = values.chunks_exact(size_of::<T>()).map(bytemuck::checked::pod_read_unaligned).collect();
            let together = self.duplicates.together(&all);
            let together = together.ok_or_else(|| PackError::Overflow { index: index(), element: T::TYPE })?;
            values[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&together));
        });
        Ok(())
    }

    /// Keys between which there are about as many entries as the memory holds.
    fn bounds<K: Key>(&self) -> Vec<K> {
        let entry = 2 * size_of::<K>() + self.width() + BESIDE;
        // Of each run, up to a step more may be in a range than its sample tells.
        let most = (self.memory / entry / STEP).saturating_sub(self.runs.len()).max(1);
        let mut sample: Vec<K> = self.runs.iter().flat_map(Run::sample).collect();
        sample.sort_unstable();
        let mut bounds: Vec<K> = sample.into_iter().skip(most).step_by(most).collect();
        bounds.dedup();
        bounds
    }

    /// How many keys of a run are less than one.
    fn first_from<K: Key>(&self, run: usize, end: K) -> Result<usize, RunsError> {
        let Run { offset, count, .. } = self.runs[run];
        let less = self.runs[run].sample::<K>().take_while(|key| *key < end).count();
        let Some(before) = less.checked_sub(1) else { return Ok(0) };
        let first = before * STEP;
        let mut keys = vec![K::zeroed(); STEP.min(count - first)];
        self.read(bytemuck::cast_slice_mut(&mut keys), offset + (first * size_of::<K>()) as u64)?;
        Ok(first + keys.partition_point(|key| *key < end))
    }

    fn read(&self, into: &mut [u8], offset: u64) -> Result<(), RunsError> {
        fault::operation()?;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        Ok(file.read_exact(into)?)
    }
}
