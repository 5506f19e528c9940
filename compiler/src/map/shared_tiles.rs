//! Sums of a block in shared memory: where places may add to any element of an array that is short, their updates meet in few
//! elements. Each block has a tile, an array of its own of the same length in the memory that its threads share, and adds it to the
//! array when all its places are done (as BLCO's copies for short modes: Nguyen et al., Efficient, out-of-memory sparse MTTKRP on
//! massively parallel architectures, 2022, section 5).
//!
//! ```text
//! for each j of the block's                  tile[0..n] = 0
//!     y[crd[p]] += x[p] * c[j]               for each j of the block's
//!                                                tile[crd[p]] += x[p] * c[j]
//!                                            y[0..n] += tile[0..n]
//! ```
//!
//! Whether the array is short, and whether blocks have enough to add to it, the host knows when it launches.

use super::strategy::Loop;
use crate::gpu::plan::{Function, Lanes, Step, Threads, Tile, bytes};
use crate::gpu::rewrite::{loaded, replace_statements};
use crate::gpu::{Builder, Refusal};
use crate::ir::{ArrayId, ArrayRole, BinaryOperator, Expr, Parallel, ReduceOperator, Sharing, Statement};
use std::collections::BTreeSet;

/// The bytes that all tiles of a block have together: what every device gives without being asked.
const TILES: u64 = 48 << 10;

/// The threads of a block with tiles: the more there are, the fewer tiles a device has to hold.
const TILED_BLOCK: u64 = 256;

/// So many updates of an element, on average, are worth that a block adds it to the array once more.
const UPDATES: u64 = 16;

/// The most blocks: as many as the largest devices run at a time.
const MOST_BLOCKS: u64 = 1 << 10;

/// Fewer blocks leave a device idle.
const FEW_BLOCKS: u64 = 1 << 6;

impl Builder {
    /// The launches of a strategy, with the choice of the same with tiles where it updates arrays that may be short.
    pub(super) fn in_tiles(
        &mut self,
        node: &Loop,
        emit: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let plain = self.branch(emit)?;
        self.choose_tiles(&node.parallel, &plain.clone(), plain);
        Ok(())
    }

    /// Adds the `plain` steps of a loop; where it updates arrays that may be short, with the choice of the same over `shares` with
    /// tiles.
    pub(super) fn choose_tiles(&mut self, parallel: &Parallel, shares: &[Step], plain: Vec<Step>) {
        let anywhere = parallel.sharing.iter().filter(|(_, sharing)| matches!(sharing, Sharing::Private(_)));
        let anywhere: BTreeSet<ArrayId> = anywhere.map(|(array, _)| *array).collect();
        let mut condition = None;
        let mut tiled = Vec::with_capacity(shares.len());
        for step in shares {
            let with_tiles = self.tiled(step, &anywhere);
            tiled.push(with_tiles.as_ref().map_or(step, |(_, step)| step).clone());
            condition = condition.or(with_tiles.map(|(condition, _)| condition));
        }
        match condition {
            Some(condition) => self.module.steps.push(Step::Choose { condition, then: tiled, otherwise: plain }),
            None => self.module.steps.extend(plain),
        }
    }

    /// A launch of the same with tiles, and where it is worth it.
    fn tiled(&mut self, step: &Step, anywhere: &BTreeSet<ArrayId>) -> Option<(Expr, Step)> {
        if let Step::Choose { condition, then, otherwise } = step
            && let ([then], [otherwise]) = (&then[..], &otherwise[..])
        {
            // Either way of threads to go over a row adds the same.
            let (_, then) = self.tiled(then, anywhere)?;
            let (is_worth, otherwise) = self.tiled(otherwise, anywhere)?;
            let (condition, then, otherwise) = (condition.clone(), vec![then], vec![otherwise]);
            return Some((is_worth, Step::Choose { condition, then, otherwise }));
        }
        let Step::Launch { function, places, lanes, workers, blocks: None } = step else { return None };
        let plain = self.module.functions[*function].clone();
        let tiles = self.tiles(&plain, anywhere);
        if tiles.is_empty() {
            return None;
        }
        let updates = updates(&plain, places, lanes.as_ref());
        let tiled = self.with_tiles(plain, tiles);
        let length = tiled.tiles.iter().map(|tile| Expr::Length(tile.array)).fold(Expr::Index(0), Expr::plus);
        let (few, most) = (Expr::Index(UPDATES * FEW_BLOCKS), Expr::Index(MOST_BLOCKS));
        let fits = Expr::binary(BinaryOperator::LessEqual, tiled.shared(&self.module.kernel), Expr::Index(TILES));
        let is_worth = length.clone().times(few).less(updates.clone());
        let worth = length.times(Expr::Index(UPDATES)).plus(Expr::Index(1));
        let blocks = Expr::binary(BinaryOperator::Divide, updates, worth);
        let blocks = Some(Expr::binary(BinaryOperator::Minimum, blocks, most));
        self.decide_tiles(&tiled);
        self.module.functions.push(tiled);
        let function = self.module.functions.len() - 1;
        let (places, lanes, workers) = (places.clone(), lanes.clone(), workers.clone());
        Some((fits.and(is_worth), Step::Launch { function, places, lanes, workers, blocks }))
    }

    /// Tiles of the arrays that threads of a function update `anywhere`.
    fn tiles(&mut self, function: &Function, anywhere: &BTreeSet<ArrayId>) -> Vec<Tile> {
        let Threads::Each(places) = &function.threads else { return Vec::new() };
        if places.workers.is_some() || matches!(places.lanes, Some(Lanes::Segments(_))) {
            return Vec::new();
        }
        let kernel = &mut self.module.kernel;
        let arrays = function.atomic.intersection(anywhere).copied();
        // Atomic operations on narrow elements touch those beside them.
        let arrays = arrays.filter(|&array| bytes(kernel, array) >= 4);
        let arrays: Vec<(ArrayId, ReduceOperator)> =
            arrays.filter_map(|array| Some((array, only_operator(&function.body, array)?))).collect();
        let tile = |(array, operator): (ArrayId, ReduceOperator)| {
            let declared = kernel.array(array).clone();
            let name = format!("{}_tile", declared.name);
            Tile { array, tile: kernel.declare_array(&name, declared.element, ArrayRole::Local), operator }
        };
        arrays.into_iter().map(tile).collect()
    }

    /// A function that updates tiles.
    fn with_tiles(&mut self, plain: Function, tiles: Vec<Tile>) -> Function {
        let mut function = plain;
        for tile in &tiles {
            function.body = replace_statements(function.body, &mut |statement| match statement {
                Statement::Reduce(array, index, operator, value) if array == tile.array => {
                    vec![Statement::Reduce(tile.tile, index, operator, value)]
                }
                other => vec![other],
            });
        }
        if let Threads::Each(places) = &mut function.threads
            && places.worker.is_none()
        {
            places.worker = Some(self.module.kernel.declare_index("worker"));
            function.block = TILED_BLOCK;
        }
        function.atomic.extend(tiles.iter().map(|tile| tile.tile));
        function.comment += ", in tiles of shared memory";
        Function { tiles, ..function }
    }

    fn decide_tiles(&mut self, function: &Function) {
        for tile in &function.tiles {
            let name = self.module.kernel.array(tile.array).name.clone();
            let what = format!(
                "blocks sum what they add to {name} in shared memory where it takes at most {} KB and gets more than {} \
                 updates an element",
                TILES >> 10,
                UPDATES * FEW_BLOCKS
            );
            self.decide(what, "many updates of few elements would wait for each other; a block adds its sums once");
        }
    }
}

/// The operator by which a body updates an array, where it does nothing else with it.
fn only_operator(body: &[Statement], array: ArrayId) -> Option<ReduceOperator> {
    let mut first = None;
    let mut is_only = !loaded(body).contains(&array);
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| match statement {
            Statement::Reduce(other, _, operator, _) if *other == array => {
                is_only &= *first.get_or_insert(*operator) == *operator;
            }
            Statement::View { array: other, .. } => is_only &= *other != array,
            other => is_only &= other.written_array() != Some(array),
        });
    });
    first.filter(|_| is_only)
}

/// About how many updates there are: one of each element of a row, one of each iteration that a group shares out, one of each
/// entry.
fn updates(function: &Function, places: &Expr, lanes: Option<&Expr>) -> Expr {
    let of = function.places();
    let row = of.and_then(|places| places.row()).map(|lane| &lane.row);
    let is_row = row.is_some();
    let has_share = of.is_some_and(|places| places.share.is_some());
    // A lane of a group has several iterations.
    let iterations = lanes.map(|lanes| match lanes {
        Expr::Binary(BinaryOperator::Maximum, _, long) => long,
        lanes => lanes,
    });
    let iterations = iterations.map(|lanes| match lanes {
        Expr::Binary(BinaryOperator::Divide, iterations, _) if of.is_some_and(|of| of.group().is_some()) => iterations,
        lanes => lanes,
    });
    match row.or(iterations) {
        // All of them for each place are all.
        Some(Expr::Binary(BinaryOperator::Divide, all, each)) if !has_share && **each == *places => (**all).clone(),
        Some(lanes) if is_row || !has_share => places.clone().times(lanes.clone()),
        _ => places.clone(),
    }
}
