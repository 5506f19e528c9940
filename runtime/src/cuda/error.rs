//! Why nothing runs on a GPU.

use super::NvrtcError;

/// Why a kernel can't be brought to a GPU.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver's library is not there.
    #[error("there is no CUDA driver on this machine: the loader finds no libcuda.so.1")]
    NoDriver,
    /// The driver lacks a function.
    #[error("this CUDA driver has no `{function}`: it is older than CUDA 12.0")]
    OldDriver {
        /// Which.
        function: &'static str,
    },
    /// There is no such device.
    #[error("there is no CUDA device {asked}: the driver sees {count}")]
    NoDevice {
        /// What was asked for, counted from 0.
        asked: usize,
        /// How many there are.
        count: usize,
    },
    /// The driver refuses.
    #[error("the CUDA driver can't {what}: {message}")]
    Driver {
        /// What was asked of it.
        what: String,
        /// What it says.
        message: String,
    },
    /// A kernel has what can't run on a device.
    #[error("`{kernel}` can't run on a device: {what}; {help}")]
    Refused {
        /// The kernel.
        kernel: String,
        /// What can't be done there.
        what: String,
        /// What to do about it.
        help: String,
    },
    /// The text can't be compiled.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
}

impl CudaError {
    /// What to do about it, where that is not in the message.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            CudaError::NoDriver | CudaError::OldDriver { .. } => Some(
                "install NVIDIA's driver on a machine with a GPU; or leave `--backend cuda` out, and the kernel runs on the \
                 processor; or print it, and run it elsewhere: `spc compile --target cuda`",
            ),
            CudaError::NoDevice { .. } => {
                Some("`nvidia-smi -L` lists the devices; CUDA_VISIBLE_DEVICES says which of them programs see")
            }
            CudaError::Nvrtc(NvrtcError::Missing { .. }) => Some(NvrtcError::REMEDIES),
            _ => None,
        }
    }
}
