use super::*;
use crate::generate;
use crate::tensor::{Duplicates, Parts, Values, pack};
use proptest::prelude::*;
use spc_compiler::format::{Format, Order};

const DENSE: LevelFormat = LevelFormat::DENSE;
const COMPRESSED: LevelFormat = LevelFormat::COMPRESSED;
const SINGLETON: LevelFormat = LevelFormat::SINGLETON;
const PADDED: LevelFormat = LevelFormat::PADDED;
const BITMAP: LevelFormat = LevelFormat::BITMAP;
const HASHED: LevelFormat = LevelFormat::HASHED;
const BANDED: LevelFormat = LevelFormat::BANDED;
const RUN: LevelFormat = LevelFormat::RUN;
const FLAGGED: LevelFormat = LevelFormat::FLAGGED;
const DIAGONAL: LevelFormat = LevelFormat::DIAGONAL;
const UNORDERED: LevelFormat = COMPRESSED.with_order(Order::Any);

fn compressed(positions: &[u32], coordinates: &[u32]) -> LevelArrays {
    LevelArrays::of(positions.to_vec(), coordinates.to_vec())
}

fn singleton(coordinates: &[u32]) -> LevelArrays {
    LevelArrays::of_coordinates(coordinates.to_vec())
}

fn tensor(
    levels: &[LevelFormat],
    shape: &[usize],
    storage: Vec<LevelArrays>,
    values: usize,
) -> Result<(), InvalidTensor> {
    let format = Format::of_levels(levels.iter().copied());
    AnyTensor::from_parts(shape.to_vec(), format, storage, Values::from(vec![1.0; values])).map(drop)
}

fn csr(positions: &[u32], columns: &[u32], values: usize) -> Result<(), InvalidTensor> {
    tensor(&[DENSE, COMPRESSED], &[2, 3], vec![LevelArrays::NONE, compressed(positions, columns)], values)
}

fn coo(rows: &[u32], columns: &[u32]) -> Result<(), InvalidTensor> {
    let storage = vec![compressed(&[0, rows.len() as u32], rows), singleton(columns)];
    tensor(&[COMPRESSED.nonunique(), SINGLETON], &[9, 9], storage, columns.len())
}

#[test]
fn right_parts_are_accepted() {
    csr(&[0, 1, 3], &[1, 0, 2], 3).unwrap();
    csr(&[0, 0, 0], &[], 0).unwrap();
    coo(&[0, 0, 8], &[3, 5, 0]).unwrap();
    tensor(&[UNORDERED], &[9], vec![compressed(&[0, 3], &[5, 1, 3])], 3).unwrap();
    tensor(&[], &[], vec![], 1).unwrap();
}

#[test]
fn positions_run_from_zero_to_the_end() {
    use InvalidTensor::*;
    use Role::*;
    assert_eq!(csr(&[0, 3], &[1, 0, 2], 3), Err(Length { level: 1, array: Positions, expected: 3, found: 2 }));
    assert_eq!(csr(&[], &[], 0), Err(Length { level: 1, array: Positions, expected: 3, found: 0 }));
    assert_eq!(csr(&[1, 1, 3], &[1, 0, 2], 3), Err(Begin { level: 1, found: 1 }));
    assert_eq!(csr(&[0, 4, 3], &[1, 0, 2], 3), Err(Descent { level: 1, parent: 1, from: 4, to: 3 }));
    assert_eq!(csr(&[0, 1, 2], &[1, 0, 2], 3), Err(Length { level: 1, array: Coordinates, expected: 2, found: 3 }));
}

#[test]
fn coordinates_ascend_below_the_extent() {
    use InvalidTensor::*;
    let beyond = Beyond { level: 1, mode: 1, position: 2, coordinate: 3, extent: 3 };
    assert_eq!(csr(&[0, 1, 3], &[1, 0, 3], 3), Err(beyond));
    assert_eq!(csr(&[0, 1, 3], &[1, 2, 0], 3), Err(Unordered { level: 1, position: 2 }));
    assert_eq!(csr(&[0, 1, 3], &[1, 2, 2], 3), Err(Repeated { level: 1, position: 2 }));
    assert_eq!(coo(&[0, 2, 1], &[3, 5, 0]), Err(Unordered { level: 0, position: 2 }));
    assert_eq!(coo(&[0, 0, 1], &[5, 3, 0]), Err(Unordered { level: 1, position: 1 }));
    assert_eq!(coo(&[0, 0, 1], &[3, 3, 0]), Err(Repeated { level: 1, position: 1 }));
    let storage = vec![compressed(&[0, 3], &[5, 1, 5])];
    assert_eq!(tensor(&[UNORDERED], &[9], storage, 3), Err(Repeated { level: 0, position: 2 }));
}

#[test]
fn no_entry_occurs_twice_whatever_the_levels() {
    use InvalidTensor::*;
    let twice = || vec![compressed(&[0, 2], &[4, 4])];
    assert_eq!(tensor(&[COMPRESSED.nonunique()], &[9], twice(), 2), Err(Duplicate { position: 1 }));
    let fibers = [twice(), vec![LevelArrays::NONE]].concat();
    assert_eq!(tensor(&[COMPRESSED.nonunique(), DENSE], &[9, 3], fibers, 6), Err(Duplicate { position: 3 }));
    let apart = vec![compressed(&[0, 3], &[4, 2, 4]), singleton(&[7, 7, 7])];
    let levels = [UNORDERED.nonunique(), SINGLETON];
    assert_eq!(tensor(&levels, &[9, 9], apart, 3), Err(Duplicate { position: 2 }));
    // A group of two parents whose children, taken together, repeat a coordinate.
    let storage = vec![compressed(&[0, 2], &[4, 4]), compressed(&[0, 2, 3], &[1, 5, 5])];
    assert_eq!(
        tensor(&[COMPRESSED.nonunique(), COMPRESSED], &[9, 9], storage, 3),
        Err(Repeated { level: 1, position: 2 })
    );
}

#[test]
fn arrays_are_those_of_the_format() {
    use InvalidTensor::*;
    assert_eq!(csr(&[0, 1, 3], &[1, 0, 2], 2), Err(ValueCount { expected: 3, found: 2 }));
    assert_eq!(tensor(&[DENSE], &[3], vec![], 3), Err(LevelCount { expected: 1, found: 0 }));
    let error = tensor(&[DENSE], &[3], vec![singleton(&[1])], 3).unwrap_err();
    assert_eq!(error.to_string(), "level 1 is dense, which has other arrays than those that are given");
    let wide = LevelArrays::of_coordinates(vec![1u64]);
    let error = tensor(&[SINGLETON], &[3], vec![wide], 1).unwrap_err();
    assert_eq!(error.to_string(), "the coordinates of level 1 are u32 by the format, but u64 in the array");
    assert!(matches!(tensor(&[DENSE], &[3, 3], vec![LevelArrays::NONE], 3), Err(Order { order: 1, modes: 2, .. })));
    let huge = vec![LevelArrays::NONE; 2];
    assert_eq!(tensor(&[DENSE; 2], &[1 << 40, 1 << 40], huge, 0), Err(TooLarge { level: 1 }));
    assert_eq!(tensor(&[], &[], vec![], 0), Err(ValueCount { expected: 1, found: 0 }));
    let huge = vec![LevelArrays::NONE, compressed(&[0], &[])];
    assert!(matches!(tensor(&[DENSE, COMPRESSED], &[usize::MAX, 1], huge, 0), Err(Length { .. })));
}

const NONE: u32 = u32::MAX;

fn array(indices: &[u32]) -> IndexArray {
    indices.to_vec().into()
}

fn rows(level: LevelFormat, storage: LevelArrays, values: usize) -> Result<(), InvalidTensor> {
    tensor(&[DENSE, level], &[2, 4], vec![LevelArrays::NONE, storage], values)
}

#[test]
fn padded_rows_have_one_width_and_end_in_filling() {
    use InvalidTensor::*;
    use Role::*;
    let padded = |width: &[u32], coordinates: &[u32]| {
        let storage = LevelArrays::new(Some(array(width)), Some(array(coordinates)));
        rows(PADDED, storage, coordinates.len())
    };
    padded(&[2], &[1, NONE, 0, 3]).unwrap();
    padded(&[0], &[]).unwrap();
    assert_eq!(padded(&[], &[]), Err(Length { level: 1, array: Positions, expected: 1, found: 0 }));
    assert_eq!(padded(&[2], &[1, NONE]), Err(Length { level: 1, array: Coordinates, expected: 4, found: 2 }));
    assert_eq!(padded(&[2], &[NONE, 1, 0, 3]), Err(Filling { level: 1, position: 1 }));
    assert_eq!(padded(&[2], &[1, NONE, 3, 0]), Err(Unordered { level: 1, position: 3 }));
    assert_eq!(padded(&[2], &[1, NONE, 3, 3]), Err(Repeated { level: 1, position: 3 }));
    let beyond = Beyond { level: 1, mode: 1, position: 3, coordinate: 4, extent: 4 };
    assert_eq!(padded(&[2], &[1, NONE, 3, 4]), Err(beyond));
    let fixed = PADDED.with_count(1);
    rows(fixed, LevelArrays::new(None, Some(array(&[NONE, 2]))), 2).unwrap();
    let storage = LevelArrays::new(Some(array(&[1])), Some(array(&[NONE, 2])));
    assert_eq!(rows(fixed, storage, 2), Err(Arrays { level: 1, kind: "padded" }));
}

#[test]
fn nothing_is_below_a_vacancy() {
    use InvalidTensor::*;
    let padded = || LevelArrays::new(Some(array(&[2])), Some(array(&[1, NONE])));
    let below = |format: LevelFormat, storage: LevelArrays, values: usize| {
        tensor(&[PADDED, format], &[3, 2], vec![padded(), storage], values)
    };
    below(COMPRESSED, compressed(&[0, 2, 2], &[0, 1]), 2).unwrap();
    assert_eq!(below(COMPRESSED, compressed(&[0, 1, 2], &[0, 1]), 2), Err(Vacant { level: 1, position: 1 }));
    let flags = |flags: &[u8]| LevelArrays::of_coordinates(flags.to_vec());
    below(BITMAP, flags(&[0, 1, 0, 0]), 4).unwrap();
    assert_eq!(below(BITMAP, flags(&[0, 1, 0, 1]), 4), Err(Vacant { level: 1, position: 3 }));
    let row = |positions: &[u32]| LevelArrays::of(array(positions), array(&[0, 0]));
    below(BANDED, row(&[0, 2, 2]), 2).unwrap();
    assert_eq!(below(BANDED, row(&[0, 1, 2]), 2), Err(Vacant { level: 1, position: 1 }));
    let flagged = LevelArrays::of(vec![1u8, 1], array(&[0, 1]));
    assert_eq!(below(FLAGGED, flagged, 2), Err(Vacant { level: 1, position: 1 }));
    let padded = LevelArrays::new(Some(array(&[1])), Some(array(&[0, 1])));
    assert_eq!(below(PADDED, padded, 2), Err(Vacant { level: 1, position: 1 }));
}

#[test]
fn flags_are_of_first_children() {
    use InvalidTensor::*;
    let flagged = |flags: &[u8], coordinates: &[u32]| {
        let flags = LevelArrays::of(flags.to_vec(), array(coordinates));
        rows(FLAGGED, flags, coordinates.len())
    };
    flagged(&[1, 0, 1], &[1, 3, 0]).unwrap();
    assert_eq!(flagged(&[1, 0, 0], &[1, 2, 3]), Err(Flags { level: 1, expected: 2, found: 1 }));
    assert_eq!(flagged(&[0, 1, 1], &[1, 2, 3]), Err(Flags { level: 1, expected: 2, found: 0 }));
    assert_eq!(flagged(&[1, 2, 1], &[1, 2, 3]), Err(Flag { level: 1, position: 1, found: 2 }));
    assert_eq!(flagged(&[1, 0, 1], &[3, 1, 0]), Err(Unordered { level: 1, position: 1 }));
    let bitmap = LevelArrays::of_coordinates(vec![0u8, 1, 7, 0, 0, 0, 0, 0]);
    assert_eq!(rows(BITMAP, bitmap, 8), Err(Flag { level: 1, position: 2, found: 7 }));
}

#[test]
fn tables_find_what_they_hold() {
    use InvalidTensor::*;
    let hashed = |positions: &[u32], coordinates: &[u32]| {
        let storage = LevelArrays::of(array(positions), array(coordinates));
        tensor(&[HASHED], &[9], vec![storage], coordinates.len())
    };
    let slot = spc_compiler::level::slot(5, 4);
    let mut table = [NONE; 4];
    table[slot] = 5;
    hashed(&[0, 4], &table).unwrap();
    table.swap(slot, (slot + 1) % 4);
    assert_eq!(hashed(&[0, 4], &table), Err(Misplaced { level: 0, position: (slot + 1) % 4 }));
    table[slot] = 5;
    assert_eq!(hashed(&[0, 4], &table), Err(Repeated { level: 0, position: (slot + 1) % 4 }));
    assert_eq!(hashed(&[0, 3], &[NONE; 3]), Err(Table { level: 0, parent: 0, slots: 3 }));
}

#[test]
fn bands_and_runs_stay_below_the_extent() {
    use InvalidTensor::*;
    let banded = |positions: &[u32], first: &[u32], values: usize| {
        rows(BANDED, LevelArrays::of(array(positions), array(first)), values)
    };
    banded(&[0, 3, 3], &[1, 0], 3).unwrap();
    let beyond = Beyond { level: 1, mode: 1, position: 2, coordinate: 4, extent: 4 };
    assert_eq!(banded(&[0, 3, 3], &[2, 0], 3), Err(beyond));
    let run = |positions: &[u32], ends: &[u32]| rows(RUN, LevelArrays::of(array(positions), array(ends)), ends.len());
    run(&[0, 2, 3], &[1, 4, 4]).unwrap();
    assert_eq!(run(&[0, 2, 3], &[1, 4, 3]), Err(Runs { level: 1, parent: 1, end: 3, extent: 4 }));
    assert_eq!(run(&[0, 2, 3], &[4, 4, 4]), Err(Unordered { level: 1, position: 1 }));
    assert_eq!(run(&[0, 0, 1], &[4]), Err(Runs { level: 1, parent: 0, end: 0, extent: 4 }));
}

#[test]
fn a_diagonal_lies_inside() {
    let diagonal = |rows: usize, columns: usize| {
        tensor(&[DENSE, DIAGONAL], &[rows, columns], vec![LevelArrays::NONE, LevelArrays::NONE], rows)
    };
    diagonal(3, 3).unwrap();
    diagonal(3, 5).unwrap();
    let error = diagonal(5, 3).unwrap_err().to_string();
    assert!(error.contains("has extent 3, less than 5"), "{error}");
    let error = tensor(&[DIAGONAL], &[3], vec![LevelArrays::NONE], 1).unwrap_err().to_string();
    assert!(error.contains("is the outermost"), "{error}");
}

#[test]
fn levels_that_deal_with_one_parent_need_unique_ones() {
    let twice = vec![compressed(&[0, 2], &[4, 4]), LevelArrays::NONE];
    let found = tensor(&[COMPRESSED.nonunique(), DIAGONAL], &[9, 9], twice, 2);
    assert_eq!(found, Err(InvalidTensor::Shared { level: 1, position: 1 }));
}

#[test]
fn mistakes_are_found_wherever_chunks_begin() {
    let count = 3 * GRAIN as u32 + 5;
    for wrong in [1, GRAIN as u32 - 1, GRAIN as u32, GRAIN as u32 + 1, count - 1] {
        let mut coordinates: Vec<u32> = (0..count).collect();
        tensor(&[COMPRESSED], &[count as usize], vec![compressed(&[0, count], &coordinates)], count as usize).unwrap();
        coordinates[wrong as usize] = wrong - 1;
        let storage = vec![compressed(&[0, count], &coordinates)];
        let expected = Err(InvalidTensor::Repeated { level: 0, position: wrong as usize });
        assert_eq!(tensor(&[COMPRESSED], &[count as usize], storage, count as usize), expected);
        let storage = vec![compressed(&[0, count], &coordinates), singleton(&vec![0; count as usize])];
        let expected = Err(InvalidTensor::Repeated { level: 1, position: wrong as usize });
        let levels = [COMPRESSED.nonunique(), SINGLETON];
        assert_eq!(tensor(&levels, &[count as usize, 1], storage, count as usize), expected);
    }
}

/// One element of one array changed.
fn corrupted(parts: Parts, level: usize, in_positions: bool, place: usize, to: usize) -> Option<Parts> {
    let change = |array: &IndexArray| {
        let mut indices: Vec<usize> = array.iter().collect();
        let place = place.checked_rem(indices.len())?;
        indices[place] = to;
        IndexArray::narrowed(indices, array.width())
    };
    let mut parts = parts;
    let storage = parts.levels.get(level)?;
    let (mut positions, mut coordinates) = (storage.positions().cloned(), storage.coordinates().cloned());
    let array = if in_positions { positions.as_mut()? } else { coordinates.as_mut()? };
    *array = change(array)?;
    let changed = LevelArrays::new(positions, coordinates);
    parts.levels[level] = changed;
    Some(parts)
}

proptest! {
    /// What is accepted after a change can be iterated and located, in order, every index once and inside.
    #[test]
    fn corrupted_parts_are_refused(
        seed in 0u64..50, nnz in 0usize..40, chain in 0usize..16,
        level in 0usize..3, in_positions: bool, place in 0usize..50, to in 0usize..12,
    ) {
        let chains = [
            [COMPRESSED; 3],
            [COMPRESSED.nonunique(), SINGLETON.nonunique(), SINGLETON],
            [COMPRESSED.nonunique(), SINGLETON, DENSE],
            [DENSE, COMPRESSED, COMPRESSED],
            [COMPRESSED, DENSE, COMPRESSED],
            [COMPRESSED, COMPRESSED, PADDED],
            [DENSE, PADDED.nonunique(), SINGLETON],
            [PADDED, COMPRESSED, PADDED],
            [BITMAP, COMPRESSED, DENSE],
            [COMPRESSED, BANDED, COMPRESSED],
            [DENSE, BITMAP, BANDED],
            [COMPRESSED, COMPRESSED, FLAGGED],
            [COMPRESSED, FLAGGED.nonunique(), SINGLETON],
            [RUN, COMPRESSED, RUN],
            [COMPRESSED.nonunique(), COMPRESSED, UNORDERED],
            [HASHED, COMPRESSED, HASHED],
        ];
        let entries = generate::uniform(&[4, 3, 5], nnz, seed).unwrap();
        let valid = pack(entries, &Format::of_levels(chains[chain]), Duplicates::Refuse).unwrap();
        let Some(parts) = corrupted(valid.into_parts(), level, in_positions, place, to) else { return Ok(()) };
        let Ok(tensor) = AnyTensor::from_parts(parts.shape, parts.format, parts.levels, parts.values) else { return Ok(()) };
        let mut visited = Vec::new();
        prop_assert_eq!(tensor.nnz(), tensor.entries::<f64>().unwrap().len());
        tensor.for_each_position(|index, position| {
            assert!(index.iter().zip(tensor.shape()).all(|(index, extent)| index < extent));
            assert_eq!(tensor.locate(index), Some(position));
            visited.push(index.to_vec());
        });
        if chain < 14 {
            prop_assert!(visited.is_sorted_by(|a, b| a < b));
        }
    }
}
