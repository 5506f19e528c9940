//! Tensors of truth values and of complex numbers.

use super::{Place, assert_has};

/// | 0   i |
/// | 2   0 |
const MATRIX: &str = "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 2 0 1\n2 1 2 0\n";

fn place() -> Place {
    Place::new().with("a.mtx", MATRIX).with("x.tns", "1 1 1\n2 0 -3\n")
}

#[test]
fn complex_numbers() {
    let place = place();
    let kernel = ["run", "y(i) = alpha * A(i, j) * x(j)", "-f", "A=c64 csr", "-f", "x=c64 dense", "-f", "y=c64 dense"];
    let inputs = ["-f", "alpha=c64", "-i", "A=a.mtx", "-i", "x=x.tns", "-i", "alpha=0-1i"];
    for backend in ["native", "interpreter"] {
        let run = |more: &[&str]| place.prints(&[&kernel[..], &inputs, &["--backend", backend], more].concat());
        assert_eq!(run(&["-o", "y=-"]), "# shape: 2\n# element: c64\n1 0 -3\n2 2 -2\n");
        assert_has(&run(&[]), &["y: 2, c64 dense, 2 stored", "y(0)  = 0-3i", "y(1)  = 2-2i", "sum of all: 2-5i"]);
    }
    let json = place.json(&[&kernel[..], &inputs, &["--backend", "interpreter", "--json"]].concat());
    assert_eq!(json["outputs"]["y"]["checksum"], serde_json::json!([2.0, -5.0]));
    assert_eq!(json["checksum"], serde_json::json!([2.0, -5.0]));
    let norm =
        ["run", "n = abs(A(i, j))", "-f", "A=c64 csr", "-f", "n=f64", "-i", "A=a.mtx", "--backend", "interpreter"];
    assert_has(&place.prints(&norm), &["n = 3\n"]);
    let random = ["run", "s = x(i)", "-f", "x=c32 dense", "-f", "s=c32", "-i", "x=random", "--dim", "i=100"];
    let json = place.json(&[&random[..], &["--backend", "interpreter", "--json"]].concat());
    assert!(json["checksum"].as_array().unwrap().iter().all(|part| (30.0..70.0).contains(&part.as_f64().unwrap())));
}

#[test]
fn truth_values() {
    let place = Place::new().with("a.tns", "1 2 1\n2 3 1\n3 3 0\n").with("x.tns", "1 1\n3 1\n");
    let kernel =
        ["run", "y(j) |= x(i) && A(i, j) != flip", "-f", "A=bool csr", "-f", "x=bool dense", "-f", "y=bool dense"];
    let inputs = ["-f", "flip=bool", "-i", "A=a.tns", "-i", "x=x.tns", "--backend", "interpreter"];
    let run = |flip: &str| place.prints(&[&kernel[..], &inputs, &["-i", flip, "-o", "y=-"]].concat());
    assert_eq!(run("flip=false"), "# shape: 3\n# element: bool\n1 0\n2 1\n3 0\n");
    assert_eq!(run("flip=1"), "# shape: 3\n# element: bool\n1 1\n2 1\n3 1\n");
    let refuses = |more: &[&str]| place.refuses(&[&kernel[..], &inputs, more].concat());
    assert_has(&refuses(&["-i", "flip=2"]), &["2", "bool"]);
    let place = place.with("x.tns", "1 5\n");
    let message = place.refuses(&[&kernel[..], &inputs, &["-i", "flip=true"]].concat());
    assert_has(&message, &["x.tns:1:3", "value '5' is beyond the range of bool"]);
}

#[test]
fn generated_tensors_have_any_element_type() {
    let place = Place::new();
    let generate = |element: &str| {
        place.prints(&["generate", "uniform", "--shape", "9x9", "--nnz", "20", "--element", element, "-o", "-"])
    };
    let entries =
        |text: &str| text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
    let fields = |text: &str| entries(text).iter().map(|line| line.split(' ').count()).collect::<Vec<_>>();
    assert_eq!(fields(&generate("c64")), [4; 20]);
    assert!(entries(&generate("bool")).iter().all(|line| line.ends_with(" 1")));
    assert!(entries(&generate("u8")).iter().all(|line| ('1'..='9').any(|digit| line.ends_with(&format!(" {digit}")))));
}

#[test]
fn files_are_converted_as_what_they_hold() {
    let place = place();
    place.prints(&["convert", "a.mtx", "a.tns", "--element", "c64"]);
    assert_eq!(place.read("a.tns"), "# shape: 2 2\n# element: c64\n1 2 0 1\n2 1 2 0\n");
    place.prints(&["convert", "a.tns", "a.spct", "--element", "c32", "--format", "csr"]);
    place.prints(&["convert", "a.spct", "b.mtx", "--element", "c64"]);
    assert_eq!(place.read("b.mtx"), MATRIX.replacen('\n', "\n% element: c64\n", 1));
    assert_has(
        &place.refuses(&["convert", "a.mtx", "b.tns", "--element", "f64"]),
        &["the values are complex", "c32 or c64"],
    );
    assert_has(
        &place.refuses(&["convert", "a.spct", "b.tns", "--element", "f64"]),
        &["value 0+1i at position 0 is none that f64 holds"],
    );
    // A file that says its type is read as that.
    place.prints(&["convert", "a.tns", "c.tns"]);
    assert_eq!(place.read("c.tns"), place.read("a.tns"));
    let info = place.json(&["info", "a.tns", "--format", "coo", "--json"]);
    assert_eq!((&info["nnz"], &info["shape"]), (&serde_json::json!(2), &serde_json::json!([2, 2])));
}

/// Types that no option says are those of the expression, and a note says so.
#[test]
fn types_are_inferred() {
    let place = place().with("n.tns", "# shape: 2 2\n1 1 9007199254740993\n2 1 5\n");
    let notes = |arguments: &[&str]| {
        let output = place.spc(&[&["run"], arguments, &["--backend", "interpreter"]].concat());
        let (text, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{notes}");
        (text, notes)
    };
    let (text, said) = notes(&["y(i) = X(i, j)", "-f", "X=i64 csr", "-i", "X=n.tns", "-o", "y=-"]);
    assert_eq!(text, "# shape: 2\n# element: i64\n1 9007199254740993\n2 5\n");
    assert_has(&said, &["`y` has elements of type i64, as its expression"]);
    let (text, said) = notes(&["y(i) = A(i, j)", "-i", "A=a.mtx", "-o", "y=-"]);
    assert_eq!(text, "# shape: 2\n# element: c64\n1 0 1\n2 2 0\n");
    assert_has(&said, &["`A` has elements of type c64, as a.mtx", "`y` has elements of type c64, as its expression"]);
    let message = place.refuses(&["run", "y(i) = X(i, j)", "-i", "X=n.tns", "--backend", "interpreter"]);
    assert_has(
        &message,
        &["n.tns:2:5: value '9007199254740993' is a whole number that f64 does not hold: read it as i64"],
    );
}

/// A result has the entries of its expression, however large the matrix is.
#[test]
fn results_are_as_sparse_as_their_expressions() {
    let place = Place::new().with("a.tns", "# shape: 325729 325729\n1 3 2\n325729 1 -4\n");
    let run = ["run", "B(i, j) = 2 * A(i, j)", "-i", "A=a.tns", "--backend", "interpreter"];
    let output = place.spc(&[&run[..], &["-o", "B=-"]].concat());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "# shape: 325729 325729\n1 3 4\n325729 1 -8\n");
    assert_has(
        &String::from_utf8(output.stderr).unwrap(),
        &["note: `B` is stored as csr, with the entries of its expression"],
    );
    let json = place.json(&[&run[..], &["--json"]].concat());
    assert_has(json["notes"].to_string().as_str(), &["`B` is stored as csr"]);
}

/// Files keep their types, numbers are converted once, and what does not survive is an error.
#[test]
fn numbers_of_files_stay_what_they_are() {
    let header = |field: &str| format!("%%MatrixMarket matrix coordinate {field}\n2 2 2\n");
    let place = Place::new()
        .with("whole.mtx", &format!("{}1 1 9007199254740993\n2 1 -1\n", header("integer general")))
        .with(
            "skew.mtx",
            &format!("{}2 1 9007199254740993\n", header("integer skew-symmetric").replace("2 2 2", "2 2 1")),
        )
        .with("natural.mtx", &format!("{}1 1 18446744073709551615\n2 1 1\n", header("unsigned-integer general")))
        .with("pattern.mtx", &format!("{}1 2\n2 1\n", header("pattern general")))
        .with("half.tns", "# shape: 1\n# element: f32\n1 0.1\n");
    let converts = |from: &str, to: &str| {
        place.prints(&["convert", from, to]);
        place.prints(&["convert", to, "-", "--to", "mtx"])
    };
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let whole = lines(&converts("whole.mtx", "a.mtx"));
    assert_eq!(whole[0], "%%MatrixMarket matrix coordinate integer general");
    assert_eq!(whole[whole.len() - 2..], ["1 1 9007199254740993", "2 1 -1"]);
    let skew = lines(&converts("skew.mtx", "b.spct"));
    assert_eq!(skew[skew.len() - 2..], ["1 2 -9007199254740993", "2 1 9007199254740993"]);
    let natural = lines(&converts("natural.mtx", "c.npz"));
    assert_eq!(natural[natural.len() - 2..], ["1 1 18446744073709551615", "2 1 1"]);
    let pattern = lines(&converts("pattern.mtx", "d.mtx"));
    assert_eq!(
        (pattern[0].as_str(), &pattern[pattern.len() - 2..]),
        ("%%MatrixMarket matrix coordinate pattern general", &["1 2".to_owned(), "2 1".to_owned()][..])
    );
    // A declared type that does not hold a value.
    let message = place.refuses(&["run", "y(i) = A(i, j)", "-i", "A=whole.mtx", "--backend", "interpreter"]);
    assert_has(
        &message,
        &["whole.mtx:3:5", "'9007199254740993' is a whole number that f64 does not hold: read it as i64"],
    );
    let message = place.refuses(&["convert", "whole.mtx", "e.tns", "--element", "f32"]);
    assert_has(&message, &["whole.mtx:3:5", "that f32 does not hold"]);
    // Widened in binary, in a text and out of it.
    place.prints(&["convert", "half.tns", "half.npy"]);
    place.prints(&["convert", "half.tns", "half.spct"]);
    for file in ["half.tns", "half.npy", "half.spct"] {
        let widened = place.prints(&["convert", file, "-", "--to", "tns", "--element", "f64"]);
        assert!(widened.ends_with("\n1 0.10000000149011612\n"), "{file}: {widened}");
    }
}
