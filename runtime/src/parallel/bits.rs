//! Bits of interleaved numbers, for loops over what is sorted by them.
//!
//! This file stands by itself, like its neighbours: it uses one item of the module around it, `interleave`. That says what is
//! interleaved how; this takes it apart.

use super::interleave::{self, Spread};

/// The bits of a code that are those of one number.
#[derive(Debug, Clone, Copy)]
pub struct Bits {
    spread: Spread,
    /// Whether the processor takes them out in one instruction.
    in_one: bool,
}

impl Bits {
    /// Those of the number at a place among numbers below these extents; none where all need more than 64 bits, as those of
    /// no tensor do.
    pub fn of(part: usize, extents: &[usize]) -> Bits {
        let extents: Vec<u64> = extents.iter().map(|&extent| extent as u64).collect();
        Bits::at(interleave::mask(&extents, part).unwrap_or(0) as usize)
    }

    /// Those at the ones of a mask.
    pub fn at(mask: usize) -> Bits {
        Bits { spread: Spread::new(mask as u64), in_one: extracts_in_one() }
    }

    /// A mask with ones where they are.
    pub fn mask(&self) -> usize {
        self.spread.mask() as usize
    }

    /// The number that they are in a code: one instruction where the processor has it, else six steps.
    #[inline(always)]
    pub fn gather(&self, code: usize) -> usize {
        #[cfg(target_arch = "x86_64")]
        if IS_COMPILED_IN || self.in_one {
            // SAFETY: all that the instruction needs is a processor that has it. This is compiled for those alone, or asked.
            return unsafe { std::arch::x86_64::_pext_u64(code as u64, self.spread.mask()) as usize };
        }
        self.spread.compress(code as u64) as usize
    }

    /// A code with the lowest bits of a number there, and zeros elsewhere.
    #[inline(always)]
    pub fn scatter(&self, number: usize) -> usize {
        self.spread.expand(number as u64) as usize
    }
}

/// Whether all processors that this is compiled for take bits out in one instruction, and take a cycle for it: AMD's before those
/// with `vaes` take hundreds.
#[cfg(target_arch = "x86_64")]
const IS_COMPILED_IN: bool =
    cfg!(all(target_feature = "bmi2", any(not(target_feature = "sse4a"), target_feature = "vaes")));

/// Whether the processor at hand does.
#[cfg(target_arch = "x86_64")]
fn extracts_in_one() -> bool {
    is_x86_feature_detected!("bmi2") && (!is_x86_feature_detected!("sse4a") || is_x86_feature_detected!("vaes"))
}

#[cfg(not(target_arch = "x86_64"))]
fn extracts_in_one() -> bool {
    false
}
