//! The arrays of one level, and what its declaration says of them.

use super::index_array::with_indices;
use super::{Index, IndexArray, hash_table};
use spc_compiler::format::{Children, Code, LevelFormat, Role, Told, Vacancies};
use spc_compiler::level::vacancy;
use std::iter::StepBy;
use std::ops::Range;

/// The arrays of one level, by what they are for. Cloning shares them. What they hold is drawn in the compiler's documentation of
/// each level, and declared in [`spc_compiler::format::Declaration`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LevelArrays {
    positions: Option<IndexArray>,
    coordinates: Option<IndexArray>,
}

impl LevelArrays {
    /// A level without arrays: `dense`, `diagonal`.
    pub const NONE: LevelArrays = LevelArrays { positions: None, coordinates: None };

    /// The arrays that a level has: what tells where children are, and what tells which coordinates there are.
    pub fn new(positions: Option<IndexArray>, coordinates: Option<IndexArray>) -> Self {
        Self { positions, coordinates }
    }

    /// A level with both arrays: `compressed` and others.
    pub fn of(positions: impl Into<IndexArray>, coordinates: impl Into<IndexArray>) -> Self {
        Self::new(Some(positions.into()), Some(coordinates.into()))
    }

    /// A level that has the array of coordinates alone: `singleton` and others.
    pub fn of_coordinates(coordinates: impl Into<IndexArray>) -> Self {
        Self::new(None, Some(coordinates.into()))
    }

    /// The array with a role, where the level has one.
    pub fn array(&self, role: Role) -> Option<&IndexArray> {
        match role {
            Role::Positions => self.positions.as_ref(),
            Role::Coordinates => self.coordinates.as_ref(),
        }
    }

    /// The array that says where children are, where the level has one: positions, the width, flags of first children.
    pub fn positions(&self) -> Option<&IndexArray> {
        self.positions.as_ref()
    }

    /// The array that says which coordinates there are, where the level has one: coordinates, flags of those with an entry,
    /// the first of each parent, ends of runs.
    pub fn coordinates(&self) -> Option<&IndexArray> {
        self.coordinates.as_ref()
    }

    /// Both arrays.
    pub(crate) fn into_arrays(self) -> (Option<IndexArray>, Option<IndexArray>) {
        (self.positions, self.coordinates)
    }

    /// All arrays, in the order of files.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &IndexArray> {
        Role::ALL.into_iter().filter_map(|role| self.array(role))
    }

    /// Whether it has the arrays that a level stores, of whatever width.
    pub fn are_of(&self, format: LevelFormat) -> bool {
        Role::ALL.into_iter().all(|role| self.array(role).is_some() == format.array(role).is_some())
    }

    /// The number of positions under so many parents, by the arrays; `None` where it can't be counted. `extent` is that of the
    /// level's coordinate.
    pub fn position_count(&self, format: LevelFormat, parents: usize, extent: usize) -> Option<usize> {
        use spc_compiler::format::Length;
        let counts = |role: Role| format.array(role).is_some_and(|array| array.length == Length::Positions);
        match Role::ALL.into_iter().rev().find(|role| counts(*role)) {
            Some(role) => self.array(role).map(IndexArray::len),
            None => match format.kind.children {
                Children::Every => parents.checked_mul(extent),
                Children::One => Some(parents),
                Children::Width => parents.checked_mul(self.row_width(format)),
                Children::Bounded | Children::Slices | Children::Flags => self.positions.as_ref()?.last(),
            },
        }
    }

    /// How many positions each parent has, where one number says it.
    fn row_width(&self, format: LevelFormat) -> usize {
        self.positions.as_ref().map_or(format.count().unwrap_or(0) as usize, |width| width.get(0))
    }

    /// The number of bytes of its arrays.
    pub fn bytes(&self) -> usize {
        self.iter().map(IndexArray::bytes).sum()
    }

    fn expect(&self, role: Role) -> &IndexArray {
        self.array(role).unwrap_or_else(|| panic!("a level of a tensor has the {} that it declares", role.name()))
    }
}

/// A level of a tensor: its arrays, read as its declaration says.
pub(super) struct StoredLevel<'a> {
    format: LevelFormat,
    arrays: &'a LevelArrays,
    extent: usize,
    /// Where first children are flagged: where those of each parent begin, and where the last end.
    begins: Vec<usize>,
}

impl<'a> StoredLevel<'a> {
    pub(super) fn new(format: LevelFormat, arrays: &'a LevelArrays, extent: usize) -> Self {
        let begins = match format.kind.children {
            Children::Flags => {
                let flags = arrays.expect(Role::Positions);
                let first = (0..flags.len()).filter(|&position| flags.get(position) == 1);
                first.chain([flags.len()]).collect()
            }
            _ => Vec::new(),
        };
        Self { format, arrays, extent, begins }
    }

    fn coordinates(&self) -> &'a IndexArray {
        self.arrays.expect(Role::Coordinates)
    }

    /// The positions of a parent, those without an entry included.
    pub(super) fn row(&self, parent: usize) -> StepBy<Range<usize>> {
        match self.format.kind.children {
            Children::Slices => slice_row(self.arrays.expect(Role::Positions), parent, self.format),
            _ => self.range(parent..parent + 1).step_by(1),
        }
    }

    /// The positions of some parents, where these are side by side.
    fn range(&self, parents: Range<usize>) -> Range<usize> {
        let scaled = |by: usize| parents.start * by..parents.end * by;
        match self.format.kind.children {
            Children::Every => scaled(self.extent),
            Children::One => parents,
            Children::Width => scaled(self.arrays.row_width(self.format)),
            Children::Flags => self.begins[parents.start]..self.begins[parents.end],
            Children::Bounded | Children::Slices => {
                let positions = self.arrays.expect(Role::Positions);
                positions.get(parents.start)..positions.get(parents.end)
            }
        }
    }

    /// Calls `visit(coordinate, position)` for each child of a parent whose coordinate is `above`, but for what is no entry.
    pub(super) fn each_child(&self, parent: usize, above: usize, visit: &mut dyn FnMut(usize, usize)) {
        let row = self.row(parent);
        match (self.format.kind.told, self.format.kind.vacancies) {
            (Told::Offset, Vacancies::Flagged) => {
                let flags = self.coordinates();
                let present = row.enumerate().filter(|&(_, position)| flags.get(position) == 1);
                present.for_each(|(coordinate, position)| visit(coordinate, position));
            }
            (Told::Offset, _) => row.enumerate().for_each(|(coordinate, position)| visit(coordinate, position)),
            (Told::Above, _) => row.for_each(|position| visit(above, position)),
            (Told::First, _) => {
                let first = self.coordinates();
                row.enumerate().for_each(|(number, position)| visit(first.get(parent) + number, position));
            }
            (Told::Stored, Vacancies::None) => each(self.coordinates(), row, visit),
            (Told::Stored, _) => each_present(self.coordinates(), row, visit),
            (Told::Ends, _) => {
                let mut begin = 0;
                for position in row {
                    let end = self.coordinates().get(position);
                    (begin..end).for_each(|coordinate| visit(coordinate, position));
                    begin = end;
                }
            }
            (Told::Coded(code), _) => {
                let mut decoder = Decoder::new(code, self.format);
                each(self.coordinates(), row, &mut |stored, position| {
                    if let Some(coordinate) = decoder.next(stored) {
                        visit(coordinate, position);
                    }
                });
            }
        }
    }

    /// Calls `visit(coordinate, position)` for each position of a parent, where what tells its coordinate needs no entry; with no
    /// coordinate at a gap.
    pub(super) fn each_position(
        &self,
        parent: usize,
        above: Option<usize>,
        visit: &mut dyn FnMut(Option<usize>, usize),
    ) {
        let row = self.row(parent);
        match self.format.kind.told {
            Told::Offset => row.enumerate().for_each(|(coordinate, position)| visit(Some(coordinate), position)),
            Told::Above => row.for_each(|position| visit(above, position)),
            Told::First => {
                let first = self.coordinates().get(parent);
                row.enumerate().for_each(|(number, position)| visit(Some(first + number), position));
            }
            Told::Stored => row.for_each(|position| visit(Some(self.coordinates().get(position)), position)),
            Told::Ends => row.for_each(|position| visit(None, position)),
            Told::Coded(code) => {
                let mut decoder = Decoder::new(code, self.format);
                row.for_each(|position| visit(decoder.next(self.coordinates().get(position)), position));
            }
        }
    }

    /// The position of a coordinate under one parent whose coordinate is `above`.
    pub(super) fn locate(&self, parent: usize, above: Option<usize>, coordinate: usize) -> Option<usize> {
        let mut row = self.row(parent);
        match (self.format.kind.told, self.format.kind.vacancies) {
            (Told::Offset, vacancies) => {
                let position = row.nth(coordinate)?;
                let is_vacant = vacancies == Vacancies::Flagged && self.coordinates().get(position) != 1;
                (!is_vacant).then_some(position)
            }
            (Told::Above, _) => row.next().filter(|_| above == Some(coordinate)),
            (Told::First, _) => row.nth(coordinate.checked_sub(self.coordinates().get(parent))?),
            (Told::Stored, Vacancies::Slots) => {
                let row = self.range(parent..parent + 1);
                with_indices!(self.coordinates(), |coordinates| {
                    hash_table::probe(&coordinates[row.clone()], coordinate).map(|slot| row.start + slot)
                })
            }
            (Told::Stored, _) => row.find(|&position| self.coordinates().get(position) == coordinate),
            (Told::Ends, _) => with_indices!(self.coordinates(), |ends| {
                let row = self.range(parent..parent + 1);
                Some(row.start + ends[row].partition_point(|end| end.to_usize() <= coordinate))
            }),
            (Told::Coded(code), _) => {
                let mut decoder = Decoder::new(code, self.format);
                row.find(|&position| decoder.next(self.coordinates().get(position)) == Some(coordinate))
            }
        }
    }

    /// The children of parents that share all coordinates so far, with their coordinates, where these are stored as they are, side by
    /// side: what several parents have may be searched at once.
    pub(super) fn searched(&self, parents: Range<usize>) -> Option<(Range<usize>, &'a IndexArray)> {
        let kind = self.format.kind;
        let is_stored = matches!(kind.told, Told::Stored) && kind.vacancies != Vacancies::Slots;
        (is_stored && kind.children != Children::Slices).then(|| (self.range(parents), self.coordinates()))
    }
}

/// Decodes the coordinates of one parent's children, one after the other.
pub(super) struct Decoder {
    code: Code,
    largest: u64,
    before: Option<u64>,
}

impl Decoder {
    pub(super) fn new(code: Code, format: LevelFormat) -> Self {
        Self { code, largest: format.coordinates().maximum(), before: None }
    }

    /// The coordinate that a stored number stands for; none at a gap.
    pub(super) fn next(&mut self, stored: usize) -> Option<usize> {
        let (reached, is_entry) = (self.code.decode)(self.before, stored as u64, self.largest);
        self.before = Some(reached);
        is_entry.then_some(reached as usize)
    }
}

/// The positions of a parent, of so many side by side.
pub(super) fn slice_row(positions: &IndexArray, parent: usize, format: LevelFormat) -> StepBy<Range<usize>> {
    let rows = format.count().unwrap_or(1) as usize;
    let (slice, row) = (parent / rows, parent % rows);
    let (begin, end) = (positions.get(slice), positions.get(slice + 1));
    // The last position of a slice is that of its last row.
    (begin + row..end).step_by(rows)
}

fn each(coordinates: &IndexArray, range: impl Iterator<Item = usize>, visit: &mut dyn FnMut(usize, usize)) {
    with_indices!(coordinates, |coordinates| {
        range.for_each(|position| visit(coordinates[position].to_usize(), position));
    });
}

fn each_present(coordinates: &IndexArray, range: impl Iterator<Item = usize>, visit: &mut dyn FnMut(usize, usize)) {
    let vacancy = vacancy(coordinates.width()) as usize;
    each(coordinates, range, &mut |coordinate, position| {
        if coordinate != vacancy {
            visit(coordinate, position);
        }
    });
}
