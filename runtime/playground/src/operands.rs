//! The inputs of a run: those of the question, and small examples for the others.

use crate::messages::{Messages, Part};
use crate::numbers::{self, Entry};
use crate::question::Question;
use spc::execute::{Entries, Operand};
use spc::tensor::{Coordinates, Element, Indices};
use spc::with_element;
use spc_compiler::concrete;
use spc_compiler::ir::{ElementType, Size};
use spc_compiler::notation::{self, Kernel, Role};
use std::fmt::Write;

/// The extents of examples, in turn: small, and no two neighbours are the same.
const EXTENTS: [usize; 5] = [4, 6, 5, 3, 2];
/// The most elements of an operand, and places that loops may visit.
const MOST: usize = 1 << 18;

/// Extents by the names of their indices.
pub(crate) type Extents = Vec<(String, usize)>;

/// What a kernel is given.
pub(crate) struct Given {
    /// The extents of its inputs, and those that were asked for.
    pub(crate) extents: Extents,
    /// The entries of each input, as people write them; those that can't be read, as they were written.
    pub(crate) texts: Vec<(String, String)>,
    /// The inputs, if all can be read and are small enough.
    pub(crate) operands: Option<Vec<(String, Operand)>>,
}

/// What a kernel is given by a question.
pub(crate) fn given(
    kernel: &Kernel,
    interface: &concrete::Kernel,
    question: &Question,
    messages: &mut Messages,
) -> Given {
    let tensors: Vec<&notation::Tensor> = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input).collect();
    let written = |tensor: &notation::Tensor| question.data.get(&tensor.name).filter(|text| !text.trim().is_empty());
    let mut read: Vec<Option<Vec<Entry>>> = Vec::new();
    for tensor in &tensors {
        let entries = written(tensor).map(|text| numbers::entries(text, tensor.format.order)).transpose();
        read.push(entries.unwrap_or_else(|message| {
            messages.error(Part::Data(tensor.name.clone()), &message);
            None
        }));
    }
    let extents = extents(interface, question, &tensors, &read);
    let is_too_large = refused(&extents, messages);
    let mut texts = Vec::new();
    let mut operands = Some(Vec::new()).filter(|_| !is_too_large);
    for (number, (tensor, read)) in tensors.iter().zip(read).enumerate() {
        let shape: Vec<usize> = places(interface, tensor).iter().map(|&place| extents[place].1).collect();
        let makes_example = written(tensor).is_none() && !is_too_large;
        let Some(entries) = read.or_else(|| makes_example.then(|| example(tensor, &shape, number))) else {
            texts.push((tensor.name.clone(), written(tensor).cloned().unwrap_or_default()));
            operands = None;
            continue;
        };
        texts.push((tensor.name.clone(), text(&entries, tensor.element)));
        if let Some(operands) = &mut operands {
            let operand = with_element!(tensor.element, |T| Operand::Entries(of::<T>(&entries, &shape)));
            operands.push((tensor.name.clone(), operand));
        }
    }
    let is_read = |place: usize| tensors.iter().any(|tensor| places(interface, tensor).contains(&place));
    let named = extents
        .into_iter()
        .enumerate()
        .filter(|(place, (name, _))| is_read(*place) || question.extents.contains_key(name));
    Given { extents: named.map(|(_, named)| named).collect(), texts, operands }
}

/// The places of the extents of a tensor's modes.
fn places<'a>(interface: &'a concrete::Kernel, tensor: &notation::Tensor) -> &'a [usize] {
    let found = interface.tensors.iter().find(|other| other.name == tensor.name);
    found.map_or(&[], |found| &found.extents)
}

/// The name and the size of each extent: what is asked for, else what entries need, and no less than an example has.
fn extents(
    interface: &concrete::Kernel,
    question: &Question,
    tensors: &[&notation::Tensor],
    given: &[Option<Vec<Entry>>],
) -> Vec<(String, usize)> {
    let mut needed = vec![0; interface.extents.len()];
    for (tensor, given) in tensors.iter().zip(given) {
        for (mode, &place) in places(interface, tensor).iter().enumerate() {
            let largest = given.iter().flatten().map(|(index, _)| index[mode].saturating_add(1)).max();
            needed[place] = needed[place].max(largest.unwrap_or(0));
        }
    }
    let extent = |(place, extent): (usize, &concrete::Extent)| {
        let asked = extent.written.iter().find_map(|name| question.extents.get(name)).copied();
        let size = match extent.size {
            Size::Constant(size) => usize::try_from(size).unwrap_or(usize::MAX),
            _ => asked.unwrap_or(needed[place].max(EXTENTS[place % EXTENTS.len()])),
        };
        (extent.shown().to_owned(), size)
    };
    interface.extents.iter().enumerate().map(extent).collect()
}

/// Whether extents are more than a page can show.
fn refused(extents: &[(String, usize)], messages: &mut Messages) -> bool {
    let places = extents.iter().fold(1_usize, |all, (_, size)| all.saturating_mul((*size).max(1)));
    if places > MOST {
        let all: Vec<String> = extents.iter().map(|(name, size)| format!("{name} = {size}")).collect();
        let message = format!(
            "{} are too many places for the playground, which runs up to {MOST}: make extents smaller, or use `spc run`",
            all.join(", ")
        );
        messages.error(Part::Extents, &message);
    }
    places > MOST
}

/// An example: of a dense tensor all elements, of others some, with an empty slice and neighbours. Whole numbers, so that sums can be followed.
fn example(tensor: &notation::Tensor, shape: &[usize], number: usize) -> Vec<Entry> {
    let count = shape.iter().product::<usize>();
    let is_stored = |index: &[usize]| {
        let mixed = index.iter().enumerate().fold(number, |mixed, (mode, index)| mixed * 3 + index * (2 * mode + 5));
        tensor.format.is_dense() || index.first() != Some(&1) && mixed % 5 < 2 || index.iter().all(|&index| index == 0)
    };
    let mut found = Vec::new();
    let mut index = vec![0; shape.len()];
    for _ in 0..count {
        if is_stored(&index) {
            found.push((index.clone(), (found.len() % 9 + 1) as f64));
        }
        for (place, extent) in index.iter_mut().zip(shape).rev() {
            *place += 1;
            if *place < *extent {
                break;
            }
            *place = 0;
        }
    }
    found
}

/// Entries as people write them.
fn text(entries: &[Entry], element: ElementType) -> String {
    let mut text = String::new();
    for (index, value) in entries {
        index.iter().for_each(|index| _ = write!(text, "{index} "));
        _ = match element {
            ElementType::Bool => writeln!(text, "{}", *value != 0.0),
            _ => writeln!(text, "{value}"),
        };
    }
    text
}

fn of<T: Element>(entries: &[Entry], shape: &[usize]) -> Entries
where
    Entries: From<Coordinates<T>>,
{
    let column = |mode: usize| Indices::U64(entries.iter().map(|(index, _)| index[mode] as u64).collect());
    Coordinates {
        shape: shape.to_vec(),
        shape_is_stated: true,
        indices: (0..shape.len()).map(column).collect(),
        values: entries.iter().map(|(_, value)| T::from_f64(*value)).collect(),
    }
    .into()
}
