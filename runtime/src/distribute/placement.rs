//! Which rank has which entries.

use super::bisection::bisection;
use super::listed::{Listed, Occupied};
use spc_compiler::diagnostics::Diagnostics;
use spc_compiler::notation::Kernel;
use spc_compiler::schedule::{Placed, Shared, Sharing, placed};
use std::borrow::Borrow;
use std::convert::Infallible;
use std::fmt;
use std::ops::Range;

/// How entries of a tensor, or the range of an index, are shared out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// Equal numbers of a tensor's entries in the order in which they are stored: no rank has more work than another.
    Shares {
        /// The tensor.
        tensor: String,
    },
    /// So many parts of each mode of a tensor, a rank for each cell: ranks of one part of a mode share rows of what has that mode. Parts
    /// have about equal numbers of entries.
    Grid {
        /// The tensor.
        tensor: String,
        /// The parts of each mode.
        parts: Vec<usize>,
    },
    /// A tensor's entries, cut in two again and again, for as many ranks each: along the mode, each time, in which the two have fewest
    /// coordinates in common. Ranks have about equal numbers of entries.
    Bisection {
        /// The tensor.
        tensor: String,
    },
    /// Parts of the range of an index of the result, of about equal numbers of entries.
    Range {
        /// The index.
        index: String,
    },
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Shares { tensor } => write!(f, "{tensor}"),
            Placement::Grid { tensor, parts } => {
                let parts: Vec<String> = parts.iter().map(usize::to_string).collect();
                write!(f, "{tensor}:{}", parts.join("x"))
            }
            Placement::Bisection { tensor } => write!(f, "{tensor}:bisection"),
            Placement::Range { index } => write!(f, "{index}"),
        }
    }
}

impl Placement {
    /// What the schedule of a kernel asks for.
    ///
    /// # Errors
    /// When it asks for what can't be.
    pub fn asked(kernel: &Kernel) -> Result<Option<Self>, Diagnostics> {
        let placement = |Placed { shared, sharing }| match (shared, sharing) {
            (Shared::Range(index), _) => Placement::Range { index },
            (Shared::Entries(tensor), Sharing::Evenly) => Placement::Shares { tensor },
            (Shared::Entries(tensor), Sharing::Bisection) => Placement::Bisection { tensor },
            (Shared::Entries(tensor), Sharing::Grid(parts)) => {
                let parts = parts.into_iter().map(|parts| usize::try_from(parts).unwrap_or(usize::MAX)).collect();
                Placement::Grid { tensor, parts }
            }
        };
        Ok(placed(kernel)?.map(placement))
    }

    /// The tensor whose entries are shared out, if any are.
    pub fn tensor(&self) -> Option<&str> {
        match self {
            Placement::Shares { tensor } | Placement::Grid { tensor, .. } | Placement::Bisection { tensor } => {
                Some(tensor)
            }
            Placement::Range { .. } => None,
        }
    }

    /// As many cells as a grid has.
    pub fn cells(&self) -> Option<usize> {
        match self {
            Placement::Grid { parts, .. } => parts.iter().try_fold(1usize, |cells, &parts| cells.checked_mul(parts)),
            _ => None,
        }
    }

    /// How entries of a tensor can be shared out among so many ranks.
    pub(super) fn of_entries(tensor: &str, shape: &[usize], ranks: usize) -> Vec<Self> {
        let mut all = vec![Placement::Shares { tensor: tensor.to_owned() }];
        if ranks > 1 {
            all.push(Placement::Bisection { tensor: tensor.to_owned() });
        }
        all.extend(grids(shape, ranks).into_iter().map(|parts| Placement::Grid { tensor: tensor.to_owned(), parts }));
        all
    }

    /// The rank of each entry; `is_cut` says of which modes a rank has only the coordinates of its entries.
    pub(super) fn ranks_of(&self, entries: &Listed, is_cut: &[bool], ranks: usize) -> Vec<u32> {
        match self {
            Placement::Grid { parts, .. } => grid(entries, parts),
            Placement::Bisection { .. } => bisection(entries, is_cut, ranks),
            Placement::Shares { .. } | Placement::Range { .. } => shares(entries.len(), ranks),
        }
    }

    /// A placement as it is written: `X` for as many entries of `X` on each rank, `X:4x2x1` for a grid over its modes, `X:bisection`, `i` for
    /// the range of an index.
    ///
    /// # Errors
    /// When a grid is not written so.
    pub fn parse(text: &str, is_tensor: &dyn Fn(&str) -> bool) -> Result<Self, String> {
        let Some((tensor, parts)) = text.split_once(':') else {
            let name = text.to_owned();
            return Ok(if is_tensor(text) {
                Placement::Shares { tensor: name }
            } else {
                Placement::Range { index: name }
            });
        };
        if parts == "bisection" {
            return Ok(Placement::Bisection { tensor: tensor.to_owned() });
        }
        let number = |part: &str| part.parse::<usize>().ok().filter(|parts| *parts > 0);
        let parts: Option<Vec<usize>> = parts.split('x').map(number).collect();
        let parts = parts.ok_or_else(|| {
            format!("`{text}` is no grid: write the parts of each mode, as in `X:4x2x1`, or `X:bisection`")
        })?;
        Ok(Placement::Grid { tensor: tensor.to_owned(), parts })
    }
}

/// The rank of each entry, where all have as many.
fn shares(entries: usize, ranks: usize) -> Vec<u32> {
    let mut of_entries = Vec::with_capacity(entries);
    for rank in 0..ranks {
        of_entries.resize(cut(entries, ranks, rank + 1), rank as u32);
    }
    of_entries
}

/// Where a part of a whole begins, of so many that are as equal as can be.
pub(crate) fn cut(whole: usize, parts: usize, part: usize) -> usize {
    (whole as u128 * part as u128 / parts as u128) as usize
}

/// The rank of each entry, by a grid over modes.
fn grid(entries: &Listed, parts: &[usize]) -> Vec<u32> {
    let part = |_: &[u64], weights: &[u32], parts| Ok::<_, Infallible>(part_of_each(weights, parts));
    cells(entries.len(), occupied(entries, parts), part).unwrap_or_else(|never| match never {})
}

/// The coordinates of the modes that a grid cuts.
pub(super) fn occupied(entries: &Listed, parts: &[usize]) -> impl Iterator<Item = (Occupied, usize)> {
    let modes = entries.indices.iter().zip(parts).filter(|(_, parts)| **parts > 1);
    modes.map(|(column, parts)| (Occupied::of(column), *parts))
}

/// The cell of each of so many entries in a grid over modes, of which those that are cut are given, the last mode first. `part_of_each`
/// gives the part of a mode that each of some coordinates is in, which have so many entries here.
pub(super) fn cells<E>(
    entries: usize,
    modes: impl Iterator<Item = (impl Borrow<Occupied>, usize)>,
    part_of_each: impl Fn(&[u64], &[u32], usize) -> Result<Vec<u32>, E>,
) -> Result<Vec<u32>, E> {
    let mut of_entries = vec![0u32; entries];
    for (mode, parts) in modes {
        let mode = mode.borrow();
        let part = part_of_each(&mode.coordinates, &mode.weights(), parts)?;
        for (cell, &place) in of_entries.iter_mut().zip(&mode.places) {
            *cell = *cell * parts as u32 + part[place as usize];
        }
    }
    Ok(of_entries)
}

/// The part of each coordinate, where parts are ranges of about equal weight.
pub(super) fn part_of_each(weights: &[u32], parts: usize) -> Vec<u32> {
    let mut of_each = vec![0; weights.len()];
    for (part, range) in ranges(weights, parts).into_iter().enumerate() {
        of_each[range].fill(part as u32);
    }
    of_each
}

/// Ranges of coordinates that are about equal in weight, and where nothing has weight, in length.
pub(crate) fn ranges(weights: &[u32], parts: usize) -> Vec<Range<usize>> {
    let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
    if total == 0 {
        return (0..parts).map(|part| cut(weights.len(), parts, part)..cut(weights.len(), parts, part + 1)).collect();
    }
    let mut all = Vec::with_capacity(parts);
    let (mut begin, mut left) = (0, total);
    for part in 0..parts {
        let wanted = left.div_ceil((parts - part) as u64);
        let (mut end, mut taken) = (begin, 0);
        while end < weights.len() && (taken < wanted || part + 1 == parts) {
            let next = u64::from(weights[end]);
            // The nearer of both ends.
            if part + 1 < parts && taken > 0 && taken + next > wanted && taken + next - wanted > wanted - taken {
                break;
            }
            taken += next;
            end += 1;
        }
        all.push(begin..end);
        (begin, left) = (end, left - taken);
    }
    all
}

/// The grids of so many ranks over modes of these extents: along one mode, and the one whose parts come nearest to cubes, by the rule of Smith and
/// Karypis (A Medium-Grained Algorithm for Distributed Sparse Tensor Factorization, 2016).
fn grids(shape: &[usize], ranks: usize) -> Vec<Vec<usize>> {
    let along = |mode: usize| {
        let mut parts = vec![1; shape.len()];
        parts[mode] = ranks;
        parts
    };
    let mut all: Vec<Vec<usize>> = (0..shape.len()).map(along).collect();
    let mut parts = vec![1; shape.len()];
    let target = shape.iter().map(|&extent| extent as u128).sum::<u128>() / ranks as u128;
    for factor in prime_factors(ranks) {
        let above = |mode: usize| ((shape[mode] / parts[mode]) as u128).saturating_sub(target);
        // The first of those that are alike.
        if let Some(longest) = (0..shape.len()).min_by_key(|&mode| std::cmp::Reverse(above(mode))) {
            parts[longest] *= factor;
        }
    }
    if !all.contains(&parts) && !shape.is_empty() {
        all.push(parts);
    }
    all
}

/// The prime factors of a number, the largest first.
fn prime_factors(mut number: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut factor = 2;
    while factor * factor <= number {
        while number.is_multiple_of(factor) {
            factors.push(factor);
            number /= factor;
        }
        factor += 1;
    }
    if number > 1 {
        factors.push(number);
    }
    factors.reverse();
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_equal() {
        assert_eq!(shares(7, 3), [0, 0, 1, 1, 2, 2, 2]);
        assert_eq!(shares(2, 4), [1, 3]);
        assert_eq!(shares(0, 4), [0u32; 0]);
    }

    #[test]
    fn ranges_are_of_equal_weight() {
        assert_eq!(ranges(&[4, 0, 0, 1, 1, 1, 1], 2), [0..1, 1..7]);
        assert_eq!(ranges(&[1, 9, 1, 1], 2), [0..2, 2..4]);
        assert_eq!(ranges(&[0, 0, 0, 0], 2), [0..2, 2..4]);
        assert_eq!(ranges(&[5], 3), [0..1, 1..1, 1..1]);
        assert_eq!(ranges(&[], 2), [0..0, 0..0]);
    }

    #[test]
    fn grids_follow_the_longest_modes() {
        assert_eq!(grids(&[100, 10, 10], 6), [[6, 1, 1], [1, 6, 1], [1, 1, 6]]);
        assert_eq!(grids(&[100, 100], 16).last().unwrap(), &[4, 4]);
        assert_eq!(grids(&[1000, 300, 2], 64).last().unwrap(), &[16, 4, 1]);
    }

    #[test]
    fn placements_are_read_as_they_are_shown() {
        for text in ["X", "X:4x2x1", "i"] {
            assert_eq!(Placement::parse(text, &|name| name == "X").unwrap().to_string(), text);
        }
        assert!(Placement::parse("X:4x0", &|_| true).is_err());
    }
}
