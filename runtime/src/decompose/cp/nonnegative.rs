//! Hierarchical alternating least squares: factors that are not negative.
//!
//! For each mode in turn, with M its MTTKRP and G the elementwise product of the other factors' AᵀA, each column of the factor is set to the
//! best there is for the other columns as they are: `A(:, q) = max(A(:, q) + (M(:, q) - A G(:, q)) / G(q, q), 0)` (Cichocki and Phan, Fast local
//! algorithms for large scale nonnegative matrix and tensor factorizations, 2009). So the residual never grows.

use super::CpOptions;
use super::batch::Batch;
use super::sweep::{Problem, Sweep, fit, norm, square};
use crate::decompose::elements::{dense, set};
use crate::decompose::start::Signs;
use crate::decompose::{DecomposeError, Fitted, KTensor, Observer};
use crate::tensor::{AnyTensor, ElementType};

/// What the method takes besides: nothing. The tensor may have negative entries, but factors to start from may not; of
/// [`Start::Hosvd`](crate::decompose::Start::Hosvd) absolute values are taken.
#[derive(Debug, Clone, Default)]
pub struct NonnegativeOptions {}

/// Norms of the factors of a component are made equal where one is so many times another.
const UNBALANCED: f64 = 8.0;

pub(super) fn run(
    x: &AnyTensor,
    _own: &NonnegativeOptions,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let problem = Problem::new(x, options)?;
    let size = norm(square(&problem.entries.values))?;
    let start = problem.start(x, Signs::NotNegative)?;
    let mut columns = None;
    let (rank, element) = (options.rank, problem.element);
    let (mut sweep, schedule) = problem.begin(x, &start, |batch| {
        columns = Some(Update::new(batch, rank, element)?);
        Ok(())
    })?;
    let mut columns = columns.ok_or(DecomposeError::Algebra("there is no kernel for columns"))?;
    let last = sweep.last();
    let before = match schedule.goes_on() {
        true => {
            sweep.multiply(last)?;
            Some(explained(&mut sweep, size)?)
        }
        false => None,
    };
    schedule.run(sweep, observe, before, |sweep, _| {
        balance(sweep)?;
        let order = by_weight(sweep);
        for mode in 0..=last {
            sweep.multiply(mode)?;
            columns.all(sweep, mode, &order)?;
        }
        explained(sweep, size)
    })
}

/// The fit, where the last MTTKRP is of the factors as they are.
fn explained(sweep: &mut Sweep<'_>, size: f64) -> Result<f64, DecomposeError> {
    let inner = sweep.inner()?;
    Ok(fit(size, sweep.square(), inner))
}

/// The 2-norm of each column of each factor.
fn norms(sweep: &Sweep<'_>) -> Vec<Vec<f64>> {
    let rank = sweep.rank();
    let of = |gram: &Vec<f64>| (0..rank).map(|r| gram[r * rank + r].max(0.0).sqrt()).collect();
    sweep.grams.iter().map(of).collect()
}

/// Components from the largest weight: the order of the model at the end, so that a run that goes on from it takes columns in the same order.
fn by_weight(sweep: &Sweep<'_>) -> Vec<usize> {
    let norms = norms(sweep);
    let weight = |r: usize| norms.iter().map(|norms| norms[r]).product::<f64>();
    let weights: Vec<f64> = (0..sweep.rank()).map(weight).collect();
    let mut order: Vec<usize> = (0..sweep.rank()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    order
}

/// Gives the factors of each component norms of the same size, which changes nothing of the model.
fn balance(sweep: &mut Sweep<'_>) -> Result<(), DecomposeError> {
    let norms = norms(sweep);
    let modes = norms.len();
    let mut scales = vec![vec![1.0; sweep.rank()]; modes];
    let mut is_balanced = true;
    for r in 0..sweep.rank() {
        let of = || norms.iter().map(|norms| norms[r]);
        let (least, largest) = (of().fold(f64::INFINITY, f64::min), of().fold(0.0, f64::max));
        if least > 0.0 && largest > UNBALANCED * least {
            is_balanced = false;
            let mean = (of().map(f64::ln).sum::<f64>() / modes as f64).exp();
            scales.iter_mut().zip(of()).for_each(|(scale, norm)| scale[r] = mean / norm);
        }
    }
    if is_balanced {
        return Ok(());
    }
    let rank = sweep.rank();
    for (mode, scale) in scales.iter().enumerate() {
        sweep.columns.scale(&sweep.compiled, &sweep.factors[mode], scale, &mut sweep.spare[mode])?;
        std::mem::swap(&mut sweep.factors[mode], &mut sweep.spare[mode]);
        let gram = sweep.grams[mode].iter_mut().enumerate();
        gram.for_each(|(place, value)| *value *= scale[place / rank] * scale[place % rank]);
        sweep.mttkrp.updated(mode);
    }
    Ok(())
}

/// The kernel that sets one column, by its place in a batch, and memory for what it reads besides.
#[derive(Debug)]
struct Update {
    kernel: usize,
    /// The column's row of G.
    gram: AnyTensor,
    /// 1 over the diagonal element of G for the column, 0 for all others.
    step: AnyTensor,
}

impl Update {
    fn new(batch: &mut Batch<'_>, rank: usize, element: ElementType) -> Result<Self, DecomposeError> {
        let e = element.name();
        let text = format!(
            "fn column(A: {e} dense, M: {e} dense, g: {e} dense, d: {e} dense) -> B: {e} dense {{
                let t(i) = A(i, s) * g(s);
                B(i, r) = max(A(i, r) + d(r) * (M(i, r) - t(i)), 0);
            }}"
        );
        let row = || dense(&[rank], &vec![0.0; rank], element);
        Ok(Self { kernel: batch.add_text(text, &[("r", rank), ("s", rank)]), gram: row()?, step: row()? })
    }

    /// The columns of a factor, one after the other.
    fn all(&mut self, sweep: &mut Sweep<'_>, mode: usize, order: &[usize]) -> Result<(), DecomposeError> {
        let (rank, gram) = (sweep.rank(), sweep.hadamard(Some(mode)));
        let Sweep { compiled, factors, spare, products, .. } = sweep;
        let mut step = vec![0.0; rank];
        for &q in order {
            let diagonal = gram[q * rank + q];
            if !diagonal.is_finite() {
                return Err(DecomposeError::Algebra("products of the factors' columns are not finite"));
            }
            // A component without a column in another mode adds nothing, whatever this one is.
            if diagonal <= 0.0 {
                continue;
            }
            step.fill(0.0);
            step[q] = 1.0 / diagonal;
            set(&mut self.gram, &gram[q * rank..(q + 1) * rank]);
            set(&mut self.step, &step);
            compiled.call(self.kernel, &[&factors[mode], &products[mode], &self.gram, &self.step], &mut spare[mode])?;
            std::mem::swap(&mut factors[mode], &mut spare[mode]);
        }
        sweep.grams[mode] = sweep.columns.gram(&sweep.compiled, &sweep.factors[mode])?;
        sweep.mttkrp.updated(mode);
        Ok(())
    }
}
