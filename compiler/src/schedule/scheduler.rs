//! The default schedule.

use super::directive;
use super::directives::{self, Directives};
use super::factor::{Nest, factors};
use super::levels;
use super::lift::{has_sum, normalize};
use super::state::{LoopOrder, Options, Scheduler, Scope, Term};
use super::structure::Question;
use super::together;
use super::{
    Access, Balance, Cut, Direction, Expr, IndexVariable, Kernel, NotParallel, OutputStructure, Pivot, Run, Share,
    Statement, Target, Tensor, TensorId, TensorKind, Way,
};
use super::{is_identity, level_variables, simplify_expr};
use crate::diagnostics::codes::notation as codes;
use crate::diagnostics::{Diagnostic, Diagnostics, Span};
use crate::format::Level;
use crate::ir::ReduceOperator;
use crate::lattice::{Lattice, chooser};
use crate::level;
use crate::notation::{self, Recurrence, Updates};
use crate::remark::{Assembly, Remark, What, Why};
use crate::syntax::Directive;
use std::collections::BTreeSet;

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
    let mut scheduler = Scheduler {
        notation: kernel,
        kernel: declared,
        unsettled,
        problems,
        pending: Vec::new(),
        folded: None,
        carried: None,
    };
    let directives = kernel.schedule.as_ref().map_or(&[][..], |schedule| &schedule.directives);
    let mut carrying = Directives { notation: kernel, kernel: &mut scheduler.kernel, found: &mut diagnostics };
    // What is asked of operands and results comes first, whatever the order of the text.
    let (first, then): (Vec<&Directive>, Vec<&Directive>) =
        directives.iter().partition(|directive| directive::is_of_operands(&directive.name.name));
    let mut pending = Vec::new();
    for directive in first.into_iter().chain(then) {
        carrying.apply(directive);
        if carrying.waits(directive) {
            pending.push(directive.clone());
        }
    }
    scheduler.pending = pending;
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let updates = match &kernel.statements[..] {
        [statement] if target == Target::Cpu => kernel.updates(statement),
        _ => None,
    };
    let mut body = match updates {
        Some(updates) => scheduler.walk_once(updates),
        None => {
            let assignments = kernel.statements.iter();
            let mut statements: Vec<Statement> = assignments.map(|statement| scheduler.assignment(statement)).collect();
            match statements.len() {
                1 => statements.remove(0),
                _ => Statement::Sequence(statements),
            }
        }
    };
    if !scheduler.problems.is_empty() {
        return Err(scheduler.problems);
    }
    scheduler.cut_asked(&mut body, &mut diagnostics);
    if options.parallel {
        scheduler.mark_parallel(&mut body);
    }
    scheduler.kernel.body = body;
    scheduler.kernel.keep_copies();
    if options.parallel && scheduler.problems.is_empty() {
        super::directive::check(&scheduler.kernel, &mut scheduler.problems);
    }
    if !scheduler.problems.is_empty() {
        return Err(scheduler.problems);
    }
    if scheduler.kernel.deterministic && target == Target::Cpu {
        scheduler.decide(What::Deterministic, Why::CutByWork);
    }
    super::pattern::check(&scheduler.kernel, directives, &mut diagnostics);
    if options.parallel {
        directives::check(&scheduler.kernel, directives, &mut diagnostics);
    }
    scheduler.explain_regions();
    scheduler.explain_choosers();
    super::directive::remarks(&scheduler.kernel).into_iter().for_each(|remark| scheduler.remark(remark));
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

impl Scheduler<'_> {
    /// Applies the directives that waited for loops which are there now; says whether there were some.
    pub(super) fn apply_pending(&mut self) -> bool {
        let pending = std::mem::take(&mut self.pending);
        let mut carrying = Directives { notation: self.notation, kernel: &mut self.kernel, found: &mut self.problems };
        let (waiting, ready): (Vec<Directive>, Vec<Directive>) =
            pending.into_iter().partition(|directive| carrying.waits(directive));
        ready.iter().for_each(|directive| carrying.apply(directive));
        self.pending = waiting;
        !ready.is_empty()
    }

    /// The structure of a result as the schedule wants it; what can't be had is refused.
    fn assembled(
        &mut self,
        target: &Access,
        way: Option<(Way, Span)>,
        structure: OutputStructure,
        why: Why,
    ) -> (OutputStructure, Why) {
        let Some((way, span)) = way else { return (structure, why) };
        let name = self.kernel.tensor(target.tensor).name.clone();
        let stores = "has levels that store entries";
        match (way, &structure) {
            (Way::Dense, OutputStructure::Dense) | (Way::Shared, OutputStructure::Shared { .. }) => {
                self.kernel.asked.keep(span);
            }
            (Way::Append | Way::Workspace(_) | Way::List, OutputStructure::Shared { .. }) => {
                self.kernel.asked.keep(span);
                return (OutputStructure::Appended, Why::Asked);
            }
            (Way::Append | Way::Workspace(_) | Way::List, OutputStructure::Appended) => {
                self.kernel.asked.keep(span);
            }
            (Way::Dense, _) => {
                let help = "declare it with a dense format, and convert it afterwards";
                self.refuse(span, format!("`{name}` can't be updated in place"), stores, help);
            }
            (Way::Shared, OutputStructure::Dense) => {
                let help = "leave the directive out, or declare the result in the format of an operand";
                self.refuse(span, format!("`{name}` has no index arrays to share"), "has dense levels alone", help);
            }
            (Way::Shared, _) => {
                let help = "the result must be stored as one operand is, and have an entry where that has one";
                let message = format!("`{name}` can't share the index arrays of an operand");
                self.refuse(span, message, "no operand has the structure of the result", help);
            }
            (_, OutputStructure::Dense) => {
                let help = "declare it with a format that stores entries";
                self.refuse(span, format!("nothing is appended to `{name}`"), "has dense levels alone", help);
            }
        }
        (structure, why)
    }

    /// Whether entries at computed indices, which come in any order, are appended all the same: there was no way to list them.
    fn is_out_of_order(&self, target: &Access) -> bool {
        let tensor = self.kernel.tensor(target.tensor);
        let is_appended = tensor.kind == TensorKind::Output(OutputStructure::Appended);
        is_appended && tensor.listed.is_none() && self.scatters(target)
    }

    /// Loops over the entries of a symmetric operand that make all updates of each.
    fn walk_once(&mut self, updates: Updates) -> Statement {
        let Updates { operand, loops, statements, walked } = updates;
        self.folded = Some(operand);
        self.kernel.asked.order.extend(loops.windows(2).map(|pair| (pair[0], pair[1])));
        let first = self.kernel.tensors.len();
        let mut nests: Vec<Statement> = statements.iter().map(|statement| self.loops_for(statement)).collect();
        let of_entries = nests.split_off(nests.len() - walked);
        let name = self.kernel.tensor(operand).name.clone();
        self.decide(What::WalkedOnce(name), Why::Exchanges(walked));
        let walks = self.kernel.asked.walks.iter().filter(|walk| walk.tensors.contains(&operand));
        let spans: Vec<Span> = walks.map(|walk| walk.span).collect();
        spans.into_iter().for_each(|span| self.kernel.asked.keep(span));
        let mut nest = together::together(of_entries, &loops);
        self.weigh_once(&mut nest, operand, loops.last().copied());
        nests.push(nest);
        self.without_unmade(&nests.into_iter().fold(Statement::Empty, together::in_order), first)
    }

    /// The statement with other ids for the tensors from `first` on, of which those workspaces are left out that are not made.
    fn without_unmade(&mut self, statement: &Statement, first: usize) -> Statement {
        let mut made = Vec::new();
        statement.for_each_workspace(&mut |workspace| made.push(workspace));
        let tensors = self.kernel.tensors.split_off(first);
        let mut pairs = Vec::new();
        for (old, tensor) in (first..).map(TensorId).zip(tensors) {
            if !tensor.kind.is_workspace() || made.contains(&old) {
                pairs.push((old, TensorId(self.kernel.tensors.len())));
                self.kernel.tensors.push(tensor);
            }
        }
        together::renamed(statement, &pairs)
    }

    fn assignment(&mut self, assignment: &notation::Assignment) -> Statement {
        let notation = self.notation;
        let Some(recurrence) = assignment.recurrence(&notation.tensors, &notation.variables) else {
            return self.loops_for(assignment);
        };
        let Recurrence { variables, direction } = recurrence;
        let result = assignment.target.tensor;
        let pivots = assignment.pivots(self.notation).into_iter();
        self.kernel.pivots.extend(pivots.map(|(operand, modes)| Pivot { result, operand, modes }));
        // The loops that carry values are outside of all others.
        let mut inner = Vec::new();
        assignment.value.for_each_variable(&mut |other| inner.push(other));
        let inner = self.kernel.loops_of(&[&assignment.target.indices[..], &inner].concat());
        for (place, &outer) in variables.iter().enumerate() {
            let inside = inner.iter().filter(|other| !variables[..=place].contains(other));
            self.kernel.asked.order.extend(inside.map(|&other| (outer, other)));
        }
        self.carried = Some((result, variables.clone()));
        let mut statement = self.loops_for(assignment);
        self.carried = None;
        // What is appended can't be read before all of it is there.
        if self.kernel.tensor(result).kind == TensorKind::Output(OutputStructure::Appended) {
            self.not_in_order(assignment, variables[0]);
            return statement;
        }
        let mut rest = &mut statement;
        for variable in variables {
            // What does not read the result may be formed before.
            let mut is_read_before = false;
            while let Statement::Where { consumer, producer, .. } = rest {
                producer.for_each_read(&mut |access| is_read_before |= access.values() == result);
                rest = consumer;
            }
            if is_read_before {
                self.not_in_order(assignment, variable);
                break;
            }
            let Statement::Forall { variable: next, run, body } = rest else {
                self.not_in_order(assignment, variable);
                break;
            };
            *run = Run::InOrder(direction);
            let is_walked = || !crate::lattice::operands(&self.kernel, variable, body).is_empty();
            if *next != variable || direction == Direction::Down && is_walked() {
                self.not_in_order(assignment, variable);
                break;
            }
            self.decide(What::Serial(self.kernel.variable(variable).to_owned()), Why::Recurrent);
            rest = body;
        }
        statement
    }

    /// A recurrence whose loop can't be outermost, or can't go as it has to.
    fn not_in_order(&mut self, assignment: &notation::Assignment, variable: IndexVariable) {
        let (name, target) = (self.kernel.variable(variable), &self.kernel.tensor(assignment.target.tensor).name);
        let message = format!("the elements of `{target}` can't be made in the order of `{name}`");
        let (code, help) = match self.notation.schedule {
            Some(_) => (
                codes::SCHEDULE_REFUSED,
                format!("leave out what the schedule says of `{name}`, or of loops around it"),
            ),
            None => {
                let help = format!("store operands with a dense level of `{name}` first, as `csr` has one of rows");
                (codes::RESULT_READ, help)
            }
        };
        let problem = Diagnostic::new(code, assignment.span, message);
        let problem = problem.label("an element is made of others that come before it").help(help);
        self.problems.push(problem);
    }

    /// The loops of a statement.
    fn loops_for(&mut self, assignment: &notation::Assignment) -> Statement {
        let element = self.notation.tensor(assignment.target.tensor).element;
        let statement = levels::Statement {
            target: assignment.target.clone(),
            value: self.kernel.over_running(&normalize(&simplify_expr(assignment.value.clone()))),
            masks: assignment.mask.iter().cloned().collect(),
            element,
            operator: assignment.operator,
        };
        let has_parts = !self.kernel.asked.parts.parts.is_empty();
        let statement = match has_parts {
            true => statement,
            false => {
                let statement = self.by_fibers(statement);
                self.by_levels(statement)
            }
        };
        let levels::Statement { target, mut value, masks, .. } = statement;
        if self.apply_pending() {
            value = self.kernel.over_running(&value);
        }
        let mut value = self.with_stand_ins(&value, &target);
        let mut masks: Vec<Access> = masks.iter().map(|mask| self.stand_in(mask, &target)).collect();
        let way = self.asked_way(&target);
        // Of an operand that is read on a diagonal, or at computed indices, the result has a part of the entries alone.
        let indices = &assignment.target.indices;
        let is_computed = |index: &IndexVariable| self.notation.variables[index.0].value.is_some();
        let has_part = (1..indices.len()).any(|place| indices[..place].contains(&indices[place]))
            || indices.iter().any(is_computed);
        let is_appended = has_part || matches!(&way, Some((Way::Append | Way::Workspace(_) | Way::List, _)));
        if !is_appended
            && !has_parts
            && let Some(lent) = self.lent(&target, &value, &masks)
        {
            (value, masks) = lent;
        }
        let mut reads = masks.clone();
        value.for_each_access(&mut |access| reads.push(access.clone()));
        reads.sort_by_key(|access| (access.tensor, access.indices.clone()));
        reads.dedup_by(|a, b| a.same_place(b));
        let decide = |kernel: &Kernel| {
            Question { target: &target, reads: &reads, kernel, value: &value, masks: &masks }.decide()
        };
        let shared = if is_appended { None } else { self.shared_as_delivered(&target, &decide) };
        let (structure, why) = match shared.unwrap_or_else(|| decide(&self.kernel)) {
            (OutputStructure::Shared { .. }, _) if has_part => (OutputStructure::Appended, Why::NoStructure),
            decided => decided,
        };
        let (structure, why) = self.assembled(&target, way, structure, why);
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
        let updates = assignment.operator.is_some() && !before.clone().all(is_first) || self.folded.is_some();
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

    /// Says how the chunks of a parallel loop meet in what they write.
    pub(super) fn explain_meetings(&mut self, range: Cut<'_>, body: &Statement) {
        let meetings = self.kernel.meetings(range, body).unwrap_or_default();
        let remarks: Vec<Remark> = meetings.iter().filter_map(|meeting| meeting.remark(&self.kernel, range)).collect();
        remarks.into_iter().for_each(|remark| self.remark(remark));
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

    /// Makes an outermost loop parallel: in load-balanced parts of an operand's entries always, where it goes through those, or where a
    /// call finds that chunks of its range would be uneven.
    fn mark_outermost(&mut self, statement: &mut Statement) {
        let Statement::Forall { variable, .. } = *statement else { return };
        if self.kernel.variables[variable.0].share.is_some() {
            return self.mark_shares(statement);
        }
        if self.kernel.asked.serial.contains(&variable) {
            return;
        }
        let is_asked = self.kernel.asked.parallel.contains(&variable);
        if !is_asked && self.is_one_region(statement) {
            return;
        }
        let wish = self.kernel.asked.balanced.iter().find(|(of, ..)| *of == variable).copied();
        let balance = self.kernel.asked.balance_of(variable);
        let by_entries = balance.is_some_and(|(balance, _)| balance == Balance::Nonzeros);
        let by_places = balance.is_some_and(|(balance, _)| balance == Balance::Rows);
        let share = match wish {
            None if is_asked && !by_entries || by_places => None,
            _ => self.default_share(statement, wish.map(|(_, operand, _)| operand)),
        };
        let share = share.filter(|share| self.kernel.meetings(Cut::Positions(share), statement).is_ok());
        if let (None, Some((Balance::Nonzeros, span))) = (&share, balance) {
            let index = self.kernel.variable(variable).to_owned();
            return self.problems.push(super::directive::no_entries(&index, span));
        }
        if let (Some((.., span)), Some(_)) = (wish, &share) {
            self.kernel.asked.keep(span);
        }
        let Statement::Forall { body, .. } = &*statement else { return };
        let whole = self.kernel.meetings(Cut::Loop(variable), body);
        match (whole, share) {
            (Err(reason), None) => self.stays_serial(variable, &reason),
            (whole, Some(share)) if whole.is_err() || by_entries || share.levels.end == 1 => {
                let shares = self.declare_share_of(&share);
                self.cut_in_shares(statement, shares, &share);
            }
            (_, share) => self.in_chunks_or_shares(statement, is_asked, share),
        }
    }

    /// The lattice of a loop that has a constant region, and its operands.
    fn constant_region(&self, variable: IndexVariable, body: &Statement) -> Option<(Lattice, Vec<Access>)> {
        let operands = crate::lattice::operands(&self.kernel, variable, body);
        if super::cases::are_many(&operands) {
            return None;
        }
        let lattice = Lattice::new(&self.kernel.tensors, body, &operands);
        lattice.region(&self.kernel, variable).is_some().then_some((lattice, operands))
    }

    /// Whether a loop does nothing but what has a closed form: where no operand has an entry, the same at every coordinate.
    fn is_one_region(&self, statement: &Statement) -> bool {
        let Statement::Forall { variable, body, .. } = statement else { return false };
        let is_last = |access: &Access| {
            let levels = level_variables(access, &self.kernel.tensor(access.tensor).format);
            levels.last() == Some(variable) && levels.iter().filter(|&level| level == variable).count() == 1
        };
        self.constant_region(*variable, body)
            .is_some_and(|(lattice, operands)| lattice.is_empty_at_entries(&self.kernel, &operands, &is_last))
    }

    /// Says which loops leave out the coordinates at which no operand has an entry.
    fn explain_regions(&mut self) {
        let mut found = Vec::new();
        self.kernel.body.for_each_loop(&mut |variable, run, body| {
            let is_plain = run == Run::Serial && self.kernel.variables[variable.0].value.is_none();
            let region = is_plain.then(|| self.constant_region(variable, body)).flatten();
            if region.is_some_and(|(_, operands)| !operands.is_empty()) {
                found.push(self.kernel.variable(variable).to_owned());
            }
        });
        found.into_iter().for_each(|name| self.decide(What::AtOnce(name), Why::SameWithoutEntries));
    }

    /// Says which workspaces keep nothing but what is read of them.
    fn explain_choosers(&mut self) {
        let mut found = Vec::new();
        self.kernel.body.for_each_where(&mut |workspace, consumer| {
            if let Some((_, access)) = chooser(&self.kernel, workspace, consumer) {
                let name = self.kernel.tensor(workspace).name.clone();
                found.push((name, super::show_access(&self.kernel, &access)));
            }
        });
        found.into_iter().for_each(|(name, by)| self.decide(What::Sampled(name, by), Why::ReadThere));
    }

    /// A loop whose chunks nothing combines.
    fn stays_serial(&mut self, variable: IndexVariable, reason: &NotParallel) {
        match reason.problem(&self.kernel) {
            Some(problem) => self.problems.push(problem),
            None => {
                let remark = reason.remark(&self.kernel, variable);
                self.remark(remark);
            }
        }
    }

    /// Makes a loop parallel in chunks of its range, or in shares where these turn out uneven.
    fn in_chunks_or_shares(&mut self, statement: &mut Statement, is_asked: bool, share: Option<Share>) {
        let shares = share.map(|share| (self.declare_share_of(&share), share));
        let Statement::Forall { variable, run, body } = statement else { return };
        *run = shares.as_ref().map_or(Run::Parallel, |(shares, _)| Run::ParallelOr(*shares));
        let operand = |(_, share): &(IndexVariable, Share)| self.kernel.original_name(share.access.tensor);
        let balanced = shares.as_ref().map(operand);
        let what = What::Parallel { variable: self.kernel.variable(*variable).to_owned(), balanced };
        self.decide(what, if is_asked { Why::Asked } else { Why::Outermost });
        self.explain_meetings(Cut::Loop(*variable), body);
        if let Some((_, share)) = shares {
            self.explain_shares(*variable, &share, body);
        }
    }

    fn mark_parallel(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Forall { run: Run::Vector | Run::InOrder(_), .. } | Statement::Empty | Statement::Assign(_) => {}
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
