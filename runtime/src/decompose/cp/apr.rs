//! Alternating Poisson regression (CP-APR): factors that make the counts of a tensor most probable, by multiplicative updates.
//!
//! Chi and Kolda: On Tensors, Sparsity, and Nonnegative Factorizations, SIAM Journal on Matrix Analysis and Applications 33(4), 2012,
//! algorithms 1 and 3. The model is the rates of Poisson variables; what is made larger is their log likelihood
//! Σ x log m - m, without the term in x alone. For each mode, in turn:
//!
//! ```text
//! B = A · diag(λ)                                    elements that are zero though they should not be are moved by κ first
//! repeat: Φ = (X / max(M, ε)) × the other factors    (MTTKRP)
//!         end when max |min(B, 1 - Φ)| is small      (Karush, Kuhn and Tucker's conditions)
//!         B = B * Φ                                  element by element
//! λ = the sums of the columns of B; A = B / λ
//! ```
//!
//! Of counts, iterations, likelihood and violations are those of `cp_apr(algorithm="mu")` of pyttb and of the MATLAB Tensor Toolbox. Their constants
//! ε and that in the violation have the unit of the data: here, of its smallest positive entry, so that the unit makes no difference.

use super::CpOptions;
use super::batch::{Batch, Compiled};
use super::columns::{Columns, Size, product, wide};
use super::iterate::{Objective, Prepared, Progress, Snapshot, State, iterate};
use super::stored::Stored;
use crate::decompose::elements::{dense, numbers, zeros};
use crate::decompose::engine::Clock;
use crate::decompose::entries::not_negative;
use crate::decompose::observe::named;
use crate::decompose::start::{Signs, factors};
use crate::decompose::{DecomposeError, Factor, Fitted, KTensor, MethodState, Norm, Observer};
use crate::tensor::{AnyTensor, ElementType};
use std::time::Instant;

/// What the method takes besides. A run ends when the violation of the Karush-Kuhn-Tucker conditions is below
/// [`CpOptions::tolerance`] in all modes before they are updated. A model to start from has no negative value; of singular vectors absolute
/// values are taken.
#[derive(Debug, Clone)]
pub struct AprOptions {
    /// The most multiplicative updates of a factor in one iteration.
    pub inner_iterations: usize,
    /// Model values below this count as this much where entries are divided by them (ε), in units of the tensor's smallest positive entry: 1 of
    /// counts. It only has to keep quotients finite: where it is larger than a rate, as 1e-10 of pyttb may be next to counts of millions, the rate
    /// falls to zero, and the likelihood with it.
    pub least_model: f64,
    /// What is added to an element that is zero though a larger one would be more probable (κ).
    pub offset: f64,
    /// Below which an element counts as zero for that.
    pub zero: f64,
}

impl Default for AprOptions {
    fn default() -> Self {
        Self { inner_iterations: 10, least_model: 1e-100, offset: 0.01, zero: 1e-10 }
    }
}

pub(super) fn run(
    x: &AnyTensor,
    own: &AprOptions,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    check(own)?;
    let began = Instant::now();
    let data = Stored::of(x, options)?;
    let start = factors(x, options.rank, &options.start, Signs::NotNegative, &options.engine)?;
    let state = Apr::new(data, start, options)?;
    let compile_time = state.compiled.time;
    let prepare_time = began.elapsed().saturating_sub(compile_time);
    let prepared = Prepared { compile_time, prepare_time, notes: Vec::new() };
    let precision = if state.data.element() == ElementType::F32 { 1e-5 } else { 1e-10 };
    iterate(state, prepared, options, observe, |state, _| {
        let Done { violation, inner, converged } = state.iterate(own, options.tolerance)?;
        let (log_likelihood, fit) = state.measure()?;
        let measures =
            vec![("log_likelihood", log_likelihood), ("kkt_violation", violation), ("inner_iterations", inner as f64)];
        let rounding = precision * log_likelihood.abs().max(1.0);
        let objective = Some(Objective { name: "log_likelihood", value: -log_likelihood, rounding });
        Ok(Progress { fit, measures, ended: converged, objective })
    })
}

/// Refuses a tensor that the method does not take.
pub(super) fn admit(x: &AnyTensor) -> Result<(), DecomposeError> {
    not_negative(x, METHOD)
}

const METHOD: &str = "alternating Poisson regression";

fn check(own: &AprOptions) -> Result<(), DecomposeError> {
    if own.inner_iterations == 0 {
        return Err(DecomposeError::Option("a factor is updated at least once in an iteration".to_owned()));
    }
    let numbers = [("least model value", own.least_model), ("offset", own.offset), ("least element", own.zero)];
    for (name, number) in numbers {
        if !number.is_finite() || number < 0.0 {
            let message = format!("the {name} of {METHOD} is {number}, but it is a number that is not negative");
            return Err(DecomposeError::Option(message));
        }
    }
    Ok(())
}

/// The kernels, by place in a batch.
#[derive(Debug)]
struct Kernels {
    /// `X / max(M, ε)` at the stored entries.
    ratio: usize,
    model: usize,
    /// For each mode.
    mttkrp: Vec<usize>,
    /// The factor with its weights, moved away from zeros.
    open: usize,
    /// The factor after a multiplicative update, and the violation before it.
    update: usize,
    /// Σ x log m and Σ x m.
    measure: usize,
}

impl Kernels {
    fn new(data: &Stored, batch: &mut Batch<'_>) -> Self {
        let e = data.element().name();
        let open = format!(
            "fn open(A: {e} dense, P: {e} dense, s: {e} dense, zero: {e}, offset: {e}) -> N: {e} dense {{
                 N(i, r) = (A(i, r) + select(P(i, r) > 0 && A(i, r) < zero, offset, 0)) * s(r);
             }}"
        );
        let update = format!(
            "fn update(A: {e} dense, P: {e} dense, u: {e}) -> (N: {e} dense, v: {e}) {{
                 N(i, r) = A(i, r) * P(i, r);
                 v max= abs(min(A(i, r) * u, 1 - P(i, r)));
             }}"
        );
        let (x, m) = (data.access("X"), data.access("M"));
        // A stored zero counts for nothing, also where the model has a zero. Where the model underflows at another entry, its likelihood is that of the
        // least number.
        let (x, m) = (wide(&x, data.element()), wide(&m, data.element()));
        let measure = format!(
            "fn measure(X: {declaration}, M: {declaration}) -> (l: f64, n: f64) {{
                 l = {x} * ln(select({x} == 0, 1, select({m} < {least:e}, {least:e}, {m})));
                 n = {x} * {m};
             }}
             schedule {{ same_pattern(X, M); }}",
            declaration = data.declaration(),
            least = f64::MIN_POSITIVE
        );
        Self {
            ratio: data.add(batch, data.ratio()),
            model: data.add(batch, data.model()),
            mttkrp: data.add_mttkrps(batch),
            open: batch.add_text(open, &[]),
            update: batch.add_text(update, &[]),
            measure: batch.add_text(measure, &[]),
        }
    }
}

/// What an iteration came to.
#[derive(Debug)]
struct Done {
    /// The largest of all modes, when each was last computed.
    violation: f64,
    /// How often one was computed.
    inner: usize,
    /// No factor was updated, because the conditions hold in all modes.
    converged: bool,
}

/// The model, and room for what is computed.
#[derive(Debug)]
struct Apr {
    data: Stored,
    kernels: Kernels,
    columns: Columns,
    compiled: Compiled,
    /// λ.
    weights: Vec<f64>,
    /// Columns have the sum one.
    factors: Vec<AnyTensor>,
    /// What a kernel makes of a factor, which then takes its place.
    next: Vec<AnyTensor>,
    /// Φ of each mode, as it was last computed.
    phi: Vec<AnyTensor>,
    /// With the pattern of the tensor.
    entries: AnyTensor,
    /// Of the tensor, squared.
    norm: f64,
    /// The smallest positive entry, which is the unit of ε and of violations.
    unit: f64,
}

impl Apr {
    fn new(data: Stored, start: KTensor, options: &CpOptions) -> Result<Self, DecomposeError> {
        let values = data.tensor.values();
        let values = (0..values.len()).map(|at| values.get_f64(at));
        let unit = values.filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let unit = if unit.is_finite() { unit } else { 1.0 };
        let mut batch = Batch::new(&options.engine);
        let kernels = Kernels::new(&data, &mut batch);
        let columns = Columns::new(&mut batch, options.rank, data.element(), Size::Sum)?;
        let compiled = batch.compile()?;
        let (weights, factors) = start.into_parts();
        let of_element = |factor: &Factor| dense(factor.shape(), factor.values(), data.element());
        let factors = factors.iter().map(of_element).collect::<Result<Vec<_>, _>>()?;
        let room = || zeros(data.tensor.shape(), options.rank, data.element());
        let (next, phi, entries) = (room()?, room()?, data.alike()?);
        let mut apr = Self { data, kernels, columns, compiled, weights, factors, next, phi, entries, norm: 0.0, unit };
        if let Some(state) = &options.state {
            apr.go_on(state)?;
        } else {
            for mode in 0..apr.factors.len() {
                apr.close(mode)?;
            }
        }
        let (mut likelihood, mut norm) = (0.0f64, 0.0f64);
        let x = &apr.data.tensor;
        apr.compiled.call(apr.kernels.measure, &[x, x], (&mut likelihood, &mut norm))?;
        apr.norm = norm;
        Ok(apr)
    }

    /// Takes what the run before remembered.
    fn go_on(&mut self, state: &MethodState) -> Result<(), DecomposeError> {
        let (rank, element) = (self.weights.len(), self.data.element());
        let shape = self.data.tensor.shape();
        self.weights = numbers(&state.get("weights", &[rank], ElementType::F64)?);
        self.factors = state.factors("factor", shape, rank, element)?;
        self.phi = state.factors("phi", shape, rank, element)?;
        Ok(())
    }

    /// Updates all factors.
    fn iterate(&mut self, own: &AprOptions, tolerance: f64) -> Result<Done, DecomposeError> {
        let mut done = Done { violation: 0.0, inner: 0, converged: true };
        for mode in 0..self.factors.len() {
            self.open(mode, own)?;
            let mut violation = 0.0;
            for _ in 0..own.inner_iterations {
                violation = self.update(mode, own)?;
                done.inner += 1;
                if violation < tolerance {
                    break;
                }
                std::mem::swap(&mut self.factors[mode], &mut self.next[mode]);
                done.converged = false;
            }
            done.violation = done.violation.max(violation);
            self.close(mode)?;
        }
        Ok(done)
    }

    /// Moves the weights into a factor.
    fn open(&mut self, mode: usize, own: &AprOptions) -> Result<(), DecomposeError> {
        let weights = dense(&[self.weights.len()], &self.weights, self.data.element())?;
        let (factor, phi) = (&self.factors[mode], &self.phi[mode]);
        let inputs: [&dyn crate::execute::Input; 5] = [factor, phi, &weights, &own.zero, &own.offset];
        self.compiled.call(self.kernels.open, &inputs, &mut self.next[mode])?;
        std::mem::swap(&mut self.factors[mode], &mut self.next[mode]);
        self.weights.fill(1.0);
        Ok(())
    }

    /// Leaves a multiplicative update of a factor in `next`, and gives the violation before it.
    fn update(&mut self, mode: usize, own: &AprOptions) -> Result<f64, DecomposeError> {
        let Self { data, kernels, compiled, factors, next, phi, entries, unit, .. } = self;
        let smallest =
            if data.element() == ElementType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
        let least = (own.least_model * *unit).max(smallest);
        compiled.call_with(kernels.ratio, (&data.tensor, factors, None), &[&least], &mut *entries)?;
        compiled.call_with(kernels.mttkrp[mode], (entries, factors, Some(mode)), &[], &mut phi[mode])?;
        let mut violation = dense(&[], &[0.0], data.element())?;
        compiled.call(
            kernels.update,
            &[&factors[mode], &phi[mode], &(1.0 / *unit)],
            (&mut next[mode], &mut violation),
        )?;
        Ok(violation.values().get_f64(0))
    }

    /// Moves the sums of a factor's columns to the weights.
    fn close(&mut self, mode: usize) -> Result<(), DecomposeError> {
        let Self { compiled, columns, weights, factors, next, .. } = self;
        let sums = columns.sizes(compiled, &factors[mode])?;
        weights.iter_mut().zip(&sums).for_each(|(weight, sum)| *weight *= sum);
        let scales: Vec<f64> = sums.iter().map(|&sum| if sum > 0.0 { 1.0 / sum } else { 1.0 }).collect();
        columns.scale(compiled, &factors[mode], &scales, &mut next[mode])?;
        std::mem::swap(&mut factors[mode], &mut next[mode]);
        Ok(())
    }

    /// The log likelihood and the fit.
    fn measure(&mut self) -> Result<(f64, Option<f64>), DecomposeError> {
        let Self { data, kernels, compiled, columns, weights, factors, next, entries, .. } = self;
        columns.scale(compiled, &factors[0], weights, &mut next[0])?;
        std::mem::swap(&mut factors[0], &mut next[0]);
        let made = compiled.call_with(kernels.model, (&data.tensor, factors, None), &[], &mut *entries);
        std::mem::swap(&mut factors[0], &mut next[0]);
        made?;
        let (mut likelihood, mut inner) = (0.0f64, 0.0f64);
        compiled.call(kernels.measure, &[&data.tensor, entries], (&mut likelihood, &mut inner))?;
        let grams = factors.iter().map(|factor| columns.gram(compiled, factor)).collect::<Result<Vec<_>, _>>()?;
        let grams = product(&grams, None);
        let rank = weights.len();
        let model: f64 = (0..rank * rank).map(|at| weights[at / rank] * weights[at % rank] * grams[at]).sum();
        let fit = (self.norm > 0.0).then(|| 1.0 - ((self.norm + model - 2.0 * inner).max(0.0) / self.norm).sqrt());
        Ok((likelihood - weights.iter().sum::<f64>(), fit))
    }
}

impl State for Apr {
    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { weights: self.weights.clone(), factors: &self.factors, norm: Norm::One }
    }

    fn clock(&self) -> &Clock {
        &self.compiled.clock
    }

    fn remembered(&self) -> Option<MethodState> {
        let weights = dense(&[self.weights.len()], &self.weights, ElementType::F64).ok()?;
        let factors = named("factor", &self.factors).chain(named("phi", &self.phi));
        Some(MethodState::new([("weights".to_owned(), weights)].into_iter().chain(factors).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{counts, from, interpreted, start_of};
    use super::*;
    use crate::decompose::{CpMethod, Stopped, cp};
    use crate::execute::Backend;
    use crate::tensor::{ElementType, Values};
    use spc_compiler::format::Format;
    use std::ops::ControlFlow;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} is not {expected}");
    }

    fn fitted(x: &AnyTensor, options: &CpOptions) -> Fitted<KTensor> {
        cp(x, &CpMethod::Apr(AprOptions::default()), options, &mut |_| ControlFlow::Continue(())).unwrap()
    }

    fn measure(fitted: &Fitted<KTensor>, iteration: usize, name: &str) -> f64 {
        let measures = &fitted.iterations[iteration].measures;
        measures.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// Two counts in places of their own: the most probable rates of rank 1 are n (a/n)³ and n (b/n)³ there, with n = a + b; of rank 2 the counts.
    #[test]
    fn counts_of_very_different_sizes_have_a_likelihood() {
        let (a, b) = (16_777_217.0, 3.0);
        let mut values = vec![0.0; 8];
        (values[0], values[7]) = (a, b);
        let x = dense(&[2, 2, 2], &values, ElementType::F64).unwrap();
        for (rank, element) in [(1, ElementType::F64), (2, ElementType::F64), (1, ElementType::F32)] {
            let options = CpOptions { iterations: 100, element: Some(element), ..CpOptions::new(rank) };
            let fitted = fitted(&x, &interpreted(&options));
            let n = a + b;
            // One component for each is the best; with two, a run may end with both at the larger count.
            let least = a * (n * (a / n).powi(3)).ln() + b * (n * (b / n).powi(3)).ln() - n;
            let most = if rank == 1 { least } else { a * a.ln() + b * b.ln() - n };
            let likelihoods: Vec<f64> =
                (0..fitted.iterations.len()).map(|at| measure(&fitted, at, "log_likelihood")).collect();
            let found = *likelihoods.last().unwrap();
            let near = if element == ElementType::F32 { 1e-6 * most } else { 1e-3 };
            assert!(
                (least - near..=most + near).contains(&found),
                "rank {rank}, {element:?}: {found} in {least}..{most}"
            );
        }
    }

    #[test]
    fn a_run_goes_on_with_what_was_remembered() {
        let x = counts(&[5, 4, 3]);
        let options = interpreted(&CpOptions { iterations: 7, tolerance: 0.0, ..from(&x, 2) });
        let whole = fitted(&x, &options);
        let first = fitted(&x, &CpOptions { iterations: 3, ..options.clone() });
        let rest = fitted(&x, &CpOptions { done: 3, state: first.state, ..options });
        assert_eq!(rest.model, whole.model);
    }

    /// pyttb 1.8.6: `cp_apr(X, 2, init=M, stoptol=1e-4, maxiters=6)`; `obj` of runs with fewer iterations.
    const LIKELIHOODS: [(usize, f64); 4] =
        [(0, -48.8536034458756), (1, -43.4830708988295), (2, -42.44693105693888), (5, -39.908266801311356)];
    const VIOLATIONS: [f64; 6] = [
        0.04393287904926466,
        0.1859452910372476,
        0.01656979327179009,
        0.02280474516350761,
        0.04070855413954044,
        0.03676829365877449,
    ];

    #[test]
    fn likelihood_and_violations_are_pyttb_s() {
        let x = counts(&[5, 4, 3]);
        let options = CpOptions { iterations: 6, ..from(&x, 2) };
        for options in [interpreted(&options), options] {
            let fitted = fitted(&x, &options);
            for (iteration, expected) in LIKELIHOODS {
                close(measure(&fitted, iteration, "log_likelihood"), expected, 1e-11);
            }
            for (iteration, expected) in VIOLATIONS.into_iter().enumerate() {
                close(measure(&fitted, iteration, "kkt_violation"), expected, 1e-9);
            }
            let inner: Vec<f64> = (0..6).map(|at| measure(&fitted, at, "inner_iterations")).collect();
            assert_eq!(inner, [30.0, 25.0, 22.0, 25.0, 24.0, 21.0]);
            close(fitted.fit().unwrap(), 0.3544346045806118, 1e-10);
            close(fitted.model.weights()[0], 33.98489666046869, 1e-10);
            close(fitted.model.weights()[1], 20.015103339531304, 1e-10);
            assert_eq!(fitted.stopped, Stopped::Iterations);
        }
    }

    #[test]
    fn likelihood_and_violations_are_pyttb_s_for_four_modes() {
        let x = counts(&[4, 3, 2, 3]);
        let fitted = fitted(&x, &interpreted(&CpOptions { iterations: 4, ..from(&x, 3) }));
        close(measure(&fitted, 3, "log_likelihood"), -60.41948364550196, 1e-11);
        let violations = [0.12582261927978178, 0.09679970157483608, 0.05163696527660577, 0.060891769509978544];
        for (iteration, expected) in violations.into_iter().enumerate() {
            close(measure(&fitted, iteration, "kkt_violation"), expected, 1e-9);
        }
        let weights = [36.16575280733413, 29.590812577242446, 14.24343461542342];
        fitted.model.weights().iter().zip(weights).for_each(|(found, expected)| close(*found, expected, 1e-10));
    }

    #[test]
    fn orders_up_to_eight_and_element_types() {
        for shape in [&[3, 2, 3, 2, 2][..], &[2, 3, 2, 2, 2, 2, 2, 2]] {
            let x = counts(shape);
            let options = interpreted(&CpOptions { iterations: 4, tolerance: 0.0, ..from(&x, 2) });
            let double = fitted(&x, &options);
            let likelihood = |at| measure(&double, at, "log_likelihood");
            assert!((1..4).all(|at| likelihood(at) > likelihood(at - 1)), "{:?}", double.iterations);
            let single = fitted(&x, &CpOptions { element: Some(ElementType::F32), ..options });
            close(measure(&single, 3, "log_likelihood"), likelihood(3), 1e-4);
        }
    }

    #[test]
    fn every_format_gives_the_same() {
        let x = counts(&[5, 4, 3]);
        let options = interpreted(&CpOptions { iterations: 3, ..from(&x, 2) });
        let formats = [
            "coo",
            "alto",
            "hicoo(2)",
            "mcoo",
            "lco",
            "bcsf(2)",
            "dense",
            "ell",
            "fcoo",
            "cfb",
            "shicoo(2)",
            "ghicoo(2)",
            "[dense, compressed, compressed]",
            "(i, j, k) -> [k: compressed, i: dense, j: compressed]",
            "[compressed(unordered), compressed(unordered), compressed(unordered)]",
            "[compressed, hashed, hashed]",
            "[dense, bitmap, banded]",
            "(i, j, k) -> [j: compressed(nonunique), k: singleton(nonunique), i: singleton]",
        ];
        for format in formats {
            let stored = x.convert(&super::super::testing::format(format, 3)).unwrap();
            let fitted = fitted(&stored, &options);
            close(measure(&fitted, 2, "log_likelihood"), LIKELIHOODS[2].1, 1e-10);
            close(measure(&fitted, 2, "kkt_violation"), VIOLATIONS[2], 1e-8);
        }
    }

    #[test]
    fn counts_of_whole_numbers() {
        let x = counts(&[5, 4, 3]);
        let whole: Vec<i32> = x.values_of::<f64>().unwrap().iter().map(|&value| value as i32).collect();
        let whole = x.with_values(Values::from(whole)).unwrap().with_fill(ElementType::I32.zero());
        let fitted = fitted(&whole, &interpreted(&CpOptions { iterations: 1, ..from(&x, 2) }));
        close(measure(&fitted, 0, "log_likelihood"), LIKELIHOODS[0].1, 1e-11);
    }

    #[test]
    fn zeros_empty_slices_and_one_entry() {
        let zero = AnyTensor::zeros(vec![3, 2, 2], Format::dense(3), ElementType::F64).unwrap();
        let none = fitted(&zero, &interpreted(&CpOptions { iterations: 3, ..CpOptions::new(2) }));
        assert_eq!((none.model.weights(), none.fit()), (&[0.0, 0.0][..], None));
        assert_eq!(measure(&none, none.iterations.len() - 1, "log_likelihood"), 0.0);
        // Rank above each extent; only one entry, so that all other slices are empty.
        let mut values = vec![0.0; 12];
        values[6] = 7.0;
        let one = dense(&[3, 2, 2], &values, ElementType::F64).unwrap();
        let fitted = fitted(&one, &interpreted(&CpOptions { iterations: 20, ..CpOptions::new(4) }));
        close(fitted.fit().unwrap(), 1.0, 1e-6);
        close(fitted.model.weights().iter().sum(), 7.0, 1e-9);
        close(measure(&fitted, 0, "log_likelihood"), 7.0 * 7f64.ln() - 7.0, 1e-9);
        assert_eq!(fitted.stopped, Stopped::Tolerance);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let message = |x: &AnyTensor, options: &CpOptions, own: AprOptions| {
            cp(x, &CpMethod::Apr(own), options, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string()
        };
        let mut x = counts(&[5, 4, 3]);
        let options = interpreted(&CpOptions::new(2));
        let small = CpOptions { start: start_of(&[4, 4, 3], 2), ..options.clone() };
        assert!(message(&x, &small, AprOptions::default()).contains("has shape 4 × 4 × 3"));
        let none = AprOptions { inner_iterations: 0, ..AprOptions::default() };
        assert!(message(&x, &options, none).contains("at least once"));
        assert!(
            message(&x, &CpOptions { rank: 0, ..options.clone() }, AprOptions::default()).contains("the rank is 0")
        );
        let entry =
            x.entries::<f64>().unwrap()[4].0.iter().map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(", ");
        x.values_mut::<f64>().unwrap()[4] = -2.0;
        let text = message(&x, &options, AprOptions::default());
        assert!(text.starts_with(&format!("the entry at ({entry}) is -2: alternating Poisson regression")), "{text}");
        x.values_mut::<f64>().unwrap()[4] = f64::NAN;
        let text = message(&x, &options, AprOptions::default());
        assert!(text.starts_with(&format!("the entry at ({entry}) is NaN")), "{text}");
        let flat = AnyTensor::zeros(vec![3, 2], Format::dense(2), ElementType::F64).unwrap();
        assert!(message(&flat, &options, AprOptions::default()).contains("2 modes"));
    }

    #[test]
    fn a_start_of_singular_vectors_has_no_negative_value() {
        let x = counts(&[5, 4, 3]);
        let start = crate::decompose::Start::Hosvd { seed: 0 };
        let found = fitted(&x, &interpreted(&CpOptions { iterations: 8, start, ..CpOptions::new(4) }));
        let likelihoods: Vec<f64> = (0..8).map(|at| measure(&found, at, "log_likelihood")).collect();
        assert!(likelihoods.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9), "{likelihoods:?}");
        assert!(found.model.factors().iter().all(|factor| factor.values().iter().all(|&value| value >= 0.0)));
    }

    #[test]
    fn an_observer_ends_a_run_that_goes_on_from_there() {
        let x = counts(&[5, 4, 3]);
        let options = interpreted(&CpOptions { iterations: 2, ..from(&x, 2) });
        let mut seen = Vec::new();
        let method = CpMethod::Apr(AprOptions::default());
        let first = cp(&x, &method, &options, &mut |step| {
            seen.push((step.iteration.number, step.model.model()));
            ControlFlow::Break(())
        });
        let first = first.unwrap();
        assert_eq!((first.stopped, seen.len(), first.iterations.len()), (Stopped::Observer, 1, 1));
        assert_eq!(seen[0], (1, first.model.clone()));
        // Nothing of the first run but its model is known to the second, which has no elements to move away from zero here.
        let start = crate::decompose::Start::Model(first.model);
        let second = fitted(&x, &CpOptions { start, done: 1, ..options });
        assert_eq!((second.iterations.len(), second.iterations[0].number), (1, 2));
        close(measure(&second, 0, "log_likelihood"), LIKELIHOODS[1].1, 1e-9);
    }

    #[test]
    fn a_planted_model_is_found_on_any_number_of_threads() {
        let x = super::super::testing::planted(&[12, 10, 8], 2, 40.0);
        let mut options = CpOptions { iterations: 60, tolerance: 1e-8, ..CpOptions::new(2) };
        options.engine.deterministic = true;
        options.engine.backend = Some(Backend::Native);
        let on = |threads| crate::parallel::with_threads(threads, || fitted(&x, &options)).unwrap();
        let (one, three) = (on(1), on(3));
        assert!(one.fit().unwrap() > 0.999, "{:?}", one.fit());
        assert_eq!(one.model, three.model);
    }
}
