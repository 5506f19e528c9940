//! Which formats loops work on as they are, and the plain ones that stand in for the others.
//!
//! Loops walk, locate and append levels that store a mode each, sorted. An operand in any other format is read from a copy
//! in a plain one, and a result is computed in a plain one and delivered converted:
//!
//! ```text
//! (i, j) -> [i / 4: dense, j / 4: compressed, i % 4: dense, j % 4: dense]        stands in: [compressed, compressed]
//! ```

use crate::format::{Coordinate, Format, IndexWidth, Level, LevelFormat, Told};

impl Format {
    /// Whether loops walk or locate its levels as they are.
    pub fn is_walked(&self) -> bool {
        self.mode_order().is_some() && self.levels.iter().all(|level| super::is_direct(level.format))
    }

    /// Whether loops write its levels as they are.
    pub fn is_written(&self) -> bool {
        let is_written = |level: &Level| level.format.kind.is_dense() || super::is_appended(level.format);
        self.is_walked() && self.levels.iter().all(is_written)
    }

    /// The modes in the order in which the levels mention them first.
    pub fn mentioned_modes(&self) -> Vec<usize> {
        let mut modes = Vec::with_capacity(self.order);
        for level in &self.levels {
            level.coordinate.for_each_mode(&mut |mode| {
                if !modes.contains(&mode) {
                    modes.push(mode);
                }
            });
        }
        modes
    }

    /// A format that loops walk and write, whose levels store `modes` in this order: dense where this one is dense
    /// throughout, else compressed. Indices are as wide as here.
    pub fn plain(&self, modes: &[usize]) -> Format {
        let levels: Vec<LevelFormat> = modes.iter().map(|&mode| self.plain_level(mode)).collect();
        Format::permuted(modes, &levels)
    }

    /// The level of [`Format::plain`] that stores a mode.
    pub(crate) fn plain_level(&self, mode: usize) -> LevelFormat {
        if self.is_dense() {
            return LevelFormat::DENSE;
        }
        let widest = |width: fn(&Level) -> IndexWidth, levels: &mut dyn Iterator<Item = &Level>| {
            levels.map(width).max().unwrap_or(IndexWidth::U32).max(IndexWidth::U32)
        };
        let stores_coordinates = |level: &&Level| matches!(level.format.kind.told, Told::Stored);
        let mut own = self.levels.iter().filter(|level| level.coordinate.mentions(mode));
        let stored = self.levels.iter().find(|level| level.coordinate == Coordinate::Mode(mode));
        let coordinates = match stored.map(|level| (stores_coordinates(&level), level.format.coordinates())) {
            Some((true, width)) => width,
            // What it stores tells its coordinates together with the levels above.
            Some((false, _)) => widest(|level| level.format.coordinates(), &mut self.levels.iter()),
            None => widest(|level| level.format.coordinates(), &mut own),
        };
        let positions = widest(|level| level.format.positions(), &mut self.levels.iter());
        LevelFormat::COMPRESSED.with_coordinates(coordinates).with_positions(positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str, order: usize) -> Format {
        let declared = crate::syntax::parse_format(text).unwrap();
        crate::format::resolve::resolve(&declared, order, &Default::default()).unwrap()
    }

    #[test]
    fn formats_of_sorted_modes_are_walked() {
        for (text, order, walked) in [
            ("csr", 2, true),
            ("(i, j) -> [j: dense, i: compressed]", 2, true),
            ("[compressed(unordered)]", 1, false),
            ("[hashed]", 1, false),
            ("bcsr(4)", 2, false),
            ("hicoo(128)", 3, false),
        ] {
            let format = format(text, order);
            assert_eq!((format.is_walked(), format.is_written()), (walked, walked), "{text}");
            let plain = format.plain(&format.mentioned_modes());
            assert!(plain.is_walked() && plain.is_written(), "{text}: {plain}");
        }
    }

    #[test]
    fn what_stands_in_has_the_same_modes() {
        let plain = |text, order| {
            let format = format(text, order);
            format.plain(&format.mentioned_modes()).to_string()
        };
        assert_eq!(plain("(i, j) -> [j / 2: dense, i: dense, j % 2: dense]", 2), "(i, j) -> [j: dense, i: dense]");
        assert_eq!(
            plain("[bitmap, compressed(u64), diagonal]", 3),
            "[compressed(u64), compressed(u64), compressed(u64)]"
        );
        assert_eq!(plain("[dense, banded(u8)]", 2), "[compressed, compressed]");
        assert_eq!(plain("hicoo(128)", 3), "[compressed, compressed, compressed]");
        assert_eq!(
            plain("(i, j) -> [j: compressed(unordered, u8, pos = u64), i: compressed]", 2),
            "(i, j) -> [j: compressed(u8, pos = u64), i: compressed(pos = u64)]"
        );
    }
}
