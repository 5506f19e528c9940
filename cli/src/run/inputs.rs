//! What `-i` options say.

use crate::arguments::NamedFile;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use spc::complex::{c32, c64};
use spc::execute::{AssumedExtent, Entries, Operand};
use spc::io::{self, Contents, Filled, ReadOptions, TensorFile};
use spc::tensor::{AnyTensor, Coordinates, Element, Scalar, Tensor};
use spc::with_element;
use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::{ElementType, Literal};
use spc_compiler::notation::{Kernel, Role, Tensor as Parameter};
use std::ffi::OsStr;
use std::path::Path;

/// Reads all inputs.
pub(crate) fn read(
    kernel: &Kernel,
    inputs: &[NamedFile],
    progress: &Progress,
) -> Result<Vec<(String, Operand)>, Failure> {
    let mut operands = Vec::with_capacity(inputs.len());
    for input in inputs {
        let (place, tensor) = declared(kernel, &input.name)?;
        progress.step(format!("reading {}", input.text.display()));
        operands.push((input.name.clone(), operand(tensor, place as u64, &input.text)?));
    }
    Ok(operands)
}

/// What is worth knowing of files that do not state their shape: a line each, and one where entries end before the extent does.
pub(crate) fn notes(inputs: &[NamedFile], assumed: &[AssumedExtent]) -> Vec<String> {
    let mut notes = Vec::new();
    for modes in assumed.chunk_by(|a, b| a.tensor == b.tensor) {
        let name = &modes[0].tensor;
        let Some(input) = inputs.iter().find(|input| input.name == *name) else { continue };
        if modes.iter().any(|mode| !mode.is_stated) {
            let shape: Vec<usize> = modes.iter().map(|mode| mode.largest).collect();
            let note = without_shape(Path::new(&input.text), &shape);
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        for mode in modes.iter().filter(|mode| mode.largest < mode.extent) {
            let from = match &mode.by {
                Some(other) => format!(", from `{other}`"),
                None if mode.is_stated => ", as stated".to_owned(),
                None => String::new(),
            };
            let (number, AssumedExtent { largest, extent, .. }) = (mode.mode + 1, mode);
            let reach = if *largest == 0 { "no entries".to_owned() } else { format!("indices up to {largest}") };
            notes.push(format!("`{name}` has {reach} in mode {number}, and the extent is {extent}{from}"));
        }
    }
    notes
}

/// What is said of a file that does not state its shape.
pub(crate) fn without_shape(file: &Path, shape: &[usize]) -> String {
    let (file, shape) = (file.display(), output::shape(shape));
    format!("{file} states no shape: extents are the largest indices, {shape}")
}

/// The parameter of that name, and its place.
fn declared<'a>(kernel: &'a Kernel, name: &str) -> Result<(usize, &'a Parameter), Failure> {
    let inputs = || kernel.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::Input);
    if let Some(found) = inputs().find(|(_, tensor)| tensor.name == name) {
        return Ok(found);
    }
    let names = || inputs().map(|(_, tensor)| tensor.name.as_str());
    let failure = Failure::refused(format!("`{}` has no parameter `{name}`", kernel.name));
    Err(match suggest::similar(name, names()) {
        Some(similar) => failure.help(format!("did you mean `{similar}`?")),
        None => failure.help(format!("its parameters are {}", names().collect::<Vec<_>>().join(", "))),
    })
}

fn operand(tensor: &Parameter, place: u64, source: &OsStr) -> Result<Operand, Failure> {
    let Some(text) = source.to_str() else { return file(tensor, Path::new(source)) };
    match text.split_once(':') {
        // Operands without a seed of their own differ from each other.
        None if text == "random" => return Ok(Operand::Random { seed: place }),
        None if text == "ones" => return Ok(Operand::Ones),
        Some(("random", seed)) => {
            let seed = seed.parse().map_err(|_| {
                Failure::refused(format!("`{seed}` is not a seed for `{}`: a whole number from 0 on", tensor.name))
            })?;
            return Ok(Operand::Random { seed });
        }
        _ => {}
    }
    if let Some(number) = scalar(tensor.element, text)
        && !Path::new(text).exists()
    {
        return match tensor.format.order {
            0 => Ok(number),
            order => {
                let message = format!("`{}` is a tensor of order {order}, and {text} is a number", tensor.name);
                Err(Failure::refused(message)
                    .help("a number is the value of a scalar; give a file, `random` or `ones`"))
            }
        };
    }
    file(tensor, Path::new(text))
}

/// A number, or for parameters of those types `true`, `false` or `1+2i`.
fn scalar(element: ElementType, text: &str) -> Option<Operand> {
    fn of<T: Element>(value: T) -> Operand {
        AnyTensor::from(Tensor::<T, Scalar>::from(value)).into()
    }
    match element {
        ElementType::Bool if matches!(text, "true" | "false") => Some(of(text == "true")),
        ElementType::C32 => text.parse::<c32>().ok().map(of),
        ElementType::C64 => text.parse::<c64>().ok().map(of),
        // A `f64` does not hold every one of these.
        ElementType::I64 if text.parse::<i64>().is_ok() => text.parse::<i64>().ok().map(of),
        _ => text.parse::<f64>().ok().map(Operand::Scalar),
    }
}

fn file(tensor: &Parameter, path: &Path) -> Result<Operand, Failure> {
    fn of<T: io::Value>(file: &TensorFile, order: usize, path: &Path) -> Result<Operand, Failure>
    where
        Entries: From<Coordinates<T>>,
    {
        Ok(match file.contents_of_order::<T>(order)? {
            Contents::Tensor(tensor) => Operand::Tensor(tensor),
            Contents::Entries(Filled { entries, fill: None }) => Operand::Entries(entries.into()),
            Contents::Entries(Filled { entries, fill: Some(fill) }) => {
                Operand::Filled(entries.into(), literal(fill, path)?)
            }
        })
    }
    let file = TensorFile::open(path, &ReadOptions::default())?;
    with_element!(tensor.element, |T| of::<T>(&file, tensor.format.order, path))
}

/// The fill value that a file states.
pub(crate) fn literal<T: Element>(fill: T, path: &Path) -> Result<Literal, Failure> {
    fill.literal().ok_or_else(|| {
        let message = format!("{}: the fill value is {fill}, but it must be a real number", path.display());
        Failure::refused(message)
    })
}
