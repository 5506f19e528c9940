use super::{Place, assert_has};
use std::io::Read;
use std::process::Stdio;

const TENSOR: &str = "1 1 1 2\n1 2 3 1\n3 1 2 -4\n";

#[test]
fn info_counts_slices_fibers_and_storage() {
    let place = Place::new().with("x.tns", TENSOR);
    let text = place.prints(&[
        "info",
        "x.tns",
        "--format",
        "csf,coo,(i, j, k) -> [k: compressed, j: compressed, i: compressed]",
    ]);
    assert_has(
        &text,
        &[
            "x.tns: 3 x 2 x 3 (it states no shape: extents are the largest indices)",
            "3 entries",
            "slices",
            "fibers",
            "csf",
            "coo",
        ],
    );
    let json = place.json(&["info", "x.tns", "--format", "csf,[dense, dense, compressed]", "--json"]);
    assert_eq!((&json["nnz"], &json["shape"]), (&3.into(), &serde_json::json!([3, 2, 3])));
    assert_eq!(json["modes"][0]["slices"]["count"], 2);
    assert_eq!(json["modes"][0]["slices"]["largest"], 2);
    assert_eq!(json["modes"][2]["fibers"]["count"], 3);
    // Positions 2 + 3 + 4, coordinates 2 + 3 + 3, four bytes each.
    assert_eq!(json["storage"][0]["index_bytes"], 4 * (2 + 3 + 4 + 2 + 3 + 3));
    assert_eq!(json["storage"][0]["value_bytes"], 24);
    assert_eq!(json["storage"][1]["format"], "[dense, dense, compressed]");
}

#[test]
fn info_refuses_what_it_can_not_count() {
    let place = Place::new().with("x.tns", TENSOR);
    assert_has(&place.refuses(&["info", "y.tns"]), &["y.tns", "No such file"]);
    assert_has(&place.refuses(&["info", "x.tns", "--format", "csx"]), &["no format `csx`"]);
    assert_has(&place.refuses(&["info", "x.tns", "--format", "csr"]), &["order 3"]);
    assert_has(&place.refuses(&["info", "x.tns", "--shape", "2x2x3"]), &["x.tns:3:1"]);
    // A format that has no room for the tensor is no reason not to show the others.
    let place = place.with("far.tns", "4000000000 4000000000 4000000000 1\n");
    assert_has(&place.prints(&["info", "far.tns", "--format", "coo,dense"]), &["dense: "]);
}

#[test]
fn generate_knows_skewed_tensors() {
    let place = Place::new();
    let lines = |arguments: &[&str]| {
        let text = place.prints(&[&["generate"], arguments, &["-o", "-"]].concat());
        assert!(text.starts_with("# shape: "), "{text}");
        text.lines().count() - 1
    };
    assert_eq!(lines(&["power-law", "--shape", "50x40x30", "--nnz", "300", "--exponents", "1.2,0.5,0"]), 300);
    assert_eq!(lines(&["power-law", "--shape", "50x40", "--nnz", "300"]), 300);
    assert_eq!(lines(&["power-law", "--shape", "50x40x9", "--nnz", "300", "--exponents", "1,0.5", "--stacked"]), 300);
    assert_eq!(lines(&["kronecker", "--shape", "50x40x9", "--nnz", "300"]), 300);
    assert_eq!(lines(&["kronecker", "--shape", "50x40", "--nnz", "300", "--initiator", "0.57,0.19,0.19,0.05"]), 300);
    assert_eq!(lines(&["suite", "irr2S4d", "--scale", "0.001"]), 1600);
    let refuse = |arguments: &[&str], parts: &[&str]| {
        assert_has(&place.refuses(&[&["generate"], arguments, &["-o", "-"]].concat()), parts);
    };
    refuse(&["suite", "irrs"], &["no tensor `irrs`", "did you mean `irrS`?"]);
    refuse(&["suite", "irrS", "--scale", "0"], &["0 is no scale"]);
    refuse(&["kronecker", "--shape", "5x5", "--nnz", "3", "--initiator", "1,2,3"], &["has 4 weights, and 3 are given"]);
    refuse(&["power-law", "--shape", "5x5", "--nnz", "3", "--exponents", "1,1,1"], &["2 modes", "exponents is 3"]);
    refuse(&["power-law", "--shape", "5x5", "--nnz", "3", "--exponents=-1"], &["-1 is no exponent"]);
}

#[test]
fn generate_makes_what_it_is_asked_for() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "10x20x5", "--nnz", "100", "--seed", "1", "-o", "x.tns"]);
    let text = place.read("x.tns");
    assert_eq!(text.lines().count(), 101);
    assert!(text.starts_with("# shape: 10 20 5\n"), "{text}");
    let again = place.prints(&["generate", "uniform", "--shape", "10x20x5", "--nnz", "100", "--seed", "1", "-o", "-"]);
    assert_eq!(again, text);
    let message = place.refuses(&["generate", "uniform", "--shape", "2x3", "--nnz", "7", "-o", "y.tns"]);
    assert_has(&message, &["places for 6 entries"]);
}

#[test]
fn convert_goes_between_all_kinds() {
    let place = Place::new().with("a.tns", "2 1 -1.5\n1 3 2\n2 1 0.5\n");
    let mut from = "a.tns";
    for to in ["b.mtx", "c.npy", "d.spct", "e.mtx.gz", "f.tns.gz", "g.tns"] {
        place.prints(&["convert", from, to]);
        from = to;
    }
    assert_eq!(place.read("g.tns"), "# shape: 2 3\n1 3 2\n2 1 -1\n");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(place.path("f.tns.gz")).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "# shape: 2 3\n1 3 2\n2 1 -1\n");
    place.prints(&["convert", "a.tns", "wide.npy", "--shape", "4x4"]);
    assert_eq!(place.json(&["info", "wide.npy", "--json"])["shape"], serde_json::json!([4, 4]));
    assert_has(&place.refuses(&["convert", "a.tns", "a.dat"]), &["a.dat", "known extensions"]);
    assert_has(&place.refuses(&["convert", "a.tns", "h.tns", "--element", "i32"]), &["a.tns:1:5"]);
}

/// Files of other programs: shape, count and sum are those that the programs say of them.
#[test]
fn files_of_other_programs_are_read() {
    const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime/src/io/tests");
    let place = Place::new()
        .with("a.smtx", "3, 4, 5\n0 2 2 5\n0 3 1 2 3\n")
        .with("parti.tns", "3\n4 5 6\n1 3 2 5\n4 1 6 -0.5\n")
        .with("zero.tns", "0 1 2.5\n2 0 -1\n")
        .with("dense.tns", "tensor\n3\n2 2 2\n0\n1\n2\n3\n4\n5\n6\n7.5\n")
        .with("web.edges", "# Directed graph\n# FromNodeId\tToNodeId\n0\t3\n3\t1\n")
        .with("r.csv", "user,item,rating,day\nann,tea,5,1\nbob,milk,3.5,1\nann,milk,2,4\n")
        .with("v.mtx", "%%MatrixMarket vector coordinate integer general\n5 2\n1 7\n4 9007199254740993\n")
        .with("unnamed", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    for name in ["scipy/a.rua", "scipy/two.mat", "scipy/problem.mat", "pydata/gcxs_1.npz"] {
        std::fs::copy(format!("{FIXTURES}/{name}"), place.path(name.rsplit('/').next().unwrap())).unwrap();
    }
    let info = |arguments: &[&str]| {
        let info = place.json(&[&["info", "--json"], arguments].concat());
        let [shape, nnz, element, stored] = ["shape", "nnz", "element", "stored"].map(|key| info[key].clone());
        (
            shape.to_string(),
            nnz.as_u64().unwrap(),
            element.as_str().unwrap().to_owned(),
            stored.as_str().unwrap().to_owned(),
        )
    };
    let is = |arguments: &[&str], shape: &str, nnz: u64, element: &str, stored: &str| {
        let expected = (shape.to_owned(), nnz, element.to_owned(), stored.to_owned());
        assert_eq!(info(arguments), expected, "{arguments:?}");
    };
    is(&["a.smtx"], "[3,4]", 5, "bool", "DLMC pattern in compressed rows");
    is(&["parti.tns"], "[4,5,6]", 2, "f64", "FROSTT text with the header of ParTI or HiCOO");
    is(&["zero.tns", "--base", "0"], "[3,2]", 2, "f64", "FROSTT text");
    is(&["dense.tns"], "[2,2,2]", 7, "f64", "a dense `tensor` of the Tensor Toolbox or pyttb");
    is(&["web.edges"], "[4,4]", 2, "bool", "table, columns 1, 2");
    is(&["r.csv:user,item,rating"], "[2,2]", 3, "f64", "table, columns user, item, rating");
    is(&["v.mtx"], "[5]", 2, "i64", "Matrix Market, vector coordinate integer general");
    is(&["a.rua"], "[7,5]", 14, "f64", "Rutherford-Boeing or Harwell-Boeing matrix of type RUA");
    is(&["problem.mat"], "[7,5]", 14, "f64", "MATLAB variable Problem.A, sparse, of a file with Problem.A, Problem.id");
    is(&["two.mat:B"], "[2,3]", 5, "f64", "MATLAB variable B, numbers, of a file with A, B");
    is(&["gcxs_1.npz"], "[2,3,4]", 3, "f64", "archive of a sparse tensor in format gcxs");
    let sum = |expression: &str, input: &str| {
        let run = ["run", expression, "-i", input, "-o", "s=-", "--backend", "interpreter"];
        place.prints(&run).trim().parse::<f64>().unwrap()
    };
    assert!((sum("s = A(i, j)", "A=a.rua") - 7.397).abs() < 1e-12);
    assert!((sum("s = A(i, j)", "A=problem.mat") - 7.397).abs() < 1e-12);
    assert_eq!(sum("s = A(i, j)", "A=a.smtx"), 5.0);
    // Vertex 3 has an edge from 0; the tensor has 4 at (0, 0, 1), its first index running fastest.
    assert_eq!(sum("s = A(i, j) * i * 10 + A(i, j) * j", "A=web.edges"), 3.0 + 31.0);
    assert_eq!(sum("s = A(i, j, k) * k * (1 - j) * (1 - i)", "A=dense.tns"), 4.0);
    let output = place.spc(&["convert", "r.csv:user,item,rating", "r.tns", "--keys", "keys.csv"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(place.read("r.tns"), "# shape: 2 2\n1 1 5\n1 2 2\n2 2 3.5\n");
    assert_eq!(place.read("keys.csv"), "mode,index,key\n0,0,\"ann\"\n0,1,\"bob\"\n1,0,\"tea\"\n1,1,\"milk\"\n");
    // Three entries, whose sum is 12, and -1 elsewhere.
    assert_eq!(sum("s = A(i, j, k)", "A=gcxs_1.npz"), 12.0 - 21.0);
    place.prints(&["convert", "zero.tns", "one.tns", "--base", "0"]);
    assert_eq!(place.read("one.tns"), "# shape: 3 2\n1 2 2.5\n3 1 -1\n");
    assert_has(&place.refuses(&["info", "zero.tns"]), &["zero.tns:1:1: index 0", "`--base 0`"]);
    assert_has(&place.refuses(&["info", "unnamed"]), &["it looks like a .mtx file: `--from mtx` reads it so"]);
    is(&["unnamed", "--from", "mtx"], "[1,1]", 1, "f64", "Matrix Market, matrix coordinate real general");
    assert_has(&place.refuses(&["convert", "a.smtx", "b.smtx"]), &["a .smtx file is read and not written"]);
    assert_has(&place.refuses(&["info", "two.mat:C"]), &["its tensors are A, B"]);
}

#[test]
fn output_may_be_closed_before_the_end() {
    let place = Place::new();
    let mut child = place
        .command(&["generate", "uniform", "--shape", "1000x1000", "--nnz", "200000", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn completions_name_the_verbs() {
    assert_has(&Place::new().prints(&["completions", "bash"]), &["compile", "--threads"]);
}

#[test]
fn files_keep_formats_with_computed_coordinates() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "9x10x7", "--nnz", "60", "--seed", "3", "-o", "x.tns"]);
    for format in
        ["alto", "hicoo(4)", "tiled(4)", "bcsf(2)", "(i, j, k) -> [k - i: compressed, j: compressed, i: dense]"]
    {
        place.prints(&["convert", "x.tns", "x.spct", "--format", format]);
        place.prints(&["convert", "x.spct", "y.tns"]);
        let entries = |name: &str| {
            let text = place.read(name);
            let mut lines: Vec<String> = text.lines().filter(|line| !line.ends_with(" 0")).map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(entries("y.tns"), entries("x.tns"), "{format}");
    }
    let json = place.json(&["info", "x.tns", "--format", "hocoo,alto,hicoo(4)", "--json"]);
    assert_eq!(json["storage"][0]["units"], 4 * 60 + 2);
    assert_eq!(json["storage"][1]["units"], 2 * 60 + 2);
    assert_has(&place.prints(&["info", "x.tns", "--format", "hicoo(4)"]), &["units", "hicoo(4)"]);
}

/// The definitions of a file are names wherever a format is said.
#[test]
fn formats_of_a_file_have_names_everywhere() {
    let place = Place::new()
        .with("mine.ti", "format rows(B) = (i, j) -> [i / B: dense, j: compressed, i % B: dense];\nformat wide = [dense, compressed(u64)];\n")
        .with("a.tns", "1 1 2\n2 3 4\n5 2 1\n");
    place.prints(&["convert", "a.tns", "a.spct", "--format", "rows(2)", "--formats", "mine.ti"]);
    place.prints(&["convert", "a.spct", "b.tns"]);
    let entries = |text: String| text.lines().filter(|line| !line.ends_with(" 0")).collect::<Vec<_>>().join("\n");
    assert_eq!(entries(place.read("b.tns")), "# shape: 5 3\n1 1 2\n2 3 4\n5 2 1");

    let json = place.json(&["info", "a.tns", "--format", "rows(2),wide,csr", "--formats", "mine.ti", "--json"]);
    assert_eq!((&json["storage"][0]["format"], &json["storage"][0]["stored"]), (&"rows(2)".into(), &6.into()));
    assert_eq!((&json["storage"][1]["index_bytes"], &json["storage"][2]["index_bytes"]), (&48.into(), &36.into()));

    let sum = ["y(i) = A(i, j) * x(j)", "-f", "A=rows(2)", "--formats", "mine.ti"];
    let run = ["-i", "A=a.tns", "-i", "x=ones", "--backend", "interpreter", "-o", "y=-"];
    assert_eq!(place.prints(&[&["run"], &sum[..], &run].concat()), "# shape: 5\n1 2\n2 4\n3 0\n4 0\n5 1\n");
    assert_has(&place.prints(&[&["compile"], &sum[..], &["--emit", "notation"]].concat()), &["i / 2: dense"]);
    assert_has(&place.prints(&[&["explain"], &sum[..]].concat()), &["walk A as it is stored"]);
    let quick =
        ["bench", "--quick", "--machine", "least", "--budget", "0.001", "--threads", "1", "--formats", "mine.ti"];
    let text = place.prints(&[&quick[..], &["a.tns", "--kernel", "spmv", "-f", "rows(2),csr"]].concat());
    assert_has(&text, &["rows(2)", "csr"]);
    let given = ["--expression", sum[0], "-f", "A=rows(2)", "-i", "A=a.tns", "-i", "x=ones"];
    assert_has(&place.prints(&[&quick[..], &given].concat()), &["A: rows(2)"]);

    assert_has(
        &place.refuses(&["info", "a.tns", "--format", "row(2)", "--formats", "mine.ti"]),
        &["did you mean `rows`"],
    );
    assert_has(&place.refuses(&["info", "a.tns", "--formats", "no.ti"]), &["no.ti: "]);
    let place = place.with("bad.ti", "format csr = [dense, compressed];\n");
    assert_has(&place.refuses(&["info", "a.tns", "--formats", "bad.ti"]), &["a format `csr` already", "bad.ti:1:8"]);
    let place = place.with("k.ti", "fn k(A: wide) -> y: dense { y(i) = A(i, j); }");
    assert_has(&place.prints(&["compile", "k.ti", "--formats", "mine.ti", "--emit", "notation"]), &["compressed(u64)"]);
    assert_has(&place.refuses(&["compile", "k.ti"]), &["no format `wide`"]);
}

#[test]
fn linear_coordinates_of_more_than_64_bits_are_refused() {
    let place = Place::new().with("d.tns", "500000 17000000 2400000 1400 1.5\n1 2 3 4 2.5\n");
    for format in ["lco", "(i, j, k, l) -> [linear(i, j, k): compressed(u64), l: compressed(u64)]"] {
        let refusal = place.refuses(&["convert", "d.tns", "d.spct", "--format", format]);
        assert_has(&refusal, &["takes more than 64 bits in this shape", "levels of their own"]);
        assert!(!place.path("d.spct").exists());
    }
}

/// Coordinates that all begin at one slot of a hash table, whoever knows the hash finds them. Slot after slot this took minutes.
#[test]
fn coordinates_that_meet_in_one_slot_take_no_longer() {
    let golden = 0x9e37_79b9_7f4a_7c15_u64;
    let inverse =
        (0..6).fold(golden, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(golden.wrapping_mul(inverse))));
    let meeting = (1..1_000_000u64).map(|low| low.wrapping_mul(inverse)).filter(|&coordinate| coordinate < 1 << 62);
    let coordinates: Vec<u64> = meeting.take(200_000).collect();
    assert_eq!(coordinates.len(), 200_000);
    let lines: String = coordinates.iter().map(|coordinate| format!("{coordinate} 1\n")).collect();
    let place = Place::new().with("x.tns", &lines);
    let start = std::time::Instant::now();
    for arguments in [
        &["convert", "x.tns", "x.spct", "--format", "[hashed(u64)]"][..],
        &["convert", "x.spct", "y.tns"],
        &["run", "s = x(i)", "-f", "x=[hashed(u64)]", "-i", "x=x.spct", "-o", "s=s.tns", "--backend", "interpreter"],
    ] {
        place.prints(arguments);
    }
    assert!(start.elapsed().as_secs() < 100, "{:?}", start.elapsed());
    assert_eq!(place.read("s.tns").trim(), "200000");
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let result: Vec<String> = sorted(place.read("y.tns")).into_iter().filter(|line| line.ends_with(" 1")).collect();
    assert_eq!(result, sorted(lines));
}
