//! The unit of the data: methods get the tensor times a power of two, its largest absolute value between 1 and 2, and what they find is in the
//! tensor's own unit again. So nothing overflows in kernels of `f32` or where numbers are squared, and a model and its fit do not depend on whether
//! the tensor is in metres or in nanometres.
//!
//! A power of two changes no digit: weights are scaled back exactly. (Adam, whose steps have a length, gets a tensor whose largest absolute value
//! is 1.) Losses that say what `x` is, such as truth values, keep their unit.

use super::{CpMethod, CpOptions, GcpOptions, Loss, Optimizer};
use crate::decompose::elements::{kernel_element, numbers, values};
use crate::decompose::entries::{largest_of, scale_of};
use crate::decompose::{DecomposeError, Fitted, Iteration, KTensor, MethodState, Model, Observer, Start, Step};
use crate::tensor::AnyTensor;
use std::borrow::Cow;

/// What a tensor is multiplied by, and what that makes of a measure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) scale: f64,
    measure: Measure,
}

/// How a measure of the scaled tensor becomes that of the tensor, which is `x / scale`.
#[derive(Debug, Clone, Copy)]
enum Measure {
    /// It does not depend on the unit.
    Same,
    /// Σ (x - m)²: the square of the unit.
    Squares,
    /// Σ m - x log m, with the sum of the scaled tensor's entries, and the sign that the method gives it.
    Poisson { name: &'static str, sum: f64, sign: f64 },
}

impl Unit {
    /// Of a tensor whose largest absolute value is this, for a method of least squares.
    pub(super) fn of_largest(largest: f64) -> Self {
        Self { scale: scale_of(largest), measure: Measure::Same }
    }

    /// Of a tensor, as a method takes it.
    pub(super) fn of(x: &AnyTensor, method: &CpMethod) -> Self {
        let largest = largest_of(x);
        let scale = match method {
            // The length of its steps is a number of its own.
            CpMethod::Gcp(GcpOptions { optimizer: Optimizer::Adam { .. }, .. }) if (1.0 / largest).is_normal() => {
                1.0 / largest
            }
            _ => scale_of(largest),
        };
        let sum = || (0..x.values().len()).map(|at| x.values().get_f64(at) * scale).sum();
        let (scale, measure) = match method {
            CpMethod::Als(_) | CpMethod::Nonnegative(_) => (scale, Measure::Same),
            CpMethod::Apr(_) => (scale, Measure::Poisson { name: "log_likelihood", sum: sum(), sign: -1.0 }),
            CpMethod::Gcp(own) => match own.loss {
                Loss::Gaussian => (scale, Measure::Squares),
                Loss::Poisson => (scale, Measure::Poisson { name: "loss", sum: sum(), sign: 1.0 }),
                Loss::Bernoulli | Loss::BernoulliLogit | Loss::Given { .. } => (1.0, Measure::Same),
            },
        };
        Self { scale, measure }
    }

    /// The tensor in this unit, with the elements of kernels.
    pub(super) fn tensor<'x>(
        self,
        x: &'x AnyTensor,
        options: &CpOptions,
    ) -> Result<Cow<'x, AnyTensor>, DecomposeError> {
        if self.scale == 1.0 {
            return Ok(Cow::Borrowed(x));
        }
        let element = kernel_element(x.element(), options.element)?;
        let mut scaled = numbers(x);
        scaled.iter_mut().for_each(|value| *value *= self.scale);
        Ok(Cow::Owned(x.with_values(values(&scaled, element))?.with_fill(element.zero())))
    }

    /// Options for the tensor in this unit.
    pub(super) fn options(self, x: &AnyTensor, options: &CpOptions) -> Result<CpOptions, DecomposeError> {
        // The scaled tensor may have other elements.
        let element = Some(kernel_element(x.element(), options.element)?);
        Ok(CpOptions { element, ..self.start(options) })
    }

    /// Options with the start in this unit.
    pub(super) fn start(self, options: &CpOptions) -> CpOptions {
        let mut options = options.clone();
        if let Start::Model(model) = &mut options.start {
            model.multiply(self.scale);
        }
        options
    }

    /// Runs a method that gets the tensor in this unit, with an observer that sees it in its own.
    pub(super) fn observed<R>(
        self,
        observe: Observer<'_, KTensor>,
        run: impl FnOnce(Observer<'_, KTensor>) -> Result<R, DecomposeError>,
    ) -> Result<R, DecomposeError> {
        run(&mut |step| {
            let iteration = self.iteration(step.iteration);
            observe(&Step { iteration: &iteration, model: &Scaled { model: step.model, unit: self } })
        })
    }

    /// What was found, in the tensor's own unit.
    ///
    /// # Errors
    /// When a weight is beyond the largest number.
    pub(super) fn found(self, mut fitted: Fitted<KTensor>) -> Result<Fitted<KTensor>, DecomposeError> {
        fitted.model.multiply(1.0 / self.scale);
        if !fitted.model.is_finite() {
            let message = "a weight of the model is beyond the largest number of f64: divide the tensor by a number";
            return Err(DecomposeError::Model(message.to_owned()));
        }
        fitted.iterations.iter_mut().for_each(|iteration| *iteration = self.iteration(iteration));
        Ok(fitted)
    }

    fn iteration(self, iteration: &Iteration) -> Iteration {
        let mut iteration = iteration.clone();
        iteration.measures.iter_mut().for_each(|(name, value)| *value = self.measured(name, *value));
        iteration
    }

    fn measured(self, measure: &str, value: f64) -> f64 {
        match self.measure {
            Measure::Squares if measure == "loss" => value / self.scale / self.scale,
            Measure::Poisson { name, sum, sign } if measure == name => {
                (value + sign * self.scale.ln() * sum) / self.scale
            }
            _ => value,
        }
    }
}

/// A model as an observer sees it.
#[derive(Debug)]
struct Scaled<'a> {
    model: &'a dyn Model<KTensor>,
    unit: Unit,
}

impl Model<KTensor> for Scaled<'_> {
    fn model(&self) -> KTensor {
        let mut model = self.model.model();
        model.multiply(1.0 / self.unit.scale);
        model
    }

    fn state(&self) -> Option<MethodState> {
        self.model.state()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{counts, interpreted, planted, start_of};
    use super::super::{AlsOptions, AprOptions, NonnegativeOptions, cp};
    use super::*;
    use crate::tensor::ElementType;
    use std::ops::ControlFlow;

    fn times(x: &AnyTensor, by: f64, element: ElementType) -> AnyTensor {
        let scaled: Vec<f64> = numbers(x).iter().map(|value| value * by).collect();
        x.with_values(values(&scaled, element)).unwrap().with_fill(element.zero())
    }

    fn methods(x: &AnyTensor) -> Vec<CpMethod> {
        let gcp = |loss: Loss| CpMethod::Gcp(GcpOptions { loss, ..GcpOptions::default() });
        let optimizer = Optimizer::Adam { rate: 0.02, samples: None, steps: 10 };
        let adam = CpMethod::Gcp(GcpOptions { optimizer, ..GcpOptions::default() });
        // All entries but a few count, some of them more.
        let weights: Vec<f64> = (0..x.values().len()).map(|at| [1.0, 2.0, 0.0, 0.5][at % 4]).collect();
        let weighted = |by: f64| {
            let weights = Some(times(&x.with_values(weights.clone().into()).unwrap(), by, ElementType::F64));
            CpMethod::Als(AlsOptions { weights, ..AlsOptions::default() })
        };
        vec![
            CpMethod::Als(AlsOptions::default()),
            weighted(1.0),
            weighted(1e-170),
            weighted(1e200),
            CpMethod::Nonnegative(NonnegativeOptions::default()),
            CpMethod::Apr(AprOptions::default()),
            gcp(Loss::Gaussian),
            gcp(Loss::Poisson),
            adam,
        ]
    }

    /// What a run comes to, from a random start or from a model of the tensor's unit.
    fn found(x: &AnyTensor, method: &CpMethod, start: Start) -> Fitted<KTensor> {
        let options = interpreted(&CpOptions { iterations: 3, tolerance: 0.0, start, ..CpOptions::new(2) });
        cp(x, method, &options, &mut |_| ControlFlow::Continue(())).unwrap()
    }

    fn started(x: &AnyTensor, by: f64) -> Start {
        let Start::Model(mut model) = start_of(x.shape(), 2) else { panic!("a model") };
        model.multiply(by);
        Start::Model(model)
    }

    /// `c X` has `c` times the model of `X`, and the same fits, also where `c` squared is no number.
    #[test]
    fn the_unit_of_the_data_makes_no_difference() {
        const WIDE: &[f64] = &[1e-300, 1e-162, 7.0, 1e155, 1e300];
        const NARROW: &[f64] = &[1e-38, 1e-20, 7.0, 1e37];
        let x = counts(&[5, 4, 3]);
        for (element, scales, near) in [(ElementType::F64, WIDE, 1e-6), (ElementType::F32, NARROW, 2e-3)] {
            // Some from a random start, and some from a model.
            let start = |by: f64| if element == ElementType::F32 { started(&x, by) } else { Start::default() };
            for (number, method) in methods(&x).iter().enumerate() {
                let expected = found(&times(&x, 1.0, element), method, start(1.0));
                for &scale in scales {
                    let found = found(&times(&x, scale, element), method, start(scale));
                    for (one, other) in expected.iterations.iter().zip(&found.iterations) {
                        let [one, other] = [one, other].map(|iteration| iteration.fit.unwrap_or(0.0));
                        let apart = (one - other).abs();
                        assert!(apart < near, "method {number}, {element:?} * {scale:e}: fits {one} and {other}");
                    }
                    for (expected, weight) in expected.model.weights().iter().zip(found.model.weights()) {
                        let apart = (weight / scale - expected).abs();
                        assert!(
                            apart < 20.0 * near * expected.abs().max(1e-3),
                            "method {number}, {element:?} * {scale:e}: weights {weight:e} and {expected:e}"
                        );
                    }
                }
            }
        }
    }

    /// Log likelihoods and losses are those of the data as they are, not of what methods get.
    #[test]
    fn measures_are_those_of_the_tensor() {
        let x = times(&planted(&[4, 3, 5], 2, 1.0), 100.0, ElementType::F64);
        let dense = x.convert(&spc_compiler::format::Format::dense(3)).unwrap();
        for (method, name) in [
            (CpMethod::Apr(AprOptions::default()), "log_likelihood"),
            (CpMethod::Gcp(GcpOptions { loss: Loss::Gaussian, ..GcpOptions::default() }), "loss"),
            (CpMethod::Gcp(GcpOptions { loss: Loss::Poisson, ..GcpOptions::default() }), "loss"),
        ] {
            let found = found(&x, &method, start_of(&[4, 3, 5], 2));
            let model = found.model.to_dense().unwrap();
            let pairs = numbers(&dense).into_iter().zip(numbers(&model));
            let expected: f64 = match &method {
                CpMethod::Gcp(GcpOptions { loss: Loss::Gaussian, .. }) => pairs.map(|(x, m)| (x - m).powi(2)).sum(),
                CpMethod::Gcp(_) => {
                    // What keeps the logarithm finite is added in the unit of the method.
                    let least = 1e-10 / Unit::of(&x, &method).scale;
                    pairs.map(|(x, m)| m - x * (m + least).ln()).sum()
                }
                _ => pairs.map(|(x, m)| m - if x == 0.0 { 0.0 } else { x * m.ln() }).sum(),
            };
            let expected = if name == "loss" { expected } else { -expected };
            let last = &found.iterations.last().unwrap().measures;
            let value = last.iter().find(|(known, _)| *known == name).unwrap().1;
            assert!((value - expected).abs() < 1e-6 * expected.abs().max(1e-3), "{name}: {value} is not {expected}");
        }
    }
}
