//! The coordinate of a level: an expression of modes.

use super::Report;
use super::arguments::{Arguments, Value};
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes, suggest, words};
use crate::format::Coordinate;
use crate::syntax::{Access, BinaryOperator, Expr, ExprKind, FormatMap, Ident, Index};
use std::ops::Range;

/// What a coordinate may call.
const FUNCTIONS: &[&str] = &["extent", "interleave", "linear"];

/// What the names of a map stand for.
pub(super) struct Scope<'a> {
    modes: Vec<(&'a str, Range<usize>, bool)>,
    arguments: &'a Arguments,
}

impl<'a> Scope<'a> {
    /// The modes of a map for a tensor of order `order`, which the map serves. Only one mode is variadic.
    pub(super) fn new(map: &'a FormatMap, order: usize, arguments: &'a Arguments) -> Self {
        let single = map.modes.iter().filter(|mode| !mode.variadic).count();
        let mut next = 0;
        let modes = map.modes.iter().map(|mode| {
            let begin = next;
            next += if mode.variadic { order - single } else { 1 };
            (mode.name.name.as_str(), begin..next, mode.variadic)
        });
        Self { modes: modes.collect(), arguments }
    }

    /// The modes that a name stands for where `...` follows it.
    fn variadic(&self, name: &str) -> Option<Range<usize>> {
        self.modes.iter().find(|(mode, _, variadic)| *mode == name && *variadic).map(|(_, range, _)| range.clone())
    }

    /// The modes that the `...` of a level runs over.
    pub(super) fn expansion(&self, coordinate: &Expr) -> Vec<Range<usize>> {
        let mut names = Vec::new();
        collect_names(coordinate, &mut names);
        names.dedup_by(|a, b| a.name == b.name);
        names.iter().filter_map(|name| self.variadic(&name.name)).collect()
    }

    /// A level's coordinate; `each` is the mode that the variadic name stands for.
    pub(super) fn coordinate(&self, expr: &Expr, each: Option<usize>, report: &mut Report) -> Option<Coordinate> {
        match &expr.kind {
            ExprKind::Number { digits, suffix: None } => number(digits, expr.span, report),
            ExprKind::Name(name) => self.name(name, each, report),
            ExprKind::Access(Access { name, indices, .. }) => self.call(name, indices, expr.span, each, report),
            ExprKind::Binary(operator, left, right) => {
                let left = self.coordinate(left, each, report);
                let divisor = right.span;
                let right = self.coordinate(right, each, report);
                binary(*operator, left?, right?, expr.span, divisor, report)
            }
            _ => {
                report.push(not_a_coordinate(expr.span));
                None
            }
        }
    }

    fn name(&self, name: &Ident, each: Option<usize>, report: &mut Report) -> Option<Coordinate> {
        if let Some((_, range, variadic)) = self.modes.iter().find(|(mode, _, _)| *mode == name.name) {
            return match (variadic, each) {
                (false, _) => Some(Coordinate::Mode(range.start)),
                (true, Some(mode)) => Some(Coordinate::Mode(mode)),
                (true, None) => {
                    report.push(lacks_dots(name));
                    None
                }
            };
        }
        match self.arguments.get(&name.name) {
            Some(Value::Number(value)) => Some(Coordinate::Constant(*value)),
            Some(Value::Anything) => Some(Coordinate::Constant(1)),
            Some(Value::Word(word)) => {
                report.push(not_a_number(word));
                None
            }
            None => {
                report.push(self.unknown(name));
                None
            }
        }
    }

    /// `extent(i)`, `interleave(i, j)`, `linear(i, j)`. A name that stands for several modes means each of them here.
    fn call(
        &self,
        name: &Ident,
        indices: &[Index],
        span: Span,
        each: Option<usize>,
        report: &mut Report,
    ) -> Option<Coordinate> {
        let mut parts = Vec::new();
        for index in indices {
            let Index::Expr(expr) = index else {
                report.push(not_a_coordinate(span));
                return None;
            };
            match self.expansion(expr).as_slice() {
                [modes] if each.is_none() => {
                    for mode in modes.clone() {
                        parts.push((self.coordinate(expr, Some(mode), report)?, expr.span));
                    }
                }
                _ => parts.push((self.coordinate(expr, each, report)?, expr.span)),
            }
        }
        match name.name.as_str() {
            "extent" => match parts.as_slice() {
                [(Coordinate::Mode(mode), _)] => Some(Coordinate::Extent(*mode)),
                _ => {
                    report.push(not_an_extent(span));
                    None
                }
            },
            "interleave" | "linear" if parts.is_empty() => {
                report.push(nothing_joined(span));
                None
            }
            "interleave" => {
                if let Some((_, negative)) = parts.iter().find(|(part, _)| part.may_be_negative()) {
                    report.push(negative_part(*negative));
                    return None;
                }
                Some(Coordinate::Interleave(parts.into_iter().map(|(part, _)| part).collect()))
            }
            "linear" => self.linear(parts, report),
            _ => {
                report.push(unknown_function(name));
                None
            }
        }
    }

    /// `(i * extent(j) + j) * extent(k) + k`
    fn linear(&self, parts: Vec<(Coordinate, Span)>, report: &mut Report) -> Option<Coordinate> {
        let mut parts = parts.into_iter();
        let (first, _) = parts.next()?;
        parts.try_fold(first, |code, (part, span)| {
            let factor = match &part {
                Coordinate::Mode(mode) => Coordinate::Extent(*mode),
                Coordinate::Remainder(_, divisor) => (**divisor).clone(),
                _ => {
                    report.push(no_known_extent(span));
                    return None;
                }
            };
            let shifted = Coordinate::Multiply(Box::new(code), Box::new(factor));
            Some(Coordinate::Add(Box::new(shifted), Box::new(part)))
        })
    }

    fn unknown(&self, name: &Ident) -> Diagnostic {
        let known = self.modes.iter().map(|(mode, _, _)| *mode).chain(self.arguments.names());
        let message = format!("`{}` is neither a mode nor an argument of this format", name.name);
        let unknown = Diagnostic::new(codes::FORMAT_MAP_NAME, name.span, message).label("not declared");
        match suggest::similar(&name.name, known) {
            Some(close) => unknown.help(format!("did you mean `{close}`?")),
            None => unknown.help("modes are declared before the `->`, arguments after the format's name"),
        }
    }
}

fn collect_names<'e>(expr: &'e Expr, names: &mut Vec<&'e Ident>) {
    match &expr.kind {
        ExprKind::Name(name) => names.push(name),
        ExprKind::Unary(_, operand) => collect_names(operand, names),
        ExprKind::Binary(_, left, right) => {
            collect_names(left, names);
            collect_names(right, names);
        }
        // A function takes each mode of a name by itself.
        _ => {}
    }
}

fn number(digits: &str, span: Span, report: &mut Report) -> Option<Coordinate> {
    let value = digits.parse().ok();
    if value.is_none() {
        report.push(not_a_coordinate(span));
    }
    value.map(Coordinate::Constant)
}

fn binary(
    operator: BinaryOperator,
    left: Coordinate,
    right: Coordinate,
    span: Span,
    divisor: Span,
    report: &mut Report,
) -> Option<Coordinate> {
    let (left, right) = (Box::new(left), Box::new(right));
    match operator {
        BinaryOperator::Add => Some(Coordinate::Add(left, right)),
        BinaryOperator::Subtract => Some(Coordinate::Subtract(left, right)),
        BinaryOperator::Multiply if !left.is_known() && !right.is_known() => {
            report.push(two_modes(span));
            None
        }
        BinaryOperator::Multiply => Some(Coordinate::Multiply(left, right)),
        BinaryOperator::Divide | BinaryOperator::Remainder if left.may_be_negative() => {
            report.push(negative_part(span));
            None
        }
        BinaryOperator::Divide | BinaryOperator::Remainder => match *right {
            Coordinate::Constant(0) => {
                report.push(by_zero(divisor));
                None
            }
            Coordinate::Constant(_) if operator == BinaryOperator::Divide => Some(Coordinate::Divide(left, right)),
            Coordinate::Constant(_) => Some(Coordinate::Remainder(left, right)),
            _ => {
                report.push(by_mode(divisor));
                None
            }
        },
        _ => {
            report.push(not_a_coordinate(span));
            None
        }
    }
}

fn by_zero(span: Span) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_COORDINATE, span, "a coordinate that is divided by zero")
        .label("is zero")
        .help("a block has at least 1 coordinate")
}

fn by_mode(span: Span) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_COORDINATE, span, "a coordinate that is not divided by a constant")
        .label("not a constant")
        .help("divide by a number or an argument of the format, as in `i / B`")
}

fn two_modes(span: Span) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_COORDINATE, span, "a product of two modes")
        .label("neither factor is a constant")
        .help("multiply by a number, an argument of the format or an extent, as in `i * extent(j) + j`")
}

fn negative_part(span: Span) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_COORDINATE, span, "a difference is divided or interleaved")
        .label("may be less than zero")
        .help("differences are stored as they are, as in `j - i`")
}

fn not_an_extent(span: Span) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_COORDINATE, span, "not the extent of a mode")
        .label("takes one mode")
        .help("write `extent(i)` for the extent of the mode `i`")
}

fn nothing_joined(span: Span) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_COORDINATE, span, "a coordinate of no modes")
        .label("nothing stands in the parentheses")
        .help("name the modes, as in `interleave(i, j)`")
}

fn no_known_extent(span: Span) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_COORDINATE, span, "nothing says how many coordinates there are")
        .label("neither a mode nor a remainder")
        .help("`linear` takes modes and remainders, as in `linear(i % 4, j % 4)`; else write the product with a number")
}

fn unknown_function(name: &Ident) -> Diagnostic {
    let message = format!("there is no function `{}` of coordinates", name.name);
    let unknown = Diagnostic::new(codes::FORMAT_COORDINATE, name.span, message).label("not a function of coordinates");
    match suggest::similar(&name.name, FUNCTIONS.iter().copied()) {
        Some(close) => unknown.help(format!("did you mean `{close}`?")),
        None => unknown.help(format!("the functions are {}", words::list(FUNCTIONS.iter().copied()))),
    }
}

fn not_a_coordinate(span: Span) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_COORDINATE, span, "not a coordinate")
        .label("not a coordinate")
        .help("a coordinate is made of modes and whole numbers by `+ - * / %`, as in `i / 4`")
}

fn not_a_number(word: &Ident) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_ARGUMENTS, word.span, format!("`{}` where a number must stand", word.name))
        .label("not a number")
        .help("this argument is used in a coordinate: give it a number, as in `bcsr(4)`")
}

fn lacks_dots(name: &Ident) -> Diagnostic {
    Diagnostic::new(codes::FORMAT_VARIADIC, name.span, format!("`{}` stands for any number of modes", name.name))
        .label("no `...` follows")
        .help(format!("write `{}...: LEVEL` for a level for each of these modes", name.name))
}
