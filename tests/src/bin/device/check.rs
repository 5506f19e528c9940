//! Whether kernels are right on a device: every case of the corpus and of the suites against the oracle.

use crate::{Arguments, Table};
use serde_json::{Value, json};
use spc::cuda::Gpu;
use spc::execute::Chain;
use spc_compiler::backend::cuda::{self, Options};
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

/// Each case runs with much room in shared memory and with little, as it is and in the deterministic mode.
fn ways() -> [Options; 4] {
    let way = |shared, deterministic| Options { shared, deterministic };
    let much = Options::default().shared;
    [way(much, false), way(much, true), way(TIGHT, false), way(TIGHT, true)]
}

/// Compiles what [`all`] runs for an architecture, and says whether all of it can be.
pub(crate) fn prepare(arguments: &Arguments, table: Table) -> bool {
    let cases = cases(arguments.case.as_deref());
    let compile = |fixed: &Fixed| {
        let ready = ready(fixed)?;
        let kernels =
            ready.program.kernels.iter().flat_map(|compiled| ways().map(|options| (&compiled.kernel, options)));
        for (kernel, options) in kernels {
            let module = cuda::module(kernel, None, options).map_err(|refusal| refusal.what)?;
            if !module.functions.is_empty() {
                spc::cuda::compile_ahead(&module, arguments.architecture).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    };
    let wrong = report::failures(&cases, |fixed| &fixed.case.name, compile);
    table.line(&format!("{} cases for sm_{}: {} can't be compiled", cases.len(), arguments.architecture, wrong.len()));
    wrong.iter().for_each(|line| table.line(line));
    wrong.is_empty() && !cases.is_empty()
}

fn ready(fixed: &Fixed) -> Result<Ready, String> {
    let options = schedule::Options { target: Target::Gpu, ..schedule::Options::default() };
    Ready::fixed(&fixed.case, options, &fixed.extents).map_err(|stop| match stop {
        Stop::Refused { message, .. } | Stop::Data(message) => message,
    })
}

/// Whether a case is right, with much room in shared memory and with little, and in the deterministic mode gives the same bits twice.
fn right(fixed: &Fixed, gpu: &Gpu) -> Result<(), String> {
    let ready = ready(fixed)?;
    for options in ways() {
        let how = if options.deterministic { "deterministic" } else { "as it is" };
        let of_way = |error: String| format!("{how}, {} bytes of shared memory: {error}", options.shared);
        let chain = Chain::on_gpu(&ready.program, &gpu.clone().with_options(options));
        let chain = chain.map_err(|error| of_way(error.to_string()))?;
        let is_right = if options.deterministic { same_twice(&ready, &chain) } else { ready.run(&chain) };
        is_right.map_err(of_way)?;
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
