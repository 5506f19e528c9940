//! Computed indices in which different values of their variables are different, or even ascend.
//!
//! A sum of multiples of variables, where factors are numbers and extents, is a number of mixed radix where each factor is that of
//! the variable before it times that one's extent, or more:
//!
//! ```text
//! i * extent(j) * extent(k) + j * extent(k) + k
//! ```
//!
//! It ascends with `(i, j, k)` in lexicographic order, as the places of a dense tensor do (Knuth, *The Art of Computer Programming*,
//! volume 2, section 4.1). So entries of a matricised tensor come in order where those of the tensor do.

use super::{IndexExpr, IndexOperator};

/// A product of a number, extents, and a variable at most.
#[derive(Debug, Clone)]
struct Product<V> {
    factor: i64,
    extents: Vec<V>,
    variable: Option<V>,
}

/// Whether two variables have one extent.
type Alike<'a, V> = &'a dyn Fn(&V, &V) -> bool;

impl<V: Clone + PartialEq> IndexExpr<V> {
    /// Whether different values of what it is made of are different values of it: it is made of one variable at most, or ascends.
    /// `i - i` does not count as `i`.
    pub fn tells_apart(&self, alike: Alike<V>) -> bool {
        let terms = self.multiples(alike).filter(|terms| self.counts_its_own(terms, alike));
        let terms = terms.map(|terms| terms.len());
        terms.is_some_and(|terms| terms <= 1 && terms == self.variables().len()) || self.ascends(alike).is_some()
    }

    /// Its variables, such that it ascends with their values in lexicographic order; `None` where it does not.
    pub fn ascends(&self, alike: Alike<V>) -> Option<Vec<V>> {
        let mut terms = self.multiples(alike)?;
        terms.sort_by_key(|term| term.extents.len());
        let of_all = terms.len() == self.variables().len();
        let is_next = |pair: &[Product<V>]| pair[1].exceeds(&pair[0], alike);
        let of_all = of_all && self.counts_its_own(&terms, alike);
        let ascends = of_all && terms.iter().all(|term| term.factor > 0) && terms.windows(2).all(is_next);
        ascends.then(|| terms.into_iter().rev().filter_map(|term| term.variable).collect())
    }

    /// Whether it differs for different values of a variable, whatever the others are: that has one factor, which is not zero.
    pub fn changes_with(&self, variable: &V, alike: Alike<V>) -> bool {
        let own = |term: &Product<V>| term.variable.as_ref() == Some(variable);
        let terms = self.multiples(alike).filter(|terms| self.counts_its_own(terms, alike));
        terms.is_some_and(|terms| terms.iter().filter(|term| own(term)).count() == 1)
    }

    /// Whether the factors are made of extents of its own variables: these are not zero where there is anything to do.
    fn counts_its_own(&self, terms: &[Product<V>], alike: Alike<V>) -> bool {
        let own = self.variables();
        let is_own = |extent: &V| own.iter().any(|variable| alike(extent, variable));
        terms.iter().flat_map(|term| &term.extents).all(is_own)
    }

    /// What it has a variable multiplied by: a number, and extents of its own variables; `None` where that is something else.
    pub fn factor(&self, variable: &V, alike: Alike<V>) -> Option<(i64, Vec<V>)> {
        let terms = self.multiples(alike).filter(|terms| self.counts_its_own(terms, alike))?;
        let mut own = terms.into_iter().filter(|term| term.variable.as_ref() == Some(variable));
        let factor = own.next().map(|term| (term.factor, term.extents));
        if own.next().is_none() { factor } else { None }
    }

    /// The multiples of variables in it, where it is a sum of such and of constants.
    fn multiples(&self, alike: Alike<V>) -> Option<Vec<Product<V>>> {
        let mut sum: Vec<Product<V>> = Vec::new();
        for product in self.products()? {
            match sum.iter_mut().find(|known| known.is_like(&product, alike)) {
                Some(known) => known.factor = known.factor.checked_add(product.factor)?,
                None => sum.push(product),
            }
        }
        sum.retain(|product| product.factor != 0 && product.variable.is_some());
        Some(sum)
    }

    fn products(&self) -> Option<Vec<Product<V>>> {
        let one = |factor, extents, variable| Some(vec![Product { factor, extents, variable }]);
        match self {
            IndexExpr::Variable(variable) => one(1, Vec::new(), Some(variable.clone())),
            IndexExpr::Constant(value) => one(*value, Vec::new(), None),
            IndexExpr::Extent(variable) => one(1, vec![variable.clone()], None),
            IndexExpr::Binary(operator, left, right) => {
                let (left, right) = (left.products()?, right.products()?);
                match operator {
                    IndexOperator::Add => Some([left, right].concat()),
                    IndexOperator::Subtract => {
                        let negated = right.into_iter().map(Product::negated).collect::<Option<Vec<_>>>()?;
                        Some([left, negated].concat())
                    }
                    IndexOperator::Multiply => {
                        let pairs = left.iter().flat_map(|one| right.iter().map(move |other| (one, other)));
                        pairs.map(|(one, other)| one.times(other)).collect()
                    }
                    IndexOperator::Divide | IndexOperator::Remainder => None,
                }
            }
        }
    }
}

impl<V: Clone + PartialEq> Product<V> {
    fn negated(self) -> Option<Self> {
        Some(Self { factor: self.factor.checked_neg()?, ..self })
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let variable = match (&self.variable, &other.variable) {
            (Some(_), Some(_)) => return None,
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        let factor = self.factor.checked_mul(other.factor)?;
        Some(Self { factor, extents: [&self.extents[..], &other.extents].concat(), variable })
    }

    /// Whether it differs from another by the number alone.
    fn is_like(&self, other: &Self, alike: Alike<V>) -> bool {
        self.variable == other.variable
            && self.extents.len() == other.extents.len()
            && without(&self.extents, &other.extents, alike).is_some()
    }

    /// Whether its factor is at least that of another times the extent of the other's variable.
    fn exceeds(&self, other: &Self, alike: Alike<V>) -> bool {
        let beyond = other.extents.iter().chain(&other.variable).cloned().collect::<Vec<_>>();
        self.factor >= other.factor && without(&self.extents, &beyond, alike).is_some()
    }
}

/// What is left of extents without others; `None` where they don't have all of these.
fn without<V: Clone>(extents: &[V], others: &[V], alike: Alike<V>) -> Option<Vec<V>> {
    let mut left = extents.to_vec();
    for other in others {
        let place = left.iter().position(|extent| alike(extent, other))?;
        left.remove(place);
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use IndexOperator::*;

    type Index = IndexExpr<&'static str>;

    fn v(name: &'static str) -> Index {
        IndexExpr::Variable(name)
    }

    fn times(value: Index, extent: &'static str) -> Index {
        IndexExpr::binary(Multiply, value, IndexExpr::Extent(extent))
    }

    fn sum(left: Index, right: Index) -> Index {
        IndexExpr::binary(Add, left, right)
    }

    fn ascends(index: &Index) -> Option<Vec<&'static str>> {
        index.ascends(&|one, other| one == other)
    }

    #[test]
    fn numbers_of_mixed_radix_ascend() {
        let pair = sum(times(v("j"), "k"), v("k"));
        assert_eq!(ascends(&pair), Some(vec!["j", "k"]));
        assert_eq!(ascends(&sum(v("k"), times(v("j"), "k"))), Some(vec!["j", "k"]));
        let rows = sum(times(times(v("i"), "j"), "k"), pair.clone());
        assert_eq!(ascends(&rows), Some(vec!["i", "j", "k"]));
        assert_eq!(ascends(&sum(times(sum(times(v("i"), "j"), v("j")), "k"), v("k"))), Some(vec!["i", "j", "k"]));
        let twice = IndexExpr::binary(Multiply, IndexExpr::Constant(2), pair.clone());
        assert_eq!(ascends(&sum(twice, IndexExpr::Constant(1))), Some(vec!["j", "k"]));
        assert_eq!(ascends(&v("i")), Some(vec!["i"]));
        assert_eq!(ascends(&IndexExpr::Constant(3)), Some(vec![]));
    }

    #[test]
    fn what_meets_or_descends_does_not() {
        // The other's extent; none; a negative factor; nothing of a variable left.
        assert_eq!(ascends(&sum(times(v("j"), "j"), v("k"))), None);
        assert_eq!(ascends(&sum(v("j"), v("k"))), None);
        assert_eq!(ascends(&IndexExpr::binary(Subtract, times(v("j"), "k"), v("k"))), None);
        assert_eq!(ascends(&IndexExpr::binary(Subtract, v("k"), v("k"))), None);
        let wide = sum(times(v("j"), "k"), IndexExpr::binary(Multiply, IndexExpr::Constant(2), v("k")));
        assert_eq!(ascends(&wide), None);
        assert_eq!(ascends(&IndexExpr::binary(Divide, v("k"), IndexExpr::Constant(2))), None);
        // Another index may have no values, so that the factor is zero.
        assert_eq!(ascends(&times(v("j"), "k")), None);
        assert!(!times(v("j"), "k").tells_apart(&|one, other| one == other));
    }

    #[test]
    fn each_variable_of_a_sum_changes_it() {
        let same = |one: &&'static str, other: &&'static str| one == other;
        let index = sum(times(v("j"), "k"), v("k"));
        assert!(index.changes_with(&"j", &same) && index.changes_with(&"k", &same) && !index.changes_with(&"i", &same));
        assert!(!IndexExpr::binary(Subtract, v("k"), v("k")).changes_with(&"k", &same));
        assert!(IndexExpr::binary(Subtract, IndexExpr::Extent("k"), v("k")).changes_with(&"k", &same));
    }
}
