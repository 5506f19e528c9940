//! "Did you mean": the candidate nearest to what was written. Every name that is unknown, wherever it stands, is looked up here.

/// The candidate that `word` most likely stands for: at most one edit for each three letters away, the nearest first, and
/// of equally near ones the first. A different case counts for less than an edit. `None` where none is near, or where
/// `word` itself is a candidate.
pub fn similar<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = 2 * length.div_ceil(3);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        // Nothing of a word may be left: `i` is no misspelling of `j`.
        .filter(|&(distance, candidate)| distance <= limit && distance < 2 * length.min(candidate.chars().count()))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, _)| distance > 0)
        .map(|(_, candidate)| candidate)
}

/// Twice the number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other; where that
/// is less without regard to case, each letter of another case counts for one.
fn distance(a: &str, b: &str) -> usize {
    let edits = edits(a, b);
    let lower = |word: &str| word.chars().flat_map(char::to_lowercase).collect::<String>();
    let (lower_a, lower_b) = (lower(a), lower(b));
    let in_case = strsim::generic_hamming(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
    match in_case {
        Ok(letters) if lower_a == lower_b => letters,
        _ => (2 * edits).min(2 * self::edits(&lower_a, &lower_b) + 1),
    }
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
pub fn edits(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_candidate_is_suggested() {
        let levels = ["dense", "compressed", "singleton", "padded"];
        assert_eq!(similar("compresed", levels), Some("compressed"));
        assert_eq!(similar("denes", levels), Some("dense"));
        assert_eq!(similar("Dense", levels), Some("dense"));
        assert_eq!(similar("hashed", levels), None);
        assert_eq!(similar("fm", ["fn", "format"]), Some("fn"));
    }

    #[test]
    fn short_and_equal_words_suggest_nothing() {
        assert_eq!(similar("i", ["j", "k"]), None);
        assert_eq!(similar("x", ["X"]), Some("X"));
        assert_eq!(similar("dense", ["dense", "denser"]), None);
        assert_eq!(similar("", ["a"]), None);
    }
}
