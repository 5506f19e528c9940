//! Functions: their arguments and the element types that they are defined for.

use super::functions;
use super::value::Values;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes, suggest, words};
use crate::ir::ElementType;
use crate::notation::Expr;
use crate::syntax::{self, Ident};

impl<'s> Values<'_, 's> {
    /// A function of elements, or `select`.
    pub(super) fn call(&mut self, name: &'s Ident, arguments: &'s [syntax::Expr], span: Span) -> Option<Expr> {
        let Some(entry) = functions::find(&name.name) else {
            arguments.iter().for_each(|argument| drop(self.value(argument)));
            self.found.push(unknown_function(name));
            return None;
        };
        let checked = self.arguments(entry.function.is_none(), arguments);
        if arguments.len() != entry.arguments {
            self.found.push(argument_count(&entry, arguments.len(), span));
            return None;
        }
        if !entry.is_defined(self.element) {
            self.found.push(undefined_function(&entry, self.element, name.span));
            return None;
        }
        let mut checked = checked?;
        match entry.function {
            Some(function) => Some(Expr::Call(function, checked)),
            None => {
                let (second, first, condition) = (checked.pop()?, checked.pop()?, checked.pop()?);
                Some(Expr::Select(Box::new(condition), Box::new(first), Box::new(second)))
            }
        }
    }

    /// All arguments; the first of `select` is a condition.
    fn arguments(&mut self, select: bool, arguments: &'s [syntax::Expr]) -> Option<Vec<Expr>> {
        let checked = arguments.iter().enumerate().map(|(place, argument)| match (select, place) {
            (true, 0) => self.condition(argument),
            _ => self.value(argument),
        });
        // Every argument is checked before the first problem counts.
        checked.collect::<Vec<_>>().into_iter().collect()
    }
}

/// A function that nothing knows.
pub(super) fn unknown_function(name: &Ident) -> Diagnostic {
    let message = format!("there is no function `{}`", name.name);
    let unknown = Diagnostic::new(codes::UNKNOWN_FUNCTION, name.span, message).label("not a function");
    match functions::alias(&name.name).or_else(|| suggest::similar(&name.name, functions::names())) {
        Some(close) => unknown.help(format!("did you mean `{close}`?")),
        None => unknown.help(format!("the functions are {}", words::list(functions::names()))),
    }
}

fn argument_count(entry: &functions::Entry, given: usize, span: Span) -> Diagnostic {
    let name = entry.name;
    let message = format!("`{name}` takes {}, not {given}", words::count(entry.arguments, "argument"));
    let count = Diagnostic::new(codes::ARGUMENT_COUNT, span, message)
        .label(format!("{} here", words::count(given, "argument")));
    match name {
        "min" | "max" if given > 2 => count.help(format!("write `{name}(a, {name}(b, c))` for three")),
        "min" | "max" => count.help(format!("write `{name}(a, b)`, or `{name}(k)(…)` for the `{name}` over an index")),
        "select" => count.help("write `select(condition, a, b)`: `a` where the condition holds, else `b`"),
        "pow" => count.help("write `pow(base, exponent)`"),
        _ => count.help(format!("write `{name}(a)`")),
    }
}

fn undefined_function(entry: &functions::Entry, element: ElementType, span: Span) -> Diagnostic {
    let message = format!("`{}` is not defined for `{}`", entry.name, element.name());
    let undefined = Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message);
    match entry.name {
        "abs" => undefined.label(format!("`{}` has no negative values", element.name())).help("leave `abs` out"),
        _ => undefined.label("a function of floating point numbers").help("declare the tensors as `f32` or `f64`"),
    }
}
