//! Sums of a block in shared memory: what stands before the places of its threads, and behind them.

use super::{Printer, element};
use crate::gpu::plan::Tile;

/// The names of what the threads of a block need to go through a tile together.
pub(super) struct Together {
    thread: String,
    threads: String,
}

impl Printer<'_> {
    /// Tiles that change nothing yet.
    pub(super) fn begin_tiles(&mut self) -> Option<Together> {
        let tiles = self.function.tiles.clone();
        if tiles.is_empty() {
            return None;
        }
        let together = Together { thread: self.namer.name("thread"), threads: self.namer.name("threads") };
        let Together { thread, threads } = &together;
        self.line("extern __shared__ u64 shared_words[];");
        let mut begin = String::from("shared_words");
        for tile in &tiles {
            let ty = element(self.kernel.array(tile.array).element);
            let name = self.declare_array(tile.tile);
            self.line(&format!("{ty}* const {name} = ({ty}*){};", parenthesised(&begin)));
            begin += &format!(" + {}", self.operand(&tile.words(self.kernel)));
        }
        self.line(&format!("const u64 {thread} = threadIdx.y * blockDim.x + threadIdx.x;"));
        self.line(&format!("const u64 {threads} = blockDim.x * blockDim.y;"));
        for tile in &tiles {
            let (name, identity) = (self.arrays[&tile.tile].clone(), self.tile_identity(tile));
            let (length, n) = (self.lengths[&tile.array].clone(), self.scoped("n"));
            self.line(&format!("for (u64 {n} = {thread}; {n} < {length}; {n} += {threads}) {name}[{n}] = {identity};"));
        }
        self.line("__syncthreads();");
        Some(together)
    }

    /// Combines what a block has into the arrays of all.
    pub(super) fn end_tiles(&mut self, Together { thread, threads }: &Together) {
        self.line("__syncthreads();");
        for tile in self.function.tiles.clone() {
            let (name, array) = (self.arrays[&tile.tile].clone(), self.arrays[&tile.array].clone());
            let (length, n, identity) =
                (self.lengths[&tile.array].clone(), self.scoped("n"), self.tile_identity(&tile));
            self.define(tile.operator, self.kernel.array(tile.array).element.ty());
            let update = self.helpers.atomic(tile.operator, self.kernel.array(tile.array).element);
            self.nest(&format!("for (u64 {n} = {thread}; {n} < {length}; {n} += {threads})"), |printer| {
                printer.line(&format!("if ({name}[{n}] != {identity}) {update}(&{array}[{n}], {name}[{n}]);"));
            });
        }
    }

    fn tile_identity(&mut self, tile: &Tile) -> String {
        self.identity(tile.operator, self.kernel.array(tile.array).element.ty())
    }

    /// A name for the head of a loop.
    fn scoped(&mut self, wish: &str) -> String {
        self.namer.enter();
        let name = self.namer.name(wish);
        self.namer.leave();
        name
    }
}

fn parenthesised(text: &str) -> String {
    if text.contains(' ') { format!("({text})") } else { text.to_owned() }
}
