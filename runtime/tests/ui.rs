//! What rustc says about wrong kernels and wrong calls: each file of `ui/`, and its messages beside it.
//!
//! `TRYBUILD=overwrite cargo test -p spc --test ui` writes them anew.

#[test]
fn messages_stand_at_the_tokens_that_are_wrong() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
