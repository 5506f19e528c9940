//! Checked copies of index arrays.
//!
//! Other code may write to the index arrays of a matrix at any time: its owner, another thread, another process. So they are copied before
//! they are checked, and kernels read the copy:
//!
//! ```text
//! first call      arrays of the matrix ── copied ──> pattern ── checked ──> tensor
//! later calls     arrays of the matrix ── compared with the pattern ──────> tensor
//! ```
//!
//! Whether index arrays are right depends on their elements, the shape and the format, and on nothing else.

use crate::tensor::private;
use pyo3::prelude::*;
use rayon::prelude::*;
use spc::tensor::{AnyTensor, IndexArray, InvalidTensor, LevelArrays, Values};
use spc_compiler::format::Format;

/// Arrays of more bytes are compared by several threads, in parts of this size.
const PART: usize = 1 << 18;

/// Index arrays of a tensor that were checked, in memory that nothing else writes to.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Pattern {
    shape: Vec<usize>,
    format: Format,
    levels: Vec<LevelArrays>,
    values: usize,
}

impl Pattern {
    fn of(tensor: &AnyTensor) -> Self {
        Self {
            shape: tensor.shape().to_vec(),
            format: tensor.format().clone(),
            levels: tensor.levels().to_vec(),
            values: tensor.values().len(),
        }
    }

    fn is_that_of(&self, shape: &[usize], format: &Format, levels: &[LevelArrays], values: usize) -> bool {
        self.shape == shape
            && self.format == *format
            && self.values == values
            && self.levels.len() == levels.len()
            && self.levels.iter().zip(levels).all(|(own, given)| {
                same(own.positions(), given.positions()) && same(own.coordinates(), given.coordinates())
            })
    }
}

/// A tensor of borrowed index arrays: those of a pattern where they have the same elements, or else copies, which are checked and are a new
/// pattern.
pub(crate) fn tensor(
    shape: Vec<usize>,
    format: Format,
    borrowed: &[LevelArrays],
    values: Values,
    known: Option<&Pattern>,
) -> Result<(AnyTensor, Option<Pattern>), InvalidTensor> {
    if let Some(known) = known.filter(|known| known.is_that_of(&shape, &format, borrowed, values.len())) {
        // SAFETY: a tensor of this shape, format, number of values and these very index arrays was accepted. Nothing writes to them: they
        // are private copies, which Python gets for reading.
        let tensor = unsafe { AnyTensor::from_known_parts(shape, format, known.levels.clone(), values) };
        return Ok((tensor, None));
    }
    let tensor = AnyTensor::from_parts(shape, format, borrowed.iter().map(private).collect(), values)?;
    let pattern = Pattern::of(&tensor);
    Ok((tensor, Some(pattern)))
}

fn same(own: Option<&IndexArray>, given: Option<&IndexArray>) -> bool {
    let (Some(own), Some(given)) = (own, given) else { return own.is_none() && given.is_none() };
    let (one, other) = (own.as_bytes(), given.as_bytes());
    own.width() == given.width()
        && one.len() == other.len()
        && (one.len() <= PART && one == other
            || one.len() > PART && one.par_chunks(PART).zip(other.par_chunks(PART)).all(|(one, other)| one == other))
}
