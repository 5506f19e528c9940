//! Sums formed once per fiber.
//!
//! In a CSF MTTKRP the sum over `k` does not depend on `B(j, r)`, so a good engineer forms it first and multiplies once:
//!
//! ```text
//! for all j, k, r: A(i, r) += X(i, j, k) * B(j, r) * C(k, r)
//!
//! for all j
//!     where A(i, r) += t(r) * B(j, r)
//!         for all k, r: t(r) += X(i, j, k) * C(k, r)
//! ```
//!
//! What may be formed first is what distributes over the reduction: products over sums, `&&` over `|=`, `||` over `&=`. Sums do
//! not over minima: they wrap around, or are NaN. The same rule keeps accumulators out of memory (`t` is a register or a row of registers), and forms products that do
//! not change inside a loop before it. It follows section 5 of Kjolstad et al., *Tensor Algebra Compilation with
//! Workspaces* (2019), applied to every reduction loop from the outside in.

use super::state::Scheduler;
use super::{
    Access, AskedSum, Assign, Computed, Expr, IndexVariable, Kernel, OutputStructure, Run, Statement, Tensor, TensorId,
    TensorKind, level_variables,
};
use crate::diagnostics::Span;
use crate::ir::{ElementType, Literal, ReduceOperator};
use crate::notation::{BinaryOperator, UnaryOperator};
use crate::remark::{What, Why};

/// The loops still to be written around an assignment, and what it assigns.
#[derive(Clone)]
pub(super) struct Nest {
    /// Variables of loops outside.
    pub bound: Vec<IndexVariable>,
    /// Variables of loops to write, outermost first.
    pub loops: Vec<IndexVariable>,
    /// What is assigned.
    pub target: Access,
    /// Whether the target lies in memory rather than in an accumulator.
    pub in_memory: bool,
    /// How values meet in one element.
    pub reduction: ReduceOperator,
    /// Whether the target holds something already: from before, or from an outer iteration of a reduction loop.
    pub accumulates: bool,
    /// What is assigned, as the operands of what [distributes](distributing) over the reduction: the factors of a product.
    pub factors: Vec<Expr>,
    /// What must have an entry.
    pub masks: Vec<Access>,
    /// The loop that is a vector, where there is one.
    pub vector: Option<IndexVariable>,
    /// The type of the elements.
    pub element: ElementType,
}

/// The operator that distributes over a reduction: operands of it that do not change in the reduction may as well be combined
/// with its result.
pub(super) fn distributing(reduction: ReduceOperator) -> Option<BinaryOperator> {
    reduction.distributes()
}

/// The factors of a product, or the operands of whatever distributes over the reduction; a sign goes to the first.
pub(super) fn factors(expr: &Expr, reduction: ReduceOperator) -> Vec<Expr> {
    match expr {
        Expr::Binary(operator, left, right) if distributing(reduction) == Some(*operator) => {
            let mut all = factors(left, reduction);
            all.extend(factors(right, reduction));
            all
        }
        Expr::Unary(UnaryOperator::Negate, operand) if reduction.row().takes_sign => {
            let mut all = factors(operand, reduction);
            let first = all.remove(0);
            all.insert(0, Expr::Unary(UnaryOperator::Negate, Box::new(first)));
            all
        }
        other => vec![other.clone()],
    }
}

impl Nest {
    /// What is assigned: the product of the factors.
    fn value(&self) -> Expr {
        let operator = distributing(self.reduction);
        let combine = |left: Expr, right: &Expr| {
            let operator = operator.expect("what nothing distributes over has one operand");
            Expr::Binary(operator, Box::new(left), Box::new(right.clone()))
        };
        let (first, rest) = self.factors.split_first().expect("a product has a factor");
        rest.iter().fold(first.clone(), combine)
    }
}

impl Nest {
    fn expect_vector_only(&self, variables: &[IndexVariable]) -> bool {
        variables.iter().all(|&variable| Some(variable) == self.vector)
    }
}

impl Scheduler<'_> {
    /// Index variables that tell where the target is, and whose loops are still to come.
    fn open_target_variables(&self, nest: &Nest) -> Vec<IndexVariable> {
        let loops = nest.loops.iter().copied();
        loops.filter(|&variable| self.tells_target(variable, nest)).collect()
    }

    /// Whether the place of the target depends on a loop's variable.
    fn tells_target(&self, variable: IndexVariable, nest: &Nest) -> bool {
        let target = self.kernel.loops_of(&nest.target.indices);
        target.contains(&variable) || !self.kernel.is_reduced(variable, &nest.target)
    }

    /// Writes the loops of a nest.
    pub(super) fn build(&mut self, nest: Nest) -> Statement {
        let Some((&variable, _)) = nest.loops.split_first() else {
            return Statement::Assign(Assign {
                operator: nest.accumulates.then_some(nest.reduction),
                value: nest.value(),
                target: nest.target,
                masks: nest.masks,
            });
        };
        if !self.tells_target(variable, &nest)
            && self.kernel.variables[variable.0].value.is_none()
            && let Some(statement) = self.sum_outside(&nest)
        {
            return statement;
        }
        if let Some(statement) = self.form_before(&nest, variable) {
            return statement;
        }
        self.write_loop(nest)
    }

    fn write_loop(&mut self, mut nest: Nest) -> Statement {
        let variable = nest.loops.remove(0);
        let run = if nest.vector == Some(variable) && nest.loops.is_empty() { Run::Vector } else { Run::Serial };
        // What is computed from loops outside has one value for each of their iterations.
        let runs_once = matches!(self.kernel.variables[variable.0].value, Some(Computed::Index { .. }))
            && self.kernel.running(variable).iter().all(|outer| nest.bound.contains(outer));
        nest.accumulates |= !runs_once && self.kernel.is_reduced(variable, &nest.target);
        nest.bound.push(variable);
        Statement::Forall { variable, run, body: Box::new(self.build(nest)) }
    }

    /// Whether the outermost loop has one iteration each time: over what is stored for each entry of a permutation.
    fn has_one_term(&self, nest: &Nest) -> bool {
        let is_below_entries = |access: &Access| {
            let Tensor { kind, format, .. } = self.kernel.tensor(access.tensor);
            let below = || level_variables(access, format).split_off(format.level_of_entries() + 1);
            matches!(kind, TensorKind::Permutation(_)) && below().contains(&nest.loops[0])
        };
        let mut has_one = false;
        nest.factors
            .iter()
            .for_each(|factor| factor.for_each_access(&mut |access| has_one |= is_below_entries(access)));
        has_one
    }

    /// At a reduction loop: sums into an accumulator, and multiplies by what the sum does not depend on afterwards.
    /// `None` where that would gain nothing.
    fn sum_outside(&mut self, nest: &Nest) -> Option<Statement> {
        let open = self.open_target_variables(nest);
        let is_row = nest.expect_vector_only(&open);
        let name = self.kernel.variable(nest.loops[0]).to_owned();
        let asked = self.kernel.asked.sum(&name, &super::directives::is_called).cloned();
        if let Some(asked) = asked.as_ref().filter(|asked| asked.name.is_none()) {
            self.updates_each_time(nest, asked);
            return None;
        }
        let is_wanted = asked.is_some() && self.is_dense_result(nest);
        if !is_row && !self.sums_blocks(nest, &open) && !is_wanted || asked.is_none() && self.has_one_term(nest) {
            return None;
        }
        let known = |variable: &IndexVariable| nest.bound.contains(variable) || open.contains(variable);
        let (outside, inside): (Vec<Expr>, Vec<Expr>) =
            nest.factors.iter().cloned().partition(|factor| self.free(factor).iter().all(known));
        // A sum that goes into such a row already gains nothing by another.
        let is_there = !nest.in_memory && nest.target.indices == open;
        let gains = nest.in_memory || !outside.is_empty() || is_row && !is_there && self.is_inside_of_block(nest);
        // A sum of nothing but what is known is a sum of ones; leave it as it stands.
        if !gains || inside.is_empty() {
            return None;
        }
        let workspace = self.accumulator(&open, nest.element, nest.reduction);
        if let Some(asked) = asked {
            self.name_workspace(workspace, asked.name.as_deref());
            self.kernel.asked.keep(asked.span);
        }
        let row = Access::new(workspace, open.clone(), Span::default());
        let kept = What::Accumulated {
            variable: name,
            name: self.kernel.tensor(workspace).name.clone(),
            over: self.kernel.names(&open),
        };
        self.decide(kept, if outside.is_empty() { Why::NotStoredEachTime } else { Why::FactorIsFixed });
        if !outside.is_empty() {
            let factors = outside.iter().map(|factor| self.show(factor)).collect();
            let variable = self.kernel.variable(nest.loops[0]).to_owned();
            let is_sum = nest.reduction == ReduceOperator::Add;
            self.decide(What::ReducedFirst { variable, is_sum, factors }, Why::FactorIsFixed);
        }
        let mut consumer_factors = vec![Expr::Access(row.clone())];
        consumer_factors.extend(outside);
        let (masks_outside, masks_inside) =
            nest.masks.iter().cloned().partition(|mask: &Access| self.kernel.loops_of(&mask.indices).iter().all(known));
        let consumer =
            self.build(Nest { loops: open, factors: consumer_factors, masks: masks_outside, ..nest.clone() });
        let producer = self.build(Nest {
            target: row,
            in_memory: false,
            accumulates: false,
            factors: inside,
            masks: masks_inside,
            ..nest.clone()
        });
        Some(Statement::Where { workspace, consumer: Box::new(consumer), producer: Box::new(producer) })
    }

    /// Notes that the result is updated in each iteration, as the schedule wants, or refuses that.
    fn updates_each_time(&mut self, nest: &Nest, asked: &AskedSum) {
        let tensor = self.kernel.tensor(nest.target.tensor);
        if tensor.kind == TensorKind::Output(OutputStructure::Appended) {
            let message = format!("`{}` can't be updated in each iteration", tensor.name);
            let help = "leave the directive out, or store the result in a dense format";
            self.refuse(asked.span, message, "entries are appended when they are complete", help);
        }
        self.kernel.asked.keep(asked.span);
    }

    /// Whether a nest updates a dense result, of which any part may be accumulated first.
    fn is_dense_result(&self, nest: &Nest) -> bool {
        nest.in_memory && self.kernel.tensor(nest.target.tensor).kind == TensorKind::Output(OutputStructure::Dense)
    }

    /// Calls a workspace as the schedule does, where nothing else is called so.
    fn name_workspace(&mut self, workspace: TensorId, name: Option<&str>) {
        let Some(name) = name else { return };
        if !self.kernel.tensors.iter().any(|tensor| tensor.name == name) {
            self.kernel.tensors[workspace.0].name = name.to_owned();
        }
    }

    /// Before a loop with a vector loop inside: forms the product of two or more factors that change only along the vector.
    fn form_before(&mut self, nest: &Nest, variable: IndexVariable) -> Option<Statement> {
        let vector = nest.vector?;
        if variable == vector || nest.loops.len() < 2 || nest.loops.last() != Some(&vector) {
            return None;
        }
        let known = |factor: &Expr| {
            let variables = self.free(factor);
            variables.contains(&vector) && variables.iter().all(|v| *v == vector || nest.bound.contains(v))
        };
        let (before, inside): (Vec<Expr>, Vec<Expr>) = nest.factors.iter().cloned().partition(known);
        if before.len() < 2 || inside.is_empty() {
            return None;
        }
        let workspace = self.workspace(&[vector], nest.element, nest.element.zero());
        let row = Access::new(workspace, vec![vector], Span::default());
        let factors = before.iter().map(|factor| self.show(factor)).collect();
        let variable = self.kernel.variable(variable).to_owned();
        self.decide(What::FormedBefore { factors, variable }, Why::ProductIsFixed);
        let mut rest = inside;
        rest.push(Expr::Access(row.clone()));
        let producer = self.build(Nest {
            loops: vec![vector],
            target: row,
            in_memory: false,
            accumulates: false,
            factors: before,
            masks: Vec::new(),
            ..nest.clone()
        });
        let consumer = self.build(Nest { factors: rest, ..nest.clone() });
        Some(Statement::Where { workspace, consumer: Box::new(consumer), producer: Box::new(producer) })
    }

    /// A new dense workspace over some index variables, in which a reduction starts.
    pub(super) fn accumulator(
        &mut self,
        variables: &[IndexVariable],
        element: ElementType,
        reduction: ReduceOperator,
    ) -> TensorId {
        let identity = reduction.identity(element).unwrap_or(element.zero());
        self.workspace(variables, element, identity)
    }

    /// A new dense workspace over some index variables.
    pub(super) fn workspace(&mut self, variables: &[IndexVariable], element: ElementType, fill: Literal) -> TensorId {
        let format = crate::format::Format::dense(variables.len());
        self.kernel.add_workspace(variables, element, fill, format, super::TensorKind::Workspace)
    }
}

impl Kernel {
    /// A new workspace of a kind, over some index variables.
    pub(super) fn add_workspace(
        &mut self,
        variables: &[IndexVariable],
        element: ElementType,
        fill: Literal,
        format: crate::format::Format,
        kind: super::TensorKind,
    ) -> TensorId {
        let extents = variables.iter().map(|variable| self.variables[variable.0].extent).collect();
        let count = self.tensors.iter().filter(|t| t.kind.is_workspace()).count();
        let mut name = if count == 0 { "t".to_owned() } else { format!("t_{count}") };
        while self.tensors.iter().any(|tensor| tensor.name == name) {
            name.insert(0, '_');
        }
        let (delivered_fill, delivered, listed, pattern, stored) = (fill, None, None, None, None);
        let tensor = super::Tensor {
            name,
            element,
            fill,
            delivered_fill,
            format,
            delivered,
            listed,
            pattern,
            stored,
            extents,
            kind,
        };
        self.tensors.push(tensor);
        TensorId(self.tensors.len() - 1)
    }
}
