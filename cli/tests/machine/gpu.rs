//! `--backend cuda`, with a driver that tests have made.

use spc_tests::emulation::driver::Installed;
use spc_tests::harness::Skip;
use std::process::Output;

const SPMV: &str = "y(i) = A(i, j) * x(j)";

/// Asserts that a text has each of some parts.
#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "no {part:?} in:\n{text}"));
}

fn a_kernel_runs_on_a_gpu() -> Result<(), Skip> {
    let installed = Installed::new()?;
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    std::fs::write(folder.path().join("a.tns"), "1 2 3.0\n3 1 4.0\n").expect("a file");
    let spc = |arguments: &[&str]| -> Output {
        let mut command = installed.command(env!("CARGO_BIN_EXE_spc"));
        command.current_dir(folder.path()).args(arguments).output().unwrap()
    };
    let run = ["run", SPMV, "-f", "A=csr", "-i", "A=a.tns", "-i", "x=ones", "--backend", "cuda"];
    let output = spc(&[&run[..], &["--device", "1", "-o", "y=y.tns"]].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_has(&said, &["cuda on device 1 (Emulation 1, sm_90)"]);
    assert_eq!(read("y.tns"), "# shape: 3\n1 3\n2 0\n3 4\n");
    let output = spc(&[&run[..], &["--json", "--repeat", "3"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["backend"], &json["checksum"]), (&"cuda".into(), &7.0.into()), "{json}");
    assert_eq!(json["run_ms"].as_array().unwrap().len(), 3);
    let output = spc(&[&run[..], &["--deterministic", "-o", "y=z.tns"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(read("z.tns"), "# shape: 3\n1 3\n2 0\n3 4\n");
    let output = spc(&[&run[..], &["--device", "2"]].concat());
    assert_has(&String::from_utf8_lossy(&output.stderr), &["no CUDA device 2: the driver sees 2", "nvidia-smi"]);
    assert_eq!(output.status.code(), Some(1));
    Ok(())
}

const SUITE: &str = r#"{
  "name": "mine", "title": "One kernel", "kernels": {"TTV": "ttv"}, "formats": ["csf"],
  "tensors": [{"generator": "uniform", "shape": [20, 30, 25], "nnz": 400, "name": "u"}]
}"#;

/// The same rows as the processor's, in the same folder; the page says what emulated times are worth.
fn a_suite_runs_on_a_gpu() -> Result<(), Skip> {
    let installed = Installed::new()?;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mine.json"), SUITE).expect("a file");
    let spc = |arguments: &[&str]| -> String {
        let mut command = installed.command(env!("CARGO_BIN_EXE_spc"));
        let output = command.current_dir(folder.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let suite = ["suite", "mine.json", "--quick", "--scale", "1", "--budget", "0.001", "--out", "o"];
    spc(&[&suite[..], &["--threads", "1"]].concat());
    assert_has(&spc(&[&suite[..], &["--backend", "cuda"]].concat()), &["3 rows were there, 3 were measured"]);
    let page = std::fs::read_to_string(folder.path().join("o/page.html")).expect("a page");
    assert_has(&page, &["times mean nothing", "GPU over all threads", "Emulation 0", "Roofline, cuda"]);
    let bench = [
        "bench",
        "uniform:20x30:50",
        "--kernel",
        "spmv",
        "--quick",
        "--budget",
        "0.001",
        "--backend",
        "cuda",
        "--json",
    ];
    let said = spc(&bench);
    assert_has(&said, &["times mean nothing", "\"backend\":\"cuda\""]);
    Ok(())
}

/// No driver is there, nor a GPU: what a model says of one.
fn a_gpu_is_predicted() -> Result<(), Skip> {
    std::process::Command::new("g++").arg("--version").output().map_err(|_| Skip::without_cpp())?;
    let folder = tempfile::tempdir().expect("a folder");
    let spc = |arguments: &[&str]| -> Output {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_spc"));
        command.current_dir(folder.path()).args(arguments).env("SPC_CACHE", folder.path().join("cache"));
        command.env_remove("SPC_NVRTC").output().unwrap()
    };
    let generate = ["generate", "uniform", "--shape", "60x70", "--nnz", "500", "--output", "a.mtx"];
    assert!(spc(&generate).status.success());
    let explain = ["explain", SPMV, "-f", "A=csr", "-i", "A=a.mtx", "-i", "x=ones", "--counters"];
    let output = spc(&[&explain[..], &["--target", "cuda", "--model", "h200"]].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_has(&said, &["predicted for H200", "nothing was measured on a GPU", "limited by", "A_vals", "load 8"]);
    let output = spc(&[&explain[..], &["--target", "cuda", "--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let launches = json["counters"]["launches"].as_array().unwrap_or_else(|| panic!("{json}"));
    let bytes = |array: &str| {
        let is_loaded = |site: &&serde_json::Value| site["array"] == array && site["access"] == "load";
        let sites = launches.iter().flat_map(|launch| launch["sites"].as_array().unwrap());
        sites.filter(is_loaded).map(|site| site["useful_bytes"].as_u64().unwrap()).sum::<u64>()
    };
    // Lanes of a warp that read one element use it once.
    let of_x = bytes("x");
    assert!(of_x.is_multiple_of(8) && (8 * 70..=8 * 500).contains(&of_x), "{of_x}");
    // Four entries at a time, of which the first and the last of a row may be others'.
    let of_values = bytes("A_vals");
    assert!(of_values.is_multiple_of(16) && (8 * 500..8 * (500 + 60 * 6)).contains(&of_values), "{of_values}");

    let bench = ["bench", "a.mtx", "--kernel", "spmv", "--format", "csr", "--quick", "--backend", "cuda", "--model"];
    let output = spc(&[&bench[..], &["a100"]].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert_has(&said, &["A100 SXM 80 GB as it is described", "predicted (", "nothing in this table was measured"]);
    let output = spc(&[&bench[..], &["a100", "--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let record = &json["records"][0];
    assert_eq!((&record["predicted"]["gpu"], &record["runs"]), (&"A100 SXM 80 GB".into(), &1.into()), "{record}");
    assert!(record["predicted"]["predicted_ms"].as_f64().is_some_and(|time| time > 0.0), "{record}");

    std::fs::write(folder.path().join("mine.json"), SUITE).expect("a file");
    let suite = ["suite", "mine.json", "--quick", "--scale", "1", "--budget", "0.001", "--threads", "1", "--out", "o"];
    let output = spc(&[&suite[..], &["--model", "h100", "--json"]].concat());
    let json: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let rows = json["experiments"].as_array().unwrap();
    let is_counted = |row: &serde_json::Value| {
        let bytes = row["also"]["memory_bytes"].as_f64().unwrap_or_default();
        row["backend"] == "counted" && row["setting"] == "H100 SXM" && row["kernel_ms"] == 0.0 && bytes >= 8.0 * 400.0
    };
    assert!(rows.len() == 3 && rows.iter().all(is_counted), "{json:#}");
    let page = std::fs::read_to_string(folder.path().join("o/page.html")).expect("a page");
    assert_has(&page, &["<title>On a GPU, counted: memory of a GPU</title>"]);

    std::fs::write(folder.path().join("mine.gpu"), "name = mine\nwarps = many\n").expect("a file");
    let refused = |arguments: &[&str], part: &str| {
        let output = spc(arguments);
        assert_has(&String::from_utf8_lossy(&output.stderr), &[part]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    };
    refused(&[&bench[..], &["gtx"]].concat(), "there is no GPU `gtx`");
    refused(&[&bench[..], &["mine.gpu"]].concat(), "it does not say `architecture`");
    refused(&["bench", "a.mtx", "--backend", "native", "--model", "h100"], "with `--backend cuda`");
    refused(&explain, "add `--target cuda`");
    Ok(())
}

spc_tests::tests! { a_kernel_runs_on_a_gpu, a_suite_runs_on_a_gpu, a_gpu_is_predicted }
