//! What holds for every map, whatever shape it meets: packing then iterating gives the entries, locating inverts iterating,
//! padding is empty, and the tensor is valid and packs again to itself.

use super::law::{Entries, coordinates};
use super::{AnyTensor, Coordinates, Duplicates, Indices, Values, pack, pack_filled};
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{Definitions, resolve};
use spc_compiler::syntax::parse_format;

type Subset<'a> = &'a dyn Fn(&[usize]) -> bool;

const MATRICES: &[&str] = &[
    "bcsr(1)",
    "bcsr(2)",
    "bcsr(3)",
    "hicoo(2)",
    "hicoo(128)",
    "(i, j) -> [i / 3: dense, j / 2: dense, i % 3: dense, j % 2: dense]",
    "(i, j) -> [j / 2: compressed, i: compressed, j % 2: dense]",
    "(i, j) -> [j - i: compressed, i: compressed]",
    "(i, j) -> [j - i: compressed, j: dense]",
    "(i, j) -> [j - i: dense, i: dense]",
    "(i, j) -> [i + j: compressed(nonunique), j: singleton]",
    "(i, j) -> [linear(i, j): compressed(u64)]",
    "(i, j) -> [linear(j, i): dense]",
    "(i, j) -> [i * 64 + j: compressed]",
    "(i, j) -> [interleave(i, j): compressed(u64)]",
    "(i, j) -> [interleave(i, j): dense]",
    "(i, j) -> [i: compressed(nonunique, morton), j: singleton]",
    "(i, j) -> [i / 4: compressed(nonunique, morton), j / 4: singleton, i % 4: dense, j % 4: dense]",
    "(i, j) -> [i / 12: dense, j: compressed, (i / 4) % 3: dense, i % 4: dense]",
    "(i, j) -> [i / 4: compressed(unordered), j: compressed(unordered), i % 4: dense]",
];

const TENSORS: &[&str] = &[
    "hicoo(2)",
    "hicoo(4)",
    "(i, j, k) -> [i / 2: dense, j: compressed, k / 3: compressed, i % 2: dense, k % 3: dense]",
    "(i...) -> [interleave(i): compressed(u64)]",
    "(i...) -> [linear(i): compressed(u64)]",
    "(i...) -> [linear(i): dense]",
    "(i, j, k) -> [interleave(i, k): compressed(u64), j: compressed]",
    "(i, j, k) -> [i: compressed(nonunique, morton), j: singleton(nonunique), k: singleton]",
    "(i, j, k) -> [i / 2: compressed(nonunique, morton), j / 2: singleton(nonunique), k / 2: singleton, \
     i % 2: compressed(nonunique, morton, u8), j % 2: singleton(nonunique, u8), k % 2: singleton(u8)]",
    "(i, j, k) -> [k - i: compressed, k - j: compressed, k: dense]",
];

fn format(text: &str, order: usize) -> Format {
    resolve(&parse_format(text).expect(text), order, &Definitions::prelude()).expect(text)
}

fn places(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |places: Vec<Vec<usize>>, &extent| {
        places.iter().flat_map(|place| (0..extent).map(move |index| [&place[..], &[index]].concat())).collect()
    })
}

fn obeys(tensor: &AnyTensor, entries: &Entries) {
    tensor.validate().unwrap();
    let stored = tensor.entries::<f64>().unwrap();
    let nonzeros: Entries = stored.iter().filter(|entry| entry.1 != 0.0).cloned().collect();
    assert_eq!(&nonzeros, entries, "{tensor:?}");
    assert_eq!(stored.len(), tensor.nnz());
    tensor
        .for_each_position(|index, position| assert_eq!(tensor.locate(index), Some(position), "{tensor:?} {index:?}"));
    let padding = tensor.padding();
    let is_entry = |place: &&Vec<usize>| tensor.locate(place).is_some_and(|position| !padding.contains(position));
    let found = places(tensor.shape()).iter().filter(is_entry).count();
    assert_eq!(found, tensor.nnz(), "{tensor:?}");
    assert_eq!(tensor.locate(tensor.shape()), None);
    assert_eq!(tensor.position_count(tensor.levels().len()), tensor.values().len());

    let parts = tensor.clone().into_parts();
    assert_eq!(AnyTensor::from_parts(parts.shape, parts.format, parts.levels, parts.values).as_ref(), Ok(tensor));
    let list = tensor.to_coordinates::<f64>().unwrap();
    assert_eq!(list.values.len(), tensor.nnz());
    assert_eq!(pack(list, tensor.format(), Duplicates::Refuse).as_ref(), Ok(tensor));
    let plain = tensor.convert(&Format::csf(tensor.order())).unwrap();
    assert!(plain.entries::<f64>().unwrap().into_iter().filter(|entry| entry.1 != 0.0).eq(nonzeros), "{tensor:?}");
}

fn all_obey(formats: &[&str], shapes: &[&[usize]]) {
    for text in formats {
        for shape in shapes {
            let format = format(text, shape.len());
            let places = places(shape);
            let value = |place: &Vec<usize>| place.iter().fold(1, |value, index| 5 * value + index) as f64;
            let is_last = |place: &[usize]| place.iter().zip(*shape).all(|(index, extent)| index + 1 == *extent);
            let is_some = |place: &[usize]| (7 * place[0] + 3 * place[1]).is_multiple_of(4);
            let subsets: [Subset<'_>; 4] = [&|_| true, &|_| false, &is_last, &is_some];
            for keep in subsets {
                let entries =
                    places.iter().filter(|place| keep(place)).map(|place| (place.clone(), value(place))).collect();
                match pack(coordinates(shape, &entries), &format, Duplicates::Refuse) {
                    Ok(tensor) => obeys(&tensor, &entries),
                    Err(error) => panic!("{format} {shape:?}: {error}"),
                }
            }
        }
    }
}

#[test]
fn matrices_of_every_map_obey() {
    all_obey(MATRICES, &[&[5, 7], &[8, 8], &[1, 9], &[9, 1], &[1, 1], &[0, 3], &[3, 0], &[0, 0], &[13, 4]]);
}

#[test]
fn tensors_of_every_map_obey() {
    all_obey(TENSORS, &[&[3, 4, 5], &[1, 1, 1], &[8, 1, 3], &[0, 2, 2], &[2, 0, 2], &[2, 9, 2]]);
}

#[test]
fn blocks_are_the_same_entries_in_every_size() {
    let entries: Entries =
        places(&[9, 11]).into_iter().filter(|place| (place[0] * place[1]) % 5 == 1).map(|place| (place, 2.0)).collect();
    let blocked = |size: usize| {
        pack(coordinates(&[9, 11], &entries), &format(&format!("bcsr({size})"), 2), Duplicates::Sum).unwrap()
    };
    for size in 1..13 {
        assert_eq!(blocked(size).convert(&Format::csf(2)).unwrap(), blocked(1).convert(&Format::csf(2)).unwrap());
        assert_eq!(blocked(3).convert(&format(&format!("bcsr({size})"), 2)).unwrap(), blocked(size));
    }
}

#[test]
fn chains_in_morton_order_are_sorted_by_interleaved_bits() {
    let entries: Entries = [[0, 3], [3, 0], [1, 1], [2, 0], [0, 2], [3, 3]].map(|index| (index.to_vec(), 1.0)).into();
    let morton = format("(i, j) -> [i: compressed(nonunique, morton), j: singleton]", 2);
    assert_eq!(
        morton.to_string(),
        "[compressed(nonunique, morton), singleton(unordered)]",
        "the singletons of the chain are in no order of their own"
    );
    let tensor = pack(coordinates(&[4, 4], &entries), &morton, Duplicates::Sum).unwrap();
    let order: Vec<Vec<usize>> = tensor.entries::<f64>().unwrap().into_iter().map(|(index, _)| index).collect();
    assert_eq!(order, [[1, 1], [2, 0], [3, 0], [0, 2], [0, 3], [3, 3]]);
}

#[test]
fn nothing_can_stand_in_padding() {
    let tensor =
        pack(coordinates(&[3, 3], &[(vec![2, 2], 1.0)].into()), &format("bcsr(2)", 2), Duplicates::Sum).unwrap();
    assert_eq!((tensor.values().len(), tensor.nnz()), (4, 1));
    let parts = tensor.into_parts();
    let values = Values::from(vec![1.0, 0.0, 0.5, 0.0]);
    let error = AnyTensor::from_parts(parts.shape, parts.format, parts.levels, values).unwrap_err();
    assert_eq!(
        error.to_string(),
        "position 2 is padding, outside of the tensor's shape, but its value is not the fill value"
    );
}

#[test]
fn maps_without_room_for_a_shape_are_refused() {
    let refusal = |text: &str, shape: &[usize]| {
        let none = Coordinates {
            shape: shape.to_vec(),
            shape_is_stated: true,
            indices: vec![Indices::U32(vec![]); shape.len()],
            values: vec![0.0f64; 0],
        };
        pack(none, &format(text, shape.len()), Duplicates::Sum).unwrap_err().to_string()
    };
    let linear = refusal("(i, j) -> [i * 8 + j: compressed]", &[4, 9]);
    assert!(
        linear.ends_with("`j` has 9 values, but its place in the sum has room for 8; write a larger number for `8`"),
        "{linear}"
    );
    let wide = refusal("(i...) -> [interleave(i): compressed(u64)]", &[1 << 30, 1 << 30, 1 << 30]);
    assert!(wide.contains("takes more than 64 bits in this shape"), "{wide}");
    let narrow = pack(
        Coordinates {
            shape: vec![1 << 20, 1 << 20],
            shape_is_stated: true,
            indices: vec![Indices::U32(vec![9_000]); 2],
            values: vec![1.0],
        },
        &format("(i, j) -> [interleave(i, j): compressed(u16)]", 2),
        Duplicates::Sum,
    );
    assert!(narrow.unwrap_err().to_string().contains("write `compressed(u32)`"));
}

#[test]
fn holes_and_padding_hold_the_fill_value() {
    let entries: Entries = [(vec![2, 2], 1.0), (vec![0, 1], 2.0)].into();
    for text in ["bcsr(2)", "tiled(2)", "dia", "ell", "alto", "[bitmap, bitmap]"] {
        let tensor =
            pack_filled(coordinates(&[3, 3], &entries), &format(text, 2), Duplicates::Sum, f64::INFINITY).unwrap();
        tensor.validate().unwrap();
        let dense = tensor.convert(&Format::dense(2)).unwrap();
        let expected = places(&[3, 3])
            .iter()
            .map(|place| entries.get(place).copied().unwrap_or(f64::INFINITY))
            .collect::<Vec<_>>();
        assert_eq!(dense.values_of::<f64>(), Some(&expected[..]), "{text}");
    }
}
