//! Decompositions on ranks, also of a file that each rank reads a part of.

use super::on;
use crate::decompose::{CpAsked, Found, TuckerAsked, als, of_ktensor, of_tucker};
use crate::errors;
use crate::tensor::Storage;
use pyo3::prelude::*;
use spc::decompose::{DecomposeError, DistributedTensor, Fitted, Iteration, cp_of, tucker_of};
use spc::distribute::{self, Communicator};
use spc::io::{ReadError, ReadOptions, TensorFile};
use spc::tensor::{AnyTensor, ElementType};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sets a flag when it is dropped.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file of which each rank reads its part.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct SharedFile {
    pub(super) file: distribute::SharedFile,
    element: ElementType,
}

#[pymethods]
impl SharedFile {
    /// The format that it is stored in, if it is no text.
    #[getter]
    fn format(&self) -> Option<String> {
        match &self.file {
            distribute::SharedFile::Stored(stored) => Some(stored.format().to_string()),
            _ => None,
        }
    }

    #[getter]
    fn element(&self) -> &'static str {
        self.element.name()
    }
}

/// A file that ranks can read in parts, with the elements that a kernel declares, or those that it has for a decomposition; nothing where each
/// has to read all of it.
#[pyfunction]
#[pyo3(signature = (path, element = None))]
pub(crate) fn _shared_file(py: Python<'_>, path: PathBuf, element: Option<&str>) -> PyResult<Option<SharedFile>> {
    let opened = py.detach(|| {
        let file = TensorFile::begin(path, &ReadOptions::default())?;
        let element = match element.and_then(ElementType::from_name) {
            Some(element) => element,
            None => match file.computed_element()? {
                element if element == ElementType::F32 || element.is_complex() => element,
                _ => ElementType::F64,
            },
        };
        let shared = distribute::SharedFile::of(&file, element)?;
        Ok(shared.map(|file| SharedFile { file, element }))
    });
    opened.map_err(|error: ReadError| errors::file(error))
}

/// What is told of each iteration.
type Observer<'a> = &'a mut dyn FnMut(&Iteration) -> ControlFlow<()>;

/// What is decomposed on ranks.
enum Source {
    Whole(AnyTensor),
    Parts(distribute::SharedFile),
}

/// Decomposes a tensor, or one of a file, by a method that gives each rank the model.
fn decomposed<M: Send + 'static>(
    x: &Bound<'_, PyAny>,
    said: String,
    ranks: &Bound<'_, PyAny>,
    method: impl Fn(&DistributedTensor, &dyn Communicator, Observer<'_>) -> Result<Fitted<M>, DecomposeError>
    + Send
    + Sync
    + 'static,
) -> PyResult<Fitted<M>> {
    let (x, of_source) = match x.cast_exact::<SharedFile>() {
        Ok(file) => (Source::Parts(file.get().file.clone()), "a file".to_owned()),
        Err(_) => {
            let x = x.cast_exact::<Storage>()?.get().0.clone();
            let said = format!("{:?} {}", x.shape(), x.nnz());
            (Source::Whole(x), said)
        }
    };
    // A call that was left by an exception ends after the iteration that it is at.
    let left = Flag(Arc::new(AtomicBool::new(false)));
    let is_left = Arc::clone(&left.0);
    let body = move |_: &(), own: &dyn Communicator| {
        let x = match &x {
            Source::Whole(x) => DistributedTensor::of_tensor(x, own)?,
            Source::Parts(file) => DistributedTensor::of_file(file, own)?,
        };
        let observe = |_: &Iteration| match is_left.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        Ok(method(&x, own, &mut { observe })?)
    };
    let found = on(ranks, format!("{said} {of_source}"), |_| Ok(()), body, |failure| failure.exception(""))?;
    drop(left);
    Ok(found)
}

/// CP by least squares on ranks, each of which has the model.
#[pyfunction]
pub(crate) fn _cp_on(
    x: &Bound<'_, PyAny>,
    asked: CpAsked,
    weights: Option<&Storage>,
    ranks: &Bound<'_, PyAny>,
) -> PyResult<Found> {
    let (method, options) = (als(weights), asked.options());
    let found =
        decomposed(x, format!("{asked:?}"), ranks, move |x, own, observe| cp_of(x, &method, &options, own, observe))?;
    of_ktensor(found)
}

/// Tucker on ranks, each of which has the model.
#[pyfunction]
pub(crate) fn _tucker_on(x: &Bound<'_, PyAny>, asked: TuckerAsked, ranks: &Bound<'_, PyAny>) -> PyResult<Found> {
    let (method, options) = asked.options()?;
    let found = decomposed(x, format!("{asked:?}"), ranks, move |x, own, observe| {
        tucker_of(x, method, &options, own, observe)
    })?;
    Ok(of_tucker(found))
}
