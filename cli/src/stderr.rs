//! Standard error.

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use spc_compiler::diagnostics::printable;
use std::io::{self, Write};

/// Writes a text with styles in one piece: processes that share it do not write into each other's lines.
pub(crate) fn write(text: &str) {
    // Whoever closed standard error does not want to read it.
    _ = match AutoStream::choice(&io::stderr()) {
        ColorChoice::Never => io::stderr().write_all(strip_str(text).to_string().as_bytes()),
        _ => anstream::stderr().write_all(text.as_bytes()),
    };
}

/// Prints a text, with escapes for what a terminal would obey.
pub(crate) fn print(text: &str) {
    write(&printable(text));
}

/// The same of a text with styles, which stay.
pub(crate) fn print_styled(text: &str) {
    let mut rest = text;
    let mut shown = String::with_capacity(text.len());
    while let Some(place) = rest.find('\x1b') {
        let (before, style) = rest.split_at(place);
        let length = style.find('m').filter(|&end| {
            let inner = style[1..end].strip_prefix('[');
            inner.is_some_and(|inner| inner.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
        });
        let length = length.map_or(0, |end| end + 1);
        shown += &printable(before);
        shown += &style[..length];
        if length == 0 {
            shown += &printable("\x1b");
        }
        rest = &style[length.max(1)..];
    }
    shown += &printable(rest);
    write(&shown);
}
