//! Whether a result is what the oracle says.

use crate::data::Entries;
use crate::number::Number;
use crate::oracle::Expected;
use spc::tensor::AnyTensor;
use spc_compiler::concrete::OutputStructure;
use spc_compiler::format::{Format, LevelKind, Told};
use spc_compiler::ir::Literal;
use std::collections::BTreeSet;

/// Checks a result: that it is a valid tensor, and that every value is right; `fill` is that of an entry that is not stored.
///
/// # Errors
/// What is wrong, in words.
pub fn check(expected: &Expected, fill: Literal, actual: &AnyTensor) -> Result<(), String> {
    actual.validate().map_err(|error| format!("the result is not valid: {error}"))?;
    let shape = &expected.entries.shape;
    if actual.shape() != *shape {
        return Err(format!("the result's shape is {:?}, not {shape:?}", actual.shape()));
    }
    check_values(expected, &Entries::of(actual), Number::of_literal(fill))
}

/// Checks that a result stores the entries that it should.
///
/// # Errors
/// An entry that is missing, or one too many.
pub fn check_structure(structure: &OutputStructure, stored: &Entries, actual: &AnyTensor) -> Result<(), String> {
    let Some(modes) = stored_modes(actual.format()) else { return Ok(()) };
    if *structure == OutputStructure::Dense {
        return Ok(());
    }
    let entries = |entries: &Entries| {
        let mut entries = entries.clone();
        // A place that holds the fill value is no entry of such a format.
        if actual.format().pads() {
            let fill = Number::of_literal(actual.fill());
            entries.stored.retain(|_, number| !number.equals(fill));
        }
        project(&entries, &modes)
    };
    let (found, expected) = (entries(&Entries::of(actual)), entries(stored));
    if let Some(missing) = expected.difference(&found).next() {
        return Err(format!("the result stores nothing at {missing:?} (modes {modes:?})"));
    }
    match found.difference(&expected).next() {
        Some(extra) => Err(format!("the result stores {extra:?} (modes {modes:?}), where nothing was computed")),
        None => Ok(()),
    }
}

fn check_values(expected: &Expected, found: &Entries, fill: Number) -> Result<(), String> {
    match differences_of(expected, found, fill).next() {
        Some(Difference { index, expected, found }) => {
            Err(format!("at {index:?} the value is {found}, not {expected}"))
        }
        None => Ok(()),
    }
}

/// An element with another value than it should have.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where.
    pub index: Vec<usize>,
    /// What it should be.
    pub expected: Number,
    /// What it is.
    pub found: Number,
}

/// The elements of a result that differ, by index.
pub fn differences(expected: &Expected, fill: Literal, actual: &AnyTensor) -> Vec<Difference> {
    differences_of(expected, &Entries::of(actual), Number::of_literal(fill)).collect()
}

fn differences_of<'a>(
    Expected { entries, open }: &'a Expected,
    found: &'a Entries,
    fill: Number,
) -> impl Iterator<Item = Difference> + 'a {
    let indices: BTreeSet<&Vec<usize>> = entries.stored.keys().chain(found.stored.keys()).collect();
    indices.into_iter().filter_map(move |index| {
        let value = |entries: &Entries| entries.stored.get(index).copied().unwrap_or(fill);
        let (expected, found) = (value(entries), value(found));
        let is_right = open.get(index).copied().unwrap_or_default().allows(expected, found);
        (!is_right).then(|| Difference { index: index.clone(), expected, found })
    })
}

/// The modes of a format's levels down to the last that is not dense; `None` when all are dense, or when some store more
/// than there is: bands, runs and diagonals.
fn stored_modes(format: &Format) -> Option<Vec<usize>> {
    let stores_more = |kind: LevelKind| matches!(kind.told, Told::First | Told::Ends | Told::Above);
    if format.levels.iter().any(|level| stores_more(level.format.kind)) {
        return None;
    }
    let last = format.levels.iter().rposition(|level| !level.format.kind.is_dense())?;
    Some(format.mode_order()?[..=last].to_vec())
}

fn project(entries: &Entries, modes: &[usize]) -> BTreeSet<Vec<usize>> {
    entries.stored.keys().map(|index| modes.iter().map(|&mode| index[mode]).collect()).collect()
}
