//! Sums that lanes of a group form for one entry after the other: several at a time.
//!
//! ```text
//! for p in pos[i]..pos[i + 1]          for (u64 batch = pos[i], …; batch < p_end; batch += 8) {
//!     let j = crd[p]                       const u64 p = min(batch + lane / (width / 8), p_end - 1);
//!     let t = 0                            const u64 j = crd[p];
//!     for r in 0..R vector                 u64 js[8]: those of all lanes, by shuffles
//!         t += u[i, r] * v[j, r]           f32 ts[8] = {}: for (r …) ts[n] += u[i, r] * v[js[n], r]
//!     if lane == 0                         const f32 t = meet_batch_add_f32(ts, width, mates);
//!         y[p] = t * x[p]                  if (…) y[p] = t * x[p];
//! ```
//!
//! The rows of a batch are loaded together, and its sums meet transposed: at each step a lane gives half of its sums away and gets as many
//! parts of the other half, so that eight sums of eight lanes take 7 shuffles and not 24. Then each lane has the sum of one entry,
//! whose neighbour is the next lane's.

use super::Printer;
use super::type_name;
use crate::gpu::plan::Group;
use crate::gpu::rewrite::{declared, updated, writes};
use crate::ir::{Expr, ReduceOperator, Statement, Type, VariableId};
use std::collections::BTreeSet;

/// The entries of a batch. Narrower groups take one entry after the other.
const BATCH: u64 = 8;

/// A loop over entries of which each has a sum.
pub(super) struct Batch<'b> {
    group: Group,
    entry: VariableId,
    /// What is known of an entry before its sum.
    before: Vec<&'b Statement>,
    /// Those of its variables that the sum asks for.
    asked: Vec<VariableId>,
    sum: VariableId,
    operator: ReduceOperator,
    /// The loop that lanes share out: its counter, its end, and its body.
    shared: (VariableId, &'b Expr, &'b [Statement]),
    /// What is done with the sum.
    after: Vec<&'b Statement>,
}

impl Printer<'_> {
    /// The sums of a loop over entries, where nothing else leaves an iteration than what its first lane writes.
    pub(super) fn batch<'b>(&self, group: Group, entry: VariableId, body: &'b [Statement]) -> Option<Batch<'b>> {
        let place = body.iter().position(|statement| matches!(statement, Statement::For { .. }))?;
        let Statement::For { variable, begin: Expr::Index(0), end, vector: true, body: terms } = &body[place] else {
            return None;
        };
        let sums = updated(terms);
        let (&sum, &operator) = sums.iter().next().filter(|_| sums.len() == 1)?;
        let own = declared(body);
        let is_let = |statement: &&Statement| match statement {
            Statement::Let(variable, _) => *variable == sum || !self.kernel.variable(*variable).mutable,
            Statement::Comment(_) => true,
            _ => false,
        };
        let begins = |statement: &&Statement| matches!(statement, Statement::Let(variable, _) if *variable == sum);
        let before: Vec<&Statement> = body[..place].iter().collect();
        let is_even = !own.iter().any(|variable| end.uses(*variable)) && !end.uses(entry);
        let is_simple = before.iter().all(is_let) && before.iter().any(begins) && !writes(terms) && is_even;
        let after: Vec<&Statement> = body[place + 1..].iter().collect();
        let is_number = |variable: &VariableId| !matches!(self.kernel.variable(*variable).ty, Type::Element(element) if element.is_complex());
        if !is_simple
            || !is_number(&sum)
            || after.is_empty()
            || !after.iter().all(|statement| self.is_left(group, statement, &own, entry))
        {
            return None;
        }
        let before: Vec<&Statement> = before.into_iter().filter(|statement| !begins(statement)).collect();
        let uses = |variable: &VariableId| terms.iter().any(|statement| statement.uses(*variable));
        let known = before.iter().filter_map(|statement| match statement {
            Statement::Let(variable, _) => Some(*variable),
            _ => None,
        });
        let asked: Vec<VariableId> = known.chain([entry]).filter(uses).collect();
        asked.iter().all(is_number).then_some(Batch {
            group,
            entry,
            before,
            asked,
            sum,
            operator,
            shared: (*variable, end, terms),
            after,
        })
    }

    /// Whether the function has such a loop.
    pub(super) fn has_batches(&self) -> bool {
        let Some(group) = self.function.group() else { return false };
        let mut found = false;
        for statement in &self.function.body {
            statement.for_each(&mut |statement| {
                if let Statement::For { variable, vector: false, body, .. } = statement {
                    found |= self.batch(group, *variable, body).is_some();
                }
            });
        }
        found
    }

    /// Whether a statement behind the sum is about its entry alone: `own` is what is declared for each entry. Elements that several entries
    /// of a batch share would be written by several lanes at once.
    fn is_left(&self, group: Group, statement: &Statement, own: &BTreeSet<VariableId>, entry: VariableId) -> bool {
        match statement {
            Statement::Comment(_) => true,
            Statement::Let(variable, _) => !self.kernel.variable(*variable).mutable,
            Statement::If(branches, otherwise) => {
                let is_own = |index: &Expr| index.uses(entry) || own.iter().any(|variable| index.uses(*variable));
                let is_write = |statement: &Statement| match statement {
                    Statement::Store(_, index, _) | Statement::Reduce(_, index, ..) => is_own(index),
                    _ => false,
                };
                let [(condition, body)] = &branches[..] else { return false };
                otherwise.is_empty() && *condition == is_first(group) && body.iter().all(is_write)
            }
            _ => false,
        }
    }

    /// The loop, by batches where the group is wide enough, and else `one_by_one`.
    pub(super) fn batches(&mut self, batch: &Batch<'_>, (begin, end): (&Expr, &Expr), one_by_one: &[Statement]) {
        let [lane, width] = [batch.group.lane, batch.group.width].map(|variable| self.variables[&variable].clone());
        self.line(&format!("if ({width} >= {BATCH}) {{"));
        self.depth += 1;
        self.namer.enter();
        let (from, until) = (self.expr(begin), self.expr(end));
        let entry = self.scoped_name(batch.entry);
        let (first, to) = (self.namer.name("batch"), self.namer.name(&format!("{entry}_end")));
        let (each, own) = (self.namer.name("each"), self.namer.name("own"));
        self.line(&format!("const u64 {each} = {width} / {BATCH}, {own} = {lane} / {each};"));
        let head = format!("for (u64 {first} = {from}, {to} = {until}; {first} < {to}; {first} += {BATCH})");
        self.nest(&head, |printer| {
            let entry = printer.declare_variable(batch.entry);
            printer.line(&format!("const u64 {entry} = min((u64)({first} + {own}), (u64)({to} - 1));"));
            batch.before.iter().for_each(|statement| printer.statement(statement));
            let ty = printer.kernel.variable(batch.sum).ty;
            let sums = printer.terms(batch, &each, &width);
            printer.define(batch.operator, ty);
            let meet = printer.helpers.meet_batch(batch.operator, ty);
            let sum = printer.declare_variable(batch.sum);
            printer.line(&format!("const {} {sum} = {meet}({sums}, {lane}, {width}, mates);", type_name(ty)));
            printer.nest(&format!("if ({first} + {own} < {to} && {own} * {each} == {lane})"), |printer| {
                for statement in &batch.after {
                    match statement {
                        Statement::If(branches, _) => printer.block(&branches[0].1),
                        other => printer.statement(other),
                    }
                }
            });
        });
        self.namer.leave();
        self.depth -= 1;
        self.nest("} else", |printer| printer.counted_loop(batch.entry, (begin, end), false, one_by_one));
    }

    /// What a lane has of the sums of a batch: the name of their array.
    fn terms(&mut self, batch: &Batch<'_>, each: &str, width: &str) -> String {
        let n = self.namer.name("n");
        let mut names = Vec::new();
        for &variable in &batch.asked {
            let (name, ty) = (self.variables[&variable].clone(), self.kernel.variable(variable).ty);
            let all = self.namer.name(&format!("{name}_of"));
            let other = shuffled_from(ty, &name, &format!("{n} * {each}, {width}"));
            self.line(&format!("{} {all}[{BATCH}];", type_name(ty)));
            self.line("#pragma unroll");
            self.line(&format!("for (u64 {n} = 0; {n} < {BATCH}; {n}++) {all}[{n}] = {other};"));
            names.push((variable, name, format!("{all}[{n}]")));
        }
        let ty = self.kernel.variable(batch.sum).ty;
        let identity = self.identity(batch.operator, ty);
        let sums = self.namer.name(&format!("{}_of", self.kernel.variable(batch.sum).name));
        self.line(&format!("{} {sums}[{BATCH}];", type_name(ty)));
        self.line("#pragma unroll");
        self.line(&format!("for (u64 {n} = 0; {n} < {BATCH}; {n}++) {sums}[{n}] = {identity};"));
        for (variable, _, of) in &names {
            self.variables.insert(*variable, of.clone());
        }
        self.variables.insert(batch.sum, format!("{sums}[{n}]"));
        self.rows_of(batch, &n);
        for (variable, name, _) in names {
            self.variables.insert(variable, name);
        }
        sums
    }

    /// The loop over the rows of a batch, by neighbours where their length is a multiple.
    fn rows_of(&mut self, batch: &Batch<'_>, n: &str) {
        let (counter, end, terms) = batch.shared;
        let group = batch.group;
        let all = format!("for (u64 {n} = 0; {n} < {BATCH}; {n}++)");
        let over = self.over_shared(group, counter, end, terms);
        let has_rest = over.is_some();
        if let Some(over) = over {
            self.shared_vectors(group, &over, &|printer: &mut Self| {
                printer.line("#pragma unroll");
                printer.nest(&all, |printer| printer.vector_loop(&over));
            });
        }
        let [lane, width] = [group.lane, group.width].map(|variable| self.variables[&variable].clone());
        let end = self.operand(end);
        self.namer.enter();
        let element = self.declare_variable(counter);
        self.line("#pragma unroll 1");
        self.nest(&format!("for (u64 {element} = {lane}; {element} < {end}; {element} += {width})"), |printer| {
            printer.line("#pragma unroll");
            printer.nest(&all, |printer| printer.block(terms));
        });
        self.namer.leave();
        if has_rest {
            self.depth -= 1;
            self.line("}");
        }
    }
}

/// What a variable is in another lane of the group.
fn shuffled_from(ty: Type, name: &str, lane: &str) -> String {
    match ty {
        Type::Bool => format!("(bool)__shfl_sync(mates, (int){name}, {lane})"),
        Type::Element(element) if element.bytes() < 4 => {
            format!("({})__shfl_sync(mates, (int){name}, {lane})", element.name())
        }
        Type::Index | Type::Element(_) => format!("__shfl_sync(mates, {name}, {lane})"),
    }
}

/// That a lane is the first of its group.
fn is_first(group: Group) -> Expr {
    Expr::Variable(group.lane).equals(Expr::Index(0))
}
