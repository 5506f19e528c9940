//! Rule 1: every id names something. Everything else may index the kernel's lists after this.

use super::Violation;
use crate::ir::*;
use std::fmt::Display;

struct Ids<'k> {
    kernel: &'k Kernel,
    path: String,
    violations: Vec<Violation>,
}

pub(super) fn check(kernel: &Kernel) -> Vec<Violation> {
    let mut ids = Ids { kernel, path: String::new(), violations: Vec::new() };
    for (number, tensor) in kernel.tensors.iter().enumerate() {
        ids.path = format!("tensor t{number}");
        tensor.dimensions.iter().for_each(|id| ids.dimension(*id));
        match tensor.source {
            Source::SortedCopy { of: id }
            | Source::Permutation { of: id }
            | Source::Output { structure: Structure::Shared { operand: id, .. }, .. } => ids.tensor(id),
            _ => {}
        }
    }
    for (number, array) in kernel.arrays.iter().enumerate() {
        ids.path = format!("array a{number}");
        array.role.tensor().into_iter().for_each(|id| ids.tensor(id));
    }
    ids.block("body", &kernel.body);
    ids.violations
}

impl Ids<'_> {
    fn within(&mut self, id: impl Display, index: usize, count: usize) {
        if index >= count {
            let message = format!("{id} is not declared");
            self.violations.push(Violation { rule: 1, path: self.path.clone(), message });
        }
    }

    fn dimension(&mut self, id: DimensionId) {
        self.within(id, id.index(), self.kernel.dimensions.len());
    }

    fn tensor(&mut self, id: TensorId) {
        self.within(id, id.index(), self.kernel.tensors.len());
    }

    fn array(&mut self, id: ArrayId) {
        self.within(id, id.index(), self.kernel.arrays.len());
    }

    fn variable(&mut self, id: VariableId) {
        self.within(id, id.index(), self.kernel.variables.len());
    }

    fn expr(&mut self, expr: &Expr) {
        expr.for_each(&mut |inner| match inner {
            Expr::Variable(id) => self.variable(*id),
            Expr::Dimension(id) => self.dimension(*id),
            other => other.for_each_array(&mut |id| self.array(id)),
        });
    }

    fn block(&mut self, path: &str, body: &[Statement]) {
        for (number, statement) in body.iter().enumerate() {
            self.path = format!("{path}/{number}.{}", statement.keyword());
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let path = self.path.clone();
        match statement {
            Statement::Comment(_) => {}
            Statement::Let(id, value) | Statement::Assign(id, value) | Statement::Update(id, _, value) => {
                self.variable(*id);
                self.expr(value);
            }
            Statement::Store(id, one, other)
            | Statement::Reduce(id, one, _, other)
            | Statement::Allocate { array: id, length: one, fill: other }
            | Statement::Extend { array: id, count: one, fill: other } => {
                self.array(*id);
                [one, other].into_iter().for_each(|e| self.expr(e));
            }
            Statement::View { array, of, begin, length, .. } => {
                [*array, *of].into_iter().for_each(|id| self.array(id));
                [begin, length].into_iter().for_each(|e| self.expr(e));
            }
            Statement::Numbers { array, codes, mask, below } => {
                [*array, *codes].into_iter().for_each(|id| self.array(id));
                [mask, below].into_iter().for_each(|e| self.expr(e));
            }
            Statement::Folds { totals, terms, between } => {
                [Some(*totals), *between].into_iter().flatten().for_each(|id| self.array(id));
                self.expr(terms);
            }
            Statement::Fill(id, value) | Statement::Push(id, value) | Statement::Mark(id, value) => {
                self.array(*id);
                self.expr(value);
            }
            Statement::List(id) | Statement::Clear(id) => self.array(*id),
            Statement::Table { table, extent } | Statement::Bitmap { bitmap: table, extent } => {
                self.array(*table);
                self.expr(extent);
            }
            Statement::Directory { directory, positions, coordinates, extent, sought } => {
                [*directory, *positions, *coordinates, *sought].into_iter().for_each(|id| self.array(id));
                self.expr(extent);
            }
            Statement::Insert { place, key, keys, table } => {
                self.variable(*place);
                self.expr(key);
                [*keys, *table].into_iter().for_each(|id| self.array(id));
            }
            Statement::Sort { keys, places, table } => {
                [*keys, *places].into_iter().chain(*table).for_each(|id| self.array(id));
            }
            Statement::Reset { keys, table } => [*keys, *table].into_iter().for_each(|id| self.array(id)),
            Statement::For { variable, begin, end, body, .. } => {
                self.variable(*variable);
                [begin, end].into_iter().for_each(|e| self.expr(e));
                self.block(&path, body);
            }
            Statement::Marked { variable, bitmap, body } => {
                self.variable(*variable);
                self.array(*bitmap);
                self.block(&path, body);
            }
            Statement::Merge(merge) => {
                merge.declared().for_each(|id| self.variable(id));
                for walk in &merge.walks {
                    [&walk.begin, &walk.end, &walk.at].into_iter().for_each(|e| self.expr(e));
                }
                if let Some(look_up) = &merge.directory {
                    self.array(look_up.directory);
                    self.expr(&look_up.parent);
                }
                for (number, point) in merge.points.iter().enumerate() {
                    self.path.clone_from(&path);
                    self.block(&format!("{path}/point {number}"), &point.body);
                }
            }
            Statement::While(condition, body) => {
                self.expr(condition);
                self.block(&path, body);
            }
            Statement::If(branches, otherwise) => {
                for (number, (condition, body)) in branches.iter().enumerate() {
                    self.path.clone_from(&path);
                    self.expr(condition);
                    self.block(&format!("{path}/branch {number}"), body);
                }
                self.block(&format!("{path}/else"), otherwise);
            }
            Statement::Parallel(parallel) => self.parallel(&path, parallel),
        }
    }

    fn parallel(&mut self, path: &str, parallel: &Parallel) {
        [&parallel.begin, &parallel.end].into_iter().for_each(|e| self.expr(e));
        [parallel.low, parallel.high].into_iter().for_each(|id| self.variable(id));
        if let Some(Work { place, before, .. }) = &parallel.work {
            self.variable(*place);
            self.expr(before);
        }
        parallel.aligned.into_iter().for_each(|id| self.array(id));
        for (array, sharing) in &parallel.sharing {
            self.array(*array);
            match sharing {
                Sharing::Owned { place, start } => {
                    self.variable(*place);
                    self.expr(start);
                }
                Sharing::Segmented { place, start, length, .. } => {
                    self.variable(*place);
                    [start, length].into_iter().for_each(|e| self.expr(e));
                }
                Sharing::Joined { positions_of: Some(other) } => self.array(*other),
                Sharing::Private(_) | Sharing::Joined { positions_of: None } => {}
            }
        }
        parallel.reductions.iter().for_each(|(id, _)| self.variable(*id));
        self.block(path, &parallel.body);
        parallel.uneven.iter().for_each(|other| self.parallel(&format!("{path}/uneven"), other));
    }
}
