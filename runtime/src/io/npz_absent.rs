//! The kind `.npz` where the feature `npz` is off.

use std::io::{self, Write};

use super::contents::Loaded;
use super::kind::{Asked, Description, Kind, Writer};
use super::write::Listed;
use super::{ReadError, ReadErrorKind};
use crate::tensor::AnyTensor;

const MESSAGE: &str = "`.npz` files need the feature `npz` of the crate `spc`";

/// The kind of file.
pub(super) struct Npz;

impl Kind for Npz {
    fn begins(&self, _head: &[u8]) -> bool {
        false
    }

    fn check_start(&self, _head: &[u8]) -> Result<(), ReadError> {
        refused()
    }

    fn has_head(&self) -> bool {
        false
    }

    fn has_members(&self) -> bool {
        true
    }

    fn describe(&self, _file: &[u8], _member: Option<&str>) -> Result<Description, ReadError> {
        refused()
    }

    fn read(&self, _file: &[u8], _asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        refused()
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Npz {
    fn write_entries(&self, _out: &mut dyn Write, _entries: &Listed<'_>) -> io::Result<()> {
        Err(super::write::invalid(MESSAGE.to_owned()))
    }

    fn write_tensor(&self, _out: &mut dyn Write, _tensor: &AnyTensor) -> io::Result<()> {
        Err(super::write::invalid(MESSAGE.to_owned()))
    }

    fn keeps_format(&self) -> bool {
        true
    }
}

fn refused<R>() -> Result<R, ReadError> {
    Err(ReadError::new(ReadErrorKind::NotSupported, MESSAGE))
}

pub(super) fn names(_file: &[u8]) -> Result<Vec<String>, ReadError> {
    refused()
}

pub(super) fn array(_file: &[u8], _name: &str) -> Result<AnyTensor, ReadError> {
    refused()
}

pub(super) fn write_arrays(_out: &mut dyn Write, _arrays: &[(String, &AnyTensor)]) -> io::Result<()> {
    Err(super::write::invalid(MESSAGE.to_owned()))
}
