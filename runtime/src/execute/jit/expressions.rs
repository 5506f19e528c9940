//! Expressions as machine code.

use super::doors::{self, Wrong};
use super::function::{Maker, Val, is_complex, memory, register};
use super::unit::Result;
use crate::execute::unsupported::Unsupported;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I64};
use cranelift_codegen::ir::{self, BlockArg, Endianness, InstBuilder, MemFlagsData, Value};
use spc_compiler::ir::tables::monoid::{LEFT, RIGHT};
use spc_compiler::ir::{
    ArrayElement, ArrayId, BinaryOperator, Combine, ElementType, Expr, Function, Literal, ReduceOperator, Type,
    UnaryOperator,
};

/// The number of a function, for the host.
fn number(function: Function) -> u64 {
    Function::ALL.iter().position(|known| *known == function).unwrap_or_default() as u64
}

pub(super) fn is_float(ty: Type) -> bool {
    matches!(ty, Type::Element(element) if element.is_float())
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::Element(element) if element.is_integer() && element.is_signed())
}

impl Maker<'_, '_> {
    /// The value of an expression of type `index`.
    pub(super) fn index(&mut self, expr: &Expr) -> Result<Value> {
        Ok(self.eval(expr)?.value)
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Result<Val> {
        match expr {
            Expr::Index(value) => Ok(Val::index(self.constant(*value))),
            Expr::Bool(value) => Ok(Val::truth(self.b.ins().iconst(I8, i64::from(*value)))),
            Expr::Literal(literal) => Ok(self.literal(*literal)),
            Expr::Variable(id) => {
                if let Some((left, right)) = self.operands.last() {
                    match *id {
                        LEFT => return Ok(*left),
                        RIGHT => return Ok(*right),
                        _ => {}
                    }
                }
                self.variable(*id)
            }
            Expr::Dimension(id) => Ok(Val::index(self.dimension(*id))),
            Expr::Length(array) => Ok(Val::index(self.length(*array)?)),
            Expr::Load(array, index) => self.load(*array, index),
            Expr::Unary(operator, operand) => {
                let operand = self.eval(operand)?;
                Ok(self.unary(*operator, operand))
            }
            Expr::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), left, right) => {
                let left = self.eval(left)?;
                if right.is_cheap() {
                    let right = self.eval(right)?;
                    return self.binary(*operator, left, right);
                }
                let is_and = *operator == BinaryOperator::And;
                let settled = Val::truth(self.b.ins().iconst(I8, i64::from(!is_and)));
                if is_and {
                    self.choose(left.value, |maker| maker.eval(right), |_| Ok(settled))
                } else {
                    self.choose(left.value, |_| Ok(settled), |maker| maker.eval(right))
                }
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                self.binary(*operator, left, right)
            }
            Expr::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.eval(argument)).collect::<Result<Vec<Val>>>()?;
                self.function(*function, &arguments)
            }
            Expr::Select(condition, yes, no) => {
                let condition = self.eval(condition)?.value;
                if yes.is_cheap() && no.is_cheap() {
                    let (yes, no) = (self.eval(yes)?, self.eval(no)?);
                    return Ok(self.select(condition, yes, no));
                }
                self.choose(condition, |maker| maker.eval(yes), |maker| maker.eval(no))
            }
            Expr::Cast(ty, operand) => {
                let operand = self.eval(operand)?;
                self.cast(*ty, operand)
            }
            Expr::Search { array, begin, end, value, stride, .. } => self.search(*array, begin, end, value, *stride),
            Expr::Mask { part, extents } => {
                let extents = extents.iter().map(|extent| self.index(extent)).collect::<Result<Vec<Value>>>()?;
                let count = self.constant(extents.len() as u64);
                let (part, extents) = (self.constant(*part as u64), self.words(&extents));
                Ok(Val::index(self.value_of(doors::mask as *const u8, &[part, extents, count], I64)))
            }
            Expr::Fold(operator, term) => self.fold(*operator, term),
        }
    }

    /// One or the other, of which only that is computed which is chosen.
    fn choose(
        &mut self,
        condition: Value,
        yes: impl FnOnce(&mut Self) -> Result<Val>,
        no: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        let (then, otherwise, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, then, &[], otherwise, &[]);
        self.b.switch_to_block(then);
        self.b.seal_block(then);
        let chosen = yes(self)?;
        let values: Vec<BlockArg> = chosen.parts().map(Into::into).collect();
        let types: Vec<ir::Type> = chosen.parts().map(|part| self.b.func.dfg.value_type(part)).collect();
        self.b.ins().jump(after, &values);
        self.b.switch_to_block(otherwise);
        self.b.seal_block(otherwise);
        let values: Vec<BlockArg> = no(self)?.parts().map(Into::into).collect();
        self.b.ins().jump(after, &values);
        self.b.switch_to_block(after);
        self.b.seal_block(after);
        let parts: Vec<Value> = types.into_iter().map(|ty| self.b.append_block_param(after, ty)).collect();
        Ok(Val { ty: chosen.ty, value: parts[0], imaginary: parts.get(1).copied() })
    }

    pub(super) fn select(&mut self, condition: Value, yes: Val, no: Val) -> Val {
        let value = self.b.ins().select(condition, yes.value, no.value);
        let imaginary = yes.imaginary.zip(no.imaginary);
        let imaginary = imaginary.map(|(yes, no)| self.b.ins().select(condition, yes, no));
        Val { ty: yes.ty, value, imaginary }
    }

    pub(super) fn literal(&mut self, literal: Literal) -> Val {
        let ty = Type::of(literal.element());
        let value = match literal {
            Literal::Float(element, value) => {
                let is_wide = element.part().unwrap_or(element) == ElementType::F64;
                let number = |maker: &mut Self, value: f64| match is_wide {
                    true => maker.b.ins().f64const(value),
                    false => maker.b.ins().f32const(value as f32),
                };
                if is_complex(ty) {
                    let (real, imaginary) = (number(self, value), number(self, 0.0));
                    return Val::complex(ty, real, imaginary);
                }
                number(self, value)
            }
            Literal::Integer(_, value) => self.integer(register(ty), value as i64),
        };
        Val::new(ty, value)
    }

    /// A constant of an integer type, of whose bits those are taken that it has.
    fn integer(&mut self, ty: ir::Type, value: i64) -> Value {
        let bits = ty.bits();
        let mask = if bits == 64 { -1 } else { (1i64 << bits) - 1 };
        self.b.ins().iconst(ty, value & mask)
    }

    fn load(&mut self, array: ArrayId, index: &Expr) -> Result<Val> {
        let address = self.element(array, index)?;
        Ok(self.load_at(self.kernel.array(array).element, address))
    }

    /// What an array has at a place that is computed.
    pub(super) fn load_place(&mut self, array: ArrayId, place: Value) -> Result<Val> {
        let address = self.element_at(array, place)?;
        Ok(self.load_at(self.kernel.array(array).element, address))
    }

    pub(super) fn gathered(&mut self, code: Value, mask: Value) -> Value {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            return self.value_of(doors::gather_in_one as *const u8, &[code, mask], I64);
        }
        self.value_of(doors::gather as *const u8, &[code, mask], I64)
    }

    fn unary(&mut self, operator: UnaryOperator, operand: Val) -> Val {
        let negated = |maker: &mut Self, value: Value| match is_float(operand.ty) || is_complex(operand.ty) {
            true => maker.b.ins().fneg(value),
            false => maker.b.ins().ineg(value),
        };
        match operator {
            UnaryOperator::Not => Val::truth(self.b.ins().bxor_imm_s(operand.value, 1)),
            UnaryOperator::Negate => {
                let value = negated(self, operand.value);
                let imaginary = operand.imaginary.map(|imaginary| negated(self, imaginary));
                Val { ty: operand.ty, value, imaginary }
            }
        }
    }

    pub(super) fn binary(&mut self, operator: BinaryOperator, left: Val, right: Val) -> Result<Val> {
        use BinaryOperator::*;
        let (ty, a, b) = (left.ty, left.value, right.value);
        if matches!(operator, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual) {
            return Ok(Val::truth(self.compare(operator, left, right)));
        }
        if let Some((c, d)) = left.imaginary.zip(right.imaginary) {
            return self.complex(operator, ty, [a, c], [b, d]);
        }
        let value = if let Some(value) = is_float(ty).then(|| self.arithmetic(operator, a, b)).flatten() {
            value
        } else if is_float(ty) {
            match operator {
                Remainder if register(ty) == F64 => self.value_of(doors::remainder_f64 as *const u8, &[a, b], F64),
                Remainder => self.value_of(doors::remainder_f32 as *const u8, &[a, b], F32),
                other => return Err(Unsupported::new(format!("`{}` of floating point numbers", other.symbol()))),
            }
        } else {
            match operator {
                Add => self.b.ins().iadd(a, b),
                Subtract => self.b.ins().isub(a, b),
                Multiply => self.b.ins().imul(a, b),
                Divide | Remainder => self.quotient(operator, ty, a, b),
                Minimum => self.b.ins().umin(a, b),
                Maximum => self.b.ins().umax(a, b),
                Gather => self.gathered(a, b),
                Scatter => self.value_of(doors::scatter as *const u8, &[a, b], I64),
                Rank => {
                    let one = self.constant(1);
                    let end = self.b.ins().ishl(one, b);
                    let below = self.b.ins().iadd_imm_s(end, -1);
                    let lowest = self.b.ins().band(a, below);
                    self.b.ins().popcnt(lowest)
                }
                And | BitAnd => self.b.ins().band(a, b),
                Or | BitOr => self.b.ins().bor(a, b),
                other => return Err(Unsupported::new(format!("`{}` of whole numbers", other.symbol()))),
            }
        };
        Ok(Val::new(ty, value))
    }

    /// Of floating point numbers, or of vectors of them.
    pub(super) fn arithmetic(&mut self, operator: BinaryOperator, left: Value, right: Value) -> Option<Value> {
        Some(match operator {
            BinaryOperator::Add => self.b.ins().fadd(left, right),
            BinaryOperator::Subtract => self.b.ins().fsub(left, right),
            BinaryOperator::Multiply => self.b.ins().fmul(left, right),
            BinaryOperator::Divide => self.b.ins().fdiv(left, right),
            _ => return None,
        })
    }

    /// Of whole numbers: it fails for a divisor of zero, and wraps around.
    fn quotient(&mut self, operator: BinaryOperator, ty: Type, a: Value, b: Value) -> Value {
        let is_quotient = operator == BinaryOperator::Divide;
        let is_there = self.b.ins().icmp_imm_s(IntCC::NotEqual, b, 0);
        let wrong = if is_quotient { Wrong::Division } else { Wrong::Remainder };
        let zero = self.constant(0);
        self.require(is_there, wrong, None, zero, zero);
        let narrow = self.b.func.dfg.value_type(a);
        let (wide, a, b) = if narrow.bits() < 32 {
            let widened = |maker: &mut Self, value| match is_signed(ty) {
                true => maker.b.ins().sextend(I32, value),
                false => maker.b.ins().uextend(I32, value),
            };
            (I32, widened(self, a), widened(self, b))
        } else {
            (narrow, a, b)
        };
        let value = if is_signed(ty) {
            // The least number by -1 would be a trap.
            let is_negation = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
            let one = self.integer(wide, 1);
            let divisor = self.b.ins().select(is_negation, one, b);
            if is_quotient {
                let (quotient, negated) = (self.b.ins().sdiv(a, divisor), self.b.ins().ineg(a));
                self.b.ins().select(is_negation, negated, quotient)
            } else {
                self.b.ins().srem(a, divisor)
            }
        } else if is_quotient {
            self.b.ins().udiv(a, b)
        } else {
            self.b.ins().urem(a, b)
        };
        if wide == narrow { value } else { self.b.ins().ireduce(narrow, value) }
    }

    fn complex(&mut self, operator: BinaryOperator, ty: Type, a: [Value; 2], b: [Value; 2]) -> Result<Val> {
        let [(re, im), (by_re, by_im)] = [(a[0], a[1]), (b[0], b[1])];
        let (value, imaginary) = match operator {
            BinaryOperator::Add => (self.b.ins().fadd(re, by_re), self.b.ins().fadd(im, by_im)),
            BinaryOperator::Subtract => (self.b.ins().fsub(re, by_re), self.b.ins().fsub(im, by_im)),
            BinaryOperator::Multiply => {
                let [rr, ii] = [self.b.ins().fmul(re, by_re), self.b.ins().fmul(im, by_im)];
                let [ri, ir] = [self.b.ins().fmul(re, by_im), self.b.ins().fmul(im, by_re)];
                (self.b.ins().fsub(rr, ii), self.b.ins().fadd(ri, ir))
            }
            BinaryOperator::Divide => {
                let is_wide = register(ty) == F64;
                let door = if is_wide { doors::quotient_c64 as *const u8 } else { doors::quotient_c32 as *const u8 };
                return Ok(self.complex_result(ty, door, &[re, im, by_re, by_im]));
            }
            other => return Err(Unsupported::new(format!("`{}` of complex numbers", other.symbol()))),
        };
        Ok(Val::complex(ty, value, imaginary))
    }

    /// The complex number that a call leaves.
    fn complex_result(&mut self, ty: Type, door: *const u8, arguments: &[Value]) -> Val {
        let result = self.stack(16, 3);
        let arguments = [arguments, &[result]].concat();
        self.call(door, &arguments, None);
        let part = register(ty);
        let value = self.b.ins().load(part, memory(), result, 0);
        let imaginary = self.b.ins().load(part, memory(), result, part.bytes() as i32);
        Val::complex(ty, value, imaginary)
    }

    pub(super) fn compare(&mut self, operator: BinaryOperator, left: Val, right: Val) -> Value {
        use BinaryOperator::*;
        if let Some((c, d)) = left.imaginary.zip(right.imaginary) {
            let real = self.b.ins().fcmp(FloatCC::Equal, left.value, right.value);
            let imaginary = self.b.ins().fcmp(FloatCC::Equal, c, d);
            let equal = self.b.ins().band(real, imaginary);
            return if operator == Equal { equal } else { self.b.ins().bxor_imm_s(equal, 1) };
        }
        if is_float(left.ty) {
            let condition = match operator {
                Equal => FloatCC::Equal,
                NotEqual => FloatCC::NotEqual,
                Less => FloatCC::LessThan,
                LessEqual => FloatCC::LessThanOrEqual,
                Greater => FloatCC::GreaterThan,
                _ => FloatCC::GreaterThanOrEqual,
            };
            return self.b.ins().fcmp(condition, left.value, right.value);
        }
        let condition = match (operator, is_signed(left.ty)) {
            (Equal, _) => IntCC::Equal,
            (NotEqual, _) => IntCC::NotEqual,
            (Less, true) => IntCC::SignedLessThan,
            (Less, false) => IntCC::UnsignedLessThan,
            (LessEqual, true) => IntCC::SignedLessThanOrEqual,
            (LessEqual, false) => IntCC::UnsignedLessThanOrEqual,
            (Greater, true) => IntCC::SignedGreaterThan,
            (Greater, false) => IntCC::UnsignedGreaterThan,
            (_, true) => IntCC::SignedGreaterThanOrEqual,
            (_, false) => IntCC::UnsignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(condition, left.value, right.value)
    }

    /// The smaller or larger of two; of a number and NaN, the number; -0 is smaller than 0.
    fn extreme(&mut self, is_least: bool, left: Val, right: Val) -> Val {
        let operator = if is_least { BinaryOperator::Less } else { BinaryOperator::Greater };
        if !is_float(left.ty) {
            let is_left = self.compare(operator, left, right);
            return self.select(is_left, left, right);
        }
        let value = self.ordered_extreme(is_least, left.value, right.value);
        let is_nothing = self.b.ins().fcmp(FloatCC::Unordered, left.value, left.value);
        let value = self.b.ins().select(is_nothing, right.value, value);
        Val::new(left.ty, value)
    }

    /// The same of floating point numbers, of which the left is never NaN.
    pub(super) fn ordered_extreme(&mut self, is_least: bool, left: Value, right: Value) -> Value {
        // The instructions give NaN where either is.
        let value = if is_least { self.b.ins().fmin(left, right) } else { self.b.ins().fmax(left, right) };
        let is_nothing = self.b.ins().fcmp(FloatCC::Unordered, right, right);
        self.either(is_nothing, left, value)
    }

    /// One or the other; for each lane by itself.
    pub(super) fn either(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.b.func.dfg.value_type(yes);
        if !ty.is_vector() {
            return self.b.ins().select(condition, yes, no);
        }
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        let condition = self.b.ins().bitcast(ty, flags, condition);
        self.b.ins().bitselect(condition, yes, no)
    }

    pub(super) fn function(&mut self, function: Function, arguments: &[Val]) -> Result<Val> {
        let first = arguments[0];
        let Type::Element(element) = first.ty else {
            return match function {
                Function::Min | Function::Max => Ok(self.extreme(function == Function::Min, first, arguments[1])),
                _ => Err(Unsupported::new(format!("`{}` of indices", function.name()))),
            };
        };
        let ty = Type::Element(function.result(element));
        match function {
            Function::Min | Function::Max => Ok(self.extreme(function == Function::Min, first, arguments[1])),
            Function::Abs if element.is_float() => Ok(Val::new(ty, self.b.ins().fabs(first.value))),
            Function::Abs if element.is_integer() && !element.is_signed() => Ok(first),
            Function::Abs if element.is_integer() => {
                let negated = self.b.ins().ineg(first.value);
                let is_negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, first.value, 0);
                Ok(Val::new(ty, self.b.ins().select(is_negative, negated, first.value)))
            }
            Function::Sqrt if element.is_float() => Ok(Val::new(ty, self.b.ins().sqrt(first.value))),
            Function::Complex => Ok(Val::complex(ty, first.value, arguments[1].value)),
            Function::Re => Ok(Val::new(ty, first.value)),
            Function::Im | Function::Conj | Function::Abs | Function::Sqrt | Function::Exp if element.is_complex() => {
                let Some(imaginary) = first.imaginary else {
                    return Err(Unsupported::new("a complex number of one part"));
                };
                match function {
                    Function::Im => Ok(Val::new(ty, imaginary)),
                    Function::Conj => {
                        let imaginary = self.b.ins().fneg(imaginary);
                        Ok(Val::complex(ty, first.value, imaginary))
                    }
                    _ => {
                        let is_wide = register(ty) == F64;
                        let door = if is_wide { doors::of_c64 as *const u8 } else { doors::of_c32 as *const u8 };
                        let which = self.constant(number(function));
                        let value = self.complex_result(first.ty, door, &[which, first.value, imaginary]);
                        Ok(if is_complex(ty) { value } else { Val::new(ty, value.value) })
                    }
                }
            }
            _ if element.is_float() => {
                let which = self.constant(number(function));
                let second = arguments.get(1).unwrap_or(&first).value;
                let (door, result) = match register(ty) {
                    F64 => (doors::of_f64 as *const u8, F64),
                    _ => (doors::of_f32 as *const u8, F32),
                };
                Ok(Val::new(ty, self.value_of(door, &[which, first.value, second], result)))
            }
            _ => Err(Unsupported::new(format!("`{}` of `{}`", function.name(), element.name()))),
        }
    }

    pub(super) fn cast(&mut self, to: Type, value: Val) -> Result<Val> {
        if to == value.ty {
            return Ok(value);
        }
        if let Type::Element(element) = to
            && let Some(part) = element.part()
        {
            let part_type = Type::Element(part);
            let real = Val { ty: real_type(value.ty), imaginary: None, ..value };
            let real = self.cast(part_type, real)?.value;
            let imaginary = match value.imaginary {
                Some(imaginary) => self.cast(part_type, Val::new(real_type(value.ty), imaginary))?.value,
                None if register(to) == F64 => self.b.ins().f64const(0.0),
                None => self.b.ins().f32const(0.0),
            };
            return Ok(Val::complex(to, real, imaginary));
        }
        let (from, target) = (register(value.ty), register(to));
        let of = value.value;
        let result = match (is_float(value.ty), is_float(to)) {
            (true, true) if from == target => of,
            (true, true) if target == F64 => self.b.ins().fpromote(F64, of),
            (true, true) => self.b.ins().fdemote(F32, of),
            (true, false) => self.rounded(of, to, target),
            (false, true) => {
                let wide = match (from.bits() < 64, is_signed(value.ty)) {
                    (false, _) => of,
                    (true, true) => self.b.ins().sextend(I64, of),
                    (true, false) => self.b.ins().uextend(I64, of),
                };
                match is_signed(value.ty) || from.bits() < 64 {
                    true => self.b.ins().fcvt_from_sint(target, wide),
                    false => self.b.ins().fcvt_from_uint(target, wide),
                }
            }
            (false, false) if target.bits() == from.bits() => of,
            (false, false) if target.bits() < from.bits() => self.b.ins().ireduce(target, of),
            (false, false) if is_signed(value.ty) => self.b.ins().sextend(target, of),
            (false, false) => self.b.ins().uextend(target, of),
        };
        Ok(Val::new(to, result))
    }

    /// The whole number of a floating point number: the nearest that there is towards zero, and zero for NaN.
    fn rounded(&mut self, value: Value, to: Type, target: ir::Type) -> Value {
        if target.bits() >= 32 {
            return match is_signed(to) {
                true => self.b.ins().fcvt_to_sint_sat(target, value),
                false => self.b.ins().fcvt_to_uint_sat(target, value),
            };
        }
        let wide = self.b.ins().fcvt_to_sint_sat(I32, value);
        let bits = target.bits();
        let (least, greatest) = match is_signed(to) {
            true => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
            false => (0, (1i64 << bits) - 1),
        };
        let (least, greatest) = (self.integer(I32, least), self.integer(I32, greatest));
        let wide = self.b.ins().smax(wide, least);
        let wide = self.b.ins().smin(wide, greatest);
        self.b.ins().ireduce(target, wide)
    }

    /// By halves.
    fn search(&mut self, array: ArrayId, begin: &Expr, end: &Expr, value: &Expr, stride: u64) -> Result<Val> {
        let (begin, end, value) = (self.index(begin)?, self.index(end)?, self.index(value)?);
        let ArrayElement::Index(width) = self.kernel.array(array).element else {
            return Err(Unsupported::new("a search in values"));
        };
        let (data, length) = self.slice(array)?;
        let is_empty = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, begin, end);
        let last = self.b.ins().iadd_imm_s(end, -(stride as i64));
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThan, last, length.value);
        let holds = self.b.ins().bor(is_empty, fits);
        self.require(holds, Wrong::Index, Some(array), last, length.value);
        let (head, body, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let (low, high) = (self.b.append_block_param(head, I64), self.b.append_block_param(head, I64));
        let zero = self.constant(0);
        let places = self.b.ins().isub(end, begin);
        let places = if stride == 1 {
            places
        } else {
            let stride = self.constant(stride);
            self.b.ins().udiv(places, stride)
        };
        let places = self.b.ins().select(is_empty, zero, places);
        self.b.ins().jump(head, &[zero.into(), places.into()]);
        self.b.switch_to_block(head);
        let goes_on = self.b.ins().icmp(IntCC::UnsignedLessThan, low, high);
        self.b.ins().brif(goes_on, body, &[], after, &[]);
        self.b.switch_to_block(body);
        self.b.seal_block(body);
        let distance = self.b.ins().isub(high, low);
        let half = self.b.ins().ushr_imm_s(distance, 1);
        let middle = self.b.ins().iadd(low, half);
        let offset = self.times(middle, stride);
        let place = self.b.ins().iadd(begin, offset);
        let offset = self.times(place, width.bytes() as u64);
        let address = self.b.ins().iadd(data, offset);
        let found = self.load_at(ArrayElement::Index(width), address).value;
        let is_below = self.b.ins().icmp(IntCC::UnsignedLessThan, found, value);
        let next = self.b.ins().iadd_imm_s(middle, 1);
        let low_next = self.b.ins().select(is_below, next, low);
        let high_next = self.b.ins().select(is_below, high, middle);
        self.b.ins().jump(head, &[low_next.into(), high_next.into()]);
        self.b.seal_block(head);
        self.b.switch_to_block(after);
        self.b.seal_block(after);
        let offset = self.times(low, stride);
        let found = self.b.ins().iadd(begin, offset);
        Ok(Val::index(self.b.ins().select(is_empty, end, found)))
    }

    /// Two values combined.
    pub(super) fn combine(&mut self, operator: ReduceOperator, left: Val, right: Val) -> Result<Val> {
        match operator.combine(left.ty) {
            Some(Combine::Operator(operator)) => self.binary(operator, left, right),
            Some(Combine::Function(function)) => self.function(function, &[left, right]),
            Some(Combine::Defined(definition)) => {
                self.operands.push((left, right));
                let value = self.eval(&definition.value);
                self.operands.pop();
                value
            }
            None => Err(Unsupported::new(format!("a reduction by `{operator}`"))),
        }
    }

    /// The same where the left is never NaN.
    pub(super) fn combine_ordered(&mut self, operator: ReduceOperator, left: Val, right: Val) -> Result<Val> {
        let is_least = match operator {
            ReduceOperator::Min => true,
            ReduceOperator::Max => false,
            _ => return self.combine(operator, left, right),
        };
        if is_float(left.ty) {
            return Ok(Val::new(left.ty, self.ordered_extreme(is_least, left.value, right.value)));
        }
        Ok(self.extreme(is_least, left, right))
    }

    /// A sum and a product.
    pub(super) fn multiply_add(&mut self, one: Val, other: Val, sum: Val) -> Val {
        Val::new(sum.ty, self.product_added(one.value, other.value, sum.value))
    }

    /// The same of numbers in registers, or of vectors of them.
    pub(super) fn product_added(&mut self, one: Value, other: Value, sum: Value) -> Value {
        if self.unit.is_fused {
            return self.b.ins().fma(one, other, sum);
        }
        let product = self.b.ins().fmul(one, other);
        self.b.ins().fadd(product, sum)
    }

    /// What a reduction starts from.
    pub(super) fn identity(&mut self, operator: ReduceOperator, ty: Type) -> Result<Val> {
        match operator.identity_of(ty) {
            Some(identity) => self.eval(&identity),
            None => Err(Unsupported::new(format!("a reduction by `{operator}`"))),
        }
    }
}

/// The type of a complex number's parts; any other type itself.
fn real_type(ty: Type) -> Type {
    match ty {
        Type::Element(element) => Type::Element(element.part().unwrap_or(element)),
        other => other,
    }
}

/// The factors of a product of real numbers that is added to a sum.
pub(super) fn factors(operator: ReduceOperator, ty: Type, value: &Expr) -> Option<(&Expr, &Expr)> {
    match value {
        Expr::Binary(BinaryOperator::Multiply, one, other) if operator == ReduceOperator::Add && is_float(ty) => {
            Some((one, other))
        }
        _ => None,
    }
}
