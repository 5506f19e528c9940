//! Subscripts of an einsum: `ij,j->i`.

use super::{Node, Statement};

/// The indices of each operand and of the result.
struct Subscripts {
    operands: Vec<Vec<String>>,
    result: Vec<String>,
}

/// A statement of a text that is nothing but subscripts, with names made up.
pub(super) fn alone(text: &str) -> Option<Statement> {
    let text = text.trim().trim_end_matches(';').trim_matches(['\'', '"']);
    let is_one = text.contains("->") || text.contains(',');
    let letters = text.chars().all(|letter| letter.is_ascii_alphabetic() || matches!(letter, ',' | ' ' | '-' | '>'));
    if !is_one || !letters {
        return None;
    }
    let subscripts = subscripts(text)?;
    // Without a result, and with letters that stand alone, a text is rather a list of names.
    if !text.contains("->") && subscripts.operands.iter().all(|operand| operand.len() < 2) {
        return None;
    }
    let names = names(&subscripts);
    let operands = names.iter().cloned().map(Node::Name).collect();
    let value = product(&subscripts, operands)?;
    Some(Statement { target: target(&subscripts, &names), operator: "=", value, mask: None, formats: Vec::new() })
}

/// The value of an einsum of these operands, and the indices of the result.
pub(super) fn of_operands(text: &str, operands: Vec<Node>) -> Option<(Vec<String>, Node)> {
    let subscripts = subscripts(text)?;
    let value = product(&subscripts, operands)?;
    Some((subscripts.result, value))
}

/// `indices` behind a name, which without any stands alone.
pub(super) fn indexed(name: &str, indices: &[String]) -> Node {
    match indices {
        [] => Node::Name(name.to_owned()),
        _ => Node::Apply(name.to_owned(), indices.iter().cloned().map(Node::Name).collect()),
    }
}

fn subscripts(text: &str) -> Option<Subscripts> {
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (text, None),
    };
    let parts: Vec<&str> = left.split(',').chain(right).map(str::trim).collect();
    // Where blanks part the letters of one operand, words are indices.
    let are_words = parts.iter().any(|part| part.split_whitespace().count() > 1);
    let indices = |part: &str| -> Vec<String> {
        match are_words {
            true => part.split_whitespace().map(str::to_owned).collect(),
            false => part.chars().filter(|letter| !letter.is_whitespace()).map(String::from).collect(),
        }
    };
    let is_word = |index: &String| index.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let operands: Vec<Vec<String>> = left.split(',').map(indices).collect();
    let all: Vec<&String> = operands.iter().flatten().collect();
    let result = match right {
        Some(right) => indices(right),
        None => {
            let mut once: Vec<String> = all
                .iter()
                .filter(|index| all.iter().filter(|other| other == index).count() == 1)
                .map(|index| (*index).clone())
                .collect();
            once.sort();
            once
        }
    };
    let is_distinct = (1..result.len()).all(|place| !result[..place].contains(&result[place]));
    let is_known = result.iter().all(|index| all.contains(&index));
    let is_sound = is_distinct && is_known && !all.is_empty() && all.iter().all(|index| is_word(index));
    is_sound.then_some(Subscripts { operands, result })
}

fn product(subscripts: &Subscripts, operands: Vec<Node>) -> Option<Node> {
    if operands.len() != subscripts.operands.len() {
        return None;
    }
    let factors = operands.into_iter().zip(&subscripts.operands).map(|(operand, indices)| match operand {
        Node::Name(name) => Some(indexed(&name, indices)),
        _ => None,
    });
    let factors: Vec<Node> = factors.collect::<Option<_>>()?;
    factors.into_iter().reduce(|product, factor| Node::Binary("*", Box::new(product), Box::new(factor)))
}

/// Names for the operands that are none of the indices.
fn names(subscripts: &Subscripts) -> Vec<String> {
    let indices: Vec<&String> = subscripts.operands.iter().flatten().collect();
    let mut taken: Vec<String> = Vec::new();
    let of = |indices_of: &Vec<String>| {
        let pool: &[&str] = match indices_of.len() {
            0 => &["alpha", "beta", "gamma"],
            1 => &["x", "z", "w", "u", "v", "p", "q"],
            _ => &["A", "B", "C", "D", "E", "F", "G", "H", "M", "N", "P", "Q"],
        };
        let numbered = (0..).map(|number| format!("X{number}"));
        let mut free = pool.iter().map(|name| (*name).to_owned()).chain(numbered);
        let name = free.find(|name| !taken.contains(name) && !indices.contains(&name)).unwrap_or_default();
        taken.push(name.clone());
        name
    };
    subscripts.operands.iter().map(of).collect()
}

fn target(subscripts: &Subscripts, names: &[String]) -> Node {
    let name = result_name(subscripts.result.len(), |name| {
        names.iter().chain(subscripts.operands.iter().flatten()).any(|other| other == name)
    });
    indexed(&name, &subscripts.result)
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
