//! Kernels by a C compiler: what the C backend prints, with a way to the host behind it; and CUDA C++ with the host's code by a compiler
//! that is given.
//!
//! The text is what a user of `spc compile --emit c` or `cu` gets. So what runs here is what such a user has.

use super::abi::Entry;
use super::{Library, NativeError, NativeKernel, Signature, text};
use super::{external, process};
use crate::execute::cache::Workshop;
use crate::execute::tier::Tier;
use spc_compiler::backend::c::{self, Access, Parameter};
use spc_compiler::backend::cuda::{Module, host};
use spc_compiler::ir::{Kernel, Size, Verified};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest that a C compiler may take.
pub(super) const LIMIT: Duration = Duration::from_secs(600);

/// How a library is made that is loaded while a program runs. Its functions call each other, whatever the program has under these names.
pub(super) const LIBRARY: [&str; 3] = ["-shared", "-fPIC", "-Wl,-Bsymbolic"];

/// What the host and a kernel hand to each other: `abi.rs` in C.
const ABI: &str = include_str!("c.h");

/// The C compiler: the one that `CC` names, or `cc`.
fn compiler() -> Result<PathBuf, NativeError> {
    let named = std::env::var_os("CC").filter(|name| !name.is_empty());
    let name = named.unwrap_or_else(|| OsString::from("cc"));
    let found = external::find(&name, &|name| std::env::var_os(name));
    found.ok_or_else(|| NativeError::NoCCompiler { looked: Path::new(&name).display().to_string() })
}

impl NativeKernel {
    /// Compiles kernels with the machine's C compiler from what the C backend prints for them. Their parallel loops run by OpenMP,
    /// on as many threads as the rayon pool has that a call is made in.
    ///
    /// # Errors
    /// When there is no C compiler, or it refuses the text.
    pub fn compile_c(kernels: &[&Verified<Kernel>]) -> Result<Vec<Self>, NativeError> {
        let start = Instant::now();
        for kernel in kernels {
            if let Some(generic) = kernel.dimensions.iter().find(|dimension| dimension.size == Size::Generic) {
                return Err(NativeError::Generic { kernel: kernel.name.clone(), index: generic.name.clone() });
            }
        }
        let unit = c::unit(kernels.iter().copied());
        let text = Text { source: unit.source, functions: unit.functions, language: Language::C };
        text.load(kernels, start, &|file, library| compile(file, library, &LIBRARY))
    }

    /// Compiles CUDA C++ of kernels with the host's code, each with its module for a device. What `build` makes of a source file is a
    /// library whose device has the host's memory: an emulation.
    ///
    /// # Errors
    /// What `build` says.
    pub fn compile_cuda(
        kernels: &[(&Verified<Kernel>, &Module)],
        build: &dyn Fn(&Path, &Path) -> Result<(), NativeError>,
    ) -> Result<Vec<Self>, NativeError> {
        let start = Instant::now();
        let unit = host::unit(kernels.iter().map(|(kernel, module)| (kernel.name.as_str(), *module)));
        let text = Text { source: unit.source, functions: unit.functions, language: Language::Cuda };
        text.load(&kernels.iter().map(|(kernel, _)| *kernel).collect::<Vec<_>>(), start, build)
    }
}

/// What the text of kernels is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Cuda,
}

/// Kernels as text, each with a function.
struct Text {
    source: String,
    functions: Vec<String>,
    language: Language,
}

impl Text {
    fn load(
        mut self,
        kernels: &[&Verified<Kernel>],
        start: Instant,
        build: &dyn Fn(&Path, &Path) -> Result<(), NativeError>,
    ) -> Result<Vec<NativeKernel>, NativeError> {
        self.source += ABI;
        for (place, (kernel, function)) in kernels.iter().zip(&self.functions).enumerate() {
            self.source += &entry(place, function, kernel, self.language);
        }
        let failure = |path: &Path| {
            let path = path.to_owned();
            move |source| NativeError::File { path, source }
        };
        let workshop = Workshop::elsewhere().map_err(failure(&std::env::temp_dir()))?;
        let name = if self.language == Language::C { "kernels.c" } else { "kernels.cu" };
        let (file, library) = (workshop.beside(name), workshop.beside("kernels.so"));
        fs::write(&file, self.source).map_err(failure(&file))?;
        build(&file, &library)?;
        // SAFETY: the file is what the compiler made of the text above, which does nothing when it is loaded.
        let loaded = unsafe { Library::new(&library) };
        let loaded = loaded.map_err(|source| NativeError::Load { path: library.to_owned(), source })?;
        let compile_time = start.elapsed();
        let mut all = Vec::with_capacity(kernels.len());
        for (place, kernel) in kernels.iter().enumerate() {
            // SAFETY: the text defines this symbol for each kernel with the type `Entry`, by the declarations of `c.h`.
            let found = unsafe { loaded.get::<Entry>(text::entry(place).as_bytes()) };
            let entry = *found.map_err(|source| NativeError::Load { path: library.to_owned(), source })?;
            let signature = Signature::of(kernel);
            all.push(NativeKernel { signature, entry, compile_time, tier: Tier::C, missing: None });
        }
        // The entries are used for as long as the process lives.
        std::mem::forget(loaded);
        Ok(all)
    }
}

/// Compiles a C file for this processor.
pub(super) fn compile(file: &Path, result: &Path, options: &[&str]) -> Result<(), NativeError> {
    let compiler = compiler()?;
    let command = || {
        let mut command = external::command(&compiler);
        if let Some(folder) = result.parent() {
            command.env("TMPDIR", folder);
        }
        command.args(["-std=gnu11", "-O3", "-march=native", "-fopenmp", "-w"]).args(options);
        command.arg("-o").arg(result).arg(file).arg("-lm");
        command
    };
    let refused = |output: String| NativeError::Compile { compiler: compiler.clone(), output };
    match process::run(&command, LIMIT) {
        Ok(finished) if finished.status.success() => Ok(()),
        Ok(finished) => Err(refused(String::from_utf8_lossy(&finished.stderr).into_owned())),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// The function that the host calls for a kernel.
fn entry(place: usize, function: &str, kernel: &Verified<Kernel>, language: Language) -> String {
    let (extents, parameters) = c::parameters(kernel);
    let mark = match language {
        Language::C => "",
        Language::Cuda => "extern \"C\" __attribute__((visibility(\"default\"))) ",
    };
    let mut text = format!("\n{mark}int32_t {}(const spc_host *host, spc_call *call) {{\n", text::entry(place));
    let mut arguments: Vec<String> = (0..extents).map(|extent| format!("call->dimensions[{extent}]")).collect();
    let mut after = String::new();
    text += "    spc_begin(host);\n";
    for (array, Parameter { access, element }) in parameters.iter().enumerate() {
        if *access == Access::Append {
            let bytes = element.bytes();
            _ = writeln!(text, "    spc_vector v{array} = spc_empty(host, &call->arrays[{array}], {bytes});");
            _ = writeln!(after, "    spc_give(host, &call->arrays[{array}], &v{array}, {bytes});");
            arguments.push(format!("&v{array}"));
        } else {
            // C++ converts no address by itself.
            let cast = if language == Language::C { "" } else { "(spc_any)" };
            arguments.push(format!("{cast}call->arrays[{array}].data"));
            arguments.push(format!("call->arrays[{array}].length"));
        }
    }
    match language {
        Language::C => text += &format!("    {function}({});\n", arguments.join(", ")),
        Language::Cuda => {
            arguments.push("0".to_owned());
            text += &format!("    const cudaError_t status = {function}({});\n", arguments.join(", "));
            text += "    if (status != cudaSuccess) return spc_fail(host, call, cudaGetErrorString(status));\n";
        }
    }
    text + &format!("{after}    return 0;\n}}\n")
}
