//! What people see of wrong programs: each file of `errors/` and its messages, as they are rendered.

#![cfg(feature = "pretty")]

use spc_compiler::diagnostics::render::render;
use spc_compiler::syntax;
use std::fs;
use std::path::Path;

fn messages(path: &Path) -> String {
    let source = fs::read_to_string(path).expect("the case can be read");
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let problems = syntax::parse_program(&source).expect_err("the case has errors").into_sorted();
    render(&source, &name, &problems, false)
}

#[test]
fn syntax() {
    insta::glob!("errors/syntax/*.ti", |path| insta::assert_snapshot!(messages(path)));
}
