//! Parallel loops: cuts, chunks, what each may touch, and how their results come together.

use super::Machine;
use super::arrays::{ArrayValue, Slot};
use super::counts;
use super::expressions::Element;
use super::values::{self, Result, Value, problem};
use spc_compiler::ir::{ArrayElement, ArrayId, Expr, Parallel, ReduceOperator, Sharing, VariableId};
use std::ops::Range;
use std::rc::Rc;

/// The chunk that runs.
pub(super) struct Chunk {
    /// Its number in the order of the range.
    number: usize,
    /// Its places.
    range: (u64, u64),
    /// What marks its writes.
    stamp: u64,
    /// The stamp of chunk 0.
    first_stamp: u64,
    /// For each chunk of the loop its parts of the owned arrays, in the same order.
    parts: Rc<[Vec<Owned>]>,
}

#[cfg(test)]
impl Chunk {
    /// A chunk of one place in a loop that owns nothing.
    pub(super) fn undeclared(number: usize) -> Self {
        let place = number as u64;
        Self {
            number,
            range: (place, place + 1),
            stamp: place + 1,
            first_stamp: 1,
            parts: vec![Vec::new(); number + 1].into(),
        }
    }
}

/// A chunk's part of an owned array.
#[derive(Clone)]
struct Owned {
    array: ArrayId,
    buffer: usize,
    /// Where the array begins in the buffer.
    origin: u64,
    /// The elements of the buffer that are the chunk's.
    range: Range<u64>,
}

/// What a chunk leaves behind, to be combined in the order of the range.
#[derive(Default)]
struct Outcome {
    /// For each array in `sharing`, the chunk's copy.
    copies: Vec<ArrayValue>,
    /// For each variable in `reductions`, its value.
    reduced: Vec<Value>,
}

/// At most so many chunks, unless every place is one.
const CHUNKS: u64 = 7;
/// A range up to so long is now and then cut at every place.
const SHORT: u64 = 24;

impl Machine<'_> {
    pub(super) fn parallel(&mut self, node: &Parallel) -> Result<()> {
        // Both do the same, so either is tried.
        if let Some(uneven) = node.uneven.as_ref().filter(|_| self.random.below(2) == 0) {
            return self.parallel(uneven);
        }
        for (array, sharing) in &node.sharing {
            if let Sharing::Segmented { operator, anew: true, .. } = sharing {
                self.fill(*array, private_identity(*operator, self.kernel.array(*array).element)?)?;
            }
        }
        let (begin, end) = (self.index(&node.begin)?, self.index(&node.end)?);
        if begin > end {
            return Ok(());
        }
        let cuts = self.cuts(node, begin, end)?;
        self.check_work(node, &cuts)?;
        let chunks: Vec<(u64, u64)> = cuts.windows(2).map(|cut| (cut[0], cut[1])).collect();
        let parts: Rc<[Vec<Owned>]> = self.parts(node, &chunks)?.into();
        let slots: Vec<Slot> = node.sharing.iter().map(|(array, _)| self.slots[array.index()]).collect();
        let outer: Vec<Value> = node.reductions.iter().map(|(id, _)| self.variables[id.index()]).collect();

        let outcomes = self.run_chunks(node, &chunks, &parts, &slots);
        self.chunk = None;
        for ((array, _), slot) in node.sharing.iter().zip(slots) {
            self.slots[array.index()] = slot;
        }
        for ((id, _), value) in node.reductions.iter().zip(outer) {
            self.variables[id.index()] = value;
        }
        let outcomes = outcomes?;
        self.check_bounded(node, &chunks, &outcomes)?;
        self.combine(node, outcomes)
    }

    // Cuts.

    /// Where chunks begin and end: ascending places, of which the first is `begin` and the last `end`.
    fn cuts(&mut self, node: &Parallel, begin: u64, end: u64) -> Result<Vec<u64>> {
        let mut cuts = vec![begin, end];
        if end - begin <= SHORT && self.random.below(3) == 0 {
            cuts.extend(begin..end);
        } else {
            for _ in 0..self.random.below(CHUNKS) {
                let cut = self.random.between(begin, end);
                cuts.push(cut);
            }
        }
        if let Some(array) = node.aligned {
            for cut in &mut cuts {
                *cut = self.align(array, begin, end, *cut)?;
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        Ok(cuts)
    }

    /// The first place from `cut` on that does not lie between two equal elements.
    fn align(&self, array: ArrayId, begin: u64, end: u64, mut cut: u64) -> Result<u64> {
        while begin < cut && cut < end && self.load(array, cut - 1)? == self.load(array, cut)? {
            cut += 1;
        }
        Ok(cut)
    }

    /// The value of an expression at a place.
    fn at(&mut self, variable: VariableId, place: u64, expr: &Expr) -> Result<u64> {
        self.variables[variable.index()] = Value::Index(place);
        self.index(expr)
    }

    /// That work ascends, as far as the cuts show.
    fn check_work(&mut self, node: &Parallel, cuts: &[u64]) -> Result<()> {
        let Some(work) = node.work.as_ref().filter(|_| cuts.len() > 1) else { return Ok(()) };
        let mut last = 0;
        for &place in cuts {
            let before = self.at(work.place, place, &work.before)?;
            if before < last {
                return problem(format!("the work before place {place} is {before}, less than {last} further ahead"));
            }
            last = before;
        }
        Ok(())
    }

    /// That chunks append no more than they have work, if the loop says so.
    fn check_bounded(&mut self, node: &Parallel, chunks: &[(u64, u64)], outcomes: &[Outcome]) -> Result<()> {
        for (&(low, high), outcome) in chunks.iter().zip(outcomes).filter(|_| node.is_bounded) {
            let places = high - low;
            let work = match &node.work {
                None => places,
                Some(work) => {
                    let [first, last] = [low, high].map(|place| self.at(work.place, place, &work.before));
                    last?.saturating_sub(first?) + if work.is_all { 0 } else { places }
                }
            };
            for ((array, sharing), copy) in node.sharing.iter().zip(&outcome.copies) {
                let appended = copy.len() as u64;
                if appended > work && matches!(sharing, Sharing::Joined { positions_of: None }) {
                    let what = format!("a chunk ({low}..{high}) of {work} units of work appends {appended} elements");
                    return problem(format!("{what} to {}", self.name(*array)));
                }
            }
        }
        Ok(())
    }

    // Owned parts.

    /// For each chunk its parts of the owned arrays.
    fn parts(&mut self, node: &Parallel, chunks: &[(u64, u64)]) -> Result<Vec<Vec<Owned>>> {
        let mut parts = vec![Vec::new(); chunks.len()];
        for (array, sharing) in &node.sharing {
            match sharing {
                Sharing::Owned { place, start } => self.part(*array, *place, start, None, chunks, &mut parts)?,
                Sharing::Segmented { place, start, length, .. } => {
                    let length = self.index(length)?;
                    self.part(*array, *place, start, Some(length), chunks, &mut parts)?;
                }
                Sharing::Private(_) | Sharing::Joined { .. } => {}
            }
        }
        Ok(parts)
    }

    /// The parts of one array. Those of segments of some length reach as far into the next, and lie in the chunk's copy.
    fn part(
        &mut self,
        array: ArrayId,
        place: VariableId,
        start: &Expr,
        segment: Option<u64>,
        chunks: &[(u64, u64)],
        parts: &mut [Vec<Owned>],
    ) -> Result<()> {
        let (slot, length) = (self.slots[array.index()], self.length(array));
        let mut starts = Vec::new();
        for &(low, _) in chunks {
            let begin = self.at(place, low, start)?;
            if begin > length || starts.last().is_some_and(|&last| begin < last) {
                let name = self.name(array);
                let what = format!("a chunk that begins at {low} owns {name} from {begin} on");
                return problem(format!("{what}, which does not ascend within its length {length}"));
            }
            starts.push(begin);
        }
        for (part, chunk) in parts.iter_mut().zip(0..) {
            let begin = if chunk == 0 { 0 } else { starts[chunk] };
            let end = starts.get(chunk + 1).copied().unwrap_or(length);
            part.push(match segment {
                None => {
                    let range = slot.begin + begin..slot.begin + end;
                    Owned { array, buffer: slot.buffer, origin: slot.begin, range }
                }
                Some(segment) => {
                    let range = begin..end.saturating_add(segment).min(length);
                    Owned { array, buffer: self.copy_of(array), origin: 0, range }
                }
            });
        }
        Ok(())
    }

    // What a chunk touches.

    pub(super) fn check_read(&self, array: ArrayId, element: Element) -> Result<()> {
        let Some(chunk) = &self.chunk else { return Ok(()) };
        self.check_owned(chunk, array, element)?;
        let buffer = &self.buffers[element.buffer];
        if buffer.is_private {
            return Ok(());
        }
        match buffer.writers.get(element.at) {
            Some(&writer) if writer >= chunk.first_stamp && writer != chunk.stamp => {
                self.race(chunk, array, element, writer, "reads")
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check_write(&mut self, array: ArrayId, element: Element) -> Result<()> {
        self.touch(element, 1, true);
        let Some(chunk) = &self.chunk else { return Ok(()) };
        self.check_owned(chunk, array, element)?;
        if self.buffers[element.buffer].is_private {
            return Ok(());
        }
        let stamp = chunk.stamp;
        let buffer = &mut self.buffers[element.buffer];
        if buffer.writers.len() <= element.at {
            let more = buffer.data.len() - buffer.writers.len();
            super::arrays::reserve(&mut buffer.writers, more)?;
            buffer.writers.resize(buffer.data.len(), 0);
        }
        let writer = std::mem::replace(&mut buffer.writers[element.at], stamp);
        if writer >= chunk.first_stamp && writer != stamp {
            return self.race(chunk, array, element, writer, "writes");
        }
        Ok(())
    }

    fn race(&self, chunk: &Chunk, array: ArrayId, element: Element, writer: u64, does: &str) -> Result<()> {
        let other = writer - chunk.first_stamp;
        let (name, index, number) = (self.name(array), self.index_in(array, element), chunk.number);
        let (low, high) = chunk.range;
        problem(format!("chunk {number} ({low}..{high}) {does} {name}[{index}], which chunk {other} wrote"))
    }

    /// The index by which an array knows an element.
    fn index_in(&self, array: ArrayId, element: Element) -> u64 {
        element.at as u64 - self.slots[array.index()].begin
    }

    fn check_owned(&self, chunk: &Chunk, array: ArrayId, element: Element) -> Result<()> {
        let at = element.at as u64;
        let own = &chunk.parts[chunk.number];
        let Some(place) = own.iter().position(|owned| owned.buffer == element.buffer) else { return Ok(()) };
        let owned = &own[place];
        if owned.range.contains(&at) {
            return Ok(());
        }
        let other = chunk.parts.iter().position(|parts| parts[place].range.contains(&at));
        let other = other.map_or("no chunk".to_owned(), |other| format!("chunk {other}"));
        let (number, (low, high)) = (chunk.number, chunk.range);
        let (begin, end) = (owned.range.start - owned.origin, owned.range.end - owned.origin);
        let mine = format!("chunk {number} ({low}..{high}) owns {}[{begin}..{end}]", self.name(owned.array));
        problem(format!(
            "{mine}, but touches {}[{}], which {other} owns",
            self.name(array),
            self.index_in(array, element)
        ))
    }

    // Running and combining.

    /// Runs the chunks in random order. What they leave behind comes in the order of the range.
    fn run_chunks(
        &mut self,
        node: &Parallel,
        chunks: &[(u64, u64)],
        parts: &Rc<[Vec<Owned>]>,
        slots: &[Slot],
    ) -> Result<Vec<Outcome>> {
        let mut outcomes: Vec<Outcome> = chunks.iter().map(|_| Outcome::default()).collect();
        let mut order: Vec<usize> = (0..chunks.len()).collect();
        self.random.shuffle(&mut order);
        let first_stamp = self.stamp + 1;
        self.stamp += chunks.len() as u64;
        for number in order {
            let stamp = first_stamp + number as u64;
            self.chunk = Some(Chunk { number, range: chunks[number], stamp, first_stamp, parts: parts.clone() });
            outcomes[number] = self.run_chunk(node, slots)?;
        }
        Ok(outcomes)
    }

    fn run_chunk(&mut self, node: &Parallel, slots: &[Slot]) -> Result<Outcome> {
        for ((array, sharing), slot) in node.sharing.iter().zip(slots) {
            self.slots[array.index()] = *slot;
            self.give_copy(*array, sharing)?;
        }
        for (id, operator) in &node.reductions {
            self.variables[id.index()] = values::identity(*operator, self.kernel.variable(*id).ty)?;
        }
        if let Some(chunk) = &self.chunk {
            let (low, high) = chunk.range;
            self.variables[node.low.index()] = Value::Index(low);
            self.variables[node.high.index()] = Value::Index(high);
        }
        self.block(&node.body)?;
        let copies: Vec<usize> = node.sharing.iter().map(|(array, _)| self.copy_of(*array)).collect();
        Ok(Outcome {
            copies: copies.into_iter().map(|copy| std::mem::take(&mut self.buffers[copy].data)).collect(),
            reduced: node.reductions.iter().map(|(id, _)| self.variables[id.index()]).collect(),
        })
    }

    /// The buffer of the chunk's own copy of an array.
    fn copy_of(&self, array: ArrayId) -> usize {
        self.kernel.arrays.len() + array.index()
    }

    /// Lets the chunk's own copy stand for a segmented, private or joined array.
    fn give_copy(&mut self, array: ArrayId, sharing: &Sharing) -> Result<()> {
        let element = self.kernel.array(array).element;
        let whole = self.length(array);
        let (length, before) = match sharing {
            Sharing::Owned { .. } => return Ok(()),
            Sharing::Private(_) | Sharing::Segmented { .. } => (whole, 0),
            Sharing::Joined { .. } => (0, whole as usize),
        };
        let mut data = ArrayValue::empty(element);
        if let Sharing::Private(operator) | Sharing::Segmented { operator, .. } = sharing {
            data.extend(length, private_identity(*operator, element)?)?;
        }
        let copy = self.copy_of(array);
        let buffer = &mut self.buffers[copy];
        buffer.data = data;
        buffer.is_private = true;
        buffer.before = before;
        self.slots[array.index()] = Slot::whole(copy);
        Ok(())
    }

    fn combine(&mut self, node: &Parallel, mut outcomes: Vec<Outcome>) -> Result<()> {
        let mut shifts = Vec::new();
        for (_, sharing) in &node.sharing {
            shifts.push(self.shifts(node, sharing, &outcomes));
        }
        for (number, (array, sharing)) in node.sharing.iter().enumerate() {
            for (chunk, outcome) in outcomes.iter_mut().enumerate() {
                let copy = std::mem::take(&mut outcome.copies[number]);
                let result = match sharing {
                    Sharing::Owned { .. } => Ok(()),
                    Sharing::Private(operator) | Sharing::Segmented { operator, .. } => {
                        counts::uncounted(|| self.add_copy(*array, *operator, &copy))
                    }
                    Sharing::Joined { .. } => self.join(*array, &copy, shifts[number][chunk]),
                };
                result.map_err(|problem| problem.about(self.name(*array)))?;
            }
        }
        for outcome in &outcomes {
            for ((id, operator), value) in node.reductions.iter().zip(&outcome.reduced) {
                let so_far = self.variables[id.index()];
                self.variables[id.index()] = counts::uncounted(|| values::reduce(*operator, so_far, *value))?;
            }
        }
        Ok(())
    }

    /// For each chunk, how many elements earlier ones appended to the array that this one's elements are positions of.
    fn shifts(&self, node: &Parallel, sharing: &Sharing, outcomes: &[Outcome]) -> Vec<u64> {
        let other = match sharing {
            Sharing::Joined { positions_of } => *positions_of,
            _ => None,
        };
        let place = other.and_then(|other| node.sharing.iter().position(|(array, _)| *array == other));
        let mut sum = 0;
        let mut shifts = Vec::new();
        for outcome in outcomes {
            shifts.push(sum);
            sum += place.map_or(0, |place| outcome.copies[place].len() as u64);
        }
        shifts
    }

    fn add_copy(&mut self, array: ArrayId, operator: ReduceOperator, copy: &ArrayValue) -> Result<()> {
        let element = self.kernel.array(array).element;
        for index in 0..copy.len() {
            let Element { buffer, at } = self.place(array, index as u64)?;
            let data = &mut self.buffers[buffer].data;
            data.set(at, values::reduce(operator, data.get(at, element), copy.get(index, element))?)?;
        }
        Ok(())
    }

    fn join(&mut self, array: ArrayId, copy: &ArrayValue, shift: u64) -> Result<()> {
        let element = self.kernel.array(array).element;
        let buffer = self.slots[array.index()].buffer;
        for index in 0..copy.len() {
            let mut value = copy.get(index, element);
            if let Value::Index(position) = &mut value {
                *position = position.saturating_add(shift);
            }
            self.buffers[buffer].data.extend(1, value)?;
        }
        Ok(())
    }
}

/// The value that the elements of a chunk's copy start from; it fits the array.
fn private_identity(operator: ReduceOperator, element: ArrayElement) -> Result<Value> {
    let value = values::identity(operator, element.ty())?;
    Ok(match (value, element) {
        (Value::Index(index), ArrayElement::Index(width)) => Value::Index(index.min(width.maximum())),
        (value, _) => value,
    })
}
