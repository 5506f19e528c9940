//! Drawings as text.

use super::{Drawing, DrawnRow, MOST};
use std::fmt::Write;

impl Drawing {
    /// The drawing as lines of text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.levels.is_empty() {
            text.push_str(&drawn([&self.values], false));
        }
        for (number, level) in self.levels.iter().enumerate() {
            let (coordinate, code, summary, size) = (&level.coordinate, &level.code, &level.summary, &level.size);
            _ = writeln!(text, "level {}: {coordinate}, {code} ({summary}), {size}", number + 1);
            let is_last = number + 1 == self.levels.len();
            text.push_str(&drawn(level.rows.iter().chain(is_last.then_some(&self.values)), level.is_cut));
        }
        text + &self.total + "\n"
    }
}

/// Lines of equally wide cells behind their names.
fn drawn<'a>(rows: impl IntoIterator<Item = &'a DrawnRow>, is_cut: bool) -> String {
    let rows: Vec<&DrawnRow> = rows.into_iter().collect();
    let shown = |row: &DrawnRow| row.cells.len().min(MOST);
    let cells = rows.iter().flat_map(|row| &row.cells[..shown(row)]);
    let width = cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0).max(1);
    let widest = rows.iter().map(|row| shown(row)).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let mut line = format!("    {:<12}", row.name);
        for cell in &row.cells[..shown(row)] {
            _ = write!(line, "{:>width$}  ", cell.text);
        }
        if is_cut {
            line.push_str("…  ");
        }
        let to = 16 + widest * (width + 2) + if is_cut { 3 } else { 0 };
        let length = line.chars().count();
        if row.is_array() {
            _ = write!(line, "{:pad$}{}", "", row.array, pad = to.saturating_sub(length) + 2);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
