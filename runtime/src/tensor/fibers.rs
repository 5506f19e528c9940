//! Tensors by their fibers: where each begins is found once for a pattern, and kept as long as its index arrays are there.
//!
//! ```text
//! coo                                  its fibers
//! i crd   0  0  0  2                   i crd   0     0  2
//! j crd   1  1  4  0      fibers       j crd   1     4  0
//! k crd   3  5  0  2    ─────────▶     k pos   0     2  3  4
//! values  a  b  c  d                   k crd, values: the same arrays
//! ```
//!
//! Which formats differ in this alone, [`Format::fibers_of`] says.

use super::index_array::with_indices;
use super::layout::Layout;
use super::patterns::{Pattern, Patterns};
use super::tasks;
use super::{AnyTensor, Index, IndexArray, LevelArrays, PackError, Values};
use spc_compiler::format::{Children, Format, IndexWidth, Role};
use spc_compiler::ir::ElementType;
use std::ops::Range;
use std::sync::Arc;

/// So many entries are looked at in one task.
const GRAIN: usize = 1 << 15;

/// An array of a tensor by its fibers.
#[derive(Clone)]
enum Part {
    /// It is the tensor's own, of the same role.
    Own,
    /// It was made.
    Made(Option<IndexArray>),
}

/// What differs from the tensor: the arrays of the levels above fibers, and where fibers begin.
struct Fibers {
    /// Positions and coordinates of each level above.
    above: Vec<[Part; 2]>,
    begin: Part,
}

/// Fibers of patterns in a format.
static FOUND: Patterns<(Format, Arc<Fibers>)> = Patterns::new();

impl AnyTensor {
    /// The same entries by their fibers, where a format differs in these alone; and whether they had to be found first. Coordinates in
    /// fibers and values are shared, and what is found is kept for tensors of the same index arrays.
    pub(crate) fn by_fibers(&self, format: &Format) -> Result<Option<(AnyTensor, bool)>, PackError> {
        if self.format.symmetry.is_some() {
            return Ok(None);
        }
        let Some(depth) = format.fibers_of(&self.format) else { return Ok(None) };
        let (pattern, is_same) = (Pattern::of(self, depth + 1), |found: &(Format, _)| found.0 == *format);
        if let Some((_, fibers)) = FOUND.find(&pattern, is_same) {
            return Ok(Some((self.of_fibers(format, depth, &fibers), false)));
        }
        let Some(fibers) = self.find_fibers(format, depth)? else { return Ok(None) };
        let tensor = self.of_fibers(format, depth, &fibers);
        // Arrays that belong to somebody else may change elsewhere.
        if self.levels[..=depth].iter().flat_map(LevelArrays::iter).all(IndexArray::is_own) {
            FOUND.keep(pattern, (format.clone(), Arc::new(fibers)), is_same);
        }
        Ok(Some((tensor, true)))
    }

    fn of_fibers(&self, format: &Format, depth: usize, fibers: &Fibers) -> AnyTensor {
        let array = |part: &Part, level: usize, role: Role| match part {
            Part::Own => self.levels[level].array(role).cloned(),
            Part::Made(array) => array.clone(),
        };
        let above = fibers.above.iter().enumerate().map(|(level, [positions, coordinates])| {
            LevelArrays::new(array(positions, level, Role::Positions), array(coordinates, level, Role::Coordinates))
        });
        let begin = array(&fibers.begin, depth, Role::Positions);
        let inside = LevelArrays::new(begin, self.levels[depth].coordinates().cloned());
        let below = self.levels[depth + 1..].iter().cloned();
        let levels = above.chain([inside]).chain(below).collect();
        let (shape, values) = (self.shape.clone(), self.values.clone());
        AnyTensor::from_filled_parts_trusted(shape, format.clone(), levels, values, self.fill)
    }

    /// The fibers below `depth` levels; `None` where the levels above can't be stored by themselves.
    fn find_fibers(&self, format: &Format, depth: usize) -> Result<Option<Fibers>, PackError> {
        let kind = self.format.levels[depth].format.kind;
        let width = format.levels[depth].format.positions();
        let (above, begin) = if kind.is_singleton() {
            let head = self.format.head(depth);
            let begin = self.first_of_fibers(head, depth);
            let above = self.above(head, depth, &begin);
            (above, Part::Made(Some(bounds(&begin, self.levels[head].coordinates(), width))))
        } else {
            let begin = match kind.children {
                Children::Flags => Part::Made(self.flagged(depth, width)),
                _ => Part::Own,
            };
            (vec![[Part::Own, Part::Own]; depth], begin)
        };
        let (own, modes) = self.format.outer(depth);
        let (wanted, _) = format.outer(depth);
        if own == wanted {
            return Ok(Some(Fibers { above, begin }));
        }
        let shape: Vec<usize> = modes.iter().map(|&mode| self.shape[mode]).collect();
        if Layout::new(&own, &shape).is_err() || Layout::new(&wanted, &shape).is_err() {
            return Ok(None);
        }
        let levels: Vec<LevelArrays> =
            above.iter().enumerate().map(|(level, parts)| self.arrays_of(level, parts)).collect();
        let count = levels.last().and_then(LevelArrays::coordinates).map_or(0, IndexArray::len);
        let places = AnyTensor::from_parts_trusted(shape, own, levels, Values::try_zeroed(ElementType::U8, count)?);
        let made = places.convert_stored(&wanted)?.levels.into_iter().map(|level| {
            let (positions, coordinates) = level.into_arrays();
            [Part::Made(positions), Part::Made(coordinates)]
        });
        Ok(Some(Fibers { above: made.collect(), begin }))
    }

    fn arrays_of(&self, level: usize, parts: &[Part; 2]) -> LevelArrays {
        let array = |part: &Part, role: Role| match part {
            Part::Own => self.levels[level].array(role).cloned(),
            Part::Made(array) => array.clone(),
        };
        LevelArrays::new(array(&parts[0], Role::Positions), array(&parts[1], Role::Coordinates))
    }

    /// The first entry of each fiber of a chain of coordinates.
    fn first_of_fibers(&self, head: usize, depth: usize) -> Vec<usize> {
        let columns: Vec<&IndexArray> = self.levels[head..depth].iter().filter_map(LevelArrays::coordinates).collect();
        let parents = self.levels[head].positions();
        let count = columns.first().map_or(0, |column| column.len());
        let of_range = |range: Range<usize>| {
            let mut begins = vec![false; range.len()];
            begins[0] = range.start == 0;
            for column in &columns {
                with_indices!(column, |column| mark_changes(column, &range, &mut begins));
            }
            if let Some(parents) = parents {
                with_indices!(parents, |parents| mark_bounds(parents, &range, &mut begins));
            }
            range.zip(begins).filter(|(_, begins)| *begins).map(|(place, _)| place).collect::<Vec<usize>>()
        };
        tasks::map(&tasks::ranges(count, GRAIN), &of_range).concat()
    }

    /// The levels above the fibers of a chain: an entry of the chain for each fiber.
    fn above(&self, head: usize, depth: usize, begin: &[usize]) -> Vec<[Part; 2]> {
        let level = |level: usize| {
            let gathered = |array: &IndexArray| with_indices!(array, |array| gathered(array, begin));
            let coordinates = Part::Made(self.levels[level].coordinates().map(gathered));
            let of_parents = |array: &IndexArray| with_indices!(array, |array| ranks(array, begin));
            let positions = self.levels[level].positions().filter(|_| level == head).map(of_parents);
            [Part::Made(positions), coordinates]
        };
        (0..depth).map(|number| if number < head { [Part::Own, Part::Own] } else { level(number) }).collect()
    }

    /// Where fibers begin whose first entries are flagged, and where the last ends.
    fn flagged(&self, depth: usize, width: IndexWidth) -> Option<IndexArray> {
        let flags = self.levels[depth].positions()?;
        let first = (0..flags.len()).filter(|&place| flags.get(place) != 0);
        IndexArray::narrowed(first.chain([flags.len()]), width)
    }
}

/// Marks the entries whose coordinate is another than that of the entry before.
fn mark_changes<I: Index>(column: &[I], range: &Range<usize>, begins: &mut [bool]) {
    for (place, begins) in range.clone().zip(begins) {
        *begins |= place > 0 && column[place] != column[place - 1];
    }
}

/// Marks the first entries of parents.
fn mark_bounds<I: Index>(parents: &[I], range: &Range<usize>, begins: &mut [bool]) {
    let first = parents.partition_point(|bound| bound.to_usize() < range.start);
    for bound in parents[first..].iter().map(|bound| bound.to_usize()).take_while(|&bound| bound < range.end) {
        begins[bound - range.start] = true;
    }
}

fn gathered<I: Index>(array: &[I], places: &[usize]) -> IndexArray {
    I::wrap(tasks::collected(places.len(), GRAIN, |number| array[places[number]]))
}

/// How many fibers begin before each bound.
fn ranks<I: Index>(bounds: &[I], begin: &[usize]) -> IndexArray {
    let rank = |number: usize| begin.partition_point(|&place| place < bounds[number].to_usize());
    I::wrap(tasks::collected(bounds.len(), GRAIN, |number| I::narrowed(rank(number))))
}

/// Where fibers begin, and where the last ends.
fn bounds(begin: &[usize], entries: Option<&IndexArray>, width: IndexWidth) -> IndexArray {
    let end = entries.map_or(0, IndexArray::len);
    let bound = |number: usize| begin.get(number).copied().unwrap_or(end);
    super::index_array::with_width!(width, |I| I::wrap(tasks::collected(begin.len() + 1, GRAIN, |number| {
        I::narrowed(bound(number))
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::tensor::{Duplicates, pack};
    use spc_compiler::format::{self, LevelFormat};

    fn packed(format: &Format, entries: usize) -> AnyTensor {
        pack(generate::uniform(&[300, 200, 20], entries, 7).unwrap(), format, Duplicates::Sum).unwrap()
    }

    fn tensor(name: &str, numbers: &[u64], entries: usize) -> AnyTensor {
        packed(&format::named(name, numbers, 3).unwrap(), entries)
    }

    /// Fibers by the coordinates of the other modes.
    fn by_coordinates() -> Format {
        Format::of_levels([LevelFormat::COMPRESSED.nonunique(), LevelFormat::SINGLETON, LevelFormat::COMPRESSED])
    }

    #[test]
    fn fibers_are_those_that_packing_finds() {
        let format = by_coordinates();
        for entries in [0, 1, 50, 90_000] {
            for source in ["coo", "csf", "fcoo"] {
                let (found, is_new) = tensor(source, &[], entries).by_fibers(&format).unwrap().unwrap();
                assert!(is_new && found == packed(&format, entries), "{source} of {entries}");
            }
            let csf = format::named("csf", &[], 3).unwrap();
            assert_eq!(tensor("coo", &[], entries).by_fibers(&csf).unwrap().unwrap().0, tensor("csf", &[], entries));
        }
    }

    #[test]
    fn blocks_have_fibers_of_their_own() {
        for entries in [0, 1, 50, 90_000] {
            let ghicoo = tensor("ghicoo", &[128], entries);
            let outer: Vec<_> =
                format::named("hicoo", &[128], 2).unwrap().levels.iter().map(|level| level.format).collect();
            let wanted = ghicoo.format().in_fibers(&outer).unwrap();
            let (found, _) = ghicoo.by_fibers(&wanted).unwrap().unwrap();
            assert!(found.validate().is_ok());
            assert_eq!(found.entries::<f64>().unwrap(), ghicoo.entries::<f64>().unwrap());
            assert_eq!(found, ghicoo.convert_stored(&wanted).unwrap());
        }
    }

    #[test]
    fn what_is_found_is_kept_and_entries_are_not_copied() {
        let format = by_coordinates();
        let coo = tensor("coo", &[], 1000);
        let (first, is_new) = coo.by_fibers(&format).unwrap().unwrap();
        let (second, is_new_again) = coo.clone().by_fibers(&format).unwrap().unwrap();
        let address = |array: Option<&IndexArray>| array.unwrap().as_bytes().as_ptr();
        assert!(is_new && !is_new_again);
        for level in 0..3 {
            assert_eq!(address(first.coordinates(level)), address(second.coordinates(level)));
        }
        assert_eq!(address(first.coordinates(2)), address(coo.coordinates(2)));
        assert_eq!(first.values().as_bytes().as_ptr(), coo.values().as_bytes().as_ptr());
        assert!(tensor("coo", &[], 1000).by_fibers(&format).unwrap().unwrap().1);
    }
}
