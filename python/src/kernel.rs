//! Kernels: compiled once, called many times.

use crate::borrow;
use crate::errors;
use crate::tensor::{Storage, dense};
use crate::threads;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyTuple};
use spc::complex::{c32, c64};
use spc::execute::{self, Backend, Chain, Executable, Input, KernelBuilder, Repeated, Repetition, Until, Value};
use spc::tensor::{AnyTensor, ElementType, LevelArrays};
use spc_compiler::backend::cuda;
use spc_compiler::diagnostics::{Diagnostics, render::render};
use spc_compiler::format::Format;
use spc_compiler::notation;
use spc_compiler::remark::Decision;
use spc_compiler::syntax::einsum::{Einsum, Operand};
use spc_compiler::{pass, remark, syntax};
use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// An assignment's text, the name of the result, and each operand with its number of indices.
type Assignment = (String, String, Vec<(String, usize)>);

/// The assignment that an einsum string means for operands of these orders.
#[pyfunction]
pub(crate) fn _einsum(text: &str, orders: Vec<Option<usize>>) -> PyResult<Assignment> {
    let known: Vec<Operand> = orders.into_iter().map(|order| Operand { name: None, order }).collect();
    let statement = Einsum::parse(text).and_then(|string| string.statement(&known));
    let refused =
        |found: Diagnostics| errors::text(format!("\n{}", render(text, "<einsum>", &found.into_sorted(), false)));
    let statement = statement.map_err(refused)?;
    let read = notation::read_by(&statement).into_iter().map(|read| (read.name, read.order));
    Ok((statement.to_string(), statement.target.name.name.clone(), read.collect()))
}

/// The names of the tensors of an assignment: that of the result first.
#[pyfunction]
pub(crate) fn _names(text: &str) -> PyResult<Vec<String>> {
    let refused =
        |found: Diagnostics| errors::text(format!("\n{}", render(text, "<kernel>", &found.into_sorted(), false)));
    let statement = syntax::parse_statement(text).map_err(refused)?;
    let read = notation::read_by(&statement).into_iter().map(|read| read.name);
    Ok([statement.target.name.name.clone()].into_iter().chain(read).collect())
}

/// The text of the kernel that differentiates another by some of its inputs.
#[pyfunction]
pub(crate) fn _gradient(text: &str, formats: Vec<(String, String)>, by: Vec<String>) -> PyResult<String> {
    let builder = formats
        .into_iter()
        .fold(execute::Kernel::builder(text), |builder, (name, format)| builder.format(name, format));
    let by: Vec<&str> = by.iter().map(String::as_str).collect();
    Ok(builder.gradient(&by).map_err(errors::program)?.text().to_owned())
}

/// Where native code of common kernels is, for machines without a Rust compiler.
#[pyfunction]
pub(crate) fn _set_catalogue(path: PathBuf) {
    execute::catalogue::set_path(path);
}

/// A call on inputs of fewer bytes is run by the thread that calls: another would take longer to begin it than many a kernel runs.
const SHORT: usize = 8 << 20;

/// A kernel for inputs of some formats.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Kernel {
    kernel: Arc<execute::Kernel>,
    builder: KernelBuilder,
}

/// What runs a kernel, by its name.
pub(crate) fn backend_of(name: Option<&str>) -> PyResult<Option<Backend>> {
    Ok(Some(match name {
        None => return Ok(None),
        Some("native") => Backend::Native,
        Some("jit") => Backend::Jit,
        Some("interpreter") => Backend::Interpreter,
        Some(other) => {
            let message = format!("backend={other:?}: say 'native', 'jit' or 'interpreter', or nothing");
            return Err(PyValueError::new_err(message));
        }
    }))
}

/// An input, apart from Python.
pub(crate) enum Argument {
    Tensor(AnyTensor),
    Bool(bool),
    Integer(i64),
    /// An integer beyond 63 bits.
    Unsigned(u64),
    Real(f64),
    Complex(c64),
    /// The same for a parameter of half the precision.
    Complex32(c32),
}

impl Argument {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(storage) = object.cast_exact::<Storage>() {
            return Ok(Self::Tensor(storage.get().0.clone()));
        }
        if object.is_exact_instance_of::<PyFloat>() {
            return Ok(Self::Real(object.extract()?));
        }
        if object.is_exact_instance_of::<PyBool>() {
            return Ok(Self::Bool(object.extract()?));
        }
        if object.is_exact_instance_of::<PyInt>() {
            return match (object.extract(), object.extract()) {
                (Ok(value), _) => Ok(Self::Integer(value)),
                (_, Ok(value)) => Ok(Self::Unsigned(value)),
                _ => Err(PyOverflowError::new_err("an integer has more than 64 bits: write a float")),
            };
        }
        if let Ok(number) = object.cast_exact::<PyComplex>() {
            use pyo3::types::PyComplexMethods;
            return Ok(Self::Complex(c64::new(number.real(), number.imag())));
        }
        dense(object, None, None).map(Self::Tensor)
    }

    /// As a parameter of such elements takes it.
    pub(crate) fn fitted(self, element: Option<ElementType>) -> Self {
        match self {
            Self::Unsigned(value) if element != Some(ElementType::U64) => Self::Real(value as f64),
            Self::Complex(value) if element == Some(ElementType::C32) => {
                Self::Complex32(c32::new(value.re as f32, value.im as f32))
            }
            other => other,
        }
    }

    fn input(&self) -> &dyn Input {
        match self {
            Self::Tensor(tensor) => tensor,
            Self::Bool(number) => number,
            Self::Integer(number) => number,
            Self::Unsigned(number) => number,
            Self::Real(number) => number,
            Self::Complex(number) => number,
            Self::Complex32(number) => number,
        }
    }

    fn bytes(&self) -> usize {
        if let Self::Tensor(tensor) = self { tensor.storage_bytes() } else { 0 }
    }

    /// Where its arrays lie.
    fn places(&self) -> Vec<Range<usize>> {
        let Self::Tensor(tensor) = self else { return Vec::new() };
        let of_levels = tensor.levels().iter().flat_map(|level| [level.positions(), level.coordinates()]).flatten();
        let bytes = of_levels.map(|array| array.as_bytes()).chain([tensor.values().as_bytes()]);
        bytes.map(range).collect()
    }
}

fn range(bytes: &[u8]) -> Range<usize> {
    let first = bytes.as_ptr() as usize;
    first..first + bytes.len()
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// A mode of a tensor, by its name.
type ModeOf = (String, usize);

#[pymethods]
impl Kernel {
    #[new]
    #[pyo3(signature = (text, formats, dimensions, backend = None, deterministic = false))]
    fn new(
        py: Python<'_>,
        text: &str,
        formats: Vec<(String, String)>,
        dimensions: Vec<(String, usize)>,
        backend: Option<&str>,
        deterministic: bool,
    ) -> PyResult<Self> {
        let mut builder = execute::Kernel::builder(text);
        for (tensor, format) in formats {
            builder = builder.format(tensor, format);
        }
        for (index, extent) in dimensions {
            builder = builder.dimension(index, extent);
        }
        if deterministic {
            builder = builder.deterministic();
        }
        builder = match backend_of(backend)? {
            // Machine code and native code may round in different ways.
            None if deterministic => builder,
            None => builder.background(),
            Some(backend) => builder.backend(backend),
        };
        let kernel = threads::run(py, || builder.clone().compile()).map_err(errors::program)?;
        Ok(Self { kernel: Arc::new(kernel), builder })
    }

    /// The results for inputs in order: a tensor for each.
    fn call(&self, py: Python<'_>, inputs: &Bound<'_, PyTuple>) -> PyResult<Vec<Storage>> {
        let arguments = self.arguments(inputs)?;
        let kernel = self.kernel.clone();
        let is_short = self.is_short(&arguments);
        let call = move || {
            let inputs: Vec<&dyn Input> = arguments.iter().map(Argument::input).collect();
            kernel.call(&inputs)
        };
        let outputs = if is_short { threads::run_call(py, call)? } else { threads::run_long(py, call)? };
        let mut outputs = outputs.map_err(errors::program)?;
        self.kernel.results().map(|name| outputs.take(name).map(Storage).map_err(errors::program)).collect()
    }

    /// The results of the last of so many steps, each on the results of the one before that inputs take; how many steps there were, whether the
    /// rule held after the last, and what it saw after each.
    #[pyo3(signature = (inputs, feeds, most, until = None))]
    fn iterate(
        &self,
        py: Python<'_>,
        inputs: &Bound<'_, PyTuple>,
        feeds: Vec<(String, String)>,
        most: usize,
        until: Option<&str>,
    ) -> PyResult<(Vec<Storage>, usize, bool, Vec<f64>)> {
        let until = until.map(str::parse::<Until>).transpose().map_err(errors::value)?;
        let repetition = Repetition { feeds, most, limit: None, until };
        let arguments = self.arguments(inputs)?;
        let kernel = self.kernel.clone();
        let call = move || {
            let inputs: Vec<&dyn Input> = arguments.iter().map(Argument::input).collect();
            kernel.iterate(&inputs, &repetition)
        };
        let found = threads::run_long(py, call)?.map_err(errors::program)?;
        let results = found.outputs.into_iter().map(|(_, tensor)| Storage(tensor)).collect();
        let Repeated { steps, is_met, history, .. } = found.rounds.unwrap_or_default();
        Ok((results, steps, is_met, history))
    }

    /// Writes the results for inputs in order into arrays.
    fn call_into(&self, py: Python<'_>, inputs: &Bound<'_, PyTuple>, outs: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let arguments = self.arguments(inputs)?;
        let mut taken: Vec<Range<usize>> = arguments.iter().flat_map(Argument::places).collect();
        let mut targets = Vec::new();
        for out in &outs {
            let (shape, values) = borrow::values_to_write(out)?;
            let place = range(values.as_bytes());
            if taken.iter().any(|other| overlap(&place, other)) {
                return Err(PyValueError::new_err(
                    "out= shares memory with an input or another result: say another array",
                ));
            }
            taken.push(place);
            let (order, format) = (shape.len(), Format::dense(shape.len()));
            if order == 0 {
                return Err(PyTypeError::new_err("out= takes no array of order 0: a number is returned"));
            }
            targets.push(
                AnyTensor::from_parts(shape, format, vec![LevelArrays::NONE; order], values).map_err(errors::value)?,
            );
        }
        let lent: Vec<Range<usize>> = targets.iter().map(|target| range(target.values().as_bytes())).collect();
        let kernel = self.kernel.clone();
        let is_short = self.is_short(&arguments);
        let call = move || {
            let inputs: Vec<&dyn Input> = arguments.iter().map(Argument::input).collect();
            let results: Vec<&mut dyn Value> = targets.iter_mut().map(|target| target as &mut dyn Value).collect();
            kernel.call_into(&inputs, results).map(|()| targets)
        };
        let made = if is_short { threads::run_call(py, call)? } else { threads::run_long_into(py, call)? };
        let targets = made.map_err(errors::program)?;
        // A kernel that sorts or converts its result in the end has made an array of its own.
        for ((out, target), place) in outs.iter().zip(&targets).zip(lent) {
            let bytes = target.values().as_bytes();
            if range(bytes) != place {
                let (_, mut values) = borrow::values_to_write(out)?;
                copy(target, &mut values);
            }
        }
        Ok(())
    }

    /// The names of the inputs, in order.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.kernel.inputs().map(str::to_owned).collect()
    }

    /// Of each input and result the name, the element type, the format and the order.
    #[getter]
    fn declared(&self) -> Vec<(String, &'static str, String, usize)> {
        let compiled = self.kernel.compiled();
        let told = |tensor: &spc_compiler::ir::Tensor| {
            let format = tensor.delivered.as_ref().unwrap_or(&tensor.format);
            (tensor.name.clone(), tensor.element.name(), format.to_string(), format.order)
        };
        // Results are tensors of the kernels that make them.
        let of_kernels = || compiled.kernels.iter().flat_map(|compiled| &compiled.kernel.tensors);
        let tensors = || compiled.declarations.tensors.iter().chain(of_kernels());
        let named = |name: &str| tensors().find(|tensor| tensor.name == name);
        self.kernel.inputs().chain(self.kernel.results()).filter_map(named).map(told).collect()
    }

    /// Of each input that is an array of indices the name, how many modes that array has, and the modes of other inputs that its elements are
    /// indices of.
    #[getter]
    fn maps(&self) -> Vec<(String, usize, Vec<ModeOf>)> {
        let tensors = &self.kernel.compiled().declarations.tensors;
        let inputs = || tensors.iter().filter(|tensor| tensor.source == spc_compiler::ir::Source::Input);
        let map = |map: &spc_compiler::ir::Tensor| {
            let into = map.dimensions.last();
            let others = inputs().filter(|other| other.name != map.name);
            let modes = others.flat_map(|other| {
                let modes = other.dimensions.iter().enumerate().filter(move |(_, mode)| Some(*mode) == into);
                modes.map(|(mode, _)| (other.name.clone(), mode))
            });
            (map.name.clone(), map.format.order - 1, modes.collect())
        };
        inputs().filter(|tensor| tensor.format.is_map()).map(map).collect()
    }

    /// The names of the results, in order.
    #[getter]
    fn results(&self) -> Vec<String> {
        self.kernel.results().map(str::to_owned).collect()
    }

    /// What runs it: `native`, `jit` or `interpreter`.
    #[getter]
    fn backend(&self) -> &'static str {
        self.kernel.backend().name()
    }

    /// Why it is interpreted, if it is though nobody asked for that.
    #[getter]
    fn fallback(&self) -> Option<String> {
        self.kernel.fallback().map(ToString::to_string)
    }

    /// In which of the ways it runs: `cached`, `rustc`, `catalogue`, `jit` or `interpreter`.
    #[getter]
    fn tier(&self) -> &'static str {
        self.kernel.tier().name()
    }

    /// Why in that one.
    #[getter]
    fn tier_reason(&self) -> String {
        self.kernel.tier_reason()
    }

    /// Waits for the Rust compiler where it is at work in the background.
    fn settle(&self, py: Python<'_>) {
        py.detach(|| self.kernel.settle());
    }

    /// Whether its native code had been compiled before.
    #[getter]
    #[allow(clippy::wrong_self_convention, reason = "it is what Python calls it")]
    fn from_cache(&self) -> bool {
        self.kernel.from_cache()
    }

    /// How many seconds it took to compile.
    #[getter]
    fn compile_seconds(&self) -> f64 {
        self.kernel.compile_time().as_secs_f64()
    }

    /// The loops as Rust or as CUDA C.
    fn code(&self, py: Python<'_>, language: &str) -> PyResult<String> {
        match language {
            "rust" => Ok(py.detach(|| self.kernel.text())),
            "cuda" => py.detach(|| for_gpu(self.builder.clone())),
            other => Err(PyValueError::new_err(format!("code({other:?}): say 'rust' or 'cuda'"))),
        }
    }

    /// The loops before they are lowered, and what was decided and why.
    fn explain(&self) -> String {
        let mut text = String::new();
        for compiled in &self.kernel.compiled().kernels {
            for line in &compiled.concrete.summary {
                _ = writeln!(text, "{line}");
            }
            _ = writeln!(text, "\n{}", compiled.concrete);
            let told = compiled.concrete.decisions.iter().filter(|remark: &&remark::Remark| remark.what.is_told());
            for decision in told.map(Decision::from).chain(pass::decisions(&compiled.kernel)) {
                _ = writeln!(text, "* {}\n      {}", decision.what, decision.why);
            }
        }
        text
    }

    /// What is probably not meant in the text.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.kernel.warnings().iter().map(|warning| format!("{}: {}", warning.code, warning.message)).collect()
    }
}

impl Kernel {
    /// Whether a call is run by the thread that calls.
    fn is_short(&self, arguments: &[Argument]) -> bool {
        let bytes = arguments.iter().map(Argument::bytes).sum::<usize>();
        self.kernel.backend() != Backend::Interpreter && bytes < SHORT
    }

    /// The inputs, each as its parameter takes it.
    fn arguments(&self, inputs: &Bound<'_, PyTuple>) -> PyResult<Vec<Argument>> {
        let declared = &self.kernel.compiled().declarations.tensors;
        let argument = |(place, input): (usize, Bound<'_, PyAny>)| {
            Ok(Argument::of(&input)?.fitted(declared.get(place).map(|tensor| tensor.element)))
        };
        inputs.iter().enumerate().map(argument).collect()
    }
}

fn copy(from: &AnyTensor, into: &mut spc::tensor::Values) {
    spc::with_element!(from.element(), |T| {
        if let (Some(from), Some(into)) = (from.values_of::<T>(), into.as_mut_slice::<T>()) {
            into.copy_from_slice(from);
        }
    });
}

/// The text of a kernel for a GPU, which need not be there.
fn for_gpu(builder: KernelBuilder) -> PyResult<String> {
    let text = Mutex::new(Ok(String::new()));
    let link = |program: &spc_compiler::Program| {
        let modules: Result<Vec<_>, _> = program
            .kernels
            .iter()
            .map(|compiled| cuda::module(&compiled.kernel, None, cuda::Options::default()))
            .collect();
        let texts = modules.map(|modules| modules.iter().map(cuda::text).collect::<Vec<_>>().join("\n"));
        *text.lock().unwrap_or_else(PoisonError::into_inner) =
            texts.map_err(|refusal| format!("{}: {}", refusal.what, refusal.help));
        let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone());
        Ok(Chain::of_links(program, kernels.map(Executable::interpreted).collect()))
    };
    builder.compile_on(&link).map_err(errors::program)?;
    text.into_inner().unwrap_or_else(PoisonError::into_inner).map_err(errors::value)
}
