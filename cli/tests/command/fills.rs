//! What files say of their shape and their fill value.

use super::{Place, assert_has, examples};
use serde_json::json;

/// Distances over two edges from place 1; what is not reached is infinitely far.
const REACH: &str =
    "fn far(G: csr fill inf, d: [compressed] fill inf) -> e: [compressed] fill inf { e(j) min= d(i) + G(i, j); }";

fn reach() -> Place {
    Place::new().with("far.ti", REACH).with("G.tns", "# shape: 4 4\n1 2 3\n2 3 4\n1 1 0\n").with("d.tns", "1 0\n")
}

const RUN: [&str; 8] = ["run", "far.ti", "-i", "G=G.tns", "-i", "d=d.tns", "--backend", "interpreter"];

#[test]
fn what_is_missing_in_a_result_is_its_fill_value_in_every_kind_of_file() {
    let place = reach();
    let run = |more: &[&str]| place.prints(&[&RUN[..], more].concat());
    assert_eq!(run(&["-o", "e=-"]), "# shape: 4\n# fill: inf\n1 0\n2 3\n");
    for file in ["e.npy", "e.npy.gz", "e.tns", "e.mtx", "e.spct", "e.tns.gz"] {
        run(&["-o", &format!("e={file}")]);
        // As an operand of the same declaration, and as a dense one that declares nothing.
        let next =
            ["run", "far.ti", "-i", "G=G.tns", "-i", &format!("d={file}"), "--backend", "interpreter", "-o", "e=-"];
        assert_eq!(place.prints(&next), "# shape: 4\n# fill: inf\n1 0\n2 3\n3 7\n", "{file}");
        let copy = ["run", "y(i) = x(i)", "-i", &format!("x={file}"), "--backend", "interpreter", "-o", "y=-"];
        assert_eq!(place.prints(&copy), "# shape: 4\n1 0\n2 3\n3 inf\n4 inf\n", "{file}");
        place.prints(&["convert", file, "again.npy"]);
        place.prints(&["convert", "again.npy", "again.tns"]);
        assert_eq!(place.read("again.tns"), "# shape: 4\n# fill: 0\n2 3\n3 inf\n4 inf\n", "{file}");
    }
}

#[test]
fn a_fill_value_that_is_not_the_declared_one_is_refused() {
    let place = reach().with("zeros.tns", "# fill: 0\n1 5\n").with("seven.spct", "");
    let message = place.refuses(&["run", "far.ti", "-i", "G=G.tns", "-i", "d=zeros.tns", "--backend", "interpreter"]);
    assert_has(&message, &["the fill value of `d` is declared to be inf", "in the input it is 0", "declare `fill 0`"]);
    let place = place.with("seven.tns", "# shape: 3\n# fill: 7\n1 5\n");
    place.prints(&["convert", "seven.tns", "seven.spct"]);
    for file in ["seven.tns", "seven.spct"] {
        let input = format!("x={file}");
        let run = ["run", "y(i) = x(i)", "-f", "x=[compressed]", "-i", &input, "--backend", "interpreter"];
        assert_has(&place.refuses(&run), &["the fill value of `x` is declared to be 0", "in the input it is 7"]);
    }
    // Zeros of a dense file are no missing entries.
    let place = place.with("z.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n1\n2\n0\n");
    place.prints(&["convert", "z.mtx", "z.npy", "--element", "f32"]);
    place.prints(&["convert", "z.mtx", "z.tns"]);
    let least = ["run", "m(i) min= G(i, j)", "-f", "G=csr fill inf", "--backend", "interpreter", "-o", "m=-"];
    for file in ["z.mtx", "z.npy"] {
        assert_eq!(place.prints(&[&least[..], &["-i", &format!("G={file}")]].concat()), "# shape: 2\n1 0\n2 0\n");
    }
    assert_has(
        &place.refuses(&[&least[..], &["-i", "G=z.tns"]].concat()),
        &["declared to be inf", "in the input it is 0"],
    );
    assert_has(&place.prints(&["info", "seven.tns"]), &["missing ones are 7"]);
}

#[test]
fn dense_results_keep_their_zeros_and_their_length() {
    let place = Place::new()
        .with("x.tns", "# shape: 5\n2 1.5\n")
        .with("d.ti", "fn d(x: dense) -> y: dense fill inf { y(i) = x(i); }");
    place.prints(&["run", "d.ti", "-i", "x=x.tns", "--backend", "interpreter", "-o", "y=y.tns"]);
    assert_eq!(place.read("y.tns"), "# shape: 5\n1 0\n2 1.5\n3 0\n4 0\n5 0\n");
    let again =
        ["run", "z(i) = y(i)", "-f", "y=dense fill inf", "-i", "y=y.tns", "--backend", "interpreter", "-o", "z=-"];
    assert_eq!(place.prints(&again), "# shape: 5\n1 0\n2 1.5\n3 0\n4 0\n5 0\n");
    let scalar = ["run", "s = x(i)", "-i", "x=x.tns", "--backend", "interpreter", "-o", "s=s.tns"];
    place.prints(&scalar);
    assert_eq!(place.read("s.tns"), "1.5\n");
    let from_file = ["run", "t = 2 * s", "-f", "s=f64", "-i", "s=s.tns", "--backend", "interpreter", "-o", "t=-"];
    assert_eq!(place.prints(&from_file), "3\n");
}

#[test]
fn generated_tensors_state_their_shape() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "1000x2000x30", "--nnz", "5", "-o", "x.tns"]);
    let info = place.json(&["info", "x.tns", "--json"]);
    assert_eq!((&info["shape"], &info["shape_is_stated"]), (&json!([1000, 2000, 30]), &json!(true)));
    place.prints(&["generate", "uniform", "--shape", "50x60", "--nnz", "5", "--element", "i64", "-o", "y.tns"]);
    place.prints(&["convert", "y.tns", "y.mtx"]);
    let info = place.json(&["info", "y.mtx", "--json"]);
    assert_eq!((&info["shape"], &info["element"]), (&json!([50, 60]), &json!("i64")));
}

#[test]
fn whole_numbers_are_exact_through_every_kind_of_file() {
    let text = "# shape: 3\n# element: i64\n1 9007199254740993\n2 -9223372036854775808\n3 9223372036854775807\n";
    let place = Place::new().with("a.tns", text);
    for (from, to) in [("a.tns", "b.npy"), ("b.npy", "c.mtx"), ("c.mtx", "d.spct"), ("d.spct", "e.tns")] {
        place.prints(&["convert", from, to]);
    }
    assert_eq!(place.read("e.tns"), text);
    assert_has(
        &place.refuses(&["convert", "b.npy", "f.tns", "--element", "f64"]),
        &["value 9007199254740993 at position 0 is none that f64 holds: read it as i64"],
    );
}

#[test]
fn an_index_beyond_the_stated_shape_is_an_error() {
    let place = Place::new().with("x.tns", "# shape: 3 3\n1 1 1\n4 1 2\n").with("y.tns", "# shape: 3 3 3\n1 1 1\n");
    let message = place.refuses(&["info", "x.tns"]);
    assert_has(&message, &["x.tns:3:1: index 4 of mode 1 is beyond its extent 3", "correct the line `# shape:`"]);
    assert_has(&place.refuses(&["info", "y.tns"]), &["y.tns:2:1: 3 fields", "`# shape:` states 3 modes"]);
    assert_has(
        &place.refuses(&["info", "x.tns", "--shape", "4x3"]),
        &["x.tns:1:3", "shape 3 x 3", "4 x 3 is asked for"],
    );
    let place = place.with("z.tns", "# fill: many\n1 1 1\n");
    assert_has(&place.refuses(&["convert", "z.tns", "z.npy"]), &["z.tns:1:3: fill value 'many' is none of f64"]);
}

#[test]
fn a_file_without_a_shape_is_said_to_have_none() {
    let place = Place::new().with("A.tns", "1 1 2\n2 3 1\n").with("x.tns", "# shape: 5\n1 1\n5 1\n");
    let run = |more: &[&str]| {
        let spmv = [
            "run",
            "y(i) = A(i, j) * x(j)",
            "-f",
            "A=csr",
            "-i",
            "A=A.tns",
            "-i",
            "x=x.tns",
            "--backend",
            "interpreter",
        ];
        let output = place.spc(&[&spmv[..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [_, said] = run(&[]);
    assert_has(&said, &["A.tns states no shape: extents are the largest indices, 2 x 3"]);
    assert_has(&said, &["`A` has indices up to 3 in mode 2, and the extent is 5, from `x`"]);
    let [printed, _] = run(&["--json"]);
    let notes = serde_json::from_str::<serde_json::Value>(&printed).unwrap()["notes"].clone();
    let of_shapes = |note: &&serde_json::Value| !note.to_string().contains("is stored as");
    assert_eq!(notes.as_array().unwrap().iter().filter(of_shapes).count(), 2, "{notes}");
    // Where everything is stated, only what ends before its extent is said.
    let [_, said] = run(&["--dim", "i=2"]);
    assert!(!said.contains("states no shape"), "{said}");
    let place = Place::new().with("A.tns", "# shape: 2 5\n1 1 2\n").with("x.tns", "# shape: 5\n1 1\n");
    let spmv = ["run", "y(i) = A(i, j) * x(j)", "-f", "A=csr", "-f", "x=dense", "-i", "A=A.tns", "-i", "x=x.tns"];
    let spmv = [&spmv[..], &["--backend", "interpreter"]].concat();
    assert!(!String::from_utf8(place.spc(&spmv).stderr).unwrap().contains("note"));
    let place = place.with("x.tns", "7 1\n");
    let output = place.spc(&["convert", "x.tns", "x.npy"]);
    assert_has(
        &String::from_utf8(output.stderr).unwrap(),
        &["x.tns states no shape: extents are the largest indices, 7"],
    );
    assert_has(&place.prints(&["info", "x.tns"]), &["x.tns: 7 (it states no shape: extents are the largest indices)"]);
}

/// The steps of the example go through files, whose results are complete.
#[test]
fn distances_of_zero_stay_zero() {
    let file = examples().join("shortest_paths.ti");
    let place = Place::new().with("G.tns", "1 2 3\n2 3 4\n1 1 0\n2 2 0\n3 3 0\n").with("d.tns", "1 0\n2 inf\n3 inf\n");
    let step = |d: &str, e: &str| {
        let (d, e) = (format!("d={d}"), format!("e={e}"));
        let inputs = ["-i", "G=G.tns", "-i", &d, "-o", &e, "--backend", "interpreter"];
        place.prints(&[&["run", file.to_str().unwrap(), "--kernel", "step"][..], &inputs].concat());
    };
    step("d.tns", "e.tns");
    step("e.tns", "f.tns");
    assert_eq!(place.read("f.tns"), "# shape: 3\n1 0\n2 3\n3 7\n");
}
