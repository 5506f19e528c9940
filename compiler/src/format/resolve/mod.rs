//! Formats as written to formats as stored: names looked up, arguments put in, `...` expanded to the tensor's order.
//!
//! In: [`FormatExpr`] and an order. Out: [`Format`]. The same name gives a different format for each order:
//!
//! ```text
//! coo, order 3      →      [compressed(nonunique), singleton(nonunique), singleton]
//! ```

mod arguments;
mod coordinate;
mod exchanged;
mod level;
mod map;
mod spelling;
mod storage;
#[cfg(test)]
mod tests;

use super::{Format, Level, prelude};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes, suggest, words};
use crate::syntax::{FormatArgument, FormatDefinition, FormatExpr, FormatExprKind, FormatMap, Ident, Item, Program};
use arguments::Arguments;
pub use spelling::taco;

/// The named formats that a text may use: those of the prelude and its own.
#[derive(Debug, Clone, Default)]
pub struct Definitions<'a> {
    own: Vec<&'a FormatDefinition>,
}

impl<'a> Definitions<'a> {
    /// The prelude's only.
    pub fn prelude() -> Self {
        Self::default()
    }

    /// The prelude's and a program's own.
    pub fn of_program(program: &'a Program) -> Self {
        let own = program.items.iter().filter_map(|item| match item {
            Item::Format(definition) => Some(definition),
            Item::Kernel(_) | Item::Function(_) | Item::Monoid(_) => None,
        });
        Self { own: own.collect() }
    }

    /// The program's own definitions.
    pub fn own(&self) -> &[&'a FormatDefinition] {
        &self.own
    }

    /// The definition of a name, and whether it is the prelude's.
    fn find(&self, name: &str) -> Option<(&'a FormatDefinition, bool)> {
        let own = self.own.iter().find(|definition| definition.name.name == name);
        let prelude = || prelude::definitions().iter().find(|definition| definition.name.name == name);
        own.map(|definition| (*definition, false)).or_else(|| prelude().map(|definition| (definition, true)))
    }

    /// All names, the program's own first.
    fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.own.iter().copied();
        own.chain(prelude::definitions()).map(|definition| definition.name.name.as_str())
    }
}

/// The orders that a format serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Orders {
    /// The least order.
    pub minimum: usize,
    /// Whether it serves every higher order too.
    pub variadic: bool,
}

impl Orders {
    fn exactly(order: usize) -> Self {
        Self { minimum: order, variadic: false }
    }

    /// Those that a map serves.
    pub fn of_map(map: &FormatMap) -> Self {
        let variadic = map.modes.iter().filter(|mode| mode.variadic).count();
        Self { minimum: map.modes.len() - variadic, variadic: variadic > 0 }
    }

    /// Whether an order is among them.
    pub fn contains(self, order: usize) -> bool {
        order == self.minimum || self.variadic && order > self.minimum
    }
}

/// The orders that a format serves; `None` for a name that has no definition.
pub fn orders(format: &FormatExpr, definitions: &Definitions<'_>) -> Option<Orders> {
    match &format.kind {
        FormatExprKind::Levels(levels) => Some(Orders::exactly(levels.len())),
        FormatExprKind::Map(map) => Some(Orders::of_map(map)),
        FormatExprKind::Named { name, .. } => {
            definitions.find(&name.name).map(|(definition, _)| Orders::of_map(&definition.map))
        }
    }
}

/// The format of a tensor of order `order` that is written so.
///
/// # Errors
/// Unknown names, wrong arguments, an order that the format does not serve, and maps that do not store a tensor. No problem
/// is told where a definition of the program is to blame: [`check_definition`] tells it.
pub fn resolve(written: &FormatExpr, order: usize, definitions: &Definitions<'_>) -> Result<Format, Diagnostics> {
    let mut report = Report::default();
    match expand(written, order, definitions, &mut report) {
        Some(levels) if report.found.is_empty() => {
            let format = Format { order, levels, symmetry: None };
            let symmetry = exchanged::symmetry(written, &format)?;
            Ok(format.with_symmetry(symmetry))
        }
        _ => Err(report.found),
    }
}

/// The format of the prelude of a name, with numbers for its arguments, for tensors of an order.
///
/// # Errors
/// When there is no such format, or it does not take these arguments or this order.
pub fn named(name: &str, arguments: &[u64], order: usize) -> Result<Format, Diagnostics> {
    let span = Span::default();
    let arguments = arguments.iter().map(|&number| FormatArgument::Number(number, span)).collect();
    let name = Ident { name: name.to_owned(), span };
    let named = FormatExpr {
        fill: None,
        hints: Vec::new(),
        symmetry: None,
        kind: FormatExprKind::Named { name, arguments },
        span,
    };
    resolve(&named, order, &Definitions::prelude())
}

/// The problems of a definition, whether or not a kernel uses it. Each `...` stands for one mode, and an argument for
/// anything.
pub fn check_definition(definition: &FormatDefinition) -> Diagnostics {
    let mut report = Report::default();
    let arguments = Arguments::of_anything(definition);
    let order = definition.map.modes.len();
    arguments::check_distinct(definition, &mut report);
    stored(&definition.map, order, &arguments, definition.span, &mut report);
    report.found
}

/// The text of a format that has a name: `csf`, `bcsr(4)`.
pub fn name(format: &FormatExpr) -> Option<String> {
    let FormatExprKind::Named { name, arguments } = &format.kind else { return None };
    if format.symmetry.is_some() {
        return None;
    }
    let arguments: Vec<String> = arguments.iter().map(argument_text).collect();
    Some(if arguments.is_empty() { name.name.clone() } else { format!("{}({})", name.name, arguments.join(", ")) })
}

fn argument_text(argument: &FormatArgument) -> String {
    match argument {
        FormatArgument::Word(word) => word.name.clone(),
        FormatArgument::Number(number, _) => number.to_string(),
        FormatArgument::Setting(key, value) => format!("{} = {}", key.name, argument_text(value)),
    }
}

/// The problems found so far.
#[derive(Default)]
struct Report {
    found: Diagnostics,
    /// The use of a named format. Problems with its arguments show in the definition's text and are reported here.
    place: Option<Span>,
}

impl Report {
    fn push(&mut self, mut diagnostic: Diagnostic) {
        if let Some(place) = self.place {
            diagnostic.span = place;
            diagnostic.related.clear();
        }
        self.found.push(diagnostic);
    }
}

fn expand(format: &FormatExpr, order: usize, definitions: &Definitions<'_>, report: &mut Report) -> Option<Vec<Level>> {
    if let Some(orders) = orders(format, definitions)
        && !orders.contains(order)
    {
        report.push(wrong_order(format, orders, order));
        return None;
    }
    match &format.kind {
        FormatExprKind::Levels(levels) => {
            Some(storage::checked(map::of_levels(levels, report), &[], format.span, report))
        }
        FormatExprKind::Map(map) => Some(stored(map, order, &Arguments::default(), format.span, report)),
        FormatExprKind::Named { name, arguments } => {
            expand_named(name, arguments, format.span, order, definitions, report)
        }
    }
}

fn expand_named(
    name: &Ident,
    arguments: &[FormatArgument],
    span: Span,
    order: usize,
    definitions: &Definitions<'_>,
    report: &mut Report,
) -> Option<Vec<Level>> {
    let Some((definition, prelude)) = definitions.find(&name.name) else {
        report.push(unknown_format(name, definitions));
        return None;
    };
    if !prelude && !check_definition(definition).is_empty() {
        return None;
    }
    let arguments = Arguments::bind(definition, arguments, span, report)?;
    report.place = Some(span);
    let levels = stored(&definition.map, order, &arguments, span, report);
    report.place = None;
    Some(levels)
}

/// The levels of a map, checked.
fn stored(map: &FormatMap, order: usize, arguments: &Arguments, span: Span, report: &mut Report) -> Vec<Level> {
    let levels = map::expand(map, order, arguments, report);
    storage::checked(levels, &map::mode_names(map, order), span, report)
}

fn wrong_order(format: &FormatExpr, orders: Orders, order: usize) -> Diagnostic {
    let least = if orders.variadic { "at least " } else { "" };
    let message = format!("a format of {least}{} for a tensor of order {order}", words::count(orders.minimum, "mode"));
    Diagnostic::new(codes::FORMAT_ORDER, format.span, message)
        .label(format!("has {least}{}", words::count(orders.minimum, "mode")))
}

fn unknown_format(name: &Ident, definitions: &Definitions<'_>) -> Diagnostic {
    let unknown = Diagnostic::new(codes::UNKNOWN_FORMAT, name.span, format!("there is no format `{}`", name.name));
    if crate::level::named(&name.name).is_some() {
        return unknown
            .label("a level format")
            .help(format!("a format is a list with a level for each mode: `[{}]`", name.name));
    }
    let similar = || suggest::similar(&name.name, definitions.names()).map(str::to_owned);
    let help = match spelling::format(&name.name, definitions.names()).or_else(similar) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the formats are {}", words::list(definitions.names())),
    };
    unknown.label("not a format").help(help)
}
