//! NVIDIA's run-time compiler, loaded where it is found.

use super::usage::Usage;
use cudarc::nvrtc::{result, sys};
use libloading::Library;
use std::ffi::{CStr, CString, OsStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Why CUDA C can't be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NvrtcError {
    /// The library is not there.
    #[error("NVRTC, NVIDIA's run-time compiler, was not found: looked for {}", .looked.join(", "))]
    Missing {
        /// What was looked for.
        looked: Vec<String>,
    },
    /// The library lacks a function.
    #[error("this NVRTC can't be used: it has no `{function}`")]
    Symbol {
        /// Which.
        function: &'static str,
    },
    /// It refuses the text.
    #[error("NVRTC refuses the kernel for {architecture}:\n{log}")]
    Compile {
        /// For what.
        architecture: String,
        /// What it says.
        log: String,
    },
    /// A call of the library fails.
    #[error("NVRTC fails: {0}")]
    Call(String),
    /// A text or a name has a zero byte in it.
    #[error("a zero byte can't be compiled")]
    Zero(#[from] std::ffi::NulError),
}

impl NvrtcError {
    /// What to do where the library is missing.
    pub const REMEDIES: &str = "`pip install nvidia-cuda-nvrtc-cu12` and name its libnvrtc.so.12 in SPC_NVRTC; or install the CUDA \
                                toolkit and set CUDA_HOME; or put the folder with libnvrtc.so.12, of CUDA 13 that with libnvrtc.so, into LD_LIBRARY_PATH";
}

impl From<result::NvrtcError> for NvrtcError {
    fn from(error: result::NvrtcError) -> Self {
        Self::Call(error.to_string())
    }
}

/// NVIDIA's run-time compiler.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Nvrtc;

/// What was compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// Machine code for the architecture; none for a virtual one, as `compute_90`.
    pub cubin: Vec<u8>,
    /// The assembly text that it was made of.
    pub ptx: String,
    /// What each function takes, by name.
    pub usage: Vec<Usage>,
    /// All that the compiler said.
    pub log: String,
}

/// Where the toolkit is unless somebody has put it elsewhere.
const USUAL_HOME: &str = "/usr/local/cuda";

const NAMES: [&str; 3] = ["libnvrtc.so.12", "libnvrtc.so", "nvrtc64_120_0.dll"];

/// What is called of the library: `cudarc` panics where one is missing.
const FUNCTIONS: [&str; 11] = [
    "nvrtcCreateProgram",
    "nvrtcCompileProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetProgramLogSize",
    "nvrtcGetProgramLog",
    "nvrtcGetCUBINSize",
    "nvrtcGetCUBIN",
    "nvrtcGetPTXSize",
    "nvrtcGetPTX",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetSupportedArchs",
];

/// A library that a path led to. The loader then finds it by its name too, which is all that `cudarc` asks for.
static KEPT: Mutex<Option<Library>> = Mutex::new(None);

impl Nvrtc {
    /// Finds the library: in `SPC_NVRTC`, below `CUDA_HOME` or `CUDA_PATH`, where the system's loader looks, or below
    /// `/usr/local/cuda`.
    ///
    /// # Errors
    /// When it is nowhere, or is none.
    pub fn find() -> Result<Self, NvrtcError> {
        let mut kept = KEPT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut places: Vec<PathBuf> = std::env::var_os("SPC_NVRTC").into_iter().map(PathBuf::from).collect();
        let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
        let below = |home: &OsStr| NAMES.map(|name| Path::new(home).join("lib64").join(name));
        places.extend(homes.flat_map(|home| below(&home)));
        // A path that begins in the current folder would lead to whatever is beside the data.
        places.retain(|place| place.is_absolute() || place.components().count() == 1);
        // SAFETY: a library of that name is NVIDIA's, or what the user has named; loading it has no effect but its own start.
        let load = |places: &[PathBuf]| places.iter().find_map(|place| unsafe { Library::new(place) }.ok());
        // SAFETY: as above, for a library where the system's loader looks.
        let is_present = || unsafe { sys::is_culib_present() };
        if kept.is_none() {
            *kept = load(&places);
        }
        if kept.is_none() && !is_present() {
            *kept = load(&below(OsStr::new(USUAL_HOME)));
        }
        if !is_present() {
            let names = NAMES.iter().map(|&name| name.to_owned()).chain([format!("{USUAL_HOME}/lib64")]);
            let looked = places.iter().map(|place| place.display().to_string()).chain(names).collect();
            return Err(NvrtcError::Missing { looked });
        }
        // SAFETY: the library is there, as was just found out; a symbol is looked up, not called.
        let has = |function: &&&str| unsafe { sys::culib().get::<*const ()>(function.as_bytes()) }.is_ok();
        match FUNCTIONS.iter().find(|function| !has(function)) {
            Some(function) => Err(NvrtcError::Symbol { function }),
            None => Ok(Self),
        }
    }

    /// Compiles CUDA C for an architecture such as `sm_90`.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn compile(&self, text: &str, name: &str, architecture: &str) -> Result<Compiled, NvrtcError> {
        let (text, name) = (CString::new(text)?, CString::new(name)?);
        let virtual_only = architecture.starts_with("compute_");
        let architecture_option = format!("--gpu-architecture={architecture}");
        CString::new(architecture_option.as_str())?;
        // Quotients of literals are as the user wrote them, so the third warns of nothing.
        let mut options = vec![architecture_option.as_str(), "--diag-suppress=39"];
        if !virtual_only {
            options.push("--ptxas-options=-v");
        }
        let program = Program(result::create_program(&text, Some(&name))?);
        // SAFETY: the program was just created.
        let status = unsafe { result::compile_program(program.0, &options) };
        let log = program.log()?;
        if status.is_err() {
            return Err(NvrtcError::Compile { architecture: architecture.to_owned(), log });
        }
        let cubin = if virtual_only { Vec::new() } else { program.cubin()? };
        Ok(Compiled { cubin, ptx: program.ptx()?, usage: Usage::of_log(&log), log })
    }

    /// The architectures that this version makes machine code for, as 90 of `sm_90`, in ascending order.
    ///
    /// # Errors
    /// When the library fails.
    pub fn architectures(&self) -> Result<Vec<u32>, NvrtcError> {
        let mut count = 0;
        // SAFETY: the number is a place to write to.
        unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) }.result()?;
        let mut all = vec![0; usize::try_from(count).unwrap_or(0)];
        if !all.is_empty() {
            // SAFETY: there is room for as many as the library has just counted.
            unsafe { sys::nvrtcGetSupportedArchs(all.as_mut_ptr()) }.result()?;
        }
        Ok(all.into_iter().filter_map(|architecture| u32::try_from(architecture).ok()).collect())
    }
}

/// A program of the library. It is destroyed when it is dropped.
struct Program(sys::nvrtcProgram);

impl Program {
    fn log(&self) -> Result<String, NvrtcError> {
        // SAFETY: the program is there until it is dropped.
        Ok(text(&unsafe { result::get_program_log(self.0) }?))
    }

    fn ptx(&self) -> Result<String, NvrtcError> {
        // SAFETY: the program is there until it is dropped, and was compiled.
        Ok(text(&unsafe { result::get_ptx(self.0) }?))
    }

    fn cubin(&self) -> Result<Vec<u8>, NvrtcError> {
        let mut length = 0;
        // SAFETY: the program is there, and the length is a place to write to.
        unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut length) }.result()?;
        let mut bytes = vec![0u8; length];
        // SAFETY: so many bytes are room enough: the library has just said so.
        unsafe { sys::nvrtcGetCUBIN(self.0, bytes.as_mut_ptr().cast()) }.result()?;
        Ok(bytes)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program was created, and is not used any more.
        _ = unsafe { result::destroy_program(self.0) };
    }
}

/// A text that ends with zero.
fn text(characters: &[c_char]) -> String {
    let bytes: &[u8] = bytemuck::cast_slice(characters);
    CStr::from_bytes_until_nul(bytes).unwrap_or_default().to_string_lossy().into_owned()
}
