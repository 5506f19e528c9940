//! Expressions as CUDA C.

use super::helpers::{defined_name, suffix, wrapping_name};
use super::{Printer, type_name};
use crate::ir::precedence::{Precedence, infix, is_signed, precedence};
use crate::ir::tables::monoid::{LEFT, RIGHT};
use crate::ir::{
    ArrayElement, ArrayId, BinaryOperator, Combine, DimensionId, ElementType, Expr, Function, Literal, ReduceOperator,
    Size, Type, UnaryOperator,
};
use std::collections::BTreeMap;

impl Printer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Index(value) => value.to_string(),
            Expr::Bool(value) => value.to_string(),
            Expr::Literal(value) => literal(*value),
            Expr::Variable(variable) => self.variables[variable].clone(),
            Expr::Dimension(id) => self.dimension(*id),
            Expr::Length(array) => self.lengths[array].clone(),
            Expr::Load(array, index) => {
                let element = self.element(*array, index);
                match self.stored_only(*array) {
                    Some(stored) => format!("{}({element})", self.helpers.read(stored)),
                    None => element,
                }
            }
            Expr::Unary(operator, operand) => self.unary(*operator, operand),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Select(condition, yes, no) => {
                // It binds more loosely than all else.
                let (condition, yes, no) = (self.operand(condition), self.operand(yes), self.operand(no));
                format!("({condition} ? {yes} : {no})")
            }
            Expr::Cast(ty, operand) => self.cast(*ty, operand),
            Expr::Search { array, begin, end, value, stride, .. } => {
                let search = self.helpers.search(self.kernel.array(*array).element, *stride);
                let name = self.arrays[array].clone();
                let (begin, end, value) = (self.expr(begin), self.expr(end), self.expr(value));
                format!("{search}({name}, {begin}, {end}, {value})")
            }
            // The passes of a GPU leave loops, whose places are its threads' affair.
            Expr::Fold(..) => unreachable!("reductions over runs are made for a CPU"),
            Expr::Mask { part, extents } => {
                if let Some((_, name)) = self.masks.iter().find(|(mask, _)| mask == expr) {
                    return name.clone();
                }
                let mask = self.helpers.mask(extents.len());
                let extents: Vec<String> = extents.iter().map(|extent| self.expr(extent)).collect();
                format!("{mask}({part}, {})", extents.join(", "))
            }
        }
    }

    /// An element of an array, as it is stored.
    fn element(&mut self, array: ArrayId, index: &Expr) -> String {
        match self.moved_of(array, index) {
            Some(element) => element,
            None => format!("{}[{}]", self.arrays[&array].clone(), self.expr(index)),
        }
    }

    /// The type of an array's elements, where they are computed with in another.
    pub(super) fn stored_only(&self, array: ArrayId) -> Option<ElementType> {
        match self.kernel.array(array).element {
            ArrayElement::Value(element) if element.is_stored_only() => Some(element),
            _ => None,
        }
    }

    /// A value for an element of an array.
    pub(super) fn stored(&mut self, array: ArrayId, value: &Expr) -> String {
        match (self.stored_only(array), value) {
            (Some(_), Expr::Load(from, index))
                if self.kernel.array(*from).element == self.kernel.array(array).element =>
            {
                self.element(*from, index)
            }
            (Some(element), value) => format!("{}({})", self.helpers.round(element), self.expr(value)),
            (None, value) => self.expr(value),
        }
    }

    /// As an operand of a comparison or of what binds more loosely.
    pub(super) fn operand(&mut self, expr: &Expr) -> String {
        self.at_least(expr, Precedence::Sum)
    }

    fn dimension(&self, id: DimensionId) -> String {
        match self.kernel.dimension(id).size {
            Size::Constant(size) => size.to_string(),
            Size::Runtime | Size::Generic => self.dimensions[&id.0].clone(),
        }
    }

    /// The operand, in parentheses when it binds less tightly than `least`.
    fn at_least(&mut self, operand: &Expr, least: Precedence) -> String {
        let text = self.expr(operand);
        // In C a cast is as tight as a sign, and both are tighter than a product.
        if self.printed_precedence(operand) < least.min(Precedence::Prefix) || is_atom(least) && starts_signed(&text) {
            format!("({text})")
        } else {
            text
        }
    }

    /// The printed precedence, where it is not that of the table: what wraps around prints as a function, casts as in C.
    fn printed_precedence(&self, expr: &Expr) -> Precedence {
        match expr {
            Expr::Binary(operator, left, _) if self.wraps(*operator, left) => Precedence::Atom,
            Expr::Unary(UnaryOperator::Negate, operand) if self.integer(operand).is_some() => Precedence::Atom,
            Expr::Cast(..) => Precedence::Prefix,
            other => precedence(other),
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Expr) -> String {
        match (operator, self.integer(operand)) {
            (UnaryOperator::Negate, Some(element)) => {
                let helper = self.helpers.wrapping("sub", element);
                format!("{helper}(0, {})", self.expr(operand))
            }
            (UnaryOperator::Negate, None) => {
                let text = self.at_least(operand, Precedence::Prefix);
                // `--x` would be a decrement.
                if starts_signed(&text) { format!("-({text})") } else { format!("-{text}") }
            }
            (UnaryOperator::Not, _) => format!("!{}", self.at_least(operand, Precedence::Prefix)),
        }
    }

    fn binary(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) -> String {
        let integer = self.integer(left).filter(|_| self.wraps(operator, left));
        if let Some((element, name)) = integer.zip(wrapping_name(operator)) {
            let helper = self.helpers.wrapping(name, element);
            return format!("{helper}({}, {})", self.expr(left), self.expr(right));
        }
        let is_float = matches!(self.kernel.type_of(left), Ok(Type::Element(element)) if element.is_float());
        if operator == BinaryOperator::Remainder && is_float {
            let name = if self.kernel.type_of(left) == Ok(Type::Element(ElementType::F32)) { "fmodf" } else { "fmod" };
            return format!("{name}({}, {})", self.expr(left), self.expr(right));
        }
        if operator == BinaryOperator::Gather
            && let Some(mask) = self.masks.iter().position(|(mask, _)| mask == right)
        {
            let moves = self.moves[&mask].join(", ");
            let helper = self.helpers.compress_bits();
            return format!("{helper}({}, {}, {moves})", self.index_argument(left), self.expr(right));
        }
        let Some((sign, own)) = infix(operator) else {
            let name = match operator {
                BinaryOperator::Minimum => "min".to_owned(),
                BinaryOperator::Maximum => "max".to_owned(),
                other => self.helpers.of_bits(other),
            };
            return format!("{name}({}, {})", self.index_argument(left), self.index_argument(right));
        };
        let least_left = if own == Precedence::Comparison { own.tighter() } else { own };
        let left = self.at_least(left, least_left);
        // Compilers warn of `a && b || c`, and readers stumble over it.
        let left = if own == Precedence::Or && left.contains("&&") { format!("({left})") } else { left };
        let right = self.at_least(right, own.tighter());
        let right = if own == Precedence::Or && right.contains("&&") { format!("({right})") } else { right };
        format!("{left} {sign} {right}")
    }

    /// An index where its type decides which function is meant.
    fn index_argument(&mut self, expr: &Expr) -> String {
        let text = self.expr(expr);
        let is_wide = match expr {
            Expr::Load(array, _) => {
                self.kernel.array(*array).element == ArrayElement::Index(crate::format::IndexWidth::U64)
            }
            Expr::Variable(_) | Expr::Length(_) | Expr::Search { .. } => true,
            Expr::Dimension(id) => !matches!(self.kernel.dimension(*id).size, Size::Constant(_)),
            Expr::Binary(BinaryOperator::Minimum | BinaryOperator::Maximum, ..) => true,
            _ => false,
        };
        if is_wide { text } else { format!("(u64)({text})") }
    }

    /// Whether the operator prints as a function that wraps around: arithmetic on integer elements.
    fn wraps(&self, operator: BinaryOperator, left: &Expr) -> bool {
        use BinaryOperator::*;
        matches!(operator, Add | Subtract | Multiply | Divide | Remainder) && self.integer(left).is_some()
    }

    /// The type of an element of an integer type; indices are none.
    fn integer(&self, expr: &Expr) -> Option<ElementType> {
        match self.kernel.type_of(expr) {
            Ok(Type::Element(element)) if element.is_integer() => Some(element),
            _ => None,
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) -> String {
        let element = match arguments.first().map(|first| self.kernel.type_of(first)) {
            Some(Ok(Type::Element(element))) => element,
            _ => ElementType::F64,
        };
        let arguments: Vec<String> = arguments.iter().map(|argument| self.expr(argument)).collect();
        self.called(function, element, &arguments)
    }

    /// A function of values of an element type.
    fn called(&mut self, function: Function, element: ElementType, arguments: &[String]) -> String {
        let all = arguments.join(", ");
        match function {
            Function::Complex => return format!("{}{{{all}}}", function.result(element).name()),
            Function::Re | Function::Im => return format!("({all}).{}", function.name()),
            _ if element.is_complex() => return format!("{}({all})", self.helpers.of_complex(function, element)),
            _ => {}
        }
        if element.is_float() {
            let suffix = if element == ElementType::F32 { "f" } else { "" };
            return format!("{}{suffix}({all})", math_name(function));
        }
        match function {
            Function::Min => format!("min({all})"),
            Function::Max => format!("max({all})"),
            // Unsigned numbers have no sign.
            Function::Abs if !element.is_signed() => all,
            _ => format!("{}({all})", self.helpers.wrapping("abs", element)),
        }
    }

    /// To complex numbers with parts of a type, from others part by part.
    fn complex_cast(&mut self, to: ElementType, part: ElementType, operand: &Expr) -> String {
        let (name, part) = (to.name(), part.name());
        match self.kernel.type_of(operand) {
            Ok(Type::Element(from)) if from == to => self.expr(operand),
            Ok(Type::Element(from)) if from.is_complex() => {
                let helper = self.helpers.converted(from, to);
                format!("{helper}({})", self.expr(operand))
            }
            _ => format!("{name}{{({part}){}, 0}}", self.at_least(operand, Precedence::Prefix)),
        }
    }

    fn cast(&mut self, ty: Type, operand: &Expr) -> String {
        if let Type::Element(to) = ty
            && let Some(part) = to.part()
        {
            return self.complex_cast(to, part, operand);
        }
        let from = self.kernel.type_of(operand);
        let to_integer = match ty {
            Type::Index => true,
            Type::Element(element) => element.is_integer(),
            Type::Bool => false,
        };
        if let Ok(Type::Element(from)) = from
            && from.is_float()
            && to_integer
        {
            let helper = self.helpers.saturating(from, type_name(ty));
            return format!("{helper}({})", self.expr(operand));
        }
        format!("({}){}", type_name(ty), self.at_least(operand, Precedence::Prefix))
    }

    /// The function of a declared operator for a type, printed with the helpers.
    pub(super) fn define(&mut self, operator: ReduceOperator, ty: Type) -> String {
        let name = defined_name(operator, ty);
        let Some(Combine::Defined(definition)) = operator.combine(ty) else { return name };
        let kernel = definition.kernel();
        let mut printer = Printer {
            kernel: &kernel,
            function: self.function,
            helpers: &mut *self.helpers,
            namer: crate::backend::cuda::reserved::namer(),
            dimensions: BTreeMap::new(),
            lengths: BTreeMap::new(),
            arrays: BTreeMap::new(),
            variables: BTreeMap::new(),
            masks: Vec::new(),
            moves: BTreeMap::new(),
            extents: BTreeMap::new(),
            team: None,
            moved: Vec::new(),
            out: String::new(),
            depth: 0,
        };
        let (left, right) = (printer.declare_variable(LEFT), printer.declare_variable(RIGHT));
        let value = printer.expr(&definition.value);
        let ty = type_name(ty);
        self.helpers.add(name, |name| {
            format!("static __device__ {ty} {name}({ty} {left}, {ty} {right}) {{\n    return {value};\n}}\n")
        })
    }

    /// `left operator right`, for values of a type.
    pub(super) fn combined(&mut self, operator: ReduceOperator, ty: Type, left: &str, right: &str) -> String {
        let element = match ty {
            Type::Element(element) => Some(element),
            Type::Index | Type::Bool => None,
        };
        let integer = element.filter(|element| element.is_integer());
        match operator.combine(ty).expect("verified reductions are of types that have them") {
            Combine::Operator(binary @ (BinaryOperator::Minimum | BinaryOperator::Maximum)) => {
                let name = if binary == BinaryOperator::Minimum { "min" } else { "max" };
                format!("{name}((u64)({left}), (u64)({right}))")
            }
            Combine::Operator(binary) => match integer.zip(wrapping_name(binary)) {
                Some((integer, name)) => format!("{}({left}, {right})", self.helpers.wrapping(name, integer)),
                None => format!("{left} {operator} {right}"),
            },
            Combine::Function(function) => {
                let element = element.expect("indices have no functions");
                self.called(function, element, &[left.to_owned(), right.to_owned()])
            }
            Combine::Defined(_) => {
                let function = self.define(operator, ty);
                format!("{function}({left}, {right})")
            }
        }
    }
}

fn is_atom(precedence: Precedence) -> bool {
    precedence == Precedence::Atom
}

fn starts_signed(text: &str) -> bool {
    text.starts_with('-')
}

/// What CUDA calls a function of floating point numbers; that of `f32` ends in `f`.
fn math_name(function: Function) -> &'static str {
    match function {
        Function::Min => "fmin",
        Function::Max => "fmax",
        Function::Abs => "fabs",
        Function::Ln => "log",
        other => other.name(),
    }
}

/// A literal of an element type.
pub(super) fn literal(literal: Literal) -> String {
    let sign = if is_signed(literal) { "-" } else { "" };
    match literal {
        Literal::Float(element, value) if element.is_complex() => {
            let part = self::literal(Literal::Float(element.part().unwrap_or(element), value));
            format!("{}{{{part}, 0}}", element.name())
        }
        Literal::Float(element, value) => {
            let is_single = element == ElementType::F32;
            if value.is_nan() || value.is_infinite() {
                let bits = match (is_single, value.is_nan()) {
                    (true, true) => "__int_as_float(0x7fc00000)",
                    (true, false) => "__int_as_float(0x7f800000)",
                    (false, true) => "__longlong_as_double(0x7ff8000000000000ll)",
                    (false, false) => "__longlong_as_double(0x7ff0000000000000ll)",
                };
                return format!("{sign}{bits}");
            }
            let suffix = if is_single { "f" } else { "" };
            let digits = if is_single { format!("{:?}", value.abs() as f32) } else { format!("{:?}", value.abs()) };
            format!("{sign}{digits}{suffix}")
        }
        Literal::Integer(ElementType::Bool, value) => (value != 0).to_string(),
        Literal::Integer(element, value) if value < 0 && element.bytes() >= 4 && value == element.range().0 => {
            format!("({}{} - 1)", value + 1, suffix(element))
        }
        Literal::Integer(element, value) => format!("{sign}{}{}", value.unsigned_abs(), suffix(element)),
    }
}
