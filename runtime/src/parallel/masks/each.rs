//! The elements of short arrays, one by one, in line.
//!
//! What the standard library has for that are functions of their own to compilers that share generic code between crates, as kernels
//! and what they call do: a call in each step of a loop, and its registers in memory.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

/// What a function makes of each element.
#[inline(always)]
pub(super) fn each<T: Copy, U: Copy, const N: usize>(of: [T; N], change: impl Fn(T) -> U) -> [U; N] {
    let mut made = [change(of[0]); N];
    let mut place = 1;
    while place < N {
        made[place] = change(of[place]);
        place += 1;
    }
    made
}
