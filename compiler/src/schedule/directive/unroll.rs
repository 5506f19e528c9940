//! `unroll(k1)`

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "unroll",
    apply: |directives, directive| {
        if !directives.run_chains(directive) {
            directives.unroll(directive);
        }
    },
    neighbours: no_neighbours,
};
