//! The check of the corpus under NVIDIA's `compute-sanitizer`, where the machine has it.

use crate::{Arguments, Table};
use serde_json::{Value, json};
use std::process::Command;

/// What finds accesses outside of arrays, and races in shared memory.
const TOOLS: [&str; 2] = ["memcheck", "racecheck"];

/// The exit status that a tool gives where it has found something.
const FOUND: &str = "86";

const MISSING: &str = "compute-sanitizer is not here: it comes with the CUDA toolkit (`export PATH=/usr/local/cuda/bin:$PATH`). By \
                       hand: `compute-sanitizer --tool memcheck device check`, then the same with `--tool racecheck`";

/// What each tool says, and whether none has found anything. To have no tool is no failure.
pub(crate) fn all(arguments: &Arguments, table: Table) -> (Value, bool) {
    table.line("");
    if Command::new("compute-sanitizer").arg("--version").output().is_err() {
        table.line(MISSING);
        return (json!({ "missing": MISSING }), true);
    }
    let verdicts: Vec<(Value, bool)> = TOOLS.iter().map(|tool| verdict(tool, arguments, table)).collect();
    let is_clean = verdicts.iter().all(|(_, is_clean)| *is_clean);
    (verdicts.into_iter().map(|(value, _)| value).collect(), is_clean)
}

fn verdict(tool: &str, arguments: &Arguments, table: Table) -> (Value, bool) {
    let output = std::env::current_exe().and_then(|this| {
        let mut command = Command::new("compute-sanitizer");
        command.args(["--tool", tool, "--error-exitcode", FOUND]).arg(this);
        command.args(["check", "--device", &arguments.device.to_string()]);
        command.args(arguments.case.iter().flat_map(|case| ["--case", case])).output()
    });
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            table.line(&format!("{tool}: {error}"));
            return (json!({ "tool": tool, "error": error.to_string() }), false);
        }
    };
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let summaries: Vec<&str> =
        said.lines().filter(|line| line.contains("SUMMARY:")).map(|line| line.trim_start_matches(['=', ' '])).collect();
    let is_clean = output.status.success() && !summaries.is_empty();
    table.line(&format!("{tool}: {}", if is_clean { summaries.join("; ") } else { last_lines(&said) }));
    let details = (!is_clean).then(|| last_lines(&said));
    (json!({ "tool": tool, "summary": summaries, "clean": is_clean, "said": details }), is_clean)
}

/// The end of what was said.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}
