//! The choice among the plans of all products of a kernel: what one makes, others read.
//!
//! All-mode MTTKRP has a result for each mode, and partial products that several of them need (a dimension tree: A. Phan, P. Tichavsky,
//! A. Cichocki, *Fast alternating LS algorithms for high order CANDECOMP/PARAFAC tensor factorizations*, 2013). The plans of all products
//! are chosen together: a temporary that is made costs nothing to the next plan that has it. From each product by itself, and from each
//! temporary that several may share, one choice after the other is improved until none is.

use super::cost::Cost;
use super::site::{Plan, Site};
use super::tree::{Node, Tree};
use std::collections::BTreeMap;

/// A plan replaces what is written where it takes less than this part of its time.
pub(super) const WORTH: f64 = 0.9;

/// Rounds of improvement.
const ROUNDS: usize = 8;

/// The plan of each product; `None` where it stays as it is written.
pub(super) fn choose(sites: &[Site]) -> Vec<Option<usize>> {
    let cheapest = |site: &Site, is_it: &dyn Fn(&Tree) -> bool| site.plans.iter().position(|plan| is_it(&plan.tree));
    let alone: Vec<Option<usize>> = sites.iter().map(|site| cheapest(site, &|_| true)).collect();
    let mut starts = vec![alone.clone(), vec![None; sites.len()]];
    for key in shared(sites) {
        let has_key = |tree: &Tree| tree.nodes.iter().any(|node| node.key == key);
        let with = sites.iter().zip(&alone).map(|(site, alone)| cheapest(site, &has_key).or(*alone));
        starts.push(with.collect());
    }
    let improved = starts.into_iter().map(|start| improve(sites, start));
    let best = improved.min_by(|a, b| weighed(sites, a).total_cmp(&weighed(sites, b)));
    best.unwrap_or(alone)
}

/// The temporaries that plans of several products have.
fn shared(sites: &[Site]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for site in sites {
        let mut own: Vec<&str> = site.plans.iter().flat_map(|plan| &plan.tree.nodes).map(|node| &*node.key).collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(key, _)| key.to_owned()).collect()
}

fn improve(sites: &[Site], mut chosen: Vec<Option<usize>>) -> Vec<Option<usize>> {
    let mut time = weighed(sites, &chosen);
    for _ in 0..ROUNDS {
        let before = chosen.clone();
        for (place, site) in sites.iter().enumerate() {
            for other in (0..site.plans.len()).map(Some).chain([None]) {
                let known = std::mem::replace(&mut chosen[place], other);
                let instead = weighed(sites, &chosen);
                if instead < time {
                    time = instead;
                } else {
                    chosen[place] = known;
                }
            }
        }
        if chosen == before {
            break;
        }
    }
    chosen
}

/// The temporaries of some plans, each once.
fn nodes<'a>(sites: &'a [Site], chosen: &[Option<usize>]) -> BTreeMap<&'a str, &'a Node> {
    let plans = sites.iter().zip(chosen).filter_map(|(site, plan)| Some(&site.plans[(*plan)?].tree));
    plans.flat_map(|tree| &tree.nodes).map(|node| (&*node.key, node)).collect()
}

/// The time of a choice, what replaces the text weighed.
fn weighed(sites: &[Site], chosen: &[Option<usize>]) -> f64 {
    let roots = sites.iter().zip(chosen).map(|(site, plan)| match plan {
        None => site.written.time * WORTH,
        Some(plan) => {
            let Plan { tree, weight, .. } = &site.plans[*plan];
            tree.nest.time + tree.time * (weight - 1.0)
        }
    });
    roots.sum::<f64>() + nodes(sites, chosen).values().map(|node| node.nest.time).sum::<f64>()
}

/// What a choice costs.
pub(super) fn cost(sites: &[Site], chosen: &[Option<usize>]) -> Cost {
    let nodes = nodes(sites, chosen);
    let roots = sites.iter().zip(chosen).map(|(site, plan)| plan.map_or(&site.written, |plan| &site.plans[plan].tree));
    let nests = roots.map(|tree| &tree.nest).chain(nodes.values().map(|node| &node.nest));
    let mut cost = Cost::default();
    for nest in nests {
        cost.operations += nest.operations;
        cost.bytes += nest.bytes;
        cost.time += nest.time;
    }
    let bounds = sites.iter().zip(chosen).map(|(site, plan)| plan.map_or(site.bound, |plan| site.plans[plan].bound));
    cost.bound = bounds.sum();
    cost.memory = nodes.values().fold(0.0, |sum, node| sum + node.memory);
    cost
}
