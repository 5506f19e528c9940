//! How many keys the sets of a place have: at most, as its loops tell before any is collected, and then, as they are counted.
//!
//! ```text
//! for p in pos[i]..pos[i + 1]                    for p in pos[i]..pos[i + 1]
//!     for q in pos_b[j]..pos_b[j + 1]                terms += pos_b[j + 1] - pos_b[j]
//!         mark t_keys, k                         most max= terms
//! marked k in t_keys
//!     push crd, k
//! ```

use super::hash_accumulator::marks;
use crate::gpu::rewrite::{changed, declared, replace_statements, without_dead};
use crate::ir::{ArrayId, BinaryOperator, Expr, Kernel, ReduceOperator, Statement, Type, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// A body that only finds out how many keys a set of one place may have at most, into a variable. `hidden` arrays grow: what depends
/// on them is left out, and where keys do, it can't be found out.
pub(super) fn bounding(
    kernel: &mut Kernel,
    body: &[Statement],
    hidden: &BTreeSet<ArrayId>,
    most: VariableId,
) -> Option<Vec<Statement>> {
    let mut bounding = Bounding { hidden, tainted: BTreeSet::new(), counts: BTreeMap::new(), most, is_possible: true };
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Bitmap { bitmap, .. } = statement {
                bounding.counts.insert(*bitmap, kernel.declare_variable("terms", Type::Index, true));
            }
        });
    });
    let mut bound = vec![Statement::Let(most, Expr::Index(0))];
    bound.extend(bounding.counts.values().map(|count| Statement::Let(*count, Expr::Index(0))));
    bound.extend(bounding.block(body));
    bounding.is_possible.then(|| without_dead(kernel, bound, &[most]))
}

struct Bounding<'a> {
    hidden: &'a BTreeSet<ArrayId>,
    tainted: BTreeSet<VariableId>,
    counts: BTreeMap<ArrayId, VariableId>,
    most: VariableId,
    is_possible: bool,
}

impl Bounding<'_> {
    fn block(&mut self, block: &[Statement]) -> Vec<Statement> {
        let mut done = Vec::with_capacity(block.len());
        for statement in block {
            if self.is_hidden(statement) {
                let own = std::slice::from_ref(statement);
                self.is_possible &= self.counts.keys().all(|bitmap| !marks(statement, *bitmap));
                self.tainted.extend(declared(own).into_iter().chain(changed(own)));
                continue;
            }
            match statement {
                Statement::Mark(bitmap, _) => {
                    done.push(Statement::Update(self.counts[bitmap], ReduceOperator::Add, Expr::Index(1)));
                }
                Statement::Marked { bitmap, .. } => {
                    let count = self.counts[bitmap];
                    done.push(Statement::Update(self.most, ReduceOperator::Max, Expr::Variable(count)));
                    done.push(Statement::Assign(count, Expr::Index(0)));
                }
                Statement::For { variable, begin, end, vector, body } => {
                    let body = self.block(body);
                    let (variable, begin, end, vector) = (*variable, begin.clone(), end.clone(), *vector);
                    done.push(match marked_each_time(&body) {
                        Some((count, each)) => {
                            let times = iterations(begin, end).times(Expr::Index(each));
                            Statement::Update(count, ReduceOperator::Add, times)
                        }
                        None => Statement::For { variable, begin, end, vector, body },
                    });
                }
                other if other.written_array().is_some() => {}
                Statement::Bitmap { .. } | Statement::Allocate { .. } | Statement::List(_) => {}
                other => {
                    let mut other = other.clone();
                    for inner in other.blocks_mut() {
                        *inner = self.block(&std::mem::take(inner));
                    }
                    done.push(other);
                }
            }
        }
        done
    }

    /// Whether a statement itself, or what it is done for, depends on what grows.
    fn is_hidden(&self, statement: &Statement) -> bool {
        if matches!(statement, Statement::Marked { .. }) {
            return false;
        }
        let mut is_hidden = false;
        let mut see = |expr: &Expr| {
            is_hidden |= match expr {
                Expr::Length(array) | Expr::Load(array, _) | Expr::Search { array, .. } => self.hidden.contains(array),
                Expr::Variable(variable) => self.tainted.contains(variable),
                _ => false,
            };
        };
        statement.for_each_expr(&mut |expr| expr.for_each(&mut see));
        is_hidden
    }
}

/// How often a loop marks keys in each iteration, where it does nothing else.
fn marked_each_time(body: &[Statement]) -> Option<(VariableId, u64)> {
    let mut found = None;
    for statement in body {
        match statement {
            Statement::Comment(_) | Statement::Let(..) => {}
            Statement::Update(count, ReduceOperator::Add, Expr::Index(each)) if found.is_none() => {
                found = Some((*count, *each));
            }
            _ => return None,
        }
    }
    found
}

/// The number of iterations of a loop.
fn iterations(begin: Expr, end: Expr) -> Expr {
    let are_positions = matches!((&begin, &end), (Expr::Load(one, _), Expr::Load(other, _)) if one == other);
    match begin {
        Expr::Index(0) => end,
        begin if are_positions => end.minus(begin),
        begin => Expr::binary(BinaryOperator::Maximum, end, begin.clone()).minus(begin),
    }
}

/// A body that also finds out how many keys its sets have at most, into a variable.
pub(super) fn measuring(kernel: &mut Kernel, body: &[Statement], most: VariableId) -> Vec<Statement> {
    let measured = replace_statements(body.to_vec(), &mut |statement| match statement {
        Statement::Marked { variable, bitmap, mut body } => {
            let count = kernel.declare_variable("keys", Type::Index, true);
            body.push(Statement::Assign(count, Expr::Variable(count).plus(Expr::Index(1))));
            vec![
                Statement::Let(count, Expr::Index(0)),
                Statement::Marked { variable, bitmap, body },
                Statement::Update(most, ReduceOperator::Max, Expr::Variable(count)),
            ]
        }
        other => vec![other],
    });
    std::iter::once(Statement::Let(most, Expr::Index(0))).chain(measured).collect()
}
