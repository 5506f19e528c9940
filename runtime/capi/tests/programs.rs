//! Programs in other languages that call the library, as its documentation shows them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the library, which is built beside this test.
fn folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().to_owned()
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn printed(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Compiles a C program against the header and the library.
fn compiled(source: &Path, options: &[&str]) -> Option<(tempfile::TempDir, PathBuf)> {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("program");
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]).args(options).arg(source);
    command.arg("-I").arg(here("include")).arg("-L").arg(folder()).arg("-lspc_c");
    command.arg(format!("-Wl,-rpath,{}", folder().display())).arg("-o").arg(&program);
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("left out, the C program: there is no cc");
            None
        }
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some((place, program))
        }
    }
}

#[test]
fn a_c_program_lends_its_arrays_and_gets_results() {
    let Some((_place, program)) = compiled(&here("examples/mttkrp.c"), &[]) else { return };
    let text = printed(Command::new(program).output().unwrap());
    assert_eq!(text, "3\n12\n15\n36\nstatus 3, as it is to be\nX is released\nfreed twice: status 2\n");
}

#[test]
fn the_program_of_the_guide_runs() {
    let guide = std::fs::read_to_string(here("../../docs/c.md")).unwrap();
    let text = guide.split("```c\n").nth(1).unwrap().split("```").next().unwrap();
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("first.c");
    std::fs::write(&source, text).unwrap();
    let Some((_place, program)) = compiled(&source, &[]) else { return };
    assert_eq!(printed(Command::new(program).output().unwrap()), "20 403\n");
}

#[test]
fn the_header_is_one_for_cpp_and_its_structs_are_ours() {
    use spc_c::{Indices, Info, Level, Owner, Target, Values};
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("sizes.c");
    let sizes = [
        ("spc_indices", size_of::<Indices>()),
        ("spc_level", size_of::<Level>()),
        ("spc_values", size_of::<Values>()),
        ("spc_owner", size_of::<Owner>()),
        ("spc_target", size_of::<Target>()),
        ("spc_info", size_of::<Info>()),
    ];
    let offsets = [
        ("spc_values", "element", std::mem::offset_of!(Values, element)),
        ("spc_target", "order", std::mem::offset_of!(Target, order)),
        ("spc_target", "shape", std::mem::offset_of!(Target, shape)),
        ("spc_info", "levels", std::mem::offset_of!(Info, levels)),
        ("spc_info", "bytes", std::mem::offset_of!(Info, bytes)),
        ("spc_indices", "bytes", std::mem::offset_of!(Indices, bytes)),
    ];
    let mut text = "#include <spc.h>\n#include <stddef.h>\n".to_owned();
    for (name, size) in sizes {
        text += &format!("_Static_assert(sizeof({name}) == {size}, \"{name}\");\n");
    }
    for (name, field, offset) in offsets {
        text += &format!("_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");\n");
    }
    text += "int main(void) { return spc_api_version() == SPC_API_VERSION ? 0 : 1; }\n";
    std::fs::write(&source, text).unwrap();
    let Some((_place, program)) = compiled(&source, &[]) else { return };
    printed(Command::new(program).output().unwrap());
    let source = place.path().join("sizes.cpp");
    std::fs::write(&source, "#include <spc.h>\nint main() { return spc_free(0); }\n").unwrap();
    match Command::new("c++").arg("-fsyntax-only").arg("-I").arg(here("include")).arg(&source).output() {
        Ok(output) => _ = printed(output),
        Err(_) => eprintln!("left out, the header for C++: there is no c++"),
    }
}

#[test]
fn python_calls_it_by_ctypes() {
    let python = std::env::var("SPC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let library = folder().join(format!("{}spc_c{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    match Command::new(python).arg(here("examples/spmv.py")).arg(library).output() {
        Ok(output) => assert_eq!(printed(output), "[20.0, 403.0]\nit was freed, or spc did not give it out\n"),
        Err(_) => eprintln!("left out, the Python program: there is no python3"),
    }
}
