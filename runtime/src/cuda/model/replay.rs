//! Blocks in front of the caches: what of a launch's accesses the first level, the second and memory are asked for.
//!
//! Blocks go to multiprocessors in order, as room comes free. Multiprocessors take turns, one memory instruction each, and so do the
//! warps of one. Loads look into the first level; stores and atomic operations go to the second.

use super::cache::Cache;
use super::counts::Counts;
use super::description::Description;

/// What caches and memory were asked for by the blocks that were traced. Sectors have 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// Sectors that loads ask for.
    pub loaded: u64,
    /// Those of them that the first level does not have.
    pub missed: u64,
    /// Sectors that the second level is asked for, or takes.
    pub l2: u64,
    /// Sectors that come from memory.
    pub memory_in: u64,
    /// Sectors that go there.
    pub memory_out: u64,
    /// Different sectors.
    pub distinct: u64,
    /// Atomic operations that reach the second level, by sector.
    pub atomics: u64,
    /// How many of these are at one sector, at most.
    pub meet: u64,
    /// Loads of warps.
    pub loads: u64,
    /// The clocks that each of these takes, together.
    pub clocks: f64,
    /// The same of the warp that waits longest.
    pub longest: f64,
}

impl Traffic {
    /// The clocks until a load is there, on average.
    pub fn latency(&self) -> f64 {
        self.clocks / self.loads.max(1) as f64
    }

    /// The part of the sectors that loads ask for and the first level has.
    pub fn l1_hits(&self) -> f64 {
        1.0 - self.missed as f64 / self.loaded.max(1) as f64
    }
}

const HEAD: u32 = 0x8000_0000;
const STORE: u32 = 2;
const ATOMIC: u32 = 3;

struct Warp {
    at: usize,
    end: usize,
    block: usize,
    waited: f64,
}

struct Multiprocessor {
    l1: Cache,
    warps: Vec<Warp>,
    turn: usize,
    /// The blocks that are here, with the number of their warps that still run.
    blocks: Vec<(usize, usize)>,
}

/// One memory instruction of a warp.
struct Access<'a> {
    kind: u32,
    /// Of an atomic operation: how many lanes are at one address, the most.
    joined: u32,
    sectors: &'a [u32],
}

struct Replay<'a> {
    counts: &'a Counts,
    description: &'a Description,
    warps_of_block: usize,
    next: usize,
    l2: &'a mut Cache,
    seen: Vec<bool>,
    updates: Vec<u32>,
    traffic: Traffic,
}

/// What a launch asks of the caches, of which the second level is as the launch before has left it.
pub(super) fn replay(
    counts: &Counts,
    description: &Description,
    warps_of_block: usize,
    resident_blocks: usize,
    l1_bytes: usize,
    sectors: u32,
    l2: &mut Cache,
) -> Traffic {
    let before = l2.written_back + l2.dirty();
    let length = sectors as usize;
    let mut replay = Replay {
        counts,
        description,
        warps_of_block,
        next: 0,
        l2,
        seen: vec![false; length],
        updates: vec![0; length],
        traffic: Traffic::default(),
    };
    let empty = || Multiprocessor { l1: Cache::new(l1_bytes), warps: Vec::new(), turn: 0, blocks: Vec::new() };
    let mut all: Vec<Multiprocessor> = (0..description.multiprocessors).map(|_| empty()).collect();
    for _ in 0..resident_blocks {
        all.iter_mut().for_each(|one| replay.give(one));
    }
    while all.iter_mut().fold(false, |any, one| replay.step(one) | any) {}
    let mut traffic = replay.traffic;
    traffic.meet = replay.updates.iter().copied().max().unwrap_or(0).into();
    traffic.memory_out = replay.l2.written_back + replay.l2.dirty() - before;
    traffic
}

impl Replay<'_> {
    /// Gives a multiprocessor the next block that does something.
    fn give(&mut self, to: &mut Multiprocessor) {
        let ends = &self.counts.ends;
        while (self.next + 1) * self.warps_of_block <= ends.len() {
            let block = self.next;
            self.next += 1;
            let before = to.warps.len();
            for warp in block * self.warps_of_block..(block + 1) * self.warps_of_block {
                let at = warp.checked_sub(1).map_or(0, |warp| ends[warp]) as usize;
                let end = ends[warp] as usize;
                if at < end {
                    to.warps.push(Warp { at, end, block, waited: 0.0 });
                }
            }
            if to.warps.len() > before {
                to.blocks.push((block, to.warps.len() - before));
                return;
            }
        }
    }

    /// One memory instruction of a multiprocessor; whether there was one.
    fn step(&mut self, one: &mut Multiprocessor) -> bool {
        if one.warps.is_empty() {
            self.give(one);
        }
        if one.warps.is_empty() {
            return false;
        }
        if one.turn >= one.warps.len() {
            one.turn = 0;
        }
        let warp = &mut one.warps[one.turn];
        let head = self.counts.stream[warp.at];
        let count = (head & 0xff) as usize;
        let sectors = &self.counts.stream[warp.at + 1..warp.at + 1 + count];
        let access = Access { kind: (head & !HEAD) >> 28, joined: head >> 8 & 0xff, sectors };
        warp.at += 1 + count;
        warp.waited += self.access(&access, &mut one.l1);
        if warp.at < warp.end {
            one.turn += 1;
            return true;
        }
        let warp = one.warps.swap_remove(one.turn);
        self.traffic.longest = self.traffic.longest.max(warp.waited);
        self.leave(one, warp.block);
        true
    }

    /// A warp of a block is done; behind the last of them, another block comes.
    fn leave(&mut self, one: &mut Multiprocessor, block: usize) {
        let Some(place) = one.blocks.iter().position(|(other, _)| *other == block) else { return };
        one.blocks[place].1 -= 1;
        if one.blocks[place].1 == 0 {
            one.blocks.swap_remove(place);
            self.give(one);
        }
    }

    /// The clocks until an access is done, if somebody waits for it.
    fn access(&mut self, access: &Access<'_>, l1: &mut Cache) -> f64 {
        let mut clocks = self.description.l1_clocks;
        for &sector in access.sectors {
            if let Some(seen) = self.seen.get_mut(sector as usize) {
                self.traffic.distinct += u64::from(!*seen);
                *seen = true;
            }
            match access.kind {
                STORE | ATOMIC => self.update(access, sector),
                _ => clocks = clocks.max(self.load(sector, l1)),
            }
        }
        if matches!(access.kind, STORE | ATOMIC) {
            return 0.0;
        }
        self.traffic.loads += 1;
        self.traffic.clocks += clocks;
        clocks
    }

    fn load(&mut self, sector: u32, l1: &mut Cache) -> f64 {
        self.traffic.loaded += 1;
        if l1.touch(sector, false) {
            return self.description.l1_clocks;
        }
        self.traffic.l2 += 1;
        self.traffic.missed += 1;
        if self.l2.touch(sector, false) {
            return self.description.l2_clocks;
        }
        self.traffic.memory_in += 1;
        self.description.memory_clocks
    }

    fn update(&mut self, access: &Access<'_>, sector: u32) {
        self.traffic.l2 += 1;
        let was_here = self.l2.touch(sector, true);
        if access.kind == ATOMIC {
            self.traffic.memory_in += u64::from(!was_here);
            self.traffic.atomics += u64::from(access.joined);
            if let Some(updates) = self.updates.get_mut(sector as usize) {
                *updates += access.joined;
            }
        }
    }
}
