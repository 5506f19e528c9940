#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| spc_tests::fuzz::run("program", bytes));
