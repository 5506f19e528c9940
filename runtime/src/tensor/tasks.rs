//! Tasks in parallel, through functions that are generic over what a task holds and never over what it does: each chain of
//! rayon's adapters is compiled anew for each closure and costs the compiler tens of milliseconds.

use crate::progress::{Unit, Work};
use rayon::prelude::*;
use std::ops::Range;

/// `0..count` in ranges of `grain` places; the last may be shorter.
pub(super) fn ranges(count: usize, grain: usize) -> Vec<Range<usize>> {
    (0..count).step_by(grain).map(|begin| begin..count.min(begin + grain)).collect()
}

/// Results of tasks, in order.
pub(super) fn map<R: Send>(ranges: &[Range<usize>], work: &(dyn Fn(Range<usize>) -> R + Sync)) -> Vec<R> {
    match ranges {
        [only] => vec![work(only.clone())],
        _ => ranges.par_iter().map(|range| work(range.clone())).collect(),
    }
}

/// What the first task gives that gives anything; later tasks may not be run.
pub(super) fn first<R: Send>(ranges: &[Range<usize>], work: &(dyn Fn(Range<usize>) -> Option<R> + Sync)) -> Option<R> {
    match ranges {
        [only] => work(only.clone()),
        _ => ranges.par_iter().find_map_first(|range| work(range.clone())),
    }
}

/// Runs a task for each item, with its number.
pub(super) fn each<I: Send>(items: Vec<I>, work: &(dyn Fn(usize, I) + Sync)) {
    if items.len() == 1 {
        return items.into_iter().for_each(|item| work(0, item));
    }
    let counted = Work::begin(Unit::Parts, items.len());
    items.into_par_iter().with_max_len(1).enumerate().for_each(|(number, item)| {
        work(number, item);
        counted.add(1);
    });
}

/// Cuts a slice into parts of the given sizes.
pub(super) fn split<'a, T>(mut whole: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
    sizes.iter().map(|&size| whole.split_off_mut(..size).expect("the sizes add up to no more than the whole")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_cover_the_range_in_order() {
        for count in [0, 1, 9, 10, 11, 100] {
            let ranges = ranges(count, 10);
            let places = map(&ranges, &|range| range.collect::<Vec<_>>()).concat();
            assert!(places.into_iter().eq(0..count));
            assert_eq!(first(&ranges, &|range| range.contains(&7).then_some(range.start)), (count > 7).then_some(0));
        }
    }

    #[test]
    fn each_task_has_its_own_part() {
        let mut numbers = [0; 6];
        each(split(&mut numbers, &[1, 0, 3]), &|task, part| part.fill(task + 1));
        assert_eq!(numbers, [1, 3, 3, 3, 0, 0]);
    }
}
