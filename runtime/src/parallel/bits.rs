//! Bits of interleaved numbers, for loops over what is sorted by them.
//!
//! This file stands by itself, like its neighbours: it uses what stands beside it, `interleave`, which says what is interleaved
//! how, and the types of coordinates. This takes codes apart.

use super::coordinate::Coordinate;
use super::interleave::{self, Spread};

/// The bits of a code that are those of one number.
pub type Bits = BitsOf<false>;

/// As [`Bits`], `IN_ONE`: where all processors that what uses it is compiled for take bits out in one instruction.
#[derive(Debug, Clone, Copy)]
pub struct BitsOf<const IN_ONE: bool> {
    spread: Spread,
    /// Whether the processor takes them out in one instruction.
    #[cfg(target_arch = "x86_64")]
    in_one: bool,
}

impl<const IN_ONE: bool> BitsOf<IN_ONE> {
    /// Those of the number at a place among numbers below these extents; none where all need more than 64 bits, as those of
    /// no tensor do.
    ///
    /// # Panics
    /// As [`BitsOf::at`].
    pub fn of(part: usize, extents: &[usize]) -> Self {
        let extents: Vec<u64> = extents.iter().map(|&extent| extent as u64).collect();
        Self::at(interleave::mask(&extents, part).unwrap_or(0) as usize)
    }

    /// Those at the ones of a mask.
    ///
    /// # Panics
    /// When this processor is to take them out in one instruction, and has none for it.
    pub fn at(mask: usize) -> Self {
        assert!(!IN_ONE || has_instruction(), "a processor with an instruction that takes bits out");
        Self {
            spread: Spread::new(mask as u64),
            #[cfg(target_arch = "x86_64")]
            in_one: extracts_in_one(),
        }
    }

    /// A mask with ones where they are.
    pub fn mask(&self) -> usize {
        self.spread.mask() as usize
    }

    /// The number that they are in a code: one instruction where the processor has it, else six steps.
    #[inline(always)]
    pub fn gather(&self, code: usize) -> usize {
        #[cfg(target_arch = "x86_64")]
        if IS_COMPILED_IN || IN_ONE || self.in_one {
            // SAFETY: all that the instruction needs is a processor that has it. This is compiled for those alone, or asked here, or by `at`.
            return unsafe { std::arch::x86_64::_pext_u64(code as u64, self.spread.mask()) as usize };
        }
        self.spread.compress(code as u64) as usize
    }

    /// The numbers that they are in some codes, each of which has to be below a bound: whoever has an array of that length has an element
    /// for each, and the compiler knows.
    ///
    /// ```
    /// use spc::parallel::Bits;
    ///
    /// let numbers = Bits::at(0b1010).numbers(&[0b0110_u64, 0b0111, 0b1001], 4);
    /// assert_eq!([0, 1, 2].map(|place| numbers.at(place)), [1, 1, 2]);
    /// ```
    #[inline(always)]
    pub fn numbers<'a, C: Coordinate, const COUNT: usize>(
        &self,
        codes: &'a [C; COUNT],
        below: usize,
    ) -> Numbers<'a, C, COUNT, IN_ONE> {
        Numbers { bits: *self, codes, below }
    }

    /// A code with the lowest bits of a number there, and zeros elsewhere.
    #[inline(always)]
    pub fn scatter(&self, number: usize) -> usize {
        self.spread.expand(number as u64) as usize
    }
}

/// The numbers that are in some codes, of which each is taken out where it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Numbers<'a, C, const COUNT: usize, const IN_ONE: bool = false> {
    bits: BitsOf<IN_ONE>,
    codes: &'a [C; COUNT],
    below: usize,
}

impl<C: Coordinate, const COUNT: usize, const IN_ONE: bool> Numbers<'_, C, COUNT, IN_ONE> {
    /// The number in the code at a place.
    ///
    /// # Panics
    /// When there is no such code, or its number is not below the bound.
    #[inline(always)]
    pub fn at(&self, place: usize) -> usize {
        // What is checked is what was read: the memory of codes may be somebody else's, who writes to it meanwhile.
        let code = self.codes[place].place();
        let number = self.bits.gather(code);
        if number >= self.below {
            too_large(number, code, self.below);
        }
        number
    }
}

/// How many of the lowest bits of a number, as many as `count` and fewer than 64, are ones.
#[inline(always)]
pub fn rank(bits: usize, count: usize) -> usize {
    (bits & ((1 << count) - 1)).count_ones() as usize
}

#[cold]
#[inline(never)]
fn too_large(number: usize, code: usize, below: usize) -> ! {
    panic!("the number {number} in the code {code} is not below {below}")
}

/// Whether all processors that this is compiled for take bits out in one instruction, and take a cycle for it: AMD's before those
/// with `vaes` take hundreds.
#[cfg(target_arch = "x86_64")]
const IS_COMPILED_IN: bool =
    cfg!(all(target_feature = "bmi2", any(not(target_feature = "sse4a"), target_feature = "vaes")));

/// Whether this processor has the instruction, however long it takes.
fn has_instruction() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    let has = true;
    has
}

/// Whether the processor at hand does.
#[cfg(target_arch = "x86_64")]
fn extracts_in_one() -> bool {
    is_x86_feature_detected!("bmi2") && (!is_x86_feature_detected!("sse4a") || is_x86_feature_detected!("vaes"))
}
