//! Bits of interleaved numbers, for loops over what is sorted by them.
//!
//! This file stands by itself, like its neighbours: it uses one item of the module around it, `interleave`. Where that says
//! what is interleaved how, this says how a processor takes it apart.

use super::interleave;

/// The bits that the number at a place takes among numbers below these extents; none where all need more than 64 bits, as
/// those of no tensor do.
pub fn mask(part: usize, extents: &[usize]) -> usize {
    let extents: Vec<u64> = extents.iter().map(|&extent| extent as u64).collect();
    interleave::mask(&extents, part).unwrap_or(0) as usize
}

/// The bits of `code` at the ones of `mask`, side by side.
///
/// One instruction, where the code is compiled for processors that have it and take a cycle for it (AMD's before those with
/// `vaes` take hundreds). Elsewhere it is six steps of [`Spread::compress`](interleave::Spread::compress), whose masks a
/// compiler moves out of loops.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "bmi2",
    any(not(target_feature = "sse4a"), target_feature = "vaes")
))]
#[inline(always)]
pub fn gather(code: usize, mask: usize) -> usize {
    // SAFETY: all that the instruction needs is a processor that has it, and this function exists only in code that is
    // compiled for those.
    unsafe { std::arch::x86_64::_pext_u64(code as u64, mask as u64) as usize }
}

/// The bits of `code` at the ones of `mask`, side by side.
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "bmi2",
    any(not(target_feature = "sse4a"), target_feature = "vaes")
)))]
#[inline(always)]
pub fn gather(code: usize, mask: usize) -> usize {
    interleave::Spread::new(mask as u64).compress(code as u64) as usize
}

/// The lowest bits of a number, at the ones of `mask`.
#[inline(always)]
pub fn scatter(number: usize, mask: usize) -> usize {
    interleave::Spread::new(mask as u64).expand(number as u64) as usize
}
