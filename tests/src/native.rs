//! Many kernels as native code, compiled in one run.

use crate::engine::Ready;
use spc::execute::{Chain, Executable, NativeError};
use spc_compiler::Compiled;
use spc_compiler::backend::rust;

/// The kernels as native code; `None` on a machine without a Rust compiler.
///
/// # Panics
/// When the compiler refuses the text of one.
pub fn compile(kernels: &[&Ready]) -> Option<Vec<Chain>> {
    let compiled: Vec<&Compiled> = kernels.iter().flat_map(|ready| &ready.program.kernels).collect();
    let texts: Vec<String> = compiled.iter().map(|compiled| rust::text(&compiled.kernel)).collect();
    let kernels_and_texts =
        compiled.iter().map(|compiled| compiled.kernel.clone()).zip(texts.iter().map(String::as_str));
    let mut executables = match Executable::native_all(kernels_and_texts.collect()) {
        Err(NativeError::NoCompiler { .. }) => return None,
        other => other.unwrap_or_else(|error| panic!("{error}")).into_iter(),
    };
    let chain = |ready: &&Ready| {
        Chain::of_links(&ready.program, executables.by_ref().take(ready.program.kernels.len()).collect())
    };
    Some(kernels.iter().map(chain).collect())
}
