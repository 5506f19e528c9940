//! Entries as people write them: lines of indices from 0 and a value.

/// An index, and the value there.
pub(crate) type Entry = (Vec<usize>, f64);

/// The most entries of an operand.
const MOST: usize = 2000;

/// Reads lines of so many indices and a value, apart by blanks or commas; what follows a `#` is a comment.
///
/// # Errors
/// The first line that is something else, by its number from 1.
pub(crate) fn entries(text: &str, order: usize) -> Result<Vec<Entry>, String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split([' ', ',', '\t', '(', ')', ':']).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            continue;
        }
        if found.len() == MOST {
            return Err(format!("there are more than {MOST} entries; `spc run` takes files of any size"));
        }
        found.push(entry(&words, order).map_err(|what| format!("line {}: {what}", number + 1))?);
    }
    Ok(found)
}

fn entry(words: &[&str], order: usize) -> Result<Entry, String> {
    let [indices @ .., value] = words else { return Err("it is empty".to_owned()) };
    if indices.len() != order {
        let indices = if order == 1 { "one index".to_owned() } else { format!("{order} indices") };
        let expected = if order == 0 { "a value".to_owned() } else { format!("{indices} and a value") };
        return Err(format!("it has {} numbers, where there should be {expected}", words.len()));
    }
    let index =
        |word: &&str| word.parse().map_err(|_| format!("`{word}` is no index: they are whole numbers from 0 on"));
    let indices = indices.iter().map(index).collect::<Result<_, String>>()?;
    let value = match *value {
        "true" => 1.0,
        "false" => 0.0,
        word => word.parse().map_err(|_| format!("`{word}` is no number"))?,
    };
    Ok((indices, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_indices_and_a_value() {
        assert_eq!(
            entries("0 1 2.5\n\n(3, 4): -inf # far\n", 2),
            Ok(vec![(vec![0, 1], 2.5), (vec![3, 4], f64::NEG_INFINITY)])
        );
        assert_eq!(entries("true", 0), Ok(vec![(vec![], 1.0)]));
        for (text, order, part) in [
            ("0 1\n0 1 2", 1, "line 2: it has 3 numbers, where there should be one index and a value"),
            ("-1 2", 1, "`-1` is no index"),
            ("1.5 2", 1, "`1.5` is no index"),
            ("1 x", 1, "line 1: `x` is no number"),
            ("1 2", 0, "there should be a value"),
        ] {
            assert!(entries(text, order).is_err_and(|message| message.contains(part)), "{text}");
        }
        assert!(entries(&"0 1\n".repeat(2001), 1).is_err_and(|message| message.contains("more than 2000")));
    }
}
