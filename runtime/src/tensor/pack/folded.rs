//! The entries that a symmetric format stores, of all.

use super::{NotSymmetric, PackError};
use crate::memory;
use crate::tensor::folded::{each, turned_value};
use crate::tensor::{AnyTensor, Coordinates, Element, Indices};
use spc_compiler::format::{Format, IndexWidth, LevelFormat, Symmetry, Turned};

/// Whether two values are not the same: a NaN is another NaN's equal here.
fn differ<T: Element>(one: T, other: T) -> bool {
    #[expect(clippy::eq_op, reason = "a NaN is not its own equal")]
    let are_numbers = one == one || other == other;
    are_numbers && one != other
}

/// A format in which each index is there once, and can be found.
pub(super) fn listing(order: usize) -> Format {
    let wide = |level: LevelFormat| level.nonunique().with_coordinates(IndexWidth::U64);
    let mut levels = vec![wide(LevelFormat::COMPRESSED)];
    levels.extend(vec![wide(LevelFormat::SINGLETON); order - 1]);
    if let Some(last) = levels.last_mut() {
        *last = last.with_unique(true);
    }
    Format::of_levels(levels)
}

/// Those of all entries, in the format of [`listing`], that a symmetric format stores, once others are as they follow from them.
pub(super) fn folded<T: Element>(all: &AnyTensor, symmetry: &Symmetry, fill: T) -> Result<Coordinates<T>, PackError> {
    let values = all.values_of::<T>().unwrap_or_default();
    let value = |place: Option<usize>| place.map_or(fill, |place| values[place]);
    let follows = |place: Option<usize>, from: Option<usize>, turned: Turned| {
        !differ(value(place), turned_value(value(from), turned))
    };
    let places = stored_places(all, symmetry, &follows).map_err(|(index, from)| {
        let text = |index: &[usize]| value(all.locate(index)).to_string();
        let values = (text(&index), text(&from));
        PackError::NotSymmetric(Box::new(NotSymmetric { symmetry: symmetry.to_string(), index, from, values }))
    })?;
    let (columns, places) = places;
    let narrowed = columns.into_iter().zip(all.shape()).map(|(column, &extent)| Indices::of(&column, extent));
    Ok(Coordinates {
        shape: all.shape().to_vec(),
        shape_is_stated: true,
        indices: narrowed.collect::<Result<_, _>>()?,
        values: memory::try_collected(places.iter().map(|&place| values[place]))?,
    })
}

/// Whether the value at a place, if there is an entry, is what becomes of the one at another.
type Follows<'a> = dyn Fn(Option<usize>, Option<usize>, Turned) -> bool + 'a;
/// The index of each stored entry in each mode, and the place of its value.
type Stored = (Vec<Vec<usize>>, Vec<usize>);

/// The entries that are stored.
///
/// # Errors
/// The index of one that does not follow from another, and that one's.
fn stored_places(
    all: &AnyTensor,
    symmetry: &Symmetry,
    follows: &Follows<'_>,
) -> Result<Stored, (Vec<usize>, Vec<usize>)> {
    let exchanges = symmetry.exchanges();
    let is_hermitian = symmetry.turned(true).is_conjugated;
    let is_tied = |index: &[usize]| symmetry.modes.windows(2).any(|pair| index[pair[0]] == index[pair[1]]);
    let mut problem = None;
    let (mut columns, mut places) = (vec![Vec::new(); all.order()], Vec::new());
    let (mut expected, mut found) = (0usize, 0usize);
    all.for_each_position(|index, place| {
        found += 1;
        let mut from = index.to_vec();
        let turned = symmetry.stored(&mut from);
        if symmetry.stores(index) {
            each(&symmetry.modes, &exchanges, index, &mut |_, _| expected += 1);
            columns.iter_mut().zip(index).for_each(|(column, &index)| column.push(index));
            places.push(place);
        }
        // A value on the diagonal of a Hermitian tensor is its own conjugate; of a skew one, it is zero.
        let turned = if is_tied(index) { Turned { is_conjugated: is_hermitian, ..turned } } else { turned };
        let is_zero = !symmetry.stores(&from);
        let is_own = from == index && !turned.is_conjugated && !is_zero;
        if problem.is_none() && !is_own {
            let stored = if is_zero { None } else { all.locate(&from) };
            if !follows(Some(place), stored, turned) {
                problem = Some((index.to_vec(), from));
            }
        }
    });
    // Where some are missing, those that they follow from are what is not stored.
    if problem.is_none() && expected != found {
        all.for_each_position(|index, place| {
            if problem.is_none() && symmetry.stores(index) {
                each(&symmetry.modes, &exchanges, index, &mut |other, turned| {
                    if problem.is_none() && !follows(all.locate(other), Some(place), turned) {
                        problem = Some((other.to_vec(), index.to_vec()));
                    }
                });
            }
        });
    }
    problem.map_or(Ok((columns, places)), Err)
}
