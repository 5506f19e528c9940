//! Every pair of nested operators, printed as Rust and computed by rustc's program, against what the loop IR means.

use super::rustc::{parallel, run};
use spc_compiler::backend;
use spc_compiler::format::interleave;
use spc_compiler::ir::{
    ArrayId, BinaryOperator, ElementType, Expr, Find, Function, Kernel, Literal, Statement, Type, UnaryOperator,
    Variable, VariableId, parse, verify,
};

const HEADER: &str = "kernel operators {
  dimension d0 n runtime
  tensor t0 A f64 [compressed] (d0) input
  tensor t1 F f32 [dense] (d0) input
  tensor t2 I i32 [dense] (d0) input
  tensor t3 L i64 [dense] (d0) input
  tensor t4 U u8 [dense] (d0) input
  tensor t5 W i64 [dense] (d0) output dense zero
  tensor t6 X f64 [dense] (d0) output dense zero
  array a0 A1_pos index(u32) positions t0 0
  array a1 A1_crd index(u32) coordinates t0 0
  array a2 A_vals f64 values t0
  array a3 F f32 values t1
  array a4 I i32 values t2
  array a5 L i64 values t3
  array a6 U u8 values t4
  array a7 W i64 values t5
  array a8 X f64 values t6
  body {
  }
}";

const COORDINATES: [u64; 4] = [2, 5, 9, 40];
const FLOATS: [f64; 4] = [0.5, -2.0, 8.0, 3.25];
const INTEGERS: [i64; 4] = [7, -3, 100, 2];
const BYTES: [u8; 4] = [3, 200, 1, 16];

const F64: Type = Type::Element(ElementType::F64);
const F32: Type = Type::Element(ElementType::F32);
const I32: Type = Type::Element(ElementType::I32);
const I64: Type = Type::Element(ElementType::I64);
const U8: Type = Type::Element(ElementType::U8);
const TYPES: [Type; 7] = [Type::Index, Type::Bool, F64, F32, I32, I64, U8];

/// A value of any type.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Index(u64),
    Bool(bool),
    F64(f64),
    F32(f32),
    I32(i32),
    I64(i64),
    U8(u8),
}

/// What an expression means; `None` where it has no meaning (index arithmetic that wraps, division by zero).
fn value(expr: &Expr, variables: &[Value]) -> Option<Value> {
    let of = |expr: &Expr| value(expr, variables);
    Some(match expr {
        Expr::Index(value) => Value::Index(*value),
        Expr::Bool(value) => Value::Bool(*value),
        Expr::Literal(Literal::Float(ElementType::F32, value)) => Value::F32(*value as f32),
        Expr::Literal(Literal::Float(_, value)) => Value::F64(*value),
        Expr::Literal(Literal::Integer(ElementType::I32, value)) => Value::I32(*value as i32),
        Expr::Literal(Literal::Integer(ElementType::U8, value)) => Value::U8(*value as u8),
        Expr::Literal(Literal::Integer(ElementType::I64, value)) => Value::I64(*value as i64),
        Expr::Literal(Literal::Integer(..)) => return None,
        Expr::Variable(id) => variables[id.index()],
        Expr::Length(_) | Expr::Dimension(_) => Value::Index(4),
        Expr::Load(array, index) => load(*array, of(index)?)?,
        Expr::Unary(UnaryOperator::Not, operand) => match of(operand)? {
            Value::Bool(a) => Value::Bool(!a),
            _ => return None,
        },
        Expr::Unary(UnaryOperator::Negate, operand) => match of(operand)? {
            Value::F64(a) => Value::F64(-a),
            Value::F32(a) => Value::F32(-a),
            Value::I32(a) => Value::I32(a.wrapping_neg()),
            Value::I64(a) => Value::I64(a.wrapping_neg()),
            _ => return None,
        },
        Expr::Binary(operator, left, right) => binary(*operator, of(left)?, of(right)?)?,
        // What generated expressions are made of has no runs of one length.
        Expr::Fold(..) => return None,
        Expr::Mask { part, extents } => {
            let extent = |extent: &Expr| if let Some(Value::Index(extent)) = of(extent) { Some(extent) } else { None };
            let extents: Option<Vec<u64>> = extents.iter().map(extent).collect();
            Value::Index(interleave::mask(&extents?, *part)?)
        }
        Expr::Call(function, arguments) => {
            let arguments: Option<Vec<Value>> = arguments.iter().map(of).collect();
            call(*function, &arguments?)?
        }
        Expr::Select(condition, yes, no) => match (of(condition)?, of(yes)?, of(no)?) {
            (Value::Bool(condition), yes, no) => {
                if condition {
                    yes
                } else {
                    no
                }
            }
            _ => return None,
        },
        Expr::Cast(ty, operand) => cast(*ty, of(operand)?)?,
        Expr::Search { begin, end, value, .. } => match (of(begin)?, of(end)?, of(value)?) {
            (Value::Index(begin), Value::Index(end), Value::Index(value)) if begin <= end && end <= 4 => {
                Value::Index((begin..end).find(|&place| COORDINATES[place as usize] >= value).unwrap_or(end))
            }
            _ => return None,
        },
    })
}

fn load(array: ArrayId, place: Value) -> Option<Value> {
    let Value::Index(place) = place else { return None };
    let place = usize::try_from(place).ok().filter(|&place| place < 4)?;
    Some(match array.0 {
        1 => Value::Index(COORDINATES[place]),
        2 => Value::F64(FLOATS[place]),
        3 => Value::F32(FLOATS[place] as f32),
        4 => Value::I32(INTEGERS[place] as i32),
        5 => Value::I64(INTEGERS[place]),
        6 => Value::U8(BYTES[place]),
        _ => return None,
    })
}

fn binary(operator: BinaryOperator, left: Value, right: Value) -> Option<Value> {
    use BinaryOperator::*;
    fn compare<T: PartialOrd>(operator: BinaryOperator, a: T, b: T) -> Option<Value> {
        Some(Value::Bool(match operator {
            Equal => a == b,
            NotEqual => a != b,
            Less => a < b,
            LessEqual => a <= b,
            Greater => a > b,
            GreaterEqual => a >= b,
            _ => return None,
        }))
    }
    macro_rules! of_integers {
        ($variant:ident, $a:expr, $b:expr) => {
            Some(Value::$variant(match operator {
                Add => $a.wrapping_add($b),
                Subtract => $a.wrapping_sub($b),
                Multiply => $a.wrapping_mul($b),
                Divide if $b != 0 => $a.wrapping_div($b),
                Remainder if $b != 0 => $a.wrapping_rem($b),
                BitAnd => $a & $b,
                BitOr => $a | $b,
                _ => return compare(operator, $a, $b),
            }))
        };
    }
    macro_rules! of_floats {
        ($variant:ident, $a:expr, $b:expr) => {
            Some(Value::$variant(match operator {
                Add => $a + $b,
                Subtract => $a - $b,
                Multiply => $a * $b,
                Divide => $a / $b,
                Remainder => $a % $b,
                _ => return compare(operator, $a, $b),
            }))
        };
    }
    match (left, right) {
        (Value::Index(a), Value::Index(b)) => Some(Value::Index(match operator {
            Add => a.checked_add(b)?,
            Subtract => a.checked_sub(b)?,
            Multiply => a.checked_mul(b)?,
            Divide => a.checked_div(b)?,
            Remainder => a.checked_rem(b)?,
            Minimum => a.min(b),
            Maximum => a.max(b),
            Gather => (0..64).rev().filter(|bit| b >> bit & 1 == 1).fold(0, |bits, bit| bits << 1 | a >> bit & 1),
            Scatter => {
                let ones = (0..64).filter(|bit| b >> bit & 1 == 1).enumerate();
                ones.fold(0, |bits, (from, to)| bits | (a >> from & 1) << to)
            }
            Rank if b < 64 => (0..b).filter(|bit| a >> bit & 1 == 1).count() as u64,
            _ => return compare(operator, a, b),
        })),
        (Value::Bool(a), Value::Bool(b)) => match operator {
            And => Some(Value::Bool(a && b)),
            Or => Some(Value::Bool(a || b)),
            _ => compare(operator, a, b),
        },
        (Value::F64(a), Value::F64(b)) => of_floats!(F64, a, b),
        (Value::F32(a), Value::F32(b)) => of_floats!(F32, a, b),
        (Value::I32(a), Value::I32(b)) => of_integers!(I32, a, b),
        (Value::I64(a), Value::I64(b)) => of_integers!(I64, a, b),
        (Value::U8(a), Value::U8(b)) => of_integers!(U8, a, b),
        _ => None,
    }
}

fn call(function: Function, arguments: &[Value]) -> Option<Value> {
    macro_rules! minimum_and_maximum {
        ($variant:ident, $a:expr, $b:expr) => {
            Value::$variant(if function == Function::Min { $a.min($b) } else { $a.max($b) })
        };
    }
    macro_rules! of_floats {
        ($variant:ident, $a:expr) => {
            Value::$variant(match function {
                Function::Abs => $a.abs(),
                Function::Sqrt => $a.sqrt(),
                Function::Exp => $a.exp(),
                Function::Ln => $a.ln(),
                _ => return None,
            })
        };
    }
    Some(match *arguments {
        [Value::F64(a), Value::F64(b)] if function == Function::Pow => Value::F64(a.powf(b)),
        [Value::F32(a), Value::F32(b)] if function == Function::Pow => Value::F32(a.powf(b)),
        [Value::F64(a), Value::F64(b)] => minimum_and_maximum!(F64, a, b),
        [Value::F32(a), Value::F32(b)] => minimum_and_maximum!(F32, a, b),
        [Value::I32(a), Value::I32(b)] => minimum_and_maximum!(I32, a, b),
        [Value::I64(a), Value::I64(b)] => minimum_and_maximum!(I64, a, b),
        [Value::U8(a), Value::U8(b)] => minimum_and_maximum!(U8, a, b),
        [Value::F64(a)] => of_floats!(F64, a),
        [Value::F32(a)] => of_floats!(F32, a),
        [Value::I32(a)] => Value::I32(a.wrapping_abs()),
        [Value::I64(a)] => Value::I64(a.wrapping_abs()),
        [Value::U8(a)] => Value::U8(a),
        _ => return None,
    })
}

fn cast(ty: Type, from: Value) -> Option<Value> {
    macro_rules! convert {
        ($a:expr) => {
            match ty {
                Type::Index => Value::Index($a as u64),
                F64 => Value::F64($a as f64),
                F32 => Value::F32($a as f32),
                I32 => Value::I32($a as i32),
                I64 => Value::I64($a as i64),
                U8 => Value::U8($a as u8),
                _ => return None,
            }
        };
    }
    Some(match from {
        Value::Bool(a) if ty == Type::Bool => Value::Bool(a),
        Value::Bool(a) => convert!(u8::from(a)),
        Value::Index(a) => convert!(a),
        Value::F64(a) => convert!(a),
        Value::F32(a) => convert!(a),
        Value::I32(a) => convert!(a),
        Value::I64(a) => convert!(a),
        Value::U8(a) => convert!(a),
    })
}

/// An operator: what it takes, what it gives.
struct Operator {
    name: String,
    operands: Vec<Type>,
    result: Type,
    make: Box<dyn Fn(Vec<Expr>) -> Expr>,
}

impl Operator {
    fn new(name: String, operands: Vec<Type>, result: Type, make: impl Fn(Vec<Expr>) -> Expr + 'static) -> Operator {
        Operator { name, operands, result, make: Box::new(make) }
    }
}

fn boxed<const N: usize>(operands: Vec<Expr>) -> [Box<Expr>; N] {
    let operands: Vec<Box<Expr>> = operands.into_iter().map(Box::new).collect();
    operands.try_into().expect("as many operands as types")
}

/// Every operator at every type that the loop IR defines it for.
fn operators(kernel: &Kernel) -> Vec<Operator> {
    let mut all = Vec::new();
    let mut add = |name: String, operands: Vec<Type>, make: Box<dyn Fn(Vec<Expr>) -> Expr>| {
        let leaves = operands.iter().map(|&ty| leaf(ty, 0)).collect();
        if let Ok(result) = kernel.type_of(&make(leaves)) {
            all.push(Operator::new(name, operands, result, make));
        }
    };
    for ty in TYPES {
        for operator in BinaryOperator::ALL {
            let make = move |operands| {
                let [left, right] = boxed(operands);
                Expr::Binary(operator, left, right)
            };
            add(format!("{operator:?} of {ty}"), vec![ty, ty], Box::new(make));
        }
        for operator in [UnaryOperator::Negate, UnaryOperator::Not] {
            let make = move |operands| {
                let [operand] = boxed(operands);
                Expr::Unary(operator, operand)
            };
            add(format!("{operator:?} of {ty}"), vec![ty], Box::new(make));
        }
        for function in [Function::Abs, Function::Sqrt, Function::Exp, Function::Ln] {
            add(format!("{function:?} of {ty}"), vec![ty], Box::new(move |operands| Expr::Call(function, operands)));
        }
        for function in [Function::Min, Function::Max, Function::Pow] {
            add(
                format!("{function:?} of {ty}"),
                vec![ty, ty],
                Box::new(move |operands| Expr::Call(function, operands)),
            );
        }
        for to in TYPES {
            let make = move |operands| {
                let [operand] = boxed(operands);
                Expr::Cast(to, operand)
            };
            add(format!("{ty} as {to}"), vec![ty], Box::new(make));
        }
        let select = |operands| {
            let [condition, yes, no] = boxed(operands);
            Expr::Select(condition, yes, no)
        };
        add(format!("select of {ty}"), vec![Type::Bool, ty, ty], Box::new(select));
    }
    let search = |operands| {
        let [begin, end, value] = boxed(operands);
        Expr::Search { array: ArrayId(1), begin, end, value, stride: 1, find: Find::Element }
    };
    add("search".to_owned(), vec![Type::Index; 3], Box::new(search));
    let mask = |extents| Expr::Mask { part: 1, extents };
    add("mask".to_owned(), vec![Type::Index; 2], Box::new(mask));
    for array in [1, 2, 4] {
        let load = move |operands: Vec<Expr>| {
            let [place] = boxed(operands);
            Expr::Load(ArrayId(array), place)
        };
        add(format!("load of a{array}"), vec![Type::Index], Box::new(load));
    }
    all
}

/// Something without an operator: a variable, a literal or what an array holds.
fn leaf(ty: Type, choice: usize) -> Expr {
    let place = Box::new(Expr::Index(choice as u64 % 4));
    let load = |array: u32| Expr::Load(ArrayId(array), place.clone());
    let float = |element| Expr::Literal(Literal::Float(element, [-1.5, 4.0, 0.25, -8.0][choice % 4]));
    let integer = |element| Expr::Literal(Literal::Integer(element, [-6, 4, 1, -90][choice % 4]));
    let variable = |id: u32| Expr::Variable(VariableId(id));
    match (ty, choice % 3) {
        (Type::Index, 0) => variable(0),
        (Type::Index, 1) => Expr::Index([1, 4, 2, 0][choice % 4]),
        (Type::Index, _) => load(1),
        (Type::Bool, 0) => variable(1),
        (Type::Bool, _) => Expr::Bool(choice.is_multiple_of(2)),
        (F64, 0) => variable(2),
        (F64, 1) => float(ElementType::F64),
        (F64, _) => load(2),
        (F32, 0) => variable(3),
        (F32, 1) => float(ElementType::F32),
        (F32, _) => load(3),
        (I32, 0) => variable(4),
        (I32, 1) => integer(ElementType::I32),
        (I32, _) => load(4),
        (I64, 0) => variable(5),
        (I64, 1) => integer(ElementType::I64),
        (I64, _) => load(5),
        (U8, 0) => variable(6),
        (U8, 1) => Expr::Literal(Literal::Integer(ElementType::U8, [3, 250, 1, 16][choice % 4])),
        (U8, _) => load(6),
        _ => unreachable!("not a type of the test"),
    }
}

/// The variables that leaves use, in order, and their values.
const VARIABLES: [(&str, Type, Value); 7] = [
    ("n", Type::Index, Value::Index(3)),
    ("flag", Type::Bool, Value::Bool(true)),
    ("x", F64, Value::F64(1.75)),
    ("f", F32, Value::F32(-0.75)),
    ("i", I32, Value::I32(-5)),
    ("l", I64, Value::I64(11)),
    ("u", U8, Value::U8(130)),
];

fn literal(value: Value) -> Expr {
    match value {
        Value::Index(value) => Expr::Index(value),
        Value::Bool(value) => Expr::Bool(value),
        Value::F64(value) => Expr::Literal(Literal::Float(ElementType::F64, value)),
        Value::F32(value) => Expr::Literal(Literal::Float(ElementType::F32, value.into())),
        Value::I32(value) => Expr::Literal(Literal::Integer(ElementType::I32, value.into())),
        Value::I64(value) => Expr::Literal(Literal::Integer(ElementType::I64, value.into())),
        Value::U8(value) => Expr::Literal(Literal::Integer(ElementType::U8, value.into())),
    }
}

/// `outer` with `inner` as its operand number `slot`, and leaves for the rest, so that it means something.
fn nested(outer: &Operator, slot: usize, inner: &dyn Fn(usize) -> Option<Expr>, values: &[Value]) -> Option<Expr> {
    (0..96).find_map(|choice| {
        let operand = |(place, &ty): (usize, &Type)| {
            if place == slot { inner(choice) } else { Some(leaf(ty, choice / 5 + place)) }
        };
        let operands: Option<Vec<Expr>> = outer.operands.iter().enumerate().map(operand).collect();
        let expr = (outer.make)(operands?);
        let is_number = |value: &Value| {
            !matches!(value, Value::F64(x) if x.is_nan()) && !matches!(value, Value::F32(x) if x.is_nan())
        };
        value(&expr, values).filter(is_number).map(|_| expr)
    })
}

/// An operator with leaves for its operands.
fn plain(operator: &Operator, choice: usize) -> Expr {
    (operator.make)(operator.operands.iter().enumerate().map(|(place, &ty)| leaf(ty, choice + place)).collect())
}

/// Every operator in every operand of every other.
fn pairs(operators: &[Operator], values: &[Value]) -> Vec<(String, Expr)> {
    let mut all = Vec::new();
    for outer in operators {
        for (slot, &ty) in outer.operands.iter().enumerate() {
            for inner in operators.iter().filter(|inner| inner.result == ty) {
                let name = format!("{} in operand {slot} of {}", inner.name, outer.name);
                match nested(outer, slot, &|choice| Some(plain(inner, choice)), values) {
                    Some(expr) => all.push((name, expr)),
                    None => panic!("no leaves give a meaning to {name}"),
                }
            }
        }
    }
    all
}

/// Where a pair is not enough: what ends in a cast or begins with a sign, in an operand of an operand.
fn triples(operators: &[Operator], values: &[Value]) -> Vec<(String, Expr)> {
    const OUTER: [&str; 6] =
        ["Less of index", "LessEqual of f64", "Greater of index", "Negate of f64", "f64 as i64", "Abs of f64"];
    let is_delicate = |operator: &&Operator| {
        ["Negate", "search", "load", "as"].iter().any(|word| operator.name.split(' ').any(|part| part == *word))
    };
    let mut all = Vec::new();
    for outer in operators.iter().filter(|outer| OUTER.contains(&outer.name.as_str())) {
        for middle in operators.iter().filter(|middle| outer.operands.contains(&middle.result)) {
            for (place, &ty) in middle.operands.iter().enumerate() {
                for inner in operators.iter().filter(|inner| inner.result == ty).filter(is_delicate) {
                    for slot in 0..outer.operands.len() {
                        let operand = |choice| nested(middle, place, &|more| Some(plain(inner, choice + more)), values);
                        let name = format!("{} in {} in operand {slot} of {}", inner.name, middle.name, outer.name);
                        all.extend(nested(outer, slot, &operand, values).map(|expr| (name, expr)));
                    }
                }
            }
        }
    }
    all
}

/// A kernel that stores the value of each expression, and what it must store: integers and floating point apart.
fn kernel_of(expressions: &[(String, Expr)], mut kernel: Kernel) -> Kernel {
    for (number, (_, _, value)) in (0u32..).zip(VARIABLES) {
        kernel.body.push(Statement::Let(VariableId(number), literal(value)));
    }
    for (number, (_, expr)) in expressions.iter().enumerate() {
        let ty = kernel.type_of(expr).expect("operands fit");
        let id = VariableId(u32::try_from(kernel.variables.len()).expect("few variables"));
        kernel.variables.push(Variable { name: format!("e{number}"), ty, mutable: false });
        kernel.body.push(Statement::Let(id, expr.clone()));
        let (array, to) = if matches!(ty, F64 | F32) { (ArrayId(8), F64) } else { (ArrayId(7), I64) };
        let value = Expr::Cast(to, Box::new(Expr::Variable(id)));
        kernel.body.push(Statement::Store(array, Expr::Index(number as u64), value));
    }
    kernel
}

fn expected(value: Value) -> String {
    match value {
        Value::Index(value) => (value as i64).to_string(),
        Value::Bool(value) => u8::from(value).to_string(),
        Value::F64(value) => format!("{value:?}"),
        Value::F32(value) => format!("{:?}", f64::from(value)),
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U8(value) => value.to_string(),
    }
}

#[test]
fn every_pair_of_operators_means_in_rust_what_it_means_in_the_loop_ir() {
    let mut header = parse(HEADER, spc_compiler::level::named).expect("the header is a kernel");
    header.variables = VARIABLES.map(|(name, ty, _)| Variable { name: name.to_owned(), ty, mutable: false }).into();
    let operators = operators(&header);
    let values = VARIABLES.map(|(_, _, value)| value);
    let mut expressions = pairs(&operators, &values);
    assert!(expressions.len() > 1000, "{} pairs", expressions.len());
    expressions.extend(triples(&operators, &values));
    let count = expressions.len();
    let kernel = kernel_of(&expressions, header);
    let verified = verify(kernel).unwrap_or_else(|violations| panic!("{violations:?}"));
    let floats = FLOATS.map(|value| format!("{value:?}")).join(", ");
    let integers = INTEGERS.map(|value| value.to_string()).join(", ");
    let program = format!(
        "{}
        {}
        fn main() {{
            let (mut w, mut x) = (vec![0; {count}], vec![0.0; {count}]);
            operators(4, &[0, 4], &{COORDINATES:?}, &[{floats}], &[{floats}], &[{integers}], &[{integers}], &{BYTES:?}, &mut w, &mut x);
            for (w, x) in w.iter().zip(&x) {{
                println!(\"{{w}} {{x:?}}\");
            }}
        }}",
        parallel(),
        backend::rust::text(&verified)
    );
    let output = run("operators", &program);
    for ((name, expr), line) in expressions.iter().zip(output.lines()) {
        let wanted = expected(value(expr, &values).expect("the expression has a meaning"));
        let (integer, float) = line.split_once(' ').expect("two columns");
        let is_float = matches!(verified.type_of(expr), Ok(F64 | F32));
        assert_eq!(if is_float { float } else { integer }, wanted, "{name}: {expr:?}");
    }
    assert_eq!(output.lines().count(), count);
}
