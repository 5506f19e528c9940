//! Words and marks, as several languages write them.

/// A word or a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A literal.
    Number(String),
    /// A word.
    Name(String),
    /// What stands in quotes.
    Text(String),
    /// `(`, `[`, `{`
    Open(char),
    /// `)`, `]`, `}`
    Close(char),
    /// The `'` behind an operand.
    Prime,
    /// The end of a line.
    Line,
    /// A mark, by the name of what it means.
    Mark(&'static str),
}

/// Marks, longest first, with what each means.
const MARKS: &[(&str, &str)] = &[
    ("<<min>>=", "min="),
    ("<<max>>=", "max="),
    ("||=", "|="),
    ("&&=", "&="),
    ("**=", "**="),
    (".+=", "+="),
    (".*=", "*="),
    (".-=", "-="),
    ("...", "..."),
    ("**", "^"),
    (".^", "^"),
    (".*", ".*"),
    (".+", "+"),
    (".-", "-"),
    ("./", "/"),
    (".=", "="),
    (":=", "="),
    ("+=", "+="),
    ("-=", "-="),
    ("*=", "*="),
    ("/=", "/="),
    ("|=", "|="),
    ("&=", "&="),
    ("==", "=="),
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("&&", "&&"),
    ("||", "||"),
    ("->", "->"),
    ("++", "++"),
    ("--", "--"),
    ("..", ".."),
    ("=", "="),
    ("←", "="),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("+", "+"),
    ("-", "-"),
    ("−", "-"),
    ("–", "-"),
    ("*", "*"),
    ("×", "*"),
    ("·", "*"),
    ("⋅", "*"),
    ("∗", "*"),
    ("/", "/"),
    ("%", "%"),
    ("@", "@"),
    ("^", "^"),
    ("<", "<"),
    (">", ">"),
    ("!", "!"),
    ("|", "|"),
    ("&", "&"),
    (":", ":"),
    (";", ";"),
    (",", ","),
    (".", "."),
    ("?", "?"),
];

/// Digits that are written above the line.
const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// So many tokens are read at most: a statement is shorter.
const MOST: usize = 4000;

/// The tokens of a text; `None` where something in it is none.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if tokens.len() > MOST {
            return None;
        }
        let (token, length) = match first {
            '\n' => (Some(Token::Line), 1),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '#' => (None, line_length(rest)),
            '/' if rest.starts_with("//") => (None, line_length(rest)),
            '(' | '[' | '{' => (Some(Token::Open(first)), 1),
            ')' | ']' | '}' => (Some(Token::Close(first)), 1),
            '\'' if ends_operand(tokens.last()) && !text[..text.len() - rest.len()].ends_with(char::is_whitespace) => {
                (Some(Token::Prime), 1)
            }
            '\'' | '"' => {
                let inside = rest[1..].find(first)?;
                (Some(Token::Text(rest[1..=inside].to_owned())), inside + 2)
            }
            '∑' | 'Σ' if !rest[first.len_utf8()..].starts_with(is_inside_word) => {
                (Some(Token::Name("sum".to_owned())), first.len_utf8())
            }
            '∑' => {
                let length = word_length(&rest[first.len_utf8()..]);
                let rest = &rest[first.len_utf8()..][..length];
                (Some(Token::Name(format!("sum{rest}"))), first.len_utf8() + length)
            }
            _ if first.is_alphabetic() || first == '_' || first == '\\' => {
                let slash = usize::from(first == '\\');
                let length = word_length(&rest[slash..]);
                (Some(Token::Name(rest[slash..][..length].to_owned())).filter(|_| length > 0), (slash + length).max(1))
            }
            _ if first.is_ascii_digit() => number(rest),
            _ if RAISED.contains(&first) => raised(rest, &mut tokens),
            _ => {
                let (mark, meaning) = MARKS.iter().find(|(mark, _)| rest.starts_with(mark))?;
                (Some(Token::Mark(meaning)), mark.len())
            }
        };
        tokens.extend(token);
        rest = &rest[length..];
    }
    Some(tokens)
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

fn is_inside_word(letter: char) -> bool {
    letter.is_alphanumeric() && !RAISED.contains(&letter) || letter == '_'
}

fn word_length(text: &str) -> usize {
    text.find(|letter| !is_inside_word(letter)).unwrap_or(text.len())
}

/// Whether a token may be the last of an operand.
fn ends_operand(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Name(_) | Token::Close(_) | Token::Prime))
}

/// A literal, with its fraction, its exponent and its type.
fn number(text: &str) -> (Option<Token>, usize) {
    let bytes = text.as_bytes();
    let is_digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
    let mut end = word_length(text);
    // `1..3` is a range, and `1.` before an operator is Julia's.
    if bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
        end += 1 + word_length(&text[end + 1..]);
    }
    if text[..end].ends_with(['e', 'E']) && matches!(bytes.get(end), Some(b'+' | b'-')) && is_digit(end + 1) {
        end += 1 + word_length(&text[end + 1..]);
    }
    (Some(Token::Number(text[..end].to_owned())), end)
}

/// `²` is `^` and a number.
fn raised(text: &str, tokens: &mut Vec<Token>) -> (Option<Token>, usize) {
    let digits: Vec<usize> =
        text.chars().map_while(|letter| RAISED.iter().position(|raised| *raised == letter)).collect();
    let length = text.chars().take(digits.len()).map(char::len_utf8).sum();
    tokens.push(Token::Mark("^"));
    (Some(Token::Number(digits.iter().map(usize::to_string).collect())), length)
}
