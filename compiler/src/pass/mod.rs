//! Passes over the loop IR that leave code as a good engineer would have written it.
//!
//! Each is one file and one function from a kernel to a kernel that does the same; in debug builds the verifier runs after
//! every one. [`PASSES`] is their order.

mod blocks;
mod children;
mod codes;
mod directories;
mod dots;
mod flatten;
mod hoist;
mod lanes;
mod long;
mod masks;
mod merges;
mod neighbours;
mod overwritten;
mod runs;
mod searches;
mod slices;
mod strips;
pub(crate) mod tidy;
mod views;

#[cfg(test)]
mod tests;

use crate::concrete::Target;
use crate::ir::{Choice, Kernel, Statement, Verified, Violation, verify, violations};
use crate::notation::Decision;

/// A pass: its name and what it does.
pub type Pass = (&'static str, fn(Kernel) -> Kernel);

/// All passes, in order.
pub const PASSES: &[Pass] = &[
    ("overwritten", overwritten::overwritten),
    ("merges", merges::merges),
    ("tidy", tidy::tidy),
    ("masks", masks::masks),
    ("flatten", flatten::flatten),
    ("strips", strips::strips),
    ("slices", slices::slices),
    ("neighbours", neighbours::neighbours),
    ("dots", dots::dots),
    ("lanes", lanes::lanes),
    ("hoist", hoist::hoist),
    ("runs", runs::runs),
    ("views", views::views),
    ("blocks", blocks::blocks),
    ("codes", codes::codes),
    ("children", children::children),
    ("directories", directories::directories),
    ("long", long::long),
    ("searches", searches::searches),
];

/// Those for a GPU, whose threads are its lanes.
pub const PASSES_OF_GPU: &[Pass] = &[("tidy", tidy::tidy), ("flatten", flatten::flatten), ("hoist", hoist::hoist)];

impl Target {
    /// The passes that loops for it go through.
    pub fn passes(self) -> &'static [Pass] {
        match self {
            Target::Cpu => PASSES,
            Target::Gpu => PASSES_OF_GPU,
        }
    }
}

/// Runs all passes of a target and verifies the result; with it comes what was made of loops that passes may expand.
///
/// # Panics
/// When a kernel violates a rule of the loop IR: a bug in the lowering or in a pass, which the message names.
pub fn run(kernel: Kernel, target: Target) -> (Verified<Kernel>, Vec<Choice>) {
    let mut kernel = kernel;
    check(&kernel, "lowering");
    for (name, pass) in target.passes() {
        kernel = pass(kernel);
        check(&kernel, name);
    }
    let choices = std::mem::take(&mut kernel.choices).into_values().collect();
    (verified(kernel, "the passes"), choices)
}

/// What passes made of a kernel's loops that its schedule does not say, with the reasons, each once.
pub fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let of_passes = [
        slices::decisions,
        neighbours::decisions,
        dots::decisions,
        codes::decisions,
        merges::decisions,
        directories::decisions,
        children::decisions,
        long::decisions,
    ];
    let mut found: Vec<Decision> = Vec::new();
    for decision in of_passes.iter().flat_map(|decisions| decisions(kernel)) {
        if !found.contains(&decision) {
            found.push(decision);
        }
    }
    found
}

/// The kernel with its body changed, by what may declare arrays and variables meanwhile.
fn over_body(mut kernel: Kernel, change: impl FnOnce(&mut Kernel, &mut Vec<Statement>)) -> Kernel {
    let mut body = std::mem::take(&mut kernel.body);
    change(&mut kernel, &mut body);
    kernel.body = body;
    kernel
}

/// What takes the place of a statement: it is given what follows in its block, and adds to what stands before.
type Replacement<'a> = &'a dyn Fn(&mut Kernel, Statement, &[Statement], &mut Vec<Statement>);

/// The kernel with each statement replaced, those inside of it first.
fn replacing(kernel: Kernel, replacement: Replacement<'_>) -> Kernel {
    over_body(kernel, |kernel, body| replace_in(kernel, body, replacement))
}

fn replace_in(kernel: &mut Kernel, statements: &mut Vec<Statement>, replacement: Replacement<'_>) {
    let mut done = Vec::with_capacity(statements.len());
    let mut rest = std::mem::take(statements).into_iter();
    while let Some(mut statement) = rest.next() {
        statement.blocks_mut().into_iter().for_each(|inner| replace_in(kernel, inner, replacement));
        replacement(kernel, statement, rest.as_slice(), &mut done);
    }
    *statements = done;
}

fn check(kernel: &Kernel, after: &str) {
    if cfg!(debug_assertions) {
        let found = violations(kernel);
        if !found.is_empty() {
            refuse(after, &found, &kernel.to_string());
        }
    }
}

fn verified(kernel: Kernel, after: &str) -> Verified<Kernel> {
    verify(kernel).unwrap_or_else(|found| refuse(after, &found, ""))
}

fn refuse(after: &str, found: &[Violation], text: &str) -> ! {
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    panic!("a bug in spc: after {after} the loop IR is not valid:\n{}\n{text}", found.join("\n"))
}
