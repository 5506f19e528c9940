//! Links between pages, to files and to headings.

use super::page::Page;
use super::{paths, root, text};
use std::path::Path;

/// What has links besides the book.
const OTHERS: &[&str] = &["CONTRIBUTING.md", "CHANGELOG.md", "BENCHMARKS.md", "examples/data/README.md"];

/// The anchor of a heading, as sites make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(page: &Page) -> Vec<String> {
    page.prose.iter().filter(|(_, line)| line.starts_with('#')).map(|(_, line)| anchor(line)).collect()
}

/// A line without the code in it.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// The targets of `[…](target)`, and of images.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let behind = line.split("](").skip(1);
    behind.filter_map(|rest| rest.split_once(')').map(|(target, _)| target.to_owned())).collect()
}

/// What is wrong with a link of a page.
fn problem(page: &Page, target: &str) -> Option<&'static str> {
    if target.contains("://") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let folder = Path::new(&page.path).parent().unwrap();
    let path = if file.is_empty() { Path::new(&page.path).to_owned() } else { folder.join(file) };
    if !root().join(&path).exists() {
        return Some("there is no such file");
    }
    let is_there =
        heading.is_empty() || anchors(&Page::read(path.to_str().unwrap())).iter().any(|found| found == heading);
    (!is_there).then_some("there is no such heading")
}

#[test]
fn every_link_leads_somewhere() {
    let others = OTHERS.iter().map(|&path| path.to_owned());
    let (mut found, mut count) = (Vec::new(), 0);
    for page in paths().into_iter().chain(others).map(|path| Page::read(&path)) {
        for (line, text) in &page.prose {
            for target in targets(text) {
                count += 1;
                found.extend(problem(&page, &target).map(|said| format!("{}:{line}: {target}: {said}", page.path)));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(count > 100, "{count}");
}

#[test]
fn the_summary_has_every_page() {
    let summary = text("docs/SUMMARY.md");
    let mut listed: Vec<String> = summary.lines().flat_map(targets).filter(|path| !path.starts_with("..")).collect();
    let mut there: Vec<String> =
        paths().iter().filter_map(|path| path.strip_prefix("docs/").map(str::to_owned)).collect();
    there.retain(|path| path != "SUMMARY.md");
    listed.sort();
    there.sort();
    assert_eq!(listed, there);
}

#[test]
fn anchors_are_those_of_headings() {
    assert_eq!(anchor("## What works, and what does not yet"), "what-works-and-what-does-not-yet");
    assert_eq!(targets("[a](b.md#c), `[x](y)` and ![p](q.svg)"), ["b.md#c", "q.svg"]);
}
