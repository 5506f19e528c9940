//! What methods share that update one factor after the other.

use super::CpOptions;
use super::batch::{Batch, Compiled};
use super::columns::{Columns, Size, product};
use super::iterate::{Objective, Prepared, Progress, Snapshot, State, arranged, iterate};
use super::mttkrp::{Mttkrp, Setting, entries_of};
use super::solve::Solve;
use crate::decompose::elements::{dense, kernel_element, numbers, set, zeros};
use crate::decompose::engine::Clock;
use crate::decompose::start::{Signs, factors, rows_of_factors};
use crate::decompose::{DecomposeError, DistributedTensor, Factor, Fitted, KTensor, Norm, Observer};
use crate::distribute::{Communicator, Factors};
use crate::tensor::{AnyTensor, Coordinates, Duplicates, ElementType, pack};
use spc_compiler::format::Format;
use std::borrow::Cow;
use std::time::Instant;

/// The tensor with what is asked for.
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
        let element = kernel_element(x.element(), options.element)?;
        let entries = entries_of(x, element)?;
        Ok(Self { options, shape: x.shape().to_vec(), element, entries, began })
    }

    /// With the entries of one of many ranks, times a number.
    pub(super) fn of_parts(x: &DistributedTensor, scale: f64, options: &'o CpOptions) -> Result<Self, DecomposeError> {
        let began = Instant::now();
        let element = kernel_element(x.element(), options.element)?;
        let mut entries = x.entries.clone();
        entries.values.iter_mut().for_each(|value| *value *= scale);
        Ok(Self { options, shape: x.shape().to_vec(), element, entries, began })
    }

    /// What MTTKRPs of this tensor take.
    pub(super) fn setting(&self) -> Setting<'o> {
        let CpOptions { rank, engine, memory, .. } = self.options;
        Setting { engine, rank: *rank, element: self.element, memory: *memory }
    }

    /// The factors to start from, weights in the last one.
    pub(super) fn start(&self, x: &AnyTensor, signs: Signs) -> Result<Vec<Factor>, DecomposeError> {
        let CpOptions { rank, start, engine, .. } = self.options;
        weighted(factors(x, *rank, start, signs, engine)?.into_parts())
    }

    /// The same where ranks share out the entries: each begins with its own, and its rows of the start.
    pub(super) fn begin_on<'r>(
        self,
        x: &DistributedTensor,
        ranks: &'r dyn Communicator,
    ) -> Result<(Sweep<'r>, Schedule<'o>), DecomposeError> {
        let Self { options, element, entries, began, .. } = self;
        let CpOptions { rank, start, engine, .. } = options;
        let (factors, here) = Factors::new(entries, (*rank, element), ranks)?;
        let rows: Vec<&[u64]> = (0..here.shape.len()).map(|mode| factors.rows(mode)).collect();
        let start = weighted(rows_of_factors(x, &rows, *rank, start, engine, ranks)?)?;
        let own = pack(here.clone(), &Format::coo(here.shape.len()), Duplicates::Sum)?;
        let problem = Self { options, shape: here.shape.clone(), element, entries: here, began };
        let (mut sweep, mut schedule) = problem.begin(&own, &start, |_| Ok(()))?;
        schedule.prepared.notes.insert(0, factors.note());
        sweep.ranks = Some(factors);
        for mode in 0..=sweep.last() {
            sweep.grams[mode] = sweep.gram(mode, Which::Factor)?;
        }
        Ok((sweep, schedule))
    }

    /// Makes copies of the tensor, compiles all kernels, and begins.
    pub(super) fn begin<'r>(
        self,
        x: &AnyTensor,
        start: &[Factor],
        more: impl FnOnce(&mut Batch<'_>) -> Result<(), DecomposeError>,
    ) -> Result<(Sweep<'r>, Schedule<'o>), DecomposeError> {
        let setting = self.setting();
        let Self { options, shape, element, entries, began } = self;
        let mut batch = Batch::new(&options.engine);
        let mut columns = Columns::new(&mut batch, options.rank, element, Size::Largest)?;
        let solve = Solve::new(&mut batch, options.rank, element)?;
        let mut mttkrp = Mttkrp::new(x, &entries, setting, &mut batch)?;
        drop(entries);
        more(&mut batch)?;
        let compiled = batch.compile()?;
        let of_element = |factor: &Factor| dense(factor.shape(), factor.values(), element);
        let factors = start.iter().map(of_element).collect::<Result<Vec<_>, _>>()?;
        let grams = factors.iter().map(|factor| columns.gram(&compiled, factor)).collect::<Result<_, _>>()?;
        let (spare, products) = (zeros(&shape, options.rank, element)?, zeros(&shape, options.rank, element)?);
        let weights = vec![1.0; options.rank];
        let expected = vec![weights.clone(); shape.len()];
        let notes = std::mem::take(&mut mttkrp.notes);
        let compile_time = compiled.time;
        let ranks = None;
        let sweep =
            Sweep { mttkrp, compiled, columns, solve, factors, spare, products, grams, weights, expected, ranks };
        let prepare_time = began.elapsed().saturating_sub(compile_time);
        Ok((sweep, Schedule { options, prepared: Prepared { compile_time, prepare_time, notes } }))
    }
}

/// Factors with the weights of a start in the last one.
fn weighted((weights, mut factors): (Vec<f64>, Vec<Factor>)) -> Result<Vec<Factor>, DecomposeError> {
    if let Some(last) = factors.last_mut() {
        for row in last.values_mut().chunks_exact_mut(weights.len()) {
            row.iter_mut().zip(&weights).for_each(|(value, weight)| *value *= weight);
        }
        if last.values().iter().any(|value| !value.is_finite()) {
            let message = "the last factor to start from, times the weights, has a value that is not finite";
            return Err(DecomposeError::Start(message.to_owned()));
        }
    }
    Ok(factors)
}

/// Factors, and what is made of them.
#[derive(Debug)]
pub(super) struct Sweep<'r> {
    pub(super) mttkrp: Mttkrp,
    pub(super) compiled: Compiled,
    pub(super) columns: Columns,
    solve: Solve,
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
    /// The other ranks, where factors are the rows that this one has.
    ranks: Option<Factors<'r>>,
}

/// Rows of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Factor,
    Spare,
}

impl Sweep<'_> {
    pub(super) fn rank(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn last(&self) -> usize {
        self.factors.len() - 1
    }

    /// The MTTKRP of a mode with the factors as they are.
    pub(super) fn multiply(&mut self, mode: usize) -> Result<(), DecomposeError> {
        let Self { mttkrp, compiled, factors, products, ranks, .. } = self;
        compiled.clock.mttkrp(|| mttkrp.leaf(mode, factors, &mut products[mode], compiled))?;
        if let Some(ranks) = ranks {
            let mut rows = numbers(&products[mode]);
            ranks.total(mode, &mut rows, self.weights.len())?;
            set(&mut products[mode], &rows);
        }
        Ok(())
    }

    /// Sums over rows, of those of all ranks.
    fn summed(&self, own: Vec<f64>) -> Result<Vec<f64>, DecomposeError> {
        match &self.ranks {
            Some(ranks) => Ok(ranks.sums(&own)?),
            None => Ok(own),
        }
    }

    /// AᵀA of a factor.
    fn gram(&mut self, mode: usize, which: Which) -> Result<Vec<f64>, DecomposeError> {
        let Self { columns, compiled, factors, spare, ranks, .. } = self;
        let rows = if which == Which::Factor { &factors[mode] } else { &spare[mode] };
        let gram = columns.gram(compiled, &*owned(ranks.as_ref(), mode, rows)?)?;
        self.summed(gram)
    }

    /// The largest absolute value of each column of what is in the spare room of a mode.
    fn sizes(&mut self, mode: usize) -> Result<Vec<f64>, DecomposeError> {
        let sizes = self.columns.sizes(&self.compiled, &self.spare[mode])?;
        match &self.ranks {
            Some(ranks) => Ok(ranks.largest(&sizes)?),
            None => Ok(sizes),
        }
    }

    /// The MTTKRP of a mode times a matrix of rank × rank, in the spare room of the mode.
    pub(super) fn solve(&mut self, mode: usize, by: &[f64]) -> Result<(), DecomposeError> {
        self.solve.solve(&self.compiled, &self.products[mode], by, &mut self.spare[mode])
    }

    /// The elementwise product of AᵀA of all factors but one, or of all.
    pub(super) fn hadamard(&self, without: Option<usize>) -> Vec<f64> {
        product(&self.grams, without)
    }

    /// The square of the model's norm.
    pub(super) fn square(&self) -> f64 {
        let weight = |place: usize| self.weights[place / self.rank()] * self.weights[place % self.rank()];
        self.hadamard(None).iter().enumerate().map(|(place, value)| weight(place) * value).sum()
    }

    /// The inner product of the tensor and the model, where the last MTTKRP is of the factors as they are.
    pub(super) fn inner(&mut self) -> Result<f64, DecomposeError> {
        let last = self.last();
        let Self { solve, compiled, products, factors, ranks, .. } = self;
        let own = |rows| owned(ranks.as_ref(), last, rows);
        let sums = solve.inner(compiled, &*own(&products[last])?, &*own(&factors[last])?)?;
        let sums = self.summed(sums)?;
        Ok(sums.iter().zip(&self.weights).map(|(sum, weight)| sum * weight).sum())
    }

    /// Makes what was computed for a mode, in its spare room, its factor. `divided` says what its columns were divided by already. Columns whose
    /// 2-norm is far from one, or all that have another largest absolute value above one, are divided by that, and the weights are what columns were
    /// divided by in all.
    pub(super) fn take(&mut self, mode: usize, divided: Vec<f64>, by_max: bool) -> Result<(), DecomposeError> {
        let rank = self.rank();
        let gram = self.gram(mode, Which::Spare)?;
        let norms: Vec<f64> = (0..rank).map(|r| gram[r * rank + r].max(0.0).sqrt()).collect();
        let is_usual = |norm: &f64| *norm == 0.0 || (1.0 / USUAL..=USUAL).contains(norm);
        let divisors = match by_max {
            true => self.sizes(mode)?.into_iter().map(|value| value.max(1.0)).collect(),
            false if norms.iter().all(is_usual) => vec![1.0; rank],
            false => norms.iter().map(|&norm| if norm > 0.0 { norm } else { 1.0 }).collect(),
        };
        let inverse: Vec<f64> = divisors.iter().map(|divisor| 1.0 / divisor).collect();
        if divisors.iter().all(|&divisor| divisor == 1.0) {
            std::mem::swap(&mut self.spare[mode], &mut self.factors[mode]);
        } else {
            self.columns.scale(&self.compiled, &self.spare[mode], &inverse, &mut self.factors[mode])?;
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

/// The rows of a mode that belong to this rank alone, where there are others.
fn owned<'a>(
    ranks: Option<&Factors<'_>>,
    mode: usize,
    rows: &'a AnyTensor,
) -> Result<Cow<'a, AnyTensor>, DecomposeError> {
    let (Some(ranks), &[_, columns]) = (ranks, rows.shape()) else { return Ok(Cow::Borrowed(rows)) };
    let own = ranks.owned(mode, &numbers(rows), columns);
    Ok(Cow::Owned(dense(&[own.len() / columns, columns], &own, rows.element())?))
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

/// The square of the 2-norm of numbers.
pub(super) fn square(numbers: &[f64]) -> f64 {
    numbers.iter().map(|number| number * number).sum()
}

/// The 2-norm of all entries, of its square.
pub(super) fn norm(square: f64) -> Result<f64, DecomposeError> {
    match square.is_finite() {
        true => Ok(square.sqrt()),
        false => Err(DecomposeError::Algebra("the sum of the squares of all entries is not finite")),
    }
}

impl State for Sweep<'_> {
    fn model(&self) -> Result<KTensor, DecomposeError> {
        let Some(ranks) = &self.ranks else { return Ok(self.snapshot().model()) };
        let whole = |(mode, factor): (usize, &AnyTensor)| {
            let (shape, values) = ranks.whole(mode, &numbers(factor), self.rank())?;
            Ok(Factor::from_vec(shape, values).expect("a value for each element"))
        };
        let factors = self.factors.iter().enumerate().map(whole).collect::<Result<_, DecomposeError>>()?;
        Ok(arranged(self.weights.clone(), factors, Norm::Two))
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { weights: self.weights.clone(), factors: &self.factors, norm: Norm::Two }
    }

    fn clock(&self) -> &Clock {
        &self.compiled.clock
    }
}

/// A run that has been prepared.
#[derive(Debug)]
pub(super) struct Schedule<'o> {
    options: &'o CpOptions,
    prepared: Prepared,
}

impl Schedule<'_> {
    /// Whether there were iterations before the first one of this run.
    pub(super) fn goes_on(&self) -> bool {
        self.options.done > 0
    }

    /// Iterations, each of which gives a fit, until it changes by less than the tolerance. Where a run goes on, `before` is the fit of what it goes
    /// on from.
    pub(super) fn run(
        self,
        sweep: Sweep<'_>,
        observe: Observer<'_, KTensor>,
        mut before: Option<f64>,
        mut iteration: impl FnMut(&mut Sweep<'_>, usize) -> Result<f64, DecomposeError>,
    ) -> Result<Fitted<KTensor>, DecomposeError> {
        let Self { options, prepared } = self;
        iterate(sweep, prepared, options, observe, |sweep, number| {
            let fit = iteration(sweep, number)?;
            let ended = before.replace(fit).is_some_and(|before| (fit - before).abs() < options.tolerance);
            let objective = Some(Objective::of_fit(fit, sweep.factors[0].element()));
            Ok(Progress { fit: Some(fit), measures: Vec::new(), ended, objective })
        })
    }
}
