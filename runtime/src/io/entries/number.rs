//! One number of a line.

use super::cursor::Cursor;
use super::{Layout, Values};
use crate::io::value::{self, Carrier, Refusal};

/// Reads one number.
#[inline(always)]
pub(super) fn number<T: Carrier>(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<T, Refusal> {
    if let Some(value) = cursor.small_integer() {
        return T::from_integer(value, layout.element).ok_or(Refusal::OutOfRange);
    }
    let value = value::parse::<T>(cursor.field(), layout.element)?;
    if layout.values == Values::Integer && !value.is_whole() { Err(Refusal::NotWhole) } else { Ok(value) }
}
