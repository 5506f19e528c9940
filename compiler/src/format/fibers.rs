//! Formats that store the same entries in the same order, and differ in how fibers are told.
//!
//! ```text
//! coo    [i: compressed(nonunique), j: singleton(nonunique), k: singleton]    i and j at each entry
//!        [i: compressed(nonunique), j: singleton, k: compressed]              i and j at each fiber, and where it begins
//! ```
//!
//! Here the first two levels are above fibers: the coordinates in fibers and the values are the same arrays in both, so that one is made of
//! the other without a look at them. Li et al., *A Parallel Sparse Tensor Benchmark Suite on CPUs and GPUs* (2020), lay out the result of
//! a product with the last mode by such fibers.

use super::{Children, Format, IndexWidth, Level, LevelFormat, LevelKind, Order};

impl Format {
    /// This format with fibers below levels that are stored as `outer`; `None` where entries don't lie in such fibers one after the other.
    pub fn in_fibers(&self, outer: &[LevelFormat]) -> Option<Format> {
        let depth = outer.len();
        let own = self.levels.get(depth)?.format;
        let fiber = LevelFormat::COMPRESSED
            .with_unique(own.unique())
            .with_order(own.order())
            .with_coordinates(own.coordinates())
            .with_positions(self.position_width(depth));
        let formats = outer.iter().copied().chain([fiber]);
        let levels = self.levels.iter().zip(formats).map(|(level, format)| Level { format, ..level.clone() });
        let levels = levels.chain(self.levels[depth + 1..].iter().cloned()).collect();
        let view = Format { order: self.order, levels, symmetry: None };
        (view.fibers_of(self) == Some(depth)).then_some(view)
    }

    /// How many levels are above the fibers by which this format differs from another, whose entries are in the same order; `None` where it
    /// is the same format, or differs otherwise.
    pub fn fibers_of(&self, source: &Format) -> Option<usize> {
        let is_alike = self != source
            && self.order == source.order
            && self.levels.len() == source.levels.len()
            && self.levels.iter().zip(&source.levels).all(|(a, b)| a.coordinate == b.coordinate);
        let mut depths = 1..self.levels.len();
        depths.find(|&depth| is_alike && self.has_fibers_of(source, depth))
    }

    fn has_fibers_of(&self, source: &Format, depth: usize) -> bool {
        let (own, of) = (self.levels[depth].format, source.levels[depth].format);
        let is_fiber = own.kind.is_compressed()
            && (own.unique(), own.order(), own.coordinates()) == (of.unique(), of.order(), of.coordinates())
            && own.positions() == source.position_width(depth);
        let above = self.levels[..depth].iter().zip(&source.levels[..depth]);
        let is_prefix = |(own, of): (&Level, &Level)| {
            (is_plain(own.format.kind) && is_plain(of.format.kind)) && own.format.order() == of.format.order()
        };
        is_fiber
            && self.levels[depth + 1..] == source.levels[depth + 1..]
            && above.into_iter().all(is_prefix)
            && [self, source].iter().all(|format| !format.levels[depth - 1].format.kind.is_dense())
            && self.levels[depth - 1].format.unique()
            && source.are_adjacent(depth)
    }

    /// Whether entries that are alike in the first levels lie side by side.
    fn are_adjacent(&self, depth: usize) -> bool {
        let kind = self.levels[depth].format.kind;
        let is_sorted = |level: &Level| level.format.order() == Order::Ascending;
        let is_sorted_chain = |level: usize| {
            let chain = self.head(level)..=level;
            self.levels[chain.clone()].iter().all(is_sorted) || self.levels[*chain.start()].format.morton()
        };
        let above = (0..depth).filter(|&level| !self.levels[level + 1].format.kind.is_singleton());
        match kind.is_singleton() {
            true => {
                let chain = &self.levels[self.head(depth)..=depth];
                chain[0].format.kind.is_compressed()
                    && chain.iter().all(is_sorted)
                    && above.into_iter().all(is_sorted_chain)
            }
            false => {
                (kind.is_compressed() || kind.children == Children::Flags) && above.into_iter().all(is_sorted_chain)
            }
        }
    }

    /// The first levels by themselves, as the format of a tensor of the modes that they mention, which come with it.
    pub fn outer(&self, depth: usize) -> (Format, Vec<usize>) {
        let mut modes = Vec::new();
        let levels = &self.levels[..depth];
        levels.iter().for_each(|level| level.coordinate.for_each_mode(&mut |mode| modes.push(mode)));
        levels.iter().for_each(|level| level.coordinate.for_each_extent(&mut |mode| modes.push(mode)));
        modes.sort_unstable();
        modes.dedup();
        let place = |mode: usize| modes.iter().position(|&other| other == mode).unwrap_or(0);
        let own = |level: &Level| Level { coordinate: level.coordinate.renumbered(&place), format: level.format };
        let mut levels: Vec<Level> = levels.iter().map(own).collect();
        Level::settle(&mut levels);
        (Format { order: modes.len(), levels, symmetry: None }, modes)
    }

    /// The level that the chain of coordinates begins with to which a level belongs.
    pub fn head(&self, level: usize) -> usize {
        (0..=level).rfind(|&level| !self.levels[level].format.kind.is_singleton()).unwrap_or(0)
    }

    /// The width of positions that count the entries of a level.
    fn position_width(&self, level: usize) -> IndexWidth {
        let head = self.levels[self.head(level)].format;
        if head.kind.is_compressed() { head.positions() } else { IndexWidth::U32 }
    }
}

/// Whether a level has one coordinate at each position, or every one.
fn is_plain(kind: LevelKind) -> bool {
    kind.is_compressed() || kind.is_singleton() || kind.is_dense()
}

#[cfg(all(test, feature = "compile"))]
mod tests {
    use super::super::{Format, LevelFormat, named};

    /// Fibers by the coordinates of the other modes.
    fn by_coordinates() -> Format {
        Format::of_levels([LevelFormat::COMPRESSED.nonunique(), LevelFormat::SINGLETON, LevelFormat::COMPRESSED])
    }

    fn format(name: &str) -> Format {
        let (name, numbers) = name.split_once('(').map_or((name, vec![]), |(name, _)| (name, vec![128]));
        named(name, &numbers, 3).unwrap()
    }

    #[test]
    fn formats_in_the_same_order_differ_in_fibers() {
        for (source, depth) in [("coo", Some(2)), ("fcoo", Some(2)), ("csf", Some(2)), ("mcoo", None)] {
            assert_eq!(by_coordinates().fibers_of(&format(source)), depth, "{source}");
        }
        for (view, source, depth) in [
            ("csf", "coo", Some(2)),
            ("hocsr", "coo", None),
            ("coo", "csf", None),
            ("coo", "coo", None),
            ("csf", "hicoo(128)", None),
        ] {
            assert_eq!(format(view).fibers_of(&format(source)), depth, "{view} of {source}");
        }
    }

    #[test]
    fn blocks_stay_blocks() {
        let ghicoo = format("ghicoo(128)");
        let outer: Vec<_> = named("hicoo", &[128], 2).unwrap().levels.iter().map(|level| level.format).collect();
        let view = ghicoo.in_fibers(&outer).unwrap();
        assert_eq!(
            view.to_string(),
            "(i, j, k) -> [i / 128: compressed(nonunique, morton), j / 128: singleton(unordered), \
             i % 128: compressed(nonunique, u8), j % 128: singleton(u8), k: compressed]"
        );
        assert_eq!((view.fibers_of(&ghicoo), ghicoo.in_fibers(&outer[..3])), (Some(4), None));
    }
}
