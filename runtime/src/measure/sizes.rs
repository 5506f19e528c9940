//! The sizes of tensors, as the compiler's model asks for them.

use super::{tensor_facts, tensor_size};
use crate::tensor::AnyTensor;
use spc_compiler::concrete::{self, Access, TensorKind};
use spc_compiler::format::Format;
use spc_compiler::model::Sizes;
use spc_compiler::plan::Modes;
use std::collections::BTreeSet;

/// The format of a copy that has as many positions as a permutation: one for each entry, also where several have an index in common.
fn of_entries(format: &Format) -> Format {
    let (mut copy, first) = (format.clone(), format.level_of_entries());
    let last = copy.levels.len() - 1;
    for level in &mut copy.levels[first..last] {
        level.format = level.format.nonunique();
    }
    copy
}

/// The sizes of the tensors of a scheduled kernel: `known` are inputs and results by name. Copies that the kernel asks for are
/// made to be counted, and so are results in the format that the kernel writes, where that is another than they are given in.
pub fn sizes<'a>(kernel: &concrete::Kernel, known: impl IntoIterator<Item = (&'a str, &'a AnyTensor)>) -> Sizes {
    let known: Vec<(&str, &AnyTensor)> = known.into_iter().collect();
    let find = |name: &str| known.iter().find(|(other, _)| *other == name).map(|(_, tensor)| *tensor);
    let mut sizes = Sizes::default();
    let mut stored: Vec<Option<AnyTensor>> = vec![None; kernel.tensors.len()];
    for (tensor, stored) in kernel.tensors.iter().zip(&mut stored) {
        let original = match &tensor.kind {
            TensorKind::SortedCopy(of) | TensorKind::Fibers(of) | TensorKind::Permutation(of) => {
                find(&kernel.tensor(*of).name)
            }
            TensorKind::Input | TensorKind::Output(_) => find(&tensor.name),
            TensorKind::Workspace | TensorKind::SparseWorkspace(_) => None,
        };
        let Some(original) = original else { continue };
        let format = tensor.stored.as_ref().map_or(&tensor.format, |stored| &stored.format);
        let format = &match tensor.kind {
            TensorKind::Permutation(_) => of_entries(format),
            _ => format.clone(),
        };
        let Ok(converted) = original.convert(format) else { continue };
        if !format.is_dense() && !matches!(tensor.kind, TensorKind::Output(_)) {
            sizes.distinct.insert(tensor.name.clone(), distinct(&converted));
        }
        sizes.tensors.insert(tensor.name.clone(), tensor_size(&converted));
        *stored = Some(converted);
    }
    kernel.body.for_each_read(&mut |access| {
        if let Some(children) = children_of_rows(kernel, access, &stored) {
            sizes.children.insert((kernel.tensor(access.tensor).name.clone(), 1), children);
        }
    });
    sizes
}

/// The number of different coordinates in each mode.
fn distinct(tensor: &AnyTensor) -> Vec<f64> {
    let order = tensor.shape().len().min(Modes::BITS as usize);
    let sets: BTreeSet<Modes> = (0..order).map(|mode| 1 << mode).collect();
    let facts = tensor_facts(tensor, &sets);
    let known = |(mode, &extent): (usize, &usize)| {
        facts.distinct.get(&(1 << mode)).map_or(extent as f64, |known| known.estimate.min(extent as f64))
    };
    tensor.shape().iter().take(order).enumerate().map(known).collect()
}

/// The mean number of entries of a matrix's rows, over the rows that the coordinates of another operand lead to.
fn children_of_rows(kernel: &concrete::Kernel, rows: &Access, stored: &[Option<AnyTensor>]) -> Option<f64> {
    let of = |access: &Access| stored.get(access.tensor.0)?.as_ref();
    let order = |access: &Access| kernel.tensor(access.tensor).format.mode_order();
    let matrix = of(rows)?;
    let row = rows.indices[*order(rows)?.first()?];
    if matrix.levels().len() < 2 || !matrix.format().levels[0].format.kind.is_dense() {
        return None;
    }
    let positions = matrix.levels()[1].positions().filter(|_| matrix.format().levels[1].format.kind.is_compressed())?;
    let mut mean = None;
    kernel.body.for_each_read(&mut |access| {
        let leads = || {
            let depth = order(access)?.iter().position(|&mode| access.indices[mode] == row)?;
            let coordinates = of(access)?.coordinates(depth).filter(|_| depth > 0)?;
            let children = |row: usize| positions.get(row + 1) - positions.get(row);
            let sum: usize = coordinates.iter().filter(|&row| row + 1 < positions.len()).map(children).sum();
            (!coordinates.is_empty()).then(|| sum as f64 / coordinates.len() as f64)
        };
        mean = mean.or_else(leads);
    });
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{Coordinates, Duplicates, Indices, pack};
    use spc_compiler::format;
    use spc_compiler::model::TensorSize;

    fn entries() -> Coordinates<f64> {
        let columns: [[u32; 6]; 3] = [[0, 0, 0, 2, 2, 3], [1, 1, 4, 1, 1, 0], [0, 3, 3, 2, 5, 1]];
        let indices = columns.map(|column| Indices::U32(column.to_vec())).to_vec();
        Coordinates { shape: vec![4, 5, 6], shape_is_stated: true, indices, values: vec![1.0; 6] }
    }

    fn of(format: &str, arguments: &[u64]) -> TensorSize {
        let format = format::named(format, arguments, 3).unwrap();
        tensor_size(&pack(entries(), &format, Duplicates::Refuse).unwrap())
    }

    #[test]
    fn a_tree_and_a_list_have_the_same_entries() {
        let entries = |size: &TensorSize| size.levels.iter().map(|level| level.entries).collect::<Vec<_>>();
        assert_eq!(entries(&of("csf", &[])), [3.0, 4.0, 6.0]);
        assert_eq!(entries(&of("coo", &[])), [3.0, 4.0, 6.0]);
        assert_eq!(entries(&of("dense", &[])), [4.0, 20.0, 120.0]);
        let blocks = of("hicoo", &[2]);
        assert_eq!(blocks.levels.len(), 6);
        assert_eq!((blocks.levels[5].entries, blocks.values), (6.0, 6.0));
    }

    #[test]
    fn rows_count_as_often_as_something_leads_to_them() {
        let text = "fn product(A: csr, B: csr) -> C: csr { C(i, j) = A(i, k) * B(k, j); }";
        let program = spc_compiler::syntax::parse_program(text).unwrap();
        let kernels = spc_compiler::notation::check(&program).unwrap();
        let compiled = spc_compiler::compile_notation(&kernels[0]).unwrap();
        let matrix = |entries: &[(u32, u32)]| {
            let column = |of: fn(&(u32, u32)) -> u32| Indices::U32(entries.iter().map(of).collect());
            let indices = vec![column(|entry| entry.0), column(|entry| entry.1)];
            let values = vec![1.0; entries.len()];
            let entries = Coordinates { shape: vec![3, 3], shape_is_stated: true, indices, values };
            pack(entries, &format::named("csr", &[], 2).unwrap(), Duplicates::Refuse).unwrap()
        };
        // Three entries lead to row 0, which has three, and one to row 2, which has none.
        let (a, b) = (matrix(&[(0, 0), (1, 0), (2, 0), (2, 2)]), matrix(&[(0, 0), (0, 1), (0, 2), (1, 1)]));
        let sizes = sizes(&compiled.kernels[0].concrete, [("A", &a), ("B", &b)]);
        assert_eq!(sizes.children.get(&("B".to_owned(), 1)), Some(&(9.0 / 4.0)));
        let model = spc_compiler::model::model(&compiled.kernels[0], &sizes).unwrap();
        assert_eq!(model.operations, 2.0 * 9.0);
    }

    #[test]
    fn bytes_are_those_of_the_arrays() {
        let size = of("csf", &[]);
        assert_eq!((size.levels[1].position_bytes, size.levels[1].coordinate_bytes), (16.0, 16.0));
        assert_eq!((size.levels[2].extent, size.values), (6.0, 6.0));
        assert_eq!(of("coo", &[]).levels[1].coordinate_bytes, 24.0);
    }
}
