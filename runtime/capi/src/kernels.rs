//! Kernels.

use crate::handles::{self, Object};
use crate::memory::{self, Target};
use crate::status::{Failure, Status, guard};
use spc::execute::{Backend, Input, Kernel, KernelBuilder, Value};
use spc::tensor::{AnyTensor, LevelArrays};
use spc_compiler::backend::c;
use spc_compiler::format::Format;
use std::ffi::c_char;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// More inputs or results than any kernel has.
const MOST: u64 = 1 << 16;

/// Begins a kernel.
#[unsafe(no_mangle)]
pub extern "C" fn spc_builder_new(text: *const c_char, result: *mut u64) -> Status {
    guard(|| {
        memory::check(result, "result")?;
        let builder = Kernel::builder(memory::text(text, "text")?);
        memory::put(result, "result", handles::keep(Object::Builder(Arc::new(Mutex::new(builder)))))
    })
}

fn change(builder: u64, how: impl FnOnce(KernelBuilder) -> KernelBuilder) -> Result<(), Failure> {
    let builder = handles::builder(builder)?;
    let mut place = builder.lock().unwrap_or_else(PoisonError::into_inner);
    *place = how(place.clone());
    Ok(())
}

/// How a tensor of an assignment is stored.
#[unsafe(no_mangle)]
pub extern "C" fn spc_builder_format(builder: u64, tensor: *const c_char, format: *const c_char) -> Status {
    guard(|| {
        let (tensor, format) = (memory::text(tensor, "tensor")?, memory::text(format, "format")?);
        change(builder, |builder| builder.format(tensor, format))
    })
}

/// The extent of an index.
#[unsafe(no_mangle)]
pub extern "C" fn spc_builder_extent(builder: u64, index: *const c_char, extent: u64) -> Status {
    guard(|| {
        let index = memory::text(index, "index")?;
        let extent = usize::try_from(extent).map_err(|_| Failure::argument("the extent is too large"))?;
        change(builder, |builder| builder.dimension(index, extent))
    })
}

/// How many threads of its own the kernel runs on.
#[unsafe(no_mangle)]
pub extern "C" fn spc_builder_threads(builder: u64, count: u32) -> Status {
    guard(|| {
        let most = spc::parallel::most_threads();
        if count == 0 || count as usize > most {
            return Err(Failure::argument(format!("a kernel runs on 1 to {most} threads, not on {count}")));
        }
        change(builder, |builder| builder.threads(count as usize))
    })
}

/// What runs the kernel.
#[unsafe(no_mangle)]
pub extern "C" fn spc_builder_backend(builder: u64, backend: *const c_char) -> Status {
    guard(|| {
        let named = memory::text(backend, "backend")?;
        let known = [Backend::Native, Backend::Jit, Backend::Interpreter];
        let found = known.into_iter().find(|backend| backend.name() == named);
        let found = found.ok_or_else(|| {
            let message = format!("there is no backend `{named}`: say \"native\", \"jit\" or \"interpreter\"");
            Failure::argument(message)
        })?;
        change(builder, |builder| builder.backend(found))
    })
}

/// Whether the same inputs give the same bits on any number of threads.
#[unsafe(no_mangle)]
pub extern "C" fn spc_builder_deterministic(builder: u64) -> Status {
    guard(|| change(builder, KernelBuilder::deterministic))
}

/// Compiles what was begun, which stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn spc_kernel_compile(builder: u64, result: *mut u64) -> Status {
    guard(|| {
        memory::check(result, "result")?;
        let builder = handles::builder(builder)?.lock().unwrap_or_else(PoisonError::into_inner).clone();
        memory::put(result, "result", handles::keep(Object::Kernel(Arc::new(builder.compile()?))))
    })
}

/// The number of inputs and of results.
#[unsafe(no_mangle)]
pub extern "C" fn spc_kernel_counts(kernel: u64, inputs: *mut u64, results: *mut u64) -> Status {
    guard(|| {
        let kernel = handles::kernel(kernel)?;
        memory::check(results, "results")?;
        memory::put(inputs, "inputs", kernel.inputs().count() as u64)?;
        memory::put(results, "results", kernel.results().count() as u64)
    })
}

/// An input, or behind all of them a result, as it is declared: `A: f64 [dense, compressed]`.
#[unsafe(no_mangle)]
pub extern "C" fn spc_kernel_parameter(
    kernel: u64,
    place: u64,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> Status {
    guard(|| {
        let kernel = handles::kernel(kernel)?;
        let mut names = kernel.inputs().chain(kernel.results());
        let name = usize::try_from(place).ok().and_then(|place| names.nth(place));
        let name =
            name.ok_or_else(|| Failure::argument(format!("the kernel has no parameter {place}, counted from 0")))?;
        memory::give_text(&declared(&kernel, name), buffer, capacity, length)
    })
}

/// A tensor of a kernel, in the words of a declaration.
fn declared(kernel: &Kernel, name: &str) -> String {
    let compiled = kernel.compiled();
    let of_kernels = compiled.kernels.iter().flat_map(|compiled| &compiled.kernel.tensors);
    let mut tensors = compiled.declarations.tensors.iter().chain(of_kernels);
    tensors.find(|tensor| tensor.name == name).map_or_else(
        || name.to_owned(),
        |tensor| {
            let format = tensor.delivered.as_ref().unwrap_or(&tensor.format);
            match format.order {
                0 => format!("{name}: {}", tensor.element.name()),
                _ => format!("{name}: {} {format}", tensor.element.name()),
            }
        },
    )
}

/// What there is to say about a kernel.
#[unsafe(no_mangle)]
pub extern "C" fn spc_kernel_text(
    kernel: u64,
    what: *const c_char,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> Status {
    guard(|| {
        let kernel = handles::kernel(kernel)?;
        let what = memory::text(what, "what")?;
        let text = match &what[..] {
            "rust" => kernel.text(),
            "c" => c::unit(kernel.compiled().kernels.iter().map(|compiled| &compiled.kernel)).source,
            "backend" => kernel.backend().name().to_owned(),
            "fallback" => kernel.without_compiler().map(ToString::to_string).unwrap_or_default(),
            "warnings" => {
                let lines = kernel.warnings().iter().map(|warning| format!("{}: {}", warning.code, warning.message));
                lines.collect::<Vec<_>>().join("\n")
            }
            other => {
                let message = format!("`{other}`: say \"rust\", \"c\", \"backend\", \"fallback\" or \"warnings\"");
                return Err(Failure::argument(message));
            }
        };
        memory::give_text(&text, buffer, capacity, length)
    })
}

/// The inputs of a call.
fn inputs(handles: *const u64, count: u64) -> Result<Vec<Arc<AnyTensor>>, Failure> {
    few(count, "inputs")?;
    memory::list(handles, count, "inputs")?.iter().map(|handle| handles::tensor(*handle)).collect()
}

fn few(count: u64, name: &str) -> Result<(), Failure> {
    if count > MOST {
        return Err(Failure::argument(format!("no kernel has {count} {name}")));
    }
    Ok(())
}

fn as_inputs(tensors: &[Arc<AnyTensor>]) -> Vec<&dyn Input> {
    tensors.iter().map(|tensor| tensor as &dyn Input).collect()
}

/// Calls a kernel; each result is a tensor of its own.
#[unsafe(no_mangle)]
pub extern "C" fn spc_kernel_call(
    kernel: u64,
    input_handles: *const u64,
    input_count: u64,
    results: *mut u64,
    result_count: u64,
) -> Status {
    guard(|| {
        let kernel = handles::kernel(kernel)?;
        let wanted = kernel.results().count();
        if result_count != wanted as u64 {
            let message = format!("`{}` has {wanted} results, but there is room for {result_count}", kernel.name());
            return Err(Failure::new(Status::Call, message));
        }
        let places = memory::room(results, result_count, "results")?;
        let tensors = inputs(input_handles, input_count)?;
        let mut outputs = kernel.call(&as_inputs(&tensors))?;
        let taken = kernel.results().map(|name| outputs.take::<AnyTensor>(name)).collect::<Result<Vec<_>, _>>()?;
        places
            .iter_mut()
            .zip(taken)
            .for_each(|(place, tensor)| *place = handles::keep(Object::Tensor(Arc::new(tensor))));
        Ok(())
    })
}

/// Calls a kernel with dense results, and writes them into arrays of the caller's.
#[unsafe(no_mangle)]
pub extern "C" fn spc_kernel_call_into(
    kernel: u64,
    input_handles: *const u64,
    input_count: u64,
    targets: *const Target,
    target_count: u64,
) -> Status {
    guard(|| {
        let kernel = handles::kernel(kernel)?;
        few(target_count, "results")?;
        let targets = memory::list(targets, target_count, "targets")?;
        let tensors = inputs(input_handles, input_count)?;
        let mut taken: Vec<Range<usize>> = tensors.iter().flat_map(|tensor| places(tensor)).collect();
        let mut results = Vec::with_capacity(targets.len());
        for target in targets {
            results.push(lent(target, &mut taken)?);
        }
        let values: Vec<&mut dyn Value> = results.iter_mut().map(|result| result as &mut dyn Value).collect();
        kernel.call_into(&as_inputs(&tensors), values)?;
        // A kernel that sorts or converts its result in the end has made an array of its own.
        for (target, result) in targets.iter().zip(&results) {
            if range(result.values().as_bytes()) != memory::range_of(target)? {
                memory::give(result.values(), target)?;
            }
        }
        Ok(())
    })
}

/// A target as a tensor, whose memory nothing else of the call has.
fn lent(target: &Target, taken: &mut Vec<Range<usize>>) -> Result<AnyTensor, Failure> {
    let shape = memory::shape(target.shape, target.order.min(256))?;
    let (order, format) = (shape.len(), Format::dense(shape.len()));
    let values = memory::target(target)?;
    let place = memory::range_of(target)?;
    if taken.iter().any(|other| place.start < other.end && other.start < place.end) {
        return Err(Failure::argument(
            "a target shares memory with an input or with another target: give another array",
        ));
    }
    taken.push(place);
    AnyTensor::from_parts(shape, format, vec![LevelArrays::NONE; order], values).map_err(Failure::tensor)
}

/// Where the arrays of a tensor lie.
fn places(tensor: &AnyTensor) -> Vec<Range<usize>> {
    let of_levels = tensor.levels().iter().flat_map(|level| [level.positions(), level.coordinates()]).flatten();
    of_levels.map(|array| array.as_bytes()).chain([tensor.values().as_bytes()]).map(range).collect()
}

fn range(bytes: &[u8]) -> Range<usize> {
    let first = bytes.as_ptr() as usize;
    first..first + bytes.len()
}
