//! Bits of several numbers in one: Morton order, adapted to numbers of different width.
//!
//! From the least significant bit up, each number gives its lowest bit that is left, the narrowest number first, until all
//! are used up. So the bits that only long modes have come outermost, and no bit is wasted:
//!
//! ```text
//! extents 4, 8, 2      bits  aa bbb c      code  b b a b a c       (b2 b1 a1 b0 a0 c0)
//! ```
//!
//! Helal, Laukemann, Checconi, Tithi, Ranadive, Petrini, Choi: *ALTO: Adaptive Linearized Storage of Sparse Tensors* (2021), §3.1.
//! With numbers of equal width this is Morton's order.

/// The bits that numbers below an extent need.
pub fn width(extent: u64) -> u32 {
    64 - extent.saturating_sub(1).leading_zeros()
}

/// For each number, given the bits that it has, the bits that it takes in the code: lowest first.
pub fn places(widths: &[u32]) -> Vec<Vec<u32>> {
    let mut narrowest: Vec<usize> = (0..widths.len()).collect();
    narrowest.sort_by_key(|&number| widths[number]);
    let mut places = vec![Vec::new(); widths.len()];
    let mut next = 0;
    for bit in 0..widths.iter().copied().max().unwrap_or(0) {
        for &number in narrowest.iter().filter(|&&number| bit < widths[number]) {
            places[number].push(next);
            next += 1;
        }
    }
    places
}

/// Bits moved to and from the ones of a mask, without a branch: `expand` and `compress` of Warren, *Hacker's Delight* (2013),
/// §7-4 and §7-5. Compilers make vector code of loops over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    mask: u64,
    /// The bits that move by 1, 2, 4, … places.
    moves: [u64; MOVES],
}

/// The steps in which 64 bits are brought side by side.
pub const MOVES: usize = 6;

impl Spread {
    /// To and from the ones of `mask`.
    pub fn new(mask: u64) -> Self {
        let mut moves = [0; MOVES];
        let (mut rest, mut zeros) = (mask, !mask << 1);
        for (step, moved) in moves.iter_mut().enumerate() {
            // Whether the number of zeros below each bit is odd.
            let parity = [1, 2, 4, 8, 16, 32].into_iter().fold(zeros, |parity, shift| parity ^ (parity << shift));
            *moved = parity & rest;
            rest = rest ^ *moved | (*moved >> (1 << step));
            zeros &= !parity;
        }
        Self { mask, moves }
    }

    /// The mask.
    #[inline]
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// The bits that move by 1, 2, 4, … places, of those that the steps before have left, in [`Spread::compress`].
    #[inline]
    pub fn moves(&self) -> [u64; MOVES] {
        self.moves
    }

    /// The lowest bits of a number, at the ones of the mask.
    #[inline]
    pub fn expand(&self, number: u64) -> u64 {
        let mut bits = number;
        for (step, &moved) in self.moves.iter().enumerate().rev() {
            let shifted = bits << (1 << step);
            bits = (bits & !moved) | (shifted & moved);
        }
        bits & self.mask
    }

    /// The bits at the ones of the mask, side by side.
    #[inline]
    pub fn compress(&self, bits: u64) -> u64 {
        let mut number = bits & self.mask;
        for (step, &moved) in self.moves.iter().enumerate() {
            let moving = number & moved;
            number = number ^ moving | (moving >> (1 << step));
        }
        number
    }
}

/// What interleaves numbers below these extents: for each the bits that it takes, or how many they need where that is more
/// than 64.
pub fn spreads(extents: &[u64]) -> Result<Vec<Spread>, u32> {
    let widths: Vec<u32> = extents.iter().map(|&extent| width(extent)).collect();
    let bits: u32 = widths.iter().sum();
    if bits > 64 {
        return Err(bits);
    }
    let mask = |places: &Vec<u32>| places.iter().fold(0, |mask, place| mask | 1 << place);
    Ok(places(&widths).iter().map(|places| Spread::new(mask(places))).collect())
}

/// The bits that the number at a place takes among numbers below these extents; `None` where there is no such number, or all
/// need more than 64 bits.
pub fn mask(extents: &[u64], part: usize) -> Option<u64> {
    Some(spreads(extents).ok()?.get(part)?.mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_the_longest_come_outermost() {
        assert_eq!(places(&[2, 3, 1]), [vec![1, 3], vec![2, 4, 5], vec![0]]);
        assert_eq!(places(&[2, 2]), [[0, 2], [1, 3]]);
        assert_eq!(places(&[0, 2]), [vec![], vec![0, 1]]);
        assert!(places(&[]).is_empty());
        assert_eq!([0, 1, 2, 3, 4, 5, u64::MAX].map(width), [0, 0, 1, 2, 2, 3, 64]);
    }

    #[test]
    fn bits_come_back_from_where_they_were_put() {
        let mut mask = 0x9e37_79b9_7f4a_7c15u64;
        for round in 0..200 {
            mask = mask.rotate_left(7).wrapping_mul(0xd134_2543_de82_ef95) ^ round;
            for mask in [mask, mask & mask >> 1, !(mask & mask << 3), 0, u64::MAX, 1, 1 << 63] {
                let spread = Spread::new(mask);
                for number in [0, 1, 0x1234_5678_9abc_def0, u64::MAX, mask] {
                    let kept = if mask.count_ones() == 64 { number } else { number & ((1 << mask.count_ones()) - 1) };
                    let bits = spread.expand(number);
                    assert_eq!(bits & !mask, 0);
                    assert_eq!(spread.compress(bits), kept, "{mask:x} {number:x}");
                    assert_eq!(spread.compress(bits | !mask), kept);
                }
                assert_eq!(spread.expand(u64::MAX), mask);
                assert_eq!(spread.expand(1), mask & mask.wrapping_neg());
            }
        }
    }

    #[test]
    fn a_code_has_at_most_64_bits() {
        assert!(spreads(&[1 << 32, 1 << 32]).is_ok());
        assert_eq!(spreads(&[1 << 32, 1 << 32, 2]), Err(65));
    }
}
