//! Files that are stored in others without all entries in memory, and read part by part: as if they had been.

use super::super::{
    LargeFile, PackFileError, ReadErrorKind, ReadOptions, StoredTensor, TensorFile, spct, write_tensor,
};
use crate::tensor::{AnyTensor, Duplicates, Element, ElementType, PackError, pack_filled};
use crate::with_element;
use proptest::prelude::*;
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{Definitions, resolve};
use spc_compiler::syntax::parse_format;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// As little as there is: 64 KiB of text at a time.
const LITTLE: u64 = 1;

fn format(text: &str, order: usize) -> Format {
    resolve(&parse_format(text).expect(text), order, &Definitions::prelude()).expect(text)
}

/// Numbers in no order, some of them more than once.
fn scrambled(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |number| (number % (count - count / 5)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23))
}

/// A text of entries in no order.
fn text(count: u64, extents: [u64; 3], value: impl Fn(u64) -> String) -> String {
    let mut text = format!("# shape: {} {} {}\n", extents[0], extents[1], extents[2]);
    for number in scrambled(count) {
        let [i, j, k] = [(0, 0), (1, 17), (2, 40)].map(|(mode, shift)| (number >> shift) % extents[mode] + 1);
        writeln!(text, "{i} {j} {k} {}", value(number)).unwrap();
    }
    text
}

/// What a conversion in memory makes of a file.
fn in_memory(path: &Path, format: &Format, element: ElementType) -> Result<AnyTensor, PackError> {
    let file = TensorFile::open(path, &ReadOptions::default()).unwrap();
    with_element!(element, |T| {
        let filled = file.contents::<T>().unwrap().into_filled().unwrap();
        pack_filled(filled.entries, format, Duplicates::Sum, filled.fill.unwrap_or(T::ZERO))
    })
}

/// Both ways give the same bytes.
fn same(folder: &Path, name: &str, format: &Format, element: ElementType) {
    let (from, here, there) = (folder.join(name), folder.join("here.spct"), folder.join("there.spct"));
    let tensor = in_memory(&from, format, element).unwrap();
    write_tensor(&here, &tensor).unwrap();
    let large = LargeFile::open(&from, &ReadOptions::default(), Some(element), LITTLE).unwrap();
    let nnz = large.pack(&there, format, Duplicates::Sum).unwrap();
    assert_eq!(nnz, tensor.values().len(), "{name} {format}");
    assert!(fs::read(&here).unwrap() == fs::read(&there).unwrap(), "{name} as {format} of {}", element.name());
    let left =
        fs::read_dir(folder).unwrap().filter(|file| file.as_ref().unwrap().file_type().unwrap().is_dir()).count();
    assert_eq!(left, 0);
}

const FORMATS: [&str; 9] = [
    "csf",
    "coo",
    "alto",
    "hicoo(4)",
    "[dense, compressed, compressed]",
    "[compressed, dense, compressed]",
    "(i, j, k) -> [k: compressed, i: compressed, j: dense]",
    "[compressed(u64), compressed, compressed(u16)]",
    "(i, j, k) -> [i / 8: compressed, j: compressed, k: compressed, i % 8: dense]",
];

#[test]
fn what_goes_by_way_of_files_is_what_memory_makes() {
    let folder = tempfile::tempdir().unwrap();
    let value = |number: u64| ((number % 1000) as f64 / 7.0).to_string();
    fs::write(folder.path().join("x.tns"), text(60_000, [40, 300, 17], value)).unwrap();
    for text in FORMATS {
        same(folder.path(), "x.tns", &format(text, 3), ElementType::F64);
    }
    // Keys of more than 64 and of more than 128 bits.
    let wide = |bits: u32| text(20_000, [1 << bits; 3], value);
    for bits in [30, 50] {
        fs::write(folder.path().join("wide.tns"), wide(bits)).unwrap();
        same(
            folder.path(),
            "wide.tns",
            &format("[compressed(u64), compressed(u64), compressed(u64)]", 3),
            ElementType::F32,
        );
    }
}

#[test]
fn elements_of_all_types_go_by_way_of_files() {
    let folder = tempfile::tempdir().unwrap();
    for element in ElementType::ALL {
        let value = |number: u64| match element {
            ElementType::Bool => (number % 2).to_string(),
            element if element.is_complex() => format!("{} {}", number % 3, number % 5),
            _ => (number % 3).to_string(),
        };
        let text = text(12_000, [30, 200, 10], value);
        fs::write(folder.path().join("x.tns"), format!("# element: {}\n{text}", element.name())).unwrap();
        same(folder.path(), "x.tns", &Format::csf(3), element);
        let fill = if element.is_complex() || element == ElementType::Bool { "1" } else { "2" };
        fs::write(folder.path().join("x.tns"), format!("# element: {}\n# fill: {fill}\n{text}", element.name()))
            .unwrap();
        if !element.is_complex() {
            same(folder.path(), "x.tns", &format("[compressed, dense, compressed]", 3), element);
            same(folder.path(), "x.tns", &format("[compressed, compressed, dense]", 3), element);
        }
    }
}

#[test]
fn matrices_of_both_triangles_and_compressed_texts_go_by_way_of_files() {
    let folder = tempfile::tempdir().unwrap();
    for (symmetry, value) in [("general", 2), ("symmetric", 3), ("skew-symmetric", 4)] {
        let mut text = String::new();
        let mut count = 0;
        for number in scrambled(20_000) {
            let (row, column) = (number % 500 + 1, number / 500 % 500 + 1);
            if symmetry == "general" || row > column {
                writeln!(text, "{row} {column} {}", number % 100 * value).unwrap();
                count += 1;
            }
        }
        let head = format!("%%MatrixMarket matrix coordinate integer {symmetry}\n% a comment\n500 500 {count}\n");
        fs::write(folder.path().join("a.mtx"), format!("{head}{text}")).unwrap();
        same(folder.path(), "a.mtx", &Format::csf(2), ElementType::F64);
        same(folder.path(), "a.mtx", &format("csr", 2), ElementType::I32);
    }
    let entries = super::super::read_as::<f64>(folder.path().join("a.mtx"), &ReadOptions::default()).unwrap();
    super::super::write(folder.path().join("a.tns.gz"), &entries).unwrap();
    same(folder.path(), "a.tns.gz", &format("csc", 2), ElementType::F64);
    // And from one format to another.
    for from in ["csr", "coo", "[dense, dense]"] {
        let tensor = in_memory(&folder.path().join("a.mtx"), &format(from, 2), ElementType::F64).unwrap();
        let path = folder.path().join("from.spct");
        write_tensor(&path, &tensor).unwrap();
        for to in ["csc", "csr", "coo", "bcsr(4)", "[compressed, dense]"] {
            let large = LargeFile::open(&path, &ReadOptions::default(), None, LITTLE).unwrap();
            let there = folder.path().join("there.spct");
            match large.pack(&there, &format(to, 2), Duplicates::Sum) {
                Ok(_) => {
                    let expected = tensor.convert(&format(to, 2)).unwrap();
                    assert!(spct::parse(&fs::read(&there).unwrap()).unwrap() == expected, "{from} to {to}");
                }
                Err(error) => assert!(from == "[dense, dense]" && error.to_string().contains("in parts"), "{error}"),
            }
        }
    }
}

#[test]
fn a_text_that_states_no_shape_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let text = text(20_000, [40, 300, 17], |number| (number % 10).to_string());
    let (_, entries) = text.split_once('\n').unwrap();
    fs::write(folder.path().join("x.tns"), entries).unwrap();
    same(folder.path(), "x.tns", &Format::csf(3), ElementType::F64);
    let large = LargeFile::open(folder.path().join("x.tns"), &ReadOptions::default(), None, LITTLE).unwrap();
    assert!(!large.shape_is_stated());
    let asked = ReadOptions { shape: Some(vec![50, 300, 17]), ..ReadOptions::default() };
    let large = LargeFile::open(folder.path().join("x.tns"), &asked, None, LITTLE).unwrap();
    assert_eq!((large.shape(), large.shape_is_stated()), (&[50, 300, 17][..], true));
    // Without an entry.
    fs::write(folder.path().join("x.tns"), "# shape: 3 4 5\n").unwrap();
    same(folder.path(), "x.tns", &format("[dense, compressed, compressed]", 3), ElementType::F64);
    same(folder.path(), "x.tns", &Format::csf(3), ElementType::F64);
}

/// Why a file is not stored in another, word for word, and that nothing is left of it.
fn refusal(name: &str, text: &str, to: &str, element: ElementType) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (path, there) = (folder.path().join(name), folder.path().join("there.spct"));
    fs::write(&path, text).unwrap();
    let opened = LargeFile::open(&path, &ReadOptions::default(), Some(element), LITTLE);
    let packed = opened.map_err(PackFileError::from).and_then(|large| {
        let format = format(to, large.shape().len());
        large.pack(&there, &format, Duplicates::Sum)
    });
    let message = packed.expect_err(text.get(..40).unwrap_or(text)).to_string();
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, [name], "{message}");
    message.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let good = text(20_000, [40, 300, 17], |_| "1".to_owned());
    let said = |text: &str, to: &str| refusal("x.tns", text, to, ElementType::F64);
    assert_eq!(
        said(&format!("{good}1 2 3\n"), "csf"),
        "x.tns:20002:1: 3 fields, where a line has 3 indices and a value"
    );
    let beyond = said(&format!("{good}1 301 3 1\n"), "csf");
    assert!(beyond.starts_with("x.tns:20002:3: index 301"), "{beyond}");
    let padded = refusal("x.tns", "# shape: 4 4\n1 1 1\n", "ell", ElementType::F64);
    assert!(padded.contains("packed by way of files"), "{padded}");
    let many = "1 1 100\n".repeat(20_000);
    let overflow = refusal("x.tns", &many, "csf", ElementType::I8);
    assert!(overflow.starts_with("x.tns: the entries (1, 1) add up to more"), "{overflow}");
    let head = "%%MatrixMarket matrix coordinate real general\n% a comment\n500 500 20001\n";
    let matrix = refusal("a.mtx", &format!("{head}{}", "1 1 1\n".repeat(20_000)), "csf", ElementType::F64);
    assert_eq!(matrix, "a.mtx:3:1: only 20000 of 20001 entries: the file is cut short, or the size line is wrong");
    let matrix = refusal("a.mtx", &format!("{head}{}", "1 1 1\n".repeat(20_002)), "csf", ElementType::F64);
    assert_eq!(matrix, "a.mtx:20005:1: more entries than the 20001 that the size line states: correct the size line");
    let array = refusal("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n5\n", "csf", ElementType::F64);
    assert!(array.contains("read as a whole"), "{array}");
    let narrow = said("# shape: 300 1 1\n300 1 1 1\n", "[compressed(u8), compressed, compressed]");
    assert!(narrow.contains("would store coordinate 299"), "{narrow}");
}

fn stored(tensor: &AnyTensor) -> (tempfile::TempDir, StoredTensor) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.spct");
    write_tensor(&path, tensor).unwrap();
    let stored = StoredTensor::open(&path).unwrap();
    (folder, stored)
}

#[test]
fn parts_of_a_file_are_those_of_the_tensor() {
    for text in FORMATS {
        for nnz in [0, 1, 7, 60] {
            let x = crate::generate::uniform(&[6, 5, 4], nnz, 3).unwrap();
            let x = crate::tensor::pack(x, &format(text, 3), Duplicates::Sum).unwrap();
            let (_folder, stored) = stored(&x);
            assert_eq!(
                (stored.shape(), stored.value_count(), stored.format()),
                (x.shape(), x.values().len(), x.format())
            );
            for (count, whole) in [(1, None), (2, None), (3, Some(0)), (7, Some(1)), (100, None)] {
                let expected = x.parts(count, whole).unwrap();
                let parts = stored.parts(count, whole).unwrap();
                assert_eq!(parts.len(), expected.len());
                // In any order.
                for number in (0..parts.len()).rev() {
                    assert!(parts.read(number).unwrap() == expected[number], "{text} {nnz} {count} {whole:?}");
                }
                parts.check().unwrap();
            }
        }
    }
}

/// Reads all parts of a file.
fn read_all(path: &Path) -> Result<Vec<AnyTensor>, super::super::ReadError> {
    let parts = StoredTensor::open(path)?.parts(3, None)?;
    let read = (0..parts.len()).map(|number| parts.read(number)).collect::<Result<_, _>>()?;
    parts.check()?;
    Ok(read)
}

#[test]
fn damage_is_found_wherever_it_is() {
    for text in ["csf", "coo", "[dense, compressed, compressed]", "scoo"] {
        let x = crate::generate::uniform(&[3, 4, 5], 9, 3).unwrap();
        let x = crate::tensor::pack(x, &format(text, 3), Duplicates::Sum).unwrap();
        let (folder, stored) = stored(&x);
        let bytes = fs::read(stored.path()).unwrap();
        let path = folder.path().join("damaged.spct");
        for place in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] ^= flip;
                fs::write(&path, &damaged).unwrap();
                assert!(read_all(&path).is_err(), "{text}: byte {place} by {flip}");
            }
            fs::write(&path, &bytes[..place]).unwrap();
            let error = read_all(&path).unwrap_err();
            assert_eq!(error.kind(), ReadErrorKind::Corrupt, "{text}: {place} bytes: {error}");
        }
        fs::write(&path, [&bytes[..], &[0]].concat()).unwrap();
        assert!(read_all(&path).unwrap_err().to_string().contains("too many"));
    }
}

#[test]
fn what_is_no_file_of_parts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.spct.gz");
    let x = crate::generate::uniform(&[3, 4], 5, 3).unwrap();
    let x = crate::tensor::pack(x, &format("ell", 2), Duplicates::Sum).unwrap();
    write_tensor(&path, &x).unwrap();
    assert!(StoredTensor::open(&path).unwrap_err().to_string().contains("gunzip"));
    assert!(StoredTensor::open(folder.path()).unwrap_err().to_string().contains("directory"));
    let (_folder, stored) = stored(&x);
    assert!(stored.parts(2, None).unwrap_err().to_string().contains("can't be cut"));
}

proptest! {
    /// Any bytes are an error, and no panic.
    #[test]
    fn no_bytes_are_read_beyond_their_end(bytes in proptest::collection::vec(any::<u8>(), 0..200), kept in 0_usize..120) {
        let x = crate::generate::uniform(&[3, 4, 5], 9, 3).unwrap();
        let x = crate::tensor::pack(x, &Format::csf(3), Duplicates::Sum).unwrap();
        let (folder, stored) = stored(&x);
        let good = fs::read(stored.path()).unwrap();
        let path = folder.path().join("any.spct");
        fs::write(&path, [&good[..kept.min(good.len())], &bytes].concat()).unwrap();
        prop_assert!(read_all(&path).is_err());
    }
}
