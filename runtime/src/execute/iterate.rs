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
use super::flow::{Flow, Whole, lent};
use super::value::New;
use super::{Call, Chain, Error, Outcome, ProgramError};
use crate::tensor::AnyTensor;
use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::{Repetition, Rounds, Source, Tensor};
use std::time::Instant;

/// Runs a chain as a repetition says.
pub(super) fn iterate(
    chain: &Chain,
    inputs: &[AnyTensor],
    stated: &[(&str, usize)],
    repetition: &Repetition,
) -> Result<Outcome, ProgramError> {
    if chain.whole().has_rounds() {
        let message = "the kernel says itself how it is repeated: leave out how often it is to run";
        return Err(ProgramError::Repetition(message.to_owned()));
    }
    check(chain, repetition)?;
    Ok(chain.iterate(inputs, stated, repetition)?)
}

/// Finds what the repetition does not say rightly.
fn check(chain: &Chain, repetition: &Repetition) -> Result<(), ProgramError> {
    let declarations = chain.declarations();
    let inputs: Vec<&Tensor> = declarations.tensors.iter().filter(|tensor| tensor.source == Source::Input).collect();
    let made = |name: &str| {
        let known: Vec<String> = chain.results().to_vec();
        if !known.iter().any(|result| result == name) {
            return Err(ProgramError::NoSuchResult { name: name.to_owned(), known });
        }
        let of_link = |link: &super::Executable| {
            let made = |tensor: &&Tensor| matches!(tensor.source, Source::Output { .. }) && tensor.name == name;
            link.kernel().tensors.iter().find(made).cloned()
        };
        Ok(chain.links().iter().rev().find_map(of_link))
    };
    for (place, (name, result)) in repetition.feeds.iter().enumerate() {
        let input = inputs.iter().find(|input| input.name == *name).ok_or_else(|| {
            let known: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
            let similar = suggest::similar(name, known.iter().map(String::as_str)).map(str::to_owned);
            ProgramError::NoSuchInput { name: name.clone(), similar, known }
        })?;
        if let Some(made) = made(result)? {
            let format = made.delivered.as_ref().unwrap_or(&made.format);
            if input.format != *format || input.element != made.element {
                let (of_input, of_result) = (input.element.name(), made.element.name());
                let message = format!(
                    "`{name}` is {of_input} {}, and the result `{result}` that it is to be is {of_result} {format}: declare both alike",
                    input.format
                );
                return Err(ProgramError::Repetition(message));
            }
        }
        if repetition.feeds[..place].iter().any(|(other, _)| other == name) {
            return Err(ProgramError::GivenTwice { name: name.clone() });
        }
    }
    if let Some(until) = &repetition.until
        && let Some(made) = made(&until.result)?.filter(|made| made.format.order > 0 || made.element.is_complex())
    {
        let (order, element, result) = (made.format.order, made.element.name(), &until.result);
        let message = format!("a rule takes a real number, and `{result}` has {order} modes of {element}");
        return Err(ProgramError::Repetition(message));
    }
    Ok(())
}

impl Chain {
    fn iterate(
        &self,
        inputs: &[AnyTensor],
        stated: &[(&str, usize)],
        repetition: &Repetition,
    ) -> Result<Outcome, Error> {
        let rounds = Rounds { kernels: 0..self.links().len(), repetition: repetition.clone() };
        let (declarations, results) = (self.declarations().clone(), self.results().to_vec());
        let whole = Whole::new(declarations, results, Some(rounds), self.kernels());
        let start = Instant::now();
        let (mut around, mut results) = (Around::default(), New::default());
        let lent = lent(&inputs.iter().collect::<Vec<_>>(), whole.count());
        let flow = Flow::new(&whole, self.kernels(), lent, stated, &results)?;
        let mut run = |link: usize, call: &mut Call<'_>| self.links()[link].run(call).map(drop);
        let rounds = flow.run(Some(&mut around), &mut results, &mut run)?;
        // What is done around kernels once, as copies of operands are made, is part of the first step.
        let run_times = rounds.iter().flat_map(|rounds| rounds.times.iter().copied()).collect::<Vec<_>>();
        around.other = start.elapsed().saturating_sub(run_times.iter().sum());
        let outputs = self.results().iter().cloned().zip(results.0).collect();
        Ok(Outcome { outputs, around, run_times, rounds, tier: self.tier(), reason: self.tier_reason() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Repeated;
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
        Repetition { feeds, most, limit: None, until: until.map(|until| until.parse().unwrap()) }
    }

    fn rounds(outcome: &Outcome) -> &Repeated {
        outcome.rounds.as_ref().unwrap()
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
            assert_eq!((rounds(&found).steps, rounds(&found).is_met, rounds(&found).history.len()), (7, false, 7));
            let outputs = &found.outputs;
            assert_eq!(outputs[0].1.values_of::<f64>().unwrap(), y);
            assert_eq!(outputs[1].1.values_of::<f64>().unwrap(), w);
            // The program has its inputs as before.
            let again = program.iterate(&repetition(&[("x", "w"), ("z", "y")], 7, None)).unwrap();
            assert_eq!(again.outputs[1].1.values_of::<f64>().unwrap(), w);
            let both = program.iterate(&repetition(&[("x", "y"), ("z", "y")], 3, None)).unwrap();
            assert_eq!(rounds(&both).steps, 3);
        }
    }

    #[test]
    fn sparse_results_become_inputs() {
        let text =
            "fn step(A: csr, B: csr) -> (C: csr, n: f64) { C(i, j) = A(i, k) * B(k, j); n = sum(i, j)(abs(C(i, j))); }";
        let program = program(text, vec![("A", ring().into()), ("B", ring().into())], Backend::Interpreter);
        let found = program.iterate(&repetition(&[("B", "C")], 4, Some("n <= 0"))).unwrap();
        assert_eq!((rounds(&found).steps, rounds(&found).is_met), (4, false));
        let mut power = ring();
        for _ in 0..4 {
            power = product(power);
        }
        let format = found.outputs[0].1.format();
        let expected = pack(power, format, Duplicates::Sum).unwrap();
        assert_eq!(found.outputs[0].1, expected);
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
