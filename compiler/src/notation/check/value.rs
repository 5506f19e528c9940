//! Right-hand sides: names looked up, every part of one element type.
//!
//! An operator computes in the type of its operands; where they differ, in the one that the other converts to without loss.
//! What does not convert so is refused: the conversion must be written, as `f32(x(i))`. Literals and index variables take
//! the type of what they are combined with. The terms of a right-hand side are added in the result's type.

use super::functions;
use super::indices::Indices;
use super::literal::{self, Number, literal};
use super::types::{self, widens};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::ElementType;
use crate::notation::{Access, BinaryOperator, Expr, Tensor, TensorId, UnaryOperator};
use crate::syntax::{self, ExprKind, Ident};

/// Checks the expressions of one statement.
pub(super) struct Values<'a, 's> {
    pub(super) tensors: &'a [Tensor],
    pub(super) indices: &'a mut Indices,
    /// The names that are index variables somewhere in the statement.
    pub(super) index_names: Vec<&'s str>,
    /// The variables of explicit reductions: no other expression may have them.
    pub(super) reduced: Vec<&'s Ident>,
    /// Whether `where` restricts the statement to what a sparse tensor stores.
    pub(super) masked: bool,
    /// The statement, if it is one.
    pub(super) statement: Option<&'s syntax::Statement>,
    pub(super) found: &'a mut Diagnostics,
}

impl<'s> Values<'_, 's> {
    /// A right-hand side of a result of type `element`: its terms are added in that, also those in parentheses.
    pub(super) fn terms(&mut self, expr: &'s syntax::Expr, element: ElementType) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Subtract), left, right)
                if self.is_added_in(expr, element) =>
            {
                let (left, right) = (self.terms(left, element), self.terms(right, element));
                Some(Expr::Binary(*operator, Box::new(left?), Box::new(right?)))
            }
            ExprKind::Unary(UnaryOperator::Negate, operand)
                if is_sum(operand) && functions::signed(element) && self.is_added_in(operand, element) =>
            {
                Some(Expr::Unary(UnaryOperator::Negate, Box::new(self.terms(operand, element)?)))
            }
            _ => self.value(expr, element),
        }
    }

    /// Whether the terms of a sum are numbers of a type, or become such without loss.
    fn is_added_in(&self, sum: &syntax::Expr, element: ElementType) -> bool {
        element != ElementType::Bool && self.kind(sum).is_none_or(|kind| kind == element || widens(kind, element))
    }

    /// A value of type `element`, converted to it without loss where it is of another.
    pub(super) fn value(&mut self, expr: &'s syntax::Expr, element: ElementType) -> Option<Expr> {
        let kind = self.kind(expr).unwrap_or(element);
        let value = self.own(expr, kind)?;
        if kind == element {
            return Some(value);
        }
        if let Expr::Literal(literal) = value
            && kind != ElementType::Bool
            && let Some(literal) = crate::ir::constant::cast(element, literal).filter(|_| widens(kind, element))
        {
            return Some(Expr::Literal(literal));
        }
        if widens(kind, element) {
            return Some(Expr::Cast(element, Box::new(value)));
        }
        self.found.push(not_converted(expr, kind, element));
        None
    }

    /// A truth value.
    pub(super) fn condition(&mut self, expr: &'s syntax::Expr) -> Option<Expr> {
        self.value(expr, ElementType::Bool)
    }

    /// The type that an expression has by itself: see [`types::kind`].
    pub(super) fn kind(&self, expr: &syntax::Expr) -> Option<ElementType> {
        types::kind(expr, self.tensors)
    }

    /// The type that operands of one operator are converted to: see [`types::common`].
    pub(super) fn common<'e>(&self, operands: impl IntoIterator<Item = &'e syntax::Expr>) -> Option<ElementType> {
        types::common(operands, self.tensors)
    }

    /// A value in the type that it has by itself, or takes.
    fn own(&mut self, expr: &'s syntax::Expr, element: ElementType) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Number { digits, .. } => self.number(digits, false, element, expr, expr.span),
            ExprKind::Bool(value) => Some(Expr::Literal(crate::ir::constant::truth(*value))),
            ExprKind::Name(name) => self.name(name, element, expr),
            ExprKind::Access(access) if access.indices.is_empty() => self.name(&access.name, element, expr),
            ExprKind::Access(access) => self.access(access).map(Expr::Access),
            ExprKind::Unary(UnaryOperator::Negate, operand) => self.negation(operand, element, expr.span),
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                let operand = self.condition(operand)?;
                Some(Expr::Unary(UnaryOperator::Not, Box::new(operand)))
            }
            ExprKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                Some(Expr::Binary(*operator, Box::new(left?), Box::new(right?)))
            }
            ExprKind::Binary(operator, left, right) if operator.is_arithmetic() => {
                self.arithmetic(*operator, left, right, element, expr.span)
            }
            ExprKind::Binary(operator, left, right) => self.comparison(*operator, left, right, expr.span),
            ExprKind::Call(name, arguments) => self.call(name, arguments, element, expr.span),
            ExprKind::Reduce { operator, place: true, variables, body } => {
                self.place(*operator, variables, body, element, expr.span)
            }
            ExprKind::Reduce { operator, variables, body, .. } => {
                self.reduction(*operator, variables, body, element, expr.span)
            }
        }
    }

    fn number(
        &mut self,
        digits: &str,
        negative: bool,
        element: ElementType,
        expr: &'s syntax::Expr,
        span: Span,
    ) -> Option<Expr> {
        if element == ElementType::Bool {
            self.found.push(value_as_condition(expr));
            return None;
        }
        let number = Number { digits, negative, span };
        literal(&number, element).map_err(|problem| self.found.push(problem)).ok().map(Expr::Literal)
    }

    fn negation(&mut self, operand: &'s syntax::Expr, element: ElementType, span: Span) -> Option<Expr> {
        if let ExprKind::Number { digits, .. } = &operand.kind {
            return self.number(digits, true, element, operand, span);
        }
        let value = self.value(operand, element);
        if element == ElementType::Bool {
            self.found.push(condition_as_value(operand));
            return None;
        }
        if !functions::signed(element) {
            let message = format!("`-` is not defined for `{}`", element.name());
            self.found.push(
                Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message)
                    .label(format!("`{}` has no negative values", element.name()))
                    .help("`i8`, `i16`, `i32` and `i64` have negative values"),
            );
            return None;
        }
        Some(Expr::Unary(UnaryOperator::Negate, Box::new(value?)))
    }

    fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: &'s syntax::Expr,
        right: &'s syntax::Expr,
        element: ElementType,
        span: Span,
    ) -> Option<Expr> {
        let (dividend, divisor) = (left, right);
        let (checked_left, checked_right) = (self.value(left, element), self.value(right, element));
        if element == ElementType::Bool {
            let problem = condition_as_value(if self.kind(left).is_some() { left } else { right });
            self.found.push(match of_truths(operator) {
                Some(sign) => problem.help(format!("of truth values, write `{left} {sign} {right}`")),
                None => problem,
            });
            return None;
        }
        let (left, right) = (checked_left?, checked_right?);
        if matches!(operator, BinaryOperator::BitAnd | BinaryOperator::BitOr) && !element.is_integer() {
            self.found.push(bits_of_fractions(operator, element, span));
            return None;
        }
        if operator == BinaryOperator::Remainder && element.is_complex() {
            self.found.push(complex_order("%", element, span));
            return None;
        }
        if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder)
            && let Some(problem) = self.divisor(operator, &right, dividend, divisor, span)
        {
            self.found.push(problem);
            return None;
        }
        Some(Expr::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn comparison(
        &mut self,
        operator: BinaryOperator,
        left: &'s syntax::Expr,
        right: &'s syntax::Expr,
        span: Span,
    ) -> Option<Expr> {
        let element = self.common([left, right]).unwrap_or_else(|| self.plain(&[left, right]));
        let (checked_left, checked_right) = (self.value(left, element), self.value(right, element));
        let is_order = !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
        if is_order && element.is_complex() {
            self.found.push(complex_order(operator.symbol(), element, span));
            return None;
        }
        if is_order && element == ElementType::Bool {
            self.found.push(condition_as_value(if self.kind(left).is_some() { left } else { right }));
            return None;
        }
        Some(Expr::Binary(operator, Box::new(checked_left?), Box::new(checked_right?)))
    }

    /// The type that literals and index variables have where nothing else gives them one.
    pub(super) fn plain(&self, operands: &[&syntax::Expr]) -> ElementType {
        fn has_fraction(expr: &syntax::Expr) -> bool {
            match &expr.kind {
                ExprKind::Number { digits, .. } => !digits.bytes().all(|digit| digit.is_ascii_digit()),
                ExprKind::Unary(_, operand) => has_fraction(operand),
                ExprKind::Binary(operator, left, right) => {
                    *operator == BinaryOperator::Divide || has_fraction(left) || has_fraction(right)
                }
                ExprKind::Call(_, arguments) => arguments.iter().any(has_fraction),
                _ => false,
            }
        }
        if operands.iter().any(|operand| has_fraction(operand)) { ElementType::F64 } else { ElementType::I64 }
    }

    /// A bare name: a scalar, or an index variable's value.
    fn name(&mut self, name: &'s Ident, element: ElementType, expr: &'s syntax::Expr) -> Option<Expr> {
        if let Some(tensor) = self.tensor(&name.name) {
            let scalar = self.tensors[tensor.0].format.order == 0;
            return scalar.then(|| Expr::Access(Access::new(tensor, Vec::new(), name.span)));
        }
        if !self.index_names.contains(&name.name.as_str()) {
            if !literal::is_constant(&name.name) {
                return None;
            }
            let found = literal::constant(expr, element).map_err(|problem| self.found.push(problem));
            return found.ok().map(Expr::Literal);
        }
        if element == ElementType::Bool {
            self.found.push(value_as_condition(expr));
            return None;
        }
        Some(Expr::Index(self.indices.resolve(name), element))
    }

    pub(super) fn tensor(&self, name: &str) -> Option<TensorId> {
        types::tensor(name, self.tensors)
    }
}

/// What does with truth values what an operator does with the numbers 0 and 1.
fn of_truths(operator: BinaryOperator) -> Option<&'static str> {
    match operator {
        BinaryOperator::Add | BinaryOperator::BitOr => Some("||"),
        BinaryOperator::Multiply | BinaryOperator::BitAnd => Some("&&"),
        _ => None,
    }
}

/// A value of type `from` where one of type `to` must stand.
pub(super) fn not_converted(expr: &syntax::Expr, from: ElementType, to: ElementType) -> Diagnostic {
    match (from, to) {
        (ElementType::Bool, _) => return condition_as_value(expr),
        (_, ElementType::Bool) => return value_as_condition(expr),
        _ => {}
    }
    let (from_name, to_name) = (from.name(), to.name());
    let message = format!("`{from_name}` where `{to_name}` must stand");
    let mixed = Diagnostic::new(codes::MIXED_ELEMENTS, expr.span, message)
        .label(format!("`{to_name}` does not hold every `{from_name}`"));
    match from.is_complex() && !to.is_complex() {
        true => mixed.help(format!("take a part of it: `re({expr})`")),
        false => mixed.help(format!("say that it is converted: `{to_name}({expr})`")),
    }
}

fn complex_order(operator: &str, element: ElementType, span: Span) -> Diagnostic {
    let message = format!("`{operator}` is not defined for `{}`", element.name());
    Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message)
        .label("complex numbers have no order")
        .help("take a real number of each: `re(z)`, `im(z)` or `abs(z)`")
}

fn bits_of_fractions(operator: BinaryOperator, element: ElementType, span: Span) -> Diagnostic {
    let message = format!("`{}` is not defined for `{}`", operator.symbol(), element.name());
    Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message)
        .label("works on the bits of whole numbers")
        .help("declare whole numbers such as `i32` or `u8`, or convert to them: `i64(x(i))`")
}

fn condition_as_value(expr: &syntax::Expr) -> Diagnostic {
    let text = expr.to_string();
    Diagnostic::new(codes::CONDITION_AS_VALUE, expr.span, "a truth value where a number must stand")
        .label("is true or false")
        .help(format!("`select({text}, 1, 0)` is a number"))
}

fn value_as_condition(expr: &syntax::Expr) -> Diagnostic {
    Diagnostic::new(codes::VALUE_AS_CONDITION, expr.span, "a number where a truth value must stand")
        .label("not a truth value")
        .help(format!("compare it: `{expr} != 0`"))
}

/// Whether an expression is a sum or a difference, negated or not.
fn is_sum(expr: &syntax::Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(operator, ..) => matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract),
        ExprKind::Unary(UnaryOperator::Negate, operand) => is_sum(operand),
        _ => false,
    }
}
