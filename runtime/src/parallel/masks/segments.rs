//! Totals over runs that lie one behind the other, vector after vector, wherever runs end.
//!
//! How long the next run is a processor has to guess where loops or branches depend on it, and each wrong guess takes as long as
//! dozens of terms. Here nothing depends on it: each lane combines what its run has at up to seven places before, in three steps,
//! and then what the same lane had in the vector before, where the run is longer. Lanes in which a run ends then have its total:
//!
//! ```text
//! terms                a   b   c    d    e    f    g    h         runs  a b | c | d e f g | h …
//! one before           a   ab  c    d    de   ef   fg   h
//! two before           a   ab  c    d    de   def  defg h
//! four, eight before   nothing here
//! ends                     ab  c                   defg
//! ```
//!
//! (Blelloch, Heroux & Zagha, Segmented Operations for Sparse Matrix Computation on Vector Multiprocessors, 1993.)

use super::combine::{Monoid, Value};
use super::coordinate::Coordinate;
use super::dot::{LONG, Term, reduce_each};
use super::each::each;
use super::lanes::eights;
use super::loads;
use super::wide::{EightLanes, GATHERED, Wide, fetch, set_bytes};

/// How many runs are marked before those before them are added up: single bytes have long been stored when vectors of them are loaded.
const RUNS: usize = 256;

/// How many entries they may have: longer runs take less time each by itself.
const ENTRIES: usize = 16 * RUNS;

/// How many entries ahead are fetched: what is loaded in turn with something else, processors fetch too late.
const AHEAD: usize = 512;

/// The marks of entries: a byte that is 1 for the last of each run.
struct Marks {
    /// One more, for runs at the beginning that have no entry.
    last: [u8; ENTRIES + 1],
    count: usize,
    has_empty: bool,
}

/// How many runs a chunk has at least for its processor to meet the same ends again. Fewer are a block of a loop that has more.
const FEWEST: usize = 65;

/// How many runs a chunk may have whose ends a processor guesses right when it meets them again, so that nothing is won by not having to
/// guess: of any lengths, and of lengths that are alike. A thread has several chunks.
const REMEMBERED: [usize; 2] = [2048, 8192];

/// The same of the only thread, which has all runs in one chunk.
const REMEMBERED_ALONE: [usize; 2] = [8192, 16384];

/// Of how many runs the lengths are looked at.
const LOOKED_AT: usize = 256;

/// Whether the first runs are of lengths that are alike: none is longer than four of the mean.
#[inline(always)]
fn are_alike<P: Coordinate>(positions: &[P]) -> bool {
    let positions = &positions[..positions.len().min(LOOKED_AT + 1)];
    let [first, .., end] = positions else { return false };
    let all = end.place().wrapping_sub(first.place());
    let (_, longest) = lengths(positions);
    longest.saturating_mul(positions.len() - 1) <= all.saturating_mul(4)
}

/// Whether the processor guesses where runs end.
#[inline(always)]
fn are_guessed<P: Coordinate>(positions: &[P], runs: usize) -> bool {
    if !(FEWEST..=REMEMBERED_ALONE[1]).contains(&runs) {
        return false;
    }
    let [any, alike] = if super::threads() == 1 { REMEMBERED_ALONE } else { REMEMBERED };
    runs <= any || runs <= alike && are_alike(positions)
}

/// The lengths of the shortest run and the longest.
#[inline(always)]
fn lengths<P: Coordinate>(positions: &[P]) -> (usize, usize) {
    let (mut shortest, mut longest) = (usize::MAX, 0);
    for (run, end) in positions[1..].iter().enumerate() {
        let length = end.place().wrapping_sub(positions[run].place());
        (shortest, longest) = (length.min(shortest), length.max(longest));
    }
    (shortest, longest)
}

/// The totals of runs that lie one behind the other.
#[inline(always)]
pub(crate) fn reduce_between<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    if term.longest() > GATHERED {
        // SAFETY: only processors that have these vectors run this.
        return unsafe { reduce_between_of_far::<C, F, P>(term, positions, totals) };
    }
    if loads::ONE_BY_ONE && are_guessed(positions, totals.len()) {
        // SAFETY: as above.
        return unsafe { reduce_guessed::<C, F, P>(term, positions, totals) };
    }
    reduce_anywhere::<C, F, P>(term, positions, totals);
}

/// Of an array that is too long to be gathered from.
#[cold]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline(never)]
fn reduce_between_of_far<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    reduce_each::<C, F, P>(term, positions, totals);
}

/// How many runs are checked at once.
const CHECKED: usize = 128;

/// How many terms short runs have on the average, which are not worth a vector, at most.
const SHORT: usize = 8;

/// The totals of runs whose ends a processor guesses.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline(never)]
fn reduce_guessed<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    let mut rest = positions;
    let mut room = F::room::<{ SHORT * CHECKED }>();
    let mut ends = [0_u64; CHECKED + 1];
    for totals in totals.chunks_mut(CHECKED) {
        let bounds = &rest[..totals.len() + 1];
        rest = &rest[totals.len()..];
        // What is checked is what is used, also where the memory of positions is somebody else's, who writes to it meanwhile.
        let (first, ends) = (bounds[0].place(), &mut ends[..bounds.len()]);
        ends.iter_mut().zip(bounds).for_each(|(end, bound)| *end = bound.place().wrapping_sub(first) as u64);
        let (ends, all) = (&*ends, ends[totals.len()].place());
        let ascend = ends.windows(2).fold(ends[0] == 0, |all, pair| all & (pair[0] <= pair[1]));
        let are_short = all <= SHORT * totals.len() && lengths(ends).1 <= 4 * SHORT;
        let are_there = ascend && all <= term.length().saturating_sub(first);
        let within = if are_there && are_short { term.part(first, all).all_within(&mut room) } else { None };
        match within {
            // SAFETY: ends ascend up to the number of terms.
            Some(within) => unsafe { reduce_short::<C, F::Within<'_>>(within, &ends[1..], totals) },
            None => reduce_each::<C, F, P>(term, bounds, totals),
        }
    }
}

/// The totals of short runs, by where they end, one term after the other. All that they ask for has been read and checked for many at
/// once: one by one that takes as long as they do.
///
/// # Safety
/// Ends ascend up to the number of terms.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline(never)]
unsafe fn reduce_short<C: Monoid, F: Term>(term: F, ends: &[u64], totals: &mut [F::Number]) {
    let mut place = 0;
    for (end, total) in ends.iter().zip(totals) {
        let end = end.place();
        let [mut one, mut other] = [F::Number::identity(C::OP); 2];
        // SAFETY: places are below an end, none of which is beyond the number of terms.
        unsafe {
            while place + 2 <= end {
                term.combine_within::<C>(&mut one, place);
                term.combine_within::<C>(&mut other, place + 1);
                place += 2;
            }
            if place < end {
                term.combine_within::<C>(&mut one, place);
                place += 1;
            }
        }
        *total = F::Number::apply(C::OP, one, other);
    }
}

/// The totals of runs, wherever they end.
#[inline(always)]
fn reduce_anywhere<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    let runs = totals.len();
    if runs < RUNS {
        // SAFETY: as above.
        return unsafe { eights::<C, F, P>(term, positions, totals) };
    }
    let bounds = |block: usize| &positions[(block * RUNS).min(runs)..((block + 1) * RUNS).min(runs) + 1];
    let mut marks = [const { Marks { last: [0; ENTRIES + 1], count: 0, has_empty: false } }; 2];
    let mut found = [F::Number::default(); RUNS + 8];
    let mut is_marked = mark(term, bounds(0), &mut marks[0]);
    for (block, totals) in totals.chunks_mut(RUNS).enumerate() {
        let is_next_marked = mark(term, bounds(block + 1), &mut marks[(block + 1) % 2]);
        if is_marked {
            (0..RUNS).step_by(64 / size_of::<P>()).for_each(|run| fetch(positions, (block + 2) * RUNS + run));
            add_up::<C, <F::Number as Wide>::Gathered, F>(
                term,
                bounds(block)[0].place(),
                &marks[block % 2],
                &mut found,
            );
            if marks[block % 2].has_empty {
                spread(F::Number::identity(C::OP), &found, bounds(block), totals);
            } else {
                totals.copy_from_slice(&found[..totals.len()]);
            }
        } else {
            // SAFETY: as above.
            unsafe { eights::<C, F, P>(term, bounds(block), totals) };
        }
        is_marked = is_next_marked;
    }
}

/// Marks the last entry of each run, where there are runs that are neither short nor long: those of one or two entries are guessed
/// right.
#[inline(always)]
fn mark<F: Term, P: Coordinate>(term: F, positions: &[P], marks: &mut Marks) -> bool {
    let [first, .., end] = positions else { return false };
    let (first, end, runs) = (first.place(), end.place(), positions.len() - 1);
    let all = end.wrapping_sub(first);
    if term.length() < end.saturating_add(7) || all > 16 * runs || 4 * all < 5 * runs {
        return false;
    }
    let (shortest, longest) = lengths(positions);
    // Those that are longer than a lane's share allows are added up in parts.
    if !(3..=all.min(8 * LONG)).contains(&longest) {
        return false;
    }
    (marks.count, marks.has_empty) = (all, shortest == 0);
    marks.last[..all.next_multiple_of(64)].fill(0);
    positions[1..].iter().for_each(|end| marks.last[end.place().wrapping_sub(first + 1).min(ENTRIES)] = 1);
    true
}

/// Takes totals of runs that have entries where they belong; others have none.
#[inline(always)]
fn spread<T: Copy, P: Coordinate>(none: T, found: &[T], positions: &[P], totals: &mut [T]) {
    let mut at = 0;
    let positions = &positions[..totals.len() + 1];
    for (run, total) in totals.iter_mut().enumerate() {
        let (has_entries, next) = (positions[run].place() != positions[run + 1].place(), found[at]);
        *total = if has_entries { next } else { none };
        at += usize::from(has_entries);
    }
}

/// Appends the totals of the runs of marked entries from a place on.
#[inline(always)]
fn add_up<C: Monoid, L: EightLanes<Number = F::Number>, F: Term>(
    term: F,
    first: usize,
    marks: &Marks,
    totals: &mut [F::Number],
) {
    let [mut one, mut two, mut four, mut eight] = [L::identity(C::OP); 4];
    // What is known of the last entries of the word before.
    let (mut ended, mut of_two, mut of_four, mut of_eight) = (1, 0, 0, 0);
    let mut found = 0;
    for (word, marked) in marks.last[..marks.count.next_multiple_of(64)].as_chunks().0.iter().enumerate() {
        let ends = set_bytes(marked);
        // The entries with at least one entry of their run before them, with two, four, eight.
        let has_one = !(ends << 1 | ended);
        let has_two = has_one & (has_one << 1 | of_two);
        let has_four = has_two & (has_two << 2 | of_four);
        let has_eight = has_four & (has_four << 4 | of_eight);
        (ended, of_two, of_four, of_eight) = (ends >> 63, has_one >> 63, has_two >> 62, has_four >> 60);
        let mut lanes = [ends, has_one, has_two, has_four, has_eight];
        for vector in 0..(marks.count - 64 * word).div_ceil(8).min(8) {
            let place = first + 64 * word + 8 * vector;
            term.fetch(place + AHEAD);
            let [ends, has_one, has_two, has_four, has_eight] = each(lanes, |lanes| lanes as u8);
            let terms: L = term.part(place, 8).first_lanes::<C, L>();
            let pairs = terms.combine_before::<1>(C::OP, has_one, one);
            let fours = pairs.combine_before::<2>(C::OP, has_two, two);
            let all = fours.combine_before::<4>(C::OP, has_four, four).combine_some(C::OP, has_eight, eight);
            (one, two, four, eight) = (terms, pairs, fours, all);
            all.packed(ends).store(&mut totals[found..found + 8]);
            found += ends.count_ones() as usize;
            lanes = each(lanes, |lanes| lanes >> 8);
        }
    }
}
