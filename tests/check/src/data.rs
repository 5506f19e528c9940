//! Tensors as plain lists of entries, and where their numbers come from.

use crate::number::Number;
use spc::complex::{c32, c64};
use spc::tensor::{AnyTensor, Coordinates, Duplicates, Element, Indices, PackError, pack_filled};
use spc::with_element;
use spc_compiler::format::{Format, SymmetryKind};
use spc_compiler::ir::{ElementType, Literal};
use std::collections::BTreeMap;

/// A tensor as its stored entries, by index.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries {
    /// The extent of each mode.
    pub shape: Vec<usize>,
    /// The stored entries, explicit zeros included.
    pub stored: BTreeMap<Vec<usize>, Number>,
}

/// An index and what is stored there.
type Entry<'a> = (&'a [usize], Number);

impl Entries {
    /// The entries that a tensor stores.
    pub fn of(tensor: &AnyTensor) -> Self {
        let mut stored = BTreeMap::new();
        let tensor = tensor.unfolded().expect("there is memory for all entries");
        tensor.for_each_position(|index, position| {
            let repeated = stored.insert(index.to_vec(), Number::at(tensor.values(), position));
            assert!(repeated.is_none(), "{tensor:?} stores {index:?} twice");
        });
        Entries { shape: tensor.shape().to_vec(), stored }
    }

    /// The entries in a format; others are `fill`.
    ///
    /// # Errors
    /// When the format can't hold them.
    pub fn pack(&self, element: ElementType, format: &Format, fill: Literal) -> Result<AnyTensor, PackError> {
        let entries: Vec<Entry<'_>> = self.stored.iter().map(|(index, &value)| (&index[..], value)).collect();
        with_element!(element, |T| self.pack_as::<T>(&entries, format, Duplicates::Refuse, fill))
    }

    /// The same from entries in any order, of which some come in two parts.
    ///
    /// # Errors
    /// When the format can't hold them.
    pub fn pack_unsorted(&self, element: ElementType, format: &Format, fill: Literal) -> Result<AnyTensor, PackError> {
        let mut random = Random::new(self.stored.len() as u64);
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for (index, &value) in &self.stored {
            match random.chance(0.1) {
                true => entries.extend(value.parts().map(|part| (&index[..], part))),
                false => entries.push((index, value)),
            }
        }
        random.shuffle(&mut entries);
        with_element!(element, |T| self.pack_as::<T>(&entries, format, Duplicates::Sum, fill))
    }

    fn pack_as<T: Element + From<Number>>(
        &self,
        entries: &[Entry<'_>],
        format: &Format,
        duplicates: Duplicates,
        fill: Literal,
    ) -> Result<AnyTensor, PackError> {
        let column = |mode: usize| Indices::U64(entries.iter().map(|(index, _)| index[mode] as u64).collect());
        let coordinates = Coordinates {
            shape: self.shape.clone(),
            shape_is_stated: true,
            indices: (0..self.shape.len()).map(column).collect(),
            values: entries.iter().map(|&(_, number)| number.into()).collect(),
        };
        let fill = T::from_literal(fill).expect("the fill value is an element");
        pack_filled(coordinates, format, duplicates, fill)
    }

    /// Entries at random places: each place has one with probability `density`, and one in sixteen is an explicit zero.
    pub fn random(shape: &[usize], density: f64, element: ElementType, random: &mut Random) -> Self {
        let mut stored = BTreeMap::new();
        for_each_index(shape, &mut |index| {
            if random.chance(density) {
                stored.insert(index.to_vec(), value(element, random));
            }
        });
        Entries { shape: shape.to_vec(), stored }
    }

    /// Those that a symmetric format stores, and all that follow from them; all, where the format has no symmetry.
    pub fn of_symmetry(self, format: &Format) -> Self {
        let Some(symmetry) = &format.symmetry else { return self };
        let mut stored = BTreeMap::new();
        for_each_index(&self.shape, &mut |index| {
            let mut from = index.to_vec();
            let turned = symmetry.stored(&mut from);
            let Some(&number) = self.stored.get(&from).filter(|_| symmetry.stores(&from)) else { return };
            let is_tied = symmetry.modes.windows(2).any(|pair| from[pair[0]] == from[pair[1]]);
            let value = number.to_c64();
            let value = if symmetry.kind == SymmetryKind::Hermitian && is_tied { value.re.into() } else { value };
            let value = if turned.is_conjugated { value.conj() } else { value };
            let value = if turned.is_negated { -value } else { value };
            let element = number.element();
            stored.insert(index.to_vec(), spc::with_element!(element, |T| <T as Element>::from_c64(value).into()));
        });
        Entries { shape: self.shape, stored }
    }

    /// Other numbers at the same places, none of them zero.
    pub fn with_nonzeros(&self, element: ElementType, random: &mut Random) -> Self {
        let nonzero = |random: &mut Random| loop {
            let value = value(element, random);
            if !value.is_zero() {
                return value;
            }
        };
        let stored = self.stored.keys().map(|index| (index.clone(), nonzero(random))).collect();
        Entries { shape: self.shape.clone(), stored }
    }
}

/// A number that arithmetic keeps exact: a few quarters, or a small integer.
fn value(element: ElementType, random: &mut Random) -> Number {
    if random.chance(1.0 / 16.0) {
        return Number::of(element, 0.0);
    }
    let signed = |random: &mut Random| {
        let magnitude = (1 + random.below(8)) as f64;
        if random.chance(0.5) { magnitude } else { -magnitude }
    };
    let first = signed(random);
    match element {
        element if element.is_integer() && element.is_signed() => Number::of(element, first),
        element if element.is_integer() => Number::of(element, (1 + random.below(3)) as f64),
        ElementType::Bool => Number::Bool(random.chance(0.8)),
        ElementType::C32 => c32::new(first as f32 / 4.0, signed(random) as f32 / 4.0).into(),
        ElementType::C64 => c64::new(first / 4.0, signed(random) / 4.0).into(),
        element => Number::of(element, first / 4.0),
    }
}

/// Calls `visit` on every index below the extents, in order.
pub fn for_each_index(shape: &[usize], visit: &mut dyn FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index);
        let Some(mode) = (0..shape.len()).rev().find(|&mode| index[mode] + 1 < shape[mode]) else { return };
        index[mode] += 1;
        index[mode + 1..].fill(0);
    }
}

/// Numbers that look random and are the same on every run: SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number in `0..count`.
    ///
    /// # Panics
    /// When `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64 <= probability && probability > 0.0
    }

    /// One of some things.
    pub fn choose<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }

    /// Some things in another order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }
}
