//! Where the planner is asked: with what is known of the inputs, or of the text alone.

use super::options::{Planning, ProgramOptions};
use crate::measure::{tensor_facts, tensor_facts_at_once, time_to_count};
use crate::tensor::AnyTensor;
use spc_compiler::concrete::{self, TensorKind};
use spc_compiler::notation;
use spc_compiler::plan::{self, Cost, Facts, Known, Modes, Planned, TensorFacts};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The plan for a kernel of which extents are known by name.
pub(super) fn by_text(
    kernel: &notation::Kernel,
    dimensions: &[(String, usize)],
    options: &ProgramOptions,
) -> Option<Planned> {
    let asks = options.plan == Planning::Best && options.stream.is_none() && plan::wanted(kernel).is_some();
    let facts = || options.planning(Facts::stated(kernel, dimensions));
    asks.then(|| plan::plan(kernel, &facts()))?
}

/// The plan for a kernel with these inputs in the order of its interface. Entries are looked at only where there is something to
/// plan, and where the kernel takes much longer than that.
pub(super) fn by_data(
    kernel: &notation::Kernel,
    interface: &concrete::Kernel,
    extents: &[usize],
    inputs: &[AnyTensor],
    options: &ProgramOptions,
) -> Option<(Planned, Facts)> {
    if options.plan == Planning::AsWritten || options.stream.is_some() {
        return None;
    }
    let wanted = plan::wanted(kernel)?;
    let none = BTreeSet::new();
    let names = interface.tensors.iter().filter(|tensor| tensor.kind == TensorKind::Input).map(|tensor| &tensor.name);
    let inputs: Vec<(&String, &AnyTensor)> = names.zip(inputs).collect();
    let sets = |name: &String| wanted.get(name).unwrap_or(&none);
    let named = interface.extents.iter().zip(extents).flat_map(|(known, &extent)| {
        let names = known.written.iter().chain([&known.name]);
        names.map(move |name| (name.clone(), extent))
    });
    let stated = Facts::stated(kernel, &named.collect::<Vec<_>>());
    let facts = |of: &dyn Fn(&AnyTensor, &BTreeSet<Modes>) -> TensorFacts| {
        let measured = inputs.iter().map(|(name, tensor)| ((*name).clone(), of(tensor, sets(name))));
        options.planning(stated.clone().measured(kernel, measured))
    };
    let at_once = facts(&tensor_facts_at_once);
    let (planned, cost) = cached(kernel, &at_once);
    let counting: f64 = inputs.iter().map(|(name, tensor)| time_to_count(tensor, sets(name))).sum();
    let worth = (WORTH * cost.time * at_once.calls).max(INSURED * cost.bound).max(LEAST);
    if counting == 0.0 || counting > worth {
        return planned.map(|planned| (planned, at_once));
    }
    let facts = facts(&tensor_facts);
    cached(kernel, &facts).0.map(|planned| (planned, facts))
}

/// Entries are counted where that takes at most this part of the time of the kernel, this part of what that may be at most, as where a few
/// rows have most of the entries, or at most this number of nanoseconds.
const WORTH: f64 = 0.05;
const INSURED: f64 = 1e-3;
const LEAST: f64 = 1e5;

/// So many plans are remembered.
const REMEMBERED: usize = 64;

/// A plan, what it was made for, and what a call costs.
struct Made {
    kernel: notation::Kernel,
    facts: Facts,
    planned: (Option<Planned>, Cost),
}

static PLANS: Mutex<Vec<Made>> = Mutex::new(Vec::new());

/// A plan, made once for a kernel and facts that are as good as the same.
fn cached(kernel: &notation::Kernel, facts: &Facts) -> (Option<Planned>, Cost) {
    let rounded = facts.rounded();
    let plans = || PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |made: &&Made| made.facts == rounded && made.kernel == *kernel;
    if let Some(made) = plans().iter().find(is_it) {
        return made.planned.clone();
    }
    let planned = plan::plan_and_cost(kernel, facts);
    let mut plans = plans();
    if plans.len() == REMEMBERED {
        plans.remove(0);
    }
    plans.push(Made { kernel: kernel.clone(), facts: rounded, planned: planned.clone() });
    planned
}

/// The kernel that a plan makes of another, or that itself.
pub(super) fn kernel<'a>(written: &'a notation::Kernel, planned: Option<&'a Planned>) -> &'a notation::Kernel {
    planned.map_or(written, |planned| &planned.kernel)
}

/// What declarations say of inputs that is far from what these have, a line each.
pub(super) fn all_wrong_hints<'a>(
    declared: &[notation::Tensor],
    inputs: impl Iterator<Item = (&'a str, &'a AnyTensor)>,
) -> Vec<String> {
    let is_hinted = |tensor: &&notation::Tensor| tensor.hints != notation::Hints::default();
    let of = |name: &str| declared.iter().filter(is_hinted).find(|tensor| tensor.name == name);
    let hinted = inputs.filter_map(|(name, tensor)| Some((of(name)?, tensor)));
    hinted.flat_map(|(declared, tensor)| wrong_hints(declared, tensor)).collect()
}

/// What a text says of an input that is far from what it has.
fn wrong_hints(declared: &notation::Tensor, tensor: &AnyTensor) -> Vec<String> {
    let fibers = declared.hints.fibers.and_then(|_| declared.format.mode_order());
    let prefix = fibers.map(|order| order.iter().rev().skip(1).map(|&mode| 1 << mode).sum());
    match prefix {
        Some(prefix) => tensor_facts(tensor, &BTreeSet::from([prefix])).wrong_hints(declared),
        None => {
            let shape = tensor.shape().iter().map(|&extent| Some(extent as u64)).collect();
            let entries = Some(Known::measured(tensor.nnz() as f64));
            TensorFacts { shape, entries, ..TensorFacts::default() }.wrong_hints(declared)
        }
    }
}
