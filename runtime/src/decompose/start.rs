//! Where an iteration starts.

use super::against::finite_matrix;
use super::leading::leading;
use super::{DecomposeError, Engine, Factor, KTensor, files, show};
use crate::generate;
use crate::io;
use crate::tensor::{AnyTensor, ElementType};
use std::path::Path;

/// Where an iteration starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// Factors of uniform random numbers in (0, 1], from a seed: the same on every machine.
    Random {
        /// The seed.
        seed: u64,
    },
    /// The leading left singular vectors of each unfolding; random columns where a rank is above an extent.
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
    /// [`io::read`] takes. Weights are 1.
    ///
    /// # Errors
    /// When there is another number of files, one can't be read, or does not fit; with its name and the shape that it needs.
    pub fn from_files<P: AsRef<Path>>(files: &[P], shape: &[usize], rank: usize) -> Result<Self, DecomposeError> {
        if files.len() != shape.len() {
            let (count, modes) = (files.len(), shape.len());
            let files = if count == 1 { "is 1 file" } else { &format!("are {count} files") };
            let message =
                format!("there {files} of factors, but the tensor has {modes} modes: name one for each, in order");
            return Err(DecomposeError::Start(message));
        }
        let mut factors = Vec::with_capacity(files.len());
        for (mode, (file, &extent)) in files.iter().zip(shape).enumerate() {
            let path = file.as_ref();
            let wrong = |problem: String| DecomposeError::File { path: path.to_owned(), problem };
            let number = mode + 1;
            let factor = files::matrix(&io::read(path)?)
                .map_err(|problem| wrong(format!("the factor of mode {number} {problem}")))?;
            if factor.shape() != [extent, rank] {
                let found = show::shape(factor.shape());
                let problem = format!(
                    "the factor of mode {number} has shape {found}, but {extent} × {rank} is needed (extent × rank)"
                );
                return Err(wrong(problem));
            }
            finite_matrix(&factor, mode).map_err(|error| wrong(error.to_string()))?;
            factors.push(factor);
        }
        Ok(Start::Model(KTensor::new(vec![1.0; rank], factors)?))
    }
}

/// The model that an iteration starts with.
///
/// # Errors
/// When the rank is 0, a model has another shape or rank, or singular vectors can't be found.
pub(super) fn factors(x: &AnyTensor, rank: usize, start: &Start, engine: &Engine) -> Result<KTensor, DecomposeError> {
    if rank == 0 {
        return Err(DecomposeError::Option("the rank is 0: a model has at least one component".to_owned()));
    }
    let each = |factor: &dyn Fn(usize, usize) -> Result<Factor, DecomposeError>| {
        let factors: Result<Vec<_>, _> =
            x.shape().iter().enumerate().map(|(mode, &extent)| factor(mode, extent)).collect();
        KTensor::new(vec![1.0; rank], factors?)
    };
    match start {
        Start::Random { seed } => each(&|mode, extent| uniform(extent, rank, *seed, mode)),
        Start::Hosvd { seed } => each(&|mode, extent| {
            let (vectors, values) = leading(x, mode, rank, *seed, engine)?;
            let count = values.len();
            let mut factor = uniform(extent, rank, *seed, mode)?;
            let rows = factor.values_mut().chunks_exact_mut(rank);
            rows.zip(vectors.chunks_exact(count.max(1))).for_each(|(row, found)| row[..count].copy_from_slice(found));
            Ok(factor)
        }),
        Start::Model(model) => {
            let (shape, found) = (show::shape(x.shape()), show::shape(&model.shape()));
            if model.shape() != x.shape() {
                let message = format!("the model to start from has shape {found}, but the tensor has {shape}");
                return Err(DecomposeError::Start(message));
            }
            if model.rank() != rank {
                let found = model.rank();
                let message = format!("the model to start from has rank {found}, but {rank} is asked for");
                return Err(DecomposeError::Start(message));
            }
            Ok(model.clone())
        }
    }
}

/// Uniform numbers in (0, 1] for the factor of a mode.
pub(super) fn uniform(rows: usize, columns: usize, seed: u64, mode: usize) -> Result<Factor, DecomposeError> {
    // The golden ratio keeps the streams of neighbouring seeds and modes apart.
    let stream = seed.wrapping_add((mode as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let numbers = generate::random_dense(&[rows, columns], ElementType::F64, stream)?;
    Ok(Factor::from_vec([rows, columns], numbers.values_of::<f64>().unwrap_or_default().to_vec())?)
}

#[cfg(test)]
mod tests {
    use super::super::ktensor::tests::{model, tensor};
    use super::*;
    use crate::execute::Backend;
    use crate::tensor::{Csr, Dense, Tensor};

    fn engine() -> Engine {
        Engine { backend: Some(Backend::Interpreter), ..Engine::default() }
    }

    fn message<T>(result: Result<T, DecomposeError>) -> String {
        result.map(drop).unwrap_err().to_string()
    }

    #[test]
    fn random_factors_are_within_range_and_follow_the_seed() {
        let made = |seed| factors(&tensor(), 6, &Start::Random { seed }, &engine()).unwrap();
        let model = made(7);
        assert_eq!((model.shape(), model.weights()), (vec![4, 3, 5], &[1.0; 6][..]));
        let mut numbers = model.factors().iter().flat_map(|factor| factor.values());
        assert!(numbers.all(|&number| 0.0 < number && number <= 1.0));
        assert_eq!(made(7), model);
        assert_ne!(made(8), model);
        assert_ne!(model.factors()[0].values()[..18], model.factors()[1].values()[..18]);
        assert!(message(factors(&tensor(), 0, &Start::default(), &engine())).starts_with("the rank is 0"));
    }

    #[test]
    fn singular_vectors_come_first_and_random_columns_behind() {
        let made = factors(&tensor(), 4, &Start::Hosvd { seed: 3 }, &engine()).unwrap();
        let random = factors(&tensor(), 4, &Start::Random { seed: 3 }, &engine()).unwrap();
        let (vectors, _) = leading(&tensor(), 1, 3, 3, &engine()).unwrap();
        for row in 0..3 {
            let found = &made.factors()[1].values()[4 * row..4 * row + 4];
            assert_eq!(found[..3], vectors[3 * row..3 * row + 3]);
            assert_eq!(found[3], random.factors()[1].values()[4 * row + 3]);
        }
        assert_eq!(made.factors()[2].values(), leading(&tensor(), 2, 4, 3, &engine()).unwrap().0);
    }

    #[test]
    fn a_model_has_the_shape_and_the_rank() {
        let start = Start::Model(model(&[4, 3, 5], 2, 1));
        assert_eq!(Start::Model(factors(&tensor(), 2, &start, &engine()).unwrap()), start);
        let error = message(factors(&tensor(), 3, &start, &engine()));
        assert_eq!(error, "the model to start from has rank 2, but 3 is asked for");
        let error = message(factors(&tensor(), 2, &Start::Model(model(&[4, 5, 3], 2, 1)), &engine()));
        assert_eq!(error, "the model to start from has shape 4 × 5 × 3, but the tensor has 4 × 3 × 5");
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
