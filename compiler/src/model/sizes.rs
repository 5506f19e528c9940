//! How large the tensors of a kernel are.

use crate::ir::{self, ArrayId, ArrayRole, Expr, Statement};
use std::collections::{BTreeMap, BTreeSet};

/// The sizes of tensors, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sizes {
    /// Inputs and results, and the copies that a kernel reads instead of inputs.
    pub tensors: BTreeMap<String, TensorSize>,
    /// How many children a parent of a tensor's level has on average where the kernel's loops come by, if that is known: another
    /// operand may lead to full rows more often than to others.
    pub children: BTreeMap<(String, usize), f64>,
    /// How many different coordinates a sparse tensor has in each mode, where that is known: so many rows of a dense operand does it
    /// lead to.
    pub distinct: BTreeMap<String, Vec<f64>>,
}

/// The size of a tensor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TensorSize {
    /// The extent of each mode.
    pub shape: Vec<usize>,
    /// Each level, outermost first.
    pub levels: Vec<LevelSize>,
    /// The number of stored values.
    pub values: f64,
}

/// The size of a level.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LevelSize {
    /// How many coordinates it has under all parents. Equal neighbours under one parent, which coordinate lists have, count once.
    pub entries: f64,
    /// How many coordinates are possible.
    pub extent: f64,
    /// The bytes of what says where children begin and end.
    pub position_bytes: f64,
    /// The bytes of its coordinates.
    pub coordinate_bytes: f64,
}

impl TensorSize {
    /// How many entries the level above the last one has.
    pub(super) fn parents(&self) -> f64 {
        let above = self.levels.len().checked_sub(2);
        above.map_or(1.0, |level| self.levels[level].entries)
    }
}

/// The index arrays that a kernel reads.
pub(super) struct Loaded(BTreeSet<(String, usize, bool)>);

impl Loaded {
    /// The bytes of what the kernel reads of a level's arrays.
    pub(super) fn bytes(&self, tensor: &str, level: usize, size: &LevelSize) -> f64 {
        let part = |is_position: bool, bytes: f64| {
            if self.0.contains(&(tensor.to_owned(), level, is_position)) { bytes } else { 0.0 }
        };
        part(true, size.position_bytes) + part(false, size.coordinate_bytes)
    }
}

/// Finds out which index arrays a kernel's loops read. What is read once a chunk, to find its range, is but a few elements.
pub(super) fn loaded(kernel: &ir::Kernel) -> Loaded {
    let mut arrays: BTreeSet<ArrayId> = BTreeSet::new();
    kernel.body.iter().for_each(|statement| find_loads(statement, false, &mut arrays));
    let views = kernel.views();
    let name = |tensor: ir::TensorId| kernel.tensor(tensor).name.clone();
    let role = |array: ArrayId| match kernel.array(array).role {
        ArrayRole::Positions { tensor, level } => Some((name(tensor), level, true)),
        ArrayRole::Coordinates { tensor, level } => Some((name(tensor), level, false)),
        ArrayRole::Values { .. } | ArrayRole::Local => None,
    };
    Loaded(arrays.into_iter().map(|array| views.source(array)).filter_map(role).collect())
}

/// Notes the arrays that a statement reads again and again.
fn find_loads(statement: &Statement, in_loop: bool, arrays: &mut BTreeSet<ArrayId>) {
    let is_while = matches!(statement, Statement::While(..) | Statement::Merge(_));
    if let Statement::Folds { between, .. } = statement {
        arrays.extend(between);
    }
    if in_loop || is_while || matches!(statement, Statement::Folds { .. }) {
        if let Statement::View { of, .. } = statement {
            arrays.insert(*of);
        }
        statement.for_each_expr(&mut |expr| {
            expr.for_each(&mut |expr| match expr {
                Expr::Length(_) => {}
                other => other.for_each_array(&mut |array| _ = arrays.insert(array)),
            });
        });
    }
    let in_loop = in_loop || is_while || matches!(statement, Statement::For { .. });
    let blocks = match statement {
        // What would run where work is uneven moves as much, but for the ends of its shares.
        Statement::Parallel(parallel) => vec![&parallel.body],
        other => other.blocks(),
    };
    for block in blocks {
        block.iter().for_each(|statement| find_loads(statement, in_loop, arrays));
    }
}
