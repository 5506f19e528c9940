//! Where an iteration starts.

use super::engine::Clock;
use super::entries::{largest_of, scaled};
use super::kernels::Kernels;
use super::tucker::singular_vectors;
use super::uniform::{uniform, uniform_rows};
use super::{DecomposeError, DistributedTensor, Engine, Factor, KTensor, algebra, read_factors, show};
use crate::distribute::Communicator;
use crate::tensor::{AnyTensor, ElementType};
use std::path::Path;

/// Where an iteration starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// Factors of uniform random numbers in (0, 1], from a seed: the same on every machine. Weights are the tensor's largest absolute value.
    Random {
        /// The seed.
        seed: u64,
    },
    /// The leading left singular vectors of each unfolding; random columns where a rank is above an extent. Methods whose factors are not negative
    /// take absolute values.
    Hosvd {
        /// For the random columns.
        seed: u64,
    },
    /// From a model.
    Model(KTensor),
}

impl Default for Start {
    fn default() -> Self {
        Start::Random { seed: 0 }
    }
}

impl Start {
    /// From factors in files, one for each mode of a tensor of this shape, in order: matrices of extent × `rank`, of any kind that
    /// [`io::read`](crate::io::read) takes. Weights are 1.
    ///
    /// # Errors
    /// As [`read_factors`].
    pub fn from_files<P: AsRef<Path>>(files: &[P], shape: &[usize], rank: usize) -> Result<Self, DecomposeError> {
        let factors = read_factors(files, shape, &vec![rank; shape.len()])?;
        Ok(Start::Model(KTensor::new(vec![1.0; rank], factors)?))
    }
}

/// Which signs the factors of a start may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signs {
    /// Both.
    Any,
    /// Of singular vectors absolute values are taken; what is negative in a model is left to the method.
    Absolute,
    /// Of singular vectors absolute values are taken; a model with a negative value is refused.
    NotNegative,
}

/// The model that an iteration starts with, of a rank that is not zero.
///
/// # Errors
/// When a model has another shape or rank, or a negative value where there may be none, or singular vectors can't be found.
pub(super) fn factors(
    x: &AnyTensor,
    rank: usize,
    start: &Start,
    signs: Signs,
    engine: &Engine,
) -> Result<KTensor, DecomposeError> {
    let factors: Vec<Factor> = match start {
        Start::Random { seed } => random(x.shape(), rank, *seed)?,
        Start::Hosvd { seed } => {
            let mut factors = random(x.shape(), rank, *seed)?;
            singular_columns(x, rank, *seed, engine, &mut factors)?;
            if signs != Signs::Any {
                let values = factors.iter_mut().flat_map(|factor| factor.values_mut());
                values.for_each(|value| *value = value.abs());
            }
            factors
        }
        Start::Model(model) => {
            fits(model, x.shape(), rank)?;
            if signs == Signs::NotNegative {
                not_negative(model)?;
            }
            return Ok(model.clone());
        }
    };
    // As large as the tensor, whatever its unit.
    let largest = largest_of(x);
    KTensor::new(vec![if largest > 0.0 { largest } else { 1.0 }; rank], factors)
}

/// The weights of the model that an iteration starts with on ranks, and some rows of its factors: one of zeros where there are none.
///
/// # Errors
/// As [`factors`], and when another rank has stopped.
pub(super) fn rows_of_factors(
    x: &DistributedTensor,
    rows: &[&[u64]],
    rank: usize,
    start: &Start,
    engine: &Engine,
    ranks: &dyn Communicator,
) -> Result<(Vec<f64>, Vec<Factor>), DecomposeError> {
    let mut weights = vec![1.0; rank];
    let mut factors = Vec::new();
    for (mode, rows) in rows.iter().enumerate() {
        let mut values = match start {
            Start::Random { seed } | Start::Hosvd { seed } => uniform_rows(rows, rank, *seed, mode),
            Start::Model(model) => {
                fits(model, x.shape(), rank)?;
                weights = model.weights().to_vec();
                let factor = model.factors()[mode].values();
                rows.iter().flat_map(|&row| &factor[row as usize * rank..][..rank]).copied().collect()
            }
        };
        values.resize(rows.len().max(1) * rank, 0.0);
        factors.push(Factor::from_vec([rows.len().max(1), rank], values)?);
    }
    if let Start::Hosvd { seed } = start {
        let (entries, clock, mut kernels) = (x.scaled(ranks)?, Clock::default(), Kernels::new(engine));
        for (mode, factor) in factors.iter_mut().enumerate().filter(|_| entries.norm != 0.0) {
            let found =
                singular_vectors(&entries, mode, rank, ElementType::F64, *seed, Some(ranks), (&mut kernels, &clock))?;
            put_first(&found, x.shape()[mode], factor, rows[mode].iter().map(|&row| row as usize));
        }
    }
    Ok((weights, factors))
}

fn random(shape: &[usize], rank: usize, seed: u64) -> Result<Vec<Factor>, DecomposeError> {
    shape.iter().enumerate().map(|(mode, &extent)| uniform(extent, rank, seed, mode)).collect()
}

/// Puts the leading left singular vectors of each unfolding into the first columns of its factor, as many as there are. A tensor of zeros has none.
fn singular_columns(
    x: &AnyTensor,
    rank: usize,
    seed: u64,
    engine: &Engine,
    factors: &mut [Factor],
) -> Result<(), DecomposeError> {
    let (entries, clock, mut kernels) = (scaled(x)?, Clock::default(), Kernels::new(engine));
    if entries.norm == 0.0 {
        return Ok(());
    }
    for (mode, factor) in factors.iter_mut().enumerate() {
        let extent = factor.shape()[0];
        let found = singular_vectors(&entries, mode, rank, ElementType::F64, seed, None, (&mut kernels, &clock))?;
        put_first(&found, extent, factor, 0..extent);
    }
    Ok(())
}

/// Puts some rows of singular vectors, which have so many in all, into the first columns of a factor.
fn put_first(found: &[f64], extent: usize, factor: &mut Factor, rows: impl Iterator<Item = usize>) {
    let (count, rank) = (found.len() / extent, factor.shape()[1]);
    let vectors = algebra::positive(found.to_vec(), extent, count);
    for (values, row) in factor.values_mut().chunks_exact_mut(rank).zip(rows) {
        values[..count].copy_from_slice(&vectors[row * count..(row + 1) * count]);
    }
}

fn fits(model: &KTensor, shape: &[usize], rank: usize) -> Result<(), DecomposeError> {
    if model.shape() != shape {
        let (found, shape) = (show::shape(&model.shape()), show::shape(shape));
        let message = format!("the model to start from has shape {found}, but the tensor has {shape}");
        return Err(DecomposeError::Start(message));
    }
    if model.rank() != rank {
        let found = model.rank();
        let message = format!("the model to start from has rank {found}, but {rank} is asked for");
        return Err(DecomposeError::Start(message));
    }
    Ok(())
}

fn not_negative(model: &KTensor) -> Result<(), DecomposeError> {
    let refuse = |what: String| {
        let message = format!("{what}, and the method takes none: start from absolute values");
        Err(DecomposeError::Start(message))
    };
    for (mode, factor) in model.factors().iter().enumerate() {
        if let Some(place) = factor.values().iter().position(|&value| value < 0.0) {
            let (mode, row, column) = (mode + 1, place / model.rank() + 1, place % model.rank() + 1);
            let value = factor.values()[place];
            return refuse(format!(
                "the factor of mode {mode} to start from has the negative value {value} at ({row}, {column})"
            ));
        }
    }
    if let Some(component) = model.weights().iter().position(|&weight| weight < 0.0) {
        return refuse(format!("component {} to start from has a negative weight", component + 1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::ktensor::tests::{model, tensor};
    use super::*;
    use crate::execute::Backend;
    use crate::io;
    use crate::tensor::{Csf, Csr, Dense, Tensor};
    use spc_compiler::format::Format;

    fn engine() -> Engine {
        Engine { backend: Some(Backend::Interpreter), ..Engine::default() }
    }

    fn message<T>(result: Result<T, DecomposeError>) -> String {
        result.map(drop).unwrap_err().to_string()
    }

    #[test]
    fn random_factors_are_within_range_and_follow_the_seed() {
        let made = |seed| factors(&tensor(), 6, &Start::Random { seed }, Signs::Any, &engine()).unwrap();
        let model = made(7);
        assert_eq!((model.shape(), model.weights()), (vec![4, 3, 5], &[largest_of(&tensor()); 6][..]));
        let mut numbers = model.factors().iter().flat_map(|factor| factor.values());
        assert!(numbers.all(|&number| 0.0 < number && number <= 1.0));
        assert_eq!(made(7), model);
        assert_ne!(made(8), model);
        assert_ne!(model.factors()[0].values()[..18], model.factors()[1].values()[..18]);
    }

    /// `x = np.zeros(24); p = np.array([p for p in range(24) if p % 5 != 3]); x[p] = (7 * p) % 11 - 4.0; x = x.reshape(4, 3, 2)`, and for each
    /// mode n `u, s, _ = np.linalg.svd(np.moveaxis(x, n, 0).reshape(x.shape[n], -1))`, the first column times the sign of its largest element.
    #[test]
    fn singular_vectors_come_first_and_random_columns_behind() {
        let numpy: [&[f64]; 3] = [
            &[-0.4329554734255322, 0.08519333131812201, 0.7740084352374927, 0.4540953605918061],
            &[0.5130159670445952, 0.6252061089386163, -0.5881597902807826],
            &[0.9804185300934776, -0.19692512752146457],
        ];
        let entries = (0..24).filter(|place| place % 5 != 3).map(|place: usize| {
            let value = ((7 * place) % 11) as f64 - 4.0;
            ([place / 6, place / 2 % 3, place % 2], value)
        });
        let x = Tensor::<f64, Csf<3>>::from_entries([4, 3, 2], entries).unwrap().into_any();
        let made = |start: Start, signs| factors(&x, 3, &start, signs, &engine()).unwrap();
        let (found, random) = (made(Start::Hosvd { seed: 3 }, Signs::Any), made(Start::Random { seed: 3 }, Signs::Any));
        let absolute = made(Start::Hosvd { seed: 3 }, Signs::NotNegative);
        for (mode, first) in numpy.into_iter().enumerate() {
            let [found, random, absolute] = [&found, &random, &absolute].map(|model| model.factors()[mode].values());
            for (row, expected) in first.iter().enumerate() {
                assert!((found[3 * row] - expected).abs() < 1e-12, "mode {mode}: {found:?}");
                assert_eq!(absolute[3 * row], found[3 * row].abs());
                // The last mode has two singular vectors.
                assert_eq!(found[3 * row + 2] == random[3 * row + 2], mode == 2);
            }
        }
        let zero = AnyTensor::zeros(vec![4, 3, 2], Format::dense(3), ElementType::F64).unwrap();
        let [found, random] = [Start::Hosvd { seed: 3 }, Start::Random { seed: 3 }]
            .map(|start| factors(&zero, 3, &start, Signs::Any, &engine()).unwrap());
        assert_eq!(found, random);
    }

    #[test]
    fn a_model_has_the_shape_and_the_rank() {
        let start = Start::Model(model(&[4, 3, 5], 2, 1));
        assert_eq!(Start::Model(factors(&tensor(), 2, &start, Signs::Any, &engine()).unwrap()), start);
        let error = message(factors(&tensor(), 3, &start, Signs::Any, &engine()));
        assert_eq!(error, "the model to start from has rank 2, but 3 is asked for");
        let error = message(factors(&tensor(), 2, &Start::Model(model(&[4, 5, 3], 2, 1)), Signs::Any, &engine()));
        assert_eq!(error, "the model to start from has shape 4 × 5 × 3, but the tensor has 4 × 3 × 5");
        let mut factor = Factor::from_fn([4, 1], |at| at[0] as f64).unwrap();
        factor.values_mut()[2] = -0.5;
        let others = [3, 5].map(|rows| Factor::from_fn([rows, 1], |_| 1.0).unwrap());
        let [b, c] = others;
        let start = Start::Model(KTensor::new(vec![1.0], vec![factor, b, c]).unwrap());
        assert!(factors(&tensor(), 1, &start, Signs::Any, &engine()).is_ok());
        let error = message(factors(&tensor(), 1, &start, Signs::NotNegative, &engine()));
        assert!(
            error.starts_with("the factor of mode 1 to start from has the negative value -0.5 at (3, 1)"),
            "{error}"
        );
    }

    #[test]
    fn factors_come_from_files_of_any_kind() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let matrix =
            |rows: usize| Tensor::<f32, Dense<2>>::from_fn([rows, 2], |at| (at[0] + 2 * at[1]) as f32).unwrap();
        io::write_tensor(path("a.npy"), matrix(4).as_any()).unwrap();
        io::write_tensor(path("b.mtx"), matrix(3).as_any()).unwrap();
        let sparse = Tensor::<i32, Csr>::from_entries([5, 2], [([3, 1], 7)]).unwrap();
        io::write_tensor(path("c.tns"), sparse.as_any()).unwrap();
        let files = [path("a.npy"), path("b.mtx"), path("c.tns")];
        let Start::Model(read) = Start::from_files(&files, &[4, 3, 5], 2).unwrap() else { panic!("a model") };
        assert_eq!((read.shape(), read.weights()), (vec![4, 3, 5], &[1.0; 2][..]));
        assert_eq!(read.factors()[0].values(), [0.0, 2.0, 1.0, 3.0, 2.0, 4.0, 3.0, 5.0]);
        assert_eq!(read.factors()[2].get(&[3, 1]), Some(7.0));
        // A list of entries that does not state its shape has the one that is needed.
        std::fs::write(path("d.tns"), "1 2 7.5\n").unwrap();
        let short = [path("a.npy"), path("b.mtx"), path("d.tns")];
        let Start::Model(read) = Start::from_files(&short, &[4, 3, 5], 2).unwrap() else { panic!("a model") };
        assert_eq!(read.factors()[2].values(), [0.0, 7.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let error = message(Start::from_files(&files, &[4, 5, 3], 2));
        let expected = "the factor of mode 2 has shape 3 × 2, but 5 × 2 is needed (extent × rank)";
        assert_eq!(error, format!("{}: {expected}", path("b.mtx").display()));
        let error = message(Start::from_files(&files, &[4, 3, 5], 3));
        assert!(
            error.ends_with("a.npy: the factor of mode 1 has shape 4 × 2, but 4 × 3 is needed (extent × rank)"),
            "{error}"
        );
        let error = message(Start::from_files(&files[..1], &[4, 3, 5], 2));
        assert_eq!(error, "there is 1 file of factors, but the tensor has 3 modes: name one for each, in order");
        let error = message(Start::from_files(&[path("a.npy"), path("d.npy"), path("c.tns")], &[4, 3, 5], 2));
        assert!(error.contains("d.npy: cannot open"), "{error}");
        let mut wrong = matrix(4);
        wrong.values_mut()[5] = f32::NAN;
        io::write_tensor(path("a.npy"), wrong.as_any()).unwrap();
        let error = message(Start::from_files(&files, &[4, 3, 5], 2));
        assert!(
            error.ends_with("a.npy: the factor of mode 1 has NaN at (3, 2): models have finite numbers"),
            "{error}"
        );
        io::write_tensor(path("a.npy"), &tensor()).unwrap();
        let error = message(Start::from_files(&files, &[4, 3, 5], 2));
        assert!(
            error.ends_with(
                "a.npy: the factor of mode 1 has shape 4 × 3 × 5: a factor is a matrix of extent × components"
            ),
            "{error}"
        );
    }
}
