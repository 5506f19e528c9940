//! Removes what has no effect: variables and first values that are not read, loops without a body, conditions that are known.
//!
//! Before: `let i = X1_crd[p]; let in_b = true; if in_b { y += 1 }`. After: `y += 1`.

use crate::ir::{BinaryOperator, Binding, Expr, Kernel, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel without what has no effect.
pub(crate) fn tidy(mut kernel: Kernel) -> Kernel {
    let mut constants = BTreeMap::new();
    collect_constants(&kernel, &kernel.body, &mut constants);
    fold_block(&mut kernel.body, &constants);
    let mut late = BTreeSet::new();
    declare_late(&mut kernel.body, &mut late);
    for variable in late {
        let is_changed = kernel.body.iter().any(|statement| is_changed_in(statement, variable));
        kernel.variables[variable.index()].mutable = is_changed;
    }
    loop {
        let mut used = BTreeSet::new();
        kernel.body.iter().for_each(|statement| statement.for_each(&mut |s| collect_used(s, &mut used)));
        let before = count(&kernel.body);
        sweep(&mut kernel.body, &used);
        if count(&kernel.body) == before {
            return kernel;
        }
    }
}

fn count(block: &[Statement]) -> usize {
    let mut total = 0;
    block.iter().for_each(|statement| statement.for_each(&mut |_| total += 1));
    total
}

/// Immutable variables whose value is a truth value or another immutable variable.
fn collect_constants(kernel: &Kernel, block: &[Statement], constants: &mut BTreeMap<VariableId, Expr>) {
    for statement in block {
        statement.for_each(&mut |statement| {
            let Statement::Let(variable, value) = statement else { return };
            if kernel.variable(*variable).mutable {
                return;
            }
            let is_constant = match value {
                Expr::Bool(_) => true,
                Expr::Variable(other) => !kernel.variable(*other).mutable,
                _ => false,
            };
            if is_constant {
                constants.insert(*variable, value.clone());
            }
        });
    }
}

fn fold_block(block: &mut Vec<Statement>, constants: &BTreeMap<VariableId, Expr>) {
    let mut folded = Vec::with_capacity(block.len());
    for mut statement in block.drain(..) {
        statement.for_each_expr_mut(&mut |expr| *expr = fold(std::mem::replace(expr, Expr::Index(0)), constants));
        statement.blocks_mut().into_iter().for_each(|inner| fold_block(inner, constants));
        match statement {
            Statement::If(branches, otherwise) => folded.extend(fold_branches(branches, otherwise)),
            other => folded.push(other),
        }
    }
    *block = folded;
}

fn fold_branches(branches: Vec<(Expr, Vec<Statement>)>, otherwise: Vec<Statement>) -> Vec<Statement> {
    let mut kept = Vec::new();
    let mut otherwise = otherwise;
    for (condition, body) in branches {
        match condition {
            Expr::Bool(false) => {}
            Expr::Bool(true) => {
                otherwise = body;
                break;
            }
            condition => kept.push((condition, body)),
        }
    }
    if kept.is_empty() { otherwise } else { vec![Statement::If(kept, otherwise)] }
}

fn fold(expr: Expr, constants: &BTreeMap<VariableId, Expr>) -> Expr {
    match expr.map_children(&mut |child| fold(child, constants)) {
        Expr::Variable(variable) => match constants.get(&variable) {
            Some(value) => fold(value.clone(), constants),
            None => Expr::Variable(variable),
        },
        Expr::Binary(BinaryOperator::And, left, right) => match (*left, *right) {
            (Expr::Bool(true), other) | (other, Expr::Bool(true)) => other,
            (left, right) => left.and(right),
        },
        Expr::Binary(BinaryOperator::Equal, left, right) if left == right && matches!(*left, Expr::Variable(_)) => {
            Expr::Bool(true)
        }
        other => other,
    }
}

/// Declares variables where they get their first value that somebody reads, and notes them.
fn declare_late(block: &mut Vec<Statement>, late: &mut BTreeSet<VariableId>) {
    block.iter_mut().flat_map(Statement::blocks_mut).for_each(|inner| declare_late(inner, late));
    let mut place = 0;
    while place < block.len() {
        let (done, rest) = block.split_at_mut(place + 1);
        let Some(overwritten) = overwritten(&done[place], rest) else {
            place += 1;
            continue;
        };
        if let Statement::Assign(variable, value) = &rest[overwritten] {
            late.insert(*variable);
            rest[overwritten] = Statement::Let(*variable, value.clone());
        }
        block.remove(place);
    }
}

/// Which of the statements behind a variable's declaration gives it another value, before anybody reads the first.
fn overwritten(declaration: &Statement, rest: &[Statement]) -> Option<usize> {
    let Statement::Let(declared, _) = declaration else { return None };
    let is_mentioned = |statement: &Statement| statement.uses(*declared) || is_changed_in(statement, *declared);
    let first = rest.iter().position(is_mentioned)?;
    match &rest[first] {
        Statement::Assign(variable, value) if variable == declared && !value.uses(*declared) => Some(first),
        _ => None,
    }
}

/// Whether a statement, or one inside of it, changes a variable.
fn is_changed_in(statement: &Statement, wanted: VariableId) -> bool {
    let mut found = false;
    statement.for_each(&mut |statement| {
        statement
            .for_each_variable(&mut |variable, binding| found |= variable == wanted && binding == Binding::Changes);
    });
    found
}

fn collect_used(statement: &Statement, used: &mut BTreeSet<VariableId>) {
    let mut see = |expr: &Expr| {
        if let Expr::Variable(variable) = expr {
            used.insert(*variable);
        }
    };
    statement.for_each_expr(&mut |expr| expr.for_each(&mut see));
    if let Statement::Parallel(parallel) = statement {
        used.extend(parallel.reductions.iter().map(|(variable, _)| *variable));
    }
}

fn sweep(block: &mut Vec<Statement>, used: &BTreeSet<VariableId>) {
    for statement in block.iter_mut() {
        statement.blocks_mut().into_iter().for_each(|inner| sweep(inner, used));
        if let Statement::If(branches, otherwise) = statement {
            while otherwise.is_empty() && branches.last().is_some_and(|(_, body)| has_no_effect(body)) {
                branches.pop();
            }
        }
        if let Statement::Merge(merge) = statement {
            while merge.points.last().is_some_and(|point| has_no_effect(&point.body)) {
                merge.points.pop();
            }
        }
    }
    block.retain(|statement| match statement {
        Statement::Let(variable, _) | Statement::Assign(variable, _) | Statement::Update(variable, ..) => {
            used.contains(variable)
        }
        Statement::For { body, .. } => !has_no_effect(body),
        Statement::Merge(merge) => !merge.points.is_empty(),
        Statement::If(branches, otherwise) => !branches.is_empty() || !otherwise.is_empty(),
        Statement::Parallel(parallel) => !has_no_effect(&parallel.body),
        _ => true,
    });
    drop_stray_comments(block);
}

fn has_no_effect(block: &[Statement]) -> bool {
    block.iter().all(|statement| matches!(statement, Statement::Comment(_)))
}

/// A comment stands before the loop it speaks of.
fn drop_stray_comments(block: &mut Vec<Statement>) {
    let mut kept: Vec<Statement> = Vec::with_capacity(block.len());
    for statement in block.drain(..) {
        if matches!(statement, Statement::Comment(_)) && matches!(kept.last(), Some(Statement::Comment(_))) {
            kept.pop();
        }
        kept.push(statement);
    }
    if matches!(kept.last(), Some(Statement::Comment(_))) {
        kept.pop();
    }
    *block = kept;
}
