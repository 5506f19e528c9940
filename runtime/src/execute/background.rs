//! Kernels that begin as machine code of the JIT, and go on as native code when the Rust compiler has made that in the background.
//!
//! ```text
//! Kernel::compile ──▶ machine code ──calls──▶ …  │ later calls ──▶ native code
//!                └──▶ a thread: the compiler ────┘
//! ```
//!
//! A call that has begun ends as what it began as. When the last copy of the kernels is dropped, the compiler is stopped and its thread is
//! waited for. One compiler is at work at a time, in the order in which kernels were made, so that a program that makes many has the other
//! processors for itself. In a process that was forked from one with a compiler at work there is none: kernels stay machine code there.

use super::call::Call;
use super::error::Error;
use super::jit::JitKernel;
use super::native::{NativeError, NativeKernel, cancellable};
use super::tier::Tier;
use spc_compiler::ir::{Kernel, Verified};
use std::collections::VecDeque;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

type Compiled = OnceLock<Result<Vec<NativeKernel>, NativeError>>;

/// A compiler at work.
#[derive(Debug)]
pub(super) struct Background {
    compiled: Arc<Compiled>,
    is_cancelled: Arc<AtomicBool>,
    worker: Mutex<Option<JoinHandle<()>>>,
    /// The process that has the thread.
    process: u32,
}

impl Background {
    /// Has kernels compiled from their texts. Nothing where the system has no thread for it.
    pub(super) fn begin(kernels: Vec<(Verified<Kernel>, String)>) -> Option<Arc<Background>> {
        let (compiled, is_cancelled) = (Arc::new(Compiled::new()), Arc::new(AtomicBool::new(false)));
        let (to, cancelled) = (Arc::clone(&compiled), Arc::clone(&is_cancelled));
        let turn = Turn::ask();
        let work = move || {
            let Some(_turn) = turn.come(&cancelled) else { return };
            let named: Vec<(&str, &Kernel)> = kernels.iter().map(|(kernel, text)| (text.as_str(), &**kernel)).collect();
            _ = to.set(cancellable(cancelled, || NativeKernel::compile_all(&named)));
        };
        let worker = thread::Builder::new().name("spc compiler".to_owned()).spawn(work).ok()?;
        let worker = Mutex::new(Some(worker));
        Some(Arc::new(Background { compiled, is_cancelled, worker, process: process::id() }))
    }

    /// Whether the thread is one of this process, not of the one that this was forked from.
    fn is_here(&self) -> bool {
        self.process == process::id()
    }

    fn wait(&self) {
        // A thread of another process would be waited for forever.
        if !self.is_here() {
            return;
        }
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        // What it panicked with it has said.
        _ = worker.map(JoinHandle::join);
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if self.is_here() {
            // Held, so that a thread which has looked at the flag is asleep by now.
            let waiting = waiting();
            CHANGED.notify_all();
            drop(waiting);
        }
        self.wait();
    }
}

/// Those of a process who want to run a compiler: the first one does.
struct Waiting {
    process: u32,
    turns: VecDeque<Arc<()>>,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { process: 0, turns: VecDeque::new() });
static CHANGED: Condvar = Condvar::new();

fn waiting() -> MutexGuard<'static, Waiting> {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.process != process::id() {
        // Threads of the process that this one was forked from are not here.
        *waiting = Waiting { process: process::id(), turns: VecDeque::new() };
    }
    waiting
}

/// A turn to run a compiler. When it is dropped, the next one's has come.
struct Turn(Arc<()>);

impl Turn {
    fn ask() -> Turn {
        let turn = Arc::new(());
        waiting().turns.push_back(Arc::clone(&turn));
        Turn(turn)
    }

    /// Waits until it has come, or the kernel is dropped.
    fn come(self, is_cancelled: &AtomicBool) -> Option<Turn> {
        let is_later = |waiting: &mut Waiting| {
            let is_first = waiting.turns.front().is_some_and(|first| Arc::ptr_eq(first, &self.0));
            !is_first && !is_cancelled.load(Ordering::Relaxed)
        };
        drop(CHANGED.wait_while(waiting(), is_later).unwrap_or_else(PoisonError::into_inner));
        if is_cancelled.load(Ordering::Relaxed) { None } else { Some(self) }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        waiting().turns.retain(|other| !Arc::ptr_eq(other, &self.0));
        CHANGED.notify_all();
    }
}

/// A kernel that changes.
#[derive(Debug, Clone)]
pub(super) struct ChangingKernel {
    jit: JitKernel,
    /// Which of those that are compiled it is.
    place: usize,
    background: Arc<Background>,
}

impl ChangingKernel {
    pub(super) fn new(jit: JitKernel, place: usize, background: &Arc<Background>) -> Self {
        Self { jit, place, background: Arc::clone(background) }
    }

    /// The native code, once it is there.
    pub(super) fn native(&self) -> Option<&NativeKernel> {
        self.background.compiled.get()?.as_ref().ok()?.get(self.place)
    }

    pub(super) fn tier(&self) -> Tier {
        self.native().map_or(Tier::Jit, NativeKernel::tier)
    }

    /// What keeps it from being native code.
    pub(super) fn obstacle(&self) -> Option<String> {
        match self.background.compiled.get() {
            None if !self.background.is_here() => {
                Some("the Rust compiler was begun by another process, which this one was forked from".to_owned())
            }
            None => Some("the Rust compiler is at work in the background".to_owned()),
            Some(Err(error)) => Some(format!("the Rust compiler failed in the background: {error}")),
            Some(Ok(_)) => None,
        }
    }

    /// Waits until the compiler has ended.
    pub(super) fn settle(&self) {
        self.background.wait();
    }

    pub(super) fn run(&self, call: &mut Call<'_>) -> Result<Duration, Error> {
        match self.native() {
            Some(native) => native.run(call),
            None => self.jit.run(call),
        }
    }
}
