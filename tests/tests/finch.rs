//! A second oracle: MLIR's sparsifier, which PyPI has as `finch-mlir`, on random contractions and sums of tensors in dense and
//! compressed levels. What the interpreter gives is what MLIR gives, unless MLIR refuses.
//!
//! `--finch` names a Python that has `finch-mlir` and `numpy`; without it there is nothing to compare with, and the test is ignored.

use serde_json::{Value, json};
use spc_tests::case::Case;
use spc_tests::data::{Entries, Random, for_each_index};
use spc_tests::engine::Ready;
use spc_tests::harness::{Skip, options};
use spc_tests::number::Number;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const VARIABLES: [&str; 4] = ["i", "j", "k", "l"];

struct Operand {
    indices: Vec<usize>,
    /// For each level its mode, and whether it is compressed.
    levels: Vec<(usize, bool)>,
}

struct Program {
    seed: u64,
    extents: Vec<usize>,
    target: Vec<usize>,
    operator: char,
    operands: Vec<Operand>,
}

fn names(indices: &[usize]) -> String {
    indices.iter().map(|&index| VARIABLES[index]).collect::<Vec<_>>().join(", ")
}

impl Operand {
    fn random(indices: Vec<usize>, random: &mut Random) -> Self {
        let mut modes: Vec<usize> = (0..indices.len()).collect();
        if random.chance(0.4) {
            random.shuffle(&mut modes);
        }
        Operand { indices, levels: modes.into_iter().map(|mode| (mode, random.chance(0.6))).collect() }
    }

    fn format(&self) -> String {
        let modes: Vec<String> = (0..self.levels.len()).map(|mode| format!("m{mode}")).collect();
        let level = |(mode, walked): &(usize, bool)| format!("m{mode}: {}", kind(*walked));
        let levels: Vec<String> = self.levels.iter().map(level).collect();
        format!("({}) -> [{}]", modes.join(", "), levels.join(", "))
    }
}

fn kind(is_compressed: bool) -> &'static str {
    if is_compressed { "compressed" } else { "dense" }
}

impl Program {
    /// A product of tensors over some of the variables, or a sum of tensors over all of them.
    fn random(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let count = 2 + random.below(3);
        let extents: Vec<usize> = (0..count).map(|_| 1 + random.below(6)).collect();
        let operator = if random.chance(0.6) { '*' } else { '+' };
        let most = if operator == '+' { count.min(3) } else { count };
        let mut all: Vec<usize> = (0..most).collect();
        let operands: Vec<Operand> = (0..2 + random.below(2))
            .map(|_| {
                random.shuffle(&mut all);
                let order = if operator == '+' { most } else { 1 + random.below(3.min(most)) };
                Operand::random(all[..order].to_vec(), &mut random)
            })
            .collect();
        let used: BTreeSet<usize> = operands.iter().flat_map(|operand| operand.indices.iter().copied()).collect();
        let mut target: Vec<usize> = used.into_iter().collect();
        random.shuffle(&mut target);
        target.truncate(1 + random.below(3));
        Program { seed, extents, target, operator, operands }
    }

    fn case(&self) -> Case {
        let dims: Vec<String> =
            VARIABLES.iter().zip(&self.extents).map(|(name, extent)| format!("{name}={extent}")).collect();
        let parameter = |(place, operand): (usize, &Operand)| format!("B{place}: {}", operand.format());
        let parameters: Vec<String> = self.operands.iter().enumerate().map(parameter).collect();
        let access = |(place, operand): (usize, &Operand)| format!("B{place}({})", names(&operand.indices));
        let value: Vec<String> = self.operands.iter().enumerate().map(access).collect();
        let text = format!(
            "// dims: {}\n// seed: {}\nfn kernel({}) -> A: dense {{ A({}) = {}; }}\n",
            dims.join(" "),
            self.seed,
            parameters.join(", "),
            names(&self.target),
            value.join(&format!(" {} ", self.operator))
        );
        Case::parse("finch", &text).expect("a program prints as a case")
    }

    fn json(&self, ready: &Ready) -> Value {
        let used: BTreeSet<usize> = self.operands.iter().flat_map(|operand| operand.indices.iter().copied()).collect();
        let extents: serde_json::Map<String, Value> =
            used.iter().map(|&index| (VARIABLES[index].to_owned(), json!(self.extents[index]))).collect();
        let list = |indices: &[usize]| indices.iter().map(|&index| VARIABLES[index]).collect::<Vec<_>>();
        let operand = |(operand, entries): (&Operand, &Entries)| {
            let levels: Vec<Value> = operand.levels.iter().map(|&(mode, walked)| json!([mode, kind(walked)])).collect();
            json!({ "indices": list(&operand.indices), "levels": levels, "values": nested(entries, &mut Vec::new()) })
        };
        let operands: Vec<Value> = self.operands.iter().zip(&ready.inputs).map(operand).collect();
        let operator = self.operator.to_string();
        json!({ "extents": extents, "operator": operator, "target": list(&self.target), "operands": operands })
    }
}

/// All elements, row in row.
fn nested(entries: &Entries, index: &mut Vec<usize>) -> Value {
    let Some(&extent) = entries.shape.get(index.len()) else {
        return json!(entries.stored.get(index).map_or(0.0, |value| value.to_c64().re));
    };
    let rows = (0..extent).map(|place| {
        index.push(place);
        let row = nested(entries, index);
        index.pop();
        row
    });
    Value::Array(rows.collect())
}

/// What MLIR says.
fn ask(python: &Path, cases: &[Value]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("finch/oracle.py");
    let mut command = Command::new(python);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("Python runs");
    let mut input = child.stdin.take().expect("it has an input");
    input.write_all(json!(cases).to_string().as_bytes()).expect("it takes the cases");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    serde_json::from_slice(&output.stdout).expect("Python has finch-mlir and numpy")
}

fn mlir_says_the_same() -> Result<(), Skip> {
    let python = options().finch.as_deref();
    let python = python.ok_or(Skip("--finch names no Python that has `finch-mlir` and `numpy`".to_owned()))?;
    let programs: Vec<Program> = options().seeds(200, 200).map(Program::random).collect();
    let ready: Vec<(Case, Ready)> = programs
        .iter()
        .map(|program| {
            let case = program.case();
            let ready = Ready::new(&case).unwrap_or_else(|stop| panic!("{}: {stop:?}", case.text));
            ready.interpret(1).unwrap_or_else(|error| panic!("{}: {error}", case.text));
            (case, ready)
        })
        .collect();
    let asked: Vec<Value> = programs.iter().zip(&ready).map(|(program, (_, ready))| program.json(ready)).collect();
    let answers = ask(python, &asked);
    let mut answered = 0;
    for ((case, ready), answer) in ready.iter().zip(&answers) {
        let Some(values) = answer.as_array() else { continue };
        answered += 1;
        let expected = &ready.expected[0].entries;
        let mut values = values.iter().map(|value| value.as_f64().expect("a number"));
        for_each_index(&expected.shape, &mut |index| {
            let ours = expected.stored.get(index).copied().unwrap_or(Number::F64(0.0));
            let theirs = Number::F64(values.next().expect("a value for each element"));
            assert!(ours.is_close(theirs), "{}\nat {index:?}: {ours:?}, MLIR {theirs:?}", case.text);
        });
    }
    assert!(answered * 10 >= ready.len() * 8, "MLIR answers {answered} of {} only", ready.len());
    Ok(())
}

spc_tests::tests! {
    mlir_says_the_same,
}
