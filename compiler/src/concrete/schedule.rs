//! The default schedule.

use super::factor::{Nest, factors};
use super::order::{Edge, append_edges, is_located, level_variables, sorted_format, storage_edges, topological};
use super::structure::Question;
use super::{
    Access, Assign, Decision, Expr, Extent, IndexVariable, Kernel, OutputStructure, Run, Statement, Tensor, TensorId,
    TensorKind, Variable,
};
use crate::diagnostics::codes::notation as codes;
use crate::diagnostics::{Diagnostic, Diagnostics, Span};
use crate::ir::{ElementType, ReduceOperator, Size};
use crate::notation::{self, Role, UnaryOperator};

/// What the caller may ask of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether outermost loops run in parallel.
    pub parallel: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { parallel: true }
    }
}

/// The default schedule of a kernel.
///
/// # Errors
/// What the language can say and the scheduler can't do yet, with its place.
pub fn schedule(kernel: &notation::Kernel, options: Options) -> Result<Kernel, Diagnostics> {
    let mut scheduler = Scheduler::new(kernel);
    let mut diagnostics = Diagnostics::new();
    kernel.statements.iter().for_each(|assignment| check_reductions(assignment, &mut diagnostics));
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let mut statements: Vec<Statement> =
        kernel.statements.iter().map(|assignment| scheduler.assignment(assignment)).collect();
    let mut body = match statements.len() {
        1 => statements.remove(0),
        _ => Statement::Sequence(statements),
    };
    if options.parallel {
        scheduler.mark_parallel(&mut body);
    }
    scheduler.kernel.body = body;
    Ok(scheduler.kernel)
}

/// The kernel so far, and what was decided.
pub(super) struct Scheduler<'a> {
    notation: &'a notation::Kernel,
    pub(super) kernel: Kernel,
}

/// What one loop nest computes.
struct Term {
    target: Access,
    in_memory: bool,
    accumulates: bool,
    value: Expr,
    masks: Vec<Access>,
    element: ElementType,
    structure: OutputStructure,
}

/// The order of a nest's loops.
struct LoopOrder {
    loops: Vec<IndexVariable>,
    vector: Option<IndexVariable>,
}

impl<'a> Scheduler<'a> {
    fn new(notation: &'a notation::Kernel) -> Self {
        let (variables, extents) = extents(notation);
        let tensors = notation
            .tensors
            .iter()
            .enumerate()
            .map(|(id, tensor)| Tensor {
                name: tensor.name.clone(),
                element: tensor.element,
                format: tensor.format.clone(),
                extents: mode_extents(notation, TensorId(id), &variables),
                kind: match tensor.role {
                    Role::Input => TensorKind::Input,
                    Role::Output => TensorKind::Output(OutputStructure::Dense),
                    Role::Temporary => TensorKind::Workspace,
                },
            })
            .collect();
        let kernel = Kernel {
            name: notation.name.clone(),
            documentation: notation.documentation.clone(),
            summary: Vec::new(),
            tensors,
            variables,
            extents,
            body: Statement::Empty,
            decisions: Vec::new(),
        };
        let mut scheduler = Self { notation, kernel };
        scheduler.kernel.summary =
            notation.statements.iter().map(|statement| super::print::summary(&scheduler.kernel, statement)).collect();
        scheduler
    }

    pub(super) fn decide(&mut self, decision: Decision) {
        if !self.kernel.decisions.contains(&decision) {
            self.kernel.decisions.push(decision);
        }
    }

    pub(super) fn show(&self, expr: &Expr) -> String {
        super::print::expr(&self.kernel, expr)
    }

    fn assignment(&mut self, assignment: &notation::Assignment) -> Statement {
        let value = normalize(&assignment.value);
        let masks: Vec<Access> = assignment.mask.iter().cloned().collect();
        let mut reads = masks.clone();
        value.for_each_access(&mut |access| reads.push(access.clone()));
        reads.sort_by_key(|access| (access.tensor, access.indices.clone()));
        reads.dedup_by(|a, b| a.same_place(b));
        let target = assignment.target.clone();
        let element = self.notation.tensor(target.tensor).element;
        let question = Question {
            target: &target,
            reads: &reads,
            tensors: &self.kernel.tensors,
            value: &value,
            masks: &masks,
            element,
        };
        let (structure, why) = question.decide();
        let what = match &structure {
            OutputStructure::Dense => format!("{} is updated in place", self.kernel.tensor(target.tensor).name),
            OutputStructure::Shared { access, .. } => format!(
                "{} shares the index arrays of {}",
                self.kernel.tensor(target.tensor).name,
                self.kernel.tensor(access.tensor).name
            ),
            OutputStructure::Appended => format!("{} is appended", self.kernel.tensor(target.tensor).name),
        };
        self.decide(Decision { what, why });
        self.kernel.tensors[target.tensor.0].kind = TensorKind::Output(structure.clone());
        let accumulates = assignment.operator.is_some() && !matches!(structure, OutputStructure::Appended);
        let term = Term { target, in_memory: true, accumulates, value, masks, element, structure };
        self.term(term, &[], None)
    }

    /// Loops for one term inside of the loops over `bound`; `order` when it is known already.
    fn term(&mut self, mut term: Term, bound: &[IndexVariable], order: Option<LoopOrder>) -> Statement {
        match &term.value {
            Expr::Reduce(_, _, body) if !has_sum(body) => {
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
            _ => self.lifted(term, bound, order),
        }
    }

    fn nest(&mut self, term: Term, bound: &[IndexVariable], order: LoopOrder, body: &Expr) -> Statement {
        self.build(Nest {
            bound: bound.to_vec(),
            loops: order.loops,
            target: term.target,
            in_memory: term.in_memory,
            reduction: ReduceOperator::Add,
            accumulates: term.accumulates,
            factors: factors(body),
            masks: term.masks,
            vector: order.vector,
            element: term.element,
        })
    }

    /// A term with sums inside: each sum goes to a workspace, computed as deep in the loops as it must be and no deeper.
    fn lifted(&mut self, mut term: Term, bound: &[IndexVariable], order: Option<LoopOrder>) -> Statement {
        let mut sums = Vec::new();
        let outer_sum = match &term.value {
            Expr::Reduce(operator, variables, body) => Some((*operator, variables.clone(), (**body).clone())),
            _ => None,
        };
        let inner = outer_sum.as_ref().map_or(&term.value, |(_, _, body)| body).clone();
        let consumer = self.lift(&inner, term.element, &mut sums);
        term.value = match outer_sum {
            Some((operator, variables, _)) => Expr::Reduce(operator, variables, Box::new(consumer)),
            None => consumer,
        };
        let order = order.unwrap_or_else(|| self.order(&mut term, bound, &[]));
        let consumer = match &term.value {
            Expr::Reduce(_, _, body) => (**body).clone(),
            other => other.clone(),
        };
        let mut producers: Vec<(usize, TensorId, Term, LoopOrder)> = Vec::new();
        let mut consumer = consumer;
        for (workspace, free, value) in sums {
            let target = Access { tensor: workspace, indices: free.clone(), span: Span::default() };
            let mut producer = Term {
                target,
                in_memory: false,
                accumulates: false,
                value,
                masks: Vec::new(),
                element: term.element,
                structure: OutputStructure::Dense,
            };
            let (shared, inside, producer_order) =
                self.place(&mut producer, bound, &order, &free, term.structure == OutputStructure::Appended);
            self.kernel.tensors[workspace.0].format = crate::format::Format::dense(inside.len());
            self.kernel.tensors[workspace.0].extents =
                inside.iter().map(|variable| self.kernel.variables[variable.0].extent).collect();
            producer.target.indices = inside.clone();
            consumer = consumer.map_accesses_typed(term.element, &|access| {
                let indices = if access.tensor == workspace { inside.clone() } else { access.indices.clone() };
                Some(Access { indices, ..access.clone() })
            });
            producers.push((shared, workspace, producer, producer_order));
        }
        self.assemble(term, bound, order, consumer, producers)
    }

    /// How many of the consumer's loops are outside a sum, the index variables of its workspace, and its own loops.
    ///
    /// Entries that are appended must know whether their sums had a term, so those are scalars, summed where they are used.
    fn place(
        &mut self,
        producer: &mut Term,
        bound: &[IndexVariable],
        order: &LoopOrder,
        free: &[IndexVariable],
        is_scalar: bool,
    ) -> (usize, Vec<IndexVariable>, LoopOrder) {
        if is_scalar {
            let depth = order.loops.iter().rposition(|variable| free.contains(variable)).map_or(0, |last| last + 1);
            let outside: Vec<IndexVariable> = bound.iter().chain(&order.loops[..depth]).copied().collect();
            producer.target.indices.clear();
            return (depth, Vec::new(), self.order(producer, &outside, &[]));
        }
        let mut own = self.order(producer, bound, &order.loops);
        let shared = order.loops.iter().zip(&own.loops).take_while(|(a, b)| a == b && free.contains(a)).count();
        own.loops.drain(..shared);
        let is_inside = |v: &IndexVariable| !order.loops[..shared].contains(v) && !bound.contains(v);
        (shared, free.iter().copied().filter(is_inside).collect(), own)
    }

    fn assemble(
        &mut self,
        term: Term,
        bound: &[IndexVariable],
        order: LoopOrder,
        consumer: Expr,
        mut producers: Vec<(usize, TensorId, Term, LoopOrder)>,
    ) -> Statement {
        let reduced = order.loops.iter().any(|variable| !term.target.indices.contains(variable));
        let operator = (term.accumulates || reduced).then_some(ReduceOperator::Add);
        let mut statement = Statement::Assign(Assign {
            target: term.target,
            operator,
            value: consumer,
            masks: term.masks,
            element: term.element,
        });
        for depth in (0..=order.loops.len()).rev() {
            let mut here: Vec<_> = Vec::new();
            let mut index = 0;
            while index < producers.len() {
                if producers[index].0 == depth { here.push(producers.remove(index)) } else { index += 1 }
            }
            for (_, workspace, producer, producer_order) in here {
                let mut outside = bound.to_vec();
                outside.extend(&order.loops[..depth]);
                let producer = self.term(producer, &outside, Some(producer_order));
                statement = Statement::Where { workspace, consumer: Box::new(statement), producer: Box::new(producer) };
            }
            if depth > 0 {
                let variable = order.loops[depth - 1];
                let innermost = depth == order.loops.len() && matches!(statement, Statement::Assign(_));
                let run = if innermost && order.vector == Some(variable) { Run::Vector } else { Run::Serial };
                statement = Statement::Forall { variable, run, body: Box::new(statement) };
            }
        }
        statement
    }

    /// The expression with every sum replaced by a workspace, and the sums.
    fn lift(
        &mut self,
        expr: &Expr,
        element: ElementType,
        sums: &mut Vec<(TensorId, Vec<IndexVariable>, Expr)>,
    ) -> Expr {
        match expr {
            Expr::Reduce(..) => {
                let free = expr.free_variables();
                let workspace = self.workspace(&free, element);
                sums.push((workspace, free.clone(), expr.clone()));
                Expr::Access(Access { tensor: workspace, indices: free, span: Span::default() })
            }
            Expr::Unary(operator, operand) => Expr::Unary(*operator, Box::new(self.lift(operand, element, sums))),
            Expr::Binary(operator, left, right) => {
                let left = self.lift(left, element, sums);
                Expr::Binary(*operator, Box::new(left), Box::new(self.lift(right, element, sums)))
            }
            Expr::Call(function, arguments) => {
                Expr::Call(*function, arguments.iter().map(|argument| self.lift(argument, element, sums)).collect())
            }
            Expr::Select(condition, yes, no) => {
                let condition = self.lift(condition, element, sums);
                let yes = self.lift(yes, element, sums);
                Expr::Select(Box::new(condition), Box::new(yes), Box::new(self.lift(no, element, sums)))
            }
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => expr.clone(),
        }
    }

    /// Chooses the order of a term's loops, `bound` being outside already, and replaces operands that stand against it by
    /// sorted copies.
    fn order(&mut self, term: &mut Term, bound: &[IndexVariable], hint: &[IndexVariable]) -> LoopOrder {
        let mut variables: Vec<IndexVariable> = bound.to_vec();
        let mut add = |variable: &IndexVariable| {
            if !variables.contains(variable) {
                variables.push(*variable);
            }
        };
        term.target.indices.iter().for_each(&mut add);
        let body = match &term.value {
            Expr::Reduce(_, reduced, body) => {
                body.free_variables().iter().for_each(&mut add);
                reduced.iter().for_each(&mut add);
                &**body
            }
            other => {
                other.free_variables().iter().for_each(&mut add);
                other
            }
        };
        let mut reads: Vec<Access> = term.masks.clone();
        for_each_access_outside_sums(body, &mut |access| reads.push(access.clone()));
        let reduced: Vec<IndexVariable> =
            variables.iter().copied().filter(|v| !bound.contains(v) && !term.target.indices.contains(v)).collect();
        let vector = self.vector(term, &reads, &variables, bound);
        let mut fixed: Vec<Edge> = bound.windows(2).map(|pair| (pair[0], pair[1])).collect();
        for &outer in bound {
            fixed.extend(variables.iter().filter(|v| !bound.contains(v)).map(|&inner| (outer, inner)));
        }
        if term.structure == OutputStructure::Appended {
            let format = &self.kernel.tensor(term.target.tensor).format;
            fixed.extend(append_edges(&term.target, format, &reduced));
        }
        let rank = |variable: IndexVariable| {
            let hinted = hint.iter().position(|&v| v == variable).unwrap_or(hint.len());
            let seen = variables.iter().position(|&v| v == variable);
            (Some(variable) == vector, hinted, seen)
        };
        let (order, copied) = self.resolve(term, &reads, &variables, fixed, rank);
        for access in copied {
            self.copy(term, &access, &order);
        }
        let loops: Vec<IndexVariable> = order.into_iter().filter(|variable| !bound.contains(variable)).collect();
        let vector = vector.filter(|variable| loops.last() == Some(variable) && self.is_dense_along(term, *variable));
        LoopOrder { loops, vector }
    }

    /// Whether no operand of a term has to be walked along a variable. Sorted copies may be sparse where the original is dense.
    fn is_dense_along(&self, term: &Term, variable: IndexVariable) -> bool {
        let mut dense = true;
        term.value.for_each_access(&mut |access| {
            let format = &self.kernel.tensor(access.tensor).format;
            if self.kernel.tensor(access.tensor).kind != TensorKind::Workspace {
                let mut levels = level_variables(access, format).into_iter().zip(&format.levels);
                dense &= levels.all(|(other, level)| other != variable || is_located(level.format.kind));
            }
        });
        dense
    }

    /// An order that satisfies all operands but as few as possible, and those.
    fn resolve<R: Ord>(
        &self,
        term: &Term,
        reads: &[Access],
        variables: &[IndexVariable],
        fixed: Vec<Edge>,
        rank: impl Fn(IndexVariable) -> R,
    ) -> (Vec<IndexVariable>, Vec<Access>) {
        let edges_of = |access: &Access| storage_edges(access, &self.kernel.tensor(access.tensor).format);
        let is_shared = |access: &Access| matches!(&term.structure, OutputStructure::Shared { access: shared, .. } if shared.same_place(access));
        let mut movable: Vec<&Access> = Vec::new();
        let mut edges = fixed;
        for access in reads {
            if is_shared(access) {
                edges.extend(edges_of(access));
            } else if !edges_of(access).is_empty() && !movable.iter().any(|seen| seen.same_place(access)) {
                movable.push(access);
            }
        }
        // The fewest copies; of equally many, those of the operands of lower order that come later.
        movable.sort_by_key(|access| std::cmp::Reverse(access.indices.len()));
        let subsets = 0..(1u64 << movable.len());
        let mut subsets: Vec<u64> = subsets.collect();
        subsets.sort_by_key(|&subset| (subset.count_ones(), std::cmp::Reverse(subset)));
        for subset in subsets {
            let mut all = edges.clone();
            let is_copied = |index: usize| subset >> index & 1 == 1;
            for (_, access) in movable.iter().enumerate().filter(|(index, _)| !is_copied(*index)) {
                all.extend(edges_of(access));
            }
            if let Some(order) = topological(variables, &all, &rank) {
                let copied = movable.iter().enumerate().filter(|(index, _)| is_copied(*index));
                return (order, copied.map(|(_, access)| (*access).clone()).collect());
            }
        }
        unreachable!("with every operand copied only the output's own order is left, which has no cycle")
    }

    /// Reads `access` from a copy whose levels follow `order`.
    fn copy(&mut self, term: &mut Term, access: &Access, order: &[IndexVariable]) {
        let original = self.kernel.tensor(access.tensor).clone();
        let format = sorted_format(access, &original.format, order);
        let kind = TensorKind::SortedCopy(access.tensor);
        let found = self.kernel.tensors.iter().position(|tensor| tensor.kind == kind && tensor.format == format);
        let copy = TensorId(found.unwrap_or_else(|| {
            let names: Vec<&str> = level_variables(access, &format).iter().map(|&v| self.kernel.variable(v)).collect();
            let what = format!("read {} from a copy sorted by {}", original.name, names.join(", "));
            let why =
                "its storage order stands against the order of the loops; searching it at every step would cost more";
            let mut name = format!("{}_{}", original.name, names.concat());
            while self.kernel.tensors.iter().any(|tensor| tensor.name == name) {
                name.push('_');
            }
            self.decide(Decision { what, why: why.to_owned() });
            self.kernel.tensors.push(Tensor { name, format, kind, ..original });
            self.kernel.tensors.len() - 1
        }));
        let replace = |other: &Access| {
            let tensor = if other.same_place(access) { copy } else { other.tensor };
            Some(Access { tensor, ..other.clone() })
        };
        term.value = term.value.map_accesses_typed(term.element, &replace);
        term.masks = term.masks.iter().filter_map(replace).collect();
    }

    /// The index variable whose loop should be innermost and run in vector lanes: free, dense in everything that has it,
    /// and adjacent in memory in as much of it as possible.
    fn vector(
        &self,
        term: &Term,
        reads: &[Access],
        variables: &[IndexVariable],
        bound: &[IndexVariable],
    ) -> Option<IndexVariable> {
        if variables.len() < 2 {
            return None;
        }
        let mut accesses: Vec<&Access> = reads.iter().collect();
        accesses.push(&term.target);
        let adjacent = |variable: IndexVariable| -> Option<usize> {
            let mut count = 0;
            for access in accesses.iter().filter(|access| access.indices.contains(&variable)) {
                let tensor = self.kernel.tensor(access.tensor);
                if tensor.kind == TensorKind::Workspace {
                    count += 1;
                    continue;
                }
                let levels = level_variables(access, &tensor.format);
                let depth = levels.iter().position(|&v| v == variable)?;
                // A level that is walked waits for the loops over all levels above it: none of those can be innermost.
                if tensor.format.levels[depth..].iter().any(|level| !is_located(level.format.kind)) {
                    return None;
                }
                count += usize::from(depth + 1 == levels.len());
            }
            Some(count)
        };
        term.target
            .indices
            .iter()
            .filter(|variable| !bound.contains(variable))
            .filter_map(|&variable| adjacent(variable).filter(|&count| count > 0).map(|count| (count, variable)))
            .max_by_key(|&(count, variable)| (count, variables.iter().position(|&v| v == variable)))
            .map(|(_, variable)| variable)
    }

    fn mark_parallel(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Forall { run: Run::Vector, .. } | Statement::Empty | Statement::Assign(_) => {}
            Statement::Forall { variable, run, .. } => {
                *run = Run::Parallel;
                let what = format!("the loop over {} runs in parallel", self.kernel.variable(*variable));
                let why = "it is the outermost loop; its range is cut into chunks of equal work".to_owned();
                self.decide(Decision { what, why });
            }
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

/// Refuses reductions that are not lowered yet.
fn check_reductions(assignment: &notation::Assignment, diagnostics: &mut Diagnostics) {
    fn has_other(expr: &Expr) -> bool {
        matches!(expr, Expr::Reduce(operator, ..) if *operator != ReduceOperator::Add)
            || expr.children().into_iter().any(has_other)
    }
    let updates_otherwise = assignment.operator.is_some_and(|operator| operator != ReduceOperator::Add);
    if updates_otherwise || has_other(&assignment.value) {
        diagnostics.push(
            Diagnostic::new(codes::REDUCTION_NOT_YET, assignment.span, "only sums are lowered yet")
                .label("reduces with another operator")
                .help("write a sum, or reduce the result outside of the kernel"),
        );
    }
}

/// Calls `visit` on the accesses that this term's own loops read; sums inside have loops of their own.
fn for_each_access_outside_sums(expr: &Expr, visit: &mut dyn FnMut(&Access)) {
    match expr {
        Expr::Access(access) => visit(access),
        Expr::Reduce(..) => {}
        _ => expr.children().into_iter().for_each(|child| for_each_access_outside_sums(child, visit)),
    }
}

fn has_sum(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Reduce(..));
    found |= expr.children().into_iter().any(has_sum);
    found
}

/// Sums merged with the sums directly inside them, and signs moved into sums.
fn normalize(expr: &Expr) -> Expr {
    let expr = expr.map_children(&|child| normalize(child));
    match expr {
        Expr::Reduce(ReduceOperator::Add, mut variables, body) => match *body {
            Expr::Reduce(ReduceOperator::Add, more, body) => {
                variables.extend(more);
                Expr::Reduce(ReduceOperator::Add, variables, body)
            }
            body => Expr::Reduce(ReduceOperator::Add, variables, Box::new(body)),
        },
        Expr::Unary(UnaryOperator::Negate, operand) => match *operand {
            Expr::Reduce(ReduceOperator::Add, variables, body) => {
                Expr::Reduce(ReduceOperator::Add, variables, Box::new(Expr::Unary(UnaryOperator::Negate, body)))
            }
            operand => Expr::Unary(UnaryOperator::Negate, Box::new(operand)),
        },
        other => other,
    }
}

/// Index variables and the extents they run over: variables that index the same mode of a tensor share one.
fn extents(notation: &notation::Kernel) -> (Vec<Variable>, Vec<Extent>) {
    let mut class: Vec<usize> = (0..notation.variables.len()).collect();
    let mut first: Vec<Vec<Option<usize>>> =
        notation.tensors.iter().map(|tensor| vec![None; tensor.format.order]).collect();
    for_each_access(notation, &mut |access| {
        for (mode, variable) in access.indices.iter().enumerate() {
            match first[access.tensor.0][mode] {
                None => first[access.tensor.0][mode] = Some(variable.0),
                Some(other) => {
                    let (a, b) = (class[other], class[variable.0]);
                    class.iter_mut().filter(|c| **c == a.max(b)).for_each(|c| *c = a.min(b));
                }
            }
        }
    });
    let mut extents: Vec<Extent> = Vec::new();
    let mut place = vec![None; class.len()];
    let mut variables = Vec::new();
    for (variable, &class) in notation.variables.iter().zip(&class) {
        let extent = *place[class].get_or_insert_with(|| {
            extents.push(Extent { name: notation.variables[class].name.clone(), size: Size::Runtime });
            extents.len() - 1
        });
        variables.push(Variable { name: variable.name.clone(), extent });
    }
    (variables, extents)
}

fn mode_extents(notation: &notation::Kernel, tensor: TensorId, variables: &[Variable]) -> Vec<usize> {
    let mut extents = vec![0; notation.tensor(tensor).format.order];
    for_each_access(notation, &mut |access| {
        if access.tensor == tensor {
            for (mode, variable) in access.indices.iter().enumerate() {
                extents[mode] = variables[variable.0].extent;
            }
        }
    });
    extents
}

fn for_each_access(notation: &notation::Kernel, visit: &mut dyn FnMut(&Access)) {
    for statement in &notation.statements {
        visit(&statement.target);
        statement.value.for_each_access(visit);
        statement.mask.iter().for_each(&mut *visit);
    }
}
