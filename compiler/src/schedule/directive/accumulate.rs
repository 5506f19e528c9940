//! `accumulate(k: t)`, `accumulate(k: none)`

use super::{Around, Rule, choice, named};
use crate::concrete::AskedSum;
use crate::syntax::{Directive, ExprKind};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "accumulate",
    apply: |directives, directive| {
        let Some(ExprKind::Name(loop_)) = directive.arguments.first().map(|of| &of.kind) else { return };
        let Some((name, _)) = choice(directive, 0).and_then(named) else {
            let help = "name the accumulator, `accumulate(k: t)`, or say that there is none: `accumulate(k: none)`";
            let message = format!("what `{}` is accumulated in is not said", loop_.name);
            return directives.refuse(directive.span, message, "no accumulator", help.to_owned());
        };
        if directives.kernel.tensors.iter().any(|tensor| tensor.name == name) {
            let help = "give the accumulator a name of its own".to_owned();
            return directives.refuse(directive.span, format!("there is a `{name}` already"), "is taken", help);
        }
        let name = (name != "none").then_some(name);
        let variable = loop_.name.clone();
        directives.kernel.asked.sums.push(AskedSum { variable, name, span: directive.span });
    },
    neighbours: none,
};

/// Without it.
fn none(around: &Around<'_>) -> Vec<String> {
    let of = |directive: &Directive| Some(format!("accumulate({}: none);", directive.arguments.first()?));
    around.chosen("accumulate").filter(|directive| !directive.choices.is_empty()).filter_map(of).collect()
}
