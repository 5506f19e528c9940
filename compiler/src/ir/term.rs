//! Terms of reductions over runs.

use super::tables::monoid::{LEFT, RIGHT};
use super::{
    ArrayElement, ArrayId, BinaryOperator, Combine, ElementType, Expr, Function, Kernel, ReduceOperator, Type,
    VariableId,
};

/// What is combined by [`Expr::Fold`] at a place `n` of runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// What is loaded there.
    Load(Factor),
    /// The same at every place: a value that no run is asked for.
    Same(Box<Expr>),
    /// An operator between two terms of one type: `+`, `-`, `*`, `/`, `&&`, `||`, `&` or `|`.
    Binary(BinaryOperator, Box<Term>, Box<Term>),
    /// `min` or `max` of two terms.
    Call(Function, Box<Term>, Box<Term>),
}

/// What is loaded at a place `n` of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    /// `run[n]`
    Run(ArrayId),
    /// `of[run[n]]`
    At {
        /// The array of values.
        of: ArrayId,
        /// An index array.
        run: ArrayId,
        /// Whether places of the run may be filled up with the largest number of its type: there is no term there, whatever the rest
        /// of it has.
        filled: bool,
    },
}

impl Factor {
    /// The array whose places are those of the reduction.
    pub fn run(self) -> ArrayId {
        match self {
            Factor::Run(run) | Factor::At { run, .. } => run,
        }
    }

    /// The array of values.
    pub fn values(self) -> ArrayId {
        match self {
            Factor::Run(of) | Factor::At { of, .. } => of,
        }
    }
}

impl Term {
    /// What is loaded, from left to right.
    pub fn factors(&self) -> Vec<Factor> {
        let mut factors = Vec::new();
        self.for_each_factor(&mut |factor| factors.push(factor));
        factors
    }

    fn for_each_factor(&self, visit: &mut dyn FnMut(Factor)) {
        match self {
            Term::Load(factor) => visit(*factor),
            Term::Same(_) => {}
            Term::Binary(_, left, right) | Term::Call(_, left, right) => {
                left.for_each_factor(visit);
                right.for_each_factor(visit);
            }
        }
    }

    /// The term with everything that is loaded replaced.
    pub fn map_factors(self, replace: &mut dyn FnMut(Factor) -> Factor) -> Term {
        let mut both = |left: Box<Term>, right: Box<Term>| {
            (Box::new(left.map_factors(replace)), Box::new(right.map_factors(replace)))
        };
        match self {
            Term::Load(factor) => Term::Load(replace(factor)),
            Term::Same(value) => Term::Same(value),
            Term::Binary(operator, left, right) => {
                let (left, right) = both(left, right);
                Term::Binary(operator, left, right)
            }
            Term::Call(function, left, right) => {
                let (left, right) = both(left, right);
                Term::Call(function, left, right)
            }
        }
    }

    /// Calls `visit` on the values that are the same at every place.
    pub fn for_each_value(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Term::Load(_) => {}
            Term::Same(value) => visit(value),
            Term::Binary(_, left, right) | Term::Call(_, left, right) => {
                left.for_each_value(visit);
                right.for_each_value(visit);
            }
        }
    }

    /// Whether a value that is the same at every place depends on the variable.
    pub fn uses(&self, variable: VariableId) -> bool {
        let mut found = false;
        self.for_each_value(&mut |value| found |= value.uses(variable));
        found
    }

    /// The term with the values that are the same at every place replaced.
    pub fn map_values(self, replace: &mut dyn FnMut(Expr) -> Expr) -> Term {
        match self {
            Term::Load(factor) => Term::Load(factor),
            Term::Same(value) => Term::Same(Box::new(replace(*value))),
            Term::Binary(operator, left, right) => {
                let left = Box::new(left.map_values(replace));
                Term::Binary(operator, left, Box::new(right.map_values(replace)))
            }
            Term::Call(function, left, right) => {
                let left = Box::new(left.map_values(replace));
                Term::Call(function, left, Box::new(right.map_values(replace)))
            }
        }
    }

    /// Whether terms have an operator.
    pub fn has_operator(operator: BinaryOperator, element: ElementType) -> bool {
        use BinaryOperator::*;
        match operator {
            Add | Subtract | Multiply => element.is_float() || element.is_integer(),
            Divide => element.is_float(),
            And | Or => element == ElementType::Bool,
            BitAnd | BitOr => element.is_integer(),
            _ => false,
        }
    }

    /// Whether terms have a function.
    pub fn has_function(function: Function, element: ElementType) -> bool {
        matches!(function, Function::Min | Function::Max) && (element.is_float() || element.is_integer())
    }
}

impl ReduceOperator {
    /// Whether [`Expr::Fold`] combines values of an element type by it: those that the helpers of kernels have lanes for.
    pub fn folds(self, element: ElementType) -> bool {
        let is_declared = matches!(self, ReduceOperator::Declared(_));
        let is_stored = element.is_complex() || element.is_stored_only();
        !is_declared && !is_stored && self.identity(element).is_some()
    }

    /// Two values of an element type combined, where it has the operator.
    pub fn combined(self, element: ElementType, left: Expr, right: Expr) -> Option<Expr> {
        Some(match self.combine(Type::of(element))? {
            Combine::Operator(operator) => Expr::binary(operator, left, right),
            Combine::Function(function) => Expr::Call(function, vec![left, right]),
            Combine::Defined(definition) => applied(definition.value.clone(), &left, &right),
        })
    }
}

/// What a definition says of two values.
fn applied(value: Expr, left: &Expr, right: &Expr) -> Expr {
    match value {
        Expr::Variable(LEFT) => left.clone(),
        Expr::Variable(RIGHT) => right.clone(),
        value => value.map_children(&mut |child| applied(child, left, right)),
    }
}

impl Kernel {
    /// The element type of a term, and that a reduction of it is one.
    pub(super) fn type_of_fold(&self, operator: ReduceOperator, term: &Term) -> Result<Type, String> {
        let Some(first) = term.factors().first().copied() else { return Err("`fold` loads nothing".to_owned()) };
        let ArrayElement::Value(element) = self.array(first.values()).element else {
            return Err("`fold` is not defined for `index`".to_owned());
        };
        let element = element.computed();
        if !operator.folds(element) {
            return Err(format!("`fold` by `{operator}` is not defined for `{}`", element.name()));
        }
        self.check_term(term, element, first)?;
        Ok(Type::of(element))
    }

    fn check_term(&self, term: &Term, element: ElementType, first: Factor) -> Result<(), String> {
        match term {
            Term::Load(factor) => {
                if self.array(factor.values()).element.ty() != Type::of(element) {
                    let [one, other] = [factor.values(), first.values()].map(|array| self.show(&array).to_string());
                    return Err(format!("{one} is of another type than {other}"));
                }
                match factor {
                    Factor::At { run, .. } if self.array(*run).element.ty() != Type::Index => {
                        Err(format!("{} holds values, not places", self.show(run)))
                    }
                    _ => Ok(()),
                }
            }
            Term::Same(value) => self.expect(value, Type::of(element)),
            Term::Binary(operator, left, right) => {
                if !Term::has_operator(*operator, element) {
                    return Err(format!("terms of `{}` have no `{}`", element.name(), operator.symbol()));
                }
                self.check_term(left, element, first)?;
                self.check_term(right, element, first)
            }
            Term::Call(function, left, right) => {
                if !Term::has_function(*function, element) {
                    return Err(format!("terms of `{}` have no `{}`", element.name(), function.name()));
                }
                self.check_term(left, element, first)?;
                self.check_term(right, element, first)
            }
        }
    }
}
