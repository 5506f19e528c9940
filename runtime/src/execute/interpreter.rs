//! Runs a kernel of the loop IR on arrays in memory, slowly and carefully.
//!
//! What goes in is a verified kernel, the sizes of its dimensions and its array parameters; the outputs come back in the
//! same arrays. It is for tests, and for machines without a compiler: what generated code leaves unchecked is checked here.
//!
//! * Every access is within bounds, index arithmetic does not wrap, stored indices fit their width, integers are not
//!   divided by zero. Integer elements wrap, `f32` is computed in `f32`: as the generated Rust does.
//! * A parallel loop is cut at random places, also into empty chunks, which run one after the other in random order. A chunk
//!   must stay within its part of an owned array; and whatever the loop declares, no two chunks may write one place, nor may
//!   one read what another wrote.
//! * A vector loop runs its iterations in a random order.
//!
//! The same seed gives the same run. While it is [`traced`], nothing is cut or shuffled.
//!
//! ```
//! use spc::execute::interpreter::{ArrayValue, Options, run};
//! use spc_compiler::ir;
//!
//! let text = "kernel double {
//!   dimension d0 i runtime
//!   tensor t0 x f64 [dense] (d0) input
//!   tensor t1 y f64 [dense] (d0) output dense zero
//!   array a0 x_vals f64 values t0
//!   array a1 y_vals f64 values t1
//!   variable v0 i index
//!   body { for v0 in 0..d0 { a1[v0] = 2.0f64 * a0[v0] } }
//! }";
//! let kernel = ir::verify(ir::parse(text, spc_compiler::level::named)?).unwrap();
//! let mut arrays = [ArrayValue::F64(vec![1.0, 2.0]), ArrayValue::F64(vec![0.0, 0.0])];
//! run(&kernel, &[2], &mut arrays, &Options::default())?;
//! assert_eq!(arrays[1], ArrayValue::F64(vec![2.0, 4.0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrays;
mod counts;
mod expressions;
mod parallel;
mod random;
mod statements;
#[cfg(test)]
mod tests;
mod trace;
mod values;

pub use arrays::ArrayValue;
pub use counts::{Counts, counted};
pub use trace::{Touch, Trace, traced};

use crate::parallel::{NoMemory, Question, question};
use arrays::{Buffer, Slot};
use parallel::Chunk;
use random::Random;
use spc_compiler::ir::{ArrayRole, Kernel, Size, Source, Structure, Verified};
use std::rc::Rc;
use values::Value;

/// How to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// What chooses the cuts of parallel loops and the order of chunks and of vector iterations.
    pub seed: u64,
}

/// Why a kernel stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// It did what it must not.
    Kernel,
    /// The data: a whole number was divided by zero.
    DivisionByZero,
    /// There was no memory for an array.
    NoMemory(NoMemory),
    /// Somebody has asked it to stop.
    Interrupted,
}

/// What went wrong in a kernel, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Fault {
    /// The way to the statement, such as `body/2.for/0.store`.
    pub path: String,
    /// What it did.
    pub message: String,
    /// Who is to blame.
    pub cause: Cause,
}

/// Runs a kernel.
///
/// `dimensions` are the sizes of the kernel's dimensions, `arrays` its array parameters, both in the kernel's order. Arrays of
/// appended outputs are empty; those of other outputs have their length.
///
/// # Errors
/// The first thing that generated code could not survive. The arrays then hold what they held at that moment, or, for those
/// that a parallel loop was writing, what they held before it.
pub fn run(
    kernel: &Verified<Kernel>,
    dimensions: &[u64],
    arrays: &mut [ArrayValue],
    options: &Options,
) -> Result<(), Fault> {
    check_call(kernel, dimensions, arrays)?;
    let mut machine = Machine::new(kernel, dimensions, arrays, options.seed);
    let result = machine.block(&kernel.body);
    for (array, buffer) in arrays.iter_mut().zip(machine.buffers) {
        *array = buffer.data;
    }
    result.map_err(|problem| problem.into_fault())
}

/// That the arguments are those that the kernel declares.
fn check_call(kernel: &Kernel, dimensions: &[u64], arrays: &[ArrayValue]) -> Result<(), Fault> {
    let fault =
        |message: String| Err(Fault { path: format!("call of {}", kernel.name), message, cause: Cause::Kernel });
    if dimensions.len() != kernel.dimensions.len() {
        return fault(format!("{} dimensions for {}", dimensions.len(), kernel.dimensions.len()));
    }
    for (declared, &given) in kernel.dimensions.iter().zip(dimensions) {
        if let Size::Constant(size) = declared.size
            && size != given
        {
            return fault(format!("dimension {} is {size}, not {given}", declared.name));
        }
    }
    let parameters = kernel.parameters().count();
    if parameters != arrays.len() {
        return fault(format!("{} arrays for {parameters}", arrays.len()));
    }
    for ((_, declared), given) in kernel.parameters().zip(arrays) {
        if !given.holds(declared.element) {
            return fault(format!("{} holds {}, but was given otherwise", declared.name, declared.element));
        }
        let appended = declared.role.tensor().is_some_and(|tensor| {
            matches!(kernel.tensor(tensor).source, Source::Output { structure: Structure::Appended, .. })
        });
        if appended && !given.is_empty() {
            return fault(format!("{} is appended to, but does not start empty", declared.name));
        }
    }
    Ok(())
}

/// A kernel at work.
struct Machine<'k> {
    kernel: &'k Kernel,
    dimensions: &'k [u64],
    variables: Vec<Value>,
    /// What each array stands for at the moment.
    slots: Vec<Slot>,
    /// For each array its own buffer, used unless it is a view; then for each a chunk's copy.
    buffers: Vec<Buffer>,
    /// The chunk that runs, in a parallel loop.
    chunk: Option<Chunk>,
    /// The stamp of the last chunk: no two chunks of the run share one.
    stamp: u64,
    random: Random,
    /// What asks whether to stop, and how many blocks have run since it was asked.
    question: Option<Rc<Question>>,
    since: u32,
}

impl<'k> Machine<'k> {
    /// Takes the arrays from where they are; the caller puts them back.
    fn new(kernel: &'k Kernel, dimensions: &'k [u64], arrays: &mut [ArrayValue], seed: u64) -> Self {
        let mut given = arrays.iter_mut();
        let own = kernel.arrays.iter().map(|array| match array.role {
            ArrayRole::Local => Buffer::default(),
            _ => Buffer { data: given.next().map(std::mem::take).unwrap_or_default(), ..Buffer::default() },
        });
        let mut buffers: Vec<Buffer> = own.collect();
        buffers.resize_with(2 * kernel.arrays.len(), Buffer::default);
        Self {
            kernel,
            dimensions,
            variables: vec![Value::Index(0); kernel.variables.len()],
            slots: (0..kernel.arrays.len()).map(Slot::whole).collect(),
            buffers,
            chunk: None,
            stamp: 0,
            random: if trace::is_on() { Random::greatest() } else { Random::new(seed) },
            question: question(),
            since: 0,
        }
    }
}
