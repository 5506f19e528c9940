//! Equal shares of the positions of an operand: where they may be had, and how results of shares meet.
//!
//! Chunks of rows can't be equal where a row holds most of the entries, or where there are fewer slices than threads. Chunks
//! of positions can, as long as terms may be combined in any grouping: a share then has its part of a row's sum, and what it
//! does to that sum afterwards distributes over the reduction.
//!
//! ```text
//! for all i                                   for all p in positions of A(i, j)
//!     with t                                      for all i
//!         for all j: t += A(i, j) * x(j)     →        with t
//!     then y(i) = 2 * t                                   for all j: t += A(i, j) * x(j)
//!                                                     then y(i) += 2 * t
//! ```
//!
//! Positions as a loop are from Senanayake et al. (2020), section 4; load-balanced parts whose ends alone are synchronised from Merrill,
//! Garland, *Merge-based Parallel Sparse Matrix-Vector Multiplication* (2016).

use super::factor::factors;
use super::level_variables;
use super::state::Scheduler;
use super::{
    Access, Assign, Cut, Expr, IndexVariable, Kernel, OutputStructure, Run, Share, Statement, TensorId, TensorKind,
    Variable,
};
use super::{absent, is_identity, simplify};
use crate::format::Role;
use crate::ir::ReduceOperator;
use crate::lattice::operands;
use crate::level;
use crate::notation::UnaryOperator;
use crate::remark::{What, Why};
use std::ops::Range;

/// Why there are no shares.
type Reason = &'static str;

impl Kernel {
    /// The index variable of each level that a share's loop goes over.
    pub fn shared_variables(&self, share: &Share) -> Vec<IndexVariable> {
        level_variables(&share.access, &self.tensor(share.access.tensor).format)[share.levels.clone()].to_vec()
    }

    /// The levels of an operand from `first` on whose last has as many positions as any: further ones have one for each.
    pub(super) fn shareable_levels(&self, access: &Access, first: usize, last: usize) -> Option<Range<usize>> {
        let levels = &self.tensor(access.tensor).format.levels;
        let has_own = |level: &usize| !levels[*level].format.kind.is_one_each();
        let last = (first..=last).rev().find(has_own)?;
        (first..=last).all(|level| level::has_parents(levels[level].format)).then_some(first..last + 1)
    }

    /// The shares of an operand's levels in a statement that has all loops over them.
    ///
    /// # Errors
    /// Why there are none.
    pub(super) fn share(
        &self,
        statement: &Statement,
        access: &Access,
        levels: Range<usize>,
        by: Option<u64>,
    ) -> Result<Share, Reason> {
        let tensor = self.tensor(access.tensor);
        if tensor.stored.is_some() || !tensor.kind.is_operand() {
            return Err("its positions number no entries of an operand as it is walked");
        }
        if simplify(&self.tensors, absent(&self.tensors, statement, access)) != Statement::Empty {
            return Err("something is done also where it has no entry");
        }
        // With infinite fill values, what no operand has an entry for may differ from what this one has none for.
        let mut reads: Vec<Access> = Vec::new();
        statement.for_each_read(&mut |read| reads.push(read.clone()));
        let is_operand = |read: &&Access| !self.tensor(read.tensor).kind.is_workspace();
        let nothing = reads.iter().filter(is_operand).filter(|read| !self.tensor(read.tensor).format.is_dense());
        let nothing = nothing.fold(statement.clone(), |statement, read| absent(&self.tensors, &statement, read));
        if simplify(&self.tensors, nothing) != Statement::Empty {
            return Err("something is done also where no operand has an entry");
        }
        let mut share = Share { access: access.clone(), levels, by, operator: None };
        let variables = self.shared_variables(&share);
        if variables.iter().any(|variable| self.variables[variable.0].value.is_some()) {
            return Err("its index is computed from others");
        }
        let above = &level_variables(access, &tensor.format)[..share.levels.start];
        if has_loop_over(statement, above) {
            return Err("loops over levels above it are inside");
        }
        if !self.walks(statement, &share, &variables, 0) {
            return Err("other operands are walked in its place, or its levels in another order");
        }
        let mut operator = None;
        if !self.distributes(statement, &variables, &mut operator) {
            return Err("what is done to a sum of all its entries does not distribute over sums of some");
        }
        share.operator = operator;
        let mut made = Vec::new();
        statement.for_each_workspace(&mut |workspace| made.push(workspace));
        let mut problem = None;
        statement
            .for_each_assign(&mut |assign| problem = problem.or(self.settle(&mut share, statement, assign, &made)));
        problem.map_or(Ok(share), Err)
    }

    /// Whether each loop over a shared level walks the operand, or, where the level is dense, nothing; and whether it is inside
    /// of those over the levels above it, of which `known` are outside.
    fn walks(&self, statement: &Statement, share: &Share, variables: &[IndexVariable], known: usize) -> bool {
        match statement {
            Statement::Empty | Statement::Assign(_) => true,
            Statement::Where { consumer, producer, .. } => {
                self.walks(consumer, share, variables, known) && self.walks(producer, share, variables, known)
            }
            Statement::Sequence(statements) => {
                statements.iter().all(|inner| self.walks(inner, share, variables, known))
            }
            Statement::Forall { variable, body, .. } => {
                let (is_right, known) = match variables.iter().position(|shared| shared == variable) {
                    None => (true, known),
                    Some(place) => {
                        let level = share.levels.start + place;
                        let is_dense = level::is_located(self.tensor(share.access.tensor).format.levels[level].format);
                        let walked = operands(self, *variable, body);
                        let is_walked = walked.iter().any(|other| other.same_place(&share.access));
                        let is_right = if is_dense { walked.is_empty() } else { is_walked };
                        (is_right && place == known, known + 1)
                    }
                };
                is_right && self.walks(body, share, variables, known)
            }
        }
    }

    /// Whether a statement over some of the values of `variables` does its part of what it does over all, and the operator
    /// by which parts are combined, where they are.
    fn distributes(
        &self,
        statement: &Statement,
        variables: &[IndexVariable],
        operator: &mut Option<ReduceOperator>,
    ) -> bool {
        match statement {
            Statement::Empty => true,
            Statement::Assign(assign) => match assign.operator {
                None => true,
                Some(own) => *operator.get_or_insert(own) == own,
            },
            Statement::Forall { body, .. } => self.distributes(body, variables, operator),
            Statement::Sequence(statements) => {
                statements.iter().all(|inner| self.distributes(inner, variables, operator))
            }
            Statement::Where { consumer, producer, .. } if !has_loop_over(producer, variables) => {
                self.distributes(consumer, variables, operator)
            }
            Statement::Where { workspace, consumer, producer } => {
                self.distributes(producer, variables, operator)
                    && !has_loop_over(consumer, variables)
                    && operator.is_some_and(|operator| is_multiple(consumer, *workspace, operator))
                    && self.distributes(consumer, variables, operator)
            }
        }
    }

    /// Says how what is assigned to a result, or to a workspace that is not `made` in a share, is combined, or why it can't be.
    fn settle(&self, share: &mut Share, statement: &Statement, assign: &Assign, made: &[TensorId]) -> Option<Reason> {
        let tensor = self.tensor(assign.target.tensor);
        match &tensor.kind {
            TensorKind::Output(OutputStructure::Appended) | TensorKind::SparseWorkspace(_) => {
                return Some("entries of the result are appended, each when it is complete");
            }
            _ if made.contains(&assign.target.tensor) => return None,
            _ => {}
        }
        if self.is_apart_in_share(share, &assign.target) {
            return None;
        }
        match (assign.operator, share.operator) {
            (Some(_), _) => None,
            (None, Some(operator)) => {
                (!is_identity(operator, tensor.fill)).then_some("the result holds something else before")
            }
            (None, None) => {
                share.operator = statement.operator_that_keeps(assign.target.tensor, tensor.fill);
                share.operator.is_none().then_some("the result holds something else before")
            }
        }
    }
}

fn has_loop_over(statement: &Statement, variables: &[IndexVariable]) -> bool {
    let mut found = false;
    statement.for_each_loop(&mut |variable, _, _| found |= variables.contains(&variable));
    found
}

/// Whether all that a statement assigns is a multiple of a workspace, for a reduction by `operator`.
fn is_multiple(statement: &Statement, workspace: TensorId, operator: ReduceOperator) -> bool {
    fn is_it(factor: &Expr, workspace: TensorId) -> bool {
        match factor {
            Expr::Access(access) => access.tensor == workspace,
            Expr::Unary(UnaryOperator::Negate, operand) => is_it(operand, workspace),
            _ => false,
        }
    }
    let mentions = |expr: &Expr| {
        let mut found = false;
        expr.for_each_access(&mut |access| found |= access.tensor == workspace);
        found
    };
    let mut all = true;
    statement.for_each_assign(&mut |assign| {
        let factors = factors(&assign.value, operator);
        let (mentioning, negates) = (factors.iter().filter(|factor| mentions(factor)), operator != ReduceOperator::Add);
        let of_it: Vec<&Expr> = mentioning.collect();
        let is_negated = matches!(of_it[..], [Expr::Unary(..)]);
        all &= matches!(of_it[..], [factor] if is_it(factor, workspace)) && !(negates && is_negated);
    });
    all
}

impl Scheduler<'_> {
    /// Shares for a parallel outermost loop over `variable`, where chunks of its range may be uneven: of the positions of the
    /// one operand that is walked, which is the given one where there is one. What it walks there alone can't be cut further.
    pub(super) fn default_share(&self, statement: &Statement, operand: Option<TensorId>) -> Option<Share> {
        let Statement::Forall { variable, .. } = statement else { return None };
        let mut is_cut = false;
        statement.for_each_loop(&mut |variable, _, _| is_cut |= self.kernel.variables[variable.0].share.is_some());
        (!is_cut).then_some(())?;
        let mut reads: Vec<Access> = Vec::new();
        statement.for_each_read(&mut |access| reads.push(access.clone()));
        reads.iter().find_map(|access| {
            operand.is_none_or(|operand| self.kernel.original(access.tensor) == operand).then_some(())?;
            let format = &self.kernel.tensor(access.tensor).format;
            format.mode_order()?;
            (level_variables(access, format).first() == Some(variable)).then_some(())?;
            let stores = |level: &crate::format::Level| level.format.array(Role::Positions).is_some();
            let last = format.levels.iter().rposition(stores)?;
            let levels = self.kernel.shareable_levels(access, 0, last)?;
            let is_worth = levels.end > 1 || !format.levels[0].format.unique();
            let share = is_worth.then(|| self.kernel.share(statement, access, levels, None)).and_then(Result::ok)?;
            self.is_walked_alone(statement, &share).then_some(share)
        })
    }

    /// A variable for the default shares of an operand.
    pub(super) fn declare_share_of(&mut self, share: &Share) -> IndexVariable {
        let name = format!("p{}", self.kernel.tensor(share.access.tensor).name);
        self.declare_share(name, share.clone())
    }

    /// Whether the loops over a share's levels walk nothing but the operand.
    fn is_walked_alone(&self, statement: &Statement, share: &Share) -> bool {
        let variables = self.kernel.shared_variables(share);
        let mut reads: Vec<Access> = Vec::new();
        statement.for_each_read(&mut |access| reads.push(access.clone()));
        reads.iter().filter(|access| !access.same_place(&share.access)).all(|access| {
            let tensor = self.kernel.tensor(access.tensor);
            let mut levels = level_variables(access, &tensor.format).into_iter().zip(&tensor.format.levels);
            tensor.kind == TensorKind::Workspace
                || levels.all(|(variable, level)| level::is_located(level.format) || !variables.contains(&variable))
        })
    }

    /// A variable for shares.
    pub(super) fn declare_share(&mut self, mut name: String, share: Share) -> IndexVariable {
        while self.kernel.variables.iter().any(|variable| variable.name == name) {
            name.push('_');
        }
        let innermost = *self.kernel.shared_variables(&share).last().expect("a share is of some levels");
        let extent = self.kernel.variables[innermost.0].extent;
        let share = Some(share);
        self.kernel.variables.push(Variable { name, extent, value: None, has_loop: false, level: None, share });
        IndexVariable(self.kernel.variables.len() - 1)
    }

    /// Puts a loop over shares around a statement.
    pub(super) fn put_share_around(&mut self, statement: &mut Statement, shares: IndexVariable, share: &Share) {
        let body = combining(&self.kernel, std::mem::replace(statement, Statement::Empty), share);
        *statement = Statement::Forall { variable: shares, run: Run::Serial, body: Box::new(body) };
    }

    /// Makes a loop over shares parallel that the schedule asks for.
    pub(super) fn mark_shares(&mut self, statement: &mut Statement) {
        let Statement::Forall { variable, run, body } = statement else { return };
        let Some(share) = self.kernel.variables[variable.0].share.clone() else { return };
        *run = Run::Parallel;
        let operand = super::show_access(&self.kernel, &share.access);
        self.decide(What::Shares { operand, of_entries: None, by: share.by }, Why::PositionsAsked);
        if let Err(reason) = self.kernel.meetings(Cut::Positions(&share), body)
            && let Some(problem) = reason.problem(&self.kernel)
        {
            self.problems.push(problem);
        }
        self.explain_meetings(Cut::Positions(&share), body);
    }

    /// Puts the parallel loop over shares around a statement that has no other.
    pub(super) fn cut_in_shares(&mut self, statement: &mut Statement, shares: IndexVariable, share: &Share) {
        let body = Box::new(std::mem::replace(statement, Statement::Empty));
        let operand = super::show_access(&self.kernel, &share.access);
        let variable = self.kernel.shared_variables(share)[0];
        let is_asked = self.kernel.asked.balance_of(variable).is_some();
        let why = if is_asked { Why::Asked } else { Why::OutermostRuns };
        let of_entries =
            Some([self.kernel.variable(variable).to_owned(), self.kernel.original_name(share.access.tensor)]);
        self.decide(What::Shares { operand, of_entries, by: None }, why);
        self.explain_meetings(Cut::Positions(share), &body);
        *statement = Statement::Forall { variable: shares, run: Run::Parallel, body };
    }

    /// What is to be said of shares that stand for uneven chunks of a loop's range.
    pub(super) fn explain_shares(&mut self, variable: IndexVariable, share: &Share, body: &Statement) {
        let operand = super::show_access(&self.kernel, &share.access);
        let index = self.kernel.variable(variable).to_owned();
        self.decide(What::BalancedWhereUneven { variable: index.clone(), operand }, Why::WholeValues(index));
        self.explain_meetings(Cut::Positions(share), body);
    }
}

/// The statement as one for shares: what is assigned is combined with what other shares have assigned.
pub(super) fn combining(kernel: &Kernel, statement: Statement, share: &Share) -> Statement {
    match statement {
        Statement::Empty => Statement::Empty,
        Statement::Forall { variable, run, body } => {
            let run = if run == Run::Vector { Run::Vector } else { Run::Serial };
            Statement::Forall { variable, run, body: Box::new(combining(kernel, *body, share)) }
        }
        Statement::Where { workspace, consumer, producer } => Statement::Where {
            workspace,
            consumer: Box::new(combining(kernel, *consumer, share)),
            producer: Box::new(combining(kernel, *producer, share)),
        },
        Statement::Sequence(statements) => {
            Statement::Sequence(statements.into_iter().map(|inner| combining(kernel, inner, share)).collect())
        }
        Statement::Assign(mut assign) => {
            let is_result = matches!(kernel.tensor(assign.target.tensor).kind, TensorKind::Output(_));
            if is_result && assign.operator.is_none() && !kernel.is_apart_in_share(share, &assign.target) {
                assign.operator = share.operator;
            }
            Statement::Assign(assign)
        }
    }
}
