//! What stands for `.npz` files where the feature `npz` is off.

use std::io::{self, Write};

use spc_compiler::ir::ElementType;

use super::contents::Contents;
use super::value::Carrier;
use super::write::Listed;
use super::{ReadError, ReadErrorKind};
use crate::tensor::AnyTensor;

const MESSAGE: &str = "`.npz` files need the feature `npz` of the crate `spc`";

pub(super) struct Description {
    pub(super) element: ElementType,
    pub(super) is_sparse: bool,
    /// How many modes it has, where the archive says.
    pub(super) order: Option<usize>,
}

fn refused<R>() -> Result<R, ReadError> {
    Err(ReadError::new(ReadErrorKind::NotSupported, MESSAGE))
}

pub(super) fn check_magic(_head: &[u8]) -> Result<(), ReadError> {
    refused()
}

pub(super) fn description(_file: &[u8], _array: Option<&str>) -> Result<Description, ReadError> {
    refused()
}

pub(super) fn parse<T: Carrier>(
    _file: &[u8],
    _element: ElementType,
    _array: Option<&str>,
) -> Result<Contents<T>, ReadError> {
    refused()
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

pub(super) fn write_tensor(_out: &mut dyn Write, _tensor: &AnyTensor) -> io::Result<()> {
    Err(super::write::invalid(MESSAGE.to_owned()))
}

pub(super) fn write_entries(_out: &mut dyn Write, _entries: &Listed<'_>) -> io::Result<()> {
    Err(super::write::invalid(MESSAGE.to_owned()))
}
