//! Modes that may be exchanged: a tensor of such a format stores one of the entries that follow from each other.
//!
//! ```text
//! csr symmetric(i, j)             A(i, j) = A(j, i)              entries with i <= j
//! csf symmetric(i, j, k)          X(i, j, k) = X(j, i, k) = …    entries with i <= j <= k
//! csr skew(i, j)                  A(i, j) = -A(j, i)             entries with i < j; those with i = j are zero
//! csr hermitian(i, j)             A(i, j) = conj(A(j, i))        entries with i <= j
//! ```

/// Which modes may be exchanged, and what becomes of the value then.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Symmetry {
    /// What becomes of the value.
    pub kind: SymmetryKind,
    /// The modes, ascending, two or more: indices of stored entries ascend in this order.
    pub modes: Vec<usize>,
}

/// What becomes of the value of an entry when two of the modes are exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SymmetryKind {
    /// It stays.
    Symmetric,
    /// Its sign changes.
    Skew,
    /// It is the complex conjugate.
    Hermitian,
}

impl SymmetryKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Symmetric, Self::Skew, Self::Hermitian];

    /// The word of the language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Symmetric => "symmetric",
            Self::Skew => "skew",
            Self::Hermitian => "hermitian",
        }
    }
}

/// What the value of an entry is made of the stored one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turned {
    /// Whether the sign is another.
    pub is_negated: bool,
    /// Whether it is the complex conjugate.
    pub is_conjugated: bool,
}

impl Symmetry {
    /// The place of the stored entry that an entry follows from, and how its value does. The index has an element for each mode.
    pub fn stored(&self, index: &mut [usize]) -> Turned {
        // By neighbours: the number of exchanges tells the sign.
        let mut is_odd = false;
        for end in (1..self.modes.len()).rev() {
            for place in 0..end {
                let (one, next) = (self.modes[place], self.modes[place + 1]);
                if index[one] > index[next] {
                    index.swap(one, next);
                    is_odd = !is_odd;
                }
            }
        }
        self.turned(is_odd)
    }

    /// What an odd or an even number of exchanges makes of a value.
    pub fn turned(&self, is_odd: bool) -> Turned {
        Turned {
            is_negated: is_odd && self.kind == SymmetryKind::Skew,
            is_conjugated: is_odd && self.kind == SymmetryKind::Hermitian,
        }
    }

    /// Whether an entry of this index is stored.
    pub fn stores(&self, index: &[usize]) -> bool {
        let ascends = |one: &usize, next: &usize| match self.kind {
            SymmetryKind::Skew => one < next,
            SymmetryKind::Symmetric | SymmetryKind::Hermitian => one <= next,
        };
        self.modes.windows(2).all(|pair| ascends(&index[pair[0]], &index[pair[1]]))
    }

    /// The ways to exchange the modes. The first leaves all as it is.
    pub fn exchanges(&self) -> Vec<Exchange> {
        let mut all = vec![(Vec::new(), false)];
        for _ in &self.modes {
            let longer = |(order, is_odd): (Vec<usize>, bool)| {
                let rest: Vec<usize> = (0..self.modes.len()).filter(|place| !order.contains(place)).collect();
                rest.into_iter()
                    .enumerate()
                    .map(move |(before, place)| ([&order[..], &[place]].concat(), is_odd != (before % 2 == 1)))
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        let exchange = |(order, is_odd): (Vec<usize>, bool)| {
            let from = |place: usize| order.iter().position(|&other| other == place);
            let apart =
                (1..order.len()).filter(|&place| from(place - 1) > from(place)).map(|place| place - 1).collect();
            Exchange { order, apart, turned: self.turned(is_odd) }
        };
        all.into_iter().map(exchange).collect()
    }
}

/// One way to exchange the modes of a symmetry. Modes are counted among those that may be exchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// For each mode the one whose index it gets.
    pub order: Vec<usize>,
    /// Of a stored entry, the modes whose index must differ from the next one's: else another exchange before gives the same.
    pub apart: Vec<usize>,
    /// What becomes of the value.
    pub turned: Turned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_follows_from_the_one_whose_indices_ascend() {
        let skew = Symmetry { kind: SymmetryKind::Skew, modes: vec![0, 2, 3] };
        let of = |index: [usize; 4]| {
            let mut stored = index;
            let turned = skew.stored(&mut stored);
            (stored, turned.is_negated)
        };
        assert_eq!(of([1, 9, 2, 3]), ([1, 9, 2, 3], false));
        assert_eq!(of([2, 9, 1, 3]), ([1, 9, 2, 3], true));
        assert_eq!(of([3, 9, 1, 2]), ([1, 9, 2, 3], false));
        assert_eq!(of([3, 9, 2, 1]), ([1, 9, 2, 3], true));
        assert!(skew.stores(&[1, 0, 2, 3]) && !skew.stores(&[1, 0, 1, 3]) && !skew.stores(&[2, 0, 1, 3]));
    }

    #[test]
    fn exchanges_are_all_and_have_a_sign() {
        let skew = Symmetry { kind: SymmetryKind::Skew, modes: vec![1, 2, 4] };
        let all = skew.exchanges();
        let expected = [([0, 1, 2], false), ([0, 2, 1], true), ([1, 0, 2], true), ([1, 2, 0], false)];
        assert_eq!(all.len(), 6);
        assert!(all.iter().zip(expected).all(|(exchange, (order, is_negated))| {
            exchange.order[..] == order && exchange.turned.is_negated == is_negated
        }));
    }

    /// Each entry that follows from a stored one comes from one exchange.
    #[test]
    fn exchanges_of_equal_indices_count_once() {
        let symmetry = Symmetry { kind: SymmetryKind::Symmetric, modes: vec![0, 1, 2, 3] };
        for stored in [[1, 2, 3, 4], [1, 1, 2, 3], [1, 2, 2, 2], [1, 1, 2, 2], [5, 5, 5, 5]] {
            let counts = |exchange: &Exchange| exchange.apart.iter().all(|&place| stored[place] != stored[place + 1]);
            let turned = |exchange: Exchange| exchange.order.iter().map(|&place| stored[place]).collect::<Vec<_>>();
            let all: Vec<Vec<usize>> = symmetry.exchanges().into_iter().filter(counts).map(turned).collect();
            let every: std::collections::BTreeSet<Vec<usize>> = symmetry.exchanges().into_iter().map(turned).collect();
            assert_eq!((all.len(), all.into_iter().collect()), (every.len(), every), "{stored:?}");
        }
    }
}
