//! Decompositions of sparse tensors.

use crate::tensor::Storage;
use crate::{errors, threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spc::decompose::{
    AlsOptions, AprOptions, CpMethod, CpOptions, DecomposeError, Factor, Fitted, Iteration, KTensor,
    NonnegativeOptions, PowerOptions, Start, TuckerMethod, TuckerOptions, TuckerTensor, cp, power, tucker,
};
use std::ops::ControlFlow;

/// Weights or a core, factors, the fit of each iteration, and why it ended.
pub(crate) type Found = (Storage, Vec<Storage>, Vec<Option<f64>>, &'static str);

/// Looks for signals after each iteration: Ctrl-C ends a run with the exception.
struct Watch(Option<PyErr>);

impl Watch {
    fn look(&mut self) -> ControlFlow<()> {
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.0 = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn end<M>(self, found: Result<Fitted<M>, DecomposeError>) -> PyResult<Fitted<M>> {
        match self.0 {
            Some(error) => Err(error),
            None => found.map_err(errors::value),
        }
    }
}

fn fits(iterations: &[Iteration]) -> Vec<Option<f64>> {
    iterations.iter().map(|iteration| iteration.fit).collect()
}

fn storages(factors: &[Factor]) -> Vec<Storage> {
    factors.iter().map(|factor| Storage(factor.as_any().clone())).collect()
}

pub(crate) fn of_ktensor(found: Fitted<KTensor>) -> PyResult<Found> {
    let weights = found.model.weights().to_vec();
    let weights =
        spc::tensor::Tensor::<f64, spc::tensor::Dense<1>>::from_vec([weights.len()], weights).map_err(errors::value)?;
    Ok((Storage(weights.into_any()), storages(found.model.factors()), fits(&found.iterations), found.stopped.name()))
}

/// What is asked of CP, with or without ranks.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CpAsked {
    rank: usize,
    iterations: usize,
    tolerance: f64,
    seed: u64,
    hosvd: bool,
}

impl CpAsked {
    pub(crate) fn options(&self) -> CpOptions {
        let Self { rank, iterations, tolerance, seed, hosvd } = *self;
        let start = if hosvd { Start::Hosvd { seed } } else { Start::Random { seed } };
        CpOptions { iterations, tolerance, start, ..CpOptions::new(rank) }
    }
}

/// Least squares with a weight for each entry, if there are any.
pub(crate) fn als(weights: Option<&Storage>) -> AlsOptions {
    AlsOptions { weights: weights.map(|weights| weights.0.clone()), ..AlsOptions::default() }
}

/// What is asked of Tucker, with or without ranks: a method, which is `hooi`, `hosvd` or `st_hosvd`, and the extents of the core.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TuckerAsked {
    method: String,
    ranks: Vec<usize>,
    iterations: usize,
    tolerance: f64,
    seed: u64,
}

impl TuckerAsked {
    pub(crate) fn options(&self) -> PyResult<(TuckerMethod, TuckerOptions)> {
        let method = match self.method.as_str() {
            "hooi" => TuckerMethod::Hooi,
            "hosvd" => TuckerMethod::Hosvd,
            "st_hosvd" => TuckerMethod::StHosvd,
            other => return Err(PyValueError::new_err(format!("there is no method {other:?}: hooi, hosvd, st_hosvd"))),
        };
        let Self { iterations, tolerance, seed, .. } = *self;
        Ok((method, TuckerOptions { iterations, tolerance, seed, ..TuckerOptions::new(self.ranks.clone()) }))
    }
}

/// A CP decomposition by a method: `als`, `nonnegative` or `apr`.
#[pyfunction]
#[pyo3(signature = (x, method, asked, weights = None))]
pub(crate) fn _cp(
    py: Python<'_>,
    x: &Storage,
    method: &str,
    asked: CpAsked,
    weights: Option<&Storage>,
) -> PyResult<Found> {
    let method = match method {
        "als" => CpMethod::Als(als(weights)),
        "nonnegative" => CpMethod::Nonnegative(NonnegativeOptions::default()),
        "apr" => CpMethod::Apr(AprOptions::default()),
        other => return Err(PyValueError::new_err(format!("there is no method {other:?}: als, nonnegative, apr"))),
    };
    let options = asked.options();
    let mut watch = Watch(None);
    let found = threads::run(py, || cp(&x.0, &method, &options, &mut |_| watch.look()));
    of_ktensor(watch.end(found)?)
}

/// A Tucker decomposition.
#[pyfunction]
pub(crate) fn _tucker(py: Python<'_>, x: &Storage, asked: TuckerAsked) -> PyResult<Found> {
    let (method, options) = asked.options()?;
    let mut watch = Watch(None);
    let found = threads::run(py, || tucker(&x.0, method, &options, &mut |_| watch.look()));
    Ok(of_tucker(watch.end(found)?))
}

pub(crate) fn of_tucker(found: Fitted<TuckerTensor>) -> Found {
    let core = Storage(found.model.core().clone());
    (core, storages(found.model.factors()), fits(&found.iterations), found.stopped.name())
}

/// Best rank-1 tensors, one after the other.
#[pyfunction]
#[pyo3(signature = (x, components, iterations, tolerance, starts, seed, symmetric))]
#[allow(clippy::too_many_arguments, reason = "Python's half names them")]
pub(crate) fn _power(
    py: Python<'_>,
    x: &Storage,
    components: usize,
    iterations: usize,
    tolerance: f64,
    starts: usize,
    seed: u64,
    symmetric: bool,
) -> PyResult<Found> {
    let options = PowerOptions { iterations, tolerance, starts, seed, symmetric, ..PowerOptions::new(components) };
    let mut watch = Watch(None);
    let found = threads::run(py, || power(&x.0, &options, &mut |_| watch.look()));
    of_ktensor(watch.end(found)?)
}
