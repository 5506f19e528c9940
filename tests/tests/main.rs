//! All tests of the project as a whole, but for the corpus through the macro: see `spc_tests::harness`.

mod c_rows;
mod cliffs;
mod complete_schedules;
mod computed_extents;
mod conformance;
mod corpus;
mod counters;
mod cuda;
mod decompositions;
mod device;
mod extremes;
mod finch;
mod fuzz;
mod gaps;
mod gpu;
mod gradients;
mod growth;
mod hashed_table;
mod hostile_names;
mod instructions;
mod long_sums;
mod losses;
mod macro_kernels;
mod metamorphic;
mod nvrtc;
mod overrides;
mod planned;
mod plans;
mod planted;
mod printed;
mod random;
mod random_forms;
mod real_data;
mod schedules;
mod semirings;
mod snapshots;
mod splits;
mod streams;
mod suite_kernels;
mod sweep;
mod texts;
mod tiles;
mod tucker;

use spc_tests::harness;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    harness::main(env!("CARGO_TARGET_TMPDIR"), |suite| {
        suite.test("every_test_is_registered", every_test_is_registered);
        suite.test("every_option_is_documented", every_option_is_documented);
        c_rows::tests(suite);
        cliffs::tests(suite);
        complete_schedules::tests(suite);
        computed_extents::tests(suite);
        conformance::tests(suite);
        corpus::tests(suite);
        counters::tests(suite);
        cuda::tests(suite);
        decompositions::tests(suite);
        device::tests(suite);
        extremes::tests(suite);
        finch::tests(suite);
        fuzz::tests(suite);
        gaps::tests(suite);
        gpu::tests(suite);
        gradients::tests(suite);
        growth::tests(suite);
        hashed_table::tests(suite);
        hostile_names::tests(suite);
        instructions::tests(suite);
        long_sums::tests(suite);
        losses::tests(suite);
        macro_kernels::tests(suite);
        metamorphic::tests(suite);
        nvrtc::tests(suite);
        overrides::tests(suite);
        planned::tests(suite);
        plans::tests(suite);
        planted::tests(suite);
        random::tests(suite);
        random_forms::tests(suite);
        real_data::tests(suite);
        schedules::tests(suite);
        semirings::tests(suite);
        snapshots::tests(suite);
        splits::tests(suite);
        streams::tests(suite);
        suite_kernels::tests(suite);
        sweep::tests(suite);
        texts::tests(suite);
        tiles::tests(suite);
        tucker::tests(suite);
    })
}

fn every_option_is_documented() {
    let page = include_str!("../../CONTRIBUTING.md");
    let missing: Vec<String> =
        harness::settings().into_iter().filter(|name| !page.contains(&format!("`{name}"))).collect();
    assert_eq!(missing, [""; 0]);
}

/// This harness does not see the attribute.
fn every_test_is_registered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for file in std::fs::read_dir(folder).expect("the folder can be read").map(|entry| entry.expect("a file").path()) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let has_attribute = text.lines().any(|line| line.trim() == concat!("#[", "test]"));
        assert!(!has_attribute, "{}: tests are registered by `spc_tests::tests!`, not by an attribute", file.display());
    }
}
