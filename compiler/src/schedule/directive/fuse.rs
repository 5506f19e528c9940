//! `fuse(i, j, f)`

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule =
    Rule { name: "fuse", apply: |directives, directive| directives.fuse(directive), neighbours: no_neighbours };
