//! Gradients as notation: reverse mode on a checked kernel, statement by statement. The result is a text in the language.
//!
//! ```text
//! fn spmm(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, k) * X(k, r); }
//!
//! fn spmm_grad(A: csr, X: dense, dY: dense) -> (dA: csr, dX: dense) {
//!     dA(i, k) = sum(r)(dY(i, r) * X(k, r)) where A(i, k);
//!     dX(k, r) = sum(i)(dY(i, r) * A(i, k));
//! }
//! ```
//!
//! For each access `P(J)` on the right-hand side of `Y(I) = E`, `dP(J)` gains `dY(I)` times the derivative of `E` by the access, summed over
//! the indices that `J` lacks: see [`rules`]. The gradient of a sparse operand has its entries and no others; fill values are constants.

mod rules;
mod text;

use super::{Access, Assignment, Expr, IndexVariable, Kernel, Reading, Role, Tensor, TensorId, simplify};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::{ElementType, Literal, ReduceOperator};
use rules::Part;
use std::collections::{BTreeMap, BTreeSet};

/// The text of a kernel that computes gradients of `kernel` by some of its parameters: its inputs are those of `kernel` that it reads, and
/// for each result the derivative of what is minimized by it, `dY` for `Y`; its results are the derivatives by the parameters, `dA` for `A`.
///
/// ```
/// use spc_compiler::{notation, syntax};
///
/// let text = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
/// let kernels = notation::check(&syntax::parse_program(text).unwrap()).unwrap();
/// let gradient = notation::gradient(&kernels[0], &["x"]).unwrap();
/// assert_eq!(
///     gradient,
///     "fn spmv_grad(A: f64 csr, dy: f64 dense) -> (dx: f64 dense) {\n    dx(j) = sum(i)(dy(i) * A(i, j));\n}\n"
/// );
/// ```
///
/// # Errors
/// A name that is none of a parameter of real numbers, and what has no derivative.
pub fn gradient(kernel: &Kernel, by: &[&str]) -> Result<String, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut parameters = Vec::new();
    for name in by {
        match parameter(kernel, name) {
            Ok(id) => parameters.push(id),
            Err(problem) => found.push(problem),
        }
    }
    if by.is_empty() {
        let message = "a gradient is by some parameter";
        found.push(Diagnostic::new(codes::NO_GRADIENT, kernel.name_span, message).label("name one of its parameters"));
    }
    if kernel.repeat.is_some() {
        let message = "a gradient goes through one round: take it of a kernel without `repeat`";
        found.push(
            Diagnostic::new(codes::NO_GRADIENT, kernel.name_span, message).label("repeats some of its statements"),
        );
    }
    if !found.is_empty() {
        return Err(found);
    }
    let mut reverse = Reverse::new(kernel, &parameters);
    for place in (0..kernel.statements.len()).rev() {
        reverse.statement(place);
    }
    reverse.check_order();
    if !reverse.found.is_empty() {
        return Err(reverse.found);
    }
    let text = reverse.text(&parameters);
    let checked = crate::syntax::parse_program(&text).and_then(|program| super::check(&program));
    match checked {
        Ok(_) => Ok(text),
        Err(problems) => Err(unwritten(kernel, problems)),
    }
}

/// The parameters of real numbers: those that a gradient may be by.
pub fn real_parameters(kernel: &Kernel) -> Vec<&str> {
    let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input);
    let is_one = |tensor: &&Tensor| is_real(tensor) && tensor.format.symmetry.is_none();
    inputs.filter(is_one).map(|tensor| tensor.name.as_str()).collect()
}

fn is_real(tensor: &Tensor) -> bool {
    tensor.element.computed().is_float() && !tensor.element.is_complex()
}

/// Why a gradient can't be written as a kernel.
fn unwritten(kernel: &Kernel, problems: Diagnostics) -> Diagnostics {
    let why = problems.into_sorted().into_iter().map(|problem| problem.message).next().unwrap_or_default();
    let message = format!("the gradient of `{}` is no kernel: {why}", kernel.name);
    let mut found = Diagnostics::new();
    found.push(Diagnostic::new(codes::NO_GRADIENT, kernel.name_span, message).label("differentiated"));
    found
}

fn parameter(kernel: &Kernel, name: &str) -> Result<TensorId, Diagnostic> {
    let inputs = || kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input);
    let place = kernel.tensors.iter().position(|tensor| tensor.name == name && tensor.role == Role::Input);
    let Some(place) = place else {
        let message = format!("`{}` has no parameter `{name}`", kernel.name);
        let names = crate::diagnostics::words::list(inputs().map(|tensor| tensor.name.as_str()));
        return Err(Diagnostic::new(codes::NO_GRADIENT, kernel.name_span, message)
            .label("has other parameters")
            .help(format!("its parameters are {names}")));
    };
    let tensor = &kernel.tensors[place];
    if !is_real(tensor) {
        let message = format!("`{name}` has elements of type {}, and a gradient is by real numbers", tensor.element);
        return Err(Diagnostic::new(codes::NO_GRADIENT, tensor.span, message).label("declared here"));
    }
    if let Some(symmetry) = &tensor.format.symmetry {
        let message = format!("`{name}` is {symmetry}, and its elements do not change each for itself");
        let problem = Diagnostic::new(codes::NO_GRADIENT, tensor.span, message).label("declared here");
        return Err(problem.help("declare it without for the gradient"));
    }
    Ok(TensorId(place))
}

/// What a tensor's derivative gains from one access.
#[derive(Debug, Clone)]
struct Gain {
    /// The indices of the access.
    indices: Vec<IndexVariable>,
    /// What it gains, with every sum explicit.
    value: Expr,
    /// The indices that are summed over and stand in no factor: the sum has as many equal terms as they have values.
    repeated: Vec<IndexVariable>,
}

/// A temporary for what several derivatives read.
#[derive(Debug, Clone)]
struct Shared {
    target: Access,
    value: Expr,
    mask: Option<Access>,
}

struct Reverse<'a> {
    original: &'a Kernel,
    /// The kernel with derivatives and shared temporaries among its tensors.
    kernel: Kernel,
    /// Whether a derivative by a tensor is requested, or needed for one that is.
    active: Vec<bool>,
    /// For each tensor of the original what its derivative gains.
    gains: Vec<Vec<Gain>>,
    /// For each tensor of the original the tensor of its derivative: for results, what the caller gives.
    derivative: Vec<Option<TensorId>>,
    shared: Vec<Shared>,
    /// That of the statement.
    mask: Option<Access>,
    /// Entries that the statement divides by where it is a recurrence, which has none where they are missing.
    pivots: Vec<Access>,
    /// The value of the statement, and where it is kept.
    made: Option<(Expr, Access)>,
    /// For each result that other statements read, what the caller gives.
    seeds: BTreeMap<TensorId, TensorId>,
    found: Diagnostics,
}

impl<'a> Reverse<'a> {
    fn new(original: &'a Kernel, parameters: &[TensorId]) -> Self {
        let mut active: Vec<bool> = (0..original.tensors.len()).map(|id| parameters.contains(&TensorId(id))).collect();
        for statement in &original.statements {
            let depends = statement.value.accesses().iter().any(|access| active[access.values().0]);
            active[statement.target.tensor.0] |= depends;
        }
        let gains = vec![Vec::new(); original.tensors.len()];
        let derivative = vec![None; original.tensors.len()];
        let (kernel, found) = (original.clone(), Diagnostics::new());
        let mut reverse = Self {
            original,
            kernel,
            active,
            gains,
            derivative,
            shared: Vec::new(),
            mask: None,
            pivots: Vec::new(),
            made: None,
            seeds: BTreeMap::new(),
            found,
        };
        for id in 0..original.tensors.len() {
            let tensor = &original.tensors[id];
            if reverse.active[id] && tensor.element.computed().is_float() {
                let name = reverse.fresh(&format!("d{}", tensor.name));
                // A temporary has elements that are computed with.
                let (element, fill) = (tensor.element, tensor.element.zero());
                let format = tensor.format.unfolded();
                let new = Tensor { name, element, fill, format, ..tensor.clone() };
                reverse.derivative[id] = Some(reverse.push(new));
            }
        }
        reverse
    }

    fn push(&mut self, tensor: Tensor) -> TensorId {
        self.kernel.tensors.push(tensor);
        TensorId(self.kernel.tensors.len() - 1)
    }

    /// A name that no tensor and no index has.
    fn fresh(&self, wish: &str) -> String {
        let is_taken = |name: &str| {
            self.kernel.tensors.iter().any(|tensor| tensor.name == name)
                || self.kernel.variables.iter().any(|variable| variable.name == name)
        };
        let numbered = (1..).map(|number| format!("{wish}_{number}"));
        std::iter::once(wish.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, label: &str) {
        self.found.push(Diagnostic::new(codes::NO_GRADIENT, span, message.into()).label(label.to_owned()));
    }

    fn element(&self, expr: &Expr) -> ElementType {
        self.kernel.element_of(expr)
    }

    /// Goes back through a statement: what its operands gain from its target.
    fn statement(&mut self, place: usize) {
        let statement = &self.original.statements[place];
        let target = statement.target.tensor;
        let Some(mut derivative) = self.derivative[target.0].filter(|_| self.active[target.0]) else { return };
        let is_recurrent = statement.is_recurrent();
        let is_read =
            self.original.tensor(target).role == Role::Output && (is_recurrent || !self.gains[target.0].is_empty());
        if is_read && !self.seeds.contains_key(&target) {
            self.seeds.insert(target, derivative);
            let name = self.fresh(&self.kernel.tensor(derivative).name);
            let whole = Tensor { name, role: Role::Temporary, ..self.kernel.tensor(derivative).clone() };
            derivative = self.push(whole);
            self.derivative[target.0] = Some(derivative);
        }
        let is_first = !self.original.statements[..place].iter().any(|before| before.target.tensor == target);
        if self.gains[target.0].is_empty() && self.original.tensor(target).role == Role::Temporary {
            return;
        }
        if is_recurrent && self.original.tensor(target).is_sparse() {
            let message = "a statement that reads its own sparse result has no derivative here";
            return self.refuse(statement.span, message, "reads what it assigns");
        }
        let is_plain = statement.target.indices.iter().all(|index| self.original.variables[index.0].value.is_none());
        let later = &self.original.statements[place + 1..];
        if later.iter().any(|later| statement.reads().any(|read| read.tensor == later.target.tensor)) {
            let message = "what is read before it is updated has no derivative here";
            return self.refuse(statement.span, message, "reads what a later statement changes");
        }
        let symbol = crate::syntax::AssignOperator::of(statement.operator).to_string();
        match statement.operator {
            None | Some(ReduceOperator::Add) => {}
            Some(ReduceOperator::Min | ReduceOperator::Max) if is_first && is_plain => {}
            Some(_) => {
                let message = format!("an update by `{symbol}` has no derivative here");
                return self.refuse(
                    statement.span,
                    message,
                    "combines what was there with a value by another operator than `+`",
                );
            }
        }
        let mut seed = Expr::Access(Access::new(derivative, statement.target.indices.clone(), statement.span));
        let element = self.element(&statement.value);
        if self.element(&seed) != element && element.is_float() {
            seed = Expr::Cast(element, Box::new(seed));
        }
        self.mask.clone_from(&statement.mask);
        let divisors = statement.divisors().into_iter();
        self.pivots = divisors.filter(|divisor| self.original.is_sparse(divisor)).cloned().collect();
        let value = statement.value.clone();
        let makers = self.original.statements.iter().filter(|maker| maker.target.tensor == target).count();
        let is_value = statement.operator != Some(ReduceOperator::Add) && makers == 1;
        self.made = is_value.then(|| (value.clone(), statement.target.clone()));
        self.back(&value, seed, &mut Vec::new(), statement.span);
    }

    /// Refuses derivatives that are recurrences and read what can't be gone through from the last element back.
    fn check_order(&mut self) {
        let begins_dense = |access: &&Access| {
            let format = &self.kernel.tensor(access.tensor).format;
            format.mode_order().is_some() && format.levels.first().is_none_or(|level| level.format.kind.is_dense())
        };
        let is_own = |place: usize, gain: &Gain| {
            gain.value.accesses().iter().any(|read| self.derivative[place] == Some(read.tensor))
        };
        let recurrent =
            self.gains.iter().enumerate().filter(|(place, gains)| gains.iter().any(|gain| is_own(*place, gain)));
        let reads = recurrent.flat_map(|(_, gains)| gains).flat_map(|gain| gain.value.accesses());
        let other = reads.into_iter().find(|access| !begins_dense(access));
        if let Some(access) = other {
            let name = self.kernel.tensor(access.tensor).name.clone();
            let message = format!("a recurrence that goes back through `{name}` has no derivative here");
            self.refuse(access.span, message, "is not stored by rows of which all are there");
        }
    }

    /// Whether a requested derivative depends on an expression.
    fn is_active(&self, expr: &Expr) -> bool {
        let is_active = |access: &&Access| {
            access.reads != Reading::Stored && self.active.get(access.values().0).copied().unwrap_or(false)
        };
        expr.accesses().iter().any(is_active)
    }

    /// What the accesses in an expression gain where its value gains `context`; `summed` are the indices of reductions around it.
    fn back(&mut self, expr: &Expr, context: Expr, summed: &mut Vec<IndexVariable>, span: Span) {
        if !self.is_active(expr) {
            return;
        }
        match expr {
            Expr::Access(access) => self.gain(access, context, summed),
            Expr::Reduce(operator, variables, body) => {
                let outer = summed.len();
                summed.extend(variables);
                match operator {
                    ReduceOperator::Add => self.back(body, context, summed, span),
                    ReduceOperator::Min | ReduceOperator::Max => {
                        let whole = self.extreme(expr, variables, span);
                        let chosen = rules::equal(self.shared(body, span), whole.clone());
                        let element = self.element(&context);
                        let zero = Expr::Literal(element.zero());
                        let context = rules::share(context, self.ties(body, variables, whole, span), element);
                        let context = Expr::Select(Box::new(chosen), Box::new(context), Box::new(zero));
                        self.back(body, context, summed, span);
                    }
                    _ => {
                        let word = super::reduction_name(*operator);
                        self.refuse(span, format!("a reduction by `{word}` has no derivative here"), "reduces by it");
                    }
                }
                summed.truncate(outer);
            }
            _ => {
                let original = self.original;
                let element = |expr: &Expr| original.element_of(expr);
                match rules::parts(expr, &element, &mut |copied| self.shared(copied, span)) {
                    Ok(parts) => {
                        for Part { operand, factor } in parts {
                            let context = factor.times(context.clone(), self.element(operand));
                            self.back(operand, context, summed, span);
                        }
                    }
                    Err(what) => self.refuse(span, format!("{what} has no derivative here"), "in this statement"),
                }
            }
        }
    }

    fn gain(&mut self, access: &Access, context: Expr, summed: &[IndexVariable]) {
        let expand = |variable: IndexVariable| self.original.running(&[variable]);
        // A derivative by a sparse operand has its entries.
        let is_own = |read: &Access| read.reads == Reading::Stored && read.same_place(access);
        // The mask is tested first: the rest is computed only where it has an entry.
        let mask = self.mask.iter().filter(|mask| self.original.is_sparse(mask));
        let context = mask.chain(&self.pivots).fold(context, |context, mask| {
            let zero = Expr::Literal(self.element(&context).zero());
            Expr::Select(Box::new(mask.stored()), Box::new(context), Box::new(zero))
        });
        let value = simplify::simplify(context.map_accesses(&|read| match is_own(read) {
            true => Expr::Literal(crate::ir::constant::truth(true)),
            false => Expr::Access(read.clone()),
        }));
        if !self.runs_as_far(access, &value) {
            let message = "an index that computed indices alone bound has no derivative here";
            return self.refuse(access.span, message, "the gradient would run further");
        }
        let used = value.free_variables(&expand);
        let own = self.original.running(&access.indices);
        let repeated: Vec<IndexVariable> =
            summed.iter().copied().filter(|variable| !used.contains(variable) && !own.contains(variable)).collect();
        let bound: Vec<IndexVariable> = used.into_iter().filter(|variable| !own.contains(variable)).collect();
        if bound.iter().any(|variable| self.is_window(*variable)) {
            return self.refuse_window(access.span);
        }
        let value = match bound.is_empty() {
            true => value,
            false => Expr::Reduce(ReduceOperator::Add, bound, Box::new(value)),
        };
        self.gains[access.values().0].push(Gain { indices: access.indices.clone(), value, repeated });
    }

    /// Whether a gain's indices run as far as those of the access did: one that nothing has by itself runs as far as all the computed indices
    /// that it is in let it.
    fn runs_as_far(&self, access: &Access, value: &Expr) -> bool {
        let statement = self
            .original
            .statements
            .iter()
            .find(|statement| statement.reads().any(|read| read.same_place(access) && read.span == access.span));
        let Some(statement) = statement else { return true };
        let all: Vec<&Access> = statement.reads().chain([&statement.target]).collect();
        let here = |place: &Access| {
            let is_target = place.same_place(&statement.target);
            place.same_place(access) || is_target || value.accesses().iter().any(|read| read.same_place(place))
        };
        let running = self.original.running(&access.indices);
        let mut all_running = running.clone();
        value.for_each_variable(&mut |variable| all_running.extend(self.original.running(&[variable])));
        all_running.iter().all(|&variable| {
            let alike = |index: &IndexVariable| {
                self.original
                    .running(&[*index])
                    .iter()
                    .any(|other| super::alike(&self.original.variables, *other, variable))
            };
            let is_plain = |index: &IndexVariable| self.original.variables[index.0].value.is_none() && alike(index);
            let has_own = all.iter().any(|place| place.indices.iter().any(is_plain));
            let meets = |place: &&&Access| place.indices.iter().any(alike);
            has_own || all.iter().filter(meets).all(|place| here(place))
        })
    }

    /// Whether a variable runs over a window, and has no name in the language.
    fn is_window(&self, variable: IndexVariable) -> bool {
        let variable = &self.original.variables[variable.0];
        variable.written.is_none() && variable.value.is_none()
    }

    fn refuse_window(&mut self, span: Span) {
        self.refuse(
            span,
            "a sum over a window has no derivative here",
            "name an index instead, and let a condition bound it",
        );
    }

    /// What stands for an expression that is read besides what it is made of: itself, or a temporary where it has sums.
    fn shared(&mut self, expr: &Expr, span: Span) -> Expr {
        fn reduces(expr: &Expr) -> bool {
            let is_extent = matches!(expr, Expr::Reduce(_, _, one) if matches!(&**one, Expr::Literal(_)));
            !is_extent && (matches!(expr, Expr::Reduce(..)) || expr.children().into_iter().any(reduces))
        }
        if !reduces(expr) {
            return expr.clone();
        }
        if let Some(target) = self.kept(expr) {
            return target;
        }
        let expand = |variable: IndexVariable| self.original.running(&[variable]);
        let free = expr.free_variables(&expand);
        // It is read where the mask has entries.
        let is_chosen =
            |mask: &Access| self.original.is_sparse(mask) && mask.indices.iter().all(|index| free.contains(index));
        let mask = self.mask.clone().filter(is_chosen);
        self.temporary(expr, free, mask, span)
    }

    /// Where the statement keeps a value, if that is its own.
    fn kept(&self, expr: &Expr) -> Option<Expr> {
        let (_, target) = self.made.as_ref().filter(|(value, _)| value == expr)?;
        Some(Expr::Access(target.clone()))
    }

    /// A temporary for a minimum or a maximum, of the terms that the mask of the statement chooses.
    fn extreme(&mut self, expr: &Expr, variables: &[IndexVariable], span: Span) -> Expr {
        if let Some(target) = self.kept(expr) {
            return target;
        }
        let expand = |variable: IndexVariable| self.original.running(&[variable]);
        let mut free = expr.free_variables(&expand);
        let mask = self.mask.clone().filter(|mask| mask.indices.iter().any(|index| variables.contains(index)));
        for index in mask.iter().flat_map(|mask| &mask.indices) {
            if !variables.contains(index) && !free.contains(index) {
                free.push(*index);
            }
        }
        self.temporary(expr, free, mask, span)
    }

    /// How many terms are the extreme one, which share what it gains.
    fn ties(&mut self, body: &Expr, variables: &[IndexVariable], extreme: Expr, span: Span) -> Expr {
        let element = self.element(body);
        let is_it = rules::equal(body.clone(), extreme);
        let (one, zero) = (number(element, 1.0), number(element, 0.0));
        let terms = Expr::Select(Box::new(is_it), Box::new(one), Box::new(zero));
        self.extreme(&Expr::Reduce(ReduceOperator::Add, variables.to_vec(), Box::new(terms)), variables, span)
    }

    fn temporary(&mut self, expr: &Expr, free: Vec<IndexVariable>, mask: Option<Access>, span: Span) -> Expr {
        if let Some(known) = self.shared.iter().find(|known| known.value == *expr && known.mask == mask) {
            return Expr::Access(known.target.clone());
        }
        if free.iter().any(|variable| self.is_window(*variable)) {
            self.refuse_window(span);
        }
        let name = self.fresh("t");
        let element = self.element(expr);
        let format = crate::format::Format::dense(free.len());
        let tensor = Tensor {
            name,
            span,
            element,
            fill: element.zero(),
            format,
            format_name: None,
            role: Role::Temporary,
            declared: false,
            hints: super::Hints::default(),
        };
        let id = self.push(tensor);
        let target = Access::new(id, free, span);
        self.shared.push(Shared { target: target.clone(), value: expr.clone(), mask });
        Expr::Access(target)
    }

    /// The tensors that some expressions read, and what those read that are made on the way.
    fn needed<'e>(&self, read: impl Iterator<Item = &'e Expr>) -> BTreeSet<TensorId> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<TensorId> = read.flat_map(|expr| expr.accesses()).flat_map(both).collect();
        while let Some(tensor) = open.pop() {
            if needed.insert(tensor) {
                let of_shared = self.shared.iter().filter(|shared| shared.target.tensor == tensor);
                open.extend(
                    of_shared.flat_map(|shared| shared.value.accesses().into_iter().chain(&shared.mask)).flat_map(both),
                );
                let made = self.original.statements.iter().filter(|statement| statement.target.tensor == tensor);
                open.extend(made.flat_map(Assignment::reads).flat_map(both));
            }
        }
        needed
    }
}

/// The tensors that an access names.
fn both(access: &Access) -> [TensorId; 2] {
    [access.tensor, access.values()]
}

/// A number of a type.
fn number(element: ElementType, value: f64) -> Expr {
    Expr::Literal(Literal::new(element, value).unwrap_or(element.zero()))
}
