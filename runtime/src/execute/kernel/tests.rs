use super::*;
use crate::complex::c64;
use crate::tensor::{AnyView, Csr, Dense, Tensor, View};
use spc_compiler::ir::Literal;

fn matrix() -> Tensor<f64, Csr> {
    Tensor::from_entries([2, 3], [([0, 1], 2.0), ([1, 0], 3.0), ([1, 2], 4.0)]).unwrap()
}

fn spmv() -> KernelBuilder {
    Kernel::builder("y(i) = A(i, j) * x(j)").format("A", "csr")
}

fn message<T>(result: Result<T, ProgramError>) -> String {
    result.map(drop).unwrap_err().to_string()
}

#[test]
fn one_kernel_takes_inputs_of_any_extent() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    for backend in [Backend::Native, Backend::Interpreter] {
        let kernel = spmv().backend(backend).compile().unwrap();
        is_shared(&kernel);
        assert_eq!((kernel.backend(), kernel.name()), (backend, "kernel"));
        assert_eq!(kernel.inputs().chain(kernel.results()).collect::<Vec<_>>(), ["A", "x", "y"]);
        let y: Tensor<f64, Dense<1>> = kernel.call(&[&matrix(), &vec![1.0, 10.0, 100.0]]).unwrap().single().unwrap();
        assert_eq!(y.values(), [20.0, 403.0]);
        for size in [1, 5, 300, 5] {
            let a = Tensor::<f64, Csr>::from_entries([size, size], (0..size).map(|i| ([i, i], 2.0))).unwrap();
            let x: Vec<f64> = (0..size).map(|i| i as f64).collect();
            let mut y = kernel.call_named(&[("x", &x), ("A", a.as_any())]).unwrap();
            let y: AnyTensor = y.take("y").unwrap();
            assert!(y.values_of::<f64>().unwrap().iter().zip(&x).all(|(y, x)| *y == 2.0 * x));
        }
    }
}

#[test]
fn results_are_written_into_memory_that_is_there() {
    let kernel = spmv().compile().unwrap();
    let mut y = Tensor::<f64, Dense<1>>::from_vec([2], vec![7.0; 2]).unwrap();
    let address = y.values().as_ptr();
    for _ in 0..3 {
        kernel.call_into(&[&matrix(), &[1.0, 10.0, 100.0]], &mut y).unwrap();
        assert_eq!((y.values(), y.values().as_ptr()), (&[20.0, 403.0][..], address));
    }
    let mut short = Tensor::<f64, Dense<1>>::from_vec([1], vec![7.0]).unwrap();
    let error = message(kernel.call_into(&[&matrix(), &[1.0, 10.0, 100.0]], &mut short));
    assert!(error.contains("its shape is [1], but the result's is [2]"), "{error}");
    assert_eq!(short.values(), [7.0]);
    let mut other = 0.0;
    let error = message(kernel.call_into(&[&matrix(), &[1.0, 10.0, 100.0]], (&mut y, &mut other)));
    assert_eq!(error, "`kernel` has 1 (`y`), but gets 2 to write to");
}

#[test]
fn several_results_scalars_and_element_types() {
    let text = "fn f(A: f32 csr, alpha: f32, z: c64 dense) -> (B: f32 csr, s: f32, w: c64 dense) {
        B(i, j) = alpha * A(i, j); s = sum(i, j)(A(i, j)); w(k) = conj(z(k)); }";
    let kernel = Kernel::compile(text, &[]).unwrap();
    let a = Tensor::<f32, Csr>::from_entries([2, 3], [([0, 1], 2.0), ([1, 0], 3.0)]).unwrap();
    let z = vec![c64::new(1.0, 2.0)];
    let mut outputs = kernel.call(&[&a, &2.0, &z]).unwrap();
    assert_eq!(outputs["B"].values_of::<f32>(), Some(&[4.0, 6.0][..]));
    assert_eq!(outputs.take::<f32>("s").unwrap(), 5.0);
    assert!(outputs.get("s").is_none());
    assert_eq!(outputs.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["B", "w"]);
    assert_eq!(outputs.take::<Tensor<c64, Dense<1>>>("w").unwrap().values(), [c64::new(1.0, -2.0)]);
    assert!(message(outputs.take::<f32>("s")).contains("the results are `B`"));
    assert!(message(kernel.call(&[&a, &2.0, &z]).unwrap().single::<f32>()).starts_with("the kernel has 3"));
    let error = message(kernel.call(&[&a, &2.0, &z]).unwrap().take::<f64>("s"));
    assert!(error.starts_with("the result `s` has elements f32"), "{error}");
    // A number is of any type that holds it.
    let whole = Kernel::compile("fn f(x: i32 dense, n: i32) -> y: i32 dense { y(i) = n * x(i); }", &[]).unwrap();
    let y = whole.call(&[&[1, 2], &3.0]).unwrap().single::<Tensor<i32, Dense<1>>>().unwrap();
    assert_eq!(y.values(), [3, 6]);
    assert_eq!(message(whole.call(&[&[1, 2], &0.5])), "`n` is declared i32, which does not hold 0.5");
}

#[test]
fn extents_that_no_input_has_are_said_beforehand() {
    let text = "y(i, r) = x(i)";
    let error = message(Kernel::compile(text, &[]).unwrap().call(&[&[1.0, 2.0]]));
    assert!(error.contains("the extent of index `r`"), "{error}");
    let kernel = Kernel::builder(text).dimension("r", 3).compile().unwrap();
    assert_eq!(kernel.call(&[&[1.0, 2.0]]).unwrap()["y"].shape(), [2, 3]);
    assert_eq!(kernel.call(&[&[1.0]]).unwrap()["y"].shape(), [1, 3]);
    let error = message(Kernel::builder(text).dimension("q", 3).compile());
    assert_eq!(error, "the kernel has no index `q`; its indices are `i`, `r`");
    // One that inputs have too must agree.
    let fixed = Kernel::builder("Y(i, r) = A(i, j) * X(j, r)").format("A", "csr").dimension("r", 4).compile().unwrap();
    let error = message(
        fixed.call(&[
            &matrix(),
            &AnyTensor::zeros(vec![3, 5], spc_compiler::format::Format::dense(2), spc_compiler::ir::ElementType::F64)
                .unwrap(),
        ]),
    );
    assert!(error.contains("index `r` has extent 4"), "{error}");
    // Where nothing else says an extent, the shape of a target does.
    let shift = Kernel::compile("y(i) = x(i + k) * w(k)", &[]).unwrap();
    let mut y = Tensor::<f64, Dense<1>>::zeros([2]).unwrap();
    shift.call_into(&[&[1.0, 2.0, 3.0, 4.0], &[1.0, 10.0]], &mut y).unwrap();
    assert_eq!(y.values(), [21.0, 32.0]);
    assert_eq!(shift.call(&[&[1.0, 2.0, 3.0, 4.0], &[1.0, 10.0]]).unwrap()["y"].shape(), [3]);
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let kernel = spmv().backend(Backend::Interpreter).compile().unwrap();
    let (a, x) = (matrix(), vec![1.0; 3]);
    let dense = a.convert::<Dense<2>>().unwrap();
    let text = |inputs: &[(&str, &dyn Input)]| message(kernel.call_named(inputs));
    assert_eq!(message(kernel.call(&[&a])), "`kernel` takes 2 tensors (`A`, `x`), but gets 1");
    assert_eq!(text(&[("A", &a), ("X", &x)]), "the kernel has no parameter `X`: did you mean `x`?");
    assert_eq!(text(&[("A", &a), ("A", &a)]), "`A` is given twice");
    assert_eq!(text(&[("A", &a)]), "there is no input for `x`");
    assert!(
        text(&[("A", &dense), ("x", &x)])
            .starts_with("`A` is declared as [dense, compressed], but the input is stored as")
    );
    assert!(text(&[("A", &a), ("x", &vec![1.0f32; 3])]).starts_with("`x` is declared with elements of type f64"));
    assert!(text(&[("A", &a), ("x", &dense)]).contains("declared with 1 mode"));
    assert!(text(&[("A", &a), ("x", &vec![1.0; 4])]).starts_with("index `j` has extent 3 by mode 2 of `A`, but 4"));
    assert_eq!(kernel.call(&[&a, &x]).unwrap()["y"].values_of::<f64>(), Some(&[2.0, 7.0][..]));
}

#[test]
fn wrong_texts_say_where() {
    let error = message(Kernel::compile("y(i) = A(i, j) * ", &[]));
    assert!(error.contains("<kernel>:1:"), "{error}");
    let error = message(Kernel::compile("y(i) = A(i, j) * x(j)", &[("A", "cssr")]));
    assert!(error.contains("<format of A>:1:1") && error.contains("did you mean `csr`"), "{error}");
    let error = message(Kernel::compile("y(i) = A(i, j) * x(j)", &[("B", "csr")]));
    assert!(error.contains("no tensor `B`"), "{error}");
    let one = "fn f(x: dense) -> y: dense { y(i) = x(i); }";
    assert!(message(Kernel::compile(one, &[("x", "csr")])).contains("declares its formats"));
    let error = message(Kernel::compile(&format!("{one} {}", one.replace("fn f", "fn g")), &[]));
    assert_eq!(error, "a kernel is compiled from a text of one `fn`, but this has 2 (`f`, `g`)");
    let error = message(Kernel::compile("fn f(x: csf) -> y: csf { y(i) = 1 / x(i); }", &[]));
    assert!(error.contains("<kernel>:1:"), "{error}");
}

#[test]
fn inputs_are_lent_and_results_are_not() {
    let kernel = Kernel::compile("fn scale(A: csr, alpha: f64) -> B: csr { B(i, j) = alpha * A(i, j); }", &[]).unwrap();
    let result: Tensor<f64, Csr> = {
        let (positions, columns, values) = (vec![0u32, 1, 3], vec![1u32, 0, 2], vec![2.0, 3.0, 4.0]);
        let view = View::<f64, Csr>::from_csr(2, 3, &positions, &columns, &values).unwrap();
        let again: Tensor<f64, Csr> = kernel.call(&[&view, &1.0]).unwrap().single().unwrap();
        assert_eq!(again, *view);
        assert_ne!(again.as_any().coordinates(1).unwrap().as_bytes().as_ptr(), columns.as_ptr().cast());
        kernel.call(&[&view, &2.0]).unwrap().single().unwrap()
    };
    assert_eq!(result.entries(), [(vec![0, 1], 4.0), (vec![1, 0], 6.0), (vec![1, 2], 8.0)]);
    // What shares the arrays of a tensor that owns them still does.
    let a = matrix();
    let b: Tensor<f64, Csr> = kernel.call(&[&a, &2.0]).unwrap().single().unwrap();
    let columns = |tensor: &Tensor<f64, Csr>| tensor.as_any().coordinates(1).unwrap().as_bytes().as_ptr();
    assert_eq!(columns(&a), columns(&b));
}

#[test]
fn threads_and_determinism_are_options() {
    let kernel = spmv().threads(2).deterministic().compile().unwrap();
    assert_eq!(kernel.place(), "2 threads");
    let y: AnyTensor = kernel.call(&[&matrix(), &[1.0, 10.0, 100.0]]).unwrap().single().unwrap();
    assert_eq!(y.values_of::<f64>(), Some(&[20.0, 403.0][..]));
    let shared = std::sync::Arc::new(spmv().compile().unwrap());
    std::thread::scope(|scope| {
        for size in 1..9 {
            let shared = shared.clone();
            scope.spawn(move || {
                let a = Tensor::<f64, Csr>::from_entries([size, 3], (0..size).map(|i| ([i, 1], 2.0))).unwrap();
                for _ in 0..50 {
                    let y: AnyTensor = shared.call(&[&a, &[1.0, 10.0, 100.0]]).unwrap().single().unwrap();
                    assert_eq!(y.values_of::<f64>().unwrap(), vec![20.0; size]);
                }
            });
        }
    });
}

#[test]
fn a_declared_fill_value_is_that_of_inputs_that_say_none() {
    let text = "fn step(G: csr fill inf, d: dense) -> e: dense fill inf { e(j) min= d(i) + G(i, j); }";
    let kernel = Kernel::compile(text, &[]).unwrap();
    let e: AnyTensor = kernel.call(&[&matrix(), &[1.0, 2.0]]).unwrap().single().unwrap();
    assert_eq!(e.values_of::<f64>(), Some(&[5.0, 3.0, 6.0][..]));
    let view =
        AnyView::from(matrix().as_any()).with_fill(Literal::Float(spc_compiler::ir::ElementType::F64, 1.0)).to_tensor();
    assert!(message(kernel.call(&[&view, &[1.0, 2.0]])).starts_with("the fill value of `G`"));
}
