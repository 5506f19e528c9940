//! What readers refuse, and the words they find.

use super::good_files::npy_file;
use crate::io::{FileType, ReadErrorKind, ReadOptions, TensorFile, Value, read_as};

/// A file name, its content and the message.
type Case = (&'static str, &'static [u8], &'static str);

fn message<T: Value>(name: &str, content: &[u8], options: &ReadOptions) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let error = read_as::<T>(&path, options).expect_err(name);
    #[cfg(feature = "compile")]
    in_parts::<T>(&path, options, &error);
    assert_eq!(error.path(), Some(path.as_path()));
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

/// Parts of a text say the same of it.
#[cfg(feature = "compile")]
fn in_parts<T: Value>(path: &std::path::Path, options: &ReadOptions, expected: &crate::io::ReadError) {
    use crate::io::TextParts;
    let parts = TensorFile::begin(path, options).ok().and_then(|file| TextParts::of(&file, T::TYPE));
    let Some(parts) = parts else { return };
    for count in [1, 2, 5] {
        let read = (0..count).map(|part| parts.part(part, count)).collect::<Result<Vec<_>, _>>();
        let found = read.map(|read| read.into_iter().map(|part| part.found).collect::<Vec<_>>());
        match found.and_then(|found| parts.joined(&found)) {
            Err(error) => assert_eq!(error.to_string(), expected.to_string(), "{count} parts"),
            // What they have is good, and then refused.
            Ok(_) => assert_eq!(expected.kind(), ReadErrorKind::NotSupported, "{expected}"),
        }
    }
}

fn check<T: Value>(cases: &[Case], options: &ReadOptions) {
    for &(name, content, expected) in cases {
        let found = message::<T>(name, content, options);
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(content));
    }
}

#[test]
fn tns() {
    let long = "x".repeat(60);
    let long = format!("1 1 {long}\n");
    let found = message::<f64>("x.tns", long.as_bytes(), &ReadOptions::default());
    assert_eq!(
        found,
        format!("x.tns:1:5: value '{}...' is not a number: write it as 12, -0.5 or 1e-3", "x".repeat(40))
    );
    let found = message::<f64>("x.tns", "1 ".repeat(300).as_bytes(), &ReadOptions::default());
    assert_eq!(found, "x.tns:1:1: 300 fields: at most 255 indices and a value are supported");
    check::<f64>(
        &[
            (
                "x.tns",
                b"1 1 1\n\n# c\n1 0 1\n",
                "x.tns:4:3: index 0: indices start from 1; `--base 0` counts them from 0",
            ),
            (
                "x.tns",
                b"3\n4 5 6\n1 1 7 5\n",
                "x.tns:3:5: index 7 of mode 3 is beyond its extent 6: correct the index, or correct the header",
            ),
            (
                "x.tns",
                b"2 3\n4 5\n1 1 5\n",
                "x.tns:2:1: only 1 of 3 entries: the file is cut short, or the header is wrong",
            ),
            (
                "x.tns",
                b"2 1\n4 5\n1 1 5\n1 2 5\n",
                "x.tns:4:1: more entries than the 1 that the header states: correct the header",
            ),
            ("x.tns", b"1 1 1\n1.5e0 1 1\n", "x.tns:2:1: index '1.5e0' of mode 1: an index is a whole number from 1"),
            ("x.tns", b"1 1 1\n1 -3 1\n", "x.tns:2:3: index '-3' of mode 2: indices start from 1"),
            ("x.tns", b"1.0 1 1\n", "x.tns:1:1: index '1.0' of mode 1: an index is a whole number from 1"),
            ("x.tns", b"+1 1 1\n", "x.tns:1:1: index '+1' of mode 1: an index is a whole number from 1"),
            ("x.tns", b"1 1x 1\n", "x.tns:1:3: index '1x' of mode 2: an index is a whole number from 1"),
            (
                "x.tns",
                b"1 9223372036854775808 1\n",
                "x.tns:1:3: index 9223372036854775808 of mode 2 is too large: at most 9223372036854775807",
            ),
            (
                "x.tns",
                b"99999999999999999999999999 1 1\n",
                "x.tns:1:1: index 99999999999999999999999999 of mode 1 is too large: at most 9223372036854775807",
            ),
            ("x.tns", b"1 1 one\n", "x.tns:1:5: value 'one' is not a number: write it as 12, -0.5 or 1e-3"),
            ("x.tns", b"1 1 1,5\n", "x.tns:1:5: value '1,5' is not a number: write it as 12, -0.5 or 1e-3"),
            (
                "x.tns",
                b"1 1 1e999\n",
                "x.tns:1:5: value '1e999' is beyond the range of f64: read it as a wider element type",
            ),
            ("x.tns", b"1 1 5\n1 1 5\n1 5\n", "x.tns:3:1: 2 fields, where a line has 2 indices and a value"),
            (
                "x.tns",
                b"1 1 5\n1 1 1 5\n",
                "x.tns:2:1: 4 fields, where a line has 2 indices and a value; if the first line is a header, remove it",
            ),
            ("x.tns", b"1 1 5\n1 1 5\nend\n", "x.tns:3:1: 1 field ('end'), where a line has 2 indices and a value"),
            (
                "x.tns",
                b"3\n4 5\n1 1 1 5\n",
                "x.tns:1:1: '3' alone: a line has at least one index and a value; if it is a header, remove it",
            ),
            (
                "x.tns",
                b"3\r4 5\r1 1 1 5\r",
                "x.tns:1:1: '3' alone: a line has at least one index and a value; if it is a header, remove it",
            ),
            ("x.tns", b"1,2,3.5\n", "x.tns:1:1: value '1,2,3.5' is not a number: write it as 12, -0.5 or 1e-3"),
            ("x.tns", b"", "x.tns: there is no entry, so the order cannot be known: state the shape"),
            (
                "x.tns",
                b"# only a comment\n\n",
                "x.tns: there is no entry, so the order cannot be known: state the shape",
            ),
            ("x.tns", b"1 1 \xff\xfe\n", "x.tns:1:5: value '\\xff\\xfe' is not a number: write it as 12, -0.5 or 1e-3"),
            (
                "x.tns",
                b"1 1 5\n\xc3\xa9 \xc3\xa9 1\n",
                "x.tns:2:1: index '\u{e9}' of mode 1: an index is a whole number from 1",
            ),
            ("x.tns", b"1 \0 1\n", "x.tns:1:3: index '\\0' of mode 2: an index is a whole number from 1"),
        ],
        &ReadOptions::default(),
    );
}

#[test]
fn tns_with_a_stated_shape() {
    let options = ReadOptions { shape: Some(vec![3, 4]), file_type: None, from_zero: false };
    check::<f64>(
        &[
            (
                "x.tns",
                b"3 4 1\n1 5 1\n",
                "x.tns:2:3: index 5 of mode 2 is beyond its extent 4: correct the index, or state a larger shape",
            ),
            (
                "x.tns",
                b"1 1 1 1\n",
                "x.tns:1:1: 4 fields, where the stated shape has order 2 and so 3: state an extent for each mode",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real general\n4 3 0\n",
                "x.mtx: the file has shape 4 x 3, but 3 x 4 is asked for: state the file's, or none",
            ),
        ],
        &options,
    );
}

#[test]
fn values_that_the_element_type_does_not_hold() {
    let options = ReadOptions::default();
    let half = "x.tns:2:5: value '1.5' is not a whole number: read it as f64 instead of i32";
    check::<i32>(&[("x.tns", b"1 1 2.0\n1 2 1.5\n", half)], &options);
    let large = "x.tns:1:3: value '3e9' is beyond the range of i32: read it as a wider element type";
    check::<i32>(&[("x.tns", b"1 3e9\n", large)], &options);
    let negative = "x.tns:1:3: value '-1' is beyond the range of u8: read it as a wider element type";
    check::<u8>(&[("x.tns", b"1 -1\n", negative)], &options);
    let skew = "x.mtx:3:1: a skew-symmetric matrix also has the negative of each value, which u8 does not hold: \
                read it as a wider element type";
    check::<u8>(&[("x.mtx", b"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n", skew)], &options);
    let data = 0.5_f64.to_le_bytes();
    let file = npy_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &data);
    let expected = "x.npy: value 0.5 at position 0 is none that i64 holds: read it as f64";
    assert_eq!(message::<i64>("x.npy", &file, &options), expected);
}

#[test]
fn mtx_headers() {
    check::<f64>(
        &[
            (
                "x.mtx",
                b"1 1 1\n",
                "x.mtx:1:1: the first line is '1 1 1': a Matrix Market file begins with \
                 `%%MatrixMarket matrix coordinate real general`",
            ),
            (
                "x.mtx",
                b"",
                "x.mtx:1:1: the first line is '': a Matrix Market file begins with \
                 `%%MatrixMarket matrix coordinate real general`",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real\n",
                "x.mtx:1:1: the header has 4 words: it needs 5, `%%MatrixMarket`, `matrix`, storage, field and symmetry",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket graph coordinate real general\n",
                "x.mtx:1:1: object 'graph' is not supported: only `matrix` and `vector` are",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix sparse real general\n",
                "x.mtx:1:1: storage 'sparse': it is `coordinate` or `array`",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
                "x.mtx:1:1: the values are complex, which f64 is not: read them as c32 or c64",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real hermitian\n",
                "x.mtx:1:1: `hermitian` is for complex values: a real matrix is `symmetric`",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix array pattern general\n",
                "x.mtx:1:1: an `array` file has values: `pattern` contradicts it",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
                "x.mtx:1:1: a `pattern` has no sign: `skew-symmetric` contradicts it",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real general\n% c\n",
                "x.mtx:1:1: there is no size line: after the comments, write rows, columns and the number of entries",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real general\n% c\n3 3\n",
                "x.mtx:3:1: the size line has 2 fields: it needs 3: rows, columns and the number of entries",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real general\n3 x 1\n",
                "x.mtx:2:1: size 'x': it is a whole number below 2^63",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n",
                "x.mtx:2:1: a symmetric matrix is square, but this one is 3 x 4",
            ),
        ],
        &ReadOptions::default(),
    );
}

#[test]
fn mtx_entries() {
    check::<f64>(
        &[
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real general\n3 3 99999999999999999\n1 1 1\n",
                "x.mtx:2:1: only 1 of 99999999999999999 entries: the file is cut short, or the size line is wrong",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n% c\n 2 2 1\n3 x 1\n",
                "x.mtx:5:2: more entries than the 1 that the size line states: correct the size line",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n4 1 1\n",
                "x.mtx:4:1: index 4 of mode 1 is beyond its extent 3: correct the index, or state a larger shape",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 1.5\n",
                "x.mtx:3:5: value '1.5' is not a whole number, but the header says `integer`: change it to `real`",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n",
                "x.mtx:3:1: 3 fields, where a line has 2 indices and no value",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n1 2 1\n0 0 0\n",
                "x.mtx:4:1: an entry above the diagonal: a symmetric file has the lower triangle only",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 3 1\n",
                "x.mtx:4:1: a nonzero on the diagonal: that of a skew-symmetric matrix is zero",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
                "x.mtx:2:1: only 3 of 4 entries: the file is cut short, or the size line is wrong",
            ),
            (
                "x.mtx",
                b"%%MatrixMarket matrix array real general\n9000000000000000000 9000000000000000000\n1 2\n",
                "x.mtx:3:1: 2 fields, where a line has a value only",
            ),
        ],
        &ReadOptions::default(),
    );
}

#[test]
fn files_of_other_kinds() {
    let options = ReadOptions::default();
    let unknown =
        format!("the name does not say what kind of file it is: known extensions are {}", FileType::EXTENSIONS);
    let looks =
        "the name does not say what kind of file it is, and it looks like a .tns file: `--from tns` reads it so";
    assert_eq!(message::<f64>("x.dat", b"1 2 0.5\n", &options), format!("x.dat: {looks}"));
    assert_eq!(message::<f64>("x.txt", b"", &options), format!("x.txt: {unknown}"));
    assert_eq!(message::<f64>("tns", b"", &options), format!("tns: {unknown}"));
    let npz = match cfg!(feature = "npz") {
        true => "x.npz: begins with '': a .npz file is a zip archive",
        false => "x.npz: `.npz` files need the feature `npz` of the crate `spc`",
    };
    assert_eq!(message::<f64>("x.npz", b"", &options), npz);
    let gz = "x.tns.gz: the name ends in .gz, but this is not gzip data: remove .gz from the name if it is plain";
    assert_eq!(message::<f64>("x.tns.gz", b"1 1 1\n", &options), gz);
    let stated = ReadOptions { shape: None, file_type: Some(FileType::Tns), from_zero: false };
    assert!(message::<f64>("x.txt", b"0 1", &stated).ends_with("`--base 0` counts them from 0"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.tns");
    let error = read_as::<f64>(&path, &options).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::Io);
    assert_eq!(error.message(), "cannot open: No such file or directory (os error 2)");
    let path = folder.path().join("folder.tns");
    std::fs::create_dir(&path).unwrap();
    assert_eq!(read_as::<f64>(&path, &options).unwrap_err().message(), "is a directory, not a file");
}

/// Any byte of a good file may be another: it is refused or read, and nothing else happens.
#[test]
fn damaged_bytes_are_refused_or_read() {
    let samples: [(FileType, &[u8]); 4] = [
        (FileType::Smtx, b"3, 4, 5\n0 2 2 5\n0 3 1 2 3\n"),
        (FileType::Harwell, include_bytes!("scipy/a.rua")),
        (FileType::Tns, b"sptensor\n3\n4 5 6\n2\n1 3 2 5.0\n1e0 1 1 -5D-1\n"),
        (FileType::Mtx, b"%%MatrixMarket vector coordinate integer general\n5 2\n1 7\n4 8\n"),
    ];
    for (kind, sample) in samples {
        let read = |bytes: Vec<u8>| TensorFile::of_bytes(kind, bytes).contents::<f64>();
        assert!(read(sample.to_vec()).is_ok(), "{kind:?}");
        for place in 0..sample.len() {
            for change in [1, 2, 4, 0x10, 0x80] {
                let mut changed = sample.to_vec();
                changed[place] ^= change;
                _ = read(changed);
            }
            _ = read(sample[..place].to_vec());
        }
    }
}

#[test]
fn damaged_gzip() {
    let text: Vec<u8> =
        (1..5000).flat_map(|line| format!("{line} {} 1\n", line * 7919 % 1000 + 1).into_bytes()).collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &text).unwrap();
    let whole = encoder.finish().unwrap();
    let of = |file: &[u8]| message::<f64>("x.tns.gz", file, &ReadOptions::default());
    let short = of(&whole[..whole.len() / 2]);
    assert!(short.starts_with("x.tns.gz: the gzip data end early, after "), "{short}");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0xff;
    let damaged = of(&damaged);
    assert!(damaged.starts_with("x.tns.gz: the gzip data are damaged after "), "{damaged}");
    assert!(damaged.ends_with(": get the file again"), "{damaged}");
}

#[test]
fn npy() {
    let of = |file: &[u8]| message::<f64>("x.npy", file, &ReadOptions::default());
    assert_eq!(of(b"1 2 3\n"), r"x.npy: begins with '1 2 3\n': a .npy file begins with '\x93NUMPY'");
    assert_eq!(of(b"\x93NUMPY\x01"), "x.npy: the file ends within its header: get it again");
    assert_eq!(of(b"\x93NUMPY\x09\0aaaa"), "x.npy: version 9 of the .npy format is not supported: 1, 2 and 3 are");
    assert_eq!(of(b"\x93NUMPY\x02\0\xff\xff\xff\xff"), "x.npy: the file ends within its header: get it again");
    let header = |header: &str| of(&npy_file(1, header, &[0; 16]));
    assert_eq!(
        header("{'descr': '<f16', 'fortran_order': False, 'shape': (2,), }"),
        "x.npy: elements of type '<f16' are not supported: use one of <f8 <f4 <i4 <i8 |u1 |i1 <i2 <u2 <u4 <u8 <f2 <V2 |b1 <c8 <c16"
    );
    assert_eq!(
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"),
        "x.npy: 16 bytes of data, which is not what shape [3] takes: get the file again"
    );
    assert_eq!(
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
        "x.npy: 16 bytes of data, which is not what shape [4294967296, 4294967296] takes: get the file again"
    );
    assert_eq!(
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'chunks': (1,), }"),
        "x.npy: the header has 'chunks', which is not understood: save the array again"
    );
    assert_eq!(
        header("{'descr': '<f8', 'fortran_order': False, }"),
        "x.npy: the header has no valid 'shape': '{'descr': '<f8', 'fortran_order': False,...'"
    );
}
