//! `spc bench`.

use super::{Place, assert_has};
use serde_json::Value;

const TENSOR: &str = "uniform:20x30x25:400";

/// A short look at the machine, and short runs.
fn bench<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["bench", "--quick", "--machine", "least", "--budget", "0.001", "--threads", "1"], arguments].concat()
}

/// A text with each number replaced by `#`, and runs of blanks by one.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        let is_number = word.trim_end().trim_end_matches('%').parse::<f64>().is_ok();
        let (word, end) = word.split_at(word.trim_end().len());
        match (is_number, word) {
            (true, _) => masked.push('#'),
            (false, "") => continue,
            (false, word) => masked.push_str(word),
        }
        masked.push(if end.contains('\n') { '\n' } else { ' ' });
    }
    masked
}

#[test]
fn a_table_has_a_row_for_each_case() {
    let place = Place::new();
    let text = place.prints(&bench(&["--kernel", "mttkrp,scalar", "--mode", "1,3", "-f", "csf,coo", TENSOR]));
    let expected = "\
this machine, GB/s
threads footprint triad read gather # gather # gather # GFLOP/s f64 f32
# # kB # # # # # # #
uniform:20x30x25:400: # x # x 25, # entries
kernel mode format rank type threads kernel ms spread into call copies pack GFLOP/s GB/s roofline in
mttkrp # csf # f64 # # # # # - # # # # L1
mttkrp # csf # f64 # # # # # - # # # # L1
scalar - csf - f64 # # # # # - # # # # L1
mttkrp # coo # f64 # # # # # - # # # # L1
mttkrp # coo # f64 # # # # # - # # # # L1
scalar - coo - f64 # # # # # - # # # # L1
";
    // Which cache holds the operands is this machine's affair.
    let cache = |text: String| text.replace(" L2\n", " L1\n").replace(" L3\n", " L1\n").replace(" memory\n", " L1\n");
    assert_has(&cache(masked(&text)), &[expected]);
}

#[test]
fn files_have_all_figures() {
    let place = Place::new().with("x.tns", "1 2 1 0.5\n2 1 3 1.5\n2 2 2 2.5\n");
    let outputs = ["--save", "a.json", "--svg", "a.svg", "--html", "a.html"];
    place.prints(&bench(
        &[&["--kernel", "ttv,ttm", "--mode", "3", "--rank", "8,16", "--type", "f32,i64", "x.tns"], &outputs[..]]
            .concat(),
    ));
    let json: Value = serde_json::from_str(&place.read("a.json")).unwrap();
    let records = json["records"].as_array().unwrap();
    assert_eq!(records.len(), 2 * (1 + 2));
    for record in records {
        let positive = [
            "nnz",
            "kernel_ms",
            "into_ms",
            "call_ms",
            "least_ms",
            "runs",
            "bytes",
            "operations",
            "gflops",
            "roofline_share",
            "read_ms",
        ];
        positive.iter().for_each(|field| assert!(record[field].as_f64().unwrap() > 0.0, "{field} of {record}"));
        assert!(record["lower_quartile_ms"].as_f64() <= record["upper_quartile_ms"].as_f64());
        assert_eq!((&record["tensor"], &record["shape"]), (&"x.tns".into(), &serde_json::json!([2, 2, 3])));
        assert_eq!(record["rank"].is_null(), record["kernel"] == "ttv");
    }
    let measured = &json["machine"]["measured"][0];
    assert!(measured["gflops_f32"].as_f64().unwrap() > 0.0 && measured["threads"] == 1);
    assert!(measured["gbytes_per_second"][0]["gather_64"].as_f64().unwrap() > 0.0);
    let (svg, html) = (place.read("a.svg"), place.read("a.html"));
    assert_well_formed(&svg);
    assert_well_formed(html.trim_start_matches("<!DOCTYPE html>"));
    assert_has(&svg, &["Roofline, 1 thread", "ttv", "ttm", "triad"]);
    assert_has(&html, &["<h2>x.tns</h2>", "<svg ", "GFLOP/s"]);
}

/// Asserts that every tag is closed in order.
fn assert_well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in text.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = |tag: &'_ str| tag.split([' ', '\n', '/']).next().unwrap_or_default().len();
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if tag.ends_with('/') || tag.starts_with(['!', '?']) => {}
            None => open.push(&tag[..name(tag)]),
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
}

#[test]
fn expressions_are_measured_as_they_run() {
    let place = Place::new().with("a.tns", "1 2 0.5\n2 1 1.5\n");
    let expression = ["--expression", "y(i) = A(i, j) * x(j)", "-f", "A=csr", "-i", "A=a.tns", "-i", "x=random"];
    place.prints(&bench(&[&expression[..], &["--save", "a.json"]].concat()));
    let json: Value = serde_json::from_str(&place.read("a.json")).unwrap();
    let record = &json["records"][0];
    assert_eq!((&record["format"], &record["operations"]), (&"A: csr".into(), &4.0.into()));
    assert_has(&place.refuses(&bench(&expression[..6])), &["`x`"]);
    assert_has(&place.fails(&bench(&["--expression", "y(i) = x(i)", "-f", "csr"]), 2), &["NAME=…"]);
}

#[test]
fn the_fastest_schedule_is_remembered() {
    let place = Place::new().with("a.tns", "1 2 0.5\n2 1 1.5\n3 3 1\n");
    let run = |arguments: &[&str]| {
        let output = place.command(arguments).env("SPC_CACHE", place.path("cache")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let tune = ["--expression", "Y(i, r) = A(i, j) * X(j, r)", "-f", "A=csr", "-i", "A=a.tns", "-i", "X=random"];
    let text = run(&bench(&[&tune[..], &["--dim", "r=40", "--tune", "--save", "a.json"]].concat()));
    assert_has(&text, &["other schedules", "default"]);
    let json: Value = serde_json::from_str(&place.read("a.json")).unwrap();
    let tuned = &json["tuned"][0];
    assert!(tuned["default_ms"].as_f64().unwrap() > 0.0, "{tuned}");
    // The fastest are shown; tried were directives of every kind.
    let tried = tuned["tried"].to_string();
    assert_has(&tried, &["split(r, r_block, r_in, 16);", "register_tile(r, 16);", "accumulate(j: none);", "parallel("]);

    // Which is the fastest is the machine's affair; a run takes that, under other names too, and leaves it alone where told to.
    let product =
        ["run", "C(a, c) = A(a, b) * X(b, c)", "-f", "A=csr", "-i", "A=a.tns", "-i", "X=random", "--dim", "c=40"];
    let options = ["--threads", "1", "--json"];
    let taken: Value = serde_json::from_str(&run(&[&product[..], &options].concat())).unwrap();
    let untuned: Value = serde_json::from_str(&run(&[&product[..], &options, &["--untuned"]].concat())).unwrap();
    assert_eq!(taken["tuned"].is_null(), tuned["best"].is_null(), "{taken}");
    assert!(untuned["tuned"].is_null());
    assert_eq!(taken["checksum"].as_f64().unwrap() as f32, untuned["checksum"].as_f64().unwrap() as f32);
}

#[test]
fn an_earlier_run_stands_beside() {
    let place = Place::new();
    let arguments = ["--kernel", "scalar", TENSOR];
    place.prints(&bench(&[&arguments[..], &["--save", "old.json"]].concat()));
    let text = place.prints(&bench(&[&arguments[..], &["--baseline", "old.json", "--fail-above", "1e9"]].concat()));
    assert_has(&text, &["vs before"]);
    let output = place.spc(&bench(&[&arguments[..], &["--baseline", "old.json", "--fail-above", "1e-9"]].concat()));
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert_has(&message, &["1 of 1 kernels are more than 0.000000001 times slower", "scalar of uniform"]);
    let place = place.with("other.json", "[1]").with("none.json", "no");
    assert_has(&place.refuses(&bench(&["--baseline", "other.json", TENSOR])), &["other.json", "no list `records`"]);
    assert_has(&place.refuses(&bench(&["--baseline", "none.json", TENSOR])), &["none.json", "no JSON"]);
}

#[test]
fn other_libraries_stand_beside() {
    let figures = r#"[
        {"peer": "slow", "tensor": "TENSOR", "kernel": "mttkrp", "mode": 2, "rank": 16, "element": "f64", "median_ms": 1e9},
        {"peer": "fast", "variant": "one", "tensor": "TENSOR", "kernel": "mttkrp", "mode": 1, "rank": 16, "element": "f64",
         "threads": 1, "median_ms": 1e-7, "setup_ms": 2.5},
        {"peer": "other", "tensor": "TENSOR", "kernel": "mttkrp", "mode": 1, "rank": 16, "element": "f64", "threads": 2, "median_ms": 1e-8},
        {"peer": "other", "tensor": "TENSOR", "kernel": "mttkrp", "mode": 1, "rank": 8, "element": "f64", "median_ms": 1e-8}
    ]"#;
    let place = Place::new().with("peers.json", &figures.replace("TENSOR", TENSOR));
    let arguments = ["--kernel", "mttkrp,scalar", "-f", "csf,coo", TENSOR, "--against", "peers.json"];
    let text = masked(&place.prints(&bench(&arguments)));
    let row = text.lines().find(|line| line.contains(" fast one ")).expect("the fastest library of mode 1");
    assert!(
        row.starts_with("mttkrp uniform:20x30x25:400 c") && row.ends_with(" fast one # # f64 # kernel # # *0.00 # #"),
        "{row}"
    );
    assert!(text.contains(" slow # # f64 # kernel # # # # -\n") && !text.contains("other"), "{text}");
    assert_has(&text, &["mttkrp on # threads:", "slower in # of # cases"]);
    let place = place.with("none.json", "[]").with("wrong.json", r#"[{"peer": "a"}]"#).with("object.json", "{}");
    assert_has(&place.prints(&bench(&["--kernel", "scalar", TENSOR, "--against", "none.json"])), &["no figure"]);
    assert_has(&place.refuses(&bench(&["--against", "wrong.json"])), &["figure 1", "no text `tensor`", "a figure is"]);
    assert_has(&place.refuses(&bench(&["--against", "object.json"])), &["no list of figures"]);
}

/// A transposed copy is made by the first calls with a tensor, and kept with it: its time is a figure of its own, and in none of the clocks.
#[test]
fn copies_have_a_time_of_their_own() {
    let entries: String = (0..60_000_u64).map(|n| format!("{} {} 1.5\n", n % 2000 + 1, n * 7919 % 1999 + 1)).collect();
    let place = Place::new().with("a.tns", &entries);
    let expression = ["--expression", "y(j) = sum(i)(A(i, j) * B(j, i))", "-f", "A=csr", "-f", "B=csr"];
    let inputs = ["-i", "A=a.tns", "-i", "B=a.tns", "--dim", "i=2000", "--dim", "j=2000", "--save", "copied.json"];
    place.prints(&bench(&[&expression[..], &inputs[..]].concat()));
    place.prints(&bench(&["--kernel", "spmv", "a.tns", "--save", "plain.json"]));
    let record =
        |file: &str| -> Value { serde_json::from_str::<Value>(&place.read(file)).unwrap()["records"][0].clone() };
    let times = |record: &Value| ["kernel_ms", "into_ms", "call_ms"].map(|field| record[field].as_f64().unwrap());
    let copied = record("copied.json");
    assert!(copied["copies_ms"].as_f64().is_some_and(|copies| copies > 0.0), "{copied}");
    assert!(times(&copied).iter().all(|time| *time > 0.0), "{copied}");
    assert!(record("plain.json")["copies_ms"].is_null());
}

/// A long result of few updates: what it begins as takes longer than the loops, and a new one is memory that was not there.
#[test]
fn clocks_of_calls_include_what_results_begin_as() {
    let place = Place::new();
    let mode = ["--kernel", "mttkrp", "--mode", "1", "--rank", "64", "-f", "coo", "uniform:200000x10x10:200"];
    place.prints(&bench(&[&mode[..], &["--save", "a.json"]].concat()));
    let record = serde_json::from_str::<Value>(&place.read("a.json")).unwrap()["records"][0].clone();
    let time = |field: &str| record[field].as_f64().unwrap();
    assert!(time("into_ms") > time("kernel_ms") && time("call_ms") > time("kernel_ms"), "{record}");
}

/// Libraries are compared by their own clock, and their one copy of a tensor with one of ours over all modes.
#[test]
fn libraries_are_compared_by_the_same_clock() {
    let figure = |clock: &str, mode: usize, time: f64| {
        format!(
            r#"{{"peer": "lib {clock}", "tensor": "{TENSOR}", "kernel": "mttkrp", "mode": {mode}, "rank": 16, "element": "f64",
                "median_ms": {time}, "clock": "{clock}", "one_copy": true}}"#
        )
    };
    let mut figures: Vec<String> =
        (1..=3).flat_map(|mode| [figure("into", mode, 1e6), figure("call", mode, 2e6)]).collect();
    // Without the other modes there is no sum.
    figures.push(figure("kernel", 2, 3e6));
    let place = Place::new().with("peers.json", &format!("[{}]", figures.join(",")));
    let arguments = ["--kernel", "mttkrp", "-f", "csf,coo", TENSOR, "--against", "peers.json", "--save", "a.json"];
    let text = place.prints(&bench(&arguments));
    let (modes, all) = text.split_once("one copy of the tensor for all modes").expect("a table of sums");
    let json: Value = serde_json::from_str(&place.read("a.json")).unwrap();
    let least = |mode: usize, clock: &str| {
        let of_mode = json["records"].as_array().unwrap().iter().filter(|record| record["mode"] == mode);
        of_mode.map(|record| record[clock].as_f64().unwrap()).fold(f64::INFINITY, f64::min)
    };
    for (clock, modes_of_it) in [("into", 1..=3), ("call", 1..=3), ("kernel", 2..=2)] {
        for mode in modes_of_it {
            // … library mode rank type threads clock …
            let row = modes.lines().find(|line| {
                let mut behind = line.split(&format!("lib {clock}")).nth(1).unwrap_or_default().split_whitespace();
                behind.next() == Some(&mode.to_string())
            });
            let row = row.unwrap_or_else(|| panic!("no row of mode {mode} by {clock} in {modes}"));
            let ours: Vec<f64> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let expected = least(mode, &format!("{clock}_ms"));
            assert!(ours.iter().any(|time| (time / expected - 1.0).abs() < 0.01), "{expected} is not in {row}");
        }
    }
    assert!(all.contains("lib into") && all.contains("lib call") && !all.contains("lib kernel"), "{all}");
    let place = place.with("wrong.json", &format!("[{}]", figure("wall", 1, 1.0)));
    assert_has(&place.refuses(&bench(&["--against", "wrong.json"])), &["figure 1", "no clock `wall`", "`into`"]);
}

/// On ranks: what is sent is what the plan says, and times are compared with those of one rank.
#[test]
fn kernels_are_measured_on_ranks() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "20x30x25", "--nnz", "400", "--seed", "1", "-o", "x.tns"]);
    let bench =
        ["bench", "--quick", "--budget", "0.001", "--backend", "interpreter", "-f", "csf", "--rank", "4", "x.tns"];
    let on = |more: &[&'static str]| [&bench[..], &["--kernel", "mttkrp,ttv", "--mode", "1,3"], more].concat();
    let json = place.json(&on(&["--ranks", "3", "--timeout", "60", "--json", "--save", "a.json"]));
    let records = json["on_ranks"].as_array().unwrap();
    assert_eq!(records.len(), 4, "{json}");
    for record in records {
        let number = |name: &str| record[name].as_f64().unwrap_or_else(|| panic!("no `{name}` in {record}"));
        assert_eq!(record["ranks"], 3);
        let call = number("call_ms");
        assert!(call > 0.0 && number("one_rank_ms") > 0.0 && number("runs") >= 1.0, "{record}");
        assert!((number("speedup") - number("one_rank_ms") / call).abs() < 1e-9);
        assert!(number("kernel_ms") <= call && number("exchange_ms") <= call && number("combine_ms") <= call);
    }
    let text = "fn k(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    let inputs = ["-i", "X=x.tns", "-i", "B=ones", "-i", "C=ones", "--dim", "r=4"];
    let explained = place.json(&[&["explain", text, "--ranks", "3", "--json"], &inputs[..]].concat());
    let mttkrp = records.iter().find(|record| record["kernel"] == "mttkrp" && record["mode"] == 1).unwrap();
    let plan = &explained["placements"][0];
    assert_eq!((&mttkrp["distribute"], &mttkrp["sent_bytes"]), (&plan["distribute"], &plan["bytes"]), "{explained}");
    assert_eq!((&mttkrp["imbalance"], &mttkrp["modelled_ms"]), (&plan["imbalance"], &plan["modelled_ms"]));
    assert_eq!(serde_json::from_str::<Value>(&place.read("a.json")).unwrap()["on_ranks"].as_array().unwrap().len(), 4);
    assert_has(&place.prints(&on(&["--ranks", "2"])), &["x.tns on 2 ranks", "speedup", "mttkrp"]);
    let refused = |more: &[&'static str]| place.fails(&on(&[&["--ranks", "2"], more].concat()), 2);
    assert_has(&refused(&["--tune"]), &["`--tune` is for one rank"]);
    assert_has(&refused(&["--svg", "a.svg"]), &["`--svg` is for one rank"]);
    assert_has(&place.fails(&on(&["--timeout", "2"]), 2), &["`--timeout` is for ranks"]);
}

#[test]
fn what_can_not_be_measured_is_refused() {
    let place = Place::new().with("empty.tns", "").with("old.json", "untouched");
    assert_has(&place.refuses(&bench(&["--kernel", "mtkrp"])), &["`mtkrp`", "did you mean `mttkrp`?"]);
    assert_has(&place.refuses(&bench(&["nothing.tns", "--save", "old.json"])), &["nothing.tns"]);
    assert_eq!(place.read("old.json"), "untouched");
    assert_has(&place.refuses(&bench(&["uniform:3x3"])), &["uniform:100x200x300:5000"]);
    assert_has(&place.refuses(&bench(&["--kernel", "spmv", TENSOR])), &["none of these kernels"]);
    assert_has(&place.fails(&bench(&["--rank", "0"]), 2), &["`--rank`"]);
    assert_has(&place.fails(&bench(&["--type", "float"]), 2), &["f64"]);
    assert_has(&place.fails(&["bench", "--budget", "0"], 2), &["`--budget`"]);
    // What one format can't do is left out, and said.
    let output = place.spc(&bench(&["--kernel", "scalar", "-f", "csr,csf", TENSOR]));
    assert!(output.status.success());
    assert_has(&String::from_utf8(output.stderr).unwrap(), &["scalar of uniform:20x30x25:400 as csr was left out"]);
}
