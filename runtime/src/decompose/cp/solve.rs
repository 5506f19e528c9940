//! Kernels of least squares: a factor from its MTTKRP, and the inner product of both.

use super::batch::{Batch, Compiled};
use super::columns::wide;
use crate::decompose::DecomposeError;
use crate::decompose::elements::{numbers, set};
use crate::tensor::{AnyTensor, ElementType};
use spc_compiler::format::Format;

/// The kernels, by place in a batch, and memory for what has the size of the rank.
#[derive(Debug)]
pub(super) struct Solve {
    solve: usize,
    inner: usize,
    square: AnyTensor,
    sums: AnyTensor,
}

impl Solve {
    pub(super) fn new(batch: &mut Batch<'_>, rank: usize, element: ElementType) -> Result<Self, DecomposeError> {
        let e = element.name();
        let solve = format!("fn solve(M: {e} dense, P: {e} dense) -> A: {e} dense {{ A(i, s) = M(i, r) * P(r, s); }}");
        let inner = format!(
            "fn inner(M: {e} dense, A: {e} dense) -> c: f64 dense {{ c(r) = {} * {}; }}",
            wide("M(i, r)", element),
            wide("A(i, r)", element)
        );
        Ok(Self {
            solve: batch.add_text(solve, &[("r", rank), ("s", rank)]),
            inner: batch.add_text(inner, &[("r", rank)]),
            square: AnyTensor::zeros(vec![rank, rank], Format::dense(2), element)?,
            sums: AnyTensor::zeros(vec![rank], Format::dense(1), ElementType::F64)?,
        })
    }

    /// A = M P, with P of rank × rank.
    pub(super) fn solve(
        &mut self,
        compiled: &Compiled,
        m: &AnyTensor,
        p: &[f64],
        a: &mut AnyTensor,
    ) -> Result<(), DecomposeError> {
        set(&mut self.square, p);
        compiled.call(self.solve, &[m, &self.square], a)
    }

    /// For each column, the sum of the products of elements.
    pub(super) fn inner(
        &mut self,
        compiled: &Compiled,
        m: &AnyTensor,
        a: &AnyTensor,
    ) -> Result<Vec<f64>, DecomposeError> {
        compiled.call(self.inner, &[m, a], &mut self.sums)?;
        Ok(numbers(&self.sums))
    }
}
