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

/// What a bound says of the size of a dimension, by its place.
type Rule = fn(&Bound, usize, Sizes) -> Option<usize>;

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

/// Finds sizes by the bounds: first the largest that keep all computed indices inside, then, for modes whose size nothing else
/// gives, the smallest that holds all computed indices.
pub(super) fn infer(bounds: &[Bound], sizes: &mut [Option<usize>]) {
    // A mode holds all of its indices where all of them are known, and then those that are.
    let rules: [(Rule, bool, bool); 3] = [(largest, true, false), (end, false, true), (end, false, false)];
    for (rule, is_upper, waits) in rules {
        while let Some((place, size)) = (0..sizes.len()).filter(|&place| sizes[place].is_none()).find_map(|place| {
            let mut own = bounds.iter().filter(|bound| bound.dimension == Some(place));
            if waits && own.any(|bound| rule(bound, place, sizes).is_none()) {
                return None;
            }
            let all = bounds.iter().filter_map(|bound| rule(bound, place, sizes));
            let size = if is_upper { all.min() } else { all.max() };
            size.map(|size| (place, size))
        }) {
            sizes[place] = Some(size);
        }
    }
}

/// The largest size of `unknown` that keeps a bound, where all else in it is known.
fn largest(bound: &Bound, unknown: usize, sizes: Sizes) -> Option<usize> {
    let limit = i128::try_from(sizes[bound.dimension?]?).ok()?;
    let index = bound.with_extents(sizes);
    if !index.extents().is_empty() {
        return searched(&index, limit, unknown, sizes);
    }
    let (index, limit) = undivided(&index, limit);
    let Affine { constant, mut terms } = index.affine()?;
    let place = terms.iter().position(|(dimension, _)| *dimension == unknown)?;
    let (_, factor) = terms.remove(place);
    let (least, greatest) = range(&Affine { constant, terms }, sizes)?;
    let room = if factor > 0 { limit.saturating_sub(1).saturating_sub(greatest) } else { least };
    let last = room.div_euclid(i128::from(factor.unsigned_abs()));
    Some(size(last.saturating_add(1)))
}

/// The same where the size of `unknown` is a factor itself, as in `j * extent(k) + k`: found by halving, as indices grow with it.
fn searched(index: &IndexExpr<usize>, limit: i128, unknown: usize, sizes: Sizes) -> Option<usize> {
    let known = |dimension: &usize| *dimension == unknown || sizes[*dimension].is_some();
    if !index.variables().iter().chain(&index.extents()).all(known) {
        return None;
    }
    let range = |size: usize| {
        let of = |dimension: &usize| if *dimension == unknown { size } else { sizes[*dimension].unwrap_or(0) };
        index
            .with_extents(&mut |dimension| i64::try_from(of(dimension)).ok())
            .range(&mut |dimension| last(of(dimension)))
    };
    let (first, _) = range(1);
    let fits = |size: usize| {
        let (least, greatest) = range(size);
        least >= first.min(0) && greatest < limit
    };
    let (mut fitting, mut beyond) = (0, usize::MAX / 2);
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        *(if fits(middle) { &mut fitting } else { &mut beyond }) = middle;
    }
    Some(fitting)
}

/// A size: none below zero, and the largest where it is beyond that, which [`check`] refuses.
fn size(size: i128) -> usize {
    usize::try_from(size.max(0)).unwrap_or(usize::MAX)
}

/// `i` below 8 is the same as `i / 2` below 4, or `i / 2 + 3` below 7.
fn undivided(index: &IndexExpr<usize>, limit: i128) -> (&IndexExpr<usize>, i128) {
    let IndexExpr::Binary(operator, left, right) = index else { return (index, limit) };
    match (operator, left.constant(), right.constant()) {
        (IndexOperator::Divide, _, Some(by)) => undivided(left, limit.saturating_mul(i128::from(by))),
        (IndexOperator::Add, _, Some(offset)) => undivided(left, limit.saturating_sub(i128::from(offset))),
        (IndexOperator::Add, Some(offset), _) => undivided(right, limit.saturating_sub(i128::from(offset))),
        _ => (index, limit),
    }
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
            (format!("bound d1 d0 / {huge}"), [None, Some(huge)]),
            (format!("bound d1 d0 / {huge} / {huge} / {huge}"), [None, Some(huge)]),
        ] {
            let (_, error) = sizes(&bounds, &given);
            assert!(error.as_ref().is_some_and(|error| error.contains("below 2^63")), "{bounds}: {error:?}");
        }
        let (found, error) = sizes(&format!("bound d1 d0 * {huge}"), &[Some(4), None]);
        assert_eq!((found[1], error), (Some(3 * huge + 1), None));
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
