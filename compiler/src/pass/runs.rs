//! The entries of a run get a name in each array that a loop walks side by side, so that bounds are checked once a run.
//!
//! ```text
//! for p in A_pos[i]..A_pos[i + 1]: y[A_crd[p]] += A_vals[p]
//!
//! let first = A_pos[i]
//! let entries = A_pos[i + 1] - first
//! let A_crd_run = A_crd[first..first + entries]
//! let A_run = A_vals[first..first + entries]
//! for entry in 0..entries: y[A_crd_run[entry]] += A_run[entry]
//! ```
//!
//! It is done where the loop asks for places in nothing else, so that its counter can begin at zero. Where each run ends and the
//! next begins is asked for once:
//!
//! ```text
//! for i in low..high
//!     let first = A_pos[i]
//!     let entries = A_pos[i + 1] - first
//!
//! let A_pos_run = A_pos[low..high + 1]
//! let A_begin = A_pos_run[0]
//! for entry in 0..high - low
//!     let A_end = A_pos_run[entry + 1]
//!     let first = A_begin
//!     let entries = A_end - first
//!     A_begin = A_end
//! ```

use super::replacing;
use super::views::{declare, is_touched};
use crate::ir::{ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Statement, TensorId, Type, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel with views of the runs that its loops walk.
pub(super) fn runs(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, behind, done| match Run::of(kernel, &statement, behind) {
        Some(run) => done.extend(run.viewed(kernel, statement)),
        None => done.push(statement),
    })
}

/// The arrays that a loop over places reaches at its counter, and whether it writes them.
struct Run {
    arrays: BTreeMap<ArrayId, bool>,
    /// Those of the positions of inputs that it also reaches one place further on.
    ends: BTreeSet<ArrayId>,
    /// Whether some are reached under a condition, or in a loop that may not run.
    is_uncertain: bool,
}

impl Run {
    /// `behind` is what follows in the loop's block.
    fn of(kernel: &Kernel, statement: &Statement, behind: &[Statement]) -> Option<Run> {
        let Statement::For { variable, begin, end, vector: false, body } = statement else { return None };
        if !is_place(begin) || !is_place(end) {
            return None;
        }
        let mut run = Run { arrays: BTreeMap::new(), ends: BTreeSet::new(), is_uncertain: false };
        let walks = body.iter().all(|statement| run.sees(kernel, statement, *variable, false));
        let are_apart = run.arrays.iter().all(|(array, written)| {
            let alone = body.iter().all(|statement| reaches_only_at(statement, *array, *variable, *written));
            alone && !is_touched(behind, *array, *written)
        });
        // Stored entries are there, whoever asks for them. Of other arrays there may be less than a loop goes through.
        let are_there = !run.is_uncertain || walked(kernel, begin).is_some();
        // What is reduced into may be segments that chunks share, which do not lie side by side.
        let is_of_chunk = run.ends.is_empty() || !body.iter().any(|statement| reduces(statement, &run.arrays));
        (walks && are_apart && are_there && is_of_chunk && !run.arrays.is_empty()).then_some(run)
    }

    /// Whether the counter is nothing but an index, in this statement and those in it.
    fn sees(&mut self, kernel: &Kernel, statement: &Statement, counter: VariableId, is_inside: bool) -> bool {
        let before = self.arrays.len();
        let mut is_index = true;
        let written = match statement {
            Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) => {
                (*index == Expr::Variable(counter)).then_some(*array)
            }
            _ => None,
        };
        if let Some(array) = written {
            self.arrays.insert(array, true);
        }
        let has_ends = !is_inside && matches!(statement, Statement::Let(..));
        statement.for_each_expr(&mut |expr| {
            // The index of what is written was seen above.
            if !(written.is_some() && *expr == Expr::Variable(counter)) {
                is_index &= self.sees_expr(expr, counter, &|array| has_ends && is_positions(kernel, array));
            }
        });
        self.is_uncertain |= is_inside && self.arrays.len() != before;
        is_index && statement.blocks().into_iter().flatten().all(|inner| self.sees(kernel, inner, counter, true))
    }

    fn sees_expr(&mut self, expr: &Expr, counter: VariableId, has_ends: &dyn Fn(ArrayId) -> bool) -> bool {
        match expr {
            Expr::Variable(variable) => *variable != counter,
            Expr::Load(array, index) if **index == Expr::Variable(counter) => {
                self.arrays.entry(*array).or_insert(false);
                true
            }
            Expr::Load(array, index) if **index == behind(counter) && has_ends(*array) => {
                self.arrays.entry(*array).or_insert(false);
                self.ends.insert(*array);
                true
            }
            expr => {
                let mut is_index = true;
                expr.for_each_child(&mut |child| is_index &= self.sees_expr(child, counter, has_ends));
                is_index
            }
        }
    }

    fn viewed(self, kernel: &mut Kernel, statement: Statement) -> Vec<Statement> {
        let Statement::For { variable, begin, end, body, .. } = statement else { return vec![statement] };
        let mut statements = Vec::new();
        let mut name = |kernel: &mut Kernel, name: &str, value: Expr| {
            let id = kernel.declare_index(name);
            statements.push(Statement::Let(id, value));
            Expr::Variable(id)
        };
        let is_whole = is_run_of_parent(&begin, &end);
        let first = if let Expr::Variable(_) = begin { begin } else { name(kernel, "first", begin) };
        // A share of a run may end before it begins.
        let end = if is_whole { end } else { Expr::binary(BinaryOperator::Maximum, end, first.clone()) };
        let length = name(kernel, "entries", end.minus(first.clone()));
        let entry = kernel.declare_index("entry");
        let mut rename = Rename { views: BTreeMap::new(), bounds: BTreeMap::new(), counter: variable, entry };
        for (array, mutable) in self.arrays {
            let view = declare(kernel, array, "_run");
            rename.views.insert(array, view);
            let has_ends = self.ends.contains(&array);
            let (begin, length) = (first.clone(), length.clone());
            let length = if has_ends { length.plus(Expr::Index(1)) } else { length };
            statements.push(Statement::View { array: view, of: array, begin, length, mutable });
            if has_ends {
                let run = kernel.array(array).name.trim_end_matches("_pos").to_owned();
                let begin = kernel.declare_variable(&format!("{run}_begin"), Type::Index, true);
                let end = kernel.declare_index(&format!("{run}_end"));
                rename.bounds.insert(array, (begin, end));
                statements.push(Statement::Let(begin, Expr::load(view, Expr::Index(0))));
            }
        }
        let body = rename.body(body);
        statements.push(Statement::For { variable: entry, begin: Expr::Index(0), end: length, vector: false, body });
        statements
    }
}

/// The place behind the counter's.
fn behind(counter: VariableId) -> Expr {
    Expr::Variable(counter).plus(Expr::Index(1))
}

/// Whether it is an array of the positions of an input: it has one more element than there are places.
fn is_positions(kernel: &Kernel, array: ArrayId) -> bool {
    let role = kernel.array(array).role;
    matches!(role, ArrayRole::Positions { tensor, .. } if !kernel.is_output(tensor))
}

/// Whether a statement, or one in it, reduces into one of these arrays.
fn reduces(statement: &Statement, arrays: &BTreeMap<ArrayId, bool>) -> bool {
    let mut found = false;
    statement.for_each(&mut |statement| {
        found |= matches!(statement, Statement::Reduce(array, ..) if arrays.contains_key(array));
    });
    found
}

/// Whether it is a place in a run, or one that it is cut at.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Variable(_) | Expr::Load(..) => true,
        Expr::Binary(BinaryOperator::Minimum | BinaryOperator::Maximum, one, other) => is_place(one) && is_place(other),
        _ => false,
    }
}

/// The tensor whose stored entries a place is in, as its positions tell.
pub(super) fn walked(kernel: &Kernel, place: &Expr) -> Option<TensorId> {
    let mut walked = None;
    place.for_each(&mut |expr| {
        if let Expr::Load(array, _) = expr
            && let ArrayRole::Positions { tensor, .. } = kernel.array(*array).role
        {
            walked = walked.or(Some(tensor));
        }
    });
    walked
}

/// Whether two places are where the run of a parent begins and ends.
pub(super) fn is_run_of_parent(begin: &Expr, end: &Expr) -> bool {
    match (begin, end) {
        (Expr::Load(one, place), Expr::Load(other, next)) => {
            one == other && **next == place.clone().plus(Expr::Index(1))
        }
        _ => false,
    }
}

/// Whether a statement and those in it reach an array at the counter only, or do not write it.
fn reaches_only_at(statement: &Statement, array: ArrayId, counter: VariableId, is_written: bool) -> bool {
    let mut is_so = match statement {
        Statement::Store(other, index, _) | Statement::Reduce(other, index, ..) if *other == array => {
            *index == Expr::Variable(counter)
        }
        Statement::View { of, mutable, .. } if *of == array => !is_written && !mutable,
        other => other.written_array() != Some(array),
    };
    if is_written {
        statement.for_each_expr(&mut |expr| {
            expr.for_each(&mut |expr| match expr {
                Expr::Load(other, index) if *other == array => is_so &= **index == Expr::Variable(counter),
                Expr::Length(other) | Expr::Search { array: other, .. } => is_so &= *other != array,
                _ => {}
            });
        });
    }
    is_so && statement.blocks().into_iter().flatten().all(|inner| reaches_only_at(inner, array, counter, is_written))
}

/// Places in arrays become places in views.
struct Rename {
    views: BTreeMap<ArrayId, ArrayId>,
    /// What positions say of the run of each entry, where they are asked for its end.
    bounds: BTreeMap<ArrayId, (VariableId, VariableId)>,
    counter: VariableId,
    entry: VariableId,
}

impl Rename {
    fn body(&self, body: Vec<Statement>) -> Vec<Statement> {
        let place = || behind(self.entry);
        let ends = self.bounds.iter();
        let ends = ends.map(|(array, (_, end))| Statement::Let(*end, Expr::load(self.views[array], place())));
        let begins = self.bounds.values().map(|(begin, end)| Statement::Assign(*begin, Expr::Variable(*end)));
        ends.chain(body.into_iter().map(|statement| self.statement(statement))).chain(begins).collect()
    }

    fn statement(&self, mut statement: Statement) -> Statement {
        if let Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) = &mut statement
            && *index == Expr::Variable(self.counter)
        {
            *array = self.views[array];
            *index = Expr::Variable(self.entry);
        }
        statement.for_each_expr_mut(&mut |expr| {
            let taken = std::mem::replace(expr, Expr::Index(0));
            *expr = self.expr(taken);
        });
        for inner in statement.blocks_mut() {
            *inner = std::mem::take(inner).into_iter().map(|statement| self.statement(statement)).collect();
        }
        statement
    }

    fn expr(&self, expr: Expr) -> Expr {
        match expr {
            Expr::Load(array, index) if *index == Expr::Variable(self.counter) => match self.bounds.get(&array) {
                Some((begin, _)) => Expr::Variable(*begin),
                None => Expr::load(self.views[&array], Expr::Variable(self.entry)),
            },
            Expr::Load(array, index) if *index == behind(self.counter) => Expr::Variable(self.bounds[&array].1),
            other => other.map_children(&mut |child| self.expr(child)),
        }
    }
}
