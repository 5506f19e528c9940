//! Tests that compile kernels at run time.

use crate::engine::Ready;
use spc::execute::{Backend, Executable};
use spc_compiler::backend::rust;
use std::path::Path;
use std::process::Command;

/// Runs a test of this program again in a process whose kernels are kept in the build's folder `temporary`, not in the
/// user's cache. Says whether it has done so; `false` in that process, and where `SPC_CACHE` is set anyhow.
///
/// # Panics
/// When the test fails there.
pub fn in_own_cache(test: &str, temporary: &str) -> bool {
    if std::env::var_os("SPC_CACHE").is_some() {
        return false;
    }
    let program = std::env::current_exe().expect("a test is a program");
    let output = Command::new(program)
        .args(["--exact", test])
        .env("SPC_CACHE", Path::new(temporary).join("kernels"))
        .output()
        .expect("the test can be run again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    true
}

/// Compiles a case's kernel, runs it and checks its results.
///
/// # Errors
/// What went wrong.
pub fn check(ready: &Ready) -> Result<(), String> {
    let text = rust::text(&ready.compiled.kernel);
    let executable = Executable::new(ready.compiled.kernel.clone(), Some(&text), Backend::Native);
    ready.run(&executable.map_err(|error| error.to_string())?).map_err(|error| format!("native: {error}"))
}
