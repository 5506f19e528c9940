//! Programs on a GPU, in processes that find a driver and a compiler which tests have made: see `emulation::driver`.

use spc_tests::emulation::driver::Installed;
use spc_tests::harness::{Skip, Suite, again};
use std::sync::{Arc, OnceLock};

/// A test, and variables of its process.
type Test = (&'static str, fn(), &'static [(&'static str, &'static str)]);

const TESTS: &[Test] = &[
    ("kernels_of_the_macro_run_on_a_gpu", in_process::kernels_of_the_macro_run, &[]),
    ("programs_run_on_a_gpu", in_process::programs_run, &[]),
    ("inputs_come_in_parts_on_two_gpus", in_process::inputs_come_in_parts, &[]),
    (
        "what_is_larger_than_a_gpu_comes_in_parts",
        in_process::what_is_larger_comes_in_parts,
        &[("SPC_EMULATED_BYTES", "46000")],
    ),
    ("what_stays_on_a_gpu_makes_room", in_process::what_stays_makes_room, &[("SPC_EMULATED_BYTES", "40000")]),
    ("large_arrays_are_copied_in_chunks", in_process::large_arrays_are_copied, &[]),
    (
        "large_arrays_are_copied_where_nothing_can_be_pinned",
        in_process::large_arrays_are_copied,
        &[("SPC_EMULATED_PAGEABLE", "1")],
    ),
    ("results_stay_on_a_gpu", in_process::results_stay, &[]),
    ("results_that_stay_on_a_gpu_make_room", in_process::results_make_room, &[("SPC_EMULATED_BYTES", "40000")]),
    ("what_parts_make_together_stays_on_a_gpu", in_process::what_parts_make_stays, &[]),
    (
        "parts_of_what_can_not_be_pinned_are_copied_and_said",
        in_process::what_is_not_pinned_is_said,
        &[("SPC_EMULATED_PAGEABLE", "1")],
    ),
];

/// Adds the tests of this module: each runs itself again where there is a driver.
pub(crate) fn tests(suite: &mut Suite) {
    let is_there = std::env::var_os("SPC_EMULATION").is_some();
    let installed: Arc<OnceLock<Result<Installed, Skip>>> = Arc::default();
    for (name, test, variables) in TESTS {
        let (name, installed) = (format!("gpu::{name}"), Arc::clone(&installed));
        match is_there {
            true => suite.test(name, test),
            false => suite.test(name.clone(), move || -> Result<(), Skip> {
                let installed = installed.get_or_init(Installed::new).as_ref().map_err(Clone::clone)?;
                again(&name, |command| {
                    installed.prepare(command);
                    command.envs(variables.iter().copied());
                })
            }),
        }
    }
}

mod in_process {
    use spc::cuda::{CudaError, Gpu};
    use spc::execute::device::Device;
    use spc::execute::{Backend, Chain, Program, ProgramOptions, StreamOptions};
    use spc::generate;
    use spc::tensor::{AnyTensor, Csf, Csr, Dense, Tensor};
    use spc_compiler::concrete::Target;
    use spc_compiler::schedule;
    use spc_compiler::{notation, syntax};
    use spc_tests::emulation::driver::{brought, taken};

    /// Of several chunks, the last of which is a part of one; and as many as there are, or one more.
    pub(super) fn large_arrays_are_copied() {
        let stream = Gpu::open(0).expect("it is there").stream().expect("it can be made");
        for bytes in [(8 << 20) + 1, 16 << 20, (16 << 20) + 1, (25 << 20) + 4321, (32 << 20) - 1] {
            let sent: Vec<u8> =
                (0..bytes as u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
            let memory = stream.allocate(bytes, "bytes").expect("there is room");
            stream.write(memory, &sent).expect("they are sent");
            let mut received = vec![0; bytes];
            stream.read(memory, &mut received).expect("they are received");
            stream.free(memory);
            assert!(sent == received, "{bytes}");
        }
    }

    fn kernel(text: &str) -> notation::Kernel {
        let program = syntax::parse_program(text).expect("it parses");
        notation::check(&program).expect("it is right").remove(0)
    }

    const KERNELS: [&str; 5] = [
        "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }",
        "fn mttkrp(A: csf, B: dense, C: dense) -> M: dense { M(i, r) = A(i, j, k) * B(j, r) * C(k, r); }",
        "fn sum(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + 2 * B(i, j); }",
        "fn two(A: csr, x: dense) -> y: dense { let t(i) = A(i, j) * x(j); y(j) = A(i, j) * t(i); }",
        "fn product(A: csr, B: csr) -> C: csr { C(i, k) = A(i, j) * B(j, k); }",
    ];

    pub(super) fn programs_run() {
        assert_eq!(Gpu::all().expect("there is a driver").len(), 2);
        assert!(matches!(Gpu::open(2), Err(CudaError::NoDevice { asked: 2, count: 2 })));
        for text in KERNELS {
            let kernel = kernel(text);
            let inputs = || {
                let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input).zip(1..);
                let operand = |(tensor, seed): (&notation::Tensor, u64)| {
                    let shape = vec![40; tensor.format.order];
                    let count = 40usize.pow(tensor.format.order as u32) / 5;
                    (tensor.name.clone(), generate::uniform(&shape, count, seed).expect("so many fit").into())
                };
                inputs.map(operand).collect()
            };
            let run = |backend| {
                let options = ProgramOptions { backend: Some(backend), ..ProgramOptions::default() };
                let program = Program::new(&kernel, inputs(), &[("r".to_owned(), 16)][..0], &options)
                    .unwrap_or_else(|error| panic!("{text}: {error}"));
                (program.place(), program.run(3).unwrap_or_else(|error| panic!("{text}: {error}")))
            };
            let ((place, gpu), (_, truth)) = (run(Backend::Cuda), run(Backend::Interpreter));
            assert_eq!(place, "device 0 (Emulation 0, sm_90)");
            assert!(gpu.run_times.len() == 3 && gpu.run_times.iter().all(|time| !time.is_zero()));
            for ((name, made), (_, expected)) in gpu.outputs.iter().zip(&truth.outputs) {
                let (made, expected) =
                    (made.to_coordinates::<f64>().unwrap(), expected.to_coordinates::<f64>().unwrap());
                assert_eq!(made.indices, expected.indices, "{text}: {name}");
                let values = made.values.iter().zip(&expected.values);
                assert!(values.clone().count() > 10, "{text}: {name}");
                for (made, expected) in values {
                    assert!((made - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{text}: {made} {expected}");
                }
            }
        }
    }

    spc::tensor_kernel! {
        format rows = (i, j) -> [i: dense, j: compressed];
        fn mttkrp(A: csf, B: dense, C: dense) -> M: dense { M(i, r) = A(i, j, k) * B(j, r) * C(k, r); }
        /// Two results, one after the other.
        fn normal(A: rows, x: dense) -> (t: dense, y: dense) { t(i) = A(i, j) * x(j); y(j) = A(i, j) * t(i); }
        fn sum(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + 2 * B(i, j); }
        fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
    }

    pub(super) fn kernels_of_the_macro_run() {
        let gpu = Gpu::open(0).expect("there is a driver");
        let entries = |shape: &[usize], seed| {
            let mut entries = generate::uniform(shape, shape.iter().product::<usize>() / 5, seed).expect("so many fit");
            entries.values.iter_mut().for_each(|value| *value = (*value * 100.0).round());
            entries
        };
        let a = Tensor::<f64, Csf<3>>::from_coordinates(entries(&[30, 20, 10], 1)).unwrap();
        let dense =
            |rows| Tensor::<f64, Dense<2>>::from_fn([rows, 16], |index| (index[0] * index[1] % 7) as f64).unwrap();
        let (b, c) = (dense(20), dense(10));
        let expected = mttkrp(&a, &b, &c).unwrap();
        assert_eq!(gpu.scope(|| mttkrp(&a, &b, &c)).unwrap(), expected);
        let resident = gpu.resident();
        assert!(resident.0 >= 3, "inputs stay there: {resident:?}");
        let mut into = Tensor::<f64, Dense<2>>::from_fn([30, 16], |_| -1.0).unwrap();
        gpu.scope(|| mttkrp_into(&a, &b, &c, &mut into)).unwrap();
        // The first result was dropped, and this one is there.
        assert_eq!((&into, gpu.resident()), (&expected, (resident.0 + 1, resident.1 + 30 * 16 * 8)));
        let mut short = Tensor::<f64, Dense<2>>::from_fn([29, 16], |_| -1.0).unwrap();
        assert!(gpu.scope(|| mttkrp_into(&a, &b, &c, &mut short)).is_err());
        assert_eq!(short.values()[0], -1.0);

        let a = Tensor::<f64, Csr>::from_coordinates(entries(&[30, 20], 2)).unwrap();
        let b = Tensor::<f64, Csr>::from_coordinates(entries(&[30, 20], 3)).unwrap();
        let x = Tensor::<f64, Dense<1>>::from_fn([20], |index| index[0] as f64).unwrap();
        let there = gpu.scope(|| (sum(&a, &b), normal(&a, &x)));
        assert_eq!((there.0.unwrap(), there.1.unwrap()), (sum(&a, &b).unwrap(), normal(&a, &x).unwrap()));
        let wrong = Tensor::<f64, Dense<1>>::from_fn([19], |_| 1.0).unwrap();
        let message = gpu.scope(|| normal(&a, &wrong)).unwrap_err().to_string();
        assert_eq!(message, normal(&a, &wrong).unwrap_err().to_string());
    }

    /// A program of a kernel whose inputs have whole numbers: every order of sums gives the same.
    fn program(kernel: &notation::Kernel, extent: usize, options: &ProgramOptions) -> Program {
        let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input).zip(1..);
        let operand = |(tensor, seed): (&notation::Tensor, u64)| {
            let order = tensor.format.order;
            let count = (20 * extent).min(extent.pow(order as u32));
            let mut entries = generate::uniform(&vec![extent; order], count, seed).expect("so many fit");
            entries.values.iter_mut().for_each(|value| *value = (*value * 100.0).round());
            (tensor.name.clone(), entries.into())
        };
        let inputs = inputs.map(operand).collect();
        Program::new(kernel, inputs, &[], options).unwrap_or_else(|error| panic!("{}: {error}", kernel.name))
    }

    pub(super) fn inputs_come_in_parts() {
        for text in [
            "fn spmv(A: csr, B: csc) -> y: dense { y(i) = A(i, j) * B(j, i); }",
            "fn mttkrp(A: csf, B: csr) -> M: dense { M(j, k) = A(i, j, k) * B(i, k); }",
            "fn all(A: csf, B: csr) -> s: f64 { s = A(i, j, k) * B(i, k); }",
            "fn ttv(A: csf, B: csr) -> Y: csf { Y(i, j) = A(i, j, k) * B(j, k); }",
            "fn product(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) * B(j, i); }",
            "fn least(A: csr fill inf) -> y: dense { y(i) = min(j)(A(i, j)); } schedule { stream(A, 5); }",
        ] {
            let kernel = kernel(text);
            let run = |stream: Option<StreamOptions>, backend| {
                let options =
                    ProgramOptions { backend: Some(backend), devices: vec![0, 1], stream, ..Default::default() };
                let program = program(&kernel, 50, &options);
                let outputs = program.run(2).unwrap_or_else(|error| panic!("{text}: {error}")).outputs;
                (outputs, program.spent())
            };
            let (truth, _) = run(None, Backend::Interpreter);
            for whole in [None, Some(0)] {
                let stream = StreamOptions { lanes: 3, whole, ..StreamOptions::new("A", 7) };
                let (outputs, spent) = run(Some(stream), Backend::Cuda);
                assert_eq!(outputs, truth, "{text}");
                let spent = spent.expect("it came in parts");
                assert!(!spent.copy_in.is_zero() && !spent.compute.is_zero() && !spent.copy_out.is_zero());
                assert!(!spent.pageable, "its memory was pinned");
            }
        }
    }

    /// A product in so many parts in three lanes, of 50 rows.
    fn product_in_parts(devices: Vec<usize>) -> Program {
        let kernel = kernel("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }");
        let stream = Some(StreamOptions { lanes: 3, ..StreamOptions::new("A", 7) });
        program(&kernel, 50, &ProgramOptions { backend: Some(Backend::Cuda), devices, stream, ..Default::default() })
    }

    pub(super) fn what_parts_make_stays() {
        let gpu = Gpu::open(0).expect("there is a driver");
        let chain = double(&gpu);
        let double = |y: &AnyTensor| {
            brought();
            chain.run(&[y], &[], 3).expect("there is room");
            brought()
        };
        let on_one = product_in_parts(vec![0]);
        taken();
        let y = on_one.run(1).expect("the parts fit").outputs.remove(0).1;
        // Beside the one result, each lane reads numbers: the longest row of a part.
        let numbers = taken() - 50 * 8;
        assert!(numbers.is_multiple_of(8) && numbers <= 7 * 8, "{numbers}");
        assert_eq!((double(&y), taken()), (0, 50 * 8), "results come back once");
        // What two devices make is one on the host only.
        let other = product_in_parts(vec![0, 1]).run(1).expect("the parts fit").outputs.remove(0).1;
        assert_eq!((&other, double(&other)), (&y, 50 * 8));
    }

    pub(super) fn what_is_not_pinned_is_said() {
        let program = product_in_parts(vec![0]);
        program.run(1).expect("the parts fit");
        assert!(program.spent().expect("it came in parts").pageable);
    }

    pub(super) fn what_is_larger_comes_in_parts() {
        let kernel = kernel("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }");
        let run = |parts: usize| {
            let stream = Some(StreamOptions { lanes: 2, ..StreamOptions::new("A", parts) });
            let options = ProgramOptions { backend: Some(Backend::Cuda), stream, ..Default::default() };
            // 72,000 bytes of entries.
            program(&kernel, 300, &options).run(1)
        };
        assert!(run(1).unwrap_err().to_string().contains("out of memory"));
        assert_eq!(run(12).expect("the parts fit").outputs[0].1.shape(), [300]);
    }

    /// A vector of so many elements of 8 bytes.
    fn vector(length: usize) -> AnyTensor {
        let values = (0..length).map(|place| place as f64).collect();
        Tensor::<f64, Dense<1>>::from_vec([length], values).expect("it is a vector").into_any()
    }

    /// What doubles a vector.
    fn double(gpu: &Gpu) -> Chain {
        let kernel = kernel("fn double(x: dense) -> y: dense { y(i) = 2 * x(i); }");
        let options = schedule::Options { target: Target::Gpu, ..schedule::Options::default() };
        let program =
            spc_compiler::compile(schedule::schedule(&kernel, options).expect("it is scheduled")).expect("it compiles");
        Chain::on_gpu(&program, gpu).expect("it compiles")
    }

    pub(super) fn what_stays_makes_room() {
        let gpu = Gpu::open(0).expect("there is a driver");
        let chain = double(&gpu);
        let (first, second, large) = (vector(1000), vector(1500), vector(2400));
        let run = |x: &AnyTensor| chain.run(&[x], &[], 1).map(|outcome| outcome.outputs[0].1.clone());
        assert_eq!(gpu.resident(), (0, 0));
        run(&first).expect("there is room");
        run(&first).expect("it is there");
        assert_eq!(gpu.resident(), (1, 8_000));
        run(&second).expect("there is room for both");
        assert_eq!(gpu.resident(), (2, 20_000));
        // Twice 19,200 bytes fit when both others have gone.
        let doubled = run(&large).expect("there is room for it alone");
        assert_eq!(gpu.resident(), (2, 38_400));
        assert_eq!(doubled.values_of::<f64>().unwrap()[7], 2.0 * large.values_of::<f64>().unwrap()[7]);
        drop((large, doubled));
        run(&first).expect("there is room");
        assert_eq!(gpu.resident(), (1, 8_000), "what the host has dropped is gone");
        let error = run(&vector(6000)).expect_err("it does not fit").to_string();
        assert!(error.contains("48000 bytes for `x`") && error.contains("out of memory"), "{error}");
    }

    pub(super) fn results_stay() {
        let gpu = Gpu::open(0).expect("there is a driver");
        let matrix = |seed| {
            let mut entries = generate::uniform(&[30, 30], 200, seed).expect("so many fit");
            entries.values.iter_mut().for_each(|value| *value = (*value * 100.0).round());
            Tensor::<f64, Csr>::from_coordinates(entries).expect("it is a matrix")
        };
        let (a, b) = (matrix(1), matrix(2));
        let x = Tensor::<f64, Dense<1>>::from_fn([30], |index| index[0] as f64).unwrap();
        let vector = 30 * 8;
        // The product, which is right, and the bytes that were copied to the device for it.
        let times = |x: &Tensor<f64, Dense<1>>| {
            brought();
            let y = gpu.scope(|| spmv(&a, x)).unwrap();
            assert_eq!(y, spmv(&a, x).unwrap());
            (y, brought())
        };
        let (mut y, first) = times(&x);
        assert!(first > 200 * 8 + vector, "{first}");
        assert_eq!(gpu.resident(), (5, first + vector));
        let (z, again) = times(&y);
        assert_eq!((again, times(&z).1, times(&x).1), (0, 0, 0));

        // Who has the old elements finds them there. The new ones are not.
        let before = y.clone();
        y.values_mut()[3] += 1.0;
        assert_eq!((times(&before).1, times(&y).1, times(&y).1), (0, vector, 0));
        y.values_mut()[4] += 1.0;
        assert_eq!((times(&y).1, times(&before).1), (vector, 0));
        spmv_into(&b, &x, &mut y).unwrap();
        assert_eq!(times(&y).1, vector);

        // A result in the memory of another is there in its place.
        let resident = gpu.resident();
        for _ in 0..3 {
            gpu.scope(|| spmv_into(&a, &x, &mut y)).unwrap();
            assert_eq!((&y, gpu.resident()), (&spmv(&a, &x).unwrap(), resident));
            assert_eq!(times(&y).1, 0);
        }

        // Index arrays stay too, and what one statement makes for the next.
        let c = gpu.scope(|| sum(&a, &b)).unwrap();
        assert!(brought() > 0);
        let d = gpu.scope(|| sum(&c, &b)).unwrap();
        assert_eq!((brought(), &d), (0, &sum(&c, &b).unwrap()));
        let both = gpu.scope(|| normal(&a, &x)).unwrap();
        assert_eq!((brought(), both), (0, normal(&a, &x).unwrap()));
    }

    pub(super) fn results_make_room() {
        let gpu = Gpu::open(0).expect("there is a driver");
        let chain = double(&gpu);
        let run = |x: &AnyTensor| {
            brought();
            let y = chain.run(&[x], &[], 1).expect("there is room").outputs.remove(0).1;
            let values = |tensor: &AnyTensor| tensor.values_of::<f64>().expect("they are numbers").to_vec();
            assert!(values(x).iter().zip(values(&y)).all(|(x, y)| 2.0 * x == y));
            (y, brought())
        };
        // An input and four results fill the memory. The next takes that of the first result, not of the input.
        let x = vector(1000);
        let results: Vec<AnyTensor> = (0..5).map(|_| run(&x).0).collect();
        assert_eq!(gpu.resident(), (5, 40_000));
        assert_eq!(run(&results[1]).1, 0, "it is there");
        assert_eq!(run(&results[0]).1, 8_000, "it had gone");
        assert_eq!((run(&x).1, run(&results[1]).1), (0, 0), "what is read stays longer than what is not");
        // Several runs of one call take no more memory than there is, and leave one result.
        let large = vector(2400);
        let outcome = chain.run(&[&large], &[], 3).expect("there is room for both");
        assert_eq!(outcome.outputs[0].1.values_of::<f64>().unwrap()[7], 14.0);
        assert_eq!(gpu.resident(), (2, 38_400));
    }
}
