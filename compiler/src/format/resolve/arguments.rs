//! What the arguments of a named format stand for.

use super::Report;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes, words};
use crate::syntax::{FormatArgument, FormatDefinition, Ident};

/// What a format's argument stands for.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// A number.
    Number(u64),
    /// A word, to be read where a level takes one.
    Word(Ident),
    /// Not known: the definition itself is being checked.
    Anything,
}

/// The arguments of a definition by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments(Vec<(String, Value)>);

impl Arguments {
    /// Each parameter of a definition stands for anything.
    pub(super) fn of_anything(definition: &FormatDefinition) -> Self {
        Self(definition.parameters.iter().map(|parameter| (parameter.name.clone(), Value::Anything)).collect())
    }

    /// The parameters of `definition` with the arguments of a use at `span`.
    pub(super) fn bind(
        definition: &FormatDefinition,
        arguments: &[FormatArgument],
        span: Span,
        report: &mut Report,
    ) -> Option<Self> {
        if arguments.len() != definition.parameters.len() {
            report.push(wrong_count(definition, arguments.len(), span));
            return None;
        }
        let bound = definition.parameters.iter().zip(arguments);
        bound
            .map(|(parameter, argument)| Some((parameter.name.clone(), value(argument, report)?)))
            .collect::<Option<_>>()
            .map(Self)
    }

    /// What a name stands for.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(parameter, _)| parameter == name).map(|(_, value)| value)
    }

    /// The names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

fn value(argument: &FormatArgument, report: &mut Report) -> Option<Value> {
    match argument {
        FormatArgument::Number(number, _) => Some(Value::Number(*number)),
        FormatArgument::Word(word) => Some(Value::Word(word.clone())),
        FormatArgument::Setting(key, _) => {
            let message = format!("a format takes no `{} = …`", key.name);
            report.push(
                Diagnostic::new(codes::FORMAT_ARGUMENTS, argument.span(), message)
                    .label("a setting of a level")
                    .help("write the format as a list of levels to give one of them this setting"),
            );
            None
        }
    }
}

fn wrong_count(definition: &FormatDefinition, given: usize, span: Span) -> Diagnostic {
    let name = &definition.name.name;
    let parameters: Vec<&str> = definition.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let wanted = match parameters.len() {
        0 => "no arguments".to_owned(),
        number => words::count(number, "argument"),
    };
    let usage = if parameters.is_empty() { name.clone() } else { format!("{name}({})", parameters.join(", ")) };
    Diagnostic::new(codes::FORMAT_ARGUMENTS, span, format!("`{name}` takes {wanted}, not {given}"))
        .label(format!("{} here", words::count(given, "argument")))
        .help(format!("it is defined as `{usage}`"))
}

/// Reports names that stand for two things in one definition.
pub(super) fn check_distinct(definition: &FormatDefinition, report: &mut Report) {
    let modes = definition.map.modes.iter().map(|mode| &mode.name);
    let mut seen: Vec<&Ident> = Vec::new();
    for name in definition.parameters.iter().chain(modes) {
        match seen.iter().find(|earlier| earlier.name == name.name) {
            Some(earlier) => report.push(
                Diagnostic::new(codes::DUPLICATE_NAME, name.span, format!("`{}` is declared twice", name.name))
                    .label("declared again")
                    .related(earlier.span, "declared first here"),
            ),
            None => seen.push(name),
        }
    }
}
