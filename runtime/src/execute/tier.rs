//! Which of the ways to run a kernel was taken.

use std::fmt;

/// A way to run a kernel. Those that come first are taken where they can be, and are no slower than those behind, but for the devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tier {
    /// Native code that the Rust compiler has made before, on this machine.
    Cached,
    /// Native code that the Rust compiler makes now.
    Rustc,
    /// Native code that the Rust compiler has made elsewhere, and that came with the program: see [`catalogue`](super::catalogue).
    Catalogue,
    /// Native code that the machine's C compiler makes.
    C,
    /// Machine code that is made without a compiler (feature `jit`).
    Jit,
    /// The interpreter of the loop IR.
    Interpreter,
    /// A device.
    Device,
}

impl Tier {
    /// Its name, as `--json` has it.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Cached => "cached",
            Tier::Rustc => "rustc",
            Tier::Catalogue => "catalogue",
            Tier::C => "c",
            Tier::Jit => "jit",
            Tier::Interpreter => "interpreter",
            Tier::Device => "device",
        }
    }

    /// Why it was taken, in words, where `missing` is why no Rust compiler was.
    pub(super) fn reason(self, missing: Option<&str>) -> String {
        let own = match self {
            Tier::Cached => "it was compiled before",
            Tier::Rustc => "there is a Rust compiler",
            Tier::Catalogue => "its native code came with this program",
            Tier::C => "it was compiled by the C compiler",
            Tier::Jit if missing.is_some() => "this build makes machine code itself",
            Tier::Jit | Tier::Interpreter | Tier::Device => "it was asked for",
        };
        match (missing, self) {
            (Some(missing), Tier::Interpreter) => missing.to_owned(),
            (Some(missing), _) => format!("{missing}; {own}"),
            (None, _) => own.to_owned(),
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
