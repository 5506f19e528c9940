//! The papers' formulae, and others counted by hand.

use super::*;
use crate::format::resolve::Definitions;
use crate::notation::{self, FormatOption};
use crate::syntax;

/// A kernel of one statement, the result and operands of single precision, in these formats.
fn compiled(expression: &str, formats: &[(&str, &str)]) -> Compiled {
    let declaration = |&(name, format): &(&str, &str)| {
        let format = syntax::parse_parameter_format(&format!("f32 {format}")).unwrap();
        FormatOption::new(name, format)
    };
    let options: Vec<FormatOption> = formats.iter().map(declaration).collect();
    let statement = syntax::parse_statement(expression).unwrap();
    let Ok(kernel) = notation::check_expression(&statement, &options, &Definitions::prelude()) else {
        panic!("{expression}")
    };
    crate::compile_notation(&kernel).unwrap().kernels.remove(0)
}

/// A tensor each of whose levels is compressed or a list of coordinates, with so many entries.
fn stored(shape: &[usize], levels: &[(f64, usize)]) -> TensorSize {
    // Positions take 4 bytes for each parent, coordinates 4 for each child; lists of coordinates have one for each value.
    let values = levels.last().map_or(1.0, |level| level.0);
    let level = |(&(entries, width), &extent): (&(f64, usize), &usize)| LevelSize {
        entries,
        extent: extent as f64,
        position_bytes: 0.0,
        coordinate_bytes: width as f64 * values,
    };
    TensorSize { shape: shape.to_vec(), levels: levels.iter().zip(shape).map(level).collect(), values }
}

/// Compressed levels with so many entries each.
fn tree(shape: &[usize], entries: &[f64]) -> TensorSize {
    let parents = std::iter::once(1.0).chain(entries.iter().copied());
    let level = |((&entries, parents), &extent): ((&f64, f64), &usize)| LevelSize {
        entries,
        extent: extent as f64,
        position_bytes: 4.0 * parents,
        coordinate_bytes: 4.0 * entries,
    };
    let levels = entries.iter().zip(parents).zip(shape).map(level).collect();
    TensorSize { shape: shape.to_vec(), levels, values: entries.last().copied().unwrap_or(1.0) }
}

fn dense(shape: &[usize]) -> TensorSize {
    let values = shape.iter().product::<usize>() as f64;
    let level = |&extent: &usize| LevelSize { extent: extent as f64, entries: extent as f64, ..LevelSize::default() };
    TensorSize { shape: shape.to_vec(), levels: shape.iter().map(level).collect(), values }
}

fn sizes(tensors: &[(&str, TensorSize)]) -> Sizes {
    let tensors = tensors.iter().map(|(name, size)| ((*name).to_owned(), size.clone())).collect();
    Sizes { tensors, ..Sizes::default() }
}

const N: f64 = 1000.0;
const R: f64 = 16.0;

fn traffic<'a>(model: &'a Model, tensor: &str) -> &'a Traffic {
    model.traffic.iter().find(|traffic| traffic.tensor == tensor).unwrap()
}

/// Li 2020, table 1: `12 M R + 16 M` bytes for third-order COO in single precision with 32-bit indices. Each entry is alone in its
/// slice, so that no row is used twice.
#[test]
fn mttkrp_of_coordinates_is_li_2020() {
    let coo = [("X", "coo"), ("B", "dense"), ("C", "dense"), ("A", "dense")];
    let kernel = compiled("A(i, r) = X(i, j, k) * B(j, r) * C(k, r)", &coo);
    let x = stored(&[5000, 5000, 5000], &[(N, 4), (N, 4), (N, 4)]);
    let factor = dense(&[5000, 16]);
    let sizes = sizes(&[("X", x), ("B", factor.clone()), ("C", factor.clone()), ("A", factor)]);
    let model = model(&kernel, &sizes).unwrap();
    assert_eq!(model.bytes(), 12.0 * N * R + 16.0 * N);
    // Phipps & Kolda 2019: d - 1 products, one with the entry, and one sum, for each entry and column.
    assert_eq!(model.operations, (3.0 + 1.0) * N * R);
    assert_eq!(traffic(&model, "B").pattern, Pattern::Gather { row: 4.0 * R });
    assert_eq!(traffic(&model, "A").pattern, Pattern::Stream);
    assert_eq!(model.footprint(), 16.0 * N + 3.0 * 5000.0 * 16.0 * 4.0);
}

/// Phipps & Kolda 2019, equation 3: `d R` factor elements, the entry and `d` indices are read or written for each entry, here
/// with 32-bit indices and in single precision, of order 4.
#[test]
fn mttkrp_of_higher_order_is_phipps_and_kolda_2019() {
    let coo = [("X", "coo"), ("B", "dense"), ("C", "dense"), ("D", "dense"), ("A", "dense")];
    let kernel = compiled("A(i, r) = X(i, j, k, l) * B(j, r) * C(k, r) * D(l, r)", &coo);
    let x = stored(&[5000; 4], &[(N, 4); 4]);
    let tensors = ["A", "B", "C", "D"].map(|name| (name, dense(&[5000, 16])));
    let sizes = sizes(&[&[("X", x)], &tensors[..]].concat());
    let model = model(&kernel, &sizes).unwrap();
    let d = 4.0;
    assert_eq!(model.bytes(), N * (d * R * 4.0 + 4.0 + d * 4.0));
    // A product and a sum for each factor; they count d + 1 operations, as they form no sums of fibers.
    assert_eq!(model.operations, 2.0 * (d - 1.0) * N * R);
}

/// Li 2020: `12 M R + 16 M` is what each entry costs alone; a fiber's entries share its row, and a slice's its result.
#[test]
fn mttkrp_of_fibers_shares_rows() {
    let (s, f) = (10.0, 100.0);
    let csf = [("X", "csf"), ("B", "dense"), ("C", "dense"), ("A", "dense")];
    let kernel = compiled("A(i, r) = X(i, j, k) * B(j, r) * C(k, r)", &csf);
    let x = tree(&[50, 50, 50], &[s, f, N]);
    let sizes = sizes(&[("X", x), ("B", dense(&[50, 16])), ("C", dense(&[50, 16])), ("A", dense(&[50, 16]))]);
    let model = model(&kernel, &sizes).unwrap();
    // Where the slices begin and end is read once a chunk.
    let tree = 4.0 * s + (4.0 * s + 4.0 * f) + (4.0 * f + 4.0 * N) + 4.0 * N;
    assert_eq!(model.bytes(), tree + 4.0 * R * (N + f + s));
    assert_eq!(model.operations, 2.0 * R * (N + f));
}

/// Li 2020: `4 R (M + F) + 8 (M + F)` bytes and `2 M R` operations. Ours does not read where a fiber lies,
/// since the result shares that.
#[test]
fn ttm_is_li_2020() {
    let (s, f) = (10.0, 100.0);
    let kernel = compiled(
        "Y(i, j, r) = X(i, j, k) * U(k, r)",
        &[("X", "csf"), ("U", "dense"), ("Y", "[compressed, compressed, dense]")],
    );
    let x = tree(&[50, 50, 50], &[s, f, N]);
    let sizes = sizes(&[("X", x), ("U", dense(&[50, 16]))]);
    let model = model(&kernel, &sizes).unwrap();
    let shares_structure =
        matches!(kernel.concrete.tensors[2].kind, TensorKind::Output(OutputStructure::Shared { .. }));
    assert!(shares_structure);
    assert_eq!(model.operations, 2.0 * N * R);
    assert_eq!(model.bytes(), 4.0 * R * (N + f) + 8.0 * N + 4.0 * f);
}

/// Li 2020: `2 M` operations, `12 M` bytes for entries, and for each fiber the result and where it begins; see [`ttm_is_li_2020`].
#[test]
fn ttv_is_li_2020() {
    let (s, f) = (10.0, 100.0);
    let kernel = compiled("Y(i, j) = X(i, j, k) * v(k)", &[("X", "csf"), ("v", "dense"), ("Y", "csf")]);
    let sizes = sizes(&[("X", tree(&[50, 50, 50], &[s, f, N])), ("v", dense(&[50]))]);
    let model = model(&kernel, &sizes).unwrap();
    assert_eq!((model.operations, model.bytes()), (2.0 * N, 12.0 * N + 8.0 * f));
    assert_eq!(traffic(&model, "v").pattern, Pattern::Gather { row: 4.0 });
}

/// Li 2020: `12 M` bytes where both operands have one pattern, `8 M` for tensor and scalar; indices are not read.
#[test]
fn elementwise_is_li_2020() {
    let x = tree(&[50, 50, 50], &[10.0, 100.0, N]);
    let kernel = compiled("Y(i, j, k) = X(i, j, k) * a", &[("X", "csf"), ("a", ""), ("Y", "csf")]);
    let model = model(&kernel, &sizes(&[("X", x)])).unwrap();
    assert_eq!(model.operations, N);
    // The scalar is one element.
    assert_eq!(model.bytes(), 8.0 * N + 4.0);
}

/// Sums of sparse tensors have the entries that the result has; each operand and the result are gone through once.
#[test]
fn sums_have_the_entries_of_the_result() {
    let csr = [("A", "csr"), ("B", "csr"), ("C", "csr")];
    let kernel = compiled("C(i, j) = A(i, j) + B(i, j)", &csr);
    let matrix = |entries: f64| {
        let mut size = tree(&[100, 100], &[100.0, entries]);
        size.levels[0] = LevelSize { entries: 100.0, extent: 100.0, ..LevelSize::default() };
        size
    };
    let known = sizes(&[("A", matrix(500.0)), ("B", matrix(300.0)), ("C", matrix(700.0))]);
    let counted = model(&kernel, &known).unwrap();
    assert_eq!(counted.operations, 700.0);
    let of_result = 8.0 * 700.0 + 400.0;
    assert_eq!(traffic(&counted, "C").bytes, of_result);
    let unknown = sizes(&[("A", matrix(500.0)), ("B", matrix(300.0))]);
    assert_eq!(model(&kernel, &unknown).unwrap().operations, 800.0);
    assert_eq!(model(&kernel, &Sizes::default()), None);
}

/// Rows of the second operand are gone through for each entry of the first.
#[test]
fn products_of_sparse_matrices_take_the_mean_row() {
    let csr = [("A", "csr"), ("B", "csr"), ("C", "csr")];
    let kernel = compiled("C(i, j) = A(i, k) * B(k, j)", &csr);
    let matrix = || {
        let mut size = tree(&[100, 100], &[100.0, 500.0]);
        size.levels[0] = LevelSize { entries: 100.0, extent: 100.0, ..LevelSize::default() };
        size
    };
    let mut known = sizes(&[("A", matrix()), ("B", matrix()), ("C", matrix())]);
    let counted = model(&kernel, &known).unwrap();
    assert_eq!(counted.operations, 2.0 * 500.0 * 5.0);
    assert!(matches!(traffic(&counted, "B").pattern, Pattern::Gather { row } if row == 20.0));
    // Or the mean of those rows that entries lead to.
    known.children.insert(("B".to_owned(), 1), 7.5);
    assert_eq!(model(&kernel, &known).unwrap().operations, 2.0 * 500.0 * 7.5);
}

/// Every entry of a matrix is an access of the vector, and every row an element of the result.
#[test]
fn spmv_and_sddmm() {
    let mut a = tree(&[100, 80], &[100.0, N]);
    a.levels[0] = LevelSize { entries: 100.0, extent: 100.0, ..LevelSize::default() };
    let kernel = compiled("y(i) = A(i, j) * x(j)", &[("A", "csr"), ("x", "dense"), ("y", "dense")]);
    let known = sizes(&[("A", a.clone()), ("x", dense(&[80])), ("y", dense(&[100]))]);
    let counted = model(&kernel, &known).unwrap();
    assert_eq!((counted.operations, counted.bytes()), (2.0 * N, 12.0 * N + 8.0 * 100.0));
    // What entries alone choose is done for entries alone.
    let chosen = "y(i) = sum(j)(select(stored(A(i, j)), A(i, j) * x(j), 0))";
    let kernel = compiled(chosen, &[("A", "csr"), ("x", "dense"), ("y", "dense")]);
    let counted = model(&kernel, &known).unwrap();
    assert_eq!((counted.operations, counted.bytes()), (2.0 * N, 12.0 * N + 8.0 * 100.0));
    let formats = [("A", "csr"), ("B", "dense"), ("C", "dense"), ("Y", "csr")];
    let kernel = compiled("Y(i, j) = A(i, j) * B(i, r) * C(j, r)", &formats);
    let known = sizes(&[("A", a), ("B", dense(&[100, 32])), ("C", dense(&[80, 32]))]);
    let counted = model(&kernel, &known).unwrap();
    assert!((counted.operations / (2.0 * 32.0 * N) - 1.0).abs() < 0.51, "{}", counted.operations);
    assert_eq!(traffic(&counted, "C").bytes, 4.0 * 32.0 * N);
}

/// Blocks are loops too: a block's entries are a row of the model's loops.
#[test]
fn blocked_coordinates_are_walked_as_they_are_stored() {
    let formats = [("X", "hicoo(128)"), ("B", "dense"), ("C", "dense"), ("A", "dense")];
    let kernel = compiled("A(i, r) = X(i, j, k) * B(j, r) * C(k, r)", &formats);
    let blocks = 50.0;
    let mut x = TensorSize { shape: vec![5000; 3], values: N, levels: Vec::new() };
    for (entries, bytes, extent) in
        // In Morton order a block's coordinate comes again: more often than there are blocks in the mode.
        [(30.0, 4.0 * blocks, 16.0), (40.0, 4.0 * blocks, 40.0), (blocks, 4.0 * blocks, 40.0)]
    {
        x.levels.push(LevelSize { entries, extent, position_bytes: 0.0, coordinate_bytes: bytes });
    }
    for _ in 0..3 {
        x.levels.push(LevelSize { entries: N, extent: 128.0, position_bytes: 0.0, coordinate_bytes: N });
    }
    x.levels[3].position_bytes = 8.0 * blocks;
    let tensors = ["A", "B", "C"].map(|name| (name, dense(&[5000, 16])));
    let model = model(&kernel, &sizes(&[&[("X", x)], &tensors[..]].concat())).unwrap();
    // Li 2020: 20 bytes a block and 7 an entry; three rows are read, the result's among them, and one written.
    assert_eq!(model.bytes(), 16.0 * N * R + 7.0 * N + 20.0 * blocks);
    assert_eq!(model.operations, N * R * 5.0);
}
