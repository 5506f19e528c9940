use super::{Place, assert_has, examples};

#[test]
fn decisions_have_reasons() {
    let file = examples().join("mttkrp.ti");
    let text = Place::new().prints(&["explain", file.to_str().unwrap()]);
    assert_has(
        &text,
        &[
            "MTTKRP of a third-order tensor",
            "A(i, r) = sum(j, k)(X(i, j, k) * B(j, r) * C(k, r))",
            "parallel for all i",
            "* sum over k first, then multiply by B(j, r)\n      ",
        ],
    );
    let text = Place::new().prints(&["explain", "y(i) = A(i, j) * x(j)", "-f", "A=csc"]);
    assert_has(&text, &["for all"]);
    let text = Place::new().prints(&["explain", "y(i) = A(i, j) * x(j)", "-f", "A=csr"]);
    assert_has(&text, &["* sums of A * x over entries of A are taken in vector lanes\n      "]);
    let sddmm = ["explain", "Y(i, j) = A(i, j) * B(i, r) * C(j, r)", "-f", "A=csr", "-f", "Y=csr"];
    assert_has(&Place::new().prints(&sddmm), &["* sums of B * C over dense rows are taken in vector lanes\n      "]);
}

#[test]
fn codes_are_expanded() {
    let place = Place::new();
    let text = place.prints(&["explain", "E0102"]);
    assert_has(&text, &["E0102: ", "Wrong:", "Correct:"]);
    assert_eq!(place.prints(&["explain", "e0102"]), text);
    assert_has(
        &place.prints(&["explain"]),
        &["E0102  ", "W0104  ", "spc explain CODE", "csr", "split", "fiber", "where"],
    );
    assert_has(
        &place.prints(&["explain", "E0307"]),
        &["E0307 is reported no more", "W0104: a sparse result that is full"],
    );
    assert_has(&place.refuses(&["explain", "E9999"]), &["no error code E9999", "lists all codes"]);
    assert_has(&place.refuses(&["explain", "E12"]), &["four digits"]);
}

#[test]
fn words_are_explained() {
    let place = Place::new();
    for (word, parts) in [
        ("csr", &["csr: a format", "format csr = (i, j) -> [i: dense, j: compressed];", "spc formats csr"][..]),
        ("compressed", &["compressed: a level format", "pos           0        2", "nonunique"]),
        ("split", &["split: a directive", "blocks of 32", "split(k, k0, k1, 32);"]),
        ("fill", &["fill: a word of the language", "csr fill inf"]),
        ("fibers", &["fiber: a term", "all modes but one"]),
        ("+=", &["An assignment that reduces values into an element"]),
        ("sum", &["sum: a reduction"]),
        ("f32", &["f32: an element type"]),
        ("diagonal", &["diagonal: a format", "diagonal: a level format"]),
        ("W0104", &["a sparse result that is full", "Wrong:"]),
    ] {
        assert_has(&place.prints(&["explain", word]), parts);
    }
    assert_has(&place.refuses(&["explain", "spilt"]), &["no word, file or code `spilt`", "did you mean `split`?"]);
    assert_has(&place.refuses(&["explain", "zzzzzz"]), &["`spc explain` lists all words and codes"]);
    assert_has(&place.refuses(&["explain", "no.ti"]), &["no.ti"]);
    assert_has(&place.prints(&["explain", "ij,j->i"]), &["R(i)"]);
}

/// Every format that has a name is drawn, from the arrays of an example that is packed for it.
#[test]
fn formats_are_listed_and_drawn() {
    let place = Place::new();
    let list = place.prints(&["formats"]);
    assert_has(&list, &["bcsr(B)", "structured(N, M)", "hashed", "spc formats FORMAT"]);
    let names = list.lines().skip(1).map_while(|line| line.split(['(', ' ']).next().filter(|name| !name.is_empty()));
    let mut count = 0;
    for name in names {
        assert_has(&place.prints(&["formats", name]), &["An example", "level 1: ", "values", "together "]);
        count += 1;
    }
    assert!(count > 25, "{list}");
    let csr = "\
level 2: j, compressed (the coordinates that occur under each parent), 6 positions, 44 bytes
    parent      0     1  2        3
    pos         0     2  2        5  6    u32, 20 bytes
    crd         1  4     0  2  3  5       u32, 24 bytes
    position    0  1     2  3  4  5
    values      1  2     3  4  5  6       f64, 48 bytes
together 92 bytes for 6 stored";
    assert_has(&place.prints(&["formats", "csr"]), &[csr]);
    assert_has(&place.prints(&["formats", "[compressed, hashed]"]), &["hashed (", "∞"]);
    assert_has(&place.prints(&["formats", "run"]), &["[run]", "ends"]);
    assert_has(&place.prints(&["formats", "csf", "--order", "4"]), &["level 4: l, compressed"]);
    let picture = place.prints(&["formats", "csr", "--svg"]);
    assert_has(&picture, &["<svg xmlns", "<title>", "<desc>Level 1, i: dense", "data-cell=\"2.crd.5\"", "</svg>"]);
    assert_eq!(place.prints(&["formats", "csr", "--svg", "-o", "csr.svg"]), "");
    assert_eq!(place.read("csr.svg"), picture);
    assert_has(&place.fails(&["formats", "--svg"], 2), &["FORMAT"]);
    let place = place
        .with("mine.ti", "/// Rows in pairs.\nformat pairs = (i, j) -> [i / 2: dense, j: compressed, i % 2: dense];\n");
    assert_has(&place.prints(&["formats", "pairs", "--formats", "mine.ti"]), &["Rows in pairs.", "i / 2, dense"]);
    assert_has(&place.refuses(&["formats", "cssr"]), &["E0201", "did you mean `csr`?"]);
    assert_has(&place.refuses(&["formats", "csr", "--order", "3"]), &["E0205"]);
}

/// What ranks gain where they work on entries that need no rows of others, and that nothing is said where they gain nothing.
#[test]
fn what_is_worked_on_while_rows_are_under_way() {
    let place = Place::new();
    let text = "fn k(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); } schedule { distribute(A); }";
    let generate = |shape, entries, file| {
        place.prints(&["generate", "uniform", "--shape", shape, "--nnz", entries, "--seed", "1", "-o", file]);
    };
    generate("2000x100000", "200000", "wide.tns");
    generate("20x30", "200", "small.tns");
    let of = |file: &'static str| ["explain", text, "--ranks", "4", "-i", file, "-i", "x=ones"];
    let number = |json: &serde_json::Value| json.as_f64().unwrap_or_else(|| panic!("no number: {json}"));
    let json = place.json(&[&of("A=wide.tns")[..], &["--json"]].concat());
    let overlapped = &json["overlapped"];
    assert!(number(&overlapped["modelled_ms"]) < number(&json["placements"][0]["modelled_ms"]), "{json}");
    let entries = number(&overlapped["entries"]);
    assert!(entries > 20_000.0 && entries < 200_000.0, "{json}");
    assert_has(&place.prints(&of("A=wide.tns")), &["\na run after the first takes ", "need no rows of other ranks"]);
    assert!(!place.prints(&of("A=small.tns")).contains("a run after the first"));
}

/// A range that costs least is none of the choices of ranks that read their parts of a file.
#[test]
fn what_runs_take_in_place_of_a_range() {
    let place = Place::new();
    let text = "fn k(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    place.prints(&["generate", "uniform", "--shape", "2000x20", "--nnz", "4000", "--seed", "1", "-o", "tall.tns"]);
    let ranks = ["--ranks", "4", "-i", "A=tall.tns", "-i", "x=ones"];
    let explained = place.prints(&[&["explain", text][..], &ranks].concat());
    assert_has(&explained, &["\n`i` takes least time", "and `--distribute i` asks for it\n"]);
    let (_, taken) = explained.split_once("\n`spc run` takes `").expect("it says what is taken");
    let (taken, _) = taken.split_once('`').expect("it is quoted");
    let run = place.prints(&[&["run", text][..], &ranks].concat());
    assert_has(&run, &[&format!("distribute {taken} over 4 ranks")]);
}

/// What is explained with inputs is what runs with them.
#[test]
fn inputs_of_one_pattern_are_explained_as_they_run() {
    let place =
        Place::new().with("a.tns", "# shape: 3 3\n1 1 2\n2 3 4\n").with("b.tns", "# shape: 3 3\n1 1 3\n2 3 5\n");
    let kernel = ["C(i, j) = A(i, j) + B(i, j)", "-f", "A=csr", "-f", "B=csr", "-f", "C=csr", "-i", "A=a.tns", "-i"];
    let alike = place.prints(&[&["explain"], &kernel[..], &["B=b.tns"]].concat());
    let place = place.with("b.tns", "# shape: 3 3\n1 1 3\n2 2 5\n");
    let apart = place.prints(&[&["explain"], &kernel[..], &["B=b.tns"]].concat());
    assert_ne!(alike, apart);
    assert_has(&alike, &["pattern"]);
}
