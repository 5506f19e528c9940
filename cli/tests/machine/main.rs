//! What the command does with a driver that tests have made, and on random programs through files: tests that need a C++ compiler
//! or a Python with NumPy, and are ignored where these are missing (see `spc_tests::harness`).

mod gpu;
mod outside;

use std::process::ExitCode;

fn main() -> ExitCode {
    spc_tests::harness::main(env!("CARGO_TARGET_TMPDIR"), |suite| {
        gpu::tests(suite);
        outside::tests(suite);
    })
}
