//! The order of a tensor's entries by the slices of a mode: found once for a pattern, and kept as long as its index arrays are there.
//!
//! ```text
//! coo, sorted by i                  its order by j
//! i crd   0  0  2  3                j crd   0     1  4
//! j crd   1  4  0  1     order      j pos   0     1  3  4
//! k crd   3  5  0  2    ───────▶    entry   2     0  3  1      where the entries of each j are
//! ```
//!
//! An order takes one number an entry where a sorted copy takes all coordinates and the value (the permuted traversal of Phipps, Kolda,
//! Software for sparse tensor decomposition on emerging computing architectures, 2019).

use super::patterns::{Pattern, Patterns};
use super::{AnyTensor, Coordinates, Duplicates, IndexArray, Indices, LevelArrays, PackError, Values, pack};
use spc_compiler::format::{Coordinate, Format, LevelFormat};
use spc_compiler::ir::ElementType;

/// As many slices for each entry may be empty where the entries of each are counted.
const SLICES: usize = 8;

/// Orders of patterns, each by the format that tells it.
static FOUND: Patterns<(Format, AnyTensor)> = Patterns::new();

impl AnyTensor {
    /// The order in which a format, whose outermost level stores a mode and whose next is that of the entries, has the entries of a list:
    /// a matrix of the slices of that mode and the positions of their entries. And whether it had to be found first.
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn permutation(&self, format: &Format) -> Result<(AnyTensor, bool), PackError> {
        let (pattern, is_same) = (Pattern::of(self, self.levels.len()), |found: &(Format, _)| found.0 == *format);
        if let Some((_, order)) = FOUND.find(&pattern, is_same) {
            return Ok((order, false));
        }
        let order = self.order_of_entries(format)?;
        // Arrays that belong to somebody else may change elsewhere.
        if self.levels.iter().flat_map(LevelArrays::iter).all(IndexArray::is_own) {
            FOUND.keep(pattern, (format.clone(), order.clone()), is_same);
        }
        Ok((order, true))
    }

    fn order_of_entries(&self, format: &Format) -> Result<AnyTensor, PackError> {
        let outer = &format.levels[0];
        let Coordinate::Mode(mode) = outer.coordinate else { unreachable!("the outermost level stores a mode") };
        let level = self.format.levels.iter().position(|level| level.coordinate == outer.coordinate);
        let slices = level.and_then(|level| self.levels[level].coordinates()).expect("a list stores each mode");
        let count = slices.len();
        let indices = match slices {
            IndexArray::U64(wide) => Indices::U64(wide.to_vec()),
            narrow => Indices::U32(narrow.iter().map(|slice| slice as u32).collect()),
        };
        let entries = match u32::try_from(count) {
            Ok(count) => Indices::U32((0..count).collect()),
            Err(_) => Indices::U64((0..count as u64).collect()),
        };
        let shape = vec![self.shape[mode], count];
        let entries = Coordinates {
            shape: shape.clone(),
            shape_is_stated: true,
            indices: vec![indices, entries],
            values: vec![0u8; count],
        };
        let width = format.levels[1].format.positions();
        let inner = LevelFormat::COMPRESSED.with_coordinates(width).with_positions(width);
        let wanted = Format::of_levels([outer.format, inner]);
        let is_counted =
            outer.format == LevelFormat::COMPRESSED && inner == LevelFormat::COMPRESSED && shape[0] <= SLICES * count;
        let levels = if is_counted {
            let rows = Format::of_levels([LevelFormat::DENSE, inner]);
            with_entries(pack(entries, &rows, Duplicates::Sum)?.levels)
        } else {
            pack(entries, &wanted, Duplicates::Sum)?.levels
        };
        Ok(AnyTensor::from_parts_trusted(shape, wanted, levels, Values::try_zeroed(ElementType::U8, count)?))
    }
}

/// The slices that have entries, and these, of all slices and theirs.
fn with_entries(mut levels: Vec<LevelArrays>) -> Vec<LevelArrays> {
    let (positions, entries) = levels.pop().map(LevelArrays::into_arrays).unwrap_or_default();
    let (Some(IndexArray::U32(positions)), Some(entries)) = (positions, entries) else {
        unreachable!("as it was packed")
    };
    let slices: Vec<u32> = (0u32..)
        .zip(positions.windows(2))
        .filter(|(_, bounds)| bounds[0] < bounds[1])
        .map(|(slice, _)| slice)
        .collect();
    let begin = slices.iter().map(|&slice| positions[slice as usize]);
    let bounds: Vec<u32> = begin.chain(positions.last().copied()).collect();
    vec![LevelArrays::of(vec![0, slices.len() as u32], slices), LevelArrays::of(bounds, entries)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use spc_compiler::format::{IndexWidth, Level};

    fn list(shape: &[usize], entries: usize) -> AnyTensor {
        let wide = |mut level: Level| {
            level.format = level.format.with_coordinates(IndexWidth::U64);
            level
        };
        let mut coo = Format::coo(shape.len());
        if shape.iter().any(|&extent| extent > u32::MAX as usize) {
            coo = Format { levels: coo.levels.into_iter().map(wide).collect(), ..coo };
        }
        pack(generate::uniform(shape, entries, 7).unwrap(), &coo, Duplicates::Sum).unwrap()
    }

    /// The entries of each slice of `mode`.
    fn by(mode: usize) -> Format {
        by_wide(mode, IndexWidth::U32)
    }

    fn by_wide(mode: usize, width: IndexWidth) -> Format {
        let modes = [mode, (mode + 1) % 3, (mode + 2) % 3];
        let levels = [LevelFormat::COMPRESSED, LevelFormat::COMPRESSED, LevelFormat::SINGLETON];
        Format::permuted(&modes, &levels.map(|level| level.with_coordinates(width)))
    }

    #[test]
    fn entries_are_in_order_of_a_mode_and_then_as_they_are_stored() {
        // Slices of the first shape are counted; the second has more than there are entries by far.
        for (shape, entries) in [([300, 200, 20], 50_000), ([40, 1 << 40, 1 << 33], 2_000), ([3, 4, 5], 0)] {
            let tensor = list(&shape, entries);
            for (mode, extent) in shape.into_iter().enumerate() {
                let width = tensor.format().levels[mode].format.coordinates();
                let (order, _) = tensor.permutation(&by_wide(mode, width)).unwrap();
                assert!(order.validate().is_ok());
                assert_eq!(order.shape(), [extent, entries]);
                let column: Vec<usize> = tensor.coordinates(mode).unwrap().iter().collect();
                let mut expected: Vec<usize> = (0..entries).collect();
                expected.sort_by_key(|&entry| column[entry]);
                assert!(order.coordinates(1).unwrap().iter().eq(expected.iter().copied()));
                let mut slices: Vec<usize> = column.clone();
                slices.sort_unstable();
                slices.dedup();
                assert!(order.coordinates(0).unwrap().iter().eq(slices));
            }
        }
    }

    #[test]
    fn an_order_is_found_once_for_a_pattern() {
        let tensor = list(&[30, 20, 10], 1000);
        let address = |order: &AnyTensor| order.coordinates(1).unwrap().as_bytes().as_ptr();
        let (first, is_new) = tensor.permutation(&by(1)).unwrap();
        let (second, is_new_again) = tensor.clone().permutation(&by(1)).unwrap();
        assert!(is_new && !is_new_again && address(&first) == address(&second));
        assert!(tensor.permutation(&by(2)).unwrap().1);
        assert!(list(&[30, 20, 10], 1000).permutation(&by(1)).unwrap().1);
    }
}
