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

    /// The least and the greatest value, where each variable `v` takes the values from 0 to `last(v)`, and an extent that is no
    /// number yet any of them. Exact for sums of multiples, and where each variable occurs once.
    pub fn range(&self, last: &mut dyn FnMut(&V) -> i128) -> (i128, i128) {
        if let Some(affine) = self.affine() {
            return affine.range(last);
        }
        match self {
            IndexExpr::Variable(variable) | IndexExpr::Extent(variable) => (0, last(variable)),
            IndexExpr::Constant(value) => (i128::from(*value), i128::from(*value)),
            IndexExpr::Binary(operator, left, right) => {
                let ((low, high), (least, most)) = (left.range(last), right.range(last));
                match operator {
                    IndexOperator::Add => (low.saturating_add(least), high.saturating_add(most)),
                    IndexOperator::Subtract => (low.saturating_sub(most), high.saturating_sub(least)),
                    IndexOperator::Multiply => {
                        let product = |one: i128, other: i128| one.saturating_mul(other);
                        let products =
                            [product(low, least), product(low, most), product(high, least), product(high, most)];
                        let least = products.iter().copied().fold(products[0], i128::min);
                        (least, products.iter().copied().fold(products[0], i128::max))
                    }
                    IndexOperator::Divide => (low.div_euclid(least.max(1)), high.div_euclid(least.max(1))),
                    IndexOperator::Remainder if low >= 0 && high < least => (low, high),
                    IndexOperator::Remainder => (0, (most - 1).max(0)),
                }
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
    }

    #[test]
    fn text_keeps_the_meaning() {
        let name = |v: &&'static str| (*v).to_owned();
        let e = op(Subtract, op(Multiply, c(2), op(Add, v("i"), c(1))), op(Subtract, v("k"), c(3)));
        assert_eq!(e.show(&name).to_string(), "2 * (i + 1) - (k - 3)");
        assert_eq!(op(Divide, op(Divide, v("i"), c(4)), c(2)).show(&name).to_string(), "(i / 4) / 2");
    }
}
