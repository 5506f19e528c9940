//! The program `device`, which measures and checks kernels on a GPU, in a process that finds a driver, a compiler and a sparse library
//! which tests have made: see `emulation::driver`.

use serde_json::Value;
use spc_tests::emulation::driver::Installed;
use spc_tests::harness::Skip;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Few entries, and few runs.
const SMALL: [&str; 7] = ["--json", "--nnz", "3000", "--repeat", "2", "--parts", "3"];

fn device(installed: &Installed, arguments: &[&str]) -> Command {
    let mut command = installed.command(env!("CARGO_BIN_EXE_device"));
    command.args(SMALL).args(arguments);
    command
}

/// What stands for `compute-sanitizer`, in the folder of the libraries, which comes first in PATH.
fn with_sanitizer(command: &mut Command, folder: &Path, script: &str) {
    let path = folder.join("compute-sanitizer");
    std::fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{script}\n")).expect("it is written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let before = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{before}", folder.display()));
}

/// What a program says as JSON.
fn said(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("no {name} in {value}"))
}

fn one_call_measures_and_checks_everything() -> Result<(), Skip> {
    let installed = Installed::new()?;
    let mut command = device(&installed, &["--case", "suite/spmv-csr"]);
    // It runs what it is given behind its own options.
    let script = "shift 4; \"$@\" || exit 86; echo '========= ERROR SUMMARY: 0 errors'";
    with_sanitizer(&mut command, installed.folder(), script);
    let output = command.output().expect("it starts");
    let table = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{table}\n{}", String::from_utf8_lossy(&output.stdout));
    let all = said(&output);
    assert_eq!(all["device"]["name"], "Emulation 0");
    let measured = &all["measured"];
    assert!(measured["bandwidth"]["pinned"] == true && measured["cusparse"]["version"] == 12345, "{measured}");
    assert_eq!(array(measured, "failed"), [Value::Null; 0]);
    let rows = array(measured, "rows");
    // Six matrices by six kernels, two of them in parts too; two products; three tensors by nine kernels and one in parts.
    assert_eq!(rows.len(), 6 * (6 + 2) + 2 + 3 * (9 + 1), "{table}");
    let (mut peers, mut compared) = (0, 0);
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap_or(0.0);
        assert!(number("median_ms") > 0.0 && number("bytes") > 0.0 && row["right"] == true, "{row}");
        assert!(!array(row, "functions").is_empty(), "{row}");
        compared += usize::from(row["difference"].is_f64());
        if let Some(algorithms) = row["cusparse"]["algorithms"].as_array() {
            peers += 1;
            let without = algorithms.iter().filter(|algorithm| algorithm["error"].is_string()).count();
            assert_eq!(without, usize::from(row["kernel"].as_str().unwrap_or_default().starts_with("spmv")), "{row}");
        }
        assert_eq!(row["of_link_bandwidth"].is_f64(), row["parts"].is_object(), "{row}");
    }
    // Beside cuSPARSE; what two kernels make; a whole and its parts.
    assert_eq!((peers, compared), (6 * 6 + 2, 6 * 6 + 2 + 6 * 2 + 3 * (1 + 1 + 1 + 2)), "{table}");
    let aims = array(measured, "aims");
    assert!(aims.len() == 10 && aims.iter().all(|aim| aim["verdict"] != "not measured"), "{aims:?}");
    let of = |start: &str| aims.iter().find(|aim| aim["aim"].as_str().unwrap_or_default().starts_with(start));
    assert_eq!(of("SpMV f64, banded").expect("it is there")["rows"], 2);
    assert_eq!(of("SpMV f64, all").expect("it is there")["rows"], 6);
    assert_eq!(all["check"]["cases"], 2, "{}", all["check"]);
    let tools = all["sanitizer"].as_array().expect("both ran");
    let tools: Vec<(&Value, &Value)> = tools.iter().map(|tool| (&tool["tool"], &tool["clean"])).collect();
    assert_eq!(tools, [(&"memcheck".into(), &true.into()), (&"racecheck".into(), &true.into())]);
    Ok(())
}

fn what_is_wrong_or_missing_is_told() -> Result<(), Skip> {
    let installed = Installed::new()?;
    let spmv = ["measure", "--kernel", "spmv f64"];
    let output = device(&installed, &spmv).env("SPC_EMULATED_WRONG", "1").output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let wrong = |row: &&Value| row["right"] == false;
    assert_eq!(array(&said(&output)["measured"], "rows").iter().filter(wrong).count(), 6);

    std::fs::remove_file(installed.folder().join("libcusparse.so.12")).expect("it was there");
    let output = device(&installed, &spmv).output().expect("it starts");
    let (all, table) = (said(&output), String::from_utf8_lossy(&output.stderr));
    // A machine may have the library where every machine has it.
    if all["measured"]["cusparse"]["version"].is_null() {
        assert!(output.status.success() && table.contains("pip install nvidia-cusparse-cu12"), "{table}");
        let of_peers = |aim: &&Value| aim["aim"].as_str().unwrap_or_default().contains("cuSPARSE");
        let verdicts = array(&all["measured"], "aims").iter().filter(of_peers).map(|aim| &aim["verdict"]);
        assert!(verdicts.eq(["not measured"; 3].iter()));
    }

    let mut command = device(&installed, &["sanitize", "--case", "suite/spmv-csr-f64"]);
    with_sanitizer(&mut command, installed.folder(), "echo '========= ERROR SUMMARY: 3 errors'; exit 86");
    let output = command.output().expect("it starts");
    let sanitizer = &said(&output)["sanitizer"];
    assert_eq!((output.status.code(), &sanitizer[0]["clean"]), (Some(1), &false.into()));
    assert_eq!(sanitizer[0]["summary"][0], "ERROR SUMMARY: 3 errors");

    let output = device(&installed, &["check", "--case", "no such case"]).output().expect("it starts");
    assert_eq!((output.status.code(), &said(&output)["check"]["cases"]), (Some(1), &0.into()));
    Ok(())
}

spc_tests::tests! {
    [whole] one_call_measures_and_checks_everything,
    what_is_wrong_or_missing_is_told,
}
