//! Results whose entries don't come in order.
//!
//! Entries can be appended where the loops follow the levels of the result. Often those are bad loops: with all matrices in
//! CSR, `C(i, j) = A(i, k) * B(k, j)` in the order `i, j, k` visits every `j` of every `i`, whether it has an entry or not.
//! So only some outer levels of the result come in order with the loops. The loops over the others run in any order, inside
//! and outside of sums, and a sparse workspace collects their entries:
//!
//! ```text
//! for all i
//!     with w
//!         for all k
//!             for all j: w(j) += A(i, k) * B(k, j)
//!     then
//!         for all j: C(i, j) = w(j)
//! ```
//!
//! This is the workspace of Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor Algebra Compilation with Workspaces* (2019), and with
//! it Gustavson's algorithm (*Two fast algorithms for sparse matrices*, 1978). How many levels come in order, in which order the
//! other loops run and what is read from a copy is what the [estimated cost](super::cost) says.

use super::copy::sorted_format;
use super::cost::{Collecting, SORTED};
use super::lift::has_sum;
use super::order::{Edge, append_edges, level_variables, storage_edges, stored_levels};
use super::schedule::{Scheduler, Term};
use super::{Access, Collect, Decision, Expr, IndexVariable, OutputStructure, Run, Statement, TensorId, TensorKind};
use crate::diagnostics::Span;
use crate::format::level::is_located;
use crate::format::{Format, LevelFormat};
use crate::ir::ReduceOperator;
use crate::notation::BinaryOperator;

/// So many operands of a sum may be read from copies; those of higher order first.
const MOST_COPIES: usize = 5;
/// So many orders of loops are looked at.
const MOST_ORDERS: usize = 720;

/// How a result is formed through workspaces.
struct Plan {
    /// How many levels of the result come in order.
    depth: usize,
    steps: f64,
    sums: Vec<SumPlan>,
}

/// How one sum is formed.
struct SumPlan {
    value: Expr,
    /// The coordinates of the workspace, then its dense ones.
    indices: Vec<IndexVariable>,
    /// How many of them are coordinates.
    levels: usize,
    /// The loops inside of those over the levels that come in order.
    loops: Vec<IndexVariable>,
    copied: Vec<Access>,
    /// Terms and entries of a workspace each time it is filled.
    filled: (f64, f64),
    collecting: Collecting,
    steps: f64,
}

impl Scheduler<'_> {
    /// Loops for a result whose entries are appended: in order, or through workspaces where that is cheaper.
    pub(super) fn appended(&mut self, term: Term) -> Statement {
        let format = &self.kernel.tensor(term.target.tensor).format;
        let stored = stored_levels(format);
        let in_order = self.steps_in_order(&term);
        let plans = (1..stored).rev().filter_map(|depth| self.plan(&term, depth, stored));
        let best = plans.reduce(|best, plan| if plan.steps < best.steps { plan } else { best });
        match best {
            Some(plan) if plan.steps < in_order => {
                self.explain_plan(&term, &plan, in_order);
                self.through_workspaces(term, plan)
            }
            _ => {
                let name = &self.kernel.tensor(term.target.tensor).name;
                let what = format!("the entries of {name} come in order");
                let why = match best {
                    Some(plan) => format!("about {in_order:.1e} steps, with a workspace {:.1e}", plan.steps),
                    None => format!("about {in_order:.1e} steps, and no workspace would serve"),
                };
                self.decide(Decision { what, why });
                self.term(term, &[], None)
            }
        }
    }

    fn format_of(&self, access: &Access) -> Format {
        self.kernel.tensor(access.tensor).format.clone()
    }

    /// The cost of loops that follow the levels of the result.
    fn steps_in_order(&self, term: &Term) -> f64 {
        let format = &self.kernel.tensor(term.target.tensor).format;
        let mut variables = self.kernel.loops_of(&level_variables(&term.target, format));
        let mut reads = term.masks.clone();
        term.value.for_each_access(&mut |access| reads.push(access.clone()));
        add_missing(&mut variables, &mut self.all_variables(&term.value).into_iter());
        for mask in &term.masks {
            add_missing(&mut variables, &mut self.kernel.loops_of(&mask.indices).into_iter());
        }
        let reduced: Vec<_> = variables.iter().copied().filter(|&v| self.kernel.is_reduced(v, &term.target)).collect();
        let mut fixed = append_edges(&self.kernel, &term.target, &reduced);
        fixed.extend(self.kernel.made_of_edges(&variables));
        let rank = |variable| variables.iter().position(|&other| other == variable);
        let (order, copied) = self.resolve(term, &reads, &variables, fixed, rank);
        let is_copied = |access: &Access| copied.iter().any(|other| other.same_place(access));
        let stored_as = |access: &Access| match is_copied(access) {
            true => sorted_format(access, &self.format_of(access), &order),
            false => self.format_of(access),
        };
        let masked = term.masks.iter().fold(term.value.clone(), |value, mask| {
            Expr::Binary(BinaryOperator::Multiply, Box::new(Expr::Access(mask.clone())), Box::new(value))
        });
        let cost = self.kernel.cost(&order, &masked, &stored_as);
        cost.steps + cost.terms + self.copying(&copied)
    }

    /// Steps to make sorted copies. Stand-ins are copies anyway.
    fn copying(&self, copied: &[Access]) -> f64 {
        let is_new = |access: &&Access| !self.unsettled.contains(&access.tensor);
        copied
            .iter()
            .filter(is_new)
            .map(|access| SORTED * self.kernel.typical_entries(access, &self.format_of(access)))
            .sum()
    }

    /// The cheapest way in which just `depth` levels of the result come in order; `None` where there is none.
    fn plan(&self, term: &Term, depth: usize, stored: usize) -> Option<Plan> {
        let format = &self.kernel.tensor(term.target.tensor).format;
        let variables = level_variables(&term.target, format);
        // Computed indices are written where their loops are.
        if variables.iter().any(|variable| self.kernel.variables[variable.0].value.is_some()) {
            return None;
        }
        // The key of a workspace's entry has 64 bits; what is dense above a stored level is known to be short.
        let bits = format.levels[depth..stored].iter().map(|level| match is_located(level.format) {
            true => 32,
            false => 8 * level.format.coordinates.bytes(),
        });
        if stored - depth > 1 && bits.sum::<usize>() > 64 {
            return None;
        }
        let sums: Vec<SumPlan> = sums_of(&term.value)
            .into_iter()
            .filter_map(|value| self.plan_sum(&value, &variables, depth, stored))
            .collect();
        if sums.is_empty() {
            return None;
        }
        let appended = |plan: &SumPlan| plan.steps;
        let rest = self.steps_of_rest(term, &variables[..depth], &sums);
        Some(Plan { depth, steps: sums.iter().map(appended).sum::<f64>() + rest, sums })
    }

    /// What is beside the sums costs what its entries cost to walk.
    fn steps_of_rest(&self, term: &Term, outer: &[IndexVariable], sums: &[SumPlan]) -> f64 {
        let mut steps = 0.0;
        let mut add = |access: &Access| {
            let against = storage_edges(&self.kernel, access);
            let is_against = |(before, after): &Edge| outer.contains(after) && !outer.contains(before);
            let entries = self.kernel.typical_entries(access, &self.format_of(access));
            steps += if against.iter().any(is_against) { SORTED * entries } else { entries };
        };
        let mut inside: Vec<Access> = Vec::new();
        sums.iter().for_each(|sum| sum.value.for_each_access(&mut |access| inside.push(access.clone())));
        term.value.for_each_access(&mut |access| {
            if !inside.iter().any(|other| other.same_place(access)) {
                add(access);
            }
        });
        term.masks.iter().for_each(add);
        steps
    }

    fn plan_sum(&self, value: &Expr, levels: &[IndexVariable], depth: usize, stored: usize) -> Option<SumPlan> {
        let free = self.free(value);
        let is_free = |variable: &&IndexVariable| free.contains(variable);
        let coordinates: Vec<IndexVariable> = levels[depth..stored].iter().filter(is_free).copied().collect();
        if coordinates.is_empty() {
            return None;
        }
        let dense: Vec<IndexVariable> = levels[stored..].iter().filter(is_free).copied().collect();
        let outer = &levels[..depth];
        let mut variables = outer.to_vec();
        add_missing(&mut variables, &mut coordinates.iter().chain(&dense).copied());
        add_missing(&mut variables, &mut self.all_variables(value).into_iter());
        let mut reads: Vec<Access> = Vec::new();
        value.for_each_access(&mut |access| {
            if !reads.iter().any(|other| other.same_place(access)) {
                reads.push(access.clone());
            }
        });
        let mut movable: Vec<&Access> =
            reads.iter().filter(|access| !storage_edges(&self.kernel, access).is_empty()).collect();
        movable.sort_by_key(|access| std::cmp::Reverse(access.indices.len()));
        movable.truncate(MOST_COPIES);
        let mut best: Option<SumPlan> = None;
        for subset in 0..1usize << movable.len() {
            let copied: Vec<Access> = (0..movable.len())
                .filter(|index| subset >> index & 1 == 1)
                .map(|index| movable[index].clone())
                .collect();
            let copying = self.copying(&copied);
            if best.as_ref().is_some_and(|best| best.steps <= copying) {
                continue;
            }
            let is_copied = |access: &&Access| copied.iter().any(|other| other.same_place(access));
            let mut edges: Vec<Edge> = outer.windows(2).map(|pair| (pair[0], pair[1])).collect();
            for &before in outer {
                edges.extend(variables[depth..].iter().map(|&after| (before, after)));
            }
            edges.extend(self.kernel.made_of_edges(&variables));
            for access in reads.iter().filter(|access| !is_copied(access)) {
                edges.extend(storage_edges(&self.kernel, access));
            }
            // Blocks of dense values are found once for all of them, where nothing stands against it.
            let mut blocks = edges.clone();
            for &inner in &dense {
                blocks.extend(variables.iter().filter(|v| !dense.contains(v)).map(|&outer| (outer, inner)));
            }
            let mut orders = orders(&variables, &blocks);
            if orders.is_empty() {
                orders = self::orders(&variables, &edges);
            }
            for order in orders {
                let stored_as = |access: &Access| match is_copied(&access) {
                    true => sorted_format(access, &self.format_of(access), &order),
                    false => self.format_of(access),
                };
                let cost = self.kernel.cost(&order, value, &stored_as);
                let filled = self.filled(&order, depth, value, &stored_as, &coordinates, &dense);
                let collecting = Collecting::of(filled.0, filled.1);
                let times = cost.terms / self.block(&dense) / filled.0.max(f64::MIN_POSITIVE);
                let collected = times * (collecting.steps() + filled.1);
                let steps = cost.steps + cost.terms + collected + copying;
                if best.as_ref().is_none_or(|best| steps < best.steps) {
                    best = Some(SumPlan {
                        value: value.clone(),
                        indices: coordinates.iter().chain(&dense).copied().collect(),
                        levels: coordinates.len(),
                        loops: order[depth..].to_vec(),
                        copied: copied.clone(),
                        filled,
                        collecting,
                        steps,
                    });
                }
            }
        }
        best
    }

    /// Every loop that an expression needs, those of its sums included.
    fn all_variables(&self, expr: &Expr) -> Vec<IndexVariable> {
        let mut all = self.free(expr);
        if let Expr::Reduce(_, variables, _) = expr {
            add_missing(&mut all, &mut variables.iter().copied());
        }
        for child in expr.children() {
            add_missing(&mut all, &mut self.all_variables(child).into_iter());
        }
        all
    }

    /// The number of values of an entry.
    fn block(&self, dense: &[IndexVariable]) -> f64 {
        dense.iter().map(|&variable| self.kernel.typical_extent(variable)).product()
    }

    /// How many terms, and entries that they meet in, a workspace has each time it is filled. Each loop over something that is
    /// summed is taken to bring every entry twice.
    fn filled(
        &self,
        order: &[IndexVariable],
        depth: usize,
        value: &Expr,
        format: &dyn Fn(&Access) -> Format,
        coordinates: &[IndexVariable],
        dense: &[IndexVariable],
    ) -> (f64, f64) {
        let outside = self.kernel.cost(&order[..depth], value, format).terms;
        let terms = self.kernel.cost(order, value, format).terms / outside.max(f64::MIN_POSITIVE) / self.block(dense);
        let summed = order[depth..].iter().filter(|v| !coordinates.contains(v) && !dense.contains(v)).count();
        (terms, terms / f64::from(1u32 << summed.min(16)))
    }

    fn explain_plan(&mut self, term: &Term, plan: &Plan, in_order: f64) {
        let format = &self.kernel.tensor(term.target.tensor).format;
        let names = |variables: &[IndexVariable]| {
            let names: Vec<&str> = variables.iter().map(|&variable| self.kernel.variable(variable)).collect();
            names.join(", ")
        };
        let levels = level_variables(&term.target, format);
        let stored = stored_levels(format);
        let what = format!(
            "entries of {} come in order of {}, and through a workspace over {}",
            self.kernel.tensor(term.target.tensor).name,
            names(&levels[..plan.depth]),
            names(&levels[plan.depth..stored])
        );
        let why = format!("about {:.1e} steps; with all of them in order, {in_order:.1e}", plan.steps);
        self.decide(Decision { what, why });
    }

    /// Loops for a result that is formed through workspaces.
    fn through_workspaces(&mut self, mut term: Term, plan: Plan) -> Statement {
        let format = self.kernel.tensor(term.target.tensor).format.clone();
        let levels = level_variables(&term.target, &format);
        let outer = levels[..plan.depth].to_vec();
        let mut producers = Vec::new();
        for sum in plan.sums {
            let access = self.sparse_workspace(&term, &sum, &format, &levels);
            term.value = replace(&term.value, &sum.value, &access);
            producers.push(self.producer_of(sum, access, &outer));
        }
        let mut statement = self.term(term, &outer, None);
        for (workspace, producer) in producers.into_iter().rev() {
            statement = Statement::Where { workspace, consumer: Box::new(statement), producer: Box::new(producer) };
        }
        outer.into_iter().rev().fold(statement, |body, variable| Statement::Forall {
            variable,
            run: Run::Serial,
            body: Box::new(body),
        })
    }

    /// Declares the workspace of a sum.
    fn sparse_workspace(&mut self, term: &Term, sum: &SumPlan, result: &Format, levels: &[IndexVariable]) -> Access {
        let width = |variable: &IndexVariable| {
            let depth = levels.iter().position(|other| other == variable);
            depth.map_or(LevelFormat::COMPRESSED.coordinates, |depth| result.levels[depth].format.coordinates)
        };
        let coordinates = Format::coo(sum.levels).levels.into_iter().map(|level| level.format);
        let coordinates = coordinates.zip(&sum.indices).map(|(mut level, variable)| {
            level.coordinates = width(variable);
            level
        });
        let dense = std::iter::repeat_n(LevelFormat::DENSE, sum.indices.len() - sum.levels);
        let format = Format::of_levels(coordinates.chain(dense));
        let kind = TensorKind::SparseWorkspace(sum.collecting.collect);
        let element = self.kernel.element_of(&sum.value);
        let fill = match &sum.value {
            Expr::Reduce(operator, ..) => operator.identity(element).unwrap_or(element.zero()),
            _ => self.kernel.tensor(term.target.tensor).fill,
        };
        let workspace = self.workspace_of(&sum.indices, element, fill, format, kind);
        let name = self.kernel.tensor(workspace).name.clone();
        let (terms, entries) = sum.filled;
        let Collecting { collect, table, list } = sum.collecting;
        let costs = format!(
            "about {terms:.0} terms meet in {entries:.0} entries each time: {table:.0} steps with a table, {list:.0} with a list"
        );
        self.decide(match collect {
            Collect::Table => Decision {
                what: format!("a table finds the entries of {name}; it is direct where keys are small, else hashed"),
                why: costs,
            },
            Collect::List => {
                Decision { what: format!("{name} is a list that is sorted, where equal keys then meet"), why: costs }
            }
        });
        Access { tensor: workspace, indices: sum.indices.clone(), span: Span::default() }
    }

    /// Loops that fill the workspace of a sum.
    fn producer_of(&mut self, sum: SumPlan, target: Access, outer: &[IndexVariable]) -> (TensorId, Statement) {
        let workspace = target.tensor;
        // Without a sum, an element is written once.
        let reduction = match &sum.value {
            Expr::Reduce(operator, ..) => Some(*operator),
            _ => None,
        };
        let mut producer = Term {
            target,
            in_memory: true,
            accumulates: reduction.is_some(),
            reduction: reduction.unwrap_or(ReduceOperator::Add),
            is_apart: false,
            value: sum.value,
            masks: Vec::new(),
            element: self.kernel.tensor(workspace).element,
            structure: OutputStructure::Dense,
        };
        let order: Vec<IndexVariable> = outer.iter().chain(&sum.loops).copied().collect();
        for access in &sum.copied {
            self.copy(&mut producer, access, &order);
        }
        let mut reads = Vec::new();
        producer.value.for_each_access(&mut |access| reads.push(access.clone()));
        self.settle(&reads);
        let order = self.with_vector(&producer, sum.loops, outer);
        (workspace, self.term(producer, outer, Some(order)))
    }
}

/// The sums of an expression that get workspaces: it as a whole, or what is summed inside.
fn sums_of(value: &Expr) -> Vec<Expr> {
    fn collect(expr: &Expr, sums: &mut Vec<Expr>) {
        match expr {
            Expr::Reduce(..) if !sums.contains(expr) => sums.push(expr.clone()),
            Expr::Reduce(..) => {}
            other => other.children().into_iter().for_each(|child| collect(child, sums)),
        }
    }
    if !has_sum(value) {
        return vec![value.clone()];
    }
    let mut sums = Vec::new();
    collect(value, &mut sums);
    sums
}

/// The expression with a workspace in place of what it holds.
fn replace(value: &Expr, sum: &Expr, workspace: &Access) -> Expr {
    if value == sum {
        return Expr::Access(workspace.clone());
    }
    value.map_children(&|child| replace(child, sum, workspace))
}

fn add_missing(variables: &mut Vec<IndexVariable>, more: &mut dyn Iterator<Item = IndexVariable>) {
    for variable in more {
        if !variables.contains(&variable) {
            variables.push(variable);
        }
    }
}

/// The orders of `variables` that satisfy `edges`, at most [`MOST_ORDERS`] of them; those that keep the given order come first.
fn orders(variables: &[IndexVariable], edges: &[Edge]) -> Vec<Vec<IndexVariable>> {
    fn extend(
        variables: &[IndexVariable],
        edges: &[Edge],
        order: &mut Vec<IndexVariable>,
        found: &mut Vec<Vec<IndexVariable>>,
    ) {
        if found.len() >= MOST_ORDERS {
            return;
        }
        if order.len() == variables.len() {
            found.push(order.clone());
            return;
        }
        for &next in variables.iter().filter(|variable| !order.contains(variable)).collect::<Vec<_>>() {
            let waits = |(before, after): &Edge| {
                *after == next && *before != next && variables.contains(before) && !order.contains(before)
            };
            if !edges.iter().any(waits) {
                order.push(next);
                extend(variables, edges, order, found);
                order.pop();
            }
        }
    }
    let mut found = Vec::new();
    extend(variables, edges, &mut Vec::new(), &mut found);
    found
}
