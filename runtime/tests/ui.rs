//! What rustc says about wrong kernels and wrong calls: each file of `ui/`, and its messages beside it.
//!
//! `INSTA_UPDATE=always cargo test -p spc-tensor --test main ui` writes them anew. A file may begin with the line `// accepted`: rustc then takes
//! it, and its warnings are compared.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ACCEPTED: &str = "// accepted";

#[test]
fn messages_stand_at_the_tokens_that_are_wrong() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = package.join("tests/ui");
    let entries = fs::read_dir(&folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be read to its end").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    let library = Library::find();
    let update = env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always");
    let mut wrong = String::new();
    for file in &files {
        let relative = file.strip_prefix(package).expect("the file is in the package");
        let messages = library.messages(package, relative);
        let beside = file.with_extension("stderr");
        if update {
            fs::write(&beside, &messages).expect("the messages can be written");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if expected != messages {
            wrong += &format!("{}:\n{messages}\nbut was expected:\n{expected}\n", relative.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The crate as this test was linked with it.
struct Library {
    dependencies: PathBuf,
    file: PathBuf,
}

impl Library {
    /// The newest beside this test that has the macro: it was compiled in the same run, or is still that of the same text. The command is
    /// built without the macro.
    fn find() -> Self {
        let this = env::current_exe().expect("the test knows its own file");
        let dependencies = this.parent().expect("the file is in a folder").to_owned();
        let is_library = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.starts_with("libspc-") && name.ends_with(".rlib")
        };
        let files = fs::read_dir(&dependencies).expect("the folder can be read");
        let mut libraries: Vec<PathBuf> =
            files.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(is_library).collect();
        libraries.sort_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok());
        let mut libraries = libraries.into_iter().rev().map(|file| Self { file, dependencies: dependencies.clone() });
        libraries.find(Self::has_macro).expect("the library is beside its test")
    }

    fn has_macro(&self) -> bool {
        let uses = env!("CARGO_TARGET_TMPDIR").to_owned() + "/ui_uses.rs";
        fs::write(&uses, "fn main() { use spc::tensor_kernel as _; }").expect("the folder can be written to");
        self.rustc().arg(uses).stderr(Stdio::null()).status().expect("rustc runs").success()
    }

    /// A compiler that knows the library.
    fn rustc(&self) -> Command {
        let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command
            .args(["--edition=2024", "--crate-type=bin", "--emit=metadata", "--color=never", "-o"])
            .arg(env!("CARGO_TARGET_TMPDIR").to_owned() + "/ui.rmeta")
            .arg("-L")
            .arg(format!("dependency={}", self.dependencies.display()))
            .arg("--extern")
            .arg(format!("spc={}", self.file.display()))
            .stdin(Stdio::null());
        command
    }

    /// What rustc says of a file of the package.
    fn messages(&self, package: &Path, file: &Path) -> String {
        let is_accepted = fs::read_to_string(package.join(file)).is_ok_and(|text| text.starts_with(ACCEPTED));
        let output = self
            .rustc()
            .arg(file)
            .current_dir(package)
            .env("CARGO_MANIFEST_DIR", package)
            .output()
            .expect("rustc runs");
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), is_accepted, "{}:\n{messages}", file.display());
        without_summary(&messages)
    }
}

/// The messages without rustc's last words, which count them.
fn without_summary(messages: &str) -> String {
    let starts = ["error: aborting due to", "For more information about", "Some errors have detailed", "warning: "];
    let is_summary = |line: &str| {
        starts.iter().any(|start| line.starts_with(start))
            && (!line.starts_with("warning") || line.ends_with(" emitted"))
    };
    let kept: Vec<&str> = messages.lines().filter(|line| !is_summary(line)).collect();
    kept.join("\n").trim_end().to_owned() + "\n"
}
