//! Which index variables the levels of an operand store.

use super::{Access, IndexVariable};
use crate::format::Format;
use crate::level::is_located;

/// The index variable of each level, outermost first.
pub(crate) fn level_variables(access: &Access, format: &Format) -> Vec<IndexVariable> {
    format
        .mode_order()
        .expect("what has computed coordinates is read from a stand-in")
        .iter()
        .map(|&m| access.indices[m])
        .collect()
}

/// The number of levels down to the last that is not dense.
pub(crate) fn stored_levels(format: &Format) -> usize {
    format.levels.iter().rposition(|level| !is_located(level.format)).map_or(0, |last| last + 1)
}
