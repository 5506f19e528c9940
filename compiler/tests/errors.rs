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

#[test]
fn expressions() {
    let texts = [
        "Y(i,r) = X(i,j,k) * U(k,r",
        "a(i) = b(i) c(i)",
        "a(i) = b(i); c(i) = a(i)",
        "a(i)",
        "",
        "a(i) = sum(j, b(i,j)) where b(i)(j)",
        "a(i) = 1.2.3 * b(i)",
        "a(i) = 0 < b(i) < 1",
    ];
    let messages = texts.map(|text| {
        let problems = syntax::parse_statement(text).expect_err(text).into_sorted();
        render(text, "<expression>", &problems, false)
    });
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn formats() {
    let messages = ["", "f32 [compressed, dense", "f46 csf", "csf dense", "[i: dense]", "bcsr(4.5)", "(i, j) -> dense"]
        .map(|text| {
            let problems = syntax::parse_parameter_format(text).expect_err(text).into_sorted();
            render(text, "<format>", &problems, false)
        });
    insta::assert_snapshot!(messages.join("\n"));
}
