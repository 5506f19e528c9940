//! Statements.

use super::arrays::Slot;
use super::counts;
use super::expressions::Element;
use super::random::Shuffled;
use super::values::{self, Result, Value, problem};
use super::{ArrayValue, Machine};
use crate::parallel;
use spc_compiler::format::interleave::Spread;
use spc_compiler::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, LookUp, Merge, ReduceOperator, Statement, VariableId, Walk,
};
use std::collections::{BTreeMap, BTreeSet};

/// So many blocks take less time than a question is worth.
const BETWEEN_QUESTIONS: u32 = 1024;

impl Machine<'_> {
    pub(super) fn block(&mut self, body: &[Statement]) -> Result<()> {
        self.since += 1;
        if self.since == BETWEEN_QUESTIONS {
            self.since = 0;
            if self.question.as_ref().is_some_and(|question| question.is_stopped()) {
                return values::interrupted();
            }
        }
        for (number, statement) in body.iter().enumerate() {
            if let Err(problem) = self.statement(statement) {
                return Err(problem.within(format!("{number}.{}", statement.keyword())));
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Comment(_) => {}
            Statement::Let(id, value) | Statement::Assign(id, value) => {
                self.variables[id.index()] = self.eval(value)?;
            }
            Statement::Update(id, operator, value) => {
                let value = self.eval(value)?;
                self.variables[id.index()] = values::reduce(*operator, self.variables[id.index()], value)?;
            }
            Statement::Store(array, index, value) => self.store(*array, index, value)?,
            Statement::Reduce(array, index, operator, value) => self.reduce(*array, index, *operator, value)?,
            Statement::Allocate { array, length, fill } => {
                let length = self.count(length, self.kernel.array(*array).element.bytes())?;
                let fill = self.eval(fill)?;
                self.allocate(*array, length, fill)?;
            }
            Statement::Folds { totals, terms, between } => self.folds(*totals, terms, *between)?,
            Statement::Fill(array, value) => {
                let value = self.eval(value)?;
                self.fill(*array, value)?;
            }
            Statement::View { array, of, begin, length, .. } => {
                self.slots[array.index()] = self.view(*of, self.index(begin)?, self.index(length)?)?;
            }
            Statement::Numbers { array, codes, mask, below } => self.numbers(*array, *codes, mask, below)?,
            Statement::List(array) => self.list(*array),
            // A table knows nothing that the list does not: keys are looked for.
            Statement::Table { extent, .. } => _ = self.count(extent, size_of::<u64>())?,
            // Coordinates are looked for in the ranges.
            Statement::Directory { .. } => {}
            Statement::Bitmap { bitmap, .. } => self.list(*bitmap),
            Statement::Mark(bitmap, key) => {
                let key = self.eval(key)?;
                self.append(*bitmap, 1, key)?;
            }
            Statement::Marked { variable, bitmap, body } => {
                for key in self.take_marked(*bitmap)? {
                    self.variables[variable.index()] = Value::Index(key);
                    self.block(body)?;
                }
            }
            Statement::Insert { place, key, keys, .. } => {
                let key = self.index(key)?;
                self.variables[place.index()] = Value::Index(self.insert(*keys, key)?);
            }
            Statement::Sort { keys, places, .. } => self.sort(*keys, *places)?,
            Statement::Clear(list) | Statement::Reset { keys: list, .. } => self.list(*list),
            Statement::Push(array, value) => {
                let value = self.eval(value)?;
                self.append(*array, 1, value)?;
            }
            Statement::Extend { array, count, fill } => {
                let count = self.count(count, self.kernel.array(*array).element.bytes())?;
                let fill = self.eval(fill)?;
                self.append(*array, count, fill)?;
            }
            Statement::For { variable, begin, end, vector, body } => {
                let (begin, end) = (self.index(begin)?, self.index(end)?);
                self.counted(*variable, begin, end, *vector, body)?;
            }
            Statement::While(condition, body) => {
                while self.eval(condition)?.truth()? {
                    counts::add(|counts| counts.walked += 1);
                    self.block(body)?;
                }
            }
            Statement::Merge(merge) => {
                if let Some(look_up) = &merge.directory {
                    self.check_children(look_up, &merge.walks[1])?;
                }
                self.merge(merge)?;
            }
            Statement::If(branches, otherwise) => self.branch(branches, otherwise)?,
            Statement::Parallel(node) => self.parallel(node)?,
        }
        Ok(())
    }

    fn counted(&mut self, variable: VariableId, begin: u64, end: u64, vector: bool, body: &[Statement]) -> Result<()> {
        counts::add(|counts| counts.walked += end.saturating_sub(begin));
        if vector {
            for offset in Shuffled::new(end.saturating_sub(begin), &mut self.random) {
                self.variables[variable.index()] = Value::Index(begin + offset);
                self.block(body)?;
            }
        } else {
            for place in begin..end {
                self.variables[variable.index()] = Value::Index(place);
                self.block(body)?;
            }
        }
        Ok(())
    }

    /// Makes sure that a walk is over the children of the parent that is looked up.
    fn check_children(&mut self, look_up: &LookUp, walk: &Walk) -> Result<()> {
        let role = walk.array().map(|array| self.kernel.array(array).role);
        let Some(ArrayRole::Coordinates { tensor, level }) = role else {
            let place = &self.kernel.variable(walk.place).name;
            return problem(format!("{place} is looked up, but is of no coordinates of a level"));
        };
        let role = ArrayRole::Positions { tensor, level };
        let positions = self.kernel.arrays.iter().position(|array| array.role == role).map(|id| ArrayId(id as u32));
        let parent = self.index(&look_up.parent)?;
        for (place, bound) in [(parent, &walk.begin), (parent.saturating_add(1), &walk.end)] {
            let stored = positions.map(|positions| self.load(positions, place)?.index()).transpose()?;
            if stored != Some(self.index(bound)?) {
                return problem(format!(
                    "{} is looked up at {parent}, but others are walked",
                    self.kernel.variable(walk.place).name
                ));
            }
        }
        Ok(())
    }

    fn merge(&mut self, merge: &Merge) -> Result<()> {
        // For each coordinate the first place of each list that has it, and one past the last.
        let mut found: BTreeMap<u64, Vec<Option<(u64, u64)>>> = BTreeMap::new();
        let mut lengths = Vec::new();
        for (list, walk) in merge.walks.iter().enumerate() {
            let mut last = None;
            let (begin, end) = (self.index(&walk.begin)?, self.index(&walk.end)?);
            lengths.push(end.saturating_sub(begin));
            for place in begin..end {
                self.variables[walk.place.index()] = Value::Index(place);
                let coordinate = self.index(&walk.at)?;
                if last > Some(coordinate) || walk.run.is_none() && last == Some(coordinate) {
                    let name = &self.kernel.variable(walk.place).name;
                    return problem(format!(
                        "at place {place} of {name} is {coordinate}, which is not greater than the coordinate before"
                    ));
                }
                last = Some(coordinate);
                let here = found.entry(coordinate).or_insert_with(|| vec![None; merge.walks.len()]);
                here[list] = Some((here[list].map_or(place, |(first, _)| first), place + 1));
            }
        }
        counts::add(|counts| counts.walked += merge.visited(&lengths));
        for (coordinate, here) in found {
            let is_there = |list: usize| here[list].is_some();
            let Some(point) = merge.points.iter().find(|point| point.operands.iter().all(is_there)) else { continue };
            for (walk, here) in merge.walks.iter().zip(&here) {
                if let Some((first, end)) = here {
                    self.variables[walk.place.index()] = Value::Index(*first);
                    walk.run.iter().for_each(|run| self.variables[run.index()] = Value::Index(*end));
                }
            }
            self.variables[merge.coordinate.index()] = Value::Index(coordinate);
            self.block(&point.body)?;
        }
        Ok(())
    }

    fn branch(&mut self, branches: &[(Expr, Vec<Statement>)], otherwise: &[Statement]) -> Result<()> {
        for (number, (condition, body)) in branches.iter().enumerate() {
            if self.eval(condition)?.truth()? {
                return self.block(body).map_err(|problem| problem.within(format!("branch {number}")));
            }
        }
        self.block(otherwise).map_err(|problem| problem.within("else".to_owned()))
    }

    /// Counts elements that an array is given.
    fn written(&self, array: ArrayId, change: impl FnOnce(&mut counts::Counts)) {
        if matches!(self.kernel.array(array).element, ArrayElement::Value(_)) {
            counts::add(change);
        }
    }

    fn store(&mut self, array: ArrayId, index: &Expr, value: &Expr) -> Result<()> {
        self.written(array, |counts| counts.updates += 1);
        let (index, value) = (self.index(index)?, self.eval(value)?);
        let element = self.place(array, index)?;
        self.check_write(array, element)?;
        match self.buffers[element.buffer].data.set(element.at, value) {
            Ok(()) => Ok(()),
            Err(problem) => Err(problem.about(self.name(array))),
        }
    }

    fn reduce(&mut self, array: ArrayId, index: &Expr, operator: ReduceOperator, value: &Expr) -> Result<()> {
        self.written(array, |counts| counts.updates += 1);
        let (index, value) = (self.index(index)?, self.eval(value)?);
        let element = self.place(array, index)?;
        self.check_write(array, element)?;
        let before = self.buffers[element.buffer].data.get(element.at, self.kernel.array(array).element);
        let after = values::reduce(operator, before, value)?;
        match self.buffers[element.buffer].data.set(element.at, after) {
            Ok(()) => Ok(()),
            Err(problem) => Err(problem.about(self.name(array))),
        }
    }

    /// The factors of a length, which together may be too much.
    fn shape(&self, length: &Expr) -> Result<Vec<usize>> {
        match length {
            Expr::Binary(BinaryOperator::Multiply, one, other) => Ok([self.shape(one)?, self.shape(other)?].concat()),
            length => Ok(vec![usize::try_from(self.index(length)?).unwrap_or(usize::MAX)]),
        }
    }

    /// A number of elements of so many bytes.
    fn count(&self, length: &Expr, size: usize) -> Result<u64> {
        let shape = self.shape(length)?;
        match parallel::length(&shape) {
            Some(count) => Ok(count as u64),
            None => values::no_memory(&shape, size),
        }
    }

    fn allocate(&mut self, array: ArrayId, length: u64, fill: Value) -> Result<()> {
        self.written(array, |counts| counts.filled += length);
        let buffer = &mut self.buffers[array.index()];
        let element = self.kernel.array(array).element;
        if buffer.data.holds(element) {
            buffer.data.clear();
        } else {
            buffer.data = ArrayValue::empty(element);
        }
        buffer.writers.clear();
        buffer.is_private = self.chunk.is_some();
        self.slots[array.index()] = Slot::whole(array.index());
        let result = buffer.data.extend(length, fill);
        result.map_err(|problem| problem.about(self.name(array)))
    }

    /// In order.
    fn numbers(&mut self, array: ArrayId, codes: ArrayId, mask: &Expr, below: &Expr) -> Result<()> {
        let (mask, below) = (Spread::new(self.index(mask)?), self.index(below)?);
        self.list(array);
        for place in 0..self.length(codes) {
            let number = mask.compress(self.load(codes, place)?.index()?);
            if number >= below {
                let name = self.name(codes);
                return problem(format!("a code of {name} has the number {number}, which is not below {below}"));
            }
            self.append(array, 1, Value::Index(number))?;
        }
        Ok(())
    }

    fn folds(&mut self, array: ArrayId, terms: &Expr, between: Option<ArrayId>) -> Result<()> {
        let Expr::Fold(operator, term) = terms else { return problem("totals of no terms".to_owned()) };
        let (factors, length) = self.runs(term)?;
        let totals = self.length(array);
        let is_of_turns = || totals > 0 && length.is_multiple_of(totals);
        if !between.map_or_else(is_of_turns, |positions| self.length(positions) == totals + 1) {
            return problem(format!("{} is not filled from as many terms for each", self.name(array)));
        }
        for number in 0..totals {
            let places = match between {
                Some(positions) => {
                    let (begin, end) = (self.load(positions, number)?, self.load(positions, number + 1)?);
                    (begin.index()?..end.index()?).step_by(1)
                }
                None => (number..length).step_by(usize::try_from(totals).unwrap_or(usize::MAX)),
            };
            let total = self.total(*operator, term, &factors, places)?;
            let element = self.place(array, number)?;
            self.check_write(array, element)?;
            let result = self.buffers[element.buffer].data.set(element.at, total);
            result.map_err(|problem| problem.about(self.name(array)))?;
        }
        Ok(())
    }

    pub(super) fn fill(&mut self, array: ArrayId, value: Value) -> Result<()> {
        self.written(array, |counts| counts.filled += self.length(array));
        for index in 0..self.length(array) {
            let element = self.place(array, index)?;
            self.check_write(array, element)?;
            let result = self.buffers[element.buffer].data.set(element.at, value);
            result.map_err(|problem| problem.about(self.name(array)))?;
        }
        Ok(())
    }

    fn view(&self, of: ArrayId, begin: u64, length: u64) -> Result<Slot> {
        let available = self.length(of);
        if begin.checked_add(length).is_none_or(|end| end > available) {
            let name = self.name(of);
            return problem(format!("{name} has length {available}, a view of {length} from {begin} is out of bounds"));
        }
        let slot = self.slots[of.index()];
        Ok(Slot { buffer: slot.buffer, begin: slot.begin + begin, length: Some(length) })
    }

    /// Makes a list, or empties one.
    fn list(&mut self, array: ArrayId) {
        let buffer = &mut self.buffers[array.index()];
        buffer.data = ArrayValue::empty(self.kernel.array(array).element);
        buffer.writers.clear();
        buffer.is_private = self.chunk.is_some();
        self.slots[array.index()] = Slot::whole(array.index());
    }

    /// The place of a key in a list of keys, where it is appended if it is not there; sometimes also if it is.
    fn insert(&mut self, keys: ArrayId, key: u64) -> Result<u64> {
        let length = self.length(keys);
        let looked_at = if self.random.below(4) == 0 { 0 } else { length };
        for place in 0..looked_at {
            if self.load(keys, place)?.index()? == key {
                return Ok(place);
            }
        }
        self.append(keys, 1, Value::Index(key))?;
        Ok(length)
    }

    /// The keys of a set, in order.
    fn take_marked(&mut self, bitmap: ArrayId) -> Result<BTreeSet<u64>> {
        let mut keys = BTreeSet::new();
        for place in 0..self.length(bitmap) {
            keys.insert(self.load(bitmap, place)?.index()?);
        }
        self.list(bitmap);
        Ok(keys)
    }

    fn sort(&mut self, keys: ArrayId, places: ArrayId) -> Result<()> {
        let mut pairs = Vec::new();
        for place in 0..self.length(keys) {
            pairs.push((self.load(keys, place)?.index()?, place));
        }
        pairs.sort_unstable();
        self.list(keys);
        self.list(places);
        for (key, place) in pairs {
            self.append(keys, 1, Value::Index(key))?;
            self.append(places, 1, Value::Index(place))?;
        }
        Ok(())
    }

    fn append(&mut self, array: ArrayId, count: u64, value: Value) -> Result<()> {
        self.written(array, |counts| counts.filled += count);
        let buffer = self.slots[array.index()].buffer;
        let all = usize::try_from(count).unwrap_or(usize::MAX);
        self.touch(Element { buffer, at: self.buffers[buffer].data.len() }, all, true);
        let result = self.buffers[buffer].data.extend(count, value);
        result.map_err(|problem| problem.about(self.name(array)))
    }
}
