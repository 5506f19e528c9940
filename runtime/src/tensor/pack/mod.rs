//! From a list of entries to storage of any format.
//!
//! 1. Indices are checked against the shape and packed, in the order of the levels, into one integer key an entry.
//! 2. Keys that do not ascend already are sorted, together with their values, by what the order that entries come in leaves
//!    to be sorted, dealt out by their first bits before they are stored if they are many (`deal.rs`); entries of equal keys are
//!    summed or refused.
//! 3. Each level counts, over chunks of keys in parallel, how many distinct prefixes begin in each; a prefix sum says where
//!    each chunk writes; then all chunks write.
//!
//! Matrices whose entries come by columns, as files list them, become rows without keys and without a sort (`scatter.rs`).
//!
//! ```text
//! entries           keys        [compressed, compressed]
//! (2, 0) 5.0        0 1         pos  0  2
//! (0, 1) 3.0   ─▶   2 0    ─▶   crd  0  2
//! (2, 3) 7.0        2 3         pos  0  1     3
//!                               crd  1  0  3
//!                               val  3. 5. 7.
//! ```

mod build;
mod deal;
mod error;
mod grow;
mod key;
mod order;
mod radix;
mod scatter;
mod sorted;
#[cfg(test)]
mod tests;

pub use error::PackError;

use super::layout::Layout;
use super::tasks;
use super::{AnyTensor, Buffer, Coordinates, Element, Indices, LevelArrays, Plain};
use crate::complex::{c32, c64};
use build::{Build, Spare};
use bytemuck::Pod;
use grow::Grow;
use key::{Fields, Key, Wide};
use sorted::{Clash, Sorted, Source};
use spc_compiler::format::{Format, LevelKind};
use spc_compiler::ir::{ElementType, ReduceOperator};
use std::ops::Range;

/// What several entries of the same index mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// One entry: their sum, in the order that they came in.
    #[default]
    Sum,
    /// One entry: what the operator makes of them, in the order that they came in.
    Reduce(ReduceOperator),
    /// A mistake.
    Refuse,
}

impl Duplicates {
    /// What entries of the same index are together; none of integers whose sum is none. Results of kernels wrap.
    fn together<T: Element>(self, values: &[T]) -> Option<T> {
        match self {
            Duplicates::Sum => T::exact_sum(values),
            _ => values.iter().copied().reduce(|one, other| self.join(one, other)),
        }
    }

    /// What two entries of the same index are together.
    fn join<T: Element>(self, one: T, other: T) -> T {
        match self {
            Duplicates::Reduce(ReduceOperator::Multiply) => one.times(other),
            Duplicates::Reduce(operator) if operator != ReduceOperator::Add => {
                let joined = one.literal().zip(other.literal()).and_then(|(one, other)| operator.of(one, other));
                joined.and_then(T::from_literal).unwrap_or(other)
            }
            _ => one.plus(other),
        }
    }
}

/// Stores entries, in any order, in a format. Explicit zeros stay. Where the format has a place without an entry (under
/// dense levels, or a singleton of a parent that has none, inside a band), it holds an explicit zero.
///
/// ```
/// use spc::tensor::{Coordinates, Duplicates, Indices, pack};
/// use spc_compiler::format::{Format, LevelKind};
///
/// let entries = Coordinates {
///     shape: vec![3, 4],
///     shape_is_stated: true,
///     indices: vec![Indices::U32(vec![2, 0, 2]), Indices::U32(vec![0, 1, 3])],
///     values: vec![5.0, 3.0, 7.0],
/// };
/// let tensor = pack(entries, &Format::csf(2), Duplicates::Sum)?;
/// assert_eq!(tensor.positions(1).unwrap().as_u32(), Some(&[0, 1, 3][..]));
/// assert_eq!(tensor.coordinates(1).unwrap().as_u32(), Some(&[1, 0, 3][..]));
/// # Ok::<(), spc::tensor::PackError>(())
/// ```
///
/// # Errors
/// When an index is beyond the shape, an entry occurs twice and that is refused, an index or position does not fit the
/// width that the format gives it, a singleton would need two coordinates, an entry has no place in a diagonal or a padded level, or the tensor would be too large.
pub fn pack<T: Element>(
    coordinates: Coordinates<T>,
    format: &Format,
    duplicates: Duplicates,
) -> Result<AnyTensor, PackError> {
    T::pack(coordinates, format, duplicates, T::ZERO)
}

/// As [`pack`], for a tensor whose entries are `fill` where none is given: places without an entry hold that.
///
/// # Errors
/// As [`pack`].
pub fn pack_filled<T: Element>(
    coordinates: Coordinates<T>,
    format: &Format,
    duplicates: Duplicates,
    fill: T,
) -> Result<AnyTensor, PackError> {
    T::pack(coordinates, format, duplicates, fill)
}

/// Packing of each element type, compiled once in this crate and not again in each that packs.
pub trait Pack: Plain {
    /// What is moved for an element: types of one size share the code.
    type Raw: Raw;

    /// The elements of these bits, which were elements before.
    fn from_bits(bits: Buffer<Self::Raw>) -> Buffer<Self>;

    /// See [`pack`].
    fn pack(
        coordinates: Coordinates<Self>,
        format: &Format,
        duplicates: Duplicates,
        fill: Self,
    ) -> Result<AnyTensor, PackError>;
}

/// The bytes of an element, of which packing knows no more.
pub trait Raw: Pod + Send + Sync {}

impl<B: Pod + Send + Sync> Raw for B {}

macro_rules! packs {
    ($($type:ident as $bits:ty, $convert:path;)*) => {$(
        impl Pack for $type {
            type Raw = $bits;

            fn from_bits(bits: Buffer<$bits>) -> Buffer<Self> {
                $convert(bits)
            }

            fn pack(
                coordinates: Coordinates<Self>,
                format: &Format,
                duplicates: Duplicates,
                fill: Self,
            ) -> Result<AnyTensor, PackError> {
                pack_elements(coordinates, format, duplicates, fill)
            }
        }
    )*};
}
// With the alignment of their type, so that they stay where they are.
packs!(
    f64 as u64, Buffer::cast;
    f32 as u32, Buffer::cast;
    i8 as u8, Buffer::cast;
    i16 as u16, Buffer::cast;
    u16 as u16, std::convert::identity;
    u32 as u32, std::convert::identity;
    u64 as u64, std::convert::identity;
    i32 as u32, Buffer::cast;
    i64 as u64, Buffer::cast;
    u8 as u8, std::convert::identity;
    bool as u8, truths;
    c32 as [u32; 2], Buffer::cast;
    c64 as [u64; 2], Buffer::cast;
);

fn truths(bytes: Buffer<u8>) -> Buffer<bool> {
    bytes.iter().map(|&byte| byte != 0).collect()
}

/// What entries of the same index are together, if they are anything.
type Join<'a, B> = &'a (dyn Fn(&[B]) -> Option<B> + Sync);

/// The same; none where several entries of one index are a mistake.
type Together<'a, B> = Option<Join<'a, B>>;

fn pack_elements<T: Element>(
    coordinates: Coordinates<T>,
    format: &Format,
    duplicates: Duplicates,
    fill: T,
) -> Result<AnyTensor, PackError> {
    let literal = fill.literal().ok_or_else(|| PackError::ComplexFill { fill: fill.to_string() })?;
    let layout = Layout::new(format, &coordinates.shape)?;
    let Coordinates { shape, shape_is_stated, indices, values } = coordinates;
    let together: Join<'_, T::Raw> = &|bits| {
        let values = bytemuck::checked::try_cast_slice::<T::Raw, T>(bits).ok()?;
        duplicates.together(values).map(bytemuck::cast)
    };
    let packing = Packing {
        layout: &layout,
        together: (duplicates != Duplicates::Refuse).then_some(together),
        element: T::TYPE,
        fill: bytemuck::cast(fill),
        is_filled: fill != T::ZERO,
    };
    let values = Buffer::from(values).cast::<T::Raw>().into_vec();
    let (levels, bits) = packing.pack(Coordinates { shape: shape.clone(), shape_is_stated, indices, values })?;
    let values = T::wrap(T::from_bits(bits));
    Ok(AnyTensor::from_filled_parts_trusted(shape, format.clone(), levels, values, literal))
}

/// The arrays of a tensor.
type Packed<B> = (Vec<LevelArrays>, Buffer<B>);

struct Packing<'a, B> {
    layout: &'a Layout,
    together: Together<'a, B>,
    element: ElementType,
    /// The fill value, and whether it is another than zero.
    fill: B,
    is_filled: bool,
}

impl<B: Raw> Packing<'_, B> {
    fn pack(&self, coordinates: Coordinates<B>) -> Result<Packed<B>, PackError> {
        let coordinates = match scatter::matrix(coordinates, self.layout) {
            Ok(packed) => return Ok(packed),
            Err(coordinates) => coordinates,
        };
        check_indices(&coordinates.shape, &coordinates.indices, coordinates.values.len())?;
        if self.layout.depth() == 0 {
            return self.scalar(&coordinates.values);
        }
        let fields = Fields::of_layout(self.layout);
        match fields.bits {
            0..=64 => self.sorted::<u64>(coordinates, &fields),
            65..=128 => self.sorted::<u128>(coordinates, &fields),
            129..=Wide::BITS => self.sorted::<Wide>(coordinates, &fields),
            bits => Err(PackError::TooWide { bits }),
        }
    }

    fn sorted<K: Key>(&self, coordinates: Coordinates<B>, fields: &Fields) -> Result<Packed<B>, PackError> {
        let Coordinates { indices, values, .. } = coordinates;
        let layout = self.layout;
        let source = Source { indices: &indices, layout, fields };
        let index = |key: K| fields.index(key, layout);
        let sorted = Sorted::new(&source, values, self.together).map_err(|clash| match clash {
            Clash::Duplicate(key) => PackError::Duplicate { index: index(key) },
            Clash::Overflow(key) => PackError::Overflow { index: index(key), element: self.element },
            Clash::Memory(error) => error.into(),
        })?;
        let Sorted { keys, values, spare } = sorted;
        let spare = Spare { indices: indices.into_iter().filter_map(Indices::into_u32).collect(), short: spare };
        let maxima = level_maxima(layout, fields, &keys);
        if is_built(layout) {
            let mut build = Build::new(&keys, layout, fields, &maxima, spare)?;
            return Ok((build.levels()?, build.values(values, self.is_filled.then_some(self.fill))?));
        }
        drop(spare);
        let bits = |range: Range<usize>| bytemuck::cast_slice::<B, u8>(&values[range]);
        let are_same = |left, right| bits(left) == bits(right);
        let (levels, owners) = Grow { keys: &keys, layout, fields, maxima: &maxima, are_same: &are_same }.levels()?;
        drop(keys);
        Ok((levels, owners.values(&values, self.fill)?))
    }

    fn scalar(&self, values: &[B]) -> Result<Packed<B>, PackError> {
        let value = match (values, self.together) {
            ([], _) => self.fill,
            (&[value], _) => value,
            (_, None) => return Err(PackError::Duplicate { index: Vec::new() }),
            (_, Some(together)) => {
                together(values).ok_or_else(|| PackError::Overflow { index: Vec::new(), element: self.element })?
            }
        };
        Ok((Vec::new(), Buffer::copy_of(&[value])))
    }
}

/// Whether positions of a level follow from the prefixes of keys alone, and each is one entry, or padding of a map, or the parent of
/// such.
pub(super) fn follows(kind: LevelKind) -> bool {
    kind.is_dense() || kind.is_compressed() || kind.is_singleton()
}

/// The same of all levels.
fn is_built(layout: &Layout) -> bool {
    layout.levels.iter().all(|format| follows(format.kind))
}

/// The largest coordinate that each level stores, or a larger one that its index width holds as well.
fn level_maxima<K: Key>(layout: &Layout, fields: &Fields, keys: &[K]) -> Vec<u64> {
    let maximum = |level: usize| {
        let largest = layout.extents[level].saturating_sub(1) as u64;
        if largest < layout.levels[level].coordinates().maximum() {
            return largest;
        }
        let coordinate = fields.reader::<K>(level);
        let most = |range: Range<usize>| keys[range].iter().map(|&key| coordinate(key)).max().unwrap_or(0);
        tasks::map(&tasks::ranges(keys.len(), 1 << 16), &most).into_iter().max().unwrap_or(0) as u64
    };
    (0..layout.depth()).map(maximum).collect()
}

impl Fields {
    /// The index in each mode that a key stands for.
    fn index<K: Key>(&self, key: K, layout: &Layout) -> Vec<usize> {
        let stored: Vec<usize> = (0..layout.depth()).map(|level| self.reader(level)(key)).collect();
        layout.index(&stored).unwrap_or_default()
    }
}

/// How many distinct indices the entries have in some modes, and how many entries share the most frequent one.
pub(super) fn prefix_runs(
    shape: &[usize],
    indices: &[Indices],
    count: usize,
    modes: &[usize],
) -> Result<(usize, usize), PackError> {
    fn runs<K: Key>(
        indices: &[Indices],
        count: usize,
        layout: &Layout,
        fields: &Fields,
    ) -> Result<(usize, usize), PackError> {
        let (mut keys, survey) = Source { indices, layout, fields }.keys::<K>(count)?;
        radix::sort(&mut keys, &mut vec![(); count], 0..survey.ascend_from())?;
        Ok(keys.chunk_by(|a, b| a == b).fold((0, 0), |(count, largest), run| (count + 1, largest.max(run.len()))))
    }
    check_indices(shape, indices, count)?;
    let layout = Layout::of_modes(modes, shape);
    let fields = Fields::new(&layout.extents);
    match fields.bits {
        0..=64 => runs::<u64>(indices, count, &layout, &fields),
        65..=128 => runs::<u128>(indices, count, &layout, &fields),
        129..=Wide::BITS => runs::<Wide>(indices, count, &layout, &fields),
        bits => Err(PackError::TooWide { bits }),
    }
}

/// Checks the numbers of indices, and each index against its extent.
fn check_indices(shape: &[usize], indices: &[Indices], values: usize) -> Result<(), PackError> {
    if indices.len() != shape.len() {
        return Err(PackError::Modes { shape: shape.len(), indices: indices.len() });
    }
    for (mode, (indices, &extent)) in indices.iter().zip(shape).enumerate() {
        let (length, beyond) = match indices {
            Indices::U32(indices) => check_column(indices, extent),
            Indices::U64(indices) => check_column(indices, extent),
        };
        if length != values {
            return Err(PackError::Ragged { mode, indices: length, values });
        }
        if let Some((entry, index)) = beyond {
            return Err(PackError::Beyond { entry, mode, index, extent });
        }
    }
    Ok(())
}

/// The number of indices, and the first that is beyond the extent with its place.
fn check_column<I: Copy + Ord + Into<u64> + TryFrom<usize> + Sync>(
    indices: &[I],
    extent: usize,
) -> (usize, Option<(usize, u64)>) {
    let first_beyond = |range: Range<usize>| {
        let begin = range.start;
        let indices = &indices[range];
        let Some(largest) = extent.checked_sub(1) else { return indices.first().map(|&first| (begin, first.into())) };
        // Of all before one by one: vector instructions do that.
        let largest = I::try_from(largest).ok()?;
        if indices.iter().fold(true, |all, &index| all & (index <= largest)) {
            return None;
        }
        let entry = indices.iter().position(|&index| index > largest)?;
        Some((begin + entry, indices[entry].into()))
    };
    (indices.len(), tasks::first(&tasks::ranges(indices.len(), 1 << 16), &first_beyond))
}
