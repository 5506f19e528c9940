//! Whether others could change what lies at a path. What is loaded as code, or decides what is, must be the user's own.
//!
//! A folder is trusted where each folder on the way to it, through links, belongs to this user or to root, and no other user can
//! write to it; in one with the sticky bit, as `/tmp`, others can't move what is not theirs. The folder itself, and what is read
//! in it, belongs to this user alone. Files are opened once, without following links, and looked at by that descriptor.
//!
//! Systems without these owners and modes have a folder for each user, which is trusted as it is.

use crate::unfinished::private_folders;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Why something on disk is not used as the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distrust {
    /// It belongs to another user.
    Owner {
        /// The number of that user.
        user: u32,
    },
    /// Others may write to it.
    Writable {
        /// Its permissions.
        mode: u32,
    },
    /// It is neither a folder nor a file, as it should be, or a link where none should be.
    Kind,
    /// It can't be used at all.
    Unusable {
        /// What the system says.
        message: String,
    },
    /// It is whole, and still no library that this version of the crate can load.
    Foreign,
}

impl std::fmt::Display for Distrust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Distrust::Owner { user } => write!(f, "belongs to another user (uid {user})"),
            Distrust::Writable { mode } => write!(f, "can be written by others (mode {mode:o})"),
            Distrust::Kind => write!(f, "is not what it should be: a folder, or a file that is no link"),
            Distrust::Unusable { message } => write!(f, "can't be used: {message}"),
            Distrust::Foreign => write!(f, "can't be loaded"),
        }
    }
}

impl From<io::Error> for Distrust {
    fn from(error: io::Error) -> Self {
        Distrust::Unusable { message: error.to_string() }
    }
}

/// What is not trusted, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) path: PathBuf,
    pub(super) reason: Distrust,
}

impl Finding {
    pub(super) fn of(path: &Path, reason: impl Into<Distrust>) -> Self {
        Self { path: path.to_owned(), reason: reason.into() }
    }
}

fn finding<T>(path: &Path, reason: impl Into<Distrust>) -> Result<T, Finding> {
    Err(Finding::of(path, reason))
}

/// Makes a folder where there is none yet, with those above it: but only where they are trusted.
pub(super) fn prepare(folder: &Path) -> Result<(), Finding> {
    if !system::walk(folder, system::Last::Own)? {
        if let Err(error) = private_folders().recursive(true).create(folder) {
            return finding(folder, error);
        }
        system::walk(folder, system::Last::Own)?;
    }
    Ok(())
}

/// Whether folders can be made here that others can't exchange.
pub(super) fn holds_own_folders(folder: &Path) -> bool {
    system::walk(folder, system::Last::OnTheWay).unwrap_or(false)
}

/// A file to be locked, which is made where there is none. (Some systems lock for writing only what can be written.)
pub(super) fn open_to_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Has only the owner write to a file, whatever the process that made it left to others.
pub(super) fn keep_from_others(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

pub(super) use system::{is_own, open, open_installed, own_folder};

#[cfg(unix)]
mod system {
    use super::{Distrust, Finding, finding};
    use std::collections::VecDeque;
    use std::ffi::OsString;
    use std::fs::{self, File, Metadata};
    use std::io;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::path::{Component, Path, PathBuf};

    /// So many links lead to a folder at most.
    const LINKS: usize = 40;
    /// Writing by the group and by others.
    const OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;

    /// What the last folder of a way is for.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(in super::super) enum Last {
        /// It is this user's alone.
        Own,
        /// It leads to another.
        OnTheWay,
        /// It is a file that this user or root has installed.
        Installed,
    }

    fn user() -> u32 {
        // SAFETY: it has no conditions.
        unsafe { libc::geteuid() }
    }

    /// Why something that is this user's alone is not.
    fn own(metadata: &Metadata) -> Result<(), Distrust> {
        if metadata.uid() != user() {
            return Err(Distrust::Owner { user: metadata.uid() });
        }
        match metadata.mode() & OTHERS {
            0 => Ok(()),
            _ => Err(Distrust::Writable { mode: metadata.mode() & 0o7777 }),
        }
    }

    /// Why a folder that leads to others is not trusted.
    fn on_the_way(metadata: &Metadata) -> Result<(), Distrust> {
        let mode = metadata.mode() & 0o7777;
        if ![0, user()].contains(&metadata.uid()) {
            Err(Distrust::Owner { user: metadata.uid() })
        } else if mode & OTHERS != 0 && mode & STICKY == 0 {
            Err(Distrust::Writable { mode })
        } else {
            Ok(())
        }
    }

    /// Looks at each folder on the way to one, from the root. Whether it is there; `false` where all above are trusted.
    pub(in super::super) fn walk(folder: &Path, last: Last) -> Result<bool, Finding> {
        let parts =
            |path: &Path| -> Vec<OsString> { path.components().map(|part| part.as_os_str().to_owned()).collect() };
        let mut left: VecDeque<OsString> = parts(folder).into();
        let (mut at, mut links) = (PathBuf::new(), 0);
        while let Some(part) = left.pop_front() {
            match Path::new(&part).components().next() {
                Some(Component::ParentDir) => _ = at.pop(),
                Some(Component::CurDir) => {}
                _ => at.push(&part),
            }
            let metadata = match fs::symlink_metadata(&at) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return finding(&at, error),
            };
            let is_own = last == Last::Own && left.is_empty();
            let is_installed = last == Last::Installed && left.is_empty();
            let checked = match metadata.file_type() {
                kind if kind.is_symlink() => {
                    links += 1;
                    let target = fs::read_link(&at).or_else(|error| finding(&at, error))?;
                    for part in parts(&target).into_iter().rev() {
                        left.push_front(part);
                    }
                    let place = at.clone();
                    at.pop();
                    if links > LINKS {
                        return finding(&place, Distrust::Kind);
                    }
                    if [0, user()].contains(&metadata.uid()) {
                        continue;
                    }
                    return finding(&place, Distrust::Owner { user: metadata.uid() });
                }
                kind if is_installed && kind.is_file() => installed(&metadata),
                kind if !kind.is_dir() => Err(Distrust::Kind),
                _ if is_own => own(&metadata),
                _ => on_the_way(&metadata),
            };
            if let Err(reason) = checked {
                return finding(&at, reason);
            }
        }
        Ok(true)
    }

    /// Whether a folder that lies in a trusted one is this user's alone; `None` where there is nothing.
    pub(in super::super) fn own_folder(path: &Path) -> Result<Option<()>, Distrust> {
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        if metadata.is_dir() { own(&metadata).map(Some) } else { Err(Distrust::Kind) }
    }

    /// Opens a file that lies in a trusted folder, where it is this user's alone; `None` where there is nothing.
    pub(in super::super) fn open(path: &Path) -> Result<Option<File>, Distrust> {
        // A pipe would have the process wait for its other end.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = match File::options().read(true).custom_flags(flags).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => return Err(Distrust::Kind),
            file => file?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(Distrust::Kind);
        }
        own(&metadata).map(|()| Some(file))
    }

    /// Opens a file that this user or root has installed, where no other can exchange or write it; `None` where there is nothing.
    pub(in super::super) fn open_installed(path: &Path) -> Result<Option<File>, Finding> {
        // Through links, each of which is looked at.
        let file = match File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.or_else(|error| finding(path, error))?,
        };
        walk(path, Last::Installed)?;
        let metadata = file.metadata().or_else(|error| finding(path, error))?;
        if !metadata.is_file() {
            return finding(path, Distrust::Kind);
        }
        installed(&metadata).or_else(|reason| finding(path, reason))?;
        Ok(Some(file))
    }

    /// Why a file that is installed is not trusted.
    fn installed(metadata: &Metadata) -> Result<(), Distrust> {
        let mode = metadata.mode() & 0o7777;
        match [0, user()].contains(&metadata.uid()) {
            false => Err(Distrust::Owner { user: metadata.uid() }),
            true if mode & OTHERS != 0 => Err(Distrust::Writable { mode }),
            true => Ok(()),
        }
    }

    /// Whether something belongs to this user.
    pub(in super::super) fn is_own(metadata: &Metadata) -> bool {
        metadata.uid() == user()
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Distrust, Finding};
    use std::fs::{File, Metadata};
    use std::io;
    use std::path::Path;

    #[derive(Clone, Copy)]
    pub(in super::super) enum Last {
        Own,
        OnTheWay,
    }

    pub(in super::super) fn walk(folder: &Path, _: Last) -> Result<bool, Finding> {
        Ok(folder.is_dir())
    }

    pub(in super::super) fn own_folder(path: &Path) -> Result<Option<()>, Distrust> {
        Ok(path.is_dir().then_some(()))
    }

    pub(in super::super) fn open(path: &Path) -> Result<Option<File>, Distrust> {
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => Ok(Some(file?)),
        }
    }

    pub(in super::super) fn open_installed(path: &Path) -> Result<Option<File>, Finding> {
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => file.map(Some).map_err(|error| Finding::of(path, error)),
        }
    }

    pub(in super::super) fn is_own(_: &Metadata) -> bool {
        true
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn every_folder_on_the_way_counts() {
        let place = tempfile::tempdir().unwrap();
        let (above, folder) = (place.path().join("above"), place.path().join("above/a/b"));
        prepare(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        for (path, bits, last_is_trusted) in
            [(&above, 0o777, false), (&above, 0o770, false), (&above, 0o1777, true), (&folder, 0o1777, false)]
        {
            mode(path, bits);
            let found = prepare(&folder);
            match last_is_trusted {
                true => assert_eq!(found, Ok(())),
                false => {
                    let expected = Finding { path: path.clone(), reason: Distrust::Writable { mode: bits } };
                    assert_eq!(found, Err(expected));
                }
            }
            mode(path, 0o755);
        }
        // Nothing is made below what is not trusted.
        mode(&above, 0o777);
        assert!(prepare(&above.join("c/d")).is_err());
        assert!(!above.join("c").exists());
    }

    #[test]
    fn links_are_followed_through_trusted_folders() {
        let place = tempfile::tempdir().unwrap();
        let (real, link) = (place.path().join("real"), place.path().join("link"));
        prepare(&real).unwrap();
        symlink(&real, &link).unwrap();
        symlink("link", place.path().join("again")).unwrap();
        prepare(&place.path().join("again/../again/./x")).unwrap();
        assert!(real.join("x").is_dir());
        mode(&real, 0o777);
        let found = prepare(&link.join("x"));
        assert_eq!(found, Err(Finding { path: real, reason: Distrust::Writable { mode: 0o777 } }));
        let turn = place.path().join("turn");
        symlink(&turn, &turn).unwrap();
        assert_eq!(prepare(&turn).unwrap_err().reason, Distrust::Kind);
        fs::write(place.path().join("file"), "").unwrap();
        assert_eq!(prepare(&place.path().join("file/x")).unwrap_err().reason, Distrust::Kind);
    }

    #[test]
    fn files_are_opened_as_they_are() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        assert!(matches!(open(&file), Ok(None)));
        drop(crate::unfinished::create_private(&file).unwrap());
        assert!(matches!(open(&file), Ok(Some(_))));
        mode(&file, 0o660);
        assert!(matches!(open(&file), Err(Distrust::Writable { mode: 0o660 })));
        symlink(&file, &link).unwrap();
        assert!(matches!(open(&link), Err(Distrust::Kind)));
        assert!(matches!(open(place.path()), Err(Distrust::Kind)));
    }

    #[test]
    fn what_is_installed_is_the_users_or_roots() {
        let place = tempfile::tempdir().unwrap();
        let (folder, link) = (place.path().join("folder"), place.path().join("link"));
        let file = folder.join("spc.catalogue");
        fs::create_dir(&folder).unwrap();
        mode(&folder, 0o755);
        assert!(matches!(open_installed(&file), Ok(None)));
        fs::write(&file, "").unwrap();
        mode(&file, 0o644);
        symlink(&file, &link).unwrap();
        assert!(matches!((open_installed(&file), open_installed(&link)), (Ok(Some(_)), Ok(Some(_)))));
        let refused = |path: &Path| open_installed(path).err().map(|finding| (finding.path, finding.reason));
        mode(&file, 0o666);
        assert_eq!(refused(&link), Some((file.clone(), Distrust::Writable { mode: 0o666 })));
        mode(&file, 0o644);
        mode(&folder, 0o777);
        assert_eq!(refused(&file), Some((folder.clone(), Distrust::Writable { mode: 0o777 })));
        mode(&folder, 0o755);
        if std::os::unix::fs::chown(&file, Some(4321), None).is_ok() {
            assert_eq!(refused(&file), Some((file.clone(), Distrust::Owner { user: 4321 })));
        }
    }
}
