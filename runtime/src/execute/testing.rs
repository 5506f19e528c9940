//! Kernels and tensors for tests.

use crate::tensor::{AnyTensor, Coordinates, Duplicates, Indices, Values, pack};
use spc_compiler::format::{Format, IndexWidth, LevelFormat, Role};
use spc_compiler::ir::{
    Array, ArrayElement, ArrayRole, Dimension, DimensionId, ElementType, Initial, Kernel, Literal, Size, Source,
    Structure, Tensor, TensorId,
};

pub(super) const DENSE_OUTPUT: Source =
    Source::Output { structure: Structure::Dense, initial: Initial::Filled(Literal::Float(ElementType::F64, 0.0)) };
pub(super) const APPENDED: Source = Source::Output { structure: Structure::Appended, initial: Initial::Empty };

/// Compressed sparse rows.
pub(super) fn csr() -> Format {
    Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED])
}

/// The declarations of a kernel without a body: dimensions by name, each with its size, and tensors of `f64` with the dimensions
/// of their modes.
pub(super) fn declare(name: &str, dimensions: &[(&str, Size)], tensors: &[(&str, Format, &[u32], Source)]) -> Kernel {
    let mut arrays = Vec::new();
    for (id, (tensor, format, ..)) in (0u32..).map(TensorId).zip(tensors) {
        let mut array = |name: String, element, role| arrays.push(Array { name, element, role });
        let structure = match tensors[id.index()].3 {
            Source::Output { structure: Structure::Shared { .. }, .. } => &[],
            _ => &format.levels[..],
        };
        for (level, stored) in structure.iter().enumerate() {
            for role in Role::ALL.into_iter().filter(|role| stored.format.array(*role).is_some()) {
                let element = ArrayElement::Index(stored.format.width(role));
                array(format!("{tensor}{level}_{}", role.key()), element, ArrayRole::of_level(role, id, level));
            }
        }
        array(format!("{tensor}_vals"), ArrayElement::Value(ElementType::F64), ArrayRole::Values { tensor: id });
    }
    Kernel {
        name: name.to_owned(),
        documentation: Vec::new(),
        dimensions: dimensions
            .iter()
            .map(|&(name, size)| Dimension { name: name.to_owned(), written: name.to_owned(), size })
            .collect(),
        bounds: Vec::new(),
        pivots: Vec::new(),
        tensors: tensors
            .iter()
            .map(|(name, format, dimensions, source)| Tensor {
                name: (*name).to_owned(),
                element: ElementType::F64,
                format: format.clone(),
                dimensions: dimensions.iter().copied().map(DimensionId).collect(),
                fill: ElementType::F64.zero(),
                source: *source,
                pattern: None,
                delivered: None,
                listed: None,
            })
            .collect(),
        arrays,
        variables: Vec::new(),
        body: Vec::new(),
        deterministic: false,
        choices: std::collections::BTreeMap::new(),
    }
}

/// `y(i) = A(i, j) * x(j)`
pub(super) fn spmv() -> Kernel {
    let dimensions = [("i", Size::Runtime), ("j", Size::Runtime)];
    let (a, x) = (("A", csr(), &[0, 1][..], Source::Input), ("x", Format::dense(1), &[1][..], Source::Input));
    declare("spmv", &dimensions, &[a, x, ("y", Format::dense(1), &[0], DENSE_OUTPUT)])
}

/// A matrix of these entries.
pub(super) fn matrix(shape: [usize; 2], entries: &[(u32, u32, f64)], format: &Format) -> AnyTensor {
    let coordinates = Coordinates {
        shape: shape.to_vec(),
        shape_is_stated: true,
        indices: vec![
            Indices::U32(entries.iter().map(|entry| entry.0).collect()),
            Indices::U32(entries.iter().map(|entry| entry.1).collect()),
        ],
        values: entries.iter().map(|entry| entry.2).collect(),
    };
    pack(coordinates, format, Duplicates::Sum).unwrap()
}

/// A dense vector.
pub(super) fn vector(values: Vec<f64>) -> AnyTensor {
    let mut vector = AnyTensor::zeros(vec![values.len()], Format::dense(1), ElementType::F64).unwrap();
    vector.values_mut::<f64>().unwrap().copy_from_slice(&values);
    vector
}

/// `[dense, compressed]` with coordinates and positions of these widths.
pub(super) fn csr_of(coordinates: IndexWidth, positions: IndexWidth) -> Format {
    let columns = LevelFormat::COMPRESSED.with_coordinates(coordinates).with_positions(positions);
    Format::of_levels([LevelFormat::DENSE, columns])
}

/// The values as a vector.
pub(super) fn values(tensor: &AnyTensor) -> Vec<f64> {
    tensor.values_of::<f64>().unwrap().to_vec()
}

/// So that a test can say what a tensor of another type is.
pub(super) fn single_precision(values: Vec<f32>) -> AnyTensor {
    let shape = vec![values.len()];
    AnyTensor::from_parts(shape, Format::dense(1), vec![crate::tensor::LevelArrays::NONE], Values::from(values))
        .unwrap()
}
