//! Text from outside, such as names of files and of what is in them, as a terminal may show it.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with escapes, as `\u{1b}`, for characters that a terminal obeys or that change the order of others: control characters
/// but for line ends and tabs, and controls of the direction of text.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |escapes, character| write!(escapes, "\\u{{{:x}}}", u32::from(character)))
}

/// The same by the numbers of the characters, `U+202E`, which compilers accept in comments.
pub fn spelled(text: &str) -> Cow<'_, str> {
    escaped(text, |escapes, character| write!(escapes, "U+{:04X}", u32::from(character)))
}

/// The same in the text of a JSON document.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    escaped(text, |escapes, character| write!(escapes, "\\u{:04x}", u32::from(character)))
}

/// Whether a terminal obeys a character, or it changes the order in which others are shown.
pub fn is_obeyed(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        character => character.is_control(),
    }
}

fn escaped(text: &str, escape: impl Fn(&mut String, char) -> std::fmt::Result) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut escapes = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if !is_obeyed(character) {
            escapes.push(character);
        } else if escape(&mut escapes, character).is_err() {
            unreachable!("writing to memory does not fail");
        }
    }
    Cow::Owned(escapes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(printable("é\t\n∑ — 名.npz"), "é\t\n∑ — 名.npz");
        assert_eq!(printable("\x1b]0;title\x07\r\u{7f}\u{9b}1m"), r"\u{1b}]0;title\u{7}\u{d}\u{7f}\u{9b}1m");
        assert_eq!(printable("a\u{202e}b\u{2066}"), r"a\u{202e}b\u{2066}");
        assert_eq!(printable_json("\"\u{202e}\u{9b}\""), "\"\\u202e\\u009b\"");
    }
}
