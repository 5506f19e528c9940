//! Parallel loops over chunks of equal work.
//!
//! Generated code, whether the macro's or what is compiled at run time, has no parallel iterators: it cuts a range into
//! [`Chunks`] and calls [`Chunks::run`] with one closure behind a `dyn`. That keeps sixty kernels at a second of rustc's time
//! instead of eight, and lets a kernel in a library of its own run on the host's threads: it needs [`threads`] and
//! [`run_all`] only.
//!
//! ```
//! use spc::parallel::Chunks;
//!
//! let positions = [0, 2, 2, 5];
//! let values = [1.0, 2.0, 3.0, 4.0, 5.0];
//! let mut sums = [0.0; 3];
//! let chunks = Chunks::weighted(0, 3, &|row| positions[row]);
//! let owned = chunks.owned(&mut sums, &|row| row);
//! chunks.run(&|chunk| {
//!     let mut sums = owned.take(chunk);
//!     let (low, high) = chunks.range(chunk);
//!     for row in low..high {
//!         sums[row] = values[positions[row]..positions[row + 1]].iter().sum();
//!     }
//! });
//! drop(owned);
//! assert_eq!(sums, [3.0, 0.0, 12.0]);
//! ```

mod between;
mod bitmap;
mod bits;
mod chunks;
mod combine;
mod compiled;
mod coordinate;
mod dot;
mod few;
#[doc(hidden)]
pub mod fused;
mod gate;
mod half;
pub(crate) mod interrupt;
mod intersect;
mod joined;
mod linger;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
mod loads;
mod loops;
#[cfg(target_arch = "x86_64")]
mod masked;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
mod masks;
mod one_by_one;
mod parts;
mod product;
mod ready;
mod room;
mod row;
mod team;
#[cfg(test)]
mod tests;
#[cfg(feature = "compile")]
pub(crate) mod text;
#[doc(hidden)]
pub mod vectors;
mod workspace;

pub use bitmap::{Bitmap, Lent};
pub use bits::{Bits, BitsOf, Numbers, rank};
pub use chunks::{Chunks, Fixed, JoinedPositions, Owned, Part, Partial, Position, Private, Segmented, TakenSegments};
pub use combine::{
    All, Any, Difference, Maximum, Minimum, Monoid, Op, Operator, Ordered, Product, Quotient, Sum, Value, greater,
    lesser,
};
pub use coordinate::Coordinate;
pub use dot::{At, AtSome, Both, Number, Run, Same, Stored, Term, Terms, at, at_some, run, same};
pub use half::{Half, bf16, f16, numbers, numbers_of};
pub(crate) use interrupt::{Interrupted, watched};
#[cfg(feature = "compile")]
pub(crate) use interrupt::{Question, question};
pub use intersect::{Directory, Intersection, intersection, intersection_in};
pub use joined::{Joined, Taken};
#[doc(hidden)]
pub use numbers::{Parts, Real, arcosh, arsinh, choose, maximum_number, minimum_number};
pub use parts::{Complex, exponential, quotient, root};
pub use product::{Fused, add_product};
#[cfg(feature = "compile")]
pub(crate) use room::length;
#[cfg(feature = "jit")]
pub(crate) use room::reserve;
pub(crate) use room::{LEAST_IN_HUGE_PAGES, in_huge_pages};
pub use room::{NoMemory, Plain, array, extend, push};
pub use row::{Beyond, Masked, beyond, fill, filled, filled_side_by_side, row, row_at, row_mut, search_side_by_side};
pub use workspace::{Key, Table, sort};

use spc_compiler::format::interleave;
use spc_compiler::ir::half as rounding;
use spc_compiler::ir::numbers;

// SAFETY: both parts are numbers, and what is zero in either is zero bytes.
unsafe impl Plain for crate::complex::c32 {
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.re.is_zero() && self.im.is_zero()
    }
}

// SAFETY: as above.
unsafe impl Plain for crate::complex::c64 {
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.re.is_zero() && self.im.is_zero()
    }
}

/// How many threads [`run_all`] runs on.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Calls `body` with each of `0..count`, in any order or at the same time, on rayon's threads. These wait for more of it for a
/// fifth of a millisecond.
pub fn run_all(count: usize, body: &(dyn Fn(usize) + Sync)) {
    if !run_unless_stopped(count, body) {
        Interrupted.unwind();
    }
}

/// The same; whether all have been called, which are fewer where the kernel is asked to stop.
pub(crate) fn run_unless_stopped(count: usize, body: &(dyn Fn(usize) + Sync)) -> bool {
    team::run(count, body)
}

/// Calls `body` with each of `0..count`, in any order or at the same time, of which each may begin more of the same. Of what is around
/// kernels: it is not stopped.
pub(crate) fn run_tasks(count: usize, body: &(dyn Fn(usize) + Sync)) {
    team::run_tasks(count, body);
}

/// The most threads that [`with_threads`] starts: eight for each processor, and 256 in any case. More of them only wait for each
/// other.
pub fn most_threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    processors.saturating_mul(8).max(256)
}

/// Calls `body` with `count` threads to run parallel loops on, or with [`most_threads`] if that is less. Where `count` is 0,
/// there are as many as `RAYON_NUM_THREADS` says, or else as the machine has processors.
///
/// # Errors
/// When the system refuses that many threads.
pub fn with_threads<R: Send>(count: usize, body: impl FnOnce() -> R + Send) -> std::io::Result<R> {
    Ok(pool(count)?.install(body))
}

/// As many threads as [`with_threads`] would have.
pub(crate) fn pool(count: usize) -> std::io::Result<rayon::ThreadPool> {
    let usual = || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok();
    let count = match count {
        // That of the variable counts only where it is too large: rayon reads it too.
        0 => usual().filter(|&usual| usual > most_threads()).map_or(0, |_: usize| most_threads()),
        count => count.min(most_threads()),
    };
    rayon::ThreadPoolBuilder::new().num_threads(count).build().map_err(std::io::Error::other)
}
