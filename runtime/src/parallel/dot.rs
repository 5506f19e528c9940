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
//! What is compiled for a processor that loads and gathers under a mask (AVX-512) takes them in lanes (`lanes`), any other
//! one by one (`one_by_one`).

use super::combine::{All, Any, Difference, Maximum, Minimum, Monoid, Op, Operator, Product, Quotient, Sum, Value};
use super::coordinate::Coordinate;
use super::half::{bf16, f16};
use super::loops;
use super::ready::Ready;
use loops::{StoredInLanes, TermInLanes, Wide, combine_in_turns, reduce};
use std::marker::PhantomData;

/// How many terms a lane takes before its sum is added to one of `f64`.
pub(super) const LONG: usize = 64;

/// What terms are of.
pub trait Number: Value + Wide + Ready {}

macro_rules! numbers {
    ($($number:ident)*) => {
        $(impl Number for $number {})*
    };
}

numbers!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool);

/// What terms are loaded from: numbers, and elements of two bytes that are computed with as `f32`.
pub trait Stored: Copy + StoredInLanes<<Self as Stored>::Number> {
    /// What they are computed with as.
    type Number: Number;

    /// As that.
    fn loaded(self) -> Self::Number;

    /// The same elements, if they are numbers.
    #[inline(always)]
    fn numbers(_: &[Self]) -> Option<&[Self::Number]> {
        None
    }
}

impl<T: Number> Stored for T {
    type Number = T;

    #[inline(always)]
    fn loaded(self) -> T {
        self
    }

    #[inline(always)]
    fn numbers(elements: &[T]) -> Option<&[T]> {
        Some(elements)
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
        })*
    };
}

halves!(f16 bf16);

/// Values side by side, one for each place of a run.
pub trait Term: Copy + TermInLanes<<Self as Term>::Number> {
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

    /// Whether there is something at a place.
    #[inline(always)]
    fn has(self, _place: usize) -> bool {
        true
    }

    /// The one at a place where there is one.
    fn get(self, place: usize) -> Self::Number;

    /// What they are.
    #[inline(always)]
    fn known(&self) -> Known<'_, Self::Number> {
        Known::Others
    }

    /// Combines the one at a place with a total, where there is one.
    #[inline(always)]
    fn combine_into<C: Monoid>(self, total: &mut Self::Number, place: usize) {
        if self.has(place) {
            *total = Value::apply(C::OP, *total, self.get(place));
        }
    }
}

/// Terms that loops have been compiled for.
#[derive(Debug, Clone, Copy)]
pub enum Known<'a, N> {
    /// The elements of a run.
    Run(&'a [N]),
    /// What an array has at coordinates.
    At(&'a [N], &'a [u32]),
    /// The products of both.
    Products(&'a [N], &'a [N], &'a [u32]),
    /// Others.
    Others,
}

/// What [`run`] gives.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a, T>(pub(super) &'a [T]);

/// What [`at`] gives.
#[derive(Debug, Clone, Copy)]
pub struct At<'a, T, C> {
    pub(super) of: &'a [T],
    pub(super) coordinates: &'a [C],
}

/// What [`at_some`] gives.
#[derive(Debug, Clone, Copy)]
pub struct AtSome<'a, T, C>(pub(super) At<'a, T, C>);

/// What [`same`] gives.
#[derive(Debug, Clone, Copy)]
pub struct Same<T>(pub(super) T);

/// Two terms with an operator between them.
#[derive(Debug, Clone, Copy)]
pub struct Both<O, A, B>(pub(super) A, pub(super) B, pub(super) PhantomData<O>);

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
        reduce::<Sum, F>(self.0)
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
pub(super) const fn is_in_parts<C: Monoid, F: Term>() -> bool {
    C::IS_SUM && F::Number::IS_ROUNDED
}

/// The totals of runs that lie one behind the other, one after the other.
#[inline(always)]
pub(super) fn reduce_each<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    let positions = &positions[..totals.len() + 1];
    for (run, total) in totals.iter_mut().enumerate() {
        let (first, end) = (positions[run].place(), positions[run + 1].place());
        *total = reduce::<C, F>(term.part(first, end - first));
    }
}

#[inline(always)]
pub(super) fn combine_one_by_one<C: Monoid, F: Term>(term: F, totals: &mut [F::Number]) {
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
pub(super) fn sum_in_parts<F: Term>(term: F, length: usize, sum: &dyn Fn(F) -> F::Number) -> F::Number {
    let mut total = 0.0;
    let mut first = 0;
    while first < term.length() {
        let part = term.part(first, length.min(term.length() - first));
        total += sum(part).widened();
        first += length;
    }
    F::Number::rounded(total)
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

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.0[place].loaded()
    }

    #[inline(always)]
    fn known(&self) -> Known<'_, T::Number> {
        T::numbers(self.0).map_or(Known::Others, Known::Run)
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

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.of[self.coordinates[place].place()].loaded()
    }

    #[inline(always)]
    fn known(&self) -> Known<'_, T::Number> {
        match (T::numbers(self.of), C::words(self.coordinates)) {
            (Some(of), Some(coordinates)) => Known::At(of, coordinates),
            _ => Known::Others,
        }
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

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.0.get(place)
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

    #[inline(always)]
    fn get(self, _: usize) -> T {
        self.0
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

    #[inline(always)]
    fn get(self, place: usize) -> A::Number {
        Value::apply(O::OP, self.0.get(place), self.1.get(place))
    }

    #[inline(always)]
    fn known(&self) -> Known<'_, A::Number> {
        match (O::OP, self.0.known(), self.1.known()) {
            (Op::Multiply, Known::Run(run), Known::At(of, coordinates)) => Known::Products(run, of, coordinates),
            (Op::Multiply, Known::At(of, coordinates), Known::Run(run)) => Known::Products(run, of, coordinates),
            _ => Known::Others,
        }
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
}
