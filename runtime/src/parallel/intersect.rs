//! Where two runs of ascending coordinates have the same.
//!
//! Coordinates of one run and the other come in an order that can't be predicted, so a loop that steps past the lesser of two waits
//! for a wrong guess at about every other step. What is compiled for a processor with AVX-512 compares blocks of 64 bytes instead,
//! each coordinate of one with all of the other. Where one run is much longer, it passes what lies before the other's next in
//! growing strides; among runs of like lengths that is seldom worth a guess. How many places a block finds can't be guessed
//! either, so they are written down, and given out when there are many.
//!
//! Where one run has few coordinates, or far fewer than the other, each is sought in the other: by halving, without a guess, and the last of what is left all at
//! once. Where runs of one tensor are met again and again, a [`Directory`] of them answers in a step, if it takes not much more memory than
//! there are questions.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::coordinate::Coordinate;
use std::cmp::Ordering;
use std::mem::MaybeUninit;
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
    let seeks = Seeks::of(places.len(), others.len());
    Intersection {
        one: &one[..places.end],
        place: places.start,
        other: &other[..others.end],
        other_place: others.start,
        is_uneven: is_uneven(places.len(), others.len()),
        seeks,
        slots: &[],
        found: Found::default(),
    }
}

/// As [`intersection`], of the children of a parent of a level of which there is a [`Directory`]: these are in the second range.
///
/// # Panics
/// When a range ends behind its array.
///
/// ```
/// use spc::parallel::{Directory, intersection_in};
///
/// let (positions, coordinates) = ([0_u32, 2, 5], [1_u32, 6, 0, 4, 5]);
/// let directory = Directory::new(&positions, &coordinates, 7, 100);
/// let sought = [4_u32, 5, 6];
/// let pairs = intersection_in((&directory, 1), &sought, 0..3, &coordinates, 2..5);
/// assert_eq!(pairs.collect::<Vec<_>>(), [(0, 3), (1, 4)]);
/// ```
#[inline(always)]
pub fn intersection_in<'a, A: Coordinate, B: Coordinate>(
    (directory, parent): (&'a Directory, usize),
    one: &'a [A],
    places: Range<usize>,
    other: &'a [B],
    others: Range<usize>,
) -> Intersection<'a, A, B> {
    let slots = directory.of_parent(parent);
    let pairs = intersection(one, places, other, others);
    match slots.is_empty() || pairs.seeks == Seeks::InOne {
        true => pairs,
        false => Intersection { seeks: Seeks::InDirectory, slots, ..pairs },
    }
}

/// Where the coordinates of a level are found: a slot for each coordinate under each parent, with one more than its place.
///
/// It is made for so many coordinates as are sought in it, and is empty where it would have much more slots: then ranges are searched.
#[derive(Debug)]
pub struct Directory {
    extent: usize,
    slots: Vec<u32>,
}

/// So many slots there may be for each coordinate that is sought.
const SLOTS: usize = 8;

impl Directory {
    /// A directory of a level with these arrays, of coordinates below an extent, in which so many are going to be sought.
    pub fn new<P: Coordinate, C: Coordinate>(
        positions: &[P],
        coordinates: &[C],
        extent: usize,
        sought: usize,
    ) -> Directory {
        let parents = positions.len().saturating_sub(1);
        let most = sought.saturating_mul(SLOTS);
        let length = parents.checked_mul(extent).filter(|length| *length <= most);
        let mut slots = Vec::new();
        let Some(length) = length.filter(|_| u32::try_from(coordinates.len()).is_ok_and(|count| count < u32::MAX))
        else {
            return Directory { extent, slots };
        };
        // Without the memory, ranges are searched.
        if slots.try_reserve_exact(length).is_ok() {
            super::room::in_huge_pages(slots.as_ptr(), length);
            slots.resize(length, 0);
        }
        for (slots, bounds) in slots.chunks_exact_mut(extent.max(1)).zip(positions.windows(2)) {
            let (first, end) = (bounds[0].place(), bounds[1].place());
            for (coordinate, place) in coordinates[first..end].iter().zip(first as u32..) {
                slots[coordinate.place()] = place + 1;
            }
        }
        Directory { extent, slots }
    }

    /// The slots of a parent's coordinates; none where ranges are to be searched.
    #[inline(always)]
    fn of_parent(&self, parent: usize) -> &[u32] {
        if self.slots.is_empty() { &[] } else { &self.slots[parent * self.extent..][..self.extent] }
    }
}

/// How pairs are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seeks {
    /// Side by side.
    SideBySide,
    /// Each coordinate of one is sought in the other.
    InOther,
    /// Each of the other is sought in one.
    InOne,
    /// Each of one is sought among slots.
    InDirectory,
}

impl Seeks {
    /// For runs of these lengths.
    #[inline(always)]
    fn of(length: usize, other: usize) -> Seeks {
        let is_short = |short: usize, long: usize| {
            short <= long && (short <= FEW || short <= SOME && long / SOME >= short || long / FAR >= short)
        };
        match (is_short(length, other), is_short(other, length)) {
            (true, _) => Seeks::InOther,
            (_, true) => Seeks::InOne,
            _ => Seeks::SideBySide,
        }
    }
}

/// A run so short is sought coordinate by coordinate.
const FEW: usize = 4;

/// So is a run of this length in one that is as many times longer.
const SOME: usize = 16;

/// A run is sought in one that is this many times longer: a block of it spans too many blocks of the other to pass them one by one.
const FAR: usize = 256;

/// What [`intersection`] gives.
#[derive(Debug)]
pub struct Intersection<'a, A, B> {
    /// Up to the end of the range.
    one: &'a [A],
    /// The next place: all before are done, but for those that are found.
    place: usize,
    other: &'a [B],
    other_place: usize,
    /// Whether the longer range is searched for the coordinates of the other.
    is_uneven: bool,
    seeks: Seeks,
    /// One more than the place of each coordinate of the other that has one, in the whole array.
    slots: &'a [u32],
    found: Found,
}

/// Pairs that are found and not given out: those from `next` to `end`.
#[derive(Debug)]
struct Found {
    /// How far behind `first` the places of one are.
    places: [MaybeUninit<u32>; ROOM],
    first: usize,
    /// How far behind `other_first` those of the other are.
    others: [MaybeUninit<u32>; ROOM],
    other_first: usize,
    next: usize,
    end: usize,
}

/// Whether coordinates are compared in blocks.
const IN_BLOCKS: bool = cfg!(all(target_arch = "x86_64", target_feature = "avx512f"));

/// When so many pairs are found, they are given out.
const MANY: usize = if IN_BLOCKS { 128 } else { 0 };

/// Room for what one more block finds.
const ROOM: usize = if IN_BLOCKS { MANY + 16 } else { 0 };

impl Default for Found {
    #[inline(always)]
    fn default() -> Found {
        let places = [const { MaybeUninit::uninit() }; ROOM];
        Found { places, first: 0, others: places, other_first: 0, next: 0, end: 0 }
    }
}

impl<A: Coordinate, B: Coordinate> Iterator for Intersection<'_, A, B> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        match self.seeks {
            Seeks::SideBySide => {}
            Seeks::InOther => return sought(self.one, &mut self.place, self.other, &mut self.other_place),
            Seeks::InOne => {
                let found = sought(self.other, &mut self.other_place, self.one, &mut self.place);
                return found.map(|(other, one)| (one, other));
            }
            Seeks::InDirectory => return self.looked_up(),
        }
        if lanes::<A, B>() == 0 {
            return self.step();
        }
        while self.found.next == self.found.end {
            if self.place >= self.one.len() || self.other_place >= self.other.len() {
                return None;
            }
            self.search();
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
            let (here, there) = (one.place(), other.place());
            match (here.cmp(&there), self.is_uneven) {
                (Ordering::Equal, _) => return Some(self.both()),
                (Ordering::Less, false) => self.place += 1,
                (Ordering::Greater, false) => self.other_place += 1,
                (Ordering::Less, true) => self.place = passed(self.one, self.place + 1, there),
                (Ordering::Greater, true) => self.other_place = passed(self.other, self.other_place + 1, here),
            }
        }
    }

    /// The next coordinate of one that has a place among those of the other.
    #[inline(always)]
    fn looked_up(&mut self) -> Option<(usize, usize)> {
        while let Some(coordinate) = self.one.get(self.place) {
            let place = self.place;
            self.place += 1;
            let found = self.slots.get(coordinate.place()).map_or(0, |slot| *slot as usize);
            // Nothing is in a slot of 0, and what lies outside of the range is none of its.
            if found > self.other_place && found <= self.other.len() {
                return Some((place, found - 1));
            }
        }
        None
    }

    /// The first pair of those that are found.
    #[inline(always)]
    fn take(&mut self) -> (usize, usize) {
        let found = &mut self.found;
        // SAFETY: `search` writes a block of either where it begins to count the places that it has found, and `end` counts those
        // of one, at most as many as a block has.
        let (place, other) =
            unsafe { (found.places[found.next].assume_init(), found.others[found.next].assume_init()) };
        found.next += 1;
        (found.first + place as usize, found.other_first + other as usize)
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

/// The next coordinate of a short run, from a place on, that is in a long one from another on; both places are behind it then.
#[inline(always)]
fn sought<A: Coordinate, B: Coordinate>(
    short: &[A],
    place: &mut usize,
    long: &[B],
    other_place: &mut usize,
) -> Option<(usize, usize)> {
    while let Some(coordinate) = short.get(*place) {
        let coordinate = coordinate.place();
        let found = *other_place + not_below(long.get(*other_place..)?, coordinate);
        *place += 1;
        *other_place = found;
        if long.get(found)?.place() == coordinate {
            *other_place += 1;
            return Some((*place - 1, found));
        }
    }
    None
}

/// How many of ascending coordinates are below another.
#[inline(always)]
fn not_below<C: Coordinate>(coordinates: &[C], least: usize) -> usize {
    let (mut first, mut count) = (0, coordinates.len());
    while count > AT_ONCE {
        let half = count / 2;
        first = std::hint::select_unpredictable(coordinates[first + half].place() < least, first + half, first);
        count -= half;
    }
    first + below(&coordinates[first..first + count], least)
}

/// So many coordinates are compared without a guess.
const AT_ONCE: usize = if IN_BLOCKS { 64 } else { 8 };

/// How many of a few ascending coordinates are below another.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f")))]
#[inline(always)]
fn below<C: Coordinate>(coordinates: &[C], least: usize) -> usize {
    coordinates.iter().map(|coordinate| usize::from(coordinate.place() < least)).sum()
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
use blocks::below;

/// Whether one of two lengths is so much greater that blocks of it often lie between neighbours of the other.
#[inline(always)]
fn is_uneven(length: usize, other: usize) -> bool {
    length / 8 > other || other / 8 > length
}

/// The first place from `first` on whose coordinate is not less than `least`: by strides that double where it is near, else by
/// halving what is left, whose steps need no guesses.
#[inline(always)]
fn passed<C: Coordinate>(coordinates: &[C], first: usize, least: usize) -> usize {
    let (mut first, mut stride) = (first, 16);
    while stride <= NEAR {
        match coordinates.get(first + stride - 1) {
            Some(before) if before.place() < least => first += stride,
            Some(_) => return first + coordinates[first..first + stride].partition_point(|c| c.place() < least),
            None => break,
        }
        stride *= 2;
    }
    let rest = coordinates.get(first..).unwrap_or_default();
    first + rest.partition_point(|coordinate| coordinate.place() < least)
}

/// The longest stride of a search.
const NEAR: usize = 64;

/// How many coordinates a block has; none where they are compared one by one.
const fn lanes<A, B>() -> usize {
    match (size_of::<A>(), size_of::<B>()) {
        (4, 4) | (8, 8) if IN_BLOCKS => 64 / size_of::<A>(),
        _ => 0,
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f")))]
impl<A: Coordinate, B: Coordinate> Intersection<'_, A, B> {
    fn search(&mut self) {}
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
mod blocks {
    use super::{Coordinate, Intersection, MANY, ROOM, is_uneven, lanes, passed};
    use std::arch::asm;
    use std::arch::x86_64::*;
    use std::hint::select_unpredictable;
    use std::mem::MaybeUninit;

    /// So far a search goes at most, for distances of 32 bits.
    const FURTHEST: usize = 1 << 31;

    impl<A: Coordinate, B: Coordinate> Intersection<'_, A, B> {
        /// Finds the next pairs, of what begins at two places that are there. There may be none up to where it goes.
        #[inline(always)]
        pub(super) fn search(&mut self) {
            let lanes = lanes::<A, B>();
            let (ones, others) = (&self.one[self.place..], &self.other[self.other_place..]);
            let (ones, others) = (&ones[..ones.len().min(FURTHEST)], &others[..others.len().min(FURTHEST)]);
            let (mut place, mut other_place, mut end) = (0, 0, 0);
            let is_even = !is_uneven(ones.len(), others.len());
            let found = &mut self.found;
            let mut add = |place: usize, other_place: usize, (are_one, are_other): (u16, u16)| {
                write(&mut found.places, end, place, are_one, lanes);
                write(&mut found.others, end, other_place, are_other, lanes);
                end += are_one.count_ones() as usize;
                end < MANY
            };
            let mut is_room = true;
            while is_even
                && is_room
                && let Some(one) = ones.get(place..place + lanes)
                && let Some(other) = others.get(other_place..other_place + lanes)
            {
                let common = common(one, other);
                if CHEAP || common.0 != 0 {
                    is_room = add(place, other_place, common);
                }
                // Compared as vectors, they would keep the next blocks waiting for longer.
                let (last, other_last) = (opaque(one[lanes - 1].place()), opaque(other[lanes - 1].place()));
                place += select_unpredictable(last <= other_last, lanes, 0);
                other_place += select_unpredictable(other_last <= last, lanes, 0);
            }
            while is_room {
                let (one, other) = (&ones[place..], &others[other_place..]);
                let (one, other) = (&one[..one.len().min(lanes)], &other[..other.len().min(lanes)]);
                let (Some(last), Some(other_last)) = (one.last(), other.last()) else { break };
                let (last, other_last) = (last.place(), other_last.place());
                if !is_even && last < other[0].place() {
                    place = passed(ones, place + one.len(), other[0].place());
                } else if !is_even && other_last < one[0].place() {
                    other_place = passed(others, other_place + other.len(), one[0].place());
                } else {
                    is_room = add(place, other_place, common(one, other));
                    place += select_unpredictable(last <= other_last, one.len(), 0);
                    other_place += select_unpredictable(other_last <= last, other.len(), 0);
                }
            }
            (found.first, found.other_first) = (self.place, self.other_place);
            (found.next, found.end) = (0, end);
            self.place += place;
            self.other_place += other_place;
        }
    }

    /// How many of a few ascending coordinates are below another.
    #[inline(always)]
    pub(super) fn below<C: Coordinate>(coordinates: &[C], least: usize) -> usize {
        let lanes = 64 / size_of::<C>();
        if !matches!(lanes, 8 | 16) {
            return coordinates.partition_point(|coordinate| coordinate.place() < least);
        }
        let mut count = 0;
        for block in coordinates.chunks(lanes) {
            let there = first(block.len());
            // SAFETY: the mask leaves out what lies behind the block; the bytes of a coordinate are its bits; the crate is compiled for
            // processors that have these instructions.
            let are_below = unsafe {
                match lanes {
                    8 => {
                        let block = _mm512_maskz_loadu_epi64(there as u8, block.as_ptr().cast());
                        u16::from(_mm512_mask_cmplt_epu64_mask(there as u8, block, _mm512_set1_epi64(least as i64)))
                    }
                    // A coordinate of the other run may have more bits.
                    _ if least > u32::MAX as usize => there,
                    _ => {
                        let block = _mm512_maskz_loadu_epi32(there, block.as_ptr().cast());
                        _mm512_mask_cmplt_epu32_mask(there, block, _mm512_set1_epi32(least as i32))
                    }
                }
            };
            count += are_below.count_ones() as usize;
            if are_below != u16::MAX >> (16 - lanes) {
                break;
            }
        }
        count
    }

    /// Writes the places of a block that are found, and anything behind them.
    #[inline(always)]
    fn write(places: &mut [MaybeUninit<u32>; ROOM], end: usize, place: usize, found: u16, lanes: usize) {
        let to = places[end..end + lanes].as_mut_ptr();
        // SAFETY: as many elements are written as the slice has; the crate is compiled for processors that have these instructions.
        unsafe {
            let all = _mm512_add_epi32(
                _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                _mm512_set1_epi32(place as i32),
            );
            match lanes {
                8 => {
                    let found = _mm256_maskz_compress_epi32(found as u8, _mm512_castsi512_si256(all));
                    _mm256_storeu_si256(to.cast(), found);
                }
                _ => _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi32(found, all)),
            }
        }
    }

    /// A number that the compiler knows nothing of.
    #[inline(always)]
    fn opaque(mut number: usize) -> usize {
        // SAFETY: there is no instruction.
        unsafe { asm!("/* {} */", inlateout(reg) number, options(pure, nomem, nostack, preserves_flags)) };
        number
    }

    /// The first so many bits.
    #[inline(always)]
    fn first(count: usize) -> u16 {
        u16::MAX.checked_shr(16 - count as u32).unwrap_or(0)
    }

    /// Whether comparing blocks takes no longer than to find out whether they have anything in common.
    const CHEAP: bool = cfg!(target_feature = "avx512vp2intersect");

    /// The places of a block that hold what one of the other's holds, as bits, and those of the other.
    #[cfg(target_feature = "avx512vp2intersect")]
    #[inline(always)]
    fn common<A: Coordinate, B: Coordinate>(one: &[A], other: &[B]) -> (u16, u16) {
        let (one_block, other_block) = (load(one), load(other));
        // SAFETY: the instructions change two registers; the crate is compiled for processors that have them.
        let (are_one, are_other) = unsafe {
            match lanes::<A, B>() {
                8 => {
                    let (are_one, are_other): (i8, i8);
                    asm!("vp2intersectq k2, {}, {}", in(zmm_reg) one_block, in(zmm_reg) other_block,
                        out("k2") are_one, out("k3") are_other, options(pure, nomem, nostack, preserves_flags));
                    (u16::from(are_one as u8), u16::from(are_other as u8))
                }
                _ => {
                    let (are_one, are_other): (i16, i16);
                    asm!("vp2intersectd k2, {}, {}", in(zmm_reg) one_block, in(zmm_reg) other_block,
                        out("k2") are_one, out("k3") are_other, options(pure, nomem, nostack, preserves_flags));
                    (are_one as u16, are_other as u16)
                }
            }
        };
        (are_one & first(one.len()), are_other & first(other.len()))
    }

    /// A block; where it ends early, its first coordinate again behind its end.
    #[cfg(target_feature = "avx512vp2intersect")]
    #[inline(always)]
    fn load<C: Coordinate>(block: &[C]) -> __m512i {
        let (there, least) = (first(block.len()), block[0].place());
        // SAFETY: the mask leaves out what lies behind the slice; the bytes of a coordinate are its bits.
        unsafe {
            match size_of::<C>() {
                _ if size_of_val(block) == 64 => _mm512_loadu_si512(block.as_ptr().cast()),
                8 => _mm512_mask_loadu_epi64(_mm512_set1_epi64(least as i64), there as u8, block.as_ptr().cast()),
                _ => _mm512_mask_loadu_epi32(_mm512_set1_epi32(least as i32), there, block.as_ptr().cast()),
            }
        }
    }

    #[cfg(not(target_feature = "avx512vp2intersect"))]
    #[inline(always)]
    fn common<A: Coordinate, B: Coordinate>(one: &[A], other: &[B]) -> (u16, u16) {
        match among(one, other) {
            0 => (0, 0),
            are_one => (are_one, among(other, one)),
        }
    }

    /// The places among the coordinates of a block that hold what one of the other's does, as bits.
    #[cfg(not(target_feature = "avx512vp2intersect"))]
    #[inline(always)]
    fn among<A: Coordinate, B: Coordinate>(coordinates: &[A], others: &[B]) -> u16 {
        let lanes = lanes::<A, B>();
        assert!(lanes != 0 && coordinates.len() <= lanes);
        let all = first(coordinates.len());
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
