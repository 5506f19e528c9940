//! Symmetric tensors: what is declared so, and what is assigned to such a result.

use super::problems::Problems;
use crate::diagnostics::{Diagnostic, codes::notation as codes};
use crate::format::SymmetryKind;
use crate::ir::{ElementKind, ElementType};
use crate::notation::{Kernel, Role, Tensor};

/// Refuses what a symmetric tensor can't hold, and results that may be something else.
pub(super) fn check(kernel: &Kernel, problems: &mut Problems) {
    for tensor in &kernel.tensors {
        problems.expression.extend(without_sign(tensor));
    }
    for statement in &kernel.statements {
        let tensor = kernel.tensor(statement.target.tensor);
        let Some(symmetry) = &tensor.format.symmetry else { continue };
        if statement.is_recurrent() {
            let message = format!("`{}` is {symmetry}, and reads itself", tensor.name);
            let problem = Diagnostic::new(codes::SYMMETRY, statement.span, message);
            let problem = problem.label("half of what it reads would not be there");
            problems.expression.push(problem.help(format!(
                "declare `{}` without `{}`",
                tensor.name,
                symmetry.kind.name()
            )));
        } else if !kernel.is_exchangeable(statement) {
            let message = format!("`{}` is {symmetry}, and this may be something else", tensor.name);
            let problem = Diagnostic::new(codes::SYMMETRY, statement.span, message);
            let problem = problem.label("not seen to stay what it is when the indices are exchanged");
            let help = match tensor.role {
                Role::Temporary => "declare it without, or declare temporaries that it reads as what they are",
                Role::Input | Role::Output => {
                    "declare the result without; `spc convert` stores a tensor so that has the values for it"
                }
            };
            problems.expression.push(problem.help(help));
        }
    }
}

/// A sign that elements have not.
fn without_sign(tensor: &Tensor) -> Option<Diagnostic> {
    let symmetry = tensor.format.symmetry.as_ref().filter(|symmetry| symmetry.kind == SymmetryKind::Skew)?;
    let has_sign = |element: ElementType| !matches!(element.kind(), ElementKind::Unsigned | ElementKind::Truth);
    let (message, label) = match (has_sign(tensor.element), tensor.fill.is_zero()) {
        (true, true) => return None,
        (false, _) => (
            format!("`{}` is {symmetry}, and elements of type {} have no sign", tensor.name, tensor.element.name()),
            "needs a type with a sign",
        ),
        (true, false) => (
            format!("`{}` is {symmetry}, and its fill value is not zero", tensor.name),
            "what is not stored would change its sign",
        ),
    };
    Some(Diagnostic::new(codes::SYMMETRY, tensor.span, message).label(label))
}
