//! CUDA C++ with the host's code, as `spc compile --emit cu` prints it, by a C++ compiler: `cuda_runtime.h` stands for CUDA's, and has a
//! device whose memory is the host's.

use super::{compiler, plain, run};
use crate::harness::Skip;
use spc::execute::{Chain, Executable};
use spc_compiler::backend::cuda::{self, host};
use spc_compiler::{Compiled, Program};
use std::path::Path;
use std::process::Command;

/// The modules of kernels, each under a name of its own.
///
/// # Panics
/// When a device can't run one.
pub fn modules(kernels: &[&Compiled]) -> Vec<cuda::Module> {
    let numbered = kernels.iter().enumerate().map(|(number, compiled)| {
        let name = host::device_name(&format!("{}_{number}", plain(&compiled.kernel.name)));
        let module = cuda::module(&compiled.kernel, Some(&name), cuda::Options::default());
        module.unwrap_or_else(|refusal| panic!("{}: {}", compiled.kernel.name, refusal.what))
    });
    numbered.collect()
}

/// Programs of which each kernel is called by its host's function.
///
/// # Errors
/// There is no C++ compiler.
///
/// # Panics
/// When it refuses the text of one, or a device can't run one.
pub fn compile(programs: &[&Program]) -> Result<Vec<Chain>, Skip> {
    Command::new("g++").arg("--version").output().map_err(|_| Skip::without_cpp())?;
    let kernels: Vec<&Compiled> = programs.iter().flat_map(|program| &program.kernels).collect();
    let kernels = kernels.iter().map(|compiled| compiled.kernel.clone()).zip(modules(&kernels));
    let build = |file: &Path, library: &Path| {
        let folder = file.parent().expect("a file is in a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("files can be written");
        write("device.h", include_str!("../../../runtime/src/cuda/model/emulation/device.h"));
        write("runtime.cpp", include_str!("../../../runtime/src/cuda/model/emulation/runtime.cpp"));
        write("cuda_runtime.h", include_str!("cuda_runtime.h"));
        let [file, library, runtime] =
            [file, library, &folder.join("runtime.cpp")].map(|path| path.display().to_string());
        let options = ["-O1", "-fwrapv", "-ffp-contract=off", "-I.", "-include", "device.h", "-shared", "-o", &library];
        run(folder, &compiler(&[&options[..], &["-x", "c++", &file, &runtime]].concat()));
        Ok(())
    };
    let executables = Executable::by_cuda_compiler(kernels.collect(), &build);
    let mut executables = executables.unwrap_or_else(|error| panic!("{error}")).into_iter();
    let chain =
        |program: &&Program| Chain::of_links(program, executables.by_ref().take(program.kernels.len()).collect());
    Ok(programs.iter().map(chain).collect())
}
