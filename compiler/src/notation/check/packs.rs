//! What declarations say of the number of indices for which a pack stands.

use crate::diagnostics::Diagnostics;
use crate::format::resolve::{self, Definitions};
use crate::syntax::{FormatExpr, HintKind, Statement, packs};

/// How many modes a declaration says: its `order`, the number of its extents, or the one order that its format serves. What has
/// no format is a scalar.
pub(super) fn order(format: Option<&FormatExpr>, definitions: &Definitions<'_>) -> Option<usize> {
    let Some(format) = format else { return Some(0) };
    let said = format.hints.iter().find_map(|hint| match hint.kind {
        HintKind::Order => hint.numbers.first()?.0.parse().ok(),
        HintKind::Extents => Some(hint.numbers.len()),
        HintKind::Entries | HintKind::Fibers => None,
    });
    let orders = resolve::orders(format, definitions).filter(|orders| !orders.variadic);
    said.or(orders.map(|orders| orders.minimum))
}

/// Puts indices in the places of packs.
pub(super) fn expand(body: &mut [Statement], order: &dyn Fn(&str) -> Option<usize>, found: &mut Diagnostics) {
    match packs::expand(body, order) {
        Ok(()) => found.extend(packs::left(body)),
        Err(problems) => found.extend(problems),
    }
}
