//! Formats that are given beside a bare expression.

use crate::diagnostics::Span;
use crate::ir::ElementType;
use crate::syntax::FormatExpr;

/// What a `-f NAME=FORMAT` option says. Spans count in the text after the `=`.
#[derive(Debug, Clone, PartialEq)]
pub struct FormatOption {
    /// The tensor's name.
    pub name: String,
    /// The element type, where one is given.
    pub element: Option<(ElementType, Span)>,
    /// The format, where one is given.
    pub format: Option<FormatExpr>,
}

impl FormatOption {
    /// An option from what [`parse_parameter_format`](crate::syntax::parse_parameter_format) gives for its text.
    pub fn new(name: impl Into<String>, declaration: (Option<(ElementType, Span)>, Option<FormatExpr>)) -> Self {
        Self { name: name.into(), element: declaration.0, format: declaration.1 }
    }

    /// The text that is underlined where the whole option is meant.
    pub(super) fn span(&self) -> Span {
        let format = self.format.as_ref().map(|format| format.span);
        let element = self.element.map(|(_, span)| span);
        format.into_iter().chain(element).reduce(Span::to).unwrap_or_default()
    }
}
