//! `walk(A, i0, j0)`, `walk(A: none)`

use super::{Around, Rule, choice, named};
use crate::concrete::AskedWalk;
use crate::syntax::{Directive, ExprKind};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "walk",
    apply: |directives, directive| {
        let (mut tensors, mut names) = (Vec::new(), Vec::new());
        for argument in &directive.arguments {
            let ExprKind::Name(name) = &argument.kind else { return };
            match directives.tensor(&name.name) {
                Some(tensor) => tensors.push(tensor),
                None => names.push(name.name.clone()),
            }
        }
        let names = match choice(directive, 0) {
            None => Some(names),
            Some(way) if named(way).is_some_and(|(name, of)| name == "none" && of.is_none()) => None,
            Some(way) => {
                let help = "leave it out, or say `none`".to_owned();
                let message = "an operand is not walked like this".to_owned();
                return directives.refuse(way.span, message, "no way to walk", help);
            }
        };
        if !tensors.is_empty() {
            directives.kernel.asked.walks.push(AskedWalk { tensors, names, span: directive.span });
        }
    },
    neighbours: none,
};

/// Without it.
fn none(around: &Around<'_>) -> Vec<String> {
    let of = |directive: &Directive| Some(format!("walk({}: none);", directive.arguments.first()?));
    around.chosen("walk").filter(|directive| directive.choices.is_empty()).filter_map(of).collect()
}
