//! Targets: a verified kernel to text.

#[cfg(feature = "c")]
pub mod c;
#[cfg(feature = "cuda")]
pub mod cuda;
mod namer;
pub mod rust;
#[cfg(any(feature = "c", feature = "cuda"))]
mod words;

/// A text whose comments have the user's words as they are. Marks that would change how it is read or shown are spelled: controls, and marks of
/// direction.
#[cfg(any(feature = "c", feature = "cuda"))]
fn legible(text: String) -> String {
    let is_mark = |letter: char| {
        letter.is_control() && !matches!(letter, '\n' | '\t')
            || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if !text.contains(is_mark) {
        return text;
    }
    let spelled =
        |letter: char| if is_mark(letter) { format!("U+{:04X}", u32::from(letter)) } else { letter.to_string() };
    text.chars().map(spelled).collect()
}

#[cfg(all(test, any(feature = "c", feature = "cuda")))]
mod tests {
    use super::legible;

    #[test]
    fn words_stay_and_marks_are_spelled() {
        assert_eq!(legible("// Veličković, 図\n".to_owned()), "// Veličković, 図\n");
        assert_eq!(legible("// a\u{202e}b\u{7}\n\tx".to_owned()), "// aU+202EbU+0007\n\tx");
    }
}
