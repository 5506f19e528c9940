//! Standard output, which somebody may close before all is printed, and how a command ends.

use crate::failure::Failure;
use crate::{settings, stderr};
use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value, json};
use spc_compiler::diagnostics::{printable, printable_json};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

pub(crate) use spc_compiler::explanation::{bytes, digits};

/// The version of what `--json` prints. It is raised where a field changes its meaning or goes away.
const SCHEMA: u32 = 1;

/// Prints with `print` on standard output.
pub(crate) fn with_stdout(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let printed = print(&mut stdout).and_then(|()| stdout.flush());
    printed.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => Failure::refused(format!("standard output: {error}")),
    })
}

/// Prints a text on standard output, with escapes for what a terminal would obey.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    with_stdout(|out| out.write_all(printable(text).as_bytes()))
}

/// Prints an explanation, as JSON where that is asked for.
pub(crate) fn explain(text: &str) -> Result<(), Failure> {
    if settings::json() { print_json(json!({ "explanation": text })) } else { print(text) }
}

/// The same of kernels, with what is known of the plan of each by its name: nothing where it is computed as it is written.
pub(crate) fn explain_plans(text: &str, plans: Map<String, Value>) -> Result<(), Failure> {
    if !settings::json() {
        return print(text);
    }
    let only = if plans.len() == 1 { plans.values().next().cloned() } else { None };
    print_json(json!({ "explanation": text, "plan": only, "plans": plans }))
}

/// Prints an object as the one document of `--json`, with the version of what it means.
pub(crate) fn print_json(object: Value) -> Result<(), Failure> {
    let text = format!("{}\n", versioned(object));
    with_stdout(|out| out.write_all(printable_json(&text).as_bytes()))
}

/// An object with the version of what it means in front.
pub(crate) fn versioned(object: Value) -> Value {
    let mut all = Map::new();
    all.insert("schema".to_owned(), json!(SCHEMA));
    match object {
        Value::Object(fields) => all.extend(fields),
        other => _ = all.insert("value".to_owned(), other),
    }
    Value::Object(all)
}

/// Prints why a command stops on standard error, or as JSON on standard output; gives the exit status.
pub(crate) fn report(failure: Failure) -> ExitCode {
    let status = ExitCode::from(failure.status());
    if settings::json() {
        let errors = failure.errors();
        if !errors.is_empty() {
            // A closed output loses what is printed.
            _ = print_json(json!({ "errors": errors }));
        }
        return status;
    }
    let bold = Style::new().bold();
    let red = AnsiColor::BrightRed.on_default().bold();
    let help = |lines: Vec<String>| -> String {
        lines.iter().map(|line| format!("  {bold}= help{bold:#}: {}\n", printable(line))).collect()
    };
    match failure {
        Failure::Refused(problem) => {
            let message = printable(&problem.message);
            stderr::write(&format!("{red}error{red:#}{bold}: {message}{bold:#}\n{}", help(problem.help)));
        }
        Failure::Rendered(text, _) => stderr::write(&text),
        Failure::Usage(problem) => {
            let message = printable(&problem.message);
            let more = "\nFor more information, try '--help'.\n";
            stderr::write(&format!("{red}error{red:#}: {message}\n{}{more}", help(problem.help)));
        }
        Failure::Reported | Failure::BrokenPipe => {}
    }
    status
}

/// Lines of cells in columns, each as wide as its widest cell; columns from `first_right` on are flush right.
pub(crate) fn table(rows: &[Vec<String>], first_right: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            let width = widths[column];
            let cell = if column < first_right { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            line.push_str(gap);
            line.push_str(&cell);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `100 x 200`, and for no modes `scalar`.
pub(crate) fn shape(shape: &[usize]) -> String {
    match shape {
        [] => "scalar".to_owned(),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "10".to_owned()], vec!["long".to_owned(), "5".to_owned()]];
        assert_eq!(table(&rows, 1), "a     10\nlong   5\n");
    }
}
