//! `balance(i: nonzeros)`: what the chunks of a parallel loop have alike.
//!
//! ```text
//! parallel for all i                  rows: a chunk has whole values of i, of equal work together
//!     for all j: …                    nonzeros: a chunk has as many stored entries as others, and may begin inside of a row
//! ```
//!
//! Without it a call takes entries where chunks of rows turn out uneven (Merrill and Garland, Merge-based parallel sparse matrix-vector
//! multiplication, 2016).

use super::{Around, Rule, choice, names_of};
use crate::concrete::{Balance, IndexVariable, Kernel};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::schedule::directives::Directives;
use crate::syntax::Directive;

/// The directive.
pub(super) const RULE: Rule = Rule { name: "balance", apply, neighbours };

fn apply(directives: &mut Directives<'_>, directive: &Directive) {
    let (Some(argument), Some(said)) = (directive.arguments.first(), choice(directive, 0)) else { return };
    let Some(balance) = names_of(Balance::ALL, Balance::name, said, directives.found) else { return };
    let variables = directives.variables(argument);
    if variables.is_empty() {
        let help = "say it of the index variable of a parallel loop: `balance(i: rows)`".to_owned();
        return directives.refuse(argument.span, "no index variable".to_owned(), "not an index variable", help);
    }
    let asked = variables.into_iter().map(|variable| (variable, balance, said.span));
    directives.kernel.asked.balances.extend(asked);
}

/// Chunks of the outermost loop, balanced by the one or the other: the default is to weigh them in each call.
fn neighbours(around: &Around<'_>) -> Vec<String> {
    let of = |index: &String| Balance::ALL.map(|balance| format!("balance({index}: {});", balance.name()));
    around.loops.first().into_iter().flat_map(of).collect()
}

/// What is said where a loop has no partition of entries.
pub(in crate::schedule) fn no_entries(index: &str, span: Span) -> Diagnostic {
    let message = format!("chunks of the loop over `{index}` can't have as many entries as each other");
    Diagnostic::new(codes::SCHEDULE_REFUSED, span, message)
        .label("no operand's stored entries stand for it")
        .help(
            "they do where one operand alone is walked, in the order of its levels, and what follows a sum distributes over it; \
             ask for `rows`",
        )
}

/// Refuses what no parallel loop keeps to.
pub(super) fn check(kernel: &Kernel, found: &mut Diagnostics) {
    for (variable, balance, span) in &kernel.asked.balances {
        let is_same = |other: IndexVariable| other == *variable || kernel.asked.original(other) == *variable;
        let mut is_cut = false;
        super::each_parallel(&kernel.body, &mut |own, _| {
            let share = kernel.variables[own.0].share.as_ref();
            is_cut |= is_same(own);
            is_cut |= share.is_some_and(|share| kernel.shared_variables(share).first().copied().is_some_and(is_same));
        });
        if !is_cut {
            let name = kernel.variable(*variable);
            let message = format!("the loop over `{name}` has no chunks that could be balanced by {}", balance.name());
            let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, *span, message);
            found.push(problem.label("it does not run in parallel").help(format!("ask for `parallel({name})` too")));
        }
    }
}
