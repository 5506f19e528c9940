//! `assemble(C: list)`

use super::{Around, Rule, choice, named};
use crate::concrete::{AskedAssembly, TensorKind, Way};
use crate::syntax::{Directive, ExprKind};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "assemble",
    apply: |directives, directive| {
        let Some(ExprKind::Name(name)) = directive.arguments.first().map(|of| &of.kind) else { return };
        // In a kernel of another statement the tensor does not occur.
        let Some(tensor) = directives.tensor(&name.name) else { return };
        let way = choice(directive, 0).and_then(|way| match named(way)? {
            (name, None) if name == "dense" => Some(Way::Dense),
            (name, None) if name == "shared" => Some(Way::Shared),
            (name, None) if name == "append" => Some(Way::Append),
            (name, None) if name == "list" => Some(Way::List),
            (name, over) if name == "workspace" => Some(Way::Workspace(over.unwrap_or_default())),
            _ => None,
        });
        let Some(way) = way else {
            let help = "say `dense`, `shared`, `append`, `workspace(j)` or `list`".to_owned();
            let message = format!("how `{}` is assembled is not said", name.name);
            return directives.refuse(directive.span, message, "no way to assemble a result", help);
        };
        if !matches!(directives.kernel.tensors[tensor.0].kind, TensorKind::Output(_)) {
            // An operand of this statement may be the result of another.
            return;
        }
        directives.kernel.asked.assemblies.push(AskedAssembly { tensor, way, span: directive.span });
    },
    neighbours: others,
};

/// Other ways to make a result that is appended, or shares index arrays.
fn others(around: &Around<'_>) -> Vec<String> {
    let of = |directive: &Directive| {
        let (Some(name), Some(way)) = (directive.arguments.first(), choice(directive, 0)) else { return Vec::new() };
        let way = way.to_string();
        let ways = ["append", "workspace", "list"].into_iter().filter(|other| !way.starts_with(other));
        match way == "dense" {
            true => Vec::new(),
            false => ways.map(|other| format!("assemble({name}: {other});")).collect(),
        }
    };
    around.chosen("assemble").flat_map(of).collect()
}
