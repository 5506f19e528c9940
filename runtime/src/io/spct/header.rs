//! The text at the start of a `.spct` file.

use std::fmt;

use spc_compiler::format::{Coordinate, Format, IndexWidth, Level, LevelFormat, Order, Role, Symmetry, SymmetryKind};
use spc_compiler::ir::{ElementType, Literal};
use spc_compiler::level;

use crate::io::entries::quote;
use crate::io::{ReadError, ReadErrorKind};
use crate::tensor::AnyTensor;

/// Coordinates nest no deeper.
const DEPTH: usize = 16;
/// How orders of coordinates are called.
const ORDERS: [(Order, &str); 3] =
    [(Order::Ascending, "ordered"), (Order::Any, "unordered"), (Order::Morton, "morton")];
/// No more are interleaved.
const MOST_PARTS: usize = 64;

/// Everything but the arrays.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub(super) element: ElementType,
    pub(super) fill: Literal,
    pub(super) shape: Vec<usize>,
    pub(super) format: Format,
}

impl Header {
    pub(super) fn of(tensor: &AnyTensor) -> Self {
        Self {
            element: tensor.element(),
            fill: tensor.fill(),
            shape: tensor.shape().to_vec(),
            format: tensor.format().clone(),
        }
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "element {}", self.element.name())?;
        f.write_str("shape")?;
        self.shape.iter().try_for_each(|extent| write!(f, " {extent}"))?;
        writeln!(f)?;
        // A negative zero is another value.
        if !matches!(self.fill, Literal::Float(_, value) if value.to_bits() == 0) && self.fill != self.element.zero() {
            match self.fill {
                Literal::Float(_, value) => writeln!(f, "fill {value}")?,
                Literal::Integer(_, value) => writeln!(f, "fill {value}")?,
            }
        }
        if let Some(Symmetry { kind, modes }) = &self.format.symmetry {
            f.write_str(kind.name())?;
            modes.iter().try_for_each(|mode| write!(f, " {mode}"))?;
            writeln!(f)?;
        }
        for Level { coordinate, format } in &self.format.levels {
            f.write_str("level")?;
            print_coordinate(f, coordinate)?;
            let unique = if format.unique() { "unique" } else { "nonunique" };
            let ordered = ORDERS.iter().find(|(order, _)| *order == format.order()).map_or("", |(_, word)| word);
            let widths = [format.coordinates(), format.positions()].map(IndexWidth::name);
            write!(f, " {} {unique} {ordered} {} {}", format.kind.name, widths[0], widths[1])?;
            format.count().map_or(Ok(()), |number| write!(f, " {number}"))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

/// In prefix notation, a blank before each word.
fn print_coordinate(f: &mut fmt::Formatter<'_>, coordinate: &Coordinate) -> fmt::Result {
    let (operator, a, b) = match coordinate {
        Coordinate::Mode(mode) => return write!(f, " i{mode}"),
        Coordinate::Constant(value) => return write!(f, " {value}"),
        Coordinate::Extent(mode) => return write!(f, " extent i{mode}"),
        Coordinate::Interleave(parts) => {
            write!(f, " interleave {}", parts.len())?;
            return parts.iter().try_for_each(|part| print_coordinate(f, part));
        }
        Coordinate::Add(a, b) => ('+', a, b),
        Coordinate::Subtract(a, b) => ('-', a, b),
        Coordinate::Multiply(a, b) => ('*', a, b),
        Coordinate::Divide(a, b) => ('/', a, b),
        Coordinate::Remainder(a, b) => ('%', a, b),
    };
    write!(f, " {operator}")?;
    print_coordinate(f, a)?;
    print_coordinate(f, b)
}

pub(super) fn parse(text: &[u8]) -> Result<Header, ReadError> {
    let text = std::str::from_utf8(text).map_err(|_| wrong("the header is not text".to_owned()))?;
    let mut lines = text.lines().peekable();
    let mut line = |key: &str| {
        let line = lines.next().unwrap_or_default();
        line.strip_prefix(key).ok_or_else(|| unexpected(line, key))
    };
    let element = line("element ")?;
    let element = ElementType::ALL.into_iter().find(|candidate| candidate.name() == element);
    let element = element.ok_or_else(|| wrong("the header has an unknown element type".to_owned()))?;
    let shape = line("shape")?;
    let extents = shape.split_whitespace().map(str::parse).collect::<Result<Vec<usize>, _>>();
    let shape = extents.map_err(|_| unexpected(shape, "extents"))?;
    let fill = match lines.next_if(|line| line.starts_with("fill ")) {
        Some(line) => fill(&line["fill ".len()..], element).ok_or_else(|| unexpected(line, "a fill value"))?,
        None => element.zero(),
    };
    let named = |line: &str| SymmetryKind::ALL.into_iter().find(|kind| line.split(' ').next() == Some(kind.name()));
    let symmetry = match lines.next_if(|line| named(line).is_some()) {
        Some(line) => Some(symmetry(line, shape.len()).ok_or_else(|| unexpected(line, "two modes or more, in order"))?),
        None => None,
    };
    let levels = lines.map(|line| level(line).ok_or_else(|| unexpected(line, "a level")));
    let levels = levels.collect::<Result<_, _>>()?;
    Ok(Header { element, fill, format: Format { order: shape.len(), levels, symmetry }, shape })
}

/// `symmetric 0 1`
fn symmetry(line: &str, order: usize) -> Option<Symmetry> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    let kind = SymmetryKind::ALL.into_iter().find(|candidate| candidate.name() == kind)?;
    let modes = words.map(str::parse).collect::<Result<Vec<usize>, _>>().ok()?;
    let is_valid =
        modes.len() > 1 && modes.is_sorted_by(|one, next| one < next) && modes.iter().all(|&mode| mode < order);
    is_valid.then_some(Symmetry { kind, modes })
}

fn fill(text: &str, element: ElementType) -> Option<Literal> {
    let fill = match element.zero() {
        Literal::Float(computed, _) => Literal::Float(computed, text.parse().ok()?),
        Literal::Integer(..) => Literal::Integer(element, text.parse().ok()?),
    };
    let is_stored = !matches!(fill, Literal::Float(_, value) if element.stored(value).to_bits() != value.to_bits());
    (is_stored && fill.is_exact()).then_some(fill)
}

fn level(line: &str) -> Option<Level> {
    let mut words = line.split_whitespace();
    if words.next()? != "level" {
        return None;
    }
    let coordinate = coordinate(&mut words, DEPTH)?;
    let kind = level::named(words.next()?)?;
    let unique = match words.next()? {
        "unique" => true,
        "nonunique" => false,
        _ => return None,
    };
    let ordered = words.next()?;
    let (order, _) = *ORDERS.iter().find(|(_, word)| *word == ordered)?;
    let (coordinates, positions) = (width(words.next()?)?, width(words.next()?)?);
    let number = words.next().map(str::parse).transpose().ok()?;
    let mut format = LevelFormat::new(kind).with_unique(unique).with_order(order);
    format = format.with_coordinates(coordinates).with_positions(positions);
    format = number.map_or(format, |number| format.with_count(number));
    // What such a level does not take must be what it is anyway; widths of arrays that it has not mean nothing.
    let has_width = |role: Role, width| kind.array(role).is_none() || format.width(role) == width;
    let is_taken = (format.unique(), format.order(), format.count()) == (unique, order, number)
        && has_width(Role::Coordinates, coordinates)
        && has_width(Role::Positions, positions)
        && format.has_sense();
    (is_taken && words.next().is_none()).then_some(Level { coordinate, format })
}

fn coordinate<'text>(words: &mut impl Iterator<Item = &'text str>, depth: usize) -> Option<Coordinate> {
    let word = words.next()?;
    let operator = match word {
        "extent" => return words.next()?.strip_prefix('i')?.parse().ok().map(Coordinate::Extent),
        "interleave" => {
            let (count, depth) = (words.next()?.parse().ok()?, depth.checked_sub(1)?);
            let parts = (0..MOST_PARTS.min(count)).map(|_| coordinate(words, depth)).collect::<Option<Vec<_>>>()?;
            return (parts.len() == count).then_some(Coordinate::Interleave(parts));
        }
        "+" => Coordinate::Add,
        "-" => Coordinate::Subtract,
        "*" => Coordinate::Multiply,
        "/" => Coordinate::Divide,
        "%" => Coordinate::Remainder,
        word => {
            return match word.strip_prefix('i') {
                Some(mode) => mode.parse().ok().map(Coordinate::Mode),
                None => word.parse().ok().map(Coordinate::Constant),
            };
        }
    };
    let depth = depth.checked_sub(1)?;
    let a = coordinate(words, depth)?;
    Some(operator(Box::new(a), Box::new(coordinate(words, depth)?)))
}

fn width(word: &str) -> Option<IndexWidth> {
    IndexWidth::ALL.into_iter().find(|width| width.name() == word)
}

fn unexpected(line: &str, expected: &str) -> ReadError {
    wrong(format!("the header has {} where it should have {}", quote(line.as_bytes()), expected.trim_end()))
}

fn wrong(message: String) -> ReadError {
    ReadError::new(ReadErrorKind::Header, message)
}
