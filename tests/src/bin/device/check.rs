//! Whether kernels are right on a device: every case of the corpus and of the suites against the oracle.

use crate::{Arguments, Table};
use serde_json::{Value, json};
use spc::cuda::Gpu;
use spc::execute::Chain;
use spc_compiler::backend::cuda::Options;
use spc_compiler::concrete::Target;
use spc_compiler::schedule;
use spc_tests::case::Case;
use spc_tests::engine::{Ready, Stop};
use spc_tests::{corpus, report, suite};

/// A case with extents that its kernel is for alone.
struct Fixed {
    case: Case,
    extents: Vec<(&'static str, u64)>,
}

/// What is said of the cases, and whether all are right.
pub(crate) fn all(arguments: &Arguments, gpu: &Gpu, table: Table) -> (Value, bool) {
    let cases = cases(arguments.case.as_deref());
    let wrong = report::failures(&cases, |fixed| &fixed.case.name, |fixed| right(fixed, gpu));
    table.line("");
    table.line(&format!(
        "{} cases, each with much shared memory and with little, as it is and twice in the deterministic mode: {} wrong",
        cases.len(),
        wrong.len()
    ));
    wrong.iter().for_each(|line| table.line(line));
    // To have checked nothing is no success.
    (json!({ "cases": cases.len(), "wrong": wrong }), wrong.is_empty() && !cases.is_empty())
}

fn cases(only: Option<&str>) -> Vec<Fixed> {
    let mut cases = corpus::cases();
    cases.extend(suite::cases());
    cases.retain(|case| case.refused.is_none());
    let mut all: Vec<Fixed> = cases.into_iter().map(|case| Fixed { case, extents: Vec::new() }).collect();
    for (number, (text, extent)) in (1..).zip(corpus::LONG_ROWS) {
        let case = Case::parse(&format!("long rows {number}"), text);
        all.extend(case.map(|case| Fixed { case, extents: vec![("r", extent)] }));
    }
    all.retain(|fixed| only.is_none_or(|text| fixed.case.name.contains(text)));
    all
}

/// Bytes of shared memory in which tables have about 32 slots: rows that need more go another way.
const TIGHT: u64 = 640;

/// Whether a case is right, with much room in shared memory and with little, and in the deterministic mode gives the same bits twice.
fn right(fixed: &Fixed, gpu: &Gpu) -> Result<(), String> {
    let options = schedule::Options { target: Target::Gpu, ..schedule::Options::default() };
    let ready = Ready::fixed(&fixed.case, options, &fixed.extents).map_err(|stop| match stop {
        Stop::Refused { message, .. } | Stop::Data(message) => message,
    })?;
    for options in [Options::default(), Options { shared: TIGHT, ..Options::default() }] {
        let of_way = |way: &str, error: String| format!("{way}, {} bytes of shared memory: {error}", options.shared);
        let chain = |deterministic: bool| {
            let gpu = gpu.clone().with_options(Options { deterministic, ..options });
            Chain::on_gpu(&ready.program, &gpu).map_err(|error| error.to_string())
        };
        chain(false).and_then(|chain| ready.run(&chain)).map_err(|error| of_way("as it is", error))?;
        chain(true).and_then(|chain| same_twice(&ready, &chain)).map_err(|error| of_way("deterministic", error))?;
    }
    Ok(())
}

/// Whether two runs are right and give the same bits.
fn same_twice(ready: &Ready, chain: &Chain) -> Result<(), String> {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let results = ready.results(chain)?;
        ready.check(&results)?;
        // Every digit is printed, and the sign of zero.
        runs.push(results.iter().map(|tensor| format!("{:?}", tensor.values())).collect::<Vec<String>>());
    }
    if runs[0] == runs[1] { Ok(()) } else { Err(format!("two runs differ: {runs:#?}")) }
}
