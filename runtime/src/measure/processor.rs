//! Loops that are compiled for several kinds of processor, of which the one at hand is chosen: what this crate is compiled for
//! may be much less than the machine can do.

/// Defines a function in a version for AVX-512, one for AVX2 and one for any processor. In the body, `FUSED` says whether
/// products and sums are one instruction.
macro_rules! for_this_processor {
    ($(#[$doc:meta])* $vis:vis fn $name:ident $(<const $n:ident: usize>)? ($($argument:ident: $type:ty),*) -> $result:ty $body:block) => {
        $(#[$doc])*
        $vis fn $name $(<const $n: usize>)? ($($argument: $type),*) -> $result {
            #[inline(always)]
            #[allow(dead_code, reason = "not every body asks")]
            fn any<const FUSED: bool $(, const $n: usize)?>($($argument: $type),*) -> $result $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn avx512 $(<const $n: usize>)? ($($argument: $type),*) -> $result { any::<true $(, $n)?>($($argument),*) }
                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<const $n: usize>)? ($($argument: $type),*) -> $result { any::<true $(, $n)?>($($argument),*) }
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the function's only requirement is this feature, which the processor has.
                    return unsafe { avx512 $(::<$n>)? ($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: as above, for these two features.
                    return unsafe { avx2 $(::<$n>)? ($($argument),*) };
                }
            }
            any::<{ cfg!(target_arch = "aarch64") } $(, $n)?>($($argument),*)
        }
    };
}

for_this_processor! {
    /// `a = b + factor c`, as in the STREAM benchmark (McCalpin 1995).
    pub(super) fn triad(a: &mut [f64], b: &[f64], c: &[f64], factor: f64) -> () {
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            *a = b + factor * c;
        }
    }
}

/// Sums that run side by side.
const LANES: usize = 64;

for_this_processor! {
    /// The sum of all.
    pub(super) fn read(values: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        for chunk in values.chunks_exact(LANES) {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += value;
            }
        }
        sums.iter().sum()
    }
}

for_this_processor! {
    /// The sums of rows, `ROW` elements each.
    pub(super) fn gather<const ROW: usize>(table: &[f64], rows: &[u32]) -> f64 {
        let (table, _) = table.as_chunks::<ROW>();
        let mut sums = [0.0; ROW];
        for &row in rows {
            for (sum, value) in sums.iter_mut().zip(&table[row as usize]) {
                *sum += value;
            }
        }
        sums.iter().sum()
    }
}

/// How many vectors of 512 bits [`operate_f64`] and [`operate_f32`] work on: enough for all units.
const NUMBERS: usize = 12;

macro_rules! operate {
    ($name:ident, $type:ty, $lanes:literal) => {
        for_this_processor! {
            /// Products and sums in registers, so many times; gives something that depends on all.
            pub(super) fn $name(times: usize, factor: $type, summand: $type) -> $type {
                // In one array: of an array of arrays, LLVM takes a number of each at a time, by gathers.
                let mut numbers = [summand; $lanes * NUMBERS];
                for _ in 0..times {
                    for number in &mut numbers {
                        *number = if FUSED { number.mul_add(factor, summand) } else { *number * factor + summand };
                    }
                }
                numbers.iter().sum()
            }
        }
    };
}
operate!(operate_f64, f64, 8);
operate!(operate_f32, f32, 16);

/// The operations of one turn of [`operate_f64`].
pub(super) const OPERATIONS_F64: usize = 2 * NUMBERS * 8;
/// The operations of one turn of [`operate_f32`].
pub(super) const OPERATIONS_F32: usize = 2 * NUMBERS * 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_compute_what_they_say() {
        let (b, c): (Vec<f64>, Vec<f64>) = ((0..200).map(f64::from).collect(), vec![2.0; 200]);
        let mut a = vec![0.0; 200];
        triad(&mut a, &b, &c, 10.0);
        assert!(a.iter().zip(&b).all(|(a, b)| *a == b + 20.0));
        assert_eq!(read(&b[..128]), 127.0 * 64.0);
        assert_eq!(gather::<2>(&b, &[0, 99, 99]), 1.0 + 2.0 * (198.0 + 199.0));
        assert_eq!(operate_f64(1, 2.0, 1.0), (NUMBERS * 8) as f64 * 3.0);
        assert_eq!(operate_f32(2, 2.0, 1.0), (NUMBERS * 16) as f32 * 7.0);
    }
}
