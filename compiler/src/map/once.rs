//! Loops over runs of equal elements, for a chunk of one place: each runs once.
//!
//! ```text
//! let p = place                                      let i = crd[place]
//! while p < place + 1                                y[i] += x[place]
//!     let i = crd[p]
//!     let run = p
//!     while run < place + 1 && crd[run] == i
//!         run = run + 1
//!     for q in p..run
//!         y[i] += x[q]
//!     p = run
//! ```

use crate::gpu::rewrite::changed;
use crate::ir::{BinaryOperator, Expr, Kernel, Statement, Type, VariableId};
use std::collections::BTreeMap;

/// The body for one place without the loops that run once; as it is, where it is not seen that they do.
pub(super) fn once(kernel: &Kernel, body: Vec<Statement>, place: VariableId) -> Vec<Statement> {
    let place = Expr::Variable(place);
    let next = place.clone().plus(Expr::Index(1));
    let mut single = Single { kernel, place, next, known: BTreeMap::new(), lets: BTreeMap::new() };
    single.block(&body).unwrap_or(body)
}

struct Single<'a> {
    kernel: &'a Kernel,
    place: Expr,
    /// One past it.
    next: Expr,
    /// What the counters of loops are now.
    known: BTreeMap<VariableId, Expr>,
    /// What variables were declared as.
    lets: BTreeMap<VariableId, Expr>,
}

impl Single<'_> {
    /// `None` where a loop may run more than once.
    fn block(&mut self, block: &[Statement]) -> Option<Vec<Statement>> {
        let mut done = Vec::with_capacity(block.len());
        for statement in block {
            self.statement(statement, &mut done)?;
        }
        Some(done)
    }

    fn statement(&mut self, statement: &Statement, done: &mut Vec<Statement>) -> Option<()> {
        let mut now = statement.clone();
        now.for_each_expr_mut(&mut |expr| {
            *expr = std::mem::replace(expr, Expr::Index(0)).substituted(&self.known);
        });
        match now {
            Statement::Let(variable, value) => {
                if value == self.place && self.is_counter(variable) {
                    self.known.insert(variable, value);
                } else {
                    self.lets.insert(variable, value.clone());
                    done.push(Statement::Let(variable, value));
                }
            }
            Statement::Assign(variable, value) if self.known.contains_key(&variable) => {
                self.known.insert(variable, value);
            }
            Statement::While(condition, body) if self.is_within(&condition) => done.extend(self.block(&body)?),
            Statement::While(condition, body) => {
                let counter = self.counted(&condition, &body)?;
                self.known.insert(counter, self.next.clone());
            }
            Statement::For { variable, begin, end, body, .. } if begin == self.place && end == self.next => {
                done.push(Statement::Let(variable, begin));
                done.extend(self.block(&body)?);
            }
            mut other => {
                for inner in other.blocks_mut() {
                    if changed(inner).iter().any(|variable| self.known.contains_key(variable)) {
                        return None;
                    }
                    *inner = self.block(inner)?;
                }
                done.push(other);
            }
        }
        Some(())
    }

    fn is_counter(&self, variable: VariableId) -> bool {
        let declared = self.kernel.variable(variable);
        declared.mutable && declared.ty == Type::Index
    }

    fn is_within(&self, condition: &Expr) -> bool {
        *condition == self.place.clone().less(self.next.clone())
    }

    /// The counter of a loop that goes to the end of a run: that is one past the place, whose element begins it.
    fn counted(&self, condition: &Expr, body: &[Statement]) -> Option<VariableId> {
        let Expr::Binary(BinaryOperator::And, within, equal) = condition else { return None };
        let Expr::Binary(BinaryOperator::Equal, element, own) = &**equal else { return None };
        let Expr::Load(_, index) = &**element else { return None };
        let own = match &**own {
            Expr::Variable(variable) => self.lets.get(variable)?,
            other => other,
        };
        let [Statement::Assign(counter, step)] = body else { return None };
        let is_step = *step == Expr::Variable(*counter).plus(Expr::Index(1));
        let begins = self.known.get(counter) == Some(&self.place) && **index == self.place && own == &**element;
        (self.is_within(within) && is_step && begins).then_some(*counter)
    }
}
