//! Folders for work that is not finished: files before they take their name, libraries before they are kept.
//!
//! A folder has an unguessable name, `.spc-3f09….tmp`, and a file in it, the mark, that names the folder, the host and the process. The
//! guard removes the folder. What a killed process leaves is removed by [`sweep`], which reads the mark first: a name says nothing. Nothing
//! is removed in folders that other users may write to, such as `/tmp`.

use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::LazyLock;
use std::time::Duration;

const PREFIX: &str = ".spc-";
const SUFFIX: &str = ".tmp";
/// The file that makes a folder one of ours.
const MARK: &str = "made-by-spc";

/// Processes of other hosts are not visible here. Their folders are removed after this time, where no process holds the lock.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder that is removed, with all that is in it, when this is dropped. Only this user can read it.
#[derive(Debug)]
pub(crate) struct Unfinished {
    folder: PathBuf,
    /// Locked as long as the folder is there.
    _mark: Option<File>,
}

impl Unfinished {
    /// A new folder in another.
    pub(crate) fn below(parent: &Path) -> io::Result<Self> {
        loop {
            let name = format!("{PREFIX}{:016x}{:016x}{SUFFIX}", random(), random());
            let folder = parent.join(&name);
            match private_folders().create(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let mut made = Self { folder, _mark: None };
            let mut mark = create_private(&made.folder.join(MARK))?;
            mark.write_all(text(&name, &HOST, process::id()).as_bytes())?;
            _ = mark.try_lock();
            made._mark = Some(mark);
            return Ok(made);
        }
    }

    /// A new folder beside a file.
    pub(crate) fn beside(path: &Path) -> io::Result<Self> {
        Self::below(folder_of(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // This folder was made here. What can't be removed stays: the error that led here is on its way.
        remove(&self.folder);
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Folders that only their owner can read and write.
pub(crate) fn private_folders() -> fs::DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes to set"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// A new file that only its owner can read and write.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes the folders of processes that are gone. What can't be removed stays.
pub(crate) fn sweep(parent: &Path) {
    if !fs::metadata(parent).is_ok_and(|parent| is_private(&parent)) {
        return;
    }
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX)) else {
            continue;
        };
        let is_own = entry.metadata().is_ok_and(|folder| folder.is_dir() && is_private(&folder));
        if is_own && is_abandoned(&entry.path().join(MARK), name) {
            remove(&entry.path());
        }
    }
}

/// Removes a folder of ours, the mark last: what a process leaves that is killed meanwhile is still known as ours.
fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.file_name() != MARK) {
        _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
    }
    _ = fs::remove_dir_all(folder);
}

/// Whether a mark is that of a folder of this name, and no process uses the folder.
fn is_abandoned(mark: &Path, name: &str) -> bool {
    let Some((file, said)) = read_own(mark) else { return false };
    let line = |what| said.lines().find_map(|line| line.strip_prefix(what));
    let (Some(host), Some(process)) = (line("host: "), line("process: ").and_then(|number| number.parse().ok())) else {
        return false;
    };
    if said != text(name, host, process) {
        return false;
    }
    let is_locked = match file.try_lock() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    };
    let age = file.metadata().and_then(|mark| mark.modified()).ok().and_then(|time| time.elapsed().ok());
    match is_locked {
        Some(true) => false,
        Some(false) if age.is_some_and(|age| age > LIMIT) => true,
        // Some file systems have no locks.
        _ => host == *HOST && process != process::id() && !is_alive(process),
    }
}

/// A short file of this user, which is no link, and its text.
fn read_own(path: &Path) -> Option<(File, String)> {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || !is_private(&metadata) {
        return None;
    }
    let mut said = String::new();
    (&file).take(4096).read_to_string(&mut said).ok()?;
    Some((file, said))
}

/// What a mark says.
fn text(name: &str, host: &str, process: u32) -> String {
    format!(
        "Work of spc that is not finished. spc removes this folder when the process is gone.\n\
         folder: {name}\nhost: {host}\nprocess: {process}\n"
    )
}

fn random() -> u64 {
    RandomState::new().hash_one(process::id())
}

/// This machine since it was started, and its space of process numbers, as far as the system tells them. Containers that share a folder
/// have their own.
static HOST: LazyLock<String> = LazyLock::new(|| {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), space.display())
});

/// Whether something belongs to this user, and no other can write to it.
#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: it has no conditions.
    let user = unsafe { libc::geteuid() };
    metadata.uid() == user && metadata.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

/// Whether there is a process of this number; as far as the system tells.
fn is_alive(process: u32) -> bool {
    #[cfg(target_os = "linux")]
    {
        let Some(process) = libc::pid_t::try_from(process).ok().filter(|&process| process > 0) else { return false };
        // SAFETY: the signal 0 is none, it only asks.
        let found = unsafe { libc::kill(process, 0) };
        found == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
    }
    #[cfg(not(target_os = "linux"))]
    {
        _ = process;
        true
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// The number of a process that has ended.
    fn gone() -> u32 {
        let mut child = process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    /// A folder as a process has left it, with a file in it.
    fn left(parent: &Path, name: &str, mark: &str) -> PathBuf {
        let folder = parent.join(name);
        private_folders().create(&folder).unwrap();
        fs::write(folder.join("thesis.txt"), "mine").unwrap();
        create_private(&folder.join(MARK)).unwrap().write_all(mark.as_bytes()).unwrap();
        folder
    }

    fn age(folder: &Path) {
        let aged = std::time::SystemTime::now() - 2 * LIMIT;
        for path in [&folder.join(MARK), folder] {
            if let Ok(file) = File::open(path) {
                file.set_modified(aged).unwrap();
            }
        }
    }

    #[test]
    fn a_guard_removes_what_it_made() {
        let parent = tempfile::tempdir().unwrap();
        let unfinished = Unfinished::below(parent.path()).unwrap();
        fs::write(unfinished.path().join("a"), "1").unwrap();
        sweep(parent.path());
        assert!(unfinished.path().join("a").is_file());
        drop(unfinished);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_marked_folders_of_ended_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let (parent, gone) = (parent.path(), gone());
        let name = |number: u64| format!("{PREFIX}{number:032x}{SUFFIX}");
        let mark = |number| text(&name(number), &HOST, gone);
        let removed = left(parent, &name(1), &mark(1));
        let other_host = left(parent, &name(2), &text(&name(2), "another", gone));
        age(&other_host);
        let stays = [
            left(parent, &name(3), &text(&name(3), &HOST, process::id())),
            left(parent, &name(4), &text(&name(4), "another", gone)),
            // The mark of another folder, none of ours, one with more in it, none, and other names.
            left(parent, &name(5), &mark(6)),
            left(parent, &name(7), "made by me"),
            left(parent, &name(8), &format!("{}more", mark(8))),
            left(parent, &name(9), ""),
            left(parent, "note-2024-12", &text("note-2024-12", &HOST, gone)),
            left(parent, &format!("damaged-{gone}-1"), ""),
            left(parent, &format!(".y.tns.{gone}-0.spc.tmp"), ""),
        ];
        let locked = left(parent, &name(10), &mark(10));
        let held = File::open(locked.join(MARK)).unwrap();
        held.try_lock().unwrap();
        for folder in stays.iter().skip(2) {
            age(folder);
        }
        let linked = left(parent, &name(11), &mark(11));
        fs::rename(linked.join(MARK), parent.join("mark")).unwrap();
        symlink(parent.join("mark"), linked.join(MARK)).unwrap();
        let target = left(parent, "data", &mark(12));
        symlink(&target, parent.join(name(12))).unwrap();
        sweep(parent);
        for folder in [removed, other_host] {
            assert!(!folder.exists(), "{}", folder.display());
        }
        for folder in stays.iter().chain([&locked, &linked, &target]) {
            assert!(folder.join("thesis.txt").is_file(), "{}", folder.display());
        }
    }

    #[test]
    fn nothing_is_removed_where_others_may_write() {
        let parent = tempfile::tempdir().unwrap();
        let name = format!("{PREFIX}{:032x}{SUFFIX}", 1);
        let folder = left(parent.path(), &name, &text(&name, &HOST, gone()));
        for mode in [0o1777, 0o777, 0o770] {
            fs::set_permissions(parent.path(), fs::Permissions::from_mode(mode)).unwrap();
            sweep(parent.path());
            assert!(folder.is_dir(), "{mode:o}");
        }
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o700)).unwrap();
        sweep(parent.path());
        assert!(!folder.exists());
    }
}
