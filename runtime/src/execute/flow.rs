//! The tensors that go from one kernel of a chain to the next.

use super::around::Around;
use super::call::{Call, Extents, declared_inputs};
use super::error::Error;
use super::extents::extents;
use crate::tensor::AnyTensor;
use spc_compiler::ir::{Kernel, Source};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// outputs before. What calls take beside that is added to `around`.
    pub(super) fn run(
        mut self,
        around: &mut Around,
        prepare: &mut Prepare<'_>,
        work: &mut dyn FnMut(usize, &mut Call<'_>) -> Result<(), Error>,
    ) -> Result<Vec<AnyTensor>, Error> {
        for number in 0..self.whole.kernels.len() {
            let Some(mut call) = self.call()? else { break };
            outputs_of(self.whole.kernels[number]).try_for_each(|output| prepare(&mut call, output))?;
            call.allocate()?;
            around.copies.extend_from_slice(call.copies());
            around.allocate += call.allocate_time();
            work(number, &mut call)?;
            if let Origin::Fresh(_, found) = &mut self.extents {
                found.links.push(call.dimensions().to_vec());
            }
            self.take(call.finish_with(&mut around.deliveries)?);
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

    /// What the next kernel has made. Tensors without a further reader are dropped.
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
