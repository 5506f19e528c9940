//! `same_pattern(X, Z)`: [`pattern`](super::super::pattern) reads it before all others, as it changes what is read.

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule { name: "same_pattern", apply: |_, _| {}, neighbours: no_neighbours };
