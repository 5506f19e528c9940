//! What order entries come in, and what is left to sort.
//!
//! Files list entries in some order, and so do tensors of other formats: by slices, say. To sort them in another order, not all
//! modes have to be looked at, as long as the sort is stable:
//!
//! ```text
//! entries sorted by (i, j, k), levels (k, i, j):   sorted by k, they are in order
//!                              levels (j, k, i):   sorted by j and k, they are in order
//!                              levels (i, k, j):   sorted by i and k; and i ascends already
//! ```

use super::super::Indices;
use super::super::tasks;
use super::key::{Fields, Key};
use std::cmp::Ordering;
use std::ops::Range;

/// How many entries are looked at at once, in the first-level cache.
const BLOCK: usize = 1 << 11;

/// What neighbours among keys tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Survey<K> {
    /// The bits in which a key that is less than the one before differs from it.
    descents: K,
    /// Whether neighbours are equal.
    pub(super) repeat: bool,
}

impl<K: Key> Survey<K> {
    /// Of no keys.
    pub(super) fn none() -> Self {
        Self { descents: K::zeroed(), repeat: false }
    }

    /// What these keys tell besides.
    pub(super) fn and(self, keys: &[K]) -> Self {
        keys.windows(2).fold(self, |Self { descents, repeat }, pair| {
            let descent = if pair[0] > pair[1] { pair[0].xor(pair[1]) } else { K::zeroed() };
            Self { descents: descents.or(descent), repeat: repeat | (pair[0] == pair[1]) }
        })
    }

    /// What other keys tell besides.
    pub(super) fn or(self, other: Self) -> Self {
        Self { descents: self.descents.or(other.descents), repeat: self.repeat | other.repeat }
    }

    /// The lowest bit from which on keys ascend; 0 where they do altogether.
    pub(super) fn ascend_from(&self) -> u32 {
        self.descents.highest_one().map_or(0, |highest| highest + 1)
    }
}

/// The lowest bit that keys must be sorted by, if stably; those below it are in order then. `modes` are those of the levels.
pub(super) fn settled_below(indices: &[Indices], modes: &[usize], fields: &Fields) -> u32 {
    let sorted = sorted_modes(indices);
    let follows = |depth: &usize| {
        let (sort, rest) = modes.split_at(*depth);
        sorted.iter().filter(|mode| !sort.contains(mode)).eq(rest)
    };
    let depth = (0..modes.len()).find(follows).unwrap_or(modes.len());
    fields.prefix(depth)
}

/// The modes that entries are sorted by, the outermost first, as far as they are.
///
/// An order is guessed from pairs of neighbours and held against all entries; a pair that contradicts it makes the next guess
/// better.
fn sorted_modes(indices: &[Indices]) -> Vec<usize> {
    let mut pairs = Vec::new();
    loop {
        let modes = guess(indices.len(), &pairs);
        match first_descent(indices, &modes) {
            Some(entry) => pairs.push(indices.iter().map(|column| compare(column, entry)).collect()),
            None => return modes,
        }
    }
}

/// An order of modes in which no pair descends; not of all modes where there is none. A pair is how the second index of each
/// mode compares to the first.
fn guess(order: usize, pairs: &[Vec<Ordering>]) -> Vec<usize> {
    let mut modes = Vec::new();
    let mut tied: Vec<&Vec<Ordering>> = pairs.iter().collect();
    let ascends = |mode: usize, tied: &[&Vec<Ordering>]| tied.iter().all(|pair| pair[mode] != Ordering::Less);
    while let Some(mode) = (0..order).find(|mode| !modes.contains(mode) && ascends(*mode, &tied)) {
        modes.push(mode);
        tied.retain(|pair| pair[mode] == Ordering::Equal);
    }
    modes
}

/// How the index of the entry after one compares to its own.
fn compare(column: &Indices, entry: usize) -> Ordering {
    match column {
        Indices::U32(column) => column[entry + 1].cmp(&column[entry]),
        Indices::U64(column) => column[entry + 1].cmp(&column[entry]),
    }
}

/// The first entry that comes before the one before it in an order of modes, from 0 for the second.
fn first_descent(indices: &[Indices], modes: &[usize]) -> Option<usize> {
    let count = match indices.first()? {
        Indices::U32(column) => column.len(),
        Indices::U64(column) => column.len(),
    };
    let in_block = |block: Range<usize>| {
        let mut descends = [false; BLOCK];
        for &mode in modes.iter().rev() {
            let pairs = block.start..block.end + 1;
            match &indices[mode] {
                Indices::U32(column) => note_descents(&column[pairs], &mut descends),
                Indices::U64(column) => note_descents(&column[pairs], &mut descends),
            }
        }
        descends.iter().position(|&descends| descends).map(|place| block.start + place)
    };
    let in_range = |range: Range<usize>| {
        range.clone().step_by(BLOCK).find_map(|begin| in_block(begin..range.end.min(begin + BLOCK)))
    };
    tasks::first(&tasks::ranges(count.saturating_sub(1), tasks::GRAIN), &in_range)
}

/// Where an index is less than the one before, or equal and `descends` says so of the modes within.
fn note_descents<I: Copy + Ord>(indices: &[I], descends: &mut [bool; BLOCK]) {
    for ((descends, before), index) in descends.iter_mut().zip(indices).zip(&indices[1..]) {
        *descends = (index < before) | ((index == before) & *descends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(entries: &[[u32; 3]]) -> Vec<Indices> {
        (0..3).map(|mode| Indices::U32(entries.iter().map(|entry| entry[mode]).collect())).collect()
    }

    /// The order that entries come in is found, whatever it is.
    #[test]
    fn finds_the_order_of_entries() {
        let scramble = |number: u64| (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let entry = |number: u64| [scramble(number) % 7, scramble(number) >> 9 & 15, scramble(number) >> 20 & 31];
        let mut entries: Vec<[u32; 3]> = (0..140_000).map(|number| entry(number).map(|index| index as u32)).collect();
        for modes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            entries.sort_by_key(|entry| modes.map(|mode| entry[mode]));
            assert_eq!(sorted_modes(&columns(&entries)), modes);
            // One pair at the end is out of order in the mode that changes the most.
            let last = entries.len() - 1;
            entries[last][modes[2]] = 0;
            entries[last - 1] = entries[last];
            entries[last - 1][modes[2]] = 1;
            assert_eq!(sorted_modes(&columns(&entries)), modes[..2]);
        }
        entries.sort_by_key(|entry| entry[1]);
        entries.swap(0, 100_000);
        assert_eq!(sorted_modes(&columns(&entries)), []);
        assert_eq!(sorted_modes(&columns(&[])), [0, 1, 2]);
    }

    #[test]
    fn a_stable_sort_of_few_levels_is_enough() {
        let fields = Fields::new(&[256, 16, 2]);
        let settled = |entries: &[[u32; 3]], modes: [usize; 3]| settled_below(&columns(entries), &modes, &fields);
        let by_ijk = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1]];
        let found =
            [[0, 1, 2], [1, 0, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1], [2, 1, 0]].map(|modes| settled(&by_ijk, modes));
        assert_eq!(found, [13, 5, 5, 1, 1, 1]);
        // Sorted by i alone.
        let by_i = [[0, 1, 1], [0, 0, 0], [1, 0, 1], [1, 1, 0], [1, 0, 1]];
        assert_eq!([[1, 2, 0], [1, 0, 2]].map(|modes| settled(&by_i, modes)), [1, 0]);
    }
}
