//! All tests of the compiler from outside, in one program.

mod errors;
mod grammar;
mod guide;
mod imports;
mod marker_types;
#[path = "rust/main.rs"]
mod rust;
mod schedules;
mod topics;

/// Compares a text with the file `snapshots/NAME.snap`; in a `glob!`, `NAME@FILE.snap`.
#[track_caller]
fn assert_snapshot(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, { insta::assert_snapshot!(name, text) });
}
