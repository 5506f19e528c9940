//! Copies of tensors in other formats, for kernels that can't read an operand as it is stored; see [`kept`](super::kept).

use super::values::with_shared;
use super::{AnyTensor, IndexArray, LevelArrays, PackError};
use spc_compiler::format::Format;

impl AnyTensor {
    /// As [`convert_stored`](AnyTensor::convert_stored), by a copy that is kept where one was asked for before.
    ///
    /// # Errors
    /// As [`pack`](super::pack()).
    pub(crate) fn copy_stored(&self, format: &Format) -> Result<AnyTensor, PackError> {
        if self.format == *format {
            return Ok(self.clone());
        }
        // A copy that was kept before the values were exposed may be of other values.
        if !self.has_own_arrays() {
            return self.convert_stored(format);
        }
        if let Some(copy) = self.kept.find(format) {
            return Ok(copy);
        }
        let copy = self.convert_stored(format)?;
        self.kept.note(format, &copy);
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
        assert_eq!(tensor.kept.formats().len(), 3);
        assert!(!tensor.kept.formats().contains(&formats[0]));
    }

    #[test]
    fn nothing_is_kept_of_arrays_of_others() {
        let own = tensor();
        let values = Values::F64(Buffer::owned_by(vec![1.0, 2.0, 3.0]).into());
        let tensor = own.with_values(values).unwrap();
        let [first, second, third] = [0, 1, 2].map(|_| tensor.copy_stored(&by_columns()).unwrap());
        assert!(values_at(&first) != values_at(&second) && values_at(&second) != values_at(&third));
        assert_eq!(tensor.kept.formats().len(), 0);
    }

    #[test]
    fn a_kept_copy_is_not_used_once_values_are_exposed() {
        let tensor = tensor();
        let [_, second, third] = [0, 1, 2].map(|_| tensor.copy_stored(&by_columns()).unwrap());
        assert_eq!(values_at(&second), values_at(&third));
        <f64 as super::super::Element>::unwrap(tensor.values()).unwrap().expose();
        let [fourth, fifth] = [0, 1].map(|_| tensor.copy_stored(&by_columns()).unwrap());
        assert!(values_at(&fourth) != values_at(&second) && values_at(&fifth) != values_at(&fourth));
    }
}
