//! What stays on a device between calls.
//!
//! An array is known by its [`Identity`] on the host, which ends when the host drops the array or writes to it: so what is here is
//! always what the host has, and keeps nothing alive there. Inputs come here when they are copied to the device. Results do when
//! they were copied from it: the host has them as new arrays, and where one is an input of the next call, it is there. A
//! result that no call has read goes before inputs where memory is short.

use super::super::array::{Data, Identity};
use super::{Device, Memory};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Arrays that stay on a device between calls: those of inputs and results, as long as the host has the same. Where memory is
/// short, results go first that were not read, then those that were not used for longest.
#[derive(Debug, Default)]
pub struct Resident {
    /// Results that were not read come first; of the others, the one that was used last is the last.
    arrays: Mutex<Vec<Kept>>,
    /// How many there have been.
    count: AtomicU64,
}

/// One of them.
#[derive(Debug)]
struct Kept {
    /// The host's array.
    identity: Identity,
    bytes: usize,
    memory: Memory,
    /// No other array has had this number, nor ever will.
    number: u64,
    /// How many runs read it.
    readers: usize,
    /// Whether one ever did.
    was_read: bool,
}

impl Kept {
    /// Whether the host has let go of it: it is of no use.
    fn is_stale(&self) -> bool {
        self.readers == 0 && self.identity.strong_count() == 0
    }
}

impl Resident {
    fn arrays(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of arrays and of their bytes. What the host has let go of does not count: its memory is freed in the next call.
    pub fn size(&self) -> (usize, usize) {
        let arrays = self.arrays();
        let there = arrays.iter().filter(|kept| !kept.is_stale());
        there.fold((0, 0), |(count, bytes), kept| (count + 1, bytes + kept.bytes))
    }

    /// Where an array is on the device, for one who reads it there, and its number: as long as it stays, it has the same elements.
    pub(super) fn borrow(&self, device: &dyn Device, data: &Data, name: &str) -> Result<(Memory, u64), String> {
        let mut arrays = self.arrays();
        free_stale(&mut arrays, device);
        let identity = data.identity();
        if let Some(found) = arrays.iter().position(|kept| kept.identity.ptr_eq(&identity)) {
            let mut kept = arrays.remove(found);
            kept.readers += 1;
            kept.was_read = true;
            let found = (kept.memory, kept.number);
            arrays.push(kept);
            return Ok(found);
        }
        let memory = room(&mut arrays, device, || device.allocate(data.bytes().len(), name))?;
        if let Err(error) = device.write(memory, data.bytes()) {
            device.free(memory);
            return Err(error);
        }
        let number = self.number();
        arrays.push(Kept { identity, bytes: data.bytes().len(), memory, number, readers: 1, was_read: true });
        Ok((memory, number))
    }

    /// Takes over memory that has the elements of an array of the host.
    pub(super) fn keep(&self, device: &dyn Device, data: &Data, memory: Memory) {
        let mut arrays = self.arrays();
        free_stale(&mut arrays, device);
        let (identity, bytes, number) = (data.identity(), data.bytes().len(), self.number());
        let place = arrays.partition_point(|kept| !kept.was_read);
        arrays.insert(place, Kept { identity, bytes, memory, number, readers: 0, was_read: false });
    }

    /// Frees the memory of an array that the host is about to overwrite, where that array has no other owner.
    pub(super) fn let_go(&self, device: &dyn Device, data: &Data) {
        let identity = data.identity();
        let is_alone = identity.strong_count() == 1;
        let goes = |kept: &mut Kept| is_alone && kept.readers == 0 && kept.identity.ptr_eq(&identity);
        self.arrays().extract_if(.., goes).for_each(|kept| device.free(kept.memory));
    }

    fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// Memory for something else.
    pub(super) fn make_room(
        &self,
        device: &dyn Device,
        allocate: impl Fn() -> Result<Memory, String>,
    ) -> Result<Memory, String> {
        allocate().or_else(|_| room(&mut self.arrays(), device, allocate))
    }

    pub(super) fn give_back(&self, memory: Memory) {
        if let Some(kept) = self.arrays().iter_mut().find(|kept| kept.memory == memory) {
            kept.readers -= 1;
        }
    }
}

fn free_stale(arrays: &mut Vec<Kept>, device: &dyn Device) {
    arrays.extract_if(.., |kept| kept.is_stale()).for_each(|kept| device.free(kept.memory));
}

/// Allocates, and frees what is not read any more until there is room.
fn room(
    arrays: &mut Vec<Kept>,
    device: &dyn Device,
    allocate: impl Fn() -> Result<Memory, String>,
) -> Result<Memory, String> {
    loop {
        match allocate() {
            Ok(memory) => return Ok(memory),
            Err(error) => {
                let stale = arrays.iter().position(Kept::is_stale);
                match stale.or_else(|| arrays.iter().position(|kept| kept.readers == 0)) {
                    Some(first) => device.free(arrays.remove(first).memory),
                    None => return Err(error),
                }
            }
        }
    }
}
