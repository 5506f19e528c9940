//! Loops that do something only where two operands both have an entry are told so: the places where they meet can be found in
//! blocks, without a branch that can't be predicted for each coordinate that only one of them has.
//!
//! ```text
//! let pa = a_pos[0]
//! let pb = b_pos[0]
//! while pa < pa_end && pb < pb_end
//!     let a_coordinate = a_crd[pa]
//!     let b_coordinate = b_crd[pb]
//!     let i = minimum(a_coordinate, b_coordinate)
//!     let in_a = a_coordinate == i
//!     let in_b = b_coordinate == i
//!     if in_a && in_b
//!         …
//!     if in_a: pa = pa + 1
//!     if in_b: pb = pb + 1
//!
//! intersect pa in a_crd[a_pos[0]..pa_end], pb in b_crd[b_pos[0]..pb_end]
//!     let i = a_crd[pa]
//!     …
//! ```

use super::replacing;
use crate::ir::{BinaryOperator, Expr, Kernel, Statement, VariableId, Walk};
use crate::notation::Decision;

/// The kernel with its merges of two operands whose common coordinates alone matter as intersections.
pub(super) fn intersections(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, rest, done| {
        let intersection = Merge::of(kernel, &statement).and_then(|merge| merge.as_intersection(kernel, rest, done));
        done.push(intersection.unwrap_or(statement));
    })
}

/// The operands whose common coordinates a kernel finds in blocks, with the reason.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let views = kernel.views();
    let mut found: Vec<Decision> = Vec::new();
    let mut see = |statement: &Statement| {
        // What is looked up in a directory is said there.
        let Statement::Intersect { walks, directory: None, .. } = statement else { return };
        let tensors = walks.each_ref().map(|walk| {
            kernel.array(views.source(walk.array)).role.tensor().map(|tensor| kernel.tensor(tensor).name.clone())
        });
        let [Some(one), Some(other)] = tensors else { return };
        let who = if one == other { format!("fibers of {one}") } else { format!("{one} and {other}") };
        found.push(Decision {
            what: format!("coordinates that {who} have in common are looked for a block at a time"),
            why: "nothing happens where only one has an entry, and which is next can't be guessed".to_owned(),
        });
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// `while one < end && other < end: …`, of which only coordinates of both matter.
struct Merge<'a> {
    walks: [Cursor<'a>; 2],
    /// The coordinate that both have.
    coordinate: VariableId,
    body: &'a [Statement],
}

/// What walks an operand.
struct Cursor<'a> {
    position: VariableId,
    end: &'a Expr,
    /// What it loads in each iteration, and the name of that.
    stored: &'a Expr,
    here: VariableId,
    /// Whether the operand has an entry at the coordinate.
    present: VariableId,
}

impl<'a> Merge<'a> {
    fn of(kernel: &Kernel, statement: &'a Statement) -> Option<Merge<'a>> {
        let Statement::While(condition, body) = statement else { return None };
        let (one, other) = operands(condition, BinaryOperator::And)?;
        let (one, other) = (operands(one, BinaryOperator::Less)?, operands(other, BinaryOperator::Less)?);
        let [
            Statement::Let(here, stored),
            Statement::Let(other_here, other_stored),
            Statement::Let(coordinate, least),
            Statement::Let(present, is_here),
            Statement::Let(other_present, is_other_here),
            Statement::If(branches, otherwise),
            step,
            other_step,
        ] = &body[..]
        else {
            return None;
        };
        let cursor = |(position, end): (&Expr, &'a Expr), here: &VariableId, stored, present: &VariableId| {
            let Expr::Variable(position) = position else { return None };
            let is_fixed = match end {
                Expr::Index(_) => true,
                Expr::Variable(end) => !kernel.variable(*end).mutable,
                _ => false,
            };
            is_fixed.then_some(Cursor { position: *position, end, stored, here: *here, present: *present })
        };
        let walks = [cursor(one, here, stored, present)?, cursor(other, other_here, other_stored, other_present)?];
        let [one, other] = &walks;
        let is_at = |here: VariableId| Expr::Variable(here).equals(Expr::Variable(*coordinate));
        let is_merge = *least
            == Expr::binary(BinaryOperator::Minimum, Expr::Variable(one.here), Expr::Variable(other.here))
            && (is_here, is_other_here) == (&is_at(one.here), &is_at(other.here))
            && one.is_step(step)
            && other.is_step(other_step);
        let [(condition, body)] = &branches[..] else { return None };
        let is_of_both = *condition == Expr::Variable(one.present).and(Expr::Variable(other.present));
        let is_mentioned = |cursor: &Cursor<'_>| {
            let uses = |variable| body.iter().any(|statement| statement.uses(variable));
            uses(cursor.here) || uses(cursor.present)
        };
        (is_merge && is_of_both && otherwise.is_empty() && !walks.iter().any(is_mentioned)).then_some(Merge {
            walks,
            coordinate: *coordinate,
            body,
        })
    }

    /// As one statement, given what follows the loop, and what comes before it: from there the cursors' declarations are taken.
    fn as_intersection(
        &self,
        kernel: &mut Kernel,
        behind: &[Statement],
        before: &mut Vec<Statement>,
    ) -> Option<Statement> {
        let begins = self.walks.each_ref().map(|cursor| cursor.begin(before, behind));
        let [Some(begin), Some(other_begin)] = begins else { return None };
        let arrays = self.walks.each_ref().map(|cursor| match cursor.stored {
            Expr::Load(array, place) if **place == Expr::Variable(cursor.position) && kernel.is_of_input(*array) => {
                Some(*array)
            }
            _ => None,
        });
        let [Some(array), Some(other_array)] = arrays else { return None };
        before.retain(|statement| match statement {
            Statement::Let(variable, _) => self.walks.iter().all(|cursor| cursor.position != *variable),
            _ => true,
        });
        let walk =
            |cursor: &Cursor<'_>, array, begin| Walk { place: cursor.position, array, begin, end: cursor.end.clone() };
        let [one, other] = &self.walks;
        let walks = [walk(one, array, begin), walk(other, other_array, other_begin)];
        self.walks.iter().for_each(|cursor| kernel.variables[cursor.position.index()].mutable = false);
        let is_used = self.body.iter().any(|statement| statement.uses(self.coordinate));
        let coordinate = is_used.then(|| Statement::Let(self.coordinate, one.stored.clone()));
        let body = coordinate.into_iter().chain(self.body.iter().cloned()).collect();
        Some(Statement::Intersect { walks, directory: None, body })
    }
}

impl Cursor<'_> {
    /// `if present: position = position + 1`
    fn is_step(&self, statement: &Statement) -> bool {
        let Statement::If(branches, otherwise) = statement else { return false };
        let next = Expr::Variable(self.position).plus(Expr::Index(1));
        let step = Statement::Assign(self.position, next);
        otherwise.is_empty() && *branches == [(Expr::Variable(self.present), vec![step])]
    }

    /// Where it begins, if nothing happens between its declaration and the loop, and it is not read behind the loop.
    fn begin(&self, before: &[Statement], behind: &[Statement]) -> Option<Expr> {
        let is_asked = behind.iter().any(|statement| statement.uses(self.position));
        let mut declarations =
            before.iter().rev().take_while(|statement| matches!(statement, Statement::Let(..) | Statement::Comment(_)));
        let begin = declarations.find_map(|statement| match statement {
            Statement::Let(variable, begin) if *variable == self.position => Some(begin.clone()),
            _ => None,
        });
        begin.filter(|_| !is_asked)
    }
}

/// What stands beside an operator.
fn operands(expr: &Expr, wanted: BinaryOperator) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Binary(operator, one, other) if *operator == wanted => Some((one, other)),
        _ => None,
    }
}
