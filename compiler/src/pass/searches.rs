//! A search that a block makes several times is made once.
//!
//! ```text
//! for p in A_pos[i]..search(A_crd, A_pos[i], A_pos[i + 1], i)          let found = search(A_crd, A_pos[i], A_pos[i + 1], i)
//!     …                                                                for p in A_pos[i]..found
//! let q = search(A_crd, A_pos[i], A_pos[i + 1], i)                         …
//!                                                                      let q = found
//! ```

use super::over_body;
use crate::ir::{BinaryOperator, Expr, Kernel, Statement, Type, VariableId, declared};
use std::collections::BTreeMap;

/// The kernel whose blocks make each search once.
pub(super) fn searches(kernel: Kernel) -> Kernel {
    over_body(kernel, block)
}

fn block(kernel: &mut Kernel, statements: &mut Vec<Statement>) {
    for statement in statements.iter_mut() {
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner));
    }
    // Searches as they are with all that the block declares before worked in, and where they are first made.
    let mut made: Vec<(Expr, Expr, usize, usize)> = Vec::new();
    let mut values = BTreeMap::new();
    for (place, statement) in statements.iter().enumerate() {
        for_each_search(statement, &mut |search| {
            let whole = search.clone().substituted(&values);
            if !is_settled(kernel, &whole) {
                return;
            }
            match made.iter_mut().find(|(known, ..)| *known == whole) {
                Some((.., count)) => *count += 1,
                None => made.push((whole, search.clone(), place, 1)),
            }
        });
        declare(kernel, statement, &mut values);
    }
    made.retain(|(.., count)| *count > 1);
    let mut found: Vec<(Expr, usize, VariableId)> = Vec::new();
    let mut lets: Vec<(usize, Statement)> = Vec::new();
    for (whole, search, place, _) in made {
        let variable = kernel.declare_variable("found", Type::Index, false);
        found.push((whole, place, variable));
        lets.push((place, Statement::Let(variable, search)));
    }
    let mut values = BTreeMap::new();
    for statement in statements.iter_mut() {
        if !is_repeated(statement) {
            statement.for_each_expr_mut(&mut |expr| {
                let taken = std::mem::replace(expr, Expr::Index(0));
                *expr = replaced(taken, &values, &found);
            });
        }
        declare(kernel, statement, &mut values);
    }
    for (place, declaration) in lets.into_iter().rev() {
        statements.insert(place, declaration);
    }
}

fn declare(kernel: &Kernel, statement: &Statement, values: &mut BTreeMap<VariableId, Expr>) {
    if let Statement::Let(variable, value) = statement
        && !kernel.variable(*variable).mutable
    {
        let value = value.clone().substituted(values);
        values.insert(*variable, value);
    }
}

/// Whether a statement computes its own expressions again and again.
fn is_repeated(statement: &Statement) -> bool {
    matches!(statement, Statement::While(..))
}

/// Calls `visit` on the searches that a statement itself makes whatever holds, not on those of the blocks in it.
fn for_each_search(statement: &Statement, visit: &mut dyn FnMut(&Expr)) {
    if is_repeated(statement) {
        return;
    }
    let own = declared(std::slice::from_ref(statement));
    statement.for_each_expr(&mut |expr| {
        always_made(expr, &mut |search| {
            if !own.iter().any(|variable| search.uses(*variable)) {
                visit(search);
            }
        });
    });
}

fn always_made(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match expr {
        Expr::Select(condition, ..) => always_made(condition, visit),
        Expr::Binary(BinaryOperator::And | BinaryOperator::Or, left, _) => always_made(left, visit),
        _ => {
            if matches!(expr, Expr::Search { .. }) {
                visit(expr);
            }
            expr.for_each_child(&mut |child| always_made(child, visit));
        }
    }
}

/// Whether a search finds the same wherever it is made: nothing in it changes.
fn is_settled(kernel: &Kernel, search: &Expr) -> bool {
    let mut is_settled = true;
    search.for_each(&mut |inner| {
        if let Expr::Variable(variable) = inner {
            is_settled &= !kernel.variable(*variable).mutable;
        }
        inner.for_each_array(&mut |array| is_settled &= kernel.is_of_input(array));
    });
    is_settled
}

fn replaced(expr: Expr, values: &BTreeMap<VariableId, Expr>, found: &[(Expr, usize, VariableId)]) -> Expr {
    if matches!(expr, Expr::Search { .. }) {
        let whole = expr.clone().substituted(values);
        if let Some((.., variable)) = found.iter().find(|(known, ..)| *known == whole) {
            return Expr::Variable(*variable);
        }
    }
    expr.map_children(&mut |child| replaced(child, values, found))
}
