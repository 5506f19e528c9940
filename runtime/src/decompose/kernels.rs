//! Kernels by their texts, each compiled once.

use super::Engine;
use crate::execute::{Kernel, ProgramError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The text of a kernel, and extents that are known beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// The text.
    pub text: String,
    /// Extents by index.
    pub dimensions: Vec<(&'static str, usize)>,
}

impl Source {
    /// A text.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), dimensions: Vec::new() }
    }

    /// With the extent of an index, so that loops over a short one are written out. A long one is left to the call.
    pub(super) fn with(mut self, index: &'static str, extent: usize) -> Self {
        const SHORT: usize = 64;
        if extent <= SHORT {
            self.dimensions.push((index, extent));
        }
        self
    }
}

/// Kernels by their texts; each is compiled once.
#[derive(Debug)]
pub(super) struct Kernels<'a> {
    engine: &'a Engine,
    known: Vec<(Source, Arc<Kernel>)>,
    /// How long it took to compile them.
    pub time: Duration,
}

impl<'a> Kernels<'a> {
    /// None yet.
    pub(super) fn new(engine: &'a Engine) -> Self {
        Self { engine, known: Vec::new(), time: Duration::ZERO }
    }

    /// Compiles those that are not there, side by side.
    pub(super) fn compile(&mut self, sources: impl IntoIterator<Item = Source>) -> Result<(), ProgramError> {
        let start = Instant::now();
        let mut missing: Vec<Source> = Vec::new();
        for source in sources {
            if !missing.contains(&source) && self.find(&source).is_none() {
                missing.push(source);
            }
        }
        let builder = |source: &Source| {
            let builder = self.engine.builder(&source.text);
            source.dimensions.iter().fold(builder, |builder, &(index, extent)| builder.dimension(index, extent))
        };
        let kernels = self.engine.compile(missing.iter().map(builder).collect())?;
        self.known.extend(missing.into_iter().zip(kernels.into_iter().map(Arc::new)));
        self.time += start.elapsed();
        Ok(())
    }

    /// The kernel of a text, compiled if it is not there.
    pub(super) fn get(&mut self, source: &Source) -> Result<Arc<Kernel>, ProgramError> {
        if self.find(source).is_none() {
            self.compile([source.clone()])?;
        }
        let name = || ProgramError::NotOneKernel { names: Vec::new() };
        self.find(source).ok_or_else(name)
    }

    fn find(&self, source: &Source) -> Option<Arc<Kernel>> {
        self.known.iter().find(|(known, _)| known == source).map(|(_, kernel)| kernel.clone())
    }
}
