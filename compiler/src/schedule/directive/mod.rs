//! The directives of a schedule, one file each.
//!
//! A [`Rule`] says how a directive is applied: it checks what it says against the kernel, refuses what can't be had with its place and
//! the reason, and notes the rest in [`Asked`](crate::concrete::Asked), or changes the kernel's variables at once. What a
//! directive is called and what its arguments are stands in
//! [`topics::directives`](crate::diagnostics::topics::directives), which README.md and `spc explain` show.

mod balance;
mod output;

use super::directives::Directives;
use crate::concrete::{IndexVariable, Kernel, Statement};
use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes, suggest, words};
use crate::syntax::{Directive, Expr, ExprKind};
pub(in crate::schedule) use balance::no_entries;

/// How a directive is applied.
pub(super) struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Applies it.
    pub apply: fn(&mut Directives<'_>, &Directive),
}

/// Every directive with a file of its own.
pub(super) const RULES: &[Rule] = &[balance::BALANCE, output::OUTPUT];

/// The rule of a name.
pub(super) fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// The first argument of a directive, and what is said of it behind a colon.
fn choice(directive: &Directive) -> Option<(&Expr, &Expr)> {
    let said = directive.choices.iter().find(|(place, _)| *place == 0);
    directive.arguments.first().zip(said.map(|(_, said)| said))
}

/// The one of some choices that an expression names, or a problem.
fn names_of<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    said: &Expr,
    found: &mut Diagnostics,
) -> Option<T> {
    let own = match &said.kind {
        ExprKind::Name(own) => own.name.as_str(),
        _ => "",
    };
    let chosen = all.into_iter().find(|choice| name(*choice) == own);
    if chosen.is_none() {
        let names = || all.into_iter().map(name);
        let message = "there is no such choice";
        let problem = Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, said.span, message).label("not a choice");
        found.push(match suggest::similar(own, names()) {
            Some(close) => problem.help(format!("did you mean `{close}`?")),
            None => problem.help(format!("the choices are {}", words::list(names()))),
        });
    }
    chosen
}

/// Calls `visit` on each parallel loop: its variable and body.
fn each_parallel(statement: &Statement, visit: &mut dyn FnMut(IndexVariable, &Statement)) {
    match statement {
        Statement::Empty | Statement::Assign(_) => {}
        Statement::Forall { variable, body, .. } if output::is_parallel(statement) => visit(*variable, body),
        Statement::Forall { body, .. } => each_parallel(body, visit),
        Statement::Where { consumer, producer, .. } => {
            each_parallel(producer, visit);
            each_parallel(consumer, visit);
        }
        Statement::Sequence(statements) => statements.iter().for_each(|inner| each_parallel(inner, visit)),
    }
}

/// Refuses what no parallel loop keeps to.
pub(super) fn check(kernel: &Kernel, found: &mut Diagnostics) {
    balance::check(kernel, found);
    output::check(kernel, found);
}
