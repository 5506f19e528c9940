//! Laws that every level format obeys in every place of a chain. They run over the compiler's list of level formats, so a new
//! one is under them from its first day:
//!
//! * packing then iterating gives the sorted entries, in tables all of them in some order;
//! * locating inverts iterating, and finds nothing else;
//! * converting to any other format and back changes nothing;
//! * sizes match what is stored, and the parts make the same tensor again;
//! * all of that for no entry, one entry, the last row empty, modes of extent 0 and 1.

use super::{AnyTensor, Coordinates, Duplicates, Indices, InvalidTensor, PackError, pack};
use spc_compiler::format::{Format, IndexWidth, LevelFormat, LevelKind, Order, Vacancies};
use spc_compiler::level;
use std::collections::BTreeMap;

pub(super) type Entries = BTreeMap<Vec<usize>, f64>;

/// Each kind of level with each choice of properties.
fn level_formats() -> Vec<LevelFormat> {
    let mut formats = Vec::new();
    for level in level::ALL {
        let usual = LevelFormat::new(level.kind());
        for (unique, ordered) in [(true, true), (false, true), (true, false), (false, false)] {
            let order = if ordered { usual.order() } else { Order::Any };
            let format = usual.with_unique(unique).with_order(order);
            formats.extend([format, format.with_count(4), format.with_count(2)]);
        }
    }
    let mut known = Vec::new();
    formats.retain(|format| {
        !known.contains(format) && {
            known.push(*format);
            format.has_sense()
        }
    });
    formats
}

/// Those that tell most where there are many combinations.
fn few_level_formats() -> Vec<LevelFormat> {
    let repeats = |kind: LevelKind| kind.is_compressed() || kind.is_singleton();
    let few = |format: &LevelFormat| {
        let usual = LevelFormat::new(format.kind);
        *format == usual || repeats(format.kind) && *format == usual.nonunique()
    };
    level_formats().into_iter().filter(few).collect()
}

/// All chains of so many level formats.
fn chains(length: usize) -> Vec<Vec<LevelFormat>> {
    chains_of(&if length < 3 { level_formats() } else { few_level_formats() }, length)
}

fn chains_of(formats: &[LevelFormat], length: usize) -> Vec<Vec<LevelFormat>> {
    (0..length).fold(vec![Vec::new()], |chains, _| {
        let longer = |chain: &Vec<LevelFormat>| {
            let chain = chain.clone();
            formats.iter().map(move |format| [chain.clone(), vec![*format]].concat())
        };
        chains.iter().flat_map(longer).collect()
    })
}

/// Entries the wrong way round, for packing to have something to do.
pub(super) fn coordinates(shape: &[usize], entries: &Entries) -> Coordinates<f64> {
    let column = |mode: usize| entries.keys().rev().map(|index| index[mode] as u32).collect();
    Coordinates {
        shape: shape.to_vec(),
        shape_is_stated: true,
        indices: (0..shape.len()).map(column).map(Indices::U32).collect(),
        values: entries.values().rev().copied().collect(),
    }
}

/// Shapes with entries: as many as fit, one, none, the last row empty, one in each row.
fn data(order: usize) -> Vec<(Vec<usize>, Entries)> {
    let shapes = [[3, 2, 4], [1, 3, 1], [2, 0, 3], [0, 2, 2]];
    let mut data = Vec::new();
    for shape in shapes {
        let shape = &shape[..order];
        let places = places(shape);
        let value = |place: &Vec<usize>| place.iter().fold(1, |value, index| 5 * value + index) as f64;
        let mut subset = |keep: &dyn Fn(&[usize]) -> bool| {
            let kept = places.iter().filter(|place| keep(place)).map(|place| (place.clone(), value(place)));
            data.push((shape.to_vec(), kept.collect()));
        };
        subset(&|_| true);
        subset(&|_| false);
        subset(&|place| place.iter().all(|&index| index == 0));
        subset(&|place| place[0] + 1 < shape[0] && place.iter().sum::<usize>() % 2 == 1);
        subset(&|place| place[1..].iter().all(|&index| index == place[0] % 2));
    }
    data
}

fn obeys(tensor: &AnyTensor, entries: &Entries) {
    tensor.validate().unwrap();
    let stored = tensor.entries::<f64>().unwrap();
    let nonzeros: Entries = stored.iter().filter(|entry| entry.1 != 0.0).cloned().collect();
    assert_eq!(&nonzeros, entries, "{tensor:?}");

    let modes = tensor.format().mode_order().unwrap();
    let by_level = |index: &[usize]| modes.iter().map(|&mode| index[mode]).collect::<Vec<_>>();
    let is_hashed = tensor.format().levels.iter().any(|level| level.format.kind.vacancies == Vacancies::Slots);
    assert!(is_hashed || stored.windows(2).all(|pair| by_level(&pair[0].0) < by_level(&pair[1].0)), "{tensor:?}");

    let mut positions = Vec::new();
    tensor.for_each_position(|_, position| positions.push(position));
    for (&position, (index, value)) in positions.iter().zip(&stored) {
        assert_eq!(tensor.locate(index), Some(position), "{tensor:?} at {index:?}");
        assert_eq!(tensor.get(index), Ok(Some(*value)));
    }
    let padding = tensor.padding();
    let is_entry = |place: &&Vec<usize>| tensor.locate(place).is_some_and(|position| !padding.contains(position));
    let found = places(tensor.shape()).iter().filter(is_entry).count();
    assert_eq!(found, tensor.nnz());
    assert_eq!(tensor.locate(tensor.shape()), None);

    assert_eq!(stored.len(), tensor.nnz());
    let values = tensor.values().len();
    assert_eq!(tensor.position_count(tensor.order()), values);
    let bytes: usize = tensor.levels().iter().map(|level| level.bytes()).sum();
    assert_eq!(tensor.storage_bytes(), bytes + 8 * values);

    let parts = tensor.clone().into_parts();
    assert_eq!(AnyTensor::from_parts(parts.shape, parts.format, parts.levels, parts.values).as_ref(), Ok(tensor));
    let list = tensor.to_coordinates::<f64>().unwrap();
    assert_eq!(pack(list, tensor.format(), Duplicates::Refuse).as_ref(), Ok(tensor));
}

fn places(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |places: Vec<Vec<usize>>, &extent| {
        places.iter().flat_map(|place| (0..extent).map(move |index| [&place[..], &[index]].concat())).collect()
    })
}

/// Whether the chain itself says that it may not hold all data.
pub(super) fn may_refuse(format: &Format, error: &PackError) -> bool {
    let has = |kind: LevelFormat| format.levels.iter().any(|level| level.format.kind == kind.kind);
    match error {
        PackError::Crowded { .. } | PackError::Repeated { .. } | PackError::NoCoordinate { .. } => {
            has(LevelFormat::SINGLETON)
        }
        PackError::OffDiagonal { .. } => has(LevelFormat::DIAGONAL),
        PackError::Invalid(InvalidTensor::Unsupported { reason, .. }) => {
            has(LevelFormat::DIAGONAL) && reason.contains("diagonal")
        }
        PackError::Width { .. } => format.levels.iter().any(|level| level.format.count().is_some()),
        PackError::Childless { .. } => has(LevelFormat::FLAGGED),
        PackError::PositionWidth { level, count, .. } => {
            format.levels.get(*level).is_some_and(|level| *count > level.format.positions().maximum())
        }
        _ => false,
    }
}

#[test]
fn every_chain_of_levels_obeys() {
    for order in 1..=3 {
        for (shape, entries) in data(order) {
            for chain in chains(order) {
                let format = Format::of_levels(chain);
                match pack(coordinates(&shape, &entries), &format, Duplicates::Refuse) {
                    Ok(tensor) => obeys(&tensor, &entries),
                    Err(error) => assert!(may_refuse(&format, &error), "{format}: {error}"),
                }
            }
        }
    }
}

#[test]
fn every_mode_order_obeys() {
    let usual: Vec<LevelFormat> = level::ALL.iter().map(|level| LevelFormat::new(level.kind())).collect();
    for modes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for (shape, entries) in data(3) {
            // A share of them, which has each pair of kinds in each place.
            for number in (0..usual.len().pow(3)).step_by(7) {
                let chain = [0, 1, 2].map(|level| usual[number / usual.len().pow(level) % usual.len()]);
                let format = Format::permuted(&modes, &chain);
                match pack(coordinates(&shape, &entries), &format, Duplicates::Refuse) {
                    Ok(tensor) => obeys(&tensor, &entries),
                    Err(error) => assert!(may_refuse(&format, &error), "{format}: {error}"),
                }
            }
        }
    }
}

#[test]
fn every_width_obeys() {
    for kind in level::ALL.iter().map(|level| level.kind()) {
        for coordinates_width in IndexWidth::ALL {
            for positions in IndexWidth::ALL {
                let narrow = LevelFormat::new(kind).with_coordinates(coordinates_width).with_positions(positions);
                let rows = LevelFormat::COMPRESSED.nonunique().with_positions(positions);
                for (shape, entries) in data(2) {
                    let format = Format::of_levels([rows, narrow]);
                    match pack(coordinates(&shape, &entries), &format, Duplicates::Refuse) {
                        Ok(tensor) => obeys(&tensor, &entries),
                        Err(error) => {
                            assert!(kind.is_diagonal() && may_refuse(&format, &error), "{format}: {error}");
                        }
                    }
                }
            }
        }
    }
}

/// What refuses data does so for a reason: where every parent has one child, no chain of singletons refuses.
#[test]
fn singletons_hold_one_child_for_each_parent() {
    let diagonal: Entries = (0..4).map(|index| (vec![index; 3], 1.0 + index as f64)).collect();
    for chain in chains(3) {
        let format = Format::of_levels(chain);
        if format.levels[0].format.kind.is_one_each() {
            continue;
        }
        match pack(coordinates(&[4, 4, 4], &diagonal), &format, Duplicates::Refuse) {
            Ok(tensor) => obeys(&tensor, &diagonal),
            Err(error) => {
                let is_run = format.levels.iter().any(|level| level.format.kind.is_run());
                let is_expected = matches!(error, PackError::Childless { .. }) || is_run && may_refuse(&format, &error);
                assert!(is_expected, "{format}: {error}");
            }
        }
    }
}

#[test]
fn converting_to_any_format_keeps_the_entries() {
    for (shape, entries) in data(2) {
        let formats = chains_of(&few_level_formats(), 2).into_iter().map(Format::of_levels);
        let tensors: Vec<AnyTensor> = formats
            .filter_map(|format| pack(coordinates(&shape, &entries), &format, Duplicates::Refuse).ok())
            .collect();
        for from in &tensors {
            for to in &tensors {
                match from.convert(to.format()) {
                    Ok(converted) => obeys_loosely(&converted, &entries),
                    Err(error) => assert!(may_refuse(to.format(), &error), "{from:?} to {to:?}: {error}"),
                }
            }
        }
    }
}

/// What holds of a tensor that may store zeros.
fn obeys_loosely(tensor: &AnyTensor, entries: &Entries) {
    tensor.validate().unwrap();
    let stored = tensor.entries::<f64>().unwrap();
    let nonzeros: Entries = stored.into_iter().filter(|entry| entry.1 != 0.0).collect();
    assert_eq!(&nonzeros, entries, "{tensor:?}");
}
