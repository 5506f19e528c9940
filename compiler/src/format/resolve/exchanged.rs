//! Modes that may be exchanged: `symmetric(i, j)` behind a format.

use super::map::mode_names;
use super::{Format, FormatExprKind};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes, words};
use crate::format::{Symmetry, mode_name};
use crate::syntax::{FormatExpr, Ident};

/// The symmetry that is written behind a format.
///
/// # Errors
/// Names of no modes, or of one mode twice, fewer than two, and formats that store every place.
pub(super) fn symmetry(written: &FormatExpr, format: &Format) -> Result<Option<Symmetry>, Diagnostics> {
    let Some(symmetry) = &written.symmetry else { return Ok(None) };
    let names: Vec<String> = match &written.kind {
        FormatExprKind::Map(map) => mode_names(map, format.order).into_iter().map(str::to_owned).collect(),
        FormatExprKind::Levels(_) | FormatExprKind::Named { .. } => (0..format.order).map(mode_name).collect(),
    };
    let word = symmetry.kind.name();
    if format.is_dense() || format.is_map() {
        let message = format!("a format that stores every place is not `{word}`");
        let problem = problem(symmetry.span, message).label("would leave places out");
        return Err(problem.help("store it as `csr`, or as another format that lists entries").into());
    }
    let mut modes: Vec<usize> = Vec::new();
    for name in &symmetry.modes {
        let mode = mode_of(name, &names)?;
        if modes.contains(&mode) {
            let message = format!("the mode `{}` is named twice", name.name);
            return Err(problem(name.span, message).label("is there already").into());
        }
        modes.push(mode);
    }
    if symmetry.modes.is_empty() {
        modes = (0..format.order).collect();
    }
    if modes.len() < 2 {
        let message = format!("`{word}` needs two modes or more");
        return Err(problem(symmetry.span, message).label("nothing can be exchanged").into());
    }
    modes.sort_unstable();
    Ok(Some(Symmetry { kind: symmetry.kind, modes }))
}

fn mode_of(name: &Ident, names: &[String]) -> Result<usize, Diagnostics> {
    names.iter().position(|mode| *mode == name.name).ok_or_else(|| {
        let message = format!("the tensor has no mode `{}`", name.name);
        let known = words::list(names.iter().map(String::as_str));
        problem(name.span, message).label("not a mode").help(format!("its modes are {known}, in order")).into()
    })
}

fn problem(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(codes::SYMMETRY, span, message)
}
