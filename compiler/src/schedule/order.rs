//! The order of loops, and what to do where storage orders disagree.
//!
//! Levels that cannot be located (compressed, singleton) must be walked in storage order, so each asks that the loops over
//! the levels above it come first. An order that satisfies every operand exists unless the wishes form a cycle, as in
//! `A(i, j) + B(j, i)` with both rows first; then an operand is read from a copy in another mode order.

use super::state::{LoopOrder, Scheduler, Term};
use super::{Access, Expr, IndexVariable, Kernel, OutputStructure, TensorKind};
use super::{level_variables, stored_levels};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::notation as codes;
use crate::level::is_located;
use crate::remark::{What, Why};
use std::collections::BTreeMap;

/// `before` must be an outer loop of `after`.
pub(super) type Edge = (IndexVariable, IndexVariable);

/// What the storage of an operand asks of the order of loops.
pub(super) fn storage_edges(kernel: &Kernel, access: &Access) -> Vec<Edge> {
    let format = &kernel.tensor(access.tensor).format;
    let variables = level_variables(access, format);
    let mut edges = Vec::new();
    let mut outside: Vec<IndexVariable> = Vec::new();
    let mut is_outside = vec![false; kernel.variables.len()];
    for (level, &variable) in format.levels.iter().zip(&variables) {
        if !is_located(level.format) {
            edges.extend(outside.iter().map(|&before| (before, variable)));
        }
        let loops = kernel.loops(variable).into_iter();
        outside.extend(loops.filter(|variable| !std::mem::replace(&mut is_outside[variable.0], true)));
    }
    edges
}

/// What an output that is appended asks: its levels down to the last one that is stored in order, and everything that is
/// summed over inside of them.
pub(super) fn append_edges(kernel: &Kernel, target: &Access, reduced: &[IndexVariable]) -> Vec<Edge> {
    let format = &kernel.tensor(target.tensor).format;
    let variables = level_variables(target, format);
    let stored = stored_levels(format);
    let mut edges = Vec::new();
    for depth in 0..stored {
        let outside = kernel.loops_of(&variables[..depth]);
        let inside = kernel.loops_of(&variables[stored..]);
        let own = kernel.loops(variables[depth]).into_iter();
        for here in own.filter(|variable| !outside.contains(variable)) {
            edges.extend(outside.iter().map(|&before| (before, here)));
            edges.extend(reduced.iter().chain(&inside).map(|&inner| (here, inner)));
        }
        edges.extend(kernel.ascending(variables[depth]).windows(2).map(|pair| (pair[0], pair[1])));
    }
    edges.retain(|(before, after)| before != after);
    edges
}

/// An order of `variables` that satisfies `edges`, taking of those that may come next the one with the least rank.
/// `None` when the edges form a cycle.
pub(super) fn topological<R: Ord>(
    variables: &[IndexVariable],
    edges: &[Edge],
    rank: impl Fn(IndexVariable) -> R,
) -> Option<Vec<IndexVariable>> {
    let places: BTreeMap<IndexVariable, usize> =
        variables.iter().enumerate().rev().map(|(place, &variable)| (variable, place)).collect();
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); variables.len()];
    let mut waits_for = vec![0usize; variables.len()];
    for (before, after) in edges.iter().filter(|(before, after)| before != after) {
        if let (Some(&before), Some(&after)) = (places.get(before), places.get(after)) {
            behind[before].push(after);
            waits_for[after] += 1;
        }
    }
    let ranks: Vec<R> = variables.iter().map(|&variable| rank(variable)).collect();
    let mut rest: Vec<usize> = (0..variables.len()).collect();
    let mut order: Vec<IndexVariable> = Vec::with_capacity(variables.len());
    while !rest.is_empty() {
        let free = rest.iter().enumerate().filter(|(_, place)| waits_for[**place] == 0);
        let (at, _) = free.min_by_key(|(_, place)| &ranks[**place])?;
        let place = rest.remove(at);
        behind[place].iter().for_each(|&after| waits_for[after] -= 1);
        order.push(variables[place]);
    }
    Some(order)
}

impl Kernel {
    /// What computed variables are made of comes before them, and what the schedule wants outside before what it wants inside.
    pub(super) fn order_edges(&self, variables: &[IndexVariable]) -> Vec<Edge> {
        let asked = self.asked.order.iter().copied();
        let asked = asked.filter(|(outer, inner)| variables.contains(outer) && variables.contains(inner));
        self.made_of_edges(variables).into_iter().chain(asked).collect()
    }

    /// What a copy that the schedule asks for asks of the order of loops.
    pub(super) fn copy_edges(&self, access: &Access) -> Vec<Edge> {
        let order = self.asked_order(access).unwrap_or_default();
        let loops = self.loops_of(&order);
        loops.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// What computed variables are made of comes before them.
    pub(super) fn made_of_edges(&self, variables: &[IndexVariable]) -> Vec<Edge> {
        let made_of = |&variable: &IndexVariable| {
            let running = self.running(variable).into_iter().filter(move |&running| running != variable);
            running.map(move |running| (running, variable))
        };
        variables.iter().flat_map(made_of).collect()
    }
}

impl Scheduler<'_> {
    /// Chooses the order of a term's loops, `bound` being outside already, and replaces operands that stand against it by
    /// sorted copies.
    pub(super) fn order(&mut self, term: &mut Term, bound: &[IndexVariable], hint: &[IndexVariable]) -> LoopOrder {
        let is_for_all = self.writes_all(term);
        self.order_of(term, bound, hint, is_for_all)
    }

    /// The same; `is_for_all` elements of a result are formed.
    pub(super) fn order_of(
        &mut self,
        term: &mut Term,
        bound: &[IndexVariable],
        hint: &[IndexVariable],
        is_for_all: bool,
    ) -> LoopOrder {
        let mut variables: Vec<IndexVariable> = bound.to_vec();
        let mut add = |variable: &IndexVariable| {
            if !variables.contains(variable) {
                variables.push(*variable);
            }
        };
        // Where nothing else is asked, the result is written in storage order.
        match self.kernel.tensor(term.target.tensor) {
            target if target.kind == TensorKind::Workspace => {
                self.kernel.loops_of(&term.target.indices).iter().for_each(&mut add);
            }
            target => {
                let levels = level_variables(&term.target, &target.format);
                self.kernel.loops_of(&levels).iter().for_each(&mut add);
            }
        }
        let body = match &term.value {
            Expr::Reduce(_, reduced, body) => {
                self.free(body).iter().for_each(&mut add);
                self.kernel.loops_of(reduced).iter().for_each(&mut add);
                &**body
            }
            other => {
                self.free(other).iter().for_each(&mut add);
                other
            }
        };
        for mask in &term.masks {
            self.kernel.loops_of(&mask.indices).iter().for_each(&mut add);
        }
        let mut reads: Vec<Access> = term.masks.clone();
        for_each_access_outside_sums(body, &mut |access| reads.push(access.clone()));
        let reduced: Vec<IndexVariable> = variables
            .iter()
            .copied()
            .filter(|v| !bound.contains(v) && self.kernel.is_reduced(*v, &term.target))
            .collect();
        let vector = self.asked_vector(term, &variables, bound);
        let vector = vector.or_else(|| self.vector(term, &reads, &variables, bound, None));
        let mut fixed: Vec<Edge> = bound.windows(2).map(|pair| (pair[0], pair[1])).collect();
        for &outer in bound {
            fixed.extend(variables.iter().filter(|v| !bound.contains(v)).map(|&inner| (outer, inner)));
        }
        fixed.extend(self.kernel.order_edges(&variables));
        if term.structure == OutputStructure::Appended {
            fixed.extend(append_edges(&self.kernel, &term.target, &reduced));
        }
        // The operand whose arrays the result shares is walked in its order, also where it is read in a part that is formed inside.
        if let OutputStructure::Shared { access, .. } = &term.structure
            && !reads.iter().any(|read| read.same_place(access))
        {
            fixed.extend(storage_edges(&self.kernel, access));
        }
        let inside = self.kernel.inside_of_blocks(&variables, &term.target, vector);
        let rank = |variable: IndexVariable| {
            let hinted = hint.iter().position(|&v| v == variable).unwrap_or(hint.len());
            let seen = variables.iter().position(|&v| v == variable);
            (Some(variable) == vector, inside.contains(&variable), hinted, seen)
        };
        let Some((order, copied)) = self.resolve(term, &reads, &variables, bound, fixed.clone(), rank) else {
            let is_asked = self.kernel.asked.order.iter().any(|(outer, _)| bound.contains(outer));
            self.problems.push(if is_asked { against_the_schedule(&term.target) } else { no_order(&term.target) });
            return LoopOrder { loops: variables, vector: None };
        };
        let takes_other = is_for_all && bound.is_empty();
        let other = takes_other.then(|| self.contraction(term, &reads, &order, &copied, &fixed)).flatten();
        let is_free = bound.is_empty() && term.structure == OutputStructure::Dense;
        let other = other.or_else(|| is_free.then(|| self.closed(term, &reads, &order, &fixed, rank)).flatten());
        let (order, copied) = other.unwrap_or((order, copied));
        for access in copied {
            self.copy(term, &access, &order);
        }
        self.settle(&reads);
        let loops: Vec<IndexVariable> = order.into_iter().filter(|variable| !bound.contains(variable)).collect();
        // Another than the best may have to be innermost.
        let innermost = loops.last().copied();
        let vector = match vector {
            Some(best) if Some(best) != innermost => self.vector(term, &reads, &variables, bound, innermost),
            vector => vector,
        };
        self.loop_order(term, loops, vector)
    }

    /// Loops in a given order inside of those over `bound`, the innermost of them a vector where that is good.
    pub(super) fn with_vector(&mut self, term: &Term, loops: Vec<IndexVariable>, bound: &[IndexVariable]) -> LoopOrder {
        let mut reads = term.masks.clone();
        term.value.for_each_access(&mut |access| reads.push(access.clone()));
        let variables: Vec<IndexVariable> = bound.iter().chain(&loops).copied().collect();
        let vector = self.asked_vector(term, &variables, bound);
        let vector = vector.or_else(|| self.vector(term, &reads, &variables, bound, None));
        self.loop_order(term, loops, vector)
    }

    fn loop_order(&mut self, term: &Term, loops: Vec<IndexVariable>, vector: Option<IndexVariable>) -> LoopOrder {
        let vector = vector.filter(|variable| loops.last() == Some(variable) && self.is_dense_along(term, *variable));
        if let Some(variable) = vector {
            let name = self.kernel.variable(variable).to_owned();
            self.decide(What::Vector(name.clone()), Why::DenseAlong(name));
        }
        LoopOrder { loops, vector }
    }

    /// The loop that the schedule wants in vector lanes.
    fn asked_vector(&self, term: &Term, variables: &[IndexVariable], bound: &[IndexVariable]) -> Option<IndexVariable> {
        let is_asked = |variable: &IndexVariable| self.kernel.asked.vector.contains(variable);
        let is_own =
            |variable: &IndexVariable| !bound.contains(variable) && self.kernel.tells_apart(*variable, &term.target);
        variables.iter().copied().find(|variable| is_asked(variable) && is_own(variable))
    }

    /// Whether no operand of a term has to be walked along a variable, and no coordinates of it are listed. Sorted copies may
    /// be sparse where the original is dense.
    pub(super) fn is_dense_along(&self, term: &Term, variable: IndexVariable) -> bool {
        let target = self.kernel.tensor(term.target.tensor);
        let result = &target.format;
        let is_listed =
            term.structure == OutputStructure::Appended || matches!(target.kind, TensorKind::SparseWorkspace(_));
        let mut dense =
            !is_listed || !level_variables(&term.target, result)[..stored_levels(result)].contains(&variable);
        term.value.for_each_access(&mut |access| {
            let format = &self.kernel.tensor(access.tensor).format;
            if self.kernel.tensor(access.tensor).kind != TensorKind::Workspace {
                let mut levels = level_variables(access, format).into_iter().zip(&format.levels);
                let is_it = |other| other == variable || self.kernel.is_inside(variable, other);
                dense &= levels.all(|(other, level)| !is_it(other) || is_located(level.format));
            }
        });
        dense
    }

    /// Each choice of operands to read from copies: all of them that must be copied, and none that must not.
    pub(super) fn choices_of_copies(&self, movable: &[&Access]) -> impl Iterator<Item = Vec<Access>> {
        let mask = |holds: &dyn Fn(&Access) -> bool| {
            let held = movable.iter().enumerate().filter(|(_, access)| holds(access));
            held.fold(0, |mask, (index, _)| mask | 1u64 << index)
        };
        let forced = mask(&|access| self.kernel.must_be_copied(access));
        let forbidden = mask(&|access| self.kernel.must_not_be_copied(access));
        let is_allowed = move |subset: &u64| subset & forced == forced && subset & forbidden == 0;
        (0..1u64 << movable.len()).filter(is_allowed).map(|subset| {
            let chosen = movable.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
            chosen.map(|(_, access)| (*access).clone()).collect()
        })
    }

    /// What operands ask of the order of loops, where some are read from copies.
    pub(super) fn edges_with<'a>(
        &self,
        operands: impl IntoIterator<Item = &'a Access>,
        copied: &[Access],
    ) -> Vec<Edge> {
        let edges = |access: &'a Access| match copied.iter().any(|copy| copy.same_place(access)) {
            true => self.kernel.copy_edges(access),
            false => storage_edges(&self.kernel, access),
        };
        operands.into_iter().flat_map(edges).collect()
    }

    /// An order that satisfies all operands but as few as possible, and those. `None` where no copies help.
    pub(super) fn resolve<R: Ord>(
        &self,
        term: &Term,
        reads: &[Access],
        variables: &[IndexVariable],
        bound: &[IndexVariable],
        fixed: Vec<Edge>,
        rank: impl Fn(IndexVariable) -> R,
    ) -> Option<(Vec<IndexVariable>, Vec<Access>)> {
        let edges_of = |access: &Access| storage_edges(&self.kernel, access);
        let is_shared = |access: &Access| matches!(&term.structure, OutputStructure::Shared { access: shared, .. } if shared.same_place(access));
        let mut movable: Vec<&Access> = Vec::new();
        let mut edges = fixed;
        for access in reads {
            if is_shared(access) || self.kernel.tensor(access.tensor).stored.is_some() {
                edges.extend(edges_of(access));
            } else if (!edges_of(access).is_empty() || self.kernel.must_be_copied(access))
                && !movable.iter().any(|seen| seen.same_place(access))
            {
                movable.push(access);
            }
        }
        // The fewest copies, stand-ins aside, which are copies in any order; of equally many, those of the operands of lower
        // order that come later.
        movable.sort_by_key(|access| std::cmp::Reverse(access.indices.len()));
        // What the schedule asks for and can't be had is reported when all is scheduled.
        let unasked = |edges: &[Edge]| -> Vec<Edge> {
            // Loops outside are there already.
            let place = |variable: IndexVariable| bound.iter().position(|&outer| outer == variable);
            let is_there = |&(outer, inner): &Edge| {
                place(outer).is_some_and(|outer| place(inner).is_none_or(|inner| outer < inner))
            };
            let is_kept = |edge: &Edge| is_there(edge) || !self.kernel.asked.order.contains(edge);
            edges.iter().copied().filter(is_kept).collect()
        };
        if movable.len() > MOST_TRIED {
            let order = |edges| one_after_the_other(variables, edges, &movable, &edges_of, &rank);
            return order(edges.clone()).or_else(|| order(unasked(&edges)));
        }
        for order in movable.iter().filter(|access| self.kernel.must_be_copied(access)) {
            edges.extend(self.kernel.copy_edges(order));
        }
        let mut choices: Vec<Vec<Access>> = self.choices_of_copies(&movable).collect();
        choices.reverse();
        let is_new = |access: &&Access| !self.unsettled.contains(&access.tensor);
        choices.sort_by_key(|copied| (copied.iter().filter(is_new).count(), copied.len()));
        for copied in choices {
            let is_left = |access: &&Access| !copied.iter().any(|copy| copy.same_place(access));
            let mut all = edges.clone();
            movable.iter().copied().filter(is_left).for_each(|access| all.extend(edges_of(access)));
            if let Some(order) = topological(variables, &all, &rank) {
                return Some((order, copied));
            }
        }
        let order = topological(variables, &unasked(&edges), &rank)?;
        Some((order, movable.into_iter().cloned().collect()))
    }

    /// The index variable whose loop should be innermost and run in vector lanes: free, dense in everything that has it,
    /// and adjacent in memory in as much of it as possible. With an `innermost_loop`, whether that one is good; what sums inside have of it
    /// is a row of a workspace.
    fn vector(
        &self,
        term: &Term,
        reads: &[Access],
        variables: &[IndexVariable],
        bound: &[IndexVariable],
        innermost_loop: Option<IndexVariable>,
    ) -> Option<IndexVariable> {
        if variables.len() < 2 {
            return None;
        }
        let mut accesses: Vec<&Access> = reads.iter().collect();
        accesses.push(&term.target);
        let mut sums = Vec::new();
        match &term.value {
            Expr::Reduce(_, _, body) => for_each_sum(body, &mut |sum| sums.push(self.free(sum))),
            value => for_each_sum(value, &mut |sum| sums.push(self.free(sum))),
        }
        let adjacent = |variable: IndexVariable| -> Option<usize> {
            let of_sums = sums.iter().filter(|sum| sum.contains(&variable)).count();
            let mut count = if innermost_loop.is_some() { of_sums } else { 0 };
            for access in accesses.iter().filter(|access| self.kernel.loops_of(&access.indices).contains(&variable)) {
                let tensor = self.kernel.tensor(access.tensor);
                let is_it = |index: &IndexVariable| *index == variable || self.kernel.is_inside(variable, *index);
                let Some(&index) = access.indices.iter().find(|index| is_it(index)) else {
                    // Neighbours along a computed index are read, not written, and only where they need no search.
                    let is_read = !access.same_place(&term.target) && tensor.format.is_dense();
                    is_read.then_some(())?;
                    continue;
                };
                if tensor.kind == TensorKind::Workspace {
                    count += 1;
                    continue;
                }
                let levels = level_variables(access, &tensor.format);
                let depth = levels.iter().position(|&v| v == index)?;
                // A level that is walked waits for the loops over all levels above it: none of those can be innermost.
                if tensor.format.levels[depth..].iter().any(|level| !is_located(level.format)) {
                    return None;
                }
                count += usize::from(depth + 1 == levels.len());
            }
            Some(count)
        };
        // An index that is split has the loop inside of its blocks.
        let innermost = |index: IndexVariable| {
            let inside = variables.iter().copied().find(|&variable| self.kernel.is_inside(variable, index));
            inside.or_else(|| self.kernel.variables[index.0].value.is_none().then_some(index))
        };
        term.target
            .indices
            .iter()
            .filter_map(|&index| innermost(index))
            .filter(|variable| !bound.contains(variable))
            // What shall run in parallel is no vector, nor is what carries values.
            .filter(|variable| !self.kernel.asked.parallel.contains(variable))
            .filter(|variable| self.carried.as_ref().is_none_or(|(_, carried)| !carried.contains(variable)))
            .filter(|variable| innermost_loop.is_none_or(|innermost| innermost == *variable))
            .filter_map(|variable| adjacent(variable).filter(|&count| count > 0).map(|count| (count, variable)))
            .max_by_key(|&(count, variable)| (count, variables.iter().position(|&v| v == variable)))
            .map(|(_, variable)| variable)
    }
}

/// The most operands of which all choices of copies are tried.
const MOST_TRIED: usize = 10;

/// An order that satisfies the operands one after the other; those that stand against the ones before are copied.
fn one_after_the_other<R: Ord>(
    variables: &[IndexVariable],
    mut edges: Vec<Edge>,
    movable: &[&Access],
    edges_of: &dyn Fn(&Access) -> Vec<Edge>,
    rank: &impl Fn(IndexVariable) -> R,
) -> Option<(Vec<IndexVariable>, Vec<Access>)> {
    let mut order = topological(variables, &edges, rank)?;
    let mut copied = Vec::new();
    for &access in movable {
        let before = edges.len();
        edges.extend(edges_of(access));
        match topological(variables, &edges, rank) {
            Some(other) => order = other,
            None => {
                edges.truncate(before);
                copied.push(access.clone());
            }
        }
    }
    Some((order, copied))
}

/// What is said where the levels of a result and those of the operand whose index arrays it shares ask for loops in each other.
fn no_order(target: &Access) -> Diagnostic {
    let problem = Diagnostic::new(codes::COMPUTED_RESULT_NOT_YET, target.span, "no order of loops makes this result");
    problem.label("its levels ask for loops in each other").help("make it in another format, or in two statements")
}

/// What is said where the schedule asks for loops outside of others that levels want outside of them.
fn against_the_schedule(target: &Access) -> Diagnostic {
    let message = "the loops that the schedule asks for can't be around this";
    let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, target.span, message);
    problem.label("its levels ask for loops in another order").help("leave out the `reorder`, or the `copy`")
}

/// Calls `visit` on the accesses that this term's own loops read; sums inside have loops of their own.
fn for_each_access_outside_sums(expr: &Expr, visit: &mut dyn FnMut(&Access)) {
    match expr {
        Expr::Access(access) => visit(access),
        Expr::Reduce(..) => {}
        _ => expr.children().into_iter().for_each(|child| for_each_access_outside_sums(child, visit)),
    }
}

/// Calls `visit` on the outermost sums in an expression.
fn for_each_sum<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match expr {
        Expr::Reduce(..) => visit(expr),
        _ => expr.children().into_iter().for_each(|child| for_each_sum(child, visit)),
    }
}
