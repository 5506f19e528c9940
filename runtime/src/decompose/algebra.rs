//! Dense algebra on small matrices, by `nalgebra`, on the thread that calls. Matrices are slices of `f64`, row after row.
//!
//! `faer` is three to ten times as fast on matrices of more than 64 rows, but would make the build a third longer and the command a quarter
//! larger. What is large is computed by kernels.

use super::DecomposeError;
use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut};

/// The eigenvectors of a symmetric matrix, by eigenvalues from the largest.
#[derive(Debug, Clone)]
pub(super) struct Eigen {
    /// From the largest.
    pub values: Vec<f64>,
    /// Row after row; the vectors are the columns, in the order of the values.
    pub vectors: Vec<f64>,
}

/// Eigenvalues and eigenvectors of a symmetric matrix of `n` rows; the sign of each vector is such that its largest element is positive.
pub(super) fn symmetric_eigen(matrix: &[f64], n: usize) -> Result<Eigen, DecomposeError> {
    const ROUNDS: usize = 50;
    if n == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: Vec::new() });
    }
    let found = DMatrix::from_row_slice(n, n, matrix).try_symmetric_eigen(f64::EPSILON, ROUNDS * n);
    let found = found.filter(|found| found.eigenvalues.iter().all(|value| value.is_finite()));
    let found = found.ok_or(DecomposeError::Algebra("the eigenvalues of a symmetric matrix do not converge"))?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&one, &other| found.eigenvalues[other].total_cmp(&found.eigenvalues[one]));
    let values = order.iter().map(|&column| found.eigenvalues[column]).collect();
    let vectors = (0..n * n).map(|place| found.eigenvectors[(place / n, order[place % n])]).collect();
    Ok(Eigen { values, vectors: positive(vectors, n, n) })
}

/// The inverse of a symmetric matrix that is positive semi-definite: by Cholesky where that is well conditioned, else the pseudo-inverse by
/// eigenvalues. One that is zero has the inverse zero.
pub(super) fn inverse(matrix: &[f64], n: usize) -> Result<Vec<f64>, DecomposeError> {
    if matrix.iter().any(|value| !value.is_finite()) {
        return Err(DecomposeError::Algebra("a matrix of least squares is not finite"));
    }
    // The inverse of a symmetric matrix is symmetric: rows are columns.
    if let Some(factor) = DMatrix::from_row_slice(n, n, matrix).cholesky()
        && is_well_conditioned(factor.l_dirty())
    {
        // Twice as fast as by columns while all is in the nearest cache.
        const SMALL: usize = 128;
        let inverse = match n {
            0..=SMALL => {
                let lower = factor.unpack().solve_lower_triangular(&DMatrix::identity(n, n));
                lower.map(|inverse| inverse.tr_mul(&inverse))
            }
            _ => Some(factor.inverse()),
        };
        if let Some(inverse) = inverse {
            return Ok(inverse.as_slice().to_vec());
        }
    }
    let Eigen { values, vectors } = symmetric_eigen(matrix, n)?;
    let smallest = values.first().copied().unwrap_or(0.0) * n as f64 * f64::EPSILON;
    let mut inverse = vec![0.0; n * n];
    for (place, value) in values.iter().enumerate().filter(|&(_, &value)| value > smallest) {
        for row in 0..n {
            let scaled = vectors[row * n + place] / value;
            (0..n).for_each(|column| inverse[row * n + column] += scaled * vectors[column * n + place]);
        }
    }
    Ok(inverse)
}

/// Whether a matrix can be divided by: the squares of the diagonal of its Cholesky factor bound its condition from below.
fn is_well_conditioned(factor: &DMatrix<f64>) -> bool {
    let diagonal = (0..factor.nrows()).map(|row| factor[(row, row)]);
    let (least, largest) = diagonal.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), d| (low.min(d), high.max(d)));
    least * least > largest * largest * factor.nrows() as f64 * 1e-13
}

/// Columns with the same span as those of a matrix of `rows` × `columns`, `columns` ≤ `rows`, that are orthonormal: A L⁻ᵀ with AᵀA = L Lᵀ,
/// twice (Yamamoto et al. 2015) where that is well conditioned, else by Householder reflections.
pub(super) fn orthonormal(matrix: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let once = |matrix: &[f64]| {
        let gram = transposed_times(matrix, matrix, rows, columns, columns);
        let lower = DMatrix::from_row_slice(columns, columns, &gram).cholesky()?.unpack();
        if !is_well_conditioned(&lower) {
            return None;
        }
        let inverse = lower.solve_lower_triangular(&DMatrix::identity(columns, columns))?;
        // Columns one after the other are the rows of the transpose, L⁻ᵀ.
        Some(times(matrix, inverse.as_slice(), rows, columns, columns))
    };
    once(matrix).and_then(|first| once(&first)).unwrap_or_else(|| {
        let q = DMatrix::from_row_slice(rows, columns, matrix).qr().q();
        q.transpose().as_slice().to_vec()
    })
}

/// The transposed Moore-Penrose inverse of a matrix of `rows` × `columns`, in the same shape: singular values below the rounding of the largest
/// count as zero.
pub(super) fn pseudo_inverse_transposed(
    matrix: &[f64],
    rows: usize,
    columns: usize,
) -> Result<Vec<f64>, DecomposeError> {
    // Of A = Q R the inverse is R⁺ Qᵀ; singular vectors of R, (u, v) / √2, are eigenvectors of | 0 R; Rᵀ 0 | for its positive eigenvalues.
    let tall = rows > columns;
    let q = if tall { orthonormal(matrix, rows, columns) } else { Vec::new() };
    let (r, high) = match tall {
        true => (transposed_times(&q, matrix, rows, columns, columns), columns),
        false => (matrix.to_vec(), rows),
    };
    let size = high + columns;
    let mut both = vec![0.0; size * size];
    for (place, &value) in r.iter().enumerate() {
        let (row, column) = (place / columns, high + place % columns);
        both[row * size + column] = value;
        both[column * size + row] = value;
    }
    let Eigen { values, vectors } = symmetric_eigen(&both, size)?;
    let least = values.first().copied().unwrap_or(0.0) * rows.max(columns) as f64 * f64::EPSILON;
    let mut inverse = vec![0.0; high * columns];
    for (place, value) in values.iter().enumerate().take(high.min(columns)).filter(|&(_, &value)| value > least) {
        for row in 0..high {
            let scaled = 2.0 * vectors[row * size + place] / value;
            let right = (0..columns).map(|column| vectors[(high + column) * size + place]);
            inverse[row * columns..][..columns].iter_mut().zip(right).for_each(|(sum, v)| *sum += scaled * v);
        }
    }
    Ok(if tall { times(&q, &inverse, rows, columns, columns) } else { inverse })
}

/// The product of matrices of `rows` × `inner` and `inner` × `columns`.
pub(super) fn times(a: &[f64], b: &[f64], rows: usize, inner: usize, columns: usize) -> Vec<f64> {
    let mut result = vec![0.0; rows * columns];
    product(transposed(b, inner, columns), transposed(a, rows, inner), &mut result);
    result
}

/// AᵀB, of matrices of `rows` × `left` and `rows` × `right`.
pub(super) fn transposed_times(a: &[f64], b: &[f64], rows: usize, left: usize, right: usize) -> Vec<f64> {
    let mut result = vec![0.0; left * right];
    let a = transposed(a, rows, left).transpose();
    product(transposed(b, rows, right), a.as_view(), &mut result);
    result
}

/// A Bᵀ into memory that is there, of matrices with so many columns; of none, zeros.
pub(super) fn times_transposed_into(a: &[f64], b: &[f64], inner: usize, result: &mut [f64]) {
    if inner == 0 {
        return result.fill(0.0);
    }
    let (rows, columns) = (a.len() / inner, b.len() / inner);
    let b = transposed(b, columns, inner).transpose();
    product(b.as_view(), transposed(a, rows, inner), result);
}

/// The transpose of a matrix of rows one after the other: `nalgebra` has columns one after the other.
fn transposed(matrix: &[f64], rows: usize, columns: usize) -> DMatrixView<'_, f64> {
    DMatrixView::from_slice(matrix, columns, rows)
}

/// The transpose of a product, from those of its operands in their turn.
fn product(b: DMatrixView<'_, f64>, a: DMatrixView<'_, f64>, result: &mut [f64]) {
    if result.is_empty() || a.is_empty() {
        return result.fill(0.0);
    }
    DMatrixViewMut::from_slice(result, b.nrows(), a.ncols()).gemm(1.0, &b, &a, 0.0);
}

/// Columns with a sign such that the largest element of each is positive.
pub(super) fn positive(mut matrix: Vec<f64>, rows: usize, columns: usize) -> Vec<f64> {
    for column in 0..columns {
        let elements = (0..rows).map(|row| matrix[row * columns + column]);
        let largest = elements.fold(0.0, |a: f64, b: f64| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            (0..rows).for_each(|row| matrix[row * columns + column] *= -1.0);
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
        let element = |row, column| (0..n).map(|k| a[row * n + k] * b[k * n + column]).sum();
        (0..n * n).map(|place| element(place / n, place % n)).collect()
    }

    #[test]
    fn inverse_of_a_regular_matrix() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, 0.25, 0.5, 0.25, 2.0];
        let one = product(&a, &inverse(&a, 3).unwrap(), 3);
        for (place, value) in one.iter().enumerate() {
            assert!((value - f64::from(u8::from(place % 4 == 0))).abs() < 1e-14, "{one:?}");
        }
    }

    #[test]
    fn pseudo_inverse_of_a_singular_matrix() {
        let a = [1.0, 1.0, 1.0, 1.0];
        let p = inverse(&a, 2).unwrap();
        assert!(p.iter().all(|value| (value - 0.25).abs() < 1e-15), "{p:?}");
        assert_eq!(inverse(&[0.0; 4], 2).unwrap(), [0.0; 4]);
    }

    /// `np.linalg.pinv(a).T`, also of `a.T` and of a matrix of rank 1.
    #[test]
    fn pseudo_inverses_of_any_shape() {
        let tall = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0];
        let expected = [-29.0, 21.0, 11.0, -7.0, 2.0, 0.0].map(|value| value / 14.0);
        let wide = [1.0, 3.0, 5.0, 2.0, 4.0, 7.0];
        let transposed = [-29.0, 11.0, 2.0, 21.0, -7.0, 0.0].map(|value| value / 14.0);
        let one = [1.0, 2.0, 2.0, 4.0];
        let small = one.map(|value| value / 25.0);
        for (matrix, rows, expected) in [(&tall[..], 3, &expected[..]), (&wide, 2, &transposed), (&one, 2, &small)] {
            let found = pseudo_inverse_transposed(matrix, rows, matrix.len() / rows).unwrap();
            let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13);
            assert!(near, "{found:?} {expected:?}");
        }
        assert_eq!(pseudo_inverse_transposed(&[0.0; 6], 3, 2).unwrap(), [0.0; 6]);
    }

    #[test]
    fn eigenvalues_come_from_the_largest() {
        let found = symmetric_eigen(&[2.0, 1.0, 1.0, 2.0], 2).unwrap();
        assert!((found.values[0] - 3.0).abs() < 1e-15 && (found.values[1] - 1.0).abs() < 1e-15);
        let half = 0.5f64.sqrt();
        assert!((found.vectors[0] - half).abs() < 1e-15 && (found.vectors[2] - half).abs() < 1e-15);
    }

    #[test]
    fn orthonormal_columns_span_the_same() {
        let a = [1.0, 1.0, 0.0, 2.0, 0.0, 0.0];
        let q = orthonormal(&a, 3, 2);
        assert!((q[0].abs() - 1.0).abs() < 1e-15 && (q[3].abs() - 1.0).abs() < 1e-15, "{q:?}");
    }
}
