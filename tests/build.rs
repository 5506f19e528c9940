//! The digests of what results of engines depend on, for the ledger of those that were verified; and the cases that go through the macro.

#[path = "src/ledger.rs"]
#[allow(dead_code, unreachable_pub)]
mod ledger;

use ledger::{ENGINES, Ledger, digest, digest_of_files, drawn};
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Cases in which no operand has some index of the result, whose extent the macro's functions do not take.
const WITHOUT_EXTENT: [&str; 17] = [
    "edges/constant_result",
    "formats/skyline_row",
    "full/dense_rows_repeated",
    "full/rows_repeated",
    "full/slices_repeated",
    "functions/diagonal",
    "indices/constants_meet",
    "indices/halves",
    "indices/one_entry",
    "indices/updated_where_made_at_variables",
    "matricised/fold_back",
    "operators/bits",
    "orders/diagonal_stored_before_what_it_is_made_of",
    "orders/fibers_of_a_diagonal",
    "reductions/broadcast",
    "scalars/literal_everywhere",
    "statements/index_of_its_own",
];

/// Types of parameters that are no tensors.
const SCALARS: [&str; 15] =
    ["f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "c32", "c64"];

fn main() {
    let tests = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says it"));
    let sources = sources(&tests.join(".."));
    for (engine, digest) in &sources {
        println!("cargo:rustc-env=SOURCES_OF_{}={digest:016x}", engine.to_uppercase());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says it")).join("macro_cases.rs");
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    if has("MACRO_CORPUS") {
        fs::write(out, macro_cases(&tests, sources["macro"], has("WHOLE"))).expect("the list can be written");
    }
}

/// A digest of each engine's sources, the oracle's, and the version of its compiler.
fn sources(root: &Path) -> BTreeMap<&'static str, u64> {
    let of_files = |path: &str| {
        println!("cargo:rerun-if-changed={}", root.join(path).display());
        digest_of_files(&root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let oracle = of_files(ledger::ORACLE);
    let of_engine = |engine: &'static ledger::Engine| {
        let all = [oracle].into_iter().chain(engine.sources.iter().map(|path| of_files(path)));
        let mut all: Vec<u8> = all.flat_map(u64::to_le_bytes).collect();
        all.extend(version(engine.compiler));
        (engine.name, digest([&all[..]]))
    };
    ENGINES.iter().map(of_engine).collect()
}

/// The version that a compiler prints; empty where there is none.
fn version(command: &[&str]) -> Vec<u8> {
    let rustc = env::var_os("RUSTC").filter(|_| command[0] == "rustc");
    let output = Command::new(rustc.unwrap_or_else(|| command[0].into())).args(&command[1..]).output();
    output.map_or_else(|_| Vec::new(), |output| output.stdout)
}

/// The cases that the ledger does not have, and a sample of those that it has, as the list that a macro expands.
fn macro_cases(tests: &Path, sources: u64, is_all: bool) -> String {
    println!("cargo:rerun-if-changed={}", tests.join("verified.txt").display());
    println!("cargo:rerun-if-changed={}", tests.join("cases").display());
    let known = fs::read_to_string(tests.join("verified.txt")).unwrap_or_default();
    let known = Ledger::parse(&known).unwrap_or_else(|error| panic!("verified.txt: {error}"));
    let draw = u64::from(RandomState::new().hash_one(0) as u16);
    let mut files = Vec::new();
    collect(&tests.join("cases"), &mut files);
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let name = path.strip_prefix(tests.join("cases")).expect("it is below").with_extension("");
        let name = name.to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let is_refused = text.lines().any(|line| line.starts_with("// refused:"));
        if !is_refused && !WITHOUT_EXTENT.contains(&name.as_str()) {
            let digest = digest_of(&text, sources);
            cases.push((known.has("macro", &name, digest), name, text, digest));
        }
    }
    let results: Vec<(&str, bool)> = cases.iter().map(|(is_known, name, ..)| (name.as_str(), *is_known)).collect();
    let (count, verified) = (cases.len(), cases.iter().filter(|case| case.0).count());
    let places = if is_all { (0..count).collect() } else { drawn("macro", &results, draw) };
    let (mut list, mut sample, mut again) = (String::new(), String::new(), 0);
    for (is_known, name, text, digest) in places.iter().map(|&place| &cases[place]) {
        if *is_known {
            again += 1;
            _ = write!(sample, "\"cases/{name}.ti\", ");
        }
        let (function, parameters) = signature(text).unwrap_or_else(|| panic!("{name} has no kernel"));
        let module = name.replace('/', "_");
        let names: Vec<String> = (0..parameters.len()).map(|place| format!("p{place}")).collect();
        let given = names.iter().zip(&parameters);
        let given = given.map(|(name, is_scalar)| if *is_scalar { name.clone() } else { format!("&{name}") });
        let (given, names) = (given.collect::<Vec<_>>().join(", "), names.join(", "));
        _ = writeln!(list, "    {module} \"cases/{name}.ti\" {digest:#x} [{names}] r#{function}({given});");
    }
    let (new, others) = (places.len() - again, count - verified);
    format!(
        "cases! {{\n{list}}}\n\nconst SAMPLE: &[&str] = &[{sample}];\n\n\
         const CHOICE: &str = \"{verified} of {count} were verified before: {again} of these run (draw {draw}), and {new} of {others} others\";\n"
    )
}

/// A digest of a case's file, of the code that the macro makes of it, and of the sources.
fn digest_of(text: &str, sources: u64) -> u64 {
    let expanded = match spc_compiler::backend::rust::expand_text(text, &|_| proc_macro2::Span::call_site()) {
        Ok(expansion) => expansion.items.to_string(),
        // rustc says it.
        Err(_) => String::new(),
    };
    digest([text.as_bytes(), expanded.as_bytes(), &sources.to_le_bytes()])
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("the folder can be read").path();
        match path.is_dir() {
            true => collect(&path, files),
            false if path.extension().is_some_and(|extension| extension == "ti") => files.push(path),
            false => {}
        }
    }
}

/// The name of the kernel of a text, and of each parameter whether it is a scalar.
fn signature(text: &str) -> Option<(String, Vec<bool>)> {
    let text: String = text.lines().filter(|line| !line.starts_with("//")).flat_map(|line| [line, "\n"]).collect();
    let starts = text.match_indices("fn ").filter(|(place, _)| *place == 0 || text[..*place].ends_with(['\n', ' ']));
    for (place, _) in starts {
        let (name, rest) = text[place + 3..].split_once('(')?;
        let mut depth = 1;
        let mut parameters = vec![String::new()];
        let mut end = 0;
        for (place, letter) in rest.char_indices() {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = place + 1;
                break;
            }
            match letter {
                ',' if depth == 1 => parameters.push(String::new()),
                _ => parameters.last_mut()?.push(letter),
            }
        }
        // Functions of numbers have no arrow.
        if rest[end..].trim_start().starts_with("->") {
            let types = parameters.iter().filter_map(|parameter| parameter.split_once(':'));
            let are_scalars = types.map(|(_, kind)| SCALARS.contains(&kind.trim())).collect();
            return Some((name.trim().to_owned(), are_scalars));
        }
    }
    None
}
