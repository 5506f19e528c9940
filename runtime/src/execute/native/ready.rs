//! What kernels of the usual types call seldom, compiled with the helpers: a kernel's own library then has no copy of it to compile.
//!
//! This only works where the compiler is told to look for such code in the libraries that it links to. Loops that run as long as there is
//! data are not among it: they are inlined into the kernel, and compiled with it.

use crate::parallel::{
    Chunks, Joined, JoinedPositions, Number, Owned, Partial, Plain, Position, Private, Segmented, Table, Taken,
    TakenSegments, array, at, extend, run,
};
use std::ptr::drop_in_place;

/// Functions are compiled where something takes their addresses.
macro_rules! addresses {
    ($($function:expr),* $(,)?) => {
        [$($function as *const () as usize),*].iter().fold(0, |all, one| all ^ one)
    };
}

fn arrays<T: Plain + Send + Sync + 'static>() -> usize {
    addresses![
        Chunks::owned::<T>,
        Owned::<T>::take,
        drop_in_place::<Owned<'static, T>>,
        Chunks::segmented::<T>,
        Chunks::segmented_anew::<T>,
        Segmented::<T>::take,
        Segmented::<T>::combine,
        drop_in_place::<Segmented<'static, T>>,
        drop_in_place::<TakenSegments<'static, 'static, T>>,
        Chunks::private::<T>,
        Private::<T>::combine,
        drop_in_place::<Private<'static, T>>,
        Chunks::joined::<T>,
        Joined::<T>::take,
        Joined::<T>::join,
        Joined::<T>::lengths,
        drop_in_place::<Joined<T>>,
        drop_in_place::<Taken<'static, T>>,
        Chunks::partial::<T>,
        Partial::<T>::set,
        array::<T, 1>,
        array::<T, 2>,
        extend::<T, 1>,
        extend::<T, 2>,
    ]
}

fn positions<T: Position + 'static>() -> usize {
    addresses![
        Chunks::joined_positions::<T>,
        JoinedPositions::<T>::take,
        JoinedPositions::<T>::join,
        drop_in_place::<JoinedPositions<T>>,
    ]
}

fn dot<T: Number>(values: &[T], coordinates: &[u32], of: &[T], positions: &[u32], sums: &mut [T]) -> T {
    run(values).times(at(of, coordinates)).sums_between(positions, sums);
    run(values).times(at(of, coordinates)).sum()
}

/// Nothing calls it.
#[inline(never)]
pub fn ready() -> usize {
    let others = addresses![Table::new::<1>, Table::new::<2>, dot::<f32>, dot::<f64>];
    arrays::<f64>() ^ arrays::<f32>() ^ arrays::<u32>() ^ positions::<u32>() ^ others
}
