//! What a format means for a shape: the mode and the extent of each level.

use super::InvalidTensor;
use spc_compiler::format::{Coordinate, Format, LevelFormat};

/// The levels of a tensor of a given shape, each with its mode and extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The mode that each level stores.
    pub(crate) modes: Vec<usize>,
    /// The extent of each level's coordinate.
    pub(crate) extents: Vec<usize>,
    /// The format of each level.
    pub(crate) levels: Vec<LevelFormat>,
}

impl Layout {
    /// Checks that the format serves the shape and that each mode is stored by one level.
    pub(crate) fn new(format: &Format, shape: &[usize]) -> Result<Self, InvalidTensor> {
        if format.order != shape.len() {
            return Err(InvalidTensor::Order { format: format.to_string(), order: format.order, modes: shape.len() });
        }
        let unsupported = |reason: String| InvalidTensor::Unsupported { format: format.to_string(), reason };
        let mut stored = vec![false; format.order];
        let mut modes = Vec::with_capacity(format.levels.len());
        for (number, level) in format.levels.iter().enumerate() {
            let Coordinate::Mode(mode) = level.coordinate else {
                return Err(unsupported(format!("level {number} stores `{}`, which is not a mode", level.coordinate)));
            };
            match stored.get_mut(mode) {
                None => return Err(unsupported(format!("level {number} stores mode {mode}, which there is not"))),
                Some(true) => return Err(unsupported(format!("two levels store mode {mode}"))),
                Some(stored) => *stored = true,
            }
            modes.push(mode);
        }
        if let Some(mode) = stored.iter().position(|stored| !stored) {
            return Err(unsupported(format!("no level stores mode {mode}")));
        }
        let extents = modes.iter().map(|&mode| shape[mode]).collect();
        Ok(Self { modes, extents, levels: format.levels.iter().map(|level| level.format).collect() })
    }

    /// The number of levels.
    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }
}
