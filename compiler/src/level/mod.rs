//! Kinds of level: one file each, one contract.
//!
//! A level maps positions of the level above (its parents) to positions of its own, each with a coordinate. What it is, its file
//! declares as data ([`Declaration`]): parameters, arrays, and how positions and coordinates are told. The run time packs, checks
//! and reads tensors by that alone. What kernels can do with a level is what the methods of [`Level`] return `Some` for; the code
//! they return is the only place where kernels read or write its arrays.

mod plain;
#[cfg(test)]
mod tests;
pub mod types;

#[cfg(doc)]
use crate::format::Declaration;
use crate::format::{Format, IndexWidth, LevelFormat, LevelKind, Role};
use crate::ir::{ArrayId, BinaryOperator, Expr, Find, Statement};

macro_rules! levels {
    ($($file:ident $name:ident $constant:ident;)*) => {
        $(mod $file;)*

        /// Every kind of level.
        pub const ALL: &[&dyn Level] = &[$(&$file::$name),*];

        /// What the files of the levels begin with.
        const PAGES: &[(LevelKind, &str)] = &[$(($file::KIND, include_str!(concat!(stringify!($file), ".rs")))),*];

        impl LevelFormat {
            $(
                #[doc = concat!("A level of the kind `", stringify!($file), "`, with the usual parameters.")]
                pub const $constant: LevelFormat = LevelFormat::new($file::KIND);
            )*
        }

        /// The types of every kind of level.
        pub mod level_types {
            $(pub use super::$file::types::*;)*
        }
    };
}

// The list that a new kind of level joins.
levels! {
    dense Dense DENSE;
    compressed Compressed COMPRESSED;
    singleton Singleton SINGLETON;
    padded Padded PADDED;
    bitmap Bitmap BITMAP;
    hashed Hashed HASHED;
    diagonal Diagonal DIAGONAL;
    banded Banded BANDED;
    run Run RUN;
    flagged Flagged FLAGGED;
    sliced Sliced SLICED;
    delta Delta DELTA;
    grouped Grouped GROUPED;
}

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
    /// Where positions are places in an order of another tensor's entries, the array of these entries' positions.
    pub order: Option<ArrayId>,
}

impl Storage {
    /// The coordinate that is stored at a position.
    fn stored(&self, position: Expr) -> Option<Expr> {
        Some(Expr::load(self.coordinates?, in_order(self.order, position)))
    }
}

/// The position of an entry at a place in an order, where there is one.
pub fn in_order(order: Option<ArrayId>, place: Expr) -> Expr {
    match order {
        Some(order) => Expr::load(order, place),
        None => place,
    }
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

/// What stands for a coordinate where there is none, in levels that fill up with such places: the largest number of the
/// type, which is then no coordinate. It comes after all that are.
pub fn vacancy(width: IndexWidth) -> u64 {
    width.maximum()
}

/// The contract of a level format. Capabilities return `None` where the level lacks them.
pub trait Level: Sync {
    /// What it is.
    fn kind(&self) -> LevelKind;

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

    /// How far the coordinates have come at a position, where they are told one after the other: from how far they had come at the
    /// position before it under the same parent, or 0. It is the coordinate, where there is an entry. Such a level is walked from a
    /// parent's first position on, alone, and has no [`Level::coordinate`].
    fn reached(&self, storage: &Storage, position: Expr, before: Expr) -> Option<Expr> {
        let _ = (storage, position, before);
        None
    }

    /// Whether there is an entry at a position that is walked; `None` where there is one at each. Coordinates then come in any order,
    /// unless [`Level::reached`] tells them.
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
            find: Find::Element,
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

/// The code of a kind of level.
pub fn of(kind: LevelKind) -> &'static dyn Level {
    *ALL.iter().find(|level| level.kind() == kind).expect("every kind is listed")
}

/// What the page of a kind of level says: what it stores, with a picture of its arrays. Code is indented.
pub fn page(kind: LevelKind) -> String {
    let text = PAGES.iter().find(|(candidate, _)| *candidate == kind).map_or("", |(_, text)| text);
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

/// A level whose arrays nothing reads, for asking what it can do.
fn anywhere(format: LevelFormat) -> Storage {
    let id = |role: Role| format.array(role).map(|_| ArrayId(role as u32));
    Storage {
        format,
        positions: id(Role::Positions),
        coordinates: id(Role::Coordinates),
        extent: Expr::Index(0),
        parent: Expr::Index(0),
        above: Some(Expr::Index(0)),
        order: None,
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
        find: Find::Element,
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

/// Whether kernels walk the positions of a level, in the order of its coordinates, side by side with those of other operands.
pub fn is_walked(format: LevelFormat) -> bool {
    ascends(format) && has_positions(format) && !is_sequential(format)
}

/// Whether coordinates are told one after the other.
pub fn is_sequential(format: LevelFormat) -> bool {
    of(format.kind).reached(&anywhere(format), Expr::Index(0), Expr::Index(0)).is_some()
}

/// Whether coordinates under one parent ascend with their positions.
pub fn ascends(format: LevelFormat) -> bool {
    let has_gaps = || of(format.kind).occupied(&anywhere(format), Expr::Index(0)).is_some();
    format.ordered() && (is_sequential(format) || !has_gaps())
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
pub fn named(name: &str) -> Option<LevelKind> {
    ALL.iter().map(|level| level.kind()).find(|kind| kind.name == name)
}

pub use hashed::{slot, slots};

impl Format {
    /// All modes dense, in order.
    pub fn dense(order: usize) -> Self {
        Self::of_levels(vec![LevelFormat::DENSE; order])
    }

    /// Compressed sparse fibers.
    pub fn csf(order: usize) -> Self {
        Self::of_levels(vec![LevelFormat::COMPRESSED; order])
    }

    /// Coordinates, sorted.
    pub fn coo(order: usize) -> Self {
        Self::of_levels((0..order).map(|level| {
            let format = if level == 0 { LevelFormat::COMPRESSED } else { LevelFormat::SINGLETON };
            if level + 1 < order { format.nonunique() } else { format }
        }))
    }
}
