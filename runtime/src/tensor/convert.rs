//! From one format to another.

use super::values::with_values;
use super::{AnyTensor, Coordinates, Duplicates, Element, Indices, LevelStorage, PackError, Values, pack};
use spc_compiler::format::{Coordinate, Format, LevelKind};

impl AnyTensor {
    /// The same tensor in another format; arrays are shared where it is the same format. Entries that are in the new order
    /// already are not sorted.
    ///
    /// Stored entries stay stored, explicit zeros too. Only zeros that were stored because a level is dense are left out where
    /// the mode is no longer dense.
    ///
    /// # Errors
    /// As [`pack`].
    pub fn convert(&self, format: &Format) -> Result<AnyTensor, PackError> {
        if self.format == *format {
            return Ok(self.clone());
        }
        with_values!(&self.values, |values| self.convert_values(values, format, self.leaves_dense(format)))
    }

    /// The same with all entries that are stored, also the zeros of dense levels: a kernel computes at stored entries.
    ///
    /// # Errors
    /// As [`pack`].
    pub fn convert_stored(&self, format: &Format) -> Result<AnyTensor, PackError> {
        if self.format == *format {
            return Ok(self.clone());
        }
        with_values!(&self.values, |values| self.convert_values(values, format, false))
    }

    /// A tensor of entries that a kernel has listed in any order, with the coordinates of each level of `listed`; entries of
    /// equal index are added.
    ///
    /// # Errors
    /// As [`pack`].
    pub(crate) fn of_listed(
        shape: Vec<usize>,
        listed: &Format,
        levels: Vec<LevelStorage>,
        values: &Values,
        format: &Format,
    ) -> Result<AnyTensor, PackError> {
        let mut indices: Vec<Indices> = shape.iter().map(|_| Indices::U32(Vec::new())).collect();
        for (level, storage) in listed.levels.iter().zip(levels) {
            if let (Coordinate::Mode(mode), Some(coordinates)) = (&level.coordinate, storage.coordinates()) {
                indices[*mode] = match coordinates.as_u32() {
                    Some(narrow) => Indices::U32(narrow.to_vec()),
                    None => Indices::U64(coordinates.iter().map(|index| index as u64).collect()),
                };
            }
        }
        with_values!(values, |values| {
            let entries = Coordinates { shape, shape_is_stated: true, indices, values: values.to_vec() };
            pack(entries, format, Duplicates::Sum)
        })
    }

    fn convert_values<T: Element>(
        &self,
        values: &[T],
        format: &Format,
        without_zeros: bool,
    ) -> Result<AnyTensor, PackError> {
        let indices = self.indices();
        let mut entries =
            Coordinates { shape: self.shape.clone(), shape_is_stated: true, indices, values: values.to_vec() };
        if without_zeros {
            entries.remove_zeros();
        }
        pack(entries, format, Duplicates::Sum)
    }

    /// Whether a mode that one of the last, dense levels stores is stored otherwise in another format.
    fn leaves_dense(&self, format: &Format) -> bool {
        let is_dense = |coordinate: &Coordinate| {
            format.levels.iter().any(|level| level.coordinate == *coordinate && level.format.kind == LevelKind::Dense)
        };
        let mut last = self.format.levels.iter().rev().take_while(|level| level.format.kind == LevelKind::Dense);
        last.any(|level| !is_dense(&level.coordinate))
    }
}

impl<T: Element> Coordinates<T> {
    /// Removes the entries whose value is zero.
    fn remove_zeros(&mut self) {
        let values = &self.values;
        for indices in &mut self.indices {
            match indices {
                Indices::U32(indices) => retain_nonzeros(indices, values),
                Indices::U64(indices) => retain_nonzeros(indices, values),
            }
        }
        self.values.retain(|&value| value != T::ZERO);
    }
}

fn retain_nonzeros<I, T: Element>(indices: &mut Vec<I>, values: &[T]) {
    let mut values = values.iter();
    indices.retain(|_| values.next().is_some_and(|&value| value != T::ZERO));
}
