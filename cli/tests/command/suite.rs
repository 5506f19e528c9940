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
        &["| TTV | `csf` | f64 | 1 | ", "| u | 20 × 30 × 25 | 400 |", "| A GPU is there. |  |  | not measured |"],
    );
    assert_eq!((&json["tensors"][0]["tensor"], &json["tensors"][0]["is_file"]), (&"x.tns".into(), &true.into()));
    assert_eq!(json["tensors"][0]["storage"]["coo"].as_array().unwrap().len(), 2);
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

const EXPERIMENTS: &str = r#"{
  "name": "mine", "title": "Experiments", "kernels": {"TTV": "ttv"}, "formats": ["csf"], "orders": ["jki"],
  "tensors": [{"generator": "uniform", "shape": [20, 30, 25], "nnz": 400, "name": "u"}],
  "figures": [{"name": "Figure 1", "measure": "runs", "panels": [{"name": "Ttv", "kernels": ["TTV"]}]}],
  "experiments": [
    {"name": "By rank", "section": "7", "paper": "ranks up to 256", "along": "rank", "measures": ["time", "stream_share"], "formats": ["coo"],
     "modes": [2], "ranks": [4, 8], "kernels": {"MTTKRP": "mttkrp", "MTTKRP-C": "mttkrp_permutation"}},
    {"name": "In parts", "along": "parts", "measures": ["time", "pipeline"], "formats": ["csf"], "modes": [1],
     "kernels": {"TTV": "ttv_dense"}, "parts": [1, 3]},
    {"name": "CP-ALS", "along": "tensor", "measures": ["time", "mttkrp_share"], "formats": ["coo"], "ranks": [3],
     "decomposition": {"method": "als", "iterations": 3, "copies": ["none", "permutations", "sorted"]}}
  ],
  "observations": [
    {"says": "MTTKRP is a part.", "experiment": "CP-ALS", "test": "below", "measure": "mttkrp_share", "limit": 1, "least": 1},
    {"says": "Permutations are there.", "experiment": "CP-ALS", "test": "ratio", "measure": "runs", "least": 0,
     "a": {"settings": ["permutations"]}, "b": {"settings": ["as stored"]}}
  ]
}"#;

#[test]
fn experiments_are_measured_beside_kernels() {
    let place = Place::new().with("mine.json", EXPERIMENTS);
    let json = place.json(&suite(&["--json"]));
    let experiments = json["experiments"].as_array().unwrap();
    let of = |name: &str| experiments.iter().filter(|row| row["experiment"] == name).collect::<Vec<_>>();
    assert_eq!((of("By rank").len(), of("In parts").len(), of("CP-ALS").len()), (4, 2, 3), "{json:#}");
    let settings = |name: &str| of(name).iter().map(|row| row["setting"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(settings("In parts"), ["1 part", "3 parts"]);
    assert_eq!(settings("CP-ALS"), ["as stored", "permutations", "sorted copies"]);
    let fits: Vec<f64> = of("CP-ALS").iter().map(|row| row["also"]["fit"].as_f64().unwrap()).collect();
    assert!(fits.iter().all(|fit| (fit - fits[0]).abs() < 1e-9), "{fits:?}");
    assert_eq!(json["rows"].as_array().unwrap().len(), 3);
    let holds: Vec<_> = json["observations"].as_array().unwrap().iter().map(|one| one["holds"].clone()).collect();
    assert_eq!(holds, [true, true]);
    assert_eq!(json["tensors"][0]["storage"]["csf jki"].as_array().unwrap().len(), 2);
    let page = place.read("o/page.html");
    let charts = [
        "<title>u: time</title>",
        "<title>u: bandwidth</title>",
        "<title>CP-ALS: MTTKRPs</title>",
        "<h3>Figure 1, f64</h3>",
    ];
    assert_has(&page, &charts);
    assert_has(&page, &["section 7; the paper has ranks up to 256", "<caption>In parts</caption>"]);
    assert_has(&place.prints(&suite(&[])), &["12 rows were there, 0 were measured", "sorted copies"]);
    let alone = [&RUN[..], &["0.001", "--threads", "1", "--out", "p", "--experiment", "parts", "--json"]].concat();
    let json = place.json(&alone);
    assert_eq!((json["rows"].as_array().unwrap().len(), json["experiments"].as_array().unwrap().len()), (0, 2));
    assert_has(&place.refuses(&suite(&["--experiment", "Rank"])), &["no experiment `Rank`", "By rank"]);
    let wrong = EXPERIMENTS.replacen("\"experiment\": \"CP-ALS\"", "\"experiment\": \"CP\"", 1);
    assert_has(&place.with("mine.json", &wrong).refuses(&suite(&[])), &["is of no experiment of the suite"]);
}

#[test]
fn files_of_a_folder_and_other_libraries_stand_beside() {
    let peers = r#"[
      {"peer": "Other", "variant": "csf", "tensor": "u", "kernel": "ttv", "mode": 1, "element": "f64", "median_ms": 0.5},
      {"peer": "Other", "tensor": "u", "kernel": "ttv", "mode": 2, "element": "f64", "median_ms": 0.5, "clock": "call"}
    ]"#;
    let place = Place::new().with("mine.json", SUITE).with("peers.json", peers);
    std::fs::create_dir_all(place.path("t/empty")).unwrap();
    let place =
        place.with("t/b.tns", "1 2 1 0.5\n2 1 3 1.5\n").with("t/a.tns", "2 1 3 1.5\n").with("t/README.md", "no tensor");
    let json = place.json(&suite(&["--tensors", "t", "--against", "peers.json", "--json"]));
    let names: Vec<_> = json["tensors"].as_array().unwrap().iter().map(|tensor| tensor["tensor"].clone()).collect();
    assert_eq!(names, ["a.tns", "b.tns", "u"]);
    let theirs = json["rows"].as_array().unwrap().iter().filter(|row| row["format"] == "Other csf").collect::<Vec<_>>();
    let [theirs] = &theirs[..] else { panic!("{theirs:?}") };
    assert_eq!((&theirs["kernel_ms"], &theirs["mode"], &theirs["threads"]), (&0.5.into(), &1.into(), &1.into()));
    assert!(!place.read("o/rows.jsonl").contains("Other csf"), "figures of others are not ours");
    assert_has(&place.refuses(&suite(&["--tensors", "t/empty"])), &["t/empty", "no tensor files"]);
    let nowhere = [&RUN[..], &["0.001", "--out", "p", "--against", "none.json"]].concat();
    assert_has(&place.refuses(&nowhere), &["none.json"]);
    assert!(!place.path("p").exists(), "nothing is measured");
}
