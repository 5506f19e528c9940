//! Whether levels store a tensor: every mode once, every `singleton` below what it can follow.

use super::Report;
use super::map::PlacedLevel;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::format::{Coordinate, Level, LevelKind};

/// The levels, with the last of each chain unique; reports what can't be stored that way. Levels in a list, which store the
/// modes in order, have no names for them.
///
/// A chain is a `compressed` level and the `singleton` levels below it: together they hold the coordinates of each entry
/// side by side. Levels in it repeat coordinates where `nonunique`; the last can't, or an entry would occur twice.
pub(super) fn checked(levels: Vec<PlacedLevel>, modes: &[&str], span: Span, report: &mut Report) -> Vec<Level> {
    if report.found.is_empty() {
        check_modes(&levels, modes, span, report);
        check_singletons(&levels, report);
    }
    let mut levels: Vec<Level> = levels.into_iter().map(|placed| placed.level).collect();
    for level in 0..levels.len() {
        let continues = levels.get(level + 1).is_some_and(|next| next.format.kind == LevelKind::Singleton);
        levels[level].format.unique |= !continues;
    }
    levels
}

fn check_singletons(levels: &[PlacedLevel], report: &mut Report) {
    if let Some(first) = levels.first().filter(|placed| placed.level.format.kind == LevelKind::Diagonal) {
        report.push(
            Diagnostic::new(codes::MISPLACED_SINGLETON, first.span, "a `diagonal` level needs a level above it")
                .label("has the coordinate of the level above")
                .help("begin with `dense` or `compressed`"),
        );
    }
    for pair in levels.windows(2) {
        let [above, level] = [&pair[0], &pair[1]].map(|placed| placed.level.format.kind);
        if level == LevelKind::Diagonal && above == LevelKind::Run {
            report.push(
                Diagnostic::new(codes::MISPLACED_SINGLETON, pair[1].span, "a `diagonal` level below a `run` level")
                    .label("has the coordinate of the level above")
                    .related(pair[0].span, "a run has several coordinates"),
            );
        }
    }
    let singletons = levels.iter().enumerate().filter(|(_, placed)| placed.level.format.kind == LevelKind::Singleton);
    for (place, singleton) in singletons {
        let above = place.checked_sub(1).map(|above| &levels[above]);
        if above.is_none_or(|above| above.level.format.unique) {
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
        Some(LevelKind::Dense) => refusal.help("use `compressed` below a `dense` level"),
        Some(_) => refusal
            .related(above.map(|above| above.span).unwrap_or(span), "holds each coordinate once")
            .help("write `nonunique` in parentheses after the level above"),
    }
}

fn check_modes(levels: &[PlacedLevel], modes: &[&str], span: Span, report: &mut Report) {
    for (mode, name) in modes.iter().enumerate() {
        check_mode(levels, mode, name, span, report);
    }
    for placed in levels {
        if !holds_mode(&placed.level.coordinate) {
            report.push(
                Diagnostic::new(codes::FORMAT_COORDINATE, placed.span, "a level that stores no mode")
                    .label("a constant")
                    .help("remove the level"),
            );
        }
    }
}

fn check_mode(levels: &[PlacedLevel], mode: usize, name: &str, span: Span, report: &mut Report) {
    let plain: Vec<&PlacedLevel> =
        levels.iter().filter(|placed| placed.level.coordinate == Coordinate::Mode(mode)).collect();
    if let [first, second, ..] = plain.as_slice() {
        report.push(
            Diagnostic::new(codes::FORMAT_MODES, second.span, format!("the mode `{name}` is stored twice"))
                .label("stored again")
                .related(first.span, "stored first here"),
        );
    } else if plain.is_empty() && !recoverable(levels, mode) {
        report.push(
            Diagnostic::new(codes::FORMAT_MODES, span, format!("the mode `{name}` is not stored"))
                .label("no level, or no two together, tell its coordinate")
                .help("every mode is stored as it is, or as a quotient and a remainder: `i / 4` and `i % 4`"),
        );
    }
}

/// Whether the levels that hold a mode in an expression tell its coordinate.
fn recoverable(levels: &[PlacedLevel], mode: usize) -> bool {
    let coordinates = || levels.iter().map(|placed| &placed.level.coordinate).filter(|held| occurs(held, mode));
    let quotient = coordinates().any(|held| matches!(held, Coordinate::Divide(..)));
    let remainder = coordinates().any(|held| matches!(held, Coordinate::Remainder(..)));
    let other = coordinates().any(|held| !matches!(held, Coordinate::Divide(..) | Coordinate::Remainder(..)));
    other || quotient && remainder
}

fn holds_mode(coordinate: &Coordinate) -> bool {
    match coordinate {
        Coordinate::Mode(_) => true,
        Coordinate::Constant(_) => false,
        Coordinate::Add(a, b)
        | Coordinate::Subtract(a, b)
        | Coordinate::Multiply(a, b)
        | Coordinate::Divide(a, b)
        | Coordinate::Remainder(a, b) => holds_mode(a) || holds_mode(b),
    }
}

fn occurs(coordinate: &Coordinate, mode: usize) -> bool {
    match coordinate {
        Coordinate::Mode(other) => *other == mode,
        Coordinate::Constant(_) => false,
        Coordinate::Add(a, b)
        | Coordinate::Subtract(a, b)
        | Coordinate::Multiply(a, b)
        | Coordinate::Divide(a, b)
        | Coordinate::Remainder(a, b) => occurs(a, mode) || occurs(b, mode),
    }
}
