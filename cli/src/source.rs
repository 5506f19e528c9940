//! From `FILE|EXPR` and `-f` options to checked kernels.

use crate::arguments::{KernelArguments, Named};
use crate::failure::{self, Failure, Place, Problem};
use crate::{files, names, settings, stderr};
use serde_json::{Value, json};
use spc_compiler::diagnostics::{Diagnostic, Diagnostics, line_and_column, render::render};
use spc_compiler::format::resolve::Definitions;
use spc_compiler::ir::ElementType;
use spc_compiler::notation::{self, FormatOption, Role};
use spc_compiler::plan::{self, Facts};
use spc_compiler::syntax::einsum::{self, Einsum, Operand};
use spc_compiler::syntax::{self, Item, Program, Statement, neighbours, packs};
use std::path::Path;

/// What a text is called that stands on the command line.
const EXPRESSION: &str = "<expression>";

/// A text and the kernels in it.
#[derive(Debug)]
pub(crate) struct Source {
    /// What the text is called in messages.
    origin: String,
    text: String,
    /// Whether the formats are those of `-f` options.
    is_expression: bool,
    /// The text as it was parsed, printed again.
    pub(crate) syntax: String,
    /// All kernels, or the one that was asked for.
    pub(crate) kernels: Vec<notation::Kernel>,
    /// What was found out of tensors that nothing declares, a line each.
    pub(crate) inferred: Vec<String>,
}

/// What is known of an input before a text is read: its name, and how many modes it has, if its file says.
pub(crate) type Known = (String, Option<usize>);

/// The statement of a text: an assignment, or an einsum string of which the operands are called as the inputs are, unless all of
/// those have names of operands. Packs have the indices that the orders of inputs say.
pub(crate) fn statement(text: &str, inputs: &[Known]) -> Result<Statement, Diagnostics> {
    let mut statement = match einsum::is_einsum(text) {
        true => of_einsum(&Einsum::parse(text)?, inputs)?,
        false => syntax::parse_statement(text)?,
    };
    packs::expand(std::slice::from_mut(&mut statement), &|name| order(inputs, name))?;
    Ok(statement)
}

fn of_einsum(string: &Einsum, inputs: &[Known]) -> Result<Statement, Diagnostics> {
    let plain = string.statement(&[])?;
    let names: Vec<String> = notation::read_by(&plain).into_iter().map(|read| read.name).collect();
    let are_plain = inputs.iter().all(|(name, _)| names.contains(name));
    let operand = |(name, order): &Known| Operand { name: Some(name.clone()), order: *order };
    let known: Vec<Operand> = match are_plain {
        true => names.iter().map(|name| operand(&(name.clone(), order(inputs, name)))).collect(),
        false if inputs.len() == string.operands() => inputs.iter().map(operand).collect(),
        false => Vec::new(),
    };
    string.statement(&known)
}

fn order(inputs: &[Known], name: &str) -> Option<usize> {
    inputs.iter().find(|(known, _)| known == name).and_then(|(_, order)| *order)
}

impl Source {
    /// Reads, parses and checks: a file, a program that is written on the command line, or an assignment alone in either.
    pub(crate) fn load(arguments: &KernelArguments) -> Result<Self, Failure> {
        let source = Self::of_inputs(arguments, &[])?;
        source.inferred.iter().for_each(failure::note);
        Ok(source)
    }

    /// The same, of which inputs are known.
    pub(crate) fn of_inputs(arguments: &KernelArguments, inputs: &[Known]) -> Result<Self, Failure> {
        let source = Self::without_warnings(arguments, inputs)?;
        source.warn(arguments.strict)?;
        Ok(source)
    }

    /// The same, where [`warn`](Self::warn) is yet to be called.
    pub(crate) fn without_warnings(arguments: &KernelArguments, inputs: &[Known]) -> Result<Self, Failure> {
        let target = &arguments.program;
        let (text, origin) = match target.as_str() {
            "-" => (files::program_text(target)?, files::STDIN),
            path if is_file(path) => (files::program_text(path)?, path),
            _ => (target.clone(), EXPRESSION),
        };
        let named = arguments.named.load()?;
        let mut source = match syntax::holds_items(&text) {
            true => {
                if let Some(Named { name, .. }) = arguments.formats.first() {
                    let help = format!("declare it in the program: `{name}: FORMAT`");
                    let message = "`-f` is for an assignment alone; a program declares its formats";
                    return Err(Failure::refused(message).help(help));
                }
                program(text, origin, named, inputs)?
            }
            false => expression(text, origin, &arguments.formats, &named, inputs)?,
        };
        if let Some(name) = &arguments.kernel {
            source.select(name)?;
        }
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
    fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        let of_plans = |kernel: &notation::Kernel| plan::ruled_out(kernel, &Facts::stated(kernel, &[]));
        self.kernels.iter().flat_map(move |kernel| of_plans(kernel).into_iter().chain(kernel.warnings.iter().cloned()))
    }

    /// Shows the warnings, which end the command where they are taken for errors.
    pub(crate) fn warn(&self, strict: bool) -> Result<(), Failure> {
        let warnings: Diagnostics = self.warnings().collect();
        if strict && !warnings.is_empty() {
            return Err(self.refuse(warnings.into_iter().map(Diagnostic::into_error).collect()));
        }
        if let Some(text) = text_of(&[(&self.text, &self.origin, warnings)], "a warning")
            && !settings::is_quiet()
        {
            stderr::write(&format!("{text}\n"));
        }
        Ok(())
    }

    /// The warnings as JSON; lines and columns count from 1.
    pub(crate) fn warnings_as_json(&self) -> Value {
        let warning = |warning: Diagnostic| {
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
        let message = format!("{} has no kernel `{name}`", self.origin);
        Err(names::unknown(message, name, self.kernels.iter().map(|kernel| kernel.name.as_str()), "its kernels are"))
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

    /// Whether the formats are those of `-f` options.
    pub(crate) fn is_expression(&self) -> bool {
        self.is_expression
    }

    /// Problems of the text, for people.
    pub(crate) fn refuse(&self, problems: Diagnostics) -> Failure {
        rendered(&[(&self.text, &self.origin, problems)])
    }
}

/// Reads, parses and checks a file of definitions.
pub(crate) fn checked(path: &str) -> Result<Program, Failure> {
    let text = files::program_text(path)?;
    let path = if path == "-" { files::STDIN } else { path };
    let refuse = |problems| rendered(&[(&text, path, problems)]);
    let program = syntax::parse_program(&text).map_err(refuse)?;
    notation::check(&program).map_err(refuse)?;
    Ok(program)
}

/// Kernels with their declarations, and formats of their own beside those of `named`.
fn program(text: String, origin: &str, named: Program, inputs: &[Known]) -> Result<Source, Failure> {
    let refuse = |problems| rendered(&[(&text, origin, problems)]);
    let mut program = syntax::parse_program(&text).map_err(refuse)?;
    if program.items.is_empty() {
        let failure = Failure::refused(format!("{origin} has nothing to compile"));
        return Err(failure.help("write an assignment, 'y(i) = A(i, j) * x(j)', or kernels: 'fn k(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }'"));
    }
    let printed = program.to_string();
    let own = |name: &str| program.items.iter().any(|item| matches!(item, Item::Format(own) if own.name.name == name));
    for item in &named.items {
        if let Item::Format(definition) = item
            && own(&definition.name.name)
        {
            let message = format!("{origin} and the file of `--formats` both define `{}`", definition.name.name);
            return Err(Failure::refused(message).help("give one of them another name"));
        }
    }
    program.items.extend(named.items.into_iter().filter(|item| matches!(item, Item::Format(_))));
    for item in &mut program.items {
        if let Item::Kernel(kernel) = item {
            packs::expand(&mut kernel.body, &|name| order(inputs, name)).map_err(refuse)?;
        }
    }
    let kernels = notation::check(&program).map_err(refuse)?;
    let inferred = Vec::new();
    Ok(Source { origin: origin.to_owned(), is_expression: false, syntax: printed, text, kernels, inferred })
}

fn expression(
    text: String,
    origin: &str,
    formats: &[Named],
    named: &Program,
    inputs: &[Known],
) -> Result<Source, Failure> {
    if origin == EXPRESSION && !text.contains('=') && !einsum::is_einsum(&text) {
        let failure = Failure::refused(format!("there is no file `{text}`, and it is no assignment either"));
        return Err(match neighbours::translated(&text) {
            Some(translation) => failure.help(format!("write `{}`", translation.line)),
            None => failure.help("an expression is an assignment, such as 'y(i) = A(i, j) * x(j)', or an einsum string, such as 'ij,j->i'"),
        });
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
    let statement = match statement(&text, inputs) {
        Ok(statement) => Some(statement),
        Err(found) => {
            problems.insert(0, (&text, origin, found));
            None
        }
    };
    let (Some(statement), true) = (statement, problems.is_empty()) else { return Err(rendered(&problems)) };
    let definitions = Definitions::of_program(named);
    let kernel = notation::check_expression(&statement, &options, &definitions).map_err(|found| {
        let options = formats.iter().zip(&origins).zip(found.options);
        let mut problems = vec![(text.as_str(), origin, found.expression)];
        problems.extend(options.map(|((format, origin), found)| (format.text.as_str(), origin.as_str(), found)));
        rendered(&problems)
    })?;
    let mut inferred = inferred_types(&kernel, &options);
    let kernel = with_sparsest(kernel, &statement, options, &definitions, &mut inferred);
    let syntax = format!("{statement}\n");
    Ok(Source { origin: origin.to_owned(), is_expression: true, syntax, text, kernels: vec![kernel], inferred })
}

/// The element types of tensors of which no option says it, where it is not `f64`.
fn inferred_types(kernel: &notation::Kernel, options: &[FormatOption]) -> Vec<String> {
    let is_said = |name: &str| options.iter().any(|option| option.name == name && option.element.is_some());
    let undeclared =
        kernel.tensors.iter().filter(|tensor| tensor.element != ElementType::F64 && !is_said(&tensor.name));
    let undeclared = undeclared.filter(|tensor| !tensor.format.is_map());
    let line = |tensor: &notation::Tensor| {
        let from = if tensor.role == Role::Output { "its expression" } else { "the declared operands" };
        let (name, element) = (&tensor.name, tensor.element);
        format!("`{name}` has elements of type {element}, as {from}; `-f {name}=…` says another")
    };
    undeclared.filter(|tensor| tensor.role != Role::Temporary).map(line).collect()
}

/// The kernel, where a result of which no option says the format is stored as sparse as its expression is.
fn with_sparsest(
    kernel: notation::Kernel,
    statement: &Statement,
    mut options: Vec<FormatOption>,
    definitions: &Definitions<'_>,
    inferred: &mut Vec<String>,
) -> notation::Kernel {
    let Some(result) = kernel.tensors.iter().find(|tensor| tensor.role == Role::Output && !tensor.declared) else {
        return kernel;
    };
    let Some(format) = notation::sparsest(&kernel, result) else { return kernel };
    let (name, text) = (result.name.clone(), names::of_format(&format));
    let Ok((_, format)) = syntax::parse_parameter_format(&text) else { return kernel };
    match options.iter_mut().find(|option| option.name == name) {
        Some(option) => option.format = format,
        None => options.push(FormatOption::new(&name, (None, format))),
    }
    match notation::check_expression(statement, &options, definitions) {
        Ok(sparse) => {
            inferred.push(format!(
                "`{name}` is stored as {text}, with the entries of its expression; `-f {name}=dense` stores every element"
            ));
            sparse
        }
        Err(_) => kernel,
    }
}

/// Problems of several texts, each with what the text is called, and how to learn more.
pub(crate) fn rendered(problems: &[(&str, &str, Diagnostics)]) -> Failure {
    let found = problems.iter().flat_map(|(text, origin, found)| {
        found.clone().into_sorted().into_iter().map(move |found| {
            let (line, column) = line_and_column(text, found.span.start);
            let place = Place { file: Some((*origin).to_owned()), line: Some(line), column: Some(column) };
            Problem { code: found.code.to_string(), message: found.message, place: Some(place), help: found.help }
        })
    });
    Failure::Rendered(text_of(problems, "an error").unwrap_or_default(), found.collect())
}

/// Whether a program is a file, and not written on the command line.
pub(crate) fn is_file(program: &str) -> bool {
    program == "-" || program.ends_with(".ti") || Path::new(program).exists()
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
