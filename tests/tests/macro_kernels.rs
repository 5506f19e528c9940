//! Kernels through `tensor_kernel!`: what a user's program runs, with typed tensors, against the oracle.

use spc::parallel::with_threads;
use spc::tensor::{AnyTensor, Element, Scalar, StorageFormat, Tensor};
use spc::tensor_kernel;
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::report::check_all;

tensor_kernel!(file = "kernels/sample.ti");

/// The same file, for the oracle: kernels stand between empty lines.
const TEXT: &str = include_str!("../kernels/sample.ti");

/// A kernel as a function of tensors of any type.
type Function = fn(&[AnyTensor]) -> Result<AnyTensor, spc::execute::Error>;

/// What a kernel's function takes.
trait Argument {
    fn of(tensor: &AnyTensor) -> Self;
}

impl<T: Element, F: StorageFormat> Argument for &'static Tensor<T, F> {
    /// A test may leak.
    fn of(tensor: &AnyTensor) -> Self {
        Box::leak(Box::new(Tensor::try_from(tensor.clone()).expect("the case has the types of the function")))
    }
}

impl Argument for f64 {
    fn of(tensor: &AnyTensor) -> Self {
        tensor.values().get_f64(0)
    }
}

impl Argument for f32 {
    fn of(tensor: &AnyTensor) -> Self {
        tensor.values().get_f64(0) as f32
    }
}

/// What a kernel's function returns.
trait Answer {
    fn into_tensor(self) -> AnyTensor;
}

impl<T: Element, F: StorageFormat> Answer for Tensor<T, F> {
    fn into_tensor(self) -> AnyTensor {
        self.into_any()
    }
}

impl Answer for f64 {
    fn into_tensor(self) -> AnyTensor {
        Tensor::<f64, Scalar>::from(self).into_any()
    }
}

/// The functions with their names.
macro_rules! functions {
    ($($name:ident($($place:tt),*))*) => {
        &[$((stringify!($name), |inputs| Ok($name($(Argument::of(&inputs[$place])),*)?.into_tensor()))),*]
    };
}

const FUNCTIONS: &[(&str, Function)] = functions! {
    ttv_1_csf(0, 1)
    ttv_2_csf(0, 1)
    ttv_3_csf(0, 1)
    mttkrp_1_csf(0, 1, 2)
    mttkrp_2_csf(0, 1, 2)
    mttkrp_3_csf(0, 1, 2)
    ttm_dense_csf(0, 1)
    ttv_1_coo(0, 1)
    ttv_2_coo(0, 1)
    ttv_3_coo(0, 1)
    mttkrp_1_coo(0, 1, 2)
    mttkrp_2_coo(0, 1, 2)
    mttkrp_3_coo(0, 1, 2)
    ttm_dense_coo(0, 1)
    ttm_semisparse_csf(0, 1)
    ttm_semisparse_coo(0, 1)
    ttm_middle_csf(0, 1)
    ttv_4_csf_f32(0, 1)
    mttkrp_4_coo_f32(0, 1, 2, 3)
    mttkrp_5_csf(0, 1, 2, 3, 4)
    add_csf(0, 1)
    add_to_dense(0, 1)
    subtract_csf(0, 1)
    subtract_to_dense(0, 1)
    multiply_csf(0, 1)
    multiply_to_dense(0, 1)
    divide_stored(0, 1)
    add_scalar(0, 1)
    divide_scalar_f32(0, 1)
    spmv_csr(0, 1)
    spmm_csr(0, 1)
    sddmm_csr(0, 1, 2)
    spmv_csc(0, 1)
    spmm_csc(0, 1)
    sddmm_csc(0, 1, 2)
    spmv_dcsr(0, 1)
    spmm_dcsr(0, 1)
    sddmm_dcsr(0, 1, 2)
    spmv_coo(0, 1)
    spmm_coo(0, 1)
    sddmm_coo(0, 1, 2)
    spgemm(0, 1)
    residual(0, 1, 2)
    squared_norm(0)
    transpose(0)
};

/// The case of a kernel with these extents of `i`, `j`, …
fn case(name: &str, extents: [usize; 6]) -> Case {
    let head = format!("fn {name}(");
    let text = TEXT.split("\n\n").find(|text| text.starts_with(&head)).expect("the file has the kernel");
    let dims = ["i", "j", "k", "l", "m", "r"].into_iter().zip(extents);
    let dims = dims.map(|(name, extent)| (name.to_owned(), extent)).collect();
    Case { name: name.to_owned(), text: text.to_owned(), dims, seed: 1, ..Case::default() }
}

fn check(&(name, function): &(&str, Function), extents: [usize; 6]) -> Result<(), String> {
    let ready = Ready::new(&case(name, extents)).map_err(|stop| format!("{stop:?}"))?;
    let result = function(&ready.tensors).map_err(|error| error.to_string())?;
    ready.check(&[result]).map_err(|error| format!("{extents:?}: {error}"))
}

fn every_kernel_of_the_file_is_in_the_table() {
    let kernels = TEXT.split("\n\n").count();
    assert_eq!((FUNCTIONS.len(), kernels), (45, 45));
}

fn ranks_with_and_without_a_version_of_their_own() {
    check_all(
        FUNCTIONS,
        |(name, _)| name,
        |kernel| check(kernel, [4, 5, 3, 2, 3, 8]).and_then(|()| check(kernel, [4, 5, 3, 2, 3, 5])),
    );
}

fn modes_of_extent_zero_and_one() {
    check_all(
        FUNCTIONS,
        |(name, _)| name,
        |kernel| {
            let modes = 0..6;
            modes.clone().chain(modes).enumerate().try_for_each(|(place, mode)| {
                let mut extents = [3, 2, 3, 2, 2, 4];
                extents[mode] = usize::from(place >= 6);
                check(kernel, extents)
            })
        },
    );
}

/// A thin tensor is enough work for several chunks, and not too much for the oracle.
fn work_in_many_chunks() {
    check_all(
        FUNCTIONS,
        |(name, _)| name,
        |kernel| with_threads(4, || check(kernel, [9000, 2, 2, 1, 1, 1])).expect("four threads"),
    );
}

mod repeated {
    /// Rust has no token for `x'`.
    pub(super) const TEXT: &str = "
        fn repeated(A: csr, b: dense) -> (x: dense, n: i64) {
            x(i) = b(i);
            repeat n until sum(i)(abs(y(i))) > 1000 or 5 {
                let y(i) = A(i, j) * x(j);
                next x(i) = y(i) + b(i);
            }
        }";

    spc::tensor_kernel! {
        pub(super) fn repeated(A: csr, b: dense) -> (x: dense, n: i64) {
            x(i) = b(i);
            repeat n until sum(i)(abs(y(i))) > 1000 or 5 {
                let y(i) = A(i, j) * x(j);
                next x(i) = y(i) + b(i);
            }
        }
    }
}

fn a_kernel_repeats_its_statements() {
    for extent in [1, 4, 50] {
        let dims = vec![("i".to_owned(), extent), ("j".to_owned(), extent)];
        let text = repeated::TEXT.to_owned();
        let case = Case { name: "repeated".to_owned(), text, dims, seed: 1, ..Case::default() };
        let ready = Ready::new(&case).expect("a good case");
        let [a, b] = &ready.tensors[..] else { panic!("two operands") };
        let (x, n) = repeated::repeated(Argument::of(a), Argument::of(b)).expect("it runs");
        let n = Tensor::<i64, Scalar>::from(n).into_any();
        ready.check(&[x.into_any(), n]).unwrap_or_else(|error| panic!("{extent}: {error}"));
    }
}

spc_tests::tests! {
    a_kernel_repeats_its_statements,
    every_kernel_of_the_file_is_in_the_table,
    ranks_with_and_without_a_version_of_their_own,
    modes_of_extent_zero_and_one,
    [whole] work_in_many_chunks,
}
