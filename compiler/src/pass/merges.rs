//! Merges that do something at coordinates which not all lists have become loops: other passes make more of the loop over what is left of
//! a list. Intersections stay for the target, which may have something better.

use crate::ir::{Kernel, Merge, Statement, UNEVEN, Walk, expanded, is_of_two_runs};
use crate::notation::Decision;

/// The kernel with its unions as loops.
pub(super) fn merges(kernel: Kernel) -> Kernel {
    expanded(kernel, &|_, merge| merge.intersection().is_some())
}

/// The operands whose common coordinates a kernel finds, with how and the reason.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let views = kernel.views();
    let mut found: Vec<Decision> = Vec::new();
    let mut see = |statement: &Statement| {
        // The pass `directories` reports merges that look up coordinates.
        let Statement::Merge(merge @ Merge { directory: None, .. }) = statement else { return };
        let tensor = |walk: &Walk| {
            let tensor = kernel.array(views.source(walk.array()?)).role.tensor()?;
            Some(kernel.tensor(tensor).name.clone())
        };
        let Some(tensors) = merge.walks.iter().map(tensor).collect::<Option<Vec<String>>>() else { return };
        let who = match &tensors[..] {
            [one, rest @ ..] if rest.iter().all(|other| other == one) => format!("fibers of {one}"),
            [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
            [] => return,
        };
        found.push(match is_of_two_runs(kernel, merge) {
            true => Decision {
                what: format!("coordinates that {who} have in common are looked for a block at a time"),
                why: "nothing happens where only one has an entry, and which is next can't be guessed".to_owned(),
            },
            false => Decision {
                what: format!("coordinates that {who} have in common are found in one merge"),
                why: format!(
                    "nothing happens where one has no entry; where the longest has more than {UNEVEN} times as many as the shortest, they are searched"
                ),
            },
        });
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}
