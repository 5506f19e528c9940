//! What is left of a statement where an operand has no entry.
//!
//! A missing entry is zero, and zero annihilates: `0 * e` is 0 whatever `e` is. Before: `t += X(i, j) * v(j)`, and `X` has
//! no entry. After: nothing to do.

use super::{Access, Assign, Expr, Statement};
use crate::ir::{ElementType, Function, Literal, ReduceOperator};
use crate::notation::{BinaryOperator, UnaryOperator, known};

/// The statement where `access` has no entry.
pub fn absent(statement: &Statement, access: &Access) -> Statement {
    match statement {
        Statement::Empty => Statement::Empty,
        Statement::Forall { variable, run, body } => {
            Statement::Forall { variable: *variable, run: *run, body: Box::new(absent(body, access)) }
        }
        Statement::Where { workspace, consumer, producer } => Statement::Where {
            workspace: *workspace,
            consumer: Box::new(absent(consumer, access)),
            producer: Box::new(absent(producer, access)),
        },
        Statement::Assign(assign) if assign.masks.iter().any(|mask| mask.same_place(access)) => Statement::Empty,
        Statement::Assign(assign) => {
            let keep = |other: &Access| (!other.same_place(access)).then(|| other.clone());
            let value = assign.value.map_accesses_typed(assign.element, &keep);
            Statement::Assign(Assign { value, ..assign.clone() })
        }
        Statement::Sequence(statements) => {
            Statement::Sequence(statements.iter().map(|statement| absent(statement, access)).collect())
        }
    }
}

/// The statement without what has no effect. Outputs and workspaces are zero at first, so assigning zero has none.
pub fn simplify(statement: Statement) -> Statement {
    match statement {
        Statement::Empty => Statement::Empty,
        Statement::Forall { variable, run, body } => match simplify(*body) {
            Statement::Empty => Statement::Empty,
            body => Statement::Forall { variable, run, body: Box::new(body) },
        },
        Statement::Where { workspace, consumer, producer } => match (simplify(*consumer), simplify(*producer)) {
            (Statement::Empty, _) => Statement::Empty,
            (consumer, Statement::Empty) => simplify(without_workspace(consumer, workspace)),
            (consumer, _) if !reads(&consumer, workspace) => consumer,
            (consumer, producer) => {
                Statement::Where { workspace, consumer: Box::new(consumer), producer: Box::new(producer) }
            }
        },
        Statement::Assign(mut assign) => {
            assign.value = simplify_expr(assign.value);
            let without_effect = matches!(assign.operator, None | Some(ReduceOperator::Add)) && is_zero(&assign.value);
            if without_effect { Statement::Empty } else { Statement::Assign(assign) }
        }
        Statement::Sequence(statements) => {
            let mut statements: Vec<Statement> =
                statements.into_iter().map(simplify).filter(|statement| *statement != Statement::Empty).collect();
            match statements.len() {
                0 => Statement::Empty,
                1 => statements.remove(0),
                _ => Statement::Sequence(statements),
            }
        }
    }
}

/// The consumer of a workspace that stays zero.
fn without_workspace(consumer: Statement, workspace: super::TensorId) -> Statement {
    let mut accesses = Vec::new();
    consumer.for_each_read(&mut |access| {
        if access.tensor == workspace {
            accesses.push(access.clone());
        }
    });
    accesses.iter().fold(consumer, |statement, access| absent(&statement, access))
}

fn reads(statement: &Statement, tensor: super::TensorId) -> bool {
    let mut found = false;
    statement.for_each_read(&mut |access| found |= access.tensor == tensor);
    found
}

/// Whether the expression is the literal zero.
pub fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(literal) if literal.is_zero())
}

fn is_one(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(literal) if literal.is_one())
}

fn zero_like(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Literal(literal) => Literal::new(literal.element(), 0.0).map(Expr::Literal),
        _ => None,
    }
}

/// Sums of zeros are zero.
pub(super) fn drop_zero_sums(expr: Expr) -> Expr {
    let expr = expr.map_children(&|child| drop_zero_sums(child.clone()));
    match expr {
        Expr::Reduce(_, _, body) if is_zero(&body) => *body,
        other => simplify_expr(other),
    }
}

/// The expression with zeros and ones worked in. What the checker knows to be zero, and lets into a sparse result, is zero
/// here too: both ask [`known::value`].
pub(crate) fn simplify_expr(expr: Expr) -> Expr {
    let expr = simplify_operands(expr);
    match element(&expr).filter(|_| known::value(&expr, &|_| false).is_zero()) {
        Some(element) => Literal::new(element, 0.0).map_or(expr, Expr::Literal),
        None => expr,
    }
}

/// The element type, where it can be told without the declarations of tensors.
fn element(expr: &Expr) -> Option<ElementType> {
    match expr {
        Expr::Literal(literal) => Some(literal.element()),
        Expr::Index(_, element) => Some(*element),
        Expr::Access(_) | Expr::Reduce(..) => None,
        Expr::Unary(_, operand) => element(operand),
        Expr::Binary(_, left, right) | Expr::Select(_, left, right) => element(left).or_else(|| element(right)),
        Expr::Call(_, arguments) => arguments.iter().find_map(element),
    }
}

fn simplify_operands(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => expr,
        Expr::Unary(operator, operand) => {
            let operand = simplify_expr(*operand);
            match (operator, truth(&operand)) {
                (UnaryOperator::Negate, _) if is_zero(&operand) => zero_like(&operand).unwrap_or(operand),
                (UnaryOperator::Not, Some(truth)) => truth_literal(!truth),
                _ => Expr::Unary(operator, Box::new(operand)),
            }
        }
        Expr::Binary(operator, left, right) => binary(operator, simplify_expr(*left), simplify_expr(*right)),
        Expr::Call(function, arguments) => call(function, arguments.into_iter().map(simplify_expr).collect()),
        Expr::Select(condition, yes, no) => {
            let (condition, yes, no) = (simplify_expr(*condition), simplify_expr(*yes), simplify_expr(*no));
            match truth(&condition) {
                Some(true) => yes,
                Some(false) => no,
                None if is_zero(&yes) && is_zero(&no) => yes,
                None => Expr::Select(Box::new(condition), Box::new(yes), Box::new(no)),
            }
        }
        Expr::Reduce(operator, variables, body) => Expr::Reduce(operator, variables, Box::new(simplify_expr(*body))),
    }
}

fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    use BinaryOperator::*;
    match operator {
        Add if is_zero(&left) => right,
        Add | Subtract if is_zero(&right) => left,
        // Bytes have no negative.
        Subtract if is_zero(&left) && element(&left) != Some(ElementType::U8) => {
            Expr::Unary(UnaryOperator::Negate, Box::new(right))
        }
        Multiply if is_zero(&left) => left,
        Multiply if is_zero(&right) => right,
        Multiply if is_one(&left) => right,
        Multiply | Divide if is_one(&right) => left,
        Divide | Remainder if is_zero(&left) && !is_zero(&right) => left,
        And if truth(&left) == Some(false) => left,
        And if truth(&right) == Some(false) => right,
        Or if truth(&left) == Some(true) => left,
        Or if truth(&right) == Some(true) => right,
        Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual => match (number(&left), number(&right)) {
            (Some(a), Some(b)) => truth_literal(compare(operator, a, b)),
            _ => Expr::Binary(operator, Box::new(left), Box::new(right)),
        },
        _ => Expr::Binary(operator, Box::new(left), Box::new(right)),
    }
}

fn truth(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Literal(Literal::Integer(ElementType::Bool, value)) => Some(*value != 0),
        _ => None,
    }
}

fn truth_literal(truth: bool) -> Expr {
    Expr::Literal(Literal::Integer(ElementType::Bool, truth.into()))
}

fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Literal(Literal::Float(_, value)) => Some(*value),
        Expr::Literal(Literal::Integer(_, value)) => Some(*value as f64),
        _ => None,
    }
}

fn compare(operator: BinaryOperator, a: f64, b: f64) -> bool {
    match operator {
        BinaryOperator::Equal => a == b,
        BinaryOperator::NotEqual => a != b,
        BinaryOperator::Less => a < b,
        BinaryOperator::LessEqual => a <= b,
        BinaryOperator::Greater => a > b,
        _ => a >= b,
    }
}

/// Minima, maxima and absolute values of constants; square roots of zero.
fn call(function: Function, arguments: Vec<Expr>) -> Expr {
    let numbers: Option<Vec<f64>> = arguments.iter().map(number).collect();
    let value = match (function, numbers.as_deref()) {
        (Function::Min, Some([a, b])) => Some(a.min(*b)),
        (Function::Max, Some([a, b])) => Some(a.max(*b)),
        (Function::Abs, Some([a])) => Some(a.abs()),
        (Function::Sqrt, Some([a])) if *a == 0.0 => Some(0.0),
        _ => None,
    };
    let literal = match (value, arguments.first()) {
        (Some(value), Some(Expr::Literal(first))) => Literal::new(first.element(), value),
        _ => None,
    };
    literal.map_or(Expr::Call(function, arguments), Expr::Literal)
}
