//! What is [`Ready`]: loops for the processor that runs them.
//!
//! A call of one goes through many rows, so that asking the processor takes no time that counts. Kernels of
//! [`tensor_kernel!`](crate::tensor_kernel) call them; those that are compiled when a program runs have all its instructions anyway.

use super::combine::Sum;
use super::dot::{at, reduce_each, run};
#[cfg(target_arch = "x86_64")]
use super::masked;
use super::ready::Ready;
#[cfg(target_arch = "x86_64")]
use crate::processor::{Vectors, vectors};
#[cfg(target_arch = "x86_64")]
use std::arch::is_x86_feature_detected as has;

macro_rules! ready {
    ($($number:ident $sums:ident;)*) => {
        $(impl Ready for $number {
            #[inline(always)]
            fn sums_of_products(
                values: &[Self],
                of: &[Self],
                coordinates: &[u32],
                positions: &[u32],
                sums: &mut [Self],
            ) -> bool {
                $sums(values, of, coordinates, positions, sums);
                true
            }
        }

        #[inline(never)]
        fn $sums(values: &[$number], of: &[$number], coordinates: &[u32], positions: &[u32], sums: &mut [$number]) {
            #[cfg(target_arch = "x86_64")]
            if vectors() == Vectors::Widest && has!("popcnt") && has!("sse4a") {
                // SAFETY: the processor has what the function is compiled for.
                return unsafe { masked::$sums(values, of, coordinates, positions, sums) };
            }
            reduce_each::<Sum, _, _>(run(values).times(at(of, coordinates)).0, positions, sums);
        })*
    };
}

ready! {
    f32 sums_of_f32;
    f64 sums_of_f64;
}

macro_rules! none {
    ($($number:ident)*) => {
        $(impl Ready for $number {})*
    };
}

none!(i8 i16 i32 i64 u8 u16 u32 u64 bool);

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    /// Rows of these lengths in turns, with values and coordinates that differ; whole numbers, whose sums are exact.
    fn rows(lengths: &[usize], count: usize, columns: usize) -> (Vec<u32>, Vec<u32>, Vec<f64>) {
        let mut positions = vec![0];
        (0..count).for_each(|row| positions.push(positions[row] + lengths[row % lengths.len()] as u32));
        let entries = 0..positions[count] as usize;
        let coordinates = entries.clone().map(|entry| ((entry * 7919 + entry / 13) % columns) as u32).collect();
        (positions, coordinates, entries.map(|entry| (entry % 31) as f64 - 15.0).collect())
    }

    #[test]
    fn sums_are_those_of_each_row() {
        let lengths: [&[usize]; 8] =
            [&[0], &[1], &[3, 5, 0, 8], &[7, 9], &[2, 4, 6, 1, 70], &[16, 17, 15], &[0, 0, 40, 1, 2, 3, 300], &[700]];
        for (lengths, count) in
            lengths.into_iter().flat_map(|lengths| [1, 7, 8, 100, 300, 1000].map(|count| (lengths, count)))
        {
            let (positions, coordinates, values) = rows(lengths, count, 501);
            let of: Vec<f64> = (0..501).map(|column| f64::from(column % 17)).collect();
            let row = |row: usize| positions[row] as usize..positions[row + 1] as usize;
            let term = |entry: usize| values[entry] * of[coordinates[entry] as usize];
            let expected: Vec<f64> = (0..count).map(|number| row(number).map(term).sum()).collect();
            let mut sums = vec![f64::NAN; count];
            assert!(f64::sums_of_products(&values, &of, &coordinates, &positions, &mut sums));
            assert_eq!(sums, expected, "{count} rows of {lengths:?}");
            let narrow = |numbers: &[f64]| -> Vec<f32> { numbers.iter().map(|&number| number as f32).collect() };
            let mut sums = vec![f32::NAN; count];
            assert!(f32::sums_of_products(&narrow(&values), &narrow(&of), &coordinates, &positions, &mut sums));
            assert_eq!(sums, narrow(&expected), "{count} rows of {lengths:?}");
        }
    }

    #[test]
    fn what_lies_beyond_an_array_is_refused() {
        let (positions, coordinates, values) = rows(&[3, 5, 0, 8], 400, 100);
        let sums = |positions: &[u32], coordinates: &[u32], columns: usize| {
            let (values, of) = (&values, vec![1.0; columns]);
            catch_unwind(|| sums_of_f64(values, &of, coordinates, positions, &mut vec![0.0; positions.len() - 1]))
        };
        assert!(sums(&positions, &coordinates, 100).is_ok());
        let last = coordinates.iter().max().expect("there are some");
        assert!(sums(&positions, &coordinates, *last as usize).is_err(), "a coordinate beyond the array");
        for place in [1, 200, 400] {
            let mut beyond = positions.clone();
            beyond[place] = u32::MAX;
            assert!(sums(&beyond, &coordinates, 100).is_err(), "a position beyond the run");
        }
    }
}
