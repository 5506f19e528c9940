//! Failures on purpose, for tests.
//!
//! Every read, write, rename and sync of a tensor file, and every allocation of an array whose size a file or a caller decides,
//! passes through here. Where the environment variable `SPC_FAULT` is a number `n`, the `n`-th of them fails, as on a full disk or
//! in too little memory; a test counts `n` up until nothing fails any more. Otherwise each costs a load of a number that does
//! not change.

use std::io;
use std::sync::atomic::{AtomicI64, Ordering};

/// How many operations are yet to succeed before one fails.
static REMAINING: AtomicI64 = AtomicI64::new(UNKNOWN);

const UNKNOWN: i64 = i64::MIN;
const NEVER: i64 = -1;

/// Whether this operation is the one that fails.
#[inline]
pub(crate) fn strikes() -> bool {
    REMAINING.load(Ordering::Relaxed) != NEVER && counted()
}

/// An operation on a file, which fails where it is the one.
#[inline]
pub(crate) fn operation() -> io::Result<()> {
    if strikes() { Err(io::Error::other("this operation fails on purpose (SPC_FAULT)")) } else { Ok(()) }
}

#[cold]
fn counted() -> bool {
    if REMAINING.load(Ordering::Relaxed) == UNKNOWN {
        let number = std::env::var("SPC_FAULT").ok().and_then(|text| text.parse().ok());
        let first = number.filter(|&number: &i64| number > 0).unwrap_or(NEVER);
        // Another thread may have been here before.
        _ = REMAINING.compare_exchange(UNKNOWN, first, Ordering::Relaxed, Ordering::Relaxed);
    }
    let count = |remaining| (remaining > 0).then_some(remaining - 1);
    match REMAINING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count) {
        // The last step is to `0`, which stays: all that comes later succeeds.
        Ok(before) => before == 1,
        Err(_) => false,
    }
}
