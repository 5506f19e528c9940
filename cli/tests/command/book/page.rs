//! A page of Markdown: its blocks of code, and what is not code.

/// What a comment above a block says of it.
#[derive(Debug, PartialEq)]
pub(super) enum Mark {
    None,
    /// It is what the block before it prints.
    Output,
    /// `<!-- not run: REASON -->`
    NotRun(String),
    /// `<!-- from PATH -->`
    From(String),
}

#[derive(Debug)]
pub(super) struct Block {
    /// Where it begins, from 1.
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) text: String,
    pub(super) mark: Mark,
}

impl Block {
    pub(super) fn is_output(&self) -> bool {
        self.mark == Mark::Output
    }
}

#[derive(Debug)]
pub(super) struct Page {
    /// Its path in the repository.
    pub(super) path: String,
    pub(super) blocks: Vec<Block>,
    /// The lines that are not in blocks, with their numbers.
    pub(super) prose: Vec<(usize, String)>,
}

impl Page {
    pub(super) fn read(path: &str) -> Self {
        Self::parse(path, &super::text(path))
    }

    pub(super) fn parse(path: &str, text: &str) -> Self {
        let mut page = Self { path: path.to_owned(), blocks: Vec::new(), prose: Vec::new() };
        let mut is_open = false;
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            match line.trim_start().strip_prefix("```") {
                Some(_) if is_open => is_open = false,
                Some(language) => {
                    is_open = true;
                    let indent = line.len() - line.trim_start().len();
                    let mut text = String::new();
                    while let Some((_, line)) = lines.next_if(|(_, line)| !line.trim_start().starts_with("```")) {
                        text += line.get(indent..).unwrap_or_default();
                        text.push('\n');
                    }
                    let mark = page.mark(number, language);
                    page.blocks.push(Block { line: number + 1, language: language.to_owned(), text, mark });
                }
                None => page.prose.push((number + 1, line.to_owned())),
            }
        }
        assert!(!is_open, "{path} has a block that does not end");
        page
    }

    fn mark(&self, number: usize, language: &str) -> Mark {
        let above = self.prose.iter().rev().find(|(_, line)| !line.trim().is_empty());
        let comment = above.filter(|(line, _)| *line == number).and_then(|(_, line)| comment(line));
        if let Some(comment) = comment {
            if let Some(reason) = comment.strip_prefix("not run: ") {
                return Mark::NotRun(reason.to_owned());
            }
            if let Some(path) = comment.strip_prefix("from ") {
                return Mark::From(path.to_owned());
            }
        }
        // Nothing but an empty line is between a command and what it prints.
        let is_behind = self.blocks.last().is_some_and(|last| {
            let end = last.line + last.text.lines().count() + 1;
            last.language == "sh" && last.mark == Mark::None && number == end + 1
        });
        if language == "text" && is_behind { Mark::Output } else { Mark::None }
    }
}

fn comment(line: &str) -> Option<&str> {
    line.trim().strip_prefix("<!--")?.strip_suffix("-->").map(str::trim)
}
