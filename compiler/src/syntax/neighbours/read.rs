//! Tokens to a statement: operators as Python, Julia and C have them, loops left out.

use super::tokens::Token;
use super::{Node, Statement, einsum, function};

/// So deep may parts of an expression stand in each other.
const DEEPEST: usize = 60;

/// Modules whose functions are called by the name of the module.
const MODULES: [&str; 12] =
    ["np", "numpy", "jnp", "torch", "tf", "xp", "cp", "math", "scipy", "sp", "std", "opt_einsum"];

/// What a statement begins with where only tokens with a meaning are left; `None` where the tokens are no statement.
pub(super) fn statement(tokens: &[Token]) -> Option<Statement> {
    if has_loop(tokens) {
        let statements = inside_loops(tokens);
        return statements.iter().rev().find_map(|tokens| one(tokens));
    }
    let plain: Vec<Token> = tokens.iter().filter(|token| **token != Token::Line).cloned().collect();
    let end = plain.iter().rposition(|token| *token != Token::Mark(";")).map_or(0, |last| last + 1);
    one(&plain[..end])
}

/// Whether a loop begins somewhere, and not inside of a list.
fn has_loop(tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    tokens.iter().any(|token| {
        match token {
            Token::Open('(' | '[') => depth += 1,
            Token::Close(')' | ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(token, Token::Name(name) if name == "for" || name == "foreach")
    })
}

/// The statements in loops, without the heads of these.
fn inside_loops(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut statements = vec![Vec::new()];
    let mut depth = 0usize;
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match token {
            Token::Name(name) if depth == 0 && (name == "for" || name == "foreach") => {
                rest = after_head(after);
                statements.push(Vec::new());
            }
            Token::Name(name) if depth == 0 && name == "end" => statements.push(Vec::new()),
            Token::Open('{') | Token::Close('}') if depth == 0 => statements.push(Vec::new()),
            Token::Line | Token::Mark(";") if depth == 0 => statements.push(Vec::new()),
            Token::Line => {}
            _ => {
                match token {
                    Token::Open(_) => depth += 1,
                    Token::Close(_) => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if let Some(statement) = statements.last_mut() {
                    statement.push(token.clone());
                }
            }
        }
    }
    statements.retain(|statement| !statement.is_empty());
    statements
}

/// What follows the head of a loop: `(…)` of C, up to a `:` of Python, a `{` of Rust, the end of the line.
fn after_head(tokens: &[Token]) -> &[Token] {
    let mut depth = 0usize;
    for (place, token) in tokens.iter().enumerate() {
        match token {
            Token::Open('{') if depth == 0 => return &tokens[place + 1..],
            Token::Open(_) => depth += 1,
            Token::Close(_) => {
                depth = depth.saturating_sub(1);
                let is_c = depth == 0 && tokens.first() == Some(&Token::Open('('));
                let goes_on = matches!(tokens.get(place + 1), Some(Token::Name(name)) if name == "in");
                if is_c && !goes_on {
                    return &tokens[place + 1..];
                }
            }
            Token::Line | Token::Mark(";") if depth == 0 => return &tokens[place + 1..],
            // Between numbers it is a range of Julia's.
            Token::Mark(":") if depth == 0 => {
                let is_end = matches!(tokens.get(place + 1), Some(Token::Line))
                    || matches!(tokens[..place].last(), Some(Token::Close(_)));
                if is_end {
                    return &tokens[place + 1..];
                }
            }
            _ => {}
        }
    }
    &[]
}

/// Assignments, and what each is here.
const ASSIGNMENTS: [(&str, &str); 11] = [
    ("=", "="),
    ("==", "="),
    ("+=", "+="),
    ("*=", "*="),
    ("|=", "|="),
    ("&=", "&="),
    ("min=", "min="),
    ("max=", "max="),
    ("-=", "+="),
    ("/=", "*="),
    ("**=", "="),
];

fn one(tokens: &[Token]) -> Option<Statement> {
    let mut reader = Reader { tokens, place: 0, depth: 0, inside: 0, formats: Vec::new() };
    let condition = reader.leading_condition()?;
    let start = reader.place;
    let mut operator = "=";
    let mut made = None;
    if let Some(target) = reader.postfix() {
        let reduces = |word: &str| matches!(reader.peek(), Some(Token::Name(name)) if name == word);
        let word =
            ["min", "max"].into_iter().find(|word| reduces(word) && reader.peek_at(1) == Some(&Token::Mark("=")));
        if let Some(word) = word {
            reader.place += 2;
            (operator, made) = (if word == "min" { "min=" } else { "max=" }, Some(target));
        } else if let Some(Token::Mark(mark)) = reader.peek()
            && let Some((_, meaning)) = ASSIGNMENTS.iter().find(|(assignment, _)| assignment == mark)
        {
            let sign = *mark;
            reader.place += 1;
            operator = meaning;
            made = Some(target);
            let value = reader.value()?;
            let value = match sign {
                "-=" => Node::Unary("-", Box::new(value)),
                "/=" => Node::Binary("/", Box::new(Node::Number("1".to_owned())), Box::new(value)),
                "**=" => return None,
                _ => value,
            };
            return reader.finish(made, operator, value, condition);
        }
    }
    if made.is_none() {
        reader.place = start;
        reader.formats.clear();
    }
    let value = reader.value()?;
    reader.finish(made, operator, value, condition)
}

struct Reader<'t> {
    tokens: &'t [Token],
    place: usize,
    depth: usize,
    /// How many lists and choices are open: a `:` in these is no format's.
    inside: usize,
    /// Formats beside tensors.
    formats: Vec<(String, String)>,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.place)
    }

    fn peek_at(&self, ahead: usize) -> Option<&'t Token> {
        self.tokens.get(self.place + ahead)
    }

    fn takes(&mut self, token: &Token) -> bool {
        let is_it = self.peek() == Some(token);
        self.place += usize::from(is_it);
        is_it
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Name(name)) if name == word);
        self.place += usize::from(is_it);
        is_it
    }

    fn mark(&self) -> Option<&'static str> {
        match self.peek()? {
            Token::Mark(mark) => Some(mark),
            Token::Name(name) if name == "and" => Some("&&"),
            Token::Name(name) if name == "or" => Some("||"),
            _ => None,
        }
    }

    /// The `if` that guards a statement.
    fn leading_condition(&mut self) -> Option<Option<Node>> {
        if !self.takes_word("if") {
            return Some(None);
        }
        let condition = self.expression(0)?;
        _ = self.takes(&Token::Mark(":")) || self.takes(&Token::Open('{'));
        let has_end = self.tokens.last() == Some(&Token::Close('}'));
        let end = self.tokens.len() - usize::from(has_end);
        let end = end - usize::from(self.tokens.get(end.wrapping_sub(1)) == Some(&Token::Mark(";")));
        self.tokens = &self.tokens[..end];
        Some(Some(condition))
    }

    /// The statement, where all was read.
    fn finish(
        mut self,
        target: Option<Node>,
        operator: &'static str,
        value: Node,
        condition: Option<Node>,
    ) -> Option<Statement> {
        let mut mask = None;
        let mut value = value;
        let trailing = if self.takes_word("if") || self.takes_word("where") { Some(self.expression(0)?) } else { None };
        if self.takes_word("else") {
            let other = self.value()?;
            value = select(trailing?, value, other);
        } else if let Some(condition) = trailing.or(condition) {
            match condition {
                Node::Apply(..) => mask = Some(condition),
                // What is stored is not zero.
                Node::Binary("!=", left, right) if *right == zero() && matches!(*left, Node::Apply(..)) => {
                    mask = Some(*left)
                }
                condition => value = select(condition, value, zero()),
            }
        }
        if self.place < self.tokens.len() {
            return None;
        }
        let has_reader = |node: &Node| matches!(node, Node::Apply(..) | Node::Name(_));
        if target.as_ref().is_some_and(|target| !has_reader(target)) {
            return None;
        }
        let target = target.unwrap_or_else(|| Node::Text(String::new()));
        Some(Statement { target, operator, value, mask, formats: self.formats })
    }

    /// A value, with what C chooses by `?`.
    fn value(&mut self) -> Option<Node> {
        let first = self.expression(0)?;
        if !self.takes(&Token::Mark("?")) {
            return Some(first);
        }
        self.inside += 1;
        let yes = self.value()?;
        self.inside -= 1;
        if !self.takes(&Token::Mark(":")) {
            return None;
        }
        Some(select(first, yes, self.value()?))
    }

    /// Operators that bind as tightly as `least` or more.
    fn expression(&mut self, least: u8) -> Option<Node> {
        self.depth += 1;
        let found = if self.depth > DEEPEST { None } else { self.operators(least) };
        self.depth -= 1;
        found
    }

    fn operators(&mut self, least: u8) -> Option<Node> {
        let mut left = self.unary()?;
        // The right-hand side of the comparison before, of which the next one takes part.
        let mut compared: Option<Node> = None;
        while let Some((own, operator)) = self.mark().and_then(binary).filter(|(own, _)| *own >= least) {
            self.place += 1;
            let right = self.expression(own + 1)?;
            let is_comparison = own == COMPARISON;
            let chained = compared.take().filter(|_| is_comparison);
            compared = is_comparison.then(|| right.clone());
            left = match (operator, chained) {
                ("@", _) => Node::Product(Box::new(left), Box::new(right)),
                (_, Some(middle)) => {
                    let next = Node::Binary(operator, Box::new(middle), Box::new(right));
                    Node::Binary("&&", Box::new(left), Box::new(next))
                }
                _ => Node::Binary(operator, Box::new(left), Box::new(right)),
            };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Node> {
        if self.takes(&Token::Mark("-")) {
            return Some(Node::Unary("-", Box::new(self.expression(UNARY)?)));
        }
        if self.takes(&Token::Mark("!")) || self.takes_word("not") {
            return Some(Node::Unary("!", Box::new(self.expression(UNARY)?)));
        }
        _ = self.takes(&Token::Mark("+"));
        let base = self.postfix()?;
        if self.takes(&Token::Mark("^")) {
            self.depth += 1;
            let exponent = if self.depth > DEEPEST { None } else { self.unary() };
            self.depth -= 1;
            return match exponent? {
                Node::Name(name) if name == "T" || name == "H" => Some(Node::Transposed(Box::new(base))),
                exponent => Some(Node::Power(Box::new(base), Box::new(exponent))),
            };
        }
        Some(base)
    }

    /// An operand with its suffixes.
    fn postfix(&mut self) -> Option<Node> {
        let mut node = self.operand()?;
        loop {
            node = match (self.peek(), node) {
                (Some(Token::Open(open @ ('(' | '['))), node) => {
                    let open = *open;
                    self.place += 1;
                    let arguments = self.arguments(if open == '(' { ')' } else { ']' })?;
                    applied(node, arguments, open)?
                }
                (Some(Token::Prime), node) => {
                    self.place += 1;
                    Node::Transposed(Box::new(node))
                }
                (Some(Token::Mark(".")), node) => {
                    self.place += 1;
                    self.member(node)?
                }
                (Some(Token::Mark(":")), node) if self.is_format_next(&node) => {
                    self.place += 1;
                    self.with_format(node)?
                }
                (_, node) => return Some(node),
            };
        }
    }

    /// `A.T`, `A.dot(x)`, `np.einsum`
    fn member(&mut self, node: Node) -> Option<Node> {
        let Some(Token::Name(member)) = self.peek() else { return None };
        self.place += 1;
        let call = |reader: &mut Self| {
            if !reader.takes(&Token::Open('(')) {
                return None;
            }
            reader.arguments(')')
        };
        match (node, member.as_str()) {
            (Node::Name(module), function) if MODULES.contains(&module.as_str()) => {
                Some(Node::Name(function.to_owned()))
            }
            (node, "T" | "mT" | "H") => Some(Node::Transposed(Box::new(node))),
            (node, "transpose" | "t") => call(self)?.is_empty().then(|| Node::Transposed(Box::new(node))),
            (node, "dot" | "matmul" | "mul" | "mm" | "mv") => match <[Node; 1]>::try_from(call(self)?) {
                Ok([other]) => Some(Node::Product(Box::new(node), Box::new(other))),
                Err(_) => None,
            },
            _ => None,
        }
    }

    /// Whether a `:` names the format of the tensor before it.
    fn is_format_next(&self, node: &Node) -> bool {
        self.inside == 0
            && matches!(node, Node::Name(_) | Node::Apply(..))
            && matches!(self.peek_at(1), Some(Token::Name(_)))
    }

    fn with_format(&mut self, node: Node) -> Option<Node> {
        let Some(Token::Name(format)) = self.peek() else { return None };
        self.place += 1;
        let (name, is_indexed) = match &node {
            Node::Name(name) => (name.clone(), false),
            Node::Apply(name, _) => (name.clone(), true),
            _ => return None,
        };
        let mut format = format.clone();
        // `bcsr(4)`; of one list behind a tensor without indices, these are its indices.
        if self.peek() == Some(&Token::Open('(')) {
            let before = self.place;
            self.place += 1;
            let arguments = self.arguments(')')?;
            if is_indexed || self.peek() == Some(&Token::Open('(')) {
                let words: Option<Vec<String>> = arguments.iter().map(word).collect();
                format = format!("{format}({})", words?.join(", "));
            } else {
                self.place = before;
            }
        }
        if !self.formats.iter().any(|(known, _)| *known == name) {
            self.formats.push((name, format));
        }
        Some(node)
    }

    fn operand(&mut self) -> Option<Node> {
        let token = self.peek()?;
        self.place += 1;
        match token {
            Token::Number(number) => Some(Node::Number(number.clone())),
            Token::Text(text) => Some(Node::Text(text.clone())),
            Token::Open('(') => {
                let inside = self.value()?;
                self.takes(&Token::Close(')')).then_some(inside)
            }
            Token::Name(name) => match name.split_once('_') {
                Some((sum, variables)) if reduction(sum).is_some() && self.are_indices(variables) => {
                    self.sum(reduction(sum)?, variables)
                }
                _ if matches!(name.as_str(), "if" | "else" | "for" | "in" | "while" | "end") => None,
                _ => Some(Node::Name(name.clone())),
            },
            _ => None,
        }
    }

    /// `sum_j …`, `sum_{j,k} …`
    fn sum(&mut self, name: &str, variables: &str) -> Option<Node> {
        let mut names: Vec<String> = Vec::new();
        if variables.is_empty() {
            if !self.takes(&Token::Open('{')) {
                return None;
            }
            while !self.takes(&Token::Close('}')) {
                match self.peek()? {
                    Token::Name(name) => names.push(name.clone()),
                    Token::Mark(",") => {}
                    _ => return None,
                }
                self.place += 1;
            }
        } else if self.is_index(variables) {
            names.push(variables.to_owned());
        } else {
            names.extend(variables.chars().filter(|letter| *letter != '_').map(String::from));
        }
        // `sum_j(…)` takes what is in parentheses, `sum_j …` a product.
        let body = match self.peek() {
            Some(Token::Open('(')) => self.operand()?,
            _ => self.expression(PRODUCT)?,
        };
        Some(Node::Reduce(name.to_owned(), names, Box::new(body)))
    }

    /// Whether what follows `sum_` is an index, or several of one letter each.
    fn are_indices(&self, variables: &str) -> bool {
        let letters = || variables.chars().filter(|letter| *letter != '_');
        self.is_index(variables) || letters().all(|letter| self.is_index(&letter.to_string()))
    }

    /// Whether a word stands between brackets or commas somewhere.
    fn is_index(&self, word: &str) -> bool {
        let is_mark = |token: &Token| matches!(token, Token::Open(_) | Token::Close(_) | Token::Mark(","));
        self.tokens.windows(3).any(|three| {
            is_mark(&three[0]) && is_mark(&three[2]) && matches!(&three[1], Token::Name(name) if name == word)
        })
    }

    /// What stands in a list, up to its end.
    fn arguments(&mut self, end: char) -> Option<Vec<Node>> {
        self.inside += 1;
        let mut arguments = Vec::new();
        loop {
            if self.takes(&Token::Close(end)) {
                self.inside -= 1;
                return Some(arguments);
            }
            let mut argument = self.value()?;
            // `optimize=True`
            if self.takes(&Token::Mark("=")) {
                self.value()?;
                if !self.takes(&Token::Mark(",")) && self.peek() != Some(&Token::Close(end)) {
                    return None;
                }
                continue;
            }
            if self.takes(&Token::Mark("..")) {
                argument = Node::Binary("..", Box::new(argument), Box::new(self.expression(0)?));
            }
            // `sum(… for j in range(n))`
            if self.peek() == Some(&Token::Name("for".to_owned())) {
                argument = self.generator(argument, end)?;
            }
            arguments.push(argument);
            if !self.takes(&Token::Mark(",")) && self.peek() != Some(&Token::Close(end)) {
                return None;
            }
        }
    }

    fn generator(&mut self, body: Node, end: char) -> Option<Node> {
        let mut names = Vec::new();
        while self.takes_word("for") {
            while let Some(Token::Name(name)) = self.peek().filter(|token| **token != Token::Name("in".to_owned())) {
                names.push(name.clone());
                self.place += 1;
                _ = self.takes(&Token::Mark(","));
            }
            if !self.takes_word("in") {
                return None;
            }
            let mut depth = 0usize;
            while let Some(token) = self.peek() {
                match token {
                    Token::Name(name) if depth == 0 && (name == "for" || name == "if") => break,
                    Token::Open(_) => depth += 1,
                    Token::Close(close) if depth == 0 && *close == end => break,
                    Token::Close(_) => depth = depth.saturating_sub(1),
                    _ => {}
                }
                self.place += 1;
            }
        }
        Some(Node::Reduce(String::new(), names, Box::new(body)))
    }
}

const COMPARISON: u8 = 3;
const PRODUCT: u8 = 7;
const UNARY: u8 = 8;

/// How tightly a mark binds, and the operator that it is.
fn binary(mark: &'static str) -> Option<(u8, &'static str)> {
    Some(match mark {
        "||" => (1, mark),
        "&&" => (2, mark),
        "==" | "!=" | "<" | "<=" | ">" | ">=" => (COMPARISON, mark),
        "|" => (4, mark),
        "&" => (5, mark),
        "+" | "-" => (6, mark),
        "*" | "/" | "%" | "@" | ".*" => (PRODUCT, mark),
        _ => return None,
    })
}

/// The reduction of a word before `_`.
fn reduction(word: &str) -> Option<&'static str> {
    match word {
        "sum" | "Σ" | "Sum" => Some("sum"),
        "prod" | "Π" => Some("prod"),
        _ => None,
    }
}

fn zero() -> Node {
    Node::Number("0".to_owned())
}

fn select(condition: Node, yes: Node, no: Node) -> Node {
    Node::Apply("select".to_owned(), vec![condition, yes, no])
}

fn word(node: &Node) -> Option<String> {
    match node {
        Node::Name(text) | Node::Number(text) => Some(text.clone()),
        _ => None,
    }
}

/// What a list behind something means.
fn applied(node: Node, mut arguments: Vec<Node>, open: char) -> Option<Node> {
    match node {
        // `A[i][j]`
        Node::Apply(name, mut indices) if open == '[' => {
            indices.append(&mut arguments);
            Some(Node::Apply(name, indices))
        }
        // `sum(j)(…)`
        Node::Apply(name, variables) => match <[Node; 1]>::try_from(arguments) {
            Ok([body]) => {
                let names: Option<Vec<String>> = variables.iter().map(word).collect();
                Some(Node::Reduce(name, names?, Box::new(body)))
            }
            Err(_) => None,
        },
        Node::Name(name) if open == '[' => Some(Node::Apply(name, arguments)),
        Node::Name(name) => called(&name, arguments),
        _ => None,
    }
}

/// A function by the name that it has elsewhere.
fn called(name: &str, mut arguments: Vec<Node>) -> Option<Node> {
    let renamed = match name {
        "where" if arguments.len() == 3 => "select",
        "einsum" | "contract" => {
            let operands = arguments.split_off(1.min(arguments.len()));
            return match <[Node; 1]>::try_from(arguments) {
                // The indices of the result go with it until there is a target.
                Ok([Node::Text(text)]) => {
                    let (result, value) = einsum::of_operands(&text, operands)?;
                    let indices = result.into_iter().map(Node::Name).collect();
                    Some(Node::Apply("einsum".to_owned(), vec![Node::Apply(String::new(), indices), value]))
                }
                _ => None,
            };
        }
        "dot" | "matmul" | "mul" => {
            return match <[Node; 2]>::try_from(arguments) {
                Ok([left, right]) => Some(Node::Product(Box::new(left), Box::new(right))),
                Err(_) => None,
            };
        }
        "transpose" => {
            return match <[Node; 1]>::try_from(arguments) {
                Ok([operand]) => Some(Node::Transposed(Box::new(operand))),
                Err(_) => None,
            };
        }
        "sum" | "prod" | "min" | "max" | "any" | "all" => match arguments.as_mut_slice() {
            [Node::Reduce(operator, variables, body)] if operator.is_empty() => {
                return Some(Node::Reduce(name.to_owned(), variables.clone(), body.clone()));
            }
            [Node::Name(variable), body] | [body, Node::Name(variable)] if matches!(name, "sum" | "prod") => {
                return Some(Node::Reduce(name.to_owned(), vec![variable.clone()], Box::new(body.clone())));
            }
            _ => name,
        },
        _ => function(name).unwrap_or(name),
    };
    Some(Node::Apply(renamed.to_owned(), arguments))
}
