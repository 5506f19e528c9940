//! Places that each add to one element, in the order of these elements: a warp takes a share of places, each of its lanes one at a
//! time, and what neighbouring lanes have of one element is summed by shuffles before it is added (Liu et al., A unified
//! optimization approach for sparse tensor operations on GPUs, 2017, section 4.2).
//!
//! ```text
//! let i = crd[p]                     let i = crd[p]
//! y[i] += x[p] * c[k]                element = i
//!                                    value = x[p] * c[k]
//! ```

use super::plan::Segments;
use super::rewrite::{allocated, loaded, replace_statements};
use crate::ir::{ArrayElement, ArrayId, Kernel, Statement, Type};

/// The body of a place that says what it adds to which element of an array, where it adds once, and writes nothing else.
pub(super) fn distribute(
    kernel: &mut Kernel,
    body: &[Statement],
    array: ArrayId,
) -> Option<(Vec<Statement>, Segments)> {
    let ArrayElement::Value(element) = kernel.array(array).element else { return None };
    if !adds_once(body, array) || loaded(body).contains(&array) {
        return None;
    }
    let mut operator = None;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Reduce(_, _, by, _) = statement {
                operator = Some(*by);
            }
        });
    });
    let operator = operator?;
    operator.identity(element)?;
    let place = kernel.declare_variable("element", Type::Index, true);
    let value = kernel.declare_variable("value", Type::of(element), true);
    let body = replace_statements(body.to_vec(), &mut |statement| match statement {
        Statement::Reduce(other, index, _, added) if other == array => {
            vec![Statement::Assign(place, index), Statement::Assign(value, added)]
        }
        other => vec![other],
    });
    Some((body, Segments { array, operator, element: place, value }))
}

/// Whether all that a body does to memory is that it reduces into an array once, not in a loop.
fn adds_once(body: &[Statement], array: ArrayId) -> bool {
    let mut count = 0;
    let mut is_simple = allocated(body).is_empty();
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| match statement {
            Statement::Reduce(other, ..) if *other == array => count += 1,
            Statement::For { body, .. } | Statement::While(_, body) => is_simple &= !super::rewrite::writes(body),
            Statement::Comment(_)
            | Statement::Let(..)
            | Statement::Assign(..)
            | Statement::Update(..)
            | Statement::If(..)
            | Statement::View { mutable: false, .. } => {}
            _ => is_simple = false,
        });
    });
    count == 1 && is_simple
}
