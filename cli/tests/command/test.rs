//! `spc test`.

use super::{Place, assert_has, examples};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const SPMV: &str = "\
// Sparse matrix times vector: a comment that says nothing of inputs.
// dims: i=3 j=2
// seed: 7
// data A: (0, 1)=2 (2, 0)=-1.5
fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
";

#[test]
fn every_kernel_of_a_file_agrees_on_several_shapes() {
    let place = Place::new();
    let file = examples().join("spmv.ti");
    let json = place.json(&["test", file.to_str().unwrap(), "--engine", "interpreter", "--json", "--shapes", "6"]);
    let kernels = json["kernels"].as_array().unwrap();
    assert!(kernels.len() > 1, "{json}");
    for kernel in kernels {
        assert_eq!(kernel["differences"].as_array().unwrap().len(), 0, "{kernel}");
        assert_eq!(
            (&kernel["engines"][0]["inputs"], &kernel["engines"][0]["wrong"]),
            (&6.into(), &0.into()),
            "{kernel}"
        );
        let mut shapes: Vec<String> =
            kernel["inputs"].as_array().unwrap().iter().map(|inputs| inputs["dims"].to_string()).collect();
        shapes.sort();
        shapes.dedup();
        assert!(shapes.len() >= 4, "{shapes:?}");
    }
}

#[test]
fn expressions_and_computed_indices_are_tested_too() {
    let place = Place::new();
    for (expression, format) in [
        ("y(i) = A(i, j) * x(j)", "A=csc"),
        ("y(i) = A(2 * i + k, 1) * x(k)", "A=csr"),
        ("A(3, j) = x(j) + y(j)", "A=dense"),
        ("c(i + j) += a(i) * b(j)", "a=[compressed]"),
    ] {
        let text = place.prints(&["test", expression, "-f", format, "--engine", "interpreter"]);
        assert_has(&text, &["agrees with the oracle"]);
    }
}

#[test]
fn the_file_says_what_the_inputs_are() {
    let place = Place::new().with("spmv.ti", SPMV);
    let json = place.json(&["test", "spmv.ti", "--engine", "interpreter", "--json", "--shapes", "2"]);
    let inputs = &json["kernels"][0]["inputs"];
    assert_eq!(inputs[0], serde_json::json!({ "dims": { "i": 3, "j": 2 }, "seed": 7 }));
    let json = place.json(&["test", "spmv.ti", "--engine", "interpreter", "--json", "--dim", "j=9", "--seed", "3"]);
    let inputs = &json["kernels"][0]["inputs"];
    assert_eq!(inputs[0], serde_json::json!({ "dims": { "i": 3, "j": 9 }, "seed": 3 }));
}

#[test]
fn names_and_numbers_that_are_none_are_refused() {
    let place = Place::new().with("spmv.ti", SPMV).with("wrong.ti", &SPMV.replace("(0, 1)=2", "(0)=2"));
    assert_has(&place.refuses(&["test", "spmv.ti", "--dim", "q=3"]), &["no kernel has an index `q`"]);
    assert_has(&place.refuses(&["test", "spmv.ti", "--density", "B=0.5"]), &["no kernel has a tensor `B`"]);
    assert_has(&place.refuses(&["test", "spmv.ti", "--density", "A=1.5"]), &["`1.5` is not a share"]);
    assert_has(&place.refuses(&["test", "wrong.ti"]), &["wrong.ti: [0] is no index of `A`, of order 2"]);
    let place = place.with("seed.ti", &SPMV.replace("seed: 7", "seed: seven"));
    assert_has(&place.refuses(&["test", "seed.ti"]), &["what does `// seed: seven` mean?"]);
}

#[test]
fn an_engine_that_is_asked_for_and_missing_is_an_error() {
    let place = Place::new().with("spmv.ti", SPMV);
    // Kernels that a cache has are found without a compiler: this one has none.
    let without = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.env("SPC_RUSTC", "/none").env("SPC_CACHE", place.path("none")).output().unwrap()
    };
    let output = without(&["test", "spmv.ti", "--engine", "native"]);
    assert_eq!(output.status.code(), Some(1));
    assert_has(&String::from_utf8_lossy(&output.stderr), &["native can't run here", "there is no Rust compiler"]);
    // Of those that are not asked for, it is said.
    let output = without(&["test", "spmv.ti"]);
    assert!(output.status.success());
    assert_has(&String::from_utf8_lossy(&output.stdout), &["native        is not on this machine"]);
}

/// A compiler that makes another kernel of what it is given.
#[test]
fn what_differs_is_shown() {
    let scale =
        "// dims: i=3\n// seed: 7\n// data x: (0)=2 (2)=-1.5\nfn scale(x: dense) -> y: dense { y(i) = 2.5 * x(i); }\n";
    let place = Place::new().with("scale.ti", scale);
    let compiler = place.path("rustc");
    let script = "#!/bin/sh\nfor last; do :; done\nkernel=$(dirname \"$last\")/kernel_0.rs\n\
                  [ ! -f \"$kernel\" ] || sed -i 's/2\\.5/3.5/' \"$kernel\"\nexec rustc \"$@\"\n";
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let test = |arguments: &[&str]| {
        let mut command = place.command(&["test", "scale.ti", "--engine", "interpreter,native"]);
        command.args(arguments).env("SPC_RUSTC", &compiler).env("SPC_CACHE", place.path("cache"));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (text, error) = test(&[]);
    assert_has(&text, &["interpreter   agrees with the oracle", "native        differs on 1 of 1"]);
    assert_has(&text, &["native differs: y: at [0] the value is 7, not 5", "// dims: i=3", "// seed: 7"]);
    assert_has(&text, &["y(0)", "y(2)"]);
    assert!(!text.contains("y(1)"), "{text}");
    assert_has(&error, &["1 result differs from what the notation means"]);
    let json: serde_json::Value = serde_json::from_str(&test(&["--json"]).0).unwrap();
    assert_eq!((&json["schema"], &json["errors"][0]["code"]), (&1.into(), &"refused".into()), "{json}");
    let difference = &json["kernels"][0]["differences"][0];
    assert_eq!(difference["inputs"], serde_json::json!({ "dims": { "i": 3 }, "seed": 7 }), "{json}");
    let element = |place: usize, index: usize, oracle: f64, found: f64| {
        let expected = serde_json::json!({ "tensor": "y", "index": [index], "oracle": oracle, "found": found });
        assert_eq!(difference["elements"][place].to_string(), expected.to_string());
    };
    element(0, 0, 5.0, 7.0);
    element(1, 2, -3.75, -5.25);
}
