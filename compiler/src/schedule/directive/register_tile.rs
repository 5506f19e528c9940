//! `register_tile(r, 16)`: rows over `r` in tiles whose accumulators stay in registers; `register_tile(r, none)`: whole rows.

use super::{Rule, has_vector_loop, refusal};
use crate::concrete::Kernel;
use crate::diagnostics::Diagnostic;
use crate::ir::Tile;
use crate::schedule::directives::Directives;
use crate::syntax::{Directive, Expr, ExprKind};

pub(super) const RULE: Rule = Rule { name: "register_tile", apply, check };

/// The most elements of a tile: more than any processor's registers hold.
const MOST: u64 = 1024;

fn chosen(width: &Expr) -> Option<Tile> {
    match &width.kind {
        ExprKind::Name(name) if name.name == "none" => Some(Tile::Whole),
        ExprKind::Number { digits, .. } => digits.parse().ok().filter(|width| (1..=MOST).contains(width)).map(Tile::By),
        _ => None,
    }
}

fn apply(directives: &mut Directives<'_>, directive: &Directive) {
    let [row, width] = &directive.arguments[..] else { return };
    let Some(tile) = chosen(width) else {
        let help = format!("a tile has 1 to {MOST} elements; `none` leaves rows whole");
        return directives.refuse(width.span, "a tile of no such width".to_owned(), "not a width", help);
    };
    for variable in directives.variables(row) {
        directives.kernel.asked.choice_mut(variable).tile = Some(tile);
    }
}

fn check(kernel: &Kernel, directive: &Directive) -> Option<Diagnostic> {
    let tiled = kernel.asked.choices.iter().filter(|(_, choice)| choice.tile.is_some());
    let mut without = tiled.filter(|(variable, _)| !has_vector_loop(kernel, *variable));
    without.next().map(|(variable, _)| {
        refusal(
            directive.span,
            format!("rows over `{}` can't be tiled", kernel.variable(*variable)),
            "is no loop in vector lanes",
            "its index must be dense wherever it is used; `vector` asks for such a loop",
        )
    })
}
