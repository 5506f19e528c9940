//! How ranks share a kernel's work out, and what they do with their parts.

use super::Failure;
use crate::tensor::Storage;
use crate::threads;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spc::distribute::{self, Communicator, Machine, Placement, Plan, Summary, ThreadRank, in_parts};
use spc::execute::{Operand, ProgramOptions};
use spc::tensor::AnyTensor;
use spc_compiler::notation;
use std::sync::{Arc, OnceLock};

/// A kernel and its inputs, but for one that is in a file.
pub(super) struct OfFile {
    pub(super) kernel: notation::Kernel,
    pub(super) inputs: Vec<(String, Operand)>,
    pub(super) tensor: String,
    pub(super) file: distribute::SharedFile,
    pub(super) dimensions: Vec<(String, usize)>,
    pub(super) options: ProgramOptions,
}

/// Who has what.
pub(super) enum Shares {
    Whole(Arc<distribute::Problem>, Box<Plan>),
    /// Each rank finds out from its part of a file.
    Parts(Arc<OfFile>, Option<Placement>),
}

impl Shares {
    pub(super) fn of(plan: Plan, problem: Arc<distribute::Problem>) -> Self {
        Shares::Whole(problem, Box::new(plan))
    }
}

/// A kernel with its inputs, and how ranks share the work out.
pub(super) struct Planned {
    pub(super) shares: Shares,
    /// How many parts compute it: as many as there are ranks, but where results are to have the same bits on any number of these.
    pub(super) pieces: usize,
    pub(super) deterministic: bool,
    pub(super) text: String,
    /// What all processes have agreed on.
    pub(super) said: String,
    /// How it is placed, from when a part knows.
    pub(super) placed: OnceLock<Placed>,
}

impl Planned {
    /// Runs `body` as each part that this rank has, and gives what the first makes.
    pub(super) fn on_parts<R: Send>(
        &self,
        own: &dyn Communicator,
        body: impl Fn(&distribute::Problem, &Plan, &dyn Communicator) -> Result<R, Failure> + Sync,
    ) -> Result<R, Failure> {
        let of_part = |own: &dyn Communicator| self.planned(own, |problem, plan| body(problem, plan, own));
        if !self.deterministic {
            return of_part(own);
        }
        // Parts wait for each other, so each has a thread of its own.
        let of_part = |part: &ThreadRank| threads::pool_of(1).map_err(Failure::Threads)?.install(|| of_part(part));
        in_parts(self.pieces, own, of_part).map(|mut all| all.swap_remove(0))
    }

    /// Does something with what a part has.
    fn planned<R>(
        &self,
        own: &dyn Communicator,
        body: impl FnOnce(&distribute::Problem, &Plan) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let of_parts;
        let (problem, plan) = match &self.shares {
            Shares::Whole(problem, plan) => (&**problem, &**plan),
            Shares::Parts(of, placement) => {
                let OfFile { kernel, inputs, file, dimensions, options, .. } = &**of;
                let inputs = inputs.clone();
                of_parts =
                    distribute::Problem::of_file(kernel, inputs, file, placement.as_ref(), dimensions, options, own)?;
                (&of_parts.0, &of_parts.1)
            }
        };
        self.placed.get_or_init(|| Placed::of(plan));
        body(problem, plan)
    }

    /// How it is placed, once it has begun.
    pub(super) fn placed(&self) -> Option<&Placed> {
        self.placed.get()
    }

    pub(super) fn exception(&self, failure: Failure) -> PyErr {
        failure.exception(&self.text)
    }
}

/// Results as Python takes them.
pub(super) fn storages(results: Vec<(String, AnyTensor)>) -> Vec<(String, Storage)> {
    results.into_iter().map(|(name, tensor)| (name, Storage(tensor))).collect()
}

/// A way to share the work out, and what it costs.
pub(super) struct Placed {
    distribute: String,
    sum: Summary,
}

impl Placed {
    pub(super) fn of(plan: &Plan) -> Self {
        Self { distribute: plan.placement().to_string(), sum: plan.summary(Machine::default()) }
    }

    pub(super) fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (sum, told) = (&self.sum, PyDict::new(py));
        told.set_item("distribute", &self.distribute)?;
        told.set_item("bytes", sum.bytes)?;
        told.set_item("most_bytes_of_a_rank", sum.most_bytes)?;
        told.set_item("messages", sum.messages)?;
        told.set_item("imbalance", sum.imbalance)?;
        told.set_item("modelled_seconds", sum.time)?;
        told.set_item("estimated_result_bytes", sum.entries)?;
        told.set_item("bytes_on_every_rank", sum.replicated)?;
        Ok(told)
    }
}
