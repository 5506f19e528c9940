//! A tensor in parts, each a tensor with some of its entries.
//!
//! Parts are cut at equal numbers of positions of the last level that stores positions, where nearly all bytes are. Arrays from
//! there on are shared with the whole, not copied, or read from a file; above, the positions of the ancestors are written anew:
//!
//! ```text
//! [compressed, compressed]      positions 3..5 of the second level
//!
//! rows      0     2     5            2     5
//! pos       0     2     4   5        0     1   2
//! crd       1  3  0  4  2               4  2
//! ```

use super::layout::Layout;
use super::layout::follows;
use super::{AnyTensor, Element, Index, IndexArray, LevelArrays, Shared, Values};
use spc_compiler::format::{Format, LevelKind};
use std::ops::Range;

/// Why a tensor does not come in parts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tensor stored as {format} does not come in parts: {reason}; convert it to `coo` or `csf`")]
pub struct NotCut {
    /// How it is stored.
    pub format: String,
    /// Why not.
    pub reason: String,
}

impl AnyTensor {
    /// So many parts at most, of about as many entries each: tensors of the same shape and format whose entries are, together,
    /// those of this one. With `whole`, the entries below one position of that level are in one part.
    ///
    /// ```
    /// use spc::tensor::{Csr, Tensor};
    ///
    /// let a = Tensor::<f64, Csr>::from_entries([3, 9], [([0, 1], 1.0), ([0, 4], 2.0), ([2, 0], 3.0), ([2, 8], 4.0)])?.into_any();
    /// let parts = a.parts(2, None)?;
    /// assert_eq!(parts[1].entries::<f64>()?, [(vec![2, 0], 3.0), (vec![2, 8], 4.0)]);
    /// assert_eq!(a.parts(3, Some(0))?.len(), 2); // there are two rows with entries
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When no level stores positions, or there is a level that can't be cut: only `dense`, `compressed` and `singleton` can.
    pub fn parts(&self, count: usize, whole: Option<usize>) -> Result<Vec<AnyTensor>, NotCut> {
        let pieces = Cut::new(self, &self.format, &self.shape)?.pieces(count, whole)?;
        Ok(pieces.iter().map(|piece| self.piece(piece)).collect())
    }

    /// One of its parts.
    fn piece(&self, piece: &Piece) -> AnyTensor {
        let level = |(arrays, piece): (&LevelArrays, &LevelPiece)| {
            let positions = arrays.positions().zip(piece.positions.as_ref());
            let coordinates = arrays.coordinates().zip(piece.coordinates.clone());
            LevelArrays::new(
                positions.map(|(all, piece)| all.part(piece.read()).rebased(piece)),
                coordinates.map(|(all, range)| all.part(range)),
            )
        };
        let levels = self.levels.iter().zip(&piece.levels).map(level).collect();
        let (shape, format, fill) = (self.shape.clone(), self.format.clone(), self.fill);
        AnyTensor::from_filled_parts_trusted(shape, format, levels, self.values.part(piece.values.clone()), fill)
    }
}

/// `total * part / count`, which may not fit before it is divided.
fn share(total: usize, part: usize, count: usize) -> usize {
    (total as u128 * part as u128 / count as u128) as usize
}

/// Where the arrays of a tensor lie that is cut.
pub(crate) trait Arrays {
    /// Why they can't be looked at, or the tensor not be cut.
    type Error: From<NotCut>;

    /// Whether a level has positions, and coordinates.
    fn has(&self, level: usize) -> (bool, bool);

    /// How many coordinates a level has.
    fn coordinates(&self, level: usize) -> usize;

    /// Where the children of a parent begin, or the last ones end: no more than there are children.
    fn position(&self, level: usize, parent: usize) -> Result<usize, Self::Error>;

    /// How many positions a level has, one more than parents.
    fn positions(&self, level: usize) -> usize;
}

impl Arrays for AnyTensor {
    type Error = NotCut;

    fn has(&self, level: usize) -> (bool, bool) {
        let level = &self.levels[level];
        (level.positions().is_some(), level.coordinates().is_some())
    }

    fn coordinates(&self, level: usize) -> usize {
        self.levels[level].coordinates().map_or(0, IndexArray::len)
    }

    fn position(&self, level: usize, parent: usize) -> Result<usize, NotCut> {
        Ok(self.levels[level].positions().map_or(0, |positions| positions.get(parent)))
    }

    fn positions(&self, level: usize) -> usize {
        self.levels[level].positions().map_or(0, IndexArray::len)
    }
}

/// Which elements of its arrays a part of a tensor has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) levels: Vec<LevelPiece>,
    pub(crate) values: Range<usize>,
}

/// Those of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LevelPiece {
    pub(crate) positions: Option<PositionsPiece>,
    pub(crate) coordinates: Option<Range<usize>>,
}

/// Those of the positions of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PositionsPiece {
    /// The parents that the part has.
    parents: Range<usize>,
    /// Those of them that have children there; others are before or after.
    with_children: Range<usize>,
    /// The children that the part has.
    children: Range<usize>,
}

impl PositionsPiece {
    /// Whether those that have children are among the parents: so it is where levels agree.
    pub(crate) fn is_consistent(&self) -> bool {
        self.parents.start <= self.with_children.start && self.with_children.end <= self.parents.end
    }

    /// The positions that say where children are.
    pub(crate) fn read(&self) -> Range<usize> {
        self.with_children.start..self.with_children.end + 1
    }
}

/// Where a tensor is cut.
pub(crate) struct Cut<'a, A> {
    arrays: &'a A,
    /// The extent of each level.
    extents: Vec<usize>,
    /// The last level that stores positions.
    level: usize,
}

impl<'a, A: Arrays> Cut<'a, A> {
    pub(crate) fn new(arrays: &'a A, format: &Format, shape: &[usize]) -> Result<Self, NotCut> {
        let refuse = |reason: &str| NotCut { format: format.to_string(), reason: reason.to_owned() };
        let kinds: Vec<LevelKind> = format.levels.iter().map(|level| level.format.kind).collect();
        if let Some(level) = kinds.iter().position(|kind| !follows(*kind)) {
            return Err(refuse(&format!("level {level}, `{}`, can't be cut", format.levels[level].format)));
        }
        let level = kinds.iter().rposition(|kind| kind.is_compressed());
        let level = level.ok_or_else(|| refuse("it has no `compressed` level"))?;
        let layout = Layout::new(format, shape).map_err(|error| refuse(&error.to_string()))?;
        let cut = Self { arrays, extents: layout.extents, level };
        let below_dense = |pair: &[LevelKind]| pair[1].is_singleton() && pair[0].is_dense();
        if kinds[..=cut.level].windows(2).any(below_dense) {
            return Err(refuse("a `singleton` level is below a `dense` one"));
        }
        Ok(cut)
    }

    /// So many parts at most; with `whole`, the entries below one position of that level are in one.
    pub(crate) fn pieces(&self, count: usize, whole: Option<usize>) -> Result<Vec<Piece>, A::Error> {
        let positions = self.arrays.coordinates(self.level);
        let count = count.clamp(1, positions.max(1));
        let mut bounds: Vec<usize> = (0..count).map(|part| share(positions, part, count)).collect();
        if let Some(level) = whole.filter(|&level| level < self.level) {
            for bound in bounds.iter_mut().skip(1) {
                *bound = self.first_below(level, *bound)?;
            }
            bounds.dedup();
        }
        let ends = bounds.iter().copied().skip(1).chain([positions]);
        bounds.iter().zip(ends).map(|(&begin, end)| self.piece(begin..end)).collect()
    }

    /// The part of some positions of the level.
    fn piece(&self, range: Range<usize>) -> Result<Piece, A::Error> {
        let mut levels = Vec::with_capacity(self.extents.len());
        self.keep(self.level + 1, range.clone(), &mut levels)?;
        let mut kept = range;
        for level in self.level + 1..self.extents.len() {
            let (_, stores) = self.arrays.has(level);
            if !stores {
                kept = kept.start * self.extents[level]..kept.end * self.extents[level];
            }
            levels.push(LevelPiece { positions: None, coordinates: stores.then(|| kept.clone()) });
        }
        Ok(Piece { levels, values: kept })
    }

    /// The first levels, with at least these positions of the last of them; those that they have.
    fn keep(&self, depth: usize, needed: Range<usize>, levels: &mut Vec<LevelPiece>) -> Result<Range<usize>, A::Error> {
        let Some(level) = depth.checked_sub(1) else { return Ok(0..1) };
        Ok(match self.arrays.has(level) {
            (true, _) => {
                let with_children = self.parents_of(level, &needed)?;
                let parents = self.keep(level, with_children.clone(), levels)?;
                let positions = PositionsPiece { parents, with_children, children: needed.clone() };
                levels.push(LevelPiece { positions: Some(positions), coordinates: Some(needed.clone()) });
                needed
            }
            (false, true) => {
                let kept = self.keep(level, needed, levels)?;
                levels.push(LevelPiece { positions: None, coordinates: Some(kept.clone()) });
                kept
            }
            (false, false) => {
                let extent = self.extents[level];
                let rows = match extent {
                    0 => 0..0,
                    _ => needed.start / extent..needed.end.div_ceil(extent),
                };
                let kept = self.keep(level, rows, levels)?;
                levels.push(LevelPiece { positions: None, coordinates: None });
                kept.start * extent..kept.end * extent
            }
        })
    }

    /// The first position of those that are below one position of a level together with a position.
    fn first_below(&self, level: usize, position: usize) -> Result<usize, A::Error> {
        let between = level + 1..self.level + 1;
        let mut ancestor = position;
        for level in between.clone().rev() {
            ancestor = match self.arrays.has(level) {
                (true, _) => self.parents_of(level, &(ancestor..ancestor + 1))?.start,
                (false, true) => ancestor,
                (false, false) => ancestor / self.extents[level].max(1),
            };
        }
        for level in between {
            ancestor = match self.arrays.has(level) {
                (true, _) => self.arrays.position(level, ancestor)?,
                (false, true) => ancestor,
                (false, false) => ancestor * self.extents[level],
            };
        }
        Ok(ancestor)
    }

    /// The parents that have children among some positions.
    fn parents_of(&self, level: usize, children: &Range<usize>) -> Result<Range<usize>, A::Error> {
        let count = self.arrays.positions(level).saturating_sub(1);
        let point = |is_before: &dyn Fn(usize) -> Result<bool, A::Error>| -> Result<usize, A::Error> {
            let (mut low, mut high) = (0, count);
            while low < high {
                let middle = low + (high - low) / 2;
                if is_before(middle)? {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            Ok(low)
        };
        let first = point(&|parent| Ok(self.arrays.position(level, parent + 1)? <= children.start))?;
        if children.is_empty() {
            return Ok(first..first);
        }
        let end = point(&|parent| Ok(self.arrays.position(level, parent)? < children.end))?;
        Ok(first..end.max(first))
    }
}

impl IndexArray {
    /// Some elements, which are shared.
    fn part(&self, range: Range<usize>) -> IndexArray {
        fn part<I: Index>(whole: &Shared<I>, range: Range<usize>) -> IndexArray {
            I::wrap(whole.part(range))
        }
        match self {
            IndexArray::U8(whole) => part(whole, range),
            IndexArray::U16(whole) => part(whole, range),
            IndexArray::U32(whole) => part(whole, range),
            IndexArray::U64(whole) => part(whole, range),
        }
    }

    /// The positions of a part, of those that it [reads](PositionsPiece::read): only some children are left, which begin at 0.
    pub(crate) fn rebased(&self, piece: &PositionsPiece) -> IndexArray {
        fn rebased<I: Index>(
            read: &[I],
            PositionsPiece { parents, with_children, children }: &PositionsPiece,
        ) -> IndexArray {
            let inside =
                |&position: &I| I::narrowed(position.to_usize().clamp(children.start, children.end) - children.start);
            let before = std::iter::repeat_n(I::default(), with_children.start - parents.start);
            let after = std::iter::repeat_n(I::narrowed(children.len()), parents.end - with_children.end);
            I::wrap(before.chain(read.iter().map(inside)).chain(after).collect::<Vec<I>>())
        }
        super::index_array::with_indices!(self, |read| rebased(read, piece))
    }
}

impl Values {
    /// Some elements, which are shared.
    fn part(&self, range: Range<usize>) -> Values {
        fn part<T: Element>(whole: &Shared<T>, range: Range<usize>) -> Values {
            T::wrap(whole.part(range))
        }
        super::values::with_shared!(self, |whole| part(whole, range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::tensor::{Csr, Duplicates, Tensor, pack};
    use spc_compiler::format::Format;
    use spc_compiler::format::resolve::{Definitions, resolve};
    use spc_compiler::syntax::parse_format;

    /// What the parts of a tensor have, one after the other.
    fn entries(parts: &[AnyTensor]) -> Vec<(Vec<usize>, f64)> {
        let mut all: Vec<(Vec<usize>, f64)> = parts.iter().flat_map(|part| part.entries::<f64>().unwrap()).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    #[test]
    fn parts_have_the_entries_of_the_whole() {
        let formats = ["csf", "coo", "[dense, compressed, compressed]", "[compressed, dense, compressed]", "scoo"];
        let formats = formats.into_iter().chain(["[compressed, compressed, dense]", "hicoo(4)", "alto"]);
        for text in formats {
            for nnz in [0, 1, 7, 60] {
                let x = generate::uniform(&[6, 5, 4], nnz, 3).unwrap();
                let format: Format = resolve(&parse_format(text).expect(text), 3, &Definitions::prelude()).expect(text);
                let x = pack(x, &format, Duplicates::Sum).unwrap();
                x.validate().unwrap();
                for count in [1, 2, 3, 7, 100] {
                    for whole in [None, Some(0), Some(1)] {
                        let parts = x.parts(count, whole).unwrap();
                        assert!(parts.len() <= count && !parts.is_empty(), "{text}");
                        parts.iter().for_each(|part| part.validate().unwrap());
                        let is_even = |part: &AnyTensor| part.nnz() * count <= x.nnz() + count * 20;
                        assert!(whole.is_some() || parts.iter().all(is_even), "{text} {count}");
                        assert_eq!(
                            entries(&parts),
                            entries(std::slice::from_ref(&x)),
                            "{text} {nnz} {count} {whole:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_position_that_stays_whole_is_in_one_part() {
        let x = generate::uniform(&[6, 50], 100, 3).unwrap();
        let x = Tensor::<f64, Csr>::from_coordinates(x).unwrap().into_any();
        let parts = x.parts(4, Some(0)).unwrap();
        let rows =
            |part: &AnyTensor| part.entries::<f64>().unwrap().iter().map(|(index, _)| index[0]).collect::<Vec<_>>();
        assert!(parts.len() > 1);
        for pair in parts.windows(2) {
            assert!(rows(&pair[0]).last() < rows(&pair[1]).first());
        }
    }

    #[test]
    fn what_stores_no_positions_is_refused() {
        let x = AnyTensor::zeros(vec![4, 4], Format::dense(2), spc_compiler::ir::ElementType::F64).unwrap();
        assert_eq!(x.parts(2, None).unwrap_err().reason, "it has no `compressed` level");
    }
}
