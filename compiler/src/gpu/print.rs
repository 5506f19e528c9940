//! The steps of a module, for the reader.

use super::plan::{Module, Step, Threads};
use crate::ir::Expr;
use std::fmt::Write;

/// The steps of the host, one a line.
pub fn plan_text(module: &Module) -> String {
    let mut text = format!("plan {}\n", module.kernel.name);
    steps(module, &module.steps, 1, &mut text);
    text
}

fn steps(module: &Module, steps: &[Step], depth: usize, text: &mut String) {
    let indent = 4 * depth;
    for step in steps {
        if let Step::Choose { condition, then, otherwise } = step {
            let condition = readable(&module.kernel.show(condition).to_string());
            let _ = writeln!(text, "{:indent$}if {condition}", "");
            self::steps(module, then, depth + 1, text);
            if !otherwise.is_empty() {
                let _ = writeln!(text, "{:indent$}else", "");
                self::steps(module, otherwise, depth + 1, text);
            }
        } else {
            let _ = writeln!(text, "{:indent$}{}", "", line(module, step));
        }
    }
}

fn line(module: &Module, step: &Step) -> String {
    let name = |array: &crate::ir::ArrayId| module.kernel.array(*array).name.clone();
    let show = |expr: &Expr| readable(&module.kernel.show(expr).to_string());
    match step {
        Step::Make { array, length, fill } => {
            let element = module.kernel.array(*array).element;
            let fill = fill.as_ref().map_or(String::new(), |fill| format!(" = {}", show(fill)));
            format!("make {}: {element}[{}]{fill}", name(array), show(length))
        }
        Step::Fill { array, value } => format!("fill {} = {}", name(array), show(value)),
        Step::Launch { function, places, lanes, workers, blocks } => {
            let function = &module.functions[*function];
            let mut line = format!("launch {}", function.name);
            let places = match function.places().and_then(|places| places.share.as_ref()) {
                Some(share) => {
                    format!("{} places in shares of {}", show(places), show(&share.value))
                }
                None => format!("{} places", show(places)),
            };
            line += &match (&function.threads, lanes) {
                (Threads::One, _) => " by one thread".to_owned(),
                (_, None) => format!(" for {places}"),
                (_, Some(mean)) if function.group().is_some() => {
                    format!(" for {places} by groups of at most {} lanes", show(mean))
                }
                (_, Some(lanes)) => format!(" for {places} of {} lanes", show(lanes)),
            };
            if let Some(workers) = workers {
                line += &format!(", at most {} threads", show(workers));
            }
            if let Some(blocks) = blocks {
                line += &format!(", at most {} blocks", show(blocks));
            }
            if function.threads != Threads::One {
                line += &format!(", {} threads a block", function.block);
            }
            if !function.tiles.is_empty() {
                line += &format!(" with {} bytes of shared memory", show(&function.shared(&module.kernel)));
            }
            line
        }
        Step::Teams { function, first, end, width, inner } => {
            let function = &module.functions[*function];
            let (first, end, inner) = (show(first), show(end), show(inner));
            let mut line = format!("launch {} for rows {first}..{end} by teams of {width} threads", function.name);
            line += &format!(", about {inner} of them for an inner loop");
            line + &format!(", {} bytes of shared memory a block", show(&function.shared(&module.kernel)))
        }
        Step::Measure { array, function, places } => {
            let function = &module.functions[*function];
            let (name, places) = (name(array), show(places));
            format!("measure {name}[0] by {} for {places} places, once for the same inputs", function.name)
        }
        Step::Scan { array, first } => format!("scan {} from {}", name(array), show(first)),
        Step::Sort { keys, places, most } => {
            format!("sort {} below {}, with their places in {}", name(keys), show(most), name(places))
        }
        Step::Read { array } => format!("read {}", name(array)),
        Step::Lengthen { array, length } => format!("lengthen {} to {}", name(array), show(length)),
        Step::Choose { condition, .. } => format!("if {}", show(condition)),
    }
}

/// Ids of declarations are for programs: `d0:i` is the extent of `i`, `a1:X1_crd` the array.
pub(crate) fn readable(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(colon) = rest.find(':') {
        let begin = rest[..colon].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        out += &rest[..begin];
        let is_dimension = rest[begin..colon].starts_with('d');
        let name = &rest[colon + 1..];
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        out += &name[..end];
        out += if is_dimension { "_extent" } else { "" };
        rest = &name[end..];
    }
    out + rest
}
