//! The commands of the papers' inventories run.

use serde_json::Value;
use spc_tests::harness::options;
use std::path::Path;
use std::process::Command;

spc_tests::tests! { commands_run }

/// The usual tier runs one in this many commands, and draws them anew each time.
const SHARE: u64 = 16;

fn commands_run() {
    let program = Path::new(env!("CARGO_BIN_EXE_spc"));
    let listed = Command::new(program).args(["suite", "--inventory", "--json"]).output().expect("the command runs");
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("it is JSON");
    let inventories = listed["inventories"].as_array().expect("a list");
    let rows = inventories.iter().flat_map(|inventory| inventory["rows"].as_array().expect("a list"));
    let mut commands: Vec<&str> =
        rows.filter_map(|row| row["command"].as_str()).filter(|command| !command.is_empty()).collect();
    commands.sort_unstable();
    commands.dedup();
    assert!(commands.len() >= 30, "{} commands", commands.len());
    let drawn = options().draw();
    let runs = |place: usize| options().whole || (place as u64 + drawn).is_multiple_of(SHARE);
    let folders = [program.parent().expect("a folder").to_path_buf()];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path))).expect("no colons");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for (_, command) in commands.into_iter().enumerate().filter(|(place, _)| runs(*place)) {
        let folder = tempfile::tempdir().expect("a folder");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&examples, folder.path().join("examples")).expect("a link");
        let done = Command::new("bash").args(["-c", command]).env("PATH", &path).current_dir(folder.path()).output();
        let done = done.expect("bash runs");
        assert!(done.status.success(), "{command}\n{}", String::from_utf8_lossy(&done.stderr));
    }
}
