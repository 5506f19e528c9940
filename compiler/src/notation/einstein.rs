//! The Einstein rule: index variables of the right-hand side that the left-hand side lacks are summed over.
//!
//! Before: an expression in which such variables are free. After: every one is bound by an [`Expr::Reduce`]. Each additive
//! term has its own sums, as in F. Kjolstad et al., *The Tensor Algebra Compiler*, 2017; a term that is not a sum at its root is
//! summed as a whole. Variables of different terms are distinct afterwards:
//!
//! ```text
//! y(i) = b(i) - A(i, j) * x(j) + C(i, j)      →      y(i) = b(i) - sum(j)(A(i, j) * x(j)) + sum(j_1)(C(i, j_1))
//! ```

use super::{Access, BinaryOperator, Expr, IndexVariable, UnaryOperator, Variable, running};
use crate::ir::ReduceOperator;

/// Makes the sums of `value` over all variables but those of `target` explicit; `+=` sums as `=` does.
///
/// Returns the variables that occur in several terms: each but the first term's is a new one in `variables`.
pub(super) fn sum_terms(value: &mut Expr, target: &Access, variables: &mut Vec<Variable>) -> Vec<IndexVariable> {
    let mut rule = Rule { target, variables, taken: Vec::new(), split: Vec::new() };
    rule.apply(value);
    rule.split
}

/// As [`sum_terms`], but the sums over `shared` are one around all terms, so that something can choose what is summed; `None`
/// where there is but one term, or one that does not have all of `shared`.
///
/// ```text
/// y(i) = A(i, j) + B(i, j, k)   with j shared      →      y(i) = sum(j)(A(i, j) + sum(k)(B(i, j, k)))
/// ```
pub(super) fn sum_shared(
    value: &mut Expr,
    target: &Access,
    shared: &[IndexVariable],
    variables: &mut Vec<Variable>,
) -> Option<Vec<IndexVariable>> {
    let terms = terms(value);
    let has_all = |term: &&Expr| {
        let free = free_outside(term, target, variables);
        shared.iter().all(|variable| free.contains(variable))
    };
    if terms.len() < 2 || shared.is_empty() || !terms.iter().all(has_all) {
        return None;
    }
    let indices = target.indices.iter().chain(shared).copied().collect();
    let split = sum_terms(value, &Access { indices, ..target.clone() }, variables);
    reduce(value, ReduceOperator::Add, shared.to_vec());
    Some(split)
}

/// The terms that are added or subtracted.
fn terms(value: &Expr) -> Vec<&Expr> {
    match value {
        Expr::Unary(UnaryOperator::Negate, operand) => terms(operand),
        Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => {
            [terms(left), terms(right)].concat()
        }
        term => vec![term],
    }
}

/// Reduces `value` as a whole over all variables but those of `target`.
pub(super) fn reduce_whole(value: &mut Expr, target: &Access, operator: ReduceOperator, variables: &[Variable]) {
    reduce(value, operator, free_outside(value, target, variables));
}

struct Rule<'a> {
    target: &'a Access,
    variables: &'a mut Vec<Variable>,
    taken: Vec<IndexVariable>,
    split: Vec<IndexVariable>,
}

impl Rule<'_> {
    fn apply(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Unary(UnaryOperator::Negate, operand) => self.apply(operand),
            Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => {
                self.apply(left);
                self.apply(right);
            }
            term => self.sum(term),
        }
    }

    fn sum(&mut self, term: &mut Expr) {
        let free = free_outside(term, self.target, self.variables);
        let bound: Vec<IndexVariable> = free.iter().map(|&variable| self.take(variable, term)).collect();
        let renamed = |variable: IndexVariable| match free.iter().position(|&free| free == variable) {
            Some(place) => bound[place],
            None => variable,
        };
        term.rename(&mut |variable| self.renamed(variable, &renamed));
        reduce(term, ReduceOperator::Add, bound);
    }

    /// The variable, computed from others where what it is computed from was renamed.
    fn renamed(&mut self, variable: IndexVariable, renamed: &dyn Fn(IndexVariable) -> IndexVariable) -> IndexVariable {
        let Some(value) = &self.variables[variable.0].value else { return renamed(variable) };
        let other = value.map(&mut |&made_of| renamed(made_of));
        if other == *value {
            return variable;
        }
        let copy = Variable { value: Some(other), ..self.variables[variable.0].clone() };
        let found = self.variables.iter().position(|known| known.value == copy.value);
        IndexVariable(found.unwrap_or_else(|| {
            self.variables.push(copy);
            self.variables.len() - 1
        }))
    }

    /// The variable itself for the first term, a new one of the same name for others.
    fn take(&mut self, variable: IndexVariable, term: &Expr) -> IndexVariable {
        if !self.taken.contains(&variable) {
            self.taken.push(variable);
            return variable;
        }
        self.split.push(variable);
        let mut copy = self.variables[variable.0].clone();
        if let Some(access) = term.accesses().into_iter().find(|access| access.indices.contains(&variable)) {
            copy.span = access.span;
        }
        self.variables.push(copy);
        IndexVariable(self.variables.len() - 1)
    }
}

fn free_outside(expr: &Expr, target: &Access, variables: &[Variable]) -> Vec<IndexVariable> {
    let outside = running(variables, &target.indices);
    let free = expr.free_variables(&|variable| running(variables, &[variable]));
    free.into_iter().filter(|variable| !outside.contains(variable)).collect()
}

fn reduce(expr: &mut Expr, operator: ReduceOperator, variables: Vec<IndexVariable>) {
    if !variables.is_empty() {
        *expr = Expr::Reduce(operator, variables, Box::new(expr.clone()));
    }
}
