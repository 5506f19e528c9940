//! `stream(X, 16)`: [`stream`](super::super::stream) reads it, as it concerns the whole program.

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule { name: "stream", apply: |_, _| {}, neighbours: no_neighbours };
