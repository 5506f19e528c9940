//! One thread of one process compiles something, and those that want the same wait for what it makes.
//!
//! Ranks that begin together would each compile the same kernel, all of them on the processors of one machine. Between processes a
//! lock of a file says whose turn it is, which the system takes back from those that end. Who can't have one goes on as if alone: it
//! is about time, and never about what is right.

use super::{Cache, Part, lock, trust};
use crate::execute::hash::Fnv128;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What the files are called.
const NAME: &str = "turn-";

/// There are so many files for each sort of thing: two things that share one wait for each other now and then.
const FILES: u8 = 16;

/// How often to look whether another has ended.
const PACE: Duration = Duration::from_millis(5);

/// What threads of this process compile.
static BUSY: Mutex<BTreeSet<Thing>> = Mutex::new(BTreeSet::new());
static ENDED: Condvar = Condvar::new();

/// A file of a cache, and who makes it: a process that was forked does not wait for threads of its parent.
type Thing = (u32, Option<PathBuf>, String);

/// The right to compile something, until it is dropped.
#[derive(Debug)]
pub(in crate::execute) struct Turn {
    _among_threads: Option<Busy>,
    among_processes: Option<File>,
}

/// What a thread of this process compiles.
#[derive(Debug)]
struct Busy(Thing);

impl Cache {
    /// Waits until no other thread or process compiles this, for as long as `waits` says. What was not there before may be there then.
    pub(in crate::execute) fn turn(&self, part: Part, key: Fnv128, waits: &dyn Fn() -> bool) -> Turn {
        let among_threads = Busy::of((process::id(), self.folder.clone(), part.home(key)), waits);
        let sort = if part == Part::Helpers { "helpers" } else { "kernels" };
        let place = key.to_string().bytes().fold(0u8, |sum, digit| sum.wrapping_mul(31).wrapping_add(digit)) % FILES;
        let file = self.folder.as_ref().map(|folder| folder.join(format!("{NAME}{sort}-{place}")));
        Turn { _among_threads: among_threads, among_processes: file.and_then(|file| locked(&file, waits)) }
    }
}

impl Busy {
    fn of(thing: Thing, waits: &dyn Fn() -> bool) -> Option<Self> {
        let mut busy = lock(&BUSY);
        while !busy.insert(thing.clone()) {
            if !waits() {
                return None;
            }
            busy = ENDED.wait_timeout(busy, PACE).unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(Busy(thing))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        lock(&BUSY).remove(&self.0);
        ENDED.notify_all();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // A process that was forked meanwhile has the file open, too.
        if let Some(file) = &self.among_processes {
            _ = file.unlock();
        }
    }
}

fn locked(path: &Path, waits: &dyn Fn() -> bool) -> Option<File> {
    let file = trust::open_to_lock(path).ok()?;
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::WouldBlock) if waits() => thread::sleep(PACE),
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Has threads do something in turns, and gives the most that were at it at once.
    fn at_once(caches: &[Cache], key: Fnv128) -> usize {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for thread in 0..6 {
                let (now, most, cache) = (&now, &most, &caches[thread % caches.len()]);
                scope.spawn(move || {
                    let _turn = cache.turn(Part::Kernels, key, &|| true);
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(3));
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        most.into_inner()
    }

    #[test]
    fn one_at_a_time_compiles_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(Some(folder.path().to_owned()));
        let key = Fnv128::of(b"key");
        assert_eq!(at_once(std::slice::from_ref(&cache), key), 1);
        assert_eq!(at_once(&[Cache::in_folder(None)], key), 1);
        assert!(super::super::prune::entries(folder.path()).is_empty());
    }

    #[test]
    fn processes_take_turns() {
        // Another process has no part in this one's memory, and opens the file by another way.
        let folder = tempfile::tempdir().unwrap();
        let key = Fnv128::of(b"key");
        let cache = Cache::in_folder(Some(folder.path().to_owned()));
        drop(cache.turn(Part::Helpers, key, &|| true));
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let other = File::options().write(true).open(file).unwrap();
        other.lock().unwrap();
        let asked = AtomicUsize::new(0);
        let turn = cache.turn(Part::Helpers, key, &|| asked.fetch_add(1, Ordering::Relaxed) < 3);
        assert_eq!((asked.load(Ordering::Relaxed), turn.among_processes.is_none()), (4, true));
        drop(turn);
        other.unlock().unwrap();
        assert!(cache.turn(Part::Helpers, key, &|| false).among_processes.is_some());
    }
}
