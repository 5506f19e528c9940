//! The report as a page for a browser, complete in one file.

use super::averages::{above, averages, gains};
use super::charts;
use super::description::Description;
use super::figures::{Facts, Figures, Row};
use super::{experiment_cells, experiment_heads, observed};
use crate::failure::Failure;
use crate::output::{bytes, digits, shape};
use crate::page::{Escaped, fill};
use std::fmt::{Display, Write};

/// The page around the figures.
const TEMPLATE: &str = include_str!("page.html");

/// The page.
pub(super) fn page(figures: &Figures, description: Option<&Description>) -> Result<String, Failure> {
    let (all, figures) = (figures, &figures.telling());
    let machines = figures.machine_names();
    let own = |name: &&str| figures.of_machine(name);
    let for_each = |draw: fn(&Figures) -> Result<String, Failure>| -> Result<String, Failure> {
        let mut text = String::new();
        for name in &machines {
            if machines.len() > 1 {
                _ = writeln!(text, "<h3>{}</h3>", Escaped(name));
            }
            text.push_str(&draw(&own(name))?);
        }
        Ok(text)
    };
    let title = description.map_or("spc suite", |description| &description.title);
    let parts = [
        ("title", Escaped(title).to_string()),
        ("name", Escaped(description.map_or("merged figures", |description| &description.name)).to_string()),
        ("paper", Escaped(description.map_or("", |description| &description.paper)).to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("warning", warning(figures)),
        ("observations", observations(figures, description)),
        ("tensors", tensors(figures)),
        ("machine", machine(figures)),
        ("memory", memory(figures)),
        ("rooflines", for_each(charts::rooflines)?),
        ("rates", charts::rates(figures, description)?),
        ("experiments", experiments(figures, description)?),
        ("averages", averages_table(figures)),
        ("gains", gains_table(figures)),
        ("scaling", for_each(charts::threads)?),
        ("storage", storage(figures)),
        ("above", above_list(figures)),
        ("degenerate", degenerate(all)),
        ("refused", refused(figures)),
        ("rows", rows(all)),
    ];
    Ok(fill(TEMPLATE, &parts))
}

/// A table that scrolls by itself and is sorted by its heads. Of each column is said whether it is numbers.
fn table(caption: &str, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"sortable\"><caption>{0}</caption>\n<thead><tr>",
        Escaped(caption)
    );
    heads.iter().for_each(|head| _ = write!(text, "<th scope=\"col\">{}</th>", Escaped(head)));
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        text.push_str("<tr>");
        row.iter().for_each(|cell| _ = write!(text, "<td>{}</td>", Escaped(cell)));
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div>\n"
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), digits)
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |share| format!("{:.0}%", 100.0 * share))
}

fn joined(values: impl IntoIterator<Item = impl Display>, by: &str) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(by)
}

/// What must be known before anything is read.
fn warning(figures: &Figures) -> String {
    if figures.machines.iter().any(|machine| machine.facts.is_emulated()) {
        return "<p class=\"warning\" role=\"note\"><strong>The GPU of these figures is an emulation on the processor: its times mean \
                nothing.</strong> Results and kernels are those of a GPU.</p>\n"
            .to_owned();
    }
    String::new()
}

/// The experiments: charts and a table of each.
fn experiments(figures: &Figures, description: Option<&Description>) -> Result<String, Failure> {
    let mut text = String::new();
    let all = description.map(|description| &description.experiments[..]).unwrap_or_default();
    for experiment in &super::experiments::shown(all, &figures.experiments) {
        let own = || figures.experiments.iter().filter(|row| row.experiment.as_ref() == Some(&experiment.name));
        if own().next().is_none() {
            continue;
        }
        let paper =
            if experiment.paper.is_empty() { String::new() } else { format!("the paper has {}", experiment.paper) };
        let section =
            if experiment.section.is_empty() { String::new() } else { format!("section {}", experiment.section) };
        let source = [section, paper].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        _ = write!(text, "<h3>{}</h3>\n<p>{}</p>\n", Escaped(&experiment.name), Escaped(source));
        text.push_str(&charts::experiment(figures, experiment)?);
        let heads = experiment_heads(experiment);
        let rows = own().map(|row| experiment_cells(row, experiment, figures));
        text.push_str(&table(&experiment.name, &heads, rows));
    }
    Ok(if text.is_empty() { "<p>There are none.</p>\n".to_owned() } else { text })
}

/// The rows that averages, charts and observations leave out.
fn degenerate(figures: &Figures) -> String {
    let rows = figures.rows.iter().filter(|row| figures.is_degenerate(row));
    let mut kernels: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        match kernels.iter_mut().find(|(label, _)| *label == row.label) {
            Some((_, count)) => *count += 1,
            None => kernels.push((&row.label, 1)),
        }
    }
    if kernels.is_empty() {
        return String::new();
    }
    let named = joined(kernels.iter().map(|(label, count)| format!("{label} ({count})")), ", ");
    format!(
        "<p>Averages, charts and observations leave out rows that compute fewer results than a tenth of their entries, as products of \
         tensors that share few: {}.</p>\n",
        Escaped(named)
    )
}

fn observations(figures: &Figures, description: Option<&Description>) -> String {
    let observed = observed(figures, description);
    if observed.is_empty() {
        return "<p>There are none: name the suite beside <code>--merge</code>.</p>".to_owned();
    }
    let many = figures.machine_names().len() > 1;
    let mut text = String::from("<ul class=\"observations\">\n");
    for (machine, observation, verdict) in observed {
        let (class, word) = match verdict.holds {
            Some(true) => ("true", "✓ true"),
            Some(false) => ("false", "✗ false"),
            None => ("none", "– not measured"),
        };
        let place = if many { format!(" on {machine}") } else { String::new() };
        _ = writeln!(
            text,
            "<li class=\"{class}\"><strong>{word}</strong>{}: {} <em>{}</em> <span>{}</span></li>",
            Escaped(place),
            Escaped(&observation.says),
            Escaped(observation.source()),
            Escaped(verdict.figures)
        );
    }
    text + "</ul>\n"
}

fn tensors(figures: &Figures) -> String {
    let mut shown: Vec<&str> = Vec::new();
    let tensors = figures.tensors.iter().filter(|tensor| {
        let is_new = !shown.contains(&tensor.tensor.as_str());
        shown.push(&tensor.tensor);
        is_new
    });
    let row = |tensor: &super::figures::TensorLine| {
        vec![
            tensor.tensor.clone(),
            shape(&tensor.shape),
            tensor.nnz.to_string(),
            digits(tensor.density),
            digits(tensor.compressed_density),
            joined(&tensor.fibers, ", "),
            tensor.source.clone(),
        ]
    };
    let heads = ["tensor", "extents", "nonzeros", "density", "of slices with entries", "fibers of each mode", "source"];
    table("Tensors", &heads, tensors.map(row))
}

fn machine(figures: &Figures) -> String {
    let mut text = String::new();
    for line in &figures.machines {
        let Facts {
            cpu,
            processors,
            frequency,
            memory,
            caches,
            system,
            rustc,
            spc,
            commit,
            date,
            command,
            device,
            measured,
        } = &line.facts;
        let caches = joined(caches.iter().map(|(level, size)| format!("L{level} {}", bytes(*size))), ", ");
        let peaks = joined(
            measured.iter().map(|of| {
                let [double, single] = of.gflops.map(number);
                format!("{} threads: {double} GFLOP/s of f64, {single} of f32", of.threads)
            }),
            "; ",
        );
        // What modules of memory could do at most is not told to programs.
        let bandwidths = joined(
            measured.iter().filter_map(|of| {
                let farthest = of.points.last()?;
                let (threads, read, triad) = (of.threads, digits(farthest.read), digits(farthest.triad));
                Some(format!("{threads} threads: {read} GB/s read, {triad} triad, as measured"))
            }),
            "; ",
        );
        let mut rows = vec![
            ("processor", cpu.clone()),
            ("processors", processors.to_string()),
            ("frequency", frequency.map_or_else(|| "not known".to_owned(), |mhz| format!("{:.2} GHz", mhz / 1e3))),
            ("caches", caches),
            ("memory", memory.map_or_else(|| "not known".to_owned(), bytes)),
            ("bandwidth of memory", bandwidths),
            ("peak", peaks),
            ("system", system.clone()),
            ("compiler", rustc.clone()),
            ("spc", format!("{spc}, commit {commit}")),
            ("date", date.clone()),
            ("command", command.clone()),
        ];
        rows.extend(device.clone().map(|device| ("GPU", device)));
        _ = writeln!(
            text,
            "<div class=\"scroll\"><table><caption>{} ({})</caption><tbody>",
            Escaped(&line.machine),
            Escaped(&line.backend)
        );
        for (name, value) in rows {
            _ = writeln!(text, "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", Escaped(value));
        }
        text.push_str("</tbody></table></div>\n");
    }
    text
}

fn memory(figures: &Figures) -> String {
    let rows = figures.machines.iter().flat_map(|line| {
        line.facts.measured.iter().flat_map(|measured| {
            measured.points.iter().map(|point| {
                let rates = [point.triad, point.read, point.gather[0], point.gather[1], point.gather[2]];
                let mut row = vec![
                    line.machine.clone(),
                    line.backend.clone(),
                    measured.threads.to_string(),
                    bytes(point.footprint),
                ];
                row.extend(rates.map(digits));
                row
            })
        })
    });
    let heads =
        ["machine", "backend", "threads", "footprint", "triad", "read", "gather, rows of 8 B", "of 64 B", "of 256 B"];
    table("Bandwidths that were measured, GB/s", &heads, rows)
}

fn averages_table(figures: &Figures) -> String {
    let rows = averages(&figures.rows).into_iter().map(|average| {
        vec![
            average.machine.clone(),
            average.label.clone(),
            average.format.clone(),
            average.backend.clone(),
            average.element.clone(),
            average.threads.to_string(),
            number(average.intensity),
            number(average.gflops),
            percent(average.efficiency),
            percent(average.transformation),
            average.count.to_string(),
        ]
    });
    let heads = [
        "machine",
        "kernel",
        "format",
        "backend",
        "type",
        "threads",
        "operations a byte",
        "GFLOP/s",
        "of the roofline",
        "transformation",
        "cases",
    ];
    table("Geometric means over tensors, modes and ranks", &heads, rows)
}

fn gains_table(figures: &Figures) -> String {
    let gains = gains(figures);
    if gains.is_empty() {
        return "<p>There are no figures of several numbers of threads, nor of a GPU beside the processor.</p>"
            .to_owned();
    }
    let rows = gains.into_iter().map(|gain| {
        vec![
            gain.machine,
            gain.what.to_owned(),
            gain.label,
            gain.format,
            format!("{:.2}", gain.times),
            gain.count.to_string(),
        ]
    });
    table("Times as fast, geometric means", &["machine", "what", "kernel", "format", "times", "cases"], rows)
}

fn storage(figures: &Figures) -> String {
    let mut shown: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for tensor in &figures.tensors {
        if shown.contains(&tensor.tensor.as_str()) {
            continue;
        }
        shown.push(&tensor.tensor);
        let least = tensor.storage.values().map(|(bytes, _)| *bytes).min().unwrap_or(0);
        for (format, (size, units)) in &tensor.storage {
            let ratio = *size as f64 / least.max(1) as f64;
            let per_entry = *size as f64 / tensor.nnz.max(1) as f64;
            rows.push(vec![
                tensor.tensor.clone(),
                format.clone(),
                size.to_string(),
                digits(per_entry),
                format!("{ratio:.2}"),
                units.to_string(),
            ]);
        }
    }
    let heads = ["tensor", "format", "bytes (f64)", "bytes an entry", "times the least", "units"];
    table("Storage: units are positions, coordinates and values", &heads, rows.into_iter())
}

fn above_list(figures: &Figures) -> String {
    let above = above(figures);
    if above.is_empty() {
        return "<p>No row is above its roofline.</p>".to_owned();
    }
    let rows = above.into_iter().map(|(row, reason)| {
        let mut cells = named(row);
        cells.extend([percent(row.efficiency()), reason]);
        cells
    });
    let heads = ["tensor", "kernel", "mode", "format", "rank", "type", "threads", "of the roofline", "why"];
    table("Rows above their roofline", &heads, rows)
}

fn refused(figures: &Figures) -> String {
    if figures.refused.is_empty() {
        return "<p>Nothing was left out.</p>".to_owned();
    }
    let rows = figures.refused.iter().map(|refused| {
        let mode = refused.mode.map_or_else(|| "-".to_owned(), |mode| mode.to_string());
        vec![
            refused.tensor.clone(),
            refused.kernel.clone(),
            mode,
            refused.format.clone(),
            refused.backend.clone(),
            refused.reason.clone(),
        ]
    });
    table("Cases that do not run", &["tensor", "kernel", "mode", "format", "backend", "why"], rows)
}

/// The cells that say which row it is.
fn named(row: &Row) -> Vec<String> {
    let optional = |number: Option<usize>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    vec![
        row.tensor.clone(),
        row.label.clone(),
        optional(row.mode),
        match &row.ran_as {
            Some(walked) => format!("{} (ran as {walked})", row.format),
            None => row.format.clone(),
        },
        optional(row.rank),
        row.element.clone(),
        row.threads.to_string(),
    ]
}

fn rows(figures: &Figures) -> String {
    let rows = figures.rows.iter().map(|row| {
        let mut cells = named(row);
        cells.extend([
            row.backend.clone(),
            digits(row.kernel_ms),
            number(row.gflops()),
            percent(row.efficiency()),
            digits(row.pack_ms),
            row.copies_ms.map_or_else(|| "-".to_owned(), digits),
            row.runs.to_string(),
        ]);
        cells
    });
    let heads = [
        "tensor",
        "kernel",
        "mode",
        "format",
        "rank",
        "type",
        "threads",
        "backend",
        "ms",
        "GFLOP/s",
        "of the roofline",
        "packing ms",
        "copies ms",
        "runs",
    ];
    table("All rows", &heads, rows)
}
