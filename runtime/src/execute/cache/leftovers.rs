//! What processes that were killed left behind.
//!
//! What is not finished has a name of its own, `building-HOST-PROCESS-NUMBER`, and no other process touches it while that one
//! lives. HOST stands for the machine since it was started, and the space of process numbers on it: containers that share a folder
//! have their own. What a process of this host has left is removed when the process is gone. The processes of other hosts are not
//! visible here, and a number may be another process's by now: what is older than a day is removed in any case.

use super::super::hash::Fnv128;
use super::trust;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// What unfinished things are called.
pub(super) const NOTE: &str = "note";
pub(super) const BUILDING: &str = "building";
pub(super) const DAMAGED: &str = "damaged";
/// In a folder that is not the cache's.
pub(super) const ELSEWHERE: &str = "spc-building";

/// Nothing takes so long.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
/// What has no host in its name, as earlier versions left it, is removed when its process is gone, but not at once.
const LIMIT_WITHOUT_HOST: Duration = Duration::from_secs(60 * 60);

/// A name that no other thread or process uses.
pub(super) fn unique(what: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{what}-{}-{}-{}", *HOST, process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// This machine since it was started, and its space of process numbers, as far as the system tells them.
static HOST: LazyLock<String> = LazyLock::new(|| {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let mut hash = Fnv128::of(&boot);
    hash.write(space.as_os_str().as_encoded_bytes());
    hash.to_string()[16..].to_owned()
});

/// Removes what is left in a folder: the first time that this process uses it.
pub(super) fn sweep(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(maker) = name.to_str().and_then(Maker::of) else { continue };
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        if trust::is_own(&metadata) && maker.has_left(age) {
            _ = if metadata.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
        }
    }
}

/// Whether something of this name is not finished.
pub(super) fn is_unfinished(name: &str) -> bool {
    Maker::of(name).is_some()
}

/// Who has made something that is not finished.
#[derive(Debug, PartialEq, Eq)]
struct Maker<'a> {
    host: Option<&'a str>,
    process: u32,
}

impl Maker<'_> {
    fn of(name: &str) -> Option<Maker<'_>> {
        let rest =
            [NOTE, BUILDING, DAMAGED, ELSEWHERE].iter().find_map(|what| name.strip_prefix(what)?.strip_prefix('-'))?;
        let mut parts = rest.rsplit('-');
        _ = parts.next()?.parse::<u64>().ok()?;
        let process = parts.next()?.parse().ok()?;
        let host = parts.next();
        parts.next().is_none().then_some(Maker { host, process })
    }

    /// Whether no process uses what is so old.
    fn has_left(&self, age: Duration) -> bool {
        let is_gone = || self.process != process::id() && !is_alive(self.process);
        age > LIMIT
            || match self.host {
                Some(host) => host == *HOST && is_gone(),
                None => age > LIMIT_WITHOUT_HOST && is_gone(),
            }
    }
}

/// Whether there is a process of this number; as far as the system tells.
fn is_alive(process: u32) -> bool {
    #[cfg(target_os = "linux")]
    {
        let Some(process) = libc::pid_t::try_from(process).ok().filter(|&process| process > 0) else { return false };
        // SAFETY: the signal 0 is none, it only asks.
        let found = unsafe { libc::kill(process, 0) };
        found == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
    }
    #[cfg(not(target_os = "linux"))]
    {
        _ = process;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_who_made_them() {
        let name = unique(BUILDING);
        assert_eq!(Maker::of(&name), Some(Maker { host: Some(HOST.as_str()), process: process::id() }));
        assert_eq!(Maker::of("note-12-0"), Some(Maker { host: None, process: 12 }));
        assert_eq!(Maker::of("spc-building-0a-12-3"), Some(Maker { host: Some("0a"), process: 12 }));
        for other in ["building", "building-x-0", "tuned-12-0", "rustc-12-3", "note-1-a-2-3", "cubin-1-2"] {
            assert_eq!(Maker::of(other), None, "{other}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_no_process_uses_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = process::Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        let host = HOST.as_str();
        let names = [
            (format!("building-{host}-{gone}-0"), false),
            (format!("damaged-{host}-{gone}-7"), false),
            (format!("building-{host}-{}-0", process::id()), true),
            (format!("building-{host}-1-0"), true),
            (format!("building-0123456789abcdef-{gone}-0"), true),
            (format!("building-{gone}-0"), true),
            (format!("note-{host}-{gone}-1"), false),
            ("tuned-abc".to_owned(), true),
        ];
        for (name, _) in &names {
            let path = folder.path().join(name);
            if name.starts_with("note") || name.starts_with("tuned") {
                fs::write(path, "").unwrap();
            } else {
                fs::create_dir(&path).unwrap();
                fs::write(path.join("library.rs"), "").unwrap();
            }
        }
        let old = folder.path().join(format!("building-0123456789abcdef-{}-1", process::id()));
        fs::create_dir(&old).unwrap();
        let aged = std::time::SystemTime::now() - 2 * LIMIT;
        fs::File::open(&old).unwrap().set_modified(aged).unwrap();
        sweep(folder.path());
        for (name, stays) in names {
            assert_eq!(folder.path().join(&name).exists(), stays, "{name}");
        }
        assert!(!old.exists());
    }
}
