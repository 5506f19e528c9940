//! The complete schedule of a kernel as text: behind the body it asks for the same loops, and is complete again.

use spc_compiler::concrete::Target;
use spc_compiler::notation;
use spc_compiler::schedule::{self, Options};
use spc_compiler::syntax::{self, Item};
use spc_compiler::{Program, compile};
use spc_tests::case::Case;
use spc_tests::report::check_all;
use spc_tests::{corpus, suite};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cases whose schedule does not come out the same yet, each with the reason. The list may only get shorter.
const NOT_YET: &[(&str, &str)] = &[
    ("products/low_rank_beside_entries", TERMS),
    ("products/terms_with_choices", TERMS),
    ("scatter/terms_of_one_copy", "terms that are listed read copies in orders which no loop asks for in the end"),
];

/// A sum that was cut into terms.
const TERMS: &str = "the index of each term is that of the text, so a directive is for those of all terms";

fn program(text: &str, schedule: Option<&str>, target: Target) -> Result<Program, String> {
    let said = |problems: spc_compiler::diagnostics::Diagnostics| format!("{problems:?}");
    let mut parsed = syntax::parse_program(text).map_err(said)?;
    if let Some(schedule) = schedule {
        let schedule = syntax::parse_schedule(schedule).map_err(said)?;
        for item in &mut parsed.items {
            if let Item::Kernel(kernel) = item {
                kernel.schedule = Some(schedule.clone());
            }
        }
    }
    let kernel = notation::check(&parsed).map_err(said)?.remove(0);
    schedule::schedule(&kernel, Options { target, ..Options::default() }).and_then(compile).map_err(said)
}

/// A schedule without the reasons.
fn without_reasons(text: &str) -> String {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim_end())
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn loops(program: &Program) -> String {
    let text = |compiled: &spc_compiler::Compiled| format!("{}\n{}", compiled.concrete, *compiled.kernel);
    program.kernels.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// What differs when the schedule of a case is written behind its body.
fn difference(case: &Case, target: Target) -> Option<String> {
    let first = program(&case.text, None, target).ok()?;
    let text = schedule::text(&first.record());
    let second = match program(&case.text, Some(&text), target) {
        Ok(second) => second,
        Err(problem) => return Some(format!("is refused:\n{text}\n{problem}")),
    };
    if loops(&first) != loops(&second) {
        return Some(format!("gives other loops:\n{text}\n{}\n{}", loops(&first), loops(&second)));
    }
    let again = schedule::text(&second.record());
    (without_reasons(&again) != without_reasons(&text)).then(|| format!("is not complete:\n{text}\n{again}"))
}

/// Lines of many factors, each followed by its split.
const LINES: &str = include_str!("../../cli/src/bench/plans.ti");

/// Plans whose text does not come out the same yet, each with the reason. The list may only get shorter.
const PLANS_NOT_YET: &[(&str, &str)] = &[
    ("products/low_rank_beside_entries", TERMS),
    ("products/terms_with_choices", TERMS),
    (
        "regressions/product_with_an_empty_sum",
        "a loop over an empty sum is placed elsewhere where the schedule names it",
    ),
    ("symmetric/congruence", "with a part made first, the text does not show that the result is symmetric"),
    ("types/integers_mixed", "a constant among indices is printed as a float, which the element type does not hold"),
];

/// What differs when the statements of a plan are written with its schedule; `None` as well where there is no plan.
fn difference_of_plan(kernel: &notation::Kernel, target: Target, planned: &AtomicUsize) -> Option<String> {
    let plan = spc_compiler::plan::by_text(kernel)?.kernel;
    let options = Options { target, ..Options::default() };
    let first = schedule::schedule(&plan, options).and_then(compile).ok()?;
    planned.fetch_add(1, Ordering::Relaxed);
    let schedule = schedule::text(&first.record());
    let text = format!("{plan} {schedule}");
    let second = match program(&text, None, target) {
        Ok(second) => second,
        Err(problem) => return Some(format!("is refused:\n{text}\n{problem}")),
    };
    if loops(&first) != loops(&second) {
        return Some(format!("gives other loops:\n{text}\n{}\n{}", loops(&first), loops(&second)));
    }
    let again = schedule::text(&second.record());
    (without_reasons(&again) != without_reasons(&schedule)).then(|| format!("is not complete:\n{text}\n{again}"))
}

fn a_plan_with_its_complete_schedule_gives_the_same_loops() {
    let parsed = |text: &str| syntax::parse_program(text).and_then(|program| notation::check(&program)).ok();
    let cases = corpus::cases().into_iter().filter(|case| case.refused.is_none()).map(|case| (case.name, case.text));
    let cases = cases.filter(|(name, _)| !PLANS_NOT_YET.iter().any(|(not_yet, _)| not_yet == name));
    let texts = [("lines".to_owned(), LINES.to_owned())].into_iter().chain(cases);
    let kernels: Vec<notation::Kernel> = texts.filter_map(|(_, text)| parsed(&text)).flatten().collect();
    let planned = AtomicUsize::new(0);
    check_all(
        &kernels,
        |kernel| &kernel.name,
        |kernel| {
            let differences = [Target::Cpu, Target::Gpu].into_iter();
            match differences.filter_map(|target| difference_of_plan(kernel, target, &planned)).next() {
                Some(difference) => Err(format!("the plan with its schedule {difference}")),
                None => Ok(()),
            }
        },
    );
    let planned = planned.into_inner();
    assert!(planned > 40, "{planned} plans were compared");
}

fn a_complete_schedule_gives_the_same_loops() {
    let cases: Vec<Case> =
        corpus::cases().into_iter().filter(|case| case.refused.is_none()).chain(suite::cases()).collect();
    let differs = Mutex::new(BTreeSet::new());
    check_all(
        &cases,
        |case| &case.name,
        |case| {
            for target in [Target::Cpu, Target::Gpu] {
                let Some(difference) = difference(case, target) else { continue };
                differs.lock().expect("nothing panics with it").insert(case.name.clone());
                if !NOT_YET.iter().any(|(name, _)| *name == case.name) {
                    return Err(format!("for {target:?}, the schedule {difference}"));
                }
            }
            Ok(())
        },
    );
    let differs = differs.into_inner().expect("nothing panics with it");
    let closed: Vec<&str> = NOT_YET.iter().map(|(name, _)| *name).filter(|name| !differs.contains(*name)).collect();
    assert!(closed.is_empty(), "take these from the list, as they come out the same: {closed:?}");
}

spc_tests::tests! {
    a_complete_schedule_gives_the_same_loops,
    a_plan_with_its_complete_schedule_gives_the_same_loops,
}
