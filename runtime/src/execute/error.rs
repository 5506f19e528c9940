//! What can keep a kernel from running.

#[cfg(feature = "compile")]
use super::interpreter::Fault;
#[cfg(feature = "compile")]
use super::native::error::NativeError;
#[cfg(feature = "compile")]
use super::unsupported::Unsupported;
use crate::io::ReadError;
use crate::tensor::{InvalidTensor, OutOfMemory, PackError};
use spc_compiler::format::IndexWidth;
use spc_compiler::ir::{ElementType, Kernel, Literal};
use std::fmt;

/// Where the extent of an index comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtentSource {
    /// An input's shape.
    Mode {
        /// The input's name.
        tensor: String,
        /// The mode, from 0.
        mode: usize,
    },
    /// The caller states it.
    Stated,
    /// The kernel is for this extent alone.
    Kernel,
}

impl fmt::Display for ExtentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExtentSource::Mode { tensor, mode } => write!(f, "by mode {} of `{tensor}`", mode + 1),
            ExtentSource::Stated => f.write_str("as stated"),
            ExtentSource::Kernel => f.write_str("in the kernel, which is for that extent alone"),
        }
    }
}

/// Why a kernel does not run, or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Too few or too many inputs.
    #[error("`{kernel}` takes {} ({}), but gets {found}", counted(.expected.len(), "tensor"), .expected.join(", "))]
    InputCount {
        /// The kernel.
        kernel: String,
        /// The names of its inputs.
        expected: Vec<String>,
        /// How many there are.
        found: usize,
    },
    /// What runs again and again can't go on.
    #[error("{reason}")]
    Repetition {
        /// The kernel.
        kernel: String,
        /// Why.
        reason: String,
    },
    /// An input's elements are of another type.
    #[error("`{tensor}` is declared with elements of type {}, but the input's are {}", expected.name(), found.name())]
    Element {
        /// The tensor.
        tensor: String,
        /// As declared.
        expected: ElementType,
        /// The input's.
        found: ElementType,
    },
    /// An input has another number of modes.
    #[error("`{tensor}` is declared with {}, but the input has {found}", counted(*expected, "mode"))]
    Order {
        /// The tensor.
        tensor: String,
        /// As declared.
        expected: usize,
        /// The input's.
        found: usize,
    },
    /// An input has another value for entries that are not stored.
    #[error(
        "the fill value of `{tensor}` is declared to be {}, but in the input it is {found}: declare `fill {found}`, or declare it \
         `dense`, which stores every element",
        plain(expected), found = plain(found)
    )]
    Fill {
        /// The tensor.
        tensor: String,
        /// As declared.
        expected: Literal,
        /// The input's.
        found: Literal,
    },
    /// An input is not of the pattern that the kernel's schedule says.
    #[error(
        "`{tensor}` has entries at other places than `{other}`, but the schedule says `same_pattern({other}, {tensor})`; leave that out"
    )]
    Pattern {
        /// The tensor.
        tensor: String,
        /// The one that is walked for it.
        other: String,
    },
    /// An input is stored in another format.
    #[error(
        "`{tensor}` is declared as {expected}, but the input is stored as {found}; convert it with `conform`, or declare that format"
    )]
    Format {
        /// The tensor.
        tensor: String,
        /// As declared.
        expected: String,
        /// The input's.
        found: String,
    },
    /// Two extents of one index differ.
    #[error("index `{index}` has extent {first_extent} {first}, but {second_extent} {second}")]
    Extents {
        /// The index variable.
        index: String,
        /// Where it is met first.
        first: ExtentSource,
        /// Its extent there.
        first_extent: usize,
        /// Where it is met again.
        second: ExtentSource,
        /// Its extent there.
        second_extent: usize,
    },
    /// No input says how large an index gets.
    #[error(
        "no input says the extent of index `{index}`; state it (`--dim {index}=16` on the command line, a result of that extent for `…_into`)"
    )]
    NoExtent {
        /// The index variable.
        index: String,
    },
    /// A computed index goes beyond its mode.
    #[error(
        "the index `{index}` reaches {reached}, but its mode has {extent} coordinates, from 0; let it run over less, or make the mode longer"
    )]
    OutOfBounds {
        /// The index, with the names of the dimensions that it is computed from.
        index: String,
        /// The first value that is out of bounds.
        reached: i128,
        /// The extent of the mode.
        extent: usize,
    },
    /// A computed index goes below zero.
    #[error(
        "the index `{index}` reaches {reached}, but coordinates begin at 0; let it run over less, or add a constant"
    )]
    BelowZero {
        /// The index, with the names of the dimensions that it is computed from.
        index: String,
        /// The least value.
        reached: i128,
    },
    /// Where a computed index is computed, numbers get too large.
    #[error(
        "the index `{index}` can't be computed: numbers on the way to it must stay below 2^63 ({}); let it run over less, or \
         multiply by less",
        sizes.join(", ")
    )]
    IndexTooLarge {
        /// The index, with the names of the dimensions that it is computed from.
        index: String,
        /// These dimensions with their extents, in words.
        sizes: Vec<String>,
    },
    /// An extent is stated for an index that the kernel does not have.
    #[error("an extent is stated for `{name}`, but the indices of `{kernel}` are {}", known.join(", "))]
    NoSuchIndex {
        /// The kernel.
        kernel: String,
        /// As stated.
        name: String,
        /// The kernel's indices.
        known: Vec<String>,
    },
    /// An output's stored coordinates are too narrow for a mode, or for what is computed of several.
    #[error("{coordinate} of `{tensor}` has extent {extent}, more than its {} coordinates at level {nth} can tell apart; declare that level with wider ones, such as `({})`", width.name(), wider(*width), nth = level + 1)]
    CoordinateWidth {
        /// The output.
        tensor: String,
        /// The level.
        level: usize,
        /// What it stores: `mode 1`, or the text of a computed coordinate.
        coordinate: String,
        /// Its extent.
        extent: usize,
        /// The width of the coordinates.
        width: IndexWidth,
    },
    /// An output has more entries than its stored positions can count.
    #[error("level {nth} of `{tensor}` has {count} positions, more than its {} position array can count; declare that level with `(pos = {})`", width.name(), wider(*width), nth = level + 1)]
    PositionWidth {
        /// The output.
        tensor: String,
        /// The level.
        level: usize,
        /// How many positions it has.
        count: usize,
        /// The width of the positions.
        width: IndexWidth,
    },
    /// An output has more values or positions than can be counted.
    #[error(
        "`{tensor}` would have more than 2^64 values or positions; declare it with a format that stores entries only"
    )]
    TooLarge {
        /// The output.
        tensor: String,
    },
    /// An output's values or positions do not fit in memory.
    #[error("`{tensor}`: {source}; a format that stores entries only may need less")]
    Memory {
        /// The output.
        tensor: String,
        /// How much was asked for.
        source: OutOfMemory,
    },
    /// A tensor that was handed in for an output does not serve.
    #[error("`{tensor}` can't be written to: {reason}")]
    Reuse {
        /// The output.
        tensor: String,
        /// Why not.
        reason: String,
    },
    /// An input can't be converted to the format that is needed.
    #[error("`{tensor}` can't be stored as {format}: {source}")]
    Convert {
        /// The tensor.
        tensor: String,
        /// The format.
        format: String,
        /// Why not.
        source: PackError,
    },
    /// An output's format does not serve its shape.
    #[error("`{tensor}`: {source}")]
    Shape {
        /// The output.
        tensor: String,
        /// Why not.
        source: InvalidTensor,
    },
    /// What a kernel made is not a tensor.
    #[error(
        "the kernel made arrays for `{tensor}` that are not a tensor: {reason}; this is a fault of spc, please report it"
    )]
    Output {
        /// The output.
        tensor: String,
        /// What is wrong.
        reason: String,
    },
    /// A kernel's declarations contradict each other.
    #[error("kernel `{kernel}` is declared wrongly: {reason}; this is a fault of spc, please report it")]
    Declaration {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        reason: String,
    },
    /// A call of one kernel was handed to another.
    #[error("this is a call of `{found}`, not of `{expected}` with the same declarations")]
    WrongCall {
        /// The kernel that is to run.
        expected: String,
        /// The call's.
        found: String,
    },
    /// A kernel panicked.
    #[error("kernel `{kernel}` stopped: {message}; this is a fault of spc, please report it")]
    Stopped {
        /// The kernel.
        kernel: String,
        /// What it said.
        message: String,
    },
    /// A kernel was asked to stop: see [`interruptible`](super::interruptible).
    #[error("kernel `{kernel}` was interrupted")]
    Interrupted {
        /// The kernel.
        kernel: String,
    },
    /// A kernel divided a whole number by zero.
    #[error(
        "kernel `{kernel}` divides a whole number by zero{}; that has no value: choose another, as in `select(b(i) == 0, 0, a(i) / b(i))`, \
         or divide as `f64`",
        .statements.iter().map(|statement| format!(", in `{statement}`")).collect::<String>()
    )]
    DivisionByZero {
        /// The kernel.
        kernel: String,
        /// Its statements with a division, as far as they are known.
        statements: Vec<String>,
    },
    /// A recurrence, such as a triangular solve, divided by zero.
    #[error(
        "`{result}` is not finite: it is divided by `{divisor}({})`, which is {}; store another number there, or leave such elements out: \
         `where {divisor}(…) != 0`",
        counted_from_zero(.index), if *.is_stored { "zero" } else { "not stored, so zero" }
    )]
    ZeroPivot {
        /// What it makes.
        result: String,
        /// What it divides by.
        divisor: String,
        /// Where.
        index: Vec<usize>,
        /// Whether a zero is stored there.
        is_stored: bool,
    },
    /// A recurrence, such as an incomplete factorization, divided by zero on its own diagonal.
    #[error(
        "`{result}` is not finite: other elements are divided by `{result}({})`, which is {}; a larger diagonal of the input, or another order \
         of its rows and columns, may help",
        counted_from_zero(.index), if *.is_stored { "zero" } else { "not stored, so zero" }
    )]
    ZeroDiagonal {
        /// The result.
        result: String,
        /// Where.
        index: Vec<usize>,
        /// Whether it is stored.
        is_stored: bool,
    },
    /// There was no memory for an array that a kernel makes: a workspace, a thread's copy of a result, or what is appended to one.
    #[error(
        "there is not enough memory here for an array that kernel `{kernel}` makes: {array}; smaller extents, a temporary or result in a \
         format that stores entries only, another schedule, or fewer threads (each may have a copy) may need less"
    )]
    Workspace {
        /// The kernel.
        kernel: String,
        /// The array's shape and its bytes, in words.
        array: String,
    },
    /// The interpreter stopped a kernel.
    #[cfg(feature = "compile")]
    #[error("kernel `{kernel}` does what it must not, at {fault}; this is a fault of spc, please report it")]
    Fault {
        /// The kernel.
        kernel: String,
        /// What it did.
        fault: Fault,
    },
    /// A tensor can't come in parts.
    #[error("`{tensor}` can't come in parts: {reason}")]
    Stream {
        /// The tensor.
        tensor: String,
        /// Why not.
        reason: String,
    },
    /// A tensor in a file can't be read.
    #[error("`{tensor}`: {source}")]
    Read {
        /// The tensor.
        tensor: String,
        /// Why not.
        source: ReadError,
    },
    /// A device stopped a kernel.
    #[error("kernel `{kernel}` stopped on the device: {message}")]
    Device {
        /// The kernel.
        kernel: String,
        /// What the device says.
        message: String,
    },
    /// There is nothing to compile.
    #[error("`{kernel}` can't run natively without its Rust text; run it in the interpreter")]
    NoText {
        /// The kernel.
        kernel: String,
    },
    /// A kernel can't be compiled.
    #[cfg(feature = "compile")]
    #[error(transparent)]
    Native(#[from] NativeError),
    /// No machine code can be made of the kernel without a compiler.
    #[cfg(feature = "compile")]
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A kernel can't be brought to a GPU.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Cuda(Box<crate::cuda::CudaError>),
    /// What a GPU would do can't be counted.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Model(Box<crate::cuda::model::ModelError>),
    /// A kernel is to run on a GPU, and this program was built without that.
    #[error("`{kernel}` can't run on a GPU: the crate `spc` was built without its feature `cuda`")]
    NoCuda {
        /// The kernel.
        kernel: String,
    },
}

impl Error {
    pub(super) fn division_by_zero(kernel: &Kernel) -> Self {
        let divides = |line: &&String| line.contains('=') && (line.contains(" / ") || line.contains(" % "));
        let statements = kernel.documentation.iter().filter(divides).cloned().collect();
        Error::DivisionByZero { kernel: kernel.name.clone(), statements }
    }

    pub(super) fn no_memory(kernel: &Kernel, array: impl fmt::Display) -> Self {
        Error::Workspace { kernel: kernel.name.clone(), array: array.to_string() }
    }

    pub(super) fn interrupted(kernel: &Kernel) -> Self {
        Error::Interrupted { kernel: kernel.name.clone() }
    }

    /// For a kernel that panicked with a message. What divides by zero says so in the words of Rust's standard library.
    pub(super) fn stopped(kernel: &Kernel, message: String) -> Self {
        let of_division = ["attempt to divide by zero", "attempt to calculate the remainder with a divisor of zero"];
        match of_division.iter().any(|words| message.contains(words)) {
            true => Error::division_by_zero(kernel),
            false => Error::Stopped { kernel: kernel.name.clone(), message },
        }
    }
}

/// `3, 3`
fn counted_from_zero(index: &[usize]) -> String {
    index.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// `1 tensor`, `2 tensors`
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A width that holds more, for a remedy.
fn wider(width: IndexWidth) -> &'static str {
    match width {
        IndexWidth::U8 => "u16",
        IndexWidth::U16 => "u32",
        IndexWidth::U32 | IndexWidth::U64 => "u64",
    }
}

/// A value as the language has it in a declaration.
fn plain(value: &Literal) -> String {
    match *value {
        Literal::Float(_, value) => value.to_string(),
        Literal::Integer(ElementType::Bool, value) => (value != 0).to_string(),
        Literal::Integer(_, value) => value.to_string(),
    }
}

#[cfg(feature = "cuda")]
impl From<crate::cuda::model::ModelError> for Error {
    fn from(error: crate::cuda::model::ModelError) -> Self {
        Error::Model(Box::new(error))
    }
}

#[cfg(feature = "cuda")]
impl From<crate::cuda::CudaError> for Error {
    fn from(error: crate::cuda::CudaError) -> Self {
        Error::Cuda(Box::new(error))
    }
}
