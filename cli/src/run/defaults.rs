//! The default formats of inputs: those of their files.
//!
//! | file | stored as |
//! |---|---|
//! | `.tns`, `coordinate` in `.mtx`, sparse in `.npz` | `[compressed]`, `csr`, or `csf` of order three and more |
//! | `.spct` | the format of the file |
//! | `.npy`, `array` in `.mtx`, a plain array in `.npz`; `random`, `ones` | `dense` |
//!
//! A fill value that the file states is that of the format.

use super::inputs::Given;
use crate::arguments::{KernelArguments, Named};
use crate::failure::Failure;
use crate::source::{self, Known, Source, is_file};
use crate::{files, names};
use spc::io::{Layout, TensorFile};
use spc_compiler::notation::read_by;
use spc_compiler::syntax;

/// Reads a kernel of which the inputs are known; also tells, a line each, which of them are stored as their files are.
pub(crate) fn load(arguments: &KernelArguments, inputs: &[Given]) -> Result<(Source, Vec<String>), Failure> {
    let text = match is_file(&arguments.program) {
        true => files::program_text(&arguments.program)?,
        false => arguments.program.clone(),
    };
    // A program declares its formats; what is wrong with the text is told when it is loaded.
    let known = known(inputs)?;
    let Ok(statement) = source::statement(&text, &known) else {
        return Ok((Source::of_inputs(arguments, &known)?, Vec::new()));
    };
    let mut arguments = arguments.clone();
    let mut notes = Vec::new();
    for (name, order) in read_by(&statement) {
        let Some(input) = inputs.iter().find(|input| input.name == name) else { continue };
        notes.extend(complex(input, order, &mut arguments.formats)?);
        let Some(default) = default(input, order)? else { continue };
        match arguments.formats.iter_mut().find(|format| format.name == name) {
            None => arguments.formats.push(Named { name: name.clone(), text: default.format.clone() }),
            // An element type alone.
            Some(given) => match syntax::parse_parameter_format(&given.text) {
                Ok((Some(_), None)) => given.text = format!("{} {}", given.text, default.format),
                _ => continue,
            },
        }
        let Default { format, reason } = default;
        notes.push(format!("`{name}` is stored as {format}, {reason}; `-f {name}=dense` stores every element"));
    }
    match Source::of_inputs(&arguments, &known) {
        Ok(source) => {
            notes.extend(source.inferred.iter().cloned());
            Ok((source, notes))
        }
        Err(failure) => Err(notes.iter().fold(failure, Failure::help)),
    }
}

/// Gives an input of which no option says the element type the complex one of its file; says so.
fn complex(input: &Given, order: usize, formats: &mut Vec<Named>) -> Result<Option<String>, Failure> {
    let Some(file) = input.file() else { return Ok(None) };
    let Some(element) = file.element()?.filter(|element| element.is_complex()) else { return Ok(None) };
    let name = &input.name;
    match formats.iter_mut().find(|format| format.name == *name) {
        None if order == 0 => formats.push(Named { name: name.clone(), text: element.to_string() }),
        None if default(input, order)?.is_none() => {
            formats.push(Named { name: name.clone(), text: format!("{element} dense") });
        }
        // Its format is added.
        None => formats.push(Named { name: name.clone(), text: element.to_string() }),
        Some(given) => match syntax::parse_parameter_format(&given.text) {
            Ok((None, Some(_))) => given.text = format!("{element} {}", given.text),
            _ => return Ok(None),
        },
    }
    Ok(Some(format!("`{name}` has elements of type {element}, as {}", file.path().display())))
}

/// The names of inputs, and how many modes the tensors in their files have.
fn known(inputs: &[Given]) -> Result<Vec<Known>, Failure> {
    let order = |input: &Given| input.file().map_or(Ok(None), TensorFile::order);
    inputs.iter().map(|input| Ok((input.name.clone(), order(input)?))).collect()
}

/// A format, and why it is taken.
pub(crate) struct Default {
    pub(crate) format: String,
    pub(crate) reason: String,
}

/// The default format of an input of that order; nothing for what is dense.
fn default(input: &Given, order: usize) -> Result<Option<Default>, Failure> {
    let Some(file) = input.file().filter(|_| order > 0) else { return Ok(None) };
    let Some(Default { format, reason }) = default_format(file, order)? else { return Ok(None) };
    let filled = file.fill()?.filter(|fill| fill != "0").map(|fill| format!("{format} fill {fill}"));
    let filled = filled.filter(|format| syntax::parse_parameter_format(format).is_ok());
    Ok(Some(Default { format: filled.unwrap_or(format), reason }))
}

/// The same of a file, without a fill value.
pub(crate) fn default_format(file: &TensorFile, order: usize) -> Result<Option<Default>, Failure> {
    let path = file.path().display();
    let (format, reason) = match file.layout()? {
        Layout::Entries => {
            let format = match order {
                1 => "[compressed]",
                2 => "csr",
                _ => "csf",
            };
            (format.to_owned(), format!("since {path} lists entries"))
        }
        Layout::Packed(format) if !format.is_dense() => (names::of_format(&format), format!("the format of {path}")),
        _ => return Ok(None),
    };
    Ok(Some(Default { format, reason }))
}
