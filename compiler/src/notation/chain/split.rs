//! A kernel for each statement.
//!
//! Before: statements that each assign a tensor of their own. After: for each a kernel whose parameters are what it reads,
//! in the order of the whole kernel's tensors, and whose result is what it assigns.

use super::Link;
use crate::notation::{Assignment, IndexVariable, Kernel, Role, Stage, Tensor, TensorId, Variable};

/// The kernels of a kernel's statements, in order.
pub(super) fn split(kernel: &Kernel) -> Vec<Link> {
    if let ([_], None) = (&kernel.statements[..], &kernel.repeat) {
        let variables = (0..kernel.variables.len()).map(IndexVariable).collect();
        return vec![Link { kernel: kernel.clone(), variables, stage: Stage::Before }];
    }
    kernel.statements.iter().enumerate().map(|(place, statement)| link(kernel, place, statement)).collect()
}

fn link(kernel: &Kernel, place: usize, statement: &Assignment) -> Link {
    let target = statement.target.tensor;
    let is_read = |id: usize| statement.reads().any(|access| access.tensor.0 == id);
    let mut ids: Vec<usize> = (0..kernel.tensors.len()).filter(|&id| id != target.0 && is_read(id)).collect();
    ids.push(target.0);
    let tensor = |&id: &usize| {
        let role = if id == target.0 { Role::Output } else { Role::Input };
        Tensor { role, ..kernel.tensors[id].clone() }
    };
    let tensors = ids.iter().map(tensor).collect();

    let variables = statement.variables(&kernel.variables);
    let stage = statement.stage;
    let mut statement = Assignment { stage: Stage::Before, ..statement.clone() };
    let position = |id: TensorId| ids.iter().position(|&other| other == id.0).unwrap_or_default();
    statement.for_each_access_mut(&mut |access| access.tensor = TensorId(position(access.tensor)));
    let own = |variable| IndexVariable(variables.iter().position(|&other| other == variable).unwrap_or_default());
    statement.rename(&mut |variable| own(variable));
    let declared = |&variable: &IndexVariable| {
        let declared = kernel.variables[variable.0].clone();
        Variable { value: declared.value.map(|value| value.map(&mut |&made_of| own(made_of))), ..declared }
    };
    let kernel = Kernel {
        name: format!("{}_{}", kernel.name, kernel.tensor(target).name),
        documentation: if place == 0 { kernel.documentation.clone() } else { Vec::new() },
        tensors,
        variables: variables.iter().map(declared).collect(),
        statements: vec![statement],
        repeat: None,
        warnings: Vec::new(),
        ..kernel.clone()
    };
    Link { kernel, variables, stage }
}
