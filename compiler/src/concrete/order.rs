//! The order of loops, and what to do where storage orders disagree.
//!
//! Levels that cannot be located (compressed, singleton) must be walked in storage order, so each asks that the loops over
//! the levels above it come first. An order that satisfies every operand exists unless the wishes form a cycle, as in
//! `A(i, j) + B(j, i)` with both rows first; then an operand is read from a copy in another mode order.

use super::{Access, IndexVariable};
use crate::format::{Format, LevelKind, level};

/// `before` must be an outer loop of `after`.
pub(super) type Edge = (IndexVariable, IndexVariable);

/// The index variable of each level, outermost first.
pub(super) fn level_variables(access: &Access, format: &Format) -> Vec<IndexVariable> {
    format
        .mode_order()
        .expect("formats with computed coordinates are refused before")
        .iter()
        .map(|&m| access.indices[m])
        .collect()
}

/// Whether a level's positions are found from its coordinates without a search.
pub(super) fn is_located(kind: LevelKind) -> bool {
    matches!(level::of(kind).arrays(), level::Arrays::None)
}

/// What the storage of an operand asks of the order of loops.
pub(super) fn storage_edges(access: &Access, format: &Format) -> Vec<Edge> {
    let variables = level_variables(access, format);
    let mut edges = Vec::new();
    for (depth, level) in format.levels.iter().enumerate() {
        if !is_located(level.format.kind) {
            edges.extend(variables[..depth].iter().map(|&before| (before, variables[depth])));
        }
    }
    edges
}

/// What an output that is appended asks: its levels down to the last one that is stored in order, and everything that is
/// summed over inside of them.
pub(super) fn append_edges(target: &Access, format: &Format, reduced: &[IndexVariable]) -> Vec<Edge> {
    let variables = level_variables(target, format);
    let stored = stored_levels(format);
    let mut edges = Vec::new();
    for depth in 0..stored {
        edges.extend(variables[..depth].iter().map(|&before| (before, variables[depth])));
        edges.extend(reduced.iter().map(|&inner| (variables[depth], inner)));
        edges.extend(variables[stored..].iter().map(|&inner| (variables[depth], inner)));
    }
    edges
}

/// The number of levels down to the last that is not dense.
pub(super) fn stored_levels(format: &Format) -> usize {
    format.levels.iter().rposition(|level| !is_located(level.format.kind)).map_or(0, |last| last + 1)
}

/// An order of `variables` that satisfies `edges`, taking of those that may come next the one with the least rank.
/// `None` when the edges form a cycle.
pub(super) fn topological<R: Ord>(
    variables: &[IndexVariable],
    edges: &[Edge],
    rank: impl Fn(IndexVariable) -> R,
) -> Option<Vec<IndexVariable>> {
    let mut order: Vec<IndexVariable> = Vec::with_capacity(variables.len());
    while order.len() < variables.len() {
        let is_free = |variable: &IndexVariable| {
            let waits_for = |(before, after): &Edge| {
                after == variable && before != variable && variables.contains(before) && !order.contains(before)
            };
            !order.contains(variable) && !edges.iter().any(waits_for)
        };
        let next = variables.iter().copied().filter(is_free).min_by_key(|&variable| rank(variable))?;
        order.push(next);
    }
    Some(order)
}

/// The storage of a copy of an operand whose levels follow `order`: the same kinds of level where they make sense in any
/// order (dense only outermost, or coordinates throughout), else compressed fibers.
pub(super) fn sorted_format(access: &Access, format: &Format, order: &[IndexVariable]) -> Format {
    let place = |variable: IndexVariable| order.iter().position(|&v| v == variable).expect("every variable has a loop");
    let mut modes: Vec<usize> = (0..format.order).collect();
    modes.sort_by_key(|&mode| place(access.indices[mode]));
    let formats: Vec<_> = format.levels.iter().map(|level| level.format).collect();
    let dense_inside = formats.iter().skip(1).any(|level| is_located(level.kind));
    if !dense_inside {
        return Format::permuted(&modes, &formats);
    }
    let widths = |mut level: crate::format::LevelFormat, depth: usize| {
        level.coordinates = formats[depth].coordinates;
        level.positions = formats[depth].positions;
        level
    };
    let compressed: Vec<_> =
        (0..formats.len()).map(|depth| widths(crate::format::LevelFormat::COMPRESSED, depth)).collect();
    Format::permuted(&modes, &compressed)
}
