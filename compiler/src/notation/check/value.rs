//! Right-hand sides: names looked up, every part of the statement's element type.

use super::functions;
use super::indices::Indices;
use super::literal::{Number, literal};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::{ElementType, Literal};
use crate::notation::{Access, BinaryOperator, Expr, Tensor, TensorId, UnaryOperator};
use crate::syntax::{self, ExprKind, Ident};

/// Checks the expressions of one statement.
pub(super) struct Values<'a, 's> {
    pub(super) tensors: &'a [Tensor],
    pub(super) indices: &'a mut Indices,
    /// The type of the statement's tensors.
    pub(super) element: ElementType,
    /// The name of the tensor that gives this type, for messages.
    pub(super) typed_by: &'a str,
    /// The names that are index variables somewhere in the statement.
    pub(super) index_names: Vec<&'s str>,
    /// The variables of explicit reductions: they are nobody else's.
    pub(super) reduced: Vec<&'s Ident>,
    /// The tensors of another element type that were reported.
    pub(super) mixed: Vec<String>,
    /// Whether `where` restricts the statement to what a sparse tensor stores.
    pub(super) masked: bool,
    pub(super) found: &'a mut Diagnostics,
}

impl<'s> Values<'_, 's> {
    /// An element.
    pub(super) fn value(&mut self, expr: &'s syntax::Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Number { digits, suffix } => self.number(digits, *suffix, false, expr.span),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Access(access) if access.indices.is_empty() => self.name(&access.name),
            ExprKind::Access(access) => self.access(access).map(Expr::Access),
            ExprKind::Unary(UnaryOperator::Negate, operand) => self.negation(operand, expr.span),
            ExprKind::Binary(operator, left, right) if operator.is_arithmetic() => {
                self.arithmetic(*operator, left, right, expr.span)
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments, expr.span),
            ExprKind::Reduce { operator, variables, body } => self.reduction(*operator, variables, body, expr.span),
            ExprKind::Bool(_) | ExprKind::Unary(UnaryOperator::Not, _) | ExprKind::Binary(..) => {
                self.condition(expr);
                self.found.push(condition_as_value(expr));
                None
            }
        }
    }

    /// A truth value.
    pub(super) fn condition(&mut self, expr: &'s syntax::Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Bool(value) => Some(Expr::Literal(Literal::Integer(ElementType::Bool, (*value).into()))),
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                let operand = self.condition(operand)?;
                Some(Expr::Unary(UnaryOperator::Not, Box::new(operand)))
            }
            ExprKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                Some(Expr::Binary(*operator, Box::new(left?), Box::new(right?)))
            }
            ExprKind::Binary(operator, left, right) if !operator.is_arithmetic() => {
                let (left, right) = (self.value(left), self.value(right));
                Some(Expr::Binary(*operator, Box::new(left?), Box::new(right?)))
            }
            _ => {
                self.value(expr);
                self.found.push(value_as_condition(expr));
                None
            }
        }
    }

    fn number(&mut self, digits: &str, suffix: Option<ElementType>, negative: bool, span: Span) -> Option<Expr> {
        let number = Number { digits, suffix, negative, span };
        literal(&number, self.element).map_err(|problem| self.found.push(problem)).ok().map(Expr::Literal)
    }

    fn negation(&mut self, operand: &'s syntax::Expr, span: Span) -> Option<Expr> {
        if let ExprKind::Number { digits, suffix } = &operand.kind {
            return self.number(digits, *suffix, true, span);
        }
        let operand = self.value(operand);
        if !functions::signed(self.element) {
            let message = format!("`-` is not defined for `{}`", self.element.name());
            self.found.push(
                Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message)
                    .label(format!("`{}` has no negative values", self.element.name()))
                    .help("`i32` and `i64` have negative values"),
            );
            return None;
        }
        Some(Expr::Unary(UnaryOperator::Negate, Box::new(operand?)))
    }

    fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: &'s syntax::Expr,
        right: &'s syntax::Expr,
        span: Span,
    ) -> Option<Expr> {
        let divisor = right.span;
        let (left, right) = (self.value(left), self.value(right));
        let (left, right) = (left?, right?);
        if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder)
            && let Some(problem) = self.divisor(&right, divisor, span)
        {
            self.found.push(problem);
            return None;
        }
        Some(Expr::Binary(operator, Box::new(left), Box::new(right)))
    }

    /// A bare name: a scalar, or an index variable's value.
    fn name(&mut self, name: &'s Ident) -> Option<Expr> {
        if let Some(tensor) = self.tensor(&name.name) {
            self.check_element(tensor, name.span);
            let scalar = self.tensors[tensor.0].format.order == 0;
            return scalar.then(|| Expr::Access(Access { tensor, indices: Vec::new(), span: name.span }));
        }
        let index = self.index_names.contains(&name.name.as_str());
        index.then(|| Expr::Index(self.indices.resolve(name), self.element))
    }

    pub(super) fn tensor(&self, name: &str) -> Option<TensorId> {
        self.tensors.iter().position(|tensor| tensor.name == name).map(TensorId)
    }
}

fn condition_as_value(expr: &syntax::Expr) -> Diagnostic {
    let text = expr.to_string();
    Diagnostic::new(codes::CONDITION_AS_VALUE, expr.span, "a truth value where a number must stand")
        .label("is true or false")
        .help(format!("`select({text}, 1, 0)` is a number"))
}

fn value_as_condition(expr: &syntax::Expr) -> Diagnostic {
    Diagnostic::new(codes::VALUE_AS_CONDITION, expr.span, "a number where a truth value must stand")
        .label("not a comparison")
        .help(format!("compare it: `{expr} != 0`"))
}
