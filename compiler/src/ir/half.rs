//! Numbers of two bytes, which are stored as such and computed with as `f32`: their bits to and from those.
//!
//! This file stands by itself: kernels are compiled with it at run time too. The functions have no branches that depend on values
//! but selections, so that loops over them become vector instructions.

/// The value of an IEEE binary16 number: exact. The payload of NaN stays.
#[inline(always)]
pub fn f32_of_f16(bits: u16) -> f32 {
    const POWER: f32 = f32::from_bits((254 - 15) << 23);
    let magnitude = u32::from(bits & 0x7fff) << 13;
    // The exponent is less by 112, also that of numbers near zero, which the multiplication makes normal.
    let value = (f32::from_bits(magnitude) * POWER).to_bits();
    let infinite = if magnitude >= 0x7c00 << 13 { magnitude | 0x7f80_0000 } else { value };
    f32::from_bits(infinite | u32::from(bits & 0x8000) << 16)
}

/// The nearest IEEE binary16 number, of two the even one; infinite beyond the largest.
#[inline(always)]
pub fn f16_of_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Added to a half, numbers near zero have their last bits where those of the result are, rounded.
    let near_zero = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff).wrapping_add(magnitude >> 13 & 1) >> 13;
    let payload = magnitude >> 13 & 0x3ff;
    let not_a_number = 0x7c00 | if payload == 0 { 1 } else { payload };
    let finite = if magnitude < 113 << 23 { near_zero } else { normal };
    let beyond = if magnitude > 0x7f80_0000 { not_a_number } else { 0x7c00 };
    let half = if magnitude >= 143 << 23 { beyond } else { finite };
    half as u16 | (bits >> 16) as u16 & 0x8000
}

/// The value of a bfloat16 number, the upper half of an `f32`: exact.
#[inline(always)]
pub fn f32_of_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The nearest bfloat16 number, of two the even one; infinite beyond the largest.
#[inline(always)]
pub fn bf16_of_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let upper = (bits >> 16) as u16;
    let rounded = (bits.wrapping_add(0x7fff).wrapping_add(bits >> 16 & 1) >> 16) as u16;
    let not_a_number = if upper & 0x7f == 0 { upper | 1 } else { upper };
    if bits & 0x7fff_ffff > 0x7f80_0000 { not_a_number } else { rounded }
}
