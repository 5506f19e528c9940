//! `tensor_kernel!` as a user meets it: typed tensors in, typed tensors out.

use spc::tensor::{
    Cfb, Compressed, Coo, Csc, Csf, Csr, Dcsr, Dense, DenseLevel, Hocsr, Levels, Mode, Permuted, Scoo, Tensor, Unique,
};
use spc::tensor_kernel;

tensor_kernel! {
    /// Sparse matrix times vector.
    pub fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }

    /// Mode-1 MTTKRP.
    fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }

    fn mttkrp_mode_2(X: coo, B: dense, C: dense) -> A: dense { A(j, r) = X(i, j, k) * B(i, r) * C(k, r); }

    fn ttm(X: coo, U: dense) -> Y: scoo { Y(i, j, r) = X(i, j, k) * U(k, r); }

    fn ttv(X: csf, v: dense) -> Y: csf { Y(i, j) = X(i, j, k) * v(k); }

    fn dot(x: f32 dense, y: f32 dense) -> s: f32 { s = x(i) * y(i); }

    fn scale(A: csr, alpha: f64) -> B: csr { B(i, j) = alpha * A(i, j); }

    fn add(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }

    fn add_transposed(A: csr, B: csc) -> C: csr { C(i, j) = A(i, j) + B(i, j); }

    fn widest(A: csr, B: [dense, compressed(u64)]) -> s: dense {
        s(i) = max(k)(sum(j)(A(i, j) * B(j, k)));
    } schedule { precompute(A(i, j) * B(j, k), k, kw); }

    fn rust_like_names(Vec: csr, x: dense) -> usize: dense { usize(i) = Vec(i, j) * x(j); }
}

/// A format has one type, however it is written.
mod formats {
    spc::tensor_kernel! {
        format mine = (i, j) -> [i: dense, j: compressed(u16, pos = u64)];

        pub fn wide(A: [dense, compressed(u64, pos = u64)]) -> s: f64 { s = A(i, j); }
        pub fn own(A: mine) -> s: f64 { s = A(i, j); }
        pub fn reversed(X: (i, j, k) -> [k: compressed, j: compressed, i: compressed]) -> s: f64 { s = X(i, j, k); }
        pub fn columns(A: (i, j) -> [j: dense, i: compressed]) -> s: f64 { s = A(i, j); }
        pub fn rows(A: [dense, compressed]) -> s: f64 { s = A(i, j); }
        pub fn vector(x: [compressed]) -> s: f64 { s = x(i); }
        pub fn doubly(A: dcsr, B: csf, C: [compressed, compressed]) -> s: f64 { s = A(i, j) * B(i, j) * C(i, j); }
        pub fn coordinates(X: hocoo, Y: [compressed(nonunique), singleton(nonunique), singleton]) -> s: f64 {
            s = X(i, j, k) * Y(i, j, k);
        }
        pub fn fibers(X: hocfs_csr, Y: hocsr, Z: cfb) -> s: f64 { s = X(i, j, k) * Y(i, j, k) * Z(i, j, k); }
        pub fn small(x: u8 dense) -> s: u8 { s = x(i); }
    }
}

fn matrix() -> Tensor<f64, Csr> {
    Tensor::from_entries([3, 4], [([0, 1], 2.0), ([2, 0], 3.0), ([2, 3], 4.0)]).unwrap()
}

fn order_3<F: spc::tensor::StorageFormat>() -> Tensor<f64, F> {
    Tensor::from_entries([2, 3, 4], [([0, 1, 2], 1.0), ([1, 0, 3], 2.0), ([1, 2, 0], 3.0), ([1, 2, 1], 4.0)]).unwrap()
}

fn factor(rows: usize, rank: usize) -> Tensor<f64, Dense<2>> {
    Tensor::from_fn([rows, rank], |index| (1 + index[0] * 3 + index[1]) as f64).unwrap()
}

#[test]
fn a_matrix_times_a_vector() {
    let x = Tensor::<f64, Dense<1>>::from_vec([4], vec![1.0, 10.0, 100.0, 1000.0]).unwrap();
    let mut y = spmv(&matrix(), &x).unwrap();
    assert_eq!(y.values(), [20.0, 0.0, 4003.0]);
    let memory = y.values().as_ptr();
    spmv_into(&matrix(), &x, &mut y).unwrap();
    assert_eq!(y.values(), [20.0, 0.0, 4003.0]);
    assert_eq!(y.values().as_ptr(), memory, "the result's memory is used again");
}

#[test]
fn a_result_of_the_wrong_shape_is_refused_and_kept() {
    let x = Tensor::<f64, Dense<1>>::from_vec([4], vec![1.0; 4]).unwrap();
    let mut y = Tensor::<f64, Dense<1>>::from_vec([2], vec![7.0; 2]).unwrap();
    assert!(spmv_into(&matrix(), &x, &mut y).is_err());
    assert_eq!(y.values(), [7.0, 7.0]);
    let short = Tensor::<f64, Dense<1>>::from_vec([3], vec![1.0; 3]).unwrap();
    let message = spmv(&matrix(), &short).unwrap_err().to_string();
    assert!(message.contains('j') && message.contains('4') && message.contains('3'), "{message}");
}

/// Ranks with a version of their own (8, 16) and without (5, 11).
#[test]
fn every_rank_gives_the_same_answer() {
    for rank in [1, 5, 8, 11, 16, 32] {
        let (b, c) = (factor(3, rank), factor(4, rank));
        let a = mttkrp(&order_3::<Csf<3>>(), &b, &c).unwrap();
        let mut expected = vec![0.0; 2 * rank];
        order_3::<Csf<3>>().for_each_entry(|index, value| {
            for r in 0..rank {
                let [i, j, k] = [index[0], index[1], index[2]];
                expected[i * rank + r] += value * b.values()[j * rank + r] * c.values()[k * rank + r];
            }
        });
        assert_eq!(a.values(), expected, "rank {rank}");
        let second = mttkrp_mode_2(&order_3::<Coo<3>>(), &factor(2, rank), &c).unwrap();
        assert_eq!(second.shape(), [3, rank]);
        assert_eq!(second.values()[rank], 1.0 * c.values()[2 * rank]);
    }
}

#[test]
fn results_keep_the_structure_of_the_operand() {
    let v = Tensor::<f64, Dense<1>>::from_vec([4], vec![1.0, 10.0, 100.0, 1000.0]).unwrap();
    let y: Tensor<f64, Csf<2>> = ttv(&order_3(), &v).unwrap();
    assert_eq!(y.entries(), [(vec![0, 1], 100.0), (vec![1, 0], 2000.0), (vec![1, 2], 43.0)]);
    let z: Tensor<f64, Scoo<3>> = ttm(&order_3(), &factor(4, 2)).unwrap();
    assert_eq!(z.get(&[1, 2, 1]), Some(3.0 * 2.0 + 4.0 * 5.0));
    assert_eq!(z.nnz(), 6);
    assert_eq!(scale(&matrix(), 2.0).unwrap().values(), [4.0, 6.0, 8.0]);
}

#[test]
fn scalars_go_in_and_come_out_as_numbers() {
    let x = Tensor::<f32, Dense<1>>::from_vec([3], vec![1.0, 2.0, 3.0]).unwrap();
    assert_eq!(dot(&x, &x).unwrap(), 14.0);
}

#[test]
fn structures_merge() {
    let other = Tensor::<f64, Csr>::from_entries([3, 4], [([0, 1], 1.0), ([1, 1], 5.0)]).unwrap();
    let sum = add(&matrix(), &other).unwrap();
    assert_eq!(sum.entries(), [(vec![0, 1], 3.0), (vec![1, 1], 5.0), (vec![2, 0], 3.0), (vec![2, 3], 4.0)]);
    sum.as_any().validate().unwrap();
    assert_eq!(add_transposed(&matrix(), &other.convert::<Csc>().unwrap()).unwrap(), sum);
}

#[test]
fn names_of_the_language_are_not_in_the_way() {
    let x = Tensor::<f64, Dense<1>>::from_vec([4], vec![1.0; 4]).unwrap();
    assert_eq!(rust_like_names(&matrix(), &x).unwrap().values(), [2.0, 0.0, 7.0]);
}

mod differences {
    use spc::tensor::{Csr, Delta, Dense, DenseLevel, Levels, Tensor};

    spc::tensor_kernel! {
        fn spmv(A: [dense, delta(u8)], x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
        fn twice(A: csr) -> B: [dense, delta(u8)] { B(i, j) = 2 * A(i, j); }
    }

    type Rows = Levels<(DenseLevel, Delta<u8>)>;

    #[test]
    fn coordinates_are_read_and_written_as_differences() {
        let entries = [([0, 1], 2.0), ([0, 999], 3.0), ([2, 255], 5.0)];
        let a = Tensor::<f64, Csr>::from_entries([3, 1000], entries).unwrap();
        let rows = a.convert::<Rows>().unwrap();
        let deltas = rows.as_any().coordinates(1).unwrap();
        assert_eq!(deltas.as_u8(), Some(&[1, 255, 255, 255, 233, 255, 0][..]));
        assert_eq!(rows.nnz(), 3);
        let x = Tensor::<f64, Dense<1>>::from_vec([1000], (0..1000).map(f64::from).collect()).unwrap();
        assert_eq!(spmv(&rows, &x).unwrap().values(), [2.0 + 3.0 * 999.0, 0.0, 5.0 * 255.0]);
        let doubled: Tensor<f64, Rows> = twice(&a).unwrap();
        doubled.as_any().validate().unwrap();
        assert_eq!(doubled.entries(), [(vec![0, 1], 4.0), (vec![0, 999], 6.0), (vec![2, 255], 10.0)]);
    }
}

#[test]
fn every_way_to_write_a_format_is_a_type() -> Result<(), Box<dyn std::error::Error>> {
    type Wide = Levels<(DenseLevel, Compressed<Unique, u64, u64>)>;
    type Own = Levels<(DenseLevel, Compressed<Unique, u16, u64>)>;
    type Reversed = Permuted<(Mode<2>, Mode<1>, Mode<0>), Levels<(Compressed, Compressed, Compressed)>>;
    let (a, x) = (matrix(), order_3::<Csf<3>>());
    assert_eq!(formats::wide(&a.convert::<Wide>()?)?, 9.0);
    assert_eq!(formats::own(&a.convert::<Own>()?)?, 9.0);
    assert_eq!(formats::reversed(&x.convert::<Reversed>()?)?, 10.0);
    assert_eq!(formats::columns(&a.convert::<Csc>()?)?, 9.0);
    assert_eq!(formats::rows(&a)?, 9.0);
    assert_eq!(formats::vector(&Tensor::<f64, Csf<1>>::from_entries([9], [([4], 2.0)])?)?, 2.0);
    let doubly = a.convert::<Csf<2>>()?;
    assert_eq!(formats::doubly(&a.convert::<Dcsr>()?, &doubly, &doubly)?, 8.0 + 27.0 + 64.0);
    let coordinates = x.convert::<Coo<3>>()?;
    assert_eq!(formats::coordinates(&coordinates, &coordinates)?, 30.0);
    assert_eq!(formats::fibers(&x, &x.convert::<Hocsr<3>>()?, &x.convert::<Cfb<3>>()?)?, 100.0);
    Ok(())
}

mod computed_indices {
    use spc::tensor::{Csr, Dense, Tensor};

    spc::tensor_kernel! {
        fn convolve(x: dense, w: dense) -> y: dense { y(i) = x(i + k) * w(k); }
        fn product(a: dense, b: dense) -> c: dense { c(i + j) += a(i) * b(j); }
        fn diagonal(d: dense) -> A: dense { A(i, i) = d(i); }
        fn window(A: csr) -> B: dense { B(0..2, 0..1) = A(1..3, 2..3); }
        fn spread(x: dense) -> y: dense { y(i / 2) += x(i); }
        fn repeat(x: dense) -> y: dense { y(i) = x(i / 2); }
    }

    fn vector(values: &[f64]) -> Tensor<f64, Dense<1>> {
        Tensor::from_vec([values.len()], values.to_vec()).unwrap()
    }

    #[test]
    fn results_are_as_large_as_computed_indices_allow() {
        let (x, w) = (vector(&[1.0, 2.0, 3.0, 4.0]), vector(&[1.0, 10.0]));
        assert_eq!(convolve(&x, &w).unwrap().values(), [21.0, 32.0, 43.0]);
        assert_eq!(product(&w, &w).unwrap().values(), [1.0, 20.0, 100.0]);
        assert_eq!(diagonal(&w).unwrap().values(), [1.0, 0.0, 0.0, 10.0]);
        assert_eq!(spread(&x).unwrap().values(), [3.0, 7.0]);
        assert_eq!(repeat(&w).unwrap().values(), [1.0, 1.0, 10.0, 10.0]);
        assert_eq!(convolve(&w, &x).unwrap().shape(), [0]);
        let a = Tensor::<f64, Csr>::from_entries([3, 3], [([1, 2], 5.0), ([2, 1], 6.0)]).unwrap();
        assert_eq!(window(&a).unwrap().values(), [5.0, 0.0]);
        let small = Tensor::<f64, Csr>::from_entries([3, 2], [([2, 1], 6.0)]).unwrap();
        let message = window(&small).unwrap_err().to_string();
        assert!(message.starts_with("the index `2..3` reaches 2, but its mode has 2 coordinates"), "{message}");
    }

    #[test]
    fn a_result_to_write_into_says_how_far_its_index_runs() {
        let (x, w) = (vector(&[1.0, 2.0, 3.0, 4.0]), vector(&[1.0, 10.0]));
        let mut shorter = vector(&[9.0; 2]);
        convolve_into(&x, &w, &mut shorter).unwrap();
        assert_eq!(shorter.values(), [21.0, 32.0]);
        let mut longer = vector(&[9.0; 4]);
        let message = convolve_into(&x, &w, &mut longer).unwrap_err().to_string();
        assert!(message.starts_with("the index `i + k` reaches 4, but its mode has 4 coordinates"), "{message}");
        assert_eq!(longer.values(), [9.0; 4]);
        // A mode that need only hold every index may be longer, and not shorter.
        product_into(&w, &w, &mut longer).unwrap();
        assert_eq!(longer.values(), [1.0, 20.0, 100.0, 0.0]);
        assert!(product_into(&w, &w, &mut shorter).is_err());
    }
}

#[test]
fn a_workspace_too_large_for_memory_is_an_error() {
    let a = Tensor::from_entries([3, 5], [([0, 0], 1.0), ([1, 2], 2.0)]).unwrap();
    let b = |columns: usize| Tensor::from_entries([5, columns], [([0, 0], 1.0), ([2, 1], 2.0)]).unwrap();
    assert_eq!(widest(&a, &b(7)).unwrap().values(), [1.0, 4.0, 0.0]);
    let message = widest(&a, &b(1 << 40)).unwrap_err().to_string();
    assert!(message.contains("`widest`") && message.contains("1099511627776 elements of 8 bytes"), "{message}");
}

/// Kernels of several element types.
mod generic {
    use spc::complex::c64;
    use spc::tensor::{Csr, Dense, Element, Tensor};

    spc::tensor_kernel! {
        format rows = [dense, compressed];

        /// For every number type.
        pub fn spmv<T>(A: rows, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }

        pub fn scale<T>(A: T csr, alpha: T, count: i64) -> (B: T csr, n: i64) { B(i, j) = alpha * A(i, j); n = count; }

        /// Complex numbers have no order.
        fn largest<T>(x: dense) -> s: T { s = max(i)(x(i)); }

        fn product<T: f32 | f64>(X: dense, Y: dense) -> Z: dense {
            Z(i, r) = X(i, j) * Y(j, r);
        } schedule { vector(r); }

        fn plain(x: dense) -> s: f64 { s = x(i); }
    }

    fn both<T: Element>(numbers: [T; 3]) -> (Tensor<T, Csr>, Tensor<T, Dense<1>>) {
        let entries = [([0, 1], numbers[0]), ([1, 0], numbers[1]), ([1, 2], numbers[2])];
        (Tensor::from_entries([2, 3], entries).unwrap(), Tensor::from_vec([3], numbers.to_vec()).unwrap())
    }

    #[test]
    fn one_function_serves_many_element_types() {
        let (a, x) = both([2.0, 3.0, 4.0]);
        assert_eq!(spmv(&a, &x).unwrap().values(), [6.0, 22.0]);
        let (a, x) = both([2.0f32, 3.0, 4.0]);
        assert_eq!(spmv(&a, &x).unwrap().values(), [6.0, 22.0]);
        let (a, x) = both([2i32, 3, i32::MAX]);
        assert_eq!(spmv(&a, &x).unwrap().values(), [6, 6 + 1], "whole numbers wrap");
        let (a, x) = both([2u8, 3, 4]);
        let mut y = spmv(&a, &x).unwrap();
        spmv_into(&a, &x, &mut y).unwrap();
        assert_eq!(y.values(), [6, 22]);
        let (a, x) = both([c64::new(0.0, 1.0), c64::new(2.0, 0.0), c64::new(1.0, 1.0)]);
        assert_eq!(spmv(&a, &x).unwrap().values(), [c64::new(0.0, 2.0), c64::new(0.0, 4.0)]);
        assert_eq!(plain(&Tensor::from_vec([2], vec![1.0, 2.0]).unwrap()).unwrap(), 3.0);
    }

    #[test]
    fn types_that_are_said_stay() {
        let (a, x) = both([2i64, 3, 4]);
        let (b, n): (Tensor<i64, Csr>, i64) = scale(&a, 10, 7).unwrap();
        assert_eq!((b.values(), n), (&[20, 30, 40][..], 7));
        assert_eq!(largest(&x).unwrap(), 4);
        let (b, n) = scale(&both([2.0f32, 3.0, 4.0]).0, 0.5, 7).unwrap();
        assert_eq!((b.values(), n), (&[1.0f32, 1.5, 2.0][..], 7));
    }

    /// Each instance has the versions that a kernel of its type would have, and long sums of `f32` lose nothing.
    #[test]
    fn what_passes_do_for_a_type_is_done() {
        fn product_of<T: Element + Multiplies>(rank: usize) -> Vec<f64> {
            let x = Tensor::<T, Dense<2>>::from_fn([2, 3], |index| T::from_f64((index[0] + index[1]) as f64)).unwrap();
            let y =
                Tensor::<T, Dense<2>>::from_fn([3, rank], |index| T::from_f64((index[0] * index[1]) as f64)).unwrap();
            T::multiply(&x, &y).values().iter().map(|value| value.to_f64()).collect()
        }
        for rank in [1, 8, 16, 21] {
            let expected: Vec<f64> =
                (0..2).flat_map(|i| (0..rank).map(move |r| ((i + 1) * r + (i + 2) * 2 * r) as f64)).collect();
            assert_eq!(product_of::<f64>(rank), expected);
            assert_eq!(product_of::<f32>(rank), expected);
        }
        let count = 1 << 20;
        let ones = Tensor::<f32, Csr>::from_entries([1, count], (0..count).map(|j| ([0, j], 0.1))).unwrap();
        let sum = spmv(&ones, &Tensor::from_vec([count], vec![1.0f32; count]).unwrap()).unwrap();
        assert!((f64::from(sum[[0]]) / (0.1 * count as f64) - 1.0).abs() < 1e-6, "{sum}");
    }

    pub(super) trait Multiplies: Sized {
        fn multiply(x: &Tensor<Self, Dense<2>>, y: &Tensor<Self, Dense<2>>) -> Tensor<Self, Dense<2>>;
    }

    macro_rules! multiplies {
        ($($type:ident)*) => {$(
            impl Multiplies for $type {
                fn multiply(x: &Tensor<Self, Dense<2>>, y: &Tensor<Self, Dense<2>>) -> Tensor<Self, Dense<2>> {
                    product(x, y).unwrap()
                }
            }
        )*};
    }
    multiplies!(f32 f64);
}
