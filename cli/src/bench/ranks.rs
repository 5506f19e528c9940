//! Kernels on many ranks, compared with one: how long a run takes, and what of it is sending.

use super::Bench;
use super::cases::Posed;
use super::data::Data;
use super::record::{Case, Refused};
use super::timing::Budget;
use crate::failure::{Failure, note};
#[cfg(feature = "mpi")]
use crate::processes::Processes;
#[cfg(not(feature = "mpi"))]
use crate::processes::without_mpi;
use crate::progress::Progress;
use crate::ranks::{Slowest, launched, not_with_ranks};
use crate::{output, settings};
use serde_json::{Value, json};
use spc::distribute::message::{message, numbers};
use spc::distribute::{Communicator, DistributeError, Machine, Overlap, Plan, Problem, on_threads};
use spc::execute::ProgramOptions;
use spc::io;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// What is measured of each run, of the rank that takes longest: all of it, rows of operands, the kernel, rows of results.
const CLOCKS: usize = 4;

/// One kernel, measured.
struct OnRanks {
    case: Case,
    ranks: usize,
    placement: String,
    measured: Slowest<CLOCKS>,
    /// On one rank, in the same way.
    of_one: f64,
    /// Of the plan, by the model.
    modelled: f64,
    imbalance: f64,
}

/// What measures a plan; on a rank that is not the first it gives nothing.
type Measure<'a> = dyn Fn(&Problem, &Plan) -> Result<Option<Slowest<CLOCKS>>, DistributeError> + 'a;

impl Bench {
    /// Measures on the ranks that were asked for.
    pub(super) fn on_ranks(&self) -> Result<(), Failure> {
        let for_one = [
            ("--expression", self.expression.is_some()),
            ("--tune", self.tune),
            ("--threads", !self.threads.is_empty()),
            ("--model", self.model.is_some()),
            ("--html", self.html.is_some()),
            ("--svg", self.svg.is_some()),
            ("--baseline", self.baseline.is_some()),
            ("--against", self.against.is_some()),
            ("plans", self.wants_plans()),
        ];
        if let Some((option, _)) = for_one.iter().find(|(_, is_given)| *is_given) {
            return Err(not_with_ranks(option, "is for one rank"));
        }
        if launched() > 1 {
            return self.in_processes();
        }
        let ranks = self.on_ranks.number.map_or(1, |ranks| ranks.get());
        let limit = self.on_ranks.longest_wait();
        let (budget, overlap) = (self.budget(), self.overlap.into());
        let measure = |problem: &Problem, plan: &Plan| {
            on_threads(ranks, limit, |own| measured((problem, plan), (&budget, overlap), own))
                .map(|mut all| all.swap_remove(0))
        };
        let (all, refused) = self.measured_on(ranks, &measure)?;
        self.told(&all, &refused)
    }

    #[cfg(not(feature = "mpi"))]
    fn in_processes(&self) -> Result<(), Failure> {
        Err(without_mpi())
    }

    #[cfg(feature = "mpi")]
    fn in_processes(&self) -> Result<(), Failure> {
        let all = Processes::new(&self.on_ranks)?;
        all.together(|| {
            let (own, budget, overlap) = (all.rank(), self.budget(), self.overlap.into());
            let measure = |problem: &Problem, plan: &Plan| {
                let found = measured((problem, plan), (&budget, overlap), own);
                // Other processes wait for one that stops.
                Ok(found.unwrap_or_else(|error| all.end(Failure::refused(&error))))
            };
            let (found, refused) = all.agree(self.measured_on(own.size(), &measure))?;
            all.agree(if all.is_first() { self.told(&found, &refused) } else { Ok(()) })
        })
    }

    /// All kernels on all tensors, on the first rank; and why others are none.
    fn measured_on(&self, ranks: usize, measure: &Measure<'_>) -> Result<(Vec<OnRanks>, Vec<Refused>), Failure> {
        let choices = self.choices()?;
        let tensors = self.tensors_of_suite()?;
        let (mut all, mut refused) = (Vec::new(), Vec::new());
        for tensor in tensors {
            let progress = Progress::new(format!("reading {}", tensor.display()));
            let data = Data::load(tensor)?;
            choices.each(&data, &mut |case, posed| {
                progress.step(format!("{}: {} as {}", data.name, case.kernel, case.format));
                match posed.and_then(|posed| self.one_on(ranks, case.clone(), posed, measure)) {
                    Ok(found) => all.extend(found),
                    Err(reason) => refused.push(Refused { case, reason }),
                }
                Ok(())
            })?;
        }
        Ok((all, refused))
    }

    /// One kernel, or why it does not run on ranks.
    fn one_on(
        &self,
        ranks: usize,
        case: Case,
        Posed { kernel, inputs, dimensions }: Posed,
        measure: &Measure<'_>,
    ) -> Result<Option<OnRanks>, String> {
        let options = ProgramOptions {
            deterministic: self.deterministic,
            backend: self.backend.map(Into::into),
            ..ProgramOptions::default()
        };
        let said = |error: DistributeError| error.to_string();
        let problem = Problem::new(&kernel, inputs, &dimensions, &options).map_err(said)?;
        let plan_of = |ranks| problem.plans(ranks, Machine::default()).map(|mut plans| plans.remove(0));
        let plan = plan_of(ranks).map_err(said)?;
        let Some(measured) = measure(&problem, &plan).map_err(said)? else { return Ok(None) };
        let one = plan_of(1).map_err(said)?;
        let of_one =
            on_threads(1, None, |own| self::measured((&problem, &one), (&self.budget(), self.overlap.into()), own));
        let of_one = of_one.map_err(said)?.swap_remove(0).map_or(f64::NAN, |measured| measured.times[0].as_secs_f64());
        let summary = plan.summary(Machine::default());
        Ok(Some(OnRanks {
            case,
            ranks,
            placement: plan.placement().to_string(),
            measured,
            of_one,
            modelled: summary.time,
            imbalance: summary.imbalance,
        }))
    }

    /// Writes what was measured.
    fn told(&self, all: &[OnRanks], refused: &[Refused]) -> Result<(), Failure> {
        refused.iter().for_each(note);
        if all.is_empty() {
            return Err(Failure::refused("none of these kernels runs on ranks"));
        }
        let document = || {
            let refused: Vec<String> = refused.iter().map(Refused::to_string).collect();
            json!({ "on_ranks": all.iter().map(OnRanks::json).collect::<Vec<_>>(), "refused": refused })
        };
        if let Some(path) = &self.save {
            io::write_text(path, &format!("{:#}\n", output::versioned(document())))?;
        }
        if settings::json() { output::print_json(document()) } else { output::print(&text(all)) }
    }
}

/// This rank's part: prepared once and run again and again, each time with rows of operands that are sent anew, from when all ranks are there. The figures are on the first rank.
fn measured(
    (problem, plan): (&Problem, &Plan),
    (budget, overlap): (&Budget, Overlap),
    own: &dyn Communicator,
) -> Result<Option<Slowest<CLOCKS>>, DistributeError> {
    let mut prepared = problem.prepare(plan, own)?;
    prepared.overlap(overlap);
    let mut run = || -> Result<[Duration; CLOCKS], DistributeError> {
        prepared.send_anew();
        own.gather_all(&[])?;
        let start = Instant::now();
        let part = prepared.run()?;
        Ok([start.elapsed(), part.exchange_time, part.kernel_time, part.combine_time])
    };
    // The first one writes into memory that was not touched before, and the second cuts entries where that pays.
    run()?;
    run()?;
    let before = own.traffic();
    let [once, ..] = run()?;
    let sent = own.traffic().since(before);
    // All do as many as the slowest one has time for.
    let all = own.gather_all(&message([once.as_secs_f64()]))?;
    let seconds = all.iter().flat_map(|message| numbers::<f64>(message));
    let runs = budget.runs(Duration::from_secs_f64(seconds.fold(0.0, f64::max)));
    let times = (0..runs).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    Ok(Slowest::of(own, sent, &times)?)
}

impl OnRanks {
    /// How many times as fast as one rank.
    fn speedup(&self) -> f64 {
        self.of_one / self.measured.times[0].as_secs_f64()
    }

    fn json(&self) -> Value {
        let Case { tensor, kernel, mode, format, rank, element, .. } = &self.case;
        let Slowest { sent, times, runs } = self.measured;
        let [call, exchange, loops, combine] = times.map(|time| time.as_secs_f64() * 1e3);
        json!({
            "tensor": tensor, "kernel": kernel, "mode": mode, "format": format, "rank": rank, "element": element,
            "ranks": self.ranks, "distribute": self.placement, "runs": runs,
            "call_ms": call, "exchange_ms": exchange, "kernel_ms": loops, "combine_ms": combine,
            "one_rank_ms": self.of_one * 1e3, "speedup": self.speedup(),
            "sent_bytes": sent.bytes, "messages": sent.messages,
            "modelled_ms": self.modelled * 1e3, "imbalance": self.imbalance,
        })
    }
}

/// A table for people.
fn text(all: &[OnRanks]) -> String {
    let heads = [
        "kernel",
        "mode",
        "format",
        "rank",
        "type",
        "distribute",
        "ms",
        "operands",
        "kernel",
        "combine",
        "one rank ms",
        "speedup",
        "sent",
        "messages",
        "imbalance",
    ];
    let mut text = String::new();
    for of_tensor in all.chunk_by(|one, other| one.case.tensor == other.case.tensor) {
        _ = writeln!(text, "\n{} on {} ranks", of_tensor[0].case.tensor, of_tensor[0].ranks);
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for on_ranks in of_tensor {
            let Case { kernel, mode, format, rank, element, .. } = &on_ranks.case;
            let Slowest { sent, times, .. } = on_ranks.measured;
            let number = |number: usize| if number == 0 { "-".to_owned() } else { number.to_string() };
            let mut row = vec![kernel.clone(), number(*mode), format.clone(), number(*rank), (*element).to_owned()];
            row.push(on_ranks.placement.clone());
            row.extend(times.map(|time| output::digits(time.as_secs_f64() * 1e3)));
            row.extend([on_ranks.of_one * 1e3, on_ranks.speedup()].map(output::digits));
            row.push(output::bytes(usize::try_from(sent.bytes).unwrap_or(usize::MAX)));
            row.extend([sent.messages.to_string(), format!("{:.2}", on_ranks.imbalance)]);
            rows.push(row);
        }
        text.push_str(&output::table(&rows, 3));
    }
    text.push_str(NOTES);
    text
}

const NOTES: &str = "
ms: a run from when all ranks are there until the last has its rows of the result, median; operands, kernel, combine: what of it the slowest rank
takes for rows of operands, in the kernel, and for rows of results; one rank ms: the same on one rank, with all processors; sent: by all ranks, in one run;
imbalance: entries of the rank that has most over the mean
";
