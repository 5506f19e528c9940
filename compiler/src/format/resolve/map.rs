//! Maps expanded: a level for each mode that a `...` stands for.

use super::arguments::Arguments;
use super::coordinate::Scope;
use super::{Report, level};
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::format::{Coordinate, Level};
use crate::syntax::{FormatMap, LevelExpr, MapLevel};

/// A level and where it is written.
pub(super) struct PlacedLevel {
    pub(super) level: Level,
    pub(super) span: Span,
}

/// Levels in a list: level `l` stores mode `l`.
pub(super) fn of_levels(levels: &[LevelExpr], report: &mut Report) -> Vec<PlacedLevel> {
    let levels = levels.iter().enumerate().filter_map(|(mode, expr)| {
        let format = level::resolve(expr, &Arguments::default(), report)?;
        Some(PlacedLevel { level: Level { coordinate: Coordinate::Mode(mode), format }, span: expr.span })
    });
    levels.collect()
}

/// The name of each mode of a tensor of order `order`, which the map serves.
pub(super) fn mode_names(map: &FormatMap, order: usize) -> Vec<&str> {
    let single = map.modes.iter().filter(|mode| !mode.variadic).count();
    let names = map.modes.iter().flat_map(|mode| {
        let number = if mode.variadic { order - single } else { 1 };
        std::iter::repeat_n(mode.name.name.as_str(), number)
    });
    names.collect()
}

/// The levels of a map for a tensor of order `order`, which the map serves.
pub(super) fn expand(map: &FormatMap, order: usize, arguments: &Arguments, report: &mut Report) -> Vec<PlacedLevel> {
    let mut variadic = map.modes.iter().filter(|mode| mode.variadic);
    if let (Some(first), Some(second)) = (variadic.next(), variadic.next()) {
        report.push(
            Diagnostic::new(codes::FORMAT_VARIADIC, second.name.span, "a second mode with `...`")
                .label("how many modes each stands for is not determined")
                .related(first.name.span, "the first is here"),
        );
        return Vec::new();
    }
    let scope = Scope::new(map, order, arguments);
    map.levels.iter().flat_map(|level| expand_level(level, &scope, arguments, report)).collect()
}

fn expand_level(map: &MapLevel, scope: &Scope<'_>, arguments: &Arguments, report: &mut Report) -> Vec<PlacedLevel> {
    let Some(format) = level::resolve(&map.level, arguments, report) else { return Vec::new() };
    let span = map.coordinate.span.to(map.level.span);
    let mut placed = |each| {
        let coordinate = scope.coordinate(&map.coordinate, each, report)?;
        Some(PlacedLevel { level: Level { coordinate, format }, span })
    };
    if !map.variadic {
        return placed(None).into_iter().collect();
    }
    match scope.expansion(&map.coordinate).as_slice() {
        [modes] => modes.clone().filter_map(|mode| placed(Some(mode))).collect(),
        _ => {
            report.push(
                Diagnostic::new(
                    codes::FORMAT_VARIADIC,
                    map.coordinate.span,
                    "`...` after a coordinate of single modes",
                )
                .label("no mode in it stands for several")
                .help("a mode stands for any number of modes where `...` follows it before the `->`: `(i, j...)`"),
            );
            Vec::new()
        }
    }
}
