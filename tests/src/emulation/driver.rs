//! A CUDA driver, a run-time compiler and a sparse library for processes that tests start: all that `spc` does on a GPU, without
//! one.

use super::{compiler, run};
use crate::harness::Skip;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARIES: [(&str, &str); 3] =
    [("driver.cpp", "libcuda.so.1"), ("nvrtc.cpp", "libnvrtc.so.12"), ("cusparse.cpp", "libcusparse.so.12")];

/// Libraries of the names that NVIDIA's have, in a folder that is removed with this.
#[derive(Debug)]
pub struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    /// Compiles them.
    ///
    /// # Errors
    /// There is no C++ compiler.
    ///
    /// # Panics
    /// When they can't be compiled.
    pub fn new() -> Result<Self, Skip> {
        Command::new("g++").arg("--version").output().map_err(|_| Skip::without_cpp())?;
        let installed = Self { folder: tempfile::tempdir().expect("there is room for temporary files") };
        let folder = installed.folder.path();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("files can be written");
        write("device.h", include_str!("../../../runtime/src/cuda/model/emulation/device.h"));
        write("runtime.cpp", include_str!("../../../runtime/src/cuda/model/emulation/runtime.cpp"));
        write("races.inc", include_str!("../../../runtime/src/cuda/model/emulation/races.inc"));
        write("driver.cpp", include_str!("driver.cpp"));
        write("nvrtc.cpp", include_str!("nvrtc.cpp"));
        write("cusparse.cpp", include_str!("cusparse.cpp"));
        run(folder, &compiler(&["-O1", "-c", "runtime.cpp", "-o", "runtime.o"]));
        for (source, library) in LIBRARIES {
            let soname = format!("-Wl,-soname,{library}");
            let command = ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", &soname, source, "-o", library, "-ldl"];
            run(folder, &command.map(str::to_owned));
        }
        Ok(installed)
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A command that finds them.
    pub fn command(&self, program: impl Into<PathBuf>) -> Command {
        let mut command = Command::new(program.into());
        self.prepare(&mut command);
        command
    }

    /// Lets a command find them.
    pub fn prepare(&self, command: &mut Command) {
        command.env("LD_LIBRARY_PATH", self.folder()).env("SPC_EMULATION", self.folder());
        command.env("SPC_CACHE", self.folder().join("cache")).env_remove("SPC_NVRTC").env_remove("SPC_CUSPARSE");
        command.env_remove("CUDA_HOME").env_remove("CUDA_PATH");
    }
}

/// In a process that such a command has started: the bytes that were copied to devices since this was called last.
///
/// # Panics
/// When the process has another driver.
pub fn brought() -> usize {
    bytes("spc_emulated_brought")
}

/// The same of those that were copied from devices.
///
/// # Panics
/// When the process has another driver.
pub fn taken() -> usize {
    bytes("spc_emulated_taken")
}

fn bytes(function: &str) -> usize {
    // SAFETY: the library is there already, as the driver of this process, and the function takes nothing.
    unsafe {
        let driver = libloading::Library::new("libcuda.so.1").expect("there is a driver");
        let bytes = driver.get::<extern "C" fn() -> usize>(function.as_bytes()).expect("it is the tests' own");
        bytes()
    }
}
