//! A kernel and its inputs on ranks.

use super::prepared::Prepared;
use super::{Failure, for_ranks, on};
use crate::kernel::{Argument, backend_of};
use crate::tensor::{Storage, owned};
use crate::{errors, threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spc::distribute::{self, Communicator, Machine, Placement, Plan, ThreadRank, in_parts, parts_for};
use spc::execute::{self, Operand, ProgramOptions, scalar};
use spc::tensor::{AnyTensor, ElementType};
use spc_compiler::notation;
use std::sync::Arc;

/// A kernel and its inputs, to be run on ranks.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Problem {
    problem: Arc<distribute::Problem>,
    text: String,
    /// Results have the same bits on any number of ranks.
    deterministic: bool,
    /// The element types of inputs.
    elements: Vec<(String, ElementType)>,
    /// What all processes have to agree on.
    said: String,
}

/// What stands for a parameter.
fn operand(argument: Argument) -> Operand {
    match argument {
        Argument::Tensor(tensor) => tensor.into(),
        Argument::Bool(value) => Operand::Scalar(f64::from(u8::from(value))),
        // A large number is what it is, or of another type.
        Argument::Integer(value) if value.unsigned_abs() < 1 << f64::MANTISSA_DIGITS => Operand::Scalar(value as f64),
        Argument::Integer(value) => scalar(value).into(),
        Argument::Real(value) => Operand::Scalar(value),
        Argument::Complex(value) => scalar(value).into(),
        Argument::Complex32(value) => scalar(value).into(),
    }
}

/// The plan of so many ranks; where they are to give the same bits as any other number, of the parts that these have some of.
fn plan(
    problem: &distribute::Problem,
    distribute: Option<&str>,
    ranks: usize,
    deterministic: bool,
) -> Result<Plan, Failure> {
    let asked =
        distribute.map(|text| Placement::parse(text, &|name| problem.is_input(name)).map_err(Failure::Placement));
    let asked = asked.transpose()?;
    let cells = asked.as_ref().and_then(Placement::cells);
    let pieces = match deterministic {
        true => {
            parts_for(ranks, cells).map_err(|error| Failure::Placement(format!("`deterministic` computes {error}")))?
        }
        false => ranks,
    };
    match asked {
        Some(placement) => Ok(problem.plan(&placement, pieces)?),
        None => Ok(problem.plans(pieces, Machine::default())?.remove(0)),
    }
}

#[pymethods]
impl Problem {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "Python's half names them")]
    fn new(
        py: Python<'_>,
        text: String,
        formats: Vec<(String, String)>,
        dimensions: Vec<(String, usize)>,
        backend: Option<&str>,
        deterministic: bool,
        names: Vec<String>,
        inputs: &Bound<'_, PyTuple>,
        keeps: bool,
    ) -> PyResult<Self> {
        let mut said = format!("{text:?} {formats:?} {dimensions:?} {backend:?} {deterministic}");
        let options = ProgramOptions { backend: backend_of(backend)?, deterministic, ..ProgramOptions::default() };
        let builder = execute::Kernel::builder(text.as_str());
        let builder = formats.into_iter().fold(builder, |builder, (tensor, format)| builder.format(tensor, format));
        let kernel: notation::Kernel = builder.checked().map_err(errors::program)?;
        let (mut operands, mut elements) = (Vec::new(), Vec::new());
        for (name, input) in names.into_iter().zip(inputs) {
            let element = kernel.tensors.iter().find(|tensor| tensor.name == name).map(|tensor| tensor.element);
            let mut argument = Argument::of(&input)?.fitted(element);
            if let Argument::Tensor(tensor) = &mut argument
                && keeps
            {
                *tensor = owned(tensor)?;
            }
            if let Argument::Tensor(tensor) = &argument {
                said.push_str(&format!(" {name} {:?} {}", tensor.shape(), tensor.nnz()));
            }
            elements.extend(element.map(|element| (name.clone(), element)));
            operands.push((name, operand(argument)));
        }
        let made = threads::run_long(py, move || distribute::Problem::new(&kernel, operands, &dimensions, &options))?;
        let problem = made.map_err(|error| Failure::Kernel(error).exception(&text))?;
        Ok(Self { problem: Arc::new(problem), text, deterministic, elements, said })
    }

    /// The results by name, on the first rank; nothing on the others.
    fn run(&self, ranks: &Bound<'_, PyAny>, distribute: Option<String>) -> PyResult<Option<Vec<(String, Storage)>>> {
        let (said, begin) = self.planning(distribute);
        let body = |planned: &Planned, own: &dyn Communicator| {
            planned.on_parts(own, |own| {
                let part = planned.problem.run(&planned.plan, own)?;
                Ok(planned.problem.gather(&planned.plan, part, own)?)
            })
        };
        let made = on(ranks, said, begin, body, |failure| failure.exception(&self.text))?;
        Ok(made.map(storages))
    }

    /// Prepares the kernel on ranks, to be called again and again.
    fn prepare(&self, ranks: &Bound<'_, PyAny>, distribute: Option<String>) -> PyResult<Prepared> {
        let (said, begin) = self.planning(distribute);
        let planned = for_ranks(ranks, format!("prepare {said}"), begin, |failure| failure.exception(&self.text))?;
        Prepared::new(planned, ranks)
    }

    /// The element type of an input.
    fn element(&self, name: &str) -> Option<&'static str> {
        self.elements.iter().find(|(input, _)| input == name).map(|(_, element)| element.name())
    }

    /// How the entries or a range can be shared out among so many ranks, and what each way costs, that which takes least time first.
    fn plans<'py>(&self, py: Python<'py>, ranks: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        if ranks == 0 {
            return Err(PyValueError::new_err("there is at least one rank"));
        }
        let problem = Arc::clone(&self.problem);
        let plans = threads::run_long(py, move || problem.plans(ranks, Machine::default()))?;
        let plans = plans.map_err(|error| Failure::Kernel(error).exception(&self.text))?;
        plans.iter().map(|plan| told(py, plan)).collect()
    }
}

impl Problem {
    /// What all processes have to agree on, and what makes the plan for so many ranks.
    fn planning(
        &self,
        distribute: Option<String>,
    ) -> (String, impl FnOnce(usize) -> Result<Planned, Failure> + Send + 'static) {
        let said = format!("{} {distribute:?}", self.said);
        let (problem, deterministic) = (Arc::clone(&self.problem), self.deterministic);
        let (text, agreed) = (self.text.clone(), said.clone());
        let begin = move |count| {
            let plan = plan(&problem, distribute.as_deref(), count, deterministic)?;
            Ok(Planned { problem, plan, deterministic, text, said: agreed })
        };
        (said, begin)
    }
}

/// A kernel with its inputs, and how ranks share the work out.
pub(super) struct Planned {
    pub(super) problem: Arc<distribute::Problem>,
    pub(super) plan: Plan,
    deterministic: bool,
    text: String,
    /// What all processes have agreed on.
    pub(super) said: String,
}

impl Planned {
    /// Runs `body` as each part that this rank has, and gives what the first makes: the rank itself is one, but where results are to have the same
    /// bits on any number of ranks.
    pub(super) fn on_parts<R: Send>(
        &self,
        own: &dyn Communicator,
        body: impl Fn(&dyn Communicator) -> Result<R, Failure> + Sync,
    ) -> Result<R, Failure> {
        if !self.deterministic {
            return body(own);
        }
        // Parts wait for each other, so each has a thread of its own.
        let of_part = |part: &ThreadRank| threads::pool_of(1).map_err(Failure::Threads)?.install(|| body(part));
        in_parts(self.plan.ranks(), own, of_part).map(|mut all| all.swap_remove(0))
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
pub(super) fn told<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyDict>> {
    let sum = plan.summary(Machine::default());
    let told = PyDict::new(py);
    told.set_item("distribute", plan.placement().to_string())?;
    told.set_item("bytes", sum.bytes)?;
    told.set_item("most_bytes_of_a_rank", sum.most_bytes)?;
    told.set_item("messages", sum.messages)?;
    told.set_item("imbalance", sum.imbalance)?;
    told.set_item("modelled_seconds", sum.time)?;
    told.set_item("bytes_on_every_rank", sum.replicated)?;
    Ok(told)
}
