//! Level formats: one file each, one contract.
//!
//! A level maps positions of the level above (its parents) to positions of its own, each with a coordinate. What a level
//! can do is what its methods return `Some` for; the code they return is the only place where its arrays are read or
//! written. Everything else asks through [`Level`].

mod banded;
mod bitmap;
mod compressed;
mod dense;
mod diagonal;
mod flagged;
pub mod hashed;
mod padded;
mod run;
mod singleton;
mod sliced;

use super::{IndexWidth, LevelFormat, LevelKind};
use crate::ir::{ArrayId, BinaryOperator, Expr, Statement};

/// The arrays and the extent of one level of one tensor, as the loop IR knows them.
#[derive(Debug, Clone)]
pub struct Storage {
    /// The level's format.
    pub format: LevelFormat,
    /// The position array, where the level has one.
    pub positions: Option<ArrayId>,
    /// The coordinate array, where the level has one.
    pub coordinates: Option<ArrayId>,
    /// The extent of its coordinate.
    pub extent: Expr,
    /// The first of the parents whose children are asked for.
    pub parent: Expr,
    /// Their coordinate in the level above, where there is one.
    pub above: Option<Expr>,
}

/// A range of parent positions that share all coordinates so far: one position, unless a level above is not unique.
#[derive(Debug, Clone, PartialEq)]
pub struct Parents {
    /// The first.
    pub begin: Expr,
    /// One past the last; `None` when there is just one.
    pub end: Option<Expr>,
}

/// The positions of a level under some parents.
#[derive(Debug, Clone, PartialEq)]
pub struct Positions {
    /// The first.
    pub begin: Expr,
    /// One past the last.
    pub end: Expr,
}

/// Which arrays a level stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrays {
    /// Neither positions nor coordinates.
    None,
    /// Coordinates only.
    Coordinates,
    /// Positions and coordinates.
    PositionsAndCoordinates,
}

/// What may be said of a level in its parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// `nonunique`
    Nonunique,
    /// `unordered`
    Unordered,
    /// `morton`
    Morton,
    /// The width of coordinates: `u8`, `crd = u8`.
    Coordinates,
    /// The width of positions: `pos = u64`.
    Positions,
    /// The number of positions of each parent: `width = 2`.
    Width,
    /// The number of parents side by side: `rows = 8`.
    Rows,
}

/// What stands for a coordinate where there is none, in levels that fill up with such places: the largest number of the
/// type, which is then no coordinate. It comes after all that are.
pub fn vacancy(width: IndexWidth) -> u64 {
    width.maximum()
}

/// The contract of a level format. Capabilities return `None` where the level lacks them.
pub trait Level: Sync {
    /// Its name in the language.
    fn name(&self) -> &'static str;

    /// One line on what it stores, for messages and listings.
    fn summary(&self) -> &'static str;

    /// The arrays that it stores.
    fn arrays(&self, format: LevelFormat) -> Arrays;

    /// What may be said of it.
    fn properties(&self) -> &'static [Property];

    /// Whether a property may be said of it.
    fn takes(&self, property: Property) -> bool {
        self.properties().contains(&property)
    }

    /// Whether it stores places that have no entry, as entries of the fill value.
    fn fills(&self) -> bool {
        false
    }

    /// Whether it has positions that are no entries: padding, empty slots.
    fn has_vacancies(&self) -> bool {
        false
    }

    /// **iterate**: the positions under `parents`, whose coordinates [`Level::coordinate`] gives in order. Where these are not side
    /// by side, the numbers of children, which [`Level::position`] finds: what is said here of a walked position is said of them.
    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        let _ = (storage, parents);
        None
    }

    /// The position of a child with a number, where [`Level::positions`] numbers the children of each parent for itself.
    fn position(&self, storage: &Storage, number: Expr) -> Option<Expr> {
        let _ = (storage, number);
        None
    }

    /// A position before which there are children of earlier parents only, and of these as many as positions tell.
    fn first_position(&self, storage: &Storage, parents: &Parents) -> Option<Expr> {
        self.positions(storage, parents).map(|positions| positions.begin)
    }

    /// The coordinate at a position; `Some` wherever [`Level::positions`] is.
    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        let _ = (storage, position);
        None
    }

    /// Whether there is an entry at a position that is walked; `None` where there is one at each. Coordinates then come in any order.
    fn occupied(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        let _ = (storage, position);
        None
    }

    /// **search**: the first of the positions whose coordinate is not below a value; `Some` wherever [`Level::positions`] is.
    fn search(&self, storage: &Storage, positions: &Positions, value: Expr) -> Option<Expr> {
        Some(Expr::Search {
            array: storage.coordinates?,
            begin: Box::new(positions.begin.clone()),
            end: Box::new(positions.end.clone()),
            value: Box::new(value),
            stride: 1,
        })
    }

    /// **parent**: the parent of a position; of the one past the last position, the one past the last parent that may have
    /// children.
    fn parent(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        let _ = (storage, position);
        None
    }

    /// **locate**: the position of a coordinate under one parent, found without a search. Every coordinate is there.
    fn locate(&self, storage: &Storage, parent: Expr, coordinate: Expr) -> Option<Expr> {
        let _ = (storage, parent, coordinate);
        None
    }

    /// **probe**: the position of a coordinate under one parent, found without a search. There may be no entry.
    fn probe(&self, storage: &Storage, parent: Expr, coordinate: Expr) -> Option<Expr> {
        let _ = (storage, parent, coordinate);
        None
    }

    /// Whether there is an entry at a position; `Some` wherever [`Level::probe`] is.
    fn has_entry(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        let _ = (storage, position);
        None
    }

    /// **append**: statements that add `coordinate` after what the level holds.
    fn append(&self, storage: &Storage, coordinate: Expr) -> Option<Vec<Statement>> {
        let _ = (storage, coordinate);
        None
    }

    /// Statements that end a parent's children, after the last of them was appended; `Some` wherever [`Level::append`] is.
    /// `children` is the number of positions that the level now has.
    fn close_parent(&self, storage: &Storage, children: Expr) -> Option<Vec<Statement>> {
        let _ = (storage, children);
        None
    }
}

/// Every kind of level: the list that a new level joins.
pub const ALL: &[(LevelKind, &dyn Level)] = &[
    (LevelKind::Dense, &dense::Dense),
    (LevelKind::Compressed, &compressed::Compressed),
    (LevelKind::Singleton, &singleton::Singleton),
    (LevelKind::Padded, &padded::Padded),
    (LevelKind::Bitmap, &bitmap::Bitmap),
    (LevelKind::Hashed, &hashed::Hashed),
    (LevelKind::Diagonal, &diagonal::Diagonal),
    (LevelKind::Banded, &banded::Banded),
    (LevelKind::Run, &run::Run),
    (LevelKind::Flagged, &flagged::Flagged),
    (LevelKind::Sliced, &sliced::Sliced),
];

/// The level format of a kind.
pub fn of(kind: LevelKind) -> &'static dyn Level {
    ALL.iter().find(|(candidate, _)| *candidate == kind).expect("every kind is listed").1
}

/// What the page of a kind of level says: what it stores, with a picture of its arrays. Code is indented.
pub fn page(kind: LevelKind) -> String {
    let text = match kind {
        LevelKind::Dense => include_str!("dense.rs"),
        LevelKind::Compressed => include_str!("compressed.rs"),
        LevelKind::Singleton => include_str!("singleton.rs"),
        LevelKind::Padded => include_str!("padded.rs"),
        LevelKind::Bitmap => include_str!("bitmap.rs"),
        LevelKind::Hashed => include_str!("hashed.rs"),
        LevelKind::Diagonal => include_str!("diagonal.rs"),
        LevelKind::Banded => include_str!("banded.rs"),
        LevelKind::Run => include_str!("run.rs"),
        LevelKind::Flagged => include_str!("flagged.rs"),
        LevelKind::Sliced => include_str!("sliced.rs"),
    };
    let mut page = String::new();
    let mut is_code = false;
    for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if line.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let indent = if is_code && !line.is_empty() { "    " } else { "" };
        page.push_str(&format!("{indent}{line}\n"));
    }
    // Links of the page are words here.
    page.replace("[`", "`").replace("`]", "`")
}

/// The arrays of a level.
pub fn arrays(format: LevelFormat) -> Arrays {
    of(format.kind).arrays(format)
}

/// A level whose arrays nobody reads, for asking what it can do.
fn anywhere(format: LevelFormat) -> Storage {
    let arrays = arrays(format);
    Storage {
        format,
        positions: (arrays == Arrays::PositionsAndCoordinates).then_some(ArrayId(0)),
        coordinates: (arrays != Arrays::None).then_some(ArrayId(1)),
        extent: Expr::Index(0),
        parent: Expr::Index(0),
        above: Some(Expr::Index(0)),
    }
}

/// The positions of the children of parents, where `positions` says where those of each begin.
fn children_of(positions: ArrayId, parents: &Parents) -> Positions {
    let end = parents.end.clone().unwrap_or_else(|| parents.begin.clone().plus(Expr::Index(1)));
    Positions { begin: Expr::load(positions, parents.begin.clone()), end: Expr::load(positions, end) }
}

/// The parent of a position, where `positions` says where the children of each parent begin: the last that begins there or
/// before.
fn parent_of(positions: ArrayId, position: Expr) -> Expr {
    let next = Expr::Search {
        array: positions,
        begin: Box::new(Expr::Index(0)),
        end: Box::new(Expr::Length(positions)),
        value: Box::new(position.plus(Expr::Index(1))),
        stride: 1,
    };
    next.minus(Expr::Index(1))
}

/// The first position, of some whose coordinates follow each other from `first` on, whose coordinate is not below a value.
fn search_from(first: Expr, positions: &Positions, value: Expr) -> Expr {
    let steps = Expr::binary(BinaryOperator::Maximum, value, first.clone()).minus(first);
    Expr::binary(BinaryOperator::Minimum, positions.begin.clone().plus(steps), positions.end.clone())
}

/// Whether kernels find the parent of a position.
pub fn has_parents(format: LevelFormat) -> bool {
    of(format.kind).parent(&anywhere(format), Expr::Index(0)).is_some()
}

/// Whether kernels walk the positions of a level, in the order of its coordinates.
pub fn is_walked(format: LevelFormat) -> bool {
    ascends(format) && has_positions(format)
}

/// Whether coordinates under one parent ascend with their positions.
pub fn ascends(format: LevelFormat) -> bool {
    format.ordered && of(format.kind).occupied(&anywhere(format), Expr::Index(0)).is_none()
}

/// Whether the children of a parent lie side by side, and those of the next behind them.
pub fn is_contiguous(format: LevelFormat) -> bool {
    of(format.kind).position(&anywhere(format), Expr::Index(0)).is_none()
}

/// Whether kernels walk the positions of a level, in whatever order.
pub fn has_positions(format: LevelFormat) -> bool {
    let parents = Parents { begin: Expr::Index(0), end: None };
    of(format.kind).positions(&anywhere(format), &parents).is_some()
}

/// Whether kernels find the position of a coordinate without a search.
pub fn is_located(format: LevelFormat) -> bool {
    of(format.kind).locate(&anywhere(format), Expr::Index(0), Expr::Index(0)).is_some()
}

/// Whether kernels find the position of a coordinate without a search, and there whether it has an entry.
pub fn is_probed(format: LevelFormat) -> bool {
    of(format.kind).probe(&anywhere(format), Expr::Index(0), Expr::Index(0)).is_some()
}

/// Whether kernels read a level where it is stored, rather than from a copy.
pub fn is_direct(format: LevelFormat) -> bool {
    is_walked(format) || is_located(format) || is_probed(format)
}

/// Whether kernels append to a level.
pub fn is_appended(format: LevelFormat) -> bool {
    of(format.kind).append(&anywhere(format), Expr::Index(0)).is_some()
}

/// The kind of level with a name in the language.
pub fn from_name(name: &str) -> Option<LevelKind> {
    ALL.iter().find(|(_, level)| level.name() == name).map(|(kind, _)| *kind)
}

/// What the tests of each level need, and the laws that hold for all of them.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::VariableId;

    /// A level with its arrays: positions `a0`, coordinates `a1`, extent `d0`.
    pub(super) fn storage(format: LevelFormat) -> Storage {
        Storage { extent: Expr::Dimension(crate::ir::DimensionId(0)), parent: v(0), ..anywhere(format) }
    }

    /// A variable of the test: `v0`, …
    pub(super) fn v(id: u32) -> Expr {
        Expr::Variable(VariableId(id))
    }

    /// One parent, `v0`.
    pub(super) fn one_parent() -> Parents {
        Parents { begin: v(0), end: None }
    }

    /// The parents `v0..v1`.
    pub(super) fn parents() -> Parents {
        Parents { begin: v(0), end: Some(v(1)) }
    }

    fn storages() -> impl Iterator<Item = (&'static dyn Level, Storage)> {
        ALL.iter().map(|&(kind, level)| (level, storage(LevelFormat::new(kind))))
    }

    #[test]
    fn every_level_has_a_name_of_its_own() {
        for (kind, level) in ALL {
            assert_eq!(from_name(level.name()), Some(*kind));
            assert_eq!(of(*kind).name(), level.name());
            assert!(!level.summary().is_empty());
        }
        assert_eq!(from_name("sparse"), None);
    }

    #[test]
    fn positions_have_coordinates() {
        for (level, storage) in storages() {
            let positions = level.positions(&storage, &one_parent());
            assert_eq!(positions.is_some(), level.coordinate(&storage, v(0)).is_some(), "{}", level.name());
            let is_found = positions.is_none_or(|positions| level.search(&storage, &positions, v(1)).is_some());
            assert!(is_found, "{}", level.name());
            let is_probed = level.probe(&storage, v(0), v(1)).is_some();
            assert_eq!(is_probed, level.has_entry(&storage, v(0)).is_some(), "{}", level.name());
        }
    }

    #[test]
    fn positions_have_parents() {
        for (level, storage) in storages() {
            let is_direct = is_walked(storage.format) && is_contiguous(storage.format) || is_located(storage.format);
            assert_eq!(level.parent(&storage, v(0)).is_some(), is_direct, "{}", level.name());
        }
    }

    #[test]
    fn properties_are_those_of_what_is_stored() {
        for (level, Storage { format, .. }) in storages() {
            let arrays = level.arrays(format);
            assert!(!level.takes(Property::Positions) || arrays == Arrays::PositionsAndCoordinates, "{}", level.name());
            assert!(!level.takes(Property::Coordinates) || arrays != Arrays::None, "{}", level.name());
            assert!(!format.lacks_sense(), "{}", level.name());
            assert_eq!(format.nonunique().lacks_sense(), !level.takes(Property::Nonunique), "{}", level.name());
        }
    }

    #[test]
    fn what_is_appended_is_stored_and_closed() {
        for (level, storage) in storages() {
            let appends = level.append(&storage, v(0));
            assert!(appends.is_none() || level.arrays(storage.format) != Arrays::None, "{}", level.name());
            assert_eq!(appends.is_some(), level.close_parent(&storage, v(0)).is_some(), "{}", level.name());
        }
    }

    #[test]
    fn a_level_touches_the_arrays_that_it_says_and_no_others() {
        for (level, storage) in storages() {
            let mut touched: Vec<ArrayId> = Vec::new();
            let mut see = |expr: &Expr| {
                expr.for_each(&mut |expr| {
                    if let Expr::Load(array, _) | Expr::Length(array) | Expr::Search { array, .. } = expr {
                        touched.push(*array)
                    }
                });
            };
            if let Some(positions) = level.positions(&storage, &parents()) {
                see(&positions.begin);
                see(&positions.end);
            }
            level.coordinate(&storage, v(0)).iter().for_each(&mut see);
            level.parent(&storage, v(0)).iter().for_each(&mut see);
            level.locate(&storage, v(0), v(1)).iter().for_each(&mut see);
            level.probe(&storage, v(0), v(1)).iter().for_each(&mut see);
            level.has_entry(&storage, v(0)).iter().for_each(&mut see);
            level.occupied(&storage, v(0)).iter().for_each(&mut see);
            let statements = level.append(&storage, v(0)).into_iter().chain(level.close_parent(&storage, v(0)));
            touched.extend(statements.flatten().filter_map(|statement| statement.written_array()));
            touched.sort_unstable();
            touched.dedup();
            let declared: Vec<ArrayId> = storage.positions.into_iter().chain(storage.coordinates).collect();
            let is_read = is_direct(storage.format) || has_positions(storage.format);
            let expected = if is_read { declared } else { Vec::new() };
            assert_eq!(touched, expected, "{}", level.name());
        }
    }
}
