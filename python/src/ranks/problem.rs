//! A kernel and its inputs on ranks.

use super::decompose::SharedFile;
use super::planned::{OfFile, Placed, Planned, Shares, storages};
use super::prepared::Prepared;
use super::{Failure, for_ranks, on};
use crate::kernel::{Argument, backend_of};
use crate::tensor::{Storage, owned};
use crate::{errors, threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spc::distribute::{self, Communicator, Machine, Placement, parts_for};
use spc::execute::{self, Operand, ProgramOptions, scalar};
use spc::tensor::ElementType;
use spc_compiler::notation;
use std::sync::{Arc, OnceLock};

/// A kernel and its inputs, to be run on ranks.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Problem {
    source: Source,
    text: String,
    /// Results have the same bits on any number of ranks.
    deterministic: bool,
    /// The element types of inputs.
    elements: Vec<(String, ElementType)>,
    /// What all processes have to agree on.
    said: String,
}

/// Where the inputs are.
#[derive(Clone)]
enum Source {
    /// Each rank has all of them.
    Whole(Arc<distribute::Problem>),
    /// One is in a file, of which each rank reads its part.
    Parts(Arc<OfFile>),
}

impl Source {
    fn is_input(&self, name: &str) -> bool {
        match self {
            Source::Whole(problem) => problem.is_input(name),
            Source::Parts(of) => of.inputs.iter().any(|(input, _)| input == name) || of.tensor == name,
        }
    }
}

/// What stands for a parameter.
fn operand(argument: Argument) -> Operand {
    match argument {
        Argument::Tensor(tensor) => tensor.into(),
        Argument::Bool(value) => Operand::Scalar(f64::from(u8::from(value))),
        // A large number is what it is, or of another type.
        Argument::Integer(value) if value.unsigned_abs() < 1 << f64::MANTISSA_DIGITS => Operand::Scalar(value as f64),
        Argument::Integer(value) => scalar(value).into(),
        Argument::Unsigned(value) => scalar(value).into(),
        Argument::Real(value) => Operand::Scalar(value),
        Argument::Complex(value) => scalar(value).into(),
        Argument::Complex32(value) => scalar(value).into(),
    }
}

/// How so many ranks share the work out; where they are to give the same bits as any other number, the parts that these have some of.
fn shares(
    source: Source,
    distribute: Option<&str>,
    ranks: usize,
    deterministic: bool,
) -> Result<(Shares, usize), Failure> {
    let asked =
        distribute.map(|text| Placement::parse(text, &|name| source.is_input(name)).map_err(Failure::Placement));
    let asked = asked.transpose()?;
    let cells = asked.as_ref().and_then(Placement::cells);
    let pieces = match deterministic {
        true => {
            parts_for(ranks, cells).map_err(|error| Failure::Placement(format!("`deterministic` computes {error}")))?
        }
        false => ranks,
    };
    let shares = match (source, asked) {
        (Source::Whole(problem), Some(placement)) => Shares::of(problem.plan(&placement, pieces)?, problem),
        (Source::Whole(problem), None) => Shares::of(problem.plans(pieces, Machine::default())?.remove(0), problem),
        (Source::Parts(of), placement) => Shares::Parts(of, placement),
    };
    Ok((shares, pieces))
}

/// Of a file in parts no rank knows the entries that placements are counted by.
const IN_PARTS: &str = "placements are counted by all entries, and a file is in parts: read it first";

/// Whether ranks read their parts of a file that is an input of this name, where the work is shared out so. Without a placement the kernel tells.
#[pyfunction]
pub(crate) fn _takes_parts(
    text: &str,
    formats: Vec<(String, String)>,
    deterministic: bool,
    distribute: Option<&str>,
    name: &str,
) -> bool {
    if let Some(distribute) = distribute {
        let placement = Placement::parse(distribute, &|input| input == name);
        return placement.is_ok_and(|placement| placement.tensor() == Some(name));
    }
    let builder = execute::Kernel::builder(text);
    let builder = formats.into_iter().fold(builder, |builder, (tensor, format)| builder.format(tensor, format));
    // What is wrong with it is told where it is made.
    let Ok(kernel) = builder.checked() else { return false };
    let asked = Placement::asked(&kernel).ok().flatten();
    // Parts of so many are small, and each rank reads all sooner.
    let is_cut = asked.is_some() || !deterministic;
    is_cut && distribute::SharedFile::input(&kernel, asked.as_ref()).as_deref() == Some(name)
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
        let mut parts = None;
        for (name, input) in names.into_iter().zip(inputs) {
            let element = kernel.tensors.iter().find(|tensor| tensor.name == name).map(|tensor| tensor.element);
            elements.extend(element.map(|element| (name.clone(), element)));
            if let Ok(file) = input.cast_exact::<SharedFile>() {
                said.push_str(&format!(" {name} of a file"));
                parts = Some((name, file.get().file.clone()));
                continue;
            }
            let mut argument = Argument::of(&input)?.fitted(element);
            if let Argument::Tensor(tensor) = &mut argument
                && keeps
            {
                *tensor = owned(tensor)?;
            }
            if let Argument::Tensor(tensor) = &argument {
                said.push_str(&format!(" {name} {:?} {}", tensor.shape(), tensor.nnz()));
            }
            operands.push((name, operand(argument)));
        }
        let source = match parts {
            Some((tensor, file)) => {
                Source::Parts(Arc::new(OfFile { kernel, inputs: operands, tensor, file, dimensions, options }))
            }
            None => {
                let make = move || distribute::Problem::new(&kernel, operands, &dimensions, &options);
                let made = threads::run_long(py, make)?;
                Source::Whole(Arc::new(made.map_err(|error| Failure::Kernel(error).exception(&text))?))
            }
        };
        Ok(Self { source, text, deterministic, elements, said })
    }

    /// The results by name, on the first rank; nothing on the others.
    fn run(&self, ranks: &Bound<'_, PyAny>, distribute: Option<String>) -> PyResult<Option<Vec<(String, Storage)>>> {
        let (said, begin) = self.planning(distribute);
        let body = |planned: &Planned, own: &dyn Communicator| {
            planned.on_parts(own, |problem, plan, own| {
                let part = problem.run(plan, own)?;
                Ok(problem.gather(plan, part, own)?)
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
        let Source::Whole(problem) = self.source.clone() else { return Err(PyValueError::new_err(IN_PARTS)) };
        let plans = threads::run_long(py, move || problem.plans(ranks, Machine::default()))?;
        let plans = plans.map_err(|error| Failure::Kernel(error).exception(&self.text))?;
        plans.iter().map(|plan| Placed::of(plan).told(py)).collect()
    }
}

impl Problem {
    /// What all processes have to agree on, and what makes the plan for so many ranks.
    fn planning(
        &self,
        distribute: Option<String>,
    ) -> (String, impl FnOnce(usize) -> Result<Planned, Failure> + Send + 'static) {
        let said = format!("{} {distribute:?}", self.said);
        let (source, deterministic) = (self.source.clone(), self.deterministic);
        let (text, agreed) = (self.text.clone(), said.clone());
        let begin = move |count| {
            let (shares, pieces) = shares(source, distribute.as_deref(), count, deterministic)?;
            Ok(Planned { shares, pieces, deterministic, text, said: agreed, placed: OnceLock::new() })
        };
        (said, begin)
    }
}
