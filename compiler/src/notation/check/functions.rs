//! The functions of the language and what they are defined for.

use crate::ir::{ElementType, Function};
use crate::syntax;

/// What a function takes.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// `None` for `select`, which is a form of its own.
    pub(super) function: Option<Function>,
    pub(super) arguments: usize,
}

impl Entry {
    fn of(function: Function) -> Self {
        Self { name: function.name(), function: Some(function), arguments: function.arity() }
    }

    /// Whether it is defined for an element type.
    pub(super) fn is_defined(&self, element: ElementType) -> bool {
        match self.function {
            None | Some(Function::Min | Function::Max) => true,
            Some(Function::Abs) => signed(element),
            Some(_) => element.is_float(),
        }
    }
}

/// Whether an element type has negative values.
pub(super) fn signed(element: ElementType) -> bool {
    element != ElementType::U8
}

/// The function of a name.
pub(super) fn find(name: &str) -> Option<Entry> {
    let select = || (name == "select").then_some(Entry { name: "select", function: None, arguments: 3 });
    Function::from_name(name).map(Entry::of).or_else(select)
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    syntax::functions()
}

/// Our name of a function that other languages call otherwise.
pub(super) fn alias(name: &str) -> Option<&'static str> {
    match name {
        "log" => Some("ln"),
        "power" => Some("pow"),
        "arcsin" => Some("asin"),
        "arccos" => Some("acos"),
        "arctan" => Some("atan"),
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
