//! Whether an appended output has an entry where its value is made of sums that may have had no term.
//!
//! With `A: csr`, a row of it may be empty. Before: `y(i) = t`, where `t += A(i, j)`. After:
//!
//! ```text
//! t = 0; touched = false
//! for j where A(i, j) has entries: t += A(i, j); touched = true
//! if touched: append (i, t)
//! ```

use super::{Lowering, Scope};
use crate::concrete::{
    Access, Assign, Expr, IndexVariable, Kernel, OutputStructure, Reading, Statement, TensorId, TensorKind,
    changes_nothing, level_variables, simplify_expr, stored_levels, without,
};
use crate::ir;
use crate::lattice::Operands;
use crate::level::Parents;
use crate::notation::UnaryOperator;
use crate::notation::simplify::{choice, literal};

/// When a value is an entry.
enum Presence {
    Never,
    Always,
    When(ir::Expr),
}

impl Presence {
    fn or(self, other: Presence) -> Presence {
        match (self, other) {
            (Presence::Always, _) | (_, Presence::Always) => Presence::Always,
            (Presence::Never, one) | (one, Presence::Never) => one,
            (Presence::When(a), Presence::When(b)) => Presence::When(ir::Expr::binary(ir::BinaryOperator::Or, a, b)),
        }
    }

    fn and(self, other: Presence) -> Presence {
        match (self, other) {
            (Presence::Never, _) | (_, Presence::Never) => Presence::Never,
            (Presence::Always, one) | (one, Presence::Always) => one,
            (Presence::When(a), Presence::When(b)) => Presence::When(a.and(b)),
        }
    }
}

/// With more sums in one value than this, the value counts as an entry whether they had terms or not.
const MOST_FLAGS: usize = 8;

impl Lowering<'_> {
    /// The statements that append an entry of `statement`, where it has one.
    pub(super) fn guard(
        &self,
        statement: &Statement,
        scope: &Scope,
        entry: Vec<ir::Statement>,
        out: &mut Vec<ir::Statement>,
    ) {
        self.guard_of(statement, scope, &|target| self.is_appended(target), entry, out);
    }

    /// The statements that write an entry of one of the targets, where `statement` has one.
    pub(super) fn guard_of(
        &self,
        statement: &Statement,
        scope: &Scope,
        is_target: &dyn Fn(TensorId) -> bool,
        entry: Vec<ir::Statement>,
        out: &mut Vec<ir::Statement>,
    ) {
        let presence = self.presence_of(statement, scope, is_target);
        match presence {
            Presence::Never => {}
            Presence::Always => out.extend(entry),
            Presence::When(condition) => out.push(ir::Statement::If(vec![(condition, entry)], Vec::new())),
        }
    }

    /// Sets the flag of a sum where the statement adds a term to it.
    pub(super) fn touch(
        &self,
        flag: ir::VariableId,
        statement: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let set = ir::Statement::Assign(flag, ir::Expr::Bool(true));
        match self.presence_of(statement, scope, &|_| true) {
            Presence::Never => {}
            Presence::Always => out.push(set),
            Presence::When(condition) => out.push(ir::Statement::If(vec![(condition, vec![set])], Vec::new())),
        }
    }

    /// Whether there is an entry at the place of an access, which loops have found. Values tell, where a format has other places too.
    pub(super) fn holds_entry(&self, access: &Access, scope: &Scope) -> ir::Expr {
        let tensor = self.concrete.tensor(access.tensor);
        let original = self.concrete.tensor(self.concrete.original(access.tensor));
        let written = original.stored.as_ref().map_or(&original.format, |stored| &stored.format);
        let are_entries = tensor.format.stores_entries_only() || written.tells_entries();
        if are_entries || self.workspaces.contains_key(&access.tensor) {
            return ir::Expr::Bool(true);
        }
        let value = self.read(&Access { reads: Reading::Value, ..access.clone() }, scope);
        match tensor.fill.is_nan() {
            true => value.clone().equals(value),
            false => ir::Expr::Unary(UnaryOperator::Not, Box::new(value.equals(ir::Expr::Literal(tensor.fill)))),
        }
    }

    /// The operands that an assignment reads where they may hold padding, and a result stores what it has there.
    fn padded<'a>(&'a self, assign: &'a Assign) -> impl Iterator<Item = &'a Access> {
        let is_padded = |access: &&Access| self.padded.iter().any(|padded| padded.same_place(access));
        assign.value.accesses().into_iter().filter(is_padded)
    }

    /// Whether a statement may come by padding.
    pub(super) fn reads_padding(&self, statement: &Statement) -> bool {
        let mut found = false;
        statement.for_each_assign(&mut |assign| found |= self.padded(assign).next().is_some());
        found
    }

    /// When the statement assigns something to one of the targets.
    fn presence_of(&self, statement: &Statement, scope: &Scope, is_target: &dyn Fn(TensorId) -> bool) -> Presence {
        let mut presence = Presence::Never;
        statement.for_each_assign(&mut |assign| {
            if is_target(assign.target.tensor) {
                let before = std::mem::replace(&mut presence, Presence::Never);
                presence = before.or(self.entry_presence(assign, scope));
            }
        });
        presence
    }

    /// When the assignment does something: for each set of sums that had a term, what its value is where the others had none
    /// says so. As [`Lattice`](crate::lattice::Lattice) does for operands; so there are no rules for operators.
    fn entry_presence(&self, assign: &Assign, scope: &Scope) -> Presence {
        let mut flagged: Vec<&Access> = Vec::new();
        let is_found = |access: &&Access| self.resolve(access, scope).0 == access.indices.len();
        let sums = assign.value.accesses().into_iter().filter(|access| scope.flags.contains_key(&access.tensor));
        for access in sums.chain(self.padded(assign).filter(is_found)) {
            if !flagged.iter().any(|seen| seen.same_place(access)) {
                flagged.push(access);
            }
        }
        let flag = |access: &Access| match scope.flags.get(&access.tensor) {
            Some(flag) => ir::Expr::Variable(*flag),
            None => self.holds_entry(access, scope),
        };
        let chosen = self.chosen(assign, scope);
        if flagged.len() > MOST_FLAGS {
            return chosen;
        }
        let mut sets: Vec<Operands> = (0..1u64 << flagged.len()).map(Operands).collect();
        sets.sort_by_key(|set| (set.count(), *set));
        let mut least: Vec<Operands> = Vec::new();
        for set in sets {
            let is_known = least.iter().any(|smaller| smaller.is_subset(set));
            if !is_known && self.does_something(assign, &flagged, set) {
                least.push(set);
            }
        }
        let all = |set: Operands| {
            let flags = set.iter().map(|operand| Presence::When(flag(flagged[operand])));
            flags.reduce(Presence::and).unwrap_or(Presence::Always)
        };
        chosen.and(least.into_iter().map(all).fold(Presence::Never, Presence::or))
    }

    /// When a condition on indices lets the assignment do something; always where its indices are not known here.
    fn chosen(&self, assign: &Assign, scope: &Scope) -> Presence {
        let Some((condition, _)) = self.choice_of(assign) else { return Presence::Always };
        let mut is_known = true;
        condition.for_each_variable(&mut |variable| is_known &= self.known_coordinate(scope, variable).is_some());
        match is_known.then(|| self.expr(condition, scope)) {
            None | Some(ir::Expr::Bool(true)) => Presence::Always,
            Some(ir::Expr::Bool(false)) => Presence::Never,
            Some(condition) => Presence::When(condition),
        }
    }

    /// The condition on indices under which the assignment does something, and its value then.
    pub(super) fn choice_of<'a>(&self, assign: &'a Assign) -> Option<(&'a Expr, &'a Expr)> {
        choice(&assign.value, &|nothing| changes_nothing(&self.concrete.tensors, assign, nothing))
    }

    /// Whether a condition on indices chooses terms in a statement.
    pub(super) fn has_choice(&self, statement: &Statement) -> bool {
        let mut found = false;
        statement.for_each_assign(&mut |assign| found |= self.choice_of(assign).is_some());
        found
    }

    /// Whether the assignment changes anything where just these of the sums had a term.
    fn does_something(&self, assign: &Assign, sums: &[&Access], touched: Operands) -> bool {
        let tensors = &self.concrete.tensors;
        let untouched = sums.iter().enumerate().filter(|(sum, _)| !touched.contains(*sum));
        let value = untouched.fold(assign.value.clone(), |value, (_, access)| without(tensors, &value, access));
        !literal(&simplify_expr(value)).is_some_and(|value| changes_nothing(tensors, assign, value))
    }

    /// Whether a sum needs a flag: an appended entry depends on it, or a sum that has a flag, and what it walks does not promise a term.
    pub(super) fn needs_touched_flag(&self, consumer: &Statement, producer: &Statement, scope: &Scope) -> bool {
        let mut appends = scope.touched.is_some();
        consumer.for_each_assign(&mut |assign| {
            let target = assign.target.tensor;
            appends |= self.is_appended(target) || self.sparse.contains_key(&target);
        });
        let is_chosen = self.has_choice(producer) || self.reads_padding(producer);
        appends && (is_chosen || !self.promises_a_term(producer, scope))
    }

    /// Whether the statement does something for certain: dense loops do, and so does what walks the children of an entry
    /// that is there.
    pub(super) fn promises_a_term(&self, statement: &Statement, scope: &Scope) -> bool {
        match statement {
            Statement::Empty => false,
            Statement::Assign(_) => true,
            Statement::Sequence(statements) => {
                statements.iter().any(|statement| self.promises_a_term(statement, scope))
            }
            Statement::Where { producer, consumer, .. } => {
                self.promises_a_term(producer, scope) && self.promises_a_term(consumer, scope)
            }
            Statement::Forall { variable, body, .. } => {
                let mut inside = scope.at(*variable, ir::Expr::Index(0));
                match self.operands(*variable, body, scope).as_slice() {
                    [] => {}
                    [(access, depth)] if self.has_parent(access, *depth, scope) && !self.is_computed(*variable) => {
                        let here = Parents { begin: ir::Expr::Index(0), end: None };
                        inside.walk(access, *depth, here);
                    }
                    _ => return false,
                }
                self.promises_a_term(body, &inside)
            }
        }
    }

    /// Whether the position of the level above was walked: then it has a child, unless that level fills gaps.
    fn has_parent(&self, access: &crate::concrete::Access, depth: usize, scope: &Scope) -> bool {
        let parent = depth.checked_sub(1).map(|parent| (access.tensor, access.indices.clone(), parent));
        let fills = |depth: usize| {
            let above = self.concrete.tensor(access.tensor).format.levels[depth].format;
            above.kind.fills
        };
        parent.is_some_and(|key| scope.positions.contains_key(&key))
            && depth.checked_sub(1).is_none_or(|above| !fills(above))
    }
    fn is_computed(&self, variable: crate::concrete::IndexVariable) -> bool {
        self.concrete.variables[variable.0].value.is_some()
    }
}

/// The operands in padded formats whose padding would be appended to a result: those with places side by side along an index of the levels
/// that the result stores, or along one of another sparse operand. Along other indices, each block holds an entry.
pub(super) fn padded(kernel: &Kernel) -> Vec<Access> {
    let stored = stored_variables(kernel);
    let mut padded: Vec<Access> = Vec::new();
    kernel.body.for_each_assign(&mut |assign| {
        for access in assign.value.accesses() {
            let format = &kernel.tensor(access.tensor).format;
            if access.reads == Reading::Stored || !format.pads() || padded.iter().any(|seen| seen.same_place(access)) {
                continue;
            }
            let filled = kernel.loops_of(&level_variables(access, format)[format.filled_levels()..]);
            let is_met = |other: &&Access| {
                let is_sparse = !kernel.tensor(other.tensor).format.is_dense() && !other.same_place(access);
                is_sparse && kernel.loops_of(&other.indices).iter().any(|index| filled.contains(index))
            };
            let is_joined = assign.value.accesses().into_iter().chain(&assign.masks).any(|other| is_met(&other));
            if !stored.is_empty() && is_joined || filled.iter().any(|variable| stored.contains(variable)) {
                padded.push(access.clone());
            }
        }
    });
    padded
}

/// The variables of the levels that appended results store, and those by which workspaces are filled that are read at these.
fn stored_variables(kernel: &Kernel) -> Vec<IndexVariable> {
    let mut stored: Vec<IndexVariable> = Vec::new();
    // What is written, and what is read for it.
    let mut assigns: Vec<(Access, Vec<Access>)> = Vec::new();
    kernel.body.for_each_assign(&mut |assign| {
        assigns.push((assign.target.clone(), assign.value.accesses().into_iter().cloned().collect()));
        let tensor = kernel.tensor(assign.target.tensor);
        if tensor.kind == TensorKind::Output(OutputStructure::Appended) {
            let levels = level_variables(&assign.target, &tensor.format);
            stored.extend(kernel.loops_of(&levels[..stored_levels(&tensor.format)]));
        }
    });
    loop {
        let before = stored.len();
        for (filled, _) in &assigns {
            let reads = assigns.iter().flat_map(|(_, reads)| reads).filter(|read| read.tensor == filled.tensor);
            for (read, filled) in reads.flat_map(|read| read.indices.iter().zip(&filled.indices)) {
                if stored.contains(read) && !stored.contains(filled) {
                    stored.push(*filled);
                }
            }
        }
        if stored.len() == before {
            return stored;
        }
    }
}
