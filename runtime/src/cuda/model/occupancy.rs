//! How many blocks a multiprocessor has at a time.

use super::description::Description;

/// Registers of a multiprocessor.
const REGISTERS: usize = 65_536;

/// A warp has registers for each lane in so many steps.
const REGISTER_STEP: usize = 8;

/// Registers are given to so many warps at a time.
const WARP_STEP: usize = 4;

/// Shared memory that a block takes besides.
const SHARED_BESIDES: usize = 1024;

/// What a function takes of a multiprocessor, by the assembler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// Registers of a thread; none where no assembler was found.
    pub registers: Option<u32>,
    /// Bytes that are stored because registers did not suffice.
    pub spilled: u32,
    /// Bytes of a block's shared memory, besides what a launch asks for.
    pub shared: u32,
    /// Loads of a warp that are under way at a time.
    pub loads: f64,
}

impl Default for Taken {
    /// What is assumed where there is no assembler: registers that do not matter, and few loads at a time.
    fn default() -> Self {
        Self { registers: None, spilled: 0, shared: 0, loads: 4.0 }
    }
}

/// What a multiprocessor has at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks.
    pub blocks: usize,
    /// Warps of these.
    pub warps: usize,
    /// What is left of the first-level cache, in bytes.
    pub l1_bytes: usize,
}

impl Occupancy {
    /// Of a launch with so many threads in a block, and so many bytes of shared memory that it asks for.
    pub fn of(description: &Description, taken: &Taken, threads: usize, shared: usize) -> Self {
        let warps = threads.div_ceil(32).max(1);
        let by_registers = taken.registers.map_or(usize::MAX, |registers| {
            let of_warp = (registers as usize).max(1).next_multiple_of(REGISTER_STEP) * 32;
            REGISTERS / of_warp / WARP_STEP * WARP_STEP / warps
        });
        let shared = shared + taken.shared as usize;
        let of_block = if shared == 0 { 0 } else { shared + SHARED_BESIDES };
        let by_shared = description.shared_bytes.checked_div(of_block).unwrap_or(usize::MAX);
        let most = [description.blocks, description.warps / warps, by_registers, by_shared];
        let blocks = most.into_iter().min().unwrap_or(1).max(1);
        let l1_bytes = description.l1_bytes.saturating_sub(blocks * of_block).max(16 << 10);
        Self { blocks, warps: blocks * warps, l1_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_shared_memory_bound_warps() {
        let h100 = Description::named("h100").unwrap();
        let warps = |registers: Option<u32>, threads: usize, shared: usize| {
            Occupancy::of(&h100, &Taken { registers, ..Taken::default() }, threads, shared).warps
        };
        // As the vendor's occupancy calculator has them.
        assert_eq!([23, 32, 35, 88, 92, 128, 255].map(|count| warps(Some(count), 128, 0)), [64, 64, 48, 20, 20, 16, 8]);
        assert_eq!([warps(None, 128, 0), warps(None, 32, 0), warps(None, 1024, 0)], [64, 32, 64]);
        assert_eq!([warps(None, 128, 48 << 10), warps(None, 256, 48 << 10)], [16, 32]);
        assert_eq!(warps(Some(255), 1024, 0), 32, "a block that does not fit is said by the compiler, not here");
    }
}
