//! A crate that allows nothing: what the macro writes has no warnings, whatever names are around it.

#![deny(missing_docs, unused, nonstandard_style, unreachable_pub, let_underscore)]
#![deny(rust_2018_idioms, clippy::all, clippy::pedantic, clippy::unwrap_used, clippy::indexing_slicing)]
#![forbid(unsafe_code)]
#![allow(clippy::float_cmp, reason = "sums of small integers are exact")]

use spc::tensor::{Csr, Dense, Tensor};

/// Kernels of one macro, documented by it where they do not document themselves.
pub mod kernels {
    spc::tensor_kernel! {
        pub fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }

        /// A number.
        pub fn total(A: csr) -> sum: f64 { sum = A(i, j); }

        /// A vector loop, with versions for some ranks.
        pub fn spmm(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }

        pub(crate) fn add(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }

        fn unused(x: dense, y: dense) -> s: f64 { s = x(i) * y(i); }
    }
}

/// The same name again, over other elements.
pub mod others {
    spc::tensor_kernel! {
        pub fn spmv(A: f32 csr, x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }
    }
}

/// Names that are Rust's, spc's and the expansion's own, all of them something else here.
#[allow(
    nonstandard_style,
    dead_code,
    unused_macros,
    missing_docs,
    clippy::pedantic,
    reason = "the names are the point"
)]
pub mod shadowed {
    pub struct Vec;
    pub struct Result;
    pub struct Option;
    pub struct String;
    pub struct Tensor;
    pub struct f64;
    pub struct u32;
    pub struct usize;
    pub struct bool;
    pub mod core {}
    pub mod std {}
    pub mod spc {}
    pub mod parallel {}
    pub fn Ok() {}
    pub fn Err() {}
    pub fn Some() {}
    pub fn run() {}
    pub fn any() {}
    pub trait Value {}
    pub trait Into {}
    macro_rules! vec {
        () => {};
    }
    macro_rules! assert {
        () => {};
    }

    ::spc::tensor_kernel! {
        pub fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
        pub fn spmm(call: csr, results: dense) -> outputs: dense { outputs(i, r) = call(i, j) * results(j, r); }
        pub fn add(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }
        pub fn product(KERNEL: csr, chunks: dense) -> run: dense { run(i) = KERNEL(i, j) * chunks(j); }
        pub fn total(call: csr) -> results: f64 { results = call(i, j); }
    }
}

fn matrix() -> Tensor<f64, Csr> {
    Tensor::from_entries([2, 3], [([0, 1], 2.0), ([1, 0], 3.0), ([1, 2], 4.0)]).expect("the entries are valid")
}

fn vector() -> Tensor<f64, Dense<1>> {
    Tensor::from_vec([3], vec![1.0, 10.0, 100.0]).expect("the shape fits")
}

#[test]
fn kernels_work_among_any_names() -> Result<(), Box<dyn std::error::Error>> {
    let (a, x) = (matrix(), vector());
    let y = kernels::spmv(&a, &x)?;
    assert_eq!(y.values(), [20.0, 403.0]);
    assert_eq!(shadowed::spmv(&a, &x)?, y);
    assert_eq!((kernels::total(&a)?, shadowed::total(&a)?), (9.0, 9.0));
    assert_eq!(kernels::add(&a, &a)?, shadowed::add(&a, &a)?);
    let wide = Tensor::from_fn([3, 16], |index| f64::from(u8::from(index == [0, 0])))?;
    assert_eq!(kernels::spmm(&a, &wide)?, shadowed::spmm(&a, &wide)?);
    let (mut into, mut total) = (y, 0.0);
    into.values_mut().fill(f64::NAN);
    shadowed::product_into(&a, &x, &mut into)?;
    shadowed::total_into(&a, &mut total)?;
    assert_eq!((into.values(), total), (&[20.0, 403.0][..], 9.0));
    let floats = Tensor::<f32, Csr>::from_entries([1, 1], [([0, 0], 2.0)])?;
    assert_eq!(others::spmv(&floats, &Tensor::from_vec([1], vec![3.0])?)?.values(), [6.0]);
    Ok(())
}

/// A kernel for one function alone.
#[test]
fn kernels_stand_inside_functions() -> Result<(), spc::Error> {
    spc::tensor_kernel! {
        fn row_sums(A: csr) -> y: dense { y(i) = A(i, j); }
    }
    assert_eq!(row_sums(&matrix())?.values(), [2.0, 7.0]);
    Ok(())
}

/// Kernels of a file.
pub mod file {
    spc::tensor_kernel!(file = "tests/kernels/scale.ti");

    /// A kernel that only this module sees.
    ///
    /// # Errors
    /// As the kernel.
    pub fn negated(matrix: &super::Tensor<f64, super::Csr>) -> Result<super::Tensor<f64, super::Csr>, spc::Error> {
        negate(matrix)
    }
}

#[test]
fn a_file_is_read_from_the_folder_of_the_package() -> Result<(), spc::Error> {
    assert_eq!(file::scale(&matrix(), 2.0)?.values(), [4.0, 6.0, 8.0]);
    assert_eq!(file::negated(&matrix())?.values(), [-2.0, -3.0, -4.0]);
    Ok(())
}
