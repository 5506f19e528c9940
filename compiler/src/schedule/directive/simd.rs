//! `simd(j: lanes)`: how the loop over `j`, which reduces, is vectorized.

use super::{Rule, reductions, refusal};
use crate::concrete::Kernel;
use crate::diagnostics::{Diagnostic, words};
use crate::format::LevelKind;
use crate::format::level;
use crate::ir::Simd;
use crate::schedule::directives::Directives;
use crate::syntax::{Directive, Expr, ExprKind};

pub(super) const RULE: Rule = Rule { name: "simd", apply, check };

fn chosen(choice: &Expr) -> Option<Simd> {
    let ExprKind::Name(name) = &choice.kind else { return None };
    Simd::ALL.into_iter().find(|simd| simd.name() == name.name)
}

fn apply(directives: &mut Directives<'_>, directive: &Directive) {
    for (place, choice) in &directive.choices {
        let Some(simd) = chosen(choice) else {
            let help = format!("the choices are {}", words::list(Simd::ALL.into_iter().map(Simd::name)));
            return directives.refuse(choice.span, "there is no such way to vectorize".to_owned(), "no choice", help);
        };
        let Some(argument) = directive.arguments.get(*place) else { continue };
        for variable in directives.variables(argument) {
            directives.kernel.asked.choice_mut(variable).simd = Some(simd);
        }
    }
}

fn check(kernel: &Kernel, directive: &Directive) -> Option<Diagnostic> {
    for &(variable, choice) in &kernel.asked.choices {
        let Some(simd) = choice.simd.filter(|simd| *simd != Simd::None) else { continue };
        let name = kernel.variable(variable);
        let loops = reductions(kernel, variable);
        if loops.is_empty() {
            return Some(refusal(
                directive.span,
                format!("the loop over `{name}` can't be vectorized as a reduction"),
                "is no innermost loop that reduces into one value",
                "reorder it to the inside, or leave the choice to the compiler",
            ));
        }
        for (operator, element, levels) in loops {
            if !operator.folds(element) && !(simd == Simd::Lanes && element.is_rounded()) {
                return Some(refusal(
                    directive.span,
                    format!("`{}` of `{}` has no vector lanes", operator.name(), element.name()),
                    "can't be vectorized",
                    "ask for `none`, or for another element type",
                ));
            }
            let fits = match (simd, &levels[..]) {
                (Simd::Segmented, [format]) => level::is_contiguous(*format) && format.unique,
                (Simd::SideBySide, [format]) => format.kind == LevelKind::Sliced,
                (Simd::Segmented | Simd::SideBySide, _) => false,
                (Simd::None | Simd::Lanes, levels) => levels.len() <= 1,
            };
            if !fits {
                let (label, help) = match simd {
                    Simd::Segmented => (
                        "walks no runs that lie one behind the other",
                        "rows of `csr` and fibers of `csf` lie so; ask for `lanes`",
                    ),
                    Simd::SideBySide => {
                        ("walks no runs that lie side by side", "rows of `sell` lie so; ask for `lanes`")
                    }
                    _ => ("walks several operands", "ask for `none`"),
                };
                return Some(refusal(
                    directive.span,
                    format!("the loop over `{name}` can't be `{}`", simd.name()),
                    label,
                    help,
                ));
            }
        }
    }
    None
}
