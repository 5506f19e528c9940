//! Pictures of figures, as SVG by `plotters`: each with a title, a description, and a text for what lies under the pointer.

use super::averages::{grouped, scaling};
use super::description::{Description, Figure, Panel};
use super::experiments::{Along, Experiment};
use super::figures::{Figures, Measured, Row, mean};
use super::observe::Measure;
use crate::failure::Failure;
use crate::output::{bytes, digits};
use crate::page::Escaped;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::fmt::Write;

/// Colours that are told apart also by those who see few (Okabe and Ito), and on dark ground.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(128, 128, 128),
];

/// A picture that is readable on a narrow screen, and beside others on a wide one.
const PANEL: (u32, u32) = (430, 310);

/// How much higher the roofline is.
const HIGHER: u32 = 130;

/// An axis whose largest value is this many times the smallest has logarithms.
const DECADES: f64 = 30.0;

/// What lies at a place of a picture, in words.
type Hit = ((i32, i32), String);

/// A picture with what belongs to it.
struct Picture {
    title: String,
    description: String,
    svg: String,
    hits: Vec<Hit>,
}

type Pixels<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

type Drawn<T> = Result<T, Box<dyn Error>>;

fn complete(drawn: Drawn<Picture>) -> Result<String, Failure> {
    let picture = drawn.map_err(|error| Failure::refused(format!("a picture can't be drawn: {error}")))?;
    Ok(picture.finish())
}

impl Picture {
    /// The element, with its names and its hits.
    fn finish(self) -> String {
        let Self { title, description, svg, hits } = self;
        let (title, description) = (Escaped(title), Escaped(description));
        let open = svg.find('>').map_or(0, |end| end + 1);
        let close = svg.rfind("</svg>").unwrap_or(svg.len());
        let mut text = svg[..open].replace("<svg ", "<svg role=\"img\" ");
        _ = write!(text, "<title>{title}</title><desc>{description}</desc>{}", &svg[open..close]);
        for ((x, y), words) in hits {
            _ = write!(
                text,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"9\" class=\"hit\"><title>{}</title></circle>",
                Escaped(words)
            );
        }
        format!("<figure><figcaption>{title}</figcaption>{text}</svg></figure>\n")
    }
}

/// Where values lie on an axis: at their logarithms where they span decades.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    is_logarithmic: bool,
    low: f64,
    high: f64,
}

impl Scale {
    /// The scale of an axis that has all of these values, and 0 where it is not logarithmic.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let positive = values.filter(|&value| value > 0.0 && value.is_finite());
        let most = positive.clone().fold(0.0, f64::max);
        let least = positive.fold(f64::INFINITY, f64::min);
        if most > 0.0 && most / least >= DECADES {
            return Self { is_logarithmic: true, low: least.log10().floor(), high: most.log10().ceil() };
        }
        Self { is_logarithmic: false, low: 0.0, high: if most > 0.0 { 1.05 * most } else { 1.0 } }
    }

    fn place(self, value: f64) -> f64 {
        let placed = if self.is_logarithmic { value.log10() } else { value };
        placed.clamp(self.low, self.high)
    }

    /// How many labels there is room and need for.
    fn labels(self) -> usize {
        if self.is_logarithmic { (self.high - self.low) as usize + 2 } else { 6 }
    }

    /// What stands at a place of the axis; powers of ten alone where it is logarithmic.
    fn label(self, placed: f64) -> String {
        match self.is_logarithmic {
            true if (placed - placed.round()).abs() > 1e-6 => String::new(),
            true => tick(10f64.powi(placed.round() as i32)),
            false => tick(placed),
        }
    }
}

/// A number at an axis.
fn tick(value: f64) -> String {
    let size = value.abs();
    if size >= 1e5 || size < 1e-3 && size > 0.0 {
        return format!("{:e}", format!("{value:.2e}").parse::<f64>().unwrap_or(value));
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The names of series with their marks, in rows above a picture.
fn legend(root: &Pixels<'_>, names: &[String]) -> Drawn<i32> {
    let left = 14;
    let (mut x, mut y) = (left, 14);
    for (series, name) in names.iter().enumerate() {
        let own = 30 + 7 * name.chars().count() as i32;
        if x + own > PANEL.0 as i32 && x > left {
            (x, y) = (left, y + 20);
        }
        draw_mark(root, series, (x, y))?;
        root.draw(&Text::new(name.clone(), (x + 10, y - 6), ("sans-serif", 13)))?;
        x += own;
    }
    Ok(y + 14)
}

/// Draws the mark of a series: each has another colour, and another shape.
fn draw_mark(root: &Pixels<'_>, series: usize, (x, y): (i32, i32)) -> Drawn<()> {
    let colour = COLOURS[series % COLOURS.len()];
    match series % 5 {
        0 => root.draw(&Circle::new((x, y), 4, colour.filled()))?,
        1 => root.draw(&TriangleMarker::new((x, y), 6, colour.filled()))?,
        2 => root.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], colour.filled()))?,
        3 => root.draw(&Cross::new((x, y), 4, colour.stroke_width(2)))?,
        _ => root.draw(&Polygon::new([(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)], colour.filled()))?,
    }
    Ok(())
}

/// The kernels, in their order.
fn labels(rows: &[Row]) -> Vec<String> {
    grouped(rows, |row| row.label.clone()).into_iter().map(|(label, _)| label).collect()
}

/// The rows with most threads of a machine and a backend.
fn most(rows: &[Row], machine: &str, backend: &str) -> Vec<Row> {
    let rows = rows.iter().filter(|row| row.machine == machine && row.backend == backend);
    let most = rows.clone().map(|row| row.threads).max().unwrap_or(0);
    rows.filter(|row| row.threads == most).cloned().collect()
}

/// The same of all machines and backends.
fn most_of_all(rows: &[Row]) -> Vec<Row> {
    let all = grouped(rows, |row| (row.machine.clone(), row.backend.clone()));
    all.into_iter().flat_map(|((machine, backend), _)| most(rows, &machine, &backend)).collect()
}

/// A roofline for each backend of a machine.
pub(super) fn rooflines(figures: &Figures) -> Result<String, Failure> {
    let mut all = String::new();
    for machine in &figures.machines {
        let rows = most(&figures.rows, &machine.machine, &machine.backend);
        let of_threads = |measured: &&Measured| rows.first().is_some_and(|row| row.threads == measured.threads);
        if let Some(measured) = machine.facts.measured.iter().find(of_threads) {
            all.push_str(&complete(roofline(&rows, measured, &machine.backend))?);
        }
    }
    Ok(format!("<div class=\"panels\">\n{all}</div>\n"))
}

fn roofline(rows: &[Row], measured: &Measured, backend: &str) -> Drawn<Picture> {
    let placed: Vec<(&Row, (f64, f64))> =
        rows.iter().filter_map(|row| Some((row, (row.intensity()?, row.gflops()?)))).collect();
    let labels = labels(rows);
    let peak = measured.gflops.iter().flatten().copied().reduce(f64::max);
    let of = |value: fn(&(f64, f64)) -> f64, by: fn(f64, f64) -> f64, start: f64| {
        placed.iter().map(|(_, place)| value(place)).fold(start, by)
    };
    let x = of(|p| p.0, f64::min, 0.05) / 2.0..of(|p| p.0, f64::max, 4.0) * 4.0;
    let y = of(|p| p.1, f64::min, 0.1) / 2.0..of(|p| p.1, f64::max, peak.unwrap_or(1.0)) * 2.0;
    let peak = peak.unwrap_or(y.end);
    let (mut svg, mut hits) = (String::new(), Vec::new());
    {
        let root = SVGBackend::with_string(&mut svg, (PANEL.0, PANEL.1 + HIGHER)).into_drawing_area();
        let top = legend(&root, &labels)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(8)
            .margin_top(top)
            .x_label_area_size(40)
            .y_label_area_size(58)
            .build_cartesian_2d(x.clone().log_scale(), y.clone().log_scale())?;
        chart
            .configure_mesh()
            .x_desc("operations a byte")
            .y_desc("GFLOP/s")
            .x_label_formatter(&|value| tick(*value))
            .y_label_formatter(&|value| tick(*value))
            .axis_desc_style(("sans-serif", 14))
            .label_style(("sans-serif", 13))
            .bold_line_style(COLOURS[6].mix(0.25))
            .light_line_style(COLOURS[6].mix(0.0))
            .draw()?;
        let ends = measured.points.iter().take(1).chain(measured.points.iter().skip(1).last());
        for (number, point) in ends.enumerate() {
            let bandwidth = point.triad.max(point.read);
            let ridge = (peak / bandwidth).clamp(x.start, x.end);
            let roof = [x.start, ridge, x.end].map(|x| (x, (x * bandwidth).min(peak)));
            chart.draw_series(LineSeries::new(roof, BLACK.stroke_width(2)))?;
            // At the left, where there are no kernels: the nearest cache above its line, main memory below.
            let at = chart.backend_coord(&(x.start, x.start * bandwidth));
            let aside = if number == 0 { (8, -42) } else { (8, 6) };
            let words = format!("{} GB/s, {}", digits(bandwidth), bytes(point.footprint));
            root.draw(&Text::new(words, (at.0 + aside.0, at.1 + aside.1), ("sans-serif", 12)))?;
        }
        for (series, label) in labels.iter().enumerate() {
            let own = placed.iter().filter(|(row, _)| row.label == *label);
            if let Some(intensity) = mean(own.clone().map(|(_, place)| place.0)) {
                let colour = COLOURS[series % COLOURS.len()].mix(0.6).stroke_width(1);
                let line = [(intensity, y.start), (intensity, y.end)];
                chart.draw_series(std::iter::once(DashedPathElement::new(line, 6, 5, colour)))?;
                let at = chart.backend_coord(&(intensity, y.end));
                hits.push((at, format!("{label}: {} operations a byte in the mean", digits(intensity))));
            }
            for (row, place) in own {
                let at = chart.backend_coord(place);
                draw_mark(&root, series, at)?;
                hits.push((at, words(row)));
            }
        }
        root.present()?;
    }
    let threads = measured.threads;
    Ok(Picture {
        title: format!("Roofline, {backend}, {threads} {}", if threads == 1 { "thread" } else { "threads" }),
        description: format!(
            "Rates of {} kernels over their operations a byte, below the lines of the nearest cache and of main memory; dashed lines are \
             the mean of each kernel.",
            placed.len()
        ),
        svg,
        hits,
    })
}

/// A row in words.
fn words(row: &Row) -> String {
    let mode = row.mode.map_or_else(String::new, |mode| format!(" mode {mode}"));
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
    let share = row.efficiency().map_or_else(|| "-".to_owned(), |share| format!("{:.0}%", 100.0 * share));
    let Row { label, tensor, format, element, .. } = row;
    format!("{label}{mode} of {tensor}, {format}, {element}: {} GFLOP/s, {share} of the roofline", number(row.gflops()))
}

/// The figures of rates: for each kernel the mean on each tensor, and what main memory allows.
pub(super) fn rates(figures: &Figures, description: Option<&Description>) -> Result<String, Failure> {
    let rows = most_of_all(&figures.rows);
    let panel = |label: String| Panel { name: label.clone(), kernels: vec![label] };
    let panels = || labels(&rows).into_iter().map(panel).collect();
    let own = || Figure { name: "Rates".to_owned(), measure: Measure::Gflops, panels: panels() };
    let drawn = match description.map(|description| &description.figures[..]) {
        Some(drawn) if !drawn.is_empty() => drawn.to_vec(),
        _ => vec![own()],
    };
    let mut all = String::new();
    for (element, of_element) in grouped(&rows, |row| row.element.clone()) {
        for figure in &drawn {
            let measure = figure.measure;
            let mut panels = String::new();
            for panel in &figure.panels {
                let own: Vec<Row> = of_element
                    .iter()
                    .filter(|row| panel.kernels.contains(&row.label))
                    .map(|&row| row.clone())
                    .collect();
                if !own.is_empty() {
                    panels.push_str(&complete(bars_of(&means_of(figures, &panel.name, measure, &own)))?);
                }
            }
            if !panels.is_empty() {
                let name = Escaped(format!("{}, {element}", figure.name));
                _ = write!(all, "<h3>{name}</h3>\n<div class=\"panels\">\n{panels}</div>\n");
            }
        }
    }
    Ok(all)
}

/// Bars in groups.
struct Bars {
    title: String,
    unit: &'static str,
    /// The groups, and which of them are of files: these come first.
    groups: Vec<(String, bool)>,
    series: Vec<String>,
    bars: Vec<Bar>,
    /// The meaning of the line across a bar.
    line: &'static str,
}

struct Bar {
    group: usize,
    series: usize,
    value: f64,
    line: Option<f64>,
}

/// The tensors of some rows, files first, and what differs else.
fn groups(rows: &[Row], series_of: &dyn Fn(&Row) -> String) -> (Vec<(String, bool)>, Vec<String>) {
    let mut groups: Vec<(String, bool)> =
        grouped(rows, |row| (row.tensor.clone(), row.is_file)).into_iter().map(|(group, _)| group).collect();
    groups.sort_by_key(|(_, is_file)| !is_file);
    (groups, grouped(rows, series_of).into_iter().map(|(name, _)| name).collect())
}

/// What a row is called beside others of its panel: its format, and the machine and the backend where there are several.
fn series_of(figures: &Figures) -> impl Fn(&Row) -> String {
    let several = figures.machines.len() > 1;
    move |row: &Row| match several {
        true => format!("{} {}, {}", row.format, row.backend, row.machine),
        false => row.format.clone(),
    }
}

fn bars(
    (title, unit, line): (String, &'static str, &'static str),
    rows: &[Row],
    series_of: &dyn Fn(&Row) -> String,
    value: &dyn Fn(&Row) -> Option<f64>,
    roof: &dyn Fn(&Row) -> Option<f64>,
) -> Bars {
    let (groups, series) = groups(rows, series_of);
    let mut bars = Vec::new();
    for (group, (tensor, _)) in groups.iter().enumerate() {
        for (number, name) in series.iter().enumerate() {
            let own = || rows.iter().filter(|row| row.tensor == *tensor && series_of(row) == *name);
            if let Some(height) = mean(own().filter_map(value)) {
                bars.push(Bar { group, series: number, value: height, line: mean(own().filter_map(roof)) });
            }
        }
    }
    Bars { title, unit, groups, series, bars, line }
}

/// The means of a measure; rates have the roofline of main memory across.
fn means_of(figures: &Figures, name: &str, measure: Measure, rows: &[Row]) -> Bars {
    let head = (name.to_owned(), measure.unit(), "what main memory allows");
    let roof = |row: &Row| row.memory_roof(figures).filter(|_| measure == Measure::Gflops);
    bars(head, rows, &series_of(figures), &|row| measure.of(row, figures), &roof)
}

fn bars_of(of: &Bars) -> Drawn<Picture> {
    let Bars { title, unit, groups, series, bars, line } = of;
    let scale = Scale::of(bars.iter().flat_map(|bar| [Some(bar.value), bar.line]).flatten());
    let longest = groups.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    // Names that are too long for their place are turned.
    let is_turned = 7 * longest as u32 * groups.len() as u32 > PANEL.0 - 70;
    let foot = if is_turned { (7 * longest as u32 + 12).min(140) } else { 26 };
    let size = (PANEL.0, PANEL.1 + foot);
    let (mut svg, mut hits) = (String::new(), Vec::new());
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let top = legend(&root, series)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(8)
            .margin_top(top)
            .x_label_area_size(foot)
            .y_label_area_size(58)
            .build_cartesian_2d(0.0..groups.len() as f64, scale.low..scale.high)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(0)
            .y_labels(scale.labels())
            .y_label_formatter(&|placed| scale.label(*placed))
            .y_desc(*unit)
            .axis_desc_style(("sans-serif", 14))
            .label_style(("sans-serif", 13))
            .bold_line_style(COLOURS[6].mix(0.25))
            .light_line_style(COLOURS[6].mix(0.0))
            .draw()?;
        let width = 0.84 / series.len() as f64;
        for bar in bars {
            let left = bar.group as f64 + 0.08 + width * bar.series as f64;
            let (middle, right) = (left + 0.45 * width, left + 0.9 * width);
            let height = scale.place(bar.value);
            let corners = [(left, scale.low), (right, height)];
            let colour = COLOURS[bar.series % COLOURS.len()];
            chart.draw_series(std::iter::once(Rectangle::new(corners, colour.filled())))?;
            let mut said =
                format!("{}, {}: {} {unit} in the mean", groups[bar.group].0, series[bar.series], digits(bar.value));
            if let Some(value) = bar.line {
                let across = [(left, scale.place(value)), (right, scale.place(value))];
                chart.draw_series(std::iter::once(PathElement::new(across, BLACK.stroke_width(2))))?;
                said.push_str(&format!("; {line}: {}", digits(value)));
            }
            hits.push((chart.backend_coord(&(middle, (scale.low + height) / 2.0)), said.clone()));
            hits.push((chart.backend_coord(&(middle, height)), said));
        }
        let files = groups.iter().filter(|(_, is_file)| *is_file).count();
        if files > 0 && files < groups.len() {
            let between = [(files as f64, scale.low), (files as f64, scale.high)];
            chart.draw_series(std::iter::once(DashedPathElement::new(between, 4, 4, BLACK.mix(0.6))))?;
        }
        for (place, (name, _)) in groups.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(place as f64 + 0.5, scale.low));
            let font = ("sans-serif", 12).into_font();
            let (font, anchor, x) = match is_turned {
                true => (font.transform(FontTransform::Rotate270), Pos::new(HPos::Right, VPos::Center), x),
                false => (font, Pos::new(HPos::Center, VPos::Top), x),
            };
            root.draw(&Text::new(name.clone(), (x, y + 7), TextStyle::from(font).pos(anchor)))?;
        }
        root.present()?;
    }
    let lines = if bars.iter().any(|bar| bar.line.is_some()) {
        format!("; the line across each is {line}")
    } else {
        String::new()
    };
    let axis = if scale.is_logarithmic { ", on a logarithmic axis" } else { "" };
    Ok(Picture {
        title: title.clone(),
        description: format!("{unit} of {} on {} tensors{axis}{lines}.", series.join(", "), groups.len()),
        svg,
        hits,
    })
}

/// Lines over numbers.
struct Lines {
    title: String,
    titles: [&'static str; 2],
    /// Each with its name.
    series: Vec<(String, Vec<(f64, f64)>)>,
    /// Whether a dashed line shows where x is y.
    has_diagonal: bool,
}

/// How much faster more threads are.
pub(super) fn threads(figures: &Figures) -> Result<String, Failure> {
    let series = scaling(&figures.rows);
    if series.is_empty() {
        return Ok(String::new());
    }
    let placed =
        |points: Vec<(usize, f64)>| points.into_iter().map(|(threads, times)| (threads as f64, times)).collect();
    complete(lines_of(&Lines {
        title: "Scaling over threads".to_owned(),
        titles: ["threads", "times as fast as one"],
        series: series.into_iter().map(|(label, points)| (label, placed(points))).collect(),
        has_diagonal: true,
    }))
}

fn lines_of(of: &Lines) -> Drawn<Picture> {
    let Lines { title, titles, series, has_diagonal } = of;
    let all = || series.iter().flat_map(|(_, points)| points.iter().copied());
    let most = all().map(|point| point.0).fold(0.0, f64::max);
    let [across, up] = [
        Scale::of(all().map(|point| point.0)),
        Scale::of(all().map(|point| point.1).chain(has_diagonal.then_some(most))),
    ];
    let names: Vec<String> = series.iter().map(|(name, _)| name.clone()).collect();
    let (mut svg, mut hits) = (String::new(), Vec::new());
    {
        let root = SVGBackend::with_string(&mut svg, (PANEL.0, PANEL.1 + 40)).into_drawing_area();
        let top = legend(&root, &names)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(8)
            .margin_top(top)
            .x_label_area_size(40)
            .y_label_area_size(58)
            .build_cartesian_2d(across.low..across.high, up.low..up.high)?;
        chart
            .configure_mesh()
            .x_desc(titles[0])
            .y_desc(titles[1])
            .x_labels(across.labels())
            .y_labels(up.labels())
            .x_label_formatter(&|placed| across.label(*placed))
            .y_label_formatter(&|placed| up.label(*placed))
            .axis_desc_style(("sans-serif", 14))
            .label_style(("sans-serif", 13))
            .bold_line_style(COLOURS[6].mix(0.25))
            .light_line_style(COLOURS[6].mix(0.0))
            .draw()?;
        if *has_diagonal {
            let ends = [1.0, most].map(|end| (across.place(end), up.place(end)));
            chart.draw_series(std::iter::once(DashedPathElement::new(ends, 6, 5, BLACK.mix(0.6))))?;
        }
        for (number, (name, points)) in series.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let placed = points.iter().map(|&(x, y)| (across.place(x), up.place(y)));
            chart.draw_series(LineSeries::new(placed.clone(), colour.stroke_width(2)))?;
            for (place, (x, y)) in placed.zip(points) {
                let at = chart.backend_coord(&place);
                draw_mark(&root, number, at)?;
                hits.push((at, format!("{name}: {} {} at {} {}", digits(*y), titles[1], tick(*x), titles[0])));
            }
        }
        root.present()?;
    }
    let diagonal = if *has_diagonal { "; the dashed line is the number of threads" } else { "" };
    Ok(Picture {
        title: title.clone(),
        description: format!("{} over {}, of {}{diagonal}.", titles[1], titles[0], names.join(", ")),
        svg,
        hits,
    })
}

/// The charts of an experiment: one for each tensor, or one over all of them.
pub(super) fn experiment(figures: &Figures, of: &Experiment) -> Result<String, Failure> {
    let own: Vec<Row> =
        figures.experiments.iter().filter(|row| row.experiment.as_ref() == Some(&of.name)).cloned().collect();
    let rows = if of.along == Along::Threads { own } else { most_of_all(&own) };
    let mut panels = String::new();
    for (title, rows) in match of.along {
        Along::Entries | Along::Tensor => vec![(of.name.clone(), rows)],
        _ => {
            let by_tensor = grouped(&rows, |row| row.tensor.clone());
            by_tensor.into_iter().map(|(tensor, rows)| (tensor, rows.into_iter().cloned().collect())).collect()
        }
    } {
        for &measure in &of.measures {
            panels.push_str(&experiment_chart(figures, of.along, measure, &title, &rows)?);
        }
    }
    Ok(format!("<div class=\"panels\">\n{panels}</div>\n"))
}

fn experiment_chart(
    figures: &Figures,
    along: Along,
    measure: Measure,
    title: &str,
    rows: &[Row],
) -> Result<String, Failure> {
    let title = format!("{title}: {}", measure.title());
    let kernels = labels(rows).len();
    let ranks = grouped(rows, |row| row.rank).len();
    let name = |row: &Row| {
        let kernel = (kernels > 1).then(|| row.label.clone());
        let rank = row.rank.filter(|_| ranks > 1 && along != Along::Rank).map(|rank| format!("rank {rank}"));
        let setting = row.setting.clone().filter(|_| along != Along::Parts);
        let parts: Vec<String> = [kernel, Some(series_of(figures)(row)), setting, rank].into_iter().flatten().collect();
        parts.join(", ")
    };
    let value = |row: &Row| measure.of(row, figures);
    if along == Along::Tensor {
        return complete(bars_of(&bars((title, measure.unit(), ""), rows, &name, &value, &|_| None)));
    }
    let place = |row: &Row| along.of(row, figures.tensor(row).map_or(0, |tensor| tensor.nnz));
    let mut series = Vec::new();
    for (name, own) in grouped(rows, name) {
        let mut places: Vec<f64> = own.iter().filter_map(|row| place(row)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let height = |x: f64| mean(own.iter().filter(|row| place(row) == Some(x)).filter_map(|row| value(row)));
        series.push((name, places.into_iter().filter_map(|x| Some((x, height(x)?))).collect()));
    }
    complete(lines_of(&Lines { title, titles: [along.title(), measure.unit()], series, has_diagonal: false }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_span_decades_by_logarithms() {
        let of = |values: &[f64]| Scale::of(values.iter().copied());
        let narrow = of(&[2.0, 8.0]);
        assert_eq!((narrow.is_logarithmic, narrow.low), (false, 0.0));
        assert_eq!(narrow.label(2.5), "2.5");
        let wide = of(&[3e-5, 20.0, 0.0]);
        assert_eq!(wide, Scale { is_logarithmic: true, low: -5.0, high: 2.0 });
        assert_eq!((wide.label(-5.0), wide.label(-2.0), wide.label(1.0)), ("1e-5".into(), "0.01".into(), "10".into()));
        assert_eq!((wide.label(0.5), wide.place(0.01)), (String::new(), -2.0));
        assert_eq!(of(&[]).high, 1.0);
        assert_eq!((tick(0.0), tick(120000.0), tick(40.0)), ("0".into(), "1.2e5".into(), "40".into()));
    }

    #[test]
    fn bars_of_files_come_first() {
        let row = |tensor: &str, is_file, format: &str| Row {
            tensor: tensor.to_owned(),
            format: format.to_owned(),
            is_file,
            operations: Some(1e6),
            kernel_ms: 2.0,
            ..Row::default()
        };
        let rows = [row("s1", false, "coo"), row("r1", true, "coo"), row("r1", true, "hicoo(128)")];
        let of = means_of(&Figures::default(), "TTV", Measure::Gflops, &rows);
        assert_eq!(of.groups, [("r1".to_owned(), true), ("s1".to_owned(), false)]);
        assert_eq!(of.bars.iter().map(|bar| (bar.group, bar.series)).collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0)]);
        let picture = bars_of(&of).unwrap();
        assert!(picture.svg.contains("r1") && picture.hits.len() == 6, "{}", picture.svg);
    }
}
