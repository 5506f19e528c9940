//! A function of machine code on its way: what its names stand for, checks, and calls of the host.

use super::doors::{self, Wrong};
use super::layout::{Kind, Layout, RUN};
use super::unit::{Result, Unit};
use crate::execute::unsupported::Unsupported;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};
use cranelift_codegen::ir::{
    self, AbiParam, Block, BlockArg, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind, Value,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_module::{FuncId, Linkage, Module};
use spc_compiler::format::IndexWidth;
use spc_compiler::ir::{
    ArrayElement, ArrayId, BinaryOperator, DimensionId, ElementType, Expr, Kernel, Size, Type, VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// A value: a complex number has two parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Val {
    pub(super) ty: Type,
    pub(super) value: Value,
    pub(super) imaginary: Option<Value>,
}

impl Val {
    pub(super) fn new(ty: Type, value: Value) -> Val {
        Val { ty, value, imaginary: None }
    }

    pub(super) fn complex(ty: Type, value: Value, imaginary: Value) -> Val {
        Val { ty, value, imaginary: Some(imaginary) }
    }

    pub(super) fn index(value: Value) -> Val {
        Val::new(Type::Index, value)
    }

    pub(super) fn truth(value: Value) -> Val {
        Val::new(Type::Bool, value)
    }

    pub(super) fn parts(self) -> impl Iterator<Item = Value> {
        std::iter::once(self.value).chain(self.imaginary)
    }
}

/// What a variable of a kernel is.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    /// A value that stays.
    Fixed(Val),
    /// What changes: as many parts as its type has.
    Mutable(Type, Vec<Variable>),
}

/// A length: what is known of it where code is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub(super) value: Value,
    /// It is this value and so much more.
    pub(super) is: (Value, u64),
    pub(super) constant: Option<u64>,
}

impl Length {
    pub(super) fn of(value: Value) -> Length {
        Length { value, is: (value, 0), constant: None }
    }
}

/// What an array of a kernel is.
#[derive(Debug, Clone)]
pub(super) enum Binding {
    Slice {
        data: Value,
        length: Length,
    },
    /// A chunk's part, whose indices are those of the whole.
    Part {
        data: Value,
        length: Value,
        base: Value,
    },
    /// The same, with what it shares with the next.
    Segments {
        data: Value,
        length: Value,
        base: Value,
        next: Value,
        further: Value,
    },
    /// The parts of a vector lie there.
    Grown(Value),
    Table(Value),
    Bitmap {
        bitmap: Value,
        extent: Value,
    },
    /// Elements in registers.
    Registers(Parts),
}

/// Those of a row, by its pieces.
pub(super) type Parts = Vec<Vec<(Variable, ir::Type)>>;

/// What a type is in registers: one part of it.
pub(super) fn register(ty: Type) -> ir::Type {
    match ty {
        Type::Index => I64,
        Type::Bool => I8,
        Type::Element(element) => match element.part().unwrap_or(element.computed()) {
            ElementType::F64 => F64,
            ElementType::F32 => F32,
            ElementType::I8 | ElementType::U8 | ElementType::Bool => I8,
            ElementType::I16 | ElementType::U16 => I16,
            ElementType::I32 | ElementType::U32 => I32,
            _ => I64,
        },
    }
}

pub(super) fn is_complex(ty: Type) -> bool {
    matches!(ty, Type::Element(element) if element.is_complex())
}

/// What a width is in memory.
pub(super) fn stored(width: IndexWidth) -> ir::Type {
    match width {
        IndexWidth::U8 => I8,
        IndexWidth::U16 => I16,
        IndexWidth::U32 => I32,
        IndexWidth::U64 => I64,
    }
}

/// Of memory that is there, at places that are multiples of an element's size.
pub(super) fn memory() -> MemFlagsData {
    MemFlagsData::trusted()
}

pub(super) struct Maker<'u, 'f> {
    pub(super) kernel: &'u Kernel,
    pub(super) unit: &'u mut Unit,
    pub(super) b: FunctionBuilder<'f>,
    pub(super) layout: Layout,
    pub(super) frame: Value,
    /// None in a query.
    pub(super) session: Option<Value>,
    pub(super) run: Value,
    /// Where checks go that fail, with what is wrong.
    failing: Block,
    /// Where it goes that has failed in a call.
    failed: Block,
    pub(super) arrays: BTreeMap<ArrayId, Binding>,
    pub(super) variables: BTreeMap<VariableId, Slot>,
    /// The ends of the loops around, by their counters, and the constants that they are.
    pub(super) ends: BTreeMap<VariableId, (Value, Option<u64>)>,
    /// Arrays that have an element at what a cursor is, until it goes on.
    pub(super) within: BTreeSet<(VariableId, ArrayId)>,
    /// For operators that a text declares.
    pub(super) operands: Vec<(Val, Val)>,
}

impl<'u, 'f> Maker<'u, 'f> {
    /// Begins a function whose parameters have these types.
    pub(super) fn begin(
        kernel: &'u Kernel,
        unit: &'u mut Unit,
        mut b: FunctionBuilder<'f>,
        session: Option<usize>,
    ) -> (Self, Vec<Value>) {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let parameters = b.block_params(entry).to_vec();
        let frame = parameters[0];
        let run = b.ins().load(I64, memory(), frame, 8 * RUN as i32);
        let (failing, failed) = (b.create_block(), b.create_block());
        for _ in 0..3 {
            b.append_block_param(failing, I64);
        }
        b.set_cold_block(failing);
        b.set_cold_block(failed);
        let maker = Self {
            kernel,
            layout: Layout::of(kernel),
            unit,
            b,
            frame,
            session: session.map(|place| parameters[place]),
            run,
            failing,
            failed,
            arrays: BTreeMap::new(),
            variables: BTreeMap::new(),
            ends: BTreeMap::new(),
            within: BTreeSet::new(),
            operands: Vec::new(),
        };
        (maker, parameters)
    }

    /// Ends it with this result, and with another where it has failed.
    pub(super) fn end(mut self, result: Value, failed: i64) {
        self.b.ins().return_(&[result]);
        self.b.switch_to_block(self.failing);
        let wrong = self.b.block_params(self.failing).to_vec();
        let run = self.run;
        self.call(doors::fail as *const u8, &[run, wrong[0], wrong[1], wrong[2]], None);
        self.b.ins().jump(self.failed, &[]);
        self.b.switch_to_block(self.failed);
        let failed = self.b.ins().iconst(I64, failed);
        self.b.ins().return_(&[failed]);
        self.b.seal_all_blocks();
        let config = self.unit.config;
        self.b.finalize(config);
    }

    /// Calls the host.
    pub(super) fn call(&mut self, door: *const u8, arguments: &[Value], result: Option<ir::Type>) -> Option<Value> {
        let mut signature = Signature::new(self.unit.config.default_call_conv);
        for argument in arguments {
            signature.params.push(AbiParam::new(self.b.func.dfg.value_type(*argument)));
        }
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.b.import_signature(signature);
        let address = self.b.ins().iconst(I64, door as i64);
        let call = self.b.ins().call_indirect(signature, address, arguments);
        result.map(|_| self.b.inst_results(call)[0])
    }

    pub(super) fn value_of(&mut self, door: *const u8, arguments: &[Value], result: ir::Type) -> Value {
        self.call(door, arguments, Some(result)).expect("the call has a result")
    }

    /// Returns where a call says that it has failed.
    pub(super) fn unless_failed(&mut self, has_failed: Value) {
        let next = self.b.create_block();
        let failed = self.failed;
        self.b.ins().brif(has_failed, failed, &[], next, &[]);
        self.b.switch_to_block(next);
        self.b.seal_block(next);
    }

    /// Returns where a call has not given an address.
    pub(super) fn address_or_failed(&mut self, address: Value) -> Value {
        let is_null = self.b.ins().icmp_imm_s(IntCC::Equal, address, 0);
        self.unless_failed(is_null);
        address
    }

    /// Says what is wrong and returns, unless it holds.
    pub(super) fn require(&mut self, holds: Value, wrong: Wrong, array: Option<ArrayId>, one: Value, other: Value) {
        // What only a failure needs is made aside: in front of the branch it takes a register from what a loop computes.
        let (next, aside) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(aside);
        self.b.ins().brif(holds, next, &[], aside, &[]);
        self.b.switch_to_block(aside);
        self.b.seal_block(aside);
        let code = self.constant(doors::code(wrong, array));
        let failing = self.failing;
        let arguments: [BlockArg; 3] = [code.into(), one.into(), other.into()];
        self.b.ins().jump(failing, &arguments);
        self.b.switch_to_block(next);
        self.b.seal_block(next);
    }

    pub(super) fn constant(&mut self, value: u64) -> Value {
        self.b.ins().iconst(I64, value as i64)
    }

    pub(super) fn session(&self) -> Result<Value> {
        self.session.ok_or_else(|| Unsupported::new("an array that is made where a loop is cut"))
    }

    pub(super) fn times(&mut self, value: Value, by: u64) -> Value {
        if by.is_power_of_two() {
            return if by == 1 { value } else { self.b.ins().ishl_imm_s(value, i64::from(by.trailing_zeros())) };
        }
        self.b.ins().imul_imm_s(value, by as i64)
    }

    pub(super) fn stack(&mut self, bytes: u64, align: u8) -> Value {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, align));
        self.b.ins().stack_addr(I64, slot, 0)
    }

    /// Words on the stack.
    pub(super) fn words(&mut self, values: &[Value]) -> Value {
        let address = self.stack(8 * values.len().max(1) as u64, 3);
        for (place, value) in values.iter().enumerate() {
            self.b.ins().store(memory(), *value, address, 8 * place as i32);
        }
        address
    }

    // Names.

    pub(super) fn dimension(&mut self, id: DimensionId) -> Value {
        match self.kernel.dimension(id).size {
            Size::Constant(size) => self.constant(size),
            Size::Runtime | Size::Generic => {
                let offset = 8 * self.layout.dimension(id) as i32;
                self.b.ins().load(I64, memory().with_readonly(), self.frame, offset)
            }
        }
    }

    pub(super) fn declare(&mut self, id: VariableId, value: Val) {
        let slot = if self.kernel.variable(id).mutable {
            let parts: Vec<Variable> = value
                .parts()
                .map(|part| {
                    let ty = self.b.func.dfg.value_type(part);
                    let variable = self.b.declare_var(ty);
                    self.b.def_var(variable, part);
                    variable
                })
                .collect();
            Slot::Mutable(value.ty, parts)
        } else {
            Slot::Fixed(value)
        };
        self.variables.insert(id, slot);
    }

    pub(super) fn assign(&mut self, id: VariableId, value: Val) -> Result<()> {
        match self.variables.get(&id) {
            Some(Slot::Mutable(_, parts)) => {
                for (variable, part) in parts.clone().into_iter().zip(value.parts()) {
                    self.b.def_var(variable, part);
                }
                Ok(())
            }
            _ => Err(Unsupported::new("a variable that is assigned elsewhere")),
        }
    }

    pub(super) fn variable(&mut self, id: VariableId) -> Result<Val> {
        match self.variables.get(&id) {
            Some(Slot::Fixed(value)) => Ok(*value),
            Some(Slot::Mutable(ty, parts)) => {
                let (ty, parts) = (*ty, parts.clone());
                let values: Vec<Value> = parts.into_iter().map(|part| self.b.use_var(part)).collect();
                Ok(Val { ty, value: values[0], imaginary: values.get(1).copied() })
            }
            None => Err(Unsupported::new("a variable of another scope")),
        }
    }

    pub(super) fn binding(&self, id: ArrayId) -> Result<Binding> {
        self.arrays.get(&id).cloned().ok_or_else(|| Unsupported::new("an array of another scope"))
    }

    pub(super) fn kind(&self, id: ArrayId) -> Kind {
        Kind::of(self.kernel.array(id).element)
    }

    pub(super) fn bytes(&self, id: ArrayId) -> u64 {
        self.kernel.array(id).element.bytes() as u64
    }

    /// The address and the length of what is in one piece.
    pub(super) fn slice(&mut self, id: ArrayId) -> Result<(Value, Length)> {
        match self.binding(id)? {
            Binding::Slice { data, length } => Ok((data, length)),
            Binding::Grown(parts) => {
                let data = self.b.ins().load(I64, memory(), parts, 0);
                let length = self.b.ins().load(I64, memory(), parts, 8);
                Ok((data, Length::of(length)))
            }
            _ => Err(Unsupported::new("an array that is not in one piece")),
        }
    }

    pub(super) fn length(&mut self, id: ArrayId) -> Result<Value> {
        Ok(self.slice(id)?.1.value)
    }

    /// A length of an array, with what is known of it.
    pub(super) fn length_of(&mut self, expr: &Expr) -> Result<Length> {
        let known = match expr {
            Expr::Index(value) => Some(*value),
            Expr::Dimension(id) => match self.kernel.dimension(*id).size {
                Size::Constant(value) => Some(value),
                _ => None,
            },
            _ => None,
        };
        if let Expr::Binary(BinaryOperator::Add, first, more) = expr
            && let Expr::Index(more) = **more
        {
            let first = self.index(first)?;
            let value = self.b.ins().iadd_imm_s(first, more as i64);
            return Ok(Length { value, is: (first, more), constant: None });
        }
        let value = self.index(expr)?;
        Ok(Length { value, is: (value, 0), constant: known })
    }

    // Elements.

    /// Whether an index is known to be below a length.
    fn is_below(&self, index: &Expr, length: Length) -> bool {
        let (counter, more) = match index {
            Expr::Index(value) => {
                let is_constant = length.constant.is_some_and(|length| *value < length);
                return is_constant || *value < length.is.1;
            }
            Expr::Variable(counter) => (counter, 0),
            Expr::Binary(BinaryOperator::Add, first, more) => match (&**first, &**more) {
                (Expr::Variable(counter), Expr::Index(more)) => (counter, *more),
                _ => return false,
            },
            _ => return false,
        };
        self.ends.get(counter).is_some_and(|(end, constant)| {
            let (is, further) = length.is;
            *end == is && more <= further
                || constant.zip(length.constant).is_some_and(|(end, length)| end.saturating_add(more) <= length)
        })
    }

    /// The address of an element.
    pub(super) fn element(&mut self, id: ArrayId, index: &Expr) -> Result<Value> {
        let place = self.index(index)?;
        let binding = self.binding(id)?;
        let is_within = || matches!(index, Expr::Variable(cursor) if self.within.contains(&(*cursor, id)));
        if let Binding::Slice { data, length } = binding
            && (self.is_below(index, length) || is_within())
        {
            let offset = self.times(place, self.bytes(id));
            return Ok(self.b.ins().iadd(data, offset));
        }
        self.element_at(id, place)
    }

    /// The same, at a place that is computed.
    pub(super) fn element_at(&mut self, id: ArrayId, place: Value) -> Result<Value> {
        let bytes = self.bytes(id);
        let (data, at) = match self.binding(id)? {
            Binding::Part { data, length, base } => {
                let at = self.b.ins().isub(place, base);
                let holds = self.b.ins().icmp(IntCC::UnsignedLessThan, at, length);
                self.require(holds, Wrong::Index, Some(id), place, length);
                (data, at)
            }
            Binding::Segments { data, length, base, next, further } => {
                let at = self.b.ins().isub(place, base);
                let is_own = self.b.ins().icmp(IntCC::UnsignedLessThan, at, length);
                return self.own_or_further(is_own, [data, at], bytes, |maker| {
                    let beyond = maker.b.ins().isub(at, length);
                    let holds = maker.b.ins().icmp(IntCC::UnsignedLessThan, beyond, further);
                    maker.require(holds, Wrong::Index, Some(id), place, length);
                    [next, beyond]
                });
            }
            _ => {
                let (data, length) = self.slice(id)?;
                let holds = self.b.ins().icmp(IntCC::UnsignedLessThan, place, length.value);
                self.require(holds, Wrong::Index, Some(id), place, length.value);
                (data, place)
            }
        };
        let offset = self.times(at, bytes);
        Ok(self.b.ins().iadd(data, offset))
    }

    /// The address of a chunk's own element, which is a data pointer and a place, or of one that it shares with the next chunk: those are
    /// few, and what finds them is made aside.
    fn own_or_further(
        &mut self,
        is_own: Value,
        [data, at]: [Value; 2],
        bytes: u64,
        find: impl FnOnce(&mut Self) -> [Value; 2],
    ) -> Result<Value> {
        let (further, ready) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(further);
        let address = self.b.append_block_param(ready, I64);
        let offset = self.times(at, bytes);
        let own = self.b.ins().iadd(data, offset);
        self.b.ins().brif(is_own, ready, &[own.into()], further, &[]);
        self.b.switch_to_block(further);
        self.b.seal_block(further);
        let [data, at] = find(self);
        let offset = self.times(at, bytes);
        let shared = self.b.ins().iadd(data, offset);
        self.b.ins().jump(ready, &[shared.into()]);
        self.b.switch_to_block(ready);
        self.b.seal_block(ready);
        Ok(address)
    }

    /// The number of places from which so many elements lie before an end.
    fn places(&mut self, end: Value, length: Length) -> Value {
        // In a loop this is the same each time, which leaves one comparison.
        let last = self.b.ins().isub(end, length.value);
        let places = self.b.ins().iadd_imm_s(last, 1);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, length.value, end);
        let none = self.constant(0);
        self.b.ins().select(fits, places, none)
    }

    /// The address of so many elements from a place on.
    pub(super) fn run_at(&mut self, id: ArrayId, begin: Value, length: Length) -> Result<Value> {
        let bytes = self.bytes(id);
        let (data, at, end) = match self.binding(id)? {
            Binding::Part { data, length, base } => (data, self.b.ins().isub(begin, base), length),
            Binding::Segments { data, length: own, base, next, further } => {
                let at = self.b.ins().isub(begin, base);
                let places = self.places(own, length);
                let is_own = self.b.ins().icmp(IntCC::UnsignedLessThan, at, places);
                return self.own_or_further(is_own, [data, at], bytes, |maker| {
                    let beyond = maker.b.ins().isub(at, own);
                    let places = maker.places(further, length);
                    let holds = maker.b.ins().icmp(IntCC::UnsignedLessThan, beyond, places);
                    maker.require(holds, Wrong::View, Some(id), begin, length.value);
                    [next, beyond]
                });
            }
            _ => {
                let (data, all) = self.slice(id)?;
                (data, begin, all.value)
            }
        };
        if length.constant.is_some() {
            let places = self.places(end, length);
            let holds = self.b.ins().icmp(IntCC::UnsignedLessThan, at, places);
            self.require(holds, Wrong::View, Some(id), begin, length.value);
        } else {
            let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, length.value, end);
            self.require(fits, Wrong::View, Some(id), begin, length.value);
            let last = self.b.ins().isub(end, length.value);
            let holds = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, at, last);
            self.require(holds, Wrong::View, Some(id), begin, length.value);
        }
        let offset = self.times(at, bytes);
        Ok(self.b.ins().iadd(data, offset))
    }

    /// What is stored at an address.
    pub(super) fn load_at(&mut self, element: ArrayElement, address: Value) -> Val {
        match element {
            ArrayElement::Index(width) => {
                let narrow = self.b.ins().load(stored(width), memory(), address, 0);
                Val::index(self.widened(narrow))
            }
            ArrayElement::Value(element) => {
                let ty = Type::of(element);
                if let Some(part) = element.part() {
                    let register = register(ty);
                    let real = self.b.ins().load(register, memory(), address, 0);
                    let imaginary = self.b.ins().load(register, memory(), address, part.bytes() as i32);
                    return Val::complex(ty, real, imaginary);
                }
                let value = match element {
                    ElementType::F16 => {
                        let bits = self.b.ins().load(I16, memory(), address, 0);
                        let bits = self.b.ins().uextend(I32, bits);
                        self.value_of(doors::half_to_f32 as *const u8, &[bits], F32)
                    }
                    ElementType::BF16 => {
                        let bits = self.b.ins().load(I16, memory(), address, 0);
                        let bits = self.b.ins().uextend(I32, bits);
                        let bits = self.b.ins().ishl_imm_s(bits, 16);
                        self.b.ins().bitcast(F32, MemFlagsData::new(), bits)
                    }
                    _ => self.b.ins().load(register(ty), memory(), address, 0),
                };
                Val::new(ty, value)
            }
        }
    }

    pub(super) fn store_at(&mut self, element: ArrayElement, address: Value, value: Val) {
        match element {
            ArrayElement::Index(width) => {
                let narrow = self.narrowed(value.value, stored(width));
                self.b.ins().store(memory(), narrow, address, 0);
            }
            ArrayElement::Value(ElementType::F16 | ElementType::BF16) => {
                let is_half = element == ArrayElement::Value(ElementType::F16);
                let door = if is_half { doors::f32_to_half as *const u8 } else { doors::f32_to_bf16 as *const u8 };
                let bits = self.value_of(door, &[value.value], I32);
                let bits = self.b.ins().ireduce(I16, bits);
                self.b.ins().store(memory(), bits, address, 0);
            }
            ArrayElement::Value(element) => {
                self.b.ins().store(memory(), value.value, address, 0);
                if let Some((imaginary, part)) = value.imaginary.zip(element.part()) {
                    self.b.ins().store(memory(), imaginary, address, part.bytes() as i32);
                }
            }
        }
    }

    pub(super) fn widened(&mut self, narrow: Value) -> Value {
        if self.b.func.dfg.value_type(narrow) == I64 { narrow } else { self.b.ins().uextend(I64, narrow) }
    }

    pub(super) fn narrowed(&mut self, wide: Value, to: ir::Type) -> Value {
        if to == I64 { wide } else { self.b.ins().ireduce(to, wide) }
    }

    /// The words of what an element of an array is filled with.
    pub(super) fn element_words(&mut self, element: ArrayElement, value: Val) -> [Value; 2] {
        let address = self.stack(16, 4);
        let zero = self.constant(0);
        self.b.ins().store(memory(), zero, address, 0);
        self.b.ins().store(memory(), zero, address, 8);
        match (value.imaginary, element) {
            // Each part has a word.
            (Some(imaginary), _) => {
                self.b.ins().store(memory(), value.value, address, 0);
                self.b.ins().store(memory(), imaginary, address, 8);
            }
            (None, element) => self.store_at(element, address, value),
        }
        [0, 8].map(|offset| self.b.ins().load(I64, memory(), address, offset))
    }
}

impl Unit {
    /// Makes a function with parameters of these types and one result. `session` is the place of the session among them.
    pub(super) fn function(
        &mut self,
        kernel: &Kernel,
        parameters: &[ir::Type],
        session: Option<usize>,
        failed: i64,
        body: impl FnOnce(&mut Maker<'_, '_>, &[Value]) -> Result<Value>,
    ) -> Result<FuncId> {
        let mut context: cranelift_codegen::Context = self.module.make_context();
        let mut of_builder = FunctionBuilderContext::new();
        context.func.signature.params.extend(parameters.iter().map(|ty| AbiParam::new(*ty)));
        context.func.signature.returns.push(AbiParam::new(I64));
        let b = FunctionBuilder::new(&mut context.func, &mut of_builder);
        let (mut maker, values) = Maker::begin(kernel, self, b, session);
        let result = body(&mut maker, &values)?;
        maker.end(result, failed);
        self.functions += 1;
        let refused = |error: cranelift_module::ModuleError| Unsupported::new(format!("{error:?}"));
        let name = format!("f{}", self.functions);
        let id = self.module.declare_function(&name, Linkage::Local, &context.func.signature).map_err(refused)?;
        self.module.define_function(id, &mut context).map_err(refused)?;
        Ok(id)
    }
}
