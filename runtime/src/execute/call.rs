//! One call of a kernel: the tensors on both sides of it, and the arrays that it sees.
//!
//! A kernel declares its tensors, the dimensions that they share and the arrays that they are made of. A [`Call`] checks that
//! the inputs fit the declarations, finds out the extents, makes the sorted copies that the kernel asks for and the
//! arrays of its outputs. Then something runs the kernel on those arrays: the interpreter, a library that was compiled
//! at run time, or a function that `tensor_kernel!` wrote. [`Call::finish`] makes tensors of what it left.
//!
//! ```text
//! inputs ──Call::new──▶ Call ──arrays──▶ kernel ──arrays──▶ Call ──finish──▶ outputs
//!                        ▲
//!          Call::reuse ──┘  (an output's memory, for `…_into`)
//! ```
//!
//! Arrays go by their place among the kernel's parameters ([`Kernel::parameters`]). Input arrays are shared, not copied. What is
//! put back is checked for its length, in debug builds for all that a tensor promises: it is for generated code.
//!
//! What follows is what generated code does around a kernel.
//!
//! ```
//! # use spc::execute::{Call, Error};
//! # use spc::tensor::AnyTensor;
//! # use spc_compiler::ir::Kernel;
//! fn spmv(declaration: &Kernel, a: &AnyTensor, x: &AnyTensor) -> Result<AnyTensor, Error> {
//!     let mut call = Call::new(declaration, &[a, x])?;
//!     let rows = call.dimension(0);
//!     let (pos, crd) = (call.input_index::<u32>(0), call.input_index::<u32>(1));
//!     let (a, x) = (call.input_values::<f64>(2), call.input_values::<f64>(3));
//!     let mut y = call.take_values::<f64>(4);
//!     for row in 0..rows {
//!         let children = pos[row] as usize..pos[row + 1] as usize;
//!         y[row] = children.map(|position| a[position] * x[crd[position] as usize]).sum();
//!     }
//!     call.put_values(4, y);
//!     Ok(call.finish()?.remove(0))
//! }
//! ```

use super::around::Copied;
use super::array::{Access, Array, Data, Parameter, Stored};
use super::error::Error;
use super::extents::{check_outputs, extents};
use super::output::{
    Levels, appended_levels, assemble, check_count, fill, is_rectangular, same_structure, spoil, value_count,
};
#[cfg(feature = "compile")]
use crate::tensor::AnyView;
use crate::tensor::{AnyTensor, Buffer, Element, Index, Listed, Shared, Values, values::with_values};
use spc_compiler::format::Format;
use spc_compiler::ir::{ArrayRole, Initial, Kernel, Pivot, Source, Structure, Tensor, TensorId};
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One call of a kernel; the [module's page](self) shows its way.
#[derive(Debug)]
pub struct Call<'k> {
    kernel: &'k Kernel,
    /// The extent of each dimension.
    dimensions: Vec<usize>,
    /// Inputs and sorted copies, by [`TensorId`]; `None` for outputs.
    tensors: Vec<Option<Operand<'k>>>,
    /// The kernel's parameters.
    arrays: Vec<Array>,
    /// Whether there is memory for the outputs.
    is_allocated: bool,
    /// Whether a kernel has run on the arrays, so that those of outputs must be made new before one runs again.
    used: bool,
    copies: Vec<Copied>,
    /// Whether the clock is read: that takes as long as some kernels.
    is_timed: bool,
    allocate_time: Duration,
}

/// A tensor that a kernel reads.
#[derive(Debug, Clone)]
pub(super) enum Operand<'k> {
    /// The caller's.
    Lent(&'k AnyTensor),
    /// Arrays of the caller's.
    #[cfg(feature = "compile")]
    Viewed(Arc<AnyView<'k>>),
    /// One that somebody has made for the call.
    Own(Arc<AnyTensor>),
}

impl Operand<'_> {
    pub(super) fn own(tensor: AnyTensor) -> Self {
        Operand::Own(Arc::new(tensor))
    }

    /// The tensor, out of the operand where that is the last that has it.
    pub(super) fn into_owned(self) -> AnyTensor {
        match self {
            Operand::Lent(tensor) => tensor.clone(),
            #[cfg(feature = "compile")]
            Operand::Viewed(view) => AnyTensor::clone(&view),
            Operand::Own(tensor) => Arc::unwrap_or_clone(tensor),
        }
    }
}

impl Deref for Operand<'_> {
    type Target = AnyTensor;

    fn deref(&self) -> &AnyTensor {
        match self {
            Operand::Lent(tensor) => tensor,
            #[cfg(feature = "compile")]
            Operand::Viewed(view) => view,
            Operand::Own(tensor) => tensor,
        }
    }
}

/// The inputs of a call, among other tensors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inputs<'s, 'k> {
    pub(super) all: &'s [Option<Operand<'k>>],
    /// Where each of them is.
    pub(super) places: &'s [usize],
    /// Tensors that are kept from one call to the next, and the number of the kernel.
    pub(super) kept: Option<(&'s Kept, usize)>,
}

/// Tensors that are the same in each of several calls of a chain: sorted copies of operands, and what kernels make of such operands.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The places of tensors that are the same in each call.
    fixed: BTreeSet<usize>,
    /// By the number of a kernel and that of the copy in it.
    copies: Mutex<BTreeMap<(usize, usize), Arc<AnyTensor>>>,
    /// What kernels made, by their numbers.
    made: Mutex<BTreeMap<usize, Vec<Arc<AnyTensor>>>>,
}

impl Kept {
    pub(super) fn new(fixed: BTreeSet<usize>) -> Self {
        Self { fixed, ..Self::default() }
    }

    fn copies(&self) -> MutexGuard<'_, BTreeMap<(usize, usize), Arc<AnyTensor>>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a tensor is the same in each call.
    pub(super) fn is_fixed(&self, place: usize) -> bool {
        self.fixed.contains(&place)
    }

    /// What a kernel made in a call before.
    pub(super) fn made(&self, number: usize) -> Option<Vec<Arc<AnyTensor>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    pub(super) fn set_made(&self, number: usize, outputs: Vec<Arc<AnyTensor>>) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(number, outputs);
    }
}

impl<'s, 'k> Inputs<'s, 'k> {
    fn iter(self) -> impl Iterator<Item = &'s Operand<'k>> + Clone {
        self.places.iter().filter_map(move |&place| self.all[place].as_ref())
    }

    fn tensors(self) -> impl Iterator<Item = &'s AnyTensor> + Clone {
        self.iter().map(|operand| &**operand)
    }
}

/// An array of an input, as long as the call may have it.
#[derive(Debug)]
pub struct Held<'k, T> {
    elements: Shared<T>,
    inputs: PhantomData<&'k [T]>,
}

impl<T> Held<'_, T> {
    /// The elements of a call's array, for no longer than the call has it.
    fn new(elements: &Shared<T>) -> Self {
        // SAFETY: the lifetime is that of the call's inputs.
        Self { elements: unsafe { elements.alias() }, inputs: PhantomData }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.elements.as_slice()
    }
}

/// Where a call has its extents from.
pub(super) enum Extents<'a> {
    /// From its inputs, and as stated by name.
    Find(&'a [(&'a str, usize)]),
    /// As they were found before, for inputs of the same shapes.
    Known(&'a [usize]),
}

/// The inputs in the formats that a kernel declares; those that have them already are shared, not copied.
///
/// # Errors
/// When the number of inputs or an order or element type is not as declared, or an input can't be converted.
pub fn conform(kernel: &Kernel, inputs: &[&AnyTensor]) -> Result<Vec<AnyTensor>, Error> {
    check_inputs(kernel, inputs.iter().copied())?;
    declared_inputs(kernel).zip(inputs).map(|(declared, input)| convert(declared, input)).collect()
}

/// The declarations of inputs.
pub(super) fn declared_inputs(kernel: &Kernel) -> impl Iterator<Item = &Tensor> + Clone {
    kernel.tensors.iter().filter(|tensor| tensor.source == Source::Input)
}

/// Checks that there are as many inputs as are declared, each of its order and element type.
pub(super) fn check_inputs<'a>(
    kernel: &Kernel,
    inputs: impl Iterator<Item = &'a AnyTensor> + Clone,
) -> Result<(), Error> {
    let (expected, found) = (declared_inputs(kernel).count(), inputs.clone().count());
    if expected != found {
        let expected = declared_inputs(kernel).map(|tensor| format!("`{}`", tensor.name)).collect();
        return Err(Error::InputCount { kernel: kernel.name.clone(), expected, found });
    }
    for (declared, input) in declared_inputs(kernel).zip(inputs) {
        let tensor = || declared.name.clone();
        if input.order() != declared.format.order {
            return Err(Error::Order { tensor: tensor(), expected: declared.format.order, found: input.order() });
        }
        if input.element() != declared.element {
            return Err(Error::Element { tensor: tensor(), expected: declared.element, found: input.element() });
        }
    }
    Ok(())
}

/// The same entries in the format of a declaration.
fn convert(declared: &Tensor, tensor: &AnyTensor) -> Result<AnyTensor, Error> {
    if *tensor.format() == declared.format {
        return Ok(tensor.clone());
    }
    tensor.convert(&declared.format).map_err(|source| not_converted(declared, source))
}

fn not_converted(declared: &Tensor, source: crate::tensor::PackError) -> Error {
    Error::Convert { tensor: declared.name.clone(), format: declared.format.to_string(), source }
}

/// Checks that inputs have the entries that the kernel walks for them.
fn check_patterns(kernel: &Kernel, inputs: Inputs<'_, '_>) -> Result<(), Error> {
    let declared_with = || declared_inputs(kernel).zip(inputs.tensors());
    for (declared, input) in declared_with() {
        let other = declared.pattern.and_then(|other| declared_with().nth(other.index()));
        if let Some((other, of)) = other
            && !(input.shape() == of.shape() && same_structure(of.levels().iter(), input.levels()))
        {
            return Err(Error::Pattern { tensor: declared.name.clone(), other: other.name.clone() });
        }
    }
    Ok(())
}

/// The tensors that a kernel reads, each at its [`TensorId`]: inputs as they are, sorted copies made of them, which `copies` lists.
fn read_tensors<'k>(
    kernel: &Kernel,
    inputs: Inputs<'_, 'k>,
    copies: &mut Vec<Copied>,
) -> Result<Vec<Option<Operand<'k>>>, Error> {
    let mut rest = inputs.iter().cloned();
    let mut places = inputs.places.iter();
    // For each tensor, whether it is the same in the next call.
    let mut are_fixed = Vec::with_capacity(kernel.tensors.len());
    let mut tensors: Vec<Option<Operand<'k>>> = Vec::with_capacity(kernel.tensors.len());
    for (number, declared) in kernel.tensors.iter().enumerate() {
        let kept = match (declared.source, inputs.kept) {
            (Source::Input, Some((kept, _))) => {
                are_fixed.push(places.next().is_some_and(|&place| kept.is_fixed(place)));
                None
            }
            (Source::SortedCopy { of } | Source::Permutation { of }, Some((kept, link))) => {
                are_fixed.push(are_fixed.get(of.index()).copied().unwrap_or(false));
                are_fixed[number].then_some((kept, (link, number)))
            }
            _ => {
                are_fixed.push(false);
                None
            }
        };
        if let Some(copy) = kept.and_then(|(kept, key)| kept.copies().get(&key).cloned()) {
            tensors.push(Some(Operand::Own(copy)));
            continue;
        }
        let tensor = match declared.source {
            Source::Input => rest.next(),
            Source::Output { .. } => None,
            Source::SortedCopy { of } | Source::Permutation { of } => match tensors.get(of.index()) {
                Some(Some(original)) => {
                    let start = Instant::now();
                    let is_permutation = matches!(declared.source, Source::Permutation { .. });
                    let made = match is_permutation {
                        true => original.permutation(&declared.format),
                        false => stored_as(original, &declared.format),
                    };
                    let (copy, is_new) = made.map_err(|source| not_converted(declared, source))?;
                    if is_new {
                        copies.push(copied(kernel.tensor(of), &declared.format, start));
                    }
                    let copy = Arc::new(copy);
                    if let Some((kept, key)) = kept {
                        kept.copies().insert(key, Arc::clone(&copy));
                    }
                    Some(Operand::Own(copy))
                }
                _ => {
                    let reason = format!("`{}` is a copy of {of}, which is not an input before it", declared.name);
                    return Err(Error::Declaration { kernel: kernel.name.clone(), reason });
                }
            },
        };
        tensors.push(tensor);
    }
    Ok(tensors)
}

/// A tensor in another format, and whether that is a copy: fibers are kept, and share what they can.
fn stored_as(tensor: &AnyTensor, format: &Format) -> Result<(AnyTensor, bool), crate::tensor::PackError> {
    match tensor.by_fibers(format)? {
        Some(found) => Ok(found),
        None => Ok((tensor.copy_stored(format)?, true)),
    }
}

/// A tensor that was stored in another format since `start`.
fn copied(tensor: &Tensor, format: &Format, start: Instant) -> Copied {
    Copied { tensor: tensor.name.clone(), format: format.to_string(), time: start.elapsed() }
}

/// A kernel's outputs, in order.
fn outputs_of(kernel: &Kernel) -> impl Iterator<Item = (TensorId, &Tensor, Structure)> {
    (0u32..).map(TensorId).zip(&kernel.tensors).filter_map(|(id, declared)| match declared.source {
        Source::Output { structure, .. } => Some((id, declared, structure)),
        _ => None,
    })
}

impl<'k> Call<'k> {
    /// A call with these inputs, in the order of the kernel's declarations. It shares their arrays; those that a
    /// [`View`](crate::tensor::View) borrows are copied.
    ///
    /// # Errors
    /// When the inputs do not fit the declarations or each other, no input determines some extent, or there is no memory for
    /// the outputs.
    pub fn new(kernel: &'k Kernel, inputs: &[&AnyTensor]) -> Result<Self, Error> {
        Self::with_dimensions(kernel, inputs, &[])
    }

    /// The same with extents of index variables that no input determines, by name. Those that an input does determine must agree.
    ///
    /// # Errors
    /// As [`Call::new`], and when the kernel has no index variable of a name.
    pub fn with_dimensions(kernel: &'k Kernel, inputs: &[&AnyTensor], extra: &[(&str, usize)]) -> Result<Self, Error> {
        let all: Vec<_> = inputs.iter().map(|&input| Some(Operand::own(input.clone()))).collect();
        let places: Vec<usize> = (0..all.len()).collect();
        let inputs = Inputs { all: &all, places: &places, kept: None };
        let mut call = Self::prepare((kernel, &Parameter::all_of(kernel)), inputs, Extents::Find(extra), true)?;
        call.allocate()?;
        Ok(call)
    }

    /// A call of a kernel with these parameters that has no memory for its outputs yet, other than what it is [given](Call::reuse).
    pub(super) fn prepare(
        (kernel, parameters): (&'k Kernel, &[Parameter]),
        inputs: Inputs<'_, 'k>,
        extents: Extents<'_>,
        is_timed: bool,
    ) -> Result<Self, Error> {
        check_inputs(kernel, inputs.tensors())?;
        for (declared, input) in declared_inputs(kernel).zip(inputs.tensors()) {
            if *input.format() != declared.format {
                let (expected, found) = (declared.format.to_string(), input.format().to_string());
                return Err(Error::Format { tensor: declared.name.clone(), expected, found });
            }
            if !declared.format.is_dense() && !input.fill().equals(declared.fill) {
                let (expected, found) = (declared.fill, input.fill());
                return Err(Error::Fill { tensor: declared.name.clone(), expected, found });
            }
        }
        check_patterns(kernel, inputs)?;
        let dimensions = match extents {
            Extents::Known(dimensions) => dimensions.to_vec(),
            Extents::Find(stated) => {
                let declared: Vec<_> = declared_inputs(kernel).zip(inputs.tensors()).collect();
                let dimensions = self::extents(kernel, &declared, stated, &[])?;
                check_outputs(kernel, &dimensions)?;
                dimensions
            }
        };
        let mut copies = Vec::new();
        let tensors = read_tensors(kernel, inputs, &mut copies)?;
        let (arrays, allocate_time) = (Vec::new(), Duration::ZERO);
        let (is_allocated, used) = (false, false);
        let mut call =
            Call { kernel, dimensions, tensors, arrays, is_allocated, used, copies, is_timed, allocate_time };
        let start = call.now();
        call.arrays = call.make_arrays(parameters)?;
        call.allocate_time = start.map_or(Duration::ZERO, |start| start.elapsed());
        Ok(call)
    }

    /// What the kernel expects of each parameter.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.arrays.iter().map(|array| &array.parameter)
    }

    /// Whether the clock is read.
    #[cfg(feature = "compile")]
    pub(super) fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// What time it is, for a call that is timed.
    fn now(&self) -> Option<Instant> {
        self.is_timed.then(Instant::now)
    }

    /// Makes the arrays of outputs for which there is no memory yet.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn allocate(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_allocated, true) {
            return Ok(());
        }
        let start = self.now();
        for (place, (_, array)) in self.kernel.parameters().enumerate() {
            if self.arrays[place].is_there {
                continue;
            }
            let Some(id) = array.role.tensor() else { continue };
            let declared = self.kernel.tensor(id);
            let (Source::Output { structure, .. }, Access::Write(initial)) =
                (declared.source, self.arrays[place].parameter.access)
            else {
                continue;
            };
            let data = self.initial(declared, structure, initial)?;
            if data.element() != array.element {
                return Err(self.declaration(format!("`{}` does not hold what its format says", array.name)));
            }
            (self.arrays[place].data, self.arrays[place].is_there) = (data, true);
        }
        self.allocate_time += start.map_or(Duration::ZERO, |start| start.elapsed());
        Ok(())
    }

    /// The kernel's declarations.
    pub fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    /// The copies of inputs that the kernel asks for.
    pub fn copies(&self) -> &[Copied] {
        &self.copies
    }

    /// How long it took to make room for the outputs, and to set them to what they begin as.
    pub fn allocate_time(&self) -> Duration {
        self.allocate_time
    }

    /// The extent of a dimension, by its place in the kernel's list.
    ///
    /// # Panics
    /// When there is no such dimension.
    pub fn dimension(&self, dimension: usize) -> usize {
        self.dimensions[dimension]
    }

    /// Every extent, in the order of the kernel's list.
    pub fn dimensions(&self) -> &[usize] {
        &self.dimensions
    }

    /// The arrays of all parameters, before there is memory for outputs.
    fn make_arrays(&self, parameters: &[Parameter]) -> Result<Vec<Array>, Error> {
        let mut arrays = Vec::with_capacity(parameters.len());
        for ((_, array), parameter) in self.kernel.parameters().zip(parameters) {
            let Some(id) = array.role.tensor() else {
                return Err(self.declaration(format!("`{}` belongs to no tensor", array.name)));
            };
            let data = match parameter.access {
                Access::Read => {
                    let tensor = self.tensors[id.index()].as_ref();
                    // SAFETY: the call is not there for longer than its inputs, and what it gives away of these is a copy or ends
                    // with it.
                    unsafe { tensor.and_then(|tensor| data_of(tensor, array.role)) }
                }
                Access::Write(_) | Access::Append => Some(Data::empty(array.element)),
            };
            let Some(data) = data else {
                let reason = format!("`{}` is an array that its format does not have", array.name);
                return Err(self.declaration(reason));
            };
            if data.element() != array.element {
                return Err(self.declaration(format!("`{}` does not hold what its format says", array.name)));
            }
            let is_there = !matches!(parameter.access, Access::Write(_));
            arrays.push(Array { parameter: *parameter, data, is_there });
        }
        Ok(arrays)
    }

    /// What an output whose structure is given holds at first, for each of its positions.
    fn initial(&self, declared: &Tensor, structure: Structure, initial: Initial) -> Result<Data, Error> {
        let tensor = || declared.name.clone();
        let count = value_count(declared, self.given_levels(declared, structure)?, self.extents_of(declared))
            .ok_or_else(|| Error::TooLarge { tensor: tensor() })?;
        let values = Values::try_zeroed(declared.element, count);
        let mut values = values.map_err(|source| Error::Memory { tensor: tensor(), source })?;
        match initial {
            Initial::Filled(value) if value != value.zero() => fill(&mut values, value),
            Initial::Overwritten => spoil(&mut values),
            Initial::Filled(_) | Initial::Empty => {}
        }
        Ok(Data::Values(values))
    }

    /// The levels of an output whose structure is given before the kernel runs.
    fn given_levels(&self, declared: &Tensor, structure: Structure) -> Result<Levels<'_>, Error> {
        let (operand, count) = match structure {
            Structure::Dense | Structure::Appended => (None, 0),
            Structure::Shared { operand, levels } => {
                (self.tensors.get(operand.index()).and_then(Option::as_ref), levels)
            }
        };
        let shared = operand.map_or(&[][..], |operand| operand.levels());
        Levels::shared(declared, shared, count).ok_or_else(|| {
            self.declaration(format!("`{}` can't have the structure that it is said to have", declared.name))
        })
    }

    fn declaration(&self, reason: String) -> Error {
        Error::Declaration { kernel: self.kernel.name.clone(), reason }
    }

    /// The shape of a tensor of the kernel.
    fn shape(&self, declared: &Tensor) -> Vec<usize> {
        self.extents_of(declared).collect()
    }

    fn extents_of<'s>(&'s self, declared: &'s Tensor) -> impl Iterator<Item = usize> + 's {
        declared.dimensions.iter().map(|dimension| self.dimensions[dimension.index()])
    }

    /// Whether [`Call::reuse`] takes the memory of `tensor` for an output.
    ///
    /// # Errors
    /// As there.
    pub fn check_reuse(&self, output: usize, tensor: &AnyTensor) -> Result<(), Error> {
        let Some((_, declared, structure)) = outputs_of(self.kernel).nth(output) else {
            let reason = format!("`{}` has no output {output}", self.kernel.name);
            return Err(Error::Reuse { tensor: output.to_string(), reason });
        };
        let refuse = |reason: String| Err(Error::Reuse { tensor: declared.name.clone(), reason });
        if tensor.element() != declared.element {
            return refuse(format!("its elements are {}, not {}", tensor.element().name(), declared.element.name()));
        }
        let format = declared.delivered.as_ref().unwrap_or(&declared.format);
        if tensor.format() != format {
            return refuse(format!("it is stored as {}, not as {format}", tensor.format()));
        }
        if !self.extents_of(declared).eq(tensor.shape().iter().copied()) {
            let shape = self.shape(declared);
            return refuse(format!("its shape is {:?}, but the result's is {shape:?}", tensor.shape()));
        }
        if declared.delivered.is_none()
            && structure != Structure::Appended
            && structure != Structure::Dense
            && !same_structure(self.given_levels(declared, structure)?.iter(), tensor.levels())
        {
            return refuse("its entries are at other places than the result's".to_owned());
        }
        Ok(())
    }

    /// Writes an output into the memory of `tensor`, which [`Call::finish`] gives back; `tensor` is left without entries.
    /// `output` counts the outputs from 0. What `tensor` holds does not matter. An output that is converted when the kernel is
    /// done has memory of its own.
    ///
    /// # Errors
    /// When there is no such output, or the tensor's shape, format, element type or structure is not what the kernel makes.
    pub fn reuse(&mut self, output: usize, tensor: &mut AnyTensor) -> Result<(), Error> {
        self.check_reuse(output, tensor)?;
        let Some((id, declared, _)) = outputs_of(self.kernel).nth(output) else { return Ok(()) };
        if declared.delivered.is_some() {
            return Ok(());
        }
        let kernel = self.kernel;
        let of_output = |role: ArrayRole| role.tensor() == Some(id);
        if declared.format.is_dense() && declared.format.order > 0 {
            // All that there is are its values.
            let values = Data::Values(tensor.take_dense());
            let place = kernel.parameters().position(|(_, array)| of_output(array.role));
            if let Some(array) = place.and_then(|place| self.arrays.get_mut(place)) {
                (array.data, array.is_there) = (values, true);
                renew(array);
            }
            return Ok(());
        }
        let order = tensor.order();
        let no_entries = AnyTensor::zeros(vec![0; order], Format::dense(order), declared.element)
            .map_err(|error| self.declaration(error.to_string()))?;
        let tensor = std::mem::replace(tensor, convert(declared, &no_entries)?);
        let arrays = kernel.parameters().map(|(_, array)| array.role).zip(&mut self.arrays);
        for (role, array) in arrays.filter(|(role, _)| of_output(*role)) {
            // SAFETY: what is borrowed is never handed in to be written to: there is no `&mut` to the tensor in a view. What is
            // borrowed all the same is copied before it is changed.
            if let Some(data) = unsafe { data_of(&tensor, role) } {
                (array.data, array.is_there) = (data, true);
            }
        }
        // Now its memory has no other owner.
        drop(tensor);
        let arrays = kernel.parameters().map(|(_, array)| array.role).zip(&mut self.arrays);
        arrays.filter(|(role, _)| of_output(*role)).for_each(|(_, array)| renew(array));
        Ok(())
    }

    /// Takes an output that a kernel has written into `tensor`, whose memory it should be, and whether it did: an output is taken that is
    /// nothing but a value at each index, where `tensor` has its format and element type. [`Call::finish`] does not give it any more.
    ///
    /// # Errors
    /// When what was put is not a tensor.
    pub fn take_back(&mut self, output: usize, tensor: &mut AnyTensor) -> Result<bool, Error> {
        let Some((id, declared, _)) = outputs_of(self.kernel).nth(output) else { return Ok(false) };
        let is_of = declared.delivered.is_none() && declared.format.order > 0 && is_rectangular(&declared.format);
        if !is_of || *tensor.format() != declared.format || tensor.element() != declared.element {
            return Ok(false);
        }
        let Some(place) = self.place(ArrayRole::Values { tensor: id }) else { return Ok(false) };
        let Data::Values(values) = self.arrays[place].take() else { return Ok(false) };
        check_count(declared, &values, self.extents_of(declared).product())?;
        tensor.put_dense(self.extents_of(declared), values, declared.fill);
        Ok(true)
    }

    /// The place of an array among the parameters.
    fn place(&self, role: ArrayRole) -> Option<usize> {
        self.kernel.parameters().position(|(_, array)| array.role == role)
    }

    /// A position or coordinate array of an input. It is shared with the call, so that it can be kept while outputs are taken.
    ///
    /// # Panics
    /// When there is no such array, or it is of another type.
    pub fn input_index<I: Index>(&self, array: usize) -> Held<'k, I> {
        match self.arrays.get(array).map(|array| &array.data) {
            Some(Data::Index(indices)) => I::unwrap(indices).map(Held::new),
            _ => None,
        }
        .unwrap_or_else(|| self.wrong_type(array, I::WIDTH.name()))
    }

    /// The values of an input, shared with the call.
    ///
    /// # Panics
    /// When there is no such array, or it is of another type.
    pub fn input_values<T: Element>(&self, array: usize) -> Held<'k, T> {
        match self.arrays.get(array).map(|array| &array.data) {
            Some(Data::Values(values)) => T::unwrap(values).map(Held::new),
            _ => None,
        }
        .unwrap_or_else(|| self.wrong_type(array, T::TYPE.name()))
    }

    /// Takes the values of an output, to be written and [put back](Call::put_values).
    ///
    /// # Panics
    /// When there is no such array, or it is of another type.
    pub fn take_values<T: Element + Stored>(&mut self, array: usize) -> Buffer<T> {
        self.take(array)
    }

    /// Puts the values of an output back.
    ///
    /// # Panics
    /// When there is no such array, or it is of another type.
    pub fn put_values<T: Element + Stored>(&mut self, array: usize, values: Buffer<T>) {
        self.put(array, values);
    }

    /// Takes an array that the kernel appends to, values or indices, to be [put back](Call::put_appended).
    ///
    /// # Panics
    /// When there is no such array, or it is of another type.
    pub fn take_appended<T: Stored>(&mut self, array: usize) -> Vec<T> {
        self.take::<T>(array).into_vec()
    }

    /// Puts an array back that the kernel has appended to.
    ///
    /// # Panics
    /// When there is no such array, or it is of another type.
    pub fn put_appended<T: Stored>(&mut self, array: usize, elements: Vec<T>) {
        self.put(array, Buffer::from(elements));
    }

    fn take<T: Stored>(&mut self, place: usize) -> Buffer<T> {
        let taken = self.arrays.get_mut(place).and_then(|array| T::take(array.take()));
        taken.unwrap_or_else(|| self.wrong_type(place, T::NAME))
    }

    fn put<T: Stored>(&mut self, place: usize, elements: Buffer<T>) {
        let Some(array) = self.arrays.get_mut(place) else { self.wrong_type(place, T::NAME) };
        let data = T::put(elements, array.parameter.element);
        if data.element() != array.parameter.element {
            self.wrong_type(place, T::NAME);
        }
        array.data = data;
    }

    fn wrong_type(&self, place: usize, asked: &str) -> ! {
        let kernel = &self.kernel.name;
        match self.kernel.parameters().nth(place) {
            Some((_, array)) => panic!("array {place} (`{}`) of kernel `{kernel}` does not hold {asked}", array.name),
            None => panic!("kernel `{kernel}` has no array {place}"),
        }
    }

    /// The parameters, for a kernel that is about to run. Where one has run before, those of outputs are made new.
    pub(super) fn begin(&mut self) -> &mut [Array] {
        if std::mem::replace(&mut self.used, true) {
            self.arrays.iter_mut().for_each(renew);
        }
        &mut self.arrays
    }

    /// How many elements the arrays have together, as far as they are there.
    pub(super) fn elements(&self) -> usize {
        let elements = |array: &Array| match &array.data {
            Data::Index(indices) => indices.len(),
            Data::Values(values) => values.len(),
        };
        self.arrays.iter().map(elements).fold(0, usize::saturating_add)
    }

    /// Whether a kernel that has run divided elements of a result, which others are made of, by zero.
    ///
    /// # Errors
    /// Where it did.
    pub(super) fn check_pivots(&self) -> Result<(), Error> {
        self.kernel.pivots.iter().try_for_each(|pivot| self.check_pivot(pivot))
    }

    fn check_pivot(&self, pivot: &Pivot) -> Result<(), Error> {
        let (output, input) = (self.kernel.tensor(pivot.output), self.kernel.tensor(pivot.input));
        let place = self.place(ArrayRole::Values { tensor: pivot.output });
        let Some(Data::Values(values)) = place.map(|place| &self.arrays[place].data) else { return Ok(()) };
        if pivot.output == pivot.input {
            return self.check_diagonal(output, values);
        }
        let Some(operand) = &self.tensors[pivot.input.index()] else { return Ok(()) };
        let Some(order) = output.format.mode_order() else { return Ok(()) };
        let operand: &AnyTensor = operand;
        let shape = self.shape(output);
        let pivot_of = |element: usize| {
            let (mut index, mut rest) = (vec![0; shape.len()], element);
            for &mode in order.iter().rev() {
                (index[mode], rest) = (rest % shape[mode], rest / shape[mode]);
            }
            pivot.modes.iter().map(|&mode| index[mode]).collect::<Vec<usize>>()
        };
        let is_zero = |index: &[usize]| {
            let place = operand.locate(index);
            place.map_or(operand.fill().is_zero(), |place| {
                with_values!(operand.values(), |values| values[place].to_c64() == 0.0.into())
            })
        };
        let first = with_values!(values, |values| {
            let unbounded = values.iter().enumerate().filter(|(_, value)| !value.to_c64().is_finite());
            unbounded.map(|(element, _)| pivot_of(element)).find(|index| is_zero(index))
        });
        let Some(index) = first else { return Ok(()) };
        let is_stored = operand.locate(&index).is_some();
        let (result, divisor) = (output.name.clone(), input.name.clone());
        Err(Error::ZeroPivot { result, divisor, index, is_stored })
    }

    /// Whether elements of a result are divided by others on its diagonal, of which one is zero.
    fn check_diagonal(&self, output: &Tensor, values: &Values) -> Result<(), Error> {
        if with_values!(values, |values| values.iter().all(|value| value.to_c64().is_finite())) {
            return Ok(());
        }
        let shape = self.shape(output);
        let pattern = match output.source {
            Source::Output { structure: Structure::Shared { operand, .. }, .. } => &self.tensors[operand.index()],
            _ => &None,
        };
        let locate = |index: &[usize]| match pattern {
            Some(pattern) => pattern.locate(index),
            None => {
                let order = output.format.mode_order().unwrap_or_default();
                Some(order.iter().fold(0, |place, &mode| place * shape[mode] + index[mode]))
            }
        };
        let is_zero = |place: usize| with_values!(values, |values| values[place].to_c64() == 0.0.into());
        let diagonal = (0..shape.iter().copied().min().unwrap_or(0)).map(|row| vec![row; shape.len()]);
        let mut found = diagonal.map(|index| (locate(&index), index));
        match found.find(|(place, _)| place.is_none_or(is_zero)) {
            None => Ok(()),
            Some((place, index)) => {
                let (result, is_stored) = (output.name.clone(), place.is_some());
                Err(Error::ZeroDiagonal { result, index, is_stored })
            }
        }
    }

    /// The outputs, in the order of the kernel's declarations.
    ///
    /// # Errors
    /// When an output has more entries than its positions can count, can't be converted to the format that it is delivered
    /// in, or what was put is not a tensor.
    pub fn finish(self) -> Result<Vec<AnyTensor>, Error> {
        self.finish_with(&mut Vec::new())
    }

    /// The same; `deliveries` gets the outputs that were converted.
    pub(super) fn finish_with(mut self, deliveries: &mut Vec<Copied>) -> Result<Vec<AnyTensor>, Error> {
        let mut arrays = std::mem::take(&mut self.arrays);
        let mut find = |role: ArrayRole| Some(arrays.get_mut(self.place(role)?)?.take());
        let mut outputs = Vec::with_capacity(1);
        for (id, declared, structure) in outputs_of(self.kernel) {
            let levels = match structure {
                Structure::Appended => appended_levels(id, declared, &mut find)?,
                _ => self.given_levels(declared, structure)?.to_vec(),
            };
            let Some(Data::Values(values)) = find(ArrayRole::Values { tensor: id }) else {
                return Err(self.declaration(format!("output `{}` has no values", declared.name)));
            };
            let shape = self.shape(declared);
            outputs.push(match &declared.delivered {
                None => assemble(declared, shape, levels, values)?,
                Some(format) => {
                    let start = Instant::now();
                    let delivered = match declared.listed {
                        Some(operator) => {
                            let listed = Listed { format: &declared.format, levels, values, operator };
                            AnyTensor::of_listed(shape, listed, format, declared.fill)
                        }
                        None => assemble(declared, shape, levels, values)?.delivered(format),
                    };
                    deliveries.push(copied(declared, format, start));
                    delivered.map_err(|source| Error::Convert {
                        tensor: declared.name.clone(),
                        format: format.to_string(),
                        source,
                    })?
                }
            });
        }
        Ok(outputs)
    }
}

/// The array of a tensor that has a role.
///
/// # Safety
/// As for [`Shared::alias`].
#[inline]
unsafe fn data_of(tensor: &AnyTensor, role: ArrayRole) -> Option<Data> {
    // SAFETY: as the caller promises.
    unsafe {
        match role {
            ArrayRole::Positions { level, .. } => tensor.positions(level).map(|array| Data::Index(array.alias())),
            ArrayRole::Coordinates { level, .. } => tensor.coordinates(level).map(|array| Data::Index(array.alias())),
            ArrayRole::Values { .. } => Some(Data::Values(tensor.values().alias())),
            ArrayRole::Local => None,
        }
    }
}

/// Makes an output's array what it is before a kernel runs, in the memory that it has.
fn renew(array: &mut Array) {
    match (array.parameter.access, &mut array.data) {
        (Access::Write(Initial::Filled(value)), Data::Values(values)) => fill(values, value),
        (Access::Write(Initial::Overwritten), Data::Values(values)) => spoil(values),
        (Access::Append, data) => data.clear(),
        _ => {}
    }
}
