//! Sums of products over runs of stored entries, as the values of a row times what a vector has at their coordinates, and over
//! dense rows.
//!
//! ```
//! use spc::parallel::{at, run};
//!
//! let (coordinates, values) = ([1_u32, 3], [2.0, 5.0]);
//! let x = [1.0, 10.0, 100.0, 1000.0];
//! assert_eq!(run(&values).times(at(&x, &coordinates)).sum(), 5020.0);
//! ```
//!
//! No sum takes more than [`LONG`] terms in a lane before it is added to one of `f64`, which loses nothing of millions of them: in
//! `f32`, terms that are small beside their sum are lost.
//!
//! A sum in one variable waits for each addition before it begins the next, so there are several, which are added up at the end.
//! What is compiled for a processor that loads and gathers under a mask (AVX-512) takes whole runs in vectors, the last of them
//! under a mask: most rows are short, and nobody can guess how short the next one is. AMD's processors, which take longer to gather
//! than to load one by one, take short runs in fours.

use super::Fused;
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
use super::segments;
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
use super::wide::{EightLanes, GATHERED, LOADS_ONE_BY_ONE, Lanes, Lasting, Wide, fetch};
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
use std::ops::RangeInclusive;

/// How many terms a lane takes before its sum is added to one of `f64`.
pub(super) const LONG: usize = 64;

/// What sums are made of: `f32` and `f64`.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
pub trait Number: Fused + Wide + Widened + Default + std::ops::Mul<Output = Self> + std::ops::AddAssign {}

/// What sums are made of: `f32` and `f64`.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl")))]
pub trait Number: Fused + Widened + Default + std::ops::Mul<Output = Self> + std::ops::AddAssign {}

impl Number for f32 {}
impl Number for f64 {}

/// Numbers that are `f64` without loss.
pub trait Widened {
    /// As an `f64`.
    fn widened(self) -> f64;

    /// The nearest to an `f64`.
    fn rounded(wide: f64) -> Self;
}

impl Widened for f32 {
    #[inline(always)]
    fn widened(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn rounded(wide: f64) -> Self {
        wide as f32
    }
}

impl Widened for f64 {
    #[inline(always)]
    fn widened(self) -> f64 {
        self
    }

    #[inline(always)]
    fn rounded(wide: f64) -> Self {
        wide
    }
}

mod sealed {
    /// Nobody else's type is a coordinate: those of four bytes are loaded as bits.
    pub trait Sealed {}
}

/// The types of stored coordinates.
pub trait Coordinate: Copy + sealed::Sealed {
    /// What fills up rows: the largest number, which is no coordinate there.
    const FILLING: Self;

    /// As a place in an array.
    fn place(self) -> usize;

    /// Whether it is no coordinate, where rows are filled up.
    fn is_filling(self) -> bool;
}

macro_rules! coordinates {
    ($($type:ty)*) => {
        $(impl sealed::Sealed for $type {}

        impl Coordinate for $type {
            const FILLING: Self = <$type>::MAX;

            #[inline(always)]
            fn place(self) -> usize {
                self as usize
            }

            #[inline(always)]
            fn is_filling(self) -> bool {
                self == Self::FILLING
            }
        })*
    };
}

coordinates!(u8 u16 u32 u64);

/// Numbers side by side, one for each place of a run.
pub trait Factor: Copy {
    /// Their type.
    type Number: Number;

    /// Whether some lie at coordinates: they are loaded one by one, where a processor has nothing better.
    const IS_GATHERED: bool;

    /// How many there are.
    fn length(self) -> usize;

    /// How many elements the longest array has that some are gathered from.
    fn longest(self) -> usize;

    /// Those of `first..first + length`.
    fn part(self, first: usize, length: usize) -> Self;

    /// Has what is stored for places from one on, where there are any, brought near.
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    fn fetch(self, place: usize);

    /// Whether there may be nothing at some places.
    const IS_FILLED: bool;

    /// Whether there is something at a place.
    fn has(self, place: usize) -> bool;

    /// The one at a place where there is one.
    fn get(self, place: usize) -> Self::Number;

    /// Adds the one at a place to a sum, where there is one.
    fn add_to(self, sum: &mut Self::Number, place: usize);

    /// All of them, at most as many as there are lanes; zero in the other lanes.
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    fn lanes<L: Lanes<Number = Self::Number>>(self) -> L;

    /// In which lanes there is something, of at most as many.
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    fn mask<L: Lanes<Number = Self::Number>>(self) -> u32;

    /// Adds all of them to sums in lanes.
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn add_lanes<L: Lanes<Number = Self::Number>>(self, sums: L) -> L {
        sums.add(self.lanes())
    }

    /// Sums of all of them in lanes.
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn first_lanes<L: Lanes<Number = Self::Number>>(self) -> L {
        if Self::IS_FILLED { self.add_lanes(L::load(&[])) } else { self.lanes() }
    }
}

/// What [`run`] gives.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a, T>(&'a [T]);

/// What [`at`] gives.
#[derive(Debug, Clone, Copy)]
pub struct At<'a, T, C> {
    of: &'a [T],
    coordinates: &'a [C],
}

/// What [`at_some`] gives.
#[derive(Debug, Clone, Copy)]
pub struct AtSome<'a, T, C>(At<'a, T, C>);

/// What [`Products::times`] gives.
#[derive(Debug, Clone, Copy)]
pub struct Times<A, B>(A, B);

/// Products side by side, one for each place of a run.
#[derive(Debug, Clone, Copy)]
pub struct Products<F>(F);

/// The elements of a run.
#[inline(always)]
pub fn run<T: Number>(elements: &[T]) -> Products<Run<'_, T>> {
    Products(Run(elements))
}

/// What an array has at the coordinates of a run.
#[inline(always)]
pub fn at<'a, T: Number, C: Coordinate>(of: &'a [T], coordinates: &'a [C]) -> Products<At<'a, T, C>> {
    Products(At { of, coordinates })
}

/// What an array has at the coordinates of a run that may be filled up with the largest number of their type: nothing there.
#[inline(always)]
pub fn at_some<'a, T: Number, C: Coordinate>(of: &'a [T], coordinates: &'a [C]) -> Products<AtSome<'a, T, C>> {
    Products(AtSome(At { of, coordinates }))
}

impl<F: Factor> Products<F> {
    /// Each multiplied by what another has at the same place.
    ///
    /// # Panics
    /// When there are more of one than of the other.
    #[inline(always)]
    pub fn times<G: Factor<Number = F::Number>>(self, other: Products<G>) -> Products<Times<F, G>> {
        assert!(self.0.length() == other.0.length(), "runs side by side are of one length");
        Products(Times(self.0, other.0))
    }

    /// The sum of all.
    ///
    /// # Panics
    /// When a coordinate lies beyond its array.
    #[inline(always)]
    pub fn sum(self) -> F::Number {
        sum(self.0)
    }

    /// Their sums in turns: of `n`, the first is that of places 0, n, 2n, …
    ///
    /// ```
    /// use spc::parallel::{at_some, run};
    ///
    /// let mut sums = [0.0; 2];
    /// run(&[2.0, 3.0, 4.0, 9.0]).times(at_some(&[1.0, 10.0], &[0_u32, 1, 1, u32::MAX])).sums_in_turns(&mut sums);
    /// assert_eq!(sums, [42.0, 30.0]);
    /// ```
    ///
    /// # Panics
    /// When the places are no multiple of the sums, or a coordinate lies beyond its array.
    #[inline(always)]
    pub fn sums_in_turns(self, sums: &mut [F::Number]) {
        assert!(self.0.length().is_multiple_of(sums.len()), "as many products for each sum");
        sums.fill(F::Number::default());
        add_in_turns(self.0, sums);
    }

    /// Their sums between positions: the first is that of places `positions[0]..positions[1]`, and so on.
    ///
    /// ```
    /// use spc::parallel::{at, run};
    ///
    /// let mut sums = [0.0; 3];
    /// run(&[2.0, 3.0, 4.0]).times(at(&[1.0, 10.0], &[0_u32, 1, 1])).sums_between(&[0_u32, 2, 2, 3], &mut sums);
    /// assert_eq!(sums, [32.0, 0.0, 40.0]);
    /// ```
    ///
    /// # Panics
    /// When there is not one position more than sums, the positions do not ascend up to a place that there is, or a coordinate lies
    /// beyond its array.
    #[inline(always)]
    pub fn sums_between<P: Coordinate>(self, positions: &[P], sums: &mut [F::Number]) {
        assert!(positions.len() == sums.len() + 1, "each sum has its end");
        sums_between(self.0, positions, sums);
    }
}

/// In vectors, the last of them under a mask.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn sum<F: Factor>(factor: F) -> F::Number {
    if !F::IS_GATHERED {
        return sum_in::<<F::Number as Wide>::Row, F>(factor);
    }
    if LOADS_ONE_BY_ONE && factor.length() < SHORT && factor.longest() <= GATHERED {
        return sum_of_loaded(factor);
    }
    match factor.length() {
        // Where there are no others, this is a branch that is always the same; where there are, one entry is the most frequent.
        0 | 1 => sum_one_by_one(factor),
        _ if factor.longest() > GATHERED => sum_of_far(factor),
        _ => sum_in::<<F::Number as Wide>::Gathered, F>(factor),
    }
}

/// Runs that are shorter have less to gain from wide vectors than they lose at their ends.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
const SHORT: usize = 32;

/// In vectors of four, and one by one what is left.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn sum_of_loaded<F: Factor>(factor: F) -> F::Number {
    const LANES: usize = 4;
    let length = factor.length();
    if length < LANES {
        return sum_one_by_one(factor);
    }
    let mut sums = factor.part(0, LANES).first_lanes::<<F::Number as Wide>::Loaded>();
    let mut place = LANES;
    while place + LANES <= length {
        sums = factor.part(place, LANES).add_lanes(sums);
        place += LANES;
    }
    let mut total = sums.total();
    while place < length {
        factor.add_to(&mut total, place);
        place += 1;
    }
    total
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn sum_in<L: Lanes<Number = F::Number>, F: Factor>(factor: F) -> F::Number {
    lanes_of::<L, F>(factor).total()
}

/// Sums in lanes.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn lanes_of<L: Lanes<Number = F::Number>, F: Factor>(factor: F) -> L {
    let length = factor.length();
    if length <= L::COUNT {
        return factor.first_lanes();
    }
    if length > LONG * L::COUNT {
        return lanes_of_long(factor);
    }
    lanes_of_some(factor)
}

/// Sums in lanes of so many that they are added up in parts.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(never)]
fn lanes_of_long<L: Lanes<Number = F::Number>, F: Factor>(factor: F) -> L {
    let (mut sums, mut place, length) = (L::none(), 0, factor.length());
    while length - place > LONG * L::COUNT {
        sums = lanes_of_some::<L, F>(factor.part(place, LONG * L::COUNT)).add_to(sums);
        place += LONG * L::COUNT;
    }
    // There is at least one left, and it may be alone.
    L::rounded(lanes_of::<L, F>(factor.part(place, length - place)).add_to(sums))
}

/// Sums in lanes of more than there are lanes.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn lanes_of_some<L: Lanes<Number = F::Number>, F: Factor>(factor: F) -> L {
    let length = factor.length();
    let mut sums = factor.part(0, L::COUNT).first_lanes::<L>();
    let mut rest = factor.part(L::COUNT, length - L::COUNT);
    while rest.length() >= L::COUNT {
        sums = rest.part(0, L::COUNT).add_lanes(sums);
        rest = rest.part(L::COUNT, rest.length() - L::COUNT);
    }
    if rest.length() > 0 {
        sums = rest.add_lanes(sums);
    }
    sums
}

/// How many runs a chunk may have whose ends a processor guesses right when it meets them again, so that nothing is won by not
/// having to guess. Fewer are a block of a loop that has more.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
const REMEMBERED: RangeInclusive<usize> = 65..=2048;

/// The sums of runs that lie one behind the other.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn sums_between<F: Factor, P: Coordinate>(factor: F, positions: &[P], sums: &mut [F::Number]) {
    if factor.longest() > GATHERED {
        return sums_between_of_far(factor, positions, sums);
    }
    if LOADS_ONE_BY_ONE && REMEMBERED.contains(&sums.len()) {
        return sum_each(factor, positions, sums);
    }
    segments::sums_between(factor, positions, sums);
}

/// The sums of runs that lie one behind the other, eight at a time.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(never)]
pub(super) fn eights<F: Factor, P: Coordinate>(factor: F, positions: &[P], sums: &mut [F::Number]) {
    let (eights, rest) = sums.as_chunks_mut::<8>();
    let mut positions = positions;
    for sums in eights {
        let Some(bounds) = positions.first_chunk() else { return };
        eight_sums::<<F::Number as Wide>::Gathered, F, P>(factor, bounds).store(sums);
        positions = &positions[8..];
    }
    sum_each(factor, positions, rest);
}

/// Most runs of tensors are short. What eight short runs have together is a few vectors, so that few lanes are without an entry; then
/// the first products of all runs are added to the second, and so on. The vectors are whole, with what comes behind: how much of
/// one is asked for nobody can guess. Longer runs have vectors of their own.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn eight_sums<L: EightLanes<Number = F::Number>, F: Factor, P: Coordinate>(factor: F, bounds: &[P; 9]) -> L {
    let first = bounds[0].place();
    let place = |number: usize| bounds[number].place().wrapping_sub(first) as u32;
    let (begins, ends) = (std::array::from_fn(place), std::array::from_fn(|number| place(number + 1)));
    let all = bounds[8].place().wrapping_sub(first);
    let longest = (0..8).fold(0, |longest, number| place(number + 1).wrapping_sub(place(number)).max(longest)) as usize;
    let there = factor.length().saturating_sub(first);
    let fit = |vectors: usize| all <= vectors * L::COUNT && vectors * L::COUNT <= there;
    if fit(1) {
        let one = vector(factor, first, 0);
        L::sums_between([[one, one]], begins, ends)
    } else if fit(2) {
        L::sums_between([pair(factor, first, 0)], begins, ends)
    } else if longest <= L::COUNT && fit(4) {
        L::sums_between([pair(factor, first, 0), pair(factor, first, 1)], begins, ends)
    } else if LOADS_ONE_BY_ONE && all == 8 * longest {
        // Runs of one length have ends that can be guessed.
        let mut sums = [F::Number::default(); 8];
        sum_each(factor, bounds, &mut sums);
        L::load(&sums)
    } else if longest <= L::COUNT && fit(6) {
        L::sums_between([pair(factor, first, 0), pair(factor, first, 1), pair(factor, first, 2)], begins, ends)
    } else {
        let mut lanes = [L::load(&[]); 8];
        let runs = bounds.windows(2).map(|ends| factor.part(ends[0].place(), ends[1].place() - ends[0].place()));
        if longest <= L::COUNT {
            lanes.iter_mut().zip(runs).for_each(|(lanes, run)| *lanes = run.first_lanes());
        } else {
            lanes.iter_mut().zip(runs).for_each(|(lanes, run)| *lanes = lanes_of(run));
        }
        L::totals(lanes)
    }
}

/// Products from a place on, the vectors `2 * number` and `2 * number + 1`.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn pair<L: EightLanes<Number = F::Number>, F: Factor>(factor: F, first: usize, number: usize) -> [L; 2] {
    [vector(factor, first, 2 * number), vector(factor, first, 2 * number + 1)]
}

/// Products from a place on, the vector of a number.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn vector<L: EightLanes<Number = F::Number>, F: Factor>(factor: F, first: usize, number: usize) -> L {
    factor.part(first + number * L::COUNT, L::COUNT).first_lanes()
}

/// Of an array that is too long to be gathered from.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[cold]
#[inline(never)]
fn sums_between_of_far<F: Factor, P: Coordinate>(factor: F, positions: &[P], sums: &mut [F::Number]) {
    sum_each(factor, positions, sums);
}

/// One after the other.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl")))]
#[inline(always)]
fn sums_between<F: Factor, P: Coordinate>(factor: F, positions: &[P], sums: &mut [F::Number]) {
    sum_each(factor, positions, sums);
}

#[inline(always)]
fn sum_each<F: Factor, P: Coordinate>(factor: F, positions: &[P], sums: &mut [F::Number]) {
    for (to, bounds) in sums.iter_mut().zip(positions.windows(2)) {
        let (first, end) = (bounds[0].place(), bounds[1].place());
        *to = sum(factor.part(first, end - first));
    }
}

/// Of an array that is too long to be gathered from.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[cold]
#[inline(never)]
fn sum_of_far<F: Factor>(factor: F) -> F::Number {
    sum_in_parts(factor, LONG, &sum_one_by_one)
}

/// In vectors, a lane for each sum.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn add_in_turns<F: Factor>(factor: F, sums: &mut [F::Number]) {
    if factor.longest() > GATHERED {
        return add_in_turns_of_far(factor, sums);
    }
    let (all, length) = (sums.len(), factor.length());
    for (block, sums) in sums.chunks_mut(<F::Number as Wide>::Gathered::COUNT).enumerate() {
        let mut lanes = <F::Number as Wide>::Gathered::load(sums);
        let mut place = block * <F::Number as Wide>::Gathered::COUNT;
        if length > LONG * all {
            let mut total = <F::Number as Wide>::Gathered::none();
            while place < length {
                let end = length.min(place + LONG * all);
                while place < end {
                    lanes = factor.part(place, sums.len()).add_lanes(lanes);
                    place += all;
                }
                total = lanes.add_to(total);
                lanes = <F::Number as Wide>::Gathered::load(&[]);
            }
            lanes = <F::Number as Wide>::Gathered::rounded(total);
        }
        while place < length {
            lanes = factor.part(place, sums.len()).add_lanes(lanes);
            place += all;
        }
        lanes.store(sums);
    }
}

/// Of an array that is too long to be gathered from.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[cold]
#[inline(never)]
fn add_in_turns_of_far<F: Factor>(factor: F, sums: &mut [F::Number]) {
    add_one_by_one(factor, sums);
}

/// One after the other.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl")))]
#[inline(always)]
fn add_in_turns<F: Factor>(factor: F, sums: &mut [F::Number]) {
    add_one_by_one(factor, sums);
}

#[inline(always)]
fn add_one_by_one<F: Factor>(factor: F, sums: &mut [F::Number]) {
    let (all, mut first) = (sums.len(), 0);
    if factor.length() > LONG * all {
        return add_each(factor, sums);
    }
    while first < factor.length() {
        let products = factor.part(first, all);
        for (place, sum) in sums.iter_mut().enumerate() {
            products.add_to(sum, place);
        }
        first += all;
    }
}

/// One sum after the other, as each has many terms.
#[inline(never)]
fn add_each<F: Factor>(factor: F, sums: &mut [F::Number]) {
    let all = sums.len();
    for (first, sum) in sums.iter_mut().enumerate() {
        let mut total = 0.0;
        for place in (first..factor.length()).step_by(all) {
            let mut product = F::Number::default();
            factor.add_to(&mut product, place);
            total += product.widened();
        }
        *sum = F::Number::rounded(total);
    }
}

/// The sum of the sums of parts of some length.
#[inline(always)]
fn sum_in_parts<F: Factor>(factor: F, length: usize, sum: &dyn Fn(F) -> F::Number) -> F::Number {
    let mut total = 0.0;
    let mut first = 0;
    while first < factor.length() {
        let part = factor.part(first, length.min(factor.length() - first));
        total += sum(part).widened();
        first += length;
    }
    F::Number::rounded(total)
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
#[inline(always)]
fn sum_one_by_one<F: Factor>(factor: F) -> F::Number {
    let mut total = F::Number::default();
    for place in 0..factor.length() {
        factor.add_to(&mut total, place);
    }
    total
}

/// In several sums, and one for the last entries.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl")))]
#[inline(always)]
fn sum<F: Factor>(factor: F) -> F::Number {
    if F::IS_GATHERED { sum_of_all::<4, F>(factor) } else { sum_of_all::<8, F>(factor) }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl")))]
#[inline(always)]
fn sum_of_all<const LANES: usize, F: Factor>(factor: F) -> F::Number {
    if factor.length() > LONG * LANES { sum_of_long::<LANES, F>(factor) } else { sum_in::<LANES, F>(factor) }
}

/// Of so many that they are added up in parts.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl")))]
#[inline(never)]
fn sum_of_long<const LANES: usize, F: Factor>(factor: F) -> F::Number {
    sum_in_parts(factor, LONG * LANES, &sum_in::<LANES, F>)
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl")))]
#[inline(always)]
fn sum_in<const LANES: usize, F: Factor>(factor: F) -> F::Number {
    let mut sums = [F::Number::default(); LANES];
    let length = factor.length();
    let blocks = length / LANES;
    for block in 0..blocks {
        let block = factor.part(block * LANES, LANES);
        for (lane, sum) in sums.iter_mut().enumerate() {
            block.add_to(sum, lane);
        }
    }
    let mut total = F::Number::default();
    let rest = factor.part(blocks * LANES, length - blocks * LANES);
    for place in 0..rest.length() {
        rest.add_to(&mut total, place);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            let other = sums[lane + half];
            sums[lane] += other;
        }
        half /= 2;
    }
    total += sums[0];
    total
}

impl<T: Number> Factor for Run<'_, T> {
    type Number = T;

    const IS_GATHERED: bool = false;

    const IS_FILLED: bool = false;

    #[inline(always)]
    fn has(self, _: usize) -> bool {
        true
    }

    #[inline(always)]
    fn length(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn longest(self) -> usize {
        0
    }

    #[inline(always)]
    fn part(self, first: usize, length: usize) -> Self {
        Run(&self.0[first..first + length])
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn fetch(self, place: usize) {
        fetch(self.0, place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> T {
        self.0[place]
    }

    #[inline(always)]
    fn add_to(self, sum: &mut T, place: usize) {
        *sum += self.get(place);
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = T>>(self) -> L {
        L::load(self.0)
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn mask<L: Lanes<Number = T>>(self) -> u32 {
        u32::MAX
    }
}

impl<T: Number, C: Coordinate> Factor for At<'_, T, C> {
    type Number = T;

    const IS_GATHERED: bool = true;

    const IS_FILLED: bool = false;

    #[inline(always)]
    fn has(self, _: usize) -> bool {
        true
    }

    #[inline(always)]
    fn length(self) -> usize {
        self.coordinates.len()
    }

    #[inline(always)]
    fn longest(self) -> usize {
        self.of.len()
    }

    #[inline(always)]
    fn part(self, first: usize, length: usize) -> Self {
        At { coordinates: &self.coordinates[first..first + length], ..self }
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn fetch(self, place: usize) {
        fetch(self.coordinates, place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> T {
        self.of[self.coordinates[place].place()]
    }

    #[inline(always)]
    fn add_to(self, sum: &mut T, place: usize) {
        *sum += self.get(place);
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = T>>(self) -> L {
        L::gather(self.of, self.coordinates)
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn mask<L: Lanes<Number = T>>(self) -> u32 {
        u32::MAX
    }
}

impl<T: Number, C: Coordinate> Factor for AtSome<'_, T, C> {
    type Number = T;

    const IS_GATHERED: bool = true;

    const IS_FILLED: bool = true;

    #[inline(always)]
    fn has(self, place: usize) -> bool {
        !self.0.coordinates[place].is_filling()
    }

    #[inline(always)]
    fn length(self) -> usize {
        self.0.length()
    }

    #[inline(always)]
    fn longest(self) -> usize {
        self.0.longest()
    }

    #[inline(always)]
    fn part(self, first: usize, length: usize) -> Self {
        AtSome(self.0.part(first, length))
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn fetch(self, place: usize) {
        self.0.fetch(place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> T {
        self.0.get(place)
    }

    #[inline(always)]
    fn add_to(self, sum: &mut T, place: usize) {
        if self.has(place) {
            *sum += self.get(place);
        }
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = T>>(self) -> L {
        L::gather_some(self.0.of, self.0.coordinates)
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn mask<L: Lanes<Number = T>>(self) -> u32 {
        L::some(self.0.coordinates)
    }
}

impl<A: Factor, B: Factor<Number = A::Number>> Factor for Times<A, B> {
    type Number = A::Number;

    const IS_GATHERED: bool = A::IS_GATHERED || B::IS_GATHERED;

    const IS_FILLED: bool = A::IS_FILLED || B::IS_FILLED;

    #[inline(always)]
    fn has(self, place: usize) -> bool {
        self.0.has(place) && self.1.has(place)
    }

    #[inline(always)]
    fn length(self) -> usize {
        self.0.length()
    }

    #[inline(always)]
    fn longest(self) -> usize {
        self.0.longest().max(self.1.longest())
    }

    #[inline(always)]
    fn part(self, first: usize, length: usize) -> Self {
        Times(self.0.part(first, length), self.1.part(first, length))
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn fetch(self, place: usize) {
        self.0.fetch(place);
        self.1.fetch(place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> A::Number {
        self.0.get(place) * self.1.get(place)
    }

    #[inline(always)]
    fn add_to(self, sum: &mut A::Number, place: usize) {
        if self.has(place) {
            *sum = self.0.get(place).multiply_add(self.1.get(place), *sum);
        }
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = A::Number>>(self) -> L {
        self.0.lanes::<L>().times(self.1.lanes())
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn add_lanes<L: Lanes<Number = A::Number>>(self, sums: L) -> L {
        if Self::IS_FILLED {
            return sums.add_some_products(self.mask::<L>(), self.0.lanes(), self.1.lanes());
        }
        sums.add_products(self.0.lanes(), self.1.lanes())
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]
    #[inline(always)]
    fn mask<L: Lanes<Number = A::Number>>(self) -> u32 {
        self.0.mask::<L>() & self.1.mask::<L>()
    }
}
