//! One number of a line.

use super::cursor::Cursor;
use super::{Layout, Values};
use crate::io::value::{self, Carrier, Refusal};

/// Reads one number.
#[inline(always)]
pub(super) fn number<T: Carrier>(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<T, Refusal> {
    let begin = cursor.clone();
    if let Some(value) = cursor.small_integer() {
        if value.unsigned_abs() <= layout.exact {
            return T::from_integer(value, layout.element).ok_or(Refusal::OutOfRange);
        }
        *cursor = begin;
    }
    let value = match layout.stated {
        Some(stated) => value::parse_stated::<T>(cursor.field(), stated, layout.element)?,
        None => value::parse::<T>(cursor.field(), layout.element)?,
    };
    if layout.values == Values::Integer && !value.is_whole() { Err(Refusal::NotWhole) } else { Ok(value) }
}
