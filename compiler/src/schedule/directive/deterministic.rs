//! `deterministic()`

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "deterministic",
    apply: |directives, _| directives.kernel.deterministic = true,
    neighbours: no_neighbours,
};
