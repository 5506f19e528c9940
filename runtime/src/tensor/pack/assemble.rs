//! Levels from ascending entries, one at a time, in files.
//!
//! Positions are numbered as in [`build`](super::build), which has all keys at once. Here each array grows at its end: a compressed level
//! writes where the children of a parent begin when the first child of a later parent comes.

use super::super::Element;
use super::super::layout::Layout;
use super::build::{LARGEST, check_coordinate_width};
use super::error::RunsError;
use super::{PackError, follows};
use crate::fault;
use crate::with_element;
use spc_compiler::format::{LevelFormat, Role};
use spc_compiler::ir::{ElementType, Literal};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// How much is written at a time.
const BLOCK: usize = 1 << 18;

/// A tensor whose arrays are in files.
pub(crate) struct Assembled {
    /// In the order of a `.spct` file: those of each level, positions before coordinates, and the values.
    pub(crate) arrays: Vec<Array>,
    /// How many values there are.
    pub(crate) nnz: usize,
}

/// An array in a file.
pub(crate) struct Array {
    out: BufWriter<File>,
    width: usize,
    count: usize,
}

impl Array {
    fn new(folder: &Path, name: &str, width: usize) -> io::Result<Self> {
        fault::operation()?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(folder.join(name))?;
        Ok(Self { out: BufWriter::with_capacity(BLOCK, file), width, count: 0 })
    }

    fn push(&mut self, index: usize) -> io::Result<()> {
        self.push_bytes(&(index as u64).to_le_bytes())
    }

    /// Appends the first bytes of an element.
    fn push_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.out.buffer().len() + self.width > BLOCK {
            fault::operation()?;
        }
        self.count += 1;
        self.out.write_all(&bytes[..self.width])
    }

    /// Appends the same until there are so many.
    fn pad(&mut self, count: usize, bytes: &[u8]) -> io::Result<()> {
        while self.count < count {
            self.push_bytes(bytes)?;
        }
        Ok(())
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.count * self.width
    }

    /// The file, all of which is written.
    pub(crate) fn into_file(self) -> io::Result<File> {
        self.out.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// A tensor whose entries come one after the other.
pub(super) struct Assembly<'a> {
    layout: &'a Layout,
    levels: Vec<Level>,
    values: Array,
    /// The bytes of the fill value.
    fill: Vec<u8>,
}

struct Level {
    format: LevelFormat,
    extent: usize,
    /// Whether it is unique, and the largest coordinate that it has room for: parameters are looked up by name, which takes too long for each
    /// entry.
    unique: bool,
    largest: u64,
    /// An entry that begins such a prefix, or a shorter one, begins a position.
    prefix: usize,
    /// That of the level above.
    above: usize,
    positions: Option<Array>,
    coordinates: Option<Array>,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(
        layout: &'a Layout,
        (element, fill): (ElementType, Literal),
        folder: &Path,
    ) -> Result<Self, RunsError> {
        let mut levels: Vec<Level> = Vec::with_capacity(layout.depth());
        for (number, &format) in layout.levels.iter().enumerate() {
            debug_assert!(follows(format.kind));
            let array = |role: Role| {
                let name = format!("{number} {}", role.name());
                format.array(role).map(|_| Array::new(folder, &name, format.width(role).bytes())).transpose()
            };
            let above = levels.last().map_or(0, |level| level.prefix);
            let below = layout.levels[number + 1..].iter().take_while(|below| below.kind.is_singleton()).count();
            let prefix = match format.kind {
                kind if kind.is_singleton() => above.max(number + 1),
                kind if kind.is_compressed() && !format.unique() => number + 1 + below,
                _ => number + 1,
            };
            let (positions, coordinates) = (array(Role::Positions)?, array(Role::Coordinates)?);
            let extent = layout.extents[number];
            let (unique, largest) = (format.unique(), format.coordinates().maximum());
            levels.push(Level { format, extent, unique, largest, prefix, above, positions, coordinates });
        }
        let values = Array::new(folder, "values", element.bytes())?;
        let fill = with_element!(element, |T| bytemuck::bytes_of(&T::from_literal(fill).unwrap_or(T::ZERO)).to_vec());
        Ok(Self { layout, levels, values, fill })
    }

    /// The next entry: the shortest prefix of levels that it begins, what each level stores of it, and its value.
    pub(super) fn push(&mut self, begins: usize, stored: &[usize], value: &[u8]) -> Result<(), RunsError> {
        let index = || self.layout.index(stored).unwrap_or_default();
        let mut position = 0usize;
        for (number, level) in self.levels.iter_mut().enumerate() {
            let (format, coordinate) = (level.format, stored[number]);
            if format.kind.is_dense() {
                let inside = position.checked_mul(level.extent).and_then(|first| first.checked_add(coordinate));
                let count = position.saturating_mul(level.extent);
                position =
                    inside.filter(|&inside| inside < LARGEST).ok_or(PackError::TooLarge { level: number, count })?;
                continue;
            }
            if format.kind.is_singleton() {
                if level.above < number + 1 && begins > level.above && begins <= number + 1 {
                    return Err(PackError::Crowded { level: number, index: index() }.into());
                }
                if level.unique && begins > number + 1 && begins <= level.above {
                    return Err(PackError::Repeated { level: number, index: index() }.into());
                }
            }
            if begins <= level.prefix {
                if coordinate as u64 > level.largest {
                    check_coordinate_width(self.layout, coordinate as u64, number)?;
                }
                let Some(coordinates) = &mut level.coordinates else { continue };
                match &mut level.positions {
                    // Parents that had no children before, and this one, begin here.
                    Some(positions) => positions.pad(position + 1, &(coordinates.count as u64).to_le_bytes())?,
                    None => coordinates.pad(position, &[0; 8])?,
                }
                coordinates.push(coordinate)?;
            }
            if let (Some(_), Some(coordinates)) = (&level.positions, &level.coordinates) {
                position = coordinates.count - 1;
            }
        }
        self.values.pad(position, &self.fill)?;
        Ok(self.values.push_bytes(value)?)
    }

    /// What all entries together are.
    pub(super) fn finish(mut self) -> Result<Assembled, RunsError> {
        let mut count = 1usize;
        let mut arrays = Vec::new();
        for (number, mut level) in self.levels.into_iter().enumerate() {
            let format = level.format;
            match (&mut level.positions, &mut level.coordinates) {
                (Some(positions), Some(coordinates)) => {
                    let children = coordinates.count as u64;
                    if children > format.positions().maximum() {
                        return Err(PackError::PositionWidth { level: number, format, count: children }.into());
                    }
                    positions.pad(count + 1, &children.to_le_bytes())?;
                    count = coordinates.count;
                }
                (None, Some(coordinates)) => {
                    if count > 0 && level.extent == 0 {
                        return Err(PackError::NoCoordinate { level: number, mode: self.layout.modes[number] }.into());
                    }
                    coordinates.pad(count, &[0; 8])?;
                }
                _ => {
                    let too_large = PackError::TooLarge { level: number, count: count.saturating_mul(level.extent) };
                    count = count.checked_mul(level.extent).filter(|&count| count <= LARGEST).ok_or(too_large)?;
                }
            }
            arrays.extend(level.positions);
            arrays.extend(level.coordinates);
        }
        self.values.pad(count, &self.fill)?;
        let nnz = self.values.count;
        arrays.push(self.values);
        Ok(Assembled { arrays, nnz })
    }
}
