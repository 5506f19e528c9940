//! `spc formats`: the storage formats, and the arrays of an example; formats by name for other verbs.

use crate::arguments::FormatsArguments;
use crate::failure::Failure;
use crate::source;
use crate::{output, settings};
use clap::Args;
use serde_json::json;
use spc::tensor::{AnyTensor, Coordinates, Drawing, Duplicates, Indices, pack};
use spc_compiler::format::resolve::{self, Definitions, Orders};
use spc_compiler::format::{Format, LevelFormat, prelude};
use spc_compiler::level::{self, Level};
use spc_compiler::syntax::{self, FormatArgument, FormatDefinition, FormatExpr, FormatExprKind, Program};
use spc_compiler::topics::{self, Kind};
use std::fmt::Write;
use std::path::PathBuf;

impl FormatsArguments {
    /// The file, parsed and checked; a program without definitions where there is none.
    pub(crate) fn load(&self) -> Result<Program, Failure> {
        let Some(path) = &self.definitions else { return Ok(Program::default()) };
        source::checked(path)
    }
}

/// The format of that text for a tensor of order `order`.
pub(crate) fn parse_format(text: &str, order: usize, definitions: &Definitions<'_>) -> Result<Format, Failure> {
    let parsed = syntax::parse_format(text);
    let resolved = parsed.and_then(|format| resolve::resolve(&format, order, definitions));
    resolved.map_err(|problems| source::rendered(&[(text, "--format", problems)]))
}

/// The same for a tensor of this shape.
pub(crate) fn format_for(text: &str, shape: &[usize], definitions: &Definitions<'_>) -> Result<Format, Failure> {
    Ok(parse_format(text, shape.len(), definitions)?.for_shape(shape))
}

/// Show the storage formats, or the arrays of one
///
/// Without an argument: all formats that have names, and all kinds of level that formats are made of. Of a format: what it
/// is, and all arrays of a small example tensor, as it is stored in it.
#[derive(Debug, Args)]
pub(crate) struct Formats {
    /// A format: a name as csr or 'bcsr(4)', or levels as '[dense, compressed]'
    #[arg(value_name = "FORMAT")]
    format: Option<String>,
    /// The order of the example; 2 if not given and the format serves it
    #[arg(long, value_name = "N")]
    order: Option<usize>,
    /// Draw the arrays as a picture, which has a description for screen readers
    #[arg(long, requires = "format")]
    svg: bool,
    /// Write the picture to a file; `-` for the standard output
    #[arg(short, long, value_name = "FILE.svg", requires = "svg")]
    output: Option<PathBuf>,
    #[command(flatten)]
    named: FormatsArguments,
}

impl Formats {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let program = self.named.load()?;
        let definitions = Definitions::of_program(&program);
        match &self.format {
            None => output::explain(&listing(&definitions)),
            Some(text) if self.svg => {
                let shown = Shown::new(text, self.order, &definitions)?;
                let picture = Drawing::of(&shown.example).svg();
                match self.output.as_deref().filter(|path| path.as_os_str() != "-") {
                    Some(path) => Ok(spc::io::write_text(path, &picture)?),
                    None if settings::json() => output::print_json(json!({ "svg": picture })),
                    None => output::print(&picture),
                }
            }
            Some(text) => output::explain(&Shown::new(text, self.order, &definitions)?.page(&definitions)),
        }
    }
}

/// All formats and all kinds of level.
fn listing(definitions: &Definitions<'_>) -> String {
    let own = definitions.own().iter().copied();
    let row = |definition: &FormatDefinition| {
        let sentence: Vec<&str> = definition.documentation.iter().map(|line| line.trim()).collect();
        let orders = Orders::of_map(&definition.map);
        let orders = format!("{}{}", orders.minimum, if orders.variadic { "+" } else { "" });
        vec![topics::call(definition), orders, sentence.join(" ").trim_end_matches('.').to_owned()]
    };
    let heads = |heads: [&str; 3]| heads.map(str::to_owned).to_vec();
    let formats = std::iter::once(heads(["format", "order", "stores"]));
    let formats: Vec<Vec<String>> = formats.chain(own.chain(prelude::definitions()).map(row)).collect();
    let level = |level: &&dyn Level| {
        let kind = level.kind();
        let format = LevelFormat::new(kind);
        let loops = match () {
            () if level::is_located(format) => "locate",
            () if level::is_walked(format) => "walk",
            () if level::is_probed(format) => "probe",
            () => "copy",
        };
        vec![kind.name.to_owned(), loops.to_owned(), kind.summary.to_owned()]
    };
    let levels = std::iter::once(heads(["level", "loops", "stores"]));
    let levels: Vec<Vec<String>> = levels.chain(level::ALL.iter().map(level)).collect();
    format!(
        "{}\n{}\nA format is a name, or a level for each mode, as '[dense, compressed]'. Loops walk a level, locate a coordinate in it, \
probe whether it has one, or read a copy.\n`spc formats FORMAT` draws the arrays of an example; `spc explain NAME` tells more.\n",
        output::table(&formats, 3),
        output::table(&levels, 3)
    )
}

/// A format, and an example in it.
struct Shown {
    /// How it is written, with arguments where it takes some.
    text: String,
    parsed: FormatExpr,
    format: Format,
    example: AnyTensor,
}

impl Shown {
    fn new(text: &str, order: Option<usize>, definitions: &Definitions<'_>) -> Result<Self, Failure> {
        let refuse = |text: &str, problems: spc_compiler::diagnostics::Diagnostics| {
            source::rendered(&[(text, "<format>", problems)])
        };
        // A level by itself is that of a vector.
        let is_level = level::named(text).is_some() && find(text, definitions).is_none();
        let mut text = if is_level { format!("[{text}]") } else { text.to_owned() };
        let mut parsed = syntax::parse_format(&text).map_err(|problems| refuse(&text, problems))?;
        if let Some(arguments) = example_arguments(&parsed, definitions) {
            text = format!("{text}({arguments})");
            parsed = syntax::parse_format(&text).map_err(|problems| refuse(&text, problems))?;
        }
        let orders = resolve::orders(&parsed, definitions);
        let order = order.unwrap_or_else(|| match orders {
            Some(orders) if !orders.contains(2) => orders.minimum.max(1),
            _ => 2,
        });
        let format = resolve::resolve(&parsed, order, definitions).map_err(|problems| refuse(&text, problems))?;
        let example = example(&format)?;
        Ok(Self { text, parsed, format, example })
    }

    /// What the format is, and the arrays of the example.
    fn page(&self, definitions: &Definitions<'_>) -> String {
        let mut page = format!("{}: {}\n", self.text, self.format);
        if let FormatExprKind::Named { name, .. } = &self.parsed.kind {
            let own = definitions.own().iter().find(|own| own.name.name == name.name);
            let documented =
                own.map(|own| own.documentation.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n"));
            let known = || topics::find(&name.name).into_iter().find(|topic| topic.kind == Kind::Format);
            let said = documented.or_else(|| known().map(|topic| format!("{}.", topic.summary)));
            page.push_str(&said.map(|said| format!("{said}\n")).unwrap_or_default());
        }
        _ = write!(page, "\n{}\n{}", picture(&self.example), Drawing::of(&self.example).text());
        page.push_str("Coordinates and positions count from 0. A position is a place in the arrays of a level; its parent is one of the level above.\n");
        page
    }
}

fn find<'a>(name: &str, definitions: &Definitions<'a>) -> Option<&'a FormatDefinition> {
    let mut own = definitions.own().iter().copied();
    own.find(|own| own.name.name == name)
        .or_else(|| prelude::definitions().iter().find(|known| known.name.name == name))
}

/// Arguments for a format that takes some and is written without.
fn example_arguments(format: &FormatExpr, definitions: &Definitions<'_>) -> Option<String> {
    let FormatExprKind::Named { name, arguments } = &format.kind else { return None };
    let given: &[FormatArgument] = arguments;
    let count = find(&name.name, definitions)?.parameters.len();
    match (given.is_empty(), count) {
        (true, 1..) => Some((1..=count).map(|place| (2 * place).to_string()).collect::<Vec<_>>().join(", ")),
        _ => None,
    }
}

/// A small tensor in a format: with an empty slice and one with neighbours or, for what holds nothing else, on the diagonal.
fn example(format: &Format) -> Result<AnyTensor, Failure> {
    let order = format.order;
    let some = |shape: Vec<usize>, indices: Vec<Vec<u32>>| {
        let count = indices.len();
        let column = |mode: usize| Indices::U32(indices.iter().map(|index| index[mode]).collect());
        let values: Vec<f64> = (1..=count).map(|value| value as f64).collect();
        let entries = Coordinates { indices: (0..order).map(column).collect(), shape, shape_is_stated: true, values };
        pack(entries, format, Duplicates::Refuse)
    };
    let (shape, indices) = match order {
        0 => (Vec::new(), vec![Vec::new()]),
        1 => (vec![8], [1, 4, 5].map(|index| vec![index]).to_vec()),
        2 => (vec![4, 6], [[0, 1], [0, 4], [2, 0], [2, 2], [2, 3], [3, 5]].map(|index| index.to_vec()).to_vec()),
        _ => {
            let longer = |front: [u32; 3]| {
                front.into_iter().chain((3..order as u32).map(|mode| (front[0] + mode) % 2)).collect()
            };
            let fronts = [[0, 0, 1], [0, 2, 0], [0, 2, 3], [2, 1, 1], [2, 1, 2]];
            let shape = [3, 4, 4].into_iter().chain(std::iter::repeat_n(2, order - 3)).collect();
            (shape, fronts.map(longer).to_vec())
        }
    };
    let on_diagonal = || some(vec![4; order], [0, 1, 3].map(|index| vec![index; order]).to_vec());
    some(shape, indices).or_else(|error| on_diagonal().map_err(|_| Failure::refused(error)))
}

/// The tensor as a table, with points for missing elements; of a higher order, its entries.
fn picture(tensor: &AnyTensor) -> String {
    let mut entries: Vec<(Vec<usize>, f64)> = Vec::new();
    tensor.for_each_position(|index, position| entries.push((index.to_vec(), tensor.values().get_f64(position))));
    let shape = output::shape(tensor.shape());
    let order = tensor.order();
    if order > 2 {
        let rows: Vec<Vec<String>> = entries
            .iter()
            .filter(|(_, value)| *value != 0.0)
            .map(|(index, value)| {
                let index: Vec<String> = index.iter().map(usize::to_string).collect();
                vec![format!("    ({})", index.join(", ")), value.to_string()]
            })
            .collect();
        return format!("An example, {shape}; its entries:\n{}", output::table(&rows, 1));
    }
    let (rows, columns) = match tensor.shape() {
        [rows, columns] => (*rows, *columns),
        [columns] => (1, *columns),
        _ => (1, 1),
    };
    let at = |row: usize, column: usize| {
        let wanted: &[usize] = &[row, column][2 - order..];
        let found = entries.iter().find(|(index, value)| index == wanted && *value != 0.0);
        found.map_or_else(|| ".".to_owned(), |(_, value)| value.to_string())
    };
    let line =
        |row: usize| format!("    {}\n", (0..columns).map(|column| at(row, column)).collect::<Vec<_>>().join("  "));
    format!("An example, {shape}:\n{}", (0..rows).map(line).collect::<String>())
}
