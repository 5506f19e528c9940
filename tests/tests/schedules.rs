//! Schedules at random: any that a kernel accepts gives what the default schedule gives, which is what the oracle says.

use spc_tests::case::Case;
use spc_tests::data::Random;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::options;
use spc_tests::{corpus, report, schedule};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says that operands are too many for one loop nest, which a schedule is of.
const TOO_MANY_TOGETHER: &str = "E0410";

fn are_too_many(codes: &[String]) -> bool {
    codes.iter().all(|code| code == TOO_MANY_TOGETHER)
}

/// So many schedules for each case in the whole; one in the usual tier.
const SCHEDULES: u64 = 2;

/// So many schedules are drawn for each that is to run: most say what a kernel can't do.
const DRAWS: u64 = 8;

/// A case under the first schedule of some drawn ones that is accepted; `None` where all are refused.
fn accepted(case: &Case, seed: u64) -> Result<Option<(String, Ready)>, String> {
    for draw in 0..DRAWS {
        let mut random = Random::new((seed * DRAWS + draw).wrapping_mul(7919).wrapping_add(case.text.len() as u64));
        let Some(case) = schedule::scheduled(case, &mut random) else { break };
        match Ready::new(&case) {
            Ok(ready) => return Ok(Some((case.text, ready))),
            Err(Stop::Refused { codes, .. }) if schedule::is_refused(&codes) || are_too_many(&codes) => {}
            Err(stop) => return Err(format!("{stop:?}\n{}", case.text)),
        }
    }
    Ok(None)
}

fn any_schedule_gives_the_same() {
    let cases = corpus::cases();
    let has_loops = |case: &&Case| case.refused.is_none() && schedule::scheduled(case, &mut Random::new(0)).is_some();
    let cases: Vec<&Case> = cases.iter().filter(has_loops).collect();
    let seeds = options().seeds(1, SCHEDULES);
    let drawn: Vec<(&Case, u64)> = cases.iter().flat_map(|case| seeds.clone().map(|seed| (*case, seed))).collect();
    let refused = AtomicUsize::new(0);
    report::check_all(
        &drawn,
        |(case, _)| &case.text,
        |(case, seed)| {
            let Some((text, ready)) = accepted(case, *seed)? else {
                refused.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            };
            ready.interpret(*seed).map_err(|error| format!("{error}\n{text}"))
        },
    );
    let refused = refused.into_inner();
    assert!(refused * 4 < drawn.len(), "all schedules are refused for {refused} of {}", drawn.len());
}

spc_tests::tests! {
    any_schedule_gives_the_same,
}
