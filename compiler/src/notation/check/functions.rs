//! The functions of the language and what they are defined for.

use crate::ir::{ElementType, Function};

/// A function as written.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// `None` for `select`, which is a form of its own.
    pub(super) function: Option<Function>,
    pub(super) arguments: usize,
    /// Whether it is defined for an element type.
    pub(super) defined: fn(ElementType) -> bool,
}

/// Every function.
pub(super) const ALL: &[Entry] = &[
    Entry { name: "min", function: Some(Function::Min), arguments: 2, defined: any },
    Entry { name: "max", function: Some(Function::Max), arguments: 2, defined: any },
    Entry { name: "abs", function: Some(Function::Abs), arguments: 1, defined: signed },
    Entry { name: "sqrt", function: Some(Function::Sqrt), arguments: 1, defined: ElementType::is_float },
    Entry { name: "exp", function: Some(Function::Exp), arguments: 1, defined: ElementType::is_float },
    Entry { name: "ln", function: Some(Function::Ln), arguments: 1, defined: ElementType::is_float },
    Entry { name: "pow", function: Some(Function::Pow), arguments: 2, defined: ElementType::is_float },
    Entry { name: "select", function: None, arguments: 3, defined: any },
];

fn any(_: ElementType) -> bool {
    true
}

/// Whether an element type has negative values.
pub(super) fn signed(element: ElementType) -> bool {
    element != ElementType::U8
}

/// The function of a name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

/// The name of a function.
pub(in crate::notation) fn name(function: Function) -> &'static str {
    ALL.iter().find(|entry| entry.function == Some(function)).map_or("?", |entry| entry.name)
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|entry| entry.name)
}

/// Our name of a function that other languages call otherwise.
pub(super) fn alias(name: &str) -> Option<&'static str> {
    match name {
        "log" => Some("ln"),
        "fabs" => Some("abs"),
        "minimum" | "fmin" => Some("min"),
        "maximum" | "fmax" => Some("max"),
        "ite" | "ternary" => Some("select"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::names;
    use crate::syntax::FUNCTIONS;

    #[test]
    fn these_are_the_names_that_the_parser_takes_for_calls() {
        assert!(names().eq(FUNCTIONS));
    }
}
