//! Arrays and variables that threads have privatized: which these are, how many copies of them there are, and the memory of the copies.

use crate::gpu::Builder;
use crate::gpu::plan::{BLOCK, Meet, Step, Total, WARP};
use crate::gpu::rewrite::replace_statements;
use crate::ir::{ArrayId, BinaryOperator, Expr, Parallel, ReduceOperator, Sharing, Statement, Type, VariableId};
use std::collections::BTreeSet;

/// The bytes that all copies of arrays have together, unless a single one takes more.
pub(super) const COPIES: u64 = 1 << 29;

/// The most copies of an array.
const MOST_COPIES: u64 = 1 << 14;

/// Fewer places than this are not worth a copy.
const PLACES_OF_COPY: u64 = 8;

/// An array that threads have copies of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied {
    pub array: ArrayId,
    pub operator: ReduceOperator,
}

/// Copies of an array, one for each worker, one behind the other.
pub(super) struct Copies {
    pub of: Copied,
    pub copies: ArrayId,
}

impl Builder {
    /// Whether what threads reduce has to be combined in a known order.
    pub(super) fn is_ordered(&self, ty: Type, operator: ReduceOperator) -> bool {
        let Type::Element(element) = ty else { return false };
        let is_atomic = !element.is_complex() || operator == ReduceOperator::Add;
        !is_atomic || self.options.deterministic && operator.is_ordered(element)
    }

    pub(super) fn is_ordered_array(&self, array: ArrayId, operator: ReduceOperator) -> bool {
        self.is_ordered(self.module.kernel.array(array).element.ty(), operator)
    }

    /// The arrays that chunks of a loop update together: those that threads need copies of, and those that they update by atomic
    /// operations.
    pub(super) fn updated(&self, parallel: &Parallel) -> (Vec<Copied>, BTreeSet<ArrayId>) {
        let updates = parallel.sharing.iter().filter_map(|(array, sharing)| match sharing {
            Sharing::Private(operator) | Sharing::Segmented { operator, .. } => {
                Some(Copied { array: *array, operator: *operator })
            }
            _ => None,
        });
        let (copied, atomic): (Vec<Copied>, Vec<Copied>) =
            updates.partition(|update| self.is_ordered_array(update.array, update.operator));
        (copied, atomic.into_iter().map(|update| update.array).collect())
    }

    /// Whether a loop has segments that are combined in order.
    pub(super) fn has_ordered_segments(&self, parallel: &Parallel) -> bool {
        let is_ordered = |(array, sharing): &(ArrayId, Sharing)| match sharing {
            Sharing::Segmented { operator, .. } => self.is_ordered_array(*array, *operator),
            _ => false,
        };
        parallel.sharing.iter().any(is_ordered)
    }

    /// How many workers have copies, for so many tasks.
    pub(super) fn most_copies(&self, copied: &[Copied], tasks: Expr) -> Expr {
        let bytes = |copied: &Copied| self.length_of(copied.array).times(Expr::Index(self.bytes_of(copied.array)));
        let bytes = copied.iter().map(bytes).fold(Expr::Index(1), Expr::plus);
        let fit = Expr::binary(BinaryOperator::Divide, Expr::Index(COPIES), bytes);
        let worth = Expr::binary(BinaryOperator::Divide, tasks, Expr::Index(PLACES_OF_COPY));
        let both = Expr::binary(BinaryOperator::Minimum, fit, worth);
        let most = Expr::binary(BinaryOperator::Minimum, both, Expr::Index(MOST_COPIES));
        Expr::binary(BinaryOperator::Maximum, most, Expr::Index(1))
    }

    /// A body that updates its worker's copies.
    pub(super) fn copies(&mut self, copied: &[Copied], worker: VariableId, body: &mut Vec<Statement>) -> Vec<Copies> {
        let mut all = Vec::new();
        for &of in copied {
            let length = self.length_of(of.array);
            let copies = self.array_like(of.array, "copies");
            let begin = Expr::Variable(worker).times(length);
            let statements = std::mem::take(body);
            *body = replace_statements(statements, &mut |statement| match statement {
                Statement::Reduce(array, index, operator, value) if array == of.array => {
                    vec![Statement::Reduce(copies, begin.clone().plus(index), operator, value)]
                }
                other => vec![other],
            });
            all.push(Copies { of, copies });
        }
        all
    }

    /// Room for copies, all of which hold what changes nothing.
    pub(super) fn make_copies(&mut self, copies: &Copies, workers: &Expr) {
        let length = workers.clone().times(self.length_of(copies.of.array));
        let fill = Some(self.identity_of(copies.of.array, copies.of.operator));
        self.module.steps.push(Step::Make { array: copies.copies, length, fill });
        let name = &self.module.kernel.array(copies.of.array).name;
        let what = format!("workers have copies of {name}, which are combined in order");
        self.decide(what, "places are dealt out to workers by their number: every run gives the same bits");
    }

    /// What threads leave of a variable: in a cell, or in parts that are combined in order.
    pub(super) fn meeting(&mut self, variable: VariableId, operator: ReduceOperator) -> Meet {
        let cell = self.cell(variable);
        match self.is_ordered(self.module.kernel.variable(variable).ty, operator) {
            true => Meet::Parts(self.array_like(cell, "parts")),
            false => Meet::Cell(cell),
        }
    }

    /// Room for a part of each warp that is launched.
    pub(super) fn make_parts(&mut self, totals: &[Total], tasks: &Expr, workers: &Expr) {
        for total in totals {
            let Meet::Parts(parts) = total.meet else { continue };
            let threads = Expr::binary(BinaryOperator::Minimum, tasks.clone(), workers.clone());
            let length = rounded_up(threads, BLOCK).times(Expr::Index(BLOCK / WARP));
            let fill = Some(self.identity_of(parts, total.operator));
            self.module.steps.push(Step::Make { array: parts, length, fill });
            let name = self.module.kernel.variable(total.variable).name.clone();
            let why = "each warp leaves what it has: every run gives the same bits";
            self.decide(format!("{name} is combined in order"), why);
        }
    }
}

/// A number of blocks that is no less.
fn rounded_up(number: Expr, block: u64) -> Expr {
    Expr::binary(BinaryOperator::Divide, number.plus(Expr::Index(block - 1)), Expr::Index(block))
}
