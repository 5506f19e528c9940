//! The tensors that go from one kernel of a chain to the next.
//!
//! Tensors go by names, and names say the same in every call: a [`Route`] is found once for a chain. A call of it then costs little
//! beside the loops, which of a small tensor take less than a microsecond.

use super::around::Around;
use super::array::Parameter;
use super::call::{Call, Extents, Inputs, Kept, Operand, check_inputs, declared_inputs};
use super::error::Error;
use super::extents::extents;
use super::value::Sink;
use crate::tensor::AnyTensor;
use spc_compiler::ir::{Kernel, Source};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Inputs that stay with the caller, with room for so many tensors.
pub(super) fn lent<'a>(inputs: &[&'a AnyTensor], count: usize) -> Vec<Option<Operand<'a>>> {
    let mut tensors = Vec::with_capacity(count.max(inputs.len()));
    tensors.extend(inputs.iter().map(|&input| Some(Operand::Lent(input))));
    tensors
}

/// The extents of the last call, which most often are those of the next.
#[derive(Debug, Default)]
struct Remembered(Mutex<Option<Arc<Found>>>);

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
    /// The shapes of the inputs, and of the results as they are to be.
    fn shapes<'i>(
        inputs: &'i [Option<Operand<'_>>],
        results: usize,
        sink: &'i dyn Sink,
    ) -> impl Iterator<Item = &'i [usize]> {
        // A shape that is not wished is told from one of order 0.
        let wished = (0..results).map_while(|result| sink.shape(result)).flat_map(|shape| [shape, &[usize::MAX]]);
        inputs.iter().flatten().map(|input| input.shape()).chain(wished)
    }

    fn is<'i>(&self, mut shapes: impl Iterator<Item = &'i [usize]>, stated: &[(&str, usize)]) -> bool {
        let mut rest = &self.modes[..];
        let mut is_next = |shape: &[usize]| rest.strip_prefix(shape).map(|others| rest = others).is_some();
        let own = self.stated.iter().map(|(name, extent)| (name.as_str(), *extent));
        shapes.all(&mut is_next) && rest.is_empty() && own.eq(stated.iter().copied())
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

/// The kernels of a chain.
pub(super) trait Kernels {
    /// How many there are.
    fn count(&self) -> usize;

    /// One of them, by its number.
    fn kernel(&self, number: usize) -> &Kernel;
}

impl Kernels for Vec<Kernel> {
    fn count(&self) -> usize {
        self.len()
    }

    fn kernel(&self, number: usize) -> &Kernel {
        &self[number]
    }
}

/// What the kernels of a chain are together.
#[derive(Debug)]
pub(super) struct Whole {
    /// The parameters, and all dimensions.
    pub(super) declarations: Kernel,
    pub(super) results: Arc<[String]>,
    route: Route,
    remembered: Remembered,
}

impl Whole {
    pub(super) fn new(declarations: Kernel, results: Vec<String>, kernels: &dyn Kernels) -> Self {
        let route = Route::new(&declarations, &results, kernels);
        Self { declarations, results: results.into(), route, remembered: Remembered::default() }
    }

    /// How many tensors there are in all.
    pub(super) fn count(&self) -> usize {
        self.route.count
    }

    /// The tensors to keep from one call to the next where the inputs at these places are the same: these, and tensors that kernels make of them alone.
    pub(super) fn kept(&self, inputs: impl Iterator<Item = usize>) -> Kept {
        let mut fixed: BTreeSet<usize> = inputs.collect();
        for step in &self.route.steps {
            if step.inputs.iter().all(|place| fixed.contains(place)) {
                fixed.extend(step.outputs.iter().map(|(place, _)| place));
            }
        }
        Kept::new(fixed)
    }
}

/// Where the tensors of a chain are, each by its place: first the inputs, then what each kernel makes.
#[derive(Debug)]
struct Route {
    /// How many tensors there are.
    count: usize,
    /// What each kernel does.
    steps: Vec<Step>,
    /// Where the results are in the end.
    results: Vec<usize>,
    /// A result that no kernel makes.
    missing: Option<String>,
}

/// What one kernel of a chain reads and makes.
#[derive(Debug)]
struct Step {
    parameters: Vec<Parameter>,
    inputs: Vec<usize>,
    /// An input that no kernel before it makes.
    missing: Option<String>,
    /// What it makes, in order; where that is a result, with its number.
    outputs: Vec<(usize, Option<usize>)>,
    /// The tensors without a further reader.
    done: Vec<usize>,
}

impl Route {
    fn new(declarations: &Kernel, results: &[String], kernels: &dyn Kernels) -> Self {
        let all = || (0..kernels.count()).map(|number| kernels.kernel(number));
        let mut tensors: Vec<(&str, usize)> = inputs_of(declarations).zip(0..).collect();
        let mut count = tensors.len();
        let mut steps = Vec::with_capacity(kernels.count());
        for (number, kernel) in all().enumerate() {
            let (inputs, missing) = places(&tensors, inputs_of(kernel));
            let made = outputs_of(kernel).zip(count..);
            let outputs = made.clone().map(|(name, place)| (place, results.iter().position(|result| result == name)));
            let outputs: Vec<(usize, Option<usize>)> = outputs.collect();
            count += outputs.len();
            tensors.extend(made);
            let is_read = |name: &str| all().skip(number + 1).any(|next| inputs_of(next).any(|input| input == name));
            let stays = |name: &str| results.iter().any(|result| result == name) || is_read(name);
            let done = tensors.iter().filter(|(name, _)| !stays(name)).map(|&(_, place)| place).collect();
            tensors.retain(|(name, _)| stays(name));
            let parameters = Parameter::all_of(kernel);
            steps.push(Step { parameters, inputs, missing, outputs, done });
        }
        let (results, missing) = places(&tensors, results.iter().map(String::as_str));
        Self { count, steps, results, missing }
    }
}

/// The places of tensors of these names, and the first name that there is none of.
fn places<'n>(tensors: &[(&str, usize)], names: impl Iterator<Item = &'n str>) -> (Vec<usize>, Option<String>) {
    let (mut found, mut missing) = (Vec::new(), None);
    for name in names {
        match tensors.iter().find(|(known, _)| *known == name) {
            Some((_, place)) => found.push(*place),
            None => missing = missing.or_else(|| Some(name.to_owned())),
        }
    }
    (found, missing)
}

/// The tensors of a chain while it runs.
pub(super) struct Flow<'a> {
    whole: &'a Whole,
    kernels: &'a dyn Kernels,
    /// What the extents follow from.
    extents: Origin<'a>,
    /// What there is by now, by its place on the route.
    tensors: Vec<Option<Operand<'a>>>,
    /// Tensors that are kept for the next call.
    kept: Option<&'a Kept>,
}

/// Where a flow has its extents from.
enum Origin<'a> {
    /// From the last call.
    Known(Arc<Found>),
    /// From this one: those of all dimensions by name, and for the next call those of the kernels so far.
    Fresh(Vec<(&'a str, usize)>, Found),
}

impl<'a> Flow<'a> {
    /// Before the first of the kernels runs. The results are to have the shapes of where they go, where nothing else says an extent.
    pub(super) fn new(
        whole: &'a Whole,
        kernels: &'a dyn Kernels,
        inputs: Vec<Option<Operand<'a>>>,
        stated: &[(&str, usize)],
        sink: &dyn Sink,
    ) -> Result<Self, Error> {
        let declarations = &whole.declarations;
        let of_inputs = inputs.iter().flatten().map(|input| &**input);
        check_inputs(declarations, of_inputs.clone())?;
        let shapes = || From::shapes(&inputs, whole.results.len(), sink);
        let extents = match whole.remembered.get().filter(|found| found.from.is(shapes(), stated)) {
            Some(found) => Origin::Known(found),
            None => {
                let declared: Vec<_> = declared_inputs(declarations).zip(of_inputs).collect();
                let found = extents(declarations, &declared, stated, &wished(whole, kernels, sink))?;
                let names = declarations.dimensions.iter().map(|dimension| dimension.name.as_str());
                let stated = stated.iter().map(|&(name, extent)| (name.to_owned(), extent)).collect();
                let from = From { modes: shapes().flatten().copied().collect(), stated };
                Origin::Fresh(names.zip(found).collect(), Found { from, links: Vec::new() })
            }
        };
        Ok(Self { whole, kernels, extents, tensors: inputs, kept: None })
    }

    /// The same, where what is made of inputs that do not change stays for the next.
    pub(super) fn keeping(self, kept: &'a Kept) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// Gives `sink` the results, once `work` has run the call of each kernel, by its number. What calls take beside that is added to
    /// `around`, where somebody asks for it.
    pub(super) fn run(
        mut self,
        mut around: Option<&mut Around>,
        sink: &mut dyn Sink,
        work: &mut dyn FnMut(usize, &mut Call<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (steps, mut deliveries) = (&self.whole.route.steps, Vec::new());
        let mut is_taken = false;
        for (number, step) in steps.iter().enumerate() {
            // Results go to the sink in each call.
            let keeps =
                |kept: &&Kept| step.outputs.iter().all(|&(place, result)| result.is_none() && kept.is_fixed(place));
            let kept = self.kept.filter(keeps).filter(|_| !step.outputs.is_empty());
            if let (Some(made), Origin::Known(_)) = (kept.and_then(|kept| kept.made(number)), &self.extents) {
                self.take(step, made);
                continue;
            }
            let mut call = self.call(number, around.is_some())?;
            for (output, (_, result)) in step.outputs.iter().enumerate() {
                if let Some(result) = result {
                    sink.lend(*result, &mut call, output)?;
                }
            }
            call.allocate()?;
            if let Some(around) = &mut around {
                around.copies.extend_from_slice(call.copies());
                around.allocate += call.allocate_time();
            }
            work(number, &mut call)?;
            call.check_pivots()?;
            if let Origin::Fresh(_, found) = &mut self.extents {
                found.links.push(call.dimensions().to_vec());
            }
            // Nothing can be refused any more, when the last kernel has run.
            is_taken = match step.outputs[..] {
                [(_, Some(result))] if number + 1 == steps.len() => sink.take_back(result, &mut call, 0)?,
                _ => false,
            };
            if !is_taken {
                let made: Vec<_> = call.finish_with(&mut deliveries)?.into_iter().map(Arc::new).collect();
                if let Some(kept) = kept {
                    kept.set_made(number, made.clone());
                }
                self.take(step, made);
            }
        }
        if let Some(around) = around {
            around.deliveries.append(&mut deliveries);
        }
        self.finish(is_taken, sink)
    }

    /// A call of a kernel, without memory for its outputs. Whether it reads the clock for what is done around the kernel.
    pub(super) fn call(&self, number: usize, is_timed: bool) -> Result<Call<'a>, Error> {
        let kernel = self.kernels.kernel(number);
        let step = &self.whole.route.steps[number];
        if let Some(name) = &step.missing {
            return Err(self.missing(name));
        }
        let kept = self.kept.map(|kept| (kept, number));
        let inputs = Inputs { all: &self.tensors, places: &step.inputs, kept };
        let declared = (kernel, &step.parameters[..]);
        match &self.extents {
            Origin::Known(found) => Call::prepare(declared, inputs, Extents::Known(&found.links[number]), is_timed),
            Origin::Fresh(extents, _) => {
                let is_its = |name: &str| kernel.dimensions.iter().any(|dimension| dimension.name == name);
                let stated: Vec<(&str, usize)> = extents.iter().copied().filter(|(name, _)| is_its(name)).collect();
                Call::prepare(declared, inputs, Extents::Find(&stated), is_timed)
            }
        }
    }

    /// What a kernel has made. Tensors without a further reader are dropped.
    fn take(&mut self, step: &Step, outputs: Vec<Arc<AnyTensor>>) {
        self.tensors.extend(outputs.into_iter().map(|output| Some(Operand::Own(output))));
        step.done.iter().for_each(|&place| self.tensors[place] = None);
    }

    /// The results, when all kernels have run; but for the last one's, where it has been taken.
    fn finish(mut self, is_taken: bool, sink: &mut dyn Sink) -> Result<(), Error> {
        let route = &self.whole.route;
        if let Some(name) = &route.missing {
            return Err(self.missing(name));
        }
        let taken = if is_taken { route.steps.last().and_then(|step| step.outputs[0].1) } else { None };
        for (result, &place) in route.results.iter().enumerate().filter(|(result, _)| Some(*result) != taken) {
            if let Some(tensor) = self.tensors[place].take() {
                sink.set(result, tensor.into_owned())?;
            }
        }
        if let Origin::Fresh(_, found) = self.extents {
            self.whole.remembered.set(found);
        }
        Ok(())
    }

    fn missing(&self, name: &str) -> Error {
        let reason = format!("no kernel makes `{name}` before it is read");
        Error::Declaration { kernel: self.whole.declarations.name.clone(), reason }
    }
}

/// The extents that results would have where they go, by name.
fn wished<'a>(whole: &'a Whole, kernels: &'a dyn Kernels, sink: &dyn Sink) -> Vec<(&'a str, usize)> {
    let mut wished = Vec::new();
    for (result, name) in whole.results.iter().enumerate() {
        let Some(shape) = sink.shape(result) else { break };
        for kernel in (0..kernels.count()).map(|number| kernels.kernel(number)) {
            for made in kernel.tensors.iter().filter(|made| made.name == *name) {
                let names = made.dimensions.iter().map(|dimension| kernel.dimension(*dimension).name.as_str());
                wished.extend(names.zip(shape.iter().copied()));
            }
        }
    }
    wished
}

fn inputs_of(kernel: &Kernel) -> impl Iterator<Item = &str> {
    declared_inputs(kernel).map(|tensor| tensor.name.as_str())
}

/// The names of a kernel's outputs, in order.
pub(super) fn outputs_of(kernel: &Kernel) -> impl Iterator<Item = &str> + Clone {
    let outputs = kernel.tensors.iter().filter(|tensor| matches!(tensor.source, Source::Output { .. }));
    outputs.map(|tensor| tensor.name.as_str())
}
