//! Whether levels store a tensor: every mode once, every `singleton` below what it can follow.

use super::Report;
use super::map::PlacedLevel;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::format::{Coordinate, Format, Level, Map, Unrecoverable};

/// The levels, settled; reports what can't be stored that way. Levels in a list, which store the
/// modes in order, have no names for them.
pub(super) fn checked(levels: Vec<PlacedLevel>, modes: &[&str], span: Span, report: &mut Report) -> Vec<Level> {
    if report.found.is_empty() {
        check_modes(&levels, modes, span, report);
        check_singletons(&levels, report);
    }
    let mut levels: Vec<Level> = levels.into_iter().map(|placed| placed.level).collect();
    Level::settle(&mut levels);
    levels
}

fn check_singletons(levels: &[PlacedLevel], report: &mut Report) {
    if let Some(first) = levels.first().filter(|placed| placed.level.format.kind.is_diagonal()) {
        report.push(
            Diagnostic::new(codes::MISPLACED_SINGLETON, first.span, "a `diagonal` level needs a level above it")
                .label("has the coordinate of the level above")
                .help("begin with `dense` or `compressed`"),
        );
    }
    for pair in levels.windows(2) {
        let [above, level] = [&pair[0], &pair[1]].map(|placed| placed.level.format.kind);
        if level.is_diagonal() && above.is_run() {
            report.push(
                Diagnostic::new(codes::MISPLACED_SINGLETON, pair[1].span, "a `diagonal` level below a `run` level")
                    .label("has the coordinate of the level above")
                    .related(pair[0].span, "a run has several coordinates"),
            );
        }
    }
    let singletons = levels.iter().enumerate().filter(|(_, placed)| placed.level.format.kind.is_singleton());
    for (place, singleton) in singletons {
        let above = place.checked_sub(1).map(|above| &levels[above]);
        // An array of indices has one below each index of the levels above.
        let is_index = place > 0 && levels[..place].iter().all(|above| above.level.format.kind.is_dense());
        if !is_index && above.is_none_or(|above| above.level.format.unique()) {
            report.push(misplaced_singleton(singleton.span, above));
        }
    }
}

fn misplaced_singleton(span: Span, above: Option<&PlacedLevel>) -> Diagnostic {
    let refusal =
        Diagnostic::new(codes::MISPLACED_SINGLETON, span, "a `singleton` level needs a `nonunique` level above it")
            .label("holds one coordinate for each position of the level above");
    match above.map(|above| above.level.format.kind) {
        None => refusal.help("begin with `compressed(nonunique)`, or use `compressed`"),
        Some(_) => refusal
            .related(above.map(|above| above.span).unwrap_or(span), "holds each coordinate once")
            .help("write `nonunique` in parentheses after the level above"),
    }
}

fn check_modes(levels: &[PlacedLevel], modes: &[&str], span: Span, report: &mut Report) {
    for placed in levels.iter().filter(|placed| placed.level.coordinate.is_known()) {
        // What a definition divides by is not known while the definition itself is checked.
        report.push(
            Diagnostic::new(codes::FORMAT_COORDINATE, placed.span, "a level that stores no mode")
                .label("a constant")
                .help("remove the level"),
        );
    }
    let mut complete = true;
    for (mode, name) in modes.iter().enumerate() {
        complete &= is_stored_once(levels, mode, name, span, report);
    }
    if complete && !modes.is_empty() {
        let format = Format {
            order: modes.len(),
            levels: levels.iter().map(|placed| placed.level.clone()).collect(),
            symmetry: None,
        };
        if let Err(Unrecoverable { mode }) = Map::new(&format) {
            report.push(not_recoverable(levels, mode, modes[mode], span));
        }
    }
}

/// Whether some level stores a mode, and no two store it as it is.
fn is_stored_once(levels: &[PlacedLevel], mode: usize, name: &str, span: Span, report: &mut Report) -> bool {
    let plain: Vec<&PlacedLevel> =
        levels.iter().filter(|placed| placed.level.coordinate == Coordinate::Mode(mode)).collect();
    if let [first, second, ..] = plain.as_slice() {
        report.push(
            Diagnostic::new(codes::FORMAT_MODES, second.span, format!("the mode `{name}` is stored twice"))
                .label("stored again")
                .related(first.span, "stored first here"),
        );
        return false;
    }
    let mentioned = levels.iter().any(|placed| placed.level.coordinate.mentions(mode));
    if !mentioned {
        report.push(
            Diagnostic::new(codes::FORMAT_MODES, span, format!("the mode `{name}` is not stored"))
                .label("no level has it in its coordinate")
                .help(format!("add a level for it, for example `{name}: compressed`")),
        );
    }
    mentioned
}

fn not_recoverable(levels: &[PlacedLevel], mode: usize, name: &str, span: Span) -> Diagnostic {
    let level = levels.iter().find(|placed| placed.level.coordinate.mentions(mode));
    Diagnostic::new(codes::FORMAT_MODES, span, format!("the mode `{name}` can't be told from what the levels store"))
        .label("entries of different indices would be stored at one place")
        .related(level.map_or(span, |placed| placed.span), format!("stores a part of `{name}`"))
        .help(format!(
            "store `{name}` as it is, or what tells it: `{name} / 4` with `{name} % 4`, a sum or difference with its other mode"
        ))
}
