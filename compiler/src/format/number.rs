//! What maps are computed with: numbers, columns of them, expressions.
//!
//! A map says once how coordinates follow from modes. The run time evaluates that for columns of entries, messages for single
//! numbers, and loops that compute coordinates for expressions of the loop IR.

/// Numbers from 0 up, or what stands for them.
pub trait Number: Clone {
    /// A number that is known.
    fn constant(value: u64) -> Self;

    /// `self + other`
    fn plus(self, other: Self) -> Self;

    /// `self - other`; 0 where `other` is larger.
    fn minus(self, other: Self) -> Self;

    /// `self * other`
    fn times(self, other: Self) -> Self;

    /// `self / other`, rounded down; anything where `other` is 0.
    fn divided_by(self, other: Self) -> Self;

    /// What is left of `self / other`; anything where `other` is 0.
    fn remainder(self, other: Self) -> Self;

    /// The lesser of the two.
    fn minimum(self, other: Self) -> Self;

    /// The bits of several numbers in one, as [`interleave`](super::interleave) says. Each comes with its extent. `None` where
    /// that can't be computed.
    fn interleave(parts: &[(Self, Self)]) -> Option<Self>;

    /// One of the numbers whose bits are interleaved here, by the extents of all.
    fn part(self, extents: &[Self], part: usize) -> Option<Self>;
}

/// Saturates: [`Map::level_extents`](super::Map::level_extents) refuses shapes for which anything would be too large.
impl Number for u64 {
    fn constant(value: u64) -> Self {
        value
    }

    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    fn minus(self, other: Self) -> Self {
        self.saturating_sub(other)
    }

    fn times(self, other: Self) -> Self {
        self.saturating_mul(other)
    }

    fn divided_by(self, other: Self) -> Self {
        self.checked_div(other).unwrap_or(0)
    }

    fn remainder(self, other: Self) -> Self {
        self.checked_rem(other).unwrap_or(0)
    }

    fn minimum(self, other: Self) -> Self {
        self.min(other)
    }

    fn interleave(parts: &[(Self, Self)]) -> Option<Self> {
        let extents: Vec<u64> = parts.iter().map(|(_, extent)| *extent).collect();
        let spreads = super::interleave::spreads(&extents).ok()?;
        Some(parts.iter().zip(spreads).fold(0, |code, ((number, _), spread)| code | spread.expand(*number)))
    }

    fn part(self, extents: &[Self], part: usize) -> Option<Self> {
        Some(super::interleave::spreads(extents).ok()?.get(part)?.compress(self))
    }
}

/// A number that must fit 64 bits; `None` once something of what it is made of does not.
impl Number for Option<u64> {
    fn constant(value: u64) -> Self {
        Some(value)
    }

    fn plus(self, other: Self) -> Self {
        self?.checked_add(other?)
    }

    fn minus(self, other: Self) -> Self {
        Some(self?.minus(other?))
    }

    fn times(self, other: Self) -> Self {
        self?.checked_mul(other?)
    }

    fn divided_by(self, other: Self) -> Self {
        Some(self?.divided_by(other?))
    }

    fn remainder(self, other: Self) -> Self {
        Some(Number::remainder(self?, other?))
    }

    fn minimum(self, other: Self) -> Self {
        Some(self?.minimum(other?))
    }

    fn interleave(parts: &[(Self, Self)]) -> Option<Self> {
        let both = |(number, extent): &(Self, Self)| Some(((*number)?, (*extent)?));
        let parts: Option<Vec<(u64, u64)>> = parts.iter().map(both).collect();
        Some(parts.and_then(|parts| u64::interleave(&parts)))
    }

    fn part(self, extents: &[Self], part: usize) -> Option<Self> {
        let extents: Option<Vec<u64>> = extents.iter().copied().collect();
        Some(extents.and_then(|extents| self?.part(&extents, part)))
    }
}

/// A number that may be less than zero: one less another. Zeros are left out.
#[derive(Debug, Clone)]
pub(super) struct Signed<N> {
    plus: Option<N>,
    minus: Option<N>,
}

/// Adds what is there.
fn sum<N: Number>(a: Option<N>, b: Option<N>) -> Option<N> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (a, b) => a.or(b),
    }
}

impl<N: Number> Signed<N> {
    pub(super) fn zero() -> Self {
        Self { plus: None, minus: None }
    }

    pub(super) fn of(number: N) -> Self {
        Self { plus: Some(number), minus: None }
    }

    /// The number, which is not less than zero.
    pub(super) fn number(self) -> N {
        let plus = self.plus.unwrap_or_else(|| N::constant(0));
        match self.minus {
            None => plus,
            Some(minus) => plus.minus(minus),
        }
    }

    /// What is added and what is subtracted.
    pub(super) fn parts(self) -> (N, Option<N>) {
        (self.plus.unwrap_or_else(|| N::constant(0)), self.minus)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { plus: sum(self.plus, other.plus), minus: sum(self.minus, other.minus) }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.plus(Self { plus: other.minus, minus: other.plus })
    }

    pub(super) fn times(self, factor: N) -> Self {
        let scaled = |part: Option<N>| part.map(|part| part.times(factor.clone()));
        Self { plus: scaled(self.plus), minus: scaled(self.minus) }
    }
}
