//! Reductions of terms over runs of stored entries, as the sum of the values of a row times what a vector has at their coordinates, and
//! over dense rows. A term is a tree of loads and operators; it may be combined by any operator that has an identity.
//!
//! ```
//! use spc::parallel::{Maximum, at, run};
//!
//! let (coordinates, values) = ([1_u32, 3], [2.0, 5.0]);
//! let x = [1.0, 10.0, 100.0, 1000.0];
//! assert_eq!(run(&values).times(at(&x, &coordinates)).sum(), 5020.0);
//! assert_eq!(run(&values).plus(at(&x, &coordinates)).reduce(Maximum), 1005.0);
//! ```
//!
//! A smallest or largest passes over NaN: lanes begin with the identity, which is no NaN, and no later operand puts one there. Lanes
//! without an entry hold the identity.
//!
//! No sum takes more than [`LONG`] terms in a lane before it is added to one of `f64`, which loses nothing of millions of them: in
//! `f32`, terms that are small beside their sum are lost.
//!
//! A sum in one variable waits for each addition before it begins the next, so there are several, which are added up at the end.
//! What is compiled for a processor that loads and gathers under a mask (AVX-512) takes whole runs in vectors, the last of them
//! under a mask: most rows are short, and the length of the next one can't be predicted. AMD's processors, which take longer to gather
//! than to load one by one, take runs in fours.

use super::combine::{All, Any, Difference, Maximum, Minimum, Monoid, Op, Operator, Product, Quotient, Sum, Value};
use super::coordinate::Coordinate;
use super::half::{bf16, f16};
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
use super::wide::{
    Arithmetic, EightLanes, GATHERED, LOADS_ONE_BY_ONE, Lanes, Lasting, Wide, fetch, gather_halves, lanes_of_length,
    load_halves,
};
use std::marker::PhantomData;

/// How many terms a lane takes before its sum is added to one of `f64`.
pub(super) const LONG: usize = 64;

/// What terms are of.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
pub trait Number: Value + Wide {}

/// What terms are of.
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
pub trait Number: Value {}

macro_rules! numbers {
    ($($number:ident)*) => {
        $(impl Number for $number {})*
    };
}

numbers!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool);

/// What terms are loaded from: numbers, and elements of two bytes that are computed with as `f32`.
pub trait Stored: Copy {
    /// What they are computed with as.
    type Number: Number;

    /// As that.
    fn loaded(self) -> Self::Number;

    /// At most as many as there are lanes; zero in the other lanes.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    fn load<L: Lanes<Number = Self::Number>>(elements: &[Self]) -> L;

    /// What an array has at coordinates, at most as many; zero in the other lanes, and where a coordinate fills up, if some may.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    fn gather<L: Lanes<Number = Self::Number>, C: Coordinate>(of: &[Self], coordinates: &[C], is_filled: bool) -> L;

    /// Whether it is known to be worth it, and true, that coordinates lie within an array; at most as many as there are lanes.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn are_within<L: Lanes<Number = Self::Number>, C: Coordinate>(_: &[Self], _: &[C]) -> bool {
        false
    }

    /// What an array has at coordinates, as many as there are lanes.
    ///
    /// # Safety
    /// All lie within the array.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    unsafe fn gather_within<L: Lanes<Number = Self::Number>, C: Coordinate>(of: &[Self], coordinates: &[C]) -> L {
        Self::gather(of, coordinates, false)
    }
}

impl<T: Number> Stored for T {
    type Number = T;

    #[inline(always)]
    fn loaded(self) -> T {
        self
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn load<L: Lanes<Number = T>>(elements: &[T]) -> L {
        L::load(elements)
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn gather<L: Lanes<Number = T>, C: Coordinate>(of: &[T], coordinates: &[C], is_filled: bool) -> L {
        if is_filled { L::gather_some(of, coordinates) } else { L::gather(of, coordinates) }
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn are_within<L: Lanes<Number = T>, C: Coordinate>(of: &[T], coordinates: &[C]) -> bool {
        L::are_within(of, coordinates)
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    unsafe fn gather_within<L: Lanes<Number = T>, C: Coordinate>(of: &[T], coordinates: &[C]) -> L {
        // SAFETY: as the caller has it.
        unsafe { L::gather_within(of, coordinates) }
    }
}

macro_rules! halves {
    ($($half:ident)*) => {
        $(impl Stored for $half {
            type Number = f32;

            #[inline(always)]
            fn loaded(self) -> f32 {
                self.number()
            }

            #[cfg(all(
                target_arch = "x86_64",
                target_feature = "avx512bw",
                target_feature = "avx512dq",
                target_feature = "avx512vl"
            ))]
            #[inline(always)]
            fn load<L: Lanes<Number = f32>>(elements: &[Self]) -> L {
                L::of_halves::<Self>(load_halves(elements))
            }

            #[cfg(all(
                target_arch = "x86_64",
                target_feature = "avx512bw",
                target_feature = "avx512dq",
                target_feature = "avx512vl"
            ))]
            #[inline(always)]
            fn gather<L: Lanes<Number = f32>, C: Coordinate>(of: &[Self], coordinates: &[C], is_filled: bool) -> L {
                gather_halves::<Self, L, C>(of, coordinates, is_filled)
            }
        })*
    };
}

halves!(f16 bf16);

/// Values side by side, one for each place of a run.
pub trait Term: Copy {
    /// Their type.
    type Number: Number;

    /// Whether some lie at coordinates: they are loaded one by one, where a processor has nothing better.
    const IS_GATHERED: bool;

    /// Whether there may be nothing at some places.
    const IS_FILLED: bool = false;

    /// Whether it is one value, at as many places as anything else has.
    const IS_SAME: bool = false;

    /// Whether lanes without a place hold zeros.
    const IS_ZERO_OUTSIDE: bool = true;

    /// How many there are.
    fn length(self) -> usize;

    /// How many elements the longest array has that some are gathered from.
    fn longest(self) -> usize {
        0
    }

    /// Those of `first..first + length`.
    fn part(self, first: usize, length: usize) -> Self;

    /// Has what is stored for places from one on, where there are any, brought near.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    fn fetch(self, place: usize);

    /// Whether there is something at a place.
    #[inline(always)]
    fn has(self, _place: usize) -> bool {
        true
    }

    /// The one at a place where there is one.
    fn get(self, place: usize) -> Self::Number;

    /// The values themselves, where they may be multiplied by those of another row in vectors that the processor is asked for.
    #[inline(always)]
    fn wide_row(&self) -> Option<&[Self::Number]> {
        None
    }

    /// The sum of the products with a row that is as long, in such vectors.
    #[inline(always)]
    fn dot(self, _: &[Self::Number]) -> Option<Self::Number> {
        None
    }

    /// The sum of all, where it is one of such products.
    #[inline(always)]
    fn summed(self) -> Option<Self::Number> {
        None
    }

    /// Combines the one at a place with a total, where there is one.
    #[inline(always)]
    fn combine_into<C: Monoid>(self, total: &mut Self::Number, place: usize) {
        if self.has(place) {
            *total = Value::apply(C::OP, *total, self.get(place));
        }
    }

    /// All of them, at most as many as there are lanes.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    fn lanes<L: Lanes<Number = Self::Number>>(self) -> L;

    /// The same terms, once it is known of all coordinates that they lie within their arrays.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    type Within: Term<Number = Self::Number>;

    /// They, unless a coordinate does not; at most as many as there are lanes.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    fn within<L: Lanes<Number = Self::Number>>(self) -> Option<Self::Within>;

    /// In which lanes there is something, of at most as many.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn mask<L: Lanes<Number = Self::Number>>(self) -> u32 {
        lanes_of_length(self.length())
    }

    /// Combines all of them with totals in lanes, none of which is NaN where the operator passes over NaN.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn combine_lanes<C: Monoid, L: Lanes<Number = Self::Number>>(self, totals: L) -> L {
        let all = L::combine(C::OP, self.lanes(), totals);
        if C::IS_SUM && Self::IS_ZERO_OUTSIDE && !Self::IS_FILLED {
            return all;
        }
        totals.select(self.mask::<L>(), all)
    }

    /// Totals of all of them in lanes: the identity where there is nothing.
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn first_lanes<C: Monoid, L: Lanes<Number = Self::Number>>(self) -> L {
        if Self::IS_FILLED {
            return self.combine_lanes::<C, L>(L::identity(C::OP));
        }
        let all: L = self.lanes();
        if C::IS_SUM && Self::IS_ZERO_OUTSIDE {
            return all;
        }
        L::identity(C::OP).select(lanes_of_length(self.length()), all.without_nan(C::OP))
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

/// What [`at`] gives, of coordinates that are known to lie within the array.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[derive(Debug, Clone, Copy)]
pub struct Within<'a, T, C>(At<'a, T, C>);

/// What [`at_some`] gives.
#[derive(Debug, Clone, Copy)]
pub struct AtSome<'a, T, C>(At<'a, T, C>);

/// What [`same`] gives.
#[derive(Debug, Clone, Copy)]
pub struct Same<T>(T);

/// Two terms with an operator between them.
#[derive(Debug, Clone, Copy)]
pub struct Both<O, A, B>(A, B, PhantomData<O>);

/// Terms side by side, one for each place of a run.
#[derive(Debug, Clone, Copy)]
pub struct Terms<F>(pub(super) F);

/// The elements of a run.
#[inline(always)]
pub fn run<T: Stored>(elements: &[T]) -> Terms<Run<'_, T>> {
    Terms(Run(elements))
}

/// What an array has at the coordinates of a run.
#[inline(always)]
pub fn at<'a, T: Stored, C: Coordinate>(of: &'a [T], coordinates: &'a [C]) -> Terms<At<'a, T, C>> {
    Terms(At { of, coordinates })
}

/// What an array has at the coordinates of a run that may be filled up with the largest number of their type: nothing there.
#[inline(always)]
pub fn at_some<'a, T: Stored, C: Coordinate>(of: &'a [T], coordinates: &'a [C]) -> Terms<AtSome<'a, T, C>> {
    Terms(AtSome(At { of, coordinates }))
}

/// A value at every place.
#[inline(always)]
pub fn same<T: Number>(value: T) -> Terms<Same<T>> {
    Terms(Same(value))
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $operator:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Panics
            /// When there are more of one than of the other.
            #[inline(always)]
            pub fn $name<G: Term<Number = F::Number>>(self, other: Terms<G>) -> Terms<Both<$operator, F, G>> {
                self.with(other)
            }
        )*
    };
}

impl<F: Term> Terms<F> {
    methods! {
        /// Each plus what another has at the same place.
        plus Sum;
        /// Each minus what another has at the same place.
        minus Difference;
        /// Each multiplied by what another has at the same place.
        times Product;
        /// Each divided by what another has at the same place: floating point numbers.
        over Quotient;
        /// The smaller of each and what another has at the same place.
        min Minimum;
        /// The larger of each and what another has at the same place.
        max Maximum;
        /// Each `&` what another has at the same place.
        and All;
        /// Each `|` what another has at the same place.
        or Any;
    }

    #[inline(always)]
    fn with<O: Operator, G: Term<Number = F::Number>>(self, other: Terms<G>) -> Terms<Both<O, F, G>> {
        let is_long_enough = F::IS_SAME || G::IS_SAME || self.0.length() == other.0.length();
        assert!(is_long_enough, "runs side by side are of one length");
        Terms(Both(self.0, other.0, PhantomData))
    }

    /// The sum of all.
    ///
    /// # Panics
    /// When a coordinate lies beyond its array.
    #[inline(always)]
    pub fn sum(self) -> F::Number {
        match self.0.summed() {
            Some(sum) => sum,
            None => reduce::<Sum, F>(self.0),
        }
    }

    /// All combined.
    ///
    /// ```
    /// use spc::parallel::{Minimum, at, run};
    ///
    /// let lengths = run(&[2.0, 5.0]).plus(at(&[1.0, 10.0, -9.0], &[1_u32, 2]));
    /// assert_eq!(lengths.reduce(Minimum), -4.0);
    /// ```
    ///
    /// # Panics
    /// As [`Terms::sum`].
    #[inline(always)]
    pub fn reduce<C: Monoid>(self, _: C) -> F::Number {
        reduce::<C, F>(self.0)
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
        self.reduce_in_turns(Sum, sums);
    }

    /// The same with another operator.
    ///
    /// # Panics
    /// As [`Terms::sums_in_turns`].
    #[inline(always)]
    pub fn reduce_in_turns<C: Monoid>(self, _: C, totals: &mut [F::Number]) {
        assert!(self.0.length().is_multiple_of(totals.len()), "as many terms for each total");
        totals.fill(F::Number::identity(C::OP));
        combine_in_turns::<C, F>(self.0, totals);
    }
}

/// Whether long reductions are formed in parts, which are added in `f64`: sums that are rounded.
const fn is_in_parts<C: Monoid, F: Term>() -> bool {
    C::IS_SUM && F::Number::IS_ROUNDED
}

/// In vectors, the last of them under a mask.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn reduce<C: Monoid, F: Term>(term: F) -> F::Number {
    if !F::IS_GATHERED {
        return reduce_in::<C, <F::Number as Wide>::Row, F>(term);
    }
    if LOADS_ONE_BY_ONE && term.longest() <= GATHERED {
        return reduce_loaded::<C, F>(term);
    }
    match term.length() {
        // Where there are no others, this is a branch that is always the same; where there are, one entry is the most frequent.
        0 | 1 => reduce_one_by_one::<C, F>(term),
        _ if term.longest() > GATHERED => reduce_far::<C, F>(term),
        _ => reduce_in::<C, <F::Number as Wide>::Gathered, F>(term),
    }
}

/// In vectors of few lanes, and one by one what is left.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn reduce_loaded<C: Monoid, F: Term>(term: F) -> F::Number {
    let lanes = <F::Number as Wide>::Loaded::COUNT;
    let length = term.length();
    if length < lanes {
        return reduce_one_by_one::<C, F>(term);
    }
    if is_in_parts::<C, F>() && length > LONG * lanes {
        return reduce_in::<C, <F::Number as Wide>::Loaded, F>(term);
    }
    let mut totals = term.part(0, lanes).first_lanes::<C, <F::Number as Wide>::Loaded>();
    let mut place = lanes;
    // One comparison for all coordinates of a wide register.
    let wide = <F::Number as Wide>::Row::COUNT;
    while place + wide <= length {
        let Some(block) = term.part(place, wide).within::<<F::Number as Wide>::Row>() else { break };
        for first in (0..wide).step_by(lanes) {
            totals = block.part(first, lanes).combine_lanes::<C, _>(totals);
        }
        place += wide;
    }
    while place + lanes <= length {
        totals = term.part(place, lanes).combine_lanes::<C, _>(totals);
        place += lanes;
    }
    let mut total = totals.fold(C::OP);
    while place < length {
        term.combine_into::<C>(&mut total, place);
        place += 1;
    }
    total
}

#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn reduce_in<C: Monoid, L: Lanes<Number = F::Number>, F: Term>(term: F) -> F::Number {
    lanes_of::<C, L, F>(term).fold(C::OP)
}

/// Totals in lanes.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn lanes_of<C: Monoid, L: Lanes<Number = F::Number>, F: Term>(term: F) -> L {
    let length = term.length();
    if length <= L::COUNT {
        return term.first_lanes::<C, L>();
    }
    if is_in_parts::<C, F>() && length > LONG * L::COUNT {
        return lanes_of_long::<C, L, F>(term);
    }
    lanes_of_some::<C, L, F>(term)
}

/// Sums in lanes of so many that they are added up in parts.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(never)]
fn lanes_of_long<C: Monoid, L: Lanes<Number = F::Number>, F: Term>(term: F) -> L {
    let (mut sums, mut place, length) = (L::none(), 0, term.length());
    while length - place > LONG * L::COUNT {
        sums = lanes_of_some::<C, L, F>(term.part(place, LONG * L::COUNT)).add_to(sums);
        place += LONG * L::COUNT;
    }
    // There is at least one left, and it may be alone.
    L::rounded(lanes_of::<C, L, F>(term.part(place, length - place)).add_to(sums))
}

/// Totals in lanes of more than there are lanes.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn lanes_of_some<C: Monoid, L: Lanes<Number = F::Number>, F: Term>(term: F) -> L {
    let length = term.length();
    let mut totals = term.part(0, L::COUNT).first_lanes::<C, L>();
    let mut rest = term.part(L::COUNT, length - L::COUNT);
    let mut left = length - L::COUNT;
    while left >= L::COUNT {
        totals = rest.part(0, L::COUNT).combine_lanes::<C, L>(totals);
        left -= L::COUNT;
        rest = rest.part(L::COUNT, left);
    }
    if left > 0 {
        totals = rest.combine_lanes::<C, L>(totals);
    }
    totals
}

/// The totals of runs that lie one behind the other, eight at a time.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(never)]
pub(super) fn eights<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    let (eights, rest) = totals.as_chunks_mut::<8>();
    let mut positions = positions;
    for totals in eights {
        let Some(bounds) = positions.first_chunk() else { return };
        eight_totals::<C, <F::Number as Wide>::Gathered, F, P>(term, bounds).store(totals);
        positions = &positions[8..];
    }
    reduce_each::<C, F, P>(term, positions, rest);
}

/// Most runs of tensors are short. What eight short runs have together is a few vectors, so that few lanes are without an entry; then
/// the first terms of all runs are combined with the second, and so on. The vectors are whole, with what comes behind: how much of
/// one is asked for can't be predicted. Longer runs have vectors of their own.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn eight_totals<C: Monoid, L: EightLanes<Number = F::Number>, F: Term, P: Coordinate>(term: F, bounds: &[P; 9]) -> L {
    let first = bounds[0].place();
    let place = |number: usize| bounds[number].place().wrapping_sub(first) as u32;
    let (begins, ends) = (std::array::from_fn(place), std::array::from_fn(|number| place(number + 1)));
    let all = bounds[8].place().wrapping_sub(first);
    let longest = (0..8).fold(0, |longest, number| place(number + 1).wrapping_sub(place(number)).max(longest)) as usize;
    let there = term.length().saturating_sub(first);
    let fit = |vectors: usize| all <= vectors * L::COUNT && vectors * L::COUNT <= there;
    let pair = |number| pair::<C, L, F>(term, first, number);
    if fit(1) {
        let one = vector::<C, L, F>(term, first, 0);
        L::totals_between(C::OP, [[one, one]], begins, ends)
    } else if fit(2) {
        L::totals_between(C::OP, [pair(0)], begins, ends)
    } else if longest <= L::COUNT && fit(4) {
        L::totals_between(C::OP, [pair(0), pair(1)], begins, ends)
    } else if LOADS_ONE_BY_ONE && (all == 8 * longest || all > 8 * L::COUNT) {
        // Runs of one length have ends that can be guessed, and of long ones each takes longer than a wrong guess.
        let mut totals = [F::Number::default(); 8];
        reduce_each::<C, F, P>(term, bounds, &mut totals);
        L::load(&totals)
    } else if longest <= L::COUNT && fit(6) {
        L::totals_between(C::OP, [pair(0), pair(1), pair(2)], begins, ends)
    } else {
        let mut lanes = [L::identity(C::OP); 8];
        let runs = bounds.windows(2).map(|ends| term.part(ends[0].place(), ends[1].place() - ends[0].place()));
        if longest <= L::COUNT {
            lanes.iter_mut().zip(runs).for_each(|(lanes, run)| *lanes = run.first_lanes::<C, L>());
        } else {
            lanes.iter_mut().zip(runs).for_each(|(lanes, run)| *lanes = lanes_of::<C, L, F>(run));
        }
        L::totals(C::OP, lanes)
    }
}

/// Terms from a place on, the vectors `2 * number` and `2 * number + 1`.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn pair<C: Monoid, L: EightLanes<Number = F::Number>, F: Term>(term: F, first: usize, number: usize) -> [L; 2] {
    [vector::<C, L, F>(term, first, 2 * number), vector::<C, L, F>(term, first, 2 * number + 1)]
}

/// Terms from a place on, the vector of a number.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn vector<C: Monoid, L: EightLanes<Number = F::Number>, F: Term>(term: F, first: usize, number: usize) -> L {
    term.part(first + number * L::COUNT, L::COUNT).first_lanes::<C, L>()
}

/// The totals of runs that lie one behind the other, one after the other.
#[inline(always)]
pub(super) fn reduce_each<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    for (to, bounds) in totals.iter_mut().zip(positions.windows(2)) {
        let (first, end) = (bounds[0].place(), bounds[1].place());
        *to = reduce::<C, F>(term.part(first, end - first));
    }
}

/// Of an array that is too long to be gathered from.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[cold]
#[inline(never)]
fn reduce_far<C: Monoid, F: Term>(term: F) -> F::Number {
    if is_in_parts::<C, F>() {
        return sum_in_parts(term, LONG, &reduce_one_by_one::<C, F>);
    }
    reduce_one_by_one::<C, F>(term)
}

/// In vectors, a lane for each total.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn combine_in_turns<C: Monoid, F: Term>(term: F, totals: &mut [F::Number]) {
    if term.longest() > GATHERED {
        return combine_in_turns_of_far::<C, F>(term, totals);
    }
    let (all, length) = (totals.len(), term.length());
    for (block, totals) in totals.chunks_mut(<F::Number as Wide>::Gathered::COUNT).enumerate() {
        let mut lanes = <F::Number as Wide>::Gathered::load(totals);
        let mut place = block * <F::Number as Wide>::Gathered::COUNT;
        if is_in_parts::<C, F>() && length > LONG * all {
            let mut total = <F::Number as Wide>::Gathered::none();
            while place < length {
                let end = length.min(place + LONG * all);
                while place < end {
                    lanes = term.part(place, totals.len()).combine_lanes::<C, _>(lanes);
                    place += all;
                }
                total = lanes.add_to(total);
                lanes = <F::Number as Wide>::Gathered::load(&[]);
            }
            lanes = <F::Number as Wide>::Gathered::rounded(total);
        }
        while place < length {
            lanes = term.part(place, totals.len()).combine_lanes::<C, _>(lanes);
            place += all;
        }
        lanes.store(totals);
    }
}

/// Of an array that is too long to be gathered from.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[cold]
#[inline(never)]
fn combine_in_turns_of_far<C: Monoid, F: Term>(term: F, totals: &mut [F::Number]) {
    combine_one_by_one::<C, F>(term, totals);
}

/// One after the other.
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
#[inline(always)]
fn combine_in_turns<C: Monoid, F: Term>(term: F, totals: &mut [F::Number]) {
    combine_one_by_one::<C, F>(term, totals);
}

#[inline(always)]
fn combine_one_by_one<C: Monoid, F: Term>(term: F, totals: &mut [F::Number]) {
    let (all, mut first) = (totals.len(), 0);
    if is_in_parts::<C, F>() && term.length() > LONG * all {
        return add_each::<C, F>(term, totals);
    }
    while first < term.length() {
        let terms = term.part(first, all);
        for (place, total) in totals.iter_mut().enumerate() {
            terms.combine_into::<C>(total, place);
        }
        first += all;
    }
}

/// One sum after the other, as each has many terms.
#[inline(never)]
fn add_each<C: Monoid, F: Term>(term: F, sums: &mut [F::Number]) {
    let all = sums.len();
    for (first, sum) in sums.iter_mut().enumerate() {
        let mut total = 0.0;
        for place in (first..term.length()).step_by(all) {
            let mut product = F::Number::default();
            term.combine_into::<C>(&mut product, place);
            total += product.widened();
        }
        *sum = F::Number::rounded(total);
    }
}

/// The sum of the sums of parts of some length.
#[inline(always)]
fn sum_in_parts<F: Term>(term: F, length: usize, sum: &dyn Fn(F) -> F::Number) -> F::Number {
    let mut total = 0.0;
    let mut first = 0;
    while first < term.length() {
        let part = term.part(first, length.min(term.length() - first));
        total += sum(part).widened();
        first += length;
    }
    F::Number::rounded(total)
}

#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn reduce_one_by_one<C: Monoid, F: Term>(term: F) -> F::Number {
    let mut total = F::Number::identity(C::OP);
    for place in 0..term.length() {
        term.combine_into::<C>(&mut total, place);
    }
    total
}

/// In several totals, and one for the last entries.
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
#[inline(always)]
fn reduce<C: Monoid, F: Term>(term: F) -> F::Number {
    if F::IS_GATHERED { reduce_all::<4, C, F>(term) } else { reduce_all::<8, C, F>(term) }
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
#[inline(always)]
fn reduce_all<const LANES: usize, C: Monoid, F: Term>(term: F) -> F::Number {
    if is_in_parts::<C, F>() && term.length() > LONG * LANES {
        return sum_of_long::<LANES, C, F>(term);
    }
    reduce_in::<LANES, C, F>(term)
}

/// Of so many that they are added up in parts.
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
#[inline(never)]
fn sum_of_long<const LANES: usize, C: Monoid, F: Term>(term: F) -> F::Number {
    sum_in_parts(term, LONG * LANES, &reduce_in::<LANES, C, F>)
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
#[inline(always)]
fn reduce_in<const LANES: usize, C: Monoid, F: Term>(term: F) -> F::Number {
    let mut totals = [F::Number::identity(C::OP); LANES];
    let length = term.length();
    let blocks = length / LANES;
    for block in 0..blocks {
        let block = term.part(block * LANES, LANES);
        for (lane, total) in totals.iter_mut().enumerate() {
            block.combine_into::<C>(total, lane);
        }
    }
    let mut total = F::Number::identity(C::OP);
    let left = length - blocks * LANES;
    let rest = term.part(blocks * LANES, left);
    for place in 0..left {
        rest.combine_into::<C>(&mut total, place);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            totals[lane] = Value::apply(C::OP, totals[lane], totals[lane + half]);
        }
        half /= 2;
    }
    Value::apply(C::OP, total, totals[0])
}

impl<T: Stored> Term for Run<'_, T> {
    type Number = T::Number;

    const IS_GATHERED: bool = false;

    #[inline(always)]
    fn length(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn part(self, first: usize, length: usize) -> Self {
        Run(&self.0[first..first + length])
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn fetch(self, place: usize) {
        fetch(self.0, place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.0[place].loaded()
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    type Within = Self;

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn within<L: Lanes<Number = Self::Number>>(self) -> Option<Self> {
        Some(self)
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        T::load(self.0)
    }
}

impl<'a, T: Stored, C: Coordinate> Term for At<'a, T, C> {
    type Number = T::Number;

    const IS_GATHERED: bool = true;

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

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn fetch(self, place: usize) {
        fetch(self.coordinates, place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.of[self.coordinates[place].place()].loaded()
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    type Within = Within<'a, T, C>;

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn within<L: Lanes<Number = T::Number>>(self) -> Option<Within<'a, T, C>> {
        T::are_within::<L, C>(self.of, self.coordinates).then_some(Within(self))
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        T::gather(self.of, self.coordinates, false)
    }
}

#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
impl<T: Stored, C: Coordinate> Term for Within<'_, T, C> {
    type Number = T::Number;

    type Within = Self;

    const IS_GATHERED: bool = true;

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
        Within(self.0.part(first, length))
    }

    #[inline(always)]
    fn fetch(self, place: usize) {
        self.0.fetch(place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.0.get(place)
    }

    #[inline(always)]
    fn within<L: Lanes<Number = T::Number>>(self) -> Option<Self> {
        Some(self)
    }

    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        // SAFETY: `At::within` has found that all coordinates lie within the array, and both are borrowed since. A part has none but
        // these.
        unsafe { T::gather_within(self.0.of, self.0.coordinates) }
    }
}

impl<T: Stored, C: Coordinate> Term for AtSome<'_, T, C> {
    type Number = T::Number;

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

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn fetch(self, place: usize) {
        self.0.fetch(place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.0.get(place)
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    type Within = Self;

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn within<L: Lanes<Number = Self::Number>>(self) -> Option<Self> {
        Some(self)
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        T::gather(self.0.of, self.0.coordinates, true)
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn mask<L: Lanes<Number = T::Number>>(self) -> u32 {
        L::some(self.0.coordinates)
    }
}

impl<T: Number> Term for Same<T> {
    type Number = T;

    const IS_GATHERED: bool = false;

    const IS_SAME: bool = true;

    const IS_ZERO_OUTSIDE: bool = false;

    #[inline(always)]
    fn length(self) -> usize {
        0
    }

    #[inline(always)]
    fn part(self, _: usize, _: usize) -> Self {
        self
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn fetch(self, _: usize) {}

    #[inline(always)]
    fn get(self, _: usize) -> T {
        self.0
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    type Within = Self;

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn within<L: Lanes<Number = Self::Number>>(self) -> Option<Self> {
        Some(self)
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = T>>(self) -> L {
        L::splat(self.0)
    }
}

impl<O: Operator, A: Term, B: Term<Number = A::Number>> Term for Both<O, A, B> {
    type Number = A::Number;

    const IS_GATHERED: bool = A::IS_GATHERED || B::IS_GATHERED;

    const IS_FILLED: bool = A::IS_FILLED || B::IS_FILLED;

    const IS_SAME: bool = A::IS_SAME && B::IS_SAME;

    const IS_ZERO_OUTSIDE: bool =
        A::IS_ZERO_OUTSIDE && B::IS_ZERO_OUTSIDE && matches!(O::OP, Op::Add | Op::Subtract | Op::Multiply);

    #[inline(always)]
    fn has(self, place: usize) -> bool {
        self.0.has(place) && self.1.has(place)
    }

    #[inline(always)]
    fn length(self) -> usize {
        if A::IS_SAME { self.1.length() } else { self.0.length() }
    }

    #[inline(always)]
    fn longest(self) -> usize {
        self.0.longest().max(self.1.longest())
    }

    #[inline(always)]
    fn part(self, first: usize, length: usize) -> Self {
        Both(self.0.part(first, length), self.1.part(first, length), PhantomData)
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn fetch(self, place: usize) {
        self.0.fetch(place);
        self.1.fetch(place);
    }

    #[inline(always)]
    fn get(self, place: usize) -> A::Number {
        Value::apply(O::OP, self.0.get(place), self.1.get(place))
    }

    #[inline(always)]
    fn summed(self) -> Option<A::Number> {
        if matches!(O::OP, Op::Multiply) { self.0.dot(self.1.wide_row()?) } else { None }
    }

    #[inline(always)]
    fn combine_into<C: Monoid>(self, total: &mut A::Number, place: usize) {
        if !self.has(place) {
            return;
        }
        *total = if C::IS_SUM && matches!(O::OP, Op::Multiply) {
            self.0.get(place).times_plus(self.1.get(place), *total)
        } else {
            Value::apply(C::OP, *total, self.get(place))
        };
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    type Within = Both<O, A::Within, B::Within>;

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn within<L: Lanes<Number = A::Number>>(self) -> Option<Self::Within> {
        Some(Both(self.0.within::<L>()?, self.1.within::<L>()?, PhantomData))
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn lanes<L: Lanes<Number = A::Number>>(self) -> L {
        L::apply(O::OP, self.0.lanes(), self.1.lanes())
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn combine_lanes<C: Monoid, L: Lanes<Number = A::Number>>(self, totals: L) -> L {
        let is_plain = C::IS_SUM && Self::IS_ZERO_OUTSIDE && !Self::IS_FILLED;
        match (C::IS_SUM && matches!(O::OP, Op::Multiply), is_plain) {
            (true, true) => totals.add_products(self.0.lanes(), self.1.lanes()),
            (true, false) => totals.add_some_products(self.mask::<L>(), self.0.lanes(), self.1.lanes()),
            (false, true) => L::combine(C::OP, self.lanes(), totals),
            (false, false) => totals.select(self.mask::<L>(), L::combine(C::OP, self.lanes(), totals)),
        }
    }

    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ))]
    #[inline(always)]
    fn mask<L: Lanes<Number = A::Number>>(self) -> u32 {
        match (A::IS_FILLED, B::IS_FILLED) {
            (true, true) => self.0.mask::<L>() & self.1.mask::<L>(),
            (true, false) => self.0.mask::<L>(),
            (false, true) => self.1.mask::<L>(),
            (false, false) => lanes_of_length(self.length()),
        }
    }
}
