//! Copies in other formats that are kept with a tensor.
//!
//! A kernel whose loops can't read an operand as it is stored reads a copy, and an iteration calls it with the same tensor again and
//! again. A copy that is asked for a second time is kept with the tensor and its clones, as long as their values are not changed:
//!
//! ```text
//! call      1            2            3, 4, …
//! copy      made         made, kept   found
//! ```
//!
//! So who calls once has no more in memory than before. Of borrowed arrays, and those that belong to somebody else, no copy is kept: they
//! may be changed elsewhere.

use super::values::with_shared;
use super::{AnyTensor, IndexArray, LevelArrays, PackError};
use spc_compiler::format::Format;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many formats are remembered, and their copies kept, of one tensor.
const MOST: usize = 3;

/// What is kept with a tensor, and shared by its clones. Tensors are equal whatever is kept.
#[derive(Clone, Default)]
pub(super) struct Kept(Arc<Mutex<Vec<Asked>>>);

/// A format that a copy was asked for in.
struct Asked {
    format: Format,
    /// The copy, if that was not the only time.
    copy: Option<AnyTensor>,
}

impl PartialEq for Kept {
    fn eq(&self, _: &Kept) -> bool {
        true
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} formats", self.lock().len())
    }
}

impl Kept {
    /// The list is complete whenever somebody panics.
    fn lock(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, format: &Format) -> Option<AnyTensor> {
        self.lock().iter().find(|asked| asked.format == *format)?.copy.clone()
    }

    /// Notes that a copy was made, and keeps it if it is not the first one.
    fn note(&self, format: &Format, copy: &AnyTensor) {
        let mut all = self.lock();
        match all.iter_mut().find(|asked| asked.format == *format) {
            Some(asked) => asked.copy = Some(copy.clone()),
            None => {
                if all.len() == MOST {
                    all.remove(0);
                }
                all.push(Asked { format: format.clone(), copy: None });
            }
        }
    }

    /// For a tensor whose values are about to change: its clones keep theirs.
    pub(super) fn forget(&mut self) {
        if !self.lock().is_empty() {
            *self = Kept::default();
        }
    }
}

impl AnyTensor {
    /// As [`convert_stored`](AnyTensor::convert_stored), by a copy that is kept where one was asked for before.
    ///
    /// # Errors
    /// As [`pack`](super::pack()).
    pub(crate) fn copy_stored(&self, format: &Format) -> Result<AnyTensor, PackError> {
        if self.format == *format {
            return Ok(self.clone());
        }
        if let Some(copy) = self.kept.find(format) {
            return Ok(copy);
        }
        let copy = self.convert_stored(format)?;
        if self.has_own_arrays() {
            self.kept.note(format, &copy);
        }
        Ok(copy)
    }

    /// Whether all arrays are memory of the tensor's and its clones' own, which only changes through them.
    fn has_own_arrays(&self) -> bool {
        self.levels.iter().flat_map(LevelArrays::iter).all(IndexArray::is_own)
            && with_shared!(&self.values, |values| !values.is_part())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Buffer, Coordinates, Duplicates, Indices, Values, pack};
    use super::*;
    use spc_compiler::format::LevelFormat;

    fn by_rows() -> Format {
        Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED])
    }

    fn by_columns() -> Format {
        Format::permuted(&[1, 0], &[LevelFormat::COMPRESSED; 2])
    }

    fn tensor() -> AnyTensor {
        let entries = Coordinates {
            shape: vec![3, 4],
            shape_is_stated: true,
            indices: vec![Indices::U32(vec![0, 2, 2]), Indices::U32(vec![3, 0, 1])],
            values: vec![1.0, 2.0, 3.0],
        };
        pack(entries, &by_rows(), Duplicates::Sum).unwrap()
    }

    fn values_at(tensor: &AnyTensor) -> *const f64 {
        tensor.values_of::<f64>().unwrap().as_ptr()
    }

    #[test]
    fn a_copy_is_kept_from_the_second_time_on_and_by_clones() {
        let tensor = tensor();
        let [first, second] = [0, 1].map(|_| tensor.copy_stored(&by_columns()).unwrap());
        let [third, of_clone] = [&tensor, &tensor.clone()].map(|tensor| tensor.copy_stored(&by_columns()).unwrap());
        assert_ne!(values_at(&first), values_at(&second));
        assert_eq!([values_at(&third), values_at(&of_clone)], [values_at(&second); 2]);
        assert_eq!(third, tensor.convert_stored(&by_columns()).unwrap());
        assert_eq!(values_at(&tensor.copy_stored(&by_rows()).unwrap()), values_at(&tensor));
    }

    #[test]
    fn what_changes_has_other_copies() {
        let mut tensor = tensor();
        let before = tensor.clone();
        for _ in 0..3 {
            tensor.copy_stored(&by_columns()).unwrap();
        }
        tensor.values_mut::<f64>().unwrap()[0] = 9.0;
        for _ in 0..3 {
            assert_eq!(tensor.copy_stored(&by_columns()).unwrap().get::<f64>(&[0, 3]).unwrap(), Some(9.0));
            assert_eq!(before.copy_stored(&by_columns()).unwrap().get::<f64>(&[0, 3]).unwrap(), Some(1.0));
        }
        let other = before.with_values(Values::from(vec![4.0, 5.0, 6.0])).unwrap();
        assert_eq!(other.copy_stored(&by_columns()).unwrap().get::<f64>(&[0, 3]).unwrap(), Some(4.0));
    }

    #[test]
    fn few_formats_are_remembered() {
        let tensor = tensor();
        let formats = [by_columns(), Format::coo(2), Format::csf(2), Format::dense(2)];
        formats.iter().for_each(|format| drop(tensor.copy_stored(format).unwrap()));
        assert_eq!(tensor.kept.lock().len(), MOST);
        assert!(tensor.kept.lock().iter().all(|asked| asked.format != formats[0]));
    }

    #[test]
    fn nothing_is_kept_of_arrays_of_others() {
        let own = tensor();
        let values = Values::F64(Buffer::owned_by(vec![1.0, 2.0, 3.0]).into());
        let tensor = own.with_values(values).unwrap();
        let [first, second, third] = [0, 1, 2].map(|_| tensor.copy_stored(&by_columns()).unwrap());
        assert!(values_at(&first) != values_at(&second) && values_at(&second) != values_at(&third));
        assert_eq!(tensor.kept.lock().len(), 0);
    }
}
