//! A kernel and its inputs on ranks.

use super::{Failure, on};
use crate::kernel::{Argument, backend_of};
use crate::tensor::Storage;
use crate::{errors, threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spc::distribute::{self, Communicator, Machine, Placement, Plan, ThreadRank, in_parts, parts_for};
use spc::execute::{self, Operand, ProgramOptions, scalar};
use spc_compiler::notation;
use std::sync::Arc;

/// A kernel and its inputs, to be run on ranks.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Problem {
    problem: Arc<distribute::Problem>,
    text: String,
    /// Results have the same bits on any number of ranks.
    deterministic: bool,
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
    ) -> PyResult<Self> {
        let mut said = format!("{text:?} {formats:?} {dimensions:?} {backend:?} {deterministic}");
        let options = ProgramOptions { backend: backend_of(backend)?, deterministic, ..ProgramOptions::default() };
        let builder = execute::Kernel::builder(text.as_str());
        let builder = formats.into_iter().fold(builder, |builder, (tensor, format)| builder.format(tensor, format));
        let kernel: notation::Kernel = builder.checked().map_err(errors::program)?;
        let mut operands = Vec::new();
        for (name, input) in names.into_iter().zip(inputs) {
            let element = kernel.tensors.iter().find(|tensor| tensor.name == name).map(|tensor| tensor.element);
            let argument = Argument::of(&input)?.fitted(element);
            if let Argument::Tensor(tensor) = &argument {
                said.push_str(&format!(" {name} {:?} {}", tensor.shape(), tensor.nnz()));
            }
            operands.push((name, operand(argument)));
        }
        let made = threads::run_long(py, move || distribute::Problem::new(&kernel, operands, &dimensions, &options))?;
        let problem = made.map_err(|error| Failure::Kernel(error).exception(&text))?;
        Ok(Self { problem: Arc::new(problem), text, deterministic, said })
    }

    /// The results by name, on the first rank; nothing on the others.
    fn run(&self, ranks: &Bound<'_, PyAny>, distribute: Option<String>) -> PyResult<Option<Vec<(String, Storage)>>> {
        let said = format!("{} {distribute:?}", self.said);
        let problem = Arc::clone(&self.problem);
        let deterministic = self.deterministic;
        let begin = move |count| Ok((plan(&problem, distribute.as_deref(), count, deterministic)?, problem));
        let body = move |(plan, problem): &(Plan, Arc<distribute::Problem>), own: &dyn Communicator| {
            let of_part = |own: &dyn Communicator| {
                let part = problem.run(plan, own)?;
                Ok(problem.gather(plan, part, own)?)
            };
            if !deterministic {
                return of_part(own);
            }
            // Parts wait for each other, so each has a thread of its own.
            let of_part = |part: &ThreadRank| threads::pool_of(1).map_err(Failure::Threads)?.install(|| of_part(part));
            in_parts(plan.ranks(), own, of_part).map(|mut all| all.swap_remove(0))
        };
        let made = on(ranks, said, begin, body, |failure| failure.exception(&self.text))?;
        Ok(made.map(|results| results.into_iter().map(|(name, tensor)| (name, Storage(tensor))).collect()))
    }

    /// How the entries or a range can be shared out among so many ranks, and what each way costs, that which takes least time first.
    fn plans<'py>(&self, py: Python<'py>, ranks: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        if ranks == 0 {
            return Err(PyValueError::new_err("there is at least one rank"));
        }
        let problem = Arc::clone(&self.problem);
        let plans = threads::run_long(py, move || problem.plans(ranks, Machine::default()))?;
        let plans = plans.map_err(|error| Failure::Kernel(error).exception(&self.text))?;
        let told = |plan: &Plan| {
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
        };
        plans.iter().map(told).collect()
    }
}
