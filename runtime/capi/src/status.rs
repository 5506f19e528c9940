//! What a call ends with: a status, and for a failure a message.

use spc::execute::ProgramError;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended; each failure is a kind that a caller may treat in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// It did what was asked.
    Ok = 0,
    /// A pointer, a length, a number or a string is none that the function takes.
    Argument = 1,
    /// A handle is none: it was never given out, it was freed, or it is of another kind.
    Handle = 2,
    /// A text or a format is wrong; the message shows where.
    Text = 3,
    /// Arrays are no tensor of the format.
    Tensor = 4,
    /// The inputs or the targets of a call do not fit the kernel.
    Call = 5,
    /// There is not enough memory.
    Memory = 6,
    /// A file can't be read or written.
    File = 7,
    /// A kernel can't be compiled here, or stopped while it ran.
    Run = 8,
    /// A mistake of the library: please report it.
    Internal = 9,
}

impl Status {
    /// All of them, by their numbers.
    pub const ALL: [Status; 10] = [
        Status::Ok,
        Status::Argument,
        Status::Handle,
        Status::Text,
        Status::Tensor,
        Status::Call,
        Status::Memory,
        Status::File,
        Status::Run,
        Status::Internal,
    ];
}

/// Why a call did not do what was asked.
pub(crate) struct Failure {
    status: Status,
    message: String,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Display) -> Self {
        Self { status, message: message.to_string() }
    }

    pub(crate) fn argument(message: impl Display) -> Self {
        Self::new(Status::Argument, message)
    }

    pub(crate) fn tensor(message: impl Display) -> Self {
        Self::new(Status::Tensor, message)
    }

    pub(crate) fn file(message: impl Display) -> Self {
        Self::new(Status::File, message)
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        let status = match &error {
            ProgramError::Text(_) | ProgramError::Schedule(_) | ProgramError::NotOneKernel { .. } => Status::Text,
            ProgramError::Execute(spc::Error::Memory { .. }) => Status::Memory,
            ProgramError::Execute(spc::Error::Native(_) | spc::Error::Stopped { .. })
            | ProgramError::Threads { .. } => Status::Run,
            _ => Status::Call,
        };
        Self::new(status, error)
    }
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Runs the body of an entry point: a failure and a panic become a status and a message.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let ended = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let told = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let told = told.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Failure::new(Status::Internal, format!("a mistake of spc, please report it: {told}")))
    });
    match ended {
        Ok(()) => Status::Ok,
        Err(failure) => {
            let text = CString::new(failure.message.replace('\0', " ")).unwrap_or_default();
            // While a thread ends there is none to tell.
            _ = MESSAGE.try_with(|message| message.replace(text));
            failure.status
        }
    }
}

/// The message of the last call of this thread that failed, as UTF-8; empty if none did. It is there until another call of the thread
/// fails.
#[unsafe(no_mangle)]
pub extern "C" fn spc_message() -> *const c_char {
    MESSAGE.try_with(|message| message.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The version of the functions in the header: `SPC_API_VERSION` of the header that this library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn spc_api_version() -> u32 {
    1
}

/// The version of the library, as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn spc_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
