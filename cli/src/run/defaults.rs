//! The default formats of inputs: those of their files.
//!
//! | file | stored as |
//! |---|---|
//! | `.tns`, `coordinate` in `.mtx`, sparse in `.npz` | `[compressed]`, `csr`, or `csf` of order three and more; `dcsr` where most rows are empty, 64-bit coordinates where an extent needs them |
//! | `.spct` | the format of the file |
//! | `.npy`, `array` in `.mtx`, a plain array in `.npz`; `random`, `ones` | `dense` |
//!
//! A fill value that the file states is that of the format.

use super::inputs::Given;
use crate::arguments::{KernelArguments, Named};
use crate::failure::Failure;
use crate::source::{self, Known, Source, is_file};
use crate::{files, names};
use spc::execute::{Entries, Operand};
use spc::io::{Layout, TensorFile};
use spc_compiler::notation::{Read, read_by};
use spc_compiler::syntax;

/// A kernel of which the inputs are known, before they are read.
pub(crate) struct Loaded {
    arguments: KernelArguments,
    known: Vec<Known>,
    source: Source,
    /// Inputs that are stored as their files are.
    defaults: Vec<Defaulted>,
    notes: Vec<String>,
}

/// An input of which no option says how it is stored.
struct Defaulted {
    name: String,
    order: usize,
    default: Default,
    /// Whether the file lists entries: how many of them decides then.
    lists_entries: bool,
}

/// Reads a kernel of which the inputs are known.
pub(crate) fn load(arguments: &KernelArguments, inputs: &[Given]) -> Result<Loaded, Failure> {
    let text = match is_file(&arguments.program) {
        true => files::program_text(&arguments.program)?,
        false => arguments.program.clone(),
    };
    // A program declares its formats; what is wrong with the text is told when it is loaded.
    let known = known(inputs)?;
    let mut arguments = arguments.clone();
    let (mut defaults, mut notes) = (Vec::new(), Vec::new());
    let read = source::statement(&text, &known).map(|statement| read_by(&statement)).unwrap_or_default();
    for Read { name, order, .. } in read.into_iter().filter(|read| !read.is_index) {
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
        let layout = input.file().map(TensorFile::layout).transpose()?;
        let lists_entries = matches!(layout, Some(Layout::Entries));
        defaults.push(Defaulted { name, order, default, lists_entries });
    }
    match Source::without_warnings(&arguments, &known) {
        Ok(source) => Ok(Loaded { arguments, known, source, defaults, notes }),
        Err(failure) => {
            let notes = notes.into_iter().chain(defaults.iter().map(Defaulted::note));
            Err(notes.fold(failure, Failure::help))
        }
    }
}

impl Loaded {
    /// The kernel, with formats by the kinds of files.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The kernel with formats by what was read, and what is to be said of them, a line each.
    pub(crate) fn fitted(mut self, operands: &[(String, Operand)]) -> Result<(Source, Vec<String>), Failure> {
        let mut has_changed = false;
        for input in self.defaults.iter_mut().filter(|input| input.lists_entries) {
            let operand = operands.iter().find(|(name, _)| *name == input.name).map(|(_, operand)| operand);
            let Some(Operand::Entries(entries) | Operand::Filled(entries, _)) = operand else { continue };
            let Some(fitted) = fitted(input.order, entries) else { continue };
            let Some(given) = self.arguments.formats.iter_mut().find(|given| given.name == input.name) else {
                continue;
            };
            given.text = given.text.replacen(plain(input.order), &fitted.format, 1);
            input.default = fitted;
            has_changed = true;
        }
        if has_changed {
            self.source = Source::without_warnings(&self.arguments, &self.known)?;
        }
        self.source.warn(self.arguments.strict)?;
        self.notes.extend(self.defaults.iter().map(Defaulted::note));
        self.notes.extend(self.source.inferred.iter().cloned());
        Ok((self.source, self.notes))
    }
}

impl Defaulted {
    fn note(&self) -> String {
        let Self { name, default: Default { format, reason }, .. } = self;
        format!("`{name}` is stored as {format}, {reason}; `-f {name}=dense` stores every element")
    }
}

/// A matrix with more rows for each entry than this is stored with a list of its rows.
const ROWS_PER_ENTRY: usize = 8;
/// Fewer rows take no time to count.
const LEAST_ROWS: usize = 1 << 20;

/// The format for entries that do not suit the plain one: of hardly any rows, or with coordinates of more than 32 bits.
fn fitted(order: usize, entries: &Entries) -> Option<Default> {
    let (shape, count) = (entries.shape(), entries.len());
    let is_wide = |extent: &usize| u32::try_from(extent.saturating_sub(1)).is_err();
    let (first, others) = shape.split_first()?;
    let is_hypersparse = order == 2 && *first > LEAST_ROWS.max(count.saturating_mul(ROWS_PER_ENTRY));
    let lists_rows = order != 2 || is_hypersparse;
    let wide = others.iter().any(is_wide) || lists_rows && is_wide(first);
    let format = match (wide, lists_rows) {
        (false, _) if is_hypersparse => "dcsr".to_owned(),
        (false, _) => return None,
        (true, true) => format!("[{}]", vec!["compressed(u64)"; order].join(", ")),
        (true, false) => "[dense, compressed(u64)]".to_owned(),
    };
    let reason = match is_hypersparse {
        true => format!("since it has {count} entries in {first} rows"),
        false => format!("since an extent is {}", shape.iter().max().unwrap_or(first)),
    };
    Some(Default { format, reason })
}

/// Gives an input of which no option says the element type the complex one of its file; says so.
fn complex(input: &Given, order: usize, formats: &mut Vec<Named>) -> Result<Option<String>, Failure> {
    let Some(file) = input.file() else { return Ok(None) };
    let element = file.computed_element()?;
    if !element.is_complex() {
        return Ok(None);
    }
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

/// The format of entries, where nothing more is known of them.
fn plain(order: usize) -> &'static str {
    match order {
        1 => "[compressed]",
        2 => "csr",
        _ => "csf",
    }
}

/// The same of a file, without a fill value.
pub(crate) fn default_format(file: &TensorFile, order: usize) -> Result<Option<Default>, Failure> {
    let path = file.path().display();
    let (format, reason) = match file.layout()? {
        Layout::Entries => (plain(order).to_owned(), format!("since {path} lists entries")),
        Layout::Packed(format) if !format.is_dense() => (names::of_format(&format), format!("the format of {path}")),
        _ => return Ok(None),
    };
    Ok(Some(Default { format, reason }))
}
