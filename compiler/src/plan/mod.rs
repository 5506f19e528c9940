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
//! | file | what is in it |
//! |---|---|
//! | `facts` | what is known of tensors, and what is worth knowing |
//! | `normal` | products over a ring, and what of a statement stays as it is written |
//! | `estimate` | how many entries joins and projections have, and at most |
//! | `cost` | what a nest of loops takes |
//! | `tree` | the search: contraction trees, with the loops and the temporary of each node |
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
mod share;
#[cfg(test)]
mod tests;
mod tree;
mod unknown;
mod write;

pub use asked::{Asked, ruled_out};
pub use facts::{Degrees, Facts, Known, Modes, Source, TensorFacts, wanted};

use crate::diagnostics::Span;
use crate::level::is_located;
use crate::notation::{Access, Assignment, Expr, IndexVariable, Kernel, Role};
use cost::{Machine, Operand, View};
use estimate::{Estimator, Pattern};
use normal::Product;
use std::borrow::Cow;
use tree::{Search, Shape, Tree};
use write::Writer;

/// A set of index variables of a kernel, a bit each.
type Vars = u64;

/// A set of factors of a product, a bit each.
type Set = u32;

/// The members of a set, ascending.
fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

/// What a plan costs, estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Operations on elements.
    pub operations: f64,
    /// Bytes that are read and written.
    pub bytes: f64,
    /// Bytes of temporaries.
    pub memory: f64,
    /// Nanoseconds.
    pub time: f64,
    /// Nanoseconds at most, if every estimate is as wrong as its bound allows.
    pub bound: f64,
}

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
}

/// The plan for a kernel of which the text alone is known, with the extents that it fixes and what it says of its tensors.
pub fn by_text(kernel: &Kernel) -> Option<Planned> {
    wanted(kernel).and_then(|_| plan(kernel, &Facts::stated(kernel, &[])))
}

/// The plans that are named beside the one that was taken.
const OTHERS: usize = 2;

/// Calls `visit` with every order of what is at a place and behind it.
fn permutations(order: &mut Vec<usize>, from: usize, visit: &mut dyn FnMut(&[usize])) {
    if from + 1 >= order.len() {
        return visit(order);
    }
    for place in from..order.len() {
        order.swap(from, place);
        permutations(order, from + 1, visit);
        order.swap(from, place);
    }
}

/// A better plan for a kernel, if there is one; `None` where the kernel is best as it is written, or must stay so.
pub fn plan(kernel: &Kernel, facts: &Facts) -> Option<Planned> {
    let asked = Asked::of_kernel(kernel);
    if asked.as_written {
        return None;
    }
    let memory = [asked.memory, facts.memory].into_iter().flatten().min();
    let facts = &Facts { memory, ..facts.clone() };
    let sites = sites(kernel, facts);
    let chosen = share::choose(&sites);
    if chosen.iter().all(Option::is_none) {
        return None;
    }
    let mut others: Vec<Alternative> = Vec::new();
    for (place, site) in sites.iter().enumerate() {
        for other in (0..site.plans.len()).map(Some).chain([None]).filter(|other| *other != chosen[place]) {
            let mut instead = chosen.clone();
            instead[place] = other;
            others.push(Alternative {
                cost: share::cost(&sites, &instead),
                text: text(&write(kernel, &sites, &instead)),
            });
        }
    }
    others.sort_by(|a, b| a.cost.time.total_cmp(&b.cost.time));
    others.dedup_by(|a, b| a.text == b.text);
    others.truncate(OTHERS);
    let written = share::cost(&sites, &vec![None; sites.len()]);
    let cost = share::cost(&sites, &chosen);
    let is_assumed = sites.iter().zip(&chosen).any(|(site, chosen)| site.is_assumed && chosen.is_some());
    Some(Planned { kernel: write(kernel, &sites, &chosen), cost, written, others, is_assumed })
}

/// A kernel as text, with its schedule.
pub fn text(kernel: &Kernel) -> String {
    match &kernel.schedule {
        Some(schedule) if !schedule.directives.is_empty() => format!("{kernel} {schedule}"),
        _ => kernel.to_string(),
    }
}

/// A product of a kernel that may be planned.
struct Site {
    /// The number of its statement, and its own among the products of that.
    place: (usize, usize),
    /// One for what is stored as it is, and others with a copy.
    searches: Vec<Search>,
    written: Tree,
    /// Whether its sizes were drawn, as they are not known.
    is_assumed: bool,
    /// What it costs at most.
    bound: f64,
    /// The best plans, the cheapest first.
    plans: Vec<Plan>,
}

/// A way to compute a product.
struct Plan {
    /// The number of the search.
    search: usize,
    tree: Tree,
    /// What it costs at most.
    bound: f64,
    /// What its time is multiplied by where plans are compared.
    weight: f64,
}

/// A plan that is so many times dearer at most than another, which is thought to take up to [`CLOSE`] as long, is left to that.
const RISKY: f64 = 10.0;

/// See [`RISKY`].
const CLOSE: f64 = 2.0;

/// The weight of a plan that reads a sorted copy, which takes memory, beside one that does not.
const COPY: f64 = 1.5;

/// The products of a kernel, in reading order.
fn sites(kernel: &Kernel, facts: &Facts) -> Vec<Site> {
    let sizes = Sizes { extents: estimate::extents(kernel, facts, &[]), facts: Cow::Borrowed(facts) };
    let mut assumed = None;
    let mut sites = Vec::new();
    if kernel.variables.len() > Vars::BITS as usize {
        return sites;
    }
    for (place, statement) in kernel.statements.iter().enumerate() {
        if normal::is_plain(kernel, statement) {
            let mut number = 0;
            each_product(kernel, &statement.value, &mut |product| {
                let of = Place { kernel, statement, place: (place, number), product: &product };
                sites.extend(site(of, &sizes).or_else(|| {
                    let assumed = assumed.get_or_insert_with(|| unknown::scenarios(kernel, facts));
                    unknown::site(of, assumed)
                }));
                number += 1;
            });
        }
    }
    sites
}

/// Calls `visit` on the largest products of an expression.
fn each_product(kernel: &Kernel, expr: &Expr, visit: &mut dyn FnMut(Product)) {
    match normal::product(kernel, expr) {
        Some(product) => visit(product),
        None => expr.children().into_iter().for_each(|child| each_product(kernel, child, visit)),
    }
}

/// What is known, or assumed, of the sizes of a kernel's tensors.
struct Sizes<'a> {
    /// The extent of each variable.
    extents: Vec<Option<f64>>,
    facts: Cow<'a, Facts>,
}

/// A product where it stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    kernel: &'a Kernel,
    statement: &'a Assignment,
    place: (usize, usize),
    product: &'a Product,
}

/// What may be planned of a product; `None` where too little is known.
fn site(of: Place<'_>, sizes: &Sizes<'_>) -> Option<Site> {
    let mut first = search(of, sizes)?;
    let written = first.written();
    let mut found: Vec<(usize, Tree)> = first.best().into_iter().map(|tree| (0, tree)).collect();
    let mut searches = vec![first];
    // A tensor that several statements make has several names.
    let target = of.statement.target.tensor;
    let is_made_once = of.kernel.statements.iter().filter(|other| other.target.tensor == target).count() == 1;
    if (3..=MOST_WITH_COPIES).contains(&of.product.factors.len()) && is_made_once {
        for (factor, levels) in copies(&searches[0]) {
            let mut search = search(of, sizes)?;
            search.read_copy(factor, levels);
            found.extend(search.best().into_iter().map(|tree| (searches.len(), tree)));
            searches.push(search);
        }
    }
    found.retain(|(search, tree)| *search != 0 || tree.parts != written.parts);
    let weight = |search: usize| if search == 0 { 1.0 } else { COPY };
    let weighed = |(search, tree): &(usize, Tree)| tree.time * weight(*search);
    found.sort_by(|a, b| weighed(a).total_cmp(&weighed(b)));
    found.truncate(PLANS);
    let bound_of = |number: usize, tree: &Tree| {
        let mut bounds = search(of, sizes)?.pessimistic();
        if let Some((factor, levels)) = &searches[number].copied {
            bounds.read_copy(*factor, levels.clone());
        }
        bounds.replay(&searches[number], tree).map(|bound| bound.time.max(tree.time))
    };
    let bound = bound_of(0, &written)?;
    let plans = found.into_iter().filter_map(|(search, tree)| {
        Some(Plan { bound: bound_of(search, &tree)?, weight: weight(search), search, tree })
    });
    let mut plans: Vec<Plan> = plans.collect();
    let all: Vec<(f64, f64)> =
        plans.iter().map(|plan| (plan.tree.time, plan.bound)).chain([(written.time, bound)]).collect();
    for plan in &mut plans {
        let is_safer = |&(time, bound): &(f64, f64)| time <= CLOSE * plan.tree.time && RISKY * bound < plan.bound;
        if all.iter().any(is_safer) {
            plan.weight *= CLOSE;
        }
    }
    Some(Site { place: of.place, searches, written, is_assumed: false, bound, plans })
}

/// The most plans of one product that are compared with those of others.
const PLANS: usize = 16;

/// Products of more factors are not searched for each order of a copy.
const MOST_WITH_COPIES: usize = 6;

/// The most orders of a copy.
const MOST_COPIES: usize = 6;

/// The orders in which a copy of the largest sparse factor may be stored.
fn copies(search: &Search) -> Vec<(usize, Vec<usize>)> {
    let plain =
        |factor: &usize| matches!(&search.factors[*factor].views[..], [view] if view.is_plain && view.may_be_copied);
    let entries = |factor: &usize| search.factors[*factor].views[0].entries;
    let largest = (0..search.factors.len()).filter(plain).max_by(|a, b| entries(a).total_cmp(&entries(b)));
    let Some(factor) = largest else { return Vec::new() };
    let own = search.factors[factor].views[0].levels.clone();
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut add = |order: &[usize]| {
        if order != own && !found.iter().any(|known| known == order) {
            found.push(order.to_vec());
        }
    };
    match (1..=own.len()).product::<usize>() {
        0..=MOST_COPIES => permutations(&mut own.clone(), 0, &mut add),
        // One mode first, or one last.
        _ => {
            for place in 0..own.len() {
                let mut rest = own.clone();
                let moved = rest.remove(place);
                add(&[&[moved], &rest[..]].concat());
                add(&[&rest[..], &[moved]].concat());
            }
        }
    }
    found.into_iter().map(|order| (factor, order)).collect()
}

/// The search for a product; `None` where too little is known.
fn search(of: Place<'_>, sizes: &Sizes<'_>) -> Option<Search> {
    let Place { kernel, statement, place: (place, _), product } = of;
    let Sizes { extents, facts } = sizes;
    let free = product.free();
    members(product.reduced | free).all(|variable| extents[variable].is_some()).then_some(())?;
    let mut patterns: Vec<Vec<Pattern>> = Vec::new();
    let mut operands: Vec<Operand> = Vec::new();
    let masks = statement.mask.iter().map(|mask| (vec![mask], false));
    let factors = product.factors.iter().map(|factor| (factor.expr.accesses(), matches!(factor.expr, Expr::Access(_))));
    for (accesses, is_access) in factors.chain(masks) {
        let (mut own, mut operand) = (Vec::new(), Operand::default());
        for access in accesses {
            let mut view = view(kernel, access);
            if kernel.is_sparse(access) {
                own.push(Pattern::of(kernel, access, view.walked, extents, facts)?);
                view.entries = own.last().map_or(0.0, Pattern::count);
                operand.live = 1 << operands.len();
                view.is_plain = is_access && kernel.tensor(access.tensor).format.mode_order().is_some();
            }
            operand.vars |= view.levels.iter().fold(0, |all, &level| all | 1 << level);
            operand.views.push(view);
        }
        operands.push(operand);
        patterns.push(own);
    }
    let mask = (operands.len() > product.factors.len()).then(|| operands.pop()).flatten();
    let own = view(kernel, &statement.target);
    let mut levels: Vec<usize> = own.levels.into_iter().filter(|&level| free >> level & 1 == 1).collect();
    // What is around a product that is part of a value has more variables.
    levels.extend(members(free & !levels.iter().fold(0, |all: Vars, &level| all | 1 << level)));
    let result =
        cost::Result { levels, stored: own.walked & free, bytes: product.element.bytes() as f64, is_temporary: false };
    let machine = Machine { threads: facts.threads as f64, calls: facts.calls };
    let of = Estimator::new(extents.iter().map(|extent| extent.unwrap_or(1.0)).collect(), patterns);
    let mut search = Search::new(of, operands, mask, result, machine);
    search.shapes = product.factors.iter().map(|factor| shape(kernel, place, product, &factor.expr)).collect();
    search.memory = facts.memory.map(|bytes| bytes as f64);
    // Where entries are left out of a result, patterns tell which.
    search.keeps_patterns = kernel.tensor(statement.target.tensor).is_sparse();
    Some(search)
}

/// What tells a factor in a statement from others: the tensors in it as they are there.
fn shape(kernel: &Kernel, place: usize, product: &Product, expr: &Expr) -> Shape {
    let mut variables = Vec::new();
    expr.for_each_variable(&mut |variable| variables.push(variable.0));
    let mut text = expr.clone();
    text.rename(&mut |_| IndexVariable(0));
    let mut versions = Vec::new();
    text.for_each_access_mut(&mut |access| {
        access.span = Span::default();
        let before = kernel.statements[..place].iter();
        versions.push(before.filter(|statement| statement.target.tensor == access.tensor).count());
    });
    Shape { text: format!("{:?}{text:?}{versions:?}", product.ring.plus), variables }
}

/// How the levels of a tensor are accessed.
fn view(kernel: &Kernel, access: &Access) -> View {
    let tensor = kernel.tensor(access.tensor);
    let mut view = View { may_be_copied: tensor.role == Role::Input, ..View::default() };
    for level in &tensor.format.levels {
        level.coordinate.for_each_mode(&mut |mode| {
            for variable in kernel.running(&access.indices[mode..=mode]) {
                if !is_located(level.format) {
                    view.walked |= 1 << variable.0;
                }
                if !view.levels.contains(&variable.0) {
                    view.levels.push(variable.0);
                }
            }
        });
    }
    view.last = view.levels.last().copied();
    view
}

/// The kernel with a plan for each of its products, or what is written.
fn write(kernel: &Kernel, sites: &[Site], chosen: &[Option<usize>]) -> Kernel {
    let mut writer = Writer::new(kernel);
    for (place, statement) in kernel.statements.iter().enumerate() {
        let mut value = statement.value.clone();
        if sites.iter().any(|site| site.place.0 == place) {
            let mut number = 0;
            replace(kernel, &mut value, &mut |product| {
                let it = sites.iter().position(|site| site.place == (place, number));
                number += 1;
                let (site, plan) = it.and_then(|it| Some((&sites[it], chosen[it]?)))?;
                let Plan { search, tree, .. } = &site.plans[plan];
                Some(writer.value(&site.searches[*search], product, tree, &statement.target))
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
