//! Which elements of a long row a thread has.
//!
//! ```text
//! known to be 256 long     64 threads: thread, thread + 64, thread + 128, thread + 192
//! else                     of each warp 128 elements: first, first + 32, first + 64, first + 96, those that there are
//! ```

use crate::gpu::plan::WARP;
use crate::ir::{BinaryOperator, Expr, VariableId};

/// The elements of a row that a thread has: so many, so many elements apart.
#[derive(Debug, Clone)]
pub(super) struct Strips {
    pub count: u64,
    /// How far elements lie apart.
    pub step: u64,
    /// How many threads a row has.
    pub threads: Expr,
    /// Whether every thread has all of them.
    pub are_full: bool,
}

/// A thread has at most so many elements.
pub(super) const STRIPS: u64 = 4;

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
        Some(Self { count, step, threads: Expr::Index(step), are_full })
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
        Self { count: STRIPS, step: WARP, threads: parts.times(Expr::Index(WARP)), are_full: false }
    }

    /// Whether a warp has a part of the row, and not every so-many-th element of the whole.
    pub(super) fn is_part(&self) -> bool {
        self.threads != Expr::Index(self.step)
    }

    /// The first element of a thread.
    pub(super) fn first(&self, thread: VariableId) -> Expr {
        let of = |operator| Expr::binary(operator, Expr::Variable(thread), Expr::Index(WARP));
        of(BinaryOperator::Divide).times(Expr::Index(PART)).plus(of(BinaryOperator::Remainder))
    }
}

/// Rows that have at most so many threads have them in one block.
const MOST_THREADS: u64 = crate::gpu::plan::BLOCK;
