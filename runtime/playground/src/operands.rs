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

/// An input.
pub(crate) struct Input {
    pub(crate) name: String,
    /// Its entries, as people write them.
    pub(crate) text: String,
    pub(crate) operand: Operand,
}

/// Extents by the names of their indices.
pub(crate) type Extents = Vec<(String, usize)>;

/// The inputs of a kernel, and the extents that they have. Nothing where one can't be read.
pub(crate) fn inputs(
    kernel: &Kernel,
    interface: &concrete::Kernel,
    question: &Question,
    messages: &mut Messages,
) -> Option<(Vec<Input>, Extents)> {
    let tensors: Vec<&notation::Tensor> = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input).collect();
    let mut given: Vec<Option<Vec<Entry>>> = Vec::new();
    let mut is_wrong = false;
    for tensor in &tensors {
        let text = question.data.get(&tensor.name).filter(|text| !text.trim().is_empty());
        let read = text.map(|text| numbers::entries(text, tensor.format.order)).transpose();
        given.push(read.unwrap_or_else(|message| {
            messages.error(Part::Data(tensor.name.clone()), &message);
            is_wrong = true;
            None
        }));
    }
    let extents = extents(interface, question, &tensors, &given);
    is_wrong |= refused(&extents, messages);
    if is_wrong {
        return None;
    }
    let made = tensors.iter().zip(given).enumerate().map(|(number, (tensor, given))| {
        let shape: Vec<usize> = places(interface, tensor).iter().map(|&place| extents[place].1).collect();
        let entries = given.unwrap_or_else(|| example(tensor, &shape, number));
        let operand = with_element!(tensor.element, |T| Operand::Entries(of::<T>(&entries, &shape)));
        Input { name: tensor.name.clone(), text: written(&entries, tensor.element), operand }
    });
    let inputs = made.collect();
    let is_read = |place: usize| tensors.iter().any(|tensor| places(interface, tensor).contains(&place));
    let named = extents
        .into_iter()
        .enumerate()
        .filter(|(place, (name, _))| is_read(*place) || question.extents.contains_key(name));
    Some((inputs, named.map(|(_, named)| named).collect()))
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
fn written(entries: &[Entry], element: ElementType) -> String {
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
