//! Maps as data: what each level's coordinate is, which values it takes, and how the modes come back.
//!
//! A level stores its coordinate less the least that it can be, so that what is stored begins at 0. For a matrix of extents
//! `I` and `J`:
//!
//! ```text
//! level        least    extent                 stored           modes
//! i / 4        0        (I + 3) / 4            i / 4            i = (i / 4) * 4 + i % 4
//! i % 4        0        min(I, 4)              i % 4
//! j - i        1 - I    I + J - 1              j - i + I - 1    j = (j - i) + i
//! ```
//!
//! Where a block does not divide an extent, or a diagonal is shorter than others, levels have coordinates that stand for no
//! index of the tensor: **padding**. So may all coordinates of a level where the tensor has an extent of 0.
//!
//! [`Map::new`] finds the inverse by rules: what levels hold is known; of a known sum or difference with one known operand the
//! other is known; a known quotient and remainder by one divisor tell what was divided; digits of one number side by side are a
//! longer digit; what is interleaved is known from the code; and `a * n + b` tells `a` and `b` where `b` is less than `n`.

use super::number::{Number, Signed};
use super::{Coordinate, Format, interleave, mode_name};
use std::collections::HashMap;
use std::fmt;

/// The map of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// What each level stores.
    levels: Vec<Coordinate>,
    /// What gives each mode back.
    inverse: Vec<Inverse>,
    /// What must hold of a shape for the inverse to be right.
    conditions: Vec<Condition>,
}

/// A mode in terms of the levels' coordinates.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Inverse {
    /// A level's coordinate.
    Level(usize),
    /// Something made of constants and extents.
    Known(Coordinate),
    Add(Box<Inverse>, Box<Inverse>),
    Subtract(Box<Inverse>, Box<Inverse>),
    Multiply(Box<Inverse>, Coordinate),
    Divide(Box<Inverse>, Coordinate),
    Remainder(Box<Inverse>, Coordinate),
    /// One of the coordinates that are interleaved.
    Part(Box<Inverse>, Vec<Coordinate>, usize),
}

/// In `a * factor + summand`, the summand must be less than the factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The summand.
    pub summand: Coordinate,
    /// The factor.
    pub factor: Coordinate,
}

/// A mode that the levels do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unrecoverable {
    /// The mode.
    pub mode: usize,
}

/// Why a map can't be computed for the shape of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// A coordinate, or something on the way to it or back to the modes, is more than 64 bits hold.
    TooLarge {
        /// The coordinate.
        coordinate: Coordinate,
        /// The modes that it is made of, with the bits that each takes.
        modes: Vec<(usize, u32)>,
    },
    /// The digits below a factor have more values than the factor has room for.
    NoRoom {
        /// What is added, and how large it must be kept.
        condition: Condition,
        /// How many values the summand has.
        values: u64,
        /// The factor.
        room: u64,
    },
    /// A factor is zero, or less.
    NoFactor {
        /// The factor.
        factor: Coordinate,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::TooLarge { coordinate, modes } => {
                let bits: Vec<String> =
                    modes.iter().map(|(mode, bits)| format!("`{}` has {bits}", mode_name(*mode))).collect();
                let all = bits.join(", ");
                write!(
                    f,
                    "`{coordinate}` takes more than 64 bits in this shape ({all}); make it of fewer modes, and store the others in \
                     levels of their own"
                )
            }
            Unfit::NoRoom { condition: Condition { summand, factor }, values, room } => write!(
                f,
                "`{summand}` has {values} values, but its place in the sum has room for {room}; write a larger number for `{factor}`"
            ),
            Unfit::NoFactor { factor } => {
                write!(f, "the factor `{factor}` is not above zero in this shape; write a larger number for it")
            }
        }
    }
}

/// The largest that each part of a number gets: what is added, and what is subtracted.
struct Most {
    plus: u64,
    minus: u64,
}

impl Most {
    fn of(plus: u64) -> Self {
        Self { plus, minus: 0 }
    }

    fn of_parts(number: Signed<Option<u64>>) -> Option<Self> {
        let (plus, minus) = number.parts();
        Some(Self { plus: plus?, minus: minus.unwrap_or(Some(0))? })
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(Self { plus: self.plus.checked_add(other.plus)?, minus: self.minus.checked_add(other.minus)? })
    }

    fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self { plus: other.minus, minus: other.plus })
    }

    fn times(self, factor: u64) -> Option<Self> {
        Some(Self { plus: self.plus.checked_mul(factor)?, minus: self.minus.checked_mul(factor)? })
    }
}

/// The values that a coordinate takes: so many from the least on.
struct Range<N> {
    least: Signed<N>,
    extent: N,
}

impl Map {
    /// The map of a format, with its inverse.
    ///
    /// # Errors
    /// The first mode that can't be recovered.
    pub fn new(format: &Format) -> Result<Map, Unrecoverable> {
        Map::of_coordinates(format.order, format.levels.iter().map(|level| level.coordinate.clone()).collect())
    }

    fn of_coordinates(order: usize, levels: Vec<Coordinate>) -> Result<Map, Unrecoverable> {
        let mut known = Known::default();
        for (level, coordinate) in levels.iter().enumerate() {
            known.add(coordinate.canonical(), Inverse::Level(level));
        }
        known.complete();
        let mode = |mode| known.get(&Coordinate::Mode(mode)).ok_or(Unrecoverable { mode });
        let inverse = (0..order).map(mode).collect::<Result<_, _>>()?;
        Ok(Map { levels, inverse, conditions: known.conditions })
    }

    /// The extent of what each level stores in a tensor of a shape, if the map serves that: each coordinate, and all that is
    /// computed on the way from modes to levels and back, fits 64 bits. `shape` gives the extent of each mode.
    ///
    /// # Errors
    /// What the shape has no room for.
    pub fn level_extents(&self, shape: &dyn Fn(usize) -> u64) -> Result<Vec<u64>, Unfit> {
        let checked = |mode: usize| Some(shape(mode));
        let is_empty = (0..self.inverse.len()).any(|mode| shape(mode) == 0);
        let negative = self.levels.iter().find_map(|level| level.negative_factor(shape));
        let zero = || self.inverse.iter().find_map(|inverse| inverse.zero_divisor(shape)).filter(|_| !is_empty);
        if let Some(factor) = negative.or_else(zero) {
            return Err(Unfit::NoFactor { factor: factor.clone() });
        }
        for condition in &self.conditions {
            let values = condition.summand.end::<Option<u64>>(&checked).flatten();
            let room = condition.factor.number::<Option<u64>>(&checked).flatten();
            if let (Some(values), Some(room)) = (values, room)
                && values > room
            {
                return Err(Unfit::NoRoom { condition: condition.clone(), values, room });
            }
        }
        let level = |level: &Coordinate| level.checked_extent(shape).ok_or_else(|| level.too_large(shape));
        let extents: Vec<u64> = self.levels.iter().map(level).collect::<Result<_, _>>()?;
        for mode in 0..self.inverse.len() {
            let most = self.most_of(&self.inverse[mode], &extents, shape);
            // Loops compare what is added with the extent and what is subtracted.
            if most.and_then(|most| most.minus.checked_add(shape(mode))).is_none() {
                return Err(self.levels[self.levels_of(mode)[0]].too_large(shape));
            }
        }
        Ok(extents)
    }

    /// The largest that the parts of an index become on the way from levels of these extents, also at padding.
    fn most_of(&self, inverse: &Inverse, levels: &[u64], shape: &dyn Fn(usize) -> u64) -> Option<Most> {
        let checked = |mode: usize| Some(shape(mode));
        let inner = |inverse: &Inverse| self.most_of(inverse, levels, shape);
        let number = |coordinate: &Coordinate| coordinate.number::<Option<u64>>(&checked).flatten();
        match inverse {
            Inverse::Level(level) => {
                let least = Most::of_parts(self.levels[*level].range(&checked)?.least)?;
                Most::of(levels[*level].saturating_sub(1)).plus(least)
            }
            Inverse::Known(coordinate) => Most::of_parts(coordinate.known(&checked)?),
            Inverse::Add(a, b) => inner(a)?.plus(inner(b)?),
            Inverse::Subtract(a, b) => inner(a)?.minus(inner(b)?),
            Inverse::Multiply(a, factor) => inner(a)?.times(number(factor)?),
            Inverse::Divide(a, divisor) => Some(Most::of(inner(a)?.plus.divided_by(number(divisor)?))),
            Inverse::Remainder(a, divisor) => Some(Most::of(inner(a)?.plus.min(number(divisor)?.saturating_sub(1)))),
            Inverse::Part(code, parts, part) => {
                inner(code)?;
                let end = parts[*part].end::<Option<u64>>(&checked)??;
                Some(Most::of(u64::MAX.checked_shr(64 - interleave::width(end)).unwrap_or(0)))
            }
        }
    }

    /// The extent of what a level stores. `extents` gives the extent of each mode. `None` where it can't be computed.
    pub fn extent<N: Number>(&self, level: usize, extents: &dyn Fn(usize) -> N) -> Option<N> {
        Some(self.levels[level].range(extents)?.extent)
    }

    /// What a level stores for an entry. `modes` gives its index in each mode.
    pub fn stored<N: Number>(
        &self,
        level: usize,
        modes: &dyn Fn(usize) -> N,
        extents: &dyn Fn(usize) -> N,
    ) -> Option<N> {
        let value = self.levels[level].value(modes, extents)?;
        Some(value.minus(self.levels[level].range(extents)?.least).number())
    }

    /// The index in a mode of an entry. `stored` gives what each level stores. At padding, this is any number.
    pub fn mode<N: Number>(&self, mode: usize, stored: &dyn Fn(usize) -> N, extents: &dyn Fn(usize) -> N) -> Option<N> {
        Some(self.inverse(&self.inverse[mode], stored, extents)?.number())
    }

    /// The same as a number from which another is subtracted. At padding, the second may be the larger one.
    pub fn mode_parts<N: Number>(
        &self,
        mode: usize,
        stored: &dyn Fn(usize) -> N,
        extents: &dyn Fn(usize) -> N,
    ) -> Option<(N, Option<N>)> {
        Some(self.inverse(&self.inverse[mode], stored, extents)?.parts())
    }

    /// The levels that tell a mode, outermost first.
    pub fn levels_of(&self, mode: usize) -> Vec<usize> {
        let mut levels = Vec::new();
        self.inverse[mode].for_each_level(&mut |level| levels.push(level));
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    fn inverse<N: Number>(
        &self,
        inverse: &Inverse,
        stored: &dyn Fn(usize) -> N,
        extents: &dyn Fn(usize) -> N,
    ) -> Option<Signed<N>> {
        let inner = |inverse: &Inverse| self.inverse(inverse, stored, extents);
        Some(match inverse {
            Inverse::Level(level) => Signed::of(stored(*level)).plus(self.levels[*level].range(extents)?.least),
            Inverse::Known(coordinate) => coordinate.known(extents)?,
            Inverse::Add(a, b) => inner(a)?.plus(inner(b)?),
            Inverse::Subtract(a, b) => inner(a)?.minus(inner(b)?),
            Inverse::Multiply(a, factor) => inner(a)?.times(factor.number(extents)?),
            Inverse::Divide(a, divisor) => Signed::of(inner(a)?.number().divided_by(divisor.number(extents)?)),
            Inverse::Remainder(a, divisor) => Signed::of(inner(a)?.number().remainder(divisor.number(extents)?)),
            Inverse::Part(code, parts, part) => {
                let extents: Vec<N> = parts.iter().map(|part| part.end(extents)).collect::<Option<_>>()?;
                Signed::of(inner(code)?.number().part(&extents, *part)?)
            }
        })
    }
}

impl Inverse {
    /// Something that it divides by, and that is zero in this shape.
    fn zero_divisor(&self, shape: &dyn Fn(usize) -> u64) -> Option<&Coordinate> {
        match self {
            Inverse::Level(_) | Inverse::Known(_) => None,
            Inverse::Add(a, b) | Inverse::Subtract(a, b) => a.zero_divisor(shape).or_else(|| b.zero_divisor(shape)),
            Inverse::Multiply(a, _) | Inverse::Part(a, ..) => a.zero_divisor(shape),
            Inverse::Divide(a, divisor) | Inverse::Remainder(a, divisor) => {
                let is_zero = divisor.number::<u64>(shape) == Some(0);
                if is_zero { Some(divisor) } else { a.zero_divisor(shape) }
            }
        }
    }

    fn for_each_level(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Inverse::Level(level) => visit(*level),
            Inverse::Known(_) => {}
            Inverse::Add(a, b) | Inverse::Subtract(a, b) => {
                a.for_each_level(visit);
                b.for_each_level(visit);
            }
            Inverse::Multiply(a, _) | Inverse::Divide(a, _) | Inverse::Remainder(a, _) | Inverse::Part(a, ..) => {
                a.for_each_level(visit);
            }
        }
    }
}

impl Coordinate {
    /// How many values it takes, where all that it is made of fits 64 bits.
    fn checked_extent(&self, shape: &dyn Fn(usize) -> u64) -> Option<u64> {
        let Range { least, extent } = self.range::<Option<u64>>(&|mode| Some(shape(mode)))?;
        // What is stored is the value less the least.
        self.most(shape)?.minus(Most::of_parts(least)?)?;
        extent
    }

    /// The largest that the parts of its value get.
    fn most(&self, shape: &dyn Fn(usize) -> u64) -> Option<Most> {
        let checked = |mode: usize| Some(shape(mode));
        let inner = |coordinate: &Coordinate| coordinate.most(shape);
        let number = |coordinate: &Coordinate| coordinate.number::<Option<u64>>(&checked).flatten();
        match self {
            Coordinate::Mode(mode) => Some(Most::of(shape(*mode).saturating_sub(1))),
            Coordinate::Constant(_) | Coordinate::Extent(_) => number(self).map(Most::of),
            Coordinate::Add(a, b) => inner(a)?.plus(inner(b)?),
            Coordinate::Subtract(a, b) => inner(a)?.minus(inner(b)?),
            Coordinate::Multiply(a, b) if a.is_known() => inner(b)?.times(number(a)?),
            Coordinate::Multiply(a, b) => inner(a)?.times(number(b)?),
            Coordinate::Divide(a, b) => Some(Most::of(inner(a)?.plus.divided_by(number(b)?))),
            Coordinate::Remainder(a, b) => Some(Most::of(inner(a)?.plus.min(number(b)?.saturating_sub(1)))),
            Coordinate::Interleave(parts) => {
                parts.iter().try_for_each(|part| inner(part).map(|_| ()))?;
                self.range::<Option<u64>>(&checked)?.extent.map(Most::of)
            }
        }
    }

    /// A factor in it that is less than zero.
    fn negative_factor(&self, shape: &dyn Fn(usize) -> u64) -> Option<&Coordinate> {
        match self {
            Coordinate::Mode(_) | Coordinate::Constant(_) | Coordinate::Extent(_) => None,
            Coordinate::Multiply(a, b) => {
                let (factor, other) = if a.is_known() { (a, b) } else { (b, a) };
                let (plus, minus) = factor.known(&|mode| Some(shape(mode)))?.parts();
                let is_negative = plus < minus.unwrap_or(Some(0));
                if is_negative { Some(factor) } else { other.negative_factor(shape) }
            }
            Coordinate::Add(a, b)
            | Coordinate::Subtract(a, b)
            | Coordinate::Divide(a, b)
            | Coordinate::Remainder(a, b) => a.negative_factor(shape).or_else(|| b.negative_factor(shape)),
            Coordinate::Interleave(parts) => parts.iter().find_map(|part| part.negative_factor(shape)),
        }
    }

    fn too_large(&self, shape: &dyn Fn(usize) -> u64) -> Unfit {
        let mut modes = Vec::new();
        self.for_each_mode(&mut |mode| modes.push(mode));
        modes.sort_unstable();
        modes.dedup();
        let modes = modes.into_iter().map(|mode| (mode, interleave::width(shape(mode)))).collect();
        Unfit::TooLarge { coordinate: self.clone(), modes }
    }

    /// Its value for an entry.
    fn value<N: Number>(&self, modes: &dyn Fn(usize) -> N, extents: &dyn Fn(usize) -> N) -> Option<Signed<N>> {
        let inner = |coordinate: &Coordinate| coordinate.value(modes, extents);
        Some(match self {
            Coordinate::Mode(mode) => Signed::of(modes(*mode)),
            Coordinate::Constant(_) | Coordinate::Extent(_) => Signed::of(self.number(extents)?),
            Coordinate::Add(a, b) => inner(a)?.plus(inner(b)?),
            Coordinate::Subtract(a, b) => inner(a)?.minus(inner(b)?),
            Coordinate::Multiply(a, b) if a.is_known() => inner(b)?.times(a.number(extents)?),
            Coordinate::Multiply(a, b) => inner(a)?.times(b.number(extents)?),
            Coordinate::Divide(a, b) => Signed::of(inner(a)?.number().divided_by(b.number(extents)?)),
            Coordinate::Remainder(a, b) => Signed::of(inner(a)?.number().remainder(b.number(extents)?)),
            Coordinate::Interleave(parts) => {
                let part = |part: &Coordinate| Some((inner(part)?.number(), part.end(extents)?));
                Signed::of(N::interleave(&parts.iter().map(part).collect::<Option<Vec<_>>>()?)?)
            }
        })
    }

    /// Its value, where that is made of constants and extents alone.
    pub fn number<N: Number>(&self, extents: &dyn Fn(usize) -> N) -> Option<N> {
        match self {
            Coordinate::Constant(value) => Some(N::constant(*value)),
            Coordinate::Extent(mode) => Some(extents(*mode)),
            _ if self.is_known() => Some(self.known(extents)?.number()),
            _ => None,
        }
    }

    /// The value of what is made of constants and extents alone.
    fn known<N: Number>(&self, extents: &dyn Fn(usize) -> N) -> Option<Signed<N>> {
        self.value(&|_| unreachable!("what is known mentions no mode"), extents)
    }

    /// One more than the largest value of a coordinate that is never less than zero.
    pub fn end<N: Number>(&self, extents: &dyn Fn(usize) -> N) -> Option<N> {
        let Range { least, extent } = self.range(extents)?;
        Some(least.plus(Signed::of(extent)).number())
    }

    /// The values that it takes; more where the tensor has an extent of 0.
    fn range<N: Number>(&self, extents: &dyn Fn(usize) -> N) -> Option<Range<N>> {
        let inner = |coordinate: &Coordinate| coordinate.range(extents);
        let one = || N::constant(1);
        let from_zero = |extent| Range { least: Signed::zero(), extent };
        Some(match self {
            Coordinate::Mode(mode) => from_zero(extents(*mode)),
            known if known.is_known() => Range { least: known.known(extents)?, extent: one() },
            Coordinate::Constant(_) | Coordinate::Extent(_) => unreachable!("constants and extents are known"),
            Coordinate::Add(a, b) => {
                let (a, b) = (inner(a)?, inner(b)?);
                Range { least: a.least.plus(b.least), extent: a.extent.plus(b.extent).minus(one()) }
            }
            Coordinate::Subtract(a, b) => {
                let (a, b) = (inner(a)?, inner(b)?);
                let largest = b.least.plus(Signed::of(b.extent.clone())).minus(Signed::of(one()));
                Range { least: a.least.minus(largest), extent: a.extent.plus(b.extent).minus(one()) }
            }
            Coordinate::Multiply(a, b) => {
                let (factor, other) = if a.is_known() { (a, b) } else { (b, a) };
                let (factor, other) = (factor.number(extents)?, inner(other)?);
                let extent = other.extent.minus(one()).times(factor.clone()).plus(one());
                Range { least: other.least.times(factor), extent }
            }
            Coordinate::Divide(a, b) => {
                let divisor: N = b.number(extents)?;
                from_zero(a.end(extents)?.plus(divisor.clone()).minus(one()).divided_by(divisor))
            }
            // Blocks are whole, also in a short mode: loops in them have a known length.
            Coordinate::Remainder(_, b) => from_zero(b.number(extents)?),
            Coordinate::Interleave(parts) => {
                let part = |part: &Coordinate| {
                    let end: N = part.end(extents)?;
                    let largest = end.clone().minus(end.clone().minimum(one()));
                    Some((largest, end))
                };
                from_zero(N::interleave(&parts.iter().map(part).collect::<Option<Vec<_>>>()?)?.plus(one()))
            }
        })
    }

    /// Whether it is made of constants and extents alone.
    pub fn is_known(&self) -> bool {
        let mut known = true;
        self.for_each_mode(&mut |_| known = false);
        known
    }

    /// Whether it may be less than zero.
    pub fn may_be_negative(&self) -> bool {
        match self {
            Coordinate::Subtract(..) => true,
            Coordinate::Add(a, b) | Coordinate::Multiply(a, b) => a.may_be_negative() || b.may_be_negative(),
            _ => false,
        }
    }

    /// The same value, with digits written in one way: `(x / a) % b`, where `x` is neither a quotient nor a remainder by what
    /// fits.
    fn canonical(&self) -> Coordinate {
        let both = |a: &Coordinate, b: &Coordinate| (Box::new(a.canonical()), Box::new(b.canonical()));
        match self {
            Coordinate::Mode(_) | Coordinate::Constant(_) | Coordinate::Extent(_) => self.clone(),
            Coordinate::Add(a, b) => {
                let (a, b) = both(a, b);
                Coordinate::Add(a, b)
            }
            Coordinate::Subtract(a, b) => {
                let (a, b) = both(a, b);
                Coordinate::Subtract(a, b)
            }
            // The factor comes second.
            Coordinate::Multiply(a, b) => match both(a, b) {
                (a, b) if a.is_known() => Coordinate::Multiply(b, a),
                (a, b) => Coordinate::Multiply(a, b),
            },
            Coordinate::Divide(a, b) => quotient(a.canonical(), b.canonical()),
            Coordinate::Remainder(a, b) => digit(a.canonical(), b.canonical()),
            Coordinate::Interleave(parts) => Coordinate::Interleave(parts.iter().map(Coordinate::canonical).collect()),
        }
    }
}

/// `a / b` of canonical coordinates.
fn quotient(a: Coordinate, b: Coordinate) -> Coordinate {
    use Coordinate::{Constant, Divide, Remainder};
    match (&a, &b) {
        (_, Constant(1)) => a,
        (Divide(x, c), Constant(b)) if product(c, *b).is_some() => {
            quotient((**x).clone(), Constant(product(c, *b).unwrap_or_default()))
        }
        (Remainder(x, c), Constant(b)) if whole_quotient(c, *b).is_some() => {
            digit(quotient((**x).clone(), Constant(*b)), Constant(whole_quotient(c, *b).unwrap_or_default()))
        }
        _ => Divide(Box::new(a), Box::new(b)),
    }
}

/// `a % b` of canonical coordinates.
fn digit(a: Coordinate, b: Coordinate) -> Coordinate {
    use Coordinate::{Constant, Remainder};
    match (&a, &b) {
        (_, Constant(1)) => Constant(0),
        (Remainder(x, c), Constant(divisor)) if whole_quotient(c, *divisor).is_some() => digit((**x).clone(), b),
        _ => Remainder(Box::new(a), Box::new(b)),
    }
}

/// `a * b`, where it is a constant that fits.
fn product(a: &Coordinate, b: u64) -> Option<u64> {
    if let Coordinate::Constant(a) = a { a.checked_mul(b) } else { None }
}

/// `a / b`, where it is a constant and nothing is left.
fn whole_quotient(a: &Coordinate, b: u64) -> Option<u64> {
    if let Coordinate::Constant(a) = a { (a.checked_rem(b)? == 0).then_some(a / b) } else { None }
}

/// What is known of an entry from what levels store, in canonical form.
#[derive(Default)]
struct Known {
    facts: Vec<(Coordinate, Inverse)>,
    /// The place of each coordinate among the facts.
    places: HashMap<Coordinate, usize>,
    conditions: Vec<Condition>,
}

impl Known {
    fn get(&self, coordinate: &Coordinate) -> Option<Inverse> {
        if coordinate.is_known() {
            return Some(Inverse::Known(coordinate.clone()));
        }
        self.places.get(coordinate).map(|&place| self.facts[place].1.clone())
    }

    fn has(&self, coordinate: &Coordinate) -> bool {
        self.places.contains_key(coordinate) || coordinate.is_known()
    }

    /// Whether this was not known before.
    fn add(&mut self, coordinate: Coordinate, inverse: Inverse) -> bool {
        let is_new = !self.has(&coordinate);
        if is_new {
            self.places.insert(coordinate.clone(), self.facts.len());
            self.facts.push((coordinate, inverse));
        }
        is_new
    }

    /// Adds all that follows.
    fn complete(&mut self) {
        loop {
            let follows: Vec<(Coordinate, Inverse)> = self.facts.iter().flat_map(|fact| self.follows(fact)).collect();
            let mut any = false;
            for (coordinate, inverse) in follows {
                any |= self.add(coordinate, inverse);
            }
            // What holds on a condition is the last resort.
            if !any && !self.take_sums_apart() {
                return;
            }
        }
    }

    /// What follows from one fact and all others.
    fn follows(&self, (coordinate, inverse): &(Coordinate, Inverse)) -> Vec<(Coordinate, Inverse)> {
        let inverse = || Box::new(inverse.clone());
        match coordinate {
            Coordinate::Add(a, b) => {
                let given = |known: &Coordinate, other: &Coordinate| {
                    let known = if self.has(other) { return None } else { Box::new(self.get(known)?) };
                    Some((other.clone(), Inverse::Subtract(inverse(), known)))
                };
                given(a, b).into_iter().chain(given(b, a)).collect()
            }
            Coordinate::Subtract(a, b) => {
                let first = self.get(b).map(|b| ((**a).clone(), Inverse::Add(inverse(), Box::new(b))));
                let second = self.get(a).map(|a| ((**b).clone(), Inverse::Subtract(Box::new(a), inverse())));
                first.into_iter().chain(second).collect()
            }
            Coordinate::Multiply(x, factor)
                if factor.is_known() && **factor != Coordinate::Constant(0) && !self.has(x) =>
            {
                vec![((**x).clone(), Inverse::Divide(inverse(), (**factor).clone()))]
            }
            Coordinate::Interleave(parts) => {
                let part = |part: usize| (parts[part].clone(), Inverse::Part(inverse(), parts.clone(), part));
                (0..parts.len()).map(part).collect()
            }
            Coordinate::Remainder(x, divisor) => self.longer_digits(x, divisor, &inverse()),
            _ => Vec::new(),
        }
    }

    /// What follows from `x % divisor` and another digit of `x`.
    fn longer_digits(&self, x: &Coordinate, divisor: &Coordinate, low: &Inverse) -> Vec<(Coordinate, Inverse)> {
        let joined = |high: Inverse| {
            let shifted = Box::new(Inverse::Multiply(Box::new(high), divisor.clone()));
            Inverse::Add(shifted, Box::new(low.clone()))
        };
        let above = quotient(x.clone(), divisor.clone());
        let whole = self.get(&above).map(|high| (x.clone(), joined(high)));
        let longer = self.facts.iter().filter_map(|(fact, high)| match (fact, divisor) {
            (Coordinate::Remainder(other, more), Coordinate::Constant(low)) if **other == above => match **more {
                Coordinate::Constant(more) => {
                    let both = Coordinate::Constant(low.checked_mul(more)?);
                    Some((digit(x.clone(), both), joined(high.clone())))
                }
                _ => None,
            },
            _ => None,
        });
        whole.into_iter().chain(longer).collect()
    }

    /// Takes `a * n + b` apart. Says whether something new is known.
    fn take_sums_apart(&mut self) -> bool {
        for place in 0..self.facts.len() {
            let (Coordinate::Add(left, right), inverse) = &self.facts[place] else { continue };
            let (left, right) = (left.clone(), right.clone());
            if self.has(&left) && self.has(&right) {
                continue;
            }
            let inverse = inverse.clone();
            let (product, summand) = match (&*left, &*right) {
                (Coordinate::Multiply(a, n), summand) | (summand, Coordinate::Multiply(a, n)) => ((a, n), summand),
                _ => continue,
            };
            let (a, factor) = product;
            if !factor.is_known() || **factor == Coordinate::Constant(0) || summand.may_be_negative() {
                continue;
            }
            let first = self.add((**a).clone(), Inverse::Divide(Box::new(inverse.clone()), (**factor).clone()));
            let second = self.add(summand.clone(), Inverse::Remainder(Box::new(inverse), (**factor).clone()));
            if first || second {
                self.conditions.push(Condition { summand: summand.clone(), factor: (**factor).clone() });
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::resolve::{Definitions, resolve};
    use crate::syntax::parse_format;

    fn format(text: &str, order: usize) -> Format {
        resolve(&parse_format(text).expect(text), order, &Definitions::prelude()).expect(text)
    }

    fn indices(shape: &[u64]) -> Vec<Vec<u64>> {
        shape.iter().fold(vec![Vec::new()], |indices, &extent| {
            indices.iter().flat_map(|index| (0..extent).map(move |next| [&index[..], &[next]].concat())).collect()
        })
    }

    /// Every index of every shape goes through the levels and comes back, each to a place of its own.
    fn assert_inverts(text: &str, shapes: &[&[u64]]) {
        for shape in shapes {
            let map = Map::new(&format(text, shape.len())).expect(text);
            let extents = |mode: usize| shape[mode];
            let mut seen = std::collections::BTreeSet::new();
            for index in indices(shape) {
                let stored: Vec<u64> = (0..map.levels.len())
                    .map(|level| map.stored(level, &|mode| index[mode], &extents).unwrap())
                    .collect();
                for (level, &stored) in stored.iter().enumerate() {
                    let extent = map.extent(level, &extents).unwrap();
                    assert!(stored < extent, "{text} {shape:?} {index:?}: {stored} of {extent} in level {level}");
                }
                let back: Vec<u64> =
                    (0..shape.len()).map(|mode| map.mode(mode, &|level| stored[level], &extents).unwrap()).collect();
                assert_eq!(back, index, "{text} {shape:?} {stored:?}");
                assert!(seen.insert(stored), "{text}: two at one place");
            }
        }
    }

    #[test]
    fn modes_come_back_from_what_levels_store() {
        let matrices: &[&[u64]] = &[&[5, 7], &[8, 8], &[1, 9], &[9, 1], &[1, 1], &[3, 0], &[17, 4]];
        for text in [
            "(i, j) -> [j: dense, i: compressed]",
            "(i, j) -> [i / 4: dense, j / 3: compressed, i % 4: dense, j % 3: dense]",
            "(i, j) -> [j - i: compressed, i: dense]",
            "(i, j) -> [j - i: compressed, j: dense]",
            "(i, j) -> [i + j: compressed, i: dense]",
            "(i, j) -> [i - 3: dense, 2 * j + 1: dense]",
            "(i, j) -> [i * extent(j) + j: compressed]",
            "(i, j) -> [j + 16 * i: compressed]",
            "(i, j) -> [linear(j, i): compressed]",
            "(i, j) -> [interleave(i, j): compressed]",
            "(i, j) -> [interleave(i / 2, j / 2): compressed, linear(i % 2, j % 2): dense]",
            "(i, j) -> [i / 12: dense, j: compressed, (i / 4) % 3: dense, i % 4: dense]",
            "(i, j) -> [(i / 4) / 2: dense, j: compressed, (i / 4) % 2: dense, i % 4: dense]",
            "(i, j) -> [i / 8: dense, j: compressed, (i % 8) / 4: dense, (i % 8) % 4: dense]",
            "(i, j) -> [i / 5: dense, j: compressed, (i % 5) / 4: dense, (i % 5) % 4: dense]",
            "(i, j) -> [i % 5: dense, j: compressed, i / 5: dense]",
            "(i, j) -> [(i + j) / 4: dense, (i + j) % 4: dense, i: compressed]",
        ] {
            assert_inverts(text, matrices);
        }
        let tensors: &[&[u64]] = &[&[5, 3, 4], &[1, 1, 1], &[16, 1, 3], &[2, 9, 2], &[0, 2, 2]];
        for text in [
            "hicoo(4)",
            "(i...) -> [interleave(i): compressed]",
            "(i...) -> [linear(i): compressed]",
            "(i, j, k) -> [interleave(i, k): compressed, j: compressed]",
            "(i, j, k) -> [k - i: compressed, k - j: compressed, k: compressed]",
        ] {
            assert_inverts(text, tensors);
        }
    }

    #[test]
    fn extents_cover_blocks_and_diagonals_exactly() {
        let extents = |text: &str, shape: &[u64]| {
            let format = format(text, shape.len());
            let map = Map::new(&format).unwrap();
            (0..format.levels.len()).map(|level| map.extent(level, &|mode| shape[mode]).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(extents("bcsr(4)", &[9, 3]), [3, 1, 4, 4]);
        assert_eq!(extents("(i, j) -> [j - i: dense, i: dense]", &[5, 7]), [11, 5]);
        assert_eq!(extents("(i, j) -> [linear(i, j): dense]", &[5, 7]), [35]);
        assert_eq!(extents("(i, j) -> [interleave(i, j): dense]", &[4, 4]), [16]);
        assert_eq!(extents("(i, j) -> [i - 3: dense, 2 * j + 1: dense]", &[4, 4]), [4, 7]);
    }

    #[test]
    fn what_depends_on_the_shape_is_a_condition() {
        let conditions = |text| Map::new(&format(text, 2)).unwrap().conditions.len();
        assert_eq!(conditions("(i, j) -> [16 * i + j: compressed]"), 1);
        assert_eq!(conditions("(i, j) -> [2 * i + j: compressed, j: dense]"), 0);
    }
    /// What a coordinate is for an index, in numbers that are long enough.
    fn exact(coordinate: &Coordinate, index: &[u64], shape: &[u64]) -> i128 {
        let inner = |coordinate: &Coordinate| exact(coordinate, index, shape);
        match coordinate {
            Coordinate::Mode(mode) => i128::from(index[*mode]),
            Coordinate::Constant(value) => i128::from(*value),
            Coordinate::Extent(mode) => i128::from(shape[*mode]),
            Coordinate::Add(a, b) => inner(a).saturating_add(inner(b)),
            Coordinate::Subtract(a, b) => inner(a).saturating_sub(inner(b)),
            Coordinate::Multiply(a, b) => inner(a).saturating_mul(inner(b)),
            Coordinate::Divide(a, b) => inner(a) / inner(b),
            Coordinate::Remainder(a, b) => inner(a) % inner(b),
            Coordinate::Interleave(_) => unreachable!("not tested here"),
        }
    }

    #[test]
    fn shapes_that_a_map_serves_are_stored_exactly_and_come_back() {
        let texts = [
            "(i, j) -> [linear(i, j): dense]",
            "(i, j) -> [i * 4294967296 + j: dense]",
            "(i, j) -> [j - i: dense, i: dense]",
            "(i, j) -> [i * 3 - j: dense, j: dense]",
            "(i, j) -> [i * 1099511627776 * 1073741824 / 1152921504606846976: dense, i: dense, j: dense]",
            "(i, j) -> [i + 18446744073709551615: dense, j: dense]",
            "(i, j) -> [18446744073709551615 - i: dense, j: dense]",
            "(i, j) -> [i / 4: dense, i % 4: dense, j: dense]",
            "(i, j) -> [i * (extent(j) - 5) : dense, j: dense]",
            "(i, j) -> [extent(i) - extent(j) + i: dense, j: dense]",
            "(i, j) -> [i * 9223372036854775808 + j: dense]",
        ];
        let extents = [
            1,
            2,
            3,
            5,
            6,
            70,
            65_535,
            1 << 31,
            (1 << 32) - 1,
            1 << 32,
            (1 << 32) + 1,
            1 << 62,
            1 << 63,
            u64::MAX - 3,
            u64::MAX,
        ];
        let (mut served, mut refused) = (0, 0);
        for text in texts {
            let map = Map::new(&format(text, 2)).expect(text);
            for shape in extents.iter().flat_map(|&rows| extents.map(|columns| [rows, columns])) {
                let extent = |mode: usize| shape[mode];
                let Ok(levels) = map.level_extents(&extent) else {
                    refused += 1;
                    continue;
                };
                served += 1;
                let ends =
                    |mode: usize| [0, 1, shape[mode] / 2, shape[mode] - 1].map(|index| index.min(shape[mode] - 1));
                let corners = ends(0).into_iter().flat_map(|i| ends(1).map(|j| [i, j]));
                let first: Vec<u64> =
                    (0..levels.len()).map(|level| map.stored(level, &|_| 0, &extent).unwrap()).collect();
                for index in corners {
                    let stored: Vec<u64> = (0..levels.len())
                        .map(|level| map.stored(level, &|mode| index[mode], &extent).unwrap())
                        .collect();
                    for (level, coordinate) in map.levels.iter().enumerate() {
                        let offset = exact(coordinate, &index, &shape) - exact(coordinate, &[0, 0], &shape);
                        assert_eq!(i128::from(stored[level]) - i128::from(first[level]), offset, "{text} {shape:?}");
                        assert!(stored[level] < levels[level], "{text} {shape:?}");
                    }
                    for (mode, &expected) in index.iter().enumerate() {
                        assert_eq!(map.mode(mode, &|level| stored[level], &extent), Some(expected), "{text} {shape:?}");
                    }
                }
            }
        }
        assert!(served > 300 && refused > 300, "{served} served, {refused} refused");
    }

    #[test]
    fn what_a_shape_has_no_room_for_is_named() {
        let refusal = |text: &str, shape: &[u64]| {
            let map = Map::new(&format(text, shape.len())).unwrap();
            map.level_extents(&|mode| shape[mode]).unwrap_err().to_string()
        };
        assert_eq!(
            refusal("(i...) -> [linear(i): compressed(u64)]", &[532_924, 17_262_471, 2_480_308, 1443]),
            "`(((((i * extent(j)) + j) * extent(k)) + k) * extent(l)) + l` takes more than 64 bits in this shape (`i` has 20, \
             `j` has 25, `k` has 22, `l` has 11); make it of fewer modes, and store the others in levels of their own"
        );
        assert!(refusal("(i, j, k) -> [linear(i, k): dense, j: dense]", &[1 << 33, 2, 1 << 33]).contains("`k` has 33"));
        assert!(refusal("(i, j) -> [16 * i + j: dense]", &[4, 17]).contains("has 17 values"));
        assert!(refusal("(i, j) -> [i * (2 - 5): dense, j: dense]", &[4, 4]).contains("`2 - 5` is not above zero"));
        assert!(refusal("(i, j) -> [i * (extent(j) - 3): dense, j: dense]", &[4, 3]).contains("not above zero"));
    }
}
