//! Entries as columns of indices and bytes: what ranks send to each other, whatever the element type is.

use super::message::{numbers, put};
use crate::execute::Entries;
use crate::tensor::{
    AnyTensor, Coordinates, Element, Indices, InvalidTensor, LevelArrays, PackError, StoredOrder, Values,
};
use crate::with_element;
use spc_compiler::format::Format;
use spc_compiler::ir::ElementType;

/// Entries of any element type.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) shape: Vec<usize>,
    pub(super) element: ElementType,
    /// The indices of each mode.
    pub(super) indices: Vec<Vec<u64>>,
    /// The bytes of the values.
    pub(super) values: Vec<u8>,
}

/// A mode of at most so many coordinates for each entry is short.
const SHORT: u64 = 4;

/// The coordinates of a mode that entries have: modes may be much longer than there are entries.
pub(super) struct Occupied {
    /// Ascending.
    pub(super) coordinates: Vec<u64>,
    /// For each entry, the place of its coordinate among them.
    pub(super) places: Vec<u32>,
}

impl Occupied {
    pub(super) fn of(column: &[u64]) -> Self {
        let end = column.iter().max().map_or(0, |most| most + 1);
        if end <= SHORT.saturating_mul(column.len() as u64) {
            // A table is sooner made than a sorted copy.
            let mut place_of = vec![0u32; end as usize];
            column.iter().for_each(|&coordinate| place_of[coordinate as usize] = 1);
            let coordinates: Vec<u64> = (0..end).filter(|&coordinate| place_of[coordinate as usize] == 1).collect();
            let numbered = (0..).zip(&coordinates);
            numbered.for_each(|(place, &coordinate)| place_of[coordinate as usize] = place);
            let places = column.iter().map(|&coordinate| place_of[coordinate as usize]).collect();
            return Self { coordinates, places };
        }
        let mut coordinates = column.to_vec();
        coordinates.sort_unstable();
        coordinates.dedup();
        let place = |coordinate: &u64| coordinates.binary_search(coordinate).expect("it is among them") as u32;
        let places = column.iter().map(place).collect();
        Self { coordinates, places }
    }

    /// How many entries each coordinate has.
    pub(super) fn weights(&self) -> Vec<u32> {
        let mut weights = vec![0u32; self.coordinates.len()];
        self.places.iter().for_each(|&place| weights[place as usize] += 1);
        weights
    }

    /// Each coordinate with each rank that an entry of it is on, ascending.
    pub(super) fn pairs(&self, rank_of: &[u32], ranks: usize) -> Vec<(u64, u32)> {
        let key = |(place, rank): (&u32, &u32)| *place as usize * ranks + *rank as usize;
        let keys = self.places.iter().zip(rank_of).map(key);
        let pair = |key: usize| (self.coordinates[key / ranks], (key % ranks) as u32);
        let end = self.coordinates.len() * ranks;
        if end as u64 <= 64 * SHORT.saturating_mul(self.places.len() as u64) {
            let mut words = vec![0u64; end.div_ceil(64)];
            keys.for_each(|key| words[key / 64] |= 1 << (key % 64));
            let of_word = |(number, mut word): (usize, u64)| {
                std::iter::from_fn(move || {
                    let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                    word &= word - 1;
                    Some(64 * number + bit)
                })
            };
            return words.into_iter().enumerate().flat_map(of_word).map(pair).collect();
        }
        let mut keys: Vec<usize> = keys.collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().map(pair).collect()
    }
}

impl Listed {
    /// No entries.
    pub(super) fn empty(shape: Vec<usize>, element: ElementType) -> Self {
        let indices = vec![Vec::new(); shape.len()];
        Self { shape, element, indices, values: Vec::new() }
    }

    /// The entries of a tensor, in the order in which they are stored; those that are not `left_out`.
    pub(super) fn of(tensor: &AnyTensor, left_out: Option<&[u8]>) -> Result<Self, PackError> {
        let (shape, width) = (tensor.shape().to_vec(), tensor.element().bytes());
        let all = with_element!(tensor.element(), |T| {
            let entries = tensor.try_to_coordinates::<T>()?;
            Self::of_columns(shape, &entries.indices, &entries.values.into())
        });
        let Some(left_out) = left_out else { return Ok(all) };
        let kept: Vec<usize> =
            (0..all.len()).filter(|entry| all.values[entry * width..][..width] != *left_out).collect();
        Ok(if kept.len() == all.len() { all } else { all.chosen(kept.into_iter()) })
    }

    /// Entries by their columns.
    pub(super) fn of_columns(shape: Vec<usize>, indices: &[Indices], values: &Values) -> Self {
        let indices = indices.iter().map(column).collect();
        Self { shape, element: values.element(), indices, values: values.as_bytes().to_vec() }
    }

    /// The same of coordinates.
    #[cfg(feature = "decompose")]
    pub(super) fn of_coordinates(entries: &Coordinates<f64>) -> Self {
        Self {
            shape: entries.shape.clone(),
            element: ElementType::F64,
            indices: entries.indices.iter().map(column).collect(),
            values: bytemuck::cast_slice(&entries.values).to_vec(),
        }
    }

    pub(super) fn push(&mut self, index: impl IntoIterator<Item = u64>, value: &[u8]) {
        self.indices.iter_mut().zip(index).for_each(|(column, index)| column.push(index));
        self.values.extend_from_slice(value);
    }

    pub(super) fn len(&self) -> usize {
        self.values.len() / self.element.bytes()
    }

    pub(super) fn value(&self, entry: usize) -> &[u8] {
        let width = self.element.bytes();
        &self.values[entry * width..(entry + 1) * width]
    }

    pub(super) fn index(&self, entry: usize) -> impl Iterator<Item = u64> + '_ {
        self.indices.iter().map(move |column| column[entry])
    }

    /// Some of the entries.
    pub(super) fn chosen(&self, entries: impl Iterator<Item = usize> + Clone) -> Self {
        let indices = self.indices.iter().map(|column| entries.clone().map(|entry| column[entry]).collect()).collect();
        let mut values = Vec::new();
        entries.for_each(|entry| values.extend_from_slice(self.value(entry)));
        Self { shape: self.shape.clone(), element: self.element, indices, values }
    }

    /// Takes all entries of others.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.indices.iter_mut().zip(&mut other.indices).for_each(|(column, from)| column.append(from));
        self.values.append(&mut other.values);
    }

    /// The bytes of an entry in a message.
    pub(super) fn entry_bytes(&self) -> usize {
        self.shape.iter().map(|&extent| index_bytes(extent)).sum::<usize>() + self.element.bytes()
    }

    /// The order in which a format stores them.
    pub(super) fn stored_order(&self, format: &Format) -> Result<StoredOrder, PackError> {
        let columns: Vec<Indices> = self.indices.iter().map(|column| Indices::U64(column.clone())).collect();
        StoredOrder::of(format, &self.shape, &columns, self.len())
    }

    /// The same in that order.
    pub(super) fn sorted(self, format: &Format) -> Result<Self, PackError> {
        let order = self.stored_order(format)?;
        Ok(self.chosen((0..order.len()).map(|place| order.entry(place))))
    }

    /// All entries as a message.
    pub(super) fn message(&self) -> Vec<u8> {
        let mut message = Vec::new();
        self.put(0..self.len(), &mut message);
        message
    }

    /// Puts some entries after what is in a message: their indices, mode by mode and as narrow as the extents let them be, and their values.
    pub(super) fn put(&self, entries: impl Iterator<Item = usize> + Clone, message: &mut Vec<u8>) {
        message.reserve(entries.clone().count() * self.entry_bytes());
        for (column, &extent) in self.indices.iter().zip(&self.shape) {
            let indices = entries.clone().map(|entry| column[entry]);
            match index_bytes(extent) {
                4 => put(indices.map(|index| index as u32), message),
                _ => put(indices, message),
            }
        }
        entries.for_each(|entry| message.extend_from_slice(self.value(entry)));
    }

    /// Takes all entries of a message.
    pub(super) fn read(&mut self, message: &[u8]) {
        let count = message.len() / self.entry_bytes();
        let mut rest = message;
        for (column, &extent) in self.indices.iter_mut().zip(&self.shape) {
            let (indices, behind) = rest.split_at(count * index_bytes(extent));
            match index_bytes(extent) {
                4 => column.extend(numbers::<u32>(indices).map(u64::from)),
                _ => column.extend(numbers::<u64>(indices)),
            }
            rest = behind;
        }
        self.values.extend_from_slice(rest);
    }

    /// As entries of their type.
    pub(super) fn entries(self) -> Entries {
        with_element!(self.element, |T| self.coordinates::<T>().into())
    }

    /// The same where the type is known.
    pub(super) fn coordinates<T: Element + bytemuck::CheckedBitPattern>(self) -> Coordinates<T> {
        let shape = self.shape.clone();
        let (indices, values) = self.narrowed();
        Coordinates { shape, shape_is_stated: true, indices, values: from_bytes::<T>(&values) }
    }

    /// As columns that are as narrow as the shape lets them be, and values.
    pub(super) fn columns(self) -> (Vec<Indices>, Values) {
        let element = self.element;
        let (indices, values) = self.narrowed();
        (indices, values_of(element, &values))
    }

    fn narrowed(self) -> (Vec<Indices>, Vec<u8>) {
        let columns = self.indices.into_iter().zip(&self.shape).map(|(column, &extent)| match u32::try_from(extent) {
            Ok(_) => Indices::U32(column.into_iter().map(|index| index as u32).collect()),
            Err(_) => Indices::U64(column),
        });
        (columns.collect(), self.values)
    }
}

/// Whether a format stores the entries that there are and no others.
pub(super) fn has_entries_alone(format: &Format) -> bool {
    let kinds: Vec<_> = format.levels.iter().map(|level| level.format.kind).collect();
    let stores = |place: usize| match kinds[place] {
        kind if kind.is_singleton() => place > 0 && !kinds[place - 1].is_dense(),
        kind => kind.is_compressed() || kind.is_dense() && place + 1 < kinds.len(),
    };
    (0..kinds.len()).all(stores)
}

/// The bytes of an index in a message, in a mode of this extent.
fn index_bytes(extent: usize) -> usize {
    if u32::try_from(extent).is_ok() { 4 } else { 8 }
}

fn column(indices: &Indices) -> Vec<u64> {
    match indices {
        Indices::U32(indices) => indices.iter().map(|&index| index.into()).collect(),
        Indices::U64(indices) => indices.clone(),
    }
}

/// Values that were sent as bytes.
pub(super) fn from_bytes<T: Element + bytemuck::CheckedBitPattern>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::checked::pod_read_unaligned).collect()
}

/// The same of a type that is known as the program runs.
pub(super) fn values_of(element: ElementType, bytes: &[u8]) -> Values {
    with_element!(element, |T| from_bytes::<T>(bytes).into())
}

/// A dense tensor, row by row, of values as bytes.
pub(super) fn dense(shape: Vec<usize>, element: ElementType, bytes: &[u8]) -> Result<AnyTensor, InvalidTensor> {
    let order = shape.len();
    AnyTensor::from_parts(shape, Format::dense(order), vec![LevelArrays::NONE; order], values_of(element, bytes))
}
