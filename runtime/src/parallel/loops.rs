//! The loops of reductions: in vectors whose loads and gathers leave out lanes where this is compiled for a processor that has such
//! (AVX-512), and else one by one.

#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
pub(super) use super::masks::{StoredInLanes, TermInLanes, Wide, combine_in_turns, reduce, reduce_between};
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
pub(super) use super::{
    dot::reduce_each as reduce_between,
    one_by_one::{StoredInLanes, TermInLanes, Wide, combine_in_turns, reduce},
};
