//! Numbers of many entries at once, for maps to be computed with: each operation is a loop without branches.

use spc_compiler::format::{Number, interleave};
use std::rc::Rc;

/// A number for each of several entries.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    /// The same for each.
    Constant(u64),
    /// One for each.
    Values(Rc<Vec<u64>>),
}

impl Column {
    /// A number for each.
    pub(crate) fn of(values: Vec<u64>) -> Self {
        Column::Values(Rc::new(values))
    }

    /// The number of an entry.
    #[inline]
    pub(crate) fn get(&self, entry: usize) -> u64 {
        match self {
            Column::Constant(value) => *value,
            Column::Values(values) => values[entry],
        }
    }

    /// The numbers of so many entries.
    pub(crate) fn into_values(self, count: usize) -> Vec<u64> {
        match self {
            Column::Constant(value) => vec![value; count],
            Column::Values(values) => Rc::unwrap_or_clone(values),
        }
    }

    fn map(self, change: impl Fn(u64) -> u64) -> Self {
        match self {
            Column::Constant(value) => Column::Constant(change(value)),
            Column::Values(mut values) => {
                Rc::make_mut(&mut values).iter_mut().for_each(|value| *value = change(*value));
                Column::Values(values)
            }
        }
    }

    fn zip(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (left, Column::Constant(right)) => left.map(|left| combine(left, right)),
            (Column::Constant(left), right) => right.map(|right| combine(left, right)),
            (Column::Values(mut left), Column::Values(right)) => {
                let pairs = Rc::make_mut(&mut left).iter_mut().zip(right.iter());
                pairs.for_each(|(left, &right)| *left = combine(*left, right));
                Column::Values(left)
            }
        }
    }

    /// Whether all numbers are below 2^32.
    fn is_narrow(&self) -> bool {
        match self {
            Column::Constant(value) => value >> 32 == 0,
            Column::Values(values) => values.iter().fold(0, |bits, value| bits | value) >> 32 == 0,
        }
    }

    /// The quotient by a number that is not zero.
    fn quotient(self, divisor: u64) -> Self {
        if divisor.is_power_of_two() {
            let shift = divisor.ilog2();
            return self.map(|value| value >> shift);
        }
        if !self.is_narrow() {
            return self.map(|value| value / divisor);
        }
        // Exact below 2^32: Granlund and Montgomery, *Division by Invariant Integers using Multiplication* (1994), §4.
        let reciprocal = u128::from(u64::MAX / divisor) + 1;
        self.map(|value| ((u128::from(value) * reciprocal) >> 64) as u64)
    }
}

impl Number for Column {
    fn constant(value: u64) -> Self {
        Column::Constant(value)
    }

    fn plus(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_add)
    }

    fn minus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_sub)
    }

    fn times(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_mul)
    }

    fn divided_by(self, other: Self) -> Self {
        match other {
            Column::Constant(0) => Column::Constant(0),
            Column::Constant(divisor) => self.quotient(divisor),
            other => self.zip(other, |left, right| left.checked_div(right).unwrap_or(0)),
        }
    }

    fn remainder(self, other: Self) -> Self {
        match other {
            Column::Constant(0) => Column::Constant(0),
            Column::Constant(divisor) if divisor.is_power_of_two() => self.map(|value| value & (divisor - 1)),
            Column::Constant(divisor) => {
                let whole = self.clone().quotient(divisor);
                self.zip(whole, |value, quotient| value - quotient * divisor)
            }
            other => self.zip(other, |left, right| left.checked_rem(right).unwrap_or(0)),
        }
    }

    fn minimum(self, other: Self) -> Self {
        self.zip(other, u64::min)
    }

    fn interleave(parts: &[(Self, Self)]) -> Option<Self> {
        let extents: Vec<u64> = parts.iter().map(|(_, extent)| extent.known()).collect::<Option<_>>()?;
        let spreads = interleave::spreads(&extents).ok()?;
        let spread = parts.iter().zip(spreads).map(|((part, _), spread)| part.clone().map(|part| spread.expand(part)));
        Some(spread.fold(Column::Constant(0), |code, part| code.zip(part, |code, part| code | part)))
    }

    fn part(self, extents: &[Self], part: usize) -> Option<Self> {
        let extents: Vec<u64> = extents.iter().map(Column::known).collect::<Option<_>>()?;
        let spread = *interleave::spreads(&extents).ok()?.get(part)?;
        Some(self.map(|code| spread.compress(code)))
    }
}

impl Column {
    /// The number, where it is the same for each.
    fn known(&self) -> Option<u64> {
        if let Column::Constant(value) = self { Some(*value) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_compute_what_numbers_do() {
        let values: Vec<u64> =
            vec![0, 1, 2, 3, 6, 7, 8, 99, 1 << 20, (1 << 32) - 1, 1 << 32, (1 << 40) + 5, u64::MAX / 3];
        type Operation<N> = fn(N, N) -> N;
        let operations: [(Operation<u64>, Operation<Column>); 5] = [
            (Number::minus, Number::minus),
            (Number::divided_by, Number::divided_by),
            (Number::remainder, Number::remainder),
            (Number::minimum, Number::minimum),
            (Number::plus, Number::plus),
        ];
        for (number, column) in operations {
            for other in [0u64, 1, 2, 3, 4, 5, 7, 10, 128, 1000, (1 << 31) - 1, (1 << 32) + 1] {
                let expected: Vec<u64> = values.iter().map(|&value| number(value, other)).collect();
                let alone: Vec<u64> = values
                    .iter()
                    .map(|&value| column(Column::of(vec![value]), Column::Constant(other)).get(0))
                    .collect();
                assert_eq!(alone, expected, "{other}");
                let computed = column(Column::of(values.clone()), Column::Constant(other)).into_values(values.len());
                assert_eq!(computed, expected, "{other}");
                let pairs = column(Column::of(values.clone()), Column::of(vec![other; values.len()]));
                assert_eq!(pairs.into_values(values.len()), expected, "{other}");
            }
        }
    }
}
