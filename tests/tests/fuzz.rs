//! Damaged copies of good inputs through everything that reads text or files: nothing panics, and memory stays small.
//!
//! Each target is a test. `--times` asks for more inputs, `--seed` for others. The same targets run for as long as one likes under
//! `cargo fuzz`, in `tests/fuzz`; with `--fuzz-inputs`, good inputs for each are written below that folder, which is where it
//! begins: see its `Cargo.toml`.

use spc_tests::fuzz::{TARGETS, Target, mutated};
use spc_tests::harness::{Suite, options, without_panics};

/// The first inputs that make a target panic, a few of them.
fn failures(target: &Target) -> Vec<String> {
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{} has no seeds", target.name);
    let mut failures = Vec::new();
    for seed in options().seeds(100, 400) {
        let input = mutated(&seeds, seed);
        if let Err(message) = without_panics(|| (target.run)(&input)) {
            let message: String = message.chars().take(300).collect();
            failures.push(format!("{} {seed}: {message}\n{}", target.name, input.escape_ascii()));
        }
        if failures.len() >= 5 {
            break;
        }
    }
    failures
}

/// The most memory that the process has had, in MiB; `None` where the system does not tell.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? >> 10)
}

/// Memory is a process's.
fn nothing_panics_and_memory_stays_small(target: &Target) {
    let before = peak_memory();
    let failures = failures(target);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    // Inputs are a few kilobytes. The system counts pages in parts, so that the peak may seem to fall a little.
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        let used = after.saturating_sub(before);
        assert!(used < 1024, "{used} MiB were used");
    }
}

fn good_inputs_are_taken_and_written_where_asked() {
    let corpus = options().fuzz_inputs.as_ref();
    for target in TARGETS {
        for (number, input) in (target.seeds)().iter().enumerate() {
            (target.run)(input);
            if let Some(corpus) = corpus {
                let folder = corpus.join(target.name);
                std::fs::create_dir_all(&folder).expect("a folder for inputs");
                std::fs::write(folder.join(format!("{number}")), input).expect("an input is written");
            }
        }
    }
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    suite.test("fuzz::good_inputs_are_taken", good_inputs_are_taken_and_written_where_asked);
    for target in TARGETS {
        suite.alone(format!("fuzz::{}", target.name), || nothing_panics_and_memory_stays_small(target));
    }
}
