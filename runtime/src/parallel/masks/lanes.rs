//! Runs of terms in vectors, on processors that load and gather under a mask (AVX-512).
//!
//! Whole runs are taken in vectors, the last of them under a mask: most rows are short, and the length of the next one can't be
//! predicted. AMD's processors, which take longer to gather than to load one by one, take runs in fours.

use super::combine::{Monoid, Op, Operator, Value};
use super::coordinate::Coordinate;
use super::dot::{
    At, AtSome, Both, LONG, Number, Run, Same, Stored, Term, combine_one_by_one, is_in_parts, reduce_each, sum_in_parts,
};
use super::each::each;
use super::half::{bf16, f16};
use super::loads;
use super::wide::{
    Arithmetic, EightLanes, GATHERED, Lanes, Lasting, Places, Wide, fetch, gather_halves, lanes_of_length, load_halves,
};
use std::marker::PhantomData;

/// How elements are loaded into lanes.
pub trait StoredInLanes<N: Number>: Copy {
    /// At most as many as there are lanes; zero in the other lanes.
    fn load<L: Lanes<Number = N>>(elements: &[Self]) -> L;

    /// What an array has at coordinates, at most as many; zero in the other lanes, and where a coordinate fills up, if some may.
    fn gather<L: Lanes<Number = N>, C: Coordinate>(of: &[Self], coordinates: &[C], is_filled: bool) -> L;

    /// Reads coordinates, at most as many as there are lanes; whether it is known to be worth it, and all lie within the array.
    #[inline(always)]
    fn read_within<L: Lanes<Number = N>, C: Coordinate>(_: &[Self], _: &[C], _: &mut [u32]) -> bool {
        false
    }

    /// What an array has at places that were read, as many as there are lanes.
    ///
    /// # Safety
    /// All lie within the array.
    #[inline(always)]
    unsafe fn load_within<L: Lanes<Number = N>>(of: &[Self], places: &[u32]) -> L {
        Self::gather(of, places, false)
    }
}

impl<T: Number> StoredInLanes<T> for T {
    #[inline(always)]
    fn load<L: Lanes<Number = T>>(elements: &[T]) -> L {
        L::load(elements)
    }

    #[inline(always)]
    fn gather<L: Lanes<Number = T>, C: Coordinate>(of: &[T], coordinates: &[C], is_filled: bool) -> L {
        if is_filled { L::gather_some(of, coordinates) } else { L::gather(of, coordinates) }
    }

    #[inline(always)]
    fn read_within<L: Lanes<Number = T>, C: Coordinate>(of: &[T], coordinates: &[C], places: &mut [u32]) -> bool {
        L::read_within(of, coordinates, places)
    }

    #[inline(always)]
    unsafe fn load_within<L: Lanes<Number = T>>(of: &[T], places: &[u32]) -> L {
        // SAFETY: the caller vouches for all places.
        unsafe { L::load_within(of, places) }
    }
}

macro_rules! halves {
    ($($half:ident)*) => {
        $(impl StoredInLanes<f32> for $half {
            #[inline(always)]
            fn load<L: Lanes<Number = f32>>(elements: &[Self]) -> L {
                L::of_halves::<Self>(load_halves(elements))
            }

            #[inline(always)]
            fn gather<L: Lanes<Number = f32>, C: Coordinate>(of: &[Self], coordinates: &[C], is_filled: bool) -> L {
                gather_halves::<Self, L, C>(of, coordinates, is_filled)
            }
        })*
    };
}

halves!(f16 bf16);

/// How terms are computed in lanes.
pub trait TermInLanes<N: Number>: Copy {
    /// Has what is stored for places from one on, where there are any, brought near.
    fn fetch(self, place: usize);

    /// All of them, at most as many as there are lanes.
    fn lanes<L: Lanes<Number = N>>(self) -> L;

    /// Room for the coordinates of so many terms.
    type Room<const COUNT: usize>;

    /// It.
    fn room<const COUNT: usize>() -> Self::Room<COUNT>;

    /// The same terms with coordinates that have been read and lie within their arrays.
    type Within<'r>: Term<Number = N>
    where
        Self: 'r;

    /// They, unless a coordinate does not; at most as many as there are lanes.
    fn within<'r, L: Lanes<Number = N>, const COUNT: usize>(
        self,
        room: &'r mut Self::Room<COUNT>,
    ) -> Option<Self::Within<'r>>
    where
        Self: 'r;

    /// They, unless a coordinate does not, or there are other reasons to look at each; as many as there is room for.
    fn all_within<'r, const COUNT: usize>(self, room: &'r mut Self::Room<COUNT>) -> Option<Self::Within<'r>>
    where
        Self: 'r;

    /// The one at a place.
    ///
    /// # Safety
    /// There is such a place.
    #[inline(always)]
    unsafe fn get_within(self, place: usize) -> N
    where
        Self: Term<Number = N>,
    {
        self.get(place)
    }

    /// Combines the one at a place with a total.
    ///
    /// # Safety
    /// As for [`TermInLanes::get_within`].
    #[inline(always)]
    unsafe fn combine_within<C: Monoid>(self, total: &mut N, place: usize)
    where
        Self: Term<Number = N>,
    {
        // SAFETY: as the caller has it.
        *total = Value::apply(C::OP, *total, unsafe { self.get_within(place) });
    }

    /// In which lanes there is something, of at most as many.
    #[inline(always)]
    fn mask<L: Lanes<Number = N>>(self) -> u32
    where
        Self: Term<Number = N>,
    {
        lanes_of_length(self.length())
    }

    /// Combines all of them with totals in lanes, none of which is NaN where the operator passes over NaN.
    #[inline(always)]
    fn combine_lanes<C: Monoid, L: Lanes<Number = N>>(self, totals: L) -> L
    where
        Self: Term<Number = N>,
    {
        let all = L::combine(C::OP, self.lanes(), totals);
        if C::IS_SUM && Self::IS_ZERO_OUTSIDE && !Self::IS_FILLED {
            return all;
        }
        totals.select(self.mask::<L>(), all)
    }

    /// Totals of all of them in lanes: the identity where there is nothing.
    #[inline(always)]
    fn first_lanes<C: Monoid, L: Lanes<Number = N>>(self) -> L
    where
        Self: Term<Number = N>,
    {
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

/// What [`at`] gives, of coordinates that have been read and lie within the array.
#[derive(Debug, Clone, Copy)]
pub struct Within<'a, T> {
    of: &'a [T],
    places: &'a [u32],
}

/// In vectors, the last of them under a mask.
#[inline(always)]
pub(crate) fn reduce<C: Monoid, F: Term>(term: F) -> F::Number {
    if !F::IS_GATHERED {
        return reduce_in::<C, <F::Number as Wide>::Row, F>(term);
    }
    if loads::ONE_BY_ONE && term.longest() <= GATHERED {
        return reduce_loaded::<C, F>(term);
    }
    match term.length() {
        // Where there are no others, this is a branch that is always the same; where there are, one entry is the most frequent.
        0 | 1 => reduce_one_by_one::<C, F>(term),
        _ if term.longest() > GATHERED => reduce_far::<C, F>(term),
        _ => reduce_in::<C, <F::Number as Wide>::Gathered, F>(term),
    }
}

/// How many lanes the widest registers have.
const WIDEST: usize = 16;

/// In vectors of few lanes, and one by one what is left.
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
    let mut room = F::room::<WIDEST>();
    while place + wide <= length {
        let Some(block) = term.part(place, wide).within::<<F::Number as Wide>::Row, WIDEST>(&mut room) else { break };
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

#[inline(always)]
fn reduce_in<C: Monoid, L: Lanes<Number = F::Number>, F: Term>(term: F) -> F::Number {
    lanes_of::<C, L, F>(term).fold(C::OP)
}

/// Totals in lanes.
#[inline(always)]
fn lanes_of<C: Monoid, L: Lanes<Number = F::Number>, F: Term>(term: F) -> L {
    let length = term.length();
    if length <= L::COUNT {
        return term.first_lanes::<C, L>();
    }
    if is_in_parts::<C, F>() && length > LONG * L::COUNT {
        // SAFETY: only processors that have these vectors run this.
        return unsafe { lanes_of_long::<C, L, F>(term) };
    }
    lanes_of_some::<C, L, F>(term)
}

/// Sums in lanes of so many that they are added up in parts.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
#[inline(always)]
fn eight_totals<C: Monoid, L: EightLanes<Number = F::Number>, F: Term, P: Coordinate>(term: F, bounds: &[P; 9]) -> L {
    let first = bounds[0].place();
    let place = |number: usize| bounds[number].place().wrapping_sub(first) as u32;
    let numbers = [0, 1, 2, 3, 4, 5, 6, 7];
    let (begins, ends) = (each(numbers, place), each(numbers, |number| place(number + 1)));
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
    } else if loads::ONE_BY_ONE && (all == 8 * longest || all > 8 * L::COUNT) {
        // Runs of one length have ends that can be guessed, and of long ones each takes longer than a wrong guess.
        let mut totals = [F::Number::default(); 8];
        reduce_each::<C, F, P>(term, bounds, &mut totals);
        L::load(&totals)
    } else if longest <= L::COUNT && fit(6) {
        L::totals_between(C::OP, [pair(0), pair(1), pair(2)], begins, ends)
    } else {
        let mut lanes = [L::identity(C::OP); 8];
        let run = |run: usize| term.part(bounds[run].place(), bounds[run + 1].place() - bounds[run].place());
        if longest <= L::COUNT {
            (0..8).for_each(|number| lanes[number] = run(number).first_lanes::<C, L>());
        } else {
            (0..8).for_each(|number| lanes[number] = lanes_of::<C, L, F>(run(number)));
        }
        L::totals(C::OP, lanes)
    }
}

/// Terms from a place on, the vectors `2 * number` and `2 * number + 1`.
#[inline(always)]
fn pair<C: Monoid, L: EightLanes<Number = F::Number>, F: Term>(term: F, first: usize, number: usize) -> [L; 2] {
    [vector::<C, L, F>(term, first, 2 * number), vector::<C, L, F>(term, first, 2 * number + 1)]
}

/// Terms from a place on, the vector of a number.
#[inline(always)]
fn vector<C: Monoid, L: EightLanes<Number = F::Number>, F: Term>(term: F, first: usize, number: usize) -> L {
    term.part(first + number * L::COUNT, L::COUNT).first_lanes::<C, L>()
}

/// Of an array that is too long to be gathered from.
#[cold]
#[inline(never)]
fn reduce_far<C: Monoid, F: Term>(term: F) -> F::Number {
    if is_in_parts::<C, F>() {
        return sum_in_parts(term, LONG, &reduce_one_by_one::<C, F>);
    }
    reduce_one_by_one::<C, F>(term)
}

/// In vectors, a lane for each total.
#[inline(always)]
pub(crate) fn combine_in_turns<C: Monoid, F: Term>(term: F, totals: &mut [F::Number]) {
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
#[cold]
#[inline(never)]
fn combine_in_turns_of_far<C: Monoid, F: Term>(term: F, totals: &mut [F::Number]) {
    combine_one_by_one::<C, F>(term, totals);
}

#[inline(always)]
fn reduce_one_by_one<C: Monoid, F: Term>(term: F) -> F::Number {
    let mut total = F::Number::identity(C::OP);
    for place in 0..term.length() {
        term.combine_into::<C>(&mut total, place);
    }
    total
}

/// Terms without coordinates, or with such as have been read.
macro_rules! itself {
    ($number:ty) => {
        itself!($number, Some);
    };
    ($number:ty, $all:expr) => {
        type Room<const COUNT: usize> = ();

        #[inline(always)]
        fn room<const COUNT: usize>() {}

        type Within<'r>
            = Self
        where
            Self: 'r;

        #[inline(always)]
        fn within<'r, L: Lanes<Number = $number>, const COUNT: usize>(self, _: &'r mut ()) -> Option<Self>
        where
            Self: 'r,
        {
            Some(self)
        }

        #[inline(always)]
        fn all_within<'r, const COUNT: usize>(self, _: &'r mut ()) -> Option<Self>
        where
            Self: 'r,
        {
            $all(self)
        }
    };
}

impl<T: Stored> TermInLanes<T::Number> for Run<'_, T> {
    #[inline(always)]
    fn fetch(self, place: usize) {
        fetch(self.0, place);
    }

    itself!(T::Number);

    #[inline(always)]
    unsafe fn get_within(self, place: usize) -> T::Number {
        // SAFETY: the caller vouches for the place.
        unsafe { self.0.get_unchecked(place) }.loaded()
    }

    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        T::load(self.0)
    }
}

impl<'a, T: Stored, C: Coordinate> TermInLanes<T::Number> for At<'a, T, C> {
    #[inline(always)]
    fn fetch(self, place: usize) {
        fetch(self.coordinates, place);
    }

    type Room<const COUNT: usize> = Places<COUNT>;

    #[inline(always)]
    fn room<const COUNT: usize>() -> Places<COUNT> {
        Places([0; COUNT])
    }

    type Within<'r>
        = Within<'r, T>
    where
        Self: 'r;

    #[inline(always)]
    fn within<'r, L: Lanes<Number = T::Number>, const COUNT: usize>(
        self,
        room: &'r mut Places<COUNT>,
    ) -> Option<Within<'r, T>>
    where
        Self: 'r,
    {
        let are_within = T::read_within::<L, C>(self.of, self.coordinates, &mut room.0);
        are_within.then(|| Within { of: self.of, places: &room.0[..self.coordinates.len()] })
    }

    #[inline(always)]
    fn all_within<'r, const COUNT: usize>(self, room: &'r mut Places<COUNT>) -> Option<Within<'r, T>>
    where
        Self: 'r,
    {
        let places = room.0.get_mut(..self.coordinates.len())?;
        let mut largest = 0;
        for (place, coordinate) in places.iter_mut().zip(self.coordinates) {
            *place = coordinate.narrow();
            largest = largest.max(*place);
        }
        let are_within = self.of.len() <= GATHERED && (largest as usize) < self.of.len();
        are_within.then_some(Within { of: self.of, places })
    }

    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        T::gather(self.of, self.coordinates, false)
    }
}

impl<T: Stored> Term for Within<'_, T> {
    type Number = T::Number;

    const IS_GATHERED: bool = true;

    #[inline(always)]
    fn length(self) -> usize {
        self.places.len()
    }

    #[inline(always)]
    fn longest(self) -> usize {
        self.of.len()
    }

    #[inline(always)]
    fn part(self, first: usize, length: usize) -> Self {
        Within { places: &self.places[first..first + length], ..self }
    }

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.of[self.places[place] as usize].loaded()
    }
}

impl<T: Stored> TermInLanes<T::Number> for Within<'_, T> {
    itself!(T::Number);

    #[inline(always)]
    unsafe fn get_within(self, place: usize) -> T::Number {
        // SAFETY: the caller vouches for the place, and `At::within` or `At::all_within` has found that what it has read there lies within
        // the array. A compiler would load several places as a vector, and take it apart again.
        unsafe {
            let at = (&raw const *self.places.get_unchecked(place)).read_volatile();
            self.of.get_unchecked(at as usize).loaded()
        }
    }

    #[inline(always)]
    fn fetch(self, _: usize) {}

    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        // SAFETY: `At::within` or `At::all_within` has found that all places that it has read lie within the array. A part has none but
        // these.
        unsafe { T::load_within(self.of, self.places) }
    }
}

impl<T: Stored, C: Coordinate> TermInLanes<T::Number> for AtSome<'_, T, C> {
    #[inline(always)]
    fn fetch(self, place: usize) {
        self.0.fetch(place);
    }

    itself!(T::Number, |_| None);

    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        T::gather(self.0.of, self.0.coordinates, true)
    }

    #[inline(always)]
    fn mask<L: Lanes<Number = T::Number>>(self) -> u32 {
        L::some(self.0.coordinates)
    }
}

impl<T: Number> TermInLanes<T> for Same<T> {
    #[inline(always)]
    fn fetch(self, _: usize) {}

    itself!(T);

    #[inline(always)]
    fn lanes<L: Lanes<Number = T>>(self) -> L {
        L::splat(self.0)
    }
}

impl<O: Operator, A: Term, B: Term<Number = A::Number>> TermInLanes<A::Number> for Both<O, A, B> {
    #[inline(always)]
    fn fetch(self, place: usize) {
        self.0.fetch(place);
        self.1.fetch(place);
    }

    type Room<const COUNT: usize> = (A::Room<COUNT>, B::Room<COUNT>);

    #[inline(always)]
    fn room<const COUNT: usize>() -> Self::Room<COUNT> {
        (A::room(), B::room())
    }

    type Within<'r>
        = Both<O, A::Within<'r>, B::Within<'r>>
    where
        Self: 'r;

    #[inline(always)]
    fn within<'r, L: Lanes<Number = A::Number>, const COUNT: usize>(
        self,
        (one, other): &'r mut Self::Room<COUNT>,
    ) -> Option<Self::Within<'r>>
    where
        Self: 'r,
    {
        Some(Both(self.0.within::<L, COUNT>(one)?, self.1.within::<L, COUNT>(other)?, PhantomData))
    }

    #[inline(always)]
    fn all_within<'r, const COUNT: usize>(self, (one, other): &'r mut Self::Room<COUNT>) -> Option<Self::Within<'r>>
    where
        Self: 'r,
    {
        Some(Both(self.0.all_within(one)?, self.1.all_within(other)?, PhantomData))
    }

    #[inline(always)]
    unsafe fn get_within(self, place: usize) -> A::Number {
        // SAFETY: as the caller has it.
        unsafe { Value::apply(O::OP, self.0.get_within(place), self.1.get_within(place)) }
    }

    #[inline(always)]
    unsafe fn combine_within<C: Monoid>(self, total: &mut A::Number, place: usize) {
        // SAFETY: as the caller has it.
        *total = unsafe {
            if C::IS_SUM && matches!(O::OP, Op::Multiply) {
                self.0.get_within(place).times_plus(self.1.get_within(place), *total)
            } else {
                Value::apply(C::OP, *total, self.get_within(place))
            }
        };
    }

    #[inline(always)]
    fn lanes<L: Lanes<Number = A::Number>>(self) -> L {
        L::apply(O::OP, self.0.lanes(), self.1.lanes())
    }

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
