//! Matrices of other crates go in by view and by value, and come out; pointers tell that nothing is copied.

use downstream::{product, scaled, spmv, spmv_by_columns};
use nalgebra::{DMatrix, DMatrixView, DVector};
use nalgebra_sparse::{CscMatrix, CsrMatrix};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use spc::execute::{Backend, Kernel};
use spc::tensor::{AnyTensor, AnyView, ColumnMajor, Csc64, Csr, Csr64, Dense, InvalidTensor, Tensor, View};
use sprs::CsMat;

const EXPECTED: [f64; 2] = [20.0, 403.0];

/// | 0 2 0 |
/// | 3 0 4 |
fn sprs() -> CsMat<f64> {
    CsMat::new((2, 3), vec![0, 1, 3], vec![1, 0, 2], vec![2.0, 3.0, 4.0])
}

fn kernel(text: &str) -> Kernel {
    let kernel = Kernel::builder("y(i) = A(i, j) * x(j)").format("A", text);
    kernel.backend(Backend::Interpreter).compile().unwrap()
}

fn by_rows() -> Kernel {
    kernel("[dense, compressed(u64, pos = u64)]")
}

fn columns(tensor: &AnyTensor) -> *const u8 {
    tensor.coordinates(1).unwrap().as_bytes().as_ptr()
}

fn called(kernel: &Kernel, a: &dyn spc::execute::Input, x: &dyn spc::execute::Input) -> Vec<f64> {
    kernel.call(&[a, x]).unwrap().single::<Tensor<f64, Dense<1>>>().unwrap().into_values()
}

#[test]
fn sprs_matrices() {
    let (a, x) = (sprs(), Array1::from(vec![1.0, 10.0, 100.0]));
    let view = View::<f64, Csr64>::try_from(&a).unwrap();
    assert_eq!(view.values().as_ptr(), a.data().as_ptr());
    assert_eq!(columns(view.as_any()), a.indices().as_ptr().cast());
    let x_view = View::<f64, Dense<1>>::try_from(&x).unwrap();
    assert_eq!(spmv(&view, &x_view).unwrap().values(), EXPECTED);
    assert_eq!(called(&by_rows(), &a, &x), EXPECTED);
    assert_eq!(called(&by_rows(), &a.view(), &x.view()), EXPECTED);

    let by_columns = a.to_csc();
    let csc = View::<f64, Csc64>::try_from(&by_columns).unwrap();
    assert_eq!(spmv_by_columns(&csc, &x_view).unwrap().values(), EXPECTED);
    assert!(View::<f64, Csr64>::try_from(&by_columns).is_err());
    assert!(View::<f64, Csr>::try_from(&a).unwrap_err().to_string().contains("u64"));

    // There and back by value.
    let values = a.data().as_ptr();
    let tensor = Tensor::<f64, Csr64>::try_from(a).unwrap();
    assert_eq!(tensor.values().as_ptr(), values);
    let again = CsMat::<f64>::try_from(tensor).unwrap();
    assert_eq!((again.data().as_ptr(), &again), (values, &sprs()));
    // A kernel's result that shares the structure of what it borrows is a copy.
    let result = {
        let gone = sprs();
        scaled(&View::<f64, Csr64>::try_from(&gone).unwrap(), 2.0).unwrap()
    };
    assert_eq!(CsMat::<f64>::try_from(result).unwrap(), sprs().map(|value| 2.0 * value));
    // Narrow indices, signed ones.
    let narrow = sprs::CsMatI::<f32, i32>::new((2, 3), vec![0, 1, 3], vec![1, 0, 2], vec![2.0, 3.0, 4.0]);
    let view = View::<f32, Csr>::try_from(&narrow).unwrap();
    assert_eq!(columns(view.as_any()), narrow.indices().as_ptr().cast());
}

#[test]
fn ndarray_arrays() {
    let a = Array2::from_shape_vec((2, 3), vec![0.0, 2.0, 0.0, 3.0, 0.0, 4.0]).unwrap();
    let x = vec![1.0, 10.0, 100.0];
    let dense = kernel("dense");
    assert_eq!(called(&dense, &a, &x), EXPECTED);
    assert_eq!(AnyView::try_from(&a).unwrap().values_of::<f64>().unwrap().as_ptr(), a.as_ptr());
    // Of a transposed array the elements are where they were.
    let transposed = a.t().as_standard_layout().into_owned();
    let by_column = transposed.t();
    let view = View::<f64, ColumnMajor>::try_from(by_column).unwrap();
    assert_eq!(view.values().as_ptr(), transposed.as_ptr());
    let x_tensor = View::<f64, Dense<1>>::from_slice([3], &x).unwrap();
    assert_eq!(product(&view, &x_tensor).unwrap().values(), EXPECTED);
    // Gaps are an error by view, and a copy by value.
    let wide = Array2::from_shape_fn((2, 6), |(i, j)| if j % 2 == 0 { a[[i, j / 2]] } else { 9.0 });
    let gaps = wide.slice(s![.., ..;2]);
    let error = View::<f64, Dense<2>>::try_from(gaps).unwrap_err();
    assert!(matches!(error, InvalidTensor::Strides { .. }) && error.to_string().contains("copy"), "{error}");
    assert!(AnyView::try_from(&gaps).is_err());
    let copied = Tensor::<f64, Dense<2>>::try_from(gaps.to_owned()).unwrap();
    assert_eq!(copied.values(), a.as_slice().unwrap());
    let mut reversed = a.clone();
    reversed.invert_axis(Axis(0));
    assert_eq!(Tensor::<f64, Dense<2>>::try_from(reversed).unwrap()[[0, 0]], 3.0);
    // There and back.
    let address = a.as_ptr();
    let tensor = Tensor::<f64, Dense<2>>::try_from(a).unwrap();
    assert_eq!(tensor.values().as_ptr(), address);
    assert_eq!(ArrayView2::try_from(&tensor).unwrap().as_ptr(), address);
    assert!(ArrayView1::try_from(&tensor).is_err());
    let array = Array2::try_from(tensor).unwrap();
    assert_eq!((array.as_ptr(), array[[1, 2]]), (address, 4.0));
}

#[test]
fn nalgebra_matrices() {
    let a = DMatrix::from_row_slice(2, 3, &[0.0, 2.0, 0.0, 3.0, 0.0, 4.0]);
    let x = DVector::from_vec(vec![1.0, 10.0, 100.0]);
    let view = View::<f64, ColumnMajor>::try_from(&a).unwrap();
    let x_view = View::<f64, Dense<1>>::try_from(&x).unwrap();
    assert_eq!((view.values().as_ptr(), x_view.values().as_ptr()), (a.as_ptr(), x.as_ptr()));
    assert_eq!(product(&view, &x_view).unwrap().values(), EXPECTED);
    assert_eq!(called(&kernel("(i, j) -> [j: dense, i: dense]"), &a, &x), EXPECTED);
    assert!(View::<f64, ColumnMajor>::try_from(&a.view((0, 1), (1, 2))).is_err(), "a part has gaps");
    let address = a.as_ptr();
    let tensor = Tensor::<f64, ColumnMajor>::try_from(a.clone_owned()).unwrap();
    assert_eq!(DMatrixView::from(&tensor), a);
    assert_ne!(tensor.values().as_ptr(), address);
    let address = tensor.values().as_ptr();
    let back = DMatrix::try_from(tensor).unwrap();
    assert_eq!((back.as_ptr(), &back), (address, &a));
    let rows = Tensor::<f64, Dense<2>>::from_vec([2, 3], vec![0.0, 2.0, 0.0, 3.0, 0.0, 4.0]).unwrap();
    assert_eq!(DMatrix::try_from(rows).unwrap(), a);
    let y = product(&View::try_from(&a).unwrap(), &x_view).unwrap();
    assert_eq!(DVector::try_from(y).unwrap().as_slice(), EXPECTED);
    // One row is row-major and column-major at once.
    let row = DMatrix::from_row_slice(1, 3, &[0.0, 2.0, 0.0]);
    assert_eq!(called(&kernel("(i, j) -> [j: dense, i: dense]"), &row, &x), [20.0]);
    assert_eq!(called(&kernel("dense"), &row, &x), [20.0]);
}

#[test]
fn nalgebra_sparse_matrices() {
    let csr = CsrMatrix::try_from_csr_data(2, 3, vec![0, 1, 3], vec![1, 0, 2], vec![2.0, 3.0, 4.0]).unwrap();
    let csc = CscMatrix::from(&csr);
    let x = DVector::from_vec(vec![1.0, 10.0, 100.0]);
    let x_view = View::<f64, Dense<1>>::try_from(&x).unwrap();
    let view = View::<f64, Csr64>::try_from(&csr).unwrap();
    assert_eq!(columns(view.as_any()), csr.col_indices().as_ptr().cast());
    assert_eq!(spmv(&view, &x_view).unwrap().values(), EXPECTED);
    assert_eq!(spmv_by_columns(&View::try_from(&csc).unwrap(), &x_view).unwrap().values(), EXPECTED);
    assert_eq!(called(&by_rows(), &csr, &x), EXPECTED);
    let address = csr.values().as_ptr();
    let tensor = Tensor::<f64, Csr64>::try_from(csr.clone()).unwrap();
    assert_ne!(tensor.values().as_ptr(), address);
    let address = tensor.values().as_ptr();
    let back = CsrMatrix::from(tensor);
    assert_eq!((back.values().as_ptr(), &back), (address, &csr));
    assert_eq!(CscMatrix::from(Tensor::<f64, Csc64>::try_from(csc.clone()).unwrap()), csc);
}

#[test]
fn faer_matrices() {
    use faer::sparse::{SparseColMat, SparseRowMat, Triplet};
    use faer::{Col, Mat, MatRef};
    let x = Col::from_fn(3, |i| [1.0, 10.0, 100.0][i]);
    let x_view = View::<f64, Dense<1>>::try_from(&x).unwrap();
    let entries = [Triplet::new(0usize, 1usize, 2.0), Triplet::new(1, 0, 3.0), Triplet::new(1, 2, 4.0)];
    let rows = SparseRowMat::<usize, f64>::try_new_from_triplets(2, 3, &entries).unwrap();
    let columns_first = SparseColMat::<usize, f64>::try_new_from_triplets(2, 3, &entries).unwrap();
    let view = View::<f64, Csr64>::try_from(&rows).unwrap();
    assert_eq!(columns(view.as_any()), rows.symbolic().col_idx().as_ptr().cast());
    assert_eq!(spmv(&view, &x_view).unwrap().values(), EXPECTED);
    assert_eq!(spmv_by_columns(&View::try_from(&columns_first).unwrap(), &x_view).unwrap().values(), EXPECTED);
    assert_eq!(called(&by_rows(), &rows, &x), EXPECTED);
    // Dense, without gaps: of as many rows as faer leaves unpadded.
    let a = Mat::from_fn(64, 3, |i, j| (i * 3 + j) as f64);
    match View::<f64, ColumnMajor>::try_from(&a) {
        Ok(view) => assert_eq!(view.values().as_ptr(), a.as_ptr()),
        Err(error) => assert!(a.col_stride() != 64, "{error}"),
    }
    let values = [0.0, 3.0, 2.0, 0.0, 0.0, 4.0];
    let a = MatRef::from_column_major_slice(&values, 2, 3).as_dyn_stride();
    let view = View::<f64, ColumnMajor>::try_from(a).unwrap();
    assert_eq!(view.values().as_ptr(), values.as_ptr());
    assert_eq!(product(&view, &x_view).unwrap().values(), EXPECTED);
    // With gaps: an error, or a copy.
    let part = Mat::from_fn(5, 3, |i, j| (i * 3 + j) as f64);
    let part = part.as_ref().subrows(1, 2);
    assert!(matches!(View::<f64, ColumnMajor>::try_from(part), Err(InvalidTensor::Strides { .. })));
    let copy = Tensor::<f64, ColumnMajor>::try_from(part).unwrap();
    assert_eq!(copy.values(), [3.0, 6.0, 4.0, 7.0, 5.0, 8.0]);
    assert_eq!(MatRef::from(&copy), part);
}
