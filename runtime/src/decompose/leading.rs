//! The leading left singular vectors of an unfolding.

use super::algebra::{self, Eigen};
use super::engine::indices;
use super::start::uniform;
use super::{DecomposeError, Engine, Factor};
use crate::execute::Kernel;
use crate::tensor::{AnyTensor, AnyView, Coordinates, Duplicates, Element, Indices, InvalidTensor, OutOfMemory, pack};
use crate::with_element;
use spc_compiler::format::{Format, LevelFormat};

/// Up to this extent, eigenvectors are those of the whole matrix X₍ₙ₎ X₍ₙ₎ᵀ.
const WHOLE: usize = 2000;
/// How many more columns than asked for are iterated with: they make the asked ones converge faster.
const MORE: usize = 10;
/// The most iterations, and when they end: by ‖A q - θ q‖ relative to the largest θ. What θ is wrong by is of the order of its square over the gap
/// to the next θ. After the most iterations the vectors are taken as they are.
const ROUNDS: usize = 40;
const RESIDUAL: f64 = 1e-6;

/// The leading left singular vectors of the unfolding of a tensor along a mode, and its singular values: a matrix of extent × `count`, row
/// after row, and `count` numbers from the largest. There are at most as many as the extent. The largest element of each vector is positive.
///
/// They are eigenvectors of X₍ₙ₎ X₍ₙ₎ᵀ. Where that matrix is small it is computed whole; else a block of vectors is multiplied by it over and
/// over, each time followed by the best of the span of the block, its product and the block before (the locally optimal iteration of Knyazev,
/// 2001, with the random start of Halko, Martinsson and Tropp, 2011). Singular values below 1e-8 of the largest are noise, as are their vectors.
///
/// # Errors
/// When a value is not finite, there is not enough memory, or a kernel can't be compiled or run.
pub(super) fn leading(
    x: &AnyTensor,
    mode: usize,
    count: usize,
    seed: u64,
    engine: &Engine,
) -> Result<(Vec<f64>, Vec<f64>), DecomposeError> {
    leading_within(x, mode, count, seed, engine, WHOLE)
}

/// The same, with the largest extent whose matrix is computed whole.
fn leading_within(
    x: &AnyTensor,
    mode: usize,
    count: usize,
    seed: u64,
    engine: &Engine,
    whole: usize,
) -> Result<(Vec<f64>, Vec<f64>), DecomposeError> {
    let extent = x.shape()[mode];
    let count = count.min(extent);
    if count == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let (fibers, scale) = scaled_fibers(x, mode)?;
    let unfolded = Unfolded { fibers, mode };
    let width = count + MORE;
    let Eigen { values, vectors } = match extent <= whole || 3 * width > extent {
        true => algebra::symmetric_eigen(&unfolded.gram(engine)?, extent)?,
        false => unfolded.iterated(engine, count, width, seed)?,
    };
    let columns = values.len();
    let vectors = (0..extent * count).map(|place| vectors[place / count * columns + place % count]).collect();
    Ok((vectors, values[..count].iter().map(|value| value.max(0.0).sqrt() / scale).collect()))
}

/// The entries of a tensor of real numbers as `f64`, without zeros.
///
/// # Errors
/// When one is not finite, or there is not enough memory.
pub(super) fn finite_entries(x: &AnyTensor) -> Result<Coordinates<f64>, DecomposeError> {
    fn of<T: Element>(x: &AnyTensor) -> Result<Coordinates<f64>, OutOfMemory> {
        let Coordinates { shape, shape_is_stated, indices, values } = x.try_to_coordinates::<T>()?;
        let values = crate::memory::try_collected(values.into_iter().map(T::to_f64))?;
        Ok(Coordinates { shape, shape_is_stated, indices, values })
    }
    let mut entries = with_element!(x.element(), |T| of::<T>(x)).map_err(InvalidTensor::Memory)?;
    if let Some(entry) = entries.values.iter().position(|value| !value.is_finite()) {
        let at = |mode: &Indices| match mode {
            Indices::U32(indices) => indices[entry] as usize,
            Indices::U64(indices) => indices[entry] as usize,
        };
        return Err(DecomposeError::NotFinite {
            index: entries.indices.iter().map(at).collect(),
            value: entries.values[entry],
        });
    }
    entries.remove(&0.0);
    Ok(entries)
}

/// The tensor as a tree whose leaves are the fibers of a mode, times a power of two that keeps squares of values in range.
fn scaled_fibers(x: &AnyTensor, mode: usize) -> Result<(AnyTensor, f64), DecomposeError> {
    let mut entries = finite_entries(x)?;
    let largest = entries.values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { (-largest.log2().floor()).clamp(-1000.0, 1000.0).exp2() } else { 1.0 };
    entries.values.iter_mut().for_each(|value| *value *= scale);
    let modes: Vec<usize> = (0..x.order()).filter(|&other| other != mode).chain([mode]).collect();
    let format = Format::permuted(&modes, &vec![LevelFormat::COMPRESSED; modes.len()]);
    Ok((pack(entries, &format, Duplicates::Sum)?, scale))
}

/// An unfolding: the fibers of a mode, side by side.
struct Unfolded {
    fibers: AnyTensor,
    mode: usize,
}

impl Unfolded {
    fn extent(&self) -> usize {
        self.fibers.shape()[self.mode]
    }

    /// The index variables of the other modes, and an access with another name for that of the mode.
    fn names(&self) -> (Vec<String>, impl Fn(&str) -> String) {
        let names = indices(self.fibers.order());
        let mut others = names.clone();
        others.remove(self.mode);
        let mode = self.mode;
        let access = move |name: &str| {
            let mut names = names.clone();
            names[mode] = name.to_owned();
            format!("X({})", names.join(", "))
        };
        (others, access)
    }

    /// X₍ₙ₎ X₍ₙ₎ᵀ.
    fn gram(&self, engine: &Engine) -> Result<Vec<f64>, DecomposeError> {
        let (mut loops, access) = self.names();
        loops.extend(["a", "b"].map(str::to_owned));
        let text = format!(
            "fn gram(X: f64 {}) -> G: f64 dense {{ G(a, b) = {} * {}; }} schedule {{ reorder({}); }}",
            self.fibers.format(),
            access("a"),
            access("b"),
            loops.join(", ")
        );
        let kernel = one(engine, text)?;
        let gram: Factor = kernel.call(&[&self.fibers])?.single()?;
        finite(gram.into_values())
    }

    /// What multiplies a block of vectors by X₍ₙ₎ X₍ₙ₎ᵀ: each fiber times the block, and that back to where the fiber has entries.
    fn product(&self, engine: &Engine) -> Result<Kernel, DecomposeError> {
        let (mut loops, access) = self.names();
        loops.extend(["b", "r"].map(str::to_owned));
        let text = format!(
            "fn product(X: f64 {}, Q: f64 dense) -> Y: f64 dense {{ Y(b, r) = {} * sum(a)({} * Q(a, r)); }} schedule {{ reorder({}); }}",
            self.fibers.format(),
            access("b"),
            access("a"),
            loops.join(", ")
        );
        one(engine, text)
    }

    /// `width` leading eigenvectors of X₍ₙ₎ X₍ₙ₎ᵀ, of which the first `count` have converged.
    fn iterated(&self, engine: &Engine, count: usize, width: usize, seed: u64) -> Result<Eigen, DecomposeError> {
        let rows = self.extent();
        let kernel = self.product(engine)?;
        let mut basis: Vec<f64> = uniform(rows, width, seed, self.mode)?.into_values();
        basis.iter_mut().for_each(|number| *number -= 0.5);
        let mut columns = width;
        let mut before: Option<Vec<f64>> = None;
        let mut round = 1;
        loop {
            let span = algebra::orthonormal(&basis, rows, columns);
            let block = AnyView::from_slice([rows, columns], &span)?;
            let image: Factor = kernel.call(&[&self.fibers, &block])?.single()?;
            let image = finite(image.into_values())?;
            let small = algebra::transposed_times(&span, &image, rows, columns, columns);
            let Eigen { mut values, vectors } = algebra::symmetric_eigen(&small, columns)?;
            values.truncate(width);
            let best: Vec<f64> =
                (0..columns * width).map(|place| vectors[place / width * columns + place % width]).collect();
            let ritz = algebra::times(&span, &best, rows, columns, width);
            let image = algebra::times(&image, &best, rows, columns, width);
            if round == ROUNDS || residual(&ritz, &image, &values, count) <= RESIDUAL * values[0].abs() {
                return Ok(Eigen { values, vectors: algebra::positive(ritz, rows, width) });
            }
            let parts: Vec<&Vec<f64>> = [&ritz, &image].into_iter().chain(&before).collect();
            columns = parts.len() * width;
            basis.clear();
            for row in 0..rows {
                parts.iter().for_each(|part| basis.extend(&part[row * width..(row + 1) * width]));
            }
            before = Some(ritz);
            round += 1;
        }
    }
}

/// The largest norm of what a product with a vector differs by from that vector times its value, of the first vectors.
fn residual(vectors: &[f64], image: &[f64], values: &[f64], count: usize) -> f64 {
    let mut squares = vec![0.0; count];
    for (vector, image) in vectors.chunks_exact(values.len()).zip(image.chunks_exact(values.len())) {
        for (column, square) in squares.iter_mut().enumerate() {
            *square += (image[column] - values[column] * vector[column]).powi(2);
        }
    }
    squares.into_iter().fold(0.0, f64::max).sqrt()
}

fn one(engine: &Engine, text: String) -> Result<Kernel, DecomposeError> {
    let mut kernels = engine.compile(vec![engine.builder(text)])?;
    kernels.pop().ok_or(DecomposeError::Algebra("there is no kernel"))
}

fn finite(numbers: Vec<f64>) -> Result<Vec<f64>, DecomposeError> {
    match numbers.iter().all(|number| number.is_finite()) {
        true => Ok(numbers),
        false => Err(DecomposeError::Algebra("the squares of the tensor's entries are not finite")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Backend;
    use crate::generate;
    use crate::tensor::{Csf, ElementType, Tensor};

    fn engine() -> Engine {
        Engine { backend: Some(Backend::Interpreter), ..Engine::default() }
    }

    fn example() -> AnyTensor {
        let entries = (0..24).filter(|place| place % 5 != 3).map(|place: usize| {
            let value = ((7 * place) % 11) as f64 - 4.0;
            ([place / 6, place / 2 % 3, place % 2], value)
        });
        Tensor::<f64, Csf<3>>::from_entries([4, 3, 2], entries).unwrap().into_any()
    }

    /// `x = np.zeros(24); p = np.array([p for p in range(24) if p % 5 != 3]); x[p] = (7 * p) % 11 - 4.0; x = x.reshape(4, 3, 2)`, and for each
    /// mode n `u, s, _ = np.linalg.svd(np.moveaxis(x, n, 0).reshape(x.shape[n], -1))`, then each column times the sign of its largest element.
    #[test]
    fn vectors_are_those_of_numpy() {
        let numpy: [([f64; 2], &[f64]); 3] = [
            (
                [10.723979658924856, 7.702269339197361],
                &[-0.4329554734255322, 0.08519333131812201, 0.7740084352374927, 0.4540953605918061],
            ),
            ([11.322599709910795, 6.918486381970837], &[0.5130159670445952, 0.6252061089386163, -0.5881597902807826]),
            ([11.349349058056735, 9.06599558561478], &[0.9804185300934776, -0.19692512752146457]),
        ];
        for (mode, (values, first)) in numpy.into_iter().enumerate() {
            let (vectors, found) = leading(&example(), mode, 2, 0, &engine()).unwrap();
            for (found, expected) in found.iter().zip(values) {
                assert!((found - expected).abs() < 1e-12, "mode {mode}: {found} {expected}");
            }
            for (row, expected) in first.iter().enumerate() {
                assert!((vectors[2 * row] - expected).abs() < 1e-12, "mode {mode}: {vectors:?}");
            }
        }
    }

    #[test]
    fn iterations_find_what_the_whole_matrix_has() {
        let entries = generate::uniform(&[120, 9, 7], 1200, 3).unwrap();
        let x = pack(entries, &Format::coo(3), Duplicates::Sum).unwrap();
        let (whole, values) = leading(&x, 0, 3, 5, &engine()).unwrap();
        let (iterated, found) = leading_within(&x, 0, 3, 5, &engine(), 10).unwrap();
        for (a, b) in values.iter().zip(&found) {
            assert!((a - b).abs() < 1e-10 * values[0], "{values:?} {found:?}");
        }
        for (a, b) in whole.iter().zip(&iterated) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn a_tensor_of_low_rank_and_one_of_zeros_have_orthonormal_vectors() {
        let one = Tensor::<f32, Csf<3>>::from_entries([60, 2, 2], [([3, 1, 0], 2.5)]).unwrap().into_any();
        let none = AnyTensor::zeros(vec![60, 2, 2], Format::dense(3), ElementType::I32).unwrap();
        for (x, largest) in [(one, 2.5), (none, 0.0)] {
            for whole in [0, 100] {
                let (vectors, values) = leading_within(&x, 0, 4, 1, &engine(), whole).unwrap();
                assert!((values[0] - largest).abs() < 1e-12 && values[1].abs() < 1e-6, "{values:?}");
                let gram = algebra::transposed_times(&vectors, &vectors, 60, 4, 4);
                for (place, found) in gram.iter().enumerate() {
                    assert!((found - f64::from(u8::from(place % 5 == 0))).abs() < 1e-12, "{gram:?}");
                }
            }
        }
        assert_eq!(leading(&example(), 1, 9, 0, &engine()).unwrap().1.len(), 3);
    }

    #[test]
    fn values_of_any_size_keep_their_vectors_and_those_that_are_no_numbers_are_refused() {
        let (vectors, values) = leading(&example(), 0, 2, 0, &engine()).unwrap();
        for size in [1e-290, 1e290] {
            let scaled: Vec<f64> = example().values_of::<f64>().unwrap().iter().map(|value| value * size).collect();
            let scaled = example().with_values(scaled.into()).unwrap();
            let (found, sizes) = leading(&scaled, 0, 2, 0, &engine()).unwrap();
            assert!(vectors.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
            assert!((sizes[0] / size - values[0]).abs() < 1e-12 * values[0]);
        }
        let wrong = Tensor::<f64, Csf<3>>::from_entries([4, 3, 2], [([1, 2, 0], f64::NAN)]).unwrap().into_any();
        let error = leading(&wrong, 0, 1, 0, &engine()).unwrap_err().to_string();
        assert_eq!(error, "the entry at (2, 3, 1) is NaN: a decomposition takes finite values");
    }
}
