//! Kernels on the columns of factors: their products with each other, their sizes, and multiples of them.

use super::batch::{Batch, Compiled};
use crate::decompose::DecomposeError;
use crate::decompose::elements::{numbers, set};
use crate::tensor::{AnyTensor, ElementType};
use spc_compiler::format::Format;

/// What the size of a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// The largest absolute value.
    Largest,
    /// The sum of absolute values.
    Sum,
}

/// The kernels, by place in a batch, and memory for what has the size of the rank.
#[derive(Debug)]
pub(super) struct Columns {
    gram: usize,
    size: usize,
    scale: usize,
    square: AnyTensor,
    sizes: AnyTensor,
    factors: AnyTensor,
}

/// An access as `f64`: sums of many terms are of `f64`, whatever the factors are of.
pub(super) fn wide(access: &str, element: ElementType) -> String {
    if element == ElementType::F32 { format!("f64({access})") } else { access.to_owned() }
}

impl Columns {
    pub(super) fn new(
        batch: &mut Batch<'_>,
        rank: usize,
        element: ElementType,
        size: Size,
    ) -> Result<Self, DecomposeError> {
        let (e, wide) = (element.name(), |access: &str| wide(access, element));
        let (r, s) = (("r", rank), ("s", rank));
        let gram = format!(
            "fn gram(A: {e} dense) -> G: f64 dense {{ G(r, s) = {} * {}; }} schedule {{ {} }}",
            wide("A(i, r)"),
            wide("A(i, s)"),
            gram_schedule(rank)
        );
        let operator = if size == Size::Largest { "max=" } else { "=" };
        let sizes = format!("fn sizes(A: {e} dense) -> m: f64 dense {{ m(r) {operator} {}; }}", wide("abs(A(i, r))"));
        let scale = format!("fn scale(A: {e} dense, w: {e} dense) -> B: {e} dense {{ B(i, r) = A(i, r) * w(r); }}");
        Ok(Self {
            gram: batch.add_text(gram, &[r, s]),
            size: batch.add_text(sizes, &[r]),
            scale: batch.add_text(scale, &[r]),
            square: AnyTensor::zeros(vec![rank, rank], Format::dense(2), ElementType::F64)?,
            sizes: AnyTensor::zeros(vec![rank], Format::dense(1), ElementType::F64)?,
            factors: AnyTensor::zeros(vec![rank], Format::dense(1), element)?,
        })
    }

    /// AᵀA, row after row.
    pub(super) fn gram(&mut self, compiled: &Compiled, a: &AnyTensor) -> Result<Vec<f64>, DecomposeError> {
        compiled.call(self.gram, &[a], &mut self.square)?;
        Ok(numbers(&self.square))
    }

    /// The size of each column.
    pub(super) fn sizes(&mut self, compiled: &Compiled, a: &AnyTensor) -> Result<Vec<f64>, DecomposeError> {
        compiled.call(self.size, &[a], &mut self.sizes)?;
        Ok(numbers(&self.sizes))
    }

    /// B: each column of A times a number.
    pub(super) fn scale(
        &mut self,
        compiled: &Compiled,
        a: &AnyTensor,
        by: &[f64],
        b: &mut AnyTensor,
    ) -> Result<(), DecomposeError> {
        set(&mut self.factors, by);
        compiled.call(self.scale, &[a, &self.factors], b)
    }
}

/// The schedule of AᵀA that was fastest, two to six times as fast as the next, with 12,523 rows on a processor with AVX-512. Up to 96 columns
/// four rows go at a time, so that a row of the result is read and written once for them; from 49 on in strips of registers.
fn gram_schedule(rank: usize) -> &'static str {
    match rank {
        0..=48 => "split(i, i0, i1, 4); reorder(i0, r, i1, s); unroll(i1);",
        49..=96 => "split(i, i0, i1, 4); split(s, s0, s1, 32); reorder(i0, r, s0, i1, s1); unroll(i1);",
        _ => "reorder(i, r, s);",
    }
}

/// The products of the elements of all but one: of Gram matrices, or of sizes of columns.
pub(super) fn product(of_factors: &[Vec<f64>], except: Option<usize>) -> Vec<f64> {
    let mut product = vec![1.0; of_factors.first().map_or(0, Vec::len)];
    for (_, of_factor) in of_factors.iter().enumerate().filter(|&(mode, _)| Some(mode) != except) {
        product.iter_mut().zip(of_factor).for_each(|(product, element)| *product *= element);
    }
    product
}
