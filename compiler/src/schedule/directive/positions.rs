//! `positions(f, X, p)`

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "positions",
    apply: |directives, directive| directives.positions(directive),
    neighbours: no_neighbours,
};
