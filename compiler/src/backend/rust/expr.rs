//! Expressions as Rust.

use super::spelling::{self, Spelling};
use super::{Printer, element, ident};
use crate::ir::precedence::{Precedence, infix, is_signed, precedence};
use crate::ir::{
    ArrayElement, ArrayId, BinaryOperator, DimensionId, ElementType, Expr, Factor, Find, Function, Literal,
    ReduceOperator, Size, Term, Type, UnaryOperator,
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
                if self.masks.contains(variable) { quote!(#name.mask()) } else { quote!(#name) }
            }
            Expr::Dimension(id) => self.dimension(*id),
            Expr::Length(array) => {
                let name = &self.arrays[array];
                quote!(#name.len())
            }
            Expr::Load(array, index) => {
                let name = &self.arrays[array];
                let index = self.expr(index);
                if self.numbers.contains(array) {
                    return quote!(#name.at(#index));
                }
                match self.kernel.array(*array).element {
                    ArrayElement::Index(_) => quote!(#name[#index] as usize),
                    ArrayElement::Value(_) if self.converted.contains(array) => quote!(#name[#index]),
                    ArrayElement::Value(element) if element.is_stored_only() => {
                        // Compilers have no vectors of the instruction that converts one.
                        if self.vectors.is_empty() {
                            return quote!(#name[#index].number());
                        }
                        let ty = ident(element.computed().name());
                        quote!(#ty::from(#name[#index]))
                    }
                    ArrayElement::Value(_) => quote!(#name[#index]),
                }
            }
            Expr::Unary(operator, operand) => self.unary(*operator, operand),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Select(condition, yes, no) => self.select(condition, yes, no),
            Expr::Cast(ty, operand) => self.cast(*ty, operand),
            Expr::Search { array, begin, end, value: search, stride, find } => {
                let name = &self.arrays[array];
                let value = self.at_least(search, Precedence::Sum);
                let helpers = &self.options.parallel;
                if *stride != 1 {
                    let (begin, end, stride, value) =
                        (self.expr(begin), self.expr(end), number(*stride), self.expr(search));
                    return if *find == Find::Filling {
                        quote!(#helpers::filled_side_by_side(#name, #begin, #end, #stride, #value))
                    } else {
                        quote!(#helpers::search_side_by_side(#name, #begin, #end, #stride, #value))
                    };
                }
                if is_whole(*array, begin, end) {
                    return quote!(#name.partition_point(|&stored| (stored as usize) < #value));
                }
                let first = self.at_least(begin, Precedence::Sum);
                let (begin, end) = (self.at_least(begin, Precedence::Or), self.expr(end));
                if *find == Find::Filling {
                    return quote!(#first + #helpers::filled(&#name[#begin..#end], #value));
                }
                quote!(#first + #name[#begin..#end].partition_point(|&stored| (stored as usize) < #value))
            }
            Expr::Mask { .. } => {
                let bits = self.bits(expr);
                quote!(#bits.mask())
            }
            Expr::Fold(operator, term) => self.fold(*operator, term),
        }
    }

    /// `run(A_run).times(at(x, A_crd_run)).sum()`
    fn fold(&self, operator: ReduceOperator, term: &Term) -> TokenStream {
        if let (true, ReduceOperator::Add, Some((name, rows))) =
            (self.options.vectors, operator, self.product_of_rows(term))
        {
            let (helpers, name, rows) = (&self.options.parallel, ident(name), rows.map(|row| &self.arrays[&row]));
            return quote!(#helpers::#name(#(#rows),*));
        }
        let terms = self.term(term);
        if operator == ReduceOperator::Add {
            return quote!(#terms.sum());
        }
        let operator = self.monoid(operator);
        quote!(#terms.reduce(#operator))
    }

    /// The two rows whose product a term is, and the name of what sums it up: of floating point numbers.
    fn product_of_rows(&self, term: &Term) -> Option<(&'static str, [ArrayId; 2])> {
        let Term::Binary(BinaryOperator::Multiply, left, right) = term else { return None };
        let (Term::Load(Factor::Run(one)), Term::Load(Factor::Run(other))) = (&**left, &**right) else { return None };
        let name = match [one, other].map(|row| self.kernel.array(*row).element) {
            [ArrayElement::Value(ElementType::F64), ArrayElement::Value(ElementType::F64)] => "dot_f64",
            [ArrayElement::Value(ElementType::F32), ArrayElement::Value(ElementType::F32)] => "dot_f32",
            _ => return None,
        };
        Some((name, [*one, *other]))
    }

    /// The operator of a reduction, for what combines terms by it.
    pub(super) fn monoid(&self, operator: ReduceOperator) -> TokenStream {
        let helpers = &self.options.parallel;
        let name = ident(spelling::monoid(operator));
        quote!(#helpers::#name)
    }

    /// `run(A_run).times(at(x, A_crd_run))`
    pub(super) fn term(&self, term: &Term) -> TokenStream {
        let helpers = &self.options.parallel;
        let both = |left: &Term, method: &str, right: &Term| {
            let (left, method, right) = (self.term(left), ident(method), self.term(right));
            quote!(#left.#method(#right))
        };
        match term {
            Term::Load(Factor::Run(run)) => {
                let name = &self.arrays[run];
                if self.converted.contains(run) { quote!(#helpers::run(&#name)) } else { quote!(#helpers::run(#name)) }
            }
            Term::Load(Factor::At { of, run, filled }) => {
                let (of, run) = (&self.arrays[of], &self.arrays[run]);
                if *filled { quote!(#helpers::at_some(#of, #run)) } else { quote!(#helpers::at(#of, #run)) }
            }
            Term::Same(value) => {
                let value = self.expr(value);
                quote!(#helpers::same(#value))
            }
            Term::Binary(operator, left, right) => both(left, spelling::of_terms(*operator), right),
            Term::Call(function, left, right) => both(left, function.method(), right),
        }
    }

    /// A mask, with what it takes to gather and scatter bits by it.
    pub(super) fn bits(&self, mask: &Expr) -> TokenStream {
        let helpers = &self.options.parallel;
        match mask {
            Expr::Variable(variable) if self.masks.contains(variable) => {
                let name = &self.variables[variable];
                quote!(#name)
            }
            Expr::Mask { part, extents } => {
                let part = number(*part as u64);
                let extents = extents.iter().map(|extent| self.expr(extent));
                quote!(#helpers::Bits::of(#part, &[#(#extents),*]))
            }
            other => {
                let mask = self.expr(other);
                quote!(#helpers::Bits::at(#mask))
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

    /// The printed precedence, where it is not that of the table: loads of index arrays print with a cast, searches with a
    /// sum, and what wraps around as a method.
    fn printed_precedence(&self, expr: &Expr) -> Precedence {
        match expr {
            Expr::Load(array, _) if self.is_cast(*array) => Precedence::Cast,
            Expr::Search { array, begin, end, stride, .. } if *stride != 1 || is_whole(*array, begin, end) => {
                Precedence::Atom
            }
            Expr::Search { .. } => Precedence::Sum,
            Expr::Unary(UnaryOperator::Negate, operand) if self.is_integer(operand) => Precedence::Atom,
            Expr::Binary(operator, left, _)
                if self.wrapping(*operator, left).is_some() || self.is_complex_quotient(*operator, left) =>
            {
                Precedence::Atom
            }
            Expr::Cast(Type::Element(element), _) if element.is_complex() => Precedence::Atom,
            other => precedence(other),
        }
    }

    /// Whether an element that is read is converted.
    fn is_cast(&self, array: ArrayId) -> bool {
        self.is_index_array(array) && !self.numbers.contains(&array)
    }

    fn select(&self, condition: &Expr, yes: &Expr, no: &Expr) -> TokenStream {
        let is_float =
            self.element_of(yes).is_some_and(|element| matches!(element, ElementType::F32 | ElementType::F64));
        let is_choice = is_float && yes.is_cheap() && no.is_cheap() && !self.compares_floats(condition);
        let (condition, yes, no) = (self.expr(condition), self.expr(yes), self.expr(no));
        if is_choice {
            // Compilers would branch.
            let helpers = &self.options.parallel;
            return quote!(#helpers::choose(#condition, #yes, #no));
        }
        quote!(if #condition { #yes } else { #no })
    }

    /// Whether a condition depends on how floats compare.
    fn compares_floats(&self, condition: &Expr) -> bool {
        let mut found = false;
        condition.for_each(&mut |expr| found |= self.element_of(expr).is_some_and(|element| !element.is_integer()));
        found
    }

    fn is_index_array(&self, array: ArrayId) -> bool {
        matches!(self.kernel.array(array).element, ArrayElement::Index(_))
    }

    /// The operand, in parentheses when it binds less tightly than `least`.
    pub(super) fn at_least(&self, operand: &Expr, least: Precedence) -> TokenStream {
        let tokens = self.expr(operand);
        let is_loose = matches!(operand, Expr::Select(..)) || self.printed_precedence(operand) < least;
        if is_loose { quote!((#tokens)) } else { tokens }
    }

    /// As [`Printer::at_least`], where Rust must see the type of a number: before a method, or a cast.
    fn typed(&self, operand: &Expr, least: Precedence) -> TokenStream {
        match operand {
            Expr::Index(value) => {
                let token = Token::u64_unsuffixed(*value).to_string() + "usize";
                token.parse().expect("integers are tokens")
            }
            Expr::Literal(Literal::Float(ElementType::F64, value)) if value.is_finite() => {
                let magnitude = Token::f64_suffixed(value.abs());
                match value.is_sign_negative() {
                    true if least > Precedence::Prefix => quote!((-#magnitude)),
                    true => quote!(-#magnitude),
                    false => quote!(#magnitude),
                }
            }
            other if is_untyped(other) => {
                let tokens = self.at_least(other, Precedence::Cast);
                quote!((#tokens as f64))
            }
            other => self.at_least(other, least),
        }
    }

    /// Whether the printed form ends in `as usize`, so that a `<` behind it would begin a list of generic arguments.
    fn ends_in_cast(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Cast(Type::Element(element), _) => !element.is_complex(),
            Expr::Cast(..) => true,
            Expr::Load(array, _) => self.is_cast(*array),
            Expr::Binary(operator, left, right) => infix(*operator).is_some_and(|(_, own)| {
                self.wrapping(*operator, left).is_none()
                    && self.printed_precedence(right) >= own.tighter()
                    && self.ends_in_cast(right)
            }),
            _ => false,
        }
    }

    fn unary(&self, operator: UnaryOperator, operand: &Expr) -> TokenStream {
        match operator {
            UnaryOperator::Negate if self.is_integer(operand) => {
                let operand = self.typed(operand, Precedence::Atom);
                quote!(#operand.wrapping_neg())
            }
            UnaryOperator::Negate => {
                // Rust warns of `--x`.
                let is_signed = self.expr(operand).to_string().starts_with('-');
                let operand = self.at_least(operand, if is_signed { Precedence::Atom } else { Precedence::Prefix });
                quote!(-#operand)
            }
            UnaryOperator::Not => {
                let operand = self.at_least(operand, Precedence::Prefix);
                quote!(!#operand)
            }
        }
    }

    fn binary(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> TokenStream {
        // Of lanes, both operands are computed: a branch for each would leave no vectors.
        let of_lanes = match operator {
            BinaryOperator::And if self.is_of_lanes(right) => Some(quote!(&)),
            BinaryOperator::Or if self.is_of_lanes(right) => Some(quote!(|)),
            _ => None,
        };
        if let Some(sign) = of_lanes {
            let [left, right] = [left, right].map(|operand| self.at_least(operand, Precedence::Prefix));
            return quote!(#left #sign #right);
        }
        if self.is_complex_quotient(operator, left) {
            let (helpers, left, right) = (&self.options.parallel, self.expr(left), self.expr(right));
            return quote!(#helpers::quotient(#left, #right));
        }
        if let Some(method) = self.wrapping(operator, left) {
            let method = ident(method);
            let left = self.typed(left, Precedence::Atom);
            let right = self.expr(right);
            return quote!(#left.#method(#right));
        }
        if matches!(operator, BinaryOperator::Gather | BinaryOperator::Scatter) {
            let (method, bits, number) = (ident(operator.symbol()), self.bits(right), self.expr(left));
            return quote!(#bits.#method(#number));
        }
        if operator == BinaryOperator::Rank {
            let (helpers, bits, count) = (&self.options.parallel, self.expr(left), self.expr(right));
            return quote!(#helpers::rank(#bits, #count));
        }
        let Some((sign, own)) = infix(operator) else {
            let method = ident(if operator == BinaryOperator::Minimum { "min" } else { "max" });
            let left = self.typed(left, Precedence::Atom);
            let right = self.expr(right);
            return quote!(#left.#method(#right));
        };
        let sign: TokenStream = sign.parse().expect("operators are tokens");
        let least_left = if own == Precedence::Comparison { own.tighter() } else { own };
        let mut left_tokens = self.at_least(left, least_left);
        if matches!(operator, BinaryOperator::Less | BinaryOperator::LessEqual)
            && self.printed_precedence(left) >= least_left
            && self.ends_in_cast(left)
        {
            left_tokens = quote!((#left_tokens));
        }
        let right = self.at_least(right, own.tighter());
        quote!(#left_tokens #sign #right)
    }

    /// Whether an operand of a vector loop is there in all lanes, whatever another says: made of elements of its rows.
    pub(super) fn is_of_lanes(&self, operand: &Expr) -> bool {
        match operand {
            Expr::Bool(_) | Expr::Literal(_) | Expr::Variable(_) => !self.vectors.is_empty(),
            Expr::Load(_, index) => match **index {
                Expr::Variable(variable) => self.vectors.contains(&variable),
                _ => false,
            },
            Expr::Cast(_, operand) | Expr::Unary(UnaryOperator::Not, operand) => self.is_of_lanes(operand),
            Expr::Binary(
                BinaryOperator::And
                | BinaryOperator::Or
                | BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply,
                left,
                right,
            ) => self.is_of_lanes(left) && self.is_of_lanes(right),
            _ => false,
        }
    }

    /// The method that the operator prints as: arithmetic on integer elements wraps around.
    fn wrapping(&self, operator: BinaryOperator, left: &Expr) -> Option<&'static str> {
        spelling::wrapping(operator, self.element_of(left)?)
    }

    /// Whether it is a quotient of complex numbers, which prints as a call.
    fn is_complex_quotient(&self, operator: BinaryOperator, left: &Expr) -> bool {
        operator == BinaryOperator::Divide && self.element_of(left).is_some_and(ElementType::is_complex)
    }

    /// The element type of an expression; indices have none.
    fn element_of(&self, expr: &Expr) -> Option<ElementType> {
        match self.kernel.type_of(expr) {
            Ok(Type::Element(element)) => Some(element),
            _ => None,
        }
    }

    /// Whether it is an element of an integer type; indices are none.
    fn is_integer(&self, expr: &Expr) -> bool {
        self.element_of(expr).is_some_and(ElementType::is_integer)
    }

    fn cast(&self, ty: Type, operand: &Expr) -> TokenStream {
        let element = match ty {
            Type::Index => ident("usize"),
            Type::Bool => ident("bool"),
            Type::Element(element) => match element.part() {
                Some(part) => return self.complex_cast(element, part, operand),
                None => ident(element.name()),
            },
        };
        let operand = self.typed(operand, Precedence::Cast);
        quote!(#operand as #element)
    }

    /// To complex numbers with parts of a type, from others part by part.
    fn complex_cast(&self, to: ElementType, part: ElementType, operand: &Expr) -> TokenStream {
        let (name, part_name) = (ident(to.name()), ident(part.name()));
        match self.element_of(operand) {
            Some(from) if from == to => self.expr(operand),
            Some(from) if from == part => {
                let operand = self.expr(operand);
                quote!(#name::new(#operand, 0.0))
            }
            Some(from) if from.is_complex() => {
                let operand = self.expr(operand);
                quote!({ let wide = #operand; #name::new(wide.re as #part_name, wide.im as #part_name) })
            }
            _ => {
                let operand = self.typed(operand, Precedence::Cast);
                quote!(#name::new(#operand as #part_name, 0.0))
            }
        }
    }

    fn call(&self, function: Function, arguments: &[Expr]) -> TokenStream {
        let (first, rest) = arguments.split_first().expect("functions have arguments");
        let element = self.element_of(first).expect("functions are of elements");
        let rest = rest.iter().map(|argument| self.expr(argument));
        let receiver = || self.typed(first, Precedence::Atom);
        match spelling::function(function, element) {
            Spelling::Itself => receiver(),
            Spelling::Helper(name) => {
                let (helpers, name, first) = (&self.options.parallel, ident(name), self.typed(first, Precedence::Or));
                let arguments = [first].into_iter().chain(rest);
                quote!(#helpers::#name(#(#arguments),*))
            }
            Spelling::Method(method) => {
                let (receiver, method) = (receiver(), ident(method));
                quote!(#receiver.#method(#(#rest),*))
            }
            Spelling::Field(field) => {
                let (receiver, field) = (receiver(), ident(field));
                quote!(#receiver.#field)
            }
            Spelling::New(element) => {
                let (first, name) = (self.expr(first), ident(element.name()));
                quote!(#name::new(#first, #(#rest),*))
            }
        }
    }

    /// A value for an element of an array: indices are narrowed, but for those that are loaded as narrow.
    pub(super) fn stored(&self, array: ArrayId, value: &Expr) -> TokenStream {
        let stored = self.kernel.array(array).element;
        match (stored, value) {
            (_, Expr::Load(from, index))
                if self.kernel.array(*from).element == stored
                    && (self.is_cast(*from) || is_stored_only(stored))
                    && !self.converted.contains(from) =>
            {
                let (name, index) = (&self.arrays[from], self.expr(index));
                quote!(#name[#index])
            }
            (ArrayElement::Value(_), _) if is_stored_only(stored) => {
                let (ty, value) = (element(stored), self.expr(value));
                if self.vectors.is_empty() { quote!(#ty::nearest(#value)) } else { quote!(#ty::from(#value)) }
            }
            (ArrayElement::Value(_), _) | (_, Expr::Index(_)) => self.expr(value),
            (ArrayElement::Index(_), _) => {
                let ty = element(stored);
                let value = self.at_least(value, Precedence::Cast);
                quote!(#value as #ty)
            }
        }
    }
}

/// Whether elements are stored in a type, and computed with in another.
fn is_stored_only(element: ArrayElement) -> bool {
    matches!(element, ArrayElement::Value(element) if element.is_stored_only())
}

pub(super) fn number(value: u64) -> TokenStream {
    let token = Token::u64_unsuffixed(value);
    quote!(#token)
}

/// Whether an expression consists of `f64` literals alone, which print without a type.
fn is_untyped(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(Literal::Float(ElementType::F64, value)) => value.is_finite(),
        Expr::Unary(_, operand) => is_untyped(operand),
        Expr::Binary(operator, left, right) => {
            matches!(infix(*operator), Some((_, Precedence::Sum | Precedence::Product)))
                && is_untyped(left)
                && is_untyped(right)
        }
        Expr::Select(_, yes, no) => is_untyped(yes) && is_untyped(no),
        _ => false,
    }
}

/// The real part of a complex literal.
fn complex_part(element: ElementType, value: f64) -> TokenStream {
    if !value.is_finite() {
        return literal(Literal::Float(element.part().unwrap_or(element), value));
    }
    let token = match element {
        ElementType::C32 => Token::f32_unsuffixed(value.abs() as f32),
        _ => Token::f64_unsuffixed(value.abs()),
    };
    if value.is_sign_negative() { quote!(-#token) } else { quote!(#token) }
}

/// A literal of an element type.
pub(super) fn literal(literal: Literal) -> TokenStream {
    let (ty, magnitude) = match literal {
        Literal::Float(element, value) if element.is_complex() => {
            let name = ident(element.name());
            let part = complex_part(element, value);
            return quote!(#name::new(#part, 0.0));
        }
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
            if value < 0 && value == element.range().0 {
                return quote!(#ty::MIN);
            }
            let text = format!("{}{}", value.unsigned_abs(), element.name());
            let token: TokenStream = text.parse().expect("integers are tokens");
            (token.clone(), token)
        }
    };
    if is_signed(literal) { quote!(-#ty) } else { magnitude }
}

/// Whether a range is all of an array.
fn is_whole(array: ArrayId, begin: &Expr, end: &Expr) -> bool {
    *begin == Expr::Index(0) && *end == Expr::Length(array)
}
