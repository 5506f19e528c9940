//! taco's index notation and formats in the words of this language.
//!
//! ```text
//! a(i) = sum(j, (B(i,j) * c(j)))      B: ds:1,0
//!
//! fn case(B: (m0, m1) -> [m1: dense, m0: compressed], c: [dense]) -> a: [dense] { a(i) = sum(j)(B(i, j) * c(j)); }
//! ```

mod windows;

use spc_compiler::ir::Function;
pub use windows::{Selection, Windowed};
use windows::{WindowedAccess, Windows};

/// A tensor of a case.
#[derive(Debug, Clone)]
pub struct TacoTensor {
    /// Its name.
    pub name: String,
    /// Its element type, by its name in C.
    pub element: String,
    /// Its format, a letter a level, with the order of modes behind a colon.
    pub format: String,
    /// What a missing entry is, as the recording has it.
    pub fill: String,
    /// Whether the kernel computes it.
    pub is_result: bool,
}

/// The program that a case asks for, or the reason why the language can't say it yet.
///
/// # Errors
/// The reason, in a few words: what cases are counted by.
pub fn program(expression: &str, tensors: &[TacoTensor]) -> Result<String, String> {
    translate(expression, tensors, None).map(|(text, _)| text)
}

/// The program of the `turn`th statement of a test whose accesses have windows, and what must be passed to it beside the tensors.
///
/// # Errors
/// As [`program`].
pub fn windowed_program(
    expression: &str,
    tensors: &[TacoTensor],
    source: &str,
    turn: usize,
) -> Result<(String, Windowed), String> {
    let windows = windows::of_test(source, turn).ok_or("windows that the table lacks")?;
    translate(expression, tensors, Some(windows))
}

fn translate(expression: &str, tensors: &[TacoTensor], windows: Option<Windows>) -> Result<(String, Windowed), String> {
    let mut parser = Parser { tokens: tokens(expression)?, next: 0, tensors, windows };
    let statements = parser.statements()?;
    let windowed = parser.windows.map(|windows| windows.windowed).unwrap_or_default();
    let mut parameters = Vec::new();
    let mut results = Vec::new();
    for tensor in tensors {
        let fill = if tensor.fill == "inf" && !tensor.format.is_empty() { " fill inf" } else { "" };
        let declaration = format!("{}: {} {}{fill}", tensor.name, element(&tensor.element)?, format(&tensor.format)?);
        if tensor.is_result { results.push(declaration) } else { parameters.push(declaration) }
    }
    for selection in &windowed.selections {
        parameters.push(format!("{}: {} csr", selection.name, element(&tensors[0].element)?));
    }
    let text = format!("fn case({}) -> ({}) {{ {statements}; }}", parameters.join(", "), results.join(", "));
    Ok((text, windowed))
}

fn element(name: &str) -> Result<&'static str, String> {
    Ok(match name {
        "double" => "f64",
        "float" => "f32",
        "int32_t" => "i32",
        "int64_t" => "i64",
        "uint8_t" => "u8",
        "bool" => "bool",
        _ => return Err("element type".to_owned()),
    })
}

/// The format in this language; nothing for a scalar.
///
/// # Errors
/// When a level is of a kind that is not there yet.
pub fn format(letters: &str) -> Result<String, String> {
    let (letters, modes) = letters.split_once(':').unwrap_or((letters, ""));
    if letters.is_empty() {
        return Ok(String::new());
    }
    let level = |letter: char| {
        Ok(match letter {
            'd' => "dense",
            's' => "compressed",
            'u' => "compressed(nonunique)",
            'q' => "singleton",
            'c' => "singleton(nonunique)",
            // A singleton with a place where there is none.
            'p' => "padded",
            _ => return Err("level format".to_owned()),
        })
    };
    let levels: Vec<&str> = letters.chars().map(level).collect::<Result<_, String>>()?;
    if modes.is_empty() {
        return Ok(format!("[{}]", levels.join(", ")));
    }
    let names: Vec<String> = (0..levels.len()).map(|mode| format!("m{mode}")).collect();
    let mapped: Vec<String> = modes.split(',').zip(levels).map(|(mode, level)| format!("m{mode}: {level}")).collect();
    Ok(format!("({}) -> [{}]", names.join(", "), mapped.join(", ")))
}

fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(&first) = characters.peek() {
        if first.is_whitespace() {
            characters.next();
            continue;
        }
        let mut token = String::new();
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        if is_word(first) {
            while let Some(&c) = characters.peek().filter(|&&c| is_word(c)) {
                token.push(c);
                characters.next();
            }
        } else {
            token.push(first);
            characters.next();
            if first == '+' && characters.peek() == Some(&'=') {
                token.push('=');
                characters.next();
            }
        }
        tokens.push(token);
    }
    if tokens.is_empty() { Err("empty".to_owned()) } else { Ok(tokens) }
}

struct Parser<'a> {
    tokens: Vec<String>,
    next: usize,
    tensors: &'a [TacoTensor],
    windows: Option<Windows>,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.next).map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        self.next += 1;
        self.tokens.get(self.next - 1).cloned().unwrap_or_default()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take() == token { Ok(()) } else { Err("notation".to_owned()) }
    }

    /// One statement; `where(consumer, producer)`, whose producer makes a temporary; or two that follow each other.
    fn statements(&mut self) -> Result<String, String> {
        let text = match self.peek() {
            word @ ("where" | "sequence" | "multi") => {
                let is_where = word == "where";
                self.take();
                self.expect("(")?;
                let first = self.statement()?;
                self.expect(",")?;
                let second = self.statement()?;
                self.expect(")")?;
                if is_where { format!("let {second}; {first}") } else { format!("{first}; {second}") }
            }
            _ => self.statement()?,
        };
        if self.peek().is_empty() { Ok(text) } else { Err("notation".to_owned()) }
    }

    fn statement(&mut self) -> Result<String, String> {
        let target = self.target()?;
        let operator = self.take();
        let operator = match operator.as_str() {
            "=" | "+=" => operator,
            "Min" | "Max" => {
                self.expect("=")?;
                format!("{}=", operator.to_lowercase())
            }
            // Truth values are doubles there.
            "Or" => {
                self.expect("=")?;
                "max=".to_owned()
            }
            _ => return Err("notation".to_owned()),
        };
        let value = target.assigned(self.sum()?);
        Ok(format!("{} {operator} {value}", target.text))
    }

    fn target(&mut self) -> Result<WindowedAccess, String> {
        let name = self.take();
        let variables = if self.peek() == "(" { self.arguments()? } else { Vec::new() };
        self.access(&name, &variables)
    }

    fn sum(&mut self) -> Result<String, String> {
        let mut text = self.product()?;
        while ["+", "-"].contains(&self.peek()) {
            let operator = self.take();
            let right = self.product()?;
            text = format!("{text} {} {right}", of_truths(&operator, &text, &right));
        }
        Ok(text)
    }

    fn product(&mut self) -> Result<String, String> {
        let mut text = self.atom()?;
        while ["*", "/"].contains(&self.peek()) {
            let operator = self.take();
            let right = self.atom()?;
            text = format!("{text} {} {right}", of_truths(&operator, &text, &right));
        }
        Ok(text)
    }

    fn atom(&mut self) -> Result<String, String> {
        let token = self.take();
        match token.as_str() {
            "-" => Ok(format!("-{}", self.atom()?)),
            "(" => {
                let inside = self.sum()?;
                self.expect(")")?;
                Ok(format!("({inside})"))
            }
            "cast" => self.cast(),
            "sum" => {
                self.expect("(")?;
                let variable = self.take();
                self.expect(",")?;
                let body = self.sum()?;
                self.expect(")")?;
                Ok(format!("sum({variable})({body})"))
            }
            _ if self.peek() == "(" => {
                let arguments = self.arguments()?;
                self.call(&token, &arguments)
            }
            _ => Ok(token),
        }
    }

    /// `cast<double>(e)`
    fn cast(&mut self) -> Result<String, String> {
        self.expect("<")?;
        let element = element(&self.take())?;
        self.expect(">")?;
        let arguments = self.arguments()?;
        Ok(format!("{element}({})", arguments.join(", ")))
    }

    fn arguments(&mut self) -> Result<Vec<String>, String> {
        self.expect("(")?;
        let mut arguments = vec![self.sum()?];
        while self.peek() == "," {
            self.take();
            arguments.push(self.sum()?);
        }
        self.expect(")")?;
        Ok(arguments)
    }

    fn access(&mut self, name: &str, variables: &[String]) -> Result<WindowedAccess, String> {
        match &mut self.windows {
            Some(windows) => windows.access(name, variables),
            None => Ok(WindowedAccess::plain(name, variables)),
        }
    }

    fn call(&mut self, name: &str, arguments: &[String]) -> Result<String, String> {
        let compare = |operator: &str| format!("select({} {operator} {}, 1, 0)", arguments[0], arguments[1]);
        if self.tensors.iter().any(|tensor| tensor.name == name) {
            return Ok(self.access(name, arguments)?.operand());
        }
        Ok(match (name, arguments) {
            ("gt", [_, _]) => compare(">"),
            ("gte", [_, _]) => compare(">="),
            ("lt", [_, _]) => compare("<"),
            ("lte", [_, _]) => compare("<="),
            ("eq", [_, _]) => compare("=="),
            ("neq", [_, _]) => compare("!="),
            ("square", [x]) => format!("({x}) * ({x})"),
            ("cube", [x]) => format!("({x}) * ({x}) * ({x})"),
            ("mod", [a, b]) => format!("({a}) % ({b})"),
            ("log", [x]) => format!("ln({x})"),
            ("And", [a, b]) => format!("select({a} != 0 && {b} != 0, 1, 0)"),
            ("Not", [a]) => format!("!({a})"),
            ("bfsMask", [x, visited]) => format!("select({visited} != 0, 0, {x})"),
            ("heaviside", [x, half]) => format!("select({x} == 0, {half}, select({x} > 0, 1, 0))"),
            ("Plus", [a, b]) => format!("{a} + {b}"),
            ("sparsify", [x, _]) => x.clone(),
            ("xor", [a, b]) => format!("select({a} != 0 && {b} != 0, 0, {a} + {b})"),
            ("testOp", [b, c, d]) => format!("select({}, {b} * {c} + {d}, 0)", two_of_three(b, c, d)),
            ("specialOp", [b, c, d]) => {
                let pair =
                    |c: &str, d: &str| format!("select({d} == 0, {b} * {c}, select({c} == 0, {d} - {b}, {c} + {d}))");
                format!("select({}, {}, 0)", two_of_three(b, c, d), pair(c, d))
            }
            ("compUnion", [b, c, d]) => {
                format!("select({b} != 0 && {c} == 0 && {d} == 0, 0, {b} + {c} + {d})")
            }
            _ if Function::from_name(name).is_some() => format!("{name}({})", arguments.join(", ")),
            _ => return Err(format!("function {}", family(name))),
        })
    }
}

/// The operator between two operands: taco adds and multiplies truth values.
fn of_truths<'o>(operator: &'o str, left: &str, right: &str) -> &'o str {
    match operator {
        "+" if left.starts_with("bool(") && right.starts_with("bool(") => "||",
        "*" if left.starts_with("bool(") && right.starts_with("bool(") => "&&",
        other => other,
    }
}

/// Where just two of three operands have an entry: in taco's tests none of them is an explicit zero.
fn two_of_three(a: &str, b: &str, c: &str) -> String {
    let only = |a: &str, b: &str, c: &str| format!("{a} != 0 && {b} != 0 && {c} == 0");
    format!("{} || {} || {}", only(a, b, c), only(a, c, b), only(b, c, a))
}

fn family(name: &str) -> &'static str {
    match name {
        "bfsMask" => "that a user defined in C++",
        "And" | "Or" | "Not" => "of truth values",
        _ => "that the language lacks",
    }
}
