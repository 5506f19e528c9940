//! Checking what a tensor promises, level by level, in parallel.
//!
//! The contract of level formats speaks of the children of a *range of parents that share all coordinates so far*: one
//! parent, unless a level above is not unique. Here such a range is a **group**. Under each group coordinates ascend,
//! strictly where the level is unique; where it is not, children of equal coordinate form the next level's groups:
//!
//! ```text
//! compressed(nonunique)   0  0  2  2  2        groups  0..2, 2..5
//! singleton               1  4  0  3  3        groups  0..1, 1..2, 2..3, 3..5    wrong: the last two are one entry
//! ```

mod filled;
#[cfg(test)]
mod tests;

use super::index_array::with_indices;
use super::layout::Layout;
use super::tasks;
use super::values::{same_bits, with_values};
use super::{AnyTensor, Element, Index, IndexArray, InvalidTensor, LevelArrays};
use filled::{Vacant, is_vacant};
use rayon::prelude::*;
use spc_compiler::format::{IndexWidth, LevelFormat, Role};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Mutex;

/// How many positions a task checks.
const GRAIN: usize = 1 << 16;

/// For each position whether it begins a group; `None` where every position does.
type Groups = Option<Vec<bool>>;

fn begins_group(groups: &Groups, position: usize) -> bool {
    groups.as_ref().is_none_or(|begins| begins[position])
}

impl AnyTensor {
    /// Checks all that a tensor promises. Tensors are valid by construction; this is for tests of what constructs them.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), InvalidTensor> {
        validate(self)
    }
}

fn validate(tensor: &AnyTensor) -> Result<(), InvalidTensor> {
    let layout = Layout::new(&tensor.format, &tensor.shape)?;
    if tensor.levels.len() != layout.depth() {
        return Err(InvalidTensor::LevelCount { expected: layout.depth(), found: tensor.levels.len() });
    }
    let mut count = 1usize;
    let mut groups: Groups = None;
    let mut vacant: Vacant = None;
    for (number, storage) in tensor.levels.iter().enumerate() {
        let check = Check { layout: &layout, level: number, format: layout.levels[number], parents: count };
        (count, groups, vacant) = check.level(storage, groups, vacant)?;
    }
    if tensor.values.len() != count {
        return Err(InvalidTensor::ValueCount { expected: count, found: tensor.values.len() });
    }
    if let Some(position) = groups.and_then(|begins| begins.iter().position(|&begins| !begins)) {
        return Err(InvalidTensor::Duplicate { position });
    }
    let scattered = |format: &LevelFormat| !format.ordered() && !format.unique();
    if layout.levels.iter().any(scattered) {
        distinct_entries(tensor)?;
    }
    if !layout.stores_modes() {
        padding_is_empty(tensor)?;
    }
    match tensor.find_beyond_symmetry() {
        Some(index) => Err(InvalidTensor::NotStored { format: tensor.format.to_string(), index }),
        None => Ok(()),
    }
}

/// Where coordinates are computed, some of them may stand for no index of the tensor; nothing but the fill value can be there.
fn padding_is_empty(tensor: &AnyTensor) -> Result<(), InvalidTensor> {
    fn find<T: Element>(tensor: &AnyTensor, values: &[T]) -> Option<usize> {
        let fill = T::from_literal(tensor.fill).unwrap_or(T::ZERO);
        // The bits tell a fill value that is no number.
        let is_fill = |value: &T| *value == fill || same_bits(value, &fill);
        tensor.find_padding(&|position| !is_fill(&values[position]))
    }
    match with_values!(&tensor.values, |values| find(tensor, values)) {
        Some(position) => Err(InvalidTensor::Padding { position }),
        None => Ok(()),
    }
}

/// Where equal coordinates may be apart, comparing neighbours does not find equal entries: sort them all.
fn distinct_entries(tensor: &AnyTensor) -> Result<(), InvalidTensor> {
    let mut entries = Vec::with_capacity(tensor.values.len());
    tensor.for_each_position(|index, position| entries.push((index.to_vec(), position)));
    entries.par_sort_unstable();
    match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(InvalidTensor::Duplicate { position: pair[1].1 }),
        None => Ok(()),
    }
}

struct Check<'a> {
    layout: &'a Layout,
    level: usize,
    format: LevelFormat,
    parents: usize,
}

impl Check<'_> {
    /// The number of the level's positions, their groups, and which of them are vacant.
    fn level(
        &self,
        storage: &LevelArrays,
        groups: Groups,
        vacant: Vacant,
    ) -> Result<(usize, Groups, Vacant), InvalidTensor> {
        if !storage.are_of(self.format) {
            return Err(InvalidTensor::Arrays { level: self.level, kind: self.format.kind.name });
        }
        let kind = self.format.kind;
        match (storage.positions(), storage.coordinates()) {
            _ if kind.is_dense() => {
                let (count, groups) = self.dense(groups)?;
                let extent = self.layout.extents[self.level];
                let below = |vacant: Vec<bool>| {
                    vacant.into_iter().flat_map(|vacant| std::iter::repeat_n(vacant, extent)).collect()
                };
                Ok((count, groups, vacant.map(below)))
            }
            (Some(positions), Some(coordinates)) if kind.is_compressed() => {
                self.widths(storage)?;
                let (count, groups) = with_indices!(positions, |positions| {
                    self.positions(positions, coordinates.len())?;
                    let parent = |child: usize| positions.partition_point(|begin| begin.to_usize() <= child) - 1;
                    let end = |parent: usize| positions[parent + 1].to_usize();
                    let begin = |groups: &Groups, children: Range<usize>, firsts: &mut [bool]| {
                        begins_of(positions, groups, children, firsts);
                    };
                    let families = Families { parent: &parent, end: &end, begin: &begin };
                    with_indices!(coordinates, |coordinates| self.coordinates(coordinates, groups, Some(families)))?
                });
                let has_children = |&parent: &usize| positions.get(parent) < positions.get(parent + 1);
                let parents = if vacant.is_some() { 0..self.parents } else { 0..0 };
                match parents.filter(|&parent| is_vacant(&vacant, parent)).find(has_children) {
                    Some(parent) => Err(InvalidTensor::Vacant { level: self.level, position: positions.get(parent) }),
                    None => Ok((count, groups, None)),
                }
            }
            (_, Some(coordinates)) if kind.is_singleton() => {
                self.widths(storage)?;
                self.length(Role::Coordinates, self.parents, coordinates.len())?;
                if let Some(vacant) = vacant {
                    return self.singleton_with_vacancies(coordinates, groups, vacant);
                }
                let (count, groups) =
                    with_indices!(coordinates, |coordinates| self.coordinates(coordinates, groups, None))?;
                Ok((count, groups, None))
            }
            _ => self.filled(storage, &groups, &vacant),
        }
    }

    /// What stands for the coordinates of vacant parents is not looked at.
    fn singleton_with_vacancies(
        &self,
        coordinates: &IndexArray,
        groups: Groups,
        vacant: Vec<bool>,
    ) -> Result<(usize, Groups, Vacant), InvalidTensor> {
        let mut begins = vec![true; vacant.len()];
        let mut previous = None;
        for (position, coordinate) in coordinates.iter().enumerate().filter(|(position, _)| !vacant[*position]) {
            let before = previous.filter(|_| !begins_group(&groups, position));
            let begins = (!self.format.unique()).then_some(&mut begins[position]);
            self.next(before, coordinate, position, begins)?;
            previous = Some(coordinate);
        }
        Ok((coordinates.len(), (!self.format.unique()).then_some(begins), Some(vacant)))
    }

    fn dense(&self, groups: Groups) -> Result<(usize, Groups), InvalidTensor> {
        let extent = self.layout.extents[self.level];
        let count = self.parents.checked_mul(extent).ok_or(InvalidTensor::TooLarge { level: self.level })?;
        // A group of several parents would have each coordinate of this level several times.
        match groups.and_then(|begins| begins.iter().position(|&begins| !begins)) {
            Some(parent) if extent > 0 => Err(InvalidTensor::Duplicate { position: parent * extent }),
            _ => Ok((count, None)),
        }
    }

    fn width(&self, array: Role, expected: IndexWidth, indices: &IndexArray) -> Result<(), InvalidTensor> {
        if indices.width() == expected {
            return Ok(());
        }
        Err(InvalidTensor::Width { level: self.level, array, expected, found: indices.width() })
    }

    fn length(&self, array: Role, expected: usize, found: usize) -> Result<(), InvalidTensor> {
        if found == expected {
            return Ok(());
        }
        Err(InvalidTensor::Length { level: self.level, array, expected, found })
    }

    fn positions<P: Index>(&self, positions: &[P], children: usize) -> Result<(), InvalidTensor> {
        let level = self.level;
        // As many parents as this can't be in memory, but can be claimed.
        self.length(Role::Positions, self.parents.saturating_add(1), positions.len())?;
        let first = positions[0].to_usize();
        if first != 0 {
            return Err(InvalidTensor::Begin { level, found: first });
        }
        let descent = tasks::first(&tasks::ranges(self.parents, GRAIN), &|range| {
            positions[range.start..=range.end]
                .windows(2)
                .position(|pair| pair[0] > pair[1])
                .map(|place| range.start + place)
        });
        if let Some(parent) = descent {
            let (from, to) = (positions[parent].to_usize(), positions[parent + 1].to_usize());
            return Err(InvalidTensor::Descent { level, parent, from, to });
        }
        self.length(Role::Coordinates, positions[self.parents].to_usize(), children)
    }

    /// Checks coordinates whose parents and parents' ends are given by functions, or of which each parent has one.
    fn coordinates<C: Index>(
        &self,
        coordinates: &[C],
        groups: Groups,
        families: Option<Families<'_>>,
    ) -> Result<(usize, Groups), InvalidTensor> {
        let count = coordinates.len();
        let siblings = Siblings { coordinates, groups: &groups, families };
        let ranges = tasks::ranges(count, GRAIN);
        let mut begins = vec![false; if self.format.unique() { 0 } else { count }];
        let mut rest = &mut begins[..];
        let own =
            |range: &Range<usize>| Mutex::new(rest.split_off_mut(..range.len().min(rest.len())).unwrap_or_default());
        let parts: Vec<Mutex<&mut [bool]>> = ranges.iter().map(own).collect();
        let wrong = tasks::first(&ranges, &|range| {
            let mut begins = tasks::locked(&parts[range.start / GRAIN]);
            self.range(&siblings, range, &mut begins).err()
        });
        drop(parts);
        wrong.map_or(Ok(()), Err)?;
        if !self.format.ordered() && self.format.unique() {
            self.distinct(&siblings)?;
        }
        Ok((count, (!self.format.unique()).then_some(begins)))
    }

    /// Checks a range of coordinates against their extent and each against the one before it. Says which begin a group, where
    /// they may be equal.
    fn range<C: Index>(
        &self,
        siblings: &Siblings<'_, C>,
        range: Range<usize>,
        begins: &mut [bool],
    ) -> Result<(), InvalidTensor> {
        if self.is_right(siblings, range.clone(), begins) {
            return Ok(());
        }
        let (level, extent) = (self.level, self.layout.extents[self.level]);
        let (ordered, unique) = (self.format.ordered(), self.format.unique());
        siblings.walk(range, |position, previous, coordinate| {
            if coordinate.to_usize() >= extent {
                let (coordinate, mode) = (coordinate.to_usize(), self.layout.modes[level]);
                return Err(InvalidTensor::Beyond { level, mode, position, coordinate, extent });
            }
            match previous {
                Some(previous) if ordered && previous > coordinate => Err(InvalidTensor::Unordered { level, position }),
                Some(previous) if unique && previous == coordinate => Err(InvalidTensor::Repeated { level, position }),
                _ => Ok(()),
            }
        })
    }

    /// Whether nothing is wrong with a range of coordinates, without a branch for each: what is wrong is found by a slower look.
    fn is_right<C: Index>(&self, siblings: &Siblings<'_, C>, range: Range<usize>, begins: &mut [bool]) -> bool {
        let extent = self.layout.extents[self.level];
        // Asked once: a level's parameters are looked up by name.
        let (ordered, unique) = (self.format.ordered(), self.format.unique());
        let here = &siblings.coordinates[range.clone()];
        let is_wrong = here.iter().fold(false, |is_wrong, coordinate| is_wrong | (coordinate.to_usize() >= extent));
        let firsts = siblings.firsts(range.clone());
        // Before the very first there is none.
        let begin = range.start.max(1);
        let skipped = begin - range.start;
        begins.iter_mut().take(skipped).for_each(|begins| *begins = true);
        let pairs = siblings.coordinates[begin - 1..range.end - 1].iter().zip(&here[skipped..]);
        let begins = begins.get_mut(skipped..).unwrap_or_default();
        !(is_wrong | compared(pairs, &firsts[skipped..], begins, ordered, unique))
    }

    /// Checks that unordered coordinates are unique in each group.
    fn distinct<C: Index>(&self, siblings: &Siblings<'_, C>) -> Result<(), InvalidTensor> {
        let mut group: Vec<(C, usize)> = Vec::new();
        let check = |group: &mut Vec<(C, usize)>| {
            group.sort_unstable();
            let repeated = group.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1);
            group.clear();
            repeated.map_or(Ok(()), |position| Err(InvalidTensor::Repeated { level: self.level, position }))
        };
        siblings.walk(0..siblings.coordinates.len(), |position, previous, coordinate| {
            if previous.is_none() {
                check(&mut group)?;
            }
            group.push((coordinate, position));
            Ok(())
        })?;
        check(&mut group)
    }
}

/// Whether something is wrong between coordinates and those before them, where that is not the first of its siblings. Where they may be equal, says
/// which begin a group.
fn compared<'a, C: Index>(
    pairs: impl Iterator<Item = (&'a C, &'a C)>,
    firsts: &[bool],
    begins: &mut [bool],
    ordered: bool,
    unique: bool,
) -> bool {
    let mut is_wrong = false;
    let pairs = pairs.zip(firsts);
    if unique {
        for ((before, coordinate), is_first) in pairs {
            is_wrong |= !is_first & ((ordered & (before > coordinate)) | (before == coordinate));
        }
    } else {
        for (((before, coordinate), is_first), begins) in pairs.zip(begins) {
            is_wrong |= !is_first & ordered & (before > coordinate);
            *begins = is_first | (before != coordinate);
        }
    }
    is_wrong
}

/// Says which of a range of children are the first under a group of parents.
type Begin<'a> = dyn Fn(&Groups, Range<usize>, &mut [bool]) + Sync + 'a;

/// Which children parents have.
#[derive(Clone, Copy)]
struct Families<'a> {
    /// The parent of a child.
    parent: &'a (dyn Fn(usize) -> usize + Sync),
    /// One past the last child of a parent.
    end: &'a (dyn Fn(usize) -> usize + Sync),
    begin: &'a Begin<'a>,
}

/// Where children of parents that begin a group begin, of those in a range.
fn begins_of<P: Index>(positions: &[P], groups: &Groups, children: Range<usize>, firsts: &mut [bool]) {
    let first = |child: usize| positions.partition_point(|begin| begin.to_usize() < child);
    let parents = first(children.start)..first(children.end);
    let begins = &positions[parents.clone()];
    match groups {
        None => begins.iter().for_each(|begin| firsts[begin.to_usize() - children.start] = true),
        Some(groups) => {
            for (begin, begins_group) in begins.iter().zip(&groups[parents]) {
                firsts[begin.to_usize() - children.start] |= begins_group;
            }
        }
    }
}

/// The coordinates of a level with what tells which of them are under one group of parents.
struct Siblings<'a, C> {
    coordinates: &'a [C],
    groups: &'a Groups,
    /// None where each parent has one child.
    families: Option<Families<'a>>,
}

impl<C: Index> Siblings<'_, C> {
    /// Which of a range of positions are the first under a group of parents.
    fn firsts(&self, range: Range<usize>) -> Cow<'_, [bool]> {
        let Some(families) = self.families else {
            return match self.groups {
                Some(begins) => Cow::Borrowed(&begins[range]),
                None => Cow::Owned(vec![true; range.len()]),
            };
        };
        let mut firsts = vec![false; range.len()];
        (families.begin)(self.groups, range, &mut firsts);
        Cow::Owned(firsts)
    }

    fn parent(&self, child: usize) -> usize {
        self.families.map_or(child, |families| (families.parent)(child))
    }

    fn end(&self, parent: usize) -> usize {
        self.families.map_or(parent + 1, |families| (families.end)(parent))
    }

    /// Calls `visit(position, coordinate before it in the same group, coordinate)` for a range of positions.
    fn walk(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(usize, Option<C>, C) -> Result<(), InvalidTensor>,
    ) -> Result<(), InvalidTensor> {
        if range.is_empty() {
            return Ok(());
        }
        let mut previous = range.start.checked_sub(1).map(|before| self.coordinates[before]);
        let mut parent = self.parent(range.start.saturating_sub(1));
        let mut end = self.end(parent);
        for position in range {
            while position >= end {
                parent += 1;
                end = self.end(parent);
                if begins_group(self.groups, parent) {
                    previous = None;
                }
            }
            let coordinate = self.coordinates[position];
            visit(position, previous, coordinate)?;
            previous = Some(coordinate);
        }
        Ok(())
    }
}
