//! The loops by hand: as one who knows Rust and sparse tensors would write them for one kernel, one format and one rank.
//!
//! Rows of dense operands are arrays of a constant length, so that no bounds are checked in inner loops; sums stay in local
//! arrays; rows and slices are divided among rayon's threads. Each function returns how long its loop took: dividing an
//! output into the rows that a slice writes comes before.

use rayon::prelude::*;
use spc::io;
use spc::tensor::{AnyTensor, Element};
use std::ops::{Add, AddAssign, Mul, Range};
use std::time::{Duration, Instant};

/// A floating-point type.
pub(crate) trait Scalar: Element + io::Value + Add<Output = Self> + Mul<Output = Self> + AddAssign {}

impl Scalar for f64 {}
impl Scalar for f32 {}

/// One compressed level.
#[derive(Clone, Copy)]
struct Level<'a> {
    positions: &'a [u32],
    coordinates: &'a [u32],
}

impl<'a> Level<'a> {
    fn of(tensor: &'a AnyTensor, level: usize) -> Self {
        let positions = tensor.positions(level).and_then(|positions| positions.as_u32());
        let coordinates = tensor.coordinates(level).and_then(|coordinates| coordinates.as_u32());
        Self {
            positions: positions.expect("a compressed level"),
            coordinates: coordinates.expect("a compressed level"),
        }
    }

    fn children(self, parent: usize) -> Range<usize> {
        self.positions[parent] as usize..self.positions[parent + 1] as usize
    }
}

fn values<T: Scalar>(tensor: &AnyTensor) -> &[T] {
    tensor.values_of().expect("the element type of the case")
}

fn rows<T: Scalar, const R: usize>(tensor: &AnyTensor) -> &[[T; R]] {
    values(tensor).as_chunks().0
}

fn timed(body: impl FnOnce()) -> Duration {
    let start = Instant::now();
    body();
    start.elapsed()
}

/// The coordinates and values of one fiber.
#[inline(always)]
fn fiber<'a, T>(level: Level<'a>, values: &'a [T], range: Range<usize>) -> impl Iterator<Item = (usize, T)> + 'a
where
    T: Scalar,
{
    level.coordinates[range.clone()].iter().map(|&coordinate| coordinate as usize).zip(values[range].iter().copied())
}

/// `sum(k)(x(k) * v(k))` over one fiber.
#[inline(always)]
fn dot_fiber<T: Scalar>(level: Level, values: &[T], range: Range<usize>, vector: &[T]) -> T {
    fiber(level, values, range).fold(T::ZERO, |sum, (coordinate, value)| sum + value * vector[coordinate])
}

/// `sum(k)(x(k) * U(k, :))` over one fiber.
#[inline(always)]
fn sum_rows<T: Scalar, const R: usize>(level: Level, values: &[T], range: Range<usize>, rows: &[[T; R]]) -> [T; R] {
    let mut sum = [T::ZERO; R];
    for (coordinate, value) in fiber(level, values, range) {
        let row = &rows[coordinate];
        for r in 0..R {
            sum[r] += value * row[r];
        }
    }
    sum
}

/// `y(i) = A(i, j) * x(j)`, and `Y(i, j) = X(i, j, k) * v(k)`: a dot product for each fiber of the last level.
pub(crate) fn ttv<T: Scalar>(x: &AnyTensor, vector: &AnyTensor, y: &mut [T]) -> Duration {
    let (level, values, vector) = (Level::of(x, x.order() - 1), values::<T>(x), values::<T>(vector));
    timed(|| {
        y.par_iter_mut().enumerate().for_each(|(parent, y)| {
            *y = dot_fiber(level, values, level.children(parent), vector);
        });
    })
}

/// `Y(i, r) = A(i, j) * X(j, r)`, and `Y(i, j, r) = X(i, j, k) * U(k, r)`: a row for each fiber of the last level.
pub(crate) fn ttm<T: Scalar, const R: usize>(x: &AnyTensor, u: &AnyTensor, y: &mut [T]) -> Duration {
    let (level, values, u) = (Level::of(x, x.order() - 1), values::<T>(x), rows::<T, R>(u));
    let y = y.as_chunks_mut::<R>().0;
    timed(|| {
        y.par_iter_mut().enumerate().for_each(|(parent, y)| {
            *y = sum_rows(level, values, level.children(parent), u);
        });
    })
}

/// `Y(i, j) = A(i, j) * B(i, k) * C(j, k)`, the dot products in lanes.
pub(crate) fn sddmm<T: Scalar, const R: usize>(a: &AnyTensor, b: &AnyTensor, c: &AnyTensor, y: &mut [T]) -> Duration {
    let (level, values) = (Level::of(a, 1), values::<T>(a));
    let (b, c) = (rows::<T, R>(b), rows::<T, R>(c));
    let mut fibers = Vec::with_capacity(b.len());
    let mut rest = y;
    for row in 0..b.len() {
        let (fiber, later) = rest.split_at_mut(level.children(row).len());
        fibers.push(fiber);
        rest = later;
    }
    timed(|| {
        fibers.par_iter_mut().zip(b).enumerate().for_each(|(row, (y, b))| {
            for (y, (column, value)) in y.iter_mut().zip(fiber(level, values, level.children(row))) {
                *y = value * dot(b, &c[column]);
            }
        });
    })
}

#[inline(always)]
fn dot<T: Scalar, const R: usize>(left: &[T; R], right: &[T; R]) -> T {
    let mut lanes = [T::ZERO; 8];
    for (left, right) in left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0) {
        for lane in 0..8 {
            lanes[lane] += left[lane] * right[lane];
        }
    }
    lanes.into_iter().fold(T::ZERO, |sum, lane| sum + lane)
}

/// `sum(j)(child(j) * B(j, :))` over the children of one position above the last level.
#[inline(always)]
fn sum_children<T: Scalar, const R: usize>(
    level: Level,
    range: Range<usize>,
    rows: &[[T; R]],
    child: impl Fn(usize) -> [T; R],
) -> [T; R] {
    let mut sum = [T::ZERO; R];
    for position in range {
        let product = child(position);
        let row = &rows[level.coordinates[position] as usize];
        for r in 0..R {
            sum[r] += product[r] * row[r];
        }
    }
    sum
}

/// `A(i, r) = X(i, j, k) * B(j, r) * C(k, r)` over compressed fibers, and the same of orders 4 and 5: the sum over each fiber
/// is formed before it is multiplied by what its mode above has.
pub(crate) fn mttkrp<T: Scalar, const R: usize>(x: &AnyTensor, factors: &[AnyTensor], a: &mut [T]) -> Duration {
    let factor = |mode: usize| rows::<T, R>(&factors[mode - 1]);
    let level = |level: usize| Level::of(x, level);
    let last = x.order() - 1;
    let (fibers, values, fiber_rows) = (level(last), values::<T>(x), factor(last));
    let fiber = |position: usize| sum_rows(fibers, values, fibers.children(position), fiber_rows);
    let (second, second_rows) = (level(1), factor(1));
    match x.order() {
        3 => slices(x, a, |slice| sum_children(second, second.children(slice), second_rows, fiber)),
        4 => {
            let (third, third_rows) = (level(2), factor(2));
            let inner = |position| sum_children(third, third.children(position), third_rows, fiber);
            slices(x, a, |slice| sum_children(second, second.children(slice), second_rows, inner))
        }
        5 => {
            let (third, third_rows, fourth, fourth_rows) = (level(2), factor(2), level(3), factor(3));
            let innermost = |position| sum_children(fourth, fourth.children(position), fourth_rows, fiber);
            let inner = |position| sum_children(third, third.children(position), third_rows, innermost);
            slices(x, a, |slice| sum_children(second, second.children(slice), second_rows, inner))
        }
        order => unreachable!("cases are of order 3 to 5, not {order}"),
    }
}

/// A row of the output for each stored slice.
fn slices<T: Scalar, const R: usize>(
    x: &AnyTensor,
    a: &mut [T],
    slice: impl Fn(usize) -> [T; R] + Sync + Send,
) -> Duration {
    let mut stored = Level::of(x, 0).coordinates.iter().copied().peekable();
    let rows = (0u32..).zip(a.as_chunks_mut::<R>().0);
    let mut rows: Vec<&mut [T; R]> =
        rows.filter(|(row, _)| stored.next_if_eq(row).is_some()).map(|(_, row)| row).collect();
    timed(|| rows.par_iter_mut().enumerate().for_each(|(position, row)| **row = slice(position)))
}
