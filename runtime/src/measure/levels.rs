//! How many entries each level of a tensor has, and how many bytes its arrays.

use crate::tensor::{AnyTensor, IndexArray, LevelArrays};
use spc_compiler::format::LevelFormat;
use spc_compiler::model::{LevelSize, TensorSize};

/// The size of a tensor.
pub fn tensor_size(tensor: &AnyTensor) -> TensorSize {
    let mut parents = Beginnings { count: 1, is_new: None };
    let mut levels = Vec::with_capacity(tensor.levels().len());
    let extents = tensor.level_extents();
    for (depth, (storage, extent)) in tensor.levels().iter().zip(extents).enumerate() {
        let format = tensor.format().levels[depth].format;
        parents = parents.children(storage, format, || tensor.position_count(depth + 1));
        let bytes = |array: Option<&IndexArray>| array.map_or(0.0, |array| array.bytes() as f64);
        levels.push(LevelSize {
            entries: parents.new_count() as f64,
            extent: extent as f64,
            position_bytes: bytes(storage.positions()),
            coordinate_bytes: bytes(storage.coordinates()),
        });
    }
    TensorSize { shape: tensor.shape().to_vec(), levels, values: tensor.values().len() as f64 }
}

/// Where in a level coordinates begin that differ from the one before, under one parent; all do, where nothing else is said.
struct Beginnings {
    count: usize,
    is_new: Option<Vec<bool>>,
}

impl Beginnings {
    fn new_count(&self) -> usize {
        match &self.is_new {
            None => self.count,
            Some(is_new) => is_new.iter().filter(|&&is_new| is_new).count(),
        }
    }

    /// Those of the level below.
    fn children(&self, storage: &LevelArrays, format: LevelFormat, count: impl Fn() -> usize) -> Beginnings {
        let kind = format.kind;
        let is_new = match (storage.positions(), storage.coordinates()) {
            (Some(positions), Some(coordinates)) if kind.is_compressed() && !format.unique() => {
                let mut is_new = differs(coordinates);
                positions.iter().filter(|&begin| begin < coordinates.len()).for_each(|begin| is_new[begin] = true);
                Some(is_new)
            }
            (_, Some(coordinates)) if kind.is_singleton() => {
                self.is_new.as_ref().filter(|_| !format.unique()).map(|parents| {
                    let own = differs(coordinates);
                    parents.iter().zip(own).map(|(&parent, own)| parent || own).collect()
                })
            }
            _ if kind.is_diagonal() => self.is_new.clone(),
            _ => None,
        };
        let count = is_new.as_ref().map_or_else(count, Vec::len);
        Beginnings { count, is_new }
    }
}

/// For each coordinate whether it differs from the one before.
fn differs(coordinates: &IndexArray) -> Vec<bool> {
    let mut before = None;
    coordinates.iter().map(|coordinate| before.replace(coordinate) != Some(coordinate)).collect()
}
