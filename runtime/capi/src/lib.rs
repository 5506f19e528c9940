//! The library for C, and for whatever calls C: `include/spc.h` says what each function does.
//!
//! ```text
//! C ──numbers, pointers, lengths──▶ entry points ──▶ spc
//!    ◀──a status, handles, text──── (tensors, kernels)
//! ```
//!
//! * **Handles** are numbers of a table (`handles.rs`), never addresses and never used again: what is freed, of another kind or made up is
//!   an error, not a crash.
//! * **Arrays** are borrowed with what releases them, or copied, and checked like any other (`memory.rs`): all that goes through pointers
//!   is in that file. That an array is as long as it is said to be is the only thing that is not checked.
//! * **Errors** are a status, and a message that each thread keeps (`status.rs`). A panic is one, too.
//!
//! The header is written by hand; a test compares each declaration of it with the function here.

mod handles;
mod kernels;
mod memory;
mod status;
mod tensors;

pub use kernels::*;
pub use memory::{Indices, Level, Owner, Target, Values};
pub use status::*;
pub use tensors::*;

/// The names of the element types, in the order of their numbers.
pub fn elements() -> impl Iterator<Item = &'static str> {
    memory::ELEMENTS.iter().map(|element| element.name())
}
