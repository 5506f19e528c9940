//! What a compiled kernel computes and moves, by a model: operations, and bytes of each operand.
//!
//! In: a [`Compiled`] kernel and the [`Sizes`] of its tensors. Out: a [`Model`]. It follows the loops of the schedule: a loop
//! over a stored level runs as often as the level has entries, one over a dense mode as often as its extent says, and each
//! access is counted in the innermost loop that changes it. So every expression has a model, and no kernel a formula:
//!
//! ```text
//! A(i, r) = X(i, j, k) * B(j, r) * C(k, r)         X: csf with N entries, F fibers, S slices; R = extent of r; 4-byte elements
//!
//! loop            iterations   operations     bytes
//! i               S                           X: 8 S
//!   j             F                           X: 8 F
//!     k           N                           X: 4 N + 4 N
//!       r         N R          2 N R          C: 4 N R, gathered in rows of 4 R
//!     r           F R          2 F R          B: 4 F R, gathered
//!   r             S R                         A: 4 S R, written
//! ```
//!
//! What is updated is read and written; temporaries are taken to stay in registers and the cache. For tensors without reuse
//! that gives what the literature counts: Li, Lakshminarasimhan, Wu, Li, Barker, *A Parallel Sparse Tensor Benchmark Suite on
//! CPUs and GPUs* (2020), table 1, and Phipps & Kolda, *Software for Sparse Tensor Decomposition on Emerging Computing
//! Architectures* (2019), equation 3. Where several entries share a fiber, generated loops read a factor's row once
//! for all of them, and so counts the model.
//!
//! Where loops meet several sparse operands, the model takes the number of iterations from the mean number of entries under a
//! parent: sums add them, products have those of the operand with fewest. Where a sparse operand leads to the rows of another, the
//! mean is over the rows that it leads to, if [`Sizes::children`] tells. A sparse result's own sizes are used where it has any.

mod iterations;
mod sizes;
#[cfg(test)]
mod tests;

pub use sizes::{LevelSize, Sizes, TensorSize};

use crate::Compiled;
use crate::concrete::{
    Access, Assign, IndexVariable, Kernel, OutputStructure, Reading, Statement, TensorId, TensorKind,
};
use crate::notation::{BinaryOperator, Expr};
use iterations::{Iterations, levels};
use std::collections::BTreeMap;

/// What a kernel computes and moves.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Additions, multiplications and other operations on elements.
    pub operations: f64,
    /// What it reads and writes.
    pub traffic: Vec<Traffic>,
}

/// What a kernel reads or writes of one tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// The tensor's name.
    pub tensor: String,
    /// Whether it is read or written; what is updated is both.
    pub direction: Direction,
    /// In which order.
    pub pattern: Pattern,
    /// How many bytes, each as often as it is touched.
    pub bytes: f64,
    /// How many bytes it touches at most, each counted once.
    pub footprint: f64,
    /// How many of these it does touch, as far as the coordinates are known that lead there ([`Sizes::distinct`]).
    pub reached: f64,
}

/// Whether something is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// In which order elements are touched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pattern {
    /// One after the other.
    Stream,
    /// Wherever stored coordinates point, so many bytes in a row.
    Gather {
        /// The bytes that lie together.
        row: f64,
    },
}

impl Model {
    /// All bytes.
    pub fn bytes(&self) -> f64 {
        self.traffic.iter().map(|traffic| traffic.bytes).sum()
    }

    /// All different bytes.
    pub fn footprint(&self) -> f64 {
        let mut tensors: BTreeMap<&str, f64> = BTreeMap::new();
        for traffic in &self.traffic {
            let footprint = tensors.entry(&traffic.tensor).or_default();
            *footprint = footprint.max(traffic.footprint);
        }
        tensors.values().sum()
    }

    /// All different bytes that are touched.
    pub fn reached(&self) -> f64 {
        let mut tensors: BTreeMap<&str, f64> = BTreeMap::new();
        for traffic in &self.traffic {
            let reached = tensors.entry(&traffic.tensor).or_default();
            *reached = reached.max(traffic.reached);
        }
        tensors.values().sum()
    }

    /// Operations for each byte.
    pub fn intensity(&self) -> f64 {
        if self.bytes() == 0.0 { 0.0 } else { self.operations / self.bytes() }
    }

    /// This and what another kernel computes and moves.
    pub fn and(mut self, other: Model) -> Model {
        self.operations += other.operations;
        self.traffic.extend(other.traffic);
        self
    }
}

/// The model of a kernel; `None` where the sizes of a sparse tensor that it reads are not known.
pub fn model(compiled: &Compiled, sizes: &Sizes) -> Option<Model> {
    let kernel = &compiled.concrete;
    let iterations = Iterations::new(kernel, sizes)?;
    let mut count = Count { kernel, sizes, iterations, operations: 0.0, dense: Vec::new(), stored: BTreeMap::new() };
    count.statement(&kernel.body, &mut Vec::new());
    let loaded = sizes::loaded(&compiled.kernel);
    let mut traffic = count.stored_traffic(&loaded);
    traffic.extend(count.dense.iter().map(|dense| count.dense_traffic(dense)));
    Some(Model { operations: count.operations, traffic })
}

/// A loop around a statement.
#[derive(Debug, Clone, Copy)]
struct Loop {
    variable: IndexVariable,
    /// How often it runs, all in all.
    iterations: f64,
    /// Whether it goes through stored coordinates.
    is_walk: bool,
}

/// Touches of a tensor that coordinates locate in.
struct Dense {
    access: Access,
    direction: Direction,
    touches: f64,
    pattern: Pattern,
}

/// What has been counted.
struct Count<'a> {
    kernel: &'a Kernel,
    sizes: &'a Sizes,
    iterations: Iterations<'a>,
    operations: f64,
    dense: Vec<Dense>,
    /// How often each level of a tensor with stored levels is visited, and how often its values.
    stored: BTreeMap<(usize, Written), Vec<f64>>,
}

/// Whether a tensor is written.
type Written = bool;

impl Count<'_> {
    fn statement(&mut self, statement: &Statement, path: &mut Vec<Loop>) {
        match statement {
            Statement::Empty => {}
            Statement::Sequence(statements) => statements.iter().for_each(|statement| self.statement(statement, path)),
            Statement::Where { consumer, producer, workspace } => {
                self.statement(producer, path);
                self.iterations.made(*workspace, producer);
                self.statement(consumer, path);
            }
            // The loops inside of one over shares go over all in all of them together.
            Statement::Forall { variable, body, .. } if self.kernel.variables[variable.0].share.is_some() => {
                self.statement(body, path);
            }
            Statement::Forall { variable, body, .. } => {
                let outside = path.last().map_or(1.0, |outer| outer.iterations);
                let (times, is_walk) = self.iterations.of(*variable, body);
                path.push(Loop { variable: *variable, iterations: outside * times, is_walk });
                self.statement(body, path);
                path.pop();
            }
            Statement::Assign(assign) => self.assign(assign, path),
        }
    }

    fn assign(&mut self, assign: &Assign, path: &[Loop]) {
        let iterations = path.last().map_or(1.0, |inner| inner.iterations);
        let operations = operations(&assign.value) + usize::from(assign.operator.is_some());
        self.operations += operations as f64 * iterations;
        assign.value.for_each_access(&mut |access| self.touch(access, Direction::Read, path));
        assign.masks.iter().for_each(|mask| self.touch_levels(mask, path, false));
        if assign.operator.is_some() {
            self.touch(&assign.target, Direction::Read, path);
        }
        self.touch(&assign.target, Direction::Write, path);
    }

    fn touch(&mut self, access: &Access, direction: Direction, path: &[Loop]) {
        let tensor = self.kernel.tensor(access.tensor);
        match &tensor.kind {
            TensorKind::Workspace | TensorKind::SparseWorkspace(_) => {}
            // Its index arrays are those of an operand.
            TensorKind::Output(OutputStructure::Shared { .. }) => self.touch_values(access, direction, path),
            _ if tensor.format.is_dense() => self.touch_dense(access, direction, path),
            _ if direction == Direction::Read && matches!(tensor.kind, TensorKind::Output(_)) => {}
            _ => {
                self.touch_levels(access, path, direction == Direction::Write);
                if let Reading::ValueOf(tensor) = access.reads {
                    self.touch_values(&Access { tensor, reads: Reading::Value, ..access.clone() }, direction, path);
                }
            }
        }
    }

    /// The loop that an access is known in: the innermost that changes it.
    fn depth(&self, indices: &[IndexVariable], path: &[Loop]) -> Option<usize> {
        let loops = self.kernel.loops_of(indices);
        path.iter().rposition(|outer| loops.contains(&outer.variable))
    }

    /// How often a tensor's levels and values are visited.
    fn touch_levels(&mut self, access: &Access, path: &[Loop], written: bool) {
        let variables = levels(self.kernel, access);
        let mut visits: Vec<f64> = Vec::with_capacity(variables.len() + 1);
        for level in 0..variables.len() {
            let depth = self.depth(&variables[..=level], path);
            visits.push(depth.map_or(1.0, |depth| path[depth].iterations));
        }
        visits.push(visits.last().copied().unwrap_or(1.0));
        let known = self.stored.entry((access.tensor.0, written)).or_insert_with(|| vec![0.0; visits.len()]);
        for (known, visits) in known.iter_mut().zip(visits) {
            *known = known.max(visits);
        }
    }

    /// The values of a tensor that shares its index arrays: as many in a row as there are.
    fn touch_values(&mut self, access: &Access, direction: Direction, path: &[Loop]) {
        let touches = self.depth(&access.indices, path).map_or(1.0, |depth| path[depth].iterations);
        self.add(Dense { access: access.clone(), direction, touches, pattern: Pattern::Stream });
    }

    fn touch_dense(&mut self, access: &Access, direction: Direction, path: &[Loop]) {
        let touches = self.depth(&access.indices, path).map_or(1.0, |depth| path[depth].iterations);
        let pattern = self.pattern(access, path);
        self.add(Dense { access: access.clone(), direction, touches, pattern });
    }

    /// An element that is touched in two places of the same loops is touched once.
    fn add(&mut self, dense: Dense) {
        let is_same = |other: &&mut Dense| other.access.same_place(&dense.access) && other.direction == dense.direction;
        match self.dense.iter_mut().find(is_same) {
            Some(known) => known.touches = known.touches.max(dense.touches),
            None => self.dense.push(dense),
        }
    }

    /// Whether an access goes through its tensor in order: all loops around it, down to the innermost that changes it, change it,
    /// the outermost first.
    fn pattern(&self, access: &Access, path: &[Loop]) -> Pattern {
        let Some(depth) = self.depth(&access.indices, path) else { return Pattern::Stream };
        let loops = self.kernel.loops_of(&access.indices);
        let still = path[..=depth].iter().rposition(|outer| !loops.contains(&outer.variable));
        let Some(still) = still else { return Pattern::Stream };
        // What lies together are the last modes, as far as loops go through all of them inside of what stands still.
        let tensor = self.kernel.tensor(access.tensor);
        let order = tensor.format.mode_order().unwrap_or_default();
        let mut row = tensor.element.bytes() as f64;
        for &mode in order.iter().rev() {
            let variable = access.indices[mode];
            match path.iter().position(|outer| outer.variable == variable) {
                Some(place) if place > still && !path[place].is_walk => {
                    row *= self.iterations.extent(tensor.extents[mode]);
                }
                _ => break,
            }
        }
        Pattern::Gather { row }
    }

    fn dense_traffic(&self, dense: &Dense) -> Traffic {
        let tensor = self.kernel.tensor(dense.access.tensor);
        let element = tensor.element.bytes() as f64;
        let size = self.sizes.tensors.get(&tensor.name).map(|size| size.values);
        let extents = || tensor.extents.iter().map(|&extent| self.iterations.extent(extent)).product();
        let bytes = dense.touches * element;
        let footprint = size.unwrap_or_else(extents) * element;
        let places = tensor.extents.iter().zip(&dense.access.indices);
        let met = places.map(|(&extent, &variable)| self.met(variable).min(self.iterations.extent(extent)));
        let reached = (met.product::<f64>() * element).min(bytes).min(footprint);
        Traffic {
            tensor: tensor.name.clone(),
            direction: dense.direction,
            pattern: dense.pattern,
            bytes,
            footprint,
            reached,
        }
    }

    /// How many coordinates of a variable there are in the operand that has fewest.
    fn met(&self, variable: IndexVariable) -> f64 {
        let mut least = f64::INFINITY;
        self.kernel.body.for_each_read(&mut |access| {
            let of_tensor = self.sizes.distinct.get(&self.kernel.tensor(access.tensor).name);
            let Some(distinct) = of_tensor else { return };
            let modes = access.indices.iter().zip(distinct).filter(|&(&other, _)| other == variable);
            modes.for_each(|(_, &distinct)| least = least.min(distinct));
        });
        least
    }

    /// Index arrays and values of tensors with stored levels.
    fn stored_traffic(&self, loaded: &sizes::Loaded) -> Vec<Traffic> {
        let mut traffic = Vec::new();
        for (&(tensor, written), visits) in &self.stored {
            let tensor = self.kernel.tensor(TensorId(tensor));
            let element = tensor.element.bytes() as f64;
            let values = visits.last().copied().unwrap_or(0.0) * element;
            let direction = if written { Direction::Write } else { Direction::Read };
            let Some(size) = self.sizes.tensors.get(&tensor.name) else {
                let (tensor, pattern) = (tensor.name.clone(), Pattern::Stream);
                traffic.push(Traffic { tensor, direction, pattern, bytes: values, footprint: values, reached: values });
                continue;
            };
            let mut bytes = if written { size.values * element } else { values };
            let mut footprint = size.values * element;
            let mut is_repeated = false;
            for (level, of_level) in size.levels.iter().enumerate() {
                let arrays = match written {
                    true => of_level.position_bytes + of_level.coordinate_bytes,
                    false => loaded.bytes(&tensor.name, level, of_level),
                };
                let times =
                    if written { 1.0 } else { visits.get(level).map_or(1.0, |v| v / of_level.entries.max(1.0)) };
                is_repeated |= times > 1.0 + 1e-9 && arrays > 0.0;
                bytes += arrays * times;
                footprint += arrays;
            }
            // What is gone through again and again, but not from one end to the other, jumps from parent to parent.
            let pattern = match is_repeated {
                true => Pattern::Gather { row: element * size.values / size.parents().max(1.0) },
                false => Pattern::Stream,
            };
            let (tensor, reached) = (tensor.name.clone(), bytes.min(footprint));
            traffic.push(Traffic { tensor, direction, pattern, bytes, footprint, reached });
        }
        traffic
    }
}

/// The number of operations on elements in an expression.
fn operations(expr: &Expr) -> usize {
    let own = match expr {
        Expr::Unary(..) | Expr::Call(..) => 1,
        Expr::Binary(operator, ..) => usize::from(!matches!(operator, BinaryOperator::And | BinaryOperator::Or)),
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) | Expr::Cast(..) | Expr::Select(..) | Expr::Reduce(..) => {
            0
        }
    };
    own + expr.children().into_iter().map(operations).sum::<usize>()
}
