//! The directives of a schedule, one file each.
//!
//! A [`Rule`] says how a directive is applied: it checks what it says against the kernel, refuses what can't be had with its place and
//! the reason, and notes the rest in [`Asked`](crate::concrete::Asked), or changes the kernel's variables at once. What a
//! directive is called and what its arguments are stands in
//! [`topics::directives`](crate::diagnostics::topics::directives), which README.md and `spc explain` show.

mod register_tile;
mod simd;

use super::directives::Directives;
use super::{IndexVariable, Kernel, Run, Statement, level_variables};
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::format::LevelFormat;
use crate::ir::{ElementType, ReduceOperator};
use crate::remark::{Remark, What, Why};
use crate::syntax::Directive;

/// How a directive is applied.
pub(super) struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Applies it.
    pub apply: fn(&mut Directives<'_>, &Directive),
    /// Why the scheduled loops can't be as it asks, if so.
    pub check: fn(&Kernel, &Directive) -> Option<Diagnostic>,
}

/// Every directive with a file of its own.
pub(super) const RULES: &[Rule] = &[simd::RULE, register_tile::RULE];

/// The rule of a name.
pub(super) fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// What is asked of single loops, for `spc explain`.
pub(super) fn remarks(kernel: &Kernel) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (variable, choice) in &kernel.asked.choices {
        let name = kernel.variable(*variable).to_owned();
        let simd = choice.simd.map(|simd| What::Simd(name.clone(), simd));
        let tile = choice.tile.map(|tile| What::Tiled(name.clone(), tile));
        remarks.extend([simd, tile].into_iter().flatten().map(|what| Remark::new(what, Why::Asked)));
    }
    remarks
}

/// A refusal of a directive.
fn refusal(span: Span, message: String, label: &str, help: &str) -> Diagnostic {
    Diagnostic::new(codes::SCHEDULE_REFUSED, span, message).label(label.to_owned()).help(help.to_owned())
}

/// The innermost loops over a variable that reduce into one value: by which operator, of which elements, and the levels they walk.
fn reductions(kernel: &Kernel, variable: IndexVariable) -> Vec<(ReduceOperator, ElementType, Vec<LevelFormat>)> {
    let mut found = Vec::new();
    see_reductions(kernel, variable, &kernel.body, &mut found);
    found
}

fn see_reductions(
    kernel: &Kernel,
    of: IndexVariable,
    statement: &Statement,
    found: &mut Vec<(ReduceOperator, ElementType, Vec<LevelFormat>)>,
) {
    match statement {
        Statement::Empty | Statement::Assign(_) => {}
        Statement::Forall { variable, run, body } => {
            if kernel.asked.original(*variable) == of
                && *run == Run::Serial
                && let Statement::Assign(assign) = &**body
                && let Some(operator) = assign.operator
            {
                let walked = super::cases::operands(kernel, *variable, body);
                let levels = walked.iter().filter_map(|access| {
                    let format = &kernel.tensor(access.tensor).format;
                    format.mode_order()?;
                    let level = level_variables(access, format).iter().position(|other| other == variable)?;
                    Some(format.levels[level].format)
                });
                found.push((operator, kernel.tensor(assign.target.tensor).element, levels.collect()));
            }
            see_reductions(kernel, of, body, found);
        }
        Statement::Where { consumer, producer, .. } => {
            see_reductions(kernel, of, producer, found);
            see_reductions(kernel, of, consumer, found);
        }
        Statement::Sequence(statements) => {
            statements.iter().for_each(|inner| see_reductions(kernel, of, inner, found));
        }
    }
}

/// Whether a loop over a variable runs in vector lanes.
fn has_vector_loop(kernel: &Kernel, of: IndexVariable) -> bool {
    fn has(kernel: &Kernel, of: IndexVariable, statement: &Statement) -> bool {
        match statement {
            Statement::Empty | Statement::Assign(_) => false,
            Statement::Forall { variable, run, body } => {
                kernel.asked.original(*variable) == of && *run == Run::Vector || has(kernel, of, body)
            }
            Statement::Where { consumer, producer, .. } => has(kernel, of, producer) || has(kernel, of, consumer),
            Statement::Sequence(statements) => statements.iter().any(|inner| has(kernel, of, inner)),
        }
    }
    has(kernel, of, &kernel.body)
}
