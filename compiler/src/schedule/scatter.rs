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
//! Where even the outermost level does not come in order, as in a transposition, entries are listed as they come, and the run
//! time sorts the list when it is complete.
//!
//! This is the workspace of Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor Algebra Compilation with Workspaces* (2019), and with
//! it Gustavson's algorithm (*Two fast algorithms for sparse matrices*, 1978). How many levels come in order, in which order the
//! other loops run and what is read from a copy is what the [estimated cost](super::cost) says.

use super::Way;
use super::copy::{searched_format, sorted_format};
use super::cost::{CHILDREN, Collecting, Costed, DENSE_BYTES, SORTED};
use super::is_identity;
use super::lift::{has_sum, masked, normalize};
use super::order::{Edge, append_edges, storage_edges};
use super::state::{LoopOrder, Scheduler, Term};
use super::{
    Access, AskedCollect, AskedStorage, Collect, Computed, Expr, IndexVariable, OutputStructure, Run, Statement,
    Target, TensorId, TensorKind,
};
use super::{level_variables, stored_levels};
use crate::diagnostics::Span;
use crate::format::{Format, IndexWidth, Level, LevelFormat, Order};
use crate::ir::{ElementType, Literal, ReduceOperator};
use crate::level::is_located;
use crate::notation::{self, BinaryOperator, UnaryOperator};
use crate::remark::{Entries, Storage, What, Why};

/// So many operands of a sum may be read from copies; those of higher order first.
const MOST_COPIES: usize = 5;
/// So many orders of loops are looked at.
const MOST_ORDERS: usize = 720;

/// How a result is formed through workspaces.
pub(super) struct Plan {
    /// How many levels of the result come in order.
    depth: usize,
    steps: f64,
    pub(super) sums: Vec<SumPlan>,
}

/// How a result is formed from a list.
struct ListPlan {
    steps: f64,
    /// What is listed, and how its loops run.
    terms: Vec<(Expr, SumPlan)>,
    /// How entries of equal coordinates come together.
    operator: ReduceOperator,
}

/// How one sum is formed.
pub(super) struct SumPlan {
    pub(super) value: Expr,
    /// What chooses its terms.
    masks: Vec<Access>,
    /// The coordinates of the workspace, then its dense ones.
    pub(super) indices: Vec<IndexVariable>,
    /// What variables are called in the loops that form it, where the schedule gives them names of their own.
    pub(super) renamed: Vec<(IndexVariable, IndexVariable)>,
    /// Its workspace, where that is declared.
    pub(super) workspace: Option<TensorId>,
    /// How many of them are coordinates.
    levels: usize,
    /// The loops inside of those over the levels that come in order.
    loops: Vec<IndexVariable>,
    copied: Vec<Access>,
    /// Terms and entries of a workspace each time it is filled.
    filled: (f64, f64),
    collecting: Collecting,
    /// The cost without what the workspace does.
    loop_steps: f64,
    steps: f64,
}

impl SumPlan {
    /// One value, without loops.
    fn of_one(value: Expr) -> Self {
        Self {
            value,
            masks: Vec::new(),
            indices: Vec::new(),
            renamed: Vec::new(),
            workspace: None,
            levels: 0,
            loops: Vec::new(),
            copied: Vec::new(),
            filled: (1.0, 1.0),
            collecting: Collecting::of(1.0, 1.0, None),
            loop_steps: 1.0,
            steps: 1.0,
        }
    }
}

/// What a list is made of.
struct Listed {
    /// The values whose entries are listed.
    terms: Vec<Expr>,
    /// How entries of equal coordinates come together.
    operator: ReduceOperator,
}

impl Scheduler<'_> {
    /// Loops for a result whose entries are appended: in order, through workspaces, or to a list that is sorted when they are
    /// all there; whatever costs least.
    pub(super) fn appended(&mut self, term: Term) -> Statement {
        let format = &self.kernel.tensor(term.target.tensor).format;
        let stored = stored_levels(format);
        let scatters = self.scatters(&term.target);
        let in_order = if scatters { f64::INFINITY } else { self.steps_in_order(&term) };
        // Operands that are walked as they are stored come in the order of a result that is stored alike, of which loops see the levels.
        let comes_in_order = self.kernel.tensor(term.target.tensor).stored.is_some();
        let asked = self.asked_way(&term.target).filter(|(way, _)| !matches!(way, Way::Dense | Way::Shared));
        let way = asked.as_ref().map(|(way, _)| way);
        let inner = |depth: usize| {
            let levels = level_variables(&term.target, &self.kernel.tensor(term.target.tensor).format);
            self.kernel.names(&levels[depth..stored])
        };
        let is_possible = |depth: &usize| match way {
            None => true,
            Some(Way::Workspace(over)) => over.is_empty() || inner(*depth) == *over,
            Some(_) => false,
        };
        let plans = (1..stored).rev().filter(|_| !comes_in_order).filter(is_possible);
        let plans = plans.filter_map(|depth| self.plan(&term, depth, stored));
        let workspace = plans.reduce(|best, plan| if plan.steps < best.steps { plan } else { best });
        let is_list = way.is_none_or(|way| *way == Way::List);
        let list = if comes_in_order || !is_list { None } else { self.plan_list(&term) };
        let in_order = if way.is_none_or(|way| *way == Way::Append) { in_order } else { f64::INFINITY };
        if let Some((way, span)) = &asked
            && workspace.is_none()
            && list.is_none()
            && (*way != Way::Append || in_order.is_infinite() && !comes_in_order)
        {
            self.refuse_way(&term, way, *span);
        }
        let through = workspace.as_ref().map_or(f64::INFINITY, |plan| plan.steps);
        let listed = list.as_ref().map_or(f64::INFINITY, |plan| plan.steps);
        self.explain_plans(&term, workspace.as_ref(), in_order, through, listed);
        match (workspace, list) {
            (Some(plan), _) if through < in_order && through <= listed => self.through_workspaces(term, plan),
            (_, Some(plan)) if scatters || listed < in_order => self.through_list(&term, plan),
            _ => self.term(term, &[], None),
        }
    }

    /// Refuses a way to assemble a result that there is not.
    fn refuse_way(&mut self, term: &Term, way: &Way, span: Span) {
        let name = self.kernel.tensor(term.target.tensor).name.clone();
        let (message, label, help) = match way {
            Way::List => (
                format!("entries of `{name}` can't be listed"),
                "entries at the same place must be combined by one operator, and levels be ordered",
                "leave the directive out, or assemble the result in order",
            ),
            Way::Workspace(_) => (
                format!("entries of `{name}` don't come through a workspace like this"),
                "a workspace is over the innermost levels that store coordinates, of at most 64 bits together",
                "name these levels, in the order in which they are stored, and all but the outermost at most",
            ),
            _ => (
                format!("entries of `{name}` don't come in the order of the loops"),
                "no loops follow the levels of the result",
                "`assemble` it through a workspace or as a list",
            ),
        };
        self.refuse(span, message, label, help);
    }

    /// The same where the schedule says what is formed in workspaces.
    pub(super) fn appended_parts(&mut self, term: Term) -> Statement {
        let stored = stored_levels(&self.kernel.tensor(term.target.tensor).format);
        if let Some(plan) = self.plan_parts(&term, stored) {
            return self.through_workspaces(term, plan);
        }
        if let Some(problem) = self.problem_of_parts(&term) {
            self.problems.push(problem);
            return Statement::Empty;
        }
        self.with_parts(term)
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
        fixed.extend(self.kernel.order_edges(&variables));
        let rank = |variable| variables.iter().position(|&other| other == variable);
        let Some((order, copied)) = self.resolve(term, &reads, &variables, &[], fixed, rank) else {
            return f64::INFINITY;
        };
        let is_copied = |access: &Access| copied.iter().any(|other| other.same_place(access));
        let stored_as = |access: &Access| match is_copied(access) {
            true => sorted_format(access, &self.format_of(access), &order),
            false => self.format_of(access),
        };
        let value = term.masks.iter().fold(term.value.clone(), |value, mask| masked(&value, mask));
        let cost = self.kernel.costed(&value).cost(&order, &stored_as);
        cost.steps + cost.terms + self.copying(&copied)
    }

    /// Steps to make sorted copies. Stand-ins are copies anyway.
    pub(super) fn copying(&self, copied: &[Access]) -> f64 {
        let is_new = |access: &&Access| !self.unsettled.contains(&access.tensor);
        copied
            .iter()
            .filter(is_new)
            .map(|access| SORTED * self.kernel.typical_entries(access, &self.format_of(access)))
            .sum()
    }

    /// The cheapest way in which just `depth` levels of the result come in order; `None` where there is none.
    pub(super) fn plan(&self, term: &Term, depth: usize, stored: usize) -> Option<Plan> {
        let format = &self.kernel.tensor(term.target.tensor).format;
        let variables = level_variables(&term.target, format);
        // Computed indices are written where their loops are.
        if variables.iter().any(|variable| self.kernel.variables[variable.0].value.is_some()) {
            return None;
        }
        // The key of a workspace's entry has 64 bits; what is dense above a stored level is known to be short.
        let bits = format.levels[depth..stored].iter().map(|level| match is_located(level.format) {
            true => 32,
            false => 8 * level.format.coordinates().bytes(),
        });
        if stored - depth > 1 && bits.sum::<usize>() > 64 {
            return None;
        }
        let (outer, rest) = variables.split_at(depth);
        let (coordinates, dense) = rest.split_at(stored - depth);
        let mut sums: Vec<SumPlan> = sums_of(&term.value)
            .into_iter()
            .filter_map(|value| self.plan_sum(&value, &self.masks_of_terms(term, &value), outer, coordinates, dense))
            .collect();
        // Of what a mask does not choose nothing is kept, put in order or read.
        let chooses = |mask: &Access| mask.indices.iter().any(|index| coordinates.contains(index));
        if self.kernel.target == Target::Cpu && dense.is_empty() && term.masks.iter().any(chooses) {
            for sum in sums.iter_mut().filter(|sum| sum.levels == 1) {
                let collected = sum.steps - sum.loop_steps;
                sum.steps = sum.loop_steps + collected * (CHILDREN / sum.filled.1).min(1.0);
            }
        }
        if sums.is_empty() {
            return None;
        }
        let appended = |plan: &SumPlan| plan.steps;
        let rest = self.steps_of_rest(term, outer, &sums);
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
        term.masks.iter().filter(|mask| !sums.iter().any(|sum| sum.masks.contains(mask))).for_each(add);
        steps
    }

    /// The masks of a term that choose terms of a sum: those with an index that it sums over.
    fn masks_of_terms(&self, term: &Term, sum: &Expr) -> Vec<Access> {
        let Expr::Reduce(_, summed, _) = sum else { return Vec::new() };
        let summed = self.kernel.loops_of(summed);
        let chooses = |mask: &&Access| self.kernel.loops_of(&mask.indices).iter().any(|index| summed.contains(index));
        term.masks.iter().filter(chooses).cloned().collect()
    }

    /// The cheapest way to form a sum inside of the loops over `outer`, with entries over `coordinates` that hold blocks over
    /// `dense`; `None` where the sum has no such coordinates.
    fn plan_sum(
        &self,
        value: &Expr,
        masks: &[Access],
        outer: &[IndexVariable],
        coordinates: &[IndexVariable],
        dense: &[IndexVariable],
    ) -> Option<SumPlan> {
        let depth = outer.len();
        let (whole, value) = (value, &masks.iter().fold(value.clone(), masked_inside));
        let free = self.free(value);
        let is_free = |variable: &&IndexVariable| free.contains(variable);
        let coordinates: Vec<IndexVariable> = coordinates.iter().filter(is_free).copied().collect();
        // A sum inside has loops of its own, and must tell where it had no term: it is formed for one entry at a time.
        let has_inner = match value {
            Expr::Reduce(_, _, body) => has_sum(body),
            other => has_sum(other),
        };
        if coordinates.is_empty() || has_inner {
            return None;
        }
        let dense: Vec<IndexVariable> = dense.iter().filter(is_free).copied().collect();
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
        let is_forced = |access: &Access| self.kernel.must_be_copied(access);
        movable
            .extend(reads.iter().filter(|access| is_forced(access) && storage_edges(&self.kernel, access).is_empty()));
        movable.sort_by_key(|access| (!is_forced(access), std::cmp::Reverse(access.indices.len())));
        movable.truncate(MOST_COPIES);
        let all: f64 = coordinates.iter().map(|&variable| self.kernel.typical_extent(variable)).product();
        let most = DENSE_BYTES as f64 / self.kernel.element_of(value).bytes() as f64;
        let dense_coordinates = all.min(most);
        let mut best: Option<SumPlan> = None;
        let is_left = |access: &&Access| !movable.iter().any(|other| other.same_place(access));
        if reads.iter().filter(is_left).any(is_forced) {
            return None;
        }
        let costed = self.kernel.costed(value);
        for copied in self.choices_of_copies(&movable) {
            let copying = self.copying(&copied);
            if best.as_ref().is_some_and(|best| best.steps <= copying) {
                continue;
            }
            let is_copied = |access: &&Access| copied.iter().any(|other| other.same_place(access));
            let mut edges: Vec<Edge> = outer.windows(2).map(|pair| (pair[0], pair[1])).collect();
            for &before in outer {
                edges.extend(variables[depth..].iter().map(|&after| (before, after)));
            }
            edges.extend(self.kernel.order_edges(&variables));
            edges.extend(self.edges_with(&reads, &copied));
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
                    true if depth > 0 => searched_format(access, &self.format_of(access), &order),
                    true => sorted_format(access, &self.format_of(access), &order),
                    false => self.format_of(access),
                };
                let cost = costed.cost(&order, &stored_as);
                let filled = self.filled(&costed, &order, depth, &stored_as, &coordinates, &dense);
                let mut collecting = Collecting::of(filled.0, filled.1, Some(dense_coordinates));
                if self.kernel.target == Target::Gpu {
                    // Threads of a device have no lists that grow.
                    collecting.collect = Collect::Bitmap(DENSE_BYTES);
                }
                let times = cost.terms / self.block(&dense) / filled.0.max(f64::MIN_POSITIVE);
                let collected = times * (collecting.steps() + filled.1);
                let loop_steps = cost.steps + cost.terms + copying;
                let steps = loop_steps + collected;
                if best.as_ref().is_none_or(|best| steps < best.steps) {
                    best = Some(SumPlan {
                        value: whole.clone(),
                        masks: masks.to_vec(),
                        indices: coordinates.iter().chain(&dense).copied().collect(),
                        renamed: Vec::new(),
                        workspace: None,
                        levels: coordinates.len(),
                        loops: order[depth..].to_vec(),
                        copied: copied.clone(),
                        filled,
                        collecting,
                        loop_steps,
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
        costed: &Costed<'_>,
        order: &[IndexVariable],
        depth: usize,
        format: &dyn Fn(&Access) -> Format,
        coordinates: &[IndexVariable],
        dense: &[IndexVariable],
    ) -> (f64, f64) {
        let outside = costed.cost(&order[..depth], format).terms;
        let terms = costed.cost(order, format).terms / outside.max(f64::MIN_POSITIVE) / self.block(dense);
        let summed = order[depth..].iter().filter(|v| !coordinates.contains(v) && !dense.contains(v)).count();
        (terms, terms / f64::from(1u32 << summed.min(16)))
    }

    /// Whether computed indices of a result do not ascend with the loops.
    pub(super) fn scatters(&self, target: &Access) -> bool {
        let value = |index: IndexVariable| match &self.kernel.variables[index.0].value {
            // The blocks of a split loop come in order, and so does what is inside of them.
            Some(Computed::Index { index, block: None, .. }) => Some(index),
            _ => None,
        };
        let alike = |one: &IndexVariable, other: &IndexVariable| self.kernel.alike(*one, *other);
        notation::scatters(target, &self.kernel.tensor(target.tensor).format, &value, &alike)
    }

    /// What a list of all entries costs, which is sorted at the end; `None` where the result can't be made so.
    fn plan_list(&self, term: &Term) -> Option<ListPlan> {
        let target = self.kernel.tensor(term.target.tensor);
        let is_computed = |variable: &IndexVariable| self.kernel.variables[variable.0].value.is_some();
        let (computed, variables): (Vec<IndexVariable>, Vec<IndexVariable>) =
            self.kernel.loops_of(&level_variables(&term.target, &target.format)).into_iter().partition(is_computed);
        let is_plain = target.format.levels.iter().all(|level| level.format.ordered())
            && (self.scatters(&term.target) || !term.target.indices.iter().any(is_computed));
        if !is_plain {
            return None;
        }
        let Listed { terms: values, operator } = self.listed(term)?;
        let mut terms = Vec::new();
        let mut steps = 0.0;
        for value in values {
            let walked = term.masks.iter().fold(value.clone(), |value, mask| masked(&value, mask));
            let is_whole = variables.iter().all(|variable| self.free(&walked).contains(variable));
            if !is_whole {
                return None;
            }
            let mut plan = match variables.is_empty() {
                true => SumPlan::of_one(walked),
                false => self.plan_sum(&walked, &[], &[], &variables, &[])?,
            };
            add_missing(&mut plan.loops, &mut computed.iter().copied());
            steps += plan.loop_steps + SORTED * plan.filled.0;
            terms.push((value, plan));
        }
        Some(ListPlan { steps, terms, operator })
    }

    /// The terms whose entries are listed; `None` where those of equal coordinates can't be combined one by one.
    fn listed(&self, term: &Term) -> Option<Listed> {
        let fill = self.kernel.tensor(term.target.tensor).fill;
        // Truth values have no sum: where each entry is there once, it only matters that there is such an operator.
        let whole = |operator| {
            let is_sum = operator == ReduceOperator::Add;
            let operator = if is_sum { ReduceOperator::of_any(term.element) } else { operator };
            Some(Listed { terms: vec![term.value.clone()], operator })
        };
        // What is combined is what meets at computed indices.
        if self.scatters(&term.target) {
            return whole(term.reduction);
        }
        match &term.value {
            Expr::Reduce(operator, _, body) if *operator != ReduceOperator::Add => {
                (is_identity(*operator, fill) && !has_sum(body)).then(|| whole(*operator)).flatten()
            }
            // Entries of terms are added one by one, so that what has none must be zero.
            value if term.element != ElementType::Bool && self.adds(value, fill) => {
                Some(Listed { terms: terms_of(value, term.element), operator: ReduceOperator::Add })
            }
            // Every entry is there once.
            value if !has_sum(value) => whole(ReduceOperator::Add),
            _ => None,
        }
    }

    fn adds(&self, value: &Expr, fill: Literal) -> bool {
        let is_zero = |access: &&Access| {
            let tensor = self.kernel.tensor(access.tensor);
            tensor.fill.equals(tensor.element.zero())
        };
        fill.is_zero() && value.accesses().iter().all(is_zero) && !reduces_otherwise(value)
    }

    /// Says that sums rely on the order of the stand-ins that they read as they are, before another sum sorts these.
    fn settle_uncopied<'p>(&mut self, sums: impl Iterator<Item = &'p SumPlan>) {
        for sum in sums {
            let mut reads = sum.masks.clone();
            sum.value.for_each_access(&mut |access| reads.push(access.clone()));
            reads.retain(|access| !sum.copied.iter().any(|copied| copied.same_place(access)));
            self.settle(&reads);
        }
    }

    /// Loops that append entries as they come. The run time sorts them and combines those of equal coordinates.
    fn through_list(&mut self, term: &Term, plan: ListPlan) -> Statement {
        let ListPlan { terms, operator, .. } = plan;
        let target = &mut self.kernel.tensors[term.target.tensor.0];
        target.delivered.get_or_insert_with(|| target.format.clone());
        target.format = list_format(&target.format);
        target.listed = Some(operator);
        let mut statements = Vec::new();
        self.settle_uncopied(terms.iter().map(|(_, sum)| sum));
        for (value, sum) in terms {
            let mut part = Term {
                target: term.target.clone(),
                in_memory: true,
                accumulates: false,
                reduction: operator,
                is_apart: false,
                value,
                masks: term.masks.clone(),
                element: term.element,
                structure: OutputStructure::Appended,
            };
            for access in &sum.copied {
                self.copy(&mut part, access, &sum.loops);
            }
            let mut reads = part.masks.clone();
            part.value.for_each_access(&mut |access| reads.push(access.clone()));
            self.settle(&reads);
            let order = LoopOrder { loops: sum.loops, vector: None };
            statements.push(self.term(part, &[], Some(order)));
        }
        match statements.len() {
            1 => statements.remove(0),
            _ => Statement::Sequence(statements),
        }
    }

    /// Says which way is taken, and what all of them cost.
    fn explain_plans(&mut self, term: &Term, workspace: Option<&Plan>, in_order: f64, through: f64, listed: f64) {
        let target = self.kernel.tensor(term.target.tensor);
        let levels = level_variables(&term.target, &target.format);
        let entries = match workspace {
            Some(plan) if through < in_order && through <= listed => {
                let (outer, inner) = levels[..stored_levels(&target.format)].split_at(plan.depth);
                Entries::Through { outer: self.kernel.names(outer), inner: self.kernel.names(inner) }
            }
            _ if listed < in_order => Entries::Listed,
            _ => Entries::InOrder,
        };
        self.decide(What::Entries(target.name.clone(), entries), Why::Steps { in_order, through, listed });
    }

    /// Loops for a result that is formed through workspaces.
    fn through_workspaces(&mut self, mut term: Term, plan: Plan) -> Statement {
        let format = self.kernel.tensor(term.target.tensor).format.clone();
        let levels = level_variables(&term.target, &format);
        let outer = levels[..plan.depth].to_vec();
        let mut producers = Vec::new();
        self.settle_uncopied(plan.sums.iter());
        for sum in plan.sums {
            let access = self.sparse_workspace(&term, &sum, &format, &levels);
            term.value = replace(&term.value, &sum.value, &access);
            term.masks.retain(|mask| !sum.masks.contains(mask));
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
            depth.map_or(LevelFormat::COMPRESSED.coordinates(), |depth| result.levels[depth].format.coordinates())
        };
        let coordinates = Format::coo(sum.levels).levels.into_iter().map(|level| level.format);
        let coordinates =
            coordinates.zip(&sum.indices).map(|(level, variable)| level.with_coordinates(width(variable)));
        let dense = std::iter::repeat_n(LevelFormat::DENSE, sum.indices.len() - sum.levels);
        let format = Format::of_levels(coordinates.chain(dense));
        let kind = TensorKind::SparseWorkspace(sum.collecting.collect);
        let element = self.kernel.element_of(&sum.value);
        let fill = match &sum.value {
            Expr::Reduce(operator, ..) => operator.identity(element).unwrap_or(element.zero()),
            _ => self.kernel.tensor(term.target.tensor).fill,
        };
        let workspace = match sum.workspace {
            Some(declared) => {
                let extents = sum.indices.iter().map(|variable| self.kernel.variables[variable.0].extent).collect();
                let workspace = &mut self.kernel.tensors[declared.0];
                (workspace.fill, workspace.format, workspace.extents, workspace.kind) = (fill, format, extents, kind);
                declared
            }
            None => self.kernel.add_workspace(&sum.indices, element, fill, format, kind),
        };
        let name = self.kernel.tensor(workspace).name.clone();
        let (terms, entries) = sum.filled;
        let Collecting { collect, bitmap, table, list } = sum.collecting;
        let over = self.kernel.names(&sum.indices);
        let (collect, is_asked) = self.asked_storage(&name, &over, collect);
        self.kernel.tensors[workspace.0].kind = TensorKind::SparseWorkspace(collect);
        let costs = if is_asked { Why::Asked } else { Why::Collected { terms, entries, bitmap, table, list } };
        let (storage, why) = match collect {
            Collect::Bitmap(_) if self.kernel.target == Target::Gpu => (Storage::Flags, Why::NothingGrows),
            Collect::Bitmap(most) => (Storage::Bitmap(most), costs),
            Collect::Table => (Storage::Table, costs),
            Collect::List => (Storage::List, costs),
        };
        self.decide(What::Workspace { name, over, storage }, why);
        Access::new(workspace, sum.indices.clone(), Span::default())
    }

    /// What the schedule wants a workspace to be stored in, if it says so.
    fn asked_storage(&mut self, name: &str, over: &[String], default: Collect) -> (Collect, bool) {
        let is_it =
            |asked: &&AskedStorage| asked.name == name && asked.over.as_ref().is_none_or(|names| names[..] == *over);
        let Some(asked) = self.kernel.asked.storages.iter().rfind(is_it).cloned() else { return (default, false) };
        self.kernel.asked.keep(asked.span);
        let is_for_gpu = self.kernel.target == Target::Gpu;
        let collect = match asked.storage {
            AskedCollect::Bitmap(most) => {
                let open = if let Collect::Bitmap(most) = default { most } else { DENSE_BYTES };
                Collect::Bitmap(if is_for_gpu { DENSE_BYTES } else { most.unwrap_or(open) })
            }
            AskedCollect::Hash | AskedCollect::List if is_for_gpu => {
                let message = format!("`{name}` can't grow on a device");
                let help = "use `bitmap`, or run the kernel on a CPU";
                self.refuse(asked.span, message, "threads of a device have no lists that grow", help);
                default
            }
            AskedCollect::Hash => Collect::Table,
            AskedCollect::List => Collect::List,
        };
        (collect, true)
    }

    /// Loops that fill the workspace of a sum.
    fn producer_of(&mut self, mut sum: SumPlan, mut target: Access, outer: &[IndexVariable]) -> (TensorId, Statement) {
        let mut new_name = |variable| renamed(&sum.renamed, variable);
        target.rename(&mut new_name);
        sum.value.rename(&mut new_name);
        sum.masks.iter_mut().for_each(|mask| mask.rename(&mut new_name));
        sum.copied.iter_mut().for_each(|access| access.rename(&mut new_name));
        sum.loops.iter_mut().for_each(|variable| *variable = new_name(*variable));
        let workspace = target.tensor;
        // Without a sum, an element is written once.
        let reduction = match &sum.value {
            Expr::Reduce(operator, ..) => Some(*operator),
            _ => None,
        };
        let element = self.kernel.tensor(workspace).element;
        let mut producer = Term {
            target,
            in_memory: true,
            accumulates: reduction.is_some(),
            reduction: reduction.unwrap_or(ReduceOperator::of_any(element)),
            is_apart: false,
            value: sum.value,
            masks: sum.masks,
            element,
            structure: OutputStructure::Dense,
        };
        let order: Vec<IndexVariable> = outer.iter().chain(&sum.loops).copied().collect();
        for access in &sum.copied {
            let format = searched_format(access, &self.format_of(access), &order);
            self.copy_as(&mut producer, access, format);
        }
        let mut reads = producer.masks.clone();
        producer.value.for_each_access(&mut |access| reads.push(access.clone()));
        self.settle(&reads);
        let order = self.with_vector(&producer, sum.loops, outer);
        (workspace, self.term(producer, outer, Some(order)))
    }
}

/// Entries of a result, in any order, some of them several times.
fn list_format(result: &Format) -> Format {
    let levels = Format::coo(result.order).levels.into_iter().zip(&result.levels).map(|(listed, level)| {
        let is_narrow = !is_located(level.format) && level.format.coordinates() <= IndexWidth::U32;
        let coordinates = if is_narrow { IndexWidth::U32 } else { IndexWidth::U64 };
        let format = listed.format.nonunique().with_order(Order::Any).with_coordinates(coordinates);
        let format = format.with_positions(IndexWidth::U64);
        Level { coordinate: level.coordinate.clone(), format }
    });
    Format { order: result.order, levels: levels.collect(), symmetry: None }
}

/// The same, where the mask chooses the terms of a sum.
fn masked_inside(value: Expr, mask: &Access) -> Expr {
    match value {
        Expr::Reduce(operator, variables, body) => {
            Expr::Reduce(operator, variables, Box::new(masked_inside(*body, mask)))
        }
        value => masked(&value, mask),
    }
}

/// The terms of a sum of terms, each with its sign; a sum with factors or a divisor is one of products.
fn terms_of(value: &Expr, element: ElementType) -> Vec<Expr> {
    fn collect<'e>(value: &'e Expr, is_negative: bool, terms: &mut Vec<(&'e Expr, bool)>) {
        match value {
            Expr::Binary(BinaryOperator::Add, left, right) => {
                collect(left, is_negative, terms);
                collect(right, is_negative, terms);
            }
            Expr::Binary(BinaryOperator::Subtract, left, right) => {
                collect(left, is_negative, terms);
                collect(right, !is_negative, terms);
            }
            term => terms.push((term, is_negative)),
        }
    }
    let mut terms = Vec::new();
    collect(value, false, &mut terms);
    let signed = |(term, is_negative): (&Expr, bool)| match is_negative {
        true => negative(as_sum(term, element), element),
        false => as_sum(term, element),
    };
    terms.into_iter().map(signed).collect()
}

/// A sum by factors, or by a divisor of what is rounded, as a sum of products.
fn as_sum(term: &Expr, element: ElementType) -> Expr {
    let inside = |operand: &Expr, make: &dyn Fn(Box<Expr>) -> Expr| match as_sum(operand, element) {
        Expr::Reduce(ReduceOperator::Add, variables, body) => {
            Expr::Reduce(ReduceOperator::Add, variables, Box::new(make(body)))
        }
        other => make(Box::new(other)),
    };
    match term {
        Expr::Binary(BinaryOperator::Multiply, left, right) if !has_sum(right) => {
            inside(left, &|body| Expr::Binary(BinaryOperator::Multiply, body, right.clone()))
        }
        Expr::Binary(BinaryOperator::Multiply, left, right) if !has_sum(left) => {
            inside(right, &|body| Expr::Binary(BinaryOperator::Multiply, left.clone(), body))
        }
        Expr::Binary(BinaryOperator::Divide, left, right) if element.is_rounded() && !has_sum(right) => {
            inside(left, &|body| Expr::Binary(BinaryOperator::Divide, body, right.clone()))
        }
        other => other.clone(),
    }
}

fn negative(term: Expr, element: ElementType) -> Expr {
    // Bytes have no negative.
    if !element.is_signed() {
        let zero = Expr::Literal(element.zero());
        return Expr::Binary(BinaryOperator::Subtract, Box::new(zero), Box::new(term));
    }
    normalize(&Expr::Unary(UnaryOperator::Negate, Box::new(term)))
}

/// Whether something is reduced by another operator than `+`.
fn reduces_otherwise(value: &Expr) -> bool {
    matches!(value, Expr::Reduce(operator, ..) if *operator != ReduceOperator::Add)
        || value.children().into_iter().any(reduces_otherwise)
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

/// What a variable is called instead.
pub(super) fn renamed(pairs: &[(IndexVariable, IndexVariable)], variable: IndexVariable) -> IndexVariable {
    pairs.iter().find(|(old, _)| *old == variable).map_or(variable, |(_, new)| *new)
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
pub(super) fn orders(variables: &[IndexVariable], edges: &[Edge]) -> Vec<Vec<IndexVariable>> {
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
