//! Kernels that are compiled together, and those on matrices of factor size.

use crate::decompose::engine::Clock;
use crate::decompose::{DecomposeError, Engine, Factor};
use crate::execute::{Kernel, KernelBuilder};
use crate::tensor::{AnyTensor, ElementType, InvalidTensor};
use spc_compiler::format::Format;

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

    /// The same, unless there is one of that key, whose place it says.
    pub(super) fn add_once(&mut self, key: String, builder: KernelBuilder) -> usize {
        if let Some((_, place)) = self.keys.iter().find(|(known, _)| *known == key) {
            return *place;
        }
        let place = self.add(builder);
        self.keys.push((key, place));
        place
    }

    pub(super) fn compile(self) -> Result<Vec<Kernel>, DecomposeError> {
        Ok(self.engine.compile(self.builders)?)
    }
}

/// Kernels on factors and on what has their shape, by place in a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dense {
    rank: usize,
    element: ElementType,
    solve: usize,
    gram: usize,
    largest: usize,
    scale: usize,
    inner: usize,
}

impl Dense {
    pub(super) fn new(engine: &Engine, rank: usize, element: ElementType, batch: &mut Batch<'_>) -> Self {
        let e = element.name();
        // Sums of many terms are of f64, whatever the factors are of.
        let wide =
            |access: &str| if element == ElementType::F32 { format!("f64({access})") } else { access.to_owned() };
        let mut add = |text: String, has_columns: bool| {
            let builder = engine.builder(text).dimension("r", rank);
            batch.add(if has_columns { builder.dimension("s", rank) } else { builder })
        };
        Self {
            rank,
            element,
            solve: add(
                format!("fn solve(M: {e} dense, P: {e} dense) -> A: {e} dense {{ A(i, s) = M(i, r) * P(r, s); }}"),
                true,
            ),
            // Four rows at a time: a row of the result is read and written once for them.
            gram: add(
                format!(
                    "fn gram(A: {e} dense) -> G: f64 dense {{ G(r, s) = {} * {}; }} schedule {{ split(i, i0, i1, 4); reorder(i0, r, i1, s); unroll(i1); }}",
                    wide("A(i, r)"),
                    wide("A(i, s)")
                ),
                true,
            ),
            largest: add(format!("fn largest(A: {e} dense) -> m: {e} dense {{ m(r) max= abs(A(i, r)); }}"), false),
            scale: add(
                format!("fn scale(A: {e} dense, w: {e} dense) -> B: {e} dense {{ B(i, r) = A(i, r) * w(r); }}"),
                false,
            ),
            inner: add(
                format!(
                    "fn inner(M: {e} dense, A: {e} dense) -> c: f64 dense {{ c(r) = {} * {}; }}",
                    wide("M(i, r)"),
                    wide("A(i, r)")
                ),
                false,
            ),
        }
    }
}

/// Kernels on factors, and memory for what has the size of the rank.
#[derive(Debug)]
pub(super) struct Steps {
    dense: Dense,
    kernels: Vec<Kernel>,
    pub(super) clock: Clock,
    square: AnyTensor,
    gram: AnyTensor,
    row: AnyTensor,
    other_row: AnyTensor,
    largest: AnyTensor,
    sums: AnyTensor,
}

impl Steps {
    pub(super) fn new(dense: Dense, kernels: Vec<Kernel>) -> Result<Self, DecomposeError> {
        let Dense { rank, element, .. } = dense;
        let zeros = |shape: Vec<usize>, element| {
            let format = Format::dense(shape.len());
            AnyTensor::zeros(shape, format, element)
        };
        Ok(Self {
            dense,
            kernels,
            clock: Clock::default(),
            square: zeros(vec![rank, rank], element)?,
            gram: zeros(vec![rank, rank], ElementType::F64)?,
            row: zeros(vec![rank], element)?,
            other_row: zeros(vec![rank], element)?,
            largest: zeros(vec![rank], element)?,
            sums: zeros(vec![rank], ElementType::F64)?,
        })
    }

    /// All kernels of the batch.
    pub(super) fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// A = M P, with P of rank × rank.
    pub(super) fn solve(&mut self, m: &AnyTensor, p: &[f64], a: &mut AnyTensor) -> Result<(), DecomposeError> {
        fill(&mut self.square, p);
        let kernel = &self.kernels[self.dense.solve];
        Ok(self.clock.kernel(|| kernel.call_into(&[m, &self.square], a))?)
    }

    /// AᵀA.
    pub(super) fn gram(&mut self, a: &AnyTensor) -> Result<Vec<f64>, DecomposeError> {
        let kernel = &self.kernels[self.dense.gram];
        self.clock.kernel(|| kernel.call_into(&[a], &mut self.gram))?;
        Ok(self.gram.values_of::<f64>().unwrap_or_default().to_vec())
    }

    /// The largest absolute value of each column.
    pub(super) fn largest(&mut self, a: &AnyTensor) -> Result<Vec<f64>, DecomposeError> {
        let kernel = &self.kernels[self.dense.largest];
        self.clock.kernel(|| kernel.call_into(&[a], &mut self.largest))?;
        Ok(numbers(&self.largest))
    }

    /// Columns times numbers.
    pub(super) fn scale(&mut self, a: &AnyTensor, by: &[f64], b: &mut AnyTensor) -> Result<(), DecomposeError> {
        fill(&mut self.row, by);
        let kernel = &self.kernels[self.dense.scale];
        Ok(self.clock.kernel(|| kernel.call_into(&[a, &self.row], b))?)
    }

    /// What a kernel of the batch makes of two matrices and two rows.
    pub(super) fn column(
        &mut self,
        kernel: usize,
        (a, m): (&AnyTensor, &AnyTensor),
        (g, d): (&[f64], &[f64]),
        b: &mut AnyTensor,
    ) -> Result<(), DecomposeError> {
        fill(&mut self.row, g);
        fill(&mut self.other_row, d);
        let kernel = &self.kernels[kernel];
        Ok(self.clock.kernel(|| kernel.call_into(&[a, m, &self.row, &self.other_row], b))?)
    }

    /// For each column, the sum of the products of elements.
    pub(super) fn inner(&mut self, m: &AnyTensor, a: &AnyTensor) -> Result<Vec<f64>, DecomposeError> {
        let kernel = &self.kernels[self.dense.inner];
        self.clock.kernel(|| kernel.call_into(&[m, a], &mut self.sums))?;
        Ok(numbers(&self.sums))
    }
}

/// Sets the elements of a dense tensor of `f64` or `f32`.
pub(super) fn fill(tensor: &mut AnyTensor, numbers: &[f64]) {
    if let Some(values) = tensor.values_mut::<f64>() {
        values.copy_from_slice(numbers);
    } else if let Some(values) = tensor.values_mut::<f32>() {
        values.iter_mut().zip(numbers).for_each(|(value, &number)| *value = number as f32);
    }
}

/// The elements of a dense tensor of `f64` or `f32`.
pub(super) fn numbers(tensor: &AnyTensor) -> Vec<f64> {
    let narrow = || tensor.values_of::<f32>().unwrap_or_default().iter().map(|&value| value.into()).collect();
    tensor.values_of::<f64>().map_or_else(narrow, <[f64]>::to_vec)
}

/// A factor of `f64` or `f32`, as kernels take it.
pub(super) fn of_factor(factor: &Factor, element: ElementType) -> Result<AnyTensor, InvalidTensor> {
    if element == ElementType::F64 {
        return Ok(factor.as_any().clone());
    }
    let mut made = AnyTensor::zeros(factor.shape().to_vec(), Format::dense(2), element)?;
    fill(&mut made, factor.values());
    Ok(made)
}
