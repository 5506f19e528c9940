//! The 601 cases recorded from taco's own test run: every one that the language can say today gives taco's result; the others
//! are counted by the reason.
//!
//! The cases lie beside the project, in `../shared/conformance`; where they do not, the tests are ignored.

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use spc::complex::c64;
use spc::execute::{Backend, Chain};
use spc::tensor::{AnyTensor, Coordinates, Duplicates, Element, Indices, pack_filled};
use spc::with_element;
use spc_compiler::diagnostics::Diagnostics;
use spc_compiler::ir::Literal;
use spc_compiler::{backend, compile_notation, notation, syntax};
use spc_tests::harness::{Skip, options};
use spc_tests::taco::{TacoTensor, Windowed, program, windowed_program};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// How many cases end how. A case that the compiler refuses is counted by the code of its message. Where this language means
/// something else than taco: it refuses to divide by what may be missing (E0306), and it converts no element to what may not hold
/// it (E0404). The element types are integers that it does not have: of 8 bits with a sign, whose products wrap around in taco's
/// cases, of 16 bits, and of 32 and 64 without a sign.
const COUNTS: &[(&str, usize)] =
    &[("element type", 12), ("passed", 580), ("refused with E0306", 8), ("refused with E0404", 1)];

/// Every so many of the passing cases also run natively: in the usual tier, and in the whole.
const NATIVE_SHARES: [usize; 2] = [80, 16];

struct Case {
    id: u64,
    expression: String,
    tensors: Vec<(TacoTensor, Value)>,
    /// For a case with windows, the test that it is from and how many of that test's cases are before it.
    windows: Option<(String, usize)>,
}

fn cases(path: &Path) -> Vec<Case> {
    let file = File::open(path).expect("the cases can be read");
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    let mut next = |line: std::io::Result<String>| {
        let value: Value = serde_json::from_str(&line.expect("text")).expect("a JSON object a line");
        let turn = turns.entry(value["source"].to_string()).or_default();
        *turn += 1;
        case(&value, *turn - 1)
    };
    lines.map(&mut next).collect()
}

fn case(value: &Value, turn: usize) -> Case {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let tensor = |value: &Value| TacoTensor {
        name: text(value, "name"),
        element: text(value, "type"),
        format: text(value, "format"),
        fill: text(value, "fill"),
        is_result: value["role"] == "out",
    };
    // These two write the coordinates of matrices stored by columns as they are stored.
    let is_by_level = ["BoolRing2/", "BoolRing3/"].iter().any(|name| text(value, "source").contains(name));
    let as_indexed = |value: &Value| {
        let mut value = value.clone();
        if is_by_level && text(&value, "format").ends_with(":1,0") {
            let entries = value["coo"].as_array_mut().expect("entries").iter_mut();
            entries.for_each(|entry| entry[0].as_array_mut().expect("an index").reverse());
        }
        value
    };
    let tensors = value["tensors"].as_array().expect("tensors").iter().map(|value| (tensor(value), as_indexed(value)));
    // taco prints these four with the operator of the test before; their results are minima.
    let is_minimum = text(value, "source").contains("vector_min/");
    let expression = text(value, "expr");
    Case {
        id: value["id"].as_u64().expect("an id"),
        expression: if is_minimum { expression.replace("max(", "min(") } else { expression },
        tensors: tensors.collect(),
        windows: (value["window"] == true).then(|| (text(value, "source"), turn)),
    }
}

fn shape(tensor: &Value) -> Vec<usize> {
    let dims = tensor["dims"].as_array().expect("dims").iter();
    dims.map(|dim| usize::try_from(dim.as_u64().expect("an extent")).expect("small")).collect()
}

/// The entries of a tensor: its index and its value.
fn entries(tensor: &Value) -> Vec<(Vec<usize>, c64)> {
    let entry = |entry: &Value| {
        let index = entry[0].as_array().expect("an index").iter();
        let index = index.map(|part| usize::try_from(part.as_u64().expect("an index")).expect("small")).collect();
        (index, number(&entry[1]))
    };
    tensor["coo"].as_array().expect("entries").iter().map(entry).collect()
}

/// A number, or the two parts of a complex one.
fn number(value: &Value) -> c64 {
    match value.as_array().map(Vec::as_slice) {
        Some([re, im]) => c64::new(real(re), real(im)),
        _ => real(value).into(),
    }
}

fn real(value: &Value) -> f64 {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(f64::NAN)
}

fn store<T: Element>(tensor: &Value, declared: &notation::Tensor) -> AnyTensor {
    let entries = entries(tensor);
    let shape = shape(tensor);
    let column = |mode: usize| entries.iter().map(|(index, _)| u32::try_from(index[mode]).expect("small")).collect();
    let indices = (0..shape.len()).map(|mode| Indices::U32(column(mode))).collect();
    let values = entries.iter().map(|(_, value)| T::from_c64(*value)).collect();
    let coordinates = Coordinates { shape, shape_is_stated: true, indices, values };
    let fill = T::from_literal(declared.fill).expect("an element");
    pack_filled(coordinates, &declared.format, Duplicates::Sum, fill)
        .unwrap_or_else(|error| panic!("{}: {error}", declared.name))
}

impl Case {
    /// How the case ends: passed, or why not.
    fn outcome(&self, native: bool) -> Result<(), String> {
        // Sets of coordinates are tensors of taco's, too, and here the matrices that select them.
        let is_accessed = |tensor: &&(TacoTensor, Value)| self.expression.contains(&format!("{}(", tensor.0.name));
        let tensors = self.tensors.iter().filter(|tensor| self.windows.is_none() || is_accessed(tensor));
        let declared: Vec<TacoTensor> = tensors.map(|(tensor, _)| tensor.clone()).collect();
        let (text, windowed) = match &self.windows {
            Some((source, turn)) => windowed_program(&self.expression, &declared, source, *turn)?,
            None => (program(&self.expression, &declared)?, Windowed::default()),
        };
        let code = |diagnostics: Diagnostics| match diagnostics.into_sorted().first() {
            Some(first) if first.code.number == 0 => format!("{text}: {}", first.message),
            Some(first) => format!("refused with {}", first.code),
            None => "refused without a reason".to_owned(),
        };
        let kernel =
            syntax::parse_program(&text).and_then(|program| notation::check(&program)).map_err(code)?.remove(0);
        let program = compile_notation(&kernel).map_err(code)?;
        let backend = if native { Backend::Native } else { Backend::Interpreter };
        let chain = Chain::new(&program, backend).expect("the kernel compiles");
        for (name, result) in self.run(&chain, &kernel, &windowed) {
            self.compare(&name, &result);
        }
        Ok(())
    }

    /// A tensor of the case, or a matrix that selects the coordinates of a window.
    fn value_of(&self, name: &str, windowed: &Windowed) -> Value {
        if let Some((_, value)) = self.tensors.iter().find(|(tensor, _)| tensor.name == name) {
            return value.clone();
        }
        let selection = windowed.selections.iter().find(|selection| selection.name == name).expect("declared");
        let rows = selection.coordinates.iter().enumerate();
        let entries: Vec<Value> = rows.map(|(row, column)| json!([[row, column], 1])).collect();
        let columns = shape(&self.value_of(&selection.tensor, windowed))[selection.mode];
        json!({ "dims": [selection.coordinates.len(), columns], "coo": entries })
    }

    fn run(&self, chain: &Chain, kernel: &notation::Kernel, windowed: &Windowed) -> Vec<(String, AnyTensor)> {
        let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input);
        let stored: Vec<AnyTensor> = inputs
            .map(|tensor| {
                let value = self.value_of(&tensor.name, windowed);
                with_element!(tensor.element, |T| store::<T>(&value, tensor))
            })
            .collect();
        let last = chain.links().last().expect("a kernel has a statement").kernel();
        let target = &kernel.statements.last().expect("a kernel has a statement").target;
        let target = &kernel.tensor(target.tensor).name;
        let result = last.tensors.iter().find(|tensor| tensor.name == *target).expect("a result");
        let named = result.dimensions.iter().map(|dimension| last.dimensions[dimension.index()].name.as_str());
        let mut extents: Vec<(&str, usize)> = named.zip(shape(&self.value_of(target, windowed))).collect();
        let is_dimension = |name: &str| chain.declarations().dimensions.iter().any(|dimension| dimension.name == name);
        let windows = windowed.extents.iter().map(|(name, extent)| (name.as_str(), *extent));
        extents.extend(windows.filter(|(name, _)| is_dimension(name)));
        let inputs: Vec<&AnyTensor> = stored.iter().collect();
        let outcome = chain.run(&inputs, &extents, 1).unwrap_or_else(|error| panic!("{}: {error}", self.id));
        outcome.outputs
    }

    fn compare(&self, name: &str, result: &AnyTensor) {
        result.validate().unwrap_or_else(|error| panic!("case {}: {error}", self.id));
        let (_, expected) =
            self.tensors.iter().find(|(tensor, _)| tensor.name == name).expect("a case has its results");
        let mut expected: BTreeMap<Vec<usize>, c64> = entries(expected).into_iter().collect();
        let fill = match result.fill() {
            Literal::Float(_, value) => c64::from(value),
            Literal::Integer(_, value) => c64::from(value as f64),
        };
        let mut check = |index: &[usize], value: c64| {
            let reference = expected.remove(index).unwrap_or(fill);
            let is_close = (value - reference).norm() <= 1e-6 * reference.norm().max(1.0);
            let is_same = value == reference || (value.is_nan() && reference.is_nan());
            assert!(
                is_close || is_same,
                "case {}: {value} at {index:?}, not {reference}: {}",
                self.id,
                self.expression
            );
        };
        result.for_each_position(|index, position| {
            check(index, result.values().get_c64(position));
        });
        expected.retain(|_, value| *value != fill);
        assert!(expected.is_empty(), "case {}: no entry at {:?}: {}", self.id, expected, self.expression);
    }
}

/// A file of the folder beside the project.
fn beside(name: &str) -> Result<PathBuf, Skip> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance").join(name);
    if path.is_file() { Ok(path) } else { Err(Skip(format!("{} is not there", path.display()))) }
}

fn every_case_passes_or_is_out_of_reach_for_a_reason() -> Result<(), Skip> {
    let path = beside("taco-cases.jsonl.gz")?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let share = NATIVE_SHARES[usize::from(options().whole)];
    let mut passed = 0;
    for case in cases(&path) {
        let outcome = case.outcome(false);
        if outcome.is_ok() {
            passed += 1;
            if passed % share == 0 {
                case.outcome(true).expect("what the interpreter runs, native code runs");
            }
        }
        *counts.entry(outcome.err().unwrap_or_else(|| "passed".to_owned())).or_default() += 1;
    }
    let counts: Vec<(&str, usize)> = counts.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(counts, COUNTS);
    Ok(())
}

/// What others have written down: kernels of papers, taco's documentation, and what its users reported as broken.
fn expressions_of_others_compile_or_are_refused() -> Result<(), Skip> {
    let text = std::fs::read_to_string(beside("taco-expressions.txt")?).expect("the file can be read");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [expression, formats, note] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else { continue };
        if !note.starts_with(['B', 'C', 'D']) {
            continue;
        }
        let target = expression.split(['(', ' ']).next().unwrap_or_default();
        let tensors: Vec<TacoTensor> = formats.split(';').filter_map(|text| declared(text, target)).collect();
        let outcome = match program(expression, &tensors) {
            Err(_) => "not in the language",
            Ok(text) if compile(&text).is_ok() => "compiles",
            Ok(_) => "refused",
        };
        *counts.entry(outcome).or_default() += 1;
    }
    assert!(counts["compiles"] > 150, "{counts:?}");
    Ok(())
}

fn declared(text: &str, target: &str) -> Option<TacoTensor> {
    let (name, format) = text.trim().split_once('=')?;
    let format = if format == "scalar" { "" } else { format }.to_owned();
    let (element, fill) = ("double".to_owned(), "0".to_owned());
    Some(TacoTensor { name: name.to_owned(), element, format, fill, is_result: name == target })
}

/// The whole way to Rust.
fn compile(text: &str) -> Result<(), Diagnostics> {
    for kernel in notation::check(&syntax::parse_program(text)?)? {
        for compiled in compile_notation(&kernel)?.kernels {
            backend::rust::text(&compiled.kernel);
        }
    }
    Ok(())
}

spc_tests::tests! {
    every_case_passes_or_is_out_of_reach_for_a_reason,
    expressions_of_others_compile_or_are_refused,
}
