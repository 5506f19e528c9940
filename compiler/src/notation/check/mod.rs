//! The checks: syntax in, checked index notation out, every problem of a text in one run.

mod access;
mod call;
mod concat;
mod condition;
mod declaration;
mod define;
mod division;
mod exchanged;
mod expression;
mod extents;
mod functions;
mod hints;
mod index;
mod index_arrays;
mod indices;
mod kernel;
mod literal;
mod mistakes;
mod option;
mod packs;
mod place;
mod problems;
mod reduction;
mod repeat;
mod result;
mod schedule;
mod sequence;
mod statement;
mod summaries;
mod temporary;
mod tensors;
mod types;
mod uses;
mod value;
mod visits;

pub use expression::{Read, check_expression, read_by};
pub(super) use indices::named_by_value;
pub use option::FormatOption;
pub use problems::Problems;
pub(crate) use reduction::name as reduction_name;
pub(super) use result::fills;
pub use temporary::sparsest;
pub(super) use temporary::{fill as temporary_fill, format as temporary_format};

use super::Kernel;
use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes};
use crate::format::{prelude, resolve};
use crate::ir::Repetition;
use crate::syntax::{self, Ident, Item, Program};
use std::collections::BTreeSet;

/// Checks every kernel and every definition of a program.
///
/// # Errors
/// Every problem that was found.
pub fn check(program: &Program) -> Result<Vec<Kernel>, Diagnostics> {
    let definitions = resolve::Definitions::of_program(program);
    let mut problems = Problems::default();
    check_definitions(&definitions, &mut problems.expression);
    let kernels = || {
        program.items.iter().filter_map(|item| match item {
            Item::Kernel(kernel) => Some(kernel),
            Item::Format(_) | Item::Function(_) | Item::Monoid(_) => None,
        })
    };
    let mut wrong = Diagnostics::new();
    let defined = define::Definitions::of(program, &mut wrong);
    if !wrong.is_empty() {
        // What uses a definition that is wrong may be wrong for no other reason.
        wrong.into_sorted().into_iter().for_each(|problem| problems.expression.push(problem));
        return Err(problems.expression);
    }
    check_distinct("kernel", kernels().map(|kernel| &kernel.name), &mut problems.expression);
    let kernels: Vec<Option<Kernel>> =
        kernels().map(|kernel| check_kernel(kernel, &definitions, &defined, &mut problems)).collect();
    match kernels.into_iter().collect() {
        Some(kernels) if problems.is_empty() => Ok(kernels),
        _ => Err(problems.expression),
    }
}

fn check_kernel(
    kernel: &syntax::Kernel,
    definitions: &resolve::Definitions<'_>,
    defined: &define::Definitions<'_>,
    problems: &mut Problems,
) -> Option<Kernel> {
    let mut expansion = Diagnostics::new();
    let mut kernel = kernel.clone();
    let repetition = repeat::expand(&mut kernel, &mut expansion);
    let (kernel, arrays) = &with_indices(&kernel, definitions, &mut expansion);
    defined.check_tensors(kernel, &mut expansion);
    let (kernel, calls) = defined.expand(kernel, &mut expansion);
    let outside = std::mem::replace(&mut problems.expression, Diagnostics::new());
    if !expansion.is_empty() {
        problems.expression = outside;
        expansion.into_sorted().into_iter().for_each(|problem| problems.expression.push(problem));
        return None;
    }
    let checked = check_expanded(&kernel, (arrays, repetition.as_ref()), definitions, problems);
    let inside = std::mem::replace(&mut problems.expression, outside);
    define::with_calls(inside, &calls).into_sorted().into_iter().for_each(|found| problems.expression.push(found));
    checked
}

/// The kernel with indices in the places of packs and of accesses to arrays of indices, which are named.
fn with_indices(
    kernel: &syntax::Kernel,
    definitions: &resolve::Definitions<'_>,
    found: &mut Diagnostics,
) -> (syntax::Kernel, BTreeSet<String>) {
    let mut kernel = kernel.clone();
    let mut body = std::mem::take(&mut kernel.body);
    let declared = |name: &str| {
        let declared = kernel.parameters.iter().chain(&kernel.results).find(|parameter| parameter.name.name == name)?;
        packs::order(declared.format.as_ref(), definitions)
    };
    packs::expand(&mut body, &declared, found);
    let tensors = kernel.parameters.iter().chain(&kernel.results);
    let has_one = |name: &str| tensors.clone().any(|tensor| tensor.name.name == name);
    let body = summaries::expand(body);
    let mut body = concat::expand(body, has_one(concat::CONCAT), found);
    extents::calls(&mut body, has_one(extents::EXTENT));
    let is_tensor = |name: &str| {
        has_one(name) || body.iter().any(|statement| statement.is_let && statement.target.name.name == name)
    };
    let mut expanded = body.clone();
    let arrays = index_arrays::expand(&mut expanded, &is_tensor);
    kernel.body = expanded;
    (kernel, arrays)
}

fn check_expanded(
    kernel: &syntax::Kernel,
    (index_arrays, repetition): (&BTreeSet<String>, Option<&Repetition>),
    definitions: &resolve::Definitions<'_>,
    problems: &mut Problems,
) -> Option<Kernel> {
    let declarations = declaration::of_kernel(kernel, &mut problems.expression);
    let source = kernel::Source {
        name: &kernel.name.name,
        name_span: kernel.name.span,
        documentation: &kernel.documentation,
        visibility: &kernel.visibility,
        body: &kernel.body,
        index_arrays,
        repetition,
        schedule: kernel.schedule.as_ref(),
    };
    kernel::check(&source, &declarations, definitions, problems)
}

fn check_definitions(definitions: &resolve::Definitions<'_>, found: &mut Diagnostics) {
    check_distinct("format", definitions.own().iter().map(|definition| &definition.name), found);
    for definition in definitions.own() {
        let name = &definition.name;
        if prelude::definitions().iter().any(|known| known.name.name == name.name) {
            found.push(
                Diagnostic::new(codes::DUPLICATE_NAME, name.span, format!("there is a format `{}` already", name.name))
                    .label("every program has this format")
                    .help("give this one another name"),
            );
        }
        found.extend(resolve::check_definition(definition));
    }
}

fn check_distinct<'a>(what: &str, names: impl Iterator<Item = &'a Ident>, found: &mut Diagnostics) {
    let mut seen: Vec<&Ident> = Vec::new();
    for name in names {
        match seen.iter().find(|earlier| earlier.name == name.name) {
            Some(earlier) => found.push(
                Diagnostic::new(codes::DUPLICATE_NAME, name.span, format!("a second {what} `{}`", name.name))
                    .label("defined again")
                    .related(earlier.span, "defined first here")
                    .help("give one of them another name"),
            ),
            None => seen.push(name),
        }
    }
}
