//! Results whose indices may be exchanged.
//!
//! ```text
//! C(i, j) = sum(k)(A(i, k) * A(j, k))            C: csr symmetric(i, j)
//! ```
//!
//! With `i` and `j` exchanged, the right-hand side is the same but for the order of factors. So the entries with `i <= j` are all that is
//! computed.

use super::{Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, Reading, UnaryOperator};
use crate::diagnostics::Span;
use crate::format::{Symmetry, SymmetryKind, Turned};
use crate::ir::{ElementType, Function};
use std::borrow::Cow;

/// Sums over no more variables are compared in every order of these.
const MOST_SUMMED: usize = 5;

impl Kernel {
    /// Whether a tensor has modes that may be exchanged.
    pub(crate) fn has_symmetric(&self) -> bool {
        self.tensors.iter().any(|tensor| tensor.format.symmetry.is_some())
    }

    /// Whether the right-hand side of a statement is what it is when indices of its symmetric result are exchanged, as far as can be seen.
    pub(crate) fn is_exchangeable(&self, statement: &Assignment) -> bool {
        let Some(symmetry) = &self.tensor(statement.target.tensor).format.symmetry else { return true };
        let own = Canonical { kernel: self, is_conjugated: false };
        let value = own.terms(&statement.value);
        let turned = symmetry.turned(true);
        let other = Canonical { kernel: self, is_conjugated: turned.is_conjugated };
        symmetry.modes.windows(2).all(|pair| {
            let (one, next) = (statement.target.indices[pair[0]], statement.target.indices[pair[1]]);
            let mut exchange = |variable: IndexVariable| match variable {
                variable if variable == one => next,
                variable if variable == next => one,
                other => other,
            };
            let mut exchanged = statement.clone();
            exchanged.value.rename(&mut exchange);
            exchanged.mask.iter_mut().for_each(|mask| mask.rename(&mut exchange));
            let mut found = other.terms(&exchanged.value);
            if turned.is_negated {
                found.iter_mut().for_each(|(is_negative, _)| *is_negative = !*is_negative);
                found.sort();
            }
            let is_plain = [one, next].iter().all(|index| self.variables[index.0].value.is_none());
            let mask = |statement: &Assignment| statement.mask.as_ref().map(|mask| own.access(mask));
            is_plain && found == value && mask(&exchanged) == mask(statement)
        })
    }

    /// The kernel in which statements compute of symmetric results what is stored.
    pub(crate) fn with_stored_results(&self) -> Cow<'_, Kernel> {
        let is_symmetric = |statement: &Assignment| self.tensor(statement.target.tensor).format.symmetry.is_some();
        if !self.statements.iter().any(is_symmetric) {
            return Cow::Borrowed(self);
        }
        let mut changed = self.clone();
        for statement in changed.statements.iter_mut().filter(|statement| is_symmetric(statement)) {
            let tensor = self.tensor(statement.target.tensor);
            if let Some(condition) =
                tensor.format.symmetry.as_ref().and_then(|symmetry| stored(symmetry, &statement.target))
            {
                let value = std::mem::replace(&mut statement.value, Expr::Literal(tensor.fill));
                let nothing = Expr::Literal(tensor.fill);
                statement.value = Expr::Select(Box::new(condition), Box::new(value), Box::new(nothing));
            }
        }
        Cow::Owned(changed)
    }
}

/// Whether an entry is stored, as a condition on its indices.
fn stored(symmetry: &Symmetry, target: &Access) -> Option<Expr> {
    let operator = match symmetry.kind {
        SymmetryKind::Skew => BinaryOperator::Less,
        SymmetryKind::Symmetric | SymmetryKind::Hermitian => BinaryOperator::LessEqual,
    };
    let index = |mode: usize| Box::new(Expr::Index(target.indices[mode], ElementType::I64));
    let ascends = symmetry.modes.windows(2).map(|pair| Expr::Binary(operator, index(pair[0]), index(pair[1])));
    ascends.reduce(|all, next| Expr::Binary(BinaryOperator::And, Box::new(all), Box::new(next)))
}

/// Expressions as texts that are the same whatever the order of what commutes, and the names of what is summed over.
struct Canonical<'a> {
    kernel: &'a Kernel,
    is_conjugated: bool,
}

impl Canonical<'_> {
    /// What is added up, each with whether it is subtracted.
    fn terms(&self, expr: &Expr) -> Vec<(bool, String)> {
        let mut terms = match expr {
            Expr::Binary(BinaryOperator::Add, left, right) => [self.terms(left), self.terms(right)].concat(),
            Expr::Binary(BinaryOperator::Subtract, left, right) => {
                [self.terms(left), negated(self.terms(right))].concat()
            }
            Expr::Unary(UnaryOperator::Negate, operand) => negated(self.terms(operand)),
            other => {
                let (is_negative, text) = self.factor(other);
                vec![(is_negative, text)]
            }
        };
        terms.sort();
        terms
    }

    /// A text, and whether there is a sign before it.
    fn factor(&self, expr: &Expr) -> (bool, String) {
        let all = |operands: &[&Expr]| operands.iter().map(|operand| self.text(operand)).collect::<Vec<String>>();
        match expr {
            Expr::Access(access) => {
                let (turned, text) = self.read(access);
                let is_complex = self.kernel.element_of(expr).is_complex();
                let is_conjugated = is_complex && self.is_conjugated != turned.is_conjugated;
                (turned.is_negated, if is_conjugated { format!("conj({text})") } else { text })
            }
            Expr::Call(Function::Conj, arguments) => {
                let other = Canonical { kernel: self.kernel, is_conjugated: !self.is_conjugated };
                other.factor(&arguments[0])
            }
            Expr::Unary(UnaryOperator::Negate, operand) => {
                let (is_negative, text) = self.factor(operand);
                (!is_negative, text)
            }
            Expr::Binary(BinaryOperator::Multiply, ..) => {
                let mut factors = Vec::new();
                operands_of(expr, BinaryOperator::Multiply, &mut factors);
                let (signs, mut texts): (Vec<bool>, Vec<String>) =
                    factors.into_iter().map(|factor| self.factor(factor)).unzip();
                texts.sort();
                (signs.into_iter().fold(false, |sign, other| sign != other), format!("({})", texts.join(" * ")))
            }
            Expr::Binary(
                operator
                @ (BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Equal | BinaryOperator::NotEqual),
                ..,
            ) => {
                let mut operands = Vec::new();
                operands_of(expr, *operator, &mut operands);
                let mut texts = all(&operands);
                texts.sort();
                (false, format!("{operator:?}({})", texts.join(", ")))
            }
            Expr::Call(function @ (Function::Min | Function::Max), arguments) => {
                let mut texts = all(&arguments.iter().collect::<Vec<_>>());
                texts.sort();
                (false, format!("{function:?}({})", texts.join(", ")))
            }
            Expr::Reduce(operator, variables, body) => {
                (false, format!("{operator:?} {}", self.reduced(variables, body)))
            }
            Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, ..) => {
                (false, format!("{:?}", self.terms(expr)))
            }
            Expr::Literal(_) | Expr::Index(..) => (false, format!("{expr:?}")),
            other => {
                let head = match other {
                    Expr::Unary(operator, _) => format!("{operator:?}"),
                    Expr::Binary(operator, ..) => format!("{operator:?}"),
                    Expr::Cast(element, _) => format!("{element:?}"),
                    Expr::Call(function, _) => format!("{function:?}"),
                    _ => "select".to_owned(),
                };
                (false, format!("{head}({})", all(&other.children()).join(", ")))
            }
        }
    }

    fn text(&self, expr: &Expr) -> String {
        format!("{:?}", self.terms(expr))
    }

    /// What is reduced, in the order of its variables that has the first text.
    fn reduced(&self, variables: &[IndexVariable], body: &Expr) -> String {
        let text = |order: &[IndexVariable]| {
            let mut renamed = body.clone();
            let bound = |variable: IndexVariable| match order.iter().position(|other| *other == variable) {
                Some(place) => IndexVariable(usize::MAX - place),
                None => variable,
            };
            renamed.rename(&mut { bound });
            self.text(&renamed)
        };
        if variables.len() > MOST_SUMMED {
            return text(variables);
        }
        let all = Symmetry { kind: SymmetryKind::Symmetric, modes: (0..variables.len()).collect() };
        let orders = all.exchanges().into_iter().map(|exchange| {
            let order: Vec<IndexVariable> = exchange.order.iter().map(|&place| variables[place]).collect();
            text(&order)
        });
        format!("{} {}", variables.len(), orders.min().unwrap_or_default())
    }

    fn access(&self, access: &Access) -> (bool, String) {
        let (turned, text) = self.read(access);
        (turned.is_negated, text)
    }

    /// The stored entry that an access reads, for whatever its indices are.
    fn read(&self, access: &Access) -> (Turned, String) {
        let mut indices: Vec<usize> = access.indices.iter().map(|index| index.0).collect();
        let symmetry = self.kernel.tensor(access.tensor).format.symmetry.as_ref();
        let turned = symmetry.map_or(Turned::default(), |symmetry| symmetry.stored(&mut indices));
        let placeless = Access { indices: Vec::new(), span: Span::default(), ..access.clone() };
        let turned = if access.reads == Reading::Stored { Turned::default() } else { turned };
        (turned, format!("{placeless:?} {indices:?}"))
    }
}

fn negated(terms: Vec<(bool, String)>) -> Vec<(bool, String)> {
    terms.into_iter().map(|(is_negative, text)| (!is_negative, text)).collect()
}

/// The operands of an operator that associates.
fn operands_of<'e>(expr: &'e Expr, operator: BinaryOperator, all: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(own, left, right)
            if *own == operator && !matches!(own, BinaryOperator::Equal | BinaryOperator::NotEqual) =>
        {
            operands_of(left, operator, all);
            operands_of(right, operator, all);
        }
        Expr::Binary(own, left, right) if *own == operator => all.extend([&**left, &**right]),
        other => all.push(other),
    }
}
