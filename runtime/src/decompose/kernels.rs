//! The entries of a tensor, checked, and scaled so that no square leaves the range of `f64`.

use super::{DecomposeError, Engine};
use crate::execute::{Kernel, ProgramError};
use crate::tensor::{AnyTensor, Coordinates, Element, ElementType, Indices, InvalidTensor, LevelStorage, OutOfMemory};
use crate::with_element;
use spc_compiler::format::Format;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Entries as `f64`, none zero, the largest between 1 and 2: times a power of two.
#[derive(Debug, Clone)]
pub(super) struct Scaled {
    /// The entries.
    pub entries: Coordinates<f64>,
    /// What they were multiplied by.
    pub scale: f64,
    /// The root of the sum of their squares.
    pub norm: f64,
}

/// The entries of a tensor of real numbers.
///
/// # Errors
/// When one is not finite, or there is not enough memory.
pub(super) fn scaled(x: &AnyTensor) -> Result<Scaled, DecomposeError> {
    fn of<T: Element>(x: &AnyTensor) -> Result<Coordinates<f64>, OutOfMemory> {
        let Coordinates { shape, shape_is_stated, indices, values } = x.try_to_coordinates::<T>()?;
        let values = crate::memory::try_collected(values.into_iter().map(T::to_f64))?;
        Ok(Coordinates { shape, shape_is_stated, indices, values })
    }
    let mut entries = with_element!(x.element(), |T| of::<T>(x)).map_err(InvalidTensor::Memory)?;
    if let Some(entry) = entries.values.iter().position(|value| !value.is_finite()) {
        let at = |mode: &Indices| match mode {
            Indices::U32(indices) => indices[entry] as usize,
            Indices::U64(indices) => indices[entry] as usize,
        };
        let index = entries.indices.iter().map(at).collect();
        return Err(DecomposeError::NotFinite { index, value: entries.values[entry] });
    }
    entries.remove(&0.0);
    let largest = entries.values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { (-largest.log2().floor()).clamp(-1000.0, 1000.0).exp2() } else { 1.0 };
    entries.values.iter_mut().for_each(|value| *value *= scale);
    // Sums of parts lose less than one long sum.
    let parts = entries.values.chunks(1024).map(|part| part.iter().map(|value| value * value).sum::<f64>());
    let norm = parts.sum::<f64>().sqrt();
    Ok(Scaled { entries, scale, norm })
}

/// The elements of factors in kernels: those that are asked for, else `f32` for a tensor of `f32` and `f64` for all others.
///
/// # Errors
/// When they are asked to be anything else.
pub(super) fn kernel_element(x: &AnyTensor, asked: Option<ElementType>) -> Result<ElementType, DecomposeError> {
    match asked {
        Some(ElementType::F32 | ElementType::F64) => Ok(asked.unwrap_or(ElementType::F64)),
        Some(other) => {
            let name = other.name();
            Err(DecomposeError::Option(format!("factors are of elements f32 or f64, not {name}")))
        }
        None if x.element() == ElementType::F32 => Ok(ElementType::F32),
        None => Ok(ElementType::F64),
    }
}

/// A dense tensor of numbers, row after row, as elements of a type.
pub(super) fn dense(shape: &[usize], numbers: &[f64], element: ElementType) -> Result<AnyTensor, DecomposeError> {
    let mut tensor = AnyTensor::zeros(shape.to_vec(), Format::dense(shape.len()), element)?;
    set(&mut tensor, numbers);
    Ok(tensor)
}

/// Writes numbers into a dense tensor that has as many elements.
pub(super) fn set(tensor: &mut AnyTensor, numbers: &[f64]) {
    fn convert<T: Element>(values: &mut [T], numbers: &[f64]) {
        values.iter_mut().zip(numbers).for_each(|(value, number)| *value = T::from_c64((*number).into()));
    }
    with_element!(tensor.element(), |T| if let Some(values) = tensor.values_mut::<T>() {
        convert(values, numbers);
    });
}

/// The stored values of a tensor.
pub(super) fn numbers(tensor: &AnyTensor) -> Vec<f64> {
    with_element!(tensor.element(), |T| tensor
        .values_of::<T>()
        .unwrap_or_default()
        .iter()
        .map(|value| value.to_f64())
        .collect())
}

/// A tensor of arrays that belong together.
pub(super) fn of_levels(shape: Vec<usize>, format: Format, levels: Vec<LevelStorage>, of: &AnyTensor) -> AnyTensor {
    AnyTensor::from_parts_trusted(shape, format, levels, of.values().clone())
}

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
