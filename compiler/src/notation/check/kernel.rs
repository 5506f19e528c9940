//! One kernel, from its declarations to its last statement.

use super::declaration::Declaration;
use super::indices::{self, Indices};
use super::problems::Problems;
use super::uses::{self, Part, Use};
use super::{
    call, exchanged, functions, literal, mistakes, repeat, result, schedule, sequence, statement, temporary, tensors,
    types,
};
use crate::diagnostics::codes::{notation as codes, warnings as warning_codes};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, spelled, suggest};
use crate::format::{Format, resolve::Definitions};
use crate::ir::Repetition;
use crate::notation::chooser::chooser;
use crate::notation::{Access, Assignment, Kernel, Role, Tensor, simplify};
use crate::syntax::{Schedule, Statement, neighbours};
use std::collections::BTreeSet;

/// A kernel as written, without its declarations.
pub(super) struct Source<'a> {
    pub(super) name: &'a str,
    pub(super) name_span: Span,
    pub(super) documentation: &'a [String],
    pub(super) visibility: &'a str,
    pub(super) body: &'a [Statement],
    /// The tensors that stand as indices of others.
    pub(super) index_arrays: &'a BTreeSet<String>,
    pub(super) repetition: Option<&'a Repetition>,
    pub(super) schedule: Option<&'a Schedule>,
}

/// The checked kernel; what it returns is good where no problem was found.
pub(super) fn check(
    source: &Source<'_>,
    declarations: &[Declaration<'_>],
    definitions: &Definitions<'_>,
    problems: &mut Problems,
) -> Option<Kernel> {
    let declared = |name: &str| declarations.iter().any(|declaration| declaration.name == name);
    let uses: Vec<Use<'_>> = source.body.iter().flat_map(|statement| mentions(statement, &declared)).collect();
    let mut tensors = tensors::check(declarations, (source.body, source.index_arrays), &uses, definitions, problems);
    check_names(&tensors, &uses, source.body, &mut problems.expression);
    sequence::check(source.body, &tensors, &repeat::reads(source.repetition), &mut problems.expression);

    let mut indices = Indices::default();
    indices.note_modes(source.body);
    let mut warnings = Diagnostics::new();
    let infer: Vec<bool> = declarations.iter().map(Declaration::has_type_of_value).collect();
    let statements =
        statements(source.body, (&mut tensors, &infer), &mut indices, &mut problems.expression, &mut warnings);
    if let Some(schedule) = source.schedule {
        schedule::check(schedule, &tensors, source.body, &mut problems.expression);
    }

    source.body.iter().for_each(|statement| mistakes::check(statement, &tensors, &mut warnings));

    let mut statements = statements.into_iter().collect::<Option<Vec<_>>>()?;
    let taken: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let variables = indices::in_order(&mut statements, &indices.variables, &taken);
    let mut kernel = Kernel {
        name: source.name.to_owned(),
        name_span: source.name_span,
        // Compilers refuse comments in which characters change the order of others.
        documentation: source.documentation.iter().map(|line| spelled(line).into_owned()).collect(),
        visibility: source.visibility.to_owned(),
        tensors,
        variables,
        statements,
        repeat: source.repetition.cloned(),
        schedule: source.schedule.cloned(),
        warnings: Vec::new(),
    };
    repeat::settle(&mut kernel, &mut problems.expression);
    exchanged::check(&kernel, problems);
    let are_declared = |place: &usize| kernel.tensor(kernel.statements[*place].target.tensor).declared;
    for place in (0..kernel.statements.len()).filter(are_declared) {
        let mask = chooser(&kernel, place).filter(|_| simplify::has_sum(&kernel.statements[place].value));
        warnings.extend(mask.map(|mask| read_in_part(&kernel, place, &mask)));
    }
    kernel.warnings = warnings.into_sorted();
    Some(kernel)
}

/// Says that a temporary is declared in a format that holds more than is read of it.
fn read_in_part(kernel: &Kernel, place: usize, mask: &Access) -> Diagnostic {
    let made = &kernel.statements[place].target;
    let (name, mask) = (&kernel.tensor(made.tensor).name, kernel.access(mask));
    let message = format!("`{name}` is computed for all indices, and read only where `{mask}` has entries");
    Diagnostic::new(warning_codes::READ_IN_PART, made.span, message)
        .label(format!("declared as `{}`", kernel.tensor(made.tensor).format))
        .help("leave the format out: then only what is read is computed")
}

/// The statements in order; the temporaries among `tensors` get their types and formats as they are made, and results of bare
/// expressions their types.
fn statements(
    body: &[Statement],
    (tensors, infer): (&mut [Tensor], &[bool]),
    indices: &mut Indices,
    found: &mut Diagnostics,
    warnings: &mut Diagnostics,
) -> Vec<Option<Assignment>> {
    let mut made = vec![false; tensors.len()];
    let mut checked = Vec::with_capacity(body.len());
    for statement in body {
        let target = tensors.iter().position(|tensor| tensor.name == statement.target.name.name);
        let temporary = target.filter(|&target| statement.is_let && tensors[target].role == Role::Temporary);
        if let Some(target) = temporary.filter(|_| statement.element.is_none()) {
            let element = statement::element(statement, tensors);
            tensors[target].element = element;
            tensors[target].fill = tensors::start(Some(statement), element);
        }
        if let Some(target) = target.filter(|&target| infer[target] && !made[target])
            && let Some(element) = types::kind_for(&tensors[target].name, &statement.value, tensors)
        {
            // What holds every value of the type stays the default.
            if element != tensors[target].element && !element.widens(tensors[target].element) {
                tensors[target].element = element;
                tensors[target].fill = tensors::start(Some(statement), element);
            }
        }
        let updates = target.is_some_and(|target| std::mem::replace(&mut made[target], true));
        let assignment = statement::check(statement, tensors, updates, indices, found, warnings);
        if let (Some(target), Some(assignment)) = (target, &assignment) {
            let is_asked = |later: &Statement| uses::asks_for_entries(later, &tensors[target].name);
            let is_pattern = body.iter().any(is_asked);
            store(tensors, target, assignment, updates, is_pattern, indices);
        }
        checked.push(assignment);
    }
    checked
}

/// Settles what is missing in a temporary and how it is stored, where that is not said: when it is made, and again where an update
/// leaves a value everywhere. Where some statement asks for its pattern (`is_pattern`), it stores the entries of its expression.
fn store(
    tensors: &mut [Tensor],
    target: usize,
    statement: &Assignment,
    updates: bool,
    is_pattern: bool,
    indices: &Indices,
) {
    if tensors[target].role != Role::Temporary || tensors[target].declared {
        return;
    }
    if !updates {
        tensors[target].fill = temporary::fill(statement, tensors, &indices.variables);
        tensors[target].format = match statement.is_recurrent() {
            true => Format::dense(tensors[target].format.order),
            false => temporary::format(statement, tensors, &indices.variables, is_pattern),
        };
    } else if result::fills(statement, tensors, true) {
        tensors[target].format = Format::dense(tensors[target].format.order);
    }
}

/// The mentions of tensors and scalars; index variables used as values are not among them.
fn mentions<'a>(statement: &'a Statement, declared: &impl Fn(&str) -> bool) -> Vec<Use<'a>> {
    let index_names = uses::index_names(statement);
    let mut mentions = uses::of_statement(statement);
    mentions.retain(|used| {
        let index = index_names.iter().any(|index| index.name == used.name.name);
        let name = &used.name.name;
        used.order > 0 || used.part != Part::Value || declared(name) || !index && !literal::is_constant(name)
    });
    mentions
}

fn check_names(tensors: &[Tensor], uses: &[Use<'_>], body: &[Statement], found: &mut Diagnostics) {
    let mut misspelt = Vec::new();
    for used in uses.iter().filter(|used| !tensors.iter().any(|tensor| tensor.name == used.name.name)) {
        let meant = meant(used, tensors, uses);
        let problem = unknown_name(used, meant);
        found.push(match as_reduction(used, body) {
            Some(line) => Diagnostic { help: vec![format!("write `{line}`")], ..problem },
            None => problem,
        });
        misspelt.extend(meant);
    }
    for tensor in tensors {
        let mut parts = uses.iter().filter(|used| used.name.name == tensor.name).map(|used| used.part);
        match tensor.role {
            // Where a name is misspelt, that is the one problem.
            _ if misspelt.contains(&tensor.name.as_str()) => {}
            Role::Input if parts.next().is_none() => found.push(tensors::unused(tensor)),
            Role::Output if parts.all(|part| part != Part::Target) => found.push(tensors::not_assigned(tensor)),
            _ => {}
        }
        if functions::names().any(|name| name == tensor.name) {
            found.push(function_name(tensor));
        }
    }
}

/// The tensor that an unknown name may stand for: one that is spelt like it, or the result where only it can be meant.
fn meant<'a>(used: &Use<'_>, tensors: &'a [Tensor], uses: &[Use<'_>]) -> Option<&'a str> {
    let close = suggest::similar(&used.name.name, tensors.iter().map(|tensor| tensor.name.as_str()));
    let mut results = tensors.iter().filter(|tensor| tensor.role == Role::Output);
    let unassigned = |tensor: &&Tensor| uses.iter().all(|other| other.name.name != tensor.name);
    match used.part {
        Part::Target => close.or_else(|| results.find(unassigned).map(|tensor| tensor.name.as_str())),
        _ => close,
    }
}

fn unknown_name(used: &Use<'_>, close: Option<&str>) -> Diagnostic {
    let name = &used.name.name;
    if used.nested || close.is_none() && used.order > 0 && suggest::similar(name, functions::names()).is_some() {
        return call::unknown_function(used.name, used.access);
    }
    let what = if used.order == 0 { "scalar or index variable" } else { "tensor" };
    let unknown = Diagnostic::new(codes::UNKNOWN_NAME, used.name.span, format!("there is no {what} `{name}`"))
        .label("not declared");
    match (close, used.part) {
        (Some(close), Part::Target) => unknown.help(format!("assign `{close}`, or declare `{name}` as a result")),
        (Some(close), _) => unknown.help(format!("did you mean `{close}`?")),
        (None, Part::Target) => unknown.help(format!("declare it as the result: `-> {name}: dense`")),
        (None, _) if used.order == 0 => unknown.help(format!("declare it as a parameter: `{name}: f64`")),
        (None, _) => unknown.help(format!("declare it as a parameter: `{name}: dense`")),
    }
}

/// The statement that a name stands in, where the name is a sum as mathematics writes it: `sum_j(…)`.
fn as_reduction(used: &Use<'_>, body: &[Statement]) -> Option<String> {
    if !used.nested || !used.name.name.contains('_') {
        return None;
    }
    let has_it = |statement: &&Statement| {
        statement.span.start <= used.name.span.start && used.name.span.end <= statement.span.end
    };
    let translation = neighbours::translated(&body.iter().find(has_it)?.to_string())?;
    Some(translation.line)
}

fn function_name(tensor: &Tensor) -> Diagnostic {
    let message = format!("`{}` is the name of a function", tensor.name);
    Diagnostic::new(codes::NAME_CLASH, tensor.span, message)
        .label("can't be the name of a tensor")
        .help("give the tensor another name")
}
