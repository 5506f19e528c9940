//! A kernel, ready to run.

use super::background::{Background, ChangingKernel, First};
use super::call::Call;
use super::device::DeviceKernel;
use super::error::Error;
use super::interpreted;
use super::interpreter::Options;
use super::jit::JitKernel;
use super::native::{NativeBuild, NativeError, NativeKernel};
use super::stack::with_stack;
use super::tier::Tier;
use super::unsupported::Unsupported;
use crate::parallel::{question, watched};
use spc_compiler::backend::cuda::Module;
use spc_compiler::ir::{Kernel, Verified};
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// What runs a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// Native code, compiled at run time.
    #[default]
    Native,
    /// Machine code that is made without a Rust compiler (feature `jit`).
    Jit,
    /// The interpreter of the loop IR.
    Interpreter,
    /// A device, by what the CUDA backend makes of a kernel.
    Cuda,
}

impl Backend {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Native => "native",
            Backend::Jit => "jit",
            Backend::Interpreter => "interpreter",
            Backend::Cuda => "cuda",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A kernel with what runs it.
///
/// ```
/// use spc::execute::{Backend, Call, Executable};
/// use spc::tensor::{AnyTensor, LevelArrays, Values};
/// use spc_compiler::{format::Format, ir};
///
/// let text = "kernel double {
///   dimension d0 i runtime
///   tensor t0 x f64 [dense] (d0) input
///   tensor t1 y f64 [dense] (d0) output dense zero
///   array a0 x_vals f64 values t0
///   array a1 y_vals f64 values t1
///   variable v0 i index
///   body { for v0 in 0..d0 { a1[v0] = 2.0f64 * a0[v0] } }
/// }";
/// let double = Executable::new(ir::verify(ir::parse(text, spc_compiler::level::named)?).unwrap(), None, Backend::Interpreter)?;
/// let x = AnyTensor::from_parts(vec![2], Format::dense(1), vec![LevelArrays::NONE], vec![1.0, 2.0].into())?;
/// let mut call = Call::new(double.kernel(), &[&x])?;
/// double.run(&mut call)?;
/// assert_eq!(call.finish()?[0].values(), &Values::from(vec![2.0, 4.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Executable {
    kernel: Verified<Kernel>,
    runner: Runner,
    /// How the interpreter runs.
    options: Options,
}

/// What runs a kernel.
#[derive(Debug, Clone)]
enum Runner {
    Native(NativeKernel),
    Jit(JitKernel),
    Changing(ChangingKernel),
    Interpreter,
    Device(DeviceKernel),
}

impl Executable {
    fn of(kernel: Verified<Kernel>, runner: Runner) -> Self {
        Self { kernel, runner, options: Options::default() }
    }

    /// A kernel that `backend` will run. `text` is its Rust text, which native code is compiled from
    /// ([`NativeKernel::compile`] says what it is).
    ///
    /// # Errors
    /// When the kernel can't be compiled, or there is no text to compile.
    pub fn new(kernel: Verified<Kernel>, text: Option<&str>, backend: Backend) -> Result<Self, Error> {
        let runner = match (backend, text) {
            (Backend::Interpreter, _) => Runner::Interpreter,
            (Backend::Jit, _) => return Ok(Self::jit(kernel)?),
            (Backend::Native, Some(text)) => Runner::Native(NativeKernel::compile(text, &kernel)?),
            #[cfg(feature = "cuda")]
            (Backend::Cuda, _) => {
                let device = crate::cuda::Gpu::open(0)?.kernel(&kernel)?;
                return Ok(Self::on_device(kernel, device));
            }
            #[cfg(not(feature = "cuda"))]
            (Backend::Cuda, _) => return Err(Error::NoCuda { kernel: kernel.name.clone() }),
            (Backend::Native, None) => return Err(Error::NoText { kernel: kernel.name.clone() }),
        };
        Ok(Self::of(kernel, runner))
    }

    /// A kernel that runs as the native code that was compiled from it.
    pub fn of_native(kernel: Verified<Kernel>, native: NativeKernel) -> Self {
        Self::of(kernel, Runner::Native(native))
    }

    /// A kernel that runs as machine code that is made without a Rust compiler.
    ///
    /// # Errors
    /// When none can be made of it, or this crate was built without the feature `jit`.
    pub fn jit(kernel: Verified<Kernel>) -> Result<Self, Unsupported> {
        let jit = JitKernel::compile(&kernel)?;
        Ok(Self::of(kernel, Runner::Jit(jit)))
    }

    /// Kernels that run without the Rust compiler until it has made native code of their texts, in the background: as machine code or else,
    /// where that is said, in the interpreter. Nothing where that is not said and no machine code is made of one of them, or the system has no
    /// thread.
    pub(super) fn changing_all(kernels: Vec<(Verified<Kernel>, String)>, where_interpreted: bool) -> Option<Vec<Self>> {
        let own: Vec<Verified<Kernel>> = kernels.iter().map(|(kernel, _)| kernel.clone()).collect();
        let firsts = own.iter().map(|kernel| First::of(kernel, where_interpreted)).collect::<Option<Vec<_>>>()?;
        let background = Background::begin(kernels)?;
        let changing = |(place, (kernel, first))| {
            Self::of(kernel, Runner::Changing(ChangingKernel::new(first, place, &background)))
        };
        Some(own.into_iter().zip(firsts).enumerate().map(changing).collect())
    }

    /// What changes while it runs.
    pub(super) fn changing(&self) -> Option<&ChangingKernel> {
        match &self.runner {
            Runner::Changing(changing) => Some(changing),
            _ => None,
        }
    }

    /// A kernel that runs without a Rust compiler, for which this is the reason: as code of the catalogue, as machine code or, where none can be made, in the
    /// interpreter, then with both reasons.
    pub(super) fn without_compiler(kernel: Verified<Kernel>, reason: NativeError) -> (Self, NativeError) {
        if let Some(native) = NativeKernel::of_catalogue(&kernel, &reason) {
            return (Self::of_native(kernel, native), reason);
        }
        match JitKernel::compile(&kernel) {
            Ok(jit) => (Self::of(kernel, Runner::Jit(jit)), reason),
            Err(unsupported) => (Self::interpreted(kernel), reason.and(unsupported)),
        }
    }

    /// A kernel that runs natively or, on a machine without a Rust compiler, as machine code of the JIT or in the interpreter: then
    /// with the reason, which the user should be told.
    ///
    /// # Errors
    /// When there is a compiler, and it can't compile the kernel.
    pub fn native_if_possible(
        kernel: Verified<Kernel>,
        text: &str,
    ) -> Result<(Self, Option<NativeError>), NativeError> {
        match NativeKernel::compile(text, &kernel) {
            Ok(native) => Ok((Self::of_native(kernel, native), None)),
            Err(error) if error.is_missing_compiler() => {
                let (executable, reason) = Self::without_compiler(kernel, error);
                Ok((executable, Some(reason)))
            }
            Err(error) => Err(error),
        }
    }

    /// Kernels that run as native code from one library, each with the text that it is compiled from.
    ///
    /// # Errors
    /// When they can't be compiled.
    pub fn native_all(kernels: Vec<(Verified<Kernel>, &str)>) -> Result<Vec<Self>, NativeError> {
        Self::native_all_as(NativeBuild::default(), kernels)
    }

    /// The same, compiled otherwise.
    ///
    /// # Errors
    /// When they can't be compiled.
    #[doc(hidden)]
    pub fn native_all_as(build: NativeBuild, kernels: Vec<(Verified<Kernel>, &str)>) -> Result<Vec<Self>, NativeError> {
        let texts: Vec<(&str, &Kernel)> = kernels.iter().map(|(kernel, text)| (*text, &**kernel)).collect();
        let natives = NativeKernel::compile_all_as(build, &texts)?;
        Ok(kernels.into_iter().zip(natives).map(|((kernel, _), native)| Self::of_native(kernel, native)).collect())
    }

    /// Kernels that the machine's C compiler makes of what the C backend prints: one library.
    ///
    /// # Errors
    /// When there is no C compiler, or it refuses the text.
    pub fn by_c_compiler(kernels: Vec<Verified<Kernel>>) -> Result<Vec<Self>, NativeError> {
        let natives = NativeKernel::compile_c(&kernels.iter().collect::<Vec<_>>())?;
        Ok(kernels.into_iter().zip(natives).map(|(kernel, native)| Self::of_native(kernel, native)).collect())
    }

    /// Kernels from CUDA C++ with the host's code, each with its module for a device: one library. `build` makes it of a source file, and
    /// its device has the host's memory.
    ///
    /// # Errors
    /// What `build` says.
    pub fn by_cuda_compiler(
        kernels: Vec<(Verified<Kernel>, Module)>,
        build: &dyn Fn(&Path, &Path) -> Result<(), NativeError>,
    ) -> Result<Vec<Self>, NativeError> {
        let all: Vec<_> = kernels.iter().map(|(kernel, module)| (kernel, module)).collect();
        let natives = NativeKernel::compile_cuda(&all, build)?;
        Ok(kernels.into_iter().zip(natives).map(|((kernel, _), native)| Self::of_native(kernel, native)).collect())
    }

    /// A kernel that the interpreter runs.
    pub fn interpreted(kernel: Verified<Kernel>) -> Self {
        Self::of(kernel, Runner::Interpreter)
    }

    /// A kernel that runs on a device.
    pub fn on_device(kernel: Verified<Kernel>, device: DeviceKernel) -> Self {
        Self::of(kernel, Runner::Device(device))
    }

    /// The same, where the interpreter cuts parallel loops and orders chunks as this seed says.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// The kernel, for [`Call::new`].
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What runs it.
    pub fn backend(&self) -> Backend {
        match &self.runner {
            Runner::Device(_) => Backend::Cuda,
            Runner::Native(_) => Backend::Native,
            Runner::Jit(_) => Backend::Jit,
            Runner::Changing(changing) => match changing.tier() {
                Tier::Jit => Backend::Jit,
                Tier::Interpreter => Backend::Interpreter,
                _ => Backend::Native,
            },
            Runner::Interpreter => Backend::Interpreter,
        }
    }

    /// In which of the ways to run a kernel.
    pub fn tier(&self) -> Tier {
        match &self.runner {
            Runner::Device(_) => Tier::Device,
            Runner::Native(native) => native.tier(),
            Runner::Jit(_) => Tier::Jit,
            Runner::Changing(changing) => changing.tier(),
            Runner::Interpreter => Tier::Interpreter,
        }
    }

    /// The kernel on a device, where one runs it.
    pub(super) fn device(&self) -> Option<&DeviceKernel> {
        match &self.runner {
            Runner::Device(device) => Some(device),
            _ => None,
        }
    }

    /// The device that runs it, in words; nothing where none does.
    pub(super) fn place(&self) -> String {
        self.device().map_or_else(String::new, |kernel| format!("{:?}", kernel.device()))
    }

    /// The compiled kernel, where it runs natively: it knows how long it took to compile.
    pub fn native(&self) -> Option<&NativeKernel> {
        match &self.runner {
            Runner::Native(native) => Some(native),
            Runner::Changing(changing) => changing.native(),
            _ => None,
        }
    }

    /// Runs a call of [`Executable::kernel`], and says how long the kernel alone took. A call may run more than once.
    ///
    /// # Errors
    /// When the call is of another kernel, or the kernel stops.
    pub fn run(&self, call: &mut Call<'_>) -> Result<Duration, Error> {
        watched(|| match &self.runner {
            // Between the kernels of a program.
            _ if question().is_some_and(|question| question.is_stopped()) => Err(Error::interrupted(&self.kernel)),
            Runner::Device(device) => device.run(call),
            Runner::Native(native) => native.run(call),
            Runner::Jit(jit) => jit.run(call),
            Runner::Changing(changing) => changing.run(&self.kernel, call, &self.options),
            Runner::Interpreter => {
                with_stack(self.kernel.dimensions.len(), || interpreted::run(&self.kernel, call, &self.options))
            }
        })
    }

    /// Runs a call several times, and adds to each time how long the kernel alone took. From a device, results come back once.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub(super) fn run_each(&self, call: &mut Call<'_>, times: &mut [Duration]) -> Result<(), Error> {
        match self.device() {
            Some(device) => device.run_each(call, times),
            None => times.iter_mut().try_for_each(|time| self.run(call).map(|taken| *time += taken)),
        }
    }
}
