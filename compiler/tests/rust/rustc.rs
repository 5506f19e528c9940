//! The Rust compiler that builds the tests, asked to compile what the printer prints.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

#[path = "../../../runtime/src/parallel/text.rs"]
mod helpers;

/// The run time's `parallel` module as text: printed kernels call it.
pub(crate) fn parallel() -> String {
    let modules = helpers::modules(
        spc_compiler::format::INTERLEAVE_TEXT,
        spc_compiler::ir::HALF_TEXT,
        spc_compiler::ir::NUMBERS_TEXT,
    );
    format!(
        "#[allow(non_camel_case_types)]
        mod complex {{
            #[derive(Clone, Copy)]
            pub struct c32 {{ pub re: f32, pub im: f32 }}
            #[derive(Clone, Copy)]
            pub struct c64 {{ pub re: f64, pub im: f64 }}
        }}
        mod parallel {{
            {modules}
            pub fn threads() -> usize {{ 2 }}
            pub fn run_all(count: usize, body: &(dyn Fn(usize) + Sync)) {{ (0..count).for_each(body) }}
        }}\n"
    )
}

fn call(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"))
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder for the test can be made");
    folder
}

/// Compiles a program.
///
/// # Panics
/// When rustc refuses it.
fn compile(name: &str, text: &str, arguments: &[&str]) -> PathBuf {
    let source = folder(name).join("main.rs");
    let program = folder(name).join("main");
    fs::write(&source, text).expect("the program can be written");
    let (source, path) = (source.display().to_string(), program.display().to_string());
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let mut all =
        vec!["--edition", "2024", "-D", "warnings", "-A", "unused", "-A", "non_snake_case", "-o", &path, &source];
    all.extend(arguments);
    let output = call(&rustc, &all);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "rustc refuses {source}:\n{}", errors.chars().take(6000).collect::<String>());
    program
}

/// That rustc accepts some items.
pub(crate) fn accepts(name: &str, items: &str) {
    compile(name, &format!("{}{items}\nfn main() {{}}\n", parallel()), &["--emit", "metadata"]);
}

/// What a program prints.
pub(crate) fn run(name: &str, text: &str) -> String {
    let program = compile(name, text, &[]);
    let output = call(&program.display().to_string(), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
