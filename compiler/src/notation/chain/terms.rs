//! Reductions of sums as sums of reductions, where the terms have different loops.
//!
//! Before: a sum over all places, as one of the terms has a value at all of them. After: that of what has few entries is over these, and
//! the rest is planned by itself. With `A: csr` and the rest dense:
//!
//! ```text
//! y(i) = sum(j)((A(i, j) + u(i) * v(j)) * x(j));   →   y(i) = sum(j)(A(i, j) * x(j)) + sum(j_1)(u(i) * v(j_1) * x(j_1));
//! ```
//!
//! What changes nothing is left out before: `x + 0`, `1 * x`, `-(-x)`.

use super::Renaming;
use crate::ir::{BinaryOperator, ReduceOperator, UnaryOperator};
use crate::notation::simplify::{known, plain};
use crate::notation::{Access, Assignment, Expr, IndexVariable, Kernel, Variable, running};
use crate::syntax::Directive;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Sums of more terms stay whole.
const MOST_TERMS: usize = 8;

/// The kernel with such reductions cut; unchanged under `plan(as_written)`.
pub(crate) fn in_terms(kernel: &Kernel) -> Cow<'_, Kernel> {
    let mut cut = Cow::Borrowed(kernel);
    if kernel.schedule.iter().flat_map(|schedule| &schedule.directives).any(Directive::is_as_written) {
        return cut;
    }
    for (place, statement) in kernel.statements.iter().enumerate().filter(|(_, statement)| !statement.is_recurrent()) {
        let mut value = plain(&statement.value);
        let mut variables = cut.variables.clone();
        // A mask may choose terms of the sum.
        if statement.mask.iter().flat_map(|mask| &mask.indices).all(|index| statement.target.indices.contains(index)) {
            Terms { kernel, variables: &mut variables }.cut(&mut value);
        }
        if value != statement.value {
            let cut = cut.to_mut();
            cut.variables = variables;
            cut.statements[place] = Assignment { value, ..statement.clone() };
        }
    }
    if let Cow::Owned(cut) = &mut cut {
        cut.renumber_variables();
    }
    cut
}

struct Terms<'a> {
    kernel: &'a Kernel,
    variables: &'a mut Vec<Variable>,
}

impl Terms<'_> {
    fn cut(&mut self, expr: &mut Expr) {
        expr.children_mut().into_iter().for_each(|child| self.cut(child));
        let Expr::Reduce(ReduceOperator::Add, variables, body) = expr else { return };
        // Where all of it has entries alone, a product is one term: its factors may be formed once for all.
        let terms = self.terms(body, !self.vanishes(body));
        let has_all = |(term, _): &(Expr, bool)| {
            let free = term.free_variables(&|variable| running(self.variables, &[variable]));
            variables.iter().all(|variable| free.contains(variable))
        };
        if !(2..=MOST_TERMS).contains(&terms.len())
            || !terms.iter().all(has_all)
            || !self.differ(body, variables, &terms)
        {
            return;
        }
        let variables = std::mem::take(variables);
        let made_of_bound = |variable: &usize| {
            running(self.variables, &[IndexVariable(*variable)]).iter().any(|of| variables.contains(of))
        };
        let bound: Vec<IndexVariable> = (0..self.variables.len()).filter(made_of_bound).map(IndexVariable).collect();
        let mut sums = terms.into_iter().enumerate().map(|(number, (mut term, is_negative))| {
            let mut own = variables.clone();
            if number > 0 {
                let mut renaming = Renaming { pairs: Vec::new() };
                let mut new = |variable: IndexVariable| renaming.get(variable, self.variables);
                own = own.into_iter().map(&mut new).collect();
                term.rename(&mut |variable| if bound.contains(&variable) { new(variable) } else { variable });
            }
            (Expr::Reduce(ReduceOperator::Add, own, Box::new(term)), is_negative)
        });
        let (first, is_negative) = sums.next().expect("there are terms");
        let first = if is_negative { Expr::Unary(UnaryOperator::Negate, Box::new(first)) } else { first };
        *expr = sums.fold(first, |sum, (next, is_negative)| {
            let operator = if is_negative { BinaryOperator::Subtract } else { BinaryOperator::Add };
            Expr::Binary(operator, Box::new(sum), Box::new(next))
        });
    }

    /// The terms of a sum, and whether each is subtracted. A product has those of one factor, each by the others. Of two that are mixed it stays
    /// whole: differences that are nearly equal would be lost in squares.
    fn terms(&self, expr: &Expr, cuts_products: bool) -> Vec<(Expr, bool)> {
        let terms = |expr: &Expr| self.terms(expr, cuts_products);
        let with = |terms: Vec<(Expr, bool)>, make: &dyn Fn(Box<Expr>) -> Expr| {
            terms.into_iter().map(|(term, is_negative)| (make(Box::new(term)), is_negative)).collect()
        };
        match expr {
            Expr::Unary(UnaryOperator::Negate, operand) => {
                terms(operand).into_iter().map(|(term, is_negative)| (term, !is_negative)).collect()
            }
            Expr::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Subtract), left, right) => {
                let is_negative = *operator == BinaryOperator::Subtract;
                let right = terms(right).into_iter().map(|(term, is)| (term, is != is_negative));
                terms(left).into_iter().chain(right).collect()
            }
            Expr::Binary(BinaryOperator::Multiply, left, right) if cuts_products => {
                let (lefts, rights) = (terms(left), terms(right));
                if rights.len() == 1 || self.are_mixed(&lefts) && !self.are_mixed(&rights) {
                    with(lefts, &|term| Expr::Binary(BinaryOperator::Multiply, term, right.clone()))
                } else if lefts.len() == 1 || self.are_mixed(&rights) && !self.are_mixed(&lefts) {
                    with(rights, &|term| Expr::Binary(BinaryOperator::Multiply, left.clone(), term))
                } else {
                    vec![(expr.clone(), false)]
                }
            }
            Expr::Binary(BinaryOperator::Divide, left, right) if self.kernel.element_of(expr).is_rounded() => {
                with(terms(left), &|term| Expr::Binary(BinaryOperator::Divide, term, right.clone()))
            }
            _ => vec![(expr.clone(), false)],
        }
    }

    /// Whether some terms have entries alone, and others values everywhere.
    fn are_mixed(&self, terms: &[(Expr, bool)]) -> bool {
        let count = terms.iter().filter(|(term, _)| self.vanishes(term)).count();
        (1..terms.len()).contains(&count)
    }

    /// Whether the terms of a reduction of `body` have different loops, or loops that follow from a plan of each.
    fn differ(&self, body: &Expr, variables: &[IndexVariable], terms: &[(Expr, bool)]) -> bool {
        if !self.vanishes(body) {
            return terms.iter().any(|(term, _)| self.vanishes(term));
        }
        // Of three factors, two may be combined first where not all have all of what is reduced.
        let has_choices = |term: &Expr| {
            let of = |access: &Access| -> BTreeSet<usize> { access.indices.iter().map(|index| index.0).collect() };
            let accesses = term.accesses();
            let factors: BTreeSet<BTreeSet<usize>> = accesses.iter().map(|access| of(access)).collect();
            let lacks = |access: &&&Access| variables.iter().any(|variable| !access.indices.contains(variable));
            factors.len() > 2 && accesses.iter().filter(lacks).count() > 1
        };
        terms.iter().any(|(term, _)| has_choices(term))
    }

    /// Whether an expression is zero where none of its sparse operands has an entry.
    fn vanishes(&self, expr: &Expr) -> bool {
        let missing = |access: &Access| self.kernel.tensor(access.tensor).missing();
        known(expr, &missing).is_some_and(|known| known.is_zero())
    }
}
