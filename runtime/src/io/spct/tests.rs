use super::*;
use spc_compiler::format::{Coordinate, Format, Level, LevelFormat};
use spc_compiler::ir::Literal;

fn csr() -> AnyTensor {
    let columns = LevelArrays::of(IndexArray::from(vec![0u32, 1, 3]), IndexArray::from(vec![1u32, 0, 2]));
    let format = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
    AnyTensor::from_parts(vec![2, 3], format, vec![LevelArrays::NONE, columns], Values::from(vec![2.0, 3.0, 4.0]))
        .unwrap()
}

fn coo() -> AnyTensor {
    let mut format = Format::coo(2);
    let [rows, columns] = &mut format.levels[..] else { unreachable!("a matrix has two levels") };
    rows.format = rows.format.with_coordinates(IndexWidth::U8).with_positions(IndexWidth::U64);
    columns.format = columns.format.with_coordinates(IndexWidth::U16);
    let rows = LevelArrays::of(IndexArray::from(vec![0u64, 2]), IndexArray::from(vec![4u8, 4]));
    let columns = LevelArrays::of_coordinates(IndexArray::from(vec![1u16, 700]));
    AnyTensor::from_parts(vec![5, 1000], format, vec![rows, columns], Values::from(vec![-1i32, 7])).unwrap()
}

fn scalar() -> AnyTensor {
    AnyTensor::from_parts(vec![], Format::dense(0), vec![], Values::from(vec![5u8])).unwrap()
}

fn truths() -> AnyTensor {
    AnyTensor::from_parts(vec![3], Format::dense(1), vec![LevelArrays::NONE], Values::from(vec![true, false, true]))
        .unwrap()
}

fn complex() -> AnyTensor {
    let values = Values::from(vec![crate::complex::c64::new(1.0, -2.0)]);
    AnyTensor::from_parts(vec![], Format::dense(0), vec![], values).unwrap()
}

fn file(tensor: &AnyTensor) -> Vec<u8> {
    let mut file = Vec::new();
    write(&mut file, tensor).unwrap();
    file
}

/// The file with a checksum that fits, for damage that the checksum would otherwise find first.
fn summed(mut file: Vec<u8>) -> Vec<u8> {
    file.truncate(file.len() - 4);
    let mut crc = Crc::new();
    crc.update(&file);
    file.extend_from_slice(&crc.sum().to_le_bytes());
    file
}

#[test]
fn tensors_come_back_as_they_were() {
    for tensor in [csr(), coo(), scalar(), truths(), complex()] {
        assert_eq!(parse(&file(&tensor)).unwrap(), tensor);
    }
}

#[test]
fn fill_values_come_back() {
    let fills = [Literal::Float(ElementType::F64, f64::INFINITY), Literal::Float(ElementType::F64, -0.1)];
    for fill in fills {
        let tensor = csr().with_fill(fill);
        let file = file(&tensor);
        assert!(parse(&file).unwrap().fill().equals(fill), "{fill:?}");
        assert_eq!(parse(&file).unwrap(), tensor);
    }
    let bytes = scalar().with_fill(Literal::Integer(ElementType::U8, 200));
    assert_eq!(parse(&file(&bytes)).unwrap(), bytes);
    let wrong = String::from_utf8_lossy(&file(&bytes)).replace("fill 200", "fill 300").into_bytes();
    assert!(parse(&summed(wrong)).is_err());
}

#[test]
fn the_header_is_legible() {
    let file = file(&coo());
    let header = "element i32\nshape 5 1000\nlevel i0 compressed nonunique ordered u8 u64\n\
                  level i1 singleton unique ordered u16 u32\n";
    assert_eq!(&file[16..16 + header.len()], header.as_bytes());
}

/// Files of a 3 × 4 matrix, and of a diagonal one, that an earlier spc wrote: a level of every kind that there was.
macro_rules! file {
    ($name:literal) => {
        ($name, include_bytes!(concat!("version_1/", $name)).as_slice())
    };
}

const OLD: &[(&str, &[u8])] = &[
    file!("banded.spct"),
    file!("bitmap.spct"),
    file!("compressed.spct"),
    file!("compressed_u8_pos_u16.spct"),
    file!("coo.spct"),
    file!("dense.spct"),
    file!("diagonal.spct"),
    file!("flagged.spct"),
    file!("hashed.spct"),
    file!("mcoo.spct"),
    file!("padded.spct"),
    file!("padded_width_3.spct"),
    file!("run.spct"),
    file!("sliced_rows_2.spct"),
];

#[test]
fn files_of_earlier_versions_are_read_and_written_as_they_were() {
    let matrix = [([0, 1], 1.5), ([0, 3], 2.0), ([1, 1], 6.0), ([2, 0], 3.0), ([2, 2], 4.0), ([2, 3], 5.0)];
    for (name, old) in OLD {
        let tensor = parse(old).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(file(&tensor), *old, "{name}");
        let mut found: Vec<(Vec<usize>, f64)> = tensor.entries().unwrap();
        found.retain(|(_, value)| *value != 0.0);
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let expected: Vec<(Vec<usize>, f64)> = match *name {
            "diagonal.spct" => vec![(vec![0, 0], 7.0), (vec![1, 1], 8.0)],
            _ => matrix.iter().map(|(index, value)| (index.to_vec(), *value)).collect(),
        };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn coordinates_nest() {
    let mode = || Box::new(Coordinate::Mode(0));
    let four = || Box::new(Coordinate::Constant(4));
    let extent = || Box::new(Coordinate::Extent(0));
    let levels = vec![
        Level { coordinate: Coordinate::Divide(mode(), four()), format: LevelFormat::DENSE },
        Level {
            coordinate: Coordinate::Add(Box::new(Coordinate::Remainder(mode(), four())), four()),
            format: LevelFormat::DENSE,
        },
        Level {
            coordinate: Coordinate::Interleave(vec![Coordinate::Mode(0), Coordinate::Multiply(mode(), extent())]),
            format: LevelFormat::COMPRESSED,
        },
    ];
    let (element, format) = (ElementType::F64, Format { order: 1, levels, symmetry: None });
    let header = Header { element, fill: element.zero(), shape: vec![8], format };
    assert!(header.to_string().contains("level + % i0 4 4 dense"));
    assert!(header.to_string().contains("level interleave 2 i0 * i0 extent i0 compressed"));
    assert_eq!(header::parse(header.to_string().as_bytes()).unwrap(), header);
    let deep = format!("element f64\nshape 8\nlevel {}", "+ ".repeat(100_000));
    assert_eq!(header::parse(deep.as_bytes()).unwrap_err().kind(), ReadErrorKind::Header);
}

#[test]
fn no_damage_goes_unnoticed() {
    for tensor in [csr(), coo(), scalar(), truths(), complex()] {
        let whole = file(&tensor);
        for length in 0..whole.len() {
            parse(&whole[..length]).expect_err("cut short");
        }
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x41;
            parse(&damaged).expect_err("a byte changed");
        }
    }
}

#[test]
fn hostile_files_with_a_right_checksum_neither_crash_nor_allocate() {
    for tensor in [csr(), coo(), scalar(), truths(), complex()] {
        let whole = file(&tensor);
        for place in 0..whole.len() - 4 {
            for byte in [0, 1, 0x7f, 0x80, 0xff, b' ', b'9'] {
                let mut hostile = whole.clone();
                hostile[place] = byte;
                // An error or another valid tensor.
                let _ = parse(&summed(hostile)).map(|tensor| tensor.validate().unwrap());
            }
        }
        let mut short = whole.clone();
        short.drain(whole.len() - 6..whole.len() - 4);
        assert_eq!(parse(&summed(short)).unwrap_err().kind(), ReadErrorKind::Corrupt);
    }
}

#[test]
fn messages() {
    let whole = file(&csr());
    let of = |file: Vec<u8>| parse(&file).unwrap_err().to_string();
    let changed = |from: &str, to: &str| {
        let place = whole.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        let mut file = whole.clone();
        file.splice(place..place + from.len(), to.bytes());
        file[12] = (usize::from(whole[12]) + to.len() - from.len()) as u8;
        summed(file)
    };
    assert_eq!(
        of(b"PK\x03\x04abc".to_vec()),
        r"begins with 'PK\u{3}\u{4}abc': a .spct file begins with '\x89SPCT\r\n\n'"
    );
    assert_eq!(of(whole[..60].to_vec()), "the checksum is wrong: the file is damaged or cut short, get it again");
    assert_eq!(of(changed("f64", "f99")), "the header has an unknown element type");
    assert_eq!(of(changed("shape 2 3", "shape 2 x")), "the header has ' 2 x' where it should have extents");
    assert_eq!(
        of(changed("compressed", "compacted ")),
        "the header has 'level i1 compacted  unique ordered u32 u...' where it should have a level"
    );
    assert_eq!(
        of(changed("shape 2 3", "shape 2 2")),
        "level 2 has coordinate 2 at position 2, but mode 2 has extent 2"
    );
    let mut newer = whole.clone();
    newer[8] = 2;
    assert_eq!(of(newer), "version 2 of the .spct format is not supported: this is version 1");
}

#[test]
fn a_byte_that_is_no_truth_value_is_damage() {
    let mut file = file(&truths());
    let last = file.len() - 5;
    file[last] = 2;
    assert_eq!(parse(&summed(file)).unwrap_err().message(), "a value is none of bool");
}
