//! Loop nests that go over the same, as one.
//!
//! ```text
//! for all i                                for all i
//!     with t                                   with t
//!         for all j: t += A(i, j) * x(j)           for all j
//!     then y(i) += t                    →              t += A(i, j) * x(j)
//! for all i                                            y(j) += A(i, j) * x(i)
//!     for all j                                then y(i) += t
//!         y(j) += A(i, j) * x(i)
//! ```
//!
//! All that they assign outside of themselves they add to, so that the order does not matter. Workspaces that would hold the same are one.

use super::{IndexVariable, Statement, TensorId};
use crate::notation::{Access, Expr};

/// The statements as one, as far as they have the loops over `shared` in common; one after the other where they have not.
pub(super) fn together(statements: Vec<Statement>, shared: &[IndexVariable]) -> Statement {
    let mut all: Vec<Statement> = Vec::new();
    for statement in statements {
        match all.pop() {
            None => all.push(statement),
            Some(last) if have_one_loop(&last, &statement, shared) => all.push(joined(last, statement, shared)),
            Some(last) => all.extend([last, statement]),
        }
    }
    sequence(all)
}

fn sequence(mut statements: Vec<Statement>) -> Statement {
    match statements.len() {
        1 => statements.remove(0),
        _ => Statement::Sequence(statements),
    }
}

/// Whether two statements begin with one loop, behind their workspaces. A sum by itself is formed in vector lanes, and what it reads is in a
/// cache afterwards: it stays alone.
fn have_one_loop(one: &Statement, other: &Statement, shared: &[IndexVariable]) -> bool {
    let is_loop = |statement: &Statement| matches!(statement, Statement::Forall { .. });
    let first = next_loop(one, shared);
    first.is_some()
        && first == next_loop(other, shared)
        && !(is_loop(one) && is_loop(other) && sums_alone(one) != sums_alone(other))
}

/// One statement of two that begin with one loop.
fn joined(one: Statement, other: Statement, shared: &[IndexVariable]) -> Statement {
    match (one, other) {
        // What is the same is formed once.
        (
            Statement::Where { workspace, consumer, producer },
            Statement::Where { workspace: second, consumer: reader, producer: same },
        ) if are_alike((&producer, workspace), (&same, second)) => {
            let reader = renamed(&reader, &[(second, workspace)]);
            Statement::Where { workspace, consumer: Box::new(both(*consumer, reader, shared)), producer }
        }
        (one @ Statement::Where { .. }, other) => at_loop(one, shared, |inner| both(inner, other, shared)),
        (one, other @ Statement::Where { .. }) => at_loop(other, shared, |inner| both(one, inner, shared)),
        (Statement::Forall { variable, run, body }, Statement::Forall { body: other, .. }) => {
            Statement::Forall { variable, run, body: Box::new(both(*body, *other, shared)) }
        }
        (one, other) => in_order(one, other),
    }
}

/// A statement with a workspace in which the part that begins with the loop is another.
fn at_loop(statement: Statement, shared: &[IndexVariable], change: impl FnOnce(Statement) -> Statement) -> Statement {
    match statement {
        Statement::Where { workspace, consumer, producer } => match next_loop(&producer, shared) {
            Some(_) => Statement::Where { workspace, consumer, producer: Box::new(change(*producer)) },
            None => Statement::Where { workspace, consumer: Box::new(change(*consumer)), producer },
        },
        other => change(other),
    }
}

fn both(one: Statement, other: Statement, shared: &[IndexVariable]) -> Statement {
    match have_one_loop(&one, &other, shared) {
        true => joined(one, other, shared),
        false => in_order(one, other),
    }
}

/// One after the other.
pub(super) fn in_order(one: Statement, other: Statement) -> Statement {
    let parts = |statement| match statement {
        Statement::Empty => Vec::new(),
        Statement::Sequence(parts) => parts,
        other => vec![other],
    };
    let mut all = parts(one);
    all.extend(parts(other));
    sequence(all)
}

/// Whether a loop does nothing but to sum up in a variable.
fn sums_alone(statement: &Statement) -> bool {
    let Statement::Forall { body, .. } = statement else { return false };
    matches!(&**body, Statement::Assign(assign) if assign.target.indices.is_empty())
}

/// The loop that a statement begins with, behind its workspaces.
fn next_loop(statement: &Statement, shared: &[IndexVariable]) -> Option<IndexVariable> {
    match statement {
        Statement::Forall { variable, .. } => Some(*variable).filter(|variable| shared.contains(variable)),
        Statement::Where { consumer, producer, .. } => {
            next_loop(producer, shared).or_else(|| next_loop(consumer, shared))
        }
        Statement::Empty | Statement::Assign(_) | Statement::Sequence(_) => None,
    }
}

/// Whether two producers do the same, each for its workspace.
fn are_alike((one, workspace): (&Statement, TensorId), (other, second): (&Statement, TensorId)) -> bool {
    let made = |statement: &Statement| {
        let mut made = Vec::new();
        statement.for_each_workspace(&mut |workspace| made.push(workspace));
        made
    };
    let mut pairs: Vec<(TensorId, TensorId)> = made(other).into_iter().zip(made(one)).collect();
    pairs.push((second, workspace));
    renamed(other, &pairs) == *one
}

/// The statement with other tensors in the place of some.
pub(super) fn renamed(statement: &Statement, pairs: &[(TensorId, TensorId)]) -> Statement {
    let place = |tensor: TensorId| pairs.iter().find(|(from, _)| *from == tensor).map_or(tensor, |(_, to)| *to);
    let access = |access: &Access| Access { tensor: place(access.tensor), ..access.clone() };
    let inner = |statement: &Statement| Box::new(renamed(statement, pairs));
    match statement {
        Statement::Empty => Statement::Empty,
        Statement::Forall { variable, run, body } => {
            Statement::Forall { variable: *variable, run: *run, body: inner(body) }
        }
        Statement::Where { workspace, consumer, producer } => {
            Statement::Where { workspace: place(*workspace), consumer: inner(consumer), producer: inner(producer) }
        }
        Statement::Assign(assign) => {
            let mut assign = assign.clone();
            assign.target = access(&assign.target);
            assign.value = assign.value.map_accesses(&|read| Expr::Access(access(read)));
            assign.masks = assign.masks.iter().map(access).collect();
            Statement::Assign(assign)
        }
        Statement::Sequence(statements) => {
            Statement::Sequence(statements.iter().map(|statement| renamed(statement, pairs)).collect())
        }
    }
}
