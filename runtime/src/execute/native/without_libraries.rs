//! What stands for libraries on a system that loads none, as a browser: none can be opened.

use libloading::Error;
use std::path::Path;

/// A library in this process: there is none.
pub(super) enum Library {}

impl Library {
    /// Opens none.
    ///
    /// # Safety
    /// It does nothing.
    pub(super) unsafe fn new(_: impl AsRef<Path>) -> Result<Self, Error> {
        Err(Error::IncompatibleSize)
    }

    /// Nothing is called so.
    ///
    /// # Safety
    /// There is no library to ask.
    pub(super) unsafe fn get<T>(&self, _: &[u8]) -> Result<&T, Error> {
        match *self {}
    }
}
