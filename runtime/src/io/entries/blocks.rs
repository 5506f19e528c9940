//! Text that comes bit by bit, as from a decompressor: what is there is parsed while the rest is made.
//!
//! ```text
//! this thread      block 0   block 1   block 2   …
//! the others                 parse 0   parse 1   …
//! ```

use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::chunk::Chunk;
use super::{Entries, Layout, join};
use crate::io::value::Carrier;
use crate::{fault, memory};

/// Where the entries of a text begin and how they are to be read, by its first block.
pub(crate) type LayoutOf<'a> = dyn Fn(&[u8]) -> Option<(usize, Layout)> + Sync + 'a;

/// Reads text in blocks of about `size` bytes, which other threads parse. None if the text can't be read, its first block does
/// not say how to, or anything is wrong with a line: whoever wants to know what reads all of it again.
pub(crate) fn parse_blocks<T: Carrier>(
    text: &mut (dyn Read + Send),
    size: usize,
    layout_of: &LayoutOf<'_>,
) -> Option<Entries<T>> {
    let mut rest = Vec::new();
    let first = next_block(text, size, &mut rest).ok()?;
    let (start, layout) = layout_of(&first)?;
    let (layout, faulty) = (&layout, &AtomicBool::new(false));
    let parsed: Mutex<Vec<(usize, Chunk<T>)>> = Mutex::default();
    let whole = rayon::scope(|scope| {
        let (mut block, mut number) = (first, 0_usize);
        while !block.is_empty() {
            let (parsed, from) = (&parsed, if number == 0 { start } else { 0 });
            scope.spawn(move |_| match Chunk::<T>::parse(&block, from, layout) {
                Ok(chunk) if chunk.fault.is_none() => {
                    parsed.lock().unwrap_or_else(PoisonError::into_inner).push((number, chunk));
                }
                _ => faulty.store(true, Ordering::Relaxed),
            });
            match next_block(text, size, &mut rest) {
                Ok(next) if !faulty.load(Ordering::Relaxed) => block = next,
                _ => return false,
            }
            number += 1;
        }
        true
    });
    if !whole || faulty.load(Ordering::Relaxed) {
        return None;
    }
    let mut chunks = parsed.into_inner().unwrap_or_else(PoisonError::into_inner);
    chunks.sort_unstable_by_key(|&(number, _)| number);
    join::join(chunks.into_iter().map(|(_, chunk)| chunk).collect(), layout.limits.len()).ok()
}

/// The next lines, of about `size` bytes; none at the end. `rest` is what has been read of the line behind them.
pub(crate) fn next_block(text: &mut dyn Read, size: usize, rest: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    let mut block =
        memory::try_room(rest.len() + size).map_err(|error| io::Error::new(ErrorKind::OutOfMemory, error))?;
    block.append(rest);
    loop {
        let searched = block.len();
        fault::operation()?;
        if Read::take(&mut *text, size.max(1) as u64).read_to_end(&mut block)? == 0 {
            return Ok(block);
        }
        if let Some(line_end) = block[searched..].iter().rposition(|&byte| byte == b'\n') {
            rest.extend_from_slice(&block[searched + line_end + 1..]);
            block.truncate(searched + line_end + 1);
            return Ok(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_behind_line_ends() {
        let text = b"ab\nc\n\ndefgh\ni";
        for size in 0..20 {
            let (mut reader, mut rest, mut blocks) = (&text[..], Vec::new(), Vec::new());
            loop {
                let block = next_block(&mut reader, size, &mut rest).unwrap();
                if block.is_empty() {
                    break;
                }
                blocks.push(block);
            }
            assert_eq!(blocks.concat(), text);
            assert!(blocks[..blocks.len() - 1].iter().all(|block| block.ends_with(b"\n")), "{blocks:?}");
        }
    }
}
