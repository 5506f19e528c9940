//! What the command does with a driver that tests have made, on random programs through files, and as ranks of MPI: tests that need a
//! C++ compiler, a Python with NumPy, or an `mpirun`, and are ignored where these are missing (see `spc_tests::harness`).

mod gpu;
mod inventory;
mod outside;
mod processes;

use std::process::ExitCode;

fn main() -> ExitCode {
    spc_tests::harness::main(env!("CARGO_TARGET_TMPDIR"), |suite| {
        gpu::tests(suite);
        inventory::tests(suite);
        outside::tests(suite);
        processes::tests(suite);
    })
}
