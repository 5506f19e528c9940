//! Where a text is cut makes no difference.

use proptest::prelude::*;

use crate::io::kind::Asked;
use crate::io::{Contents, FileType, ReadError, ReadOptions, TensorFile, mtx, tns};
use crate::parallel::with_threads;
use crate::tensor::{Coordinates, ElementType, Indices};

/// Nothing is stated but the element type.
const ASKED: Asked<'_> = Asked { element: ElementType::F64, shape: None, from_zero: false, member: None };

/// What a reader says, comparable: values as bits, errors as text.
fn outcome(read: Result<Contents<f64>, ReadError>) -> Result<String, String> {
    match read.and_then(Contents::into_coordinates) {
        Ok(mut entries) => {
            let bits: Vec<u64> = entries.values.drain(..).map(f64::to_bits).collect();
            Ok(format!("{entries:?} {bits:?}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Entries in any order, comparable, or an error with its place.
fn told(read: Result<(Vec<usize>, bool, Coordinates<f64>), ReadError>) -> Result<String, String> {
    match read {
        Ok((shape, is_stated, entries)) => {
            let rows = super::rows(&entries);
            let mut all: Vec<_> = rows.into_iter().zip(entries.values.iter().map(|value| value.to_bits())).collect();
            all.sort_unstable();
            Ok(format!("{shape:?} {is_stated} {all:?}"))
        }
        Err(error) => Err(format!("{:?} {:?}:{:?} {}", error.kind(), error.line(), error.column(), error.message())),
    }
}

/// What parts say of a text is what all of it says.
#[cfg(feature = "compile")]
fn check_parts(name: &str, text: &[u8]) {
    use crate::io::TextParts;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let Ok(file) = TensorFile::begin(&path, &ReadOptions::default()) else { return };
    let Some(parts) = TextParts::of(&file, ElementType::F64) else { return };
    let whole = file.contents::<f64>().and_then(Contents::into_coordinates);
    let whole = told(whole.map(|entries| (entries.shape.clone(), entries.shape_is_stated, entries)));
    for count in [1, 2, 3, 5, 8, 13, 40] {
        let read = || {
            let read = (0..count).map(|part| parts.part(part, count)).collect::<Result<Vec<_>, _>>()?;
            let found: Vec<_> = read.iter().map(|part| part.found.clone()).collect();
            let (shape, is_stated) = parts.joined(&found)?;
            let column = |mode: usize| {
                let entries = read.iter().flat_map(|part| (0..part.values.len()).map(move |entry| (part, entry)));
                Indices::U64(entries.map(|(part, entry)| part.indices[mode].at(entry)).collect())
            };
            let values = read.iter().flat_map(|part| part.values.as_slice::<f64>().unwrap().to_vec()).collect();
            let indices = (0..shape.len()).map(column).collect();
            let entries = Coordinates { shape: shape.clone(), shape_is_stated: is_stated, indices, values };
            Ok((shape, is_stated, entries))
        };
        assert_eq!(told(read()), whole, "{count} parts of {:?}", String::from_utf8_lossy(text));
    }
}

fn check_tns(text: &[u8]) {
    #[cfg(feature = "compile")]
    check_parts("x.tns", text);
    let whole = outcome(tns::parse_in_chunks(text, &ASKED, usize::MAX).map(Contents::Entries));
    for chunk in [1, 2, 3, 5, 8, 13, 40] {
        assert_eq!(
            outcome(tns::parse_in_chunks(text, &ASKED, chunk).map(Contents::Entries)),
            whole,
            "{:?}",
            String::from_utf8_lossy(text)
        );
        let in_blocks = tns::parse_blocks::<f64>(&mut { text }, &ASKED, chunk).map(Contents::Entries);
        assert!(in_blocks.is_none_or(|entries| outcome(Ok(entries)) == whole), "{:?}", String::from_utf8_lossy(text));
    }
    // A last line without its end is a block of its own; where it alone has an entry, the first block does not say how to read.
    let in_one = tns::parse_blocks::<f64>(&mut [text, b"\n"].concat().as_slice(), &ASKED, 1 << 20);
    assert_eq!(in_one.is_some(), whole.is_ok(), "{:?}", String::from_utf8_lossy(text));
}

fn check_mtx(text: &[u8], sizes: &[usize]) {
    #[cfg(feature = "compile")]
    check_parts("x.mtx", text);
    let whole = outcome(mtx::parse_in_chunks(text, ElementType::F64, usize::MAX));
    for &size in sizes {
        assert_eq!(
            outcome(mtx::parse_in_chunks(text, ElementType::F64, size)),
            whole,
            "{:?}",
            String::from_utf8_lossy(text)
        );
        let in_blocks = mtx::parse_blocks::<f64>(&mut { text }, ElementType::F64, size);
        assert!(in_blocks.is_none_or(|entries| outcome(Ok(entries)) == whole), "{:?}", String::from_utf8_lossy(text));
    }
    let in_one = mtx::parse_blocks::<f64>(&mut { text }, ElementType::F64, 1 << 20);
    assert_eq!(in_one.is_some(), whole.is_ok(), "{:?}", String::from_utf8_lossy(text));
}

/// A compressed file is parsed while it is decompressed, or not: what is read is the same, and so is what is wrong.
#[test]
fn compressed_files_read_the_same_on_any_number_of_threads() {
    use std::io::Write;
    let line = |number: u64| {
        let scramble = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("{} {} {}\n", scramble % 300 + 1, (scramble >> 20) % 300 + 1, (scramble >> 40) as f64 / 7.0)
    };
    let body: String = (0..60_000).map(line).collect();
    let head = "%%MatrixMarket matrix coordinate real general\n% c\n300 300 60000\n";
    let late = |bad: &str| format!("{}{bad}", &body[..body.len() / 2 + body[body.len() / 2..].find('\n').unwrap() + 1]);
    let texts = [
        (FileType::Tns, body.clone()),
        (FileType::Tns, late("1 1 1\n1 x 1\n2 2 2\n")),
        (FileType::Tns, late("1 1\n")),
        (FileType::Mtx, format!("{head}{body}")),
        (FileType::Mtx, format!("{head}{body}1 1 1\n")),
        (FileType::Mtx, format!("{head}{}", late("0 1 1\n"))),
        (FileType::Mtx, format!("{head}{}", late(""))),
        (FileType::Mtx, format!("{}{body}", head.replace("general", "symmetric"))),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gz");
    for (file_type, text) in texts {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let file = encoder.finish().unwrap();
        assert!(file.len() > 1 << 17);
        let mut damaged = file.clone();
        damaged[file.len() - 5] ^= 1;
        for file in [&file[..], &file[..file.len() * 3 / 4], &file[..file.len() - 1], &damaged] {
            std::fs::write(&path, file).unwrap();
            let options = ReadOptions { file_type: Some(file_type), ..ReadOptions::default() };
            let read = |threads| {
                with_threads(threads, || outcome(TensorFile::open(&path, &options).and_then(|file| file.contents())))
                    .unwrap()
            };
            let one = read(1);
            assert!([2, 3].into_iter().all(|threads| read(threads) == one));
        }
    }
}

#[test]
fn the_first_error_of_several_is_told() {
    let mut lines: Vec<String> = (1..200).map(|line| format!("{line} {} 0.5", line * 7 % 31 + 1)).collect();
    lines[150] = "1 1 bad".to_owned();
    lines[120] = "0 1 1".to_owned();
    lines[121] = "1".to_owned();
    let text = lines.join("\n");
    for chunk in [1, 10, 100, 1000, 10000] {
        let error = tns::parse_in_chunks::<f64>(text.as_bytes(), &ASKED, chunk).unwrap_err();
        assert_eq!(error.to_string(), "121:1: index 0: indices start from 1; `--base 0` counts them from 0");
    }
}

#[test]
fn one_number_alone() {
    check_tns(b"\n \n87.");
    check_tns(b"\n \n87.\n");
    check_tns(b"0\n0");
    check_tns(b"1.5\n2.5\n");
}

#[test]
fn indices_widen_in_one_chunk_and_not_in_another() {
    check_tns(b"1 1 1\n2 2 1\n3 5000000000 1\n4 4 1\n5 5 1\n");
}

#[test]
fn mtx_counts_and_triangles() {
    let head = "%%MatrixMarket matrix coordinate real symmetric\n% c\n9 9 5\n";
    for body in [
        "1 1 1\n2 1 2\n3 3 3\n9 1 4\n9 9 5\n",
        "1 1 1\n2 1 2\n3 3 3\n9 1 4\n",
        "1 1 1\n2 1 2\n3 3 3\n9 1 4\n9 9 5\n% c\n\n9 8 6\n9 x 6\n",
        "1 1 1\n2 1 2\n3 4 3\n9 x 4\n9 9 5\n9 8 6\n",
        "1 1 1\n2 1 2\n3 3 3\n9 x 4\n3 4 5\n9 8 6\n",
    ] {
        let sizes: Vec<usize> = (1..40).chain([100]).collect();
        check_mtx(format!("{head}{body}").as_bytes(), &sizes);
    }
}

proptest! {
    /// Lines that are mostly right.
    #[test]
    fn tns_texts(lines in prop::collection::vec(
        prop_oneof![
            6 => (1_u64..20, 1_u64..5_000_000_000, -5.0..5.0).prop_map(|(i, j, value)| format!("{i} {j}\t{value}\n")),
            1 => Just("# c\n".to_owned()),
            1 => Just("\r\n".to_owned()),
            1 => "[0-9 .#x\\n-]{0,12}",
        ],
        0..30,
    )) {
        check_tns(lines.concat().as_bytes());
    }

    /// Any bytes at all: an error or entries, never a panic.
    #[test]
    fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..200)) {
        check_tns(&text);
        let _ = mtx::parse::<f64>(&text);
        let _ = crate::io::npy::parse::<f64>(&text);
        let _ = crate::io::spct::parse(&text);
    }

    /// Bytes that come close to Matrix Market.
    #[test]
    fn near_mtx(
        storage in "coordinate|array", field in "real|integer|pattern",
        symmetry in "general|symmetric|skew-symmetric", body in "[0-4 .\\n%-]{0,60}",
    ) {
        let text = format!("%%MatrixMarket matrix {storage} {field} {symmetry}\n{body}");
        check_mtx(text.as_bytes(), &[1, 4, 9, 90]);
    }
}
