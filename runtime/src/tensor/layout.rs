//! What a format means for a shape: the mode and the extent of each level.

use super::InvalidTensor;
use spc_compiler::format::{Coordinate, Format, LevelFormat, LevelKind};

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
        let extents: Vec<usize> = modes.iter().map(|&mode| shape[mode]).collect();
        for (number, level) in format.levels.iter().enumerate() {
            if level.format.lacks_sense() {
                return Err(unsupported(format!("level {number} can't be `{}`", level.format)));
            }
            if level.format.kind == LevelKind::Diagonal {
                let above = number.checked_sub(1).map(|above| (format.levels[above].format.kind, extents[above]));
                check_diagonal(number, extents[number], above).map_err(unsupported)?;
            }
        }
        Ok(Self { modes, extents, levels: format.levels.iter().map(|level| level.format).collect() })
    }

    /// The number of levels.
    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }
}

/// Whether each position above a diagonal level has one coordinate, which is a coordinate of the level too. `above` is the
/// kind and the extent of the level above.
fn check_diagonal(level: usize, extent: usize, above: Option<(LevelKind, usize)>) -> Result<(), String> {
    match above {
        None => Err("a `diagonal` level has the coordinate of the level above it, but is the outermost".to_owned()),
        Some((LevelKind::Run, _)) => {
            Err(format!("level {level} is `diagonal`, but a run, as the level above it has, has several coordinates"))
        }
        Some((_, above)) if above > extent => Err(format!(
            "level {level} is `diagonal` and has extent {extent}, less than {above}, that of the level above it"
        )),
        Some(_) => Ok(()),
    }
}
