//! `copy(A(j, i))`, `copy(A: none)`

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
        let is_none = choice(directive, 0).and_then(named).is_some_and(|(way, of)| way == "none" && of.is_none());
        if order.is_none() != is_none || choice(directive, 0).is_some() != is_none {
            let help = "say in which order: `copy(A(j, i))`; or that there is none: `copy(A: none)`".to_owned();
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
        directives.kernel.asked.copies.push(AskedCopy { tensor, order, span: directive.span });
    },
    neighbours: none,
};

/// Without it.
fn none(around: &Around<'_>) -> Vec<String> {
    let of = |directive: &Directive| Some(format!("copy({}: none);", named(directive.arguments.first()?)?.0));
    around.chosen("copy").filter_map(of).collect()
}
