//! Rows that a vector loop walks get a name, so that their bounds are checked once.
//!
//! ```text
//! for r in 0..R: t[r] += x * C[k * R + r]
//!
//! let C_row = C[k * R..k * R + R]
//! for r in 0..R: t[r] += x * C_row[r]
//! ```

use super::over_body;
pub(super) use crate::ir::vectors::base;
use crate::ir::{ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Size, Statement, VariableId};
use std::collections::BTreeMap;

/// The kernel with a view for each row of its vector loops.
pub(super) fn views(kernel: Kernel) -> Kernel {
    let mut known = Known { lengths: BTreeMap::new(), bounded: kernel.bounded() };
    over_body(kernel, |kernel, body| block(kernel, body, &mut known))
}

/// What is known of lengths.
struct Known {
    /// Those of local arrays.
    lengths: BTreeMap<ArrayId, Expr>,
    /// The variables that are no larger than a number.
    bounded: BTreeMap<VariableId, u64>,
}

fn block(kernel: &mut Kernel, statements: &mut Vec<Statement>, known: &mut Known) {
    let mut done = Vec::with_capacity(statements.len());
    let mut rest = std::mem::take(statements).into_iter();
    while let Some(mut statement) = rest.next() {
        if let Statement::Allocate { array, length, .. } = &statement {
            known.lengths.insert(*array, length.clone());
        }
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner, known));
        if let Some(from_zero) = from_zero(kernel, &statement, known) {
            done.extend(from_zero);
            continue;
        }
        let views = view_rows(kernel, &mut statement, rest.as_slice(), known, base);
        done.extend(where_any(views, statement));
    }
    *statements = done;
}

/// Views and the statement that uses them. Rows of no elements may begin behind the end of an array, as those of `x(i + 20)` do where
/// `i` has no values: then there is nothing to view.
pub(super) fn where_any(views: Vec<Statement>, statement: Statement) -> Vec<Statement> {
    let length = views.iter().find_map(|view| match view {
        Statement::View { begin, length, .. } if may_be_behind(begin, length) => Some(length.clone()),
        _ => None,
    });
    let all: Vec<Statement> = views.into_iter().chain([statement]).collect();
    match length {
        Some(length) => vec![Statement::If(vec![(Expr::Index(0).less(length), all)], Vec::new())],
        None => all,
    }
}

/// Whether a row as long as a mode may begin where there is no place for it if it has no elements: unless it is one of several that
/// lie side by side. What else a row's length is made of, as the rest of a block, is never zero: there the loop is skipped.
fn may_be_behind(begin: &Expr, length: &Expr) -> bool {
    let is_extent = matches!(length, Expr::Dimension(_) | Expr::Index(0));
    is_extent && !is_multiple(begin, length)
}

fn is_multiple(expr: &Expr, of: &Expr) -> bool {
    match expr {
        Expr::Index(0) => true,
        Expr::Binary(BinaryOperator::Add, one, other) => is_multiple(one, of) && is_multiple(other, of),
        Expr::Binary(BinaryOperator::Multiply, one, other) => is_multiple(one, of) || is_multiple(other, of),
        expr => expr == of,
    }
}

/// What an index adds to a counter.
type Base = fn(&Expr, VariableId) -> Option<Expr>;

/// Views of the rows that a vector loop walks, which it uses from then on. `behind` is what follows in the loop's block.
fn view_rows(
    kernel: &mut Kernel,
    statement: &mut Statement,
    behind: &[Statement],
    known: &Known,
    base: Base,
) -> Vec<Statement> {
    let mut views = Vec::new();
    let Statement::For { variable, begin: Expr::Index(0), end, vector: true, body } = statement else { return views };
    for (array, row) in rows(body, *variable, base) {
        let ends = || first_row_behind(behind, array, base).is_some();
        if is_fixed_row(kernel, array, end, known) || is_touched(behind, array, row.written) && !ends() {
            continue;
        }
        let view = declare(kernel, array, "_row");
        let (begin, length, mutable) = (row.base, end.clone(), row.written);
        views.push(Statement::View { array: view, of: array, begin, length, mutable });
        body.iter_mut().for_each(|statement| rename(statement, array, view, *variable));
    }
    views
}

/// The place of the first statement that uses an array, where that is a loop which gets a view of it in the same block: that ends a
/// view before it.
fn first_row_behind(behind: &[Statement], array: ArrayId, base: Base) -> Option<usize> {
    let place = behind.iter().position(|statement| is_touched(std::slice::from_ref(statement), array, true))?;
    let Statement::For { variable, begin: Expr::Index(0), end: Expr::Index(1..), vector: true, body } = &behind[place]
    else {
        return None;
    };
    let row = rows(body, *variable, base).remove(&array)?;
    let rest = &behind[place + 1..];
    let is_viewed = !is_touched(rest, array, row.written) || first_row_behind(rest, array, base).is_some();
    is_viewed.then_some(place)
}

/// A vector loop over a part of rows that begins anywhere, as one that begins at zero, with views of that part:
///
/// ```text
/// for i in begin..end: t[i] += A[p * n + i]
///
/// let first = begin
/// let last = end
/// if first < last
///     let t_row = t[first..first + (last - first)]
///     let A_row = A[p * n + first..p * n + first + (last - first)]
///     for i in 0..last - first: t_row[i] += A_row[i]
/// ```
fn from_zero(kernel: &mut Kernel, statement: &Statement, known: &Known) -> Option<Vec<Statement>> {
    let Statement::For { variable, begin, end, vector: true, body } = statement else { return None };
    if *begin == Expr::Index(0) || !body.iter().all(|inner| is_in_rows(inner, *variable)) {
        return None;
    }
    let [first, last, length] = ["first", "last", "length"].map(|name| kernel.declare_index(name));
    let at = Expr::Variable(first).plus(Expr::Variable(*variable));
    let mut body = body.clone();
    for inner in &mut body {
        inner.for_each_expr_mut(&mut |expr| {
            let taken = std::mem::replace(expr, Expr::Index(0));
            *expr = at_place(taken, *variable, &at);
        });
    }
    let (begin, end, from_zero) = (begin.clone(), end.clone(), Expr::Index(0));
    let mut shifted =
        Statement::For { variable: *variable, begin: from_zero, end: Expr::Variable(length), vector: true, body };
    let mut inside = vec![Statement::Let(length, Expr::Variable(last).minus(Expr::Variable(first)))];
    inside.extend(view_rows(kernel, &mut shifted, &[], known, base_of_part));
    inside.push(shifted);
    let is_any = Expr::Variable(first).less(Expr::Variable(last));
    Some(vec![
        Statement::Let(first, begin),
        Statement::Let(last, end),
        Statement::If(vec![(is_any, inside)], Vec::new()),
    ])
}

/// Whether a statement reaches arrays at `base + counter` alone.
fn is_in_rows(statement: &Statement, counter: VariableId) -> bool {
    let is_row = |index: &Expr| base_of_part(index, counter).is_some();
    let mut all = match statement {
        Statement::Store(_, index, _) | Statement::Reduce(_, index, ..) => is_row(index),
        Statement::Let(..) | Statement::Comment(_) => true,
        _ => false,
    };
    statement.for_each_expr(&mut |expr| {
        expr.for_each(&mut |expr| {
            if let Expr::Load(_, index) = expr {
                all &= is_row(index);
            }
        });
    });
    all
}

/// The same with an index in place of the counter.
fn at_place(expr: Expr, counter: VariableId, at: &Expr) -> Expr {
    match expr {
        Expr::Variable(variable) if variable == counter => at.clone(),
        other => other.map_children(&mut |child| at_place(child, counter, at)),
    }
}

/// As [`base`], for loops that run at least once, so that the base is in the array: what follows the counter belongs to it, and
/// what is subtracted from the index is subtracted from the base.
fn base_of_part(index: &Expr, counter: VariableId) -> Option<Expr> {
    match index {
        Expr::Binary(BinaryOperator::Subtract, from, less) if !less.uses(counter) => {
            base_of_part(from, counter).map(|base| base.minus((**less).clone()))
        }
        Expr::Binary(BinaryOperator::Add, first, rest) if !rest.uses(counter) => {
            base_of_part(first, counter).map(|base| base.plus((**rest).clone()))
        }
        Expr::Binary(BinaryOperator::Add, first, rest) if !first.uses(counter) => {
            base_of_part(rest, counter).map(|base| (**first).clone().plus(base))
        }
        index => base(index, counter),
    }
}

/// A local array whose length is known where the target's compiler runs needs no view: its bounds are known already.
fn is_fixed_row(kernel: &Kernel, array: ArrayId, end: &Expr, known: &Known) -> bool {
    let Some(length) = known.lengths.get(&array) else { return false };
    match end {
        Expr::Index(_) => length == end,
        Expr::Dimension(id) => kernel.dimension(*id).size != Size::Runtime && length == end,
        Expr::Variable(end) => known.bounded.get(end).is_some_and(|most| *length == Expr::Index(*most)),
        _ => false,
    }
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
fn rows(body: &[Statement], counter: VariableId, base: Base) -> BTreeMap<ArrayId, Row> {
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

/// A view of an array.
pub(super) fn declare(kernel: &mut Kernel, of: ArrayId, suffix: &str) -> ArrayId {
    let array = kernel.array(of);
    let (name, element) = (array.name.trim_end_matches("_vals").to_owned() + suffix, array.element);
    kernel.declare_array(&name, element, ArrayRole::Local)
}

/// Has a statement of a row's loop use another row in place of an array.
pub(super) fn rename(statement: &mut Statement, from: ArrayId, to: ArrayId, counter: VariableId) {
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
