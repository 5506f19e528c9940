//! What is too much for one loop nest, as several statements.
//!
//! Loops that merge have a case for each set of operands that may have an entry. Before: a statement has any number of them.
//! After: parts of its value that have some of them are temporaries. With at most two sparse operands in a statement:
//!
//! ```text
//! y(i) = a(i) + b(i) + c(i);      →      y_part(i) = a(i) + b(i);
//!                                        y(i) = y_part(i) + c(i);
//! ```
//!
//! A sum inside of a sum into a sparse result, whose terms come together in a workspace, is made first as well:
//!
//! ```text
//! C(i, j) = sum(k)(A(i, k) * sum(l)(B(k, l) * D(l, j)));      →      C_part(k, j) = sum(l)(B(k, l) * D(l, j));
//!                                                                    C(i, j) = sum(k)(A(i, k) * C_part(k, j));
//! ```
//!
//! What has a mask stays whole where it divides, as elsewhere its value may not be defined, and where the mask chooses terms of a sum.

use super::part;
use crate::notation::{Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel};
use crate::remark::{Remark, Why};

/// The kernel with at most so many sparse operands in a statement, as far as its values have such parts, and without sums that
/// a sparse result would form again and again; and the reasons.
pub(super) fn narrow(kernel: Kernel, most: usize) -> (Kernel, Vec<Remark>) {
    part::cut_off(kernel, |kernel, statement| {
        let total = operands(kernel, &statement.value);
        let mut parts = Vec::new();
        while let Some(made) = inner_sum(kernel, statement) {
            parts.push((made, Why::FormedAgain));
        }
        while let Some(made) = some_operands(kernel, statement, most) {
            parts.push((made, Why::TooManyCases(total)));
        }
        parts
    })
}

/// The number of sparse operands of an expression.
pub(crate) fn operands(kernel: &Kernel, value: &Expr) -> usize {
    let mut distinct: Vec<&Access> = Vec::new();
    for access in value.accesses().into_iter().filter(|access| kernel.is_sparse(access)) {
        if !distinct.iter().any(|seen| seen.same_place(access)) {
            distinct.push(access);
        }
    }
    distinct.len()
}

/// Takes a part out of a statement that has too many operands; gives the statement that makes it.
fn some_operands(kernel: &mut Kernel, statement: &mut Assignment, most: usize) -> Option<Assignment> {
    if operands(kernel, &statement.value) <= most || !is_known_without_mask(kernel, statement) {
        return None;
    }
    let target = statement.target.clone();
    pair(kernel, &target, &mut statement.value, most).or_else(|| {
        let place = largest(kernel, &mut statement.value, most)?;
        Some(part::take(kernel, &target, place))
    })
}

/// Takes two factors out of a product that is summed, with the sum over what only they have: of a product of many matrices, that of two of them.
fn pair(kernel: &mut Kernel, target: &Access, value: &mut Expr, most: usize) -> Option<Assignment> {
    if operands(kernel, value) <= most {
        return None;
    }
    let Expr::Reduce(plus, variables, body) = value else {
        return value.children_mut().into_iter().find_map(|child| pair(kernel, target, child, most));
    };
    let times = plus.distributes()?;
    let mut factors = Vec::new();
    collect_factors(body, times, &mut factors);
    let free: Vec<Vec<IndexVariable>> =
        factors.iter().map(|factor| factor.free_variables(&|variable| kernel.running(&[variable]))).collect();
    let others_have = |one: usize, other: usize, variable: &IndexVariable| {
        let others = free.iter().enumerate().filter(|(place, _)| *place != one && *place != other);
        others.into_iter().any(|(_, free)| free.contains(variable))
    };
    let own = |one: usize, other: usize| -> Vec<IndexVariable> {
        let shared = variables.iter().filter(|variable| free[one].contains(variable) && free[other].contains(variable));
        shared.filter(|variable| !others_have(one, other, variable)).copied().collect()
    };
    let is_sparse = |place: &usize| operands(kernel, factors[*place]) > 0;
    let pairs = (0..factors.len()).flat_map(|one| (one + 1..factors.len()).map(move |other| (one, other)));
    let (one, other, own) = pairs
        .filter(|(one, other)| is_sparse(one) && is_sparse(other))
        .map(|(one, other)| (one, other, own(one, other)))
        .find(|(.., own)| !own.is_empty())?;
    let product = |left, right| Expr::Binary(times, Box::new(left), Box::new(right));
    let mut part = Expr::Reduce(*plus, own.clone(), Box::new(product(factors[one].clone(), factors[other].clone())));
    let mut rest: Vec<Expr> = factors.into_iter().cloned().collect();
    let made = part::take(kernel, target, &mut part);
    rest[one] = part;
    rest.remove(other);
    let whole = rest.into_iter().reduce(product)?;
    variables.retain(|variable| !own.contains(variable));
    if variables.is_empty() {
        *value = whole
    } else {
        **body = whole
    }
    Some(made)
}

fn collect_factors<'e>(expr: &'e Expr, times: BinaryOperator, factors: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(operator, left, right) if *operator == times => {
            collect_factors(left, times, factors);
            collect_factors(right, times, factors);
        }
        _ => factors.push(expr),
    }
}

/// Whether parts of a value may be formed where a mask has no entry too, which is then not asked for.
fn is_known_without_mask(kernel: &Kernel, statement: &Assignment) -> bool {
    fn divides(value: &Expr) -> bool {
        let is_quotient = matches!(value, Expr::Binary(BinaryOperator::Divide | BinaryOperator::Remainder, ..));
        is_quotient || value.children().into_iter().any(divides)
    }
    let Some(mask) = &statement.mask else { return true };
    let own = kernel.running(&statement.target.indices);
    let chooses_terms = kernel.running(&mask.indices).iter().any(|variable| !own.contains(variable));
    !chooses_terms && !divides(&statement.value)
}

/// The part with the most operands that are not too many, on the way to where most of them are.
fn largest<'e>(kernel: &Kernel, value: &'e mut Expr, most: usize) -> Option<&'e mut Expr> {
    let child = value.children_mut().into_iter().max_by_key(|child| operands(kernel, child))?;
    match operands(kernel, child) {
        0 | 1 => None,
        count if count <= most => Some(child),
        _ => largest(kernel, child, most),
    }
}

/// Takes a sum out of a sum into a sparse result, where the loops around it are more than its own indices; gives the statement
/// that makes it.
fn inner_sum(kernel: &mut Kernel, statement: &mut Assignment) -> Option<Assignment> {
    let target = kernel.tensor(statement.target.tensor);
    if statement.mask.is_some() || !target.is_sparse() {
        return None;
    }
    let mut around = kernel.running(&statement.target.indices);
    let place = repeated(kernel, &mut statement.value, &mut around, false)?;
    Some(part::take(kernel, &statement.target, place))
}

/// The first reduction inside of another that depends on fewer variables than there are loops `around` it.
fn repeated<'e>(
    kernel: &Kernel,
    value: &'e mut Expr,
    around: &mut Vec<IndexVariable>,
    is_inside: bool,
) -> Option<&'e mut Expr> {
    if is_inside && matches!(value, Expr::Reduce(..)) {
        let own = value.free_variables(&|variable| kernel.running(&[variable]));
        let is_operand = value.accesses().into_iter().any(|access| kernel.is_sparse(access));
        if is_operand && around.iter().any(|variable| !own.contains(variable)) {
            return Some(value);
        }
    }
    let outside = around.len();
    let is_inside = match value {
        Expr::Reduce(_, variables, _) => {
            around.extend(variables.iter());
            true
        }
        _ => is_inside,
    };
    let found = value.children_mut().into_iter().find_map(|child| repeated(kernel, child, around, is_inside));
    around.truncate(outside);
    found
}
