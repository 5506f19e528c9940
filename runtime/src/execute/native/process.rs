//! Other programs, which may hang, write without end, or outlive this one: none of that does harm.

use std::cell::RefCell;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A program may write so many bytes to each of its outputs.
const MOST: usize = 16 << 20;
/// What a program has started and left behind may hold its outputs for so long.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look whether a program has ended, while it or another holds its outputs.
const PACE: Duration = Duration::from_millis(50);
/// How often to look whether there is a place to run one in.
const WAIT: Duration = Duration::from_millis(2);

/// What a program did.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Why a program did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Start(io::Error),
    #[error("it took longer than {} s", .0.as_secs_f64())]
    TimeLimit(Duration),
    #[error("it wrote more than {} MiB", MOST >> 20)]
    Output,
    #[error("nobody waits for it any more")]
    Cancelled,
}

thread_local! {
    /// Set where programs that this thread waits for are to be ended.
    static CANCELLED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Does something, in which programs are ended as soon as that is asked for.
pub(in crate::execute) fn cancellable<R>(cancelled: Arc<AtomicBool>, body: impl FnOnce() -> R) -> R {
    let before = CANCELLED.replace(Some(cancelled));
    let result = body();
    CANCELLED.set(before);
    result
}

/// Whether programs that this thread waits for are to be ended.
pub(super) fn is_cancelled() -> bool {
    CANCELLED.with_borrow(|cancelled| cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)))
}

/// A place among the programs that run at once: as many as there are processors. It is given back when it is dropped.
struct Place;

/// How many are taken, and by which process: what a process that was forked finds here are places of its parent.
static TAKEN: Mutex<(u32, usize)> = Mutex::new((0, 0));

fn taken() -> MutexGuard<'static, (u32, usize)> {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if taken.0 != std::process::id() {
        *taken = (std::process::id(), 0);
    }
    taken
}

impl Place {
    /// Waits for one. None where the wait is cancelled.
    fn take() -> Option<Self> {
        let most = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        while !is_cancelled() {
            let mut taken = taken();
            if taken.1 < most {
                taken.1 += 1;
                return Some(Place);
            }
            drop(taken);
            thread::sleep(WAIT);
        }
        None
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = taken();
        taken.1 = taken.1.saturating_sub(1);
    }
}

/// As [`run`], when fewer programs run than there are processors: with more, each takes longer than it may.
pub(super) fn run_in_place(command: &dyn Fn() -> Command, limit: Duration) -> Result<Finished, Failure> {
    let _place = Place::take().ok_or(Failure::Cancelled)?;
    run(command, limit)
}

/// Runs a program to its end, without input. It ends with this process, and after `limit`.
pub(super) fn run(command: &dyn Fn() -> Command, limit: Duration) -> Result<Finished, Failure> {
    let start = Instant::now();
    let mut running = Running { child: spawn(command).map_err(Failure::Start)?, is_ended: false };
    let (sender, texts) = mpsc::channel();
    let (stdout, stderr) = (running.child.stdout.take(), running.child.stderr.take());
    let pipes: [Option<Box<dyn Read + Send>>; 2] =
        [stdout.map(|pipe| Box::new(pipe) as _), stderr.map(|pipe| Box::new(pipe) as _)];
    for (place, pipe) in pipes.into_iter().enumerate() {
        let Some(pipe) = pipe else { continue };
        let sender = sender.clone();
        let read = move || {
            let mut text = Vec::new();
            _ = pipe.take(MOST as u64 + 1).read_to_end(&mut text);
            _ = sender.send((place, text));
        };
        thread::Builder::new().name("spc output".to_owned()).spawn(read).map_err(Failure::Start)?;
    }
    drop(sender);

    let mut outputs = [Vec::new(), Vec::new()];
    let mut ended: Option<(ExitStatus, Instant)> = None;
    let mut are_open = true;
    while are_open || ended.is_none() {
        let left = limit.checked_sub(start.elapsed()).ok_or(Failure::TimeLimit(limit))?;
        if is_cancelled() {
            return Err(Failure::Cancelled);
        }
        if are_open {
            match texts.recv_timeout(left.min(PACE)) {
                Ok((_, text)) if text.len() > MOST => return Err(Failure::Output),
                Ok((place, text)) => outputs[place] = text,
                Err(RecvTimeoutError::Disconnected) => are_open = false,
                Err(RecvTimeoutError::Timeout) => {}
            }
        } else {
            thread::sleep(left.min(Duration::from_millis(1)));
        }
        if ended.is_none() {
            ended = running.child.try_wait().map_err(Failure::Start)?.map(|status| (status, Instant::now()));
            running.is_ended = ended.is_some();
        }
        are_open &= ended.is_none_or(|(_, time)| time.elapsed() < GRACE);
    }
    let (status, _) = ended.expect("the loop runs until it has ended");
    let [stdout, stderr] = outputs;
    Ok(Finished { status, stdout, stderr })
}

/// A program that is ended, with all that it started, when it is no longer waited for.
struct Running {
    child: Child,
    is_ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_ended {
            #[cfg(target_os = "linux")]
            if let Ok(group) = libc::pid_t::try_from(self.child.id()) {
                // SAFETY: it only sends a signal. The child leads the group, and has not been waited for, so the number is its own.
                unsafe { libc::kill(-group, libc::SIGKILL) };
            }
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

fn spawn(command: &dyn Fn() -> Command) -> io::Result<Child> {
    let piped = || {
        let mut command = command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    match with_this_process(piped()).spawn() {
        // To end with this process a child begins as its copy, which systems that count memory strictly refuse to large ones.
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => piped().spawn(),
        child => child,
    }
}

/// Has a program end when this process does, in a group of its own.
#[cfg(target_os = "linux")]
fn with_this_process(mut command: Command) -> Command {
    use std::os::unix::process::CommandExt;
    let parent = std::process::id();
    let follow = move || {
        // SAFETY: neither has conditions.
        let is_parent_here = unsafe {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) != 0 {
                return Err(io::Error::last_os_error());
            }
            libc::getppid() as u32 == parent
        };
        if is_parent_here { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: between fork and exec only two system calls are made, and no memory is allocated.
    unsafe { command.process_group(0).pre_exec(follow) };
    command
}

#[cfg(not(target_os = "linux"))]
fn with_this_process(command: Command) -> Command {
    command
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Result<Finished, Failure> {
        let command = || {
            let mut command = Command::new("sh");
            command.arg("-c").arg(script);
            command
        };
        run(&command, limit)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn who_is_not_waited_for_is_ended() {
        let cancelled = Arc::new(AtomicBool::new(true));
        let ended = cancellable(Arc::clone(&cancelled), || sh("sleep 50", LONG));
        assert!(matches!(ended, Err(Failure::Cancelled)), "{ended:?}");
        // It is so for what is done within, on this thread.
        assert!(sh("true", LONG).unwrap().status.success());
        cancelled.store(false, Ordering::Relaxed);
        assert!(cancellable(cancelled, || sh("true", LONG)).unwrap().status.success());
    }

    #[test]
    fn outputs_and_status_are_kept() {
        let done = sh("echo out; echo err >&2; exit 3", LONG).unwrap();
        assert_eq!((done.status.code(), done.stdout, done.stderr), (Some(3), b"out\n".to_vec(), b"err\n".to_vec()));
    }

    #[test]
    fn who_hangs_is_ended_with_all_that_it_started() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("alive");
        let start = Instant::now();
        let script = format!("(sleep 1; echo > {}) & exec sleep 100", file.display());
        let failure = sh(&script, Duration::from_millis(200)).unwrap_err();
        assert_eq!(failure.to_string(), "it took longer than 0.2 s");
        assert!(start.elapsed() < Duration::from_secs(20));
        if cfg!(target_os = "linux") {
            thread::sleep(Duration::from_millis(1500));
            assert!(!file.exists());
        }
    }

    #[test]
    fn who_closes_its_outputs_and_hangs_is_ended() {
        let failure = sh("exec >&- 2>&-; sleep 100", Duration::from_millis(200)).unwrap_err();
        assert!(matches!(failure, Failure::TimeLimit(_)));
    }

    #[test]
    fn what_is_left_behind_blocks_no_process() {
        let start = Instant::now();
        assert!(sh("echo out; sleep 30 & exit 0", LONG).unwrap().status.success());
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn who_writes_without_end_is_ended() {
        assert!(matches!(sh("yes", LONG).unwrap_err(), Failure::Output));
        assert!(matches!(sh("yes >&2", LONG).unwrap_err(), Failure::Output));
    }
}
