//! The best rank-1 approximation by the power method, and more components by deflation.
//!
//! | file | what is in it |
//! |---|---|
//! | `text` | the kernels |
//! | `general` | a vector for each mode |
//! | `symmetric` | one vector for all modes |

mod general;
mod symmetric;
mod text;

use super::against::same_shape;
use super::elements::{kernel_element, numbers, set};
use super::engine::Clock;
use super::entries::{Scaled, checked, scaled};
use super::kernels::Kernels;
use super::uniform::uniform;
use super::{DecomposeError, Engine, Factor, Fitted, Iteration, KTensor, Model, Observer, Step, Stopped};
use crate::tensor::{AnyTensor, Duplicates, ElementType, Values, pack};
use spc_compiler::format::Format;
use std::time::Instant;

/// What the method takes.
#[derive(Debug, Clone)]
pub struct PowerOptions {
    /// How many rank-1 tensors: each approximates what the ones before have left.
    pub components: usize,
    /// The most iterations for each.
    pub iterations: usize,
    /// A component ends when its weight changes by less, relative to itself, for all starts; with 0, after all iterations.
    pub tolerance: f64,
    /// Random starts for each component, besides one from the singular vectors of the unfoldings. The best is taken.
    pub starts: usize,
    /// What random starts come from.
    pub seed: u64,
    /// One vector for all modes, of a symmetric tensor (the shifted method of Kolda and Mayo, 2011).
    pub symmetric: bool,
    /// Components that were found before, which a run goes on from: they are the first ones of the model.
    pub found: Option<KTensor>,
    /// How many iterations those took, from which this run counts on.
    pub done: usize,
    /// The elements of vectors in kernels, as in [`CpOptions`](super::CpOptions).
    pub element: Option<ElementType>,
    /// Where kernels run.
    pub engine: Engine,
}

impl PowerOptions {
    /// So many components, at most 100 iterations for each, until its weight changes by less than 1e-10 of itself, from 5 random starts of
    /// seed 0 and one of singular vectors.
    pub fn new(components: usize) -> Self {
        Self {
            components,
            iterations: 100,
            tolerance: 1e-10,
            starts: 5,
            seed: 0,
            symmetric: false,
            found: None,
            done: 0,
            element: None,
            engine: Engine::default(),
        }
    }
}

/// The best rank-1 approximation of a tensor of 2 to 8 modes, or several by deflation: λ a ∘ b ∘ c with vectors of norm 1.
///
/// Each iteration multiplies the tensor by the vectors of all modes but one, mode after mode (the higher-order power method: De Lathauwer,
/// De Moor and Vandewalle, On the Best Rank-1 and Rank-(R₁, …, R_N) Approximation of Higher-Order Tensors, 2000). It finds a local optimum; so
/// there are several starts, which are columns of the same products. A component that has been found is subtracted implicitly: kernels
/// take the inner products with its vectors from those with the tensor. For orthogonal components that finds them all, for others it is greedy.
/// Weights are positive. The fit is 1 - ‖X - M‖ / ‖X‖; that of a tensor of zeros is 1. Components of what has nothing left have the weight 0.
///
/// With [`PowerOptions::symmetric`] there is one vector v for all modes, and v ← ±X vᵐ⁻¹ + αv, normalised (SS-HOPM: Kolda and Mayo, Shifted
/// Power Method for Computing Tensor Eigenpairs, 2011). The shift α adapts (as in Kolda and Mayo, An Adaptive Shifted Power Method for
/// Computing Generalized Tensor Eigenpairs, 2014): a step that makes ±X vᵐ smaller is taken back and α grows, else α shrinks. That takes one
/// product with the tensor for a step, where the bound of 2014 takes the eigenvalues of a matrix as well. Weights of a tensor of even order
/// may be negative. The vector's largest element is positive for an even order; for an odd one the weight is.
///
/// The observer sees each iteration of each component; its `measures` are the number of the component and its `weight`.
///
/// ```
/// use spc::decompose::{Engine, PowerOptions, power};
/// use spc::execute::Backend;
/// use spc::tensor::{Csf, Tensor};
/// use std::ops::ControlFlow;
///
/// let x = Tensor::<f64, Csf<3>>::from_entries([3, 3, 3], [([0, 0, 0], 5.0), ([1, 2, 1], -3.0), ([2, 1, 2], 1.0)])?;
/// let engine = Engine { backend: Some(Backend::Interpreter), ..Engine::default() };
/// let options = PowerOptions { engine, ..PowerOptions::new(2) };
/// let found = power(x.as_any(), &options, &mut |_| ControlFlow::Continue(()))?;
/// let weights = found.model.weights();
/// assert!((weights[0] - 5.0).abs() < 1e-9 && (weights[1] - 3.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the tensor has another order, numbers that are complex or not finite, or a fill value; it is to be symmetric and is not; there is to
/// be no component or no iteration; components that were found before do not fit; there is not enough memory; or a kernel can't be compiled or run.
pub fn power(
    x: &AnyTensor,
    options: &PowerOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let begin = Instant::now();
    let x = &*x.unfolded()?;
    checked(x, 2, 8)?;
    check_options(x, options)?;
    let element = kernel_element(x.element(), options.element)?;
    let entries = scaled(x)?;
    if options.symmetric {
        symmetric::check(&entries, x.element())?;
    }
    let (mut kernels, clock) = (Kernels::new(&options.engine), Clock::default());
    let problem = Problem::new(&entries, element, options)?;
    let mut method: Box<dyn Method> = match options.symmetric {
        false => Box::new(general::General::new(&problem, &mut kernels, &clock)?),
        true => Box::new(symmetric::Symmetric::new(&problem, &mut kernels, &clock)?),
    };
    let prepare_time = begin.elapsed().saturating_sub(kernels.time);
    clock.taken();
    let mut run = Run { problem: &problem, clock: &clock, found: Vec::new(), rest: entries.norm * entries.norm };
    let (iterations, stopped) = run.all(method.as_mut(), observe)?;
    Ok(Fitted {
        model: run.model(None)?,
        iterations,
        stopped,
        compile_time: kernels.time,
        prepare_time,
        notes: Vec::new(),
        warnings: Vec::new(),
        state: None,
    })
}

fn check_options(x: &AnyTensor, options: &PowerOptions) -> Result<(), DecomposeError> {
    let refuse = |message: String| Err(DecomposeError::Option(message));
    if options.components == 0 {
        return refuse("there are to be 0 components: say 1 or more".to_owned());
    }
    if options.iterations == 0 {
        return refuse("there are to be 0 iterations: say 1 or more".to_owned());
    }
    if options.tolerance.is_nan() || options.tolerance < 0.0 {
        return refuse(format!("the tolerance is {}, and has to be 0 or more", options.tolerance));
    }
    let Some(found) = &options.found else { return Ok(()) };
    same_shape(&found.shape(), x.shape())?;
    if found.rank() > options.components {
        let (count, components) = (found.rank(), options.components);
        return refuse(format!(
            "{count} components were found before, and there are to be {components}: say {count} or more"
        ));
    }
    if options.symmetric && found.factors().windows(2).any(|pair| pair[0].values() != pair[1].values()) {
        return refuse(
            "components that were found before have several vectors: of a symmetric tensor, they have one".to_owned(),
        );
    }
    Ok(())
}

/// What is asked for.
struct Problem<'a> {
    entries: &'a Scaled,
    /// The tensor that kernels read.
    x: AnyTensor,
    options: &'a PowerOptions,
    element: ElementType,
}

impl<'a> Problem<'a> {
    fn new(entries: &'a Scaled, element: ElementType, options: &'a PowerOptions) -> Result<Self, DecomposeError> {
        let order = entries.entries.shape.len();
        let packed = pack(entries.entries.clone(), &Format::csf(order), Duplicates::Sum)?;
        let x = match packed.values_of::<f64>() {
            Some(values) if element == ElementType::F32 => {
                let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
                packed.with_values(Values::from(values))?
            }
            _ => packed,
        };
        Ok(Self { entries, x, options, element })
    }

    fn shape(&self) -> &[usize] {
        &self.entries.entries.shape
    }

    /// The vectors of a mode that a component starts from: the singular vector of its number where there is one, then random ones.
    fn starts(
        &self,
        mode: usize,
        component: usize,
        singular: &[f64],
        count: usize,
    ) -> Result<Vec<f64>, DecomposeError> {
        let extent = self.shape()[mode];
        let stream = self.options.seed.wrapping_add((component as u64).wrapping_mul(0xD1B5_4A32_D192_ED03));
        let mut starts: Vec<f64> = uniform(extent, count, stream, mode)?.into_values();
        starts.iter_mut().for_each(|number| *number -= 0.5);
        let columns = singular.len() / extent.max(1);
        if component < columns {
            (0..extent).for_each(|row| starts[row * count] = singular[row * columns + component]);
        }
        Ok(starts)
    }
}

/// A component: its weight, and a vector of norm 1 for each mode.
#[derive(Debug, Clone)]
struct Component {
    weight: f64,
    vectors: Vec<Vec<f64>>,
}

/// A way to find a component, from several starts at once.
trait Method {
    /// Begins with the starts of a component.
    fn begin(&mut self, component: usize) -> Result<(), DecomposeError>;

    /// One iteration: the weight of each start.
    fn iterate(&mut self) -> Result<Vec<f64>, DecomposeError>;

    /// Whether the last weight of a start says how far it is; one that a step was taken back to does not.
    fn says(&self, start: usize) -> bool;

    /// What a start has become.
    fn component(&self, start: usize, weight: f64) -> Component;

    /// Subtracts a component from here on.
    fn subtract(&mut self, number: usize, component: &Component);
}

struct Run<'a> {
    problem: &'a Problem<'a>,
    clock: &'a Clock,
    found: Vec<Component>,
    /// The square of the norm of what is left.
    rest: f64,
}

impl Run<'_> {
    fn all(
        &mut self,
        method: &mut dyn Method,
        observe: Observer<'_, KTensor>,
    ) -> Result<(Vec<Iteration>, Stopped), DecomposeError> {
        let mut iterations = Vec::new();
        let mut stopped = Stopped::Tolerance;
        let norm = self.problem.entries.norm;
        let least = if self.problem.element == ElementType::F32 { 1e-6 } else { 1e-14 };
        if let Some(found) = &self.problem.options.found {
            for (number, component) in self.before(found).into_iter().enumerate() {
                self.take(number, component, method);
            }
        }
        for number in self.found.len()..self.problem.options.components {
            if self.rest.sqrt() <= least * norm {
                self.found.push(self.nothing(number)?);
                continue;
            }
            method.begin(number)?;
            let (component, end) = self.one(number, method, &mut iterations, observe)?;
            self.take(number, component, method);
            match end {
                Stopped::Observer => return Ok((iterations, end)),
                Stopped::Iterations => stopped = end,
                Stopped::Tolerance => {}
            }
        }
        Ok((iterations, stopped))
    }

    /// Has a component found, and subtracts it from here on.
    fn take(&mut self, number: usize, component: Component, method: &mut dyn Method) {
        self.rest = (self.rest - component.weight * component.weight).max(0.0);
        method.subtract(number, &component);
        self.found.push(component);
    }

    /// The components of a model.
    fn before(&self, model: &KTensor) -> Vec<Component> {
        let one = |(number, weight): (usize, &f64)| Component {
            weight: weight * self.problem.entries.scale,
            vectors: model.factors().iter().map(|factor| column_of(factor.values(), model.rank(), number)).collect(),
        };
        model.weights().iter().enumerate().map(one).collect()
    }

    /// A component, and how its iteration ended.
    fn one(
        &self,
        number: usize,
        method: &mut dyn Method,
        iterations: &mut Vec<Iteration>,
        observe: Observer<'_, KTensor>,
    ) -> Result<(Component, Stopped), DecomposeError> {
        let Problem { options, entries, .. } = self.problem;
        let mut before: Vec<f64> = Vec::new();
        for round in 1.. {
            let begin = Instant::now();
            let weights = method.iterate()?;
            if weights.iter().any(|weight| !weight.is_finite()) {
                return Err(DecomposeError::Algebra("weights are not finite"));
            }
            let best = (0..weights.len())
                .fold(0, |best, start| if weights[start].abs() > weights[best].abs() { start } else { best });
            let component = method.component(best, weights[best]);
            let left = (self.rest - weights[best] * weights[best]).max(0.0).sqrt();
            let iteration = Iteration {
                number: options.done + iterations.len() + 1,
                fit: Some(1.0 - left / entries.norm),
                measures: vec![("component", (number + 1) as f64), ("weight", weights[best] / entries.scale)],
                time: begin.elapsed(),
                kernel_time: self.clock.taken().kernels,
                mttkrp_time: None,
            };
            let breaks = observe(&Step { iteration: &iteration, model: &Current { run: self, component: &component } });
            iterations.push(iteration);
            if breaks.is_break() {
                return Ok((component, Stopped::Observer));
            }
            let is_near = |start: usize| {
                let (now, before) = (weights[start], before[start]);
                method.says(start) && (now - before).abs() < options.tolerance * now.abs()
            };
            if before.len() == weights.len() && (0..weights.len()).all(is_near) {
                return Ok((component, Stopped::Tolerance));
            }
            if round == options.iterations {
                return Ok((component, Stopped::Iterations));
            }
            before = weights;
        }
        unreachable!("the last round returns")
    }

    /// A component where nothing is left.
    fn nothing(&self, number: usize) -> Result<Component, DecomposeError> {
        let one = |mode: usize| {
            let mode = if self.problem.options.symmetric { 0 } else { mode };
            let mut vector = self.problem.starts(mode, number, &[], 1)?;
            normalise(&mut vector);
            Ok(vector)
        };
        let vectors = (0..self.problem.shape().len()).map(one).collect::<Result<_, DecomposeError>>()?;
        Ok(Component { weight: 0.0, vectors })
    }

    /// The components that have been found, and one more.
    fn model(&self, more: Option<&Component>) -> Result<KTensor, DecomposeError> {
        let components: Vec<&Component> = self.found.iter().chain(more).collect();
        let weights = components.iter().map(|component| component.weight / self.problem.entries.scale).collect();
        let factor = |(mode, &extent): (usize, &usize)| {
            let row = |row: usize| components.iter().map(move |component| component.vectors[mode][row]);
            Ok(Factor::from_vec([extent, components.len()], (0..extent).flat_map(row).collect())?)
        };
        let factors = self.problem.shape().iter().enumerate().map(factor).collect::<Result<_, DecomposeError>>()?;
        KTensor::new(weights, factors)
    }
}

/// The model as an observer may ask for it.
struct Current<'a> {
    run: &'a Run<'a>,
    component: &'a Component,
}

impl std::fmt::Debug for Current<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Current").field("component", self.component).finish_non_exhaustive()
    }
}

impl Model<KTensor> for Current<'_> {
    fn model(&self) -> KTensor {
        self.run.model(Some(self.component)).expect("each component has a vector for each mode")
    }
}

/// Divides a vector by its norm; one of zeros becomes the first unit vector.
fn normalise(vector: &mut [f64]) {
    let norm = vector.iter().map(|number| number * number).sum::<f64>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|number| *number /= norm);
    } else if let Some(first) = vector.first_mut() {
        *first = 1.0;
    }
}

/// Whether the largest element of a vector is negative.
fn points_down(vector: &[f64]) -> bool {
    vector.iter().fold(0.0, |a: f64, &b| if b.abs() > a.abs() { b } else { a }) < 0.0
}

/// A column of a matrix, normalised: those of `f32` are not quite.
fn column(matrix: &[f64], columns: usize, at: usize) -> Vec<f64> {
    let mut vector = column_of(matrix, columns, at);
    normalise(&mut vector);
    vector
}

/// A column of a matrix.
fn column_of(matrix: &[f64], columns: usize, at: usize) -> Vec<f64> {
    matrix.iter().skip(at).step_by(columns).copied().collect()
}

/// Writes a column of a dense matrix.
fn set_column(matrix: &mut AnyTensor, columns: usize, at: usize, vector: &[f64]) {
    let mut all = numbers(matrix);
    all.iter_mut().skip(at).step_by(columns).zip(vector).for_each(|(number, element)| *number = *element);
    set(matrix, &all);
}

#[cfg(test)]
mod tests;
