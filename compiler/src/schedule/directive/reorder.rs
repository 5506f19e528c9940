//! `reorder(i, k, j)`

use super::{Around, Rule};
use crate::concrete::IndexVariable;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "reorder",
    apply: |directives, directive| {
        let lists: Vec<Vec<IndexVariable>> =
            directive.arguments.iter().map(|argument| directives.reordered(argument)).collect();
        for (argument, pair) in directive.arguments.iter().zip(lists.windows(2)) {
            if directives.put_around(argument, &pair[1]) {
                continue;
            }
            let edges = pair[0].iter().flat_map(|&outer| pair[1].iter().map(move |&inner| (outer, inner)));
            directives.kernel.asked.order.extend(edges.filter(|(outer, inner)| outer != inner));
        }
    },
    neighbours: orders,
};

/// Loops of more variables are not put into every order.
const MOST_REORDERED: usize = 4;

/// All other orders of the loops.
fn orders(around: &Around<'_>) -> Vec<String> {
    if around.loops.len() > MOST_REORDERED {
        return Vec::new();
    }
    let orders = permutations(&around.loops);
    orders.into_iter().skip(1).map(|order| format!("reorder({});", order.join(", "))).collect()
}

/// All orders, the given one first.
fn permutations(names: &[String]) -> Vec<Vec<String>> {
    if names.is_empty() {
        return vec![Vec::new()];
    }
    let first = |place: usize| {
        let mut rest = names.to_vec();
        let first = rest.remove(place);
        permutations(&rest).into_iter().map(move |rest| [vec![first.clone()], rest].concat())
    };
    (0..names.len()).flat_map(first).collect()
}
