//! What a kernel declares: its tensors and scalars, before their orders are known.

use super::literal;
use super::option::FormatOption;
use super::uses::{self, Part};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::ElementType;
use crate::notation::Role;
use crate::syntax::{self, FormatExpr, Statement};

/// A declared tensor or scalar.
pub(super) struct Declaration<'a> {
    pub(super) name: &'a str,
    /// Where it is declared; where it is first used when nothing declares it.
    pub(super) span: Span,
    pub(super) role: Role,
    pub(super) element: Option<(ElementType, Span)>,
    pub(super) format: Option<&'a FormatExpr>,
    pub(super) origin: Origin,
}

impl Declaration<'_> {
    /// Whether it is the result of a bare expression of which nothing says the type or the fill value: it has the type of its value.
    pub(super) fn has_type_of_value(&self) -> bool {
        let has_fill = self.format.is_some_and(|format| format.fill.is_some());
        self.role == Role::Output && self.origin != Origin::Text && self.element.is_none() && !has_fill
    }
}

/// Where a declaration comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The text declares it.
    Text,
    /// A bare expression uses it and this `-f` option says how it is stored.
    Option(usize),
    /// A bare expression uses it: dense, or a scalar.
    Implied,
}

/// A kernel's parameters and results, and the tensors that its `let` statements make.
pub(super) fn of_kernel<'a>(kernel: &'a syntax::Kernel, found: &mut Diagnostics) -> Vec<Declaration<'a>> {
    let parameters = kernel.parameters.iter().map(|parameter| of_parameter(parameter, Role::Input));
    let results = kernel.results.iter().map(|result| of_parameter(result, Role::Output));
    let temporaries = kernel.body.iter().filter(|statement| statement.is_let).map(of_let);
    let mut declarations: Vec<Declaration<'a>> = Vec::new();
    for declaration in parameters.chain(results).chain(temporaries) {
        match declarations.iter().find(|earlier| earlier.name == declaration.name) {
            Some(earlier) => found.push(declared_twice(&declaration, earlier)),
            None => declarations.push(declaration),
        }
    }
    declarations
}

fn of_parameter(parameter: &syntax::Parameter, role: Role) -> Declaration<'_> {
    Declaration {
        name: &parameter.name.name,
        span: parameter.name.span,
        role,
        element: parameter.element,
        format: parameter.format.as_ref(),
        origin: Origin::Text,
    }
}

pub(super) fn of_let(statement: &Statement) -> Declaration<'_> {
    let name = &statement.target.name;
    Declaration {
        name: &name.name,
        span: name.span,
        role: Role::Temporary,
        element: statement.element,
        format: statement.format.as_ref(),
        // Without a format it is no scalar: how it is stored is found out.
        origin: if statement.format.is_some() { Origin::Text } else { Origin::Implied },
    }
}

fn declared_twice(declaration: &Declaration<'_>, earlier: &Declaration<'_>) -> Diagnostic {
    let duplicate =
        Diagnostic::new(codes::DUPLICATE_NAME, declaration.span, format!("`{}` is declared twice", declaration.name))
            .label("declared again")
            .related(earlier.span, "declared first here");
    match (earlier.role, declaration.role) {
        (Role::Input, Role::Output) => duplicate.help("a result is no operand: give it a name that no parameter has"),
        _ => duplicate.help("give one of them another name"),
    }
}

/// The tensors of a bare expression: what is read, in order of appearance, then what is assigned.
pub(super) fn of_statement<'a>(statement: &'a Statement, options: &'a [FormatOption]) -> Vec<Declaration<'a>> {
    let index_names = uses::index_names(statement);
    let target = statement.target.name.name.as_str();
    let mut declarations: Vec<Declaration<'a>> = Vec::new();
    for used in uses::of_statement(statement) {
        let name = used.name.name.as_str();
        let option = options.iter().position(|option| option.name == name);
        let index = used.order == 0 && index_names.iter().any(|index| index.name == name);
        let function = used.nested && option.is_none();
        let constant = used.order == 0 && option.is_none() && literal::is_constant(name);
        let known = name == target || declarations.iter().any(|declaration| declaration.name == name);
        if used.part != Part::Target && !index && !function && !constant && !known {
            declarations.push(implied(name, used.span, Role::Input, option, options));
        }
    }
    let option = options.iter().position(|option| option.name == target);
    declarations.push(implied(target, statement.target.span, Role::Output, option, options));
    declarations
}

fn implied<'a>(
    name: &'a str,
    span: Span,
    role: Role,
    option: Option<usize>,
    options: &'a [FormatOption],
) -> Declaration<'a> {
    Declaration {
        name,
        span,
        role,
        element: option.and_then(|option| options[option].element),
        format: option.and_then(|option| options[option].format.as_ref()),
        origin: option.map_or(Origin::Implied, Origin::Option),
    }
}
