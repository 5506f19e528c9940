//! Real files, where the workplace has them: what their list says is what the readers find.

use std::path::{Path, PathBuf};

use crate::io::{FileType, ReadOptions, read_as, read_tensor, source, write_tensor};
use crate::tensor::{Duplicates, Indices, pack};
use spc_compiler::format::Format;

/// The folder beside the project, if it is there.
fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let folder = root.join("../shared/data");
    folder.join("README.md").is_file().then_some(folder)
}

/// Name, shape and number of entries of each file that the list has.
fn listed(list: &str) -> Vec<(String, Vec<usize>, usize)> {
    let numbers = |cell: &str| {
        cell.split(" x ").map(|number| number.replace(',', "").trim().parse().ok()).collect::<Option<Vec<usize>>>()
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells.get(1)?.trim_matches('`').to_owned();
        let (shape, entries) = if name.ends_with(".tns.gz") {
            (numbers(cells.get(5)?)?, numbers(cells.get(6)?)?)
        } else {
            (numbers(cells.get(3)?)?, numbers(cells.get(4)?)?)
        };
        Some((name, shape, entries[0]))
    };
    list.lines().filter(|line| line.starts_with("| `")).filter_map(row).collect()
}

#[test]
fn shapes_and_numbers_of_entries() {
    let Some(folder) = folder() else {
        println!("skipped: no shared/data beside the project");
        return;
    };
    let list = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let listed = listed(&list);
    assert!(listed.len() > 30, "the list has another form");
    for (name, shape, entries) in listed {
        let path = folder.join(&name);
        // The large ones take long without optimisation.
        if std::fs::metadata(&path).unwrap().len() > 1_000_000 && cfg!(debug_assertions) {
            continue;
        }
        let x = read_as::<f64>(&path, &ReadOptions::default()).unwrap();
        assert_eq!((x.shape, x.values.len()), (shape, entries), "{name}");
        assert!(x.indices.iter().all(|mode| matches!(mode, Indices::U32(_))));
        assert_eq!(x.shape_is_stated, name.ends_with(".mtx.gz"));
    }
}

#[test]
fn through_a_packed_tensor_and_back_to_the_same_bytes() {
    let Some(folder) = folder() else {
        println!("skipped: no shared/data beside the project");
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let (packed, text) = (out.path().join("x.spct"), out.path().join("x.tns"));
    for name in [
        "tiny-parti-4d",
        "tiny-lastfm-user-artist-tag-month-year",
        "nations-subj-rel-obj",
        "bitcoinotc-rater-ratee-week",
    ] {
        let path = folder.join(name).with_extension("tns.gz");
        let x = read_as::<f64>(&path, &ReadOptions::default()).unwrap();
        let format = Format::csf(x.shape.len());
        let tensor = pack(x, &format, Duplicates::Refuse).unwrap();
        write_tensor(&packed, &tensor).unwrap();
        let back = read_tensor(&packed, &ReadOptions::default()).unwrap();
        assert_eq!(back, tensor, "{name}");
        write_tensor(&text, &back).unwrap();
        let written = std::fs::read(&text).unwrap();
        let behind_shape = written.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let source = source::load(&path, FileType::Tns).unwrap();
        assert!(written[behind_shape..] == *source.text().unwrap(), "{name}");
    }
}
