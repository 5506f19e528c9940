//! A product where it stands in a kernel, and the plans for it.

use super::cost::{self, Machine, Operand, View};
use super::estimate::{Estimator, Pattern};
use super::facts::Facts;
use super::normal::Product;
use super::sets::{Vars, members, permutations};
use super::tree::{Search, Shape, Tree};
use crate::diagnostics::Span;
use crate::level::is_located;
use crate::notation::{Access, Assignment, Expr, IndexVariable, Kernel, Role};
use std::borrow::Cow;

/// A product of a kernel that may be planned.
pub(super) struct Site {
    /// The number of its statement, and its own among the products of that.
    pub place: (usize, usize),
    /// One for what is stored as it is, and others with a copy.
    pub searches: Vec<Search>,
    /// All factors in one nest.
    pub written: Tree,
    /// Whether that is what the text says, without sums inside of it.
    pub is_flat: bool,
    /// Whether its sizes were drawn, as they are not known.
    pub is_assumed: bool,
    /// What it costs at most.
    pub bound: f64,
    /// The best plans, the cheapest first.
    pub plans: Vec<Plan>,
}

/// A way to compute a product.
pub(super) struct Plan {
    /// The number of the search.
    pub search: usize,
    pub tree: Tree,
    /// What it costs at most.
    pub bound: f64,
    /// What its time is multiplied by where plans are compared.
    pub weight: f64,
}

/// A plan that is so many times dearer at most than another, which is thought to take up to [`CLOSE`] as long, is left to that.
const RISKY: f64 = 10.0;

/// See [`RISKY`].
const CLOSE: f64 = 2.0;

/// The weight of a plan that reads a sorted copy, which takes memory, beside one that does not.
const COPY: f64 = 1.5;

/// What is known, or assumed, of the sizes of a kernel's tensors.
pub(super) struct Sizes<'a> {
    /// The extent of each variable.
    pub extents: Vec<Option<f64>>,
    pub facts: Cow<'a, Facts>,
}

impl Site {
    /// Whether it is written anew where no plan is better than one nest: sums inside would have loops of their own.
    pub(super) fn is_flattened(&self) -> bool {
        !self.is_flat && !self.is_assumed
    }

    /// Whether not all plans were compared.
    pub(super) fn is_greedy(&self) -> bool {
        self.searches.iter().any(Search::is_greedy)
    }
}

/// A product where it stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub kernel: &'a Kernel,
    pub statement: &'a Assignment,
    pub place: (usize, usize),
    pub product: &'a Product,
    /// The sparse accesses outside of whose entries the product is not needed.
    pub around: &'a [&'a Access],
}

/// What may be planned of a product; `None` where too little is known.
pub(super) fn site(of: Place<'_>, sizes: &Sizes<'_>) -> Option<Site> {
    let mut first = search(of, sizes)?;
    // A tensor that several statements make has several names.
    let target = of.statement.target.tensor;
    let is_made_once = of.kernel.statements.iter().filter(|other| other.target.tensor == target).count() == 1;
    // The loops of what is around a product are its own.
    let is_whole = matches!(of.statement.value, Expr::Reduce(..)) && of.place.1 == 0;
    first.may_fuse = is_made_once && is_whole && super::normal::product(of.kernel, &of.statement.value).is_some();
    let written = first.written();
    let mut found: Vec<(usize, Tree)> = first.best().into_iter().map(|tree| (0, tree)).collect();
    let mut searches = vec![first];
    let is_fused = searches[0].may_fuse && searches[0].has_large_temporaries();
    let fuse = |search: &Search, searches: &mut Vec<Search>, found: &mut Vec<(usize, Tree)>| {
        if is_fused && (3..=MOST_FUSED).contains(&search.factors.len()) {
            let mut search = search.again();
            search.keeps_nothing = true;
            found.extend(search.best().into_iter().map(|tree| (searches.len(), tree)));
            searches.push(search);
        }
    };
    let own = searches[0].again();
    fuse(&own, &mut searches, &mut found);
    if (2..=MOST_WITH_COPIES).contains(&of.product.factors.len()) && is_made_once {
        for copied in copies(&searches[0]) {
            let mut search = searches[0].again();
            copied.into_iter().for_each(|(factor, levels)| search.read_copy(factor, levels));
            let least = found.iter().map(|(_, tree)| tree.time).fold(written.time, f64::min);
            if COPY * search.time_to_copy() >= least {
                continue;
            }
            found.extend(search.best().into_iter().map(|tree| (searches.len(), tree)));
            let again = search.again();
            searches.push(search);
            fuse(&again, &mut searches, &mut found);
        }
    }
    found.retain(|(search, tree)| !searches[*search].copied.is_empty() || tree.parts != written.parts);
    let weight = |search: usize| if searches[search].copied.is_empty() { 1.0 } else { COPY };
    let weighed = |(search, tree): &(usize, Tree)| tree.time * weight(*search);
    found.sort_by(|a, b| weighed(a).total_cmp(&weighed(b)));
    found.truncate(PLANS);
    let pessimistic = searches[0].again().pessimistic();
    let bound_of = |number: usize, tree: &Tree| {
        let mut bounds = pessimistic.again();
        for (factor, levels) in &searches[number].copied {
            bounds.read_copy(*factor, levels.clone());
        }
        Some(bounds.replay(&searches[number], tree)?.time.max(tree.time))
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
    let is_flat = of.product.is_flat;
    Some(Site { place: of.place, searches, written, is_flat, is_assumed: false, bound, plans })
}

/// The most plans of one product that are compared with those of others.
const PLANS: usize = 16;

/// Products of more factors are not searched for each order of a copy.
const MOST_WITH_COPIES: usize = 6;

/// Of products of more factors all temporaries are made.
const MOST_FUSED: usize = 6;

/// The most orders of a copy.
const MOST_COPIES: usize = 6;

/// Factors that may be read from copies, and the orders of their levels there: the largest sparse factor in each order; and where two factors
/// are summed over what both have, both with that first, for an outer product under each index of it.
fn copies(search: &Search) -> Vec<Vec<(usize, Vec<usize>)>> {
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
    let outer = outer(search, plain);
    found.into_iter().map(|order| vec![(factor, order)]).chain(outer).collect()
}

/// Both of two sparse factors, what they share first, where that is not how they are stored.
fn outer(search: &Search, plain: impl Fn(&usize) -> bool) -> Option<Vec<(usize, Vec<usize>)>> {
    let [one, other] = &search.factors[..] else { return None };
    let common = one.vars & other.vars;
    let is_sparse = |factor: &usize| search.factors[*factor].views.iter().all(|view| view.walked != 0);
    ([0, 1].iter().all(|factor| plain(factor) && is_sparse(factor)) && common != 0).then_some(())?;
    // Both in the order of the first.
    let shared = one.views[0].levels.iter().copied().filter(|level| common >> level & 1 == 1);
    let order = |factor: usize| -> Vec<usize> {
        let own = search.factors[factor].views[0].levels.iter().copied().filter(|level| common >> level & 1 == 0);
        shared.clone().chain(own).collect()
    };
    let is_stored = |factor: usize, order: &[usize]| search.factors[factor].views[0].levels == order;
    let orders = [0, 1].map(|factor| (factor, order(factor)));
    let copied: Vec<_> = orders.into_iter().filter(|(factor, order)| !is_stored(*factor, order)).collect();
    (copied.len() == 2).then_some(copied)
}

/// The search for a product; `None` where too little is known.
pub(super) fn search(of: Place<'_>, sizes: &Sizes<'_>) -> Option<Search> {
    let Place { kernel, statement, place: (place, _), product, around } = of;
    let Sizes { extents, facts } = sizes;
    let free = product.free();
    members(product.reduced | free).all(|variable| extents[variable].is_some()).then_some(())?;
    let mut patterns: Vec<Vec<Pattern>> = Vec::new();
    let mut operands: Vec<Operand> = Vec::new();
    let chosen = |access: &&Access| access.indices.iter().all(|index| free >> index.0 & 1 == 1);
    let around: Vec<&Access> = statement.mask.iter().chain(around.iter().copied()).filter(chosen).collect();
    let masks = (!around.is_empty()).then_some((around, false));
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
    search.stage = statement.stage;
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
