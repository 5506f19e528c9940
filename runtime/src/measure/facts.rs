//! What a planner asks of tensors: entries, distinct coordinates of sets of modes, how evenly entries are spread.

use super::tensor_size;
use crate::tensor::AnyTensor;
use crate::tensor::patterns::{Pattern, Patterns};
use crate::tensor::spread::Spread;
use spc_compiler::plan::{Degrees, Known, Modes, Source, TensorFacts};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is known of a tensor. Of a sparse one the distinct coordinates of each mode and of the sets of modes in `wanted` are
/// counted, in one pass over the entries. Figures are remembered as long as the tensor's index arrays are there, which clones and tensors
/// of one pattern share.
///
/// Prefixes of the order of storage cost nothing where levels tell them. Sets of few coordinates are counted in a bitmap, others by a
/// HyperLogLog sketch, whose error is 1.6 %: the bound is five times that above the estimate.
pub fn tensor_facts(tensor: &AnyTensor, wanted: &BTreeSet<Modes>) -> TensorFacts {
    known(tensor, wanted, &|tensor, sets| Some(spread(tensor, sets)))
}

/// What is known of a tensor without looking at its entries, or was found before.
pub(crate) fn tensor_facts_at_once(tensor: &AnyTensor, wanted: &BTreeSet<Modes>) -> TensorFacts {
    known(tensor, wanted, &|tensor, sets| found_before(tensor, &sets))
}

/// Nanoseconds that it takes on one thread to count an entry's coordinate in one mode or one set of modes.
const COUNT: f64 = 4.0;

/// The nanoseconds that [`tensor_facts`] is expected to take, beyond what is known at once.
pub(crate) fn time_to_count(tensor: &AnyTensor, wanted: &BTreeSet<Modes>) -> f64 {
    let mut wanted = wanted.clone();
    if tensor.format().is_dense() || wanted.is_empty() {
        return 0.0;
    }
    for (_, set) in counted(tensor) {
        wanted.remove(&set);
    }
    if found_before(tensor, &wanted).is_some() {
        return 0.0;
    }
    let sets = wanted.iter().filter(|set| set.count_ones() > 1).count() + tensor.order();
    COUNT * tensor.values().len() as f64 * sets as f64 / crate::parallel::threads().max(1) as f64
}

fn known(tensor: &AnyTensor, wanted: &BTreeSet<Modes>, spread: Spreads) -> TensorFacts {
    let shape = tensor.shape().iter().map(|&extent| Some(extent as u64)).collect();
    let order = tensor.format().mode_order();
    let mut facts = TensorFacts { shape, orders: order.iter().cloned().collect(), ..TensorFacts::default() };
    if tensor.format().is_dense() {
        facts.entries = Some(Known::measured(tensor.shape().iter().map(|&extent| extent as f64).product()));
        return facts;
    }
    let mut wanted = wanted.clone();
    for (set, count) in prefixes(tensor) {
        wanted.remove(&set);
        facts.distinct.insert(set, Known::measured(count));
    }
    let Some(spread) = spread(tensor, wanted) else {
        facts.entries = Some(Known::measured(tensor.values().len() as f64));
        return facts;
    };
    facts.entries = Some(Known::measured(spread.entries as f64));
    for (&set, distinct) in &spread.distinct {
        let known = Known { estimate: distinct.estimate, bound: distinct.bound, source: Source::Measured };
        facts.distinct.entry(set).or_insert(known);
    }
    for (&set, degree) in &spread.degrees {
        facts.degrees.insert(set, Degrees { mean: degree.mean, largest: degree.largest, norm: degree.norm });
    }
    facts
}

/// What tells how a tensor's entries are spread over tuples of modes.
type Spreads<'a> = &'a dyn Fn(&AnyTensor, BTreeSet<Modes>) -> Option<Arc<Spread>>;

/// The prefixes of two modes or more that the levels of a tensor count, each as the number of levels and the set of modes.
fn counted(tensor: &AnyTensor) -> Vec<(usize, Modes)> {
    let Some(order) = tensor.format().mode_order() else { return Vec::new() };
    let is_counted = |kind: spc_compiler::format::LevelKind| kind.is_compressed() || kind.is_singleton();
    let levels = &tensor.format().levels;
    let depth = levels.iter().take_while(|level| is_counted(level.format.kind) && level.format.ordered()).count();
    // The last level has the entries, and each mode by itself is counted anyway.
    let depths = 2..(depth + 1).min(order.len());
    depths.map(|depth| (depth, order[..depth].iter().map(|&mode| 1 << mode).sum())).collect()
}

/// How many coordinates these prefixes have.
fn prefixes(tensor: &AnyTensor) -> Vec<(Modes, f64)> {
    let counted = counted(tensor);
    if counted.is_empty() {
        return Vec::new();
    }
    let sizes = tensor_size(tensor);
    counted.into_iter().map(|(depth, set)| (set, sizes.levels[depth - 1].entries)).collect()
}

/// The figures of patterns, and the sets of modes that were counted for them.
static COUNTED: Patterns<(BTreeSet<Modes>, Arc<Spread>)> = Patterns::new();

fn pattern(tensor: &AnyTensor) -> Pattern {
    Pattern::of(tensor, tensor.levels().len())
}

/// The figures of a tensor, if some of at least these sets were found before.
fn found_before(tensor: &AnyTensor, sets: &BTreeSet<Modes>) -> Option<Arc<Spread>> {
    COUNTED.find(&pattern(tensor), |(counted, _)| sets.is_subset(counted)).map(|(_, spread)| spread)
}

fn spread(tensor: &AnyTensor, mut sets: BTreeSet<Modes>) -> Arc<Spread> {
    let pattern = pattern(tensor);
    if let Some((counted, spread)) = COUNTED.find(&pattern, |_| true) {
        if sets.is_subset(&counted) {
            return spread;
        }
        sets.extend(&counted);
    }
    let spread = Arc::new(tensor.spread(&sets));
    COUNTED.keep(pattern, (sets, spread.clone()), |_| true);
    spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::tensor::{Duplicates, Indices, pack};
    use spc_compiler::format;

    #[test]
    fn prefixes_are_counted_by_levels_and_other_sets_by_a_pass() {
        let entries = generate::uniform(&[40, 30, 50], 2000, 3).unwrap();
        let column = |mode: usize| match &entries.indices[mode] {
            Indices::U32(indices) => indices.iter().map(|&index| index as usize).collect::<Vec<_>>(),
            Indices::U64(_) => unreachable!("extents are small"),
        };
        let columns = [column(0), column(1), column(2)];
        let truth = |set: Modes| {
            let tuple =
                |entry: usize| [0, 1, 2].map(|mode| if set >> mode & 1 == 1 { columns[mode][entry] } else { 0 });
            let tuples: BTreeSet<[usize; 3]> = (0..columns[0].len()).map(tuple).collect();
            tuples.len() as f64
        };
        for (name, free) in [("csf", true), ("coo", true), ("[dense, compressed, compressed]", false)] {
            let format = match name.strip_prefix('[') {
                Some(_) => spc_compiler::format::Format::of_levels(
                    [spc_compiler::format::LevelFormat::DENSE, spc_compiler::format::LevelFormat::COMPRESSED]
                        .into_iter()
                        .chain([spc_compiler::format::LevelFormat::COMPRESSED]),
                ),
                None => format::named(name, &[], 3).unwrap(),
            };
            let tensor = pack(entries.clone(), &format, Duplicates::Sum).unwrap();
            assert_eq!(!prefixes(&tensor).is_empty(), free, "{name}");
            let facts = tensor_facts(&tensor, &(1..7).collect());
            assert_eq!(facts.entries, Some(Known::measured(2000.0)));
            assert_eq!(facts.shape, [Some(40), Some(30), Some(50)]);
            for set in 1..7 {
                assert_eq!(facts.distinct[&set], Known::measured(truth(set)), "{name} {set:b}");
            }
            assert!(facts.degrees[&1].norm >= (2000.0 * 2000.0 / 40.0f64).sqrt());
        }
    }

    #[test]
    fn figures_are_counted_once_for_clones_and_again_for_more_sets() {
        let entries = generate::uniform(&[40, 30, 50], 500, 4).unwrap();
        let tensor = pack(entries, &format::named("csf", &[], 3).unwrap(), Duplicates::Sum).unwrap();
        let first = spread(&tensor, BTreeSet::from([5]));
        assert!(Arc::ptr_eq(&first, &spread(&tensor.clone(), BTreeSet::from([5]))));
        assert!(Arc::ptr_eq(&first, &spread(&tensor, BTreeSet::new())));
        let more = spread(&tensor, BTreeSet::from([6]));
        assert!(more.distinct.contains_key(&5) && more.distinct.contains_key(&6) && !first.distinct.contains_key(&6));
        assert!(Arc::ptr_eq(&more, &spread(&tensor, BTreeSet::from([5, 6]))));
    }

    #[test]
    fn a_dense_tensor_is_not_walked() {
        let tensor = generate::ones(&[3, 4], spc_compiler::ir::ElementType::F64).unwrap();
        let facts = tensor_facts(&tensor, &BTreeSet::from([1]));
        assert_eq!((facts.entries, facts.distinct.len()), (Some(Known::measured(12.0)), 0));
    }
}
