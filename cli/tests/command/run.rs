use super::{Place, assert_has, examples};
use serde_json::Value;

/// | 2 0 1 |
/// | 0 3 0 |
const MATRIX: &str = "1 1 2\n1 3 1\n2 2 3\n";
const SPMV: &str = "y(i) = A(i, j) * x(j)";

fn place() -> Place {
    Place::new().with("a.tns", MATRIX).with("x.tns", "1 1\n2 10\n3 100\n")
}

const INPUTS: [&str; 8] = ["-f", "A=csr", "-f", "x=dense", "-i", "A=a.tns", "-i", "x=x.tns"];

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", SPMV][..], &INPUTS, more].concat()
}

#[test]
fn the_result_is_right() {
    let place = place();
    assert_eq!(place.prints(&run(&["-o", "y=-"])), "# shape: 2\n1 102\n2 30\n");
    assert_eq!(place.prints(&run(&["-o", "y=-", "--backend", "interpreter"])), "# shape: 2\n1 102\n2 30\n");
    let text = place.prints(&run(&[]));
    assert_has(&text, &["y: 2, f64 dense, 2 stored", "y(0)  = 102", "y(1)  = 30", "sum of all: 132", "native on"]);
    assert!(!text.contains("pub fn"));
    assert_has(&place.prints(&run(&["--show-code"])), &["pub fn kernel(", "// j where A(i, j) has entries"]);
}

/// What a format fills up counts for nothing.
#[test]
fn sums_are_the_same_in_every_format() {
    let place = place();
    for format in ["csr", "ell", "dia", "bcsr(2)", "[dense, bitmap]", "[dense, hashed]", "structured(2, 3)"] {
        let stored = format!("C={format}");
        let copy =
            ["run", "C(i, j) = 2 * A(i, j)", "-f", "A=csr", "-f", &stored, "-i", "A=a.tns", "--backend", "interpreter"];
        assert_has(&place.prints(&copy), &["sum of all: 12"]);
    }
}

#[test]
fn results_go_to_files() {
    let place = place();
    place.prints(&run(&["-o", "y=y.tns", "-o", "y=y.mtx"]));
    assert_eq!(place.read("y.tns"), "# shape: 2\n1 102\n2 30\n");
    assert_has(&place.read("y.mtx"), &["%%MatrixMarket matrix coordinate real general\n% shape: 2\n2 1 2\n"]);
    // What is read is written over only when all is done.
    place.prints(&["run", "A(i, j) = 2 * B(i, j)", "-f", "A=csr", "-f", "B=csr", "-i", "B=a.tns", "-o", "A=a.tns"]);
    assert_eq!(place.read("a.tns"), "# shape: 2 3\n1 1 4\n1 3 2\n2 2 6\n");
}

#[test]
fn json_has_all_figures() {
    let json = place().json(&run(&["--json", "--repeat", "3", "--threads", "2"]));
    assert_eq!(json["kernel"], "kernel");
    assert_eq!(json["backend"], "native");
    assert_eq!(json["threads"], 2);
    assert_eq!(json["nnz"], 3);
    assert_eq!(json["checksum"], 132.0);
    assert_eq!(json["run_ms"].as_array().unwrap().len(), 3);
    for time in ["compile_ms", "pack_ms", "read_ms", "median_ms"] {
        assert!(json[time].as_f64().is_some_and(|time| time >= 0.0), "{time}");
    }
    assert_eq!(json["inputs"]["A"]["shape"], serde_json::json!([2, 3]));
    assert_eq!(json["outputs"]["y"]["format"], "dense");
    assert_eq!(json["outputs"]["y"]["nnz"], 2);
}

#[test]
fn every_whole_number_is_a_scalar() {
    let place = Place::new();
    let kernel = ["run", "t = n + 0", "-f", "n=i64", "-f", "t=i64", "--backend", "interpreter", "-o", "t=-", "-i"];
    // The first is none that a `f64` holds, and the second would be rounded beyond its type.
    for number in ["9007199254740993", "9223372036854775807", "-9223372036854775807"] {
        assert_eq!(place.prints(&[&kernel[..], &[&format!("n={number}")]].concat()).trim(), number);
    }
    assert_has(&place.refuses(&[&kernel[..], &["n=9223372036854775808"]].concat()), &["i64"]);
}

#[test]
fn one_statement_of_a_scalar() {
    let place = Place::new().with("x.tns", "1 3\n4 -4\n");
    let arguments = ["run", "s = x(i) * x(i)", "-f", "x=[compressed]", "-i", "x=x.tns"];
    assert_has(&place.prints(&arguments), &["s = 25\n"]);
    assert_eq!(place.prints(&[&arguments[..], &["-o", "s=-"]].concat()), "25\n");
    let arguments =
        ["run", "y(i) = alpha * x(i)", "-f", "x=[compressed]", "-i", "x=x.tns", "-i", "alpha=2.5", "-o", "y=-"];
    assert_eq!(place.prints(&arguments), "# shape: 4\n1 7.5\n4 -10\n");
}

#[test]
fn extents_come_from_operands_and_dim() {
    let place = place();
    let shape = |more: &[&str]| place.json(&run(&[more, &["--json"]].concat()))["outputs"]["y"]["shape"].clone();
    assert_eq!(shape(&[]), serde_json::json!([2]));
    assert_eq!(shape(&["--dim", "i=5"]), serde_json::json!([5]));
    // `x` reaches further than the columns of `A`.
    let place = place.with("x.tns", "1 1\n2 10\n3 100\n7 1000\n");
    let json = place.json(&run(&["--json"]));
    assert_eq!(json["inputs"]["A"]["shape"], serde_json::json!([2, 7]));
    assert_eq!(json["checksum"], 132.0);
}

#[test]
fn a_file_may_have_no_entry() {
    let place = place().with("a.tns", "# nothing\n");
    let json = place.json(&run(&["--dim", "i=2", "--json"]));
    assert_eq!(json["inputs"]["A"]["shape"], serde_json::json!([2, 3]));
    assert_eq!((&json["nnz"], &json["checksum"]), (&3.into(), &0.0.into()));
    assert_eq!(place.json(&run(&["--json"]))["outputs"]["y"]["nnz"], 0);
}

#[test]
fn dense_operands_are_random_or_ones() {
    let place = place();
    let sum = |x: &str| {
        let input = format!("x={x}");
        place.json(&["run", SPMV, "-f", "A=csr", "-i", "A=a.tns", "-i", &input, "--json"])["checksum"].as_f64().unwrap()
    };
    assert_eq!(sum("ones"), 6.0);
    assert_eq!(sum("random:7"), sum("random:7"));
    assert_ne!(sum("random:7"), sum("random:8"));
    assert!(sum("random") > 0.0);
}

#[test]
fn several_entries_of_an_index_are_summed_or_refused() {
    let place = Place::new().with("a.tns", "1 1 2\n2 2 1\n1 1 3\n");
    let arguments = ["run", SPMV, "-f", "A=csr", "-i", "A=a.tns", "-i", "x=ones"];
    assert_eq!(place.prints(&[&arguments[..], &["-o", "y=-"]].concat()), "# shape: 2\n1 5\n2 1\n");
    let message = place.refuses(&[&arguments[..], &["--duplicates", "refuse"]].concat());
    assert_has(&message, &["`A`", "(1, 1)", "more than once"]);
}

#[test]
fn other_kinds_of_file_are_read() {
    let place = Place::new()
        .with("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 2\n2 3 4\n")
        .with("x.tns", "3 5\n");
    let arguments = ["run", SPMV, "-f", "A=csr", "-i", "A=a.mtx", "-i", "x=x.tns"];
    // The file states three rows, the last of them empty.
    assert_eq!(place.json(&[&arguments[..], &["--json"]].concat())["outputs"]["y"]["shape"], serde_json::json!([3]));
    place.prints(&["convert", "a.mtx", "a.spct", "--format", "csr"]);
    place.prints(&["convert", "a.mtx", "a.npy"]);
    for kind in ["a.spct", "a.npy"] {
        let input = format!("A={kind}");
        assert_eq!(
            place.prints(&["run", SPMV, "-f", "A=csr", "-i", &input, "-i", "x=x.tns", "-o", "y=-"]),
            "# shape: 3\n1 0\n2 20\n3 0\n"
        );
    }
}

#[test]
fn the_real_example_runs_and_the_engines_agree() {
    let place = Place::new();
    let program = examples().join("mttkrp.ti");
    let data = format!("X={}", examples().join("data/words.tns.gz").display());
    let arguments = ["run", program.to_str().unwrap(), "-i", &data, "-i", "B=ones", "-i", "C=ones", "--dim", "r=16"];
    let json = |more: &[&str]| -> Value { place.json(&[&arguments[..], more, &["--json"]].concat()) };
    let native = json(&["--backend", "native"]);
    // Counts are whole numbers, whose sums are exact.
    assert_eq!(native["checksum"], json(&["--backend", "interpreter"])["checksum"]);
    assert!(native["nnz"].as_u64().unwrap() > 10_000);
}

#[test]
fn without_a_compiler_machine_code_is_made() {
    let place = place();
    let json = |backend: &[&str]| -> Value {
        let arguments = [&run(&["--json"])[..], backend].concat();
        let mut command = place.command(&arguments);
        command.env("SPC_RUSTC", "/nowhere/rustc").env("PATH", "/nowhere").env("SPC_CACHE", place.path("none"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let interpreted = json(&["--backend", "interpreter"]);
    for (ran, reason) in [(json(&[]), true), (json(&["--backend", "jit"]), false)] {
        assert_eq!((&ran["backend"], &ran["checksum"]), (&"jit".into(), &interpreted["checksum"]));
        let said = ran["without_compiler"].as_str().unwrap_or_default();
        assert_eq!(said.contains("there is no Rust compiler"), reason, "{said}");
    }

    let output = place
        .command(&run(&["--backend", "native"]))
        .env("SPC_RUSTC", "/nowhere/rustc")
        .env("PATH", "/nowhere")
        .env("SPC_CACHE", place.path("none"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_has(&String::from_utf8(output.stderr).unwrap(), &["no Rust compiler", "--backend interpreter"]);
}

/// The best distances after each step, until nothing changes: from node 1 over the edges 1→2, 2→3, 3→4 and a dear one from 1 to 3.
#[test]
fn ranks_give_what_one_gives() {
    let place = Place::new().with("x.tns", "1 1 1 2\n1 2 3 -1\n2 3 1 4\n3 1 2 3\n3 3 3 1\n4 2 2 5\n");
    let inputs = ["-i", "X=x.tns", "-i", "B=ones", "-i", "C=ones", "--dim", "r=3"];
    let text = "A(i,r) = X(i,j,k) * B(j,r) * C(k,r)";
    let run =
        |more: &[&'static str]| place.prints(&[&["run", text, "-q", "--threads", "1"], &inputs[..], more].concat());
    let result = |text: &str| text.split("\nrun ").next().unwrap().split("\ndistribute ").next().unwrap().to_owned();
    let one = result(&run(&[]));
    assert!(one.contains("sum of all: 42"), "{one}");
    for distribute in ["X", "i", "r", "X:2x1x2", "X:1x4x1", "X:bisection"] {
        let several = run(&["--ranks", "4", "--distribute", distribute]);
        assert_eq!(result(&several), one, "{distribute}");
        assert_has(&several, &[&format!("distribute {distribute} over 4 ranks: ")]);
    }
    // Each reads its part of a file.
    place.prints(&["convert", "x.tns", "x.spct", "-f", "csf"]);
    for ranks in ["1", "4", "9"] {
        let stored =
            ["run", text, "-q", "--threads", "1", "-i", "X=x.spct", "-i", "B=ones", "-i", "C=ones", "--dim", "r=3"];
        let several = place.prints(&[&stored[..], &["--ranks", ranks, "--distribute", "X"]].concat());
        assert_eq!(result(&several), one, "{ranks}");
    }
    let again = place.json(&[&["run", text, "--json", "--ranks", "3", "--repeat", "3"], &inputs[..]].concat());
    let json = place.json(&[&["run", text, "--json", "--ranks", "3"], &inputs[..]].concat());
    assert_eq!((&again["runs"], &json["runs"]), (&3.into(), &1.into()));
    assert_eq!((&again["outputs"], &again["sent_bytes"]), (&json["outputs"], &json["sent_bytes"]));
    assert_eq!(json["outputs"]["A"]["checksum"], 42.0);
    let counted = place.json(&[&["explain", text, "--json", "--ranks", "3"], &inputs[..]].concat());
    // The range of an index, which is best here, needs all entries: what ranks read in parts is shared out otherwise.
    assert_eq!(counted["placements"][0]["distribute"], "i");
    let placements = counted["placements"].as_array().unwrap();
    let ran = placements.iter().find(|counted| counted["distribute"] == json["plan"]["distribute"]).unwrap();
    assert_eq!(ran["bytes"], json["sent_bytes"]);
    // A schedule says it too, and the command line before it.
    let kernel = "fn k(X: csf order 3, B: dense, C: dense) -> A: dense { A(i,r) = X(i,j,k) * B(j,r) * C(k,r); }";
    for (asked, more, expected) in
        [("X: grid(2, 1, 2)", &[][..], "X:2x1x2"), ("i", &[], "i"), ("i", &["--distribute", "X"], "X")]
    {
        let place = Place::new()
            .with("x.tns", &place.read("x.tns"))
            .with("k.ti", &format!("{kernel} schedule {{ distribute({asked}); }}"));
        let json = place.json(&[&["run", "k.ti", "--json", "--ranks", "4"], &inputs[..], more].concat());
        assert_eq!((&json["plan"]["distribute"], &json["outputs"]["A"]["checksum"]), (&expected.into(), &42.0.into()));
        let alone = place.json(&[&["run", "k.ti", "--json"], &inputs[..]].concat());
        assert_eq!(alone["checksum"], 42.0);
    }
    // The same bits on any number of ranks, of values whose sums depend on their order.
    place.prints(&["generate", "uniform", "--shape", "9x8x7", "--nnz", "300", "--seed", "3", "-o", "y.tns"]);
    let digits = |ranks, more: &[&str]| {
        let inputs = ["-i", "X=y.tns", "-i", "B=random", "-i", "C=random", "--dim", "r=2", "-f", "X=csf", "-o", "A=-"];
        place.prints(&[&["run", text, "-q", "--deterministic", "--ranks", ranks], &inputs[..], more].concat())
    };
    for more in [&[][..], &["--distribute", "X:2x1x4"]] {
        let one = digits("1", more);
        assert!(["2", "3", "7"].into_iter().all(|ranks| digits(ranks, more) == one));
    }
    let too_many = ["run", text, "--deterministic", "--ranks", "9", "--distribute", "X:2x1x4"];
    let said = place.fails(&[&too_many[..], &inputs[..]].concat(), 2);
    assert_has(&said, &["computes 8 parts", "each of 9 ranks", "at most 8 ranks"]);
    let refuses =
        |distribute| place.refuses(&[&["run", text, "--ranks", "4", "--distribute", distribute], &inputs[..]].concat());
    assert_has(&refuses("X:2x2"), &["a grid over 2 modes of a tensor that has 3", "1 where it is not cut"]);
    assert_has(&refuses("j"), &["`j` is no index of the result", "`i`, `r`"]);
}

/// Without MPI, processes that were started together would each do the same, and write the same file.
#[test]
#[cfg(not(feature = "mpi"))]
fn processes_that_mpi_has_started_are_refused() {
    let place = Place::new().with("x.tns", "1 1 2\n");
    for (arguments, expected) in [
        (&["run", "y(i) = A(i,j)", "-i", "A=x.tns", "-o", "y=y.tns"][..], "was built without MPI"),
        (&["cp", "x.tns", "--rank", "2"], "was built without MPI"),
        (&["convert", "x.tns", "y.tns"], "which only `spc run`, `spc cp`, `spc tucker` and `spc bench` are for"),
    ] {
        for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"] {
            let output = place.command(arguments).env(name, "4").output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_has(&said, &["4 processes were started together", expected]);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(!place.path("y.tns").exists());
        }
    }
    let refuses = |option| place.fails(&["run", "y(i) = A(i,j)", "-i", "A=x.tns", option, "1"], 2);
    assert_has(&refuses("--distribute"), &["`--distribute` is for ranks", "mpirun -n N"]);
    assert_has(&refuses("--timeout"), &["`--timeout` is for ranks"]);
    let said = place.fails(&["run", "y(i) = A(i,j)", "-i", "A=x.tns", "--overlap", "always"], 2);
    assert_has(&said, &["`--overlap` is for ranks"]);
}

#[test]
fn steps_of_shortest_paths() {
    let file = examples().join("shortest_paths.ti");
    let mut distances = "1 0\n2 inf\n3 inf\n4 inf\n".to_owned();
    let mut steps = Vec::new();
    for _ in 0..4 {
        let edges = "1 1 0\n2 2 0\n3 3 0\n4 4 0\n1 2 3\n2 3 4\n1 3 9\n3 4 1\n";
        let place = Place::new().with("G.tns", edges).with("d.tns", &distances);
        let inputs = ["-i", "G=G.tns", "-i", "d=d.tns", "-o", "e=-", "--backend", "interpreter"];
        distances = place.prints(&[&["run", file.to_str().unwrap(), "--kernel", "step"][..], &inputs].concat());
        steps.push(distances.clone());
    }
    let expected = ["2 3\n3 9\n4 inf\n", "2 3\n3 7\n4 10\n", "2 3\n3 7\n4 8\n", "2 3\n3 7\n4 8\n"];
    assert_eq!(steps, expected.map(|others| format!("# shape: 4\n1 0\n{others}")));
}

#[test]
fn levels_of_a_breadth_first_search() {
    let file = examples().join("shortest_paths.ti");
    let place = Place::new()
        .with("A.tns", "1 2 1\n1 3 1\n2 4 1\n3 1 1\n4 5 1\n")
        .with("frontier.tns", "2 1\n3 1\n5 0\n")
        .with("seen.tns", "1 1\n2 1\n3 1\n5 0\n");
    let inputs = ["-i", "A=A.tns", "-i", "frontier=frontier.tns", "-i", "seen=seen.tns", "-o", "next=-"];
    let kernel = ["run", file.to_str().unwrap(), "--kernel", "reach", "--backend", "interpreter"];
    assert_eq!(
        place.prints(&[&kernel[..], &inputs].concat()),
        "# shape: 5\n# element: bool\n1 0\n2 0\n3 0\n4 1\n5 0\n"
    );
}

#[test]
fn sparse_convolutions() {
    let place = Place::new().with("x.tns", "1 1\n2 2\n4 3\n6 4\n").with("w.tns", "1 1\n2 10\n");
    let file = examples().join("convolution.ti");
    let kernel = |name: &'static str| ["run", file.to_str().unwrap(), "--kernel", name, "--backend", "interpreter"];
    let run = |kernel: [&str; 6], more: &[&str]| place.prints(&[&kernel[..], more].concat());
    let inputs = ["-i", "x=x.tns", "-i", "w=w.tns", "-o", "y=-"];
    assert_eq!(run(kernel("convolve"), &inputs), "# shape: 5\n1 21\n2 2\n3 30\n4 3\n5 40\n");
    assert_eq!(run(kernel("convolve"), &[&inputs[..], &["--dim", "i=2"]].concat()), "# shape: 2\n1 21\n2 2\n");

    let place = Place::new().with("X.tns", "1 1 1\n3 2 2\n").with("W.tns", "1 1 1\n1 2 10\n2 1 100\n");
    let run = |kernel: [&str; 6], more: &[&str]| place.prints(&[&kernel[..], more].concat());
    let inputs = ["-i", "X=X.tns", "-i", "W=W.tns", "-o", "Y=-"];
    let spread =
        "# shape: 4 3\n1 1 1\n1 2 10\n1 3 0\n2 1 100\n2 2 0\n2 3 0\n3 1 0\n3 2 2\n3 3 20\n4 1 0\n4 2 200\n4 3 0\n";
    assert_eq!(run(kernel("spread"), &inputs), spread);
    assert_eq!(run(kernel("second_differences"), &["-i", "X=X.tns", "-o", "Y=-"]), "# shape: 1 2\n1 1 1\n1 2 2\n");
    let images = Place::new().with("X.tns", "1 1 1 1\n1 3 3 2\n2 5 5 3\n");
    let json = images.json(
        &[
            &kernel("convolve_images")[..],
            &["-i", "X=X.tns", "-i", "W=ones", "--json"],
            &["--dim", "o=2"],
            &["--dim", "k=3"],
            &["--dim", "l=3"],
        ]
        .concat(),
    );
    assert_eq!(json["outputs"]["Y"]["shape"], serde_json::json!([2, 2, 2]));
    // Each of the two filters adds up what is below it: 1 + 2, 2, 2, and 2 + 3.
    assert_eq!(json["checksum"], 2.0 * 12.0);
}

#[test]
fn computed_indices_say_what_they_need() {
    let place = Place::new().with("x.tns", "1 1\n5 2\n").with("w.tns", "1 1\n2 10\n");
    let convolve = ["run", "y(i) = x(i + k) * w(k)", "--backend", "interpreter", "-i", "w=w.tns"];
    let shape = |more: &[&str]| place.json(&[&convolve[..], more, &["--json"]].concat());
    assert_eq!(shape(&["-i", "x=x.tns"])["outputs"]["y"]["shape"], serde_json::json!([4]));
    // A random operand is as long as the index needs, and the file's entries are a lower bound.
    assert_eq!(shape(&["-i", "x=random", "--dim", "i=9"])["inputs"]["x"]["shape"], serde_json::json!([10]));
    assert_eq!(shape(&["-i", "x=x.tns", "--dim", "i=9"])["inputs"]["x"]["shape"], serde_json::json!([10]));
    assert_eq!(shape(&["-i", "x=random", "--dim", "x1_size=6"])["outputs"]["y"]["shape"], serde_json::json!([5]));
    let refuses = |more: &[&str]| place.refuses(&[&convolve[..], more].concat());
    let message = refuses(&["-i", "x=random", "--dim", "i=6", "--dim", "x1_size=6"]);
    assert_has(&message, &["the index `i + k` reaches 6, but its mode has 6 coordinates"]);
    assert_has(&refuses(&["-i", "x=random", "--dim", "x_size=6"]), &["no index `x_size`", "`x1_size`"]);
    let message = place.refuses(&["run", "y(i) = x(3 - i)", "-i", "x=x.tns", "--dim", "i=5"]);
    assert_has(&message, &["the index `3 - i` reaches -1, but coordinates begin at 0"]);
}

#[test]
fn a_whole_number_divided_by_zero_is_an_error() {
    let place = Place::new().with("a.tns", "1 5\n2 7\n3 -2147483648\n").with("b.tns", "1 2\n2 0\n3 -1\n");
    for backend in ["interpreter", "native"] {
        let run = |expression: &'static str| {
            let types = ["-f", "a=i32 dense", "-f", "b=i32 dense", "-f", "y=i32 dense"];
            let files = ["-i", "a=a.tns", "-i", "b=b.tns", "-o", "y=-", "--backend", backend];
            [&["run", expression][..], &types, &files].concat()
        };
        for expression in ["y(i) = a(i) / b(i)", "y(i) = a(i) % b(i)"] {
            let refusal = place.refuses(&run(expression));
            assert_has(&refusal, &["divides a whole number by zero", expression]);
            assert!(!refusal.contains("fault of spc"), "{refusal}");
        }
        let chosen = place.prints(&run("y(i) = select(b(i) == 0, 0, a(i) / b(i))"));
        assert_eq!(chosen, "# shape: 3\n# element: i32\n1 2\n2 0\n3 -2147483648\n");
    }
}

#[test]
fn results_whose_coordinates_take_more_than_64_bits_are_refused() {
    let place = Place::new().with("x.tns", "5000000000 1.5\n2 1\n");
    for backend in ["interpreter", "native"] {
        let wide = ["-f", "x=[compressed(u64)]", "-f", "z=[compressed(u64)]", "-i", "x=x.tns", "-i", "z=x.tns"];
        let outer = ["run", "y(i, j) = x(i) * z(j)", "-f", "y=lco", "--backend", backend];
        let refusal = place.refuses(&[&outer[..], &wide].concat());
        assert_has(&refusal, &["`y`", "takes more than 64 bits in this shape (`i` has 33, `j` has 33)"]);
    }
}

/// Two million times a tenth.
#[test]
fn long_sums_lose_nothing() {
    let place = Place::new().with("sums.ti", "fn sums(x: f32 dense, c: f32) -> s: f32 { s = sum(i)(x(i) - c); }");
    let run = ["run", "sums.ti", "-i", "x=ones", "-i", "c=0.9", "--dim", "i=2000000", "--json", "--threads"];
    for threads in ["1", "3"] {
        let sum = place.json(&[&run[..], &[threads]].concat())["checksum"].as_f64().unwrap();
        let right = 2e6 * f64::from(1.0 - 0.9_f32);
        assert!((sum / right - 1.0).abs() < 1e-6, "{sum} instead of {right}");
    }
    let explained = place.prints(&["explain", "sums.ti"]);
    assert_has(&explained, &["long sums are formed in f64", "a sum of f32 loses terms"]);
}

#[test]
fn deterministic_runs_give_the_same_bits_on_any_number_of_threads() {
    let place = Place::new()
        .with("scheduled.ti", "fn f(x: dense, z: dense) -> s: f64 { s = x(i) * z(i); }\nschedule { deterministic(); }");
    let run = ["run", "scheduled.ti", "-i", "x=random", "-i", "z=random", "--dim", "i=300000", "--json", "--threads"];
    let bits = |threads: &str, more: &[&str]| {
        let json = place.json(&[&run[..], &[threads], more].concat());
        json["checksum"].as_f64().unwrap().to_bits()
    };
    let expression = |threads: &str| {
        let run = ["run", "s = x(i) * z(i)", "--deterministic", "--json", "--threads", threads];
        let json = place.json(&[&run[..], &["-i", "x=random", "-i", "z=random", "--dim", "i=300000"]].concat());
        json["checksum"].as_f64().unwrap().to_bits()
    };
    let first = bits("1", &[]);
    for threads in ["1", "2", "3", "5"] {
        assert_eq!(bits(threads, &[]), first, "{threads} threads");
        assert_eq!(expression(threads), first, "{threads} threads");
    }
    let explained = place.prints(&["explain", "s = x(i) * z(i)", "--deterministic"]);
    assert_has(&explained, &["results have the same bits on any number of threads"]);
    assert_has(&place.prints(&["compile", "scheduled.ti"]), &["parallel::Fixed::writing().even(0, i_extent)"]);
}

/// A call is the sum of its parts, and each preparation is a part of its own.
#[test]
fn copies_and_conversions_are_booked_apart_from_packing() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "60x50", "--nnz", "500", "-o", "A.tns"]);
    place.prints(&["convert", "A.tns", "A.spct", "--format", "csc"]);
    let backend = ["--backend", "interpreter", "--json", "--repeat", "3"];
    let run = |arguments: &[&'static str]| place.json(&[arguments, &backend].concat());
    let sum = |json: &serde_json::Value| {
        let parts = ["median_ms", "copy_ms", "copy_in_ms", "copy_out_ms", "allocate_ms", "deliver_ms", "check_ms"];
        parts.iter().map(|part| json[part].as_f64().unwrap()).sum::<f64>()
    };
    let is_sum = |json: &serde_json::Value| (sum(json) - json["call_ms"].as_f64().unwrap()).abs() < 1e-6;
    let product = ["run", "y(i) = A(i, j) * x(j)", "-i", "x=ones"];

    // Entries are packed; nothing is copied.
    let plain = run(&[&product[..], &["-f", "A=csr", "-i", "A=A.tns"]].concat());
    assert!(is_sum(&plain), "{plain}");
    assert_eq!((&plain["prepared"][0]["tensor"], &plain["prepared"][0]["way"]), (&"A".into(), &"packed".into()));
    assert_eq!((plain["copies"].as_array().unwrap().len(), plain["convert_ms"].as_f64()), (0, Some(0.0)));
    assert!(plain["pack_ms"].as_f64() > Some(0.0) && plain["generate_ms"].as_f64() > Some(0.0), "{plain}");

    // A tensor in another format is converted, once.
    let converted = run(&[&product[..], &["-f", "A=csr", "-i", "A=A.spct"]].concat());
    assert_eq!(converted["prepared"][0]["way"], "converted");
    assert!(converted["convert_ms"].as_f64() > Some(0.0) && converted["pack_ms"] == 0.0, "{converted}");

    // Loops that can't read an operand read a copy, in each call.
    let copied = run(&[&product[..], &["-f", "A=[dense, run]", "-i", "A=A.tns"]].concat());
    assert!(is_sum(&copied), "{copied}");
    assert_eq!(copied["copies"][0]["tensor"], "A");
    assert!(copied["copy_ms"].as_f64() > Some(0.0), "{copied}");

    // What loops can't write is converted behind them.
    let transposed = ["run", "B(j, i) = A(i, j)", "-f", "A=csr", "-f", "B=alto", "-i", "A=A.tns"];
    let delivered = run(&transposed);
    assert!(is_sum(&delivered), "{delivered}");
    assert_eq!(delivered["deliveries"][0]["tensor"], "B");
    assert!(delivered["deliver_ms"].as_f64() > Some(0.0), "{delivered}");
    let text = place.prints(&[&transposed[..], &backend[..2]].concat());
    assert!(
        text.lines().any(|line| line.starts_with("call ") && line.contains("convert results") && line.contains("B as")),
        "{text}"
    );
}

/// Newton's method, power iteration with what is the same in each step, and rules that do not hold.
#[test]
fn results_become_inputs_until_a_rule_holds() {
    let place = Place::new().with("a.tns", "1 1 2\n1 2 1\n2 1 1\n2 2 3\n").with(
        "power.ti",
        "fn power(A: csr, x: dense) -> (y: dense, change: f64) {
            let d(j) = A(i, j);
            let z(i) = A(i, j) * x(j) / d(j);
            y(i) = z(i) / sum(k)(abs(z(k)));
            change = sum(i)(abs(y(i) - x(i)));
        }",
    );
    let power = [
        "run",
        "power.ti",
        "-i",
        "A=a.tns",
        "-i",
        "x=ones",
        "--dim",
        "i=2",
        "--feed",
        "x=y",
        "--until",
        "change < 1e-12",
    ];
    let found = place.json(&[&power[..], &["--iterate", "100", "--json", "-o", "y=y.tns"]].concat());
    let iterated = &found["iterated"];
    assert_eq!(iterated["is_met"], true);
    let steps = iterated["steps"].as_u64().unwrap();
    assert!((10..60).contains(&steps), "{steps}");
    assert_eq!(iterated["history"].as_array().unwrap().len() as u64, steps);
    // The columns are divided by 3 and 4: (2/3 1/4; 1/3 3/4) keeps (3/7, 4/7).
    let values: Vec<f64> =
        place.read("y.tns").lines().skip(1).map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect();
    assert!((values[0] - 3.0 / 7.0).abs() < 1e-11 && (values[1] - 4.0 / 7.0).abs() < 1e-11, "{values:?}");

    let output = place.spc(&[&power[..], &["--iterate", "2"]].concat());
    assert!(output.status.success());
    assert_has(&String::from_utf8_lossy(&output.stderr), &["`change < 1e-12` did not hold", "`--iterate` allows more"]);
    assert_has(&String::from_utf8_lossy(&output.stdout), &["2 steps in ", "the rule sees 0."]);
    let refuse = |more: &[&str], parts: &[&str]| {
        let all = [&["run", "power.ti", "-i", "A=a.tns", "-i", "x=ones", "--dim", "i=2"], more].concat();
        let message = match place.spc(&all).status.code() {
            Some(2) => place.fails(&all, 2),
            _ => place.refuses(&all),
        };
        assert_has(&message, parts);
    };
    refuse(&["--iterate", "3", "--feed", "x=w"], &["there is no result `w`"]);
    refuse(&["--iterate", "3", "--feed", "A=y"], &["declare both alike"]);
    refuse(&["--iterate", "3", "--until", "change"], &["is no rule"]);
    refuse(&["--feed", "x=y"], &["--iterate"]);
    refuse(&["--iterate", "3", "--ranks", "2"], &["`--iterate` is not for ranks"]);
}

/// A kernel that says itself how it is repeated.
#[test]
fn a_repeat_is_run_and_told() {
    let newton = |most: usize| {
        format!(
            "fn newton(start: f64) -> (x: f64, n: i64) {{ x = start;
                 repeat n until abs(x' - x) < 1e-9 or {most} {{ x' = (x + 2 / x) / 2; }} }}"
        )
    };
    let place = Place::new()
        .with("newton.ti", &newton(50))
        .with("short.ti", &newton(2))
        .with("scatter.ti", "fn scatter(A: csr, x: dense) -> y: dense { repeat 3 { y(i) = A(i, j) * x(j); x' = y; } }");
    let place = place.with("a.tns", "1 1 2\n1 2 1\n2 1 1\n2 2 3\n");
    let found = place.json(&["run", "newton.ti", "-i", "start=1", "--json"]);
    assert_eq!((&found["iterated"]["steps"], &found["iterated"]["is_met"]), (&5.into(), &true.into()));
    assert_eq!(found["outputs"]["n"]["checksum"], 5.0);
    let output = place.spc(&["run", "short.ti", "-i", "start=1"]);
    assert_has(&String::from_utf8_lossy(&output.stderr), &["did not hold", "a greater number behind `or` allows more"]);
    assert_has(&String::from_utf8_lossy(&output.stdout), &["n = 2"]);
    // (2 1; 1 3) three times is (15 20; 20 35).
    let sum = place.json(&["run", "scatter.ti", "-i", "A=a.tns", "-i", "x=ones", "--json"]);
    assert_eq!(sum["checksum"], 90.0);
    let run = ["run", "scatter.ti", "-i", "A=a.tns", "-i", "x=ones"];
    let refuse = |more: &[&str], part: &str| assert_has(&place.refuses(&[&run[..], more].concat()), &[part]);
    refuse(&["--iterate", "3", "--feed", "x=y"], "the kernel says itself how it is repeated");
    refuse(&["--ranks", "2"], "a kernel with a `repeat` is not distributed");
    refuse(&["--stream", "A=2"], "each round needs all parts");
    assert_has(&place.refuses(&["grad", "scatter.ti", "--by", "x"]), &["E0133", "a gradient goes through one round"]);
}
