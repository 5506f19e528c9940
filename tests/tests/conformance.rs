//! taco's own test run: 601 cases with recorded data, and the expressions of papers, documentation and bug reports.
//!
//! The files lie beside the project, in `../shared/conformance`; where they do not, there is nothing to do, and that is said.

use spc_compiler::ir::ElementType;
use spc_tests::case::Case;
use spc_tests::compare::is_close;
use spc_tests::data::Entries;
use spc_tests::engine::{Ready, Stop};
use spc_tests::native;
use spc_tests::taco::{self, Tensor};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("{} is not there: nothing is checked", path.display());
    None
}

/// A recorded case.
struct Recorded {
    name: String,
    expression: String,
    is_windowed: bool,
    is_filled: bool,
    tensors: Vec<Tensor>,
    data: BTreeMap<String, BTreeMap<Vec<usize>, f64>>,
    results: Vec<String>,
}

fn recorded(line: &str) -> Recorded {
    let json: serde_json::Value = serde_json::from_str(line).expect("each line is an object");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let index = |value: &serde_json::Value| value.as_u64().and_then(|index| usize::try_from(index).ok());
    let indices = |value: &serde_json::Value| value.as_array().into_iter().flatten().filter_map(index).collect();
    let mut case = Recorded {
        name: format!("{} {}", json["id"], text(&json["source"])),
        expression: text(&json["expr"]),
        is_windowed: json["window"].as_bool().unwrap_or_default(),
        is_filled: false,
        tensors: Vec::new(),
        data: BTreeMap::new(),
        results: Vec::new(),
    };
    // taco's cache gives `max` where its test of `min` comes after the one of `max`; the data are those of `min`.
    if case.name.contains("vector_min") {
        case.expression = case.expression.replace("max(", "min(");
    }
    for tensor in json["tensors"].as_array().into_iter().flatten() {
        let name = text(&tensor["name"]);
        case.is_filled |= !matches!(text(&tensor["fill"]).as_str(), "0" | "(0,0)" | "");
        let entries = tensor["coo"].as_array().into_iter().flatten();
        let entries = entries.map(|entry| (indices(&entry[0]), entry[1].as_f64().unwrap_or(f64::NAN))).collect();
        case.data.insert(name.clone(), entries);
        if tensor["role"] == "out" {
            case.results.push(name.clone());
        }
        let (element, format) = (text(&tensor["type"]), text(&tensor["format"]));
        case.tensors.push(Tensor { name, element, format, dims: indices(&tensor["dims"]) });
    }
    case
}

/// Why a case is out of scope, or what is wrong.
enum Verdict {
    Out(String),
    Wrong(String),
}

fn check(recorded: &Recorded) -> Result<Ready, Verdict> {
    let out = |reason: &str| Verdict::Out(reason.to_owned());
    if recorded.is_windowed {
        return Err(out("windows and strides"));
    }
    if recorded.is_filled {
        return Err(out("fill values other than zero"));
    }
    let translation = taco::translate(&recorded.expression, &recorded.tensors).map_err(out)?;
    let case = Case {
        name: recorded.name.clone(),
        text: translation.text,
        dims: translation.dims,
        data: recorded.data.clone(),
        ..Case::default()
    };
    let ready = Ready::new(&case).map_err(|stop| match stop {
        Stop::Refused { codes, message } => match refusal(&codes[0]) {
            Some(reason) => out(reason),
            None => Verdict::Wrong(message),
        },
        Stop::Data(message) => Verdict::Wrong(message),
    })?;
    let wrong = |message: String| Verdict::Wrong(format!("{message}\n{}", case.text));
    ready.interpret(1).map_err(wrong)?;
    let interpreter = ready.interpreter().map_err(wrong)?;
    let result = ready.results(&interpreter).map_err(wrong)?.remove(0);
    let element = result.element();
    agrees(&recorded.data[&recorded.results[0]], &Entries::of(&result), element).map_err(wrong)?;
    Ok(ready)
}

/// What the compiler refuses today, by code.
fn refusal(code: &str) -> Option<&'static str> {
    Some(match code {
        "E0307" | "E0308" => "a sparse result that taco lets become dense",
        "E0404" => "operands of several element types",
        "E0302" => "functions of integers",
        "E0306" => "division by missing entries",
        "E0403" => "repeated indices",
        _ => return None,
    })
}

fn agrees(recorded: &BTreeMap<Vec<usize>, f64>, found: &Entries, element: ElementType) -> Result<(), String> {
    for index in recorded.keys().chain(found.stored.keys()) {
        let (recorded, found) = (recorded.get(index).unwrap_or(&0.0), found.stored.get(index).unwrap_or(&0.0));
        // Recorded numbers are rounded to six digits.
        let is_close = is_close(*recorded, *found, element) || (recorded - found).abs() <= 1e-5 * recorded.abs();
        if !is_close && !(recorded.is_nan() && !found.is_finite()) {
            return Err(format!("at {index:?} the value is {found}, but taco recorded {recorded}"));
        }
    }
    Ok(())
}

#[test]
fn recorded_cases_give_what_was_recorded() {
    let Some(path) = shared("taco-cases.jsonl.gz") else { return };
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("a file that is there opens");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("the file is gzip");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut passed = Vec::new();
    for line in text.lines() {
        let recorded = recorded(line);
        match check(&recorded) {
            Ok(ready) => {
                *counts.entry("pass".to_owned()).or_default() += 1;
                passed.push(ready);
            }
            Err(Verdict::Out(reason)) => *counts.entry(format!("out of scope: {reason}")).or_default() += 1,
            Err(Verdict::Wrong(message)) => wrong.push(format!("{}: {}\n{message}", recorded.name, recorded.expression)),
        }
    }
    println!("{counts:#?}");
    assert!(wrong.is_empty(), "{} cases are wrong:\n\n{}", wrong.len(), wrong.join("\n"));
    let expected: BTreeMap<String, usize> = EXPECTED.iter().map(|(what, count)| ((*what).to_owned(), *count)).collect();
    assert_eq!(counts, expected);
    let sample: Vec<&Ready> = passed.iter().step_by(6).collect();
    match native::compile(&sample) {
        Some(executables) => sample.iter().zip(executables).for_each(|(ready, executable)| {
            ready.run(&executable).unwrap_or_else(|error| panic!("{}: {error}", ready.notation));
        }),
        None => println!("nothing ran natively"),
    }
}

/// What became of the 601 cases.
const EXPECTED: &[(&str, usize)] = &[
    ("out of scope: a sparse result that taco lets become dense", 7),
    ("out of scope: conversions between element types", 11),
    ("out of scope: division by missing entries", 3),
    ("out of scope: element types that we do not have", 20),
    ("out of scope: fill values other than zero", 1),
    ("out of scope: functions that the language does not have", 59),
    ("out of scope: operands of several element types", 2),
    ("out of scope: padded levels", 1),
    ("out of scope: reductions by other operators", 3),
    ("out of scope: several statements", 1),
    ("out of scope: windows and strides", 116),
    ("pass", 377),
];

#[test]
fn expressions_of_others_compile_or_are_refused() {
    let Some(path) = shared("taco-expressions.txt") else { return };
    let text = std::fs::read_to_string(path).expect("a file that is there can be read");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let mut parts = line.split(" | ");
        let (Some(expression), Some(formats), Some(note)) = (parts.next(), parts.next(), parts.next()) else { continue };
        if !note.starts_with(['B', 'C', 'D']) {
            continue;
        }
        let tensors: Vec<Tensor> = formats.split(';').filter_map(declared).collect();
        let outcome = match taco::translate(expression, &tensors) {
            Err(_) => "not translated",
            Ok(translation) => match compile(&translation.text) {
                Ok(()) => "compiles",
                Err(_) => "refused",
            },
        };
        *counts.entry(outcome).or_default() += 1;
    }
    println!("{counts:?}");
    assert!(counts["compiles"] > 100, "{counts:?}");
}

fn declared(text: &str) -> Option<Tensor> {
    let (name, format) = text.trim().split_once('=')?;
    Some(Tensor { name: name.to_owned(), element: "double".to_owned(), format: format.to_owned(), dims: Vec::new() })
}

/// The whole way to Rust.
fn compile(text: &str) -> Result<(), spc_compiler::diagnostics::Diagnostics> {
    for kernel in spc_compiler::notation::check(&spc_compiler::syntax::parse_program(text)?)? {
        spc_compiler::backend::rust::text(&spc_compiler::compile_notation(&kernel)?.kernel);
    }
    Ok(())
}
