//! `spc compile`: a kernel at any stage.

use crate::arguments::{KernelArguments, dimension};
use crate::failure::{Failure, note};
use crate::planning::PlanArguments;
use crate::source::Source;
use crate::standalone::{self, Form, for_device};
use crate::{names, output, settings};
use clap::{Args, ValueEnum};
use serde_json::json;
use spc::cuda::{self, Nvrtc, NvrtcError};
use spc::execute::standalone::LibraryKind;
use spc_compiler::ir::Size;
use spc_compiler::schedule;
use spc_compiler::{Compiled, backend, concrete, notation};
use std::path::PathBuf;

/// Compile kernels and print them
///
/// A kernel passes several stages on its way to code; `--emit` prints what one of them gives.
#[derive(Debug, Args)]
pub(crate) struct Compile {
    #[command(flatten)]
    kernel: KernelArguments,
    /// What to compile for
    #[arg(long, value_enum, default_value_t = Target::Rust)]
    target: Target,
    /// The stage to print; the target's code if not given
    #[arg(long, value_enum, value_name = "STAGE")]
    emit: Option<Stage>,
    /// The architecture to compile for, with `--target cuda`
    #[arg(long, value_name = "sm_90")]
    arch: Option<String>,
    /// Combine floating point numbers in an order that only the inputs determine: the same bits in every run, on any
    /// number of threads
    #[arg(long)]
    deterministic: bool,
    /// Print what each function takes of the device: registers, and whether any were spilled
    #[arg(long, conflicts_with_all = ["emit", "output"])]
    report: bool,
    /// Compile for this extent of an index alone: `r=16`
    #[arg(long = "dim", value_name = "INDEX=EXTENT", value_parser = dimension)]
    dimensions: Vec<(String, usize)>,
    #[command(flatten)]
    plan: PlanArguments,
    /// Only check, and print nothing
    #[arg(long, conflicts_with_all = ["emit", "output"])]
    check: bool,
    /// Write to a file; `-` for the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// Rust, parallel with rayon
    Rust,
    /// CUDA C
    Cuda,
}

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// The text as it was parsed
    Syntax,
    /// Checked index notation: names resolved, sums explicit
    Notation,
    /// Every decision as a directive, with its reason: a `schedule` block that asks for the same loops
    Schedule,
    /// Loops in order, and how each one runs
    Concrete,
    /// The merge lattice of each loop over stored levels
    Lattice,
    /// The loop IR
    Ir,
    /// Rust
    Rust,
    /// C11 with OpenMP, which needs no run time; with `-o k.c` also its header `k.h`
    C,
    /// A static library of the C code by the machine's C compiler, and its header; with `-o libk.a`
    Staticlib,
    /// The same as a shared library; with `-o libk.so`
    Cdylib,
    /// A crate of the Rust code, which builds with rayon alone; with `-o FOLDER`
    Crate,
    /// CUDA C
    Cuda,
    /// CUDA C++ for nvcc: the functions, and the host's code that launches them; with `-o k.cu` also its header `k.h`
    Cu,
    /// What the host does to run CUDA C: memory, launches, scans
    Plan,
    /// The code that NVRTC makes of the CUDA C
    Ptx,
}

impl Compile {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let stage = self.emit.unwrap_or(match self.target {
            Target::Rust => Stage::Rust,
            Target::Cuda => Stage::Cuda,
        });
        let is_for_gpu =
            self.target == Target::Cuda || matches!(stage, Stage::Cuda | Stage::Cu | Stage::Plan | Stage::Ptx);
        if !is_for_gpu && (self.arch.is_some() || self.report) {
            let message = "`--arch` and `--report` are for `--target cuda`";
            return Err(Failure::usage(message));
        }
        let target = if is_for_gpu { concrete::Target::Gpu } else { concrete::Target::Cpu };
        let source = Source::load(&self.kernel)?;
        let is_of_functions = matches!(
            stage,
            Stage::Rust | Stage::C | Stage::Staticlib | Stage::Cdylib | Stage::Crate | Stage::Cuda | Stage::Cu
        );
        if let Some(kernel) = source.kernels.iter().find(|kernel| is_of_functions && kernel.repeat.is_some()) {
            let name = &kernel.name;
            note(format!(
                "`{name}` is a function for each statement: the loop around those of its `repeat` is the caller's"
            ));
        }
        if matches!(stage, Stage::C | Stage::Cu | Stage::Staticlib | Stage::Cdylib | Stage::Crate) {
            return self.standalone(stage, target, &source);
        }
        let mut texts = Vec::new();
        if stage == Stage::Syntax {
            texts.push(source.syntax.clone());
        } else {
            for kernel in &source.kernels {
                texts.push(self.stage(stage, target, kernel, &source)?);
            }
        }
        let text = texts.join("\n");
        let kernels: Vec<&str> = source.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let document = |text: &str| {
            let stage = stage.to_possible_value().map(|stage| stage.get_name().to_owned());
            output::print_json(json!({
                "kernels": kernels, "stage": stage, "text": text, "warnings": source.warnings_as_json(),
            }))
        };
        match &self.output {
            _ if self.check && settings::json() => document(""),
            _ if self.check => Ok(()),
            Some(path) if path.as_os_str() != "-" => Ok(spc::io::write_text(path, &text)?),
            _ if settings::json() => document(&text),
            _ => output::print(&text),
        }
    }

    fn stage(
        &self,
        stage: Stage,
        target: concrete::Target,
        kernel: &notation::Kernel,
        source: &Source,
    ) -> Result<String, Failure> {
        spc::execute::with_stack_for(kernel, || self.stage_here(stage, target, kernel, source))
    }

    fn stage_here(
        &self,
        stage: Stage,
        target: concrete::Target,
        kernel: &notation::Kernel,
        source: &Source,
    ) -> Result<String, Failure> {
        if stage == Stage::Notation {
            return Ok(format!("{kernel}\n"));
        }
        let planned = self.plan.by_text(kernel, &self.dimensions);
        let whole = planned.as_ref().map_or(kernel, |(planned, _)| &planned.kernel);
        let program = self.scheduled(whole, target, source)?;
        let compile = |program| spc_compiler::compile(program).map_err(|problems| source.refuse(problems));
        let texts: Vec<String> = match stage {
            // The directives are for the statements of the plan.
            Stage::Schedule if planned.is_some() => {
                let record = schedule::text(&compile(program)?.record());
                vec![format!("{whole} {record}")]
            }
            Stage::Schedule => vec![schedule::text(&compile(program)?.record())],
            Stage::Concrete => program.kernels.iter().map(concrete::Kernel::to_string).collect(),
            Stage::C => {
                vec![backend::c::unit(compile(program)?.kernels.iter().map(|compiled| &compiled.kernel)).source]
            }
            _ => {
                let text = |compiled: &Compiled| match stage {
                    Stage::Lattice => Ok(compiled.lattices.join("\n")),
                    Stage::Ir => Ok(compiled.kernel.to_string()),
                    Stage::Cuda if self.report => Ok(report(&self.by_nvrtc(compiled)?)),
                    Stage::Cuda if self.arch.is_some() => {
                        self.by_nvrtc(compiled)?;
                        Ok(backend::cuda::text(&self.for_device(compiled)?))
                    }
                    Stage::Cuda => Ok(backend::cuda::text(&self.for_device(compiled)?)),
                    Stage::Ptx => Ok(self.by_nvrtc(compiled)?.ptx),
                    Stage::Plan => Ok(backend::cuda::plan_text(&self.for_device(compiled)?)),
                    _ => Ok(backend::rust::text(&compiled.kernel)),
                };
                compile(program)?.kernels.iter().map(text).collect::<Result<_, Failure>>()?
            }
        };
        Ok(texts.join("\n"))
    }
}

impl Compile {
    /// The loops of a kernel, with the extents that were given.
    fn scheduled(
        &self,
        kernel: &notation::Kernel,
        target: concrete::Target,
        source: &Source,
    ) -> Result<schedule::Program, Failure> {
        let options = schedule::Options { target, deterministic: self.deterministic, ..schedule::Options::default() };
        let mut program = schedule::schedule(kernel, options).map_err(|problems| source.refuse(problems))?;
        for (name, extent) in &self.dimensions {
            fix_extent(&mut program, name, *extent)?;
        }
        Ok(program)
    }

    /// All kernels as files that stand for themselves.
    fn standalone(&self, stage: Stage, target: concrete::Target, source: &Source) -> Result<(), Failure> {
        let mut all: Vec<Compiled> = Vec::new();
        for kernel in &source.kernels {
            let compiled = spc::execute::with_stack_for(kernel, || {
                let planned = self.plan.by_text(kernel, &self.dimensions);
                let whole = planned.as_ref().map_or(kernel, |(planned, _)| &planned.kernel);
                let program = self.scheduled(whole, target, source)?;
                spc_compiler::compile(program).map_err(|problems| source.refuse(problems))
            })?;
            all.extend(compiled.kernels);
        }
        let path = self.output.as_deref().filter(|path| path.as_os_str() != "-");
        let form = match stage {
            Stage::Staticlib => Form::Library(LibraryKind::Static),
            Stage::Cdylib => Form::Library(LibraryKind::Shared),
            Stage::Crate => Form::Crate,
            Stage::Cu => Form::Cuda(self.device_options()),
            _ => Form::Source,
        };
        let kernels: Vec<&str> = source.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let files = if self.check { Vec::new() } else { standalone::write(form, &all, path)? };
        if settings::json() {
            let stage = stage.to_possible_value().map(|stage| stage.get_name().to_owned());
            return output::print_json(json!({
                "kernels": kernels, "stage": stage, "files": files, "warnings": source.warnings_as_json(),
            }));
        }
        Ok(())
    }

    fn for_device(&self, compiled: &Compiled) -> Result<backend::cuda::Module, Failure> {
        for_device(compiled, None, self.device_options())
    }

    fn device_options(&self) -> backend::cuda::Options {
        backend::cuda::Options { deterministic: self.deterministic, ..backend::cuda::Options::default() }
    }

    /// A kernel for the architecture that was asked for.
    fn by_nvrtc(&self, compiled: &Compiled) -> Result<cuda::Compiled, Failure> {
        let text = backend::cuda::text(&self.for_device(compiled)?);
        let architecture = self.arch.as_deref().unwrap_or(ARCHITECTURE);
        let name = format!("{}.cu", compiled.kernel.name);
        let result = Nvrtc::find().and_then(|nvrtc| nvrtc.compile(&text, &name, architecture));
        result.map_err(|error| match error {
            NvrtcError::Missing { .. } => Failure::refused(&error).help(NvrtcError::REMEDIES),
            error => Failure::refused(&error),
        })
    }
}

/// What is compiled for where nothing is asked for.
const ARCHITECTURE: &str = "sm_90";

/// What functions take, one a line.
fn report(compiled: &cuda::Compiled) -> String {
    let head = ["function", "registers", "stack", "spill stores", "spill loads", "shared"].map(str::to_owned);
    let rows = compiled.usage.iter().map(|usage| {
        let numbers = [usage.registers, usage.stack, usage.spill_stores, usage.spill_loads, usage.shared];
        std::iter::once(usage.function.clone()).chain(numbers.map(|number| number.to_string())).collect()
    });
    let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(rows).collect();
    output::table(&rows, 2)
}

/// Makes an extent part of the kernels of a program.
fn fix_extent(program: &mut schedule::Program, name: &str, extent: usize) -> Result<(), Failure> {
    let places = program.interface.extents_called(name).map_err(|known| {
        let message = format!("kernel `{}` has no index `{name}`", program.interface.name);
        names::unknown(message, name, known.iter().map(|known| &**known), "its indices are")
    })?;
    for place in places {
        program.set_size(place, Size::Constant(extent as u64));
    }
    Ok(())
}
