//! What a long command is doing, and how far it is, on a terminal only.

use crate::settings;
use indicatif::{ProgressBar, ProgressStyle};
use spc::progress::{State, Unit};
use spc_compiler::diagnostics::printable;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// A line on standard error that says what is going on, and disappears in the end.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    watch: Option<Watch>,
}

/// A thread that looks now and then how far reading, packing and writing are.
#[derive(Debug)]
struct Watch {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

/// How often that is drawn.
const PACE: Duration = Duration::from_millis(120);

const PLAIN: &str = "{spinner} {msg}";

/// With bytes, percent and the time that is left.
fn template(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "{spinner} {msg} [{bar:30}] {percent:>3}%  {bytes} of {total_bytes}, {eta} left",
        Unit::Entries => "{spinner} {msg} [{bar:30}] {percent:>3}%  {human_pos} of {human_len} entries, {eta} left",
        _ => "{spinner} {msg} [{bar:30}] {percent:>3}%, {eta} left",
    }
}

impl Progress {
    /// Says what begins.
    pub(crate) fn new(step: impl Into<String>) -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_message(printable(&step.into()).into_owned());
        let watch = if is_shown() { watch(&bar) } else { None };
        Self { bar, watch }
    }

    /// The same for so many steps, with a bar.
    pub(crate) fn of_steps(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta} left)") {
            bar.set_style(style);
        }
        if is_shown() && std::thread::Builder::new().spawn(|| ()).is_ok() {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Self { bar, watch: None }
    }

    /// One of the steps is done.
    pub(crate) fn done(&self) {
        self.bar.inc(1);
    }

    /// Says what begins next.
    pub(crate) fn step(&self, step: impl Into<String>) {
        self.bar.set_message(printable(&step.into()).into_owned());
    }
}

/// Whether somebody looks.
fn is_shown() -> bool {
    std::io::stderr().is_terminal() && !settings::is_quiet()
}

/// Has a thread draw, where the system has one left.
fn watch(bar: &ProgressBar) -> Option<Watch> {
    let (end, ended) = mpsc::channel();
    let bar = bar.clone();
    let look = move || {
        let mut shown: Option<State> = None;
        while ended.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
            let state = spc::progress::current();
            let is_same = |shown: State| state.is_some_and(|now| (now.unit, now.total) == (shown.unit, shown.total));
            if !shown.map_or(state.is_none(), is_same) {
                restyle(&bar, state);
            }
            if let Some(State { done, .. }) = state {
                bar.set_position(done);
            }
            shown = state;
            bar.tick();
        }
    };
    let thread = std::thread::Builder::new().spawn(look).ok()?;
    Some(Watch { end, thread })
}

/// Begins to show other work.
fn restyle(bar: &ProgressBar, state: Option<State>) {
    if let Ok(style) = ProgressStyle::with_template(state.map_or(PLAIN, |state| template(state.unit))) {
        bar.set_style(style);
    }
    if let Some(State { total, .. }) = state {
        bar.set_length(total);
        bar.reset_eta();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(Watch { end, thread }) = self.watch.take() {
            // It also ends when its sender is gone.
            drop(end);
            _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_understood() {
        for unit in [Unit::Bytes, Unit::Entries, Unit::Parts] {
            ProgressStyle::with_template(template(unit)).unwrap();
        }
        ProgressStyle::with_template(PLAIN).unwrap();
    }
}
