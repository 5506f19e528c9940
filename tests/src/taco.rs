//! taco's index notation and formats in ours.

use std::collections::BTreeMap;

/// A tensor as taco's tests declare it.
#[derive(Debug, Clone)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The C type of its elements.
    pub element: String,
    /// A letter a level, then `:1,0` where the modes are stored in another order.
    pub format: String,
    /// Its shape, where it is known.
    pub dims: Vec<usize>,
}

/// What can't be said in our language, in words.
pub type Reason = &'static str;

/// A statement in our language, and the extents of its index variables as far as the tensors' shapes say.
#[derive(Debug, Clone)]
pub struct Translation {
    /// A kernel.
    pub text: String,
    /// Extents by index variable.
    pub dims: Vec<(String, usize)>,
}

/// A kernel that does what a taco expression says.
///
/// # Errors
/// Why there is none.
pub fn translate(expression: &str, tensors: &[Tensor]) -> Result<Translation, Reason> {
    let mut parser = Parser { tokens: tokens(expression), place: 0, tensors, dims: BTreeMap::new(), used: Vec::new() };
    let target = parser.atom()?;
    let operator = parser.next().ok_or("not an assignment")?;
    let operator = match operator.as_str() {
        "=" => "=",
        "+" if parser.eat("=") => "+=",
        _ => return Err("reductions by other operators"),
    };
    let value = parser.expression()?;
    if parser.place < parser.tokens.len() {
        return Err("syntax of its own");
    }
    let result = target.split('(').next().unwrap_or_default().to_owned();
    let mut declarations: Vec<String> = Vec::new();
    for tensor in tensors.iter().filter(|tensor| tensor.name != result && parser.used.contains(&tensor.name)) {
        declarations.push(declaration(tensor)?);
    }
    let output = tensors.iter().find(|tensor| tensor.name == result).ok_or("several statements")?;
    let text = format!(
        "fn kernel({}) -> {} {{\n    {target} {operator} {value};\n}}\n",
        declarations.join(", "),
        declaration(output)?
    );
    Ok(Translation { text, dims: parser.dims.into_iter().collect() })
}

fn declaration(tensor: &Tensor) -> Result<String, Reason> {
    let element = match tensor.element.as_str() {
        "double" => "f64",
        "float" => "f32",
        "int32_t" | "int" => "i32",
        "int64_t" | "long" => "i64",
        "uint8_t" => "u8",
        _ => return Err("element types that we do not have"),
    };
    if tensor.format.is_empty() || tensor.format == "scalar" {
        return Ok(format!("{}: {element}", tensor.name));
    }
    let (levels, order) = tensor.format.split_once(':').unwrap_or((&tensor.format, ""));
    let modes: Vec<String> = match order {
        "" => (0..levels.len()).map(|mode| format!("m{mode}")).collect(),
        order => order.split(',').map(|mode| format!("m{}", mode.trim())).collect(),
    };
    let mut declared = Vec::new();
    for (mode, letter) in modes.iter().zip(levels.chars()) {
        let level = match letter {
            'd' => "dense",
            's' => "compressed",
            'u' => "compressed(nonunique)",
            'q' => "singleton",
            'c' => "singleton(nonunique)",
            'p' => return Err("padded levels"),
            _ => return Err("a level format of its own"),
        };
        declared.push(format!("{mode}: {level}"));
    }
    let names: Vec<String> = (0..modes.len()).map(|mode| format!("m{mode}")).collect();
    Ok(format!("{}: {element} ({}) -> [{}]", tensor.name, names.join(", "), declared.join(", ")))
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

struct Parser<'a> {
    tokens: Vec<String>,
    place: usize,
    tensors: &'a [Tensor],
    dims: BTreeMap<String, usize>,
    used: Vec<String>,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.place).map_or("", String::as_str)
    }

    fn next(&mut self) -> Option<String> {
        self.place += 1;
        self.tokens.get(self.place - 1).cloned()
    }

    fn eat(&mut self, token: &str) -> bool {
        let is_there = self.peek() == token;
        self.place += usize::from(is_there);
        is_there
    }

    fn expression(&mut self) -> Result<String, Reason> {
        let mut text = self.term()?;
        while let "+" | "-" = self.peek() {
            let operator = self.next().unwrap_or_default();
            text = format!("{text} {operator} {}", self.term()?);
        }
        Ok(text)
    }

    fn term(&mut self) -> Result<String, Reason> {
        let mut text = self.unary()?;
        while let "*" | "/" = self.peek() {
            let operator = self.next().unwrap_or_default();
            text = format!("{text} {operator} {}", self.unary()?);
        }
        Ok(text)
    }

    fn unary(&mut self) -> Result<String, Reason> {
        if self.eat("-") { Ok(format!("-{}", self.unary()?)) } else { self.atom() }
    }

    fn atom(&mut self) -> Result<String, Reason> {
        if self.eat("(") {
            let inside = self.expression()?;
            return if self.eat(")") { Ok(format!("({inside})")) } else { Err("syntax of its own") };
        }
        let name = self.next().ok_or("syntax of its own")?;
        if name.chars().next().is_some_and(|c| c.is_ascii_digit()) {
            return Ok(name);
        }
        if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err("syntax of its own");
        }
        let cast = if self.eat("<") { self.next() } else { None };
        if cast.is_some() && !self.eat(">") {
            return Err("syntax of its own");
        }
        if !self.eat("(") {
            return Ok(self.tensor(&name, &[]));
        }
        let mut arguments = Vec::new();
        while !self.eat(")") {
            arguments.push(self.expression()?);
            if !self.eat(",") && self.peek() != ")" {
                return Err("windows and strides");
            }
        }
        self.call(&name, cast.as_deref(), &arguments)
    }

    fn tensor(&mut self, name: &str, arguments: &[String]) -> String {
        self.used.push(name.to_owned());
        if let Some(tensor) = self.tensors.iter().find(|tensor| tensor.name == name) {
            self.dims.extend(arguments.iter().cloned().zip(tensor.dims.iter().copied()));
        }
        if arguments.is_empty() { name.to_owned() } else { format!("{name}({})", arguments.join(", ")) }
    }

    fn call(&mut self, name: &str, cast: Option<&str>, arguments: &[String]) -> Result<String, Reason> {
        if self.tensors.iter().any(|tensor| tensor.name == name) {
            return Ok(self.tensor(name, arguments));
        }
        match (name, cast, arguments) {
            ("sum", None, [variable, body]) => Ok(format!("sum({variable})({body})")),
            ("sqrt" | "exp" | "abs" | "min" | "max" | "pow", None, _) => Ok(format!("{name}({})", arguments.join(", "))),
            ("log", None, [x]) => Ok(format!("ln({x})")),
            ("gt", None, [a, b]) => Ok(format!("{a} > {b}")),
            ("lt", None, [a, b]) => Ok(format!("{a} < {b}")),
            ("gte", None, [a, b]) => Ok(format!("{a} >= {b}")),
            ("lte", None, [a, b]) => Ok(format!("{a} <= {b}")),
            ("eq", None, [a, b]) => Ok(format!("{a} == {b}")),
            ("neq", None, [a, b]) => Ok(format!("{a} != {b}")),
            ("cast", Some("double"), [truth]) if truth.contains(['<', '>', '=']) => Ok(format!("select({truth}, 1, 0)")),
            ("cast", ..) => Err("conversions between element types"),
            ("where" | "sequence" | "multi" | "sparsify", ..) => Err("several statements"),
            _ => Err("functions that the language does not have"),
        }
    }
}
