//! What is wrong, and where: in the text, in the format of a tensor, in its entries, or in the extents.

use crate::question::Question;
use serde_json::{Value, json};
use spc_compiler::diagnostics::{Diagnostic, Diagnostics, Severity, Span, line_and_column};

/// A part of the page that a message is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// The text of the kernel.
    Text,
    /// The format of a tensor.
    Format(String),
    /// The entries of a tensor.
    Data(String),
    /// The extents.
    Extents,
}

impl Part {
    fn name(&self) -> &'static str {
        match self {
            Part::Text => "text",
            Part::Format(_) => "format",
            Part::Data(_) => "data",
            Part::Extents => "extents",
        }
    }

    fn tensor(&self) -> Option<&str> {
        match self {
            Part::Format(tensor) | Part::Data(tensor) => Some(tensor),
            Part::Text | Part::Extents => None,
        }
    }

    /// What stands there.
    fn text<'a>(&self, question: &'a Question) -> &'a str {
        match self {
            Part::Text => &question.text,
            Part::Format(tensor) => question.formats.get(tensor).map_or("", String::as_str),
            Part::Data(tensor) => question.data.get(tensor).map_or("", String::as_str),
            Part::Extents => "",
        }
    }
}

/// What is to be said.
#[derive(Debug, Default)]
pub(crate) struct Messages(Vec<Value>);

impl Messages {
    /// Adds what was found in a part.
    pub(crate) fn found(&mut self, part: Part, question: &Question, found: Diagnostics) {
        let text = part.text(question);
        self.0.extend(found.into_sorted().iter().map(|problem| of_diagnostic(&part, text, problem)));
    }

    /// Adds an error without a place within its part.
    pub(crate) fn error(&mut self, part: Part, message: &str) {
        self.0.push(json!({ "part": part.name(), "tensor": part.tensor(), "severity": "error", "message": message }));
    }
}

impl From<Messages> for Value {
    fn from(messages: Messages) -> Value {
        Value::Array(messages.0)
    }
}

fn of_diagnostic(part: &Part, text: &str, problem: &Diagnostic) -> Value {
    let (line, column) = line_and_column(text, problem.span.start);
    let related = problem.related.iter().map(|(span, label)| place(text, *span, label));
    let spans: Vec<Value> = std::iter::once(place(text, problem.span, &problem.label)).chain(related).collect();
    json!({
        "part": part.name(),
        "tensor": part.tensor(),
        "severity": match problem.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "code": problem.code.to_string(),
        "message": problem.message,
        "help": problem.help,
        "line": line,
        "column": column,
        "spans": spans,
        "explanation": spc_compiler::diagnostics::explain(problem.code).map(|entry| entry.to_string()),
    })
}

/// A place as JavaScript counts: in units of UTF-16.
fn place(text: &str, span: Span, label: &str) -> Value {
    let units =
        |byte: usize| text.char_indices().take_while(|(at, _)| *at < byte).map(|(_, c)| c.len_utf16()).sum::<usize>();
    json!({ "start": units(span.start), "end": units(span.end), "label": label })
}
