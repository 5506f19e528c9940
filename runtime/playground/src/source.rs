//! From the text and the formats to checked kernels.

use crate::messages::Part;
use crate::question::Question;
use serde_json::{Value, json};
use spc_compiler::diagnostics::Diagnostics;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::notation::{self, FormatOption, Kernel, Role};
use spc_compiler::syntax::{self, Item, Program, Statement, einsum, packs};

/// Problems, each list with the part that it is about.
pub(crate) type Found = Vec<(Part, Diagnostics)>;

/// The kernels of a question.
pub(crate) fn kernels(question: &Question) -> Result<Vec<Kernel>, Found> {
    match syntax::holds_items(&question.text) {
        true => program(&question.text).map_err(|found| vec![(Part::Text, found)]),
        false => assignment(question).map(|kernel| vec![kernel]),
    }
}

fn program(text: &str) -> Result<Vec<Kernel>, Diagnostics> {
    let mut program = syntax::parse_program(text)?;
    for item in &mut program.items {
        if let Item::Kernel(kernel) = item {
            packs::expand(&mut kernel.body, &|_| None)?;
        }
    }
    notation::check(&program)
}

fn statement(text: &str) -> Result<Statement, Diagnostics> {
    let mut statement = match einsum::is_einsum(text) {
        true => einsum::Einsum::parse(text)?.statement(&[])?,
        false => syntax::parse_statement(text)?,
    };
    packs::expand(std::slice::from_mut(&mut statement), &|_| None)?;
    Ok(statement)
}

fn assignment(question: &Question) -> Result<Kernel, Found> {
    let mut found = Found::new();
    let statement = statement(&question.text).map_err(|problems| vec![(Part::Text, problems)])?;
    let named = names(&statement);
    let mut parts = Vec::new();
    let mut options = Vec::new();
    // The page keeps the formats of tensors that an earlier text had.
    for (name, text) in question.formats.iter().filter(|(name, text)| named.contains(name) && !text.trim().is_empty()) {
        match syntax::parse_parameter_format(text) {
            Ok(declaration) => {
                parts.push(Part::Format(name.clone()));
                options.push(FormatOption::new(name, declaration));
            }
            Err(problems) => found.push((Part::Format(name.clone()), problems)),
        }
    }
    if !found.is_empty() {
        return Err(found);
    }
    let none = Program::default();
    notation::check_expression(&statement, &options, &Definitions::of_program(&none)).map_err(|problems| {
        let of_text = std::iter::once((Part::Text, problems.expression));
        of_text.chain(parts.into_iter().zip(problems.options)).filter(|(_, found)| !found.is_empty()).collect()
    })
}

/// The tensors of an assignment.
fn names(statement: &Statement) -> Vec<String> {
    let read = notation::read_by(statement).into_iter().map(|read| read.name);
    read.chain([statement.target.name.name.clone()]).collect()
}

/// The tensors of an assignment that is right in itself, so that a format that is wrong stays on the page.
pub(crate) fn named(question: &Question) -> Vec<Value> {
    if syntax::holds_items(&question.text) {
        return Vec::new();
    }
    let names = statement(&question.text).map(|statement| names(&statement)).unwrap_or_default();
    let named = |name: String| json!({ "format": question.formats.get(&name), "name": name });
    names.into_iter().map(named).collect()
}

/// The inputs and the results of a kernel.
pub(crate) fn tensors(kernel: &Kernel) -> Value {
    let is_met = |tensor: &&notation::Tensor| matches!(tensor.role, Role::Input | Role::Output);
    let tensor = |tensor: &notation::Tensor| {
        json!({
            "name": tensor.name,
            "is_result": tensor.role == Role::Output,
            "order": tensor.format.order,
            "element": tensor.element.name(),
            "format": tensor.format_name.clone().unwrap_or_else(|| tensor.format.to_string()),
            "levels": tensor.format.to_string(),
        })
    };
    kernel.tensors.iter().filter(is_met).map(tensor).collect()
}
