//! Planning: from what a line computes to the statements that compute it with least work.
//!
//! In: a [`Kernel`] of the notation and [`Facts`] about its tensors. Out: [`Planned`], a kernel of the notation that computes the
//! same, with `let`s for temporaries that are made, nested sums for those that stay inside of shared loops, and a schedule for the
//! order of loops. What is planned can be printed, pasted back and changed.
//!
//! ```text
//! Y(i, q, r) = X(i, j, k) * V(j, q) * W(k, r)
//!   →   Y(i, q, r) = sum(j)(V(j, q) * sum(k)(X(i, j, k) * W(k, r)));   schedule { reorder(i, j, q, r); }
//! ```

mod cost;
mod estimate;
mod facts;
mod normal;
#[cfg(test)]
mod tests;
mod tree;
mod write;

pub use facts::{Degrees, Facts, Known, Modes, Source, TensorFacts, wanted};

use crate::level::is_located;
use crate::notation::{Access, Assignment, Expr, Kernel, Tensor};
use cost::{Machine, Operand, View};
use estimate::{Estimator, Pattern};
use normal::Product;
use tree::{Search, Tree};
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
}

/// The plan for a kernel of which the text alone is known, with the extents that it fixes and what it says of its tensors.
pub fn by_text(kernel: &Kernel) -> Option<Planned> {
    wanted(kernel).and_then(|_| plan(kernel, &Facts::stated(kernel, &[])))
}

/// A plan replaces what is written where it takes less than this part of its time.
const WORTH: f64 = 0.9;

/// The plans that are named beside the one that was taken.
const OTHERS: usize = 2;

/// A better plan for a kernel, if there is one; `None` where the kernel is best as it is written, or must stay so.
pub fn plan(kernel: &Kernel, facts: &Facts) -> Option<Planned> {
    if kernel.schedule.as_ref().is_some_and(|schedule| !schedule.directives.is_empty()) {
        return None;
    }
    let sites = sites(kernel, facts);
    let chosen: Vec<Option<&Tree>> = sites.iter().map(Site::choice).collect();
    if chosen.iter().all(Option::is_none) {
        return None;
    }
    let cost = |chosen: &[Option<&Tree>]| {
        let trees = sites.iter().zip(chosen).map(|(site, chosen)| chosen.unwrap_or(&site.written));
        trees.fold(Cost::default(), |sum, tree| sum.and(tree))
    };
    let mut others: Vec<Alternative> = Vec::new();
    for (place, site) in sites.iter().enumerate() {
        for other in site.trees.iter().map(Some).chain([None]) {
            let mut instead = chosen.clone();
            let is_same = instead[place].map(|tree| &tree.parts) == other.map(|tree| &tree.parts);
            if !is_same {
                instead[place] = other;
                others.push(Alternative { text: text(&write(kernel, &sites, &instead)), cost: cost(&instead) });
            }
        }
    }
    others.sort_by(|a, b| a.cost.time.total_cmp(&b.cost.time));
    others.dedup_by(|a, b| a.text == b.text);
    others.truncate(OTHERS);
    let written = cost(&vec![None; sites.len()]);
    Some(Planned { kernel: write(kernel, &sites, &chosen), cost: cost(&chosen), written, others })
}

/// A kernel as text, with its schedule.
pub fn text(kernel: &Kernel) -> String {
    match &kernel.schedule {
        Some(schedule) if !schedule.directives.is_empty() => format!("{kernel} {schedule}"),
        _ => kernel.to_string(),
    }
}

impl Cost {
    fn and(self, tree: &Tree) -> Self {
        Self {
            operations: self.operations + tree.operations,
            bytes: self.bytes + tree.bytes,
            memory: self.memory + tree.memory,
            time: self.time + tree.time,
            bound: self.bound + tree.time,
        }
    }
}

/// A product of a kernel that may be planned.
struct Site {
    /// The number of its statement, and its own among the products of that.
    place: (usize, usize),
    search: Search,
    written: Tree,
    /// The best trees, the cheapest first.
    trees: Vec<Tree>,
}

impl Site {
    /// The tree that replaces what is written.
    fn choice(&self) -> Option<&Tree> {
        self.trees.first().filter(|tree| tree.time < WORTH * self.written.time)
    }
}

/// The products of a kernel, in reading order.
fn sites(kernel: &Kernel, facts: &Facts) -> Vec<Site> {
    let extents = estimate::extents(kernel, facts);
    let mut sites = Vec::new();
    for (place, statement) in kernel.statements.iter().enumerate() {
        if normal::is_plain(kernel, statement) {
            let mut number = 0;
            each_product(kernel, &statement.value, &mut |product| {
                sites.extend(site(kernel, facts, &extents, statement, (place, number), product));
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

/// The search for a product; `None` where too little is known.
fn site(
    kernel: &Kernel,
    facts: &Facts,
    extents: &[Option<f64>],
    statement: &Assignment,
    place: (usize, usize),
    product: Product,
) -> Option<Site> {
    let free = product.free();
    let vars = product.reduced | free;
    members(vars).all(|variable| extents[variable].is_some()).then_some(())?;
    let mut patterns: Vec<Vec<Pattern>> = Vec::new();
    let mut operands: Vec<Operand> = Vec::new();
    let masks = statement.mask.iter().map(|mask| vec![mask]);
    for accesses in product.factors.iter().map(|factor| factor.expr.accesses()).chain(masks) {
        let (mut own, mut operand) = (Vec::new(), Operand::default());
        for access in accesses {
            let mut view = view(kernel, access);
            if kernel.is_sparse(access) {
                own.push(Pattern::of(kernel, access, view.walked, extents, facts)?);
                view.entries = own.last().map_or(0.0, Pattern::count);
                operand.live = 1 << operands.len();
            }
            operand.vars |= view.levels.iter().fold(0, |all, &level| all | 1 << level);
            operand.views.push(view);
        }
        operands.push(operand);
        patterns.push(own);
    }
    let mask = (operands.len() > product.factors.len()).then(|| operands.pop()).flatten();
    let target = kernel.tensor(statement.target.tensor);
    let own = view(kernel, &statement.target);
    let result = cost::Result {
        levels: own.levels.into_iter().filter(|&level| free >> level & 1 == 1).collect(),
        stored: own.walked & free,
        bytes: product.element.bytes() as f64,
        is_temporary: false,
    };
    let machine = Machine { threads: facts.threads as f64, calls: facts.calls };
    let of = Estimator::new(extents.iter().map(|extent| extent.unwrap_or(1.0)).collect(), patterns);
    let mut search = Search::new(of, operands, mask, result, machine);
    search.memory = facts.memory.map(|bytes| bytes as f64);
    // Where entries are left out of a result, patterns tell which.
    search.keeps_patterns = Tensor::is_sparse(target);
    let written = search.written();
    let trees = search.best();
    Some(Site { place, search, written, trees })
}

/// How the levels of a tensor are accessed.
fn view(kernel: &Kernel, access: &Access) -> View {
    let tensor = kernel.tensor(access.tensor);
    let mut view = View { may_be_copied: tensor.role == crate::notation::Role::Input, ..View::default() };
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

/// The kernel with a tree for each of its products, or what is written.
fn write(kernel: &Kernel, sites: &[Site], chosen: &[Option<&Tree>]) -> Kernel {
    let mut writer = Writer::new(kernel);
    for (place, statement) in kernel.statements.iter().enumerate() {
        let mut value = statement.value.clone();
        if sites.iter().any(|site| site.place.0 == place) {
            let mut number = 0;
            replace(kernel, &mut value, &mut |product| {
                let it = sites.iter().position(|site| site.place == (place, number));
                number += 1;
                let (site, tree) = it.and_then(|it| Some((&sites[it], chosen[it]?)))?;
                Some(writer.value(&site.search, product, tree, product.free(), statement.span))
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
