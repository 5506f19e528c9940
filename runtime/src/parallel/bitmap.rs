//! Sets of keys that give them in order.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::few::{FEW, distinct, spread};
use super::room::array;

/// A set of keys below an extent, that gives them in order.
///
/// The first few keys are listed as they come, and sorted in the end: most rows of a sparse product have no more, and nothing is
/// looked up for them. Those of longer rows are marked: a byte for each key, which is a store, where a bit would wait for the last
/// one of its word; and a byte for each 64 of these of which one is set. So reading them skips 4096 keys at a time where there are
/// none.
///
/// ```
/// use spc::parallel::Bitmap;
///
/// let mut keys = Bitmap::new(10_000);
/// for key in [9_000, 3, 70, 3] {
///     keys.mark(key);
/// }
/// assert_eq!(keys.drain().collect::<Vec<_>>(), [3, 70, 9_000]);
/// assert_eq!(keys.drain().count(), 0);
/// ```
#[derive(Debug)]
pub struct Bitmap {
    /// The first keys, as they came, and how many there are.
    few: Box<[u32; FEW]>,
    count: usize,
    /// Of each key whether it is there, in lines of 64. None is marked where all are listed.
    marks: Vec<u8>,
    /// Of each line of these whether it has a mark, in lines of 64 too.
    summary: Vec<u8>,
    /// The keys in order, when they have been asked for; behind them, room for a line of marks.
    keys: Vec<u32>,
}

impl Bitmap {
    /// An empty set of keys below `extent`.
    ///
    /// # Panics
    /// When keys may not fit in 32 bits.
    pub fn new(extent: usize) -> Bitmap {
        assert!(u32::try_from(extent).is_ok(), "a bitmap has less than 2^32 keys, not {extent}");
        let lines = extent.div_ceil(64);
        Bitmap {
            few: Box::new([0; FEW]),
            count: 0,
            marks: array(0, [lines * 64]),
            summary: array(0, [lines.next_multiple_of(64)]),
            keys: array(0, [extent + FEW.max(64)]),
        }
    }

    /// The same set, for loops: keys that are added to it are drained from it.
    #[inline(always)]
    pub fn lent(&mut self) -> Lent<'_> {
        Lent {
            few: &mut self.few,
            count: self.count,
            marks: &mut self.marks,
            summary: &mut self.summary,
            keys: &mut self.keys,
        }
    }

    /// Adds a key, unless it is there.
    #[inline(always)]
    pub fn mark(&mut self, key: usize) {
        let mut lent = self.lent();
        lent.mark(key);
        self.count = lent.count;
    }

    /// The keys, ascending. They are no more in the set.
    #[inline(always)]
    pub fn drain(&mut self) -> impl ExactSizeIterator<Item = usize> {
        self.drained().iter().map(|&key| key as usize)
    }

    /// The same as they are stored.
    #[inline(always)]
    pub(crate) fn drained(&mut self) -> &[u32] {
        let count = self.lent().order();
        self.count = 0;
        &self.keys[..count]
    }
}

/// A [`Bitmap`] whose arrays are lent: nothing is done when it ends and no function gets a reference to it, so that loops that mark
/// keep its parts in registers.
#[derive(Debug)]
pub struct Lent<'a> {
    few: &'a mut [u32; FEW],
    count: usize,
    marks: &'a mut [u8],
    summary: &'a mut [u8],
    keys: &'a mut [u32],
}

impl Lent<'_> {
    /// As [`Bitmap::mark`].
    #[inline(always)]
    pub fn mark(&mut self, key: usize) {
        if let Some(next) = self.few.get_mut(self.count) {
            *next = key as u32;
            self.count += 1;
        } else {
            set(self.marks, self.summary, key);
        }
    }

    /// As [`Bitmap::drain`].
    #[inline(always)]
    pub fn drain(&mut self) -> impl ExactSizeIterator<Item = usize> {
        let count = self.order();
        self.keys[..count].iter().map(|&key| key as usize)
    }

    /// Puts the keys in order, and none is in the set then; how many there were.
    #[inline(always)]
    fn order(&mut self) -> usize {
        let listed = std::mem::take(&mut self.count);
        ordered(self.few, listed, self.marks, self.summary, self.keys)
    }
}

/// Apart from loops that mark, which need the registers.
#[inline(never)]
fn ordered(few: &[u32; FEW], listed: usize, marks: &mut [u8], summary: &mut [u8], keys: &mut [u32]) -> usize {
    if listed < FEW { distinct(few, listed, keys) } else { read(few, marks, summary, keys) }
}

#[inline(always)]
fn set(marks: &mut [u8], summary: &mut [u8], key: usize) {
    marks[key] = MARK;
    summary[key / 64] = MARK;
}

/// Marks the keys that are listed, too, and puts all that are marked in order; how many there are.
#[inline(never)]
fn read(few: &[u32; FEW], marks: &mut [u8], summary: &mut [u8], keys: &mut [u32]) -> usize {
    few.iter().for_each(|&key| set(marks, summary, key as usize));
    let ((marks, _), (summary, _)) = (marks.as_chunks_mut(), summary.as_chunks_mut());
    let mut count = 0;
    for (above, line) in summary.iter_mut().enumerate() {
        let mut lines = take(line);
        while lines != 0 {
            let line = 64 * above + lines.trailing_zeros() as usize;
            lines &= lines - 1;
            let bits = take(&mut marks[line]);
            spread(bits, 64 * line as u32, &mut keys[count..]);
            count += bits.count_ones() as usize;
        }
    }
    count
}

/// What stands where a key is marked.
const MARK: u8 = u8::MAX;

/// The marks of a line as the bits of a word; the line has none then.
#[inline(always)]
fn take(line: &mut [u8; 64]) -> u64 {
    let word = marked(line);
    *line = [0; 64];
    word
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn marked(line: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
    let (quarters, _) = line.as_chunks::<16>();
    quarters.iter().rev().fold(0, |word, quarter| {
        // SAFETY: a quarter has the 16 bytes that are read, wherever they lie, and every processor of this kind has SSE2.
        let bits = unsafe { _mm_movemask_epi8(_mm_loadu_si128(quarter.as_ptr().cast())) };
        word << 16 | u64::from(bits as u16)
    })
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn marked(line: &[u8; 64]) -> u64 {
    let (eights, _) = line.as_chunks::<8>();
    eights.iter().rev().fold(0, |word, &eight| {
        // The product has the lowest bit of each byte in its highest one, and adds no two of them elsewhere.
        let lowest = u64::from_le_bytes(eight) & 0x0101_0101_0101_0101;
        word << 8 | lowest.wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}
