//! Values and what operators make of them.

use super::counts;
use spc_compiler::format::interleave::Spread;
use spc_compiler::ir::tables::monoid::{LEFT, RIGHT};
use spc_compiler::ir::{
    BinaryOperator, Combine, ElementType, Expr, Function, Literal, ReduceOperator, Type, UnaryOperator,
};

use super::{Cause, Fault};
use crate::complex::{c32, c64};
use crate::parallel::{NoMemory, exponential, maximum_number, minimum_number, quotient, root};

/// A value of any type. Truth values of tensors are those of conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Index(u64),
    Bool(bool),
    F64(f64),
    F32(f32),
    I32(i32),
    I64(i64),
    U8(u8),
    I8(i8),
    I16(i16),
    U16(u16),
    U32(u32),
    U64(u64),
    C32(c32),
    C64(c64),
}

/// A fault on its way out: the segments of its path, innermost first.
#[derive(Debug)]
pub(super) struct Problem {
    message: String,
    path: Vec<String>,
    cause: Cause,
}

pub(super) type Result<T> = std::result::Result<T, Box<Problem>>;

pub(super) fn problem<T>(message: impl Into<String>) -> Result<T> {
    Err(Box::new(Problem { message: message.into(), path: Vec::new(), cause: Cause::Kernel }))
}

fn divided_by_zero<T>(dividend: String) -> Result<T> {
    let message = format!("{dividend} is divided by zero");
    Err(Box::new(Problem { message, path: Vec::new(), cause: Cause::DivisionByZero }))
}

/// There is no memory for an array of that shape, with elements of so many bytes.
pub(super) fn no_memory<T>(shape: &[usize], size: usize) -> Result<T> {
    let array = NoMemory::new(shape, size);
    let message = format!("there is no memory for {array}");
    Err(Box::new(Problem { message, path: Vec::new(), cause: Cause::NoMemory(array) }))
}

/// Somebody has asked the kernel to stop.
pub(super) fn interrupted<T>() -> Result<T> {
    Err(Box::new(Problem { message: "it was asked to stop".to_owned(), path: Vec::new(), cause: Cause::Interrupted }))
}

impl Problem {
    /// The same problem, seen from one block further out.
    pub(super) fn within(mut self: Box<Self>, segment: String) -> Box<Self> {
        self.path.push(segment);
        self
    }

    /// The same problem, with the name of what it happened to.
    pub(super) fn about(mut self: Box<Self>, name: &str) -> Box<Self> {
        self.message = format!("{name}: {}", self.message);
        self
    }

    pub(super) fn divides_by_zero(&self) -> bool {
        self.cause == Cause::DivisionByZero
    }

    pub(super) fn into_fault(self) -> Fault {
        let path = self.path.iter().rev().map(String::as_str);
        let path = std::iter::once("body").chain(path).collect::<Vec<_>>().join("/");
        Fault { path, message: self.message, cause: self.cause }
    }
}

/// What a verified kernel never does.
fn mismatch<T>() -> Result<T> {
    problem("operands do not fit their operator, which the verifier should have found")
}

impl Value {
    pub(super) fn ty(self) -> Type {
        match self {
            Value::Index(_) => Type::Index,
            Value::Bool(_) => Type::Bool,
            Value::F64(_) => Type::Element(ElementType::F64),
            Value::F32(_) => Type::Element(ElementType::F32),
            Value::I32(_) => Type::Element(ElementType::I32),
            Value::I64(_) => Type::Element(ElementType::I64),
            Value::U8(_) => Type::Element(ElementType::U8),
            Value::I8(_) => Type::Element(ElementType::I8),
            Value::I16(_) => Type::Element(ElementType::I16),
            Value::U16(_) => Type::Element(ElementType::U16),
            Value::U32(_) => Type::Element(ElementType::U32),
            Value::U64(_) => Type::Element(ElementType::U64),
            Value::C32(_) => Type::Element(ElementType::C32),
            Value::C64(_) => Type::Element(ElementType::C64),
        }
    }

    pub(super) fn index(self) -> Result<u64> {
        match self {
            Value::Index(value) => Ok(value),
            _ => mismatch(),
        }
    }

    pub(super) fn truth(self) -> Result<bool> {
        match self {
            Value::Bool(value) => Ok(value),
            _ => mismatch(),
        }
    }

    pub(super) fn of_literal(literal: Literal) -> Result<Value> {
        Ok(match literal {
            Literal::Float(ElementType::F64, value) => Value::F64(value),
            Literal::Float(ElementType::F32, value) => Value::F32(value as f32),
            Literal::Float(ElementType::C32, value) => Value::C32((value as f32).into()),
            Literal::Float(ElementType::C64, value) => Value::C64(value.into()),
            Literal::Integer(ElementType::I32, value) => Value::I32(value as i32),
            Literal::Integer(ElementType::I64, value) => Value::I64(value as i64),
            Literal::Integer(ElementType::I8, value) => Value::I8(value as i8),
            Literal::Integer(ElementType::I16, value) => Value::I16(value as i16),
            Literal::Integer(ElementType::U16, value) => Value::U16(value as u16),
            Literal::Integer(ElementType::U32, value) => Value::U32(value as u32),
            Literal::Integer(ElementType::U64, value) => Value::U64(value as u64),
            Literal::Integer(ElementType::U8, value) => Value::U8(value as u8),
            Literal::Integer(ElementType::Bool, value) => Value::Bool(value != 0),
            _ => return mismatch(),
        })
    }
}

pub(super) fn unary(operator: UnaryOperator, operand: Value) -> Result<Value> {
    count(operand);
    Ok(match (operator, operand) {
        (UnaryOperator::Not, Value::Bool(a)) => Value::Bool(!a),
        (UnaryOperator::Negate, Value::F64(a)) => Value::F64(-a),
        (UnaryOperator::Negate, Value::F32(a)) => Value::F32(-a),
        (UnaryOperator::Negate, Value::I8(a)) => Value::I8(a.wrapping_neg()),
        (UnaryOperator::Negate, Value::I16(a)) => Value::I16(a.wrapping_neg()),
        (UnaryOperator::Negate, Value::I32(a)) => Value::I32(a.wrapping_neg()),
        (UnaryOperator::Negate, Value::I64(a)) => Value::I64(a.wrapping_neg()),
        (UnaryOperator::Negate, Value::C32(a)) => Value::C32(-a),
        (UnaryOperator::Negate, Value::C64(a)) => Value::C64(-a),
        _ => return mismatch(),
    })
}

/// The comparisons, which all types with an order share.
fn compare<T: PartialOrd>(operator: BinaryOperator, a: T, b: T) -> Result<Value> {
    Ok(Value::Bool(match operator {
        BinaryOperator::Equal => a == b,
        BinaryOperator::NotEqual => a != b,
        BinaryOperator::Less => a < b,
        BinaryOperator::LessEqual => a <= b,
        BinaryOperator::Greater => a > b,
        BinaryOperator::GreaterEqual => a >= b,
        _ => return mismatch(),
    }))
}

fn of_indices(operator: BinaryOperator, a: u64, b: u64) -> Result<Value> {
    use BinaryOperator::*;
    let (sign, result) = match operator {
        Add => ("+", a.checked_add(b)),
        Subtract => ("-", a.checked_sub(b)),
        Multiply => ("*", a.checked_mul(b)),
        Divide => ("/", a.checked_div(b)),
        Remainder => ("%", a.checked_rem(b)),
        Minimum => ("minimum", Some(a.min(b))),
        Maximum => ("maximum", Some(a.max(b))),
        Gather => ("gather", Some(Spread::new(b).compress(a))),
        Scatter => ("scatter", Some(Spread::new(b).expand(a))),
        Rank => ("rank", u32::try_from(b).ok().and_then(|b| 1u64.checked_shl(b)).map(|end| rank(a, end))),
        _ => return compare(operator, a, b),
    };
    match result {
        Some(value) => Ok(Value::Index(value)),
        None => problem(format!("index arithmetic wraps: {a} {sign} {b}")),
    }
}

/// How many bits below the only one of `end` are ones.
fn rank(bits: u64, end: u64) -> u64 {
    u64::from((bits & (end - 1)).count_ones())
}

macro_rules! of_floats {
    ($variant:ident, $operator:expr, $a:expr, $b:expr) => {
        Ok(Value::$variant(match $operator {
            BinaryOperator::Add => $a + $b,
            BinaryOperator::Subtract => $a - $b,
            BinaryOperator::Multiply => $a * $b,
            BinaryOperator::Divide => $a / $b,
            BinaryOperator::Remainder => $a % $b,
            _ => return compare($operator, $a, $b),
        }))
    };
}

macro_rules! of_integers {
    ($variant:ident, $operator:expr, $a:expr, $b:expr) => {
        Ok(Value::$variant(match $operator {
            BinaryOperator::Add => $a.wrapping_add($b),
            BinaryOperator::Subtract => $a.wrapping_sub($b),
            BinaryOperator::Multiply => $a.wrapping_mul($b),
            BinaryOperator::Divide | BinaryOperator::Remainder if $b == 0 => {
                return divided_by_zero($a.to_string());
            }
            BinaryOperator::Divide => $a.wrapping_div($b),
            BinaryOperator::Remainder => $a.wrapping_rem($b),
            BinaryOperator::BitAnd => $a & $b,
            BinaryOperator::BitOr => $a | $b,
            _ => return compare($operator, $a, $b),
        }))
    };
}

macro_rules! of_complex {
    ($variant:ident, $operator:expr, $a:expr, $b:expr) => {
        Ok(match $operator {
            BinaryOperator::Add => Value::$variant($a + $b),
            BinaryOperator::Subtract => Value::$variant($a - $b),
            BinaryOperator::Multiply => Value::$variant($a * $b),
            BinaryOperator::Divide => Value::$variant(quotient($a, $b)),
            BinaryOperator::Equal => Value::Bool($a == $b),
            BinaryOperator::NotEqual => Value::Bool($a != $b),
            _ => return mismatch(),
        })
    };
}

/// Both operands are values already: `&&` and `||` do not stop early here.
pub(super) fn binary(operator: BinaryOperator, left: Value, right: Value) -> Result<Value> {
    count(left);
    match (left, right) {
        (Value::Index(a), Value::Index(b)) => of_indices(operator, a, b),
        (Value::F64(a), Value::F64(b)) => of_floats!(F64, operator, a, b),
        (Value::F32(a), Value::F32(b)) => of_floats!(F32, operator, a, b),
        (Value::I32(a), Value::I32(b)) => of_integers!(I32, operator, a, b),
        (Value::I64(a), Value::I64(b)) => of_integers!(I64, operator, a, b),
        (Value::U8(a), Value::U8(b)) => of_integers!(U8, operator, a, b),
        (Value::I8(a), Value::I8(b)) => of_integers!(I8, operator, a, b),
        (Value::I16(a), Value::I16(b)) => of_integers!(I16, operator, a, b),
        (Value::U16(a), Value::U16(b)) => of_integers!(U16, operator, a, b),
        (Value::U32(a), Value::U32(b)) => of_integers!(U32, operator, a, b),
        (Value::U64(a), Value::U64(b)) => of_integers!(U64, operator, a, b),
        (Value::C32(a), Value::C32(b)) => of_complex!(C32, operator, a, b),
        (Value::C64(a), Value::C64(b)) => of_complex!(C64, operator, a, b),
        (Value::Bool(a), Value::Bool(b)) => match operator {
            BinaryOperator::And => Ok(Value::Bool(a && b)),
            BinaryOperator::Or => Ok(Value::Bool(a || b)),
            _ => compare(operator, a, b),
        },
        _ => mismatch(),
    }
}

fn minimum(left: Value, right: Value) -> Result<Value> {
    Ok(match (left, right) {
        (Value::Index(a), Value::Index(b)) => Value::Index(a.min(b)),
        (Value::F64(a), Value::F64(b)) => Value::F64(minimum_number(a, b)),
        (Value::F32(a), Value::F32(b)) => Value::F32(minimum_number(a, b)),
        (Value::I32(a), Value::I32(b)) => Value::I32(a.min(b)),
        (Value::I64(a), Value::I64(b)) => Value::I64(a.min(b)),
        (Value::U8(a), Value::U8(b)) => Value::U8(a.min(b)),
        (Value::I8(a), Value::I8(b)) => Value::I8(a.min(b)),
        (Value::I16(a), Value::I16(b)) => Value::I16(a.min(b)),
        (Value::U16(a), Value::U16(b)) => Value::U16(a.min(b)),
        (Value::U32(a), Value::U32(b)) => Value::U32(a.min(b)),
        (Value::U64(a), Value::U64(b)) => Value::U64(a.min(b)),
        _ => return mismatch(),
    })
}

fn maximum(left: Value, right: Value) -> Result<Value> {
    Ok(match (left, right) {
        (Value::Index(a), Value::Index(b)) => Value::Index(a.max(b)),
        (Value::F64(a), Value::F64(b)) => Value::F64(maximum_number(a, b)),
        (Value::F32(a), Value::F32(b)) => Value::F32(maximum_number(a, b)),
        (Value::I32(a), Value::I32(b)) => Value::I32(a.max(b)),
        (Value::I64(a), Value::I64(b)) => Value::I64(a.max(b)),
        (Value::U8(a), Value::U8(b)) => Value::U8(a.max(b)),
        (Value::I8(a), Value::I8(b)) => Value::I8(a.max(b)),
        (Value::I16(a), Value::I16(b)) => Value::I16(a.max(b)),
        (Value::U16(a), Value::U16(b)) => Value::U16(a.max(b)),
        (Value::U32(a), Value::U32(b)) => Value::U32(a.max(b)),
        (Value::U64(a), Value::U64(b)) => Value::U64(a.max(b)),
        _ => return mismatch(),
    })
}

pub(super) fn reduce(operator: ReduceOperator, left: Value, right: Value) -> Result<Value> {
    match operator.combine(left.ty()) {
        Some(Combine::Operator(operator)) => binary(operator, left, right),
        Some(Combine::Function(function)) => call(function, &[left, right]),
        Some(Combine::Defined(definition)) => defined(&definition.value, left, right),
        None => mismatch(),
    }
}

/// What a declared operator makes of two values.
fn defined(expr: &Expr, left: Value, right: Value) -> Result<Value> {
    let of = |expr: &Expr| defined(expr, left, right);
    match expr {
        Expr::Literal(literal) => Value::of_literal(*literal),
        Expr::Bool(value) => Ok(Value::Bool(*value)),
        Expr::Variable(LEFT) => Ok(left),
        Expr::Variable(RIGHT) => Ok(right),
        Expr::Unary(operator, operand) => unary(*operator, of(operand)?),
        Expr::Binary(operator, one, other) => binary(*operator, of(one)?, of(other)?),
        Expr::Call(function, arguments) => call(*function, &arguments.iter().map(of).collect::<Result<Vec<_>>>()?),
        Expr::Select(condition, yes, no) => of(if of(condition)?.truth()? { yes } else { no }),
        Expr::Cast(ty, operand) => cast(*ty, of(operand)?),
        _ => mismatch(),
    }
}

/// The value that a reduction starts from.
pub(super) fn identity(operator: ReduceOperator, ty: Type) -> Result<Value> {
    match ty {
        Type::Index => operator.index_identity().map_or_else(mismatch, |identity| Ok(Value::Index(identity))),
        Type::Bool => operator.identity(ElementType::Bool).map_or_else(mismatch, Value::of_literal),
        Type::Element(element) => operator.identity(element).map_or_else(mismatch, Value::of_literal),
    }
}

macro_rules! of_complex_number {
    ($function:expr, $a:expr, $part:ident, $complex:ident) => {
        match $function {
            Function::Re => Some(Value::$part($a.re)),
            Function::Im => Some(Value::$part($a.im)),
            Function::Abs => Some(Value::$part($a.norm())),
            Function::Conj => Some(Value::$complex($a.conj())),
            Function::Sqrt => Some(Value::$complex(root($a))),
            Function::Exp => Some(Value::$complex(exponential($a))),
            _ => None,
        }
    };
}

pub(super) fn call(function: Function, arguments: &[Value]) -> Result<Value> {
    arguments.first().copied().into_iter().for_each(count);
    let value = match (function, arguments) {
        (Function::Min, &[a, b]) => return minimum(a, b),
        (Function::Max, &[a, b]) => return maximum(a, b),
        (Function::Abs, &[Value::I32(a)]) => Some(Value::I32(a.wrapping_abs())),
        (Function::Abs, &[Value::I64(a)]) => Some(Value::I64(a.wrapping_abs())),
        (Function::Abs, &[Value::U8(a)]) => Some(Value::U8(a)),
        (Function::Abs, &[Value::I8(a)]) => Some(Value::I8(a.wrapping_abs())),
        (Function::Abs, &[Value::I16(a)]) => Some(Value::I16(a.wrapping_abs())),
        (Function::Abs, &[Value::U16(a)]) => Some(Value::U16(a)),
        (Function::Abs, &[Value::U32(a)]) => Some(Value::U32(a)),
        (Function::Abs, &[Value::U64(a)]) => Some(Value::U64(a)),
        (Function::Complex, &[Value::F32(re), Value::F32(im)]) => Some(Value::C32(c32::new(re, im))),
        (Function::Complex, &[Value::F64(re), Value::F64(im)]) => Some(Value::C64(c64::new(re, im))),
        (_, &[Value::C32(a)]) => of_complex_number!(function, a, F32, C32),
        (_, &[Value::C64(a)]) => of_complex_number!(function, a, F64, C64),
        (_, &[Value::F64(a)]) => function.of_f64(&[a]).map(Value::F64),
        (_, &[Value::F32(a)]) => function.of_f32(&[a]).map(Value::F32),
        (_, &[Value::F64(a), Value::F64(b)]) => function.of_f64(&[a, b]).map(Value::F64),
        (_, &[Value::F32(a), Value::F32(b)]) => function.of_f32(&[a, b]).map(Value::F32),
        _ => None,
    };
    value.map_or_else(mismatch, Ok)
}

macro_rules! number_as {
    ($value:expr, $ty:expr) => {
        match $ty {
            Type::Index => Value::Index($value as u64),
            Type::Element(ElementType::F64) => Value::F64($value as f64),
            Type::Element(ElementType::F32) => Value::F32($value as f32),
            Type::Element(ElementType::I32) => Value::I32($value as i32),
            Type::Element(ElementType::I64) => Value::I64($value as i64),
            Type::Element(ElementType::U8) => Value::U8($value as u8),
            Type::Element(ElementType::I8) => Value::I8($value as i8),
            Type::Element(ElementType::I16) => Value::I16($value as i16),
            Type::Element(ElementType::U16) => Value::U16($value as u16),
            Type::Element(ElementType::U32) => Value::U32($value as u32),
            Type::Element(ElementType::U64) => Value::U64($value as u64),
            Type::Element(ElementType::C32) => Value::C32(($value as f32).into()),
            Type::Element(ElementType::C64) => Value::C64(($value as f64).into()),
            _ => return mismatch(),
        }
    };
}

macro_rules! complex_as {
    ($value:expr, $ty:expr) => {
        match $ty {
            Type::Element(ElementType::C32) => Value::C32(c32::new($value.re as f32, $value.im as f32)),
            Type::Element(ElementType::C64) => Value::C64(c64::new($value.re as f64, $value.im as f64)),
            _ => return mismatch(),
        }
    };
}

/// As Rust's `as`, part by part; of a real number to a complex one, with no imaginary part.
pub(super) fn cast(ty: Type, value: Value) -> Result<Value> {
    Ok(match value {
        Value::Bool(a) if ty == Type::Bool => Value::Bool(a),
        Value::Bool(a) => number_as!(u8::from(a), ty),
        Value::Index(a) => number_as!(a, ty),
        Value::F64(a) => number_as!(a, ty),
        Value::F32(a) => number_as!(a, ty),
        Value::I32(a) => number_as!(a, ty),
        Value::I64(a) => number_as!(a, ty),
        Value::U8(a) => number_as!(a, ty),
        Value::I8(a) => number_as!(a, ty),
        Value::I16(a) => number_as!(a, ty),
        Value::U16(a) => number_as!(a, ty),
        Value::U32(a) => number_as!(a, ty),
        Value::U64(a) => number_as!(a, ty),
        Value::C32(a) => complex_as!(a, ty),
        Value::C64(a) => complex_as!(a, ty),
    })
}

/// Counts an operation that has this operand.
fn count(operand: Value) {
    if !matches!(operand, Value::Index(_) | Value::Bool(_)) {
        counts::add(|counts| counts.operations += 1);
    }
}
