//! A thread for each element of a row: vector loops that all go over one row are taken apart.
//!
//! ```text
//! allocate t[R] = 0                                let t = 0
//! for p in pos[i]..pos[i + 1]                      for p in pos[i]..pos[i + 1]
//!     for r in 0..R vector                             t += x[p] * c[crd[p] * R + r]
//!         t[r] += x[p] * c[crd[p] * R + r]         a[i * R + r] = t
//! for r in 0..R vector
//!     a[i * R + r] = t[r]
//! ```
//!
//! What stands outside of vector loops is done by every thread of a row where it is about variables, and by that of the first
//! element where it writes memory.

use super::plan::Lane;
use super::rewrite::substitute;
use crate::ir::{ArrayId, Expr, Kernel, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// The body for one element of the row that all of its vector loops go over; `None` where there is no such row, or threads
/// would have to wait for each other.
pub(super) fn distribute(kernel: &mut Kernel, body: &[Statement]) -> Option<(Vec<Statement>, Lane)> {
    let row = Row::of(kernel, body)?;
    let variable = kernel.declare_index(&row.name);
    let registers: BTreeMap<ArrayId, VariableId> = row
        .registers
        .iter()
        .map(|&array| {
            let declared = kernel.array(array).clone();
            (array, kernel.declare_variable(&declared.name, declared.element.ty(), true))
        })
        .collect();
    let lane = Distribution { row: &row, variable, registers };
    let ends = !row.writes_outside;
    Some((lane.block(body.to_vec(), false), Lane { variable, extent: row.extent.clone(), ends }))
}

/// A row that threads share.
struct Row {
    /// The number of its elements.
    extent: Expr,
    /// The name of the variable that counts them.
    name: String,
    /// Rows of the same length that only a chunk knows, of which each thread needs its own element.
    registers: BTreeSet<ArrayId>,
    /// Other arrays that a chunk makes: each thread has its own.
    own: BTreeSet<ArrayId>,
    /// Whether memory is written outside of vector loops.
    writes_outside: bool,
}

impl Row {
    fn of(kernel: &Kernel, body: &[Statement]) -> Option<Row> {
        let mut seen = Seen::default();
        seen.block(body, None);
        let (extent, counter) = seen.row.clone()?;
        let is_one_row = !seen.has_other_rows && matches!(extent, Expr::Dimension(_));
        if !is_one_row || seen.makes_others || seen.changes_outer {
            return None;
        }
        // Rows of a chunk's own of which a thread touches its own element only.
        let rows: BTreeSet<ArrayId> =
            seen.allocated.iter().filter(|(_, length)| *length == extent).map(|(array, _)| *array).collect();
        let others: BTreeSet<ArrayId> =
            seen.allocated.iter().map(|(array, _)| *array).filter(|array| !rows.contains(array)).collect();
        let touches_own = rows.iter().all(|row| !seen.elsewhere.contains(row));
        let small = others.iter().all(|array| !seen.written_inside.contains(array));
        // What one thread writes, no other may read, and two must not write.
        let outer = |arrays: &BTreeSet<ArrayId>| -> BTreeSet<ArrayId> {
            arrays.iter().filter(|array| !rows.contains(array) && !others.contains(array)).copied().collect()
        };
        let written_outside = outer(&seen.written_outside);
        let written_inside = outer(&seen.written_inside);
        let read_outside = outer(&seen.read_outside);
        let meets =
            written_outside.iter().any(|array| written_inside.contains(array) || seen.read_inside.contains(array))
                || read_outside.iter().any(|array| written_inside.contains(array) || written_outside.contains(array));
        (touches_own && small && !meets).then(|| Row {
            name: kernel.variable(counter).name.clone(),
            registers: rows,
            writes_outside: !written_outside.is_empty(),
            own: others,
            extent,
        })
    }
}

/// What a body does, inside of vector loops and outside.
#[derive(Default)]
struct Seen {
    row: Option<(Expr, VariableId)>,
    has_other_rows: bool,
    makes_others: bool,
    changes_outer: bool,
    allocated: Vec<(ArrayId, Expr)>,
    /// Arrays of which an element is touched that is not the vector loop's own.
    elsewhere: BTreeSet<ArrayId>,
    read_inside: BTreeSet<ArrayId>,
    read_outside: BTreeSet<ArrayId>,
    written_inside: BTreeSet<ArrayId>,
    written_outside: BTreeSet<ArrayId>,
}

impl Seen {
    fn block(&mut self, block: &[Statement], vector: Option<VariableId>) {
        for statement in block {
            self.statement(statement, vector);
        }
    }

    fn statement(&mut self, statement: &Statement, vector: Option<VariableId>) {
        statement.for_each_expr(&mut |expr| expr.for_each(&mut |expr| self.expr(expr, vector)));
        match statement {
            Statement::Allocate { array, length, .. } => {
                self.allocated.push((*array, length.clone()));
                self.makes_others |= vector.is_some();
            }
            Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) => {
                self.touch(*array, index, vector);
                self.write(*array, vector);
            }
            // Of a row, each thread sets its own element; anything else is refused by the caller.
            Statement::Fill(array, _) => self.write(*array, vector),
            Statement::For { variable, begin, end, vector: true, body } => {
                let extent = (*begin == Expr::Index(0)).then(|| end.clone());
                match (&self.row, extent) {
                    (None, Some(extent)) => self.row = Some((extent, *variable)),
                    (Some((row, _)), Some(extent)) => self.has_other_rows |= *row != extent,
                    (_, None) => self.has_other_rows = true,
                }
                self.has_other_rows |= vector.is_some();
                let own = super::rewrite::declared(body);
                self.changes_outer |= super::rewrite::changed(body).iter().any(|changed| !own.contains(changed));
                return self.block(body, Some(*variable));
            }
            Statement::Comment(_)
            | Statement::Let(..)
            | Statement::Assign(..)
            | Statement::Update(..)
            | Statement::For { .. }
            | Statement::While(..)
            | Statement::If(..) => {}
            _ => self.makes_others = true,
        }
        statement.blocks().into_iter().for_each(|inner| self.block(inner, vector));
    }

    fn expr(&mut self, expr: &Expr, vector: Option<VariableId>) {
        match expr {
            Expr::Load(array, index) => {
                self.touch(*array, index, vector);
                self.read(*array, vector);
            }
            Expr::Search { array, .. } => {
                self.elsewhere.insert(*array);
                self.read(*array, vector);
            }
            _ => {}
        }
    }

    fn touch(&mut self, array: ArrayId, index: &Expr, vector: Option<VariableId>) {
        if vector.is_none_or(|own| *index != Expr::Variable(own)) {
            self.elsewhere.insert(array);
        }
    }

    fn read(&mut self, array: ArrayId, vector: Option<VariableId>) {
        let read = if vector.is_some() { &mut self.read_inside } else { &mut self.read_outside };
        read.insert(array);
    }

    fn write(&mut self, array: ArrayId, vector: Option<VariableId>) {
        let written = if vector.is_some() { &mut self.written_inside } else { &mut self.written_outside };
        written.insert(array);
    }
}

/// The rewriting of a body for one element of a row.
struct Distribution<'a> {
    row: &'a Row,
    variable: VariableId,
    /// What was a row of the chunk's own.
    registers: BTreeMap<ArrayId, VariableId>,
}

impl Distribution<'_> {
    fn block(&self, block: Vec<Statement>, is_inside: bool) -> Vec<Statement> {
        let mut done: Vec<Statement> = Vec::with_capacity(block.len());
        for statement in block.into_iter().flat_map(|statement| self.statement(statement, is_inside)) {
            match (done.last_mut(), statement) {
                (Some(Statement::If(last, _)), Statement::If(next, _))
                    if self.is_guard(last) && self.is_same(last, &next) =>
                {
                    last[0].1.extend(next.into_iter().flat_map(|(_, body)| body));
                }
                (_, statement) => done.push(statement),
            }
        }
        done
    }

    /// Whether it is a condition that stands before what one thread does.
    fn is_guard(&self, branches: &[(Expr, Vec<Statement>)]) -> bool {
        matches!(branches, [(condition, _)] if *condition == self.is_first() || *condition == self.is_there())
    }

    fn is_same(&self, one: &[(Expr, Vec<Statement>)], other: &[(Expr, Vec<Statement>)]) -> bool {
        matches!((one, other), ([(one, _)], [(other, _)]) if one == other)
    }

    /// That a thread is that of the first element.
    fn is_first(&self) -> Expr {
        Expr::Variable(self.variable).equals(Expr::Index(0))
    }

    /// That a thread has an element.
    fn is_there(&self) -> Expr {
        Expr::Variable(self.variable).less(self.row.extent.clone())
    }

    fn statement(&self, mut statement: Statement, is_inside: bool) -> Vec<Statement> {
        if let Statement::For { variable, vector: true, body, .. } = statement {
            let mut body = body;
            substitute(&mut body, &BTreeMap::from([(variable, Expr::Variable(self.variable))]));
            let body = self.block(body, true);
            let guarded = |body| vec![Statement::If(vec![(self.is_there(), body)], Vec::new())];
            return if self.row.writes_outside { guarded(body) } else { body };
        }
        for inner in statement.blocks_mut() {
            *inner = self.block(std::mem::take(inner), is_inside);
        }
        super::rewrite::rewrite(std::slice::from_mut(&mut statement), &mut |expr| match expr {
            Expr::Load(array, index) => match self.registers.get(&array) {
                Some(&register) => Expr::Variable(register),
                None => Expr::Load(array, index),
            },
            other => other,
        });
        let register = |array: &ArrayId| self.registers.get(array).copied();
        let changed = match statement {
            Statement::Allocate { array, length, fill } => match register(&array) {
                Some(variable) => Statement::Let(variable, fill),
                None => Statement::Allocate { array, length, fill },
            },
            Statement::Fill(array, value) => match register(&array) {
                Some(variable) => Statement::Assign(variable, value),
                None => Statement::Fill(array, value),
            },
            Statement::Store(array, index, value) => match register(&array) {
                Some(variable) => Statement::Assign(variable, value),
                None => Statement::Store(array, index, value),
            },
            Statement::Reduce(array, index, operator, value) => match register(&array) {
                Some(variable) => Statement::Update(variable, operator, value),
                None => Statement::Reduce(array, index, operator, value),
            },
            other => other,
        };
        let is_shared = |array: &ArrayId| !self.row.own.contains(array);
        match &changed {
            Statement::Store(array, ..) | Statement::Reduce(array, ..) | Statement::Fill(array, _)
                if !is_inside && is_shared(array) =>
            {
                vec![Statement::If(vec![(self.is_first(), vec![changed])], Vec::new())]
            }
            _ => vec![changed],
        }
    }
}
