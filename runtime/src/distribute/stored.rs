//! An input that is in a file, of which each rank reads its part alone.

use super::DistributeError;
use super::communicator::Communicator;
use super::placement::Placement;
use super::plan::Plan;
use super::problem::Problem;
use crate::execute::{Error, Operand, ProgramError, ProgramOptions};
use crate::io::{ReadError, ReadErrorKind, StoredTensor, Sum};
use spc_compiler::notation::Kernel;

impl Problem {
    /// A kernel and its inputs where one, in a `.spct` file, is shared out in the order in which it is stored: each rank reads as many of its
    /// entries as any other, and no rank has all of them. If its format does not come in parts, each rank reads all. The plan is made of what ranks say of theirs. All
    /// ranks call it.
    ///
    /// # Errors
    /// As [`Problem::new`] and [`Problem::plan`]; when the file can't be read or is damaged; and when another rank has stopped.
    pub fn of_stored(
        kernel: &Kernel,
        mut inputs: Vec<(String, Operand)>,
        (tensor, stored): (&str, &StoredTensor),
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
        ranks: &dyn Communicator,
    ) -> Result<(Self, Plan), DistributeError> {
        let unread = |source: ReadError| -> DistributeError {
            ProgramError::from(Error::Read { tensor: tensor.to_owned(), source }).into()
        };
        inputs.retain(|(name, _)| name != tensor);
        let parts = match stored.parts(ranks.size(), None) {
            // Each rank reads all of it.
            Err(error) if error.kind() == ReadErrorKind::NotSupported => {
                inputs.push((tensor.to_owned(), stored.read().map_err(unread)?.into()));
                let problem = Self::new(kernel, inputs, dimensions, options)?;
                let plan = problem.plan(&Placement::Shares { tensor: tensor.to_owned() }, ranks.size())?;
                return Ok((problem, plan));
            }
            parts => parts.map_err(unread)?,
        };
        let rank = ranks.rank();
        let own = match rank < parts.len() {
            true => parts.read(rank).map_err(unread)?,
            false => stored.without_entries().map_err(|source| DistributeError::pack(tensor, source))?,
        };
        // One rank checks what all have read.
        let sums = if rank < parts.len() { parts.sums(rank) } else { Vec::new() };
        let message = sums.iter().flat_map(|sum| [u64::from(sum.checksum), sum.bytes]).flat_map(u64::to_le_bytes);
        if let Some(all) = ranks.gather(message.collect())? {
            for (number, message) in all.iter().enumerate().take(parts.len()) {
                let number_at = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
                let sum = |bytes: &[u8]| Sum { checksum: number_at(&bytes[..8]) as u32, bytes: number_at(&bytes[8..]) };
                parts.take_sums(number, message.chunks_exact(16).map(sum).collect());
            }
            parts.check().map_err(unread)?;
        }
        inputs.push((tensor.to_owned(), own.into()));
        let problem = Self::new(kernel, inputs, dimensions, options)?;
        let plan = Plan::of_parts(&problem, tensor, ranks)?;
        Ok((problem, plan))
    }
}
