//! Decompositions on ranks, also of a file that each rank reads a part of.

use super::on;
use crate::decompose::{self, Found};
use crate::errors;
use crate::tensor::Storage;
use pyo3::prelude::*;
use spc::decompose::{AlsOptions, CpOptions, DistributedTensor, Start, cp_of, cp_on};
use spc::distribute::{self, Communicator};
use spc::io::{ReadOptions, TensorFile};
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
pub(crate) struct SharedFile(distribute::SharedFile);

/// A file that ranks can read in parts; nothing where each has to read all of it.
#[pyfunction]
pub(crate) fn _shared_file(py: Python<'_>, path: PathBuf) -> PyResult<Option<SharedFile>> {
    let opened = py.detach(|| {
        let file = TensorFile::begin(path, &ReadOptions::default())?;
        let element = match file.element()?.unwrap_or(ElementType::F64) {
            element if element == ElementType::F32 || element.is_complex() => element,
            _ => ElementType::F64,
        };
        distribute::SharedFile::of(&file, element)
    });
    Ok(opened.map_err(errors::file)?.map(SharedFile))
}

/// What is decomposed on ranks.
#[derive(Clone)]
enum Source {
    Whole(AnyTensor),
    Parts(distribute::SharedFile),
}

/// CP by least squares on ranks, each of which has the model.
#[pyfunction]
#[pyo3(signature = (x, rank, iterations, tolerance, seed, hosvd, weights, ranks))]
#[allow(clippy::too_many_arguments, reason = "Python's half names them")]
pub(crate) fn _cp_on(
    x: &Bound<'_, PyAny>,
    rank: usize,
    iterations: usize,
    tolerance: f64,
    seed: u64,
    hosvd: bool,
    weights: Option<&Storage>,
    ranks: &Bound<'_, PyAny>,
) -> PyResult<Found> {
    let method = AlsOptions { weights: weights.map(|weights| weights.0.clone()), ..AlsOptions::default() };
    let start = if hosvd { Start::Hosvd { seed } } else { Start::Random { seed } };
    let options = CpOptions { iterations, tolerance, start, ..CpOptions::new(rank) };
    let (x, of_source) = match x.cast_exact::<SharedFile>() {
        Ok(file) => (Source::Parts(file.get().0.clone()), "a file".to_owned()),
        Err(_) => {
            let x = x.cast_exact::<Storage>()?.get().0.clone();
            let said = format!("{:?} {}", x.shape(), x.nnz());
            (Source::Whole(x), said)
        }
    };
    let said = format!("cp {rank} {iterations} {tolerance} {seed} {hosvd} {of_source}");
    // A call that was left by an exception ends after the iteration that it is at.
    let left = Flag(Arc::new(AtomicBool::new(false)));
    let is_left = Arc::clone(&left.0);
    let body = move |_: &(), own: &dyn Communicator| {
        let observe = |_: &_| match is_left.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let observe = &mut { observe };
        Ok(match &x {
            Source::Whole(x) => cp_on(x, &method, &options, own, observe)?,
            Source::Parts(file) => cp_of(&DistributedTensor::of_file(file, own)?, &method, &options, own, observe)?,
        })
    };
    let found = on(ranks, said, |_| Ok(()), body, |failure| failure.exception(""))?;
    drop(left);
    decompose::of_ktensor(found)
}
