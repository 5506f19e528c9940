//! Tensors that store one of the entries that follow from each other by a symmetry of the format.

use super::pack::{NotSymmetric, PackError};
use super::{AnyTensor, Coordinates, Element, Indices, OutOfMemory};
use crate::memory;
use spc_compiler::format::{Exchange, Format, IndexWidth, LevelFormat, Symmetry, Turned};
use std::borrow::Cow;

impl AnyTensor {
    /// The tensor with all of its entries stored: itself, where the format has no symmetry.
    ///
    /// ```
    /// use spc::tensor::{Coordinates, Duplicates, Indices, pack};
    /// use spc_compiler::format::{Format, Symmetry, SymmetryKind};
    ///
    /// let symmetric = Symmetry { kind: SymmetryKind::Symmetric, modes: vec![0, 1] };
    /// let indices = vec![Indices::U32(vec![0, 1, 2]), Indices::U32(vec![1, 0, 2])];
    /// let entries = Coordinates { shape: vec![3, 3], shape_is_stated: true, indices, values: vec![5.0, 5.0, 7.0] };
    /// let a = pack(entries, &Format::csr().with_symmetry(Some(symmetric)), Duplicates::Sum)?;
    /// assert_eq!((a.nnz(), a.unfolded()?.nnz()), (2, 3));
    /// # Ok::<(), spc::tensor::PackError>(())
    /// ```
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn unfolded(&self) -> Result<Cow<'_, AnyTensor>, PackError> {
        match self.format.symmetry {
            None => Ok(Cow::Borrowed(self)),
            Some(_) => self.convert_stored(&self.format.unfolded()).map(Cow::Owned),
        }
    }

    /// The same tensor in a format of the same levels, of which the symmetry is another, for one who knows that it holds.
    pub(crate) fn with_symmetry(mut self, symmetry: Option<Symmetry>) -> Self {
        self.format.symmetry = symmetry;
        self
    }

    /// The first stored entry that the format does not store.
    pub(super) fn find_beyond_symmetry(&self) -> Option<Vec<usize>> {
        let symmetry = self.format.symmetry.as_ref()?;
        let mut found = None;
        self.for_each_until(|index, _| {
            if !symmetry.stores(index) {
                found = Some(index.to_vec());
            }
            found.is_none()
        });
        found
    }
}

/// Calls `visit` on the index of each entry that follows from a stored one, itself first, with what becomes of the value.
pub(super) fn each(modes: &[usize], exchanges: &[Exchange], index: &[usize], visit: &mut dyn FnMut(&[usize], Turned)) {
    let mut turned = index.to_vec();
    for Exchange { order, apart, turned: how } in exchanges {
        if apart.iter().all(|&mode| index[modes[mode]] != index[modes[mode + 1]]) {
            modes.iter().zip(order).for_each(|(&to, &from)| turned[to] = index[modes[from]]);
            visit(&turned, *how);
        }
    }
}

/// The value of an entry that follows from a stored one.
pub(super) fn turned_value<T: Element>(value: T, turned: Turned) -> T {
    let conjugated = match turned.is_conjugated && T::TYPE.is_complex() {
        true => T::from_c64(value.to_c64().conj()),
        false => value,
    };
    if turned.is_negated { T::from_f64(-1.0).times(conjugated) } else { conjugated }
}

/// Whether two values are not the same: a NaN is another NaN's equal here.
fn differ<T: Element>(one: T, other: T) -> bool {
    #[expect(clippy::eq_op, reason = "a NaN is not its own equal")]
    let are_numbers = one == one || other == other;
    are_numbers && one != other
}

/// All entries that follow from some.
pub(super) fn unfolded<T: Element>(
    entries: Coordinates<T>,
    symmetry: &Symmetry,
) -> Result<Coordinates<T>, OutOfMemory> {
    let (indices, from) = all_of(&entries.shape, &entries.indices, entries.values.len(), symmetry)?;
    let values = from.iter().map(|&(place, turned)| turned_value(entries.values[place], turned));
    Ok(Coordinates { indices, values: memory::try_collected(values)?, ..entries })
}

/// The indices of all entries that follow from some, each with the place of the one, and what becomes of its value.
type All = (Vec<Indices>, Vec<(usize, Turned)>);

fn all_of(shape: &[usize], stored: &[Indices], count: usize, symmetry: &Symmetry) -> Result<All, OutOfMemory> {
    let exchanges = symmetry.exchanges();
    let most = count.saturating_mul(exchanges.len());
    let mut columns: Vec<Vec<usize>> = stored.iter().map(|_| memory::try_room(most)).collect::<Result<_, _>>()?;
    let mut from = memory::try_room(most)?;
    let mut index = vec![0; stored.len()];
    for place in 0..count {
        index.iter_mut().zip(stored).for_each(|(index, column)| *index = column.at(place) as usize);
        each(&symmetry.modes, &exchanges, &index, &mut |index, turned| {
            columns.iter_mut().zip(index).for_each(|(column, &index)| column.push(index));
            from.push((place, turned));
        });
    }
    let narrowed = columns.into_iter().zip(shape).map(|(column, &extent)| Indices::of(&column, extent));
    Ok((narrowed.collect::<Result<_, _>>()?, from))
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
