//! Whatever tensors and index variables are called, the printed functions compile.

use super::rustc::accepts;
use spc_compiler::{backend, compile_notation, notation, syntax};

pub(crate) fn printed(text: &str) -> String {
    let program = syntax::parse_program(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    let kernels = notation::check(&program).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    let function = |kernel| {
        let program = compile_notation(kernel).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
        program.kernels.iter().map(|compiled| backend::rust::text(&compiled.kernel)).collect::<String>()
    };
    kernels.iter().map(function).collect()
}

/// Kernels that need every helper, with all names to be filled in: a merge that appends, a reduction, private copies, and
/// rows with workspaces.
fn kernels(number: usize, [a, b, c, i, j, k]: [&str; 6]) -> String {
    printed(&format!(
        "fn add_{number}({a}: csr, {b}: csr) -> {c}: csr {{ {c}({i}, {j}) = {a}({i}, {j}) + {b}({i}, {j}); }}
         fn inner_{number}({a}: csf, {b}: csf) -> {c}: f64 {{ {c} = {a}({i}, {j}) * {b}({i}, {j}); }}
         fn private_{number}({a}: csc, {b}: dense) -> {c}: dense {{ {c}({i}) = {a}({i}, {j}) * {b}({j}); }}
         fn rows_{number}({a}: coo, {b}: dense) -> {c}: [compressed(nonunique), dense] {{
             {c}({i}, {k}) = {a}({i}, {j}) * {b}({j}, {k});
         }}"
    ))
}

/// Names that mean something to Rust, or to what is printed around them.
const NAMES: &[&str] = &[
    "as",
    "become",
    "body",
    "bool",
    "box",
    "c",
    "chunk",
    "chunks",
    "combine",
    "crate",
    "dyn",
    "f64",
    "from",
    "gen",
    "high",
    "i",
    "i_extent",
    "impl",
    "in_A",
    "into",
    "j",
    "k",
    "length",
    "low",
    "main",
    "macro",
    "match",
    "mod",
    "mut",
    "owned",
    "p",
    "parallel",
    "part",
    "place",
    "run",
    "run_all",
    "self",
    "Self",
    "std",
    "String",
    "super",
    "t",
    "t_1",
    "t_parts",
    "touched",
    "total",
    "try",
    "type",
    "u32",
    "usize",
    "value",
    "Vec",
    "vec",
    "where",
    "while",
    "yield",
    "A2_pos",
    "A_vals",
    "länge",
    "Ψ",
    "x_row",
    "x_vals",
    "None",
    "Some",
    "Ok",
    "Err",
    "Box",
    "Option",
    "Result",
    "Vec_",
    "raw",
    "safe",
    "union",
    "macro_rules",
    "async",
    "static",
    "drop",
    "core",
    "alloc",
    "K",
    "\u{212a}",
    "\u{e9}",
    "e\u{301}",
];

fn is_function(name: &str) -> bool {
    syntax::functions().any(|function| function == name)
}

fn is_a_name(name: &str) -> bool {
    syntax::parse_statement(&format!("{name}({name}_) = {name}__({name}_)")).is_ok()
}

#[test]
fn any_name_gives_functions_that_rustc_accepts() {
    let names: Vec<&str> = NAMES.iter().copied().filter(|name| is_a_name(name) && !is_function(name)).collect();
    assert!(names.len() > NAMES.len() * 3 / 4, "few of the names are names in the language: {names:?}");
    let mut items = String::new();
    for (number, name) in names.iter().enumerate() {
        let other = |by: usize| names[(number + by * 7) % names.len()];
        items += &kernels(2 * number, [name, other(1), other(2), other(3), other(4), other(5)]);
        items += &kernels(2 * number + 1, [other(6), other(7), other(8), name, other(9), other(10)]);
    }
    accepts("names", &items);
}
