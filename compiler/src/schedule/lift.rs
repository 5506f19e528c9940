//! Sums inside of expressions.
//!
//! A sum that is not the whole right-hand side gets a workspace, which is filled as deep in the loops as it must be and no
//! deeper:
//!
//! ```text
//! y(i) = b(i) - sum(j)(A(i, j) * x(j))
//!
//! for all i
//!     with t
//!         for all j: t += A(i, j) * x(j)
//!     then y(i) = b(i) - t
//! ```

use super::Precomputed;
use super::cost::SORTED;
use super::factor::{Nest, factors};
use super::state::{LoopOrder, Scheduler, Term};
use super::{Access, Expr, IndexVariable, OutputStructure, Run, Statement, TensorId};
use crate::diagnostics::Span;
use crate::format::Format;
use crate::ir::ReduceOperator;
use crate::notation::BinaryOperator;
pub(super) use crate::notation::simplify::{has_sum, normalize};

/// A sum, or another reduction, and the workspace that stands for it.
struct Sum {
    workspace: TensorId,
    operator: ReduceOperator,
    /// The index variables that it depends on.
    free: Vec<IndexVariable>,
    value: Expr,
}

impl Sum {
    fn reads(&self, part: &Precomputed) -> bool {
        self.value.accesses().iter().any(|access| access.tensor == part.read.tensor)
    }
}

/// How a workspace is filled.
struct Producer {
    workspace: TensorId,
    /// How many of the consumer's loops are outside.
    depth: usize,
    term: Term,
    order: LoopOrder,
    /// Parts of it that are formed before.
    parts: Vec<Precomputed>,
}

/// A place of a sum in the loops of what reads it, and what was decided for it.
struct Placed<'a> {
    depth: usize,
    term: Term,
    order: LoopOrder,
    scheduler: Scheduler<'a>,
}

impl Placed<'_> {
    /// The steps to form the sum once.
    fn steps(&self) -> f64 {
        let kernel = &self.scheduler.kernel;
        let format = |access: &Access| kernel.tensor(access.tensor).format.clone();
        kernel.costed(&self.term.value).cost(&self.order.loops, &format).steps
    }

    /// The steps to make the copies that it reads and nothing else did.
    fn copied(&self, before: &Scheduler<'_>) -> f64 {
        let mut steps = 0.0;
        self.term.value.for_each_access(&mut |access| {
            if access.tensor.0 >= before.kernel.tensors.len() {
                let format = &self.scheduler.kernel.tensor(access.tensor).format;
                steps += SORTED * self.scheduler.kernel.typical_entries(access, format);
            }
        });
        steps
    }
}

impl<'a> Scheduler<'a> {
    /// Loops for a term with sums inside, or with parts that are formed before.
    pub(super) fn lifted(
        &mut self,
        mut term: Term,
        bound: &[IndexVariable],
        order: Option<LoopOrder>,
        parts: Vec<Precomputed>,
    ) -> Statement {
        let mut sums = Vec::new();
        term.value = match term.value {
            Expr::Reduce(operator, variables, body) if operator == term.reduction && !term.is_apart => {
                Expr::Reduce(operator, variables, Box::new(self.lift(&body, &mut sums)))
            }
            value => self.lift(&value, &mut sums),
        };
        let order = order.unwrap_or_else(|| self.order(&mut term, bound, &[]));
        let mut producers = Vec::with_capacity(sums.len());
        let mut parts = parts;
        for mut sum in sums {
            self.depend_on_parts(&mut sum, &parts);
            let mut producer = self.producer(&sum, &term, bound, &order);
            let outside: Vec<IndexVariable> = bound.iter().chain(&order.loops[..producer.depth]).copied().collect();
            producer.parts = parts.extract_if(.., |part| self.is_formed_inside(part, &sum, &outside)).collect();
            let place = &producer.term.target;
            let reindex = |access: &Access| match access.tensor == sum.workspace {
                true => Expr::Access(place.clone()),
                false => Expr::Access(access.clone()),
            };
            term.value = term.value.map_accesses(&reindex);
            producers.push(producer);
        }
        // Sums may read them.
        producers.extend(parts.into_iter().map(|part| self.part(part, bound, &order)));
        self.around(term, bound, order, producers)
    }

    fn producer(&mut self, sum: &Sum, term: &Term, bound: &[IndexVariable], order: &LoopOrder) -> Producer {
        let target = Access::new(sum.workspace, sum.free.clone(), Span::default());
        let mut producer = Term {
            target,
            in_memory: false,
            accumulates: false,
            reduction: sum.operator,
            is_apart: false,
            value: sum.value.clone(),
            masks: Vec::new(),
            element: self.kernel.tensor(sum.workspace).element,
            structure: OutputStructure::Dense,
        };
        let is_scalar = term.structure == OutputStructure::Appended;
        let is_for_all = self.adds_to_all(term, sum.workspace);
        let (depth, inside, order) = match is_scalar {
            true => self.place_scalar(&mut producer, bound, order, &sum.free),
            false => self.place(&mut producer, term, bound, order, &sum.free, is_for_all),
        };
        let extents = inside.iter().map(|variable| self.kernel.variables[variable.0].extent).collect();
        let workspace = &mut self.kernel.tensors[sum.workspace.0];
        workspace.format = Format::dense(inside.len());
        workspace.extents = extents;
        producer.target.indices = inside;
        Producer { workspace: sum.workspace, depth, term: producer, order, parts: Vec::new() }
    }

    /// A sum depends on what is outside of the parts that it reads, unless it is over that.
    fn depend_on_parts(&self, sum: &mut Sum, parts: &[Precomputed]) {
        let mut summed = Vec::new();
        collect_summed(&sum.value, &mut summed);
        for part in parts {
            if !sum.reads(part) {
                continue;
            }
            let outside = part.outside.iter().flat_map(|&variable| self.kernel.running(variable));
            let own: Vec<IndexVariable> =
                outside.filter(|variable| !summed.contains(variable) && !sum.free.contains(variable)).collect();
            sum.free.extend(own);
        }
    }

    /// Whether a part is formed in the loops of a sum that reads it, rather than outside: some of those must be outside of it.
    fn is_formed_inside(&self, part: &Precomputed, sum: &Sum, outside: &[IndexVariable]) -> bool {
        sum.reads(part) && !self.kernel.loops_of(&part.outside).iter().all(|variable| outside.contains(variable))
    }

    /// Fills the workspace of a part inside of the loops that must be outside.
    fn part(&mut self, part: Precomputed, bound: &[IndexVariable], order: &LoopOrder) -> Producer {
        let outside = self.kernel.loops_of(&part.outside);
        let depth = order.loops.iter().rposition(|variable| outside.contains(variable)).map_or(0, |last| last + 1);
        let around: Vec<IndexVariable> = bound.iter().chain(&order.loops[..depth]).copied().collect();
        let workspace = part.written.tensor;
        let mut term = Term {
            target: part.written,
            in_memory: false,
            accumulates: false,
            reduction: match &part.value {
                Expr::Reduce(operator, ..) => *operator,
                _ => ReduceOperator::Add,
            },
            is_apart: false,
            value: part.value,
            masks: Vec::new(),
            element: self.kernel.tensor(workspace).element,
            structure: OutputStructure::Dense,
        };
        let order = self.order(&mut term, &around, &order.loops);
        // A row that is a vector is its own accumulator.
        term.in_memory = !term.target.indices.is_empty() && order.vector.is_none();
        Producer { workspace, depth, term, order, parts: part.inside }
    }

    /// The same as [`place`](Self::place) for entries that are appended: they must know whether their sums had a term, so those are scalars,
    /// summed where they are used.
    fn place_scalar(
        &mut self,
        producer: &mut Term,
        bound: &[IndexVariable],
        order: &LoopOrder,
        free: &[IndexVariable],
    ) -> (usize, Vec<IndexVariable>, LoopOrder) {
        let depth = order.loops.iter().rposition(|variable| free.contains(variable)).map_or(0, |last| last + 1);
        let outside: Vec<IndexVariable> = bound.iter().chain(&order.loops[..depth]).copied().collect();
        producer.target.indices.clear();
        (depth, Vec::new(), self.order(producer, &outside, &[]))
    }

    /// How many of the consumer's loops are outside a sum, the index variables of its workspace, and its own loops: those that take
    /// the fewest steps. A row of a product of dense operands is formed at once where all of it is read, but element by element inside
    /// of a loop over the entries of a mask.
    fn place(
        &mut self,
        producer: &mut Term,
        consumer: &Term,
        bound: &[IndexVariable],
        order: &LoopOrder,
        free: &[IndexVariable],
        is_for_all: bool,
    ) -> (usize, Vec<IndexVariable>, LoopOrder) {
        let is_free = |variable: &IndexVariable| free.contains(variable);
        let deepest = order.loops.iter().rposition(is_free).map_or(0, |last| last + 1);
        // Nothing is formed inside of a vector.
        let deepest = deepest.min(order.loops.len() - usize::from(order.vector.is_some()));
        let mut plain = self.clone();
        let mut first = producer.clone();
        let mut own = plain.order_of(&mut first, bound, &order.loops, is_for_all);
        let shared = order.loops.iter().zip(&own.loops).take_while(|(a, b)| a == b && is_free(a)).count();
        own.loops.drain(..shared);
        let mut best = Placed { depth: shared, term: first, order: own, scheduler: plain };
        let placed = |depth: usize| {
            let outside: Vec<IndexVariable> = bound.iter().chain(&order.loops[..depth]).copied().collect();
            let mut scheduler = self.clone();
            let mut term = producer.clone();
            let own = scheduler.order_of(&mut term, &outside, &order.loops, false);
            Placed { depth, term, order: own, scheduler }
        };
        // What reads the result of a recurrence is formed where all that it reads has been assigned.
        let carrying = self.carrying(&producer.value);
        let least_depth =
            order.loops.iter().rposition(|variable| carrying.contains(variable)).map_or(0, |last| last + 1);
        if shared < least_depth {
            best = placed(least_depth);
        }
        let shared = best.depth;
        let reached = |depth: usize| self.reached(consumer, &order.loops[..depth]);
        let is_row = |depth: usize| {
            let extents = order.loops[shared..depth].iter().map(|&variable| self.kernel.typical_extent(variable));
            reached(depth) >= reached(shared) * extents.product::<f64>()
        };
        let mut least = reached(shared) * best.steps();
        for depth in (shared + 1..=deepest).filter(|&depth| !is_row(depth)) {
            let other = placed(depth);
            let steps = reached(depth) * other.steps() + other.copied(self);
            if other.scheduler.problems == self.problems && steps < least {
                (best, least) = (other, steps);
            }
        }
        let Placed { depth, term, order: own, scheduler } = best;
        *self = scheduler;
        *producer = term;
        let is_inside = |v: &IndexVariable| !order.loops[..depth].contains(v) && !bound.contains(v);
        let mut inside: Vec<IndexVariable> = free.iter().copied().filter(is_inside).collect();
        // Neighbours along a vector are neighbours in memory.
        inside.sort_by_key(|variable| Some(*variable) == own.vector);
        (depth, inside, own)
    }

    /// How often the innermost of a term's outer loops is reached.
    fn reached(&self, term: &Term, loops: &[IndexVariable]) -> f64 {
        let value = term.masks.iter().fold(term.value.clone(), |value, mask| masked(&value, mask));
        let format = |access: &Access| self.kernel.tensor(access.tensor).format.clone();
        self.kernel.costed(&value).cost(loops, &format).terms
    }

    /// A term's loops, and at its place in them what fills each workspace.
    fn around(&mut self, term: Term, bound: &[IndexVariable], order: LoopOrder, producers: Vec<Producer>) -> Statement {
        let deepest = producers.iter().map(|producer| producer.depth).max().unwrap_or(0);
        let (outside, inside) = order.loops.split_at(deepest);
        let accumulates = outside.iter().any(|&variable| self.kernel.is_reduced(variable, &term.target));
        // Inside of all workspaces the loops are those of any product.
        let mut statement = self.build(Nest {
            bound: bound.iter().chain(outside).copied().collect(),
            loops: inside.to_vec(),
            target: term.target,
            in_memory: term.in_memory,
            reduction: term.reduction,
            accumulates: term.accumulates || accumulates,
            factors: factors(
                match &term.value {
                    Expr::Reduce(_, _, body) => body,
                    value => value,
                },
                term.reduction,
            ),
            masks: term.masks,
            vector: order.vector,
            element: term.element,
        });
        let mut producers = producers;
        for depth in (0..=deepest).rev() {
            let here: Vec<Producer> = producers.extract_if(.., |producer| producer.depth == depth).collect();
            for Producer { workspace, term, order, parts, .. } in here {
                let around: Vec<IndexVariable> = bound.iter().chain(&outside[..depth]).copied().collect();
                let producer = match parts.is_empty() {
                    true => self.term(term, &around, Some(order)),
                    false => self.lifted(term, &around, Some(order), parts),
                };
                statement = Statement::Where { workspace, consumer: Box::new(statement), producer: Box::new(producer) };
            }
            if let Some(&variable) = depth.checked_sub(1).and_then(|last| outside.get(last)) {
                statement = Statement::Forall { variable, run: Run::Serial, body: Box::new(statement) };
            }
        }
        statement
    }

    /// The expression with every sum replaced by a workspace, and the sums.
    fn lift(&mut self, expr: &Expr, sums: &mut Vec<Sum>) -> Expr {
        match expr {
            Expr::Reduce(operator, ..) => {
                let free = self.free_by(expr, &|variable| self.kernel.running(variable));
                let workspace = self.accumulator(&free, self.kernel.element_of(expr), *operator);
                sums.push(Sum { workspace, operator: *operator, free: free.clone(), value: expr.clone() });
                Expr::Access(Access::new(workspace, free, Span::default()))
            }
            Expr::Unary(operator, operand) => Expr::Unary(*operator, Box::new(self.lift(operand, sums))),
            Expr::Cast(element, operand) => Expr::Cast(*element, Box::new(self.lift(operand, sums))),
            Expr::Binary(operator, left, right) => {
                let left = self.lift(left, sums);
                Expr::Binary(*operator, Box::new(left), Box::new(self.lift(right, sums)))
            }
            Expr::Call(function, arguments) => {
                Expr::Call(*function, arguments.iter().map(|argument| self.lift(argument, sums)).collect())
            }
            Expr::Select(condition, yes, no) => {
                let condition = self.lift(condition, sums);
                let yes = self.lift(yes, sums);
                Expr::Select(Box::new(condition), Box::new(yes), Box::new(self.lift(no, sums)))
            }
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => expr.clone(),
        }
    }
}

/// The variables that an expression sums over.
fn collect_summed(expr: &Expr, summed: &mut Vec<IndexVariable>) {
    if let Expr::Reduce(_, variables, _) = expr {
        summed.extend(variables);
    }
    expr.children().into_iter().for_each(|child| collect_summed(child, summed));
}

/// The expression where a mask has an entry, for the sake of its cost.
pub(super) fn masked(value: &Expr, mask: &Access) -> Expr {
    Expr::Binary(BinaryOperator::And, Box::new(mask.stored()), Box::new(value.clone()))
}
