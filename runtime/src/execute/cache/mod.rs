//! Compiled kernels on disk.
//!
//! ```text
//! ~/.cache/spc/
//!   compiler-5f0c…         where a compiler is, and what it said of itself
//!   cubin-03d2…            functions of a device, as NVRTC made them
//!   tuned-77a0…            a schedule that was measured
//!   4be1…/                 one kernel, named after all that its library depends on
//!     library.rs, kernel_0.rs, …   its text, for readers
//!     libspc_kernel.so
//!     checksum             of the library
//!     made-by-spc          says that this folder is one of the cache's
//!   compiled-c5cd…         which of these is the latest of a kernel's text, for when there is no compiler
//!   helpers-97c2…/         what all kernels use, compiled once for a compiler and its flags
//!   .spc-….tmp/            what is not finished
//!   turn-…                 is locked while one is compiled
//!   pruned                 its time is when unused ones were removed
//! ```
//!
//! A kernel's folder appears in one step, by a rename, when all its files are there, so that processes do not disturb each
//! other. A library that is damaged is never loaded (that could end the process): its checksum is compared first. The checksum
//! is against damage alone. Against others it is `trust` that helps: what is not this user's alone is not used, and a
//! [`CacheWarning`] says so. Without a folder that can be used, kernels are compiled in a new one that is removed when they are
//! loaded, and notes are kept for as long as the process lives.
//!
//! What processes that were killed have left is removed by `unfinished`, what is not used any more by `prune`. Neither trusts a name, as
//! the folder may have been the user's before: what has no mark of ours in it is neither removed nor replaced.

mod prune;
mod trust;
mod turns;

pub use prune::CacheEntry;
pub use trust::Distrust;

use super::hash::Fnv128;
use crate::unfinished::{self, Unfinished, create_private, private_folders};
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use prune::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

const CHECKSUM: &str = "checksum";
/// In each folder that is kept.
const MARK: &str = "made-by-spc";

/// What the mark of a folder says.
fn mark(name: &str) -> String {
    format!("Compiled kernels of spc, which removes this folder when it is not used any more.\nfolder: {name}\n")
}

/// What is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A library of kernels, which is loaded.
    Kernels,
    /// What all kernels use, which is linked to each library of them.
    Helpers,
}

impl Part {
    /// The file of its source.
    fn source(self) -> &'static str {
        match self {
            Part::Kernels => "library.rs",
            Part::Helpers => "helpers.rs",
        }
    }

    /// The file that the compiler makes.
    fn library(self) -> String {
        match self {
            Part::Kernels => format!("{}spc_kernel{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX),
            Part::Helpers => "libspc_helpers.rlib".to_owned(),
        }
    }

    /// Its folder in the cache.
    fn home(self, key: Fnv128) -> String {
        match self {
            Part::Kernels => key.to_string(),
            Part::Helpers => format!("helpers-{key}"),
        }
    }
}

/// What this process does not use of the kernels that are kept on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheWarning {
    /// Compiled kernels are not kept.
    Folder {
        /// Where they would be.
        folder: PathBuf,
        /// What is wrong: the folder, or one above it.
        path: PathBuf,
        /// What is wrong with it.
        reason: Distrust,
    },
    /// Something that was kept is made anew.
    Entry {
        /// What.
        path: PathBuf,
        /// What is wrong with it.
        reason: Distrust,
    },
    /// The catalogue of native code is not used.
    Catalogue {
        /// Its file.
        file: PathBuf,
        /// What is wrong: the file, or a folder above it.
        path: PathBuf,
        /// What is wrong with it.
        reason: Distrust,
    },
    /// An environment variable says no limit.
    Setting {
        /// The variable.
        name: &'static str,
        /// What it says.
        value: String,
    },
}

impl std::fmt::Display for CacheWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CacheWarning::Folder { folder, path, reason } => {
                write!(f, "compiled kernels are not kept in {}: ", folder.display())?;
                match path == folder {
                    true => write!(f, "it {reason}")?,
                    false => write!(f, "{} {reason}", path.display())?,
                }
                match reason {
                    Distrust::Writable { .. } => write!(f, "; `chmod go-w` mends that"),
                    _ => write!(f, "; SPC_CACHE names another folder"),
                }
            }
            CacheWarning::Catalogue { file, path, reason } => {
                write!(f, "the catalogue {} is not used: ", file.display())?;
                match path == file {
                    true => write!(f, "it {reason}"),
                    false => write!(f, "{} {reason}", path.display()),
                }
            }
            CacheWarning::Entry { path, reason } => write!(f, "{} {reason}: it was made anew", path.display()),
            CacheWarning::Setting { name, value } => {
                write!(f, "{name} is `{value}`, which is no limit of the cache: the usual one holds")
            }
        }
    }
}

static WARNINGS: Mutex<Vec<CacheWarning>> = Mutex::new(Vec::new());

fn warn(warning: CacheWarning) {
    let mut warnings = lock(&WARNINGS);
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
}

/// What this process has not used so far of the compiled kernels on disk, because it is not the user's own or can't be used: each
/// once.
pub fn cache_warnings() -> Vec<CacheWarning> {
    lock(&WARNINGS).clone()
}

/// The folder of compiled kernels, if there is one that can be used.
pub fn cache_folder() -> Option<PathBuf> {
    Cache::of_environment().folder
}

/// What is kept there, what was used least lately first.
pub fn cache_entries() -> Vec<CacheEntry> {
    cache_folder().map(|folder| prune::entries(&folder)).unwrap_or_default()
}

/// Removes what was not used for so long as `SPC_CACHE_DAYS` says, and what is too much by `SPC_CACHE_SIZE` or by `bytes`. Gives what was
/// removed. Without being asked for, that is done once a day.
pub fn prune_cache(bytes: Option<u64>) -> Vec<CacheEntry> {
    let Some(folder) = cache_folder() else { return Vec::new() };
    let limits = Limits::of_environment();
    prune::prune(&folder, Limits { bytes: bytes.unwrap_or(limits.bytes), ..limits }, SystemTime::now())
}

/// Removes all that is kept, schedules that were measured too. Gives what was removed.
pub fn clear_cache() -> Vec<CacheEntry> {
    let Some(folder) = cache_folder() else { return Vec::new() };
    let mut all = prune::entries(&folder);
    all.retain(|entry| displace(&folder, &entry.path));
    all
}

/// What is kept as long as the process lives.
type Notes = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where compiled kernels are kept, if anywhere.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: Option<PathBuf>,
    /// What can't be kept in the folder.
    notes: Notes,
}

/// A library as it was read, once.
#[derive(Debug)]
pub(super) struct LibraryFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl Cache {
    /// The folder that the environment says: `SPC_CACHE`, `XDG_CACHE_HOME/spc`, or `spc` where the system has its caches: in
    /// `~/.cache`, in `~/Library/Caches` on macOS, in `LOCALAPPDATA` on Windows. Where there is none, or it can't be made or
    /// trusted, nothing is kept on disk.
    pub(crate) fn of_environment() -> Cache {
        static NOTES: LazyLock<Notes> = LazyLock::new(Notes::default);
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let of_system = || {
            let stated = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
            let caches = stated.or_else(|| choose_native_strategy().ok().map(|system| system.cache_dir()));
            caches.filter(|folder| folder.is_absolute()).map(|folder| folder.join("spc"))
        };
        let folder = variable("SPC_CACHE").or_else(of_system);
        Cache { notes: Arc::clone(&NOTES), ..Cache::in_folder(folder) }
    }

    /// A cache in this folder.
    pub(super) fn in_folder(folder: Option<PathBuf>) -> Cache {
        Cache { folder: folder.and_then(usable), notes: Notes::default() }
    }

    /// Where things are kept, or would be compiled.
    pub(super) fn place(&self) -> PathBuf {
        self.folder.clone().unwrap_or_else(env::temp_dir)
    }

    /// A short text that was kept.
    pub(super) fn note(&self, name: &str) -> Option<String> {
        String::from_utf8(self.bytes(name)?).ok()
    }

    /// Keeps a short text. That it can't be kept is no fault: it will be found out again.
    pub(super) fn keep_note(&self, name: &str, text: &str) {
        self.keep_bytes(name, text.as_bytes());
    }

    /// Bytes that were kept, where they are undamaged.
    pub(crate) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        if let Some(known) = lock(&self.notes).get(name) {
            return Some(known.clone());
        }
        let mut kept = own_file(&self.folder.as_ref()?.join(name))?;
        let line = kept.iter().position(|&byte| byte == b'\n')?;
        let bytes = kept.split_off(line + 1);
        kept.pop();
        (Fnv128::of(&bytes).to_string().into_bytes() == kept).then_some(bytes)
    }

    /// Keeps bytes. That they can't be kept on disk is no fault: the next process makes them again.
    pub(crate) fn keep_bytes(&self, name: &str, bytes: &[u8]) {
        let kept = self.folder.as_ref().is_some_and(|folder| {
            let text = [Fnv128::of(bytes).to_string().as_bytes(), b"\n", bytes].concat();
            let home = folder.join(name);
            let keep = || {
                let unfinished = Unfinished::below(folder)?;
                let note = unfinished.path().join("note");
                written(&note, &text)?;
                fs::rename(&note, &home)
            };
            prune::may_replace(&home) && keep().is_ok()
        });
        let mut notes = lock(&self.notes);
        match kept {
            true => _ = notes.remove(name),
            false => _ = notes.insert(name.to_owned(), bytes.to_owned()),
        }
    }

    /// The file that is kept of what was compiled, if anything can be kept.
    pub(super) fn home(&self, part: Part, key: Fnv128) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(part.home(key)).join(part.library()))
    }

    /// What was compiled, where it is kept, undamaged and this user's own.
    pub(super) fn library(&self, part: Part, key: Fnv128) -> Option<LibraryFile> {
        let home = self.folder.as_ref()?.join(part.home(key));
        trusted(&home, trust::own_folder(&home))?;
        let checksum = own_file(&home.join(CHECKSUM))?;
        let path = self.home(part, key)?;
        let bytes = own_file(&path)?;
        (Fnv128::of(&bytes).to_string().into_bytes() == checksum).then_some(LibraryFile { path, bytes })
    }

    /// Removes what was compiled, and can't be loaded.
    pub(super) fn discard(&self, part: Part, key: Fnv128, library: &LibraryFile) {
        warn(CacheWarning::Entry { path: library.path.clone(), reason: Distrust::Foreign });
        if let Some(folder) = &self.folder {
            displace(folder, &folder.join(part.home(key)));
        }
    }

    /// A new folder to compile in: in the cache where that is possible.
    pub(super) fn workshop(&self) -> io::Result<Workshop> {
        let Some(folder) = &self.folder else { return Workshop::elsewhere() };
        let made = Workshop::in_cache(folder).or_else(|error| match error.kind() {
            // Somebody has removed the cache.
            io::ErrorKind::NotFound => {
                trust::prepare(folder).map_err(|finding| io::Error::other(finding.reason.to_string()))?;
                Workshop::in_cache(folder)
            }
            _ => Err(error),
        });
        made.or_else(|error| {
            warn(CacheWarning::Folder { folder: folder.clone(), path: folder.clone(), reason: error.into() });
            Workshop::elsewhere()
        })
    }

    /// Keeps what was compiled in a workshop, if anything can be kept.
    pub(super) fn keep(&self, part: Part, key: Fnv128, workshop: &Workshop, library: &LibraryFile) {
        let Some(folder) = &self.folder else { return };
        let checksum = Fnv128::of(&library.bytes).to_string();
        let finished = || {
            trust::keep_from_others(&library.path)?;
            written(&workshop.folder.join(MARK), mark(&part.home(key)).as_bytes())?;
            written(&workshop.folder.join(CHECKSUM), checksum.as_bytes())
        };
        // What was compiled elsewhere can't be moved here.
        if workshop.guard.path().parent() != Some(folder) || finished().is_err() {
            return;
        }
        let home = folder.join(part.home(key));
        for _ in 0..8 {
            if fs::rename(&workshop.folder, &home).is_ok() {
                return prune::prune_daily(folder);
            }
            // Another process was faster, or left a damaged one. That one is moved away before it is removed: who looks in
            // the meantime finds all of it or nothing.
            if self.library(part, key).is_some() || !displace(folder, &home) {
                return;
            }
        }
    }
}

/// The folder, where things can be kept there.
fn usable(folder: PathBuf) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    match trust::prepare(&folder) {
        Ok(()) => {
            sweep_once(&folder);
            Some(folder)
        }
        Err(finding) => {
            warn(CacheWarning::Folder { folder, path: finding.path, reason: finding.reason });
            None
        }
    }
}

/// Removes what is left in a folder: the first time that this process uses it.
fn sweep_once(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if lock(&SWEPT).insert(folder.to_owned()) {
        unfinished::sweep(folder);
    }
}

/// Moves something that is kept away, and removes it. Whether that was done: what has no mark of ours stays.
fn displace(folder: &Path, home: &Path) -> bool {
    let Ok(gone) = Unfinished::below(folder) else { return false };
    prune::is_kept(home) && fs::rename(home, gone.path().join("gone")).is_ok()
}

/// What is this user's own; of what is not, a warning is kept.
fn trusted<T>(path: &Path, found: Result<Option<T>, Distrust>) -> Option<T> {
    found.unwrap_or_else(|reason| {
        warn(CacheWarning::Entry { path: path.to_owned(), reason });
        None
    })
}

/// What a file holds, where it is this user's own.
fn own_file(path: &Path) -> Option<Vec<u8>> {
    let mut file = trusted(path, trust::open(path))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    if let Ok(metadata) = file.metadata() {
        prune::used(path, &metadata);
    }
    Some(bytes)
}

/// What an installed file holds, which is loaded as code: it and the folders above it belong to this user or to root.
pub(super) fn read_installed(file: &Path) -> Option<Vec<u8>> {
    let found = std::path::absolute(file)
        .map_err(|error| trust::Finding::of(file, error))
        .and_then(|file| trust::open_installed(&file));
    match found {
        Ok(Some(mut installed)) => {
            let mut bytes = Vec::new();
            installed.read_to_end(&mut bytes).ok().map(|_| bytes)
        }
        Ok(None) => None,
        Err(finding) => {
            warn(CacheWarning::Catalogue { file: file.to_owned(), path: finding.path, reason: finding.reason });
            None
        }
    }
}

fn written(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_private(path)?.write_all(bytes)
}

/// A folder to compile in, which is this user's alone. It is removed with all that is left in it.
#[derive(Debug)]
pub(crate) struct Workshop {
    folder: PathBuf,
    guard: Unfinished,
}

impl Workshop {
    /// One that is not in the cache. What a killed process leaves there is the system's to remove.
    pub(crate) fn elsewhere() -> io::Result<Workshop> {
        let candidates = [env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into()];
        let mut refused = io::Error::other("others can exchange what lies there");
        for folder in candidates.iter().filter_map(|folder| std::path::absolute(folder).ok()) {
            if trust::holds_own_folders(&folder) {
                match Unfinished::below(&folder) {
                    Ok(guard) => return Ok(Workshop { folder: guard.path().to_owned(), guard }),
                    Err(error) => refused = error,
                }
            }
        }
        Err(refused)
    }

    /// One whose folder can be kept.
    fn in_cache(cache: &Path) -> io::Result<Workshop> {
        let guard = Unfinished::below(cache)?;
        let folder = guard.path().join("work");
        private_folders().create(&folder)?;
        Ok(Workshop { folder, guard })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The root of the source.
    pub(super) fn source(&self, part: Part) -> PathBuf {
        self.folder.join(part.source())
    }

    /// A file beside the root.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The file that the compiler makes.
    pub(super) fn library(&self, part: Part) -> PathBuf {
        self.folder.join(part.library())
    }

    /// What was compiled here.
    pub(super) fn compiled(&self, part: Part) -> io::Result<LibraryFile> {
        let path = self.library(part);
        Ok(LibraryFile { bytes: fs::read(&path)?, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(cache: &Cache, key: Fnv128, content: &str) {
        let workshop = cache.workshop().unwrap();
        fs::write(workshop.source(Part::Kernels), "// text").unwrap();
        fs::write(workshop.library(Part::Kernels), content).unwrap();
        cache.keep(Part::Kernels, key, &workshop, &workshop.compiled(Part::Kernels).unwrap());
    }

    /// What the library that is kept holds.
    fn kept(cache: &Cache, key: Fnv128) -> Option<String> {
        cache.library(Part::Kernels, key).map(|library| String::from_utf8(library.bytes).unwrap())
    }

    fn own_cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(Some(folder.path().to_owned()));
        (folder, cache)
    }

    #[test]
    fn what_is_kept_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(Some(folder.path().join("a/b")));
        let key = Fnv128::of(b"key");
        assert_eq!(kept(&cache, key), None);
        build(&cache, key, "library");
        assert_eq!(kept(&cache, key).as_deref(), Some("library"));
        assert_eq!(kept(&cache, Fnv128::of(b"another")), None);
        let left = fs::read_dir(folder.path().join("a/b")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<_> = left.map(|name| name.into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, [key.to_string(), "pruned".to_owned()]);
    }

    #[test]
    fn the_first_stays_when_two_are_built() {
        let (_folder, cache) = own_cache();
        let key = Fnv128::of(b"key");
        build(&cache, key, "first");
        build(&cache, key, "second");
        assert_eq!(kept(&cache, key).as_deref(), Some("first"));
    }

    #[test]
    fn a_damaged_library_is_not_found_and_is_replaced() {
        let (folder, cache) = own_cache();
        let key = Fnv128::of(b"key");
        build(&cache, key, "whole library");
        let library = cache.library(Part::Kernels, key).unwrap().path;
        fs::write(&library, "whole lib").unwrap();
        assert_eq!(kept(&cache, key), None);
        build(&cache, key, "new library");
        assert_eq!(kept(&cache, key).as_deref(), Some("new library"));
        fs::remove_file(folder.path().join(key.to_string()).join(CHECKSUM)).unwrap();
        assert_eq!(kept(&cache, key), None);
    }

    #[test]
    #[cfg(unix)]
    fn what_others_may_write_is_not_used_and_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, cache) = own_cache();
        let key = Fnv128::of(b"key");
        for part in ["", CHECKSUM, &Part::Kernels.library()] {
            build(&cache, key, "library");
            let path = folder.path().join(key.to_string()).join(part);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
            assert_eq!(kept(&cache, key), None, "{part}");
            let is_said = cache_warnings().iter().map(CacheWarning::to_string).any(|said| {
                said.contains(folder.path().to_str().unwrap())
                    && said.ends_with("can be written by others (mode 777): it was made anew")
            });
            assert!(is_said, "{:?}", cache_warnings());
            build(&cache, key, "library");
            assert_eq!(kept(&cache, key).as_deref(), Some("library"), "{part}");
        }
        cache.keep_note("note", "text");
        fs::set_permissions(folder.path().join("note"), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(cache.note("note"), None);
    }

    #[test]
    fn a_cache_that_was_removed_is_made_again() {
        let (folder, cache) = own_cache();
        fs::remove_dir_all(folder.path()).unwrap();
        let key = Fnv128::of(b"key");
        build(&cache, key, "library");
        assert_eq!(kept(&cache, key).as_deref(), Some("library"));
    }

    #[test]
    fn without_a_folder_nothing_is_kept_but_notes_of_this_process() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for folder in [None, Some(file.path().join("below a file"))] {
            let cache = Cache::in_folder(folder.clone());
            let key = Fnv128::of(b"key");
            build(&cache, key, "library");
            assert_eq!(kept(&cache, key), None);
            cache.keep_note("note", "text");
            assert_eq!(cache.note("note").as_deref(), Some("text"));
            assert_eq!(Cache::in_folder(folder).note("note"), None);
        }
        let workshop = Cache::in_folder(None).workshop().unwrap();
        assert!(workshop.folder().is_dir());
        let folder = workshop.folder().to_owned();
        drop(workshop);
        assert!(!folder.exists());
    }

    #[test]
    fn notes_are_kept_unless_damaged() {
        let (folder, cache) = own_cache();
        cache.keep_note("rustc", "rustc 1.95\nhost: x\n");
        assert_eq!(cache.note("rustc").as_deref(), Some("rustc 1.95\nhost: x\n"));
        fs::write(folder.path().join("rustc"), "abc\nrustc 1.0").unwrap();
        assert_eq!(cache.note("rustc"), None);
    }
}
