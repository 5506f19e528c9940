//! What kernels of the macro cost rustc: `cargo run --release -p spc-tensor --example compile_cost`.
//!
//! Builds a library with the sixty kernels of `kernels.ti` and the same library without them, in release mode, and prints the
//! processor time (user and system) of both, and what the kernels add. Their own crates are compiled before the clock starts.
//! Needs Linux, which tells the processor time of child processes in `/proc/self/stat`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const KERNELS: &str = include_str!("kernels.ti");

/// Dependencies are compiled as in this workspace, the library itself as by default.
const MANIFEST: &str = r#"
[package]
name = "compile-cost"
edition = "2024"

[workspace]

[dependencies]
spc = { path = RUNTIME }

[profile.release.package."*"]
debug = "line-tables-only"
"#;

/// Of how many builds of each library the cheapest counts.
const BUILDS: usize = 3;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let target = target_folder()?;
    let library = Library::new(&target.join("compile-cost"))?;
    let count = KERNELS.lines().filter(|line| line.starts_with("pub fn")).count();
    library.build(&target, "")?;
    let mut seconds = [f64::INFINITY; 2];
    for build in 0..BUILDS {
        let with_kernels = format!("spc::tensor_kernel! {{\n{KERNELS}}}\n");
        for (text, least) in ["", &with_kernels].into_iter().zip(&mut seconds) {
            // A comment of its own for each build, so that cargo has to build.
            *least = least.min(library.build(&target, &format!("// {build}\n{text}"))?);
        }
    }
    let [without, with] = seconds;
    println!("{count} kernels: {with:.2} CPU-seconds; none: {without:.2}; they add {:.2}", with - without);
    Ok(())
}

/// The folder that this program was built in, where the crate `spc` is compiled already.
fn target_folder() -> Result<PathBuf, Failure> {
    let program = env::current_exe()?;
    Ok(program.ancestors().nth(3).ok_or("cargo runs this from `target/release/examples`")?.to_owned())
}

/// A package with a library that uses `spc`.
struct Library {
    folder: PathBuf,
}

impl Library {
    fn new(folder: &Path) -> Result<Self, Failure> {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        let manifest = MANIFEST.replace("RUNTIME", &format!("{runtime:?}"));
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("Cargo.toml"), manifest)?;
        // The same versions as here, so that nothing is fetched.
        fs::copy(runtime.join("../Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Builds the library with this text. Returns the seconds that processors spent on it.
    fn build(&self, target: &Path, text: &str) -> Result<f64, Failure> {
        fs::write(self.folder.join("src/lib.rs"), text)?;
        let before = children_seconds()?;
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--release", "--quiet", "--target-dir"])
            .arg(target)
            .current_dir(&self.folder)
            .status()?;
        if !status.success() {
            return Err(format!("the library in {} can't be built", self.folder.display()).into());
        }
        Ok(children_seconds()? - before)
    }
}

/// The processor time of all child processes that have ended, and of theirs.
fn children_seconds() -> Result<f64, Failure> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let after_name = text.rsplit(')').next().unwrap_or_default();
    // Fields 16 and 17 of proc(5), in hundredths of a second; the first behind the name is field 3.
    let ticks: Vec<f64> = after_name.split_whitespace().skip(13).take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / 100.0)
}
