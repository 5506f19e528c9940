//! One check over many things, on all cores: every failure is told, not only the first.

use crate::harness::without_panics;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Checks each of `items`.
///
/// # Panics
/// When a check fails or panics; the message lists all that do, in the order of `items`.
pub fn check_all<T: Sync>(items: &[T], name: impl Fn(&T) -> &str, check: impl Fn(&T) -> Result<(), String> + Sync) {
    let lines = failures(items, name, check);
    assert!(lines.is_empty(), "{} of {} fail:\n{}", lines.len(), items.len(), lines.join("\n"));
}

/// The checks of `items` that fail or panic, in their order.
pub fn failures<T: Sync>(
    items: &[T],
    name: impl Fn(&T) -> &str,
    check: impl Fn(&T) -> Result<(), String> + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let failures: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { return };
            if let Err(error) = without_panics(|| check(item)).flatten() {
                failures.lock().expect("no thread panics with it").push((place, error));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut failures = failures.into_inner().expect("no thread panics with it");
    failures.sort();
    failures.iter().map(|(place, error)| format!("{}: {error}", name(&items[*place]))).collect()
}
