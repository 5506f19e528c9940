//! Libraries into this process.

use super::abi::{self, Entry};
use super::{Library, NativeError, text};
use crate::execute::cache::LibraryFile;

/// Loads a library of so many kernels for good.
pub(super) fn load(file: &LibraryFile, count: usize) -> Result<Vec<Entry>, NativeError> {
    let failure = |source| NativeError::Load { path: file.path.clone(), source };
    let library = open(file).map_err(failure)?;
    // SAFETY: the library's text defines this symbol with this type.
    let version = unsafe { library.get::<*const u32>(text::VERSION.as_bytes()) }.map_err(failure)?;
    // SAFETY: the symbol is the address of a constant, which is there as long as the library is.
    let version = unsafe { version.read() };
    if version != abi::VERSION {
        return Err(NativeError::Version { path: file.path.clone(), version });
    }
    let mut entries = Vec::with_capacity(count);
    for place in 0..count {
        // SAFETY: the library's text defines this symbol for each of its kernels with the type `Entry`, by the same file
        // `abi.rs` that defines it here, in the version that was compared.
        let entry = unsafe { library.get::<Entry>(text::entry(place).as_bytes()) }.map_err(failure)?;
        entries.push(*entry);
    }
    // The entries are used for as long as the process lives.
    std::mem::forget(library);
    Ok(entries)
}

/// Opens a library as it was read: what lies at its path may be another by now.
fn open(file: &LibraryFile) -> Result<Library, libloading::Error> {
    #[cfg(target_os = "linux")]
    if let Ok(copy) = sealed::Copy::of(&file.bytes)
        // SAFETY: as below; the copy can't be changed.
        && let Ok(library) = unsafe { Library::new(copy.path()) }
    {
        return Ok(library);
    }
    // SAFETY: the file is what rustc made of `text::library`, by its checksum, in a folder that only this user can write to.
    // Such a library does nothing when it is loaded.
    unsafe { Library::new(&file.path) }
}

#[cfg(target_os = "linux")]
mod sealed {
    use std::fs::File;
    use std::io::{self, Write};
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Bytes in memory, as a file that can't be changed any more.
    pub(super) struct Copy(File);

    impl Copy {
        pub(super) fn of(bytes: &[u8]) -> io::Result<Copy> {
            // SAFETY: the name ends with zero.
            let descriptor =
                unsafe { libc::memfd_create(c"spc_kernel".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the descriptor was made above, and no one else owns it.
            let mut file = unsafe { File::from_raw_fd(descriptor) };
            file.write_all(bytes)?;
            let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
            // SAFETY: the descriptor is open.
            match unsafe { libc::fcntl(descriptor, libc::F_ADD_SEALS, seals) } {
                0 => Ok(Copy(file)),
                _ => Err(io::Error::last_os_error()),
            }
        }

        /// Its path in this process. The system's loader takes a path that it has seen for the library that it loaded from there,
        /// and descriptors are used again: so that no two are spelled alike, each has as many `/` and `/.` as its number says.
        pub(super) fn path(&self) -> String {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let digits = (0..usize::BITS - number.leading_zeros())
                .map(|bit| if number >> bit & 1 == 0 { "/" } else { "/." })
                .collect::<String>();
            format!("/proc/self/fd{digits}/{}", self.0.as_raw_fd())
        }
    }
}
