//! Text in, kernel out: reads what [`Display for Kernel`](super::Kernel) prints.
//!
//! ```text
//! kernel NAME { documentation dimension* bound* tensor* pivot* array* variable* body { statement* } }
//! ```
//!
//! Recursive descent with one token of lookahead; operators by [precedence](super::precedence). Line breaks are blanks, but
//! for `//`, which is a statement up to the end of its line. Ids are declared in order, from 0. A name behind an id
//! (`v2:i`) may be left out; where it stands, it must be the declared one. What is read need not verify.

mod declarations;
mod expressions;
mod statements;
#[cfg(test)]
mod tests;
mod tokens;

use super::*;
use crate::format::LevelKind;
use tokens::{Token, Tokens};

/// How deep expressions and statements may nest, so that no stack overflows on their way through the compiler.
const MAXIMUM_DEPTH: usize = 256;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

type Result<T> = std::result::Result<T, ParseError>;

/// The kind of level with a name: [`crate::level::named`], which this module is below.
pub(super) type LevelNames = fn(&str) -> Option<LevelKind>;

/// Reads a kernel.
///
/// # Errors
/// The first place where the text is not a kernel.
pub fn parse(text: &str, levels: LevelNames) -> Result<Kernel> {
    let mut parser =
        Parser { tokens: Tokens::new(text), levels, kernel: Kernel::empty(), declared: Vec::new(), depth: 0 };
    parser.kernel()?;
    Ok(parser.kernel)
}

struct Parser<'t> {
    tokens: Tokens<'t>,
    levels: LevelNames,
    /// What was read so far.
    kernel: Kernel,
    /// The operators that it declares.
    declared: Vec<ReduceOperator>,
    /// How deep the parser stands in statements and expressions.
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&mut self) -> Result<&Token<'t>> {
        self.tokens.peek()
    }

    /// Takes the next token.
    fn next(&mut self) -> Result<Token<'t>> {
        self.tokens.next()
    }

    /// An error at the next token.
    fn expected<T>(&mut self, what: &str) -> Result<T> {
        let found = self.peek()?.to_string();
        self.fail(format!("expected {what}, found {found}"))
    }

    /// An error at the next token, in other words.
    fn fail<T>(&mut self, message: String) -> Result<T> {
        Err(self.tokens.error(message))
    }

    fn at(&mut self, text: &str) -> Result<bool> {
        Ok(matches!(self.peek()?, Token::Word(found) | Token::Sign(found) if *found == text))
    }

    /// Takes the next token if it is this word or sign.
    fn accept(&mut self, text: &str) -> Result<bool> {
        let there = self.at(text)?;
        if there {
            self.next()?;
        }
        Ok(there)
    }

    /// Takes this word or sign.
    fn require(&mut self, text: &str) -> Result<()> {
        if self.accept(text)? { Ok(()) } else { self.expected(&format!("`{text}`")) }
    }

    /// Takes one of these words or signs.
    fn one_of<T: Copy>(&mut self, what: &str, choices: impl IntoIterator<Item = (&'static str, T)>) -> Result<T> {
        for (text, meaning) in choices {
            if self.accept(text)? {
                return Ok(meaning);
            }
        }
        self.expected(what)
    }

    /// A number without a suffix.
    fn number(&mut self) -> Result<u64> {
        match *self.peek()? {
            Token::Number(text) => match text.parse() {
                Ok(value) => self.next().map(|_| value),
                Err(_) => self.fail(format!("`{text}` is not an index: expected a number below 2^64")),
            },
            _ => self.expected("a number"),
        }
    }

    /// A number that counts things of this machine.
    fn count(&mut self) -> Result<usize> {
        let value = self.number()?;
        usize::try_from(value).or_else(|_| self.fail(format!("{value} is too large")))
    }

    /// `what` inside one more bracket or block.
    fn deeper<T>(&mut self, what: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAXIMUM_DEPTH {
            return self.fail(format!("this nests deeper than {MAXIMUM_DEPTH}"));
        }
        self.depth += 1;
        let result = what(self);
        self.depth -= 1;
        result
    }

    fn kernel(&mut self) -> Result<()> {
        self.require("kernel")?;
        self.kernel.name = self.name()?;
        self.kernel.deterministic = self.accept("deterministic")?;
        self.require("{")?;
        self.declarations()?;
        self.require("body")?;
        self.kernel.body = self.block()?;
        self.require("}")?;
        if matches!(self.peek()?, Token::End) { Ok(()) } else { self.expected("the end of the text") }
    }
}
