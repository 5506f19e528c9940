//! Loops over rows, in vector registers.

use super::function::{Maker, Result, Val};
use spc_compiler::ir::{ArrayId, Expr, Statement, VariableId};

impl Maker<'_, '_> {
    /// Makes a loop over rows; whether it could.
    pub(super) fn lanes(&mut self, _: VariableId, _: &Expr, _: &Expr, _: &[Statement]) -> Result<bool> {
        Ok(false)
    }

    /// Makes an array in registers; whether it could.
    pub(super) fn in_registers(&mut self, _: ArrayId, _: u64, _: Val) -> bool {
        false
    }
}
