//! Ctrl-C: the first ends a method after its iteration, the second ends the command.

use crate::failure::{Failure, note};
use signal_hook::{consts::SIGINT, flag};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The exit status of a command that SIGINT ends, as shells have it.
const STATUS: i32 = 130;

/// How long after the key it is said what happens.
const PACE: Duration = Duration::from_millis(100);

/// Whether somebody has pressed it since this was made.
pub(super) struct Interrupt {
    pressed: Arc<AtomicBool>,
    /// Ends the thread that answers.
    answer: Mutex<Option<Sender<()>>>,
}

impl Interrupt {
    /// From now on the first Ctrl-C is told here, and the next ends the command.
    pub(super) fn catch() -> Result<Self, Failure> {
        let pressed = Arc::new(AtomicBool::new(false));
        // In this order: what ends the command must not yet find the flag that the same signal sets.
        let registered = flag::register_conditional_shutdown(SIGINT, STATUS, Arc::clone(&pressed))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&pressed)));
        registered.map_err(|error| Failure::refused(format!("Ctrl-C can't be caught: {error}")))?;
        let (answer, ended) = mpsc::channel();
        let key = Arc::clone(&pressed);
        let look = move || {
            while ended.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                if key.load(Ordering::Relaxed) {
                    note(
                        "interrupted: the run ends after this iteration, with the model as it is; Ctrl-C again ends it at once",
                    );
                    return;
                }
            }
        };
        // Where the system has no thread left, the key works without an answer.
        _ = std::thread::Builder::new().spawn(look);
        Ok(Self { pressed, answer: Mutex::new(Some(answer)) })
    }

    /// Whether the run is to end.
    pub(super) fn is_pressed(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }

    /// The methods are done: from now on each Ctrl-C ends the command.
    pub(super) fn done(&self) {
        drop(self.answer.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.pressed.store(true, Ordering::Relaxed);
    }
}
