//! The same meaning written a little differently costs about the same: see `spc_tests::cliffs`.

use spc_tests::cliffs::{Family, Measured};
use spc_tests::harness::options;

/// The most by which the dearest writing exceeds the cheapest, in all families but one of [`BUT_ONE_OF`].
const MOST: f64 = 4.0;
const BUT_ONE_OF: usize = 100;

/// The same for every family.
const NEVER: f64 = 20.0;

spc_tests::tests! { no_writing_costs_much_more_than_another }

fn no_writing_costs_much_more_than_another() {
    let seeds: Vec<u64> = options().seeds(60, 2000).collect();
    let (mut dear, mut never) = (Vec::new(), Vec::new());
    for &seed in &seeds {
        let measured = Family::new(seed).measure().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let ratio = ratio(&measured);
        if ratio > MOST {
            dear.push(shown(seed, ratio, &measured));
        }
        if ratio > NEVER {
            never.push(shown(seed, ratio, &measured));
        }
    }
    assert!(never.is_empty(), "{}", never.join("\n"));
    assert!(dear.len() <= seeds.len().div_ceil(BUT_ONE_OF), "{} of {}:\n{}", dear.len(), seeds.len(), dear.join("\n"));
}

fn ratio(measured: &[Measured]) -> f64 {
    let works = || measured.iter().map(|writing| writing.work.max(1) as f64);
    works().fold(0.0, f64::max) / works().fold(f64::INFINITY, f64::min)
}

fn shown(seed: u64, ratio: f64, measured: &[Measured]) -> String {
    let lines = measured.iter().map(|Measured { text, work }| format!("\n{work:>12} {text}"));
    format!("seed {seed}: {ratio:.1} times{}", lines.collect::<String>())
}
