//! What `-i` options say.

use crate::arguments::Named;
use crate::failure::Failure;
use crate::progress::Progress;
use spc::complex::{c32, c64};
use spc::execute::{Entries, Operand};
use spc::io::{self, FileType, ReadOptions};
use spc::tensor::{AnyTensor, Element, Scalar, Tensor};
use spc::with_element;
use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::ElementType;
use spc_compiler::notation::{Kernel, Role, Tensor as Parameter};
use std::path::Path;

/// Reads all inputs.
pub(crate) fn read(kernel: &Kernel, inputs: &[Named], progress: &Progress) -> Result<Vec<(String, Operand)>, Failure> {
    let mut operands = Vec::with_capacity(inputs.len());
    for input in inputs {
        let (place, tensor) = declared(kernel, &input.name)?;
        progress.step(format!("reading {}", input.text));
        operands.push((input.name.clone(), operand(tensor, place as u64, &input.text)?));
    }
    Ok(operands)
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

fn operand(tensor: &Parameter, place: u64, text: &str) -> Result<Operand, Failure> {
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
    file(tensor, text)
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

fn file(tensor: &Parameter, path: &str) -> Result<Operand, Failure> {
    let options = ReadOptions::default();
    if let Some((FileType::Npy | FileType::Spct, _)) = FileType::of(path) {
        let packed: AnyTensor = io::read_tensor(path, &options)?;
        if packed.element() == tensor.element {
            return Ok(packed.into());
        }
    }
    match entries(tensor.element, path, &options) {
        Ok(entries) => Ok(Operand::Entries(entries)),
        // A file of entries that has none does not say its order, but the parameter does.
        Err(failure) => {
            let nothing = ReadOptions { shape: Some(vec![0; tensor.format.order]), ..options };
            let empty = entries(tensor.element, path, &nothing).ok().filter(Entries::is_empty).ok_or(failure)?;
            Ok(Operand::Entries(empty.with_least_shape()))
        }
    }
}

/// Reads the entries of a file as elements of a type.
pub(crate) fn entries(element: ElementType, path: &str, options: &ReadOptions) -> Result<Entries, Failure> {
    Ok(with_element!(element, |T| io::read::<T>(path, options)?.into()))
}
