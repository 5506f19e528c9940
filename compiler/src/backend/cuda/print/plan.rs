//! The steps of a module, for the reader.

use super::super::plan::{BLOCK, Module, Step};
use crate::ir::Expr;
use std::fmt::Write;

/// The steps of the host, one a line.
pub fn plan_text(module: &Module) -> String {
    let mut text = format!("plan {}\n", module.kernel.name);
    for step in &module.steps {
        let _ = writeln!(text, "    {}", line(module, step));
    }
    text
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
        Step::Launch { function, places, lanes, workers } => {
            let function = &module.functions[*function];
            let mut line = format!("launch {}", function.name);
            line += &match (&function.threads, lanes) {
                (super::super::plan::Threads::One, _) => " by one thread".to_owned(),
                (_, None) => format!(" for {} places", show(places)),
                (_, Some(lanes)) => format!(" for {} places of {} lanes", show(places), show(lanes)),
            };
            if let Some(workers) = workers {
                line += &format!(", at most {workers} threads");
            }
            if function.threads != super::super::plan::Threads::One {
                line += &format!(", {BLOCK} threads a block");
            }
            line
        }
        Step::Scan { array, first } => format!("scan {} from {}", name(array), show(first)),
        Step::Lengthen { array, length } => format!("lengthen {} to {}", name(array), show(length)),
    }
}

/// Ids of declarations are for programs: `d0:i` is the extent of `i`, `a1:X1_crd` the array.
fn readable(text: &str) -> String {
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
