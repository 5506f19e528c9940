//! Schedules that are found by measuring, and remembered.
//!
//! ```text
//! kernel, sizes ──▶ other schedules ──run──▶ the fastest ──▶ ~/.cache/spc/tuned-…
//!                                                              │
//! the same kernel, operands of about the same size ────────────┘──▶ Program with `tuned`
//! ```
//!
//! Kernels are the same if they differ in names alone. Sizes are about the same if they have as many binary digits.

use super::planning;
use super::tuned::{Memory, key};
use super::{Operand, Planning, Program, ProgramError, ProgramOptions};
use spc_compiler::notation;
use spc_compiler::schedule::alternatives;
use spc_compiler::syntax::Schedule;
use std::time::Duration;

/// Another schedule is worth remembering if it takes at most so much of the default's time.
const WORTH: f64 = 0.95;
/// So many of the fastest are measured again, in turn with the default.
const FINALISTS: usize = 2;
/// How often they are.
const ROUNDS: usize = 3;

/// What measuring a kernel's schedules showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The median of the default schedule's times.
    pub plain: Duration,
    /// The others, with the medians of their times.
    pub tried: Vec<(Schedule, Duration)>,
    /// The fastest and its time, where it is worth having.
    pub best: Option<(Schedule, Duration)>,
}

/// Measures the schedules that a kernel could have, `budget` each about, and remembers the fastest for kernels like this, with
/// operands like these, on as many threads. Programs that are made with [`ProgramOptions::tuned`] have it from then on.
///
/// Where times are predicted ([`ProgramOptions`]), each schedule runs once, and nothing is remembered.
///
/// A kernel that has a schedule of its own keeps that, and one of several statements, or with an input in parts, the default.
///
/// # Errors
/// As [`Program::new`] and [`Program::run`], of the default schedule.
pub fn tune(
    kernel: &notation::Kernel,
    inputs: &[(String, Operand)],
    dimensions: &[(String, usize)],
    options: &ProgramOptions,
    budget: Duration,
) -> Result<Tuned, ProgramError> {
    let options = ProgramOptions { tuned: false, ..options.clone() };
    let plain = Program::new(kernel, inputs.to_vec(), dimensions, &options)?;
    // Schedules are for the statements of the plan.
    let whole = planning::kernel(kernel, plain.planned());
    let options = ProgramOptions { plan: Planning::AsWritten, ..options };
    let program = |kernel: &notation::Kernel| Program::new(kernel, inputs.to_vec(), dimensions, &options);
    let median = |program: &Program| median(program, budget, options.is_predicted());
    let mut plain_time = median(&plain)?;
    let schedule_options = options.scheduling();
    let others = match options.stream {
        Some(_) => Vec::new(),
        None => alternatives(whole, schedule_options, &|name| plain.sizes().extent(name)),
    };
    let mut tried = Vec::new();
    for schedule in others {
        let changed = whole.with_schedule(schedule.clone());
        if let Ok(program) = program(&changed)
            && let Ok(time) = median(&program)
        {
            tried.push((schedule, time, program));
        }
    }
    tried.sort_by_key(|(_, time, _)| *time);
    let rounds = if options.is_predicted() { 0 } else { ROUNDS };
    for _ in 0..rounds {
        plain_time = plain_time.min(median(&plain)?);
        for (_, time, program) in tried.iter_mut().take(FINALISTS) {
            *time = median(program).map_or(*time, |again| again.min(*time));
        }
    }
    tried.sort_by_key(|(_, time, _)| *time);
    let tried: Vec<(Schedule, Duration)> = tried.into_iter().map(|(schedule, time, _)| (schedule, time)).collect();
    let is_worth = |(_, time): &&(Schedule, Duration)| time.as_secs_f64() <= WORTH * plain_time.as_secs_f64();
    let best = tried.first().filter(is_worth).cloned();
    if kernel.schedule.is_none() && !options.is_predicted() {
        let place = key(whole, plain.sizes(), &options);
        Memory::of_environment().keep(whole, &place, best.as_ref().map(|(schedule, _)| schedule));
    }
    Ok(Tuned { plain: plain_time, tried, best })
}

/// The median of a program's times, after runs that warm up; one time where it is predicted, which is the same each time.
fn median(program: &Program, budget: Duration, is_predicted: bool) -> Result<Duration, ProgramError> {
    if is_predicted {
        return Ok(program.run(1)?.kernel_time());
    }
    let once = program.run(2)?.run_times.last().copied().unwrap_or_default();
    let runs = (budget.as_secs_f64() / once.as_secs_f64().max(1e-9)) as usize;
    let mut times = program.run(1 + runs.clamp(3, 1000))?.run_times.split_off(1);
    times.sort_unstable();
    Ok(times[times.len() / 2])
}
