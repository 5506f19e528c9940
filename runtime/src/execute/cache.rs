//! Compiled kernels on disk.
//!
//! ```text
//! ~/.cache/spc/
//!   rustc-5f0c…            what a compiler said of itself
//!   cubin-03d2…            functions of a device, as NVRTC made them
//!   4be1…/                 one kernel, named after all that its library depends on
//!     library.rs, kernel_0.rs, …   its text, for readers
//!     libspc_kernel.so
//!     checksum             of the library
//!   building-1234-0/       one that is being compiled
//! ```
//!
//! A kernel's folder appears in one step, by a rename, when all its files are there, so that processes do not disturb each
//! other. A library that is damaged is never loaded (that could end the process): its checksum is compared first.

use super::hash::Fnv128;
use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

const SOURCE: &str = "library.rs";
const CHECKSUM: &str = "checksum";

fn library_name() -> String {
    format!("{}spc_kernel{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX)
}

/// Where compiled kernels are kept, if anywhere.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The folder that the environment says: `SPC_CACHE`, `XDG_CACHE_HOME/spc` or `~/.cache/spc`. Where there is none, or it
    /// can't be made, nothing is kept.
    pub(crate) fn of_environment() -> Cache {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = variable("SPC_CACHE")
            .or_else(|| {
                variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()).map(|folder| folder.join("spc"))
            })
            .or_else(|| env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".cache").join("spc")));
        Cache::in_folder(folder)
    }

    /// A cache in this folder.
    pub(super) fn in_folder(folder: Option<PathBuf>) -> Cache {
        let usable = |folder: PathBuf| {
            let folder = std::path::absolute(folder).ok()?;
            private_folders().recursive(true).create(&folder).ok()?;
            Some(folder)
        };
        Cache { folder: folder.and_then(usable) }
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
        let mut kept = fs::read(self.folder.as_ref()?.join(name)).ok()?;
        let line = kept.iter().position(|&byte| byte == b'\n')?;
        let bytes = kept.split_off(line + 1);
        kept.pop();
        (Fnv128::of(&bytes).to_string().into_bytes() == kept).then_some(bytes)
    }

    /// Keeps bytes. That they can't be kept is no fault: they will be made again.
    pub(crate) fn keep_bytes(&self, name: &str, bytes: &[u8]) {
        let Some(folder) = &self.folder else { return };
        let unfinished = folder.join(unique("note"));
        let kept = [Fnv128::of(bytes).to_string().as_bytes(), b"\n", bytes].concat();
        if fs::write(&unfinished, kept).and_then(|()| fs::rename(&unfinished, folder.join(name))).is_err() {
            _ = fs::remove_file(&unfinished);
        }
    }

    /// The library of a kernel, where it is kept and undamaged.
    pub(super) fn library(&self, key: Fnv128) -> Option<PathBuf> {
        intact(&self.folder.as_ref()?.join(key.to_string()))
    }

    /// A new folder to compile in.
    pub(super) fn workshop(&self) -> io::Result<Workshop> {
        let parent = self.place();
        loop {
            let folder = parent.join(unique("building"));
            match private_folders().create(&folder) {
                Ok(()) => return Ok(Workshop { folder }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Keeps what was compiled in a workshop, and says where the library is then: where it was made, if nothing can be kept.
    pub(super) fn keep(&self, key: Fnv128, workshop: &Workshop) -> io::Result<PathBuf> {
        let Some(folder) = &self.folder else { return Ok(workshop.library()) };
        let checksum = Fnv128::of(&fs::read(workshop.library())?);
        fs::write(workshop.folder.join(CHECKSUM), checksum.to_string())?;
        let home = folder.join(key.to_string());
        for _ in 0..8 {
            if fs::rename(&workshop.folder, &home).is_ok() {
                return Ok(home.join(library_name()));
            }
            // Another process was faster, or left a damaged one. That one is moved away before it is removed: who looks in
            // the meantime finds all of it or nothing.
            if let Some(library) = intact(&home) {
                return Ok(library);
            }
            let damaged = folder.join(unique("damaged"));
            if fs::rename(&home, &damaged).is_ok() {
                _ = fs::remove_dir_all(&damaged).or_else(|_| fs::remove_file(&damaged));
            }
        }
        Ok(workshop.library())
    }
}

/// The library of a kernel's folder, where its checksum is right.
fn intact(folder: &Path) -> Option<PathBuf> {
    let library = folder.join(library_name());
    let checksum = fs::read_to_string(folder.join(CHECKSUM)).ok()?;
    (Fnv128::of(&fs::read(&library).ok()?).to_string() == checksum).then_some(library)
}

/// Folders that only their owner can read and write: what lies in them is loaded as code.
fn private_folders() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// A name that no other thread or process uses.
fn unique(what: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{what}-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A folder to compile in. It is removed with all that is left in it.
#[derive(Debug)]
pub(super) struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    /// The root of the library's source.
    pub(super) fn source(&self) -> PathBuf {
        self.folder.join(SOURCE)
    }

    /// A file beside the root.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn library(&self) -> PathBuf {
        self.folder.join(library_name())
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(cache: &Cache, key: Fnv128, content: &str) -> PathBuf {
        let workshop = cache.workshop().unwrap();
        fs::write(workshop.source(), "// text").unwrap();
        fs::write(workshop.library(), content).unwrap();
        cache.keep(key, &workshop).unwrap()
    }

    #[test]
    fn what_is_kept_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(Some(folder.path().join("a/b")));
        let key = Fnv128::of(b"key");
        assert_eq!(cache.library(key), None);
        let library = build(&cache, key, "library");
        assert_eq!(fs::read_to_string(&library).unwrap(), "library");
        assert_eq!(cache.library(key), Some(library));
        assert_eq!(cache.library(Fnv128::of(b"another")), None);
        let left: Vec<_> = fs::read_dir(folder.path().join("a/b")).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn the_first_stays_when_two_are_built() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(Some(folder.path().to_owned()));
        let key = Fnv128::of(b"key");
        build(&cache, key, "first");
        let library = build(&cache, key, "second");
        assert_eq!(fs::read_to_string(library).unwrap(), "first");
    }

    #[test]
    fn a_damaged_library_is_not_found_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(Some(folder.path().to_owned()));
        let key = Fnv128::of(b"key");
        let library = build(&cache, key, "whole library");
        fs::write(&library, "whole lib").unwrap();
        assert_eq!(cache.library(key), None);
        let library = build(&cache, key, "new library");
        assert_eq!(cache.library(key), Some(library.clone()));
        assert_eq!(fs::read_to_string(library).unwrap(), "new library");
        fs::remove_file(folder.path().join(key.to_string()).join(CHECKSUM)).unwrap();
        assert_eq!(cache.library(key), None);
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for folder in [None, Some(file.path().join("below a file"))] {
            let cache = Cache::in_folder(folder);
            let key = Fnv128::of(b"key");
            let library = build(&cache, key, "library");
            assert!(!library.exists());
            assert_eq!(cache.library(key), None);
            cache.keep_note("note", "text");
            assert_eq!(cache.note("note"), None);
        }
    }

    #[test]
    fn notes_are_kept_unless_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(Some(folder.path().to_owned()));
        cache.keep_note("rustc", "rustc 1.95\nhost: x\n");
        assert_eq!(cache.note("rustc").as_deref(), Some("rustc 1.95\nhost: x\n"));
        fs::write(folder.path().join("rustc"), "abc\nrustc 1.0").unwrap();
        assert_eq!(cache.note("rustc"), None);
    }
}
