//! A kernel in every engine that the machine has, on inputs of several shapes, against the oracle.

use crate::case::Case;
use crate::compare::Difference;
use crate::data::Random;
use crate::engine::{Ready, Stop};
use crate::oracle::Extents;
use spc::execute::{Backend, Chain, Error};
use spc::parallel::with_threads;
#[cfg(feature = "cuda")]
use spc_compiler::concrete::Target;
use spc_compiler::notation::{Kernel, Role};
use spc_compiler::schedule::Options;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What runs a kernel, or compiles it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The interpreter of the loop IR, which cuts and orders parallel loops at random.
    Interpreter,
    /// Native code, on one thread and on three.
    Native,
    /// The first GPU.
    Cuda,
    /// NVIDIA's run-time compiler, which runs nothing.
    Nvrtc,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 4] = [Engine::Interpreter, Engine::Native, Engine::Cuda, Engine::Nvrtc];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Interpreter => "interpreter",
            Engine::Native => "native",
            Engine::Cuda => "cuda",
            Engine::Nvrtc => "nvrtc",
        }
    }
}

/// What is tried of a kernel.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The kernel, and what its header or the caller says of its inputs.
    pub case: Case,
    /// How many shapes, where they are not said.
    pub shapes: usize,
    /// What runs it.
    pub engines: Vec<Engine>,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The inputs that were tried, by the extents of index variables and the seed.
    pub inputs: Vec<Inputs>,
    /// Inputs that there could not be, with the reason.
    pub without: Vec<(Inputs, String)>,
    /// What each engine did.
    pub engines: Vec<Tried>,
    /// What was wrong.
    pub faults: Vec<Fault>,
}

/// What inputs are made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// The extents of index variables.
    pub dims: Vec<(String, usize)>,
    /// What random data start from.
    pub seed: u64,
}

/// What an engine did.
#[derive(Debug, Clone)]
pub struct Tried {
    /// Which.
    pub engine: Engine,
    /// On how many inputs.
    pub inputs: usize,
    /// With how many of them something was wrong.
    pub wrong: usize,
    /// Why it is not on this machine.
    pub missing: Option<String>,
}

/// What was wrong with an engine on some inputs.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The engine.
    pub engine: Engine,
    /// The inputs.
    pub inputs: Inputs,
    /// The first thing, in words.
    pub message: String,
    /// Elements that differ from the oracle's, each with its tensor.
    pub differences: Vec<(String, Difference)>,
}

/// Why an engine gives no answer.
enum Failure {
    Missing(String),
    Wrong(String, Vec<(String, Difference)>),
}

/// The most combinations of indices that the oracle visits.
const POINTS: f64 = 30_000.0;

impl Trial {
    /// Tries the kernel.
    ///
    /// # Errors
    /// The compiler refuses the kernel, or no inputs fit it.
    pub fn run(&self, kernel: &Kernel) -> Result<Report, Stop> {
        let mut report = Report::default();
        report.engines.extend(self.engines.iter().map(|&engine| Tried { engine, inputs: 0, wrong: 0, missing: None }));
        for number in 0..self.shapes {
            let mut case = self.case.clone();
            case.seed = self.case.seed + number as u64;
            let is_said = match self.dims(kernel, number) {
                Ok(chosen) => {
                    case.dims.extend(chosen.iter().cloned());
                    chosen.is_empty()
                }
                Err(reason) => {
                    report.without.push((Inputs { dims: case.dims, seed: case.seed }, reason));
                    continue;
                }
            };
            let inputs = Inputs { dims: case.dims.clone(), seed: case.seed };
            match quietly(|| Ready::of(&case, kernel.clone(), Options::default(), &[])) {
                Ok(Ok(ready)) => self.try_engines(&case, &ready, inputs, &mut report),
                Ok(Err(Stop::Data(reason))) | Err(reason) => report.without.push((inputs, reason)),
                Ok(Err(refused)) => return Err(refused),
            }
            // The same again would say no more.
            if is_said && self.is_given(kernel) {
                break;
            }
        }
        match (&report.inputs[..], report.without.first()) {
            ([], Some((_, reason))) => Err(Stop::Data(format!("no inputs fit: {reason}"))),
            _ => Ok(report),
        }
    }

    /// Whether no input is random.
    fn is_given(&self, kernel: &Kernel) -> bool {
        let mut inputs = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input);
        inputs.all(|tensor| self.case.data.contains_key(&tensor.name))
    }

    /// Extents that nothing says: ordinary ones first, then of one, of few and of more.
    fn dims(&self, kernel: &Kernel, number: usize) -> Result<Vec<(String, usize)>, String> {
        let count = kernel.variables.iter().filter(|variable| variable.value.is_none()).count().max(1);
        let most = POINTS.powf(1.0 / count as f64).floor().min(12.0) as usize;
        let mut random = Random::new(self.case.seed.wrapping_mul(1000).wrapping_add(number as u64));
        let mut size = || match number % 4 {
            0 => 2 + random.below(4.min(most)),
            1 => 1,
            2 => random.below(4),
            _ => 1 + random.below(most),
        };
        let with = |chosen: &[(String, usize)]| {
            let mut case = Case { dims: self.case.dims.clone(), ..Case::default() };
            case.dims.extend(chosen.iter().cloned());
            case.extents(&kernel.variables)
        };
        Extents::complete(kernel, &with, &mut size)
    }

    fn try_engines(&self, case: &Case, ready: &Ready, inputs: Inputs, report: &mut Report) {
        for tried in &mut report.engines {
            // Its text is the same for all inputs.
            if tried.missing.is_some() || tried.engine == Engine::Nvrtc && tried.inputs > 0 {
                continue;
            }
            let outcome = match tried.engine {
                Engine::Interpreter => interpreter(ready),
                Engine::Native => native(ready),
                Engine::Cuda => cuda(case, ready),
                Engine::Nvrtc => nvrtc(case, ready),
            };
            match outcome {
                Ok(()) => tried.inputs += 1,
                Err(Failure::Missing(reason)) => tried.missing = Some(reason),
                Err(Failure::Wrong(message, differences)) => {
                    tried.inputs += 1;
                    tried.wrong += 1;
                    let inputs = inputs.clone();
                    report.faults.push(Fault { engine: tried.engine, inputs, message, differences });
                }
            }
        }
        report.inputs.push(inputs);
    }
}

fn answer(ready: &Ready, chain: &Chain) -> Result<(), Failure> {
    let results = ready.results(chain).map_err(|error| Failure::Wrong(error, Vec::new()))?;
    ready.check(&results).map_err(|message| Failure::Wrong(message, ready.differences(&results)))
}

fn interpreter(ready: &Ready) -> Result<(), Failure> {
    let chain = ready.interpreter().map_err(|error| Failure::Wrong(error, Vec::new()))?;
    (1..=3).try_for_each(|seed| answer(ready, &chain.clone().with_seed(seed)))
}

fn native(ready: &Ready) -> Result<(), Failure> {
    let chain = match Chain::new(&ready.program, Backend::Native) {
        Err(Error::Native(error)) if error.is_missing_compiler() => return Err(Failure::Missing(error.to_string())),
        other => other.map_err(|error| Failure::Wrong(error.to_string(), Vec::new()))?,
    };
    [1, 3].into_iter().try_for_each(|threads| {
        let answer = with_threads(threads, || answer(ready, &chain));
        answer.map_err(|error| Failure::Wrong(error.to_string(), Vec::new()))?
    })
}

/// The case for a GPU.
#[cfg(feature = "cuda")]
fn for_gpu(case: &Case, ready: &Ready) -> Result<Ready, Failure> {
    let options = Options { target: Target::Gpu, ..Options::default() };
    Ready::of(case, ready.notation.clone(), options, &[])
        .map_err(|stop| Failure::Wrong(format!("{stop:?}"), Vec::new()))
}

#[cfg(feature = "cuda")]
fn cuda(case: &Case, ready: &Ready) -> Result<(), Failure> {
    let gpu = spc::cuda::Gpu::open(0).map_err(|error| Failure::Missing(error.to_string()))?;
    let ready = for_gpu(case, ready)?;
    let chain = Chain::on_gpu(&ready.program, &gpu).map_err(|error| Failure::Wrong(error.to_string(), Vec::new()))?;
    answer(&ready, &chain)
}

#[cfg(feature = "cuda")]
fn nvrtc(case: &Case, ready: &Ready) -> Result<(), Failure> {
    use spc_compiler::backend::cuda;
    let nvrtc = spc::cuda::Nvrtc::find().map_err(|error| Failure::Missing(error.to_string()))?;
    for compiled in &for_gpu(case, ready)?.program.kernels {
        let wrong = |message: String| Failure::Wrong(message, Vec::new());
        let module = cuda::module(&compiled.kernel, None, cuda::Options::default())
            .map_err(|refusal| wrong(refusal.what.to_string()))?;
        nvrtc.compile(&cuda::text(&module), "kernel.cu", "sm_80").map_err(|error| wrong(error.to_string()))?;
    }
    Ok(())
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: &Case, _: &Ready) -> Result<(), Failure> {
    Err(Failure::Missing("it was built without CUDA".to_owned()))
}

#[cfg(not(feature = "cuda"))]
fn nvrtc(case: &Case, ready: &Ready) -> Result<(), Failure> {
    cuda(case, ready)
}

/// What a panic says, as an error: the oracle has no answer where whole numbers are divided by zero.
fn quietly<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = catch_unwind(AssertUnwindSafe(body));
    std::panic::set_hook(hook);
    result.map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("the oracle has no answer").to_owned()
    })
}
