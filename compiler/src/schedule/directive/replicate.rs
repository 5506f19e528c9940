//! `replicate(B)`: [`distribute`](super::super::distribute) reads it, as it concerns ranks that run the whole program each.

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule { name: "replicate", apply: |_, _| {}, neighbours: no_neighbours };
