//! The page of a decomposition: its fit, plots of its factors, and their largest entries.

use super::labels::Labels;
use super::plot;
use super::row::Row;
use crate::failure::Failure;
use crate::output::digits;
use crate::page::{Escaped, cells, fill};
use spc::decompose::{Factor, KTensor, TuckerTensor};
use std::fmt::Write;

/// The page around the figures: what stands between double braces is filled in.
const TEMPLATE: &str = include_str!("page.html");

/// What every page has.
pub(super) struct Page<'a> {
    pub(super) title: String,
    /// A line each.
    pub(super) facts: Vec<String>,
    pub(super) rows: &'a [Row],
    pub(super) labels: &'a Labels,
    /// How many of the largest entries are listed.
    pub(super) top: usize,
}

impl Page<'_> {
    /// The page of a K-tensor: a section for each component, with its column of each mode.
    pub(super) fn of_cp(&self, model: &KTensor) -> Result<String, Failure> {
        let all: f64 = model.weights().iter().map(|weight| weight.abs()).sum();
        let mut summary = String::from("<h2>Weights</h2>\n<table class=\"numbers\">\n");
        summary.push_str(&cells("tr", "th", &["component", "weight", "share"]));
        let mut sections = String::new();
        for (component, weight) in model.weights().iter().enumerate() {
            let share = if all > 0.0 { weight.abs() / all } else { 0.0 };
            let row = [(component + 1).to_string(), digits(*weight), format!("{:.1}%", share * 100.0)];
            let open = format!("tr class=\"share\" style=\"background-size: {:.1}% 100%\"", share * 100.0);
            summary.push_str(&cells(&open, "td", &row));
            _ = write!(
                sections,
                "<h2>Component {}: weight {}</h2>\n<div class=\"columns\">\n",
                component + 1,
                Escaped(digits(*weight))
            );
            for (mode, factor) in model.factors().iter().enumerate() {
                self.column(&mut sections, &format!("mode {}", mode + 1), factor, mode, component)?;
            }
            sections.push_str("</div>\n");
        }
        summary.push_str("</table>\n");
        self.filled(summary, sections)
    }

    /// The page of a Tucker tensor: the largest entries of the core, and a section for each mode.
    pub(super) fn of_tucker(&self, model: &TuckerTensor) -> Result<String, Failure> {
        let core = model.core();
        let norm: f64 = core.values_of::<f64>().unwrap_or_default().iter().map(|value| value * value).sum();
        let mut entries: Vec<(Vec<usize>, f64)> = Vec::new();
        let values = core.values_of::<f64>().unwrap_or_default();
        core.for_each_position(|index, position| entries.push((index.to_vec(), values[position])));
        entries.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        entries.truncate(self.top);
        let mut summary = String::from("<h2>Largest entries of the core</h2>\n<table class=\"numbers\">\n");
        let modes = (1..=core.order()).map(|mode| format!("mode {mode}"));
        summary.push_str(&cells(
            "tr",
            "th",
            &modes.chain(["value", "share of norm²"].map(str::to_owned)).collect::<Vec<_>>(),
        ));
        for (index, value) in entries {
            let share = if norm > 0.0 { value * value / norm } else { 0.0 };
            let row: Vec<String> = index.iter().map(|place| (place + 1).to_string()).collect();
            let row = [row, vec![digits(value), format!("{:.1}%", share * 100.0)]].concat();
            summary.push_str(&cells("tr", "td", &row));
        }
        summary.push_str("</table>\n");
        let mut sections = String::new();
        for (mode, factor) in model.factors().iter().enumerate() {
            let [rows, columns] = [factor.shape()[0], factor.shape()[1]];
            _ = write!(sections, "<h2>Mode {}: {rows} x {columns}</h2>\n<div class=\"columns\">\n", mode + 1);
            for column in 0..columns {
                self.column(&mut sections, &format!("column {}", column + 1), factor, mode, column)?;
            }
            sections.push_str("</div>\n");
        }
        self.filled(summary, sections)
    }

    /// A column of a factor: its picture and its largest entries.
    fn column(
        &self,
        text: &mut String,
        name: &str,
        factor: &Factor,
        mode: usize,
        column: usize,
    ) -> Result<(), Failure> {
        let columns = factor.shape()[1];
        let values: Vec<f64> = factor.values().iter().skip(column).step_by(columns).copied().collect();
        _ = writeln!(text, "<div class=\"column\">\n<h3>{}</h3>\n{}", Escaped(name), plot::column(&values)?);
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
        let labels = self.labels.get(mode).filter(|labels| !labels.is_empty());
        let open = if labels.is_some() { "<table>\n" } else { "<table class=\"numbers\">\n" };
        text.push_str(open);
        for &place in order.iter().take(self.top) {
            let mut row = vec![(place + 1).to_string()];
            row.extend(labels.map(|labels| labels[place].clone()));
            row.push(digits(values[place]));
            text.push_str(&cells("tr", "td", &row));
        }
        text.push_str("</table>\n</div>\n");
        Ok(())
    }

    fn filled(&self, summary: String, sections: String) -> Result<String, Failure> {
        let parts = [
            ("title", Escaped(&self.title).to_string()),
            ("facts", self.facts.iter().map(|fact| format!("<p>{}</p>\n", Escaped(fact))).collect()),
            ("progress", plot::progress(self.rows)?),
            ("summary", summary),
            ("sections", sections),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        Ok(fill(TEMPLATE, &parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_text_and_the_largest_come_first() {
        let factor = |values: &[f64]| Factor::from_vec([values.len(), 1], values.to_vec()).unwrap();
        let model = KTensor::new(vec![2.5], vec![factor(&[0.25, -0.5, 0.125]), factor(&[1.0])]).unwrap();
        let labels = vec![vec!["a".to_owned(), "<b>&\"".to_owned(), "c".to_owned()], Vec::new()];
        let row =
            Row { number: 1, fit: Some(0.5), measures: Vec::new(), time_ms: 1.0, kernel_ms: 1.0, mttkrp_ms: None };
        let page = Page { title: "x<y".to_owned(), facts: Vec::new(), rows: &[row], labels: &labels, top: 2 };
        let text = page.of_cp(&model).unwrap();
        let first = text.find("<td>2</td><td>&lt;b&gt;&amp;&quot;</td><td>-0.500</td>").unwrap();
        let second = text.find("<td>1</td><td>a</td><td>0.250</td>").unwrap();
        assert!(first < second && !text.contains("<td>c</td>") && text.contains("<title>x&lt;y</title>"));
        assert!(!text.contains("{{") && !text.contains("http://") || text.contains("xmlns"), "a page needs no network");
    }
}
