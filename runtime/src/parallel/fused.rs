//! The helpers for functions that are compiled for processors that multiply and add in one instruction, whatever the crate is
//! compiled for: those of `tensor_kernel!` that are chosen when they are called.

pub use super::*;

/// As [`super::add_product`], in one instruction. Elsewhere than in such functions it is a call that takes a hundred times as long.
#[inline(always)]
pub fn add_product<T: Fused>(sum: &mut T, one: T, other: T) {
    *sum = if cfg!(target_arch = "x86_64") { one.fused(other, *sum) } else { one.multiply_add(other, *sum) };
}
