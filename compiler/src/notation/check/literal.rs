//! Numbers as written to numbers of an element type.

use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::ir::{ElementType, Literal};
use crate::syntax::{self, ExprKind, UnaryOperator};

/// A number as written.
pub(super) struct Number<'a> {
    /// Without underscores and suffix.
    pub(super) digits: &'a str,
    /// Whether a `-` stands before it.
    pub(super) negative: bool,
    pub(super) span: Span,
}

/// The number as an element.
pub(super) fn literal(number: &Number<'_>, element: ElementType) -> Result<Literal, Diagnostic> {
    let value = match element {
        ElementType::F32 | ElementType::F64 | ElementType::C32 | ElementType::C64 => float(number, element),
        _ => integer(number).filter(|value| fits(*value, element)).map(|value| Literal::Integer(element, value)),
    };
    value.ok_or_else(|| out_of_range(number, element))
}

/// Whether a name that nothing declares is a number.
pub(super) fn is_constant(name: &str) -> bool {
    name == "inf"
}

/// A constant of an element type as written: a number, `true`, `inf`, with or without a `-`.
pub(super) fn constant(expr: &syntax::Expr, element: ElementType) -> Result<Literal, Diagnostic> {
    let (inner, negative) = match &expr.kind {
        ExprKind::Unary(UnaryOperator::Negate, inner) => (&**inner, true),
        _ => (expr, false),
    };
    let is_real = element.is_float();
    let signed = |value: f64| Literal::Float(element, if negative { -value } else { value });
    match &inner.kind {
        ExprKind::Number { digits, suffix }
            if element != ElementType::Bool && suffix.is_none_or(|suffix| suffix == element) =>
        {
            literal(&Number { digits, negative, span: expr.span }, element)
        }
        ExprKind::Bool(value) if element == ElementType::Bool && !negative => Ok(crate::ir::constant::truth(*value)),
        ExprKind::Name(name) if is_real && name.name == "inf" => Ok(signed(f64::INFINITY)),
        ExprKind::Name(name) if is_real && name.name == "nan" && !negative => Ok(signed(f64::NAN)),
        _ => {
            let message = format!("`{expr}` is no value of `{}`", element.name());
            let problem = Diagnostic::new(codes::LITERAL_OUT_OF_RANGE, expr.span, message)
                .label(format!("not a value of `{}`", element.name()));
            Err(problem.help(match element {
                ElementType::Bool => "write `true` or `false`",
                element if element.is_float() => "write a number, `inf`, `-inf` or `nan`",
                _ => "write a number",
            }))
        }
    }
}

/// A constant as it is where elements are stored.
pub(super) fn stored(constant: Literal, element: ElementType, span: Span) -> Result<Literal, Diagnostic> {
    match constant {
        Literal::Float(computed, value) => match element.stored(value) {
            stored if stored.is_infinite() && value.is_finite() => {
                let message = format!("`{value}` is out of range for `{element}`");
                let problem = Diagnostic::new(codes::LITERAL_OUT_OF_RANGE, span, message);
                Err(problem.label(format!("`{element}` has no number near it")))
            }
            stored => Ok(Literal::Float(computed, stored)),
        },
        whole => Ok(whole),
    }
}

fn float(number: &Number<'_>, element: ElementType) -> Option<Literal> {
    let value = match (radix(number.digits), element) {
        (Some(value), ElementType::F32 | ElementType::C32) => f64::from(value as f32),
        (Some(value), _) => value as f64,
        // Read as `f32` at once: rounding twice may differ.
        (None, ElementType::F32 | ElementType::C32) => f64::from(number.digits.parse::<f32>().ok()?),
        (None, _) => number.digits.parse::<f64>().ok()?,
    };
    value.is_finite().then_some(Literal::Float(element, if number.negative { -value } else { value }))
}

fn integer(number: &Number<'_>) -> Option<i128> {
    let magnitude: i128 = match radix(number.digits) {
        Some(value) => value.into(),
        None => number.digits.parse().ok().or_else(|| whole(number.digits))?,
    };
    Some(if number.negative { -magnitude } else { magnitude })
}

/// `1e3` and `2.0` are whole numbers too, where a `f64` holds them without doubt.
fn whole(digits: &str) -> Option<i128> {
    let value: f64 = digits.parse().ok()?;
    (value.fract() == 0.0 && value < 9_007_199_254_740_992.0).then_some(value as i128)
}

fn radix(digits: &str) -> Option<u64> {
    let bases = [("0x", 16), ("0o", 8), ("0b", 2)];
    let (digits, base) = bases.iter().find_map(|(prefix, base)| Some((digits.strip_prefix(prefix)?, *base)))?;
    u64::from_str_radix(digits, base).ok()
}

fn fits(value: i128, element: ElementType) -> bool {
    (element.range().0..=element.range().1).contains(&value)
}

fn out_of_range(number: &Number<'_>, element: ElementType) -> Diagnostic {
    let sign = if number.negative { "-" } else { "" };
    let message = format!("`{}` can't hold {sign}{}", element.name(), number.digits);
    Diagnostic::new(codes::LITERAL_OUT_OF_RANGE, number.span, message)
        .label(format!("not a value of `{}`", element.name()))
        .help(match element {
            ElementType::F16 => "its largest value is 65504".to_owned(),
            ElementType::F32 | ElementType::C32 => "its largest value is about 3.4e38".to_owned(),
            ElementType::F64 | ElementType::C64 => "its largest value is about 1.8e308".to_owned(),
            small if small.bytes() == 1 => {
                format!("it holds the whole numbers from {} to {}", small.range().0, small.range().1)
            }
            other => format!("it holds whole numbers of {} bits", 8 * other.bytes()),
        })
}
