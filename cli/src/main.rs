//! The command `spc`.

fn main() {}
