//! Random programs through files: the command as a process, and NumPy for the answer.
//!
//! `tests/outside` makes programs and files, runs the command on them, and reads what it writes, with code of its own; it shares
//! none with the compiler. It needs a Python from version 3.10 on with NumPy.

use spc_tests::harness::{Skip, options};
use std::process::Command;

fn check(backend: &str, seed: u64, count: u64) -> Result<(), Skip> {
    let is_new_enough = "import sys, numpy; sys.exit(sys.version_info < (3, 10))";
    let mut command = Command::new(options().python_for(is_new_enough, "NumPy, from 3.10 on")?);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/outside/run.py"));
    command.args(["--binary", env!("CARGO_BIN_EXE_spc"), "--backend", backend, "--jobs", "2"]);
    let output = command.args(["--seed", &seed.to_string(), "--count", &count.to_string()]).output();
    let output = output.expect("Python starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    Ok(())
}

fn interpreted_programs_write_what_numpy_computes() -> Result<(), Skip> {
    check("interpreter", options().seed, options().count(50, 150))
}

fn native_programs_write_what_numpy_computes() -> Result<(), Skip> {
    check("native", 700_000 + options().seed - 1, options().count(5, 15))
}

spc_tests::tests! {
    interpreted_programs_write_what_numpy_computes,
    native_programs_write_what_numpy_computes,
}
