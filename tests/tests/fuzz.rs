//! Damaged copies of good inputs through everything that reads text or files: nothing panics, and memory stays small.
//!
//! `SPC_FUZZ` is how many inputs each target gets (400 unless set), `SPC_FUZZ_SEED` the first one's number, `SPC_FUZZ_TARGET`
//! one target alone. The same targets run for as long as one likes under `cargo fuzz`, in `tests/fuzz`; with `SPC_FUZZ_CORPUS`,
//! good inputs for each are written below that folder, which is where it begins: see its `Cargo.toml`.

use spc_tests::fuzz::{TARGETS, Target, mutated};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The first inputs that make a target panic, a few of them.
fn failures(target: &Target) -> Vec<String> {
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{} has no seeds", target.name);
    let first = number("SPC_FUZZ_SEED", 1);
    let mut failures = Vec::new();
    for seed in first..first + number("SPC_FUZZ", 400) {
        let input = mutated(&seeds, seed);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let message: String = message.unwrap_or_default().chars().take(300).collect();
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

#[test]
fn nothing_panics_and_memory_stays_small() {
    let only = std::env::var("SPC_FUZZ_TARGET").ok();
    let chosen = TARGETS.iter().filter(|target| only.as_ref().is_none_or(|only| only == target.name));
    let before = peak_memory();
    std::panic::set_hook(Box::new(|_| {}));
    let failures: Vec<String> = chosen.flat_map(failures).collect();
    _ = std::panic::take_hook();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    // Inputs are a few kilobytes.
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before < 1024, "{} MiB were used", after - before);
    }
}

#[test]
fn good_inputs_are_taken_and_written_where_asked() {
    let corpus = std::env::var_os("SPC_FUZZ_CORPUS").map(std::path::PathBuf::from);
    for target in TARGETS {
        for (number, input) in (target.seeds)().iter().enumerate() {
            (target.run)(input);
            if let Some(corpus) = &corpus {
                let folder = corpus.join(target.name);
                std::fs::create_dir_all(&folder).expect("a folder for inputs");
                std::fs::write(folder.join(format!("{number}")), input).expect("an input is written");
            }
        }
    }
}
