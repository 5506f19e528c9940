//! Printed Rust goes through rustc: it must be accepted, and mean what the loop IR means.

mod names;
mod operators;
mod rustc;

#[test]
fn every_scheduled_kernel_compiles() {
    let mut items = String::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schedules");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the cases are there").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for (number, path) in paths.iter().enumerate() {
        let text = std::fs::read_to_string(path).expect("the case can be read");
        items += &format!("mod file_{number} {{ use super::parallel; {} }}\n", names::printed(&text));
    }
    rustc::accepts("schedules", &items);
}
