//! One run of a module: the host's steps.

use super::super::array::{Access, Array, Data};
use super::measured::Measured;
use super::{Copied, Device, Grid, Memory};
use crate::tensor::Values;
use spc_compiler::backend::cuda::{
    Function, Module, Parameter, SCAN_BLOCK, SCANNED, SORTED, Step, Threads, WARP, WORKERS, constant_bytes,
};
use spc_compiler::format::interleave::{self, Spread};
use spc_compiler::ir::{ArrayElement, ArrayId, BinaryOperator, Expr, Initial, Size};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

/// An array on the device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) memory: Memory,
    /// The number of elements.
    pub(super) length: u64,
}

/// One run of a module.
pub(super) struct Run<'a> {
    pub(super) module: &'a Module,
    pub(super) device: &'a dyn Device,
    pub(super) dimensions: Vec<u64>,
    pub(super) held: BTreeMap<ArrayId, Held>,
    /// Memory of what stays on the device, which the run only reads, with its number there.
    pub(super) borrowed: Vec<(Memory, u64)>,
    /// Numbers that the host knows: all elements of short arrays.
    pub(super) known: BTreeMap<ArrayId, Vec<u64>>,
    /// What was measured in runs before.
    pub(super) measured: &'a Measured,
}

/// So many elements are brought to fill an array.
const FILLED: usize = 1 << 12;

/// What a launch of a function of another kind is.
const NO_TEAM: &str = "a function of teams has steps of its own";

type Result<T, E = String> = std::result::Result<T, E>;

impl Run<'_> {
    /// Copies arrays in and does the steps, which is what the time is of.
    pub(super) fn compute(&mut self, arrays: &[Array], copied: &Copied) -> Result<Duration> {
        let start = Instant::now();
        for ((id, _), array) in self.module.kernel.parameters().zip(arrays) {
            self.bring(id, array)?;
        }
        copied.add((start.elapsed(), Duration::ZERO));
        self.steps()
    }

    pub(super) fn steps(&mut self) -> Result<Duration> {
        let (device, module) = (self.device, self.module);
        device.timed(&mut || module.steps.iter().try_for_each(|step| self.step(step)))
    }

    /// Copies results back.
    pub(super) fn take_all(&self, arrays: &mut [Array], copied: &Copied) -> Result<()> {
        let start = Instant::now();
        for ((id, _), array) in self.module.kernel.parameters().zip(arrays) {
            if array.parameter.access != Access::Read {
                self.take(id, array)?;
            }
        }
        copied.add((Duration::ZERO, start.elapsed()));
        Ok(())
    }

    /// An array's elements on the device: where they are already, or copied.
    fn bring(&mut self, id: ArrayId, array: &Array) -> Result<()> {
        let bytes = array.data.bytes();
        let length = (bytes.len() / width(array.parameter.element)) as u64;
        let may_stay = array.parameter.access == Access::Read && !bytes.is_empty() && !array.data.is_part();
        if let Some(resident) = self.device.resident().filter(|_| may_stay) {
            let (memory, number) = resident.borrow(self.device, &array.data, self.name(id))?;
            self.borrowed.push((memory, number));
            self.held.insert(id, Held { memory, length });
            return Ok(());
        }
        if let Some(resident) = self.device.resident() {
            resident.let_go(self.device, &array.data);
        }
        let held = self.make(id, length)?;
        match array.parameter.access {
            _ if bytes.is_empty() => Ok(()),
            Access::Write(Initial::Overwritten) => Ok(()),
            Access::Write(Initial::Filled(value)) if value.is_zero() => self.device.zero(held.memory, bytes.len()),
            _ => self.device.write(held.memory, bytes),
        }
    }

    /// Leaves results on the device that were copied back, each as the array that the host now has.
    pub(super) fn leave(&mut self, arrays: &[Array]) {
        let Some(resident) = self.device.resident() else { return };
        for ((id, _), array) in self.module.kernel.parameters().zip(arrays) {
            let stays = array.parameter.access != Access::Read && !array.data.bytes().is_empty();
            if let Some(held) = stays.then(|| self.held.remove(&id)).flatten() {
                resident.keep(self.device, &array.data, held.memory);
            }
        }
    }

    /// Gives memory back.
    pub(super) fn end(&mut self) {
        let own = |held: &&Held| self.number(held.memory).is_none();
        self.held.values().filter(own).for_each(|held| self.device.free(held.memory));
        if let Some(resident) = self.device.resident() {
            self.borrowed.drain(..).for_each(|(memory, _)| resident.give_back(memory));
        }
    }

    /// The number of what stays on the device, where this memory is of that.
    fn number(&self, memory: Memory) -> Option<u64> {
        self.borrowed.iter().find(|(other, _)| *other == memory).map(|(_, number)| *number)
    }

    /// Copies a result back, into the memory that is there where it is as long.
    fn take(&self, id: ArrayId, array: &mut Array) -> Result<()> {
        let held = self.held(id)?;
        let element = array.parameter.element;
        let count = usize::try_from(held.length).map_err(|_| "a result is too large".to_owned())?;
        if array.data.bytes().len() != count * width(element) {
            array.data = Data::zeroed(element, count).map_err(|error| error.to_string())?;
        }
        if count == 0 {
            return Ok(());
        }
        if let Some(bytes) = array.data.bytes_mut() {
            return self.device.read(held.memory, bytes);
        }
        let mut read = vec![0; count];
        self.device.read(held.memory, &mut read)?;
        let read = bytemuck::checked::try_cast_slice(&read).map_err(|_| "a result holds what is no truth value")?;
        match &mut array.data {
            Data::Values(Values::Bool(values)) => values.make_mut().copy_from_slice(read),
            _ => return Err("a result holds what is no truth value".to_owned()),
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Make { array, length, fill } => {
                let length = self.value(length)?;
                self.make(*array, length)?;
                fill.as_ref().map_or(Ok(()), |fill| self.fill(*array, fill))
            }
            Step::Fill { array, value } => self.fill(*array, value),
            Step::Launch { function, places, lanes, workers, blocks } => {
                let most = blocks.as_ref().map(|blocks| self.value(blocks)).transpose()?;
                self.launch(*function, places, lanes.as_ref(), workers.as_ref(), most)
            }
            Step::Teams { function, first, end, width, inner } => {
                let rows = self.value(first)?..self.value(end)?;
                let inner = self.value(inner)?;
                self.launch_teams(*function, rows, *width, inner)
            }
            Step::Measure { array, function, places } => self.measure(*array, *function, places),
            Step::Scan { array, first } => {
                let (held, first) = (self.held(*array)?, self.value(first)?);
                self.scan(held, first)
            }
            Step::Read { array } => self.read_all(*array),
            Step::Sort { keys, places, most } => {
                let most = self.value(most)?;
                self.sort(*keys, *places, most)
            }
            Step::Choose { condition, then, otherwise } => {
                let steps = if self.value(condition)? == 0 { otherwise } else { then };
                steps.iter().try_for_each(|step| self.step(step))
            }
            Step::Lengthen { array, length } => {
                let length = self.value(length)?;
                self.lengthen(*array, length)
            }
        }
    }

    // Memory.

    fn held(&self, array: ArrayId) -> Result<Held> {
        self.held.get(&array).copied().ok_or_else(|| format!("`{}` is not on the device", self.name(array)))
    }

    fn name(&self, array: ArrayId) -> &str {
        &self.module.kernel.array(array).name
    }

    fn width(&self, array: ArrayId) -> usize {
        width(self.module.kernel.array(array).element)
    }

    fn bytes(&self, array: ArrayId, length: u64) -> Result<usize> {
        let bytes = usize::try_from(length).ok().and_then(|length| length.checked_mul(self.width(array)));
        bytes.ok_or_else(|| format!("`{}` would be too large", self.name(array)))
    }

    /// Memory for so many elements.
    fn room(&self, array: ArrayId, length: u64) -> Result<Memory> {
        self.allocate(self.bytes(array, length)?, self.name(array))
    }

    /// Memory of so many bytes, for which something goes that stays on the device where it must.
    fn allocate(&self, bytes: usize, name: &str) -> Result<Memory> {
        let room = || self.device.allocate(bytes, name);
        match self.device.resident() {
            None => room(),
            Some(resident) => resident.make_room(self.device, room),
        }
    }

    /// Makes an array, in place of the one of that name.
    pub(super) fn make(&mut self, array: ArrayId, length: u64) -> Result<Held> {
        let held = Held { memory: self.room(array, length)?, length };
        self.known.remove(&array);
        if let Some(old) = self.held.insert(array, held) {
            self.device.free(old.memory);
        }
        Ok(held)
    }

    fn lengthen(&mut self, array: ArrayId, length: u64) -> Result<()> {
        let old = self.held(array)?;
        let (kept, memory) = (self.bytes(array, old.length)?, self.room(array, length)?);
        self.held.insert(array, Held { memory, length });
        let copied = if kept > 0 { self.device.copy(old.memory, memory, kept) } else { Ok(()) };
        self.device.free(old.memory);
        copied
    }

    fn fill(&mut self, array: ArrayId, value: &Expr) -> Result<()> {
        let held = self.held(array)?;
        let total = self.bytes(array, held.length)?;
        if total == 0 {
            return Ok(());
        }
        let element = self.module.kernel.array(array).element;
        let element = constant_bytes(element, value).ok_or("an array can't be filled with that")?;
        if element.iter().all(|&byte| byte == 0) {
            return self.device.zero(held.memory, total);
        }
        // Few bytes come from the host: the others are copies of these.
        let mut filled = total.min(element.len() * FILLED);
        self.device.write(held.memory, &element.repeat(filled / element.len()))?;
        while filled < total {
            let next = filled.min(total - filled);
            self.device.copy(held.memory, Memory(held.memory.0 + filled as u64), next)?;
            filled += next;
        }
        Ok(())
    }

    // Launches.

    fn launch(
        &mut self,
        function: usize,
        places: &Expr,
        lanes: Option<&Expr>,
        workers: Option<&Expr>,
        most_blocks: Option<u64>,
    ) -> Result<()> {
        let places = self.value(places)?;
        let function = &self.module.functions[function];
        if places == 0 && function.threads != Threads::One {
            return Ok(());
        }
        let lanes = lanes.map(|lanes| self.value(lanes)).transpose()?;
        let places = match function.places().and_then(|places| places.share.as_ref()) {
            Some(share) => places.div_ceil(self.value(&share.value)?.max(1)),
            _ => places,
        };
        let most = workers.map_or(Ok(u64::MAX), |workers| self.value(workers))?;
        let places = places.min(most);
        let mut arguments = Vec::new();
        for parameter in function.parameters(&self.module.kernel) {
            arguments.push(match parameter {
                Parameter::Dimension(id) => self.dimensions[id.index()],
                Parameter::Length(array) => self.held(array)?.length,
                Parameter::Workers => most,
                Parameter::Mask(number) => self.value(&function.masks()[number])?,
                Parameter::Move { mask, step } => self.moved(function, mask, step)?,
                Parameter::Array { array, .. } => self.held(array)?.memory.0,
                Parameter::First | Parameter::End | Parameter::Inner => return Err(NO_TEAM.to_owned()),
            });
        }
        let block = function.block;
        let mut grid = match (&function.threads, lanes) {
            (Threads::One, _) => grid([1, 1], [1, 1])?,
            (Threads::Each(of), Some(mean)) if of.group().is_some() => groups(places, mean, block)?,
            (Threads::Each(_), Some(lanes)) => rows(places, lanes.max(1), block)?,
            (Threads::Each(_), None) => grid([places.div_ceil(block), 1], [block, 1])?,
            (Threads::Teams(_), _) => return Err(NO_TEAM.to_owned()),
        };
        grid.shared = count(self.value(&function.shared(&self.module.kernel))?)?;
        if let Some(most) = most_blocks {
            grid.blocks[0] = count(most.clamp(1, u64::from(grid.blocks[0])))?;
        }
        self.device.launch(&function.name, grid, &arguments)
    }

    /// What moves in a step where bits are gathered from the ones of a mask.
    fn moved(&self, function: &Function, mask: usize, step: usize) -> Result<u64> {
        Ok(Spread::new(self.value(&function.masks()[mask])?).moves()[step])
    }

    /// A launch of a team of so many threads for each of some rows.
    fn launch_teams(&mut self, function: usize, rows: Range<u64>, width: u64, inner: u64) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let function = &self.module.functions[function];
        let inner = 1 << inner.clamp(1, width).ilog2();
        let mut arguments = Vec::new();
        for parameter in function.parameters(&self.module.kernel) {
            arguments.push(match parameter {
                Parameter::Dimension(id) => self.dimensions[id.index()],
                Parameter::Length(array) => self.held(array)?.length,
                Parameter::Workers => return Err(NO_TEAM.to_owned()),
                Parameter::Mask(number) => self.value(&function.masks()[number])?,
                Parameter::Move { mask, step } => self.moved(function, mask, step)?,
                Parameter::First => rows.start,
                Parameter::End => rows.end,
                Parameter::Inner => inner,
                Parameter::Array { array, .. } => self.held(array)?.memory.0,
            });
        }
        let teams = function.block / width;
        let mut grid = grid([(rows.end - rows.start).div_ceil(teams), 1], [width, teams])?;
        grid.shared = count(self.value(&function.shared(&self.module.kernel))?)?;
        self.device.launch(&function.name, grid, &arguments)
    }

    /// Measures what follows from inputs, where that was not measured before of the same ones.
    fn measure(&mut self, array: ArrayId, function: usize, places: &Expr) -> Result<()> {
        let inputs = self.inputs(array, function)?;
        if let Some(found) = inputs.as_ref().and_then(|inputs| self.measured.get(inputs)) {
            self.known.insert(array, vec![found]);
            return Ok(());
        }
        self.make(array, 1)?;
        self.fill(array, &Expr::Index(0))?;
        self.launch(function, places, None, Some(&Expr::Index(WORKERS)), None)?;
        let found = self.load(array, 0)?;
        self.known.insert(array, vec![found]);
        inputs.into_iter().for_each(|inputs| self.measured.add(inputs, found));
        Ok(())
    }

    /// All that what a function leaves in an array follows from, where what it reads stays on the device and does not change.
    fn inputs(&self, array: ArrayId, function: usize) -> Result<Option<Vec<u64>>> {
        let mut inputs = vec![function as u64];
        for parameter in self.module.functions[function].parameters(&self.module.kernel) {
            inputs.push(match parameter {
                Parameter::Dimension(id) => self.dimensions[id.index()],
                Parameter::Length(array) => self.held(array)?.length,
                Parameter::Array { array: other, .. } if other == array => continue,
                Parameter::Array { array, writes: false } => match self.number(self.held(array)?.memory) {
                    Some(number) => number,
                    None => return Ok(None),
                },
                _ => return Ok(None),
            });
        }
        Ok(Some(inputs))
    }

    /// Replaces counts by sums of those before, blocks first, then of blocks.
    fn scan(&mut self, counts: Held, first: u64) -> Result<()> {
        let blocks = counts.length.div_ceil(SCANNED);
        let memory = self.allocate(self.sums(blocks)?, "totals")?;
        let totals = Held { memory, length: blocks };
        let result = self.scan_with(counts, first, totals);
        self.device.free(memory);
        result
    }

    fn sums(&self, blocks: u64) -> Result<usize> {
        usize::try_from(blocks).ok().and_then(|blocks| blocks.checked_mul(8)).ok_or("too much to scan".to_owned())
    }

    fn scan_with(&mut self, counts: Held, first: u64, totals: Held) -> Result<()> {
        let along = |blocks: u64| grid([blocks, 1], [SCAN_BLOCK, 1]);
        let (scan, shift) = (self.module.scan(), self.module.shift());
        self.device.launch(&scan, along(totals.length)?, &[counts.length, counts.memory.0, totals.memory.0])?;
        match totals.length {
            1 => self.device.zero(totals.memory, 8)?,
            _ => self.scan(totals, 0)?,
        }
        let arguments = [counts.length, first, counts.memory.0, totals.memory.0];
        self.device.launch(&shift, along(counts.length.div_ceil(SCAN_BLOCK))?, &arguments)
    }

    /// Sorts keys below `most`, and the places that they had: by eight bits after the other, the lowest first.
    fn sort(&mut self, keys: ArrayId, places: ArrayId, most: u64) -> Result<()> {
        let length = self.held(keys)?.length;
        if length == 0 {
            return Ok(());
        }
        let bits = u64::from(u64::BITS - most.saturating_sub(1).leading_zeros());
        let counts = SCAN_BLOCK * length.div_ceil(SORTED);
        let rooms = [self.sums(counts)?, self.bytes(keys, length)?, self.bytes(places, length)?];
        let mut own = Vec::new();
        let made = rooms.into_iter().try_for_each(|bytes| {
            own.push(self.allocate(bytes, "sorted keys")?);
            Ok(())
        });
        let result = made.and_then(|()| self.sort_with([keys, places], counts, bits, &mut own));
        own.into_iter().for_each(|memory| self.device.free(memory));
        result
    }

    /// Sorts with memory for counts, and for keys and places besides their own: that which does not have them in the end stays in `own`.
    fn sort_with(&mut self, arrays: [ArrayId; 2], counts: u64, bits: u64, own: &mut [Memory]) -> Result<()> {
        let counts = Held { memory: own[0], length: counts };
        for shift in (0..bits.max(1)).step_by(8) {
            self.sort_by_digit(arrays, [own[1], own[2]], counts, shift)?;
            for (array, other) in arrays.into_iter().zip(&mut own[1..]) {
                let held = self.held.get_mut(&array).map(|held| &mut held.memory);
                held.into_iter().for_each(|memory| std::mem::swap(memory, other));
            }
        }
        Ok(())
    }

    fn sort_by_digit(&mut self, from: [ArrayId; 2], to: [Memory; 2], counts: Held, shift: u64) -> Result<()> {
        let [keys, places] = [self.held(from[0])?, self.held(from[1])?];
        let grid = grid([keys.length.div_ceil(SORTED), 1], [SCAN_BLOCK, 1])?;
        let (length, is_first) = (keys.length, u64::from(shift == 0));
        let (digits, sort) = (self.module.digits(), self.module.sort());
        self.device.launch(&digits, grid, &[length, shift, keys.memory.0, counts.memory.0])?;
        self.scan(counts, 0)?;
        let (from, to) = ([keys.memory.0, places.memory.0], [to[0].0, to[1].0]);
        let arguments = [length, shift, is_first, counts.memory.0, from[0], from[1], to[0], to[1]];
        self.device.launch(&sort, grid, &arguments)
    }

    // Expressions of the host.

    fn value(&self, expr: &Expr) -> Result<u64> {
        match expr {
            Expr::Index(value) => Ok(*value),
            Expr::Dimension(id) => match self.module.kernel.dimension(*id).size {
                Size::Constant(size) => Ok(size),
                Size::Runtime | Size::Generic => Ok(self.dimensions[id.index()]),
            },
            Expr::Length(array) => Ok(self.held(*array)?.length),
            Expr::Load(array, index) => {
                let index = self.value(index)?;
                self.load(*array, index)
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let value = match operator {
                    BinaryOperator::Add => left.checked_add(right),
                    BinaryOperator::Subtract => Some(left.saturating_sub(right)),
                    BinaryOperator::Multiply => left.checked_mul(right),
                    BinaryOperator::Divide => left.checked_div(right),
                    BinaryOperator::Remainder => left.checked_rem(right),
                    BinaryOperator::Minimum => Some(left.min(right)),
                    BinaryOperator::Maximum => Some(left.max(right)),
                    BinaryOperator::Less => Some(u64::from(left < right)),
                    BinaryOperator::LessEqual => Some(u64::from(left <= right)),
                    BinaryOperator::And => Some(left & right),
                    BinaryOperator::Or => Some(left | right),
                    _ => None,
                };
                value.ok_or_else(|| format!("{left} and {right} have no {operator:?}"))
            }
            Expr::Search { array, begin, end, value, stride, .. } => {
                let (begin, end, value) = (self.value(begin)?, self.value(end)?, self.value(value)?);
                let (mut low, mut high) = (0, end.saturating_sub(begin) / stride);
                while low < high {
                    let middle = low + (high - low) / 2;
                    if self.load(*array, begin + middle * stride)? < value {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                Ok(begin + low * stride)
            }
            Expr::Mask { part, extents } => {
                let extents: Result<Vec<u64>> = extents.iter().map(|extent| self.value(extent)).collect();
                interleave::mask(&extents?, *part).ok_or_else(|| "coordinates need more than 64 bits".to_owned())
            }
            other => Err(format!("the host can't evaluate {}", self.module.kernel.show(other))),
        }
    }

    /// Copies all elements of a short index array to the host.
    fn read_all(&mut self, array: ArrayId) -> Result<()> {
        let (held, width) = (self.held(array)?, self.width(array));
        let mut bytes = vec![0; self.bytes(array, held.length)?];
        if !bytes.is_empty() {
            self.device.read(held.memory, &mut bytes)?;
        }
        let number = |element: &[u8]| {
            let mut whole = [0; 8];
            whole[..width].copy_from_slice(element);
            u64::from_le_bytes(whole)
        };
        self.known.insert(array, bytes.chunks_exact(width).map(number).collect());
        Ok(())
    }

    /// An element of an index array.
    fn load(&self, array: ArrayId, index: u64) -> Result<u64> {
        let known = self.known.get(&array).zip(usize::try_from(index).ok());
        if let Some(&known) = known.and_then(|(known, index)| known.get(index)) {
            return Ok(known);
        }
        let (held, width) = (self.held(array)?, self.width(array));
        if index >= held.length {
            return Err(format!("`{}` has no element {index}", self.name(array)));
        }
        let mut element = [0; 8];
        self.device.read(Memory(held.memory.0 + index * width as u64), &mut element[..width])?;
        Ok(u64::from_le_bytes(element))
    }
}

/// Blocks of groups of lanes, which are as wide as iterations are many.
fn groups(places: u64, iterations: u64, block: u64) -> Result<Grid> {
    let wide = 1 << iterations.clamp(1, WARP).ilog2();
    let high = block / wide;
    grid([places.div_ceil(high), 1], [wide, high])
}

/// Blocks whose threads run over rows first: parts of a warp for short rows, else as many warps as it takes.
fn rows(places: u64, lanes: u64, block: u64) -> Result<Grid> {
    let wide = if lanes <= WARP {
        lanes.next_power_of_two()
    } else if lanes <= block {
        lanes.next_multiple_of(WARP)
    } else {
        WARP
    };
    let high = block / wide;
    grid([places.div_ceil(high), lanes.div_ceil(wide)], [wide, high])
}

/// Blocks of threads that share nothing.
fn grid(blocks: [u64; 2], threads: [u64; 2]) -> Result<Grid> {
    let both = |[x, y]: [u64; 2]| Ok::<_, String>([count(x)?, count(y)?]);
    Ok(Grid { blocks: both(blocks)?, threads: both(threads)?, shared: 0 })
}

fn count(count: u64) -> Result<u32> {
    u32::try_from(count).map_err(|_| format!("{count} blocks are more than a grid has"))
}

fn width(element: ArrayElement) -> usize {
    match element {
        ArrayElement::Index(width) => width.bytes(),
        ArrayElement::Value(element) => element.bytes(),
    }
}
