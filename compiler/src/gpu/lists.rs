//! Lists that grow as arrays with room for all that may come, and a count of what has come.
//!
//! ```text
//! list keys                          allocate keys[n] = 0
//!                                    let keys_count = 0
//! marked j in t_bitmap               marked j in t_bitmap
//!     push keys, j                       keys[keys_count] = j
//!                                        keys_count = keys_count + 1
//! for p in 0..length(keys)           for p in 0..keys_count
//! clear keys                         keys_count = 0
//! ```
//!
//! How much may come is known where a list takes the keys of a set, or one element for each of another such list, and is cleared
//! before it takes them again.

use super::rewrite::{replace_statements, rewrite};
use crate::ir::{ArrayId, Expr, Kernel, Statement, Type, VariableId};
use std::collections::BTreeMap;

/// A list whose size is bounded.
struct Bounded {
    count: VariableId,
    room: Expr,
}

/// The kernel with arrays in place of lists whose sizes are bounded. Others stay.
pub(crate) fn as_arrays(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    let body = std::mem::take(&mut kernel.body);
    let mut rooms = BTreeMap::new();
    let extents = extents(&body);
    for list in lists(&body) {
        if let Some(room) = room(&body, list, &extents, &rooms) {
            rooms.insert(list, room);
        }
    }
    let bounded: BTreeMap<ArrayId, Bounded> = rooms
        .into_iter()
        .map(|(list, room)| {
            let name = format!("{}_count", kernel.array(list).name);
            (list, Bounded { count: kernel.declare_variable(&name, Type::Index, true), room })
        })
        .collect();
    let mut body = replace_statements(body, &mut |statement| replaced(statement, &bounded));
    rewrite(&mut body, &mut |expr| match expr {
        Expr::Length(array) => bounded.get(&array).map_or(Expr::Length(array), |list| Expr::Variable(list.count)),
        other => other,
    });
    kernel.body = body;
    kernel
}

fn replaced(statement: Statement, bounded: &BTreeMap<ArrayId, Bounded>) -> Vec<Statement> {
    match statement {
        Statement::List(array) if bounded.contains_key(&array) => {
            let Bounded { count, room } = &bounded[&array];
            let made = Statement::Allocate { array, length: room.clone(), fill: Expr::Index(0) };
            vec![made, Statement::Let(*count, Expr::Index(0))]
        }
        Statement::Push(array, value) if bounded.contains_key(&array) => {
            let count = bounded[&array].count;
            let next = Expr::Variable(count).plus(Expr::Index(1));
            vec![Statement::Store(array, Expr::Variable(count), value), Statement::Assign(count, next)]
        }
        Statement::Clear(array) if bounded.contains_key(&array) => {
            vec![Statement::Assign(bounded[&array].count, Expr::Index(0))]
        }
        other => vec![other],
    }
}

/// The lists of a block, in order.
fn lists(block: &[Statement]) -> Vec<ArrayId> {
    let mut lists = Vec::new();
    block.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::List(array) = statement {
                lists.push(*array);
            }
        });
    });
    lists
}

/// How many keys each set may have.
fn extents(block: &[Statement]) -> BTreeMap<ArrayId, Expr> {
    let mut extents = BTreeMap::new();
    block.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Bitmap { bitmap, extent } = statement {
                extents.insert(*bitmap, extent.clone());
            }
        });
    });
    extents
}

/// How many elements a list may have: it is appended to once, in a loop that says so, beside which it is cleared.
fn room(
    block: &[Statement],
    list: ArrayId,
    extents: &BTreeMap<ArrayId, Expr>,
    rooms: &BTreeMap<ArrayId, Expr>,
) -> Option<Expr> {
    let mut grows = 0;
    let mut is_simple = true;
    block.iter().for_each(|statement| {
        statement.for_each(&mut |statement| match statement {
            Statement::Push(array, _) if *array == list => grows += 1,
            Statement::Push(..) | Statement::Clear(_) | Statement::List(_) | Statement::Store(..) => {}
            other => is_simple &= other.written_array() != Some(list) && !sorts(other, list),
        });
    });
    if grows != 1 || !is_simple {
        return None;
    }
    let mut found = None;
    each_block(block, &mut |block| {
        let is_cleared = block.contains(&Statement::Clear(list));
        for statement in block {
            let (body, most) = match statement {
                Statement::Marked { bitmap, body, .. } => (body, extents.get(bitmap)),
                Statement::For { begin: Expr::Index(0), end: Expr::Length(other), body, .. } => {
                    (body, rooms.get(other))
                }
                _ => continue,
            };
            if is_cleared
                && body.iter().any(|statement| matches!(statement, Statement::Push(array, _) if *array == list))
            {
                found = most.cloned();
            }
        }
    });
    found
}

fn sorts(statement: &Statement, list: ArrayId) -> bool {
    match statement {
        Statement::Insert { keys, .. } | Statement::Reset { keys, .. } => *keys == list,
        Statement::Sort { keys, places, .. } => *keys == list || *places == list,
        Statement::Extend { array, .. } => *array == list,
        _ => false,
    }
}

fn each_block(block: &[Statement], visit: &mut dyn FnMut(&[Statement])) {
    visit(block);
    for statement in block {
        statement.blocks().into_iter().for_each(|inner| each_block(inner, visit));
    }
}
