//! Drawings have all that is stored.

use super::*;
use crate::tensor::{Coordinates, Duplicates, Indices, pack};
use spc_compiler::format::{Format, Vacancies};
use spc_compiler::level::ALL;

/// A 3 × 4 matrix with an empty row in a format.
fn matrix(format: &Format) -> AnyTensor {
    let indices = vec![Indices::U32(vec![0, 0, 2, 2, 2]), Indices::U32(vec![1, 3, 0, 2, 3])];
    let values = vec![1.5, 2.0, 3.0, 4.0, 5.0];
    let entries = Coordinates { shape: vec![3, 4], shape_is_stated: true, indices, values };
    pack(entries, format, Duplicates::Refuse).unwrap()
}

#[test]
fn rows_that_are_compressed_are_drawn_with_where_they_begin() {
    let csr = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
    let expected = "\
level 1: i, dense (every coordinate, none stored), 3 positions, 0 bytes
    coordinate  0  1  2
    position    0  1  2
level 2: j, compressed (the coordinates that occur under each parent), 5 positions, 36 bytes
    parent        0         1    2
    pos           0         2    2              5    u32, 16 bytes
    crd           1    3         0    2    3         u32, 20 bytes
    position      0    1         2    3    4
    values      1.5    2         3    4    5         f64, 40 bytes
together 76 bytes for 5 stored, 15.2 an entry; every element in order takes 96
";
    assert_eq!(layout_text(&matrix(&csr)), expected);
}

/// All arrays of a tensor are drawn whole, for levels of every kind.
#[test]
fn every_number_of_every_array_is_drawn() {
    for level in ALL {
        let kind = level.kind();
        for outer in [LevelFormat::DENSE, LevelFormat::COMPRESSED, LevelFormat::COMPRESSED.nonunique()] {
            let format = Format::of_levels([outer, LevelFormat::new(kind)]);
            let indices = vec![Indices::U32(vec![0, 1, 2]), Indices::U32(vec![0, 1, 2])];
            let entries =
                Coordinates { shape: vec![3, 3], shape_is_stated: true, indices, values: vec![7.0, 8.0, 9.0] };
            let Ok(tensor) = pack(entries, &format, Duplicates::Refuse) else { continue };
            let text = layout_text(&tensor);
            let numbers = |name: &str| -> Vec<usize> {
                let lines = text.lines().filter(|line| line.trim_start().split("  ").next() == Some(name));
                let cells = lines.map(|line| {
                    line.rsplit_once("    ")
                        .filter(|(_, array)| array.contains("byte"))
                        .map_or(line, |(cells, _)| cells)
                });
                cells.flat_map(str::split_whitespace).filter_map(|cell| cell.parse().ok()).collect()
            };
            for (level, declared) in tensor.levels().iter().zip(&format.levels) {
                for array in declared.format.arrays() {
                    let (name, Some(held)) = (array.name, level.array(array.role)) else { continue };
                    let is_filled = matches!(declared.format.kind.vacancies, Vacancies::Filling | Vacancies::Slots);
                    let vacant = is_filled.then(|| vacancy(held.width()));
                    let held: Vec<usize> = held.iter().filter(|&number| Some(number as u64) != vacant).collect();
                    let found = numbers(name);
                    let is_there = found.windows(held.len().max(1)).any(|part| part == held) || held.is_empty();
                    assert!(is_there, "{format}: {name} {held:?} in\n{text}");
                }
            }
            assert!(text.contains(&format!("together {} bytes", tensor.storage_bytes())), "{text}");
        }
    }
}

#[test]
fn long_levels_are_cut() {
    let values: Vec<f64> = (0..100).map(f64::from).collect();
    let indices = vec![Indices::U32((0..100).collect())];
    let entries = Coordinates { shape: vec![100], shape_is_stated: true, indices, values };
    let text = layout_text(&pack(entries, &Format::csf(1), Duplicates::Refuse).unwrap());
    assert!(text.contains("…") && text.lines().all(|line| line.chars().count() < 200), "{text}");
}
