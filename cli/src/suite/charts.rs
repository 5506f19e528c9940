//! Pictures of figures, as SVG by `plotters`: each with a title, a description, and a text for what lies under the pointer.

use super::averages::{grouped, scaling};
use super::figures::{Figures, Measured, Row, mean};
use crate::failure::Failure;
use crate::output::{bytes, digits};
use crate::page::Escaped;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::error::Error;
use std::fmt::Write;
use std::ops::Range;

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

const SIZE: (u32, u32) = (900, 520);

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
        format!("<figure>{text}</svg><figcaption>{title}</figcaption></figure>\n")
    }
}

/// The names of series with their marks, in rows above a picture.
fn legend(root: &Pixels<'_>, names: &[String]) -> Drawn<i32> {
    let (mut x, mut y) = (70, 14);
    for (series, name) in names.iter().enumerate() {
        let width = 34 + 8 * name.chars().count() as i32;
        if x + width > SIZE.0 as i32 {
            (x, y) = (70, y + 22);
        }
        draw_mark(root, series, (x, y))?;
        root.draw(&Text::new(name.clone(), (x + 12, y - 7), ("sans-serif", 15)))?;
        x += width;
    }
    Ok(y + 16)
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

/// The rows with most threads of a backend.
fn most(rows: &[Row], backend: &str) -> Vec<Row> {
    let rows = rows.iter().filter(|row| row.backend == backend);
    let most = rows.clone().map(|row| row.threads).max().unwrap_or(0);
    rows.filter(|row| row.threads == most).cloned().collect()
}

/// A roofline for each backend of a machine.
pub(super) fn rooflines(figures: &Figures) -> Result<String, Failure> {
    let mut all = String::new();
    for machine in &figures.machines {
        let rows = most(&figures.rows, &machine.backend);
        let of_threads = |measured: &&Measured| rows.first().is_some_and(|row| row.threads == measured.threads);
        if let Some(measured) = machine.facts.measured.iter().find(of_threads) {
            all.push_str(&complete(roofline(&rows, measured, &machine.backend))?);
        }
    }
    Ok(all)
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
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let top = legend(&root, &labels)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .margin_top(top)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(x.clone().log_scale(), y.clone().log_scale())?;
        chart
            .configure_mesh()
            .x_desc("operations a byte")
            .y_desc("GFLOP/s")
            .axis_desc_style(("sans-serif", 17))
            .label_style(("sans-serif", 15))
            .bold_line_style(COLOURS[6].mix(0.25))
            .light_line_style(COLOURS[6].mix(0.0))
            .draw()?;
        let ends = measured.points.iter().take(1).chain(measured.points.iter().skip(1).last());
        for (number, point) in ends.enumerate() {
            // The nearest cache is named above its line, main memory below.
            let aside = if number == 0 { (-150, -18) } else { (6, 6) };
            let bandwidth = point.triad.max(point.read);
            let ridge = (peak / bandwidth).clamp(x.start, x.end);
            let roof = [x.start, ridge, x.end].map(|x| (x, (x * bandwidth).min(peak)));
            chart.draw_series(LineSeries::new(roof, BLACK.stroke_width(2)))?;
            let at =
                chart.backend_coord(&((x.start * ridge).sqrt(), ((x.start * ridge).sqrt() * bandwidth).max(y.start)));
            root.draw(&Text::new(
                format!("{} GB/s, {}", digits(bandwidth), bytes(point.footprint)),
                (at.0 + aside.0, at.1 + aside.1),
                ("sans-serif", 14),
            ))?;
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

/// For each kernel the rates on each tensor.
pub(super) fn bars(figures: &Figures) -> Result<String, Failure> {
    let mut all = String::new();
    for machine in &figures.machines {
        let rows = most(&figures.rows, &machine.backend);
        for label in labels(&rows) {
            let own: Vec<Row> = rows.iter().filter(|row| row.label == label).cloned().collect();
            all.push_str(&complete(bars_of(&label, &machine.backend, &own))?);
        }
    }
    Ok(all)
}

fn bars_of(label: &str, backend: &str, rows: &[Row]) -> Drawn<Picture> {
    let by_tensor = grouped(rows, |row| row.tensor.clone());
    let series_of = |row: &Row| format!("{} {}", row.format, row.element);
    let series: Vec<String> = grouped(rows, series_of).into_iter().map(|(name, _)| name).collect();
    let value = |group: &[&Row], series: &str, of: fn(&Row) -> Option<f64>| {
        mean(group.iter().filter(|row| series_of(row) == series).filter_map(|row| of(row)))
    };
    let rates = rows.iter().flat_map(|row| [row.gflops(), row.roof()]).flatten();
    let y: Range<f64> = 0.0..rates.fold(0.0, f64::max).max(1e-3) * 1.05;
    let (mut svg, mut hits) = (String::new(), Vec::new());
    {
        let root = SVGBackend::with_string(&mut svg, (SIZE.0, 340)).into_drawing_area();
        let top = legend(&root, &series)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .margin_top(top)
            .x_label_area_size(34)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..by_tensor.len() as f64, y)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(0)
            .y_desc("GFLOP/s")
            .axis_desc_style(("sans-serif", 17))
            .label_style(("sans-serif", 15))
            .bold_line_style(COLOURS[6].mix(0.25))
            .light_line_style(COLOURS[6].mix(0.0))
            .draw()?;
        let width = 0.8 / series.len() as f64;
        for (place, (tensor, group)) in by_tensor.iter().enumerate() {
            for (number, name) in series.iter().enumerate() {
                let left = place as f64 + 0.1 + width * number as f64;
                let Some(rate) = value(group, name, Row::gflops) else { continue };
                let colour = COLOURS[number % COLOURS.len()];
                let bar = [(left, 0.0), (left + 0.9 * width, rate)];
                chart.draw_series(std::iter::once(Rectangle::new(bar, colour.filled())))?;
                let mut said = format!("{tensor}, {name}: {} GFLOP/s in the mean of modes", digits(rate));
                if let Some(roof) = value(group, name, Row::roof) {
                    let line = [(left, roof), (left + 0.9 * width, roof)];
                    chart.draw_series(std::iter::once(PathElement::new(line, BLACK.stroke_width(2))))?;
                    said.push_str(&format!(", roofline {}", digits(roof)));
                }
                hits.push((chart.backend_coord(&(left + 0.45 * width, rate / 2.0)), said.clone()));
                hits.push((chart.backend_coord(&(left + 0.45 * width, rate)), said));
            }
            let (x, y) = chart.backend_coord(&(place as f64 + 0.5, 0.0));
            let centred = TextStyle::from(("sans-serif", if by_tensor.len() > 10 { 12 } else { 15 }).into_font()).pos(
                plotters::style::text_anchor::Pos::new(
                    plotters::style::text_anchor::HPos::Center,
                    plotters::style::text_anchor::VPos::Top,
                ),
            );
            root.draw(&Text::new(tensor.clone(), (x, y + 8), centred))?;
        }
        root.present()?;
    }
    Ok(Picture {
        title: format!("{label}, {backend}: rate on each tensor"),
        description: format!(
            "Bars are geometric means over modes and ranks for {}; the line across each is the roofline.",
            series.join(", ")
        ),
        svg,
        hits,
    })
}

/// How much faster more threads are.
pub(super) fn threads(figures: &Figures) -> Result<String, Failure> {
    let lines = scaling(&figures.rows);
    if lines.is_empty() { Ok(String::new()) } else { complete(threads_of(&lines)) }
}

fn threads_of(lines: &[(String, Vec<(usize, f64)>)]) -> Drawn<Picture> {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let most = points().map(|point| point.0).max().unwrap_or(1) as f64;
    let fastest = points().map(|point| point.1).fold(most, f64::max);
    let names: Vec<String> = lines.iter().map(|(label, _)| label.clone()).collect();
    let (mut svg, mut hits) = (String::new(), Vec::new());
    {
        let root = SVGBackend::with_string(&mut svg, (SIZE.0, 380)).into_drawing_area();
        let top = legend(&root, &names)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .margin_top(top)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(0.9..most + 0.1, 0.0..fastest * 1.05)?;
        chart
            .configure_mesh()
            .x_desc("threads")
            .y_desc("times as fast as one")
            .axis_desc_style(("sans-serif", 17))
            .label_style(("sans-serif", 15))
            .bold_line_style(COLOURS[6].mix(0.25))
            .light_line_style(COLOURS[6].mix(0.0))
            .draw()?;
        chart.draw_series(std::iter::once(DashedPathElement::new([(1.0, 1.0), (most, most)], 6, 5, BLACK.mix(0.6))))?;
        for (series, (label, points)) in lines.iter().enumerate() {
            let colour = COLOURS[series % COLOURS.len()];
            let placed = points.iter().map(|&(threads, times)| (threads as f64, times));
            chart.draw_series(LineSeries::new(placed.clone(), colour.stroke_width(2)))?;
            for (x, y) in placed {
                let at = chart.backend_coord(&(x, y));
                draw_mark(&root, series, at)?;
                hits.push((at, format!("{label}: {} times as fast on {x} threads", digits(y))));
            }
        }
        root.present()?;
    }
    Ok(Picture {
        title: "Scaling over threads".to_owned(),
        description: "Geometric means over all cases of a kernel; the dashed line is the number of threads.".to_owned(),
        svg,
        hits,
    })
}
