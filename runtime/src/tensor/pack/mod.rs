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

mod assemble;
mod build;
mod deal;
mod error;
mod folded;
mod grow;
mod key;
mod order;
mod radix;
mod runs;
mod scatter;
mod sorted;
#[cfg(feature = "compile")]
mod stored_order;
#[cfg(test)]
mod tests;

pub(crate) use assemble::{Array, Assembled};
pub(crate) use error::RunsError;
pub use error::{NotSymmetric, PackError};
pub(crate) use runs::Runs;
#[cfg(feature = "compile")]
pub(crate) use stored_order::StoredOrder;

use super::layout::{Layout, follows};
use super::tasks;
use super::{AnyTensor, Buffer, Coordinates, Element, Indices, LevelArrays, OutOfMemory};
use crate::complex::{c32, c64};
use crate::half::{bf16, f16};
use crate::{memory, with_element};
use build::{Build, Spare};
use bytemuck::Pod;
use grow::Grow;
use key::{Fields, Key, Wide};
use sorted::{Clash, Sorted, Source};
use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, ReduceOperator};
use std::any::Any;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

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
/// use spc_compiler::format::Format;
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
    pack_filled(coordinates, format, duplicates, T::ZERO)
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
    pack_any(T::TYPE, Box::new((coordinates, fill)), format, duplicates)
}

/// The same of `(Coordinates<T>, T)`, whatever the element type is: this is compiled once in this crate, and not again in each that packs.
fn pack_any(
    element: ElementType,
    entries: Box<dyn Any>,
    format: &Format,
    duplicates: Duplicates,
) -> Result<AnyTensor, PackError> {
    with_element!(element, |T| {
        let (coordinates, fill) =
            *entries.downcast::<(Coordinates<T>, T)>().expect("entries are of their element type");
        match &format.symmetry {
            None => <T as Pack>::pack(coordinates, format, duplicates, fill),
            Some(symmetry) => {
                Layout::new(format, &coordinates.shape)?;
                let all = folded::listing(format.order);
                let all = <T as Pack>::pack(coordinates, &all, duplicates, fill)?;
                let stored = folded::folded(&all, symmetry, fill)?;
                drop(all);
                let tensor = <T as Pack>::pack(stored, &format.unfolded(), duplicates, fill)?;
                Ok(tensor.with_symmetry(format.symmetry.clone()))
            }
        }
    })
}

/// Packing of an element type.
trait Pack: Element {
    /// What is moved for an element: types share the code that does so.
    type Raw: Raw;

    /// See [`pack`].
    fn pack(
        coordinates: Coordinates<Self>,
        format: &Format,
        duplicates: Duplicates,
        fill: Self,
    ) -> Result<AnyTensor, PackError>;
}

/// What is moved for an element, of which packing knows no more: its bits, or where it is in a list.
trait Raw: Pod + Send + Sync {
    /// As the wider type, for keys that take more room than either.
    fn widened(values: Vec<Self>) -> Result<Vec<u64>, OutOfMemory>;

    /// Those that were made wider.
    fn narrowed(values: Buffer<u64>) -> Result<Buffer<Self>, OutOfMemory>;

    /// One of them.
    fn wide(self) -> u64;

    /// One that was made wider.
    fn narrow(wide: u64) -> Self;
}

impl Raw for u64 {
    fn widened(values: Vec<u64>) -> Result<Vec<u64>, OutOfMemory> {
        Ok(values)
    }

    fn narrowed(values: Buffer<u64>) -> Result<Buffer<u64>, OutOfMemory> {
        Ok(values)
    }

    fn wide(self) -> u64 {
        self
    }

    fn narrow(wide: u64) -> u64 {
        wide
    }
}

impl Raw for u32 {
    fn widened(values: Vec<u32>) -> Result<Vec<u64>, OutOfMemory> {
        memory::try_collected(values.into_iter().map(u64::from))
    }

    fn narrowed(values: Buffer<u64>) -> Result<Buffer<u32>, OutOfMemory> {
        memory::try_collected(values.iter().map(|&wide| wide as u32)).map(Buffer::from)
    }

    fn wide(self) -> u64 {
        self.into()
    }

    fn narrow(wide: u64) -> u32 {
        wide as u32
    }
}

/// How an element type is moved: its own bits, those extended by zeros, or the place of each element.
macro_rules! packs {
    (@one $type:ident $bits:ident bits) => {
        packs! { @impl $type $bits |entries, format, duplicates, fill| {
            let together = |bits: &[$bits]| match bytemuck::checked::try_cast_slice::<$bits, $type>(bits) {
                Ok(values) => duplicates.together(values).map(bytemuck::cast),
                Err(_) => None,
            };
            let of_values = |values: Vec<$type>| Ok(Buffer::from(values).cast::<$bits>().into_vec());
            pack_raw(entries, format, duplicates, fill, &Moved {
                bits: &of_values,
                values: &|bits| Ok(bits.cast()),
                together: &together,
                fill: bytemuck::cast(fill),
                are_same: &|one, other| one == other,
            })
        }}
    };
    (@one $type:ident $bits:ident extended $narrow:ident) => {
        packs! { @impl $type $bits |entries, format, duplicates, fill| {
            let extended = |value: $type| $bits::from(bytemuck::cast::<$type, $narrow>(value));
            let value = |bits: &$bits| bytemuck::checked::cast::<$narrow, $type>(*bits as $narrow);
            let together = |bits: &[$bits]| {
                duplicates.together(&bits.iter().map(value).collect::<Vec<$type>>()).map(extended)
            };
            pack_raw(entries, format, duplicates, fill, &Moved {
                bits: &|values| memory::try_collected(values.into_iter().map(extended)),
                values: &|bits: Buffer<$bits>| memory::try_collected(bits.iter().map(value)).map(Buffer::from),
                together: &together,
                fill: extended(fill),
                are_same: &|one, other| one == other,
            })
        }}
    };
    (@impl $type:ident $bits:ident |$entries:ident, $format:ident, $duplicates:ident, $fill:ident| $pack:block) => {
        impl Pack for $type {
            type Raw = $bits;

            fn pack(
                $entries: Coordinates<Self>,
                $format: &Format,
                $duplicates: Duplicates,
                $fill: Self,
            ) -> Result<AnyTensor, PackError> {
                $pack
            }
        }
    };
    ($($type:ident as $bits:ident $how:ident $($narrow:ident)?;)*) => {$(
        packs! { @one $type $bits $how $($narrow)? }
    )*};
}
packs!(
    f64 as u64 bits;
    i64 as u64 bits;
    u64 as u64 bits;
    c32 as u64 bits;
    f32 as u32 bits;
    i32 as u32 bits;
    u32 as u32 bits;
    f16 as u32 extended u16;
    bf16 as u32 extended u16;
    i16 as u32 extended u16;
    u16 as u32 extended u16;
    i8 as u32 extended u8;
    u8 as u32 extended u8;
    bool as u32 extended u8;
);

impl Pack for c64 {
    type Raw = u64;

    /// By their places, for which there is no place of the fill value: elements are larger than anything that is moved.
    fn pack(
        mut entries: Coordinates<Self>,
        format: &Format,
        duplicates: Duplicates,
        fill: Self,
    ) -> Result<AnyTensor, PackError> {
        let values = Mutex::new(std::mem::take(&mut entries.values));
        let values = || values.lock().unwrap_or_else(PoisonError::into_inner);
        let together = |places: &[u64]| {
            let mut values = values();
            let equal: Vec<c64> = places.iter().map(|&place| values[place as usize]).collect();
            values[places[0] as usize] = duplicates.together(&equal)?;
            Some(places[0])
        };
        let are_same = |one: u64, other: u64| {
            let values = values();
            let [one, other] = [one, other].map(|place| values[place as usize]);
            bytemuck::bytes_of(&one) == bytemuck::bytes_of(&other)
        };
        let of_places = |places: Buffer<u64>| {
            let values = values();
            let value = |&place: &u64| values.get(place as usize).copied().unwrap_or(fill);
            memory::try_collected(places.iter().map(value)).map(Buffer::from)
        };
        let count = values().len();
        let moved = Moved {
            bits: &|_| memory::try_collected((0..count).map(|place| place as u64)),
            values: &of_places,
            together: &together,
            fill: u64::MAX,
            are_same: &are_same,
        };
        pack_raw(entries, format, duplicates, fill, &moved)
    }
}

/// How elements are moved.
struct Moved<'a, T, B> {
    /// What is moved for them.
    bits: &'a dyn Fn(Vec<T>) -> Result<Vec<B>, OutOfMemory>,
    /// What was moved as elements.
    values: &'a dyn Fn(Buffer<B>) -> Result<Buffer<T>, OutOfMemory>,
    together: Join<'a, B>,
    /// What is moved for the fill value.
    fill: B,
    /// Whether two elements are the same, bit for bit.
    are_same: &'a (dyn Fn(B, B) -> bool + Sync),
}

/// What entries of the same index are together, if they are anything.
type Join<'a, B> = &'a (dyn Fn(&[B]) -> Option<B> + Sync);

/// The same; none where several entries of one index are a mistake.
type Together<'a, B> = Option<Join<'a, B>>;

fn pack_raw<T: Pack>(
    coordinates: Coordinates<T>,
    format: &Format,
    duplicates: Duplicates,
    fill: T,
    moved: &Moved<'_, T, T::Raw>,
) -> Result<AnyTensor, PackError> {
    let literal = fill.literal().ok_or_else(|| PackError::ComplexFill { fill: fill.to_string() })?;
    let layout = Layout::new(format, &coordinates.shape)?;
    let Coordinates { shape, shape_is_stated, indices, values } = coordinates;
    let packing = Packing {
        layout: &layout,
        together: (duplicates != Duplicates::Refuse).then_some(moved.together),
        element: T::TYPE,
        fill: moved.fill,
        is_filled: moved.fill.wide() != 0,
        are_same: moved.are_same,
    };
    let bits = (moved.bits)(values)?;
    let (levels, bits) = packing.pack(Coordinates { shape: shape.clone(), shape_is_stated, indices, values: bits })?;
    let values = T::wrap((moved.values)(bits)?);
    Ok(AnyTensor::from_filled_parts_trusted(shape, format.clone(), levels, values, literal))
}

/// The arrays of a tensor.
type Packed<B> = (Vec<LevelArrays>, Buffer<B>);

struct Packing<'a, B> {
    layout: &'a Layout,
    together: Together<'a, B>,
    element: ElementType,
    /// What is moved for the fill value, and whether it is another than zero.
    fill: B,
    is_filled: bool,
    are_same: &'a (dyn Fn(B, B) -> bool + Sync),
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
            _ => self.widened(coordinates, &fields),
        }
    }

    /// By keys of many bits, beside which values take the same room whether they are wide or not.
    fn widened(&self, coordinates: Coordinates<B>, fields: &Fields) -> Result<Packed<B>, PackError> {
        let Coordinates { shape, shape_is_stated, indices, values } = coordinates;
        let values = B::widened(values)?;
        let together = self.together.map(|together| {
            move |wide: &[u64]| together(&wide.iter().map(|&wide| B::narrow(wide)).collect::<Vec<B>>()).map(B::wide)
        });
        let wide = Packing {
            layout: self.layout,
            together: together.as_ref().map(|together| together as Join<'_, u64>),
            element: self.element,
            fill: self.fill.wide(),
            is_filled: self.is_filled,
            are_same: &|one, other| (self.are_same)(B::narrow(one), B::narrow(other)),
        };
        let (levels, values) = wide.by_wide_keys(Coordinates { shape, shape_is_stated, indices, values }, fields)?;
        Ok((levels, B::narrowed(values)?))
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
        let are_same = |left: Range<usize>, right: Range<usize>| {
            values[left].iter().zip(&values[right]).all(|(&left, &right)| (self.are_same)(left, right))
        };
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

impl Packing<'_, u64> {
    fn by_wide_keys(&self, coordinates: Coordinates<u64>, fields: &Fields) -> Result<Packed<u64>, PackError> {
        match fields.bits {
            ..=128 => self.sorted::<u128>(coordinates, fields),
            129..=Wide::BITS => self.sorted::<Wide>(coordinates, fields),
            bits => Err(PackError::TooWide { bits }),
        }
    }
}

/// Whether positions of all levels follow from the prefixes of keys.
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
        tasks::map(&tasks::ranges(keys.len(), tasks::GRAIN), &most).into_iter().max().unwrap_or(0) as u64
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
    // What is moved along with keys: nothing, or what other callers move as well.
    fn runs<K: Key, V: radix::Value>(
        indices: &[Indices],
        count: usize,
        layout: &Layout,
        fields: &Fields,
    ) -> Result<(usize, usize), PackError> {
        let (mut keys, survey) = Source { indices, layout, fields }.keys::<K>(count)?;
        radix::sort(&mut keys, &mut vec![V::zeroed(); count], 0..survey.ascend_from())?;
        Ok(keys.chunk_by(|a, b| a == b).fold((0, 0), |(count, largest), run| (count + 1, largest.max(run.len()))))
    }
    check_indices(shape, indices, count)?;
    let layout = Layout::of_modes(modes, shape);
    let fields = Fields::new(&layout.extents);
    match fields.bits {
        0..=64 => runs::<u64, ()>(indices, count, &layout, &fields),
        65..=128 => runs::<u128, u64>(indices, count, &layout, &fields),
        129..=Wide::BITS => runs::<Wide, u64>(indices, count, &layout, &fields),
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
    (indices.len(), tasks::first(&tasks::ranges(indices.len(), tasks::GRAIN), &first_beyond))
}
