//! What everything that reads text or files of others must stand: any bytes at all.
//!
//! Each [`Target`] is a function of some bytes that returns, whatever they are: no panic, no endless loop, no memory beyond
//! what the input's length allows. `tests/fuzz.rs` runs them on damaged copies of good inputs, the same on every run;
//! `fuzz/` beside the sources has them as targets of `cargo fuzz`.

mod mutate;
mod seeds;

use crate::case::Case;
use proc_macro2::TokenStream;
use spc::io::{mtx, npy, spct, tns};
use spc_compiler::diagnostics::render::render;
use spc_compiler::format::resolve::{self, Definitions};
use spc_compiler::{backend, compile_notation, ir, level, notation, syntax};

pub use mutate::mutated;

/// Something that reads bytes.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Reads them.
    pub run: fn(&[u8]),
    /// Good inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "program", run: program, seeds: seeds::programs },
    Target { name: "tokens", run: tokens, seeds: seeds::programs },
    Target { name: "format", run: format, seeds: seeds::formats },
    Target { name: "ir", run: loop_ir, seeds: seeds::loop_ir },
    Target { name: "case", run: case, seeds: seeds::programs },
    Target { name: "tns", run: read_tns, seeds: seeds::tns },
    Target { name: "mtx", run: read_mtx, seeds: seeds::mtx },
    Target { name: "npy", run: read_npy, seeds: seeds::npy },
    Target { name: "spct", run: read_spct, seeds: seeds::spct },
    Target { name: "file", run: file, seeds: seeds::files },
];

/// Runs a target by its name.
///
/// # Panics
/// Without a target of this name, and where it finds a mistake.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    (target.run)(bytes);
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A program's text, up to the generated code where it is a program; what people see of it where it is none.
fn program(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let compiled = syntax::parse_program(text).and_then(|program| notation::check(&program)).and_then(|kernels| {
        kernels.iter().try_for_each(|kernel| {
            let program = compile_notation(kernel)?;
            program.kernels.iter().for_each(|compiled| _ = backend::rust::text(&compiled.kernel));
            Ok(())
        })
    });
    if let Err(problems) = compiled {
        let problems = problems.into_sorted();
        assert!(!problems.is_empty(), "refused without a reason");
        assert!(!render(text, "input.ti", &problems, false).is_empty());
    }
}

/// What stands in the macro's braces.
fn tokens(bytes: &[u8]) {
    let tokens = text(bytes).and_then(|text| text.parse::<TokenStream>().ok());
    tokens.into_iter().for_each(|tokens| _ = backend::rust::expand_tokens(tokens));
}

/// A format, as behind `-f X=`, for tensors of several orders.
fn format(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    _ = syntax::parse_parameter_format(text);
    if let Ok(format) = syntax::parse_format(text) {
        for order in 0..5 {
            if let Ok(format) = resolve::resolve(&format, order, &Definitions::prelude()) {
                _ = (format.to_string(), spc_compiler::format::Map::new(&format));
            }
        }
    }
}

/// A kernel in loop IR. What it prints is read as the same kernel.
fn loop_ir(bytes: &[u8]) {
    let Some(kernel) = text(bytes).and_then(|text| ir::parse(text, level::named).ok()) else { return };
    let printed = kernel.to_string();
    let again = ir::parse(&printed, level::named).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again.to_string(), printed);
    if let Ok(verified) = ir::verify(kernel) {
        _ = backend::rust::text(&verified);
    }
}

/// A case of the corpus.
fn case(bytes: &[u8]) {
    text(bytes).into_iter().for_each(|text| _ = Case::parse("fuzz", text));
}

fn read_tns(bytes: &[u8]) {
    _ = tns::parse::<f64>(bytes, None);
    _ = tns::parse::<u8>(bytes, Some(&[4, 5]));
}

fn read_mtx(bytes: &[u8]) {
    _ = mtx::parse::<f64>(bytes);
    _ = mtx::parse::<i32>(bytes);
}

fn read_npy(bytes: &[u8]) {
    _ = npy::parse::<f64>(bytes);
    _ = npy::parse_tensor(bytes);
}

/// What is read is written as it was.
fn read_spct(bytes: &[u8]) {
    let Ok(tensor) = spct::parse(&seeds::with_checksum(bytes)) else { return };
    let mut written = Vec::new();
    spct::write(&mut written, &tensor).expect("memory takes all");
    let again = spct::parse(&written).expect("what was written is read");
    // Undefined numbers are not equal to themselves.
    assert_eq!((again.shape(), again.format(), again.nnz()), (tensor.shape(), tensor.format(), tensor.nnz()));
}

/// A file by its name: the first byte chooses the kind, also compressed.
fn file(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let names = ["x.tns", "x.tns.gz", "x.mtx", "x.mtx.gz", "x.npy.gz", "x.spct.gz", "x.npy", "x.spct"];
    let name = names[usize::from(*kind) % names.len()];
    let folder = std::env::temp_dir().join(format!("spc-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for a file");
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a file");
    _ = spc::io::read_tensor(&path, &spc::io::ReadOptions::default());
    _ = std::fs::remove_dir_all(&folder);
}
