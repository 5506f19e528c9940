//! Tensors that store one of the entries that follow from each other by a symmetry of the format.

use super::pack::PackError;
use super::{AnyTensor, Coordinates, Duplicates, Element, Indices, OutOfMemory, pack_filled};
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

/// Calls `visit` on all entries that follow from a stored one, the stored one first.
pub(super) fn each<T: Element>(
    modes: &[usize],
    exchanges: &[Exchange],
    (index, value): (&[usize], T),
    visit: &mut dyn FnMut(&[usize], T),
) {
    let mut turned = index.to_vec();
    for Exchange { order, apart, turned: how } in exchanges {
        if apart.iter().all(|&mode| index[modes[mode]] != index[modes[mode + 1]]) {
            modes.iter().zip(order).for_each(|(&to, &from)| turned[to] = index[modes[from]]);
            visit(&turned, turned_value(value, *how));
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
    let exchanges = symmetry.exchanges();
    let count = entries.values.len();
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for _ in &entries.indices {
        columns.push(memory::try_room(count.saturating_mul(exchanges.len()))?);
    }
    let mut values = memory::try_room(count.saturating_mul(exchanges.len()))?;
    let mut index = vec![0; entries.indices.len()];
    for (place, &value) in entries.values.iter().enumerate() {
        index.iter_mut().zip(&entries.indices).for_each(|(index, column)| *index = column.at(place) as usize);
        each(&symmetry.modes, &exchanges, (&index, value), &mut |index, value| {
            columns.iter_mut().zip(index).for_each(|(column, &index)| column.push(index));
            values.push(value);
        });
    }
    let narrowed = |(column, &extent): (Vec<usize>, &usize)| Indices::of(&column, extent);
    let indices = columns.into_iter().zip(&entries.shape).map(narrowed).collect::<Result<_, _>>()?;
    Ok(Coordinates { indices, values, ..entries })
}

/// Those of all entries that a symmetric format stores, once others are as they follow from them.
pub(super) fn folded<T: Element>(
    entries: Coordinates<T>,
    symmetry: &Symmetry,
    duplicates: Duplicates,
    fill: T,
) -> Result<Coordinates<T>, PackError> {
    let order = entries.shape.len();
    let wide = LevelFormat::SINGLETON.nonunique().with_coordinates(IndexWidth::U64);
    let mut levels = vec![LevelFormat::COMPRESSED.nonunique().with_coordinates(IndexWidth::U64)];
    levels.extend(vec![wide; order - 1]);
    if let Some(last) = levels.last_mut() {
        *last = last.with_unique(true);
    }
    // Each index is there once, and can be found.
    let all = pack_filled(entries, &Format::of_levels(levels), duplicates, fill)?;
    let at = |index: &[usize]| all.get::<T>(index).ok().flatten();
    let mut problem = None;
    let (mut columns, mut values) = (vec![Vec::new(); order], Vec::new());
    let exchanges = symmetry.exchanges();
    let (mut stored, mut found) = (0usize, 0usize);
    all.for_each_entry::<T>(|index, value| {
        found += 1;
        let mut from = index.to_vec();
        let turned = symmetry.stored(&mut from);
        if symmetry.stores(index) {
            each(&symmetry.modes, &exchanges, (index, value), &mut |_, _| stored += 1);
            columns.iter_mut().zip(index).for_each(|(column, &index)| column.push(index));
            values.push(value);
            // A value on the diagonal of a Hermitian tensor is its own conjugate.
            let own = Turned { is_conjugated: is_diagonal(symmetry, index), ..turned };
            if problem.is_none() && differ(turned_value(value, own), value) {
                problem = Some((index.to_vec(), from));
            }
        } else if problem.is_none() {
            let expected = match symmetry.stores(&from) {
                true => turned_value(at(&from).unwrap_or(fill), turned),
                // Of a skew tensor, on a diagonal.
                false => T::ZERO,
            };
            if differ(expected, value) {
                problem = Some((index.to_vec(), from));
            }
        }
    })
    .unwrap_or_else(|error| unreachable!("{error}"));
    if problem.is_none() && stored != found {
        all.for_each_entry::<T>(|index, value| {
            if problem.is_none() && symmetry.stores(index) {
                each(&symmetry.modes, &exchanges, (index, value), &mut |other, value| {
                    if problem.is_none() && differ(at(other).unwrap_or(fill), value) {
                        problem = Some((other.to_vec(), index.to_vec()));
                    }
                });
            }
        })
        .unwrap_or_else(|error| unreachable!("{error}"));
    }
    if let Some((index, from)) = problem {
        let text = |index: &[usize]| at(index).unwrap_or(fill).to_string();
        let values = (text(&index), text(&from));
        return Err(PackError::NotSymmetric { symmetry: symmetry.to_string(), index, from, values });
    }
    let narrowed = |(column, &extent): (Vec<usize>, &usize)| Indices::of(&column, extent);
    let indices = columns.into_iter().zip(all.shape()).map(narrowed).collect::<Result<_, _>>()?;
    Ok(Coordinates { shape: all.shape().to_vec(), shape_is_stated: true, indices, values })
}

/// Whether an exchange leaves an index as it is.
fn is_diagonal(symmetry: &Symmetry, index: &[usize]) -> bool {
    let is_hermitian = symmetry.turned(true).is_conjugated;
    is_hermitian && symmetry.modes.windows(2).any(|pair| index[pair[0]] == index[pair[1]])
}
