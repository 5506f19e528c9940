//! Complex numbers: the elements of type `c32` and `c64`.
//!
//! They are those of the crate `num-complex`, so that what is computed here can be handed to whatever else uses it.
//!
//! ```
//! use spc::complex::c64;
//! use spc::tensor::{Csr, Tensor};
//!
//! spc::tensor_kernel! {
//!     /// Matrix times vector.
//!     fn times(A: c64 csr, x: c64 dense) -> y: c64 dense { y(i) = A(i, j) * x(j); }
//! }
//!
//! let a = Tensor::<c64, Csr>::from_entries([1, 2], [([0, 1], c64::new(0.0, 2.0))])?;
//! let x = Tensor::from_vec([2], vec![c64::new(1.0, 0.0), c64::new(1.0, -1.0)])?;
//! assert_eq!(times(&a, &x)?.values(), [c64::new(2.0, 2.0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(non_camel_case_types)]

pub use num_complex::Complex;

/// A complex number of two `f32`: an element of type `c32`.
pub type c32 = Complex<f32>;

/// A complex number of two `f64`: an element of type `c64`.
pub type c64 = Complex<f64>;
