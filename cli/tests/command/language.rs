//! What the language says of names, of what results begin as, and of what is probably not meant.

use super::{Place, assert_has};

/// Vectors of five and of three elements that state their length.
fn vectors() -> Place {
    let place = Place::new().with("x.tns", "1 1\n2 2\n3 3\n4 4\n5 5\n").with("z.tns", "1 10\n2 20\n3 30\n");
    place.prints(&["convert", "x.tns", "x.npy"]);
    place.prints(&["convert", "z.tns", "z.npy"]);
    place
}

/// The results of an expression on `x` and `z`, as a file has them.
fn result(place: &Place, expression: &str, more: &[&str]) -> String {
    let mut arguments = vec!["run", expression, "--backend", "interpreter", "-i", "x=x.npy", "-o", "y=-"];
    arguments.extend(more);
    place.prints(&arguments)
}

#[test]
fn a_name_has_one_extent_in_all_terms() {
    let place = vectors();
    let inputs = ["--backend", "interpreter", "-i", "x=x.npy", "-i", "z=z.npy"];
    for expression in ["y = x(i) + z(i)", "y = sum(i)(x(i)) - max(i)(z(i))"] {
        let error = place.refuses(&[&["run", expression][..], &inputs].concat());
        let expected = "index `i` has extent 5 by mode 1 of `x`, but 3 by mode 1 of `z`";
        assert!(error.contains(expected), "{expression}: {error}");
        assert!(!error.contains("i_1"), "{error}");
    }
    let beyond = place.refuses(&[&["run", "y = z(i) + x(i + 3)"][..], &inputs].concat());
    assert!(beyond.contains("`i + 3` reaches 5"), "{beyond}");
}

#[test]
fn a_stated_extent_is_that_of_all_terms() {
    let place = Place::new();
    let ones = ["--backend", "interpreter", "-i", "x=ones", "-i", "z=ones", "--dim", "i=3", "-o", "y=-"];
    assert_eq!(place.prints(&[&["run", "y = x(i) + z(i)"][..], &ones].concat()).trim(), "6");
    assert_eq!(place.prints(&[&["run", "y = sum(i)(x(i)) + max(i)(z(i))"][..], &ones].concat()).trim(), "4");
    let text = place.prints(&["compile", "y = x(i) + z(i)", "--dim", "i=3", "--emit", "ir"]);
    assert_eq!(text.matches("dimension d").count(), 1, "{text}");
    let error = place.refuses(&["run", "y = x(i) + z(i)", "-i", "x=ones", "-i", "z=ones", "--dim", "i_1=3"]);
    assert!(error.contains("no index `i_1`") && !error.contains("indices are `i`, `i_1`"), "{error}");
}

#[test]
fn a_result_begins_as_its_fill() {
    let place = vectors();
    let two = ["--dim", "k=2"];
    for (expression, expected) in [
        ("y(k + 1) = min(j)(x(j))", [0.0, 1.0, 1.0]),
        ("y(k + 1) = 1 * min(j)(x(j))", [0.0, 1.0, 1.0]),
        ("y(k + 1) = prod(j)(x(j))", [0.0, 120.0, 120.0]),
        ("y(k + 1) = max(j)(x(j))", [0.0, 5.0, 5.0]),
    ] {
        let text = result(&place, expression, &two);
        let found: Vec<f64> = (1..=3)
            .map(|row| {
                let line = text.lines().find_map(|line| line.strip_prefix(&format!("{row} ")));
                line.map_or(0.0, |value| value.trim().parse().unwrap())
            })
            .collect();
        assert_eq!(found, expected, "{expression}: {text}");
    }
    let least = place.json(&["run", "y(k + 1) min= x(k)", "--backend", "interpreter", "-i", "x=x.npy", "--json"]);
    assert_eq!(least["outputs"]["y"]["shape"][0], 6);
}

#[test]
fn mistakes_are_warnings_and_errors_where_asked() {
    let place = Place::new();
    let expression = "y(i) = A(i, jj) * x(j)";
    let output = place.spc(&["compile", expression, "--check"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && text.contains("warning[W0101]") && text.contains("did you mean `j`?"), "{text}");
    for verb in ["compile", "explain"] {
        let error = place.refuses(&[verb, expression, "--strict"]);
        assert!(error.contains("error[W0101]"), "{verb}: {error}");
    }
    let run = ["run", expression, "--backend", "interpreter", "-i", "A=ones", "-i", "x=ones", "--dim", "i=2"];
    let run = [&run[..], &["--dim", "jj=2", "--dim", "j=3"]].concat();
    let found = place.json(&[&run[..], &["--json"]].concat());
    assert_eq!(found["warnings"][0]["code"], "W0101");
    assert_eq!((&found["warnings"][0]["line"], &found["warnings"][0]["column"]), (&1.into(), &13.into()));
    assert!(place.refuses(&[&run[..], &["--strict"]].concat()).contains("error[W0101]"));
    let meant = place.spc(&["compile", "y(i) = sum(jj)(A(i, jj)) * sum(j)(x(j))", "--check", "--strict"]);
    assert!(meant.status.success() && meant.stderr.is_empty());
    assert!(place.prints(&["explain", "W0102"]).contains("no operand has"));
}

#[test]
fn names_are_compared_as_rust_compares_them() {
    let place = vectors();
    let composed = result(&place, "y(i) = e\u{301}(i) * x(i)", &["-i", "\u{e9}=x.npy"]);
    assert_eq!(composed.lines().rfind(|line| !line.starts_with('#')).unwrap().trim(), "5 25");
}

#[test]
fn kernels_may_be_called_as_keywords() {
    for name in ["match", "self", "crate", "async", "Some"] {
        let text = format!("fn {name}(x: dense) -> y: dense {{ y(i) = 2 * x(i); }}");
        let place = Place::new().with("k.ti", &text);
        let function = match name {
            "self" | "crate" => format!("fn {name}_("),
            "Some" => format!("fn {name}("),
            keyword => format!("fn r#{keyword}("),
        };
        assert_has(&place.prints(&["compile", "k.ti"]), &[&function]);
        assert!(place.prints(&["compile", "k.ti", "--target", "cuda"]).contains("__global__"));
    }
    let place = Place::new().with("k.ti", "fn _(x: dense) -> y: dense { y(i) = 2 * x(i); }");
    assert!(place.refuses(&["compile", "k.ti"]).contains("`_` is no name"));
}

#[test]
fn large_texts_are_answered_soon() {
    let place = Place::new();
    let nested = format!("y(i) = {}x(i){}", "(".repeat(20_000), ")".repeat(20_000));
    assert!(place.refuses(&["compile", &nested, "--check"]).contains("E0008"));
    let terms = format!("y(i) = {}", vec!["x(i)"; 10_000].join(" + "));
    assert!(place.refuses(&["compile", &terms, "--check"]).contains("E0008"));
    let names: Vec<String> = (0..600).map(|place| format!("i{place}")).collect();
    let many = format!("y = X({})", names.join(", "));
    assert!(place.refuses(&["compile", &many, "--check"]).contains("at most 512 index variables"));
    let place = place.with("comments.ti", &("/*".repeat(50_000) + &"*/".repeat(50_000)));
    assert_has(
        &place.refuses(&["compile", "comments.ti", "--check"]),
        &["E0008", "comments are nested more than 64 deep"],
    );
    let lets: String = (1..1000).map(|n| format!("    let t{n}(i) = t{}(i) + 1;\n", n - 1)).collect();
    let text = format!("fn f(x: dense) -> y: dense {{\n    let t0(i) = x(i);\n{lets}    y(i) = t999(i);\n}}\n");
    let place = place.with("k.ti", &text);
    assert!(place.spc(&["compile", "k.ti", "--check"]).status.code().is_some());
}

const KERNEL: &str = "fn f(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";

/// A program may stand on the command line, and a file may hold an assignment alone, for every verb that takes a program.
#[test]
fn programs_are_written_on_the_command_line_and_assignments_in_files() {
    let place = Place::new()
        .with("A.tns", "# shape: 2 2\n1 2 3\n2 1 4\n")
        .with("bare.ti", "// A product.\ny(i) = A(i, j) * x(j)\n")
        .with("mine.ti", "format mine = [dense, compressed];\n");
    let inputs = ["-i", "A=A.tns", "-i", "x=ones", "--backend", "interpreter", "-o", "y=-"];
    let run =
        |program: &'static str, more: &[&'static str]| place.prints(&[&["run", program][..], more, &inputs].concat());
    let expected = run("y(i) = A(i, j) * x(j)", &["-f", "A=csr"]);
    assert_eq!(run(KERNEL, &[]), expected);
    assert_eq!(run("bare.ti", &["-f", "A=csr"]), expected);
    assert_eq!(run("bare.ti", &["-f", "A=mine", "--formats", "mine.ti"]), expected);
    assert_eq!(
        run("fn f(A: mine, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", &["--formats", "mine.ti"]),
        expected
    );
    for verb in ["compile", "explain"] {
        assert_has(&place.prints(&[verb, KERNEL]), &["y(i)"]);
        assert_has(&place.prints(&[verb, "bare.ti", "-f", "A=csr"]), &["y(i)"]);
    }
    let bench = ["bench", "--quick", "--machine", "least", "--budget", "0.01", "-i", "A=A.tns", "-i", "x=ones"];
    assert_has(&place.prints(&[&bench[..], &["--expression", KERNEL]].concat()), &["call"]);
    assert_has(&place.prints(&[&bench[..], &["--expression", "bare.ti", "-f", "A=csr"]].concat()), &["call"]);
    assert_has(&place.refuses(&["compile", KERNEL, "-f", "A=csr"]), &["a program declares its formats", "`A: FORMAT`"]);
    let twice = "format mine = [dense, dense]; fn f(A: mine) -> y: dense { y(i) = A(i, j); }";
    assert_has(&place.refuses(&["compile", twice, "--formats", "mine.ti"]), &["both define `mine`"]);
    assert_has(&place.refuses(&["compile", "fm f(A: csr) -> y: dense { y(i) = A(i, j); }"]), &["`fn`"]);
}

#[test]
fn notations_of_neighbours_are_answered_with_the_line_to_write() {
    let place = Place::new();
    for (text, line) in [
        ("y[i] = A[i,j] * x[j]", "write `y(i) = A(i, j) * x(j)`"),
        ("B(i,j) = A(i,j)**2", "write `B(i, j) = pow(A(i, j), 2)`"),
        ("'ij,j->i'", "write `R(i) = A(i, j) * B(j)`"),
        ("y = np.einsum('ij,j->i', A, x)", "write `y(i) = A(i, j) * x(j)`"),
        ("C = A @ B", "write `C(i, j) = A(i, k) * B(k, j)`"),
        ("y(i) = A:csr(i,j) * x(j)", "on the command line it is `-f A=csr`"),
        ("y(i) = sum_j(A(i,j) * x(j))", "write `y(i) = sum(j)(A(i, j) * x(j))`"),
    ] {
        assert_has(&place.refuses(&["compile", text]), &[line]);
    }
    let taco = place.fails(&["compile", "y(i) = A(i,j) * x(j)", "-f=A:ds:1,0"], 2);
    assert_has(&taco, &["taco's `A:ds:1,0` is `A=csc`"]);
}

#[test]
fn einsum_strings_are_expressions() {
    let place =
        Place::new().with("A.tns", "# shape: 2 3\n1 2 3\n2 1 4\n").with("X.tns", "# shape: 2 2 3\n1 2 3 5\n2 1 1 7\n");
    assert_has(&place.prints(&["compile", "ij,j->i", "-f", "A=csr", "--emit", "syntax"]), &["R(i) = A(i, j) * B(j)"]);
    assert_has(
        &place.prints(&["compile", "ij,jk", "-f", "A=csr", "--emit", "notation"]),
        &["sum(j)(A(i, j) * B(j, k))"],
    );
    assert_has(&place.prints(&["explain", "fn,nk->fk", "-f", "A=csr"]), &["A(f, n)"]);
    let run = ["--backend", "interpreter", "-o", "R=-"];
    let run = |text: &[&str]| place.prints(&[&["run"], text, &run[..]].concat());
    assert_has(&run(&["ij,j->i", "-i", "B=ones", "-i", "A=A.tns"]), &["1 3", "2 4"]);
    // Operands are called as the inputs are; an ellipsis is as long as the file says.
    assert_has(&run(&["ij,j->i", "-i", "M=A.tns", "-i", "v=ones"]), &["1 3", "2 4"]);
    assert_has(&run(&["...j,j->...", "-i", "X=X.tns", "-i", "v=ones"]), &["1 2 5", "2 1 7"]);
    assert_has(&run(&["R(i...) = X(i...) * 2", "-i", "X=X.tns"]), &["1 2 3 10", "2 1 1 14"]);
    assert_has(&place.refuses(&["compile", "ij,j->k"]), &["E0015", "no operand has the index `k`", "ij,j->k"]);
    assert_has(&place.refuses(&["compile", "Y(i...) = X(i...)", "-f", "X=csf"]), &["E0116", "order 3", "-i X=x.tns"]);
}

#[test]
fn a_sparse_result_that_is_full_is_stored_whole_and_said() {
    let place = Place::new().with("A.tns", "# shape: 2 3\n1 2 3\n").with("d.tns", "# shape: 2 3\n1 1 5\n2 3 -1\n");
    let run = [
        "run",
        "B(i, j) = A(i, j) + D(i, j)",
        "-f",
        "A=csr",
        "-f",
        "B=csr",
        "-f",
        "D=dense",
        "-i",
        "A=A.tns",
        "-i",
        "D=d.tns",
    ];
    let run = [&run[..], &["--backend", "interpreter"]].concat();
    let output = place.spc(&run);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_has(&said, &["W0104", "the sparse result `B` stores every element", "where A(i, j)"]);
    assert_has(&String::from_utf8(output.stdout).unwrap(), &["csr, 6 stored", "B(0, 1)  = 3"]);
    let json = place.json(&[&run[..], &["--json"]].concat());
    assert_eq!(json["warnings"][0]["code"], "W0104");
    assert_eq!(json["outputs"]["B"]["nnz"], 6);
    assert_has(&place.refuses(&[&run[..], &["--strict"]].concat()), &["error[W0104]"]);
    // More than any memory holds is refused before it is begun.
    let place = place.with("long.tns", "# shape: 2000000000 2000000000\n1 2 3\n");
    let long = ["run", "B(i, j) = A(i, j) + 1", "-f", "A=dcsr", "-f", "B=dcsr", "-i", "A=long.tns"];
    assert_has(&place.refuses(&long), &["`B`", "memory", "4000000000000000000 elements"]);
}

/// A format that interleaves more bits than a number has takes as many numbers as it needs, for inputs, results and files.
#[test]
fn interleaved_numbers_may_have_more_than_64_bits() {
    let entries =
        "# shape: 1000000000000 3000000000 5000000\n1 2 3 4\n1000000000000 3000000000 5000000 0.5\n7 2999999999 1 -2\n";
    let place = Place::new().with("X.tns", entries);
    let run = ["run", "Y(i, j, k) = 2 * X(i, j, k)", "-f", "X=alto", "-f", "Y=alto", "-i", "X=X.tns", "--json"];
    let json = place.json(&[&run[..], &["--backend", "interpreter"]].concat());
    assert_eq!((json["outputs"]["Y"]["nnz"].as_u64(), json["outputs"]["Y"]["checksum"].as_f64()), (Some(3), Some(5.0)));
    place.prints(&["convert", "X.tns", "X.spct", "--format", "alto"]);
    place.prints(&["convert", "X.spct", "back.tns"]);
    let sorted = |name: &str| {
        let text = std::fs::read_to_string(place.path(name)).unwrap();
        let mut lines: Vec<String> = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("back.tns"), sorted("X.tns"));
}

/// A symmetric tensor is stored once, reads as a whole one, and goes through files; what is not symmetric is named.
#[test]
fn symmetric_tensors_store_what_ascends() {
    let matrix = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n3 1 4\n3 2 -1\n";
    let place = Place::new().with("A.mtx", matrix).with("B.tns", "# shape: 2 2\n1 2 3\n2 1 4\n");
    place.prints(&["convert", "A.mtx", "A.spct", "--format", "csr symmetric(i, j)"]);
    assert_has(&place.prints(&["info", "A.spct"]), &["symmetric(i, j)", "5 entries"]);
    let run = ["run", "y(i) = A(i, j) * x(j)", "-i", "A=A.spct", "-i", "x=ones", "--backend", "interpreter"];
    let json = place.json(&[&run[..], &["--json"]].concat());
    assert_eq!((json["inputs"]["A"]["nnz"].as_u64(), json["outputs"]["y"]["checksum"].as_f64()), (Some(3), Some(8.0)));
    place.prints(&["convert", "A.spct", "back.mtx"]);
    assert_has(&place.read("back.mtx"), &["3 3 5"]);
    let square =
        ["run", "C(i, j) = A(i, k) * A(j, k)", "-i", "A=A.mtx", "-f", "C=csr symmetric", "--backend", "interpreter"];
    assert_has(&place.prints(&square), &["symmetric(i, j), 5 stored", "C(0, 0)  = 20"]);
    let said = place.refuses(&["convert", "B.tns", "B.spct", "--format", "csr symmetric"]);
    assert_has(&said, &["not symmetric(i, j)", "at (2, 1) it is 4, and at (1, 2) it is 3"]);
    let said = place.refuses(&["compile", "C(i, j) = A(i, j)", "-f", "A=csr", "-f", "C=csr symmetric"]);
    assert_has(&said, &["E0211", "may be something else"]);
    let said = place.refuses(&["compile", "y(i) = A(i, j)", "-f", "A=csr symmetric(i, k)"]);
    assert_has(&said, &["E0211", "no mode `k`", "`i` and `j`"]);
    let said = place.refuses(&["compile", "y(i) = A(i, j)", "-f", "A=dense symmetric"]);
    assert_has(&said, &["E0211", "stores every place"]);
}

/// A chain of sparse matrices: what is searched is bounded, and what is searched by half is said.
#[test]
fn chains_of_factors_compile_soon() {
    let chain = |count: usize| {
        let parameters: Vec<String> = (0..count).map(|place| format!("A{place}: csr")).collect();
        let factors: Vec<String> = (0..count).map(|place| format!("A{place}(i{place}, i{})", place + 1)).collect();
        let (parameters, value) = (parameters.join(", "), factors.join(" * "));
        format!("fn k({parameters}) -> y: dense {{ y(i0, i{count}) = {value}; }}")
    };
    let place = Place::new().with("many.ti", &chain(40)).with("written.ti", &chain(14)).with("more.ti", &chain(70));
    let start = std::time::Instant::now();
    let text = place.prints(&["explain", "many.ti"]);
    assert_has(&text, &["combined pair by pair, the best pair first"]);
    for arguments in [&["written.ti", "--plan", "as_written"][..], &["more.ti"]] {
        place.prints(&[&["compile", "--check"], arguments].concat());
    }
    // Ten seconds for each where compilers are optimized.
    assert!(start.elapsed().as_secs() < if cfg!(debug_assertions) { 600 } else { 30 }, "{:?}", start.elapsed());
}
