//! `parallel(i)`, `parallel(i: balanced(A))`, `parallel(i: none)`

use super::{Around, Rule, choice, named};
use crate::level;
use crate::notation::Role;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "parallel",
    apply: |directives, directive| {
        let Some(way) = choice(directive, 0) else {
            if !directives.run_chains(directive) {
                let variables = directives.all_variables(directive);
                directives.kernel.asked.parallel.extend(variables);
            }
            return;
        };
        let variables = directives.all_variables(directive);
        match named(way) {
            Some((name, None)) if name == "none" => directives.kernel.asked.serial.extend(variables),
            Some((name, Some(operands))) if name == "balanced" && operands.len() == 1 => {
                // In a kernel of another statement the tensor does not occur.
                let Some(operand) = directives.tensor(&operands[0]) else { return };
                for variable in variables {
                    directives.kernel.asked.parallel.push(variable);
                    directives.kernel.asked.balanced.push((variable, operand, directive.span));
                }
            }
            _ => {
                let help = "leave it out, or say `balanced(A)` or `none`".to_owned();
                directives.refuse(
                    way.span,
                    "a loop does not run in parallel like this".to_owned(),
                    "no way to run",
                    help,
                );
            }
        }
    },
    neighbours: others,
};

/// Another loop, or a load-balanced partition of the stored entries of each sparse operand.
fn others(around: &Around<'_>) -> Vec<String> {
    let kernel = around.notation;
    let mut texts: Vec<String> = around.loops.iter().skip(1).map(|name| format!("parallel({name});")).collect();
    let statement = &kernel.statements[0];
    statement.value.for_each_access(&mut |access| {
        let tensor = kernel.tensor(access.tensor);
        let Some(order) = tensor.format.mode_order() else { return };
        let is_walked = tensor.format.levels.iter().any(|level| level::is_walked(level.format));
        if tensor.role != Role::Input || !is_walked || order.len() < 2 {
            return;
        }
        let names: Vec<&str> =
            order.iter().filter_map(|&mode| access.indices.get(mode)).map(|&id| kernel.variable(id)).collect();
        let mut text = String::new();
        let mut whole = names[0].to_owned();
        for (depth, name) in names.iter().enumerate().skip(1) {
            let next = format!("{}_{name}_share", names[..depth].join("_"));
            text += &format!("fuse({whole}, {name}, {next}); ");
            whole = next;
        }
        texts.push(format!("{text}positions({whole}, {}, {whole}_place); parallel({whole}_place);", tensor.name));
    });
    texts
}
