//! `plan(as_written)`, `plan(memory: 1e9)`: the planner has read it before there are loops.

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "plan",
    apply: |directives, directive| {
        if let Err((span, message, help)) = crate::plan::Asked::of(directive) {
            directives.refuse(span, message, "no such choice", help);
        }
    },
    neighbours: no_neighbours,
};
