//! Planning: from what a line computes to the statements that compute it with least work.
//!
//! In: a [`Kernel`] of the notation and [`Facts`] about its tensors. Out: [`Planned`], a kernel of the notation that computes the
//! same, with `let`s for temporaries that are made, masks for what of them is needed, and `copy` directives for operands that are read
//! in another order. What is planned can be printed, pasted back and changed. With `X: csf` and the rest dense:
//!
//! ```text
//! Y(i, q, r) = X(i, j, k) * V(j, q) * W(k, r)
//!   →   let t_XW(i, j, r): [compressed, compressed, dense] = sum(k)(X(i, j, k) * W(k, r));
//!       Y(i, q, r) = sum(j)(t_XW(i, j, r) * V(j, q));
//! ```
//!
//! A temporary whose loops begin as those of the statement that reads it may also be a sum inside of that, with `reorder` for the loops: then a
//! workspace holds what one iteration of the shared loops needs (as in R. Kanakagiri, E. Solomonik, *Minimum cost loop nests for contraction of a
//! sparse tensor with a tensor network*, 2023).
//!
//! | file | what is in it |
//! |---|---|
//! | `facts` | what is known of tensors, and what is worth knowing |
//! | `normal` | products over a ring, and what of a statement stays as it is written |
//! | `estimate` | how many entries joins and projections have, and at most |
//! | `cost` | what a nest of loops takes |
//! | `site` | a product where it stands, and its plans |
//! | `tree` | the search: contraction trees, with the loops and the temporary of each node |
//! | `sets` | sets of variables and factors, and orders |
//! | `share` | temporaries that several products need |
//! | `unknown` | plans without sizes |
//! | `write` | a plan as notation |
//! | `asked` | what a schedule asks of plans |
//!
//! Sums are pushed into products as by variable elimination (Abo Khamis, Ngo, Rudra, *FAQ: Questions Asked Frequently*, 2016); trees are
//! searched over connected sets (Pfeifer, Haegeman, Verstraete, *Faster identification of optimal contraction sequences for tensor
//! networks*, 2014); estimates follow Deeds, Ahrens, Balazinska, Suciu, *Galley: Modern Query Optimization for Sparse Tensor Programs* (2025).

mod asked;
mod cost;
mod estimate;
mod facts;
mod normal;
mod sets;
mod share;
mod site;
#[cfg(test)]
mod tests;
mod tree;
mod unknown;
mod write;

pub use asked::Asked;
pub use cost::Cost;
pub use facts::{Degrees, Facts, Known, Modes, Source, TensorFacts, wanted};

use crate::diagnostics::{Diagnostic, codes::warnings};
use crate::notation::{self, Access, Assignment, Expr, Kernel, simplify};
use crate::syntax::{Directive, Schedule};
use normal::Product;
use sets::Vars;
use site::{Place, Site, Sizes};
use std::borrow::Cow;
use write::Writer;

/// A plan that was not taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The plan as text that can be pasted back.
    pub text: String,
    /// What it costs.
    pub cost: Cost,
}

/// A planned kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The kernel to schedule.
    pub kernel: Kernel,
    /// What it costs.
    pub cost: Cost,
    /// What the kernel as written costs.
    pub written: Cost,
    /// The best other plans.
    pub others: Vec<Alternative>,
    /// Whether some sizes were not known: then costs are those of sizes that might be.
    pub is_assumed: bool,
    /// Whether a product has so many factors that they were combined pair by pair, the best pair first: other plans may be better.
    pub is_greedy: bool,
}

/// The plan for a kernel of which the text alone is known, with the extents that it fixes and what it says of its tensors.
pub fn by_text(kernel: &Kernel) -> Option<Planned> {
    wanted(kernel).and_then(|_| plan(kernel, &Facts::stated(kernel, &[])))
}

/// The plans that are named beside the one that was taken.
const OTHERS: usize = 2;

/// A better plan for a kernel, if there is one; `None` where the kernel is best as it is written, or must stay so.
pub fn plan(kernel: &Kernel, facts: &Facts) -> Option<Planned> {
    plan_and_cost(kernel, facts).0
}

/// The plan for a kernel as by [`plan`], and what a call is expected to cost with it, as far as it has products that may be planned.
pub fn plan_and_cost(kernel: &Kernel, facts: &Facts) -> (Option<Planned>, Cost) {
    let asked = Asked::of_kernel(kernel);
    if asked.as_written {
        return (None, Cost::default());
    }
    let memory = [asked.memory, facts.memory].into_iter().flatten().min();
    let facts = &Facts { memory, ..facts.clone() };
    let kernel = &*notation::in_terms(kernel);
    // Which temporaries are made is part of the plan, where sizes tell.
    if let Some((merged, sites)) = merged(kernel, facts) {
        let chosen = share::choose(&sites);
        let cost = share::cost(&sites, &chosen);
        let written = written(kernel, facts);
        if written.is_none_or(|written| cost.time < share::WORTH * written.time) {
            let planned = planned(&merged, &sites, &chosen, cost);
            return (Some(Planned { written: written.unwrap_or(planned.written), ..planned }), cost);
        }
    }
    let sites = sites(kernel, facts);
    let chosen = share::choose(&sites);
    let cost = share::cost(&sites, &chosen);
    let is_new = |(site, chosen): (&Site, &Option<usize>)| chosen.is_some() || site.is_flattened();
    let is_planned = sites.iter().zip(&chosen).any(is_new);
    (is_planned.then(|| planned(kernel, &sites, &chosen, cost)), cost)
}

/// The kernel with temporaries that are read once in the products that read them, and these, where sizes are known.
fn merged(kernel: &Kernel, facts: &Facts) -> Option<(Kernel, Vec<Site>)> {
    let merged = notation::in_terms(&notation::merged(kernel)?).into_owned();
    let sites = sites(&merged, facts);
    let is_known = sites.iter().all(|site| !site.is_assumed) && sites.len() == products(&merged);
    is_known.then_some((merged, sites))
}

/// What a kernel costs in which no product is planned; `None` where too little is known.
fn written(kernel: &Kernel, facts: &Facts) -> Option<Cost> {
    let sizes = Sizes { extents: estimate::extents(kernel, facts, &[]), facts: Cow::Borrowed(facts) };
    let mut cost = Some(Cost::default());
    for (place, statement) in
        kernel.statements.iter().enumerate().filter(|(_, statement)| may_be_planned(kernel, statement))
    {
        each_product(kernel, &statement.value, &[], &mut |product, around| {
            let of = Place { kernel, statement, place: (place, 0), product: &product, around };
            let nest = site::search(of, &sizes).map(|mut search| search.written().nest);
            cost = cost.zip(nest).filter(|_| product.is_flat).map(|(cost, nest)| Cost {
                operations: cost.operations + nest.operations,
                bytes: cost.bytes + nest.bytes,
                time: cost.time + nest.time,
                bound: cost.bound + nest.time,
                ..cost
            });
        });
    }
    cost
}

/// The choice among the plans of all products, with the best other choices.
fn planned(kernel: &Kernel, sites: &[Site], chosen: &[Option<usize>], cost: Cost) -> Planned {
    let mut instead: Vec<(Cost, Vec<Option<usize>>)> = Vec::new();
    for (place, site) in sites.iter().enumerate() {
        for other in (0..site.plans.len()).map(Some).chain([None]).filter(|other| *other != chosen[place]) {
            let mut choice = chosen.to_vec();
            choice[place] = other;
            instead.push((share::cost(sites, &choice), choice));
        }
    }
    instead.sort_by(|(a, _), (b, _)| a.time.total_cmp(&b.time));
    let mut others: Vec<Alternative> = Vec::new();
    for (cost, choice) in instead {
        let text = text(&write(kernel, sites, &choice));
        if others.last().is_none_or(|known| known.text != text) {
            others.push(Alternative { text, cost });
        }
        if others.len() == OTHERS {
            break;
        }
    }
    let written = share::cost(sites, &vec![None; sites.len()]);
    let is_assumed = sites.iter().zip(chosen).any(|(site, chosen)| site.is_assumed && chosen.is_some());
    let is_greedy = sites.iter().zip(chosen).any(|(site, chosen)| site.is_greedy() && chosen.is_some());
    Planned { kernel: write(kernel, sites, chosen), cost, written, others, is_assumed, is_greedy }
}

/// A kernel as text, with its schedule.
pub fn text(kernel: &Kernel) -> String {
    match &kernel.schedule {
        Some(schedule) if !schedule.directives.is_empty() => format!("{kernel} {schedule}"),
        _ => kernel.to_string(),
    }
}

/// Whether parts of a statement may be formed by themselves: not of what makes all updates of an entry in one walk.
fn may_be_planned(kernel: &Kernel, statement: &Assignment) -> bool {
    !statement.is_recurrent() && kernel.updates(statement).is_none()
}

/// How many products a kernel has.
fn products(kernel: &Kernel) -> usize {
    let mut count = 0;
    let planned = kernel.statements.iter().filter(|statement| may_be_planned(kernel, statement));
    planned.for_each(|statement| each_product(kernel, &statement.value, &[], &mut |_, _| count += 1));
    count
}

/// The products of a kernel, in reading order.
fn sites(kernel: &Kernel, facts: &Facts) -> Vec<Site> {
    let sizes = Sizes { extents: estimate::extents(kernel, facts, &[]), facts: Cow::Borrowed(facts) };
    let mut assumed = None;
    let mut sites = Vec::new();
    if kernel.variables.len() > Vars::BITS as usize {
        return sites;
    }
    for (place, statement) in kernel.statements.iter().enumerate() {
        if normal::is_plain(kernel, statement) && may_be_planned(kernel, statement) {
            let mut number = 0;
            each_product(kernel, &statement.value, &[], &mut |product, around| {
                let of = Place { kernel, statement, place: (place, number), product: &product, around };
                sites.extend(site::site(of, &sizes).or_else(|| {
                    let assumed = assumed.get_or_insert_with(|| unknown::scenarios(kernel, facts));
                    unknown::site(of, assumed)
                }));
                number += 1;
            });
        }
    }
    sites
}

/// Calls `visit` on the largest products of an expression, with the accesses around each that choose where it is needed: what is there where
/// one of them has no entry does not depend on it, as `X(i, j)` in `X(i, j) * (1 - sum(k)(U(i, k) * V(j, k)))`.
fn each_product<'e>(
    kernel: &Kernel,
    expr: &'e Expr,
    around: &[&'e Access],
    visit: &mut dyn FnMut(Product, &[&'e Access]),
) {
    if let Some(product) = normal::product(kernel, expr) {
        return visit(product, around);
    }
    let decisive = simplify::decisive(expr, &|access| kernel.tensor(access.tensor).fill);
    for child in expr.children() {
        let mut around = around.to_vec();
        let others = decisive.iter().filter(|operand| !std::ptr::eq(**operand, child));
        others.for_each(|operand| decisive_accesses(kernel, operand, &mut around));
        each_product(kernel, child, &around, visit);
    }
}

/// The sparse accesses without whose entries an expression is constant, each by itself.
fn decisive_accesses<'e>(kernel: &Kernel, expr: &'e Expr, found: &mut Vec<&'e Access>) {
    match expr {
        Expr::Access(access) if kernel.is_sparse(access) => found.push(access),
        _ => {
            let operands = simplify::decisive(expr, &|access| kernel.tensor(access.tensor).fill);
            operands.into_iter().for_each(|operand| decisive_accesses(kernel, operand, found));
        }
    }
}

/// The kernel with a plan for each of its products, or what is written.
fn write(kernel: &Kernel, sites: &[Site], chosen: &[Option<usize>]) -> Kernel {
    let mut writer = Writer::new(kernel);
    for (place, statement) in kernel.statements.iter().enumerate() {
        writer.stage = statement.stage;
        let mut value = statement.value.clone();
        if sites.iter().any(|site| site.place.0 == place) {
            let mut number = 0;
            replace(kernel, &mut value, &mut |product| {
                let it = sites.iter().position(|site| site.place == (place, number));
                number += 1;
                let site = &sites[it?];
                let (search, tree) = match chosen[it?] {
                    Some(plan) => (site.plans[plan].search, &site.plans[plan].tree),
                    None if site.is_flattened() => (0, &site.written),
                    None => return None,
                };
                Some(writer.value(&site.searches[search], product, tree, &statement.target))
            });
        }
        writer.push(Assignment { value, ..statement.clone() });
    }
    writer.finish()
}

/// Replaces the largest products of an expression, in reading order.
fn replace(kernel: &Kernel, expr: &mut Expr, by: &mut dyn FnMut(&Product) -> Option<Expr>) {
    match normal::product(kernel, expr) {
        Some(product) => {
            if let Some(value) = by(&product) {
                *expr = value;
            }
        }
        None => expr.children_mut().into_iter().for_each(|child| replace(kernel, child, by)),
    }
}

/// A plan that is ruled out deserves a warning where it takes less than one part in so many of the time.
const MUCH: f64 = 10.0;

/// A warning where the schedule of a kernel rules out a plan that takes less than a tenth of the time.
pub fn ruled_out(kernel: &Kernel, facts: &Facts) -> Option<Diagnostic> {
    let schedule = kernel.schedule.as_ref().filter(|_| Asked::of_kernel(kernel).as_written)?;
    let about_plans = |directive: &Directive| {
        let asks = || Asked::of(directive).is_ok_and(|asked| asked.memory.is_some()) || directive.kept().is_some();
        directive.name.name == "plan" && asks()
    };
    let kept = schedule.directives.iter().filter(|directive| about_plans(directive)).cloned().collect();
    let free = kernel.with_schedule(Schedule { directives: kept, span: schedule.span });
    let Planned { cost, written, kernel: better, .. } = plan(&free, facts)?;
    let reason = |directive: &&Directive| directive.name.name != "deterministic" && !about_plans(directive);
    let span = schedule.directives.iter().find(reason).map_or(schedule.span, |directive| directive.span);
    let statements = better.statements.iter().map(|statement| format!("`{}`", better.statement(statement)));
    (MUCH * cost.time < written.time).then(|| {
        let ratio = written.time / cost.time;
        let message = format!(
            "this leaves `{}` as it is written, which is about {ratio:.0} times the work of a plan",
            kernel.name
        );
        let problem = Diagnostic::new(warnings::RULED_OUT, span, message).label("rules out the plan");
        problem.help(format!("leave it out, or write the plan: {}", statements.collect::<Vec<_>>().join(" ")))
    })
}
