//! Divisions: what is missing does not divide.

use super::value::Values;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::ir::Literal;
use crate::notation::{Access, Expr, simplify};

impl Values<'_, '_> {
    /// What is wrong with dividing by `divisor`.
    pub(super) fn divisor(&self, divisor: &Expr, span: Span, quotient: Span) -> Option<Diagnostic> {
        let missing = |access: &Access| self.tensors[access.tensor.0].missing();
        if !simplify::known(divisor, &missing).is_some_and(Literal::is_zero) {
            return None;
        }
        let sparse = divisor.accesses().into_iter().find(|access| self.tensors[access.tensor.0].is_sparse());
        match sparse {
            Some(access) => (!self.masked).then(|| self.division_by_missing(access, span, quotient)),
            None if !divisor.element(&|tensor| self.tensors[tensor.0].element.computed()).is_integer() => None,
            None => Some(
                Diagnostic::new(codes::DIVISION_BY_MISSING, quotient, "a division of whole numbers by zero")
                    .label("has no value")
                    .help("`f32` and `f64` have infinities"),
            ),
        }
    }

    fn division_by_missing(&self, access: &Access, span: Span, quotient: Span) -> Diagnostic {
        let tensor = &self.tensors[access.tensor.0];
        let indices: Vec<&str> =
            access.indices.iter().map(|variable| self.indices.variables[variable.0].name.as_str()).collect();
        let text = format!("{}({})", tensor.name, indices.join(", "));
        Diagnostic::new(codes::DIVISION_BY_MISSING, span, format!("a division by missing entries of `{}`", tensor.name))
            .label(format!("zero where `{}` stores no entry", tensor.name))
            .related(quotient, "the quotient is computed at every coordinate")
            .help(format!("add `where {text}` to compute only at the stored coordinates of `{}`", tensor.name))
    }
}
