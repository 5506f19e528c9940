//! Loops of reductions in vectors whose loads and gathers leave out lanes (AVX-512).

// Which functions of the processor are safe depends on what this is compiled for.
#![allow(unused_unsafe)]

mod each;
mod lanes;
mod segments;
mod wide;

use super::{combine, coordinate, dot, half, loads, threads};

pub(crate) use lanes::{StoredInLanes, TermInLanes, combine_in_turns, reduce};
pub(crate) use segments::reduce_between;
pub(crate) use wide::Wide;
