//! A tensor for each statement.
//!
//! Before: a tensor is assigned once and may be updated by later statements. After: every statement assigns a tensor that no
//! other one assigns; what a tensor held before its last update is a temporary, which is read where it was read:
//!
//! ```text
//! y(i) = a(i);                  let y_1(i) = a(i);
//! y(i) min= b(i);        →      y(i) = min(y_1(i), b(i));
//! ```

use super::part::name;
use crate::format::Format;
use crate::ir::{Literal, ReduceOperator};
use crate::notation::check::temporary_format;
use crate::notation::{
    Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, Role, Tensor, TensorId, UnaryOperator, Variable,
    combine,
};

/// The kernel in which each statement has a tensor of its own.
pub(super) fn versions(kernel: &Kernel) -> Kernel {
    let kernel = &rounded_once(kernel);
    let mut left = vec![0usize; kernel.tensors.len()];
    kernel.statements.iter().for_each(|statement| left[statement.target.tensor.0] += 1);
    let current = (0..kernel.tensors.len()).map(TensorId).collect();
    let mut versions = Versions { result: kernel.clone(), left, made: vec![0; kernel.tensors.len()], current };
    versions.result.statements.clear();
    for statement in &kernel.statements {
        versions.statement(statement.clone());
    }
    versions.result
}

/// The kernel in which what is stored in another type than it is computed with is updated in a temporary of that type, and rounded once,
/// when it is complete. With `y: f16 dense`:
///
/// ```text
/// y(i) = a(i);                  let y_sum(i) = a(i);
/// y(i) += b(i);          →      y_sum(i) += b(i);
///                               y(i) = f16(y_sum(i));
/// ```
fn rounded_once(kernel: &Kernel) -> Kernel {
    let mut result = kernel.clone();
    for tensor in (0..kernel.tensors.len()).map(TensorId) {
        let of = kernel.tensor(tensor).clone();
        let is_of = |statement: &Assignment| statement.target.tensor == tensor;
        let is_updated = kernel.statements.iter().any(|statement| is_of(statement) && statement.operator.is_some());
        if !of.element.is_stored_only() || !is_updated {
            continue;
        }
        let name = name(&result, &format!("{}_sum", of.name));
        let sum = TensorId(result.tensors.len());
        let (element, stored) = (of.element.computed(), of.element);
        result.tensors.push(Tensor { name, element, role: Role::Temporary, declared: false, format_name: None, ..of });
        let Some(last) = result.statements.iter().rposition(is_of) else { continue };
        for statement in &mut result.statements[..=last] {
            statement.for_each_access_mut(&mut |access| {
                if access.tensor == tensor {
                    access.tensor = sum;
                }
            });
            if statement.target.tensor == sum {
                statement.value = match statement.value.clone() {
                    Expr::Cast(to, value) if to == stored => *value,
                    value => value,
                };
            }
        }
        let Assignment { target, stage, span, .. } = result.statements[last].clone();
        let indices = target.indices.iter().enumerate().map(|(mode, index)| {
            let Variable { span, name, written, value, .. } = result.variables[index.0].clone();
            let name = if value.is_some() { format!("m{mode}") } else { name };
            result.variables.push(Variable { name, written, span, value: None, extent: None, mode: None });
            IndexVariable(result.variables.len() - 1)
        });
        let indices: Vec<IndexVariable> = indices.collect();
        let value = Expr::Cast(stored, Box::new(Expr::Access(Access::new(sum, indices.clone(), target.span))));
        let target = Access::new(tensor, indices, target.span);
        result.statements.insert(last + 1, Assignment { target, operator: None, value, mask: None, stage, span });
    }
    result
}

/// Whether a value is one term without a sum.
fn is_plain(value: &Expr) -> bool {
    fn has_reduction(expr: &Expr) -> bool {
        matches!(expr, Expr::Reduce(..)) || expr.children().into_iter().any(has_reduction)
    }
    let is_sum = matches!(value, Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, ..));
    !is_sum && !has_reduction(value)
}

struct Versions {
    result: Kernel,
    /// How many statements are still to assign each tensor.
    left: Vec<usize>,
    /// How many have.
    made: Vec<usize>,
    /// What each tensor's name stands for now.
    current: Vec<TensorId>,
}

impl Versions {
    fn statement(&mut self, mut statement: Assignment) {
        let tensor = statement.target.tensor;
        let read = |id: TensorId| self.current.get(id.0).copied().unwrap_or(id);
        statement.value.for_each_access_mut(&mut |access| access.tensor = read(access.tensor));
        statement.mask.iter_mut().for_each(|mask| mask.tensor = read(mask.tensor));

        self.left[tensor.0] -= 1;
        let before = Access { tensor: read(tensor), ..statement.target.clone() };
        let updates = self.made[tensor.0] > 0;
        self.made[tensor.0] += 1;
        let target = if self.left[tensor.0] == 0 { tensor } else { self.version(tensor) };
        self.current[tensor.0] = target;
        statement.target.tensor = target;
        // What a statement reads of its own target it has assigned itself.
        if !updates && statement.operator.is_none() {
            statement.value.for_each_access_mut(&mut |access| {
                if access.tensor == tensor {
                    access.tensor = target;
                }
            });
        }
        if let Some(operator) = statement.operator.filter(|_| updates) {
            self.update(&mut statement, operator, before);
        }
        self.push(statement);
    }

    /// Adds a statement. What comes to computed indices in any order is formed first, unless it is a value that needs no loops
    /// of its own: then the statement lists entries.
    fn push(&mut self, mut statement: Assignment) {
        if let Some(nothing) = self.of_nothing(&statement) {
            statement.value = Expr::Access(self.chosen(&statement, nothing));
            statement.mask = None;
        }
        if self.result.scatters(&statement.target) && !is_plain(&statement.value) {
            statement.value = Expr::Access(self.formed(&statement));
            statement.mask = None;
        }
        self.result.statements.push(statement);
    }

    /// What a sum is of which a mask chooses no term, where that is not what the target holds before.
    fn of_nothing(&self, statement: &Assignment) -> Option<Literal> {
        fn reduction(value: &Expr) -> Option<ReduceOperator> {
            match value {
                Expr::Reduce(operator, ..) => Some(*operator),
                Expr::Unary(UnaryOperator::Negate, operand) => {
                    reduction(operand).filter(|operator| *operator == ReduceOperator::Add)
                }
                _ => None,
            }
        }
        let target = self.result.running(&statement.target.indices);
        let mask = self.result.running(&statement.mask.as_ref()?.indices);
        let tensor = self.result.tensor(statement.target.tensor);
        let nothing = reduction(&statement.value)?.identity(tensor.element)?;
        let chooses = mask.iter().any(|variable| !target.contains(variable));
        (chooses && !nothing.equals(self.result.begins_with(statement))).then_some(nothing)
    }

    /// Makes the sums of which a mask chooses the terms a dense tensor over the variables of the target.
    fn chosen(&mut self, statement: &Assignment, nothing: Literal) -> Access {
        let of = self.result.tensor(statement.target.tensor).clone();
        let indices = self.result.running(&statement.target.indices);
        let name = format!("{}_sums", of.name);
        let format = Format::dense(indices.len());
        let sums = Tensor { role: Role::Temporary, declared: false, format_name: None, format, fill: nothing, ..of };
        let target = Access::new(self.temporary(sums, &name), indices, statement.target.span);
        self.result.statements.push(Assignment { target: target.clone(), operator: None, ..statement.clone() });
        target
    }

    /// Makes the values of a statement a sparse tensor over the variables of its target.
    fn formed(&mut self, statement: &Assignment) -> Access {
        let of = self.result.tensor(statement.target.tensor).clone();
        let indices = self.result.running(&statement.target.indices);
        let name = format!("{}_values", of.name);
        let order = indices.len();
        let values =
            Tensor { role: Role::Temporary, declared: false, format_name: None, format: Format::csf(order), ..of };
        let values = self.temporary(values, &name);
        let target = Access::new(values, indices, statement.target.span);
        let made = Assignment { target: target.clone(), operator: None, ..statement.clone() };
        let format = temporary_format(&made, &self.result.tensors, &self.result.variables, false);
        // What has no entry has none at the computed indices.
        if !format.is_dense() {
            self.result.tensors[values.0].format = format;
        }
        self.result.statements.push(made);
        target
    }

    /// A temporary for what a tensor holds until it is updated.
    fn version(&mut self, tensor: TensorId) -> TensorId {
        let of = self.result.tensor(tensor).clone();
        let name = format!("{}_{}", of.name, self.made[tensor.0]);
        self.temporary(Tensor { role: Role::Temporary, declared: false, ..of }, &name)
    }

    fn temporary(&mut self, tensor: Tensor, wish: &str) -> TensorId {
        let name = name(&self.result, wish);
        self.result.tensors.push(Tensor { name, ..tensor });
        TensorId(self.result.tensors.len() - 1)
    }

    /// Makes an assignment of an update. What is new at some elements only, those of a mask or of computed indices, is formed
    /// first, and then combined at all.
    fn update(&mut self, statement: &mut Assignment, operator: ReduceOperator, mut before: Access) {
        let is_computed = |variable: &IndexVariable| self.result.variables[variable.0].value.is_some();
        let is_computed = statement.target.indices.iter().any(is_computed);
        // What a declared operator makes of two values may have the second several times.
        let is_repeated = operator.is_declared() && !is_plain(&statement.value);
        if statement.mask.is_some() || is_computed || is_repeated {
            // Computed indices may meet in one element, where values are combined.
            statement.operator = statement.operator.filter(|_| is_computed);
            statement.value = Expr::Access(self.part(statement, operator, before.tensor));
            statement.mask = None;
            before.indices.clone_from(&statement.target.indices);
        }
        statement.operator = None;
        let value = std::mem::replace(&mut statement.value, Expr::Access(before.clone()));
        let element = self.result.tensor(before.tensor).element;
        statement.value = combine::combine(operator, element, Expr::Access(before), value);
    }

    /// What the statement that made a tensor calls the index of one of its modes.
    fn name_of_mode(&self, tensor: TensorId, mode: usize) -> String {
        let made = self.result.statements.iter().find(|statement| statement.target.tensor == tensor);
        let index = made.map(|statement| &self.result.variables[statement.target.indices[mode].0]);
        let plain = index.filter(|index| index.value.is_none()).map(|index| index.name.clone());
        plain.unwrap_or_else(|| format!("m{}", self.result.variables.len()))
    }

    /// Makes what a statement assigns a tensor of its own; the statement's target then has new indices, that of all elements,
    /// which are also those of the access that is returned. `before` is what it held before.
    fn part(&mut self, statement: &mut Assignment, operator: ReduceOperator, before: TensorId) -> Access {
        let of = self.result.tensor(statement.target.tensor).clone();
        let format = temporary_format(statement, &self.result.tensors, &self.result.variables, false);
        let is_computed = |variable: &IndexVariable| self.result.variables[variable.0].value.is_some();
        // Computed indices have entries where no operand's format says it.
        let format = match statement.target.indices.iter().any(is_computed) && !format.is_dense() {
            true if of.format.is_dense() => Format::csf(of.format.order),
            true => of.format.clone(),
            false => format,
        };
        // Where nothing is new, what was there stays.
        let fill = operator.identity(of.element).unwrap_or(of.fill);
        let name = format!("{}_part", of.name);
        let part = Tensor { role: Role::Temporary, declared: false, format, format_name: None, fill, ..of };
        let part = self.temporary(part, &name);
        let made = Assignment { target: Access { tensor: part, ..statement.target.clone() }, ..statement.clone() };
        self.push(made);
        for (mode, index) in statement.target.indices.iter_mut().enumerate() {
            let Variable { span, name, written, value, .. } = self.result.variables[index.0].clone();
            let name = if value.is_some() { self.name_of_mode(before, mode) } else { name };
            // It runs over all elements, and what is written in the computed index over a part of them.
            let written = written.filter(|_| value.is_none());
            self.result.variables.push(Variable { name, written, span, value: None, extent: None, mode: None });
            *index = IndexVariable(self.result.variables.len() - 1);
        }
        Access { tensor: part, ..statement.target.clone() }
    }
}
