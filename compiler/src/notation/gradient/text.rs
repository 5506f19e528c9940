//! Gradients as text: which statements, in which order, and what their indices are called.

use super::{Gain, Reverse};
use crate::format::prelude;
use crate::ir::ReduceOperator;
use crate::notation::check::named_by_value;
use crate::notation::{Access, Assignment, Expr, IndexVariable, Kernel, Role, Stage, Tensor, TensorId};
use crate::syntax::AssignOperator;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A statement of a gradient.
struct Line {
    text: String,
    reads: Vec<Expr>,
}

impl Reverse<'_> {
    /// The kernel that computes the derivatives by some parameters.
    pub(super) fn text(mut self, parameters: &[TensorId]) -> String {
        let made: Vec<TensorId> = self.original.statements.iter().map(|statement| statement.target.tensor).collect();
        let mut order: Vec<TensorId> = Vec::new();
        for &id in made.iter().rev() {
            let is_summed = self.original.tensor(id).role == Role::Temporary || self.seeds.contains_key(&id);
            if is_summed && self.active[id.0] && !order.contains(&id) && !self.gains[id.0].is_empty() {
                order.push(id);
            }
        }
        order.extend(parameters);
        let lines: Vec<Line> = order.iter().flat_map(|&id| self.derivative_of(id)).collect();
        let needed = self.needed(lines.iter().flat_map(|line| &line.reads));

        let mut text = String::new();
        let name = format!("{}_grad", self.original.name);
        let declared = |id: TensorId| format!("{}: {}", self.kernel.tensor(id).name, storage(self.kernel.tensor(id)));
        let ids = || (0..self.original.tensors.len()).map(TensorId);
        let inputs = ids().filter(|id| self.original.tensor(*id).role == Role::Input && needed.contains(id));
        let given = ids().filter(|id| self.original.tensor(*id).role == Role::Output);
        let given = given.filter_map(|id| self.seeds.get(&id).copied().or(self.derivative[id.0]));
        let given = given.filter(|id| needed.contains(id));
        let inputs: Vec<String> = inputs.chain(given).map(declared).collect();
        let results = parameters.iter().filter_map(|id| self.derivative[id.0]).map(declared).collect::<Vec<_>>();
        let _ = writeln!(text, "fn {name}({}) -> ({}) {{", inputs.join(", "), results.join(", "));
        for statement in &self.original.statements {
            if needed.contains(&statement.target.tensor) {
                let line = self.primal(statement, &made);
                let _ = writeln!(text, "    {line};");
            }
        }
        for shared in self.shared.iter().filter(|shared| needed.contains(&shared.target.tensor)) {
            let statement = Assignment {
                target: shared.target.clone(),
                operator: None,
                value: shared.value.clone(),
                mask: shared.mask.clone(),
                stage: Stage::Before,
                span: shared.target.span,
            };
            let _ = writeln!(
                text,
                "    let {}{};",
                self.kernel.access(&shared.target),
                right_hand_side(&self.kernel, &statement)
            );
        }
        for line in lines {
            let _ = writeln!(text, "    {};", line.text);
        }
        text.push_str("}\n");
        text
    }

    /// A statement of the original, whose result is a temporary here.
    fn primal(&self, statement: &Assignment, made: &[TensorId]) -> String {
        let kernel = self.original;
        let tensor = kernel.tensor(statement.target.tensor);
        let place = kernel.statements.iter().position(|other| std::ptr::eq(other, statement)).unwrap_or_default();
        let is_first = !made[..place].contains(&statement.target.tensor);
        let mut line = String::new();
        let _ = write!(line, "{}{}", if is_first { "let " } else { "" }, kernel.access(&statement.target));
        if is_first && tensor.declared && tensor.role == Role::Temporary {
            let _ = write!(line, ": {}", storage(tensor));
        }
        line.push_str(&right_hand_side(kernel, statement));
        line
    }

    /// The statements that make the derivative by a tensor.
    fn derivative_of(&mut self, id: TensorId) -> Vec<Line> {
        let Some(derivative) = self.derivative[id.0] else { return Vec::new() };
        let mut gains = std::mem::take(&mut self.gains[id.0]);
        gains.retain(|gain| !matches!(gain.value, Expr::Literal(literal) if literal.is_zero()));
        let tensor = self.original.tensor(id);
        let is_result = tensor.role == Role::Input;
        let is_let = if is_result { "" } else { "let " };
        let is_sparse = tensor.is_sparse();
        let variables = self.original.variables.clone();
        let is_running = |index: &IndexVariable| variables.get(index.0).is_none_or(|variable| variable.value.is_none());
        let is_plain = |gain: &Gain| gain.indices.iter().all(is_running);
        let (mut plain, computed): (Vec<Gain>, Vec<Gain>) = gains.into_iter().partition(is_plain);
        if let Some(&given) = self.seeds.get(&id) {
            let indices = match plain.first() {
                Some(gain) => gain.indices.clone(),
                None => self.own_indices(id),
            };
            let value = Expr::Access(Access::new(given, indices.clone(), tensor.span));
            plain.insert(0, Gain { indices, value, repeated: Vec::new() });
        }
        let places = match plain.first() {
            Some(gain) => gain.indices.clone(),
            None => self.own_indices(id),
        };
        let tensors: BTreeSet<String> = self.kernel.tensors.iter().map(|tensor| tensor.name.clone()).collect();
        let mut used = tensors.clone();
        let names: Vec<String> = places.iter().map(|place| self.kernel.variable(*place).to_owned()).collect();
        used.extend(names.iter().cloned());
        let place = |tensor: TensorId| access_text(&self.kernel.tensor(tensor).name, &names);
        let own = Expr::Access(Access::new(id, places.clone(), tensor.span));

        let is_bound = |gain: &Gain, mode: usize| {
            // What an array of indices stores is less than the mode may be long.
            let binds = |access: &&Access| {
                let format = &self.kernel.tensor(access.tensor).format;
                let place = access.indices.iter().position(|index| *index == gain.indices[mode]);
                place.is_some_and(|place| !(format.is_map() && place + 1 == format.order))
            };
            gain.value.accesses().iter().any(binds)
        };
        let modes = || 0..places.len();
        let has_extents = !plain.is_empty() && modes().all(|mode| plain.iter().any(|gain| is_bound(gain, mode)));
        let is_missing = |access: &&Access| access.tensor != id && self.kernel.is_sparse(access);
        // Entries whose derivative is a product with nothing are stored all the same.
        let may_miss = is_sparse && plain.iter().any(|gain| gain.value.accesses().iter().any(is_missing));
        let mut masked =
            if is_sparse && is_result || !has_extents { format!(" where {}", place(id)) } else { String::new() };

        // What is made at a mask alone is read there alone.
        let own_entries = || is_sparse.then(|| (Access::new(id, places.clone(), tensor.span), place(id)));
        let chosen = if is_result { None } else { self.mask_of(id, &names).or_else(own_entries) };
        if let Some((_, text)) = &chosen {
            masked = format!(" where {text}");
        }

        let mut lines = Vec::new();
        let begins = plain.is_empty() || !computed.is_empty() || may_miss && is_result;
        if begins {
            let text = format!("{is_let}{} = 0 where {}", place(derivative), place(id));
            lines.push(Line { text, reads: vec![own.clone()] });
        }
        if !plain.is_empty() {
            // Equal computed indices of one statement have one extent, which those of several results have not. What a recurrence makes of
            // its own elements stands in the one statement that assigns it.
            let is_recurrent =
                plain.iter().any(|gain| gain.value.accesses().iter().any(|read| read.tensor == derivative));
            let is_shared = |gain: &&Gain| {
                is_recurrent || gain.value.accesses().iter().all(|access| access.indices.iter().all(is_running))
            };
            let (shared, alone): (Vec<&Gain>, Vec<&Gain>) = plain.iter().partition(is_shared);
            let statements = std::iter::once(shared).chain(alone.into_iter().map(|gain| vec![gain]));
            for (number, gains) in statements.filter(|gains| !gains.is_empty()).enumerate() {
                let mut reads: Vec<Expr> = gains.iter().map(|gain| gain.value.clone()).collect();
                let terms = counted(gains.iter().map(|gain| self.term(gain, &names, &used, &mut reads)).collect());
                match &chosen {
                    Some((mask, _)) => reads.push(Expr::Access(mask.clone())),
                    None if !masked.is_empty() => reads.push(own.clone()),
                    None => {}
                }
                let (begin, operator) = if begins || number > 0 { ("", "+=") } else { (is_let, "=") };
                let text = format!("{begin}{} {operator} {}{masked}", place(derivative), terms.join(" + "));
                lines.push(Line { text, reads });
            }
        }
        for gain in &computed {
            let mut reads = vec![gain.value.clone()];
            let mut used = tensors.clone();
            let names: Vec<String> = gain.indices.iter().map(|index| self.kernel.variable(*index).to_owned()).collect();
            used.extend(
                self.original.running(&gain.indices).iter().map(|index| self.kernel.variable(*index).to_owned()),
            );
            let target = access_text(&self.kernel.tensor(derivative).name, &names);
            let term = self.term(gain, &names, &used, &mut reads);
            let masked = match is_sparse && is_result {
                true => format!(" where {}", access_text(&tensor.name, &names)),
                false => String::new(),
            };
            lines.push(Line { text: format!("{target} += {term}{masked}"), reads });
        }
        lines
    }

    /// The sparse mask of the one statement that makes a temporary, and how it is written where the temporary has indices of these names.
    fn mask_of(&self, id: TensorId, names: &[String]) -> Option<(Access, String)> {
        let mut makers = self.original.statements.iter().filter(|statement| statement.target.tensor == id);
        let (maker, None) = (makers.next()?, makers.next()) else { return None };
        let mask = maker.mask.as_ref().filter(|mask| self.original.is_sparse(mask))?;
        let name = |index: &IndexVariable| {
            let place = maker.target.indices.iter().position(|own| own == index)?;
            names.get(place).cloned()
        };
        let indices = mask.indices.iter().map(name).collect::<Option<Vec<_>>>()?;
        Some((mask.clone(), access_text(&self.original.tensor(mask.tensor).name, &indices)))
    }

    /// Indices for the modes of a tensor: those of an access to it that computes none, or new ones.
    fn own_indices(&mut self, id: TensorId) -> Vec<IndexVariable> {
        let is_plain = |access: &&Access| {
            access.tensor == id && access.indices.iter().all(|index| self.original.variables[index.0].value.is_none())
        };
        let mut reads = self.original.statements.iter().flat_map(Assignment::reads);
        if let Some(access) = reads.find(is_plain) {
            return access.indices.clone();
        }
        let order = self.original.tensor(id).format.order;
        let mut indices = Vec::with_capacity(order);
        for mode in 0..order {
            let name = self.fresh(&format!("m{}", mode + 1));
            let span = self.original.tensor(id).span;
            self.kernel.variables.push(crate::notation::Variable {
                name,
                written: None,
                span,
                value: None,
                extent: None,
                mode: None,
            });
            indices.push(IndexVariable(self.kernel.variables.len() - 1));
        }
        indices
    }

    /// What a derivative gains, as a term whose own indices are called so; other indices get names that none of `used` has.
    fn term(&self, gain: &Gain, names: &[String], used: &BTreeSet<String>, reads: &mut Vec<Expr>) -> String {
        let mut kernel: Kernel = self.kernel.clone();
        let running = |variables: &[IndexVariable]| crate::notation::running(&self.kernel.variables, variables);
        let own = running(&gain.indices);
        for (index, name) in gain.indices.iter().zip(names) {
            if self.kernel.variables[index.0].value.is_none() {
                kernel.variables[index.0].name.clone_from(name);
            }
        }
        let mut used = used.clone();
        let mut others = Vec::new();
        gain.value.for_each_variable(&mut |variable| {
            for variable in running(&[variable]) {
                if !own.contains(&variable) && !others.contains(&variable) {
                    others.push(variable);
                }
            }
        });
        for other in others {
            let wish = self.kernel.variable(other).to_owned();
            let numbered = (1..).map(|number| format!("{wish}_{number}"));
            let name = std::iter::once(wish.clone()).chain(numbered).find(|name| !used.contains(name)).unwrap_or(wish);
            used.insert(name.clone());
            kernel.variables[other.0].name = name;
        }
        kernel.variables = named_by_value(kernel.variables);
        let mut text = kernel.expression(&gain.value).to_string();
        if matches!(&gain.value, Expr::Binary(operator, ..) if !operator.is_arithmetic() || operator.precedence() <= crate::notation::BinaryOperator::Add.precedence())
        {
            text = format!("({text})");
        }
        for &variable in &gain.repeated {
            if let Some((tensor, mode)) = self.counted(variable) {
                text = format!("extent({}, {}) * {text}", self.kernel.tensor(tensor).name, mode + 1);
                let indices = self.kernel.tensor(tensor).format.order;
                reads.push(Expr::Access(Access::new(tensor, vec![variable; indices], self.kernel.tensor(tensor).span)));
            }
        }
        text
    }

    /// A tensor that has a variable by itself in a mode, and the mode.
    fn counted(&self, variable: IndexVariable) -> Option<(TensorId, usize)> {
        let reads = self.original.statements.iter().flat_map(Assignment::reads);
        let mode = |access: &Access| access.indices.iter().position(|index| *index == variable);
        reads.into_iter().find_map(|access| Some((access.tensor, mode(access)?)))
    }
}

/// A statement behind its target. A sum whose terms the mask chooses has no reduction word.
fn right_hand_side(kernel: &Kernel, statement: &Assignment) -> String {
    let chooses = |variables: &[IndexVariable]| {
        let chosen = statement.mask.iter().flat_map(|mask| kernel.running(&mask.indices)).collect::<Vec<_>>();
        variables.iter().any(|variable| chosen.contains(variable))
    };
    let (operator, value) = match &statement.value {
        Expr::Reduce(operator, variables, body) if chooses(variables) => {
            (statement.operator.or(Some(*operator).filter(|operator| *operator != ReduceOperator::Add)), &**body)
        }
        value => (statement.operator, value),
    };
    let mut text = format!(" {} {}", AssignOperator::of(operator), kernel.expression(value));
    if let Some(mask) = &statement.mask {
        let _ = write!(text, " where {}", kernel.access(mask));
    }
    text
}

/// The terms, each once: what stands there twice is taken times two.
fn counted(terms: Vec<String>) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for term in terms {
        match found.iter_mut().find(|(known, _)| *known == term) {
            Some((_, times)) => *times += 1,
            None => found.push((term, 1)),
        }
    }
    found.into_iter().map(|(term, times)| if times == 1 { term } else { format!("{times} * {term}") }).collect()
}

/// `A(i, j)`, and `alpha` for a scalar.
fn access_text(name: &str, indices: &[String]) -> String {
    if indices.is_empty() { name.to_owned() } else { format!("{name}({})", indices.join(", ")) }
}

/// A declaration behind its colon.
fn storage(tensor: &Tensor) -> String {
    let mut text = tensor.element.name().to_owned();
    if tensor.format.order == 0 {
        return text;
    }
    let known = |name: &&String| {
        let base = name.split(['(', ' ']).next().unwrap_or_default();
        prelude::definitions().iter().any(|definition| definition.name.name == base)
    };
    match tensor.format_name.as_ref().filter(known) {
        Some(name) => {
            let _ = write!(text, " {name}");
        }
        None if tensor.format.is_dense() && tensor.format.mode_order().is_some_and(|modes| modes.is_sorted()) => {
            text.push_str(" dense");
        }
        None => {
            let _ = write!(text, " {}", tensor.format);
        }
    }
    if tensor.fill.is_negative_zero() || !tensor.fill.equals(tensor.element.zero()) {
        let _ = write!(text, " fill {}", tensor.fill.text());
    }
    text
}
