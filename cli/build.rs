//! Packs the inventories of papers, and has the linker make the command smaller where it can: functions of the same code are one (kernels
//! of packing for two types of the same width), and addresses to be moved at the start are packed. Whether it can is tried on the
//! linker itself, by a program that does nothing: which one links, and which C library loads the program, is for the machine to say.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const OPTIONS: [&str; 2] = ["-Wl,--icf=all", "-Wl,-z,pack-relative-relocs"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    commit();
    inventories();
    let of = |name: &str| env::var(name).unwrap_or_default();
    if of("PROFILE") != "release" || of("HOST") != of("TARGET") || of("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let (rustc, folder) = (of("RUSTC"), of("OUT_DIR"));
    for option in OPTIONS.iter().filter(|option| links(&rustc, Path::new(&folder), option)) {
        println!("cargo::rustc-link-arg-bins={option}");
    }
}

/// Packs the inventories of papers, as one object by the names of their files.
fn inventories() {
    const FOLDER: &str = "src/suite/inventories";
    println!("cargo::rerun-if-changed={FOLDER}");
    let entries = std::fs::read_dir(FOLDER).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let one = |path: &PathBuf| {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        format!("\"{name}\":{}", std::fs::read_to_string(path).expect("the file can be read"))
    };
    let text = format!("{{{}}}", paths.iter().map(one).collect::<Vec<_>>().join(","));
    let packed = Path::new(&env::var_os("OUT_DIR").expect("cargo says it")).join("inventories.gz");
    let mut file = GzEncoder::new(std::fs::File::create(packed).expect("it can be written"), Compression::best());
    file.write_all(text.as_bytes()).and_then(|()| file.finish()).expect("it can be written");
}

/// Says which commit this is, where git knows: `spc suite` notes it with its figures.
fn commit() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if let (Some(commit), Some(log)) =
        (git(&["rev-parse", "--short=12", "HEAD"]), git(&["rev-parse", "--git-path", "logs/HEAD"]))
    {
        println!("cargo::rustc-env=SPC_COMMIT={commit}");
        if Path::new(&log).exists() {
            println!("cargo::rerun-if-changed={log}");
        }
    }
}

/// Whether a program is linked with this option without a warning, and starts.
fn links(rustc: &str, folder: &Path, option: &str) -> bool {
    let (source, program) = (folder.join("nothing.rs"), folder.join("nothing"));
    let mut command = Command::new(rustc);
    command.arg(&source).arg("-o").arg(&program).arg(format!("-Clink-arg={option}")).arg("-Dlinker-messages");
    // As the command itself is linked.
    command.args(env::var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}")));
    command.args(env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().split('\x1f').filter(|flag| !flag.is_empty()));
    let done =
        |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    std::fs::write(&source, "fn main() {}\n").is_ok() && done(&mut command) && done(&mut Command::new(&program))
}
