//! The texts that are compiled: kernels, and the crate of what they use and of their way to the host.

use crate::execute::array::{Access, Signature};
use crate::parallel::text as helpers;
use spc_compiler::backend::rust::function_name;
use spc_compiler::format::INTERLEAVE_TEXT;
use spc_compiler::ir::{ArrayElement, Size};
use spc_compiler::ir::{HALF_TEXT, NUMBERS_TEXT};
use std::fmt::Write;
use std::sync::LazyLock;

/// The symbol that a library exports for the kernel at a place.
pub(super) fn entry(place: usize) -> String {
    format!("spc_kernel_{place}")
}

/// The symbol for the version of how a library is called.
pub(super) const VERSION: &str = "spc_kernel_version";

const ABI: &str = include_str!("abi.rs");
pub(super) const COMPLEX: &str = include_str!("complex.rs");
const LIBRARY: &str = include_str!("library.rs");
const READY: &str = include_str!("ready.rs");

/// The crate that all kernels use.
pub(super) const HELPERS: &str = "spc_helpers";

/// The files of a library.
pub(super) struct Sources {
    /// The crate's root: the kernels' entries.
    pub(super) root: String,
    /// The kernels, each in a file of its own, so that its text can't reach out of the module that forbids unsafe code.
    pub(super) kernels: Vec<String>,
}

/// The file of the kernel at a place, beside the root.
pub(super) fn kernel_file(place: usize) -> String {
    format!("kernel_{place}.rs")
}

/// A library of kernels.
pub(super) fn library(kernels: &[(&str, Signature)]) -> Sources {
    let modules: String = kernels.iter().enumerate().map(|(place, (_, signature))| module(place, signature)).collect();
    let kernels = kernels
        .iter()
        .map(|(text, _)| format!("use crate::complex::{{c32, c64}};\nuse crate::parallel;\nuse crate::parallel::{{bf16, f16}};\n\n{text}\n"))
        .collect();
    let root = format!(
        r#"#![allow(dead_code, unused, arithmetic_overflow, overflowing_literals, unconditional_panic)]

use {HELPERS}::{{abi, complex, library, parallel}};
use complex::{{c32, c64}};
use parallel::{{bf16, f16}};

#[unsafe(no_mangle)]
pub static {VERSION}: u32 = abi::VERSION;

{modules}"#
    );
    Sources { root, kernels }
}

/// The crate of what kernels use: functions for parallel loops, sorted rows and so on, complex numbers, the way to the host. It is
/// compiled once for a compiler and its flags.
pub(super) fn helpers() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let helpers = helpers::modules(INTERLEAVE_TEXT, HALF_TEXT, NUMBERS_TEXT);
        format!(
            r#"#![allow(dead_code, unused)]

use complex::{{c32, c64}};

pub mod parallel {{
    pub use crate::library::{{run_all, threads}};
{helpers}}}

pub mod complex {{
{COMPLEX}
}}

pub mod library {{
{LIBRARY}
}}

pub mod abi {{
{ABI}
}}

pub mod ready {{
{READY}
}}
"#
        )
    });
    &TEXT
}

/// The module of a kernel and its entry.
fn module(place: usize, signature: &Signature) -> String {
    let (call, entry) = (call(place, signature), entry(place));
    format!(
        r#"#[forbid(unsafe_code)]
mod kernel_{place};

/// # Safety
/// As `library::run`; dimensions and arrays are the kernel's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn {entry}(host: *const abi::Host, invocation: *mut abi::Invocation) -> i32 {{
    // SAFETY: as the caller promises.
    unsafe {{
        library::run(host, invocation, &mut |call| {{
{call}        }})
    }}
}}

"#
    )
}

/// Reads the parameters, calls the kernel, gives what it appended.
fn call(place: usize, signature: &Signature) -> String {
    let module = format!("kernel_{place}");
    let Signature { name, sizes, parameters } = signature;
    let mut text = String::new();
    let mut arguments = Vec::new();
    let indent = "            ";
    let mut line = |line: String| _ = writeln!(text, "{indent}{line}");
    let runtime = sizes.iter().filter(|&&size| size == Size::Runtime).count();
    arguments.extend((0..runtime).map(|place| format!("*call.dimensions.add({place})")));
    for (place, parameter) in parameters.iter().enumerate() {
        let ty = rust_type(parameter.element);
        arguments.push(match parameter.access {
            Access::Read => format!("library::input::<{ty}>(&*call.arrays.add({place}))"),
            Access::Write(_) => format!("library::output::<{ty}>(&*call.arrays.add({place}))"),
            Access::Append => {
                line(format!("let mut a{place} = library::appended::<{ty}>(&*call.arrays.add({place}));"));
                format!("&mut a{place}")
            }
        });
    }
    line(format!("{module}::{}({});", function_name(name), arguments.join(", ")));
    for (place, parameter) in parameters.iter().enumerate() {
        if parameter.access == Access::Append {
            line(format!("library::give(&mut *call.arrays.add({place}), a{place});"));
        }
    }
    text
}

fn rust_type(element: ArrayElement) -> &'static str {
    match element {
        ArrayElement::Index(width) => width.name(),
        ArrayElement::Value(element) => element.name(),
    }
}
