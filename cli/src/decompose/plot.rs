//! Pictures of a decomposition, as SVG.

use super::row::Row;
use crate::failure::Failure;
use plotters::prelude::*;
use std::ops::Range;

const COLOUR: RGBColor = RGBColor(0, 114, 178);

/// At most so many coordinates of a column are drawn each by itself; of more, the largest of several.
const DRAWN: usize = 240;

/// The fit over the iterations, and what else the method makes better.
pub(super) fn progress(rows: &[Row]) -> Result<String, Failure> {
    let fit = over(rows, "fit", |row| row.fit)?;
    Ok(match rows.last().and_then(Row::aim) {
        None | Some(("fit", _)) => fit,
        Some((name, _)) => fit + &over(rows, &name.replace('_', " "), |row| Some(row.aim()?.1))?,
    })
}

fn over(rows: &[Row], name: &str, value: impl Fn(&Row) -> Option<f64>) -> Result<String, Failure> {
    let place = |row: &Row| Some((row.number as f64, value(row).filter(|value| value.is_finite())?));
    let places: Vec<(f64, f64)> = rows.iter().filter_map(place).collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Ok(String::new()) };
    let x = first.0..last.0.max(first.0 + 1.0);
    let mut svg = String::new();
    let drawn = line(&mut svg, (760, 300), (&x, &Scale::of(&places, None)), (name, "iteration"), &places);
    drawn.map(|()| svg).map_err(refused)
}

/// A column of a factor: a stem for each coordinate.
pub(super) fn column(values: &[f64]) -> Result<String, Failure> {
    let places: Vec<(f64, f64)> = largest(values);
    let stems: Vec<(f64, f64)> = places.iter().flat_map(|&(x, y)| [(x, 0.0), (x, y), (x, 0.0)]).collect();
    let mut svg = String::new();
    let x = 0.5..values.len().max(1) as f64 + 0.5;
    let drawn = line(&mut svg, (320, 150), (&x, &Scale::of(&stems, Some(0.0))), ("", ""), &stems);
    drawn.map(|()| svg).map_err(refused)
}

fn refused(error: Box<dyn std::error::Error>) -> Failure {
    Failure::refused(format!("a picture can't be drawn: {error}"))
}

/// Coordinates from 1 with their values; where there are many, of each stretch the one that is farthest from zero.
fn largest(values: &[f64]) -> Vec<(f64, f64)> {
    let stretch = values.len().div_ceil(DRAWN).max(1);
    let farthest = |(number, values): (usize, &[f64])| {
        let finite = values.iter().enumerate().filter(|(_, value)| value.is_finite());
        let (place, value) = finite.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        Some(((number * stretch + place + 1) as f64, *value))
    };
    values.chunks(stretch).enumerate().filter_map(farthest).collect()
}

/// How values are drawn: as they are, or where the picture's library can't divide their range into ticks as parts of it.
struct Scale {
    /// Of what is drawn.
    range: Range<f64>,
    /// The value at 0, and the value at 1.
    ends: Option<(f64, f64)>,
}

impl Scale {
    /// A scale that holds all values, and `also` where it is said.
    fn of(places: &[(f64, f64)], also: Option<f64>) -> Self {
        let values = || places.iter().map(|place| place.1).chain(also);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let (width, size) = (high - low, low.abs().max(high.abs()));
        if width > size * 1e-6 && (1e-100..1e100).contains(&size) {
            return Self { range: low - width * 0.05..high + width * 0.05, ends: None };
        }
        let ends = if width > 0.0 { (low, high) } else { (low - 0.5 * size.max(1e-6), low + 0.5 * size.max(1e-6)) };
        Self { range: -0.05..1.05, ends: Some(ends) }
    }

    fn drawn(&self, value: f64) -> f64 {
        match self.ends {
            None => value,
            // Halves, as the range may be larger than the largest number.
            Some((low, high)) => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE),
        }
    }

    fn value(&self, drawn: f64) -> f64 {
        self.ends.map_or(drawn, |(low, high)| low * (1.0 - drawn) + high * drawn)
    }
}

fn line(
    svg: &mut String,
    size: (u32, u32),
    (x, y): (&Range<f64>, &Scale),
    (name, below): (&str, &str),
    places: &[(f64, f64)],
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    let (left, bottom) = if name.is_empty() { (52, 22) } else { (84, 46) };
    let mut chart = ChartBuilder::on(&root)
        .margin(6)
        .x_label_area_size(bottom)
        .y_label_area_size(left)
        .build_cartesian_2d(x.clone(), y.range.clone())?;
    let small = size.0 < 500;
    chart
        .configure_mesh()
        .x_desc(below)
        .y_desc(name)
        .x_labels(if small { 5 } else { 10 })
        .y_labels(if small { 3 } else { 6 })
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|place| tick(y.value(*place)))
        .label_style(("sans-serif", if small { 11 } else { 14 }))
        .light_line_style(WHITE.mix(0.0))
        .draw()?;
    let drawn = places.iter().map(|&(x, value)| (x, y.drawn(value)));
    chart.draw_series(LineSeries::new(drawn, COLOUR.stroke_width(if small { 1 } else { 2 })))?;
    root.present()?;
    Ok(())
}

/// The text of a tick.
fn tick(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e4).contains(&size) => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_coordinates_leave_the_largest_of_each_stretch() {
        let mut values = vec![0.0; 10_000];
        values[4321] = -5.0;
        values[9999] = f64::NAN;
        let drawn = largest(&values);
        assert!(drawn.len() <= DRAWN && drawn.contains(&(4322.0, -5.0)));
        assert_eq!(largest(&[1.0, 2.0]), [(1.0, 1.0), (2.0, 2.0)]);
    }

    #[test]
    fn every_column_has_a_picture() {
        for values in [&[][..], &[0.0], &[1e308, -1e308], &[f64::NAN, 1.0], &[5e-324; 3], &[1.0, 1.0 + 1e-15]] {
            assert!(column(values).unwrap().contains("<svg"), "{values:?}");
        }
        let row = |number, fit| Row {
            number,
            fit: Some(fit),
            measures: Vec::new(),
            time_ms: 1.0,
            kernel_ms: 1.0,
            mttkrp_ms: None,
        };
        assert!(progress(&[row(1, 0.5)]).unwrap().contains("<svg"));
        assert!(progress(&[row(1, 1e15), row(2, 1e15 + 1.0)]).unwrap().contains("<svg"));
        assert!(progress(&[row(1, f64::NAN)]).unwrap().is_empty());
    }
}
