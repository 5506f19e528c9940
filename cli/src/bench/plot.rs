//! The roofline picture: operations a second over operations a byte, and below which lines they must stay.

use super::record::{Findings, Record};
use crate::failure::Failure;
use plotters::prelude::*;
use spc::measure::Machine;

const SIZE: (u32, u32) = (900, 560);

/// Colours that are told apart also by those who see few.
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(100, 100, 100),
    RGBColor(0, 0, 0),
    RGBColor(160, 90, 40),
    RGBColor(240, 228, 66),
];

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

/// The picture for the largest number of threads, as SVG.
pub(super) fn roofline(findings: &Findings) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(findings, &mut svg).map_err(|error| Failure::refused(format!("the picture can't be drawn: {error}")))?;
    Ok(svg)
}

/// Where a record lies: operations a byte, and operations a second, in billions.
fn place(record: &Record) -> Option<(f64, f64)> {
    let estimate = record.estimate.as_ref()?;
    let place = (estimate.operations / estimate.bytes, record.flops()? / 1e9);
    (place.0 > 0.0 && place.1 > 0.0 && place.0.is_finite()).then_some(place)
}

fn draw(findings: &Findings, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let Some(machine) = findings.machines.iter().max_by_key(|machine| machine.threads()) else { return Ok(()) };
    let records: Vec<&Record> =
        findings.records.iter().filter(|record| record.case.threads == machine.threads()).collect();
    let places: Vec<(f64, f64)> = records.iter().filter_map(|record| place(record)).collect();
    let peak = machine.flops(4).max(machine.flops(8)) / 1e9;
    let least = |of: fn(&(f64, f64)) -> f64, start: f64| places.iter().map(of).fold(start, f64::min) / 2.0;
    let most = |of: fn(&(f64, f64)) -> f64, start: f64| places.iter().map(of).fold(start, f64::max) * 2.0;
    let x = least(|place| place.0, 0.05)..most(|place| place.0, 10.0);
    let y = least(|place| place.1, 0.1)..most(|place| place.1, peak);

    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let caption = format!("Roofline, {}", threads(machine.threads()));
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 26))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x.clone().log_scale(), y.clone().log_scale())?;
    chart
        .configure_mesh()
        .x_desc("operations a byte")
        .y_desc("GFLOP/s")
        .axis_desc_style(("sans-serif", 20))
        .label_style(("sans-serif", 17))
        .light_line_style(WHITE.mix(0.0))
        .draw()?;
    roofs(&mut chart, machine, &x)?;
    let mut kernels: Vec<&str> = Vec::new();
    for record in &records {
        if !kernels.contains(&record.case.kernel.as_str()) {
            kernels.push(&record.case.kernel);
        }
    }
    for (kernel, colour) in kernels.into_iter().zip(COLOURS.into_iter().cycle()) {
        let of_kernel = records.iter().filter(|record| record.case.kernel == kernel).filter_map(|record| place(record));
        chart
            .draw_series(of_kernel.map(|place| Circle::new(place, 4, colour.mix(0.7).filled())))?
            .label(kernel)
            .legend(move |(x, y)| Circle::new((x + 8, y), 4, colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 17))
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.2))
        .draw()?;
    root.present()?;
    Ok(())
}

/// The lines of memory, from the nearest and from the farthest, and of the processor.
fn roofs(chart: &mut Chart, machine: &Machine, x: &std::ops::Range<f64>) -> Result<(), Box<dyn std::error::Error>> {
    let points = machine.points();
    let (Some(near), Some(far)) = (points.first(), points.last()) else { return Ok(()) };
    let peak = machine.flops(8) / 1e9;
    let lines = [
        (near.triad / 1e9, format!("triad, {}", crate::output::bytes(near.footprint)), BLACK.mix(0.35)),
        (far.triad / 1e9, format!("triad, {}", crate::output::bytes(far.footprint)), BLACK.mix(0.9)),
    ];
    for (bandwidth, name, colour) in lines {
        let ridge = (peak / bandwidth).clamp(x.start, x.end);
        let roof = [x.start, ridge, x.end].map(|x| (x, (x * bandwidth).min(peak)));
        chart
            .draw_series(LineSeries::new(roof, colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    Ok(())
}

fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}
