//! `schedule` blocks: the names and the arguments of their directives.

use super::uses;
use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes, suggest, words};
use crate::notation::Tensor;
use crate::syntax::{Directive, Expr, ExprKind, Ident, Schedule, Statement};
use crate::topics::directives::{self, Argument};

/// Reports unknown directives and wrong arguments.
pub(super) fn check(schedule: &Schedule, tensors: &[Tensor], body: &[Statement], found: &mut Diagnostics) {
    let names = body.iter().flat_map(uses::index_names).map(|name| name.name.as_str());
    let mut scope = Scope { tensors, variables: names.collect(), own: Vec::new(), scope: None };
    for directive in &schedule.directives {
        scope.scope = directive.scope.as_ref().map(|scope| scope.name.as_str());
        found.extend(directive.scope.as_ref().and_then(|scope| unknown_scope(scope, tensors)));
        match directives::ALL.iter().find(|described| described.name == directive.name.name) {
            Some(described) => scope.check(directive, described.arguments, described.example, found),
            None => found.push(unknown_directive(directive)),
        }
    }
}

struct Scope<'a> {
    tensors: &'a [Tensor],
    variables: Vec<&'a str>,
    /// The names that the directives of each scope add, which others don't have.
    own: Vec<(&'a str, &'a str)>,
    /// The scope of the directive that is checked.
    scope: Option<&'a str>,
}

impl<'a> Scope<'a> {
    fn check(&mut self, directive: &'a Directive, wanted: &[Argument], example: &str, found: &mut Diagnostics) {
        let open = wanted
            .last()
            .is_some_and(|last| matches!(last, Argument::Olds | Argument::Pairs | Argument::TensorsOrNews));
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
                (
                    Argument::Chosen | Argument::OldOr | Argument::TensorOr | Argument::MadeOr | Argument::ExpressionOr,
                    Some(_),
                )
                | (_, None) => self.argument(argument, kind),
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

    /// Whether there is an index variable of a name.
    fn has(&self, name: &str) -> bool {
        let is_own = |&(scope, own): &(&str, &str)| Some(scope) == self.scope && own == name;
        self.variables.contains(&name) || self.own.iter().any(is_own)
    }

    /// Whether there is an index variable of a name, or that of one with a number, which another term has.
    fn is_known(&self, name: &str) -> bool {
        let base = |name: &'_ str| {
            let (base, number) = name.rsplit_once('_')?;
            number.parse::<u32>().is_ok().then_some(base.len())
        };
        let mut length = Some(name.len());
        while let Some(own) = length {
            if self.has(&name[..own]) {
                return true;
            }
            length = base(&name[..own]);
        }
        false
    }

    fn argument(&mut self, argument: &'a Expr, kind: Argument) -> Option<Diagnostic> {
        let wrong = |message: String, label: &str| {
            Some(Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, argument.span, message).label(label))
        };
        match (kind, &argument.kind) {
            (Argument::Expression | Argument::ExpressionOr | Argument::Chosen, _)
            | (Argument::Number, ExprKind::Number { .. }) => None,
            (Argument::Number, _) => wrong("a number must stand here".to_owned(), "not a number"),
            (Argument::New, ExprKind::Name(name)) if self.has(&name.name) => {
                wrong(format!("there is an index variable `{}` already", name.name), "must be a new name")
            }
            (Argument::New, ExprKind::Name(name)) => {
                match self.scope {
                    Some(scope) => self.own.push((scope, &name.name)),
                    None => self.variables.push(&name.name),
                }
                None
            }
            (Argument::Tensor | Argument::TensorOr | Argument::TensorsOrNews, ExprKind::Name(name))
                if self.tensors.iter().any(|tensor| tensor.name == name.name) =>
            {
                None
            }
            (Argument::Made | Argument::MadeOr, ExprKind::Name(name)) if is_made(name, self.tensors) => None,
            (Argument::TensorsOrNews, ExprKind::Name(_)) => self.argument(argument, Argument::New),
            (Argument::Tensor | Argument::TensorOr | Argument::TensorsOrNews, _) => {
                wrong("a tensor must stand here".to_owned(), "not a tensor")
            }
            (Argument::Old | Argument::OldOr | Argument::Olds, ExprKind::Name(name)) if self.is_known(&name.name) => {
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

/// Whether a name is that of a tensor, or of one that is made on the way to it.
fn is_made(name: &Ident, tensors: &[Tensor]) -> bool {
    let is_it = |tensor: &Tensor| {
        name.name.strip_prefix(&tensor.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    tensors.iter().any(is_it)
}

/// What is wrong with a scope that is no tensor, nor one made on the way to one.
fn unknown_scope(scope: &Ident, tensors: &[Tensor]) -> Option<Diagnostic> {
    if is_made(scope, tensors) {
        return None;
    }
    let message = format!("no statement makes `{}`", scope.name);
    let problem = Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, scope.span, message).label("not a result or temporary");
    let names = tensors.iter().map(|tensor| tensor.name.as_str());
    Some(match suggest::similar(&scope.name, names) {
        Some(close) => problem.help(format!("did you mean `{close}`?")),
        None => problem.help("name the tensor on the left of a statement"),
    })
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
