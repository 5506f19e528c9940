//! What ranks have of results, and how it becomes a whole.

use super::DistributeError;
use super::communicator::Communicator;
use super::dense_rows::put_rows;
use super::listed::{Listed, dense};
use super::plan::Plan;
use super::problem::Problem;
use crate::tensor::{AnyTensor, Duplicates, Element, Values};
use crate::with_element;
use spc_compiler::ir::{ElementType, Literal};
use spc_compiler::notation::Tensor;
use std::borrow::Borrow;
use std::time::Duration;

/// What a rank has of the results, and what it took.
#[derive(Debug)]
pub struct Part {
    pub(super) results: Vec<(usize, Held)>,
    /// Taking rows of operands from their owners, without what the kernel does meanwhile.
    pub exchange_time: Duration,
    /// Scheduling and compiling the kernel for what this rank has; cutting entries in two for [`Overlap`](super::Overlap).
    pub compile_time: Duration,
    /// In the kernel.
    pub kernel_time: Duration,
    /// The entries of the tensor that is shared out on which the kernel ran while rows of operands were under way.
    pub overlapped: usize,
    /// Bringing rows of results to their owners, and combining them there.
    pub combine_time: Duration,
}

/// What a rank has of one result.
#[derive(Debug)]
pub(super) enum Held {
    /// Rows of a dense result, those that the rank owns.
    Rows(Vec<u8>),
    /// Entries at the coordinates that the rank owns.
    Entries(Listed),
    /// Elements of a dense result, row by row, that come after those of the ranks before it.
    Elements(Values),
    /// All of it, the same on each rank.
    Whole(AnyTensor),
}

impl Problem {
    /// The results as a whole, on the first rank. All ranks call it.
    ///
    /// # Errors
    /// When another rank has stopped, or there is not enough memory.
    pub fn gather(
        &self,
        plan: &Plan,
        part: impl Borrow<Part>,
        ranks: &dyn Communicator,
    ) -> Result<Option<Vec<(String, AnyTensor)>>, DistributeError> {
        let mut all = Vec::new();
        for &(place, ref held) in &part.borrow().results {
            let declared = &self.kernel.tensors[place];
            let shape = self.shape(&declared.name).to_vec();
            let own = match held {
                Held::Rows(bytes) => bytes.clone(),
                Held::Entries(listed) => listed.message(),
                Held::Elements(values) => values.as_bytes().to_vec(),
                Held::Whole(_) => Vec::new(),
            };
            let Some(messages) = ranks.gather(own)? else { continue };
            let pack = |source| DistributeError::pack(&declared.name, source);
            let tensor = match held {
                Held::Whole(tensor) => tensor.clone(),
                Held::Rows(_) => {
                    let tensor = self.of_all_rows(plan, place, &messages)?;
                    tensor.with_fill(declared.fill).convert(&declared.format).map_err(pack)?
                }
                Held::Elements(_) => {
                    let tensor = dense(shape, declared.element, &messages.concat());
                    tensor.map_err(|error| pack(error.into()))?.with_fill(declared.fill)
                }
                Held::Entries(_) => {
                    let mut listed = Listed::empty(shape, declared.element);
                    messages.iter().for_each(|message| listed.read(message));
                    packed(listed, declared, self.begins(declared))?
                }
            };
            all.push((declared.name.clone(), tensor));
        }
        Ok((ranks.rank() == 0).then_some(all))
    }

    /// A result of the rows that ranks own, row by row.
    pub(super) fn of_all_rows(
        &self,
        plan: &Plan,
        place: usize,
        rows: &[Vec<u8>],
    ) -> Result<AnyTensor, DistributeError> {
        let declared = &self.kernel.tensors[place];
        let shape = self.shape(&declared.name).to_vec();
        let (mode, index) = plan.cut(place).expect("rows are of an index");
        let mut bytes = self.begin(declared, shape.iter().product());
        for (rank, rows) in rows.iter().enumerate() {
            let owned: Vec<usize> = plan.rows[index].owned(rank).into_iter().map(|row| row as usize).collect();
            put_rows(&mut bytes, &shape, (mode, declared.element.bytes()), &owned, rows);
        }
        dense(shape, declared.element, &bytes).map_err(|error| DistributeError::pack(&declared.name, error.into()))
    }

    /// What elements of a result begin as.
    pub(super) fn begins(&self, declared: &Tensor) -> Literal {
        let statement = &self.kernel.statements[0];
        match self.kernel.tensor(statement.target.tensor).name == declared.name {
            true => self.kernel.begins_with(statement),
            false => declared.fill,
        }
    }

    /// The bytes of so many elements of a result, as they begin.
    pub(super) fn begin(&self, declared: &Tensor, count: usize) -> Vec<u8> {
        literal_bytes(self.begins(declared), declared.element).repeat(count)
    }
}

/// Entries in the format of a result.
pub(super) fn packed(listed: Listed, declared: &Tensor, begins: Literal) -> Result<AnyTensor, DistributeError> {
    let fill = if declared.format.is_dense() { begins } else { declared.fill };
    let packed = listed.entries().pack(&declared.format, Duplicates::Refuse, fill);
    let tensor = packed.map_err(|source| DistributeError::pack(&declared.name, source))?;
    Ok(tensor.with_fill(declared.fill))
}

pub(super) fn literal_bytes(literal: Literal, element: ElementType) -> Vec<u8> {
    with_element!(element, |T| bytemuck::bytes_of(&T::from_literal(literal).unwrap_or(T::ZERO)).to_vec())
}
