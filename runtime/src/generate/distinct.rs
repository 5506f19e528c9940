//! Entries at distinct places, out of draws that may repeat.

use super::error::GenerateError;
use super::random::{mix, unit};
use super::{GRAIN, column};
use crate::tensor::{Coordinates, Indices, tasks};
use rayon::slice::ParallelSliceMut;
use std::ops::Range;

/// As many draws for each entry that is asked for are made at most.
const MOST_DRAWS: usize = 64;

/// A number for each place of a shape.
trait Place: Copy + Ord + Send + Sync {
    fn with_index(self, extent: u64, index: u64) -> Self;
    /// The last index, and the number of the other indices.
    fn split(self, extent: u64) -> (Self, u64);
    const ORIGIN: Self;
}

macro_rules! place {
    ($($type:ident),*) => {$(
        impl Place for $type {
            const ORIGIN: Self = 0;

            fn with_index(self, extent: u64, index: u64) -> Self {
                self * extent as $type + index as $type
            }

            fn split(self, extent: u64) -> (Self, u64) {
                (self / extent as $type, (self % extent as $type) as u64)
            }
        }
    )*};
}
place!(u64, u128);

/// The first `nnz` different entries of the endless list that `draw` makes, in its order: `draw(n, indices)` writes the indices
/// of its `n`-th entry. Values in (0, 1] are drawn from the stream `values`.
pub(super) fn distinct(
    shape: &[usize],
    nnz: usize,
    values: u64,
    draw: &(dyn Fn(u64, &mut [u64]) -> bool + Sync),
) -> Result<Coordinates<f64>, GenerateError> {
    let places = shape.iter().try_fold(1u128, |places, &extent| places.checked_mul(extent as u128));
    let places = places.ok_or_else(|| GenerateError::TooLarge { shape: shape.to_vec() })?;
    let capacity = u64::try_from(places).unwrap_or(u64::MAX);
    if nnz as u64 > capacity {
        return Err(super::TooManyEntries { shape: shape.to_vec(), capacity, nnz }.into());
    }
    let indices = match u64::try_from(places) {
        Ok(_) => columns::<u64>(shape, &first_distinct(shape, nnz, draw)?),
        Err(_) => columns::<u128>(shape, &first_distinct(shape, nnz, draw)?),
    };
    let values = tasks::collected(nnz, GRAIN, |entry| unit(mix(values.wrapping_add(entry as u64))));
    Ok(Coordinates { shape: shape.to_vec(), shape_is_stated: true, indices, values })
}

fn first_distinct<P: Place>(
    shape: &[usize],
    nnz: usize,
    draw: &(dyn Fn(u64, &mut [u64]) -> bool + Sync),
) -> Result<Vec<P>, GenerateError> {
    let most = nnz.saturating_mul(MOST_DRAWS).saturating_add(1 << 16);
    let mut draws = if nnz == 0 { 0 } else { nnz + nnz / 8 + 16 };
    let mut places: Vec<P> = Vec::new();
    loop {
        let known = places.len();
        let draw_some = |range: Range<usize>| -> Option<Vec<P>> {
            range.map(|number| place(shape, known + number, draw)).collect()
        };
        let drawn: Option<Vec<Vec<P>>> =
            tasks::map(&tasks::ranges(draws - known, GRAIN), &draw_some).into_iter().collect();
        let Some(drawn) = drawn else { return Err(GenerateError::Concentrated { draws, found: 0, nnz }) };
        drawn.into_iter().for_each(|drawn| places.extend(drawn));
        let is_new = first_occurrences(&places);
        let found = is_new.iter().filter(|&&is_new| is_new).count();
        if found >= nnz {
            let mut is_new = is_new.into_iter();
            places.retain(|_| is_new.next() == Some(true));
            places.truncate(nnz);
            return Ok(places);
        }
        if draws >= most {
            return Err(GenerateError::Concentrated { draws, found, nnz });
        }
        // The entries that are missing come as seldom as others came, or more seldom.
        let seldom = draws.div_ceil(found.max(1)) + 1;
        draws = (nnz - found).saturating_mul(seldom).saturating_add(draws + draws / 8).min(most);
    }
}

/// The place of a draw; `None` where it can't be drawn.
fn place<P: Place>(shape: &[usize], number: usize, draw: &(dyn Fn(u64, &mut [u64]) -> bool + Sync)) -> Option<P> {
    const USUAL: usize = 8;
    let mut few = [0; USUAL];
    let mut many = Vec::new();
    let indices: &mut [u64] = if shape.len() <= USUAL {
        &mut few[..shape.len()]
    } else {
        many.resize(shape.len(), 0);
        &mut many
    };
    let is_drawn = draw(number as u64, indices);
    let indices = shape.iter().zip(indices.iter());
    is_drawn.then(|| indices.fold(P::ORIGIN, |place, (&extent, &index)| place.with_index(extent as u64, index)))
}

/// For each place whether it is the first of its number.
fn first_occurrences<P: Place>(places: &[P]) -> Vec<bool> {
    let mut sorted: Vec<(P, usize)> = places.iter().copied().zip(0..).collect();
    sorted.par_sort_unstable();
    let mut is_first = vec![true; places.len()];
    for pair in sorted.windows(2) {
        if pair[0].0 == pair[1].0 {
            is_first[pair[1].1] = false;
        }
    }
    is_first
}

/// The indices of each mode.
fn columns<P: Place>(shape: &[usize], places: &[P]) -> Vec<Indices> {
    let mut places = places.to_vec();
    let mut columns = Vec::with_capacity(shape.len());
    for &extent in shape.iter().rev() {
        columns.push(column(extent as u64, &mut places, |_, place| {
            let (rest, index) = place.split(extent as u64);
            *place = rest;
            index
        }));
    }
    columns.reverse();
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_draws_are_left_out_in_order() {
        let draw = |number: u64, indices: &mut [u64]| {
            indices.copy_from_slice(&[number / 2 % 3, number % 2]);
            true
        };
        let entries = distinct(&[3, 2], 5, 1, &draw).unwrap();
        assert_eq!(entries.indices, [Indices::U32(vec![0, 0, 1, 1, 2]), Indices::U32(vec![0, 1, 0, 1, 0])]);
        assert!(entries.values.iter().all(|value| (0.0..=1.0).contains(value)));
    }

    #[test]
    fn what_never_comes_is_refused() {
        let error = distinct(&[10, 10], 2, 1, &|_, _: &mut [u64]| true).unwrap_err();
        assert!(matches!(error, GenerateError::Concentrated { found: 1, nnz: 2, .. }), "{error}");
        assert!(error.to_string().contains("different entries of the 2 asked for"));
        let error = distinct(&[3, 3], 10, 1, &|_, _: &mut [u64]| true).unwrap_err();
        assert!(matches!(error, GenerateError::TooMany(_)));
        let error = distinct(&[usize::MAX; 3], 1, 1, &|_, _: &mut [u64]| true).unwrap_err();
        assert!(matches!(error, GenerateError::TooLarge { .. }));
    }

    #[test]
    fn many_places_are_told_apart() {
        let draw = |number: u64, indices: &mut [u64]| {
            indices.fill(number);
            true
        };
        let entries = distinct(&[1 << 40, 1 << 40, 7], 3, 1, &draw).unwrap();
        assert_eq!(entries.indices[0], Indices::U64(vec![0, 1, 2]));
        assert_eq!(entries.indices[2], Indices::U32(vec![0, 1, 2]));
    }
}
