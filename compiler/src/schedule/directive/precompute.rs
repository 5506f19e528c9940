//! `precompute(B(i, k) * C(k, j), j, jw)`

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "precompute",
    apply: |directives, directive| directives.precompute(directive),
    neighbours: no_neighbours,
};
