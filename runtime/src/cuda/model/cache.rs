//! A cache of sectors: sets of lines of 128 bytes, of which the one goes that was not used for longest.

/// The sectors of a line.
const SECTORS: u32 = 4;

/// The lines of a set.
const WAYS: usize = 16;

/// No line has this number.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Line {
    number: u32,
    /// When it was used.
    used: u32,
    /// Which of its sectors are here.
    here: u8,
    /// Which of these were written to.
    written: u8,
}

/// A cache that holds some lines, of which single sectors may be missing.
#[derive(Debug, Clone)]
pub struct Cache {
    sets: Vec<[Line; WAYS]>,
    clock: u32,
    /// Sectors that were written back when their lines left.
    pub written_back: u64,
}

impl Cache {
    /// One of so many bytes.
    pub fn new(bytes: usize) -> Self {
        let empty = Line { number: NONE, used: 0, here: 0, written: 0 };
        Self { sets: vec![[empty; WAYS]; (bytes / 128 / WAYS).max(1)], clock: 0, written_back: 0 }
    }

    /// Whether a sector is here; from now on it is.
    pub fn touch(&mut self, sector: u32, writes: bool) -> bool {
        let (number, bit) = (sector / SECTORS, 1 << (sector % SECTORS));
        self.clock = self.clock.wrapping_add(1);
        let clock = self.clock;
        let set = self.set_of(number);
        let lines = &mut self.sets[set];
        let mut oldest = 0;
        for place in 0..WAYS {
            let line = &mut lines[place];
            if line.number == number {
                let was_here = line.here & bit != 0;
                line.used = clock;
                line.here |= bit;
                line.written |= if writes { bit } else { 0 };
                return was_here;
            }
            if clock.wrapping_sub(line.used) > clock.wrapping_sub(lines[oldest].used) {
                oldest = place;
            }
        }
        self.written_back += u64::from(lines[oldest].written.count_ones());
        lines[oldest] = Line { number, used: clock, here: bit, written: if writes { bit } else { 0 } };
        false
    }

    /// The set of a line, by a hash.
    fn set_of(&self, number: u32) -> usize {
        let hash = u64::from(number.wrapping_mul(2_654_435_761));
        ((hash * self.sets.len() as u64) >> 32) as usize
    }

    /// Sectors that were written to and are still here.
    pub fn dirty(&self) -> u64 {
        self.sets.iter().flatten().map(|line| u64::from(line.written.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A list for each set, the line that was used last in front.
    struct Naive(Vec<VecDeque<(u32, u8)>>);

    impl Naive {
        fn touch(&mut self, set: usize, sector: u32) -> bool {
            let (number, bit) = (sector / 4, 1 << (sector % 4));
            let list = &mut self.0[set];
            let found = list.iter().position(|(other, _)| *other == number);
            let (_, here) = found.and_then(|place| list.remove(place)).unwrap_or((number, 0));
            list.push_front((number, here | bit));
            list.truncate(WAYS);
            here & bit != 0
        }
    }

    #[test]
    fn it_does_what_a_list_for_each_set_does() {
        let mut cache = Cache::new(64 << 10);
        let mut naive = Naive(vec![VecDeque::new(); cache.sets.len()]);
        let (mut state, mut hits) = (1_u64, 0);
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let sector = (state >> 33) as u32 % 6000;
            let set = cache.set_of(sector / 4);
            let hit = cache.touch(sector, state & 1 == 1);
            assert_eq!(hit, naive.touch(set, sector), "sector {sector}");
            hits += u64::from(hit);
        }
        assert!((20_000..180_000).contains(&hits), "{hits}");
    }

    #[test]
    fn what_was_written_is_written_back_once() {
        let mut cache = Cache::new(4096);
        (0..1000).for_each(|sector| _ = cache.touch(sector, true));
        assert_eq!(cache.written_back + cache.dirty(), 1000);
        assert!(cache.dirty() <= 128);
    }

    #[test]
    fn a_stream_has_no_hits_and_what_fits_has_only_hits_the_second_time() {
        let mut cache = Cache::new(1 << 20);
        let hits = |cache: &mut Cache, count: u32| (0..count).filter(|sector| cache.touch(*sector, false)).count();
        assert_eq!(hits(&mut cache, 16_000), 0);
        assert_eq!(hits(&mut cache, 16_000), 16_000);
        assert_eq!(hits(&mut Cache::new(1 << 20), 100_000), 0);
    }
}
