//! Symmetric operands, walked as they are stored.
//!
//! A stored entry stands for all that follow from it by exchanges. Where it is the only sparse operand and the result is dense, one walk makes
//! the updates of all of them. With `A: csr symmetric(i, j)`, which stores entries with `i <= j`:
//!
//! ```text
//! y(i) = A(i, j) * x(j)
//!
//! for all i
//!     for all j
//!         y(i) += A(i, j) * x(j)
//!         y(j) += select(i == j, 0, A(i, j)) * x(i)
//! ```
//!
//! Updates that differ in the order of factors alone are one, with a weight: MTTKRP of `csf symmetric(i, j, k)` with one matrix for both
//! modes has three, not six. Where indices of an entry are equal, several exchanges give the same entry, and the weight counts it once. Of
//! floating point numbers all updates share one weight, so that they share the sums inside of them as well:
//!
//! ```text
//! Y(i, r) = X(i, j, k) * B(j, r) * B(k, r)          w = 2 where i < j < k, else less
//!
//! for all i
//!     for all j
//!         h(r) = B(i, r) * B(j, r)
//!         for all k
//!             t(r) += w * X(i, j, k) * B(k, r)
//!             Y(k, r) += w * X(i, j, k) * h(r)
//!         Y(i, r) += t(r) * B(j, r)
//!         Y(j, r) += t(r) * B(i, r)
//! ```
//!
//! Elsewhere a copy with all entries is read. Patel, Ahrens, Amarasinghe, *SySTeC: A Symmetric Sparse Tensor Compiler* (CGO 2025), treat
//! the same question.

use super::simplify::{has_sum, normalize, simplify};
use super::{Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, Reading, Role, TensorId, UnaryOperator};
use crate::format::{Exchange, Symmetry};
use crate::ir::{ElementType, Function, Literal, ReduceOperator};
use crate::syntax::Directive;

/// A statement as updates for each stored entry of a symmetric operand.
pub(crate) struct Updates {
    /// The operand.
    pub(crate) operand: TensorId,
    /// The indices that it is read at, in the order of its levels.
    pub(crate) loops: Vec<IndexVariable>,
    /// What is added to the result; the first few have nothing to do with the operand.
    pub(crate) statements: Vec<Assignment>,
    /// How many of them have.
    pub(crate) walked: usize,
}

impl Kernel {
    /// The updates of a statement; `None` where no operand of it is symmetric, or it can't be walked.
    pub(crate) fn updates(&self, statement: &Assignment) -> Option<Updates> {
        let access = statement.value.accesses().into_iter().find(|access| is_symmetric(self, access))?.clone();
        let (result, operand) = (self.tensor(statement.target.tensor), self.tensor(access.tensor));
        let symmetry = operand.format.symmetry.as_ref()?;
        let is_plain = |(place, index): (usize, &IndexVariable)| {
            self.variables[index.0].value.is_none() && !access.indices[..place].contains(index)
        };
        let directives = self.schedule.iter().flat_map(|schedule| &schedule.directives);
        let is_possible = directives.into_iter().all(leaves_loops)
            && statement.mask.is_none()
            && statement.operator.is_none_or(|operator| operator == ReduceOperator::Add)
            && !statement.is_recurrent()
            && (result.format.is_dense() && result.fill.is_zero())
            && (operand.role == Role::Input && operand.format.is_walked() && operand.fill.is_zero())
            && access.indices.iter().enumerate().all(is_plain);
        if !is_possible {
            return None;
        }
        let add = |target: Access, value: Expr| {
            let operator = Some(ReduceOperator::Add);
            Assignment { target, operator, value, mask: None, stage: statement.stage, span: statement.span }
        };
        let (mut statements, mut updates) = (Vec::new(), Vec::new());
        let term = Term { kernel: self, access: &access, symmetry, target: &statement.target };
        for addend in addends(&normalize(&simplify(statement.value.clone()))) {
            match addend.accesses().into_iter().any(|access| is_symmetric(self, access)) {
                true => updates.extend(term.updates(&addend)?.into_iter().map(|(target, value)| add(target, value))),
                false => statements.push(add(statement.target.clone(), addend)),
            }
        }
        let walked = updates.len();
        statements.extend(updates);
        let modes = operand.format.mode_order()?;
        let loops = modes.into_iter().map(|mode| access.indices[mode]).collect();
        Some(Updates { operand: access.tensor, loops, statements, walked })
    }
}

/// Whether a directive says nothing of loops inside of the walk, whose order and sums follow from it.
fn leaves_loops(directive: &Directive) -> bool {
    match directive.name.name.as_str() {
        "walk" => directive.choices.is_empty(),
        name => ["inline", "materialize", "assemble", "parallel", "deterministic", "plan"].contains(&name),
    }
}

fn is_symmetric(kernel: &Kernel, access: &Access) -> bool {
    kernel.tensor(access.tensor).format.symmetry.is_some()
}

/// What is added up.
fn addends(value: &Expr) -> Vec<Expr> {
    let negated = |addend: Expr| normalize(&Expr::Unary(UnaryOperator::Negate, Box::new(addend)));
    match value {
        Expr::Binary(BinaryOperator::Add, left, right) => [addends(left), addends(right)].concat(),
        Expr::Binary(BinaryOperator::Subtract, left, right) => {
            [addends(left), addends(right).into_iter().map(negated).collect()].concat()
        }
        other => vec![other.clone()],
    }
}

/// A product in which the operand is a factor.
struct Term<'a> {
    kernel: &'a Kernel,
    access: &'a Access,
    symmetry: &'a Symmetry,
    target: &'a Access,
}

/// Updates that are the same but for the order of factors.
struct Class {
    key: String,
    target: Access,
    factors: Vec<Expr>,
    /// For each exchange that makes it, the neighbours among the sorted indices that must differ for it to count.
    exchanges: Vec<Vec<usize>>,
}

impl Term<'_> {
    /// The element and the sum for each class of updates.
    fn updates(&self, addend: &Expr) -> Option<Vec<(Access, Expr)>> {
        let (mut reduced, body) = match addend {
            Expr::Reduce(ReduceOperator::Add, variables, body) => (variables.clone(), &**body),
            body => (Vec::new(), body),
        };
        if has_sum(body) {
            return None;
        }
        let factors = factors(body);
        let (own, others): (Vec<Expr>, Vec<Expr>) = factors.into_iter().partition(|factor| self.is_own(factor));
        let [own] = &own[..] else { return None };
        let is_located =
            |access: &&Access| access.reads == Reading::Value && self.kernel.tensor(access.tensor).format.is_dense();
        if !others.iter().all(|factor| factor.accesses().iter().all(is_located)) {
            return None;
        }
        let variables: Vec<IndexVariable> = self.symmetry.modes.iter().map(|&mode| self.access.indices[mode]).collect();
        reduced
            .extend(self.target.indices.iter().copied().filter(|index| !reduced.contains(index)).collect::<Vec<_>>());
        let element = self.kernel.element_of(own);
        let classes = self.classes(own, &others, &variables);
        // Where few updates are the same, all entries are as good, in one order for each thread.
        if variables.len() > 2 && 2 * classes.len() > self.symmetry.exchanges().len() {
            return None;
        }
        let is_shared = variables.len() > 2 && (element.is_float() || element.is_complex());
        let weighted = classes.into_iter().map(|class| {
            let count = |ties: &[usize]| match is_shared {
                true => class.exchanges.len() as f64 / stabilizer(ties),
                false => {
                    let counts = |needed: &&Vec<usize>| !needed.iter().any(|place| ties.contains(place));
                    class.exchanges.iter().filter(counts).count() as f64
                }
            };
            let [value, rest @ ..] = &class.factors[..] else { unreachable!("the operand is a factor") };
            let value = weight(value, element, &variables, &mut Vec::new(), &count);
            let product = rest.iter().fold(value, |product, factor| {
                Expr::Binary(BinaryOperator::Multiply, Box::new(product), Box::new(factor.clone()))
            });
            let summed: Vec<IndexVariable> =
                reduced.iter().copied().filter(|index| !class.target.indices.contains(index)).collect();
            let value =
                if summed.is_empty() { product } else { Expr::Reduce(ReduceOperator::Add, summed, Box::new(product)) };
            (class.target, value)
        });
        Some(weighted.collect())
    }

    /// Whether a factor is the operand, as it is or converted.
    fn is_own(&self, factor: &Expr) -> bool {
        match factor {
            Expr::Access(access) => access.same_place(self.access) && access.reads == Reading::Value,
            Expr::Cast(_, operand) => self.is_own(operand),
            Expr::Unary(UnaryOperator::Negate, operand) => self.is_own(operand),
            _ => false,
        }
    }

    fn classes(&self, own: &Expr, others: &[Expr], variables: &[IndexVariable]) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::new();
        for Exchange { order, apart, turned } in self.symmetry.exchanges() {
            let mut rename = |variable: IndexVariable| match variables.iter().position(|other| *other == variable) {
                Some(mode) => variables[order[mode]],
                None => variable,
            };
            let mut value = own.clone();
            if turned.is_conjugated && self.kernel.element_of(own).is_complex() {
                value = Expr::Call(Function::Conj, vec![value]);
            }
            if turned.is_negated {
                value = Expr::Unary(UnaryOperator::Negate, Box::new(value));
            }
            let mut target = self.target.clone();
            target.rename(&mut rename);
            let mut renamed: Vec<Expr> = others.to_vec();
            renamed.iter_mut().for_each(|factor| factor.rename(&mut rename));
            let mut texts: Vec<String> = renamed.iter().map(spelled).collect();
            texts.sort();
            let key = format!("{:?} {} {}", target.indices, spelled(&value), texts.join(" "));
            match classes.iter_mut().find(|class| class.key == key) {
                Some(class) => class.exchanges.push(apart),
                None => {
                    renamed.insert(0, value);
                    classes.push(Class { key, target, factors: renamed, exchanges: vec![apart] });
                }
            }
        }
        classes
    }
}

/// The factors of a product, in order.
fn factors(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Binary(BinaryOperator::Multiply, left, right) => [factors(left), factors(right)].concat(),
        Expr::Unary(UnaryOperator::Negate, operand) => {
            let mut all = factors(operand);
            let first = all.remove(0);
            all.insert(0, Expr::Unary(UnaryOperator::Negate, Box::new(first)));
            all
        }
        other => vec![other.clone()],
    }
}

/// An expression as a text that says nothing of its place.
fn spelled(expr: &Expr) -> String {
    let placeless = expr.map_accesses(&|access| Expr::Access(Access { span: Default::default(), ..access.clone() }));
    format!("{placeless:?}")
}

/// How many exchanges leave indices as they are of which these neighbours are equal.
fn stabilizer(ties: &[usize]) -> f64 {
    let mut all = 1.0;
    let mut equal = 1.0;
    for (number, place) in ties.iter().enumerate() {
        let goes_on = number > 0 && ties[number - 1] + 1 == *place;
        equal = if goes_on { equal + 1.0 } else { 2.0 };
        all *= equal;
    }
    all
}

/// The value times what `count` says of the neighbours that are equal.
fn weight(
    value: &Expr,
    element: ElementType,
    variables: &[IndexVariable],
    ties: &mut Vec<usize>,
    count: &dyn Fn(&[usize]) -> f64,
) -> Expr {
    fn below(
        value: &Expr,
        element: ElementType,
        variables: &[IndexVariable],
        (place, ties): (usize, &mut Vec<usize>),
        count: &dyn Fn(&[usize]) -> f64,
    ) -> Expr {
        let Some([one, next]) = variables.get(place..place + 2) else {
            return times(count(ties), value, element);
        };
        let differ = below(value, element, variables, (place + 1, ties), count);
        ties.push(place);
        let equal = below(value, element, variables, (place + 1, ties), count);
        ties.pop();
        if equal == differ {
            return equal;
        }
        let index = |variable: &IndexVariable| Box::new(Expr::Index(*variable, ElementType::I64));
        let are_equal = Expr::Binary(BinaryOperator::Equal, index(one), index(next));
        Expr::Select(Box::new(are_equal), Box::new(equal), Box::new(differ))
    }
    below(value, element, variables, (0, ties), count)
}

fn times(count: f64, value: &Expr, element: ElementType) -> Expr {
    let literal = match element.is_float() || element.is_complex() {
        true => Literal::rounded(element.computed(), count),
        false => Literal::Integer(element, count as i128),
    };
    match count {
        0.0 => Expr::Literal(element.zero()),
        1.0 => value.clone(),
        _ => Expr::Binary(BinaryOperator::Multiply, Box::new(Expr::Literal(literal)), Box::new(value.clone())),
    }
}
