//! Which elements of tensors a run touches, one after the other: what a drawing that moves shows.

use spc_compiler::format::Role;
use spc_compiler::ir::{ArrayRole, Kernel};
use std::cell::RefCell;
use std::ops::Range;

/// An element that was read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The tensor, as the kernel calls it.
    pub tensor: String,
    /// Which index array of a level, counted from the outermost; nothing for a value.
    pub index_array: Option<(Role, usize)>,
    /// The place in the array.
    pub place: usize,
    /// Whether it was written.
    pub is_written: bool,
}

/// What was touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// In the order of the run.
    pub touches: Vec<Touch>,
    /// Whether there was more than was asked for.
    pub is_cut: bool,
    most: usize,
}

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// The first elements of tensors that the interpreter touches on this thread while something runs, `most` at most. Meanwhile loops run in
/// order, and parallel loops are not cut.
///
/// ```
/// use spc::execute::interpreter::traced;
/// use spc::execute::{Backend, Program, ProgramOptions};
/// use spc::tensor::{Coordinates, Indices};
/// use spc_compiler::{notation, syntax};
///
/// let program = syntax::parse_program("fn sum(x: [compressed]) -> s: f64 { s = x(i); }").unwrap();
/// let kernels = notation::check(&program).unwrap();
/// let indices = vec![Indices::U32(vec![1, 4])];
/// let x = Coordinates { shape: vec![5], shape_is_stated: true, indices, values: vec![2.0, 3.0] };
/// let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
/// let program = Program::new(&kernels[0], vec![("x".to_owned(), x.into())], &[], &options)?;
/// let (_, trace) = traced(100, || program.run(1));
/// let values = trace.touches.iter().filter(|touch| touch.tensor == "x" && touch.index_array.is_none());
/// assert_eq!(values.map(|touch| touch.place).collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn traced<R>(most: usize, run: impl FnOnce() -> R) -> (R, Trace) {
    let before = TRACE.replace(Some(Trace { most, ..Trace::default() }));
    let result = run();
    (result, TRACE.replace(before).unwrap_or_default())
}

/// Whether something asks for a trace.
pub(super) fn is_on() -> bool {
    TRACE.with_borrow(Option::is_some)
}

/// Notes elements of an array, if something asks for it and the array is one of a tensor.
pub(super) fn touch(kernel: &Kernel, array: usize, places: Range<usize>, is_written: bool) {
    TRACE.with_borrow_mut(|trace| {
        let Some(trace) = trace else { return };
        let role = &kernel.arrays[array].role;
        let (tensor, index_array) = match *role {
            ArrayRole::Positions { tensor, level } => (tensor, Some((Role::Positions, level))),
            ArrayRole::Coordinates { tensor, level } => (tensor, Some((Role::Coordinates, level))),
            ArrayRole::Values { tensor } => (tensor, None),
            ArrayRole::Local => return,
        };
        let tensor = &kernel.tensor(tensor).name;
        for place in places {
            if trace.touches.len() == trace.most {
                trace.is_cut = true;
                return;
            }
            trace.touches.push(Touch { tensor: tensor.clone(), index_array, place, is_written });
        }
    });
}
