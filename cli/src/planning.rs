//! How the plan of a kernel is chosen, and what is told of it.

use crate::arguments::bytes;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use spc::execute::Planning;
use spc_compiler::notation;
use spc_compiler::plan::{self, Cost, Facts, Known, Modes, Planned, TensorFacts};
use std::collections::BTreeMap;

/// Which plan is taken.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct PlanArguments {
    /// Compute the kernel by the plan that costs least, or as it is written
    #[arg(long = "plan", value_enum, value_name = "PLAN", default_value_t)]
    plan: PlanName,
    /// The most bytes for temporaries that a plan makes, as 2GB; half of what is free if not given
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) memory: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum PlanName {
    /// The plan that costs least
    #[default]
    Best,
    /// The statements as they are written
    #[value(name = "as_written", alias = "as-written")]
    AsWritten,
}

impl PlanArguments {
    pub(crate) fn planning(self) -> Planning {
        match self.plan {
            PlanName::Best => Planning::Best,
            PlanName::AsWritten => Planning::AsWritten,
        }
    }

    /// The plan for a kernel of which the text and these extents are known, and what it was made from.
    pub(crate) fn by_text(self, kernel: &notation::Kernel, dimensions: &[(String, usize)]) -> Option<(Planned, Facts)> {
        if self.planning() == Planning::AsWritten || plan::wanted(kernel).is_none() {
            return None;
        }
        let facts = Facts { memory: self.memory, ..Facts::stated(kernel, dimensions) };
        plan::plan(kernel, &facts).map(|planned| (planned, facts))
    }
}

/// What is known of a plan, as JSON.
pub(crate) fn as_json(planned: &Planned, facts: Option<&Facts>) -> Value {
    let mut value = cost_as_json(&planned.cost);
    value["text"] = json!(plan::text(&planned.kernel));
    value["written"] = cost_as_json(&planned.written);
    let other = |other: &plan::Alternative| {
        let mut value = cost_as_json(&other.cost);
        value["text"] = json!(other.text);
        value
    };
    value["others"] = planned.others.iter().map(other).collect();
    value["facts"] = facts.map_or(Value::Null, facts_as_json);
    value
}

fn cost_as_json(cost: &Cost) -> Value {
    json!({
        "operations": cost.operations, "bytes": cost.bytes, "memory": cost.memory, "time_ns": cost.time,
        "bound_ns": cost.bound,
    })
}

fn facts_as_json(facts: &Facts) -> Value {
    let known = |known: &Known| {
        let source = format!("{:?}", known.source).to_lowercase();
        json!({ "estimate": known.estimate, "bound": known.bound, "source": source })
    };
    // Modes count from 1, as everywhere in what is printed.
    let modes = |set: Modes| {
        let modes = (0..Modes::BITS).filter(|mode| set >> mode & 1 == 1);
        modes.map(|mode| (mode + 1).to_string()).collect::<Vec<_>>().join(",")
    };
    let tensor = |tensor: &TensorFacts| {
        let distinct: Map<String, Value> =
            tensor.distinct.iter().map(|(set, count)| (modes(*set), known(count))).collect();
        let degree = |(set, degree): (&Modes, &plan::Degrees)| {
            (modes(*set), json!({ "mean": degree.mean, "largest": degree.largest, "norm": degree.norm }))
        };
        let degrees: Map<String, Value> = tensor.degrees.iter().map(degree).collect();
        json!({ "shape": tensor.shape, "entries": tensor.entries.as_ref().map(known), "distinct": distinct, "degrees": degrees })
    };
    let tensors: BTreeMap<&String, Value> = facts.tensors.iter().map(|(name, facts)| (name, tensor(facts))).collect();
    json!({
        "extents": facts.extents, "tensors": tensors, "memory": facts.memory, "threads": facts.threads, "calls": facts.calls,
    })
}
