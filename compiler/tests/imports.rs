//! What may import what: stages from those before them, and files without circles. It is read from the sources.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The stages of the compiler, first to last, by how the paths of their files begin. A stage imports from those before it.
const STAGES: &[&[&str]] = &[
    &["diagnostics/"],
    &["format/"],
    &["ir/"],
    &["level/"],
    &["syntax/"],
    &["format/prelude.rs", "format/resolve/"],
    &["topics/"],
    &["remark/"],
    &["notation/"],
    &["plan/"],
    &["concrete/"],
    &["lattice/"],
    &["schedule/"],
    &["lower/"],
    &["pass/"],
    &["stages.rs"],
    &["explanation.rs"],
    &["model/"],
    &["gpu/"],
    &["map/"],
    &["backend/namer.rs", "backend/words.rs", "backend/cuda/reserved.rs", "backend/cuda/print/", "backend/rust/"],
    &["backend/"],
    &["backend/rust/expansion/"],
    &["lib.rs"],
];

/// A name that a file uses: its path, absolute or as it is written, and whether it is handed on.
struct Use {
    path: Vec<String>,
    alias: String,
    is_public: bool,
}

/// A file of a crate.
struct Source {
    /// The path of its module.
    module: Vec<String>,
    uses: Vec<Use>,
    /// Paths in its code.
    paths: BTreeSet<Vec<String>>,
    /// All names that occur in it.
    names: BTreeSet<String>,
    /// Whether it is a module with others below it, `mod.rs` or the root of the crate.
    is_parent: bool,
}

/// The files of a crate, by their paths from its sources.
struct Crate {
    files: BTreeMap<String, Source>,
    modules: BTreeMap<Vec<String>, String>,
}

fn word(tree: Option<&TokenTree>) -> Option<String> {
    match tree {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string().trim_start_matches("r#").to_owned()),
        _ => None,
    }
}

fn is_mark(tree: Option<&TokenTree>, mark: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// The paths that a tree of a `use` names, with what they are called.
fn use_tree(trees: &[TokenTree], before: &[String], found: &mut Vec<(Vec<String>, String)>) {
    for part in trees.split(|tree| is_mark(Some(tree), ',')) {
        let mut path = before.to_vec();
        let mut alias = None;
        let mut at = 0;
        while at < part.len() {
            match &part[at] {
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    use_tree(&inner, &path, found);
                    path.clear();
                }
                TokenTree::Ident(ident) if *ident == "as" => {
                    alias = word(part.get(at + 1));
                    at += 1;
                }
                tree @ TokenTree::Ident(_) => path.extend(word(Some(tree))),
                tree if is_mark(Some(tree), '*') => path.push("*".to_owned()),
                _ => {}
            }
            at += 1;
        }
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        if let Some(last) = path.last().cloned() {
            found.push((path, alias.unwrap_or(last)));
        }
    }
}

impl Source {
    fn new(module: Vec<String>, is_parent: bool, text: &str) -> Self {
        let code: TokenStream = text.parse().expect("the source is Rust");
        let mut source = Self { module, uses: Vec::new(), paths: BTreeSet::new(), names: BTreeSet::new(), is_parent };
        source.read(code);
        source
    }

    fn read(&mut self, code: TokenStream) {
        let trees: Vec<TokenTree> = code.into_iter().collect();
        let mut at = 0;
        let mut is_test = false;
        while at < trees.len() {
            match &trees[at] {
                // `#[cfg(test)]` belongs to the item behind it.
                TokenTree::Group(group)
                    if group.delimiter() == Delimiter::Bracket
                        && is_mark(at.checked_sub(1).map(|at| &trees[at]), '#') =>
                {
                    let attribute = group.stream().to_string().replace(' ', "");
                    is_test |= attribute == "cfg(test)" || attribute.starts_with("cfg(all(test,");
                }
                TokenTree::Group(group) => {
                    if !std::mem::take(&mut is_test) || group.delimiter() == Delimiter::Parenthesis {
                        self.read(group.stream());
                    }
                }
                TokenTree::Ident(ident) if *ident == "use" => {
                    let end = trees[at..]
                        .iter()
                        .position(|tree| is_mark(Some(tree), ';'))
                        .map_or(trees.len(), |end| at + end);
                    if !std::mem::take(&mut is_test) {
                        let before = &trees[at.saturating_sub(2)..at];
                        let is_public = before.iter().any(|tree| word(Some(tree)).is_some_and(|word| word == "pub"));
                        let mut found = Vec::new();
                        use_tree(&trees[at + 1..end], &[], &mut found);
                        self.uses.extend(found.into_iter().map(|(path, alias)| Use { path, alias, is_public }));
                    }
                    at = end;
                }
                tree @ TokenTree::Ident(_) => {
                    let mut path: Vec<String> = word(Some(tree)).into_iter().collect();
                    while is_mark(trees.get(at + 1), ':') && is_mark(trees.get(at + 2), ':') {
                        let Some(next) = word(trees.get(at + 3)) else { break };
                        path.push(next);
                        at += 3;
                    }
                    self.names.extend(path.iter().cloned());
                    if path.len() > 1 && !is_test {
                        self.paths.insert(path);
                    }
                }
                tree => is_test &= !is_mark(Some(tree), ';'),
            }
            at += 1;
        }
    }

    /// A path from the root of the crate, where it leads into it.
    fn absolute(&self, path: &[String], modules: &BTreeMap<Vec<String>, String>) -> Option<Vec<String>> {
        let mut start = self.module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (start, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    start.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                start.push(child.to_owned());
                modules.get(&start)?;
                start.pop();
            }
        }
        start.extend_from_slice(rest);
        Some(start)
    }
}

impl Crate {
    fn read(folder: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap_or_else(|problem| panic!("{}: {problem}", folder.display())) {
                let path = entry.expect("an entry").path();
                let name = path.strip_prefix(&root).expect("it is below the root").to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if is_source(&name) {
                    let text = fs::read_to_string(&path).expect("a source can be read");
                    let mut module: Vec<String> =
                        name.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
                    let is_parent =
                        ["mod", "lib", "main"].iter().any(|parent| module.last().is_some_and(|last| last == parent));
                    if is_parent {
                        module.pop();
                    }
                    files.insert(name.display().to_string(), Source::new(module, is_parent, &text));
                }
            }
        }
        assert!(!files.is_empty(), "{folder} has no sources");
        let modules = files.iter().map(|(name, source)| (source.module.clone(), name.clone())).collect();
        Self { files, modules }
    }

    /// The file that defines what a path names: names that a module hands on lead on.
    fn definition(&self, path: &[String], depth: usize) -> Option<&str> {
        let length = (0..=path.len()).rev().find(|&length| self.modules.contains_key(&path[..length]))?;
        let file = &self.modules[&path[..length]];
        let (Some(name), true) = (path.get(length), depth < 8) else { return Some(file) };
        let source = &self.files[file];
        for used in source.uses.iter().filter(|used| used.alias == *name) {
            let Some(mut next) = source.absolute(&used.path, &self.modules) else { continue };
            if next[..] != path[..=length] {
                next.extend_from_slice(&path[length + 1..]);
                return self.definition(&next, depth + 1);
            }
        }
        for used in source.uses.iter().filter(|used| used.alias == "*" && used.is_public) {
            let Some(next) = source.absolute(&used.path[..used.path.len() - 1], &self.modules) else { continue };
            let of_next = self.modules.get(&next).filter(|next| self.files[*next].names.contains(name));
            if let Some(next) = of_next {
                return Some(next);
            }
        }
        Some(file)
    }

    /// The files that a file imports from, but those of the modules that it is a part of. What a module hands on of its own parts
    /// is no import.
    fn imports(&self, name: &str) -> BTreeSet<&str> {
        let source = &self.files[name];
        let mut local: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut found = BTreeSet::new();
        for used in &source.uses {
            let Some(path) = source.absolute(&used.path, &self.modules) else { continue };
            let is_own = used.is_public && source.is_parent;
            if !is_own && !self.modules.contains_key(&path) {
                found.extend(self.definition(&path, 0));
            }
            local.insert(&used.alias, path);
        }
        for path in &source.paths {
            let path = match local.get(path[0].as_str()) {
                Some(start) => Some(start.iter().chain(&path[1..]).cloned().collect()),
                None => source.absolute(path, &self.modules),
            };
            found.extend(path.and_then(|path: Vec<String>| self.definition(&path, 0)));
        }
        found.retain(|other| !source.module.starts_with(&self.files[*other].module));
        found
    }

    /// The files that are on circles of imports.
    fn circles(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut rest: BTreeMap<&str, BTreeSet<&str>> =
            self.files.keys().map(|name| (name.as_str(), self.imports(name))).collect();
        loop {
            let used: BTreeSet<&str> = rest.values().flatten().copied().collect();
            let left: BTreeSet<&str> =
                rest.keys().copied().filter(|name| used.contains(name) && !rest[name].is_empty()).collect();
            if left.len() == rest.len() {
                return rest;
            }
            rest.retain(|name, _| left.contains(name));
            rest.values_mut().for_each(|imports| imports.retain(|name| left.contains(name)));
        }
    }
}

/// Whether a file is a source, and not of tests alone.
fn is_source(name: &Path) -> bool {
    let is_test = |part: &std::ffi::OsStr| part == "tests" || part == "tests.rs";
    name.extension().is_some_and(|extension| extension == "rs") && !name.iter().any(is_test)
}

/// The stage of a file: that of the longest beginning.
fn stage(file: &str) -> usize {
    let places = STAGES.iter().enumerate().flat_map(|(place, parts)| parts.iter().map(move |part| (part, place)));
    let fitting = places.filter(|(part, _)| file.starts_with(**part));
    fitting.max_by_key(|(part, _)| part.len()).unwrap_or_else(|| panic!("{file} is in no stage")).1
}

#[test]
fn files_import_without_circles() {
    for folder in ["src", "../runtime/src", "../cli/src"] {
        // A package alone has the compiler's sources only.
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).exists() {
            continue;
        }
        let sources = Crate::read(folder);
        let circles = sources.circles();
        assert!(circles.is_empty(), "these files of {folder} import each other in circles: {circles:#?}");
    }
}

#[test]
fn stages_import_from_those_before_them() {
    let sources = Crate::read("src");
    let mut count = 0;
    let mut wrong = Vec::new();
    for file in sources.files.keys().filter(|file| *file != "lib.rs") {
        let imports = sources.imports(file);
        count += imports.len();
        wrong.extend(
            imports
                .into_iter()
                .filter(|other| stage(other) > stage(file))
                .map(|other| format!("{file} imports {other}")),
        );
    }
    assert!(wrong.is_empty(), "these import from a later stage: {wrong:#?}");
    assert!(count > 500, "{count} imports were found, which can't be all");
}

#[test]
fn printers_name_no_stage_that_decides() {
    let sources = Crate::read("src");
    // What a macro expands to is more than a kernel's text: it checks and schedules.
    let printers = sources.files.keys().filter(|file| {
        file.starts_with("backend/cuda/print/") || file.starts_with("backend/rust/") && !file.contains("/expansion/")
    });
    for file in printers {
        for other in sources.imports(file) {
            let deciding =
                ["schedule/", "concrete/", "lattice/", "lower/", "pass/", "map/", "model/", "level/", "plan/"];
            assert!(!deciding.iter().any(|stage| other.starts_with(stage)), "{file} imports {other}");
        }
    }
}

#[test]
fn a_circle_is_found() {
    let source = |module: &str, text: &str| Source::new(vec![module.to_owned()], false, text);
    let texts = [
        ("a.rs", source("a", "use crate::b::{self, C as D}; // use crate::e::F;\nfn f() {}")),
        ("b.rs", source("b", "fn g() { super::e::h(\"crate::a::f\") } #[cfg(test)] mod tests { use crate::a::f; }")),
        ("e.rs", source("e", "pub use crate::a::f;")),
        ("i.rs", source("i", "use crate::e::f;")),
    ];
    let files: BTreeMap<String, Source> = texts.into_iter().map(|(name, source)| (name.to_owned(), source)).collect();
    let modules = files.iter().map(|(name, source)| (source.module.clone(), name.clone())).collect();
    let sources = Crate { files, modules };
    assert_eq!(sources.imports("a.rs"), BTreeSet::from(["b.rs"]));
    assert_eq!(sources.imports("b.rs"), BTreeSet::from(["e.rs"]));
    assert_eq!(sources.imports("i.rs"), BTreeSet::from(["a.rs"]), "what is handed on is where it is defined");
    assert_eq!(sources.circles().into_keys().collect::<Vec<_>>(), ["a.rs", "b.rs", "e.rs"]);
}
