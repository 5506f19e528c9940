//! Interleaved numbers of more than 64 bits, in levels for 64 of them each:
//!
//! ```text
//! [interleave(i, j): compressed(u64)]    as    [interleave(i / B, j / B): compressed(nonunique, u64), interleave(i % B, j % B): singleton(u64)]
//! ```
//!
//! The first level holds the highest bits, so entries are in the order of all.

use super::{Coordinate, Format, IndexWidth, Level, LevelFormat, interleave};

impl Format {
    /// The format for tensors of this shape: one that interleaves more bits than a number has in a level of distinct compressed coordinates
    /// has several levels in its place. Other formats stay as they are.
    pub fn for_shape(&self, shape: &[usize]) -> Format {
        let is_chain = |place: usize| self.levels.get(place + 1).is_some_and(|below| below.format.kind.is_singleton());
        let levels = self.levels.iter().enumerate().flat_map(|(place, level)| {
            let digits = if is_chain(place) { None } else { digits(level, shape) };
            digits.unwrap_or_else(|| vec![level.clone()])
        });
        Format { order: self.order, levels: levels.collect(), symmetry: self.symmetry.clone() }
    }
}

/// A level for each 64 bits of a coordinate, the highest first; `None` where it has no more, or is stored otherwise.
fn digits(level: &Level, shape: &[usize]) -> Option<Vec<Level>> {
    let Coordinate::Interleave(parts) = &level.coordinate else { return None };
    if !level.format.kind.is_compressed() || !level.format.unique() {
        return None;
    }
    let width = u64::BITS.checked_div(u32::try_from(parts.len()).ok()?).filter(|&width| width > 0)?;
    let base = || Box::new(Coordinate::Constant(1 << width));
    let mut rest = parts.clone();
    let mut digits = Vec::new();
    loop {
        let extents: Option<Vec<u64>> =
            rest.iter().map(|part| part.end::<Option<u64>>(&|mode| Some(shape[mode] as u64)).flatten()).collect();
        if interleave::spreads(&extents?).is_ok() {
            break;
        }
        let low = rest.iter().map(|part| Coordinate::Remainder(Box::new(part.clone()), base()));
        digits.push(Coordinate::Interleave(low.collect()));
        rest = rest.into_iter().map(|part| Coordinate::Divide(Box::new(part), base())).collect();
    }
    if digits.is_empty() {
        return None;
    }
    let below = LevelFormat::SINGLETON.with_coordinates(IndexWidth::U64);
    let mut levels = vec![Level { coordinate: Coordinate::Interleave(rest), format: level.format.nonunique() }];
    levels.extend(digits.into_iter().rev().map(|coordinate| Level { coordinate, format: below.nonunique() }));
    Level::settle(&mut levels);
    Some(levels)
}

#[cfg(all(test, feature = "compile"))]
mod tests {
    use super::super::resolve::{Definitions, resolve};
    use crate::syntax::parse_format;

    fn for_shape(text: &str, shape: &[usize]) -> String {
        let format = resolve(&parse_format(text).unwrap(), shape.len(), &Definitions::prelude()).unwrap();
        format.for_shape(shape).to_string()
    }

    #[test]
    fn what_one_number_holds_stays_in_one() {
        assert_eq!(for_shape("alto", &[1 << 32, 1 << 32]), "(i, j) -> [interleave(i, j): compressed(u64)]");
        assert_eq!(for_shape("csr", &[usize::MAX, usize::MAX]), "[dense, compressed]");
    }

    #[test]
    fn more_bits_are_in_levels_of_their_own() {
        assert_eq!(
            for_shape("alto", &[1 << 40, 1 << 30]),
            "(i, j) -> [interleave(i / 4294967296, j / 4294967296): compressed(nonunique, u64), \
             interleave(i % 4294967296, j % 4294967296): singleton(u64)]"
        );
        let three = for_shape("alto", &[1 << 40; 4]);
        assert_eq!(three.matches("singleton(nonunique, u64)").count(), 1, "{three}");
    }
}
