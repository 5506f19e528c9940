//! `simd(j: lanes)`: how the loop over `j`, which reduces, is vectorized.

use super::{Around, Refusal, Rule, choice, names_of, reductions};
use crate::concrete::{IndexVariable, Kernel};
use crate::format::Children;
use crate::ir::Simd;
use crate::level;
use crate::schedule::directives::Directives;
use crate::syntax::Directive;

/// The rule.
pub(super) const RULE: Rule = Rule { name: "simd", apply, neighbours };

fn apply(directives: &mut Directives<'_>, directive: &Directive) {
    let (Some(argument), Some(said)) = (directive.arguments.first(), choice(directive, 0)) else { return };
    let Some(simd) = names_of(Simd::ALL, Simd::name, said, directives.found) else { return };
    let asked = directives.variables(argument).into_iter().map(|variable| (variable, simd, directive.span));
    directives.kernel.asked.simd.extend(asked);
}

/// Loops whose terms are accumulated, one after the other.
fn neighbours(around: &Around<'_>) -> Vec<String> {
    let reduced = around.chosen("accumulate").filter_map(|directive| directive.arguments.first());
    reduced.map(|variable| format!("simd({variable}: none);")).collect()
}

/// Why no loop over a variable can be vectorized so, if none can.
pub(super) fn refusal(kernel: &Kernel, variable: IndexVariable, simd: Simd) -> Option<Refusal> {
    let name = kernel.variable(variable);
    let mut refused = None;
    for (operator, element, levels) in reductions(kernel, variable) {
        if simd != Simd::None && !operator.folds(element) && !(simd == Simd::Lanes && element.is_rounded()) {
            refused = Some(Refusal {
                message: format!("`{}` of `{}` has no vector lanes", operator.name(), element.name()),
                label: "can't be vectorized",
                help: "ask for `none`, or for another element type".to_owned(),
            });
            continue;
        }
        let (fits, label, help) = match (simd, &levels[..]) {
            (Simd::None | Simd::Lanes, _) => return None,
            (Simd::Segmented, walked) => (
                matches!(walked, [format] if level::is_contiguous(*format) && format.unique()),
                "walks no runs that lie one behind the other",
                "rows of `csr` and fibers of `csf` lie so; leave the choice to the compiler",
            ),
            (Simd::SideBySide, walked) => (
                matches!(walked, [format] if format.kind.children == Children::Slices),
                "walks no runs that lie side by side",
                "rows of `sell` lie so; leave the choice to the compiler",
            ),
        };
        if fits {
            return None;
        }
        let message = format!("the loop over `{name}` can't be `{}`", simd.name());
        refused = Some(Refusal { message, label, help: help.to_owned() });
    }
    Some(refused.unwrap_or_else(|| Refusal {
        message: format!("the loop over `{name}` can't be vectorized as a reduction"),
        label: "is no innermost loop that reduces into one value",
        help: "reorder it to the inside, or leave the choice to the compiler".to_owned(),
    }))
}
