//! What a long command is doing, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A line on standard error that says what is going on, and disappears in the end.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Says what begins.
    pub(crate) fn new(step: impl Into<String>) -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_message(step.into());
        tick(&bar, Duration::from_millis(120));
        Self(bar)
    }

    /// The same for so many steps, with a bar.
    pub(crate) fn of_steps(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta} left)") {
            bar.set_style(style);
        }
        tick(&bar, Duration::from_millis(500));
        Self(bar)
    }

    /// One of the steps is done.
    pub(crate) fn done(&self) {
        self.0.inc(1);
    }

    /// Says what begins next.
    pub(crate) fn step(&self, step: impl Into<String>) {
        self.0.set_message(step.into());
    }
}

/// Has a thread draw, where somebody looks and the system has one left.
fn tick(bar: &ProgressBar, pace: Duration) {
    if std::io::stderr().is_terminal() && std::thread::Builder::new().spawn(|| ()).is_ok() {
        bar.enable_steady_tick(pace);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
