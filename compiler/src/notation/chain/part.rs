//! Parts of a value as temporaries.

use crate::format::Format;
use crate::notation::check::{temporary_fill, temporary_format};
use crate::notation::{Access, Assignment, Expr, Hints, IndexVariable, Kernel, Role, Stage, Tensor, TensorId};
use crate::remark::{Remark, What, Why};

/// The kernel with parts of its statements made first: `take` takes those of one out of it, and gives the statements that make them,
/// with reasons.
pub(super) fn cut_off(
    mut kernel: Kernel,
    mut take: impl FnMut(&mut Kernel, &mut Assignment) -> Vec<(Assignment, Why)>,
) -> (Kernel, Vec<Remark>) {
    let mut decisions = Vec::new();
    for mut statement in std::mem::take(&mut kernel.statements) {
        // A part that reads the result has no time before it.
        let taken = if statement.is_recurrent() { Vec::new() } else { take(&mut kernel, &mut statement) };
        for (made, why) in taken {
            let name = kernel.tensor(made.target.tensor).name.clone();
            decisions.push(Remark::new(What::CutOff(name), why));
            kernel.statements.push(Assignment { stage: statement.stage, ..made });
        }
        kernel.statements.push(statement);
    }
    if !decisions.is_empty() {
        kernel.renumber_variables();
    }
    (kernel, decisions)
}

/// Puts a new temporary in the place of a part of what `of` is assigned; gives the statement that makes it.
pub(super) fn take(kernel: &mut Kernel, of: &Access, place: &mut Expr) -> Assignment {
    let indices: Vec<IndexVariable> = place.free_variables(&|variable| kernel.running(&[variable]));
    let assigned = kernel.tensor(of.tensor);
    let element = kernel.element_of(place);
    let part = Tensor {
        name: name(kernel, &format!("{}_part", assigned.name)),
        span: assigned.span,
        element,
        fill: element.zero(),
        format: Format::dense(indices.len()),
        format_name: None,
        role: Role::Temporary,
        declared: false,
        hints: Hints::default(),
    };
    kernel.tensors.push(part);
    let id = TensorId(kernel.tensors.len() - 1);
    let target = Access::new(id, indices, of.span);
    let value = std::mem::replace(place, Expr::Access(target.clone()));
    let made = Assignment { target, operator: None, value, mask: None, stage: Stage::Before, span: of.span };
    kernel.tensors[id.0].fill = temporary_fill(&made, &kernel.tensors, &kernel.variables);
    kernel.tensors[id.0].format = temporary_format(&made, &kernel.tensors, &kernel.variables, false);
    made
}

/// A name that nothing has.
pub(super) fn name(kernel: &Kernel, wish: &str) -> String {
    let mut name = wish.to_owned();
    let is_taken = |name: &str| {
        kernel.tensors.iter().any(|tensor| tensor.name == name)
            || kernel.variables.iter().any(|variable| variable.name == name)
    };
    while is_taken(&name) {
        name.push('_');
    }
    name
}
