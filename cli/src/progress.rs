//! What a long command is doing, on a terminal only.

use indicatif::ProgressBar;
use std::time::Duration;

/// A line on standard error that says what is going on, and disappears in the end.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Says what begins.
    pub(crate) fn new(step: impl Into<String>) -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_message(step.into());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    /// Says what begins next.
    pub(crate) fn step(&self, step: impl Into<String>) {
        self.0.set_message(step.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
