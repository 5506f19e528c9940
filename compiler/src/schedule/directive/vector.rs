//! `vector(r)`

use super::{Around, Rule};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "vector",
    apply: |directives, directive| {
        if !directives.run_chains(directive) {
            let variables = directives.all_variables(directive);
            directives.kernel.asked.vector.extend(variables);
        }
    },
    neighbours: strips,
};

/// How long the strips are that dense rows are cut into.
const STRIPS: [usize; 4] = [16, 32, 64, 128];

/// Rows in strips: a strip of all rows after the other, which keeps the strips of a gathered operand in the cache; or all strips of a
/// row.
fn strips(around: &Around<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    for vector in &around.vectors {
        let others: Vec<&str> = around.loops.iter().map(String::as_str).filter(|name| name != vector).collect();
        let Some((first, rest)) = others.split_first() else { continue };
        let (block, inside) = (format!("{vector}_block"), format!("{vector}_in"));
        let known = (around.extent)(vector);
        for by in STRIPS.into_iter().filter(|&by| known.map_or(by == 32, |extent| extent > by)) {
            let split = format!("split({vector}, {block}, {inside}, {by});");
            let order = |parts: &[&[&str]]| format!("{split} reorder({});", parts.concat().join(", "));
            texts.push(order(&[&[first, &block], rest, &[&inside]]));
            texts.push(order(&[&[&block], &others, &[&inside]]) + &format!(" parallel({first});"));
        }
    }
    texts
}
