//! `runtime/src/tensor/named.rs` is what `src/format/prelude.ti` says, as types.
//!
//! It is kept in the tree so that a program without the compiler has the types: after a change of the prelude,
//! `INSTA_UPDATE=always cargo test -p spc-tensor-compiler --test main marker_types` writes it anew.

use spc_compiler::backend::rust::marker_name;
use spc_compiler::format::{self, Format, prelude};
use spc_compiler::syntax::{
    BinaryOperator, Expr, ExprKind, FormatArgument, FormatDefinition, FormatMap, Index, LevelExpr,
};
use std::fmt::Write;
use std::path::Path;

const HEADER: &str = "\
//! The formats of the language as types. Made from the compiler's `prelude.ti`: see its `tests/marker_types.rs`. Do not edit.

use super::mapped::{constant, difference, each, interleave, linear, mode, named_formats, one, quotient, remainder};
use spc_compiler::format::{IndexWidth, LevelFormat, Order};

";

/// Where the modes of a map begin, in tensors of `N` modes: `0`, `1`, `N - 1`.
fn place(map: &FormatMap, at: usize) -> String {
    match map.modes.iter().position(|mode| mode.variadic) {
        Some(variadic) if at > variadic => match map.modes.len() - at {
            0 => "N".to_owned(),
            behind => format!("N - {behind}"),
        },
        _ => at.to_string(),
    }
}

/// What a name of a map stands for, and whether that is several modes.
fn mode_of(map: &FormatMap, name: &str) -> Option<(usize, bool)> {
    map.modes.iter().position(|mode| mode.name.name == name).map(|at| (at, map.modes[at].variadic))
}

fn range(map: &FormatMap, at: usize) -> String {
    format!("{}..{}", place(map, at), place(map, at + 1))
}

fn coordinate(map: &FormatMap, expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Number { digits, .. } => format!("constant({digits})"),
        ExprKind::Name(name) => match mode_of(map, &name.name) {
            Some((_, true)) => "mode(at)".to_owned(),
            Some((at, false)) => format!("mode({})", place(map, at)),
            None => format!("constant({})", name.name),
        },
        ExprKind::Binary(operator, left, right) => {
            let function = match operator {
                BinaryOperator::Divide => "quotient",
                BinaryOperator::Remainder => "remainder",
                BinaryOperator::Subtract => "difference",
                other => panic!("{other:?} has no function in `named.rs`: add one"),
            };
            format!("{function}({}, {})", coordinate(map, left), coordinate(map, right))
        }
        ExprKind::Access(access) => match &access.indices[..] {
            indices @ [first, ..] => {
                let last = indices.last().unwrap_or(first);
                let at = |index: &Index| match index {
                    Index::Expr(Expr { kind: ExprKind::Name(name), .. }) => {
                        mode_of(map, &name.name).expect("it is a mode").0
                    }
                    other => panic!("{other:?} is no name of modes"),
                };
                format!("{}({}..{})", access.name.name, place(map, at(first)), place(map, at(last) + 1))
            }
            [] => panic!("{} is of no modes", access.name.name),
        },
        other => panic!("{other:?} is no coordinate"),
    }
}

fn level(level: &LevelExpr) -> String {
    let mut text = format!("LevelFormat::{}", level.name.name.to_uppercase());
    for argument in &level.arguments {
        match argument {
            FormatArgument::Word(word) if word.name == "nonunique" => text += ".nonunique()",
            FormatArgument::Word(word) if word.name == "morton" => text += ".with_order(Order::Morton)",
            FormatArgument::Word(word) if word.name.starts_with('u') => {
                _ = write!(text, ".with_coordinates(IndexWidth::{})", word.name.to_uppercase());
            }
            FormatArgument::Setting(key, value) if ["limit", "rows", "width"].contains(&&*key.name) => match &**value {
                FormatArgument::Word(word) => _ = write!(text, ".with_count({})", word.name),
                FormatArgument::Number(number, _) => _ = write!(text, ".with_count({number})"),
                FormatArgument::Setting(..) => panic!("{value:?} is no number"),
            },
            other => panic!("{other:?} has no method in `named.rs`: add one"),
        }
    }
    text
}

fn levels(map: &FormatMap) -> String {
    let mut text = String::new();
    for of in &map.levels {
        let (coordinate, level) = (coordinate(map, &of.coordinate), level(&of.level));
        if of.variadic {
            let at = map.modes.iter().position(|mode| mode.variadic).expect("one mode is several");
            let each = if coordinate == "mode(at)" { "mode".to_owned() } else { format!("|at| {coordinate}") };
            _ = writeln!(text, "        each({}, {each}, {level}),", range(map, at));
        } else {
            _ = writeln!(text, "        one({coordinate}, {level}),");
        }
    }
    text
}

/// Formats of a definition: of some orders, for some arguments.
fn samples(definition: &FormatDefinition) -> Vec<Option<Format>> {
    let arguments = vec![2; definition.parameters.len()];
    (0..6).map(|order| format::named(&definition.name.name, &arguments, order).ok()).collect()
}

fn types() -> String {
    let mut text = HEADER.to_owned();
    let mut aliases = String::new();
    text += "named_formats! {\n";
    let all = prelude::definitions();
    for (place, definition) in all.iter().enumerate() {
        let name = marker_name(&definition.name.name);
        let order = if definition.map.modes.iter().any(|mode| mode.variadic) { "N" } else { "" };
        let parameters: Vec<&str> = definition.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let documentation = |indent: &str| {
            let lines = definition.documentation.iter();
            lines.map(|line| format!("{indent}/// {}\n", line.trim())).collect::<String>()
        };
        let is_same = |other: &&FormatDefinition| samples(other) == samples(definition);
        if let Some(same) = all[..place].iter().find(is_same) {
            assert!(parameters.is_empty() && order == "N", "an alias of `{name}` takes an order alone");
            aliases += &documentation("");
            _ = writeln!(aliases, "pub type {name}<const N: usize> = {}<N>;", marker_name(&same.name.name));
            continue;
        }
        let least = definition.map.modes.iter().filter(|mode| !mode.variadic).count();
        text += &documentation("    ");
        _ = writeln!(
            text,
            "    {name} [{order}] [{}] = {least}, [\n{}    ];",
            parameters.join(", "),
            levels(&definition.map)
        );
    }
    text += "}\n";
    if !aliases.is_empty() {
        _ = write!(text, "\n{aliases}");
    }
    text
}

#[test]
fn marker_types_are_those_of_the_prelude() {
    let path = "../runtime/src/tensor/named.rs";
    // The run time is not there where this package is tested alone.
    if Path::new(env!("CARGO_MANIFEST_DIR")).join(path).parent().is_some_and(Path::exists) {
        crate::assert_made(path, &types(), "marker_types");
    }
}
