//! Expressions, and access to elements.

use super::Machine;
use super::counts;
use super::trace;
use super::values::{self, Result, Value, problem};
use spc_compiler::format::interleave;
use spc_compiler::ir::{ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Factor, ReduceOperator, Term, Type};
use spc_compiler::level::vacancy;

/// An element: its buffer, and where in it.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub(super) buffer: usize,
    pub(super) at: usize,
}

impl Machine<'_> {
    pub(super) fn eval(&self, expr: &Expr) -> Result<Value> {
        match expr {
            Expr::Index(value) => Ok(Value::Index(*value)),
            Expr::Bool(value) => Ok(Value::Bool(*value)),
            Expr::Literal(literal) => Value::of_literal(*literal),
            Expr::Variable(id) => Ok(self.variables[id.index()]),
            Expr::Dimension(id) => Ok(Value::Index(self.dimensions[id.index()])),
            Expr::Length(array) => Ok(Value::Index(self.length(*array))),
            Expr::Load(array, index) => self.load(*array, self.index(index)?),
            Expr::Unary(operator, operand) => values::unary(*operator, self.eval(operand)?),
            Expr::Binary(BinaryOperator::And, left, right) => {
                if self.eval(left)?.truth()? {
                    self.eval(right)
                } else {
                    Ok(Value::Bool(false))
                }
            }
            Expr::Binary(BinaryOperator::Or, left, right) => {
                if self.eval(left)?.truth()? {
                    Ok(Value::Bool(true))
                } else {
                    self.eval(right)
                }
            }
            Expr::Binary(operator, left, right) => values::binary(*operator, self.eval(left)?, self.eval(right)?),
            Expr::Call(function, arguments) => match arguments.as_slice() {
                [one] => values::call(*function, &[self.eval(one)?]),
                [one, other] => values::call(*function, &[self.eval(one)?, self.eval(other)?]),
                _ => values::call(*function, &[]),
            },
            Expr::Select(condition, one, other) => {
                // Both are evaluated, as what is looked up ahead must be there; only a division may be what is not chosen for a reason.
                let (one, other) = (self.eval(one), self.eval(other));
                let (chosen, rest) = if self.eval(condition)?.truth()? { (one, other) } else { (other, one) };
                match rest {
                    Err(problem) if !problem.divides_by_zero() => Err(problem),
                    _ => chosen,
                }
            }
            Expr::Cast(ty, operand) => values::cast(*ty, self.eval(operand)?),
            Expr::Search { array, begin, end, value, stride, .. } => {
                let (begin, end) = (self.index(begin)?, self.index(end)?);
                self.search(*array, begin, end, self.index(value)?, *stride).map(Value::Index)
            }
            Expr::Fold(operator, term) => self.fold(*operator, term),
            Expr::Mask { part, extents } => {
                let extents = extents.iter().map(|extent| self.index(extent)).collect::<Result<Vec<u64>>>()?;
                match interleave::mask(&extents, *part) {
                    Some(mask) => Ok(Value::Index(mask)),
                    None => problem(format!("interleaved numbers below {extents:?} take more than 64 bits")),
                }
            }
        }
    }

    /// The value of an expression of type `index`.
    pub(super) fn index(&self, expr: &Expr) -> Result<u64> {
        self.eval(expr)?.index()
    }

    /// By halves; the range may be empty, also the wrong way round.
    fn search(&self, array: ArrayId, begin: u64, end: u64, value: u64, stride: u64) -> Result<u64> {
        if begin >= end {
            return Ok(end);
        }
        if !(end - begin).is_multiple_of(stride) {
            return problem(format!("{begin} to {end} is no multiple of {stride}"));
        }
        self.load(array, end - stride)?;
        let (mut low, mut high) = (0, (end - begin) / stride);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.load(array, begin + middle * stride)?.index()? < value { low = middle + 1 } else { high = middle }
        }
        Ok(begin + low * stride)
    }

    /// Whether a factor has nothing at a place of its run.
    fn is_filling(&self, factor: Factor, place: u64) -> Result<bool> {
        match (factor, self.kernel.array(factor.run()).element) {
            (Factor::At { run, filled: true, .. }, ArrayElement::Index(width)) => {
                Ok(self.load(run, place)?.index()? == vacancy(width))
            }
            _ => Ok(false),
        }
    }

    /// In order.
    fn fold(&self, operator: ReduceOperator, term: &Term) -> Result<Value> {
        let (factors, length) = self.runs(term)?;
        self.total(operator, term, &factors, 0..length)
    }

    /// What a term loads, and the length of its runs.
    pub(super) fn runs(&self, term: &Term) -> Result<(Vec<Factor>, u64)> {
        let factors = term.factors();
        let Some(first) = factors.first() else { return problem("a reduction of terms that load nothing".to_owned()) };
        let length = self.length(first.run());
        if let Some(other) = factors.iter().find(|factor| self.length(factor.run()) != length) {
            return problem(format!("{} and {} are not of one length", self.name(first.run()), self.name(other.run())));
        }
        Ok((factors, length))
    }

    /// The terms at some places combined: sums of floating point numbers in `f64`.
    pub(super) fn total(
        &self,
        operator: ReduceOperator,
        term: &Term,
        factors: &[Factor],
        places: impl Iterator<Item = u64>,
    ) -> Result<Value> {
        let ArrayElement::Value(element) = self.kernel.array(factors[0].values()).element else {
            return problem("a reduction of indices".to_owned());
        };
        let is_wide = operator == ReduceOperator::Add && element.is_float();
        let wide = if is_wide { Type::Element(ElementType::F64) } else { Type::of(element) };
        let mut total = values::identity(operator, wide)?;
        for place in places {
            counts::add(|counts| counts.walked += 1);
            let mut is_filling = false;
            for factor in factors {
                is_filling |= self.is_filling(*factor, place)?;
            }
            if is_filling {
                continue;
            }
            let value = self.term(term, place)?;
            total = values::reduce(operator, total, if is_wide { values::cast(wide, value)? } else { value })?;
        }
        if is_wide { values::cast(Type::of(element), total) } else { Ok(total) }
    }

    /// A term at a place.
    fn term(&self, term: &Term, place: u64) -> Result<Value> {
        match term {
            Term::Load(Factor::Run(run)) => self.load(*run, place),
            Term::Load(Factor::At { of, run, .. }) => self.load(*of, self.load(*run, place)?.index()?),
            Term::Same(value) => self.eval(value),
            Term::Binary(operator, left, right) => {
                values::binary(*operator, self.term(left, place)?, self.term(right, place)?)
            }
            Term::Call(function, left, right) => {
                values::call(*function, &[self.term(left, place)?, self.term(right, place)?])
            }
        }
    }

    pub(super) fn length(&self, array: ArrayId) -> u64 {
        let slot = self.slots[array.index()];
        slot.length.unwrap_or_else(|| self.buffers[slot.buffer].data.len() as u64)
    }

    pub(super) fn load(&self, array: ArrayId, index: u64) -> Result<Value> {
        let element = self.place(array, index)?;
        self.check_read(array, element)?;
        self.touch(element, 1, false);
        Ok(self.buffers[element.buffer].data.get(element.at, self.kernel.array(array).element))
    }

    /// Notes elements of a tensor from one on, wherever a chunk has its own copy of it.
    pub(super) fn touch(&self, Element { buffer, at }: Element, count: usize, is_written: bool) {
        let first = self.buffers[buffer].before + at;
        trace::touch(self.kernel, buffer % self.kernel.arrays.len(), first..first.saturating_add(count), is_written);
    }

    /// Where an element is.
    pub(super) fn place(&self, array: ArrayId, index: u64) -> Result<Element> {
        let slot = self.slots[array.index()];
        let stored = self.buffers[slot.buffer].data.len();
        let length = slot.length.unwrap_or(stored as u64);
        let at = slot.begin + index.min(length);
        if index < length && at < stored as u64 {
            return Ok(Element { buffer: slot.buffer, at: at as usize });
        }
        problem(format!("{} has length {length}, index {index} is out of bounds", self.name(array)))
    }

    pub(super) fn name(&self, array: ArrayId) -> &str {
        &self.kernel.array(array).name
    }
}
