//! Files of truth values and of complex numbers.

use std::fs;

use super::narrow;
use crate::complex::{c32, c64};
use crate::io::{ReadErrorKind, ReadOptions, Value, read_as, read_tensor, write, write_tensor};
use crate::tensor::{AnyTensor, Coordinates, Duplicates, ElementType, pack};
use spc_compiler::format::Format;

fn of_text<T: Value>(name: &str, text: &str) -> Result<Coordinates<T>, (ReadErrorKind, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read_as::<T>(&path, &ReadOptions::default())
        .map_err(|error| (error.kind(), error.to_string().replace(&format!("{}/", folder.path().display()), "")))
}

fn complex() -> Coordinates<c64> {
    let indices = vec![narrow(&[0, 1, 2]), narrow(&[2, 0, 1])];
    let values = vec![c64::new(2.5, -1.0), c64::new(0.0, 1e-7), c64::new(f64::INFINITY, 3.0)];
    Coordinates { shape: vec![3, 3], shape_is_stated: true, indices, values }
}

fn truths() -> Coordinates<bool> {
    let indices = vec![narrow(&[0, 1, 2]), narrow(&[2, 0, 1])];
    Coordinates { shape: vec![3, 3], shape_is_stated: true, indices, values: vec![true, false, true] }
}

#[test]
fn texts() {
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    write(folder.path().join("z.tns"), &complex()).unwrap();
    assert_eq!(text("z.tns"), "# shape: 3 3\n# element: c64\n1 3 2.5 -1\n2 1 0 1e-7\n3 2 inf 3\n");
    write(folder.path().join("z.mtx"), &complex()).unwrap();
    let head = "%%MatrixMarket matrix coordinate complex general\n% element: c64\n3 3 3\n";
    assert_eq!(text("z.mtx"), format!("{head}1 3 2.5 -1\n2 1 0 1e-7\n3 2 inf 3\n"));
    write(folder.path().join("b.tns"), &truths()).unwrap();
    assert_eq!(text("b.tns"), "# shape: 3 3\n# element: bool\n1 3 1\n2 1 0\n3 2 1\n");
    write(folder.path().join("b.mtx"), &truths()).unwrap();
    assert_eq!(
        text("b.mtx"),
        "%%MatrixMarket matrix coordinate integer general\n% element: bool\n3 3 3\n1 3 1\n2 1 0\n3 2 1\n"
    );
}

#[test]
fn every_kind_of_file_gives_back_what_it_got() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["x.tns", "x.mtx", "x.npy", "x.tns.gz"] {
        let path = folder.path().join(name);
        write(&path, &complex()).unwrap();
        assert_eq!(read_as::<c64>(&path, &ReadOptions::default()).unwrap().values, complex().values, "{name}");
        write(&path, &truths()).unwrap();
        let values = read_as::<bool>(&path, &ReadOptions::default()).unwrap().values;
        // A dense file has no entry of what is false.
        assert_eq!(values, if name == "x.npy" { vec![true, true] } else { truths().values }, "{name}");
    }
    let single: Vec<c32> = complex().values.iter().map(|z| c32::new(z.re as f32, z.im as f32)).collect();
    let Coordinates { shape, indices, .. } = truths();
    let single = Coordinates { shape, shape_is_stated: true, indices, values: single };
    let packed: [AnyTensor; 3] = [
        pack(complex(), &Format::csf(2), Duplicates::Sum).unwrap(),
        pack(single, &Format::coo(2), Duplicates::Sum).unwrap(),
        pack(truths(), &Format::csf(2), Duplicates::Sum).unwrap(),
    ];
    for tensor in packed {
        let path = folder.path().join("x.spct");
        write_tensor(&path, &tensor).unwrap();
        assert_eq!(read_tensor(&path, &ReadOptions::default()).unwrap(), tensor);
        let path = folder.path().join("x.npy");
        write_tensor(&path, &tensor).unwrap();
        assert_eq!(read_tensor(&path, &ReadOptions::default()).unwrap().element(), tensor.element());
    }
}

#[test]
fn numpy_names_the_types() {
    for (element, name) in [(ElementType::Bool, "|b1"), (ElementType::C32, "<c8"), (ElementType::C64, "<c16")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        write_tensor(&path, &crate::generate::ones(&[2], element).unwrap()).unwrap();
        let file = fs::read(&path).unwrap();
        assert!(String::from_utf8_lossy(&file).contains(&format!("'descr': '{name}'")));
        assert_eq!(file.len() % 64, 2 * element.bytes() % 64);
    }
}

#[test]
fn triangles_of_complex_matrices() {
    let of = |symmetry: &str, entries: &str| {
        let count = entries.lines().count();
        of_text::<c64>("x.mtx", &format!("%%MatrixMarket matrix coordinate complex {symmetry}\n2 2 {count}\n{entries}"))
    };
    let z = c64::new;
    assert_eq!(of("hermitian", "1 1 4 0\n2 1 1 2\n").unwrap().values, [z(4.0, 0.0), z(1.0, 2.0), z(1.0, -2.0)]);
    assert_eq!(of("symmetric", "1 1 4 1\n2 1 1 2\n").unwrap().values, [z(4.0, 1.0), z(1.0, 2.0), z(1.0, 2.0)]);
    assert_eq!(of("skew-symmetric", "2 1 1 2\n").unwrap().values, [z(1.0, 2.0), z(-1.0, -2.0)]);
    let (_, message) = of("hermitian", "1 1 4 0.5\n2 1 1 2\n").unwrap_err();
    assert_eq!(message, "x.mtx:3:1: a number on the diagonal that is not real: that of a hermitian matrix is");
    let all = "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n0 3\n2 0\n";
    assert_eq!(of_text::<c64>("x.mtx", all).unwrap().values, [z(1.0, 0.0), z(0.0, -3.0), z(0.0, 3.0), z(2.0, 0.0)]);
}

#[test]
fn other_fields_are_complex_numbers_too() {
    let real = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 -0.5\n";
    assert_eq!(of_text::<c64>("x.mtx", real).unwrap().values, [c64::new(-0.5, 0.0)]);
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n";
    assert_eq!(of_text::<c32>("x.mtx", pattern).unwrap().values, [c32::new(1.0, 0.0)]);
    assert_eq!(of_text::<bool>("x.mtx", pattern).unwrap().values, [true]);
}

#[test]
fn what_is_wrong_with_a_line_is_told_where_it_is() {
    let message = |text: &str| of_text::<c64>("x.tns", text).unwrap_err().1;
    assert_eq!(
        message("1 1 2 3\n1 1 2 3\n1 2 3\n"),
        "x.tns:3:1: 3 fields, where a line has 2 indices and a real and an imaginary part"
    );
    assert_eq!(message("1 1 2 i\n"), "x.tns:1:7: value 'i' is not a number: write it as 12, -0.5 or 1e-3");
    assert_eq!(message("1 1 x 3\n"), "x.tns:1:5: value 'x' is not a number: write it as 12, -0.5 or 1e-3");
    assert_eq!(message("1e400\n"), "x.tns:1:1: '1e400' alone: of a complex number, both parts stand in a line");
    let message = |text: &str| of_text::<bool>("x.tns", text).unwrap_err().1;
    assert_eq!(
        message("1 1 1\n1 2 2\n"),
        "x.tns:2:5: value '2' is beyond the range of bool: read it as a wider element type"
    );
    let complex = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n";
    assert_eq!(of_text::<i32>("x.mtx", complex).unwrap_err().0, ReadErrorKind::NotSupported);
}
