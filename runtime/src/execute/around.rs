//! What a call takes beside its kernels, each part by itself, so that no kernel looks faster than its call.

use std::time::Duration;

/// A tensor that was stored in another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Its name.
    pub tensor: String,
    /// The format that it is stored in now.
    pub format: String,
    /// How long that took.
    pub time: Duration,
}

/// What a call takes beside the time of its kernels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// Copies of operands for loops that can't read them as they are stored.
    pub copies: Vec<Copied>,
    /// Memory for results, and what they begin as.
    pub allocate: Duration,
    /// Operands that were copied to a device.
    pub copy_in: Duration,
    /// Results that were copied from there.
    pub copy_out: Duration,
    /// Results that loops write in another format than they are declared in, or list in any order: converted when complete.
    pub deliveries: Vec<Copied>,
    /// Checks of shapes, and making tensors of arrays.
    pub other: Duration,
}

impl Around {
    /// The time of all copies of operands.
    pub fn copy_time(&self) -> Duration {
        self.copies.iter().map(|copied| copied.time).sum()
    }

    /// The time of all conversions of results.
    pub fn deliver_time(&self) -> Duration {
        self.deliveries.iter().map(|copied| copied.time).sum()
    }

    /// All of it.
    pub fn total(&self) -> Duration {
        self.copy_time() + self.allocate + self.copy_in + self.copy_out + self.deliver_time() + self.other
    }
}

/// Where a call writes its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultMemory {
    /// Into the memory of the results before it, as `call_into` and the `…_into` functions of the macro do.
    Reused,
    /// Into memory of its own, as `call` and the functions of the macro do.
    New,
}

/// How a program's input came into the format that the kernel declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Entries were packed.
    Packed,
    /// A tensor in another format was converted.
    Converted,
    /// It was made up, as `ones` and `random` are.
    Generated,
}

/// An input that was brought into the format that the kernel declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// How.
    pub way: Way,
    /// Which, and how long it took.
    pub copied: Copied,
}
