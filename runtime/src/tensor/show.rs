//! Tensors as text: a table of a small one, the head of a large one, the arrays of any.

use super::values::with_values;
use super::{AnyTensor, Element, IndexArray, StorageFormat, Tensor};
use std::fmt::{self, Write};
use std::ops::Index;

/// A matrix of at most so many rows, and as many columns, is shown as a table.
const TABLE: usize = 12;
/// So many entries of a larger tensor are shown, and so many elements of an array.
const HEAD: usize = 8;

impl fmt::Display for AnyTensor {
    /// Element type, shape, format, entries and memory; and a vector or matrix of at most 12 × 12 as a table (`.` where nothing is
    /// stored), the first entries of another tensor. A scalar is its number.
    ///
    /// ```
    /// use spc::tensor::{Csr, Tensor};
    ///
    /// let a = Tensor::<f64, Csr>::from_entries([2, 3], [([0, 1], 2.5), ([1, 0], 3.0)])?;
    /// assert_eq!(a.to_string(), "f64 2 × 3, [dense, compressed], 2 entries, 36 bytes\n.  2.5  .\n3  .    .");
    /// # Ok::<(), spc::tensor::PackError>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.unfolded().map_err(|_| fmt::Error)?;
        self.show(f, &whole, &|place| with_values!(&whole.values, |values| values.get(place).map(ToString::to_string)))
    }
}

impl<T, F> fmt::Display for Tensor<T, F> {
    /// As of an [`AnyTensor`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.any, f)
    }
}

impl AnyTensor {
    /// `value` is the text of the value at a place of the tensor with all entries, if there is one.
    fn show(&self, f: &mut fmt::Formatter<'_>, whole: &Self, value: &dyn Fn(usize) -> Option<String>) -> fmt::Result {
        let of = |place: usize| value(place).unwrap_or_default();
        if self.order() == 0 {
            return f.write_str(&of(0));
        }
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let (shape, name, count) = (shape.join(" × "), self.element().name(), self.nnz());
        let plural = if count == 1 { "entry" } else { "entries" };
        write!(f, "{name} {shape}, {}, {count} {plural}, {}", self.format, bytes(self.storage_bytes()))?;
        let (rows, columns) = match self.shape[..] {
            [columns] => (1, columns),
            [rows, columns] => (rows, columns),
            _ => (usize::MAX, usize::MAX),
        };
        if rows <= TABLE && columns <= TABLE {
            return whole.table(f, rows, columns, &of);
        }
        let mut shown = 0;
        let mut result = Ok(());
        whole.for_each_until(|index, position| {
            if shown == HEAD {
                return false;
            }
            shown += 1;
            let index: Vec<String> = index.iter().map(usize::to_string).collect();
            result = write!(f, "\n({}) {}", index.join(", "), of(position));
            result.is_ok()
        });
        result?;
        if shown < count { write!(f, "\n… {} more", count - shown) } else { Ok(()) }
    }

    fn table(
        &self,
        f: &mut fmt::Formatter<'_>,
        rows: usize,
        columns: usize,
        value: &dyn Fn(usize) -> String,
    ) -> fmt::Result {
        let mut cells = vec![vec![".".to_owned(); columns]; rows];
        self.for_each_position(|index, position| match *index {
            [column] => cells[0][column] = value(position),
            [row, column] => cells[row][column] = value(position),
            _ => {}
        });
        let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &cells {
            let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            write!(f, "\n{}", padded.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }

    /// The arrays that it is stored in, level by level: as drawn in the documentation of formats.
    ///
    /// ```
    /// use spc::tensor::{Csr, Tensor};
    ///
    /// let a = Tensor::<f64, Csr>::from_entries([2, 3], [([0, 1], 2.0), ([1, 0], 3.0), ([1, 2], 4.0)])?;
    /// assert_eq!(a.as_any().layout(), "\
    /// level 0  dense, mode 1, extent 2
    /// level 1  compressed, mode 2, extent 3
    ///          pos (u32)  0 1 3
    ///          crd (u32)  1 0 2
    /// values   f64        2 3 4");
    /// # Ok::<(), spc::tensor::PackError>(())
    /// ```
    pub fn layout(&self) -> String {
        let mut text = String::new();
        let coordinates = self.format.levels.iter().map(|level| match &level.coordinate {
            spc_compiler::format::Coordinate::Mode(mode) => format!("mode {}", mode + 1),
            computed => computed.to_string(),
        });
        for (number, (((level, storage), extent), coordinate)) in
            self.format.levels.iter().zip(&self.levels).zip(self.level_extents()).zip(coordinates).enumerate()
        {
            _ = writeln!(text, "{:<8} {}, {coordinate}, extent {extent}", format!("level {number}"), level.format);
            for (name, array) in [("pos", storage.positions()), ("crd", storage.coordinates())] {
                let Some(array) = array else { continue };
                _ = writeln!(text, "         {:<10} {}", format!("{name} ({})", array.width().name()), indices(array));
            }
        }
        let values = with_values!(&self.values, |values| listed(values.len(), &|place| values[place].to_string()));
        _ = write!(text, "values   {:<10} {values}", self.element().name());
        text
    }
}

fn indices(array: &IndexArray) -> String {
    listed(array.len(), &|place| array.get(place).to_string())
}

/// The first elements of an array, and how many more there are.
fn listed(length: usize, element: &dyn Fn(usize) -> String) -> String {
    let shown = if length <= 2 * HEAD { length } else { HEAD };
    let mut parts: Vec<String> = (0..shown).map(element).collect();
    if shown < length {
        parts.push(format!("… {} more", length - shown));
    }
    parts.join(" ")
}

/// A number of bytes, for people.
fn bytes(count: usize) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    match units.into_iter().find(|(_, size)| count as f64 >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}", count as f64 / size),
        None if count == 1 => "1 byte".to_owned(),
        None => format!("{count} bytes"),
    }
}

impl<T: Element, F: StorageFormat, const N: usize> Index<[usize; N]> for Tensor<T, F> {
    type Output = T;

    /// The stored value at an index, else what a missing entry is: `a[[i, j]]`.
    ///
    /// # Panics
    /// When the index has another number of modes than the tensor, or is beyond its shape, or nothing is stored there and missing
    /// entries are other than zero: [`Tensor::get`] says so without a panic.
    fn index(&self, index: [usize; N]) -> &T {
        let shape = self.shape();
        let is_inside = N == shape.len() && index.iter().zip(shape).all(|(index, extent)| index < extent);
        assert!(is_inside, "index {index:?} is beyond the shape {shape:?}");
        match self.as_any().locate(&index) {
            Some(position) => &self.values()[position],
            None => {
                assert!(
                    self.as_any().fill().is_zero(),
                    "nothing is stored at {index:?}, where missing entries are not zero"
                );
                T::zero()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Coo, Csf, Csr, Dense, Scalar, Tensor};

    #[test]
    fn small_tensors_are_tables_and_large_ones_heads() {
        let dense = Tensor::<i32, Dense<2>>::from_vec([2, 2], vec![1, -20, 3, 4]).unwrap();
        assert_eq!(dense.to_string(), "i32 2 × 2, [dense, dense], 4 entries, 16 bytes\n1  -20\n3  4");
        let vector = Tensor::<f64, Csf<1>>::from_entries([4], [([2], 1.5)]).unwrap();
        assert_eq!(vector.to_string(), "f64 4, [compressed], 1 entry, 20 bytes\n.  .  1.5  .");
        assert_eq!(Tensor::<f32, Scalar>::from(2.5).to_string(), "2.5");
        assert_eq!(
            Tensor::<f64, Csr>::zeros([0, 3]).unwrap().to_string(),
            "f64 0 × 3, [dense, compressed], 0 entries, 4 bytes"
        );
        let large = Tensor::<f64, Coo<3>>::from_entries([9, 9, 9], (0..9).map(|i| ([i, 0, i], 0.5))).unwrap();
        let text = large.to_string();
        assert!(text.starts_with("f64 9 × 9 × 9, [compressed(nonunique), singleton(nonunique), singleton], 9 entries, 188 bytes\n(0, 0, 0) 0.5\n"), "{text}");
        assert!(text.ends_with("(7, 0, 7) 0.5\n… 1 more"), "{text}");
    }

    #[test]
    fn layouts_show_every_array() {
        let long = Tensor::<u8, Dense<1>>::from_vec([100], vec![7; 100]).unwrap();
        assert_eq!(
            long.as_any().layout(),
            "level 0  dense, mode 1, extent 100\nvalues   u8         7 7 7 7 7 7 7 7 … 92 more"
        );
    }

    #[test]
    fn elements_are_found_by_index() {
        let a = Tensor::<f64, Csr>::from_entries([2, 3], [([0, 1], 2.5)]).unwrap();
        assert_eq!((a[[0, 1]], a[[1, 2]]), (2.5, 0.0));
        for wrong in [[2, 0], [0, 3]] {
            let a = a.clone();
            assert!(std::panic::catch_unwind(move || a[wrong]).is_err());
        }
    }
}
