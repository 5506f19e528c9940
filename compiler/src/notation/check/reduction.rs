//! Explicit reductions: `sum(k)(…)`.

use super::condition;
use super::indices::Indices;
use super::value::Values;
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::{Domain, ElementType, ReduceOperator};
use crate::notation::{Assignment, BinaryOperator, Expr, IndexVariable, UnaryOperator};
use crate::syntax::{self, ExprKind, Ident, WHERE};

impl<'s> Values<'_, 's> {
    /// A reduction over variables of its own.
    pub(super) fn reduction(
        &mut self,
        operator: ReduceOperator,
        names: &'s [Ident],
        body: &'s syntax::Expr,
        element: ElementType,
        span: Span,
    ) -> Option<Expr> {
        self.check_operator(operator, name(operator), element, span);
        let bind = |name| {
            self.check_binding(name);
            self.indices.bind(name)
        };
        let variables: Vec<_> = names.iter().map(bind).collect();
        self.reduced.extend(names);
        let inside = self.reduced.len();
        let body = match &body.kind {
            ExprKind::Call(word, parts) if word.name == WHERE => self.terms_where(operator, parts, element),
            _ => self.value(body, element),
        };
        self.indices.unbind(names.len());
        let body = body?;
        let accesses = body.accesses();
        for (name, variable) in names.iter().zip(&variables) {
            let is_again = names.iter().filter(|other| other.name == name.name).count() > 1;
            let hidden = is_again || self.reduced[inside..].iter().any(|inner| inner.name == name.name);
            let indexes = |access: &&crate::notation::Access| self.indices.running(&access.indices).contains(variable);
            if !hidden && !accesses.iter().any(indexes) {
                self.found.push(
                    Diagnostic::new(
                        codes::UNBOUND_INDEX,
                        name.span,
                        format!("nothing tells how large `{}` is", name.name),
                    )
                    .label("not an index of any tensor in the reduction")
                    .help(format!("remove `{}` from the reduction's variables", name.name)),
                );
            }
        }
        Some(Expr::Reduce(operator, variables, Box::new(body)))
    }

    /// The terms of a reduction that a condition chooses.
    fn terms_where(
        &mut self,
        operator: ReduceOperator,
        parts: &'s [syntax::Expr],
        element: ElementType,
    ) -> Option<Expr> {
        let [of, condition] = parts else { return None };
        let (of, condition) = (self.value(of, element), self.chooses(condition));
        Some(condition::chosen(condition?, of?, operator.identity(element)?))
    }

    fn check_binding(&mut self, name: &Ident) {
        self.found.extend(self.name_clash(name));
        if let Some(outer) = self.indices.bound(&name.name) {
            self.found.push(
                Diagnostic::new(codes::REDUCTION_VARIABLE, name.span, format!("`{}` is bound twice", name.name))
                    .label("bound again inside")
                    .related(self.indices.variables[outer.0].span, "bound here")
                    .help("give one of them another name"),
            );
        }
    }

    /// Whether the element type has the operator.
    pub(super) fn check_operator(&mut self, operator: ReduceOperator, text: &str, element: ElementType, span: Span) {
        if operator.identity(element).is_some() {
            return;
        }
        let message = format!("`{text}` is not defined for `{}`", element.name());
        let undefined = Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message);
        if operator.is_declared() {
            let why = operator.refusal(element).unwrap_or("its declaration is wrong");
            self.found.push(undefined.label(why));
            return;
        }
        self.found.push(match (operator.row().domain, element) {
            (_, ElementType::Bool) => undefined
                .label("truth values are no numbers")
                .help("`|=` and `any` say whether any is true, `&=` and `all` whether all are"),
            (Domain::Ordered, _) => undefined
                .label("complex numbers have no order")
                .help("take a real number of each: `re(z)`, `im(z)` or `abs(z)`"),
            _ => undefined
                .label("works on truth values, and on the bits of whole numbers")
                .help("compare: `any(i)(x(i) != 0)`; or declare whole numbers such as `i32` or `u8`, which have this operator"),
        });
    }
}

/// The word of a reduction: `sum` of `sum(k)(…)`.
pub(crate) fn name(operator: ReduceOperator) -> &'static str {
    operator.row().reduction
}

/// Explicit reductions over variables that are also the statement's. Terms that are added have sums of their own: what one names
/// another may have as an index that it is summed over without a word.
pub(super) fn check_scope(reduced: &[&Ident], statement: &Assignment, indices: &Indices, found: &mut Diagnostics) {
    let mut terms = Vec::new();
    match statement.operator {
        None | Some(ReduceOperator::Add) => added(&statement.value, &mut terms),
        Some(_) => terms.push(&statement.value),
    }
    let made_of = |variable| indices.running(&[variable]);
    let own = statement.target.indices.iter().chain(statement.mask.iter().flat_map(|mask| &mask.indices));
    let own = indices.running(&own.copied().collect::<Vec<_>>());
    for name in reduced {
        let Some(outer) = indices.free(&name.name) else { continue };
        let meets = |term: &&Expr| binds(term, &name.name, indices) && term.free_variables(&made_of).contains(&outer);
        if !own.contains(&outer) && !terms.iter().any(meets) {
            continue;
        }
        let problem = Diagnostic::new(
            codes::REDUCTION_VARIABLE,
            name.span,
            format!("`{}` has a meaning outside the reduction", name.name),
        )
        .label("bound by the reduction")
        .related(indices.variables[outer.0].span, "used outside of it here");
        found.push(match statement.target.indices.contains(&outer) {
            true => problem.help("a reduction is over variables that the left-hand side lacks"),
            false => problem.help("give one of them another name, or let the reduction enclose both"),
        });
    }
}

/// The terms that are added or subtracted.
fn added<'e>(value: &'e Expr, terms: &mut Vec<&'e Expr>) {
    match value {
        Expr::Unary(UnaryOperator::Negate, operand) => added(operand, terms),
        Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => {
            added(left, terms);
            added(right, terms);
        }
        term => terms.push(term),
    }
}

/// Whether a reduction in an expression has a variable of that name.
fn binds(value: &Expr, name: &str, indices: &Indices) -> bool {
    let is_it = |variable: &IndexVariable| indices.variables[variable.0].name == name;
    matches!(value, Expr::Reduce(_, variables, _) if variables.iter().any(is_it))
        || value.children().into_iter().any(|child| binds(child, name, indices))
}
