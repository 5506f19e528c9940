//! Tensors that store one of the entries that follow from each other by a symmetry of the format.

use super::{AnyTensor, Coordinates, Element, Indices, OutOfMemory};
use crate::memory;
use spc_compiler::format::{Exchange, Symmetry, Turned};

impl AnyTensor {
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
