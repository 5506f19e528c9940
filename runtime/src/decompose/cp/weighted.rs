//! Alternating least squares with a weight for each entry: missing entries have none.
//!
//! ```text
//! G(i, r, s) = W(i, j, k) * B(j, r) * C(k, r) * B(j, s) * C(k, s)      for each row i a system of its own,
//! V(i, r)    = W(i, j, k) * X(i, j, k) * B(j, r) * C(k, r)             A(i, :) G(i, :, :) = V(i, :)
//! ```
//!
//! Each mode is solved exactly. That takes more work and memory than to fill missing entries with what the model has there, and far fewer
//! iterations (Tomasi and Bro, PARAFAC and missing values, 2005, compare the two).

use super::batch::Batch;
use super::columns::wide;
use super::mttkrp::{Setting, tree};
use super::sweep::{Problem, Sweep, fit};
use crate::decompose::entries::{checked, not_negative, scaled};
use crate::decompose::start::Signs;
use crate::decompose::{DecomposeError, Fitted, KTensor, Observer, algebra};
use crate::execute::Input;
use crate::memory::budget;
use crate::tensor::{AnyTensor, Coordinates, Duplicates, Element, ElementType, pack};
use rayon::prelude::*;
use spc_compiler::format::Format;

/// The systems of a mode.
#[derive(Debug)]
struct Systems {
    /// W with the mode outermost, and the modes of its other levels.
    weights: AnyTensor,
    others: Vec<usize>,
    kernel: usize,
    /// G.
    matrices: AnyTensor,
}

/// As [`als`](super::als), with weights of the shape of the tensor.
pub(super) fn run(
    mut problem: Problem<'_>,
    weights: &AnyTensor,
    by_max: bool,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let weights = entries_of_weights(weights, &problem)?;
    let (entries, square) = weighted(&problem.entries, &weights)?;
    let size = square.sqrt();
    if !size.is_finite() {
        return Err(DecomposeError::Algebra("the sum of the weighted squares of all entries is not finite"));
    }
    let x = pack(entries.clone(), &Format::csf(problem.shape.len()), Duplicates::Sum)?;
    problem.entries = entries;
    let (start, setting) = (problem.start(&x, Signs::Any)?, problem.setting());
    let mut systems = Vec::new();
    let (mut sweep, schedule) = problem.begin(&x, &start, |batch| {
        systems = Systems::of_modes(&weights, setting, batch)?;
        Ok(())
    })?;
    let last = sweep.last();
    let before = match schedule.goes_on() {
        true => {
            systems[last].make(&mut sweep, last)?;
            let (matrices, right) = (&systems[last].matrices, &sweep.products[last]);
            let (inner, square) = forms(matrices, right, &mut sweep.factors[last].clone(), false)?;
            Some(fit(size, square, inner))
        }
        false => None,
    };
    schedule.run(sweep, observe, before, |sweep, number| {
        let mut found = (0.0, 0.0);
        for (mode, systems) in systems.iter_mut().enumerate() {
            systems.make(sweep, mode)?;
            found = forms(&systems.matrices, &sweep.products[mode], &mut sweep.spare[mode], true)?;
            sweep.take(mode, vec![1.0; sweep.rank()], by_max && number > 1)?;
        }
        let (inner, square) = found;
        Ok(fit(size, square, inner))
    })
}

/// The weights, which must be those of the tensor's entries.
fn entries_of_weights(weights: &AnyTensor, problem: &Problem<'_>) -> Result<Coordinates<f64>, DecomposeError> {
    if weights.shape() != problem.shape {
        let (found, shape) = (weights.shape(), &problem.shape);
        return Err(DecomposeError::Option(format!("the weights have shape {found:?}, and the tensor {shape:?}")));
    }
    let order = problem.shape.len();
    checked(weights, order, order)?;
    not_negative(weights, "a weight")?;
    // Weights count relative to each other.
    let entries = scaled(weights)?.entries;
    if entries.values.is_empty() {
        return Err(DecomposeError::Option("all weights are zero: there are no entries to fit".to_owned()));
    }
    Ok(entries)
}

/// W X, and Σ W X².
fn weighted(x: &Coordinates<f64>, weights: &Coordinates<f64>) -> Result<(Coordinates<f64>, f64), DecomposeError> {
    let x = pack(x.clone(), &Format::csf(x.shape.len()), Duplicates::Sum)?;
    let mut square = 0.0;
    let value = |entry: usize| x.locate(&weights.index(entry)).map_or(0.0, |place| x.values().get_f64(place));
    let product = |(entry, weight): (usize, &f64)| {
        let value = value(entry);
        square += weight * value * value;
        weight * value
    };
    let values = weights.values.iter().enumerate().map(product).collect();
    let mut products = Coordinates { values, ..weights.clone() };
    products.remove(&0.0);
    Ok((products, square))
}

impl Systems {
    fn of_modes(
        weights: &Coordinates<f64>,
        setting: Setting<'_>,
        batch: &mut Batch<'_>,
    ) -> Result<Vec<Self>, DecomposeError> {
        let (rank, order) = (setting.rank, weights.shape.len());
        let rows: usize = weights.shape.iter().sum();
        let (needed, given) = (rows as f64 * (rank * rank) as f64 * 8.0, budget(setting.memory) as f64);
        if needed > given {
            return Err(DecomposeError::Option(format!(
                "weights need a system of {rank} × {rank} numbers for each of {rows} rows, {:.1} MB where there may be {:.1}: choose a smaller rank",
                needed / 1e6,
                given / 1e6
            )));
        }
        let of_mode = |mode: usize| {
            let others: Vec<usize> = (0..order).filter(|&other| other != mode).collect();
            let weights = tree(weights, &[&[mode], &others[..]].concat(), setting.element)?;
            let kernel = Self::kernel(&weights, setting, batch);
            let shape = vec![weights.shape()[0], rank, rank];
            let matrices = AnyTensor::zeros(shape, Format::dense(3), ElementType::F64)?;
            Ok(Self { weights, others, kernel, matrices })
        };
        (0..order).map(of_mode).collect()
    }

    fn kernel(weights: &AnyTensor, setting: Setting<'_>, batch: &mut Batch<'_>) -> usize {
        let Setting { engine, rank, element, .. } = setting;
        let (order, format, name) = (weights.order(), weights.format(), element.name());
        let names: Vec<String> = (0..order).map(|level| format!("i{level}")).collect();
        let row = |column: &str| (1..order).map(|n| format!("U{n}(i{n}, {column})")).collect::<Vec<_>>().join(" * ");
        let left = wide(&format!("W({}) * {}", names.join(", "), row("r")), element);
        let factors: String = (1..order).map(|n| format!(", U{n}: {name} dense")).collect();
        let text = format!(
            "fn systems(W: {name} {format}{factors}) -> G: f64 dense {{ G(i0, r, s) = {left} * {}; }} schedule {{ reorder({}, r, s); }}",
            wide(&row("s"), element),
            names.join(", ")
        );
        let builder = engine.builder(&text).dimension("r", rank).dimension("s", rank);
        batch.add_once(text, builder)
    }

    /// G and V of a mode, with the factors as they are.
    fn make(&mut self, sweep: &mut Sweep<'_>, mode: usize) -> Result<(), DecomposeError> {
        sweep.multiply(mode)?;
        let Sweep { compiled, factors, .. } = sweep;
        let weights: &dyn Input = &self.weights;
        let others = self.others.iter().map(|&other| -> &dyn Input { &factors[other] });
        let inputs: Vec<&dyn Input> = [weights].into_iter().chain(others).collect();
        compiled.call(self.kernel, &inputs, &mut self.matrices)
    }
}

/// Σᵢ A(i, :) V(i, :)ᵀ and Σᵢ A(i, :) G(i, :, :) A(i, :)ᵀ, where each row of A solves its system if it is to be solved first.
fn forms(
    matrices: &AnyTensor,
    right: &AnyTensor,
    a: &mut AnyTensor,
    solve: bool,
) -> Result<(f64, f64), DecomposeError> {
    let matrices = matrices.values_of::<f64>().unwrap_or_default();
    if let (Some(right), Some(a)) = (right.values_of::<f64>(), a.values_mut::<f64>()) {
        return forms_of(matrices, right, a, solve);
    }
    match (right.values_of::<f32>(), a.values_mut::<f32>()) {
        (Some(right), Some(a)) => forms_of(matrices, right, a, solve),
        _ => Ok((0.0, 0.0)),
    }
}

/// Rows that a task takes: sums over them are added in order, whatever the number of threads.
const ROWS: usize = 64;

fn forms_of<T: Element>(matrices: &[f64], right: &[T], a: &mut [T], solve: bool) -> Result<(f64, f64), DecomposeError> {
    let rank = matrices.len().checked_div(right.len()).unwrap_or(0).max(1);
    let task = |((matrices, right), a): ((&[f64], &[T]), &mut [T])| -> Result<(f64, f64), DecomposeError> {
        let (mut inner, mut square) = (0.0, 0.0);
        for ((matrix, right), a) in
            matrices.chunks_exact(rank * rank).zip(right.chunks_exact(rank)).zip(a.chunks_exact_mut(rank))
        {
            let dot = |row: &[f64], of: &[T]| row.iter().zip(of).map(|(one, other)| one * other.to_f64()).sum::<f64>();
            if solve {
                let inverse = algebra::inverse(matrix, rank)?;
                for (a, row) in a.iter_mut().zip(inverse.chunks_exact(rank)) {
                    *a = T::from_f64(dot(row, right));
                }
            }
            for (row, (a_r, right)) in matrix.chunks_exact(rank).zip(a.iter().zip(right)) {
                inner += a_r.to_f64() * right.to_f64();
                square += a_r.to_f64() * dot(row, a);
            }
        }
        Ok((inner, square))
    };
    let tasks = matrices.par_chunks(ROWS * rank * rank).zip(right.par_chunks(ROWS * rank));
    let sums: Vec<_> = tasks.zip(a.par_chunks_mut(ROWS * rank)).map(task).collect::<Result<_, _>>()?;
    Ok(sums.into_iter().fold((0.0, 0.0), |(inner, square), (a, b)| (inner + a, square + b)))
}
