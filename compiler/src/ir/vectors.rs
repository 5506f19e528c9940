//! Loops over rows: what vectors of floating point numbers compute, several elements at a time.
//!
//! A loop is one over rows if it does nothing but arithmetic of `f32` and `f64` with the elements of rows at its counter, and with values
//! that are the same in each turn:
//!
//! ```text
//! for r in 0..16 vector {
//!   t[r] += X_val * C_row[r]
//! }
//! ```
//!
//! [`Rows`] says so once for all engines. Each asks it for what its own vectors lack.

use super::{
    Array, ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Function, Kernel, ReduceOperator, Statement, Type,
    UnaryOperator, VariableId,
};
use std::collections::BTreeSet;

/// What a loop over rows computes with.
#[derive(Debug, Default)]
pub struct Rows {
    /// The arrays that have an element for each turn.
    pub arrays: BTreeSet<ArrayId>,
    /// The arrays that are read for values that are the same in each turn.
    pub steady: BTreeSet<ArrayId>,
    /// The variables that have a value for each turn.
    pub lanes: BTreeSet<VariableId>,
    /// Whether an element is not at the counter, but some places behind it.
    pub is_shifted: bool,
    /// What is reduced into, and how.
    pub reductions: Vec<(ArrayId, ReduceOperator)>,
    /// The functions of values that differ.
    pub functions: Vec<Function>,
    /// The types of values that differ.
    pub elements: BTreeSet<ElementType>,
}

impl Rows {
    /// What a loop with this counter and body computes with; `None` where it is none over rows.
    pub fn of(kernel: &Kernel, counter: VariableId, body: &[Statement]) -> Option<Self> {
        let mut rows = Self::default();
        let are_rows = body.iter().all(|statement| rows.see(kernel, counter, statement));
        (are_rows && !rows.arrays.is_empty()).then_some(rows)
    }

    fn see(&mut self, kernel: &Kernel, counter: VariableId, statement: &Statement) -> bool {
        match statement {
            Statement::Comment(_) => true,
            Statement::Let(variable, value) => {
                let is_one = !kernel.variable(*variable).mutable && self.see_value(kernel, counter, value);
                self.lanes.insert(*variable);
                is_one
            }
            Statement::Store(array, index, value) => {
                self.see_element(kernel, counter, *array, index) && self.see_value(kernel, counter, value)
            }
            Statement::Reduce(array, index, operator, value) => {
                self.reductions.push((*array, *operator));
                self.see_element(kernel, counter, *array, index) && self.see_value(kernel, counter, value)
            }
            _ => false,
        }
    }

    /// Whether a value is the same in each turn.
    pub fn is_steady(&self, counter: VariableId, value: &Expr) -> bool {
        !value.uses(counter) && !self.lanes.iter().any(|variable| value.uses(*variable))
    }

    fn see_element(&mut self, kernel: &Kernel, counter: VariableId, array: ArrayId, index: &Expr) -> bool {
        let ArrayElement::Value(element) = kernel.array(array).element else { return false };
        let Some(base) = base(index, counter).filter(|base| self.is_steady(counter, base)) else { return false };
        self.arrays.insert(array);
        self.is_shifted |= base != Expr::Index(0);
        self.see_type(element)
    }

    fn see_type(&mut self, element: ElementType) -> bool {
        self.elements.insert(element);
        matches!(element, ElementType::F32 | ElementType::F64)
    }

    fn see_value(&mut self, kernel: &Kernel, counter: VariableId, value: &Expr) -> bool {
        if self.is_steady(counter, value) {
            value.for_each(&mut |inner| inner.for_each_array(&mut |array| _ = self.steady.insert(array)));
            return number(kernel, value).is_some_and(|element| self.see_type(element));
        }
        let mut are_seen = |values: &[&Expr]| values.iter().all(|value| self.see_value(kernel, counter, value));
        match value {
            Expr::Variable(variable) => self.lanes.contains(variable),
            Expr::Load(array, index) => self.see_element(kernel, counter, *array, index),
            Expr::Unary(UnaryOperator::Negate, operand) => are_seen(&[operand]),
            Expr::Binary(operator, left, right) => {
                use BinaryOperator::{Add, Divide, Multiply, Subtract};
                matches!(operator, Add | Subtract | Multiply | Divide) && are_seen(&[left, right])
            }
            Expr::Cast(Type::Element(to), operand) => are_seen(&[operand]) && self.see_type(*to),
            Expr::Call(function, operands) => {
                let are_seen = operands.iter().all(|operand| are_seen(&[operand]));
                self.functions.push(*function);
                are_seen
            }
            _ => false,
        }
    }
}

/// The lanes of a kernel's vectors: of sixteen numbers where all that it reads and writes is `f32`, else of eight.
pub(crate) fn lanes(kernel: &Kernel) -> u64 {
    let is_double = |array: &Array| array.element == ArrayElement::Value(ElementType::F64);
    if kernel.parameters().any(|(_, array)| is_double(array)) { 8 } else { 16 }
}

/// Whether vectors hold all that the loops over rows in some statements compute.
pub(crate) fn hold_rows(kernel: &Kernel, statements: &[Statement]) -> bool {
    let mut all = true;
    let mut see = |statement: &Statement| {
        if let Statement::For { variable, vector: true, body, .. } = statement {
            all &= hold(kernel, body, *variable);
        }
    };
    statements.iter().for_each(|statement| statement.for_each(&mut see));
    all
}

/// Whether vectors whose length is known only at run time hold what a loop over a row does: a mask says which lanes have an element.
pub(crate) fn hold(kernel: &Kernel, body: &[Statement], counter: VariableId) -> bool {
    Rows::of(kernel, counter, body).is_some_and(|rows| {
        use ReduceOperator::{Add, Max, Min, Multiply};
        rows.lanes.is_empty()
            && rows.reductions.iter().all(|(_, operator)| matches!(operator, Add | Multiply | Min | Max))
            && rows.functions.iter().all(|function| matches!(function, Function::Min | Function::Max))
    })
}

/// The type of an expression that vectors have lanes for.
pub(crate) fn number(kernel: &Kernel, value: &Expr) -> Option<ElementType> {
    match kernel.type_of(value) {
        Ok(Type::Element(element @ (ElementType::F32 | ElementType::F64))) => Some(element),
        _ => None,
    }
}

/// `base` where the index is `base + counter`.
pub(crate) fn base(index: &Expr, counter: VariableId) -> Option<Expr> {
    match index {
        Expr::Variable(variable) if *variable == counter => Some(Expr::Index(0)),
        Expr::Binary(BinaryOperator::Add, first, rest) if !first.uses(counter) => {
            base(rest, counter).map(|base| (**first).clone().plus(base))
        }
        _ => None,
    }
}
