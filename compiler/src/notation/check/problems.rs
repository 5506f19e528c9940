//! Problems by the text that they stand in.

use super::declaration::Origin;
use crate::diagnostics::{Diagnostic, Diagnostics};

/// The problems of a bare expression and of its `-f` options. Spans count in the text that a list belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    /// Of the expression.
    pub expression: Diagnostics,
    /// Of each option, in the order in which they were given.
    pub options: Vec<Diagnostics>,
}

impl Problems {
    pub(super) fn new(options: usize) -> Self {
        Self { expression: Diagnostics::new(), options: vec![Diagnostics::new(); options] }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.expression.is_empty() && self.options.iter().all(Diagnostics::is_empty)
    }

    /// Records a problem of the text that a declaration comes from.
    pub(super) fn push(&mut self, origin: Origin, diagnostic: Diagnostic) {
        match origin {
            Origin::Option(option) => self.options[option].push(diagnostic),
            Origin::Text | Origin::Implied => self.expression.push(diagnostic),
        }
    }
}
