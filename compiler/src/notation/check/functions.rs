//! The functions of the language and what they are defined for.

use super::extents::EXTENT;
use crate::ir::{ElementType, Function};
use crate::syntax;

/// The name of the function that asks whether there is an entry.
pub(super) const STORED: &str = "stored";

/// What a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Of values of one type.
    Function(Function),
    /// Of a truth value and two values.
    Select,
    /// To an element type.
    Conversion(ElementType),
    /// Written out with `select`.
    Sign,
    /// Of an access: whether there is an entry.
    Stored,
    /// Of an index: how many values it has.
    Extent,
}

/// What a function takes.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) arguments: usize,
}

/// Whether an element type has negative values.
pub(super) fn signed(element: ElementType) -> bool {
    element.is_signed()
}

/// The function of a name.
pub(super) fn find(name: &str) -> Option<Entry> {
    let entry = |name, form, arguments| Some(Entry { name, form, arguments });
    if let Some(function) = Function::from_name(name) {
        return entry(function.name(), Form::Function(function), function.arity());
    }
    if let Some(element) = ElementType::from_name(name).filter(|element| !element.is_stored_only()) {
        return entry(element.name(), Form::Conversion(element), 1);
    }
    match name {
        "select" => entry("select", Form::Select, 3),
        "sign" => entry("sign", Form::Sign, 1),
        STORED => entry(STORED, Form::Stored, 1),
        EXTENT => entry(EXTENT, Form::Extent, 1),
        _ => None,
    }
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    syntax::functions()
}

#[cfg(test)]
mod tests {
    use super::{find, names};
    use crate::ir::{ElementType, Function};

    #[test]
    fn every_name_that_the_parser_takes_for_a_call_is_a_function() {
        assert!(names().all(|name| find(name).is_some_and(|entry| entry.name == name)));
        assert_eq!(names().count(), Function::ALL.len() + ElementType::ALL.len() + 1);
    }
}
