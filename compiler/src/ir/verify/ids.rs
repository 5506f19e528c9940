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
    for (number, pivot) in kernel.pivots.iter().enumerate() {
        ids.path = format!("pivot {number}");
        [pivot.output, pivot.input].into_iter().for_each(|id| ids.tensor(id));
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
        statement.parts(&mut |part| match part {
            Part::Expr(expr) => self.expr(expr),
            Part::Variable(id, _) => self.variable(*id),
            Part::Array(id, _) => self.array(*id),
            Part::Block(block, place) => {
                self.block(&format!("{path}{place}"), block);
                self.path.clone_from(&path);
            }
        });
    }
}
