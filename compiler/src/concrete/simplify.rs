//! What is left of a statement where an operand has no entry.
//!
//! A missing entry is zero, and zero annihilates: `0 * e` is 0 whatever `e` is. Before: `t += X(i, j) * v(j)`, and `X` has
//! no entry. After: nothing to do.

use super::{Access, Assign, Expr, Statement};
use crate::ir::{Function, Literal, ReduceOperator};
use crate::notation::{BinaryOperator, UnaryOperator};

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

/// The expression with zeros and ones worked in.
pub(crate) fn simplify_expr(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => expr,
        Expr::Unary(operator, operand) => {
            let operand = simplify_expr(*operand);
            match operator {
                UnaryOperator::Negate if is_zero(&operand) => zero_like(&operand).unwrap_or(operand),
                _ => Expr::Unary(operator, Box::new(operand)),
            }
        }
        Expr::Binary(operator, left, right) => binary(operator, simplify_expr(*left), simplify_expr(*right)),
        Expr::Call(function, arguments) => call(function, arguments.into_iter().map(simplify_expr).collect()),
        Expr::Select(condition, yes, no) => {
            let (yes, no) = (simplify_expr(*yes), simplify_expr(*no));
            if is_zero(&yes) && is_zero(&no) {
                return yes;
            }
            Expr::Select(Box::new(simplify_expr(*condition)), Box::new(yes), Box::new(no))
        }
        Expr::Reduce(operator, variables, body) => Expr::Reduce(operator, variables, Box::new(simplify_expr(*body))),
    }
}

fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    use BinaryOperator::*;
    match operator {
        Add if is_zero(&left) => right,
        Add | Subtract if is_zero(&right) => left,
        Subtract if is_zero(&left) => Expr::Unary(UnaryOperator::Negate, Box::new(right)),
        Multiply if is_zero(&left) => left,
        Multiply if is_zero(&right) => right,
        Multiply if is_one(&left) => right,
        Multiply | Divide if is_one(&right) => left,
        Divide if is_zero(&left) && !is_zero(&right) => left,
        _ => Expr::Binary(operator, Box::new(left), Box::new(right)),
    }
}

/// Functions that are zero at zero.
fn call(function: Function, mut arguments: Vec<Expr>) -> Expr {
    let zero_at_zero = match function {
        Function::Min | Function::Max | Function::Abs | Function::Sqrt => true,
        Function::Exp | Function::Ln | Function::Pow => false,
    };
    if zero_at_zero && arguments.iter().all(is_zero) { arguments.remove(0) } else { Expr::Call(function, arguments) }
}
