//! The arrays of outputs, before a kernel runs and after.

use super::array::Data;
use super::error::Error;
use crate::parallel::Chunks;
use crate::tensor::{AnyTensor, Element, IndexArray, LevelArrays, Values, level_extents, values::with_values_mut};
use spc_compiler::format::{Coordinate, Format, Level, LevelArray, Role};
use spc_compiler::ir::{ArrayRole, Literal, Tensor, TensorId};
use spc_compiler::level;

/// The levels of an output whose structure is given: some of an operand, further ones dense.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels<'a> {
    shared: &'a [LevelArrays],
    count: usize,
}

impl<'a> Levels<'a> {
    /// The first `count` levels from those of an operand, further ones dense; `None` where that is not the declared format.
    pub(super) fn shared(declared: &Tensor, operand: &'a [LevelArrays], count: usize) -> Option<Self> {
        let levels = Self { shared: operand.get(..count)?, count: declared.format.levels.len() };
        let as_declared = count <= levels.count
            && levels.iter().zip(&declared.format.levels).all(|(storage, level)| {
                let format = level.format;
                let is_wide = |array: &LevelArray| {
                    storage.array(array.role).is_some_and(|found| found.width() == format.width(array.role))
                };
                storage.are_of(format) && format.arrays().all(is_wide)
            });
        as_declared.then_some(levels)
    }

    pub(super) fn iter(self) -> impl ExactSizeIterator<Item = &'a LevelArrays> {
        static DENSE: LevelArrays = LevelArrays::NONE;
        (0..self.count).map(move |level| self.shared.get(level).unwrap_or(&DENSE))
    }

    pub(super) fn to_vec(self) -> Vec<LevelArrays> {
        self.iter().cloned().collect()
    }
}

/// How many values a tensor of these levels has; `None` where that can't be counted.
pub(super) fn value_count(
    declared: &Tensor,
    levels: Levels<'_>,
    mut shape: impl Iterator<Item = usize>,
) -> Option<usize> {
    if is_rectangular(&declared.format) {
        return shape.try_fold(1usize, usize::checked_mul);
    }
    let extents = level_extents(&declared.format, &shape.collect::<Vec<_>>()).ok()?;
    let mut levels = levels.iter().zip(&declared.format.levels).zip(extents);
    levels.try_fold(1, |count, ((storage, level), extent)| storage.position_count(level.format, count, extent))
}

/// Whether a tensor has a value for each index, and none besides.
pub(super) fn is_rectangular(format: &Format) -> bool {
    let stores_mode = |level: &Level| matches!(level.coordinate, Coordinate::Mode(_));
    format.is_dense() && format.levels.len() == format.order && format.levels.iter().all(stores_mode)
}

/// Whether two tensors of one shape and format have entries at the same places.
pub(super) fn same_structure<'a>(left: impl ExactSizeIterator<Item = &'a LevelArrays>, right: &[LevelArrays]) -> bool {
    let same = |left: Option<&IndexArray>, right: Option<&IndexArray>| match (left, right) {
        (Some(left), Some(right)) => left.shares_or_equals(right),
        (None, None) => true,
        _ => false,
    };
    left.len() == right.len()
        && left.zip(right).all(|(left, right)| {
            same(left.positions(), right.positions()) && same(left.coordinates(), right.coordinates())
        })
}

/// So many values are set by the thread that asks for it: they are no more than one chunk.
const SMALL: usize = 4096;

/// Sets all values to this one, on the threads that kernels write them on: each has its share in its cache then.
pub(super) fn fill(values: &mut Values, value: Literal) {
    fn all<T: Element>(values: &mut [T], value: Literal) {
        let Some(value) = T::from_literal(value) else { return };
        if values.len() <= SMALL {
            return values.fill(value);
        }
        let chunks = Chunks::even(0, values.len());
        let parts = chunks.owned(values, &|place| place);
        chunks.run(&|chunk| {
            let mut part = parts.take(chunk);
            let range = part.range();
            part[range].fill(value);
        });
    }
    with_values_mut!(values, |values| all(values, value));
}

/// Shows where checks are on whether a kernel writes all values of what it is said to overwrite.
pub(super) fn spoil(values: &mut Values) {
    if cfg!(debug_assertions) {
        let element = values.element();
        let spoilt = if element.is_float() { Literal::new(element, f64::NAN) } else { Literal::new(element, 77.0) };
        fill(values, spoilt.unwrap_or(Literal::Integer(element, 1)));
    }
}

/// The levels that a kernel has appended.
pub(super) fn appended_levels(
    id: TensorId,
    declared: &Tensor,
    find: &mut dyn FnMut(ArrayRole) -> Option<Data>,
) -> Result<Vec<LevelArrays>, Error> {
    let mut indices = |role: ArrayRole| match find(role) {
        Some(Data::Index(indices)) => Ok(indices),
        _ => Err(wrong(declared, "an index array is missing".to_owned())),
    };
    let mut levels = Vec::with_capacity(declared.format.levels.len());
    for (number, format) in declared.format.levels.iter().enumerate() {
        let mut array = |role: Role| {
            let declared = format.format.array(role);
            declared.map(|_| indices(ArrayRole::of_level(role, id, number))).transpose()
        };
        let (positions, coordinates) = (array(Role::Positions)?, array(Role::Coordinates)?);
        if let (Some(positions), Some(coordinates)) = (&positions, &coordinates) {
            // Positions were narrowed as they were stored: that they were too large shows here and nowhere else.
            let (count, width) = (coordinates.len(), positions.width());
            if count as u64 > width.maximum() {
                return Err(Error::PositionWidth { tensor: declared.name.clone(), level: number, count, width });
            }
        }
        levels.push(LevelArrays::new(positions, coordinates));
    }
    Ok(levels)
}

/// A tensor of what a kernel has made. The lengths of arrays are checked here; that coordinates are in order and in range is the
/// compiler's duty, which debug builds check.
pub(super) fn assemble(
    declared: &Tensor,
    shape: Vec<usize>,
    levels: Vec<LevelArrays>,
    values: Values,
) -> Result<AnyTensor, Error> {
    check_lengths(declared, &shape, &levels, &values)?;
    if cfg!(debug_assertions) {
        let tensor = AnyTensor::from_filled_parts(shape, declared.format.clone(), levels, values, declared.fill);
        return tensor.map_err(|error| wrong(declared, error.to_string()));
    }
    Ok(AnyTensor::from_parts_trusted(shape, declared.format.clone(), levels, values).with_fill(declared.fill))
}

fn check_lengths(declared: &Tensor, shape: &[usize], levels: &[LevelArrays], values: &Values) -> Result<(), Error> {
    let mut parents = 1usize;
    if is_rectangular(&declared.format) && levels.len() == declared.format.levels.len() {
        parents = shape.iter().product();
        return check_count(declared, values, parents);
    }
    let extents = level_extents(&declared.format, shape).map_err(|error| wrong(declared, error.to_string()))?;
    for (number, (storage, extent)) in levels.iter().zip(extents).enumerate() {
        let expect = |what: &str, expected: Option<usize>, found: usize| {
            if expected == Some(found) {
                return Ok(());
            }
            let expected = expected.map_or("none".to_owned(), |expected| expected.to_string());
            Err(wrong(declared, format!("level {} has {found} {what} instead of {expected}", number + 1)))
        };
        let format = declared.format.levels[number].format;
        let appended = level::is_appended(format);
        match (storage.positions(), storage.coordinates()) {
            // No kernel appends to others: they are an operand's.
            _ if !appended => {}
            (Some(positions), Some(coordinates)) => {
                expect("positions", parents.checked_add(1), positions.len())?;
                expect("coordinates", positions.last(), coordinates.len())?;
            }
            (_, Some(coordinates)) => expect("coordinates", Some(parents), coordinates.len())?,
            _ => {}
        }
        parents = storage
            .position_count(format, parents, extent)
            .ok_or_else(|| Error::TooLarge { tensor: declared.name.clone() })?;
    }
    check_count(declared, values, parents)
}

/// Checks that an output has a value for each of its positions.
pub(super) fn check_count(declared: &Tensor, values: &Values, positions: usize) -> Result<(), Error> {
    if values.len() == positions {
        return Ok(());
    }
    Err(wrong(declared, format!("there are {} values for {positions} positions", values.len())))
}

fn wrong(declared: &Tensor, reason: String) -> Error {
    Error::Output { tensor: declared.name.clone(), reason }
}
