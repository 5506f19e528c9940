//! Loops over rows, in vector registers. Rows of a constant length, and sums for such rows, are in registers as a whole.
//!
//! A loop is one over rows if it does nothing but floating point arithmetic, of one type, with what rows have at its counter and
//! what is the same at all of its places.

use super::expressions::{factors, is_float};
use super::function::{Binding, Maker, Val, memory};
use super::unit::{Result, Unit};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F32X4, F64, F64X2};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value};
use cranelift_frontend::Variable;
use spc_compiler::ir::{
    ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Function, Kernel, Ordered, Parallel, ReduceOperator,
    Size, Statement, Type, UnaryOperator, VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of at most so many elements are written out.
const MOST_WRITTEN_OUT: u64 = 64;

/// Rows of at most so many bytes are in registers: half of those that processors have.
const MOST_IN_REGISTERS: u64 = 256;

/// A loop over rows.
pub(super) struct Rows {
    element: ElementType,
    /// The arrays that have rows.
    arrays: BTreeSet<ArrayId>,
}

/// What a name in a loop over rows stands for: different values in different lanes.
struct Judge<'a> {
    kernel: &'a Kernel,
    ordered: &'a Ordered,
    counter: VariableId,
    element: Option<ElementType>,
    arrays: BTreeSet<ArrayId>,
    /// What has a value for each lane.
    of_lanes: BTreeSet<VariableId>,
    /// What is read that is the same at all places.
    others: BTreeSet<ArrayId>,
}

impl Judge<'_> {
    fn is_of_element(&mut self, element: ElementType) -> bool {
        matches!(element, ElementType::F64 | ElementType::F32) && *self.element.get_or_insert(element) == element
    }

    fn row(&mut self, array: ArrayId, index: &Expr) -> bool {
        let ArrayElement::Value(element) = self.kernel.array(array).element else { return false };
        self.arrays.insert(array);
        *index == Expr::Variable(self.counter) && self.is_of_element(element)
    }

    /// Whether it is the same at all places.
    fn is_same(&self, expr: &Expr) -> bool {
        !expr.uses(self.counter) && !self.of_lanes.iter().any(|variable| expr.uses(*variable))
    }

    fn expr(&mut self, expr: &Expr) -> bool {
        if self.is_same(expr) {
            expr.for_each(&mut |inner| inner.for_each_array(&mut |array| _ = self.others.insert(array)));
            let Ok(Type::Element(element)) = self.kernel.type_of(expr) else { return false };
            return self.is_of_element(element);
        }
        match expr {
            Expr::Variable(variable) => self.of_lanes.contains(variable),
            Expr::Load(array, index) => self.row(*array, index),
            Expr::Unary(UnaryOperator::Negate, operand) => self.expr(operand),
            Expr::Binary(operator, left, right) => {
                use BinaryOperator::{Add, Divide, Multiply, Subtract};
                matches!(operator, Add | Subtract | Multiply | Divide) && self.expr(left) && self.expr(right)
            }
            Expr::Call(Function::Sqrt | Function::Abs, arguments) => arguments.iter().all(|one| self.expr(one)),
            _ => false,
        }
    }

    fn reduces(&self, array: ArrayId, operator: ReduceOperator) -> bool {
        match operator {
            ReduceOperator::Add | ReduceOperator::Multiply => true,
            ReduceOperator::Min | ReduceOperator::Max => self.ordered.has_array(array),
            _ => false,
        }
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        match statement {
            Statement::Comment(_) => true,
            Statement::Let(variable, value) => {
                let is_one = !self.kernel.variable(*variable).mutable && self.expr(value);
                self.of_lanes.insert(*variable);
                is_one
            }
            Statement::Store(array, index, value) => self.row(*array, index) && self.expr(value),
            Statement::Reduce(array, index, operator, value) => {
                self.row(*array, index) && self.reduces(*array, *operator) && self.expr(value)
            }
            _ => false,
        }
    }
}

impl Rows {
    fn of(kernel: &Kernel, ordered: &Ordered, counter: VariableId, body: &[Statement]) -> Option<Rows> {
        let mut judge = Judge {
            kernel,
            ordered,
            counter,
            element: None,
            arrays: BTreeSet::new(),
            of_lanes: BTreeSet::new(),
            others: BTreeSet::new(),
        };
        let are_rows = body.iter().all(|statement| judge.statement(statement));
        let is_apart = judge.arrays.is_disjoint(&judge.others);
        (are_rows && is_apart && !judge.arrays.is_empty())
            .then(|| judge.element.map(|element| Rows { element, arrays: judge.arrays }))?
    }
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
    lengths
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
        && let Some(rows) = Rows::of(kernel, ordered, *variable, body)
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
    others.extend(statement.written_array());
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

/// The type of so many elements at a time.
fn vector(element: ElementType) -> (ir::Type, ir::Type, u64) {
    if element == ElementType::F64 { (F64X2, F64, 2) } else { (F32X4, F32, 4) }
}

/// The pieces of a row: where each begins, and its type.
fn pieces(element: ElementType, length: u64) -> Vec<(u64, ir::Type)> {
    let (wide, narrow, width) = vector(element);
    let whole = length - length % width;
    let vectors = (0..whole).step_by(width as usize).map(|first| (first, wide));
    vectors.chain((whole..length).map(|first| (first, narrow))).collect()
}

/// Some elements of the rows of a loop.
struct Piece<'d> {
    ty: ir::Type,
    /// The number of the piece, for what is in registers.
    number: usize,
    /// The address of the first element of each row that is in memory, and how many bytes behind it the piece is.
    rows: &'d BTreeMap<ArrayId, Value>,
    offset: i32,
    counter: VariableId,
    values: BTreeMap<VariableId, Value>,
}

impl Maker<'_, '_> {
    /// Makes a loop over rows; whether it is one.
    pub(super) fn lanes(&mut self, counter: VariableId, begin: &Expr, end: &Expr, body: &[Statement]) -> Result<bool> {
        let Some(rows) = Rows::of(self.kernel, &self.unit.ordered, counter, body) else { return Ok(false) };
        let bytes = rows.element.bytes() as u64;
        let length = constant(self.kernel, end).filter(|_| *begin == Expr::Index(0));
        let written_out = length.filter(|length| *length <= MOST_WRITTEN_OUT);
        let in_memory: Vec<ArrayId> = rows
            .arrays
            .iter()
            .copied()
            .filter(|array| !matches!(self.arrays.get(array), Some(Binding::Registers(_))))
            .collect();
        if let Some(length) = written_out {
            if length == 0 {
                return Ok(true);
            }
            let mut addresses = BTreeMap::new();
            for array in &in_memory {
                addresses.insert(*array, self.row(*array, length)?);
            }
            for (number, (first, ty)) in pieces(rows.element, length).into_iter().enumerate() {
                let offset = (first * bytes) as i32;
                let values = BTreeMap::new();
                self.piece(Piece { ty, number, rows: &addresses, offset, counter, values }, body)?;
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
            firsts.insert(*array, self.run_at(*array, begin, length)?);
        }
        let (wide, narrow, width) = vector(rows.element);
        let whole = self.b.ins().band_imm_s(length, -(width as i64));
        let zero = self.constant(0);
        for (from, to, ty, step) in [(zero, whole, wide, width), (whole, length, narrow, 1)] {
            self.stepped(from, to, step, |maker, place| {
                let offset = maker.times(place, bytes);
                let at = |maker: &mut Self, first: Value| maker.b.ins().iadd(first, offset);
                let rows = firsts.iter().map(|(array, first)| (*array, at(maker, *first))).collect();
                maker.piece(Piece { ty, number: 0, rows: &rows, offset: 0, counter, values: BTreeMap::new() }, body)
            })?;
        }
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
        self.b.seal_block(after);
        Ok(true)
    }

    /// The address of a row of so many elements.
    fn row(&mut self, array: ArrayId, length: u64) -> Result<Value> {
        if let Some(Binding::Slice { data, length: known }) = self.arrays.get(&array)
            && known.constant.is_some_and(|known| length <= known)
        {
            return Ok(*data);
        }
        let (zero, length) = (self.constant(0), self.constant(length));
        self.run_at(array, zero, length)
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
                    self.store_lanes(&piece, *array, value)?;
                }
                Statement::Reduce(array, _, operator, value) => {
                    let after =
                        if let Some((one, other)) = factors(*operator, Type::Element(element_of(piece.ty)), value) {
                            let (one, other) = (self.in_lanes(&piece, one)?, self.in_lanes(&piece, other)?);
                            let before = self.load_lanes(&piece, *array)?;
                            if self.unit.is_fused {
                                self.b.ins().fma(one, other, before)
                            } else {
                                let product = self.b.ins().fmul(one, other);
                                self.b.ins().fadd(before, product)
                            }
                        } else {
                            let value = self.in_lanes(&piece, value)?;
                            let before = self.load_lanes(&piece, *array)?;
                            self.combine_lanes(*operator, before, value)
                        };
                    self.store_lanes(&piece, *array, after)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn combine_lanes(&mut self, operator: ReduceOperator, before: Value, value: Value) -> Value {
        match operator {
            ReduceOperator::Add => self.b.ins().fadd(before, value),
            ReduceOperator::Multiply => self.b.ins().fmul(before, value),
            operator => self.ordered_extreme(operator == ReduceOperator::Min, before, value),
        }
    }

    fn in_lanes(&mut self, piece: &Piece<'_>, expr: &Expr) -> Result<Value> {
        let is_of_lanes = expr.uses(piece.counter) || piece.values.keys().any(|variable| expr.uses(*variable));
        if !is_of_lanes {
            let value = self.eval(expr)?.value;
            return Ok(if piece.ty.is_vector() { self.b.ins().splat(piece.ty, value) } else { value });
        }
        match expr {
            Expr::Load(array, _) => self.load_lanes(piece, *array),
            Expr::Unary(_, operand) => {
                let operand = self.in_lanes(piece, operand)?;
                Ok(self.b.ins().fneg(operand))
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.in_lanes(piece, left)?, self.in_lanes(piece, right)?);
                Ok(match operator {
                    BinaryOperator::Add => self.b.ins().fadd(left, right),
                    BinaryOperator::Subtract => self.b.ins().fsub(left, right),
                    BinaryOperator::Multiply => self.b.ins().fmul(left, right),
                    _ => self.b.ins().fdiv(left, right),
                })
            }
            Expr::Call(function, arguments) => {
                let operand = self.in_lanes(piece, &arguments[0])?;
                Ok(if *function == Function::Sqrt { self.b.ins().sqrt(operand) } else { self.b.ins().fabs(operand) })
            }
            Expr::Variable(variable) if piece.values.contains_key(variable) => Ok(piece.values[variable]),
            _ => Err(super::Unsupported::new("what is no row in a loop over rows")),
        }
    }

    fn load_lanes(&mut self, piece: &Piece<'_>, array: ArrayId) -> Result<Value> {
        if let Some(Binding::Registers(parts)) = self.arrays.get(&array) {
            let part = parts[piece.number];
            return Ok(self.b.use_var(part));
        }
        let address = piece.rows[&array];
        Ok(self.b.ins().load(piece.ty, flags(piece.ty), address, piece.offset))
    }

    fn store_lanes(&mut self, piece: &Piece<'_>, array: ArrayId, value: Value) -> Result<()> {
        if let Some(Binding::Registers(parts)) = self.arrays.get(&array) {
            let part = parts[piece.number];
            self.b.def_var(part, value);
            return Ok(());
        }
        let address = piece.rows[&array];
        self.b.ins().store(flags(piece.ty), value, address, piece.offset);
        Ok(())
    }

    /// Makes an array in registers; whether it is one that may be.
    pub(super) fn in_registers(&mut self, array: ArrayId, length: u64, fill: Val) -> bool {
        let ArrayElement::Value(element) = self.kernel.array(array).element else { return false };
        if self.unit.in_registers.get(&array) != Some(&length) || !is_float(fill.ty) {
            return false;
        }
        let mut parts: Vec<Variable> = Vec::new();
        for (_, ty) in pieces(element, length) {
            let value = if ty.is_vector() { self.b.ins().splat(ty, fill.value) } else { fill.value };
            let part = self.b.declare_var(ty);
            self.b.def_var(part, value);
            parts.push(part);
        }
        self.arrays.insert(array, Binding::Registers(parts));
        true
    }
}

impl Unit {
    /// Finds what may be in registers.
    pub(super) fn find_registers(&mut self, kernel: &Kernel) {
        self.in_registers = in_registers(kernel, &self.ordered);
    }
}

fn element_of(ty: ir::Type) -> ElementType {
    if ty == F64X2 || ty == F64 { ElementType::F64 } else { ElementType::F32 }
}

/// Vectors begin at any element.
fn flags(ty: ir::Type) -> MemFlagsData {
    if ty.is_vector() { MemFlagsData::new().with_notrap() } else { memory() }
}
