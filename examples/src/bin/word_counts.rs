//! Makes `examples/data/words.tns.gz`: how often a word follows another, in each file of this project's documentation.
//!
//! The text is that of the Markdown files and of the comments in the sources. A word is a run of letters, in lower case;
//! the most frequent words take part, in the order of their frequency. The same text gives the same file.
//!
//! ```sh
//! cargo run --release -p spc-examples --bin word_counts
//! ```

use spc::io;
use spc::tensor::{Coordinates, Indices};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// How many words take part.
const WORDS: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut files = Vec::new();
    find_files(&root, &mut files)?;
    files.sort();
    let mut texts = Vec::new();
    let mut names = Vec::new();
    for file in &files {
        let words = words(&text(file)?);
        if words.len() > 1 {
            texts.push(words);
            names.push(file.strip_prefix(&root)?.to_string_lossy().into_owned());
        }
    }
    let vocabulary = vocabulary(&texts);

    let entries = count(&texts, &vocabulary);
    println!("{} entries, shape {:?}", entries.values.len(), entries.shape);
    io::write(data.join("words.tns.gz"), &entries)?;
    let mut sorted: Vec<(&str, u32)> = vocabulary.into_iter().collect();
    sorted.sort_by_key(|&(_, index)| index);
    io::write_text(data.join("words.txt"), &lines(sorted.iter().map(|&(word, _)| word.to_owned())))?;
    io::write_text(data.join("files.txt"), &lines(names.into_iter()))?;
    Ok(())
}

/// Markdown files and sources, without what is hidden, built or recorded.
fn find_files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "snapshots", "data"].contains(&name.as_str()) {
                find_files(&path, found)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "md" || extension == "rs" || extension == "ti")
        {
            found.push(path);
        }
    }
    Ok(())
}

/// A Markdown file as it is; of a source the comments.
fn text(file: &Path) -> std::io::Result<String> {
    let text = fs::read_to_string(file)?;
    if file.extension().is_some_and(|extension| extension == "md") {
        return Ok(text);
    }
    let comments = text.lines().filter_map(|line| line.split_once("//").map(|(_, comment)| comment));
    Ok(lines(comments.map(str::to_owned)))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_ascii_alphabetic());
    words.filter(|word| word.len() > 1 || *word == "a").map(str::to_ascii_lowercase).collect()
}

/// The most frequent words with their indices, the most frequent first; of equally frequent ones the alphabet decides.
fn vocabulary(texts: &[Vec<String>]) -> BTreeMap<&str, u32> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in texts.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut sorted: Vec<(&str, usize)> = counts.into_iter().collect();
    sorted.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    sorted.into_iter().take(WORDS).zip(0..).map(|((word, _), index)| (word, index)).collect()
}

/// An entry for each word, the word after it, and the file.
fn count(texts: &[Vec<String>], vocabulary: &BTreeMap<&str, u32>) -> Coordinates<f64> {
    let mut counts: BTreeMap<(u32, u32, u32), f64> = BTreeMap::new();
    for (text, file) in texts.iter().zip(0..) {
        for pair in text.windows(2) {
            if let (Some(&word), Some(&next)) = (vocabulary.get(pair[0].as_str()), vocabulary.get(pair[1].as_str())) {
                *counts.entry((word, next, file)).or_default() += 1.0;
            }
        }
    }
    let mode = |index: fn(&(u32, u32, u32)) -> u32| Indices::U32(counts.keys().map(index).collect());
    Coordinates {
        shape: vec![vocabulary.len(), vocabulary.len(), texts.len()],
        shape_is_stated: true,
        indices: vec![mode(|key| key.0), mode(|key| key.1), mode(|key| key.2)],
        values: counts.into_values().collect(),
    }
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}
