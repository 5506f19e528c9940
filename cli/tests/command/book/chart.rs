//! The chart of README is drawn from the recorded figures of BENCHMARKS.md, *Beside other libraries*.

use super::{assert_made, text};
use std::fmt::Write;

/// How BENCHMARKS.md and the chart call a kernel, in the order of the chart.
const KERNELS: &[(&str, &str)] = &[
    ("mttkrp", "MTTKRP"),
    ("ttm", "TTM"),
    ("ttv", "TTV"),
    ("multiply", "product of two patterns"),
    ("elementwise", "product of one pattern"),
    ("scalar tensor", "tensor × number"),
    ("spmv", "SpMV"),
    ("spmm", "SpMM"),
    ("sddmm", "SDDMM"),
    ("spgemm", "SpGEMM"),
    ("add", "matrix + matrix"),
    ("scalar", "matrix × number"),
];

/// A row of the table of kernels: of how many cases, the geometric mean, and in how many we are slower.
struct Row {
    cases: u32,
    mean: f64,
    slower: u32,
}

/// The row of double precision of a kernel.
fn row(benchmarks: &str, kernel: &str) -> Row {
    let begins = format!("| {kernel} | f64 | ");
    let line =
        benchmarks.lines().find_map(|line| line.strip_prefix(&begins)).unwrap_or_else(|| panic!("no row of {kernel}"));
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    Row { cases: cells[0].parse().unwrap(), mean: cells[1].parse().unwrap(), slower: cells[3].parse().unwrap() }
}

const HEAD: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 HEIGHT" width="860" height="HEIGHT" role="img" aria-labelledby="title desc" font-family="system-ui, sans-serif" font-size="13">
<title id="title">Time of the fastest other library over time of spc</title>
<desc id="desc">DESCRIPTION</desc>
<style>
text { fill: #1f2328; } .small { font-size: 11px; fill: #57606a; } .bar { fill: #1a7f37; } .less { fill: #bc4c00; } .one { stroke: #57606a; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) { text { fill: #f0f6fc; } .small { fill: #9198a1; } .bar { fill: #3fb950; } .less { fill: #db6d28; } .one { stroke: #9198a1; } }
</style>
"#;

/// Where bars begin, how long one of height 1 is, and how far one is from the next.
const LEFT: f64 = 180.0;
const UNIT: f64 = 100.0;
const STEP: f64 = 24.0;

fn chart(benchmarks: &str) -> String {
    let (mut bars, mut description, mut top) = (String::new(), Vec::new(), 34.0);
    for (kernel, name) in KERNELS {
        let Row { cases, mean, slower } = row(benchmarks, kernel);
        let (class, width, middle) = (if mean < 1.0 { "less" } else { "bar" }, mean * UNIT, top + 13.0);
        let behind = LEFT + width + 8.0;
        _ = writeln!(bars, r#"<text x="{}" y="{middle}" text-anchor="end">{name}</text>"#, LEFT - 10.0);
        _ = writeln!(bars, r#"<rect class="{class}" x="{LEFT}" y="{top}" width="{width:.0}" height="17" rx="2"/>"#);
        _ = writeln!(
            bars,
            r#"<text x="{behind:.0}" y="{middle}">{mean:.2} <tspan class="small">{cases} cases, slower in {slower}</tspan></text>"#
        );
        description.push(format!("{name} {mean:.2}"));
        top += STEP;
    }
    let one = LEFT + UNIT;
    _ = writeln!(bars, r#"<line class="one" x1="{one}" y1="26" x2="{one}" y2="{top}"/>"#);
    _ = writeln!(
        bars,
        r#"<text x="10" y="18">Time of the fastest other library ÷ time of spc <tspan class="small">geometric mean; 1 is as fast; f64, two threads; BENCHMARKS.md</tspan></text>"#
    );
    let head = HEAD.replace("HEIGHT", &format!("{}", top + 10.0)).replace("DESCRIPTION", &description.join(", "));
    format!("{head}{bars}</svg>\n")
}

#[test]
fn the_chart_is_of_the_recorded_figures() {
    assert_made("docs/speed.svg", &chart(&text("BENCHMARKS.md")));
}
