//! Many kernels as native code, compiled in few runs of the compiler: for tests of results, so unoptimised and with checks, unless
//! `--optimized` asks for what users run.

use crate::engine::Ready;
use crate::harness::{Skip, options};
use spc::execute::{Chain, Executable, NativeBuild, NativeError};
use spc_compiler::backend::rust;
use spc_compiler::{Compiled, Program};

/// The most kernels of one library. To start the compiler takes longer than to compile a small kernel, but what it takes for
/// hundreds in one crate grows faster than their number.
const KERNELS: usize = 80;

/// The most lines of a kernel that random programs compile. Merges of many operands under one another can have ten thousand, which
/// keep the compiler busy for minutes at any level of optimisation.
const LINES: usize = 1500;

/// Whether a program is compiled in seconds.
pub fn is_short(ready: &Ready) -> bool {
    ready.program.kernels.iter().all(|compiled| rust::text(&compiled.kernel).lines().count() <= LINES)
}

/// The kernels as native code.
///
/// # Errors
/// There is no Rust compiler.
///
/// # Panics
/// When the compiler refuses the text of one.
pub fn compile(kernels: &[&Ready]) -> Result<Vec<Chain>, Skip> {
    let build = if options().optimized { NativeBuild::Optimized } else { NativeBuild::Checked };
    compile_as(build, &kernels.iter().map(|ready| &ready.program).collect::<Vec<_>>())
}

/// Programs as users get them: for tests of what optimisation may change.
///
/// # Errors
/// There is no Rust compiler.
///
/// # Panics
/// When the compiler refuses the text of one.
pub fn compile_optimized(programs: &[&Program]) -> Result<Vec<Chain>, Skip> {
    compile_as(NativeBuild::Optimized, programs)
}

/// Programs as one says how they are compiled.
///
/// # Errors
/// There is no Rust compiler.
///
/// # Panics
/// When the compiler refuses the text of one.
pub fn compile_as(build: NativeBuild, programs: &[&Program]) -> Result<Vec<Chain>, Skip> {
    let mut chains = Vec::with_capacity(programs.len());
    while chains.len() < programs.len() {
        let rest = &programs[chains.len()..];
        chains.extend(library(build, &rest[..fitting(rest)])?);
    }
    Ok(chains)
}

/// How many programs go into one library: at least one.
fn fitting(programs: &[&Program]) -> usize {
    let ends = programs.iter().scan(0, |kernels, program| {
        *kernels += program.kernels.len();
        Some(*kernels)
    });
    ends.take_while(|&end| end <= KERNELS).count().max(1)
}

/// Programs as one library.
fn library(build: NativeBuild, programs: &[&Program]) -> Result<Vec<Chain>, Skip> {
    let compiled: Vec<&Compiled> = programs.iter().flat_map(|program| &program.kernels).collect();
    let texts: Vec<String> = compiled.iter().map(|compiled| rust::text(&compiled.kernel)).collect();
    let kernels_and_texts =
        compiled.iter().map(|compiled| compiled.kernel.clone()).zip(texts.iter().map(String::as_str));
    let mut executables = match Executable::native_all_as(build, kernels_and_texts.collect()) {
        Err(NativeError::NoCompiler { .. }) => return Err(Skip::without_rustc()),
        other => other.unwrap_or_else(|error| panic!("{error}")).into_iter(),
    };
    let chain =
        |program: &&Program| Chain::of_links(program, executables.by_ref().take(program.kernels.len()).collect());
    Ok(programs.iter().map(chain).collect())
}

/// Programs by the machine's C compiler, from what the C backend prints.
///
/// # Errors
/// There is no C compiler.
///
/// # Panics
/// When the compiler refuses the text of one.
pub fn compile_c(programs: &[&Program]) -> Result<Vec<Chain>, Skip> {
    let kernels = programs.iter().flat_map(|program| &program.kernels).map(|compiled| compiled.kernel.clone());
    let mut executables = match Executable::by_c_compiler(kernels.collect()) {
        Err(NativeError::NoCCompiler { .. }) => return Err(Skip::without_cpp()),
        other => other.unwrap_or_else(|error| panic!("{error}")).into_iter(),
    };
    let chain =
        |program: &&Program| Chain::of_links(program, executables.by_ref().take(program.kernels.len()).collect());
    Ok(programs.iter().map(chain).collect())
}
