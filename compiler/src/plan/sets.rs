//! Sets of variables and factors, and orders.

/// A set of index variables of a kernel, a bit each.
pub(super) type Vars = u64;

/// A set of factors of a product, a bit each.
pub(super) type Set = u64;

/// The members of a set, ascending.
pub(super) fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

/// Calls `visit` with every order of what is at a place and behind it.
pub(super) fn permutations(order: &mut Vec<usize>, from: usize, visit: &mut dyn FnMut(&[usize])) {
    if from + 1 >= order.len() {
        return visit(order);
    }
    for place in from..order.len() {
        order.swap(from, place);
        permutations(order, from + 1, visit);
        order.swap(from, place);
    }
}
