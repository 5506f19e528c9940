//! Drawings as SVG, which follow the colours of the page around them, and as sentences for screen readers.
//!
//! An element of an array is a group with the attribute `data-cell`: `2.crd.5` is element 5 of the array `crd` of level 2, `values.5` is
//! a value.

use super::{Drawing, DrawnCell, DrawnLevel, DrawnRow, MOST};
use std::fmt::Write;

/// The colours of levels, which people who see few colours can tell apart (Okabe and Ito, Color Universal Design, 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];
/// The colour of values.
const GREY: &str = "#808080";
/// What a letter is wide.
const LETTER: usize = 8;
/// What a row is high.
const ROW: usize = 24;
/// Where cells begin.
const CELLS: usize = 112;

impl Drawing {
    /// The drawing as one element `<svg>`, with a title and a description.
    pub fn svg(&self) -> String {
        let mut picture = Picture::default();
        for (number, level) in self.levels.iter().enumerate() {
            picture.level(number, level, (number + 1 == self.levels.len()).then_some(&self.values));
        }
        if self.levels.is_empty() {
            picture.rows(&[&self.values], "", GREY, false);
        }
        picture.text(0, 14, "dim", &self.total);
        picture.height += 20;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"spc-drawing\" role=\"img\" width=\"{width}\" height=\"{height}\" \
viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n<desc>{}</desc>\n<style>{STYLE}</style>\n{}</svg>\n",
            escaped(&self.title),
            escaped(&self.description()),
            picture.body,
            width = picture.width + LETTER,
            height = picture.height,
        )
    }

    /// What the drawing shows, in sentences.
    pub fn description(&self) -> String {
        let mut text = String::new();
        for (number, level) in self.levels.iter().enumerate() {
            let DrawnLevel { coordinate, code, summary, size, .. } = level;
            _ = write!(text, "Level {}, {coordinate}: {code}, {summary}; {size}. ", number + 1);
            level.rows.iter().for_each(|row| told(row, &mut text));
        }
        told(&self.values, &mut text);
        text + "Together: " + self.total.trim_start_matches("together ") + "."
    }
}

/// The style of a drawing that is a file of its own, and of its parts.
const STYLE: &str = "\
svg:root{color:#1b1f24}@media(prefers-color-scheme:dark){svg:root{color:#e6e8ea}}\
.spc-drawing text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:currentColor}\
.spc-drawing .dim{opacity:.65}.spc-drawing .head{font-weight:700}.spc-drawing .mid{text-anchor:middle}";

/// The numbers of an array.
fn told(row: &DrawnRow, text: &mut String) {
    if row.is_array() {
        let cells: Vec<&str> =
            row.cells.iter().filter(|cell| cell.place.is_some()).take(MOST).map(|cell| cell.text.as_str()).collect();
        let more = if row.cells.len() > MOST { ", and more" } else { "" };
        _ = write!(
            text,
            "{}: {}{more}. ",
            row.name,
            if cells.is_empty() { "empty".to_owned() } else { cells.join(", ") }
        );
    }
}

/// What is drawn so far.
#[derive(Default)]
struct Picture {
    body: String,
    width: usize,
    height: usize,
}

impl Picture {
    fn level(&mut self, number: usize, level: &DrawnLevel, values: Option<&DrawnRow>) {
        let colour = COLOURS[number % COLOURS.len()];
        let begin = self.height;
        self.height += 8;
        let head = format!("level {} · {} · {}", number + 1, level.coordinate, level.code);
        self.text(14, 14, "head", &head);
        self.text(14 + (head.chars().count() + 2) * LETTER, 14, "dim", &format!("{}; {}", level.summary, level.size));
        self.height += ROW;
        let rows: Vec<&DrawnRow> = level.rows.iter().chain(values).collect();
        self.rows(&rows, &format!("{}.", number + 1), colour, level.is_cut);
        let height = self.height - begin - 4;
        _ = writeln!(
            self.body,
            "<rect x=\"0\" y=\"{}\" width=\"4\" height=\"{height}\" rx=\"2\" fill=\"{colour}\"/>",
            begin + 4
        );
        self.height += 8;
    }

    /// Rows of cells of one width; those of values are grey.
    fn rows(&mut self, rows: &[&DrawnRow], prefix: &str, colour: &str, is_cut: bool) {
        let shown = |row: &DrawnRow| row.cells.len().min(MOST);
        let cells = rows.iter().flat_map(|row| &row.cells[..shown(row)]);
        let letters = cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0).max(2);
        let width = letters * LETTER + 12;
        let widest = rows.iter().map(|row| shown(row)).max().unwrap_or(0);
        for row in rows {
            let is_values = row.is_array() && row.role.is_none();
            let (prefix, colour) = if is_values { ("", GREY) } else { (prefix, colour) };
            self.text(14, 16, if row.is_array() { "" } else { "dim" }, row.name);
            for (column, cell) in row.cells[..shown(row)].iter().enumerate() {
                self.cell(cell, CELLS + column * width, width, &format!("{prefix}{}", row.name), colour);
            }
            let end = CELLS + widest * width + 8;
            if is_cut {
                self.text(end, 16, "dim", "…");
            }
            self.text(end + if is_cut { 2 * LETTER } else { 0 }, 16, "dim", &row.array);
            self.height += ROW;
        }
    }

    /// A cell; those of arrays are boxes.
    fn cell(&mut self, cell: &DrawnCell, x: usize, width: usize, array: &str, colour: &str) {
        let Some(place) = cell.place else {
            return self.text(x + width / 2, 16, "dim mid", &cell.text);
        };
        let y = self.height;
        _ = write!(
            self.body,
            "<g data-cell=\"{array}.{place}\"><rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"22\" ",
            y + 1
        );
        _ = write!(self.body, "fill=\"{colour}\" fill-opacity=\".16\" stroke=\"{colour}\"/>");
        self.text(x + width / 2, 16, "mid", &cell.text);
        self.body.push_str("</g>\n");
    }

    /// A text that begins at `x`, so far below what is drawn.
    fn text(&mut self, x: usize, below: usize, class: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let y = self.height + below;
        _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escaped(text));
        self.width = self.width.max(x + text.chars().count() * LETTER);
    }
}

/// A text as XML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
