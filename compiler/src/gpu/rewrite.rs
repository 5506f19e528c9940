//! Small rewritings of loops that the stages of this target share.

use crate::ir::{ArrayId, BinaryOperator, Expr, Kernel, ReduceOperator, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use crate::ir::{changed, declared, substitute};

/// Arrays of at most so many elements are a thread's own: registers, where all indices are known.
pub(crate) const SMALL: u64 = 64;

/// Rewrites every expression of a block, innermost first.
pub(crate) fn rewrite(block: &mut [Statement], change: &mut dyn FnMut(Expr) -> Expr) {
    fn whole(expr: Expr, change: &mut dyn FnMut(Expr) -> Expr) -> Expr {
        let expr = expr.map_children(&mut |child| whole(child, change));
        change(expr)
    }
    for statement in block {
        statement.for_each_expr_mut(&mut |expr| *expr = whole(std::mem::replace(expr, Expr::Index(0)), change));
        statement.blocks_mut().into_iter().for_each(|inner| rewrite(inner, change));
    }
}

/// Each statement of a block and of the blocks in it, innermost first, replaced by others.
pub(crate) fn replace_statements(
    block: Vec<Statement>,
    replace: &mut dyn FnMut(Statement) -> Vec<Statement>,
) -> Vec<Statement> {
    let mut all = Vec::with_capacity(block.len());
    for mut statement in block {
        for inner in statement.blocks_mut() {
            *inner = replace_statements(std::mem::take(inner), replace);
        }
        all.extend(replace(statement));
    }
    all
}

/// The arrays that a block allocates.
pub(crate) fn allocated(block: &[Statement]) -> BTreeSet<ArrayId> {
    let mut allocated = BTreeSet::new();
    for statement in block {
        statement.for_each(&mut |statement| {
            if let Statement::Allocate { array, .. } = statement {
                allocated.insert(*array);
            }
        });
    }
    allocated
}

/// The arrays that a block loads from, or views.
pub(crate) fn loaded(block: &[Statement]) -> BTreeSet<ArrayId> {
    let mut loaded = BTreeSet::new();
    for statement in block {
        statement.for_each(&mut |statement| {
            statement.for_each_expr(&mut |expr| {
                expr.for_each(&mut |expr| {
                    if let Expr::Load(array, _) | Expr::Search { array, .. } = expr {
                        loaded.insert(*array);
                    }
                });
            });
            if let Statement::View { of, .. } = statement {
                loaded.insert(*of);
            }
        });
    }
    loaded
}

/// The arrays that a block changes.
pub(crate) fn written(block: &[Statement]) -> BTreeSet<ArrayId> {
    let mut written = BTreeSet::new();
    block.iter().for_each(|statement| statement.for_each(&mut |statement| written.extend(statement.written_array())));
    written
}

/// The variables that a block reads or changes.
pub(crate) fn mentioned(block: &[Statement]) -> BTreeSet<VariableId> {
    let mut mentioned = BTreeSet::new();
    for statement in block {
        statement.for_each(&mut |statement| {
            statement.for_each_expr(&mut |expr| {
                expr.for_each(&mut |expr| {
                    if let Expr::Variable(variable) = expr {
                        mentioned.insert(*variable);
                    }
                });
            });
        });
    }
    mentioned.extend(changed(block));
    mentioned
}

/// The variables from outside of a block that it reduces into, with the operators.
pub(crate) fn updated(block: &[Statement]) -> BTreeMap<VariableId, ReduceOperator> {
    let own = declared(block);
    let mut updated = BTreeMap::new();
    for statement in block {
        statement.for_each(&mut |statement| match statement {
            Statement::Update(variable, operator, _) if !own.contains(variable) => {
                updated.insert(*variable, *operator);
            }
            _ => {}
        });
    }
    updated
}

/// Adds what the first lane does alone to a block, beside what it did before.
pub(crate) fn only_first(lane: VariableId, statement: Statement, done: &mut Vec<Statement>) {
    let is_first = Expr::Variable(lane).equals(Expr::Index(0));
    match done.last_mut() {
        Some(Statement::If(branches, otherwise))
            if otherwise.is_empty() && branches.len() == 1 && branches[0].0 == is_first =>
        {
            branches[0].1.push(statement);
        }
        _ => done.push(Statement::If(vec![(is_first, vec![statement])], Vec::new())),
    }
}

/// Whether a block writes memory.
pub(crate) fn writes(block: &[Statement]) -> bool {
    let mut writes = false;
    block.iter().for_each(|statement| {
        statement.for_each(&mut |statement| writes |= statement.written_array().is_some());
    });
    writes
}

/// A block without what has no effect: writes to arrays of its own that are not read, variables that are not read but those that
/// the block is for, and loops without a body.
pub(crate) fn without_dead(kernel: &Kernel, block: Vec<Statement>, kept: &[VariableId]) -> Vec<Statement> {
    // Something behind the block reads them.
    let reads = kept.iter().map(|&variable| Statement::Store(ArrayId(0), Expr::Index(0), Expr::Variable(variable)));
    let mut block: Vec<Statement> = block.into_iter().chain(reads).collect();
    sweep(kernel, &mut block);
    block.truncate(block.len() - kept.len());
    block
}

fn sweep(kernel: &Kernel, block: &mut Vec<Statement>) {
    loop {
        let before = block.clone();
        let dead: BTreeSet<ArrayId> = allocated(block).difference(&loaded(block)).copied().collect();
        let is_dead = |statement: &Statement| match statement {
            Statement::Allocate { array, .. } => dead.contains(array),
            Statement::Store(array, ..) | Statement::Reduce(array, ..) | Statement::Fill(array, _) => {
                dead.contains(array)
            }
            _ => false,
        };
        let kept = replace_statements(std::mem::take(block), &mut |statement| {
            if is_dead(&statement) { Vec::new() } else { vec![statement] }
        });
        *block = crate::pass::tidy::tidy(Kernel { body: kept, ..kernel.clone() }).body;
        if *block == before {
            return;
        }
    }
}

/// Whether each of several threads may do a statement for itself: it changes nothing but variables of the thread, or is a block of
/// other statements.
pub(crate) fn is_of_one_thread(statement: &Statement) -> bool {
    match statement {
        Statement::Comment(_)
        | Statement::Let(..)
        | Statement::Assign(..)
        | Statement::Update(..)
        | Statement::For { .. }
        | Statement::While(..)
        | Statement::If(..)
        | Statement::View { mutable: false, .. } => true,
        Statement::Allocate { length: Expr::Index(length), .. } => *length <= SMALL,
        _ => false,
    }
}

/// Whether an index is that of an element of a row: of the first, or of one behind a multiple of a row's elements.
pub(crate) fn is_of_row(index: &Expr, element: VariableId, extent: &Expr) -> bool {
    let is_element = |expr: &Expr| *expr == Expr::Variable(element);
    match index {
        Expr::Binary(BinaryOperator::Add, row, place) => is_element(place) && is_multiple(row, extent),
        index => is_element(index),
    }
}

/// Whether an expression is a multiple of an extent, for all values of its variables.
pub(crate) fn is_multiple(expr: &Expr, extent: &Expr) -> bool {
    match expr {
        Expr::Index(0) => true,
        Expr::Binary(BinaryOperator::Multiply, left, right) => **left == *extent || **right == *extent,
        Expr::Binary(BinaryOperator::Add, left, right) => is_multiple(left, extent) && is_multiple(right, extent),
        _ => false,
    }
}

/// The unconditional loads of a body, with their indices.
pub(crate) fn certain_loads(body: &[Statement]) -> Vec<(ArrayId, Expr)> {
    let mut loads = Vec::new();
    for statement in body.iter().filter(|statement| statement.blocks().is_empty()) {
        statement.for_each_expr(&mut |expr| certain(expr, &mut loads));
    }
    loads
}

/// Those of an expression: conditions decide about others.
fn certain(expr: &Expr, loads: &mut Vec<(ArrayId, Expr)>) {
    match expr {
        Expr::Select(condition, ..) => certain(condition, loads),
        Expr::Binary(BinaryOperator::And | BinaryOperator::Or, left, _) => certain(left, loads),
        Expr::Load(array, index) => loads.push((*array, (**index).clone())),
        other => other.for_each_child(&mut |child| certain(child, loads)),
    }
}
