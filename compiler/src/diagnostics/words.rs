//! Small words that messages share.

/// `1 mode`, `2 modes`, `3 indices`
pub(crate) fn count(number: usize, noun: &str) -> String {
    match (number, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "index") => format!("{number} indices"),
        _ => format!("{number} {noun}s"),
    }
}

/// `` `a`, `b` and `c` ``
pub(crate) fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [] => String::new(),
        [word] => word.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
