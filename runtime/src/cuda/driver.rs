//! The driver's library, as far as it is used here: loaded where it is found, with errors that say what was asked.

use super::CudaError;
use cudarc::driver::{result, sys};

/// What is called of the library: `cudarc` panics where one is missing.
const FUNCTIONS: [&str; 32] = [
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxSetCurrent",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuStreamCreate",
    "cuStreamSynchronize",
    "cuStreamDestroy_v2",
    "cuDeviceGetDefaultMemPool",
    "cuMemPoolSetAttribute",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuMemGetInfo_v2",
    "cuMemsetD8Async",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuEventDestroy_v2",
];

/// Finds the driver and starts it.
pub(super) fn start() -> Result<(), CudaError> {
    // SAFETY: a library of that name is NVIDIA's driver; loading it has no effect but its own start.
    if !unsafe { sys::is_culib_present() } {
        return Err(CudaError::NoDriver);
    }
    // SAFETY: the library is there, as was just found out; a symbol is looked up, not called.
    let has = |function: &&&str| unsafe { sys::culib().get::<*const ()>(function.as_bytes()) }.is_ok();
    if let Some(function) = FUNCTIONS.iter().find(|function| !has(function)) {
        return Err(CudaError::OldDriver { function });
    }
    asked("start", result::init())
}

/// The number of devices.
pub(super) fn devices() -> Result<usize, CudaError> {
    let count = asked("count devices", result::device::get_count())?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// What the driver gave, or what was asked of it and what it says.
pub(super) fn asked<T>(what: &str, answer: Result<T, result::DriverError>) -> Result<T, CudaError> {
    answer.map_err(|error| CudaError::Driver { what: what.to_owned(), message: said(error) })
}

/// What the driver says of an error.
pub(super) fn said(error: result::DriverError) -> String {
    match (error.error_name(), error.error_string()) {
        (Ok(name), Ok(text)) => format!("{} ({})", text.to_string_lossy(), name.to_string_lossy()),
        _ => format!("error {:?}", error.0),
    }
}
