//! The limit on the size of files that a process may write.

/// Makes a write beyond the limit on the size of files (`ulimit -f`) an error, where the system would end the process by a signal
/// else. For programs to call as they start: it holds for the whole process.
pub fn fail_at_size_limit() {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: no handler runs, the signal is ignored; nothing else in this process is changed.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
