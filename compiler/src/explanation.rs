//! What becomes of a kernel, in words: the plan with its cost, the loops, and each decision with its reason. `spc explain` prints it.

use crate::plan::{self, Cost, Planned};
use crate::remark::{Decision, Remark};
use crate::{concrete, notation, schedule};
use std::fmt::Write;

/// A plan with its cost beside that of the text, and the best others.
pub fn plan(planned: &Planned) -> String {
    let mut text = match planned.is_assumed {
        true => "plan: less work than what is written, of whatever sizes\n".to_owned(),
        false => format!("plan: {}; as written {}\n", cost(&planned.cost), cost(&planned.written)),
    };
    indent(&mut text, &plan::text(&planned.kernel));
    if planned.is_greedy {
        text += "a product has too many factors to compare all plans: they are combined pair by pair, the best pair first\n";
    }
    if planned.is_assumed {
        return text;
    }
    let is_told = |other: &&plan::Alternative| other.cost != planned.written;
    for other in planned.others.iter().filter(is_told).take(2) {
        _ = writeln!(text, "also possible: {}", cost(&other.cost));
        indent(&mut text, &other.text);
    }
    text
}

fn indent(text: &mut String, lines: &str) {
    for line in lines.trim_end().lines() {
        _ = writeln!(text, "    {line}");
    }
}

/// `2.9e7 operations, 21 MB, 2 kB of temporaries, about 1.6 ms`
fn cost(cost: &Cost) -> String {
    let mut text = format!("{} operations, {}", scientific(cost.operations), size(cost.bytes));
    if cost.memory > 0.0 {
        _ = write!(text, ", {} of temporaries", size(cost.memory));
    }
    if cost.time > 0.0 {
        _ = write!(text, ", about {} ms", digits(cost.time / 1e6));
    }
    text
}

/// A number of operations: `58598`, `2.9e7`.
pub fn scientific(count: f64) -> String {
    if count < 1e5 { format!("{count:.0}") } else { format!("{count:.1e}") }
}

fn size(count: f64) -> String {
    bytes(count as usize)
}

/// What a kernel becomes: where it has several statements, what became of those, and then each loop nest.
pub fn program(kernel: &notation::Kernel, program: &schedule::Program) -> String {
    let mut text = String::new();
    for line in &kernel.documentation {
        _ = writeln!(text, "{}", line.trim());
    }
    if kernel.statements.len() > 1 || program.chain.links.len() > 1 {
        text.push_str(&kernel.body(""));
        text.push('\n');
        remarks(&program.chain.decisions, &mut text);
        text.push('\n');
    }
    let nests: Vec<String> = program.kernels.iter().map(nest).collect();
    text + &nests.join("\n")
}

fn nest(kernel: &concrete::Kernel) -> String {
    let mut text = String::new();
    for line in &kernel.summary {
        _ = writeln!(text, "{line}");
    }
    _ = writeln!(text, "\n{kernel}");
    remarks(&kernel.decisions, &mut text);
    text
}

fn remarks(remarks: &[Remark], text: &mut String) {
    decisions(&remarks.iter().filter(|remark| remark.what.is_told()).map(Decision::from).collect::<Vec<_>>(), text);
}

/// Adds decisions with their reasons.
pub fn decisions(decisions: &[Decision], text: &mut String) {
    for decision in decisions {
        _ = writeln!(text, "* {}\n      {}", decision.what, decision.why);
    }
}

/// So many bytes: `12 B`, thousands as `1.2 kB` and so on.
pub fn bytes(count: usize) -> String {
    let mut value = count as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB"] {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if unit == "B" { format!("{count} B") } else { format!("{} {unit}", digits(value)) }
}

/// A number with at least three digits that count.
pub fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || value == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 1e-3 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(
            [0.0, 1234.5, 12.345, 1.2345, 0.12345, 1e-5].map(digits),
            ["0", "1234", "12.3", "1.23", "0.123", "1.00e-5"]
        );
        assert_eq!([999, 1234, 12_345_678].map(bytes), ["999 B", "1.23 kB", "12.3 MB"]);
    }
}
