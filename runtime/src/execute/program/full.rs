//! Sparse results that come out full: whether there is memory for them, before their entries are appended one by one.

use crate::execute::Error;
use crate::execute::ProgramError;
use crate::memory;
use spc_compiler::notation;
use spc_compiler::schedule;

/// Refuses a result that stores every element where these have no room.
pub(super) fn check_memory(
    kernel: &notation::Kernel,
    program: &schedule::Program,
    extents: &[usize],
) -> Result<(), ProgramError> {
    for tensor in kernel.full_results() {
        let result = kernel.tensor(tensor);
        let made = program.kernels.iter().find_map(|made| {
            let tensor = made.tensors.iter().find(|tensor| tensor.name == result.name)?;
            Some((made, tensor))
        });
        let Some((made, tensor)) = made else { continue };
        let extent = |place: &usize| {
            let name = &made.extents[*place].name;
            let known = program.interface.extents.iter().position(|extent| extent.name == *name);
            known.and_then(|known| extents.get(known)).copied().unwrap_or(1)
        };
        let count = tensor.extents.iter().map(extent).try_fold(1usize, usize::checked_mul);
        let stores = |level: &&spc_compiler::format::Level| !level.format.kind.is_dense();
        let mut coordinates =
            result.format.levels.iter().filter(stores).map(|level| level.format.coordinates().bytes());
        let size = result.element.bytes() + coordinates.next_back().unwrap_or(0);
        memory::check_room(count.unwrap_or(usize::MAX), size)
            .map_err(|source| Error::Memory { tensor: result.name.clone(), source })?;
    }
    Ok(())
}
