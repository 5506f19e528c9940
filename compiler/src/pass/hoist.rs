//! Loads that a vector loop repeats move before it; and values of operands, at the place that a loop is at, before the first
//! loop inside.
//!
//! ```text
//! for r in 0..R: t[r] += X_vals[p] * C[k * R + r]
//!
//! let X_val = X_vals[p]
//! for r in 0..R: t[r] += X_val * C[k * R + r]
//! ```

use super::over_body;
use super::runs::walked;
use crate::ir::{ArrayElement, ArrayId, ArrayRole, Expr, Kernel, Statement, TensorId, Type, VariableId};
use std::collections::BTreeSet;

/// The kernel with the loads of its vector loops moved before them where they do not change.
pub(super) fn hoist(kernel: Kernel) -> Kernel {
    over_body(kernel, block)
}

fn block(kernel: &mut Kernel, statements: &mut Vec<Statement>) {
    let mut done = Vec::with_capacity(statements.len());
    for mut statement in statements.drain(..) {
        if let Statement::For { variable, begin, vector: false, body, .. } = &mut statement
            && let Some(tensor) = walked(kernel, begin).filter(|tensor| !kernel.is_output(*tensor))
        {
            values_out_of_loops(kernel, tensor, *variable, body);
        }
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner));
        if let Statement::For { variable, vector: true, body, .. } = &mut statement {
            let lets = loads_out_of(kernel, *variable, body);
            done.extend(lets);
        }
        done.push(statement);
    }
    *statements = done;
}

/// A value of the operand that a loop walks is there for certain at the counter, whether the loops inside run or not.
fn values_out_of_loops(kernel: &mut Kernel, walked: TensorId, counter: VariableId, body: &mut Vec<Statement>) {
    let is_repeated =
        |statement: &Statement| matches!(statement, Statement::For { .. } | Statement::While(..) | Statement::Merge(_));
    let mut arrays = BTreeSet::new();
    let mut see = |statement: &Statement| {
        statement.for_each_expr(&mut |expr| {
            expr.for_each(&mut |expr| match expr {
                Expr::Load(array, index)
                    if **index == Expr::Variable(counter)
                        && kernel.array(*array).role == (ArrayRole::Values { tensor: walked }) =>
                {
                    arrays.insert(*array);
                }
                _ => {}
            });
        });
    };
    let Some(first) = body.iter().position(|statement| {
        let mut found = false;
        statement.for_each(&mut |inner| found |= is_repeated(inner));
        found
    }) else {
        return;
    };
    for statement in &body[first..] {
        statement.for_each(&mut |inner| {
            if is_repeated(inner) {
                inner.blocks().into_iter().flatten().for_each(|inner| inner.for_each(&mut see));
            }
        });
    }
    let comments = body[..first].iter().rev().take_while(|before| matches!(before, Statement::Comment(_))).count();
    let first = first - comments;
    let mut lets = Vec::new();
    for array in arrays {
        let load = Expr::load(array, Expr::Variable(counter));
        let variable = declare(kernel, array);
        body[first..].iter_mut().for_each(|statement| put(statement, &load, variable));
        lets.push(Statement::Let(variable, load));
    }
    body.splice(first..first, lets);
}

/// Puts a variable in place of what it holds.
fn put(statement: &mut Statement, value: &Expr, variable: VariableId) {
    fn put_in(expr: Expr, value: &Expr, variable: VariableId) -> Expr {
        if expr == *value {
            return Expr::Variable(variable);
        }
        expr.map_children(&mut |child| put_in(child, value, variable))
    }
    statement.for_each_expr_mut(&mut |expr| {
        let taken = std::mem::replace(expr, Expr::Index(0));
        *expr = put_in(taken, value, variable);
    });
    statement.blocks_mut().into_iter().flatten().for_each(|inner| put(inner, value, variable));
}

fn loads_out_of(kernel: &mut Kernel, counter: VariableId, body: &mut [Statement]) -> Vec<Statement> {
    let mut written: BTreeSet<ArrayId> = BTreeSet::new();
    let mut local: BTreeSet<VariableId> = BTreeSet::from([counter]);
    for statement in body.iter() {
        statement.for_each(&mut |inner| written.extend(inner.written_array()));
        if let Statement::Let(variable, _) = statement {
            local.insert(*variable);
        }
    }
    let mut hoisted: Vec<(Expr, VariableId)> = Vec::new();
    for statement in body.iter_mut() {
        statement.for_each_expr_mut(&mut |expr| {
            let taken = std::mem::replace(expr, Expr::Index(0));
            *expr = replace(kernel, taken, &written, &local, &mut hoisted);
        });
    }
    hoisted.into_iter().map(|(value, variable)| Statement::Let(variable, value)).collect()
}

fn replace(
    kernel: &mut Kernel,
    expr: Expr,
    written: &BTreeSet<ArrayId>,
    local: &BTreeSet<VariableId>,
    hoisted: &mut Vec<(Expr, VariableId)>,
) -> Expr {
    if let Expr::Load(array, index) = &expr {
        let changes = written.contains(array) || local.iter().any(|variable| index.uses(*variable));
        if !changes && matches!(kernel.array(*array).element, ArrayElement::Value(_)) {
            if let Some((_, variable)) = hoisted.iter().find(|(value, _)| *value == expr) {
                return Expr::Variable(*variable);
            }
            let variable = declare(kernel, *array);
            hoisted.push((expr, variable));
            return Expr::Variable(variable);
        }
    }
    expr.map_children(&mut |child| replace(kernel, child, written, local, hoisted))
}

/// A variable for an element of an array of values.
fn declare(kernel: &mut Kernel, of: ArrayId) -> VariableId {
    let array = kernel.array(of);
    let ArrayElement::Value(element) = array.element else { unreachable!("only values are hoisted") };
    let name = array.name.trim_end_matches("_vals").to_owned() + "_val";
    kernel.declare_variable(&name, Type::of(element), false)
}
