//! `spc info`: what a tensor looks like.

use crate::arguments::{FormatsArguments, Shape, element, nameless_format, shape};
use crate::convert::element_of;
use crate::failure::Failure;
use crate::files::InputKind;
use crate::formats::format_for;
use crate::output::{self, bytes, digits, table};
use crate::progress::Progress;
use crate::settings;
use clap::Args;
use serde_json::{Value, json};
use spc::execute::Entries;
use spc::io::Filled;
use spc::tensor::{Element, Groups, PackError, Statistics, StorageSize};
use spc::with_element;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::format::{Format, Level, mode_name};
use spc_compiler::ir::ElementType;
use std::ffi::OsString;
use std::fmt::Write;

/// Show what a tensor looks like
///
/// A slice of a mode is what shares its index in that mode; a fiber of a mode is what shares the indices in all others.
/// The skew is how many times larger than the mean the largest slice is. Of each format it tells the units, which are all
/// positions, coordinates and values that are stored, and the bytes that they take.
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// The file; `-` for the standard input
    file: OsString,
    #[command(flatten)]
    from: InputKind,
    /// The formats whose storage is counted, with commas between them
    #[arg(short = 'f', long = "format", value_name = "FORMATS", default_value = "coo,csf", value_parser = nameless_format)]
    formats: Vec<String>,
    /// Count the storage for these orders of the modes: `all`, or some of them as `ijk,kij`, where the first letter is the mode that a
    /// format has first
    #[arg(long, value_name = "ORDERS")]
    orders: Option<String>,
    #[command(flatten)]
    named: FormatsArguments,
    /// The shape, where the file does not state it
    #[arg(long, value_name = "100x200", value_parser = shape)]
    shape: Option<Shape>,
    /// The type of the elements; that of the file if not given, or f64 where it says none
    #[arg(long, value_name = "TYPE", value_parser = element)]
    element: Option<ElementType>,
}

/// A format, the order of the modes in it where orders are asked for, and what it takes to store the tensor so.
struct Storage {
    format: String,
    order: Option<String>,
    size: Result<StorageSize, PackError>,
}

impl Storage {
    /// What it is called in tables: `csf(jik)`.
    fn name(&self) -> String {
        self.order.as_ref().map_or_else(|| self.format.clone(), |order| format!("{} {order}", self.format))
    }
}

/// An order of modes with its name.
type Order = (String, Vec<usize>);

/// The orders of modes that `--orders` asks for.
pub(crate) fn mode_orders(text: &str, order: usize) -> Result<Vec<Order>, Failure> {
    let named = |modes: Vec<usize>| (modes.iter().map(|&mode| mode_name(mode)).collect::<String>(), modes);
    let all = text.trim() == "all";
    if all && order > MOST_MODES {
        let failure = Failure::refused(format!("{order} modes have too many orders"));
        return Err(failure.help("name some of them: `--orders ijklmnpq,qijklmnp`"));
    }
    if all {
        return Ok(permutations(order).into_iter().map(named).collect());
    }
    let letters = named((0..order).collect()).0;
    let one = |text: &str| {
        let modes: Vec<usize> =
            text.chars().filter_map(|letter| letters.chars().position(|other| other == letter)).collect();
        let mut sorted = modes.clone();
        sorted.sort_unstable();
        match sorted.into_iter().eq(0..order) && text.chars().count() == order {
            true => Ok(named(modes)),
            false => {
                let failure = Failure::refused(format!("`{text}` is no order of the modes `{letters}`"));
                Err(failure.help("name each mode once, or say `--orders all`"))
            }
        }
    };
    text.split(',').map(str::trim).map(one).collect()
}

/// `--orders all` lists the orders of so many modes at most: 720.
const MOST_MODES: usize = 6;

/// All orders of so many numbers from 0 on.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let mut all: Vec<Vec<usize>> = Vec::new();
    for shorter in permutations(last) {
        for place in 0..=last {
            let mut longer = shorter.clone();
            longer.insert(place, last);
            all.push(longer);
        }
    }
    all.sort_unstable();
    all
}

/// The format with its first mode at the first of an order, and so on.
pub(crate) fn in_order(format: &Format, order: &[usize]) -> Format {
    let level = |level: &Level| Level { coordinate: level.coordinate.renumbered(&|mode| order[mode]), ..level.clone() };
    Format { levels: format.levels.iter().map(level).collect(), ..format.clone() }
}

impl Info {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let named = self.named.load()?;
        let progress = Progress::new(format!("reading {}", self.file.display()));
        let file = self.from.open(&self.file, self.shape.map(|shape| shape.0))?;
        let name = file.path().display().to_string();
        let (entries, fill) = with_element!(element_of(&file, self.element)?, |T| {
            let Filled { entries, fill } = file.contents::<T>()?.into_filled()?;
            let fill = fill.filter(|&fill| fill != <T as Element>::ZERO).map(|fill| fill.to_string());
            (Entries::from(entries), fill)
        });
        let stored = file.stored()?;
        drop(file);
        let order = entries.shape().len();
        let mut formats = Vec::new();
        for text in self.formats.iter().flat_map(|formats| split_formats(formats)) {
            formats.push((text, format_for(text, entries.shape(), &Definitions::of_program(&named))?));
        }
        progress.step("counting slices and fibers");
        let statistics = entries.statistics().map_err(|error| Failure::refused(format!("{name}: {error}")))?;
        let mut storage: Vec<Storage> = Vec::new();
        let orders = self.orders.as_ref().map(|text| mode_orders(text, order)).transpose()?;
        for (text, format) in formats {
            progress.step(format!("storing as {text}"));
            let mut store = |order: Option<String>, format: &Format| {
                storage.push(Storage { format: text.to_owned(), order, size: entries.storage_size(format) });
            };
            match &orders {
                None => store(None, &format),
                Some(orders) => {
                    orders.iter().for_each(|(name, modes)| store(Some(name.clone()), &in_order(&format, modes)));
                }
            }
        }
        drop(progress);
        if settings::json() {
            let told = as_json((&name, &stored), &entries, fill.as_deref(), &statistics, &storage);
            return output::print_json(told);
        }
        output::print(&as_text((&name, &stored), &entries, fill.as_deref(), &statistics, &storage))
    }
}

/// Cuts a list of formats at the commas that no bracket encloses.
pub(crate) fn split_formats(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let parts = text.split(|character| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn as_text(
    (file, stored): (&str, &str),
    entries: &Entries,
    fill: Option<&str>,
    statistics: &Statistics,
    storage: &[Storage],
) -> String {
    let mut text = String::new();
    let shape_is =
        if entries.shape_is_stated() { "" } else { " (it states no shape: extents are the largest indices)" };
    _ = writeln!(text, "{file}: {}{shape_is}", output::shape(&statistics.shape));
    _ = write!(text, "{} entries, density {}", statistics.nnz, digits(statistics.density));
    if statistics.distinct < statistics.nnz {
        _ = write!(text, ", {} of them at an index that another has", statistics.nnz - statistics.distinct);
    }
    if let Some(fill) = fill {
        _ = write!(text, ", missing ones are {fill}");
    }
    _ = write!(text, "; {stored}");
    text.push_str("\n\n");
    let heads = ["mode", "extent", "slices", "mean", "largest", "skew", "fibers", "mean", "largest", "skew"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for (number, mode) in statistics.modes.iter().enumerate() {
        let groups = |groups: &Groups| {
            [groups.count.to_string(), digits(groups.mean()), groups.largest.to_string(), digits(groups.skew())]
        };
        let mut row = vec![(number + 1).to_string(), mode.extent.to_string()];
        row.extend(groups(&mode.slices));
        row.extend(groups(&mode.fibers));
        rows.push(row);
    }
    text.push_str(&table(&rows, 0));
    text.push('\n');
    let mut rows = vec![["format", "units", "indices", "values", "bytes", "stored"].map(str::to_owned).to_vec()];
    for stored in storage {
        rows.push(match &stored.size {
            Ok(size) => vec![
                stored.name(),
                size.units().to_string(),
                bytes(size.index_bytes),
                bytes(size.value_bytes),
                bytes(size.bytes()),
                size.stored.to_string(),
            ],
            Err(_) => [stored.name().as_str(), "-", "-", "-", "-", "-"].map(str::to_owned).to_vec(),
        });
    }
    text.push_str(&table(&rows, 1));
    for stored in storage {
        if let Err(error) = &stored.size {
            _ = writeln!(text, "{}: {error}", stored.name());
        }
    }
    text
}

fn as_json(
    (file, stored): (&str, &str),
    entries: &Entries,
    fill: Option<&str>,
    statistics: &Statistics,
    storage: &[Storage],
) -> Value {
    let groups = |groups: &Groups| json!({ "count": groups.count, "mean": groups.mean(), "largest": groups.largest, "skew": groups.skew() });
    let modes: Vec<Value> = statistics
        .modes
        .iter()
        .zip(1..)
        .map(|(mode, number)| json!({ "mode": number, "extent": mode.extent, "slices": groups(&mode.slices), "fibers": groups(&mode.fibers) }))
        .collect();
    let storage: Vec<Value> = storage
        .iter()
        .map(|Storage { format, order, size }| {
            let mut told = match size {
                Ok(size) => json!({
                    "format": format, "index_bytes": size.index_bytes, "value_bytes": size.value_bytes,
                    "bytes": size.bytes(), "index_words": size.index_words(), "stored": size.stored,
                    "positions": size.positions, "coordinates": size.coordinates, "units": size.units(),
                }),
                Err(error) => json!({ "format": format, "error": error.to_string() }),
            };
            if let Some(order) = order {
                told["order"] = json!(order);
            }
            told
        })
        .collect();
    json!({
        "file": file, "stored": stored, "shape": statistics.shape, "shape_is_stated": entries.shape_is_stated(),
        "element": entries.element().name(), "fill": fill.unwrap_or("0"), "nnz": statistics.nnz, "distinct": statistics.distinct,
        "density": statistics.density, "modes": modes, "storage": storage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_all_or_those_that_are_named() {
        let names = |text: &str, order| -> Vec<String> {
            mode_orders(text, order).unwrap().into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names("all", 3), ["ijk", "ikj", "jik", "jki", "kij", "kji"]);
        assert_eq!((names("all", 6).len(), names("all", 0)), (720, vec![String::new()]));
        assert_eq!(names("kij, ijk", 3), ["kij", "ijk"]);
        for wrong in ["ij", "ijj", "ijkl", "", "all", "xyz"] {
            assert!(mode_orders(wrong, if wrong == "all" { 7 } else { 3 }).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_format_in_another_order_has_the_modes_so() {
        let format = spc_compiler::format::named("ghicoo", &[4], 3).unwrap();
        let turned = in_order(&format, &[2, 0, 1]).to_string();
        assert!(turned.starts_with("(i, j, k) -> [k / 4: ") && turned.ends_with(", j: singleton]"), "{turned}");
    }

    #[test]
    fn formats_are_cut_at_outer_commas() {
        assert_eq!(split_formats("csf, hicoo(128),[dense, compressed]"), ["csf", "hicoo(128)", "[dense, compressed]"]);
        assert_eq!(split_formats("(i, j) -> [j: dense, i: dense]"), ["(i, j) -> [j: dense, i: dense]"]);
        assert!(split_formats("").is_empty());
    }
}
