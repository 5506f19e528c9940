//! Inputs that turn out to have entries at the same places: one is walked for both.

use super::super::output::same_structure;
use crate::tensor::AnyTensor;
use spc_compiler::concrete::{self, TensorKind};
use spc_compiler::diagnostics::Span;
use spc_compiler::notation;
use spc_compiler::schedule;
use spc_compiler::syntax::{Directive, Expr, ExprKind, Ident, Schedule};

/// The kernel with a schedule that says which of its inputs have the same pattern, where some have. These share their index
/// arrays then, so that a call that compares them need not look.
pub(super) fn found(
    kernel: &notation::Kernel,
    interface: &concrete::Kernel,
    packed: &mut [AnyTensor],
) -> Option<notation::Kernel> {
    let inputs = || interface.tensors.iter().filter(|tensor| tensor.kind == TensorKind::Input);
    let place = |name: &str| inputs().position(|tensor| tensor.name == name);
    let mut schedule = kernel.schedule.clone().unwrap_or(Schedule { directives: Vec::new(), span: Span::default() });
    let before = schedule.directives.len();
    for (first, second) in schedule::alike(kernel) {
        let Some((one, other)) = place(first).zip(place(second)) else { continue };
        if packed[one].shape() != packed[other].shape()
            || !same_structure(packed[one].levels().iter(), packed[other].levels())
        {
            continue;
        }
        // As many places are as many values.
        if let Ok(shared) = packed[one].with_values(packed[other].values().clone()) {
            packed[other] = shared.with_fill(packed[other].fill());
            schedule.directives.push(same_pattern([first, second]));
        }
    }
    (schedule.directives.len() > before).then(|| kernel.with_schedule(schedule))
}

fn same_pattern(names: [&str; 2]) -> Directive {
    let span = Span::default();
    let ident = |name: &str| Ident { name: name.to_owned(), span };
    let argument = |name: &str| Expr { kind: ExprKind::Name(ident(name)), span };
    Directive {
        scope: None,
        name: ident("same_pattern"),
        arguments: names.map(argument).into(),
        choices: Vec::new(),
        span,
    }
}
