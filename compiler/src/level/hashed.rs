//! The coordinates under each parent in a hash table, of open addressing with linear probing.
//!
//! ```text
//! parent        0            1    2
//! pos           0            4    4        6
//! crd           ∞  9  ∞  5        3  ∞          ∞: the largest number of the type
//! position      0  1  2  3        4  5
//! ```
//!
//! A parent without children has no slots; any other has the least power of two that is at least twice the number of its
//! children, so that a table is at most half full. A coordinate `c` is looked for from the slot `hash(c) % slots` of its
//! parent's table on, and after the last from the first, until it or an empty slot is found; [`slot`] is that hash. Entries
//! that were in ascending order when the table was built lie in the order of their slots.
//!
//! The hash is the same for every tensor, so that files can be exchanged. Coordinates may be chosen so that all of them begin at
//! one slot: then they lie one behind the other. To build and to check such a table takes no longer than any other, as the run
//! time skips runs of slots that are taken; to look up single coordinates does.

use super::{Level, Parents, Positions, Storage, vacancy};
use crate::format::{Children, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told, Vacancies};
use crate::ir::Expr;

/// The number of slots for so many children.
pub fn slots(children: usize) -> usize {
    if children == 0 { 0 } else { (2 * children).next_power_of_two() }
}

/// The slot where a coordinate is looked for first, of a power of two: Fibonacci hashing (Knuth, The Art of Computer
/// Programming 3, 1973, section 6.4), the high bits of a product with 2^64 divided by the golden ratio.
pub fn slot(coordinate: usize, slots: usize) -> usize {
    debug_assert!(slots.is_power_of_two());
    let product = (coordinate as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((product >> 32) as usize) & (slots - 1)
}

const PARAMETERS: &[Parameter] = &[Parameter::Width(Role::Coordinates), Parameter::Width(Role::Positions)];

/// What `hashed` is.
const DECLARATION: &Declaration = &Declaration {
    name: "hashed",
    summary: "the coordinates under each parent in a hash table",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "pos", Length::Bounds),
        LevelArray::new(Role::Coordinates, "crd", Length::Positions),
    ],
    children: Children::Bounded,
    told: Told::Stored,
    vacancies: Vacancies::Slots,
    types: &[LevelTypeName {
        name: "Hashed",
        parameters: PARAMETERS,
    }],
    ..Declaration::NOTHING
};

/// `hashed`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Hashed;

impl Level for Hashed {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        Some(super::children_of(storage.positions?, parents))
    }

    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::load(storage.coordinates?, position))
    }

    fn occupied(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        let vacant = Expr::Index(vacancy(storage.format.coordinates()));
        Some(Expr::load(storage.coordinates?, position).less(vacant))
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{IndexType, LevelType};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `hashed`: the coordinates under each parent in a hash table. `C` and `P` are the types of stored coordinates and positions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Hashed<C = u32, P = u32>(PhantomData<(C, P)>);

    impl<C: IndexType, P: IndexType> LevelType for Hashed<C, P> {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND).with_coordinates(C::WIDTH).with_positions(P::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::format::LevelFormat;
    use crate::ir::ArrayId;

    #[test]
    fn slots_are_below_their_number_and_spread() {
        for slots in [1, 2, 8, 1 << 20] {
            assert!((0..1000).all(|coordinate| slot(coordinate, slots) < slots));
        }
        let taken: std::collections::BTreeSet<usize> = (0..64).map(|coordinate| slot(8 * coordinate, 128)).collect();
        assert!(taken.len() > 32, "{}", taken.len());
    }

    #[test]
    fn slots_are_walked_where_they_are_taken() {
        let storage = storage(LevelFormat::HASHED);
        let [pos, crd] = [ArrayId(0), ArrayId(1)];
        let positions = Hashed.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(positions.end, Expr::load(pos, v(0).plus(Expr::Index(1))));
        let taken = Expr::load(crd, v(2)).less(Expr::Index(u64::from(u32::MAX)));
        assert_eq!(Hashed.occupied(&storage, v(2)), Some(taken));
        assert!(!super::super::is_walked(LevelFormat::HASHED) && super::super::has_positions(LevelFormat::HASHED));
    }

    #[test]
    fn tables_are_at_most_half_full() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(slots), [0, 2, 4, 8, 8, 16]);
        assert_eq!(LevelFormat::HASHED.to_string(), "hashed");
    }
}
