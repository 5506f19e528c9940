//! Schedules at random: any that a kernel accepts gives what the default schedule gives, which is what the oracle says.

use spc_tests::case::Case;
use spc_tests::data::Random;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::options;
use spc_tests::{corpus, report, schedule};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says that operands are too many for one loop nest, which a schedule is of.
const TOO_MANY_TOGETHER: &str = "E0410";

/// So many schedules for each case in the whole; one in the usual tier.
const SCHEDULES: u64 = 2;

fn any_schedule_gives_the_same() {
    let mut scheduled: Vec<(Case, u64)> = Vec::new();
    for case in corpus::cases().into_iter().filter(|case| case.refused.is_none()) {
        for seed in options().seeds(1, SCHEDULES).map(|seed| seed.wrapping_sub(1)) {
            let mut random = Random::new(seed.wrapping_mul(7919).wrapping_add(case.text.len() as u64));
            scheduled.extend(schedule::scheduled(&case, &mut random).map(|case| (case, seed)));
        }
    }
    let refused = AtomicUsize::new(0);
    report::check_all(
        &scheduled,
        |(case, _)| &case.text,
        |(case, seed)| match Ready::new(case) {
            Ok(ready) => ready.interpret(*seed),
            Err(Stop::Refused { codes, .. }) if schedule::is_refused(&codes) || codes == [TOO_MANY_TOGETHER] => {
                refused.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(stop) => Err(format!("{stop:?}")),
        },
    );
    let refused = refused.into_inner();
    assert!(refused * 4 < 3 * scheduled.len(), "{refused} of {} are refused", scheduled.len());
}

spc_tests::tests! {
    any_schedule_gives_the_same,
}
