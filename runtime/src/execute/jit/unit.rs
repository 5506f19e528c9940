//! The machine code of a kernel: its functions, made one after the other.

use crate::execute::unsupported::Unsupported;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use spc_compiler::ir::{ArrayId, Kernel, Ordered, Parallel, Type as IrType, VariableId};
use std::collections::BTreeMap;
use std::sync::OnceLock;

pub(super) type Result<T> = std::result::Result<T, Unsupported>;

/// A loop whose functions are still to be made.
pub(super) struct Pending {
    pub(super) node: Parallel,
    pub(super) variables: Vec<(VariableId, IrType)>,
    pub(super) arrays: Vec<(ArrayId, Left)>,
}

/// What is left of an array in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Slice,
    Grown,
}

/// Code in the making.
pub(super) struct Unit {
    pub(super) module: JITModule,
    pub(super) config: TargetFrontendConfig,
    /// Whether the processor multiplies and adds in one instruction.
    pub(super) is_fused: bool,
    pub(super) ordered: Ordered,
    /// Loops whose functions are still to be made.
    pub(super) loops: Vec<Pending>,
    /// The arrays that may be in registers, and their lengths.
    pub(super) in_registers: BTreeMap<ArrayId, u64>,
    pub(super) functions: usize,
}

/// What code is made for: this processor.
fn target() -> Result<OwnedTargetIsa> {
    static TARGET: OnceLock<std::result::Result<OwnedTargetIsa, String>> = OnceLock::new();
    let made = TARGET.get_or_init(|| {
        let mut flags = settings::builder();
        let wishes = [
            ("opt_level", "speed"),
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ];
        for (name, value) in wishes {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }
        let target = cranelift_native::builder().map_err(str::to_owned)?;
        target.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
    });
    made.clone().map_err(Unsupported::new)
}

impl Unit {
    pub(super) fn new(kernel: &Kernel) -> Result<Self> {
        let builder = JITBuilder::with_isa(target()?, default_libcall_names());
        let module = JITModule::new(builder);
        let config = module.isa().frontend_config();
        let mut unit = Self {
            module,
            config,
            is_fused: is_fused(),
            ordered: Ordered::of(kernel),
            loops: Vec::new(),
            in_registers: BTreeMap::new(),
            functions: 0,
        };
        unit.find_registers(kernel);
        Ok(unit)
    }
}

#[cfg(target_arch = "x86_64")]
fn is_fused() -> bool {
    std::arch::is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn is_fused() -> bool {
    cfg!(target_arch = "aarch64")
}
