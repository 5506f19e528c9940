//! Numbers in messages: as they lie in memory, since ranks are programs of one kind.
//!
//! ```
//! use spc::distribute::message::{message, numbers};
//! use spc::distribute::{Communicator, on_threads};
//!
//! let sums = on_threads(3, None, |own| {
//!     let all = own.gather_all(&message([own.rank() as u64, 1]))?;
//!     Ok::<u64, spc::distribute::CommunicationError>(all.iter().flat_map(|message| numbers::<u64>(message)).sum())
//! })?;
//! assert_eq!(sums, [6, 6, 6]);
//! # Ok::<(), spc::distribute::CommunicationError>(())
//! ```

use bytemuck::{AnyBitPattern, NoUninit};

/// Puts numbers after others in a message.
pub fn put<T: NoUninit>(numbers: impl IntoIterator<Item = T>, message: &mut Vec<u8>) {
    numbers.into_iter().for_each(|number| message.extend_from_slice(bytemuck::bytes_of(&number)));
}

/// A message of numbers.
pub fn message<T: NoUninit>(numbers: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut message = Vec::new();
    put(numbers, &mut message);
    message
}

/// The numbers of a message, up to the last whole one.
pub fn numbers<T: AnyBitPattern>(message: &[u8]) -> impl Iterator<Item = T> + '_ {
    message.chunks_exact(size_of::<T>()).map(number)
}

/// The number that some bytes are.
///
/// # Panics
/// When there are more or fewer bytes than it has.
pub fn number<T: AnyBitPattern>(bytes: &[u8]) -> T {
    bytemuck::pod_read_unaligned(bytes)
}
