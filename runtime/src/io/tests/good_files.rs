//! What readers accept.

use super::{narrow, rows};
use crate::complex::c64;
use crate::io::{ReadOptions, mtx, npy, read_as, tns};
use crate::tensor::{Coordinates, Indices};

fn tns(text: &[u8]) -> Coordinates<f64> {
    tns::parse(text, None).unwrap()
}

fn mtx(text: &str) -> Coordinates<f64> {
    mtx::parse(text.as_bytes()).unwrap()
}

#[test]
fn tns_entries_stand_in_the_order_of_the_file() {
    let expected = Coordinates {
        shape: vec![2, 3],
        shape_is_stated: false,
        indices: vec![narrow(&[1, 0]), narrow(&[0, 2])],
        values: vec![-1.0, 2.5],
    };
    for text in [
        "2 1 -1\n1 3 2.5\n",
        "2 1 -1\n1 3 2.5",
        "2 1 -1\r\n1 3 2.5\r\n",
        "2 1 -1\r\n1 3 2.5\r",
        "# c\r2 1 -1\r1 3 2.5\r",
        "\t2\t 1   -1.0  \n  1 3 25e-1\t",
        "# a comment\n\n2 1 -1 # here\n   \n#\n # 9 9 9\n1 3 +2.5\n\n\n#end",
        "\u{feff}002 1 -1\n1 0000000000000000000000000000003 2.50\n",
    ] {
        assert_eq!(tns(text.as_bytes()), expected, "{text:?}");
    }
}

#[test]
fn tns_values_may_be_infinite_or_no_number() {
    let values = tns(b"1 inf\n2 -Infinity\n3 nan\n4 -0\n").values;
    assert_eq!(values[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(values[2].is_nan() && values[3] == 0.0 && values[3].is_sign_negative());
}

#[test]
fn tns_indices_widen_when_one_needs_it() {
    let x = tns(b"1 4294967296 1\n2 7 1\n");
    assert_eq!(x.indices[1], narrow(&[u32::MAX, 6]));
    let x = tns(b"1 7 1\n2 4294967297 1\n3 9223372036854775807 1\n");
    assert_eq!(x.indices[0], narrow(&[0, 1, 2]));
    assert_eq!(x.indices[1], Indices::U64(vec![6, 1 << 32, (1 << 63) - 2]));
    assert_eq!(x.shape, [3, (1 << 63) - 1]);
}

#[test]
fn tns_shapes_may_be_stated() {
    let x = tns::parse::<f64>(b"2 1 5\n", Some(&[4, 1])).unwrap();
    assert!(x.shape == [4, 1] && x.shape_is_stated);
    let empty = tns::parse::<f64>(b"# nothing\n", Some(&[4, 1, 2])).unwrap();
    assert_eq!((empty.indices.len(), empty.values.len()), (3, 0));
    let scalar = tns::parse::<f64>(b"2.5\n", Some(&[])).unwrap();
    assert_eq!((scalar.indices.len(), scalar.values), (0, vec![2.5]));
}

#[test]
fn mtx_triangles_are_mirrored() {
    let general = mtx("%%MatrixMarket matrix coordinate real general\n% note\n\n2 3 2\n2 1 -1\n%\n1 3 2.5\n");
    assert_eq!((general.shape.as_slice(), general.shape_is_stated), (&[2, 3][..], true));
    assert_eq!((rows(&general), general.values), (vec![vec![1, 0], vec![0, 2]], vec![-1.0, 2.5]));

    let symmetric = mtx("%%matrixmarket MATRIX Coordinate Integer Symmetric\n3 3 3\n1 1 4\n3 1 -1\n3 2 7\n");
    assert_eq!(rows(&symmetric), [[0, 0], [2, 0], [2, 1], [0, 2], [1, 2]]);
    assert_eq!(symmetric.values, [4.0, -1.0, 7.0, -1.0, 7.0]);

    let skew = mtx("%%MatrixMarket matrix coordinate real skew-symmetric\r\n2 2 2\r\n1 1 0\r\n2 1 3\r\n");
    assert_eq!((rows(&skew), skew.values), (vec![vec![0, 0], vec![1, 0], vec![0, 1]], vec![0.0, 3.0, -3.0]));

    let pattern = mtx("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1");
    assert_eq!((rows(&pattern), pattern.values), (vec![vec![1, 0], vec![0, 1]], vec![1.0, 1.0]));

    let empty = mtx("\u{feff}%%MatrixMarket matrix coordinate real general\n0 5 0\n");
    assert_eq!((empty.shape, empty.values.len()), (vec![0, 5], 0));
}

/// What `pyttb.export_data` 1.8.6 wrote, and the same with the headers of other programs.
#[test]
fn headers_of_other_programs_state_the_shape() {
    let entries = "1 2 3 5.0000000000000000e+00\n2 1 1 2.5000000000000000e+00\n2 3 4 7.0000000000000000e+00\n";
    let pyttb = format!("sptensor\n3\n2 3 4\n3\n{entries}\n");
    let headers = ["3\n2 3 4\n", "# extended FROSTT format\n3 3\n2 3 4\n", "3\n2\t3\t4 \n# c\n\n"];
    for text in headers.into_iter().map(|header| format!("{header}{entries}")).chain([pyttb]) {
        let x = tns(text.as_bytes());
        assert_eq!((x.shape.as_slice(), x.shape_is_stated), (&[2, 3, 4][..], true), "{text}");
        assert_eq!(rows(&x), [[0, 1, 2], [1, 0, 0], [1, 2, 3]]);
        assert_eq!(x.values, [5.0, 2.5, 7.0]);
    }
    assert_eq!(rows(&tns(b"1e3 2E0 1.5\n1e+01 1 2\n")), [[999, 1], [9, 0]]);
    let (folder, options) = (tempfile::tempdir().unwrap(), ReadOptions { from_zero: true, ..ReadOptions::default() });
    let path = folder.path().join("x.tns");
    std::fs::write(&path, "0 1 5\n2 0 1\n").unwrap();
    let x = read_as::<f64>(&path, &options).unwrap();
    assert_eq!((rows(&x), x.shape), (vec![vec![0, 1], vec![2, 0]], vec![3, 2]));
    let path = folder.path().join("x.mtx");
    std::fs::write(&path, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5\n").unwrap();
    assert_eq!(rows(&read_as::<f64>(&path, &options).unwrap()), [[0, 0]]);
}

#[test]
fn mtx_vectors_and_words_of_other_programs() {
    let vector = mtx("%%MatrixMarket vector coordinate real general\n5 2\n1 1.5\n4 -2D+01\n");
    assert_eq!((vector.shape.as_slice(), rows(&vector)), (&[5][..], vec![vec![0], vec![3]]));
    assert_eq!(vector.values, [1.5, -20.0]);
    let array = mtx("%%matrixmarket VECTOR Array Integer General\n\n3\n7\n\n8\n9\n");
    assert_eq!((array.shape.as_slice(), array.values), (&[3][..], vec![7.0, 8.0, 9.0]));
    let words = mtx("%%MatrixMarket matrix coordinate pattern general written by x\n2 2 1\n2 1\n");
    assert_eq!((rows(&words), words.values), (vec![vec![1, 0]], vec![1.0]));
}

#[test]
fn mtx_arrays_stand_column_by_column_and_are_read_by_rows() {
    let general = mtx("%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n4\n5\n6\n");
    assert_eq!(rows(&general), [[0, 0], [0, 2], [1, 0], [1, 1], [1, 2]]);
    assert_eq!(general.values, [1.0, 5.0, 2.0, 4.0, 6.0]);
    let symmetric = mtx("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n");
    assert_eq!(rows(&symmetric), [[0, 0], [0, 1], [1, 0], [1, 1]]);
    assert_eq!(symmetric.values, [1.0, 2.0, 2.0, 3.0]);
    let skew = mtx("%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n");
    assert_eq!(rows(&skew), [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]);
    assert_eq!(skew.values, [-1.0, -2.0, 1.0, -3.0, 2.0, 3.0]);
    // No loop over what the size line claims.
    let nothing = mtx("%%MatrixMarket matrix array real general\n0 9000000000000000000\n");
    assert_eq!(nothing.values.len(), 0);
}

/// As `NumPy` writes it, with the given version.
pub(super) fn npy_file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY".to_vec();
    file.extend_from_slice(&[version, 0]);
    match version {
        1 => file.extend_from_slice(&(header.len() as u16).to_le_bytes()),
        _ => file.extend_from_slice(&(header.len() as u32).to_le_bytes()),
    }
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(data);
    file
}

#[test]
fn npy_in_both_orders() {
    let data: Vec<u8> = [1_i32, 2, 0, 4, 5, 6].iter().flat_map(|value| value.to_le_bytes()).collect();
    let c = npy_file(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }     \n", &data);
    let x = npy::parse::<f64>(&c).unwrap();
    assert_eq!(rows(&x), [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]);
    assert_eq!(x.values, [1.0, 2.0, 4.0, 5.0, 6.0]);
    let fortran = npy_file(2, "{'shape':(2,3),'descr':'<i4','fortran_order':True}\n", &data);
    let x = npy::parse_tensor(&fortran).unwrap();
    assert_eq!(x.values_of::<i32>(), Some(&[1, 0, 5, 2, 4, 6][..]));
    // As `x.astype(">i4")` of NumPy.
    let big: Vec<u8> = [1_i32, 2, 0, 4, 5, 6].iter().flat_map(|value| value.to_be_bytes()).collect();
    let big = npy_file(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (2, 3), }", &big);
    assert_eq!(npy::parse_tensor(&big).unwrap().values_of::<i32>(), Some(&[1, 2, 0, 4, 5, 6][..]));
    let complex: Vec<u8> = [0.1_f32, -2.0].iter().flat_map(|part| part.to_be_bytes()).collect();
    let complex = npy_file(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }", &complex);
    assert_eq!(npy::parse::<c64>(&complex).unwrap().values, [c64::new(0.1_f32.into(), -2.0)]);
    for order in ["True", "False"] {
        let extents = "(9223372036854775807, 0, 9223372036854775807)";
        let header = format!("{{'descr': '|u1', 'fortran_order': {order}, 'shape': {extents}, }}");
        assert!(npy::parse::<f64>(&npy_file(1, &header, &[])).unwrap().values.is_empty());
        let _ = npy::parse_tensor(&npy_file(1, &header, &[]));
    }
    let scalar = npy_file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", &[7]);
    assert_eq!(npy::parse::<u8>(&scalar).unwrap().values, [7]);
    let vector = npy_file(3, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", &[0, 8, 9]);
    assert_eq!(rows(&npy::parse::<i64>(&vector).unwrap()), [[1], [2]]);
}
