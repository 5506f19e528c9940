//! Pages for a browser, complete in one file: filling in a template, and text that is not taken for markup.

use std::fmt::{self, Display};

/// A template with each part in its place: what stands between double braces is a name. What is put in is not looked at again.
pub(crate) fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the template closes its braces");
        let part = parts.iter().find(|(known, _)| *known == name.trim());
        page.push_str(before);
        page.push_str(&part.expect("the template names parts of the page").1);
        rest = after;
    }
    page + rest
}

/// A row of a table; `open` is its tag with attributes.
pub(crate) fn cells(open: &str, cell: &str, texts: &[impl Display]) -> String {
    let cells: String = texts.iter().map(|text| format!("<{cell}>{}</{cell}>", Escaped(text))).collect();
    format!("<{open}>{cells}</tr>\n")
}

/// A text without what a browser would take for markup.
pub(crate) struct Escaped<T>(pub(crate) T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.to_string().chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_filled_in_once_and_texts_escaped() {
        let filled = fill("<p>{{ a }}{{b}}</p>", &[("a", "{{ b }}".to_owned()), ("b", Escaped("<&>").to_string())]);
        assert_eq!(filled, "<p>{{ b }}&lt;&amp;&gt;</p>");
    }
}
