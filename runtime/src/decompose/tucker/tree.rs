//! The tensor times factors, from the leaves of a tree to its root.
//!
//! A copy of the tensor is a tree with a level for each mode. The product with the factor of the last level's mode has a row for each node
//! of the level above; that of the next level turns these rows into longer ones, for the nodes one level higher:
//!
//! ```text
//! levels i, j, k      Z(p, r) = X(p, k) * W(k, r)            a row of R₃ for each fiber p = (i, j)
//!                     Y(p, q, r) = Z(p, j, r) * V(j, q)      a row of R₂·R₃ for each slice p = i that has entries
//! ```
//!
//! A mode whose rank is its extent has no factor: its product has the rows of the level below at their coordinates.
//!
//! So nothing is formed twice, what lies between is dense rows of a sparse tensor, and each product is the same kernel, for any order: its
//! operand has levels `[dense, compressed, dense]`, nodes of the level above, coordinates of the mode, and the row. This is the tree of Kaya
//! and Uçar (High Performance Parallel Algorithms for the Tucker Decomposition of Sparse Tensors, 2016) with one copy for each mode, as by
//! Smith and Karypis (Accelerating the Tucker Decomposition with Compressed Sparse Tensors, 2017).

use super::super::DecomposeError;
use super::super::elements::of_levels;
use super::super::engine::Clock;
use super::super::kernels::{Kernels, Source};
use crate::execute::Input;
use crate::tensor::{AnyTensor, Coordinates, Duplicates, ElementType, LevelArrays, Values, pack};
use spc_compiler::format::{Format, LevelFormat};

/// The tensor as a tree, and room for the products of each level.
#[derive(Debug)]
pub(super) struct Tree {
    /// The mode of each level, from the root.
    pub modes: Vec<usize>,
    /// For each mode, whether it has no factor.
    is_whole: Vec<bool>,
    shape: Vec<usize>,
    levels: Vec<LevelArrays>,
    /// The last level: a row for each fiber.
    fibers: AnyTensor,
    /// The product of each level but the first, from the second.
    products: Vec<Option<AnyTensor>>,
}

/// Modes with this one first, those without a factor, which make rows long, and the others by their extents: the fewer nodes there are near
/// the root, the fewer long rows.
pub(super) fn rooted(shape: &[usize], root: usize, is_whole: &[bool]) -> Vec<usize> {
    let mut others: Vec<usize> = (0..shape.len()).filter(|&mode| mode != root).collect();
    others.sort_by_key(|&mode| (!is_whole[mode], shape[mode]));
    others.insert(0, root);
    others
}

impl Tree {
    /// A copy with a level for each mode in this order.
    pub(super) fn new(
        entries: &Coordinates<f64>,
        modes: Vec<usize>,
        is_whole: &[bool],
        element: ElementType,
    ) -> Result<Self, DecomposeError> {
        let format = Format::permuted(&modes, &vec![LevelFormat::COMPRESSED; modes.len()]);
        let shape = entries.shape.clone();
        let packed = pack(entries.clone(), &format, Duplicates::Sum)?;
        let levels = packed.levels().to_vec();
        let values = match packed.values_of::<f64>() {
            Some(values) if element == ElementType::F32 => {
                Values::from(values.iter().map(|&value| value as f32).collect::<Vec<f32>>())
            }
            _ => packed.values().clone(),
        };
        let last = modes.len() - 1;
        let rows = packed.position_count(last);
        let csr = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
        let storage = vec![LevelArrays::NONE, levels[last].clone()];
        let fibers = AnyTensor::from_parts_trusted(vec![rows, shape[modes[last]]], csr, storage, values);
        let products = (0..last).map(|_| None).collect();
        Ok(Self { modes, is_whole: is_whole.to_vec(), shape, levels, fibers, products })
    }

    /// The number of nodes of a level: of the root, of slices that have entries.
    pub(super) fn nodes(&self, level: usize) -> usize {
        self.levels[level].coordinates().map_or(0, |coordinates| coordinates.len())
    }

    /// The coordinates of the slices that have entries.
    pub(super) fn slices(&self) -> Vec<usize> {
        self.levels[0].coordinates().map_or_else(Vec::new, |coordinates| coordinates.iter().collect())
    }

    /// The last level: a row for each fiber.
    pub(super) fn fibers(&self) -> &AnyTensor {
        &self.fibers
    }

    /// The length of the rows of a level's product, and of each above, up to the root's.
    fn width(&self, level: usize, ranks: &[usize]) -> usize {
        self.modes[level..].iter().map(|&mode| ranks[mode]).product()
    }

    /// The bytes of the copy and of the products down from a level.
    pub(super) fn bytes(&self, ranks: &[usize]) -> u64 {
        let arrays: usize = self.levels.iter().map(LevelArrays::bytes).sum();
        let element = self.fibers.element().bytes() as u64;
        let rows = |level: usize| self.nodes(level - 1) as u64 * self.width(level, ranks) as u64;
        let products: u64 = (1..self.modes.len()).map(rows).sum();
        (arrays + self.fibers.values().bytes()) as u64 + products * element
    }

    /// The kernels that the products of some levels take.
    pub(super) fn sources(&self, ranks: &[usize], levels: impl IntoIterator<Item = usize>) -> Vec<Source> {
        levels.into_iter().map(|level| self.source(level, ranks)).collect()
    }

    fn source(&self, level: usize, ranks: &[usize]) -> Source {
        let rank = ranks[self.modes[level]];
        let element = self.fibers.element().name();
        let is_last = level + 1 == self.modes.len();
        if self.is_whole[self.modes[level]] {
            let (format, index) = if is_last { ("", "p, i") } else { (", dense", "p, i, s") };
            return Source::new(format!(
                "fn rows(T: {element} [dense, compressed{format}]) -> Z: {element} dense {{ Z({index}) = T({index}); }}"
            ));
        }
        if is_last {
            let text = format!(
                "fn ttm(T: {element} [dense, compressed], U: {element} dense) -> Z: {element} dense {{ \
                 Z(p, r) = T(p, i) * U(i, r); }}"
            );
            return Source::new(text).with("r", rank);
        }
        let text = format!(
            "fn ttm(T: {element} [dense, compressed, dense], U: {element} dense) -> Z: {element} dense {{ \
             Z(p, r, s) = T(p, i, s) * U(i, r); }} schedule {{ reorder(p, i, r, s); }}"
        );
        Source::new(text).with("r", rank).with("s", self.width(level + 1, ranks))
    }

    /// What a level's product is made of: the last level, or rows of the level below it.
    pub(super) fn operand(&self, level: usize) -> AnyTensor {
        if level + 1 == self.modes.len() {
            return self.fibers.clone();
        }
        let below = self.product(level + 1);
        let parents = if level == 0 { 1 } else { self.nodes(level - 1) };
        let shape = vec![parents, self.shape[self.modes[level]], below.shape()[1..].iter().product()];
        let format = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED, LevelFormat::DENSE]);
        let levels = vec![LevelArrays::NONE, self.levels[level].clone(), LevelArrays::NONE];
        of_levels(shape, format, levels, below)
    }

    /// The product of a level that has been formed.
    fn product(&self, level: usize) -> &AnyTensor {
        self.products[level - 1].as_ref().unwrap_or(&self.fibers)
    }

    /// The product of the second level: a row for each slice that has entries, R₂ × R₃ × … long.
    pub(super) fn rows(&self) -> AnyTensor {
        let product = self.product(1);
        let shape = vec![product.shape()[0], product.shape()[1..].iter().product()];
        of_levels(shape, Format::dense(2), vec![LevelArrays::NONE; 2], product)
    }

    /// Forms the product of a level from that of the level below, with the factor of its mode if it has one.
    pub(super) fn multiply(
        &mut self,
        level: usize,
        factor: Option<&AnyTensor>,
        ranks: &[usize],
        kernels: &mut Kernels<'_>,
        clock: &Clock,
    ) -> Result<(), DecomposeError> {
        let kernel = kernels.get(&self.source(level, ranks))?;
        let mut target = match self.products[level - 1].take() {
            Some(target) => target,
            None => self.room(level, ranks)?,
        };
        let operand = self.operand(level);
        let inputs: Vec<&dyn Input> = [&operand].into_iter().chain(factor).map(|input| input as &dyn Input).collect();
        clock.kernel(|| kernel.call_into(&inputs, &mut target))?;
        self.products[level - 1] = Some(target);
        Ok(())
    }

    fn room(&self, level: usize, ranks: &[usize]) -> Result<AnyTensor, DecomposeError> {
        let mut shape = vec![self.nodes(level - 1), ranks[self.modes[level]]];
        if level + 1 < self.modes.len() {
            shape.push(self.width(level + 1, ranks));
        }
        let format = Format::dense(shape.len());
        Ok(AnyTensor::zeros(shape, format, self.fibers.element())?)
    }

    /// The product of the root, once those of all other levels are formed: the core, its modes in the order of the levels.
    pub(super) fn core(
        &self,
        factor: Option<&AnyTensor>,
        ranks: &[usize],
        kernels: &mut Kernels<'_>,
        clock: &Clock,
    ) -> Result<AnyTensor, DecomposeError> {
        let kernel = kernels.get(&self.source(0, ranks))?;
        let operand = self.operand(0);
        let inputs: Vec<&dyn Input> = [&operand].into_iter().chain(factor).map(|input| input as &dyn Input).collect();
        Ok(clock.kernel(|| kernel.call(&inputs))?.single()?)
    }
}
