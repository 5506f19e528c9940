//! Levels whose positions are not all entries, or not one coordinate each: rows filled up, tables, bands, runs, flags.
//!
//! Each deals with one parent at a time, so that the levels above must be unique. A position without an entry is *vacant*;
//! what is below it is vacant too, or not there.

use super::super::hash_table::Found;
use super::super::index_array::with_indices;
use super::super::level_arrays::{Decoder, slice_row};
use super::super::{Index, IndexArray, InvalidTensor, LevelArrays};
use super::{Check, Groups};
use spc_compiler::format::{Children, Code, Role, Told, Vacancies};
use spc_compiler::level::vacancy;
use std::ops::Range;

/// For each position whether it is vacant; `None` where none is.
pub(super) type Vacant = Option<Vec<bool>>;

pub(super) fn is_vacant(vacant: &Vacant, position: usize) -> bool {
    vacant.as_ref().is_some_and(|vacant| vacant[position])
}

impl Check<'_> {
    /// The number of positions of a level that deals with one parent at a time, their groups, and which are vacant.
    pub(super) fn filled(
        &self,
        storage: &LevelArrays,
        groups: &Groups,
        vacant: &Vacant,
    ) -> Result<(usize, Groups, Vacant), InvalidTensor> {
        if let Some(position) = groups.as_ref().and_then(|begins| begins.iter().position(|&begins| !begins)) {
            return Err(InvalidTensor::Shared { level: self.level, position });
        }
        self.widths(storage)?;
        let kind = self.format.kind;
        match (storage.positions(), storage.coordinates()) {
            (None, None) if kind.is_one_each() => Ok((self.parents, None, vacant.clone())),
            (width, Some(coordinates)) if kind.children == Children::Width => self.padded(width, coordinates, vacant),
            (None, Some(flags)) if kind.children == Children::Every => self.bitmap(flags, vacant),
            (Some(flags), Some(coordinates)) if kind.children == Children::Flags => {
                self.flagged(flags, coordinates, vacant)
            }
            (Some(positions), Some(coordinates)) if kind.children == Children::Slices => {
                self.sliced(positions, coordinates, vacant)
            }
            (Some(positions), Some(coordinates)) => match kind.told {
                Told::First => self.banded(positions, coordinates, vacant),
                Told::Ends => self.run(positions, coordinates, vacant),
                Told::Coded(code) => self.coded(positions, coordinates, code, vacant),
                Told::Stored if kind.vacancies == Vacancies::Filling => self.grouped(positions, coordinates, vacant),
                _ => self.hashed(positions, coordinates, vacant),
            },
            _ => unreachable!("no level declares such arrays"),
        }
    }

    pub(super) fn widths(&self, storage: &LevelArrays) -> Result<(), InvalidTensor> {
        let width = |role| storage.array(role).map_or(Ok(()), |array| self.width(role, self.format.width(role), array));
        Role::ALL.into_iter().try_for_each(width)
    }

    /// Coordinates that are decoded one after the other ascend under each parent.
    fn coded(&self, positions: &IndexArray, coordinates: &IndexArray, code: Code, vacant: &Vacant) -> Checked {
        let rows = self.rows(positions, coordinates.len(), vacant)?;
        let mut is_gap = vec![false; coordinates.len()];
        for row in rows {
            let mut decoder = Decoder::new(code, self.format);
            let mut previous = None;
            for position in row {
                match decoder.next(coordinates.get(position)) {
                    Some(coordinate) => {
                        self.next(previous, coordinate, position, None)?;
                        previous = Some(coordinate);
                    }
                    None => is_gap[position] = true,
                }
            }
        }
        Ok((coordinates.len(), None, self.format.kind.has_vacancies().then_some(is_gap)))
    }

    fn padded(&self, width: Option<&IndexArray>, coordinates: &IndexArray, vacant: &Vacant) -> Checked {
        self.length(Role::Positions, usize::from(self.format.count().is_none()), width.map_or(0, IndexArray::len))?;
        let width = width.map_or(self.format.count().unwrap_or(0) as usize, |width| width.get(0));
        let count = self.parents.checked_mul(width).ok_or(InvalidTensor::TooLarge { level: self.level })?;
        self.length(Role::Coordinates, count, coordinates.len())?;
        let filling = vacancy(self.format.coordinates()) as usize;
        let mut is_filling = vec![false; count];
        let mut begins = vec![true; if self.format.unique() { 0 } else { count }];
        for parent in 0..self.parents {
            let mut previous = None;
            for position in parent * width..(parent + 1) * width {
                let coordinate = coordinates.get(position);
                is_filling[position] = coordinate == filling;
                if is_filling[position] {
                    continue;
                }
                if is_vacant(vacant, parent) {
                    return Err(InvalidTensor::Vacant { level: self.level, position });
                }
                if position > parent * width && is_filling[position - 1] {
                    return Err(InvalidTensor::Filling { level: self.level, position });
                }
                self.next(previous, coordinate, position, begins.get_mut(position))?;
                previous = Some(coordinate);
            }
        }
        Ok((count, (!self.format.unique()).then_some(begins), Some(is_filling)))
    }

    fn grouped(&self, positions: &IndexArray, coordinates: &IndexArray, vacant: &Vacant) -> Checked {
        let filling = vacancy(self.format.coordinates()) as usize;
        let mut is_filling = vec![false; coordinates.len()];
        for row in self.rows(positions, coordinates.len(), vacant)? {
            let mut previous = None;
            for position in row.clone() {
                let coordinate = coordinates.get(position);
                is_filling[position] = coordinate == filling;
                if is_filling[position] {
                    continue;
                }
                if position > row.start && is_filling[position - 1] {
                    return Err(InvalidTensor::Filling { level: self.level, position });
                }
                self.next(previous, coordinate, position, None)?;
                previous = Some(coordinate);
            }
        }
        Ok((coordinates.len(), None, Some(is_filling)))
    }

    fn sliced(&self, positions: &IndexArray, coordinates: &IndexArray, vacant: &Vacant) -> Checked {
        let (level, rows) = (self.level, self.format.count().unwrap_or(1) as usize);
        let slices = Check { parents: self.parents.div_ceil(rows), ..*self };
        with_indices!(positions, |positions| slices.positions(positions, coordinates.len()))?;
        let begins = (0..slices.parents).map(|slice| positions.get(slice));
        if let Some(parent) =
            begins.zip(1..).position(|(begin, next)| !(positions.get(next) - begin).is_multiple_of(rows))
        {
            return Err(InvalidTensor::Slice { level, slice: parent, rows });
        }
        let filling = vacancy(self.format.coordinates()) as usize;
        let is_filling: Vec<bool> = coordinates.iter().map(|coordinate| coordinate == filling).collect();
        for parent in 0..slices.parents * rows {
            let is_vacant = parent >= self.parents || is_vacant(vacant, parent);
            let mut previous: Option<usize> = None;
            for position in slice_row(positions, parent, self.format) {
                if is_filling[position] {
                    continue;
                }
                if is_vacant {
                    return Err(InvalidTensor::Vacant { level, position });
                }
                if position >= positions.get(parent / rows) + rows && is_filling[position - rows] {
                    return Err(InvalidTensor::Filling { level, position });
                }
                self.next(previous, coordinates.get(position), position, None)?;
                previous = Some(coordinates.get(position));
            }
        }
        Ok((coordinates.len(), None, Some(is_filling)))
    }

    /// Checks a coordinate against the extent and against the one before it under the same parent. `begins` is told whether
    /// it differs, where it need not.
    pub(super) fn next(
        &self,
        previous: Option<usize>,
        coordinate: usize,
        position: usize,
        begins: Option<&mut bool>,
    ) -> Result<(), InvalidTensor> {
        let level = self.level;
        self.within(coordinate, position)?;
        match previous.map(|previous| previous.cmp(&coordinate)) {
            Some(std::cmp::Ordering::Greater) if self.format.ordered() => {
                Err(InvalidTensor::Unordered { level, position })
            }
            Some(std::cmp::Ordering::Equal) => match begins {
                Some(begins) => {
                    *begins = false;
                    Ok(())
                }
                None => Err(InvalidTensor::Repeated { level, position }),
            },
            _ => Ok(()),
        }
    }

    fn within(&self, coordinate: usize, position: usize) -> Result<(), InvalidTensor> {
        let (level, extent) = (self.level, self.layout.extents[self.level]);
        if coordinate < extent {
            return Ok(());
        }
        Err(InvalidTensor::Beyond { level, mode: self.layout.modes[level], position, coordinate, extent })
    }

    fn bitmap(&self, flags: &IndexArray, vacant: &Vacant) -> Checked {
        let (level, extent) = (self.level, self.layout.extents[self.level]);
        let count = self.parents.checked_mul(extent).ok_or(InvalidTensor::TooLarge { level })?;
        self.length(Role::Coordinates, count, flags.len())?;
        for (position, found) in flags.iter().enumerate() {
            if found > 1 {
                return Err(InvalidTensor::Flag { level, position, found });
            }
            if found == 1 && is_vacant(vacant, position / extent) {
                return Err(InvalidTensor::Vacant { level, position });
            }
        }
        Ok((count, None, Some(flags.iter().map(|flag| flag == 0).collect())))
    }

    /// The children of each parent by a checked position array; vacant parents have none.
    fn rows(
        &self,
        positions: &IndexArray,
        children: usize,
        vacant: &Vacant,
    ) -> Result<Vec<Range<usize>>, InvalidTensor> {
        with_indices!(positions, |positions| self.positions(positions, children))?;
        let rows: Vec<Range<usize>> =
            (0..self.parents).map(|parent| positions.get(parent)..positions.get(parent + 1)).collect();
        match rows.iter().enumerate().find(|(parent, row)| !row.is_empty() && is_vacant(vacant, *parent)) {
            Some((_, row)) => Err(InvalidTensor::Vacant { level: self.level, position: row.start }),
            None => Ok(rows),
        }
    }

    fn hashed(&self, positions: &IndexArray, coordinates: &IndexArray, vacant: &Vacant) -> Checked {
        let level = self.level;
        let rows = self.rows(positions, coordinates.len(), vacant)?;
        for (parent, row) in rows.into_iter().enumerate() {
            if !row.is_empty() && !row.len().is_power_of_two() {
                return Err(InvalidTensor::Table { level, parent, slots: row.len() });
            }
            with_indices!(coordinates, |coordinates| self.table(&coordinates[row.clone()], row.start))?;
        }
        let filling = vacancy(self.format.coordinates()) as usize;
        let empty = coordinates.iter().map(|coordinate| coordinate == filling).collect();
        Ok((coordinates.len(), None, Some(empty)))
    }

    /// Checks that each coordinate of a table, which begins at a position, is found where it is.
    fn table<C: Index>(&self, table: &[C], begin: usize) -> Result<(), InvalidTensor> {
        let level = self.level;
        let filling = vacancy(C::WIDTH) as usize;
        let taken = table.iter().enumerate().filter(|(_, coordinate)| coordinate.to_usize() != filling);
        let mut found = Found::new(table);
        for (slot, coordinate) in taken {
            let position = begin + slot;
            self.within(coordinate.to_usize(), position)?;
            match found.slot(coordinate.to_usize()) {
                Some(found) if found == slot => {}
                Some(_) => return Err(InvalidTensor::Repeated { level, position }),
                None => return Err(InvalidTensor::Misplaced { level, position }),
            }
        }
        Ok(())
    }

    fn banded(&self, positions: &IndexArray, first: &IndexArray, vacant: &Vacant) -> Checked {
        self.length(Role::Coordinates, self.parents, first.len())?;
        // The last position is the number of children: there is no array of them to compare it with.
        let count = positions.last().unwrap_or(0);
        for (parent, row) in self.rows(positions, count, vacant)?.into_iter().enumerate() {
            if let Some(last) = row.len().checked_sub(1) {
                self.within(first.get(parent).saturating_add(last), row.end - 1)?;
            }
        }
        Ok((count, None, None))
    }

    fn run(&self, positions: &IndexArray, ends: &IndexArray, vacant: &Vacant) -> Checked {
        let (level, extent) = (self.level, self.layout.extents[self.level]);
        for (parent, row) in self.rows(positions, ends.len(), vacant)?.into_iter().enumerate() {
            let mut end = 0;
            for position in row {
                if ends.get(position) <= end {
                    return Err(InvalidTensor::Unordered { level, position });
                }
                end = ends.get(position);
            }
            let expected = if is_vacant(vacant, parent) { 0 } else { extent };
            if end != expected {
                return Err(InvalidTensor::Runs { level, parent, end, extent });
            }
        }
        Ok((ends.len(), None, None))
    }

    fn flagged(&self, flags: &IndexArray, coordinates: &IndexArray, vacant: &Vacant) -> Checked {
        let level = self.level;
        self.length(Role::Positions, coordinates.len(), flags.len())?;
        let mut begins = vec![true; if self.format.unique() { 0 } else { flags.len() }];
        let (mut found, mut previous) = (0usize, None);
        for (position, flag) in flags.iter().enumerate() {
            match flag {
                0 if found == 0 => return Err(InvalidTensor::Flags { level, expected: self.parents, found }),
                0 => {}
                1 => (found, previous) = (found + 1, None),
                found => return Err(InvalidTensor::Flag { level, position, found }),
            }
            let coordinate = coordinates.get(position);
            self.next(previous, coordinate, position, begins.get_mut(position))?;
            previous = Some(coordinate);
        }
        if found != self.parents {
            return Err(InvalidTensor::Flags { level, expected: self.parents, found });
        }
        if let Some(position) = vacant.as_ref().and_then(|vacant| vacant.iter().position(|&vacant| vacant)) {
            return Err(InvalidTensor::Vacant { level, position });
        }
        Ok((flags.len(), (!self.format.unique()).then_some(begins), None))
    }
}

/// The number of a level's positions, their groups, and which are vacant.
type Checked = Result<(usize, Groups, Vacant), InvalidTensor>;
