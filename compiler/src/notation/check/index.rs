//! Computed indices: `x(2*i + k)`, `M(i, j * extent(k) + k)`, `A(3, j)`, `x(2..5)`.

use super::extents::EXTENT;
use super::value::Values;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::ir::{IndexExpr, IndexOperator, LARGEST_IN_INDEX};
use crate::notation::IndexVariable;
use crate::syntax::{self, BinaryOperator, ExprKind, UnaryOperator};

/// No index is as large.
const LARGE: i128 = 1 << 62;

/// An index while it is checked.
type Index = IndexExpr<IndexVariable>;

impl<'s> Values<'_, 's> {
    /// The variable of an index that is computed.
    pub(super) fn computed(&mut self, expr: &'s syntax::Expr) -> Option<IndexVariable> {
        let value = self.index_value(expr)?;
        let least = value.value(&mut |_| Some(0));
        let is_below = least.is_some_and(|least| least < 0);
        if is_below && value.affine().is_some_and(|affine| affine.terms.iter().all(|(_, factor)| *factor > 0)) {
            let problem = Diagnostic::new(codes::INDEX_EXPRESSION, expr.span, "an index below zero")
                .label(format!("is {} where its variables are zero", least.unwrap_or_default()))
                .help("indices begin at 0: shift the other indices instead, as in `y(i + 1) = x(i)`");
            self.found.push(problem);
            return None;
        }
        Some(self.indices.computed(value, expr.span))
    }

    fn index_value(&mut self, expr: &'s syntax::Expr) -> Option<Index> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let name = self.index_name(name)?;
                Some(IndexExpr::Variable(self.indices.resolve(name)))
            }
            ExprKind::Number { .. } => self.index_number(expr).map(IndexExpr::Constant),
            ExprKind::Call(name, arguments) if name.name == EXTENT && matches!(arguments.len(), 1 | 2) => {
                let counted = self.counted(arguments)?;
                Some(IndexExpr::Extent(self.indices.extent(counted)))
            }
            ExprKind::Unary(UnaryOperator::Negate, operand) => {
                let operand = self.index_value(operand)?;
                Some(IndexExpr::binary(IndexOperator::Subtract, IndexExpr::Constant(0), operand))
            }
            ExprKind::Binary(operator, left, right) => {
                let Some(operator) = index_operator(*operator) else { return self.refuse_index(expr) };
                let (left, right) = (self.index_value(left), self.index_value(right));
                self.index_binary(operator, left?, right?, expr.span)
            }
            _ => self.refuse_index(expr),
        }
    }

    fn index_binary(&mut self, operator: IndexOperator, left: Index, right: Index, span: Span) -> Option<Index> {
        let problem = match operator {
            IndexOperator::Add | IndexOperator::Subtract => None,
            IndexOperator::Multiply if left.variables().is_empty() || right.variables().is_empty() => None,
            IndexOperator::Multiply => Some((
                "a product of index variables",
                "multiply by a number or an extent, as in `x(2 * i)` and `x(i * extent(k) + k)`",
            )),
            IndexOperator::Divide | IndexOperator::Remainder => match right.constant() {
                Some(1..) if left.range(&mut |_| LARGE).0 >= 0 => None,
                Some(1..) => Some((
                    "a dividend that may be below zero",
                    "divide what is never below zero, as in `x((i + 3) / 2)`",
                )),
                _ => {
                    Some(("an index that is not divided by a positive number", "divide by a number, as in `x(i / 2)`"))
                }
            },
        };
        if let Some((message, help)) = problem {
            self.found.push(
                Diagnostic::new(codes::INDEX_EXPRESSION, span, message)
                    .label("can't be computed")
                    .help(help.to_owned()),
            );
            return None;
        }
        let value = IndexExpr::binary(operator, left, right);
        if value.magnitude() > LARGEST_IN_INDEX {
            self.found.push(too_large(span));
            return None;
        }
        Some(value)
    }

    /// The variable of the `place`th window of an access.
    pub(super) fn window(
        &mut self,
        place: usize,
        start: &'s syntax::Expr,
        end: &'s syntax::Expr,
        span: Span,
    ) -> Option<IndexVariable> {
        let (start, end) = (self.index_number(start), self.index_number(end));
        let (start, end) = (start?, end?);
        let Some(extent) = end.checked_sub(start).and_then(|extent| u64::try_from(extent).ok()) else {
            self.found.push(
                Diagnostic::new(codes::INDEX_EXPRESSION, span, "a window that ends before it begins")
                    .label("nothing lies between")
                    .help(format!("write the smaller number first: `{end}..{start}`")),
            );
            return None;
        };
        let (window, other) = self.indices.window(place, extent, span);
        if let Some(other) = other {
            let first = self.indices.variables[window.0].span;
            self.found.push(
                Diagnostic::new(codes::INDEX_EXPRESSION, span, "windows of different lengths run together")
                    .label(format!("{extent} long"))
                    .related(first, format!("{other} long"))
                    .help(
                        "the first window of each access runs with the first of the others, the second with the second",
                    ),
            );
            return None;
        }
        let value = IndexExpr::binary(IndexOperator::Add, IndexExpr::Variable(window), IndexExpr::Constant(start));
        Some(self.indices.computed(value, span))
    }

    /// A whole number that is not too large for an index.
    fn index_number(&mut self, expr: &'s syntax::Expr) -> Option<i64> {
        let ExprKind::Number { digits, suffix: None } = &expr.kind else { return self.refuse_index(expr) };
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return self.refuse_index(expr);
        }
        let number = digits.parse().ok().filter(|number| u128::from(i64::unsigned_abs(*number)) < LARGEST_IN_INDEX);
        number.or_else(|| {
            self.found.push(too_large(expr.span));
            None
        })
    }

    fn refuse_index<T>(&mut self, expr: &syntax::Expr) -> Option<T> {
        self.found.push(
            Diagnostic::new(codes::INDEX_EXPRESSION, expr.span, "an index that can't be computed")
                .label("not made of index variables and whole numbers")
                .help("an index is made of index variables, whole numbers and extents by `+ - * / %`, as in `x(2 * i + k)`, or is a window `3..7`"),
        );
        None
    }
}

fn too_large(span: Span) -> Diagnostic {
    Diagnostic::new(codes::INDEX_EXPRESSION, span, "an index with too large a number")
        .label("no mode is as long")
        .help(format!("factors and constants together must stay below {LARGEST_IN_INDEX}"))
}

fn index_operator(operator: BinaryOperator) -> Option<IndexOperator> {
    match operator {
        BinaryOperator::Add => Some(IndexOperator::Add),
        BinaryOperator::Subtract => Some(IndexOperator::Subtract),
        BinaryOperator::Multiply => Some(IndexOperator::Multiply),
        BinaryOperator::Divide => Some(IndexOperator::Divide),
        BinaryOperator::Remainder => Some(IndexOperator::Remainder),
        _ => None,
    }
}
