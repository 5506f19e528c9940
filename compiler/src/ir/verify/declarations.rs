//! Rules 13, 14 and 17: tensors and arrays; of rule 2, the types of variables.

use super::Violation;
use crate::format::{Coordinate, Level, Role};
use crate::ir::*;
use std::collections::BTreeSet;

pub(super) fn check(kernel: &Kernel) -> Vec<Violation> {
    let mut violations = Vec::new();
    tensors(kernel, &mut violations);
    parameters(kernel, &mut violations);
    names(kernel, &mut violations);
    variables(kernel, &mut violations);
    choices(kernel, &mut violations);
    violations
}

/// Truth values have one type, whether they are elements or not.
fn variables(kernel: &Kernel, violations: &mut Vec<Violation>) {
    for (number, variable) in kernel.variables.iter().enumerate() {
        if variable.ty == Type::Element(ElementType::Bool) {
            let message = "an element of type `bool` is a `bool` like any other".to_owned();
            violations.push(Violation { rule: 2, path: format!("variable v{number}"), message });
        }
    }
}

/// Choices are those of loops: of indices that no statement changes.
fn choices(kernel: &Kernel, violations: &mut Vec<Violation>) {
    for counter in kernel.choices.keys() {
        let is_counter = |variable: &Variable| variable.ty == Type::Index && !variable.mutable;
        if !kernel.variables.get(counter.index()).is_some_and(is_counter) {
            let message = "a choice is of the counter of a loop".to_owned();
            violations.push(Violation { rule: 2, path: format!("choice {counter}"), message });
        }
    }
}

/// The array parameters of a tensor, as its format and source call for them.
pub(super) fn expected_arrays(tensor: &Tensor, id: TensorId) -> Vec<(ArrayRole, ArrayElement)> {
    let mut arrays = Vec::new();
    let shares = matches!(tensor.source, Source::Output { structure: Structure::Shared { .. }, .. });
    let is_permutation = matches!(tensor.source, Source::Permutation { .. });
    let levels = match &tensor.format.levels[..] {
        _ if shares || tensor.pattern.is_some() => &[],
        levels if is_permutation => &levels[..=tensor.format.level_of_entries()],
        levels => levels,
    };
    for (level, Level { format, .. }) in levels.iter().enumerate() {
        let width = |role| match tensor.is_order_of_entries(level) {
            true => format.width(Role::Positions),
            false => format.width(role),
        };
        let array = |role| (ArrayRole::of_level(role, id, level), ArrayElement::Index(width(role)));
        arrays.extend(Role::ALL.into_iter().filter(|role| format.array(*role).is_some()).map(array));
    }
    if !is_permutation {
        arrays.push((ArrayRole::Values { tensor: id }, ArrayElement::Value(tensor.element)));
    }
    arrays
}

fn parameters(kernel: &Kernel, violations: &mut Vec<Violation>) {
    let mut report = |path: String, message: String| violations.push(Violation { rule: 13, path, message });
    let tensors = (0..).map(TensorId).zip(&kernel.tensors);
    let expected: Vec<_> = tensors.flat_map(|(id, tensor)| expected_arrays(tensor, id)).collect();
    for (number, (role, element)) in expected.iter().enumerate() {
        match kernel.arrays.get(number) {
            Some(array) if array.role == *role && array.element == *element => {}
            Some(array) => {
                let found = format!("`{} {}`", array.element, array.role);
                return report(format!("array a{number}"), format!("`{element} {role}` belongs here, not {found}"));
            }
            None => return report(format!("array a{number}"), format!("`{element} {role}` is missing")),
        }
    }
    for (number, array) in kernel.arrays.iter().enumerate().skip(expected.len()) {
        if array.role != ArrayRole::Local {
            report(format!("array a{number}"), format!("`{}` is no parameter of the tensors", array.role));
        }
    }
}

fn names(kernel: &Kernel, violations: &mut Vec<Violation>) {
    let mut seen = BTreeSet::new();
    for (number, array) in kernel.arrays.iter().enumerate() {
        if !seen.insert(&array.name) {
            let message = format!("another array is named `{}`", array.name);
            violations.push(Violation { rule: 17, path: format!("array a{number}"), message });
        }
    }
}

fn tensors(kernel: &Kernel, violations: &mut Vec<Violation>) {
    let mut last = 0;
    for (number, tensor) in kernel.tensors.iter().enumerate() {
        let mut report =
            |message: String| violations.push(Violation { rule: 14, path: format!("tensor t{number}"), message });
        let place = match tensor.source {
            Source::Input => 0,
            Source::Output { .. } => 1,
            Source::SortedCopy { .. } | Source::Permutation { .. } => 2,
        };
        if place < last {
            report("inputs come before outputs, and both before sorted copies".to_owned());
        }
        last = last.max(place);
        let (order, dimensions) = (tensor.format.order, tensor.dimensions.len());
        if order != dimensions {
            report(format!("its format is of order {order}, but it has {dimensions} dimensions"));
        }
        if !tensor.format.levels.iter().all(|level| modes_are_below(&level.coordinate, order)) {
            report(format!("its format mentions a mode beyond its order {order}"));
        }
        if let Some(message) = delivery_problem(tensor) {
            report(message);
        }
        if let Some(message) = source_problem(kernel, tensor) {
            report(message);
        }
        if let Some(message) = pattern_problem(kernel, number, tensor) {
            report(message);
        }
    }
}

fn modes_are_below(coordinate: &Coordinate, order: usize) -> bool {
    let mut below = true;
    coordinate.for_each_mode(&mut |mode| below &= mode < order);
    coordinate.for_each_extent(&mut |mode| below &= mode < order);
    below
}

fn delivery_problem(tensor: &Tensor) -> Option<String> {
    if let Some(operator) = tensor.listed {
        if tensor.delivered.is_none() {
            return Some("it lists entries, but is not delivered in another format".to_owned());
        }
        if operator.identity(tensor.element).is_none() {
            return Some(format!("`{operator}` is not defined for `{}`", tensor.element));
        }
    }
    let delivered = tensor.delivered.as_ref()?;
    if !matches!(tensor.source, Source::Output { .. }) {
        return Some("it is delivered, but no output".to_owned());
    }
    let fits = delivered.order == tensor.format.order
        && delivered.levels.iter().all(|level| modes_are_below(&level.coordinate, delivered.order));
    (!fits).then(|| format!("it is delivered in a format of another order than its own, {}", tensor.format.order))
}

fn pattern_problem(kernel: &Kernel, number: usize, tensor: &Tensor) -> Option<String> {
    let other = tensor.pattern?;
    if other.index() >= number || tensor.source != Source::Input {
        return Some(format!("it has the pattern of {other}, but only inputs have that of one before them"));
    }
    let of = kernel.tensor(other);
    let fits = of.format == tensor.format && of.dimensions == tensor.dimensions && of.pattern.is_none();
    (!fits).then(|| format!("it has the pattern of `{}`, which is stored otherwise or has that of another", of.name))
}

fn source_problem(kernel: &Kernel, tensor: &Tensor) -> Option<String> {
    let filled = match tensor.source {
        Source::Output { initial: Initial::Filled(literal), .. } => Some(literal),
        _ => None,
    };
    for literal in [Some(tensor.fill), filled].into_iter().flatten() {
        if literal.element() != tensor.element.computed() || !literal.is_exact() {
            return Some(format!("`{literal}` is no value of its element type"));
        }
    }
    let (structure, initial) = match tensor.source {
        Source::Input => return None,
        Source::SortedCopy { of } => {
            let is_input = kernel.tensor(of).source == Source::Input;
            return (!is_input).then(|| format!("it is a sorted copy of {of}, which is no input"));
        }
        Source::Permutation { of } => {
            let input = kernel.tensor(of);
            let fits = input.source == Source::Input
                && input.format.lists_entries()
                && tensor.format.order == input.format.order;
            return (!fits).then(|| format!("it is a permutation of {of}, which is no input that lists its entries"));
        }
        Source::Output { structure, initial } => (structure, initial),
    };
    if (structure == Structure::Appended) != (initial == Initial::Empty) {
        return Some("values start empty exactly where they are appended".to_owned());
    }
    match structure {
        Structure::Dense if !tensor.format.is_dense() => Some("its structure is dense, its format is not".to_owned()),
        Structure::Shared { operand, levels } => shared_problem(tensor, kernel.tensor(operand), levels),
        Structure::Dense | Structure::Appended => None,
    }
}

fn shared_problem(tensor: &Tensor, operand: &Tensor, levels: usize) -> Option<String> {
    let arrays = |level: &Level| Role::ALL.map(|role| level.format.array(role).is_some());
    if matches!(operand.source, Source::Output { .. }) {
        return Some(format!("it shares the structure of `{}`, which is an output", operand.name));
    }
    let (Some(own), Some(others)) = (tensor.format.levels.get(..levels), operand.format.levels.get(..levels)) else {
        return Some(format!("it shares {levels} levels with `{}`, but one of them has fewer", operand.name));
    };
    if own.iter().map(arrays).ne(others.iter().map(arrays)) {
        return Some(format!("its first {levels} levels do not have the arrays of those of `{}`", operand.name));
    }
    let rest = &tensor.format.levels[levels..];
    (!rest.iter().all(|level| level.format.arrays().next().is_none()))
        .then(|| "the levels that it does not share are not all dense".to_owned())
}
