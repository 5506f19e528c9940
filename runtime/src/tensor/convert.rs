//! From one format to another.

use super::values::{same_bits, with_shared, with_values};
use super::{
    AnyTensor, Coordinates, Duplicates, Element, IndexArray, Indices, LevelArrays, OutOfMemory, PackError, Values,
    pack_filled,
};
use spc_compiler::format::{Coordinate, Format, Level};
use spc_compiler::ir::{Literal, ReduceOperator};
use std::borrow::Cow;

/// Entries as a kernel has listed them.
pub(crate) struct Listed<'a> {
    /// A level for each mode.
    pub(crate) format: &'a Format,
    /// The coordinates.
    pub(crate) levels: Vec<LevelArrays>,
    /// The values.
    pub(crate) values: Values,
    /// What entries of equal index are combined by.
    pub(crate) operator: ReduceOperator,
}

impl AnyTensor {
    /// The same tensor in another format; arrays are shared where it is the same format. Entries that are in the new order
    /// already are not sorted.
    ///
    /// Entries stay stored, explicit zeros too. Fill values of a dense tensor are left out where a mode is stored in another way; those
    /// that fill up blocks, bands, runs and dense levels below others are no entries.
    ///
    /// # Errors
    /// As [`pack`](super::pack()).
    pub fn convert(&self, format: &Format) -> Result<AnyTensor, PackError> {
        if self.format == *format {
            return Ok(self.clone());
        }
        with_values!(&self.values, |values| self.convert_values(values, format, leaves_dense(&self.format, format)))
    }

    /// The same with all entries, also the zeros of a dense tensor: a kernel computes at entries.
    ///
    /// # Errors
    /// As [`pack`](super::pack()).
    pub fn convert_stored(&self, format: &Format) -> Result<AnyTensor, PackError> {
        if self.format == *format {
            return Ok(self.clone());
        }
        with_values!(&self.values, |values| self.convert_values(values, format, false))
    }

    /// The tensor with all of its entries stored: itself, where the format has no symmetry.
    ///
    /// ```
    /// use spc::tensor::{Coordinates, Csr, Duplicates, Indices, Mode, StorageFormat, Symmetric, pack};
    ///
    /// let format = Symmetric::<Csr, (Mode<0>, Mode<1>)>::format();
    /// let indices = vec![Indices::U32(vec![0, 1, 2]), Indices::U32(vec![1, 0, 2])];
    /// let entries = Coordinates { shape: vec![3, 3], shape_is_stated: true, indices, values: vec![5.0, 5.0, 7.0] };
    /// let a = pack(entries, &format, Duplicates::Sum)?;
    /// assert_eq!((a.nnz(), a.unfolded()?.nnz()), (2, 3));
    /// # Ok::<(), spc::tensor::PackError>(())
    /// ```
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn unfolded(&self) -> Result<Cow<'_, AnyTensor>, PackError> {
        match self.format.symmetry {
            None => Ok(Cow::Borrowed(self)),
            Some(_) => self.convert_stored(&self.format.unfolded()).map(Cow::Owned),
        }
    }

    /// A tensor of entries that a kernel has listed in any order.
    ///
    /// # Errors
    /// As [`pack`](super::pack()).
    pub(crate) fn of_listed(
        shape: Vec<usize>,
        listed: Listed<'_>,
        format: &Format,
        fill: Literal,
    ) -> Result<AnyTensor, PackError> {
        let mut indices: Vec<Indices> = shape.iter().map(|_| Indices::U32(Vec::new())).collect();
        for (level, storage) in listed.format.levels.iter().zip(listed.levels) {
            let coordinates = storage.coordinates().cloned();
            // Now nobody else has the array, and it is moved.
            drop(storage);
            if let (Coordinate::Mode(mode), Some(coordinates)) = (&level.coordinate, coordinates) {
                indices[*mode] = match coordinates {
                    IndexArray::U32(narrow) => Indices::U32(narrow.into_buffer().into_vec()),
                    IndexArray::U64(wide) => Indices::U64(wide.into_buffer().into_vec()),
                    other => Indices::U64(other.iter().map(|index| index as u64).collect()),
                };
            }
        }
        fn packed<T: Element>(
            entries: Coordinates<T>,
            format: &Format,
            operator: ReduceOperator,
            fill: Literal,
        ) -> Result<AnyTensor, PackError> {
            let fill = T::from_literal(fill).unwrap_or(T::ZERO);
            // Of a symmetric result, what is listed is what is stored.
            let packed = pack_filled(entries, &format.unfolded(), Duplicates::Reduce(operator), fill)?;
            Ok(packed.with_symmetry(format.symmetry.clone()))
        }
        with_shared!(listed.values, |values| {
            let values = values.into_buffer().into_vec();
            packed(Coordinates { shape, shape_is_stated: true, indices, values }, format, listed.operator, fill)
        })
    }

    fn convert_values<T: Element>(
        &self,
        values: &[T],
        format: &Format,
        without_zeros: bool,
    ) -> Result<AnyTensor, PackError> {
        let fill = T::from_literal(self.fill).unwrap_or(T::ZERO);
        // Of one symmetry, the same entries are stored.
        let is_same = self.format.symmetry.is_some() && self.format.symmetry == format.symmetry;
        let mut entries = if is_same { self.stored_coordinates(values)? } else { self.coordinates_of(values)? };
        if without_zeros {
            entries.remove(&fill);
        }
        match is_same {
            true => pack_filled(entries, &format.unfolded(), Duplicates::Sum, fill)
                .map(|tensor| tensor.with_symmetry(format.symmetry.clone())),
            false => pack_filled(entries, format, Duplicates::Sum, fill),
        }
    }

    /// A result in a format of which it has no more entries than are stored there.
    ///
    /// # Errors
    /// As [`pack`](super::pack()).
    pub(crate) fn delivered(self, format: &Format) -> Result<AnyTensor, PackError> {
        self.with_symmetry(format.symmetry.clone()).convert_stored(format)
    }

    /// The entries that are converted to another format.
    pub(crate) fn converted_entries(&self, format: &Format) -> Result<(Vec<Indices>, Values), OutOfMemory> {
        fn of<T: Element>(
            tensor: &AnyTensor,
            values: &[T],
            format: &Format,
        ) -> Result<(Vec<Indices>, Values), OutOfMemory> {
            let mut entries = tensor.coordinates_of(values)?;
            if leaves_dense(&tensor.format, format) {
                entries.remove(&T::from_literal(tensor.fill).unwrap_or(T::ZERO));
            }
            Ok((entries.indices, T::wrap(entries.values)))
        }
        with_values!(&self.values, |values| of(self, values, format))
    }
}

/// Whether a mode that one of the last levels stores in full, dense or as a band or a run, is stored otherwise in another
/// format.
fn leaves_dense(from: &Format, to: &Format) -> bool {
    let fills = |level: &&Level| level.format.kind.fills;
    let stays = |level: &Level| {
        let mut same = to.levels.iter().filter(|other| other.coordinate == level.coordinate);
        same.any(|other| other.format.kind.is_dense() || other.format.kind == level.format.kind)
    };
    from.levels.iter().rev().take_while(fills).any(|level| !stays(level))
}

impl<T: Element> Coordinates<T> {
    /// Removes the entries of a value, bit by bit the same: a negative zero is no zero.
    pub(crate) fn remove(&mut self, value: &T) {
        let is_kept = |other: &T| !same_bits(other, value);
        let values = &self.values;
        for indices in &mut self.indices {
            match indices {
                Indices::U32(indices) => retain_with(indices, values, is_kept),
                Indices::U64(indices) => retain_with(indices, values, is_kept),
            }
        }
        self.values.retain(is_kept);
    }
}

fn retain_with<I, T>(indices: &mut Vec<I>, values: &[T], is_kept: impl Fn(&T) -> bool) {
    let mut values = values.iter();
    indices.retain(|_| values.next().is_some_and(&is_kept));
}
