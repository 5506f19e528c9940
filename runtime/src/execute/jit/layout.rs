//! What host and machine code hand to each other: a frame of words, with all that a parallel loop needs from outside of it.

use spc_compiler::format::IndexWidth;
use spc_compiler::ir::{ArrayElement, ArrayId, DimensionId, ElementType, Kernel, VariableId};

/// The word that holds the address of the run.
pub(super) const RUN: usize = 0;
/// The address of what chunks have reduced.
pub(super) const PARTIALS: usize = 1;
/// The number of chunks that have.
pub(super) const CHUNKS: usize = 2;
const FIRST: usize = 3;

/// The words of an array: its address and length, where its indices begin, and the address and length of what it shares with the next.
pub(super) const ARRAY_WORDS: usize = 5;
/// The words of a variable: complex numbers have two.
const VARIABLE_WORDS: usize = 2;

/// Where things are in a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    dimensions: usize,
    variables: usize,
    arrays: usize,
}

impl Layout {
    pub(super) fn of(kernel: &Kernel) -> Self {
        Self { dimensions: kernel.dimensions.len(), variables: kernel.variables.len(), arrays: kernel.arrays.len() }
    }

    pub(super) fn words(self) -> usize {
        self.array(ArrayId(0)) + ARRAY_WORDS * self.arrays
    }

    pub(super) fn dimension(self, id: DimensionId) -> usize {
        FIRST + id.index()
    }

    pub(super) fn variable(self, id: VariableId) -> usize {
        FIRST + self.dimensions + VARIABLE_WORDS * id.index()
    }

    pub(super) fn array(self, id: ArrayId) -> usize {
        FIRST + self.dimensions + VARIABLE_WORDS * self.variables + ARRAY_WORDS * id.index()
    }
}

/// How elements lie in memory: what moves them needs to know no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    One,
    Two,
    Four,
    Eight,
    TwoFours,
    TwoEights,
}

impl Kind {
    pub(super) const ALL: [Kind; 6] = [Kind::One, Kind::Two, Kind::Four, Kind::Eight, Kind::TwoFours, Kind::TwoEights];

    pub(super) fn of(element: ArrayElement) -> Kind {
        match element {
            ArrayElement::Index(IndexWidth::U8) => Kind::One,
            ArrayElement::Index(IndexWidth::U16) => Kind::Two,
            ArrayElement::Index(IndexWidth::U32) => Kind::Four,
            ArrayElement::Index(IndexWidth::U64) => Kind::Eight,
            ArrayElement::Value(ElementType::C32) => Kind::TwoFours,
            ArrayElement::Value(ElementType::C64) => Kind::TwoEights,
            ArrayElement::Value(element) => match element.bytes() {
                1 => Kind::One,
                2 => Kind::Two,
                4 => Kind::Four,
                _ => Kind::Eight,
            },
        }
    }

    /// Its number, in calls of the host.
    pub(super) fn number(self) -> u64 {
        self as u64
    }
}
