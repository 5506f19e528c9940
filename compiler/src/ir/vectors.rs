//! What vectors of floating point numbers compute of rows whose length is known only at run time: a mask says which lanes have an element.

use super::{
    Array, ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Function, Kernel, ReduceOperator, Statement, Type,
    UnaryOperator, VariableId,
};

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

/// Whether vectors hold what a loop over a row does.
pub(crate) fn hold(kernel: &Kernel, body: &[Statement], counter: VariableId) -> bool {
    body.iter().all(|statement| match statement {
        Statement::Comment(_) => true,
        Statement::Store(array, index, value) => holds_element(kernel, *array, index, value, counter),
        Statement::Reduce(array, index, operator, value) => {
            let has_method = matches!(
                operator,
                ReduceOperator::Add | ReduceOperator::Multiply | ReduceOperator::Min | ReduceOperator::Max
            );
            has_method && holds_element(kernel, *array, index, value, counter)
        }
        _ => false,
    })
}

fn holds_element(kernel: &Kernel, array: ArrayId, index: &Expr, value: &Expr, counter: VariableId) -> bool {
    let ArrayElement::Value(element) = kernel.array(array).element else { return false };
    number(kernel, value) == Some(element) && base(index, counter).is_some() && holds(kernel, value, counter)
}

/// Whether vectors hold the values of an expression, or it is the same for all elements.
fn holds(kernel: &Kernel, value: &Expr, counter: VariableId) -> bool {
    let Some(element) = number(kernel, value) else { return false };
    let is_held = |operand: &Expr| holds(kernel, operand, counter);
    match value {
        value if !value.uses(counter) => true,
        // What is stored in two bytes is converted when it is loaded.
        Expr::Load(array, index) => {
            kernel.array(*array).element == ArrayElement::Value(element) && base(index, counter).is_some()
        }
        Expr::Cast(_, operand) | Expr::Unary(UnaryOperator::Negate, operand) => is_held(operand),
        Expr::Binary(
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Minimum
            | BinaryOperator::Maximum,
            left,
            right,
        ) => [left, right].into_iter().all(|operand| number(kernel, operand) == Some(element) && is_held(operand)),
        Expr::Call(Function::Min | Function::Max, operands) => {
            operands.iter().all(|operand| number(kernel, operand) == Some(element) && is_held(operand))
        }
        _ => false,
    }
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
