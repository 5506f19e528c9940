//! Loops over rows, in vector registers. Rows of a constant length, and sums for such rows, are in registers as a whole.
//!
//! A loop is one over rows if it does nothing but floating point arithmetic with what rows have at its counter and what is the same at all
//! of its places. It goes by pieces of [`LANES`] numbers, which are one vector of `f32` and two of `f64`: so that a loop may have both. A
//! loop of `f64` goes by one of the two at a time, which takes fewer registers.

use super::expressions::{factors, is_float};
use super::function::{Binding, Length, Maker, Parts, Val, memory, register};
use super::unit::{Result, Unit};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F32X4, F64, F64X2, I8X16};
use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData, Value};
use spc_compiler::ir::{
    ArrayElement, ArrayId, ElementType, Expr, Function, Kernel, Ordered, Parallel, ReduceOperator, Rows, Size,
    Statement, Type, VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of at most so many elements are written out.
const MOST_WRITTEN_OUT: u64 = 64;

/// Rows of at most so many bytes are in registers at the same time: in half of those that processors have, which leaves as many for what
/// is added to them.
const MOST_IN_REGISTERS: u64 = 128;

/// The numbers of a piece.
pub(super) const LANES: u64 = 4;

/// The rows of a loop, if vectors compute all that it does.
fn rows_of(kernel: &Kernel, ordered: &Ordered, counter: VariableId, body: &[Statement]) -> Option<Rows> {
    let rows = Rows::of(kernel, counter, body)?;
    let is_reduced = |(array, operator): &(ArrayId, ReduceOperator)| match operator {
        ReduceOperator::Add | ReduceOperator::Multiply => true,
        ReduceOperator::Min | ReduceOperator::Max => ordered.has_array(*array),
        _ => false,
    };
    let are_computed = rows.reductions.iter().all(is_reduced)
        && rows.functions.iter().all(|function| matches!(function, Function::Sqrt | Function::Abs));
    (are_computed && !rows.is_shifted && rows.arrays.is_disjoint(&rows.steady)).then_some(rows)
}

/// Whether vectors of such numbers are computed with.
pub(super) fn is_in_vectors(element: ElementType) -> bool {
    matches!(element, ElementType::F64 | ElementType::F32)
}

/// A number that is known.
fn constant(kernel: &Kernel, expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Index(value) => Some(*value),
        Expr::Dimension(id) => match kernel.dimension(*id).size {
            Size::Constant(size) => Some(size),
            _ => None,
        },
        _ => None,
    }
}

/// The local arrays that nothing but loops over all of their rows use, so that they may be in registers.
pub(super) fn in_registers(kernel: &Kernel, ordered: &Ordered) -> BTreeMap<ArrayId, u64> {
    let mut lengths: BTreeMap<ArrayId, u64> = BTreeMap::new();
    let mut others: BTreeSet<ArrayId> = BTreeSet::new();
    kernel.body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Allocate { array, length, .. } = statement
                && let Some(length) = constant(kernel, length)
                && (1..=MOST_IN_REGISTERS / kernel.array(*array).element.bytes() as u64).contains(&length)
            {
                lengths.insert(*array, length);
            }
        });
        see(kernel, ordered, statement, &lengths, &mut others);
    });
    lengths.retain(|array, _| !others.contains(array));
    limit(kernel, &kernel.body, &mut lengths);
    lengths
}

/// Leaves arrays out that there are no registers for beside those of inner loops. Gives the bytes in registers of a block.
fn limit(kernel: &Kernel, block: &[Statement], lengths: &mut BTreeMap<ArrayId, u64>) -> u64 {
    let mut taken = 0;
    for inner in block.iter().flat_map(Statement::blocks) {
        taken = taken.max(limit(kernel, inner, lengths));
    }
    for statement in block {
        if let Statement::Allocate { array, .. } = statement
            && let Some(length) = lengths.get(array)
        {
            let bytes = length * kernel.array(*array).element.bytes() as u64;
            if taken + bytes <= MOST_IN_REGISTERS {
                taken += bytes;
            } else {
                lengths.remove(array);
            }
        }
    }
    taken
}

/// Notes what is used otherwise.
fn see(
    kernel: &Kernel,
    ordered: &Ordered,
    statement: &Statement,
    lengths: &BTreeMap<ArrayId, u64>,
    others: &mut BTreeSet<ArrayId>,
) {
    if let Statement::For { variable, begin, end, vector: true, body } = statement
        && let Some(rows) = rows_of(kernel, ordered, *variable, body)
    {
        let whole = constant(kernel, end).filter(|_| *begin == Expr::Index(0));
        others.extend(rows.arrays.iter().filter(|array| lengths.get(array).copied() != whole));
        let mut note = |expr: &Expr| {
            expr.for_each(&mut |inner| {
                inner.for_each_array(&mut |array| _ = (!rows.arrays.contains(&array)).then(|| others.insert(array)));
            });
        };
        body.iter().for_each(|statement| statement.for_each_expr(&mut note));
        return;
    }
    let mut note =
        |expr: &Expr| expr.for_each(&mut |inner| inner.for_each_array(&mut |array| _ = others.insert(array)));
    statement.for_each_expr(&mut note);
    if !matches!(statement, Statement::Fill(..)) {
        others.extend(statement.written_array());
    }
    match statement {
        Statement::View { of, .. } => _ = others.insert(*of),
        Statement::Parallel(node) => {
            for node in node.alternatives().collect::<Vec<&Parallel>>() {
                others.extend(node.sharing.iter().map(|(array, _)| *array));
                others.extend(node.aligned);
                others.extend(from_outside(&node.body));
            }
        }
        _ => {}
    }
    for block in statement.blocks() {
        block.iter().for_each(|inner| see(kernel, ordered, inner, lengths, others));
    }
}

/// The arrays that a chunk has from outside of its loop, by their places in memory.
fn from_outside(body: &[Statement]) -> Vec<ArrayId> {
    let (mut used, mut made) = (BTreeSet::new(), BTreeSet::new());
    body.iter().for_each(|statement| {
        statement.for_each(&mut |inner| {
            if let Statement::Allocate { array, .. } = inner {
                made.insert(*array);
            }
            used.extend(inner.written_array());
            inner.for_each_expr(&mut |expr| {
                expr.for_each(&mut |part| part.for_each_array(&mut |array| _ = used.insert(array)));
            });
        });
    });
    used.difference(&made).copied().collect()
}

/// What so many numbers are in registers: a piece, or a single one.
pub(super) fn registers(ty: Type, count: u64) -> Vec<ir::Type> {
    match (register(ty), count) {
        (F64, LANES) => vec![F64X2; 2],
        (_, LANES) => vec![F32X4],
        (single, _) => vec![single],
    }
}

/// The pieces of a row: where each begins, and how many numbers it has.
pub(super) fn pieces(length: u64) -> impl Iterator<Item = (u64, u64)> {
    let whole = length - length % LANES;
    (0..whole).step_by(LANES as usize).map(|first| (first, LANES)).chain((whole..length).map(|first| (first, 1)))
}

/// The registers of a number in each lane.
pub(super) type Lanes = Vec<Value>;

/// Some elements of the rows of a loop.
struct Piece<'d> {
    count: u64,
    /// The number of the piece, for what is in registers.
    number: usize,
    /// The addresses of rows that are in memory, and the element of each that the piece begins with.
    rows: &'d BTreeMap<ArrayId, Value>,
    first: u64,
    /// Which of its vectors, if not all.
    half: Option<usize>,
    counter: VariableId,
    values: BTreeMap<VariableId, Lanes>,
}

impl Piece<'_> {
    /// Those of a value's registers that it has.
    fn of<T>(&self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let half = self.half;
        all.into_iter().enumerate().filter(move |(place, _)| half.is_none_or(|half| half == *place)).map(|(_, one)| one)
    }
}

impl Maker<'_, '_> {
    /// Makes a loop over rows; whether it is one.
    pub(super) fn lanes(&mut self, counter: VariableId, begin: &Expr, end: &Expr, body: &[Statement]) -> Result<bool> {
        let Some(rows) = rows_of(self.kernel, &self.unit.ordered, counter, body) else { return Ok(false) };
        let length = constant(self.kernel, end).filter(|_| *begin == Expr::Index(0));
        let in_memory: Vec<ArrayId> = rows
            .arrays
            .iter()
            .copied()
            .filter(|array| !matches!(self.arrays.get(array), Some(Binding::Registers(_))))
            .collect();
        if let Some(length) = length.filter(|length| *length <= MOST_WRITTEN_OUT) {
            if length == 0 {
                return Ok(true);
            }
            let mut addresses = BTreeMap::new();
            for array in &in_memory {
                addresses.insert(*array, self.row(*array, length)?);
            }
            for (number, (first, count)) in pieces(length).enumerate() {
                self.pieces(&rows, [count, first], number, &addresses, counter, body)?;
            }
            return Ok(true);
        }
        let (begin, end) = (self.index(begin)?, self.index(end)?);
        let (inside, after) = (self.b.create_block(), self.b.create_block());
        let is_there = self.b.ins().icmp(IntCC::UnsignedLessThan, begin, end);
        self.b.ins().brif(is_there, inside, &[], after, &[]);
        self.b.switch_to_block(inside);
        self.b.seal_block(inside);
        let length = self.b.ins().isub(end, begin);
        let mut firsts = BTreeMap::new();
        for array in &in_memory {
            firsts.insert(*array, self.run_at(*array, begin, Length::of(length))?);
        }
        let whole = self.b.ins().band_imm_s(length, -(LANES as i64));
        let zero = self.constant(0);
        for (from, to, count) in [(zero, whole, LANES), (whole, length, 1)] {
            self.stepped(from, to, count, |maker, place| {
                let at = |maker: &mut Self, array: ArrayId, first: Value| {
                    let offset = maker.times(place, maker.bytes(array));
                    maker.b.ins().iadd(first, offset)
                };
                let addresses = firsts.iter().map(|(array, first)| (*array, at(maker, *array, *first))).collect();
                maker.pieces(&rows, [count, 0], 0, &addresses, counter, body)
            })?;
        }
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
        self.b.seal_block(after);
        Ok(true)
    }

    /// The address of a row of so many elements.
    pub(super) fn row(&mut self, array: ArrayId, length: u64) -> Result<Value> {
        if let Some(Binding::Slice { data, length: known }) = self.arrays.get(&array)
            && known.constant.is_some_and(|known| length <= known)
        {
            return Ok(*data);
        }
        let zero = self.constant(0);
        let value = self.constant(length);
        self.run_at(array, zero, Length { value, is: (value, 0), constant: Some(length) })
    }

    /// A piece, by one vector of `f64` after the other where there is nothing else.
    fn pieces(
        &mut self,
        of: &Rows,
        [count, first]: [u64; 2],
        number: usize,
        rows: &BTreeMap<ArrayId, Value>,
        counter: VariableId,
        body: &[Statement],
    ) -> Result<()> {
        let halves: &[Option<usize>] =
            if of.elements.contains(&ElementType::F32) || count == 1 { &[None] } else { &[Some(0), Some(1)] };
        for &half in halves {
            self.piece(Piece { count, number, rows, first, half, counter, values: BTreeMap::new() }, body)?;
        }
        Ok(())
    }

    fn piece(&mut self, mut piece: Piece<'_>, body: &[Statement]) -> Result<()> {
        for statement in body {
            match statement {
                Statement::Let(variable, value) => {
                    let value = self.in_lanes(&piece, value)?;
                    piece.values.insert(*variable, value);
                }
                Statement::Store(array, _, value) => {
                    let value = self.in_lanes(&piece, value)?;
                    self.store_lanes(&piece, *array, &value);
                }
                Statement::Reduce(array, _, operator, value) => {
                    let ArrayElement::Value(element) = self.kernel.array(*array).element else { continue };
                    let after = if let Some((one, other)) = factors(*operator, Type::Element(element), value) {
                        let (one, other) = (self.in_lanes(&piece, one)?, self.in_lanes(&piece, other)?);
                        let before = self.load_lanes(&piece, *array);
                        let lanes = one.into_iter().zip(other).zip(before);
                        lanes.map(|((one, other), before)| self.product_added(one, other, before)).collect()
                    } else {
                        let value = self.in_lanes(&piece, value)?;
                        let before = self.load_lanes(&piece, *array);
                        let lanes = before.into_iter().zip(value);
                        lanes.map(|(before, value)| self.combine_lanes(*operator, before, value)).collect::<Lanes>()
                    };
                    self.store_lanes(&piece, *array, &after);
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn combine_lanes(&mut self, operator: ReduceOperator, before: Value, value: Value) -> Value {
        match operator {
            ReduceOperator::Add => self.b.ins().fadd(before, value),
            ReduceOperator::Multiply => self.b.ins().fmul(before, value),
            operator => self.ordered_extreme(operator == ReduceOperator::Min, before, value),
        }
    }

    fn in_lanes(&mut self, piece: &Piece<'_>, expr: &Expr) -> Result<Lanes> {
        let is_of_lanes = expr.uses(piece.counter) || piece.values.keys().any(|variable| expr.uses(*variable));
        if !is_of_lanes {
            let value = self.eval(expr)?;
            let types = piece.of(registers(value.ty, piece.count));
            return Ok(types.map(|ty| self.splat(ty, value.value)).collect());
        }
        Ok(match expr {
            Expr::Load(array, _) => self.load_lanes(piece, *array),
            Expr::Unary(_, operand) => {
                self.in_lanes(piece, operand)?.into_iter().map(|lane| self.b.ins().fneg(lane)).collect()
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.in_lanes(piece, left)?, self.in_lanes(piece, right)?);
                let lanes = left.into_iter().zip(right);
                lanes
                    .map(|(left, right)| self.arithmetic(*operator, left, right))
                    .collect::<Option<_>>()
                    .ok_or_else(no_row)?
            }
            Expr::Call(function, arguments) => {
                let operand = self.in_lanes(piece, &arguments[0])?;
                let is_root = *function == Function::Sqrt;
                let one = |lane| if is_root { self.b.ins().sqrt(lane) } else { self.b.ins().fabs(lane) };
                operand.into_iter().map(one).collect()
            }
            Expr::Cast(to, operand) => {
                let from = self.kernel.type_of(operand).map_err(|_| no_row())?;
                let operand = self.in_lanes(piece, operand)?;
                if *to == from { operand } else { self.cast_lanes(&operand) }
            }
            Expr::Variable(variable) if piece.values.contains_key(variable) => piece.values[variable].clone(),
            _ => return Err(no_row()),
        })
    }

    pub(super) fn splat(&mut self, ty: ir::Type, value: Value) -> Value {
        if ty.is_vector() { self.b.ins().splat(ty, value) } else { value }
    }

    /// `f64` of `f32`, and the other way round.
    pub(super) fn cast_lanes(&mut self, lanes: &[Value]) -> Lanes {
        match *lanes {
            [low, high] => {
                let [low, high] = [low, high].map(|lane| self.b.ins().fvdemote(lane));
                vec![self.halves(low, high, [0, 16])]
            }
            [lane] if self.b.func.dfg.value_type(lane) == F32X4 => {
                let high = self.halves(lane, lane, [8, 24]);
                [lane, high].map(|lane| self.b.ins().fvpromote_low(lane)).to_vec()
            }
            [number] if self.b.func.dfg.value_type(number) == F32 => vec![self.b.ins().fpromote(F64, number)],
            _ => lanes.iter().map(|number| self.b.ins().fdemote(F32, *number)).collect(),
        }
    }

    /// A half of each of two vectors of `f32`; each half begins at that byte of both.
    fn halves(&mut self, one: Value, other: Value, first: [u8; 2]) -> Value {
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        let [one, other] = [one, other].map(|lane| self.b.ins().bitcast(I8X16, flags, lane));
        let bytes: Vec<u8> = first.into_iter().flat_map(|first| first..first + 8).collect();
        let bytes = self.b.func.dfg.immediates.push(bytes.into());
        let both = self.b.ins().shuffle(one, other, bytes);
        self.b.ins().bitcast(F32X4, flags, both)
    }

    fn load_lanes(&mut self, piece: &Piece<'_>, array: ArrayId) -> Lanes {
        if let Some(Binding::Registers(parts)) = self.arrays.get(&array) {
            let parts = parts[piece.number].clone();
            return piece.of(parts).map(|(part, _)| self.b.use_var(part)).collect();
        }
        let ArrayElement::Value(element) = self.kernel.array(array).element else { return Lanes::new() };
        let types = piece.of(registers(Type::Element(element), piece.count)).collect();
        self.load_types(types, piece.rows[&array], self.offset(piece, array))
    }

    /// The byte of a row that a piece begins with.
    fn offset(&self, piece: &Piece<'_>, array: ArrayId) -> u64 {
        self.bytes(array) * piece.first + 16 * piece.half.unwrap_or_default() as u64
    }

    /// So many numbers from an element of a row on.
    pub(super) fn load_vectors(&mut self, element: ElementType, count: u64, row: Value, first: u64) -> Lanes {
        self.load_types(registers(Type::Element(element), count), row, first * element.bytes() as u64)
    }

    fn load_types(&mut self, types: Vec<ir::Type>, row: Value, mut offset: u64) -> Lanes {
        let mut load = |ty: ir::Type| {
            let value = self.b.ins().load(ty, flags(ty), row, offset as i32);
            offset += u64::from(ty.bytes());
            value
        };
        types.into_iter().map(&mut load).collect()
    }

    fn store_lanes(&mut self, piece: &Piece<'_>, array: ArrayId, lanes: &[Value]) {
        if let Some(Binding::Registers(parts)) = self.arrays.get(&array) {
            let parts = parts[piece.number].clone();
            piece.of(parts).zip(lanes).for_each(|((part, _), lane)| self.b.def_var(part, *lane));
            return;
        }
        self.store_vectors(piece.rows[&array], self.offset(piece, array), lanes);
    }

    fn store_vectors(&mut self, row: Value, mut offset: u64, lanes: &[Value]) {
        for lane in lanes {
            let ty = self.b.func.dfg.value_type(*lane);
            self.b.ins().store(flags(ty), *lane, row, offset as i32);
            offset += u64::from(ty.bytes());
        }
    }

    /// Makes an array in registers; whether it is one that may be.
    pub(super) fn in_registers(&mut self, array: ArrayId, length: u64, fill: Val) -> bool {
        let ArrayElement::Value(element) = self.kernel.array(array).element else { return false };
        if self.unit.in_registers.get(&array) != Some(&length) || !is_float(fill.ty) {
            return false;
        }
        let mut part = |ty: ir::Type| (self.b.declare_var(ty), ty);
        let mut parts_of = |count| registers(Type::Element(element), count).into_iter().map(&mut part).collect();
        let parts: Parts = pieces(length).map(|(_, count)| parts_of(count)).collect();
        self.fill_registers(&parts, fill.value);
        self.arrays.insert(array, Binding::Registers(parts));
        true
    }

    pub(super) fn fill_registers(&mut self, parts: &Parts, fill: Value) {
        for (part, ty) in parts.iter().flatten() {
            let value = self.splat(*ty, fill);
            self.b.def_var(*part, value);
        }
    }

    /// Fills a row in memory; whether it is one of numbers that vectors have.
    pub(super) fn fill_row(&mut self, element: ArrayElement, row: Value, length: u64, fill: Val) -> bool {
        let ArrayElement::Value(element) = element else { return false };
        if !is_in_vectors(element) || length > MOST_WRITTEN_OUT {
            return false;
        }
        for (first, count) in pieces(length) {
            let lanes: Lanes =
                registers(Type::Element(element), count).into_iter().map(|ty| self.splat(ty, fill.value)).collect();
            self.store_vectors(row, first * element.bytes() as u64, &lanes);
        }
        true
    }
}

impl Unit {
    /// Finds what may be in registers.
    pub(super) fn find_registers(&mut self, kernel: &Kernel) {
        self.in_registers = in_registers(kernel, &self.ordered);
    }
}

fn no_row() -> super::Unsupported {
    super::Unsupported::new("what is no row in a loop over rows")
}

/// Vectors begin at any element.
fn flags(ty: ir::Type) -> MemFlagsData {
    if ty.is_vector() { MemFlagsData::new().with_notrap() } else { memory() }
}
