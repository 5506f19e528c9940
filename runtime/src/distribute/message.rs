//! Numbers in messages: as they lie in memory, since ranks are programs of one kind.

use bytemuck::{AnyBitPattern, NoUninit};

/// Puts numbers after others in a message.
pub(crate) fn put<T: NoUninit>(numbers: impl IntoIterator<Item = T>, message: &mut Vec<u8>) {
    numbers.into_iter().for_each(|number| message.extend_from_slice(bytemuck::bytes_of(&number)));
}

/// A message of numbers.
pub(crate) fn message<T: NoUninit>(numbers: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut message = Vec::new();
    put(numbers, &mut message);
    message
}

/// The numbers of a message.
pub(crate) fn numbers<T: AnyBitPattern>(message: &[u8]) -> impl Iterator<Item = T> + '_ {
    message.chunks_exact(size_of::<T>()).map(number)
}

/// The number that some bytes are.
pub(crate) fn number<T: AnyBitPattern>(bytes: &[u8]) -> T {
    bytemuck::pod_read_unaligned(bytes)
}
