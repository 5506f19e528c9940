//! Dense algebra on small matrices, by `faer`, on the thread that calls. Matrices are slices of `f64`, row after row.

use super::DecomposeError;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Accum, MatMut, MatRef, Par, Side};

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
    let found = MatRef::from_row_major_slice(matrix, n, n).self_adjoint_eigen(Side::Lower);
    let found = found.map_err(|_| DecomposeError::Algebra("the eigenvalues of a symmetric matrix do not converge"))?;
    let (s, u) = (found.S().column_vector(), found.U());
    let values = (0..n).rev().map(|column| s[column]).collect();
    let vectors = (0..n * n).map(|place| u[(place / n, n - 1 - place % n)]).collect();
    Ok(Eigen { values, vectors: positive(vectors, n, n) })
}

/// The inverse of a symmetric matrix that is positive semi-definite: by Cholesky where that is well conditioned, else the pseudo-inverse by
/// eigenvalues. One that is zero, or not finite, has the inverse zero.
pub(super) fn inverse(matrix: &[f64], n: usize) -> Result<Vec<f64>, DecomposeError> {
    if matrix.iter().any(|value| !value.is_finite()) {
        return Ok(vec![0.0; n * n]);
    }
    let view = MatRef::from_row_major_slice(matrix, n, n);
    if let Ok(factor) = view.llt(Side::Lower) {
        let diagonal = |row: usize| factor.L()[(row, row)];
        let (least, largest) =
            (0..n).map(diagonal).fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), d| (low.min(d), high.max(d)));
        // The squares of the diagonal bound the condition from below.
        if least * least > largest * largest * n as f64 * 1e-13 {
            let inverse = factor.inverse();
            return Ok((0..n * n).map(|place| inverse[(place / n, place % n)]).collect());
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

/// Columns with the same span as those of a matrix of `rows` × `columns`, `columns` ≤ `rows`, that are orthonormal (Householder QR).
pub(super) fn orthonormal(matrix: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let q = MatRef::from_row_major_slice(matrix, rows, columns).qr().compute_thin_Q();
    (0..rows * columns).map(|place| q[(place / columns, place % columns)]).collect()
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
    let b = MatRef::from_row_major_slice(b, inner, columns);
    product(MatRef::from_row_major_slice(a, rows, inner), b)
}

/// AᵀB, of matrices of `rows` × `left` and `rows` × `right`.
pub(super) fn transposed_times(a: &[f64], b: &[f64], rows: usize, left: usize, right: usize) -> Vec<f64> {
    let b = MatRef::from_row_major_slice(b, rows, right);
    product(MatRef::from_row_major_slice(a, rows, left).transpose(), b)
}

/// A Bᵀ into memory that is there, of matrices with so many columns; of none, zeros.
pub(super) fn times_transposed_into(a: &[f64], b: &[f64], inner: usize, result: &mut [f64]) {
    if inner == 0 || result.is_empty() {
        return result.fill(0.0);
    }
    let (rows, columns) = (a.len() / inner, b.len() / inner);
    let b = MatRef::from_row_major_slice(b, columns, inner);
    let target = MatMut::from_row_major_slice_mut(result, rows, columns);
    matmul(target, Accum::Replace, MatRef::from_row_major_slice(a, rows, inner), b.transpose(), 1.0, Par::Seq);
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Vec<f64> {
    let (rows, columns) = (a.nrows(), b.ncols());
    let mut result = vec![0.0; rows * columns];
    let target = MatMut::from_row_major_slice_mut(&mut result, rows, columns);
    matmul(target, Accum::Replace, a, b, 1.0, Par::Seq);
    result
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
