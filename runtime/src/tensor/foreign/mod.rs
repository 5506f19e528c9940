//! The arrays and matrices of other crates, behind features of their names.
//!
//! | crate | what | as a tensor | back |
//! |---|---|---|---|
//! | `ndarray` | arrays and views | dense, in the order of their strides | view, array |
//! | `nalgebra` | vectors and matrices, and slices of them | dense, column by column | view, matrix |
//! | `faer` | matrices, and parts of them | dense, column by column | view |
//! | `sprs` | compressed matrices and views | [`Csr64`](super::Csr64) and the like | view, matrix |
//! | `nalgebra-sparse` | `CsrMatrix`, `CscMatrix` | [`Csr64`](super::Csr64), [`Csc64`](super::Csc64) | matrix |
//! | `faer` | sparse matrices, by rows or columns | [`Csr64`](super::Csr64) and the like | |

#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "nalgebra-sparse")]
mod nalgebra_sparse;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "sprs")]
mod sprs;

/// What has gaps between its elements has none to show: its strides are to blame, not how many elements there are.
#[cfg(any(feature = "faer", feature = "nalgebra", feature = "ndarray"))]
fn gaps(shape: &[usize], strides: &[isize], error: super::InvalidTensor) -> super::InvalidTensor {
    match error {
        super::InvalidTensor::ValueCount { .. } => super::view::wrong_strides(shape, strides, None),
        other => other,
    }
}

/// A reference to a sparse matrix as a typed view and as an input of a kernel, where it is an `AnyView` already.
#[allow(unused_macros, reason = "without the features")]
macro_rules! by_reference {
    ($([$($generics:tt)*] $type:ty, where [$($bounds:tt)*];)*) => {$(
        impl<'a, F: crate::tensor::StorageFormat, $($generics)*> TryFrom<&'a $type> for crate::tensor::View<'a, T, F>
        where
            $($bounds)*
        {
            type Error = crate::tensor::InvalidTensor;

            fn try_from(matrix: &'a $type) -> Result<Self, Self::Error> {
                Ok(crate::tensor::AnyView::try_from(matrix)?.try_into()?)
            }
        }

        crate::tensor::foreign::input! { [$($generics)*] $type, where [$($bounds)*]; }
    )*};
}

/// What an `AnyView` can be made of is an input of a kernel.
#[allow(unused_macros, reason = "without the features")]
macro_rules! input {
    ($([$($generics:tt)*] $type:ty, where [$($bounds:tt)*];)*) => {$(
        #[cfg(feature = "compile")]
        impl<$($generics)*> crate::execute::Input for $type
        where
            $($bounds)*
        {
            fn argument(&self) -> Result<crate::execute::Argument<'_>, crate::tensor::InvalidTensor> {
                crate::tensor::AnyView::try_from(self).map(crate::execute::Argument::View)
            }
        }
    )*};
}
#[allow(unused_imports, reason = "without the features")]
use {by_reference, input};
