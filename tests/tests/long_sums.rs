//! Sums of many terms: how much of them `f32` loses, and whether their bits depend on the number of threads.
//!
//! What is right is what the same kernel gives in `f64`, of the same numbers.

use spc::execute::{Backend, Chain};
use spc::parallel::with_threads;
use spc::tensor::{AnyTensor, Coordinates, Duplicates, Element, Indices, Values, pack_filled};
use spc::with_element;
use spc_compiler::ir::Size;
use spc_compiler::notation::{self, Kernel, Role};
use spc_compiler::schedule;
use spc_compiler::{Program, compile, syntax};
use spc_tests::data::{Random, for_each_index};
use spc_tests::harness::Skip;
use spc_tests::native;
use spc_tests::number::Number;

/// Kernels, each with the shape of every input: `n` is a long mode and `m` a short one.
const KERNELS: &[(&str, &str)] = &[
    ("fn scalar(x: f32 dense) -> s: f32 { s = x(i); }", "n"),
    ("fn products(x: f32 dense, z: f32 dense) -> s: f32 { s = x(i) * z(i); }", "n n"),
    ("fn squares(x: f32 dense, m: f32) -> s: f32 { s = (x(i) + m) * (x(i) + m); }", "n ."),
    ("fn mean(x: f32 dense, c: f32) -> s: f32 { s = sum(i)(x(i)) / c; }", "n ."),
    ("fn of_complex(x: c32 dense) -> s: c32 { s = x(i); }", "n"),
    ("fn of_sparse(x: f32 [compressed], z: f32 [compressed]) -> s: f32 { s = x(i) * z(i); }", "n n"),
    ("fn either(x: f32 [compressed], z: f32 [compressed]) -> s: f32 { s = x(i) + z(i); }", "n n"),
    ("fn bilinear(A: f32 csr, x: f32 dense, z: f32 dense) -> s: f32 { s = A(i, j) * x(j) * z(i); }", "m*n n m"),
    ("fn rows(A: f32 csr) -> y: f32 dense { y(i) = A(i, j); }", "m*n"),
    ("fn spmv(A: f32 csr, x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }", "m*n n"),
    (
        "fn residual(A: f32 csr, x: f32 dense, b: f32 dense) -> y: f32 dense { y(i) = b(i) + A(i, j) * x(j); }",
        "m*n n m",
    ),
    ("fn columns(A: f32 csr) -> y: f32 dense { y(j) = A(i, j); }", "n*m"),
    ("fn by_columns(A: f32 csc, x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }", "m*n n"),
    ("fn dense_rows(A: f32 dense) -> y: f32 dense { y(i) = A(i, j); }", "m*n"),
    ("fn dense_columns(A: f32 dense) -> y: f32 dense { y(j) = A(i, j); }", "n*m"),
    ("fn dense_product(A: f32 dense, x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }", "m*n n"),
    ("fn listed(A: f32 coo) -> y: f32 dense { y(i) = A(i, j); }", "m*n"),
    ("fn listed_all(A: f32 coo) -> s: f32 { s = A(i, j); }", "m*n"),
    ("fn listed_columns(A: f32 coo, x: f32 dense) -> y: f32 dense { y(j) += A(i, j) * x(i); }", "n*m n"),
    ("fn ell_rows(A: f32 ell, x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }", "m*n n"),
    ("fn sell_rows(A: f32 sell(8), x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }", "m*n n"),
    ("fn blocks(A: f32 bcsr(4), x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }", "m*n n"),
    ("fn diagonals(A: f32 dia, x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }", "m*n n"),
    ("fn linear(A: f32 lco, x: f32 dense) -> y: f32 dense { y(i) = A(i, j) * x(j); }", "m*n n"),
    ("fn spmm(A: f32 csr, X: f32 dense) -> Y: f32 dense { Y(i, r) = A(i, j) * X(j, r); }", "m*n n*40"),
    ("fn spmm_of_columns(A: f32 csc, X: f32 dense) -> Y: f32 dense { Y(i, r) = A(i, j) * X(j, r); }", "m*n n*3"),
    ("fn gemm(A: f32 dense, B: f32 dense) -> C: f32 dense { C(i, j) = A(i, k) * B(k, j); }", "m*n n*3"),
    (
        "fn sddmm(A: f32 csr, B: f32 dense, C: f32 dense) -> Y: f32 csr { Y(i, j) = A(i, j) * B(i, k) * C(j, k); }",
        "3*4 3*n 4*n",
    ),
    ("fn spgemm(A: f32 csr, B: f32 csr) -> C: f32 csr { C(i, j) = A(i, k) * B(k, j); }", "m*n n*5"),
    ("fn ttv(X: f32 csf, x: f32 dense) -> y: f32 dense { y(i, j) = X(i, j, k) * x(k); }", "3*5*n n"),
    ("fn ttv_inside(X: f32 csf, x: f32 dense) -> y: f32 dense { y(i, k) = X(i, j, k) * x(j); }", "3*n*5 n"),
    ("fn ttm(X: f32 csf, U: f32 dense) -> Y: f32 dense { Y(i, j, r) = X(i, j, k) * U(k, r); }", "3*5*n n*7"),
    ("fn all_of_slices(X: f32 csf, U: f32 dense) -> Y: f32 dense { Y(i, r) = X(i, j, k) * U(k, r); }", "3*n*5 5*7"),
    (
        "fn mttkrp(X: f32 csf, B: f32 dense, C: f32 dense) -> A: f32 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        "3*n*5 n*9 5*9",
    ),
    (
        "fn mttkrp_last(X: f32 csf, B: f32 dense, C: f32 dense) -> A: f32 dense { A(k, r) = X(i, j, k) * B(j, r) * C(i, r); }",
        "3*n*5 n*9 3*9",
    ),
    (
        "fn mttkrp_listed(X: f32 coo, B: f32 dense, C: f32 dense) -> A: f32 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        "3*n*5 n*33 5*33",
    ),
    (
        "fn mttkrp_alto(X: f32 alto, B: f32 dense, C: f32 dense) -> A: f32 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        "3*n*5 n*9 5*9",
    ),
    ("fn of_blocks(x: f32 dense) -> y: f32 dense { y(i / 1000000) += x(i); }", "n"),
    ("fn convolution(x: f32 dense, w: f32 dense) -> y: f32 dense { y(i) = x(i + k) * w(k); }", "n n"),
    ("fn norms(A: f32 csr) -> y: f32 dense { let t(i) = A(i, j) * A(i, j); y(i) = sqrt(t(i)); }", "m*n"),
    ("fn masked(A: f32 csr, M: f32 csr) -> s: f32 { s = A(i, j) where M(i, j); }", "m*n m*n"),
    ("fn maxima(A: f32 csr) -> s: f32 { s = sum(i)(max(j)(A(i, j))); }", "n*m"),
    ("fn two(x: f32 dense) -> (s: f32, q: f32) { s = x(i); q = x(i) * x(i); }", "n"),
];

/// What results may differ by, relative to what they are: NumPy, which adds in pairs, promises a third of that.
const ALLOWED: f64 = 4e-6;

fn kernel(text: &str) -> Kernel {
    let program = syntax::parse_program(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    notation::check(&program).unwrap_or_else(|problems| panic!("{text}: {problems:?}")).remove(0)
}

fn program(text: &str, deterministic: bool) -> Program {
    program_for(text, deterministic, None)
}

/// The same for so many columns `r` alone.
fn program_for(text: &str, deterministic: bool, columns: Option<u64>) -> Program {
    let options = schedule::Options { deterministic, ..schedule::Options::default() };
    let scheduled = schedule::schedule(&kernel(text), options);
    let mut program = scheduled.unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    let place =
        program.interface.variables.iter().find(|variable| variable.name == "r").map(|variable| variable.extent);
    if let (Some(place), Some(columns)) = (place, columns) {
        program.set_size(place, Size::Constant(columns));
    }
    compile(program).expect("it compiles")
}

/// The same kernel with twice as many bits.
fn wide(text: &str) -> String {
    text.replace("f32", "f64").replace("c32", "c64")
}

/// Which numbers there are.
#[derive(Clone, Copy)]
enum Terms {
    /// One, again and again: each addition to a sum rounds the same way.
    Equal,
    /// Any of a hundred.
    Random,
}

/// Positive numbers in rows of all lengths: the first is long, the second short, the third empty. Dense operands have an element
/// everywhere.
fn tensor(shape: &str, n: usize, terms: Terms, of: &notation::Tensor) -> AnyTensor {
    let extent = |mode: &str| match mode {
        "n" => n,
        "m" => 9,
        number => number.parse().expect("an extent"),
    };
    let shape: Vec<usize> = if shape == "." { Vec::new() } else { shape.split('*').map(extent).collect() };
    let mut random = Random::new(shape.iter().sum::<usize>() as u64);
    let (mut columns, mut numbers) = (vec![Vec::new(); shape.len()], Vec::new());
    let is_filled = shape.len() < 2 || shape[0] > 9 || of.format.is_dense();
    for_each_index(&shape, &mut |index| {
        let is_there = is_filled
            || match index[0] {
                0 | 4 => true,
                1 | 5 => index[1] % 1000 == 3,
                2 => false,
                _ => index[1] % 7 == 0,
            };
        if is_there {
            columns.iter_mut().zip(index).for_each(|(column, &at)| column.push(at as u64));
            numbers.push(match terms {
                Terms::Equal => 0.1_f32,
                Terms::Random => 0.1 + 1e-3 * random.below(100) as f32,
            });
        }
    });
    with_element!(of.element, |T| {
        let number = |&number: &f32| T::from(Number::of(of.element, number.into()));
        let indices = columns.into_iter().map(Indices::U64).collect();
        let values = numbers.iter().map(number).collect();
        let coordinates = Coordinates { shape, shape_is_stated: true, indices, values };
        let fill = T::from_literal(of.fill).expect("the fill value is an element");
        pack_filled::<T>(coordinates, &of.format, Duplicates::Refuse, fill)
    })
    .unwrap_or_else(|error| panic!("{}: {error}", of.name))
}

/// The inputs of a kernel.
fn inputs(text: &str, shapes: &str, n: usize, terms: Terms) -> Vec<AnyTensor> {
    let kernel = kernel(text);
    let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input);
    inputs.zip(shapes.split(' ')).map(|(of, shape)| tensor(shape, n, terms, of)).collect()
}

fn results(chain: &Chain, inputs: &[AnyTensor]) -> Vec<AnyTensor> {
    let inputs: Vec<&AnyTensor> = inputs.iter().collect();
    let outcome = chain.run(&inputs, &[], 1).unwrap_or_else(|error| panic!("{error}"));
    outcome.outputs.into_iter().map(|(_, tensor)| tensor).collect()
}

/// The real and the imaginary parts of what results hold.
fn numbers(results: &[AnyTensor]) -> Vec<f64> {
    let of = |values: &Values| -> Vec<f64> {
        match values {
            Values::F32(values) => values.iter().map(|&value| value.into()).collect(),
            Values::F64(values) => values.to_vec(),
            Values::C32(values) => values.iter().flat_map(|value| [value.re.into(), value.im.into()]).collect(),
            Values::C64(values) => values.iter().flat_map(|value| [value.re, value.im]).collect(),
            other => panic!("{other:?}"),
        }
    };
    results.iter().flat_map(|tensor| of(tensor.values())).collect()
}

fn compiled(deterministic: bool, wide_too: bool) -> Result<Vec<Chain>, Skip> {
    let texts = KERNELS.iter().flat_map(|(text, _)| {
        let wide = wide_too.then(|| wide(text));
        [Some((*text).to_owned()), wide].into_iter().flatten()
    });
    let programs: Vec<Program> = texts.map(|text| program(&text, deterministic)).collect();
    native::compile_optimized(&programs.iter().collect::<Vec<_>>())
}

/// How far results are from those of more bits.
fn error(few: &[f64], many: &[f64]) -> f64 {
    assert_eq!(few.len(), many.len());
    few.iter().zip(many).map(|(few, many)| (few - many).abs() / many.abs().max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
}

fn long_sums_lose_nothing_natively() -> Result<(), Skip> {
    let chains = compiled(false, true)?;
    let mut wrong = Vec::new();
    for ((text, shapes), chains) in KERNELS.iter().zip(chains.chunks(2)) {
        let few = inputs(text, shapes, 60_000, Terms::Equal);
        let right = numbers(&results(&chains[1], &inputs(&wide(text), shapes, 60_000, Terms::Equal)));
        for threads in [1, 2, 5] {
            let found = with_threads(threads, || numbers(&results(&chains[0], &few))).unwrap();
            let error = error(&found, &right);
            if error > ALLOWED {
                wrong.push(format!("{error:.1e} on {threads} threads: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// As programs that are compiled at run time have them.
fn long_sums_of_known_columns_lose_nothing_natively() -> Result<(), Skip> {
    let columns = |shapes: &str| shapes.split(' ').nth(1)?.rsplit('*').next()?.parse().ok();
    let kernels = KERNELS.iter().filter(|(text, _)| text.contains(", r)"));
    let kernels: Vec<(&str, &str, Option<u64>)> =
        kernels.map(|(text, shapes)| (*text, *shapes, columns(shapes))).collect();
    let programs: Vec<Program> = kernels
        .iter()
        .flat_map(|(text, _, columns)| [(*text).to_owned(), wide(text)].map(|text| program_for(&text, false, *columns)))
        .collect();
    let chains = native::compile_optimized(&programs.iter().collect::<Vec<_>>())?;
    let mut wrong = Vec::new();
    for ((text, shapes, columns), chains) in kernels.iter().zip(chains.chunks(2)) {
        assert!(columns.is_some(), "{text} has columns");
        let found = numbers(&results(&chains[0], &inputs(text, shapes, 60_000, Terms::Equal)));
        let right = numbers(&results(&chains[1], &inputs(&wide(text), shapes, 60_000, Terms::Equal)));
        let error = error(&found, &right);
        if error > ALLOWED {
            wrong.push(format!("{error:.1e}: {text}"));
        }
    }
    assert!(wrong.is_empty() && kernels.len() >= 4, "{}", wrong.join("\n"));
    Ok(())
}

fn long_sums_lose_nothing_in_the_interpreter() {
    let mut wrong = Vec::new();
    for (text, shapes) in KERNELS {
        let interpreted = |text: &str| {
            let chain = Chain::new(&program(text, false), Backend::Interpreter).unwrap();
            numbers(&results(&chain, &inputs(text, shapes, 10_000, Terms::Equal)))
        };
        let error = error(&interpreted(text), &interpreted(&wide(text)));
        if error > ALLOWED {
            wrong.push(format!("{error:.1e}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn deterministic_kernels_give_the_same_bits_on_any_number_of_threads() -> Result<(), Skip> {
    let chains = compiled(true, true)?;
    let plain = compiled(false, true)?;
    let mut differ = 0;
    for (((text, shapes), chains), plain) in KERNELS.iter().zip(chains.chunks(2)).zip(plain.chunks(2)) {
        for (few, text) in [(*text).to_owned(), wide(text)].iter().enumerate() {
            let inputs = inputs(text, shapes, 60_000, Terms::Random);
            let bits = |chain: &Chain, threads: usize| -> Vec<u64> {
                let found = with_threads(threads, || numbers(&results(chain, &inputs))).unwrap();
                found.into_iter().map(f64::to_bits).collect()
            };
            let first = bits(&chains[few], 1);
            for threads in [1, 2, 3, 5, 16] {
                assert!(bits(&chains[few], threads) == first, "other bits on {threads} threads: {text}");
            }
            // Without that, they depend on the number of threads, and on nothing else.
            let once = bits(&plain[few], 3);
            assert!(bits(&plain[few], 3) == once, "other bits on as many threads: {text}");
            differ += usize::from(bits(&plain[few], 1) != once);
        }
    }
    // Else the data is too small to be cut.
    assert!(differ >= 10, "{differ} results depend on threads");
    Ok(())
}

spc_tests::tests! {
    [whole] long_sums_lose_nothing_natively,
    [whole] long_sums_of_known_columns_lose_nothing_natively,
    long_sums_lose_nothing_in_the_interpreter,
    [whole] deterministic_kernels_give_the_same_bits_on_any_number_of_threads,
}
