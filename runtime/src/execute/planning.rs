//! Where the planner is asked: with what is known of the inputs, or of the text alone.

use super::options::{Planning, ProgramOptions};
use crate::measure::tensor_facts;
use crate::tensor::AnyTensor;
use spc_compiler::concrete::{self, TensorKind};
use spc_compiler::notation;
use spc_compiler::plan::{self, Facts, Known, Planned, TensorFacts};
use std::collections::BTreeSet;

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
/// plan.
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
    let measured =
        |(name, tensor): (&String, &AnyTensor)| (name.clone(), tensor_facts(tensor, wanted.get(name).unwrap_or(&none)));
    let named = interface.extents.iter().zip(extents).flat_map(|(known, &extent)| {
        let names = known.written.iter().chain([&known.name]);
        names.map(move |name| (name.clone(), extent))
    });
    let facts = Facts::stated(kernel, &named.collect::<Vec<_>>());
    let facts = facts.measured(kernel, names.zip(inputs).map(measured));
    let facts = options.planning(facts);
    plan::plan(kernel, &facts).map(|planned| (planned, facts))
}

/// The kernel that a plan makes of another, or that itself.
pub(super) fn kernel<'a>(written: &'a notation::Kernel, planned: Option<&'a Planned>) -> &'a notation::Kernel {
    planned.map_or(written, |planned| &planned.kernel)
}

/// What a text says of an input that is far from what it has.
pub(super) fn wrong_hints(declared: &notation::Tensor, tensor: &AnyTensor) -> Vec<String> {
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
