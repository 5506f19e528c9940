//! Tensors that are larger than the memory that a process may have: converted by way of files, and read a part at a time.

use super::{Place, assert_has};

const MTTKRP: &str = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";

fn place() -> Place {
    let place = Place::new().with("mttkrp.ti", MTTKRP);
    place.prints(&["generate", "uniform", "--shape", "60x50x40", "--nnz", "20000", "--seed", "1", "-o", "x.tns"]);
    place
}

/// What a run says of itself.
fn told(place: &Place, stream: &[&'static str]) -> serde_json::Value {
    place.json(&run(&[stream, &["--json"]].concat()))
}

fn run(stream: &[&'static str]) -> Vec<&'static str> {
    let inputs = ["run", "mttkrp.ti", "-i", "X=x.spct", "-i", "B=ones", "-i", "C=ones", "--dim", "r=3"];
    [&inputs, stream].concat()
}

#[test]
fn a_conversion_in_little_memory_gives_the_same_bytes() {
    let place = place();
    for format in ["csf", "coo", "alto", "[dense, compressed, compressed]"] {
        let whole = place.json(&["convert", "x.tns", "whole.spct", "-f", format, "--json"]);
        let mut little = place.json(&["convert", "x.tns", "little.spct", "-f", format, "--memory", "1MB", "--json"]);
        assert!(std::fs::read(place.path("whole.spct")).unwrap() == std::fs::read(place.path("little.spct")).unwrap());
        little["file"] = whole["file"].clone();
        assert_eq!(whole, little);
    }
    // Without a format, what the file has, or coordinates.
    for (from, arguments) in [("x.tns", &[][..]), ("whole.spct", &[]), ("x.tns", &["--element", "f32"])] {
        place.prints(&[&["convert", from, "a.spct"], arguments].concat());
        place.prints(&[&["convert", from, "b.spct", "--memory", "1000"], arguments].concat());
        assert!(std::fs::read(place.path("a.spct")).unwrap() == std::fs::read(place.path("b.spct")).unwrap(), "{from}");
    }
    let refused = place.refuses(&["convert", "x.tns", "y.spct", "-f", "[dense, dense, hashed]", "--memory", "1000"]);
    assert_has(&refused, &["x.tns", "level 3", "by way of files", "another format"]);
    let place = place.with("few.tns", "1 1 1\n2 1 1\n");
    let noted = place.spc(&["convert", "few.tns", "few.spct", "--memory", "1"]);
    assert_has(&String::from_utf8(noted.stderr).unwrap(), &["few.tns states no shape"]);
}

#[test]
fn a_stored_input_comes_in_parts() {
    let place = place();
    place.prints(&["convert", "x.tns", "x.spct", "-f", "csf"]);
    let whole = told(&place, &[]);
    for stream in
        [&["--stream", "X=7"][..], &["--stream", "X", "--memory", "300kB"], &["--stream", "X=3", "--whole", "1"]]
    {
        let parts = told(&place, stream);
        assert_eq!(parts["outputs"]["A"]["stored"], whole["outputs"]["A"]["stored"], "{stream:?}");
        let sum = |json: &serde_json::Value| json["checksum"].as_f64().unwrap();
        assert!((sum(&parts) - sum(&whole)).abs() <= 1e-9 * sum(&whole).abs());
        assert!(parts["parts"]["wait_ms"].as_f64().unwrap() > 0.0, "it is read while it is computed");
    }
    // A schedule says it as well.
    let place = place.with("scheduled.ti", &format!("{MTTKRP} schedule {{ stream(X, 4); }}"));
    let mut scheduled = run(&["--json"]);
    scheduled[1] = "scheduled.ti";
    assert!(place.json(&scheduled)["parts"]["wait_ms"].as_f64().unwrap() > 0.0);
    // What is stored otherwise is converted in memory, or not at all.
    place.prints(&["convert", "x.tns", "x.spct", "-f", "coo"]);
    assert_eq!(told(&place, &["--stream", "X=7"])["parts"]["wait_ms"], 0.0);
    let refused = place.refuses(&run(&["--stream", "X=7", "--memory", "1000"]));
    assert_has(&refused, &["`X`", "x.spct", "`spc convert --format`"]);
    place.prints(&["convert", "x.tns", "x.spct", "-f", "csf"]);
    let unsaid =
        place.fails(&["run", "mttkrp.ti", "-i", "X=x.tns", "-i", "B=ones", "-i", "C=ones", "--stream", "X"], 2);
    assert_has(&unsaid, &["in how many parts", "--stream X=16"]);
    let mut damaged = std::fs::read(place.path("x.spct")).unwrap();
    let last = damaged.len() - 20;
    damaged[last] ^= 1;
    std::fs::write(place.path("x.spct"), damaged).unwrap();
    let refused = place.refuses(&[&run(&["--stream", "X=7"])[..], &["-o", "A=a.tns"]].concat());
    assert_has(&refused, &["x.spct", "checksum"]);
    assert!(!place.path("a.tns").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_tensor_larger_than_the_memory_is_converted_and_computed() {
    let limited = super::durable::limited;
    let place = Place::new().with("mttkrp.ti", MTTKRP);
    let size = ["--shape", "300x200x500", "--nnz", "2500000", "--seed", "1"];
    place.prints(&[&["generate", "uniform"], &size[..], &["-o", "x.tns"]].concat());
    // 75 MB of text, and 31 MB of it are stored. Kernels are compiled before, since a compiler takes more than that.
    const LITTLE: &str = "ulimit -d 28000";
    let convert = ["convert", "x.tns", "x.spct", "-f", "csf"];
    let (status, message) = limited(&place, LITTLE, &convert);
    assert_eq!(status, Some(1), "{message}");
    assert_has(&message, &["memory"]);
    let (status, message) = limited(&place, LITTLE, &[&convert[..], &["--memory", "8MB"]].concat());
    assert_eq!(status, Some(0), "{message}");
    let run = |stream: &'static [&str]| {
        let inputs = ["run", "mttkrp.ti", "-i", "X=x.spct", "-i", "B=ones", "-i", "C=ones", "--dim", "r=4"];
        [&inputs[..], stream, &["--backend", "interpreter", "-o", "A=a.tns"]].concat()
    };
    let (status, message) = limited(&place, LITTLE, &run(&[]));
    assert_eq!(status, Some(1), "{message}");
    let (status, message) = limited(&place, LITTLE, &run(&["--stream", "X", "--memory", "8MB"]));
    assert_eq!(status, Some(0), "{message}");
    let sum = |file: &str| -> f64 {
        let text = place.read(file);
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    let (sum, expected) = (sum("a.tns"), 4.0 * sum("x.tns"));
    assert!((sum - expected).abs() < 1e-6 * expected.abs().max(1.0), "{sum} {expected}");
}
