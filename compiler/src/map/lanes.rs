//! A thread for each element of a row: vector loops that all go over one row are taken apart.
//!
//! ```text
//! allocate t[R] = 0                                let t = 0
//! for p in pos[i]..pos[i + 1]                      for p in pos[i]..pos[i + 1]
//!     for r in 0..R vector                             t += x[p] * c[crd[p] * R + r]
//!         t[r] += x[p] * c[crd[p] * R + r]         a[i * R + r] = t
//! for r in 0..R vector
//!     a[i * R + r] = t[r]
//! ```
//!
//! What a place reads besides the row, and the ways to it, are for all elements of a thread, and most of its instructions are for these. So
//! a thread has several neighbours, which it loads and stores by one instruction, where the number of elements is a multiple: a warp then
//! works at several places, each with a few of its lanes.
//!
//! ```text
//! if r_extent % 4 < 1                              let first = thread * 4
//!     launch with 4 neighbours a thread            for p in pos[i]..pos[i + 1]
//! else                                                 for strip in 0..4
//!     launch with one element                              let r = first + strip
//!                                                          t[strip] += x[p] * c[crd[p] * r_extent + r]
//! ```
//!
//! Threads of several places add to one element by atomic operations. Sums of `f32` are updated four neighbours at a time, by one instruction
//! (of compute capability 9.0 and later). Others are updated one by one, which the cache does for neighbouring lanes together: there a
//! thread has elements that lie so many threads apart (Phipps and Kolda, Software for sparse tensor decomposition on emerging computing
//! architectures, 2019, section 5).
//!
//! ```text
//! for p in pos[i]..pos[i + 1]                      for p in pos[i]..pos[i + 1]
//!     for r in 0..256 vector                           for strip in 0..4
//!         a[k * 256 + r] += x[p] * c[crd[p] * 256 + r]     let r = thread + strip * 64
//!                                                          a[k * 256 + r] += x[p] * c[crd[p] * 256 + r]
//! ```
//!
//! Where neighbours of a row are none in some array, and only the call knows how long rows are, there is a function for long ones, which
//! gives each warp a part of the row: four strips of as many elements as a warp has lanes, of which there are fewer at the row's end.
//!
//! ```text
//! if 64 < r_extent                                 let first = thread / 32 * 128 + thread % 32
//!     launch with several elements a thread        for p in pos[i]..pos[i + 1]
//! else                                                 for strip in 0..4
//!     launch with one                                      let r = first + strip * 32
//!                                                          if r < r_extent
//!                                                              a[k * r_extent + r] += x[p] * c[crd[p] * r_extent + r]
//! ```
//!
//! What stands outside of vector loops is done by every thread of a row where it is about variables, and by that of the first
//! element where it writes memory.

use super::register_values::{Strips, scattered};
use crate::gpu::plan::{Lane, STRIPS, Vector, WARP, bytes, vector_of};
use crate::gpu::rewrite::{is_multiple, is_of_row, substitute};
use crate::ir::{ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Size, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// The body for one thread of a row, of whose elements it has one or several.
pub(super) fn distribute(
    kernel: &mut Kernel,
    body: &[Statement],
    row: &Row,
    strips: Option<Strips>,
) -> (Vec<Statement>, Lane) {
    let name = if strips.is_some() { "thread" } else { &row.name };
    let variable = kernel.declare_index(name);
    let element = if strips.is_some() { kernel.declare_index(&row.name) } else { variable };
    let counter = strips.is_some().then(|| kernel.declare_index("strip"));
    let is_part = strips.as_ref().is_some_and(|strips| strips.is_part() || strips.is_vector());
    let first = if is_part { kernel.declare_index("first") } else { variable };
    let registers: BTreeMap<ArrayId, Register> = row
        .registers
        .iter()
        .map(|&array| {
            let declared = kernel.array(array).clone();
            let register = match &strips {
                Some(_) => Register::Strips(kernel.declare_array(&declared.name, declared.element, ArrayRole::Local)),
                None => Register::One(kernel.declare_variable(&declared.name, declared.element.ty(), true)),
            };
            (array, register)
        })
        .collect();
    let extent = strips.as_ref().map_or_else(|| row.extent.clone(), |strips| strips.threads.clone());
    let count = strips.as_ref().filter(|strips| strips.is_vector()).map(|strips| strips.count);
    let vector = count.zip(counter).map(|(count, counter)| Vector { counter, first, count });
    let lane = Lane { variable, extent, element, row: row.extent.clone(), ends: !row.writes_outside, vector };
    let strips = strips.zip(counter).map(|(strips, counter)| Stripped { strips, counter, first });
    let begin = strips.as_ref().filter(|_| is_part).map(|of| Statement::Let(first, of.strips.first(variable)));
    let distribution = Distribution { row, lane: &lane, strips, registers };
    (begin.into_iter().chain(distribution.block(body.to_vec(), false)).collect(), lane)
}

/// Rows that are known to be shorter are not shared.
const SHORTEST: u64 = 8;

/// Of rows whose length only the call knows, those that are longer: of four strips no more than one is idle.
const LONG: u64 = 2 * WARP;

/// The strips of a body.
struct Stripped {
    strips: Strips,
    /// Which of them.
    counter: VariableId,
    /// The first element of a thread.
    first: VariableId,
}

/// Where a thread has what was a row.
#[derive(Clone, Copy)]
enum Register {
    /// The one element that it has.
    One(VariableId),
    /// One for each of its elements.
    Strips(ArrayId),
}

/// A row that threads share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// The number of its elements.
    extent: Expr,
    /// The name of the variable that counts them.
    pub(super) name: String,
    /// Rows of the same length that only a chunk knows, of which each thread needs its own element.
    registers: BTreeSet<ArrayId>,
    /// Other arrays that a chunk makes: each thread has its own.
    own: BTreeSet<ArrayId>,
    /// Whether memory is written outside of vector loops.
    writes_outside: bool,
    /// Whether a place reads inputs besides the row, each thread for itself.
    is_shared: bool,
    /// The bytes of the widest element of memory that a thread reads or writes of its row, where neighbours are neighbours in all of it.
    width: Option<u64>,
}

/// Where threads of several places add to one element of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scatter {
    /// Nowhere, or at the ends of shares alone.
    Nowhere,
    /// Where something was summed, or something else is done for all of a thread's elements.
    Rows,
    /// For each entry of a loop: what is updated is what takes the time, and many of several places at a time would wait for one
    /// another.
    Entries,
    /// Anywhere, by operations that update neighbours at once.
    Neighbours,
}

/// How many elements the threads of a row have.
pub(super) enum Elements {
    /// One or several, whatever the row.
    Known(Option<Strips>),
    /// Several where a condition holds, else one.
    Either {
        /// Where it does.
        condition: Expr,
        /// What a thread has there.
        strips: Strips,
    },
}

impl Row {
    /// The row that all vector loops of a body go over; `None` where there is none, or threads would have to wait for each other.
    pub(super) fn of(kernel: &Kernel, body: &[Statement]) -> Option<Row> {
        let mut seen = Seen::default();
        seen.block(body, None);
        let (extent, counter) = seen.row.clone()?;
        // A few elements, as those of a block, are better in one thread.
        let is_long = match extent {
            Expr::Dimension(_) => true,
            Expr::Index(extent) => extent >= SHORTEST,
            _ => false,
        };
        let is_one_row = !seen.has_other_rows && is_long;
        if !is_one_row || seen.makes_others || seen.changes_outer {
            return None;
        }
        // Rows of a chunk's own of which a thread touches its own element only.
        let rows: BTreeSet<ArrayId> =
            seen.allocated.iter().filter(|(_, length)| *length == extent).map(|(array, _)| *array).collect();
        let others: BTreeSet<ArrayId> =
            seen.allocated.iter().map(|(array, _)| *array).filter(|array| !rows.contains(array)).collect();
        let touches_own = rows.iter().all(|row| !seen.elsewhere.contains(row));
        let small = others.iter().all(|array| !seen.written_inside.contains(array));
        // What one thread writes, no other may read, and two must not write.
        let outer = |arrays: &BTreeSet<ArrayId>| -> BTreeSet<ArrayId> {
            arrays.iter().filter(|array| !rows.contains(array) && !others.contains(array)).copied().collect()
        };
        let written_outside = outer(&seen.written_outside);
        let written_inside = outer(&seen.written_inside);
        let read_outside = outer(&seen.read_outside);
        let meets =
            written_outside.iter().any(|array| written_inside.contains(array) || seen.read_inside.contains(array))
                || read_outside.iter().any(|array| written_inside.contains(array) || written_outside.contains(array));
        let is_input = |array: &ArrayId| kernel.array(*array).role != ArrayRole::Local;
        (touches_own && small && !meets).then(|| Row {
            name: kernel.variable(counter).name.clone(),
            registers: rows,
            writes_outside: !written_outside.is_empty(),
            is_shared: read_outside.iter().any(is_input),
            own: others,
            width: seen.width(kernel, &extent),
            extent,
        })
    }

    /// How many elements of it a thread has.
    pub(super) fn elements(&self, kernel: &Kernel, scatters: Scatter) -> Elements {
        let extent = match self.extent {
            Expr::Index(extent) => Some(extent),
            Expr::Dimension(id) => match kernel.dimension(id).size {
                Size::Constant(extent) => Some(extent),
                Size::Runtime | Size::Generic => None,
            },
            _ => return Elements::Known(None),
        };
        // The number of elements of a thread, and of how many a row has to have a multiple.
        let several = match (self.width, scatters) {
            (None, _) | (_, Scatter::Entries) => None,
            (Some(bytes), Scatter::Rows) => Some((STRIPS, scattered(bytes))),
            (Some(bytes), Scatter::Nowhere | Scatter::Neighbours) => vector_of(bytes).map(|count| (count, count)),
        };
        let strips = |count| match scatters {
            Scatter::Nowhere | Scatter::Neighbours => Strips::vector(&self.extent, count),
            Scatter::Rows | Scatter::Entries => Strips::apart(&self.extent, count),
        };
        match (extent, several) {
            (Some(extent), Some((count, multiple))) if extent.is_multiple_of(multiple) => {
                Elements::Known(Some(strips(count)))
            }
            (None, Some((count, multiple))) => {
                let rest = Expr::binary(BinaryOperator::Remainder, self.extent.clone(), Expr::Index(multiple));
                Elements::Either { condition: rest.less(Expr::Index(1)), strips: strips(count) }
            }
            _ if !self.is_shared => Elements::Known(None),
            (Some(extent), _) => Elements::Known(Strips::of(extent)),
            (None, None) => Elements::Either {
                condition: Expr::Index(LONG).less(self.extent.clone()),
                strips: Strips::parts(&self.extent),
            },
        }
    }

    /// Whether the threads of the row touch their own elements of some arrays only, in a body: those whose place in a row is theirs.
    pub(super) fn is_apart(&self, body: &[Statement], arrays: &[ArrayId]) -> bool {
        let mut counters = BTreeSet::new();
        let mut indices = Vec::new();
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| match statement {
                Statement::For { variable, vector: true, .. } => _ = counters.insert(*variable),
                Statement::Reduce(array, index, ..) if arrays.contains(array) => indices.push(index.clone()),
                _ => {}
            });
        });
        let is_own = |expr: &Expr| matches!(expr, Expr::Variable(variable) if counters.contains(variable));
        indices.iter().all(|index| match index {
            Expr::Binary(BinaryOperator::Add, row, element) => is_multiple(row, &self.extent) && is_own(element),
            element => is_own(element),
        })
    }
}

/// What a body does, inside of vector loops and outside.
#[derive(Default)]
struct Seen {
    row: Option<(Expr, VariableId)>,
    has_other_rows: bool,
    makes_others: bool,
    changes_outer: bool,
    allocated: Vec<(ArrayId, Expr)>,
    /// Arrays of which an element is touched that is not the vector loop's own.
    elsewhere: BTreeSet<ArrayId>,
    read_inside: BTreeSet<ArrayId>,
    read_outside: BTreeSet<ArrayId>,
    written_inside: BTreeSet<ArrayId>,
    written_outside: BTreeSet<ArrayId>,
    /// What vector loops touch, by indices over their counters.
    inside: Vec<(ArrayId, Expr, VariableId)>,
}

impl Seen {
    /// See [`Row::width`].
    fn width(&self, kernel: &Kernel, extent: &Expr) -> Option<u64> {
        let outer = |array: &ArrayId| self.allocated.iter().all(|(own, _)| own != array);
        let touched = self.inside.iter().filter(|(array, index, counter)| outer(array) && index.uses(*counter));
        let mut widest = None;
        for (array, index, counter) in touched {
            if !is_of_row(index, *counter, extent) {
                return None;
            }
            widest = widest.max(Some(bytes(kernel, *array)));
        }
        widest
    }

    fn block(&mut self, block: &[Statement], vector: Option<VariableId>) {
        for statement in block {
            self.statement(statement, vector);
        }
    }

    fn statement(&mut self, statement: &Statement, vector: Option<VariableId>) {
        statement.for_each_expr(&mut |expr| expr.for_each(&mut |expr| self.expr(expr, vector)));
        match statement {
            Statement::Allocate { array, length, .. } => {
                self.allocated.push((*array, length.clone()));
                self.makes_others |= vector.is_some();
            }
            Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) => {
                self.touch(*array, index, vector);
                self.write(*array, vector);
            }
            // Of a row, each thread sets its own element; anything else is refused by the caller.
            Statement::Fill(array, _) => self.write(*array, vector),
            Statement::For { variable, begin, end, vector: true, body } => {
                let extent = (*begin == Expr::Index(0)).then(|| end.clone());
                match (&self.row, extent) {
                    (None, Some(extent)) => self.row = Some((extent, *variable)),
                    (Some((row, _)), Some(extent)) => self.has_other_rows |= *row != extent,
                    (_, None) => self.has_other_rows = true,
                }
                self.has_other_rows |= vector.is_some();
                let own = crate::gpu::rewrite::declared(body);
                self.changes_outer |= crate::gpu::rewrite::changed(body).iter().any(|changed| !own.contains(changed));
                return self.block(body, Some(*variable));
            }
            Statement::Comment(_)
            | Statement::Let(..)
            | Statement::Assign(..)
            | Statement::Update(..)
            | Statement::For { .. }
            | Statement::While(..)
            | Statement::If(..) => {}
            _ => self.makes_others = true,
        }
        statement.blocks().into_iter().for_each(|inner| self.block(inner, vector));
    }

    fn expr(&mut self, expr: &Expr, vector: Option<VariableId>) {
        match expr {
            Expr::Load(array, index) => {
                self.touch(*array, index, vector);
                self.read(*array, vector);
            }
            Expr::Search { array, .. } => {
                self.elsewhere.insert(*array);
                self.read(*array, vector);
            }
            _ => {}
        }
    }

    fn touch(&mut self, array: ArrayId, index: &Expr, vector: Option<VariableId>) {
        if vector.is_none_or(|own| *index != Expr::Variable(own)) {
            self.elsewhere.insert(array);
        }
        self.inside.extend(vector.map(|own| (array, index.clone(), own)));
    }

    fn read(&mut self, array: ArrayId, vector: Option<VariableId>) {
        let read = if vector.is_some() { &mut self.read_inside } else { &mut self.read_outside };
        read.insert(array);
    }

    fn write(&mut self, array: ArrayId, vector: Option<VariableId>) {
        let written = if vector.is_some() { &mut self.written_inside } else { &mut self.written_outside };
        written.insert(array);
    }
}

/// The rewriting of a body for one element of a row.
struct Distribution<'a> {
    row: &'a Row,
    lane: &'a Lane,
    strips: Option<Stripped>,
    /// What was a row of the chunk's own.
    registers: BTreeMap<ArrayId, Register>,
}

impl Distribution<'_> {
    fn block(&self, block: Vec<Statement>, is_inside: bool) -> Vec<Statement> {
        let mut done: Vec<Statement> = Vec::with_capacity(block.len());
        for statement in block.into_iter().flat_map(|statement| self.statement(statement, is_inside)) {
            match (done.last_mut(), statement) {
                (Some(Statement::If(last, _)), Statement::If(next, _))
                    if self.is_guard(last) && self.is_same(last, &next) =>
                {
                    last[0].1.extend(next.into_iter().flat_map(|(_, body)| body));
                }
                (_, statement) => done.push(statement),
            }
        }
        done
    }

    /// Whether it is a condition that stands before what one thread does.
    fn is_guard(&self, branches: &[(Expr, Vec<Statement>)]) -> bool {
        matches!(branches, [(condition, _)] if *condition == self.is_first() || *condition == self.is_there())
    }

    fn is_same(&self, one: &[(Expr, Vec<Statement>)], other: &[(Expr, Vec<Statement>)]) -> bool {
        matches!((one, other), ([(one, _)], [(other, _)]) if one == other)
    }

    /// That a thread is that of the first element.
    fn is_first(&self) -> Expr {
        Expr::Variable(self.lane.variable).equals(Expr::Index(0))
    }

    /// That a thread has elements.
    fn is_there(&self) -> Expr {
        Expr::Variable(self.lane.variable).less(self.lane.extent.clone())
    }

    /// Which of its elements a thread is at.
    fn strip(&self) -> Expr {
        self.strips.as_ref().map_or(Expr::Index(0), |strips| Expr::Variable(strips.counter))
    }

    /// What a thread does for each of its elements.
    fn elements(&self, body: Vec<Statement>) -> Vec<Statement> {
        let Some(Stripped { strips, counter, first }) = &self.strips else { return body };
        let element = Expr::Variable(self.lane.element);
        let before = self.strip().times(strips.step.clone());
        let own = Statement::Let(self.lane.element, Expr::Variable(*first).plus(before));
        let body = match strips.are_full {
            true => body,
            false => vec![only_if(element.less(self.row.extent.clone()), body)],
        };
        let (begin, end) = (Expr::Index(0), Expr::Index(strips.count));
        let body = std::iter::once(own).chain(body).collect();
        vec![Statement::For { variable: *counter, begin, end, vector: false, body }]
    }

    fn statement(&self, mut statement: Statement, is_inside: bool) -> Vec<Statement> {
        if let Statement::For { variable, vector: true, body, .. } = statement {
            let mut body = body;
            substitute(&mut body, &BTreeMap::from([(variable, Expr::Variable(self.lane.element))]));
            let body = self.elements(self.block(body, true));
            let guarded = |body| vec![only_if(self.is_there(), body)];
            return if self.row.writes_outside { guarded(body) } else { body };
        }
        for inner in statement.blocks_mut() {
            *inner = self.block(std::mem::take(inner), is_inside);
        }
        crate::gpu::rewrite::rewrite(std::slice::from_mut(&mut statement), &mut |expr| match expr {
            Expr::Load(array, index) => match self.registers.get(&array) {
                Some(Register::One(variable)) => Expr::Variable(*variable),
                Some(Register::Strips(own)) => Expr::load(*own, self.strip()),
                None => Expr::Load(array, index),
            },
            other => other,
        });
        let register = |array: &ArrayId| self.registers.get(array).copied();
        let changed = match statement {
            Statement::Allocate { array, length, fill } => match register(&array) {
                Some(Register::One(variable)) => Statement::Let(variable, fill),
                Some(Register::Strips(own)) => {
                    let count = self.strips.as_ref().map_or(1, |of| of.strips.count);
                    Statement::Allocate { array: own, length: Expr::Index(count), fill }
                }
                None => Statement::Allocate { array, length, fill },
            },
            Statement::Fill(array, value) => match register(&array) {
                Some(Register::One(variable)) => Statement::Assign(variable, value),
                Some(Register::Strips(own)) => Statement::Fill(own, value),
                None => Statement::Fill(array, value),
            },
            Statement::Store(array, index, value) => match register(&array) {
                Some(Register::One(variable)) => Statement::Assign(variable, value),
                Some(Register::Strips(own)) => Statement::Store(own, self.strip(), value),
                None => Statement::Store(array, index, value),
            },
            Statement::Reduce(array, index, operator, value) => match register(&array) {
                Some(Register::One(variable)) => Statement::Update(variable, operator, value),
                Some(Register::Strips(own)) => Statement::Reduce(own, self.strip(), operator, value),
                None => Statement::Reduce(array, index, operator, value),
            },
            other => other,
        };
        let is_strips = |array: &ArrayId| {
            self.registers.values().any(|register| matches!(register, Register::Strips(own) if own == array))
        };
        let is_shared = |array: &ArrayId| !self.row.own.contains(array) && !is_strips(array);
        match &changed {
            Statement::Store(array, ..) | Statement::Reduce(array, ..) | Statement::Fill(array, _)
                if !is_inside && is_shared(array) =>
            {
                vec![Statement::If(vec![(self.is_first(), vec![changed])], Vec::new())]
            }
            _ => vec![changed],
        }
    }
}

fn only_if(condition: Expr, body: Vec<Statement>) -> Statement {
    Statement::If(vec![(condition, body)], Vec::new())
}
