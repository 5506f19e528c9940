//! Expressions as C.

use super::helpers::{make_complex, wrapping_name};
use super::{Held, Printer, type_name, value_name};
use crate::ir::precedence::{Precedence, infix, is_signed, precedence};
use crate::ir::tables::monoid::{LEFT, RIGHT};
use crate::ir::{
    ArrayElement, ArrayId, BinaryOperator, Combine, DimensionId, ElementType, Expr, Factor, Function, Literal,
    ReduceOperator, Size, Term, Type, UnaryOperator,
};

/// So many terms of `f32` are added up before their sum goes into a wider one.
const PART: usize = 4096;

impl Printer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Index(value) if *value > i64::MAX as u64 => format!("{value}u"),
            Expr::Index(value) => value.to_string(),
            Expr::Bool(value) => value.to_string(),
            Expr::Literal(value) => literal(*value),
            Expr::Variable(variable) => self.variables[variable].clone(),
            Expr::Dimension(id) => self.dimension(*id),
            Expr::Length(array) => self.length(*array),
            Expr::Load(array, index) => {
                let index = self.expr(index);
                let element = self.element(*array, &index);
                match self.stored_only(*array) {
                    Some(stored) => self.read(stored, &element),
                    None => element,
                }
            }
            Expr::Unary(operator, operand) => self.unary(*operator, operand),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Select(condition, yes, no) => {
                let (condition, yes, no) = (self.operand(condition), self.operand(yes), self.operand(no));
                format!("({condition} ? {yes} : {no})")
            }
            Expr::Cast(ty, operand) => self.cast(*ty, operand),
            Expr::Search { array, begin, end, value, stride, .. } => {
                let search = self.helpers.search(self.kernel.array(*array).element);
                let array = self.pointer(*array, "0");
                let (begin, end, value) = (self.expr(begin), self.expr(end), self.expr(value));
                format!("{search}({array}, {begin}, {end}, {value}, {stride})")
            }
            Expr::Mask { part, extents } => {
                self.helpers.mask();
                let count = extents.len();
                let extents: Vec<String> = extents.iter().map(|extent| self.expr(extent)).collect();
                format!("spc_mask({part}, {count}, (const uint64_t[]){{{}}})", extents.join(", "))
            }
            Expr::Fold(operator, term) => self.fold(*operator, term),
        }
    }

    /// An element of an array, as a place.
    pub(super) fn element(&mut self, array: ArrayId, index: &str) -> String {
        match &self.arrays[&array] {
            Held::Elements(name) => format!("{name}[{index}]"),
            Held::Vector(vector) => {
                let ty = super::element_name(self.kernel.array(array).element);
                format!("(({ty} *){vector}.data)[{index}]")
            }
            Held::Segments { .. } => format!("(*{})", self.pointer(array, index)),
            Held::Numbers { codes, mask } => format!("spc_gather({codes}[{index}], {mask})"),
        }
    }

    /// Where an element of an array lies, and those behind it.
    pub(super) fn pointer(&mut self, array: ArrayId, index: &str) -> String {
        match self.arrays[&array].clone() {
            Held::Elements(name) if index == "0" => name,
            Held::Elements(name) => format!("{name} + {index}"),
            Held::Vector(_) => format!("&{}", self.element(array, index)),
            Held::Segments { whole, end, next } => {
                format!("({index} < {end} ? {whole} + ({index}) : {next} + ({index} - {end}))")
            }
            Held::Numbers { .. } => unreachable!("numbers are computed where they are read"),
        }
    }

    /// How many elements an array has.
    pub(super) fn length(&mut self, array: ArrayId) -> String {
        match &self.arrays[&array] {
            Held::Vector(vector) => format!("{vector}.length"),
            _ => self.lengths[&array].clone(),
        }
    }

    /// The type of an array's elements, where they are computed with in another.
    fn stored_only(&self, array: ArrayId) -> Option<ElementType> {
        match self.kernel.array(array).element {
            ArrayElement::Value(element) if element.is_stored_only() => Some(element),
            _ => None,
        }
    }

    fn read(&mut self, stored: ElementType, element: &str) -> String {
        self.helpers.half();
        format!("spc_f32_of_{}({element})", stored.name())
    }

    /// A value for an element of an array.
    pub(super) fn stored(&mut self, array: ArrayId, value: &Expr) -> String {
        if let (Some(_), Expr::Load(from, index)) = (self.stored_only(array), value)
            && self.kernel.array(*from).element == self.kernel.array(array).element
        {
            let index = self.expr(index);
            return self.element(*from, &index);
        }
        let value = match (self.kernel.array(array).element, value) {
            (ArrayElement::Index(_), Expr::Index(_)) | (ArrayElement::Value(_), _) => self.expr(value),
            (held @ ArrayElement::Index(_), value) => {
                format!("({}){}", super::element_name(held), self.at_least(value, Precedence::Prefix))
            }
        };
        self.rounded(array, value)
    }

    /// A value that was computed, for an element of an array.
    pub(super) fn rounded(&mut self, array: ArrayId, value: String) -> String {
        match self.stored_only(array) {
            Some(element) => {
                self.helpers.half();
                format!("spc_{}_of_f32({value})", element.name())
            }
            None => value,
        }
    }

    /// As an operand of a comparison or of what binds more loosely.
    pub(super) fn operand(&mut self, expr: &Expr) -> String {
        self.at_least(expr, Precedence::Sum)
    }

    pub(super) fn dimension(&self, id: DimensionId) -> String {
        match self.kernel.dimension(id).size {
            Size::Constant(size) => size.to_string(),
            Size::Runtime | Size::Generic => self.dimensions[&id].clone(),
        }
    }

    /// The operand, in parentheses when it binds less tightly than `least`.
    pub(super) fn at_least(&mut self, operand: &Expr, least: Precedence) -> String {
        let text = self.expr(operand);
        // In C a cast is as tight as a sign, and both are tighter than a product.
        let is_loose = self.printed_precedence(operand) < least.min(Precedence::Prefix);
        if is_loose || least == Precedence::Atom && text.starts_with('-') { format!("({text})") } else { text }
    }

    /// The printed precedence, where it is not that of the table: what wraps around prints as a function, casts as in C.
    fn printed_precedence(&self, expr: &Expr) -> Precedence {
        match expr {
            Expr::Binary(operator, left, _) if self.is_called(*operator, left) => Precedence::Atom,
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
                if text.starts_with('-') { format!("-({text})") } else { format!("-{text}") }
            }
            (UnaryOperator::Not, _) => format!("!{}", self.at_least(operand, Precedence::Prefix)),
        }
    }

    fn binary(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) -> String {
        let element = self.element_of(left);
        if self.is_called(operator, left) {
            let (left, right) = (self.expr(left), self.expr(right));
            return self.called_operator(operator, element, &left, &right);
        }
        let Some((sign, own)) = infix(operator) else { unreachable!("what has no sign is called") };
        let least_left = if own == Precedence::Comparison { own.tighter() } else { own };
        let left = self.at_least(left, least_left);
        // Compilers warn of `a && b || c`, and readers stumble over it.
        let left = if own == Precedence::Or && left.contains("&&") { format!("({left})") } else { left };
        let right = self.at_least(right, own.tighter());
        let right = if own == Precedence::Or && right.contains("&&") { format!("({right})") } else { right };
        format!("{left} {sign} {right}")
    }

    /// Whether an operator prints as the call of a function.
    fn is_called(&self, operator: BinaryOperator, left: &Expr) -> bool {
        use BinaryOperator::*;
        match self.element_of(left) {
            Some(element) if element.is_integer() => wrapping_name(operator).is_some(),
            Some(element) if element.is_complex() => matches!(operator, Multiply | Divide),
            Some(element) if element.is_float() => operator == Remainder,
            _ => matches!(operator, Minimum | Maximum | Gather | Scatter | Rank),
        }
    }

    /// An operator of two texts that prints as the call of a function.
    fn called_operator(
        &mut self,
        operator: BinaryOperator,
        element: Option<ElementType>,
        left: &str,
        right: &str,
    ) -> String {
        let name = match (element, operator) {
            (Some(element), _) if element.is_integer() => {
                self.helpers.wrapping(wrapping_name(operator).unwrap_or_default(), element)
            }
            (Some(element), _) if element.is_complex() => {
                self.helpers.of_complex(operator, element).unwrap_or_default()
            }
            (Some(element), _) => if element == ElementType::F32 { "fmodf" } else { "fmod" }.to_owned(),
            (None, BinaryOperator::Minimum) => self.helpers.extreme(Function::Min, Type::Index, false),
            (None, BinaryOperator::Maximum) => self.helpers.extreme(Function::Max, Type::Index, false),
            (None, other) => self.helpers.of_bits(other).to_owned(),
        };
        format!("{name}({left}, {right})")
    }

    /// The element type of an expression; indices and conditions have none.
    pub(super) fn element_of(&self, expr: &Expr) -> Option<ElementType> {
        match self.kernel.type_of(expr) {
            Ok(Type::Element(element)) => Some(element),
            _ => None,
        }
    }

    /// The type of an element of an integer type; indices are none.
    fn integer(&self, expr: &Expr) -> Option<ElementType> {
        self.element_of(expr).filter(|element| element.is_integer())
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) -> String {
        let element = arguments.first().and_then(|first| self.element_of(first)).unwrap_or(ElementType::F64);
        let arguments: Vec<String> = arguments.iter().map(|argument| self.expr(argument)).collect();
        self.called(function, element, &arguments)
    }

    /// A function of values of an element type.
    fn called(&mut self, function: Function, element: ElementType, arguments: &[String]) -> String {
        let all = arguments.join(", ");
        let f = if matches!(element, ElementType::F32 | ElementType::C32) { "f" } else { "" };
        match function {
            Function::Complex => format!("{}({all})", make_complex(function.result(element))),
            Function::Re => format!("creal{f}({all})"),
            Function::Im => format!("cimag{f}({all})"),
            Function::Conj => format!("conj{f}({all})"),
            _ if element.is_complex() => format!("c{}{f}({all})", function.name()),
            Function::Min | Function::Max => {
                format!("{}({all})", self.helpers.extreme(function, Type::Element(element), false))
            }
            _ if element.is_float() => format!("{}{f}({all})", math_name(function)),
            // Unsigned numbers have no sign.
            Function::Abs if !element.is_signed() => all,
            _ => format!("{}({all})", self.helpers.wrapping("abs", element)),
        }
    }

    fn cast(&mut self, ty: Type, operand: &Expr) -> String {
        let from = self.element_of(operand);
        if let Type::Element(to) = ty
            && to.is_complex()
        {
            let name = value_name(to);
            return match from {
                Some(from) if from == to => self.expr(operand),
                Some(from) if from.is_complex() => format!("({name}){}", self.at_least(operand, Precedence::Prefix)),
                _ => {
                    let part = value_name(to.part().unwrap_or(to));
                    let value = self.at_least(operand, Precedence::Prefix);
                    format!("{}(({part}){value}, 0)", make_complex(to))
                }
            };
        }
        let is_whole = match ty {
            Type::Index => true,
            Type::Element(element) => element.is_integer(),
            Type::Bool => false,
        };
        if let Some(from) = from.filter(|from| from.is_float() && is_whole) {
            let helper = self.helpers.saturating(from, ty);
            return format!("{helper}({})", self.expr(operand));
        }
        format!("({}){}", type_name(ty), self.at_least(operand, Precedence::Prefix))
    }

    /// The function of a declared operator for a type.
    fn define(&mut self, operator: ReduceOperator, ty: Type) -> String {
        let Some(Combine::Defined(definition)) = operator.combine(ty) else {
            unreachable!("only a declared operator is defined")
        };
        // Two texts may declare one name.
        let kernel = definition.kernel();
        let mut printer = Printer::new(&kernel, self.helpers);
        let (left, right) = (printer.declare_variable(LEFT), printer.declare_variable(RIGHT));
        let value = printer.expr(&definition.value);
        let ty = type_name(ty);
        let text = format!("static inline {ty} NAME({ty} {left}, {ty} {right}) {{\n    return {value};\n}}\n");
        self.helpers.add_fold(&text)
    }

    /// `left operator right`, for values of a type; `is_ordered` says that the left one is never NaN.
    pub(super) fn combined(
        &mut self,
        operator: ReduceOperator,
        ty: Type,
        (left, right): (&str, &str),
        is_ordered: bool,
    ) -> String {
        let element = match ty {
            Type::Element(element) => Some(element),
            Type::Index | Type::Bool => None,
        };
        match operator.combine(ty).expect("verified reductions are of types that have them") {
            Combine::Operator(binary) => {
                let is_called = match element {
                    Some(element) if element.is_integer() => wrapping_name(binary).is_some(),
                    Some(element) if element.is_complex() => binary == BinaryOperator::Multiply,
                    _ => binary.printed().is_none(),
                };
                match is_called {
                    true => self.called_operator(binary, element, left, right),
                    false => format!("{left} {} ({right})", binary.symbol()),
                }
            }
            Combine::Function(function @ (Function::Min | Function::Max)) => {
                format!("{}({left}, {right})", self.helpers.extreme(function, ty, is_ordered))
            }
            Combine::Function(function) => {
                let element = element.expect("indices have no functions");
                self.called(function, element, &[left.to_owned(), right.to_owned()])
            }
            Combine::Defined(_) => format!("{}({left}, {right})", self.define(operator, ty)),
        }
    }
}

/// A reduction over runs as a function: what it is given, and how it computes a term.
pub(super) struct Folded {
    /// Its parameters.
    pub(super) parameters: Vec<String>,
    /// What a call passes for them.
    pub(super) arguments: Vec<String>,
    /// The type of terms and totals.
    pub(super) ty: Type,
    /// The operator's identity.
    pub(super) identity: String,
    /// The term at the place `n`.
    term: String,
    /// What holds where there is a term.
    condition: Option<String>,
}

impl Printer<'_> {
    /// What the function of a reduction has.
    pub(super) fn folded(&mut self, operator: ReduceOperator, term: &Term) -> Folded {
        let first = term.factors().first().copied().expect("verified: something is loaded");
        let ArrayElement::Value(element) = self.kernel.array(first.values()).element else {
            unreachable!("verified: terms are of values")
        };
        let element = element.computed();
        let identity = literal(operator.identity(element).expect("verified: it has one"));
        let mut folded = Folded {
            parameters: Vec::new(),
            arguments: Vec::new(),
            ty: Type::of(element),
            identity,
            term: String::new(),
            condition: None,
        };
        folded.term = self.term(term, element, &mut folded);
        folded
    }

    fn given_run(&mut self, array: ArrayId, folded: &mut Folded) -> String {
        let ty = super::element_name(self.kernel.array(array).element);
        let argument = self.pointer(array, "0");
        self.given(&format!("const {ty} *restrict"), argument, folded)
    }

    /// A parameter of a function for an argument; one that is there already for an equal one.
    fn given(&mut self, ty: &str, argument: String, folded: &mut Folded) -> String {
        if let Some(place) = folded.arguments.iter().position(|other| *other == argument) {
            return format!("p{place}");
        }
        let name = format!("p{}", folded.arguments.len());
        folded.parameters.push(format!("{ty} {name}"));
        folded.arguments.push(argument);
        name
    }

    fn term(&mut self, term: &Term, element: ElementType, folded: &mut Folded) -> String {
        match term {
            Term::Load(Factor::Run(run)) => {
                let value = if let Held::Numbers { .. } = self.arrays[run] {
                    unreachable!("verified: runs are of values")
                } else {
                    format!("{}[n]", self.given_run(*run, folded))
                };
                self.loaded(*run, value)
            }
            Term::Load(Factor::At { of, run, filled }) => {
                let (values, places) = (self.given_run(*of, folded), self.given_run(*run, folded));
                if *filled {
                    let ty = super::element_name(self.kernel.array(*run).element);
                    folded.condition = Some(format!("{places}[n] != ({ty})-1"));
                }
                self.loaded(*of, format!("{values}[{places}[n]]"))
            }
            Term::Same(value) => {
                let value = self.expr(value);
                self.given(type_name(Type::of(element)), value, folded)
            }
            Term::Binary(operator, left, right) => {
                let (left, right) = (self.term(left, element, folded), self.term(right, element, folded));
                match element.is_integer() && wrapping_name(*operator).is_some() {
                    true => self.called_operator(*operator, Some(element), &left, &right),
                    false => format!("({left} {} {right})", operator.symbol()),
                }
            }
            Term::Call(function, left, right) => {
                let arguments = [self.term(left, element, folded), self.term(right, element, folded)];
                self.called(*function, element, &arguments)
            }
        }
    }

    fn loaded(&mut self, array: ArrayId, value: String) -> String {
        match self.stored_only(array) {
            Some(stored) => self.read(stored, &value),
            None => value,
        }
    }

    /// The lines of a loop that combines terms at the places `first..end` into a variable `total`.
    pub(super) fn fold_loop(&mut self, operator: ReduceOperator, folded: &Folded, places: [&str; 2]) -> String {
        let [first, end] = places;
        let ty = folded.ty;
        let is_rounded = matches!(ty, Type::Element(element) if element.is_float());
        let simd = match operator {
            ReduceOperator::Add if is_rounded => "#pragma omp simd reduction(+ : total)\n",
            ReduceOperator::Multiply if is_rounded => "#pragma omp simd reduction(* : total)\n",
            _ => "",
        };
        let combined = self.combined(operator, ty, ("total", &folded.term), true);
        let guard = folded.condition.as_ref().map_or(String::new(), |condition| format!("if ({condition}) "));
        let step = format!("for (size_t n = {first}; n < {end}; n++) {guard}total = {combined};\n");
        format!("{simd}{step}")
    }

    fn fold(&mut self, operator: ReduceOperator, term: &Term) -> String {
        let folded = self.folded(operator, term);
        let first = term.factors()[0].run();
        let length = self.length(first);
        let name = self.fold_function(operator, &folded);
        let mut arguments = folded.arguments;
        arguments.extend(["0".to_owned(), length]);
        format!("{name}({})", arguments.join(", "))
    }

    /// The function that combines the terms at the places of a range.
    pub(super) fn fold_function(&mut self, operator: ReduceOperator, folded: &Folded) -> String {
        let ty = type_name(folded.ty);
        let mut parameters = folded.parameters.clone();
        parameters.extend(["size_t first".to_owned(), "size_t end".to_owned()]);
        let (parameters, identity) = (parameters.join(", "), &folded.identity);
        let is_single = folded.ty == Type::Element(ElementType::F32) && operator == ReduceOperator::Add;
        let text = if is_single {
            // Long sums are added up in parts, in wider numbers.
            let step = self.fold_loop(operator, folded, ["first", "stop"]);
            format!(
                "static inline float NAME({parameters}) {{
    double sum = 0;
    do {{
        const size_t stop = end > first + {PART} ? first + {PART} : end;
        float total = 0;
{}        sum += total;
        first += {PART};
    }} while (first < end);
    return (float)sum;
}}
",
                indented(&step, 2)
            )
        } else {
            let step = self.fold_loop(operator, folded, ["first", "end"]);
            format!(
                "static inline {ty} NAME({parameters}) {{\n    {ty} total = {identity};\n{}    return total;\n}}\n",
                indented(&step, 1)
            )
        };
        self.helpers.add_fold(&text)
    }
}

/// Lines further to the right, but for those of the preprocessor.
pub(super) fn indented(text: &str, depth: usize) -> String {
    let line = |line: &str| match line.starts_with('#') {
        true => format!("{line}\n"),
        false => format!("{:width$}{line}\n", "", width = 4 * depth),
    };
    text.lines().map(line).collect()
}

/// What C calls a function of floating point numbers; that of `float` ends in `f`.
fn math_name(function: Function) -> &'static str {
    match function {
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
            format!("{}({part}, 0)", make_complex(element))
        }
        Literal::Float(_, value) if value.is_nan() => "NAN".to_owned(),
        Literal::Float(_, value) if value.is_infinite() => format!("{sign}INFINITY"),
        Literal::Float(ElementType::F32, value) => format!("{sign}{:?}f", value.abs() as f32),
        Literal::Float(_, value) => format!("{sign}{:?}", value.abs()),
        Literal::Integer(ElementType::Bool, value) => (value != 0).to_string(),
        Literal::Integer(element, value) => {
            let suffix = match (element.is_signed(), element.bytes()) {
                (true, 8) => "ll",
                (false, 8) => "ull",
                (false, 4) => "u",
                _ => "",
            };
            // The least number of a type is no literal of it.
            match value < 0 && element.bytes() >= 4 && value == element.range().0 {
                true => format!("({}{suffix} - 1)", value + 1),
                false => format!("{sign}{}{suffix}", value.unsigned_abs()),
            }
        }
    }
}
