//! Plans for sizes that are not known.
//!
//! What is not known is drawn, many times over, from what sizes may be: as many entries as the longest mode has coordinates, or more;
//! distinct coordinates of sets of modes between what their subsets have and what there are entries; indices that no sparse operand
//! has of any small extent. A plan replaces what is written where it is never much dearer and mostly much cheaper. Where costs are
//! polynomials of the sizes, that is what it means that one dominates the other.

use super::estimate;
use super::facts::{Facts, Known, Modes, Source, TensorFacts};
use super::site::{Place, Plan, Site, Sizes, search};
use super::tree::{Search, Tree};
use crate::notation::{Access, Kernel};
use std::borrow::Cow;

/// How often sizes are drawn.
const SCENARIOS: u64 = 24;

/// Of so many of them the best plans are looked at.
const SEARCHED: usize = 6;

/// So many plans of each.
const CANDIDATES: usize = 3;

/// A plan that is ever so many times dearer does not replace what is written.
const NEVER: f64 = 1.5;

/// One that replaces it takes less than this part of its time, in the geometric mean.
const MOSTLY: f64 = 0.5;

/// The decimal logarithms of extents of modes that are stored, and of the entries for each coordinate of the longest of them.
const STORED: (f64, f64) = (3.0, 5.5);
const ENTRIES: (f64, f64) = (0.0, 2.0);

/// Those of other extents.
const DENSE: (f64, f64) = (0.5, 2.5);

/// Tensors of more modes are taken to be spread evenly.
const MOST_MODES: usize = 6;

/// Numbers that are always the same (D. Lehmer; constants of D. Knuth's MMIX).
struct Random(u64);

impl Random {
    /// A number between two, evenly spread.
    fn between(&mut self, (low, high): (f64, f64)) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// A power of ten whose logarithm is between two.
    fn power(&mut self, exponents: (f64, f64)) -> f64 {
        10f64.powf(self.between(exponents)).round()
    }
}

/// Sizes of all tensors of a kernel, drawn again and again as far as they are not known.
pub(super) fn scenarios(kernel: &Kernel, facts: &Facts) -> Vec<Sizes<'static>> {
    (1..=SCENARIOS).map(|number| scenario(kernel, facts, &mut Random(number << 32))).collect()
}

fn scenario(kernel: &Kernel, facts: &Facts, random: &mut Random) -> Sizes<'static> {
    let mut facts = Facts { threads: facts.threads.max(1), ..facts.clone() };
    let accesses: Vec<&Access> =
        kernel.statements.iter().flat_map(|statement| statement.reads().chain([&statement.target])).collect();
    let mut drawn: Vec<(usize, f64)> = Vec::new();
    let mut extents = estimate::extents(kernel, &facts, &drawn);
    while let Some(open) = extents.iter().position(Option::is_none) {
        let is_stored =
            |access: &&&Access| kernel.is_sparse(access) && access.indices.iter().any(|index| index.0 == open);
        let exponents = if accesses.iter().any(|access| is_stored(&access)) { STORED } else { DENSE };
        drawn.push((open, random.power(exponents)));
        extents = estimate::extents(kernel, &facts, &drawn);
    }
    for access in accesses.iter().filter(|access| kernel.is_sparse(access)) {
        let shape: Vec<f64> = access.indices.iter().filter_map(|index| extents[index.0]).collect();
        let known = facts.tensors.entry(kernel.tensor(access.tensor).name.clone()).or_default();
        draw(known, &shape, random);
    }
    Sizes { extents, facts: Cow::Owned(facts) }
}

/// Draws what is not known of a tensor.
fn draw(known: &mut TensorFacts, shape: &[f64], random: &mut Random) {
    if shape.len() >= Modes::BITS as usize {
        return;
    }
    let places = |modes: Modes| -> f64 {
        let own = shape.iter().enumerate().filter(|(mode, _)| modes >> mode & 1 == 1);
        own.map(|(_, extent)| extent).product()
    };
    let all: Modes = (1 << shape.len()) - 1;
    let assumed = |estimate: f64| Known { estimate, bound: estimate, source: Source::Assumed };
    let longest = shape.iter().copied().fold(1.0, f64::max);
    let entries =
        known.entries.get_or_insert_with(|| assumed((longest * random.power(ENTRIES)).min(places(all)))).estimate;
    if shape.len() > MOST_MODES {
        return;
    }
    for modes in 1..all {
        if known.distinct.contains_key(&modes) {
            continue;
        }
        let subsets = (0..shape.len()).filter(|mode| modes >> mode & 1 == 1).map(|mode| (mode, modes & !(1 << mode)));
        let (mut low, mut high) = ((entries / places(all & !modes)).max(1.0), places(modes).min(entries));
        for (mode, subset) in subsets.filter(|(_, subset)| *subset != 0) {
            let fewer = known.distinct.get(&subset).map_or(1.0, |known| known.estimate);
            low = low.max(fewer);
            high = high.min(fewer * shape[mode]);
        }
        let high = high.max(low);
        known.distinct.insert(modes, assumed(random.between((low.ln(), high.ln())).exp()));
    }
}

/// The plan of a product that is never much dearer than what is written and mostly much cheaper; `None` where there is none.
pub(super) fn site(of: Place<'_>, scenarios: &[Sizes<'_>]) -> Option<Site> {
    let mut searches = scenarios.iter().map(|sizes| search(of, sizes)).collect::<Option<Vec<_>>>()?;
    let written: Vec<_> = searches.iter_mut().map(|search| search.written()).collect();
    // What a tree costs in each scenario.
    let mut replays: Vec<Search> = searches.iter().map(Search::again).collect();
    let mut seen = Vec::new();
    let mut best: Option<(f64, usize, Tree)> = None;
    for number in 0..SEARCHED.min(searches.len()) {
        let candidates = searches[number].best().into_iter().filter(|tree| tree.parts != written[number].parts);
        for tree in candidates.take(CANDIDATES) {
            let outline = searches[number].outline(&tree);
            if seen.contains(&outline) {
                continue;
            }
            seen.push(outline);
            let ratios = replays.iter_mut().zip(&written).map(|(replay, written)| {
                let replayed = replay.replay(&searches[number], &tree)?;
                Some(replayed.time / written.time).filter(|ratio| *ratio <= NEVER)
            });
            let Some(logarithms) = ratios.map(|ratio| ratio.map(f64::ln)).sum::<Option<f64>>() else { continue };
            let mean = (logarithms / scenarios.len() as f64).exp();
            if mean <= MOSTLY && best.as_ref().is_none_or(|(least, ..)| mean < *least) {
                best = Some((mean, number, tree));
            }
        }
    }
    let (_, number, tree) = best?;
    let written = written[number].clone();
    let bound = written.time;
    let plan = Plan { search: 0, bound: tree.time, weight: 1.0, tree };
    Some(Site {
        is_flat: of.product.is_flat,
        place: of.place,
        searches: vec![searches.swap_remove(number)],
        written,
        is_assumed: true,
        bound,
        plans: vec![plan],
    })
}
