//! The helpers for functions that are compiled for processors that multiply and add in one instruction, whatever the crate is
//! compiled for: those of `tensor_kernel!` that are chosen when they are called.

pub use super::*;

#[cfg(target_arch = "x86_64")]
use super::dot::LONG;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
use super::{lanes::TermInLanes, wide::Lanes};

/// As [`super::add_product`], in one instruction. Elsewhere than in such functions it is a call that takes a hundred times as long.
#[inline(always)]
pub fn add_product<T: Fused>(sum: &mut T, one: T, other: T) {
    *sum = if cfg!(target_arch = "x86_64") { one.fused(other, *sum) } else { one.multiply_add(other, *sum) };
}

/// As [`super::run`]. The sum of the products of two such runs is formed in vectors of AVX2, where the processor has it: compilers make
/// none of a sum of floating point numbers, whose order they keep.
#[inline(always)]
pub fn run<T: Dot>(elements: &[T]) -> Terms<Row<'_, T>> {
    Terms(Row(elements))
}

/// What [`run`] gives.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a, T>(&'a [T]);

impl<T: Dot> Term for Row<'_, T> {
    type Number = T::Number;

    const IS_GATHERED: bool = false;

    #[inline(always)]
    fn length(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn part(self, first: usize, length: usize) -> Self {
        Row(&self.0[first..first + length])
    }

    #[inline(always)]
    fn get(self, place: usize) -> T::Number {
        self.0[place].loaded()
    }

    #[inline(always)]
    fn wide_row(&self) -> Option<&[T::Number]> {
        T::wide(self.0)
    }

    #[inline(always)]
    fn dot(self, row: &[T::Number]) -> Option<T::Number> {
        T::dot(self.0, row)
    }
}

#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
impl<T: Dot> TermInLanes<T::Number> for Row<'_, T> {
    type Within = Self;

    #[inline(always)]
    fn fetch(self, place: usize) {
        super::run(self.0).0.fetch(place);
    }

    #[inline(always)]
    fn within<L: Lanes<Number = T::Number>>(self) -> Option<Self> {
        Some(self)
    }

    #[inline(always)]
    fn lanes<L: Lanes<Number = T::Number>>(self) -> L {
        super::run(self.0).0.lanes()
    }
}

/// Elements of which rows are multiplied.
pub trait Dot: Stored {
    /// The elements, where they are numbers of which there are such vectors.
    #[inline(always)]
    fn wide(_: &[Self]) -> Option<&[Self::Number]> {
        None
    }

    /// The sum of the products of two rows; `None` where there is nothing better than one after the other.
    #[inline(always)]
    fn dot(_: &[Self], _: &[Self::Number]) -> Option<Self::Number> {
        None
    }
}

macro_rules! others {
    ($($number:ident)*) => {
        $(impl Dot for $number {})*
    };
}

others!(i8 i16 i32 i64 u8 u16 u32 u64 bool f16 bf16);
#[cfg(not(target_arch = "x86_64"))]
others!(f32 f64);

#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::{Dot, LONG};
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::*;

    /// As many lanes are taken as any vector here may have: the last ones, of which some are none, are loaded under a mask.
    static MASK: [i64; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    static MASK_OF_HALVES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

    macro_rules! dots {
        ($($number:ident $name:ident $lanes:literal $vector:ident $zero:ident $load:ident $masked:ident $add_product:ident $add:ident $mask:ident;)*) => {
            $(impl Dot for $number {
                #[inline(always)]
                fn wide(row: &[Self]) -> Option<&[Self]> {
                    Some(row)
                }

                #[inline(always)]
                fn dot(one: &[Self], other: &[Self]) -> Option<Self> {
                    // Longer sums are formed in parts.
                    let is_short = one.len() == other.len() && one.len() <= LONG * $lanes;
                    // SAFETY: the processor has what the function is compiled for.
                    (is_short && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"))
                        .then(|| unsafe { $name(one, other) })
                }
            }

            /// # Safety
            /// The rows are as long as each other.
            #[target_feature(enable = "avx2,fma")]
            #[inline]
            unsafe fn $name(one: &[$number], other: &[$number]) -> $number {
                let length = one.len();
                let (one, other) = (one.as_ptr(), other.as_ptr());
                let (mut sums, mut others): ($vector, $vector) = ($zero(), $zero());
                let mut place = 0;
                // SAFETY: each load is of lanes before `length`, or those that are not are masked; masks lie in their table, as fewer
                // lanes are left than a vector has.
                unsafe {
                    while place + 2 * $lanes <= length {
                        sums = $add_product($load(one.add(place)), $load(other.add(place)), sums);
                        let next = place + $lanes;
                        others = $add_product($load(one.add(next)), $load(other.add(next)), others);
                        place += 2 * $lanes;
                    }
                    if place + $lanes <= length {
                        sums = $add_product($load(one.add(place)), $load(other.add(place)), sums);
                        place += $lanes;
                    }
                    if place < length {
                        let mask = _mm256_loadu_si256($mask.as_ptr().add(8 - (length - place)).cast());
                        let (last, other) = ($masked(one.add(place), mask), $masked(other.add(place), mask));
                        others = $add_product(last, other, others);
                    }
                }
                $add(sums, others)
            })*
        };
    }

    dots! {
        f64 dot_of_double 4 __m256d _mm256_setzero_pd _mm256_loadu_pd _mm256_maskload_pd _mm256_fmadd_pd add_double MASK;
        f32 dot_of_single 8 __m256 _mm256_setzero_ps _mm256_loadu_ps _mm256_maskload_ps _mm256_fmadd_ps add_single MASK_OF_HALVES;
    }

    /// The sum of all lanes of two vectors.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn add_double(one: __m256d, other: __m256d) -> f64 {
        let all = _mm256_add_pd(one, other);
        let two = _mm_add_pd(_mm256_castpd256_pd128(all), _mm256_extractf128_pd::<1>(all));
        _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
    }

    /// The sum of all lanes of two vectors.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn add_single(one: __m256, other: __m256) -> f32 {
        let all = _mm256_add_ps(one, other);
        let four = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_rows_of_any_length() {
        for length in (0..70).chain([255, 256, 257, 511, 512, 513, 1000]) {
            let (one, other): (Vec<f64>, Vec<f64>) =
                (0..length).map(|place| (f64::from(place % 7) - 3.0, f64::from(place % 5) - 1.5)).unzip();
            let expected: f64 = one.iter().zip(&other).map(|(one, other)| one * other).sum();
            assert_eq!(run(&one).times(run(&other)).sum(), expected, "{length}");
            // A run of a longer array may begin anywhere.
            let part = length as usize / 3;
            let of_part: f64 = one[part..].iter().zip(&other[part..]).map(|(one, other)| one * other).sum();
            assert_eq!(run(&one[part..]).times(run(&other[part..])).sum(), of_part, "{length}");
            let single = |row: &[f64]| row.iter().map(|&number| number as f32).collect::<Vec<f32>>();
            assert_eq!(run(&single(&one)).times(run(&single(&other))).sum(), expected as f32, "{length}");
        }
        assert_eq!(run(&[2_i32, 3]).times(run(&[5, 7])).sum(), 31);
        assert_eq!(run(&[1.0, 2.0]).plus(run(&[3.0, 4.0])).sum(), 10.0);
    }
}
