//! A statement as this language writes it.

use super::{Node, Statement};
use crate::ir::ReduceOperator;

/// How tightly operators bind, from the loosest.
fn level(operator: &str) -> u8 {
    match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 4,
        "&" => 5,
        "+" | "-" => 6,
        "*" | "/" | "%" => 7,
        _ => 3,
    }
}

/// What nothing binds tighter than.
const OPERAND: u8 = 9;
/// What follows a sign.
const UNARY: u8 = 8;

/// The text; `None` where something in it can't be said here.
pub(super) fn statement(statement: &Statement) -> Option<String> {
    let Statement { target, operator, value, mask, .. } = statement;
    let mask = match mask {
        Some(mask) => format!(" where {}", node(mask, 0)?),
        None => String::new(),
    };
    Some(format!("{} {operator} {}{mask}", node(target, OPERAND)?, node(value, 0)?))
}

/// An expression that stands where something binds as tightly as `around`.
fn node(expr: &Node, around: u8) -> Option<String> {
    let (own, text) = match expr {
        Node::Number(number) => (OPERAND, number.clone()),
        Node::Name(name) => (OPERAND, name.clone()),
        Node::Apply(name, arguments) => (OPERAND, format!("{name}({})", list(arguments)?)),
        Node::Reduce(name, variables, body) => {
            ReduceOperator::from_reduction(name)?;
            (OPERAND, format!("{name}({})({})", variables.join(", "), node(body, 0)?))
        }
        Node::Unary(operator, operand) => (UNARY, format!("{operator}{}", node(operand, UNARY)?)),
        Node::Binary(operator, left, right) => {
            let own = level(operator);
            let (left, right) = (node(left, own)?, node(right, own + 1)?);
            (own, if *operator == ".." { format!("{left}..{right}") } else { format!("{left} {operator} {right}") })
        }
        Node::Power(base, exponent) => (OPERAND, format!("pow({}, {})", node(base, 0)?, node(exponent, 0)?)),
        Node::Text(_) | Node::Product(..) | Node::Transposed(_) => return None,
    };
    Some(if own < around { format!("({text})") } else { text })
}

fn list(nodes: &[Node]) -> Option<String> {
    Some(nodes.iter().map(|argument| node(argument, 0)).collect::<Option<Vec<_>>>()?.join(", "))
}
