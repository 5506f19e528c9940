//! The loops of reductions: in vectors whose loads and gathers leave out lanes where this is compiled for a processor that has such
//! (AVX-512), and else one by one.

#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
pub(super) use super::dot::reduce_each as reduce_between;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
pub(super) use super::lanes::{StoredInLanes, TermInLanes, Wide, combine_in_turns, reduce};
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
pub(super) use super::one_by_one::{StoredInLanes, TermInLanes, Wide, combine_in_turns, reduce};
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
pub(super) use super::segments::reduce_between;
