//! Plans: what is told of them, and how they are chosen.

use super::{Place, assert_has};

const CHAIN: &str = "y(i) = A(i, j) * B(j, k) * C(k, l) * x(l)";
const FORMATS: [&str; 6] = ["-f", "A=csr", "-f", "B=csr", "-f", "C=csr"];
const DATA: [&str; 8] = ["-i", "A=a.tns", "-i", "B=a.tns", "-i", "C=a.tns", "-i", "x=random:1"];

/// A square matrix with six entries in each row.
fn place() -> Place {
    let mut text = "# shape: 500 500\n".to_owned();
    for row in 0..500usize {
        for entry in 0..6usize {
            text += &format!("{} {} {}\n", row + 1, (row * 7 + entry * entry * 31) % 500 + 1, entry + 1);
        }
    }
    Place::new().with("a.tns", &text)
}

fn chain<'a>(verb: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[verb, CHAIN][..], &FORMATS, &DATA, more].concat()
}

#[test]
fn a_plan_is_shown_with_its_cost_and_others_and_can_be_pasted_back() {
    let place = place();
    let text = place.prints(&chain("explain", &[]));
    assert_has(&text, &["plan: ", " operations, ", "; as written ", "let ", "also possible: "]);
    let json = place.json(&chain("explain", &["--json"]));
    let plan = &json["plan"];
    for field in ["operations", "bytes", "memory", "time_ns", "bound_ns"] {
        assert!(plan[field].as_f64().is_some(), "{field}: {plan}");
    }
    assert!(plan["operations"].as_f64() < plan["written"]["operations"].as_f64());
    assert_eq!(plan["facts"]["tensors"]["A"]["entries"]["estimate"], 3000.0);
    assert_eq!(plan["facts"]["tensors"]["A"]["degrees"]["1"]["largest"], 6.0);
    assert_eq!(plan["facts"]["extents"]["l"], 500);

    let back = plan["text"].as_str().unwrap();
    let interpreter = ["--backend", "interpreter", "--json"];
    let planned = place.json(&chain("run", &interpreter));
    assert_eq!(planned["plan"]["text"], *back);
    let pasted = place.json(&[&["run", back][..], &DATA, &interpreter, &["--plan", "as_written"]].concat());
    assert_eq!((&pasted["checksum"], &pasted["plan"]), (&planned["checksum"], &serde_json::Value::Null));
}

#[test]
fn the_line_as_written_gives_the_same() {
    let place = place();
    let run = |more: &[&str]| place.json(&chain("run", &[&["--backend", "interpreter", "--json"], more].concat()));
    let (planned, written) = (run(&[]), run(&["--plan", "as_written"]));
    assert!(planned["plan"].is_object() && written["plan"].is_null());
    let sum = |json: &serde_json::Value| json["checksum"].as_f64().unwrap();
    assert!((sum(&planned) / sum(&written) - 1.0).abs() < 1e-9);
    let text = place.prints(&chain("run", &["--backend", "interpreter"]));
    assert_has(&text, &["planned in ", " operations, as written ", "`--plan as_written` takes none"]);
    assert!(!place.prints(&chain("run", &["--backend", "interpreter", "--plan", "as_written"])).contains("planned"));
    assert!(!place.prints(&chain("explain", &["--plan", "as_written"])).contains("plan:"));
    let message = place.fails(&chain("run", &["--plan", "worst"]), 2);
    assert_has(&message, &["invalid value 'worst'", "best, as_written"]);
}

#[test]
fn a_kernel_with_nothing_to_plan_says_nothing() {
    let place = place();
    let spmv = ["y(i) = A(i, j) * x(j)", "-f", "A=csr", "-i", "A=a.tns", "-i", "x=ones"];
    assert!(!place.prints(&[&["explain"], &spmv[..]].concat()).contains("plan"));
    let json = place.json(&[&["run"], &spmv[..], &["--backend", "interpreter", "--json"]].concat());
    assert!(json["plan"].is_null());
}

#[test]
fn temporaries_keep_to_the_memory() {
    let place = place();
    let product = "Y(i, r) = A(i, j) * B(j, k) * X(k, r)";
    let arguments = ["-f", "A=csr", "-f", "B=csr", "-i", "A=a.tns", "-i", "B=a.tns", "-i", "X=random", "--dim", "r=16"];
    let explain = |more: &[&str]| place.json(&[&["explain", product], &arguments[..], more, &["--json"]].concat());
    let free = explain(&[]);
    assert!(free["plan"]["memory"].as_f64().unwrap() > 20_000.0, "{free}");
    let bounded = explain(&["--memory", "20kB"]);
    assert!(bounded["plan"].is_null() || bounded["plan"]["memory"].as_f64().unwrap() <= 20_000.0, "{bounded}");
    let message = place.fails(&[&["explain", product], &arguments[..], &["--memory", "20XB"]].concat(), 2);
    assert_has(&message, &["`XB` is no unit of bytes"]);
}

#[test]
fn hints_take_the_place_of_data() {
    let place = place();
    let hinted = "fn f(A: csr nnz 3e3 extent(500, 500), B: csr nnz 3e3 fibers 500 extent(500, 500), x: dense) -> y: dense \
                  { y(i) = A(i, j) * B(j, k) * x(k); }";
    let json = place.json(&["explain", hinted, "--json"]);
    assert_has(json["plan"]["text"].as_str().unwrap(), &["let ", "nnz 3000 fibers 500 extent(500, 500)"]);
    assert_eq!(json["plan"]["facts"]["tensors"]["B"]["entries"]["source"], "hint");
    // The same loops in Rust.
    assert_has(&place.prints(&["compile", hinted, "--emit", "concrete"]), &["t_Bx"]);
    assert!(!place.prints(&["compile", hinted, "--emit", "concrete", "--plan", "as_written"]).contains("t_Bx"));
    let schedule = place.prints(&["compile", hinted, "--emit", "schedule"]);
    let again = place.prints(&["compile", &schedule, "--emit", "concrete"]);
    assert_eq!(again, place.prints(&["compile", hinted, "--emit", "concrete"]), "{schedule}");

    let wrong = hinted.replace("nnz 3e3 extent", "nnz 1e5 extent");
    let inputs = ["-i", "A=a.tns", "-i", "B=a.tns", "-i", "x=ones"];
    let output = place.spc(&[&["explain", &wrong][..], &inputs].concat());
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_has(&notes, &["the hint on `A` says 100000 entries, and there are 3000"]);
    let json = place.json(&[&["run", hinted][..], &inputs, &["--backend", "interpreter", "--json"]].concat());
    assert_eq!(json["notes"].as_array().map(Vec::len), Some(0), "{json}");
    assert_has(
        &place.refuses(&["compile", "y(i) = A(i, j) * x(j)", "-f", "A=csr nnz 1.5"]),
        &["E0311", "whole number"],
    );
}

#[test]
fn lines_are_measured_beside_their_splits() {
    let place = place();
    let bench = ["bench", "plans", "--quick", "--machine", "least", "--budget", "0.001", "--threads", "1"];
    let json = place.json(&[&bench[..], &["mesh=a.tns", "--kernel", "chain3,quadratic", "--json"]].concat());
    let plans = json["plans"].as_array().unwrap();
    assert_eq!(plans.iter().map(|plan| plan["line"].as_str().unwrap()).collect::<Vec<_>>(), ["chain3", "quadratic"]);
    assert_eq!(plans[0]["tensor"], "a.tns");
    assert!(plans[0]["ratio"].as_f64().unwrap() > 0.0 && plans[0]["plan"].is_string() && plans[1]["plan"].is_null());
    let text = place.prints(&[&bench[..], &["mesh=a.tns", "--kernel", "quadratic"]].concat());
    assert_has(&text, &["line / split", "as written"]);
    assert_has(&place.refuses(&[&bench[..], &["--kernel", "chian3"]].concat()), &["no line `chian3`", "`chain3`"]);
    assert_has(&place.refuses(&[&bench[..], &["mash=a.tns"]].concat()), &["`mesh`"]);
}
