//! The default schedule.

use super::directives::{self, Directives};
use super::extents::{bounds, mode_extents};
use super::factor::{Nest, factors};
use super::level_variables;
use super::levels;
use super::lift::{has_sum, normalize};
use super::structure::Question;
use super::{
    Access, Asked, Computed, Expr, Extent, IndexVariable, Kernel, OutputStructure, Run, Statement, Target, Tensor,
    TensorId, TensorKind, Variable,
};
use super::{is_identity, simplify_expr};
use crate::diagnostics::codes::notation as codes;
use crate::diagnostics::{Diagnostic, Diagnostics, Span};
use crate::format::Level;
use crate::format::level;
use crate::ir::{ElementType, ReduceOperator};
use crate::notation::{self, Role};
use crate::remark::{Assembly, Meeting, Remark, What, Why};
use std::collections::BTreeSet;

/// What the caller may ask of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether outermost loops run in parallel.
    pub parallel: bool,
    /// Whether temporaries are left out that need not be made.
    pub fuse: bool,
    /// What the loops are for.
    pub target: Target,
    /// Whether results have the same bits in every run, on any number of threads.
    pub deterministic: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { parallel: true, fuse: true, target: Target::Cpu, deterministic: false }
    }
}

/// Index variables and the extents they run over.
pub(super) struct Scope {
    pub variables: Vec<Variable>,
    pub extents: Vec<Extent>,
}

/// The default schedule of a kernel of one statement.
///
/// # Errors
/// What the language can say and the scheduler can't do yet, with its place.
pub(super) fn kernel(kernel: &notation::Kernel, scope: Scope, options: Options) -> Result<Kernel, Diagnostics> {
    let Options { target, deterministic, .. } = options;
    let mut declared = Kernel { target, deterministic, ..Kernel::declared(kernel, scope) };
    let mut diagnostics = Diagnostics::new();
    let aligned = super::pattern::aligned(kernel, &mut declared, &mut diagnostics);
    let kernel = aligned.as_ref().unwrap_or(kernel);
    let (unsettled, problems) = (BTreeSet::new(), Diagnostics::new());
    let mut scheduler = Scheduler { notation: kernel, kernel: declared, unsettled, problems };
    let directives = kernel.schedule.as_ref().map_or(&[][..], |schedule| &schedule.directives);
    let mut carrying = Directives { notation: kernel, kernel: &mut scheduler.kernel, found: &mut diagnostics };
    directives.iter().for_each(|directive| carrying.apply(directive));
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let mut statements: Vec<Statement> =
        kernel.statements.iter().map(|assignment| scheduler.assignment(assignment)).collect();
    if !scheduler.problems.is_empty() {
        return Err(scheduler.problems);
    }
    let mut body = match statements.len() {
        1 => statements.remove(0),
        _ => Statement::Sequence(statements),
    };
    scheduler.cut_asked(&mut body, &mut diagnostics);
    if options.parallel {
        scheduler.mark_parallel(&mut body);
    }
    scheduler.kernel.body = body;
    if scheduler.kernel.deterministic && target == Target::Cpu {
        scheduler.decide(What::Deterministic, Why::CutByWork);
    }
    super::pattern::check(&scheduler.kernel, directives, &mut diagnostics);
    if options.parallel {
        directives::check(&scheduler.kernel, directives, &mut diagnostics);
    }
    if target == Target::Cpu {
        super::directive::remarks(&scheduler.kernel).into_iter().for_each(|remark| scheduler.remark(remark));
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    if let Some(assignment) = kernel.statements.iter().find(|assignment| scheduler.is_out_of_order(&assignment.target))
    {
        let message = "entries of this sparse result can be neither listed nor appended in order";
        let problem = Diagnostic::new(codes::COMPUTED_RESULT_NOT_YET, assignment.target.span, message);
        let problem = problem.label("computed indices do not ascend");
        return Err(problem.help("store it in a dense format").into());
    }
    if super::cases::are_too_many(&scheduler.kernel) {
        let span = kernel.statements.first().map_or(Span::default(), |statement| statement.span);
        let problem = Diagnostic::new(codes::TOO_MANY_OPERANDS, span, "too many sparse operands meet in one statement");
        let problem = problem.label("a case for each set of them would fill thousands of lines");
        let problem = problem.help("compute a part of it in a kernel of its own");
        return Err(match kernel.schedule {
            Some(_) => {
                problem.help("or leave its schedule out: parts may be cut off then, which directives have no names for")
            }
            None => problem,
        }
        .into());
    }
    Ok(scheduler.kernel)
}

/// The kernel so far, and what was decided.
pub(super) struct Scheduler<'a> {
    notation: &'a notation::Kernel,
    pub(super) kernel: Kernel,
    /// Stand-ins for operands whose order no loops rely on yet.
    pub(super) unsettled: BTreeSet<TensorId>,
    /// What the schedule asks for and can't be had.
    pub(super) problems: Diagnostics,
}

/// What one loop nest computes.
pub(super) struct Term {
    /// The element that is assigned.
    pub target: Access,
    /// Whether the target lies in memory rather than in an accumulator.
    pub in_memory: bool,
    /// Whether the target holds something already.
    pub accumulates: bool,
    /// How values meet in one element of the target.
    pub reduction: ReduceOperator,
    /// Whether a reduction that is the whole right-hand side is formed apart from the target, which holds something else at
    /// first than the reduction starts from.
    pub is_apart: bool,
    /// The right-hand side, sums included.
    pub value: Expr,
    /// What must have an entry.
    pub masks: Vec<Access>,
    /// The type of the elements.
    pub element: ElementType,
    /// How the target's index arrays come about.
    pub structure: OutputStructure,
}

/// The order of a nest's loops.
pub(super) struct LoopOrder {
    /// The loops, outermost first.
    pub loops: Vec<IndexVariable>,
    /// The innermost, where it is a vector.
    pub vector: Option<IndexVariable>,
}

impl Kernel {
    /// The declarations of a kernel, without loops.
    pub(super) fn declared(notation: &notation::Kernel, scope: Scope) -> Self {
        let Scope { variables, extents } = scope;
        let tensors = notation
            .tensors
            .iter()
            .enumerate()
            .map(|(id, tensor)| {
                let plain = || tensor.format.plain(&tensor.format.mentioned_modes());
                let stands_in = (tensor.role == Role::Output && !tensor.format.is_written()).then(plain);
                Tensor {
                    name: tensor.name.clone(),
                    element: tensor.element,
                    fill: begins_with(notation, TensorId(id)),
                    delivered_fill: tensor.fill,
                    pattern: None,
                    stored: None,
                    delivered: stands_in.is_some().then(|| tensor.format.clone()),
                    listed: None,
                    format: stands_in.unwrap_or_else(|| tensor.format.clone()),
                    extents: mode_extents(notation, TensorId(id), &variables),
                    kind: match tensor.role {
                        Role::Input => TensorKind::Input,
                        Role::Output => TensorKind::Output(OutputStructure::Dense),
                        Role::Temporary => TensorKind::Workspace,
                    },
                }
            })
            .collect();
        let bounds = bounds(notation, &variables);
        let mut kernel = Kernel {
            name: notation.name.clone(),
            documentation: notation.documentation.clone(),
            summary: Vec::new(),
            tensors,
            variables,
            extents,
            bounds,
            asked: Asked::default(),
            target: Target::default(),
            deterministic: false,
            body: Statement::Empty,
            decisions: Vec::new(),
        };
        let statements = notation.statements.iter();
        kernel.summary = statements.map(|statement| super::summary(&kernel, statement)).collect();
        kernel
    }
}

/// What a tensor holds at first.
fn begins_with(notation: &notation::Kernel, tensor: TensorId) -> crate::ir::Literal {
    match &notation.statements[..] {
        [statement] if statement.target.tensor == tensor => notation.begins_with(statement),
        _ => notation.tensor(tensor).fill,
    }
}

impl Scheduler<'_> {
    /// Notes what was decided, and why, once.
    pub(super) fn decide(&mut self, what: What, why: Why) {
        self.remark(Remark::new(what, why));
    }

    pub(super) fn remark(&mut self, remark: Remark) {
        if !self.kernel.decisions.contains(&remark) {
            self.kernel.decisions.push(remark);
        }
    }

    /// Whether entries at computed indices, which come in any order, are appended all the same: there was no way to list them.
    fn is_out_of_order(&self, target: &Access) -> bool {
        let tensor = self.kernel.tensor(target.tensor);
        let is_appended = tensor.kind == TensorKind::Output(OutputStructure::Appended);
        is_appended && tensor.listed.is_none() && self.scatters(target)
    }

    /// The loops that must be outside for an expression to be known, but those of its own sums.
    pub(super) fn free(&self, expr: &Expr) -> Vec<IndexVariable> {
        expr.free_variables(&|variable| self.kernel.loops(variable))
    }

    pub(super) fn show(&self, expr: &Expr) -> String {
        super::show_expr(&self.kernel, expr)
    }

    fn assignment(&mut self, assignment: &notation::Assignment) -> Statement {
        let element = self.notation.tensor(assignment.target.tensor).element;
        let statement = levels::Statement {
            target: assignment.target.clone(),
            value: self.kernel.over_running(&normalize(&simplify_expr(assignment.value.clone()))),
            masks: assignment.mask.iter().cloned().collect(),
            element,
            operator: assignment.operator,
        };
        let has_parts = !self.kernel.asked.parts.parts.is_empty();
        let statement = if has_parts { statement } else { self.by_levels(statement) };
        let levels::Statement { target, value, masks, .. } = statement;
        let value = self.with_stand_ins(&value, &target);
        let masks: Vec<Access> = masks.iter().map(|mask| self.stand_in(mask, &target)).collect();
        let mut reads = masks.clone();
        value.for_each_access(&mut |access| reads.push(access.clone()));
        reads.sort_by_key(|access| (access.tensor, access.indices.clone()));
        reads.dedup_by(|a, b| a.same_place(b));
        let decide = |kernel: &Kernel| {
            Question { target: &target, reads: &reads, kernel, value: &value, masks: &masks }.decide()
        };
        let (structure, why) = self.shared_as_delivered(&target, &decide).unwrap_or_else(|| decide(&self.kernel));
        self.deliver(target.tensor);
        let assembly = match &structure {
            OutputStructure::Dense => Assembly::Dense,
            OutputStructure::Shared { access, .. } => Assembly::Shared(self.kernel.tensor(access.tensor).name.clone()),
            OutputStructure::Appended => Assembly::Appended,
        };
        self.decide(What::Assembled(self.kernel.tensor(target.tensor).name.clone(), assembly), why);
        self.kernel.tensors[target.tensor.0].kind = TensorKind::Output(structure.clone());
        // Where stored coordinates do not ascend, or indices of the result meet, loops come by the same element again.
        let is_in_place = structure != OutputStructure::Appended;
        let comes_again = is_in_place && self.kernel.meets(&target)
            || reads.iter().any(|access| self.comes_again(access, &structure));
        // What is combined with a result that holds nothing yet is assigned.
        let is_first = |other: &notation::Assignment| other.target.tensor != target.tensor;
        let before = self.notation.statements.iter().take_while(|other| !std::ptr::eq(*other, assignment));
        let updates = assignment.operator.is_some() && !before.clone().all(is_first);
        let reduction = match (&assignment.operator, &value) {
            (Some(operator), _) | (None, Expr::Reduce(operator, ..)) => *operator,
            (None, _) => ReduceOperator::of_any(element),
        };
        let is_apart = !is_identity(reduction, self.kernel.tensor(target.tensor).fill);
        // What is reduced apart is complete when it is assigned, and no element is assigned twice.
        let accumulates = updates || comes_again && (assignment.operator.is_some() || !is_apart);
        let term = Term { target, in_memory: true, accumulates, reduction, is_apart, value, masks, element, structure };
        match term.structure {
            OutputStructure::Appended if has_parts => self.appended_parts(term),
            OutputStructure::Appended => self.appended(term),
            _ if has_parts => self.with_parts(term),
            _ => self.term(term, &[], None),
        }
    }

    /// The structure of a result that loops can't make but that is an operand's: then it is computed in its own format.
    fn shared_as_delivered(
        &mut self,
        target: &Access,
        decide: &dyn Fn(&Kernel) -> (OutputStructure, Why),
    ) -> Option<(OutputStructure, Why)> {
        let computed = self.kernel.tensor(target.tensor).clone();
        let format = computed.delivered.clone()?;
        let is_stored = |level: &Level| level::is_walked(level.format) || level::is_located(level.format);
        if format.mode_order().is_none() || !format.levels.iter().all(is_stored) {
            return None;
        }
        self.kernel.tensors[target.tensor.0] = Tensor { format, delivered: None, ..computed.clone() };
        let decided = decide(&self.kernel);
        if matches!(decided.0, OutputStructure::Shared { .. }) {
            return Some(decided);
        }
        self.kernel.tensors[target.tensor.0] = computed;
        None
    }

    /// Loops for one term inside of the loops over `bound`; `order` when it is known already.
    pub(super) fn term(&mut self, mut term: Term, bound: &[IndexVariable], order: Option<LoopOrder>) -> Statement {
        match &term.value {
            Expr::Reduce(operator, _, body) if !has_sum(body) && *operator == term.reduction && !term.is_apart => {
                let order = order.unwrap_or_else(|| self.order(&mut term, bound, &[]));
                let Expr::Reduce(_, _, body) = &term.value else { unreachable!("ordering keeps the shape") };
                let body = (**body).clone();
                self.nest(term, bound, order, &body)
            }
            value if !has_sum(value) => {
                let order = order.unwrap_or_else(|| self.order(&mut term, bound, &[]));
                let value = term.value.clone();
                self.nest(term, bound, order, &value)
            }
            _ => self.lifted(term, bound, order, Vec::new()),
        }
    }

    fn nest(&mut self, term: Term, bound: &[IndexVariable], order: LoopOrder, body: &Expr) -> Statement {
        let order = self.in_chunks(&term, bound, order);
        self.build(Nest {
            bound: bound.to_vec(),
            loops: order.loops,
            target: term.target,
            in_memory: term.in_memory,
            reduction: term.reduction,
            accumulates: term.accumulates,
            factors: factors(body, term.reduction),
            masks: term.masks,
            vector: order.vector,
            element: term.element,
        })
    }

    /// Whether a loop walks an operand alone whose coordinates do not ascend.
    fn comes_in_any_order(&self, variable: IndexVariable, body: &Statement) -> bool {
        let mut found = false;
        body.for_each_read(&mut |access| {
            let tensor = self.kernel.tensor(access.tensor);
            if let Some(order) = tensor.format.mode_order().filter(|_| !tensor.kind.is_workspace()) {
                let mut levels = order.iter().zip(&tensor.format.levels);
                found |= levels.any(|(&mode, level)| access.indices[mode] == variable && !level::ascends(level.format));
            }
        });
        found
    }

    /// Whether an index is computed from the number of an iteration of two fused loops.
    fn is_fused_from(&self, index: IndexVariable, variable: IndexVariable) -> bool {
        let value = &self.kernel.variables[index.0].value;
        matches!(value, Some(Computed::Fused { whole, .. }) if *whole == variable)
    }

    /// How the chunks of a parallel loop write one result.
    fn sharing(&self, variable: IndexVariable, body: &Statement) -> Vec<Remark> {
        let mut decisions = Vec::new();
        body.for_each_assign(&mut |assign| {
            let tensor = self.kernel.tensor(assign.target.tensor);
            let index = self.kernel.variable(variable).to_owned();
            let outermost = level_variables(&assign.target, &tensor.format).first().copied();
            let (meeting, why) = match &tensor.kind {
                TensorKind::Output(OutputStructure::Appended) => (Meeting::Joined, Why::InOrder),
                TensorKind::Output(_) if outermost == Some(variable) && self.comes_in_any_order(variable, body) => {
                    (Meeting::Copies, Why::ComesInAnyOrder(index))
                }
                TensorKind::Output(_) if outermost == Some(variable) => (Meeting::Owned, Why::IsOutermostLevel(index)),
                TensorKind::Output(_) if outermost.is_some_and(|outer| self.is_fused_from(outer, variable)) => {
                    (Meeting::RowsAtEnds, Why::NumbersOutermostLevel(index))
                }
                TensorKind::Output(_) if outermost.is_some_and(|outer| self.kernel.is_block_of(variable, outer)) => {
                    (Meeting::Owned, Why::GoesThroughBlocks(index))
                }
                TensorKind::Output(_) => (
                    match assign.operator {
                        None | Some(ReduceOperator::Add) => Meeting::CopiesAdded,
                        Some(operator) => Meeting::CopiesReduced(operator),
                    },
                    Why::SamePlacesWritten { variable: index, result: tensor.name.clone() },
                ),
                _ => return,
            };
            decisions.push(Remark::new(What::Meeting(tensor.name.clone(), meeting), why));
        });
        decisions
    }

    /// Whether the schedule asks for a loop inside of this one to run in parallel instead. What is appended must be cut outside.
    fn is_cut_inside(&self, variable: IndexVariable, body: &Statement) -> bool {
        let asked = &self.kernel.asked.parallel;
        let mut is_inside = false;
        body.for_each_loop(&mut |inner, _, _| is_inside |= asked.contains(&inner));
        !asked.contains(&variable) && is_inside && directives::can_be_cut_inside(&self.kernel, variable, body)
    }

    /// Marks the loops that the schedule asks for, and no others.
    fn mark_asked(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Empty | Statement::Assign(_) => {}
            Statement::Forall { variable, .. } if self.kernel.asked.parallel.contains(variable) => {
                self.mark_parallel(statement);
            }
            Statement::Forall { body, .. } => self.mark_asked(body),
            Statement::Where { consumer, producer, .. } => {
                self.mark_asked(producer);
                self.mark_asked(consumer);
            }
            Statement::Sequence(statements) => statements.iter_mut().for_each(|inner| self.mark_asked(inner)),
        }
    }

    /// Makes an outermost loop parallel: in equal shares of an operand's entries always, where it goes through those, or where a
    /// call finds that chunks of its range would be uneven.
    fn mark_outermost(&mut self, statement: &mut Statement) {
        let Statement::Forall { variable, .. } = *statement else { return };
        if self.kernel.variables[variable.0].share.is_some() {
            return self.mark_shares(statement);
        }
        let is_asked = self.kernel.asked.parallel.contains(&variable);
        let shares = if is_asked { None } else { self.default_shares(statement) };
        if let Some((shares, share)) = shares.clone().filter(|(_, share)| share.levels.end == 1) {
            return self.cut_in_shares(statement, shares, &share);
        }
        let Statement::Forall { run, body, .. } = statement else { return };
        *run = shares.as_ref().map_or(Run::Parallel, |(shares, _)| Run::ParallelOr(*shares));
        let what = What::Parallel(self.kernel.variable(variable).to_owned());
        self.decide(what, if is_asked { Why::Asked } else { Why::Outermost });
        for remark in self.sharing(variable, body) {
            self.remark(remark);
        }
        if let Some((_, share)) = shares {
            self.explain_shares(variable, &share, body);
        }
    }

    fn mark_parallel(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Forall { run: Run::Vector, .. } | Statement::Empty | Statement::Assign(_) => {}
            // What is computed has no range to cut.
            Statement::Forall { variable, body, .. } if self.kernel.variables[variable.0].value.is_some() => {
                self.mark_parallel(body);
            }
            Statement::Forall { variable, body, .. } if self.is_cut_inside(*variable, body) => self.mark_asked(body),
            Statement::Forall { .. } => self.mark_outermost(statement),
            Statement::Where { consumer, producer, .. } => {
                self.mark_parallel(producer);
                self.mark_parallel(consumer);
            }
            Statement::Sequence(statements) => {
                for statement in statements {
                    self.mark_parallel(statement);
                }
            }
        }
    }
}
