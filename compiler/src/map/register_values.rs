//! Which elements of a row a thread has, where there are several.
//!
//! ```text
//! 32, in vectors of 4      8 threads: 4 * thread, …, 4 * thread + 3
//! 32, scattered            8 threads: thread, thread + 8, thread + 16, thread + 24
//! known to be 250 long     64 threads: thread, thread + 64, thread + 128, thread + 192, those that there are
//! else                     of each warp 128 elements: first, first + 32, first + 64, first + 96, those that there are
//! ```

use crate::gpu::plan::{STRIPS, WARP};
use crate::ir::{BinaryOperator, Expr, VariableId};

/// The elements of a row that a thread has: so many, so many elements apart.
#[derive(Debug, Clone)]
pub(super) struct Strips {
    pub count: u64,
    /// How far elements lie apart.
    pub step: Expr,
    /// How many threads a row has.
    pub threads: Expr,
    /// Whether every thread has all of them.
    pub are_full: bool,
}

/// What the second-level cache updates at once.
const SECTOR: u64 = 32;

/// Of how many elements a row has to have a multiple, so that threads with several of them, of so many bytes each, update whole sectors.
pub(super) fn scattered(bytes: u64) -> u64 {
    STRIPS * (SECTOR / bytes).max(1)
}

/// The elements that a warp has, where each has a part of the row.
const PART: u64 = STRIPS * WARP;

impl Strips {
    /// Those of a row that is known to be so long.
    pub(super) fn of(extent: u64) -> Option<Self> {
        if extent <= WARP {
            return None;
        }
        if extent > MOST_THREADS * STRIPS {
            return Some(Self::parts(&Expr::Index(extent)));
        }
        let step = extent.div_ceil(STRIPS).next_multiple_of(WARP);
        let (count, are_full) = (extent.div_ceil(step), extent.is_multiple_of(step));
        Some(Self { count, step: Expr::Index(step), threads: Expr::Index(step), are_full })
    }

    /// Those of a row of which each warp has a part.
    pub(super) fn parts(extent: &Expr) -> Self {
        let parts = match extent {
            Expr::Index(extent) => Expr::Index(extent.div_ceil(PART)),
            extent => {
                let up = extent.clone().plus(Expr::Index(PART - 1));
                Expr::binary(BinaryOperator::Divide, up, Expr::Index(PART))
            }
        };
        Self { count: STRIPS, step: Expr::Index(WARP), threads: parts.times(Expr::Index(WARP)), are_full: false }
    }

    /// Neighbours, of a row that has a multiple of so many elements.
    pub(super) fn vector(extent: &Expr, count: u64) -> Self {
        let threads = match extent {
            Expr::Index(extent) => Expr::Index(extent / count),
            extent => Expr::binary(BinaryOperator::Divide, extent.clone(), Expr::Index(count)),
        };
        Self { count, step: Expr::Index(1), threads, are_full: true }
    }

    /// As far apart as there are threads, of a row that has a multiple of so many elements.
    pub(super) fn apart(extent: &Expr, count: u64) -> Self {
        let threads = Self::vector(extent, count).threads;
        Self { count, step: threads.clone(), threads, are_full: true }
    }

    /// Whether elements are neighbours that move as one.
    pub(super) fn is_vector(&self) -> bool {
        self.step == Expr::Index(1)
    }

    /// Whether a warp has a part of the row, and not every so-many-th element of the whole.
    pub(super) fn is_part(&self) -> bool {
        self.threads != self.step
    }

    /// The first element of a thread.
    pub(super) fn first(&self, thread: VariableId) -> Expr {
        if self.is_vector() {
            return Expr::Variable(thread).times(Expr::Index(self.count));
        }
        let of = |operator| Expr::binary(operator, Expr::Variable(thread), Expr::Index(WARP));
        of(BinaryOperator::Divide).times(Expr::Index(PART)).plus(of(BinaryOperator::Remainder))
    }
}

/// Rows that have at most so many threads have them in one block.
const MOST_THREADS: u64 = crate::gpu::plan::BLOCK;
