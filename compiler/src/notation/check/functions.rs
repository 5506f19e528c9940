//! The functions of the language and what they are defined for.

use crate::ir::{ElementType, Function};
use crate::syntax::FUNCTIONS;

/// What a function takes.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// `None` for `select`, which is a form of its own.
    pub(super) function: Option<Function>,
    pub(super) arguments: usize,
}

impl Entry {
    fn of(function: Function) -> Self {
        let arguments = match function {
            Function::Min | Function::Max | Function::Pow => 2,
            Function::Abs | Function::Sqrt | Function::Exp | Function::Ln => 1,
        };
        Self { name: function.name(), function: Some(function), arguments }
    }

    /// Whether it is defined for an element type.
    pub(super) fn is_defined(&self, element: ElementType) -> bool {
        match self.function {
            None | Some(Function::Min | Function::Max) => true,
            Some(Function::Abs) => signed(element),
            Some(Function::Sqrt | Function::Exp | Function::Ln | Function::Pow) => element.is_float(),
        }
    }
}

/// Whether an element type has negative values.
pub(super) fn signed(element: ElementType) -> bool {
    element != ElementType::U8
}

/// The function of a name.
pub(super) fn find(name: &str) -> Option<Entry> {
    let function = Function::ALL.into_iter().find(|function| function.name() == name);
    let select = || (name == "select").then_some(Entry { name: "select", function: None, arguments: 3 });
    function.map(Entry::of).or_else(select)
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.into_iter()
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
    use super::{find, names};
    use crate::ir::Function;

    #[test]
    fn every_name_that_the_parser_takes_for_a_call_is_a_function() {
        assert!(names().all(|name| find(name).is_some_and(|entry| entry.name == name)));
        assert_eq!(names().count(), Function::ALL.len() + 1);
    }
}
