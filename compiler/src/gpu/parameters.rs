//! What functions are called with: what they ask for follows from what they do.

use super::plan::{Function, Segments, Table, Together};
use crate::format::interleave::MOVES;
use crate::ir::{ArrayId, BinaryOperator, DimensionId, Expr, Kernel, Size, Statement};
use std::collections::BTreeSet;

/// What a function is called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// The size of a dimension.
    Dimension(DimensionId),
    /// The length of an array.
    Length(ArrayId),
    /// How many workers there are: [`Places::workers`](super::plan::Places::workers).
    Workers,
    /// The first row of [`Teams`](super::plan::Teams).
    First,
    /// One past their last row.
    End,
    /// How many lanes of a team share the inner of two nested loops: a power of two.
    Inner,
    /// One of [`Function::masks`], by its number: the host computes it once.
    Mask(usize),
    /// The bits that move in a step when those at the ones of a mask are brought side by side
    /// ([`Spread::moves`](crate::format::interleave::Spread::moves)).
    Move {
        /// The number of the mask.
        mask: usize,
        /// The step.
        step: usize,
    },
    /// An array.
    Array {
        /// Which.
        array: ArrayId,
        /// Whether it is written.
        writes: bool,
    },
}

impl Function {
    /// What it is called with, in order.
    pub fn parameters(&self, kernel: &Kernel) -> Vec<Parameter> {
        let with_call = |id: &DimensionId| kernel.dimension(*id).size == Size::Runtime;
        let dimensions = self.dimensions().into_iter().filter(with_call).map(Parameter::Dimension);
        let lengths = self.lengths(kernel).into_iter().map(Parameter::Length);
        let arrays = self.arrays().into_iter().map(|(array, writes)| Parameter::Array { array, writes });
        let has_workers = self.places().is_some_and(|places| places.workers.is_some());
        let workers = has_workers.then_some(Parameter::Workers);
        let teams = [Parameter::First, Parameter::End, Parameter::Inner].into_iter().filter(|_| self.teams().is_some());
        let masks = (0..self.masks().len()).map(Parameter::Mask);
        let gathered = self.gathered();
        let moves = gathered.iter().flat_map(|&mask| (0..MOVES).map(move |step| Parameter::Move { mask, step }));
        dimensions.chain(lengths).chain(workers).chain(teams).chain(masks).chain(moves).chain(arrays).collect()
    }

    /// The masks of interleaved bits that it asks for and the host knows: those of extents alone.
    pub fn masks(&self) -> Vec<Expr> {
        let mut masks: Vec<Expr> = Vec::new();
        self.for_each_expr(&mut |expr| {
            if is_known_mask(expr) && !masks.contains(expr) {
                masks.push(expr.clone());
            }
        });
        masks
    }

    /// The numbers of masks from whose ones bits are gathered.
    pub(crate) fn gathered(&self) -> Vec<usize> {
        let masks = self.masks();
        let mut gathered = BTreeSet::new();
        self.for_each_expr(&mut |expr| {
            if let Expr::Binary(BinaryOperator::Gather, _, mask) = expr {
                gathered.extend(masks.iter().position(|known| *known == **mask));
            }
        });
        gathered.into_iter().collect()
    }

    /// The arrays that it touches and has not made itself, each with whether it writes it.
    pub fn arrays(&self) -> Vec<(ArrayId, bool)> {
        let mut touched = Touched::default();
        self.for_each_expr(&mut |expr| touched.read(expr));
        touched.read.extend(self.row_positions());
        for statement in &self.body {
            statement.for_each(&mut |statement| touched.statement(statement));
        }
        touched.written.extend(self.totals.iter().map(|total| total.meet.array()));
        match self.segments().and_then(|segments| segments.together.as_ref()) {
            Some(Together::Sum(sum)) => _ = touched.written.insert(sum.array),
            Some(Together::Flags(flags)) => {
                touched.written.extend(flags.iter().flat_map(|flags| [flags.bits, flags.counts]));
            }
            None => {}
        }
        touched.written.extend(self.tiles.iter().map(|tile| tile.array));
        touched.own.extend(self.tiles.iter().map(|tile| tile.tile));
        touched.own.extend(self.tables.iter().flat_map(Table::arrays));
        let all: BTreeSet<ArrayId> = touched.read.union(&touched.written).copied().collect();
        let all = all.difference(&touched.own);
        all.map(|&array| (array, touched.written.contains(&array))).collect()
    }

    /// The arrays whose lengths it asks for.
    pub fn lengths(&self, kernel: &Kernel) -> Vec<ArrayId> {
        let mut lengths: BTreeSet<ArrayId> = self.tiles.iter().map(|tile| tile.array).collect();
        lengths.extend(self.row_positions());
        lengths.extend(self.chunked_lengths(kernel));
        self.for_each_expr(&mut |expr| {
            if let Expr::Length(array) = expr {
                lengths.insert(*array);
            }
        });
        let arrays: BTreeSet<ArrayId> = self.arrays().into_iter().map(|(array, _)| array).collect();
        for statement in &self.body {
            statement.for_each(&mut |statement| {
                if let Statement::Fill(array, _) = statement
                    && arrays.contains(array)
                {
                    lengths.insert(*array);
                }
            });
        }
        self.tables.iter().for_each(|table| _ = lengths.remove(&table.keys));
        lengths.into_iter().collect()
    }

    /// Where the rows begin whose entries warps take.
    fn row_positions(&self) -> impl Iterator<Item = ArrayId> {
        let rows = self.segments().and_then(|segments| segments.rows.as_ref());
        rows.into_iter().flat_map(|rows| rows.positions.iter().copied())
    }

    /// The dimensions whose sizes it asks for.
    pub fn dimensions(&self) -> Vec<DimensionId> {
        let mut dimensions = BTreeSet::new();
        self.for_each_own_expr(&mut |expr| add_dimensions(expr, &mut dimensions));
        dimensions.into_iter().collect()
    }

    /// Calls `visit` on every expression and all in it.
    fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.for_each_own_expr(&mut |expr| expr.for_each(visit));
    }

    /// Calls `visit` on every expression, not on what is in it.
    fn for_each_own_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        if let Some(places) = self.places() {
            let lane = places.row().into_iter().map(|lane| &lane.extent);
            let share = places.share.iter().map(|share| &share.value);
            let range = [&places.begin, &places.end].into_iter();
            range.chain(lane).chain(share).for_each(&mut *visit);
        }
        if let Some(Segments { lists, together, .. }) = self.segments() {
            lists.iter().flat_map(|lists| &lists.ends).for_each(&mut *visit);
            if let Some(Together::Flags(flags)) = together {
                flags.iter().flat_map(|flags| &flags.begins).for_each(&mut *visit);
            }
        }
        for statement in &self.body {
            statement.for_each(&mut |statement| statement.for_each_expr(visit));
        }
    }
}

/// Whether an expression is a mask of extents.
pub(crate) fn is_known_mask(expr: &Expr) -> bool {
    let is_extent = |extent: &Expr| matches!(extent, Expr::Dimension(_) | Expr::Index(_));
    matches!(expr, Expr::Mask { extents, .. } if extents.iter().all(is_extent))
}

/// The dimensions of an expression, but for those of masks that the host computes.
fn add_dimensions(expr: &Expr, dimensions: &mut BTreeSet<DimensionId>) {
    match expr {
        Expr::Dimension(dimension) => _ = dimensions.insert(*dimension),
        expr if is_known_mask(expr) => {}
        expr => expr.for_each_child(&mut |child| add_dimensions(child, dimensions)),
    }
}

/// What statements do with arrays.
#[derive(Default)]
struct Touched {
    read: BTreeSet<ArrayId>,
    written: BTreeSet<ArrayId>,
    own: BTreeSet<ArrayId>,
}

impl Touched {
    fn read(&mut self, expr: &Expr) {
        if let Expr::Load(array, _) | Expr::Search { array, .. } = expr {
            self.read.insert(*array);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        self.written.extend(statement.written_array());
        match statement {
            Statement::Allocate { array, .. } | Statement::List(array) => {
                self.own.insert(*array);
            }
            Statement::View { array, of, mutable, .. } => {
                self.own.insert(*array);
                let whole = if *mutable { &mut self.written } else { &mut self.read };
                whole.insert(*of);
            }
            _ => {}
        }
    }
}
