//! `mpirun -n 4 spc run …`, in builds with MPI: processes give what threads give, and send as much.

use spc_tests::harness::Skip;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with inputs, where Open MPI starts processes.
struct Together {
    folder: TempDir,
}

/// Longer than any of these runs takes; what hangs is stopped then.
const LIMIT: Duration = Duration::from_secs(120);

impl Together {
    fn new() -> Result<Self, Skip> {
        if !cfg!(feature = "mpi") {
            return Err(Skip("the command is built without MPI (--features spc-tensor-cli/mpi)".to_owned()));
        }
        let version = Command::new("mpirun").arg("--version").output();
        let is_it = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("Open MPI"));
        if !is_it {
            return Err(Skip("there is no `mpirun` of Open MPI".to_owned()));
        }
        let together = Self { folder: tempfile::tempdir().expect("a folder") };
        for (name, shape, count) in [("x", "40x30x20", "700"), ("a", "50x40", "300"), ("b", "40x60", "300")] {
            let file = format!("{name}.tns");
            together.alone(&["generate", "uniform", "--shape", shape, "--nnz", count, "--seed", "5", "-o", &file]);
        }
        together.alone(&["convert", "x.tns", "x.spct", "-f", "csf"]);
        Ok(together)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("SPC_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels"));
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command
    }

    /// What one process prints.
    fn alone(&self, arguments: &[&str]) -> String {
        let output = self.command(env!("CARGO_BIN_EXE_spc")).args(arguments).output().expect("it starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("it is text")
    }

    /// So many processes of a line of the shell, in which `$0` is the command.
    fn processes(&self, ranks: usize, line: &str) -> Output {
        let mut command = self.command("mpirun");
        command.args(["--oversubscribe", "-n", &ranks.to_string(), "sh", "-c", line, env!("CARGO_BIN_EXE_spc")]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("mpirun starts");
        let begin = Instant::now();
        while child.try_wait().expect("it is a process of this one").is_none() {
            if begin.elapsed() > LIMIT {
                _ = child.kill();
                panic!("{ranks} processes of `{line}` hang");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.wait_with_output().expect("it has ended")
    }

    fn json(&self, ranks: usize, arguments: &str) -> serde_json::Value {
        let output = self.processes(ranks, &format!("exec \"$0\" run --json {arguments}"));
        assert!(output.status.success(), "{arguments}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}: {output:?}"))
    }

    /// What is said on standard error by processes that end with a status.
    fn fails(&self, ranks: usize, line: &str, status: i32) -> String {
        let output = self.processes(ranks, line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{line}: {said}");
        said
    }
}

#[track_caller]
fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "no {part:?} in:\n{text}");
}

/// Kernels of the suites, in several formats, with each way to share them out; nothing where ranks choose one.
const KERNELS: &[(&str, &[&str])] = &[
    ("'y(i) = A(i,j) * x(j)' -f A=csr -i A=a.tns -i x=random", &["A", "A:2x2", "i", ""]),
    ("'y(i) min= A(i,j) + x(j)' -f 'A=csr fill inf' -i A=a.tns -i x=random", &["A", "i"]),
    ("'Y(i,r) = A(i,j) * B(j,r)' -f A=coo -i A=a.tns -i B=random --dim r=5", &["A", "i", "r"]),
    ("'Y(i,j) = A(i,j) * P(i,k) * Q(j,k)' -f A=csr -f Y=csr -i A=a.tns -i P=random -i Q=random --dim k=4", &["A", "i"]),
    ("'Y(i,j) = X(i,j,k) * v(k)' -f X=csf -f Y=csr -i X=x.tns -i v=random", &["X", "X:2x1x2", "i"]),
    ("'Y(i,j,r) = X(i,j,k) * U(k,r)' -f 'X=hicoo(4)' -i X=x.tns -i U=random --dim r=3", &["X", "X:1x2x2", "i"]),
    (
        "'A(i,r) = X(i,j,k) * B(j,r) * C(k,r)' -f X=csf -i X=x.tns -i B=random -i C=random --dim r=4",
        &["X", "X:1x2x2", "X:bisection", "i", "r", ""],
    ),
    ("'A(i,r) = X(i,j,k) * B(j,r) * C(k,r)' -f X=coo -i X=x.spct -i B=random -i C=random --dim r=4", &["X", "i", ""]),
    ("'C(i,k) = A(i,j) * B(j,k)' -f A=csr -f B=csr -f C=csr -i A=a.tns -i B=b.tns", &["A", "i", ""]),
    ("'s = sum(i,j,k)(X(i,j,k) * X(i,j,k))' -f X=coo -i X=x.tns", &["X"]),
];

/// The options of a placement.
fn asked(placement: &str) -> String {
    if placement.is_empty() { String::new() } else { format!(" --distribute {placement}") }
}

fn processes_give_what_threads_give() -> Result<(), Skip> {
    let together = Together::new()?;
    let read = |name: &str| std::fs::read(together.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (number, (kernel, placements)) in KERNELS.iter().enumerate() {
        let result = kernel.trim_start_matches('\'').split(['(', ' ']).next().expect("it has a result");
        for (turn, placement) in placements.iter().enumerate() {
            let ranks = if placement.contains(':') { 4 } else { [4, 2, 3, 7][(number + turn) % 4] };
            let arguments = format!("{kernel}{}", asked(placement));
            let processes = together.json(ranks, &format!("{arguments} -o {result}=p.tns"));
            let shell = format!("exec \"$0\" run --json {arguments} --ranks {ranks} -o {result}=t.tns");
            let threads = together.command("sh").args(["-c", &shell, env!("CARGO_BIN_EXE_spc")]).output();
            let threads: serde_json::Value =
                serde_json::from_slice(&threads.expect("it starts").stdout).expect("it is JSON");
            for field in ["plan", "sent_bytes", "messages", "outputs"] {
                assert_eq!(processes[field], threads[field], "{ranks} ranks: {arguments}: {field}");
            }
            assert!(read("p.tns") == read("t.tns"), "{ranks} ranks: {arguments}: other bits");
        }
    }
    Ok(())
}

/// Work that is done while rows of operands are under way changes nothing but rounding.
fn processes_work_while_rows_are_under_way() -> Result<(), Skip> {
    let together = Together::new()?;
    for (kernel, placements) in [&KERNELS[0], &KERNELS[1], &KERNELS[2], &KERNELS[6]] {
        let arguments = format!("{kernel}{} --repeat 3", asked(placements[0]));
        let with = together.json(4, &format!("{arguments} --overlap always"));
        let without = together.json(4, &format!("{arguments} --overlap never"));
        let worked = |json: &serde_json::Value| json["overlapped_entries"].as_u64().unwrap_or_else(|| panic!("{json}"));
        assert!(worked(&with) > 0 && worked(&without) == 0, "{arguments}: {with}");
        for field in ["plan", "sent_bytes", "messages"] {
            assert_eq!(with[field], without[field], "{arguments}: {field}");
        }
        let sum = |json: &serde_json::Value| {
            let outputs = json["outputs"].as_object().expect("results by name");
            outputs.values().filter_map(|of| of["checksum"].as_f64()).sum::<f64>()
        };
        assert!((sum(&with) - sum(&without)).abs() <= 1e-9 * sum(&without).abs(), "{arguments}: {with}, {without}");
        let threads = format!("exec \"$0\" run --json {arguments} --overlap always --ranks 4");
        let threads = together.command("sh").args(["-c", &threads, env!("CARGO_BIN_EXE_spc")]).output();
        let threads: serde_json::Value =
            serde_json::from_slice(&threads.expect("it starts").stdout).expect("it is JSON");
        assert_eq!(worked(&threads), worked(&with), "{arguments}");
    }
    Ok(())
}

/// Four processes write parts of one file, which is what one writes of all (as it does to a pipe).
fn processes_write_one_file() -> Result<(), Skip> {
    let together = Together::new()?;
    for (kernel, kinds) in [
        (
            "'Y(i,r) = A(i,j) * B(j,r)' -f A=coo -i A=a.tns -i B=random --dim r=5 --distribute A",
            &["tns", "mtx", "npy"][..],
        ),
        ("'Y(i,k) = A(i,j) * B(j,k)' -f A=csr -f B=csr -f Y=csc -i A=a.tns -i B=b.tns --distribute A", &["tns", "mtx"]),
        ("'Y(i,j) = X(i,j,k) * v(k)' -f X=csf -f Y=csr -i X=x.tns -i v=random --distribute X:2x1x2", &["tns", "mtx"]),
        ("'Y(i,j) = X(i,j,k) * v(k)' -f X=csf -i X=x.tns -i v=random --distribute X:2x2x1 --deterministic", &["npy"]),
    ] {
        for kind in kinds {
            let json = together.json(4, &format!("{kernel} -o Y=y.{kind}"));
            let found = std::fs::read(together.path(&format!("y.{kind}"))).expect("it is written");
            let output = together.processes(4, &format!("exec \"$0\" run --quiet {kernel} --to {kind} -o Y=-"));
            assert!(output.status.success() && output.stdout == found, "{kernel}: other bytes of .{kind}");
            let gathered = &together.json(4, kernel)["outputs"]["Y"];
            let of = &json["outputs"]["Y"];
            assert_eq!((&of["shape"], &of["stored"]), (&gathered["shape"], &gathered["stored"]), "{kernel}");
            let sum = |of: &serde_json::Value| of["checksum"].as_f64().unwrap_or(f64::NAN);
            assert!((sum(of) - sum(gathered)).abs() < 1e-9 * sum(gathered).abs(), "{kernel}: {of}, {gathered}");
        }
    }
    // One operation of one rank fails, the last ones of all among them: all end, and what was there before still is.
    let (mut least, mut most) = (0, 256);
    while least + 1 < most {
        let number = usize::midpoint(least, most);
        std::fs::write(together.path("y.tns"), "before").expect("there is room");
        let line = format!(
            "[ $OMPI_COMM_WORLD_RANK = 2 ] && export SPC_FAULT={number}; exec \"$0\" run 'Y(i,j) = 2 * A(i,j)' -f A=csr -f Y=csr -i A=a.tns --distribute A --backend interpreter -o Y=y.tns"
        );
        let output = together.processes(3, &line);
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            most = number;
            continue;
        }
        least = number;
        assert_eq!((output.status.code(), errors(&said)), (Some(1), 1), "operation {number}: {said}");
        assert_eq!(
            std::fs::read(together.path("y.tns")).expect("it is there"),
            b"before",
            "operation {number}: {said}"
        );
        let files = std::fs::read_dir(together.folder.path()).expect("a folder").flatten();
        let left: Vec<_> =
            files.map(|file| file.file_name()).filter(|name| name.as_encoded_bytes().ends_with(b".tmp")).collect();
        assert!(left.is_empty(), "operation {number}: {left:?}");
        if number + 1 == most {
            assert_has(&said, "y.tns: cannot write: this operation fails on purpose");
        }
    }
    Ok(())
}

/// With `--deterministic` the bits are those of one rank, on any number of processes.
fn processes_give_the_same_bits() -> Result<(), Skip> {
    let together = Together::new()?;
    let read = |name: &str| std::fs::read(together.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let cases = KERNELS.iter().flat_map(|(kernel, placements)| {
        let chosen = placements.iter().enumerate().filter(|(place, placement)| *place == 0 || placement.is_empty());
        chosen.map(move |(_, placement)| (kernel, placement))
    });
    for (kernel, placement) in cases {
        let result = kernel.trim_start_matches('\'').split(['(', ' ']).next().expect("it has a result");
        let arguments = format!("{kernel} --deterministic{}", asked(placement));
        let shell = format!("exec \"$0\" run --quiet {arguments} --ranks 1 -o {result}=one.tns");
        let one = together.command("sh").args(["-c", &shell, env!("CARGO_BIN_EXE_spc")]).output();
        assert!(one.expect("it starts").status.success(), "{arguments}");
        for ranks in [2, 3] {
            together.json(ranks, &format!("{arguments} -o {result}=several.tns"));
            assert!(read("one.tns") == read("several.tns"), "{ranks} processes: {arguments}: other bits");
        }
    }
    let factors = |ranks| {
        let cp = format!("exec \"$0\" cp x.tns --rank 3 --iterations 3 --deterministic --quiet -o model{ranks}.npz");
        let output = together.processes(ranks, &cp);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        read(&format!("model{ranks}.npz"))
    };
    assert!(factors(2) == factors(3));
    Ok(())
}

/// Least squares on processes find what one process finds, but for rounding.
fn processes_decompose_together() -> Result<(), Skip> {
    let together = Together::new()?;
    let arguments = "x.tns --rank 3 --iterations 5 --tolerance 0 --json";
    let one: serde_json::Value =
        serde_json::from_str(&together.alone(&["cp"].into_iter().chain(arguments.split(' ')).collect::<Vec<_>>()))
            .expect("it is JSON");
    let fit = |json: &serde_json::Value| json["fit"][4].as_f64().unwrap_or_else(|| panic!("no fit in {json}"));
    for ranks in [2, 4] {
        let output = together.processes(ranks, &format!("exec \"$0\" cp {arguments} -o model --quiet"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
        assert!((fit(&json) - fit(&one)).abs() < 1e-9, "{ranks} processes: {json}");
        assert!(together.path("model").exists());
    }
    let arguments = "x.tns --ranks 2,3,2 --iterations 3 --tolerance 0 --json";
    let one: serde_json::Value =
        serde_json::from_str(&together.alone(&["tucker"].into_iter().chain(arguments.split(' ')).collect::<Vec<_>>()))
            .expect("it is JSON");
    let output = together.processes(3, &format!("exec \"$0\" tucker {arguments} -o core --quiet"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    let last = |json: &serde_json::Value| json["fit"][2].as_f64().unwrap_or_else(|| panic!("no fit in {json}"));
    assert!((last(&json) - last(&one)).abs() < 1e-9, "{json}");
    assert!(together.path("core").exists());
    let said = together.fails(2, "exec \"$0\" tucker x.tns --ranks 2 --checkpoint c", 2);
    assert_has(&said, "`--checkpoint` is for one rank");
    let said = together.fails(2, "exec \"$0\" cp x.tns --rank 3 --checkpoint c", 2);
    assert_has(&said, "`--checkpoint` is for one rank");
    let said = together.fails(2, "exec \"$0\" cp x.tns --rank 3,4", 2);
    assert_has(&said, "compared by one process");
    let said = together.fails(2, "exec \"$0\" cp none.tns --rank 3", 1);
    assert_eq!(errors(&said), 1, "{said}");
    // What one process finds in its part ends all.
    std::fs::write(together.path("inf.tns"), "1 1 1 1\n2 1 1 2\n1 2 2 3\n2 2 2 inf\n").expect("a file");
    std::fs::write(together.path("bad.tns"), "1 1 1 1\n2 1 1 2\n1 2 2 3\n2 y 2 4\n").expect("a file");
    for verb in ["cp --rank 2", "tucker --ranks 2"] {
        assert_has(&together.fails(4, &format!("exec \"$0\" {verb} inf.tns"), 1), "the entry at (2, 2, 2) is inf");
        assert_has(&together.fails(4, &format!("exec \"$0\" {verb} bad.tns"), 1), "bad.tns:4:3");
    }
    Ok(())
}

fn ranks_may_have_nothing() -> Result<(), Skip> {
    let together = Together::new()?;
    std::fs::write(together.path("small.tns"), "# shape: 2 2\n1 2 3\n").expect("a file");
    std::fs::write(together.path("empty.tns"), "# shape: 3 2\n").expect("a file");
    for (file, sum) in [("small", 3.0), ("empty", 0.0)] {
        for placement in ["A", "i"] {
            let spmv = format!("'y(i) = A(i,j) * x(j)' -f A=csr -i A={file}.tns -i x=ones --distribute {placement}");
            assert_eq!(together.json(5, &spmv)["outputs"]["y"]["checksum"], sum, "{file} {placement}");
        }
    }
    Ok(())
}

/// Open MPI adds words of its own on standard error.
fn errors(said: &str) -> usize {
    said.lines().filter(|line| line.starts_with("error: ")).count()
}

fn faults_are_said_once_and_nothing_hangs() -> Result<(), Skip> {
    let together = Together::new()?;
    let spmv = "run 'y(i) = A(i,j) * x(j)' -f A=csr -i x=ones";
    let said = together.fails(3, &format!("exec \"$0\" {spmv} -i A=none.tns"), 1);
    assert_has(&said, "none.tns");
    assert_eq!(errors(&said), 1, "{said}");
    // One rank alone can't read its file.
    let line = format!("f=a.tns; [ $OMPI_COMM_WORLD_RANK = 2 ] && f=other.tns; exec \"$0\" {spmv} -i A=$f");
    let said = together.fails(3, &line, 1);
    assert_has(&said, "other.tns");
    assert_eq!(errors(&said), 1, "{said}");
    // One rank has the line that is wrong in its part.
    let text = std::fs::read_to_string(together.path("a.tns")).expect("it is text");
    let lines: Vec<&str> =
        text.lines().enumerate().map(|(line, text)| if line == 249 { "1 2 x" } else { text }).collect();
    std::fs::write(together.path("wrong.tns"), lines.join("\n")).expect("there is room");
    for placement in ["A", "A:3x1", ""] {
        let said = together.fails(3, &format!("exec \"$0\" {spmv} -i A=wrong.tns{}", asked(placement)), 1);
        assert_has(&said, "wrong.tns:250:5: value 'x' is not a number");
        assert_eq!(errors(&said), 1, "{said}");
    }
    // The first rank alone can't write.
    let said = together.fails(3, &format!("exec \"$0\" {spmv} -i A=a.tns -o y=no/folder/y.tns"), 1);
    assert_eq!(errors(&said), 1, "{said}");
    // One waits for a file that never comes.
    let made = Command::new("mkfifo").arg(together.path("pipe.tns")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let line = format!("f=a.tns; [ $OMPI_COMM_WORLD_RANK = 1 ] && f=pipe.tns; exec \"$0\" {spmv} -i A=$f --timeout 2");
    assert_has(&together.fails(2, &line, 1), "rank 1 has sent nothing for 2s");
    // One is killed while it reads.
    let line = format!(
        "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then f=pipe.tns; (sleep 2; kill -9 $$) & else f=a.tns; fi; exec \"$0\" {spmv} -i A=$f -o y=y.tns"
    );
    let output = together.processes(3, &line);
    assert!(!output.status.success(), "{output:?}");
    assert!(!together.path("y.tns").exists());
    Ok(())
}

fn what_one_process_has_is_refused() -> Result<(), Skip> {
    let together = Together::new()?;
    let spmv = "'y(i) = A(i,j) * x(j)' -f A=csr -i x=ones";
    for (line, expected) in [
        (format!("run {spmv} -i A=-"), "comes from the standard input"),
        (format!("run {spmv} -i A=a.tns --ranks 3"), "`--ranks 3` for 2 processes"),
        (format!("run {spmv} -i A=a.tns --show-code"), "`--show-code` is not for ranks"),
        ("info x.tns".to_owned(), "which only `spc run`, `spc cp`, `spc tucker` and `spc bench` are for"),
    ] {
        let said = together.fails(2, &format!("exec \"$0\" {line}"), 2);
        assert_has(&said, expected);
    }
    Ok(())
}

spc_tests::tests! {
    processes_give_what_threads_give,
    processes_work_while_rows_are_under_way,
    processes_write_one_file,
    processes_give_the_same_bits,
    processes_decompose_together,
    ranks_may_have_nothing,
    faults_are_said_once_and_nothing_hangs,
    what_one_process_has_is_refused,
}
