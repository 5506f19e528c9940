//! What a model of a GPU says of kernels, as text and as JSON. Every figure is predicted.

use crate::failure::Failure;
use crate::output::{self, bytes};
use serde_json::{Value, json};
use spc::cuda::model::{Description, Limit, NAMES, Predicted, PredictedLaunch, Predictions, Site};
use std::fmt::Write;

/// A model of the GPU of this name, or of that which a file describes.
pub(crate) fn predictions(name: &str) -> Result<Predictions, Failure> {
    let described = Description::find(name).map_err(|error| {
        let failure = Failure::usage(format!("`--model {name}`: {error}"));
        failure
            .help(format!("{} are described already; docs/gpu-model.md says how to describe another", NAMES.join(", ")))
    })?;
    Ok(Predictions::on(described))
}

/// A number of which no more is known than two digits.
pub(crate) fn two_digits(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let places = 1 - value.log10().floor() as i32;
    match usize::try_from(places) {
        Ok(places) => format!("{value:.places$}"),
        Err(_) => {
            let unit = 10_f64.powi(-places);
            format!("{:.0}", (value / unit).round() * unit)
        }
    }
}

/// What is predicted of a call.
pub(crate) fn text(predicted: &Predicted, gpu: &Description) -> String {
    let mut text = format!(
        "predicted for {} by a model that was not fitted to it: {} µs; nothing was measured on a GPU\n",
        gpu.name,
        two_digits(predicted.seconds() * 1e6)
    );
    _ = writeln!(
        text,
        "{} launches; {} to the device, {} from it",
        predicted.launches.len(),
        bytes(predicted.brought as usize),
        bytes(predicted.taken as usize)
    );
    predicted.launches.iter().for_each(|launch| text.push_str(&of_launch(launch, gpu)));
    text + NOTES
}

const NOTES: &str = "
executed: how often a warp does it; lanes: active ones, of 32; used, sectors: bytes of elements and sectors of 32 bytes, each time; share: of the
sectors' bytes those that are used; meet: lanes of a warp at one address of an atomic operation, turns of the banks of shared memory;
memory: bytes by the bytes of all sectors that are touched, once; docs/gpu-model.md says how it is counted and what is wrong with it
";

fn of_launch(launch: &PredictedLaunch, gpu: &Description) -> String {
    let PredictedLaunch { function, grid, takes, occupancy, counts, traffic, time, .. } = launch;
    let ([x, y], [wide, high]) = (grid.blocks, grid.threads);
    let once = if launch.is_once { ", once for the same inputs" } else { "" };
    let mut text =
        format!("\n{function}: predicted {} µs, limited by {}{once}\n", two_digits(time.seconds * 1e6), time.limit);
    let registers = match takes.registers {
        Some(registers) if takes.spilled > 0 => format!("{registers} registers, {} bytes spilled", takes.spilled),
        Some(registers) => format!("{registers} registers"),
        None => "registers unknown without NVRTC".to_owned(),
    };
    let share = counts.totals.traced as f64 / counts.totals.blocks.max(1) as f64;
    let traced = if share < 1.0 { format!("; {}% of them traced", two_digits(100.0 * share)) } else { String::new() };
    _ = writeln!(text, "    {} blocks of {wide} x {high} threads{traced}", u64::from(x) * u64::from(y));
    _ = writeln!(
        text,
        "    {registers}; {} of {} warps at a time; {} loads of a warp under way",
        occupancy.warps,
        gpu.warps,
        two_digits(takes.loads)
    );
    let limits = Limit::ALL.iter().zip(time.by_limit);
    let limits: Vec<String> = limits.map(|(limit, seconds)| format!("{limit} {}", two_digits(seconds * 1e6))).collect();
    _ = writeln!(text, "    µs by each limit: {}", limits.join(", "));
    _ = writeln!(
        text,
        "    lanes {:.1} of 32; busiest multiprocessor {:.2} of the mean; L1 has {:.0}%; memory {:.2} of {}; {} barriers",
        counts.lanes(),
        time.imbalance,
        100.0 * traffic.l1_hits(),
        time.memory_bytes / launch.compulsory().max(1) as f64,
        bytes(launch.compulsory() as usize),
        counts.totals.barriers
    );
    let heads = ["array", "access", "executed", "lanes", "used", "sectors", "share", "meet"];
    let mut rows = vec![indented(&heads.map(str::to_owned))];
    rows.extend(counts.sites.iter().map(|site| indented(&cells(site, counts.scale()))));
    text + &output::table(&rows, 2)
}

fn indented(cells: &[String]) -> Vec<String> {
    let mut cells = cells.to_vec();
    cells[0].insert_str(0, "    ");
    cells
}

fn cells(site: &Site, scale: f64) -> [String; 8] {
    let each = |sum: u64| format!("{:.1}", sum as f64 / site.runs.max(1) as f64);
    let of_array = |text: String| if site.kind.is_global() { text } else { "-".to_owned() };
    let met = |text: String| if site.kind.is_met() { text } else { "-".to_owned() };
    [
        site.array.clone().unwrap_or_else(|| "(shared)".to_owned()),
        format!("{} {}", site.kind.name(), site.size),
        format!("{:.0}", site.runs as f64 * scale),
        each(site.lanes),
        each(site.useful),
        of_array(each(site.sectors)),
        of_array(format!("{:.2}", site.share())),
        met(each(site.ways)),
    ]
}

/// The same as JSON. Counts are those of the blocks that were traced; `scale` is what to multiply them by.
pub(crate) fn as_json(predicted: &Predicted, gpu: &Description) -> Value {
    json!({
        "gpu": gpu.name,
        "predicted_ms": predicted.seconds() * 1e3,
        "bytes_to_device": predicted.brought,
        "bytes_from_device": predicted.taken,
        "launches": predicted.launches.iter().map(launch_json).collect::<Vec<_>>(),
    })
}

fn launch_json(launch: &PredictedLaunch) -> Value {
    let PredictedLaunch { function, grid, takes, occupancy, counts, traffic, time, touched, is_once, .. } = launch;
    let by_limit =
        Limit::ALL.iter().zip(time.by_limit).map(|(limit, seconds)| (limit.to_string(), json!(seconds * 1e3)));
    let touched = touched
        .iter()
        .map(|touched| json!({ "array": touched.array, "bytes": touched.bytes, "sectors": touched.sectors }));
    json!({
        "function": function,
        "once": is_once,
        "predicted_ms": time.seconds * 1e3,
        "limit": time.limit.to_string(),
        "by_limit_ms": by_limit.collect::<serde_json::Map<_, _>>(),
        "blocks": grid.blocks,
        "threads": grid.threads,
        "shared_bytes": grid.shared,
        "registers": takes.registers,
        "spilled_bytes": takes.spilled,
        "loads_under_way": takes.loads,
        "warps_at_a_time": occupancy.warps,
        "blocks_traced": counts.totals.traced,
        "blocks_run": counts.totals.blocks,
        "scale": counts.scale(),
        "lanes": counts.lanes(),
        "useful_share": counts.useful_share(),
        "imbalance": time.imbalance,
        "barriers": counts.totals.barriers,
        "warp_operations": counts.totals.warp_operations,
        "l1_hits": traffic.l1_hits(),
        "l2_bytes": time.l2_bytes,
        "memory_bytes": time.memory_bytes,
        "compulsory_bytes": launch.compulsory(),
        "atomics": traffic.atomics,
        "touched": touched.collect::<Vec<_>>(),
        "sites": counts.sites.iter().map(site_json).collect::<Vec<_>>(),
    })
}

fn site_json(site: &Site) -> Value {
    json!({
        "array": site.array, "access": site.kind.name(), "size": site.size, "executed": site.runs, "lanes": site.lanes,
        "useful_bytes": site.useful, "sectors": site.sectors, "lines": site.lines, "addresses": site.distinct,
        "meet": site.ways,
    })
}

#[cfg(test)]
mod tests {
    use super::two_digits;

    #[test]
    fn no_more_than_two_digits_are_told() {
        let shown = [0.0, 0.001_234, 0.98, 1.26, 12.6, 99.6, 345.0, 12_345.0].map(two_digits);
        assert_eq!(shown, ["0", "0.0012", "0.98", "1.3", "13", "100", "350", "12000"]);
    }
}
