//! `split(k, k0, k1, 32)`

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule =
    Rule { name: "split", apply: |directives, directive| directives.split(directive), neighbours: no_neighbours };
