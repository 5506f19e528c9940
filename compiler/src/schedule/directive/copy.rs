//! `copy(A(j, i))`, `copy(A(j, i): permutation)`, `copy(A: none)`

use super::{Around, Rule, choice, named};
use crate::concrete::{AskedCopy, TensorKind};
use crate::syntax::Directive;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "copy",
    apply: |directives, directive| {
        let Some(of) = directive.arguments.first() else { return };
        let Some((name, order)) = named(of) else {
            let help = "for example `copy(A(j, i))`".to_owned();
            return directives.refuse(
                of.span,
                "a tensor and its indices must stand here".to_owned(),
                "no access",
                help,
            );
        };
        let is_word =
            |word: &str| choice(directive, 0).and_then(named).is_some_and(|(way, of)| way == word && of.is_none());
        let (is_none, is_permutation) = (is_word("none"), is_word("permutation"));
        if order.is_none() != is_none || choice(directive, 0).is_some() != (is_none || is_permutation) {
            let help = "say in which order: `copy(A(j, i))`, or `copy(A(j, i): permutation)`; or that there is none: `copy(A: none)`"
                .to_owned();
            return directives.refuse(of.span, format!("which copy of `{name}` is not said"), "no order", help);
        }
        // In a kernel of another statement the tensor does not occur.
        let Some(tensor) = directives.tensor(&name) else { return };
        let declared = &directives.kernel.tensors[tensor.0];
        if declared.kind != TensorKind::Input {
            let help = "copies are made of operands before the loops run".to_owned();
            return directives.refuse(of.span, format!("`{name}` is no operand"), "can't be copied", help);
        }
        if order.as_ref().is_some_and(|order| order.len() != declared.format.order) {
            let help = "name each index of the operand once, outermost level first".to_owned();
            let message = format!("`{name}` has another number of indices");
            return directives.refuse(of.span, message, "no order of its levels", help);
        }
        directives.kernel.asked.copies.push(AskedCopy { tensor, order, is_permutation, span: directive.span });
    },
    neighbours,
};

fn neighbours(around: &Around<'_>) -> Vec<String> {
    [none(around), permutations(around)].concat()
}

/// Operands that list their entries, through an order of these by another of the result's indices.
fn permutations(around: &Around<'_>) -> Vec<String> {
    let notation = around.notation;
    let mut found = Vec::new();
    for statement in &notation.statements {
        let mut accesses = statement.value.accesses();
        accesses.retain(|access| notation.tensor(access.tensor).format.lists_entries());
        for access in accesses {
            let tensor = notation.tensor(access.tensor);
            let stored = tensor.format.mode_order().unwrap_or_default();
            let levels: Vec<_> = stored.iter().map(|&mode| access.indices[mode]).collect();
            let mut of_result = levels.iter().filter(|variable| statement.target.indices.contains(variable));
            if let (Some(&outer), None) = (of_result.next(), of_result.next())
                && outer != levels[0]
            {
                let order = std::iter::once(outer).chain(levels.iter().copied().filter(|&variable| variable != outer));
                let names: Vec<&str> = order.map(|variable| notation.variables[variable.0].name.as_str()).collect();
                let text = format!("copy({}({}): permutation);", tensor.name, names.join(", "));
                if !found.contains(&text) {
                    found.push(text);
                }
            }
        }
    }
    found
}

/// Without it.
fn none(around: &Around<'_>) -> Vec<String> {
    let of = |directive: &Directive| Some(format!("copy({}: none);", named(directive.arguments.first()?)?.0));
    around.chosen("copy").filter_map(of).collect()
}
