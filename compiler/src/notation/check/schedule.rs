//! `schedule` blocks: the names and the arguments of their directives.

use super::uses;
use crate::diagnostics::topics::directives::{self, Argument};
use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes, suggest, words};
use crate::notation::Tensor;
use crate::syntax::{Directive, Expr, ExprKind, Schedule, Statement};

/// Reports unknown directives and wrong arguments.
pub(super) fn check(schedule: &Schedule, tensors: &[Tensor], body: &[Statement], found: &mut Diagnostics) {
    let names = body.iter().flat_map(uses::index_names).map(|name| name.name.as_str());
    let mut scope = Scope { tensors, variables: names.collect() };
    for directive in &schedule.directives {
        match directives::ALL.iter().find(|described| described.name == directive.name.name) {
            Some(described) => scope.check(directive, described.arguments, described.example, found),
            None => found.push(unknown_directive(directive)),
        }
    }
}

struct Scope<'a> {
    tensors: &'a [Tensor],
    variables: Vec<&'a str>,
}

impl<'a> Scope<'a> {
    fn check(&mut self, directive: &'a Directive, wanted: &[Argument], example: &str, found: &mut Diagnostics) {
        let open = wanted.last().is_some_and(|last| matches!(last, Argument::Olds | Argument::Pairs));
        let fixed = wanted.len() - usize::from(open);
        let given = directive.arguments.len();
        if given < fixed || given > fixed && !open {
            let least = if open { "at least " } else { "" };
            let message = format!("`{}` takes {least}{}", directive.name.name, words::count(fixed, "argument"));
            found.push(
                Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, directive.span, message)
                    .label(format!("{} here", words::count(given, "argument")))
                    .help(format!("for example `{example}`")),
            );
            return;
        }
        if wanted.last() == Some(&Argument::Pairs) && !(given - fixed).is_multiple_of(2) {
            let message = format!("`{}` takes pairs of an index variable and a new name", directive.name.name);
            found.push(
                Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, directive.arguments[given - 1].span, message)
                    .label("is not followed by a new name")
                    .help(format!("for example `{example}`")),
            );
            return;
        }
        for (place, argument) in directive.arguments.iter().enumerate() {
            let kind = match wanted.get(place).or(wanted.last()) {
                Some(Argument::Pairs) if (place - fixed).is_multiple_of(2) => Argument::Old,
                Some(Argument::Pairs) => Argument::New,
                kind => kind.copied().unwrap_or(Argument::Expression),
            };
            let choice = directive.choices.iter().find(|(of, _)| *of == place);
            let problem = match (kind, choice) {
                (Argument::Chosen | Argument::ChosenOld, None) => Some(
                    Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, argument.span, "a `:` and a choice must follow")
                        .label("says nothing yet"),
                ),
                (Argument::ChosenOld, Some(_)) => self.argument(argument, Argument::Old),
                (Argument::Chosen, Some(_)) | (_, None) => self.argument(argument, kind),
                (_, Some((_, value))) => Some(
                    Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, value.span, "there is nothing to choose here")
                        .label("must be left out"),
                ),
            };
            if let Some(problem) = problem {
                found.push(problem.help(format!("for example `{example}`")));
            }
        }
    }

    fn argument(&mut self, argument: &'a Expr, kind: Argument) -> Option<Diagnostic> {
        let wrong = |message: String, label: &str| {
            Some(Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, argument.span, message).label(label))
        };
        match (kind, &argument.kind) {
            (Argument::Expression | Argument::Chosen, _) | (Argument::Number, ExprKind::Number { .. }) => None,
            (Argument::Number, _) => wrong("a number must stand here".to_owned(), "not a number"),
            (Argument::New, ExprKind::Name(name)) if self.variables.contains(&name.name.as_str()) => {
                wrong(format!("there is an index variable `{}` already", name.name), "must be a new name")
            }
            (Argument::New, ExprKind::Name(name)) => {
                self.variables.push(&name.name);
                None
            }
            (Argument::Tensor, ExprKind::Name(name)) if self.tensors.iter().any(|tensor| tensor.name == name.name) => {
                None
            }
            (Argument::Tensor, _) => wrong("a tensor must stand here".to_owned(), "not a tensor"),
            (Argument::Old | Argument::Olds, ExprKind::Name(name)) if self.variables.contains(&name.name.as_str()) => {
                None
            }
            (_, ExprKind::Name(name)) => {
                let unknown = wrong(format!("there is no index variable `{}`", name.name), "not an index variable");
                match suggest::similar(&name.name, self.variables.iter().copied()) {
                    Some(close) => unknown.map(|unknown| unknown.help(format!("did you mean `{close}`?"))),
                    None => unknown,
                }
            }
            _ => wrong("the name of an index variable must stand here".to_owned(), "not a name"),
        }
    }
}

fn unknown_directive(directive: &Directive) -> Diagnostic {
    let name = &directive.name.name;
    let names = || directives::ALL.iter().map(|described| described.name);
    let unknown =
        Diagnostic::new(codes::UNKNOWN_DIRECTIVE, directive.name.span, format!("there is no directive `{name}`"))
            .label("not a directive");
    match suggest::similar(name, names()) {
        Some(close) => unknown.help(format!("did you mean `{close}`?")),
        None => unknown.help(format!("the directives are {}", words::list(names()))),
    }
}
