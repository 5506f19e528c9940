//! CUDA C of a plan for a device.
//!
//! In: a [`Module`], in which everything is decided: functions for a device, and what the host does to run them. Out: text, which
//! includes no header and needs none. How loops become launches is decided in `map`; the plan itself is `gpu`'s.

pub mod host;
mod print;
mod reserved;

pub use crate::gpu::{
    BLOCK, Flags, Function, Group, Lane, Lanes, Lists, Meet, Module, Options, Owned, Parameter, Places, Refusal, Rows,
    SCAN_BLOCK, SCANNED, SORTED, Segments, Share, Step, Summed, TEAM_BLOCK, Table, Teams, Threads, Tile, Together,
    Total, WARP, WORKERS, constant_bytes, plan_text,
};
pub use print::text;

use crate::ir::{Kernel, Verified};

/// The functions and steps of a kernel; `name` is what their names begin with, the kernel's own name if absent.
///
/// # Errors
/// What a device can't do.
pub fn module(kernel: &Verified<Kernel>, name: Option<&str>, options: Options) -> Result<Module, Refusal> {
    // A kernel may be called `double`, which no function in C++ can be.
    let name = reserved::namer().name(name.unwrap_or(&kernel.name));
    crate::map::module(kernel, &name, options)
}
