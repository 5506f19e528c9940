//! "Did you mean": the candidate nearest to what was written.

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

/// Twice the number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other; a
/// replacement by the same letter in the other case counts half. (R. A. Wagner and R. Lowrance, "An extension of the
/// string-to-string correction problem", 1975, restricted to one swap a letter.)
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let mut best = if i == 0 && j == 0 { 0 } else { usize::MAX };
            if i > 0 {
                best = best.min(rows[i - 1][j] + 2);
            }
            if j > 0 {
                best = best.min(rows[i][j - 1] + 2);
            }
            if i > 0 && j > 0 {
                best = best.min(rows[i - 1][j - 1] + replacement(a[i - 1], b[j - 1]));
            }
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 2);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

fn replacement(a: char, b: char) -> usize {
    if a == b {
        0
    } else if a.to_lowercase().eq(b.to_lowercase()) {
        1
    } else {
        2
    }
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
