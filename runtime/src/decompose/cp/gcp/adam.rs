//! Adam with stratified samples (Kingma and Ba: Adam: A Method for Stochastic Optimization, 2015; Kolda and Hong 2020, algorithm 5.1).
//!
//! An iteration is a number of steps, each with a sample of its own. After it the loss is estimated, always at the same places: where it
//! is larger than before, the iteration is undone, and further steps are shorter.

use super::loss::{Expression, Reads, Terms};
use super::sample::{Counts, Places, Sample};
use super::{GcpOptions, MethodState, Optimize, Prepared, Progress, not_finite, start, step_text};
use crate::decompose::DecomposeError;
use crate::decompose::cp::CpOptions;
use crate::decompose::cp::batch::{Batch, Compiled};
use crate::decompose::cp::columns::{Columns, Size};
use crate::decompose::cp::stored::Stored;
use crate::decompose::elements::{numbers, zeros};
use crate::decompose::observe::{finite, named};
use crate::execute::Input;
use crate::tensor::{AnyTensor, Dense, ElementType, Tensor};
use spc_compiler::format::Format;
use std::time::Instant;

/// How fast the means of gradients and of their squares forget.
const FORGET: [f64; 2] = [0.9, 0.999];
/// The number of the sample that the loss is estimated with; those of steps are counted from 0.
const ESTIMATE: u64 = u64::MAX;
/// The least number of places in the sample of a step, and in that of the estimate.
const LEAST: [usize; 2] = [1000, 100_000];

#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) rate: f64,
    pub(super) samples: Option<(usize, usize)>,
    pub(super) steps: usize,
    pub(super) own: &'a GcpOptions,
}

impl Settings<'_> {
    fn check(&self) -> Result<(), DecomposeError> {
        let problem = if !(self.rate > 0.0 && self.rate.is_finite()) {
            format!("the step of Adam is {}, but it is a positive number", self.rate)
        } else if self.steps == 0 {
            "an iteration of Adam has at least one step".to_owned()
        } else if !(self.own.decay > 0.0 && self.own.decay <= 1.0) {
            format!("steps of Adam become {} times as long, but that is a number above 0 and at most 1", self.own.decay)
        } else if self.samples == Some((0, 0)) {
            "a sample has at least one place".to_owned()
        } else {
            return Ok(());
        };
        Err(DecomposeError::Option(problem))
    }
}

#[derive(Debug)]
pub(super) struct Adam {
    kernels: Kernels,
    places: Places,
    counts: Counts,
    estimate: Sample,
    least: f64,
    tolerance: f64,
    rate: f64,
    decay: f64,
    steps: usize,
    /// How many iterations may still be undone.
    failures: usize,
    /// How many steps count.
    taken: i32,
    loss: f64,
    state: State,
    /// What it was before the iteration.
    before: State,
    /// What a step makes of it.
    next: State,
    gradient: Vec<AnyTensor>,
    prepared: Prepared,
}

/// The factors, and the means of gradients and of their squares.
#[derive(Debug)]
struct State([Vec<AnyTensor>; 3]);

/// What the arrays of a state are called in files.
const PARTS: [&str; 3] = ["factor", "mean", "square"];
/// The array of the step, of how many iterations may still be undone, and of how many steps count.
const COUNTS: &str = "rate_failures_taken";

/// What a run begins with.
#[derive(Debug)]
struct Begun {
    state: State,
    rate: f64,
    failures: usize,
    taken: i32,
}

impl Begun {
    /// What the run before remembered.
    fn of(state: &MethodState, shape: &[usize], rank: usize, element: ElementType) -> Result<Self, DecomposeError> {
        let part = |name| state.factors(name, shape, rank, element);
        let [factors, means, squares] = PARTS;
        let counts = numbers(&state.get(COUNTS, &[3], ElementType::F64)?);
        Ok(Self {
            state: State([part(factors)?, part(means)?, part(squares)?]),
            rate: counts[0],
            failures: counts[1] as usize,
            taken: counts[2] as i32,
        })
    }
}

/// The kernels, by place in a batch.
#[derive(Debug)]
struct Kernels {
    compiled: Compiled,
    model: usize,
    /// For each mode.
    mttkrp: Vec<usize>,
    value: Of,
    derivative: Of,
    adam: usize,
    step: usize,
}

/// The kernel of an expression, and what it reads besides the weights.
#[derive(Debug)]
struct Of {
    kernel: usize,
    reads: Reads,
}

impl Of {
    /// Adds the kernel of an expression at the places of a sample, times the weights: summed up, or at each.
    fn new(data: &Stored, expression: &Expression, sums: bool, batch: &mut Batch<'_>) -> Self {
        let text = Self::text(data, expression, sums);
        Self { kernel: batch.add_text(text, &[]), reads: Reads::of(expression) }
    }

    fn text(data: &Stored, expression: &Expression, sums: bool) -> String {
        let (d, parameters) = (data.declaration(), Reads::of(expression).names());
        let declared: String = parameters.clone().map(|name| format!(", {name}: {d}")).collect();
        let patterns: String = parameters.map(|name| format!("same_pattern(W, {name}); ")).collect();
        // At the places of the sample only: elsewhere a loss may divide by zero.
        let (w, x, m) = (data.access("W"), data.access("X"), data.access("M"));
        let value = format!("{w} * {} where {w}", expression.with(&x, &m));
        let (result, target) =
            if sums { ("v: f64".to_owned(), "v".to_owned()) } else { (format!("D: {d}"), data.access("D")) };
        let schedule = if patterns.is_empty() { String::new() } else { format!("schedule {{ {patterns} }}") };
        format!("fn of(W: {d}{declared}) -> {result} {{ {target} = {value}; }} {schedule}")
    }

    fn inputs<'t>(&self, sample: &'t Sample, m: &'t AnyTensor) -> Vec<&'t dyn Input> {
        let weights: &dyn Input = &sample.weights;
        [weights].into_iter().chain(self.reads.inputs(&sample.entries, m)).collect()
    }
}

impl Kernels {
    fn compile(data: &Stored, terms: &Terms, mut batch: Batch<'_>) -> Result<Self, DecomposeError> {
        let e = data.element().name();
        let [first, second] = FORGET;
        let (mean, square) = (
            format!("{first:?} * M(i, r) + {:?} * G(i, r)", 1.0 - first),
            format!("{second:?} * V(i, r) + {:?} * G(i, r) * G(i, r)", 1.0 - second),
        );
        let adam = format!(
            "fn adam(A: {e} dense, M: {e} dense, V: {e} dense, G: {e} dense, rate: {e}, first: {e}, second: {e}, least: {e})
                 -> (N: {e} dense, P: {e} dense, Q: {e} dense) {{
                 N(i, r) = max(A(i, r) - rate * first * ({mean}) / (sqrt(second * ({square})) + 1e-8), least);
                 P(i, r) = {mean};
                 Q(i, r) = {square};
             }}"
        );
        Ok(Self {
            model: data.add(&mut batch, data.model()),
            mttkrp: data.add_mttkrps(&mut batch),
            value: Of::new(data, &terms.value, true, &mut batch),
            derivative: Of::new(data, &terms.derivative, false, &mut batch),
            adam: batch.add_text(adam, &[]),
            step: batch.add_text(step_text(e), &[]),
            compiled: batch.compile()?,
        })
    }

    /// The model at the places of a sample.
    fn model(&self, sample: &Sample, factors: &[AnyTensor]) -> Result<AnyTensor, DecomposeError> {
        let mut model = sample.entries.clone();
        self.compiled.call_with(self.model, (&sample.entries, factors, None), &[], &mut model)?;
        Ok(model)
    }

    /// The loss, estimated with a sample.
    fn loss(&self, sample: &Sample, factors: &[AnyTensor]) -> Result<f64, DecomposeError> {
        let model = self.model(sample, factors)?;
        let mut loss = 0.0f64;
        self.compiled.call(self.value.kernel, &self.value.inputs(sample, &model), &mut loss)?;
        Ok(loss)
    }

    /// The gradient, estimated with a sample.
    fn gradient(
        &self,
        sample: &Sample,
        factors: &[AnyTensor],
        gradient: &mut [AnyTensor],
    ) -> Result<(), DecomposeError> {
        let model = self.model(sample, factors)?;
        let mut derivative = sample.entries.clone();
        self.compiled.call(self.derivative.kernel, &self.derivative.inputs(sample, &model), &mut derivative)?;
        for (mode, gradient) in gradient.iter_mut().enumerate() {
            self.compiled.call_with(self.mttkrp[mode], (&derivative, factors, Some(mode)), &[], gradient)?;
        }
        Ok(())
    }
}

impl Adam {
    pub(super) fn new(
        x: &AnyTensor,
        terms: &Terms,
        settings: Settings<'_>,
        options: &CpOptions,
    ) -> Result<Self, DecomposeError> {
        settings.check()?;
        let began = Instant::now();
        let data = Stored::in_format(x, &Format::coo(x.order()), options)?;
        let mut batch = Batch::new(&options.engine);
        let mut columns = Columns::new(&mut batch, options.rank, data.element(), Size::Sum)?;
        let kernels = Kernels::compile(&data, terms, batch)?;
        let element = data.element();
        let begun = match &options.state {
            Some(state) => Some(Begun::of(state, x.shape(), options.rank, element)?),
            None => None,
        };
        let factors = match &begun {
            Some(begun) => begun.state.0[0].clone(),
            None => start(x, &data, terms.least, options, (&kernels.compiled, &mut columns))?,
        };
        let zeros = || zeros(x.shape(), options.rank, data.element());
        let state = || Ok::<_, DecomposeError>(State([zeros()?, zeros()?, zeros()?]));
        let (before, next, gradient) = (state()?, state()?, zeros()?);
        let begun = match begun {
            Some(begun) => begun,
            None => Begun {
                state: State([factors.clone(), zeros()?, zeros()?]),
                rate: settings.rate,
                failures: settings.own.failures,
                taken: 0,
            },
        };
        let places = Places::new(data.tensor.clone(), settings.own.seed);
        let [of_step, of_estimate] = sizes(places.stored(), options.iterations.saturating_mul(settings.steps));
        let counts = settings.samples.map_or(of_step, |(stored, others)| Counts { stored, others });
        let counts = places.limited(counts);
        if counts == (Counts { stored: 0, others: 0 }) {
            return Err(DecomposeError::Option(
                "samples have no place: the tensor has none of what is drawn".to_owned(),
            ));
        }
        let estimate = places.sample(ESTIMATE, of_estimate)?;
        let loss = kernels.loss(&estimate, &factors)?;
        if !loss.is_finite() {
            return Err(not_finite(loss, terms, &data, &factors, options)?);
        }
        let Begun { state, rate, failures, taken } = begun;
        let compile_time = kernels.compiled.time;
        let prepare_time = began.elapsed().saturating_sub(compile_time);
        Ok(Self {
            kernels,
            places,
            counts,
            estimate,
            least: terms.least,
            tolerance: options.tolerance,
            rate,
            decay: settings.own.decay,
            steps: settings.steps,
            failures,
            taken,
            loss,
            before,
            next,
            gradient,
            state,
            prepared: Prepared { compile_time, prepare_time, notes: Vec::new() },
        })
    }

    fn step(&mut self, number: u64) -> Result<(), DecomposeError> {
        let Self { kernels, state: State(state), next: State(next), gradient, .. } = self;
        let sample = self.places.sample(number, self.counts)?;
        kernels.gradient(&sample, &state[0], gradient)?;
        self.taken += 1;
        let [first, second] = FORGET.map(|forget| 1.0 / (1.0 - forget.powi(self.taken)));
        let [n, p, q] = next;
        for mode in 0..state[0].len() {
            let [a, m, v] = [0, 1, 2].map(|part: usize| &state[part][mode]);
            let inputs: [&dyn Input; 8] = [a, m, v, &gradient[mode], &self.rate, &first, &second, &self.least];
            kernels.compiled.call(kernels.adam, &inputs, (&mut n[mode], &mut p[mode], &mut q[mode]))?;
        }
        std::mem::swap(&mut self.state, &mut self.next);
        Ok(())
    }

    /// Keeps the state as it is before an iteration.
    fn keep(&mut self) -> Result<(), DecomposeError> {
        for (from, to) in self.state.0.iter().zip(&mut self.before.0) {
            for (from, to) in from.iter().zip(to) {
                self.kernels.compiled.call(self.kernels.step, &[from, from, &0.0, &f64::NEG_INFINITY], to)?;
            }
        }
        Ok(())
    }
}

impl Optimize for Adam {
    fn iterate(&mut self, number: usize) -> Result<Progress, DecomposeError> {
        self.keep()?;
        let begun = self.taken;
        for step in 0..self.steps {
            self.step((number as u64 - 1).wrapping_mul(self.steps as u64).wrapping_add(step as u64))?;
        }
        let loss = self.kernels.loss(&self.estimate, &self.state.0[0])?;
        let fell = self.loss - loss;
        if fell >= 0.0 {
            self.loss = loss;
            let ended = fell < self.tolerance * loss.abs().max(1.0);
            return Ok(Progress { fit: None, measures: vec![("loss", loss)], ended, objective: None });
        }
        // Also where it is not a number.
        std::mem::swap(&mut self.state, &mut self.before);
        self.taken = begun;
        self.rate *= self.decay;
        let ended = self.failures == 0;
        if ended {
            // Shorter steps did not help: what ends the run is no tolerance.
            finite(number, None, &[("loss", loss)])?;
        }
        self.failures = self.failures.saturating_sub(1);
        Ok(Progress { fit: None, measures: vec![("loss", self.loss)], ended, objective: None })
    }

    fn factors(&self) -> &[AnyTensor] {
        &self.state.0[0]
    }

    fn compiled(&self) -> &Compiled {
        &self.kernels.compiled
    }

    fn prepared(&mut self) -> Prepared {
        std::mem::take(&mut self.prepared)
    }

    fn remembered(&self) -> MethodState {
        let counts = vec![self.rate, self.failures as f64, f64::from(self.taken)];
        let counts = Tensor::<f64, Dense<1>>::from_vec([3], counts).expect("three numbers").into_any();
        let parts = PARTS.iter().zip(&self.state.0).flat_map(|(name, part)| named(name, part));
        MethodState::new(parts.chain([(COUNTS.to_owned(), counts)]).collect())
    }
}

/// How large the samples of a step and of the estimate are: those of a step go over the stored entries three times in a run, but have
/// 1000 of each kind at least; that of the estimate has a hundredth, but 100,000 at least. There are as many others as stored ones.
fn sizes(stored: usize, steps: usize) -> [Counts; 2] {
    let counts = |wanted: usize| Counts {
        stored: wanted.min(stored),
        others: if stored == 0 { wanted } else { wanted.min(stored) },
    };
    let of_step = (3 * stored).div_ceil(steps.max(1));
    [counts(of_step.max(LEAST[0])), counts(stored.div_ceil(100).max(LEAST[1]))]
}
