//! A tensor as the page shows it.

use serde_json::{Value, json};
use spc::tensor::{AnyTensor, Drawing, Element};
use spc::with_element;

/// The most entries that are listed.
const MOST: usize = 2000;

/// A tensor: the drawing of its arrays, and its entries with the positions of their values.
pub(crate) fn tensor(name: &str, tensor: &AnyTensor) -> Value {
    let mut entries: Vec<(Vec<usize>, usize)> = Vec::new();
    tensor.for_each_position(|index, position| {
        if entries.len() < MOST {
            entries.push((index.to_vec(), position));
        }
    });
    let values = with_element!(tensor.element(), |T| texts::<T>(tensor, &entries));
    let entries: Vec<Value> =
        entries.iter().zip(values).map(|((index, position), value)| json!([index, value, position])).collect();
    let drawing = Drawing::of(tensor);
    json!({
        "name": name,
        "title": drawing.title,
        "shape": tensor.shape(),
        "entries": entries,
        "svg": drawing.svg(),
    })
}

fn texts<T: Element>(tensor: &AnyTensor, entries: &[(Vec<usize>, usize)]) -> Vec<String> {
    let values = tensor.values_of::<T>().unwrap_or_default();
    entries.iter().map(|(_, position)| values.get(*position).map(ToString::to_string).unwrap_or_default()).collect()
}
