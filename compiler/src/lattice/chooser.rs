//! Which entries of a workspace are read: where one operand has entries.
//!
//! ```text
//! for all j
//!     C(i, j) = t(j) where M(i, j)      only entries of t at which M has one are read
//! ```

use super::{Lattice, operands};
use crate::concrete::{
    Access, Collect, IndexVariable, Kernel, Run, Statement, Target, TensorId, TensorKind, level_variables,
};
use crate::level::{is_located, is_probed, is_sequential};

/// Of more operands no lattice is made.
const MOST_OPERANDS: usize = 8;

/// The operand outside of whose entries nothing of a workspace with dense values is read by the loop that reads it, where the loop walks
/// its entries in order.
pub fn chooser(kernel: &Kernel, workspace: TensorId, consumer: &Statement) -> Option<(IndexVariable, Access)> {
    let Statement::Forall { variable, run: Run::Serial, body } = consumer else { return None };
    let TensorKind::SparseWorkspace(Collect::Bitmap(_)) = kernel.tensor(workspace).kind else { return None };
    if kernel.target != Target::Cpu || kernel.tensor(workspace).format.levels.len() != 1 {
        return None;
    }
    let operands = operands(kernel, *variable, body);
    let is_walked = |access: &Access| {
        let tensor = kernel.tensor(access.tensor);
        let levels = tensor.format.levels.iter().zip(level_variables(access, &tensor.format));
        let own: Vec<_> = levels.filter(|(_, level)| level == variable).map(|(level, _)| level.format).collect();
        let is_in_order =
            |format| !is_located(format) && !is_probed(format) && !is_sequential(format) && format.ordered();
        !matches!(tensor.kind, TensorKind::SparseWorkspace(_)) && matches!(own[..], [format] if is_in_order(format))
    };
    let is_read = operands.iter().any(|access| access.tensor == workspace);
    if !is_read || operands.len() > MOST_OPERANDS || kernel.variables[variable.0].value.is_some() {
        return None;
    }
    let lattice = Lattice::new(&kernel.tensors, body, &operands);
    let chooses = |place: &usize| lattice.points.iter().all(|point| point.operands.contains(*place));
    let found = (0..operands.len()).filter(|place| is_walked(&operands[*place])).find(chooses)?;
    Some((*variable, operands[found].clone()))
}
