//! Orders from use, formats from orders: declarations to tensors.

use super::declaration::{Declaration, Origin};
use super::literal;
use super::problems::Problems;
use super::uses::Use;
use super::{hints, index_arrays as maps};
use crate::diagnostics::{Diagnostic, codes::notation as codes, words};
use crate::format::resolve::{self, Definitions};
use crate::format::{Format, LevelFormat};
use crate::ir::{ElementType, Literal};
use crate::notation::{Role, Tensor};
use crate::syntax::{AssignOperator, FormatExpr, FormatExprKind, Statement};
use std::collections::BTreeSet;

/// The tensors of a kernel in the order of their declarations. Where a problem was found, what is returned is a stand-in that
/// lets the other checks go on.
pub(super) fn check(
    declarations: &[Declaration<'_>],
    (body, index_arrays): (&[Statement], &BTreeSet<String>),
    uses: &[Use<'_>],
    definitions: &Definitions<'_>,
    problems: &mut Problems,
) -> Vec<Tensor> {
    let tensors = declarations.iter().map(|declaration| {
        let uses: Vec<&Use<'_>> = uses.iter().filter(|used| used.name.name == declaration.name).collect();
        let is_index = index_arrays.contains(declaration.name);
        let format = format(declaration, is_index, &uses, definitions, problems);
        if is_index && format.is_dense() && format.order > 1 || format.is_map() && declaration.role != Role::Input {
            problems.expression.push(no_index_array(declaration));
        }
        let usual = if is_index { ElementType::Bool } else { ElementType::F64 };
        let element = declaration.element.map_or(usual, |(element, _)| element);
        Tensor {
            name: declaration.name.to_owned(),
            span: declaration.span,
            element,
            fill: fill(declaration, body, element, problems),
            hints: hints::check(declaration, &format, problems),
            format,
            format_name: declaration.format.and_then(resolve::name),
            role: declaration.role,
            declared: declaration.format.is_some(),
        }
    });
    tensors.collect()
}

/// What a missing entry is.
fn fill(declaration: &Declaration<'_>, body: &[Statement], element: ElementType, problems: &mut Problems) -> Literal {
    let Some(written) = declaration.format.and_then(|format| format.fill.as_ref()) else {
        let first = body.iter().find(|statement| statement.target.name.name == declaration.name);
        return start(first, element);
    };
    literal::constant(written, element.computed())
        .and_then(|fill| literal::stored(fill, element, written.span))
        .unwrap_or_else(|problem| {
            problems.push(declaration.origin, problem);
            element.zero()
        })
}

/// What a tensor begins as of which the text does not say it: what the first statement that makes it updates from, else zero.
pub(super) fn start(first: Option<&Statement>, element: ElementType) -> Literal {
    let operator = match first.map(|statement| statement.operator) {
        Some(AssignOperator::Reduce(operator)) => Some(operator),
        _ => None,
    };
    operator.and_then(|operator| operator.identity(element)).unwrap_or(element.zero())
}

fn format(
    declaration: &Declaration<'_>,
    is_index: bool,
    uses: &[&Use<'_>],
    definitions: &Definitions<'_>,
    problems: &mut Problems,
) -> Format {
    let usual = || (is_index && declaration.origin != Origin::Text).then(maps::format);
    let written = declaration.format.or_else(usual);
    let orders = written.and_then(|format| resolve::orders(format, definitions));
    let fixed = orders.filter(|orders| !orders.variadic).map(|orders| orders.minimum);
    let scalar = declaration.format.is_none() && declaration.origin == Origin::Text;
    let order = match uses.first() {
        _ if scalar => 0,
        Some(first) => fixed.unwrap_or(first.order),
        None => fixed.or(orders.map(|orders| orders.minimum)).unwrap_or(0),
    };
    for used in uses.iter().filter(|used| used.order != order) {
        let problem = if scalar {
            scalar_indexed(declaration, used)
        } else if used.order == 0 {
            missing_indices(declaration, used, order)
        } else if let (Some(format), Some(order)) = (declaration.format, fixed) {
            wrong_order(declaration, format, used, order)
        } else {
            other_order(used, uses[0])
        };
        problems.expression.push(problem);
    }
    let Some(format) = written else { return Format::dense(order) };
    if order == 0 && !uses.is_empty() {
        problems.expression.push(without_indices(declaration, uses[0]));
        return Format::dense(0);
    }
    stored(declaration, format, order, definitions, problems).unwrap_or_else(|| Format::dense(order))
}

/// An array of indices that is not stored as one, or made by a kernel.
fn no_index_array(declaration: &Declaration<'_>) -> Diagnostic {
    let name = declaration.name;
    match declaration.role {
        Role::Input => {
            let message = format!("`{name}` stands as an index, and is declared as a tensor of numbers");
            Diagnostic::new(codes::INDEX_EXPRESSION, declaration.span, message)
                .label("declared here")
                .help(format!("declare it as an array of indices: `{name}: map`"))
        }
        Role::Output | Role::Temporary => {
            let message = format!("`{name}` is made by the kernel, and an array of indices is a parameter");
            Diagnostic::new(codes::MISPLACED_SINGLETON, declaration.span, message)
                .label("has an entry for each of its indices, whatever is computed")
                .help("store it as `csr`, or as `hocsr` where it has more modes")
        }
    }
}

/// The format for an order.
fn stored(
    declaration: &Declaration<'_>,
    format: &FormatExpr,
    order: usize,
    definitions: &Definitions<'_>,
    problems: &mut Problems,
) -> Option<Format> {
    match resolve::resolve(format, order, definitions) {
        Ok(resolved) => Some(resolved),
        Err(found) => {
            found.into_iter().for_each(|problem| problems.push(declaration.origin, problem));
            None
        }
    }
}

fn scalar_indexed(declaration: &Declaration<'_>, used: &Use<'_>) -> Diagnostic {
    let name = declaration.name;
    let message = format!("`{name}` is a scalar and has no indices");
    let levels = vec![LevelFormat::DENSE.to_string(); used.order].join(", ");
    Diagnostic::new(codes::SCALAR_INDEXED, used.span, message)
        .label(format!("has {}", words::count(used.order, "index")))
        .related(declaration.span, "declared without a format: a scalar")
        .help(format!("declare its format, for example `{name}: dense` or `{name}: [{levels}]`, to make it a tensor"))
}

fn missing_indices(declaration: &Declaration<'_>, used: &Use<'_>, order: usize) -> Diagnostic {
    let message = format!("`{}` is a tensor and needs {}", declaration.name, words::count(order, "index"));
    Diagnostic::new(codes::MISSING_INDICES, used.span, message)
        .label("has no indices")
        .help(format!("write `{}(…)` with an index for each mode", declaration.name))
}

fn without_indices(declaration: &Declaration<'_>, used: &Use<'_>) -> Diagnostic {
    let name = declaration.name;
    let missing = Diagnostic::new(codes::MISSING_INDICES, used.span, format!("`{name}` has a format but no indices"))
        .label("used as a scalar");
    match declaration.origin {
        Origin::Text => missing
            .related(declaration.span, "declared as a tensor")
            .help(format!("a scalar is declared by its element type alone: `{name}: f64`")),
        _ => missing.help("a scalar has no format: its `-f` takes an element type alone"),
    }
}

fn wrong_order(declaration: &Declaration<'_>, format: &FormatExpr, used: &Use<'_>, order: usize) -> Diagnostic {
    let parts = match format.kind {
        FormatExprKind::Levels(_) => words::count(order, "level"),
        _ => words::count(order, "mode"),
    };
    let given = words::count(used.order, "index");
    let name = resolve::name(format).map_or(String::new(), |name| format!(" `{name}`"));
    let message = format!("`{}` is used with {given} but its format{name} has {parts}", declaration.name);
    let mismatch = Diagnostic::new(codes::FORMAT_ORDER, used.span, message).label(given);
    match declaration.origin {
        Origin::Text => mismatch.related(format.span, format!("has {parts}")),
        _ => mismatch,
    }
    .help("`csf`, `coo` and `dense` serve every order")
}

fn other_order(used: &Use<'_>, first: &Use<'_>) -> Diagnostic {
    let given = words::count(used.order, "index");
    let message = format!(
        "`{}` is used with {given} here and with {} elsewhere",
        used.name.name,
        words::count(first.order, "index")
    );
    Diagnostic::new(codes::ORDER_MISMATCH, used.span, message)
        .label(given)
        .related(first.span, words::count(first.order, "index"))
}

/// Names that nothing declares, parameters that nothing reads, results that nothing assigns.
pub(super) fn unused(tensor: &Tensor) -> Diagnostic {
    let message = format!("the parameter `{}` is not used", tensor.name);
    Diagnostic::new(codes::UNUSED_PARAMETER, tensor.span, message)
        .label("no statement reads it")
        .help("remove it from the parameters")
}

/// A result that no statement assigns.
pub(super) fn not_assigned(tensor: &Tensor) -> Diagnostic {
    debug_assert_eq!(tensor.role, Role::Output);
    let message = format!("the result `{}` is not assigned", tensor.name);
    Diagnostic::new(codes::RESULT_NOT_ASSIGNED, tensor.span, message)
        .label("no statement assigns it")
        .help(format!("add `{}(…) = …;` to the body, or remove it from the results", tensor.name))
}
