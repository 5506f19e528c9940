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
use crate::concrete::{Expr, Statement, TensorId};
use crate::format::level::{self, Parents};
use crate::ir;
use crate::notation::{BinaryOperator, UnaryOperator};

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

    /// When the statement assigns something to one of the targets.
    fn presence_of(&self, statement: &Statement, scope: &Scope, is_target: &dyn Fn(TensorId) -> bool) -> Presence {
        let mut presence = Presence::Never;
        statement.for_each_assign(&mut |assign| {
            if is_target(assign.target.tensor) {
                let before = std::mem::replace(&mut presence, Presence::Never);
                presence = before.or(self.entry_presence(&assign.value, scope));
            }
        });
        presence
    }

    fn entry_presence(&self, expr: &Expr, scope: &Scope) -> Presence {
        let of = |expr: &Expr| self.entry_presence(expr, scope);
        match expr {
            Expr::Literal(literal) if literal.is_zero() => Presence::Never,
            Expr::Access(access) => match scope.flags.get(&access.tensor) {
                Some(flag) => Presence::When(ir::Expr::Variable(*flag)),
                None => Presence::Always,
            },
            Expr::Unary(UnaryOperator::Negate, operand) => of(operand),
            Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => of(left).or(of(right)),
            Expr::Binary(BinaryOperator::Multiply, left, right) => of(left).and(of(right)),
            Expr::Binary(BinaryOperator::Divide | BinaryOperator::Remainder, left, _) => of(left),
            Expr::Select(_, yes, no) => of(yes).or(of(no)),
            Expr::Call(ir::Function::Min | ir::Function::Max | ir::Function::Abs | ir::Function::Sqrt, arguments) => {
                arguments.iter().map(of).fold(Presence::Never, Presence::or)
            }
            _ => Presence::Always,
        }
    }

    /// Whether a sum needs a flag: an appended entry depends on it, or a sum that has a flag, and what it walks does not promise a term.
    pub(super) fn needs_touched_flag(&self, consumer: &Statement, producer: &Statement, scope: &Scope) -> bool {
        let mut appends = scope.touched.is_some();
        consumer.for_each_assign(&mut |assign| {
            let target = assign.target.tensor;
            appends |= self.is_appended(target) || self.sparse.contains_key(&target);
        });
        appends && !self.promises_a_term(producer, scope)
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
            level::of(above.kind).fills()
        };
        parent.is_some_and(|key| scope.positions.contains_key(&key))
            && depth.checked_sub(1).is_none_or(|above| !fills(above))
    }
    fn is_computed(&self, variable: crate::concrete::IndexVariable) -> bool {
        self.concrete.variables[variable.0].value.is_some()
    }
}
