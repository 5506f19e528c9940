//! Random computed indices: `B0(2 * i + k, 3)`, `B1(i, i)`, `B2(3..5)`.
//!
//! A computed index has a number as index variables have, so that accesses are lists of numbers. Its value never lies outside of its
//! mode: constants and extents are chosen for that.

use super::Program;
use crate::data::Random;
use spc_compiler::ir::{Affine, IndexExpr, IndexOperator};

/// Computed indices are numbered from here.
const COMPUTED: usize = 100;
/// The variables of windows are numbered from here.
const WINDOWS: usize = 200;

/// What a computed index is made of.
type Value = IndexExpr<usize>;

/// The computed indices of a program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Indices {
    computed: Vec<Computed>,
    /// The lengths of the first and the second window of every access.
    windows: [usize; 2],
    /// How often an index is computed.
    share: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct Computed {
    value: Value,
    /// How much longer its mode is than it must be.
    room: usize,
}

impl Indices {
    /// None: every index is a variable.
    pub(super) fn none() -> Self {
        Indices { computed: Vec::new(), windows: [1, 1], share: 0.0 }
    }

    pub(super) fn random(random: &mut Random) -> Self {
        let share = *random.choose(&[0.0, 0.0, 0.3, 0.6]);
        Indices { computed: Vec::new(), windows: [random.below(5), 1 + random.below(4)], share }
    }

    /// The extent of an index, where those of variables are given.
    pub(super) fn extent(&self, index: usize, extents: &dyn Fn(usize) -> usize) -> usize {
        let Some(computed) = index.checked_sub(COMPUTED) else { return extents(index) };
        let Computed { value, room } = &self.computed[computed];
        let extent = |variable: &usize| self.extent_inside(*variable, extents);
        if value.variables().iter().any(|variable| extent(variable) == 0) {
            return *room;
        }
        let (_, greatest) = range(value, &extent);
        usize::try_from(greatest).expect("indices are small") + 1 + room
    }

    /// The extent of a variable that a computed index is made of.
    fn extent_inside(&self, variable: usize, extents: &dyn Fn(usize) -> usize) -> usize {
        variable.checked_sub(WINDOWS).map_or_else(|| extents(variable), |window| self.windows[window])
    }

    /// The text of an index, where the names of variables are given.
    pub(super) fn text(&self, index: usize, name: &dyn Fn(usize) -> String) -> String {
        let Some(computed) = index.checked_sub(COMPUTED) else { return name(index) };
        let value = &self.computed[computed].value;
        match window(value) {
            Some((window, begin)) => format!("{begin}..{}", begin as usize + self.windows[window]),
            None => value.show(&|&variable| name(variable)).to_string(),
        }
    }

    /// Whether the mode of an index is longer than the index needs.
    pub(super) fn has_room(&self, index: usize) -> bool {
        index.checked_sub(COMPUTED).is_some_and(|computed| self.computed[computed].room > 0)
    }

    /// Whether several values meet in one element of a target with these indices.
    pub(super) fn meet(&self, target: &[usize]) -> bool {
        let value = |index: usize| index.checked_sub(COMPUTED).map(|computed| &self.computed[computed].value);
        target.iter().any(|&index| value(index).is_some_and(|value| !value.tells_apart(&|one, other| one == other)))
    }

    /// Whether any index may be computed.
    pub(super) fn compute(&self) -> bool {
        self.share > 0.0
    }

    /// Now and then, makes indices computed that run over no more than the variables in their place.
    pub(super) fn vary_within(&mut self, indices: &mut [usize], extents: &dyn Fn(usize) -> usize, random: &mut Random) {
        for index in indices.iter_mut().filter(|index| **index < COMPUTED) {
            let (extent, variable) = (extents(*index), IndexExpr::Variable(*index));
            if extent == 0 || !random.chance(0.6) {
                continue;
            }
            let (value, needed) = match random.below(4) {
                0 => (IndexExpr::binary(IndexOperator::Subtract, number(extent - 1), variable), extent),
                1 => (IndexExpr::binary(IndexOperator::Divide, variable, number(2)), extent.div_ceil(2)),
                2 => (IndexExpr::binary(IndexOperator::Remainder, variable, number(2)), extent.min(2)),
                _ => (number(0), 1),
            };
            let computed = Computed { value, room: extent - needed };
            if self.computed.iter().all(|other| other.value != computed.value || *other == computed) {
                *index = COMPUTED + self.place(computed);
            }
        }
    }

    /// Now and then, makes indices of an access computed, from `variables`.
    pub(super) fn vary(
        &mut self,
        indices: &mut [usize],
        variables: &[usize],
        extents: &dyn Fn(usize) -> usize,
        random: &mut Random,
    ) {
        let mut windows = 0;
        for mode in 0..indices.len() {
            if variables.is_empty() || !random.chance(self.share) {
                continue;
            }
            if random.chance(0.1) && !self.is_window(indices[0]) {
                indices[mode] = indices[0];
                continue;
            }
            let value = match random.below(8) {
                // The windows of an access are the first, the second, and so on.
                0 if windows < self.windows.len() => {
                    windows += 1;
                    sum(IndexExpr::Variable(WINDOWS + windows - 1), number(random.below(4)))
                }
                0 | 1 => number(random.below(4)),
                _ => self.value(indices[mode], variables, extents, random),
            };
            let room = if random.chance(0.5) { 0 } else { random.below(3) };
            indices[mode] = COMPUTED + self.place(Computed { value, room });
        }
    }

    /// Where a computed index stands; the same value is the same index, so that its modes are of one length.
    fn place(&mut self, computed: Computed) -> usize {
        let known = self.computed.iter().position(|other| other.value == computed.value);
        known.unwrap_or_else(|| {
            self.computed.push(computed);
            self.computed.len() - 1
        })
    }

    fn is_window(&self, index: usize) -> bool {
        index.checked_sub(COMPUTED).is_some_and(|computed| window(&self.computed[computed].value).is_some())
    }

    /// A value that is never below zero.
    fn value(&self, own: usize, variables: &[usize], extents: &dyn Fn(usize) -> usize, random: &mut Random) -> Value {
        let variable = |random: &mut Random| {
            let other = if variables.is_empty() || random.chance(0.5) { own } else { *random.choose(variables) };
            IndexExpr::Variable(if other < COMPUTED { other } else { variables[0] })
        };
        let mut value = variable(random);
        for _ in 0..1 + random.below(2) {
            value = match random.below(9) {
                7 | 8 => radix(value, variable(random), variable(random)),
                0 | 1 => sum(value, number(random.below(4))),
                2 => IndexExpr::binary(IndexOperator::Multiply, number(1 + random.below(3)), value),
                3 => sum(value, variable(random)),
                4 => IndexExpr::binary(IndexOperator::Subtract, value, variable(random)),
                5 => {
                    self.above_zero(value, extents, |value| IndexExpr::binary(IndexOperator::Divide, value, number(2)))
                }
                _ => {
                    let by = number(1 + random.below(4));
                    self.above_zero(value, extents, |value| IndexExpr::binary(IndexOperator::Remainder, value, by))
                }
            };
        }
        if random.chance(0.1) {
            value = IndexExpr::binary(IndexOperator::Subtract, number(0), value);
        }
        self.above_zero(value, extents, |value| value)
    }

    /// Lifts a value by a constant where it may be below zero.
    fn above_zero(&self, value: Value, extents: &dyn Fn(usize) -> usize, then: impl FnOnce(Value) -> Value) -> Value {
        let (least, _) = range(&value, &|variable| self.extent_inside(*variable, extents));
        let lift = usize::try_from(-least.min(0)).expect("indices are small");
        then(if lift == 0 { value } else { sum(number(lift), value) })
    }
}

/// Which window of an access a value is, and where it begins.
fn window(value: &Value) -> Option<(usize, i64)> {
    let Affine { constant, terms } = value.affine()?;
    match terms[..] {
        [(variable @ WINDOWS.., 1)] => Some((variable - WINDOWS, constant)),
        _ => None,
    }
}

fn sum(left: Value, right: Value) -> Value {
    IndexExpr::binary(IndexOperator::Add, left, right)
}

/// A value times the extent of a variable and that variable, or another one.
fn radix(value: Value, counted: Value, added: Value) -> Value {
    let IndexExpr::Variable(counted) = counted else { return value };
    // Nothing else need name the variable whose extent counts.
    let added = if value == added { IndexExpr::Variable(counted) } else { added };
    let added = if added == IndexExpr::Variable(counted) { added } else { sum(added, IndexExpr::Variable(counted)) };
    sum(IndexExpr::binary(IndexOperator::Multiply, value, IndexExpr::Extent(counted)), added)
}

fn number(value: usize) -> Value {
    IndexExpr::Constant(value as i64)
}

/// The least and the greatest value.
fn range(value: &Value, extent: &dyn Fn(&usize) -> usize) -> (i128, i128) {
    let value = value.with_extents(&mut |counted| Some(extent(counted) as i64));
    value.range(&mut |variable| (extent(variable) as i128 - 1).max(0))
}

impl Program {
    /// The extent of an index.
    pub(super) fn extent(&self, index: usize) -> usize {
        self.indices.extent(index, &|variable| self.variables[variable].1)
    }

    /// The text of an index.
    pub(super) fn index(&self, index: usize) -> String {
        self.indices.text(index, &|variable| self.variables[variable].0.clone())
    }

    /// The sizes of modes that are longer than their computed indices need, as `dims` names them.
    pub(super) fn sizes(&self) -> Vec<(String, usize)> {
        let mut sizes = Vec::new();
        self.for_each_access(&mut |name, indices| {
            for (mode, &index) in indices.iter().enumerate() {
                let size = (format!("{name}{}_size", mode + 1), self.extent(index));
                if self.indices.has_room(index) && !sizes.contains(&size) {
                    sizes.push(size);
                }
            }
        });
        sizes
    }

    /// Programs with one computed index that is simpler.
    pub(super) fn with_simpler_indices(&self) -> Vec<Program> {
        let mut all = Vec::new();
        for place in 0..self.indices.computed.len() {
            let mut with = |simpler: Computed| {
                let mut program = self.clone();
                if program.indices.computed[place] != simpler {
                    program.indices.computed[place] = simpler;
                    program.trim();
                    all.push(program);
                }
            };
            let Computed { value, room } = &self.indices.computed[place];
            let values = simpler(value).into_iter().filter(|value| self.is_never_below_zero(value));
            values.for_each(|value| with(Computed { value, room: *room }));
            with(Computed { value: value.clone(), room: 0 });
        }
        for window in 0..self.indices.windows.len() {
            let mut program = self.clone();
            if program.indices.windows[window] > 0 {
                program.indices.windows[window] -= 1;
                program.trim();
                all.push(program);
            }
        }
        all
    }

    fn is_never_below_zero(&self, value: &Value) -> bool {
        let extents = |variable: usize| self.variables[variable].1;
        range(value, &|variable| self.indices.extent_inside(*variable, &extents)).0 >= 0
    }
}

/// Values with a part less. Windows stay as they are.
fn simpler(value: &Value) -> Vec<Value> {
    let IndexExpr::Binary(operator, left, right) = value else { return Vec::new() };
    if window(value).is_some() {
        return Vec::new();
    }
    let mut all = vec![(**left).clone(), (**right).clone()];
    let with = |left: &Value, right: &Value| IndexExpr::binary(*operator, left.clone(), right.clone());
    all.extend(simpler(left).iter().map(|left| with(left, right)));
    all.extend(simpler(right).iter().map(|right| with(left, right)));
    // A variable alone would be one that is not computed.
    all.into_iter()
        .map(|value| match value {
            IndexExpr::Variable(_) => sum(value, number(0)),
            value => value,
        })
        .collect()
}
