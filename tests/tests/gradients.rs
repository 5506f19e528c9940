//! Gradients beside central differences, both by the oracle: of the cases of the corpus, and of random programs.

use spc_compiler::diagnostics::Code;
use spc_compiler::diagnostics::codes::notation::{COMPUTED_RESULT_NOT_YET, NO_GRADIENT, TOO_MANY_OPERANDS};
use spc_compiler::ir::ElementType;
use spc_compiler::notation::{self, Kernel, Role};
use spc_compiler::syntax;
use spc_tests::case::Case;
use spc_tests::corpus;
use spc_tests::data::{Entries, Random};
use spc_tests::harness::{Suite, options, without_panics};
use spc_tests::number::Number;
use spc_tests::oracle::evaluate;
use spc_tests::random::Program;
use std::collections::BTreeMap;

/// What became of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Right,
    /// It has no gradient, or nothing that has one.
    None(&'static str),
    /// A difference quotient is no derivative: the function has a kink there, or is no number.
    Kink,
}

/// What compiles no kernel though the notation says it.
const NOT_YET: [Code; 2] = [COMPUTED_RESULT_NOT_YET, TOO_MANY_OPERANDS];

/// The steps of the two difference quotients.
const STEPS: [f64; 2] = [1e-5, 1e-6];
/// How far a derivative may be from one, as a share of the terms that are added.
const TOLERANCE: f64 = 2e-5;

/// Compares the gradients of a case by all of its real inputs.
fn check(case: &Case) -> Result<Outcome, String> {
    let kernels = syntax::parse_program(&case.text).and_then(|program| notation::check(&program));
    let Ok(kernels) = kernels else { return Ok(Outcome::None("refused")) };
    let [kernel] = &kernels[..] else { return Ok(Outcome::None("several")) };
    let is_real = |id: &usize| kernel.tensors[*id].element == ElementType::F64;
    let of_role = |role: Role| (0..kernel.tensors.len()).filter(move |&id| kernel.tensors[id].role == role);
    let inputs: Vec<usize> = of_role(Role::Input).collect();
    let by: Vec<usize> = inputs.iter().copied().filter(is_real).collect();
    if by.is_empty()
        || !kernel.tensors.iter().all(|tensor| tensor.element == ElementType::F64 || !tensor.element.is_float())
    {
        return Ok(Outcome::None("types"));
    }
    let names: Vec<&str> = by.iter().map(|&id| kernel.tensors[id].name.as_str()).collect();
    let text = match notation::gradient(kernel, &names) {
        Ok(text) => text,
        Err(found) if found.clone().into_sorted().iter().all(|problem| problem.code == NO_GRADIENT) => {
            return Ok(Outcome::None("no gradient"));
        }
        Err(_) => return Err("a gradient is refused with another code".to_owned()),
    };
    let refused = |found: spc_compiler::diagnostics::Diagnostics| {
        let found: Vec<String> =
            found.into_sorted().iter().map(|one| format!("{} {}", one.code, one.message)).collect();
        format!("{}\n{text}", found.join("\n"))
    };
    let gradient =
        syntax::parse_program(&text).and_then(|program| notation::check(&program)).map_err(refused)?.remove(0);
    match spc_compiler::compile_notation(&gradient) {
        Ok(_) => {}
        // A gradient has more sparse operands than the kernel, and results with the patterns of operands.
        Err(found) if found.iter().all(|problem| NOT_YET.contains(&problem.code)) => {
            return Ok(Outcome::None("not yet"));
        }
        Err(found) => return Err(refused(found)),
    }

    let mut random = Random::new(case.seed + 17);
    // Ties of small numbers are kinks, and so are zeros and NaN; in blocks, a zero is no entry.
    let Ok(mut given) = without_panics(|| case.inputs(kernel)) else { return Ok(Outcome::None("names")) };
    for (&id, entries) in inputs.iter().zip(&mut given) {
        if is_real(&id) {
            for number in entries.stored.values_mut() {
                let is_kink = value(*number) == 0.0 || value(*number).is_nan();
                let whole = if is_kink { 0.4 } else { value(*number) };
                *number = Number::F64(whole * (1.0 + 0.1 * share(&mut random)));
            }
        }
    }
    let dims = case.extents(&kernel.variables);
    let results = evaluate(kernel, &given, &dims);
    let made: Vec<usize> = of_role(Role::Output).collect();
    // What is gained by each result: by those entries that it has, where it is sparse.
    let gained: BTreeMap<String, Entries> = made
        .iter()
        .zip(&results)
        .map(|(&id, result)| {
            let stored =
                result.entries.stored.keys().map(|index| (index.clone(), Number::F64(share(&mut random)))).collect();
            let entries = Entries { shape: result.entries.shape.clone(), stored };
            (format!("d{}", kernel.tensors[id].name), entries)
        })
        .collect();
    let whole = |entries: &[Entries]| -> f64 {
        let results = evaluate(kernel, entries, &dims);
        let terms = made.iter().zip(&results).flat_map(|(&id, result)| {
            let gained = &gained[&format!("d{}", kernel.tensors[id].name)];
            let fill = Number::of_literal(kernel.tensors[id].fill);
            gained.stored.iter().map(move |(index, gain)| {
                value(*gain) * value(result.entries.stored.get(index).copied().unwrap_or(fill))
            })
        });
        if kernel.tensors.iter().any(|tensor| tensor.role == Role::Output && tensor.element != ElementType::F64) {
            return f64::NAN;
        }
        terms.sum()
    };
    let size = |entries: &[Entries]| -> f64 {
        let results = evaluate(kernel, entries, &dims);
        let values =
            results.iter().flat_map(|result| result.entries.stored.values().map(|number| value(*number).abs()));
        values.filter(|value| value.is_finite()).sum()
    };
    let inputs_of_gradient: Vec<Entries> = gradient
        .tensors
        .iter()
        .filter(|tensor| tensor.role == Role::Input)
        .map(|tensor| {
            let place = inputs.iter().position(|&id| kernel.tensors[id].name == tensor.name);
            match place {
                Some(place) => given[place].clone(),
                None => gained[&plain(&tensor.name, &gained)].clone(),
            }
        })
        .collect();
    let of_names = without_panics(|| evaluate(&gradient, &inputs_of_gradient, &case.extents(&gradient.variables)));
    // A name of the case may be that of another index here: then the inputs tell every extent.
    let gradients = match of_names {
        Ok(gradients) => gradients,
        Err(_) => without_panics(|| evaluate(&gradient, &inputs_of_gradient, &[]))
            .map_err(|error| format!("{error}\n{text}"))?,
    };
    let mut outcome = Outcome::Right;
    for (&id, found) in by.iter().zip(&gradients) {
        let place = inputs.iter().position(|&input| input == id).expect("it is an input");
        let tensor = &kernel.tensors[id];
        if found.entries.shape != given[place].shape {
            return Err(format!("d{} is {:?}, not {:?}\n{text}", tensor.name, found.entries.shape, given[place].shape));
        }
        // The oracle tells no zeros that are stored because a mask has an entry.
        let is_own = |index: &Vec<usize>| given[place].stored.contains_key(index);
        if tensor.is_sparse() && !found.entries.stored.keys().all(is_own) {
            return Err(format!("d{} has other entries than {}\n{text}", tensor.name, tensor.name));
        }
        let direction: BTreeMap<Vec<usize>, f64> =
            given[place].stored.keys().map(|index| (index.clone(), share(&mut random))).collect();
        let along = |step: f64| {
            let mut moved = given.clone();
            for (index, number) in &mut moved[place].stored {
                *number = Number::F64(value(*number) + step * direction[index]);
            }
            whole(&moved)
        };
        let quotients = STEPS.map(|step| (along(step) - along(-step)) / (2.0 * step));
        let terms: Vec<f64> = direction
            .iter()
            .filter_map(|(index, along)| Some(along * value(*found.entries.stored.get(index)?)))
            .collect();
        let (sum, scale) = (terms.iter().sum::<f64>(), 1.0 + terms.iter().map(|term| term.abs()).sum::<f64>());
        let is_smooth = (quotients[0] - quotients[1]).abs() <= TOLERANCE * (scale + quotients[0].abs());
        if !quotients.iter().all(|quotient| quotient.is_finite()) || !is_smooth {
            outcome = Outcome::Kink;
            continue;
        }
        // Beside very large results, small ones do not count.
        let rounding = f64::EPSILON * size(&given) / STEPS[0];
        if !sum.is_finite() || (sum - quotients[0]).abs() > TOLERANCE * scale * 10.0 + rounding {
            let values = (&given, &gained);
            return Err(format!("by {}: {sum} beside {} at {values:?}\n{text}", tensor.name, quotients[0]));
        }
    }
    Ok(outcome)
}

/// The name of what is gained by a result, where the gradient has a number behind it.
fn plain(name: &str, gained: &BTreeMap<String, Entries>) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    if gained.contains_key(name) { name.to_owned() } else { stem.to_owned() }
}

fn value(number: Number) -> f64 {
    number.to_c64().re
}

/// A number between -1 and 1.
fn share(random: &mut Random) -> f64 {
    random.below(2_000_001) as f64 / 1e6 - 1.0
}

/// Compares some cases; says how many have gradients.
fn check_all(cases: Vec<Case>, least: usize) {
    let mut counts = BTreeMap::new();
    let mut failures = Vec::new();
    for case in &cases {
        match without_panics(|| check(case)) {
            Ok(Ok(outcome)) => *counts.entry(format!("{outcome:?}")).or_insert(0) += 1,
            Ok(Err(error)) | Err(error) => failures.push(format!("{}: {error}\n{}", case.name, case.text)),
        }
    }
    println!("{counts:?}");
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n\n"));
    assert!(counts.get("Right").copied().unwrap_or(0) >= least, "{counts:?}");
}

fn of_the_corpus() {
    check_all(corpus::cases().into_iter().filter(|case| case.refused.is_none()).collect(), 500);
}

fn of_random_programs() {
    let seeds = options().seeds(400, 2000);
    let count = seeds.end - seeds.start;
    let cases = seeds.map(|seed| Program::random(seed).case(&format!("seed {seed}"))).collect();
    check_all(cases, count as usize / 40);
}

/// A gradient is a kernel: it has a gradient itself.
fn of_gradients() {
    let twice = |case: &Case| -> Option<Case> {
        let kernels = syntax::parse_program(&case.text).and_then(|program| notation::check(&program)).ok()?;
        let [kernel] = &kernels[..] else { return None };
        let by = |kernel: &Kernel| -> Vec<String> {
            let real =
                kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input && tensor.element == ElementType::F64);
            real.map(|tensor| tensor.name.clone()).collect()
        };
        let names = by(kernel);
        let text = notation::gradient(kernel, &names.iter().map(String::as_str).collect::<Vec<_>>()).ok()?;
        Some(Case {
            name: format!("{} twice", case.name),
            text,
            data: BTreeMap::new(),
            patterns: BTreeMap::new(),
            ..case.clone()
        })
    };
    let cases = corpus::cases().into_iter().filter(|case| case.refused.is_none());
    check_all(cases.filter_map(|case| twice(&case)).collect(), 200);
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    suite.test("gradients::of_the_corpus", of_the_corpus);
    suite.test("gradients::of_random_programs", of_random_programs);
    suite.whole("gradients::of_gradients", of_gradients);
}
