//! `output(y: private)`: how the chunks of the parallel loop around it meet in a result.
//!
//! ```text
//! parallel for all i: y(i) = …        owned: each i has its own element
//!                                     segments: a chunk writes in order, and what neighbours share is combined
//!                                     private: each thread has a copy of y, and the copies are combined
//! ```

use super::{Around, Rule, choice, names_of};
use crate::concrete::{Kernel, Output, TensorKind};
use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes};
use crate::schedule::directives::Directives;
use crate::syntax::{Directive, ExprKind};

/// The directive.
pub(super) const RULE: Rule = Rule { name: "output", apply, neighbours };

fn apply(directives: &mut Directives<'_>, directive: &Directive) {
    let (Some(argument), Some(said)) = (directive.arguments.first(), choice(directive, 0)) else { return };
    let Some(output) = names_of(Output::ALL, Output::name, said, directives.found) else { return };
    let ExprKind::Name(name) = &argument.kind else {
        return directives.refuse(argument.span, "no result".to_owned(), "not the name of a result", help());
    };
    let is_it =
        |tensor: &crate::concrete::Tensor| tensor.name == name.name && matches!(tensor.kind, TensorKind::Output(_));
    match directives.kernel.tensors.iter().position(is_it) {
        Some(tensor) => {
            directives.kernel.asked.outputs.push((crate::concrete::TensorId(tensor), output, said.span));
        }
        None => {
            let message = format!("there is no result `{}`", name.name);
            directives.refuse(argument.span, message, "is not what the kernel computes", help());
        }
    }
}

/// Each way to meet in a result; those that are not legal are left out.
fn neighbours(around: &Around<'_>) -> Vec<String> {
    let results = around.notation.statements.iter().map(|statement| around.notation.tensor(statement.target.tensor));
    results.flat_map(|result| Output::ALL.map(|way| format!("output({}: {});", result.name, way.name()))).collect()
}

fn help() -> String {
    "say it of what the kernel assigns: `output(y: private)`".to_owned()
}

/// Refuses what no parallel loop keeps to.
pub(super) fn check(kernel: &Kernel, found: &mut Diagnostics) {
    for (tensor, output, span) in &kernel.asked.outputs {
        let mut is_written = false;
        super::each_parallel(&kernel.body, &mut |_, body| is_written |= body.writes(*tensor));
        if !is_written {
            let name = &kernel.tensor(*tensor).name;
            let message = format!("no parallel loop writes `{name}` as {}", output.name());
            let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, *span, message);
            found.push(
                problem.label("there are no chunks that could meet").help("`spc explain` says why no loop is parallel"),
            );
        }
    }
}
