//! Many lines, printed by all threads and written in order.

use std::io::{self, Write};

use crate::tensor::tasks;

use crate::progress::{Unit, Work};

/// How many lines are printed at a time by a thread.
const LINES: usize = 1 << 14;

/// Writes what `print` appends for each of `count` lines, a few blocks in memory at a time.
pub(super) fn write(out: &mut dyn Write, count: usize, print: &(dyn Fn(usize, &mut Vec<u8>) + Sync)) -> io::Result<()> {
    let blocks = count.div_ceil(LINES);
    let together = 4 * rayon::current_num_threads();
    let work = Work::begin(Unit::Entries, count);
    let mut texts: Vec<Vec<u8>> = vec![Vec::new(); together.min(blocks)];
    for first in (0..blocks).step_by(together) {
        let batch = &mut texts[..together.min(blocks - first)];
        tasks::each(batch.iter_mut().collect(), &|block, text: &mut Vec<u8>| {
            let from = (first + block) * LINES;
            text.clear();
            (from..count.min(from + LINES)).for_each(|line| print(line, text));
        });
        for text in batch.iter() {
            out.write_all(text)?;
            work.add(LINES);
        }
    }
    Ok(())
}
