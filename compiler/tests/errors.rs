//! What people see of wrong programs: each file of `errors/` and its messages, as they are rendered.

#![cfg(feature = "pretty")]

use crate::assert_snapshot;
use spc_compiler::diagnostics::codes::notation as codes;
use spc_compiler::diagnostics::render::render;
use spc_compiler::diagnostics::{Code, Diagnostic, Diagnostics, all};
use spc_compiler::format::resolve::Definitions;
use spc_compiler::notation::{FormatOption, Kernel, Role, check, check_expression, gradient};
use spc_compiler::plan;
use spc_compiler::schedule::{Options, schedule};
use spc_compiler::syntax;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A text, what its place is called, and its problems.
struct Messages {
    source: String,
    origin: String,
    problems: Vec<Diagnostic>,
}

fn rendered(messages: &[Messages]) -> String {
    let texts = messages.iter().filter(|messages| !messages.problems.is_empty());
    texts.map(|text| render(&text.source, &text.origin, &text.problems, false)).collect::<Vec<_>>().join("\n")
}

fn schedule_all(kernels: Vec<Kernel>) -> Result<(), Diagnostics> {
    kernels.iter().try_for_each(|kernel| schedule(kernel, Options::default()).map(drop))
}

/// The problems of a `.ti` file.
fn program(path: &Path) -> Vec<Messages> {
    let source = fs::read_to_string(path).expect("the case can be read");
    let origin = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let compiled = syntax::parse_program(&source).and_then(|program| check(&program)).and_then(schedule_all);
    let problems = compiled.expect_err(&format!("{origin} has errors")).into_sorted();
    vec![Messages { source, origin, problems }]
}

/// The problems of a command line: an expression on the first line, then a `NAME=FORMAT` on each.
fn command_line(path: &Path) -> Vec<Messages> {
    let text = fs::read_to_string(path).expect("the case can be read");
    let mut lines = text.lines();
    let expression = lines.next().expect("the case has an expression").to_owned();
    let options: Vec<(&str, &str)> = lines.map(|line| line.split_once('=').expect("NAME=FORMAT")).collect();

    let mut messages = Vec::new();
    let mut parsed = Vec::new();
    for (name, format) in &options {
        let problems = match syntax::parse_parameter_format(format) {
            Ok(declaration) => {
                parsed.push(FormatOption::new(*name, declaration));
                Vec::new()
            }
            Err(problems) => problems.into_sorted(),
        };
        messages.push(Messages { source: (*format).to_owned(), origin: format!("-f {name}"), problems });
    }
    let whole = messages.iter().all(|messages| messages.problems.is_empty());
    let problems = match syntax::parse_statement(&expression) {
        Ok(statement) if whole => {
            let problems =
                check_expression(&statement, &parsed, &Definitions::prelude()).expect_err("the case has errors");
            for (messages, problems) in messages.iter_mut().zip(problems.options) {
                messages.problems = problems.into_sorted();
            }
            problems.expression.into_sorted()
        }
        Ok(_) => Vec::new(),
        Err(problems) => problems.into_sorted(),
    };
    messages.insert(0, Messages { source: expression, origin: "<expression>".to_owned(), problems });
    messages
}

#[test]
fn syntax() {
    insta::glob!("errors/syntax/*.ti", |path| assert_snapshot("errors__syntax", &rendered(&program(path))));
}

#[test]
fn notation() {
    insta::glob!("errors/notation/*.ti", |path| assert_snapshot("errors__notation", &rendered(&program(path))));
}

/// What a file has that is probably not meant, and nothing else.
fn mistakes(path: &Path) -> Vec<Messages> {
    let source = fs::read_to_string(path).expect("the case can be read");
    let origin = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let kernels = syntax::parse_program(&source).and_then(|program| check(&program)).expect(&origin);
    schedule_all(kernels.clone()).expect(&origin);
    let of_plans = |kernel: &Kernel| plan::ruled_out(kernel, &plan::Facts::stated(kernel, &[]));
    let problems =
        kernels.into_iter().flat_map(|kernel| of_plans(&kernel).into_iter().chain(kernel.warnings)).collect();
    vec![Messages { source, origin, problems }]
}

#[test]
fn warnings() {
    insta::glob!("errors/warnings/*.ti", |path| assert_snapshot("errors__warnings", &rendered(&mistakes(path))));
}

/// Examples say what they mean.
#[test]
fn no_example_warns() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = fs::read_dir(folder).expect("there are examples").map(|entry| entry.expect("a file").path());
    let programs: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ending| ending == "ti")).collect();
    assert!(programs.len() > 10);
    for path in programs {
        assert_eq!(rendered(&mistakes(&path)), "", "{path:?}");
    }
}

#[test]
fn command_lines() {
    insta::glob!("errors/command_line/*.txt", |path| assert_snapshot(
        "errors__command_lines",
        &rendered(&command_line(path))
    ));
}

/// The lines of an explanation under a heading, `Wrong:` or `Correct:`.
fn example(explanation: &str, heading: &str) -> String {
    let lines = explanation.lines().skip_while(|line| *line != heading).skip(2);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| format!("{}\n", line.get(4..).unwrap_or(""))).collect()
}

/// What is wrong with a program, down to its loops; or the warnings, where nothing is.
fn problems(text: &str) -> Vec<Diagnostic> {
    let kernels = match syntax::parse_program(text).and_then(|program| check(&program)) {
        Ok(kernels) => kernels,
        Err(problems) => return problems.into_sorted(),
    };
    match kernels.iter().try_for_each(|kernel| spc_compiler::compile_notation(kernel).map(drop)) {
        Ok(()) => kernels.into_iter().flat_map(|kernel| kernel.warnings).collect(),
        Err(problems) => problems.into_sorted(),
    }
}

#[test]
fn wrong_examples_have_their_code_and_correct_ones_compile() {
    for entry in all() {
        let (wrong, correct) = (example(entry.explanation, "Wrong:"), example(entry.explanation, "Correct:"));
        let statement = |text: &str| syntax::parse_statement(text).err().map_or(Vec::new(), Diagnostics::into_sorted);
        let found = |text: &str| {
            if text.contains("fn ") || text.contains("format ") { problems(text) } else { statement(text) }
        };
        let of_plans = || plan_warnings(&wrong);
        let of_text = found(&wrong).into_iter().map(|problem| problem.code);
        let codes: Vec<Code> = of_text.chain(of_plans()).chain(gradient_problems(&wrong)).collect();
        assert!(codes.contains(&entry.code), "{}: {codes:?}", entry.code);
        assert_eq!(found(&correct), [], "{}", entry.code);
        let is_refused = entry.code == codes::NO_GRADIENT && !gradient_problems(&correct).is_empty();
        assert!(!is_refused, "{}", entry.code);
    }
}

/// The codes of what is said of plans.
fn plan_warnings(text: &str) -> Vec<Code> {
    let kernels = syntax::parse_program(text).and_then(|program| check(&program)).unwrap_or_default();
    let of_plans = |kernel: Kernel| plan::ruled_out(&kernel, &plan::Facts::stated(&kernel, &[]));
    kernels.into_iter().filter_map(of_plans).map(|problem| problem.code).collect()
}

/// The codes of what keeps kernels from having gradients.
fn gradient_problems(text: &str) -> Vec<Code> {
    let kernels = syntax::parse_program(text).and_then(|program| check(&program)).unwrap_or_default();
    let of_kernel = |kernel: Kernel| {
        let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input);
        let names: Vec<&str> = inputs.map(|tensor| tensor.name.as_str()).collect();
        gradient(&kernel, &names).err().map_or(Vec::new(), Diagnostics::into_sorted)
    };
    kernels.into_iter().flat_map(of_kernel).map(|problem| problem.code).collect()
}

/// The text with what a help line proposes, if that is a name, a statement or a mask to write instead.
fn mended(source: &str, problem: &Diagnostic, help: &str) -> Option<String> {
    let code: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    let &first = code.first()?;
    let with = |start: usize, end: usize, text: &str| Some(format!("{}{text}{}", &source[..start], &source[end..]));
    let span = problem.span;
    // The statement that the problem is in, without what ends it.
    let before = &source[..span.start.min(source.len())];
    let start = before.rfind([';', '{', '}']).map_or(0, |mark| mark + 1);
    let start = start + source[start..].len() - source[start..].trim_start().len();
    let end =
        source[span.start.max(start)..].find([';', '}']).map_or(source.len(), |mark| span.start.max(start) + mark);
    let is_statement = |text: &str| text.contains(" = ") || text.contains("= ") && !text.contains("==");
    match help {
        _ if code.iter().any(|code| code.contains('…')) => None,
        _ if help.starts_with("did you mean") || help.starts_with("there is an element type") && code.len() == 1 => {
            with(span.start, span.end, first)
        }
        _ if help.starts_with("add `where") => with(end, end, &format!(" {first}")),
        _ if help.starts_with("end the statement with") => with(span.start, span.end, ";"),
        _ if first.starts_with("let ") && help.contains("before the statement") => {
            let (quotient, _) = problem.related.first()?;
            let text = with(quotient.start, quotient.end, code.get(1)?)?;
            Some(format!("{}{first} {}", &text[..start], &text[start..]))
        }
        _ if is_statement(first) && (help.contains("write `") || help.contains("as in `")) => {
            let line = first.trim_end_matches(';');
            // What ends a statement may be missing.
            let line = if source[end..].starts_with('}') { format!("{line}; ") } else { line.to_owned() };
            with(start, end, &line).map(|text| match help.contains("as a parameter") {
                // `y(i) = y0(i) + …` has a parameter more.
                true => {
                    let place = text[..start].rfind("->").and_then(|arrow| text[..arrow].rfind(')')).unwrap_or(start);
                    let target = first.split(['(', ' ']).next().unwrap_or_default();
                    format!("{}, {target}0: dense{}", &text[..place], &text[place..])
                }
                false => text,
            })
        }
        _ => None,
    }
}

/// Lines that are an example, or that leave something to mend, each with the reason.
const NOT_WHOLE: &[(&str, &str, &str)] = &[
    ("", "indices begin at 0", "an example of another statement"),
    ("definitions.ti", "did you mean `helper`", "it takes another number of arguments"),
    ("neighbours.ti", "write `y(i) += A(i, j) * x(j);`", "a loop around the statement goes with it"),
    ("every_problem_at_once.ti", "a result begins anew", "names that are unknown come to light"),
    (
        "full_result.ti",
        "add `where x(i)`",
        "masks over what a computed index of the result is made of are not looked at",
    ),
];

/// Each help line that says what to write leads to a text without the problem, and without one of another kind.
#[test]
fn what_help_lines_propose_compiles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut tried = 0;
    let mut failures = Vec::new();
    let mut texts: Vec<(String, String)> = Vec::new();
    for kind in ["syntax", "notation", "warnings"] {
        for file in fs::read_dir(folder.join(kind)).expect("the cases are there") {
            let path = file.expect("a file").path();
            texts.push((path.display().to_string(), fs::read_to_string(&path).expect("the case can be read")));
        }
    }
    for entry in all() {
        let text = example(entry.explanation, "Wrong:");
        if text.contains("fn ") {
            texts.push((entry.code.to_string(), text));
        }
    }
    for (name, source) in texts {
        let before = problems(&source);
        for problem in &before {
            for help in &problem.help {
                let is_excused = |(file, line, _): &&(&str, &str, &str)| name.contains(file) && help.starts_with(line);
                let Some(text) = mended(&source, problem, help) else { continue };
                if NOT_WHOLE.iter().any(|known| is_excused(&known)) {
                    continue;
                }
                tried += 1;
                let after = problems(&text);
                let of_code =
                    |problems: &[Diagnostic]| problems.iter().filter(|other| other.code == problem.code).count();
                let is_new = |other: &&Diagnostic| {
                    other.code != problem.code && before.iter().all(|known| known.code != other.code)
                };
                if of_code(&after) >= of_code(&before) || after.iter().any(|other| is_new(&other)) {
                    let after: Vec<String> =
                        after.iter().map(|other| format!("{} {}", other.code, other.message)).collect();
                    failures.push(format!("{name}: {} `{help}`: {after:?}", problem.code));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
    assert!(tried > 60, "{tried}");
}

/// Codes that no case above can have, each with the reason.
const WITHOUT_CASE: &[(Code, &str)] = &[];

#[test]
fn every_code_has_a_case() {
    let directory = |name: &str| -> Vec<PathBuf> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors").join(name);
        let entries = fs::read_dir(path).expect("the cases are there");
        entries.map(|entry| entry.expect("the case can be read").path()).collect()
    };
    let programs = directory("syntax").into_iter().chain(directory("notation")).flat_map(|path| program(&path));
    let command_lines = directory("command_line").into_iter().flat_map(|path| command_line(&path));
    let warnings = directory("warnings").into_iter().flat_map(|path| mistakes(&path));
    let seen: BTreeSet<Code> = programs
        .chain(command_lines)
        .chain(warnings)
        .flat_map(|messages| messages.problems)
        .map(|problem| problem.code)
        .collect();

    // `spc grad` alone says this.
    let known: BTreeSet<Code> = all().map(|entry| entry.code).filter(|code| *code != codes::NO_GRADIENT).collect();
    let missing: Vec<Code> = known.difference(&seen).copied().collect();
    let excused: Vec<Code> = WITHOUT_CASE.iter().map(|(code, _)| *code).collect();
    assert_eq!(missing, excused);
    assert_eq!(seen.difference(&known).count(), 0, "codes without an explanation: {:?}", seen.difference(&known));
    assert_eq!(WITHOUT_CASE.len(), 0);
}

#[test]
fn expressions() {
    let texts = [
        "Y(i,r) = X(i,j,k) * U(k,r",
        "a(i) = b(i) c(i)",
        "a(i) = b(i); c(i) = a(i)",
        "a(i)",
        "",
        "a(i) = sum(j, b(i,j)) where b(i)(j)",
        "a(i) = 1.2.3 * b(i)",
        "a(i) = 0 < b(i) < 1",
    ];
    let messages = texts.map(|text| {
        let problems = syntax::parse_statement(text).expect_err(text).into_sorted();
        render(text, "<expression>", &problems, false)
    });
    assert_snapshot("errors__expressions", &messages.join("\n"));
}

/// What is said of statements in the notations of NumPy, Julia, Finch, C and einsum.
#[test]
fn neighbours() {
    let texts = [
        "y[i] = A[i,j] * x[j]",
        "B(i, j) = A(i, j)**2",
        "B(i, j) = A(i, j)^2",
        "y(i) = A:csr(i, j) * x(j)",
        "y(i) = A(i, j) if M(i, j)",
        "y(i) = if x(i)",
        "y(i) = sum_j A(i, j) * x(j)",
        "'ij,j->i'",
        "y = np.einsum('ij,j->i', A, x)",
        "C = A @ B",
        "C = A.T @ B",
        "B = A'",
        "y(i) == A(i, j) * x(j)",
        "for i in range(n): y[i] = A[i, i]",
        "for i in range(n):",
        "y[i] += A[i][j] * x[j];",
    ];
    let messages = texts.map(|text| {
        let problems = syntax::parse_statement(text).expect_err(text).into_sorted();
        render(text, "<expression>", &problems, false)
    });
    assert_snapshot("errors__neighbours", &messages.join("\n"));
}

#[test]
fn formats() {
    let messages = ["", "f32 [compressed, dense", "f46 csf", "csf dense", "[i: dense]", "bcsr(4.5)", "(i, j) -> dense"]
        .map(|text| {
            let problems = syntax::parse_parameter_format(text).expect_err(text).into_sorted();
            render(text, "<format>", &problems, false)
        });
    assert_snapshot("errors__formats", &messages.join("\n"));
}
