//! `register_tile(r, 16)`: rows over `r` in tiles whose accumulators stay in registers, and one of what is left;
//! `register_tile(r, overlapped(64))`: in strips of two tiles that overlap; `register_tile(r, none)`: whole rows.

use super::{Around, Refusal, Rule, choice, has_vector_loop, named};
use crate::concrete::{IndexVariable, Kernel};
use crate::ir::Tile;
use crate::schedule::directives::Directives;
use crate::syntax::{Directive, Expr, ExprKind};

/// The rule.
pub(super) const RULE: Rule = Rule { name: "register_tile", apply, neighbours };

/// The most elements of a tile: more than any processor's registers hold.
const MOST: u64 = 1024;

/// The tiles that tuning tries.
const TRIED: [Tile; 7] =
    [Tile::By(8), Tile::By(16), Tile::By(32), Tile::By(64), Tile::By(128), Tile::Overlapped(64), Tile::Whole];

fn chosen(width: &Expr) -> Option<Tile> {
    let of = |digits: &str| digits.parse().ok().filter(|width| (1..=MOST).contains(width));
    match (&width.kind, named(width)) {
        (ExprKind::Name(name), _) if name.name == "none" => Some(Tile::Whole),
        (ExprKind::Number { digits, .. }, _) => of(digits).map(Tile::By),
        (_, Some((name, Some(widths)))) if name == "overlapped" => match &widths[..] {
            [width] => of(width).map(Tile::Overlapped),
            _ => None,
        },
        _ => None,
    }
}

fn apply(directives: &mut Directives<'_>, directive: &Directive) {
    let [row, width] = &directive.arguments[..] else { return };
    let Some(tile) = chosen(width) else {
        let help = format!(
            "a tile has 1 to {MOST} elements; `overlapped(64)` asks for strips of two tiles, `none` leaves rows whole"
        );
        return directives.refuse(width.span, "a tile of no such width".to_owned(), "not a width", help);
    };
    let asked = directives.variables(row).into_iter().map(|variable| (variable, tile, directive.span));
    directives.kernel.asked.tiles.extend(asked);
}

/// Other tiles of rows that are accumulated.
fn neighbours(around: &Around<'_>) -> Vec<String> {
    let of = |row: &String| {
        let fits = |tile: &Tile| match tile {
            Tile::Whole => true,
            Tile::By(width) | Tile::Overlapped(width) | Tile::Masked(width) => {
                (around.extent)(row).is_none_or(|extent| extent as u64 > *width)
            }
        };
        let tried = TRIED.into_iter().filter(fits);
        tried.map(|tile| format!("register_tile({row}, {});", tile.word())).collect::<Vec<_>>()
    };
    let accumulators = || around.chosen("accumulate").filter_map(|directive| choice(directive, 0).and_then(named));
    let is_accumulated = |row: &&String| accumulators().any(|(_, over)| over.is_some_and(|over| over.contains(row)));
    around.vectors.iter().filter(is_accumulated).flat_map(of).collect()
}

/// Why rows over a variable can't be tiled, if so.
pub(super) fn refusal(kernel: &Kernel, variable: IndexVariable) -> Option<Refusal> {
    (!has_vector_loop(kernel, variable)).then(|| Refusal {
        message: format!("rows over `{}` can't be tiled", kernel.variable(variable)),
        label: "is no loop in vector lanes",
        help: "its index must be dense wherever it is used; `vector` asks for such a loop".to_owned(),
    })
}
