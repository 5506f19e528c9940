//! `E01xx` to `E05xx`: what the checks after parsing find.

use super::Entry;

/// The table.
pub(crate) const ENTRIES: &[Entry] = &[];
