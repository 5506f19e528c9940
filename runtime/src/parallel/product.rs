//! Products that are added to sums, which is what most loops over numbers do.

/// A number type whose processors may multiply and add in one instruction.
pub trait Fused: Copy {
    /// `self * by + to`, rounded once or twice, whichever takes less time.
    fn multiply_add(self, by: Self, to: Self) -> Self;

    /// `self * by + to`, rounded once: fast where the processor that is compiled for has an instruction for it.
    fn fused(self, by: Self, to: Self) -> Self;
}

macro_rules! fused {
    ($($type:ty)*) => {
        $(impl Fused for $type {
            #[inline(always)]
            fn multiply_add(self, by: Self, to: Self) -> Self {
                // Elsewhere `mul_add` is a function that takes a hundred times as long.
                if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
                    self.mul_add(by, to)
                } else {
                    self * by + to
                }
            }

            #[inline(always)]
            fn fused(self, by: Self, to: Self) -> Self {
                self.mul_add(by, to)
            }
        })*
    };
}

fused!(f32 f64);

/// `sum += one * other`
///
/// ```
/// let mut sum = 1.0;
/// spc::parallel::add_product(&mut sum, 2.0, 3.0);
/// assert_eq!(sum, 7.0);
/// ```
#[inline(always)]
pub fn add_product<T: Fused>(sum: &mut T, one: T, other: T) {
    *sum = one.multiply_add(other, *sum);
}
