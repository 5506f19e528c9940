//! What stays on a device between calls.

use super::super::array::Data;
use super::{Device, Memory};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Arrays that stay on a device between calls: those of inputs, as long as the host keeps them too. Where memory is short, those
/// go that were not used for longest.
#[derive(Debug, Default)]
pub struct Resident {
    /// The one that was used last is the last.
    arrays: Mutex<Vec<Kept>>,
    /// How many there have been.
    count: AtomicU64,
}

/// One of them.
#[derive(Debug)]
struct Kept {
    /// The host's array. As it is shared here, nobody changes it, and nothing else comes to lie at its address.
    data: Data,
    memory: Memory,
    /// No other array has had this number, nor ever will.
    number: u64,
    /// How many runs read it.
    readers: usize,
}

impl Resident {
    fn arrays(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of arrays and of their bytes.
    pub fn size(&self) -> (usize, usize) {
        let arrays = self.arrays();
        (arrays.len(), arrays.iter().map(|kept| kept.data.bytes().len()).sum())
    }

    /// Where an array is on the device, for one who reads it there, and its number: as long as it stays, it has the same elements.
    pub(super) fn borrow(&self, device: &dyn Device, data: &Data, name: &str) -> Result<(Memory, u64), String> {
        let mut arrays = self.arrays();
        let place = |kept: &Kept| (kept.data.bytes().as_ptr_range(), kept.data.element());
        let sought = (data.bytes().as_ptr_range(), data.element());
        if let Some(found) = arrays.iter().position(|kept| place(kept) == sought) {
            let mut kept = arrays.remove(found);
            kept.readers += 1;
            let found = (kept.memory, kept.number);
            arrays.push(kept);
            return Ok(found);
        }
        // What the host has let go of serves nobody.
        let is_stale = |kept: &mut Kept| kept.readers == 0 && kept.data.is_alone();
        arrays.extract_if(.., is_stale).for_each(|kept| device.free(kept.memory));
        let memory = room(&mut arrays, device, || device.allocate(data.bytes().len(), name))?;
        if let Err(error) = device.write(memory, data.bytes()) {
            device.free(memory);
            return Err(error);
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        arrays.push(Kept { data: data.clone(), memory, number, readers: 1 });
        Ok((memory, number))
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

/// Allocates, and frees what nobody reads until there is room.
fn room(
    arrays: &mut Vec<Kept>,
    device: &dyn Device,
    allocate: impl Fn() -> Result<Memory, String>,
) -> Result<Memory, String> {
    loop {
        match allocate() {
            Ok(memory) => return Ok(memory),
            Err(error) => match arrays.iter().position(|kept| kept.readers == 0) {
                Some(oldest) => device.free(arrays.remove(oldest).memory),
                None => return Err(error),
            },
        }
    }
}
