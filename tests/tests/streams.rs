//! Every kernel that takes an input in parts, with its input in parts.

use crate::corpus::runnable;
use spc::execute::{Backend, Chain, StreamOptions, Streamed};
use spc::io::StoredTensor;
use spc::tensor::AnyTensor;
use spc_compiler::concrete;
use spc_compiler::notation::Role;
use spc_compiler::schedule;
use spc_tests::case::Case;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::options;
use spc_tests::report::check_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a case says with an input in so many parts; `None` where the kernel or the format does not serve.
fn in_parts(ready: &Ready, tensor: &str, options: StreamOptions) -> Option<Result<(), String>> {
    let place = ready.program.interface.tensors.iter().position(|input| input.name == tensor)?;
    ready.tensors[place].parts(options.parts, options.whole).ok()?;
    let stream = schedule::stream(&ready.notation, tensor, options.parts as u64).ok()?;
    let input = &ready.tensors[place];
    let run = |stored: bool| {
        let interpreted = |program: &spc_compiler::Program| Chain::new(program, Backend::Interpreter);
        let combine = interpreted(&Streamed::combination(&stream, concrete::Target::Cpu)?)?;
        // Two lanes, which are threads.
        let lanes = vec![interpreted(&ready.program)?, interpreted(&ready.program)?];
        let mut streamed = Streamed::new(lanes, combine, options.clone())?;
        if stored {
            let folder = tempfile::tempdir().expect("there is room for a folder");
            let path = folder.path().join("input.spct");
            spc::io::write_tensor(&path, input).expect("there is room for a file");
            let parts = StoredTensor::open(&path).and_then(|stored| stored.parts(options.parts, options.whole));
            streamed = streamed.of_file(Arc::new(parts.expect("the tensor comes in parts, and so does its file")));
            // The file is there as long as it is read.
            return streamed.run(&ready.tensors.iter().collect::<Vec<&AnyTensor>>(), &ready.stated(), 1);
        }
        streamed.run(&ready.tensors.iter().collect::<Vec<&AnyTensor>>(), &ready.stated(), 1)
    };
    let check = |stored: bool| {
        let outcome = run(stored).map_err(|error| error.to_string())?;
        let results: Vec<AnyTensor> = outcome.outputs.into_iter().map(|(_, tensor)| tensor).collect();
        ready.check_values(&results)
    };
    Some(check(false).and_then(|()| check(true).map_err(|error| format!("from a file: {error}"))))
}

/// In the usual tier, every so many-th case.
const SHARE: usize = 4;

fn parts_give_what_the_whole_gives() {
    let cases = options().sample(runnable(), SHARE);
    let count = AtomicUsize::new(0);
    let check = |case: &Case| {
        let ready = match Ready::new(case) {
            Ok(ready) => ready,
            Err(Stop::Refused { message, .. } | Stop::Data(message)) => return Err(message),
        };
        for tensor in ready.notation.tensors.iter().filter(|tensor| tensor.role == Role::Input) {
            for (parts, whole, largest_first) in [(3, None, false), (5, Some(0), true)] {
                let options = StreamOptions { whole, largest_first, ..StreamOptions::new(&tensor.name, parts) };
                if let Some(result) = in_parts(&ready, &tensor.name, options) {
                    count.fetch_add(1, Ordering::Relaxed);
                    result.map_err(|error| format!("`{}`: {error}", tensor.name))?;
                }
            }
        }
        Ok(())
    };
    check_all(&cases, |case| &case.name, check);
    let count = count.into_inner();
    assert!(3 * count > cases.len(), "only {count} kernels took an input in parts");
}

/// Why a kernel does not take `X` in parts.
fn refusal(body: &str) -> String {
    let text = format!("fn f(X: csr, Z: csr, x: dense) -> y: dense {{ {body} }}");
    let case = Case::parse("refused", &format!("// dims: i=3 j=3 k=3\n{text}\n")).expect("it is a case");
    let ready = Ready::new(&case).unwrap_or_else(|stop| panic!("{stop:?}"));
    schedule::stream(&ready.notation, "X", 2).expect_err(body).0
}

fn what_parts_do_not_give_is_refused() {
    for (body, reason) in [
        ("y(i) = X(i, j) * X(j, i) * Z(i, j) * x(j);", "two of its entries at once"),
        ("y(i) = X(i, j) * x(j) + Z(i, k) * x(k);", "a term does not read it"),
        ("y(i) = sqrt(sum(j)(X(i, j) * Z(i, j) * x(j)));", "more is done with a reduction"),
        ("y(i) = sum(j)((X(i, j) + Z(i, j)) * x(j));", "something where it has no entry"),
        ("y(i) = Z(i, j) * x(j); y(i) += X(i, j) * x(j);", "several statements"),
        ("y(i) max= X(i, j) * Z(i, j) * x(j);", "something where it has no entry"),
    ] {
        let said = refusal(body);
        assert!(said.contains(reason), "{body}: {said}");
    }
}

spc_tests::tests! {
    parts_give_what_the_whole_gives,
    what_parts_do_not_give_is_refused,
}
