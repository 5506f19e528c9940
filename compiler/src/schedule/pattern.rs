//! Inputs of the same pattern: their entries are at the same places, so that those of one are walked for all.
//!
//! ```text
//! Y(i, j) = X(i, j) * Z(i, j)      schedule { same_pattern(X, Z); }
//!
//! for p in positions of X:  Y_vals[p] = X_vals[p] * Z_vals[p]         and Y shares the index arrays of X
//! ```
//!
//! Every access to the second reads the values of the second where the first has an entry. What is said is trusted here; each call
//! compares the index arrays.
//!
//! So are a sparse result's own values read by the statement that assigns it, as in an incomplete factorization: the result has the index
//! arrays of its mask, which are walked.

use super::{Kernel, TensorId, TensorKind};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::notation::{self, Access, Reading, Role};
use crate::remark::{Remark, What, Why};
use crate::syntax::{Directive, ExprKind, Ident};

/// The name of the directive.
const NAME: &str = "same_pattern";

/// The two names of each directive that says so.
fn said(directives: &[Directive]) -> impl Iterator<Item = (&Directive, [&Ident; 2])> {
    directives.iter().filter(|directive| directive.name.name == NAME).filter_map(|directive| {
        match &directive.arguments[..] {
            [first, second] => match (&first.kind, &second.kind) {
                (ExprKind::Name(first), ExprKind::Name(second)) => Some((directive, [first, second])),
                _ => None,
            },
            _ => None,
        }
    })
}

/// The kernel as its schedule says, which notes in `declared` the pattern that inputs have; `None` where it says nothing of these.
pub(super) fn aligned(
    kernel: &notation::Kernel,
    declared: &mut Kernel,
    found: &mut Diagnostics,
) -> Option<notation::Kernel> {
    let directives = kernel.schedule.as_ref().map_or(&[][..], |schedule| &schedule.directives);
    if directives.is_empty() && !kernel.statements.iter().any(notation::Assignment::is_recurrent) {
        return None;
    }
    for (directive, names) in said(directives) {
        match tensors(kernel, names) {
            // Another kernel of the chain reads them.
            None => {}
            Some([first, second]) => match problem(declared, first, second) {
                None => join(declared, first, second),
                Some((message, help)) => found.push(refusal(directive.span, message, help)),
            },
        }
    }
    let mut changed = kernel.clone();
    let mut is_changed = false;
    for statement in &mut changed.statements {
        let Some(pattern) = statement.pattern(&kernel.tensors).filter(|_| statement.is_recurrent()) else { continue };
        let target = statement.target.tensor;
        let format = &kernel.tensor(pattern).format;
        let computed = &mut declared.tensors[target.0];
        if computed.format != *format {
            computed.delivered = Some(std::mem::replace(&mut computed.format, format.clone()));
            changed.tensors[target.0].format = format.clone();
        }
        statement.value.for_each_access_mut(&mut |access| {
            if access.tensor == target {
                *access = Access { tensor: pattern, reads: Reading::ValueOf(target), ..access.clone() };
                is_changed = true;
            }
        });
    }
    let pattern = |tensor: TensorId| declared.tensor(tensor).pattern;
    let mut align = |access: &mut Access| {
        if let Some(other) = pattern(access.tensor) {
            if access.reads == Reading::Value {
                access.reads = Reading::ValueOf(access.tensor);
            }
            access.tensor = other;
            is_changed = true;
        }
    };
    changed.statements.iter_mut().for_each(|statement| statement.for_each_access_mut(&mut align));
    is_changed.then_some(changed)
}

fn tensors(kernel: &notation::Kernel, names: [&Ident; 2]) -> Option<[TensorId; 2]> {
    let find = |name: &Ident| kernel.tensors.iter().position(|tensor| tensor.name == name.name).map(TensorId);
    Some([find(names[0])?, find(names[1])?])
}

/// Why two tensors can't be read as one pattern, and what to do.
fn problem(declared: &Kernel, first: TensorId, second: TensorId) -> Option<(String, &'static str)> {
    let [one, other] = [declared.tensor(first), declared.tensor(second)];
    let names = format!("`{}` and `{}`", one.name, other.name);
    if let Some(made) = [one, other].into_iter().find(|tensor| tensor.kind != TensorKind::Input) {
        return Some((format!("`{}` is no input", made.name), "only what comes from outside has a known pattern"));
    }
    if first == second {
        return Some((format!("`{}` has its own pattern in any case", one.name), "name two inputs"));
    }
    if one.format != other.format {
        return Some((format!("{names} are stored in different formats"), "store both in one format"));
    }
    if one.format.is_dense() {
        return Some((format!("{names} are dense"), "a pattern is that of stored entries"));
    }
    let message = || format!("{names} are read at indices of different extents");
    (one.extents != other.extents).then(|| (message(), "read both at the same indices"))
}

/// Gives both, and all that have the pattern of one of them, the pattern of the first among them.
fn join(declared: &mut Kernel, first: TensorId, second: TensorId) {
    let root = |tensor: TensorId| declared.tensor(tensor).pattern.unwrap_or(tensor);
    let (low, high) = (root(first).min(root(second)), root(first).max(root(second)));
    if low == high {
        return;
    }
    for id in 0..declared.tensors.len() {
        let tensor = &mut declared.tensors[id];
        if TensorId(id) == high || tensor.pattern == Some(high) {
            tensor.pattern = Some(low);
        }
    }
    let name = |tensor: TensorId| declared.tensor(tensor).name.clone();
    let what = What::SamePattern(name(low), name(high));
    declared.decisions.push(Remark::new(what, Why::SamePlaces));
}

/// Refuses what would read the entries of a copy in another order, whose values are elsewhere.
pub(super) fn check(kernel: &Kernel, directives: &[Directive], found: &mut Diagnostics) {
    let mut copied = None;
    kernel.body.for_each_read(&mut |access| {
        if kernel.reads_result(access) && kernel.tensor(access.tensor).kind.of().is_some() {
            copied = copied.or(Some((access.values(), access.span)));
        }
    });
    if let Some((tensor, span)) = copied {
        let name = &kernel.tensor(tensor).name;
        let problem = Diagnostic::new(
            if directives.is_empty() { codes::RESULT_READ } else { codes::SCHEDULE_REFUSED },
            span,
            format!("`{name}` is read against the order in which it is stored"),
        );
        let problem = problem.label("a copy would not have what is assigned meanwhile");
        found.push(problem.help("store it, and the input that it has the entries of, in the order of the loops"));
        return;
    }
    let is_walked = |id: usize| kernel.tensors.iter().any(|tensor| tensor.pattern == Some(TensorId(id)));
    let copies = kernel.tensors.iter().filter_map(|tensor| tensor.kind.of());
    let Some(copied) = copies.into_iter().find(|of| is_walked(of.0)) else { return };
    let name = &kernel.tensor(copied).name;
    let span = said(directives).find(|(_, names)| names.iter().any(|ident| ident.name == *name));
    let span = span.map_or(Span::default(), |(directive, _)| directive.span);
    let message = format!("`{name}` is read from a copy in another order, where entries are at other places");
    found.push(refusal(span, message, "store it in the order of the loops, or leave the directive out"));
}

/// Whether the schedule says that a tensor has the pattern of another, or another its.
pub(super) fn has_another(kernel: &notation::Kernel, tensor: &str) -> bool {
    let directives = kernel.schedule.as_ref().map_or(&[][..], |schedule| &schedule.directives);
    said(directives).any(|(_, names)| names.iter().any(|name| name.name == tensor))
}

fn refusal(span: Span, message: String, help: &str) -> Diagnostic {
    Diagnostic::new(codes::SCHEDULE_REFUSED, span, message).label("can't be kept to").help(help)
}

/// Pairs of inputs, by their names, that one walk would serve where their entries are at the same places: they are stored alike and
/// some statement reads both at the same indices.
pub fn alike(kernel: &notation::Kernel) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    for statement in &kernel.statements {
        let reads: Vec<&Access> = statement.reads().collect();
        for (place, second) in reads.iter().enumerate() {
            let other = reads[..place].iter().find(|first| are_alike(kernel, first, second));
            let pair = other.map(|first| (name(kernel, first), name(kernel, second)));
            pairs.extend(pair.filter(|pair| !pairs.contains(pair)));
        }
    }
    pairs
}

fn name<'a>(kernel: &'a notation::Kernel, access: &Access) -> &'a str {
    &kernel.tensor(access.tensor).name
}

fn are_alike(kernel: &notation::Kernel, first: &Access, second: &Access) -> bool {
    let [one, other] = [kernel.tensor(first.tensor), kernel.tensor(second.tensor)];
    first.tensor != second.tensor
        && first.indices == second.indices
        && [one, other].iter().all(|tensor| tensor.role == Role::Input)
        && one.format == other.format
        && !one.format.is_dense()
}
