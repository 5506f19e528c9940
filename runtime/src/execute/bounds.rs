//! Computed indices: sizes that follow from them, and whether they stay inside.
//!
//! `y(i) = x(2*i + k) * w(k)` says nothing of the size of `i` but that `x` is read inside: with 10 elements of `x` and 3 of `w` there
//! are 4 of `y`, which read up to `x(8)`.

use super::error::Error;
#[cfg(feature = "compile")]
use spc_compiler::concrete;
use spc_compiler::ir;
use spc_compiler::ir::{Affine, IndexExpr, IndexOperator, Size};

/// The sizes of dimensions as far as they are known, by their places.
type Sizes<'a> = &'a [Option<usize>];

/// A computed index over dimensions, and the dimension that it must lie below, if it indexes one.
pub(super) struct Bound {
    pub(super) dimension: Option<usize>,
    index: IndexExpr<usize>,
}

impl Bound {
    /// The index with numbers for those extents that are known.
    fn with_extents(&self, sizes: Sizes) -> IndexExpr<usize> {
        self.index.with_extents(&mut |dimension| i64::try_from(sizes[*dimension]?).ok())
    }
}

/// The bounds of a kernel of the loop IR.
pub(super) fn of_kernel(kernel: &ir::Kernel) -> Vec<Bound> {
    let place = |bound: &ir::Bound| Bound {
        dimension: bound.dimension.map(|dimension| dimension.index()),
        index: bound.index.map(&mut |dimension| dimension.index()),
    };
    kernel.bounds.iter().map(place).collect()
}

/// The bounds of a scheduled kernel.
#[cfg(feature = "compile")]
pub(super) fn of_schedule(kernel: &concrete::Kernel) -> Vec<Bound> {
    kernel.bounds.iter().map(|bound| Bound { dimension: bound.extent, index: bound.index.clone() }).collect()
}

/// Finds sizes by the bounds: the largest that keep all computed indices inside, and, for modes whose size nothing else gives, the
/// smallest that holds all computed indices.
pub(super) fn infer(bounds: &[Bound], sizes: &mut [Option<usize>]) {
    while let Some((place, size)) = next(bounds, sizes) {
        sizes[place] = Some(size);
    }
}

/// A size that follows from those that are known. Where nothing else does, the first variable of several in one index is as long as
/// that index allows where the others are zero, and a mode holds those of its indices that are known.
fn next(bounds: &[Bound], sizes: Sizes) -> Option<(usize, usize)> {
    let find = |rule: &dyn Fn(usize) -> Option<usize>| {
        let unknown = (0..sizes.len()).filter(|&place| sizes[place].is_none());
        unknown.into_iter().find_map(|place| Some((place, rule(place)?)))
    };
    let ends = |place| {
        bounds.iter().filter(move |bound| bound.dimension == Some(place)).map(move |bound| end(bound, place, sizes))
    };
    find(&|place| largest(bounds, place, sizes, false))
        .or_else(|| find(&|place| largest(bounds, place, sizes, true)))
        .or_else(|| find(&|place| ends(place).collect::<Option<Vec<usize>>>()?.into_iter().max()))
        .or_else(|| find(&|place| ends(place).flatten().max()))
}

/// The largest size of `unknown` that keeps all bounds. With `alone`, one bound in which all else is known is enough: in the others, what is
/// not known is zero.
fn largest(bounds: &[Bound], unknown: usize, sizes: Sizes, alone: bool) -> Option<usize> {
    let rooms = || bounds.iter().filter_map(|bound| room(bound, unknown, sizes));
    let is_any_known = rooms().any(|room| room != Room::Unknown);
    if !is_any_known || !alone && rooms().any(|room| room == Room::Unknown) {
        return None;
    }
    let others_at_zero: Vec<Option<usize>> = sizes.iter().map(|size| size.or(Some(1))).collect();
    let size_of = |bound: &Bound| match room(bound, unknown, sizes)? {
        Room::Unknown => room(bound, unknown, &others_at_zero),
        known => Some(known),
    };
    let all = bounds.iter().filter_map(size_of);
    all.filter_map(|room| if let Room::Size(size) = room { Some(size) } else { None }).min()
}

/// What a bound says of the size of a dimension in it.
#[derive(Clone, Copy, PartialEq)]
enum Room {
    Size(usize),
    Endless,
    /// Something else in the index is not known.
    Unknown,
}

/// How large `unknown` may be; `None` where the bound does not depend on it, or ends where nobody knows.
///
/// A rising index is bounded by the end of its mode, a falling one by zero. What begins beyond the other side is left to [`check`].
fn room(bound: &Bound, unknown: usize, sizes: Sizes) -> Option<Room> {
    let limit = i128::try_from(sizes[bound.dimension?]?).ok()?;
    let index = bound.with_extents(sizes);
    let affine = index.affine();
    let (variables, extents) = match &affine {
        Some(affine) => (affine.terms.iter().map(|(variable, _)| *variable).collect(), Vec::new()),
        None => (index.variables(), index.extents()),
    };
    let mut places = variables.iter().chain(&extents);
    if !places.clone().any(|place| *place == unknown) {
        return None;
    }
    if !places.all(|place| *place == unknown || sizes[*place].is_some()) {
        return Some(Room::Unknown);
    }
    if let Some(Affine { constant, mut terms }) = affine
        && let Some(place) = terms.iter().position(|(dimension, _)| *dimension == unknown)
    {
        let (_, factor) = terms.remove(place);
        let (least, greatest) = range(&Affine { constant, terms }, sizes)?;
        let room = if factor > 0 { limit.saturating_sub(1).saturating_sub(greatest) } else { least };
        let last = room.div_euclid(i128::from(factor.unsigned_abs()));
        return Some(Room::Size(size(last.saturating_add(1))));
    }
    Some(searched(&index, limit, unknown, sizes))
}

/// No extent is as large.
const FAR: usize = usize::MAX / 4;

/// The same for any index, whose range grows with the size: found by doubling and halving.
fn searched(index: &IndexExpr<usize>, limit: i128, unknown: usize, sizes: Sizes) -> Room {
    let range = |size: usize| {
        let of = |dimension: &usize| if *dimension == unknown { size } else { sizes[*dimension].unwrap_or(0) };
        index
            .with_extents(&mut |dimension| i64::try_from(of(dimension)).ok())
            .range(&mut |dimension| last(of(dimension)))
    };
    let ((first, first_end), (far, far_end)) = (range(1), range(FAR));
    let (falls, rises) = (far < first, far_end > first_end);
    let lowest = if falls && !rises { 0 } else { first.min(0) };
    let highest = if falls && !rises { first_end.max(limit - 1) } else { limit - 1 };
    let fits = |size: usize| {
        let (least, greatest) = range(size);
        least >= lowest && greatest <= highest
    };
    if !fits(1) {
        return Room::Size(0);
    }
    let mut fitting = 1;
    while fitting < FAR && fits(2 * fitting) {
        fitting *= 2;
    }
    if fitting >= FAR {
        return Room::Endless;
    }
    let mut beyond = 2 * fitting;
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        *(if fits(middle) { &mut fitting } else { &mut beyond }) = middle;
    }
    Room::Size(fitting)
}

/// A size: none below zero, and the largest where it is beyond that, which [`check`] refuses.
fn size(size: i128) -> usize {
    usize::try_from(size.max(0)).unwrap_or(usize::MAX)
}

/// One more than the greatest index into the mode `unknown`, where the sizes it depends on are known.
pub(super) fn end(bound: &Bound, unknown: usize, sizes: Sizes) -> Option<usize> {
    let is_own = bound.dimension == Some(unknown);
    let (_, greatest) = is_own.then(|| index_range(bound, sizes)).flatten()?;
    let is_empty = bound.index.variables().iter().any(|dimension| sizes[*dimension] == Some(0));
    Some(if is_empty { 0 } else { size(greatest.saturating_add(1)) })
}

/// Checks that all computed indices are inside of their modes, and that nothing on the way to them is larger than numbers get;
/// `dimension` gives a dimension's name and size.
pub(super) fn check<'a>(
    bounds: &[Bound],
    extents: &[usize],
    dimension: &dyn Fn(usize) -> (&'a str, Size),
) -> Result<(), Error> {
    let sizes: Vec<Option<usize>> = extents.iter().copied().map(Some).collect();
    for bound in bounds {
        if greatest_on_the_way(&bound.index, extents).is_none() {
            let mut places = bound.index.variables();
            places.extend(bound.index.extents());
            places.dedup();
            let sizes = places.into_iter();
            let sizes = sizes.map(|place| format!("`{}` has {}", dimension(place).0, extents[place])).collect();
            return Err(Error::IndexTooLarge { index: text(&bound.index, extents, dimension), sizes });
        }
        let Some(dimension_of) = bound.dimension else { continue };
        let (least, greatest) = index_range(bound, &sizes).unwrap_or((0, 0));
        let extent = extents[dimension_of];
        // Where there is nothing to do, no index is used, but a part of it may be computed.
        let is_used = bound.index.variables().iter().all(|&dimension| extents[dimension] > 0);
        if least < 0 || (is_used && greatest >= extent as i128) {
            let index = text(&bound.index, extents, dimension);
            return Err(match least < 0 {
                true => Error::BelowZero { index, reached: least },
                false => Error::OutOfBounds { index, reached: greatest, extent },
            });
        }
    }
    Ok(())
}

/// The greatest number that comes up where an index is computed, up to one place behind the last; `None` where it is not below 2^63.
fn greatest_on_the_way(index: &IndexExpr<usize>, extents: &[usize]) -> Option<i64> {
    let part = |index: &IndexExpr<usize>| greatest_on_the_way(index, extents);
    match index {
        IndexExpr::Variable(dimension) | IndexExpr::Extent(dimension) => i64::try_from(extents[*dimension]).ok(),
        IndexExpr::Constant(value) => value.checked_abs(),
        IndexExpr::Binary(operator, left, right) => {
            let (left, right) = (part(left)?, part(right)?);
            match operator {
                // What is subtracted is a sum of its own.
                IndexOperator::Add | IndexOperator::Subtract => left.checked_add(right),
                IndexOperator::Multiply => left.checked_mul(right),
                IndexOperator::Divide => Some(left / right.max(1)),
                IndexOperator::Remainder => Some(left.min(right)),
            }
        }
    }
}

/// An index as it is written; a window as `3..7`.
fn text<'a>(index: &IndexExpr<usize>, extents: &[usize], dimension: &dyn Fn(usize) -> (&'a str, Size)) -> String {
    if let Some(Affine { constant, terms }) = index.affine()
        && let [(window, 1)] = terms[..]
        && let (_, Size::Constant(_)) = dimension(window)
    {
        return format!("{constant}..{}", i128::from(constant) + extents[window] as i128);
    }
    index.show(&|&place| dimension(place).0.to_owned()).to_string()
}

/// The least and the greatest value of a bound's index, where all sizes in it are known. A variable that falls out of a sum does
/// not matter.
fn index_range(bound: &Bound, sizes: Sizes) -> Option<(i128, i128)> {
    let index = bound.with_extents(sizes);
    if let Some(affine) = index.affine() {
        return range(&affine, sizes);
    }
    let mut dimensions = index.variables().into_iter().chain(index.extents());
    let known = dimensions.all(|dimension| sizes[dimension].is_some());
    known.then(|| index.range(&mut |dimension| last(sizes[*dimension].unwrap_or(0))))
}

fn range(affine: &Affine<usize>, sizes: Sizes) -> Option<(i128, i128)> {
    let known = affine.terms.iter().all(|(dimension, _)| sizes[*dimension].is_some());
    known.then(|| affine.range(&mut |dimension| last(sizes[*dimension].unwrap_or(0))))
}

/// The last index below a size.
fn last(size: usize) -> i128 {
    (size as i128 - 1).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes found from what is given, and the error where they do not fit.
    fn sizes(bounds: &str, given: &[Option<usize>]) -> (Vec<Option<usize>>, Option<String>) {
        let names = (0..given.len()).map(|place| format!("dimension d{place} n{place} runtime\n")).collect::<String>();
        let kernel =
            ir::parse(&format!("kernel k {{ {names} {bounds} body {{ }} }}"), spc_compiler::level::named).unwrap();
        let names_of = ["n0", "n1", "n2"];
        let mut sizes = given.to_vec();
        let bounds = of_kernel(&kernel);
        infer(&bounds, &mut sizes);
        let all: Option<Vec<usize>> = sizes.iter().copied().collect();
        let error = all.and_then(|all| check(&bounds, &all, &|place| (names_of[place], Size::Runtime)).err());
        let error = error.map(|error| error.to_string());
        (sizes, error)
    }

    #[test]
    fn the_largest_range_that_stays_inside_is_taken() {
        let convolution = "bound d2 2 * d0 + d1";
        assert_eq!(sizes(convolution, &[None, Some(3), Some(10)]), (vec![Some(4), Some(3), Some(10)], None));
        assert_eq!(sizes(convolution, &[None, Some(11), Some(10)]).0[0], Some(0));
        assert_eq!(sizes("bound d1 9 - d0", &[None, Some(10)]), (vec![Some(10), Some(10)], None));
        assert_eq!(sizes("bound d1 d0 / 2 + 1", &[None, Some(10)]), (vec![Some(18), Some(10)], None));
        assert_eq!(sizes("bound d1 d0 + 1 bound d1 d0 + 3", &[None, Some(10)]).0[0], Some(7));
    }

    #[test]
    fn falling_indices_are_bounded_by_zero() {
        assert_eq!(sizes("bound d1 0 - d0 + 4", &[None, Some(5)]), (vec![Some(5), Some(5)], None));
        assert_eq!(sizes("bound d1 4 - d0", &[None, Some(5)]), (vec![Some(5), Some(5)], None));
        assert_eq!(sizes("bound d1 (9 - 2 * d0) + 1 - 3", &[None, Some(9)]).0[0], Some(4));
        assert_eq!(sizes("bound d1 7 - d0 / 2", &[None, Some(8)]).0[0], Some(16));
        let (_, error) = sizes("bound d1 9 - d0", &[None, Some(5)]);
        assert!(error.unwrap().contains("reaches 9, but its mode has 5 coordinates"));
    }

    #[test]
    fn of_several_unknown_variables_the_first_leaves_room_for_the_others() {
        let coupled = "bound d2 d0 + d1 bound d2 d0 + 1 bound d2 d1 + 2";
        assert_eq!(sizes(coupled, &[None, None, Some(5)]), (vec![Some(4), Some(2), Some(5)], None));
        assert_eq!(sizes("bound d2 d0 + d1", &[None, None, Some(5)]).0, [None, None, Some(5)]);
        assert_eq!(sizes("bound d1 d0 % 4", &[None, Some(5)]).0[0], None);
    }

    /// Random indices over `d0`, `d1` and `d2`, as expressions whose dividends are never below zero.
    struct Random(u64);

    impl Random {
        fn below(&mut self, count: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) % count as u64) as i64
        }

        fn index(&mut self, depth: usize) -> IndexExpr<usize> {
            if depth == 0 {
                return match self.below(5) {
                    0 => IndexExpr::Constant(self.below(12)),
                    1 => IndexExpr::Variable(1 + self.below(2) as usize),
                    _ => IndexExpr::Variable(0),
                };
            }
            let (left, right) = (self.index(depth - 1), self.index(depth - 1));
            let number = IndexExpr::Constant(1 + self.below(5));
            match self.below(8) {
                0 | 1 => IndexExpr::binary(IndexOperator::Add, left, right),
                2 | 3 => IndexExpr::binary(IndexOperator::Subtract, left, right),
                4 => IndexExpr::binary(IndexOperator::Subtract, number, left),
                5 => IndexExpr::binary(IndexOperator::Multiply, IndexExpr::Constant(self.below(7) - 3), left),
                _ if left.range(&mut |_| 1 << 40).0 < 0 => IndexExpr::binary(IndexOperator::Add, left, number),
                6 => IndexExpr::binary(IndexOperator::Divide, left, number),
                _ => IndexExpr::binary(IndexOperator::Remainder, left, number),
            }
        }
    }

    /// All values of an index up to these sizes of `d0`, `d1` and `d2`.
    fn values(index: &IndexExpr<usize>, sizes: [usize; 3]) -> Vec<i128> {
        let mut all = Vec::new();
        for a in 0..sizes[0] {
            for b in 0..sizes[1] {
                for c in 0..sizes[2] {
                    all.push(index.value(&mut |&v| Some([a, b, c][v] as i128)).unwrap());
                }
            }
        }
        all
    }

    /// The largest size of `d0` with which all values are inside, up to `CAP`; and whether it begins outside of the side that it does not
    /// leave by, which is refused.
    fn enumerated(index: &IndexExpr<usize>, others: [usize; 2], limit: i128) -> (usize, bool) {
        let all = |size| values(index, [size, others[0], others[1]]);
        let inside = |size: usize| all(size).iter().all(|&value| (0..limit).contains(&value));
        (size_while(inside), !inside(1))
    }

    const CAP: usize = 60;

    fn size_while(inside: impl Fn(usize) -> bool) -> usize {
        (1..=CAP).find(|&size| !inside(size)).map_or(CAP, |beyond| beyond - 1)
    }

    #[test]
    fn sizes_are_those_that_enumeration_finds() {
        let mut random = Random(1);
        let (mut found, mut refused, mut endless) = (0, 0, 0);
        for _ in 0..400 {
            let others = [1 + random.below(4) as usize, 1 + random.below(5) as usize];
            let count = 1 + random.below(2) as usize;
            let depth = 1 + random.below(4) as usize;
            let indices: Vec<(IndexExpr<usize>, usize)> =
                (0..count).map(|_| (random.index(depth), random.below(25) as usize)).collect();
            // A variable that falls out of a sum does not matter.
            let is_in = |index: &IndexExpr<usize>| match index.affine() {
                Some(affine) => affine.terms.iter().any(|(variable, _)| *variable == 0),
                None => index.variables().contains(&0),
            };
            let depend: Vec<_> = indices.iter().filter(|(index, _)| is_in(index)).collect();
            let bounds: Vec<Bound> = (3..)
                .zip(&indices)
                .map(|(at, (index, _))| Bound { dimension: Some(at), index: index.clone() })
                .collect();
            let mut sizes = vec![None, Some(others[0]), Some(others[1])];
            sizes.extend(indices.iter().map(|(_, limit)| Some(*limit)));
            infer(&bounds, &mut sizes);
            let by_enumeration = depend.iter().map(|(index, limit)| enumerated(index, others, *limit as i128));
            let (expected, outside) =
                by_enumeration.fold((CAP, false), |(size, outside), (own, begins)| (size.min(own), outside || begins));
            let text = indices.iter().map(|(index, limit)| format!("{} of {limit}", index.show(&|v| format!("d{v}"))));
            let text = format!("{} with {others:?}", text.collect::<Vec<_>>().join(", "));
            match sizes[0] {
                // Nothing says how large it is: refused too.
                None => (assert!(expected == CAP || outside && expected == 0, "{text}"), endless += 1).1,
                Some(size) if size.min(CAP) == expected => found += 1,
                // Nothing is inside: the call is refused.
                Some(size) => {
                    assert!(outside && expected == 0, "{text}: {size}, not {expected}");
                    let mut extents: Vec<usize> = sizes.iter().map(|size| size.unwrap()).collect();
                    extents[0] = size;
                    assert!(check(&bounds, &extents, &|_| ("n", Size::Runtime)).is_err(), "{text}");
                    refused += 1;
                }
            }
        }
        assert!(found > 100 && refused > 10 && endless > 10, "{found} found, {refused} refused, {endless} endless");
    }

    #[test]
    fn modes_are_as_long_as_enumeration_finds() {
        let mut random = Random(2);
        for _ in 0..1000 {
            let given = [1 + random.below(6) as usize, 1 + random.below(4) as usize, 1 + random.below(5) as usize];
            let depth = 1 + random.below(4) as usize;
            let indices = [random.index(depth), random.index(1)];
            let bounds = indices.clone().map(|index| Bound { dimension: Some(3), index });
            let mut sizes = vec![Some(given[0]), Some(given[1]), Some(given[2]), None];
            infer(&bounds, &mut sizes);
            let end = indices.iter().flat_map(|index| values(index, given)).max().unwrap() + 1;
            assert_eq!(sizes[3], Some(end.max(0) as usize), "{} {given:?}", indices[0].show(&|v| format!("d{v}")));
        }
    }

    #[test]
    fn a_mode_that_nothing_else_sizes_holds_every_index() {
        assert_eq!(sizes("bound d2 d0 + d1", &[Some(3), Some(4), None]).0[2], Some(6));
        assert_eq!(sizes("bound d1 3 * d0 + 1", &[Some(0), None]), (vec![Some(0), Some(0)], None));
    }

    #[test]
    fn what_is_only_a_number_is_below_no_size() {
        let number = "bound number d0 * extent(d1) + d1";
        assert_eq!(sizes(number, &[Some(3), Some(2)]), (vec![Some(3), Some(2)], None));
        assert_eq!(sizes(number, &[None, Some(2)]), (vec![None, Some(2)], None));
        let error = sizes(number, &[Some(1 << 32), Some(1 << 31)]).1;
        assert!(error.is_some_and(|error| error.contains("below 2^63") && error.contains("`n1` has")));
    }

    #[test]
    fn numbers_too_large_to_compute_are_an_error() {
        let huge = 1usize << 60;
        for (bounds, given) in [
            (format!("bound d1 d0 * {huge} % 7"), [Some(8), Some(7)]),
            (format!("bound d1 d0 * {huge} / {huge}"), [Some(9), None]),
            (format!("bound d1 d0 * {huge} - d0 * {huge}"), [Some(4), None]),
            (format!("bound d1 d0 * {huge}"), [Some(usize::MAX), None]),
        ] {
            let (_, error) = sizes(&bounds, &given);
            assert!(error.as_ref().is_some_and(|error| error.contains("below 2^63")), "{bounds}: {error:?}");
        }
        let (found, error) = sizes(&format!("bound d1 d0 * {huge}"), &[Some(4), None]);
        assert_eq!((found[1], error), (Some(3 * huge + 1), None));
        // Nothing says how large a mode is that has room for more than there can be.
        for bounds in [format!("bound d1 d0 / {huge}"), format!("bound d1 d0 / {huge} / {huge} / {huge}")] {
            assert_eq!(sizes(&bounds, &[None, Some(huge)]).0[0], None);
        }
    }

    #[test]
    fn extents_are_factors() {
        let rows = "bound d2 d0 * extent(d1) + d1";
        assert_eq!(sizes(rows, &[Some(3), Some(4), None]), (vec![Some(3), Some(4), Some(12)], None));
        assert_eq!(sizes(rows, &[None, Some(4), Some(14)]), (vec![Some(3), Some(4), Some(14)], None));
        assert_eq!(sizes(rows, &[Some(3), None, Some(14)]), (vec![Some(3), Some(4), Some(14)], None));
        assert_eq!(sizes(rows, &[Some(0), Some(4), None]).0[2], Some(0));
        assert_eq!(sizes(rows, &[None, None, Some(14)]).0, [None, None, Some(14)]);
        assert_eq!(sizes("bound d1 extent(d0) - 1 - d0", &[None, Some(9)]), (vec![Some(9), Some(9)], None));
        let (_, error) = sizes(rows, &[Some(3), Some(4), Some(11)]);
        assert!(error.is_some_and(|error| error.contains("reaches 11") && error.contains("n0 * extent(n1) + n1")));
        let huge = Some(1usize << 40);
        let (_, error) = sizes(rows, &[huge, huge, None]);
        assert!(error.is_some_and(|error| error.contains("below 2^63") && error.contains("`n1` has")));
        let (_, error) = sizes(rows, &[Some(usize::MAX), Some(2), None]);
        assert!(error.is_some_and(|error| error.contains("below 2^63")));
    }

    #[test]
    fn an_index_beyond_its_mode_is_an_error() {
        let (_, error) = sizes("bound d1 d0 + 1", &[Some(10), Some(10)]);
        assert!(error.is_some_and(|error| error.contains("reaches 10") && error.contains("n0 + 1")));
        let (_, error) = sizes("bound d1 4 - d0", &[Some(10), Some(10)]);
        assert!(error.is_some_and(|error| error.contains("reaches -5")));
        let (_, error) = sizes("bound d2 4 - d0 + d1", &[Some(10), Some(0), Some(10)]);
        assert!(error.is_some_and(|error| error.contains("reaches -5")));
        assert_eq!(sizes("bound d2 d0 + d1", &[Some(10), Some(0), Some(5)]).1, None);
    }
}
