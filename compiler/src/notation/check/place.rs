//! Where a reduction has its value: `argmax(j)(A(i, j))`.
//!
//! It is the least index at which the value is the greatest one, in terms of reductions that there are:
//!
//! ```text
//! argmax(j)(A(i, j))      →      min(j)(select(A(i, j) == max(j_1)(A(i, j_1)), j, none))
//! ```
//!
//! So it means what `max` means of entries that are missing and of NaN, has the types, schedules and devices that `min` and `max` have,
//! and is planned as they are. What is looked at must have the same bits in two loops: values of tensors, and one operation on such. A
//! reduction of pairs would read operands once, but be an operator that no vector has lanes for, and no device atomics. `none`, where
//! no value is the greatest one, is what `min` begins with.

use super::value::Values;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::ir::{ElementType, ReduceOperator};
use crate::notation::{BinaryOperator, Expr};
use crate::syntax::{self, Ident, PLACES};

impl<'s> Values<'_, 's> {
    /// The least index at which a reduction has its value, as a number of type `element`.
    pub(super) fn place(
        &mut self,
        operator: ReduceOperator,
        names: &'s [Ident],
        body: &'s syntax::Expr,
        element: ElementType,
        span: Span,
    ) -> Option<Expr> {
        let word = PLACES.iter().find(|(_, of)| *of == operator).map_or("argmax", |(word, _)| word);
        let kind = self.kind(body).unwrap_or(ElementType::F64);
        let extreme = self.reduction(operator, names, body, kind, span)?;
        let [name] = names else {
            self.found.push(of_several(word, names, span));
            return None;
        };
        let none = ReduceOperator::Min.identity(element).filter(|_| element != ElementType::Bool);
        let Some(none) = none else {
            self.found.push(no_number(word, element, span));
            return None;
        };
        let variable = self.indices.bind(name);
        let value = self.value(body, kind);
        self.indices.unbind(1);
        let value = value?;
        if !value.is_exact(&|tensor| self.tensors[tensor.0].element.computed()) {
            self.found.push(rounded(word, name, body));
            return None;
        }
        let is_there = Expr::Binary(BinaryOperator::Equal, Box::new(value), Box::new(extreme));
        let here = Expr::Index(variable, element);
        let chosen = Expr::Select(Box::new(is_there), Box::new(here), Box::new(Expr::Literal(none)));
        Some(Expr::Reduce(ReduceOperator::Min, vec![variable], Box::new(chosen)))
    }
}

fn of_several(word: &str, names: &[Ident], span: Span) -> Diagnostic {
    let message = format!("`{word}` is over one index");
    let problem = Diagnostic::new(codes::REDUCTION_VARIABLE, span, message).label("an index of several has no number");
    match names {
        [first, second] => problem.help(format!(
            "find the value first, then the least `select(… == value, {first} * extent({second}) + {second}, …)`, as places are \
             numbered in rows"
        )),
        _ => problem.help(format!("name one index, as in `{word}(j)(A(i, j))`")),
    }
}

/// The values are computed twice, and may be rounded differently.
fn rounded(word: &str, name: &Ident, body: &syntax::Expr) -> Diagnostic {
    let message = format!("`{word}` of what is rounded in steps");
    let problem = Diagnostic::new(codes::UNDEFINED_FOR_TYPE, body.span, message);
    problem.label("of which no two loops need have the same bits").help(format!(
        "make it a tensor first: `let t({name}) = …;`, with the other indices it has, and `{word}({name})(t({name}))`"
    ))
}

fn no_number(word: &str, element: ElementType, span: Span) -> Diagnostic {
    let message = format!("what `{word}` finds is no number of type `{}`", element.name());
    let problem = Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message).label("an index");
    problem.help("declare the result as `i64`, or as another type of whole or real numbers")
}
