//! Kernels that are compiled together, and called by their places.

use crate::decompose::engine::Clock;
use crate::decompose::{DecomposeError, Engine};
use crate::execute::{Input, Kernel, KernelBuilder, Targets};
use crate::tensor::AnyTensor;
use std::time::{Duration, Instant};

/// Kernels that are to be compiled, side by side.
#[derive(Debug)]
pub(super) struct Batch<'e> {
    engine: &'e Engine,
    builders: Vec<KernelBuilder>,
    /// What some of them do, by which they are found again.
    keys: Vec<(String, usize)>,
}

impl<'e> Batch<'e> {
    pub(super) fn new(engine: &'e Engine) -> Self {
        Self { engine, builders: Vec::new(), keys: Vec::new() }
    }

    /// Adds a kernel, and says its place.
    pub(super) fn add(&mut self, builder: KernelBuilder) -> usize {
        self.builders.push(builder);
        self.builders.len() - 1
    }

    /// The same, of a text and the extents of some indices.
    pub(super) fn add_text(&mut self, text: String, extents: &[(&str, usize)]) -> usize {
        let builder = self.engine.builder(text);
        let builder = extents.iter().fold(builder, |builder, &(index, extent)| builder.dimension(index, extent));
        self.add(builder)
    }

    /// Adds a kernel unless there is one of that key, and says its place.
    pub(super) fn add_once(&mut self, key: String, builder: KernelBuilder) -> usize {
        if let Some((_, place)) = self.keys.iter().find(|(known, _)| *known == key) {
            return *place;
        }
        let place = self.add(builder);
        self.keys.push((key, place));
        place
    }

    pub(super) fn compile(self) -> Result<Compiled, DecomposeError> {
        let began = Instant::now();
        let kernels = self.engine.compile(self.builders)?;
        Ok(Compiled { kernels, clock: Clock::default(), time: began.elapsed() })
    }
}

/// The kernels of a batch.
#[derive(Debug)]
pub(super) struct Compiled {
    kernels: Vec<Kernel>,
    /// Has the time of all calls.
    pub(super) clock: Clock,
    /// How long it took to compile them.
    pub(super) time: Duration,
}

impl Compiled {
    /// Calls a kernel by its place.
    pub(super) fn call<'t>(
        &self,
        kernel: usize,
        inputs: &[&dyn Input],
        targets: impl Targets<'t>,
    ) -> Result<(), DecomposeError> {
        Ok(self.clock.kernel(|| self.kernels[kernel].call_into(inputs, targets))?)
    }

    /// Calls a kernel of one tensor, the factors of all modes but one, and more.
    pub(super) fn call_with<'t>(
        &self,
        kernel: usize,
        (tensor, factors, except): (&AnyTensor, &[AnyTensor], Option<usize>),
        more: &[&dyn Input],
        targets: impl Targets<'t>,
    ) -> Result<(), DecomposeError> {
        let mut inputs: Vec<&dyn Input> = vec![tensor];
        let others = factors.iter().enumerate().filter(|(mode, _)| Some(*mode) != except);
        inputs.extend(others.map(|(_, factor)| factor as &dyn Input));
        inputs.extend(more);
        self.call(kernel, &inputs, targets)
    }
}
