//! Loops over the stored entries of a symmetric operand: see [`updates`](crate::notation::Updates).

use super::state::Scheduler;
use super::{Access, Assign, Expr, IndexVariable, Statement, TensorId};

impl Scheduler<'_> {
    /// Puts the weighted value of an entry in a variable, in the loop over entries, where the updates choose it each for themselves.
    pub(super) fn weigh_once(&mut self, statement: &mut Statement, operand: TensorId, entries: Option<IndexVariable>) {
        match statement {
            Statement::Forall { variable, body, .. } if Some(*variable) == entries => {
                let mut weighted = Vec::new();
                body.for_each_assign(&mut |assign| choices(&assign.value, operand, &mut weighted));
                for value in weighted {
                    let element = self.kernel.element_of(&value);
                    let workspace = self.workspace(&[], element, element.zero());
                    let place = Access::new(workspace, Vec::new(), Default::default());
                    let consumer = body.with_values(&|other| with_place(other, &value, &place));
                    let target = place.clone();
                    let producer = Statement::Assign(Assign { target, operator: None, value, masks: Vec::new() });
                    let (consumer, producer) = (Box::new(consumer), Box::new(producer));
                    **body = Statement::Where { workspace, consumer, producer };
                }
            }
            Statement::Forall { body, .. } => self.weigh_once(body, operand, entries),
            Statement::Where { consumer, producer, .. } => {
                self.weigh_once(consumer, operand, entries);
                self.weigh_once(producer, operand, entries);
            }
            Statement::Sequence(statements) => {
                statements.iter_mut().for_each(|inner| self.weigh_once(inner, operand, entries));
            }
            Statement::Empty | Statement::Assign(_) => {}
        }
    }
}

/// The values of an entry that conditions choose, each once.
fn choices(value: &Expr, operand: TensorId, found: &mut Vec<Expr>) {
    let is_own = |value: &Expr| {
        let reads = value.accesses();
        !reads.is_empty() && reads.iter().all(|access| access.tensor == operand)
    };
    match value {
        Expr::Select(..) if is_own(value) => {
            if !found.contains(value) {
                found.push(value.clone());
            }
        }
        other => other.children().into_iter().for_each(|child| choices(child, operand, found)),
    }
}

fn with_place(value: &Expr, from: &Expr, to: &Access) -> Expr {
    match value == from {
        true => Expr::Access(to.clone()),
        false => value.map_children(&|child| with_place(child, from, to)),
    }
}
