//! A stack that is large enough for deep kernels.
//!
//! What compiles a kernel, and what interprets it, calls itself for each loop within a loop, and a tensor of order 300 has 300 of
//! them. The stacks of threads are too small for that, those of tests above all.

use spc_compiler::notation;
use std::panic;
use std::thread;

/// So many loops within each other fit on any stack.
const SHALLOW: usize = 32;
/// What one of them takes at most, in a build without optimisation.
const BYTES_PER_LOOP: usize = 1 << 18;
const MOST: usize = 1 << 28;

/// Calls `body` with a stack on which a kernel can be compiled.
pub fn with_stack_for<R: Send>(kernel: &notation::Kernel, body: impl FnOnce() -> R + Send) -> R {
    with_stack(kernel.variables.len(), body)
}

/// Whether this many nested loops fit on any stack.
pub(super) fn is_shallow(loops: usize) -> bool {
    loops <= SHALLOW
}

/// Calls `body` with a stack for so many loops within each other.
pub(super) fn with_stack<R: Send>(loops: usize, body: impl FnOnce() -> R + Send) -> R {
    if is_shallow(loops) {
        return body();
    }
    let bytes = loops.saturating_mul(BYTES_PER_LOOP).min(MOST);
    let mut body = Some(body);
    let result = thread::scope(|scope| {
        let run = || body.take().map(|body| body());
        let thread = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, run).ok()?;
        thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    });
    // Where no thread can be started, what there is may do.
    result.unwrap_or_else(|| body.take().map(|body| body()).expect("it did not run"))
}
