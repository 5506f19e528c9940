//! Tensors of every element type, in every format, with every fill value, through every kind of file: what comes back has the same
//! bits at every index, and what a kind can't hold is refused.

use std::collections::BTreeMap;

use spc_compiler::format::Format;
use spc_compiler::format::resolve::{Definitions, resolve};
use spc_compiler::syntax;

use super::narrow;
use crate::complex::{c32, c64};
use crate::half::{bf16, f16};
use crate::io::{Contents, FileType, Filled, ReadOptions, TensorFile, Value, write_tensor, write_tensor_to};
use crate::tensor::same_bits;
use crate::tensor::{AnyTensor, Coordinates, Duplicates, ElementType, pack_filled};

/// Those that this build of the crate writes.
fn kinds() -> impl Iterator<Item = (FileType, &'static str)> {
    let is_there =
        |kind: &FileType| kind.kind().writer().is_some() && (*kind != FileType::Npz || cfg!(feature = "npz"));
    FileType::ALL.into_iter().filter(is_there).map(|kind| (kind, kind.name()))
}

/// Formats, by the order of the tensors that they are for.
const FORMATS: [&[&str]; 4] = [
    &["dense"],
    &["dense", "[compressed]", "[bitmap]", "[hashed]", "[banded]", "[run]", "[padded]", "tiled(2)", "lco"],
    &[
        "dense",
        "csr",
        "csc",
        "dcsr",
        "coo",
        "csf",
        "bcsr(2)",
        "csb(2)",
        "dia",
        "tiled(2)",
        "bcsf(2)",
        "scoo",
        "mcoo",
        "lco",
        "alto",
        "hicoo(2)",
        "cfb",
        "ell",
        "sell(2)",
        "fcoo",
        "structured(2, 2)",
        "diagonal",
        "skyline",
        "[dense, bitmap]",
        "[dense, hashed]",
        "[dense, run]",
        "[compressed, bitmap]",
        "[compressed(nonunique, unordered), singleton(unordered)]",
    ],
    &[
        "dense",
        "csf",
        "coo",
        "alto",
        "hicoo(2)",
        "shicoo(2)",
        "ghicoo(2)",
        "fcoo",
        "hocsr",
        "[dense, dense, run]",
        "tiled(2)",
    ],
];

const SHAPES: [&[&[usize]]; 4] =
    [&[&[]], &[&[0], &[1], &[7]], &[&[0, 3], &[3, 0], &[1, 1], &[5, 4]], &[&[2, 0, 3], &[1, 1, 1], &[3, 4, 2]]];

fn format(text: &str, order: usize) -> Format {
    resolve(&syntax::parse_format(text).unwrap(), order, &Definitions::prelude()).unwrap()
}

/// Values that are hard to keep, and what may stand for missing entries.
struct Elements<T> {
    values: Vec<T>,
    fills: Vec<T>,
}

/// A tensor of some of all places, in turn with each value. `share` is 0 for no entries, 1 for all, 3 for every third.
fn entries<T: Value>(shape: &[usize], values: &[T], share: usize) -> Coordinates<T> {
    let count: usize = shape.iter().product();
    let kept = |place: &usize| share > 0 && place.is_multiple_of(share);
    let places: Vec<usize> = (0..count).filter(kept).collect();
    let index = |mode: usize| {
        let stride: usize = shape[mode + 1..].iter().product();
        narrow(&places.iter().map(|place| (place / stride % shape[mode]) as u32).collect::<Vec<_>>())
    };
    let indices = (0..shape.len()).map(index).collect();
    let values = (0..places.len()).map(|number| values[number % values.len()]).collect();
    Coordinates { shape: shape.to_vec(), shape_is_stated: true, indices, values }
}

/// The value at each place.
fn everywhere<T: Value>(Filled { entries, fill }: &Filled<T>) -> Vec<T> {
    let mut elements = vec![fill.unwrap_or(T::ZERO); entries.shape.iter().product()];
    for (entry, &value) in entries.values.iter().enumerate() {
        let place = entries
            .indices
            .iter()
            .zip(&entries.shape)
            .fold(0, |place, (mode, extent)| place * extent + mode.at(entry) as usize);
        elements[place] = value;
    }
    elements
}

fn filled<T: Value>(contents: Contents<T>) -> Filled<T> {
    match contents {
        Contents::Entries(filled) => filled,
        Contents::Tensor(tensor) => {
            Filled { entries: tensor.to_coordinates().unwrap(), fill: T::from_literal(tensor.fill()) }
        }
    }
}

fn is_equal<T: Value>(one: T, other: T) -> bool {
    one == other
}

/// Whether two values are the same: in text, every NaN is one.
fn agree<T: Value>(one: T, other: T, in_text: bool) -> bool {
    let text = |value: T| {
        let mut text = Vec::new();
        value.print(&mut text);
        text
    };
    same_bits(&one, &other) || in_text && text(one) == text(other) && !is_equal(one, one)
}

fn check<T: Value>(read: &TensorFile, tensor: &AnyTensor, kind: FileType, context: &str) {
    let element = read.element().unwrap().unwrap_or(ElementType::F64);
    // A number in a `.tns` file is one line without comments.
    if kind != FileType::Tns || !tensor.shape().is_empty() {
        assert_eq!(element, tensor.element(), "{context}");
    }
    let contents = read.contents::<T>().unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(contents.shape(), tensor.shape(), "{context}");
    if let (FileType::Spct, Contents::Tensor(read)) = (kind, &contents) {
        assert_eq!((read.format(), format!("{:?}", read.fill())), (tensor.format(), format!("{:?}", tensor.fill())));
        assert_eq!(read.values().as_bytes(), tensor.values().as_bytes(), "{context}");
        assert_eq!(read.levels(), tensor.levels(), "{context}");
    }
    let (expected, found) = (filled(Contents::<T>::Tensor(tensor.clone())), filled(contents));
    let fills = tensor.format().levels.last().is_none_or(|last| last.format.kind.fills);
    // What is stored stays stored, also where it is what stands for missing entries.
    if kind != FileType::Npy && !fills {
        assert_eq!(found.entries.values.len(), tensor.nnz(), "{context}");
    }
    let in_text = matches!(kind, FileType::Tns | FileType::Mtx);
    let (expected, found) = (everywhere(&expected), everywhere(&found));
    assert_eq!(expected.len(), found.len(), "{context}");
    for (place, (&expected, &found)) in expected.iter().zip(&found).enumerate() {
        assert!(agree(expected, found, in_text), "{context}: {found:?} at place {place}, where {expected:?} was");
    }
}

/// What was refused, how often; and how many came back.
#[derive(Default)]
struct Counts {
    refused: BTreeMap<String, usize>,
    unstored: BTreeMap<String, usize>,
    back: usize,
}

fn round_trips<T: Value>(elements: &Elements<T>, counts: &mut Counts) {
    let folder = tempfile::tempdir().unwrap();
    for (order, (formats, shapes)) in FORMATS.iter().zip(SHAPES).enumerate() {
        for (name, shape, share) in formats
            .iter()
            .flat_map(|name| shapes.iter().map(move |shape| (name, shape)))
            .flat_map(|(name, shape)| [0, 1, 3].map(|share| (name, shape, share)))
        {
            for &fill in &elements.fills {
                let values = [&elements.values[..], &[fill]].concat();
                let packed =
                    pack_filled(entries(shape, &values, share), &format(name, order), Duplicates::Refuse, fill);
                let Ok(tensor) = packed else {
                    *counts.unstored.entry((*name).to_owned()).or_default() += 1;
                    continue;
                };
                for (kind, extension) in kinds() {
                    let context = format!("{} {name} {shape:?} share {share} fill {fill} .{extension}", T::TYPE);
                    let mut bytes = Vec::new();
                    match write_tensor_to(&mut bytes, (kind, false), &tensor) {
                        Err(error) => *counts.refused.entry(error.to_string()).or_default() += 1,
                        Ok(()) => {
                            check::<T>(&TensorFile::of_bytes(kind, bytes), &tensor, kind, &context);
                            counts.back += 1;
                        }
                    }
                    // Through the disk, compressed and not, with one fill value for each format.
                    let is_last = elements.fills.last().is_some_and(|last| same_bits(last, &fill)) && share == 3;
                    let is_refused = kind == FileType::Npz && !fill.is_absent() && !tensor.format().is_dense();
                    if !is_last
                        || is_refused
                        || shape.iter().product::<usize>() < 7
                        || order == 3 && kind == FileType::Mtx
                    {
                        continue;
                    }
                    for suffix in ["", ".gz"] {
                        let path = folder.path().join(format!("x.{extension}{suffix}"));
                        write_tensor(&path, &tensor).unwrap();
                        check::<T>(&TensorFile::open(&path, &ReadOptions::default()).unwrap(), &tensor, kind, &context);
                    }
                }
            }
        }
    }
}

macro_rules! floats {
    ($type:ident) => {
        Elements {
            values: vec![
                1.5,
                0.0,
                -0.0,
                $type::NAN,
                $type::INFINITY,
                $type::NEG_INFINITY,
                $type::MAX,
                $type::MIN_POSITIVE,
                $type::from_bits(1),
                -0.1,
                1.0 / 3.0,
                1e15,
                16_777_217.0,
            ],
            fills: vec![0.0, -0.0, 7.0, 0.1, $type::INFINITY, $type::NAN],
        }
    };
}

macro_rules! complex {
    ($type:ident, $part:ident) => {
        Elements {
            values: [
                (1.5, -2.0),
                (0.0, -0.0),
                (-0.0, 0.0),
                ($part::NAN, 1.0),
                (0.0, $part::NEG_INFINITY),
                (0.1, 1e-30),
            ]
            .map(|(re, im)| $type::new(re, im))
            .to_vec(),
            fills: [0.0, 7.0, $part::INFINITY].map(|re| $type::new(re, 0.0)).to_vec(),
        }
    };
}

macro_rules! halves {
    ($type:ident, $bits:expr) => {
        Elements {
            values: $bits.map($type::from_bits).to_vec(),
            fills: [0.0, -0.0, 7.0, 0.1, f32::INFINITY, f32::NAN].map($type::from).to_vec(),
        }
    };
}

/// What was refused, and which formats hold not every pattern of entries.
fn refused(counts: &Counts) -> (Vec<&str>, Vec<&str>) {
    assert!(counts.back > 1000, "{} came back", counts.back);
    (counts.refused.keys().map(String::as_str).collect(), counts.unstored.keys().map(String::as_str).collect())
}

fn only_matrices_are_refused(counts: &Counts) {
    let message = "a .mtx file holds a matrix, but this tensor has order 3: write it as .tns";
    let formats = ["[banded]", "[run]", "[padded]", "[dense, run]", "diagonal", "structured(2, 2)", "fcoo"];
    let (messages, unstored) = refused(counts);
    let of_fills = "in a sparse .npz file it is zero: write it as .tns or .spct";
    let (fills, messages): (Vec<&str>, Vec<&str>) = messages.iter().partition(|found| found.ends_with(of_fills));
    assert_eq!(messages, [message]);
    assert_eq!(fills.is_empty(), cfg!(not(feature = "npz")));
    assert!(unstored.iter().all(|name| formats.contains(name)), "{unstored:?}");
}

macro_rules! each_type {
    ($($name:ident: $type:ident = $elements:expr;)*) => {$(
        #[test]
        fn $name() {
            let mut counts = Counts::default();
            round_trips::<$type>(&$elements, &mut counts);
            only_matrices_are_refused(&counts);
        }
    )*};
}

each_type! {
    doubles: f64 = floats!(f64);
    singles: f32 = floats!(f32);
    long_integers: i64 = Elements {
        values: vec![1, 0, -1, i64::MIN, i64::MAX, (1 << 53) + 1, -(1 << 60) - 1],
        fills: vec![0, 7, i64::MIN, i64::MAX],
    };
    integers: i32 = Elements { values: vec![1, 0, -1, i32::MIN, i32::MAX], fills: vec![0, 7, i32::MIN] };
    bytes: u8 = Elements { values: vec![1, 0, 255, 10], fills: vec![0, 7, 255] };
    halves: f16 = halves!(f16, [0x3e00, 0x0000, 0x8000, 0x7e00, 0x7c00, 0xfc00, 0x7bff, 0x0400, 0x0001, 0xae66, 0x3555]);
    brain_halves: bf16 = halves!(bf16, [0x3fc0, 0x0000, 0x8000, 0x7fc0, 0x7f80, 0xff80, 0x7f7f, 0x0080, 0x0001, 0xbdcd]);
    signed_bytes: i8 = Elements { values: vec![1, 0, -1, -128, 127], fills: vec![0, 7, -128] };
    short_integers: i16 = Elements { values: vec![1, 0, -1, i16::MIN, i16::MAX], fills: vec![0, 7, i16::MIN] };
    short_naturals: u16 = Elements { values: vec![1, 0, u16::MAX, 256], fills: vec![0, 7, u16::MAX] };
    naturals: u32 = Elements { values: vec![1, 0, u32::MAX, 1 << 31], fills: vec![0, 7, u32::MAX] };
    long_naturals: u64 = Elements { values: vec![1, 0, u64::MAX, 1 << 63], fills: vec![0, 7, u64::MAX] };
    truths: bool = Elements { values: vec![true, false, false, true], fills: vec![false, true] };
    complex_doubles: c64 = complex!(c64, f64);
    complex_singles: c32 = complex!(c32, f32);
}
