//! Hash tables of the `hashed` level whose coordinates meet in few slots.
//!
//! A table with linear probing is built and checked slot after slot, which is fast where runs of taken slots are short. Whoever
//! chooses the coordinates can make one run of all of them. So after [`PATIENCE`] steps the builder and the check go on with
//! what is here, and get the same answer: their work is proportional to the number of slots, but for a logarithm.

use super::Index;
use spc_compiler::level::{slot as slot_of, vacancy};

/// So many slots are looked at one after the other.
const PATIENCE: usize = 64;

/// The slot of a coordinate in a table.
pub(super) fn probe<C: Index>(table: &[C], coordinate: usize) -> Option<usize> {
    let first = (!table.is_empty()).then(|| slot_of(coordinate, table.len()))?;
    let slots = (0..table.len()).map(|step| (first + step) & (table.len() - 1));
    let mut taken = slots.take_while(|&slot| table[slot].to_usize() != vacancy(C::WIDTH) as usize);
    taken.find(|&slot| table[slot].to_usize() == coordinate)
}

/// Free slots of a table that is being built.
#[derive(Debug, Default)]
pub(super) struct FreeSlots {
    /// For each slot one that is no further than the next that is free, and itself if it is free (Galler & Fischer, An improved
    /// equivalence algorithm, 1964); empty until a search takes that long.
    next: Vec<usize>,
}

impl FreeSlots {
    /// The first free slot for a coordinate, of so many slots, one of which is free. It is taken then.
    pub(super) fn take(&mut self, coordinate: usize, slots: usize, is_taken: &dyn Fn(usize) -> bool) -> usize {
        let first = slot_of(coordinate, slots);
        if self.next.is_empty() {
            let near = (0..PATIENCE.min(slots)).map(|step| (first + step) & (slots - 1));
            if let Some(slot) = near.into_iter().find(|&slot| !is_taken(slot)) {
                return slot;
            }
            let after = |slot: usize| if is_taken(slot) { (slot + 1) & (slots - 1) } else { slot };
            self.next = (0..slots).map(after).collect();
        }
        let mut slot = first;
        while self.next[slot] != slot {
            self.next[slot] = self.next[self.next[slot]];
            slot = self.next[slot];
        }
        self.next[slot] = (slot + 1) & (slots - 1);
        slot
    }
}

/// Where coordinates of a finished table are found.
pub(super) struct Found<'a, C> {
    table: &'a [C],
    far: Option<Far>,
}

/// What finds coordinates that are far from their first slots.
struct Far {
    /// For each taken slot how many are taken before it without a gap.
    run: Vec<usize>,
    /// The coordinates and their slots, in order.
    slots: Vec<(usize, usize)>,
}

impl<'a, C: Index> Found<'a, C> {
    pub(super) fn new(table: &'a [C]) -> Self {
        Self { table, far: None }
    }

    /// The slot where a search for a coordinate ends; `None` where it finds an empty one first.
    pub(super) fn slot(&mut self, coordinate: usize) -> Option<usize> {
        let (slots, vacancy) = (self.table.len(), vacancy(C::WIDTH) as usize);
        let first = slot_of(coordinate, slots);
        for slot in (0..PATIENCE.min(slots)).map(|step| (first + step) & (slots - 1)) {
            match self.table[slot].to_usize() {
                found if found == vacancy => return None,
                found if found == coordinate => return Some(slot),
                _ => {}
            }
        }
        let far = self.far.get_or_insert_with(|| Far::of(self.table));
        let distance = |slot: usize| slot.wrapping_sub(first) & (slots - 1);
        let begin = far.slots.partition_point(|&(other, _)| other < coordinate);
        let all = far.slots[begin..].iter().take_while(|&&(other, _)| other == coordinate);
        let nearest = all.map(|&(_, slot)| slot).min_by_key(|&slot| distance(slot))?;
        (distance(nearest) <= far.run[nearest]).then_some(nearest)
    }
}

impl Far {
    fn of<C: Index>(table: &[C]) -> Far {
        let vacancy = vacancy(C::WIDTH) as usize;
        let is_taken = |slot: usize| table[slot].to_usize() != vacancy;
        let mut run = vec![0; table.len()];
        // Twice around: the first slots may go on with the run of the last.
        let mut length = 0;
        for slot in (0..table.len()).chain(0..table.len()) {
            run[slot] = length.min(table.len() - 1);
            length = if is_taken(slot) { length + 1 } else { 0 };
        }
        let mut slots: Vec<(usize, usize)> =
            (0..table.len()).filter(|&slot| is_taken(slot)).map(|slot| (table[slot].to_usize(), slot)).collect();
        slots.sort_unstable();
        Far { run, slots }
    }
}

#[cfg(test)]
mod tests {
    use super::probe;
    use super::*;

    /// Coordinates that begin at the same slot of a table for so many, as somebody finds them who knows the hash.
    fn colliding(count: usize) -> Vec<u64> {
        // The hash multiplies by an odd number: its inverse makes any product.
        let golden = 0x9E37_79B9_7F4A_7C15_u64;
        let mut inverse = golden;
        for _ in 0..6 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(golden.wrapping_mul(inverse)));
        }
        assert_eq!(golden.wrapping_mul(inverse), 1);
        let slots = spc_compiler::level::slots(count);
        let mut coordinates: Vec<u64> = (0..count as u64).map(|low| low.wrapping_mul(inverse)).collect();
        coordinates.sort_unstable();
        assert!(coordinates.iter().all(|&coordinate| slot_of(coordinate as usize, slots) == 0));
        coordinates
    }

    fn built(coordinates: &[u64], slots: usize) -> Vec<u64> {
        let mut table = vec![u64::MAX; slots];
        let mut free = FreeSlots::default();
        for &coordinate in coordinates {
            let slot = free.take(coordinate as usize, slots, &|slot| table[slot] != u64::MAX);
            assert_eq!(std::mem::replace(&mut table[slot], coordinate), u64::MAX);
        }
        table
    }

    /// One slot after the other.
    fn built_slowly(coordinates: &[u64], slots: usize) -> Vec<u64> {
        let mut table = vec![u64::MAX; slots];
        for &coordinate in coordinates {
            let mut slot = slot_of(coordinate as usize, slots);
            while table[slot] != u64::MAX {
                slot = (slot + 1) & (slots - 1);
            }
            table[slot] = coordinate;
        }
        table
    }

    #[test]
    fn tables_are_those_that_probing_makes() {
        let near_the_end = |slots: usize, count: usize| -> Vec<u64> {
            (0..).filter(|&c| slot_of(c as usize, slots) >= slots - 2).take(count).collect()
        };
        let mut cases = vec![colliding(3), colliding(200), (0..500).collect(), near_the_end(1024, 400)];
        cases.push(
            colliding(300).into_iter().chain(0..200).collect::<std::collections::BTreeSet<_>>().into_iter().collect(),
        );
        for coordinates in cases {
            let slots = spc_compiler::level::slots(coordinates.len());
            let table = built(&coordinates, slots);
            assert_eq!(table, built_slowly(&coordinates, slots));
            let mut found = Found::new(&table[..]);
            for coordinate in coordinates.iter().copied().chain(1_000_000..1_001_000) {
                let coordinate = coordinate as usize;
                assert_eq!(found.slot(coordinate), probe(&table, coordinate), "{coordinate}");
            }
            // What lies behind a gap is not found.
            let gap = table.iter().position(|&taken| taken != u64::MAX).expect("there are some");
            let mut broken = table.clone();
            broken[gap] = u64::MAX;
            let mut found = Found::new(&broken[..]);
            for &coordinate in &coordinates {
                assert_eq!(found.slot(coordinate as usize), probe(&broken, coordinate as usize), "{coordinate}");
            }
        }
    }

    /// Slot after slot this took hours.
    #[test]
    fn coordinates_of_one_slot_take_no_longer() {
        let coordinates = colliding(1 << 20);
        let table = built(&coordinates, spc_compiler::level::slots(coordinates.len()));
        let mut found = Found::new(&table[..]);
        assert!(coordinates.iter().all(|&coordinate| found.slot(coordinate as usize).is_some()));
    }
}
