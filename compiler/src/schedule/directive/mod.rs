//! The directives of a schedule, one file each.
//!
//! A [`Rule`] says how a directive is applied: it checks what it says against the kernel, refuses what can't be had with its place and
//! the reason, and notes the rest in [`Asked`](crate::concrete::Asked), or changes the kernel's variables at once. What a
//! directive is called and what its arguments are stands in
//! [`topics::directives`](crate::diagnostics::topics::directives), which README.md and `spc explain` show.

use super::directives::Directives;
use crate::syntax::Directive;

/// How a directive is applied.
pub(super) struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Applies it.
    pub apply: fn(&mut Directives<'_>, &Directive),
}

/// Every directive with a file of its own.
pub(super) const RULES: &[Rule] = &[];

/// The rule of a name.
pub(super) fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}
