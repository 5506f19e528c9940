//! Planned kernels compute what the oracle says of the text, whatever the plan was made from: sizes may be wrong by any factor.

use spc_compiler::notation::Kernel;
use spc_compiler::plan::{self, Facts, Known, Source, TensorFacts};
use spc_compiler::schedule::{self, Options};
use spc_tests::case::Case;
use spc_tests::corpus;
use spc_tests::data::Random;
use spc_tests::engine::Ready;
use spc_tests::harness::options;
use spc_tests::random::Program;
use std::collections::BTreeMap;

/// Sizes that have nothing to do with the data.
fn facts(kernel: &Kernel, random: &mut Random) -> Facts {
    let mut power =
        |least: u32, most: u32| 10f64.powi((least + random.below((most - least) as usize + 1) as u32) as i32);
    let mut facts = Facts { threads: 2, calls: power(0, 6), ..Facts::default() };
    let names = kernel.variables.iter().map(|variable| variable.written.as_ref().map_or(&variable.name, |w| &w.name));
    let extents: BTreeMap<&String, f64> = names.map(|name| (name, power(1, 5))).collect();
    facts.extents = extents.into_iter().map(|(name, extent)| (name.clone(), extent as u64)).collect();
    for tensor in &kernel.tensors {
        let known = |estimate: f64, bound: f64| Known { estimate, bound, source: Source::Hint };
        let all = (1u32 << tensor.format.order) - 1;
        let mut facts_of = TensorFacts { entries: Some(known(power(0, 6), power(4, 7))), ..TensorFacts::default() };
        for modes in (1..all).filter(|modes| modes % 3 != 0) {
            facts_of.distinct.insert(modes, known(power(0, 6), power(3, 6)));
        }
        facts.tensors.insert(tensor.name.clone(), facts_of);
    }
    facts
}

/// Runs what is planned of a case from some sizes; whether there was a plan that the scheduler takes.
fn check(case: &Case, ready: &mut Ready, facts: &Facts) -> Result<bool, String> {
    let Some(planned) = plan::plan(&ready.notation, facts) else { return Ok(false) };
    let text = plan::text(&planned.kernel);
    let of = |error: String| format!("{}\n{error}\nplanned as\n{text}", case.text);
    let Ok(program) = schedule::schedule(&planned.kernel, Options::default()) else { return Ok(false) };
    ready.program = spc_compiler::compile(program).map_err(|problems| of(format!("{problems:?}")))?;
    // Where a sum has no term, loops in another order may store it or not.
    let results = ready.interpreter().and_then(|interpreter| ready.results(&interpreter)).map_err(of)?;
    ready.check_values(&results).map_err(of)?;
    Ok(true)
}

/// The plans of a case from several sizes: how many ran, and what is wrong.
fn plans(case: &Case, seed: u64, wrong: &mut Vec<String>) -> usize {
    let Ok(mut ready) = Ready::new(case) else { return 0 };
    let mut random = Random::new(seed);
    let mut all = vec![Facts::default()];
    all.extend((0..3).map(|_| facts(&ready.notation, &mut random)));
    let mut planned = 0;
    for facts in all {
        match check(case, &mut ready, &facts) {
            Ok(ran) => planned += usize::from(ran),
            Err(error) => wrong.push(error),
        }
    }
    planned
}

/// A product of several factors, as a case.
fn product(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let letters = ["i", "j", "k", "l", "m"];
    // A factor may occur twice, where all extents are one.
    let repeats = seed.is_multiple_of(2);
    let same = 1 + random.below(5);
    let mut extent = || if repeats { same } else { 1 + random.below(5) };
    let dims: Vec<String> = letters.iter().map(|letter| format!("{letter}={}", extent())).collect();
    let formats: [&[&str]; 4] = [
        &["dense"],
        &["dense", "[compressed]"],
        &["dense", "csr", "csc", "dcsr", "coo"],
        &["dense", "csf", "[dense, compressed, dense]"],
    ];
    // How factors are combined, by what they are reduced, the type, and what is missing.
    let rings = [
        ("*", "sum", "", ""),
        ("*", "sum", "i32 ", ""),
        ("&&", "any", "bool ", ""),
        ("+", "min", "", " fill inf"),
        ("+", "max", "", " fill -inf"),
    ];
    let (times, plus, element, fill) = rings[random.below(8).saturating_sub(3).min(4)];
    let mut names: Vec<String> = Vec::new();
    let mut factors: Vec<String> = Vec::new();
    let mut used: Vec<&str> = Vec::new();
    for number in 0..2 + random.below(4) {
        let mut own = letters.to_vec();
        random.shuffle(&mut own);
        own.truncate(1 + random.below(3));
        used.extend(&own);
        let name = format!("T{}{}", number - if repeats { random.below(2).min(number) } else { 0 }, own.len());
        let format = random.choose(formats[own.len()]);
        let declaration = format!("{name}: {element}{format}{}", if *format == "dense" { "" } else { fill });
        if !names.iter().any(|known| known.starts_with(&format!("{name}:"))) {
            names.push(declaration);
        }
        factors.push(format!("{name}({})", own.join(", ")));
    }
    used.sort_unstable();
    used.dedup();
    let mut target = used.clone();
    random.shuffle(&mut target);
    target.truncate(random.below(3).min(used.len()));
    let reduced: Vec<&str> = used.iter().copied().filter(|letter| !target.contains(letter)).collect();
    let value = factors.join(&format!(" {times} "));
    let value = if reduced.is_empty() { value } else { format!("{plus}({})({value})", reduced.join(", ")) };
    let (result, place) = match target.is_empty() {
        true => (if element.is_empty() { "f64".to_owned() } else { element.trim().to_owned() }, "R".to_owned()),
        false => {
            let format = random.choose(formats[target.len()]);
            (format!("{element}{format}{fill}"), format!("R({})", target.join(", ")))
        }
    };
    let text = format!(
        "// dims: {}\n// seed: {seed}\nfn product({}) -> R: {result} {{ {place} = {value}; }}",
        dims.join(" "),
        names.join(", ")
    );
    Case::parse("product", &text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn planned_products_do_what_the_oracle_says() {
    let mut wrong = Vec::new();
    let planned: usize = options().seeds(120, 800).map(|seed| plans(&product(seed), seed, &mut wrong)).sum();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n\n"));
    assert!(planned > 30, "only {planned} were planned");
}

fn planned_programs_do_what_the_oracle_says() {
    let mut wrong = Vec::new();
    for seed in options().seeds(60, 200) {
        plans(&Program::random(seed).case("random"), seed, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n\n"));
}

fn planned_cases_do_what_the_oracle_says() {
    let mut wrong = Vec::new();
    let cases = corpus::cases().into_iter().filter(|case| case.refused.is_none());
    let planned: usize = cases.map(|case| plans(&case, 7, &mut wrong)).sum();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n\n"));
    assert!(planned > 20, "only {planned} were planned");
}

spc_tests::tests! {
    planned_products_do_what_the_oracle_says,
    planned_programs_do_what_the_oracle_says,
    planned_cases_do_what_the_oracle_says,
}
