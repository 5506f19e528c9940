//! `materialize(t)`: cutting a program into statements reads it.

use super::{Rule, no_neighbours};

/// The rule.
pub(super) const RULE: Rule = Rule { name: "materialize", apply: |_, _| {}, neighbours: no_neighbours };
