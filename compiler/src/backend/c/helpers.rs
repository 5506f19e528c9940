//! What kernels call and C does not have: printed in front of them, where it is used, each behind what it calls itself.

use super::{element_name, type_name, value_name};
use crate::ir::{ArrayElement, BinaryOperator, ElementType, Function, Type};

/// The functions that were asked for, by name, in an order in which each comes after those that it calls.
#[derive(Default)]
pub(super) struct Helpers {
    functions: Vec<(String, String)>,
    folds: usize,
}

impl Helpers {
    /// Their text.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self.functions.iter().map(|(_, text)| text.as_str()).collect();
        texts.join("\n")
    }

    /// Adds a function, unless it is there; its name.
    pub(super) fn add(&mut self, name: String, text: impl FnOnce(&str) -> String) -> String {
        if self.functions.iter().all(|(other, _)| *other != name) {
            let text = text(&name);
            self.functions.push((name.clone(), text));
        }
        name
    }

    /// Adds a function that differs from others by what it does: `text` with `NAME` in place of its own name.
    pub(super) fn add_fold(&mut self, text: &str) -> String {
        let known = self.functions.iter().find(|(name, other)| *other == text.replace("NAME", name));
        if let Some((name, _)) = known {
            return name.clone();
        }
        self.folds += 1;
        let name = format!("spc_fold_{}", self.folds);
        self.functions.push((name.clone(), text.replace("NAME", &name)));
        name
    }

    fn fixed(&mut self, name: &str, text: &str) {
        self.add(name.to_owned(), |_| text.to_owned());
    }

    /// A text for one type of elements.
    fn of_type(&mut self, name: &str, suffix: &str, ty: &str, text: &str) -> String {
        self.add(format!("spc_{name}_{suffix}"), |_| text.replace("NAME", suffix).replace("TYPE", ty))
    }

    pub(super) fn stop(&mut self) {
        self.fixed("stop", include_str!("text/failed.c"));
    }

    /// Memory for an array, for elements of a type.
    pub(super) fn memory(&mut self) {
        self.stop();
        self.fixed("memory", include_str!("text/memory.c"));
    }

    pub(super) fn product(&mut self) {
        self.stop();
        self.fixed("product", include_str!("text/product.c"));
    }

    fn reserve(&mut self) {
        self.stop();
        self.fixed("reserve", include_str!("text/reserve.c"));
    }

    pub(super) fn push(&mut self, held: ArrayElement) -> String {
        self.reserve();
        self.of_type("push", suffix(held), element_name(held), include_str!("text/push.c"))
    }

    pub(super) fn extend(&mut self, held: ArrayElement) -> String {
        self.reserve();
        self.of_type("extend", suffix(held), element_name(held), include_str!("text/extend.c"))
    }

    pub(super) fn chunks(&mut self) {
        self.memory();
        self.fixed("threads", include_str!("text/threads.c"));
        self.fixed("chunks", include_str!("text/chunks.c"));
    }

    pub(super) fn join(&mut self) {
        self.memory();
        self.reserve();
        self.fixed("join", include_str!("text/join.c"));
    }

    pub(super) fn join_positions(&mut self, held: ArrayElement) -> String {
        self.join();
        self.of_type("join_positions", suffix(held), element_name(held), include_str!("text/join_positions.c"))
    }

    pub(super) fn search(&mut self, held: ArrayElement) -> String {
        self.of_type("search", suffix(held), element_name(held), include_str!("text/search.c"))
    }

    pub(super) fn sort(&mut self, keys: ArrayElement, places: ArrayElement) -> String {
        self.memory();
        self.reserve();
        let text = include_str!("text/sort.c").replace("PLACE", element_name(places));
        let suffix = format!("{}_{}", suffix(keys), suffix(places));
        self.of_type("sort", &suffix, element_name(keys), &text)
    }

    pub(super) fn table(&mut self, keys: ArrayElement) {
        self.memory();
        self.fixed("table", include_str!("text/table.c"));
        self.push(keys);
        self.of_type("insert", suffix(keys), element_name(keys), include_str!("text/insert.c"));
    }

    pub(super) fn bitmap(&mut self) {
        self.memory();
        self.fixed("bitmap", include_str!("text/bitmap.c"));
    }

    /// Vectors of elements, where the compiler has some.
    pub(super) fn lanes(&mut self) {
        self.fixed("lanes", include_str!("text/lanes.c"));
    }

    /// A vector of so many elements.
    pub(super) fn vector(&mut self, element: ElementType, lanes: u64) -> String {
        self.lanes();
        let ty = value_name(element);
        self.add(format!("spc_{}x{lanes}", element.name()), |name| {
            format!("typedef SPC_VECTOR_OF({ty}, {lanes}) {name};\n")
        })
    }

    pub(super) fn mask(&mut self) {
        self.fixed("mask", include_str!("text/mask.c"));
    }

    /// Bits moved from the ones of a mask, or to them; or counted.
    pub(super) fn of_bits(&mut self, operator: BinaryOperator) -> &'static str {
        if operator == BinaryOperator::Rank {
            self.fixed("rank", include_str!("text/rank.c"));
            return "spc_rank";
        }
        self.fixed("bits", include_str!("text/bits.c"));
        if operator == BinaryOperator::Gather { "spc_gather" } else { "spc_scatter" }
    }

    /// What reads and rounds numbers of two bytes.
    pub(super) fn half(&mut self) {
        self.fixed("half", include_str!("text/half.c"));
    }

    /// Integer arithmetic that wraps around: `add`, `sub`, `mul`, `div`, `rem` and `abs`.
    pub(super) fn wrapping(&mut self, operation: &str, element: ElementType) -> String {
        let ty = value_name(element);
        // What is computed without a sign wraps around.
        let unsigned = if element.bytes() == 8 { "uint64_t" } else { "uint32_t" };
        let infix = |sign: &str| format!("return ({ty})(({unsigned})a {sign} ({unsigned})b);");
        // The least number divided by minus one is not a number of its type.
        let divided = |sign: &str, least: &str, what: &str| {
            let guard = if element.is_signed() { format!("    if (b == -1) return {least};\n") } else { String::new() };
            format!("if (b == 0) SPC_STOP(\"attempt to {what}\");\n{guard}    return ({ty})(a {sign} b);")
        };
        let body = match operation {
            "add" => infix("+"),
            "sub" => infix("-"),
            "mul" => infix("*"),
            "div" => divided("/", &format!("({ty})(0 - ({unsigned})a)"), "divide by zero"),
            "rem" => divided("%", "0", "calculate the remainder with a divisor of zero"),
            _ => format!("return a < 0 ? ({ty})(0 - ({unsigned})a) : a;"),
        };
        if matches!(operation, "div" | "rem") {
            self.stop();
        }
        let parameters = if operation == "abs" { format!("{ty} a") } else { format!("{ty} a, {ty} b") };
        self.add(format!("spc_{operation}_{}", element.name()), |name| {
            format!("static inline {ty} {name}({parameters}) {{\n    {body}\n}}\n")
        })
    }

    /// The lesser or greater of two values. Of a number and NaN it is the number, where the first may be NaN; -0 is less than 0.
    pub(super) fn extreme(&mut self, function: Function, ty: Type, is_ordered: bool) -> String {
        let sign = if function == Function::Min { "<" } else { ">" };
        let is_float = matches!(ty, Type::Element(element) if element.is_float());
        let zeros = match (is_float, function) {
            (false, _) => "",
            (true, Function::Min) => " || (b == a && signbit(b))",
            (true, _) => " || (b == a && !signbit(b))",
        };
        let (word, nan) = match (is_float, is_ordered) {
            (true, false) => (function.name().to_owned(), " || a != a"),
            (true, true) => (format!("{}_ordered", function.name()), ""),
            (false, _) => (function.name().to_owned(), ""),
        };
        let suffix = if ty == Type::Index { "index".to_owned() } else { type_of(ty).name().to_owned() };
        let ty = type_name(ty);
        self.add(format!("spc_{word}_{suffix}"), |name| {
            format!("static inline {ty} {name}({ty} a, {ty} b) {{\n    return b {sign} a{zeros}{nan} ? b : a;\n}}\n")
        })
    }

    /// Products and quotients of complex numbers, by their parts.
    pub(super) fn of_complex(&mut self, operator: BinaryOperator, element: ElementType) -> Option<String> {
        let (ty, part) = (value_name(element), value_name(element.part()?));
        let f = if element == ElementType::C32 { "f" } else { "" };
        let make = make_complex(element);
        let parts = format!(
            "    const {part} a_re = creal{f}(a), a_im = cimag{f}(a), b_re = creal{f}(b), b_im = cimag{f}(b);\n"
        );
        let (word, value) = match operator {
            BinaryOperator::Multiply => {
                ("mul", format!("    return {make}(a_re * b_re - a_im * b_im, a_re * b_im + a_im * b_re);\n"))
            }
            BinaryOperator::Divide => {
                self.fixed("quotient", include_str!("text/quotient.c"));
                let value = format!(
                    "    double parts[2];
    spc_quotient(a_re, a_im, b_re, b_im, parts);
    return {make}(({part})parts[0], ({part})parts[1]);\n"
                );
                ("div", value)
            }
            _ => return None,
        };
        Some(self.add(format!("spc_{word}_{}", element.name()), |name| {
            format!("static inline {ty} {name}({ty} a, {ty} b) {{\n{parts}{value}}}\n")
        }))
    }

    /// A floating point number as the nearest integer towards zero that there is: zero for NaN.
    pub(super) fn saturating(&mut self, from: ElementType, to: Type) -> String {
        let element = if to == Type::Index { ElementType::U64 } else { type_of(to) };
        let (least, greatest) = element.range();
        let (number, ty) = (value_name(from), type_name(to));
        let (below, beyond) = (format!("{least}.0"), format!("{}.0", greatest + 1));
        let most = if least < 0 { format!("{greatest}ll") } else { format!("{greatest}ull") };
        let lowest = if least < 0 { format!("({}ll - 1)", least + 1) } else { "0".to_owned() };
        let suffix = if to == Type::Index { "index" } else { element.name() };
        self.add(format!("spc_{suffix}_of_{}", from.name()), |name| {
            format!(
                "static inline {ty} {name}({number} value) {{
    if (!(value > ({number}){below})) return ({ty})(value != value ? 0 : {lowest});
    return ({ty})(value >= ({number}){beyond} ? ({ty}){most} : ({ty})value);
}}
"
            )
        })
    }
}

/// What the names of functions for elements of an array end with.
pub(super) fn suffix(held: ArrayElement) -> &'static str {
    match held {
        ArrayElement::Index(width) => width.name(),
        ArrayElement::Value(element) => element.name(),
    }
}

/// The macro that makes a complex number of its parts.
pub(super) fn make_complex(element: ElementType) -> &'static str {
    if element == ElementType::C32 { "CMPLXF" } else { "CMPLX" }
}

/// What integer arithmetic that wraps around is called.
pub(super) fn wrapping_name(operator: BinaryOperator) -> Option<&'static str> {
    match operator {
        BinaryOperator::Add => Some("add"),
        BinaryOperator::Subtract => Some("sub"),
        BinaryOperator::Multiply => Some("mul"),
        BinaryOperator::Divide => Some("div"),
        BinaryOperator::Remainder => Some("rem"),
        _ => None,
    }
}

fn type_of(ty: Type) -> ElementType {
    match ty {
        Type::Element(element) => element,
        Type::Bool => ElementType::Bool,
        Type::Index => ElementType::U64,
    }
}
