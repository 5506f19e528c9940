//! `spc suite`.

use super::{Place, assert_has};
use serde_json::Value;

const SUITE: &str = r#"{
  "name": "mine", "title": "Two <kernels>", "kernels": {"TTV": "ttv", "TS ×": "scalar", "TEW ÷": "divide"}, "formats": ["csf", "coo"],
  "tensors": [{"generator": "uniform", "shape": [20, 30, 25], "nnz": 400, "name": "u"}],
  "observations": [
    {"says": "Two formats were measured.", "test": "ratio", "a": {"formats": ["csf"]}, "b": {"formats": ["coo"]}, "least": 1e-9},
    {"says": "A GPU is there.", "test": "ratio", "a": {"backend": "cuda"}, "b": {"backend": "native"}, "least": 0}
  ]
}"#;

const RUN: [&str; 6] = ["suite", "mine.json", "--quick", "--scale", "1", "--budget"];

fn suite<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], &["0.001", "--threads", "1", "--out", "o"], more].concat()
}

#[test]
fn a_suite_goes_on_where_it_was_stopped() {
    let place = Place::new().with("mine.json", SUITE);
    let said = place.prints(&suite(&[]));
    assert_has(&said, &["0 rows were there, 10 were measured", "true: Two formats", "not measured: A GPU is there."]);
    let rows = place.read("o/rows.jsonl");
    assert_eq!(rows.matches("\"line\":\"row\"").count(), 10);
    let page = place.read("o/page.html");
    assert_has(
        &page,
        &[
            "Two &lt;kernels&gt;",
            "<title>Roofline, native, 1 thread</title>",
            "✓ true",
            "– not measured",
            "name=\"viewport\"",
        ],
    );
    assert!(!page.contains("http://") || !page.contains("src="), "the page needs no network");
    // A process that was killed had written some lines, the last not to its end.
    let kept: Vec<&str> = rows.lines().take(6).collect();
    std::fs::write(place.path("o/rows.jsonl"), format!("{}\n{{\"line\":", kept.join("\n"))).unwrap();
    let measured = kept.iter().filter(|line| line.contains("\"line\":\"row\"")).count();
    assert_has(&place.prints(&suite(&[])), &[&format!("{measured} rows were there, {} were measured", 10 - measured)]);
    assert_has(&place.prints(&suite(&[])), &["10 rows were there, 0 were measured"]);
    // Another description begins anew, and loses nothing.
    let place = place.with("mine.json", &SUITE.replace("A GPU", "One GPU"));
    assert_has(&place.prints(&suite(&[])), &["0 rows were there, 10 were measured"]);
    assert_eq!(place.read("o/rows.before.jsonl").matches("\"line\":\"row\"").count(), 10);
}

#[test]
fn files_of_several_machines_are_one_report() {
    let place = Place::new().with("mine.json", SUITE).with("x.tns", "1 2 1 0.5\n2 1 3 1.5\n2 2 2 2.5\n");
    let json: Value = place.json(&suite(&["--tensors", "x.tns", "--json"]));
    assert_eq!(json["rows"].as_array().unwrap().len(), 20);
    // The book's page of benchmarks is made of what is printed here.
    assert_has(
        &crate::book::benchmarks::section("mine", json.clone()),
        &["| TTV | `csf` | f64 | 1 | ", "| u | 20 × 30 × 25 | 400 |", "| A GPU is there. | not measured |"],
    );
    assert_eq!((&json["tensors"][1]["tensor"], &json["tensors"][1]["is_file"]), (&"x.tns".into(), &true.into()));
    assert_eq!(json["tensors"][1]["storage"]["coo"].as_array().unwrap().len(), 2);
    let machine = json["machines"][0]["machine"].as_str().unwrap().to_owned();
    let other = place.read("o/rows.jsonl").replace(&machine, "another machine");
    let place = place.with("b.jsonl", &other);
    let json =
        place.json(&["suite", "mine.json", "--merge", "o/rows.jsonl", "b.jsonl", "--page", "both.html", "--json"]);
    assert_eq!((json["rows"].as_array().unwrap().len(), json["observations"].as_array().unwrap().len()), (40, 4));
    assert_has(&place.read("both.html"), &["<h3>another machine</h3>", "✓ true</strong> on another machine"]);
    assert_has(&place.refuses(&["suite", "--merge", "x.tns"]), &["x.tns", "line 1"]);
}

#[test]
fn what_is_no_suite_is_refused() {
    let place = Place::new().with("mine.json", &SUITE.replace("\"ttv\"", "\"ttw\"")).with("no.json", "{\"name\": 1}");
    assert_has(&place.refuses(&suite(&[])), &["no kernel `ttw`", " ttv,"]);
    assert_has(&place.refuses(&["suite", "no.json"]), &["no.json", "line 1", "docs/suite.md"]);
    assert_has(&place.refuses(&["suite", "li2021"]), &["no suite `li2021`", "`li2020`"]);
    assert_has(&place.refuses(&["suite", "li2020", "--scale", "0"]).replace('\n', " "), &["scale"]);
    assert!(!place.path("o").exists() && !place.path("li2020").exists());
}
