//! The dense oracle: what a kernel means, by nested loops over all indices.
//!
//! It reads [`notation::Kernel`] and nothing later: no schedule, no lattice, no storage. It knows two things of an operand:
//! its value at every index, and whether an entry is stored there.
//!
//! A missing entry is zero, and that zero is *known*: whatever it is multiplied by, the product is a known zero, also for an
//! infinite or undefined factor. A result has an entry where its value is not a known zero. So the oracle also says which
//! entries a sparse result should have.

use crate::data::{Entries, for_each_index};
use spc_compiler::ir::{ElementType, Function, IndexExpr, Literal, ReduceOperator};
use spc_compiler::notation::{
    self, Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, Role, UnaryOperator,
};
use std::collections::BTreeMap;

/// The results of a kernel, in order. Each holds the entries whose value is not known to be zero by structure alone.
///
/// # Panics
/// When an extent is neither in `inputs` nor in `dims`, or the kernel reduces by something that the oracle does not know.
pub fn evaluate(kernel: &Kernel, inputs: &[Entries], dims: &[(String, usize)]) -> Vec<Entries> {
    let extents = Extents::of(kernel, inputs, dims);
    let mut inputs = inputs.iter();
    let mut tensors: Vec<Entries> = Vec::new();
    for (id, tensor) in kernel.tensors.iter().enumerate() {
        tensors.push(match tensor.role {
            Role::Input => inputs.next().expect("an input for each parameter").clone(),
            Role::Output | Role::Temporary => Entries { shape: extents.shape(id), stored: BTreeMap::new() },
        });
    }
    for (place, statement) in kernel.statements.iter().enumerate() {
        let target = statement.target.tensor;
        let updates = kernel.statements[..place].iter().any(|earlier| earlier.target.tensor == target);
        let mut result = Evaluation { kernel, tensors: &tensors, extents: &extents, statement }.run(updates);
        if kernel.tensor(target).role == Role::Temporary && !kernel.tensor(target).is_sparse() {
            for_each_index(&result.shape.clone(), &mut |index| _ = result.stored.entry(index.to_vec()).or_insert(0.0));
        }
        tensors[target.0] = result;
    }
    let results = kernel.tensors.iter().zip(tensors).filter(|(tensor, _)| tensor.role == Role::Output);
    results.map(|(_, entries)| entries).collect()
}

/// The extents of index variables and of modes, found from what is known of some of them.
#[derive(Debug)]
pub struct Extents {
    variables: Vec<Option<usize>>,
    modes: Vec<Vec<Option<usize>>>,
}

impl Extents {
    /// The extents of a kernel with these inputs; `dims` gives those of index variables by name, and those of modes as `A2_size`.
    pub fn of(kernel: &Kernel, inputs: &[Entries], dims: &[(String, usize)]) -> Self {
        let mut given = inputs.iter();
        let stated = |tensor: &notation::Tensor| -> Vec<Option<usize>> {
            let name = |mode: usize| format!("{}{}_size", tensor.name, mode + 1);
            let size = |mode: usize| dims.iter().find(|(given, _)| *given == name(mode)).map(|&(_, extent)| extent);
            (0..tensor.format.order).map(size).collect()
        };
        let modes = kernel.tensors.iter().map(|tensor| match tensor.role {
            Role::Input => match given.next() {
                Some(entries) => entries.shape.iter().copied().map(Some).collect(),
                None => stated(tensor),
            },
            _ => stated(tensor),
        });
        let named = |variable: &notation::Variable| {
            dims.iter().find(|(name, _)| *name == variable.name).map(|&(_, extent)| extent)
        };
        let fixed =
            |variable: &notation::Variable| variable.extent.map(|extent| usize::try_from(extent).expect("small"));
        let variables = kernel.variables.iter().map(|variable| named(variable).or(fixed(variable)));
        let mut extents = Extents { modes: modes.collect(), variables: variables.collect() };
        while extents.spread(kernel) {}
        extents
    }

    /// Passes extents between modes and the variables that index them; says whether anything was new.
    fn spread(&mut self, kernel: &Kernel) -> bool {
        self.spread_by_name(kernel) || self.spread_by_bounds(kernel, true) || self.spread_by_bounds(kernel, false)
    }

    /// Finds extents by computed indices: the largest range that stays inside, and the smallest mode that holds all.
    fn spread_by_bounds(&mut self, kernel: &Kernel, is_upper: bool) -> bool {
        let values = kernel.variables.iter().enumerate();
        let computed: Vec<(usize, &IndexExpr<IndexVariable>)> =
            values.filter_map(|(id, variable)| Some((id, variable.value.as_ref()?))).collect();
        for unknown in 0..self.variables.len() {
            if self.variables[unknown].is_some() {
                continue;
            }
            // By trial: sizes in tests are small.
            let fits = |size: usize, (id, value): &(usize, &IndexExpr<IndexVariable>)| {
                let extent_of = |v: &IndexVariable| if v.0 == unknown { Some(size) } else { self.variables[v.0] };
                let mode = if is_upper && *id != unknown { self.variables[*id] } else { Some(size) };
                let mode = mode?;
                let all = value.variables().iter().map(extent_of).collect::<Option<Vec<_>>>()?;
                let (low, high) = value.range(&mut |v| extent_of(v).map_or(0, |extent| extent.max(1) as i128 - 1));
                Some(all.contains(&0) || low >= 0 && high < mode as i128)
            };
            let holds = |size: usize, bounds: &[&(usize, &IndexExpr<IndexVariable>)]| {
                bounds.iter().all(|bound| fits(size, bound) == Some(true))
            };
            let mentions = |bound: &&(usize, &IndexExpr<IndexVariable>)| match is_upper {
                true => bound.1.variables().contains(&IndexVariable(unknown)) && fits(0, bound).is_some(),
                false => self.share_a_mode(kernel, bound.0, unknown),
            };
            let bounds: Vec<_> = computed.iter().filter(mentions).collect();
            if bounds.is_empty() {
                continue;
            }
            let mut sizes = 0..1000;
            let size = match is_upper {
                true => sizes.take_while(|&size| holds(size, &bounds)).last(),
                false => sizes.find(|&size| holds(size, &bounds)),
            };
            self.variables[unknown] = size;
            return size.is_some();
        }
        false
    }

    /// Whether two variables index the same mode of a tensor.
    fn share_a_mode(&self, kernel: &Kernel, a: usize, b: usize) -> bool {
        let mut modes: Vec<(usize, usize, usize)> = Vec::new();
        let mut note = |access: &Access| {
            let indices = access.indices.iter().enumerate();
            modes.extend(indices.map(|(mode, variable)| (access.tensor.0, mode, variable.0)));
        };
        for statement in &kernel.statements {
            note(&statement.target);
            statement.mask.iter().for_each(&mut note);
            statement.value.for_each_access(&mut note);
        }
        modes.iter().any(|&(tensor, mode, variable)| variable == a && modes.contains(&(tensor, mode, b)))
    }

    fn spread_by_name(&mut self, kernel: &Kernel) -> bool {
        let mut news = false;
        let mut meet = |access: &Access| {
            for (mode, variable) in access.indices.iter().enumerate() {
                let known = self.modes[access.tensor.0][mode].or(self.variables[variable.0]);
                for place in [&mut self.modes[access.tensor.0][mode], &mut self.variables[variable.0]] {
                    news |= known != *place;
                    assert!(place.is_none() || *place == known, "extents differ: {place:?} and {known:?}");
                    *place = known;
                }
            }
        };
        for statement in &kernel.statements {
            meet(&statement.target);
            statement.mask.iter().for_each(&mut meet);
            statement.value.for_each_access(&mut meet);
        }
        news
    }

    /// The shape of a tensor, by its place among the kernel's.
    pub fn shape(&self, tensor: usize) -> Vec<usize> {
        self.modes[tensor].iter().map(|extent| extent.expect("every extent is known")).collect()
    }

    fn variable(&self, variable: IndexVariable) -> usize {
        self.variables[variable.0].expect("every extent is known")
    }
}

/// A number, and whether it follows from the structure alone.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Value {
    number: Number,
    known: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    Float(f64),
    Integer(i64),
    Truth(bool),
}

impl Value {
    fn is_known_zero(self) -> bool {
        self.known && self.number.is_zero()
    }
}

impl Number {
    fn of(element: ElementType, value: f64) -> Self {
        match element {
            ElementType::F64 | ElementType::F32 => Number::Float(value),
            ElementType::Bool => Number::Truth(value != 0.0),
            _ => Number::Integer(value as i64),
        }
    }

    fn is_zero(self) -> bool {
        match self {
            Number::Float(value) => value == 0.0,
            Number::Integer(value) => value == 0,
            Number::Truth(_) => false,
        }
    }

    fn is_true(self) -> bool {
        match self {
            Number::Truth(truth) => truth,
            other => panic!("{other:?} is no truth value"),
        }
    }

    fn to_f64(self) -> f64 {
        match self {
            Number::Float(value) => value,
            Number::Integer(value) => value as f64,
            Number::Truth(truth) => f64::from(u8::from(truth)),
        }
    }
}

/// The value of each index variable whose loop is outside.
type Indices = BTreeMap<IndexVariable, usize>;

struct Evaluation<'a> {
    kernel: &'a Kernel,
    tensors: &'a [Entries],
    extents: &'a Extents,
    statement: &'a Assignment,
}

impl Evaluation<'_> {
    fn element(&self) -> ElementType {
        self.kernel.tensor(self.statement.target.tensor).element
    }

    /// Integers wrap around in their type.
    fn wrap(&self, number: Number) -> Number {
        match (number, self.element()) {
            (Number::Integer(value), ElementType::I32) => Number::Integer(i64::from(value as i32)),
            (Number::Integer(value), ElementType::U8) => Number::Integer(i64::from(value as u8)),
            (number, _) => number,
        }
    }

    /// The index at which an access reads or writes.
    fn place(&self, access: &Access, indices: &Indices) -> Vec<usize> {
        let value = |variable: &IndexVariable| match &self.kernel.variables[variable.0].value {
            None => indices[variable],
            Some(value) => {
                let value = value.value(&mut |variable| Some(indices[variable] as i128));
                usize::try_from(value.expect("it is computed")).expect("indices are inside")
            }
        };
        access.indices.iter().map(value).collect()
    }

    fn zero(&self, element: ElementType) -> Value {
        Value { number: Number::of(element, 0.0), known: true }
    }

    /// What the target holds afterwards. Where the statement `updates` what an earlier one has assigned, that is an operand
    /// like the others; else there is nothing before, whatever the operator.
    fn run(&self, updates: bool) -> Entries {
        let target = &self.statement.target;
        let mut result = self.tensors[target.tensor.0].clone();
        let running = self.kernel.running(&target.indices);
        let shape: Vec<usize> = running.iter().map(|&variable| self.extents.variable(variable)).collect();
        for_each_index(&shape, &mut |values| {
            let indices: Indices = running.iter().copied().zip(values.iter().copied()).collect();
            let index = &self.place(target, &indices)[..];
            if self.is_masked(&indices, &Indices::new()) {
                return;
            }
            let value = self.expr(&self.statement.value, &indices);
            let old = result.stored.get(index).map(|&old| Number::of(self.element(), old));
            let value = match (self.statement.operator, old) {
                (Some(operator), Some(number)) => self.update(operator, Value { number, known: false }, value),
                (Some(operator), None) if updates => self.update(operator, self.zero(self.element()), value),
                _ => value,
            };
            match value.is_known_zero() {
                false => result.stored.insert(index.to_vec(), value.number.to_f64()),
                true => result.stored.remove(index),
            };
        });
        result
    }

    fn update(&self, operator: ReduceOperator, old: Value, value: Value) -> Value {
        let both = match operator {
            ReduceOperator::Add => binary(BinaryOperator::Add, old, value),
            ReduceOperator::Multiply => binary(BinaryOperator::Multiply, old, value),
            other => Value { number: reduce(other, old.number, value.number), known: old.known && value.known },
        };
        Value { number: self.wrap(both.number), ..both }
    }

    /// Whether the mask has no entry here, where its last index has just been fixed.
    fn is_masked(&self, indices: &Indices, outside: &Indices) -> bool {
        let Some(mask) = &self.statement.mask else { return false };
        let running = self.kernel.running(&mask.indices);
        let is_fixed = |indices: &Indices| running.iter().all(|variable| indices.contains_key(variable));
        let is_news = is_fixed(indices) && (outside.is_empty() || !is_fixed(outside));
        is_news && !self.tensors[mask.tensor.0].stored.contains_key(&self.place(mask, indices))
    }

    fn expr(&self, expr: &Expr, indices: &Indices) -> Value {
        let given = |number: Number| Value { number, known: false };
        match expr {
            Expr::Literal(Literal::Float(element, value)) => {
                Value { number: Number::of(*element, *value), known: true }
            }
            Expr::Literal(Literal::Integer(ElementType::Bool, value)) => {
                Value { number: Number::Truth(*value != 0), known: true }
            }
            Expr::Literal(Literal::Integer(_, value)) => Value { number: Number::Integer(*value), known: true },
            Expr::Access(access) => {
                let element = self.kernel.tensor(access.tensor).element;
                match self.tensors[access.tensor.0].stored.get(&self.place(access, indices)) {
                    Some(&value) => given(Number::of(element, value)),
                    None => self.zero(element),
                }
            }
            Expr::Index(variable, element) => given(Number::of(*element, indices[variable] as f64)),
            Expr::Unary(operator, operand) => {
                let operand = self.expr(operand, indices);
                Value { number: self.wrap(unary(*operator, operand.number)), known: operand.known }
            }
            Expr::Binary(operator, left, right) => {
                let value = binary(*operator, self.expr(left, indices), self.expr(right, indices));
                Value { number: self.wrap(value.number), ..value }
            }
            Expr::Call(function, arguments) => {
                let arguments: Vec<Value> = arguments.iter().map(|argument| self.expr(argument, indices)).collect();
                let numbers: Vec<Number> = arguments.iter().map(|argument| argument.number).collect();
                Value {
                    number: self.wrap(call(*function, &numbers)),
                    known: arguments.iter().all(|argument| argument.known),
                }
            }
            Expr::Select(condition, yes, no) => {
                let condition = self.expr(condition, indices);
                let (yes, no) = (self.expr(yes, indices), self.expr(no, indices));
                let chosen = if condition.number.is_true() { yes } else { no };
                let known = chosen.known && (condition.known || yes == no);
                Value { number: chosen.number, known }
            }
            Expr::Reduce(operator, variables, body) => self.reduction(*operator, variables, body, indices),
        }
    }

    fn reduction(
        &self,
        operator: ReduceOperator,
        variables: &[IndexVariable],
        body: &Expr,
        outside: &Indices,
    ) -> Value {
        assert_eq!(operator, ReduceOperator::Add, "the oracle knows sums only");
        let shape: Vec<usize> = variables.iter().map(|&variable| self.extents.variable(variable)).collect();
        let mut sum: Option<Number> = None;
        for_each_index(&shape, &mut |index| {
            let mut indices = outside.clone();
            indices.extend(variables.iter().copied().zip(index.iter().copied()));
            if self.is_masked(&indices, outside) {
                return;
            }
            let term = self.expr(body, &indices);
            if !term.is_known_zero() {
                sum = Some(sum.map_or(term.number, |sum| self.wrap(reduce(operator, sum, term.number))));
            }
        });
        match sum {
            Some(number) => Value { number, known: false },
            None => self.zero(self.element()),
        }
    }
}

fn unary(operator: UnaryOperator, operand: Number) -> Number {
    match (operator, operand) {
        (UnaryOperator::Negate, Number::Float(value)) => Number::Float(-value),
        (UnaryOperator::Negate, Number::Integer(value)) => Number::Integer(value.wrapping_neg()),
        (UnaryOperator::Not, Number::Truth(truth)) => Number::Truth(!truth),
        (operator, operand) => panic!("{operator:?} of {operand:?}"),
    }
}

fn binary(operator: BinaryOperator, left: Value, right: Value) -> Value {
    use BinaryOperator::*;
    let truth = |truth: bool, known: bool| Value { number: Number::Truth(truth), known };
    let is_known = |side: Value, truth: bool| side.known && side.number == Number::Truth(truth);
    match operator {
        Add if left.is_known_zero() => right,
        Add | Subtract if right.is_known_zero() => left,
        // A divisor is never missing; where it is a sum over nothing, the zero above it is still known.
        Multiply | Divide | Remainder if left.is_known_zero() => left,
        Multiply if right.is_known_zero() => right,
        And if is_known(left, false) || is_known(right, false) => truth(false, true),
        Or if is_known(left, true) || is_known(right, true) => truth(true, true),
        And => truth(left.number.is_true() && right.number.is_true(), left.known && right.known),
        Or => truth(left.number.is_true() || right.number.is_true(), left.known && right.known),
        _ => Value { number: arithmetic(operator, left.number, right.number), known: left.known && right.known },
    }
}

fn arithmetic(operator: BinaryOperator, left: Number, right: Number) -> Number {
    use BinaryOperator::*;
    match (left, right) {
        (Number::Float(a), Number::Float(b)) => match operator {
            Add => Number::Float(a + b),
            Subtract => Number::Float(a - b),
            Multiply => Number::Float(a * b),
            Divide => Number::Float(a / b),
            Remainder => Number::Float(a % b),
            _ => Number::Truth(compare(operator, &a, &b)),
        },
        (Number::Integer(a), Number::Integer(b)) => match operator {
            Add => Number::Integer(a.wrapping_add(b)),
            Subtract => Number::Integer(a.wrapping_sub(b)),
            Multiply => Number::Integer(a.wrapping_mul(b)),
            Divide => Number::Integer(a.wrapping_div(b)),
            Remainder => Number::Integer(a.wrapping_rem(b)),
            _ => Number::Truth(compare(operator, &a, &b)),
        },
        (Number::Truth(a), Number::Truth(b)) => Number::Truth(compare(operator, &a, &b)),
        (left, right) => panic!("{left:?} {operator:?} {right:?}"),
    }
}

fn compare<T: PartialOrd>(operator: BinaryOperator, a: &T, b: &T) -> bool {
    match operator {
        BinaryOperator::Equal => a == b,
        BinaryOperator::NotEqual => a != b,
        BinaryOperator::Less => a < b,
        BinaryOperator::LessEqual => a <= b,
        BinaryOperator::Greater => a > b,
        BinaryOperator::GreaterEqual => a >= b,
        other => panic!("{other:?} is no comparison"),
    }
}

fn call(function: Function, arguments: &[Number]) -> Number {
    match (function, arguments) {
        (Function::Min, [Number::Float(a), Number::Float(b)]) => Number::Float(a.min(*b)),
        (Function::Max, [Number::Float(a), Number::Float(b)]) => Number::Float(a.max(*b)),
        (Function::Min, [Number::Integer(a), Number::Integer(b)]) => Number::Integer(*a.min(b)),
        (Function::Max, [Number::Integer(a), Number::Integer(b)]) => Number::Integer(*a.max(b)),
        (Function::Abs, [Number::Float(a)]) => Number::Float(a.abs()),
        (Function::Abs, [Number::Integer(a)]) => Number::Integer(a.wrapping_abs()),
        (Function::Sqrt, [Number::Float(a)]) => Number::Float(a.sqrt()),
        (Function::Exp, [Number::Float(a)]) => Number::Float(a.exp()),
        (Function::Ln, [Number::Float(a)]) => Number::Float(a.ln()),
        (Function::Pow, [Number::Float(a), Number::Float(b)]) => Number::Float(a.powf(*b)),
        (function, arguments) => panic!("{function:?} of {arguments:?}"),
    }
}

fn reduce(operator: ReduceOperator, a: Number, b: Number) -> Number {
    match operator {
        ReduceOperator::Add => arithmetic(BinaryOperator::Add, a, b),
        ReduceOperator::Multiply => arithmetic(BinaryOperator::Multiply, a, b),
        ReduceOperator::Min => call(Function::Min, &[a, b]),
        ReduceOperator::Max => call(Function::Max, &[a, b]),
        ReduceOperator::Or => Number::Truth(a.is_true() || b.is_true()),
        ReduceOperator::And => Number::Truth(a.is_true() && b.is_true()),
    }
}
