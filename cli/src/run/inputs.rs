//! What `-i` options say.

use crate::arguments::NamedFile;
use crate::failure::Failure;
use crate::files::{InputKind, STDIN};
use crate::progress::Progress;
use crate::{names, output};
use spc::complex::{c32, c64};
use spc::distribute::{Placement, SharedFile};
use spc::execute::{AssumedExtent, Entries, Operand};
use spc::io::{self, Contents, FileType, Filled, StoredTensor, TensorFile};
use spc::tensor::{AnyTensor, Coordinates, Element, Scalar, Tensor};
use spc::with_element;
use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::{ElementType, Literal};
use spc_compiler::notation::{Kernel, Role, Tensor as Parameter};
use std::path::Path;

/// An input, and where it comes from.
pub(crate) struct Given {
    pub(crate) name: String,
    origin: Origin,
}

enum Origin {
    /// With a seed as it is written, if there is one.
    Random(Option<String>),
    Ones,
    /// A number, `true`, `false` or `1+2i`, as it is written.
    Number(String),
    File(TensorFile),
}

impl Given {
    /// The file, if it is one.
    pub(super) fn file(&self) -> Option<&TensorFile> {
        if let Origin::File(file) = &self.origin { Some(file) } else { None }
    }
}

/// Finds out where inputs come from. Of a file as much is read as says how it stores its tensor.
pub(crate) fn open(inputs: &[NamedFile], from: InputKind) -> Result<Vec<Given>, Failure> {
    inputs.iter().map(|input| Ok(Given { name: input.name.clone(), origin: origin(input, from)? })).collect()
}

fn origin(input: &NamedFile, from: InputKind) -> Result<Origin, Failure> {
    let is_there = Path::new(&input.text).exists();
    let Some(text) = input.text.to_str().filter(|_| !is_there) else {
        return from.begin(&input.text).map(Origin::File);
    };
    match text.split_once(':') {
        None if text == "random" => return Ok(Origin::Random(None)),
        None if text == "ones" => return Ok(Origin::Ones),
        Some(("random", seed)) => return Ok(Origin::Random(Some(seed.to_owned()))),
        _ => {}
    }
    if ElementType::ALL.into_iter().any(|element| scalar(element, text).is_some()) {
        return Ok(Origin::Number(text.to_owned()));
    }
    let known = FileType::of(text).is_some() || from.from.is_some() || text.contains(['/', '.', ':']) || text == "-";
    if !known && suggest::similar(text, GENERATED).is_some() {
        let message = format!("there is no file `{text}` for `{}`", input.name);
        return Err(names::unknown(message, text, GENERATED, "a number, a file, or one of"));
    }
    from.begin(&input.text).map(Origin::File)
}

/// What inputs are filled with.
const GENERATED: [&str; 2] = ["random", "ones"];

/// An input that comes in parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct InParts<'a> {
    pub(super) name: &'a str,
    /// What is larger is not read as a whole.
    pub(super) memory: u64,
    /// Whether it is in memory if it can be: from there it is copied to a device sooner than from a file.
    pub(super) in_memory: bool,
}

/// Reads all inputs.
pub(crate) fn read(
    kernel: &Kernel,
    inputs: Vec<Given>,
    progress: &Progress,
) -> Result<Vec<(String, Operand)>, Failure> {
    read_but(kernel, inputs, None, progress)
}

/// Reads all inputs but for one that comes in parts, which are read when they are needed.
pub(super) fn read_but(
    kernel: &Kernel,
    inputs: Vec<Given>,
    in_parts: Option<InParts<'_>>,
    progress: &Progress,
) -> Result<Vec<(String, Operand)>, Failure> {
    let mut operands = Vec::with_capacity(inputs.len());
    for input in inputs {
        let (place, tensor) = declared(kernel, &input.name)?;
        if let Some(file) = input.file() {
            progress.step(format!("reading {}", file.path().display()));
            if let Some(in_parts) = in_parts.filter(|in_parts| in_parts.name == input.name)
                && let Some(stored) = stored(file, tensor, in_parts)?
            {
                operands.push((input.name, stored.into()));
                continue;
            }
        }
        operands.push((input.name, operand(tensor, place as u64, input.origin)?));
    }
    Ok(operands)
}

/// A file that is read in parts: as it is declared, or too large to be read otherwise.
fn stored(file: &TensorFile, tensor: &Parameter, in_parts: InParts<'_>) -> Result<Option<StoredTensor>, Failure> {
    let is_plain = matches!(FileType::of(file.path()), None | Some((_, false)));
    if file.file_type() != FileType::Spct || !is_plain || !file.path().is_file() {
        return Ok(None);
    }
    let stored = StoredTensor::open(file.path())?;
    let is_declared = *stored.format() == tensor.format && stored.element() == tensor.element;
    let is_large = stored.bytes() > in_parts.memory;
    Ok((is_large || is_declared && !in_parts.in_memory).then_some(stored))
}

/// Takes out the input whose entries are shared out, by a placement if one is asked for, where it is in a file of which each rank can read a
/// part.
pub(super) fn shared(
    kernel: &Kernel,
    given: &mut Vec<Given>,
    placement: Option<&Placement>,
) -> Result<Option<SharedFile>, Failure> {
    let Some(tensor) = SharedFile::input(kernel, placement) else { return Ok(None) };
    let Some(place) = given.iter().position(|given| given.name == tensor) else { return Ok(None) };
    let (_, declared) = declared(kernel, &tensor)?;
    let Some(file) = given[place].file() else { return Ok(None) };
    let shared = SharedFile::of(file, declared.element)?;
    let shared = shared.filter(|shared| shared.order() == declared.format.order);
    if shared.is_some() {
        given.remove(place);
    }
    Ok(shared)
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
    let file = if file == Path::new("-") { Path::new(STDIN) } else { file };
    let (file, shape) = (file.display(), output::shape(shape));
    format!("{file} states no shape: extents are the largest indices, {shape}")
}

/// The parameter of that name, and its place.
pub(super) fn declared<'a>(kernel: &'a Kernel, name: &str) -> Result<(usize, &'a Parameter), Failure> {
    let inputs = || kernel.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::Input);
    if let Some(found) = inputs().find(|(_, tensor)| tensor.name == name) {
        return Ok(found);
    }
    let names = inputs().map(|(_, tensor)| tensor.name.as_str());
    let message = format!("`{}` has no parameter `{name}`", kernel.name);
    Err(names::unknown(message, name, names, "its parameters are"))
}

fn operand(tensor: &Parameter, place: u64, origin: Origin) -> Result<Operand, Failure> {
    match origin {
        // Operands without a seed of their own differ from each other.
        Origin::Random(None) => Ok(Operand::Random { seed: place }),
        Origin::Random(Some(seed)) => {
            let seed = seed.parse().map_err(|_| {
                Failure::refused(format!("`{seed}` is not a seed for `{}`: a whole number from 0 on", tensor.name))
            })?;
            Ok(Operand::Random { seed })
        }
        Origin::Ones => Ok(Operand::Ones),
        Origin::Number(text) if tensor.format.order > 0 => {
            let order = tensor.format.order;
            let message = format!("`{}` is a tensor of order {order}, and {text} is a number", tensor.name);
            Err(Failure::refused(message).help("a number is the value of a scalar; give a file, `random` or `ones`"))
        }
        Origin::Number(text) => scalar(tensor.element, &text).ok_or_else(|| {
            Failure::refused(format!("{text} is no value of `{}`, which is {}", tensor.name, tensor.element.name()))
        }),
        Origin::File(file) => {
            let order = tensor.format.order;
            // An array of indices is a file of integers, or of the entries that it stands for.
            match tensor.format.is_map() && file.order()?.is_some_and(|of_file| of_file + 1 == order) {
                true => of_file(&file, ElementType::I64, Some(order - 1)),
                false => of_file(&file, tensor.element, Some(order)),
            }
        }
    }
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
        ElementType::U64 if text.parse::<u64>().is_ok() => text.parse::<u64>().ok().map(of),
        _ => text.parse::<f64>().ok().map(Operand::Scalar),
    }
}

/// What a file holds, for a parameter of that element type and order, if the order is known.
pub(crate) fn of_file(file: &TensorFile, element: ElementType, order: Option<usize>) -> Result<Operand, Failure> {
    fn of<T: io::Value>(file: &TensorFile, order: Option<usize>) -> Result<Operand, Failure>
    where
        Entries: From<Coordinates<T>>,
    {
        let contents = match order {
            Some(order) => file.contents_of_order::<T>(order)?,
            None => file.contents::<T>()?,
        };
        Ok(match contents {
            Contents::Tensor(tensor) => Operand::Tensor(tensor),
            Contents::Entries(Filled { entries, fill: None }) => Operand::Entries(entries.into()),
            Contents::Entries(Filled { entries, fill: Some(fill) }) => {
                Operand::Filled(entries.into(), literal(fill, file.path())?)
            }
        })
    }
    with_element!(element, |T| of::<T>(file, order))
}

/// The fill value that a file states.
pub(crate) fn literal<T: Element>(fill: T, path: &Path) -> Result<Literal, Failure> {
    fill.literal().ok_or_else(|| {
        let message = format!("{}: the fill value is {fill}, but it must be a real number", path.display());
        Failure::refused(message)
    })
}
