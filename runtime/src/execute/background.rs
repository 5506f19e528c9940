//! Kernels that begin without the Rust compiler, and go on as native code when it has made that in the background.
//!
//! ```text
//! Kernel::compile ──▶ machine code ──calls──▶ …  │ later calls ──▶ native code
//!                └──▶ a thread: the compiler ────┘
//! ```
//!
//! They begin as machine code of the JIT, and a call that has begun as that ends as that. Where there is none, they begin in the interpreter:
//! it has the result of a small call before the compiler has the helpers of all kernels, which it compiles once on a machine. A call that is
//! in the interpreter when native code is there begins anew, natively; one on large arrays waits for it. When the last copy of the kernels is dropped, the compiler is stopped and its thread is
//! waited for. One compiler is at work at a time, in the order in which kernels were made, so that a program that makes many has the other
//! processors for itself. In a process that was forked from one with a compiler at work there is none: kernels stay machine code there.

use super::call::Call;
use super::error::Error;
use super::interpreted;
use super::interpreter::Options;
use super::jit::JitKernel;
use super::native::{NativeError, NativeKernel, cancellable};
use super::stack::is_shallow;
use super::tier::Tier;
use crate::parallel::interrupt::interruptible;
use crate::parallel::{question, watched};
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

/// What runs a kernel until there is native code.
#[derive(Debug, Clone)]
pub(super) enum First {
    Jit(JitKernel),
    Interpreter,
}

impl First {
    /// The first engine of a kernel: the JIT, or the interpreter if `where_interpreted`.
    pub(super) fn of(kernel: &Verified<Kernel>, where_interpreted: bool) -> Option<First> {
        match JitKernel::compile(kernel) {
            Ok(jit) => Some(First::Jit(jit)),
            // A deep kernel is interpreted on a thread of its own, which does not check for native code.
            Err(_) if where_interpreted && is_shallow(kernel.dimensions.len()) => Some(First::Interpreter),
            Err(_) => None,
        }
    }
}

/// A call whose arrays have more elements together waits for native code: to copy them for the interpreter takes memory, and it would
/// not be done first.
const MOST_INTERPRETED: usize = 1 << 22;

/// A kernel that changes.
#[derive(Debug, Clone)]
pub(super) struct ChangingKernel {
    first: First,
    /// Which of those that are compiled it is.
    place: usize,
    background: Arc<Background>,
}

impl ChangingKernel {
    pub(super) fn new(first: First, place: usize, background: &Arc<Background>) -> Self {
        Self { first, place, background: Arc::clone(background) }
    }

    /// The native code, once it is there.
    pub(super) fn native(&self) -> Option<&NativeKernel> {
        self.background.compiled.get()?.as_ref().ok()?.get(self.place)
    }

    pub(super) fn tier(&self) -> Tier {
        match (self.native(), &self.first) {
            (Some(native), _) => native.tier(),
            (None, First::Jit(_)) => Tier::Jit,
            (None, First::Interpreter) => Tier::Interpreter,
        }
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

    pub(super) fn run(
        &self,
        kernel: &Verified<Kernel>,
        call: &mut Call<'_>,
        options: &Options,
    ) -> Result<Duration, Error> {
        if let First::Interpreter = self.first
            && self.native().is_none()
            && call.elements() > MOST_INTERPRETED
        {
            self.settle();
        }
        match (self.native(), &self.first) {
            (Some(native), _) => native.run(call),
            (None, First::Jit(jit)) => jit.run(call),
            (None, First::Interpreter) => self.interpret(kernel, call, options),
        }
    }

    /// In the interpreter, until there is native code.
    fn interpret(&self, kernel: &Verified<Kernel>, call: &mut Call<'_>, options: &Options) -> Result<Duration, Error> {
        if self.background.compiled.get().is_none() {
            let (compiled, asked) = (Arc::clone(&self.background.compiled), question());
            let is_asked = move || asked.as_ref().is_some_and(|question| question.is_stopped());
            let stop = move || compiled.get().is_some() || is_asked();
            match interruptible(stop, || watched(|| interpreted::run(kernel, call, options))) {
                Err(Error::Interrupted { .. }) if !question().is_some_and(|question| question.is_stopped()) => {}
                result => return result,
            }
        }
        match self.native() {
            Some(native) => native.run(call),
            // The compiler has failed.
            None => interpreted::run(kernel, call, options),
        }
    }
}
