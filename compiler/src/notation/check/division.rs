//! Divisions: what is missing does not divide.

use super::uses;
use super::value::Values;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::ir::Literal;
use crate::notation::{Access, Expr, simplify};
use crate::syntax::{self, BinaryOperator, ExprKind};

impl Values<'_, '_> {
    /// What is wrong with dividing by `divisor`.
    pub(super) fn divisor(
        &self,
        operator: BinaryOperator,
        divisor: &Expr,
        dividend: &syntax::Expr,
        written: &syntax::Expr,
        quotient: Span,
    ) -> Option<Diagnostic> {
        let missing = |access: &Access| self.tensors[access.tensor.0].missing();
        if !simplify::known(divisor, &missing).is_some_and(Literal::is_zero) {
            return None;
        }
        let sparse = divisor.accesses().into_iter().find(|access| self.tensors[access.tensor.0].is_sparse());
        match sparse {
            Some(access) => {
                (!self.masked).then(|| self.division_by_missing(access, operator, dividend, written, quotient))
            }
            None if !divisor.element(&|tensor| self.tensors[tensor.0].element.computed()).is_integer() => None,
            None => Some(
                Diagnostic::new(codes::DIVISION_BY_MISSING, quotient, "a division of whole numbers by zero")
                    .label("has no value")
                    .help("`f32` and `f64` have infinities"),
            ),
        }
    }

    fn division_by_missing(
        &self,
        access: &Access,
        operator: BinaryOperator,
        dividend: &syntax::Expr,
        divisor: &syntax::Expr,
        quotient: Span,
    ) -> Diagnostic {
        let tensor = &self.tensors[access.tensor.0];
        let read = read(divisor, &tensor.name);
        let text = read.map_or_else(|| tensor.name.clone(), syntax::Access::to_string);
        let problem = Diagnostic::new(
            codes::DIVISION_BY_MISSING,
            divisor.span,
            format!("a division by missing entries of `{}`", tensor.name),
        )
        .label(format!("zero where `{}` stores no entry", tensor.name))
        .related(quotient, "the quotient is computed at every coordinate");
        let is_summed = read.is_some_and(|read| {
            let own = uses::free_indices(divisor);
            uses::names_in(read).iter().any(|name| own.iter().all(|own| own.name != name.name))
        });
        if !is_summed && read.is_none_or(|read| self.may_choose(read)) {
            return problem
                .help(format!("add `where {text}` to compute only at the stored coordinates of `{}`", tensor.name));
        }
        let is_taken = |wish: &String| {
            self.index_names.contains(&wish.as_str()) || self.tensors.iter().any(|tensor| tensor.name == *wish)
        };
        let wishes = std::iter::once("q".to_owned()).chain((0..).map(|number| format!("q{number}")));
        let name = wishes.into_iter().find(|wish| !is_taken(wish)).unwrap_or_default();
        let made_over = |names: &[&str]| match names {
            [] => name.clone(),
            names => format!("{name}({})", names.join(", ")),
        };
        let quotient_by = |divisor: syntax::Expr| {
            let kind = ExprKind::Binary(operator, Box::new(dividend.clone()), Box::new(divisor));
            syntax::Expr { kind, span: quotient }
        };
        let own: Vec<&str> = uses::free_indices(divisor).into_iter().map(|name| name.name.as_str()).collect();
        if is_summed {
            // A sum of entries is missing where none of them is there: no mask says so.
            let made = made_over(&own);
            let by = ExprKind::Name(syntax::Ident { name: made.clone(), span: divisor.span });
            let whole = quotient_by(syntax::Expr { kind: by, span: divisor.span });
            return problem.help(format!(
                "write `let {made} = {divisor};` before the statement, and `select({made} != 0, {whole}, 0)` here"
            ));
        }
        // A mask is about all of a statement: the quotient becomes one.
        let names = uses::free_indices(dividend).into_iter().chain(uses::free_indices(divisor)).collect::<Vec<_>>();
        let names: Vec<&str> = uses::distinct(&names).into_iter().map(|name| name.name.as_str()).collect();
        let (made, whole) = (made_over(&names), quotient_by(divisor.clone()));
        problem.help(format!("write `let {made} = {whole} where {text};` before the statement, and `{made}` here"))
    }

    /// Whether `where` may choose the entries of an access: its indices are those of the result, or all of the right-hand side is summed
    /// over them.
    fn may_choose(&self, read: &syntax::Access) -> bool {
        let Some(statement) = self.statement else { return true };
        let has = |access: &syntax::Access, name: &str| uses::names_in(access).iter().any(|own| own.name == name);
        let is_one_term =
            !matches!(statement.value.kind, ExprKind::Binary(BinaryOperator::Add | BinaryOperator::Subtract, ..));
        uses::names_in(read)
            .iter()
            .all(|name| has(&statement.target, &name.name) || is_one_term && self.indices.bound(&name.name).is_none())
    }
}

/// The first access to a tensor.
fn read<'e>(expr: &'e syntax::Expr, name: &str) -> Option<&'e syntax::Access> {
    match &expr.kind {
        ExprKind::Access(access) if access.name.name == name => Some(access),
        _ => expr.children().into_iter().find_map(|child| read(child, name)),
    }
}
