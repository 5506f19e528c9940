//! What the command has in common with others: standard streams, help, colours, JSON, and messages, word for word.

use super::{Place, assert_has};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Output, Stdio};

const SPMV: &str = "y(i) = A(i, j) * x(j)";

fn place() -> Place {
    Place::new()
        .with("a.tns", "# shape: 3 4\n1 1 2\n1 3 1\n2 2 3\n")
        .with("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 1 2\n3 4 5\n")
        .with("d.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n")
        .with("x.tns", "# shape: 4\n1 1\n2 10\n3 100\n")
        .with("t.tns", "# shape: 2 3 4\n1 1 1 2\n2 3 4 5\n")
        .with("huge.mtx", "%%MatrixMarket matrix coordinate real general\n4000000 4000000 1\n1 1 2\n")
}

/// A command with bytes on its standard input.
fn fed(place: &Place, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = place.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("spc starts");
    // A command that fails before it reads leaves a broken pipe.
    _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Commands with all that they say, as one text.
pub(super) fn session(place: &Place, commands: &[&[&str]]) -> String {
    let mut text = String::new();
    for arguments in commands {
        let output = place.spc(arguments);
        let shown: Vec<String> = arguments
            .iter()
            .map(|argument| match argument.contains([' ', '(', '*', '<', '>']) {
                true => format!("'{argument}'"),
                false => (*argument).to_owned(),
            })
            .collect();
        _ = writeln!(text, "$ spc {}", shown.join(" "));
        text.push_str(&String::from_utf8(output.stdout).unwrap());
        text.push_str(&String::from_utf8(output.stderr).unwrap());
        _ = writeln!(text, "[{}]\n", output.status.code().unwrap());
    }
    text
}

#[test]
fn every_unknown_name_is_told_with_what_is_there() {
    let place = place().with("k.ti", "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }");
    let run = ["run", SPMV, "-i", "A=a.tns"];
    let text = session(
        &place,
        &[
            &["rnu"],
            &["run", SPMV, "--inputs", "A=a.tns"],
            &["generate", "unifrom"],
            &["compile", SPMV, "-f", "A=cssr"],
            &["compile", SPMV, "-f", "B=csr"],
            &["explain", SPMV, "-f", "A=cssr"],
            &[&run[..], &["-f", "A=cssr", "-i", "x=ones"]].concat(),
            &["info", "a.tns", "-f", "cssr"],
            &["convert", "a.tns", "a.spct", "-f", "cssr"],
            &["bench", "-f", "cssr"],
            &["bench", "-f", "csr,dcssr", "a.tns"],
            &["bench", "--expression", SPMV, "-f", "A=cssr", "-i", "A=a.tns", "-i", "x=ones"],
            &["bench", "--kernel", "spmw"],
            &["bench", "irrX"],
            &["bench", "unifrom:9x9:20"],
            &["bench", "new.json"],
            &["bench", "--element", "f46"],
            &["bench", "--machine", "leest"],
            &["info", "a.tns", "--element", "f46"],
            &["generate", "suite", "irs", "-o", "y.tns"],
            &["generate", "uniform", "--shape", "3x3", "--nnz", "2", "--element", "f46", "-o", "y.tns"],
            &["generate", "uniform", "--shape", "3x3", "--nnz", "2", "-o", "y.tnz"],
            &["generate", "uniform", "--shape", "3x3", "--nnz", "2", "-o", "-", "--to", "tnz"],
            &["convert", "a.tnz", "b.tns"],
            &["convert", "a.tns", "b.mxt"],
            &["convert", "-", "b.tns", "--from", "tnz"],
            &[&run[..], &["-i", "x=onse"]].concat(),
            &[&run[..], &["-i", "xx=ones"]].concat(),
            &[&run[..], &["-i", "x=ones", "-o", "yy=-"]].concat(),
            &[&run[..], &["-i", "x=ones", "--dim", "jj=3"]].concat(),
            &[&run[..], &["-i", "x=ones", "--backend", "intepreter"]].concat(),
            &[&run[..], &["-i", "x=ones", "--duplicates", "sums"]].concat(),
            &[&run[..], &["-i", "x=ones", "--stream", "B=2", "--backend", "interpreter"]].concat(),
            &["compile", SPMV, "--emit", "rsut"],
            &["compile", SPMV, "--target", "cudda"],
            &["compile", SPMV, "--dim", "jj=3"],
            &["compile", "k.ti", "--kernel", "smpv"],
            &["completions", "bsh"],
            &["man", "rnu"],
            &["man", "generate", "unifrom"],
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_sparse_file_is_stored_sparse() {
    let place = place();
    place.prints(&["convert", "a.tns", "a.spct", "-f", "csc"]);
    place.prints(&["convert", "a.tns", "block.spct", "-f", "bcsr(2)"]);
    place.prints(&["convert", "d.mtx", "d.npy"]);
    place.prints(&["convert", "a.tns", "a.npz"]);
    place.prints(&["convert", "d.mtx", "d.npz"]);
    let place = place.with("inf.tns", "# shape: 3 3\n# fill: inf\n1 2 1\n2 3 4\n");
    let stored = |arguments: &[&str]| {
        let json = place.json(&[&["run"], arguments, &["--backend", "interpreter", "--json"]].concat());
        (json["inputs"]["A"]["format"].as_str().unwrap().to_owned(), json["notes"].to_string())
    };
    let rows = |file: &str| stored(&["y(i) = A(i, j)", "-i", &format!("A={file}")]);
    for (file, format) in [
        ("a.tns", "csr"),
        ("m.mtx", "csr"),
        ("a.npz", "csr"),
        ("a.spct", "csc"),
        ("d.mtx", "dense"),
        ("d.npy", "dense"),
        ("d.npz", "dense"),
        ("random", "dense"),
    ] {
        let (found, notes) = match file {
            "random" => stored(&["y(i) = A(i, j)", "-i", "A=random", "--dim", "i=2", "--dim", "j=2"]),
            file => rows(file),
        };
        assert_eq!(found, format, "{file}");
        assert_eq!(notes.contains("is stored as"), format != "dense", "{file}: {notes}");
        assert!(format == "dense" || notes.contains(&format!("`A` is stored as {format}")), "{notes}");
    }
    assert!(rows("block.spct").0.contains("/ 2: dense"), "{}", rows("block.spct").0);
    assert_eq!(stored(&["s = A(i)", "-i", "A=x.tns"]).0, "[compressed]");
    assert_eq!(stored(&["s = A(i, j, k)", "-i", "A=t.tns"]).0, "csf");
    assert_eq!(stored(&["s = A(i, j)", "-i", "A=a.tns", "-f", "A=dense"]), ("dense".to_owned(), "[]".to_owned()));
    // An element type alone says nothing of the format.
    let json = place.json(&["run", "s = f64(A(i, j))", "-i", "A=a.tns", "-f", "A=f32", "--json"]);
    assert_eq!((&json["inputs"]["A"]["format"], &json["inputs"]["A"]["element"]), (&"csr".into(), &"f32".into()));
    // The fill value of a file is part of how it is stored.
    let (_, notes) = stored(&["y(i) min= A(i, j)", "-i", "A=inf.tns"]);
    assert!(notes.contains("csr fill inf"), "{notes}");
    assert_eq!(
        place.prints(&["run", "y(i) min= A(i, j)", "-i", "A=inf.tns", "-o", "y=-", "-q"]),
        "# shape: 3\n1 1\n2 4\n3 inf\n"
    );
    // A file that is declared dense is dense.
    let declared = place.with("k.ti", "fn k(A: dense) -> y: dense { y(i) = A(i, j); }");
    let json = declared.json(&["run", "k.ti", "-i", "A=a.tns", "--json"]);
    assert_eq!((&json["inputs"]["A"]["format"], &json["notes"]), (&"dense".into(), &Value::Array(vec![])));
}

#[test]
fn what_is_stored_so_is_said_and_how_to_have_it_otherwise() {
    let place = place().with("k.ti", "fn k(A: dense) -> y: dense { y(i) = A(i, j); }");
    let text = session(
        &place,
        &[
            &["run", SPMV, "-i", "A=a.tns", "-i", "x=x.tns", "-o", "y=-", "-q"],
            &["run", "B(i, j) = 1 / A(i, j)", "-i", "A=a.tns", "-f", "B=csr", "-q"],
            &["run", SPMV, "-i", "A=huge.mtx", "-f", "A=dense", "-i", "x=ones"],
            &["run", "B(i, j) = A(i, j)", "-i", "A=huge.mtx", "-f", "B=dense"],
            &["run", "k.ti", "-i", "A=huge.mtx"],
            &["run", SPMV, "-i", "A=-", "-i", "x=ones"],
            &["run", SPMV, "-i", "A=a.tns", "-f", "csr"],
            &["info", "a.tns", "-f", "A=csr"],
            &["run", SPMV, "-i", "A=a.tns", "-i", "x=ones", "--json", "--show-code"],
        ],
    );
    // What a machine has of memory is its own affair.
    insta::assert_snapshot!(text);
    let notes = place.spc(&["run", SPMV, "-i", "A=a.tns", "-i", "x=x.tns", "--backend", "interpreter"]);
    let notes = String::from_utf8(notes.stderr).unwrap();
    assert_has(&notes, &["note: `A` is stored as csr, since a.tns lists entries; `-f A=dense` stores every element\n"]);
    assert_has(&notes, &["note: `x` is stored as [compressed], since x.tns lists entries"]);
}

#[test]
fn standard_streams_are_files() {
    let place = place();
    for kind in ["tns", "mtx", "npz", "spct", "tns.gz", "npz.gz", "spct.gz"] {
        let written = fed(&place, &["convert", "a.tns", "-", "--to", kind], b"");
        assert!(written.status.success() && written.stderr.is_empty(), "{kind}: {written:?}");
        let read = fed(&place, &["convert", "-", "-", "--from", kind], &written.stdout);
        assert_eq!(String::from_utf8(read.stdout).unwrap(), place.read("a.tns"), "{kind}");
        let run = ["run", SPMV, "-i", "A=-", "--from", kind, "-i", "x=ones", "-o", "y=-", "-q"];
        let run = fed(&place, &run, &written.stdout);
        assert_eq!((run.stdout, run.stderr), (b"# shape: 3\n1 3\n2 3\n3 0\n".to_vec(), vec![]), "{kind}");
    }
    let text = place.read("a.tns");
    let info = fed(&place, &["info", "-", "--from", "tns", "--json"], text.as_bytes());
    let info: Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!((&info["nnz"], &info["file"]), (&3.into(), &"<stdin>".into()));
    let kernel = b"fn k(A: csr) -> y: dense { y(i) = A(i, j); }";
    let compiled = fed(&place, &["compile", "-", "--emit", "notation", "-o", "-"], kernel);
    assert_has(&String::from_utf8(compiled.stdout).unwrap(), &["y(i) = sum(j)(A(i, j))"]);
    let run = fed(&place, &["run", "-", "-i", "A=a.tns", "-o", "y=-", "-q"], kernel);
    assert_eq!(String::from_utf8(run.stdout).unwrap(), "# shape: 3\n1 3\n2 3\n3 0\n");
    let wrong = fed(&place, &["compile", "-", "--check"], b"fn k(A: csr) -> y: dense { y(i) = ; }");
    assert_has(&String::from_utf8(wrong.stderr).unwrap(), &["<stdin>:1:"]);
    // Two for one stream.
    let both = fed(&place, &["run", "-", "-i", "A=-", "--from", "tns"], kernel);
    assert_eq!(both.status.code(), Some(2));
    let npy = fed(&place, &["generate", "uniform", "--shape", "4x4", "--nnz", "3", "-o", "-", "--to", "npy"], b"");
    assert!(npy.stdout.starts_with(b"\x93NUMPY"));
    // A name that does not say it.
    std::fs::write(place.path("data"), text).unwrap();
    assert_eq!(place.json(&["info", "data", "--from", "tns", "--json"])["nnz"], 3);
    place.prints(&["convert", "data", "other", "--from", "tns", "--to", "mtx"]);
    assert!(place.read("other").starts_with("%%MatrixMarket"));
}

#[test]
fn every_verb_has_help_and_a_page() {
    let place = Place::new();
    let all = place.prints(&["help"]);
    let verbs = [
        "compile",
        "run",
        "explain",
        "info",
        "convert",
        "generate",
        "cp",
        "tucker",
        "power",
        "bench",
        "play",
        "completions",
        "man",
    ];
    assert_has(&all, &verbs);
    assert_has(&all, &["Exit status: 0", "--quiet", "--color", "--json"]);
    for verb in verbs {
        assert_eq!(place.prints(&["help", verb]), place.prints(&[verb, "--help"]), "{verb}");
        assert_has(&place.prints(&["man", verb]), &[".TH", &format!("spc-{verb}"), ".SH SYNOPSIS"]);
    }
    assert_has(&place.prints(&["help", "generate", "power-law"]), &["--exponents"]);
    assert_has(&place.prints(&["man", "generate", "power-law"]), &["exponents"]);
    place.prints(&["man", "-o", "pages"]);
    assert_has(&place.read("pages/spc.1"), &[".TH spc"]);
    assert_has(&place.read("pages/spc-generate-suite.1"), &["scale"]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert_has(&place.prints(&["completions", shell]), &["compile", "generate"]);
    }
}

#[test]
fn colours_and_loudness_are_as_asked() {
    let place = place();
    let output = |arguments: &[&str]| {
        let output = place.spc(arguments);
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let wrong = ["compile", "y(i) = ", "--color"];
    assert!(output(&[&wrong[..], &["always"]].concat()).1.contains('\x1b'));
    assert!(!output(&[&wrong[..], &["never"]].concat()).1.contains('\x1b'));
    assert!(!output(&[&wrong[..], &["auto"]].concat()).1.contains('\x1b'));
    assert!(output(&["--color=always", "rnu"]).1.contains('\x1b'));
    assert!(output(&["--color", "never", "help"]).1.is_empty());
    let run = ["run", "y(i) = A(i, jj) * x(j)", "-i", "A=a.tns", "-i", "x=x.tns", "--backend", "interpreter"];
    let (usual, said) = output(&run);
    assert_has(&said, &["warning[W0101]", "note: `A` is stored as csr"]);
    assert!(usual.contains("y(1)"));
    let (quiet, said) = output(&[&run[..], &["-q"]].concat());
    assert!(quiet.contains("y(1)") && said.is_empty(), "{said}");
    let (_, said) = output(&[&run[..], &["-v"]].concat());
    assert_has(&said, &["`A`: 3 x 4, f64 csr, 3 stored in "]);
    assert_has(&place.fails(&["info", "a.tns", "-q", "-v"], 2), &["cannot be used with"]);
}

#[test]
fn errors_are_json_where_that_is_asked_for() {
    let place = place().with("bad.tns", "1 1 2\n1 zwei 1\n");
    let errors = |arguments: &[&str], status: i32| -> Value {
        let output = place.spc(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["schema"], 1);
        document["errors"].clone()
    };
    let found = errors(&["run", SPMV, "-i", "A=bad.tns", "-i", "x=ones", "--json"], 1);
    assert_eq!(found[0]["code"], "file");
    assert_eq!(found[0]["place"], serde_json::json!({ "file": "bad.tns", "line": 2, "column": 3 }));
    let found = errors(&["--json", "compile", "y(i) = A(i, j) * q(", "-f", "A=cssr"], 1);
    assert!(found[0]["code"].as_str().unwrap().starts_with('E') && found[0]["place"]["column"].is_number(), "{found}");
    let found = errors(&["compile", SPMV, "-f", "A=cssr", "--json"], 1);
    assert_eq!((&found[0]["help"][0], &found[0]["place"]["file"]), (&"did you mean `csr`?".into(), &"-f A".into()));
    let found = errors(&["rnu", "--json"], 2);
    assert_eq!(found[0]["code"], "usage");
    assert_has(found[0]["message"].as_str().unwrap(), &["unrecognized subcommand 'rnu'"]);
    assert_has(&found[0]["help"].to_string(), &["'run'"]);
    for verb in [&["info", "no.tns"][..], &["convert", "no.tns", "x.tns"], &["bench", "no.tns"], &["explain", "E9999"]]
    {
        assert!(!errors(&[verb, &["--json"]].concat(), 1)[0]["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn documents_say_their_version() {
    let place = place();
    for arguments in [
        &["run", SPMV, "-i", "A=a.tns", "-i", "x=ones", "--backend", "interpreter"][..],
        &["info", "a.tns"],
        &["convert", "a.tns", "b.tns"],
        &["generate", "uniform", "--shape", "4x4", "--nnz", "3", "-o", "g.tns"],
        &["compile", SPMV],
        &["compile", SPMV, "--check"],
        &["explain", SPMV],
        &["explain", "E0102"],
        &["cp", "t.tns", "--rank", "1", "--backend", "interpreter"],
        &["tucker", "t.tns", "--ranks", "1", "--backend", "interpreter"],
        &["power", "t.tns", "--backend", "interpreter"],
        &["bench", "--quick", "--machine", "least", "--budget", "0.001", "--threads", "1", "--kernel", "spmv", "m.mtx"],
    ] {
        let document = place.json(&[arguments, &["--json"]].concat());
        assert_eq!(document["schema"], 1, "{arguments:?}");
    }
    assert_eq!(place.json(&["info", "a.tns", "--json"])["modes"][1]["mode"], 2);
}

/// SciPy and NumPy, where they are.
fn python() -> Option<String> {
    let python = std::env::var("SPC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import numpy, scipy.sparse"]).output();
    found.is_ok_and(|output| output.status.success()).then_some(python)
}

#[test]
fn archives_of_scipy_are_read_and_written() {
    let Some(python) = python() else {
        println!("skipped: set SPC_PYTHON to a Python that has NumPy and SciPy");
        return;
    };
    let place = Place::new();
    let script = |text: &str| {
        let output = Command::new(&python).arg("-c").arg(text).current_dir(place.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Each format, element type and index type that SciPy saves, compressed or not.
    script(
        "
import numpy as np, scipy.sparse as sp
random = np.random.default_rng(1)
dense = random.standard_normal((6, 8)) * (random.random((6, 8)) < 0.4)
dense[dense == 0] = 0
dense[0, 0], dense[1, 1], dense[2, 3] = 1e300, 5e-324, -1/3
for kind in ['f8', 'f4', 'i4', 'i8', 'u1', 'c16', '?']:
    values = (np.abs(dense) % 100 * (dense != 0) + (dense != 0)).astype('u1').astype(kind) if kind in ['i4', 'i8', 'u1', '?'] else (dense + 2j * dense).astype(kind) if kind == 'c16' else dense.astype(kind)
    name = {'?': 'bool'}.get(kind, kind)
    np.save(f'{name}.npy', values)
    for make in [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.coo_array, sp.dia_matrix, sp.bsr_matrix]:
        matrix = make(values) if make is not sp.bsr_matrix else sp.bsr_matrix(values, blocksize=(2, 4))
        sp.save_npz(f'{name}.{make.__name__}.npz', matrix, compressed=make is not sp.csr_matrix)
sp.save_npz('cube.npz', sp.coo_array((np.array([1.5, -2.0]), (np.array([0, 2]), np.array([1, 0]), np.array([3, 4]))), shape=(3, 2, 5)))
sp.save_npz('line.npz', sp.coo_array((np.array([1.5, -2.0]), (np.array([0, 2]),)), shape=(5,)))
sp.save_npz('empty.npz', sp.csr_matrix((3, 4)))
np.savez('two.npz', first=dense, second=np.asfortranarray(dense[:2]))
np.savez_compressed('one.npz', dense)
",
    );
    for name in ["f8", "f4", "i4", "i8", "u1", "c16", "bool"] {
        place.prints(&["convert", &format!("{name}.npy"), "whole.tns"]);
        let expected = place.read("whole.tns");
        for make in ["csr_matrix", "csc_array", "coo_matrix", "coo_array", "dia_matrix", "bsr_matrix"] {
            let archive = format!("{name}.{make}.npz");
            place.prints(&["convert", &archive, "found.npy"]);
            place.prints(&["convert", "found.npy", "found.tns"]);
            assert_eq!(place.read("found.tns"), expected, "{archive}");
        }
        // Ours, read by SciPy, in each format that we write.
        for format in ["csr", "csc", "coo", "dcsr"] {
            place.prints(&["convert", &format!("{name}.coo_array.npz"), "ours.npz", "-f", format]);
            let same = script(&format!(
                "
import numpy as np, scipy.sparse as sp
ours, theirs = sp.load_npz('ours.npz'), np.load('{name}.npy')
bits = lambda array: np.ascontiguousarray(array).view('u1')
print(ours.format, (bits(ours.toarray()) == bits(theirs)).all(), ours.dtype == theirs.dtype)
"
            ));
            let written = if format == "dcsr" { "coo" } else { format };
            assert_eq!(same, format!("{written} True True\n"), "{name} as {format}");
        }
    }
    assert_eq!(place.prints(&["convert", "cube.npz", "-"]), "# shape: 3 2 5\n1 2 4 1.5\n3 1 5 -2\n");
    assert_eq!(place.prints(&["convert", "line.npz", "-"]), "# shape: 5\n1 1.5\n3 -2\n");
    assert_eq!(place.prints(&["convert", "empty.npz", "-"]), "# shape: 3 4\n");
    place.prints(&["convert", "cube.npz", "cube.tns"]);
    place.prints(&["convert", "cube.tns", "again.npz"]);
    assert_eq!(
        script(
            "import scipy.sparse as sp; print(sp.load_npz('again.npz').todense().tolist() == sp.load_npz('cube.npz').todense().tolist())"
        ),
        "True\n"
    );
    // Plain archives: one array, or the one that is named.
    assert_eq!(place.json(&["info", "one.npz", "--json"])["shape"], serde_json::json!([6, 8]));
    assert_eq!(place.json(&["info", "two.npz:second", "--json"])["shape"], serde_json::json!([2, 8]));
    assert_has(&place.refuses(&["info", "two.npz"]), &["several arrays, first, second", "`FILE.npz:first`"]);
    assert_has(&place.refuses(&["info", "two.npz:secnd"]), &["no array `secnd`: did you mean `second`?"]);
    let json = place.json(&["run", "s = A(i, j)", "-i", "A=f8.csr_matrix.npz", "--json", "--backend", "interpreter"]);
    assert_eq!(json["inputs"]["A"]["format"], "csr");
    place.prints(&["convert", "one.npz", "dense.npz"]);
    assert_eq!(
        script("import numpy as np; print((np.load('dense.npz')['arr_0'] == np.load('one.npz')['arr_0']).all())"),
        "True\n"
    );
}

/// Names in files, and of files, are shown with escapes.
#[test]
#[cfg(unix)]
fn terminals_obey_no_name() {
    let evil = "\u{1b}]0;title\u{7}\u{202e}A";
    let place = Place::new().with(&format!("{evil}.tns"), "1 1 x\n").with(&format!("{evil}.ti"), "fn \u{1b}]0;t\u{7}");
    let mut archive = Vec::new();
    zip(&mut archive, &[&format!("{evil}.npy"), "B.npy"]);
    std::fs::write(place.path("e.npz"), archive).unwrap();
    let good = "1 1 2\n2 2 3\n";
    let place = place.with(&format!("good{evil}.tns"), good);
    let (tns, ti, good) = (format!("{evil}.tns"), format!("{evil}.ti"), format!("good{evil}.tns"));
    let input = format!("A={good}");
    for arguments in [
        &["info", "e.npz"][..],
        &["info", &tns],
        &["info", &good],
        &["info", &format!("e.npz:{evil}B")],
        &["compile", &ti],
        &["convert", &good, &format!("{evil}.unknown")],
        &["run", "y(i) = A(i, j)", "-i", &input, "--backend", "interpreter"],
        &["run", "y(i) = A(i, j)", "-i", &input, "--backend", "interpreter", "--json"],
        &["run", "y(i) = A(i, j)", "-i", &tns, "--backend", "interpreter", "-v"],
        &["run", &format!("y(i) = {evil}"), "--backend", "interpreter"],
        &["info", &format!("--{evil}")],
        &["info", &tns, "--json"],
        &["cp", &tns, "--rank", "2"],
    ] {
        for color in ["never", "always"] {
            let output = place.spc(&[arguments, &["--color", color]].concat());
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8(text).unwrap();
            let obeyed = ["\u{1b}]", "\u{7}", "\u{202e}"];
            assert!(!obeyed.iter().any(|part| text.contains(part)), "{arguments:?}: {text:?}");
        }
    }
    let said = String::from_utf8(place.spc(&["info", &tns]).stderr).unwrap();
    assert!(said.contains(r"\u{1b}]0;title\u{7}\u{202e}A.tns:1:5"), "{said}");
}

/// A zip file of empty members: what is shown of them are their names.
#[cfg(unix)]
fn zip(out: &mut Vec<u8>, names: &[&str]) {
    let mut directory = Vec::new();
    for name in names {
        let (offset, length) = (out.len() as u32, name.len() as u16);
        let common = [[20, 0, 0, 0, 0, 0, 0, 0, 0, 0].as_slice(), &[0; 12], &length.to_le_bytes(), &[0, 0]].concat();
        out.extend([b"PK\x03\x04".as_slice(), &common, name.as_bytes()].concat());
        let rest = [&[0; 10][..], &offset.to_le_bytes(), name.as_bytes()].concat();
        directory.extend([b"PK\x01\x02\x14\x00".as_slice(), &common, &rest].concat());
    }
    let (begin, size, count) = (out.len() as u32, directory.len() as u32, names.len() as u16);
    out.extend(directory);
    let counts = [count.to_le_bytes(), count.to_le_bytes()].concat();
    out.extend(
        [b"PK\x05\x06\0\0\0\0".as_slice(), &counts, &size.to_le_bytes(), &begin.to_le_bytes(), &[0, 0]].concat(),
    );
}

/// Compilers refuse comments in which characters change the order of others.
#[test]
fn documentation_with_controls_of_direction_compiles() {
    let place = Place::new()
        .with("a.tns", "1 1 2\n")
        .with("k.ti", "/// \u{202e} reversed \u{2066}\nfn k(A: csr) -> y: dense { y(i) = A(i, j); }\n");
    let run = ["run", "k.ti", "-i", "A=a.tns", "-q", "-o", "y=-"];
    assert_eq!(place.prints(&run), "# shape: 1\n1 2\n");
    for form in ["rust", "c"] {
        let text = place.prints(&["compile", "k.ti", "--emit", form]);
        assert!(text.contains("U+202E reversed ") && !text.contains('\u{202e}'), "{text}");
    }
}
