//! A GPU as a machine: what it copies a second.

use crate::failure::Failure;
use crate::run::of_backend;
use spc::cuda::model::Description;
use spc::execute::{Backend, Operand, Outcome, Program, ProgramError, ProgramOptions};
use spc::measure::{Machine, Point, Summary};
use spc_compiler::{notation, syntax};
use std::time::Duration;

/// What is copied first, to see how long it takes.
const FEW: usize = 1 << 20;

/// What no cache holds.
const MANY: usize = 1 << 25;

/// The first GPU, and what it is called. Its bandwidth is that of doubling an array; how many operations it does is not known, so that
/// the roofline is that of its memory.
pub(crate) fn machine() -> Result<(Machine, String), Failure> {
    let refuse = |error: ProgramError| of_backend(&error);
    let (mut outcome, place) = copy(FEW).map_err(refuse)?;
    let mut count = FEW;
    if Summary::of(seconds(&outcome)).median < 1e-3 {
        count = MANY;
        outcome = copy(count).map_err(refuse)?.0;
    }
    let bandwidth = 2.0 * 8.0 * count as f64 / Summary::of(seconds(&outcome)).median.max(1e-9);
    let point = Point { footprint: 16 * count, triad: bandwidth, read: bandwidth, gather: [bandwidth; 3] };
    Ok((Machine::of_figures(1, vec![point], [f64::INFINITY; 2]), place))
}

/// A GPU as it is described: what is told of it is that its memory copies so much.
pub(crate) fn described(gpu: &Description) -> Machine {
    let bandwidth = gpu.bandwidth();
    let point = Point { footprint: 16 * MANY, triad: bandwidth, read: bandwidth, gather: [bandwidth; 3] };
    Machine::of_figures(1, vec![point], [f64::INFINITY; 2])
}

fn seconds(outcome: &Outcome) -> Vec<f64> {
    outcome.run_times.iter().skip(1).map(Duration::as_secs_f64).collect()
}

fn copy(count: usize) -> Result<(Outcome, String), ProgramError> {
    let text = "fn double(x: f64 dense) -> y: f64 dense { y(i) = 2.0 * x(i); }";
    let kernels = syntax::parse_program(text).and_then(|program| notation::check(&program)).unwrap_or_default();
    let options = ProgramOptions { backend: Some(Backend::Cuda), ..ProgramOptions::default() };
    let inputs = vec![("x".to_owned(), Operand::Ones)];
    let program = Program::new(&kernels[0], inputs, &[("i".to_owned(), count)], &options)?;
    Ok((program.run(6)?, program.place()))
}
