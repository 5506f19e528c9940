//! Index arithmetic: what an index of an access may be, beside a variable.
//!
//! `x(2*i + k)` reads at a coordinate that is computed from `i` and `k`. The same expressions say how large a mode must be
//! for all of its coordinates to be inside ([`Bound`](super::Bound)). `radix.rs` says which of them are numbers of mixed radix, as
//! `j * extent(k) + k` is.

use std::fmt;

/// A computed index over variables of type `V`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexExpr<V> {
    /// A variable.
    Variable(V),
    /// A constant, not negative: those are subtracted.
    Constant(i64),
    /// How many values a variable has.
    Extent(V),
    /// An operator between two of them.
    Binary(IndexOperator, Box<IndexExpr<V>>, Box<IndexExpr<V>>),
}

/// Operators of index arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexOperator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`, where one side is made of constants and extents
    Multiply,
    /// `/`, rounded down, by a positive constant
    Divide,
    /// `%`, by a positive constant
    Remainder,
}

impl IndexOperator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            IndexOperator::Add => "+",
            IndexOperator::Subtract => "-",
            IndexOperator::Multiply => "*",
            IndexOperator::Divide => "/",
            IndexOperator::Remainder => "%",
        }
    }
}

/// A sum of multiples of variables and a constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affine<V> {
    /// What is added.
    pub constant: i64,
    /// Each variable once, with its factor, which is not zero.
    pub terms: Vec<(V, i64)>,
}

/// How many values of an index are tried to find its minimum and maximum, where its divisors ask for that.
const MAXIMUM_TRIALS: i128 = 4096;

/// What is known of the values of an index.
#[derive(Clone, Copy)]
struct Values {
    least: i128,
    greatest: i128,
    /// Whether the minimum and the maximum are values.
    is_exact: bool,
    /// Whether all numbers between them are.
    has_no_gaps: bool,
}

impl Values {
    fn negated(self) -> Self {
        Values { least: self.greatest.saturating_neg(), greatest: self.least.saturating_neg(), ..self }
    }
}

/// The greatest common divisor with a positive number.
fn greatest_divisor(a: i128, positive: i128) -> i128 {
    let (mut a, mut b) = (positive, a.rem_euclid(positive));
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The largest number in an index, also of those that splitting loops brings in; sums of a few of them can still be computed.
pub const LARGEST_IN_INDEX: u128 = (i64::MAX / 4) as u128;

impl<V: Clone + PartialEq> IndexExpr<V> {
    /// An operator between two index expressions.
    pub fn binary(operator: IndexOperator, left: Self, right: Self) -> Self {
        IndexExpr::Binary(operator, Box::new(left), Box::new(right))
    }

    /// The variables, each once, in order of appearance; not those of which only the extent counts.
    pub fn variables(&self) -> Vec<V> {
        let mut found = Vec::new();
        self.collect(false, &mut found);
        found
    }

    /// The variables whose extents count, each once, in order of appearance.
    pub fn extents(&self) -> Vec<V> {
        let mut found = Vec::new();
        self.collect(true, &mut found);
        found
    }

    fn collect(&self, extents: bool, found: &mut Vec<V>) {
        let mut note = |variable: &V, is_extent: bool| {
            if is_extent == extents && !found.contains(variable) {
                found.push(variable.clone());
            }
        };
        match self {
            IndexExpr::Variable(variable) => note(variable, false),
            IndexExpr::Extent(variable) => note(variable, true),
            IndexExpr::Constant(_) => {}
            IndexExpr::Binary(_, left, right) => {
                left.collect(extents, found);
                right.collect(extents, found);
            }
        }
    }

    /// The same over other variables.
    pub fn map<W>(&self, replace: &mut dyn FnMut(&V) -> W) -> IndexExpr<W> {
        match self {
            IndexExpr::Variable(variable) => IndexExpr::Variable(replace(variable)),
            IndexExpr::Extent(variable) => IndexExpr::Extent(replace(variable)),
            IndexExpr::Constant(value) => IndexExpr::Constant(*value),
            IndexExpr::Binary(operator, left, right) => {
                let left = Box::new(left.map(replace));
                IndexExpr::Binary(*operator, left, Box::new(right.map(replace)))
            }
        }
    }

    /// The same with an expression in the place of each variable. Extents stay.
    pub fn replace(&self, by: &mut dyn FnMut(&V) -> Self) -> Self {
        match self {
            IndexExpr::Variable(variable) => by(variable),
            IndexExpr::Binary(operator, left, right) => {
                let left = Box::new(left.replace(by));
                IndexExpr::Binary(*operator, left, Box::new(right.replace(by)))
            }
            other => other.clone(),
        }
    }

    /// The same with other variables whose extents count.
    pub fn map_extents(&self, replace: &mut dyn FnMut(&V) -> V) -> Self {
        match self {
            IndexExpr::Extent(variable) => IndexExpr::Extent(replace(variable)),
            IndexExpr::Binary(operator, left, right) => {
                let left = Box::new(left.map_extents(replace));
                IndexExpr::Binary(*operator, left, Box::new(right.map_extents(replace)))
            }
            other => other.clone(),
        }
    }

    /// The same with numbers in the place of those extents that are known.
    pub fn with_extents(&self, of: &mut dyn FnMut(&V) -> Option<i64>) -> Self {
        match self {
            IndexExpr::Extent(variable) => of(variable).map_or_else(|| self.clone(), IndexExpr::Constant),
            IndexExpr::Binary(operator, left, right) => {
                let left = Box::new(left.with_extents(of));
                IndexExpr::Binary(*operator, left, Box::new(right.with_extents(of)))
            }
            other => other.clone(),
        }
    }

    /// The largest factor or constant that can come up in it.
    pub fn magnitude(&self) -> u128 {
        match self {
            IndexExpr::Variable(_) | IndexExpr::Extent(_) => 1,
            IndexExpr::Constant(value) => u128::from(value.unsigned_abs()),
            IndexExpr::Binary(operator, left, right) => {
                let (left, right) = (left.magnitude(), right.magnitude());
                match operator {
                    IndexOperator::Add | IndexOperator::Subtract => left.saturating_add(right),
                    IndexOperator::Multiply => left.saturating_mul(right),
                    IndexOperator::Divide | IndexOperator::Remainder => left,
                }
            }
        }
    }

    /// Its value where it is constant and fits.
    pub fn constant(&self) -> Option<i64> {
        let value = self.value(&mut |_| None)?;
        i64::try_from(value).ok()
    }

    /// Its value at given values of the variables; `None` where one is not given, an extent is not a number yet
    /// ([`Self::with_extents`]), or a divisor is not positive.
    pub fn value(&self, of: &mut dyn FnMut(&V) -> Option<i128>) -> Option<i128> {
        Some(match self {
            IndexExpr::Variable(variable) => of(variable)?,
            IndexExpr::Extent(_) => return None,
            IndexExpr::Constant(value) => i128::from(*value),
            IndexExpr::Binary(operator, left, right) => {
                let (left, right) = (left.value(of)?, right.value(of)?);
                match operator {
                    IndexOperator::Add => left.checked_add(right)?,
                    IndexOperator::Subtract => left.checked_sub(right)?,
                    IndexOperator::Multiply => left.checked_mul(right)?,
                    IndexOperator::Divide if right > 0 => left.div_euclid(right),
                    IndexOperator::Remainder if right > 0 => left.rem_euclid(right),
                    IndexOperator::Divide | IndexOperator::Remainder => return None,
                }
            }
        })
    }

    /// The minimum and the maximum, where each variable `v` takes the values from 0 to `last(v)`, and an extent that is no number
    /// yet any of them. Both are values of the index, unless it has such extents, or divisors whose remainders are too many to try
    /// (4096): then all values are between them.
    pub fn range(&self, last: &mut dyn FnMut(&V) -> i128) -> (i128, i128) {
        let Values { least, greatest, .. } = self.values(last);
        (least, greatest)
    }

    fn values(&self, last: &mut dyn FnMut(&V) -> i128) -> Values {
        if let Some(affine) = self.affine() {
            let (least, greatest) = affine.range(last);
            return Values { least, greatest, is_exact: true, has_no_gaps: affine.has_no_gaps(last) };
        }
        let values = self.values_by_parts(last);
        if values.is_exact { values } else { self.values_by_trial(last).unwrap_or(values) }
    }

    /// By the values of the parts, which are taken for independent.
    fn values_by_parts(&self, last: &mut dyn FnMut(&V) -> i128) -> Values {
        let IndexExpr::Binary(operator, left_part, right_part) = self else {
            let IndexExpr::Extent(variable) = self else { unreachable!("variables and constants are affine") };
            return Values { least: 0, greatest: last(variable), is_exact: false, has_no_gaps: true };
        };
        let (left, right) = (left_part.values(last), right_part.values(last));
        let are_independent =
            || !left_part.variables().iter().any(|variable| right_part.variables().contains(variable));
        let both = |of: fn(&Values) -> bool| of(&left) && of(&right) && are_independent();
        let divisor = right.least.max(1);
        match operator {
            IndexOperator::Add | IndexOperator::Subtract => {
                let right = if *operator == IndexOperator::Add { right } else { right.negated() };
                Values {
                    least: left.least.saturating_add(right.least),
                    greatest: left.greatest.saturating_add(right.greatest),
                    is_exact: both(|values| values.is_exact),
                    has_no_gaps: both(|values| values.has_no_gaps),
                }
            }
            IndexOperator::Multiply => {
                let products = [left.least, left.greatest]
                    .map(|one| [right.least, right.greatest].map(|other| one.saturating_mul(other)))
                    .concat();
                let (least, greatest) = products
                    .iter()
                    .fold((products[0], products[0]), |(least, most), &one| (least.min(one), most.max(one)));
                let is_by_one = left_part.constant().or(right_part.constant()).is_some_and(|factor| factor.abs() <= 1);
                Values {
                    least,
                    greatest,
                    is_exact: both(|values| values.is_exact),
                    has_no_gaps: least == greatest || is_by_one && both(|values| values.has_no_gaps),
                }
            }
            IndexOperator::Divide => {
                Values { least: left.least.div_euclid(divisor), greatest: left.greatest.div_euclid(divisor), ..left }
            }
            IndexOperator::Remainder if left.least.div_euclid(divisor) == left.greatest.div_euclid(divisor) => {
                Values { least: left.least.rem_euclid(divisor), greatest: left.greatest.rem_euclid(divisor), ..left }
            }
            IndexOperator::Remainder => {
                let is_exact = left.is_exact && left.has_no_gaps;
                // Of more values than the divisor no remainder is left out; of fewer, some in the middle may be.
                let has_no_gaps = is_exact && left.greatest.saturating_sub(left.least) >= divisor - 1;
                Values { least: 0, greatest: divisor - 1, is_exact, has_no_gaps }
            }
        }
    }

    /// By trial: where a variable grows by its period, the index grows by the same always.
    fn values_by_trial(&self, last: &mut dyn FnMut(&V) -> i128) -> Option<Values> {
        if !self.extents().is_empty() {
            return None;
        }
        let mut trials = 1i128;
        let mut tried = Vec::new();
        for variable in self.variables() {
            let last = last(&variable).max(0);
            // A variable of few values is tried as a whole.
            let (period, gain) = self.period(&variable)?;
            trials = trials.checked_mul(period.min(last.checked_add(1)?))?;
            if trials > MAXIMUM_TRIALS {
                return None;
            }
            tried.push((variable, last, period, gain));
        }
        let mut found: Option<Values> = None;
        let mut at = vec![0; tried.len()];
        loop {
            let place = |variable: &V| tried.iter().position(|(other, ..)| other == variable);
            let value = self.value(&mut |variable| at.get(place(variable)?).copied())?;
            let reach = |(&at, (_, last, period, gain)): (&i128, &(V, i128, i128, i128))| {
                gain.checked_mul(last.checked_sub(at)?.div_euclid(*period))
            };
            let reaches = at.iter().zip(&tried).map(reach).collect::<Option<Vec<i128>>>()?;
            let least = reaches.iter().fold(value, |sum, reach| sum.saturating_add((*reach).min(0)));
            let greatest = reaches.iter().fold(value, |sum, reach| sum.saturating_add((*reach).max(0)));
            let values = found.get_or_insert(Values { least, greatest, is_exact: true, has_no_gaps: false });
            values.least = values.least.min(least);
            values.greatest = values.greatest.max(greatest);
            let is_next = at.iter_mut().zip(&tried).any(|(at, (_, last, period, _))| {
                let is_last = *at + 1 >= (*period).min(last + 1);
                *at = if is_last { 0 } else { *at + 1 };
                !is_last
            });
            if !is_next {
                return found;
            }
        }
    }

    /// A number `p` of steps of a variable, and what the index grows by with each `p` of them, whatever the values of all variables
    /// are: (2, 1) for `i / 2`, (4, 0) for `i % 4`, (12, 6) for `i / 2 + i % 12 / 3`.
    fn period(&self, of: &V) -> Option<(i128, i128)> {
        let IndexExpr::Binary(operator, left, right) = self else {
            return match self {
                IndexExpr::Variable(variable) => Some((1, i128::from(variable == of))),
                IndexExpr::Constant(_) => Some((1, 0)),
                _ => None,
            };
        };
        let (period, gain) = left.period(of)?;
        match operator {
            IndexOperator::Add | IndexOperator::Subtract => {
                let (other_period, other_gain) = right.period(of)?;
                let together = (period / greatest_divisor(period, other_period)).checked_mul(other_period)?;
                let gain = gain.checked_mul(together / period)?;
                let other_gain = other_gain.checked_mul(together / other_period)?;
                let is_sum = *operator == IndexOperator::Add;
                Some((together, if is_sum { gain.checked_add(other_gain)? } else { gain.checked_sub(other_gain)? }))
            }
            IndexOperator::Multiply => match (left.constant(), right.constant()) {
                (_, Some(factor)) => Some((period, gain.checked_mul(i128::from(factor))?)),
                (Some(factor), None) => {
                    let (period, gain) = right.period(of)?;
                    Some((period, gain.checked_mul(i128::from(factor))?))
                }
                (None, None) => None,
            },
            IndexOperator::Divide | IndexOperator::Remainder => {
                let divisor = right.constant().map(i128::from).filter(|divisor| *divisor > 0)?;
                let times = divisor / greatest_divisor(gain, divisor);
                let gain = if *operator == IndexOperator::Divide { gain.checked_mul(times)? / divisor } else { 0 };
                Some((period.checked_mul(times)?, gain))
            }
        }
    }

    /// As a sum of multiples of variables, where it is one.
    pub fn affine(&self) -> Option<Affine<V>> {
        match self {
            IndexExpr::Variable(variable) => Some(Affine { constant: 0, terms: vec![(variable.clone(), 1)] }),
            IndexExpr::Constant(value) => Some(Affine { constant: *value, terms: Vec::new() }),
            IndexExpr::Binary(IndexOperator::Add, left, right) => left.affine()?.plus(right.affine()?),
            // Also of what is no sum of multiples, as a remainder.
            IndexExpr::Binary(IndexOperator::Subtract, left, right) if left == right => {
                Some(Affine { constant: 0, terms: Vec::new() })
            }
            IndexExpr::Binary(IndexOperator::Subtract, left, right) => left.affine()?.plus(right.affine()?.times(-1)?),
            IndexExpr::Binary(IndexOperator::Multiply, left, right) => match (left.constant(), right.constant()) {
                (Some(factor), _) => right.affine()?.times(factor),
                (_, Some(factor)) => left.affine()?.times(factor),
                _ => None,
            },
            IndexExpr::Extent(_) | IndexExpr::Binary(IndexOperator::Divide | IndexOperator::Remainder, ..) => None,
        }
    }

    /// As text, with these names of variables.
    pub fn show<'a>(&'a self, name: &'a dyn Fn(&V) -> String) -> impl fmt::Display + 'a {
        Shown { expr: self, name, is_operand: false }
    }
}

impl<V> Affine<V> {
    /// The least and the greatest value, where each variable `v` takes the values from 0 to `last(v)`.
    pub fn range(&self, last: &mut dyn FnMut(&V) -> i128) -> (i128, i128) {
        let constant = i128::from(self.constant);
        self.terms.iter().fold((constant, constant), |(least, greatest), (variable, factor)| {
            let reach = i128::from(*factor).saturating_mul(last(variable));
            (least.saturating_add(reach.min(0)), greatest.saturating_add(reach.max(0)))
        })
    }

    /// Whether each number between these two is a value: no step is longer than what the shorter ones reach, and one.
    fn has_no_gaps(&self, last: &mut dyn FnMut(&V) -> i128) -> bool {
        let steps = self.terms.iter().map(|(variable, factor)| (i128::from(factor.unsigned_abs()), last(variable)));
        let mut steps: Vec<(i128, i128)> = steps.filter(|(_, last)| *last > 0).collect();
        steps.sort_unstable();
        let mut reach = 1i128;
        steps.iter().all(|(step, last)| {
            let is_reached = *step <= reach;
            reach = reach.saturating_add(step.saturating_mul(*last));
            is_reached
        })
    }
}

impl<V: Clone + PartialEq> Affine<V> {
    fn plus(mut self, other: Self) -> Option<Self> {
        self.constant = self.constant.checked_add(other.constant)?;
        for (variable, factor) in other.terms {
            match self.terms.iter_mut().find(|(own, _)| *own == variable) {
                Some((_, own)) => *own = own.checked_add(factor)?,
                None => self.terms.push((variable, factor)),
            }
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        Some(self)
    }

    fn times(mut self, by: i64) -> Option<Self> {
        self.constant = self.constant.checked_mul(by)?;
        for (_, factor) in &mut self.terms {
            *factor = factor.checked_mul(by)?;
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        Some(self)
    }
}

struct Shown<'a, V> {
    expr: &'a IndexExpr<V>,
    name: &'a dyn Fn(&V) -> String,
    /// Whether it stands beside an operator that binds tighter than sums do.
    is_operand: bool,
}

impl<V> fmt::Display for Shown<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.expr {
            IndexExpr::Variable(variable) => f.write_str(&(self.name)(variable)),
            IndexExpr::Extent(variable) => write!(f, "extent({})", (self.name)(variable)),
            IndexExpr::Constant(value) => write!(f, "{value}"),
            IndexExpr::Binary(operator, left, right) => {
                let is_sum = matches!(operator, IndexOperator::Add | IndexOperator::Subtract);
                let part = |expr, is_operand| Shown { expr, name: self.name, is_operand };
                let (open, close) = if self.is_operand { ("(", ")") } else { ("", "") };
                let left = part(left, !is_sum);
                // `a - (b - c)` and `a / (b * c)` keep their parentheses.
                let right = part(right, *operator != IndexOperator::Add);
                write!(f, "{open}{left} {} {right}{close}", operator.symbol())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use IndexOperator::*;

    fn v(name: &'static str) -> IndexExpr<&'static str> {
        IndexExpr::Variable(name)
    }

    fn c(value: i64) -> IndexExpr<&'static str> {
        IndexExpr::Constant(value)
    }

    fn op(operator: IndexOperator, a: IndexExpr<&'static str>, b: IndexExpr<&'static str>) -> IndexExpr<&'static str> {
        IndexExpr::binary(operator, a, b)
    }

    #[test]
    fn sums_of_multiples_are_affine() {
        let e = op(Add, op(Multiply, c(2), v("i")), op(Subtract, v("k"), op(Subtract, c(3), v("i"))));
        assert_eq!(e.affine(), Some(Affine { constant: -3, terms: vec![("i", 3), ("k", 1)] }));
        assert_eq!(op(Divide, v("i"), c(2)).affine(), None);
        assert_eq!(op(Multiply, v("i"), v("k")).affine(), None);
        assert_eq!(op(Subtract, v("i"), v("i")).affine(), Some(Affine { constant: 0, terms: Vec::new() }));
    }

    #[test]
    fn ranges_hold_every_value() {
        let e = op(Subtract, op(Multiply, c(3), v("i")), v("k"));
        assert_eq!(e.range(&mut |v| if *v == "i" { 4 } else { 2 }), (-2, 12));
        assert_eq!(op(Subtract, op(Add, v("i"), c(1)), v("i")).range(&mut |_| 4), (1, 1));
        assert_eq!(op(Remainder, v("i"), c(4)).range(&mut |_| 2), (0, 2));
        assert_eq!(op(Remainder, v("i"), c(4)).range(&mut |_| 9), (0, 3));
        assert_eq!(op(Divide, v("i"), c(4)).range(&mut |_| 9), (0, 2));
        // An extent that is not known yet is any number.
        let radix = op(Add, op(Multiply, v("i"), IndexExpr::Extent("k")), v("k"));
        assert_eq!(radix.range(&mut |_| 3), (0, 12));
    }

    /// A random index over `a`, `b` and `c` whose dividends are never below zero.
    fn random(next: &mut dyn FnMut(i64) -> i64, depth: usize) -> IndexExpr<&'static str> {
        if depth == 0 {
            return if next(3) == 0 { c(next(7)) } else { v(["a", "b", "c"][next(3) as usize]) };
        }
        let (left, right) = (random(next, depth - 1), random(next, depth - 1));
        match next(7) {
            0 | 1 => op(Add, left, right),
            2 | 3 => op(Subtract, left, right),
            4 => op(Multiply, c(next(9) - 4), right),
            _ if left.range(&mut |_| 1 << 40).0 < 0 => op(Add, left, right),
            5 => op(Divide, left, c(1 + next(5))),
            _ => op(Remainder, left, c(1 + next(5))),
        }
    }

    #[test]
    fn ranges_are_those_of_all_values() {
        let mut state = 1u64;
        let mut next = |below: i64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % below as u64) as i64
        };
        for _ in 0..4000 {
            let depth = 1 + next(4) as usize;
            let (index, lasts) = (random(&mut next, depth), [next(9), next(14), next(4)].map(i128::from));
            let of = |v: &&str, values: [i128; 3]| values[["a", "b", "c"].iter().position(|name| name == v).unwrap()];
            let (mut least, mut greatest) = (i128::MAX, i128::MIN);
            for a in 0..=lasts[0] {
                for b in 0..=lasts[1] {
                    for c in 0..=lasts[2] {
                        let value = index.value(&mut |v| Some(of(v, [a, b, c]))).unwrap();
                        (least, greatest) = (least.min(value), greatest.max(value));
                    }
                }
            }
            let name = |v: &&'static str| (*v).to_owned();
            assert_eq!(index.range(&mut |v| of(v, lasts)), (least, greatest), "{} up to {lasts:?}", index.show(&name));
        }
    }

    #[test]
    fn text_keeps_the_meaning() {
        let name = |v: &&'static str| (*v).to_owned();
        let e = op(Subtract, op(Multiply, c(2), op(Add, v("i"), c(1))), op(Subtract, v("k"), c(3)));
        assert_eq!(e.show(&name).to_string(), "2 * (i + 1) - (k - 3)");
        assert_eq!(op(Divide, op(Divide, v("i"), c(4)), c(2)).show(&name).to_string(), "(i / 4) / 2");
    }
}
