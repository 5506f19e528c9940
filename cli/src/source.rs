//! From `FILE|EXPR` and `-f` options to checked kernels.

use crate::arguments::{KernelArguments, Named};
use crate::failure::Failure;
use serde_json::{Value, json};
use spc_compiler::diagnostics::{Diagnostic, Diagnostics, line_and_column, render::render, suggest};
use spc_compiler::format::resolve::Definitions;
use spc_compiler::notation::{self, FormatOption};
use spc_compiler::syntax::{self, Program};
use std::path::Path;

/// A text and the kernels in it.
#[derive(Debug)]
pub(crate) struct Source {
    /// What the text is called in messages.
    origin: String,
    text: String,
    /// The text as it was parsed, printed again.
    pub(crate) syntax: String,
    /// All kernels, or the one that was asked for.
    pub(crate) kernels: Vec<notation::Kernel>,
}

impl Source {
    /// Reads, parses and checks.
    pub(crate) fn load(arguments: &KernelArguments) -> Result<Self, Failure> {
        let target = &arguments.program;
        let mut source = if Path::new(target).exists() || target.ends_with(".ti") {
            if let Some(Named { name, .. }) = arguments.formats.first() {
                let help = format!("declare it in the file: `{name}: FORMAT`");
                return Err(Failure::refused("`-f` is for an expression; a file declares its formats").help(help));
            }
            if let Some(definitions) = &arguments.named.definitions {
                let help = format!("copy the definitions from {definitions} into {target}");
                return Err(Failure::refused("`--formats` is for an expression; a file defines its formats").help(help));
            }
            file(target)?
        } else {
            expression(target, &arguments.formats, &arguments.named.load()?)?
        };
        if let Some(name) = &arguments.kernel {
            source.select(name)?;
        }
        source.warn(arguments.strict)?;
        Ok(source)
    }

    /// What the text is called in messages.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The text as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What is probably not meant in the kernels.
    fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.kernels.iter().flat_map(|kernel| &kernel.warnings)
    }

    /// Shows the warnings, which end the command where they are taken for errors.
    fn warn(&self, strict: bool) -> Result<(), Failure> {
        let warnings: Diagnostics = self.warnings().cloned().collect();
        if strict && !warnings.is_empty() {
            return Err(self.refuse(warnings.into_iter().map(Diagnostic::into_error).collect()));
        }
        if let Some(text) = text_of(&[(&self.text, &self.origin, warnings)], "a warning") {
            anstream::eprintln!("{text}");
        }
        Ok(())
    }

    /// The warnings as JSON; lines and columns count from 1.
    pub(crate) fn warnings_as_json(&self) -> Value {
        let warning = |warning: &Diagnostic| {
            let (line, column) = line_and_column(&self.text, warning.span.start);
            json!({
                "code": warning.code.to_string(), "message": warning.message, "help": warning.help,
                "line": line, "column": column,
            })
        };
        self.warnings().map(warning).collect()
    }

    /// Leaves only the kernel of that name.
    fn select(&mut self, name: &str) -> Result<(), Failure> {
        let name = &syntax::normalized(name);
        if self.kernels.iter().any(|kernel| kernel.name == *name) {
            self.kernels.retain(|kernel| kernel.name == *name);
            return Ok(());
        }
        let failure = Failure::refused(format!("{} has no kernel `{name}`", self.origin));
        let names = || self.kernels.iter().map(|kernel| kernel.name.as_str());
        Err(match suggest::similar(name, names()) {
            Some(similar) => failure.help(format!("did you mean `{similar}`?")),
            None => failure.help(format!("its kernels are {}", names().collect::<Vec<_>>().join(", "))),
        })
    }

    /// The kernel, where there is exactly one.
    pub(crate) fn single(&self) -> Result<&notation::Kernel, Failure> {
        match &self.kernels[..] {
            [kernel] => Ok(kernel),
            [] => Err(Failure::refused(format!("{} has no kernel", self.origin))),
            several => {
                let names: Vec<&str> = several.iter().map(|kernel| kernel.name.as_str()).collect();
                let failure = Failure::refused(format!("{} has {} kernels", self.origin, several.len()));
                Err(failure.help(format!("choose one with `--kernel`: {}", names.join(", "))))
            }
        }
    }

    /// Problems of the text, for people.
    pub(crate) fn refuse(&self, problems: Diagnostics) -> Failure {
        rendered(&[(&self.text, &self.origin, problems)])
    }
}

/// A file that was read, parsed and checked.
pub(crate) struct Checked {
    text: String,
    pub(crate) program: Program,
    kernels: Vec<notation::Kernel>,
}

/// Reads, parses and checks a file.
pub(crate) fn checked(path: &str) -> Result<Checked, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::refused(format!("{path}: {error}")))?;
    let refuse = |problems| rendered(&[(&text, path, problems)]);
    let program = syntax::parse_program(&text).map_err(refuse)?;
    let kernels = notation::check(&program).map_err(refuse)?;
    Ok(Checked { text, program, kernels })
}

fn file(path: &str) -> Result<Source, Failure> {
    let Checked { text, program, kernels } = checked(path)?;
    Ok(Source { origin: path.to_owned(), syntax: program.to_string(), text, kernels })
}

fn expression(text: &str, formats: &[Named], named: &Program) -> Result<Source, Failure> {
    const ORIGIN: &str = "<expression>";
    if !text.contains('=') {
        let failure = Failure::refused(format!("there is no file `{text}`, and it is no assignment either"));
        return Err(failure.help("an expression is an assignment, such as 'y(i) = A(i, j) * x(j)'"));
    }
    let mut problems = Vec::new();
    let mut options = Vec::new();
    let origins: Vec<String> = formats.iter().map(|format| format!("-f {}", format.name)).collect();
    for (format, origin) in formats.iter().zip(&origins) {
        match syntax::parse_parameter_format(&format.text) {
            Ok(declaration) => options.push(FormatOption::new(&format.name, declaration)),
            Err(found) => problems.push((format.text.as_str(), origin.as_str(), found)),
        }
    }
    let statement = match syntax::parse_statement(text) {
        Ok(statement) => Some(statement),
        Err(found) => {
            problems.insert(0, (text, ORIGIN, found));
            None
        }
    };
    let (Some(statement), true) = (statement, problems.is_empty()) else { return Err(rendered(&problems)) };
    let kernel =
        notation::check_expression(&statement, &options, &Definitions::of_program(named)).map_err(|found| {
            let options = formats.iter().zip(&origins).zip(found.options);
            let mut problems = vec![(text, ORIGIN, found.expression)];
            problems.extend(options.map(|((format, origin), found)| (format.text.as_str(), origin.as_str(), found)));
            rendered(&problems)
        })?;
    Ok(Source {
        origin: ORIGIN.to_owned(),
        text: text.to_owned(),
        syntax: format!("{statement}\n"),
        kernels: vec![kernel],
    })
}

/// Problems of several texts, each with what the text is called, and how to learn more.
fn rendered(problems: &[(&str, &str, Diagnostics)]) -> Failure {
    Failure::Rendered(text_of(problems, "an error").unwrap_or_default())
}

/// The same as text; `None` for no problems. `what` they are is told at the end.
fn text_of(problems: &[(&str, &str, Diagnostics)], what: &str) -> Option<String> {
    let mut parts = Vec::new();
    let mut first_code = None;
    for (text, origin, found) in problems {
        let found: Vec<Diagnostic> = found.clone().into_sorted();
        if let Some(problem) = found.first() {
            first_code.get_or_insert(problem.code);
            parts.push(render(text, origin, &found, true));
        }
    }
    let code = first_code?;
    parts.push(format!("for more about {what}: `spc explain {code}`\n"));
    Some(parts.join("\n"))
}
