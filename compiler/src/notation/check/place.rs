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
//! no value is the greatest one, is what `min` begins with. Places of several indices are numbered in rows, as a computed index
//! is: `argmax(i, j)(A(i, j))` is the least `i * extent(j) + j`.

use super::value::Values;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::ir::{ElementType, IndexExpr, IndexOperator, ReduceOperator};
use crate::notation::{BinaryOperator, Expr, IndexVariable};
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
        if names.is_empty() {
            self.found.push(of_none(word, span));
            return None;
        }
        let none = ReduceOperator::Min.identity(element).filter(|_| element != ElementType::Bool);
        let Some(none) = none else {
            self.found.push(no_number(word, element, span));
            return None;
        };
        let variables: Vec<IndexVariable> = names.iter().map(|name| self.indices.bind(name)).collect();
        let value = self.value(body, kind);
        self.indices.unbind(names.len());
        let value = value?;
        if !value.is_exact(&|tensor| self.tensors[tensor.0].element.computed()) {
            self.found.push(rounded(word, names, body));
            return None;
        }
        let is_there = Expr::Binary(BinaryOperator::Equal, Box::new(value), Box::new(extreme));
        let here = Expr::Index(self.number_of(names, &variables, span)?, element);
        let chosen = Expr::Select(Box::new(is_there), Box::new(here), Box::new(Expr::Literal(none)));
        Some(Expr::Reduce(ReduceOperator::Min, variables, Box::new(chosen)))
    }

    /// The variable that numbers the places of several indices in rows, the last index fastest.
    fn number_of(&mut self, names: &[Ident], variables: &[IndexVariable], span: Span) -> Option<IndexVariable> {
        let (first, others) = variables.split_first()?;
        let mut number = IndexExpr::Variable(*first);
        for (name, variable) in names[1..].iter().zip(others) {
            let counted = self.indices.of_index(name);
            let extent = IndexExpr::Extent(self.indices.extent(counted));
            let before = IndexExpr::binary(IndexOperator::Multiply, number, extent);
            number = IndexExpr::binary(IndexOperator::Add, before, IndexExpr::Variable(*variable));
        }
        Some(if others.is_empty() { *first } else { self.indices.computed(number, span) })
    }
}

fn of_none(word: &str, span: Span) -> Diagnostic {
    let message = format!("`{word}` is over no index");
    let problem = Diagnostic::new(codes::REDUCTION_VARIABLE, span, message).label("there is nothing to number");
    problem.help(format!("name the indices, as in `{word}(j)(A(i, j))`"))
}

/// The values are computed twice, and may be rounded differently.
fn rounded(word: &str, names: &[Ident], body: &syntax::Expr) -> Diagnostic {
    let names: Vec<&str> = names.iter().map(|name| name.name.as_str()).collect();
    let name = names.join(", ");
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
