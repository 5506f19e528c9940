//! What was counted of a launch.

/// What kind of instruction a site is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A load from an array.
    Load,
    /// A store to one.
    Store,
    /// An atomic operation on one.
    Atomic,
    /// A load from memory that the threads of a block share.
    SharedLoad,
    /// A store to it.
    SharedStore,
    /// An atomic operation on it.
    SharedAtomic,
}

impl Kind {
    pub(super) fn of(number: u8) -> Option<Self> {
        [Self::Load, Self::Store, Self::Atomic, Self::SharedLoad, Self::SharedStore, Self::SharedAtomic]
            .get(usize::from(number).checked_sub(1)?)
            .copied()
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Atomic => "atomic",
            Kind::SharedLoad => "shared load",
            Kind::SharedStore => "shared store",
            Kind::SharedAtomic => "shared atomic",
        }
    }

    /// Whether it touches an array, not a block's own memory.
    pub fn is_global(self) -> bool {
        matches!(self, Kind::Load | Kind::Store | Kind::Atomic)
    }

    /// Whether lanes that do it together may have to wait for one another.
    pub fn is_met(self) -> bool {
        !matches!(self, Kind::Load | Kind::Store)
    }
}

/// An instruction that touches memory, by what its warps did in the blocks that were traced.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Where it is in the emulation's machine code: only the order says something.
    pub place: u64,
    /// The array; none for shared memory.
    pub array: Option<String>,
    /// What it does.
    pub kind: Kind,
    /// The bytes that a lane touches.
    pub size: usize,
    /// How often a warp came here.
    pub runs: u64,
    /// The lanes of these, together.
    pub lanes: u64,
    /// The bytes of different elements that they touched, together.
    pub useful: u64,
    /// The sectors of 32 bytes that these lie in, counted for each run.
    pub sectors: u64,
    /// Their lines of 128 bytes.
    pub lines: u64,
    /// Different addresses, counted for each run.
    pub distinct: u64,
    /// Of atomic operations: the lanes that meet in one address, the most of each run. Of shared memory: turns of its banks.
    pub ways: u64,
    /// Turns of the first-level cache.
    pub turns: f64,
}

impl Site {
    /// Useful bytes as a part of those of the sectors.
    pub fn share(&self) -> f64 {
        self.useful as f64 / (self.sectors.max(1) * SECTOR) as f64
    }
}

/// Sums over a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Totals {
    /// Blocks that ran.
    pub blocks: u64,
    /// Those that were traced.
    pub traced: u64,
    /// What all lanes of all blocks did: basic blocks, accesses, warp operations.
    pub events: u64,
    /// The same of blocks that were traced.
    pub traced_events: u64,
    /// Basic blocks that warps ran, traced.
    pub warp_blocks: u64,
    /// The lanes of these.
    pub lane_blocks: u64,
    /// Shuffles, votes and the like, traced.
    pub warp_operations: u64,
    /// Barriers of all blocks.
    pub barriers: u64,
    /// Accesses to no array.
    pub unknown: u64,
    /// The longest trace of a lane.
    pub longest_trace: u64,
    /// Useful bytes of all accesses to arrays, traced.
    pub useful: u64,
    /// The sectors of these.
    pub sectors: u64,
}

/// What one block did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct BlockCount {
    /// What its lanes did.
    pub(super) events: u64,
    /// Machine instructions of its warps, about; zero if it was not traced.
    pub(super) issue: u64,
    /// The loads of the lane that has most.
    pub(super) longest: u32,
    /// Whether it was traced.
    pub(super) traced: u32,
}

/// What was counted of a launch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counts {
    /// By instruction, in the order of the code.
    pub sites: Vec<Site>,
    /// Sums.
    pub totals: Totals,
    /// By block, in the order of dispatch.
    pub(super) blocks: Vec<BlockCount>,
    /// What caches see of the blocks that were traced: for each access its kind, and the numbers of its sectors.
    pub(super) stream: Vec<u32>,
    /// Where the stream of each warp ends.
    pub(super) ends: Vec<u64>,
}

impl Counts {
    /// By how much what was traced is to be multiplied.
    pub fn scale(&self) -> f64 {
        self.totals.events as f64 / self.totals.traced_events.max(1) as f64
    }

    /// The lanes that are active in a basic block, of 32, on average.
    pub fn lanes(&self) -> f64 {
        self.totals.lane_blocks as f64 / self.totals.warp_blocks.max(1) as f64
    }

    /// Useful bytes as a part of those of the sectors.
    pub fn useful_share(&self) -> f64 {
        self.totals.useful as f64 / (self.totals.sectors.max(1) * SECTOR) as f64
    }

    /// The site of an array, by what it does, where it is one.
    pub fn sites_of<'a>(&'a self, array: &'a str, kind: Kind) -> impl Iterator<Item = &'a Site> {
        self.sites.iter().filter(move |site| site.kind == kind && site.array.as_deref() == Some(array))
    }
}

/// The bytes of a sector.
pub(super) const SECTOR: u64 = 32;
