//! A program before its kernels are compiled: alone, or together with others.

use super::operand::stored_parts;
use super::{
    AssumedExtent, Operand, Program, again, assumed, by_tensor, combination, combinations, extents, full, lanes,
    pattern, stream, undetermined,
};
use crate::execute::options::{self, ProgramOptions};
use crate::execute::planning;
use crate::execute::stack::with_stack_for;
use crate::execute::tuned::{self, Sizes};
use crate::execute::{Backend, Chain, Copied, Kernel, Prepared, ProgramError, StreamOptions, Streamed};
use crate::io::StoredParts;
use crate::tensor::AnyTensor;
use spc_compiler::concrete::{self, TensorKind};
use spc_compiler::notation;
use spc_compiler::plan::{Facts, Planned};
use spc_compiler::schedule;
use spc_compiler::schedule::Stream;
use spc_compiler::syntax::Schedule;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A [`Program`] whose extents are known and whose inputs are packed, but whose kernels are not compiled.
///
/// To start a compiler takes longer than to compile a small kernel, so many programs are best compiled together:
///
/// ```
/// use spc::execute::{Operand, ProgramOptions, Uncompiled};
/// use spc_compiler::{notation, syntax};
///
/// let text = "fn twice(x: dense) -> y: dense { y(i) = 2.0 * x(i); } fn root(x: dense) -> y: dense { y(i) = sqrt(x(i)); }";
/// let kernels = notation::check(&syntax::parse_program(text).unwrap()).unwrap();
/// let options = ProgramOptions::default();
/// let begin = |kernel| Uncompiled::new(kernel, vec![("x".to_owned(), Operand::Ones)], &[("i".to_owned(), 3)], &options);
/// let programs = kernels.iter().map(begin).collect::<Result<Vec<_>, _>>()?;
/// let results = Uncompiled::compile_all(programs).into_iter().map(|program| program?.run(1));
/// let first = results.map(|outcome| Ok(outcome?.outputs[0].1.values().get_f64(0))).collect::<Result<Vec<_>, spc::execute::ProgramError>>()?;
/// assert_eq!(first, [2.0, 1.0]);
/// # Ok::<(), spc::execute::ProgramError>(())
/// ```
#[derive(Debug)]
pub struct Uncompiled {
    source: notation::Kernel,
    /// What was scheduled.
    whole: notation::Kernel,
    concrete: schedule::Program,
    options: ProgramOptions,
    inputs: Vec<AnyTensor>,
    /// The input that comes in parts, where one does.
    streamed: Option<(Stream, StreamOptions)>,
    /// The same where it is in a file: an empty one stands for it among the inputs.
    stored: Option<Arc<StoredParts>>,
    dimensions: Vec<(String, usize)>,
    assumed: Vec<AssumedExtent>,
    sizes: Sizes,
    /// The extent of each of the kernel's extents.
    extents: Vec<usize>,
    planned: Option<(Planned, Facts)>,
    plan_time: Duration,
    tuned: Option<Schedule>,
    prepared: Vec<Prepared>,
    compare_time: Duration,
    schedule_time: Duration,
}

impl Uncompiled {
    /// Finds out the extents, packs the inputs into the declared formats and schedules the kernel for those extents.
    ///
    /// # Errors
    /// As [`Program::new`], but for those of compiling.
    pub fn new(
        kernel: &notation::Kernel,
        inputs: Vec<(String, Operand)>,
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
    ) -> Result<Self, ProgramError> {
        with_stack_for(kernel, || Self::begin(kernel, inputs, dimensions, options))
    }

    /// The kernel that was scheduled: planned for the inputs, with directives for what is known of them and for what was tuned.
    pub fn kernel(&self) -> &notation::Kernel {
        &self.whole
    }

    /// Its loops, which [`compile`](Self::compile) compiles.
    pub fn scheduled(&self) -> &schedule::Program {
        &self.concrete
    }

    /// The plan that was taken, where another than the text was, and what it was made from.
    pub fn planned(&self) -> Option<(&Planned, &Facts)> {
        self.planned.as_ref().map(|(planned, facts)| (planned, facts))
    }

    /// The hints in the text that are ten times more or less than what the inputs have, a line each.
    pub fn wrong_hints(&self) -> Vec<String> {
        planning::all_wrong_hints(&self.source.tensors, self.named_inputs())
    }

    /// The bytes of its inputs, also of those that other programs share.
    pub fn input_bytes(&self) -> usize {
        self.inputs.iter().flat_map(AnyTensor::arrays).map(<[u8]>::len).sum()
    }

    /// The inputs by name, in the formats that the kernel declares.
    pub(crate) fn named_inputs(&self) -> impl Iterator<Item = (&str, &AnyTensor)> {
        let inputs = self.concrete.interface.tensors.iter().filter(|tensor| tensor.kind == TensorKind::Input);
        inputs.map(|tensor| tensor.name.as_str()).zip(&self.inputs)
    }

    /// The shape of each input and result, by name.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = (String, Vec<usize>)> + '_ {
        let shape = |tensor: &concrete::Tensor| tensor.extents.iter().map(|&extent| self.extents[extent]).collect();
        self.concrete.interface.tensors.iter().map(move |tensor| (tensor.name.clone(), shape(tensor)))
    }

    /// Extents that no input determines, by the names that a caller states them by.
    pub(crate) fn dimensions(&self) -> Vec<(String, usize)> {
        let has_name = |(name, _): &&(String, usize)| self.concrete.interface.extents_called(name).is_ok();
        self.dimensions.iter().filter(has_name).cloned().collect()
    }

    /// Compiles the kernels.
    ///
    /// # Errors
    /// When they can't be compiled.
    pub fn compile(self) -> Result<Program, ProgramError> {
        let source = self.source.clone();
        with_stack_for(&source, || {
            let start = Instant::now();
            let kernel = Kernel::of_concrete(self.concrete.clone(), &self.options, None)?;
            self.complete(kernel, start)
        })
    }

    /// Compiles the kernels of many programs; those that run natively together, see
    /// [`NativeKernel::compile_many`](crate::execute::NativeKernel::compile_many). Each result is that of [`Uncompiled::compile`].
    pub fn compile_all(programs: Vec<Self>) -> Vec<Result<Program, ProgramError>> {
        let lowered: Vec<_> = programs
            .into_iter()
            .map(|program| {
                let start = Instant::now();
                let lower = || spc_compiler::compile(program.concrete.clone()).map_err(ProgramError::Schedule);
                let lowered = with_stack_for(&program.source, lower);
                lowered.map(|lowered| (program, lowered, start.elapsed()))
            })
            .collect();
        let is_native = |program: &Self| matches!(program.options.backend, None | Some(Backend::Native));
        let together = lowered.iter().flatten().filter(|(program, ..)| is_native(program));
        let chains = Chain::native_many(&together.map(|(_, lowered, _)| lowered).collect::<Vec<_>>());
        let mut chains = chains.into_iter();
        let mut complete = |(program, lowered, lower_time): (Self, spc_compiler::Program, Duration)| {
            let start = Instant::now();
            let found = if is_native(&program) { chains.next() } else { None };
            let chain = match (found, program.options.backend) {
                (Some(Err(error)), _) => return Err(crate::execute::Error::from(error).into()),
                (Some(Ok((_, Some(error)))), Some(Backend::Native)) => {
                    return Err(crate::execute::Error::from(error).into());
                }
                (Some(Ok(found)), _) => found,
                (None, backend) => (options::runner(&lowered, backend.unwrap_or_default(), &program.options, 0)?, None),
            };
            let natives = chain.0.links().iter().filter_map(|link| link.native());
            let compile_time = lower_time + natives.map(|native| native.compile_time()).sum::<Duration>();
            let kernel = Kernel::of_chain(lowered, chain, &program.options, compile_time);
            program.complete(kernel, start.checked_sub(compile_time).unwrap_or(start))
        };
        lowered.into_iter().map(|lowered| lowered.and_then(&mut complete)).collect()
    }

    fn begin(
        kernel: &notation::Kernel,
        inputs: Vec<(String, Operand)>,
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
    ) -> Result<Self, ProgramError> {
        let start = Instant::now();
        let schedule_options = options.scheduling();
        let mut concrete = schedule::schedule(kernel, schedule_options).map_err(ProgramError::Schedule)?;
        let schedule_time = start.elapsed();
        let mut operands = by_tensor(&concrete.interface, inputs)?;
        let mut extents = extents::resolve(&concrete.interface, &operands, dimensions)?;
        let for_shapes = for_shapes(kernel, &concrete, &extents);
        let kernel = for_shapes.as_ref().unwrap_or(kernel);
        if for_shapes.is_some() {
            concrete = schedule::schedule(kernel, schedule_options).map_err(ProgramError::Schedule)?;
        }
        let interface = &concrete.interface;
        let sizes = Sizes::of(interface, &extents, &operands);
        let assumed = assumed::assumed(interface, &operands, dimensions, &extents);

        full::check_memory(kernel, &concrete, &extents)?;
        let streamed = stream(kernel, concrete.stream.as_ref(), options)?;
        let mut packed = Vec::new();
        let mut stored = None;
        let mut prepared = Vec::new();
        for (tensor, operand) in interface.tensors.iter().zip(&mut operands) {
            let asked = streamed.as_ref().map(|(_, asked)| asked).filter(|asked| asked.tensor == tensor.name);
            if let (Some(Operand::Stored(file)), Some(asked)) = (&*operand, asked) {
                let (input, empty) = stored_parts(file, tensor, asked)?;
                packed.push(empty);
                stored = Some(input);
            } else if let Some(operand) = operand.take() {
                let shape = tensor.extents.iter().map(|&extent| extents[extent]).collect();
                let (way, start) = (operand.way(&tensor.format), Instant::now());
                packed.push(operand.pack(
                    &tensor.name,
                    (shape, tensor.element),
                    &tensor.format,
                    tensor.fill,
                    options.duplicates,
                )?);
                let copied = |time| Copied { tensor: tensor.name.clone(), format: tensor.format.to_string(), time };
                prepared.extend(way.map(|way| Prepared { way, copied: copied(start.elapsed()) }));
            }
        }
        let comes_in_parts = streamed.is_some();

        // What is known by now, the first schedule did not know.
        let start = Instant::now();
        let operands: Vec<Option<Operand>> = packed.iter().cloned().map(|tensor| Some(tensor.into())).collect();
        let mut planned = match comes_in_parts {
            true => None,
            false => planning::by_data(kernel, interface, &extents, &packed, options),
        };
        if let Some((found, _)) = &planned {
            match again(&found.kernel, &concrete, &operands, dimensions, options) {
                Some(scheduled) => (concrete, extents) = scheduled,
                None => planned = None,
            }
        }
        let plan_time = start.elapsed();
        let whole = planning::kernel(kernel, planned.as_ref().map(|(planned, _)| planned));
        let remembered = match kernel.schedule {
            None => tuned::remembered(whole, &sizes, options),
            Some(_) => None,
        };
        let mut tuned = None;
        let mut whole = Cow::Borrowed(whole);
        if let Some(schedule) = remembered {
            let changed = whole.with_schedule(schedule.clone());
            // An older compiler may have kept to what this one refuses.
            if let Some(scheduled) = again(&changed, &concrete, &operands, dimensions, options) {
                (concrete, extents) = scheduled;
                (whole, tuned) = (Cow::Owned(changed), Some(schedule));
            }
        }
        let dimensions = undetermined(&concrete.interface, &extents);
        let start = Instant::now();
        let known = if comes_in_parts { None } else { pattern::found(&whole, &concrete.interface, &mut packed) };
        let compare_time = start.elapsed();

        let start = Instant::now();
        // What can't be walked together is walked apart.
        if let Some(known) = known
            && let Ok(alike) = schedule::schedule(&known, schedule_options)
            && alike.interface.extents == concrete.interface.extents
        {
            (whole, concrete) = (Cow::Owned(known), alike);
        }
        options::fix_vector_extents(&mut concrete, &extents.iter().copied().map(Some).collect::<Vec<_>>());
        let schedule_time = schedule_time + start.elapsed();
        Ok(Self {
            source: kernel.clone(),
            whole: whole.into_owned(),
            concrete,
            options: options.clone(),
            inputs: packed,
            streamed,
            stored,
            dimensions,
            assumed,
            sizes,
            extents,
            planned,
            plan_time,
            tuned,
            prepared,
            compare_time,
            schedule_time,
        })
    }

    /// With the kernel, whose compilation began at `start`.
    fn complete(self, compiled: Kernel, start: Instant) -> Result<Program, ProgramError> {
        let (kernel, options) = (&self.source, &self.options);
        let parts = match self.streamed {
            None => None,
            Some((stream, asked)) => {
                let lanes = lanes(compiled.compiled(), compiled.chain().clone(), &asked, options)?;
                let beside = combinations(&stream, lanes.len(), options)?;
                let streamed = Streamed::new(lanes, combination(&stream, options)?, asked)?;
                let streamed = streamed.combined_on_devices(beside);
                Some(Box::new(match self.stored {
                    Some(parts) => streamed.of_file(parts),
                    None => streamed,
                }))
            }
        };
        let is_hinted = |tensor: &&notation::Tensor| tensor.hints != notation::Hints::default();
        Ok(Program {
            kernel: compiled,
            parts,
            hinted: kernel.tensors.iter().filter(is_hinted).cloned().collect(),
            warnings: kernel.warnings.clone(),
            compile_time: self.schedule_time + start.elapsed(),
            inputs: self.inputs,
            dimensions: self.dimensions,
            assumed: self.assumed,
            sizes: self.sizes,
            planned: self.planned,
            plan_time: self.plan_time,
            tuned: self.tuned,
            prepared: self.prepared,
            compare_time: self.compare_time,
        })
    }
}

/// The kernel with formats for the shapes of its tensors, where some have no room in one that it declares.
fn for_shapes(kernel: &notation::Kernel, program: &schedule::Program, extents: &[usize]) -> Option<notation::Kernel> {
    let interface = &program.interface;
    let mut changed = None;
    for (declared, place) in kernel.tensors.iter().zip(0..) {
        let of = |within: &concrete::Kernel| {
            let tensor = within.tensors.iter().find(|tensor| tensor.name == declared.name)?;
            let modes = tensor.stored.as_ref().map_or(&tensor.extents, |stored| &stored.extents);
            let extent = |&mode: &usize| {
                let name = &within.extents[mode].name;
                let place = interface.extents.iter().position(|extent| extent.name == *name)?;
                extents.get(place).copied()
            };
            modes.iter().map(extent).collect::<Option<Vec<usize>>>()
        };
        let Some(shape) = of(interface).or_else(|| program.kernels.iter().find_map(of)) else { continue };
        let format = declared.format.for_shape(&shape);
        if format != declared.format {
            changed.get_or_insert_with(|| kernel.clone()).tensors[place].format = format;
        }
    }
    changed
}
