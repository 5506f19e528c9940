//! A kernel that runs on its own results, until a rule holds.
//!
//! ```text
//! x ──▶ kernel ──▶ y, change          a step
//! ▲                │    └──▶ change < 1e-6?
//! └──── y → x ─────┘                  their memory is swapped, nothing is copied
//! ```
//!
//! What the kernel makes of inputs that no result becomes, sorted copies and temporaries, is made in the first step.

use super::around::Around;
use super::flow::{Flow, lent};
use super::value::Sink;
use super::{Call, Chain, Error, Outcome, ProgramError};
use crate::tensor::{AnyTensor, Element};
use crate::with_element;
use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::{Source, Tensor};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How often a kernel runs on its own results.
///
/// ```
/// use spc::execute::{Operand, Program, ProgramOptions, Repetition};
/// use spc_compiler::{notation, syntax};
///
/// // Newton's method for the square root of 2.
/// let text = "fn newton(x: f64) -> (y: f64, change: f64) { y = (x + 2 / x) / 2; change = abs(y - x); }";
/// let kernels = notation::check(&syntax::parse_program(text).unwrap()).unwrap();
/// let inputs = vec![("x".to_owned(), Operand::Ones)];
/// let program = Program::new(&kernels[0], inputs, &[], &ProgramOptions::default())?;
/// let feeds = vec![("x".to_owned(), "y".to_owned())];
/// let found = program.iterate(&Repetition { feeds, most: 20, until: Some("change < 1e-9".parse()?) })?;
/// assert!(found.is_met && found.steps == 5);
/// let root = found.outcome.outputs[0].1.values_of::<f64>().unwrap()[0];
/// assert!((root - 2f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Repetition {
    /// The inputs that take a result of the step before, each with that result: `("x", "y")`.
    pub feeds: Vec<(String, String)>,
    /// The most steps; at least one is done.
    pub most: usize,
    /// The rule that ends it before.
    pub until: Option<Until>,
}

/// A rule that ends a [`Repetition`], as `change < 1e-6`: a real result without modes beside a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    /// The result.
    pub result: String,
    /// How it is compared.
    pub comparison: Comparison,
    /// The number.
    pub bound: f64,
}

/// A comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// Longer ones first: `<` begins `<=`.
    const ALL: [(&str, Self); 4] =
        [("<=", Self::LessOrEqual), (">=", Self::GreaterOrEqual), ("<", Self::Less), (">", Self::Greater)];

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::LessOrEqual => value <= bound,
            Self::Greater => value > bound,
            Self::GreaterOrEqual => value >= bound,
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |(_, comparison): &&(&str, Comparison)| *comparison == self.comparison;
        let sign = Comparison::ALL.iter().find(of).map_or("", |(sign, _)| sign);
        write!(f, "{} {sign} {:?}", self.result, self.bound)
    }
}

/// A text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rule: it has the form `RESULT < NUMBER`, as in `change < 1e-6`, with <, <=, > or >=")]
pub struct NotARule(String);

impl FromStr for Until {
    type Err = NotARule;

    fn from_str(text: &str) -> Result<Self, NotARule> {
        let split = || {
            let (sign, comparison) = Comparison::ALL.into_iter().find(|(sign, _)| text.contains(sign))?;
            let (result, bound) = text.split_once(sign)?;
            let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let (result, bound) = (result.trim(), bound.trim().parse::<f64>().ok().filter(|bound| !bound.is_nan())?);
            is_name(result).then(|| Self { result: result.to_owned(), comparison, bound })
        };
        split().ok_or_else(|| NotARule(text.to_owned()))
    }
}

/// What a [`Repetition`] computed.
#[derive(Debug, Clone)]
pub struct Iterated {
    /// The results of the last step, and how long each step took.
    pub outcome: Outcome,
    /// The number of steps.
    pub steps: usize,
    /// Whether the rule held after the last; true where there is no rule.
    pub is_met: bool,
    /// The value that the rule compares, after each step.
    pub history: Vec<f64>,
}

/// A repetition by the places of inputs and results.
struct Resolved {
    feeds: Vec<(usize, usize)>,
    until: Option<(usize, Until)>,
}

/// Runs a chain as a repetition says.
pub(super) fn iterate(
    chain: &Chain,
    inputs: Vec<AnyTensor>,
    stated: &[(&str, usize)],
    repetition: &Repetition,
) -> Result<Iterated, ProgramError> {
    chain.iterate(inputs, stated, repetition.most.max(1), &resolved(chain, repetition)?)
}

fn resolved(chain: &Chain, repetition: &Repetition) -> Result<Resolved, ProgramError> {
    let declarations = chain.declarations();
    let inputs: Vec<&Tensor> = declarations.tensors.iter().filter(|tensor| tensor.source == Source::Input).collect();
    let made = |name: &str| {
        let known: Vec<String> = chain.results().to_vec();
        let place = known.iter().position(|result| result == name);
        let place = place.ok_or_else(|| ProgramError::NoSuchResult { name: name.to_owned(), known });
        let of_link = |link: &super::Executable| {
            let made = |tensor: &&Tensor| matches!(tensor.source, Source::Output { .. }) && tensor.name == name;
            link.kernel().tensors.iter().find(made).cloned()
        };
        place.map(|place| (place, chain.links().iter().rev().find_map(of_link)))
    };
    let feed = |(name, result): &(String, String)| {
        let place = inputs.iter().position(|input| input.name == *name).ok_or_else(|| {
            let known: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
            let similar = suggest::similar(name, known.iter().map(String::as_str)).map(str::to_owned);
            ProgramError::NoSuchInput { name: name.clone(), similar, known }
        })?;
        let (number, made) = made(result)?;
        if let Some(made) = made {
            let (input, format) = (inputs[place], made.delivered.as_ref().unwrap_or(&made.format));
            if input.format != *format || input.element != made.element {
                let (of_input, of_result) = (input.element.name(), made.element.name());
                let message = format!(
                    "`{name}` is {of_input} {}, and the result `{result}` that it is to be is {of_result} {format}: declare both alike",
                    input.format
                );
                return Err(ProgramError::Repetition(message));
            }
        }
        Ok((place, number))
    };
    let feeds = repetition.feeds.iter().map(feed).collect::<Result<Vec<_>, _>>()?;
    let twice = (1..feeds.len()).find(|&place| feeds[..place].iter().any(|(input, _)| *input == feeds[place].0));
    if let Some(place) = twice {
        return Err(ProgramError::GivenTwice { name: repetition.feeds[place].0.clone() });
    }
    let until = repetition.until.as_ref().map(|until| {
        let (place, made) = made(&until.result)?;
        match made.filter(|made| made.format.order > 0 || made.element.is_complex()) {
            Some(made) => {
                let (order, element) = (made.format.order, made.element.name());
                let result = &until.result;
                let message = format!("a rule takes a real number, and `{result}` has {order} modes of {element}");
                Err(ProgramError::Repetition(message))
            }
            None => Ok((place, until.clone())),
        }
    });
    Ok(Resolved { feeds, until: until.transpose()? })
}

impl Chain {
    fn iterate(
        &self,
        mut inputs: Vec<AnyTensor>,
        stated: &[(&str, usize)],
        most: usize,
        of: &Resolved,
    ) -> Result<Iterated, ProgramError> {
        let kept =
            self.whole().kept((0..inputs.len()).filter(|place| of.feeds.iter().all(|(input, _)| input != place)));
        let mut results = Round(vec![None; self.results().len()]);
        let (mut around, mut run_times, mut history) = (Around::default(), Vec::new(), Vec::new());
        let mut is_met = of.until.is_none();
        for step in 1..=most {
            let start = Instant::now();
            let mut running = Duration::ZERO;
            let mut here = Around::default();
            let lent = lent(&inputs.iter().collect::<Vec<_>>(), self.count());
            let flow = Flow::new(self.whole(), self.kernels(), lent, stated, &results)?.keeping(&kept);
            flow.run(Some(&mut here), &mut results, &mut |link, call| {
                let start = Instant::now();
                let done = self.links()[link].run(call).map(drop);
                running += start.elapsed();
                done
            })?;
            if step == 1 {
                here.other = start.elapsed().saturating_sub(running + here.total());
                around = here;
            }
            run_times.push(running);
            if let Some((result, until)) = &of.until {
                let value = results.0[*result].as_ref().and_then(number).unwrap_or(f64::NAN);
                history.push(value);
                if value.is_nan() {
                    let message =
                        format!("`{}` is NaN after step {step}: the rule `{until}` sees no number", until.result);
                    return Err(ProgramError::Repetition(message));
                }
                is_met = until.comparison.holds(value, until.bound);
                if is_met {
                    break;
                }
            }
            if step < most {
                for (number, &(input, result)) in of.feeds.iter().enumerate() {
                    // A result that several inputs take is where the first of them put it.
                    match of.feeds[..number].iter().find(|(_, other)| *other == result) {
                        Some(&(first, _)) => inputs[input] = inputs[first].clone(),
                        None => {
                            let made = results.0[result].take().ok_or_else(super::value::missing)?;
                            results.0[result] = Some(std::mem::replace(&mut inputs[input], made));
                        }
                    }
                }
            }
        }
        let tensors = results.0.into_iter().collect::<Option<Vec<_>>>().ok_or_else(super::value::missing)?;
        let outputs = self.results().iter().cloned().zip(tensors).collect();
        let steps = run_times.len();
        let outcome = Outcome { outputs, around, run_times, tier: self.tier(), reason: self.tier_reason() };
        Ok(Iterated { outcome, steps, is_met, history })
    }
}

/// The number that a tensor without modes is.
fn number(tensor: &AnyTensor) -> Option<f64> {
    with_element!(tensor.element(), |T| tensor.values_of::<T>().and_then(|values| Some(values.first()?.to_f64())))
}

/// The results of a step, in the memory of those before where they are dense.
struct Round(Vec<Option<AnyTensor>>);

impl Round {
    fn room(&mut self, result: usize) -> Option<&mut AnyTensor> {
        self.0.get_mut(result)?.as_mut().filter(|tensor| tensor.format().is_dense() && tensor.order() > 0)
    }
}

impl Sink for Round {
    fn shape(&self, _: usize) -> Option<&[usize]> {
        None
    }

    fn lend(&mut self, result: usize, call: &mut Call<'_>, output: usize) -> Result<(), Error> {
        match self.room(result) {
            Some(tensor) if call.check_reuse(output, tensor).is_ok() => call.reuse(output, tensor),
            _ => Ok(()),
        }
    }

    fn take_back(&mut self, result: usize, call: &mut Call<'_>, output: usize) -> Result<bool, Error> {
        self.room(result).map_or(Ok(false), |tensor| call.take_back(output, tensor))
    }

    fn set(&mut self, result: usize, tensor: AnyTensor) -> Result<(), Error> {
        self.0[result] = Some(tensor);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{Backend, Operand, Program, ProgramOptions};
    use crate::tensor::{Coordinates, Duplicates, Indices, pack};
    use spc_compiler::{notation, syntax};

    fn program(text: &str, inputs: Vec<(&str, Operand)>, backend: Backend) -> Program {
        let kernels = notation::check(&syntax::parse_program(text).unwrap()).unwrap();
        let inputs = inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
        let options = ProgramOptions { backend: Some(backend), ..ProgramOptions::default() };
        Program::new(&kernels[0], inputs, &[], &options).unwrap()
    }

    /// A ring of 5 places with a chord.
    fn ring() -> Coordinates<f64> {
        let indices = vec![Indices::U32(vec![1, 2, 3, 4, 0, 2]), Indices::U32(vec![0, 1, 2, 3, 4, 0])];
        Coordinates { shape: vec![5, 5], shape_is_stated: true, indices, values: vec![1.0, 2.0, 1.0, 0.5, 1.0, -1.0] }
    }

    fn repetition(feeds: &[(&str, &str)], most: usize, until: Option<&str>) -> Repetition {
        let feeds = feeds.iter().map(|&(input, result)| (input.to_owned(), result.to_owned())).collect();
        Repetition { feeds, most, until: until.map(|until| until.parse().unwrap()) }
    }

    #[test]
    fn steps_are_those_of_separate_runs() {
        // The transposed product reads a sorted copy, which is made once.
        let text = "fn step(A: csr, x: dense, z: dense) -> (y: dense, w: dense, n: f64) {
            y(j) = A(i, j) * x(i) + z(j); w(i) = A(i, j) * y(j); n = sum(i)(abs(w(i)));
        }";
        let a = [
            [0.0, 0.0, 0.0, 0.0, 1.0],
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [-1.0, 2.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.5, 0.0],
        ];
        let (mut x, mut z) = (vec![1.0; 5], vec![1.0; 5]);
        let (mut y, mut w) = (Vec::new(), Vec::new());
        for step in 0..7 {
            y = (0..5).map(|j| (0..5).map(|i| a[i][j] * x[i]).sum::<f64>() + z[j]).collect::<Vec<f64>>();
            w = (0..5).map(|i| (0..5).map(|j| a[i][j] * y[j]).sum::<f64>()).collect::<Vec<f64>>();
            if step < 6 {
                (x, z) = (w.clone(), y.clone());
            }
        }
        for backend in [Backend::Interpreter, Backend::Native] {
            let inputs = vec![("A", ring().into()), ("x", Operand::Ones), ("z", Operand::Ones)];
            let program = program(text, inputs, backend);
            let found = program.iterate(&repetition(&[("x", "w"), ("z", "y")], 7, Some("n > 1e9"))).unwrap();
            assert_eq!((found.steps, found.is_met, found.history.len()), (7, false, 7));
            let outputs = &found.outcome.outputs;
            assert_eq!(outputs[0].1.values_of::<f64>().unwrap(), y);
            assert_eq!(outputs[1].1.values_of::<f64>().unwrap(), w);
            // The program has its inputs as before.
            let again = program.iterate(&repetition(&[("x", "w"), ("z", "y")], 7, None)).unwrap();
            assert_eq!(again.outcome.outputs[1].1.values_of::<f64>().unwrap(), w);
            let both = program.iterate(&repetition(&[("x", "y"), ("z", "y")], 3, None)).unwrap();
            assert_eq!(both.steps, 3);
        }
    }

    #[test]
    fn sparse_results_become_inputs() {
        let text =
            "fn step(A: csr, B: csr) -> (C: csr, n: f64) { C(i, j) = A(i, k) * B(k, j); n = sum(i, j)(abs(C(i, j))); }";
        let program = program(text, vec![("A", ring().into()), ("B", ring().into())], Backend::Interpreter);
        let found = program.iterate(&repetition(&[("B", "C")], 4, Some("n <= 0"))).unwrap();
        assert_eq!((found.steps, found.is_met), (4, false));
        let mut power = ring();
        for _ in 0..4 {
            power = product(power);
        }
        let format = found.outcome.outputs[0].1.format();
        let expected = pack(power, format, Duplicates::Sum).unwrap();
        assert_eq!(found.outcome.outputs[0].1, expected);
    }

    fn product(b: Coordinates<f64>) -> Coordinates<f64> {
        let text = "fn step(A: csr, B: csr) -> C: csr { C(i, j) = A(i, k) * B(k, j); }";
        let program = program(text, vec![("A", ring().into()), ("B", b.into())], Backend::Interpreter);
        program.run(1).unwrap().outputs[0].1.to_coordinates::<f64>().unwrap()
    }

    #[test]
    fn rules_are_checked() {
        let text = "fn f(A: csr, x: dense) -> (y: dense, change: f64) { y(i) = A(i, j) * x(j); change = sum(i)(y(i) - x(i)); }";
        let program = program(text, vec![("A", ring().into()), ("x", Operand::Ones)], Backend::Interpreter);
        let message = |feeds: &[(&str, &str)], until: &str| {
            program.iterate(&repetition(feeds, 3, Some(until))).unwrap_err().to_string()
        };
        assert!(message(&[("x", "z")], "change < 1").contains("no result `z`"));
        assert!(message(&[("A", "y")], "change < 1").contains("declare both alike"));
        assert!(message(&[("x", "y"), ("x", "y")], "change < 1").contains("`x`"));
        assert!(message(&[("x", "y")], "y < 1").contains("a rule takes a real number"));
        assert!(message(&[("b", "y")], "change < 1").contains("`b`"));
        assert_eq!("change<=1e-6".parse::<Until>().unwrap().to_string(), "change <= 1e-6");
        for wrong in ["change", "< 1", "change < x", "change < nan", "a b < 1", "change == 1"] {
            assert!(wrong.parse::<Until>().is_err(), "{wrong}");
        }
        let text = "fn f(x: dense) -> (y: dense, s: f64) { y(i) = x(i) - 1; s = sum(i)(y(i) / y(i)); }";
        let ones = Coordinates {
            shape: vec![2],
            shape_is_stated: true,
            indices: vec![Indices::U32(vec![0, 1])],
            values: vec![1.0, 1.0],
        };
        let program = super::tests::program(text, vec![("x", ones.into())], Backend::Interpreter);
        let error = program.iterate(&repetition(&[("x", "y")], 3, Some("s < 0.5"))).unwrap_err();
        assert!(error.to_string().contains("`s` is NaN after step 1"), "{error}");
    }
}
