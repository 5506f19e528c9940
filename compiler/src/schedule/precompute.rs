//! Parts of a statement that the schedule wants in a workspace before they are used.
//!
//! With `precompute(B(i, k) * C(k, j), j, jw)` the product is formed in loops of its own, for every `jw` of a workspace that the
//! loops over `j` read. Loops over what both have in common are outside, and a sum over what only the part has goes with it:
//!
//! ```text
//! for all i, k, j: A(i, j) += B(i, k) * C(k, j)
//!
//! for all i
//!     with t
//!         for all k, jw: t(jw) += B(i, k) * C(k, jw)
//!     then
//!         for all j: A(i, j) = t(j)
//! ```
//!
//! The transformation is that of Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor Algebra Compilation with Workspaces* (2019), section
//! 5; the directive is that of Senanayake et al. (2020). Where entries of the result are appended, the workspace is one that lists
//! them ([`scatter`](super::scatter)); else it is dense, filled inside of the loops that are outside
//! ([`lift`](super::lift)).

use super::directives::{Directives, is_called};
use super::factor::distributing;
use super::lift::normalize;
use super::scatter::{Plan, renamed};
use super::state::{Scheduler, Term};
use super::{Access, Computed, Expr, IndexVariable, Kernel, OutputStructure, Statement, TensorId, TensorKind};
use super::{Parts, Precomputed};
use super::{level_variables, stored_levels};
use super::{simplify_expr, without};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::format::Format;
use crate::ir::{IndexExpr, Literal, ReduceOperator};
use crate::notation::simplify::{known, literal};
use crate::notation::{self, BinaryOperator, UnaryOperator};
use crate::remark::{What, Why};
use crate::syntax::{self, Directive, ExprKind};

/// Stands for the part that was taken out, until there is a workspace.
const HOLE: TensorId = TensorId(usize::MAX);

fn hole() -> Expr {
    Expr::Access(Access::new(HOLE, Vec::new(), Span::default()))
}

/// An expression with a hole, and what stood there.
struct Taken {
    rest: Expr,
    part: Expr,
}

impl Directives<'_> {
    /// `precompute(B(i, k) * C(k, j), j, jw)`
    pub(super) fn precompute(&mut self, directive: &Directive) {
        let Some((pattern, pairs)) = directive.arguments.split_first() else { return };
        let [statement] = &self.notation.statements[..] else { return };
        let rest = self.kernel.asked.parts.rest.clone().unwrap_or_else(|| statement.value.clone());
        if let Some(taken) = self.take(&rest, pattern) {
            let Some((rest, part)) = self.part(taken, pairs, directive) else { return };
            let mut others = statement.target.indices.clone();
            others.extend(statement.mask.iter().flat_map(|mask| &mask.indices));
            self.keep_outside(&part, &rest, &others);
            let parts = &mut self.kernel.asked.parts;
            parts.rest = Some(rest);
            parts.parts.push(part);
            return parts.found.push(directive.span);
        }
        let mut parts = std::mem::take(&mut self.kernel.asked.parts.parts);
        let is_found = self.precompute_inside(&mut parts, pattern, pairs, directive);
        self.kernel.asked.parts.parts = parts;
        if is_found {
            self.kernel.asked.parts.found.push(directive.span);
        }
    }

    /// Looks for the part in what other parts are made of.
    fn precompute_inside(
        &mut self,
        parts: &mut [Precomputed],
        pattern: &syntax::Expr,
        pairs: &[syntax::Expr],
        directive: &Directive,
    ) -> bool {
        parts.iter_mut().any(|outer| {
            let Some(taken) = self.take(&outer.value, pattern) else {
                return self.precompute_inside(&mut outer.inside, pattern, pairs, directive);
            };
            if let Some((rest, part)) = self.part(taken, pairs, directive) {
                self.keep_outside(&part, &rest, &outer.written.indices);
                outer.value = rest;
                outer.inside.push(part);
            }
            true
        })
    }

    /// Makes a workspace of what was taken out; gives what is left, which reads it, as well.
    fn part(&mut self, taken: Taken, pairs: &[syntax::Expr], directive: &Directive) -> Option<(Expr, Precomputed)> {
        let span = directive.arguments[0].span;
        if let Some((message, label, help)) = self.problem_of_part(&taken.part) {
            self.refuse(span, message.to_owned(), label, help.to_owned());
            return None;
        }
        let has_fused = self.kernel.variables.iter().any(|v| matches!(v.value, Some(Computed::Fused { .. })));
        if has_fused {
            let message = "loops that are fused can't be taken apart by a workspace".to_owned();
            let help = "leave out the `fuse`, or fuse loops that walk an operand's entries".to_owned();
            self.refuse(span, message, "has loops of its own", help);
            return None;
        }
        let free = self.written_variables(&taken.part);
        let mut indices = Vec::new();
        for old in pairs.iter().step_by(2) {
            let named = self.variables(old).into_iter().find(|variable| free.contains(variable));
            let Some(variable) = named else {
                let message = format!("`{old}` is no index of what is to be precomputed");
                let help = "a workspace is over index variables of the part, but those that it sums over".to_owned();
                self.refuse(old.span, message, "does not occur in the part", help);
                return None;
            };
            indices.push(variable);
        }
        let (rest, sum) = self.with_sum(&taken, &indices);
        let part = match sum {
            Some((operator, variables)) => Expr::Reduce(operator, variables, Box::new(taken.part)),
            None => taken.part,
        };
        let outside: Vec<IndexVariable> =
            self.written_variables(&part).into_iter().filter(|variable| !indices.contains(variable)).collect();
        let news: Vec<IndexVariable> =
            pairs.chunks_exact(2).zip(&indices).map(|(pair, &old)| self.renamed(&pair[1], old)).collect();
        let (value, renamed) = self.over(&part, &indices, &news);
        let workspace = self.kernel.part_workspace(&indices, &part);
        self.kernel.asked.parts.outside.push((workspace, outside.clone()));
        let read = Access::new(workspace, indices, span);
        let written = Access::new(workspace, news, span);
        let rest = rest.map_accesses(&|access| match access.tensor {
            HOLE => Expr::Access(read.clone()),
            _ => Expr::Access(access.clone()),
        });
        Some((rest, Precomputed { read, written, value, part, renamed, outside, inside: Vec::new(), span }))
    }

    /// Why a part has no workspace, with a label and a remedy.
    fn problem_of_part(&self, part: &Expr) -> Option<(&'static str, &'static str, &'static str)> {
        let accesses = part.accesses();
        let is_missing_infinite = |access: &&Access| {
            let fill = self.kernel.tensors.get(access.values().0).map(|tensor| tensor.fill);
            fill.is_some_and(|fill| fill.is_infinite())
        };
        if accesses.is_empty() {
            return Some(("a constant can't be precomputed", "reads nothing", "take more of the expression"));
        }
        accesses.iter().any(is_missing_infinite).then_some((
            "an operand whose fill value is infinite can't be precomputed",
            "has missing entries that could not be told from others",
            "leave it out of the part",
        ))
    }

    /// Loops outside of a workspace are outside of all others.
    fn keep_outside(&mut self, part: &Precomputed, rest: &Expr, others: &[IndexVariable]) {
        let mut inner = self.kernel.loops_of(others);
        rest.for_each_variable(&mut |variable| inner.extend(self.kernel.loops(variable)));
        let outside = self.kernel.loops_of(&part.outside);
        inner.retain(|variable| !outside.contains(variable));
        let edges = outside.iter().flat_map(|&outer| inner.iter().map(move |&inner| (outer, inner)));
        let edges: Vec<(IndexVariable, IndexVariable)> = edges.collect();
        for edge in edges {
            if !self.kernel.asked.order.contains(&edge) {
                self.kernel.asked.order.push(edge);
            }
        }
    }

    /// The variable of a workspace's own loop.
    fn renamed(&mut self, name: &syntax::Expr, old: IndexVariable) -> IndexVariable {
        let ExprKind::Name(name) = &name.kind else { return old };
        let declared = &self.kernel.variables[old.0];
        let new = super::Variable { name: name.name.clone(), value: None, has_loop: false, ..declared.clone() };
        self.kernel.variables.push(new);
        let new = IndexVariable(self.kernel.variables.len() - 1);
        self.kernel.asked.renamed.push((new, old));
        new
    }

    /// An expression over other variables; what is computed from those is computed anew.
    fn over(
        &mut self,
        expr: &Expr,
        olds: &[IndexVariable],
        news: &[IndexVariable],
    ) -> (Expr, Vec<(IndexVariable, IndexVariable)>) {
        let mut pairs: Vec<(IndexVariable, IndexVariable)> = olds.iter().copied().zip(news.iter().copied()).collect();
        let mut made_of = Vec::new();
        expr.for_each_variable(&mut |variable| made_of.push(variable));
        for variable in made_of {
            let is_known = pairs.iter().any(|(old, _)| *old == variable);
            if !is_known && self.written_of(variable).iter().any(|part| olds.contains(part)) {
                let value = self.written_index(variable);
                let value = value.map(|value| value.map(&mut |&part| renamed(&pairs, part)));
                let value = value.map(|index| Computed::Index { index, guarded: false, block: None });
                let copy = super::Variable { value, ..self.kernel.variables[variable.0].clone() };
                self.kernel.variables.push(copy);
                let copy = IndexVariable(self.kernel.variables.len() - 1);
                self.kernel.asked.renamed.push((copy, variable));
                pairs.push((variable, copy));
            }
        }
        let mut over = expr.clone();
        over.rename(&mut |variable| renamed(&pairs, variable));
        (over, pairs)
    }

    /// The variables that an index is made of as it is written, whatever became of these since.
    fn written_of(&self, variable: IndexVariable) -> Vec<IndexVariable> {
        self.written_index(variable).map_or(vec![variable], |index| index.variables())
    }

    /// How a variable is computed, as it is written.
    fn written_index(&self, variable: IndexVariable) -> Option<IndexExpr<IndexVariable>> {
        match (self.notation.variables.get(variable.0), &self.kernel.variables[variable.0].value) {
            (Some(written), _) => written.value.clone(),
            (None, Some(Computed::Index { index, block: None, .. })) => Some(index.clone()),
            (None, _) => None,
        }
    }

    /// The variables that an expression does not bind, as they are written.
    fn written_variables(&self, expr: &Expr) -> Vec<IndexVariable> {
        let mut free = expr.free_variables(&|variable| self.written_of(variable));
        let more: Vec<IndexVariable> =
            self.hidden_variables(expr).into_iter().filter(|variable| !free.contains(variable)).collect();
        free.extend(more);
        free
    }

    /// The variables whose loops carry the values of a result that its own statement reads.
    fn carried(&self, tensor: TensorId) -> Vec<IndexVariable> {
        let notation = self.notation;
        let statement = notation.statements.iter().find(|statement| statement.target.tensor == tensor);
        let recurrence = statement.and_then(|statement| statement.recurrence(&notation.tensors, &notation.variables));
        recurrence.map_or_else(Vec::new, |recurrence| recurrence.variables)
    }

    /// The variables outside of the parts that an expression reads, but those that it binds.
    fn hidden_variables(&self, expr: &Expr) -> Vec<IndexVariable> {
        match expr {
            Expr::Access(access) => {
                let parts = &self.kernel.asked.parts.outside;
                let depends = parts.iter().find(|(workspace, _)| *workspace == access.tensor);
                // The result of a recurrence depends on how far its loop is.
                depends.map_or_else(|| self.carried(access.values()), |(_, outside)| outside.clone())
            }
            Expr::Reduce(_, bound, body) => {
                self.hidden_variables(body).into_iter().filter(|variable| !bound.contains(variable)).collect()
            }
            other => other.children().into_iter().flat_map(|child| self.hidden_variables(child)).collect(),
        }
    }

    // Finding the part.

    /// Takes the first part of an expression that is `pattern`: all of it, or some operands of a product or another operator that
    /// takes them in any order.
    fn take(&self, expr: &Expr, pattern: &syntax::Expr) -> Option<Taken> {
        if self.is_same(expr, pattern) {
            return Some(Taken { rest: hole(), part: expr.clone() });
        }
        if let Some(taken) = self.take_operands(expr, pattern) {
            return Some(taken);
        }
        expr.children().into_iter().enumerate().find_map(|(place, child)| {
            let Taken { rest: inner, part } = self.take(child, pattern)?;
            let mut rest = expr.clone();
            *rest.children_mut()[place] = inner;
            Some(Taken { rest, part })
        })
    }

    fn take_operands(&self, expr: &Expr, pattern: &syntax::Expr) -> Option<Taken> {
        use BinaryOperator::{Add, And, Multiply, Or};
        let (Expr::Binary(operator @ (Add | Multiply | And | Or), ..), ExprKind::Binary(wanted, ..)) =
            (expr, &pattern.kind)
        else {
            return None;
        };
        (operator == wanted).then_some(())?;
        let operands = operands(expr, *operator);
        let mut taken: Vec<usize> = Vec::new();
        for wanted in wanted_operands(pattern, *operator) {
            let is_it = |place: &usize| !taken.contains(place) && self.is_same(operands[*place], wanted);
            taken.push((0..operands.len()).find(is_it)?);
        }
        let first = *taken.iter().min()?;
        let is_taken = |place: &usize| taken.contains(place);
        let part = (0..operands.len()).filter(is_taken).map(|place| operands[place].clone());
        let rest = (0..operands.len()).filter(|place| !is_taken(place) || *place == first);
        let rest = rest.map(|place| if place == first { hole() } else { operands[place].clone() });
        Some(Taken { rest: combined(*operator, rest)?, part: combined(*operator, part)? })
    }

    /// Whether an expression is what a schedule says, conversions aside.
    fn is_same(&self, expr: &Expr, pattern: &syntax::Expr) -> bool {
        let all_same = |exprs: &[&Expr], patterns: &[&syntax::Expr]| {
            exprs.len() == patterns.len()
                && exprs.iter().zip(patterns).all(|(expr, pattern)| self.is_same(expr, pattern))
        };
        match (expr, &pattern.kind) {
            (Expr::Cast(_, operand), _) => self.is_same(operand, pattern),
            (Expr::Literal(literal), ExprKind::Number { digits, .. }) => {
                let number = digits.parse().ok().and_then(|value| Literal::new(literal.element(), value));
                number.is_some_and(|number| number.equals(*literal))
            }
            (Expr::Literal(literal), ExprKind::Bool(wanted)) => literal.is_one() == *wanted,
            (Expr::Access(access), ExprKind::Name(name)) => {
                access.indices.is_empty() && self.is_tensor(access, &name.name)
            }
            (Expr::Index(variable, _), ExprKind::Name(name)) => is_called(self.kernel.variable(*variable), &name.name),
            (Expr::Access(access), ExprKind::Access(wanted)) => {
                let is_index = |(variable, index): (&IndexVariable, &syntax::Index)| self.is_index(*variable, index);
                self.is_tensor(access, &wanted.name.name)
                    && access.indices.len() == wanted.indices.len()
                    && access.indices.iter().zip(&wanted.indices).all(is_index)
            }
            (Expr::Unary(operator, operand), ExprKind::Unary(wanted, of)) => {
                operator == wanted && self.is_same(operand, of)
            }
            (Expr::Binary(operator, a, b), ExprKind::Binary(wanted, left, right)) => {
                operator == wanted && all_same(&[a, b], &[left, right])
            }
            (Expr::Call(function, arguments), ExprKind::Call(name, wanted)) => {
                function.name() == name.name
                    && all_same(&arguments.iter().collect::<Vec<_>>(), &wanted.iter().collect::<Vec<_>>())
            }
            (Expr::Select(condition, yes, no), ExprKind::Call(name, wanted)) => {
                name.name == "select" && all_same(&[condition, yes, no], &wanted.iter().collect::<Vec<_>>())
            }
            (
                Expr::Reduce(operator, variables, body),
                ExprKind::Reduce { operator: wanted, place: false, variables: names, body: of },
            ) => {
                let is_named = |variable: &IndexVariable| {
                    names.iter().any(|name| is_called(self.kernel.variable(*variable), &name.name))
                };
                operator == wanted
                    && variables.len() == names.len()
                    && variables.iter().all(is_named)
                    && self.is_same(body, of)
            }
            _ => false,
        }
    }

    fn is_tensor(&self, access: &Access, name: &str) -> bool {
        self.notation.tensors.get(access.tensor.0).is_some_and(|tensor| tensor.name == name)
    }

    fn is_index(&self, variable: IndexVariable, index: &syntax::Index) -> bool {
        let name = self.kernel.variable(variable);
        match index {
            syntax::Index::Expr(syntax::Expr { kind: ExprKind::Name(wanted), .. }) => is_called(name, &wanted.name),
            syntax::Index::Expr(wanted) => without_blanks(name) == without_blanks(&wanted.to_string()),
            syntax::Index::Range { .. } => false,
        }
    }

    // Sums that go with it.

    /// What is left, without the sum over what the part alone has, and that sum.
    fn with_sum(
        &self,
        taken: &Taken,
        indices: &[IndexVariable],
    ) -> (Expr, Option<(ReduceOperator, Vec<IndexVariable>)>) {
        let own = self.written_variables(&taken.part);
        // What a mask leaves out, it leaves out of the sum.
        let masks = self.notation.statements.iter().filter_map(|statement| statement.mask.as_ref());
        let masked: Vec<IndexVariable> =
            masks.flat_map(|mask| &mask.indices).flat_map(|&index| self.written_of(index)).collect();
        let stays = |variable: &IndexVariable| indices.contains(variable) || masked.contains(variable);
        let movable: Vec<IndexVariable> = own.into_iter().filter(|variable| !stays(variable)).collect();
        let mut moved = None;
        let rest = self.without_sum(&taken.rest, &movable, &mut moved);
        (rest, moved)
    }

    /// The expression without those variables of the sum that is directly around the hole.
    fn without_sum(
        &self,
        expr: &Expr,
        movable: &[IndexVariable],
        moved: &mut Option<(ReduceOperator, Vec<IndexVariable>)>,
    ) -> Expr {
        match expr {
            Expr::Reduce(operator, variables, body) if is_factor(body, *operator) => {
                let others = self.written_variables(body);
                let goes = |variable: &IndexVariable| movable.contains(variable) && !others.contains(variable);
                let (gone, left): (Vec<IndexVariable>, Vec<IndexVariable>) = variables.iter().copied().partition(goes);
                *moved = (!gone.is_empty()).then_some((*operator, gone));
                match left.is_empty() {
                    true => (**body).clone(),
                    false => Expr::Reduce(*operator, left, body.clone()),
                }
            }
            _ => {
                let mut expr = expr.clone();
                for child in expr.children_mut() {
                    *child = self.without_sum(child, movable, moved);
                }
                expr
            }
        }
    }
}

/// Whether there are the same variables in two lists.
fn are_same(some: &[IndexVariable], others: &[IndexVariable]) -> bool {
    some.len() == others.len() && some.iter().all(|variable| others.contains(variable))
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The operands of an operator that takes them in any order.
fn operands(expr: &Expr, operator: BinaryOperator) -> Vec<&Expr> {
    match expr {
        Expr::Binary(own, left, right) if *own == operator => {
            [operands(left, operator), operands(right, operator)].concat()
        }
        other => vec![other],
    }
}

fn wanted_operands(expr: &syntax::Expr, operator: BinaryOperator) -> Vec<&syntax::Expr> {
    match &expr.kind {
        ExprKind::Binary(own, left, right) if *own == operator => {
            [wanted_operands(left, operator), wanted_operands(right, operator)].concat()
        }
        _ => vec![expr],
    }
}

fn combined(operator: BinaryOperator, operands: impl Iterator<Item = Expr>) -> Option<Expr> {
    operands.reduce(|left, right| Expr::Binary(operator, Box::new(left), Box::new(right)))
}

fn is_hole(expr: &Expr) -> bool {
    matches!(expr, Expr::Access(access) if access.tensor == HOLE)
}

/// Whether what is reduced is the hole, or a product with it that may as well be formed with the reduced part.
fn is_factor(body: &Expr, reduction: ReduceOperator) -> bool {
    let is_negated = |expr: &Expr| matches!(expr, Expr::Unary(UnaryOperator::Negate, operand) if is_hole(operand));
    let is_it = |expr: &Expr| is_hole(expr) || reduction == ReduceOperator::Add && is_negated(expr);
    match distributing(reduction) {
        Some(product) => operands(body, product).into_iter().any(is_it),
        None => is_hole(body),
    }
}

impl Kernel {
    /// The value of an expression where no operand has an entry, if that is known.
    fn missing(&self, expr: &Expr) -> Option<Literal> {
        known(expr, &|access| {
            let tensor = self.tensors.get(access.values().0)?;
            (!tensor.format.is_dense()).then_some(tensor.fill)
        })
    }

    /// A new dense workspace for a part.
    fn part_workspace(&mut self, indices: &[IndexVariable], part: &Expr) -> TensorId {
        let element = self.element_of(part);
        let fill = match part {
            Expr::Reduce(operator, ..) => operator.identity(element).unwrap_or(element.zero()),
            // As if nothing had been written where no operand has an entry.
            _ => self.missing(part).unwrap_or(element.zero()),
        };
        self.add_workspace(indices, element, fill, Format::dense(indices.len()), TensorKind::Workspace)
    }
}

impl Scheduler<'_> {
    /// Loops for a term of which parts are computed before.
    pub(super) fn with_parts(&mut self, term: Term) -> Statement {
        let Parts { rest, parts, .. } = self.kernel.asked.parts.clone();
        let target = term.target.clone();
        let rest = rest.map_or_else(|| term.value.clone(), |rest| self.settled(&rest, &target));
        let parts = self.settled_parts(parts, &target);
        let mut term = Term { value: rest, ..term };
        if let Some(problem) = self.share_entries(&mut term, &parts) {
            self.problems.push(problem);
            return Statement::Empty;
        }
        self.lifted(term, &[], None, parts)
    }

    /// An expression as it is scheduled.
    fn settled(&mut self, expr: &Expr, target: &Access) -> Expr {
        let value = self.kernel.over_running(&normalize(&simplify_expr(expr.clone())));
        self.with_stand_ins(&value, target)
    }

    fn settled_parts(&mut self, parts: Vec<Precomputed>, target: &Access) -> Vec<Precomputed> {
        let settle = |part: Precomputed| {
            self.explain_part(&part);
            let value = self.settled(&part.value, target);
            Precomputed { value, inside: self.settled_parts(part.inside, target), ..part }
        };
        parts.into_iter().map(settle).collect()
    }

    fn explain_part(&mut self, part: &Precomputed) {
        let over = self.kernel.names(&part.written.indices);
        let outside = self.kernel.names(&part.outside);
        self.decide(What::Precomputed { part: self.show(&part.value), over, outside }, Why::Asked);
    }

    /// Why the parts of a result whose entries are appended can't be formed before, and where: an entry must know whether there is
    /// anything in its own place.
    pub(super) fn problem_of_parts(&self, term: &Term) -> Option<Diagnostic> {
        let tensor = self.kernel.tensor(term.target.tensor);
        let levels = level_variables(&term.target, &tensor.format);
        let dense = &levels[stored_levels(&tensor.format)..];
        let mut parts = self.kernel.asked.parts.parts.iter();
        let part = parts.find(|part| self.scatters(&term.target) || !part.is_block(dense))?;
        let message = format!("this part of {} can't be precomputed", tensor.name);
        let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, part.span, message);
        Some(problem.label("would be there for every coordinate").help(
            "the result stores entries: take the whole sum, over the innermost levels of the result, or store it in a dense format",
        ))
    }

    /// Keeps a result that shares an operand's index arrays to the entries of that; gives the reason where it can't.
    fn share_entries(&self, term: &mut Term, parts: &[Precomputed]) -> Option<Diagnostic> {
        let OutputStructure::Shared { access, levels } = &term.structure else { return None };
        if *levels == access.indices.len() {
            if !term.masks.iter().any(|mask| mask.same_place(access)) {
                term.masks.push(access.clone());
            }
            return None;
        }
        let tensors = &self.kernel.tensors;
        let fill_of = |part: &Precomputed| {
            let value = literal(&simplify_expr(without(tensors, &part.value, access)))?;
            tensors[part.read.tensor.0].fill.equals(value).then_some(value)
        };
        let missing = parts.iter().filter(|part| fill_of(part).is_some());
        let rest =
            missing.fold(without(tensors, &term.value, access), |rest, part| without(tensors, &rest, &part.read));
        let fill = self.kernel.tensor(term.target.tensor).fill;
        let is_kept = literal(&simplify_expr(rest)).is_some_and(|value| value.equals(fill));
        let part = parts.first().filter(|_| !is_kept)?;
        let operand = super::show_access(&self.kernel, access);
        let result = &self.kernel.tensor(term.target.tensor).name;
        let message = format!("without this part, {result} would not have the entries of {operand} alone");
        let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, part.span, message);
        Some(
            problem.label("can't be precomputed").help(format!("leave {operand} out of the part, or take all factors")),
        )
    }

    /// How the entries of a result come about in the parts; `None` where these are not sums as a whole, inside of the loops over
    /// the result's outermost levels.
    pub(super) fn plan_parts(&mut self, term: &Term, stored: usize) -> Option<Plan> {
        let parts = self.kernel.asked.parts.parts.clone();
        let outside = self.kernel.loops_of(&parts.first()?.outside);
        let is_depth = (1..stored).contains(&outside.len());
        let mut plan = is_depth.then(|| self.plan(term, outside.len(), stored)).flatten()?;
        let format = &self.kernel.tensor(term.target.tensor).format;
        let outer = level_variables(&term.target, format)[..outside.len()].to_vec();
        for part in parts {
            let value = self.settled(&part.part, &term.target);
            let sum = plan.sums.iter_mut().find(|sum| sum.value == value)?;
            let is_computed = |variable: &IndexVariable| self.kernel.variables[variable.0].value.is_some();
            let is_it = are_same(&self.kernel.loops_of(&part.outside), &outer)
                && are_same(&part.read.indices, &sum.indices)
                && part.inside.is_empty()
                && !part.written.indices.iter().any(is_computed);
            is_it.then_some(())?;
            sum.renamed = part.renamed.clone();
            sum.workspace = Some(part.read.tensor);
            self.explain_part(&part);
        }
        Some(plan)
    }
}

/// Reports what is to be precomputed and no kernel computes.
pub(super) fn missing(notation: &notation::Kernel, kernels: &[Kernel]) -> Diagnostics {
    let directives = notation.schedule.iter().flat_map(|schedule| &schedule.directives);
    let is_missing = |directive: &&Directive| {
        let is_found = |kernel: &Kernel| kernel.asked.parts.found.contains(&directive.span);
        directive.name.name == "precompute" && !kernels.iter().any(is_found)
    };
    let mut found = Diagnostics::new();
    for directive in directives.filter(is_missing) {
        let span = directive.arguments.first().map_or(directive.span, |part| part.span);
        let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, span, "this is not computed anywhere");
        let problem = problem.label("no part of a right-hand side");
        found.push(problem.help("write it as the statement does; some of the factors of a product will do"));
    }
    found
}
