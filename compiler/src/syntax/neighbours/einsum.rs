//! Einsums as other languages call them: `np.einsum('ij,j->i', A, x)`.

use super::Node;
use crate::syntax::einsum::{Einsum, is_einsum};

/// The statement of an einsum string that stands between quotation marks or before a semicolon.
pub(super) fn alone(text: &str) -> Option<String> {
    let string = text.trim().trim_end_matches(';').trim_matches(['\'', '"']);
    let statement = Einsum::parse(string).and_then(|einsum| einsum.statement(&[])).ok();
    let is_list = !string.contains("->") && string.split(',').all(|operand| operand.trim().len() < 2);
    statement.filter(|_| is_einsum(string) && !is_list).map(|statement| statement.to_string())
}

/// The value of an einsum of these operands, and the indices of the result.
pub(super) fn of_operands(text: &str, operands: Vec<Node>) -> Option<(Vec<String>, Node)> {
    let (indices, result) = Einsum::parse(text).ok()?.indices();
    if operands.len() != indices.len() {
        return None;
    }
    let factors = operands.into_iter().zip(&indices).map(|(operand, indices)| match operand {
        Node::Name(name) => Some(indexed(&name, indices)),
        _ => None,
    });
    let factors: Vec<Node> = factors.collect::<Option<_>>()?;
    let value = factors.into_iter().reduce(|product, factor| Node::Binary("*", Box::new(product), Box::new(factor)))?;
    Some((result, value))
}

/// `indices` behind a name, which without any stands alone.
pub(super) fn indexed(name: &str, indices: &[String]) -> Node {
    match indices {
        [] => Node::Name(name.to_owned()),
        _ => Node::Apply(name.to_owned(), indices.iter().cloned().map(Node::Name).collect()),
    }
}

/// A name for a result of this order that is not taken.
pub(super) fn result_name(order: usize, is_taken: impl Fn(&str) -> bool) -> String {
    let wish = match order {
        0 => "s",
        1 => "y",
        _ => "Y",
    };
    let numbered = (1..).map(|number| format!("{wish}{number}"));
    std::iter::once(wish.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}
