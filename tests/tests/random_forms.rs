//! Random statements in two forms that mean the same: with packs, as einsum strings. The checked notation of both is one; what that
//! means is compared with the oracle elsewhere.

use spc_compiler::syntax::einsum::Einsum;
use spc_compiler::{notation, syntax};
use spc_tests::harness::options;
use spc_tests::random::forms;

/// The notation of a kernel.
fn checked(text: &str) -> Result<String, String> {
    let program = syntax::parse_program(text).map_err(|problems| format!("{problems:?}"))?;
    let kernels = notation::check(&program).map_err(|problems| format!("{problems:?}"))?;
    Ok(kernels.iter().map(|kernel| kernel.to_string()).collect())
}

fn packs_stand_for_indices() {
    let mut compared = 0;
    for seed in options().seeds(300, 1000) {
        let ([packed, plain], is_told) = forms::packs(seed);
        match (checked(&packed), checked(&plain)) {
            (Ok(packed_kernel), Ok(plain_kernel)) => {
                assert_eq!(packed_kernel, plain_kernel, "seed {seed}: {packed}");
                compared += 1;
            }
            (Err(problems), _) if !is_told => assert!(problems.contains("nothing tells"), "seed {seed}: {problems}"),
            (Err(_), Err(_)) => {}
            (one, other) => panic!("seed {seed}: {packed}\n{one:?}\n{plain}\n{other:?}"),
        }
    }
    assert!(compared > 100, "only {compared} were compared");
}

fn einsum_strings_stand_for_assignments() {
    for seed in options().seeds(300, 1000) {
        let [string, text] = forms::einsum(seed);
        let statement = Einsum::parse(&string).and_then(|einsum| einsum.statement(&[]));
        let statement = statement.unwrap_or_else(|problems| panic!("seed {seed}: {string}: {problems:?}"));
        let plain = syntax::parse_statement(&text).expect("an assignment is read");
        assert_eq!(statement.to_string(), plain.to_string(), "seed {seed}: {string}");
    }
}

spc_tests::tests! {
    packs_stand_for_indices,
    einsum_strings_stand_for_assignments,
}
