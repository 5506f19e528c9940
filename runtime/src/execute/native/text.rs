//! The text that is compiled: a kernel, the helpers that it uses, and its way to the host.

use crate::execute::array::{Access, Signature};
use crate::parallel::CHUNKS_TEXT;
use spc_compiler::ir::{ArrayElement, Size};
use std::fmt::Write;

/// The symbol that a library exports.
pub(super) const ENTRY: &[u8] = b"spc_kernel";

const ABI: &str = include_str!("abi.rs");
const LIBRARY: &str = include_str!("library.rs");

/// The text of a library with one kernel.
pub(super) fn library(kernel: &str, signature: &Signature) -> String {
    let call = call(signature);
    format!(
        r#"#![allow(dead_code, unused)]

#[forbid(unsafe_code)]
mod kernel {{
use crate::parallel;

{kernel}
}}

/// # Safety
/// As `library::run`; dimensions and arrays are the kernel's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spc_kernel(host: *const abi::Host, invocation: *mut abi::Invocation) -> i32 {{
    // SAFETY: as the caller promises.
    unsafe {{
        library::run(host, invocation, |call| {{
{call}        }})
    }}
}}

mod parallel {{
    pub use crate::library::{{run_all, threads}};
    pub use chunks::*;

mod chunks {{
{CHUNKS_TEXT}
}}
}}

mod library {{
{LIBRARY}
}}

mod abi {{
{ABI}
}}
"#
    )
}

/// Reads the parameters, calls the kernel, gives what it appended.
fn call(signature: &Signature) -> String {
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
    line(format!("kernel::{name}({});", arguments.join(", ")));
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
