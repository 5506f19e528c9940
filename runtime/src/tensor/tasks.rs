//! Tasks in parallel. All go through one loop, which is compiled once: a chain of rayon's adapters for each kind of task, and for each
//! closure, made up a third of this crate.

use crate::parallel;
use crate::progress::{Unit, Work};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many entries a task goes through: some microseconds of work, to which that of a task adds little.
pub(crate) const GRAIN: usize = 1 << 14;

/// Calls `body` with each of `0..count`, in any order or at the same time.
pub(crate) fn run(count: usize, body: &(dyn Fn(usize) + Sync)) {
    match count {
        0 => {}
        1 => body(0),
        _ => parallel::run_tasks(count, body),
    }
}

/// `0..count` in ranges of `grain` places; the last may be shorter.
pub(crate) fn ranges(count: usize, grain: usize) -> Vec<Range<usize>> {
    (0..count).step_by(grain).map(|begin| begin..count.min(begin + grain)).collect()
}

/// Results of tasks, in order.
pub(crate) fn map<R: Send>(ranges: &[Range<usize>], work: &(dyn Fn(Range<usize>) -> R + Sync)) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = ranges.iter().map(|_| Mutex::new(None)).collect();
    run(ranges.len(), &|task| {
        let result = work(ranges[task].clone());
        *locked(&results[task]) = Some(result);
    });
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// What the first task gives that gives anything; later tasks may not be run.
pub(crate) fn first<R: Send>(ranges: &[Range<usize>], work: &(dyn Fn(Range<usize>) -> Option<R> + Sync)) -> Option<R> {
    let (earliest, found) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
    run(ranges.len(), &|task| {
        if task > earliest.load(Ordering::Relaxed) {
            return;
        }
        if let Some(result) = work(ranges[task].clone()) {
            let mut found = locked(&found);
            if earliest.fetch_min(task, Ordering::Relaxed) > task {
                *found = Some(result);
            }
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a task for each item, with its number.
pub(crate) fn each<I: Send>(items: Vec<I>, work: &(dyn Fn(usize, I) + Sync)) {
    let counted = Work::begin_alone(Unit::Parts, items.len());
    let items: Vec<Mutex<Option<I>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    run(items.len(), &|task| {
        let item = locked(&items[task]).take();
        if let Some(item) = item {
            work(task, item);
            counted.add(1);
        }
    });
}

/// So many elements, made in tasks of `grain`.
pub(crate) fn collected<T: Copy + Default + Send>(
    count: usize,
    grain: usize,
    element: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut elements = vec![T::default(); count];
    each(elements.chunks_mut(grain).collect(), &|task, part: &mut [T]| {
        part.iter_mut().zip(task * grain..).for_each(|(place, number)| *place = element(number));
    });
    elements
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts a slice into parts of the given sizes.
pub(crate) fn split<'a, T>(mut whole: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
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
    fn the_first_that_gives_something_is_told_from_later_ones() {
        let ranges = ranges(1000, 1);
        for _ in 0..20 {
            assert_eq!(first(&ranges, &|range| (range.start >= 300).then_some(range.start)), Some(300));
        }
        assert_eq!(first(&ranges, &|_| None::<usize>), None);
    }

    #[test]
    fn tasks_may_begin_tasks() {
        let sum = |of: Range<usize>| map(&ranges(of.len(), 3), &|part| part.len()).into_iter().sum::<usize>();
        let all = || map(&ranges(100, 7), &sum).into_iter().sum::<usize>();
        assert_eq!(all(), 100);
        assert_eq!(crate::parallel::with_threads(3, all).unwrap(), 100);
        let panics = std::panic::catch_unwind(|| run(20, &|task| run(20, &|inner| assert!(task + inner < 30))));
        assert!(panics.is_err());
        assert_eq!(all(), 100);
    }

    #[test]
    fn each_task_has_its_own_part() {
        let mut numbers = [0; 6];
        each(split(&mut numbers, &[1, 0, 3]), &|task, part| part.fill(task + 1));
        assert_eq!(numbers, [1, 3, 3, 3, 0, 0]);
        assert!(collected(10, 3, |number| number).into_iter().eq(0..10));
    }
}
