use super::*;
use crate::parallel::with_threads;
use crate::tensor::law::may_refuse;
use crate::tensor::{Indices, InvalidTensor};
use proptest::prelude::*;
use spc_compiler::format::{Format, IndexWidth, LevelFormat, LevelKind, Order, Vacancies};
use spc_compiler::level;
use std::collections::BTreeMap;

const DENSE: LevelFormat = LevelFormat::DENSE;
const COMPRESSED: LevelFormat = LevelFormat::COMPRESSED;
const SINGLETON: LevelFormat = LevelFormat::SINGLETON;

fn coordinates(shape: &[usize], entries: &[(&[usize], f64)]) -> Coordinates<f64> {
    let column = |mode: usize| Indices::U32(entries.iter().map(|(index, _)| index[mode] as u32).collect());
    Coordinates {
        shape: shape.to_vec(),
        shape_is_stated: true,
        indices: (0..shape.len()).map(column).collect(),
        values: entries.iter().map(|entry| entry.1).collect(),
    }
}

fn packed(shape: &[usize], entries: &[(&[usize], f64)], levels: &[LevelFormat]) -> Result<AnyTensor, PackError> {
    pack(coordinates(shape, entries), &Format::of_levels(levels.iter().copied()), Duplicates::Sum)
}

/// `| 0 1 0 |`
/// `| 0 0 0 |`
/// `| 2 0 3 |`
const MATRIX: &[(&[usize], f64)] = &[(&[2, 2], 3.0), (&[0, 1], 1.0), (&[2, 0], 2.0)];

fn arrays(tensor: &AnyTensor) -> String {
    let list = |array: Option<&crate::tensor::IndexArray>| array.map(|array| array.iter().collect::<Vec<_>>());
    let level = |level| match (list(tensor.positions(level)), list(tensor.coordinates(level))) {
        (Some(positions), Some(coordinates)) => format!("{positions:?} {coordinates:?}"),
        (None, Some(coordinates)) => format!("{coordinates:?}"),
        _ => "dense".to_owned(),
    };
    let levels: Vec<String> = (0..tensor.levels().len()).map(level).collect();
    format!("{}; {:?}", levels.join("; "), tensor.values_of::<f64>().unwrap())
}

#[test]
fn arrays_are_as_everybody_knows_them() {
    let csr = packed(&[3, 3], MATRIX, &[DENSE, COMPRESSED]).unwrap();
    assert_eq!(arrays(&csr), "dense; [0, 1, 1, 3] [1, 0, 2]; [1.0, 2.0, 3.0]");
    let dcsr = packed(&[3, 3], MATRIX, &[COMPRESSED, COMPRESSED]).unwrap();
    assert_eq!(arrays(&dcsr), "[0, 2] [0, 2]; [0, 1, 3] [1, 0, 2]; [1.0, 2.0, 3.0]");
    let coo = packed(&[3, 3], MATRIX, &[COMPRESSED.nonunique(), SINGLETON]).unwrap();
    assert_eq!(arrays(&coo), "[0, 3] [0, 2, 2]; [1, 0, 2]; [1.0, 2.0, 3.0]");
    let rows = packed(&[3, 3], MATRIX, &[COMPRESSED, DENSE]).unwrap();
    assert_eq!(arrays(&rows), "[0, 2] [0, 2]; dense; [0.0, 1.0, 0.0, 2.0, 0.0, 3.0]");
    let csc = pack(coordinates(&[3, 3], MATRIX), &Format::permuted(&[1, 0], &[DENSE, COMPRESSED]), Duplicates::Sum);
    assert_eq!(arrays(&csc.unwrap()), "dense; [0, 1, 2, 3] [2, 0, 2]; [2.0, 1.0, 3.0]");
}

#[test]
fn semi_sparse_coordinates_stand_once_for_each_fiber() {
    let entries: &[(&[usize], f64)] = &[(&[1, 0, 1], 1.0), (&[1, 0, 0], 2.0), (&[1, 2, 1], 3.0), (&[0, 1, 1], 4.0)];
    let scoo = packed(&[2, 3, 2], entries, &[COMPRESSED.nonunique(), SINGLETON, DENSE]).unwrap();
    assert_eq!(arrays(&scoo), "[0, 3] [0, 1, 1]; [1, 0, 2]; dense; [0.0, 4.0, 2.0, 1.0, 0.0, 3.0]");
}

#[test]
fn a_singleton_of_a_dense_level_is_filled_up_with_zeros() {
    let one_a_row: &[(&[usize], f64)] = &[(&[2, 2], 3.0), (&[0, 1], 1.0)];
    let tensor = packed(&[3, 3], one_a_row, &[DENSE, SINGLETON]).unwrap();
    assert_eq!(arrays(&tensor), "dense; [1, 0, 2]; [1.0, 0.0, 3.0]");
}

#[test]
fn duplicates_are_summed_or_refused() {
    let twice: &[(&[usize], f64)] = &[(&[1, 2], 3.0), (&[0, 1], 1.0), (&[1, 2], 4.0)];
    assert_eq!(
        arrays(&packed(&[2, 3], twice, &[COMPRESSED; 2]).unwrap()),
        "[0, 2] [0, 1]; [0, 1, 2] [1, 2]; [1.0, 7.0]"
    );
    let error = pack(coordinates(&[2, 3], twice), &Format::csf(2), Duplicates::Refuse).unwrap_err();
    assert_eq!(error, PackError::Duplicate { index: vec![1, 2] });
    assert!(error.to_string().contains("(2, 3) occurs more than once (counting from 1"));
}

#[test]
fn order_zero_holds_one_value() {
    let scalar = |values: &[(&[usize], f64)], duplicates| pack(coordinates(&[], values), &Format::dense(0), duplicates);
    assert_eq!(arrays(&scalar(&[], Duplicates::Refuse).unwrap()), "; [0.0]");
    assert_eq!(arrays(&scalar(&[(&[], 2.0), (&[], 3.0)], Duplicates::Sum).unwrap()), "; [5.0]");
    assert!(scalar(&[(&[], 2.0), (&[], 3.0)], Duplicates::Refuse).is_err());
}

#[test]
fn errors_name_the_remedy() {
    let message = |shape: &[usize], entries: &[(&[usize], f64)], levels: &[LevelFormat]| {
        packed(shape, entries, levels).unwrap_err().to_string()
    };
    let narrow = COMPRESSED.with_coordinates(IndexWidth::U8);
    let text = message(&[400], &[(&[300], 1.0)], &[narrow]);
    assert_eq!(
        text,
        "level 1, `compressed(u8)`, would store coordinate 300, but u8 holds up to 255 only; write `compressed(u16)`"
    );
    let narrow = COMPRESSED.with_positions(IndexWidth::U8);
    let entries: Vec<[usize; 1]> = (0..256).map(|index| [index]).collect();
    let entries: Vec<(&[usize], f64)> = entries.iter().map(|index| (&index[..], 1.0)).collect();
    let text = message(&[256], &entries, &[narrow]);
    assert!(
        text.contains("would have 256 positions, but u8 holds up to 255 only; write `compressed(pos = u16)`"),
        "{text}"
    );
    let text = message(&[2, 2], &[(&[0, 0], 1.0), (&[0, 2], 1.0)], &[COMPRESSED; 2]);
    assert!(text.contains("entry 2 has index 3 in mode 2, whose extent is 2 (counting from 1"), "{text}");
    let text = message(&[2, 2], &[(&[1, 0], 1.0), (&[1, 1], 1.0)], &[COMPRESSED, SINGLETON]);
    assert!(
        text.contains("level 2 is `singleton`, but has two coordinates under one parent, the second in entry (2, 2)"),
        "{text}"
    );
    let coo = [COMPRESSED.nonunique(), SINGLETON, SINGLETON];
    let text = message(&[2, 2, 2], &[(&[1, 1, 0], 1.0), (&[1, 1, 1], 1.0)], &coo);
    assert!(text.contains("level 2 is unique, but would repeat the coordinate of entry (2, 2, 2)"), "{text}");
    assert!(message(&[0, 2], &[], &[SINGLETON, DENSE]).contains("mode 1 has extent 0"));
    let large = usize::MAX / 2;
    assert!(message(&[large, large], &[], &[DENSE, DENSE]).contains("write `compressed` for large modes"));
    assert!(message(&[1 << 40, 1 << 30], &[], &[DENSE, DENSE]).contains("more than can be stored"));
    assert!(message(&[1 << 43, 5], &[], &[DENSE, COMPRESSED]).contains("more than can be stored"));
    let ragged = Coordinates { indices: vec![Indices::U32(vec![0])], ..coordinates(&[3], &[]) };
    let ragged = pack(ragged, &Format::csf(1), Duplicates::Sum).unwrap_err();
    assert_eq!(ragged, PackError::Ragged { mode: 0, indices: 1, values: 0 });
    let wrong_order = packed(&[3], &[], &[DENSE, DENSE]).unwrap_err();
    assert!(matches!(wrong_order, PackError::Invalid(InvalidTensor::Order { order: 2, modes: 1, .. })));
}

#[test]
fn wide_indices_take_wide_keys() {
    let extents = [1usize << 62, 1 << 61, 1 << 50, 1 << 40];
    for order in 1..=4 {
        let wide = COMPRESSED.with_coordinates(IndexWidth::U64);
        let indices = (0..order).map(|mode| Indices::U64(vec![extents[mode] as u64 - 1, 7, 7])).collect();
        let shape = extents[..order].to_vec();
        let entries = Coordinates { shape, shape_is_stated: true, indices, values: vec![1.0, 2.0, 3.0] };
        let tensor = pack(entries, &Format::of_levels(vec![wide; order]), Duplicates::Sum).unwrap();
        let last: Vec<usize> = extents[..order].iter().map(|extent| extent - 1).collect();
        assert_eq!(tensor.entries::<f64>().unwrap(), [(vec![7; order], 5.0), (last, 1.0)]);
    }
}

#[test]
fn what_happens_between_two_tasks_is_seen() {
    let grain = 1u32 << 16;
    let tensor = |indices: Vec<u32>, duplicates| {
        let values = vec![1.0; indices.len()];
        let indices = vec![Indices::U32(indices)];
        let entries = Coordinates { shape: vec![1 << 20], shape_is_stated: true, indices, values };
        pack(entries, &Format::csf(1), duplicates)
    };
    let halves_swapped = tensor((grain..2 * grain).chain(0..grain).collect(), Duplicates::Refuse).unwrap();
    halves_swapped.validate().unwrap();
    assert_eq!(halves_swapped, tensor((0..2 * grain).collect(), Duplicates::Refuse).unwrap());
    let twice: Vec<u32> = (0..grain).chain(grain - 1..2 * grain).collect();
    assert!(tensor(twice.clone(), Duplicates::Refuse).is_err());
    let summed = tensor(twice, Duplicates::Sum).unwrap();
    summed.validate().unwrap();
    assert_eq!((summed.nnz(), summed.get(&[grain as usize - 1])), (2 * grain as usize, Ok(Some(2.0))));
}

/// Every level of the list, where several kinds of properties make sense all of them.
fn level_formats() -> impl Strategy<Value = LevelFormat> {
    let kinds: Vec<LevelKind> = level::ALL.iter().map(|level| level.kind()).collect();
    let width = prop::sample::select(IndexWidth::ALL.to_vec());
    (prop::sample::select(kinds), any::<bool>(), prop::bool::weighted(0.8), width.clone(), width).prop_map(
        |(kind, unique, ordered, coordinates, positions)| {
            let level =
                LevelFormat::new(kind).with_unique(unique).with_coordinates(coordinates).with_positions(positions);
            if ordered { level } else { level.with_order(Order::Any) }
        },
    )
}

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<usize>,
    format: Format,
    entries: Vec<(Vec<usize>, f64)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let modes = (0usize..=4).prop_flat_map(|order| {
        let levels = prop::collection::vec(level_formats(), order);
        let shape = prop::collection::vec(prop::sample::select(vec![0usize, 1, 1, 2, 3, 5, 9]), order);
        let permutation = Just((0..order).collect::<Vec<_>>()).prop_shuffle();
        (shape, permutation, levels)
    });
    modes.prop_flat_map(|(shape, permutation, levels)| {
        let count = if shape.contains(&0) { 0..1 } else { 0..40usize };
        let index: Vec<_> = shape.iter().map(|&extent| 0..extent.max(1)).collect();
        let entries = prop::collection::vec((index, (1..9).prop_map(f64::from)), count);
        let format = Format::permuted(&permutation, &levels);
        entries.prop_map(move |entries| Case { shape: shape.clone(), format: format.clone(), entries })
    })
}

impl Case {
    fn coordinates(&self) -> Coordinates<f64> {
        let entries: Vec<(&[usize], f64)> = self.entries.iter().map(|(index, value)| (&index[..], *value)).collect();
        coordinates(&self.shape, &entries)
    }

    /// By index, duplicates summed.
    fn sums(&self) -> BTreeMap<Vec<usize>, f64> {
        let mut sums = BTreeMap::new();
        for (index, value) in &self.entries {
            *sums.entry(index.clone()).or_insert(0.0) += value;
        }
        sums
    }
}

/// What a tensor stores, by index, without zeros; that no index is stored twice; and that `locate` finds each.
fn stored(tensor: &AnyTensor) -> BTreeMap<Vec<usize>, f64> {
    let mut stored = BTreeMap::new();
    tensor.for_each_position(|index, position| {
        assert_eq!(tensor.locate(index), Some(position));
        assert!(stored.insert(index.to_vec(), tensor.values().get_f64(position)).is_none(), "{index:?} twice");
    });
    assert_eq!(stored.len(), tensor.nnz());
    stored.retain(|_, value| *value != 0.0);
    stored
}

/// Entries come in the order of the levels.
fn assert_in_order(tensor: &AnyTensor) {
    let modes = tensor.format().mode_order().unwrap();
    let entries = tensor.entries::<f64>().unwrap();
    let by_level = |index: &[usize]| modes.iter().map(|&mode| index[mode]).collect::<Vec<_>>();
    let is_hashed = tensor.format().levels.iter().any(|level| level.format.kind.vacancies == Vacancies::Slots);
    assert!(is_hashed || entries.is_sorted_by_key(|entry| by_level(&entry.0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn packing_then_iterating_gives_the_sorted_sums(case in cases()) {
        match pack(case.coordinates(), &case.format, Duplicates::Sum) {
            Ok(tensor) => {
                tensor.validate().unwrap();
                assert_in_order(&tensor);
                prop_assert_eq!(stored(&tensor), case.sums());
                let list = tensor.to_coordinates::<f64>().unwrap();
                let again = pack(list, &case.format, Duplicates::Refuse).unwrap();
                prop_assert_eq!(again, tensor);
            }
            Err(error) => {
                prop_assert!(may_refuse(&case.format, &error), "{}: {}", case.format, error);
            }
        }
    }

    #[test]
    fn converting_there_and_back_changes_nothing(case in cases(), other in cases()) {
        let csf = pack(case.coordinates(), &Format::csf(case.shape.len()), Duplicates::Sum).unwrap();
        let format = if other.shape.len() == case.shape.len() { &other.format } else { &case.format };
        match csf.convert(format) {
            Ok(there) => {
                prop_assert_eq!(stored(&there), case.sums());
                prop_assert_eq!(stored(&there.convert(&Format::csf(case.shape.len())).unwrap()), case.sums());
            }
            Err(error) => prop_assert!(may_refuse(format, &error), "{}: {}", format, error),
        }
    }

    #[test]
    fn refusing_duplicates_finds_them_all(case in cases()) {
        let format = Format::coo(case.shape.len());
        let refused = pack(case.coordinates(), &format, Duplicates::Refuse).is_err();
        prop_assert_eq!(refused, case.sums().len() < case.entries.len());
    }
}

/// Every kind of level, under one parent and under many, with any number of threads.
#[test]
fn threads_make_no_difference() {
    let shape = [60usize, 50, 70];
    let scramble = |seed: usize| (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    // Some slices have no entry, one has half of them.
    let entry = |number: usize| {
        let slice = if number.is_multiple_of(2) { 7 } else { scramble(number) % 30 * 2 };
        ([slice, scramble(number + 1_000_000) % 50, scramble(number + 2_000_000) % 70], (number % 3) as f64)
    };
    let entries: Vec<([usize; 3], f64)> = (0..6_000).map(entry).collect();
    let entries: Vec<(&[usize], f64)> = entries.iter().map(|(index, value)| (&index[..], *value)).collect();
    let kinds = level::ALL.iter().map(|level| LevelFormat::new(level.kind()));
    for format in kinds.filter(|format| !format.kind.is_one_each()) {
        for chain in [[format, COMPRESSED, COMPRESSED], [COMPRESSED, format, COMPRESSED], [DENSE, COMPRESSED, format]] {
            let packed = || packed(&shape, &entries, &chain);
            let alone = with_threads(1, packed).unwrap();
            assert_eq!(with_threads(3, packed).unwrap(), alone, "{chain:?}");
            if let Ok(alone) = alone {
                alone.validate().unwrap();
                let found = stored(&alone).into_values().sum::<f64>();
                assert_eq!(found, entries.iter().map(|entry| entry.1).sum::<f64>(), "{chain:?}");
            }
        }
    }
}

/// Large enough for several chunks and for the parallel sort.
#[test]
fn many_entries_in_many_formats() {
    let shape = [500usize, 40, 300];
    let scramble = |seed: usize| (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    let entry = |number: usize| {
        // Half of them crowd into one slice.
        let slice = if number.is_multiple_of(2) { 7 } else { scramble(number) % 500 };
        ([slice, scramble(number + 1_000_000) % 40, scramble(number + 2_000_000) % 300], (number % 10) as f64)
    };
    let entries: Vec<([usize; 3], f64)> = (0..150_000).map(entry).collect();
    let entries: Vec<(&[usize], f64)> = entries.iter().map(|(index, value)| (&index[..], *value)).collect();
    let mut sums = BTreeMap::new();
    for (index, value) in &entries {
        *sums.entry(index.to_vec()).or_insert(0.0) += value;
    }
    let chains: [&[LevelFormat]; 6] = [
        &[COMPRESSED; 3],
        &[DENSE, COMPRESSED, COMPRESSED],
        &[COMPRESSED.nonunique(), SINGLETON.nonunique(), SINGLETON],
        &[COMPRESSED.nonunique(), SINGLETON, DENSE],
        &[DENSE, COMPRESSED, DENSE],
        &[DENSE; 3],
    ];
    let sums: Vec<(Vec<usize>, f64)> = sums.into_iter().filter(|(_, value)| *value != 0.0).collect();
    for chain in chains {
        for modes in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let tensor =
                pack(coordinates(&shape, &entries), &Format::permuted(&modes, chain), Duplicates::Sum).unwrap();
            tensor.validate().unwrap();
            let mut found = tensor.entries::<f64>().unwrap();
            found.retain(|entry| entry.1 != 0.0);
            found.sort_by(|a, b| a.0.cmp(&b.0));
            assert!(found == sums, "{tensor:?}");
        }
    }
}
