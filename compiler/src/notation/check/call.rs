//! Functions: their arguments and the element types that they are defined for.

use super::functions::{self, Form};
use super::indices::Counted;
use super::value::{Values, not_converted};
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes, suggest, words};
use crate::ir::{ElementType, Function, Literal, ReduceOperator};
use crate::notation::{Access, BinaryOperator, Expr, Reading};
use crate::syntax::{self, ExprKind, Ident, neighbours};

impl<'s> Values<'_, 's> {
    /// A function of elements, `select`, a conversion; `element` is the type of its value.
    pub(super) fn call(
        &mut self,
        name: &'s Ident,
        arguments: &'s [syntax::Expr],
        element: ElementType,
        span: Span,
    ) -> Option<Expr> {
        let Some(entry) = functions::find(&name.name) else {
            arguments.iter().for_each(|argument| drop(self.value(argument, element)));
            self.found.push(unknown_function(name, None));
            return None;
        };
        let asks_for_mode = entry.form == Form::Extent && arguments.len() == 2;
        if arguments.len() != entry.arguments && !asks_for_mode {
            let plain = |argument| self.kind(argument).unwrap_or(element);
            let kinds: Vec<ElementType> = arguments.iter().map(plain).collect();
            arguments.iter().zip(kinds).for_each(|(argument, kind)| drop(self.value(argument, kind)));
            self.found.push(argument_count(&entry, arguments.len(), span));
            return None;
        }
        match (entry.form, arguments) {
            (Form::Function(function), _) => self.function(&entry, function, arguments, element, name.span),
            (Form::Conversion(to), [operand]) => self.conversion(to, operand),
            (Form::Select, [condition, yes, no]) => {
                let condition = self.condition(condition);
                // What is missing is not divided by where a condition says that it is there.
                let asks = |known: &Expr| known.accesses().iter().any(|access| access.reads == Reading::Stored);
                let masked = self.masked;
                self.masked |= condition.as_ref().is_some_and(asks);
                let yes = self.value(yes, element);
                self.masked = masked;
                let no = self.value(no, element);
                Some(Expr::Select(Box::new(condition?), Box::new(yes?), Box::new(no?)))
            }
            (Form::Sign, [operand]) => self.sign(operand, element, name.span),
            (Form::Stored, [place]) => self.stored(place),
            (Form::Extent, _) => self.extent(arguments, element, span),
            _ => None,
        }
    }

    fn function(
        &mut self,
        entry: &functions::Entry,
        function: Function,
        arguments: &'s [syntax::Expr],
        element: ElementType,
        span: Span,
    ) -> Option<Expr> {
        // What has no type of its own takes the one that makes the function's value what it must be.
        let own = self.common(arguments).unwrap_or_else(|| function.argument(element));
        // Every argument is checked before the first problem counts.
        let checked: Vec<Option<Expr>> = arguments.iter().map(|argument| self.value(argument, own)).collect();
        if !function.is_defined(own) || function == Function::Abs && !functions::signed(own) {
            self.found.push(undefined_function(entry, own, &arguments[0], span));
            return None;
        }
        Some(Expr::Call(function, checked.into_iter().collect::<Option<_>>()?))
    }

    /// `f32(x(i))`: as Rust's `as`; truth values are 0 and 1, and numbers true where they are not zero.
    fn conversion(&mut self, to: ElementType, operand: &'s syntax::Expr) -> Option<Expr> {
        let from = self.kind(operand).unwrap_or(match to {
            ElementType::Bool => self.plain(&[operand]),
            to => to,
        });
        let value = self.value(operand, from)?;
        match (from, to) {
            // It marks a condition that chooses.
            (ElementType::Bool, ElementType::Bool) => Some(Expr::Cast(to, Box::new(value))),
            _ if from == to => Some(value),
            (ElementType::Bool, _) => {
                let number = |truth: f64| Literal::new(to, truth).map(|literal| Box::new(Expr::Literal(literal)));
                Some(Expr::Select(Box::new(value), number(1.0)?, number(0.0)?))
            }
            (_, ElementType::Bool) => {
                let zero = Expr::Literal(from.zero());
                Some(Expr::Binary(BinaryOperator::NotEqual, Box::new(value), Box::new(zero)))
            }
            _ if from.is_complex() && !to.is_complex() => {
                self.found.push(not_converted(operand, from, to));
                None
            }
            _ => Some(Expr::Cast(to, Box::new(value))),
        }
    }

    /// Whether a tensor has an entry at a place.
    fn stored(&mut self, place: &'s syntax::Expr) -> Option<Expr> {
        let ExprKind::Access(access) = &place.kind else {
            let kind = self.kind(place).unwrap_or(ElementType::F64);
            self.value(place, kind)?;
            let message = "`stored` asks for a place in a tensor";
            let problem =
                Diagnostic::new(codes::STORED_OF_VALUE, place.span, message).label("a value, which has no entries");
            self.found.push(problem.help("write `stored(A(i, j))`: whether `A` has an entry at `i, j`"));
            return None;
        };
        let access = self.unread(access)?;
        Some(self.asked(access))
    }

    /// Whether there is an entry at a place; of a dense tensor there always is.
    pub(super) fn asked(&self, access: Access) -> Expr {
        let format = &self.tensors[access.tensor.0].format;
        match format.is_dense() && format.tells_entries() {
            true => Expr::Literal(crate::ir::constant::truth(true)),
            false => access.stored(),
        }
    }

    /// How many values an index has: as many terms as a sum over it has.
    fn extent(&mut self, arguments: &'s [syntax::Expr], element: ElementType, span: Span) -> Option<Expr> {
        let counted = self.counted(arguments)?;
        let Some(one) = Literal::new(element, 1.0).filter(|_| element != ElementType::Bool) else {
            let message = "a length is no truth value";
            self.found.push(Diagnostic::new(codes::VALUE_AS_CONDITION, span, message).label("a number"));
            return None;
        };
        let counted = self.indices.like(counted);
        Some(Expr::Reduce(ReduceOperator::Add, vec![counted], Box::new(Expr::Literal(one))))
    }

    /// The extent that is asked for: of an index, or of a mode of a tensor.
    pub(super) fn counted(&mut self, arguments: &'s [syntax::Expr]) -> Option<Counted> {
        match arguments {
            [tensor, mode] => self.counted_mode(tensor, mode),
            [index] => match &index.kind {
                ExprKind::Name(name) if self.index_names.contains(&name.name.as_str()) => {
                    let name = self.index_name(name)?;
                    Some(self.indices.of_index(name))
                }
                _ => {
                    self.found.push(no_extent(index, "name an index of a tensor in the statement, as in `extent(k)`"));
                    None
                }
            },
            _ => None,
        }
    }

    fn counted_mode(&mut self, tensor: &'s syntax::Expr, mode: &'s syntax::Expr) -> Option<Counted> {
        let known = match (&tensor.kind, &mode.kind) {
            (ExprKind::Name(name), ExprKind::Number { digits, suffix: None }) => {
                let mode = digits.parse().ok();
                mode.and_then(|mode| self.indices.of_mode(name, mode))
            }
            _ => None,
        };
        if known.is_none() {
            let help = "name a tensor and one of its modes, from 1 on, in which some statement has an index by itself, as in `extent(A, 1)`";
            self.found.push(no_extent(tensor, help));
        }
        known
    }

    /// -1, 0 or 1; NaN of NaN.
    fn sign(&mut self, operand: &'s syntax::Expr, element: ElementType, span: Span) -> Option<Expr> {
        let value = self.value(operand, element)?;
        if element.is_complex() || element == ElementType::Bool {
            let message = format!("`sign` is not defined for `{}`", element.name());
            let undefined = Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message);
            self.found.push(undefined.label("a function of real numbers").help("`sign(re(z))` is that of a part"));
            return None;
        }
        let literal = |number: f64| Literal::new(element, number).map(|literal| Box::new(Expr::Literal(literal)));
        let compare = |operator| {
            let zero = Box::new(Expr::Literal(element.zero()));
            Box::new(Expr::Binary(operator, Box::new(value.clone()), zero))
        };
        let below = match functions::signed(element) {
            true => Expr::Select(compare(BinaryOperator::Less), literal(-1.0)?, Box::new(value.clone())),
            false => value.clone(),
        };
        Some(Expr::Select(compare(BinaryOperator::Greater), literal(1.0)?, Box::new(below)))
    }
}

/// What is no index and no mode.
fn no_extent(asked: &syntax::Expr, help: &str) -> Diagnostic {
    let message = "`extent` asks for the length of an index";
    Diagnostic::new(codes::UNBOUND_INDEX, asked.span, message).label("no index of the statement").help(help.to_owned())
}

/// What may be meant by the name of a function that nothing knows.
pub(super) fn meant(name: &str, call: Option<&syntax::Access>) -> Option<String> {
    let close = || suggest::similar(name, functions::names()).map(|close| format!("did you mean `{close}`?"));
    neighbours::instead(name, call).or_else(close)
}

/// A function that nothing knows.
pub(super) fn unknown_function(name: &Ident, call: Option<&syntax::Access>) -> Diagnostic {
    let message = format!("there is no function `{}`", name.name);
    let unknown = Diagnostic::new(codes::UNKNOWN_FUNCTION, name.span, message).label("not a function");
    unknown.help(
        meant(&name.name, call).unwrap_or_else(|| format!("the functions are {}", words::list(functions::names()))),
    )
}

fn argument_count(entry: &functions::Entry, given: usize, span: Span) -> Diagnostic {
    let name = entry.name;
    let message = format!("`{name}` takes {}, not {given}", words::count(entry.arguments, "argument"));
    let count = Diagnostic::new(codes::ARGUMENT_COUNT, span, message)
        .label(format!("{} here", words::count(given, "argument")));
    match name {
        "min" | "max" if given > 2 => count.help(format!("write `{name}(a, {name}(b, c))` for three")),
        "min" | "max" => count.help(format!("write `{name}(a, b)`, or `{name}(k)(…)` for the `{name}` over an index")),
        "select" => count.help("write `select(condition, a, b)`: `a` where the condition holds, else `b`"),
        "pow" => count.help("write `pow(base, exponent)`"),
        "extent" => count.help("write `extent(k)`: how many values the index `k` has"),
        "stored" => count.help("write `stored(A(i, j))`: whether `A` has an entry at `i, j`"),
        "atan2" => count.help("write `atan2(ordinate, abscissa)`"),
        "complex" => count.help("write `complex(real part, imaginary part)`"),
        _ => count.help(format!("write `{name}(a)`")),
    }
}

fn undefined_function(
    entry: &functions::Entry,
    element: ElementType,
    argument: &syntax::Expr,
    span: Span,
) -> Diagnostic {
    let name = entry.name;
    let message = format!("`{name}` is not defined for `{}`", element.name());
    let undefined = Diagnostic::new(codes::UNDEFINED_FOR_TYPE, span, message);
    match entry.form {
        Form::Function(Function::Re | Function::Im | Function::Conj) => {
            undefined.label("a function of complex numbers").help("declare the tensors as `c32` or `c64`")
        }
        Form::Function(Function::Min | Function::Max) if element.is_complex() => {
            undefined.label("complex numbers have no order").help(format!("compare parts: `{name}(re(a), re(b))`"))
        }
        Form::Function(Function::Abs) => {
            undefined.label(format!("`{}` has no negative values", element.name())).help("leave `abs` out")
        }
        Form::Function(Function::Min | Function::Max) if element == ElementType::Bool => {
            undefined.label("a function of numbers").help("`&&` says whether both are true, `||` whether one is")
        }
        _ if element.is_complex() => undefined
            .label("a function of real numbers")
            .help(format!("apply it to a real number: `{name}(re({argument}))`, `{name}(abs({argument}))`")),
        _ if element.is_integer() => undefined
            .label("a function of floating point numbers")
            .help(format!("convert what it is applied to: `{name}(f64({argument}))`, or declare the tensors as `f64`")),
        _ => undefined.label("a function of floating point numbers").help("declare the tensors as `f32` or `f64`"),
    }
}
