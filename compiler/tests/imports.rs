//! Which stages may name which: what a file imports is read from its text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The text of each Rust file of a folder of the sources, by its path there.
fn files(folder: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.join(folder)];
    let mut files = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|problem| panic!("{}: {problem}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).expect("it is below the root").display().to_string();
                files.insert(name, fs::read_to_string(&path).expect("a source can be read"));
            }
        }
    }
    assert!(!files.is_empty(), "{folder} has no sources");
    files
}

/// The names behind `prefix` in a text's code.
fn named<'t>(text: &'t str, prefix: &str) -> BTreeSet<&'t str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let after = code.flat_map(|line| line.split(prefix).skip(1));
    after.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("")).collect()
}

/// The files of a folder that import each other in a circle.
fn circle(folder: &str) -> Option<Vec<String>> {
    let files = files(folder);
    let of_module = |name: &str| files.keys().find(|file| **file == format!("{folder}/{name}.rs")).cloned();
    let mut rest: BTreeMap<String, BTreeSet<String>> = files
        .iter()
        .filter(|(file, _)| !file.ends_with("/mod.rs"))
        .map(|(file, text)| {
            let prefix = format!("crate::{folder}::");
            let names = named(text, "super::").into_iter().chain(named(text, &prefix));
            (file.clone(), names.filter_map(of_module).filter(|other| other != file).collect())
        })
        .collect();
    loop {
        let free: Vec<String> = rest
            .iter()
            .filter(|(_, imports)| imports.iter().all(|other| !rest.contains_key(other)))
            .map(|(file, _)| file.clone())
            .collect();
        if free.is_empty() {
            return (!rest.is_empty()).then(|| rest.into_keys().collect());
        }
        free.iter().for_each(|file| _ = rest.remove(file));
    }
}

#[test]
fn plans_and_mappings_have_no_circle() {
    for folder in ["gpu", "map", "backend/cuda/print"] {
        assert_eq!(circle(folder), None, "{folder}");
    }
}

#[test]
fn plans_do_not_know_mappings() {
    for (file, text) in files("gpu") {
        let imported = named(&text, "crate::");
        for above in ["map", "backend"] {
            assert!(!imported.contains(above), "{file} imports {above}");
        }
    }
}

#[test]
fn printers_name_no_stage_that_decides() {
    for folder in ["backend/cuda/print", "backend/rust"] {
        // What a macro expands to is more than a kernel's text: it checks and schedules.
        for (file, text) in files(folder).into_iter().filter(|(file, _)| !file.contains("/expansion/")) {
            let imported = named(&text, "crate::");
            for deciding in ["schedule", "concrete", "lattice", "lower", "pass", "map", "model"] {
                assert!(!imported.contains(deciding), "{file} imports {deciding}");
            }
        }
    }
}
