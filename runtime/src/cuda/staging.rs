//! Copies between the host's memory and the device's by way of memory that the driver may reach at any time: it copies others' memory there
//! too, by one thread, and so at a fraction of the link's speed. Here the host's threads do, one chunk while the next one is on its way.

use cudarc::driver::sys;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// The bytes of a chunk: the link takes longer for it than threads take to begin.
pub(super) const CHUNK: usize = 8 << 20;

/// The most threads that copy a chunk: memory is not faster with more.
const THREADS: usize = 8;

/// Memory for two chunks that the driver may reach.
pub(super) struct Chunks([Box<[u8]>; 2]);

/// What of the host's memory a device may reach.
#[derive(Default)]
pub(super) struct Pinned {
    /// The user's, by addresses, with lengths.
    ranges: Mutex<BTreeMap<usize, usize>>,
    /// That of copies, while none uses it.
    free: Mutex<Vec<Chunks>>,
}

impl Pinned {
    fn ranges(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pins memory, whose context is current. It is said whether that could be done.
    pub(super) fn pin(&self, bytes: &[u8]) -> bool {
        // Other devices take parts of the same array.
        let portable = sys::CU_MEMHOSTREGISTER_PORTABLE;
        // SAFETY: the pages are the host's, and are unpinned before they are freed.
        let status = unsafe { sys::cuMemHostRegister_v2(bytes.as_ptr().cast_mut().cast(), bytes.len(), portable) };
        let is_pinned = status.result().is_ok();
        if is_pinned {
            self.ranges().insert(bytes.as_ptr().addr(), bytes.len());
        }
        is_pinned
    }

    /// Ends that, in the same context.
    pub(super) fn unpin(&self, bytes: &[u8]) {
        self.ranges().remove(&bytes.as_ptr().addr());
        // SAFETY: they were pinned.
        _ = unsafe { sys::cuMemHostUnregister(bytes.as_ptr().cast_mut().cast()) };
    }

    /// Memory for a copy of these bytes, where that is faster than to leave it to the driver.
    pub(super) fn chunks(&self, bytes: &[u8]) -> Option<Chunks> {
        if bytes.len() < 2 * CHUNK || self.is_pinned(bytes) {
            return None;
        }
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.or_else(|| {
            let [one, other] = [0; 2].map(|_| vec![0; CHUNK].into_boxed_slice());
            if !self.pin(&one) {
                return None;
            }
            if !self.pin(&other) {
                self.unpin(&one);
                return None;
            }
            Some(Chunks([one, other]))
        })
    }

    fn is_pinned(&self, bytes: &[u8]) -> bool {
        let begin = bytes.as_ptr().addr();
        let ranges = self.ranges();
        let before = ranges.range(..=begin).next_back();
        before.is_some_and(|(first, length)| begin + bytes.len() <= first + length)
    }

    /// Takes memory back that no copy uses any more.
    pub(super) fn give_back(&self, chunks: Chunks) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(chunks);
    }

    /// Frees the memory of copies, in the context that it was pinned in.
    pub(super) fn end(&self) {
        let free = std::mem::take(&mut *self.free.lock().unwrap_or_else(PoisonError::into_inner));
        free.iter().flat_map(|chunks| &chunks.0).for_each(|chunk| self.unpin(chunk));
    }
}

/// A copy in chunks, each at an offset in bytes. What is begun is done in order.
pub(super) trait InChunks {
    /// Begins to send a chunk.
    fn send(&mut self, offset: usize, chunk: &[u8]) -> Result<(), String>;

    /// Begins to receive one.
    fn receive(&mut self, offset: usize, chunk: &mut [u8]) -> Result<(), String>;

    /// Waits until the first is done that was not waited for.
    fn wait(&mut self) -> Result<(), String>;
}

impl Chunks {
    /// Sends bytes to the device. The last chunks may still be on their way.
    pub(super) fn send(&mut self, bytes: &[u8], copying: &mut dyn InChunks) -> Result<(), String> {
        for (number, part) in bytes.chunks(CHUNK).enumerate() {
            if number >= 2 {
                copying.wait()?;
            }
            let chunk = &mut self.0[number % 2][..part.len()];
            copy(part, chunk);
            copying.send(number * CHUNK, chunk)?;
        }
        Ok(())
    }

    /// Receives bytes from the device.
    pub(super) fn receive(&mut self, bytes: &mut [u8], copying: &mut dyn InChunks) -> Result<(), String> {
        let length = bytes.len();
        let begin = |chunks: &mut Self, copying: &mut dyn InChunks, number: usize| {
            let offset = number * CHUNK;
            if offset >= length {
                return Ok(());
            }
            copying.receive(offset, &mut chunks.0[number % 2][..CHUNK.min(length - offset)])
        };
        begin(self, copying, 0)?;
        for (number, part) in bytes.chunks_mut(CHUNK).enumerate() {
            begin(self, copying, number + 1)?;
            copying.wait()?;
            copy(&self.0[number % 2][..part.len()], part);
        }
        Ok(())
    }
}

/// Copies bytes by several threads. They are none of a pool's, which might begin something else that waits for the same lock while one
/// waits for another.
fn copy(from: &[u8], to: &mut [u8]) {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let piece = to.len().div_ceil(threads).max(1);
    let pieces = Mutex::new(to.chunks_mut(piece).zip(from.chunks(piece)));
    let work = || {
        loop {
            let next = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((to, from)) = next else { return };
            to.copy_from_slice(from);
        }
    };
    thread::scope(|scope| {
        // Where no thread can be begun, this one does it all.
        (1..threads).for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, work)));
        work();
    });
}
