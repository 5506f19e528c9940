//! How kernels are scheduled: each file of `schedules/`, its loops, the reasons for them, and the lattices of what they walk.

use crate::assert_snapshot;
use spc_compiler::backend::cuda;
use spc_compiler::concrete::Target;
use spc_compiler::schedule::{Options, schedule};
use spc_compiler::{compile, notation, syntax};
use std::fmt::Write;
use std::fs;

fn kernels(text: &str) -> Vec<notation::Kernel> {
    let program = syntax::parse_program(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    notation::check(&program).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn schedules() {
    insta::glob!("schedules/*.ti", |path| {
        let text = fs::read_to_string(path).expect("the case can be read");
        let mut shown = String::new();
        for kernel in kernels(&text) {
            let program = schedule(&kernel, Options::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
            for decision in &program.chain.decisions {
                _ = writeln!(shown, "{}: {}", decision.what, decision.why);
            }
            for compiled in compile(program).expect("it compiles").kernels {
                _ = writeln!(shown, "{}", compiled.concrete);
                for decision in compiled.concrete.decisions.iter().filter(|decision| decision.what.is_told()) {
                    _ = writeln!(shown, "{}: {}", decision.what, decision.why);
                }
                _ = writeln!(shown, "\n");
            }
        }
        assert_snapshot("schedules__schedules", &shown);
    });
}

/// What is decided for a device: by the scheduler, and by the mapping of parallel loops.
#[test]
fn mappings() {
    insta::glob!("mappings/*.ti", |path| {
        let text = fs::read_to_string(path).expect("the case can be read");
        let mut shown = String::new();
        for (kernel, deterministic) in kernels(&text).iter().flat_map(|kernel| [(kernel, false), (kernel, true)]) {
            let options = Options { target: Target::Gpu, deterministic, ..Options::default() };
            let program = schedule(kernel, options).unwrap_or_else(|problems| panic!("{problems:?}"));
            for compiled in compile(program).expect("it compiles").kernels {
                _ = writeln!(shown, "{}{}", kernel.name, if deterministic { ", deterministic" } else { "" });
                for remark in compiled.concrete.decisions.iter().filter(|remark| remark.what.is_told()) {
                    _ = writeln!(shown, "    {}: {}", remark.what, remark.why);
                }
                let module = cuda::module(&compiled.kernel, None, cuda::Options::default());
                for decision in &module.unwrap_or_else(|refusal| panic!("{refusal:?}")).decisions {
                    _ = writeln!(shown, "  * {}: {}", decision.what, decision.why);
                }
                _ = writeln!(shown);
            }
        }
        assert_snapshot("schedules__mappings", &shown);
    });
}

#[test]
fn without_parallel_loops() {
    let kernel = &kernels("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }")[0];
    let concrete = schedule(kernel, Options { parallel: false, ..Options::default() });
    let concrete = concrete.expect("it can be scheduled").kernels.remove(0);
    assert!(!concrete.to_string().contains("parallel"), "{concrete}");
}

#[test]
fn lattices() {
    insta::glob!("lattices/*.ti", |path| {
        let text = fs::read_to_string(path).expect("the case can be read");
        let shown = |kernel: &notation::Kernel| {
            let program = schedule(kernel, Options::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
            let lattices = compile(program).expect("it compiles").kernels.remove(0).lattices;
            format!("{}\n\n{}", kernel.statement(&kernel.statements[0]), lattices.join("\n"))
        };
        let shown: Vec<String> = kernels(&text).iter().map(shown).collect();
        assert_snapshot("schedules__lattices", &shown.join("\n"));
    });
}
