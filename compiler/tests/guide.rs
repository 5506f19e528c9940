//! The contributor's page shows what the compiler prints.

#![cfg(feature = "pretty")]

use spc_compiler::format::resolve::Definitions;
use spc_compiler::notation::{FormatOption, check_expression};
use spc_compiler::schedule;
use spc_compiler::{backend, compile, compile_notation, concrete, syntax};

const GUIDE: &str = include_str!("../GUIDE.md");

/// The block of the page that shows a stage.
fn block(stage: &str) -> &str {
    let fence = format!("```text,{stage}\n");
    let (_, rest) = GUIDE.split_once(&fence).unwrap_or_else(|| panic!("the page does not show {stage}"));
    rest.split_once("```").expect("a block ends").0
}

#[test]
fn every_stage_is_shown_as_it_is() {
    let statement = syntax::parse_statement("y(i) = A(i, j) * x(j)").expect("the example is in the language");
    let format = FormatOption::new("A", syntax::parse_parameter_format("csr").expect("csr is a format"));
    let notation = check_expression(&statement, &[format], &Definitions::prelude()).expect("the example has a meaning");
    let program = compile_notation(&notation).expect("the example can be scheduled");
    let compiled = program.single().expect("the example is one statement");
    let options = schedule::Options { target: concrete::Target::Gpu, ..schedule::Options::default() };
    let for_gpu =
        compile(schedule::schedule(&notation, options).expect("the example can be scheduled")).expect("it compiles");
    let for_gpu = for_gpu.single().expect("the example is one statement");
    let module = backend::cuda::module(&for_gpu.kernel, None, backend::cuda::Options::default())
        .expect("the example runs on a device");
    let stages = [
        ("notation", format!("{notation}\n")),
        ("concrete", compiled.concrete.to_string()),
        ("lattice", compiled.lattices.concat()),
        ("ir", compiled.kernel.to_string()),
        ("code", backend::rust::text(&compiled.kernel)),
        ("plan", backend::cuda::plan_text(&module)),
    ];
    for (stage, printed) in stages {
        assert_eq!(block(stage).trim_end(), printed.trim_end(), "{stage}");
    }
    assert_eq!(GUIDE.matches("```text,").count(), 6, "every block with a stage is compared");
}
