//! All tests of the compiler from outside, in one program.

mod errors;
mod grammar;
mod imports;
mod marker_types;
mod reference;
#[path = "rust/main.rs"]
mod rust;
mod schedules;
mod topics;

/// Compares a text with the file `snapshots/NAME.snap`; in a `glob!`, `NAME@FILE.snap`.
#[track_caller]
fn assert_snapshot(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, { insta::assert_snapshot!(name, text) });
}

/// Compares a file of the workspace, whose path begins at this package, with the text that it is made to be. `INSTA_UPDATE=always` writes
/// it anew.
#[track_caller]
fn assert_made(path: &str, expected: &str, test: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(&path, expected).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{} is not up to date: write it anew with `INSTA_UPDATE=always cargo test -p spc-tensor-compiler --test main {test}`",
        path.display()
    );
}
