//! `--ranks`: a kernel on many ranks, which are threads here; and what other numbers of ranks would send.

use super::report::{Checksum, format_of, milliseconds, result};
use super::{Run, outputs, refuse};
use crate::failure::Failure;
use crate::files::Destination;
use crate::output;
use crate::progress::Progress;
use crate::settings;
use crate::source::Source;
use serde_json::{Value, json};
use spc::distribute::{
    Communicator, DistributeError, Machine, Part, Placement, Plan, Problem, ThreadRank, Traffic, on_threads,
};
use spc::execute::Operand;
use spc_compiler::notation::Kernel;
use std::fmt::Write;
use std::time::Duration;

/// The most ranks that run as threads.
const MOST: usize = 1024;

impl Run {
    /// Runs a kernel on so many ranks.
    pub(super) fn on_ranks(
        &self,
        ranks: usize,
        (kernel, source): (&Kernel, &Source),
        operands: Vec<(String, Operand)>,
        destinations: &[(String, Destination)],
        progress: Progress,
    ) -> Result<(), Failure> {
        if ranks > MOST {
            let help = "`spc explain --ranks` counts what any number of ranks would send";
            return Err(Failure::usage(format!("at most {MOST} ranks run as threads")).help(help));
        }
        let because = |error| failure(error, kernel, source);
        progress.step("placing");
        let problem = Problem::new(kernel, operands, &self.dimensions, &self.options()).map_err(because)?;
        let plan = match &self.distribute {
            Some(text) => {
                let placement = Placement::parse(text, &|name| problem.is_input(name)).map_err(Failure::usage)?;
                problem.plan(&placement, ranks).map_err(because)?
            }
            None => problem.plans(ranks, Machine::default()).map_err(because)?.remove(0),
        };
        progress.step("running");
        let body = |own: &ThreadRank| {
            let part = problem.run(&plan, own)?;
            let took = Took::of(&part);
            let traffic = own.traffic();
            Ok((problem.gather(&plan, part, own)?, took, traffic))
        };
        let mut all = on_threads(ranks, None, body).map_err(because)?;
        drop(progress);
        let traffic = all.iter().fold(Traffic::default(), |mut sum, (_, _, traffic)| {
            sum += *traffic;
            sum
        });
        let took = all.iter().fold(Took::default(), |most, (_, took, _)| most.longer(took));
        let results = all.swap_remove(0).0.expect("the first rank has the results");
        let to_stdout = outputs::write(&results, destinations)?;
        let text = || {
            let mut text = String::new();
            for (name, tensor) in &results {
                result(&mut text, name, tensor, &format_of(kernel, name, tensor));
            }
            _ = writeln!(text, "{}", sentence(&plan, traffic, took));
            text
        };
        if settings::json() {
            let of_results = results.iter().map(|(name, tensor)| {
                let value =
                    json!({ "shape": tensor.shape(), "stored": tensor.nnz(), "checksum": Checksum::of(tensor).json() });
                (name.clone(), value)
            });
            return output::print_json(json!({
                "plan": of_plan(&plan),
                "sent_bytes": traffic.bytes,
                "messages": traffic.messages,
                "run_ms": milliseconds(took.kernel),
                "exchange_ms": milliseconds(took.exchange),
                "combine_ms": milliseconds(took.combine),
                "outputs": of_results.collect::<serde_json::Map<String, Value>>(),
            }));
        }
        match to_stdout {
            true if settings::is_quiet() => Ok(()),
            true => {
                anstream::eprint!("{}", text());
                Ok(())
            }
            false => output::print(&text()),
        }
    }
}

/// Times of one rank, or the longest of all ranks.
#[derive(Debug, Clone, Copy, Default)]
struct Took {
    exchange: Duration,
    kernel: Duration,
    combine: Duration,
}

impl Took {
    fn of(part: &Part) -> Self {
        Self { exchange: part.exchange_time, kernel: part.kernel_time, combine: part.combine_time }
    }

    fn longer(self, other: &Self) -> Self {
        Self {
            exchange: self.exchange.max(other.exchange),
            kernel: self.kernel.max(other.kernel),
            combine: self.combine.max(other.combine),
        }
    }
}

fn sentence(plan: &Plan, traffic: Traffic, took: Took) -> String {
    let ms = |time: Duration| format!("{} ms", milliseconds(time));
    format!(
        "distribute {} over {} ranks: {} sent in {} messages; the slowest rank takes {} for operands, {} in the kernel, {} to combine",
        plan.placement(),
        plan.ranks(),
        output::bytes(usize::try_from(traffic.bytes).unwrap_or(usize::MAX)),
        traffic.messages,
        ms(took.exchange),
        ms(took.kernel),
        ms(took.combine),
    )
}

/// Placements with what each sends, the best first.
pub(crate) fn table(plans: &[Plan]) -> String {
    let machine = Machine::default();
    let ranks = plans.first().map_or(0, Plan::ranks);
    let mut text = format!(
        "placements on {ranks} ranks, by time for {} ns an entry, {} GB/s and {} µs a message\n",
        machine.entry * 1e9,
        machine.bandwidth / 1e9,
        machine.latency * 1e6
    );
    let bytes = |bytes: u64| output::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
    let rows = plans.iter().map(|plan| {
        let sum = plan.summary(machine);
        [
            plan.placement().to_string(),
            bytes(sum.bytes),
            bytes(sum.most_bytes),
            sum.messages.to_string(),
            format!("{:.2}", sum.imbalance),
            format!("{:.3} ms", sum.time * 1e3),
            bytes(sum.replicated),
        ]
    });
    let head = ["distribute", "sent", "most of a rank", "messages", "imbalance", "time", "on every rank"];
    let rows: Vec<Vec<String>> = std::iter::once(head.map(str::to_owned)).chain(rows).map(Vec::from).collect();
    text.push_str(&output::table(&rows, 2));
    if let Some(best) = plans.first() {
        let names: Vec<String> = best.renumbered().iter().map(|index| format!("`{}`", index.name)).collect();
        let has = match names.len() {
            0 => "every rank has all operands".to_owned(),
            _ => format!("a rank has only what it needs along {}", names.join(", ")),
        };
        _ = writeln!(text, "`{}` takes least time: {has}", best.placement());
    }
    text
}

/// The same for programs.
pub(crate) fn of_plan(plan: &Plan) -> Value {
    let sum = plan.summary(Machine::default());
    json!({
        "distribute": plan.placement().to_string(),
        "ranks": plan.ranks(),
        "bytes": sum.bytes,
        "most_bytes_of_a_rank": sum.most_bytes,
        "messages": sum.messages,
        "imbalance": sum.imbalance,
        "modelled_ms": sum.time * 1e3,
        "bytes_on_every_rank": sum.replicated,
    })
}

/// Why a kernel does not run on ranks.
pub(crate) fn failure(error: DistributeError, kernel: &Kernel, source: &Source) -> Failure {
    match error {
        DistributeError::Program(error) => refuse(error, kernel, source),
        other => Failure::refused(&other),
    }
}
