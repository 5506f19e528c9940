//! Expressions as Rust.

use super::{Printer, element, ident};
use crate::ir::precedence::{Precedence, infix, is_signed, precedence};
use crate::ir::{
    ArrayElement, BinaryOperator, DimensionId, ElementType, Expr, Function, Literal, Size, Type, UnaryOperator,
};
use proc_macro2::{Literal as Token, TokenStream};
use quote::quote;

impl Printer<'_> {
    pub(super) fn expr(&self, expr: &Expr) -> TokenStream {
        match expr {
            Expr::Index(value) => number(*value),
            Expr::Bool(value) => quote!(#value),
            Expr::Literal(literal) => self::literal(*literal),
            Expr::Variable(variable) => {
                let name = &self.variables[variable];
                quote!(#name)
            }
            Expr::Dimension(id) => self.dimension(*id),
            Expr::Length(array) => {
                let name = &self.arrays[array];
                quote!(#name.len())
            }
            Expr::Load(array, index) => {
                let name = &self.arrays[array];
                let index = self.expr(index);
                match self.kernel.array(*array).element {
                    ArrayElement::Index(_) => quote!(#name[#index] as usize),
                    ArrayElement::Value(_) => quote!(#name[#index]),
                }
            }
            Expr::Unary(operator, operand) => self.unary(*operator, operand),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Select(condition, yes, no) => {
                let (condition, yes, no) = (self.expr(condition), self.expr(yes), self.expr(no));
                quote!((if #condition { #yes } else { #no }))
            }
            Expr::Cast(ty, operand) => {
                let operand = self.at_least(operand, Precedence::Cast);
                let ty = match ty {
                    Type::Index => ident("usize"),
                    Type::Bool => ident("bool"),
                    Type::Element(element) => ident(element.name()),
                };
                quote!(#operand as #ty)
            }
            Expr::Search { array, begin, end, value } => {
                let name = &self.arrays[array];
                let first = self.at_least(begin, Precedence::Sum);
                let (begin, end, value) = (self.expr(begin), self.expr(end), self.expr(value));
                quote!((#first + #name[#begin..#end].partition_point(|&c| (c as usize) < #value)))
            }
        }
    }

    fn dimension(&self, id: DimensionId) -> TokenStream {
        match self.kernel.dimension(id).size {
            Size::Constant(size) => number(size),
            Size::Runtime | Size::Generic => {
                let name = &self.dimensions[&id];
                quote!(#name)
            }
        }
    }

    /// The printed precedence: loads of index arrays print with a cast.
    fn printed_precedence(&self, expr: &Expr) -> Precedence {
        match expr {
            Expr::Load(array, _) if matches!(self.kernel.array(*array).element, ArrayElement::Index(_)) => {
                Precedence::Cast
            }
            Expr::Binary(operator, left, _) if self.wraps(*operator, left) => Precedence::Atom,
            other => precedence(other),
        }
    }

    /// The operand, in parentheses when it binds less tightly than `least`.
    pub(super) fn at_least(&self, operand: &Expr, least: Precedence) -> TokenStream {
        let tokens = self.expr(operand);
        if self.printed_precedence(operand) < least { quote!((#tokens)) } else { tokens }
    }

    fn unary(&self, operator: UnaryOperator, operand: &Expr) -> TokenStream {
        let is_integer = self.element(operand).is_some_and(|element| !element.is_float());
        match operator {
            UnaryOperator::Negate if is_integer => {
                let operand = self.at_least(operand, Precedence::Atom);
                quote!(#operand.wrapping_neg())
            }
            UnaryOperator::Negate => {
                let operand = self.at_least(operand, Precedence::Unary);
                quote!(-#operand)
            }
            UnaryOperator::Not => {
                let operand = self.at_least(operand, Precedence::Unary);
                quote!(!#operand)
            }
        }
    }

    fn binary(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> TokenStream {
        if self.wraps(operator, left) {
            let method = ident(match operator {
                BinaryOperator::Add => "wrapping_add",
                BinaryOperator::Subtract => "wrapping_sub",
                BinaryOperator::Multiply => "wrapping_mul",
                BinaryOperator::Divide => "wrapping_div",
                _ => "wrapping_rem",
            });
            let left = self.at_least(left, Precedence::Atom);
            let right = self.expr(right);
            return quote!(#left.#method(#right));
        }
        let Some((sign, own)) = infix(operator) else {
            let method = ident(if operator == BinaryOperator::Minimum { "min" } else { "max" });
            let left = self.at_least(left, Precedence::Atom);
            let right = self.expr(right);
            return quote!(#left.#method(#right));
        };
        let sign: TokenStream = sign.parse().expect("operators are tokens");
        let least_left = if own == Precedence::Comparison { own.tighter() } else { own };
        let mut left_tokens = self.at_least(left, least_left);
        // `a as usize < b` would begin a list of generic arguments.
        if matches!(operator, BinaryOperator::Less | BinaryOperator::LessEqual)
            && self.printed_precedence(left) == Precedence::Cast
        {
            left_tokens = quote!((#left_tokens));
        }
        let right = self.at_least(right, own.tighter());
        quote!(#left_tokens #sign #right)
    }

    /// Whether the operator prints as a wrapping method: arithmetic on integer elements.
    fn wraps(&self, operator: BinaryOperator, left: &Expr) -> bool {
        use BinaryOperator::*;
        matches!(operator, Add | Subtract | Multiply | Divide | Remainder)
            && self.element(left).is_some_and(|element| !element.is_float())
    }

    /// The element type of a value; `None` for indices and conditions.
    fn element(&self, expr: &Expr) -> Option<ElementType> {
        match expr {
            Expr::Literal(literal) => Some(literal.element()),
            Expr::Variable(variable) => match self.kernel.variable(*variable).ty {
                Type::Element(element) => Some(element),
                Type::Index | Type::Bool => None,
            },
            Expr::Load(array, _) => match self.kernel.array(*array).element {
                ArrayElement::Value(element) => Some(element),
                ArrayElement::Index(_) => None,
            },
            Expr::Unary(_, operand) => self.element(operand),
            Expr::Binary(operator, left, _) => match infix(*operator) {
                Some((_, Precedence::Sum | Precedence::Product)) => self.element(left),
                _ => None,
            },
            Expr::Call(_, arguments) => self.element(arguments.first()?),
            Expr::Select(_, yes, _) => self.element(yes),
            Expr::Cast(Type::Element(element), _) => Some(*element),
            _ => None,
        }
    }

    fn call(&self, function: Function, arguments: &[Expr]) -> TokenStream {
        let method = match function {
            Function::Min => "min",
            Function::Max => "max",
            Function::Abs => "abs",
            Function::Sqrt => "sqrt",
            Function::Exp => "exp",
            Function::Ln => "ln",
            Function::Pow => "powf",
        };
        let (first, rest) = arguments.split_first().expect("functions have arguments");
        if function == Function::Abs && self.element(first) == Some(ElementType::U8) {
            return self.expr(first);
        }
        let is_integer = self.element(first).is_some_and(|element| !element.is_float());
        let method = ident(if is_integer && function == Function::Abs { "wrapping_abs" } else { method });
        let receiver = self.at_least(first, Precedence::Atom);
        let rest = rest.iter().map(|argument| self.expr(argument));
        quote!(#receiver.#method(#(#rest),*))
    }

    /// A value for an element of an array: indices are narrowed.
    pub(super) fn stored(&self, array: crate::ir::ArrayId, value: &Expr) -> TokenStream {
        match self.kernel.array(array).element {
            ArrayElement::Index(_) if matches!(value, Expr::Index(_)) => self.expr(value),
            ArrayElement::Index(_) => {
                let ty = element(self.kernel.array(array).element);
                let value = self.at_least(value, Precedence::Cast);
                quote!(#value as #ty)
            }
            ArrayElement::Value(_) => self.expr(value),
        }
    }
}

fn number(value: u64) -> TokenStream {
    let token = Token::u64_unsuffixed(value);
    quote!(#token)
}

/// A literal of an element type.
pub(super) fn literal(literal: Literal) -> TokenStream {
    let (ty, magnitude) = match literal {
        Literal::Float(element, value) => {
            let ty = ident(element.name());
            if value.is_nan() {
                return quote!(#ty::NAN);
            }
            if value.is_infinite() {
                return if value > 0.0 { quote!(#ty::INFINITY) } else { quote!(#ty::NEG_INFINITY) };
            }
            let token = match element {
                ElementType::F32 => Token::f32_suffixed(value.abs() as f32),
                _ => Token::f64_suffixed(value.abs()),
            };
            let plain = Token::f64_unsuffixed(value.abs());
            (quote!(#token), if element == ElementType::F64 { quote!(#plain) } else { quote!(#token) })
        }
        Literal::Integer(ElementType::Bool, value) => {
            let value = value != 0;
            return quote!(#value);
        }
        Literal::Integer(element, value) => {
            let ty = ident(element.name());
            if value == i64::MIN || (element == ElementType::I32 && value == i64::from(i32::MIN)) {
                return quote!(#ty::MIN);
            }
            let text = format!("{}{}", value.unsigned_abs(), element.name());
            let token: TokenStream = text.parse().expect("integers are tokens");
            (token.clone(), token)
        }
    };
    if is_signed(literal) { quote!(-#ty) } else { magnitude }
}
