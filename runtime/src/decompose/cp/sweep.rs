//! What methods share that update one factor after the other.

use super::CpOptions;
use super::kernels::{Batch, Dense, Steps, numbers, of_factor};
use super::mttkrp::{Mttkrp, Setting, entries_of};
use crate::decompose::engine::checked;
use crate::decompose::start;
use crate::decompose::{DecomposeError, Factor, Fitted, Iteration, KTensor, Model, Norm, Observer, Step, Stopped};
use crate::tensor::{AnyTensor, Coordinates, ElementType};
use spc_compiler::format::Format;
use std::time::{Duration, Instant};

/// A tensor and options that have been checked.
#[derive(Debug)]
pub(super) struct Problem<'o> {
    pub(super) options: &'o CpOptions,
    pub(super) shape: Vec<usize>,
    pub(super) element: ElementType,
    /// Without zeros.
    pub(super) entries: Coordinates<f64>,
    began: Instant,
}

impl<'o> Problem<'o> {
    pub(super) fn new(x: &AnyTensor, options: &'o CpOptions) -> Result<Self, DecomposeError> {
        let began = Instant::now();
        checked(x, 2, 8)?;
        if options.rank == 0 {
            return Err(DecomposeError::Option("the rank is 0: a model has at least one component".to_owned()));
        }
        if let Some(mode) = x.shape().iter().position(|&extent| extent == 0) {
            let message = format!("mode {} of the tensor has extent 0: there is nothing to decompose", mode + 1);
            return Err(DecomposeError::Option(message));
        }
        let narrow = if x.element() == ElementType::F32 { ElementType::F32 } else { ElementType::F64 };
        let element = options.element.unwrap_or(narrow);
        if !matches!(element, ElementType::F32 | ElementType::F64) {
            let message = format!("factors are of f64 or f32, and not of {}", element.name());
            return Err(DecomposeError::Option(message));
        }
        let entries = entries_of(x, element)?;
        Ok(Self { options, shape: x.shape().to_vec(), element, entries, began })
    }

    /// What MTTKRPs of this tensor take.
    pub(super) fn setting(&self) -> Setting<'o> {
        let CpOptions { rank, engine, memory, .. } = self.options;
        Setting { engine, rank: *rank, element: self.element, memory: *memory }
    }

    /// The factors to start from, weights in the last one.
    pub(super) fn start(&self, x: &AnyTensor) -> Result<Vec<Factor>, DecomposeError> {
        let CpOptions { rank, start, engine, .. } = self.options;
        let model = start::factors(x, *rank, start, engine)?;
        let mut factors = model.factors().to_vec();
        if let Some(last) = factors.last_mut() {
            for row in last.values_mut().chunks_exact_mut(*rank) {
                row.iter_mut().zip(model.weights()).for_each(|(value, weight)| *value *= weight);
            }
        }
        for (mode, factor) in factors.iter().enumerate() {
            if factor.values().iter().any(|value| !value.is_finite()) {
                let message = format!("the factor of mode {} to start from has a value that is not finite", mode + 1);
                return Err(DecomposeError::Start(message));
            }
        }
        Ok(factors)
    }

    /// Makes copies of the tensor, compiles all kernels, and begins.
    pub(super) fn begin(
        self,
        x: &AnyTensor,
        start: &[Factor],
        more: impl FnOnce(&mut Batch<'_>) -> Result<(), DecomposeError>,
    ) -> Result<(Sweep, Schedule<'o>), DecomposeError> {
        let setting = self.setting();
        let Self { options, shape, element, entries, began } = self;
        let mut batch = Batch::new(&options.engine);
        let dense = Dense::new(&options.engine, options.rank, element, &mut batch);
        let mttkrp = Mttkrp::new(x, &entries, setting, &mut batch)?;
        drop(entries);
        more(&mut batch)?;
        let compiling = Instant::now();
        let kernels = batch.compile()?;
        let compile_time = compiling.elapsed();
        let room = || -> Result<Vec<AnyTensor>, DecomposeError> {
            let zeros = |&extent: &usize| AnyTensor::zeros(vec![extent, options.rank], Format::dense(2), element);
            Ok(shape.iter().map(zeros).collect::<Result<_, _>>()?)
        };
        let mut steps = Steps::new(dense, kernels)?;
        let factors = start.iter().map(|factor| of_factor(factor, element)).collect::<Result<Vec<_>, _>>()?;
        let grams = factors.iter().map(|factor| steps.gram(factor)).collect::<Result<_, _>>()?;
        let weights = vec![1.0; options.rank];
        let expected = vec![weights.clone(); shape.len()];
        let sweep = Sweep { mttkrp, steps, factors, spare: room()?, products: room()?, grams, weights, expected };
        sweep.steps.clock.taken();
        let prepare_time = began.elapsed().saturating_sub(compile_time);
        Ok((sweep, Schedule { options, iterations: Vec::new(), before: None, compile_time, prepare_time }))
    }
}

/// Factors, and what is made of them.
#[derive(Debug)]
pub(super) struct Sweep {
    pub(super) mttkrp: Mttkrp,
    pub(super) steps: Steps,
    pub(super) factors: Vec<AnyTensor>,
    /// Room for the next factors.
    pub(super) spare: Vec<AnyTensor>,
    /// The MTTKRP of each mode.
    pub(super) products: Vec<AnyTensor>,
    /// AᵀA of each factor.
    pub(super) grams: Vec<Vec<f64>>,
    pub(super) weights: Vec<f64>,
    /// The norms that the columns of each least squares solution are expected to have: those of the one before.
    pub(super) expected: Vec<Vec<f64>>,
}

impl Sweep {
    pub(super) fn rank(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn last(&self) -> usize {
        self.factors.len() - 1
    }

    /// The MTTKRP of a mode with the factors as they are.
    pub(super) fn multiply(&mut self, mode: usize) -> Result<(), DecomposeError> {
        let Self { mttkrp, steps, factors, products, .. } = self;
        mttkrp.leaf(mode, factors, &mut products[mode], steps.kernels(), &steps.clock)
    }

    /// The elementwise product of AᵀA of all factors but one, or of all.
    pub(super) fn hadamard(&self, without: Option<usize>) -> Vec<f64> {
        let mut product = vec![1.0; self.rank() * self.rank()];
        for (_, gram) in self.grams.iter().enumerate().filter(|&(mode, _)| Some(mode) != without) {
            product.iter_mut().zip(gram).for_each(|(product, value)| *product *= value);
        }
        product
    }

    /// The square of the model's norm.
    pub(super) fn square(&self) -> f64 {
        let weight = |place: usize| self.weights[place / self.rank()] * self.weights[place % self.rank()];
        self.hadamard(None).iter().enumerate().map(|(place, value)| weight(place) * value).sum()
    }

    /// The inner product of the tensor and the model, where the last MTTKRP is of the factors as they are.
    pub(super) fn inner(&mut self) -> Result<f64, DecomposeError> {
        let last = self.last();
        let sums = self.steps.inner(&self.products[last], &self.factors[last])?;
        Ok(sums.iter().zip(&self.weights).map(|(sum, weight)| sum * weight).sum())
    }

    /// Makes what was computed for a mode, in its spare room, its factor. `divided` says what its columns were divided by already. Columns whose
    /// 2-norm is far from one, or all that have another largest absolute value above one, are divided by that, and the weights are what columns were
    /// divided by in all.
    pub(super) fn take(&mut self, mode: usize, divided: Vec<f64>, by_max: bool) -> Result<(), DecomposeError> {
        let rank = self.rank();
        let gram = self.steps.gram(&self.spare[mode])?;
        let norms: Vec<f64> = (0..rank).map(|r| gram[r * rank + r].max(0.0).sqrt()).collect();
        let is_usual = |norm: &f64| *norm == 0.0 || (1.0 / USUAL..=USUAL).contains(norm);
        let divisors = match by_max {
            true => self.steps.largest(&self.spare[mode])?.into_iter().map(|value| value.max(1.0)).collect(),
            false if norms.iter().all(is_usual) => vec![1.0; rank],
            false => norms.iter().map(|&norm| if norm > 0.0 { norm } else { 1.0 }).collect(),
        };
        let inverse: Vec<f64> = divisors.iter().map(|divisor| 1.0 / divisor).collect();
        if divisors.iter().all(|&divisor| divisor == 1.0) {
            std::mem::swap(&mut self.spare[mode], &mut self.factors[mode]);
        } else {
            self.steps.scale(&self.spare[mode], &inverse, &mut self.factors[mode])?;
        }
        let scaled = |(place, value): (usize, &f64)| value * inverse[place / rank] * inverse[place % rank];
        self.grams[mode] = gram.iter().enumerate().map(scaled).collect();
        let expected = divided.iter().zip(&norms).map(|(divided, norm)| if *norm > 0.0 { divided * norm } else { 1.0 });
        self.expected[mode] = expected.collect();
        self.weights = divided.iter().zip(&divisors).map(|(divided, divisor)| divided * divisor).collect();
        self.mttkrp.updated(mode);
        Ok(())
    }
}

/// Norms of columns between one by this and this are left as they are: they only have to be far from what overflows.
const USUAL: f64 = 16.0;

/// Fit by norms: 1 - ‖X - M‖ / ‖X‖; of a tensor of zeros it is -‖M‖², zero where the model is zero too.
pub(super) fn fit(norm: f64, square: f64, inner: f64) -> f64 {
    match norm == 0.0 {
        true => 0.0 - (square - 2.0 * inner).abs(),
        false => 1.0 - (norm * norm + square - 2.0 * inner).abs().sqrt() / norm,
    }
}

/// The 2-norm of numbers.
pub(super) fn norm(numbers: &[f64]) -> Result<f64, DecomposeError> {
    let square: f64 = numbers.iter().map(|number| number * number).sum();
    match square.is_finite() {
        true => Ok(square.sqrt()),
        false => Err(DecomposeError::Algebra("the sum of the squares of all entries is not finite")),
    }
}

/// The iterations of a run.
#[derive(Debug)]
pub(super) struct Schedule<'o> {
    options: &'o CpOptions,
    iterations: Vec<Iteration>,
    /// The fit of the iteration before.
    before: Option<f64>,
    compile_time: Duration,
    prepare_time: Duration,
}

impl Schedule<'_> {
    /// Whether there were iterations before the first one of this run.
    pub(super) fn goes_on(&self) -> bool {
        self.options.done > 0
    }

    /// Iterations, each of which gives a fit, until the options or the observer end them; then the model. Where a run goes on, `before` is the
    /// fit of what it goes on from.
    pub(super) fn run(
        mut self,
        mut sweep: Sweep,
        observe: Observer<'_, KTensor>,
        before: Option<f64>,
        mut iteration: impl FnMut(&mut Sweep, usize) -> Result<f64, DecomposeError>,
    ) -> Result<Fitted<KTensor>, DecomposeError> {
        self.before = before;
        let mut stopped = Stopped::Iterations;
        for number in self.options.done + 1..=self.options.iterations {
            let began = Instant::now();
            let fit = iteration(&mut sweep, number)?;
            if !fit.is_finite() {
                return Err(DecomposeError::Algebra("the fit is not finite"));
            }
            let (time, kernel_time) = (began.elapsed(), sweep.steps.clock.taken());
            let this = Iteration { number, fit: Some(fit), measures: Vec::new(), time, kernel_time };
            let current = Current { factors: &sweep.factors, weights: &sweep.weights };
            let goes_on = observe(&Step { iteration: &this, model: &current });
            self.iterations.push(this);
            let change = self.before.map(|before| (fit - before).abs());
            self.before = Some(fit);
            if goes_on.is_break() {
                stopped = Stopped::Observer;
                break;
            }
            if change.is_some_and(|change| change < self.options.tolerance) {
                stopped = Stopped::Tolerance;
                break;
            }
        }
        let model = Current { factors: &sweep.factors, weights: &sweep.weights }.model();
        let Self { iterations, compile_time, prepare_time, .. } = self;
        Ok(Fitted { model, iterations, stopped, compile_time, prepare_time, notes: sweep.mttkrp.notes })
    }
}

/// The model as it is.
#[derive(Debug)]
struct Current<'a> {
    factors: &'a [AnyTensor],
    weights: &'a [f64],
}

impl Model<KTensor> for Current<'_> {
    fn model(&self) -> KTensor {
        let factor =
            |factor: &AnyTensor| Factor::from_vec(factor.shape(), numbers(factor)).expect("a value for each element");
        let factors = self.factors.iter().map(factor).collect();
        let mut model = KTensor::new(self.weights.to_vec(), factors).expect("factors have a column for each weight");
        model.normalise(Norm::Two);
        model.arrange();
        model.fix_signs();
        model
    }
}
