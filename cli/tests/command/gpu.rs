//! `--backend cuda`, with a driver that tests have made.

use super::{Place, assert_has};
use spc_tests::emulation::driver::Installed;
use std::process::Output;

const SPMV: &str = "y(i) = A(i, j) * x(j)";

#[test]
fn a_kernel_runs_on_a_gpu() {
    let Some(installed) = Installed::new() else { return println!("nothing ran: there is no C++ compiler") };
    let place = Place::new().with("a.tns", "1 2 3.0\n3 1 4.0\n");
    let spc = |arguments: &[&str]| -> Output {
        let mut command = installed.command(env!("CARGO_BIN_EXE_spc"));
        command.current_dir(place.path(".")).args(arguments).output().unwrap()
    };
    let run = ["run", SPMV, "-f", "A=csr", "-i", "A=a.tns", "-i", "x=ones", "--backend", "cuda"];
    let output = spc(&[&run[..], &["--device", "1", "-o", "y=y.tns"]].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_has(&said, &["cuda on device 1 (Emulation 1, sm_90)"]);
    assert_eq!(place.read("y.tns"), "# shape: 3\n1 3\n2 0\n3 4\n");
    let output = spc(&[&run[..], &["--json", "--repeat", "3"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["backend"], &json["checksum"]), (&"cuda".into(), &7.0.into()), "{json}");
    assert_eq!(json["run_ms"].as_array().unwrap().len(), 3);
    let output = spc(&[&run[..], &["--deterministic", "-o", "y=z.tns"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(place.read("z.tns"), "# shape: 3\n1 3\n2 0\n3 4\n");
    let output = spc(&[&run[..], &["--device", "2"]].concat());
    assert_has(&String::from_utf8_lossy(&output.stderr), &["no CUDA device 2: the driver sees 2", "nvidia-smi"]);
    assert_eq!(output.status.code(), Some(1));
}
