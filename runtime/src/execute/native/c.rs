//! Kernels by a C compiler: what the C backend prints, with a way to the host behind it.
//!
//! The text is what a user of `spc compile --emit c` gets. So what runs here is what such a user has.

use super::abi::Entry;
use super::process;
use super::{Library, NativeError, NativeKernel, Signature, text};
use crate::execute::cache::Workshop;
use crate::execute::tier::Tier;
use spc_compiler::backend::c::{self, Access, Parameter};
use spc_compiler::ir::{Kernel, Size, Verified};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The longest that a C compiler may take.
pub(super) const LIMIT: Duration = Duration::from_secs(600);

/// How a library is made that is loaded while a program runs. Its functions call each other, whatever the program has under these names.
pub(super) const LIBRARY: [&str; 3] = ["-shared", "-fPIC", "-Wl,-Bsymbolic"];

/// What the host and a kernel hand to each other: `abi.rs` in C.
const ABI: &str = include_str!("c.h");

/// The C compiler: the one that `CC` names, or `cc`.
pub(super) fn compiler() -> PathBuf {
    let named = std::env::var_os("CC").filter(|name| !name.is_empty());
    named.unwrap_or_else(|| OsString::from("cc")).into()
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
        let mut source = unit.source;
        source += ABI;
        for (place, (kernel, function)) in kernels.iter().zip(&unit.functions).enumerate() {
            source += &entry(place, function, kernel);
        }
        let failure = |path: &Path| {
            let path = path.to_owned();
            move |source| NativeError::File { path, source }
        };
        let workshop = Workshop::elsewhere().map_err(failure(&std::env::temp_dir()))?;
        let (file, library) = (workshop.beside("kernels.c"), workshop.beside("kernels.so"));
        fs::write(&file, source).map_err(failure(&file))?;
        compile(&file, &library, &LIBRARY)?;
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
            all.push(Self { signature, entry, compile_time, tier: Tier::C, missing: None });
        }
        // The entries are used for as long as the process lives.
        std::mem::forget(loaded);
        Ok(all)
    }
}

/// Compiles a C file for this processor.
pub(super) fn compile(file: &Path, result: &Path, options: &[&str]) -> Result<(), NativeError> {
    let compiler = compiler();
    let command = || {
        let mut command = Command::new(&compiler);
        command.args(["-std=gnu11", "-O3", "-march=native", "-fopenmp", "-w"]).args(options);
        command.arg("-o").arg(result).arg(file).arg("-lm");
        command
    };
    let refused = |output: String| NativeError::Compile { compiler: compiler.clone(), output };
    match process::run(&command, LIMIT) {
        Ok(finished) if finished.status.success() => Ok(()),
        Ok(finished) => Err(refused(String::from_utf8_lossy(&finished.stderr).into_owned())),
        Err(process::Failure::Start(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(NativeError::NoCCompiler { looked: compiler.display().to_string() })
        }
        Err(error) => Err(refused(error.to_string())),
    }
}

/// The function that the host calls for a kernel.
fn entry(place: usize, function: &str, kernel: &Verified<Kernel>) -> String {
    let (extents, parameters) = c::parameters(kernel);
    let mut text = format!("\nint32_t {}(const spc_host *host, spc_call *call) {{\n", text::entry(place));
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
            arguments.push(format!("call->arrays[{array}].data"));
            arguments.push(format!("call->arrays[{array}].length"));
        }
    }
    text + &format!("    {function}({});\n{after}    return 0;\n}}\n", arguments.join(", "))
}
