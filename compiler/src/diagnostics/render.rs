//! Diagnostics as text for people, in rustc's look:
//!
//! ```text
//! error[E0001]: expected `)`, `,` or an operator, found `j`
//!  --> product.ti:2:14
//!   |
//! 2 |     z(i) = X(i j) * y(j);
//!   |               ^ expected `)`, `,` or an operator
//!   |
//!   = help: a product needs `*`, a list needs `,`
//! ```

use super::{Diagnostic, Severity, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};
use std::ops::Range;

/// Renders diagnostics one after the other, with a blank line between them and a newline at the end; nothing for none.
///
/// `origin` is what the place is called: a file's name, or `<expression>`. Where `source` is empty, only the words are
/// rendered. Spans beyond the source are cut to it.
pub fn render(source: &str, origin: &str, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for (place, diagnostic) in diagnostics.iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        text.push_str(renderer.render(&[report(source, origin, diagnostic)]).trim_end());
        text.push('\n');
    }
    text
}

fn report<'a>(source: &'a str, origin: &'a str, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(normalize_untrusted_str(&diagnostic.message));
    let mut group = Group::with_title(title.id(diagnostic.code.to_string()));
    if !source.is_empty() {
        let related = diagnostic.related.iter();
        let related = related.map(|(span, label)| annotation(AnnotationKind::Context, source, *span, label));
        let snippet = Snippet::source(source)
            .path(super::printable(origin))
            .annotation(annotation(AnnotationKind::Primary, source, diagnostic.span, &diagnostic.label))
            .annotations(related);
        group = group.element(snippet);
    }
    group.elements(diagnostic.help.iter().map(|help| Level::HELP.message(super::printable(help))))
}

fn annotation<'a>(kind: AnnotationKind, source: &str, span: Span, label: &'a str) -> Annotation<'a> {
    kind.span(within(source, span)).label((!label.is_empty()).then(|| super::printable(label)))
}

/// The span cut to the source, and to whole characters.
fn within(source: &str, span: Span) -> Range<usize> {
    let boundary = |byte: usize| (0..=byte.min(source.len())).rev().find(|&byte| source.is_char_boundary(byte));
    let start = boundary(span.start).unwrap_or(0);
    start..boundary(span.end).unwrap_or(0).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Code;

    #[test]
    fn a_message_looks_like_rustc_s() {
        let source = "fn f(X: cfs) -> y: dense {\n    y(i) = X(i, j);\n}\n";
        let problem = Diagnostic::new(Code::error(201), Span::new(8, 11), "there is no format `cfs`")
            .label("not a format")
            .related(Span::new(38, 45), "used with order 2 here")
            .help("there is a format `csf`");
        insta::assert_snapshot!(render(source, "f.ti", &[problem.clone(), problem], false));
    }

    #[test]
    fn any_span_and_no_source_are_fine() {
        let problem =
            |start, end| Diagnostic::new(Code::error(601), Span::new(start, end), "the file is empty").help("fill it");
        assert_eq!(
            render("", "x.tns", &[problem(0, 0)], false),
            "error[E0601]: the file is empty\n |\n = help: fill it\n"
        );
        for (start, end) in [(0, 0), (1, 2), (2, 2), (5, 99), (99, 100), (3, 1)] {
            assert!(render("aßc\n", "a", &[problem(start, end)], false).contains("empty"));
        }
    }

    #[test]
    fn color_is_optional() {
        let problem = Diagnostic::new(Code::error(1), Span::new(0, 1), "no");
        assert!(!render("a", "a", std::slice::from_ref(&problem), false).contains('\x1b'));
        assert!(render("a", "a", &[problem], true).contains('\x1b'));
    }
}
