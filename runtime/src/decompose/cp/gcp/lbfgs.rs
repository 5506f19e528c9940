//! L-BFGS with all places, of factors that are not below a bound.
//!
//! The two-loop recursion (Nocedal and Wright: Numerical Optimization, 2006, algorithm 7.4) in the space of the free elements: those
//! that are not at the bound with a gradient that pushes them on (Bertsekas: Projected Newton methods for optimization problems with
//! simple constraints, 1982). Steps are projected to the bound, and shortened until the loss falls enough (Armijo's condition on the
//! projected step). Without a bound all elements are free, and this is the usual method.

use super::loss::Terms;
use super::whole::Whole;
use super::{MethodState, Optimize, Prepared, Progress, not_finite, start, step_text};
use crate::decompose::DecomposeError;
use crate::decompose::cp::CpOptions;
use crate::decompose::cp::batch::{Batch, Compiled};
use crate::decompose::cp::columns::wide;
use crate::decompose::elements::zeros;
use crate::decompose::observe::{finite, named};
use crate::tensor::{AnyTensor, ElementType};
use std::collections::VecDeque;
use std::time::Instant;

/// How many steps are remembered.
const MEMORY: usize = 10;
/// The part of what the gradient promises by which the loss has to fall.
const SUFFICIENT: f64 = 1e-4;
/// The part of its norm by which a factor moves in a first step.
const FIRST: f64 = 0.1;
/// How often a step is shortened.
const TRIALS: usize = 40;

/// A vector of the optimization: a matrix for each mode.
type Vector = Vec<AnyTensor>;

#[derive(Debug)]
pub(super) struct Lbfgs {
    whole: Whole,
    vectors: Vectors,
    least: f64,
    tolerance: f64,
    /// The norm of the tensor, where the loss is the squared norm of what the model leaves.
    norm: Option<f64>,
    loss: f64,
    factors: Vector,
    gradient: Vector,
    /// The next point, and its gradient.
    next: [Vector; 2],
    direction: Vector,
    spare: Vector,
    /// 1 for an element that is free, else 0.
    free: Vector,
    /// Steps and changes of the gradient, the oldest first.
    pairs: VecDeque<[Vector; 2]>,
    prepared: Prepared,
}

/// Operations on vectors, by place in a batch.
#[derive(Debug, Clone, Copy)]
struct Operations {
    dot: usize,
    masked: usize,
    free: usize,
    step: usize,
}

impl Operations {
    fn new(batch: &mut Batch<'_>, element: ElementType) -> Self {
        let (e, wide) = (element.name(), |access: &str| wide(access, element));
        let (a, b, z) = (wide("A(i, r)"), wide("B(i, r)"), wide("Z(i, r)"));
        let dot = format!("fn dot(A: {e} dense, B: {e} dense, Z: {e} dense) -> v: f64 {{ v = {a} * {b} * {z}; }}");
        let masked = format!(
            "fn masked(A: {e} dense, Z: {e} dense, c: {e}) -> N: {e} dense {{ N(i, r) = c * A(i, r) * Z(i, r); }}"
        );
        let free = format!(
            "fn free(A: {e} dense, G: {e} dense, least: {e}) -> Z: {e} dense {{
                 Z(i, r) = select(A(i, r) <= least && G(i, r) >= 0, 0, 1);
             }}"
        );
        Self {
            dot: batch.add_text(dot, &[]),
            masked: batch.add_text(masked, &[]),
            free: batch.add_text(free, &[]),
            step: batch.add_text(step_text(e), &[]),
        }
    }
}

/// What is done with vectors, by compiled kernels.
#[derive(Debug)]
struct Vectors {
    compiled: Compiled,
    operations: Operations,
}

impl Vectors {
    /// The sum of products over the free elements.
    fn dot(&self, a: &Vector, b: &Vector, free: &Vector) -> Result<f64, DecomposeError> {
        let mut sum = 0.0;
        for ((a, b), free) in a.iter().zip(b).zip(free) {
            let mut part = 0.0f64;
            self.compiled.call(self.operations.dot, &[a, b, free], &mut part)?;
            sum += part;
        }
        Ok(sum)
    }

    /// `c * a` at the free elements, else 0.
    fn masked(&self, a: &Vector, free: &Vector, c: f64, into: &mut Vector) -> Result<(), DecomposeError> {
        let each = a.iter().zip(free).zip(into);
        each.into_iter()
            .try_for_each(|((a, free), into)| self.compiled.call(self.operations.masked, &[a, free, &c], into))
    }

    /// `max(a + c * b, least)`
    fn step(&self, a: &Vector, b: &Vector, c: f64, least: f64, into: &mut Vector) -> Result<(), DecomposeError> {
        let each = a.iter().zip(b).zip(into);
        each.into_iter()
            .try_for_each(|((a, b), into)| self.compiled.call(self.operations.step, &[a, b, &c, &least], into))
    }

    /// Adds `c * b` to `a`, by way of `spare`.
    fn add(&self, a: &mut Vector, b: &Vector, c: f64, spare: &mut Vector) -> Result<(), DecomposeError> {
        self.step(a, b, c, f64::NEG_INFINITY, spare)?;
        std::mem::swap(a, spare);
        Ok(())
    }

    /// How long a step is where nothing is known of the curvature: no factor moves by more than a part of its norm. A longer one may reach
    /// the bound with several factors at once, where the gradient of a product is zero.
    fn first_step(&self, a: &Vector, direction: &Vector, free: &Vector) -> Result<f64, DecomposeError> {
        let mut length = f64::INFINITY;
        for ((a, direction), free) in a.iter().zip(direction).zip(free) {
            let norm = |of: &AnyTensor| -> Result<f64, DecomposeError> {
                let mut square = 0.0f64;
                self.compiled.call(self.operations.dot, &[of, of, free], &mut square)?;
                Ok(square.sqrt())
            };
            let (far, steep) = (norm(a)?, norm(direction)?);
            if steep > 0.0 {
                length = length.min(FIRST * if far > 0.0 { far } else { 1.0 } / steep);
            }
        }
        Ok(length)
    }

    fn free(&self, a: &Vector, gradient: &Vector, least: f64, into: &mut Vector) -> Result<(), DecomposeError> {
        let each = a.iter().zip(gradient).zip(into);
        each.into_iter().try_for_each(|((a, gradient), into)| {
            self.compiled.call(self.operations.free, &[a, gradient, &least], into)
        })
    }
}

impl Lbfgs {
    pub(super) fn new(x: &AnyTensor, terms: &Terms, options: &CpOptions) -> Result<Self, DecomposeError> {
        let began = Instant::now();
        let mut batch = Batch::new(&options.engine);
        let mut whole = Whole::new(x, terms, options, &mut batch)?;
        let operations = Operations::new(&mut batch, whole.data.element());
        let vectors = Vectors { compiled: batch.compile()?, operations };
        let factors = match &options.state {
            Some(state) => state.factors("factor", x.shape(), options.rank, whole.data.element())?,
            None => start(x, &whole.data, terms.least, options, (&vectors.compiled, &mut whole.columns))?,
        };
        let pairs = options.state.as_ref().map(|state| pairs_of(state, x, options.rank, whole.data.element()));
        let zeros = || zeros(x.shape(), options.rank, whole.data.element());
        let is_square = terms.closed.as_ref().is_some_and(|closed| closed.rest == super::loss::Rest::Square);
        let values = whole.data.tensor.values();
        let norm = is_square.then(|| (0..values.len()).map(|at| values.get_f64(at).powi(2)).sum::<f64>().sqrt());
        let mut made = Self {
            vectors,
            least: terms.least,
            tolerance: options.tolerance,
            norm,
            loss: 0.0,
            gradient: zeros()?,
            next: [zeros()?, zeros()?],
            direction: zeros()?,
            spare: zeros()?,
            free: zeros()?,
            pairs: pairs.transpose()?.unwrap_or_else(|| VecDeque::with_capacity(MEMORY + 1)),
            prepared: Prepared::default(),
            factors,
            whole,
        };
        made.loss = made.whole.value(&made.vectors.compiled, &made.factors)?;
        made.whole.gradient(&made.vectors.compiled, &made.factors, &mut made.gradient)?;
        if !made.loss.is_finite() {
            return Err(not_finite(made.loss, terms, &made.whole.data, &made.factors, options)?);
        }
        let compile_time = made.vectors.compiled.time;
        let prepare_time = began.elapsed().saturating_sub(compile_time);
        made.prepared = Prepared { compile_time, prepare_time, notes: Vec::new() };
        Ok(made)
    }

    /// Leaves the direction of the recursion in `direction`; gives the slope of the loss along it.
    fn aim(&mut self) -> Result<f64, DecomposeError> {
        let Self { vectors, gradient, direction, spare, free, pairs, .. } = self;
        vectors.masked(gradient, free, 1.0, direction)?;
        // Of each pair, whether it has a positive curvature in the space of the free elements.
        let mut used = Vec::with_capacity(pairs.len());
        let mut scale = None;
        for (at, [step, change]) in pairs.iter().enumerate().rev() {
            let curvature = vectors.dot(step, change, free)?;
            let square = vectors.dot(change, change, free)?;
            if curvature <= 1e-14 * square.max(f64::MIN_POSITIVE) {
                continue;
            }
            scale = scale.or(Some(curvature / square));
            let part = vectors.dot(step, direction, free)? / curvature;
            vectors.add(direction, change, -part, spare)?;
            used.push((at, part, curvature));
        }
        vectors.masked(direction, free, scale.unwrap_or(1.0), spare)?;
        std::mem::swap(direction, spare);
        for (at, part, curvature) in used.into_iter().rev() {
            let [step, change] = &pairs[at];
            let back = vectors.dot(change, direction, free)? / curvature;
            vectors.add(direction, step, part - back, spare)?;
        }
        vectors.masked(direction, free, -1.0, spare)?;
        std::mem::swap(direction, spare);
        let slope = vectors.dot(gradient, direction, free)?;
        if scale.is_some() && slope < 0.0 {
            return Ok(slope);
        }
        pairs.clear();
        self.descend()
    }

    /// Leaves the steepest descent in `direction`; gives the slope of the loss along it.
    fn descend(&mut self) -> Result<f64, DecomposeError> {
        let Self { vectors, gradient, direction, free, .. } = self;
        vectors.masked(gradient, free, -1.0, direction)?;
        Ok(-vectors.dot(gradient, gradient, free)?)
    }

    /// Shortens a step along the direction until the loss falls enough; leaves the point in `next` and the step in `spare`.
    fn search(&mut self, slope: f64) -> Result<Option<f64>, DecomposeError> {
        let Self { whole, vectors, least, loss, factors, next: [next, _], direction, spare, free, pairs, .. } = self;
        let mut length = 1.0;
        if pairs.is_empty() {
            length = vectors.first_step(factors, direction, free)?;
        }
        for _ in 0..TRIALS {
            vectors.step(factors, direction, length, *least, next)?;
            vectors.step(next, factors, -1.0, f64::NEG_INFINITY, spare)?;
            let promised = vectors.dot(&self.gradient, spare, free)?;
            if promised >= 0.0 || promised.is_nan() {
                return Ok(None);
            }
            let found = whole.value(&vectors.compiled, next)?;
            if found <= *loss + SUFFICIENT * promised && found < *loss {
                return Ok(Some(found));
            }
            // Where a parabola through what is known is least.
            let excess = found - *loss - slope * length;
            let parabola = if excess > 0.0 { -slope * length * length / (2.0 * excess) } else { 0.5 * length };
            length = if parabola.is_finite() { parabola.clamp(0.1 * length, 0.5 * length) } else { 0.1 * length };
        }
        Ok(None)
    }
}

impl Optimize for Lbfgs {
    fn iterate(&mut self, number: usize) -> Result<Progress, DecomposeError> {
        let before = self.loss;
        self.vectors.free(&self.factors, &self.gradient, self.least, &mut self.free)?;
        let slope = self.aim()?;
        finite(number, None, &[("slope of the loss", slope)])?;
        let mut found = if slope < 0.0 { self.search(slope)? } else { None };
        if found.is_none() && !self.pairs.is_empty() {
            self.pairs.clear();
            let slope = self.descend()?;
            found = if slope < 0.0 { self.search(slope)? } else { None };
        }
        let is_done = found.is_none();
        if let Some(found) = found {
            let Self { whole, vectors, loss, factors, gradient, next: [next, next_gradient], spare, pairs, .. } = self;
            *loss = found;
            whole.gradient(&vectors.compiled, next, next_gradient)?;
            let pair = if pairs.len() < MEMORY { None } else { pairs.pop_front() };
            let [mut step, mut change] = match pair {
                Some(pair) => pair,
                None => [factors.clone(), factors.clone()],
            };
            std::mem::swap(&mut step, spare);
            vectors.step(next_gradient, gradient, -1.0, f64::NEG_INFINITY, &mut change)?;
            pairs.push_back([step, change]);
            std::mem::swap(factors, next);
            std::mem::swap(gradient, next_gradient);
        }
        let loss = self.loss;
        let fit = self.norm.filter(|norm| *norm > 0.0).map(|norm| 1.0 - loss.max(0.0).sqrt() / norm);
        let is_still = before - loss < self.tolerance * before.abs().max(loss.abs()).max(1.0);
        Ok(Progress { fit, measures: vec![("loss", loss)], ended: is_done || is_still, objective: None })
    }

    fn factors(&self) -> &[AnyTensor] {
        &self.factors
    }

    fn compiled(&self) -> &Compiled {
        &self.vectors.compiled
    }

    fn prepared(&mut self) -> Prepared {
        std::mem::take(&mut self.prepared)
    }

    fn remembered(&self) -> MethodState {
        let mut arrays: Vec<(String, AnyTensor)> = named("factor", &self.factors).collect();
        for (at, [step, change]) in self.pairs.iter().enumerate() {
            arrays.extend(named(&format!("step_{at}"), step).chain(named(&format!("change_{at}"), change)));
        }
        MethodState::new(arrays)
    }
}

/// Steps and changes of the gradient of a run before.
fn pairs_of(
    state: &MethodState,
    x: &AnyTensor,
    rank: usize,
    element: ElementType,
) -> Result<VecDeque<[Vector; 2]>, DecomposeError> {
    let known = (0..MEMORY).take_while(|at| state.has(&format!("step_{at}_1")));
    let one = |name: String| state.factors(&name, x.shape(), rank, element);
    known.map(|at| Ok([one(format!("step_{at}"))?, one(format!("change_{at}"))?])).collect()
}
