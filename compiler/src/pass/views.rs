//! Rows that a vector loop walks get a name, so that their bounds are checked once.
//!
//! ```text
//! for r in 0..R: t[r] += x * C[k * R + r]
//!
//! let C_row = C[k * R..k * R + R]
//! for r in 0..R: t[r] += x * C_row[r]
//! ```

use super::over_body;
use crate::ir::{ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Size, Statement, VariableId};
use std::collections::BTreeMap;

/// The kernel with a view for each row of its vector loops.
pub(super) fn views(kernel: Kernel) -> Kernel {
    over_body(kernel, |kernel, body| block(kernel, body, &mut BTreeMap::new()))
}

fn block(kernel: &mut Kernel, statements: &mut Vec<Statement>, lengths: &mut BTreeMap<ArrayId, Expr>) {
    let mut done = Vec::with_capacity(statements.len());
    let mut rest = std::mem::take(statements).into_iter();
    while let Some(mut statement) = rest.next() {
        if let Statement::Allocate { array, length, .. } = &statement {
            lengths.insert(*array, length.clone());
        }
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner, lengths));
        if let Statement::For { variable, begin: Expr::Index(0), end, vector: true, body } = &mut statement {
            for (array, row) in rows(body, *variable) {
                if is_fixed_row(kernel, array, end, lengths) || is_touched(rest.as_slice(), array, row.written) {
                    continue;
                }
                let view = declare(kernel, array, "_row");
                done.push(Statement::View {
                    array: view,
                    of: array,
                    begin: row.base,
                    length: end.clone(),
                    mutable: row.written,
                });
                body.iter_mut().for_each(|statement| rename(statement, array, view, *variable));
            }
        }
        done.push(statement);
    }
    *statements = done;
}

/// A local array whose length is known where the target's compiler runs needs no view: its bounds are known already.
fn is_fixed_row(kernel: &Kernel, array: ArrayId, end: &Expr, lengths: &BTreeMap<ArrayId, Expr>) -> bool {
    let is_static = match end {
        Expr::Index(_) => true,
        Expr::Dimension(id) => kernel.dimension(*id).size != Size::Runtime,
        _ => false,
    };
    is_static && lengths.get(&array) == Some(end)
}

/// Whether the statements behind a loop use an array in a way that a view of it forbids to the end of the block.
pub(super) fn is_touched(statements: &[Statement], array: ArrayId, view_is_mutable: bool) -> bool {
    let mut found = false;
    let mut see = |statement: &Statement| {
        found |= statement.written_array() == Some(array);
        found |=
            matches!(statement, Statement::View { of, mutable, .. } if *of == array && (*mutable || view_is_mutable));
        if view_is_mutable {
            statement.for_each_expr(&mut |expr| {
                expr.for_each(&mut |expr| match expr {
                    Expr::Load(other, _) | Expr::Length(other) | Expr::Search { array: other, .. } => {
                        found |= *other == array
                    }
                    _ => {}
                });
            });
        }
    };
    statements.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

struct Row {
    base: Expr,
    written: bool,
}

/// The arrays that the loop reaches at `base + counter` and nowhere else, with that base.
fn rows(body: &[Statement], counter: VariableId) -> BTreeMap<ArrayId, Row> {
    let mut rows: BTreeMap<ArrayId, Row> = BTreeMap::new();
    let mut spoiled: Vec<ArrayId> = Vec::new();
    let mut see = |array: ArrayId, index: &Expr, written: bool| match base(index, counter) {
        Some(base) => {
            let row = rows.entry(array).or_insert(Row { base: base.clone(), written: false });
            row.written |= written;
            if row.base != base {
                spoiled.push(array);
            }
        }
        None => spoiled.push(array),
    };
    for statement in body {
        match statement {
            Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) => see(*array, index, true),
            Statement::Let(..) | Statement::Assign(..) | Statement::Update(..) | Statement::Comment(_) => {}
            // A row may depend on what other statements do.
            _ => return BTreeMap::new(),
        }
        statement.for_each_expr(&mut |expr| {
            expr.for_each(&mut |expr| match expr {
                Expr::Load(array, index) => see(*array, index, false),
                Expr::Search { array, .. } | Expr::Length(array) => see(*array, &Expr::Index(0), false),
                _ => {}
            });
        });
    }
    let declared: Vec<VariableId> =
        body.iter().filter_map(|s| if let Statement::Let(variable, _) = s { Some(*variable) } else { None }).collect();
    rows.retain(|array, row| !spoiled.contains(array) && !declared.iter().any(|variable| row.base.uses(*variable)));
    rows
}

/// `base` where the index is `base + counter`.
pub(super) fn base(index: &Expr, counter: VariableId) -> Option<Expr> {
    match index {
        Expr::Variable(variable) if *variable == counter => Some(Expr::Index(0)),
        Expr::Binary(BinaryOperator::Add, first, rest) if !first.uses(counter) => {
            base(rest, counter).map(|base| (**first).clone().plus(base))
        }
        _ => None,
    }
}

/// A view of an array.
pub(super) fn declare(kernel: &mut Kernel, of: ArrayId, suffix: &str) -> ArrayId {
    let array = kernel.array(of);
    let (name, element) = (array.name.trim_end_matches("_vals").to_owned() + suffix, array.element);
    kernel.declare_array(&name, element, ArrayRole::Local)
}

fn rename(statement: &mut Statement, from: ArrayId, to: ArrayId, counter: VariableId) {
    match statement {
        Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) if *array == from => {
            *array = to;
            *index = Expr::Variable(counter);
        }
        _ => {}
    }
    statement.for_each_expr_mut(&mut |expr| {
        let taken = std::mem::replace(expr, Expr::Index(0));
        *expr = rename_loads(taken, from, to, counter);
    });
}

fn rename_loads(expr: Expr, from: ArrayId, to: ArrayId, counter: VariableId) -> Expr {
    match expr {
        Expr::Load(array, _) if array == from => Expr::load(to, Expr::Variable(counter)),
        other => other.map_children(&mut |child| rename_loads(child, from, to, counter)),
    }
}
