//! Computed indices: sizes that follow from them, and whether they stay inside.
//!
//! `y(i) = x(2*i + k) * w(k)` says nothing of the size of `i` but that `x` is read inside: with 10 elements of `x` and 3 of `w` there
//! are 4 of `y`, which read up to `x(8)`.

use super::error::Error;
use spc_compiler::ir::{Affine, IndexExpr};
use spc_compiler::{concrete, ir};

/// The sizes of dimensions as far as they are known, by their places.
type Sizes<'a> = &'a [Option<usize>];

/// What a bound says of the size of a dimension, by its place.
type Rule = fn(&Bound, usize, Sizes) -> Option<usize>;

/// A computed index over dimensions, and the dimension that it must lie below.
pub(super) struct Bound {
    pub(super) dimension: usize,
    index: IndexExpr<usize>,
}

/// The bounds of a kernel of the loop IR.
pub(super) fn of_kernel(kernel: &ir::Kernel) -> Vec<Bound> {
    let place = |bound: &ir::Bound| Bound {
        dimension: bound.dimension.index(),
        index: bound.index.map(&mut |dimension| dimension.index()),
    };
    kernel.bounds.iter().map(place).collect()
}

/// The bounds of a scheduled kernel.
pub(super) fn of_schedule(kernel: &concrete::Kernel) -> Vec<Bound> {
    kernel.bounds.iter().map(|bound| Bound { dimension: bound.extent, index: bound.index.clone() }).collect()
}

/// Finds sizes by the bounds: first the largest that keep all computed indices inside, then, for modes whose size nothing else
/// gives, the smallest that holds all computed indices.
pub(super) fn infer(bounds: &[Bound], sizes: &mut [Option<usize>]) {
    let rules: [(Rule, bool); 2] = [(largest, true), (end, false)];
    for (rule, is_upper) in rules {
        while let Some((place, size)) = (0..sizes.len()).filter(|&place| sizes[place].is_none()).find_map(|place| {
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
    let limit = sizes[bound.dimension]?;
    let Affine { constant, mut terms } = bound.index.affine()?;
    let place = terms.iter().position(|(dimension, _)| *dimension == unknown)?;
    let (_, factor) = terms.remove(place);
    let (least, greatest) = range(&Affine { constant, terms }, sizes)?;
    let room = if factor > 0 { limit as i128 - 1 - greatest } else { least };
    let last = room.div_euclid(i128::from(factor.unsigned_abs()));
    Some(usize::try_from(last + 1).unwrap_or(0))
}

/// One more than the greatest index into the mode `unknown`, where the sizes it depends on are known.
pub(super) fn end(bound: &Bound, unknown: usize, sizes: Sizes) -> Option<usize> {
    let is_own = bound.dimension == unknown;
    let (_, greatest) = is_own.then(|| index_range(bound, sizes)).flatten()?;
    let is_empty = bound.index.variables().iter().any(|dimension| sizes[*dimension] == Some(0));
    Some(if is_empty { 0 } else { usize::try_from(greatest + 1).unwrap_or(0) })
}

/// Checks that all computed indices are inside of their modes; `name` is that of a dimension.
pub(super) fn check(bounds: &[Bound], extents: &[usize], name: &dyn Fn(usize) -> String) -> Result<(), Error> {
    let sizes: Vec<Option<usize>> = extents.iter().copied().map(Some).collect();
    for bound in bounds {
        // Where there is nothing to do, no index is used.
        if bound.index.variables().iter().any(|&dimension| extents[dimension] == 0) {
            continue;
        }
        let (least, greatest) = index_range(bound, &sizes).unwrap_or((0, 0));
        let extent = extents[bound.dimension];
        if least < 0 || greatest >= extent as i128 {
            let index = bound.index.show(&|&dimension| name(dimension)).to_string();
            let reached = if least < 0 { least } else { greatest };
            return Err(Error::OutOfBounds { index, reached, extent });
        }
    }
    Ok(())
}

/// The least and the greatest value of a bound's index.
fn index_range(bound: &Bound, sizes: Sizes) -> Option<(i128, i128)> {
    if let Some(affine) = bound.index.affine() {
        return range(&affine, sizes);
    }
    let known = bound.index.variables().iter().all(|dimension| sizes[*dimension].is_some());
    known.then(|| bound.index.range(&mut |dimension| last(sizes[*dimension].unwrap_or(0))))
}

fn range(affine: &Affine<usize>, sizes: Sizes) -> Option<(i128, i128)> {
    let constant = i128::from(affine.constant);
    affine.terms.iter().try_fold((constant, constant), |(least, greatest), (dimension, factor)| {
        let reach = i128::from(*factor) * last(sizes[*dimension]?);
        Some((least + reach.min(0), greatest + reach.max(0)))
    })
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
        let kernel = ir::parse(&format!("kernel k {{ {names} {bounds} body {{ }} }}")).unwrap();
        let mut sizes = given.to_vec();
        let bounds = of_kernel(&kernel);
        infer(&bounds, &mut sizes);
        let all: Option<Vec<usize>> = sizes.iter().copied().collect();
        let error = all.and_then(|all| check(&bounds, &all, &|place| format!("n{place}")).err());
        let error = error.map(|error| error.to_string());
        (sizes, error)
    }

    #[test]
    fn the_largest_range_that_stays_inside_is_taken() {
        let convolution = "bound d2 2 * d0 + d1";
        assert_eq!(sizes(convolution, &[None, Some(3), Some(10)]), (vec![Some(4), Some(3), Some(10)], None));
        assert_eq!(sizes(convolution, &[None, Some(11), Some(10)]).0[0], Some(0));
        assert_eq!(sizes("bound d1 9 - d0", &[None, Some(10)]), (vec![Some(10), Some(10)], None));
        assert_eq!(sizes("bound d1 d0 + 1 bound d1 d0 + 3", &[None, Some(10)]).0[0], Some(7));
    }

    #[test]
    fn a_mode_that_nothing_else_sizes_holds_every_index() {
        assert_eq!(sizes("bound d2 d0 + d1", &[Some(3), Some(4), None]).0[2], Some(6));
        assert_eq!(sizes("bound d1 3 * d0 + 1", &[Some(0), None]), (vec![Some(0), Some(0)], None));
    }

    #[test]
    fn an_index_beyond_its_mode_is_an_error() {
        let (_, error) = sizes("bound d1 d0 + 1", &[Some(10), Some(10)]);
        assert!(error.is_some_and(|error| error.contains("reaches 10") && error.contains("n0 + 1")));
        let (_, error) = sizes("bound d1 4 - d0", &[Some(10), Some(10)]);
        assert!(error.is_some_and(|error| error.contains("reaches -5")));
    }
}
