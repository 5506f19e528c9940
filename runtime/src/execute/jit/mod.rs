//! Machine code without a Rust compiler: Cranelift makes it from the loop IR, in about a millisecond.
//!
//! | file | what it does |
//! |---|---|
//! | `unit` | the functions of a kernel, one after the other |
//! | `function` | a function: what its names stand for, checks, calls of the host |
//! | `expressions`, `statements`, `fold`, `lanes` | what the nodes of the IR are |
//! | `parallel` | what a parallel loop needs: a function for chunks, one for where it is cut |
//! | `layout` | what host and machine code hand to each other |
//! | `drive` | runs a parallel loop on the chunks of [`crate::parallel`] |
//! | `doors` | what machine code calls: memory, lists, tables, sets, sorts and functions, which are those of [`crate::parallel`] |
//!
//! As in the Rust text of a kernel, every access to an element is checked, unless what is known of a loop says that it is there; whole
//! numbers wrap around, and a division by zero is an error. Nothing unwinds through machine code: a check that fails
//! notes why in the [`Run`](session::Run) and returns.

mod doors;
mod drive;
mod expressions;
mod fold;
mod function;
mod lanes;
mod layout;
mod parallel;
mod session;
mod statements;
#[cfg(test)]
mod tests;
mod unit;

use self::layout::{Kind, Layout, RUN};
use self::session::{Failure, Run, Session, Tables};
use self::unit::Unit;
use super::array::{Access, Signature};
use super::call::Call;
use super::error::Error;
use super::native::abi;
use super::native::host;
use super::unsupported::Unsupported;
use cranelift_codegen::ir::types::I64;
use cranelift_jit::JITModule;
use spc_compiler::ir::{ArrayId, ArrayRole, Kernel, Source, Structure, Verified, with_loops};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The first function of a kernel: with the frame and the session. Not zero: it failed.
type Entry = unsafe extern "C" fn(*mut u64, *mut Session<'_>) -> u64;

/// A kernel as machine code in memory.
#[derive(Debug, Clone)]
pub struct JitKernel {
    signature: Signature,
    code: Arc<Code>,
    compile_time: Duration,
}

struct Code {
    entry: Entry,
    tables: Tables,
    /// What has the memory of the code.
    module: Mutex<Option<JITModule>>,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(module) = module {
            // SAFETY: no function of it runs: each run has a reference to the code.
            unsafe { module.free_memory() };
        }
    }
}

impl JitKernel {
    /// Makes the machine code of a kernel.
    ///
    /// # Errors
    /// When the kernel has what none is made for, or the processor is none that code is made for.
    pub fn compile(kernel: &Verified<Kernel>) -> Result<Self, Unsupported> {
        let start = Instant::now();
        let kernel = &with_loops(kernel);
        let mut unit = Unit::new(kernel)?;
        let grown = |role: ArrayRole| {
            let source = role.tensor().map(|tensor| kernel.tensor(tensor).source);
            matches!(source, Some(Source::Output { structure: Structure::Appended, .. }))
        };
        let entry = unit.function(kernel, &[I64; 2], Some(1), 1, |maker, _| {
            for (id, array) in kernel.parameters() {
                maker.enter_array(id, grown(array.role));
            }
            maker.block(&kernel.body)?;
            Ok(maker.constant(0))
        })?;
        let pending = std::mem::take(&mut unit.loops);
        let drafts =
            pending.into_iter().map(|pending| pending.make(&mut unit, kernel)).collect::<Result<Vec<_>, _>>()?;
        if !unit.loops.is_empty() {
            return Err(Unsupported::new("a parallel loop in another"));
        }
        unit.module.finalize_definitions().map_err(Unsupported::new)?;
        let plans = drafts.into_iter().map(|draft| draft.plan(&unit, kernel)).collect::<Result<_, _>>()?;
        // SAFETY: the function was made with these parameters and this result.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(unit.module.get_finalized_function(entry)) };
        let arrays = kernel.arrays.iter().map(|array| (array.name.clone(), Kind::of(array.element))).collect();
        let tables = Tables { layout: Layout::of(kernel), arrays, plans };
        let code = Arc::new(Code { entry, tables, module: Mutex::new(Some(unit.module)) });
        Ok(Self { signature: Signature::of(kernel), code, compile_time: start.elapsed() })
    }

    /// How long it took to make the code.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// Runs a call, and says how long the kernel took, on the threads of the rayon pool that this is called in.
    ///
    /// # Errors
    /// When the call is of a kernel with other declarations, or a check fails.
    pub fn run(&self, call: &mut Call<'_>) -> Result<Duration, Error> {
        let kernel = call.kernel();
        self.signature.check(call.kernel(), call.parameters())?;
        let extents: Vec<usize> = call.dimensions().to_vec();
        let arrays = call.begin();
        let mut table: Vec<abi::Array> = arrays.iter_mut().map(host::lend).collect();
        let tables = &self.code.tables;
        let run = Run::new(tables);
        let mut frame = vec![0u64; tables.layout.words()];
        frame[RUN] = &raw const run as u64;
        for (place, extent) in (0u32..).zip(&extents) {
            frame[tables.layout.dimension(spc_compiler::ir::DimensionId(place))] = *extent as u64;
        }
        let ids: Vec<ArrayId> = kernel.parameters().map(|(id, _)| id).collect();
        for ((id, array), parts) in ids.iter().zip(arrays.iter()).zip(&mut table) {
            let word = tables.layout.array(*id);
            if array.parameter.access == Access::Append {
                frame[word] = &raw mut *parts as u64;
            } else {
                (frame[word], frame[word + 1]) = (parts.data as u64, parts.length as u64);
            }
        }
        let mut session = Session::new(&run);
        let start = Instant::now();
        // SAFETY: the code was made for the declarations that the call has: the frame has their extents and their arrays, which live until
        // it returns, those that are written for writing.
        let status = unsafe { (self.code.entry)(frame.as_mut_ptr(), &raw mut session) };
        let time = start.elapsed();
        drop(session);
        for (array, given) in arrays.iter_mut().zip(&table) {
            if array.parameter.access == Access::Append {
                // SAFETY: the parts of a vector of this parameter's type.
                array.data = unsafe { host::receive_data(given, array.parameter.element) };
            }
        }
        match run.into_failure() {
            Some(Failure::Stopped(message)) => Err(Error::stopped(kernel, message)),
            Some(Failure::NoMemory(array)) => Err(Error::no_memory(kernel, array)),
            Some(Failure::Interrupted) => Err(Error::interrupted(kernel)),
            None if status != 0 => Err(Error::stopped(kernel, "it stopped".to_owned())),
            None => Ok(time),
        }
    }
}
