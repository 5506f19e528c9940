//! A kernel on many ranks, threads or processes of MPI; and what other numbers of ranks would send.

use super::report::{Checksum, Shown, format_of, milliseconds, result};
use super::{Of, Prepared, Run, outputs, refuse};
use crate::failure::Failure;
use crate::files::Destination;
#[cfg(feature = "mpi")]
use crate::processes::Processes;
#[cfg(not(feature = "mpi"))]
use crate::processes::without_mpi;
use crate::ranks::{Slowest, Work, launched, not_with_ranks};
use crate::settings;
use crate::source::Source;
use crate::{output, stderr};
use serde_json::{Value, json};
use spc::distribute::message::{message, number};
use spc::distribute::{
    Communicator, DistributeError, Machine, Overlapped, Part, Placement, Plan, Problem, ResultFile, SharedFile,
    Written, on_threads,
};
use spc::execute::Operand;
use spc::tensor::AnyTensor;
use spc_compiler::notation::{Kernel, Role};
use std::fmt::Write;
use std::time::Duration;

/// What a kernel runs on.
pub(super) enum Ranks {
    Threads(usize),
    #[cfg(feature = "mpi")]
    Processes(Processes),
}

impl Ranks {
    pub(super) fn run(self, run: &Run) -> Result<(), Failure> {
        match self {
            Ranks::Threads(ranks) => run.on_threads(ranks),
            #[cfg(feature = "mpi")]
            Ranks::Processes(processes) => processes.together(|| run.in_processes(&processes)),
        }
    }
}

impl Run {
    /// The ranks that were asked for, by an option or by starting many processes together.
    pub(super) fn ranks(&self) -> Result<Option<Ranks>, Failure> {
        self.on_ranks.check(&[(self.distribute.is_some(), "--distribute"), self.overlap.given()])?;
        if !self.on_ranks.are_asked_for() {
            return Ok(None);
        }
        let for_one = [
            (self.stream.is_some(), "--stream"),
            (self.iterate.is_some(), "--iterate"),
            (self.show_code, "--show-code"),
        ];
        if let Some((_, option)) = for_one.iter().find(|(is_given, _)| *is_given) {
            return Err(not_with_ranks(option, "is not for ranks"));
        }
        match self.on_ranks.number {
            _ if launched() > 1 => self.processes().map(Some),
            ranks => Ok(ranks.map(|ranks| Ranks::Threads(ranks.get()))),
        }
    }

    #[cfg(feature = "mpi")]
    fn processes(&self) -> Result<Ranks, Failure> {
        if let Some(input) = self.inputs.iter().find(|input| input.text == "-") {
            let message = format!("`{}` comes from the standard input, which only one process has", input.name);
            return Err(Failure::usage(message).help("each rank reads the file: give its path"));
        }
        Processes::new(&self.on_ranks).map(Ranks::Processes)
    }

    #[cfg(not(feature = "mpi"))]
    fn processes(&self) -> Result<Ranks, Failure> {
        Err(without_mpi())
    }

    #[cfg(feature = "mpi")]
    fn in_processes(&self, all: &Processes) -> Result<(), Failure> {
        let Prepared { source, operands, placement, shared, destinations, progress, .. } =
            all.agree(self.prepared(Of::Ranks))?;
        let kernel = source.single()?;
        progress.step("placing");
        let own = all.rank();
        let work = all.agree(self.work(placement.as_ref(), own.size()))?;
        let files = outputs::in_parts(&destinations);
        let ran = match shared {
            Some(shared) => {
                let shared = (&shared, placement.as_ref());
                work.on(own, |own| self.of_file(kernel, &operands, shared, &files, own))
            }
            None => {
                let (problem, plan) =
                    all.agree(self.placed((placement, work.pieces(own.size())), (kernel, &source), operands))?;
                progress.step("running");
                work.on(own, |own| self.of_rank(&problem, &plan, &files, own))
            }
        };
        let ran = match ran {
            // All ranks have it.
            Err(error @ DistributeError::Write(_)) => all.agree(Err(failure(error, kernel, &source)))?,
            ran => ran.unwrap_or_else(|error| all.end(failure(error, kernel, &source))),
        };
        drop(progress);
        all.agree(ran.map_or(Ok(()), |ran| ran.report(kernel, &destinations, own.size())))
    }

    fn on_threads(&self, ranks: usize) -> Result<(), Failure> {
        let Prepared { source, operands, placement, shared, destinations, progress, .. } = self.prepared(Of::Ranks)?;
        let kernel = source.single()?;
        progress.step("placing");
        let (work, limit) = (self.work(placement.as_ref(), ranks)?, self.on_ranks.longest_wait());
        let files = outputs::in_parts(&destinations);
        let ran = match shared {
            Some(shared) => {
                let shared = (&shared, placement.as_ref());
                let body = |own: &dyn Communicator| self.of_file(kernel, &operands, shared, &files, own);
                on_threads(ranks, limit, |own| work.on(own, body))
            }
            None => {
                let (problem, plan) = self.placed((placement, work.pieces(ranks)), (kernel, &source), operands)?;
                progress.step("running");
                on_threads(ranks, limit, |own| work.on(own, |own| self.of_rank(&problem, &plan, &files, own)))
            }
        };
        let ran = ran.map_err(|error| failure(error, kernel, &source))?;
        drop(progress);
        let ran = ran.into_iter().flatten().next().expect("the first rank has the results");
        ran.report(kernel, &destinations, ranks)
    }

    /// This rank's part of a run where it reads its part of an input alone.
    fn of_file(
        &self,
        kernel: &Kernel,
        operands: &[(String, Operand)],
        (file, placement): (&SharedFile, Option<&Placement>),
        files: &[ResultFile],
        own: &dyn Communicator,
    ) -> Result<Option<Ran>, DistributeError> {
        let (operands, options) = (operands.to_vec(), self.options(1));
        let (problem, plan) = Problem::of_file(kernel, operands, file, placement, &self.dimensions, &options, own)?;
        self.of_rank(&problem, &plan, files, own)
    }

    /// This rank's part of a run; what came out and is not in files that ranks write together is on the first rank. Rows of operands are sent in
    /// each run.
    fn of_rank(
        &self,
        problem: &Problem,
        plan: &Plan,
        files: &[ResultFile],
        own: &dyn Communicator,
    ) -> Result<Option<Ran>, DistributeError> {
        let before = own.traffic();
        let mut prepared = problem.prepare(plan, own)?;
        prepared.overlap(self.overlap.into());
        let mut part = prepared.run()?;
        let traffic = own.traffic().since(before);
        let mut runs = vec![times(&part)];
        for _ in 1..self.repeat.get() {
            prepared.send_anew();
            part = prepared.run()?;
            runs.push(times(&part));
        }
        let overlapped = own.gather(message([part.overlapped as u64]))?.unwrap_or_default();
        let (part, written) = problem.write(plan, part, files, own)?;
        let results = problem.gather(plan, part, own)?;
        let slowest = Slowest::of(own, traffic, &runs)?;
        Ok(results.zip(slowest).map(|(results, slowest)| Ran {
            written,
            results,
            slowest,
            overlapped: overlapped.iter().map(|entries| number::<u64>(entries)).sum(),
            placement: plan.placement().to_string(),
            pieces: plan.ranks(),
            plan: of_plan(plan),
        }))
    }

    /// How so many ranks work.
    fn work(&self, placement: Option<&Placement>, ranks: usize) -> Result<Work, Failure> {
        Work::of(self.deterministic, ranks, placement.and_then(Placement::cells))
    }

    /// The placement that was asked for, by the option or the schedule.
    pub(super) fn placement(&self, (kernel, source): (&Kernel, &Source)) -> Result<Option<Placement>, Failure> {
        let is_input =
            |name: &str| kernel.tensors.iter().any(|tensor| tensor.role == Role::Input && tensor.name == name);
        match &self.distribute {
            Some(text) => Placement::parse(text, &is_input).map(Some).map_err(Failure::usage),
            None => Placement::asked(kernel).map_err(|problems| source.refuse(problems)),
        }
    }

    /// What is to run, and who has what.
    fn placed(
        &self,
        (placement, pieces): (Option<Placement>, usize),
        (kernel, source): (&Kernel, &Source),
        operands: Vec<(String, Operand)>,
    ) -> Result<(Problem, Plan), Failure> {
        let because = |error| failure(error, kernel, source);
        let problem = Problem::new(kernel, operands, &self.dimensions, &self.options(1)).map_err(because)?;
        let plan = match placement {
            Some(placement) => problem.plan(&placement, pieces).map_err(because)?,
            None => problem.plans(pieces, Machine::default()).map_err(because)?.remove(0),
        };
        Ok((problem, plan))
    }
}

/// What came out on all ranks.
struct Ran {
    /// What is in files already.
    written: Vec<Written>,
    results: Vec<(String, AnyTensor)>,
    /// In the first run, and in the median of all.
    slowest: Slowest<3>,
    /// The entries that ranks worked on while rows of operands were under way, in the last run.
    overlapped: u64,
    placement: String,
    /// As many as there are ranks, or parts.
    pieces: usize,
    /// The plan, for programs.
    plan: Value,
}

impl Ran {
    /// Writes the results, and says what it took.
    fn report(self, kernel: &Kernel, destinations: &[(String, Destination)], ranks: usize) -> Result<(), Failure> {
        let Slowest { sent, times: [exchange, run, combine], runs } = self.slowest;
        let to_stdout = outputs::write(&self.results, destinations)?;
        let text = || {
            let mut text = String::new();
            for of in &self.written {
                result(&mut text, &of.name, &Shown::written(of), &format_of(kernel, &of.name, &of.format));
            }
            for (name, tensor) in &self.results {
                result(&mut text, name, &Shown::of(tensor), &format_of(kernel, name, tensor.format()));
            }
            _ = writeln!(text, "{}", self.sentence(ranks));
            text
        };
        if settings::json() {
            let json = |shape: &[usize], stored: usize, sum: Checksum| json!({ "shape": shape, "stored": stored, "checksum": sum.json() });
            let written =
                self.written.iter().map(|of| (of.name.clone(), json(&of.shape, of.stored, Checksum::written(of))));
            let of_results = written.chain(
                self.results
                    .iter()
                    .map(|(name, tensor)| (name.clone(), json(tensor.shape(), tensor.nnz(), Checksum::of(tensor)))),
            );
            return output::print_json(json!({
                "ranks": ranks,
                "plan": self.plan,
                "sent_bytes": sent.bytes,
                "messages": sent.messages,
                "runs": runs,
                "overlapped_entries": self.overlapped,
                "run_ms": milliseconds(run),
                "exchange_ms": milliseconds(exchange),
                "combine_ms": milliseconds(combine),
                "outputs": of_results.collect::<serde_json::Map<String, Value>>(),
            }));
        }
        match to_stdout {
            true if settings::is_quiet() => Ok(()),
            true => {
                stderr::print(&text());
                Ok(())
            }
            false => output::print(&text()),
        }
    }
}

impl Ran {
    fn sentence(&self, ranks: usize) -> String {
        let Slowest { sent, times, runs } = self.slowest;
        let [exchange, run, combine] = times.map(|time| format!("{} ms", milliseconds(time)));
        format!(
            "distribute {} over {ranks} ranks{}: {} sent in {} messages; the slowest {} takes {} for operands, {} in the kernel, {} to combine{}",
            self.placement,
            if self.pieces == ranks { String::new() } else { format!(" in {} parts", self.pieces) },
            output::bytes(usize::try_from(sent.bytes).unwrap_or(usize::MAX)),
            sent.messages,
            if self.pieces == ranks { "rank" } else { "part" },
            exchange,
            run,
            combine,
            if runs == 1 { String::new() } else { format!(" (median of {runs})") },
        )
    }
}

/// What a rank takes for rows of operands, in the kernel, and to combine.
fn times(part: &Part) -> [Duration; 3] {
    [part.exchange_time, part.kernel_time, part.combine_time]
}

/// Placements with what each sends, the best first, and what ranks gain in that if they work while rows of operands are under way.
pub(crate) fn table(plans: &[Plan], overlapped: Option<Overlapped>) -> String {
    let machine = Machine::default();
    let ranks = plans.first().map_or(0, Plan::ranks);
    let mut text = format!(
        "placements on {ranks} ranks, by time for {} ns an entry, {} GB/s and {} µs a message\n",
        machine.entry * 1e9,
        machine.bandwidth / 1e9,
        machine.latency * 1e6
    );
    let bytes = |bytes: u64| output::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
    // Only sparse results have some.
    let has_entries = plans.iter().any(|plan| plan.summary(machine).entries > 0);
    let row = |plan: &Plan| {
        let sum = plan.summary(machine);
        let mut row = vec![plan.placement().to_string(), bytes(sum.bytes)];
        row.extend(has_entries.then(|| bytes(sum.entries)));
        row.extend([
            bytes(sum.most_bytes),
            sum.messages.to_string(),
            format!("{:.2}", sum.imbalance),
            format!("{:.3} ms", sum.time * 1e3),
            bytes(sum.replicated),
        ]);
        row
    };
    let mut head = vec!["distribute", "sent"];
    head.extend(has_entries.then_some("of results, about"));
    head.extend(["most of a rank", "messages", "imbalance", "time", "on every rank"]);
    let head = head.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(plans.iter().map(row)).collect();
    text.push_str(&output::table(&rows, 2));
    if let Some(best) = plans.first() {
        let names: Vec<String> = best.renumbered().iter().map(|index| format!("`{}`", index.name)).collect();
        let has = match names.len() {
            0 => "every rank has all operands".to_owned(),
            _ => format!("a rank has only what it needs along {}", names.join(", ")),
        };
        let why = match plans.iter().skip(1).all(|plan| plan.summary(machine).time >= best.summary(machine).time) {
            true => "takes least time",
            false => "sends least of those that take up to twice as long as the fastest",
        };
        _ = writeln!(text, "`{}` {why}: {has}", best.placement());
        let is_range = |plan: &&Plan| matches!(plan.placement(), Placement::Range { .. });
        if let (Some(range), Some(other)) = (Some(best).filter(is_range), plans.iter().find(|plan| !is_range(plan))) {
            _ = writeln!(
                text,
                "`spc run` takes `{}` where each rank reads its part of a file: a range needs all entries on each rank, and `--distribute {}` asks for it",
                other.placement(),
                range.placement()
            );
        }
        if let Some(Overlapped { entries, time }) = overlapped {
            let all: u64 = best.counts().iter().map(|counts| counts.entries).sum();
            let share = entries as f64 / all.max(1) as f64 * 100.0;
            let time = time * 1e3;
            _ = writeln!(
                text,
                "a run after the first takes {time:.3} ms: {share:.0} % of the entries need no rows of other ranks, and are worked on while rows are under way"
            );
        }
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
        "estimated_result_bytes": sum.entries,
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
