//! Programs with another input of the same pattern as one that they have.

use crate::case::Case;
use spc_compiler::notation;
use spc_compiler::notation::Kernel;
use spc_compiler::syntax;

/// The case with an input beside a sparse one, which has its entries at the same places and comes in where that is read, by this
/// operator: without a schedule, and with one that says so. `None` where no sparse input is read outside of masks.
pub fn doubled(case: &Case, operator: &str) -> Option<[Case; 2]> {
    let kernel = kernel(case)?;
    let sparse = kernel.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input && tensor.is_sparse());
    let (name, read) = sparse.into_iter().find_map(|tensor| {
        let name = tensor.name.clone();
        read_of(&case.text, &name).map(|read| (name, read))
    })?;
    let beside = format!("{name}_beside");
    let other = read.replacen(&name, &beside, 1);
    let text = case.text.replacen(&read, &format!("({read} {operator} {other})"), 1);
    let declaration = declaration_of(&case.text, &name)?;
    let text = text.replacen(&declaration, &format!("{declaration}, {beside}{}", &declaration[name.len()..]), 1);
    let mut plain = Case { text, ..case.clone() };
    plain.patterns.insert(beside.clone(), name.clone());
    let said = format!("{}schedule {{ same_pattern({name}, {beside}); }}\n", plain.text);
    Some([plain.clone(), Case { text: said, ..plain }])
}

fn kernel(case: &Case) -> Option<Kernel> {
    let program = syntax::parse_program(&case.text).ok()?;
    notation::check(&program).ok()?.pop()
}

/// Where the body first reads a tensor as an operand: its name and its indices.
fn read_of(text: &str, name: &str) -> Option<String> {
    let body = text.split_once('{')?.1;
    let begin = format!("{name}(");
    let (mut from, mut found) = (0, None);
    while let Some(at) = body[from..].find(&begin) {
        let at = from + at;
        let is_name = !body[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_mask = body[..at].ends_with("where ");
        if is_name && !is_mask && found.is_none() {
            found = closed(&body[at..]).map(str::to_owned);
        }
        // What occurs in a mask too would be replaced there.
        if is_name && is_mask {
            return None;
        }
        from = at + begin.len();
    }
    found
}

/// A name and what is in parentheses behind it.
fn closed(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (place, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(&text[..=place]),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `X: f64 csr`, as the parameter is declared.
fn declaration_of(text: &str, name: &str) -> Option<String> {
    let parameters = text.split_once('(')?.1;
    let begin = format!("{name}: ");
    let at = parameters.find(&begin)?;
    let mut depth = 0;
    let end = parameters[at..].char_indices().find_map(|(place, character)| {
        match character {
            '(' | '[' => depth += 1,
            ']' => depth -= 1,
            ')' if depth > 0 => depth -= 1,
            ')' | ',' if depth == 0 => return Some(place),
            _ => {}
        }
        None
    })?;
    Some(parameters[at..at + end].to_owned())
}
