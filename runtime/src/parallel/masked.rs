//! The loops of processors with AVX-512 that load elements one by one in less time than they gather them, whatever the crate is
//! compiled for: the same files once more, of which the functions here and those that they call are compiled for such processors.

// What they have for other kernels is of no use here.
#![allow(clippy::duplicate_mod, dead_code, unreachable_pub)]

use super::{combine, coordinate, half, ready, threads};

#[path = "dot.rs"]
mod dot;
#[path = "masks/mod.rs"]
mod masks;

mod loads {
    pub(super) const ONE_BY_ONE: bool = true;
}

mod loops {
    pub(super) use super::masks::{StoredInLanes, TermInLanes, Wide, combine_in_turns, reduce};
}

macro_rules! sums {
    ($($sums:ident $number:ident;)*) => {
        $(
            /// # Panics
            /// As [`ready::Ready::sums_of_products`].
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
            #[inline(never)]
            pub(super) fn $sums(
                values: &[$number],
                of: &[$number],
                coordinates: &[u32],
                positions: &[u32],
                sums: &mut [$number],
            ) {
                let products = dot::run(values).times(dot::at(of, coordinates));
                masks::reduce_between::<combine::Sum, _, _>(products.0, positions, sums);
            }
        )*
    };
}

sums! {
    sums_of_f32 f32;
    sums_of_f64 f64;
}
