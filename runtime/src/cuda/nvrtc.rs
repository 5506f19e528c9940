//! NVIDIA's run-time compiler, loaded where it is found.

use super::usage::Usage;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr;

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
    #[error("this NVRTC can't be used: {source}")]
    Symbol {
        /// Which, as the loader says.
        #[from]
        source: libloading::Error,
    },
    /// It refuses the text.
    #[error("NVRTC refuses the kernel for {architecture}:\n{log}")]
    Compile {
        /// For what.
        architecture: String,
        /// What it says.
        log: String,
    },
    /// A text or a name has a zero byte in it.
    #[error("a zero byte can't be compiled")]
    Zero(#[from] std::ffi::NulError),
}

impl NvrtcError {
    /// What to do where the library is missing.
    pub const REMEDIES: &str = "`pip install nvidia-cuda-nvrtc-cu12` and name its libnvrtc.so.12 in SPC_NVRTC; or install the CUDA \
                                toolkit and set CUDA_HOME; or put the folder with libnvrtc.so.12 into LD_LIBRARY_PATH";
}

/// NVIDIA's run-time compiler.
#[derive(Debug)]
pub struct Nvrtc {
    library: Library,
}

/// What was compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// Machine code for the architecture.
    pub cubin: Vec<u8>,
    /// The assembly text that it was made of.
    pub ptx: String,
    /// What each function takes, by name.
    pub usage: Vec<Usage>,
    /// All that the compiler said.
    pub log: String,
}

const NAMES: [&str; 4] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "nvrtc64_120_0.dll"];

type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;

impl Nvrtc {
    /// Finds the library: in `SPC_NVRTC`, below `CUDA_HOME` or `CUDA_PATH`, or where the system's loader looks.
    ///
    /// # Errors
    /// When it is nowhere.
    pub fn find() -> Result<Self, NvrtcError> {
        let mut places: Vec<PathBuf> = std::env::var_os("SPC_NVRTC").into_iter().map(PathBuf::from).collect();
        let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
        places.extend(homes.flat_map(|home| NAMES.map(|name| PathBuf::from(&home).join("lib64").join(name))));
        places.extend(NAMES.map(PathBuf::from));
        for place in &places {
            // SAFETY: a library of that name is NVIDIA's, or what the user has named; loading it has no effect but its own start.
            if let Ok(library) = unsafe { Library::new(place) } {
                return Ok(Self { library });
            }
        }
        Err(NvrtcError::Missing { looked: places.iter().map(|place| place.display().to_string()).collect() })
    }

    /// Compiles CUDA C for an architecture such as `sm_90`.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn compile(&self, text: &str, name: &str, architecture: &str) -> Result<Compiled, NvrtcError> {
        let (text, name) = (CString::new(text)?, CString::new(name)?);
        let options = [
            CString::new(format!("--gpu-architecture={architecture}"))?,
            CString::new("--ptxas-options=-v")?,
            // Quotients of literals are as the user wrote them.
            CString::new("--diag-suppress=39")?,
        ];
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let create: Create = self.symbol("nvrtcCreateProgram")?;
        let compile: Compile = self.symbol("nvrtcCompileProgram")?;
        let destroy: Destroy = self.symbol("nvrtcDestroyProgram")?;
        let mut program: Program = ptr::null_mut();
        // SAFETY: the texts end with zero and live until the program is destroyed; it has no headers.
        let created = unsafe { create(&raw mut program, text.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null()) };
        let refused = |log: String| Err(NvrtcError::Compile { architecture: architecture.to_owned(), log });
        if created != 0 {
            return refused(format!("error {created}"));
        }
        // SAFETY: the program was created, and there are so many options, which end with zero.
        let status = unsafe { compile(program, 3, options.as_ptr()) };
        let result = self.log(program).and_then(|log| {
            if status != 0 {
                return refused(log);
            }
            let cubin = self.bytes(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")?;
            let ptx = self.text(program, "nvrtcGetPTXSize", "nvrtcGetPTX")?;
            Ok(Compiled { cubin, ptx, usage: Usage::of_log(&log), log })
        });
        // SAFETY: the program was created, and nobody uses it any more.
        unsafe { destroy(&raw mut program) };
        result
    }

    fn symbol<T: Copy>(&self, name: &str) -> Result<T, NvrtcError> {
        // SAFETY: each caller asks for a function of NVRTC's interface with its type there, which no version has changed.
        Ok(unsafe { *self.library.get::<T>(name.as_bytes())? })
    }

    fn log(&self, program: Program) -> Result<String, NvrtcError> {
        self.text(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
    }

    /// A text that ends with zero.
    fn text(&self, program: Program, size: &str, text: &str) -> Result<String, NvrtcError> {
        let bytes = self.bytes(program, size, text)?;
        let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        Ok(text.to_string_lossy().into_owned())
    }

    fn bytes(&self, program: Program, size: &str, bytes: &str) -> Result<Vec<u8>, NvrtcError> {
        let (size, text): (Size, Text) = (self.symbol(size)?, self.symbol(bytes)?);
        let mut length = 0;
        // SAFETY: the program is there, and the length is a place to write to.
        unsafe { size(program, &raw mut length) };
        let mut bytes = vec![0u8; length];
        if length > 0 {
            // SAFETY: the program is there, and so many bytes are room enough: it has just said so.
            unsafe { text(program, bytes.as_mut_ptr().cast()) };
        }
        Ok(bytes)
    }
}
