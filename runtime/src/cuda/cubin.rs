//! Functions of a device, compiled or found where they were compiled before.

use super::{Nvrtc, NvrtcError, Usage};
use crate::execute::cache::Cache;
use crate::execute::hash::Fnv128;
use spc_compiler::backend::cuda::{self, Module};

/// What a driver loads.
pub(super) struct Cubin {
    /// Machine code; assembly text that ends with zero where NVRTC does not know the architecture, but the driver does.
    pub(super) image: Vec<u8>,
    /// What each function takes; nothing is known of what was found in the cache.
    pub(super) usage: Vec<Usage>,
}

/// Compiles a module for an architecture, as 90 of `sm_90`, into the cache on disk. Where that folder is brought to a machine that has such a
/// device, no compiler is needed there, nor is its time taken; here no device is.
///
/// # Errors
/// When NVRTC is not there or refuses the text.
pub fn compile_ahead(module: &Module, architecture: u32) -> Result<(), NvrtcError> {
    cubin(&cuda::text(module), &module.name, architecture).map(drop)
}

/// Compiles a text for an architecture, as 90 of `sm_90`.
pub(super) fn cubin(text: &str, name: &str, architecture: u32) -> Result<Cubin, NvrtcError> {
    let cache = Cache::of_environment();
    let mut key = Fnv128::of(text.as_bytes());
    // Another version of this crate may compile with other options.
    for piece in [&architecture.to_string(), env!("CARGO_PKG_VERSION")] {
        key.write(piece.as_bytes());
    }
    let kept = format!("cubin-{key}");
    if let Some(image) = cache.bytes(&kept) {
        return Ok(Cubin { image, usage: Vec::new() });
    }
    let nvrtc = Nvrtc::find()?;
    let compiled = nvrtc.compile(text, &format!("{name}.cu"), &target(&nvrtc.architectures()?, architecture))?;
    let image = if compiled.cubin.is_empty() { [compiled.ptx.as_bytes(), b"\0"].concat() } else { compiled.cubin };
    cache.keep_bytes(&kept, &image);
    Ok(Cubin { image, usage: compiled.usage })
}

/// What to compile for: the architecture itself, or the newest that is known before it.
fn target(known: &[u32], architecture: u32) -> String {
    match known.iter().copied().filter(|&known| known <= architecture).max() {
        Some(newest) if newest < architecture => format!("compute_{newest}"),
        _ => format!("sm_{architecture}"),
    }
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn a_newer_device_gets_what_the_driver_can_translate() {
        assert_eq!(target(&[75, 80, 90], 90), "sm_90");
        assert_eq!(target(&[75, 80, 90], 89), "compute_80");
        assert_eq!(target(&[75, 80, 90], 120), "compute_90");
        // NVRTC says what is wrong with it.
        assert_eq!(target(&[75, 80, 90], 50), "sm_50");
    }
}
