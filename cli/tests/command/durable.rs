//! Files when something goes wrong: the old one or the new one, and a message.

use super::{Place, assert_has};
use std::io::Write;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::process::Stdio;
use std::time::Instant;

const MATRIX: &str = "# shape: 4 5\n1 1 2\n1 3 1\n2 2 3\n4 5 -0.5\n3 3 8\n";

fn names(place: &Place) -> Vec<String> {
    let files = std::fs::read_dir(place.folder.path()).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Has each operation of a command fail in turn, and then runs it to its end.
fn each_failure(place: &Place, arguments: &[&str], output: &str) {
    const OLD: &[u8] = b"what was there before";
    /// Some failures are overcome, as by doing in one piece what was to be done in parts.
    const QUIET: usize = 12;
    place.prints(arguments);
    let new = std::fs::read(place.path(output)).unwrap();
    let (mut failures, mut successes, mut number) = (0, 0, 0);
    while successes < QUIET {
        number += 1;
        std::fs::write(place.path(output), OLD).unwrap();
        let before = names(place);
        let run = place.command(arguments).env("SPC_FAULT", number.to_string()).output().unwrap();
        let message = String::from_utf8(run.stderr).unwrap();
        let found = std::fs::read(place.path(output)).unwrap();
        let context = format!("{arguments:?}, failure {number}: {message}");
        assert_eq!(names(place), before, "{context}");
        if run.status.success() {
            successes += 1;
            assert!(found == new, "{context}");
        } else {
            (failures, successes) = (failures + 1, 0);
            assert_eq!(run.status.code(), Some(1), "{context}");
            assert!(message.contains("on purpose") || message.contains("memory"), "{context}");
            assert!(!message.contains("fault of spc") && !message.contains("damaged"), "{context}");
            assert!(found == OLD, "{context}");
        }
    }
    assert!(failures >= 8, "{arguments:?}: only {failures} failures");
}

#[test]
fn every_failing_operation_of_a_conversion_is_an_error_and_leaves_the_old_file() {
    let place = Place::new().with("a.tns", MATRIX);
    for to in ["a.mtx", "a.npy", "a.spct", "a.tns.gz", "a.npy.gz"] {
        place.prints(&["convert", "a.tns", to]);
    }
    for (from, to) in [
        ("a.tns", "b.spct"),
        ("a.tns", "b.npy"),
        ("a.mtx", "b.tns.gz"),
        ("a.npy", "b.tns"),
        ("a.spct", "b.mtx"),
        ("a.tns.gz", "b.spct"),
        ("a.npy.gz", "b.spct.gz"),
    ] {
        each_failure(&place, &["convert", from, to], to);
    }
    for format in ["csr", "alto", "bcsr(2)", "ell", "[dense, hashed]"] {
        each_failure(&place, &["convert", "a.tns", "b.spct", "--format", format], "b.spct");
    }
    // By way of files.
    for format in ["csr", "alto"] {
        each_failure(&place, &["convert", "a.tns", "b.spct", "--format", format, "--memory", "1"], "b.spct");
        each_failure(&place, &["convert", "a.spct", "b.spct", "--format", format, "--memory", "1"], "b.spct");
    }
}

#[test]
fn every_failing_operation_of_a_run_is_an_error_and_leaves_the_old_file() {
    let place = Place::new().with("A.tns", MATRIX).with("x.tns", "# shape: 5\n1 1\n2 2\n3 3\n");
    let spmv =
        ["run", "y(i) = A(i, j) * x(j)", "-f", "A=csr", "-i", "A=A.tns", "-i", "x=x.tns", "--backend", "interpreter"];
    each_failure(&place, &[&spmv[..], &["-o", "y=y.tns"]].concat(), "y.tns");
    let product = [
        "run",
        "C(i, k) = A(i, j) * A(k, j)",
        "-f",
        "A=csr",
        "-f",
        "C=csr",
        "-i",
        "A=A.tns",
        "--backend",
        "interpreter",
    ];
    each_failure(&place, &[&product[..], &["-o", "C=c.spct"]].concat(), "c.spct");
    // Ranks write parts of one file.
    for output in ["y=y.tns", "y=y.npy"] {
        each_failure(&place, &[&spmv[..], &["--ranks", "3", "-o", output]].concat(), &output[2..]);
    }
    let scaled =
        ["run", "C(i, j) = 2 * A(i, j)", "-f", "A=csr", "-f", "C=csr", "-i", "A=A.tns", "--backend", "interpreter"];
    each_failure(&place, &[&scaled[..], &["--ranks", "3", "-o", "C=c.mtx"]].concat(), "c.mtx");
}

/// A number from a number: which moments are tried is the same in each run.
fn scrambled(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

/// Kills a command at some moments: its output is what it was or what it is to be, and the next run works and cleans up.
fn killed(place: &Place, arguments: &[&str], output: &str) {
    std::fs::write(place.path(output), "old").unwrap();
    let start = Instant::now();
    place.prints(arguments);
    let time = start.elapsed();
    let new = std::fs::read(place.path(output)).unwrap();
    for moment in 0..12 {
        std::fs::write(place.path(output), "old").unwrap();
        let silent = || Stdio::null();
        let mut child = place.command(arguments).stdout(silent()).stderr(silent()).spawn().unwrap();
        std::thread::sleep(time.mul_f64((scrambled(moment) % 1000) as f64 / 1000.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = std::fs::read(place.path(output)).unwrap();
        assert!(found == b"old" || found == new, "{arguments:?} killed: {} bytes", found.len());
    }
    place.prints(arguments);
    assert!(std::fs::read(place.path(output)).unwrap() == new);
    // A folder may be left that has nothing, or a mark without a text: its process was killed before it had marked it, or behind that.
    let has_files = |name: &String| {
        let mut files = std::fs::read_dir(place.path(name)).into_iter().flatten().flatten();
        files.any(|file| file.file_name() != "made-by-spc" || file.metadata().is_ok_and(|mark| mark.len() > 0))
    };
    let left: Vec<String> = names(place).into_iter().filter(|name| name.ends_with(".tmp")).filter(has_files).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_killed_process_leaves_the_old_file_or_the_new_one() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "300x400x50", "--nnz", "30000", "-o", "x.tns"]);
    killed(&place, &["convert", "x.tns", "y.tns.gz"], "y.tns.gz");
    killed(&place, &["convert", "x.tns", "y.spct", "--format", "csf"], "y.spct");
    let sums =
        ["run", "y(i, j) = X(i, j, k)", "-f", "X=csf", "-i", "X=x.tns", "--backend", "interpreter", "-o", "y=y.npy"];
    killed(&place, &sums, "y.npy");
}

#[test]
fn two_results_do_not_go_to_one_file() {
    let text = "fn two(x: dense) -> (y: dense, z: dense) { y(i) = 2 * x(i); z(i) = 3 * x(i); }";
    let place = Place::new().with("two.ti", text).with("x.tns", "1 1\n2 2\n");
    let run = |y: &str, z: &str| {
        let (y, z) = (format!("y={y}"), format!("z={z}"));
        let kernel = ["run", "two.ti", "-i", "x=x.tns", "--backend", "interpreter", "-o"];
        place.spc(&[&kernel[..], &[y.as_str(), "-o", z.as_str()]].concat())
    };
    std::fs::create_dir(place.path("sub")).unwrap();
    std::fs::write(place.path("there.tns"), "").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("there.tns", place.path("link.tns")).unwrap();
    let absolute = place.path("a.tns");
    let mut pairs = vec![("a.tns", "a.tns"), ("a.tns", "./a.tns"), ("sub/../a.tns", "a.tns"), ("-", "-")];
    pairs.push(("a.tns", absolute.to_str().unwrap()));
    if cfg!(unix) {
        pairs.push(("there.tns", "link.tns"));
    }
    for (y, z) in pairs {
        let output = run(y, z);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{y} {z}: {message}");
        assert_has(&message, &["`y` and `z` would both be written to", "a file of its own"]);
        assert!(!place.path("a.tns").exists());
    }
    assert!(run("a.tns", "sub/a.tns").status.success());
    assert_eq!(place.read("a.tns"), "# shape: 2\n1 2\n2 4\n");
    assert_eq!(place.read("sub/a.tns"), "# shape: 2\n1 3\n2 6\n");
    // A result over the input that it is made of.
    assert!(run("x.tns", "b.tns").status.success());
    assert_eq!(place.read("b.tns"), "# shape: 2\n1 3\n2 6\n");
    assert_eq!(place.read("x.tns"), "# shape: 2\n1 2\n2 4\n");
}

/// A gzip file of as many bytes of `1` as 16 MB times `times`, without a line end.
fn endless(path: &Path, times: usize) {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    member.write_all(&vec![b'1'; 16 << 20]).unwrap();
    std::fs::write(path, member.finish().unwrap().repeat(times)).unwrap();
}

/// Runs a command in a shell with a limit.
#[cfg(target_os = "linux")]
pub(super) fn limited(place: &Place, limit: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new("sh");
    command.current_dir(place.folder.path()).arg("-c").arg(format!("{limit} && exec \"$0\" \"$@\""));
    let output = command.arg(env!("CARGO_BIN_EXE_spc")).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_is_refused_in_little_memory() {
    let place = Place::new();
    endless(&place.path("x.tns.gz"), 200);
    endless(&place.path("x.mtx.gz"), 200);
    endless(&place.path("x.npy.gz"), 200);
    endless(&place.path("x.spct.gz"), 200);
    let file = std::fs::File::create(place.path("plain.tns")).unwrap();
    file.set_len(4 << 30).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path("zero.tns")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path("zero.npy")).unwrap();
    for (name, part) in [
        ("x.tns.gz", "line 1 has more than"),
        ("x.mtx.gz", "the first line is '1111"),
        ("x.npy.gz", "begins with '1111"),
        ("x.spct.gz", "begins with '1111"),
        ("plain.tns", "line 1 has more than"),
        ("zero.tns", "line 1 has more than"),
        ("zero.npy", "begins with"),
    ] {
        let (status, message) = limited(&place, "ulimit -v 2000000", &["info", name]);
        assert_eq!(status, Some(1), "{name}: {message}");
        assert_has(&message, &[name, part]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_does_not_fit_into_memory_is_no_damage() {
    let place = Place::new().with("large.tns", "# shape: 200000 200000\n1 1 1\n");
    let (status, message) = limited(&place, "ulimit -v 4000000", &["convert", "large.tns", "large.npy"]);
    assert_eq!(status, Some(1), "{message}");
    assert_has(&message, &["320000000000 bytes", "memory"]);
    let dense = ["run", "y(i) = A(i, j)", "-f", "A=dense", "-i", "A=large.tns", "--backend", "interpreter"];
    let (status, message) = limited(&place, "ulimit -v 4000000", &dense);
    assert_eq!(status, Some(1), "{message}");
    assert_has(&message, &["`A`", "320000000000 bytes", "memory"]);
    // A file that is as long as it says, and longer than memory.
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (500000000,), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((118_u16).to_le_bytes());
    bytes.extend(format!("{header:<117}\n").as_bytes());
    let mut file = std::fs::File::create(place.path("long.npy")).unwrap();
    file.write_all(&bytes).unwrap();
    file.set_len(128 + 4_000_000_000).unwrap();
    let (status, message) = limited(&place, "ulimit -v 3000000", &["convert", "long.npy", "long.tns"]);
    assert_eq!(status, Some(1), "{message}");
    assert_has(&message, &["long.npy", "too large", "4000000128 bytes"]);
    assert!(!message.contains("damaged"), "{message}");
    // The other way round, a small file that says it is large is damaged.
    bytes.truncate(128);
    std::fs::write(place.path("short.npy"), &bytes).unwrap();
    let message = place.refuses(&["convert", "short.npy", "x.tns"]);
    assert_has(&message, &["0 bytes of data", "get the file again"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "300x400", "--nnz", "20000", "-o", "x.tns"]);
    std::fs::write(place.path("y.spct"), "old").unwrap();
    let (status, message) = limited(&place, "ulimit -f 16", &["convert", "x.tns", "y.spct"]);
    assert_eq!(status, Some(1), "{message}");
    assert_has(&message, &["y.spct: cannot write", "File too large"]);
    assert_eq!(
        (place.read("y.spct"), names(&place)),
        ("old".to_owned(), vec!["x.tns".to_owned(), "y.spct".to_owned()])
    );
    std::os::unix::fs::symlink("/dev/full", place.path("full.tns")).unwrap();
    assert_has(&place.refuses(&["convert", "x.tns", "full.tns"]), &["full.tns: cannot write", "No space left"]);
}

#[test]
fn sums_that_no_integer_holds_are_refused() {
    let twice = |value: &str| format!("2 3 {value}\n1 1 1\n2 3 {value}\n");
    let values = [("u8", "200"), ("i32", "2000000000"), ("i64", "9000000000000000000")];
    for (element, value) in values {
        let place = Place::new().with("x.tns", &twice(value));
        for format in ["coo", "csr", "dense", "alto", "bcsr(2)"] {
            let message = place.refuses(&["convert", "x.tns", "x.spct", "--element", element, "--format", format]);
            assert_has(&message, &["x.tns: the entries (2, 3) add up to more or less than", element]);
        }
        let format = format!("A={element} csr");
        let run =
            ["run", "s = i64(A(i, j))", "-f", &format, "-f", "s=i64", "-i", "A=x.tns", "--backend", "interpreter"];
        assert_has(&place.refuses(&run), &["`A`", "(2, 3)"]);
    }
    let place = Place::new().with("x.tns", "# shape:\n200\n200\n");
    let message = place.refuses(&["convert", "x.tns", "x.npy", "--element", "u8"]);
    assert_has(&message, &["the entries () add up"]);
    // Only the sum counts.
    let place = Place::new().with("x.tns", "1 2000000000\n1 2000000000\n1 -2000000000\n");
    place.prints(&["convert", "x.tns", "y.tns", "--element", "i32"]);
    assert_eq!(place.read("y.tns"), "# shape: 1\n# element: i32\n1 2000000000\n");
}

#[cfg(target_os = "linux")]
#[test]
fn names_of_files_have_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let spc = |arguments: &[&[u8]]| {
        let output =
            place.command(&[]).args(arguments.iter().map(|argument| OsStr::from_bytes(argument))).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    spc(&[b"generate", b"uniform", b"--shape", b"4x4", b"--nnz", b"5", b"-o", b"a\xff.tns"]);
    spc(&[b"convert", b"a\xff.tns", b"\xfe.mtx.gz"]);
    spc(&[b"info", b"\xfe.mtx.gz"]);
    let run: [&[u8]; 8] =
        [b"run", b"y(i) = A(i, j)", b"-f", b"A=csr", b"-i", b"A=\xfe.mtx.gz", b"--backend", b"interpreter"];
    spc(&[&run[..], &[b"-o", b"y=y\xff.npy"]].concat());
    assert!(place.folder.path().join(OsStr::from_bytes(b"y\xff.npy")).exists());
    let quick: [&[u8]; 8] =
        [b"bench", b"a\xff.tns", b"--quick", b"--machine", b"least", b"--budget", b"0.001", b"--kernel"];
    spc(&[&quick[..], &[b"spmv", b"--threads", b"1"]].concat());
}

#[test]
fn what_only_has_a_name_like_ours_stays() {
    let place = Place::new().with("x.tns", "1 1\n");
    let all = [".notes.tmp", ".spc-0123456789abcdef0123456789abcdef.tmp", ".y.npy.4294967295-0.spc.tmp"];
    all.iter().for_each(|name| std::fs::write(place.path(name), "whose?").unwrap());
    place.prints(&["convert", "x.tns", "y.npy"]);
    assert_eq!(names(&place), [&all[..], &["x.tns", "y.npy"]].concat());
}
