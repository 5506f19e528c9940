//! Kernels that run one after the other, and the tensors that go from one to the next.
//!
//! A kernel of the language with several statements becomes a chain of kernels of the loop IR. Tensors of one name are one
//! tensor: what a link makes, later links read. Dimensions of one name have one extent, which is found out from the inputs
//! before the first link runs.
//!
//! ```text
//! inputs ──┬─▶ link y ──┬─▶ y ──▶ outputs
//!          │            ▼
//!          └────────▶ link n ─▶ n ──▶
//! ```

use super::call::{Call, Extents, declared_inputs};
use super::device::{Accumulated, DeviceKernel};
use super::error::Error;
use super::extents::extents;
use super::native::NativeError;
use super::{Backend, Executable};
use crate::tensor::AnyTensor;
use spc_compiler::ir::{Kernel, Source};
use spc_compiler::{Program, backend};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Kernels with what runs them.
#[derive(Debug, Clone)]
pub struct Chain {
    declarations: Kernel,
    results: Vec<String>,
    links: Vec<Executable>,
    remembered: Arc<Remembered>,
}

/// What was computed.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The results with their names, in the order of their declaration.
    pub outputs: Vec<(String, AnyTensor)>,
    /// How long the copies of inputs took that the kernels ask for.
    pub prepare_time: Duration,
    /// How long the kernels alone took, all of them together, each time.
    pub run_times: Vec<Duration>,
}

impl Chain {
    /// A compiled program that `backend` will run: natively, with all of its kernels in one library; on the first GPU.
    ///
    /// # Errors
    /// When it can't be compiled.
    pub fn new(program: &Program, backend: Backend) -> Result<Self, Error> {
        match backend {
            Backend::Interpreter => Ok(Self::interpreted(program)),
            Backend::Native => Ok(Self::native(program)?),
            #[cfg(feature = "cuda")]
            Backend::Cuda => Self::on_gpu(program, &crate::cuda::Gpu::open(0)?),
            #[cfg(not(feature = "cuda"))]
            Backend::Cuda => Err(Error::NoCuda { kernel: program.interface.name.clone() }),
        }
    }

    /// A program that a GPU will run. It should have been scheduled for one.
    ///
    /// # Errors
    /// When a kernel has what can't run there, or can't be compiled.
    #[cfg(feature = "cuda")]
    pub fn on_gpu(program: &Program, gpu: &crate::cuda::Gpu) -> Result<Self, Error> {
        let link = |compiled: &spc_compiler::Compiled| {
            let kernel = gpu.kernel(&compiled.kernel)?;
            Ok(Executable::on_device(compiled.kernel.clone(), kernel))
        };
        Ok(Self::of_links(program, program.kernels.iter().map(link).collect::<Result<_, Error>>()?))
    }

    fn interpreted(program: &Program) -> Self {
        let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone());
        Self::of_links(program, kernels.map(Executable::interpreted).collect())
    }

    fn native(program: &Program) -> Result<Self, NativeError> {
        let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone());
        let texts: Vec<String> = kernels.clone().map(|kernel| backend::rust::text(&kernel)).collect();
        let links = Executable::native_all(kernels.zip(texts.iter().map(String::as_str)).collect())?;
        Ok(Self::of_links(program, links))
    }

    /// A program that runs natively or, on a machine without a Rust compiler, in the interpreter: then with the reason, which
    /// the user should be told.
    ///
    /// # Errors
    /// When there is a compiler, and it can't compile the program.
    pub fn native_if_possible(program: &Program) -> Result<(Self, Option<NativeError>), NativeError> {
        match Self::native(program) {
            Ok(chain) => Ok((chain, None)),
            Err(error) if error.is_missing_compiler() => Ok((Self::interpreted(program), Some(error))),
            Err(error) => Err(error),
        }
    }

    /// A program of which something else has made executables, one for each of its kernels.
    pub fn of_links(program: &Program, links: Vec<Executable>) -> Self {
        let (declarations, results) = (program.declarations.clone(), program.results.clone());
        Self { declarations, results, links, remembered: Arc::default() }
    }

    /// The same, where the interpreter cuts parallel loops and orders chunks as this seed says.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.links = self.links.into_iter().map(|link| link.with_seed(seed)).collect();
        self
    }

    /// The kernels, in the order in which they run.
    pub fn links(&self) -> &[Executable] {
        &self.links
    }

    /// What the kernels are together: the parameters, and all dimensions.
    pub fn declarations(&self) -> &Kernel {
        &self.declarations
    }

    /// The names of the results, in order.
    pub fn results(&self) -> &[String] {
        &self.results
    }

    /// What runs the kernels.
    pub fn backend(&self) -> Backend {
        self.links.first().map_or(Backend::default(), Executable::backend)
    }

    /// How long copies to a device and from it have taken since the kernels were made.
    pub fn copied(&self) -> (Duration, Duration) {
        let of_links = self.links.iter().filter_map(Executable::device).map(DeviceKernel::copied);
        of_links
            .fold(Default::default(), |(all_in, all_out), (copy_in, copy_out)| (all_in + copy_in, all_out + copy_out))
    }

    /// Pins the memory of a tensor where a device runs the kernels; whether all of it could be, else none is.
    pub(super) fn pin(&self, tensor: &AnyTensor) -> bool {
        let Some(device) = self.links.first().and_then(Executable::device).map(DeviceKernel::device) else {
            return false;
        };
        let arrays: Vec<&[u8]> = tensor.arrays().filter(|bytes| !bytes.is_empty()).collect();
        let pinned = arrays.iter().take_while(|bytes| device.pin(bytes)).count();
        if pinned < arrays.len() {
            arrays[..pinned].iter().for_each(|bytes| device.unpin(bytes));
        }
        pinned == arrays.len()
    }

    /// Ends what [`Chain::pin`] began.
    pub(super) fn unpin(&self, tensor: &AnyTensor) {
        if let Some(kernel) = self.links.first().and_then(Executable::device) {
            tensor.arrays().filter(|bytes| !bytes.is_empty()).for_each(|bytes| kernel.device().unpin(bytes));
        }
    }

    /// Pins what can be of some arrays, and says which.
    pub(super) fn pin_each<'a>(&self, arrays: impl Iterator<Item = &'a [u8]>) -> Vec<&'a [u8]> {
        let device = self.links.first().and_then(Executable::device).map(DeviceKernel::device);
        device.map(|device| arrays.filter(|bytes| device.pin(bytes)).collect()).unwrap_or_default()
    }

    /// Ends what [`Chain::pin_each`] began.
    pub(super) fn unpin_each(&self, arrays: &[&[u8]]) {
        if let Some(kernel) = self.links.first().and_then(Executable::device) {
            arrays.iter().for_each(|bytes| kernel.device().unpin(bytes));
        }
    }

    /// The kernel on a device that is all there is to run, if it is.
    fn only(&self) -> Option<&DeviceKernel> {
        match &self.links[..] {
            [link] => link.device(),
            _ => None,
        }
    }

    /// Whether results of parts can stay on the device, where `combine` makes one of two.
    pub(super) fn accumulates(&self, combine: &Chain) -> bool {
        self.only().zip(combine.only()).is_some_and(|(kernel, combine)| kernel.accumulates(combine))
    }

    /// A call of the only kernel.
    pub(super) fn call(&self, inputs: &[&AnyTensor], stated: &[(&str, usize)]) -> Result<Call<'_>, Error> {
        let inputs = inputs.iter().map(|&input| Cow::Owned(input.clone())).collect();
        let flow = Flow::new(self.whole(), inputs, stated, &[])?;
        let mut call = flow.call()?.ok_or_else(|| self.no_kernel())?;
        call.allocate()?;
        Ok(call)
    }

    /// Runs a call and leaves its result on the device, combined with what is there.
    pub(super) fn run_onto(
        &self,
        call: &mut Call<'_>,
        combine: &Chain,
        so_far: &mut Option<Accumulated>,
    ) -> Result<Duration, Error> {
        let (kernel, combine) = self.only().zip(combine.only()).ok_or_else(|| self.no_kernel())?;
        kernel.run_onto(call, combine, so_far)
    }

    /// One result of two that stayed on the device where this makes it.
    pub(super) fn combine(&self, one: &Accumulated, other: &Accumulated) -> Result<(Accumulated, Duration), Error> {
        self.only().ok_or_else(|| self.no_kernel())?.combine(one, other)
    }

    /// The result that stayed on the device, as that of a call that has run.
    pub(super) fn fetch(&self, mut call: Call<'_>, result: Accumulated) -> Result<Vec<(String, AnyTensor)>, Error> {
        self.only().ok_or_else(|| self.no_kernel())?.fetch(&mut call, result)?;
        Ok(self.results.iter().cloned().zip(call.finish()?).collect())
    }

    fn no_kernel(&self) -> Error {
        let reason = "it has no kernel on a device".to_owned();
        Error::Declaration { kernel: self.declarations.name.clone(), reason }
    }

    /// Runs the kernels on inputs in the order of their declaration, each `repeat` times but at least once. `stated` says extents of
    /// dimensions that no input determines, by name.
    ///
    /// # Errors
    /// When the inputs do not fit the declarations or each other, nothing says some extent, there is no memory, or a kernel
    /// stops.
    pub fn run(&self, inputs: &[&AnyTensor], stated: &[(&str, usize)], repeat: usize) -> Result<Outcome, Error> {
        let flow = Flow::new(self.whole(), lent(inputs), stated, &[])?;
        let mut prepare_time = Duration::ZERO;
        let mut run_times = vec![Duration::ZERO; repeat.max(1)];
        let outputs = flow.run(&mut |_, _| Ok(()), &mut |link, call| {
            prepare_time += call.prepare_time();
            self.links[link].run_each(call, &mut run_times)
        })?;
        let outputs = self.results.iter().cloned().zip(outputs).collect();
        Ok(Outcome { outputs, prepare_time, run_times })
    }
}

impl Chain {
    /// Runs the kernels once, each call when it was prepared for its output of a name; gives the results in order. `shapes` are
    /// those that they are to have, where nothing else says an extent.
    pub(super) fn run_prepared(
        &self,
        inputs: Vec<Cow<'_, AnyTensor>>,
        stated: &[(&str, usize)],
        shapes: &[Vec<usize>],
        prepare: &mut Prepare<'_>,
    ) -> Result<Vec<AnyTensor>, Error> {
        let flow = Flow::new(self.whole(), inputs, stated, shapes)?;
        flow.run(prepare, &mut |link, call| self.links[link].run(call).map(drop))
    }

    /// The kernels and what they are together.
    fn whole(&self) -> Whole<'_> {
        Whole {
            declarations: &self.declarations,
            results: &self.results,
            kernels: self.links.iter().map(Executable::kernel).collect(),
            remembered: &self.remembered,
        }
    }
}

/// Prepares a call for its output of a name: to write it into memory that is there.
pub(super) type Prepare<'p> = dyn FnMut(&mut Call<'_>, &str) -> Result<(), Error> + Send + 'p;

/// Inputs that stay with the caller.
pub(super) fn lent<'a>(inputs: &[&'a AnyTensor]) -> Vec<Cow<'a, AnyTensor>> {
    inputs.iter().map(|&input| Cow::Borrowed(input)).collect()
}

/// The extents of the last call, which most often are those of the next.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<Option<Arc<Found>>>);

/// The extents of a call, and what they were found from.
#[derive(Debug)]
struct Found {
    from: From,
    /// Those of each kernel.
    links: Vec<Vec<usize>>,
}

/// What extents are found from: of a chain whose inputs have the orders that it declares, so that no two calls have the same.
#[derive(Debug, PartialEq, Eq)]
struct From {
    /// The extents of all modes of the inputs, and of the results as they are to be.
    modes: Vec<usize>,
    stated: Vec<(String, usize)>,
}

impl From {
    fn modes<'i>(inputs: &'i [Cow<'_, AnyTensor>], shapes: &'i [Vec<usize>]) -> impl Iterator<Item = usize> + 'i {
        // A shape that is not wished is told from one of order 0.
        let wished = shapes.iter().flat_map(|shape| shape.iter().copied().chain([usize::MAX]));
        inputs.iter().flat_map(|input| input.shape().iter().copied()).chain(wished)
    }

    fn is(&self, inputs: &[Cow<'_, AnyTensor>], stated: &[(&str, usize)], shapes: &[Vec<usize>]) -> bool {
        let own = self.stated.iter().map(|(name, extent)| (name.as_str(), *extent));
        Self::modes(inputs, shapes).eq(self.modes.iter().copied()) && own.eq(stated.iter().copied())
    }
}

impl Remembered {
    fn get(&self) -> Option<Arc<Found>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, found: Found) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(found));
    }
}

/// The kernels of a chain, and what they are together.
pub(super) struct Whole<'a> {
    /// The parameters, and all dimensions.
    pub(super) declarations: &'a Kernel,
    pub(super) results: &'a [String],
    pub(super) kernels: Vec<&'a Kernel>,
    pub(super) remembered: &'a Remembered,
}

/// The tensors of a chain while it runs.
pub(super) struct Flow<'a> {
    whole: Whole<'a>,
    /// How many of the kernels have run.
    done: usize,
    /// What the extents follow from.
    extents: Origin<'a>,
    /// What there is by now, with its name.
    tensors: Vec<(&'a str, Cow<'a, AnyTensor>)>,
}

/// Where a flow has its extents from.
enum Origin<'a> {
    /// From the last call.
    Known(Arc<Found>),
    /// From this one: those of all dimensions by name, and for the next call those of the kernels so far.
    Fresh(Vec<(&'a str, usize)>, Found),
}

impl<'a> Flow<'a> {
    /// Before the first of the kernels runs. The results are to have these shapes, in order, where nothing else says an extent.
    pub(super) fn new(
        whole: Whole<'a>,
        inputs: Vec<Cow<'a, AnyTensor>>,
        stated: &[(&str, usize)],
        shapes: &[Vec<usize>],
    ) -> Result<Self, Error> {
        let declarations = whole.declarations;
        let of_inputs: Vec<&AnyTensor> = inputs.iter().map(|input| &**input).collect();
        let declared = declared_inputs(declarations, &of_inputs)?;
        let extents = match whole.remembered.get().filter(|found| found.from.is(&inputs, stated, shapes)) {
            Some(found) => Origin::Known(found),
            None => {
                let found = extents(declarations, &declared, stated, &wished(&whole, shapes))?;
                let names = declarations.dimensions.iter().map(|dimension| dimension.name.as_str());
                let stated = stated.iter().map(|&(name, extent)| (name.to_owned(), extent)).collect();
                let from = From { modes: From::modes(&inputs, shapes).collect(), stated };
                Origin::Fresh(names.zip(found).collect(), Found { from, links: Vec::new() })
            }
        };
        let names: Vec<&'a str> = declared.iter().map(|(declared, _)| declared.name.as_str()).collect();
        let tensors = names.into_iter().zip(inputs).collect();
        Ok(Self { whole, done: 0, extents, tensors })
    }

    /// The results in order, once `work` has run the call of each kernel, by its number; `prepare` has seen it for each of its
    /// outputs before.
    pub(super) fn run(
        mut self,
        prepare: &mut Prepare<'_>,
        work: &mut dyn FnMut(usize, &mut Call<'_>) -> Result<(), Error>,
    ) -> Result<Vec<AnyTensor>, Error> {
        for number in 0..self.whole.kernels.len() {
            let Some(mut call) = self.call()? else { break };
            outputs_of(self.whole.kernels[number]).try_for_each(|output| prepare(&mut call, output))?;
            call.allocate()?;
            work(number, &mut call)?;
            if let Origin::Fresh(_, found) = &mut self.extents {
                found.links.push(call.dimensions().to_vec());
            }
            self.take(call.finish()?);
        }
        self.finish()
    }

    /// A call of the next kernel, without memory for its outputs; `None` when all have run.
    pub(super) fn call(&self) -> Result<Option<Call<'a>>, Error> {
        let Some(&kernel) = self.whole.kernels.get(self.done) else { return Ok(None) };
        let find = |name: &str| {
            let found = self.tensors.iter().find(|(known, _)| *known == name);
            found.map(|(_, tensor)| tensor.clone()).ok_or_else(|| self.missing(name))
        };
        let inputs: Vec<Cow<'a, AnyTensor>> = inputs_of(kernel).map(find).collect::<Result<_, _>>()?;
        match &self.extents {
            Origin::Known(found) => Call::prepare(kernel, inputs, Extents::Known(&found.links[self.done])),
            Origin::Fresh(extents, _) => {
                let is_its = |name: &str| kernel.dimensions.iter().any(|dimension| dimension.name == name);
                let stated: Vec<(&str, usize)> = extents.iter().copied().filter(|(name, _)| is_its(name)).collect();
                Call::prepare(kernel, inputs, Extents::Find(&stated))
            }
        }
        .map(Some)
    }

    /// What the next kernel has made. Tensors that nobody reads any more are dropped.
    pub(super) fn take(&mut self, outputs: Vec<AnyTensor>) {
        let Some(&kernel) = self.whole.kernels.get(self.done) else { return };
        self.done += 1;
        self.tensors.extend(outputs_of(kernel).zip(outputs.into_iter().map(Cow::Owned)));
        let Whole { results, kernels, .. } = &self.whole;
        let is_read = |name: &str| kernels[self.done..].iter().any(|next| inputs_of(next).any(|input| input == name));
        self.tensors.retain(|(name, _)| results.iter().any(|result| result == name) || is_read(name));
    }

    /// The results, when all kernels have run.
    pub(super) fn finish(mut self) -> Result<Vec<AnyTensor>, Error> {
        let mut taken = Vec::with_capacity(self.whole.results.len());
        for name in self.whole.results {
            match self.tensors.iter().position(|(known, _)| known == name) {
                Some(place) => taken.push(self.tensors.swap_remove(place).1.into_owned()),
                None => return Err(self.missing(name)),
            }
        }
        if let Origin::Fresh(_, found) = self.extents {
            self.whole.remembered.set(found);
        }
        Ok(taken)
    }

    fn missing(&self, name: &str) -> Error {
        let reason = format!("no kernel makes `{name}` before it is read");
        Error::Declaration { kernel: self.whole.declarations.name.clone(), reason }
    }
}

/// The extents that results of these shapes would have, by name.
fn wished<'a>(whole: &Whole<'a>, shapes: &[Vec<usize>]) -> Vec<(&'a str, usize)> {
    let mut wished = Vec::new();
    for (name, shape) in whole.results.iter().zip(shapes) {
        for kernel in &whole.kernels {
            for made in kernel.tensors.iter().filter(|made| made.name == *name) {
                let names = made.dimensions.iter().map(|dimension| kernel.dimension(*dimension).name.as_str());
                wished.extend(names.zip(shape.iter().copied()));
            }
        }
    }
    wished
}

fn inputs_of(kernel: &Kernel) -> impl Iterator<Item = &str> {
    let inputs = kernel.tensors.iter().filter(|tensor| tensor.source == Source::Input);
    inputs.map(|tensor| tensor.name.as_str())
}

/// The names of a kernel's outputs, in order.
pub(super) fn outputs_of(kernel: &Kernel) -> impl Iterator<Item = &str> {
    let outputs = kernel.tensors.iter().filter(|tensor| matches!(tensor.source, Source::Output { .. }));
    outputs.map(|tensor| tensor.name.as_str())
}
