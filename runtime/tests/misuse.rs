//! What safe code can do to a kernel from outside: nothing but errors, and panics that are documented.

use spc::execute::{Call, StaticKernel, StaticLink};
use spc::tensor::{Csf, Csr, Dense, Tensor};
use spc::tensor_kernel;

tensor_kernel! {
    fn accumulate(A: csr, x: dense) -> y: dense { y(i) += A(i, j) * x(j); }
    fn scale(A: csr, alpha: f64) -> B: csr { B(i, j) = alpha * A(i, j); }
    fn ttv(X: csf, v: dense) -> Y: csf { Y(i, j) = X(i, j, k) * v(k); }
    fn add(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }
    fn outer(x: dense, y: dense) -> A: dense { A(i, j) = x(i) * y(j); }
    fn corner(A: csr) -> s: f64 { s = A(3, 3); }
    fn into_corner(x: dense) -> A: dense { A(3, 3) = x(i); }
    fn expand(X: csf) -> Y: dense { Y(i, j, k) = X(i, j, k); }
}

type Failure = Box<dyn std::error::Error>;

fn matrix() -> Tensor<f64, Csr> {
    Tensor::from_entries([2, 3], [([0, 1], 2.0), ([1, 0], 3.0), ([1, 2], 4.0)]).unwrap()
}

/// Results begin as zeros, whatever the operator and whatever was there.
#[test]
fn what_a_result_holds_before_does_not_matter() -> Result<(), Failure> {
    let x = Tensor::from_vec([3], vec![1.0, 10.0, 100.0])?;
    let mut y = accumulate(&matrix(), &x)?;
    assert_eq!(y.values(), [20.0, 403.0]);
    for _ in 0..2 {
        y.values_mut().fill(f64::NAN);
        accumulate_into(&matrix(), &x, &mut y)?;
        assert_eq!(y.values(), [20.0, 403.0]);
    }
    let mut sum = add(&matrix(), &matrix())?;
    add_into(&matrix(), &matrix(), &mut sum)?;
    assert_eq!(sum.values(), [4.0, 6.0, 8.0]);
    Ok(())
}

#[test]
fn memory_that_others_share_is_not_written_to() -> Result<(), Failure> {
    let a = matrix();
    let mut b = a.clone();
    scale_into(&a, 2.0, &mut b)?;
    assert_eq!((a.values(), b.values()), (&[2.0, 3.0, 4.0][..], &[4.0, 6.0, 8.0][..]));
    let kept = b.clone();
    scale_into(&a, 5.0, &mut b)?;
    assert_eq!((kept.values(), b.values()), (&[4.0, 6.0, 8.0][..], &[10.0, 15.0, 20.0][..]));
    Ok(())
}

#[test]
fn a_result_with_entries_elsewhere_is_refused_and_kept() -> Result<(), Failure> {
    let x = Tensor::<f64, Csf<3>>::from_entries([2, 2, 2], [([0, 1, 1], 2.0), ([1, 0, 0], 3.0)])?;
    let v = Tensor::from_vec([2], vec![1.0, 10.0])?;
    let mut other = Tensor::<f64, Csf<2>>::from_entries([2, 2], [([0, 0], 7.0), ([1, 1], 8.0)])?;
    let message = ttv_into(&x, &v, &mut other).unwrap_err().to_string();
    assert!(message.contains("`Y`") && message.contains("other places"), "{message}");
    assert_eq!(other.entries(), [(vec![0, 0], 7.0), (vec![1, 1], 8.0)]);
    Ok(())
}

/// A constant index beyond its mode is refused when the call tells how long that is.
#[test]
fn positions_outside_of_a_tensor_are_errors() -> Result<(), Failure> {
    let message = corner(&matrix()).unwrap_err().to_string();
    assert!(message.contains("the index `3` reaches 3, but its mode has 2 coordinates"), "{message}");
    let x = Tensor::from_vec([2], vec![1.0, 10.0])?;
    let mut small = Tensor::<f64, Dense<2>>::zeros([2, 4])?;
    let message = into_corner_into(&x, &mut small).unwrap_err().to_string();
    assert!(message.contains("the index `3` reaches 3, but its mode has 2 coordinates"), "{message}");
    assert_eq!(into_corner(&x)?.shape(), [4, 4]);
    Ok(())
}

#[test]
fn results_that_are_too_large_are_errors() -> Result<(), Failure> {
    let x = Tensor::<f64, Csf<3>>::from_entries([1 << 31; 3], [([0, 0, 0], 2.0)])?;
    let message = expand(&x).unwrap_err().to_string();
    assert!(message.contains("`Y` would have more than 2^64 values"), "{message}");
    let none = Tensor::<f64, Dense<1>>::from_vec([0], Vec::new())?;
    assert_eq!(outer(&none, &none)?.shape(), [0, 0]);
    assert!(Tensor::<f64, Dense<3>>::zeros([usize::MAX; 3]).is_err());
    assert!(Tensor::<f64, Csr>::zeros([1 << 60, 1]).is_err());
    Ok(())
}

/// `y(i) = x(i)`, whose loops a test writes.
const COPY: &str = "kernel copy {
    dimension d0 i runtime
    tensor t0 x f64 [dense] (d0) input
    tensor t1 y f64 [dense] (d0) output dense zero
    array a0 x_vals f64 values t0
    array a1 y_vals f64 values t1
    body { }
}";

/// A kernel of one statement with these declarations and loops.
fn kernel(declarations: &'static str, run: fn(&mut Call<'_>)) -> StaticKernel {
    StaticKernel::new(declarations, &["y"], Box::leak(Box::new([StaticLink::new(declarations, run)])), "")
}

#[test]
fn loops_that_put_back_something_else_are_refused() -> Result<(), Failure> {
    fn short(call: &mut Call<'_>) {
        let values = call.take_values::<f64>(1);
        call.put_values(1, values[1..].to_vec().into());
    }
    fn nothing(call: &mut Call<'_>) {
        call.take_values::<f64>(1);
    }
    let x = Tensor::<f64, Dense<1>>::from_vec([2], vec![1.0, 2.0])?;
    for run in [short, nothing] {
        let message = kernel(COPY, run).run(&[x.as_any()]).unwrap_err().to_string();
        assert!(message.contains("the kernel made arrays for `y` that are not a tensor"), "{message}");
    }
    let message = kernel("kernel", nothing).run(&[x.as_any()]).unwrap_err().to_string();
    assert!(message.contains("is declared wrongly"), "{message}");
    let kernel = kernel(COPY, |_| ());
    let (mut first, mut second) = (x.clone(), x.clone());
    assert!(kernel.run_into(&[x.as_any()], &mut [&mut first, &mut second]).is_err());
    assert_eq!((first.values(), second.values()), (x.values(), x.values()));
    Ok(())
}

#[test]
#[should_panic(expected = "array 0 (`x_vals`) of kernel `copy` does not hold f32")]
fn arrays_are_asked_for_by_their_type() {
    let x = Tensor::<f64, Dense<1>>::from_vec([2], vec![1.0, 2.0]).unwrap();
    _ = kernel(COPY, |call| drop(call.input_values::<f32>(0))).run(&[x.as_any()]);
}

#[test]
#[should_panic(expected = "kernel `copy` has no array 2")]
fn arrays_that_are_not_there_are_not_given() {
    let x = Tensor::<f64, Dense<1>>::from_vec([2], vec![1.0, 2.0]).unwrap();
    _ = kernel(COPY, |call| drop(call.take_values::<f64>(2))).run(&[x.as_any()]);
}
