//! Random programs through files: the command as a process, and NumPy for the answer.
//!
//! `tests/outside` makes programs and files, runs the command on them, and reads what it writes, with code of its own; it shares
//! none with the compiler. It needs a Python from version 3.10 on with NumPy: `$SPC_PYTHON`, or `python3`; where there is none, this
//! says so. `SPC_OUTSIDE=5000` asks for more programs.

use std::process::Command;

/// The Python that has NumPy.
fn python() -> Option<String> {
    let python = std::env::var("SPC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let check = "import sys, numpy; sys.exit(sys.version_info < (3, 10))";
    let has_numpy = Command::new(&python).args(["-c", check]).output();
    has_numpy.is_ok_and(|output| output.status.success()).then_some(python)
}

fn check(backend: &str, count: u64, seed: &str) {
    let Some(python) = python() else {
        println!("skipped: set SPC_PYTHON to a Python from 3.10 on that has NumPy");
        return;
    };
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/outside/run.py"));
    command.args(["--binary", env!("CARGO_BIN_EXE_spc"), "--backend", backend, "--seed", seed, "--jobs", "2"]);
    let output = command.args(["--count", &count.to_string()]).output().expect("Python starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    assert!(output.status.success(), "{said}");
}

/// How many programs run by default.
fn count(few: u64) -> u64 {
    let asked = std::env::var("SPC_OUTSIDE").ok().and_then(|count| count.parse().ok());
    asked.map_or(few, |count: u64| count * few / 150)
}

#[test]
fn interpreted_programs_write_what_numpy_computes() {
    check("interpreter", count(150), "1");
}

#[test]
fn native_programs_write_what_numpy_computes() {
    check("native", count(15), "700000");
}
