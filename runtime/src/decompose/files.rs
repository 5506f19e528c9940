//! Models in files: a folder of `.npy` files, or a `.npz` archive, with these names in it.
//!
//! ```text
//! K-tensor        weights   factor_1   factor_2   …      a vector; a matrix of extent × components for each mode
//! Tucker tensor   core      factor_1   factor_2   …      a dense tensor; a matrix of extent × the core's extent for each mode
//! ```
//!
//! Written are elements `f64`, row after row; read are arrays of any real element type, in C or Fortran order.

use super::against::{dense, finite_matrix};
use super::{DecomposeError, Factor, KTensor, TuckerTensor, show};
use crate::io::{self, Arrays};
use crate::memory;
use crate::tensor::{AnyTensor, Dense, InvalidTensor, Tensor};
use spc_compiler::format::Format;
use std::path::Path;

const WEIGHTS: &str = "weights";
const CORE: &str = "core";
const FACTOR: &str = "factor_";

impl KTensor {
    /// Writes the model into a `.npz` archive where the name ends so, else into a folder: as the arrays `weights`, `factor_1`, `factor_2`, …
    ///
    /// What is new appears when it is complete. In a folder that was there, each file is replaced when its successor is complete, those of
    /// another model are removed, and other files stay.
    ///
    /// ```
    /// use spc::decompose::{Factor, KTensor};
    ///
    /// let factor = |rows| Factor::from_fn([rows, 2], |index| (index[0] + index[1]) as f64);
    /// let model = KTensor::new(vec![3.0, 0.5], vec![factor(4)?, factor(3)?, factor(2)?])?;
    /// let folder = tempfile::tempdir()?;
    /// for name in ["model", "model.npz"] {
    ///     model.write(folder.path().join(name))?;
    ///     assert_eq!(KTensor::read(folder.path().join(name))?, model);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When something can't be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), DecomposeError> {
        let weights = Tensor::<f64, Dense<1>>::from_vec([self.rank()], self.weights().to_vec())?.into_any();
        write(path.as_ref(), (WEIGHTS, &weights), self.factors())
    }

    /// Reads a model that [`write`](Self::write) has written, or anyone else, as `numpy.savez(path, weights=…, factor_1=…, …)`.
    ///
    /// # Errors
    /// When an array is missing, can't be read, or does not fit the others; with the path.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DecomposeError> {
        let parts = Parts::open(path.as_ref(), WEIGHTS, "K-tensor")?;
        let weights = numbers(&parts.first)?;
        if parts.first.order() != 1 {
            let shape = show::shape(parts.first.shape());
            return Err(parts.wrong(format!("the array `{WEIGHTS}` has shape {shape}: weights are a vector")));
        }
        for (mode, factor) in parts.factors.iter().enumerate() {
            let (shape, rank, mode) = (show::shape(factor.shape()), weights.len(), mode + 1);
            if factor.shape()[1] != rank {
                let message = format!(
                    "the array `{FACTOR}{mode}` has shape {shape}, but there are {rank} weights: it needs a column for each"
                );
                return Err(parts.wrong(message));
            }
        }
        let path = parts.path();
        KTensor::new(weights, parts.factors).map_err(|error| in_file(&path, error))
    }
}

impl TuckerTensor {
    /// Writes the model into a `.npz` archive where the name ends so, else into a folder: as the arrays `core`, `factor_1`, `factor_2`, …
    ///
    /// What is new appears when it is complete. In a folder that was there, each file is replaced when its successor is complete, those of
    /// another model are removed, and other files stay.
    ///
    /// # Errors
    /// When something can't be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), DecomposeError> {
        write(path.as_ref(), (CORE, self.core()), self.factors())
    }

    /// Reads a model that [`write`](Self::write) has written, or anyone else, as `numpy.savez(path, core=…, factor_1=…, …)`.
    ///
    /// # Errors
    /// When an array is missing, can't be read, or does not fit the others; with the path.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DecomposeError> {
        let parts = Parts::open(path.as_ref(), CORE, "Tucker tensor")?;
        let shape = parts.first.shape().to_vec();
        if shape.len() != parts.factors.len() {
            let (modes, count) = (shape.len(), parts.factors.len());
            return Err(parts.wrong(format!("the array `{CORE}` has {modes} modes, but there are {count} factors")));
        }
        for (mode, (factor, &extent)) in parts.factors.iter().zip(&shape).enumerate() {
            if factor.shape()[1] != extent {
                let (found, core, mode) = (show::shape(factor.shape()), show::shape(&shape), mode + 1);
                let message = format!(
                    "the array `{FACTOR}{mode}` has shape {found}, but `{CORE}` has shape {core}: it needs {extent} columns"
                );
                return Err(parts.wrong(message));
            }
        }
        let core = dense(shape, numbers(&parts.first)?)?;
        let path = parts.path();
        TuckerTensor::new(core, parts.factors).map_err(|error| in_file(&path, error))
    }
}

fn write(path: &Path, first: (&str, &AnyTensor), factors: &[Factor]) -> Result<(), DecomposeError> {
    let factors = factors.iter().enumerate().map(|(mode, factor)| (format!("{FACTOR}{}", mode + 1), factor.as_any()));
    let arrays: Vec<(String, &AnyTensor)> = [(first.0.to_owned(), first.1)].into_iter().chain(factors).collect();
    let is_part = |name: &str| name == WEIGHTS || name == CORE || mode_of(name).is_some();
    Ok(io::write_arrays(path, &arrays, &is_part)?)
}

/// The mode, from 1, of the factor of a name.
fn mode_of(name: &str) -> Option<usize> {
    let digits = name.strip_prefix(FACTOR)?;
    digits.parse().ok().filter(|&mode: &usize| mode > 0 && mode.to_string() == digits)
}

/// The arrays of a model: weights or a core, and a matrix for each mode.
struct Parts {
    arrays: Arrays,
    first: AnyTensor,
    factors: Vec<Factor>,
}

impl Parts {
    fn open(path: &Path, first: &str, kind: &str) -> Result<Self, DecomposeError> {
        let arrays = Arrays::open(path)?;
        let names = arrays.names();
        let has = |name: &str| names.iter().any(|other| other == name);
        let modes = names.iter().filter_map(|name| mode_of(name)).max().unwrap_or(0).max(1);
        let needed = std::iter::once(first.to_owned()).chain((1..=modes).map(|mode| format!("{FACTOR}{mode}")));
        let missing: Vec<String> = needed.filter(|name| !has(name)).map(|name| format!("`{name}`")).take(9).collect();
        if !missing.is_empty() {
            let found = match names {
                [] => "there are no arrays".to_owned(),
                _ => format!(
                    "its arrays are {}",
                    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
                ),
            };
            let hint = match (first, has(WEIGHTS), has(CORE)) {
                (WEIGHTS, false, true) => "; a Tucker tensor has `core`",
                (CORE, true, false) => "; a K-tensor has `weights`",
                _ => "",
            };
            let problem = format!("a {kind} has {} too, and {found}{hint}", missing.join(", "));
            return Err(DecomposeError::File { path: path.to_owned(), problem });
        }
        let factors: Result<_, _> = (1..=modes)
            .map(|mode| {
                let name = format!("{FACTOR}{mode}");
                matrix(&arrays.read(&name)?).map_err(|problem| {
                    let problem = format!("the array `{name}` {problem}");
                    DecomposeError::File { path: path.to_owned(), problem }
                })
            })
            .collect();
        let factors = factors?;
        let first = arrays.read(first)?;
        if first.element().is_complex() {
            let problem = "has complex elements, and models are of real numbers".to_owned();
            return Err(DecomposeError::File { path: path.to_owned(), problem });
        }
        Ok(Self { first, factors, arrays })
    }

    fn path(&self) -> std::path::PathBuf {
        self.arrays.path().to_owned()
    }

    fn wrong(&self, problem: String) -> DecomposeError {
        DecomposeError::File { path: self.path(), problem }
    }
}

fn in_file(path: &Path, error: DecomposeError) -> DecomposeError {
    match error {
        DecomposeError::Model(problem) => DecomposeError::File { path: path.to_owned(), problem },
        other => other,
    }
}

/// The elements of a tensor of real numbers, row after row.
fn numbers(tensor: &AnyTensor) -> Result<Vec<f64>, DecomposeError> {
    let tensor = tensor.convert(&Format::dense(tensor.order()))?;
    let values = tensor.values();
    let numbers = memory::try_collected((0..values.len()).map(|place| values.get_f64(place)));
    Ok(numbers.map_err(InvalidTensor::Memory)?)
}

/// Reads a factor for each mode of a tensor of this shape, in order: matrices of extent × rank, of any kind of file that [`io::read`] takes. Where a
/// file lists entries and does not state its shape, that is what is needed.
///
/// # Errors
/// When there is not one file for each mode, one can't be read, has another shape, or a number that is not finite; with its name and what is
/// needed.
pub fn read_factors<P: AsRef<Path>>(
    files: &[P],
    shape: &[usize],
    ranks: &[usize],
) -> Result<Vec<Factor>, DecomposeError> {
    if files.len() != shape.len() || ranks.len() != shape.len() {
        let (count, modes) = (files.len(), shape.len());
        let files = if count == 1 { "is 1 file" } else { &format!("are {count} files") };
        let message =
            format!("there {files} of factors, but the tensor has {modes} modes: name one for each, in order");
        return Err(DecomposeError::Start(message));
    }
    let one = |(mode, file): (usize, &P)| {
        let path = file.as_ref();
        let (extent, rank, number) = (shape[mode], ranks[mode], mode + 1);
        let wrong = |problem: String| DecomposeError::File { path: path.to_owned(), problem };
        let read = io::read_expecting(path, Some(&[extent, rank]))?;
        let factor = matrix(&read).map_err(|problem| wrong(format!("the factor of mode {number} {problem}")))?;
        if factor.shape() != [extent, rank] {
            let found = show::shape(factor.shape());
            return Err(wrong(format!(
                "the factor of mode {number} has shape {found}, but {extent} × {rank} is needed (extent × rank)"
            )));
        }
        finite_matrix(&factor, mode).map_err(|error| wrong(error.to_string()))?;
        Ok(factor)
    };
    files.iter().enumerate().map(one).collect()
}

/// A matrix of real numbers as a factor, or what is wrong with it.
fn matrix(tensor: &AnyTensor) -> Result<Factor, String> {
    let [rows, columns] = *tensor.shape() else {
        return Err(format!("has shape {}: a factor is a matrix of extent × components", show::shape(tensor.shape())));
    };
    if tensor.element().is_complex() {
        return Err("has complex elements, and factors are of real numbers".to_owned());
    }
    if !tensor.fill().is_zero() && !tensor.format().is_dense() {
        return Err(format!("has the value {} where nothing is stored, and a factor 0", tensor.fill()));
    }
    let values = numbers(tensor).map_err(|error| format!("can't be a factor: {error}"))?;
    Factor::from_vec([rows, columns], values).map_err(|error| format!("can't be a factor: {error}"))
}

#[cfg(test)]
mod tests;
