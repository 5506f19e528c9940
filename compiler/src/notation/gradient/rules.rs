//! Derivatives of operators and functions: what each operand gains, as a factor of what the value gains.

use super::number;
use crate::ir::{ElementType, Function};
use crate::notation::{BinaryOperator, Expr, UnaryOperator};

/// An operand, and what it gains.
pub(super) struct Part<'e> {
    pub(super) operand: &'e Expr,
    pub(super) factor: Factor,
}

/// What is done to what a value gains.
pub(super) enum Factor {
    Same,
    Negated,
    Times(Expr),
    Over(Expr),
    /// Where a condition holds.
    Where(Expr),
    /// Where it does not.
    Unless(Expr),
    Converted,
}

impl Factor {
    /// What an operand of this type gains.
    pub(super) fn times(self, context: Expr, element: ElementType) -> Expr {
        let zero = || Box::new(number(element, 0.0));
        // What is not chosen gains nothing, also where a factor is infinite or no number there.
        let is_zero = |expr: &Expr| matches!(expr, Expr::Literal(literal) if literal.is_zero());
        match context {
            Expr::Select(condition, yes, no) if is_zero(&no) => {
                return Expr::Select(condition, Box::new(self.times(*yes, element)), zero());
            }
            Expr::Select(condition, yes, no) if is_zero(&yes) => {
                return Expr::Select(condition, zero(), Box::new(self.times(*no, element)));
            }
            _ => {}
        }
        match self {
            Factor::Same => context,
            Factor::Negated => negated(context),
            Factor::Times(factor) => product(context, factor),
            Factor::Over(divisor) => binary(BinaryOperator::Divide, context, divisor),
            Factor::Where(condition) => Expr::Select(Box::new(condition), Box::new(context), zero()),
            Factor::Unless(condition) => Expr::Select(Box::new(condition), zero(), Box::new(context)),
            Factor::Converted => Expr::Cast(element, Box::new(context)),
        }
    }
}

/// The operands of the outermost operator that have derivatives; `shared` gives what stands for an operand that is read again. The error
/// names what has none.
pub(super) fn parts<'e>(
    expr: &'e Expr,
    element: &dyn Fn(&Expr) -> ElementType,
    shared: &mut dyn FnMut(&Expr) -> Expr,
) -> Result<Vec<Part<'e>>, String> {
    let part = |operand: &'e Expr, factor: Factor| Part { operand, factor };
    Ok(match expr {
        Expr::Unary(UnaryOperator::Negate, operand) => vec![part(operand, Factor::Negated)],
        Expr::Binary(operator, left, right) => match operator {
            BinaryOperator::Add => vec![part(left, Factor::Same), part(right, Factor::Same)],
            BinaryOperator::Subtract => vec![part(left, Factor::Same), part(right, Factor::Negated)],
            BinaryOperator::Multiply => {
                // A square reads the other factor with the indices of this one.
                vec![part(left, Factor::Times((**right).clone())), part(right, Factor::Times((**left).clone()))]
            }
            BinaryOperator::Divide => {
                let divisor = shared(right);
                let quotient = binary(BinaryOperator::Divide, shared(left), divisor.clone());
                let of_divisor = negated(binary(BinaryOperator::Divide, quotient, divisor.clone()));
                vec![part(left, Factor::Over(divisor)), part(right, Factor::Times(of_divisor))]
            }
            _ if !operator.is_arithmetic() => Vec::new(),
            _ => return Err(format!("`{}`", operator.symbol())),
        },
        Expr::Cast(element, operand) if element.computed().is_float() => vec![part(operand, Factor::Converted)],
        Expr::Cast(..) => Vec::new(),
        Expr::Select(condition, yes, no) => {
            let condition = shared(condition);
            vec![part(yes, Factor::Where(condition.clone())), part(no, Factor::Unless(condition))]
        }
        Expr::Call(function, arguments) => of_call(*function, arguments, element(&arguments[0]), expr, shared)?,
        _ => Vec::new(),
    })
}

fn of_call<'e>(
    function: Function,
    arguments: &'e [Expr],
    element: ElementType,
    whole: &Expr,
    shared: &mut dyn FnMut(&Expr) -> Expr,
) -> Result<Vec<Part<'e>>, String> {
    let copies: Vec<Expr> = arguments.iter().map(&mut *shared).collect();
    let (Some(a), first) = (copies.first().cloned(), &arguments[0]) else { return Ok(Vec::new()) };
    let constant = |value: f64| number(element, value);
    let call = |function: Function, argument: Expr| Expr::Call(function, vec![argument]);
    let squared = |value: &Expr| product(value.clone(), value.clone());
    let add = |left: Expr, right: Expr| binary(BinaryOperator::Add, left, right);
    let subtract = |left: Expr, right: Expr| binary(BinaryOperator::Subtract, left, right);
    // Where the statement keeps the value, that is read.
    let kept = shared(whole);
    let value = || if matches!(kept, Expr::Access(_)) { kept.clone() } else { Expr::Call(function, copies.clone()) };
    let one = |factor: Factor| vec![Part { operand: first, factor }];
    Ok(match function {
        Function::Min | Function::Max => {
            let operator =
                if function == Function::Min { BinaryOperator::LessEqual } else { BinaryOperator::GreaterEqual };
            let first_is_it = binary(operator, a, copies[1].clone());
            vec![
                Part { operand: first, factor: Factor::Where(first_is_it.clone()) },
                Part { operand: &arguments[1], factor: Factor::Unless(first_is_it) },
            ]
        }
        Function::Abs => {
            let is_below = binary(BinaryOperator::Less, a.clone(), constant(0.0));
            let is_above = binary(BinaryOperator::Greater, a, constant(0.0));
            let other = Expr::Select(Box::new(is_above), Box::new(constant(1.0)), Box::new(constant(0.0)));
            one(Factor::Times(Expr::Select(Box::new(is_below), Box::new(constant(-1.0)), Box::new(other))))
        }
        Function::Sqrt => one(Factor::Over(product(constant(2.0), value()))),
        Function::Cbrt => one(Factor::Over(product(constant(3.0), squared(&value())))),
        Function::Exp => one(Factor::Times(value())),
        Function::Ln => one(Factor::Over(a)),
        Function::Log2 => one(Factor::Over(product(a, constant(std::f64::consts::LN_2)))),
        Function::Log10 => one(Factor::Over(product(a, constant(std::f64::consts::LN_10)))),
        Function::Pow => {
            let exponent = copies[1].clone();
            let less = Expr::Call(Function::Pow, vec![a.clone(), subtract(exponent.clone(), constant(1.0))]);
            vec![
                Part { operand: first, factor: Factor::Times(product(exponent, less)) },
                Part { operand: &arguments[1], factor: Factor::Times(product(value(), call(Function::Ln, a))) },
            ]
        }
        Function::Sin => one(Factor::Times(call(Function::Cos, a))),
        Function::Cos => one(Factor::Times(negated(call(Function::Sin, a)))),
        Function::Tan => one(Factor::Times(add(constant(1.0), squared(&value())))),
        Function::Asin => one(Factor::Over(call(Function::Sqrt, subtract(constant(1.0), squared(&a))))),
        Function::Acos => one(Factor::Over(negated(call(Function::Sqrt, subtract(constant(1.0), squared(&a)))))),
        Function::Atan => one(Factor::Over(add(constant(1.0), squared(&a)))),
        Function::Atan2 => {
            let abscissa = copies[1].clone();
            let length = add(squared(&a), squared(&abscissa));
            let over = |value: Expr| binary(BinaryOperator::Divide, value, length.clone());
            vec![
                Part { operand: first, factor: Factor::Times(over(abscissa)) },
                Part { operand: &arguments[1], factor: Factor::Times(negated(over(a))) },
            ]
        }
        Function::Sinh => one(Factor::Times(call(Function::Cosh, a))),
        Function::Cosh => one(Factor::Times(call(Function::Sinh, a))),
        Function::Tanh => one(Factor::Times(subtract(constant(1.0), squared(&value())))),
        Function::Asinh => one(Factor::Over(call(Function::Sqrt, add(squared(&a), constant(1.0))))),
        Function::Acosh => one(Factor::Over(call(Function::Sqrt, subtract(squared(&a), constant(1.0))))),
        Function::Atanh => one(Factor::Over(subtract(constant(1.0), squared(&a)))),
        // Steps are flat.
        Function::Floor | Function::Ceil | Function::Round | Function::Trunc => Vec::new(),
        Function::Re | Function::Im | Function::Conj | Function::Complex => {
            return Err(format!("`{}`", function.name()));
        }
    })
}

/// `select(count != 0, value / count, 0)`
pub(super) fn share(value: Expr, count: Expr, element: ElementType) -> Expr {
    let zero = || number(element, 0.0);
    let has_some = binary(BinaryOperator::NotEqual, count.clone(), zero());
    let quotient = binary(BinaryOperator::Divide, value, count);
    Expr::Select(Box::new(has_some), Box::new(quotient), Box::new(zero()))
}

/// `one == other`
pub(super) fn equal(one: Expr, other: Expr) -> Expr {
    binary(BinaryOperator::Equal, one, other)
}

fn product(left: Expr, right: Expr) -> Expr {
    binary(BinaryOperator::Multiply, left, right)
}

fn negated(value: Expr) -> Expr {
    Expr::Unary(UnaryOperator::Negate, Box::new(value))
}

fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right))
}
