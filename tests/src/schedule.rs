//! Schedules at random, for any case.

use crate::case::Case;
use crate::data::Random;
use spc_compiler::syntax::{Expr, ExprKind, Item};
use spc_compiler::{notation, syntax};

/// The case with a block of one to four directives; `None` where it has one, or no loops to schedule.
pub fn scheduled(case: &Case, random: &mut Random) -> Option<Case> {
    let (variables, operands) = (variables(case), operands(case));
    if variables.is_empty() || case.text.contains("schedule {") {
        return None;
    }
    let text = format!("{}\n{}", case.text.trim_end(), schedule(case, &variables, &operands, random));
    Some(Case { text, ..case.clone() })
}

/// The names of the index variables that a case's loops are over.
fn variables(case: &Case) -> Vec<String> {
    let kernels = syntax::parse_program(&case.text).and_then(|program| notation::check(&program)).unwrap_or_default();
    let variables = kernels.iter().flat_map(|kernel| &kernel.variables);
    let written = |name: &str| !name.contains('_');
    let loops = variables.filter(|variable| variable.value.is_none() && variable.extent.is_none());
    loops.map(|variable| variable.name.clone()).filter(|name| written(name)).collect()
}

/// The names of a case's operands.
fn operands(case: &Case) -> Vec<String> {
    let kernels = syntax::parse_program(&case.text).and_then(|program| notation::check(&program)).unwrap_or_default();
    let tensors = kernels.iter().flat_map(|kernel| &kernel.tensors);
    let inputs = tensors.filter(|tensor| tensor.role == notation::Role::Input);
    inputs.map(|tensor| tensor.name.clone()).collect()
}

/// Whether it is the schedule that is refused; what is cut to be scheduled at all is then too much for one loop nest as well.
pub fn is_refused(codes: &[String]) -> bool {
    // Parts that are stored sparse may have no order of loops beside the refused one.
    let is_known = |code: &String| ["E0402", "E0410", "E0503"].contains(&code.as_str());
    codes.iter().any(|code| code == "E0503") && codes.iter().all(is_known)
}

/// A part of a case's right-hand sides, as text: any expression in them, or two neighbouring factors or terms.
fn part(case: &Case, random: &mut Random) -> Option<String> {
    fn parts(expr: &Expr, all: &mut Vec<String>) {
        // The terms of a reduction that a condition chooses are no expression by themselves.
        if !matches!(&expr.kind, ExprKind::Call(name, _) if name.name == "where") {
            all.push(expr.to_string());
        }
        match &expr.kind {
            ExprKind::Binary(operator, left, right) => {
                if let ExprKind::Binary(inner, _, middle) = &left.kind
                    && inner == operator
                {
                    all.push(format!("({middle}) {} ({right})", operator.symbol()));
                }
                parts(left, all);
                parts(right, all);
            }
            ExprKind::Unary(_, operand) => parts(operand, all),
            ExprKind::Call(_, arguments) => arguments.iter().for_each(|argument| parts(argument, all)),
            ExprKind::Reduce { body, .. } => parts(body, all),
            ExprKind::Number { .. } | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Access(_) => {}
        }
    }
    let program = syntax::parse_program(&case.text).ok()?;
    let mut all = Vec::new();
    for item in &program.items {
        if let Item::Kernel(kernel) = item {
            kernel.body.iter().for_each(|statement| parts(&statement.value, &mut all));
        }
    }
    (!all.is_empty()).then(|| random.choose(&all).clone())
}

/// `precompute` of a part over some of the variables that its text mentions.
fn precompute(part: &str, known: &mut Vec<String>, random: &mut Random) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = part.split(|c| !is_word(c)).collect();
    let mentioned: Vec<String> = known.iter().filter(|name| words.contains(&name.as_str())).cloned().collect();
    let mut text = format!("precompute({part}");
    for old in mentioned {
        if random.below(2) == 0 {
            let new = format!("{old}_w{}", known.len());
            text.push_str(&format!(", {old}, {new}"));
            known.push(new);
        }
    }
    text + "); "
}

/// A block of one to four directives over a kernel's variables, operands and parts.
fn schedule(case: &Case, variables: &[String], operands: &[String], random: &mut Random) -> String {
    let mut known = variables.to_vec();
    let mut text = String::new();
    for _ in 0..1 + random.below(4) {
        let any = |random: &mut Random, known: &[String]| random.choose(known).clone();
        text.push_str(&match random.below(12) {
            0 | 1 => {
                let (old, number) = (any(random, &known), known.len());
                let size = *random.choose(&[1, 2, 3, 4, 8]);
                known.push(format!("{old}_o{number}"));
                known.push(format!("{old}_i{number}"));
                format!("split({old}, {old}_o{number}, {old}_i{number}, {size}); ")
            }
            2 | 3 => {
                let mut order = known.clone();
                random.shuffle(&mut order);
                order.truncate(2 + random.below(3));
                if order.len() < 2 {
                    continue;
                }
                format!("reorder({}); ", order.join(", "))
            }
            4 | 5 => format!("parallel({}); ", any(random, &known)),
            6 => {
                let (outer, inner, number) = (any(random, &known), any(random, &known), known.len());
                if outer == inner {
                    continue;
                }
                known.push(format!("f{number}"));
                format!("fuse({outer}, {inner}, f{number}); ")
            }
            7 if !operands.is_empty() => {
                let (old, number) = (any(random, &known), known.len());
                known.push(format!("p{number}"));
                format!("positions({old}, {}, p{number}); ", random.choose(operands))
            }
            9..12 => match part(case, random) {
                Some(part) => precompute(&part, &mut known, random),
                None => continue,
            },
            _ => format!("{}({}); ", random.choose(&["vector", "unroll"]), any(random, &known)),
        });
    }
    format!("schedule {{ {text}}}")
}
