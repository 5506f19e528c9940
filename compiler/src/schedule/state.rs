//! What is known of a kernel while it is scheduled.

use super::extents::{bounds, mode_extents};
use super::{
    Access, Asked, AskedAssembly, Expr, Extent, IndexVariable, Kernel, OutputStructure, Statement, Target, Tensor,
    TensorId, TensorKind, Variable, Way,
};
use crate::diagnostics::codes::notation as codes;
use crate::diagnostics::{Diagnostic, Diagnostics, Span};
use crate::ir::{ElementType, ReduceOperator};
use crate::notation::{self, Role};
use crate::remark::{Remark, What, Why};
use crate::syntax::Directive;
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

/// The kernel so far, and what was decided.
#[derive(Clone)]
pub(super) struct Scheduler<'a> {
    pub(super) notation: &'a notation::Kernel,
    pub(super) kernel: Kernel,
    /// Stand-ins for operands whose order no loops rely on yet.
    pub(super) unsettled: BTreeSet<TensorId>,
    /// What the schedule asks for and can't be had.
    pub(super) problems: Diagnostics,
    /// Directives that name loops which are not there yet.
    pub(super) pending: Vec<Directive>,
    /// The symmetric operand that is walked as it is stored.
    pub(super) folded: Option<TensorId>,
    /// The result of a recurrence, and the variables whose loops carry its values.
    pub(super) carried: Option<(TensorId, Vec<IndexVariable>)>,
}

/// What one loop nest computes.
#[derive(Clone)]
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
                let is_written = tensor.format.is_written() && !is_spread(notation, TensorId(id));
                let stands_in = (tensor.role == Role::Output && !is_written).then(plain);
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
            pivots: Vec::new(),
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

/// Whether entries come in order to computed indices of a sparse tensor with dense levels. Loops visit not all parents there, so that
/// entries are appended with all their coordinates.
fn is_spread(notation: &notation::Kernel, tensor: TensorId) -> bool {
    let format = &notation.tensor(tensor).format;
    let compressed = || format.plain(&format.mentioned_modes());
    let value = |index: IndexVariable| notation.variables[index.0].value.as_ref();
    let alike = |one: &IndexVariable, other: &IndexVariable| notation::alike(&notation.variables, *one, *other);
    let mut statements = notation.statements.iter().filter(|statement| statement.target.tensor == tensor);
    statements.any(|statement| {
        let target = &statement.target;
        notation.scatters(target) && !notation::scatters(target, &compressed(), &value, &alike)
    })
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

    pub(super) fn refuse(&mut self, span: Span, message: String, label: &str, help: &str) {
        let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, span, message);
        self.problems.push(problem.label(label.to_owned()).help(help.to_owned()));
    }

    /// How the schedule wants the entries of a result to come about.
    pub(super) fn asked_way(&self, target: &Access) -> Option<(Way, Span)> {
        let of_target = |asked: &&AskedAssembly| asked.tensor == target.tensor;
        self.kernel.asked.assemblies.iter().rfind(of_target).map(|asked| (asked.way.clone(), asked.span))
    }

    /// The loops that must be outside for an expression to be known, but those of its own sums.
    pub(super) fn free(&self, expr: &Expr) -> Vec<IndexVariable> {
        self.free_by(expr, &|variable| self.kernel.loops(variable))
    }

    /// The variables that an expression does not bind, by what each is made of. What reads the result of a recurrence depends on how far
    /// its loop is.
    pub(super) fn free_by(
        &self,
        expr: &Expr,
        made_of: &dyn Fn(IndexVariable) -> Vec<IndexVariable>,
    ) -> Vec<IndexVariable> {
        let mut free = expr.free_variables(made_of);
        let missing: Vec<IndexVariable> =
            self.carrying(expr).iter().copied().filter(|variable| !free.contains(variable)).collect();
        free.extend(missing);
        free
    }

    /// The variables whose loops carry what an expression reads.
    pub(super) fn carrying(&self, expr: &Expr) -> &[IndexVariable] {
        match &self.carried {
            Some((result, variables)) if expr.accesses().iter().any(|access| access.values() == *result) => variables,
            _ => &[],
        }
    }

    pub(super) fn show(&self, expr: &Expr) -> String {
        super::show_expr(&self.kernel, expr)
    }
}
