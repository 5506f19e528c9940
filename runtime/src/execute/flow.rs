//! The tensors that go from one kernel of a chain to the next.

use super::around::Around;
use super::call::{Call, declared_inputs};
use super::error::Error;
use super::extents::extents;
use crate::tensor::AnyTensor;
use spc_compiler::ir::{Kernel, Source};
use std::collections::BTreeMap;

/// The tensors of a chain while it runs.
pub(super) struct Flow<'a> {
    declarations: &'a Kernel,
    results: &'a [String],
    /// The kernels that are still to run.
    kernels: Vec<&'a Kernel>,
    /// The extents of all dimensions, by name.
    extents: Vec<(&'a str, usize)>,
    /// What there is by now.
    tensors: BTreeMap<&'a str, AnyTensor>,
}

impl<'a> Flow<'a> {
    /// Before the first of the kernels runs. The results are to have these shapes, in order, where nothing else says an extent.
    pub(super) fn new(
        declarations: &'a Kernel,
        results: &'a [String],
        kernels: Vec<&'a Kernel>,
        inputs: &[&AnyTensor],
        stated: &[(&str, usize)],
        shapes: &[Vec<usize>],
    ) -> Result<Self, Error> {
        let mut wished: Vec<(&str, usize)> = Vec::new();
        for (name, shape) in results.iter().zip(shapes) {
            for kernel in &kernels {
                for made in kernel.tensors.iter().filter(|made| made.name == *name) {
                    let names = made.dimensions.iter().map(|dimension| kernel.dimension(*dimension).name.as_str());
                    wished.extend(names.zip(shape.iter().copied()));
                }
            }
        }
        let declared = declared_inputs(declarations, inputs)?;
        let tensors = declared.iter().map(|&(declared, input)| (declared.name.as_str(), input.clone())).collect();
        let found = extents(declarations, &declared, stated, &wished)?;
        let extents = declarations.dimensions.iter().map(|dimension| dimension.name.as_str()).zip(found).collect();
        Ok(Self { declarations, results, kernels, extents, tensors })
    }

    /// The results, once `work` has run the call of each kernel, by its number. What calls take beside that is added to `around`.
    pub(super) fn run(
        mut self,
        around: &mut Around,
        work: &mut dyn FnMut(usize, &mut Call<'_>) -> Result<(), Error>,
    ) -> Result<Vec<(String, AnyTensor)>, Error> {
        for number in 0..self.kernels.len() {
            let Some(mut call) = self.call()? else { break };
            around.copies.extend_from_slice(call.copies());
            around.allocate += call.allocate_time();
            work(number, &mut call)?;
            self.take(call.finish_with(&mut around.deliveries)?);
        }
        self.finish()
    }

    /// A call of the next kernel; `None` when all have run.
    pub(super) fn call(&self) -> Result<Option<Call<'a>>, Error> {
        let Some(&kernel) = self.kernels.first() else { return Ok(None) };
        let find = |name: &str| self.tensors.get(name).ok_or_else(|| self.missing(name));
        let inputs: Vec<&AnyTensor> = inputs_of(kernel).map(find).collect::<Result<_, _>>()?;
        let is_its = |name: &str| kernel.dimensions.iter().any(|dimension| dimension.name == name);
        let stated: Vec<(&str, usize)> = self.extents.iter().copied().filter(|(name, _)| is_its(name)).collect();
        Call::with_dimensions(kernel, &inputs, &stated).map(Some)
    }

    /// What the next kernel has made. Tensors that nobody reads any more are dropped.
    pub(super) fn take(&mut self, outputs: Vec<AnyTensor>) {
        if self.kernels.is_empty() {
            return;
        }
        let kernel = self.kernels.remove(0);
        self.tensors.extend(outputs_of(kernel).zip(outputs));
        let is_read = |name: &str| self.kernels.iter().any(|kernel| inputs_of(kernel).any(|input| input == name));
        self.tensors.retain(|name, _| self.results.iter().any(|result| result == name) || is_read(name));
    }

    /// The results, when all kernels have run.
    pub(super) fn finish(mut self) -> Result<Vec<(String, AnyTensor)>, Error> {
        let results = self.results;
        let mut taken = Vec::with_capacity(results.len());
        for name in results {
            match self.tensors.remove(name.as_str()) {
                Some(tensor) => taken.push((name.clone(), tensor)),
                None => return Err(self.missing(name)),
            }
        }
        Ok(taken)
    }

    fn missing(&self, name: &str) -> Error {
        let reason = format!("no kernel makes `{name}` before it is read");
        Error::Declaration { kernel: self.declarations.name.clone(), reason }
    }
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
