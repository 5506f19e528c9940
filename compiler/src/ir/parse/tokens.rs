//! Words, numbers, signs.

use super::{ParseError, Result};
use crate::diagnostics::line_and_column;
use std::fmt;

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A keyword, an id or a name.
    Word(&'t str),
    /// A name in quotes, as it stands between them.
    Quoted(&'t str),
    /// A number with its suffix, without a sign.
    Number(&'t str),
    /// One of [`SIGNS`].
    Sign(&'t str),
    /// What follows `///`.
    Documentation(&'t str),
    /// What follows `//`.
    Comment(&'t str),
    /// The end of the text.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) | Token::Sign(text) => write!(f, "`{text}`"),
            Token::Quoted(text) => write!(f, "`\"{text}\"`"),
            Token::Documentation(_) | Token::Comment(_) => f.write_str("a comment"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// Longer signs before those that they begin with.
const SIGNS: [&str; 35] = [
    "..", "->", "==", "!=", "<=", ">=", "&&", "||", "+=", "*=", "|=", "&=", "{", "}", "(", ")", "[", "]", ",", ":",
    "=", "<", ">", "+", "-", "*", "/", "%", "!", "&", "|", ";", ".", "?", "'",
];

/// The tokens of a text, one at a time.
pub(super) struct Tokens<'t> {
    text: &'t str,
    /// The next token, where it begins and where it ends.
    ahead: Option<(Token<'t>, usize, usize)>,
    /// Where the last token that was taken ends.
    place: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, ahead: None, place: 0 }
    }

    pub(super) fn peek(&mut self) -> Result<&Token<'t>> {
        let ahead = match self.ahead {
            Some(ahead) => ahead,
            None => self.scan()?,
        };
        Ok(&self.ahead.insert(ahead).0)
    }

    pub(super) fn next(&mut self) -> Result<Token<'t>> {
        let token = *self.peek()?;
        if let Some((_, _, end)) = self.ahead.take() {
            self.place = end;
        }
        Ok(token)
    }

    /// Whether the next token follows the last without a blank between.
    pub(super) fn is_joined(&self) -> bool {
        !self.text[self.place..].starts_with(char::is_whitespace)
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: String) -> ParseError {
        self.error_at(self.ahead.map_or(self.place, |(_, begin, _)| begin), message)
    }

    fn error_at(&self, offset: usize, message: String) -> ParseError {
        let (line, column) = line_and_column(self.text, offset);
        ParseError { line, column, message }
    }

    fn scan(&self) -> Result<(Token<'t>, usize, usize)> {
        let rest = self.text[self.place..].trim_start();
        let begin = self.text.len() - rest.len();
        let (token, length) = if rest.is_empty() {
            (Token::End, 0)
        } else if let Some(comment) = rest.strip_prefix("//") {
            let line = comment.split('\n').next().unwrap_or_default();
            let token =
                line.strip_prefix('/').map_or(Token::Comment(unpad(line)), |doc| Token::Documentation(unpad(doc)));
            (token, line.len() + 2)
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let Some(length) = quoted.find(['"', '\n']).filter(|&at| quoted[at..].starts_with('"')) else {
                return Err(self.error_at(begin, "this quote is not closed in its line".to_owned()));
            };
            (Token::Quoted(&quoted[..length]), length + 2)
        } else if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let length = number(rest.as_bytes());
            (Token::Number(&rest[..length]), length)
        } else if rest.starts_with(is_word) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            (Token::Word(&rest[..length]), length)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let c = rest.chars().next().unwrap_or_default();
            return Err(self.error_at(begin, format!("`{}` means nothing here", c.escape_debug())));
        };
        Ok((token, begin, begin + length))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A line of text without the blank that separates it from its mark.
fn unpad(line: &str) -> &str {
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.strip_prefix(' ').unwrap_or(line)
}

/// The length of a number at the beginning: digits, a fraction unless it is `..`, an exponent, a suffix.
fn number(text: &[u8]) -> usize {
    let at = |place: usize| text.get(place).copied().unwrap_or(0);
    let digits = |mut place: usize| {
        while at(place).is_ascii_digit() {
            place += 1;
        }
        place
    };
    let mut end = digits(0);
    if at(end) == b'.' && at(end + 1).is_ascii_digit() {
        end = digits(end + 1);
    }
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        if at(end + 1 + sign).is_ascii_digit() {
            end = digits(end + 1 + sign);
        }
    }
    while is_word(char::from(at(end))) {
        end += 1;
    }
    end
}
