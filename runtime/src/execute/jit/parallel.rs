//! Parallel loops: what machine code leaves in the frame for chunks, and the functions that a loop needs.

use super::doors;
use super::function::{Binding, Length, Maker, Val, is_complex, memory, register};
use super::layout::{ARRAY_WORDS, CHUNKS, Kind, PARTIALS};
use super::session;
use super::unit::{Left, Pending, Result, Unit};
use crate::execute::unsupported::Unsupported;
use crate::half::{bf16, f16};
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_module::FuncId;
use spc_compiler::ir::{
    ArrayElement, ArrayId, ElementType, Expr, Kernel, Literal, Parallel, ReduceOperator, Sharing, Type, VariableId,
};

/// The functions of a loop.
pub(super) struct Draft {
    pub(super) body: FuncId,
    pub(super) query: FuncId,
    pub(super) node: Parallel,
    /// What combines elements of the arrays that need it.
    pub(super) adds: Vec<Option<FuncId>>,
    pub(super) uneven: Option<Box<Draft>>,
}

impl Maker<'_, '_> {
    /// Binds an array that is a parameter, as the frame has it.
    pub(super) fn enter_array(&mut self, id: ArrayId, is_grown: bool) {
        let offset = 8 * self.layout.array(id) as i32;
        let data = self.b.ins().load(I64, memory(), self.frame, offset);
        let binding = if is_grown {
            Binding::Grown(data)
        } else {
            let length = self.b.ins().load(I64, memory(), self.frame, offset + 8);
            Self::whole(data, length)
        };
        self.arrays.insert(id, binding);
    }

    pub(super) fn parallel(&mut self, node: &Parallel) -> Result<()> {
        let session = self.session()?;
        let mut pending = Pending { node: node.clone(), variables: Vec::new(), arrays: Vec::new() };
        let variables: Vec<VariableId> = self.variables.keys().copied().collect();
        for id in variables {
            let value = self.variable(id)?;
            let offset = 8 * self.layout.variable(id) as i32;
            for (part, value) in value.parts().enumerate() {
                self.b.ins().store(memory(), value, self.frame, offset + 8 * part as i32);
            }
            pending.variables.push((id, value.ty));
        }
        for (id, binding) in self.arrays.clone() {
            let offset = 8 * self.layout.array(id) as i32;
            let left = match binding {
                Binding::Slice { data, length } => {
                    self.b.ins().store(memory(), data, self.frame, offset);
                    self.b.ins().store(memory(), length.value, self.frame, offset + 8);
                    Left::Slice
                }
                Binding::Grown(parts) => {
                    self.b.ins().store(memory(), parts, self.frame, offset);
                    Left::Grown
                }
                _ => continue,
            };
            pending.arrays.push((id, left));
        }
        let plan = self.constant(self.unit.loops.len() as u64);
        self.unit.loops.push(pending);
        let frame = self.frame;
        let failed = self.value_of(doors::parallel_loop as *const u8, &[session, frame, plan], I64);
        self.unless_failed(failed);
        if node.reductions.is_empty() {
            return Ok(());
        }
        let partials = self.b.ins().load(I64, memory(), frame, 8 * PARTIALS as i32);
        let chunks = self.b.ins().load(I64, memory(), frame, 8 * CHUNKS as i32);
        let zero = self.constant(0);
        self.counted(zero, chunks, |maker, chunk| {
            let offset = maker.times(chunk, 16 * node.reductions.len() as u64);
            let of_chunk = maker.b.ins().iadd(partials, offset);
            for (place, (id, operator)) in node.reductions.iter().enumerate() {
                let before = maker.variable(*id)?;
                let value = maker.load_words(before.ty, of_chunk, 16 * place as i32);
                let after = maker.combine(*operator, before, value)?;
                maker.assign(*id, after)?;
            }
            Ok(())
        })
    }

    /// A value whose parts are words.
    fn load_words(&mut self, ty: Type, address: Value, offset: i32) -> Val {
        let value = self.b.ins().load(register(ty), memory(), address, offset);
        let imaginary = is_complex(ty).then(|| self.b.ins().load(register(ty), memory(), address, offset + 8));
        Val { ty, value, imaginary }
    }

    /// Takes what the frame has from outside of a loop.
    fn enter(&mut self, pending: &Pending) {
        for (id, ty) in &pending.variables {
            let offset = 8 * self.layout.variable(*id) as i32;
            let value = self.load_words(*ty, self.frame, offset);
            self.variables.insert(*id, super::function::Slot::Fixed(value));
        }
        for (id, left) in &pending.arrays {
            self.enter_array(*id, *left == Left::Grown);
        }
    }

    /// What a chunk does.
    fn chunk(&mut self, pending: &Pending, parameters: &[Value]) -> Result<Value> {
        self.enter(pending);
        let [_, _, low, high, parts, partials] = parameters else {
            return Err(Unsupported::new("a chunk of other parameters"));
        };
        let node = &pending.node;
        self.declare(node.low, Val::index(*low));
        self.declare(node.high, Val::index(*high));
        for (place, (array, sharing)) in node.sharing.iter().enumerate() {
            let word = |maker: &mut Self, word: usize| {
                let offset = 8 * (place * ARRAY_WORDS + word) as i32;
                maker.b.ins().load(I64, memory().with_readonly(), *parts, offset)
            };
            let (data, length) = (word(self, 0), word(self, 1));
            let binding = match sharing {
                Sharing::Owned { .. } => Binding::Part { data, length, base: word(self, 2) },
                Sharing::Segmented { .. } => {
                    let (base, next, further) = (word(self, 2), word(self, 3), word(self, 4));
                    Binding::Segments { data, length, base, next, further }
                }
                Sharing::Private(_) => Binding::Slice { data, length: Length::of(length) },
                Sharing::Joined { .. } => Binding::Grown(data),
            };
            self.arrays.insert(*array, binding);
        }
        for (id, operator) in &node.reductions {
            let identity = self.identity(*operator, self.kernel.variable(*id).ty)?;
            self.declare(*id, identity);
        }
        self.block(&node.body)?;
        for (place, (id, _)) in node.reductions.iter().enumerate() {
            let value = self.variable(*id)?;
            for (part, value) in value.parts().enumerate() {
                self.b.ins().store(memory(), value, *partials, (16 * place + 8 * part) as i32);
            }
        }
        Ok(self.constant(0))
    }

    /// The expressions that say how a loop is cut, each by its number.
    fn answers(&mut self, pending: &Pending, parameters: &[Value]) -> Result<Value> {
        self.enter(pending);
        let [_, which, place] = parameters else { return Err(Unsupported::new("a question of other parameters")) };
        let (which, place) = (*which, *place);
        let node = &pending.node;
        let at = |number: u64, variable: Option<VariableId>, expr: &Expr| (number, variable, expr.clone());
        let mut asked = vec![at(session::BEGIN, None, &node.begin), at(session::END, None, &node.end)];
        asked.extend(node.work.as_ref().map(|work| at(session::BEFORE, Some(work.place), &work.before)));
        for (share, (_, sharing)) in node.sharing.iter().enumerate() {
            match sharing {
                Sharing::Owned { place, start } => asked.push(at(session::start(share), Some(*place), start)),
                Sharing::Segmented { place, start, length, .. } => {
                    asked.push(at(session::start(share), Some(*place), start));
                    asked.push(at(session::segment(share), None, length));
                }
                Sharing::Private(_) | Sharing::Joined { .. } => {}
            }
        }
        for (number, variable, expr) in asked {
            self.answer(which, number, |maker| {
                if let Some(variable) = variable {
                    maker.declare(variable, Val::index(place));
                }
                maker.index(&expr)
            })?;
        }
        if let Some(array) = node.aligned {
            self.answer(which, session::SAME, |maker| {
                let before = maker.b.ins().iadd_imm_s(place, -1);
                let (here, before) = (maker.load_place(array, place)?, maker.load_place(array, before)?);
                let is_same = maker.b.ins().icmp(IntCC::Equal, here.value, before.value);
                Ok(maker.b.ins().uextend(I64, is_same))
            })?;
        }
        Ok(self.constant(0))
    }

    fn answer(&mut self, which: Value, number: u64, body: impl FnOnce(&mut Self) -> Result<Value>) -> Result<()> {
        let (asked, next) = (self.b.create_block(), self.b.create_block());
        let is_asked = self.b.ins().icmp_imm_s(IntCC::Equal, which, number as i64);
        self.b.ins().brif(is_asked, asked, &[], next, &[]);
        self.b.switch_to_block(asked);
        self.b.seal_block(asked);
        let value = body(self)?;
        self.b.ins().return_(&[value]);
        self.b.switch_to_block(next);
        self.b.seal_block(next);
        Ok(())
    }

    /// Elements combined with others, one by one.
    fn add(&mut self, element: ArrayElement, operator: ReduceOperator, parameters: &[Value]) -> Result<Value> {
        let [_, into, from, length] = parameters else { return Err(Unsupported::new("arrays of other parameters")) };
        let (into, from) = (*into, *from);
        let zero = self.constant(0);
        self.counted(zero, *length, |maker, place| {
            let offset = maker.times(place, element.bytes() as u64);
            let (into, from) = (maker.b.ins().iadd(into, offset), maker.b.ins().iadd(from, offset));
            let (left, right) = (maker.load_at(element, into), maker.load_at(element, from));
            let value = maker.combine(operator, left, right)?;
            maker.store_at(element, into, value);
            Ok(())
        })?;
        Ok(self.constant(0))
    }
}

impl Pending {
    /// Makes the functions of the loop.
    pub(super) fn make(self, unit: &mut Unit, kernel: &Kernel) -> Result<Draft> {
        let body = unit.function(kernel, &[I64; 6], Some(1), 1, |maker, values| maker.chunk(&self, values))?;
        let query = unit.function(kernel, &[I64; 3], None, 0, |maker, values| maker.answers(&self, values))?;
        let mut adds = Vec::new();
        for (array, sharing) in &self.node.sharing {
            let operator = match sharing {
                Sharing::Segmented { operator, .. } | Sharing::Private(operator) => *operator,
                Sharing::Owned { .. } | Sharing::Joined { .. } => {
                    adds.push(None);
                    continue;
                }
            };
            let element = kernel.array(*array).element;
            adds.push(Some(unit.addition(kernel, element, operator)?));
        }
        let Pending { mut node, variables, arrays } = self;
        let uneven = match node.uneven.take() {
            Some(uneven) => Some(Box::new(Pending { node: *uneven, variables, arrays }.make(unit, kernel)?)),
            None => None,
        };
        Ok(Draft { body, query, node, adds, uneven })
    }
}

impl Unit {
    fn addition(&mut self, kernel: &Kernel, element: ArrayElement, operator: ReduceOperator) -> Result<FuncId> {
        self.function(kernel, &[I64; 4], None, 1, |maker, values| maker.add(element, operator, values))
    }
}

impl Draft {
    /// The loop, with the addresses of its functions.
    pub(super) fn plan(self, unit: &Unit, kernel: &Kernel) -> Result<session::Plan> {
        let address = |id: FuncId| unit.module.get_finalized_function(id);
        let node = &self.node;
        let mut shares = Vec::new();
        for (place, (array, sharing)) in node.sharing.iter().enumerate() {
            let element = kernel.array(*array).element;
            // SAFETY: the function was made with these parameters.
            let add = self.adds[place].map(|id| unsafe { std::mem::transmute::<*const u8, session::Add>(address(id)) });
            let sharing = match (sharing, add) {
                (Sharing::Owned { .. }, _) => session::Sharing::Owned,
                (Sharing::Segmented { operator, anew, .. }, Some(add)) => {
                    session::Sharing::Segmented { identity: identity(element, *operator)?, add, anew: *anew }
                }
                (Sharing::Private(operator), Some(add)) => {
                    session::Sharing::Private { identity: identity(element, *operator)?, add }
                }
                (Sharing::Joined { positions_of: Some(children) }, _) => {
                    let children = node.sharing.iter().position(|(array, _)| array == children);
                    let Some(children) = children else {
                        return Err(Unsupported::new("positions in what the loop does not append to"));
                    };
                    session::Sharing::JoinedPositions { children }
                }
                (Sharing::Joined { positions_of: None }, _) => session::Sharing::Joined,
                _ => return Err(Unsupported::new("a reduction without a function")),
            };
            shares.push(session::Share { array: *array, kind: Kind::of(element), sharing });
        }
        let uneven = match self.uneven {
            Some(uneven) => Some(Box::new(uneven.plan(unit, kernel)?)),
            None => None,
        };
        // SAFETY: the functions were made with these parameters and results.
        let (body, query) = unsafe {
            (
                std::mem::transmute::<*const u8, session::Body>(address(self.body)),
                std::mem::transmute::<*const u8, session::Query>(address(self.query)),
            )
        };
        Ok(session::Plan {
            body,
            query,
            policy: node.policy(),
            is_deterministic: kernel.deterministic,
            is_aligned: node.aligned.is_some(),
            shares,
            reductions: node.reductions.len(),
            uneven,
        })
    }
}

/// The words of what a reduction of elements starts from.
fn identity(element: ArrayElement, operator: ReduceOperator) -> Result<[u64; 2]> {
    let ArrayElement::Value(element) = element else { return Err(Unsupported::new("a reduction into indices")) };
    let literal = operator.identity(element.computed());
    let literal = literal.ok_or_else(|| Unsupported::new(format!("a reduction by `{operator}`")))?;
    Ok(match literal {
        Literal::Integer(_, value) => [value as u64, 0],
        Literal::Float(_, value) => match element {
            ElementType::F64 => [value.to_bits(), 0],
            ElementType::F16 => [f16::from(value as f32).to_bits().into(), 0],
            ElementType::BF16 => [bf16::from(value as f32).to_bits().into(), 0],
            ElementType::C64 => [value.to_bits(), 0],
            _ => [(value as f32).to_bits().into(), 0],
        },
    })
}
