//! Concrete index notation: the loops of a kernel, in order, and how each one runs.
//!
//! A [`Kernel`] says in which order loops run, with which temporaries, from which copies, and what runs in parallel; every
//! decision is kept with its reason for `spc explain`. [`schedule`](mod@crate::schedule) makes it, and here is only the data.
//!
//! ```text
//! A(i, r) = sum(j, k)(X(i, j, k) * B(j, r) * C(k, r))          X: csf, the rest dense
//!
//! parallel i
//!     where A(i, r) += t(r)
//!         for all j
//!             where t(r) += t_1(r) * B(j, r)
//!                 for all k
//!                     t_1(r) += X(i, j, k) * C(k, r)            (each over the vector loop r)
//! ```
//!
//! The terms are those of Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor Algebra Compilation with Workspaces* (2019).

mod asked;
mod levels;
mod print;
mod simplify;

use crate::format::{Coordinate, Format, Map};
use crate::ir::{ElementType, IndexExpr, Literal, ReduceOperator};
pub use crate::notation::{Access, Direction, Expr, IndexVariable, Reading, TensorId};
pub use crate::remark::{Decision, Remark};
pub use asked::{
    Asked, AskedAssembly, AskedChunks, AskedCollect, AskedCopy, AskedStorage, AskedSum, AskedWalk, Balance, Chain,
    Output, Parts, Precomputed, Way,
};
pub(crate) use levels::{level_variables, stored_levels};
pub(crate) use print::{access as show_access, expr as show_expr, statement as show_statement, summary};
pub use simplify::{absent, simplify};
pub(crate) use simplify::{changes_nothing, is_identity, simplify_expr, without};
use std::ops::Range;

/// A scheduled kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The lines of its documentation.
    pub documentation: Vec<String>,
    /// What it computes, as index notation.
    pub summary: Vec<String>,
    /// The tensors of the notation, with the same ids; then sorted copies and workspaces.
    pub tensors: Vec<Tensor>,
    /// Index variables, with the notation's ids.
    pub variables: Vec<Variable>,
    /// Extents; several index variables may run over one.
    pub extents: Vec<Extent>,
    /// Computed indices, each with the place of the extent that it must lie below.
    pub bounds: Vec<Bound>,
    /// What recurrences divide by.
    pub pivots: Vec<Pivot>,
    /// What the schedule block asks for.
    pub asked: Asked,
    /// What the loops are for.
    pub target: Target,
    /// Whether results have the same bits in every run, on any number of threads.
    pub deterministic: bool,
    /// What to do.
    pub body: Statement,
    /// Why it is so.
    pub decisions: Vec<Remark>,
}

/// What a recurrence divides by: a result is not finite where it is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pivot {
    /// The result.
    pub result: TensorId,
    /// The operand, or the result itself.
    pub operand: TensorId,
    /// The result's mode for each of the operand's; none for the result's diagonal.
    pub modes: Vec<usize>,
}

/// A tensor of a scheduled kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: ElementType,
    /// What an entry is that is not stored. Results and workspaces hold it at first.
    pub fill: Literal,
    /// The fill value that the caller gets an output with. Loops may begin with another where they assign all of a dense one.
    pub delivered_fill: Literal,
    /// Its storage; all dense for a workspace.
    pub format: Format,
    /// The format that the caller gets an output in, where loops can't write that: it is converted when they are done.
    pub delivered: Option<Format>,
    /// How entries of equal coordinates come together where an output lists entries in any order, which are sorted when they are
    /// all there.
    pub listed: Option<ReduceOperator>,
    /// The extent of each mode: a place in [`Kernel::extents`].
    pub extents: Vec<usize>,
    /// The input before it at whose entries' places its own are: its index arrays are not read.
    pub pattern: Option<TensorId>,
    /// How it is stored where loops see its levels as modes; then `format` and `extents` are those of the levels.
    pub stored: Option<Stored>,
    /// Where it comes from.
    pub kind: TensorKind,
}

/// The storage of a tensor whose levels hold computed coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Its format.
    pub format: Format,
    /// The format's map.
    pub map: Map,
    /// The extent of each mode: a place in [`Kernel::extents`].
    pub extents: Vec<usize>,
}

/// Where a tensor comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorKind {
    /// The caller.
    Input,
    /// The run time makes it from an input, in another mode order or format.
    SortedCopy(TensorId),
    /// The fibers of an input, with its coordinates in them and its values ([`Format::fibers_of`]): the run time finds once where they
    /// begin.
    Fibers(TensorId),
    /// An input whose entries are read in another order, where they are: the run time finds once which entry is at which place in it.
    Permutation(TensorId),
    /// The kernel's result.
    Output(OutputStructure),
    /// A `where` makes it; dense.
    Workspace,
    /// A `where` makes it, without entries at first. Its producer writes them in any order, its consumer walks them in
    /// the order of its levels: coordinates, then dense ones.
    SparseWorkspace(Collect),
}

/// How the terms of a sparse workspace come together at their coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collect {
    /// Values are dense, at their coordinates, and a bitmap tells where there are some; where they would take more bytes than
    /// this for each thread, a table finds them.
    Bitmap(u64),
    /// A table finds the entry that a term belongs to; the coordinates are sorted at the end.
    Table,
    /// Terms are listed, sorted, and then combined.
    List,
}

/// How the structure of an output comes about.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputStructure {
    /// Every level is dense.
    Dense,
    /// Its first `levels` levels are those of this access, whose positions it shares.
    Shared {
        /// The operand as it is accessed.
        access: Access,
        /// How many levels are shared.
        levels: usize,
    },
    /// Entries are appended in order.
    Appended,
}

/// An index variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its place in [`Kernel::extents`].
    pub extent: usize,
    /// How it is computed from others, where it is.
    pub value: Option<Computed>,
    /// Whether a computed variable has a loop all the same, of one iteration: its coordinate is searched for in what is
    /// stored, or stored itself.
    pub has_loop: bool,
    /// The level that it runs over, where that stores a computed coordinate.
    pub level: Option<Level>,
    /// What its loop goes over where that is no range of coordinates.
    pub share: Option<Share>,
}

/// Positions of a level, in load-balanced parts: the loop over them holds the loops over the levels above, which in a share go over
/// those positions alone that have children in it. So the parents of a share's first and last position are searched for
/// once, and those between come as the loops go.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The operand.
    pub access: Access,
    /// Its levels that the loop goes over together; the positions are those of the last of them.
    pub levels: Range<usize>,
    /// How many positions a block has, where the loop is over blocks.
    pub by: Option<u64>,
    /// How values meet in an element of a result that several shares have terms for, if there is one.
    pub operator: Option<ReduceOperator>,
}

/// What loops are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Target {
    /// Few threads with vectors, and caches that hold what a thread comes back to.
    #[default]
    Cpu,
    /// Very many threads that run side by side.
    Gpu,
}

/// How an index variable is computed from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Computed {
    /// By arithmetic: that of an access, or what a loop was split into.
    Index {
        /// How.
        index: IndexExpr<IndexVariable>,
        /// Whether it may lie beyond its extent, where nothing is to be done.
        guarded: bool,
        /// The variable that numbers the blocks which it was split into.
        block: Option<IndexVariable>,
    },
    /// From what the levels of a tensor store, by the inverse of its map.
    Mode {
        /// The tensor, which is [`Stored`].
        tensor: TensorId,
        /// Its mode.
        mode: usize,
        /// The levels that it is computed from.
        used: Vec<usize>,
        /// The variable of each level of the tensor.
        levels: Vec<IndexVariable>,
        /// Whether it may lie outside of the tensor, where nothing is to be done.
        guarded: bool,
    },
    /// From the number of an iteration of two loops that are fused: what it has of whole rows, or what is left.
    Fused {
        /// The variable of the fused loop.
        whole: IndexVariable,
        /// The extent of the inner of the two: a place in [`Kernel::extents`].
        row: usize,
        /// Whether this is the outer of the two.
        is_outer: bool,
    },
}

/// A level that stores a computed coordinate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Whose.
    pub tensor: TensorId,
    /// Which, outermost first.
    pub level: usize,
    /// The index variables that its coordinate is made of.
    pub made_of: Vec<IndexVariable>,
}

impl Computed {
    /// The same over other variables.
    pub fn map(&self, replace: &mut dyn FnMut(&IndexVariable) -> IndexVariable) -> Computed {
        match self {
            Computed::Index { index, guarded, block } => Computed::Index {
                index: index.map(replace),
                guarded: *guarded,
                block: block.as_ref().map(&mut *replace),
            },
            Computed::Mode { tensor, mode, used, levels, guarded } => Computed::Mode {
                tensor: *tensor,
                mode: *mode,
                used: used.clone(),
                levels: levels.iter().map(replace).collect(),
                guarded: *guarded,
            },
            Computed::Fused { whole, row, is_outer } => {
                Computed::Fused { whole: replace(whole), row: *row, is_outer: *is_outer }
            }
        }
    }

    /// The variables that it is computed from.
    pub fn variables(&self) -> Vec<IndexVariable> {
        match self {
            Computed::Index { index, .. } => index.variables(),
            Computed::Mode { used, levels, .. } => used.iter().map(|&level| levels[level]).collect(),
            Computed::Fused { whole, .. } => vec![*whole],
        }
    }
}

/// A computed index, which must lie below an extent, or is only a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// A place in [`Kernel::extents`]; `None`: it indexes nothing.
    pub extent: Option<usize>,
    /// The index; a place in [`Kernel::extents`] stands for every index below that extent.
    pub index: IndexExpr<usize>,
}

/// The extent of one or more index variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The name of the first of them, or one that no other extent has.
    pub name: String,
    /// What the text calls them; where that has no name for them, the name of a mode that they index, as `c1_size`.
    pub written: Vec<String>,
    /// Where its size comes from.
    pub size: crate::ir::Size,
    /// What it follows from, where it does. These come after all others.
    pub of: Option<ExtentOf>,
}

impl Extent {
    /// What messages call it: as the text does, where it does.
    pub fn shown(&self) -> &str {
        self.written.first().unwrap_or(&self.name)
    }

    /// Whether the text has this name for one of its variables, or this is the name of its mode.
    pub fn is_called(&self, name: &str) -> bool {
        self.written.iter().any(|written| written == name)
    }
}

/// What an extent follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtentOf {
    /// It is that of a level of a [`Stored`] tensor.
    Level(TensorId, usize),
    /// It is the number of blocks of `by` values that another extent is cut into.
    Blocks {
        /// A place in [`Kernel::extents`].
        extent: usize,
        /// How many values.
        by: u64,
    },
    /// It is that of a block.
    Inside(u64),
    /// It is the product of two others, which are places in [`Kernel::extents`].
    Product(usize, usize),
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Nothing to do.
    Empty,
    /// The body for every value of the variable at which it does something.
    Forall {
        /// The variable.
        variable: IndexVariable,
        /// How iterations run.
        run: Run,
        /// The body.
        body: Box<Statement>,
    },
    /// The producer fills the workspace, which holds its fill value before; then the consumer reads it.
    Where {
        /// The workspace.
        workspace: TensorId,
        /// Reads it.
        consumer: Box<Statement>,
        /// Fills it.
        producer: Box<Statement>,
    },
    /// One element.
    Assign(Assign),
    /// One after the other.
    Sequence(Vec<Statement>),
}

/// `target operator= value`, where all masks hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Assign {
    /// The element.
    pub target: Access,
    /// `None`: assigned. Else combined.
    pub operator: Option<ReduceOperator>,
    /// The value; no reductions are left in it.
    pub value: Expr,
    /// Tensors that must have an entry here.
    pub masks: Vec<Access>,
}

/// How the iterations of a loop run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// One after the other.
    Serial,
    /// In this order, as an iteration reads what those before it have assigned.
    InOrder(Direction),
    /// In chunks of equal work, at the same time.
    Parallel,
    /// The same where the data has such chunks, else in [`Share`]s: this variable's.
    ParallelOr(IndexVariable),
    /// Side by side, in the lanes of a vector.
    Vector,
}

impl TensorKind {
    /// Whether a `where` makes it.
    pub fn is_workspace(&self) -> bool {
        matches!(self, TensorKind::Workspace | TensorKind::SparseWorkspace(_))
    }

    /// The input that it has the entries of, where the run time makes it before the loops.
    pub fn of(&self) -> Option<TensorId> {
        match self {
            TensorKind::SortedCopy(of) | TensorKind::Fibers(of) | TensorKind::Permutation(of) => Some(*of),
            _ => None,
        }
    }

    /// Whether it is what the caller gives, or made of that before the loops.
    pub fn is_operand(&self) -> bool {
        self.of().is_some() || matches!(self, TensorKind::Input)
    }
}

impl Kernel {
    /// The type of an expression's value.
    pub fn element_of(&self, expr: &Expr) -> ElementType {
        expr.element(&|tensor| self.tensor(tensor).element.computed())
    }

    /// The declaration of a tensor.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// The places of the extents that the text has a name for: those of index variables, in any statement, or of a mode.
    ///
    /// # Errors
    /// Where there is none: the names that there are.
    pub fn extents_called(&self, name: &str) -> Result<Vec<usize>, Vec<&str>> {
        let name = &crate::syntax::normalized(name);
        let places = self.extents.iter().enumerate().filter(|(_, extent)| extent.is_called(name));
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        if !places.is_empty() {
            return Ok(places);
        }
        let mut known: Vec<&str> = Vec::new();
        for name in self.extents.iter().flat_map(|extent| &extent.written) {
            if !known.contains(&name.as_str()) {
                known.push(name);
            }
        }
        Err(known)
    }

    /// The name of an index variable.
    pub fn variable(&self, id: IndexVariable) -> &str {
        &self.variables[id.0].name
    }

    /// The tensor that a tensor is, or is a copy of.
    pub fn original(&self, id: TensorId) -> TensorId {
        self.tensor(id).kind.of().unwrap_or(id)
    }

    /// Its name.
    pub fn original_name(&self, id: TensorId) -> String {
        self.tensor(self.original(id)).name.clone()
    }

    /// The names of index variables.
    pub fn names(&self, ids: &[IndexVariable]) -> Vec<String> {
        ids.iter().map(|&id| self.variable(id).to_owned()).collect()
    }

    /// The variables that run over their extents and that `variable` is made of.
    pub fn running(&self, variable: IndexVariable) -> Vec<IndexVariable> {
        match &self.variables[variable.0].value {
            None => vec![variable],
            Some(value) => value.variables().into_iter().flat_map(|made_of| self.running(made_of)).collect(),
        }
    }

    /// The expression with its reductions over what runs: over both parts of a variable that is split.
    pub(crate) fn over_running(&self, expr: &Expr) -> Expr {
        let expr = expr.map_children(&|child| self.over_running(child));
        match expr {
            Expr::Reduce(operator, variables, body) => {
                let mut running: Vec<IndexVariable> = Vec::new();
                for variable in variables.iter().flat_map(|&variable| self.running(variable)) {
                    if !running.contains(&variable) {
                        running.push(variable);
                    }
                }
                Expr::Reduce(operator, running, body)
            }
            other => other,
        }
    }

    /// The variables whose loops must be outside for `variable` to be known, its own included.
    pub fn loops(&self, variable: IndexVariable) -> Vec<IndexVariable> {
        let mut loops = self.running(variable);
        if self.variables[variable.0].has_loop && !loops.contains(&variable) {
            loops.push(variable);
        }
        loops
    }

    /// The loops that must be outside for all of `variables` to be known, each once.
    pub fn loops_of(&self, variables: &[IndexVariable]) -> Vec<IndexVariable> {
        let mut all = Vec::new();
        for variable in variables.iter().flat_map(|&variable| self.loops(variable)) {
            if !all.contains(&variable) {
                all.push(variable);
            }
        }
        all
    }

    /// Whether `index` is computed from blocks that are stored in order, and a loop over `variable` goes through those.
    pub fn is_block_of(&self, variable: IndexVariable, index: IndexVariable) -> bool {
        let (tensor, mode, used, levels) = match &self.variables[index.0].value {
            Some(Computed::Mode { tensor, mode, used, levels, .. }) => (tensor, mode, used, levels),
            Some(Computed::Index { block, .. }) => return *block == Some(variable),
            Some(Computed::Fused { .. }) | None => return false,
        };
        let Some(stored) = &self.tensor(*tensor).stored else { return false };
        let is_block = |level: &crate::format::Level| {
            let divides = matches!(&level.coordinate, Coordinate::Divide(a, _) if **a == Coordinate::Mode(*mode));
            divides && level.format.ordered()
        };
        used.iter().any(|&level| levels[level] == variable && is_block(&stored.format.levels[level]))
    }

    /// Whether several values of its variables may be one place of a target: `s(i / 2)`, `c(i + j)`.
    pub(crate) fn meets(&self, target: &Access) -> bool {
        target.indices.iter().any(|index| match &self.variables[index.0].value {
            Some(Computed::Index { index, guarded: false, .. }) => !index.tells_apart(&|a, b| self.alike(*a, *b)),
            _ => false,
        })
    }

    /// The variables that a computed one ascends with, outermost first.
    pub(crate) fn ascending(&self, variable: IndexVariable) -> Vec<IndexVariable> {
        match &self.variables[variable.0].value {
            Some(Computed::Index { index, block: None, .. }) => {
                index.ascends(&|one, other| self.alike(*one, *other)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Whether two variables have one extent.
    pub(crate) fn alike(&self, one: IndexVariable, other: IndexVariable) -> bool {
        self.variables[one.0].extent == self.variables[other.0].extent
    }

    /// Whether different values of a variable are different places of a target, whatever the others are.
    pub(crate) fn tells_apart(&self, variable: IndexVariable, target: &Access) -> bool {
        target.indices.iter().any(|&index| match &self.variables[index.0].value {
            None => index == variable,
            Some(Computed::Index { index, .. }) => index.changes_with(&variable, &|a, b| self.alike(*a, *b)),
            Some(Computed::Mode { .. } | Computed::Fused { .. }) => false,
        })
    }

    /// Whether a loop is over something that a target does not determine, so that its iterations meet in one element.
    pub fn is_reduced(&self, variable: IndexVariable, target: &Access) -> bool {
        // A stored coordinate is determined where all that it is made of is.
        if let Some(level) = &self.variables[variable.0].level {
            let is_index = |variable: &IndexVariable| target.indices.contains(variable);
            return !is_index(&variable) && !level.made_of.iter().all(is_index);
        }
        let known = self.told(target);
        self.running(variable).iter().any(|running| !known.contains(running))
    }

    /// The variables that the indices of a target tell, all that these are computed from included. The number of an iteration of
    /// two fused loops is told by both.
    fn told(&self, target: &Access) -> Vec<IndexVariable> {
        let mut known = Vec::new();
        let mut is_known = vec![false; self.variables.len()];
        let mut next = target.indices.clone();
        while let Some(variable) = next.pop() {
            if std::mem::replace(&mut is_known[variable.0], true) {
                continue;
            }
            known.push(variable);
            match &self.variables[variable.0].value {
                Some(Computed::Fused { whole, .. }) => {
                    let is_part = |of: &&Variable| matches!(of.value, Some(Computed::Fused { whole: other, .. }) if other == *whole);
                    let parts = self.variables.iter().zip(&is_known).filter(|(of, _)| is_part(of));
                    let told = parts.map(|(_, is_known)| *is_known).collect::<Vec<_>>();
                    if told == [true, true] {
                        next.push(*whole);
                    }
                }
                Some(value) => next.extend(value.variables()),
                None => {}
            }
        }
        known
    }
}

impl Kernel {
    /// The extents of vector loops or, in a kernel without, of innermost sums over dense rows: knowing them when the target's
    /// compiler runs is worth up to twice the speed.
    pub fn vector_extents(&self) -> Vec<usize> {
        let extents = self.extents_of(&|_, run, _| run == Run::Vector);
        if extents.is_empty() { self.extents_of(&|variable, _, body| self.sums_row(variable, body)) } else { extents }
    }

    /// The extents of the loops for which `holds`.
    fn extents_of(&self, holds: &dyn Fn(IndexVariable, Run, &Statement) -> bool) -> Vec<usize> {
        let mut extents = Vec::new();
        self.body.for_each_loop(&mut |variable, run, body| {
            if !holds(variable, run, body) {
                return;
            }
            let ids = (0..self.variables.len()).map(IndexVariable);
            for id in ids.filter(|&id| id == variable || self.is_inside(variable, id)) {
                let extent = self.variables[id.0].extent;
                if self.extents[extent].of.is_none() && !extents.contains(&extent) {
                    extents.push(extent);
                }
            }
        });
        extents
    }

    /// Whether a loop does nothing but to sum up what lies side by side in dense operands.
    fn sums_row(&self, variable: IndexVariable, body: &Statement) -> bool {
        let Statement::Assign(assign) = body else { return false };
        let mut rows = 0;
        let mut others = 0;
        assign.value.for_each_access(&mut |access| {
            if self.loops_of(&access.indices).contains(&variable) {
                let format = &self.tensor(access.tensor).format;
                let is_row = format.is_dense() && level_variables(access, format).last() == Some(&variable);
                *if is_row { &mut rows } else { &mut others } += 1;
            }
        });
        assign.operator == Some(ReduceOperator::Add)
            && assign.masks.is_empty()
            && self.is_reduced(variable, &assign.target)
            && rows > 0
            && others == 0
    }

    /// Whether `index` is split, and `variable` is the place in a block: neighbours along the one are neighbours along the other.
    pub fn is_inside(&self, variable: IndexVariable, index: IndexVariable) -> bool {
        let Some(Computed::Index { index, block: Some(_), .. }) = &self.variables[index.0].value else { return false };
        index.affine().is_some_and(|affine| affine.terms.contains(&(variable, 1)))
    }
}

impl Statement {
    /// Calls `visit` on every loop and its body, outermost first.
    pub fn for_each_loop(&self, visit: &mut dyn FnMut(IndexVariable, Run, &Statement)) {
        match self {
            Statement::Empty | Statement::Assign(_) => {}
            Statement::Forall { variable, run, body } => {
                visit(*variable, *run, body);
                body.for_each_loop(visit);
            }
            Statement::Where { consumer, producer, .. } => {
                producer.for_each_loop(visit);
                consumer.for_each_loop(visit);
            }
            Statement::Sequence(statements) => statements.iter().for_each(|statement| statement.for_each_loop(visit)),
        }
    }

    /// Calls `visit` on every workspace that is made.
    pub fn for_each_workspace(&self, visit: &mut dyn FnMut(TensorId)) {
        self.for_each_where(&mut |workspace, _| visit(workspace));
    }

    /// The same, with what reads each workspace.
    pub fn for_each_where(&self, visit: &mut dyn FnMut(TensorId, &Statement)) {
        match self {
            Statement::Empty | Statement::Assign(_) => {}
            Statement::Forall { body, .. } => body.for_each_where(visit),
            Statement::Where { workspace, consumer, producer } => {
                visit(*workspace, consumer);
                producer.for_each_where(visit);
                consumer.for_each_where(visit);
            }
            Statement::Sequence(statements) => statements.iter().for_each(|inner| inner.for_each_where(visit)),
        }
    }

    /// Calls `visit` on every access that is read: operands, masks, and workspaces.
    pub fn for_each_read(&self, visit: &mut dyn FnMut(&Access)) {
        match self {
            Statement::Empty => {}
            Statement::Forall { body, .. } => body.for_each_read(visit),
            Statement::Where { consumer, producer, .. } => {
                consumer.for_each_read(visit);
                producer.for_each_read(visit);
            }
            Statement::Assign(assign) => {
                assign.value.for_each_access(visit);
                assign.masks.iter().for_each(visit);
            }
            Statement::Sequence(statements) => statements.iter().for_each(|s| s.for_each_read(visit)),
        }
    }

    /// Whether a tensor is read.
    pub fn reads(&self, tensor: TensorId) -> bool {
        let mut found = false;
        self.for_each_read(&mut |access| found |= access.tensor == tensor);
        found
    }

    /// The statement with other values assigned.
    pub(crate) fn with_values(&self, change: &dyn Fn(&Expr) -> Expr) -> Self {
        let inner = |statement: &Statement| Box::new(statement.with_values(change));
        match self {
            Statement::Empty => Statement::Empty,
            Statement::Forall { variable, run, body } => {
                Statement::Forall { variable: *variable, run: *run, body: inner(body) }
            }
            Statement::Where { workspace, consumer, producer } => {
                Statement::Where { workspace: *workspace, consumer: inner(consumer), producer: inner(producer) }
            }
            Statement::Assign(assign) => Statement::Assign(Assign { value: change(&assign.value), ..assign.clone() }),
            Statement::Sequence(statements) => {
                Statement::Sequence(statements.iter().map(|statement| statement.with_values(change)).collect())
            }
        }
    }

    /// Calls `visit` on every assignment.
    pub fn for_each_assign(&self, visit: &mut dyn FnMut(&Assign)) {
        match self {
            Statement::Empty => {}
            Statement::Forall { body, .. } => body.for_each_assign(visit),
            Statement::Where { consumer, producer, .. } => {
                consumer.for_each_assign(visit);
                producer.for_each_assign(visit);
            }
            Statement::Assign(assign) => visit(assign),
            Statement::Sequence(statements) => statements.iter().for_each(|s| s.for_each_assign(visit)),
        }
    }

    /// The operator that combines what chunks have assigned of a tensor that begins as `fill`: the one that made what is assigned, in
    /// a workspace, where it starts from that, as several chunks may have a part of one reduction; else one that keeps each value.
    pub(crate) fn operator_that_keeps(&self, tensor: TensorId, fill: Literal) -> Option<ReduceOperator> {
        let mut assigned = Vec::new();
        self.for_each_assign(&mut |assign| {
            if assign.target.tensor == tensor {
                assign.value.for_each_access(&mut |access| assigned.push(access.tensor));
            }
        });
        let mut reduced = None;
        self.for_each_assign(&mut |assign| {
            if assigned.contains(&assign.target.tensor) {
                reduced = reduced.or(assign.operator);
            }
        });
        let keeps = |operator: &ReduceOperator| operator.keeps_all(fill.element()) && operator.is_identity(fill);
        reduced.filter(keeps).or_else(|| ReduceOperator::that_keeps(fill))
    }

    /// Whether some assignment writes `tensor`.
    pub fn writes(&self, tensor: TensorId) -> bool {
        let mut found = false;
        self.for_each_assign(&mut |assign| found |= assign.target.tensor == tensor);
        found
    }
}
