//! Where two runs of ascending coordinates have the same.
//!
//! Coordinates of one run and the other come in an order that nobody can guess, so a loop that steps past the lesser of two waits
//! for a wrong guess at about every other step. What is compiled for a processor with AVX-512 compares blocks of 64 bytes instead,
//! each coordinate of one with all of the other. Where one run is much longer, it passes what lies before the other's next in growing
//! strides; among runs of like lengths that is seldom worth a guess.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::dot::Coordinate;
use std::cmp::Ordering;
use std::ops::Range;

/// The places in `places` of one array and in `others` of another that hold the same coordinate, in pairs, ascending. A range
/// whose end is not greater than its beginning is empty.
///
/// The coordinates of each range ascend, none comes twice. Where they do not, some pairs may be missing.
///
/// # Panics
/// When a range ends behind its array.
///
/// ```
/// use spc::parallel::intersection;
///
/// let (one, other) = ([9_u32, 1, 4, 7], [0_u32, 4, 5, 7]);
/// let pairs = intersection(&one, 1..4, &other, 0..4);
/// assert_eq!(pairs.collect::<Vec<_>>(), [(2, 1), (3, 3)]);
/// ```
#[inline(always)]
pub fn intersection<'a, A: Coordinate, B: Coordinate>(
    one: &'a [A],
    places: Range<usize>,
    other: &'a [B],
    others: Range<usize>,
) -> Intersection<'a, A, B> {
    Intersection {
        one: &one[..places.end],
        place: places.start,
        other: &other[..others.end],
        other_place: others.start,
        block: Block::default(),
    }
}

/// What [`intersection`] gives.
#[derive(Debug)]
pub struct Intersection<'a, A, B> {
    /// Up to the end of the range.
    one: &'a [A],
    /// The next place: all before are done, but for those of the block.
    place: usize,
    other: &'a [B],
    other_place: usize,
    block: Block,
}

/// Places that were compared and are not given out.
#[derive(Debug, Default)]
struct Block {
    /// Those of one, from `first` on, that hold what a place of the other holds.
    found: u16,
    first: usize,
    other_first: usize,
}

impl<A: Coordinate, B: Coordinate> Iterator for Intersection<'_, A, B> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.block.found == 0 {
            let (&one, &other) = (self.one.get(self.place)?, self.other.get(self.other_place)?);
            if one.place() == other.place() {
                return Some(self.both());
            }
            if lanes::<A, B>() == 0 {
                return self.step();
            }
            self.search();
            if self.block.found == 0 {
                return None;
            }
        }
        Some(self.take())
    }
}

impl<A: Coordinate, B: Coordinate> Intersection<'_, A, B> {
    /// One coordinate after the other.
    #[inline(always)]
    fn step(&mut self) -> Option<(usize, usize)> {
        loop {
            let (one, other) = (self.one.get(self.place)?, self.other.get(self.other_place)?);
            match one.place().cmp(&other.place()) {
                Ordering::Equal => return Some(self.both()),
                Ordering::Less => self.place += 1,
                Ordering::Greater => self.other_place += 1,
            }
        }
    }

    /// The next places, which hold the same, and past them.
    #[inline(always)]
    fn both(&mut self) -> (usize, usize) {
        let both = (self.place, self.other_place);
        self.place += 1;
        self.other_place += 1;
        both
    }
}

/// How many coordinates a block has; none where they are compared one by one.
const fn lanes<A, B>() -> usize {
    let in_blocks = cfg!(all(target_arch = "x86_64", target_feature = "avx512f"));
    match (size_of::<A>(), size_of::<B>()) {
        (4, 4) | (8, 8) if in_blocks => 64 / size_of::<A>(),
        _ => 0,
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f")))]
impl<A: Coordinate, B: Coordinate> Intersection<'_, A, B> {
    fn search(&mut self) {}

    fn take(&mut self) -> (usize, usize) {
        (self.block.first, self.block.other_first)
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
mod blocks {
    use super::{Block, Coordinate, Intersection, lanes};
    use std::arch::x86_64::*;
    use std::hint::select_unpredictable;

    impl<A: Coordinate, B: Coordinate> Intersection<'_, A, B> {
        /// Finds the next block with places that hold the same: none, where nothing is found to the end.
        #[inline(always)]
        pub(super) fn search(&mut self) {
            let (ones, others, lanes) = (self.one, self.other, lanes::<A, B>());
            let is_even = !is_uneven(ones.len() - self.place, others.len() - self.other_place);
            while is_even
                && let Some(one) = ones.get(self.place..self.place + lanes)
                && let Some(other) = others.get(self.other_place..self.other_place + lanes)
            {
                if self.meets(one, other) {
                    return;
                }
            }
            loop {
                let (one, other) = (&ones[self.place..], &others[self.other_place..]);
                let (one, other) = (&one[..one.len().min(lanes)], &other[..other.len().min(lanes)]);
                let (Some(last), Some(other_last)) = (one.last(), other.last()) else { return };
                if last.place() < other[0].place() {
                    self.place = passed(ones, self.place + one.len(), other[0].place());
                } else if other_last.place() < one[0].place() {
                    self.other_place = passed(others, self.other_place + other.len(), one[0].place());
                } else if self.meets(one, other) {
                    return;
                }
            }
        }

        /// Compares the next block of one with the next of the other, and goes on behind that which ends first.
        #[inline(always)]
        fn meets(&mut self, one: &[A], other: &[B]) -> bool {
            let found = common(one, other);
            self.block = Block { found, first: self.place, other_first: self.other_place };
            let (last, other_last) = (one[one.len() - 1].place(), other[other.len() - 1].place());
            self.place += select_unpredictable(last <= other_last, one.len(), 0);
            self.other_place += select_unpredictable(other_last <= last, other.len(), 0);
            found != 0
        }

        /// The first pair of the block.
        #[inline(always)]
        pub(super) fn take(&mut self) -> (usize, usize) {
            let place = self.block.first + self.block.found.trailing_zeros() as usize;
            self.block.found &= self.block.found - 1;
            let other = &self.other[self.block.other_first..];
            let equal = common(&other[..other.len().min(lanes::<A, B>())], &self.one[place..=place]);
            (place, self.block.other_first + equal.trailing_zeros() as usize)
        }
    }

    /// Whether one of two lengths is so much greater that blocks of it often lie between neighbours of the other.
    #[inline(always)]
    fn is_uneven(length: usize, other: usize) -> bool {
        length / 8 > other || other / 8 > length
    }

    /// The first place from `first` on, or at most fifteen before, whose coordinate is not less than `least`, by strides that
    /// double.
    #[inline(always)]
    fn passed<C: Coordinate>(coordinates: &[C], first: usize, least: usize) -> usize {
        let is_passed = |place: usize| coordinates.get(place - 1).is_some_and(|before| before.place() < least);
        let (mut place, mut stride) = (first, 16);
        while is_passed(place + stride) {
            place += stride;
            stride *= 2;
        }
        while stride > 16 {
            stride /= 2;
            if is_passed(place + stride) {
                place += stride;
            }
        }
        place
    }

    /// The places among the coordinates of a block that hold what one of the other's does, as bits.
    #[inline(always)]
    fn common<A: Coordinate, B: Coordinate>(coordinates: &[A], others: &[B]) -> u16 {
        let lanes = lanes::<A, B>();
        assert!(lanes != 0 && coordinates.len() <= lanes);
        let all = u16::MAX.checked_shr(16 - coordinates.len() as u32).unwrap_or(0);
        // SAFETY: the mask leaves out what lies behind the slice; the bytes of a coordinate are its bits; the crate is compiled for
        // processors that have these instructions.
        let block = unsafe {
            match lanes {
                8 => _mm512_maskz_loadu_epi64(all as u8, coordinates.as_ptr().cast()),
                _ => _mm512_maskz_loadu_epi32(all, coordinates.as_ptr().cast()),
            }
        };
        let equal = |other: &B| {
            // SAFETY: as above.
            unsafe {
                match lanes {
                    8 => u16::from(_mm512_cmpeq_epi64_mask(block, _mm512_set1_epi64(other.place() as i64))),
                    _ => _mm512_cmpeq_epi32_mask(block, _mm512_set1_epi32(other.place() as i32)),
                }
            }
        };
        let any = |others: [&B; 4]| others.into_iter().fold(0, |word, other| word | equal(other));
        let found = match (lanes, others) {
            // Without a loop, and in several words, so that none waits for the last.
            (8, [a, b, c, d, e, f, g, h]) => any([a, b, c, d]) | any([e, f, g, h]),
            (16, [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]) => {
                let words = [any([a, e, i, m]), any([b, f, j, n]), any([c, g, k, o]), any([d, h, l, p])];
                (words[0] | words[1]) | (words[2] | words[3])
            }
            _ => others.iter().fold(0, |word, other| word | equal(other)),
        };
        found & all
    }
}
