//! "Did you mean": the candidate nearest to what was written. Every name that is unknown, wherever it stands, is looked up here.

/// The candidate that `word` most likely stands for, the nearest first, and of equally near ones the first: one edit in words of four letters,
/// and one more for each four more. A word of up to three letters stands for nothing else, but for one of the same letters in another order,
/// in another case, with one of them twice or one more behind: too many others are as near. `None` where none is near, or where `word` itself is a candidate.
pub fn similar<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= limit(word, candidate))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, _)| distance > 0)
        .map(|(_, candidate)| candidate)
}

/// How far from each other words may be that are one; a swap of neighbours in a short word counts for one edit.
fn limit(word: &str, candidate: &str) -> usize {
    let length = word.chars().count().min(candidate.chars().count());
    let edits = length / 4;
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    let single = |word: &str| {
        let mut letters: Vec<char> = word.to_lowercase().chars().collect();
        letters.dedup();
        letters
    };
    let is_same = || {
        sorted(word) == sorted(candidate)
            || single(word) == single(candidate)
            || length > 1 && candidate.starts_with(word)
    };
    let edits = if edits == 0 && is_same() { 1 } else { edits };
    2 * edits + 1
}

/// Twice the number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other; without regard to case
/// it is one more.
fn distance(a: &str, b: &str) -> usize {
    let lower = |word: &str| word.chars().flat_map(char::to_lowercase).collect::<String>();
    (2 * edits(a, b)).min(2 * edits(&lower(a), &lower(b)) + 1)
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
        assert_eq!(similar("crs", ["csf", "csr"]), Some("csr"));
        assert_eq!(similar("cssr", ["csf", "csr"]), Some("csr"));
        assert_eq!(similar("row", ["rows", "wide"]), Some("rows"));
    }

    #[test]
    fn short_and_equal_words_suggest_nothing() {
        assert_eq!(similar("i", ["j", "k"]), None);
        assert_eq!(similar("x", ["X"]), Some("X"));
        assert_eq!(similar("dense", ["dense", "denser"]), None);
        assert_eq!(similar("", ["a"]), None);
        assert_eq!(similar("fm", ["fn", "format"]), None);
        let functions = ["min", "max", "sqrt", "log10", "im", "prod", "sin"];
        for word in ["mean", "if", "grad", "mex", "sit", "log", "man"] {
            assert_eq!(similar(word, functions), None, "{word}");
        }
    }
}
