//! The machine code of a kernel: its functions, made one after the other.

use super::Unsupported;
use super::function::{Maker, Result};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Type, Value};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use spc_compiler::ir::{ArrayId, Kernel, Ordered};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Code in the making.
pub(super) struct Unit {
    pub(super) module: JITModule,
    pub(super) config: TargetFrontendConfig,
    /// Whether the processor multiplies and adds in one instruction.
    pub(super) is_fused: bool,
    pub(super) ordered: Ordered,
    /// Loops whose functions are still to be made.
    pub(super) loops: Vec<super::parallel::Pending>,
    /// The arrays that may be in registers, and their lengths.
    pub(super) in_registers: BTreeMap<ArrayId, u64>,
    functions: usize,
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
    made.clone().map_err(Unsupported)
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

    /// Makes a function with parameters of these types and one result. `session` is the place of the session among them.
    pub(super) fn function(
        &mut self,
        kernel: &Kernel,
        parameters: &[Type],
        session: Option<usize>,
        failed: i64,
        body: impl FnOnce(&mut Maker<'_, '_>, &[Value]) -> Result<Value>,
    ) -> Result<FuncId> {
        let mut context: Context = self.module.make_context();
        let mut of_builder = FunctionBuilderContext::new();
        context.func.signature.params.extend(parameters.iter().map(|ty| AbiParam::new(*ty)));
        context.func.signature.returns.push(AbiParam::new(cranelift_codegen::ir::types::I64));
        let b = FunctionBuilder::new(&mut context.func, &mut of_builder);
        let (mut maker, values) = Maker::begin(kernel, self, b, session);
        let result = body(&mut maker, &values)?;
        maker.end(result, failed);
        self.functions += 1;
        let refused = |error: cranelift_module::ModuleError| Unsupported(format!("{error:?}"));
        let name = format!("f{}", self.functions);
        let id = self.module.declare_function(&name, Linkage::Local, &context.func.signature).map_err(refused)?;
        self.module.define_function(id, &mut context).map_err(refused)?;
        Ok(id)
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
